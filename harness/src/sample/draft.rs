//! [`Draft`]: a document that is being written, token by token.

use std::collections::{BTreeSet, VecDeque};
use std::time::Instant;

use maskwright::{Masker, TokenId};
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use super::guide::Guide;
use super::layout::way_to;
use super::position::{Next, Position};
use super::settings::{OptionalMembers, SampleError, SampleSettings};
use super::tokens::{END, Tokens, weight_in_text};

/// Probability of a step that chooses among all allowed bytes instead of the usual ones.
const UNUSUAL: f64 = 1.0 / 100.0;
/// Containers inside one another from which on optional members and items are rare, so that recursive schemas make small
/// documents.
const DEEP: usize = 4;
/// Containers inside one another beyond which even `OptionalMembers::All` writes none.
pub(super) const TOO_DEEP: usize = 7;
/// Bytes of a number after which it is brought to an end.
const LONG_NUMBER: usize = 8;
/// Number of usual numbers tried at one position.
const MAX_NUMBERS_TRIED: usize = 8;

/// A document that is being written.
pub(super) struct Draft<'w> {
    schema: &'w Value,
    pub(super) tokens: &'w Tokens,
    pub(super) settings: &'w SampleSettings,
    pub(super) random: ChaCha8Rng,
    pub(super) masker: Box<dyn Masker>,
    pub(super) position: Position,
    text: Vec<u8>,
    /// The guides of the open containers, and behind them of the value that is being written.
    guides: Vec<Guide<'w>>,
    /// The optional members that chance left out of each open container.
    declined: Vec<BTreeSet<TokenId>>,
    /// Tokens that are written next.
    pub(super) planned: VecDeque<TokenId>,
    /// Whether the planned tokens end the document.
    is_ending: bool,
    /// Words that the string should still get; none where it is written byte by byte.
    pub(super) words: Option<usize>,
    /// Whether the style fixes the whitespace of each place.
    pub(super) has_layout: bool,
}

impl<'w> Draft<'w> {
    /// An empty document.
    pub(super) fn new(
        (schema, guide): (&'w Value, Guide<'w>),
        tokens: &'w Tokens,
        masker: Box<dyn Masker>,
        settings: &'w SampleSettings,
        (seed, has_layout): (u64, bool),
    ) -> Self {
        Self {
            schema,
            tokens,
            settings,
            random: ChaCha8Rng::seed_from_u64(seed),
            masker,
            position: Position::start(),
            text: Vec::new(),
            guides: vec![guide],
            declined: Vec::new(),
            planned: VecDeque::new(),
            is_ending: false,
            words: None,
            has_layout,
        }
    }

    /// Writes the document to its end.
    pub(super) fn write(mut self) -> Result<String, SampleError> {
        if self.length_to_end()? > self.settings.max_bytes {
            return Err(SampleError::TooLong);
        }
        let begun = Instant::now();
        while !self.is_done()? {
            if begun.elapsed() > self.settings.time_limit {
                return Err(SampleError::TimeLimit);
            }
            self.step()?;
        }
        Ok(String::from_utf8_lossy(&self.text).into_owned())
    }

    fn is_done(&mut self) -> Result<bool, SampleError> {
        let is_whole = self.position.open.is_empty() && self.planned.is_empty() && !self.text.is_empty();
        let may_end = matches!(self.position.next, Next::After | Next::Number);
        Ok(is_whole && may_end && self.masker.is_complete()?)
    }

    /// Writes the next token, or tokens that end the document where it would become too long after that token.
    fn step(&mut self) -> Result<(), SampleError> {
        let token = match self.planned.pop_front() {
            Some(token) => token,
            None => self.choose()?,
        };
        self.masker.advance(token)?;
        let tokens = self.tokens;
        let bytes = tokens.vocabulary.token_bytes(token);
        let left = self.settings.max_bytes.saturating_sub(self.text.len() + bytes.len());
        let may_need_more = bytes.iter().any(|byte| b"\"[{,".contains(byte)) || left < self.settings.max_bytes / 2;
        if !self.is_ending && may_need_more && self.length_to_end()? > left {
            self.masker.rollback(1)?;
            let mut ending = Vec::new();
            self.masker.completion(&mut ending)?;
            if ending.is_empty() || self.text.len() + self.bytes_of(&ending) > self.settings.max_bytes {
                return Err(SampleError::TooLong);
            }
            self.planned = ending.into();
            self.is_ending = true;
            return Ok(());
        }
        for &byte in bytes {
            let before = self.position.next;
            self.position.read(byte);
            self.follow(before, byte);
        }
        self.text.extend_from_slice(bytes);
        Ok(())
    }

    /// Bytes that end the document from here; 0 where that is not known.
    fn length_to_end(&mut self) -> Result<usize, SampleError> {
        Ok(self.masker.completion_bytes()?.unwrap_or(0))
    }

    fn bytes_of(&self, tokens: &[TokenId]) -> usize {
        let vocabulary = &self.tokens.vocabulary;
        tokens.iter().map(|token| vocabulary.token_bytes(*token).len()).sum()
    }

    /// Keeps the guides in step with the position.
    fn follow(&mut self, before: Next, byte: u8) {
        let (next, open) = (self.position.next, self.position.open.len());
        if matches!(next, Next::Text { .. }) && !matches!(before, Next::Text { .. }) {
            self.words = None;
        }
        if before == Next::Colon && next == Next::Value {
            let name = [b"\"", &self.position.text[..], b"\""].concat();
            let name: String = serde_json::from_slice(&name).unwrap_or_default();
            self.guides.truncate(open);
            let around = self.guides.last().cloned().unwrap_or_default();
            self.guides.push(around.member(self.schema, &name));
        } else if next == Next::After || byte == b',' && !matches!(next, Next::Text { .. }) {
            self.guides.truncate(open);
        }
        while self.guides.len() < open {
            self.guides.push(Guide::default());
        }
        self.declined.resize_with(open, BTreeSet::new);
    }

    /// The guide of the value that begins, or is being written.
    pub(super) fn guide_of_value(&mut self) -> Guide<'w> {
        let open = self.position.open.len();
        if self.guides.len() <= open {
            let at = self.position.open.last().map_or(0, |open| open.count.saturating_sub(1));
            let around = self.guides.last().cloned().unwrap_or_default();
            self.guides.push(around.item(self.schema, at));
        }
        self.guides[open].clone()
    }

    /// The guide of the innermost open container.
    pub(super) fn guide_of_container(&self) -> Guide<'w> {
        let open = self.position.open.len();
        open.checked_sub(1)
            .and_then(|at| self.guides.get(at))
            .cloned()
            .unwrap_or_default()
    }

    pub(super) fn allows(&mut self, byte: u8) -> Result<bool, SampleError> {
        Ok(self.masker.mask()?.allows(byte.into()))
    }

    /// The tokens among some that the mask allows.
    pub(super) fn allowed(&mut self, tokens: impl IntoIterator<Item = TokenId>) -> Result<Vec<TokenId>, SampleError> {
        let mask = self.masker.mask()?;
        Ok(tokens.into_iter().filter(|token| mask.allows(*token)).collect())
    }

    pub(super) fn happens(&mut self, probability: f64) -> bool {
        self.random.random_bool(probability.clamp(0.0, 1.0))
    }

    fn choose(&mut self) -> Result<TokenId, SampleError> {
        let is_in_words = matches!(self.position.next, Next::Text { .. }) && self.words.is_some();
        if !is_in_words && self.happens(UNUSUAL) {
            return self.any_byte(|byte| weight_in_text(byte).max(0.02));
        }
        if let Some(token) = self.whitespace()? {
            return Ok(token);
        }
        let is_in_object = self.position.open.last().is_some_and(|open| open.is_object);
        match self.position.next {
            Next::Value => self.value(),
            Next::ItemOrEnd => {
                let is_empty = if self.position.open.len() > DEEP { 0.8 } else { 0.1 };
                match self.allows(b']')? && self.happens(is_empty) {
                    true => Ok(b']'.into()),
                    false => self.value(),
                }
            }
            Next::MemberOrEnd => self.member_or_end(),
            Next::After if is_in_object => self.member_or_end(),
            Next::After => self.item_or_end(),
            Next::Number => self.number(is_in_object),
            Next::Member => self.byte_or_any(b'"'),
            Next::Text { .. } if self.position.escaped => self.any_byte(weight_in_text),
            Next::Text { is_name } => self.string(is_name),
            Next::Colon => self.byte_or_any(b':'),
            Next::Literal => self.any_byte(weight_in_text),
        }
    }

    /// A byte where it is allowed, and any other otherwise.
    fn byte_or_any(&mut self, byte: u8) -> Result<TokenId, SampleError> {
        match self.allows(byte)? {
            true => Ok(byte.into()),
            false => self.any_byte(weight_in_text),
        }
    }

    /// Any byte that is allowed, or the end.
    pub(super) fn any_byte(&mut self, weight: impl Fn(u8) -> f64) -> Result<TokenId, SampleError> {
        let allowed: Vec<u8> = {
            let mask = self.masker.mask()?;
            (0..=u8::MAX).filter(|byte| mask.allows((*byte).into())).collect()
        };
        let byte = allowed.choose_weighted(&mut self.random, |byte| weight(*byte));
        Ok(byte.map_or(END, |byte| (*byte).into()))
    }

    /// A space or line break, where the style has some.
    fn whitespace(&mut self) -> Result<Option<TokenId>, SampleError> {
        let is_in_array = self.position.open.last().is_some_and(|open| !open.is_object);
        let may_break = match self.position.next {
            Next::Member | Next::MemberOrEnd | Next::ItemOrEnd => true,
            Next::Value => is_in_array,
            _ => return Ok(None),
        };
        let (indentation, depth) = (self.position.indentation, self.position.open.len());
        let byte = match (indentation, self.text.last().copied()) {
            (Some(spaces), _) if spaces < 2 * depth => b' ',
            (Some(_), _) | (None, Some(b' ') | None) => return Ok(None),
            _ if self.happens(0.7) => return Ok(None),
            _ if may_break && self.happens(0.5) => b'\n',
            _ => b' ',
        };
        Ok(self.allows(byte)?.then_some(byte.into()))
    }

    /// The beginning of a value.
    fn value(&mut self) -> Result<TokenId, SampleError> {
        if let Some(space) = self.whitespace_of_layout()? {
            return Ok(space);
        }
        self.guide_of_value();
        let scale = if self.position.open.len() > DEEP { 0.05 } else { 1.0 };
        let numbers = self.allowed(self.tokens.numbers.iter().copied())?;
        let mut kinds: Vec<(Option<u8>, f64)> = vec![(None, if numbers.is_empty() { 0.0 } else { 4.0 })];
        let bytes = [
            (b'"', 6.0),
            (b't', 1.0),
            (b'f', 1.0),
            (b'n', 0.6),
            (b'{', 3.0 * scale),
            (b'[', 3.0 * scale),
        ];
        for (byte, weight) in bytes {
            if self.allows(byte)? {
                kinds.push((Some(byte), weight));
            }
        }
        match kinds.choose_weighted(&mut self.random, |(_, weight)| *weight) {
            Ok((Some(byte), _)) => Ok((*byte).into()),
            Ok((None, _)) => self.usual_number(&numbers),
            Err(_) => self.any_byte(|byte| if byte.is_ascii_digit() { 5.0 } else { 1.0 }),
        }
    }

    /// Returns a random one of `numbers` after which no further digit is needed, or, where a random choice of them has none, any number of that
    /// choice.
    fn usual_number(&mut self, numbers: &[TokenId]) -> Result<TokenId, SampleError> {
        let some: Vec<TokenId> = numbers
            .choose_multiple(&mut self.random, MAX_NUMBERS_TRIED)
            .copied()
            .collect();
        for &number in &some {
            let mut ahead = self.masker.fork()?;
            ahead.advance(number)?;
            let mask = ahead.mask()?;
            if b",}] \n\r".iter().any(|end| mask.allows((*end).into())) || mask.allows(END) {
                return Ok(number);
            }
        }
        Ok(some.first().copied().unwrap_or(END))
    }

    /// Chooses the next byte of a number, or the byte after it.
    fn number(&mut self, is_in_object: bool) -> Result<TokenId, SampleError> {
        let end = if is_in_object { b'}' } else { b']' };
        if self.way_to(b',')?.is_some() || self.way_to(end)?.is_some() {
            return if is_in_object {
                self.member_or_end()
            } else {
                self.item_or_end()
            };
        }
        if self.position.text.len() >= LONG_NUMBER && self.plan_to_end_of_scalar()? {
            return Ok(self.planned.pop_front().unwrap_or(END));
        }
        self.any_byte(|byte| if byte.is_ascii_digit() { 1.0 } else { 0.2 })
    }

    /// Plans the end of a string, name or number as the masker would end it. Returns whether there is a plan.
    pub(super) fn plan_to_end_of_scalar(&mut self) -> Result<bool, SampleError> {
        let mut ending = Vec::new();
        self.masker.completion(&mut ending)?;
        let mut position = self.position.clone();
        for token in ending {
            for &byte in self.tokens.vocabulary.token_bytes(token) {
                position.read(byte);
            }
            let is_over = position.next != self.position.next;
            if is_over && self.position.next == Next::Number {
                break;
            }
            self.planned.push_back(token);
            if is_over {
                break;
            }
        }
        Ok(!self.planned.is_empty())
    }

    /// The comma after an item, or the end of its array.
    fn item_or_end(&mut self) -> Result<TokenId, SampleError> {
        let count = self.position.open.last().map_or(0, |open| open.count);
        let goes_on = match count {
            _ if self.position.open.len() > DEEP => 0.05,
            ..=1 => 0.6,
            2 => 0.4,
            _ => 0.05,
        };
        match (self.way_to(b',')?, self.way_to(b']')?) {
            (Some(on), Some(_)) if self.happens(goes_on) => Ok(self.plan(on)),
            (Some(on), None) => Ok(self.plan(on)),
            (_, Some(end)) => Ok(self.plan(end)),
            (None, None) => self.byte_or_any(b']'),
        }
    }

    /// Plans tokens, and returns the first.
    fn plan(&mut self, tokens: impl IntoIterator<Item = TokenId>) -> TokenId {
        self.planned.extend(tokens);
        self.planned.pop_front().unwrap_or(END)
    }

    /// The next member of an object, or its end.
    fn member_or_end(&mut self) -> Result<TokenId, SampleError> {
        let is_first = self.position.next == Next::MemberOrEnd;
        let separator = if is_first { b'"' } else { b',' };
        let (mut on, end) = match (self.way_to(separator)?, self.way_to(b'}')?) {
            (Some(on), Some(end)) => (on, end),
            (Some(way), None) | (None, Some(way)) => return Ok(self.plan(way)),
            (None, None) => return self.byte_or_any(b'}'),
        };
        if self.settings.optional == OptionalMembers::None {
            return Ok(self.plan(end));
        }
        let mut ahead = self.masker.fork()?;
        for &token in &on {
            ahead.advance(token)?;
        }
        if !is_first {
            let Some(quote) = way_to(&mut *ahead, b'"', self.has_layout)? else {
                return Ok(self.plan(end));
            };
            for &token in &quote {
                ahead.advance(token)?;
            }
            on.extend(quote);
        }
        let declared = self.guide_of_container().names();
        let mask = ahead.mask()?;
        let known = declared.iter().filter_map(|name| self.tokens.whole(name));
        let names: Vec<TokenId> = known.filter(|token| mask.allows(*token)).collect();
        let takes_any = mask.allows(self.tokens.any_letters);
        let depth = self.position.open.len();
        let name = match (self.settings.optional, &names[..]) {
            (OptionalMembers::All, [first, ..]) if depth <= TOO_DEEP => Some(*first),
            _ => self.by_chance(&names),
        };
        let count = self.position.open.last().map_or(0, |open| open.count);
        let is_free = takes_any
            && match (declared.is_empty(), count) {
                (false, _) => self.happens(0.02),
                _ if depth > DEEP => self.happens(0.1),
                (true, 0) => self.happens(0.9),
                (true, 1 | 2) => self.happens(0.5),
                (true, _) => self.happens(0.05),
            };
        if name.is_none() && !is_free {
            return Ok(self.plan(end));
        }
        Ok(self.plan(on.into_iter().chain(name)))
    }

    /// Returns the first of some optional members that chance chooses; chance decides once about each member of a container.
    pub(super) fn by_chance(&mut self, names: &[TokenId]) -> Option<TokenId> {
        let depth = self.position.open.len();
        let probability = match depth {
            DEEP => 0.3,
            _ if depth < DEEP => 0.65,
            _ if depth <= TOO_DEEP => 0.1,
            _ => 0.01,
        };
        let mut none = BTreeSet::new();
        let declined = self.declined.last_mut().unwrap_or(&mut none);
        for &name in names {
            if !declined.contains(&name) {
                if self.random.random_bool(probability) {
                    return Some(name);
                }
                declined.insert(name);
            }
        }
        None
    }
}
