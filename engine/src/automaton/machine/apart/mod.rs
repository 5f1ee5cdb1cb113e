//! Items that have to differ from those before them, looked at as late as can be.
//!
//! An item is read as if any value would do, beside the values that it must not turn out equal to. Of those only the
//! ones that agree with what was read of it still matter: mostly none after a few bytes. While some do, a place stands
//! where something else than them can still come.

mod closed;
mod names;
mod numbers;
mod texts;

use std::sync::Arc;

use super::{Automaton, AutomatonError, ExpectedId, Frame, Kind, StackId, State, Top};
use crate::automaton::assertion::{Assertion, AssertionId, Constraint};
use crate::automaton::atom::{AtomKind, Keys, TextId};
use crate::automaton::formula::FormulaId;
use crate::automaton::read::Name;
use crate::automaton::satisfiable::{split, verdict_of};
use crate::json::Shape;
pub(in crate::automaton) use texts::MostTexts;

/// Verdict vectors of one value that are looked at all together.
const FEW: usize = 16;

/// Values, as assertions of being equal to them.
type Values = Arc<[AssertionId]>;

/// What is known of a container in which values are kept.
#[derive(Clone, Debug)]
pub(in crate::automaton) struct Apart {
    /// The values that agree with what was read of the container, and that it must not equal.
    own: Values,
    /// The values that the item or member next to come, or being read, must not equal.
    pub(super) child: Values,
}

/// A value taken apart.
#[derive(Clone, Debug)]
pub(in crate::automaton) enum Parts {
    Scalar,
    Array(Values),
    /// Sorted by name.
    Object(Arc<[(TextId, AssertionId)]>),
}

impl Automaton {
    /// Whether a place can be gone on from so that every item that has to differ does.
    pub(super) fn is_apart(&mut self, state: &State) -> Result<bool, AutomatonError> {
        let stack = state.stack;
        if !self.keeps(stack) {
            return Ok(true);
        }
        if state.gap.is_before_end() {
            return match self.close(stack)? {
                Some(after) => self.is_apart(&after),
                None => Ok(false),
            };
        }
        let apart = self.apart(stack)?;
        match &state.top {
            Top::Value(expected) => self.value_apart(*expected, &apart.child),
            Top::Literal(word, _, _) => {
                let value = self.assertions.intern(Assertion::Equal(word.value()));
                Ok(!apart.child.contains(&value))
            }
            Top::String(decode, language, _, Some(text), _) => self.string_apart(*decode, *language, *text, stack),
            Top::Number(number, Some(text), expected) => self.number_apart(*number, *text, *expected, &apart.child),
            Top::Key(..) if !apart.own.is_empty() => self.name_apart(*state),
            Top::Colon(name) if !apart.own.is_empty() => self.member_apart(*name, stack),
            Top::ObjectComma if !apart.own.is_empty() => {
                let Some(named) = self.key(stack)? else {
                    return Ok(false);
                };
                self.name_apart(named)
            }
            Top::ObjectStart | Top::ObjectNext | Top::ArrayStart | Top::ArrayNext if !apart.own.is_empty() => {
                let Some(frame) = self.frame(stack) else {
                    return Ok(true);
                };
                let (gone, seen) = (self.gone(&frame.kind), frame.kind.values().to_vec());
                self.rest_apart(frame.formulas[0], &frame.kind, &apart.own, &gone, &seen)
            }
            _ => Ok(true),
        }
    }

    /// What each value in query has where the next item or member of a container stands.
    fn parts_here(&mut self, frame: &Frame, own: &Values) -> Vec<(AssertionId, AssertionId)> {
        let mut here = Vec::new();
        for &value in own.iter() {
            let part = match (self.parts_of(value), &frame.kind) {
                (Parts::Array(items), Kind::Array { .. }) => items.get(frame.kind.values().len()).copied(),
                (Parts::Object(members), Kind::Object { name: Some(name), .. }) => {
                    let place = members.binary_search_by_key(name, |(name, _)| *name);
                    place.ok().map(|place| members[place].1)
                }
                _ => None,
            };
            here.extend(part.map(|part| (part, value)));
        }
        here
    }

    /// What is known of the container at the top of a stack, and before that of those around it.
    pub(super) fn apart(&mut self, stack: StackId) -> Result<Apart, AutomatonError> {
        let mut chain = Vec::new();
        let mut around = Apart {
            own: Arc::default(),
            child: Arc::default(),
        };
        let mut at = stack;
        while let Some(frame) = self.frame(at) {
            if let Some(known) = self.aparts.get(&at) {
                around = known.clone();
                break;
            }
            let below = frame.below;
            chain.push((at, frame));
            at = below;
        }
        for (at, frame) in chain.into_iter().rev() {
            let own = self.agreeing(&frame.kind, &around.child);
            let child = self.child_apart(&frame, &own)?;
            around = Apart { own, child };
            self.aparts.insert(at, around.clone());
        }
        Ok(around)
    }

    /// Those of `values` that a container may still become.
    fn agreeing(&mut self, kind: &Kind, values: &Values) -> Values {
        if values.is_empty() {
            return values.clone();
        }
        let used = self.key_sets.names(kind.used(), "", &self.texts);
        let agree = |this: &mut Self, value: &AssertionId| match (this.parts_of(*value), kind) {
            (Parts::Array(items), Kind::Array { values: Some(read) }) => items.starts_with(read),
            (Parts::Object(members), Kind::Object { values, .. }) => {
                let mut read = used.iter().zip(values.iter().flatten());
                read.all(|(name, value)| {
                    let place = members.binary_search_by_key(name, |(name, _)| *name);
                    place.is_ok_and(|place| members[place].1 == *value)
                })
            }
            _ => false,
        };
        let agreeing: Vec<AssertionId> = values.iter().copied().filter(|value| agree(self, value)).collect();
        match agreeing.len() == values.len() {
            true => values.clone(),
            false => agreeing.into(),
        }
    }

    fn parts_of(&mut self, value: AssertionId) -> Parts {
        if let Some(known) = self.parts.get(&value) {
            return known.clone();
        }
        let parts = match self.assertions.get(value).clone() {
            Assertion::Equal(value) => match value.as_ref().shape() {
                Shape::Array(_) => {
                    let items = value.as_ref().items();
                    Parts::Array(
                        items
                            .map(|item| self.assertions.intern(Assertion::Equal(item.to_value())))
                            .collect(),
                    )
                }
                Shape::Object(_) => {
                    let members = value.as_ref().members();
                    let members = members.map(|(name, value)| {
                        let value = self.assertions.intern(Assertion::Equal(value.to_value()));
                        (self.texts.intern(name), value)
                    });
                    let mut members: Vec<(TextId, AssertionId)> = members.collect();
                    members.sort_unstable();
                    Parts::Object(members.into())
                }
                _ => Parts::Scalar,
            },
            _ => Parts::Scalar,
        };
        self.parts.insert(value, parts.clone());
        parts
    }

    /// The values that the next item or member of a container must not equal, where the container must not equal `own`.
    fn child_apart(&mut self, frame: &Frame, own: &Values) -> Result<Values, AutomatonError> {
        let demand = frame.formulas[0];
        let mut child: Vec<AssertionId> = Vec::new();
        if matches!(frame.kind, Kind::Array { .. }) && self.must_differ(demand) {
            child.extend_from_slice(frame.kind.values());
        }
        let mut here = self.parts_here(frame, own);
        if here.is_empty() || self.always_apart(frame)? {
            return Ok(child.into());
        }
        here.sort_unstable();
        for same in here.chunk_by(|a, b| a.0 == b.0) {
            let part = same[0].0;
            let rivals: Vec<AssertionId> = same.iter().map(|(_, value)| *value).collect();
            let (after, kind, seen) = self.after_part(frame, part)?;
            let gone = self.gone(&kind);
            if !self.rest_apart(after, &kind, &rivals, &gone, &seen)? {
                child.push(part);
            }
        }
        child.sort_unstable();
        child.dedup();
        Ok(child.into())
    }

    /// Whether there are infinite rests after every value that the item or member may have.
    fn always_apart(&mut self, frame: &Frame) -> Result<bool, AutomatonError> {
        let demand = frame.formulas[0];
        let (assertions, gone) = match &frame.kind {
            Kind::Array { .. } => (self.assertions_of_item(&[demand]), Vec::new()),
            Kind::Object { name: Some(name), .. } => {
                let gone = [self.gone(&frame.kind), vec![*name]].concat();
                (self.assertions_of_member(&[demand], Name::Known(*name))?, gone)
            }
            Kind::Object { .. } => return Ok(true),
        };
        if assertions.len() > FEW {
            return Ok(false);
        }
        for vector in self.vectors(&assertions)? {
            let verdict = |assertion| verdict_of(&assertions, &vector, assertion);
            let infinite = match &frame.kind {
                Kind::Object { name: Some(name), .. } => {
                    let after = self.after_member(demand, Name::Known(*name), &verdict)?;
                    !self.object_can_end(after, &gone)? || self.is_infinite_object(after, &gone)?
                }
                _ => {
                    let after = self.after_item(demand, &verdict, false);
                    !self.array_can_end(after, &[])? || self.is_infinite_array(after)?
                }
            };
            if !infinite {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What is left of a container after the value `part` as its next item or member.
    fn after_part(
        &mut self,
        frame: &Frame,
        part: AssertionId,
    ) -> Result<(FormulaId, Kind, Vec<AssertionId>), AutomatonError> {
        let demand = frame.formulas[0];
        let assertions = match &frame.kind {
            Kind::Object { name: Some(name), .. } => self.assertions_of_member(&[demand], Name::Known(*name))?,
            _ => self.assertions_of_item(&[demand]),
        };
        let mut verdicts = Vec::with_capacity(assertions.len());
        for &assertion in &assertions {
            verdicts.push(self.satisfiable(&[part, assertion], &[])?);
        }
        let verdict = |assertion| verdict_of(&assertions, &verdicts, assertion);
        let mut kind = frame.kind.clone();
        let mut seen = kind.values().to_vec();
        let after = match &mut kind {
            Kind::Array { values } => {
                let repeats = seen.contains(&part);
                seen.push(part);
                *values = Some(seen.clone().into());
                self.after_item(demand, &verdict, repeats)
            }
            Kind::Object { used, values, name, .. } => {
                let Some(name) = name.take() else {
                    return Ok((demand, kind, seen));
                };
                *used = self.key_sets.with(*used, name, &self.texts);
                let all = self.with_value(&seen, *used, (name, part));
                seen = all.to_vec();
                *values = Some(all);
                self.after_member(demand, Name::Known(name), &verdict)?
            }
        };
        Ok((after, kind, seen))
    }

    /// Whether a container of which `demand` is left can be completed to something else than each of `rivals`, which
    /// agree with what was read of it.
    fn rest_apart(
        &mut self,
        demand: FormulaId,
        kind: &Kind,
        rivals: &[AssertionId],
        gone: &[TextId],
        seen: &[AssertionId],
    ) -> Result<bool, AutomatonError> {
        let infinite = match kind {
            Kind::Array { .. } => self.is_infinite_array(demand)?,
            Kind::Object { .. } => self.is_infinite_object(demand, gone)?,
        };
        if infinite {
            return Ok(true);
        }
        let apart = self.demand_apart(demand, kind, rivals);
        match kind {
            Kind::Array { .. } => self.array_can_end(apart, seen),
            Kind::Object { .. } => self.object_can_end(apart, gone),
        }
    }

    /// `demand`, and that the container turns out different from each of `rivals`, which agree with what was read of it.
    fn demand_apart(&mut self, demand: FormulaId, kind: &Kind, rivals: &[AssertionId]) -> FormulaId {
        let read = kind.values().len();
        let mut parts = vec![demand];
        for &rival in rivals {
            let rest = match self.parts_of(rival) {
                Parts::Array(items) => {
                    let rest = &items[read.min(items.len())..];
                    let length = rest.len() as u64;
                    let mut same = self.between(AtomKind::LengthAtLeast, length, Some(length));
                    for (at, &item) in (0..).zip(rest) {
                        same.push(self.items(at, Some(at + 1), item));
                    }
                    self.formulas.and(same)
                }
                Parts::Object(members) => {
                    let left = members.len().saturating_sub(read) as u64;
                    let mut same = self.between(AtomKind::CountAtLeast, 0, Some(left));
                    for (name, value) in &*members {
                        if self.has_come(kind, *name) {
                            continue;
                        }
                        same.push(self.atom(AtomKind::Has(*name)));
                        same.push(self.members(Keys::Name(*name), *value));
                    }
                    self.formulas.and(same)
                }
                Parts::Scalar => FormulaId::FALSE,
            };
            parts.push(self.formulas.not(rest));
        }
        self.formulas.and(parts)
    }

    /// A demand on the container at the top of a stack, and that it turns out different from those it has to differ from.
    pub(super) fn container_apart(&mut self, demand: FormulaId, stack: StackId) -> Result<FormulaId, AutomatonError> {
        let own = self.apart(stack)?.own;
        Ok(match self.frame(stack) {
            Some(frame) if !own.is_empty() => self.demand_apart(demand, &frame.kind, &own),
            _ => demand,
        })
    }

    /// What is asked of the next value in a container, and that it differs from those it has to differ from.
    pub(super) fn next_apart(&mut self, constraint: Constraint, stack: StackId) -> Result<Constraint, AutomatonError> {
        let child = self.apart(stack)?.child;
        if child.is_empty() {
            return Ok(constraint);
        }
        let others = self.combined(&[], &child)?;
        Ok(self.both(constraint, others)?)
    }

    /// Whether there is no end of values that are read for this, so that some differ from any others. A no may also say that
    /// this did not show.
    fn value_is_infinite(&mut self, expected: ExpectedId) -> Result<bool, AutomatonError> {
        if let Some(&known) = self.infinite_values.get(&expected) {
            return Ok(known);
        }
        let is_infinite = self.find_infinite_value(expected)?;
        self.infinite_values.insert(expected, is_infinite);
        Ok(is_infinite)
    }

    fn find_infinite_value(&mut self, expected: ExpectedId) -> Result<bool, AutomatonError> {
        let what = self.expected(expected);
        for vector in self.vectors(&what.assertions)? {
            if self
                .diagrams
                .admits(what.diagram, |assertion| vector[assertion as usize])
            {
                let (all, none) = split(&what.assertions, &vector);
                if self.is_infinite(&all, &none)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn value_apart(&mut self, expected: ExpectedId, others: &[AssertionId]) -> Result<bool, AutomatonError> {
        if others.is_empty() {
            return Ok(true);
        }
        let what = self.expected(expected);
        for vector in self.vectors(&what.assertions)? {
            if !self
                .diagrams
                .admits(what.diagram, |assertion| vector[assertion as usize])
            {
                continue;
            }
            let (all, mut none) = split(&what.assertions, &vector);
            let mut is_apart = self.is_infinite(&all, &none)?;
            if !is_apart {
                // Of more strings than there are others one is none of them.
                let strings = self.combined(&all, &none)?.strings;
                let many = others.len() as u64;
                is_apart = !self.languages.has_machines(strings) && self.count_strings(strings, many + 1)? > many;
            }
            none.extend_from_slice(others);
            if is_apart || self.satisfiable(&all, &none)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
