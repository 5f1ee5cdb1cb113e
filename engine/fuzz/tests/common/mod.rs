//! Seeded bytes and settings.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, reason = "not every test uses all of it")]

use rand::{Rng as _, RngCore as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// An environment variable that holds a number.
pub fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().unwrap())
}

/// The bytes of one round.
pub fn random_bytes(seed: u64) -> Vec<u8> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut bytes = vec![0; random.random_range(64..3_000)];
    random.fill_bytes(&mut bytes);
    bytes
}
