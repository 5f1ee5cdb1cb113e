//! Renumbers the positions that the condition on an array mentions, so that distances between them are short.

use crate::automaton::formula::{AtomKind, FormulaId};
use crate::automaton::search::Search;
use hashbrown::HashMap;

impl Search {
    /// The formula with shorter distances between the positions that it mentions, if that does not change whether the
    /// array can be completed. An item either brings the formula closer to its end, or changes nothing and can be left
    /// out or repeated. So between two positions no more items are needed than there are changes to make, plus one.
    pub(in crate::automaton::search) fn shortened_array(&mut self, formula: FormulaId) -> FormulaId {
        let (mut places, mut to_find) = (Vec::new(), 1_u64);
        for &atom in self.algebra.formulas.atoms(formula) {
            match self.algebra.atoms.kind(atom) {
                AtomKind::LengthAtLeast(count) => places.push(count),
                AtomKind::Items { from, to, .. } => {
                    places.extend([from].into_iter().chain(to));
                    // Negated, it may need an item of its own.
                    to_find = to_find.saturating_add(1);
                }
                AtomKind::Contains(_, count) => to_find = to_find.saturating_add(count),
                _ => {}
            }
        }
        let Some(new) = shortened(places, to_find) else {
            return formula;
        };
        let mut changes = Vec::new();
        for atom in self.algebra.formulas.atoms(formula).to_vec() {
            let change = match self.algebra.atoms.kind(atom) {
                AtomKind::LengthAtLeast(count) => AtomKind::LengthAtLeast(new[&count]),
                AtomKind::Items { from, to, assertion } => AtomKind::Items {
                    from: new[&from],
                    to: to.map(|to| new[&to]),
                    assertion,
                },
                other => other,
            };
            changes.push((atom, self.algebra.atom(change)));
        }
        self.algebra.formulas.replace(formula, &changes)
    }
}

/// New numbers for some positions, in the same order and at most `most` apart. `None` if the positions are small
/// anyway.
fn shortened(mut places: Vec<u64>, most: u64) -> Option<HashMap<u64, u64>> {
    /// Distance up to which counting is quicker than renumbering.
    const SHORT: u64 = 64;
    places.sort_unstable();
    places.dedup();
    let most = most.max(SHORT);
    if places.last().is_none_or(|last| *last <= most) {
        return None;
    }
    let (mut before, mut new_before) = (0, 0);
    let mut new = HashMap::new();
    for place in places {
        new_before += (place - before).min(most);
        before = place;
        new.insert(place, new_before);
    }
    Some(new)
}
