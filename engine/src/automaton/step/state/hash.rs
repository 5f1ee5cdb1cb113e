//! [`Mixer`]: combines the numbers of a state to one before hashing.
//!
//! States are looked up for every byte and every mask. Passing each of their numbers to the hash function would take
//! longer than the rest of the look-up.

use std::hash::Hasher;

/// An odd multiplier without a bit pattern: the fraction of the golden ratio.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mixes several numbers into one, which is then hashed. Inputs that differ in one number give different results; those
/// that differ in several almost always do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u8(*byte));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(29) ^ number).wrapping_mul(FACTOR);
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.write_u64(number.into());
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    #[inline]
    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }
}
