//! What the machine has found out, in a struct for each concern.

use crate::automaton::formula::{AssertionId, Constraint, KeySetId, OrderId, TextId};
use crate::automaton::search::{ExpectationId, NextKeys, Verdicts};
use crate::automaton::step::{Left, StackId, State};
use crate::numbers::NumberState;
use crate::strings::LanguageId;
use hashbrown::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// A piece of text.
pub(crate) type TextPiece = Arc<[u8]>;

/// What has been spelled out.
#[derive(Debug, Default)]
pub(crate) struct Completions {
    pub(super) values: HashMap<(Constraint, OrderId), Option<TextPiece>>,
    pub(super) words: HashMap<LanguageId, Option<TextPiece>>,
    pub(super) numbers: HashMap<NumberState, Option<TextPiece>>,
    /// The rests of containers, and the states after them.
    pub(crate) rests: HashMap<State, Option<(TextPiece, State)>>,
    /// Values being spelled out.
    pub(super) open: Vec<(Constraint, OrderId)>,
    /// Whether an answer rests on one of them, or on the nesting being too deep.
    pub(super) provisional: bool,
}

/// ComparedValues, as assertions of being equal to them.
pub(super) type ComparedValues = Arc<[AssertionId]>;

/// What is known of a container in which values are kept.
#[derive(Clone, Debug)]
pub(crate) struct Distinctness {
    /// The values that agree with what was read of the container, and that it must not equal.
    pub(super) own: ComparedValues,
    /// The values that the item or member next to come, or being read, must not equal.
    pub(crate) child: ComparedValues,
}

/// A value taken apart.
#[derive(Clone, Debug)]
pub(crate) enum ValueParts {
    Scalar,
    Array(ComparedValues),
    /// Sorted by name.
    Object(Arc<[(TextId, AssertionId)]>),
}

/// The state after most strings, and the other strings, sorted by their characters.
pub(crate) type MostTexts = (State, Arc<[AssertionId]>);

/// What tells the names of an object apart: names that are not listed, and are in the same languages, are alike.
#[derive(Debug)]
pub(crate) struct KeyClasses {
    /// Sorted by their characters.
    pub(crate) listed: Box<[TextId]>,
    pub(super) languages: Box<[LanguageId]>,
}

/// What a value has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ValueShape {
    /// One that satisfies a constraint.
    Constraint(Constraint),
    /// A value that meets an expectation, where the order of its members counts as well.
    Expectation(ExpectationId),
}

/// The shape of a value, and the only verdicts of its assertions.
pub(crate) type ForcedShape = (ValueShape, Verdicts);

/// Steps, and what follows values, as far as they are kept.
#[derive(Debug)]
pub(super) struct StepMemo {
    /// Steps other than those within strings and numbers.
    pub(super) by_byte: HashMap<(State, u8), Option<State>>,
    /// Steps that have been looked up in vain.
    pub(super) taken: usize,
    /// The only byte that may come next, and where it leads.
    pub(super) forced: HashMap<State, Option<(u8, State)>>,
    /// The states behind containers, by what is around them, what they are read for and the verdicts of that.
    pub(super) after_values: HashMap<(StackId, ExpectationId, Verdicts), Option<State>>,
    /// What the next item of an array is read for.
    pub(super) items: HashMap<StackId, Option<ExpectationId>>,
    /// What the member of an independent-key object is read for, by what is left of the object and the key.
    pub(super) members: HashMap<(Left, TextId), Option<ExpectationId>>,
}

/// The keys of objects, as far as they were looked at.
#[derive(Debug, Default)]
pub(super) struct ObjectKeys {
    /// The keys that may come next.
    pub(super) next: HashMap<StackId, NextKeys>,
    /// What tells the keys of objects apart.
    pub(super) classes: HashMap<ExpectationId, Arc<KeyClasses>>,
    /// The classes last asked for with keys of values that an object has to differ from.
    pub(super) last_classes: Option<(ExpectationId, Vec<TextId>, Arc<KeyClasses>)>,
}

/// The shapes of values and objects.
#[derive(Debug, Default)]
pub(super) struct ShapeMemo {
    pub(super) shapes: HashMap<ExpectationId, Option<ForcedShape>>,
    /// The stacks that say no more than what counts after a member.
    pub(super) bare: HashMap<StackId, Option<StackId>>,
}

/// What has been worked out about items that have to differ.
#[derive(Debug, Default)]
pub(super) struct DistinctMemo {
    pub(super) parts: HashMap<AssertionId, ValueParts>,
    pub(super) containers: HashMap<StackId, Distinctness>,
    /// Whether objects can still differ after members.
    pub(super) members: HashMap<(TextId, StackId), bool>,
    /// Whether a language has infinitely many texts behind every beginning of one.
    pub(super) stay_infinite: HashMap<LanguageId, bool>,
    /// The items of the array last asked for, and the strings among them, sorted by their characters.
    pub(super) sorted_texts: (Box<[AssertionId]>, Arc<[AssertionId]>),
    /// The strings among the values that the next one in a container must not equal.
    pub(super) text_sets: HashMap<StackId, KeySetId>,
    /// The values last asked for, and the strings among them.
    pub(super) last_text_set: (Arc<[AssertionId]>, KeySetId),
    pub(super) most_texts: HashMap<(StackId, ExpectationId), Option<MostTexts>>,
    /// The texts of finite languages, as assertions.
    pub(super) word_assertions: HashMap<LanguageId, Option<Arc<[AssertionId]>>>,
}
