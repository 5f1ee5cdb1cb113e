//! Satisfiability of requirements: is there a value that satisfies some assertions and violates others, and can a partially read object or
//! array be completed?
//!
//! [Containers](containers) are completed by a tableau over their residual formulas, which raises queries about single values.
//! Objects whose keys are judged one by one need no search (`keys/independent_keys.rs`). `satisfiable.rs` dispatches.
//!
//! The [machine](super::step) allows a byte only if these queries are answered yes. Values are finite, so the answers form a
//! [least fixpoint](least_fixpoint): a query that comes up while it is being answered counts as answered no. Nothing
//! recurses on the native stack over the depth of schemas or values, but for the enumeration of values, which stops after a few levels.
//! Nothing here knows of bytes.

mod admitted;
mod cardinality;
mod containers;
pub(super) mod expectation;
mod keys;
pub(super) mod least_fixpoint;
mod member_verdicts;
pub(super) mod memo;
mod satisfiable;
#[expect(clippy::module_inception, reason = "it has the type that the folder is about")]
pub(super) mod search;
mod unique_items;
mod verdict_vectors;

pub(crate) use containers::arrays::Run;
pub(super) use expectation::{ExpectationId, Verdicts};
pub(crate) use keys::key_list::KeyListId;
pub(super) use keys::key_list::NextKeys;
pub(crate) use least_fixpoint::Requirement;
pub(super) use search::Search;

use cardinality::enumerate::can_all_differ;
use cardinality::finite::FiniteSplit;
use expectation::{Expectation, Expectations};
use keys::independent_keys::Room;
use keys::key_list::KeyList;
use least_fixpoint::{LeastFixpoint, NATIVE_ATTEMPTS, OptionalWork, Query, RESTS_ON_NOTHING};
use memo::{Domain, ObjectMemo, ValueMemo};
