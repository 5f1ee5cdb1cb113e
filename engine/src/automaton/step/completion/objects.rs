//! Completions of objects.

use super::texts::escaped;
use super::{MAX_BYTES, MAX_PARTIALS, TextPiece, ValueChoice};
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{FormulaId, IndependentKeys, MemberKey, TextId};
use crate::automaton::step::Automaton;
use hashbrown::{HashMap, HashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    pub(super) fn object_rest(&mut self, open: ObjectRest<'_>) -> Result<Option<Vec<TextPiece>>, AutomatonError> {
        if open.demand == FormulaId::FALSE {
            return Ok(None);
        }
        if self.search.algebra.at_end(open.demand) && !open.must {
            return Ok(Some(vec![b"}"[..].into()]));
        }
        if let Some(plain) = self.search.algebra.independent_keys(open.demand) {
            return self.independent_rest(&plain, open);
        }
        let mut shortest: Option<Vec<TextPiece>> = None;
        let length = |pieces: &Vec<TextPiece>| pieces.iter().map(|piece| piece.len()).sum::<usize>();
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
            None => self.cheapest_members(open),
        }
    }

    /// Completes an object that judges each key by itself: with the required members, and those that are needed for
    /// their number.
    fn independent_rest(
        &mut self,
        plain: &IndependentKeys,
        open: ObjectRest<'_>,
    ) -> Result<Option<Vec<TextPiece>>, AutomatonError> {
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
            for name in listed {
                if known.insert(name)
                    && plain.refused.binary_search(&name).is_err()
                    && let Some(piece) = self.member_piece(plain, open.demand, name, true)?
                {
                    optional.push((piece.len(), name));
                }
            }
            optional.sort_by_key(|(length, _)| *length);
            names.extend(optional.iter().map(|(_, name)| *name).take(least - names.len()));
            if names.len() < least {
                let known: Vec<TextId> = known.into_iter().collect();
                for cell in self.search.algebra.key_cells(open.demand, &known, open.exhausted)? {
                    let others = least - names.len() + known.len();
                    let Ok(others) = self.search.algebra.some_keys(&cell.names, others) else {
                        continue;
                    };
                    for name in others {
                        if names.len() < least
                            && !known.contains(&name)
                            && self.member_piece(plain, open.demand, name, true)?.is_some()
                        {
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
        Ok(Some(pieces))
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
        let order = self.search.algebra.order_for(&assertions);
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

    /// Completes an object by a cheapest-first search over its residual formulas, in which the keys that come first are
    /// taken or passed in their order, and then keys come that no atom mentions.
    fn cheapest_members(&mut self, open: ObjectRest<'_>) -> Result<Option<Vec<TextPiece>>, AutomatonError> {
        let mut known_names: HashSet<TextId> = open.ordered.iter().chain(open.exhausted).copied().collect();
        let mut names = open.ordered.to_vec();
        let named = self.search.algebra.named_keys(open.demand);
        names.extend(named.into_iter().filter(|name| known_names.insert(*name)));
        let mut known = HashSet::new();
        let mut partials = Partials::new(open.demand, open.begun);
        while let Some(last) = partials.pop() {
            let formula = partials.formula(last);
            let must = open.must && partials.is_empty(last);
            if self.search.algebra.at_end(formula) && !must {
                return Ok(Some(partials.pieces(last, b"}")));
            }
            let others = partials.others(last);
            let index = partials.all[last].index;
            if !known.insert((formula, index, partials.is_empty(last), others.clone())) {
                continue;
            }
            if known.len() > MAX_PARTIALS {
                return self.greedy_members(open, &names);
            }
            match names.get(index) {
                Some(&name) => {
                    let passed = self.search.algebra.without_all(formula, &[name]);
                    // If the formula only restricts members, one that is not required never helps.
                    if passed == FormulaId::FALSE
                        || must
                        || !self.search.algebra.is_independent_uncounted(formula)
                            && self.search.algebra.key_matters(formula, name)?
                    {
                        for (after, value) in self.member_choices(formula, name)? {
                            let piece = self.member_text(name, &value, partials.is_begun(last));
                            let next = partials.push(last, piece, after);
                            partials.all[next].index = index + 1;
                        }
                    }
                    if passed != FormulaId::FALSE {
                        partials.pass(last, passed);
                    }
                }
                None => {
                    let gone = [open.exhausted, &names, &others].concat();
                    for (name, after, value) in self.other_members(formula, &names, &gone)? {
                        // A member that leaves the formula unchanged does not help, except as the first member where one
                        // has to come.
                        if after != formula || partials.is_empty(last) {
                            let piece = self.member_text(name, &value, partials.is_begun(last));
                            let next = partials.push(last, piece, after);
                            partials.all[next].other = Some(name);
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// Takes members one by one after which the object can still be completed.
    fn greedy_members(
        &mut self,
        open: ObjectRest<'_>,
        names: &[TextId],
    ) -> Result<Option<Vec<TextPiece>>, AutomatonError> {
        let mut formula = open.demand;
        let mut gone = open.exhausted.to_vec();
        let (mut pieces, mut bytes): (Vec<TextPiece>, usize) = (Vec::new(), 0);
        let mut left = names.iter();
        loop {
            let must = open.must && pieces.is_empty();
            if self.search.algebra.at_end(formula) && !must {
                pieces.push(b"}"[..].into());
                return Ok(Some(pieces));
            }
            let before = formula;
            let choices = match left.next() {
                Some(&name) => {
                    let passed = self.search.algebra.without_all(formula, &[name]);
                    gone.push(name);
                    let may_pass = self.search.object_can_end(passed, &gone)?;
                    if may_pass {
                        formula = passed;
                        if !must {
                            continue;
                        }
                    }
                    let choices = self.member_choices(before, name)?.into_iter();
                    let choices: Vec<_> = choices.map(|(after, value)| (name, after, value)).collect();
                    if choices.is_empty() && may_pass {
                        continue;
                    }
                    choices
                }
                None => {
                    let others = self.other_members(formula, names, &gone)?.into_iter();
                    others.filter(|(_, after, _)| must || *after != formula).collect()
                }
            };
            let mut next = None;
            for (name, after, value) in choices {
                gone.push(name);
                if self.search.object_can_end(after, &gone)? {
                    next = Some((name, after, value));
                    break;
                }
                gone.pop();
            }
            let Some((name, after, value)) = next else {
                return Ok(None);
            };
            bytes += value.len() + LEAST_MEMBER;
            if bytes > MAX_BYTES {
                return Ok(None);
            }
            pieces.push(self.member_text(name, &value, open.begun || !pieces.is_empty()));
            formula = after;
        }
    }

    /// The residual formula and the text of a value for each way that a member with this key can be.
    fn member_choices(&mut self, formula: FormulaId, name: TextId) -> Result<Vec<ValueChoice>, AutomatonError> {
        let name = MemberKey::Known(name);
        let assertions = self.search.algebra.assertions_of_member(&[formula], name)?;
        self.choices(&assertions, &mut |this, verdict| {
            this.search.algebra.after_member(formula, name, verdict)
        })
    }

    /// Members whose keys no atom mentions, one of each kind, with the residual formulas after them.
    fn other_members(
        &mut self,
        formula: FormulaId,
        names: &[TextId],
        gone: &[TextId],
    ) -> Result<Vec<(TextId, FormulaId, TextPiece)>, AutomatonError> {
        let mut members = Vec::new();
        for cell in self.search.algebra.key_cells(formula, names, gone)? {
            // Keys that are too hard to find are skipped.
            let Ok(Some(name)) = self.search.algebra.key_beside(&cell.names, gone) else {
                continue;
            };
            let choices = self.member_choices(formula, name)?.into_iter();
            members.extend(choices.map(|(after, value)| (name, after, value)));
        }
        members.sort_by_key(|(_, _, value)| value.len());
        Ok(members)
    }
}

/// Number of alternatives that are compared for the shortest.
const COMPARED_ALTERNATIVES: usize = 16;

/// Containers that have been spelled out in part, with common beginnings stored once.
pub(super) struct Partials {
    all: Vec<Partial>,
    /// The open ones, the shortest first.
    open: BinaryHeap<Reverse<(usize, usize)>>,
    begun: bool,
}

/// A container that has been spelled out in part.
struct Partial {
    before: Option<usize>,
    /// The text that is added to the partial container before.
    piece: Option<TextPiece>,
    length: usize,
    formula: FormulaId,
    /// Number of keys that come first that have been decided.
    index: usize,
    /// The key of the member that is added, if no atom mentions it.
    other: Option<TextId>,
}

impl Partials {
    /// A container of which nothing has been spelled out.
    pub(super) fn new(formula: FormulaId, begun: bool) -> Self {
        let first = Partial {
            before: None,
            piece: None,
            length: 0,
            formula,
            index: 0,
            other: None,
        };
        Self {
            all: vec![first],
            open: BinaryHeap::from([Reverse((0, 0))]),
            begun,
        }
    }

    /// Takes the shortest of the open ones.
    pub(super) fn pop(&mut self) -> Option<usize> {
        self.open.pop().map(|Reverse((_, last))| last)
    }

    /// The residual formula of a partial container.
    pub(super) fn formula(&self, last: usize) -> FormulaId {
        self.all[last].formula
    }

    /// Whether nothing has been added.
    fn is_empty(&self, last: usize) -> bool {
        self.all[last].length == 0
    }

    /// Whether a comma must come before the next part.
    pub(super) fn is_begun(&self, last: usize) -> bool {
        self.begun || !self.is_empty(last)
    }

    /// Adds a partial container with one more part, and returns it.
    pub(super) fn push(&mut self, before: usize, piece: TextPiece, formula: FormulaId) -> usize {
        let length = self.all[before].length + piece.len();
        let index = self.all[before].index;
        self.add(Partial {
            before: Some(before),
            piece: Some(piece),
            length,
            formula,
            index,
            other: None,
        })
    }

    /// Adds a partial container with one more key passed.
    fn pass(&mut self, before: usize, formula: FormulaId) {
        let (length, index) = (self.all[before].length, self.all[before].index + 1);
        self.add(Partial {
            before: Some(before),
            piece: None,
            length,
            formula,
            index,
            other: None,
        });
    }

    fn add(&mut self, partial: Partial) -> usize {
        let last = self.all.len();
        if partial.length <= MAX_BYTES {
            self.open.push(Reverse((partial.length, last)));
        }
        self.all.push(partial);
        last
    }

    fn backwards(&self, last: usize) -> impl Iterator<Item = &Partial> {
        std::iter::successors(Some(&self.all[last]), |partial| Some(&self.all[partial.before?]))
    }

    /// The keys taken that no atom mentions.
    fn others(&self, last: usize) -> Vec<TextId> {
        self.backwards(last).filter_map(|partial| partial.other).collect()
    }

    /// The parts of a partial container, and the bracket that closes it.
    pub(super) fn pieces(&self, last: usize, bracket: &[u8]) -> Vec<TextPiece> {
        let mut pieces: Vec<TextPiece> = self
            .backwards(last)
            .filter_map(|partial| partial.piece.clone())
            .collect();
        pieces.reverse();
        pieces.push(bracket.into());
        pieces
    }
}
