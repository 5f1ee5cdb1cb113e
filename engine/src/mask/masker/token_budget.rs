//! Masks under a token budget, which keep a completion of the document within the tokens that are left.

use std::collections::HashMap;

use super::state_masker::{FreeText, MaskedText, StateMasker, Used};
use crate::{MaskError, Masker as _, TokenId, TokenMask};

/// Tokens to spare from which on no token's own end is looked for: a single token rarely makes so many others necessary.
const SPARE_TOKENS_WITHOUT_LOOK: usize = 1024;
/// Tokens to spare from which on no token's own end is looked for in states with more than [`MAX_TOKENS_LOOKED_AT_EARLY`], such as those
/// within a string, where tokens rarely move the end.
const SPARE_TOKENS_IN_LARGE_MASKS: usize = 64;
/// Number of allowed tokens up to which each one's end is looked for early: a look takes microseconds.
const MAX_TOKENS_LOOKED_AT_EARLY: usize = 256;

/// Ends that are looked for in one mask at most, and the bytes that they may have together, each of which is spelled. A token whose end would be
/// looked for beyond that is not known to lead to an end.
const MAX_LOOKS: usize = 512;
const MAX_BYTES_LOOKED_AT: usize = 1 << 20;
/// Tokens of a mask that are looked at at most: even a token that leads to a known state takes a microsecond.
const MAX_TOKENS_LOOKED_AT: usize = 4096;

/// Part of what is left of the schema's limits that the looks of one mask may use: what they find out takes memory that is not given back. Taken
/// of what is left, these parts never come to the limits, however many masks there are.
const PART_FOR_LOOKS: f64 = 1.0 / 2048.0;
/// Work that the looks of one mask may take, in units of about a microsecond: most looks take one unit or a few, those in arrays of many items that
/// have to differ take thousands.
const EFFORT_FOR_LOOKS: usize = 50_000;
/// Tokens looked at from one measurement of these to the next, where no ends are looked for.
const TOKENS_BETWEEN_MEASUREMENTS: usize = 16;

/// Tokens by which the end behind one token within free text may be further than that behind another: a character of which a part is written
/// takes up to twelve, and a key has to differ from those that were there.
const SPARE_TOKENS_WITHIN_TEXT: u32 = 16;

/// Tokens by which the shortest completion known may be too long where tokens are looked for all the same that end in time: a token may
/// stand for several of the completion's.
const MAX_TOKENS_OVER: usize = 4;

/// Plans that are kept: more than tokens are taken back at a time. As many states are looked back at for a completion that was begun.
const MAX_PLANS: usize = 64;

/// Tokens that are not known to lead to an end.
const NO_END: u32 = u32::MAX;

/// Ends that were looked for in one mask: the length of the completion from each state, or [`NO_END`].
struct KnownEnds<K> {
    lengths: HashMap<K, u32>,
    /// Bytes of these completions.
    bytes: usize,
    /// Number of tokens that were looked at one by one.
    tokens: usize,
    /// The use of the schema's limits, and the work, up to which more ends are looked for.
    most: Used,
    /// Whether more has been used, so that nothing more is looked at.
    is_spent: bool,
}

impl<K> KnownEnds<K> {
    /// No ends, and room for those that may be looked for where so much has been used.
    fn new(used: Used) -> Self {
        Self {
            lengths: HashMap::new(),
            bytes: 0,
            tokens: 0,
            is_spent: false,
            most: Used {
                of_limits: used.of_limits + (1.0 - used.of_limits) * PART_FOR_LOOKS,
                effort: used.effort + EFFORT_FOR_LOOKS,
            },
        }
    }

    /// Whether more may be looked at where so much has been used.
    fn may_go_on(&mut self, used: Used) -> bool {
        self.is_spent |= used.of_limits > self.most.of_limits || used.effort > self.most.effort;
        !self.is_spent
    }
}

/// The lengths of the completions behind the tokens of a mask.
struct Looks {
    /// Length of the longest of them, or [`NO_END`].
    furthest: u32,
    /// The tokens that were looked at, each with the length of the completion behind it.
    lengths: Vec<(TokenId, u32)>,
}

/// The plans of a document under a limit on tokens, and the buffer of its masks.
#[derive(Clone, Debug)]
pub(super) struct TokenBudget {
    /// Completions that may be followed, each with the position at which it begins, by rising positions. The completion from a later position
    /// may be longer than the remainder of an earlier one.
    plans: Vec<(usize, Vec<TokenId>)>,
    /// The number of tokens up to which documents have left the completions from all earlier states, and the length of the whole
    /// document that was asked for.
    left: (usize, usize),
    mask: TokenMask,
    /// The number of tokens written, and the limit, for which the mask was worked out. Looks that were cut short are not taken up again where the
    /// mask is asked for twice.
    mask_of: Option<(usize, usize)>,
}

impl TokenBudget {
    /// Makes a budget without plans.
    pub(super) fn new() -> Self {
        Self {
            plans: Vec::new(),
            left: (0, 0),
            mask: TokenMask::none(0),
            mask_of: None,
        }
    }

    /// Drops the plans that begin beyond the first `written` tokens, when later tokens are taken back.
    pub(super) fn take_back(&mut self, written: usize) {
        self.plans.retain(|(start, _)| *start <= written);
        self.left = (0, 0);
        self.mask_of = None;
    }
}

impl<T: MaskedText> StateMasker<T> {
    /// Works out the mask of [`Masker::mask_within`](crate::Masker::mask_within). True where it is the
    /// [limited mask](Self::limited_mask), false where it is the one without a limit.
    pub(super) fn limit_mask(&mut self, tokens: usize) -> Result<bool, MaskError> {
        let asked = Some((self.position(), tokens));
        if self.budget.as_ref().is_some_and(|budget| budget.mask_of == asked) {
            return Ok(true);
        }
        if self.ended {
            return Ok(false);
        }
        let mut planned = self.planned().filter(|planned| planned.len() < tokens);
        let mut length = match &planned {
            Some(planned) => Some(planned.len()),
            None => within_limits(self.texts.completion_length(self.state()))?.map(|length| length.tokens),
        };
        if length.is_none_or(|length| length >= tokens)
            && let Some(begun) = self.begun_completion(tokens)?
        {
            (length, planned) = (Some(begun.len()), Some(begun));
        }
        // The end of sequence takes a token too. None are spared where the completion is a little too long: a token may stand for several of it.
        let spare = match length {
            Some(length) if length < tokens => Some(tokens - length - 1),
            Some(length) if length < tokens + MAX_TOKENS_OVER => None,
            _ => return Ok(false),
        };
        if spare.is_some_and(|spare| spare >= SPARE_TOKENS_WITHOUT_LOOK) {
            return Ok(false);
        }
        let mut allowed = self.whole_mask()?.clone();
        let fits = fits(tokens);
        let are_many = spare.is_some_and(|spare| spare >= SPARE_TOKENS_IN_LARGE_MASKS);
        if are_many && allowed.count() > MAX_TOKENS_LOOKED_AT_EARLY
            || self.texts.furthest().get(&T::key(self.state())).is_some_and(fits)
        {
            return Ok(false);
        }
        let looks = self.look(&allowed, fits)?;
        if fits(looks.furthest) {
            return Ok(false);
        }
        let plan = match planned {
            Some(planned) => planned,
            None if spare.is_none() => Vec::new(),
            None => {
                let Some(plan) = within_limits(self.texts.completion(self.state()))? else {
                    return Ok(false);
                };
                self.begin_plan(self.tokens.len(), plan.clone());
                plan
            }
        };
        for (token, length) in looks.lengths {
            if !fits(length) && plan.first() != Some(&token) {
                allowed.forbid(token);
            }
        }
        if allowed.allows_none() {
            return Ok(false);
        }
        let budget = self.budget_mut();
        (budget.mask, budget.mask_of) = (allowed, asked);
        Ok(true)
    }

    /// The mask that was last worked out under a limit.
    pub(super) fn limited_mask(&mut self) -> &TokenMask {
        &self.budget_mut().mask
    }

    /// Returns the remainder of the completion that is followed; none where the document has left all that were planned.
    fn planned(&self) -> Option<Vec<TokenId>> {
        let mut plans = self.budget.as_ref()?.plans.iter().rev();
        plans.find_map(|(start, plan)| {
            let rest = plan.strip_prefix(self.tokens.get(*start..)?)?;
            Some(rest.to_vec())
        })
    }

    /// Returns the remainder of a completion from one of the last states that the document has followed since and that ends in time, and plans
    /// it. What may be planned so does not depend on the states at which masks were asked for.
    fn begun_completion(&mut self, tokens: usize) -> Result<Option<Vec<TokenId>>, MaskError> {
        let (written, whole) = (self.tokens.len(), self.position() + tokens);
        let (from, of) = self.budget_mut().left;
        let from = if of == whole { from } else { 0 };
        for start in (from.max(written.saturating_sub(MAX_PLANS))..written).rev() {
            let plan = within_limits(self.texts.completion(self.state_behind(start)))?;
            let Some(plan) = plan.filter(|plan| start + plan.len() < whole) else {
                continue;
            };
            if let Some(rest) = plan.strip_prefix(&self.tokens[start..]) {
                let rest = rest.to_vec();
                self.begin_plan(start, plan);
                return Ok(Some(rest));
            }
        }
        self.budget_mut().left = (written, whole);
        Ok(None)
    }

    fn begin_plan(&mut self, start: usize, plan: Vec<TokenId>) {
        let budget = self.budget_mut();
        // Plans that begin there or later were left, or do not end in time.
        budget.plans.retain(|(other, _)| *other < start);
        if budget.plans.len() == MAX_PLANS {
            budget.plans.remove(0);
        }
        budget.plans.push((start, plan));
    }

    /// Looks for the ends behind the tokens `allowed`. Of tokens within free text, and of tokens of one class of texts, only one is looked at.
    fn look(&self, allowed: &TokenMask, fits: impl Fn(u32) -> bool) -> Result<Looks, MaskError> {
        let mut known = KnownEnds::new(self.texts.used());
        let mut looks = Looks {
            furthest: 0,
            lengths: Vec::new(),
        };
        let mut alike = TokenMask::none(allowed.len());
        if let Some(FreeText { apart, is_exact }) = within_limits(self.texts.free_text(self.state()))? {
            let sets = self.texts.sets();
            let among = |set: &[u32]| {
                let words: Vec<u32> = allowed
                    .words()
                    .iter()
                    .zip(set)
                    .map(|(one, other)| one & other)
                    .collect();
                let mut among = TokenMask::from_words(&words, allowed.len());
                among.forbid_all(&apart);
                among
            };
            let whole = among(&sets.whole);
            let one = whole.iter().next();
            if let Some(one) = one {
                let length = self.length_after(one, &mut known)?;
                let furthest = length.saturating_add(SPARE_TOKENS_WITHIN_TEXT);
                if fits(furthest) {
                    (looks.furthest, alike) = (furthest, among(&sets.any));
                } else if is_exact {
                    (looks.furthest, alike) = (length, whole);
                }
                if !fits(looks.furthest) {
                    looks.lengths.extend(alike.iter().map(|token| (token, length)));
                }
            }
        }
        let mut tokens = Vec::new();
        for token in allowed.iter() {
            if !alike.allows(token) && !self.ends_here(token)? {
                tokens.push(token);
            }
        }
        let looked_at = &tokens[..tokens.len().min(MAX_TOKENS_LOOKED_AT)];
        let classes = within_limits(self.texts.text_classes(self.state(), looked_at))?.unwrap_or_default();
        let mut of_classes: HashMap<u32, u32> = HashMap::new();
        for (place, &token) in looked_at.iter().enumerate() {
            let class = classes.get(place).copied().flatten();
            let length = match class.and_then(|class| of_classes.get(&class)) {
                Some(length) => *length,
                None => self.length_after(token, &mut known)?,
            };
            if let Some(class) = class {
                of_classes.insert(class, length);
            }
            looks.lengths.push((token, length));
        }
        looks
            .lengths
            .extend(tokens[looked_at.len()..].iter().map(|token| (*token, NO_END)));
        for (_, length) in &looks.lengths {
            looks.furthest = looks.furthest.max(*length);
        }
        if looks.furthest != NO_END {
            self.texts.furthest().keep(T::key(self.state()), looks.furthest, 0);
        }
        Ok(looks)
    }

    /// Whether a token that is allowed ends the text. An end of sequence may stand for itself instead.
    fn ends_here(&self, token: TokenId) -> Result<bool, MaskError> {
        let is_end = self.texts.vocabulary().is_eos(token);
        Ok(is_end && self.texts.after_special(self.state(), token)?.is_none())
    }

    /// The length of the completion behind a token; [`NO_END`] where there is none, or where it is not looked for any more.
    fn length_after(&self, token: TokenId, known: &mut KnownEnds<T::Key>) -> Result<u32, MaskError> {
        known.tokens += 1;
        let is_due = known.tokens.is_multiple_of(TOKENS_BETWEEN_MEASUREMENTS);
        if known.is_spent || is_due && !known.may_go_on(self.texts.used()) {
            return Ok(NO_END);
        }
        let Some(next) = within_limits(self.after(self.state(), token, false))? else {
            return Ok(NO_END);
        };
        let key = T::key(&next);
        if let Some(length) = known.lengths.get(&key) {
            return Ok(*length);
        }
        let has_room = known.lengths.len() < MAX_LOOKS && known.bytes < MAX_BYTES_LOOKED_AT;
        if !has_room || !known.may_go_on(self.texts.used()) {
            return Ok(NO_END);
        }
        let found = within_limits(self.texts.completion_length(&next))?;
        known.bytes += found.map_or(0, |length| length.bytes);
        let length = found.map_or(NO_END, |length| length.tokens as u32);
        known.lengths.insert(key, length);
        Ok(length)
    }
}

/// Returns whether a token fits behind which a completion of some length follows, where so many tokens are left. The end of sequence takes a
/// token, as the token that is looked at does.
fn fits(tokens: usize) -> impl Fn(u32) -> bool + Copy {
    move |length| length != NO_END && length as usize + 2 <= tokens
}

/// A result of a look, or none where the look came to a limit: a mask that can be given without it is given.
fn within_limits<V>(result: Result<Option<V>, MaskError>) -> Result<Option<V>, MaskError> {
    match result {
        Err(MaskError::LimitExceeded(_)) => Ok(None),
        result => result,
    }
}
