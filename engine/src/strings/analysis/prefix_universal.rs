//! Prefix universality: whether every text, or every text over a class of characters, is a viable prefix of a language.

use std::cell::Cell;
use std::sync::Arc;

use crate::strings::analysis::answers::Emptiness;
use crate::strings::charset::{CharRange, CharSet};
use crate::strings::derive::derivatives::Transitions;
use crate::strings::expr::coarse_char_set::CoarseCharSet;
use crate::strings::expr::expression::Expr;
use crate::strings::language_id::{ANY, LanguageId, UNBOUNDED};
use crate::strings::languages::Languages;
use crate::strings::limits::LimitReached;

/// Maximal depth of an expression that is examined.
const DEPTH: usize = 8;

/// Number of languages in an intersection from which on it is treated as an open region: each member may be satisfied or not, so four
/// members have up to sixteen states.
const INTERSECTED_LANGUAGES: usize = 4;

/// The characters of ASCII, as bits.
const ALL_ASCII: u128 = u128::MAX;

/// Maximal number of parts of an expression examined for one answer: one part may be reached by many paths.
const PARTS: usize = 1_000;

/// A class of characters, and the language of all texts of them.
struct Class<'a> {
    ranges: &'a [CharRange],
    texts: LanguageId,
    /// Number of parts of an expression that may still be examined.
    left: Cell<usize>,
}

impl<'a> Class<'a> {
    fn new(ranges: &'a [CharRange], texts: LanguageId) -> Self {
        let left = Cell::new(PARTS);
        Self { ranges, texts, left }
    }

    /// Counts one more part at a remaining depth; returns the remaining depth of its own parts, or none where a bound is reached.
    fn inside(&self, depth: usize) -> Option<usize> {
        self.left.set(self.left.get().checked_sub(1)?);
        depth.checked_sub(1)
    }
}

/// Whether a class has all characters of another.
fn covers(class: &[CharRange], other: &[CharRange]) -> bool {
    other.iter().all(|range| {
        let place = class.partition_point(|of| of.last < range.first);
        class
            .get(place)
            .is_some_and(|of| of.first <= range.first && range.last <= of.last)
    })
}

impl Languages {
    /// Whether every text is a prefix of some text of `id`, as far as the structure shows it: `.*abc`, or any text but some.
    /// False also where the structure does not show it.
    pub(crate) fn is_prefix_universal(&mut self, id: LanguageId) -> Result<bool, LimitReached> {
        if let Some(known) = self.prefix_universal.get(id) {
            return Ok(*known);
        }
        let prefix_universal = self.is_open_over(id, &Class::new(&[CharRange::ALL], ANY), DEPTH)?;
        self.prefix_universal.put(id, prefix_universal, self.arena.len());
        Ok(prefix_universal)
    }

    /// Returns a class of characters over which every text is a prefix of some text of `id`, as far as the structure shows one. Patterns with
    /// several lookaheads have a state for each set of them that is fulfilled, but all of these states are open over one class.
    pub(crate) fn open_class(&mut self, id: LanguageId) -> Result<Option<Arc<[CharRange]>>, LimitReached> {
        if let Some(known) = self.open_classes.get(&id) {
            return Ok(known.clone());
        }
        let class = match self.likely_class(id, DEPTH, &mut { PARTS }) {
            Some(class) if !class.is_empty() => {
                let one = self.arena.class(&class)?;
                let texts = self.arena.repeat(one, 0, UNBOUNDED)?;
                let ranges = class.ranges();
                let is_open = self.is_open_over(id, &Class::new(ranges, texts), DEPTH)?;
                is_open.then(|| ranges.into())
            }
            _ => None,
        };
        self.open_classes.insert(id, class.clone());
        Ok(class)
    }

    /// The class over which a language is open, if it is open over any.
    fn likely_class(&self, id: LanguageId, depth: usize, left: &mut usize) -> Option<CharSet> {
        let depth = depth.checked_sub(1)?;
        *left = left.checked_sub(1)?;
        match self.arena.node(id) {
            Expr::Concat(first, _) => self.likely_class(*first, depth, left),
            Expr::Repeat { inner, max, .. } => match self.arena.node(*inner) {
                Expr::Class(ranges) if *max == UNBOUNDED => Some(CharSet::from_char_ranges(ranges.iter().copied())),
                _ => self.likely_class(*inner, depth, left),
            },
            Expr::Or(members) => {
                let mut classes = members
                    .iter()
                    .filter_map(|member| self.likely_class(*member, depth, left));
                classes.next()
            }
            Expr::And(members) => {
                let classes = members.iter().map(|member| self.likely_class(*member, depth, left));
                classes.reduce(|all, class| Some(all?.intersection(&class?)))?
            }
            Expr::Not(_) => Some(CharSet::all()),
            _ => None,
        }
    }

    /// Whether every text of a class is the beginning of some text of `id` of which the rest is of the class as well.
    fn is_open_over(&mut self, id: LanguageId, class: &Class<'_>, depth: usize) -> Result<bool, LimitReached> {
        if id == ANY {
            return Ok(true);
        }
        let Some(depth) = class.inside(depth) else {
            return Ok(false);
        };
        Ok(match self.arena.node(id).clone() {
            // Whatever has been read, the first part can be ended, and then the rest be added.
            Expr::Concat(first, rest) => self.is_open_over(first, class, depth)? && self.has_text_of(rest, class)?,
            Expr::Repeat { inner, max, .. } => match self.arena.node(inner) {
                Expr::Class(ranges) => max == UNBOUNDED && covers(ranges, class.ranges),
                _ => self.is_open_over(inner, class, depth)?,
            },
            Expr::Or(members) => {
                for &member in &members {
                    if self.is_open_over(member, class, depth)? {
                        return Ok(true);
                    }
                }
                false
            }
            // Whatever has been read can be made a text of one after another: of a language that is closed it is one whatever
            // comes then. What is longer than some texts that are excluded, and has a character that others have not, is none
            // of these, and texts of open languages can be as long as that and have any character.
            Expr::And(members) => {
                let mut unused = CoarseCharSet::of(class.ranges.iter().copied()).ascii;
                let (mut last, mut excludes) = (None, false);
                for &member in &members {
                    match self.unused_if_excluded(member)? {
                        Some(ascii) => (unused, excludes) = (unused & ascii, true),
                        None if !self.is_open_over(member, class, depth)? => return Ok(false),
                        None if self.is_closed_over(member, class, depth) => {}
                        None if last.replace(member).is_some() => return Ok(false),
                        None => {}
                    }
                }
                !excludes || unused != 0
            }
            Expr::Not(_) => {
                let ascii = CoarseCharSet::of(class.ranges.iter().copied()).ascii;
                self.unused_if_excluded(id)?.is_some_and(|unused| unused & ascii != 0)
            }
            _ => false,
        })
    }

    /// Whether a text of `id` followed by characters of a class is a text of `id`, where that shows.
    fn is_closed_over(&self, id: LanguageId, class: &Class<'_>, depth: usize) -> bool {
        let Some(depth) = class.inside(depth) else {
            return false;
        };
        match self.arena.node(id) {
            Expr::Concat(_, rest) => self.is_closed_over(*rest, class, depth),
            Expr::Repeat {
                inner, max: UNBOUNDED, ..
            } => match self.arena.node(*inner) {
                Expr::Class(ranges) => covers(ranges, class.ranges),
                _ => false,
            },
            Expr::Or(members) | Expr::And(members) => {
                let mut members = members.iter();
                members.all(|member| self.is_closed_over(*member, class, depth))
            }
            _ => false,
        }
    }

    /// Whether `id` has a text of characters of a class, where that is easily seen.
    fn has_text_of(&mut self, id: LanguageId, class: &Class<'_>) -> Result<bool, LimitReached> {
        if class.texts == ANY {
            return Ok(matches!(self.judge(id)?, Emptiness::Inhabited));
        }
        let texts = self.arena.and(vec![id, class.texts])?;
        Ok(!self.arena.has_custom_dfa(id) && self.is_empty(texts) == Ok(false))
    }

    /// Whether `id` is an intersection of so many languages that its states are as many as sets of these.
    pub(crate) fn asks_for_many(&self, id: LanguageId) -> bool {
        matches!(self.arena.node(id), Expr::And(members) if members.len() >= INTERSECTED_LANGUAGES)
            && !self.arena.has_custom_dfa(id)
    }

    /// Notes that the targets of characters of an open class are not empty, and open over the same class.
    pub(in crate::strings) fn note_open(&mut self, id: LanguageId, rows: &Transitions) -> Result<(), LimitReached> {
        let Some(class) = self.open_class(id)? else {
            return Ok(());
        };
        for &(_, target) in rows.iter().filter(|(range, _)| covers(&class, &[*range])) {
            self.note_emptiness(target, false);
            if class[..] == [CharRange::ALL] {
                self.prefix_universal.put(target, true, self.arena.len());
            }
            self.open_classes.insert(target, Some(class.clone()));
        }
        Ok(())
    }

    /// Returns a text of an intersection, by appending a text for one member after another; none where the language is not open.
    pub(in crate::strings) fn one_after_another(&mut self, id: LanguageId) -> Result<Option<String>, LimitReached> {
        let (Expr::And(members), Some(class)) = (self.arena.node(id).clone(), self.open_class(id)?) else {
            return Ok(None);
        };
        let one = self.arena.intern(Expr::Class(class[..].into()))?;
        let texts = self.arena.repeat(one, 0, UNBOUNDED)?;
        let (mut members, last): (Vec<_>, Vec<_>) = members
            .iter()
            .partition(|member| self.is_closed_over(**member, &Class::new(&class, texts), DEPTH));
        members.extend(last);
        let mut text = String::new();
        for &member in &members {
            let mut rest = member;
            for c in text.chars() {
                rest = self.derivative(rest, c)?;
            }
            if !self.accepts_empty(rest) {
                let rest = self.arena.and(vec![rest, texts])?;
                let more = self.members(rest, 1)?;
                text.extend(more);
            }
        }
        for member in members {
            if !self.contains(member, &text)? {
                return Ok(None);
            }
        }
        Ok(Some(text))
    }

    /// Returns, for a language of all texts but some, the characters of ASCII, as bits, of which none occurs in the excluded
    /// texts, once a text is longer than all those of bounded length; none for other languages.
    fn unused_if_excluded(&mut self, id: LanguageId) -> Result<Option<u128>, LimitReached> {
        if self.excludes_short(id)? {
            return Ok(Some(ALL_ASCII));
        }
        Ok(match self.arena.node(id) {
            Expr::Not(inner) => Some(self.arena.used(*inner).ascii_besides()),
            _ => None,
        })
    }

    /// Whether `id` is all texts but some of bounded length.
    fn excludes_short(&mut self, id: LanguageId) -> Result<bool, LimitReached> {
        let Expr::Not(inner) = *self.arena.node(id) else {
            return Ok(false);
        };
        let lengths = match self.arena.is_structural(inner) {
            _ if self.arena.is_finite(inner) => return Ok(true),
            true => self.lengths(inner)?,
            false => None,
        };
        Ok(lengths.is_some_and(|lengths| lengths.max().is_none_or(|max| max.is_some())))
    }
}
