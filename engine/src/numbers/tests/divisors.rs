//! Multiples counted with short and with long arithmetic.

use rand::{Rng as _, SeedableRng as _};

use num_bigint::BigInt;

use crate::decimal::Decimal;
use crate::numbers::divisor::Divisor;

/// Short and long arithmetic agree on numbers of any length.
#[test]
fn floors_are_the_multiples_next_below_and_tell_how_many_are_between() {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(7);
    let (mut short, mut long) = (0, 0);
    for _ in 0..20_000 {
        let mut decimal = |negative| {
            let digits = random.random_range(1..=70);
            let significand = random.random_range(0..=u128::MAX >> (128 - digits));
            Decimal::new(negative, significand.into(), random.random_range(-12..=12))
        };
        let (value, other, step) = (decimal(false), decimal(false), decimal(false));
        let mut signed = |value: Decimal| match random.random_bool(0.5) {
            true => value.negated(),
            false => value,
        };
        let (value, other) = (signed(value), signed(other));
        let Some(step) = Divisor::of(&step) else { continue };
        let floor = step.floor_ratio(&value);
        let next: BigInt = &floor + 1;
        assert!(
            step.times(&floor) <= value && value < step.times(&next),
            "{value:?} {step:?}"
        );
        let (low, high) = match value < other {
            true => (value, other),
            false => (other, value),
        };
        match step.short_between(&low, &high) {
            Some(count) => {
                short += 1;
                let first: BigInt = step.floor_ratio(&low) + 1;
                let between: BigInt = step.ceil_ratio(&high) - first;
                assert_eq!(
                    BigInt::from(count),
                    between.max(BigInt::ZERO),
                    "{low:?} {high:?} {step:?}"
                );
            }
            None => long += 1,
        }
    }
    assert!(short > 1_000 && long > 2_000, "{short} {long}");
}
