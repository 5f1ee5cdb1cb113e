//! [`Strings`]: masks within strings, and the one place that chooses the strategy by which a mask is computed.
//!
//! The input is the residual language of the string: the texts that may follow. [`Strategy`] names how the tokens of a language
//! are found; `RUST_LOG=maskwright=trace` tells the strategy of each newly computed set.

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError, DecodeState};
use crate::mask::cache::bounded::lock;
use crate::mask::cache::token_set::{Base, TokenSet};
use crate::mask::index::base_sets::Words;
use crate::mask::index::contents::Contents;
use crate::mask::index::suffix_set::SuffixSet;
use crate::mask::index::tokens::TokenIndex;
use crate::mask::index::trie::{ROOT, first_child};
use crate::strings::LanguageId;

use super::cache::{SharedStringCache, StringCache};
use super::few_tokens::{self, WantedTokens};
use super::over_approximation::{ApproximateTokens, OverApproximation};
use super::partial_code_point;
use super::residual::Residual;
use super::residual_states::{DEAD, FREE, FreeLanguages, ResidualStates};
use super::walk::character_walk::CharacterWalk;
use super::walk::group::{Group, WORTH_TAKING};
use super::word_list;

/// The strategy that finds the tokens that stay inside of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// The string is one of a list of words, which are spelled along the trie of tokens.
    WordList,
    /// The string may be any that tokens can make: the vocabulary has the set.
    FreeString,
    /// Only the number of characters counts: the vocabulary has a set for each number.
    LengthBound(usize),
    /// The language is like one without a bound for as many characters as most tokens have.
    OverApproximation(OverApproximation),
    /// The language is read by a custom DFA, one character at a time.
    CustomDfa,
    /// The tokens are walked by their characters, in groups that a self-loop or a definite region judges as a whole.
    CharacterWalk,
    /// The string is within a character, of which tokens have the rest.
    PartialCodePoint,
}

impl Strategy {
    /// The strategy's name in logs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::WordList => "word list",
            Self::FreeString => "free string",
            Self::LengthBound(_) => "length bound",
            Self::OverApproximation(_) => "over-approximation",
            Self::CustomDfa => "custom DFA",
            Self::CharacterWalk => "character walk",
            Self::PartialCodePoint => "partial code point",
        }
    }

    /// Logs that the tokens of a language are computed by this strategy.
    pub(crate) fn trace(self, language: LanguageId) {
        tracing::trace!(strategy = self.name(), ?language, "string mask");
    }
}

/// A strategy, or its result.
enum Choice {
    Known(TokenSet),
    New(Strategy),
}

/// Over-approximations without a fingerprint that one schema keeps, of 25 KB each in a vocabulary of 200,000 tokens.
const MAX_APPROXIMATIONS: usize = 16;

/// Computes masks within strings.
pub(crate) struct Strings<'a> {
    pub(crate) automaton: &'a mut Automaton,
    pub(crate) cache: &'a mut StringCache,
    pub(crate) index: &'a TokenIndex,
    pub(crate) shared: &'a SharedStringCache,
}

impl Strings<'_> {
    /// Whether every text that a token can add may come within a string of `language`, and end there.
    pub(crate) fn is_free(&mut self, language: LanguageId) -> Result<bool, AutomatonError> {
        let (lengths, longest) = (&mut self.cache.lengths, self.index.inside.longest);
        Ok(self.automaton.languages().word_edges(language).is_none()
            && lengths.is_viable(self.automaton, language, longest)?
            && lengths.is_accepted(self.automaton, language, longest)?)
    }

    /// The tokens that may follow between two characters of a string and stay in it.
    pub(crate) fn inside(&mut self, language: LanguageId) -> Result<TokenSet, AutomatonError> {
        let key = (DecodeState::Between, language);
        if let Some(known) = self.cache.sets.get(&key) {
            return Ok(known);
        }
        let set = match self.listed(language) {
            Some(set) => set,
            None => match self.choose(language)? {
                Choice::Known(known) => known,
                Choice::New(strategy) => {
                    strategy.trace(language);
                    self.find(strategy, language)?
                }
            },
        };
        self.cache.sets.keep(key, set.clone(), set.bytes());
        Ok(set)
    }

    /// The tokens of a string that is one of a list of words; none of other languages, of which some begin like a list.
    fn listed(&mut self, language: LanguageId) -> Option<TokenSet> {
        let mut found = Vec::new();
        word_list::inside(self.automaton, &self.index.inside, language, &mut found)?;
        Strategy::WordList.trace(language);
        Some(TokenSet::of(&found, self.index.len))
    }

    /// Chooses how the tokens are found that may follow between two characters of a string that is none of a list.
    fn choose(&mut self, language: LanguageId) -> Result<Choice, AutomatonError> {
        let index = self.index;
        if self
            .cache
            .lengths
            .is_viable(self.automaton, language, index.inside.longest)?
        {
            return Ok(Choice::New(Strategy::FreeString));
        }
        if let Some((_, max)) = self.automaton.only_bounded(language)?
            && max < index.sets.up_to.len() as u64
        {
            return Ok(Choice::New(Strategy::LengthBound(max as usize)));
        }
        let fingerprint = self.automaton.languages_mut().fingerprint(language);
        let known =
            fingerprint.and_then(|fingerprint| lock(&self.shared.sets).get(&(DecodeState::Between, fingerprint)));
        if let Some(known) = known {
            return Ok(Choice::Known(known));
        }
        if let Some(approximation) = OverApproximation::of(self.automaton, index, language)? {
            return Ok(Choice::New(Strategy::OverApproximation(approximation)));
        }
        Ok(Choice::New(
            match self.automaton.languages().is_non_enumerable(language) {
                true => Strategy::CustomDfa,
                false => Strategy::CharacterWalk,
            },
        ))
    }

    /// Computes the tokens by a strategy, and caches those that other schemas may need as well.
    fn find(&mut self, strategy: Strategy, language: LanguageId) -> Result<TokenSet, AutomatonError> {
        let set = match strategy {
            Strategy::FreeString => return Ok(TokenSet::over(Base::Any)),
            Strategy::LengthBound(max) => return Ok(TokenSet::over(Base::UpTo(max))),
            Strategy::OverApproximation(approximation) => self.approximate(language, approximation)?,
            Strategy::CustomDfa if few_tokens::reads_bound_beside(self.automaton, language)? => {
                let (mut found, index) = (Vec::new(), self.index);
                let (few, wanted) = (&mut self.cache.few, WantedTokens::Inside);
                few_tokens::find(self.automaton, few, &index.inside, wanted, language, &mut found)?;
                TokenSet::of(&found, index.len)
            }
            _ => self.on_trial(language, |strings| strings.walk(language))?,
        };
        if let Some(fingerprint) = self.automaton.languages_mut().fingerprint(language) {
            lock(&self.shared.sets).keep((DecodeState::Between, fingerprint), set.clone(), set.bytes());
        }
        Ok(set)
    }

    /// The tokens of a language by those of its over-approximation, which has no over-approximation itself: this calls itself once.
    fn approximate(
        &mut self,
        language: LanguageId,
        approximation: OverApproximation,
    ) -> Result<TokenSet, AutomatonError> {
        let (near, index) = (approximation.language, self.index);
        if approximation.is_exact {
            return self.inside(near);
        }
        let fingerprint = self.automaton.languages_mut().fingerprint(near);
        let known = match fingerprint {
            Some(fingerprint) => lock(&self.shared.approximations).get(&fingerprint),
            None => self.cache.approximations.get(&near).cloned(),
        };
        let approximate = match known {
            Some(known) => known,
            None => {
                let mut far = Vec::new();
                self.inside_few(approximation.far(index), near, &mut far)?;
                let found = ApproximateTokens::new(index, self.inside(near)?, &far);
                match fingerprint {
                    Some(fingerprint) => {
                        lock(&self.shared.approximations).keep(fingerprint, found.clone(), found.bytes());
                    }
                    None => {
                        if self.cache.approximations.len() == MAX_APPROXIMATIONS {
                            self.cache.approximations.clear();
                        }
                        self.cache.approximations.insert(near, found.clone());
                    }
                }
                found
            }
        };
        let Some((contents, doubtful)) = approximate.doubtful(self.automaton, index, language, &approximation)? else {
            return Ok(approximate.all().clone());
        };
        let mut left = Vec::new();
        self.inside_few(contents, language, &mut left)?;
        let mut doubtful = doubtful.to_vec();
        if approximation.is_narrow {
            self.inside_few(&index.far.wide, near, &mut doubtful)?;
            self.inside_few(&index.far.wide, language, &mut left)?;
        }
        Ok(approximate.with(doubtful, &left, &index.sets))
    }

    /// Works on a language; where each token leads to a language of its own, these are dropped if they [have to be](crate::strings::Languages::end).
    fn on_trial<T>(&mut self, language: LanguageId, work: impl FnOnce(&mut Self) -> T) -> T {
        if !self.automaton.languages().is_non_enumerable(language) {
            return work(self);
        }
        self.automaton.languages_mut().begin();
        let result = work(self);
        if self.automaton.languages_mut().end() {
            self.cache.forget(self.automaton.languages());
        }
        result
    }

    /// The tokens of a language by a walk over their characters.
    fn walk(&mut self, language: LanguageId) -> Result<TokenSet, AutomatonError> {
        let index = self.index;
        let root = Residual::new(self.automaton, language)?;
        let excludes = matches!(root, Residual::Language(_)) && self.leaves_most(language)?;
        let states = std::mem::take(&mut self.cache.walked);
        let lengths = &mut self.cache.lengths;
        let longest = index.inside.longest;
        let mut walk = CharacterWalk::new(
            (index, &self.shared.classes),
            FreeLanguages { lengths, longest },
            states,
            excludes,
        );
        let state = walk.number(self.automaton, root)?;
        walk.spread(self.automaton, ROOT, state)?;
        tracing::trace!(groups = ?walk.taken, "character walk");
        // Many states are not kept: some take half a kilobyte each.
        self.cache.walked = match walk.states.are_many() {
            true => ResidualStates::default(),
            false => walk.states,
        };
        Ok(match excludes {
            true => TokenSet::all_but(walk.found, &index.sets),
            false => TokenSet::joined(walk.found, walk.words, &walk.taken_out, index.len),
        })
    }

    /// Whether more tokens begin with a character after which anything may follow than with one that nothing follows.
    fn leaves_most(&mut self, language: LanguageId) -> Result<bool, AutomatonError> {
        if self.automaton.languages().is_non_enumerable(language) {
            return Ok(false);
        }
        let contents = &self.index.inside;
        let trie = &contents.inside;
        let (mut free, mut possible) = (0, 0);
        for &(range, target) in self.automaton.languages_mut().transitions(language)?.iter() {
            let (first, last) = (u32::from(range.first()), u32::from(range.last()));
            let (from, to) = (trie.child_from(ROOT, first), trie.child_from(ROOT, last + 1));
            let tokens = trie.run(from, to).len();
            possible += tokens;
            if self.cache.lengths.is_viable(self.automaton, target, contents.longest)? {
                free += tokens;
            }
        }
        Ok(free > contents.tokens.len() - possible)
    }

    /// Adds those of a few tokens that may follow between two characters of a string and stay in it.
    pub(crate) fn inside_few(
        &mut self,
        contents: &Contents,
        language: LanguageId,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        if word_list::inside(self.automaton, contents, language, found).is_some() {
            return Ok(());
        }
        if self
            .cache
            .lengths
            .is_viable(self.automaton, language, contents.longest)?
        {
            found.extend_from_slice(&contents.tokens);
        } else {
            let (few, wanted) = (&mut self.cache.few, WantedTokens::Inside);
            few_tokens::find(self.automaton, few, contents, wanted, language, found)?;
        }
        Ok(())
    }

    /// Adds those of a few tokens that close a string of `language` and have a viable suffix.
    pub(crate) fn closings(
        &mut self,
        contents: &Contents,
        language: LanguageId,
        viable: &SuffixSet,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        if word_list::closings(self.automaton, contents, language, viable, found).is_some() {
            return Ok(());
        }
        if self
            .cache
            .lengths
            .is_accepted(self.automaton, language, contents.longest)?
        {
            let closings = contents.closings.iter();
            let may = closings.filter(|closing| viable[closing.suffix as usize]);
            found.extend(may.map(|closing| closing.token));
        } else {
            let (few, wanted) = (&mut self.cache.few, WantedTokens::Closing(viable));
            few_tokens::find(self.automaton, few, contents, wanted, language, found)?;
        }
        Ok(())
    }

    /// The tokens that may follow within a character of a string and stay in that string.
    pub(crate) fn within(&mut self, begun: DecodeState, language: LanguageId) -> Result<TokenSet, AutomatonError> {
        let key = (begun, language);
        if let Some(known) = self.cache.sets.get(&key) {
            return Ok(known);
        }
        let index = self.index;
        // A token may add as many characters as it has bytes.
        let longest = index.longest as u64;
        if self.cache.lengths.is_viable(self.automaton, language, longest)? {
            return Ok(TokenSet::over(Base::Words(self.within_any(begun))));
        }
        let fingerprint = self.automaton.languages_mut().fingerprint(language);
        let known = fingerprint.and_then(|fingerprint| lock(&self.shared.sets).get(&(begun, fingerprint)));
        let set = match known {
            Some(known) => known,
            None => {
                Strategy::PartialCodePoint.trace(language);
                let any = self.within_any(begun);
                let set = self.on_trial(language, |Self { automaton, cache, .. }| {
                    let lengths = &mut cache.lengths;
                    let free = FreeLanguages { lengths, longest };
                    partial_code_point::within(automaton, free, index, (begun, any), language)
                })?;
                if let Some(fingerprint) = fingerprint {
                    lock(&self.shared.sets).keep((begun, fingerprint), set.clone(), set.bytes());
                }
                set
            }
        };
        self.cache.sets.keep(key, set.clone(), set.bytes());
        Ok(set)
    }

    /// The tokens that may follow within a character of a string that may be any.
    fn within_any(&self, begun: DecodeState) -> Words {
        if let Some(known) = lock(&self.shared.partial).get(&begun) {
            return known;
        }
        let any = self.index.within_any_string(begun);
        lock(&self.shared.partial).keep(begun, any.clone(), 4 * any.len());
        any
    }
}

impl CharacterWalk<'_> {
    /// Visits the tokens below the root or a space, as [`visit`](Self::visit) does, and judges groups of tokens as a whole where
    /// a loop, or the last character, says where they lead.
    pub(crate) fn spread(&mut self, automaton: &mut Automaton, node: u32, state: u32) -> Result<(), AutomatonError> {
        let (trie, tuning) = (self.trie(), self.index.tuning);
        self.at(automaton, node, state)?;
        let mut groups: Vec<Group> = Vec::new();
        let mut spaced = None;
        let space = self.index.postings.space().filter(|_| node == ROOT);
        if self.open_region(automaton, (node, state))? {
            self.taken.open_regions += 1;
            return match space {
                Some(space) => match self.after(automaton, state, ' '.into())? {
                    next @ (DEAD | FREE) => {
                        self.run(trie.run(space, trie.end(space)), next == FREE);
                        Ok(())
                    }
                    next => self.spread(automaton, space, next),
                },
                None => Ok(()),
            };
        }
        let mut at = first_child(node);
        // Nodes may have more children than languages ranges: those of a range are visited at once.
        while at < trie.end(node) {
            let (next, last) = self.run_after(automaton, state, trie.label(at))?;
            let from = at;
            at = trie.child_from(node, last + 1);
            if matches!(next, DEAD | FREE) {
                self.run(trie.run(from, at), next == FREE);
                continue;
            }
            let mut ranges = [from..at, 0..0];
            if let Some(space) = space.filter(|space| (from..at).contains(space)) {
                spaced = Some((space, next));
                ranges = [from..space, trie.end(space)..at];
            }
            let group = match groups.iter().rposition(|group| group.state == next) {
                Some(place) => &mut groups[place],
                None => {
                    groups.push(Group::empty(next));
                    let last = groups.len() - 1;
                    &mut groups[last]
                }
            };
            for range in ranges.into_iter().filter(|range| !range.is_empty()) {
                group.add(range, trie);
            }
        }
        let from = (node, state);
        let mut left: Vec<Group> = Vec::new();
        for group in groups {
            let is_done = group.texts >= WORTH_TAKING && self.follow(automaton, from, &group, tuning.loop_exits)?;
            match is_done {
                true => self.taken.self_loops += 1,
                false => left.push(group),
            }
        }
        self.definite_region(automaton, from, &mut left)?;
        for group in left {
            if group.texts >= WORTH_TAKING && self.follow(automaton, from, &group, usize::MAX)? {
                self.taken.self_loops += 1;
                continue;
            }
            self.taken.walked += 1;
            for child in group.children(trie) {
                self.visit(automaton, child, group.state)?;
            }
        }
        match spaced {
            Some((child, next)) => self.spread(automaton, child, next),
            None => Ok(()),
        }
    }
}
