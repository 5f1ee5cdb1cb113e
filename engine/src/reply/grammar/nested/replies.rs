//! [`NestedReplies`]: the token masks of replies under a grammar with nested rules, computed on demand and cached.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use smallvec::SmallVec;

use crate::automaton::AutomatonError;
use crate::mask::cache::mask_buffers::BufferPool;
use crate::mask::cache::sharded::ShardedCache;
use crate::mask::cache::token_set::TokenSet;
use crate::mask::compiled_schema::mask_error;
use crate::mask::completions::CompletionLength;
use crate::mask::forced_tokens::{ReadBytes, forced_bytes, forced_tokens};
use crate::mask::index::base_sets::BaseSets;
use crate::mask::masker::{MaskedText, Used};
use crate::mask::shared_tokens::SharedTokens;
use crate::{MaskError, TokenId, Vocabulary};

use super::bodies::StateId;
use super::ends::{Ends, NEVER};
use super::machine::{Machine, Place, Step};
use super::masks::StateTokens;
use super::stacks::{Stack, Stacks};

/// Bytes of a text that ends a reply, at most.
const MAX_ENDING: u32 = 1 << 20;
/// Memory for the masks that the replies under one grammar keep.
const MASK_BYTES: usize = 8 << 20;
/// Memory for the [`StateTokens`] of states.
const STATE_BYTES: usize = 8 << 20;
/// Memory for the longest completions behind the tokens of states.
const FURTHEST_BYTES: usize = 1 << 20;

/// The pushdown automaton of one grammar, with its caches.
pub(super) struct NestedReplies {
    vocabulary: Arc<Vocabulary>,
    shared: Arc<SharedTokens>,
    machine: Machine,
    ends: Ends,
    stacks: RwLock<Stacks>,
    /// Bytes that stacks may take.
    stack_bytes: usize,
    states: ShardedCache<StateId, Arc<StateTokens>>,
    masks: ShardedCache<NestedState, Arc<TokenSet>>,
    furthest: ShardedCache<NestedState, u32>,
}

/// A configuration within a reply: a state and the stack of open calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NestedState {
    state: StateId,
    stack: Stack,
}

impl NestedReplies {
    /// The replies of a machine, whose stacks may take up to `stack_bytes` of memory.
    pub(super) fn new(
        vocabulary: Arc<Vocabulary>,
        shared: Arc<SharedTokens>,
        machine: Machine,
        stack_bytes: usize,
    ) -> Self {
        Self {
            vocabulary,
            shared,
            ends: Ends::new(&machine),
            machine,
            stacks: RwLock::new(Stacks::new()),
            stack_bytes,
            states: ShardedCache::new(STATE_BYTES, 0),
            masks: ShardedCache::new(MASK_BYTES, 0),
            furthest: ShardedCache::new(FURTHEST_BYTES, 0),
        }
    }

    /// The state before a reply.
    pub(super) fn start(&self) -> NestedState {
        NestedState {
            state: self.machine.start,
            stack: Stack::NONE,
        }
    }

    /// Stacks are added whole, so that they stay usable after a panic elsewhere.
    fn stacks(&self) -> RwLockReadGuard<'_, Stacks> {
        self.stacks.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(at: &NestedState) -> Place<Stack> {
        Place {
            state: at.state,
            opened: SmallVec::new(),
            below: at.stack,
        }
    }

    /// Stores the open calls of a place as a stack.
    fn state(&self, place: &Place<Stack>) -> Result<NestedState, MaskError> {
        let mut stack = place.below;
        if !place.opened.is_empty() {
            let mut stacks = self.stacks.write().unwrap_or_else(PoisonError::into_inner);
            for call in &place.opened {
                stack = stacks.push(&self.machine, &self.ends, *call, stack);
            }
            if stacks.bytes() > self.stack_bytes {
                let message = format!(
                    "the replies under this grammar need more than {} bytes (the limit `memory_bytes`)",
                    self.stack_bytes
                );
                return Err(MaskError::LimitExceeded(message));
            }
        }
        let state = place.state;
        Ok(NestedState { state, stack })
    }

    /// Whether the reply may end.
    fn may_end(&self, stacks: &Stacks, place: &Place<Stack>) -> bool {
        let (mut state, mut opened) = (place.state, &place.opened[..]);
        loop {
            let Some(exit) = self.machine.ends(state) else {
                return false;
            };
            let Some((call, rest)) = opened.split_last() else {
                return stacks.ends(place.below).get(exit as usize) == Some(&0);
            };
            opened = rest;
            state = self.machine.calls[*call as usize].returns[exit as usize];
        }
    }

    /// Returns the exit by which the reply ends with the fewest bytes, and the number of these bytes.
    fn nearest(&self, state: StateId, ends: &[u32]) -> (u32, u32) {
        let exits = (0..).zip(ends);
        let lengths = exits.map(|(exit, behind)| (self.ends.length(state, exit).saturating_add(*behind), exit));
        let (length, exit) = lengths.min().unwrap_or((NEVER, 0));
        (exit, length)
    }

    /// A shortest text that ends the reply; none where it has over [`MAX_ENDING`] bytes.
    fn rest(&self, at: &NestedState) -> Option<Vec<u8>> {
        let stacks = self.stacks();
        let (mut exit, length) = self.nearest(at.state, stacks.ends(at.stack));
        if length > MAX_ENDING {
            return None;
        }
        let (mut text, mut state, mut stack) = (Vec::with_capacity(length as usize), at.state, at.stack);
        loop {
            self.ends.write(&self.machine, state, exit, &mut text);
            let Some((call, below)) = super::machine::Below::pop(stack, &stacks) else {
                return Some(text);
            };
            state = self.machine.calls[call as usize].returns[exit as usize];
            stack = below;
            (exit, _) = self.nearest(state, stacks.ends(stack));
        }
    }
}

impl MaskedText for NestedReplies {
    type State = NestedState;
    type Key = NestedState;

    fn key(at: &NestedState) -> NestedState {
        *at
    }

    fn furthest(&self) -> &ShardedCache<NestedState, u32> {
        &self.furthest
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn sets(&self) -> &BaseSets {
        &self.shared.index.sets
    }

    fn buffers(&self) -> &BufferPool {
        &self.shared.buffers
    }

    fn mask(&self, at: &NestedState) -> Result<(Arc<TokenSet>, bool), MaskError> {
        if let Some(known) = self.masks.get(at) {
            return Ok((known, true));
        }
        let index = &self.shared.index;
        let of_state = match self.states.get(&at.state) {
            Some(known) => known,
            None => {
                let found = Arc::new(StateTokens::new(&self.machine, index, at.state));
                self.states.keep(at.state, found.clone(), found.bytes());
                found
            }
        };
        let mut tokens = of_state.within(&self.machine, index, &self.stacks(), at.stack);
        if self.is_complete(at)? {
            tokens = tokens.and_these(self.vocabulary.eos_tokens());
        }
        let tokens = Arc::new(tokens);
        self.masks.keep(*at, tokens.clone(), tokens.bytes());
        Ok((tokens, false))
    }

    fn after(&self, at: &NestedState, (_, bytes): (TokenId, &[u8]), _: bool) -> Result<Option<NestedState>, MaskError> {
        let mut place = Self::place(at);
        {
            let stacks = self.stacks();
            for &byte in bytes {
                match self.machine.step(&place, byte, &*stacks) {
                    Step::On(next) => place = next,
                    Step::Refused | Step::Out { .. } => return Ok(None),
                }
            }
        }
        self.state(&place).map(Some)
    }

    fn is_complete(&self, at: &NestedState) -> Result<bool, MaskError> {
        Ok(self.may_end(&self.stacks(), &Self::place(at)))
    }

    fn forced(&self, at: &NestedState, before: &[TokenId]) -> Result<Vec<TokenId>, MaskError> {
        let mut reader = ForcedReader(self);
        let forced = forced_tokens(
            &self.vocabulary,
            &self.shared.index,
            &mut reader,
            &Self::place(at),
            before,
        );
        forced.map_err(mask_error)
    }

    fn forced_text(&self, at: &NestedState) -> Result<Vec<u8>, MaskError> {
        let (bytes, _) = forced_bytes(&mut ForcedReader(self), &Self::place(at)).map_err(mask_error)?;
        Ok(bytes)
    }

    fn completion(&self, at: &NestedState) -> Result<Option<Vec<TokenId>>, MaskError> {
        Ok(self.rest(at).and_then(|text| self.vocabulary.spell(&text)))
    }

    fn completion_length(&self, at: &NestedState) -> Result<Option<CompletionLength>, MaskError> {
        Ok(self.rest(at).and_then(|text| {
            let tokens = self.vocabulary.spell(&text)?.len();
            let bytes = text.len();
            Some(CompletionLength { tokens, bytes })
        }))
    }

    fn memory(&self) -> usize {
        let caches = self.states.bytes() + self.masks.bytes() + self.furthest.bytes();
        caches + self.machine.bytes() + self.ends.bytes() + self.stacks().bytes()
    }

    fn used(&self) -> Used {
        Used {
            of_limits: self.stacks().bytes() as f64 / self.stack_bytes.max(1) as f64,
            effort: 0,
        }
    }
}

/// Reads forced bytes: those without an alternative.
struct ForcedReader<'a>(&'a NestedReplies);

impl ReadBytes<Place<Stack>> for ForcedReader<'_> {
    fn step(&mut self, at: &Place<Stack>, byte: u8) -> Result<Option<Place<Stack>>, AutomatonError> {
        Ok(match self.0.machine.step(at, byte, &*self.0.stacks()) {
            Step::On(next) => Some(next),
            Step::Refused | Step::Out { .. } => None,
        })
    }

    fn forced_byte(&mut self, at: &Place<Stack>) -> Result<Option<(u8, Place<Stack>)>, AutomatonError> {
        let stacks = self.0.stacks();
        if self.0.machine.has_choice(at.state) || self.0.may_end(&stacks, at) {
            return Ok(None);
        }
        let mut found = None;
        for byte in 0..=u8::MAX {
            if let Step::On(next) = self.0.machine.step(at, byte, &*stacks)
                && found.replace((byte, next)).is_some()
            {
                return Ok(None);
            }
        }
        Ok(found)
    }
}
