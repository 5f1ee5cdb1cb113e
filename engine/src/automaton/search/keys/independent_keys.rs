//! Completion of independent-key objects without a search: each key is judged by itself, so required keys are checked one by one, and
//! possible keys are counted up to the least number of members.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AssertionId, FormulaId, IndependentKeys, MemberKey, TextId};
use crate::automaton::search::ExpectationId;
use crate::automaton::search::search::Search;
use crate::strings::LanguageId;
use smallvec::SmallVec;

/// The keys that an independent-key object has room for besides those that it mentions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Room {
    None,
    /// Any key.
    Any,
    /// The keys that are in none of these languages.
    Beside(Vec<LanguageId>),
}

impl Search {
    /// Whether an independent-key object may have a member with this key. Other members matter only by their number.
    pub(crate) fn key_may_come(&mut self, plain: &IndependentKeys, name: TextId) -> Result<bool, AutomatonError> {
        if plain.refused.binary_search(&name).is_ok() || !plain.has_room(name) {
            return Ok(false);
        }
        let mut assertions = SmallVec::<[AssertionId; 4]>::new();
        self.algebra.assertions_of_key(plain, name, &mut assertions)?;
        self.satisfiable(&assertions, &[])
    }

    /// The expectation of a member with this key in an independent-key object that can be completed, where nothing but the demand
    /// on the object is open; `None` if there cannot be one.
    pub(crate) fn expect_of_independent(
        &mut self,
        plain: &IndependentKeys,
        name: TextId,
    ) -> Result<Option<ExpectationId>, AutomatonError> {
        if !self.key_may_come(plain, name)? {
            return Ok(None);
        }
        let mut assertions = Vec::new();
        self.algebra.assertions_of_key(plain, name, &mut assertions)?;
        assertions.sort_unstable();
        assertions.dedup();
        let all: SmallVec<[u32; 4]> = (0..assertions.len() as u32).collect();
        let diagram = self.algebra.diagrams.all_of(&all);
        let expected = self.expect(assertions, diagram);
        // The key may come because there is such a value.
        if self.fixpoint.is_idle() {
            self.expectations.possible.insert(expected, true);
        }
        Ok(Some(expected))
    }

    /// The keys that an independent-key object has room for besides those that it mentions. `None` if the assertions on
    /// them cannot all be satisfied at once, so that a simple answer does not exist.
    pub(super) fn room_for_others(&mut self, plain: &IndependentKeys) -> Result<Option<Room>, AutomatonError> {
        // The assertions on a key's value do not depend on the other members.
        let (mut refused, mut assertions) = (Vec::new(), Vec::new());
        for &(language, assertion) in &plain.languages {
            match self.satisfiable(&[assertion], &[])? {
                true => assertions.push(assertion),
                false => refused.push(language),
            }
        }
        // If one value satisfies all of the assertions, it does not matter how many of the languages a key is in.
        if !self.satisfiable(&assertions, &[])? {
            return Ok(None);
        }
        Ok(Some(match refused.is_empty() {
            _ if !plain.has_room_for_more() => Room::None,
            true => Room::Any,
            false => Room::Beside(refused),
        }))
    }

    /// Whether an independent-key object can be completed if the keys `exhausted` cannot come any more.
    pub(in crate::automaton::search) fn independent_can_end(
        &mut self,
        plain: &IndependentKeys,
        formula: FormulaId,
        exhausted: &[TextId],
    ) -> Result<bool, AutomatonError> {
        for &name in &plain.required {
            if !self.key_may_come(plain, name)? {
                return Ok(false);
            }
        }
        let required = plain.required.len() as u64;
        if required >= plain.over || plain.min >= plain.over {
            return Ok(false);
        }
        let mut wanting = plain.min.saturating_sub(required);
        if wanting == 0 {
            return Ok(true);
        }
        let names = self.algebra.named_keys(formula);
        for name in &names {
            if !plain.requires(*name) && self.key_may_come(plain, *name)? {
                wanting -= 1;
                if wanting == 0 {
                    return Ok(true);
                }
            }
        }
        let mut cells = self.algebra.cell_search(formula, &names, exhausted)?;
        while let Some(cell) = self.algebra.next_cell(&mut cells)? {
            let assertions = self
                .algebra
                .assertions_of_member(&[formula], MemberKey::In(&cell.within))?;
            if self.satisfiable(&assertions, &[])? {
                match cell.left {
                    Some(left) if left < wanting => wanting -= left,
                    _ => return Ok(true),
                }
            }
        }
        Ok(false)
    }
}
