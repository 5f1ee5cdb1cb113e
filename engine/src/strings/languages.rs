//! [`Languages`]: the arena of all languages in use, with the memoised results of their analyses.

use std::sync::Arc;

use hashbrown::HashSet;
use smallvec::SmallVec;

use crate::Limits;
use crate::strings::analysis::answers::{Cardinality, Emptiness, Fingerprint, Horizon, KnownLengths};
use crate::strings::analysis::beside_custom_dfa::Completed;
use crate::strings::charset::{CharRange, CharSet};
use crate::strings::derive::derivatives::{Derivatives, Transitions};
use crate::strings::expr::arena::Arena;
use crate::strings::expr::coarse_char_set::CoarseCharSet;
use crate::strings::expr::expression::Expr;
use crate::strings::expr::word_lists::WordEdges;
use crate::strings::language_id::{ANY, LanguageId, NONE, UNBOUNDED};
use crate::strings::limits::{LanguageLimits, LimitReached};
use crate::strings::pattern::PatternSyntax;
use crate::strings::pattern::error::PatternError;
use crate::strings::shared_layer::{LayeredById, LayeredMap};

/// Every language in use, and the results about each.
///
/// Answers are remembered, so that asking again is a look-up. A language that does not fit the limits is an error; the languages
/// already there stay usable.
#[derive(Debug)]
pub(crate) struct Languages {
    pub(super) limits: LanguageLimits,
    pub(super) arena: Arena,
    pub(super) derivatives: Derivatives,
    pub(super) emptiness: LayeredById<Emptiness>,
    pub(super) prefix_universal: LayeredById<bool>,
    pub(super) open_classes: LayeredMap<LanguageId, Option<Arc<[CharRange]>>>,
    pub(super) lengths: LayeredMap<LanguageId, KnownLengths>,
    pub(super) live: LayeredById<Transitions>,
    pub(super) pattern_syntax: PatternSyntax,
    pub(super) patterns: LayeredMap<(PatternSyntax, String), Result<LanguageId, PatternError>>,
    pub(super) formats: LayeredMap<&'static str, LanguageId>,
    pub(super) fingerprints: LayeredMap<LanguageId, Option<Fingerprint>>,
    pub(super) over_approximations: LayeredMap<(LanguageId, Horizon), LanguageId>,
    pub(super) slacks: LayeredMap<LanguageId, Option<u64>>,
    pub(super) counted: LayeredMap<LanguageId, Cardinality>,
    pub(super) completing: LayeredMap<(LanguageId, Completed), Option<Arc<[CharRange]>>>,
}

impl Languages {
    /// Languages within `limits`, of which only the trivial ones are made.
    pub(crate) fn new(limits: &LanguageLimits) -> Self {
        Self {
            limits: limits.clone(),
            arena: Arena::new(limits.cells),
            derivatives: Derivatives::new(),
            emptiness: LayeredById::new(),
            prefix_universal: LayeredById::new(),
            open_classes: LayeredMap::new(),
            lengths: LayeredMap::new(),
            live: LayeredById::new(),
            pattern_syntax: PatternSyntax::default(),
            patterns: LayeredMap::new(),
            formats: LayeredMap::new(),
            fingerprints: LayeredMap::new(),
            over_approximations: LayeredMap::new(),
            slacks: LayeredMap::new(),
            counted: LayeredMap::new(),
            completing: LayeredMap::new(),
        }
    }

    /// Languages within the limits of a compilation, of which only the trivial ones are made.
    pub(crate) fn within(limits: &Limits) -> Self {
        Self::new(&LanguageLimits::from(limits))
    }

    /// Returns these languages and all results about them, shared by languages made [over](Self::over) them.
    pub(crate) fn share(self) -> Self {
        let expressions = self.arena.len();
        Self {
            limits: self.limits,
            arena: self.arena.share(),
            derivatives: self.derivatives.share(expressions),
            emptiness: self.emptiness.share(expressions),
            prefix_universal: self.prefix_universal.share(expressions),
            open_classes: self.open_classes.share(),
            lengths: self.lengths.share(),
            live: self.live.share(expressions),
            pattern_syntax: self.pattern_syntax,
            patterns: self.patterns.share(),
            formats: self.formats.share(),
            fingerprints: self.fingerprints.share(),
            over_approximations: self.over_approximations.share(),
            slacks: self.slacks.share(),
            counted: self.counted.share(),
            completing: self.completing.share(),
        }
    }

    /// Returns languages that begin with those that are [shared](Self::share) and all results about them; only new ones count
    /// against `limits`. There is room for `room` expressions from the beginning.
    pub(crate) fn over(&self, limits: &Limits, room: usize) -> Self {
        let limits = LanguageLimits::from(limits);
        Self {
            arena: self.arena.over(limits.cells, room),
            limits,
            derivatives: self.derivatives.over(),
            emptiness: self.emptiness.over(),
            prefix_universal: self.prefix_universal.over(),
            open_classes: self.open_classes.over(),
            lengths: self.lengths.over(),
            live: self.live.over(),
            pattern_syntax: self.pattern_syntax,
            patterns: self.patterns.over(),
            formats: self.formats.over(),
            fingerprints: self.fingerprints.over(),
            over_approximations: self.over_approximations.over(),
            slacks: self.slacks.over(),
            counted: self.counted.over(),
            completing: self.completing.over(),
        }
    }

    /// Does work whose result mentions none of the languages that it makes, and drops them if they [have to be](Self::end). As long as there is
    /// room, they serve the work that is to come.
    pub(crate) fn try_out<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.begin();
        let result = work(self);
        self.end();
        result
    }

    /// Begins work of which nothing is needed later but what mentions no language that it makes.
    pub(crate) fn begin(&mut self) {
        self.arena.begin();
        self.derivatives.begin();
        self.emptiness.begin();
        self.prefix_universal.begin();
        self.open_classes.begin();
        self.lengths.begin();
        self.live.begin();
        self.patterns.begin();
        self.formats.begin();
        self.fingerprints.begin();
        self.over_approximations.begin();
        self.slacks.begin();
        self.counted.begin();
        self.completing.begin();
    }

    /// Ends the work that [began](Self::begin) last. Returns whether all languages made since then were dropped, with what was found out since
    /// then: so many cells were in use that there might be too few for what is to come.
    pub(crate) fn end(&mut self) -> bool {
        let fails = self.arena.end();
        self.derivatives.end(fails);
        self.emptiness.end(fails);
        self.prefix_universal.end(fails);
        self.open_classes.end(fails);
        self.lengths.end(fails);
        self.live.end(fails);
        self.patterns.end(fails);
        self.formats.end(fails);
        self.fingerprints.end(fails);
        self.over_approximations.end(fails);
        self.slacks.end(fails);
        self.counted.end(fails);
        self.completing.end(fails);
        fails
    }

    /// The language of every text.
    pub(crate) fn any(&self) -> LanguageId {
        ANY
    }

    /// The language without texts.
    pub(crate) fn none(&self) -> LanguageId {
        NONE
    }

    /// The language of the empty text.
    #[cfg(test)]
    pub(crate) fn empty_text(&self) -> LanguageId {
        crate::strings::language_id::EMPTY
    }

    /// The language of `text` alone.
    pub(crate) fn literal(&mut self, text: &str) -> Result<LanguageId, LimitReached> {
        self.arena.literal(text)
    }

    /// The language of the texts `words`.
    pub(crate) fn one_of(&mut self, words: &[&str]) -> Result<LanguageId, LimitReached> {
        self.arena.words(words.to_vec())
    }

    /// The language of texts of `min` to `max` characters (code points).
    pub(crate) fn length(&mut self, min: u64, max: Option<u64>) -> Result<LanguageId, LimitReached> {
        self.arena.length(min, max.unwrap_or(UNBOUNDED))
    }

    /// The dialect of patterns is `syntax`. Default [`PatternSyntax::Common`].
    pub(crate) fn read_patterns_by(&mut self, syntax: PatternSyntax) {
        self.pattern_syntax = syntax;
    }

    /// The dialect of patterns.
    pub(crate) fn pattern_syntax(&self) -> PatternSyntax {
        self.pattern_syntax
    }

    /// The language of texts in which the regular expression `source` finds a match.
    pub(crate) fn pattern(&mut self, source: &str) -> Result<LanguageId, PatternError> {
        let key = (self.pattern_syntax, source.to_owned());
        if let Some(known) = self.patterns.get(&key) {
            return known.clone();
        }
        let language = crate::strings::pattern::compile(&mut self.arena, source, self.pattern_syntax, &self.limits);
        self.patterns.insert(key, language.clone());
        language
    }

    /// Whether the regular expression `source` says something of the text around what it matches.
    pub(crate) fn pattern_asserts(&self, source: &str) -> Result<bool, PatternError> {
        crate::strings::pattern::asserts(source, self.pattern_syntax, &self.limits)
    }

    /// The intersection of `languages`.
    pub(crate) fn and(&mut self, languages: &[LanguageId]) -> Result<LanguageId, LimitReached> {
        self.arena.and(languages.to_vec())
    }

    /// The union of `languages`.
    pub(crate) fn or(&mut self, languages: &[LanguageId]) -> Result<LanguageId, LimitReached> {
        self.arena.or(languages.to_vec())
    }

    /// The complement of `language`.
    pub(crate) fn not(&mut self, language: LanguageId) -> Result<LanguageId, LimitReached> {
        self.arena.not(language)
    }

    /// Texts of `first` followed by texts of `rest`.
    pub(crate) fn concat(&mut self, first: LanguageId, rest: LanguageId) -> Result<LanguageId, LimitReached> {
        self.arena.concat(first, rest)
    }

    /// `min` to `max` texts of `inner` one after another; [`u64::MAX`] for no end.
    pub(crate) fn repeat(&mut self, inner: LanguageId, min: u64, max: u64) -> Result<LanguageId, LimitReached> {
        self.arena.repeat(inner, min, max)
    }

    /// The texts of one character in some ranges, whose ends are included, or in none of them.
    pub(crate) fn characters(&mut self, ranges: &[(char, char)], is_negated: bool) -> Result<LanguageId, LimitReached> {
        let set = CharSet::from_ranges(ranges.iter().copied());
        self.arena.class(&if is_negated { set.complement() } else { set })
    }

    /// Lets `name` stand for `language` where a pattern of a dialect is asked for.
    pub(crate) fn name_pattern(&mut self, syntax: PatternSyntax, name: &str, language: LanguageId) {
        self.patterns.insert((syntax, name.to_owned()), Ok(language));
    }

    /// Whether `language` was not among those just dropped. Later languages take their ids.
    pub(crate) fn has(&self, language: LanguageId) -> bool {
        (language.0 as usize) < self.arena.len()
    }

    /// Whether the empty text belongs to `language`.
    pub(crate) fn accepts_empty(&self, language: LanguageId) -> bool {
        self.arena.nullable(language)
    }

    /// Whether `text` belongs to `language`, a list of words with bounds on their lengths; `None` where that does not show.
    pub(crate) fn has_word(&self, language: LanguageId, text: &str) -> Option<bool> {
        self.arena.has_word(language, text)
    }

    /// Whether `text` belongs to `language`.
    pub(crate) fn contains(&mut self, language: LanguageId, text: &str) -> Result<bool, LimitReached> {
        let mut state = language;
        for c in text.chars() {
            state = self.derivative(state, c)?;
            if state == NONE {
                return Ok(false);
            }
        }
        Ok(self.accepts_empty(state))
    }

    /// Returns the characters that may come first in words of a list, each with the remaining words behind it; none for languages
    /// that are no such list, or do not look like one.
    pub(crate) fn word_edges(&self, language: LanguageId) -> Option<WordEdges<'_>> {
        self.arena.word_edges(language)
    }

    /// Returns up to `n` words of a list; none for languages that are no such list, or do not look like one.
    pub(crate) fn words(&self, language: LanguageId, n: usize) -> Option<Vec<String>> {
        self.arena.listed(language, n)
    }

    /// The characters that may come first in texts of `language`, as far as they show without its derivatives.
    pub(crate) fn coarse_first_characters(&self, language: LanguageId) -> CoarseCharSet {
        self.arena.firsts(language)
    }

    /// Ranges of characters, ends included, that texts of `language` may have, as far as that shows without its derivatives.
    pub(crate) fn coarse_characters(&self, language: LanguageId) -> Vec<(u32, u32)> {
        let used = self.arena.used(language);
        let ascii = (0..0x80).filter(|character| used.ascii >> character & 1 == 1);
        let ascii = ascii.map(|character| (character, character));
        ascii
            .chain(used.others.then_some((0x80, u32::from(char::MAX))))
            .collect()
    }

    /// Whether the states of `language` cannot be enumerated: it is a Boolean combination with a custom DFA, whose states
    /// are as many as its texts, so that it has to be walked one character at a time.
    pub(crate) fn is_non_enumerable(&self, language: LanguageId) -> bool {
        self.arena.has_custom_dfa(language)
    }

    /// Whether a coarse state of a custom DFA is a part of `language`.
    pub(crate) fn is_coarse(&self, language: LanguageId) -> bool {
        let (mut left, mut seen) = (SmallVec::<[LanguageId; 8]>::from_slice(&[language]), HashSet::new());
        while let Some(part) = left.pop() {
            match self.arena.node(part) {
                Expr::CustomDfa(state) if state.is_enumerable() => return true,
                Expr::Or(members) | Expr::And(members) => {
                    left.extend(members.iter().copied().filter(|member| seen.insert(*member)));
                }
                _ => {}
            }
        }
        false
    }

    /// The number of answers about over-approximations and numbers of texts that are kept.
    pub(crate) fn kept(&self) -> usize {
        self.over_approximations.own()
            + self.slacks.own()
            + self.open_classes.own()
            + self.counted.own()
            + self.completing.own()
    }

    /// Bytes of the room for expressions that are not there yet.
    pub(crate) fn room_bytes(&self) -> usize {
        self.arena.room_bytes()
    }

    /// Cells in use of those that [`LanguageLimits::cells`] allows.
    pub(crate) fn cells(&self) -> usize {
        self.arena.cells()
    }
}
