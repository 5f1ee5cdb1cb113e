//! [`StateClass`]: the part of a state that decides which masks it can share with other states.

use crate::automaton::decode::DecodeState;
use crate::automaton::error::AutomatonError;
use crate::automaton::step::{Automaton, Container, Cursor, StackId, State};
use crate::numbers::NumberState;
use crate::strings::LanguageId;

/// The part of a state that decides which masks can be shared.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StateClass {
    /// Between the parts of a document. The class of the number that may begin here is given if one may.
    Between(Option<NumberClass>),
    /// Within a number.
    Number(NumberClass),
    /// Within a string that is a value, which may be completed by any text of the language.
    String(DecodeState, LanguageId),
    /// Within a key, which may be completed by any of its remaining key texts.
    Key(DecodeState),
    /// A state for which more than that counts, or within a literal.
    Other,
}

/// The restrictions on how a number continues.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NumberClass {
    /// Any number of the set may come.
    Any(NumberState),
    /// Any number of the set may come that differs from others.
    Distinct(NumberState),
}

impl Automaton {
    /// The class of a state.
    pub(crate) fn state_class(&mut self, at: State) -> Result<StateClass, AutomatonError> {
        Ok(match at.cursor {
            Cursor::String(decode, language, ..) if self.any_content(at)? => StateClass::String(decode, language),
            Cursor::Key(decode, ..) if self.any_content(at)? => StateClass::Key(decode),
            Cursor::Literal(..) | Cursor::String(..) | Cursor::Key(..) => StateClass::Other,
            Cursor::Number(number, ..) => StateClass::Number(match self.any_next(at.stack)? {
                true => NumberClass::Any(number),
                false => NumberClass::Distinct(number),
            }),
            Cursor::Value(_) | Cursor::ArrayStart => {
                let expected = match at.cursor {
                    _ if !self.gap_ends(&at, b'0') => None,
                    Cursor::Value(expected) => Some(expected),
                    _ => self.item(at.stack)?,
                };
                let number = match expected {
                    Some(expected) if self.is_meant(expected, at.stack, b'0')? => {
                        self.number_start(expected, at.stack)?
                    }
                    _ => None,
                };
                let any = number.is_some() && self.any_next(at.stack)?;
                StateClass::Between(number.map(|number| match any {
                    true => NumberClass::Any(number),
                    false => NumberClass::Distinct(number),
                }))
            }
            _ => StateClass::Between(None),
        })
    }

    /// Whether the innermost container is compared with other values when it ends.
    pub(crate) fn is_compared(&self, at: State) -> bool {
        let frame = self.frames.all.get(at.stack.0 as usize);
        frame.is_some_and(|frame| self.keeps_values(frame.below))
    }

    /// Whether the innermost container is an array.
    pub(crate) fn is_in_array(&self, at: State) -> bool {
        let frame = self.frames.all.get(at.stack.0 as usize);
        frame.is_some_and(|frame| matches!(frame.kind, Container::Array { .. }))
    }

    /// Whether the next item or member of a container need not differ from other values.
    fn any_next(&mut self, stack: StackId) -> Result<bool, AutomatonError> {
        Ok(!self.keeps_values(stack) || self.distinctness(stack)?.child.is_empty())
    }
}
