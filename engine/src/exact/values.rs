//! Tokens that begin a value, and rests behind a name: where only the shape of the value counts they are worked out once
//! per shape, and but for what they have behind the value.

use std::sync::{Arc, Mutex};

use crate::TokenId;
use crate::automaton::{ScalarShape, State, Trouble, ValueShape};

use super::contents::bit;
use super::kept::{Kept, lock};
use super::trie::ROOT;
use super::walk::Walk;

/// Tokens that may begin a value of a shape.
#[derive(Debug)]
pub(super) struct ValueTokens {
    /// Those that stay in it.
    open: Arc<[TokenId]>,
    /// Those that end it, with what they have behind it.
    whole: Box<[(u32, TokenId)]>,
}

/// Rests that may come behind a name, before and with a value of a shape.
#[derive(Debug)]
pub(super) struct ValueRests {
    /// Whether each may come as far as it ends within the value.
    open: Box<[bool]>,
    /// Those that end it, with what they have behind it.
    whole: Box<[(u32, u32)]>,
}

/// What begins values that are no containers, in all schemas of a vocabulary.
#[derive(Debug)]
pub(super) struct Scalars {
    tokens: Mutex<Kept<ScalarShape, Arc<ValueTokens>>>,
    rests: Mutex<Kept<ScalarShape, Arc<ValueRests>>>,
}

/// Memory for what is known of scalars, of tokens and of rests.
const SCALAR_BYTES: usize = 2 << 20;

impl Default for Scalars {
    fn default() -> Self {
        Self {
            tokens: Mutex::new(Kept::new(SCALAR_BYTES)),
            rests: Mutex::new(Kept::new(SCALAR_BYTES)),
        }
    }
}

impl Scalars {
    fn tokens(&self, shape: ScalarShape) -> Option<Arc<ValueTokens>> {
        lock(&self.tokens).get(&shape)
    }

    fn keep_tokens(&self, shape: ScalarShape, tokens: &Arc<ValueTokens>, bytes: usize) {
        lock(&self.tokens).keep(shape, tokens.clone(), bytes);
    }

    fn rests(&self, shape: ScalarShape) -> Option<Arc<ValueRests>> {
        lock(&self.rests).get(&shape)
    }

    fn keep_rests(&self, shape: ScalarShape, rests: &Arc<ValueRests>, bytes: usize) {
        lock(&self.rests).keep(shape, rests.clone(), bytes);
    }
}

/// Rests behind a value that are looked at one by one.
const MOST_SINGLE: usize = 4;

/// Whether a shape is looked at for the first time, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    First,
    /// Or it will be looked at again.
    Again,
}

impl Walk<'_> {
    /// Works out what begins values of the shape that a place behind a name is before; false where that is done, or more
    /// counts than the shape.
    pub(super) fn value_ahead(&mut self, name: Option<State>, value: State) -> Result<bool, Trouble> {
        let Some(shape) = self.automaton.value_shape(value)? else {
            return Ok(false);
        };
        if let Some(name) = name
            && self.known.value_rests.get(&shape).is_none()
        {
            self.value_rests(name, value, shape, Sight::Again)?;
        }
        let is_new = self.known.value_tokens.get(&shape).is_none();
        if is_new {
            self.value_tokens(value, shape, Sight::Again)?;
        }
        Ok(is_new)
    }

    /// The tokens that may come before a value, those that are whitespace only or numbers only left out: those that are
    /// shared by all places before such a value, and others.
    pub(super) fn value(&mut self, at: State, found: &mut Vec<TokenId>) -> Result<Arc<[TokenId]>, Trouble> {
        let known = match self.automaton.value_shape(at)? {
            Some(shape) => self.value_tokens(at, shape, Sight::First)?,
            None => None,
        };
        let Some(tokens) = known else {
            self.between(at, found)?;
            return Ok(Arc::default());
        };
        if !tokens.whole.is_empty()
            && let Some(after) = self.automaton.after_shape(at)?
        {
            let alive = self.alive(after)?;
            let whole = tokens.whole.iter().filter(|(rest, _)| alive[*rest as usize]);
            found.extend(whole.map(|(_, token)| *token));
        }
        self.by_bytes(&self.tokens.values.odd, at, found)?;
        Ok(tokens.open.clone())
    }

    /// The tokens that may begin a value of a shape; none where it has come for the first time, which mostly is the last.
    fn value_tokens(
        &mut self,
        at: State,
        shape: ValueShape,
        sight: Sight,
    ) -> Result<Option<Arc<ValueTokens>>, Trouble> {
        let known = self.known.value_tokens.get(&shape);
        if let Some(Some(known)) = known {
            return Ok(Some(known));
        }
        let scalar = self.automaton.scalar_shape(shape);
        if let Some(known) = scalar.and_then(|scalar| self.tokens.scalars.tokens(scalar)) {
            self.known.value_tokens.keep(shape, Some(known.clone()), 0);
            return Ok(Some(known));
        }
        if scalar.is_none() && known.is_none() && sight == Sight::First {
            self.known.value_tokens.keep(shape, None, 0);
            return Ok(None);
        }
        let mut open = Vec::new();
        self.between(at, &mut open)?;
        let values = &self.tokens.values;
        open.retain(|token| !bit(&values.not_open, *token));
        let mut whole = Vec::new();
        let mut left = vec![(ROOT, at)];
        while let Some((node, at)) = left.pop() {
            for child in values.trie.children(node) {
                if let Some(next) = self.automaton.step(at, values.trie.label(child))? {
                    whole.extend_from_slice(&values.ends[values.trie.at(child)]);
                    left.push((child, next));
                }
            }
        }
        let tokens = Arc::new(ValueTokens {
            open: open.into(),
            whole: whole.into(),
        });
        let bytes = 4 * tokens.open.len() + 8 * tokens.whole.len();
        if let Some(scalar) = scalar {
            self.tokens.scalars.keep_tokens(scalar, &tokens, bytes);
        }
        self.known.value_tokens.keep(shape, Some(tokens.clone()), bytes);
        Ok(Some(tokens))
    }

    /// Whether each rest may come behind a name; none where more counts than the shape of its value, or that is new.
    pub(super) fn alive_behind_name(&mut self, at: State) -> Result<Option<Arc<[bool]>>, Trouble> {
        let Some(value) = self.automaton.value_of_name(at)? else {
            return Ok(None);
        };
        let Some(shape) = self.automaton.value_shape(value)? else {
            return Ok(None);
        };
        let Some(rests) = self.value_rests(at, value, shape, Sight::First)? else {
            return Ok(None);
        };
        let mut alive = rests.open.to_vec();
        if !rests.whole.is_empty()
            && let Some(after) = self.automaton.after_shape(value)?
        {
            self.behind_values(after, &rests.whole, &mut alive)?;
        }
        for (rest, text) in &self.tokens.rests.odd {
            alive[*rest as usize] = self.is_alive(at, text)?;
        }
        Ok(Some(alive.into()))
    }

    /// Notes which rests with a whole value may come, by what they have behind it.
    fn behind_values(&mut self, after: State, whole: &[(u32, u32)], alive: &mut [bool]) -> Result<(), Trouble> {
        // Mostly they have no more than a comma, and all that may come there is more work to find.
        let nothing = &self.tokens.rests.nothing;
        let mut looked_at: Vec<(u32, bool)> = Vec::new();
        for &(rest, behind) in whole {
            let known = looked_at.iter().find(|(one, _)| *one == behind);
            alive[rest as usize] = match known {
                _ if nothing[behind as usize] => true,
                Some((_, may)) => *may,
                None if looked_at.len() == MOST_SINGLE => {
                    let all = self.alive(after)?;
                    for &(rest, behind) in whole {
                        alive[rest as usize] = all[behind as usize];
                    }
                    return Ok(());
                }
                None => {
                    let may = self.is_alive(after, &self.tokens.rests.texts[behind as usize])?;
                    looked_at.push((behind, may));
                    may
                }
            };
        }
        Ok(())
    }

    /// The same of rests behind a name.
    fn value_rests(
        &mut self,
        at: State,
        value: State,
        shape: ValueShape,
        sight: Sight,
    ) -> Result<Option<Arc<ValueRests>>, Trouble> {
        let known = self.known.value_rests.get(&shape);
        if let Some(Some(known)) = known {
            return Ok(Some(known));
        }
        let scalar = self.automaton.scalar_shape(shape);
        if let Some(known) = scalar.and_then(|scalar| self.tokens.scalars.rests(scalar)) {
            self.known.value_rests.keep(shape, Some(known.clone()), 0);
            return Ok(Some(known));
        }
        if scalar.is_none() && known.is_none() && sight == Sight::First {
            self.known.value_rests.keep(shape, None, 0);
            return Ok(None);
        }
        let mut open = self.walk_rests(at, None, None)?;
        let mut whole = Vec::new();
        for one in &self.tokens.rests.values {
            open[one.rest as usize] = false;
            if self.is_alive(value, &one.value)? {
                whole.push((one.rest, one.behind));
            }
        }
        let rests = Arc::new(ValueRests {
            open: open.into(),
            whole: whole.into(),
        });
        let bytes = rests.open.len() + 8 * rests.whole.len();
        if let Some(scalar) = scalar {
            self.tokens.scalars.keep_rests(scalar, &rests, bytes);
        }
        self.known.value_rests.keep(shape, Some(rests.clone()), bytes);
        Ok(Some(rests))
    }

    /// Whether some bytes may come at a place.
    pub(super) fn is_alive(&mut self, at: State, text: &[u8]) -> Result<bool, Trouble> {
        let mut at = at;
        for &byte in text {
            match self.automaton.step(at, byte)? {
                Some(next) => at = next,
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}
