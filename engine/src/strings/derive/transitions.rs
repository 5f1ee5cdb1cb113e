//! Derivatives by single characters, and tables of derivatives without those that are empty languages.

use crate::strings::charset::index;
use crate::strings::charset::{CharRange, CharSet};
use crate::strings::custom_dfa::idn_hostname::{ENDINGS, lone_letters};
use crate::strings::derive::derivatives::Transitions;
use crate::strings::derive::derivatives::push;
use crate::strings::derive::derivatives::target;
use crate::strings::language_id::{LanguageId, NONE};
use crate::strings::languages::Languages;
use crate::strings::limits::LimitReached;

/// The most characters that are tried one by one where a custom DFA makes a state for each.
const SINGLE_CHARACTERS: u64 = 256;

/// The most ranges of characters of which one is tried.
const SAMPLED_RANGES: usize = 32;

impl Languages {
    /// Returns the derivative of `language` by `c`: the texts that may follow `c` in its texts.
    pub(crate) fn derivative(&mut self, language: LanguageId, c: char) -> Result<LanguageId, LimitReached> {
        let c = index(c);
        // A list of words says what is left of them, and none of it is empty.
        if let Some(left) = self.arena.after_in_list(language, c) {
            return Ok(left);
        }
        if !self.arena.has_custom_dfa(language) {
            return Ok(target(&self.transitions(language)?, c));
        }
        let target = self.derivatives.after(&mut self.arena, language, c)?;
        Ok(if self.is_empty(target)? { NONE } else { target })
    }

    /// Whether a text of `language` begins with a character of one of `ranges`, whose ends are included.
    pub(crate) fn may_begin(&mut self, language: LanguageId, ranges: &[(u32, u32)]) -> Result<bool, LimitReached> {
        if !self.arena.has_custom_dfa(language) {
            let rows = self.transitions(language)?;
            return Ok(ranges.iter().any(|&(low, high)| {
                let place = rows.partition_point(|(range, _)| u32::from(range.last()) < low);
                rows.get(place)
                    .is_some_and(|(range, _)| u32::from(range.first()) <= high)
            }));
        }
        if let Some(machine) = self.custom_dfa_states(language)? {
            return machine.may_begin(self, ranges);
        }
        let possible = self.first_characters(language)?;
        for range in possible.ranges() {
            for &(low, high) in ranges {
                let first = low.max(u32::from(range.first()));
                let last = high.min(u32::from(range.last()));
                for c in (first..=last).filter_map(char::from_u32) {
                    if self.derivative(language, c)? != NONE {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Returns up to `most` characters with which texts of `language` begin.
    pub(crate) fn beginnings(&mut self, language: LanguageId, most: usize) -> Result<Vec<char>, LimitReached> {
        if !self.arena.has_custom_dfa(language) {
            let rows = self.transitions(language)?;
            let characters = rows.iter().flat_map(|(range, _)| range.first()..=range.last());
            return Ok(characters.take(most).collect());
        }
        let possible = self.first_characters(language)?;
        let mut found = Vec::new();
        for c in possible.ranges().iter().flat_map(|range| range.first()..=range.last()) {
            if found.len() == most {
                break;
            }
            if self.derivative(language, c)? != NONE {
                found.push(c);
            }
        }
        Ok(found)
    }

    /// The first characters of texts of `language`, in ranges that lead to one language each, none of them empty.
    pub(crate) fn transitions(&mut self, language: LanguageId) -> Result<Transitions, LimitReached> {
        if let Some(known) = self.live.get(language) {
            return Ok(known.clone());
        }
        let rows = self.rows(language)?;
        if self.asks_for_many(language) {
            self.note_open(language, &rows)?;
        }
        let mut dead = Vec::new();
        let mut last = NONE;
        for &(_, target) in rows.iter() {
            if target != last && self.is_empty(target)? {
                dead.push(target);
            }
            last = target;
        }
        let live = if dead.is_empty() {
            rows
        } else {
            let alive: Vec<_> = rows
                .iter()
                .copied()
                .filter(|(_, target)| !dead.contains(target))
                .collect();
            self.arena.spend(alive.len())?;
            alive.into()
        };
        Ok(self.keep_live(language, live))
    }

    fn keep_live(&mut self, language: LanguageId, live: Transitions) -> Transitions {
        self.live.put(language, live.clone(), self.arena.len());
        live
    }

    /// Transitions, empty languages that do not look empty included.
    pub(in crate::strings) fn rows(&mut self, language: LanguageId) -> Result<Transitions, LimitReached> {
        if !self.arena.has_custom_dfa(language) {
            return self.derivatives.of(&mut self.arena, language);
        }
        let possible = self.first_characters(language)?;
        if possible.ranges().iter().map(|range| range.count()).sum::<u64>() > SINGLE_CHARACTERS {
            return self.derivatives.of(&mut self.arena, language);
        }
        self.rows_within(language, &possible)
    }

    /// The transitions by characters of `possible`, one by one.
    fn rows_within(&mut self, language: LanguageId, possible: &CharSet) -> Result<Transitions, LimitReached> {
        let mut rows = Vec::new();
        for range in possible.ranges() {
            for c in range.first..=range.last {
                let target = self.derivatives.after(&mut self.arena, language, c)?;
                push(&mut rows, CharRange::new(c, c), target);
            }
        }
        self.arena.spend(rows.len())?;
        Ok(rows.into())
    }

    /// The transitions by some characters, where there are too many: those of ASCII, those that end most labels, and the first of each range that
    /// other languages beside a custom DFA tell apart.
    pub(in crate::strings) fn sampled_rows(&mut self, language: LanguageId) -> Result<Transitions, LimitReached> {
        let mut sample = CharSet::range('\0', '\u{7F}').union(&CharSet::of(ENDINGS));
        if let Some((_, beside)) = self.split_customs(language)?
            && let Ok(rows) = self.transitions(beside)
        {
            let letters = lone_letters();
            let firsts = rows
                .iter()
                .filter_map(|(range, _)| letters.within(range.first(), range.last()).next());
            sample = sample.union(&CharSet::from_ranges(firsts.take(SAMPLED_RANGES).map(|c| (c, c))));
        }
        let possible = self.first_characters(language)?;
        self.rows_within(language, &sample.intersection(&possible))
    }
}
