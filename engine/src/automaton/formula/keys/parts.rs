//! Decomposes the formula of an object into a conjunction of parts that mention disjoint sets of keys.

use crate::automaton::formula::{Algebra, AtomKind, FormulaId, Keys, TextId};
use hashbrown::HashMap;

impl Algebra {
    /// Conditions that are together equivalent to a formula, each with the keys that it mentions and no other mentions. A
    /// requirement on all keys of a language is repeated in each. `None` if there is only one such condition, or if members are
    /// counted or have to have a key of some language, so that they depend on one another.
    pub(crate) fn parts_by_key(&mut self, formula: FormulaId) -> Option<Vec<(FormulaId, Vec<TextId>)>> {
        let (mut parts, mut of_all) = (Vec::new(), Vec::new());
        // Each conjunct is joined with another that shares a key with it, so that those with a common root are one part.
        let mut joined: Vec<usize> = Vec::new();
        let mut holders: HashMap<TextId, usize> = HashMap::new();
        let root = |joined: &[usize], mut at: usize| {
            while joined[at] != at {
                at = joined[at];
            }
            at
        };
        for &part in self.formulas.conjuncts(&formula) {
            let literal = self.formulas.literal(part);
            if let Some((atom, true)) = literal
                && matches!(self.atoms.kind(atom), AtomKind::Members(Keys::Language(_), _))
            {
                of_all.push(part);
                continue;
            }
            let place = parts.len();
            parts.push(part);
            joined.push(place);
            for atom in self.formulas.atoms(part) {
                let (AtomKind::Has(name) | AtomKind::Members(Keys::Name(name), _)) = self.atoms.kind(*atom) else {
                    return None;
                };
                let other = root(&joined, *holders.entry(name).or_insert(place));
                let own = root(&joined, place);
                joined[own.max(other)] = own.min(other);
            }
        }
        let mut divided: Vec<(Vec<FormulaId>, Vec<TextId>)> = vec![Default::default(); parts.len()];
        for (place, part) in parts.into_iter().enumerate() {
            divided[root(&joined, place)].0.push(part);
        }
        for (name, place) in holders {
            divided[root(&joined, place)].1.push(name);
        }
        divided.retain(|(parts, _)| !parts.is_empty());
        if divided.len() < 2 {
            return None;
        }
        let divided = divided.into_iter().map(|(parts, names)| {
            let part = self.formulas.and(parts.into_iter().chain(of_all.iter().copied()));
            (part, names)
        });
        Some(divided.collect())
    }
}
