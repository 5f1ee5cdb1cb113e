//! Sets of lengths against sets of numbers.

use std::collections::BTreeSet;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::strings::Lengths;

const HORIZON: u64 = 60;

fn sums(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> BTreeSet<u64> {
    a.iter()
        .flat_map(|x| b.iter().map(move |y| x + y))
        .filter(|&sum| sum < HORIZON)
        .collect()
}

/// A random set, as it is kept and up to the horizon.
fn random(rng: &mut ChaCha8Rng, depth: usize) -> Option<(Lengths, BTreeSet<u64>)> {
    if depth == 0 {
        let min = rng.random_range(0..6);
        let max = if rng.random_bool(0.2) {
            u64::MAX
        } else {
            min + rng.random_range(0..4)
        };
        return Some((Lengths::interval(min, max), (min..=max.min(HORIZON - 1)).collect()));
    }
    let (a, in_a) = random(rng, depth - 1)?;
    match rng.random_range(0..4) {
        0 => {
            let (b, in_b) = random(rng, depth - 1)?;
            Some((a.union(&b)?, in_a.union(&in_b).copied().collect()))
        }
        1 => {
            let (b, in_b) = random(rng, depth - 1)?;
            Some((a.plus(&b)?, sums(&in_a, &in_b)))
        }
        2 => {
            let min = rng.random_range(0..30);
            let max = if rng.random_bool(0.3) {
                u64::MAX
            } else {
                min + rng.random_range(0..30)
            };
            Some((
                a.clipped(min, max)?,
                in_a.into_iter().filter(|n| (min..=max).contains(n)).collect(),
            ))
        }
        _ => {
            let min = rng.random_range(0..4);
            let max = if rng.random_bool(0.4) {
                u64::MAX
            } else {
                min + rng.random_range(0..6)
            };
            let mut power = BTreeSet::from([0]);
            let mut all = BTreeSet::new();
            for round in 0..=max.min(HORIZON + min) {
                if round >= min {
                    all.extend(&power);
                }
                power = sums(&power, &in_a);
            }
            Some((a.times(min, max)?, all))
        }
    }
}

#[test]
fn operations_are_those_on_sets() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let mut kept = 0;
    for _ in 0..4_000 {
        let depth = rng.random_range(0..4);
        let Some((lengths, expected)) = random(&mut rng, depth) else {
            continue;
        };
        kept += 1;
        for n in 0..HORIZON {
            assert_eq!(lengths.meets(n, n), expected.contains(&n), "{n} in {lengths:?}");
        }
        let (from, to) = (rng.random_range(0..30), rng.random_range(30..HORIZON));
        assert_eq!(lengths.meets(from, to), expected.range(from..=to).next().is_some());
        assert_eq!(lengths.min().filter(|&n| n < HORIZON), expected.first().copied());
    }
    assert!(kept > 3_500);
}

#[test]
fn progressions_without_end_are_clipped_from_below() {
    let even = Lengths::interval(2, 2).times(0, u64::MAX).unwrap();
    let clipped = even.clipped(3, u64::MAX).expect("few steps");
    assert_eq!((clipped.min(), clipped.max()), (Some(4), Some(None)));
}
