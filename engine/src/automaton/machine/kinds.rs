//! What kind of place one is, for whoever judges many ways on from it at once.

use std::sync::Arc;

use super::{Automaton, AutomatonError, Frame, Kind, StackId, State, Top};
use crate::automaton::atom::{AtomKind, Keys, TextId};
use crate::automaton::decode::Decode;
use crate::numbers::{NextDigits, NumberState};
use crate::strings::LanguageId;

/// A kind of place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StateClass {
    /// Between the parts of a document, and the number that may begin here.
    Between(Option<Digits>),
    /// In a number.
    Number(Digits),
    /// In a string that is a value, of which only the language counts.
    Text(Decode, LanguageId),
    /// In a name, of which only counts what it may become.
    Name(Decode),
    /// One of which more than that counts.
    Other,
}

/// How a number goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Digits {
    /// As its set admits.
    Any(NumberState),
    /// So that it differs from others, too.
    Apart,
}

/// What tells the names of an object apart: names that are not listed, and are in the same languages, are alike.
#[derive(Debug)]
pub(in crate::automaton) struct KeyClasses {
    /// Sorted by their characters.
    pub(super) listed: Box<[TextId]>,
    languages: Box<[LanguageId]>,
}

/// The beginning of a name.
#[derive(Debug)]
pub(crate) struct PartialKey {
    object: StackId,
    classes: Arc<KeyClasses>,
    text: TextId,
    /// What may follow in each language that names are told apart by.
    after: Vec<LanguageId>,
}

/// A class of names of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KeyClass {
    object: StackId,
    /// Whether the object may end behind such a member.
    may_close: bool,
    /// The languages that the names are in.
    languages: u64,
}

/// Languages that names are told apart by, at most.
const MOST_LANGUAGES: usize = 64;

impl PartialKey {
    /// The object.
    pub(super) fn object(&self) -> StackId {
        self.object
    }

    /// Whether names are told apart by nothing but lists.
    pub(super) fn are_alike(&self) -> bool {
        self.classes.languages.is_empty()
    }
}

impl Automaton {
    /// What kind of place this is.
    pub(crate) fn kind(&mut self, at: State) -> Result<StateClass, AutomatonError> {
        Ok(match at.top {
            Top::String(decode, language, ..) if self.any_content(at)? => StateClass::Text(decode, language),
            Top::Key(decode, ..) if self.any_content(at)? => StateClass::Name(decode),
            Top::Literal(..) | Top::String(..) | Top::Key(..) => StateClass::Other,
            Top::Number(number, ..) => StateClass::Number(match self.any_next(at.stack)? {
                true => Digits::Any(number),
                false => Digits::Apart,
            }),
            Top::Value(_) | Top::ArrayStart => {
                let expected = match at.top {
                    Top::Value(expected) => Some(expected),
                    _ => self.item(at.stack)?,
                };
                let number = match expected {
                    Some(expected) => self.number_start(expected)?,
                    None => None,
                };
                let any = number.is_some() && self.any_next(at.stack)?;
                StateClass::Between(number.map(|number| match any {
                    true => Digits::Any(number),
                    false => Digits::Apart,
                }))
            }
            _ => StateClass::Between(None),
        })
    }

    /// The number that goes on from another with a byte.
    pub(crate) fn number_step(&mut self, number: NumberState, byte: u8) -> Option<NumberState> {
        self.number_texts.step(number, byte)
    }

    /// Which digits may follow in a number, if they are at most `longest`.
    pub(crate) fn next_digits(&self, number: NumberState, longest: u32) -> NextDigits {
        self.number_texts.next_digits(number, longest)
    }

    /// The place after the number that a place is in; none where it cannot end there, or nothing can follow.
    pub(crate) fn after_number(&mut self, at: State) -> Result<Option<State>, AutomatonError> {
        let Top::Number(number, text, expected) = at.top else {
            return Ok(None);
        };
        let after = self.number_done(number, text, expected, at.stack)?;
        self.if_apart(after)
    }

    /// Whether the value of the container at the top of a stack is compared with others when it ends.
    pub(crate) fn is_compared(&self, at: State) -> bool {
        let frame = self.frames.get(at.stack.0 as usize);
        frame.is_some_and(|frame| self.keeps(frame.below))
    }

    /// Whether the innermost container is an array.
    pub(crate) fn is_in_array(&self, at: State) -> bool {
        let frame = self.frames.get(at.stack.0 as usize);
        frame.is_some_and(|frame| matches!(frame.kind, Kind::Array { .. }))
    }

    /// Whether the next item or member of a container need not differ from others.
    fn any_next(&mut self, stack: StackId) -> Result<bool, AutomatonError> {
        Ok(!self.keeps(stack) || self.apart(stack)?.child.is_empty())
    }

    /// What is known of the name that a place is in.
    pub(crate) fn begun_name(&mut self, at: State) -> Result<Option<PartialKey>, AutomatonError> {
        let Top::Key(_, text, _) = at.top else {
            return Ok(None);
        };
        let Some(classes) = self.name_classes(at.stack)? else {
            return Ok(None);
        };
        let mut after = classes.languages.to_vec();
        let read = self.texts.shared(text);
        for language in &mut after {
            for character in read.chars() {
                *language = self.languages.derivative(*language, character)?;
            }
        }
        Ok(Some(PartialKey {
            object: at.stack,
            classes,
            text,
            after,
        }))
    }

    /// Whether all names that go on from the beginning of one and are not listed are of one class; those that are listed.
    pub(crate) fn only_listed_differ<'a>(&self, name: &'a PartialKey) -> Option<&'a [TextId]> {
        name.are_alike()
            .then(|| self.beginning_with(&name.classes.listed, name.text))
    }

    /// The name that is listed and has `more` behind what a name begins with.
    pub(crate) fn listed_behind(&mut self, name: &PartialKey, more: &str) -> Option<TextId> {
        let whole = self.texts.find_extended(name.text, more)?;
        (self.beginning_with(&name.classes.listed, whole).first() == Some(&whole)).then_some(whole)
    }

    /// The class of a name that ends with `rest`, behind which a place is; none where it is listed. The object has the same
    /// future after each name of a class, other names of that class aside.
    pub(crate) fn class_of(
        &mut self,
        name: &PartialKey,
        (behind, rest): (State, &str),
    ) -> Result<Option<KeyClass>, AutomatonError> {
        let Top::Colon(whole) = behind.top else {
            return Ok(None);
        };
        let is_listed = self.beginning_with(&name.classes.listed, whole).first() == Some(&whole);
        if name.after.len() > MOST_LANGUAGES || is_listed {
            return Ok(None);
        }
        let mut languages = 0;
        for (bit, &language) in name.after.iter().enumerate() {
            languages |= u64::from(self.languages.contains(language, rest)?) << bit;
        }
        // Other than that it does not matter to it which names have come.
        let may_close = match self.frame(name.object) {
            Some(frame) => self.may_close(&frame),
            None => false,
        };
        let object = self.bare_stack(name.object)?.unwrap_or(name.object);
        Ok(Some(KeyClass {
            object,
            may_close,
            languages,
        }))
    }

    /// The place after the closing quote of a name.
    pub(crate) fn after_name(&self, at: State, name: TextId) -> State {
        State::new(Top::Colon(name), at.stack)
    }

    /// The place after the closing quote of the name that a place is in, which ends with `rest`.
    pub(crate) fn after_longer_name(&mut self, at: State, rest: &str) -> State {
        let top = match at.top {
            Top::Key(_, text, _) => Top::Colon(self.texts.extended(text, rest)),
            top => top,
        };
        State::new(top, at.stack)
    }

    pub(super) fn name_classes(&mut self, stack: StackId) -> Result<Option<Arc<KeyClasses>>, AutomatonError> {
        let Some(frame) = self.frame(stack) else {
            return Ok(None);
        };
        let classes = match self.name_classes.get(&frame.expected) {
            Some(known) => known.clone(),
            None => {
                let classes = Arc::new(self.find_name_classes(&frame)?);
                self.name_classes.insert(frame.expected, classes.clone());
                classes
            }
        };
        let more = self.names_apart(stack)?;
        if more.is_empty() {
            return Ok(Some(classes));
        }
        // From one mask to the next they are mostly the same.
        if let Some((expected, names, known)) = &self.last_classes
            && *expected == frame.expected
            && *names == more
        {
            return Ok(Some(known.clone()));
        }
        let mut listed = [&classes.listed[..], &more].concat();
        self.sort_names(&mut listed);
        let with_more = Arc::new(KeyClasses {
            listed: listed.into(),
            languages: classes.languages.clone(),
        });
        self.last_classes = Some((frame.expected, more, with_more.clone()));
        Ok(Some(with_more))
    }

    /// What tells the names in an object apart, but for those of values that it has to differ from.
    fn find_name_classes(&mut self, frame: &Frame) -> Result<KeyClasses, AutomatonError> {
        // What tells names apart at the beginning of the object does to its end.
        let (mut listed, mut languages) = (Vec::new(), Vec::new());
        for &assertion in &self.expected(frame.expected).assertions {
            let formula = self.constraint(assertion)?.objects;
            for atom in self.formulas.atoms(formula) {
                match self.atoms.kind(*atom) {
                    AtomKind::Has(name) | AtomKind::Members(Keys::Name(name), _) => listed.push(name),
                    AtomKind::Members(Keys::Language(language), _) => languages.push(language),
                    _ => {}
                }
            }
        }
        if let Kind::Object { order, .. } = frame.kind {
            listed.extend(self.ordered(order, 0).iter().copied());
        }
        self.sort_names(&mut listed);
        languages.sort_unstable();
        languages.dedup();
        let (listed, languages) = (listed.into(), languages.into());
        Ok(KeyClasses { listed, languages })
    }
}
