//! The number of texts of a language, and an enumeration of its first texts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

use crate::strings::analysis::answers::Cardinality;
use crate::strings::analysis::custom_dfa_bounds::Side;
use crate::strings::charset::{CharRange, character, index};
use crate::strings::expr::expression::Expr;
use crate::strings::language_id::LanguageId;
use crate::strings::languages::Languages;
use crate::strings::limits::LimitReached;

/// States that counting may pass for each that a search may: it only multiplies, and long constants are many states.
const WALK: usize = 25;

impl Languages {
    /// The number of texts of `language`, counted up to `up_to`.
    pub(crate) fn cardinality(&mut self, language: LanguageId, up_to: u64) -> Result<Cardinality, LimitReached> {
        match self.counted.get(&language) {
            Some(Cardinality::Infinite) => return Ok(Cardinality::Infinite),
            Some(&Cardinality::Finite(count)) if count < up_to => return Ok(Cardinality::Finite(count)),
            Some(Cardinality::Finite(_)) => return Ok(Cardinality::AtLeast(up_to)),
            Some(&Cardinality::AtLeast(count)) if count >= up_to => return Ok(Cardinality::AtLeast(up_to)),
            _ => {}
        }
        let counted = self.count(language, up_to)?;
        self.counted.insert(language, counted);
        Ok(counted)
    }

    /// [`cardinality`](Self::cardinality), where it is not known yet.
    fn count(&mut self, language: LanguageId, up_to: u64) -> Result<Cardinality, LimitReached> {
        if let words @ 1.. = u64::from(self.arena.facts(language).words) {
            return Ok(match words < up_to {
                true => Cardinality::Finite(words),
                false => Cardinality::AtLeast(up_to),
            });
        }
        if self.shows_infinite(language)? {
            return Ok(Cardinality::Infinite);
        }
        if !self.arena.is_finite(language)
            && let Some(lengths) = self.lengths(language)?
            && lengths.max() == Some(None)
        {
            return Ok(Cardinality::Infinite);
        }
        if self.arena.has_custom_dfa(language) {
            let below = self.arena.approximated(language, Side::Below)?;
            if let Ok(enough @ (Cardinality::Infinite | Cardinality::AtLeast(_))) = self.cardinality(below, up_to) {
                return Ok(enough);
            }
        }
        // In a deterministic automaton texts are paths. Count paths by length: each round is one character more.
        let mut texts: u64 = 0;
        let mut paths: HashMap<LanguageId, u64> = HashMap::from([(language, 1)]);
        let mut next: HashMap<LanguageId, u64> = HashMap::new();
        let mut visited = 1;
        while !paths.is_empty() {
            for (&state, &count) in &paths {
                if self.accepts_empty(state) {
                    texts = texts.saturating_add(count);
                }
                for &(range, target) in self.transitions(state)?.iter() {
                    let more = count.saturating_mul(range.count());
                    let total = next.entry(target).or_insert(0);
                    *total = total.saturating_add(more);
                }
            }
            // No state is dead: each path that is still open makes a text, and none makes another's.
            let open = next.values().fold(0u64, |all, &count| all.saturating_add(count));
            if texts.saturating_add(open) >= up_to {
                return Ok(Cardinality::AtLeast(up_to));
            }
            visited += next.len();
            if visited > WALK * self.limits.states {
                return Err(LimitReached {
                    what: "states to count strings",
                    allowed: WALK * self.limits.states,
                });
            }
            std::mem::swap(&mut paths, &mut next);
            next.clear();
        }
        Ok(Cardinality::Finite(texts))
    }

    /// Whether the language, or its derivative by some character, is prefix-universal: then it has infinitely many texts, which shows without
    /// their lengths.
    fn shows_infinite(&mut self, language: LanguageId) -> Result<bool, LimitReached> {
        if self.arena.is_finite(language) || self.arena.has_custom_dfa(language) {
            return Ok(false);
        }
        if self.is_prefix_universal(language)? {
            return Ok(true);
        }
        for &(_, target) in self.transitions(language)?.iter() {
            if self.is_prefix_universal(target)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns up to `n` texts of `language`, shorter ones first. A single text of a combination with custom DFAs is one that is
    /// easily found.
    pub(crate) fn members(&mut self, language: LanguageId, n: usize) -> Result<Vec<String>, LimitReached> {
        match self.arena.has_custom_dfa(language) {
            true => self.try_out(|languages| languages.find_members(language, n)),
            false => self.find_members(language, n),
        }
    }

    fn find_members(&mut self, language: LanguageId, n: usize) -> Result<Vec<String>, LimitReached> {
        if n == 1 && self.arena.has_custom_dfa(language) {
            let below = self.arena.approximated(language, Side::Below)?;
            if self.is_empty(below) == Ok(false) {
                return self.members(below, 1);
            }
        }
        if n == 1
            && self.asks_for_many(language)
            && let Some(text) = self.one_after_another(language)?
        {
            return Ok(vec![text]);
        }
        if let Some(mut words) = self.words(language, n.saturating_add(1))
            && words.len() <= n
        {
            words.sort_unstable();
            words.sort_by_key(|word| word.chars().count());
            return Ok(words);
        }
        let mut texts = Vec::new();
        // Best first by the length that the finished text will at least have, of these the longest so far: most often
        // it goes on to its end, and the others are left alone. `None` once it is finished.
        let mut open = BinaryHeap::new();
        if n > 0 && !self.is_empty(language)? {
            let estimate = self.distance(language)?;
            open.push(Reverse((estimate, Reverse(0), Some(language), String::new())));
        }
        let mut visited = 0;
        let mut passed: HashMap<LanguageId, usize> = HashMap::new();
        while let Some(Reverse((_, Reverse(length), state, text))) = open.pop() {
            let Some(state) = state else {
                texts.push(text);
                if texts.len() == n {
                    break;
                }
                continue;
            };
            // What is behind this beginning is behind each of the `n` beginnings before it as well.
            let times = passed.entry(state).or_insert(0);
            *times += 1;
            if *times > n {
                continue;
            }
            visited += 1;
            if visited > self.limits.states {
                return Err(LimitReached {
                    what: "states to list strings",
                    allowed: self.limits.states,
                });
            }
            if self.accepts_empty(state) {
                open.push(Reverse((length, Reverse(length), None, text.clone())));
            }
            let rows = match self.transitions(state) {
                // More than could be listed: some of them are enough to go on.
                Err(_) if self.arena.has_custom_dfa(state) => self.sampled_rows(state)?,
                rows => rows?,
            };
            // Of the characters that lead to one state, the first are enough: those of later ranges are behind them in the order.
            let mut taken: HashMap<LanguageId, usize> = HashMap::new();
            for &(range, target) in rows.iter() {
                let taken = taken.entry(target).or_insert(0);
                let wanted = (n - texts.len()).saturating_sub(*taken);
                if wanted == 0 {
                    continue;
                }
                let estimate = self.distance(target)?.saturating_add(length + 1);
                for c in spelled(range).take(wanted) {
                    *taken += 1;
                    let longer = [&text[..], c.encode_utf8(&mut [0; 4])].concat();
                    open.push(Reverse((estimate, Reverse(length + 1), Some(target), longer)));
                }
            }
        }
        Ok(texts)
    }

    /// The length of a shortest text of `state`, or a lower bound.
    fn distance(&mut self, state: LanguageId) -> Result<u64, LimitReached> {
        let (members, is_all) = match self.arena.node(state) {
            Expr::And(members) => (members.clone(), true),
            Expr::Or(members) => (members.clone(), false),
            _ => return Ok(self.shortest_length(state)?.unwrap_or(0)),
        };
        let mut least = None;
        for member in members {
            let one = match self.shortest_length(member)? {
                Some(one) => one,
                None if is_all => 0,
                None => return Ok(0),
            };
            least = Some(least.map_or(one, |least: u64| if is_all { least.max(one) } else { least.min(one) }));
        }
        Ok(least.unwrap_or(0))
    }
}

/// The characters of a range, beginning with letters where it has some: texts are shown to people.
fn spelled(range: CharRange) -> impl Iterator<Item = char> {
    let start = ['a', 'A', '0']
        .map(index)
        .into_iter()
        .find(|c| (range.first..=range.last).contains(c));
    let start = start.unwrap_or(range.first);
    (start..=range.last).chain(range.first..start).map(character)
}
