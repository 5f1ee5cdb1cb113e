//! The keys that may come next where the style prescribes an order: a key may come if the object can be completed with it and
//! without those that stand before it in the order.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::few_changed::{ChangedAtom, FewChanged};
use crate::automaton::formula::{Atom, AtomKind, FormulaId, Keys, TextId};
use crate::automaton::search::Search;
use crate::automaton::search::containers::object_facts::{ObjectFacts, ObjectModel, Surroundings};
use hashbrown::HashMap;

/// Number of searches, each of which looks at all of an object's residual formula, after which keys are tried without the
/// others first.
const SEARCHES_BEFORE_KEYS_ALONE: usize = 4;

/// The residual formula of an object to which at most one of the keys comes that it lists.
struct KeysAlone {
    apart: FewChanged,
    /// The atoms that change with each key.
    by_name: HashMap<TextId, Vec<ChangedAtom>>,
}

impl Search {
    /// Adds those of the keys `ordered` that may come next, given that each may come only before those behind it. Returns
    /// the residual formula for the case that none of them comes.
    pub(super) fn add_viable_in_order(
        &mut self,
        demand: FormulaId,
        ordered: &[TextId],
        exhausted: &[TextId],
        viable: &mut Vec<TextId>,
    ) -> Result<FormulaId, AutomatonError> {
        let around = Surroundings {
            used: exhausted,
            ..Surroundings::default()
        };
        let mut goals = vec![(demand, true)];
        let (mut model, mut searches, mut alone): (Option<(ObjectFacts<'_>, ObjectModel)>, _, _) = (None, 0, None);
        for &name in ordered {
            let has = self.algebra.atom(AtomKind::Has(name));
            let mut may_come = match &model {
                Some((facts, members)) => facts.has_room(self, members, name)?,
                None => false,
            };
            if !may_come && searches >= SEARCHES_BEFORE_KEYS_ALONE {
                let alone = alone.get_or_insert_with(|| self.keys_alone(demand));
                may_come = self.may_come_alone(alone, name, around)?;
            }
            if !may_come && model.is_none() {
                searches += 1;
                model = self.object_model(&goals, around)?;
                let Some((facts, members)) = &model else {
                    return Ok(FormulaId::FALSE);
                };
                may_come = facts.has_room(self, members, name)?;
            }
            if !may_come {
                searches += 1;
                goals.push((has, true));
                may_come = self.object_model(&goals, around)?.is_some();
                goals.pop();
            }
            viable.extend(may_come.then_some(name));
            model = model.filter(|(_, members)| !members.has(name));
            goals.push((has, false));
        }
        Ok(self.algebra.without_all(demand, ordered))
    }

    /// The residual formula `demand` of an object to which at most one of the keys comes that it lists.
    fn keys_alone(&mut self, demand: FormulaId) -> KeysAlone {
        let mut by_name: HashMap<TextId, Vec<ChangedAtom>> = HashMap::new();
        let mut without: HashMap<Atom, bool> = HashMap::new();
        for &atom in self.algebra.formulas.atoms(demand) {
            let (name, with, otherwise) = match self.algebra.atoms.kind(atom) {
                AtomKind::Has(name) => (name, Some(true), false),
                AtomKind::Members(Keys::Name(name), _) => (name, None, true),
                _ => continue,
            };
            by_name.entry(name).or_default().push((atom, with));
            without.insert(atom, otherwise);
        }
        let value = |atom: Atom| without.get(&atom).copied();
        let apart = FewChanged::new(&mut self.algebra.formulas, demand, &value);
        KeysAlone { apart, by_name }
    }

    /// Whether an object can be completed with a key and no other key that its residual formula lists; `false` also if it takes
    /// further members.
    fn may_come_alone(
        &mut self,
        alone: &KeysAlone,
        name: TextId,
        around: Surroundings<'_>,
    ) -> Result<bool, AutomatonError> {
        let Some(changed) = alone.by_name.get(&name) else {
            return Ok(false);
        };
        let left = alone.apart.with(&mut self.algebra.formulas, changed);
        let has = self.algebra.atom(AtomKind::Has(name));
        let model = self.object_model(&[(left, true), (has, true)], around)?;
        Ok(model.is_some_and(|(_, model)| model.count == 1))
    }
}
