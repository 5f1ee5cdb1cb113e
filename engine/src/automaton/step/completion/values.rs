//! Short texts of whole values that meet an expectation.

use super::objects::ObjectRest;
use super::piece::Samples;
use super::{MAX_BYTES, TextPiece};
use crate::Limits;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Algebra, AssertionId, AtomKind, Constraint, FormulaId, OrderId, ValueSet};
use crate::automaton::search::Requirement;
use crate::automaton::step::Automaton;
use crate::json::{Document, Value};
use hashbrown::HashSet;
use std::sync::Arc;

/// Nesting depth of values in a completion.
const MAX_NESTING: usize = 64;

/// Number of values that are spelled out in aid of one. Where many have no text, each would be tried in all ways that values
/// around it can be.
const MAX_LOOKS: usize = 1 << 14;

/// Maximal number of models that lead to no text, of a container and of those within it, for one piece of a completion. Where values contain one
/// another, each model of a container may try as many of the containers within it.
const MAX_FRUITLESS_MODELS: usize = 128;

/// Length in bytes up to which a scalar is short enough not to look for a shorter container.
const CHEAP_BYTES: usize = 5;

/// The parts of a container of which a condition speaks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parts {
    /// The item at one place, or the member with one key.
    This,
    /// All that are still to come.
    All,
}

impl Automaton {
    /// A short text of a value that satisfies a constraint, with the keys of objects in a prescribed order; `None` if
    /// none was found.
    pub(super) fn value_text(
        &mut self,
        constraint: Constraint,
        order: OrderId,
    ) -> Result<Option<TextPiece>, AutomatonError> {
        let place = (constraint, order);
        if let Some(known) = self.completions.values.get(&place) {
            return Ok(known.clone());
        }
        let open = &self.completions.open;
        if open.is_empty() {
            self.completions.looks = 0;
        }
        self.completions.looks += 1;
        if open.contains(&place) || open.len() >= MAX_NESTING || self.completions.looks > MAX_LOOKS {
            self.completions.provisional = true;
            return Ok(None);
        }
        let (outer, fruitless) = (
            std::mem::take(&mut self.completions.provisional),
            self.completions.fruitless,
        );
        self.completions.open.push(place);
        let text = self.find_value(constraint, order);
        self.completions.open.pop();
        let text = text?.filter(|text| text.len() <= MAX_BYTES);
        if text.is_some() {
            self.completions.fruitless = fruitless;
        }
        if text.is_some() || !self.completions.provisional {
            self.completions.count(text.as_ref().map_or(0, |text| text.len()));
            self.completions.values.insert(place, text.clone());
        }
        self.completions.provisional |= outer;
        Ok(text)
    }

    fn find_value(&mut self, constraint: Constraint, order: OrderId) -> Result<Option<TextPiece>, AutomatonError> {
        let mut texts: Vec<TextPiece> = literal_texts(&constraint).collect();
        if !self.search.algebra.number_texts.sets().is_empty(constraint.numbers) {
            texts.extend(self.number_text(constraint.numbers)?);
        }
        if !self.languages_mut().is_empty(constraint.strings)? {
            let word = self.word(constraint.all_strings().written())?;
            texts.extend(word.map(|word| [b"\"", &*word].concat().into()));
        }
        if !texts.iter().any(|text| text.len() <= CHEAP_BYTES) {
            let rest = self.array_rest(constraint.arrays, &[], false)?;
            texts.extend(rest.map(|rest| joined(b"[", &rest.pieces)));
            let (order, demand) = self.search.begin_object(order, constraint.objects, false)?;
            let ordered = self.search.algebra.ordered(order, 0);
            let open = ObjectRest {
                demand,
                ordered: &ordered,
                exhausted: &[],
                begun: false,
                must: false,
            };
            let rest = self.rest_in_some_order(open, order)?;
            texts.extend(rest.map(|rest| joined(b"{", &rest.pieces)));
        }
        Ok(texts.into_iter().min_by_key(|text| text.len()))
    }

    /// The constraint of the values that meet a requirement, and a short text of one, if there is any.
    pub(super) fn requirement_text(
        &mut self,
        value: &Requirement,
    ) -> Result<(Constraint, Option<TextPiece>), AutomatonError> {
        let constraint = self.search.algebra.combined(&value.all, &value.none)?;
        let constraint = self.search.as_meant(constraint, &value.all)?;
        let order = self.search.order_for(&value.all, &value.none)?;
        Ok((constraint, self.value_text(constraint, order)?))
    }

    /// Counts a model of a container that led to no text. Returns whether another may be tried.
    pub(super) fn may_try_another_model(&mut self) -> bool {
        self.completions.fruitless += 1;
        let may = self.completions.fruitless < MAX_FRUITLESS_MODELS;
        self.completions.provisional |= !may;
        may
    }

    /// The condition that a container does not have a part, for which the atom `has` stands, with a value that meets a
    /// requirement. `satisfied` says that the part, or that all parts, if there are any, satisfy an assertion. A value that only violates one
    /// assertion, and that the container is being spelled as a part of, is excluded from all places: a shortest text does not contain itself.
    pub(super) fn without(
        &mut self,
        has: AtomKind,
        value: &Requirement,
        satisfied: impl Fn(&mut Algebra, Parts, AssertionId) -> FormulaId,
    ) -> Result<FormulaId, AutomatonError> {
        if let ([], [only]) = (&value.all[..], &value.none[..]) {
            let constraint = self.search.algebra.combined(&[], &value.none)?;
            let constraint = self.search.as_meant(constraint, &[])?;
            if self.completions.open.iter().any(|(open, _)| *open == constraint) {
                return Ok(satisfied(&mut self.search.algebra, Parts::All, *only));
            }
        }
        let algebra = &mut self.search.algebra;
        let has = algebra.atom(has);
        let mut ways = vec![algebra.formulas.not(has)];
        for &assertion in &value.all {
            let satisfied = satisfied(algebra, Parts::This, assertion);
            ways.push(algebra.formulas.not(satisfied));
        }
        for &assertion in &value.none {
            ways.push(satisfied(algebra, Parts::This, assertion));
        }
        Ok(algebra.formulas.or(ways))
    }

    /// A text of a value that satisfies a constraint and equals none of the values `seen`, with its equality assertion.
    pub(super) fn another_value(
        &mut self,
        constraint: Constraint,
        order: OrderId,
        seen: &[AssertionId],
    ) -> Result<Option<(TextPiece, AssertionId)>, AutomatonError> {
        let samples = self.scalar_samples(constraint, seen.len() + 1)?;
        let known: HashSet<AssertionId> = seen.iter().copied().collect();
        if let Some(fresh) = samples.iter().find(|(_, value)| !known.contains(value)) {
            return Ok(Some(fresh.clone()));
        }
        let others = self.search.algebra.combined(&[], seen)?;
        let constraint = self.search.algebra.both(constraint, others)?;
        let text = self.value_text(constraint, order)?;
        Ok(text.and_then(|text| self.equality(&text).map(|value| (text, value))))
    }

    /// A text of a scalar that satisfies a constraint and is none of `others`; `None` if there is none among as many scalars as
    /// are compared.
    pub(super) fn distinct_scalar(
        &mut self,
        constraint: Constraint,
        others: ValueSet,
    ) -> Result<Option<TextPiece>, AutomatonError> {
        let most = self.search.algebra.count_values(others) + 1;
        let samples = self.scalar_samples(constraint, most)?;
        let mut samples = samples.iter();
        let fresh = samples.find(|(_, value)| !self.search.algebra.has_value(others, *value));
        Ok(fresh.map(|(text, _)| text.clone()))
    }

    /// Returns different scalars that satisfy a constraint: up to `most` of them, or more.
    fn scalar_samples(&mut self, constraint: Constraint, most: usize) -> Result<Samples, AutomatonError> {
        if let Some((asked, known)) = self.completions.samples.get(&constraint)
            && (*asked >= most || known.len() < *asked)
        {
            return Ok(known.clone());
        }
        // The caller will probably ask for one more next.
        let most = most.next_power_of_two().max(8);
        let mut texts: Vec<TextPiece> = Vec::new();
        for number in self
            .search
            .algebra
            .number_texts
            .sets_mut()
            .members(constraint.numbers, most)?
        {
            let exactly = self.search.algebra.number_texts.sets_mut().exactly(number);
            let both = self
                .search
                .algebra
                .number_texts
                .sets_mut()
                .and(exactly, constraint.numbers)?;
            texts.extend(self.number_text(both)?);
        }
        if texts.len() < most {
            let escapes = self.search.algebra.style.escapes;
            let words = self
                .languages_mut()
                .members(constraint.strings, most)
                .unwrap_or_default();
            let words = words.iter().map(|word| super::texts::escaped(word, escapes));
            texts.extend(words.map(|word| TextPiece::from([b"\"", &word[..], b"\""].concat())));
        }
        texts.extend(literal_texts(&constraint));
        let mut samples = Vec::with_capacity(texts.len());
        for text in texts {
            self.completions.count(text.len());
            if let Some(value) = self.equality(&text) {
                samples.push((text, value));
            }
        }
        let samples: Arc<[_]> = samples.into();
        self.completions.samples.insert(constraint, (most, samples.clone()));
        Ok(samples)
    }

    /// The assertion of being equal to the value that a text spells.
    fn equality(&mut self, text: &[u8]) -> Option<AssertionId> {
        let text = std::str::from_utf8(text).ok()?;
        let document = Document::parse(text, &Limits::default()).ok()?;
        let value = Value::new(&document, 0).ok()?;
        Some(self.search.algebra.equal_to(value.as_ref()))
    }
}

/// A bracket and the pieces behind it.
fn joined(bracket: &[u8], rest: &[TextPiece]) -> TextPiece {
    let mut text = bracket.to_vec();
    rest.iter().for_each(|piece| text.extend_from_slice(piece));
    text.into()
}

/// The texts of those of `null`, `true` and `false` that satisfy a constraint.
fn literal_texts(constraint: &Constraint) -> impl Iterator<Item = TextPiece> + use<> {
    let words = [
        (constraint.null, &b"null"[..]),
        (constraint.yes, b"true"),
        (constraint.no, b"false"),
    ];
    words.into_iter().filter(|(may, _)| *may).map(|(_, text)| text.into())
}
