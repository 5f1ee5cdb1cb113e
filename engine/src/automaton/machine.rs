//! The machine over bytes: from a place in a document and a byte to the next place, where that can still be completed.
//!
//! A place is a [`State`]: what stands at the top, and a stack of the objects and arrays around it. Both are
//! hash-consed, so that a place is one number and what is known of it is looked up.

use crate::decimal::Decimal;
use crate::json::Value;
use crate::numbers::NumberState;
use crate::strings::LanguageId;

use super::atom::TextId;
use super::decision::DecisionId;
use super::decode::{Decode, Decoded};
use super::formula::FormulaId;
use super::goal::{Constraint, Goal, GoalId};
use super::read::Name;
use super::satisfiable::outcome_of;
use super::{Automaton, Trouble};

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
}

/// What may follow inside of a string. Equal contents are followed by equal tokens without a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Content {
    decode: Decode,
    language: LanguageId,
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
    },
}

/// A step's outcome: no place where the byte cannot stand.
type Step = Result<Option<State>, Trouble>;

const WHITESPACE: [u8; 4] = *b" \t\n\r";

impl Automaton {
    /// The place before a document that has to satisfy `goal`; none where nothing does.
    pub(crate) fn start(&mut self, goal: GoalId) -> Result<Option<StateId>, Trouble> {
        let decision = self.decide(&[goal], &mut |_, outcomes| Ok(outcomes[0]))?;
        if decision == DecisionId::NEVER {
            return Ok(None);
        }
        let expected = self.expect(vec![goal], decision);
        let state = State {
            top: Top::Value(expected),
            stack: StackId::EMPTY,
        };
        Ok(Some(self.place(state)))
    }

    /// The place after a byte; none where no document goes on like that.
    pub(crate) fn step(&mut self, from: StateId, byte: u8) -> Result<Option<StateId>, Trouble> {
        if let Some(&known) = self.steps.get(&(from, byte)) {
            return Ok(known);
        }
        let state = self.states[from.0 as usize].clone();
        let next = self.read(&state, byte)?;
        let next = next.map(|state| self.place(state));
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

    /// What may follow inside of a string or name, where the place is in one.
    pub(crate) fn content(&self, at: StateId) -> Option<Content> {
        match &self.states[at.0 as usize].top {
            Top::String(decode, languages, ..) => Some(Content {
                decode: *decode,
                language: languages[0],
            }),
            Top::Key(decode, _, language) => Some(Content {
                decode: *decode,
                language: *language,
            }),
            _ => None,
        }
    }

    /// What may follow after one more byte of content; none where none is left, and for a closing quote.
    pub(crate) fn content_step(&mut self, content: Content, byte: u8) -> Result<Option<Content>, Trouble> {
        let Content { decode, language } = content;
        match decode.step(byte) {
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
        self.levels.push(level.clone());
        self.level_ids.insert(level, id);
        id
    }

    fn level(&self, id: StackId) -> Option<Level> {
        self.levels.get(id.0 as usize).cloned()
    }

    fn read(&mut self, state: &State, byte: u8) -> Step {
        let stack = state.stack;
        let stay = |top: Top| Ok(Some(State { top, stack }));
        if WHITESPACE.contains(&byte) {
            match &state.top {
                Top::Literal(..) | Top::String(..) | Top::Key(..) | Top::Number(..) => {}
                _ => return Ok(Some(state.clone())),
            }
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
            Top::ObjectNext if byte == b',' => match self.key_language(stack)? == self.languages.none() {
                true => Ok(None),
                false => stay(Top::ObjectComma),
            },
            Top::ObjectComma if byte == b'"' => self.key(stack),
            Top::Colon(name) if byte == b':' => self.member(*name, stack),
            Top::ArrayStart | Top::ArrayNext if byte == b']' => self.close(stack),
            Top::ArrayStart => match self.item(stack)? {
                Some(expected) => self.begin(expected, stack, byte),
                None => Ok(None),
            },
            Top::ArrayNext if byte == b',' => match self.item(stack)? {
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
        Ok(admitted.then_some(State { top, stack }))
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

    fn begin_string(&mut self, expected: ExpectedId, stack: StackId) -> Step {
        let what = self.expected(expected);
        let mut languages = Vec::with_capacity(what.goals.len());
        for &goal in &what.goals {
            languages.push(self.constraint(goal)?.strings);
        }
        let viable = self.language_of(what.decision, &languages)?;
        if self.languages.is_empty(viable)? {
            return Ok(None);
        }
        let forced = self.forced(&what);
        let open = languages.into_iter().zip(forced).filter(|(_, forced)| forced.is_none());
        let languages: Box<[LanguageId]> = std::iter::once(viable)
            .chain(open.map(|(language, _)| language))
            .collect();
        let text = self.keeps(stack).then(|| self.texts.intern(""));
        let top = Top::String(Decode::default(), languages, text, expected);
        Ok(Some(State { top, stack }))
    }

    /// The strings whose outcomes will do.
    fn language_of(&mut self, decision: DecisionId, languages: &[LanguageId]) -> Result<LanguageId, Trouble> {
        Ok(match self.decisions.split(decision) {
            None if decision == DecisionId::ALWAYS => self.languages.any(),
            None => self.languages.none(),
            Some((goal, valid, invalid)) => {
                let language = languages[goal as usize];
                let others = self.languages.not(language)?;
                let valid = self.language_of(valid, languages)?;
                let invalid = self.language_of(invalid, languages)?;
                let yes = self.languages.and(&[language, valid])?;
                let no = self.languages.and(&[others, invalid])?;
                self.languages.or(&[yes, no])?
            }
        })
    }

    fn in_string(
        &mut self,
        decode: Decode,
        languages: &[LanguageId],
        text: Option<TextId>,
        expected: ExpectedId,
        stack: StackId,
        byte: u8,
    ) -> Step {
        match decode.step(byte) {
            Decoded::Refused => Ok(None),
            Decoded::Partial(decode) => {
                let viable = self.may_follow(decode, languages[0])?;
                let top = Top::String(decode, languages.into(), text, expected);
                Ok(viable.then_some(State { top, stack }))
            }
            Decoded::Character(character) => {
                let viable = self.languages.derivative(languages[0], character)?;
                if self.languages.is_empty(viable)? {
                    return Ok(None);
                }
                let mut after = vec![viable];
                for &language in &languages[1..] {
                    after.push(self.languages.derivative(language, character)?);
                }
                let text = text.map(|text| {
                    let longer = format!("{}{character}", self.texts.get(text));
                    self.texts.intern(&longer)
                });
                let top = Top::String(Decode::default(), after.into(), text, expected);
                Ok(Some(State { top, stack }))
            }
            Decoded::End if !self.languages.accepts_empty(languages[0]) => Ok(None),
            Decoded::End => {
                let mut open = languages[1..].iter();
                let what = self.expected(expected);
                let outcomes = self.forced(&what).into_iter().map(|forced| {
                    let open = || {
                        open.next()
                            .is_some_and(|language| self.languages.accepts_empty(*language))
                    };
                    forced.unwrap_or_else(open)
                });
                let outcomes = outcomes.collect();
                let value = text.map(|text| Value::string(self.texts.get(text)));
                let value = value.map(|value| self.goals.intern(Goal::Equal(value)));
                self.value_done(expected, outcomes, value, stack)
            }
        }
    }

    /// Whether a character that `decode` may still become can follow.
    fn may_follow(&mut self, decode: Decode, language: LanguageId) -> Result<bool, Trouble> {
        let possible = decode.possible();
        let transitions = self.languages.transitions(language)?;
        Ok(transitions.iter().any(|(range, _)| {
            let (first, last) = (u32::from(range.first()), u32::from(range.last()));
            possible.iter().any(|(low, high)| *low <= last && first <= *high)
        }))
    }

    fn begin_number(&mut self, expected: ExpectedId, stack: StackId, byte: u8) -> Step {
        let what = self.expected(expected);
        let mut sets = Vec::with_capacity(what.goals.len());
        for &goal in &what.goals {
            sets.push(self.constraint(goal)?.numbers);
        }
        let viable = self.set_of(what.decision, &sets)?;
        if self.number_texts.sets().is_empty(viable) {
            return Ok(None);
        }
        let open = self.forced(&what).iter().any(Option::is_none) || self.keeps(stack);
        let text = open.then(|| self.texts.intern(""));
        let start = self.number_texts.start(viable)?;
        self.continue_number(start, text, expected, stack, byte)
    }

    /// The numbers whose outcomes will do.
    fn set_of(
        &mut self,
        decision: DecisionId,
        sets: &[crate::numbers::NumberSetId],
    ) -> Result<crate::numbers::NumberSetId, Trouble> {
        Ok(match self.decisions.split(decision) {
            None if decision == DecisionId::ALWAYS => self.number_texts.sets_mut().all(),
            None => self.number_texts.sets_mut().none(),
            Some((goal, valid, invalid)) => {
                let set = sets[goal as usize];
                let others = self.number_texts.sets_mut().not(set);
                let valid = self.set_of(valid, sets)?;
                let invalid = self.set_of(invalid, sets)?;
                let yes = self.number_texts.sets_mut().and(set, valid)?;
                let no = self.number_texts.sets_mut().and(others, invalid)?;
                self.number_texts.sets_mut().or(yes, no)?
            }
        })
    }

    fn continue_number(
        &mut self,
        number: NumberState,
        text: Option<TextId>,
        expected: ExpectedId,
        stack: StackId,
        byte: u8,
    ) -> Step {
        let Some(number) = self.number_texts.step(number, byte) else {
            return Ok(None);
        };
        let text = text.map(|text| {
            let longer = format!("{}{}", self.texts.get(text), char::from(byte));
            self.texts.intern(&longer)
        });
        let top = Top::Number(number, text, expected);
        Ok(Some(State { top, stack }))
    }

    fn in_number(
        &mut self,
        number: NumberState,
        text: Option<TextId>,
        expected: ExpectedId,
        stack: StackId,
        byte: u8,
    ) -> Step {
        if matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') {
            return self.continue_number(number, text, expected, stack, byte);
        }
        // A number ends where something else begins.
        let Some(outcomes) = self.number_end(number, text, expected)? else {
            return Ok(None);
        };
        let value = match text.filter(|_| self.keeps(stack)) {
            Some(text) => Some(self.goals.intern(Goal::Equal(Value::number(self.decimal(text)?)))),
            None => None,
        };
        match self.value_done(expected, outcomes, value, stack)? {
            Some(after) => self.read(&after, byte),
            None => Ok(None),
        }
    }

    /// The outcomes of the goals where a number ends here; none where it cannot.
    fn number_end(
        &mut self,
        number: NumberState,
        text: Option<TextId>,
        expected: ExpectedId,
    ) -> Result<Option<Vec<bool>>, Trouble> {
        if !self.number_texts.can_end(number) {
            return Ok(None);
        }
        let what = self.expected(expected);
        let forced = self.forced(&what);
        let Some(text) = text else {
            return Ok(Some(forced.into_iter().map(|forced| forced.unwrap_or(false)).collect()));
        };
        let value = self.decimal(text)?;
        let mut outcomes = Vec::with_capacity(forced.len());
        for &goal in &what.goals {
            let numbers = self.constraint(goal)?.numbers;
            outcomes.push(self.number_texts.sets().contains(numbers, &value));
        }
        Ok(Some(outcomes))
    }

    fn decimal(&self, text: TextId) -> Result<Decimal, Trouble> {
        Decimal::parse(self.texts.get(text).as_bytes()).map_err(|_| Trouble::Limit("size of a number"))
    }

    /// Whether the values that are read in a container are kept.
    fn keeps(&self, stack: StackId) -> bool {
        self.level(stack).is_some_and(|level| match level.kind {
            Kind::Array { values } | Kind::Object { values, .. } => values.is_some(),
        })
    }

    /// The goal of being equal to a value that is kept.
    fn kept(&mut self, stack: StackId, value: impl FnOnce() -> Value) -> Option<GoalId> {
        self.keeps(stack).then(|| self.goals.intern(Goal::Equal(value())))
    }

    /// The value of a container that ends.
    fn value_of(&self, kind: &Kind) -> Option<Value> {
        let equal = |goal: &GoalId| match self.goals.get(*goal) {
            Goal::Equal(value) => Some(value),
            _ => None,
        };
        match kind {
            Kind::Array { values } => {
                let items: Vec<&Value> = values.as_ref()?.iter().filter_map(equal).collect();
                Some(Value::array(&items))
            }
            Kind::Object { used, values, .. } => {
                let values = values.as_ref()?.iter().filter_map(equal);
                let names = used.iter().map(|name| self.texts.get(*name));
                Some(Value::object(&names.zip(values).collect::<Vec<_>>()))
            }
        }
    }

    fn begin_container(&mut self, expected: ExpectedId, stack: StackId, array: bool) -> Step {
        let what = self.expected(expected);
        let mut formulas = Vec::with_capacity(what.goals.len());
        for &goal in &what.goals {
            let constraint = self.constraint(goal)?;
            formulas.push(if array { constraint.arrays } else { constraint.objects });
        }
        let demand = self.decisions.formula(what.decision, &formulas, &mut self.formulas);
        let viable = match array {
            true => self.array_can_end(demand, &[])?,
            false => self.object_can_end(demand, &[])?,
        };
        if !viable {
            return Ok(None);
        }
        for (formula, forced) in formulas.iter_mut().zip(self.forced(&what)) {
            if let Some(outcome) = forced {
                *formula = FormulaId::constant(outcome);
            }
        }
        formulas.insert(0, demand);
        let keeps = self.keeps(stack) || (array && self.asks_unique(&formulas));
        let values = keeps.then(Box::default);
        let kind = match array {
            true => Kind::Array { values },
            false => Kind::Object {
                values,
                used: Box::default(),
                name: None,
            },
        };
        let level = Level {
            kind,
            formulas: formulas.into(),
            expected,
            below: stack,
        };
        let stack = self.push(level);
        let top = if array { Top::ArrayStart } else { Top::ObjectStart };
        Ok(Some(State { top, stack }))
    }

    /// The closing bracket of the innermost container.
    fn close(&mut self, stack: StackId) -> Step {
        let Some(level) = self.level(stack) else {
            return Ok(None);
        };
        if !self.at_end(level.formulas[0]) {
            return Ok(None);
        }
        let outcomes = level.formulas[1..]
            .iter()
            .map(|formula| self.at_end(*formula))
            .collect();
        let value = match self.keeps(level.below) {
            true => self.value_of(&level.kind),
            false => None,
        };
        let value = value.map(|value| self.goals.intern(Goal::Equal(value)));
        self.value_done(level.expected, outcomes, value, level.below)
    }

    /// After a value with these outcomes of its goals.
    fn value_done(&mut self, expected: ExpectedId, outcomes: Vec<bool>, value: Option<GoalId>, stack: StackId) -> Step {
        let Some(mut level) = self.level(stack) else {
            let top = Top::Done;
            return Ok(Some(State { top, stack }));
        };
        let goals = self.expected(expected).goals;
        let outcome = |goal| outcome_of(&goals, &outcomes, goal);
        let top = match &mut level.kind {
            Kind::Array { values } => {
                let repeats = values.iter().flatten().any(|seen| Some(*seen) == value);
                for formula in &mut level.formulas {
                    *formula = self.after_item(*formula, &outcome, repeats);
                }
                if let (Some(values), Some(value)) = (values, value) {
                    let mut all = values.to_vec();
                    all.push(value);
                    *values = all.into();
                }
                Top::ArrayNext
            }
            Kind::Object { used, values, name } => {
                let Some(name) = name.take() else {
                    return Ok(None);
                };
                for formula in &mut level.formulas {
                    *formula = self.after_member(*formula, Name::Known(name), &outcome)?;
                }
                let mut names = used.to_vec();
                let place = names.binary_search(&name).unwrap_or_else(|place| place);
                names.insert(place, name);
                *used = names.into();
                if let (Some(values), Some(value)) = (values, value) {
                    let mut all = values.to_vec();
                    all.insert(place.min(all.len()), value);
                    *values = all.into();
                }
                Top::ObjectNext
            }
        };
        let stack = self.push(level);
        Ok(Some(State { top, stack }))
    }

    /// What the next item is read for; none where there cannot be one.
    fn item(&mut self, stack: StackId) -> Result<Option<ExpectedId>, Trouble> {
        let Some(level) = self.level(stack) else {
            return Ok(None);
        };
        let seen: &[GoalId] = match &level.kind {
            Kind::Array { values: Some(values) } => values,
            _ => &[],
        };
        let mut goals = self.goals_of_item(&level.formulas);
        goals.extend(self.compared(&level.formulas, seen)?);
        goals.sort_unstable();
        goals.dedup();
        let demand = level.formulas[0];
        let decision = self.decide(&goals, &mut |this, vector| {
            let outcome = |goal| outcome_of(&goals, vector, goal);
            let repeats = seen.iter().any(|seen| outcome(*seen));
            let after = this.after_item(demand, &outcome, repeats);
            // Of a value with which the rest is compared it is known that it is this one.
            let known = goals
                .iter()
                .copied()
                .find(|goal| outcome(*goal) && this.is_value(*goal));
            let seen: Vec<GoalId> = seen.iter().copied().chain(known).collect();
            this.array_can_end(after, &seen)
        })?;
        Ok((decision != DecisionId::NEVER).then(|| self.expect(goals, decision)))
    }

    fn is_value(&self, goal: GoalId) -> bool {
        matches!(self.goals.get(goal), Goal::Equal(_))
    }

    /// The opening quote of a name.
    fn key(&mut self, stack: StackId) -> Step {
        let language = self.key_language(stack)?;
        if self.languages.is_empty(language)? {
            return Ok(None);
        }
        let empty = self.texts.intern("");
        let top = Top::Key(Decode::default(), empty, language);
        Ok(Some(State { top, stack }))
    }

    fn in_key(&mut self, decode: Decode, text: TextId, language: LanguageId, stack: StackId, byte: u8) -> Step {
        let stay = |top: Top| Ok(Some(State { top, stack }));
        match decode.step(byte) {
            Decoded::Refused => Ok(None),
            Decoded::Partial(decode) => match self.may_follow(decode, language)? {
                true => stay(Top::Key(decode, text, language)),
                false => Ok(None),
            },
            Decoded::Character(character) => {
                let after = self.languages.derivative(language, character)?;
                if self.languages.is_empty(after)? {
                    return Ok(None);
                }
                let longer = format!("{}{character}", self.texts.get(text));
                let text = self.texts.intern(&longer);
                stay(Top::Key(Decode::default(), text, after))
            }
            Decoded::End if !self.languages.accepts_empty(language) => Ok(None),
            Decoded::End => stay(Top::Colon(text)),
        }
    }

    /// The colon after a name.
    fn member(&mut self, name: TextId, stack: StackId) -> Step {
        let Some(mut level) = self.level(stack) else {
            return Ok(None);
        };
        let Kind::Object {
            used, name: reading, ..
        } = &mut level.kind
        else {
            return Ok(None);
        };
        *reading = Some(name);
        let mut used_then = used.to_vec();
        used_then.push(name);
        let (goals, decision) = self.decide_member(&level.formulas, Name::Known(name), &used_then)?;
        if decision == DecisionId::NEVER {
            return Ok(None);
        }
        let expected = self.expect(goals, decision);
        let stack = self.push(level);
        let top = Top::Value(expected);
        Ok(Some(State { top, stack }))
    }

    fn decide_member(
        &mut self,
        formulas: &[FormulaId],
        name: Name<'_>,
        used: &[TextId],
    ) -> Result<(Vec<GoalId>, DecisionId), Trouble> {
        let goals = self.goals_of_member(formulas, name)?;
        let demand = formulas[0];
        let decision = self.decide(&goals, &mut |this, vector| {
            let after = this.after_member(demand, name, &|goal| outcome_of(&goals, vector, goal))?;
            this.object_can_end(after, used)
        })?;
        Ok((goals, decision))
    }

    /// The names that may come next in the innermost object.
    fn key_language(&mut self, stack: StackId) -> Result<LanguageId, Trouble> {
        let Some(level) = self.level(stack) else {
            return Ok(self.languages.none());
        };
        let Kind::Object { used, .. } = &level.kind else {
            return Ok(self.languages.none());
        };
        let demand = level.formulas[0];
        if let Some(&known) = self.key_languages.get(&(demand, used.clone())) {
            return Ok(known);
        }
        let names = self.names(demand);
        let mut viable = Vec::new();
        for &name in &names {
            let mut used_then = used.to_vec();
            used_then.push(name);
            if self.decide_member(&[demand], Name::Known(name), &used_then)?.1 != DecisionId::NEVER {
                viable.push(name);
            }
        }
        let texts: Vec<&str> = viable.iter().map(|name| self.texts.get(*name)).collect();
        let mut languages = vec![self.languages.one_of(&texts)?];
        for cell in self.cells(demand, &names, used)? {
            if cell.left == Some(0) {
                continue;
            }
            // One name fewer is left after it; which one does not matter to the rest.
            if self.decide_member(&[demand], Name::In(&cell.within), used)?.1 != DecisionId::NEVER {
                languages.push(cell.names);
            }
        }
        let all = self.languages.or(&languages)?;
        let texts: Vec<&str> = used.iter().map(|name| self.texts.get(*name)).collect();
        let taken = self.languages.one_of(&texts)?;
        let free = self.languages.not(taken)?;
        let language = self.languages.and(&[all, free])?;
        self.key_languages.insert((demand, used.clone()), language);
        Ok(language)
    }
}
