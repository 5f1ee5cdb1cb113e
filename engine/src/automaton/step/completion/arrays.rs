//! Completions of arrays.

use super::objects::Partials;
use super::{MAX_BYTES, MAX_PARTIALS, TextPiece, ValueChoice};
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AssertionId, AtomKind, FormulaId, ItemsId, split, verdict_of};
use crate::automaton::step::Automaton;
use hashbrown::HashSet;

/// Number of items so far that are looked at for one that may be repeated.
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
        if self.search.algebra.asks_unique(&[formula]) {
            if self.least_items(formula) > MAX_DIFFERING {
                return Ok(None);
            }
            let differing = self.search.algebra.with_unique(formula, true);
            if let Some(rest) = self.differing_rest(differing, seen, begun)? {
                return Ok(Some(rest));
            }
            let repeating = self.search.algebra.with_unique(formula, false);
            return self.repeating_rest(repeating, seen, begun);
        }
        let mut known = HashSet::new();
        let mut partials = Partials::new(formula, begun);
        while let Some(last) = partials.pop() {
            let left = partials.formula(last);
            if self.search.algebra.at_end(left) {
                return Ok(Some(partials.pieces(last, b"]")));
            }
            if !known.insert(left) {
                continue;
            }
            if known.len() > MAX_PARTIALS {
                return self.greedy_items(formula, begun);
            }
            for (after, value) in self.item_choices(left)? {
                let piece = item(&value, partials.is_begun(last));
                partials.push(last, piece, after);
            }
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

    /// The residual formula and the text of an item for each way that the next item can be.
    fn item_choices(&mut self, formula: FormulaId) -> Result<Vec<ValueChoice>, AutomatonError> {
        let assertions = self.search.algebra.assertions_of_item(&[formula]);
        self.choices(&assertions, &mut |this, verdict| {
            Ok(this.search.algebra.after_item(formula, verdict, false))
        })
    }

    /// Pieces that complete an array, made of items that are taken one by one so that the array can still be completed after
    /// each; `None` if they get too long.
    fn greedy_items(&mut self, formula: FormulaId, begun: bool) -> Result<Option<Vec<TextPiece>>, AutomatonError> {
        let (mut formula, mut pieces, mut bytes) = (formula, Vec::new(), 0);
        while !self.search.algebra.at_end(formula) {
            let mut next = None;
            for (after, value) in self.item_choices(formula)? {
                if after != formula && self.search.array_can_end(after, ItemsId::EMPTY)? {
                    next = Some((after, value));
                    break;
                }
            }
            let Some((after, value)) = next else { return Ok(None) };
            bytes += value.len() + 1;
            if bytes > MAX_BYTES {
                return Ok(None);
            }
            pieces.push(item(&value, begun || !pieces.is_empty()));
            formula = after;
        }
        pieces.push(b"]"[..].into());
        Ok(Some(pieces))
    }

    /// Pieces that complete an array whose items have to differ, made of values that have not been seen.
    fn differing_rest(
        &mut self,
        mut formula: FormulaId,
        seen: &[AssertionId],
        begun: bool,
    ) -> Result<Option<Vec<TextPiece>>, AutomatonError> {
        let mut seen: Vec<AssertionId> = seen.to_vec();
        let mut items = ItemsId::EMPTY;
        for &item in &seen {
            items = self.search.algebra.with_item(items, item);
        }
        let (mut pieces, mut bytes) = (Vec::new(), 0);
        while !self.search.algebra.at_end(formula) {
            let assertions = self.search.algebra.assertions_of_item(&[formula]);
            let mut next = None;
            for vector in self.search.verdict_vectors(&assertions)? {
                let verdict = |assertion| verdict_of(&assertions, &vector, assertion);
                let after = self.search.algebra.after_item(formula, &verdict, false);
                if after == FormulaId::FALSE || after == formula {
                    continue;
                }
                let (all, none) = split(&assertions, &vector);
                let Some((value, equality)) = self.another_value(&all, &none, &seen)? else {
                    continue;
                };
                let with = self.search.algebra.with_item(items, equality);
                if self.search.algebra.at_end(after) || self.search.array_can_end(after, with)? {
                    seen.push(equality);
                    items = with;
                    next = Some((after, value));
                    break;
                }
            }
            let Some((after, value)) = next else { return Ok(None) };
            bytes += value.len() + 1;
            if bytes > MAX_BYTES || pieces.len() as u64 > MAX_DIFFERING {
                return Ok(None);
            }
            pieces.push(item(&value, begun || !pieces.is_empty()));
            formula = after;
        }
        pieces.push(b"]"[..].into());
        Ok((formula != FormulaId::FALSE).then_some(pieces))
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
        let assertions = self.search.algebra.assertions_of_item(&[formula]);
        for &again in seen.iter().take(REPEATED_ITEMS) {
            for vector in self.search.verdict_vectors(&assertions)? {
                let verdict = |assertion| verdict_of(&assertions, &vector, assertion);
                let after = self.search.algebra.after_item(formula, &verdict, true);
                let (all, none) = split(&assertions, &vector);
                let repeated = self.search.algebra.combined(&[&all[..], &[again]].concat(), &none)?;
                let order = self.search.algebra.order_for(&[again]);
                if let Some(value) = self.value_text(repeated, order)?
                    && let Some(rest) = self.array_rest(after, &[], true)?
                {
                    return Ok(Some([vec![item(&value, begun)], rest].concat()));
                }
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
