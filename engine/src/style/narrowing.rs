//! [`NarrowingKind`]: the kinds of values that a schema allows and a style leaves out.

/// A kind of values that a schema allows and a style leaves out, or ([`MixedOrder`](Self::MixedOrder)) writes in an order that no
/// alternative of the schema has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NarrowingKind {
    /// Values that nest deeper than [`free_depth`](super::WritingBounds::free_depth) where the schema says nothing of them.
    FreeDepth,
    /// Strings with more characters than [`string_characters`](super::WritingBounds::string_characters).
    LongStrings,
    /// Names with more characters than [`name_characters`](super::WritingBounds::name_characters).
    LongNames,
    /// Arrays with more items than [`array_items`](super::WritingBounds::array_items).
    LongArrays,
    /// Objects with more members than [`object_members`](super::WritingBounds::object_members).
    LargeObjects,
    /// Numbers with more digits than a [`NumberStyle`](super::NumberStyle) writes.
    LongNumbers,
    /// Strings that [`StringStyle`](super::StringStyle) does not prefer.
    UnusualStrings,
    /// Objects with members that the schema does not declare, and values that are no objects where a schema has `properties` and no
    /// `type`: [`closed`](super::Style::closed).
    Closed,
    /// Objects without some of the members that the schema declares: [`all_required`](super::Style::all_required).
    AllRequired,
    /// No value is left out. Alternatives of `anyOf`, `oneOf` and `if` put the same members in so many different orders that some
    /// objects are written in an order which none of the alternatives has: each member comes where it is listed first.
    MixedOrder,
}

impl NarrowingKind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::FreeDepth,
        Self::LongStrings,
        Self::LongNames,
        Self::LongArrays,
        Self::LargeObjects,
        Self::LongNumbers,
        Self::UnusualStrings,
        Self::Closed,
        Self::AllRequired,
        Self::MixedOrder,
    ];

    /// Returns the kind's name in programs and their output. The name never changes.
    pub fn code(self) -> &'static str {
        match self {
            Self::FreeDepth => "free-depth",
            Self::LongStrings => "long-strings",
            Self::LongNames => "long-names",
            Self::LongArrays => "long-arrays",
            Self::LargeObjects => "large-objects",
            Self::LongNumbers => "long-numbers",
            Self::UnusualStrings => "unusual-strings",
            Self::Closed => "closed",
            Self::AllRequired => "all-required",
            Self::MixedOrder => "mixed-order",
        }
    }
}
