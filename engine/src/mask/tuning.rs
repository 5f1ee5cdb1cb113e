//! [`Tuning`]: thresholds at which one algorithm for masks takes over from another.

/// Thresholds from which algorithms are used that judge many tokens together. They change the time that a mask takes and
/// nothing else. Tests, whose vocabularies are small, set lower thresholds, so that every algorithm runs.
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
