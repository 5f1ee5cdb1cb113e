//! Compilation of a parsed pattern to its language.
//!
//! Assertions depend on the text around them, so an expression with assertions has no language of its own.
//! Each expression is compiled with a continuation: for an expression `e` and the language `k` of the texts that may follow,
//! [`PatternCompiler::followed`] gives the language of the texts of which `e` matches a prefix and `k`
//! the remainder. Then a lookahead `(?=e)` before `k` is `(e followed by anything) ∩ k`, `$` before `k` is `k` without
//! all but the empty text, and so on exactly, in alternatives and loops as well. `e*` before `k` is the language `x`
//! with `x = k ∪ (e, not empty, followed by x)`; each turn reads at least one character, so there is one such language.
//!
//! Assertions that look backwards depend on the text already read. `^` holds at the beginning only. `\b` and lookbehinds for one character,
//! `(?<!-)`, depend on the last character alone: characters are divided into kinds, such that all of a kind fulfil the same of these
//! assertions. Every expression is compiled for each [place](Place): the beginning, and behind a character of each kind, and with a
//! continuation for each kind of last character that it may have matched. So these assertions are decided while a pattern is
//! compiled. For longer lookbehinds a condition on
//! the past takes the place of the assertion ([`Expr::Past`]), and the languages of pasts that fulfil it are walked
//! beside the pattern ([`Arena::recall`]).
//!
//! [`Expr::Past`]: crate::strings::expr::expression::Expr::Past

use std::rc::Rc;

use hashbrown::HashMap;

use crate::strings::charset::CharSet;
use crate::strings::expr::arena::Arena;
use crate::strings::expr::expression::{Expr, MAX_PASTS};
use crate::strings::language_id::{ANY, CHARACTER, EMPTY, LanguageId, NONE, UNBOUNDED};
use crate::strings::limits::LanguageLimits;
use crate::strings::pattern::ast::{Ast, AstForm, AstId};
use crate::strings::pattern::error::PatternError;
use crate::strings::unicode_properties::word;

/// Maximal number of kinds of characters: each lookbehind for one character may double it, and each kind makes a language larger.
const MAX_KINDS: usize = 8;

/// Maximal depth of an expression whose beginnings are told by its structure.
const BEGINNING_DEPTH: usize = 8;
/// Number of ranges of characters that are intersected in one step.
const RANGES_A_STEP: usize = 64;

type PatternLanguage = Result<LanguageId, PatternError>;

/// The place in the text at which an expression starts to match.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// At the beginning.
    Start,
    /// Behind a character of the kind of this index.
    Behind(usize),
}

/// The languages that may follow an expression.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Continuation {
    /// The continuation where the expression matched no character.
    empty: LanguageId,
    /// For each kind of characters, the continuation where the last character that the expression matched is of it.
    after: Vec<LanguageId>,
}

impl Continuation {
    /// The continuation of an expression that starts behind a character of a kind, if it matches as this one's does after that.
    fn behind(&self, kind: usize) -> Self {
        Self {
            empty: self.after[kind],
            after: self.after.clone(),
        }
    }

    fn nowhere(&self) -> bool {
        self.empty == NONE && self.after.iter().all(|&after| after == NONE)
    }
}

/// A set of characters that an assertion asks for of the next character.
struct NextSet {
    characters: CharSet,
    /// The texts that begin with one of them.
    texts: LanguageId,
}

pub(super) struct PatternCompiler<'a> {
    arena: &'a mut Arena,
    ast: &'a Ast,
    limits: &'a LanguageLimits,
    steps: usize,
    /// The kinds of characters: together all characters, disjoint, none empty.
    kinds: Vec<CharSet>,
    /// The kinds of the characters of `\w`, as bits.
    word_kinds: u8,
    /// The characters that the expressions of lookarounds match, where they match one character whatever is around it.
    single: HashMap<AstId, Option<Rc<CharSet>>>,
    /// For the expressions of lookbehinds that the kind of the last character decides, the kinds that they match, as bits.
    decided: HashMap<AstId, u8>,
    /// For each expression, whether it has an assertion that the kind of the last character decides.
    asks_for_kind: Vec<bool>,
    /// The languages of expressions without assertions: expressions before an assertion are compiled more than once.
    plain: Vec<Option<LanguageId>>,
    followed: HashMap<(AstId, Place, Continuation), LanguageId>,
    /// The characters of some kinds, by the bits of these.
    united_kinds: HashMap<u8, Rc<CharSet>>,
    /// The texts of expressions without assertions that are not empty and end in a character of some kinds.
    endings: HashMap<(AstId, u8), LanguageId>,
    /// The sets of characters that assertions ask for of the next character: those of `\w`, where there is no expression, or those of a
    /// lookahead's expression, or all others.
    next_sets: HashMap<(Option<AstId>, bool), Rc<NextSet>>,
    /// The texts of languages that begin with a character of such a set, or none, where their structure does not show them.
    beginnings: HashMap<(LanguageId, LanguageId), Option<LanguageId>>,
    /// Languages without the empty text.
    inhabited: HashMap<LanguageId, LanguageId>,
    /// For a loop's expression and the languages that may follow the loop, those that may follow a round; one each for each kind of the last
    /// character.
    rounds: HashMap<(AstId, Vec<LanguageId>), Vec<LanguageId>>,
    /// Lookbehinds by their condition, and the languages of the pasts that fulfil it.
    behinds: Vec<(AstId, LanguageId)>,
    past: Vec<LanguageId>,
}

impl<'a> PatternCompiler<'a> {
    pub(super) fn new(arena: &'a mut Arena, ast: &'a Ast, limits: &'a LanguageLimits) -> Result<Self, PatternError> {
        let mut compiler = Self {
            arena,
            ast,
            limits,
            steps: 0,
            kinds: vec![CharSet::all()],
            word_kinds: 0,
            single: HashMap::new(),
            decided: HashMap::new(),
            asks_for_kind: vec![false; ast.ids().count()],
            plain: vec![None; ast.ids().count()],
            followed: HashMap::new(),
            united_kinds: HashMap::new(),
            endings: HashMap::new(),
            next_sets: HashMap::new(),
            beginnings: HashMap::new(),
            inhabited: HashMap::new(),
            rounds: HashMap::new(),
            behinds: Vec::new(),
            past: Vec::new(),
        };
        compiler.find_kinds()?;
        compiler.find_conditions()?;
        Ok(compiler)
    }

    /// Divides the characters by the assertions about the last one.
    fn find_kinds(&mut self) -> Result<(), PatternError> {
        let ast = self.ast;
        let word = word();
        let is_boundary = |id| matches!(ast.form(id), AstForm::WordBoundary { .. });
        if ast.ids().any(is_boundary) {
            self.divide(&word)?;
        }
        let mut behind = Vec::new();
        for id in ast.ids() {
            let &AstForm::Look {
                behind: looks_behind,
                inner,
                ..
            } = ast.form(id)
            else {
                continue;
            };
            let set = self.one_character(inner).map(Rc::new);
            self.single.insert(inner, set.clone());
            if let Some(set) = set.filter(|_| looks_behind) {
                self.divide(&set)?;
                behind.push((inner, set));
            }
        }
        self.word_kinds = self.kinds_of(&word).unwrap_or(0);
        for (inner, set) in behind {
            self.decided.extend(self.kinds_of(&set).map(|kinds| (inner, kinds)));
        }
        for id in ast.ids() {
            let asks = |id: &AstId| self.asks_for_kind[id.index()];
            self.asks_for_kind[id.index()] = match ast.form(id) {
                AstForm::WordBoundary { .. } => true,
                AstForm::Look { behind, inner, .. } => asks(inner) || *behind && self.decided.contains_key(inner),
                AstForm::Repeat { inner, .. } => asks(inner),
                AstForm::Concat(parts) | AstForm::Alternatives(parts) => parts.iter().any(asks),
                AstForm::Empty | AstForm::Class(_) | AstForm::Start | AstForm::End => false,
            };
        }
        Ok(())
    }

    /// Divides each kind by whether a character is of `set`, unless these are too many kinds.
    fn divide(&mut self, set: &CharSet) -> Result<(), PatternError> {
        let ranges = self.kinds.iter().map(|kind| kind.ranges().len() + set.ranges().len());
        self.count_ranges(ranges.sum())?;
        let sides = [set.clone(), set.complement()];
        let parts = (self.kinds.iter()).flat_map(|kind| sides.each_ref().map(|side| kind.intersection(side)));
        let kinds: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
        if kinds.len() <= MAX_KINDS {
            self.kinds = kinds;
        }
        Ok(())
    }

    /// The kinds that make up `set`, as bits; none where it has a part of a kind.
    fn kinds_of(&self, set: &CharSet) -> Option<u8> {
        let mut kinds = 0;
        for (i, kind) in self.kinds.iter().enumerate() {
            let common = kind.intersection(set);
            if common == *kind {
                kinds |= 1 << i;
            } else if !common.is_empty() {
                return None;
            }
        }
        Some(kinds)
    }

    /// The characters that an expression matches, where it matches one character whatever is around it.
    fn one_character(&self, id: AstId) -> Option<CharSet> {
        let mut ranges = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            match self.ast.form(id) {
                AstForm::Class(set) => ranges.extend_from_slice(set.ranges()),
                AstForm::Concat(parts) if parts.len() == 1 => open.extend_from_slice(parts),
                AstForm::Alternatives(parts) => open.extend_from_slice(parts),
                _ => return None,
            }
        }
        Some(CharSet::from_char_ranges(ranges))
    }

    /// Numbers the conditions on the past before anything is compiled: loops announce which they may mention.
    fn find_conditions(&mut self) -> Result<(), PatternError> {
        for id in self.ast.ids() {
            // Children come first, so that what a lookbehind asks of its own past is numbered already.
            if let AstForm::Look {
                behind: true, inner, ..
            } = *self.ast.form(id)
                && !self.decided.contains_key(&inner)
            {
                self.refuse_looking_ahead(inner)?;
                let whole = self.matched_from_anywhere(inner, EMPTY)?;
                self.behinds.push((id, whole));
                self.past.push(whole);
            }
            if self.past.len() > MAX_PASTS {
                return Err(PatternError::TooLarge {
                    what: "lookbehinds for several characters, or for one of too many kinds",
                    allowed: MAX_PASTS,
                });
            }
        }
        Ok(())
    }

    fn both(&self, language: LanguageId) -> Continuation {
        Continuation {
            empty: language,
            after: vec![language; self.kinds.len()],
        }
    }

    /// The languages of `inner` behind a character of each kind.
    fn followed_behind_each(
        &mut self,
        inner: AstId,
        next: impl Fn(usize) -> Continuation,
    ) -> Result<Vec<LanguageId>, PatternError> {
        (0..self.kinds.len())
            .map(|kind| self.followed(inner, Place::Behind(kind), &next(kind)))
            .collect()
    }

    /// The different languages among those of all kinds, each with its kinds, as bits.
    fn by_language(&self, languages: &[LanguageId]) -> Vec<(u8, LanguageId)> {
        let mut different: Vec<(u8, LanguageId)> = Vec::new();
        for (kind, &language) in languages.iter().enumerate() {
            match different.iter_mut().find(|(_, known)| *known == language) {
                Some((kinds, _)) => *kinds |= 1 << kind,
                None => different.push((1 << kind, language)),
            }
        }
        different
    }

    /// The characters of some kinds, which are given as bits.
    fn characters_of(&mut self, kinds: u8) -> Rc<CharSet> {
        let all = self.kinds.iter().enumerate().filter(|(i, _)| kinds >> i & 1 == 1);
        let united = self.united_kinds.entry(kinds).or_insert_with(|| {
            let ranges = all.flat_map(|(_, kind)| kind.ranges().iter().copied());
            Rc::new(CharSet::from_char_ranges(ranges))
        });
        united.clone()
    }

    /// Texts that begin anywhere with a match and go on with `next`.
    fn matched_from_anywhere(&mut self, inner: AstId, next: LanguageId) -> PatternLanguage {
        if !self.ast.asserts(inner) {
            let matched = self.plain(inner)?;
            let matched = self.arena.concat(matched, next)?;
            return Ok(self.arena.concat(ANY, matched)?);
        }
        let next = self.both(next);
        let mut places = vec![self.followed(inner, Place::Start, &next)?];
        let later = self.followed_behind_each(inner, |_| next.clone())?;
        for (kinds, language) in self.by_language(&later) {
            let last = self.characters_of(kinds);
            let last = self.arena.class(&last)?;
            let before = match last {
                CHARACTER => self.arena.repeat(CHARACTER, 1, UNBOUNDED)?,
                last => self.arena.concat(ANY, last)?,
            };
            places.push(self.arena.concat(before, language)?);
        }
        let body = self.arena.or(places)?;
        let past = self.past.clone();
        Ok(self.arena.recall(body, &past)?)
    }

    /// The texts in which `whole` finds a match.
    pub(super) fn search(mut self, whole: AstId) -> PatternLanguage {
        self.matched_from_anywhere(whole, ANY)
    }

    fn refuse_looking_ahead(&self, inner: AstId) -> Result<(), PatternError> {
        let mut stack = vec![inner];
        while let Some(id) = stack.pop() {
            match self.ast.form(id) {
                AstForm::Concat(parts) | AstForm::Alternatives(parts) => stack.extend_from_slice(parts),
                AstForm::Repeat { inner, .. }
                | AstForm::Look {
                    behind: true, inner, ..
                } => stack.push(*inner),
                AstForm::End | AstForm::WordBoundary { .. } | AstForm::Look { .. } => {
                    return Err(PatternError::Unsupported {
                        offset: 0,
                        what: "looking ahead from within a lookbehind",
                    });
                }
                AstForm::Empty | AstForm::Class(_) | AstForm::Start => {}
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), PatternError> {
        self.steps += 1;
        if self.steps > self.limits.pattern_steps {
            let allowed = self.limits.pattern_steps;
            return Err(PatternError::TooLarge {
                what: "subexpressions, repeated assertions unrolled",
                allowed,
            });
        }
        Ok(())
    }

    /// Counts steps for sets of so many ranges of characters.
    fn count_ranges(&mut self, ranges: usize) -> Result<(), PatternError> {
        self.steps += ranges / RANGES_A_STEP;
        self.step()
    }

    /// The texts that an expression without assertions matches whole.
    fn plain(&mut self, id: AstId) -> PatternLanguage {
        if let Some(known) = self.plain[id.index()] {
            return Ok(known);
        }
        let language = self.plain_anew(id)?;
        self.plain[id.index()] = Some(language);
        Ok(language)
    }

    fn plain_anew(&mut self, id: AstId) -> PatternLanguage {
        self.step()?;
        match self.ast.form(id) {
            AstForm::Class(set) => Ok(self.arena.class(set)?),
            AstForm::Concat(parts) => {
                let mut joined = EMPTY;
                for &part in parts.iter().rev() {
                    let part = self.plain(part)?;
                    joined = self.arena.concat(part, joined)?;
                }
                Ok(joined)
            }
            AstForm::Alternatives(parts) => {
                let parts: Result<Vec<_>, _> = parts.iter().map(|&part| self.plain(part)).collect();
                Ok(self.arena.or(parts?)?)
            }
            &AstForm::Repeat { inner, min, max } => {
                let inner = self.plain(inner)?;
                Ok(self.arena.repeat(inner, min, max)?)
            }
            // Not reached with assertions.
            AstForm::Empty | AstForm::Start | AstForm::End | AstForm::WordBoundary { .. } | AstForm::Look { .. } => {
                Ok(EMPTY)
            }
        }
    }

    /// Texts that begin with a match of `id` at `place` and go on with `next`.
    fn followed(&mut self, id: AstId, place: Place, next: &Continuation) -> PatternLanguage {
        if next.nowhere() {
            return Ok(NONE);
        }
        // Where the text begins matters to assertions alone, and the kind of the last character only to those that ask for it.
        let place = match place {
            _ if !self.ast.asserts(id) => Place::Start,
            Place::Behind(_) if !self.asks_for_kind[id.index()] => Place::Behind(0),
            place => place,
        };
        let key = (id, place, next.clone());
        if let Some(&known) = self.followed.get(&key) {
            return Ok(known);
        }
        let language = self.followed_anew(id, place, next)?;
        self.followed.insert(key, language);
        Ok(language)
    }

    fn followed_anew(&mut self, id: AstId, place: Place, next: &Continuation) -> PatternLanguage {
        self.step()?;
        if !self.ast.asserts(id) {
            return self.plain_followed(id, next);
        }
        let ast = self.ast;
        match ast.form(id) {
            AstForm::Concat(parts) => self.concat_followed(parts, place, next),
            AstForm::Alternatives(parts) => {
                let parts: Result<Vec<_>, _> = parts.iter().map(|&part| self.followed(part, place, next)).collect();
                Ok(self.arena.or(parts?)?)
            }
            &AstForm::Repeat { inner, min, max } => self.repeat_followed(inner, (min, max), place, next),
            AstForm::Start => Ok(if place == Place::Start { next.empty } else { NONE }),
            AstForm::End => Ok(self.arena.and(vec![EMPTY, next.empty])?),
            &AstForm::WordBoundary { negated } => {
                let behind_word = matches!(place, Place::Behind(kind) if self.word_kinds >> kind & 1 == 1);
                self.beginning(next.empty, None, behind_word == negated)
            }
            &AstForm::Look { behind, negated, inner } => {
                if !behind && matches!(self.single.get(&inner), Some(Some(_))) {
                    return self.beginning(next.empty, Some(inner), !negated);
                }
                let holds = if behind {
                    self.lookbehind(id, inner, place)?
                } else {
                    self.followed(inner, place, &self.both(ANY))?
                };
                let condition = if negated { self.arena.not(holds)? } else { holds };
                Ok(self.arena.and(vec![condition, next.empty])?)
            }
            AstForm::Empty | AstForm::Class(_) => Ok(next.empty),
        }
    }

    /// A match of an expression without assertions that goes on with `next`.
    fn plain_followed(&mut self, id: AstId, next: &Continuation) -> PatternLanguage {
        let matched = self.plain(id)?;
        let empty = if self.arena.nullable(matched) { next.empty } else { NONE };
        let ways = self.by_language(&next.after);
        let mut ends = Vec::new();
        if let [(_, after)] = ways[..] {
            ends.push((matched, after));
        } else {
            for (kinds, after) in ways {
                ends.push((self.ending(id, kinds)?, after));
            }
            ends.retain(|&(matched, _)| matched != NONE);
        }
        let mut texts = vec![empty];
        match ends[..] {
            [(_, after)] if after == next.empty => return Ok(self.arena.concat(matched, after)?),
            [(_, after)] => {
                let inhabited = match self.inhabited.get(&matched) {
                    Some(&known) => known,
                    None => self.arena.without_empty(matched)?,
                };
                self.inhabited.insert(matched, inhabited);
                texts.push(self.arena.concat(inhabited, after)?);
            }
            _ => {
                for (matched, after) in ends {
                    texts.push(self.arena.concat(matched, after)?);
                }
            }
        }
        Ok(self.arena.or(texts)?)
    }

    /// The texts of an expression without assertions that are not empty and end in a character of some kinds, which are given as bits.
    fn ending(&mut self, id: AstId, kinds: u8) -> PatternLanguage {
        if let Some(&known) = self.endings.get(&(id, kinds)) {
            return Ok(known);
        }
        let language = self.ending_anew(id, kinds)?;
        self.endings.insert((id, kinds), language);
        Ok(language)
    }

    fn ending_anew(&mut self, id: AstId, kinds: u8) -> PatternLanguage {
        self.step()?;
        let ast = self.ast;
        match ast.form(id) {
            AstForm::Class(class) => {
                let set = self.characters_of(kinds);
                self.count_ranges(class.ranges().len() + set.ranges().len())?;
                Ok(self.arena.class(&class.intersection(&set))?)
            }
            AstForm::Concat(parts) => {
                let mut ways = Vec::new();
                for (i, &part) in parts.iter().enumerate().rev() {
                    let mut text = self.ending(part, kinds)?;
                    for &part in parts[..i].iter().rev() {
                        // The first of the ways takes no more than the parts themselves.
                        if !ways.is_empty() {
                            self.step()?;
                        }
                        let before = self.plain(part)?;
                        text = self.arena.concat(before, text)?;
                    }
                    ways.push(text);
                    let part = self.plain(part)?;
                    if !self.arena.nullable(part) {
                        break;
                    }
                }
                Ok(self.arena.or(ways)?)
            }
            AstForm::Alternatives(parts) => {
                let parts: Result<Vec<_>, _> = parts.iter().map(|&part| self.ending(part, kinds)).collect();
                Ok(self.arena.or(parts?)?)
            }
            &AstForm::Repeat { inner, min, max } if max > 0 => {
                // Rounds that match nothing may come first.
                let last = self.ending(inner, kinds)?;
                let before = self.plain(inner)?;
                let fewer = if max == UNBOUNDED { max } else { max - 1 };
                let before = self.arena.repeat(before, min.saturating_sub(1), fewer)?;
                Ok(self.arena.concat(before, last)?)
            }
            _ => Ok(NONE),
        }
    }

    fn concat_followed(&mut self, parts: &[AstId], place: Place, next: &Continuation) -> PatternLanguage {
        let mut next = next.clone();
        for &part in parts.iter().rev() {
            self.step()?;
            if next.nowhere() {
                return Ok(NONE);
            }
            next = self.preceded(part, place, &next)?;
        }
        Ok(next.empty)
    }

    /// The continuation of what comes before `part`, of which `next` is the continuation.
    fn preceded(&mut self, part: AstId, place: Place, next: &Continuation) -> Result<Continuation, PatternError> {
        Ok(Continuation {
            empty: self.followed(part, place, next)?,
            after: self.followed_behind_each(part, |kind| next.behind(kind))?,
        })
    }

    fn repeat_followed(
        &mut self,
        inner: AstId,
        (min, max): (u64, u64),
        place: Place,
        next: &Continuation,
    ) -> PatternLanguage {
        let mut next = if max == UNBOUNDED {
            self.loop_followed(inner, place, next)?
        } else {
            let mut optional = next.clone();
            for _ in min..max {
                self.step()?;
                // A round that matches nothing adds nothing, so that the rounds left out are the last.
                let more = Continuation {
                    empty: NONE,
                    after: optional.after.clone(),
                };
                let empty = self.followed(inner, place, &more)?;
                let after = self.followed_behind_each(inner, |_| more.clone())?;
                let longer = Continuation {
                    empty: self.arena.or(vec![next.empty, empty])?,
                    after: self.either(&next.after, &after)?,
                };
                // Further rounds add nothing.
                if longer == optional {
                    break;
                }
                optional = longer;
            }
            optional
        };
        for _ in 0..min {
            self.step()?;
            let longer = self.preceded(inner, place, &next)?;
            if longer == next {
                break;
            }
            next = longer;
        }
        Ok(next.empty)
    }

    /// For each kind, the texts of either of two languages.
    fn either(&mut self, one: &[LanguageId], other: &[LanguageId]) -> Result<Vec<LanguageId>, PatternError> {
        let both = one.iter().zip(other);
        both.map(|(&one, &other)| Ok(self.arena.or(vec![one, other])?))
            .collect()
    }

    fn loop_followed(&mut self, inner: AstId, place: Place, next: &Continuation) -> Result<Continuation, PatternError> {
        let round = Continuation {
            empty: NONE,
            after: self.rounds(inner, &next.after)?,
        };
        // Elsewhere than at the beginning this is a round just compiled.
        let from_here = self.followed(inner, place, &round)?;
        Ok(Continuation {
            empty: self.arena.or(vec![next.empty, from_here])?,
            after: round.after,
        })
    }

    /// The texts of `id` that begin with a character that a lookahead's expression matches, or `\w` where there is none, or those that do
    /// not.
    fn beginning(&mut self, id: LanguageId, asked: Option<AstId>, is_asked: bool) -> PatternLanguage {
        let set = self.next_set(asked, is_asked)?;
        let begun = self.beginning_with(id, &set, BEGINNING_DEPTH)?;
        if is_asked {
            return Ok(begun);
        }
        let empty = self.arena.and(vec![EMPTY, id])?;
        Ok(self.arena.or(vec![empty, begun])?)
    }

    /// The characters that a lookahead's expression matches, or those of `\w` where there is none, or all others.
    fn next_set(&mut self, asked: Option<AstId>, is_asked: bool) -> Result<Rc<NextSet>, PatternError> {
        if let Some(known) = self.next_sets.get(&(asked, is_asked)) {
            return Ok(known.clone());
        }
        let set = match asked {
            None => word(),
            Some(inner) => self.one_character(inner).unwrap_or_default(),
        };
        let characters = if is_asked { set } else { set.complement() };
        let class = self.arena.class(&characters)?;
        let texts = self.arena.concat(class, ANY)?;
        let found = Rc::new(NextSet { characters, texts });
        self.next_sets.insert((asked, is_asked), found.clone());
        Ok(found)
    }

    /// The texts of `id` that begin with a character of `set`, by the structure of `id` up to a depth: an intersection would hide what
    /// texts begin like.
    fn beginning_with(&mut self, id: LanguageId, set: &NextSet, depth: usize) -> PatternLanguage {
        let mut ways = Vec::new();
        let mut rest = id;
        loop {
            self.step()?;
            let (first, tail) = match *self.arena.node(rest) {
                Expr::Concat(first, tail) => (first, tail),
                _ => (rest, EMPTY),
            };
            let Some(begun) = self.begun(first, set, depth)? else {
                ways.push(self.arena.and(vec![set.texts, rest])?);
                break;
            };
            ways.push(self.arena.concat(begun, tail)?);
            if tail == EMPTY || !self.arena.nullable(first) {
                break;
            }
            rest = tail;
        }
        Ok(self.arena.or(ways)?)
    }

    /// The texts of `id`, which is not two languages one after the other, that begin with a character of `set`; none where its structure
    /// does not show them.
    fn begun(&mut self, id: LanguageId, set: &NextSet, depth: usize) -> Result<Option<LanguageId>, PatternError> {
        let key = (id, set.texts);
        if let Some(&known) = self.beginnings.get(&key) {
            return Ok(known);
        }
        let nullable = self.arena.facts(id).nullable;
        // Whether texts begin here or behind it may depend on the past.
        let is_plain = nullable == 0 || nullable == u64::MAX;
        let begun = match self.arena.node(id).clone() {
            Expr::None | Expr::Empty => Some(NONE),
            Expr::Class(ranges) => {
                self.count_ranges(ranges.len() + set.characters.ranges().len())?;
                let class = CharSet::from_char_ranges(ranges.iter().copied());
                Some(self.arena.class(&class.intersection(&set.characters))?)
            }
            Expr::Or(members) if is_plain && depth > 0 => {
                let mut begun = Vec::new();
                for &member in &members {
                    begun.push(self.beginning_with(member, set, depth - 1)?);
                }
                Some(self.arena.or(begun)?)
            }
            Expr::Repeat { inner, min, max } if is_plain && depth > 0 => {
                let once = self.beginning_with(inner, set, depth - 1)?;
                let fewer = if max == UNBOUNDED { max } else { max - 1 };
                let more = self.arena.repeat(inner, min.saturating_sub(1), fewer)?;
                Some(self.arena.concat(once, more)?)
            }
            _ => None,
        };
        self.beginnings.insert(key, begun);
        Ok(begun)
    }

    /// The languages of any number of rounds of a loop, and what follows it, behind a character of each kind.
    fn rounds(&mut self, inner: AstId, next: &[LanguageId]) -> Result<Vec<LanguageId>, PatternError> {
        let key = (inner, next.to_vec());
        if let Some(known) = self.rounds.get(&key) {
            return Ok(known.clone());
        }
        let pasts = ((1u16 << self.past.len()) - 1) as u8;
        // It is one language for all kinds, unless something asks for them.
        let is_one = !self.asks_for_kind[inner.index()] && next.iter().all(|&after| after == next[0]);
        let mut again: Vec<LanguageId> = Vec::new();
        for &after in next {
            again.push(match again.first() {
                Some(&same) if is_one => same,
                _ => self.arena.announce_loop(self.arena.facts(after).nullable, pasts)?,
            });
        }
        let round = Continuation {
            empty: NONE,
            after: again.clone(),
        };
        let once_more = self.followed_behind_each(inner, |_| round.clone())?;
        let definitions = self.either(next, &once_more)?;
        for (&again, definition) in again.iter().zip(definitions) {
            self.arena.define_loop(again, definition);
        }
        self.rounds.insert(key, again.clone());
        Ok(again)
    }

    fn lookbehind(&mut self, id: AstId, inner: AstId, place: Place) -> PatternLanguage {
        if let Some(kinds) = self.decided.get(&inner) {
            let holds = matches!(place, Place::Behind(kind) if kinds >> kind & 1 == 1);
            return Ok(if holds { ANY } else { NONE });
        }
        let Some(&(_, language)) = self.behinds.iter().find(|(behind, _)| *behind == id) else {
            return Ok(NONE);
        };
        if place == Place::Start {
            return Ok(if self.arena.nullable(language) { ANY } else { NONE });
        }
        // Conditions are numbered in the order of `past`; two lookbehinds with one language are one condition.
        let condition = self.past.iter().position(|&past| past == language).unwrap_or_default();
        Ok(self.arena.intern(Expr::Past(condition as u8))?)
    }
}

impl Arena {
    /// The texts of `id`, an expression without assertions, that are not empty.
    fn without_empty(&mut self, id: LanguageId) -> Result<LanguageId, PatternError> {
        let mut parts = Vec::new();
        let mut rest = id;
        loop {
            if !self.nullable(rest) {
                parts.push(rest);
                break;
            }
            let (first, tail) = match *self.node(rest) {
                Expr::Concat(first, tail) => (first, tail),
                _ => (rest, EMPTY),
            };
            let inhabited = match self.node(first).clone() {
                Expr::Or(members) => {
                    let members: Result<Vec<_>, _> = members.iter().map(|&member| self.without_empty(member)).collect();
                    self.or(members?)?
                }
                Expr::Repeat { inner, max, .. } => {
                    let once = self.without_empty(inner)?;
                    let fewer = if max == UNBOUNDED { max } else { max - 1 };
                    let more = self.repeat(inner, 0, fewer)?;
                    self.concat(once, more)?
                }
                _ => NONE,
            };
            parts.push(self.concat(inhabited, tail)?);
            if tail == EMPTY {
                break;
            }
            rest = tail;
        }
        Ok(self.or(parts)?)
    }
}
