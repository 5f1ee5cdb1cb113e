//! Token masks of nested rules, divided into context-independent and context-dependent tokens.
//!
//! Tokens that end within the rule of a state, or within rules called there, do not depend on the stack: [`StateTokens`] finds them once for
//! each state by a walk over the token trie. For tokens that leave the rule it keeps the trie nodes at which they leave; from these the walk
//! goes on with the actual stack.

use smallvec::SmallVec;

use crate::TokenId;
use crate::mask::cache::token_set::TokenSet;
use crate::mask::index::tokens::{Spelled, TokenIndex};
use crate::mask::index::trie::{ROOT, first_child};

use super::bodies::StateId;
use super::machine::{Machine, Place, Step, Unknown};
use super::stacks::{Stack, Stacks};

/// The tokens allowed in a state, as far as that does not depend on the stack.
#[derive(Debug)]
pub(super) struct StateTokens {
    /// The context-independent tokens: allowed whatever the stack.
    inside: TokenSet,
    /// The trie nodes at which tokens leave the rule, each with the exit and whether the rule is left before the byte of the node.
    left: Box<[(u32, u32, bool)]>,
}

impl StateTokens {
    /// Walks over the token trie from a state with an unknown stack.
    pub(super) fn new(machine: &Machine, index: &TokenIndex, state: StateId) -> Self {
        let Spelled { trie, tokens } = &index.every;
        let (mut inside, mut left) = (Vec::new(), Vec::new());
        // Within the rule itself a state suffices, without a place.
        let mut open = vec![(trie.end(ROOT), state)];
        let mut node = first_child(ROOT);
        while let Some(&(end, state)) = open.last() {
            if node >= end {
                open.pop();
                continue;
            }
            match machine.own_step(state, trie.label(node)) {
                Ok(next) => {
                    inside.extend_from_slice(&tokens[trie.at(node)]);
                    open.push((trie.end(node), next));
                    node = first_child(node);
                    continue;
                }
                Err(false) => {}
                Err(true) => {
                    let place = Place {
                        state,
                        opened: SmallVec::new(),
                        below: Unknown,
                    };
                    let mut enter = |node, place: &Place<Unknown>| {
                        let step = machine.step(place, trie.label(node), &());
                        if let Step::Out { exit, is_before } = step {
                            left.push((node, exit, is_before));
                        }
                        if matches!(step, Step::On(_) | Step::Out { is_before: false, .. }) {
                            inside.extend_from_slice(&tokens[trie.at(node)]);
                        }
                        Ok::<_, std::convert::Infallible>(match step {
                            Step::On(place) => Some(place),
                            Step::Refused | Step::Out { .. } => None,
                        })
                    };
                    let Ok(entered) = enter(node, &place);
                    if let Some(entered) = entered {
                        let Ok(()) = trie.descend(node, entered, enter);
                    }
                }
            }
            node = trie.end(node);
        }
        Self {
            inside: TokenSet::of(&inside, index.len),
            left: left.into(),
        }
    }

    /// Returns all tokens allowed in the state under a stack of open calls, without end-of-sequence tokens.
    pub(super) fn within(&self, machine: &Machine, index: &TokenIndex, stacks: &Stacks, stack: Stack) -> TokenSet {
        let Spelled { trie, tokens } = &index.every;
        let mut found: Vec<TokenId> = Vec::new();
        // The place behind each exit.
        let mut behind: SmallVec<[(u32, Option<Place<Stack>>); 2]> = SmallVec::new();
        for &(node, exit, is_before) in &self.left {
            if !behind.iter().any(|(known, _)| *known == exit) {
                let place = Place {
                    state: 0,
                    opened: SmallVec::new(),
                    below: stack,
                };
                behind.push((exit, machine.leave(place, exit, stacks).ok()));
            }
            let place = behind
                .iter()
                .find(|(known, _)| *known == exit)
                .and_then(|(_, place)| place.as_ref());
            let Some(place) = place else { continue };
            let mut enter = |node, place: &Place<Stack>| {
                Ok::<_, std::convert::Infallible>(match machine.step(place, trie.label(node), stacks) {
                    Step::On(place) => {
                        found.extend_from_slice(&tokens[trie.at(node)]);
                        Some(place)
                    }
                    Step::Refused | Step::Out { .. } => None,
                })
            };
            let from = match is_before {
                true => {
                    let Ok(entered) = enter(node, place);
                    entered
                }
                false => Some(place.clone()),
            };
            if let Some(from) = from {
                let Ok(()) = trie.descend(node, from, enter);
            }
        }
        self.inside.clone().and_these(&found)
    }

    /// Bytes of memory, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.inside.bytes() + 12 * self.left.len()
    }
}
