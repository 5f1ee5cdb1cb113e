//! The machine over bytes: from a place in a document and a byte to the next place, where that can still be completed.
//!
//! A place is a [`State`]: what stands at the top, and a stack of the objects and arrays around it. Stacks are
//! hash-consed, so that a place is a few numbers and costs nothing to keep.

mod apart;
mod completion;
mod containers;
mod forced;
mod kinds;
mod mixer;
mod names;
mod next_keys;
mod order;
mod scalars;
mod shapes;
mod whitespace;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use smallvec::SmallVec;

use crate::json::Value;
use crate::numbers::NumberState;
use crate::strings::{Characters, Fingerprint, Horizon, LanguageId, Lengths, Machine, Transitions, WordEdges};

use super::assertion::{AssertionId, Constraint};
use super::atom::TextId;
use super::decision_diagram::DiagramId;
use super::decode::{Decode, Decoded};
use super::formula::FormulaId;
use super::key_sets::KeySetId;
use super::satisfiable::Plain;
use super::{Automaton, AutomatonError, PLACES};
pub(super) use apart::{Apart, MostTexts, Parts};
pub(super) use kinds::KeyClasses;
pub(crate) use kinds::{Digits, KeyClass, PartialKey, StateClass};
use mixer::Mixer;
pub(crate) use names::{KeyListId, NextKeys, RemainingKeyText, RemainingKeys, SeenKeys, SomeKeys};
pub(super) use next_keys::KeyList;
pub(super) use order::{OrderId, Orders};
pub(super) use shapes::ForcedShape;
pub(crate) use shapes::{CommonShape, NextMembers, ValueShape};
use whitespace::Gap;

/// The containers around a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StackId(u32);

impl StackId {
    /// Around the whole document there is nothing.
    pub(super) const EMPTY: Self = Self(u32::MAX);
}

/// A value's assertions, and which of their verdicts its surroundings can live with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ExpectedId(u32);

/// See [`ExpectedId`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Expected {
    /// Sorted.
    assertions: Box<[AssertionId]>,
    diagram: DiagramId,
}

/// A place in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    top: Top,
    stack: StackId,
    /// The whitespace since the byte before.
    gap: Gap,
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let mut mixer = Mixer::default();
        self.top.hash(&mut mixer);
        self.stack.hash(&mut mixer);
        self.gap.hash(&mut mixer);
        hasher.write_u64(mixer.finish());
    }
}

impl State {
    fn new(top: Top, stack: StackId) -> Self {
        let gap = Gap::default();
        Self { top, stack, gap }
    }
}

/// What may follow inside of a string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Content {
    pub(super) decode: Decode,
    pub(super) language: LanguageId,
}

/// The languages of the assertions whose verdict a string still has to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct OpenId(u32);

impl OpenId {
    /// No assertion is open.
    const NONE: Self = Self(u32::MAX);
}

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Top {
    /// Before a value.
    Value(ExpectedId),
    /// In `null`, `true` or `false`, after so many bytes.
    Literal(Word, u8, ExpectedId),
    /// In a string that is a value: what may follow, and the languages of the assertions whose verdict is open. What was read
    /// of it is kept where its value has to be known.
    String(Decode, LanguageId, OpenId, Option<TextId>, ExpectedId),
    /// In a number. The text is kept where the verdict of an assertion is open, and where its value has to be known.
    Number(NumberState, Option<TextId>, ExpectedId),
    /// After `{`.
    ObjectStart,
    /// In a name: what was read of it, and what it may become.
    Key(Decode, TextId, NextKeys),
    /// After a name.
    Colon(TextId),
    /// After a member.
    ObjectNext,
    /// After a comma in an object.
    ObjectComma,
    /// After `[`.
    ArrayStart,
    /// After an item.
    ArrayNext,
    /// After the document.
    Done,
}

impl Top {
    /// Whether a byte may come at all, outside of strings and numbers.
    fn may_read(&self, byte: u8) -> bool {
        let is_value = || matches!(byte, b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n');
        match self {
            Self::Literal(word, at, _) => word.text()[usize::from(*at)] == byte,
            Self::String(..) | Self::Key(..) | Self::Number(..) => true,
            _ if whitespace::is_whitespace(byte) => true,
            Self::Value(_) => is_value(),
            Self::ObjectStart => matches!(byte, b'"' | b'}'),
            Self::Colon(_) => byte == b':',
            Self::ObjectNext => matches!(byte, b',' | b'}'),
            Self::ObjectComma => byte == b'"',
            Self::ArrayStart => byte == b']' || is_value(),
            Self::ArrayNext => matches!(byte, b',' | b']'),
            Self::Done => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Word {
    Null,
    True,
    False,
}

impl Word {
    fn text(self) -> &'static [u8] {
        match self {
            Self::Null => b"null",
            Self::True => b"true",
            Self::False => b"false",
        }
    }

    fn value(self) -> Value {
        match self {
            Self::Null => Value::null(),
            Self::True => Value::boolean(true),
            Self::False => Value::boolean(false),
        }
    }

    fn verdict(self, constraint: &Constraint) -> bool {
        match self {
            Self::Null => constraint.null,
            Self::True => constraint.yes,
            Self::False => constraint.no,
        }
    }
}

/// What is left of a container: of the demand on it, and of its assertions, of which there mostly is one.
pub(super) type Left = SmallVec<[FormulaId; 3]>;

/// The verdicts of the assertions of a container.
pub(super) type Verdicts = SmallVec<[bool; 4]>;

/// A container on the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    kind: Kind,
    /// What is left: first of the demand on the container, then of each assertion's formula; an assertion whose verdict is known
    /// has a decided one.
    formulas: Left,
    /// What the container is read for.
    expected: ExpectedId,
    below: StackId,
    /// Number of containers around it and itself.
    depth: u32,
    plain: Derived<Option<PlainFrame>>,
    /// All that counts, mixed, as soon as it is [known to all](Automaton::push).
    mixed: Derived<u64>,
}

impl Frame {
    fn mix(&mut self) {
        let mut mixer = Mixer::default();
        self.kind.hash(&mut mixer);
        self.formulas.hash(&mut mixer);
        (self.expected, self.below, self.depth).hash(&mut mixer);
        self.mixed = Derived(mixer.finish());
    }
}

impl Hash for Frame {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.mixed.0);
    }
}

/// An object whose members can come in any order and number, each a matter by itself. What is asked of it stays as it is
/// while it is read: only which names have come changes.
#[derive(Clone, Debug)]
pub(super) struct PlainFrame {
    asked: Arc<Plain>,
    /// Whether there is room for any name that it does not speak of.
    has_room: bool,
    /// Names that must come and have not.
    missing: u32,
}

/// What follows from the rest of a frame, so that it makes no difference to which one it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Derived<T>(T);

impl<T> PartialEq for Derived<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Derived<T> {}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Array {
        /// The items so far, as assertions of being equal to them; kept where items are compared here or further out.
        values: Option<Box<[AssertionId]>>,
    },
    Object {
        /// The values of `used` in its order, as assertions of being equal to them; kept where items are compared further out.
        values: Option<Box<[AssertionId]>>,
        /// Names of the members so far.
        used: KeySetId,
        /// The name of the member that is read.
        name: Option<TextId>,
        /// The names that come in an order, and how many of them have been read or passed over.
        order: OrderId,
        passed: u32,
    },
}

impl Kind {
    /// The values so far, where they are kept: items in their order, members in that of their names' characters.
    fn values(&self) -> &[AssertionId] {
        match self {
            Self::Array { values } | Self::Object { values, .. } => values.as_deref().unwrap_or_default(),
        }
    }

    /// Names of the members so far.
    fn used(&self) -> KeySetId {
        match self {
            Self::Array { .. } => KeySetId::EMPTY,
            Self::Object { used, .. } => *used,
        }
    }
}

/// Whether a byte may belong to a number.
fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

/// A step's verdict: no place where the byte cannot stand.
type Step = Result<Option<State>, AutomatonError>;

impl Automaton {
    /// The place before a document that has to satisfy `assertion`; none where nothing does.
    pub(crate) fn start(&mut self, assertion: AssertionId) -> Result<Option<State>, AutomatonError> {
        let diagram = self.decide(&[assertion], &mut |_, verdicts| Ok(verdicts[0]))?;
        if diagram == DiagramId::NEVER {
            return Ok(None);
        }
        let expected = self.expect(vec![assertion], diagram);
        Ok(Some(State::new(Top::Value(expected), StackId::EMPTY)))
    }

    /// The place after a byte; none where no document goes on like that.
    pub(crate) fn step(&mut self, from: State, byte: u8) -> Result<Option<State>, AutomatonError> {
        if !from.top.may_read(byte) {
            return Ok(None);
        }
        // Only where a value begins or ends it is more work than to look it up.
        let is_kept = match from.top {
            Top::String(..) => byte == b'"',
            Top::Number(..) => !is_of_number(byte),
            Top::Value(_) => matches!(byte, b'"' | b'{' | b'['),
            Top::ArrayStart => matches!(byte, b'"' | b'{' | b'[' | b']'),
            Top::ObjectStart | Top::ObjectNext => byte == b'}',
            Top::ArrayNext => byte == b']',
            Top::Colon(_) | Top::Literal(..) => true,
            Top::Key(..) | Top::ObjectComma | Top::Done => false,
        };
        if !is_kept || whitespace::is_whitespace(byte) {
            return self.find_step(from, byte);
        }
        if let Some(&known) = self.steps.get(&(from, byte)) {
            return Ok(known);
        }
        self.check_memory()?;
        self.steps_taken += 1;
        let next = self.find_step(from, byte)?;
        if self.steps.len() >= PLACES {
            self.steps.clear();
        }
        self.steps.insert((from, byte), next);
        Ok(next)
    }

    /// The place after some bytes; none where no document goes on like that.
    pub(crate) fn read_bytes(&mut self, from: State, mut bytes: &[u8]) -> Result<Option<State>, AutomatonError> {
        let mut at = from;
        while let Some((&byte, rest)) = bytes.split_first() {
            let several = match at.top {
                Top::Key(..) => self.read_in_name(at, bytes)?,
                Top::String(..) => self.read_in_string(at, bytes)?,
                _ => None,
            };
            let (next, left) = match several {
                Some((next, count)) => (next, &bytes[count..]),
                None => (self.step(at, byte)?, rest),
            };
            let Some(next) = next else { return Ok(None) };
            (at, bytes) = (next, left);
        }
        Ok(Some(at))
    }

    fn find_step(&mut self, from: State, byte: u8) -> Result<Option<State>, AutomatonError> {
        let next = self.read(&from, byte)?;
        self.if_apart(next)
    }

    fn if_apart(&mut self, next: Option<State>) -> Result<Option<State>, AutomatonError> {
        Ok(match next {
            Some(next) if self.is_apart(&next)? => Some(next),
            _ => None,
        })
    }

    /// Whether the document may end here.
    pub(crate) fn is_complete(&mut self, at: State) -> Result<bool, AutomatonError> {
        match at.top {
            Top::Done => Ok(true),
            Top::Number(number, text, expected) if at.stack == StackId::EMPTY => {
                Ok(self.number_end(number, text, expected)?.is_some())
            }
            _ => Ok(false),
        }
    }

    /// Whether a place is within a string or name.
    pub(crate) fn is_in_text(&self, at: State) -> bool {
        matches!(at.top, Top::String(..) | Top::Key(..))
    }

    /// Whether a place is within a value that is no container.
    pub(crate) fn is_in_scalar(&self, at: State) -> bool {
        matches!(at.top, Top::String(..) | Top::Number(..) | Top::Literal(..))
    }

    /// The characters that may come first in texts of a language, with what may follow them.
    pub(crate) fn content_transitions(&mut self, language: LanguageId) -> Result<Transitions, AutomatonError> {
        Ok(self.languages.transitions(language)?)
    }

    /// Whether a text of a language begins with a character of one of `ranges`, whose ends are included.
    pub(crate) fn content_may_begin(
        &mut self,
        language: LanguageId,
        ranges: &[(u32, u32)],
    ) -> Result<bool, AutomatonError> {
        Ok(self.languages.may_begin(language, ranges)?)
    }

    /// The characters that may come first in words of a list, and what is left of the words behind them; none of languages
    /// that are no such list, or do not look like one.
    pub(crate) fn word_edges(&self, language: LanguageId) -> Option<WordEdges<'_>> {
        self.languages.word_edges(language)
    }

    /// Which characters may come first in texts of a language, as far as that shows at once.
    pub(crate) fn content_firsts(&self, language: LanguageId) -> Characters {
        self.languages.firsts(language)
    }

    /// What a language is known by in all schemas, where there is such a thing.
    pub(crate) fn fingerprint(&mut self, language: LanguageId) -> Option<Fingerprint> {
        self.languages.fingerprint(language)
    }

    /// The machines whose states make up a language, where it is that and no more.
    pub(crate) fn machine(&mut self, language: LanguageId) -> Result<Option<Machine>, AutomatonError> {
        Ok(self.languages.machine(language)?)
    }

    /// Whether a language has so many states that they are better made for one character at a time.
    pub(crate) fn is_read_singly(&self, language: LanguageId) -> bool {
        self.languages.has_machines(language)
    }

    /// What may follow a character in texts of a language; none where nothing does.
    pub(crate) fn content_after(
        &mut self,
        language: LanguageId,
        c: char,
    ) -> Result<Option<LanguageId>, AutomatonError> {
        let after = self.languages.derivative(language, c)?;
        Ok((after != self.languages.none()).then_some(after))
    }

    /// Whether every text at all is the beginning of some text of a language, where that shows.
    pub(crate) fn is_dense(&mut self, language: LanguageId) -> Result<bool, AutomatonError> {
        Ok(self.languages.is_dense(language)?)
    }

    /// The least and the largest number of characters in texts of a language that asks for nothing but lengths; none of
    /// others.
    pub(crate) fn only_bounded(&mut self, language: LanguageId) -> Result<Option<(u64, u64)>, AutomatonError> {
        if language == self.languages.any() {
            return Ok(Some((0, u64::MAX)));
        }
        let split = self.languages.split_length(language)?;
        Ok(split.and_then(|(rest, min, max)| (rest == self.languages.any()).then_some((min, max))))
    }

    /// A language without its bound on the number of characters, and that: the least and the most, [`u64::MAX`] for no end.
    pub(crate) fn split_length(
        &mut self,
        language: LanguageId,
    ) -> Result<Option<(LanguageId, u64, u64)>, AutomatonError> {
        Ok(self.languages.split_length(language)?)
    }

    /// The texts of a language with at least and at most so many characters.
    pub(crate) fn bounded(
        &mut self,
        language: LanguageId,
        (min, max): (u64, u64),
    ) -> Result<LanguageId, AutomatonError> {
        let bound = self.languages.length(min, Some(max))?;
        Ok(self.languages.and(&[language, bound])?)
    }

    /// The numbers of characters that the texts of a language have, where its expression shows them.
    pub(crate) fn plain_lengths(&mut self, language: LanguageId) -> Result<Option<Arc<Lengths>>, AutomatonError> {
        Ok(self.languages.plain_lengths(language)?)
    }

    /// A language with the same texts and beginnings of texts up to a horizon, but for some with hyphens: see
    /// [`Languages::near`].
    ///
    /// [`Languages::near`]: crate::strings::Languages::near
    pub(crate) fn near(&mut self, language: LanguageId, horizon: Horizon) -> Result<LanguageId, AutomatonError> {
        Ok(self.languages.near(language, horizon)?)
    }

    /// The place after one more character of the string or name that a place is in, between two of them.
    pub(crate) fn read_character(&mut self, at: State, character: char) -> Result<Option<State>, AutomatonError> {
        let next = match at.top {
            Top::String(_, language, open, text, expected) => {
                self.character_of_string(character, (language, open, text), expected, at.stack)?
            }
            Top::Key(_, text, names) => self.character_of_key(character, (text, names), at.stack)?,
            _ => None,
        };
        self.if_apart(next)
    }

    /// Whether a character that was begun in the string or name that a place is in can be ended.
    pub(crate) fn may_begin(&mut self, at: State, begun: Decode) -> Result<bool, AutomatonError> {
        let top = match at.top {
            Top::String(_, language, open, text, expected) => {
                if !self.may_follow(begun, language)? {
                    return Ok(false);
                }
                Top::String(begun, language, open, text, expected)
            }
            Top::Key(_, text, names) => {
                let names = self.opened(names, at.stack)?;
                if !self.name_may_follow(begun, (text, names), at.stack)? {
                    return Ok(false);
                }
                Top::Key(begun, text, names)
            }
            _ => return Ok(false),
        };
        Ok(self.if_apart(Some(State { top, ..at }))?.is_some())
    }

    /// Whether a place is within a number.
    pub(crate) fn is_in_number(&self, at: State) -> bool {
        matches!(at.top, Top::Number(..))
    }

    /// What may follow after one more byte of content; none where none is left, and for a closing quote.
    pub(super) fn content_step(&mut self, content: Content, byte: u8) -> Result<Option<Content>, AutomatonError> {
        let Content { decode, language } = content;
        match decode.step(byte, self.style.escapes) {
            Decoded::Refused | Decoded::End => Ok(None),
            Decoded::Partial(decode) => {
                let viable = self.may_follow(decode, language)?;
                Ok(viable.then_some(Content { decode, language }))
            }
            Decoded::Character(character) => {
                let language = self.languages.derivative(language, character)?;
                let decode = Decode::default();
                Ok((!self.languages.is_empty(language)?).then_some(Content { decode, language }))
            }
        }
    }

    fn open_languages(&mut self, languages: Vec<LanguageId>) -> OpenId {
        if languages.is_empty() {
            return OpenId::NONE;
        }
        let languages: Arc<[LanguageId]> = languages.into();
        if let Some(&id) = self.open_ids.get(&languages) {
            return id;
        }
        let id = OpenId(self.opens.len() as u32);
        self.opens.push(languages.clone());
        self.open_ids.insert(languages, id);
        id
    }

    fn open(&self, id: OpenId) -> Arc<[LanguageId]> {
        self.opens.get(id.0 as usize).cloned().unwrap_or_default()
    }

    fn expect(&mut self, assertions: Vec<AssertionId>, diagram: DiagramId) -> ExpectedId {
        let assertions = assertions.into();
        let expected = Arc::new(Expected { assertions, diagram });
        if let Some(&id) = self.expected_ids.get(&expected) {
            return id;
        }
        let id = ExpectedId(self.expected.len() as u32);
        self.expected.push(expected.clone());
        self.expected_ids.insert(expected, id);
        id
    }

    fn expected(&self, id: ExpectedId) -> Arc<Expected> {
        self.expected[id.0 as usize].clone()
    }

    fn push(&mut self, mut frame: Frame) -> StackId {
        frame.mix();
        if let Some(&id) = self.frame_ids.get(&frame) {
            return id;
        }
        let id = StackId(self.frames.len() as u32);
        self.frame_cells += frame.formulas.len() + 2 * frame.kind.values().len();
        let frame = Arc::new(frame);
        self.frames.push(frame.clone());
        self.frame_ids.insert(frame, id);
        id
    }

    fn frame(&self, id: StackId) -> Option<Arc<Frame>> {
        self.frames.get(id.0 as usize).cloned()
    }

    fn read(&mut self, state: &State, byte: u8) -> Step {
        let stack = state.stack;
        let stay = |top: Top| Ok(Some(State::new(top, stack)));
        if whitespace::is_whitespace(byte) && state.top.is_between() {
            let gap = self.gap_after(state, byte);
            return Ok(gap.map(|gap| State { gap, ..*state }));
        }
        match &state.top {
            Top::Value(expected) => self.begin(*expected, stack, byte),
            Top::Literal(word, at, expected) => {
                let (text, at) = (word.text(), usize::from(*at));
                match text[at] == byte {
                    false => Ok(None),
                    true if at + 1 < text.len() => stay(Top::Literal(*word, at as u8 + 1, *expected)),
                    true => {
                        let verdicts = self.verdicts(*expected, &mut |constraint| word.verdict(constraint))?;
                        let value = self.kept(stack, || word.value());
                        self.value_done(*expected, verdicts, value, stack)
                    }
                }
            }
            Top::String(decode, language, open, text, expected) => {
                self.in_string((*decode, *language), (*open, *text), *expected, stack, byte)
            }
            Top::Number(number, text, expected) => self.in_number(*number, *text, *expected, stack, byte),
            Top::Key(decode, text, names) => self.in_key(*decode, *text, *names, stack, byte),
            Top::ObjectStart if byte == b'"' => self.key(stack),
            Top::ObjectStart | Top::ObjectNext if byte == b'}' => self.close(stack),
            Top::ObjectNext if byte == b',' && !state.gap.is_before_end() => match self.has_next_name(stack)? {
                true => stay(Top::ObjectComma),
                false => Ok(None),
            },
            Top::ObjectComma if byte == b'"' => self.key(stack),
            Top::Colon(name) if byte == b':' => self.member(*name, stack),
            Top::ArrayStart | Top::ArrayNext if byte == b']' => self.close(stack),
            Top::ArrayStart => match self.item(stack)? {
                Some(expected) => self.begin(expected, stack, byte),
                None => Ok(None),
            },
            Top::ArrayNext if byte == b',' && !state.gap.is_before_end() => match self.item(stack)? {
                Some(expected) => stay(Top::Value(expected)),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// The first byte of a value.
    fn begin(&mut self, expected: ExpectedId, stack: StackId, byte: u8) -> Step {
        let literal = |word: Word| (word, Top::Literal(word, 1, expected));
        let (word, top) = match byte {
            b'n' => literal(Word::Null),
            b't' => literal(Word::True),
            b'f' => literal(Word::False),
            b'"' => return self.begin_string(expected, stack),
            b'[' => return self.begin_container(expected, stack, true),
            b'{' => return self.begin_container(expected, stack, false),
            b'-' | b'0'..=b'9' => return self.begin_number(expected, stack, byte),
            _ => return Ok(None),
        };
        let verdicts = self.verdicts(expected, &mut |constraint| word.verdict(constraint))?;
        let diagram = self.expected(expected).diagram;
        let admitted = self.diagrams.admits(diagram, |assertion| verdicts[assertion as usize]);
        Ok(admitted.then_some(State::new(top, stack)))
    }

    /// The verdict of each assertion for a value on which constraints decide at once.
    fn verdicts(
        &mut self,
        expected: ExpectedId,
        verdict: &mut dyn FnMut(&Constraint) -> bool,
    ) -> Result<Verdicts, AutomatonError> {
        let what = self.expected(expected);
        let mut verdicts = Verdicts::with_capacity(what.assertions.len());
        for &assertion in &what.assertions {
            verdicts.push(verdict(&self.constraint(assertion)?));
        }
        Ok(verdicts)
    }

    /// The verdict that each assertion must have, where only one will do.
    fn forced(&self, expected: &Expected) -> SmallVec<[Option<bool>; 4]> {
        let assertions = 0..expected.assertions.len() as u32;
        assertions
            .map(|assertion| self.diagrams.forced(expected.diagram, assertion))
            .collect()
    }
}
