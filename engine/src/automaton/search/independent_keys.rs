//! TODO

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::assertion::AssertionId;
use crate::automaton::formula::boolean::FormulaId;
use crate::automaton::formula::keys::independent::IndependentKeys;
use crate::automaton::formula::read::MemberKey;
use crate::automaton::formula::texts::TextId;
use crate::automaton::search::search::Search;
use crate::strings::LanguageId;
use smallvec::SmallVec;

/// The names that a plain object has room for beside those that it names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Room {
    None,
    /// Any.
    Any,
    /// Those that are in none of these languages.
    Beside(Vec<LanguageId>),
}

impl Search {
    /// Whether a member of this name can come in a plain object, as far as that depends on its name and value.
    pub(crate) fn plain_may_come(&mut self, plain: &IndependentKeys, name: TextId) -> Result<bool, AutomatonError> {
        if plain.refused.binary_search(&name).is_ok() || !plain.has_room(name) {
            return Ok(false);
        }
        let mut assertions = SmallVec::<[AssertionId; 4]>::new();
        self.algebra.plain_assertions(plain, name, &mut assertions)?;
        self.satisfiable(&assertions, &[])
    }

    /// The names that a plain object has room for beside those that it names; none where what is asked of them cannot be
    /// met all at once.
    pub(super) fn plain_room(&mut self, plain: &IndependentKeys) -> Result<Option<Room>, AutomatonError> {
        // What is asked of a name's value does not depend on the other members.
        let (mut refused, mut assertions) = (Vec::new(), Vec::new());
        for &(language, assertion) in &plain.languages {
            match self.satisfiable(&[assertion], &[])? {
                true => assertions.push(assertion),
                false => refused.push(language),
            }
        }
        // If all of it can be met at once it does not matter in how many of the languages a name is.
        if !self.satisfiable(&assertions, &[])? {
            return Ok(None);
        }
        Ok(Some(match refused.is_empty() {
            _ if !plain.has_room_for_more() => Room::None,
            true => Room::Any,
            false => Room::Beside(refused),
        }))
    }

    /// Whether a plain object, the names `gone` of which cannot come any more, can be completed.
    pub(super) fn plain_can_end(
        &mut self,
        plain: &IndependentKeys,
        formula: FormulaId,
        gone: &[TextId],
    ) -> Result<bool, AutomatonError> {
        for &name in &plain.required {
            if !self.plain_may_come(plain, name)? {
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
        let names = self.algebra.names(formula);
        for name in &names {
            if !plain.requires(*name) && self.plain_may_come(plain, *name)? {
                wanting -= 1;
                if wanting == 0 {
                    return Ok(true);
                }
            }
        }
        for cell in self.algebra.cells(formula, &names, gone)? {
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
