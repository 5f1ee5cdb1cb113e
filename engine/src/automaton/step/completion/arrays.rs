//! Completions of arrays.

use super::{MAX_BYTES, MAX_MODELS, TextPiece};
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AssertionId, AtomKind, FormulaId, ItemsId};
use crate::automaton::search::{Requirement, Run};
use crate::automaton::step::Automaton;

/// Maximal number of earlier items tried to find one that may be repeated.
const REPEATED_ITEMS: usize = 64;

/// Number of items that have to differ up to which they are spelled out.
const MAX_DIFFERING: u64 = 1 << 12;

impl Automaton {
    /// The pieces of a short text that completes an array with residual `formula`, an item each, and the bracket. `seen`
    /// holds its items so far, if items are compared.
    pub(super) fn array_rest(
        &mut self,
        formula: FormulaId,
        seen: &[AssertionId],
        begun: bool,
    ) -> Result<Option<Vec<TextPiece>>, AutomatonError> {
        if formula == FormulaId::FALSE || self.least_items(formula) > MAX_BYTES as u64 / 2 {
            return Ok(None);
        }
        if !self.search.algebra.asks_unique(&[formula]) {
            return self.modelled_items(formula, begun);
        }
        if self.least_items(formula) > MAX_DIFFERING {
            return Ok(None);
        }
        match self.differing_rest(formula, seen, begun)? {
            Some(rest) => Ok(Some(rest)),
            None => {
                let repeating = self.search.algebra.with_unique(formula, false);
                self.repeating_rest(repeating, seen, begun)
            }
        }
    }

    /// Completes an array with the items of a [model](crate::automaton::search) of its residual formula. A model of which some
    /// item has no text, because it would have to contain itself, is not looked at again.
    fn modelled_items(&mut self, formula: FormulaId, begun: bool) -> Result<Option<Vec<TextPiece>>, AutomatonError> {
        let mut goals = vec![formula];
        for _ in 0..MAX_MODELS {
            let Some(runs) = self.search.items_to_array_end(&goals)? else {
                return Ok(None);
            };
            let mut pieces: Vec<TextPiece> = Vec::new();
            let (mut bytes, mut place, mut without_text) = (0, 0, None);
            for run in &runs {
                let Some(text) = self.requirement_text(&run.item)? else {
                    without_text = Some(&run.item);
                    break;
                };
                for _ in 0..run.count {
                    bytes += text.len() + 1;
                    if bytes > MAX_BYTES {
                        return Ok(None);
                    }
                    pieces.push(item(&text, begun || !pieces.is_empty()));
                }
                place += run.count;
            }
            let Some(value) = without_text else {
                pieces.push(b"]"[..].into());
                return Ok(Some(pieces));
            };
            let has = AtomKind::LengthAtLeast(place + 1);
            goals.push(self.without(has, value, |algebra, assertion| {
                algebra.items(place, Some(place + 1), assertion)
            }));
        }
        Ok(None)
    }

    /// Number of items that a formula asks for outright.
    fn least_items(&self, formula: FormulaId) -> u64 {
        let algebra = &self.search.algebra;
        let parts = algebra.formulas.conjuncts(&formula).iter();
        let counts = parts.map(|part| match algebra.formulas.literal(*part) {
            Some((atom, true)) => match algebra.atoms.kind(atom) {
                AtomKind::LengthAtLeast(count) | AtomKind::Contains(_, count) => count,
                _ => 0,
            },
            _ => 0,
        });
        counts.max().unwrap_or(0)
    }

    /// Pieces that complete an array whose items have to differ, made of values that have not been seen.
    fn differing_rest(
        &mut self,
        mut formula: FormulaId,
        seen: &[AssertionId],
        begun: bool,
    ) -> Result<Option<Vec<TextPiece>>, AutomatonError> {
        let differing = self.search.algebra.with_unique(formula, true);
        let Some(runs) = self.search.items_to_array_end(&[differing])? else {
            return Ok(None);
        };
        let mut seen = seen.to_vec();
        let mut items = ItemsId::EMPTY;
        for &item in &seen {
            items = self.search.algebra.with_item(items, item);
        }
        let (mut pieces, mut bytes) = (Vec::new(), 0);
        for Run { count, item: asked } in runs {
            for _ in 0..count {
                let Some((value, equality)) = self.next_differing(formula, items, &asked, &seen)? else {
                    return Ok(None);
                };
                bytes += value.len() + 1;
                if bytes > MAX_BYTES || pieces.len() as u64 > MAX_DIFFERING {
                    return Ok(None);
                }
                pieces.push(item(&value, begun || !pieces.is_empty()));
                formula = self.search.after_known_item(formula, equality, false)?;
                items = self.search.algebra.with_item(items, equality);
                seen.push(equality);
            }
        }
        pieces.push(b"]"[..].into());
        Ok(Some(pieces))
    }

    /// An item that meets a requirement and equals none of the items so far, and after which an array whose items have to
    /// differ can be completed.
    fn next_differing(
        &mut self,
        formula: FormulaId,
        items: ItemsId,
        asked: &Requirement,
        seen: &[AssertionId],
    ) -> Result<Option<(TextPiece, AssertionId)>, AutomatonError> {
        let order = self.search.order_for(&asked.all, &asked.none)?;
        let constraint = self.search.algebra.combined(&asked.all, &asked.none)?;
        if let Some((text, value)) = self.another_value(constraint, order, seen)? {
            let after = self.search.after_known_item(formula, value, false)?;
            let with = self.search.algebra.with_item(items, value);
            if self.search.array_can_end(after, with)? {
                return Ok(Some((text, value)));
            }
        }
        // The values left for later items are few.
        let Some(expected) = self.search.item_expected(&[formula], items)? else {
            return Ok(None);
        };
        let expected = self.search.constraint_of(expected)?;
        let constraint = self.search.algebra.both(constraint, expected)?;
        self.another_value(constraint, order, seen)
    }

    /// Pieces that complete an array in which one item has to equal another. The item repeats one seen, or two new
    /// items are equal because items with the same requirements are spelled alike.
    fn repeating_rest(
        &mut self,
        formula: FormulaId,
        seen: &[AssertionId],
        begun: bool,
    ) -> Result<Option<Vec<TextPiece>>, AutomatonError> {
        if formula == FormulaId::FALSE {
            return Ok(None);
        }
        for &again in seen.iter().take(REPEATED_ITEMS) {
            let after = self.search.after_known_item(formula, again, true)?;
            if let Some(rest) = self.array_rest(after, &[], true)?
                && let Some(value) = self.requirement_text(&Requirement::new(&[again], &[]))?
            {
                return Ok(Some([vec![item(&value, begun)], rest].concat()));
            }
        }
        let two = self.search.algebra.atom(AtomKind::LengthAtLeast(2));
        let two = self.search.algebra.formulas.and([formula, two]);
        self.array_rest(two, &[], begun)
    }
}

/// The text of an item, after a comma unless it is the first.
fn item(value: &[u8], begun: bool) -> TextPiece {
    match begun {
        true => [b",", value].concat().into(),
        false => value.into(),
    }
}
