//! [`WritingBounds`]: how far a document may go on where its schema sets no bound.

/// Bounds on the length and depth of a document where its schema sets none, so that a model that repeats itself comes to an end.
///
/// Where a bound is reached and the string, array or object may end, it must. Where it may not end yet, as before a
/// required member, it goes on; so every schema with a value keeps one, and whatever is written can be finished. An array or object
/// also goes on while a keyword around it, such as `if`, `not` or `contains`, judges by what is still to come in it, unless the
/// value around it may end as it is. A bound that the schema sets itself (`maxLength`, `maxItems`, `maxProperties`, or a pattern
/// with finitely many texts) holds instead of one of these, even if it is larger.
///
/// Valid documents beyond a bound cannot be written. The defaults of [`generation`](Self::generation) are far beyond the sizes of
/// documents in public datasets, except for a few that nest more than 8 levels within a free value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WritingBounds {
    /// Depth to which arrays and objects nest in a value on which the schema says nothing. A value at that depth is a scalar, or an
    /// empty array or object.
    pub free_depth: Option<u8>,
    /// Characters of a string without `maxLength`.
    pub string_characters: Option<u32>,
    /// Characters of a name that the schema does not list, whatever `propertyNames` says; fewer than 64 stand for 64. Names in objects that
    /// have to differ (`uniqueItems`) have no bound.
    pub name_characters: Option<u32>,
    /// Items of an array without `maxItems`. More than 12 levels deep, a bound beyond 64 items does not hold.
    pub array_items: Option<u32>,
    /// Members of an object without `maxProperties`; those that the schema lists are not counted where they come in its
    /// order and each member is judged by itself.
    pub object_members: Option<u32>,
}

/// The least bound of names: those of completions are not always the shortest.
const LEAST_NAME: u32 = 64;

impl WritingBounds {
    /// No bounds.
    pub const NONE: Self = Self {
        free_depth: None,
        string_characters: None,
        name_characters: None,
        array_items: None,
        object_members: None,
    };

    /// The bound of names that a schema does not list, as it counts.
    pub(crate) fn effective_name_characters(&self) -> Option<u32> {
        self.name_characters.map(|bound| bound.max(LEAST_NAME))
    }

    /// The bounds of [`Style::generation`](crate::Style::generation): 8 levels within a free value, 65,536 characters of a
    /// string, 1,024 of a name, 4,096 items of an array, 4,096 members of an object.
    pub const fn generation() -> Self {
        Self {
            free_depth: Some(8),
            string_characters: Some(1 << 16),
            name_characters: Some(1 << 10),
            array_items: Some(1 << 12),
            object_members: Some(1 << 12),
        }
    }
}
