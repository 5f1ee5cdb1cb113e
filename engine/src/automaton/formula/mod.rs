//! The algebra of requirements on values.
//!
//! An [assertion] is a requirement on a value. Its [expansion](expand) is a [constraint](assertion::Constraint): a set of
//! numbers, a language of strings, and one [Boolean formula](boolean) each for arrays and objects. The formulas' [atoms](atom)
//! speak of the members and items still to come. [Reading](residual) a member or item turns atoms into others or decides them, so the
//! residual formula is all the memory that a container needs. A [decision diagram](decision_diagram) over the verdicts of a
//! value's assertions says which verdicts the containers around the value admit.
//!
//! Nothing here searches for values or knows of bytes.

pub(super) mod algebra;
pub(super) mod assertion;
pub(super) mod atom;
pub(super) mod boolean;
mod constraint;
pub(super) mod decision_diagram;
mod discriminators;
mod expand;
pub(super) mod few_changed;
mod free_values;
pub(super) mod keys;
mod preferences;
pub(super) mod read_values;
pub(super) mod residual;
pub(super) mod texts;
mod unevaluated;

pub(super) use algebra::Algebra;
pub(super) use assertion::{Assertion, AssertionId, Constraint, Literal, split, verdict_of};
pub(super) use atom::{AtomKind, Keys};
pub(super) use boolean::{Atom, FormulaId, FormulaNode};
pub(super) use decision_diagram::DiagramId;
pub(super) use keys::cell::{CellKeys, ENUMERATED_KEYS, KeyCell};
pub(super) use keys::independent::IndependentKeys;
pub(super) use keys::meant::MeantTypes;
pub(super) use keys::orders::{Alternative, OrderId, Ordered, Rival};
pub(super) use keys::sets::{ByNumber, KeySetId, SetId};
pub(super) use preferences::Strings;
pub(super) use read_values::{ItemsId, MembersId, ValueSet};
pub(super) use residual::MemberKey;
pub(super) use texts::TextId;

use assertion::AssertionTable;
use atom::Atoms;
use boolean::Formulas;
use decision_diagram::DecisionDiagrams;
use keys::cell::EnumeratedKeys;
use keys::orders::Orders;
use keys::sets::KeySets;
use preferences::Preferences;
use read_values::ReadValues;
use texts::TextTable;
