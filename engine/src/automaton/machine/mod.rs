//! The machine over bytes: from a place in a document and a byte to the next place, where that can still be completed.
//!
//! A place is a [`State`]: what stands at the top, and a stack of the objects and arrays around it. Both are
//! hash-consed, so that a place is one number and what is known of it is looked up.

mod apart;
mod completion;
mod containers;
mod forced;
mod order;
mod scalars;
mod whitespace;

use crate::json::Value;
use crate::numbers::NumberState;
use crate::strings::{LanguageId, Machine, Transitions};

use super::atom::TextId;
use super::decision::DecisionId;
use super::decode::{Decode, Decoded};
use super::formula::FormulaId;
use super::goal::{Constraint, GoalId};
use super::{Automaton, Trouble};
pub(super) use apart::{Apart, Parts};
pub(super) use order::{OrderId, Orders};
use whitespace::Gap;

/// A place in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StateId(pub(super) u32);

/// The containers around a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StackId(u32);

impl StackId {
    /// Around the whole document there is nothing.
    pub(super) const EMPTY: Self = Self(u32::MAX);
}

/// A value's goals, and which of their outcomes its surroundings can live with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ExpectedId(u32);

/// See [`ExpectedId`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Expected {
    /// Sorted.
    goals: Box<[GoalId]>,
    decision: DecisionId,
}

/// A place in a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    top: Top,
    stack: StackId,
    /// The whitespace since the byte before.
    gap: Gap,
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

/// What stands at a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Top {
    /// Before a value.
    Value(ExpectedId),
    /// In `null`, `true` or `false`, after so many bytes.
    Literal(Word, u8, ExpectedId),
    /// In a string that is a value. The first language is what may follow, the others belong to the goals whose
    /// outcome is open. What was read of it is kept where its value has to be known.
    String(Decode, Box<[LanguageId]>, Option<TextId>, ExpectedId),
    /// In a number. The text is kept where the outcome of a goal is open, and where its value has to be known.
    Number(NumberState, Option<TextId>, ExpectedId),
    /// After `{`.
    ObjectStart,
    /// In a name: what was read of it, and what may follow.
    Key(Decode, TextId, LanguageId),
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

    fn outcome(self, constraint: &Constraint) -> bool {
        match self {
            Self::Null => constraint.null,
            Self::True => constraint.yes,
            Self::False => constraint.no,
        }
    }
}

/// A container on the stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Level {
    kind: Kind,
    /// What is left: first of the demand on the container, then of each goal's formula; a goal whose outcome is known
    /// has a decided one.
    formulas: Box<[FormulaId]>,
    /// What the container is read for.
    expected: ExpectedId,
    below: StackId,
    /// Number of containers around it and itself.
    depth: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Array {
        /// The items so far, as goals of being equal to them; kept where items are compared here or further out.
        values: Option<Box<[GoalId]>>,
    },
    Object {
        /// The values of `used`, as goals of being equal to them; kept where items are compared further out.
        values: Option<Box<[GoalId]>>,
        /// Names of the members so far, sorted.
        used: Box<[TextId]>,
        /// The name of the member that is read.
        name: Option<TextId>,
        /// The names that come in an order, and how many of them have been read or passed over.
        order: OrderId,
        passed: u32,
    },
}

impl Kind {
    /// The values so far, where they are kept: items in their order, members in that of their names' numbers.
    fn values(&self) -> &[GoalId] {
        match self {
            Self::Array { values } | Self::Object { values, .. } => values.as_deref().unwrap_or_default(),
        }
    }

    /// Whether a member of this name has been read.
    fn has(&self, name: TextId) -> bool {
        matches!(self, Self::Object { used, .. } if used.binary_search(&name).is_ok())
    }
}

/// A step's outcome: no place where the byte cannot stand.
type Step = Result<Option<State>, Trouble>;

impl Automaton {
    /// The place before a document that has to satisfy `goal`; none where nothing does.
    pub(crate) fn start(&mut self, goal: GoalId) -> Result<Option<StateId>, Trouble> {
        let decision = self.decide(&[goal], &mut |_, outcomes| Ok(outcomes[0]))?;
        if decision == DecisionId::NEVER {
            return Ok(None);
        }
        let expected = self.expect(vec![goal], decision);
        Ok(Some(self.place(State::new(Top::Value(expected), StackId::EMPTY))))
    }

    /// The place after a byte; none where no document goes on like that.
    pub(crate) fn step(&mut self, from: StateId, byte: u8) -> Result<Option<StateId>, Trouble> {
        if let Some(&known) = self.steps.get(&(from, byte)) {
            return Ok(known);
        }
        self.check_memory()?;
        let state = self.states[from.0 as usize].clone();
        let next = match self.read(&state, byte)? {
            Some(next) if self.is_apart(&next)? => Some(self.place(next)),
            _ => None,
        };
        self.steps.insert((from, byte), next);
        Ok(next)
    }

    /// Whether the document may end here.
    pub(crate) fn is_complete(&mut self, at: StateId) -> Result<bool, Trouble> {
        let state = self.states[at.0 as usize].clone();
        match state.top {
            Top::Done => Ok(true),
            Top::Number(number, text, expected) if state.stack == StackId::EMPTY => {
                Ok(self.number_end(number, text, expected)?.is_some())
            }
            _ => Ok(false),
        }
    }

    /// What has been read of a character, and what may follow, where the place is inside of a string or name of which
    /// only the language counts.
    pub(crate) fn content(&self, at: StateId) -> Option<(Decode, LanguageId)> {
        let State { top, stack, .. } = &self.states[at.0 as usize];
        match top {
            Top::String(..) | Top::Key(..) if !self.any_content(top, *stack) => None,
            Top::String(decode, languages, ..) => Some((*decode, languages[0])),
            Top::Key(decode, _, language) => Some((*decode, *language)),
            _ => None,
        }
    }

    /// The characters that may come first in texts of a language, with what may follow them.
    pub(crate) fn content_transitions(&mut self, language: LanguageId) -> Result<Transitions, Trouble> {
        Ok(self.languages.transitions(language)?)
    }

    /// The machines whose states make up a language, where it is that and no more.
    pub(crate) fn machine(&mut self, language: LanguageId) -> Result<Option<Machine>, Trouble> {
        Ok(self.languages.machine(language)?)
    }

    /// Whether a language has so many states that they are better made for one character at a time.
    pub(crate) fn is_read_singly(&self, language: LanguageId) -> bool {
        self.languages.has_machines(language)
    }

    /// What may follow a character, given by its number, in texts of a language; none where nothing does.
    pub(crate) fn content_after(&mut self, language: LanguageId, c: u32) -> Result<Option<LanguageId>, Trouble> {
        let Some(c) = char::from_u32(c) else { return Ok(None) };
        let after = self.languages.derivative(language, c)?;
        Ok((after != self.languages.none()).then_some(after))
    }

    /// Whether every text at all is the beginning of some text of a language, where that shows.
    pub(crate) fn is_dense(&mut self, language: LanguageId) -> Result<bool, Trouble> {
        Ok(self.languages.is_dense(language)?)
    }

    /// The largest number of characters in texts of a language that asks for nothing but lengths; none of others.
    pub(crate) fn only_bounded(&mut self, language: LanguageId) -> Result<Option<u64>, Trouble> {
        if language == self.languages.any() {
            return Ok(Some(u64::MAX));
        }
        let split = self.languages.split_length(language)?;
        Ok(split.and_then(|(rest, _, max)| (rest == self.languages.any()).then_some(max)))
    }

    /// What may follow after one more byte of content; none where none is left, and for a closing quote.
    pub(super) fn content_step(&mut self, content: Content, byte: u8) -> Result<Option<Content>, Trouble> {
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

    fn place(&mut self, state: State) -> StateId {
        if let Some(&id) = self.state_ids.get(&state) {
            return id;
        }
        let id = StateId(self.states.len() as u32);
        self.states.push(state.clone());
        self.state_ids.insert(state, id);
        id
    }

    fn expect(&mut self, goals: Vec<GoalId>, decision: DecisionId) -> ExpectedId {
        let expected = Expected {
            goals: goals.into(),
            decision,
        };
        if let Some(&id) = self.expected_ids.get(&expected) {
            return id;
        }
        let id = ExpectedId(self.expected.len() as u32);
        self.expected.push(expected.clone());
        self.expected_ids.insert(expected, id);
        id
    }

    fn expected(&self, id: ExpectedId) -> Expected {
        self.expected[id.0 as usize].clone()
    }

    fn push(&mut self, level: Level) -> StackId {
        if let Some(&id) = self.level_ids.get(&level) {
            return id;
        }
        let id = StackId(self.levels.len() as u32);
        self.level_cells += level.formulas.len() + 2 * level.kind.values().len();
        self.levels.push(level.clone());
        self.level_ids.insert(level, id);
        id
    }

    fn level(&self, id: StackId) -> Option<Level> {
        self.levels.get(id.0 as usize).cloned()
    }

    fn read(&mut self, state: &State, byte: u8) -> Step {
        let stack = state.stack;
        let stay = |top: Top| Ok(Some(State::new(top, stack)));
        if whitespace::is_whitespace(byte) && state.top.is_between() {
            let gap = self.gap_after(state, byte);
            return Ok(gap.map(|gap| State { gap, ..state.clone() }));
        }
        match &state.top {
            Top::Value(expected) => self.begin(*expected, stack, byte),
            Top::Literal(word, at, expected) => {
                let (text, at) = (word.text(), usize::from(*at));
                match text[at] == byte {
                    false => Ok(None),
                    true if at + 1 < text.len() => stay(Top::Literal(*word, at as u8 + 1, *expected)),
                    true => {
                        let outcomes = self.outcomes(*expected, &mut |constraint| word.outcome(constraint))?;
                        let value = self.kept(stack, || word.value());
                        self.value_done(*expected, outcomes, value, stack)
                    }
                }
            }
            Top::String(decode, languages, text, expected) => {
                self.in_string(*decode, languages, *text, *expected, stack, byte)
            }
            Top::Number(number, text, expected) => self.in_number(*number, *text, *expected, stack, byte),
            Top::Key(decode, text, language) => self.in_key(*decode, *text, *language, stack, byte),
            Top::ObjectStart if byte == b'"' => self.key(stack),
            Top::ObjectStart | Top::ObjectNext if byte == b'}' => self.close(stack),
            Top::ObjectNext if byte == b',' && !state.gap.is_before_end() => {
                match self.key_language(stack)? == self.languages.none() {
                    true => Ok(None),
                    false => stay(Top::ObjectComma),
                }
            }
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
        let outcomes = self.outcomes(expected, &mut |constraint| word.outcome(constraint))?;
        let decision = self.expected(expected).decision;
        let admitted = self.decisions.admits(decision, |goal| outcomes[goal as usize]);
        Ok(admitted.then_some(State::new(top, stack)))
    }

    /// The outcome of each goal for a value on which constraints decide at once.
    fn outcomes(
        &mut self,
        expected: ExpectedId,
        outcome: &mut dyn FnMut(&Constraint) -> bool,
    ) -> Result<Vec<bool>, Trouble> {
        let goals = self.expected(expected).goals;
        let mut outcomes = Vec::with_capacity(goals.len());
        for &goal in &goals {
            outcomes.push(outcome(&self.constraint(goal)?));
        }
        Ok(outcomes)
    }

    /// The outcome that each goal must have, where only one will do.
    fn forced(&self, expected: &Expected) -> Vec<Option<bool>> {
        let goals = 0..expected.goals.len() as u32;
        goals
            .map(|goal| self.decisions.forced(expected.decision, goal))
            .collect()
    }
}
