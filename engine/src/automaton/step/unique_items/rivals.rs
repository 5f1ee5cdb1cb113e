//! Rivals: the values that a container must not equal, and the sets that are derived from them.
//!
//! Arrays have thousands of items, so the values are [persistent sets](ValueSet), and the sets derived from one are
//! updated with the items that have come since: the values that agree, their parts, and the parts that must
//! not come. Where a container begins unlike most values, its beginning is looked up instead: each item and member knows
//! the values that have it (`DistinctMemo::holders`).

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Assertion, AssertionId, ByNumber, SetId, ValueSet};
use crate::automaton::step::{Automaton, Container, Derivation, Frame, Part};

/// Number of values by which a set may have grown for the sets derived from it to be brought up to date.
const VALUES_ADDED: usize = 64;

/// Number of containers from which on small derived sets are forgotten.
const KEPT_DERIVED: usize = 1 << 12;

impl Automaton {
    /// The position or key of the container's next item or member; `None` if the key is not known yet.
    pub(super) fn next_part(&self, kind: &Container) -> Option<Part> {
        match kind {
            Container::Array { .. } => Some(Part::Item(self.search.algebra.values.length(kind.items()))),
            Container::Object { name, .. } => name.map(Part::Member),
        }
    }

    /// The items or members read of a container, as far as they are kept.
    pub(super) fn read_parts(&self, kind: &Container) -> Vec<(Part, AssertionId)> {
        let values = &self.search.algebra.values;
        match kind {
            Container::Array { .. } => {
                let items = values.all_items(kind.items()).into_iter();
                items.enumerate().map(|(at, item)| (Part::Item(at), item)).collect()
            }
            Container::Object { values: members, .. } => {
                let members = values.all_members(members.unwrap_or_default()).into_iter();
                members.map(|(name, value)| (Part::Member(name), value)).collect()
            }
        }
    }

    /// The part of a value at a position or key.
    fn part_of(&self, value: AssertionId, part: Part) -> Option<AssertionId> {
        match (self.search.algebra.assertions.get(value), part) {
            (Assertion::Array(items), Part::Item(at)) => items.get(at).copied(),
            (Assertion::Object(members), Part::Member(name)) => {
                let texts = &self.search.algebra.texts;
                let place = members.binary_search_by(|(other, _)| texts.compare(*other, name));
                place.ok().map(|place| members[place].1)
            }
            _ => None,
        }
    }

    /// Derives a set of the given kind from a set of values, for a container.
    pub(super) fn derived(
        &mut self,
        frame: &Frame,
        derivation: Derivation,
        values: SetId<AssertionId>,
    ) -> Result<ValueSet, AutomatonError> {
        if values == SetId::EMPTY {
            return Ok(ValueSet::default());
        }
        let key = (derivation, frame.kind);
        let known = self.distinct_memo.derived.get(&key).cloned().unwrap_or_default();
        let sets = &mut self.search.algebra.values.others;
        let mut from = ValueSet::default();
        let mut added = None;
        for (before, derived) in known.iter().rev() {
            if *before == values {
                return Ok(*derived);
            }
            added = sets.added_up_to(VALUES_ADDED, (*before, values), &ByNumber);
            if added.is_some() {
                from = *derived;
                break;
            }
        }
        let added = match added {
            Some(added) => added,
            None if derivation == Derivation::Agreeing => self.likely_agreeing(&frame.kind, values),
            None => sets.all(values),
        };
        for value in added {
            match derivation {
                Derivation::Agreeing => {
                    if self.agrees(&frame.kind, value) {
                        from = self.search.algebra.with_value(from, value);
                    }
                }
                Derivation::Keys => {
                    if let Assertion::Object(members) = self.search.algebra.assertions.get(value).clone() {
                        let algebra = &mut self.search.algebra;
                        for (name, _) in members.iter() {
                            from.texts = algebra.key_sets.with(from.texts, *name, &algebra.texts);
                        }
                    }
                }
                Derivation::Parts | Derivation::Barred(_) => {
                    let Some(part) = self.next_part(&frame.kind) else {
                        continue;
                    };
                    let Some(here) = self.part_of(value, part) else {
                        continue;
                    };
                    if derivation == Derivation::Parts || self.is_barred(frame, (part, here), values)? {
                        // The parts of values are compared with those of containers within this one.
                        self.note_parts(here);
                        from = self.search.algebra.with_value(from, here);
                    }
                }
            }
        }
        let mut known = known;
        if known.len() == known.inline_size() {
            known.remove(0);
        }
        known.push((values, from));
        let derived = &mut self.distinct_memo.derived;
        if derived.len() >= KEPT_DERIVED {
            // Sets derived from few values are soon derived again.
            let (texts, others) = (&self.search.algebra.key_sets, &self.search.algebra.values.others);
            let is_large = |set: &ValueSet| texts.len(set.texts) + others.len(set.others) > VALUES_ADDED;
            derived.retain(|_, known| known.iter().any(|(_, set)| is_large(set)));
        }
        derived.insert(key, known);
        Ok(from)
    }

    /// Returns some of the values of a set, among them all that agree with the part of a container that has been read.
    fn likely_agreeing(&mut self, kind: &Container, values: SetId<AssertionId>) -> Vec<AssertionId> {
        let sets = &self.search.algebra.values.others;
        let holders = &self.distinct_memo.holders;
        let read = self.read_parts(kind).into_iter();
        let fewest = read.map(|part| holders.get(&part).map_or(&[][..], |holders| &holders[..]));
        match fewest.min_by_key(|holders| holders.len()) {
            Some(fewest) if fewest.len() < sets.len(values) => {
                let is_in = |value: &&AssertionId| sets.has(values, **value, &ByNumber);
                fewest.iter().filter(is_in).copied().collect()
            }
            _ => sets.all(values),
        }
    }

    /// Whether a container may still become equal to a value.
    fn agrees(&self, kind: &Container, value: AssertionId) -> bool {
        let is_alike = match (self.search.algebra.assertions.get(value), kind) {
            (Assertion::Array(_), Container::Array { values, .. }) => values.is_some(),
            (Assertion::Object(_), Container::Object { values, .. }) => values.is_some(),
            _ => false,
        };
        let read = if is_alike { self.read_parts(kind) } else { Vec::new() };
        is_alike
            && read
                .into_iter()
                .all(|(part, here)| self.part_of(value, part) == Some(here))
    }

    /// Records the parts of a value, given by its assertion of equality, so that the value is found by them.
    pub(crate) fn note_parts(&mut self, value: AssertionId) {
        if !self.distinct_memo.noted.insert(value) {
            return;
        }
        match self.search.algebra.assertions.get(value).clone() {
            Assertion::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.note_holder((Part::Item(at), *item), value);
                }
            }
            Assertion::Object(members) => {
                for (name, member) in members.iter() {
                    self.note_holder((Part::Member(*name), *member), value);
                }
            }
            _ => {}
        }
    }

    /// Records that a value has this part.
    fn note_holder(&mut self, part: (Part, AssertionId), value: AssertionId) {
        self.search.algebra.kept_cells += 4;
        self.distinct_memo.holders.entry(part).or_default().push(value);
    }
}
