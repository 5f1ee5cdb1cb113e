//! [`RegularRules`]: the rules of a grammar whose texts form a regular language, and that language of each.
//!
//! Mutually recursive rules (a strongly connected component, here *circle*) are regular if they are right-linear or left-linear: each alternative
//! has at most one of them, always at its end or always at its beginning. Such rules are equations between languages: by Arden's rule
//! `x = a x | b` has the least solution `a* b`.

use std::collections::BTreeMap;

use crate::strings::{LanguageId, Languages, LimitReached, PatternSyntax};
use crate::{CompileError, CompileErrorKind};

use super::components::components;
use super::rules::{Grammar, Part, PartId, RuleId};

/// The regular rules of a grammar, each with its language.
#[derive(Debug)]
pub(super) struct RegularRules {
    languages: Vec<Option<LanguageId>>,
    /// The rules that the root leads to.
    reached: Vec<bool>,
}

/// Maximal number of rules of one circle whose equations are solved: solving takes time cubic in their number.
const MAX_CIRCLE: usize = 256;

/// The side of an alternative at which a rule of the same circle stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Right,
    Left,
}

/// The texts of a part of a rule in a circle: the language `alone` and, for each rule of the circle, the language beside a text of that rule.
#[derive(Clone, Debug)]
struct Linear {
    alone: LanguageId,
    beside: BTreeMap<RuleId, LanguageId>,
}

impl RegularRules {
    /// Finds the languages of all rules that the root leads to.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where an expression cannot be read, or a limit is reached.
    pub(super) fn new(grammar: &Grammar, languages: &mut Languages) -> Result<Self, CompileError> {
        let mut found = Self {
            languages: vec![None; grammar.rules.len()],
            reached: vec![false; grammar.rules.len()],
        };
        for circle in components(grammar) {
            circle.iter().for_each(|rule| found.reached[*rule] = true);
            let solved = match circle[..] {
                [rule] if !grammar.named_by(rule).any(|named| named == rule) => {
                    found.equations(grammar, languages, &circle, Side::Right)?
                }
                _ => match found.equations(grammar, languages, &circle, Side::Right)? {
                    None => found.equations(grammar, languages, &circle, Side::Left)?,
                    solved => solved,
                },
            };
            for (rule, language) in circle.iter().zip(solved.into_iter().flatten()) {
                found.languages[*rule] = Some(language);
            }
        }
        Ok(found)
    }

    /// The language of a rule.
    pub(super) fn language(&self, rule: RuleId) -> Option<LanguageId> {
        self.languages[rule]
    }

    /// Whether the root leads to a rule.
    pub(super) fn is_reached(&self, rule: RuleId) -> bool {
        self.reached[rule]
    }

    /// Returns the language of each part of a rule; none for a part that contains a rule that is not regular.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where an expression cannot be read, or a limit is reached.
    pub(super) fn part_languages(
        &self,
        grammar: &Grammar,
        languages: &mut Languages,
        rule: RuleId,
    ) -> Result<Vec<Option<LanguageId>>, CompileError> {
        let first = grammar.rules[rule].parts.start;
        let mut parts: Vec<Option<Linear>> = Vec::with_capacity(grammar.rules[rule].parts.len());
        for part in &grammar.parts[grammar.rules[rule].parts.clone()] {
            let within = |id: PartId| parts[id - first].as_ref();
            let part = self.part(languages, part, &[], Side::Right, within)?;
            parts.push(part);
        }
        Ok(parts.iter().map(|part| part.as_ref().map(|part| part.alone)).collect())
    }

    /// Returns the languages of the rules of a circle; none where the rules are not linear on that side, are too many, or name a rule that is
    /// not regular.
    fn equations(
        &self,
        grammar: &Grammar,
        languages: &mut Languages,
        circle: &[RuleId],
        side: Side,
    ) -> Result<Option<Vec<LanguageId>>, CompileError> {
        if circle.len() > MAX_CIRCLE {
            return Ok(None);
        }
        let mut equations = Vec::with_capacity(circle.len());
        for &rule in circle {
            let first = grammar.rules[rule].parts.start;
            let mut parts: Vec<Linear> = Vec::with_capacity(grammar.rules[rule].parts.len());
            for part in &grammar.parts[grammar.rules[rule].parts.clone()] {
                let within = |id: PartId| parts.get(id - first);
                let Some(part) = self.part(languages, part, circle, side, within)? else {
                    return Ok(None);
                };
                parts.push(part);
            }
            equations.extend(parts.pop());
        }
        Ok(Some(solve(languages, circle, equations, side).map_err(limit)?))
    }

    fn part<'p>(
        &self,
        languages: &mut Languages,
        part: &Part,
        circle: &[RuleId],
        side: Side,
        within: impl Fn(PartId) -> Option<&'p Linear>,
    ) -> Result<Option<Linear>, CompileError> {
        let alone = |alone| {
            let beside = BTreeMap::new();
            Some(Linear { alone, beside })
        };
        Ok(match part {
            Part::Rule(rule) if circle.contains(rule) => {
                let empty = languages.literal("").map_err(limit)?;
                Some(Linear {
                    alone: languages.none(),
                    beside: BTreeMap::from([(*rule, empty)]),
                })
            }
            Part::Rule(rule) => self.languages[*rule].and_then(alone),
            Part::Sequence(parts) => {
                let empty = languages.literal("").map_err(limit)?;
                let mut all = alone(empty);
                // From the end on, so that the left operand of each concatenation is short.
                for part in parts.iter().rev() {
                    let (Some(part), Some(rest)) = (within(*part), &all) else {
                        return Ok(None);
                    };
                    all = sequence(languages, part, rest, side).map_err(limit)?;
                }
                all
            }
            Part::Choice(parts) => {
                let (mut of_all, mut beside) = (Vec::with_capacity(parts.len()), BTreeMap::<RuleId, Vec<_>>::new());
                for part in parts {
                    let Some(part) = within(*part) else { return Ok(None) };
                    of_all.push(part.alone);
                    for (rule, language) in &part.beside {
                        beside.entry(*rule).or_default().push(*language);
                    }
                }
                let mut all = Linear {
                    alone: languages.or(&of_all).map_err(limit)?,
                    beside: BTreeMap::new(),
                };
                for (rule, of_rule) in beside {
                    all.beside.insert(rule, languages.or(&of_rule).map_err(limit)?);
                }
                Some(all)
            }
            Part::Repeat { inner, min, max } => {
                let Some(inner) = within(*inner) else { return Ok(None) };
                match (inner.beside.is_empty(), min, max) {
                    (true, ..) => alone(languages.repeat(inner.alone, *min, *max).map_err(limit)?),
                    (false, 1, 1) => Some(inner.clone()),
                    (false, 0, 1) => {
                        let empty = languages.literal("").map_err(limit)?;
                        let mut optional = inner.clone();
                        optional.alone = languages.or(&[inner.alone, empty]).map_err(limit)?;
                        Some(optional)
                    }
                    _ => None,
                }
            }
            leaf => alone(leaf_language(languages, leaf)?),
        })
    }
}

/// Returns the language of a part without inner parts.
///
/// # Errors
///
/// [`CompileError`], where an expression cannot be read, or a limit is reached.
pub(super) fn leaf_language(languages: &mut Languages, part: &Part) -> Result<LanguageId, CompileError> {
    match part {
        Part::Text(text) => languages.literal(text).map_err(limit),
        Part::Characters { ranges, is_negated } => languages.characters(ranges, *is_negated).map_err(limit),
        Part::Pattern(pattern, line) => {
            let about = |error: crate::strings::PatternError| {
                let message = format!("line {line}: {}", error.about(pattern));
                CompileError::new(error.kind(), message).on_keyword("grammar")
            };
            languages.read_patterns_by(PatternSyntax::Python);
            // A text that is no expression by itself can become one between parentheses.
            if languages.pattern_asserts(pattern).map_err(about)? {
                // Lark looks at the text around the expression, which is not known here.
                let message = format!(
                    "line {line}: anchors, word boundaries, lookaheads and lookbehinds are not supported: leave them out of `{pattern}`"
                );
                return Err(CompileError::new(CompileErrorKind::Unsupported, message).on_keyword("grammar"));
            }
            languages
                .pattern(&PatternSyntax::Python.anchored(pattern))
                .map_err(about)
        }
        Part::Rule(_) | Part::Sequence(_) | Part::Choice(_) | Part::Repeat { .. } => Ok(languages.none()),
    }
}

/// The error of a grammar that reaches a limit.
pub(super) fn limit(error: LimitReached) -> CompileError {
    CompileError::new(CompileErrorKind::LimitExceeded, error.to_string()).on_keyword("grammar")
}

fn add(
    languages: &mut Languages,
    beside: &mut BTreeMap<RuleId, LanguageId>,
    rule: RuleId,
    language: LanguageId,
) -> Result<(), LimitReached> {
    let known = beside.get(&rule).copied().unwrap_or(languages.none());
    beside.insert(rule, languages.or(&[known, language])?);
    Ok(())
}

/// Concatenates two parts; none where a rule of the circle would stand on the wrong side.
fn sequence(
    languages: &mut Languages,
    one: &Linear,
    other: &Linear,
    side: Side,
) -> Result<Option<Linear>, LimitReached> {
    let empty = languages.literal("")?;
    let is_nothing = |part: &Linear| part.beside.is_empty() && part.alone == empty;
    if is_nothing(one) {
        return Ok(Some(other.clone()));
    }
    if is_nothing(other) {
        return Ok(Some(one.clone()));
    }
    // The part that stands between the rule and the other end.
    let (near, far) = match side {
        Side::Right => (one, other),
        Side::Left => (other, one),
    };
    if !near.beside.is_empty() {
        return Ok(None);
    }
    let mut joined = Linear {
        alone: beyond(languages, near.alone, far.alone, side)?,
        beside: BTreeMap::new(),
    };
    for (rule, language) in &far.beside {
        joined
            .beside
            .insert(*rule, beyond(languages, near.alone, *language, side)?);
    }
    Ok(Some(joined))
}

/// Concatenates `near` to `far` on the side away from the rule of the circle: before `far` in right-linear equations, behind it in others.
fn beyond(
    languages: &mut Languages,
    near: LanguageId,
    far: LanguageId,
    side: Side,
) -> Result<LanguageId, LimitReached> {
    match side {
        Side::Right => languages.concat(near, far),
        Side::Left => languages.concat(far, near),
    }
}

/// Solves the equations of a circle; the left side of equation `i` is the `i`-th rule of the circle.
fn solve(
    languages: &mut Languages,
    circle: &[RuleId],
    mut equations: Vec<Linear>,
    side: Side,
) -> Result<Vec<LanguageId>, LimitReached> {
    for number in 0..equations.len() {
        // x = a x | b is a* b.
        if let Some(own) = equations[number].beside.remove(&circle[number]) {
            let often = languages.repeat(own, 0, u64::MAX)?;
            let equation = &mut equations[number];
            equation.alone = beyond(languages, often, equation.alone, side)?;
            for language in equation.beside.values_mut() {
                *language = beyond(languages, often, *language, side)?;
            }
        }
        let solved = equations[number].clone();
        for (other, equation) in equations.iter_mut().enumerate() {
            if other != number
                && let Some(before) = equation.beside.remove(&circle[number])
            {
                let alone = beyond(languages, before, solved.alone, side)?;
                equation.alone = languages.or(&[equation.alone, alone])?;
                for (rule, language) in &solved.beside {
                    let language = beyond(languages, before, *language, side)?;
                    add(languages, &mut equation.beside, *rule, language)?;
                }
            }
        }
    }
    Ok(equations.iter().map(|equation| equation.alone).collect())
}
