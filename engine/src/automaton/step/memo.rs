//! Memo tables of the automaton's results, one struct for each concern.

use crate::automaton::formula::{AssertionId, Constraint, FormulaId, KeySetId, SetId, TextId, ValueSet};
use crate::automaton::search::{ExpectationId, NextKeys, Verdicts};
use crate::automaton::step::{Container, Left, StackId, State};
use crate::numbers::NumberState;
use crate::strings::LanguageId;
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;
use std::hash::Hash;
use std::sync::Arc;

/// Number of answers about states or stacks that a table of them remembers. A document of any length has as many of them
/// as it has tokens, but comes back to few.
const KEPT_ANSWERS: usize = 1 << 12;

/// Remembers an answer, and forgets all others of its table if there are too many.
pub(super) fn keep<K: Eq + Hash, V>(table: &mut HashMap<K, V>, key: K, value: V) {
    if table.len() >= KEPT_ANSWERS {
        table.clear();
    }
    table.insert(key, value);
}

/// The values that a container, and its next item or member, are compared with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Distinctness {
    /// The values that the container must not equal and that agree with the part of it that has been read.
    pub(super) own: SetId<AssertionId>,
    /// The values that the next item or member, or the one being read, must not equal.
    pub(super) child: ValueSet,
    /// The values that the next item or member, or the one being read, must not equal if it is the last one of all
    /// containers that have to differ from others.
    pub(super) last: ValueSet,
}

/// The index of an item, or the key of a member, in a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Item(usize),
    Member(TextId),
}

/// The kind of a set that is derived from the values that are compared with a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Derivation {
    /// The values that agree with the part of the container that has been read.
    Agreeing,
    /// The keys of the members of the values, as strings.
    Keys,
    /// The parts of the values at the position or key of the container's next item or member.
    Parts,
    /// The parts of the values at the container's next position or key with which the container, whose residual formula is
    /// given, could only become equal to one of the values.
    Barred(FormulaId),
}

/// The last few sets of values, each with the set derived from it.
pub(super) type DerivedSets = SmallVec<[(SetId<AssertionId>, ValueSet); 4]>;

/// The strings that a string being read may become, by the state behind them.
#[derive(Clone, Debug)]
pub(crate) struct TextClasses {
    /// The state after each class of strings, with the verdicts of the open assertions that tell classes apart.
    pub(super) classes: Vec<(Verdicts, State)>,
    /// Indices, among the open assertions, of those that tell the classes apart.
    pub(super) split: Vec<usize>,
    pub(crate) exceptions: ExceptionalTexts,
    /// The string that stands for all of them in the states.
    pub(crate) representative: Arc<str>,
}

/// Strings that are judged one by one because the state behind them may differ from that of their class.
#[derive(Clone, Debug)]
pub(crate) struct ExceptionalTexts {
    /// The strings among values that are compared.
    pub(super) compared: KeySetId,
    /// The strings that assertions list, sorted by their characters.
    pub(super) listed: Arc<[TextId]>,
}

/// The facts that tell the keys of an object apart: keys that are not listed and are in the same languages are alike.
#[derive(Debug)]
pub(crate) struct KeyClasses {
    /// The listed keys, sorted by their characters.
    pub(crate) listed: Box<[TextId]>,
    pub(super) languages: Box<[LanguageId]>,
}

/// The requirement on a value, independent of where the value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ValueDemand {
    /// The value satisfies this constraint.
    Constraint(Constraint),
    /// The value meets this expectation. It is used where the prescribed order of the value's members counts as well.
    Expectation(ExpectationId),
}

/// The requirement on a value, and the only verdicts of its assertions that are admitted.
pub(crate) type ForcedDemand = (ValueDemand, Verdicts);

/// Memo of steps and of the states after values.
#[derive(Debug, Default)]
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
    /// Whether another member may come in the object that was asked about last.
    pub(super) last_has_next: Option<(StackId, bool)>,
    /// The result of the last look-up that also lists the keys of values from which an object has to differ.
    pub(super) last_classes: Option<(ExpectationId, Vec<TextId>, Arc<KeyClasses>)>,
}

/// Memo of the shapes of values and objects.
#[derive(Debug, Default)]
pub(super) struct ShapeMemo {
    pub(super) shapes: HashMap<ExpectationId, Option<ForcedDemand>>,
    /// Stacks reduced to the part that matters after a member; see
    /// [`Automaton::bare_stack`](super::machine::Automaton::bare_stack).
    pub(super) bare: HashMap<StackId, Option<StackId>>,
}

/// Memo of results about items that have to differ.
#[derive(Debug, Default)]
pub(super) struct DistinctMemo {
    /// The values whose parts have been recorded in `holders`.
    pub(super) noted: HashSet<AssertionId>,
    /// The arrays and objects with a value at a position or key.
    pub(super) holders: HashMap<(Part, AssertionId), Vec<AssertionId>>,
    /// Derived sets, by their kind and by how much of the container has been read, each with the set of values that it was last
    /// derived from. Sets for values that may come next are kept as well, so that a set of values does not always have one more
    /// than the last.
    pub(super) derived: HashMap<(Derivation, Container), DerivedSets>,
    pub(super) containers: HashMap<StackId, Distinctness>,
    /// Whether an object can still differ from others after a member with this key.
    pub(super) members: HashMap<(TextId, StackId), bool>,
    /// Whether a language has infinitely many texts after every viable prefix.
    pub(super) stay_infinite: HashMap<LanguageId, bool>,
    /// Whether numbers of so many digits begin with a state.
    pub(super) many_numbers: HashMap<(NumberState, u32), bool>,
    pub(super) text_classes: HashMap<(StackId, ExpectationId), Option<Arc<TextClasses>>>,
    /// The texts of languages that have few of them.
    pub(super) words: HashMap<LanguageId, Option<Arc<[TextId]>>>,
}
