//! From a schema to a machine over bytes, built as far as documents ask for it.
//!
//! ```text
//! SchemaSet ─ expand ─► Constraint (per type of value) ─ machine ─► places, byte by byte
//!                           │ atoms, formulas                  ▲
//!                           └──► satisfiable: can this still be completed?
//! ```
//!
//! Every subschema that a value's surroundings need to know about is a [goal](goal::Goal). A goal means a set of
//! numbers, a language of strings, and a [formula](formula) each for arrays and objects over [atoms](atom): what is not
//! known of a container before it is read. Reading an item or a member turns atoms into others or decides them, so that
//! the formula that is left is all the memory a container needs. What the surroundings of a value can live with is a
//! [decision](decision) over the outcomes of its goals, so each level is judged by itself.

mod atom;
mod complete;
mod decision;
mod decode;
mod endless;
mod enumerate;
mod expand;
mod few;
mod formula;
mod goal;
mod machine;
mod name_sets;
mod questions;
mod read;
mod satisfiable;
#[cfg(test)]
pub(crate) mod tests;
mod unevaluated;
mod unique;

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::limits::Exceeded;
use crate::numbers::{NumberSetId, NumberTexts};
use crate::schema::{NodeId, SchemaSet};
use crate::strings::{LanguageId, Languages};
use crate::{CompileError, CompileErrorKind, Limits, Style};

pub(crate) use atom::TextId;
use atom::{Atoms, Texts};
use complete::Completions;
use decision::Decisions;
pub(crate) use decode::{Decode, Decoded, is_plain};
use enumerate::Values;
use formula::{FormulaId, Formulas};
pub(crate) use goal::GoalId;
use goal::{Constraint, Goal, Goals};
use machine::{
    Apart, Expected, ExpectedId, ForcedShape, Left, Level, MostTexts, NameClasses, NameList, NextNames, OpenId,
    OrderId, Orders, Outcomes, Parts, StackId,
};
pub(crate) use machine::{
    BegunName, CommonShape, Digits, ListId, NameClass, NameRests, NamesCome, NamesLeft, NextMembers, PlaceKind,
    SomeNames, State, ValueShape,
};
pub(crate) use name_sets::NameSetId;
use name_sets::NameSets;
use questions::Questions;
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
pub(crate) enum Trouble {
    /// A limit was reached.
    #[error(transparent)]
    Limit(#[from] Exceeded),
    /// A limit of strings or numbers was reached.
    #[error("{0}")]
    Reached(String),
    /// A question came up that has to be answered first. Never leaves [`questions`].
    #[error("a question is open")]
    Pending,
    /// A subschema cannot be treated.
    #[error(transparent)]
    Schema(#[from] CompileError),
}

impl From<crate::strings::LimitReached> for Trouble {
    fn from(error: crate::strings::LimitReached) -> Self {
        Self::Reached(error.to_string())
    }
}

impl From<crate::decimal::LimitReached> for Trouble {
    fn from(error: crate::decimal::LimitReached) -> Self {
        Self::Reached(error.to_string())
    }
}

impl From<Trouble> for CompileError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Schema(error) => error,
            other => Self::new(CompileErrorKind::LimitExceeded, other.to_string()),
        }
    }
}

/// A limit of strings or numbers, where no place in the schema is at hand.
fn limit(error: impl Into<Trouble>) -> CompileError {
    error.into().into()
}

/// A place before a name: what is left of the object, the names read, and how far an order of names has come.
type KeyPlace = (FormulaId, NameSetId, OrderId, u32);

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
    goals: Goals,
    texts: Texts,
    name_sets: NameSets,
    atoms: Atoms,
    formulas: Formulas,
    decisions: Decisions,
    languages: Languages,
    number_texts: NumberTexts,
    // What has been worked out.
    constraints: HashMap<GoalId, Constraint>,
    covered: HashMap<(LanguageId, TextId), bool>,
    questions: Questions,
    /// Whether there is a value that satisfies a goal.
    alone: HashMap<GoalId, bool>,
    few: HashMap<GoalId, Option<Arc<[GoalId]>>>,
    endless: HashMap<questions::Goals, bool>,
    endless_rests: HashMap<FormulaId, bool>,
    domains: HashMap<questions::Goals, Values>,
    /// Beginnings of containers looked at for the values that are being written out.
    beginnings: usize,
    scarce: HashMap<FormulaId, LanguageId>,
    vectors: HashMap<Box<[GoalId]>, Arc<[Vec<bool>]>>,
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
    /// The places behind containers, by what is around them, what they are read for and the outcomes of that.
    done: HashMap<(StackId, ExpectedId, Outcomes), Option<State>>,
    /// Whether there is no end of values that are read for what is expected.
    endless_values: HashMap<ExpectedId, bool>,
    barred: HashMap<FormulaId, Arc<[TextId]>>,
    /// The names that may come first in plain objects.
    first_names: HashMap<FormulaId, NextNames>,
    /// Languages of names with others, which are sorted, or without them.
    combined_names: HashMap<(LanguageId, bool, Box<[TextId]>), LanguageId>,
    /// Sets of names that were all found to be in a language.
    sets_within: HashSet<(LanguageId, NameSetId)>,
    decided: HashMap<(FormulaId, TextId, Box<[GoalId]>), decision::DecisionId>,
    next_names: HashMap<KeyPlace, NextNames>,
    next_names_at: HashMap<StackId, NextNames>,
    name_lists: Vec<Arc<NameList>>,
    name_classes: HashMap<ExpectedId, Arc<NameClasses>>,
    /// The last of them with names of values that an object has to differ from.
    last_classes: Option<(ExpectedId, Vec<TextId>, Arc<NameClasses>)>,
    /// The texts of languages that have few, as goals.
    word_goals: HashMap<LanguageId, Option<Arc<[GoalId]>>>,
    items: HashMap<StackId, Option<ExpectedId>>,
    strings_expected: HashMap<ExpectedId, LanguageId>,
    numbers_expected: HashMap<ExpectedId, NumberSetId>,
    // The machine.
    parts: HashMap<GoalId, Parts>,
    aparts: HashMap<StackId, Apart>,
    /// Whether objects can still differ after members.
    members_apart: HashMap<(TextId, StackId), bool>,
    stay_endless: HashMap<LanguageId, bool>,
    /// The items of the array last asked for, and the strings among them, sorted by their characters.
    sorted_texts: (Box<[GoalId]>, Arc<[GoalId]>),
    /// The strings among the values that the next one in a container must not equal, and those last asked for.
    text_sets: HashMap<StackId, NameSetId>,
    last_text_set: (Arc<[GoalId]>, NameSetId),
    most_texts: HashMap<(StackId, ExpectedId), Option<MostTexts>>,
    /// Formulas and values kept in levels, names of lists, and values sorted by their characters.
    level_cells: usize,
    orders: Orders,
    expected: Vec<Arc<Expected>>,
    expected_ids: HashMap<Arc<Expected>, ExpectedId>,
    opens: Vec<Arc<[LanguageId]>>,
    open_ids: HashMap<Arc<[LanguageId]>, OpenId>,
    levels: Vec<Arc<Level>>,
    level_ids: HashMap<Arc<Level>, StackId>,
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
    /// The automaton of a schema, and the goal of being valid under it. Every subschema is expanded, so that what cannot
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
    ) -> Result<(Self, GoalId), CompileError> {
        let mut automaton = Self::lazy(languages, Arc::new(schema), formats, style);
        let schema = automaton.schema.clone();
        // Each subschema is a goal and has its constraint.
        automaton.goals.reserve(schema.len());
        automaton.constraints.reserve(schema.len());
        for (node, _) in schema.nodes() {
            automaton.expand_node(node)?;
        }
        let root = automaton.goal_of(schema.root());
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
            goals: Goals::default(),
            texts: Texts::default(),
            name_sets: NameSets::default(),
            atoms: Atoms::default(),
            formulas: Formulas::default(),
            decisions: Decisions::default(),
            number_texts: NumberTexts::new(style.numbers, sets),
            constraints: HashMap::new(),
            covered: HashMap::new(),
            questions: Questions::default(),
            alone: HashMap::new(),
            few: HashMap::new(),
            endless: HashMap::new(),
            endless_rests: HashMap::new(),
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
            endless_values: HashMap::new(),
            barred: HashMap::new(),
            first_names: HashMap::new(),
            combined_names: HashMap::new(),
            sets_within: HashSet::new(),
            decided: HashMap::new(),
            next_names: HashMap::new(),
            next_names_at: HashMap::new(),
            name_lists: Vec::new(),
            name_classes: HashMap::new(),
            last_classes: None,
            word_goals: HashMap::new(),
            items: HashMap::new(),
            strings_expected: HashMap::new(),
            numbers_expected: HashMap::new(),
            parts: HashMap::new(),
            aparts: HashMap::new(),
            members_apart: HashMap::new(),
            stay_endless: HashMap::new(),
            sorted_texts: Default::default(),
            text_sets: HashMap::new(),
            last_text_set: Default::default(),
            most_texts: HashMap::new(),
            level_cells: 0,
            orders: Orders::default(),
            expected: Vec::new(),
            expected_ids: HashMap::new(),
            opens: Vec::new(),
            open_ids: HashMap::new(),
            levels: Vec::new(),
            level_ids: HashMap::with_capacity(PLACES / 16),
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
        let goal = self.goal_of(node);
        self.constraint(goal).map(|_| ())
    }

    /// Whether some value is valid under a subschema.
    pub(crate) fn has_value(&mut self, node: NodeId) -> Result<bool, Trouble> {
        let goal = self.goal_of(node);
        self.satisfiable(&[goal], &[])
    }

    /// How much has been worked out, in units that take about a microsecond each.
    pub(crate) fn effort(&self) -> usize {
        let expanded = self.constraints.len() + self.questions.len();
        10 * expanded + self.steps_taken + self.formulas.size() / 16
    }

    /// The schema.
    pub(crate) fn schema(&self) -> &Arc<SchemaSet> {
        &self.schema
    }

    /// The subschemas that were expanded. What the others say made no difference to any answer so far.
    pub(crate) fn expanded(&self) -> impl Iterator<Item = NodeId> {
        self.constraints.keys().filter_map(|goal| match self.goals.get(*goal) {
            Goal::Node(node) => Some(*node),
            _ => None,
        })
    }

    /// Whether what has been worked out still fits the memory allowed. It is counted roughly: what grows with schemas and
    /// documents, in the sizes it mostly has.
    fn check_memory(&self) -> Result<(), Trouble> {
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
        let places = known + 128 * self.steps.len() + 200 * self.levels.len() + self.level_cells * 8;
        formulas
            + places
            + 24 * (self.languages.cells() + self.languages.kept())
            + 64 * (self.texts.len() + self.name_sets.count())
            + 96 * self.goals.len()
    }
}
