//! Keys after which an object can still differ from other values.

use crate::automaton::decode::DecodeState;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::TextId;
use crate::automaton::search::NextKeys;
use crate::automaton::step::{Automaton, Cursor, Derivation, StackId, State, keep};
use crate::strings::{Cardinality, LanguageId};

/// Number of keys that are tried one by one until the object can differ after one of them.
pub(crate) const TRIED_KEYS: usize = 64;

impl Automaton {
    /// The keys of the members of the values that the container at the top of a stack must not equal.
    pub(crate) fn compared_keys(&mut self, stack: StackId) -> Result<Vec<TextId>, AutomatonError> {
        let Some(frame) = self.frame(stack).filter(|frame| frame.kind.keeps_values()) else {
            return Ok(Vec::new());
        };
        let own = self.distinctness(stack)?.own;
        let names = self.derived(&frame, Derivation::Keys, own)?.texts;
        Ok(self.search.algebra.key_sets.all(names))
    }

    /// Whether the key that is being read can become one after which the object can differ.
    pub(super) fn key_can_be_distinct(&mut self, at: State) -> Result<bool, AutomatonError> {
        let Cursor::Key(decode, text, names) = at.cursor else {
            return Ok(false);
        };
        let mut listed = match self.opened(names, at.stack)? {
            // The compared values have few keys, so every beginning of a key can become another key.
            NextKeys::Any => return Ok(true),
            NextKeys::Listed(list) if self.search.key_list(list).excludes => return Ok(true),
            NextKeys::Listed(list) => self.search.listed_with(list, text).to_vec(),
            NextKeys::Of(list) => self.remaining_of(list, text, at.stack).collect(),
            NextKeys::None | NextKeys::Unopened => return Ok(false),
            NextKeys::Language(_) | NextKeys::In(_) => {
                let language = self.remaining_key_language(at)?;
                return self.partial_key_can_be_distinct(decode, text, language, at.stack);
            }
        };
        if decode != DecodeState::default() {
            let (read, possible) = (
                self.search.algebra.texts.length(text),
                decode.possible(self.search.algebra.style.escapes),
            );
            listed.retain(|name| self.search.algebra.has_extension_with(*name, read, &possible));
        }
        for name in listed {
            if self.member_can_be_distinct(name, at.stack)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a key that goes on in `language` can become one after which the object can differ. A character of the
    /// key may have been read in part.
    fn partial_key_can_be_distinct(
        &mut self,
        decode: DecodeState,
        text: TextId,
        language: LanguageId,
        stack: StackId,
    ) -> Result<bool, AutomatonError> {
        if decode == DecodeState::default() {
            return self.longer_key_can_be_distinct(text, language, stack);
        }
        let possible = decode.possible(self.search.algebra.style.escapes);
        for &(range, target) in self.languages_mut().transitions(language)?.iter() {
            let (low, high) = (u32::from(range.first()), u32::from(range.last()));
            let shared = possible
                .iter()
                .flat_map(|(first, last)| (*first).max(low)..=(*last).min(high));
            // Characters of one range lead to the same remaining texts, so the keys differ only in that character.
            let shared: Vec<char> = shared.filter_map(char::from_u32).take(TRIED_KEYS).collect();
            for character in shared {
                let longer = self.search.algebra.texts.longer(text, character);
                if self.longer_key_can_be_distinct(longer, target, stack)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether there is a key that consists of `text` and a text of `language`, and after which the object can differ.
    fn longer_key_can_be_distinct(
        &mut self,
        text: TextId,
        language: LanguageId,
        stack: StackId,
    ) -> Result<bool, AutomatonError> {
        let (mut looked, mut most) = (0, 8);
        loop {
            if self.languages_mut().cardinality(language, most as u64)? == Cardinality::Infinite {
                return Ok(true);
            }
            let rests = self.languages_mut().members(language, most)?;
            for rest in &rests[looked.min(rests.len())..] {
                let name = self.search.algebra.texts.extended(text, rest);
                if self.member_can_be_distinct(name, stack)? {
                    return Ok(true);
                }
            }
            if rests.len() < most {
                return Ok(false);
            }
            (looked, most) = (most, 8 * most);
        }
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
        let Some(after) = self.member(name, stack)? else {
            return Ok(false);
        };
        let Cursor::Value(expected) = after.cursor else {
            return Ok(false);
        };
        if self.search.value_is_infinite(expected)? {
            return Ok(true);
        }
        let apart = self.distinctness(after.stack)?;
        self.value_can_be_distinct(expected, apart.child)
    }
}
