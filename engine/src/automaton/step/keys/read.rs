//! TODO

use crate::automaton::decode::{DecodeState, Decoded, is_plain, several_plain};
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::texts::TextId;
use crate::automaton::search::key_list::NextKeys;
use crate::automaton::step::machine::Automaton;
use crate::automaton::step::state::{Cursor, StackId, State, StepResult};

impl Automaton {
    /// The opening quote of a name.
    pub(crate) fn key(&mut self, stack: StackId) -> StepResult {
        let empty = self.search.algebra.texts.intern("");
        let cursor = Cursor::Key(DecodeState::default(), empty, NextKeys::Unopened);
        Ok(self.has_next_name(stack)?.then_some(State::new(cursor, stack)))
    }

    pub(crate) fn opened(&mut self, names: NextKeys, stack: StackId) -> Result<NextKeys, AutomatonError> {
        match names {
            NextKeys::Unopened => self.next_keys(stack),
            names => Ok(names),
        }
    }

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
                match self.name_may_follow(decode, (text, names), stack)? {
                    true => stay(Cursor::Key(decode, text, names)),
                    false => Ok(None),
                }
            }
            Decoded::Character(character) => self.character_of_key(character, (text, names), stack),
            Decoded::End => {
                let names = self.opened(names, stack)?;
                match self.name_may_end(text, names, stack)? {
                    true => stay(Cursor::Colon(text)),
                    false => Ok(None),
                }
            }
        }
    }

    /// The place after the characters that come first in `bytes` and stand for themselves in a name, and how many these
    /// are, where names are told apart by lists only: so what was read before each is not looked up. None where it is not
    /// so easy.
    pub(crate) fn read_in_name(
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
        Ok(Some((self.if_apart(Some(next))?, count)))
    }

    /// Whether a place before all characters of a name cannot go on with a byte, if that is seen at once.
    pub(crate) fn begins_no_name(&mut self, at: State, byte: u8) -> Result<bool, AutomatonError> {
        let Cursor::Key(DecodeState::Between, text, names) = at.cursor else {
            return Ok(false);
        };
        if !is_plain(byte) || !self.search.algebra.texts.get(text).is_empty() {
            return Ok(false);
        }
        Ok(match self.opened(names, at.stack)? {
            NextKeys::Listed(list) | NextKeys::Of(list) => {
                let list = self.search.name_list(list);
                !list.excludes && !list.has_first(byte)
            }
            _ => false,
        })
    }

    /// The place after one more character of a name.
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
                let after = self.search.algebra.languages.derivative(language, character)?;
                if self.search.algebra.languages.is_empty(after)? {
                    return Ok(None);
                }
                NextKeys::Language(after)
            }
            NextKeys::In(language) => {
                let after = self.search.algebra.languages.derivative(language, character)?;
                let come = self.count_come_with(self.come(stack), longer);
                if !self.search.has_more(after, come)? {
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

    /// Whether a name may end after `text`.
    fn name_may_end(&mut self, text: TextId, names: NextKeys, stack: StackId) -> Result<bool, AutomatonError> {
        Ok(match names {
            NextKeys::None | NextKeys::Unopened => false,
            NextKeys::Any => match self.frame(stack) {
                Some(frame) => {
                    !self.has_come(&frame.kind, text) && !self.search.barred(frame.formulas[0])?.contains(&text)
                }
                None => false,
            },
            NextKeys::In(language) => {
                let has = self.frame(stack).is_some_and(|frame| self.has_come(&frame.kind, text));
                !has && self.search.algebra.languages.accepts_empty(language)
            }
            NextKeys::Listed(list) => {
                let is_listed = self.search.is_listed(list, text);
                is_listed != self.search.name_list(list).excludes
            }
            NextKeys::Of(list) => {
                let has = self.frame(stack).is_some_and(|frame| self.has_come(&frame.kind, text));
                !has && self.search.is_listed(list, text)
            }
            NextKeys::Language(language) => self.search.algebra.languages.accepts_empty(language),
        })
    }

    /// Whether a text is the beginning of a name that may come, where those are told apart by lists.
    fn some_begin_with(&self, text: TextId, names: NextKeys, stack: StackId) -> bool {
        match names {
            NextKeys::Listed(list) => {
                self.search.name_list(list).excludes || !self.search.listed_with(list, text).is_empty()
            }
            NextKeys::Of(list) => self.count_left(list, text, stack) > 0,
            _ => true,
        }
    }

    /// Whether a character of a name that `decode` may still become can follow `text`.
    pub(crate) fn name_may_follow(
        &mut self,
        decode: DecodeState,
        (text, names): (TextId, NextKeys),
        stack: StackId,
    ) -> Result<bool, AutomatonError> {
        let read = self.search.algebra.texts.get(text).len();
        match names {
            NextKeys::None | NextKeys::Unopened => Ok(false),
            NextKeys::Any => Ok(!decode.possible(self.search.algebra.style.escapes).is_empty()),
            NextKeys::Listed(list) => {
                if self.search.name_list(list).excludes {
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
                    .any(|range| self.count_left_behind(list, text, *range, stack) > 0))
            }
            NextKeys::Language(language) => self.may_follow(decode, language),
            NextKeys::In(language) => {
                let possible = decode.possible(self.search.algebra.style.escapes);
                let come = self.search.algebra.key_sets.names(
                    self.come(stack),
                    self.search.algebra.texts.get(text),
                    &self.search.algebra.texts,
                );
                let come = come
                    .iter()
                    .filter(|name| self.search.algebra.has_extension_with(**name, read, &possible));
                match come.count() as u64 {
                    0 => self.may_follow(decode, language),
                    come => Ok(self.count_behind(language, &possible, come)? > come),
                }
            }
        }
    }

    /// Whether the names that may come are a list, or all but a list.
    pub(crate) fn are_listed(&mut self, names: NextKeys, stack: StackId) -> Result<bool, AutomatonError> {
        let names = self.opened(names, stack)?;
        Ok(matches!(names, NextKeys::Listed(_) | NextKeys::Of(_) | NextKeys::Any))
    }
}
