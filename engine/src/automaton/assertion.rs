//! [`Assertion`]: what is asked of a value; [`Constraint`]: what an assertion means for each type of value.

use hashbrown::HashMap;

use super::formula::FormulaId;
use crate::json::Value;
use crate::numbers::NumberSetId;
use crate::schema::NodeId;
use crate::strings::LanguageId;

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
pub(crate) struct Assertions {
    assertions: Vec<Assertion>,
    ids: HashMap<Assertion, AssertionId>,
}

impl Default for Assertions {
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

impl Assertions {
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
