//! Tokens that begin a value, and rests behind a name: where only the shape of the value counts they are worked out once
//! per shape, and but for what they have behind the value.

use std::sync::{Arc, Mutex};

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError, CommonShape, NextMembers, State, ValueShape};

use crate::mask::cache::bounded::{BoundedCache, lock};
use crate::mask::cache::token_set::{Base, TokenSet};
use crate::mask::index::contents::{Words, bit, set};
use crate::mask::index::suffix_set::SuffixSet;
use crate::mask::index::token_suffixes::TokenSuffixes;
use crate::mask::index::trie::ROOT;
use crate::mask::structure::Walk;

/// Tokens that begin a value and stay in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenTokens {
    tokens: Arc<[TokenId]>,
    /// They, and those that are whitespace only, where they are many: as a base of sets.
    words: Option<Words>,
}

impl OpenTokens {
    fn new(tokens: Vec<TokenId>, is_shared: bool, spaces: &[u32]) -> Self {
        let words = (is_shared && tokens.len() >= MANY).then(|| {
            let mut words = spaces.to_vec();
            for &token in &tokens {
                set(&mut words, token);
            }
            words.into()
        });
        let tokens = tokens.into();
        Self { tokens, words }
    }

    fn bytes(&self) -> usize {
        4 * (self.tokens.len() + self.words.as_ref().map_or(0, |words| words.len()))
    }

    /// They, and those that are whitespace only.
    pub(crate) fn and_spaces(&self) -> TokenSet {
        match &self.words {
            Some(words) => TokenSet::over(Base::Kept(words.clone())),
            None => TokenSet::over(Base::Spaces).and(self.tokens.clone()),
        }
    }

    /// They, beside others.
    pub(crate) fn beside(&self, others: TokenSet) -> TokenSet {
        others.and(self.tokens.clone())
    }
}

/// Tokens from which on those that begin values of many schemas are kept as a set of bits as well.
const MANY: usize = 200;

/// Tokens that may begin a value of a shape.
#[derive(Debug)]
pub(crate) struct ValueTokens {
    open: OpenTokens,
    /// Those that end it, with what they have behind it.
    whole: Box<[(u32, TokenId)]>,
}

/// TokenSuffixes that may come behind a name, before and with a value of a shape.
#[derive(Debug)]
pub(crate) struct ValueSuffixes {
    /// Whether each may come as far as it ends within the value.
    open: SuffixSet,
    /// Those that end it, with what they have behind it.
    whole: Box<[(u32, u32)]>,
    /// They as far as they have nothing behind the value, and all, with those that end within it.
    last: SuffixSet,
    all: SuffixSet,
}

impl ValueSuffixes {
    /// Whether each may come where the object goes on like that behind the value; none where that does not say it.
    fn before(&self, others: NextMembers, rests: &TokenSuffixes) -> Option<&SuffixSet> {
        let is_known = rests.odd.is_empty() && rests.end_in_comma;
        match others {
            NextMembers::None => is_known.then_some(&self.last),
            NextMembers::Some => (is_known && rests.end_before_name).then_some(&self.all),
            NextMembers::OfAnyName => is_known.then_some(&self.all),
        }
    }
}

/// What is known of values in all schemas of a vocabulary, where that is the same.
#[derive(Debug)]
pub(crate) struct CommonShapes<T>(Mutex<BoundedCache<CommonShape, Arc<T>>>);

/// Memory for what all schemas know, of tokens and of rests each.
const COMMON_BYTES: usize = 2 << 20;

impl<T> Default for CommonShapes<T> {
    fn default() -> Self {
        Self(Mutex::new(BoundedCache::new(COMMON_BYTES)))
    }
}

/// What is known of values in one schema.
pub(crate) type Shapes<T> = BoundedCache<ValueShape, Arc<T>>;

/// What is known of a shape; what it is known by in other schemas, where that is nothing and it is common.
fn known<T>(
    automaton: &mut Automaton,
    (shapes, everywhere): (&mut Shapes<T>, &CommonShapes<T>),
    shape: ValueShape,
) -> Result<Arc<T>, Option<CommonShape>> {
    if let Some(known) = shapes.get(&shape) {
        return Ok(known);
    }
    let common = automaton.common_shape(shape);
    let Some(known) = common.and_then(|common| lock(&everywhere.0).get(&common)) else {
        return Err(common);
    };
    shapes.keep(shape, known.clone(), 0);
    Ok(known)
}

/// Keeps what was found out about a shape, for all schemas if it is common.
fn keep<T>(
    (shapes, everywhere): (&mut Shapes<T>, &CommonShapes<T>),
    (shape, common): (ValueShape, Option<CommonShape>),
    found: &Arc<T>,
    bytes: usize,
) {
    if let Some(common) = common {
        lock(&everywhere.0).keep(common, found.clone(), bytes);
    }
    shapes.keep(shape, found.clone(), bytes);
}

impl Walk<'_> {
    /// Works out what begins values of the shape that a place behind a name is before; false where that is done, or more
    /// counts than the shape.
    pub(crate) fn value_ahead(&mut self, name: Option<State>, value: State) -> Result<bool, AutomatonError> {
        let Some(shape) = self.automaton.value_shape(value)? else {
            return Ok(false);
        };
        if let Some(name) = name
            && self.known.value_rests.get(&shape).is_none()
        {
            self.value_rests(name, value, shape)?;
        }
        let is_new = self.known.value_tokens.get(&shape).is_none();
        if is_new {
            self.value_tokens(value, shape)?;
        }
        Ok(is_new)
    }

    /// The tokens that may come before a value, those that are whitespace only or numbers only left out: those that are
    /// shared by all places before such a value, and others.
    pub(crate) fn value(&mut self, at: State, found: &mut Vec<TokenId>) -> Result<OpenTokens, AutomatonError> {
        let Some(shape) = self.automaton.value_shape(at)? else {
            self.between(at, found)?;
            return Ok(OpenTokens::default());
        };
        let tokens = self.value_tokens(at, shape)?;
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

    /// The tokens that may begin a value of a shape.
    fn value_tokens(&mut self, at: State, shape: ValueShape) -> Result<Arc<ValueTokens>, AutomatonError> {
        let kept = (&mut self.known.value_tokens, &self.tokens.common_tokens);
        let common = match known(self.automaton, kept, shape) {
            Ok(known) => return Ok(known),
            Err(common) => common,
        };
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
            open: OpenTokens::new(open, common.is_some(), &self.tokens.sets.spaces),
            whole: whole.into(),
        });
        let bytes = tokens.open.bytes() + 8 * tokens.whole.len();
        let kept = (&mut self.known.value_tokens, &self.tokens.common_tokens);
        keep(kept, (shape, common), &tokens, bytes);
        Ok(tokens)
    }

    /// Whether each rest may come behind a name that an object lists.
    pub(crate) fn alive_behind_listed(&mut self, at: State) -> Result<SuffixSet, AutomatonError> {
        // Mostly what is behind it is seen without the places that it leads to.
        if let Some((shape, others)) = self.automaton.member_behind(at)?
            && let Ok(rests) = self.known_rests(shape)
            && let Some(alive) = rests.before(others, &self.tokens.rests)
        {
            return Ok(alive.clone());
        }
        self.alive(at)
    }

    /// Whether each rest may come behind a name; none where more counts than the shape of its value.
    pub(crate) fn alive_behind_name(&mut self, at: State) -> Result<Option<SuffixSet>, AutomatonError> {
        let Some(value) = self.automaton.value_of_name(at)? else {
            return Ok(None);
        };
        let Some(shape) = self.automaton.value_shape(value)? else {
            return Ok(None);
        };
        let rests = self.value_rests(at, value, shape)?;
        if let Some(others) = self.automaton.others_behind(at)?
            && let Some(alive) = rests.before(others, &self.tokens.rests)
        {
            return Ok(Some(alive.clone()));
        }
        let mut alive = rests.open.clone();
        if !rests.whole.is_empty()
            && let Some(after) = self.automaton.after_shape(value)?
        {
            let behind = self.alive(after)?;
            for &(rest, end) in &rests.whole {
                alive.put(rest as usize, behind[end as usize]);
            }
        }
        for (rest, text) in &self.tokens.rests.odd {
            alive.put(*rest as usize, self.is_alive(at, text)?);
        }
        Ok(Some(alive))
    }

    /// The same of rests behind a name.
    fn value_rests(
        &mut self,
        at: State,
        value: State,
        shape: ValueShape,
    ) -> Result<Arc<ValueSuffixes>, AutomatonError> {
        let common = match self.known_rests(shape) {
            Ok(known) => return Ok(known),
            Err(common) => common,
        };
        let mut open = self.walk_rests(at, None, None)?;
        let mut whole = Vec::new();
        for one in &self.tokens.rests.values {
            open.put(one.rest as usize, false);
            if self.is_alive(value, &one.value)? {
                whole.push((one.rest, one.behind));
            }
        }
        let (mut last, mut all) = (open.clone(), open.clone());
        for &(rest, behind) in &whole {
            last.put(rest as usize, self.tokens.rests.nothing[behind as usize]);
            all.put(rest as usize, true);
        }
        let whole = whole.into();
        let rests = Arc::new(ValueSuffixes { open, whole, last, all });
        let bytes = 3 * rests.open.bytes() + 8 * rests.whole.len();
        let kept = (&mut self.known.value_rests, &self.tokens.common_rests);
        keep(kept, (shape, common), &rests, bytes);
        Ok(rests)
    }

    /// What is known of rests behind a name and before a value of a shape, or what that is known by.
    fn known_rests(&mut self, shape: ValueShape) -> Result<Arc<ValueSuffixes>, Option<CommonShape>> {
        let kept = (&mut self.known.value_rests, &self.tokens.common_rests);
        known(self.automaton, kept, shape)
    }

    /// Whether some bytes may come at a place.
    pub(crate) fn is_alive(&mut self, at: State, text: &[u8]) -> Result<bool, AutomatonError> {
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
