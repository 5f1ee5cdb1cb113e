//! [`Rollback`]: layer states beside keys and values, and how they come back after a rollback.

use candle_core::Result;

/// Layer states that cannot be cut off at any position, as keys and values can.
pub(crate) trait Rollback {
    /// Remembers what is needed to go on at `position`, the end of the sequence.
    fn remember(&mut self, position: usize) -> Result<()>;

    /// Forgets what was remembered past `position`.
    fn forget_after(&mut self, position: usize);

    /// Goes back to `position` or, where what is needed there is no longer known, to the last place before it where it is;
    /// returns that place. The tokens from there to `position` have to be appended again.
    fn resume(&mut self, position: usize) -> Result<usize>;
}
