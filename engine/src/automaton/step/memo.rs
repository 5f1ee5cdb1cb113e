//! What the machine has found out, with one struct for each concern.

use crate::automaton::formula::{AssertionId, Constraint, KeySetId, OrderId, TextId};
use crate::automaton::search::{ExpectationId, NextKeys, Verdicts};
use crate::automaton::step::{Left, StackId, State};
use crate::numbers::NumberState;
use crate::strings::LanguageId;
use hashbrown::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// A piece of JSON text, in bytes.
pub(crate) type TextPiece = Arc<[u8]>;

/// Memo of texts that complete values and containers.
#[derive(Debug, Default)]
pub(crate) struct Completions {
    pub(super) values: HashMap<(Constraint, OrderId), Option<TextPiece>>,
    pub(super) words: HashMap<LanguageId, Option<TextPiece>>,
    pub(super) numbers: HashMap<NumberState, Option<TextPiece>>,
    /// The text that completes what a state is in, with the state after it.
    pub(crate) rests: HashMap<State, Option<(TextPiece, State)>>,
    /// The values being spelled out at the moment, the outermost first.
    pub(super) open: Vec<(Constraint, OrderId)>,
    /// Whether an answer rests on a value in `open`, or on the limit on nesting, and must not be remembered.
    pub(super) provisional: bool,
}

/// Values that another value is compared with, as assertions of being equal to them.
pub(super) type ComparedValues = Arc<[AssertionId]>;

/// The values that a container, and its next item or member, must not equal.
#[derive(Clone, Debug)]
pub(crate) struct Distinctness {
    /// The values that the container must not equal and that agree with what has been read of it.
    pub(super) own: ComparedValues,
    /// The values that the next item or member, or the one being read, must not equal.
    pub(crate) child: ComparedValues,
}

/// The parts of a value.
#[derive(Clone, Debug)]
pub(crate) enum ValueParts {
    Scalar,
    Array(ComparedValues),
    /// The members, sorted by the ids of their keys.
    Object(Arc<[(TextId, AssertionId)]>),
}

/// The state after most strings, and the exceptional strings, sorted by their characters.
pub(crate) type MostTexts = (State, Arc<[AssertionId]>);

/// The facts that tell the keys of an object apart: keys that are not listed and are in the same languages are alike.
#[derive(Debug)]
pub(crate) struct KeyClasses {
    /// The listed keys, sorted by their characters.
    pub(crate) listed: Box<[TextId]>,
    pub(super) languages: Box<[LanguageId]>,
}

/// The requirement on a value, independent of where the value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ValueShape {
    /// The value satisfies this constraint.
    Constraint(Constraint),
    /// The value meets this expectation. It is used where the prescribed order of the value's members counts as well.
    Expectation(ExpectationId),
}

/// The shape of a value, and the only verdicts of its assertions that are admitted.
pub(crate) type ForcedShape = (ValueShape, Verdicts);

/// Memo of steps and of the states after values.
#[derive(Debug)]
pub(super) struct StepMemo {
    /// The results of steps other than those within strings and numbers.
    pub(super) by_byte: HashMap<(State, u8), Option<State>>,
    /// Number of steps that were not remembered and had to be computed.
    pub(super) taken: usize,
    /// The only byte that may come next, with the state after it.
    pub(super) forced: HashMap<State, Option<(u8, State)>>,
    /// The state after a value, by the stack around it, its expectation and its verdicts.
    pub(super) after_values: HashMap<(StackId, ExpectationId, Verdicts), Option<State>>,
    /// The expectation of the next item of an array.
    pub(super) items: HashMap<StackId, Option<ExpectationId>>,
    /// The expectation of a member of an independent-key object, by the object's residual formulas and the key.
    pub(super) members: HashMap<(Left, TextId), Option<ExpectationId>>,
}

/// Memo of the keys of objects.
#[derive(Debug, Default)]
pub(super) struct ObjectKeys {
    /// The keys that may come next.
    pub(super) next: HashMap<StackId, NextKeys>,
    /// The facts that tell the keys of an object apart, by the object's expectation.
    pub(super) classes: HashMap<ExpectationId, Arc<KeyClasses>>,
    /// The residual of a language after a text of whole chunks.
    pub(super) after_chunks: HashMap<(LanguageId, TextId), LanguageId>,
    /// The result of the last look-up that also lists the keys of values from which an object has to differ.
    pub(super) last_classes: Option<(ExpectationId, Vec<TextId>, Arc<KeyClasses>)>,
}

/// Memo of the shapes of values and objects.
#[derive(Debug, Default)]
pub(super) struct ShapeMemo {
    pub(super) shapes: HashMap<ExpectationId, Option<ForcedShape>>,
    /// Stacks reduced to what counts after a member; see
    /// [`Automaton::bare_stack`](super::machine::Automaton::bare_stack).
    pub(super) bare: HashMap<StackId, Option<StackId>>,
}

/// Memo of what has been worked out about items that have to differ.
#[derive(Debug, Default)]
pub(super) struct DistinctMemo {
    pub(super) parts: HashMap<AssertionId, ValueParts>,
    pub(super) containers: HashMap<StackId, Distinctness>,
    /// Whether an object can still differ from others after a member with this key.
    pub(super) members: HashMap<(TextId, StackId), bool>,
    /// Whether a language has infinitely many texts after every viable prefix.
    pub(super) stay_infinite: HashMap<LanguageId, bool>,
    /// The items of the array last asked for, and the strings among them, sorted by their characters.
    pub(super) sorted_texts: (Box<[AssertionId]>, Arc<[AssertionId]>),
    /// The strings among the values that the next value in a container must not equal.
    pub(super) text_sets: HashMap<StackId, KeySetId>,
    /// The values last asked for, and the strings among them.
    pub(super) last_text_set: (Arc<[AssertionId]>, KeySetId),
    pub(super) most_texts: HashMap<(StackId, ExpectationId), Option<MostTexts>>,
    /// The texts of finite languages, as assertions of being equal to them.
    pub(super) word_assertions: HashMap<LanguageId, Option<Arc<[AssertionId]>>>,
}
