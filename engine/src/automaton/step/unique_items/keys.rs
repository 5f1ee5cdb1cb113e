//! Keys after which an object can still differ from other values.

use crate::automaton::decode::DecodeState;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::TextId;
use crate::automaton::search::NextKeys;
use crate::automaton::step::{Automaton, Cursor, Derivation, RemainingKeyText, StackId, State, keep};

impl Automaton {
    /// Those keys of the values that the container at the top of a stack must not equal that begin with a text.
    pub(crate) fn compared_keys(&mut self, stack: StackId, text: TextId) -> Result<Vec<TextId>, AutomatonError> {
        let Some(frame) = self.frame(stack).filter(|frame| frame.kind.keeps_values()) else {
            return Ok(Vec::new());
        };
        let own = self.distinctness(stack)?.own;
        let names = self.derived(&frame, Derivation::Keys, own)?.texts;
        Ok(self
            .search
            .algebra
            .key_sets
            .names(names, text, &self.search.algebra.texts))
    }

    /// Whether the key that is being read can become one after which the object can differ.
    pub(super) fn key_can_be_distinct(&mut self, at: State) -> Result<bool, AutomatonError> {
        let Cursor::Key(decode, text, names) = at.cursor else {
            return Ok(false);
        };
        // The compared values have finitely many keys, so that the beginning of infinitely many keys can become another key.
        match self.opened(names, at.stack)? {
            NextKeys::Listed(list) if self.search.key_list(list).excludes => return Ok(true),
            NextKeys::Language(language) | NextKeys::In(language) if self.stays_infinite(language)? => {
                return match decode {
                    DecodeState::Between => Ok(true),
                    _ => self.may_follow(decode, language),
                };
            }
            _ => {}
        }
        let names: Vec<TextId> = match self.remaining_key_text(at)? {
            RemainingKeyText::AllBut(..) => return Ok(true),
            RemainingKeyText::Language(..) => {
                let language = self.remaining_key_language(at)?;
                return match decode {
                    DecodeState::Between => Ok(!self.languages_mut().is_empty(language)?),
                    _ => self.may_follow(decode, language),
                };
            }
            RemainingKeyText::These(names, _) => names.into_vec(),
            RemainingKeyText::Left(left) => self.remaining_keys(left).collect(),
        };
        let read = self.search.algebra.texts.length(text);
        let possible = decode.possible(self.search.algebra.style.escapes);
        let is_possible = |name: &TextId| {
            decode == DecodeState::Between || self.search.algebra.has_extension_with(*name, read, &possible)
        };
        Ok(names.iter().any(is_possible))
    }

    /// Whether an object can still differ from the values that it must not equal after a member with this key.
    pub(crate) fn member_can_be_distinct(&mut self, name: TextId, stack: StackId) -> Result<bool, AutomatonError> {
        if let Some(&known) = self.distinct_memo.members.get(&(name, stack)) {
            return Ok(known);
        }
        let is_apart = self.find_member_can_be_distinct(name, stack)?;
        keep(&mut self.distinct_memo.members, (name, stack), is_apart);
        Ok(is_apart)
    }

    fn find_member_can_be_distinct(&mut self, name: TextId, stack: StackId) -> Result<bool, AutomatonError> {
        let Some((frame, expected)) = self.member_frame(name, stack)? else {
            return Ok(false);
        };
        if self.search.value_is_infinite(expected)? {
            return Ok(true);
        }
        let after = self.push(frame);
        let apart = self.distinctness(after)?;
        self.value_can_be_distinct(expected, apart.child)
    }
}
