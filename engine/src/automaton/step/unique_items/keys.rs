//! Keys after which an object can still differ from other values.

use crate::automaton::decode::DecodeState;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::TextId;
use crate::automaton::search::NextKeys;
use crate::automaton::step::{Automaton, Cursor, Derivation, RemainingKeyText, StackId, State, keep};

impl Automaton {
    /// The keys that begin with a text and that members of other objects have, of those objects that the one at the top of a stack must not
    /// equal.
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
        let language = match self.opened(names, at.stack)? {
            // The compared values have finitely many keys, so that the beginning of infinitely many keys can become another key.
            NextKeys::Listed(list) if self.search.key_list(list).excludes => return Ok(true),
            NextKeys::Language(language) | NextKeys::In(language) if self.stays_infinite(language)? => language,
            _ => match self.remaining_key_text(at)? {
                RemainingKeyText::AllBut(..) => return Ok(true),
                RemainingKeyText::Language(..) => self.remaining_key_language(at)?,
                RemainingKeyText::These(names, _) => return Ok(self.some_go_on(&names, text, decode)),
                RemainingKeyText::Left(left) => {
                    let names: Vec<TextId> = self.remaining_keys(left).collect();
                    return Ok(self.some_go_on(&names, text, decode));
                }
            },
        };
        match decode {
            DecodeState::Between => Ok(!self.languages_mut().is_empty(language)?),
            begun => self.may_follow(begun, language),
        }
    }

    /// Whether some of these keys, which begin with `text`, have a character next that `decode` may still become.
    fn some_go_on(&self, names: &[TextId], text: TextId, decode: DecodeState) -> bool {
        if decode == DecodeState::Between {
            return !names.is_empty();
        }
        let algebra = &self.search.algebra;
        let read = algebra.texts.length(text);
        let possible = decode.possible(algebra.style.escapes);
        let mut names = names.iter();
        names.any(|name| algebra.has_extension_with(*name, read, &possible))
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
