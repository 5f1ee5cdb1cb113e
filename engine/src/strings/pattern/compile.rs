//! Compilation of a parsed pattern to its language.
//!
//! Assertions depend on the text around them, so an expression with assertions has no language of its own.
//! Each expression is compiled with a continuation: for an expression `e` and the language `k` of the texts that may follow,
//! [`PatternCompiler::followed`] gives the language of the texts of which `e` matches a prefix and `k`
//! the remainder. Then a lookahead `(?=e)` before `k` is `(e followed by anything) ∩ k`, `$` before `k` is `k` without
//! all but the empty text, and so on exactly, in alternatives and loops as well. `e*` before `k` is the language `x`
//! with `x = k ∪ (e, not empty, followed by x)`; each turn reads at least one character, so there is one such language.
//!
//! Assertions that look backwards depend on the text already read. `^` holds at the beginning only: every expression is compiled for the
//! beginning and for elsewhere, told apart by whether a character was consumed. For `\b` and lookbehinds a condition on
//! the past takes the place of the assertion ([`Expr::Past`]), and the languages of pasts that fulfil it are walked
//! beside the pattern ([`Arena::recall`]).
//!
//! [`Expr::Past`]: crate::strings::expr::expression::Expr::Past

use hashbrown::HashMap;

use crate::strings::expr::arena::Arena;
use crate::strings::expr::expression::{Expr, MAX_PASTS};
use crate::strings::language_id::{ANY, CHARACTER, EMPTY, LanguageId, NONE, UNBOUNDED};
use crate::strings::limits::LanguageLimits;
use crate::strings::pattern::ast::{Ast, AstForm, AstId};
use crate::strings::pattern::error::PatternError;
use crate::strings::unicode_properties::word;

type PatternLanguage = Result<LanguageId, PatternError>;

/// The place in the text at which an expression starts to match.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum MatchStart {
    /// At the beginning.
    Start,
    /// Behind at least one character.
    Later,
}

/// The languages that may follow an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Continuation {
    /// The continuation where the expression matched no character.
    empty: LanguageId,
    /// The continuation where the expression matched some.
    after: LanguageId,
}

impl Continuation {
    fn both(language: LanguageId) -> Self {
        Self {
            empty: language,
            after: language,
        }
    }

    fn nowhere(self) -> bool {
        self.empty == NONE && self.after == NONE
    }
}

pub(super) struct PatternCompiler<'a> {
    arena: &'a mut Arena,
    ast: &'a Ast,
    limits: &'a LanguageLimits,
    steps: usize,
    /// The languages of expressions without assertions: expressions before an assertion are compiled more than once.
    plain: Vec<Option<LanguageId>>,
    followed: HashMap<(AstId, MatchStart, Continuation), LanguageId>,
    /// Lookbehinds by their condition, and the languages of the pasts that fulfil it.
    behinds: Vec<(AstId, LanguageId)>,
    /// The condition "the last character is of `\w`", if the pattern asks for it.
    after_word: Option<u8>,
    past: Vec<LanguageId>,
}

impl<'a> PatternCompiler<'a> {
    pub(super) fn new(arena: &'a mut Arena, ast: &'a Ast, limits: &'a LanguageLimits) -> Result<Self, PatternError> {
        let mut compiler = Self {
            arena,
            ast,
            limits,
            steps: 0,
            plain: vec![None; ast.ids().count()],
            followed: HashMap::new(),
            behinds: Vec::new(),
            after_word: None,
            past: Vec::new(),
        };
        compiler.find_conditions()?;
        Ok(compiler)
    }

    /// Numbers the conditions on the past before anything is compiled: loops announce which they may mention.
    fn find_conditions(&mut self) -> Result<(), PatternError> {
        for id in self.ast.ids() {
            match *self.ast.form(id) {
                AstForm::WordBoundary { .. } if self.after_word.is_none() => {
                    self.after_word = Some(self.past.len() as u8);
                    let word = self.arena.class(&word())?;
                    let ends_in_word = self.arena.concat(ANY, word)?;
                    self.past.push(ends_in_word);
                }
                // Children come first, so that what a lookbehind asks of its own past is numbered already.
                AstForm::Look {
                    behind: true, inner, ..
                } => {
                    self.refuse_looking_ahead(inner)?;
                    let whole = self.matched_from_anywhere(inner, EMPTY)?;
                    self.behinds.push((id, whole));
                    self.past.push(whole);
                }
                _ => {}
            }
            if self.past.len() > MAX_PASTS {
                return Err(PatternError::TooLarge {
                    what: "lookbehinds and kinds of word boundaries",
                    allowed: MAX_PASTS,
                });
            }
        }
        Ok(())
    }

    /// Texts that begin anywhere with a match and go on with `next`.
    fn matched_from_anywhere(&mut self, inner: AstId, next: LanguageId) -> PatternLanguage {
        if !self.ast.asserts(inner) {
            let matched = self.plain(inner)?;
            let matched = self.arena.concat(matched, next)?;
            return Ok(self.arena.concat(ANY, matched)?);
        }
        let first = self.followed(inner, MatchStart::Start, Continuation::both(next))?;
        let later = self.followed(inner, MatchStart::Later, Continuation::both(next))?;
        let before = self.arena.repeat(CHARACTER, 1, UNBOUNDED)?;
        let later = self.arena.concat(before, later)?;
        let body = self.arena.or(vec![first, later])?;
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
    fn followed(&mut self, id: AstId, place: MatchStart, next: Continuation) -> PatternLanguage {
        if next.nowhere() {
            return Ok(NONE);
        }
        if let Some(&known) = self.followed.get(&(id, place, next)) {
            return Ok(known);
        }
        let language = self.followed_anew(id, place, next)?;
        self.followed.insert((id, place, next), language);
        Ok(language)
    }

    fn followed_anew(&mut self, id: AstId, place: MatchStart, next: Continuation) -> PatternLanguage {
        self.step()?;
        if !self.ast.asserts(id) {
            let matched = self.plain(id)?;
            return self.plain_followed(matched, next);
        }
        match self.ast.form(id) {
            AstForm::Concat(parts) => self.concat_followed(parts, place, next),
            AstForm::Alternatives(parts) => {
                let parts: Result<Vec<_>, _> = parts.iter().map(|&part| self.followed(part, place, next)).collect();
                Ok(self.arena.or(parts?)?)
            }
            &AstForm::Repeat { inner, min, max } => self.repeat_followed(inner, (min, max), place, next),
            AstForm::Start => Ok(if place == MatchStart::Start { next.empty } else { NONE }),
            AstForm::End => Ok(self.arena.and(vec![EMPTY, next.empty])?),
            &AstForm::WordBoundary { negated } => {
                let boundary = self.word_boundary(place)?;
                let condition = if negated { self.arena.not(boundary)? } else { boundary };
                Ok(self.arena.and(vec![condition, next.empty])?)
            }
            &AstForm::Look { behind, negated, inner } => {
                let holds = if behind {
                    self.lookbehind(id, place)?
                } else {
                    self.followed(inner, place, Continuation::both(ANY))?
                };
                let condition = if negated { self.arena.not(holds)? } else { holds };
                Ok(self.arena.and(vec![condition, next.empty])?)
            }
            AstForm::Empty | AstForm::Class(_) => Ok(next.empty),
        }
    }

    fn plain_followed(&mut self, matched: LanguageId, next: Continuation) -> PatternLanguage {
        if next.empty == next.after {
            return Ok(self.arena.concat(matched, next.after)?);
        }
        let inhabited = self.arena.without_empty(matched)?;
        let after = self.arena.concat(inhabited, next.after)?;
        let empty = if self.arena.nullable(matched) { next.empty } else { NONE };
        Ok(self.arena.or(vec![after, empty])?)
    }

    fn concat_followed(&mut self, parts: &[AstId], place: MatchStart, next: Continuation) -> PatternLanguage {
        let same = place == MatchStart::Later && next.empty == next.after;
        let mut next = next;
        for &part in parts.iter().rev() {
            let empty = self.followed(part, place, next)?;
            let after = if same {
                empty
            } else {
                self.followed(part, MatchStart::Later, Continuation::both(next.after))?
            };
            next = Continuation { empty, after };
        }
        Ok(next.empty)
    }

    fn repeat_followed(
        &mut self,
        inner: AstId,
        (min, max): (u64, u64),
        place: MatchStart,
        next: Continuation,
    ) -> PatternLanguage {
        let mut next = if max == UNBOUNDED {
            self.loop_followed(inner, place, next)?
        } else {
            let mut optional = next;
            for _ in min..max {
                // A round that matches nothing adds nothing, so that the rounds left out are the last.
                let more = Continuation {
                    empty: NONE,
                    after: optional.after,
                };
                let empty = self.followed(inner, place, more)?;
                let after = self.followed(inner, MatchStart::Later, more)?;
                optional = Continuation {
                    empty: self.arena.or(vec![next.empty, empty])?,
                    after: self.arena.or(vec![next.after, after])?,
                };
            }
            optional
        };
        for _ in 0..min {
            next = Continuation {
                empty: self.followed(inner, place, next)?,
                after: self.followed(inner, MatchStart::Later, Continuation::both(next.after))?,
            };
        }
        Ok(next.empty)
    }

    fn loop_followed(
        &mut self,
        inner: AstId,
        place: MatchStart,
        next: Continuation,
    ) -> Result<Continuation, PatternError> {
        let pasts = ((1u16 << self.past.len()) - 1) as u8;
        let again = self.arena.announce_loop(self.arena.facts(next.after).nullable, pasts)?;
        let round = Continuation {
            empty: NONE,
            after: again,
        };
        let once_more = self.followed(inner, MatchStart::Later, round)?;
        let definition = self.arena.or(vec![next.after, once_more])?;
        self.arena.define_loop(again, definition);
        // Elsewhere than at the beginning this is the round just compiled.
        let from_here = self.followed(inner, place, round)?;
        Ok(Continuation {
            empty: self.arena.or(vec![next.empty, from_here])?,
            after: again,
        })
    }

    fn word_boundary(&mut self, place: MatchStart) -> PatternLanguage {
        let word = self.arena.class(&word())?;
        let before_word = self.arena.concat(word, ANY)?;
        let Some(condition) = self.after_word.filter(|_| place == MatchStart::Later) else {
            return Ok(before_word);
        };
        let after_word = self.arena.intern(Expr::Past(condition))?;
        let not_before = self.arena.not(before_word)?;
        let not_after = self.arena.not(after_word)?;
        let end = self.arena.and(vec![after_word, not_before])?;
        let start = self.arena.and(vec![not_after, before_word])?;
        Ok(self.arena.or(vec![start, end])?)
    }

    fn lookbehind(&mut self, id: AstId, place: MatchStart) -> PatternLanguage {
        let Some(&(_, language)) = self.behinds.iter().find(|(behind, _)| *behind == id) else {
            return Ok(NONE);
        };
        if place == MatchStart::Start {
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
