//! Random choices that come out alike on every platform.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A stream of random choices, determined by its seed.
pub(in crate::ifstruct) struct Draw(ChaCha8Rng);

impl Draw {
    /// The choices of `stream` under `seed`; streams have nothing to do with one another.
    pub(in crate::ifstruct) fn new(seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Self(rng)
    }

    /// A number below `end`; 0 where `end` is 0.
    pub(in crate::ifstruct) fn below(&mut self, end: usize) -> usize {
        // Drawn as 32 bits, for 32-bit and 64-bit platforms to agree.
        let end = u32::try_from(end).unwrap_or(u32::MAX).max(1);
        self.0.random_range(0..end) as usize
    }

    /// A number from `low` to `high`, both included.
    pub(in crate::ifstruct) fn between(&mut self, low: u64, high: u64) -> u64 {
        self.0.random_range(low..=high.max(low))
    }

    /// True in `percent` of a hundred cases.
    pub(in crate::ifstruct) fn chance(&mut self, percent: u32) -> bool {
        self.0.random_range(0..100_u32) < percent
    }

    /// One of `choices`, which must not be empty.
    pub(in crate::ifstruct) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// One of `choices`, each as often as its weight says.
    pub(in crate::ifstruct) fn weighted<T: Copy>(&mut self, choices: &[(T, u32)]) -> T {
        let total: u32 = choices.iter().map(|(_, weight)| weight).sum();
        let mut left = self.0.random_range(0..total.max(1));
        for &(choice, weight) in choices {
            if left < weight {
                return choice;
            }
            left -= weight;
        }
        choices[0].0
    }

    /// Puts `items` into a random order.
    pub(in crate::ifstruct) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// `count` of the places `0..length`, in order.
    pub(in crate::ifstruct) fn places(&mut self, length: usize, count: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..length).collect();
        self.shuffle(&mut places);
        places.truncate(count);
        places.sort_unstable();
        places
    }
}
