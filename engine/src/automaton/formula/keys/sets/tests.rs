use std::collections::BTreeSet;

use super::*;

/// Sets have the same keys as those of the standard library, and equal sets have the same id.
#[test]
fn sets_are_sets() {
    let (mut texts, mut sets) = (TextTable::default(), KeySets::default());
    let names: Vec<String> = (0..60_u32).map(|at| format!("{:b}", at * at % 61)).collect();
    let mut seed = 1_u32;
    let mut known: Vec<(BTreeSet<&str>, KeySetId)> = vec![(BTreeSet::new(), KeySetId::EMPTY)];
    for _ in 0..300 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (from, name) = (seed as usize >> 8, &names[(seed as usize >> 20) % names.len()]);
        let (mut all, set) = known[from % known.len()].clone();
        all.insert(name);
        let id = texts.intern(name);
        let set = sets.with(set, id, &texts);
        assert!(sets.has(set, id, &texts));
        known.push((all, set));
    }
    for (all, set) in &known {
        let listed = sets.names(*set, TextId::EMPTY, &texts);
        assert_eq!(
            listed.iter().map(|name| texts.get(*name)).collect::<Vec<_>>(),
            all.iter().copied().collect::<Vec<_>>()
        );
        for prefix in ["", "1", "10", "101", "2"] {
            let beginning: Vec<&str> = all.iter().copied().filter(|name| name.starts_with(prefix)).collect();
            let id = texts.intern(prefix);
            assert_eq!(sets.beginning_with(*set, id, &texts), beginning.len());
            let before = all.iter().filter(|name| **name < prefix).count();
            assert_eq!(sets.partition_point(*set, |name| texts.get(name) < prefix), before);
            let listed = sets.names(*set, id, &texts);
            assert_eq!(
                listed.iter().map(|name| texts.get(*name)).collect::<Vec<_>>(),
                beginning
            );
        }
    }
    for (place, (all, set)) in known.iter().enumerate() {
        let (others, other) = &known[place * 7 % known.len()];
        assert_eq!(all == others, set == other);
        let mut found: Vec<(String, bool)> = sets
            .differences(*set, *other, &texts)
            .into_iter()
            .map(|(name, is_second)| (texts.get(name).to_owned(), is_second))
            .collect();
        found.sort();
        let only = |one: &BTreeSet<&str>, other: &BTreeSet<&str>, is_second| {
            let names: Vec<_> = one
                .difference(other)
                .map(|name| ((*name).to_owned(), is_second))
                .collect();
            names
        };
        let mut expected = [only(all, others, false), only(others, all, true)].concat();
        expected.sort();
        assert_eq!(found, expected);
    }
}
