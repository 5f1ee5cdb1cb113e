//! The style's bounds where the schema sets none ([`WritingBounds`]).
//!
//! A count in each state would make a state, and a mask, of every item and every character. So the characters and items of a
//! document are counted beside its state, in [`Written`], as long as the bound is far. Near the bound the state is replaced by
//! one that has it: [`bound`](Automaton::bound) turns a string's language into that of its texts that end in time, and lets an
//! array count its last items itself. That happens between tokens, and soon enough that no token passes the bound.
//!
//! A bound so small that it is always near is a part of the state from the beginning. Members of objects need no
//! counting, because their names are remembered anyway, and the depth of free values is a part of their assertion
//! ([`Assertion::Free`](crate::automaton::formula::Assertion::Free)).

use crate::WritingBounds;
use crate::automaton::decode::DecodeState;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{FormulaId, TextId};
use crate::automaton::search::NextKeys;
use crate::automaton::step::{Automaton, Container, Cursor, Frame, OpenId, StackId, State};
use crate::strings::{Cardinality, LanguageId};

/// Characters before the bound of a string or name from which on its state has the bound, unless tokens are longer.
const NEAR_CHARACTERS: u32 = 256;

/// Items before the bound of an array from which on its state counts them, unless tokens are longer.
const NEAR_ITEMS: u32 = 64;

/// Number of members left before the bound of an object at which the object counts as nearly full, so that its states are told apart.
const NEAR_MEMBERS: u32 = 64;

/// Number of levels of nesting whose items are counted.
const COUNTED_LEVELS: usize = 12;

/// Number of items that may still come in an array that does not count them itself.
pub(in crate::automaton::step) const UNCOUNTED: u32 = u32::MAX;

/// The state of a document, with the sizes of open strings and containers that are not a part of the state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenState {
    pub(crate) state: State,
    pub(crate) written: Written,
}

/// The sizes of the strings and arrays that are open in a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    /// Number of open containers.
    depth: u32,
    /// Number of commas in each open container.
    commas: [u32; COUNTED_LEVELS],
    text: TextPlace,
    /// Characters of the string or name that is open.
    characters: u32,
    /// The least numbers of commas, and of characters of a string and of a name, that are near a bound.
    near_commas: u32,
    near_string: u32,
    near_name: u32,
    /// Whether an array has come near its bound since the last call of [`bound`](Automaton::bound).
    is_due: bool,
}

/// A place in the text of a string or name, or outside of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextPlace {
    Outside,
    Between,
    Escape,
    /// Within an escape of which so many bytes are left, those of the second half of a surrogate pair included.
    Hex(u8),
    /// Within an escape, behind its first hexadecimal digit, a D.
    AfterD,
}

impl Written {
    /// The sizes before a document whose longest token has so many bytes.
    pub(crate) fn new(bounds: &WritingBounds, longest_token: usize) -> Self {
        let longest = u32::try_from(longest_token).unwrap_or(u32::MAX);
        let near = |bound: Option<u32>, how_near: u32| {
            bound.map_or(u32::MAX, |bound| bound.saturating_sub(how_near.max(longest)))
        };
        Self {
            depth: 0,
            commas: [0; COUNTED_LEVELS],
            text: TextPlace::Outside,
            characters: 0,
            near_commas: near(bounds.array_items, NEAR_ITEMS),
            near_string: near(bounds.string_characters, NEAR_CHARACTERS),
            near_name: near(bounds.effective_name_characters(), NEAR_CHARACTERS),
            is_due: false,
        }
    }

    /// Closes so many containers.
    pub(crate) fn close(&mut self, containers: u32) {
        self.depth = self.depth.saturating_sub(containers);
    }

    /// Reads some more bytes of the document.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match self.text {
                TextPlace::Outside => self.read_outside(byte),
                TextPlace::Between => match byte {
                    b'"' => self.text = TextPlace::Outside,
                    b'\\' => self.text = TextPlace::Escape,
                    // The first byte of a character.
                    _ if byte & 0xC0 != 0x80 => self.count_character(),
                    _ => {}
                },
                TextPlace::Escape => {
                    self.text = match byte {
                        b'u' => TextPlace::Hex(4),
                        _ => TextPlace::Between,
                    };
                    self.count_character();
                }
                TextPlace::Hex(4) if matches!(byte, b'd' | b'D') => self.text = TextPlace::AfterD,
                // A high surrogate begins a pair, which is one character.
                TextPlace::AfterD => {
                    let is_high = matches!(byte, b'8' | b'9' | b'a' | b'b' | b'A' | b'B');
                    self.text = TextPlace::Hex(if is_high { 8 } else { 2 });
                }
                TextPlace::Hex(1) => self.text = TextPlace::Between,
                TextPlace::Hex(digits) => self.text = TextPlace::Hex(digits - 1),
            }
        }
    }

    fn read_outside(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.text = TextPlace::Between;
                self.characters = 0;
            }
            b'{' | b'[' => {
                if let Some(commas) = self.commas.get_mut(self.depth as usize) {
                    *commas = 0;
                }
                self.depth += 1;
                self.is_due |= self.near_commas == 0;
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b',' => {
                let level = self.depth.wrapping_sub(1) as usize;
                if let Some(commas) = self.commas.get_mut(level) {
                    *commas = commas.saturating_add(1);
                    self.is_due |= *commas >= self.near_commas;
                }
            }
            _ => {}
        }
    }

    fn count_character(&mut self) {
        // A text whose bound has been looked after has the greatest number, which stays.
        self.characters = self.characters.saturating_add(1);
    }
}

impl WrittenState {
    /// The state before a document whose longest token has so many bytes, in a style with these bounds.
    pub(crate) fn start(state: State, bounds: &WritingBounds, longest_token: usize) -> Self {
        let written = Written::new(bounds, longest_token);
        Self { state, written }
    }

    /// Whether a bound is near that is not a part of the state yet.
    pub(crate) fn is_due(&self) -> bool {
        self.written.is_due || self.is_text_due()
    }

    /// Whether the bound of a string or name is near and not a part of its state yet.
    fn is_text_due(&self) -> bool {
        let near = match self.state.cursor {
            Cursor::String(..) => self.written.near_string,
            Cursor::Key(..) => self.written.near_name,
            _ => return false,
        };
        self.written.characters >= near && self.written.characters != u32::MAX
    }
}

impl Automaton {
    /// The bounds of the style.
    pub(crate) fn bounds(&self) -> WritingBounds {
        self.search.algebra.style.bounds
    }

    /// Reads one more byte of a document; `false` if it may not come.
    pub(crate) fn read_bounded(&mut self, at: &mut WrittenState, byte: u8) -> Result<bool, AutomatonError> {
        let Some(next) = self.step(at.state, byte)? else {
            return Ok(false);
        };
        at.state = next;
        at.written.read(&[byte]);
        if at.is_due() {
            self.bound(at)?;
        }
        Ok(true)
    }

    /// Makes bounds that are near a part of the state. The new state can be completed, and a text that continues it continues the
    /// old state.
    pub(crate) fn bound(&mut self, at: &mut WrittenState) -> Result<(), AutomatonError> {
        if at.is_text_due() {
            self.bound_text(at)?;
        }
        if std::mem::take(&mut at.written.is_due)
            && let Some(bound) = self.bounds().array_items
        {
            let is_done = at.state.cursor == Cursor::ArrayNext;
            at.state.stack = self.with_counted_items(at.state.stack, &at.written, bound, is_done)?;
        }
        Ok(())
    }

    /// Leaves to a string or name the texts that end before its bound, if there are such.
    fn bound_text(&mut self, at: &mut WrittenState) -> Result<(), AutomatonError> {
        let (bounds, stack, written) = (self.bounds(), at.state.stack, at.written.characters);
        let left = |bound: Option<u32>, decode: DecodeState| {
            // A character that is begun has been counted, but for an escape of which only the backslash was read.
            let begun = !matches!(decode, DecodeState::Between | DecodeState::Escape);
            bound.map(|bound| u64::from(bound.saturating_sub(written)) + u64::from(begun))
        };
        let bounded = match at.state.cursor {
            Cursor::String(decode, language, open, text, expected) => {
                let Some(left) = left(bounds.string_characters, decode) else {
                    return Ok(());
                };
                // A text that is kept because of open verdicts stays unrestricted: any string may be needed.
                if text.is_some() && !self.keeps_values(stack) {
                    return Ok(());
                }
                let bounded = match self.is_endless(language) {
                    true => match self.ending_within(language, left, decode)? {
                        Some(bounded) if self.keeps_verdicts(language, bounded, open, decode)? => Some(bounded),
                        _ => None,
                    },
                    false => Some(language),
                };
                bounded.map(|language| Cursor::String(decode, language, open, text, expected))
            }
            Cursor::Key(decode, text, names) => {
                let bound = bounds.effective_name_characters();
                let Some((bound, left)) = bound.zip(left(bound, decode)) else {
                    return Ok(());
                };
                // Where values have to differ, the keys that an object must not have depend on its values. An object
                // that is full goes on only because some member is missing.
                let is_full = self.frame(stack).is_some_and(|frame| self.members_left(&frame) == 0);
                if is_full || self.keeps_values(stack) || self.is_begun_of_longer(text, bound, stack)? {
                    return Ok(());
                }
                let names = self.opened(names, stack)?;
                let is_listed = match names {
                    NextKeys::Listed(list) => !self.search.key_list(list).excludes,
                    NextKeys::Of(_) => true,
                    _ => false,
                };
                if is_listed {
                    return Ok(());
                }
                let language = self.remaining_key_language(at.state)?;
                let bounded = self.ending_within(language, left, decode)?;
                bounded.map(|language| Cursor::Key(decode, text, NextKeys::Language(language)))
            }
            _ => return Ok(()),
        };
        let state = bounded.map(|cursor| State { cursor, ..at.state });
        if let Some(state) = self.if_distinct(state)? {
            at.state = state;
            at.written.characters = u32::MAX;
        }
        Ok(())
    }

    /// Whether there is no longest text of a language, as far as that is found out within the limits.
    pub(in crate::automaton::step) fn is_endless(&mut self, language: LanguageId) -> bool {
        if language == self.languages().any() {
            return true;
        }
        match self.languages_mut().lengths(language) {
            Ok(Some(lengths)) => lengths.max() == Some(None),
            Ok(None) => matches!(self.languages_mut().cardinality(language, 2), Ok(Cardinality::Infinite)),
            Err(_) => false,
        }
    }

    /// The texts of a language of at most so many characters, of which the first may be partial; `None` if there are none, or
    /// none are found within the limits.
    fn ending_within(
        &mut self,
        language: LanguageId,
        characters: u64,
        decode: DecodeState,
    ) -> Result<Option<LanguageId>, AutomatonError> {
        let Ok(language) = self.bounded(language, (0, characters)) else {
            return Ok(None);
        };
        let has_texts = match decode {
            DecodeState::Between => matches!(self.languages_mut().is_empty(language), Ok(false)),
            begun => self.may_follow(begun, language)?,
        };
        Ok(has_texts.then_some(language))
    }

    /// Whether a bounded language has texts of each verdict that the whole language has texts of. Of several verdicts any
    /// combination may be needed, so that nothing is said of them.
    fn keeps_verdicts(
        &mut self,
        language: LanguageId,
        bounded: LanguageId,
        open: OpenId,
        decode: DecodeState,
    ) -> Result<bool, AutomatonError> {
        let open = self.open(open);
        let one = match open[..] {
            [] => return Ok(true),
            [one] if decode == DecodeState::Between => one,
            _ => return Ok(false),
        };
        let other = self.languages_mut().not(one)?;
        for verdict in [one, other] {
            let whole = self.languages_mut().and(&[language, verdict])?;
            let near = self.languages_mut().and(&[bounded, verdict])?;
            if self.languages_mut().is_empty(near)? && !self.languages_mut().is_empty(whole)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a text is the beginning of a key that an object lists and that is longer than a bound.
    fn is_begun_of_longer(&mut self, text: TextId, bound: u32, stack: StackId) -> Result<bool, AutomatonError> {
        let Some(classes) = self.key_classes(stack)? else {
            return Ok(false);
        };
        let algebra = &self.search.algebra;
        let mut listed = algebra.beginning_with(&classes.listed, text).iter();
        Ok(listed.any(|name| algebra.texts.length(*name) > bound as usize))
    }

    /// The texts that a string may have from its beginning on: of those that meet its expectation, those within a bound
    /// that is near from the beginning. Not for strings that have to differ or whose verdicts are open: they may need longer texts.
    pub(in crate::automaton::step) fn within_small_bound(
        &mut self,
        language: LanguageId,
    ) -> Result<LanguageId, AutomatonError> {
        Ok(match self.bounds().string_characters {
            Some(bound) if bound <= NEAR_CHARACTERS && self.is_endless(language) => {
                let bounded = self.ending_within(language, bound.into(), DecodeState::Between)?;
                bounded.unwrap_or(language)
            }
            _ => language,
        })
    }

    /// The demand on a container that begins. Where it asks nothing and nothing is watched, the style bounds the depth.
    pub(in crate::automaton::step) fn with_bounded_depth(
        &mut self,
        demand: FormulaId,
        watched: &[FormulaId],
        array: bool,
        stack: StackId,
    ) -> FormulaId {
        // Empty containers cannot differ from one another.
        let must_be_empty = self.bounds().free_depth == Some(0);
        let algebra = &mut self.search.algebra;
        let any = algebra.written_container(FormulaId::TRUE, array);
        let is_free = demand == any && watched.iter().all(|formula| formula.decided().is_some());
        match is_free && !(must_be_empty && self.keeps_values(stack)) {
            true => {
                let free = self.search.algebra.free_container(0, array);
                self.search.algebra.written_container(free, array)
            }
            false => demand,
        }
    }

    /// Number of items that an array with this demand counts down from its beginning.
    pub(in crate::automaton::step) fn items_from_start(&mut self, demand: FormulaId) -> u32 {
        match self.bounds().array_items {
            Some(bound) if bound <= NEAR_ITEMS && !self.search.algebra.has_most_items(demand) => bound,
            _ => UNCOUNTED,
        }
    }

    /// The stack whose arrays near their bound count the items that may still come. `is_done` says that the innermost container
    /// stands behind a whole item.
    fn with_counted_items(
        &mut self,
        stack: StackId,
        written: &Written,
        bound: u32,
        is_done: bool,
    ) -> Result<StackId, AutomatonError> {
        let (mut frames, mut at) = (Vec::new(), stack);
        while let Some(frame) = self.frame(at) {
            frames.push((at, frame.clone()));
            at = frame.below;
        }
        let mut below = StackId::EMPTY;
        for (depth, (id, frame)) in frames.into_iter().rev().enumerate() {
            let mut counted = (*frame).clone();
            counted.below = below;
            let commas = written.commas.get(depth).copied().unwrap_or(0);
            if let Container::Array { left, .. } = &mut counted.kind
                && *left == UNCOUNTED
                && commas >= written.near_commas
                && !self.search.algebra.has_most_items(frame.formulas[0])
            {
                *left = bound.saturating_sub(commas + u32::from(is_done && id == stack));
            }
            below = match counted == *frame {
                true => id,
                false => self.push(counted),
            };
        }
        Ok(below)
    }

    /// Whether an array has as many items as the style wants and may end.
    pub(in crate::automaton::step) fn is_array_full(
        &mut self,
        stack: StackId,
        frame: &Frame,
    ) -> Result<bool, AutomatonError> {
        match frame.kind {
            Container::Array { left: 0, .. } => self.may_end_here(stack, frame),
            _ => Ok(false),
        }
    }

    /// Whether an object has as many members as the style wants and may end.
    pub(in crate::automaton::step) fn is_object_full(
        &mut self,
        stack: StackId,
        frame: &Frame,
    ) -> Result<bool, AutomatonError> {
        if self.members_left(frame) > 0 || !self.may_end_here(stack, frame)? {
            return Ok(false);
        }
        Ok(frame.plain.0.is_some() || !self.search.algebra.has_most_members(frame.formulas[0]))
    }

    /// Number of members that the style leaves to an object.
    pub(in crate::automaton::step) fn members_left(&self, frame: &Frame) -> u32 {
        let Some(bound) = self.bounds().object_members else {
            return u32::MAX;
        };
        let seen = self.search.algebra.key_sets.len(frame.kind.used());
        bound.saturating_sub(u32::try_from(seen).unwrap_or(u32::MAX))
    }

    /// Whether the number of an object's members may matter soon.
    pub(in crate::automaton::step) fn is_nearly_full(&self, frame: &Frame) -> bool {
        self.members_left(frame) <= NEAR_MEMBERS
    }

    /// Whether a container may end, and is then not equal to any that it has to differ from.
    fn may_end_here(&mut self, stack: StackId, frame: &Frame) -> Result<bool, AutomatonError> {
        if !self.may_close(frame) {
            return Ok(false);
        }
        let has_open = |frame: &Frame| frame.formulas[1..].iter().any(|formula| formula.decided().is_none());
        let is_open = has_open(frame);
        if frame.plain.0.is_some() && !is_open && !self.keeps_values(frame.below) {
            return Ok(true);
        }
        let closed = self.close(stack)?;
        let Some(closed) = self.if_distinct(closed)? else {
            return Ok(false);
        };
        if !is_open {
            return Ok(true);
        }
        // More members or items may change an open verdict, and the container around may need the other one, unless it may end with this one and
        // has no open verdict itself.
        let is_around_open = self.frame(frame.below).is_some_and(|around| has_open(&around));
        let around = self.frame(closed.stack);
        Ok(!is_around_open && around.is_none_or(|around| self.may_close(&around)))
    }
}
