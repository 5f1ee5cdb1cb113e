//! The transition function over bytes: from a [state](state::State) of a document and a byte to the next state, if the
//! document can still be completed from there.
//!
//! A state consists of a cursor in the innermost value and a stack of frames, one for each object and array around it. Frames
//! are hash-consed, so a state is a few numbers and is cheap to store, hash and compare.

pub(super) mod completion;
mod containers;
mod forced_bytes;
mod frame;
pub(super) mod keys;
mod languages;
pub(super) mod machine;
pub(super) mod memo;
mod numbers;
pub(super) mod shapes;
pub(super) mod state;
mod strings;
pub(super) mod style;
pub(super) mod unique_items;

use completion::CompletionMemo;
use frame::{Container, Derived, Frame, Frames, IndependentFrame, Left, OpenLanguages};
use keys::classes::PartialKey;
use keys::remaining::{RemainingKeyText, SeenKeys};
use machine::Automaton;
use memo::{
    Derivation, DistinctMemo, Distinctness, ExceptionalTexts, KeyClasses, ObjectKeys, Part, ShapeMemo, StepMemo,
    TextClasses, ValueDemand, keep,
};
use state::hash::Mixer;
use state::{Cursor, Gap, OpenId, StackId, State, StepResult, is_of_number, is_whitespace};
use strings::{DISTINGUISHED_WORDS, SPLIT_ASSERTIONS};
