//! [`Tuning`]: where one way of working something out takes over from another.

/// Thresholds that say from where on a way that looks at many tokens together is taken. They change how long a mask takes
/// and nothing else; tests, whose vocabularies are small, take lower ones so that every way is gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// Nodes at which tokens leave a loop up to which the loop is taken before a definite region is looked for.
    pub(crate) loop_exits: usize,
    /// Nodes that are walked in about the time that it takes to find the nodes that a definite region judges together.
    pub(crate) walked_nodes: usize,
}

impl Default for Tuning {
    /// The thresholds with which masks over o200k_base, of 200,000 tokens, take the least time.
    fn default() -> Self {
        Self {
            loop_exits: 12_000,
            walked_nodes: 6_000,
        }
    }
}
