use rand::{Rng as _, SeedableRng as _};

use super::*;

/// Compares the matching with a search that tries every choice.
#[test]
fn values_that_differ_are_found_if_there_are_any() {
    fn by_trying(places: &[&[AssertionId]], taken: &mut Vec<AssertionId>) -> bool {
        let Some((first, rest)) = places.split_first() else {
            return true;
        };
        first.iter().any(|value| {
            let free = !taken.contains(value);
            taken.push(*value);
            let found = free && by_trying(rest, taken);
            taken.pop();
            found
        })
    }
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(4);
    let mut possible = 0;
    for _ in 0..2000 {
        let sets: Vec<(Vec<AssertionId>, usize)> = (0..random.random_range(1..5))
            .map(|_| {
                let values = (0..6).filter(|_| random.random_bool(0.4)).map(AssertionId).collect();
                (values, random.random_range(1..3))
            })
            .collect();
        let places = sets
            .iter()
            .flat_map(|(set, count)| std::iter::repeat_n(&set[..], *count));
        let expected = by_trying(&places.collect::<Vec<_>>(), &mut Vec::new());
        assert_eq!(can_all_differ(&sets), expected, "{sets:?}");
        possible += usize::from(expected);
    }
    assert!((200..1800).contains(&possible), "{possible}");
}
