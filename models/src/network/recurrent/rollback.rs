//! [`Rollback`]: layer states beside keys and values, and how they come back after a rollback.

use candle_core::Result;

/// Layer states that cannot be cut off at any position, as keys and values can.
pub(crate) trait Rollback {
    /// Keeps a checkpoint of the state at `position`, the end of the sequence.
    fn remember(&mut self, position: usize) -> Result<()>;

    /// Drops the checkpoints past `position`.
    fn forget_after(&mut self, position: usize);

    /// Goes back to `position` or, where no state is known there, to the last place before it with a known state; returns that
    /// place. The tokens from there to `position` have to be appended again.
    fn resume(&mut self, position: usize) -> Result<usize>;
}
