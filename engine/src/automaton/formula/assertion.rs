//! [`Assertion`]: a requirement on a value. [`Constraint`]: the meaning of an assertion for each type of value.

use crate::automaton::formula::boolean::FormulaId;
use crate::automaton::formula::texts::TextId;
use crate::json::Value;
use crate::numbers::NumberSetId;
use crate::schema::NodeId;
use crate::strings::{LanguageId, Usual};
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

/// The number of an [`Assertion`]. Equal ids mean equal assertions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AssertionId(pub(crate) u32);

/// An assertion: something that a value satisfies or does not, such as a subschema.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Assertion {
    /// Every value satisfies the assertion.
    Anything,
    /// No value satisfies the assertion.
    Nothing,
    /// The value is valid under a subschema.
    Node(NodeId),
    /// The value equals this one, which is `null`, `true`, `false` or a number.
    Equal(Value),
    /// The value is this string.
    Text(TextId),
    /// The value is the array of these items, each given by the assertion of being equal to it.
    Array(Arc<[AssertionId]>),
    /// The value is the object of these members, sorted by the characters of their keys.
    Object(Arc<[(TextId, AssertionId)]>),
    /// The value is the array of these items, each given by the assertion of being equal to it, of which some say how members are
    /// ordered.
    WrittenArray(Arc<[AssertionId]>),
    /// The value is the object of these members, and they are written in this order. No value that is read has this assertion:
    /// only values that a subschema lists.
    WrittenObject(Arc<[(TextId, AssertionId)]>),
    /// The value is within so many containers of a value on which the schema says nothing, and its content stays within the
    /// style's bound on their depth.
    Free(u8),
    /// The value satisfies at least one of these assertions, which are sorted.
    AnyOf(Box<[AssertionId]>),
}

/// Bytes that a number takes as a value, with its digits.
const SCALAR_BYTES: usize = 72;

/// All assertions of one compiled schema, each stored once.
#[derive(Debug)]
pub(crate) struct AssertionTable {
    assertions: Vec<Assertion>,
    ids: HashTable<AssertionId>,
    hasher: DefaultHashBuilder,
    /// Bytes that values refer to.
    referred: usize,
}

impl Default for AssertionTable {
    fn default() -> Self {
        let mut assertions = Self {
            assertions: Vec::new(),
            ids: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            referred: 0,
        };
        assertions.intern(Assertion::Anything);
        assertions.intern(Assertion::Nothing);
        assertions
    }
}

impl AssertionId {
    /// The assertion that every value satisfies.
    pub(crate) const ANYTHING: Self = Self(0);
    /// The assertion that no value satisfies.
    pub(crate) const NOTHING: Self = Self(1);
}

impl AssertionTable {
    /// Reserves memory for `assertions` more assertions.
    pub(crate) fn reserve(&mut self, assertions: usize) {
        self.assertions.reserve(assertions);
        let (stored, hasher) = (&self.assertions, &self.hasher);
        let hash = |id: &AssertionId| hasher.hash_one(&stored[id.0 as usize]);
        self.ids.reserve(assertions, hash);
    }

    /// The id of an assertion, which is added if it is new.
    pub(crate) fn intern(&mut self, assertion: Assertion) -> AssertionId {
        if let Some(id) = self.find(&assertion) {
            return id;
        }
        let id = AssertionId(self.assertions.len() as u32);
        let hash = self.hasher.hash_one(&assertion);
        self.referred += match &assertion {
            Assertion::Equal(_) => SCALAR_BYTES,
            Assertion::Array(items) | Assertion::WrittenArray(items) => size_of_val(&items[..]),
            Assertion::Object(members) | Assertion::WrittenObject(members) => size_of_val(&members[..]),
            Assertion::AnyOf(assertions) => size_of_val(&assertions[..]),
            Assertion::Anything | Assertion::Nothing | Assertion::Node(_) | Assertion::Text(_) | Assertion::Free(_) => {
                0
            }
        };
        self.assertions.push(assertion);
        let (stored, hasher) = (&self.assertions, &self.hasher);
        self.ids
            .insert_unique(hash, id, |id| hasher.hash_one(&stored[id.0 as usize]));
        id
    }

    /// The id of an assertion; `None` if it is not stored.
    pub(crate) fn find(&self, assertion: &Assertion) -> Option<AssertionId> {
        let is_same = |id: &AssertionId| self.assertions[id.0 as usize] == *assertion;
        self.ids.find(self.hasher.hash_one(assertion), is_same).copied()
    }

    /// Bytes of memory that the assertions take.
    pub(crate) fn memory(&self) -> usize {
        let ids = self.ids.capacity() * (size_of::<AssertionId>() + 1);
        self.assertions.capacity() * size_of::<Assertion>() + ids + self.referred
    }

    /// The assertion of an id.
    pub(crate) fn get(&self, id: AssertionId) -> &Assertion {
        &self.assertions[id.0 as usize]
    }
}

/// The meaning of an assertion for each type of value. The first byte of a value tells which type applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Constraint {
    /// Whether `null` satisfies the constraint.
    pub null: bool,
    /// Whether `true` satisfies the constraint.
    pub yes: bool,
    /// Whether `false` satisfies the constraint.
    pub no: bool,
    /// The numbers that satisfy the constraint.
    pub numbers: NumberSetId,
    /// The strings that satisfy the constraint.
    pub strings: LanguageId,
    /// The strings, of those that satisfy the constraint, that the style prefers; `None` if it prefers none.
    pub usual: Option<Usual>,
    /// The formula that an array must satisfy.
    pub arrays: FormulaId,
    /// The formula that an object must satisfy.
    pub objects: FormulaId,
}

/// The verdict of `assertion` in a vector of verdicts over the sorted `assertions`; `false` for an assertion that is
/// not among them.
pub(crate) fn verdict_of(assertions: &[AssertionId], vector: &[bool], assertion: AssertionId) -> bool {
    assertions.binary_search(&assertion).is_ok_and(|at| vector[at])
}

/// The assertions that a verdict vector satisfies, and those that it does not.
pub(crate) fn split(assertions: &[AssertionId], vector: &[bool]) -> (Vec<AssertionId>, Vec<AssertionId>) {
    let pick = |wanted: bool| {
        let pairs = assertions
            .iter()
            .zip(vector)
            .filter(move |(_, verdict)| **verdict == wanted);
        pairs.map(|(assertion, _)| *assertion).collect()
    };
    (pick(true), pick(false))
}

/// A value that is written as one of three words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Literal {
    Null,
    True,
    False,
}

impl Literal {
    /// The JSON text of the literal.
    pub(crate) fn text(self) -> &'static [u8] {
        match self {
            Self::Null => b"null",
            Self::True => b"true",
            Self::False => b"false",
        }
    }

    /// The literal as a value.
    pub(crate) fn value(self) -> Value {
        match self {
            Self::Null => Value::null(),
            Self::True => Value::boolean(true),
            Self::False => Value::boolean(false),
        }
    }

    /// Whether the literal satisfies a constraint.
    pub(crate) fn verdict(self, constraint: &Constraint) -> bool {
        match self {
            Self::Null => constraint.null,
            Self::True => constraint.yes,
            Self::False => constraint.no,
        }
    }
}
