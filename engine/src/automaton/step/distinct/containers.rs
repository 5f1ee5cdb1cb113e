//! Items that have to differ from those before them, looked at as late as can be.
//!
//! An item is read as if any value would do, beside the values that it must not turn out equal to. Of those only the
//! ones that agree with what was read of it still matter: mostly none after a few bytes. While some do, a place stands
//! where something else than them can still come.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::assertion::{Assertion, AssertionId, Constraint, split, verdict_of};
use crate::automaton::formula::atom::{AtomKind, Keys};
use crate::automaton::formula::boolean::FormulaId;
use crate::automaton::formula::read::MemberKey;
use crate::automaton::formula::texts::TextId;
use crate::automaton::search::expectation::ExpectationId;
use crate::automaton::step::frame::{Container, Frame};
use crate::automaton::step::machine::Automaton;
use crate::automaton::step::memo::{ComparedValues, Distinctness, ValueParts};
use crate::automaton::step::state::{Cursor, StackId, State};
use crate::json::Shape;
use std::sync::Arc;

/// Verdict vectors of one value that are looked at all together.
const FEW: usize = 16;

impl Automaton {
    /// Whether a place can be gone on from so that every item that has to differ does.
    pub(crate) fn is_apart(&mut self, state: &State) -> Result<bool, AutomatonError> {
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
        match &state.cursor {
            Cursor::Value(expected) => self.value_apart(*expected, &apart.child),
            Cursor::Literal(word, _, _) => {
                let value = self.search.algebra.assertions.intern(Assertion::Equal(word.value()));
                Ok(!apart.child.contains(&value))
            }
            Cursor::String(decode, language, _, Some(text), _) => self.string_apart(*decode, *language, *text, stack),
            Cursor::Number(number, Some(text), expected) => self.number_apart(*number, *text, *expected, &apart.child),
            Cursor::Key(..) if !apart.own.is_empty() => self.name_apart(*state),
            Cursor::Colon(name) if !apart.own.is_empty() => self.member_apart(*name, stack),
            Cursor::ObjectComma if !apart.own.is_empty() => {
                let Some(named) = self.key(stack)? else {
                    return Ok(false);
                };
                self.name_apart(named)
            }
            Cursor::ObjectStart | Cursor::ObjectNext | Cursor::ArrayStart | Cursor::ArrayNext
                if !apart.own.is_empty() =>
            {
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
    pub(super) fn parts_here(&mut self, frame: &Frame, own: &ComparedValues) -> Vec<(AssertionId, AssertionId)> {
        let mut here = Vec::new();
        for &value in own.iter() {
            let part = match (self.parts_of(value), &frame.kind) {
                (ValueParts::Array(items), Container::Array { .. }) => items.get(frame.kind.values().len()).copied(),
                (ValueParts::Object(members), Container::Object { name: Some(name), .. }) => {
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
    pub(crate) fn apart(&mut self, stack: StackId) -> Result<Distinctness, AutomatonError> {
        let mut chain = Vec::new();
        let mut around = Distinctness {
            own: Arc::default(),
            child: Arc::default(),
        };
        let mut at = stack;
        while let Some(frame) = self.frame(at) {
            if let Some(known) = self.distinct_memo.containers.get(&at) {
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
            around = Distinctness { own, child };
            self.distinct_memo.containers.insert(at, around.clone());
        }
        Ok(around)
    }

    /// Those of `values` that a container may still become.
    fn agreeing(&mut self, kind: &Container, values: &ComparedValues) -> ComparedValues {
        if values.is_empty() {
            return values.clone();
        }
        let used = self
            .search
            .algebra
            .key_sets
            .names(kind.used(), "", &self.search.algebra.texts);
        let agree = |this: &mut Self, value: &AssertionId| match (this.parts_of(*value), kind) {
            (ValueParts::Array(items), Container::Array { values: Some(read) }) => items.starts_with(read),
            (ValueParts::Object(members), Container::Object { values, .. }) => {
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

    pub(super) fn parts_of(&mut self, value: AssertionId) -> ValueParts {
        if let Some(known) = self.distinct_memo.parts.get(&value) {
            return known.clone();
        }
        let parts = match self.search.algebra.assertions.get(value).clone() {
            Assertion::Equal(value) => match value.as_ref().shape() {
                Shape::Array(_) => {
                    let items = value.as_ref().items();
                    ValueParts::Array(
                        items
                            .map(|item| self.search.algebra.assertions.intern(Assertion::Equal(item.to_value())))
                            .collect(),
                    )
                }
                Shape::Object(_) => {
                    let members = value.as_ref().members();
                    let members = members.map(|(name, value)| {
                        let value = self
                            .search
                            .algebra
                            .assertions
                            .intern(Assertion::Equal(value.to_value()));
                        (self.search.algebra.texts.intern(name), value)
                    });
                    let mut members: Vec<(TextId, AssertionId)> = members.collect();
                    members.sort_unstable();
                    ValueParts::Object(members.into())
                }
                _ => ValueParts::Scalar,
            },
            _ => ValueParts::Scalar,
        };
        self.distinct_memo.parts.insert(value, parts.clone());
        parts
    }

    /// The values that the next item or member of a container must not equal, where the container must not equal `own`.
    fn child_apart(&mut self, frame: &Frame, own: &ComparedValues) -> Result<ComparedValues, AutomatonError> {
        let demand = frame.formulas[0];
        let mut child: Vec<AssertionId> = Vec::new();
        if matches!(frame.kind, Container::Array { .. }) && self.search.must_differ(demand) {
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
            Container::Array { .. } => (self.search.algebra.assertions_of_item(&[demand]), Vec::new()),
            Container::Object { name: Some(name), .. } => {
                let gone = [self.gone(&frame.kind), vec![*name]].concat();
                (
                    self.search
                        .algebra
                        .assertions_of_member(&[demand], MemberKey::Known(*name))?,
                    gone,
                )
            }
            Container::Object { .. } => return Ok(true),
        };
        if assertions.len() > FEW {
            return Ok(false);
        }
        for vector in self.search.vectors(&assertions)? {
            let verdict = |assertion| verdict_of(&assertions, &vector, assertion);
            let infinite = match &frame.kind {
                Container::Object { name: Some(name), .. } => {
                    let after = self
                        .search
                        .algebra
                        .after_member(demand, MemberKey::Known(*name), &verdict)?;
                    !self.search.object_can_end(after, &gone)? || self.search.is_infinite_object(after, &gone)?
                }
                _ => {
                    let after = self.search.algebra.after_item(demand, &verdict, false);
                    !self.search.array_can_end(after, &[])? || self.search.is_infinite_array(after)?
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
    ) -> Result<(FormulaId, Container, Vec<AssertionId>), AutomatonError> {
        let demand = frame.formulas[0];
        let assertions = match &frame.kind {
            Container::Object { name: Some(name), .. } => self
                .search
                .algebra
                .assertions_of_member(&[demand], MemberKey::Known(*name))?,
            _ => self.search.algebra.assertions_of_item(&[demand]),
        };
        let mut verdicts = Vec::with_capacity(assertions.len());
        for &assertion in &assertions {
            verdicts.push(self.search.satisfiable(&[part, assertion], &[])?);
        }
        let verdict = |assertion| verdict_of(&assertions, &verdicts, assertion);
        let mut kind = frame.kind.clone();
        let mut seen = kind.values().to_vec();
        let after = match &mut kind {
            Container::Array { values } => {
                let repeats = seen.contains(&part);
                seen.push(part);
                *values = Some(seen.clone().into());
                self.search.algebra.after_item(demand, &verdict, repeats)
            }
            Container::Object { used, values, name, .. } => {
                let Some(name) = name.take() else {
                    return Ok((demand, kind, seen));
                };
                *used = self
                    .search
                    .algebra
                    .key_sets
                    .with(*used, name, &self.search.algebra.texts);
                let all = self.with_value(&seen, *used, (name, part));
                seen = all.to_vec();
                *values = Some(all);
                self.search
                    .algebra
                    .after_member(demand, MemberKey::Known(name), &verdict)?
            }
        };
        Ok((after, kind, seen))
    }

    /// Whether a container of which `demand` is left can be completed to something else than each of `rivals`, which
    /// agree with what was read of it.
    fn rest_apart(
        &mut self,
        demand: FormulaId,
        kind: &Container,
        rivals: &[AssertionId],
        gone: &[TextId],
        seen: &[AssertionId],
    ) -> Result<bool, AutomatonError> {
        let infinite = match kind {
            Container::Array { .. } => self.search.is_infinite_array(demand)?,
            Container::Object { .. } => self.search.is_infinite_object(demand, gone)?,
        };
        if infinite {
            return Ok(true);
        }
        let apart = self.demand_apart(demand, kind, rivals);
        match kind {
            Container::Array { .. } => self.search.array_can_end(apart, seen),
            Container::Object { .. } => self.search.object_can_end(apart, gone),
        }
    }

    /// `demand`, and that the container turns out different from each of `rivals`, which agree with what was read of it.
    fn demand_apart(&mut self, demand: FormulaId, kind: &Container, rivals: &[AssertionId]) -> FormulaId {
        let read = kind.values().len();
        let mut parts = vec![demand];
        for &rival in rivals {
            let rest = match self.parts_of(rival) {
                ValueParts::Array(items) => {
                    let rest = &items[read.min(items.len())..];
                    let length = rest.len() as u64;
                    let mut same = self
                        .search
                        .algebra
                        .between(AtomKind::LengthAtLeast, length, Some(length));
                    for (at, &item) in (0..).zip(rest) {
                        same.push(self.search.algebra.items(at, Some(at + 1), item));
                    }
                    self.search.algebra.formulas.and(same)
                }
                ValueParts::Object(members) => {
                    let left = members.len().saturating_sub(read) as u64;
                    let mut same = self.search.algebra.between(AtomKind::CountAtLeast, 0, Some(left));
                    for (name, value) in &*members {
                        if self.has_come(kind, *name) {
                            continue;
                        }
                        same.push(self.search.algebra.atom(AtomKind::Has(*name)));
                        same.push(self.search.algebra.members(Keys::Name(*name), *value));
                    }
                    self.search.algebra.formulas.and(same)
                }
                ValueParts::Scalar => FormulaId::FALSE,
            };
            parts.push(self.search.algebra.formulas.not(rest));
        }
        self.search.algebra.formulas.and(parts)
    }

    /// A demand on the container at the top of a stack, and that it turns out different from those it has to differ from.
    pub(crate) fn container_apart(&mut self, demand: FormulaId, stack: StackId) -> Result<FormulaId, AutomatonError> {
        let own = self.apart(stack)?.own;
        Ok(match self.frame(stack) {
            Some(frame) if !own.is_empty() => self.demand_apart(demand, &frame.kind, &own),
            _ => demand,
        })
    }

    /// What is asked of the next value in a container, and that it differs from those it has to differ from.
    pub(crate) fn next_apart(&mut self, constraint: Constraint, stack: StackId) -> Result<Constraint, AutomatonError> {
        let child = self.apart(stack)?.child;
        if child.is_empty() {
            return Ok(constraint);
        }
        let others = self.search.algebra.combined(&[], &child)?;
        Ok(self.search.algebra.both(constraint, others)?)
    }

    pub(super) fn value_apart(
        &mut self,
        expected: ExpectationId,
        others: &[AssertionId],
    ) -> Result<bool, AutomatonError> {
        if others.is_empty() {
            return Ok(true);
        }
        let what = self.search.expected(expected);
        for vector in self.search.vectors(&what.assertions)? {
            if !self
                .search
                .algebra
                .diagrams
                .admits(what.diagram, |assertion| vector[assertion as usize])
            {
                continue;
            }
            let (all, mut none) = split(&what.assertions, &vector);
            let mut is_apart = self.search.is_infinite(&all, &none)?;
            if !is_apart {
                // Of more strings than there are others one is none of them.
                let strings = self.search.algebra.combined(&all, &none)?.strings;
                let many = others.len() as u64;
                is_apart = !self.search.algebra.languages.is_non_enumerable(strings)
                    && self.count_strings(strings, many + 1)? > many;
            }
            none.extend_from_slice(others);
            if is_apart || self.search.satisfiable(&all, &none)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
