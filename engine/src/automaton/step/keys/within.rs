//! Transitions within keys.

use crate::automaton::decode::{DecodeState, Decoded, is_plain, several_plain};
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::TextId;
use crate::automaton::search::NextKeys;
use crate::automaton::step::{Automaton, Cursor, StackId, State, StepResult};

impl Automaton {
    /// The state after the opening quote of a key.
    pub(crate) fn begin_key(&mut self, stack: StackId) -> StepResult {
        let cursor = Cursor::Key(DecodeState::default(), TextId::EMPTY, NextKeys::Unopened);
        Ok(self.has_next_key(stack)?.then_some(State::new(cursor, stack)))
    }

    /// The keys that may come next, worked out if that has not happened yet.
    pub(crate) fn opened(&mut self, names: NextKeys, stack: StackId) -> Result<NextKeys, AutomatonError> {
        match names {
            NextKeys::Unopened => self.next_keys(stack),
            names => Ok(names),
        }
    }

    /// The state after a byte within a key.
    pub(crate) fn in_key(
        &mut self,
        decode: DecodeState,
        text: TextId,
        names: NextKeys,
        stack: StackId,
        byte: u8,
    ) -> StepResult {
        let stay = |cursor: Cursor| Ok(Some(State::new(cursor, stack)));
        match decode.step(byte, self.search.algebra.style.escapes) {
            Decoded::Refused => Ok(None),
            Decoded::Partial(decode) => {
                let names = self.opened(names, stack)?;
                match self.key_may_continue(decode, (text, names), stack)? {
                    true => stay(Cursor::Key(decode, text, names)),
                    false => Ok(None),
                }
            }
            Decoded::Character(character) => self.character_of_key(character, (text, names), stack),
            Decoded::End => {
                let names = self.opened(names, stack)?;
                match self.key_may_end(text, names, stack)? {
                    true => stay(Cursor::Colon(text)),
                    false => Ok(None),
                }
            }
        }
    }

    /// The state after the characters at the beginning of `bytes` that stand for themselves in a key, and their number.
    /// Reading them at once saves a look-up for each character. `None` if keys are told apart by a language, or if
    /// there are fewer than two such characters.
    pub(crate) fn read_in_key(
        &mut self,
        at: State,
        bytes: &[u8],
    ) -> Result<Option<(Option<State>, usize)>, AutomatonError> {
        let Cursor::Key(DecodeState::Between, text, names) = at.cursor else {
            return Ok(None);
        };
        let Some(more) = several_plain(bytes) else {
            return Ok(None);
        };
        let names = self.opened(names, at.stack)?;
        if !matches!(names, NextKeys::Any | NextKeys::Listed(_) | NextKeys::Of(_)) {
            return Ok(None);
        }
        let count = more.len();
        let longer = self.search.algebra.texts.extended(text, more);
        if !self.some_begin_with(longer, names, at.stack) {
            return Ok(Some((None, count)));
        }
        let next = State::new(Cursor::Key(DecodeState::default(), longer, names), at.stack);
        Ok(Some((self.if_distinct(Some(next))?, count)))
    }

    /// Whether a state before the first character of a key cannot continue with a byte; `false` also if this does not
    /// show at once.
    pub(crate) fn begins_no_key(&mut self, at: State, byte: u8) -> Result<bool, AutomatonError> {
        let Cursor::Key(DecodeState::Between, text, names) = at.cursor else {
            return Ok(false);
        };
        if !is_plain(byte) || text != TextId::EMPTY {
            return Ok(false);
        }
        Ok(match self.opened(names, at.stack)? {
            NextKeys::Listed(list) | NextKeys::Of(list) => {
                let list = self.search.key_list(list);
                !list.excludes && !list.has_first(byte)
            }
            _ => false,
        })
    }

    /// The state after one more character of a key.
    pub(crate) fn character_of_key(
        &mut self,
        character: char,
        (text, names): (TextId, NextKeys),
        stack: StackId,
    ) -> StepResult {
        let longer = self.search.algebra.texts.longer(text, character);
        let names = self.opened(names, stack)?;
        let names = match names {
            NextKeys::None | NextKeys::Unopened => return Ok(None),
            NextKeys::Any | NextKeys::Listed(_) | NextKeys::Of(_) => {
                if !self.some_begin_with(longer, names, stack) {
                    return Ok(None);
                }
                names
            }
            NextKeys::Language(language) => {
                let after = self.languages_mut().derivative(language, character)?;
                if self.languages_mut().is_empty(after)? {
                    return Ok(None);
                }
                NextKeys::Language(after)
            }
            NextKeys::In(language) => {
                let after = self.languages_mut().derivative(language, character)?;
                let seen = self.count_seen_with(self.seen_keys(stack), longer);
                if !self.search.has_more(after, seen)? {
                    return Ok(None);
                }
                NextKeys::In(after)
            }
        };
        Ok(Some(State::new(
            Cursor::Key(DecodeState::default(), longer, names),
            stack,
        )))
    }

    /// Whether a key may end after `text`.
    fn key_may_end(&mut self, text: TextId, names: NextKeys, stack: StackId) -> Result<bool, AutomatonError> {
        Ok(match names {
            NextKeys::None | NextKeys::Unopened => false,
            NextKeys::Any => match self.frame(stack) {
                Some(frame) => {
                    !self.has_seen(&frame.kind, text)
                        && !self.passed_keys(&frame.kind).contains(&text)
                        && !self.search.barred_keys(frame.formulas[0])?.contains(&text)
                }
                None => false,
            },
            NextKeys::In(language) => {
                let has = self.frame(stack).is_some_and(|frame| self.has_seen(&frame.kind, text));
                !has && self.languages().accepts_empty(language)
            }
            NextKeys::Listed(list) => {
                let is_listed = self.search.is_listed(list, text);
                is_listed != self.search.key_list(list).excludes
            }
            NextKeys::Of(list) => {
                let has = self.frame(stack).is_some_and(|frame| self.has_seen(&frame.kind, text));
                !has && self.search.is_listed(list, text)
            }
            NextKeys::Language(language) => self.languages().accepts_empty(language),
        })
    }

    /// Whether a text is the beginning of a key that may come, if keys are told apart by lists; `true` otherwise.
    fn some_begin_with(&self, text: TextId, names: NextKeys, stack: StackId) -> bool {
        match names {
            NextKeys::Listed(list) => {
                self.search.key_list(list).excludes || !self.search.listed_with(list, text).is_empty()
            }
            NextKeys::Of(list) => self.count_remaining_in(list, text, stack) > 0,
            _ => true,
        }
    }

    /// Whether a character of a key that `decode` may still become can follow `text`.
    pub(crate) fn key_may_continue(
        &mut self,
        decode: DecodeState,
        (text, names): (TextId, NextKeys),
        stack: StackId,
    ) -> Result<bool, AutomatonError> {
        let read = self.search.algebra.texts.length(text);
        match names {
            NextKeys::None | NextKeys::Unopened => Ok(false),
            NextKeys::Any => Ok(!decode.possible(self.search.algebra.style.escapes).is_empty()),
            NextKeys::Listed(list) => {
                if self.search.key_list(list).excludes {
                    return Ok(!decode.possible(self.search.algebra.style.escapes).is_empty());
                }
                let possible = decode.possible(self.search.algebra.style.escapes);
                let mut names = self.search.listed_with(list, text).iter();
                Ok(names.any(|name| self.search.algebra.has_extension_with(*name, read, &possible)))
            }
            NextKeys::Of(list) => {
                let possible = decode.possible(self.search.algebra.style.escapes);
                Ok(possible
                    .iter()
                    .any(|range| self.count_remaining_behind(list, text, *range, stack) > 0))
            }
            NextKeys::Language(language) => self.may_follow(decode, language),
            NextKeys::In(language) => {
                let possible = decode.possible(self.search.algebra.style.escapes);
                let seen = self.seen_keys(stack);
                let seen = self
                    .search
                    .algebra
                    .key_sets
                    .names(seen, text, &self.search.algebra.texts);
                let seen = seen
                    .iter()
                    .filter(|name| self.search.algebra.has_extension_with(**name, read, &possible));
                match seen.count() as u64 {
                    0 => self.may_follow(decode, language),
                    seen => Ok(self.count_behind(language, &possible, seen)? > seen),
                }
            }
        }
    }
}
