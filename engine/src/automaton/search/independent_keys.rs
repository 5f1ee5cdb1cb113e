//! Whether an independent-key object can be completed, which is seen without a search.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AssertionId, FormulaId, IndependentKeys, MemberKey, TextId};
use crate::automaton::search::search::Search;
use crate::strings::LanguageId;
use smallvec::SmallVec;

/// The keys that an independent-key object has room for beside those that it names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Room {
    None,
    /// Any.
    Any,
    /// Those that are in none of these languages.
    Beside(Vec<LanguageId>),
}

impl Search {
    /// Whether a member of this key can come in an independent-key object, as far as that depends on its key and value.
    pub(crate) fn key_may_come(&mut self, plain: &IndependentKeys, name: TextId) -> Result<bool, AutomatonError> {
        if plain.refused.binary_search(&name).is_ok() || !plain.has_room(name) {
            return Ok(false);
        }
        let mut assertions = SmallVec::<[AssertionId; 4]>::new();
        self.algebra.assertions_of_key(plain, name, &mut assertions)?;
        self.satisfiable(&assertions, &[])
    }

    /// The keys that an independent-key object has room for beside those that it names; none where what is asked of
    /// them cannot be met all at once.
    pub(super) fn room_for_others(&mut self, plain: &IndependentKeys) -> Result<Option<Room>, AutomatonError> {
        // What is asked of a key's value does not depend on the other members.
        let (mut refused, mut assertions) = (Vec::new(), Vec::new());
        for &(language, assertion) in &plain.languages {
            match self.satisfiable(&[assertion], &[])? {
                true => assertions.push(assertion),
                false => refused.push(language),
            }
        }
        // If all of it can be met at once it does not matter in how many of the languages a key is.
        if !self.satisfiable(&assertions, &[])? {
            return Ok(None);
        }
        Ok(Some(match refused.is_empty() {
            _ if !plain.has_room_for_more() => Room::None,
            true => Room::Any,
            false => Room::Beside(refused),
        }))
    }

    /// Whether an independent-key object, the keys `exhausted` of which cannot come any more, can be completed.
    pub(super) fn independent_can_end(
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
        for cell in self.algebra.key_cells(formula, &names, exhausted)? {
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
