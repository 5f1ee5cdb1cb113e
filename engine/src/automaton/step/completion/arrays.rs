//! Completions of arrays.

use super::piece::ContainerRest;
use super::values::Parts;
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
    ) -> Result<Option<ContainerRest>, AutomatonError> {
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
    fn modelled_items(&mut self, formula: FormulaId, begun: bool) -> Result<Option<ContainerRest>, AutomatonError> {
        let mut goals = vec![formula];
        for _ in 0..MAX_MODELS {
            let Some(runs) = self.search.items_to_array_end(&goals)? else {
                return Ok(None);
            };
            match self.spelled_items(&runs, begun)? {
                Spelled::Rest(rest) => return Ok(Some(rest)),
                Spelled::TooLong => return Ok(None),
                Spelled::WithoutText(..) if !self.may_try_another_model() => return Ok(None),
                Spelled::WithoutText(place, value) => goals.push(self.without_item(place, &value)?),
            }
        }
        Ok(None)
    }

    /// The items of a model as text.
    fn spelled_items(&mut self, runs: &[Run], begun: bool) -> Result<Spelled, AutomatonError> {
        let mut pieces: Vec<TextPiece> = Vec::new();
        let (mut bytes, mut place, mut first) = (0, 0, None);
        for run in runs {
            let (constraint, text) = self.requirement_text(&run.item)?;
            let Some(text) = text else {
                return Ok(Spelled::WithoutText(place, run.item.clone()));
            };
            first.get_or_insert(constraint);
            for _ in 0..run.count {
                bytes += text.len() + 1;
                if bytes > MAX_BYTES {
                    return Ok(Spelled::TooLong);
                }
                pieces.push(item(&text, begun || !pieces.is_empty()));
            }
            place += run.count;
        }
        pieces.push(b"]"[..].into());
        Ok(Spelled::Rest(ContainerRest { pieces, first }))
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

    /// Pieces that complete an array whose items have to differ, made of values that have not been seen. A model says what is asked of the items to
    /// come, not which values they get: where none is left for one of them, what is left is modelled anew, with no more
    /// items than before if that is possible, and fewer if it was the first. Where that comes to nothing, the whole is modelled anew, with fewer
    /// items.
    fn differing_rest(
        &mut self,
        whole: FormulaId,
        seen: &[AssertionId],
        begun: bool,
    ) -> Result<Option<ContainerRest>, AutomatonError> {
        let mut all_seen = ItemsId::EMPTY;
        for &item in seen {
            all_seen = self.search.algebra.with_item(all_seen, item);
        }
        let (before, mut seen) = (seen.len(), seen.to_vec());
        let (mut formula, mut items) = (whole, all_seen);
        let (mut pieces, mut bytes, mut first, mut longer) = (Vec::new(), 0, None, None);
        // The number of items so far when a model of any length was asked for last.
        let mut unbounded_at = None;
        // The length of the last model of the whole.
        let mut whole_length = 0;
        for _ in 0..MAX_MODELS {
            let mut goals = vec![self.search.algebra.with_unique(formula, true)];
            goals.extend(longer.map(|longer| self.search.algebra.formulas.not(longer)));
            let Some(runs) = self.search.items_to_array_end(&goals)? else {
                if longer.take().is_some() && unbounded_at != Some(pieces.len()) {
                    // Items that differ may have to be more than those of a model, which may be equal.
                    unbounded_at = Some(pieces.len());
                    continue;
                }
                if pieces.is_empty() {
                    return Ok(None);
                }
                pieces.clear();
                seen.truncate(before);
                (formula, items) = (whole, all_seen);
                (bytes, first, unbounded_at) = (0, None, Some(0));
                longer = Some(self.search.algebra.atom(AtomKind::LengthAtLeast(whole_length)));
                continue;
            };
            let length = runs.iter().fold(0_u64, |length, run| length.saturating_add(run.count));
            if pieces.is_empty() {
                whole_length = length;
            }
            let (spelled, mut has_all) = (pieces.len(), true);
            'model: for Run { count, item: asked } in &runs {
                for _ in 0..*count {
                    let Some((value, equality)) = self.next_differing(formula, items, asked, &seen)? else {
                        has_all = false;
                        break 'model;
                    };
                    bytes += value.len() + 1;
                    if bytes > MAX_BYTES || pieces.len() as u64 > MAX_DIFFERING {
                        return Ok(None);
                    }
                    if first.is_none() {
                        first = Some(self.search.algebra.combined(&[equality], &[])?);
                    }
                    pieces.push(item(&value, begun || !pieces.is_empty()));
                    formula = self.search.after_known_item(formula, equality, false)?;
                    items = self.search.algebra.with_item(items, equality);
                    seen.push(equality);
                }
            }
            let differing = self.search.algebra.with_unique(formula, true);
            if has_all && self.search.algebra.at_end(differing) {
                pieces.push(b"]"[..].into());
                return Ok(Some(ContainerRest { pieces, first }));
            }
            if pieces.len() == spelled && !self.may_try_another_model() {
                return Ok(None);
            }
            let fewer = ((pieces.len() - spelled) as u64).max(1);
            let too_long = AtomKind::LengthAtLeast(length.saturating_sub(fewer) + 1);
            longer = Some(self.search.algebra.atom(too_long));
        }
        Ok(None)
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
        match self.another_value(constraint, order, seen)? {
            Some(found) => Ok(Some(found)),
            None => self.another_value(expected, order, seen),
        }
    }

    /// Pieces that complete an array in which one item has to equal another. Equal items are spelled alike, because the same is asked of them.
    fn repeating_rest(
        &mut self,
        formula: FormulaId,
        seen: &[AssertionId],
        begun: bool,
    ) -> Result<Option<ContainerRest>, AutomatonError> {
        let earlier = seen.iter().take(REPEATED_ITEMS);
        let earlier: Vec<Requirement> = earlier.map(|item| Requirement::new(&[*item], &[])).collect();
        let mut formula = formula;
        for _ in 0..MAX_MODELS {
            let Some(runs) = self.search.items_with_equal(formula, &earlier)? else {
                return Ok(None);
            };
            match self.spelled_items(&runs, begun)? {
                Spelled::Rest(rest) => return Ok(Some(rest)),
                Spelled::TooLong => return Ok(None),
                Spelled::WithoutText(..) if !self.may_try_another_model() => return Ok(None),
                Spelled::WithoutText(place, value) => {
                    let other = self.without_item(place, &value)?;
                    formula = self.search.algebra.formulas.and([formula, other]);
                }
            }
        }
        Ok(None)
    }

    /// The condition that an array has no item at an index that meets a requirement.
    fn without_item(&mut self, place: u64, value: &Requirement) -> Result<FormulaId, AutomatonError> {
        let has = AtomKind::LengthAtLeast(place + 1);
        self.without(has, value, |algebra, parts, assertion| match parts {
            Parts::This => algebra.items(place, Some(place + 1), assertion),
            Parts::All => algebra.items(0, None, assertion),
        })
    }
}

/// The text of the items of a model, or why there is none.
enum Spelled {
    Rest(ContainerRest),
    /// The text is longer than [`MAX_BYTES`].
    TooLong,
    /// The item at this index, which meets this requirement, has no text.
    WithoutText(u64, Requirement),
}

/// The text of an item, after a comma unless it is the first.
fn item(value: &[u8], begun: bool) -> TextPiece {
    match begun {
        true => [b",", value].concat().into(),
        false => value.into(),
    }
}
