//! [`TextPiece`]: a piece of a completion. [`ContainerRest`]: the pieces that complete a container. [`CompletionMemo`]: memoised pieces.

use crate::automaton::formula::{AssertionId, Constraint, FormulaId, OrderId, TextId};
use crate::automaton::step::State;
use crate::numbers::NumberState;
use crate::strings::LanguageId;
use hashbrown::HashMap;
use std::ops::Deref;
use std::sync::Arc;

/// Bytes that remembered completions may take before they are forgotten.
const KEPT_BYTES: usize = 2 << 20;

/// Bytes that an entry of a table takes besides its text.
const ENTRY_BYTES: usize = 96;

/// A piece of JSON text: the end of a text that other pieces may share.
#[derive(Clone, Debug)]
pub(crate) struct TextPiece {
    /// The shared text.
    pub(crate) whole: Arc<[u8]>,
    /// Offset in `whole` at which the piece begins, in bytes.
    pub(crate) from: usize,
}

impl Deref for TextPiece {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.whole[self.from..]
    }
}

impl From<&[u8]> for TextPiece {
    fn from(text: &[u8]) -> Self {
        Self {
            whole: text.into(),
            from: 0,
        }
    }
}

impl From<Vec<u8>> for TextPiece {
    fn from(text: Vec<u8>) -> Self {
        Self {
            whole: text.into(),
            from: 0,
        }
    }
}

/// The parts that complete a container.
pub(super) struct ContainerRest {
    /// The texts of the members or items still to come, and the closing bracket.
    pub(super) pieces: Vec<TextPiece>,
    /// A condition on the value of the first part under which the others still complete the container, where one is known.
    pub(super) first: Option<Constraint>,
}

/// Different values that satisfy a constraint, each with the assertion of being equal to it.
pub(super) type Samples = Arc<[(TextPiece, AssertionId)]>;

/// Memo of texts that complete values and containers.
#[derive(Debug, Default)]
pub(crate) struct CompletionMemo {
    pub(super) values: HashMap<(Constraint, OrderId), Option<TextPiece>>,
    /// The end of a string with its closing quote, by the language of the texts that may follow.
    pub(super) words: HashMap<LanguageId, Option<TextPiece>>,
    pub(super) numbers: HashMap<NumberState, Option<TextPiece>>,
    /// The text of a member of an object that judges each key by itself, by the demand on the object, the key, and whether
    /// it comes after another.
    pub(super) members: HashMap<(FormulaId, TextId, bool), Option<TextPiece>>,
    /// Different values that satisfy a constraint, with the number that were asked for.
    pub(super) samples: HashMap<Constraint, (usize, Samples)>,
    /// A piece of the completion from a state, with the state after it.
    pub(super) next: HashMap<State, (TextPiece, State)>,
    /// The longest text so far of a string whose characters are all free.
    pub(super) filler: Option<Arc<[u8]>>,
    /// The values being spelled out at the moment, the outermost first.
    pub(super) open: Vec<(Constraint, OrderId)>,
    /// Number of values visited since `open` was empty.
    pub(super) looks: usize,
    /// Number of models of containers that led to no text, for the present piece of the completion. Those within a value that got a text are not
    /// counted.
    pub(super) fruitless: usize,
    /// Whether an answer rests on a value in `open`, or on a limit, and must not be remembered.
    pub(super) provisional: bool,
    bytes: usize,
}

impl CompletionMemo {
    /// An estimate of the memory taken, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Counts an entry with its text.
    pub(super) fn count(&mut self, text: usize) {
        self.bytes += ENTRY_BYTES + text;
    }

    /// Forgets everything if there is too much of it.
    pub(super) fn make_room(&mut self) {
        if self.bytes > KEPT_BYTES {
            *self = Self::default();
        }
    }
}
