//! [`Difficulty`]: number of fields, nesting and escaping in the samples of a generator.

/// Difficulty of samples, where it is not that of the public test set: each field that is `None` leaves it as it is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Difficulty {
    /// Fields of an item, at least and at most, without those within others, or as many as the entity has, which is 8 to 12; by default mostly 4
    /// to 9.
    pub fields: Option<(usize, usize)>,
    /// Fields with fields of their own, exactly so many, or as many as the entity has and `fields` leaves room for; by default one or more in
    /// most samples, and as many as `fields` needs.
    pub nested: Option<usize>,
    /// Percent of the samples about entities whose texts need escaping; by default as many as there are such entities, about 20.
    pub escaping: Option<u32>,
}
