//! Completions of objects.

use super::piece::ContainerRest;
use super::texts::escaped;
use super::values::Parts;
use super::{MAX_BYTES, MAX_MODELS, TextPiece};
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AtomKind, FormulaId, IndependentKeys, Keys, OrderId, TextId};
use crate::automaton::step::Automaton;
use hashbrown::{HashMap, HashSet};

/// Bytes that a member takes at least: two quotes, a colon, a value and a comma or bracket.
const LEAST_MEMBER: usize = 5;

/// An object to be completed.
#[derive(Clone, Copy)]
pub(super) struct ObjectRest<'a> {
    /// The residual formula.
    pub(super) demand: FormulaId,
    /// The keys that come first, in this order.
    pub(super) ordered: &'a [TextId],
    /// The keys that cannot come any more.
    pub(super) exhausted: &'a [TextId],
    /// Whether there is a member, so that a comma must come before the next.
    pub(super) begun: bool,
    /// Whether at least one member has to come.
    pub(super) must: bool,
}

impl Automaton {
    /// The pieces of a short text that completes an object, a member each, and the bracket; `None` if there is none.
    pub(super) fn object_rest(&mut self, open: ObjectRest<'_>) -> Result<Option<ContainerRest>, AutomatonError> {
        if open.demand == FormulaId::FALSE {
            return Ok(None);
        }
        if self.search.algebra.at_end(open.demand) && !open.must {
            let pieces = vec![b"}"[..].into()];
            return Ok(Some(ContainerRest { pieces, first: None }));
        }
        if let Some(plain) = self.search.algebra.independent_keys(open.demand) {
            return self.independent_rest(&plain, open);
        }
        let mut shortest: Option<ContainerRest> = None;
        let length = |rest: &ContainerRest| rest.pieces.iter().map(|piece| piece.len()).sum::<usize>();
        let alternatives = self.search.algebra.formulas.disjuncts(&open.demand).to_vec();
        let alternatives = match alternatives[..] {
            [_] => self
                .search
                .algebra
                .independent_alternatives(open.demand)
                .unwrap_or_default(),
            _ => alternatives,
        };
        for (place, demand) in alternatives.into_iter().enumerate() {
            let Some(plain) = self.search.algebra.independent_keys(demand) else {
                continue;
            };
            if shortest.is_some() && place >= COMPARED_ALTERNATIVES {
                break;
            }
            if let Some(rest) = self.independent_rest(&plain, ObjectRest { demand, ..open })?
                && shortest.as_ref().is_none_or(|known| length(&rest) < length(known))
            {
                shortest = Some(rest);
            }
        }
        match shortest {
            Some(rest) => Ok(Some(rest)),
            None => self.modelled_rest(open),
        }
    }

    /// The pieces of a short text that completes an object in the order given or, if that has rivals, in one of those.
    pub(super) fn rest_in_some_order(
        &mut self,
        open: ObjectRest<'_>,
        order: OrderId,
    ) -> Result<Option<ContainerRest>, AutomatonError> {
        let rivals = self.search.algebra.orders.rivals(order).clone();
        if rivals.is_empty() {
            return self.object_rest(open);
        }
        for rival in rivals.iter() {
            let names = self.search.algebra.ordered(rival.order, 0);
            let (done, ordered) = names.split_at(rival.passed as usize);
            let exhausted = [open.exhausted, done].concat();
            let demand = self.search.algebra.narrowed(open.demand, rival.demand);
            let open = ObjectRest {
                demand,
                ordered,
                exhausted: &exhausted,
                ..open
            };
            if let Some(rest) = self.object_rest(open)? {
                return Ok(Some(rest));
            }
        }
        Ok(None)
    }

    /// Completes an object that judges each key by itself: with the required members, and those that are needed for
    /// their number.
    fn independent_rest(
        &mut self,
        plain: &IndependentKeys,
        open: ObjectRest<'_>,
    ) -> Result<Option<ContainerRest>, AutomatonError> {
        let least = usize::try_from(plain.min)
            .unwrap_or(usize::MAX)
            .max(usize::from(open.must));
        let least = least.max(plain.required.len());
        if least > MAX_BYTES / LEAST_MEMBER || least as u64 >= plain.over {
            return Ok(None);
        }
        let mut names = plain.required.clone();
        if names.len() < least {
            let gone: HashSet<TextId> = open.exhausted.iter().chain(&names).copied().collect();
            let mut listed = open.ordered.to_vec();
            listed.extend(self.search.algebra.named_keys(open.demand));
            let mut known = gone;
            let mut optional = Vec::new();
            let compared = least - names.len() + COMPARED_KEYS;
            for name in listed {
                if known.insert(name)
                    && optional.len() < compared
                    && plain.refused.binary_search(&name).is_err()
                    && let Some(piece) = self.member_piece(plain, open.demand, name, true)?
                {
                    optional.push((piece.len(), name));
                }
            }
            optional.sort_by_key(|(length, _)| *length);
            names.extend(optional.iter().map(|(_, name)| *name).take(least - names.len()));
            if names.len() < least {
                // The keys that are known are left out below: a language without them would be one for each name that is being written.
                let mut cells = self.search.algebra.cell_search(open.demand, &[], &[])?;
                while names.len() < least
                    && let Some(cell) = self.search.algebra.next_cell(&mut cells)?
                {
                    let wanted = least - names.len();
                    // Keys that are too hard to find are skipped.
                    let Ok(others) = self.search.algebra.keys_beside(&cell.names, &known, wanted) else {
                        continue;
                    };
                    for name in others {
                        if self.member_piece(plain, open.demand, name, true)?.is_some() {
                            names.push(name);
                        }
                    }
                }
            }
            if names.len() < least {
                return Ok(None);
            }
        }
        if !open.ordered.is_empty() {
            let places = open.ordered.iter().enumerate().map(|(place, name)| (*name, place));
            let places: HashMap<TextId, usize> = places.collect();
            names.sort_by_key(|name| places.get(name).copied().unwrap_or(usize::MAX));
        }
        let mut pieces = Vec::with_capacity(names.len() + 1);
        for name in names {
            let begun = open.begun || !pieces.is_empty();
            match self.member_piece(plain, open.demand, name, begun)? {
                Some(piece) => pieces.push(piece),
                None => return Ok(None),
            }
        }
        pieces.push(b"}"[..].into());
        Ok(Some(ContainerRest { pieces, first: None }))
    }

    /// The text of a member of an object that judges each key by itself; `None` if there is none.
    pub(super) fn member_piece(
        &mut self,
        plain: &IndependentKeys,
        demand: FormulaId,
        name: TextId,
        begun: bool,
    ) -> Result<Option<TextPiece>, AutomatonError> {
        if let Some(known) = self.completions.members.get(&(demand, name, begun)) {
            return Ok(known.clone());
        }
        let mut assertions = Vec::new();
        self.search.algebra.assertions_of_key(plain, name, &mut assertions)?;
        let constraint = self.search.algebra.combined(&assertions, &[])?;
        let constraint = self.search.as_meant(constraint, &assertions)?;
        let order = self.search.order_for(&assertions, &[])?;
        let value = self.value_text(constraint, order)?;
        let piece = value.map(|value| self.member_text(name, &value, begun));
        if piece.is_some() || !self.completions.provisional {
            self.completions.count(piece.as_ref().map_or(0, |piece| piece.len()));
            self.completions.members.insert((demand, name, begun), piece.clone());
        }
        Ok(piece)
    }

    /// The text of a member, after a comma unless it is the first.
    fn member_text(&self, name: TextId, value: &[u8], begun: bool) -> TextPiece {
        let algebra = &self.search.algebra;
        let key = escaped(algebra.texts.get(name), algebra.style.escapes);
        let comma: &[u8] = if begun { b",\"" } else { b"\"" };
        [comma, &key, b"\":", value].concat().into()
    }

    /// Completes an object with the members of a [model](crate::automaton::search) of its residual formula. A model of which
    /// some value has no text, because it would have to contain itself, is not looked at again.
    fn modelled_rest(&mut self, open: ObjectRest<'_>) -> Result<Option<ContainerRest>, AutomatonError> {
        let mut goals = vec![open.demand];
        if open.must {
            goals.push(self.search.algebra.atom(AtomKind::CountAtLeast(1)));
        }
        let places = open.ordered.iter().enumerate().map(|(place, name)| (*name, place));
        let places: HashMap<TextId, usize> = places.collect();
        for _ in 0..MAX_MODELS {
            let most = MAX_BYTES / LEAST_MEMBER;
            let Some(mut members) = self.search.members_to_object_end(&goals, open.exhausted, most)? else {
                return Ok(None);
            };
            members.sort_by_key(|(name, _)| places.get(name).copied().unwrap_or(usize::MAX));
            let mut pieces = Vec::with_capacity(members.len() + 1);
            let (mut first, mut without_text) = (None, None);
            for (name, value) in &members {
                match self.requirement_text(value)? {
                    (constraint, Some(text)) => {
                        let begun = open.begun || !pieces.is_empty();
                        pieces.push(self.member_text(*name, &text, begun));
                        first.get_or_insert(constraint);
                    }
                    (_, None) => {
                        without_text = Some((*name, value));
                        break;
                    }
                }
            }
            let Some((name, value)) = without_text else {
                pieces.push(b"}"[..].into());
                return Ok(Some(ContainerRest { pieces, first }));
            };
            if !self.may_try_another_model() {
                return Ok(None);
            }
            let has = AtomKind::Has(name);
            let without = self.without(has, value, |algebra, parts, assertion| {
                let keys = match parts {
                    Parts::This => Keys::Name(name),
                    Parts::All => Keys::Language(algebra.languages.any()),
                };
                algebra.members(keys, assertion)
            })?;
            goals.push(without);
        }
        Ok(None)
    }
}

/// Number of optional keys that are compared for the shortest members, beyond those needed.
const COMPARED_KEYS: usize = 64;

/// Number of alternatives that are compared for the shortest.
const COMPARED_ALTERNATIVES: usize = 16;
