//! [`StateClass`]: what a state is told apart by when many ways on from it are judged at once.

use crate::automaton::decode::DecodeState;
use crate::automaton::error::AutomatonError;
use crate::automaton::step::{Automaton, Container, Cursor, StackId, State};
use crate::numbers::NumberState;
use crate::strings::LanguageId;

/// A kind of state.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StateClass {
    /// Between the parts of a document, and the number that may begin here.
    Between(Option<NumberClass>),
    /// In a number.
    Number(NumberClass),
    /// In a string that is a value, of which only the language counts.
    String(DecodeState, LanguageId),
    /// In a name, of which only counts what it may become.
    Key(DecodeState),
    /// One of which more than that counts.
    Other,
}

/// How a number goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NumberClass {
    /// As its set admits.
    Any(NumberState),
    /// So that it differs from others, too.
    Distinct,
}

impl Automaton {
    /// What kind of state this is.
    pub(crate) fn state_class(&mut self, at: State) -> Result<StateClass, AutomatonError> {
        Ok(match at.cursor {
            Cursor::String(decode, language, ..) if self.any_content(at)? => StateClass::String(decode, language),
            Cursor::Key(decode, ..) if self.any_content(at)? => StateClass::Key(decode),
            Cursor::Literal(..) | Cursor::String(..) | Cursor::Key(..) => StateClass::Other,
            Cursor::Number(number, ..) => StateClass::Number(match self.any_next(at.stack)? {
                true => NumberClass::Any(number),
                false => NumberClass::Distinct,
            }),
            Cursor::Value(_) | Cursor::ArrayStart => {
                let expected = match at.cursor {
                    Cursor::Value(expected) => Some(expected),
                    _ => self.item(at.stack)?,
                };
                let number = match expected {
                    Some(expected) => self.number_start(expected)?,
                    None => None,
                };
                let any = number.is_some() && self.any_next(at.stack)?;
                StateClass::Between(number.map(|number| match any {
                    true => NumberClass::Any(number),
                    false => NumberClass::Distinct,
                }))
            }
            _ => StateClass::Between(None),
        })
    }

    /// Whether the value of the container at the top of a stack is compared with others when it ends.
    pub(crate) fn is_compared(&self, at: State) -> bool {
        let frame = self.frames.all.get(at.stack.0 as usize);
        frame.is_some_and(|frame| self.keeps_values(frame.below))
    }

    /// Whether the innermost container is an array.
    pub(crate) fn is_in_array(&self, at: State) -> bool {
        let frame = self.frames.all.get(at.stack.0 as usize);
        frame.is_some_and(|frame| matches!(frame.kind, Container::Array { .. }))
    }

    /// Whether the next item or member of a container need not differ from others.
    fn any_next(&mut self, stack: StackId) -> Result<bool, AutomatonError> {
        Ok(!self.keeps_values(stack) || self.distinctness(stack)?.child.is_empty())
    }
}
