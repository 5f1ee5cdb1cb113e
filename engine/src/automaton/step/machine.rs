//! [`Automaton`]: the automaton of a schema, with its transition function over bytes.
//!
//! Results are computed when a document first needs them. Only transitions at which values begin or end are memoised,
//! because only they cost more than a look-up.

use crate::automaton::Formats;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Algebra, Assertion, AssertionId, Literal};
use crate::automaton::memory::table_bytes;
use crate::automaton::search::{ExpectationId, Search};
use crate::automaton::step::{
    CompletionMemo, Cursor, DistinctMemo, Frame, Frames, ObjectKeys, OpenLanguages, ShapeMemo, StackId, State,
    StepMemo, StepResult, is_of_number, is_whitespace,
};
use crate::schema::{NodeId, SchemaSet};
use crate::strings::Languages;
use crate::{CompileError, Style, Whitespace};
use std::sync::Arc;

/// Number of steps that are remembered at a time, so that the table never has to grow much while a mask is computed.
const KEPT_STEPS: usize = 448;

/// Number of computed steps from one look at the memory taken to the next: a look adds up all tables, and a step takes little
/// memory beside its searches, which look by themselves.
const STEPS_BETWEEN_CHECKS: usize = 16;

/// The automaton of one schema.
#[derive(Debug)]
pub(crate) struct Automaton {
    pub(super) search: Search,
    pub(super) frames: Frames,
    pub(super) open_languages: OpenLanguages,
    pub(super) step_memo: StepMemo,
    pub(super) object_keys: ObjectKeys,
    pub(super) shape_memo: ShapeMemo,
    pub(super) distinct_memo: DistinctMemo,
    pub(super) completions: CompletionMemo,
}

impl Automaton {
    /// The automaton of a schema, and the assertion of being valid under it. Every subschema is expanded, so that
    /// unsupported keywords are reported at once.
    ///
    /// # Errors
    ///
    /// [`CompileError`], with the location in the schema and the keyword.
    pub(crate) fn new(
        languages: Languages,
        mut schema: SchemaSet,
        formats: Formats,
        style: Style,
        left_out: &[&str],
    ) -> Result<(Self, AssertionId), CompileError> {
        let left = schema.merge_equal();
        let schema = Arc::new(schema);
        let mut automaton = Self::lazy(languages, schema.clone(), formats, style);
        if !left_out.is_empty() {
            automaton.search.algebra.leave_out(left_out)?;
        }
        // Each subschema is an assertion and has its constraint.
        automaton.search.algebra.assertions.reserve(left.len());
        automaton.search.algebra.constraints.reserve(left.len());
        for node in left {
            automaton.expand_node(node)?;
        }
        let root = automaton.assertion_of(schema.root());
        Ok((automaton, root))
    }

    /// The automaton of a schema whose subschemas are expanded only when they are needed.
    pub(crate) fn lazy(languages: Languages, schema: Arc<SchemaSet>, formats: Formats, style: Style) -> Self {
        Self {
            search: Search::new(Algebra::new(languages, schema, formats, style)),
            frames: Frames::default(),
            open_languages: OpenLanguages::default(),
            step_memo: StepMemo::default(),
            object_keys: ObjectKeys::default(),
            shape_memo: ShapeMemo::default(),
            distinct_memo: DistinctMemo::default(),
            completions: CompletionMemo::default(),
        }
    }

    /// The string languages, with all results about them.
    pub(crate) fn languages(&self) -> &Languages {
        &self.search.algebra.languages
    }

    /// The string languages, to work out more about them.
    pub(crate) fn languages_mut(&mut self) -> &mut Languages {
        &mut self.search.algebra.languages
    }

    /// Returns the string languages that came up, with all results about them.
    pub(crate) fn into_languages(self) -> Languages {
        self.search.algebra.languages
    }

    /// The assertion of being valid under a subschema.
    pub(crate) fn assertion_of(&mut self, node: NodeId) -> AssertionId {
        self.search.algebra.assertion_of(node)
    }

    /// Expands a subschema, so that unsupported keywords in it are reported.
    ///
    /// # Errors
    ///
    /// [`CompileError`], with the location in the schema and the keyword.
    pub(crate) fn expand_node(&mut self, node: NodeId) -> Result<(), CompileError> {
        let assertion = self.assertion_of(node);
        self.search.algebra.constraint(assertion).map(|_| ())
    }

    /// Whether some value is valid under a subschema.
    pub(crate) fn has_value(&mut self, node: NodeId) -> Result<bool, AutomatonError> {
        let assertion = self.assertion_of(node);
        self.search.satisfiable(&[assertion], &[])
    }

    /// An estimate of the work done so far, in units of about a microsecond.
    pub(crate) fn effort(&self) -> usize {
        let algebra = &self.search.algebra;
        let expanded = algebra.constraints.len() + self.search.fixpoint.len();
        10 * expanded + self.step_memo.taken + algebra.formulas.size() / 16 + self.search.goals / 2
    }

    /// The schema that the automaton reads documents by.
    pub(crate) fn schema(&self) -> &Arc<SchemaSet> {
        &self.search.algebra.schema
    }

    /// The subschemas that were expanded, and those that were joined with one of these because they are equal. All others made no
    /// difference to any answer so far.
    pub(crate) fn expanded(&self) -> impl Iterator<Item = NodeId> {
        let algebra = &self.search.algebra;
        let nodes = algebra.constraints.keys();
        let nodes = nodes.filter_map(|assertion| match algebra.assertions.get(*assertion) {
            Assertion::Node(node) => Some(*node),
            _ => None,
        });
        let is_expanded = |node| {
            let assertion = algebra.assertions.find(&Assertion::Node(node));
            assertion.is_some_and(|assertion| algebra.constraints.contains_key(&assertion))
        };
        let joined = algebra.joined.iter().filter(move |(_, first)| is_expanded(*first));
        nodes.chain(joined.map(|(node, _)| *node))
    }

    /// Sets the limit on memory to `bytes`, and returns the limit before.
    pub(crate) fn allow_memory(&mut self, bytes: usize) -> usize {
        std::mem::replace(&mut self.search.algebra.limits.memory_bytes, bytes)
    }

    /// The share, from 0 to 1, that has been used of the limits that are about all documents of a schema together.
    pub(crate) fn used_of_limits(&self) -> f64 {
        let algebra = &self.search.algebra;
        let share = |used: usize, allowed: usize| (used as f64 / allowed.max(1) as f64).min(1.0);
        let memory = share(self.memory(), algebra.limits.memory_bytes);
        memory.max(share(algebra.languages.cells(), algebra.limits.language_cells))
    }

    /// An estimate of the memory that this automaton takes, in bytes. It counts the tables that grow with schemas and
    /// documents.
    pub(crate) fn memory(&self) -> usize {
        self.search.memory() - self.search.memory_above + self.own_memory()
    }

    /// Estimates all memory, in bytes, including the memory that grows with the schema alone.
    pub(crate) fn whole_memory(&self) -> usize {
        self.memory() + self.search.proportional_memory()
    }

    /// An estimate of the memory of this layer alone, in bytes.
    fn own_memory(&self) -> usize {
        let (steps, keys, shapes) = (&self.step_memo, &self.object_keys, &self.shape_memo);
        let distinct = &self.distinct_memo;
        let frame = size_of::<Frame>() + 3 * size_of::<usize>();
        table_bytes(&steps.by_byte)
            + table_bytes(&steps.forced)
            + table_bytes(&steps.after_values)
            + table_bytes(&steps.items)
            + table_bytes(&steps.members)
            + table_bytes(&keys.next)
            + table_bytes(&keys.after_chunks)
            + table_bytes(&shapes.shapes)
            + table_bytes(&shapes.bare)
            + table_bytes(&distinct.containers)
            + table_bytes(&distinct.derived)
            + table_bytes(&distinct.holders)
            + table_bytes(&distinct.members)
            + table_bytes(&distinct.text_classes)
            + table_bytes(&distinct.stay_infinite)
            + table_bytes(&distinct.many_numbers)
            + table_bytes(&distinct.words)
            + table_bytes(&keys.classes)
            // Lists of a few languages, and the counts beside them.
            + table_bytes(&self.open_languages.ids)
            + 64 * self.open_languages.all.len()
            + 8 * distinct.noted.capacity()
            + frame * self.frames.all.len()
            + table_bytes(&self.frames.ids)
            + self.completions.bytes()
    }

    /// Checks the memory taken by all layers against the limit.
    fn check_memory(&mut self) -> Result<(), AutomatonError> {
        self.search.memory_above = self.own_memory();
        self.search.check_memory()
    }

    /// The state before a document that satisfies `assertion`; `None` if there is no such document.
    pub(crate) fn start(&mut self, assertion: AssertionId) -> Result<Option<State>, AutomatonError> {
        if !self.search.satisfiable(&[assertion], &[])? {
            return Ok(None);
        }
        let diagram = self.search.algebra.diagrams.all_of(&[0]);
        let expected = self.search.expect(vec![assertion], diagram);
        Ok(Some(State::new(Cursor::Value(expected), StackId::EMPTY)))
    }

    /// The state after one more byte; `None` if no document continues with it.
    pub(crate) fn step(&mut self, from: State, byte: u8) -> Result<Option<State>, AutomatonError> {
        if !from.cursor.may_read(byte) {
            return Ok(None);
        }
        let Some(from) = from.without_bounded_gap(byte) else {
            return Ok(None);
        };
        let from = self.before_first_item(from, byte)?;
        // Remembering a step pays only where a value begins or ends; other steps cost no more than a look-up.
        let is_kept = match from.cursor {
            Cursor::String(..) => byte == b'"',
            Cursor::Number(..) => !is_of_number(byte),
            Cursor::Value(_) => matches!(byte, b'"' | b'{' | b'['),
            Cursor::ObjectStart | Cursor::ObjectNext => byte == b'}',
            Cursor::ArrayStart | Cursor::ArrayNext => byte == b']',
            Cursor::Colon(_) | Cursor::Literal(..) => true,
            Cursor::Key(..) | Cursor::ObjectComma | Cursor::Done => false,
        };
        if !is_kept || is_whitespace(byte) {
            return self.find_step(from, byte);
        }
        if let Some(&known) = self.step_memo.by_byte.get(&(from, byte)) {
            return Ok(known);
        }
        if self.step_memo.taken.is_multiple_of(STEPS_BETWEEN_CHECKS) {
            self.check_memory()?;
        }
        self.step_memo.taken += 1;
        let next = self.find_step(from, byte)?;
        if self.step_memo.by_byte.len() >= KEPT_STEPS {
            self.step_memo.by_byte.clear();
        }
        if self.step_memo.by_byte.is_empty() {
            self.step_memo.by_byte.reserve(KEPT_STEPS / 8);
        }
        self.step_memo.by_byte.insert((from, byte), next);
        Ok(next)
    }

    /// The state before the first item for a state after `[` where an item begins with the byte, unless whitespace is fixed: most
    /// items begin like the first, so that it is worked out once how. Other states are returned as they are.
    fn before_first_item(&mut self, from: State, byte: u8) -> Result<State, AutomatonError> {
        let is_fixed = matches!(self.search.algebra.style.whitespace, Whitespace::Fixed(_));
        if from.cursor != Cursor::ArrayStart || is_fixed || !matches!(byte, b'"' | b'{' | b'[') {
            return Ok(from);
        }
        Ok(self.first_item(from)?.unwrap_or(from))
    }

    /// The state after some bytes; `None` if no document continues with them.
    pub(crate) fn read_bytes(&mut self, from: State, mut bytes: &[u8]) -> Result<Option<State>, AutomatonError> {
        let mut at = from;
        while let Some((&byte, rest)) = bytes.split_first() {
            let several = match at.cursor {
                Cursor::Key(..) => self.read_in_key(at, bytes)?,
                Cursor::String(..) => self.read_in_string(at, bytes)?,
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

    /// Computes a step, which is not remembered here.
    fn find_step(&mut self, from: State, byte: u8) -> Result<Option<State>, AutomatonError> {
        let next = self.read(&from, byte)?;
        self.if_distinct(next)
    }

    /// The state, if every item that has to differ from others still can; `None` otherwise.
    pub(super) fn if_distinct(&mut self, next: Option<State>) -> Result<Option<State>, AutomatonError> {
        Ok(match next {
            Some(next) if self.can_be_distinct(&next)? => Some(next),
            _ => None,
        })
    }

    /// Whether the document may end here.
    pub(crate) fn is_complete(&mut self, at: State) -> Result<bool, AutomatonError> {
        match at.cursor {
            Cursor::Done => Ok(true),
            Cursor::Number(number, text, expected) if at.stack == StackId::EMPTY => {
                Ok(self.number_end(number, text, expected)?.is_some())
            }
            _ => Ok(false),
        }
    }

    /// Whether a state is within a string or key.
    pub(crate) fn is_in_text(&self, at: State) -> bool {
        matches!(at.cursor, Cursor::String(..) | Cursor::Key(..))
    }

    /// Whether a state is within a scalar value.
    pub(crate) fn is_in_scalar(&self, at: State) -> bool {
        matches!(at.cursor, Cursor::String(..) | Cursor::Number(..) | Cursor::Literal(..))
    }

    /// Computes the state after a byte without regard to values that have to differ.
    pub(super) fn read(&mut self, state: &State, byte: u8) -> StepResult {
        let stack = state.stack;
        let stay = |cursor: Cursor| Ok(Some(State::new(cursor, stack)));
        if is_whitespace(byte) && state.cursor.is_between() {
            let gap = self.gap_after(state, byte)?;
            return Ok(gap.map(|gap| State { gap, ..*state }));
        }
        if !self.gap_ends(state, byte) {
            return Ok(None);
        }
        match &state.cursor {
            Cursor::Value(expected) => self.begin(*expected, stack, byte),
            Cursor::Literal(word, at, expected) => {
                let (text, at) = (word.text(), usize::from(*at));
                match text[at] == byte {
                    false => Ok(None),
                    true if at + 1 < text.len() => stay(Cursor::Literal(*word, at as u8 + 1, *expected)),
                    true => {
                        let verdicts = self
                            .search
                            .verdicts(*expected, &mut |constraint| word.verdict(constraint))?;
                        let value = self.kept_value(stack, || word.value());
                        self.value_done(*expected, verdicts, value, stack)
                    }
                }
            }
            Cursor::String(decode, language, open, text, expected) => {
                self.in_string((*decode, *language), (*open, *text), *expected, stack, byte)
            }
            Cursor::Number(number, text, expected) => self.in_number(*number, *text, *expected, stack, byte),
            Cursor::Key(decode, text, names) => self.in_key(*decode, *text, *names, stack, byte),
            Cursor::ObjectStart if byte == b'"' => self.begin_key(stack),
            Cursor::ObjectStart | Cursor::ObjectNext if byte == b'}' => self.close(stack),
            Cursor::ObjectNext if byte == b',' && !state.gap.is_before_end() => match self.has_next_key(stack)? {
                true => stay(Cursor::ObjectComma),
                false => Ok(None),
            },
            Cursor::ObjectComma if byte == b'"' => self.begin_key(stack),
            Cursor::Colon(name) if byte == b':' => self.member(*name, stack),
            Cursor::ArrayStart | Cursor::ArrayNext if byte == b']' => self.close(stack),
            Cursor::ArrayStart => match self.item(stack)? {
                Some(expected) => self.begin(expected, stack, byte),
                None => Ok(None),
            },
            Cursor::ArrayNext if byte == b',' && !state.gap.is_before_end() => match self.item(stack)? {
                Some(expected) => stay(Cursor::Value(expected)),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Whether the types that begin with a byte are among those that a value is meant to have. Values that have to differ from
    /// others may be of any type, because there could be too few of the types meant.
    pub(super) fn is_meant(
        &mut self,
        expected: ExpectationId,
        stack: StackId,
        byte: u8,
    ) -> Result<bool, AutomatonError> {
        Ok(!self.search.algebra.style.closed
            || self.keeps_values(stack)
            || self.search.types_meant(expected)?.begin_with(byte))
    }

    /// The state after the first byte of a value.
    fn begin(&mut self, expected: ExpectationId, stack: StackId, byte: u8) -> StepResult {
        if !self.is_meant(expected, stack, byte)? {
            return Ok(None);
        }
        let literal = |word: Literal| (word, Cursor::Literal(word, 1, expected));
        let (word, cursor) = match byte {
            b'n' => literal(Literal::Null),
            b't' => literal(Literal::True),
            b'f' => literal(Literal::False),
            b'"' => return self.begin_string(expected, stack),
            b'[' => return self.begin_container(expected, stack, true),
            b'{' => return self.begin_container(expected, stack, false),
            b'-' | b'0'..=b'9' => return self.begin_number(expected, stack, byte),
            _ => return Ok(None),
        };
        let verdicts = self
            .search
            .verdicts(expected, &mut |constraint| word.verdict(constraint))?;
        let diagram = self.search.expected(expected).diagram;
        let admitted = self
            .search
            .algebra
            .diagrams
            .admits(diagram, |assertion| verdicts[assertion as usize]);
        Ok(admitted.then_some(State::new(cursor, stack)))
    }
}

#[cfg(test)]
impl Automaton {
    /// Whether there is a value that satisfies all assertions of `all` and none of `none`.
    pub(crate) fn satisfiable(&mut self, all: &[AssertionId], none: &[AssertionId]) -> Result<bool, AutomatonError> {
        self.search.satisfiable(all, none)
    }

    /// An estimate of the memory that formulas take, in bytes.
    pub(crate) fn formula_bytes(&self) -> usize {
        self.search.algebra.formulas.size()
    }
}
