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

mod edges;
mod kinds;

use std::rc::Rc;

use hashbrown::HashMap;

use crate::strings::charset::CharSet;
use crate::strings::expr::arena::Arena;
use crate::strings::expr::expression::{Expr, MAX_PASTS};
use crate::strings::language_id::{ANY, CHARACTER, EMPTY, LanguageId, NONE, UNBOUNDED};
use crate::strings::limits::LanguageLimits;
use crate::strings::pattern::ast::{Ast, AstForm, AstId};
use crate::strings::pattern::error::PatternError;
use edges::NextSet;

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

pub(super) struct PatternCompiler<'a> {
    arena: &'a mut Arena,
    ast: &'a Ast,
    limits: &'a LanguageLimits,
    steps: usize,
    /// The kinds of characters: together all characters, disjoint, none empty.
    kinds: Vec<CharSet>,
    /// The kinds of the characters of `\w`, as bits.
    word_kinds: u8,
    /// The characters that expressions of lookarounds match, of those that match one character whatever is around it.
    single: HashMap<AstId, CharSet>,
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
                if !self.past.contains(&whole) {
                    self.past.push(whole);
                }
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
                if !behind && self.single.contains_key(&inner) {
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
