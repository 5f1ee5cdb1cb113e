//! [`Style`]: the subset of the texts of a JSON value that may be written.

mod bounds;
mod narrowing;
mod numbers;
pub(crate) mod whitespace;

pub use bounds::WritingBounds;
pub use narrowing::NarrowingKind;
pub use numbers::NumberStyle;
pub use whitespace::{FixedWhitespace, Indent, LineBreak, SpacesAround, Whitespace};

/// The subset of a JSON value's texts that may be written.
///
/// A style narrows how a document looks. It leaves values out only where its fields say so: very long numbers
/// ([`NumberStyle::Plain`]), unusual strings ([`StringStyle`]), values of unbounded size ([`WritingBounds`]), and objects with other
/// members than the preferred ones ([`closed`](Self::closed), [`all_required`](Self::all_required)). It never leaves out all that a
/// schema allows: every combination of a schema's keywords that has a value keeps one. Where items have to differ and infinitely many
/// numbers would do, at least a million of them are kept, except beside bounds of more than 4,096 digits: there, the bound itself, its
/// tenfold and its tenth are all. [`Explainer::narrowings`](crate::explain::Explainer::narrowings) lists the values that a style
/// leaves out of a schema.
///
/// Two presets: [`rfc8259`](Self::rfc8259), all of JSON, is for judging documents; [`generation`](Self::generation) is for models
/// that write them. Their fields can be mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Style {
    /// Whitespace between the parts of a document.
    pub whitespace: Whitespace,
    /// Order of the members of an object.
    pub key_order: KeyOrder,
    /// Whether objects take no keys but those that the schema declares or requires, where it says nothing of further
    /// ones by `additionalProperties`, `unevaluatedProperties`, `patternProperties` or `propertyNames`. The keys of a branch of `anyOf`,
    /// `oneOf` or `if` are declared where that branch is met. An object that is valid only with further keys takes them all the same, and so does
    /// one that the array or object around it may need, as an item for `contains`.
    ///
    /// A schema with `properties` and without `type` then takes objects only. Items that have to differ (`uniqueItems`) are of any type, and
    /// take further keys where few objects would be left.
    pub closed: bool,
    /// Whether objects have all members that `properties` declares. Left out are members without which alone a value is finite,
    /// as where a schema refers to itself. Objects that are valid only without some of the members, that are nested more than 128
    /// deep, that what is around them may need so (an item for `contains`), or of which few would be left where they have to differ (`uniqueItems`)
    /// have the required members.
    pub all_required: bool,
    /// Escapes in strings and names.
    pub escapes: Escapes,
    /// Spellings of numbers.
    pub numbers: NumberStyle,
    /// The strings that are written, among those that a schema allows.
    pub strings: StringStyle,
    /// Bounds on the length and depth of a document where its schema sets none.
    pub bounds: WritingBounds,
}

/// Preferences among the strings that a schema allows. Each field is a preference: where nothing else that the schema says leaves
/// room for the preference (a `pattern` that asks for `:60`, a `const`), and where strings have to differ from one another, all
/// strings that are valid are written.
///
/// Formats count only where they are asserted (see [`Formats`](crate::Formats)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StringStyle {
    /// Whether formats are written in their usual spelling: `date-time` and `time` with a capital `T` and `Z`, without leap seconds,
    /// and with at most nine digits of a fraction of a second; `uuid` in lower case.
    pub usual_formats: bool,
    /// Whether a `uri` or `iri` has a host, as `https://example.org/a` has and `a:` has not.
    pub hosts: bool,
    /// Whether an `email` or `idn-email` is without quotation marks, and has a domain of at least two names.
    pub domains: bool,
    /// Whether a `pattern` matches the whole string, as if it stood between `^` and `$`, unless it is found in every string.
    pub anchored_patterns: bool,
}

impl StringStyle {
    /// Every string that is valid.
    pub const fn any() -> Self {
        Self {
            usual_formats: false,
            hosts: false,
            domains: false,
            anchored_patterns: false,
        }
    }

    /// Formats in their usual spelling.
    pub const fn usual() -> Self {
        Self {
            usual_formats: true,
            ..Self::any()
        }
    }

    /// Sets [`usual_formats`](Self::usual_formats).
    #[must_use]
    pub const fn usual_formats(mut self, usual: bool) -> Self {
        self.usual_formats = usual;
        self
    }

    /// Sets [`hosts`](Self::hosts).
    #[must_use]
    pub const fn hosts(mut self, hosts: bool) -> Self {
        self.hosts = hosts;
        self
    }

    /// Sets [`domains`](Self::domains).
    #[must_use]
    pub const fn domains(mut self, domains: bool) -> Self {
        self.domains = domains;
        self
    }

    /// Sets [`anchored_patterns`](Self::anchored_patterns).
    #[must_use]
    pub const fn anchored_patterns(mut self, anchored: bool) -> Self {
        self.anchored_patterns = anchored;
        self
    }
}

/// Order of the members of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyOrder {
    /// Members may come in any order.
    Any,
    /// Keys that the schema lists come first and in the order of its text, each where it is wanted or not at all: those under
    /// `properties`, and those of the objects in `const` and `enum`. Keys that it only requires come next, and others follow in any order.
    ///
    /// The subschemas of `allOf` and `$ref` list their keys where these keywords stand. Where branches of `anyOf`, `oneOf` or `if` list the same
    /// keys in different orders, a document keeps the order of a branch that it is valid under. Beyond 64 orders of one object the others
    /// share one, in which keys come where they are listed first ([`MixedOrder`](NarrowingKind::MixedOrder) tells where that is so).
    Schema,
}

/// Escapes in strings and names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Escapes {
    /// Every escape of RFC 8259 may be written, such as `\u0061` for `a`.
    Any,
    /// Only characters that must be escaped are, each in its shortest form: `\"`, `\\`, and control characters.
    Needed,
    /// Only characters that must be escaped in JSON are, as in [`Needed`](Self::Needed), and those that YAML does not hold as
    /// they are: DEL, the control characters of Latin-1, line and paragraph separators, the byte order mark and U+FFFE and
    /// U+FFFF. Then a string reads alike in JSON and in the double quotes of YAML.
    Printable,
    /// Only characters that must be escaped in JSON are, as in [`Needed`](Self::Needed), and every character beyond ASCII, those
    /// beyond U+FFFF as a surrogate pair: the document is ASCII, as Python's `json.dumps` writes it.
    Ascii,
}

impl Escapes {
    /// The characters that are written `\uXXXX`, or as two of these, as inclusive ranges; of [`Escapes::Any`], those that may be.
    pub(crate) fn by_number(self) -> &'static [(u32, u32)] {
        match self {
            Self::Any => &[(0, 0x10_FFFF)],
            Self::Needed => &UNNAMED_CONTROLS,
            Self::Printable => &UNPRINTABLE,
            Self::Ascii => &NOT_ASCII,
        }
    }

    /// Whether a character cannot stand as it is, control characters aside.
    pub(crate) fn hides(self, character: char) -> bool {
        let code = u32::from(character);
        match self {
            Self::Any | Self::Needed => false,
            Self::Printable => UNPRINTABLE.iter().any(|(first, last)| (*first..=*last).contains(&code)),
            Self::Ascii => !character.is_ascii(),
        }
    }
}

/// Control characters that have no escape of one letter.
const UNNAMED_CONTROLS: [(u32, u32); 3] = [(0x00, 0x07), (0x0B, 0x0B), (0x0E, 0x1F)];

/// Control characters that have no escape of one letter, and all characters beyond ASCII.
const NOT_ASCII: [(u32, u32); 4] = [(0x00, 0x07), (0x0B, 0x0B), (0x0E, 0x1F), (0x80, 0x10_FFFF)];

/// Control characters that have no escape of one letter, and characters that YAML 1.1 does not hold in double quotes, or reads as
/// a line break there.
const UNPRINTABLE: [(u32, u32); 7] = [
    (0x00, 0x07),
    (0x0B, 0x0B),
    (0x0E, 0x1F),
    (0x7F, 0x9F),
    (0x2028, 0x2029),
    (0xFEFF, 0xFEFF),
    (0xFFFE, 0xFFFF),
];

impl Style {
    /// All of JSON: any whitespace, order, escape and spelling of a number.
    pub const fn rfc8259() -> Self {
        Self {
            whitespace: Whitespace::Any,
            key_order: KeyOrder::Any,
            closed: false,
            all_required: false,
            escapes: Escapes::Any,
            numbers: NumberStyle::Rfc8259,
            strings: StringStyle::any(),
            bounds: WritingBounds::NONE,
        }
    }

    /// The style in which a model should write: compact or indented with bounded whitespace, members in the schema's order, no
    /// escapes but those needed, numbers of bounded length without exponents, integers as integer literals, formats in their
    /// usual spelling, and bounds where the schema sets none.
    pub const fn generation() -> Self {
        Self {
            whitespace: Whitespace::Bounded { indent: 4 },
            key_order: KeyOrder::Schema,
            closed: false,
            all_required: false,
            escapes: Escapes::Needed,
            numbers: NumberStyle::Plain,
            strings: StringStyle::usual(),
            bounds: WritingBounds::generation(),
        }
    }
}

impl Default for Style {
    /// Returns [`generation`](Self::generation), the style in which a model should write.
    fn default() -> Self {
        Self::generation()
    }
}
