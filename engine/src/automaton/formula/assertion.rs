//! [`Assertion`]: what is asked of a value; [`Constraint`]: what an assertion means for each type of value.

use crate::automaton::formula::boolean::FormulaId;
use crate::json::Value;
use crate::numbers::NumberSetId;
use crate::schema::NodeId;
use crate::strings::LanguageId;
use hashbrown::HashMap;
use std::hash::Hash;

/// An assertion. Equal ids are equal assertions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AssertionId(pub(crate) u32);

/// What is asked of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Assertion {
    /// Nothing: every value will do.
    Anything,
    /// No value will do.
    Nothing,
    /// That it is valid under a subschema.
    Node(NodeId),
    /// That it equals a value.
    Equal(Value),
    /// That it satisfies at least one of these.
    AnyOf(Box<[AssertionId]>),
}

/// The assertions of one compilation.
#[derive(Debug)]
pub(crate) struct AssertionTable {
    assertions: Vec<Assertion>,
    ids: HashMap<Assertion, AssertionId>,
}

impl Default for AssertionTable {
    fn default() -> Self {
        let mut assertions = Self {
            assertions: Vec::new(),
            ids: HashMap::new(),
        };
        assertions.intern(Assertion::Anything);
        assertions.intern(Assertion::Nothing);
        assertions
    }
}

impl AssertionId {
    /// Every value will do.
    pub(crate) const ANYTHING: Self = Self(0);
    /// No value will do.
    pub(crate) const NOTHING: Self = Self(1);
}

impl AssertionTable {
    /// Makes room for so many more.
    pub(crate) fn reserve(&mut self, assertions: usize) {
        self.assertions.reserve(assertions);
        self.ids.reserve(assertions);
    }

    /// The id of an assertion.
    pub(crate) fn intern(&mut self, assertion: Assertion) -> AssertionId {
        if let Some(&id) = self.ids.get(&assertion) {
            return id;
        }
        let id = AssertionId(self.assertions.len() as u32);
        self.assertions.push(assertion.clone());
        self.ids.insert(assertion, id);
        id
    }

    /// Number of assertions.
    pub(crate) fn len(&self) -> usize {
        self.assertions.len()
    }

    /// The assertion of an id.
    pub(crate) fn get(&self, id: AssertionId) -> &Assertion {
        &self.assertions[id.0 as usize]
    }
}

/// What an assertion means for each type of value. The first byte of a value tells its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Constraint {
    /// Whether `null` will do.
    pub null: bool,
    /// Whether `true` will do.
    pub yes: bool,
    /// Whether `false` will do.
    pub no: bool,
    /// The numbers that will do.
    pub numbers: NumberSetId,
    /// The strings that will do.
    pub strings: LanguageId,
    /// What an array must satisfy.
    pub arrays: FormulaId,
    /// What an object must satisfy.
    pub objects: FormulaId,
}

/// The verdict of `assertion` in a vector over `assertions`. Requirement that are not among them were not asked for.
pub(crate) fn verdict_of(assertions: &[AssertionId], vector: &[bool], assertion: AssertionId) -> bool {
    assertions.binary_search(&assertion).is_ok_and(|at| vector[at])
}

/// The assertions of a vector that are satisfied, and those that are not.
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

/// A value that is one of three words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Literal {
    Null,
    True,
    False,
}

impl Literal {
    pub(crate) fn text(self) -> &'static [u8] {
        match self {
            Self::Null => b"null",
            Self::True => b"true",
            Self::False => b"false",
        }
    }

    pub(crate) fn value(self) -> Value {
        match self {
            Self::Null => Value::null(),
            Self::True => Value::boolean(true),
            Self::False => Value::boolean(false),
        }
    }

    pub(crate) fn verdict(self, constraint: &Constraint) -> bool {
        match self {
            Self::Null => constraint.null,
            Self::True => constraint.yes,
            Self::False => constraint.no,
        }
    }
}
