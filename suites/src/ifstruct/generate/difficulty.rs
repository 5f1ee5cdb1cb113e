//! [`Difficulty`]: how much the samples of a generator ask for.

/// How much samples ask for, where it is not as much as in the public test set: each field that is `None` leaves that as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Difficulty {
    /// Fields of an item, at least and at most, without those within others; by default 4 to 9. Entities have 8 to 12 to choose from.
    pub fields: Option<(usize, usize)>,
    /// Fields with fields of their own, as many as the entity has up to this number; by default one in most samples. 0 for none.
    pub nested: Option<usize>,
    /// Percent of the samples about entities whose texts need escaping; by default as many as there are such entities, about 20.
    pub escaping: Option<u32>,
}
