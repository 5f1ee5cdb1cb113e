//! The types that a schema is meant for, where the style closes objects: a schema that has `properties` and no `type` is
//! meant for objects.

use crate::automaton::formula::{Algebra, Assertion, AssertionId, Constraint, FormulaId};
use crate::schema::{Body, NodeId};

/// A set of types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MeantTypes(u8);

impl MeantTypes {
    const NULL: Self = Self(1);
    const BOOLEAN: Self = Self(2);
    const NUMBER: Self = Self(4);
    const STRING: Self = Self(8);
    const ARRAY: Self = Self(16);
    const OBJECT: Self = Self(32);
    const NONE: Self = Self(0);
    pub(crate) const ALL: Self = Self(63);

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether a value that begins with a byte may be of one of the types.
    pub(crate) fn begin_with(self, byte: u8) -> bool {
        self.has(match byte {
            b'n' => Self::NULL,
            b't' | b'f' => Self::BOOLEAN,
            b'"' => Self::STRING,
            b'[' => Self::ARRAY,
            b'{' => Self::OBJECT,
            _ => Self::NUMBER,
        })
    }
}

impl Algebra {
    /// The types that a value is meant to have that satisfies an assertion.
    pub(crate) fn meant_types(&mut self, assertion: AssertionId) -> Result<MeantTypes, crate::CompileError> {
        self.alternatives(assertion)?;
        Ok(self.known_meant(assertion))
    }

    fn known_meant(&self, assertion: AssertionId) -> MeantTypes {
        let known = self.orders.meant.get(&assertion);
        known.copied().unwrap_or(MeantTypes::ALL)
    }

    /// The types that are meant by an assertion, given those that are meant by the assertions that it is made of.
    pub(super) fn find_meant(&mut self, assertion: AssertionId) -> Result<MeantTypes, crate::CompileError> {
        let node = match self.assertions.get(assertion).clone() {
            Assertion::Node(node) => node,
            Assertion::AnyOf(branches) => return self.meant_by_any(&branches),
            _ => return Ok(MeantTypes::ALL),
        };
        let schema = self.schema.clone();
        let Body::Keywords(keywords) = &schema.node(node).body else {
            return Ok(MeantTypes::ALL);
        };
        let mut meant = MeantTypes::ALL;
        if keywords.types.is_none() && keywords.values.is_none() && !keywords.properties.is_empty() {
            meant = MeantTypes::OBJECT;
        }
        for &part in keywords.all_of.iter().chain(&keywords.refs) {
            let part = self.assertion_of(part);
            meant = meant.and(self.known_meant(part));
        }
        let mut either = |branches: &[NodeId]| {
            let branches: Vec<AssertionId> = branches.iter().map(|branch| self.assertion_of(*branch)).collect();
            self.meant_by_any(&branches)
        };
        for branches in keywords.any_of.iter().chain(&keywords.one_of) {
            meant = meant.and(either(branches)?);
        }
        if let Some((_, Some(then), Some(otherwise))) = keywords.if_then_else {
            meant = meant.and(either(&[then, otherwise])?);
        }
        Ok(meant)
    }

    /// The types that are meant where one of several assertions is satisfied.
    pub(crate) fn meant_by_any(&mut self, branches: &[AssertionId]) -> Result<MeantTypes, crate::CompileError> {
        let mut meant = MeantTypes::NONE;
        for &branch in branches {
            let constraint = self.constraint(branch)?;
            meant = meant.or(self.known_meant(branch).and(self.types_of(&constraint)));
        }
        Ok(meant)
    }

    /// The types of which there may be values that satisfy a constraint.
    fn types_of(&self, constraint: &Constraint) -> MeantTypes {
        let types = [
            (constraint.null, MeantTypes::NULL),
            (constraint.yes || constraint.no, MeantTypes::BOOLEAN),
            (
                !self.number_texts.sets().is_empty(constraint.numbers),
                MeantTypes::NUMBER,
            ),
            (constraint.strings != self.languages.none(), MeantTypes::STRING),
            (constraint.arrays != FormulaId::FALSE, MeantTypes::ARRAY),
            (constraint.objects != FormulaId::FALSE, MeantTypes::OBJECT),
        ];
        let may_be = types.into_iter().filter(|(may_be, _)| *may_be);
        may_be.fold(MeantTypes::NONE, |all, (_, one)| all.or(one))
    }

    /// A constraint without the values of types that are not meant.
    pub(crate) fn of_meant_types(&mut self, constraint: Constraint, meant: MeantTypes) -> Constraint {
        let nothing = self.nothing();
        let of = |types: MeantTypes, formula| if meant.has(types) { formula } else { FormulaId::FALSE };
        Constraint {
            null: constraint.null && meant.has(MeantTypes::NULL),
            yes: constraint.yes && meant.has(MeantTypes::BOOLEAN),
            no: constraint.no && meant.has(MeantTypes::BOOLEAN),
            numbers: if meant.has(MeantTypes::NUMBER) {
                constraint.numbers
            } else {
                nothing.numbers
            },
            strings: if meant.has(MeantTypes::STRING) {
                constraint.strings
            } else {
                nothing.strings
            },
            usual: constraint.usual.filter(|_| meant.has(MeantTypes::STRING)),
            arrays: of(MeantTypes::ARRAY, constraint.arrays),
            objects: of(MeantTypes::OBJECT, constraint.objects),
        }
    }
}
