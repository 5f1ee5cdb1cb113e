//! From a schema to a machine over bytes, built as far as documents ask for it.
//!
//! ```text
//! SchemaSet ─ expand ─► Constraint (per type of value) ─ machine ─► places, byte by byte
//!                           │ atoms, formulas                  ▲
//!                           └──► satisfiable: can this still be completed?
//! ```
//!
//! Every subschema that a value's surroundings need to know about is an [assertion](assertion::Assertion). An assertion means a set of
//! numbers, a language of strings, and a [formula](formula) each for arrays and objects over [atoms](atom): what is not
//! known of a container before it is read. Reading an item or a member turns atoms into others or decides them, so that
//! the formula that is left is all the memory a container needs. What the surroundings of a value can live with is a
//! [diagram](decision_diagram) over the verdicts of its assertions, so each frame is judged by itself.

mod assertion;
mod atom;
mod complete;
mod decision_diagram;
mod decode;
mod enumerate;
mod expand;
mod few;
mod formula;
mod infinite;
mod key_sets;
mod least_fixpoint;
mod machine;
mod read;
mod satisfiable;
#[cfg(test)]
pub(crate) mod tests;
mod unevaluated;
mod unique;

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::limits::Exceeded;
use crate::numbers::{NumberSetId, NumeralAutomaton};
use crate::schema::{NodeId, SchemaSet};
use crate::strings::{LanguageId, Languages};
use crate::{CompileError, CompileErrorKind, Limits, Style};

pub(crate) use assertion::AssertionId;
use assertion::{Assertion, Assertions, Constraint};
pub(crate) use atom::TextId;
use atom::{Atoms, Texts};
use complete::Completions;
use decision_diagram::DecisionDiagrams;
pub(crate) use decode::{Decode, Decoded, is_plain};
use enumerate::Values;
use formula::{FormulaId, Formulas};
pub(crate) use key_sets::KeySetId;
use key_sets::KeySets;
use least_fixpoint::LeastFixpoint;
use machine::{
    Apart, Expected, ExpectedId, ForcedShape, Frame, KeyClasses, KeyList, Left, MostTexts, NextKeys, OpenId, OrderId,
    Orders, Parts, StackId, Verdicts,
};
pub(crate) use machine::{
    CommonShape, Digits, KeyClass, KeyListId, NextMembers, PartialKey, RemainingKeyText, RemainingKeys, SeenKeys,
    SomeKeys, State, StateClass, ValueShape,
};
use satisfiable::{Listed, Plain};

/// What the keyword `format` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Formats {
    /// Formats that the drafts define must be met.
    Asserted,
    /// Formats are annotations, as draft 2020-12 has it, unless a meta-schema asks for their assertion.
    #[default]
    Annotation,
}

/// What can go wrong when the automaton is asked something.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum AutomatonError {
    /// A limit was reached.
    #[error(transparent)]
    Limit(#[from] Exceeded),
    /// A limit of strings or numbers was reached.
    #[error("{0}")]
    Reached(String),
    /// A query came up that has to be answered first. Never leaves [`queries`].
    #[error("a query is open")]
    Pending,
    /// A subschema cannot be treated.
    #[error(transparent)]
    Schema(#[from] CompileError),
}

impl From<crate::strings::LimitReached> for AutomatonError {
    fn from(error: crate::strings::LimitReached) -> Self {
        Self::Reached(error.to_string())
    }
}

impl From<crate::decimal::NumberLimitReached> for AutomatonError {
    fn from(error: crate::decimal::NumberLimitReached) -> Self {
        Self::Reached(error.to_string())
    }
}

impl From<AutomatonError> for CompileError {
    fn from(error: AutomatonError) -> Self {
        match error {
            AutomatonError::Schema(error) => error,
            other => Self::new(CompileErrorKind::LimitExceeded, other.to_string()),
        }
    }
}

/// A limit of strings or numbers, where no place in the schema is at hand.
fn limit(error: impl Into<AutomatonError>) -> CompileError {
    error.into().into()
}

/// A place before a name: what is left of the object, the names read, and how far an order of names has come.
type KeyPlace = (FormulaId, KeySetId, OrderId, u32);

/// Steps that are kept at a time. There is room for them from the beginning, so that masks need not wait while a table
/// grows.
const PLACES: usize = 448;

/// The automaton of one schema.
#[derive(Debug)]
pub(crate) struct Automaton {
    schema: Arc<SchemaSet>,
    formats: Formats,
    style: Style,
    limits: Limits,
    // What is named by numbers.
    assertions: Assertions,
    texts: Texts,
    key_sets: KeySets,
    atoms: Atoms,
    formulas: Formulas,
    diagrams: DecisionDiagrams,
    languages: Languages,
    number_texts: NumeralAutomaton,
    // What has been worked out.
    constraints: HashMap<AssertionId, Constraint>,
    covered: HashMap<(LanguageId, TextId), bool>,
    fixpoint: LeastFixpoint,
    /// Whether there is a value that satisfies an assertion.
    alone: HashMap<AssertionId, bool>,
    few: HashMap<AssertionId, Option<Arc<[AssertionId]>>>,
    infinite: HashMap<least_fixpoint::Assertions, bool>,
    infinite_rests: HashMap<FormulaId, bool>,
    domains: HashMap<least_fixpoint::Assertions, Values>,
    /// Beginnings of containers looked at for the values that are being written out.
    beginnings: usize,
    scarce: HashMap<FormulaId, LanguageId>,
    vectors: HashMap<Box<[AssertionId]>, Arc<[Vec<bool>]>>,
    lists: HashMap<LanguageId, Option<Arc<Listed>>>,
    /// The first names of languages, and how many were asked for.
    some_of: HashMap<LanguageId, (usize, Arc<[TextId]>)>,
    plains: HashMap<FormulaId, Option<Arc<Plain>>>,
    /// What the member of an object is read for, by what is left of the object and the name.
    members: HashMap<(Left, TextId), Option<ExpectedId>>,
    /// What is left of plain objects after a member that had to come.
    after_required: HashMap<(FormulaId, TextId), FormulaId>,
    /// Whether what is left of an object has room for any name.
    roomy: HashMap<FormulaId, bool>,
    /// The places behind containers, by what is around them, what they are read for and the verdicts of that.
    done: HashMap<(StackId, ExpectedId, Verdicts), Option<State>>,
    /// Whether there is no end of values that are read for what is expected.
    infinite_values: HashMap<ExpectedId, bool>,
    barred: HashMap<FormulaId, Arc<[TextId]>>,
    /// The names that may come first in plain objects.
    first_names: HashMap<FormulaId, NextKeys>,
    /// Languages of names with others, which are sorted, or without them.
    combined_names: HashMap<(LanguageId, bool, Box<[TextId]>), LanguageId>,
    /// Sets of names that were all found to be in a language.
    sets_within: HashSet<(LanguageId, KeySetId)>,
    decided: HashMap<(FormulaId, TextId, Box<[AssertionId]>), decision_diagram::DiagramId>,
    next_keys: HashMap<KeyPlace, NextKeys>,
    next_names_at: HashMap<StackId, NextKeys>,
    name_lists: Vec<Arc<KeyList>>,
    name_classes: HashMap<ExpectedId, Arc<KeyClasses>>,
    /// The last of them with names of values that an object has to differ from.
    last_classes: Option<(ExpectedId, Vec<TextId>, Arc<KeyClasses>)>,
    /// The texts of languages that have few, as assertions.
    word_assertions: HashMap<LanguageId, Option<Arc<[AssertionId]>>>,
    items: HashMap<StackId, Option<ExpectedId>>,
    strings_expected: HashMap<ExpectedId, LanguageId>,
    numbers_expected: HashMap<ExpectedId, NumberSetId>,
    // The machine.
    parts: HashMap<AssertionId, Parts>,
    aparts: HashMap<StackId, Apart>,
    /// Whether objects can still differ after members.
    members_apart: HashMap<(TextId, StackId), bool>,
    stay_infinite: HashMap<LanguageId, bool>,
    /// The items of the array last asked for, and the strings among them, sorted by their characters.
    sorted_texts: (Box<[AssertionId]>, Arc<[AssertionId]>),
    /// The strings among the values that the next one in a container must not equal, and those last asked for.
    text_sets: HashMap<StackId, KeySetId>,
    last_text_set: (Arc<[AssertionId]>, KeySetId),
    most_texts: HashMap<(StackId, ExpectedId), Option<MostTexts>>,
    /// Formulas and values kept in frames, names of lists, and values sorted by their characters.
    frame_cells: usize,
    orders: Orders,
    expected: Vec<Arc<Expected>>,
    expected_ids: HashMap<Arc<Expected>, ExpectedId>,
    opens: Vec<Arc<[LanguageId]>>,
    open_ids: HashMap<Arc<[LanguageId]>, OpenId>,
    frames: Vec<Arc<Frame>>,
    frame_ids: HashMap<Arc<Frame>, StackId>,
    shapes: HashMap<ExpectedId, Option<ForcedShape>>,
    /// The stacks that say no more than what counts after a member.
    bares: HashMap<StackId, Option<StackId>>,
    /// Steps other than those within strings and numbers, as far as they are kept.
    steps: HashMap<(State, u8), Option<State>>,
    /// Steps that have been looked up in vain.
    steps_taken: usize,
    forced: HashMap<State, Option<(u8, State)>>,
    completions: Completions,
}

impl Automaton {
    /// The automaton of a schema, and the assertion of being valid under it. Every subschema is expanded, so that what cannot
    /// be treated is known at once.
    ///
    /// # Errors
    ///
    /// [`CompileError`], with the place and the keyword.
    pub(crate) fn new(
        languages: Languages,
        schema: SchemaSet,
        formats: Formats,
        style: Style,
    ) -> Result<(Self, AssertionId), CompileError> {
        let mut automaton = Self::lazy(languages, Arc::new(schema), formats, style);
        let schema = automaton.schema.clone();
        // Each subschema is an assertion and has its constraint.
        automaton.assertions.reserve(schema.len());
        automaton.constraints.reserve(schema.len());
        for (node, _) in schema.nodes() {
            automaton.expand_node(node)?;
        }
        let root = automaton.assertion_of(schema.root());
        Ok((automaton, root))
    }

    /// The automaton of a schema whose subschemas are expanded when they are asked for.
    pub(crate) fn lazy(languages: Languages, schema: Arc<SchemaSet>, formats: Formats, style: Style) -> Self {
        let limits = schema.limits().clone();
        let sets = crate::numbers::NumberSets::within(&limits);
        Self {
            languages,
            limits,
            schema,
            formats,
            style,
            assertions: Assertions::default(),
            texts: Texts::default(),
            key_sets: KeySets::default(),
            atoms: Atoms::default(),
            formulas: Formulas::default(),
            diagrams: DecisionDiagrams::default(),
            number_texts: NumeralAutomaton::new(style.numbers, sets),
            constraints: HashMap::new(),
            covered: HashMap::new(),
            fixpoint: LeastFixpoint::default(),
            alone: HashMap::new(),
            few: HashMap::new(),
            infinite: HashMap::new(),
            infinite_rests: HashMap::new(),
            domains: HashMap::new(),
            beginnings: 0,
            scarce: HashMap::new(),
            vectors: HashMap::new(),
            lists: HashMap::new(),
            some_of: HashMap::new(),
            plains: HashMap::new(),
            members: HashMap::new(),
            after_required: HashMap::new(),
            roomy: HashMap::new(),
            done: HashMap::new(),
            infinite_values: HashMap::new(),
            barred: HashMap::new(),
            first_names: HashMap::new(),
            combined_names: HashMap::new(),
            sets_within: HashSet::new(),
            decided: HashMap::new(),
            next_keys: HashMap::new(),
            next_names_at: HashMap::new(),
            name_lists: Vec::new(),
            name_classes: HashMap::new(),
            last_classes: None,
            word_assertions: HashMap::new(),
            items: HashMap::new(),
            strings_expected: HashMap::new(),
            numbers_expected: HashMap::new(),
            parts: HashMap::new(),
            aparts: HashMap::new(),
            members_apart: HashMap::new(),
            stay_infinite: HashMap::new(),
            sorted_texts: Default::default(),
            text_sets: HashMap::new(),
            last_text_set: Default::default(),
            most_texts: HashMap::new(),
            frame_cells: 0,
            orders: Orders::default(),
            expected: Vec::new(),
            expected_ids: HashMap::new(),
            opens: Vec::new(),
            open_ids: HashMap::new(),
            frames: Vec::new(),
            frame_ids: HashMap::with_capacity(PLACES / 16),
            shapes: HashMap::new(),
            bares: HashMap::new(),
            steps: HashMap::with_capacity(PLACES / 8),
            steps_taken: 0,
            forced: HashMap::new(),
            completions: Completions::default(),
        }
    }

    /// The languages of strings that came up, with what was found out about them.
    pub(crate) fn into_languages(self) -> Languages {
        self.languages
    }

    /// Expands a subschema, so that what cannot be treated in it is known.
    ///
    /// # Errors
    ///
    /// [`CompileError`], with the place and the keyword.
    pub(crate) fn expand_node(&mut self, node: NodeId) -> Result<(), CompileError> {
        let assertion = self.assertion_of(node);
        self.constraint(assertion).map(|_| ())
    }

    /// Whether some value is valid under a subschema.
    pub(crate) fn has_value(&mut self, node: NodeId) -> Result<bool, AutomatonError> {
        let assertion = self.assertion_of(node);
        self.satisfiable(&[assertion], &[])
    }

    /// How much has been worked out, in units that take about a microsecond each.
    pub(crate) fn effort(&self) -> usize {
        let expanded = self.constraints.len() + self.fixpoint.len();
        10 * expanded + self.steps_taken + self.formulas.size() / 16
    }

    /// The schema.
    pub(crate) fn schema(&self) -> &Arc<SchemaSet> {
        &self.schema
    }

    /// The subschemas that were expanded. What the others say made no difference to any answer so far.
    pub(crate) fn expanded(&self) -> impl Iterator<Item = NodeId> {
        self.constraints
            .keys()
            .filter_map(|assertion| match self.assertions.get(*assertion) {
                Assertion::Node(node) => Some(*node),
                _ => None,
            })
    }

    /// Whether what has been worked out still fits the memory allowed. It is counted roughly: what grows with schemas and
    /// documents, in the sizes it mostly has.
    fn check_memory(&self) -> Result<(), AutomatonError> {
        let allowed = self.limits.memory_bytes;
        match self.memory() > allowed {
            true => {
                let (limit, what) = ("memory_bytes", "bytes for one compiled schema");
                Err(Exceeded { limit, what, allowed }.into())
            }
            false => Ok(()),
        }
    }

    /// Allows other than so many bytes from now on; returns how many were.
    pub(crate) fn allow_memory(&mut self, bytes: usize) -> usize {
        std::mem::replace(&mut self.limits.memory_bytes, bytes)
    }

    /// Bytes of what has been worked out, roughly.
    pub(crate) fn memory(&self) -> usize {
        let formulas = self.formulas.size();
        let known = self.bares.len() + self.shapes.len() + self.next_names_at.len() + self.members.len();
        let known = 64
            * (known
                + self.after_required.len()
                + self.done.len()
                + self.sets_within.len()
                + self.text_sets.len()
                + self.most_texts.len()
                + self.members_apart.len());
        let places = known + 128 * self.steps.len() + 200 * self.frames.len() + self.frame_cells * 8;
        formulas
            + places
            + 24 * (self.languages.cells() + self.languages.kept())
            + 64 * (self.texts.len() + self.key_sets.count())
            + 96 * self.assertions.len()
    }
}
