//! The flags `i`, `m` and `s`, which dialects other than ECMA-262 set within a pattern, and their effects on classes and anchors.
//!
//! ECMA-262 sets these flags outside of the pattern. Each flag has the meaning here that it has there, together with the flag `u`.

use std::sync::OnceLock;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use crate::strings::charset::CharSet;
use crate::strings::pattern::assertions::WordSides;
use crate::strings::pattern::ast::{AstForm, AstId};
use crate::strings::pattern::reader::PatternParser;
use crate::strings::unicode_properties::{property, word};

/// The flags that hold at a place of a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// `i`: characters match those with the same simple case folding.
    pub(super) ignore_case: bool,
    /// `m`: `^` and `$` also hold at the beginning and the end of a line.
    pub(super) multi_line: bool,
    /// `s`: `.` matches line ends too.
    pub(super) dot_all: bool,
    /// `a`, of Python alone: classes, boundaries and case are those of ASCII.
    pub(super) ascii: bool,
    /// `x`, of Python alone: white space and comments are left out of account.
    pub(super) verbose: bool,
}

impl Flags {
    /// The flags after those that `text` sets, and behind a `-` takes back; none if it is no list of these flags.
    pub(super) fn changed_by(mut self, text: &str) -> Option<Self> {
        let mut set = true;
        for flag in text.chars() {
            match flag {
                'i' => self.ignore_case = set,
                'm' => self.multi_line = set,
                's' => self.dot_all = set,
                '-' if set => set = false,
                _ => return None,
            }
        }
        let is_list = !text.is_empty() && !text.ends_with('-');
        is_list.then_some(self)
    }
}

/// Line terminators of ECMA-262.
fn line_ends() -> CharSet {
    CharSet::of("\n\r\u{2028}\u{2029}")
}

/// `set` with all characters that have the simple case folding of one in it.
fn folded(set: &CharSet) -> CharSet {
    let range = |first, last| ClassUnicodeRange::new(first, last);
    let mut class = ClassUnicode::new(set.ranges().iter().map(|part| range(part.first(), part.last())));
    // The table is there: this crate chooses the feature that has it.
    if class.try_case_fold_simple().is_err() {
        return set.clone();
    }
    CharSet::from_ranges(class.ranges().iter().map(|part| (part.start(), part.end())))
}

/// Every character that shares its simple case folding with another.
fn cased() -> &'static CharSet {
    static CASED: OnceLock<CharSet> = OnceLock::new();
    CASED.get_or_init(|| {
        // All characters with a folding of their own are among these; some fold to one another and change by no other mapping.
        let mapped = property("Changes_When_Casemapped").unwrap_or_default();
        let letters = mapped.ranges().iter().flat_map(|range| range.first()..=range.last());
        let alone = |letter: &char| {
            let letter = CharSet::range(*letter, *letter);
            folded(&letter) == letter
        };
        CharSet::from_ranges(letters.filter(|letter| !alone(letter)).map(|letter| (letter, letter)))
    })
}

/// Assertions that flags turn into lookarounds, each made once for all places of a pattern: lookbehinds are few.
#[derive(Default)]
pub(super) struct FlaggedAssertions {
    pub(super) line_start: Option<AstId>,
    pub(super) line_end: Option<AstId>,
    pub(super) word_sides: Option<WordSides>,
    pub(super) ascii_word_sides: Option<WordSides>,
}

impl PatternParser<'_> {
    /// A class, by the flags that hold here.
    pub(super) fn flagged(&mut self, set: CharSet) -> CharSet {
        if !self.flags.ignore_case {
            return set;
        }
        let with_case = set.intersection(cased());
        if with_case.is_empty() {
            return set;
        }
        if let Some(known) = self.folded.get(&with_case) {
            return set.union(known);
        }
        let all = folded(&with_case);
        let united = set.union(&all);
        self.folded.insert(with_case, all);
        united
    }

    /// `\w`, by the flags that hold here: ignoring case, the Unicode flag adds two letters to those of ASCII.
    pub(super) fn word(&mut self) -> CharSet {
        self.flagged(word())
    }

    /// `.`, by the flags that hold here.
    pub(super) fn dot(&self) -> CharSet {
        match self.flags.dot_all {
            true => CharSet::all(),
            false => line_ends().complement(),
        }
    }

    /// `^`, by the flags that hold here.
    pub(super) fn start_assertion(&mut self) -> AstId {
        match self.flags.multi_line {
            true => self.line_edge(true, &line_ends()),
            false => self.ast.add(AstForm::Start),
        }
    }

    /// `$`, by the flags that hold here.
    pub(super) fn end_assertion(&mut self) -> AstId {
        match self.flags.multi_line {
            true => self.line_edge(false, &line_ends()),
            false => self.ast.add(AstForm::End),
        }
    }

    /// The beginning of a line, or its end, where characters of `ends` end lines: made once for all places of a pattern.
    pub(super) fn line_edge(&mut self, is_start: bool, ends: &CharSet) -> AstId {
        let known = match is_start {
            true => &mut self.assertions.line_start,
            false => &mut self.assertions.line_end,
        };
        *known.get_or_insert_with(|| self.ast.look(is_start, true, ends.complement()))
    }

    /// `\b`, or `\B` if negated, by the flags that hold here.
    pub(super) fn boundary_assertion(&mut self, negated: bool) -> AstId {
        if !self.flags.ignore_case {
            return self.ast.add(AstForm::WordBoundary { negated });
        }
        let word = self.word();
        let known = &mut self.assertions.word_sides;
        let sides = *known.get_or_insert_with(|| WordSides::new(&mut self.ast, &word));
        sides.boundary(&mut self.ast, negated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_without_case_fold_to_themselves() {
        let others = cased().complement();
        assert_eq!(folded(&others), others);
        assert!(cased().contains('\u{17f}') && cased().contains('\u{212a}') && !cased().contains('\u{131}'));
    }
}
