//! The keys that may come next where the style prescribes an order: a key may come if the object can be completed with it and
//! without those that stand before it in the order.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::few_changed::{ChangedAtom, FewChanged};
use crate::automaton::formula::{AssertionId, Atom, AtomKind, FormulaId, Keys, TextId};
use crate::automaton::search::Search;
use crate::automaton::search::containers::object_facts::{ObjectFacts, ObjectModel, Surroundings};
use hashbrown::{HashMap, HashSet};

/// Product of the number of keys in order and that of searches, each of which looks at all of an object's residual formula, from
/// which on keys are tried without the others first. The residual formula for such a trial is worth its preparation only for many
/// keys.
const SEARCHED_KEYS_BEFORE_KEYS_ALONE: usize = 256;

/// Number of atoms that speak of a key from which on the key is one that many alternatives share.
const ATOMS_OF_SHARED_KEY: usize = 16;

/// The residual formula of an object without the keys that it lists, but for those that many alternatives share.
struct KeysAlone {
    apart: FewChanged,
    /// The atoms that change where a key comes, for each key that may be left out.
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
        if let Some(can_end) = self.add_viable_of_alternatives(demand, ordered, viable)? {
            return Ok(match can_end {
                true => self.algebra.without_all(demand, ordered),
                false => FormulaId::FALSE,
            });
        }
        // A model does without the keys that it does not name.
        let around = Surroundings {
            used: exhausted,
            named: ordered,
            ..Surroundings::default()
        };
        let mut goals = vec![(demand, true)];
        let mut model: Option<(ObjectFacts<'_>, ObjectModel)> = None;
        let (mut searches, mut alone) = (0, None);
        for (place, &name) in ordered.iter().enumerate() {
            let has = self.algebra.atom(AtomKind::Has(name));
            let mut may_come = match &model {
                Some((facts, members)) => facts.has_room(self, members, name)?,
                None => false,
            };
            if !may_come && searches * ordered.len() >= SEARCHED_KEYS_BEFORE_KEYS_ALONE {
                let alone = match &mut alone {
                    Some(alone) => alone,
                    none => none.insert(self.keys_alone(demand)?),
                };
                may_come = self.may_come_alone(alone, name, &ordered[..place], around)?;
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

    /// Adds those of the keys `ordered` that may come next, alternative by alternative, where each judges each key by itself: then a key
    /// may come unless one before it is required. Returns whether the object can end; `None`, with nothing added, if an alternative does
    /// not judge each key by itself, or asks for a number of members, towards which keys count that are passed.
    fn add_viable_of_alternatives(
        &mut self,
        demand: FormulaId,
        ordered: &[TextId],
        viable: &mut Vec<TextId>,
    ) -> Result<Option<bool>, AutomatonError> {
        let Some(alternatives) = self.algebra.independent_alternatives(demand) else {
            return Ok(None);
        };
        let mut plain = Vec::with_capacity(alternatives.len());
        for alternative in alternatives {
            if alternative == FormulaId::FALSE {
                continue;
            }
            match self.algebra.independent_keys(alternative).filter(|keys| keys.min == 0) {
                Some(keys) => plain.push((alternative, keys)),
                None => return Ok(None),
            }
        }
        let places: HashMap<TextId, usize> = ordered.iter().enumerate().map(|(place, name)| (*name, place)).collect();
        let mut open: HashSet<TextId> = ordered.iter().copied().collect();
        let (mut can_end, mut found) = (false, Vec::new());
        for (alternative, keys) in plain {
            // Keys that cannot come any more matter only where a number of members is asked for.
            if !self.object_can_end(alternative, &[])? {
                continue;
            }
            can_end = true;
            let required = keys.required.iter().filter_map(|name| places.get(name));
            let first_required = required.min().copied().unwrap_or(ordered.len());
            self.add_viable_of(&keys, |name| places[&name] <= first_required, &mut open, &mut found)?;
        }
        found.sort_by_key(|name| places[name]);
        viable.append(&mut found);
        Ok(Some(can_end))
    }

    /// The residual formula `demand` of an object without the keys that it lists, but for those that many alternatives share,
    /// such as the one whose value tells them apart. An atom that forbids all keys but some of a list is taken to forbid the key,
    /// too.
    fn keys_alone(&mut self, demand: FormulaId) -> Result<KeysAlone, AutomatonError> {
        let mut by_name: HashMap<TextId, Vec<ChangedAtom>> = HashMap::new();
        let mut closings = Vec::new();
        for atom in self.algebra.formulas.atoms(demand).to_vec() {
            let (name, with) = match self.algebra.atoms.kind(atom) {
                AtomKind::Has(name) => (name, Some(true)),
                AtomKind::Members(Keys::Name(name), _) => (name, None),
                AtomKind::Members(Keys::Language(language), AssertionId::NOTHING) => {
                    let listed = self.algebra.enumerated_keys(language)?;
                    closings.extend(listed.filter(|keys| keys.excludes).map(|keys| (atom, keys)));
                    continue;
                }
                _ => continue,
            };
            by_name.entry(name).or_default().push((atom, with));
        }
        by_name.retain(|_, changed| changed.len() < ATOMS_OF_SHARED_KEY);
        // A key that does not come makes its `Has` false, and true what is said of its value.
        let of_names = by_name.values().flatten();
        let mut otherwise: HashMap<Atom, bool> = of_names.map(|(atom, with)| (*atom, with.is_none())).collect();
        for (atom, keys) in closings {
            otherwise.insert(atom, false);
            for name in &keys.names {
                if let Some(changed) = by_name.get_mut(name) {
                    changed.push((atom, None));
                }
            }
        }
        let value = |atom: Atom| otherwise.get(&atom).copied();
        let apart = FewChanged::new(&mut self.algebra.formulas, demand, &value);
        Ok(KeysAlone { apart, by_name })
    }

    /// Whether an object can be completed with a key and no other key that its residual formula lists, but for shared ones that
    /// are not among those `passed`; `false` also if it takes further members.
    fn may_come_alone(
        &mut self,
        alone: &KeysAlone,
        name: TextId,
        passed: &[TextId],
        around: Surroundings<'_>,
    ) -> Result<bool, AutomatonError> {
        let Some(changed) = alone.by_name.get(&name) else {
            return Ok(false);
        };
        let left = alone.apart.with(&mut self.algebra.formulas, changed);
        let has = self.algebra.atom(AtomKind::Has(name));
        let Some((_, model)) = self.object_model(&[(left, true), (has, true)], around)? else {
            return Ok(false);
        };
        let is_listed =
            |other: &TextId| *other == name || !alone.by_name.contains_key(other) && !passed.contains(other);
        Ok(model.others.is_empty() && model.members.keys().all(is_listed))
    }
}
