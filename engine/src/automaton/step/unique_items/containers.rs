//! Items that have to differ from those before them, compared as late as possible.
//!
//! An item is read as if any value were allowed, together with the values that it must not equal. Only values that
//! agree with what has been read of the item still matter, and after a few bytes there are usually none. While there
//! are some, a state is kept only if the item can still become something else.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{
    Assertion, AssertionId, AtomKind, Constraint, FormulaId, Keys, MemberKey, TextId, split, verdict_of,
};
use crate::automaton::search::ExpectationId;
use crate::automaton::step::{
    Automaton, ComparedValues, Container, Cursor, Distinctness, Frame, StackId, State, ValueParts,
};
use crate::json::Shape;
use std::sync::Arc;

/// Number of verdict vectors of one value up to which all are looked at.
const COMPARED_VECTORS: usize = 16;

impl Automaton {
    /// Whether the document can be continued from a state so that all items that have to differ do.
    pub(crate) fn can_be_distinct(&mut self, state: &State) -> Result<bool, AutomatonError> {
        let stack = state.stack;
        if !self.keeps_values(stack) {
            return Ok(true);
        }
        if state.gap.is_before_end() {
            return match self.close(stack)? {
                Some(after) => self.can_be_distinct(&after),
                None => Ok(false),
            };
        }
        let apart = self.distinctness(stack)?;
        match &state.cursor {
            Cursor::Value(expected) => self.value_can_be_distinct(*expected, &apart.child),
            Cursor::Literal(word, _, _) => {
                let value = self.search.algebra.assertions.intern(Assertion::Equal(word.value()));
                Ok(!apart.child.contains(&value))
            }
            Cursor::String(decode, language, _, Some(text), _) => {
                self.string_can_be_distinct(*decode, *language, *text, stack)
            }
            Cursor::Number(number, Some(text), expected) => {
                self.number_can_be_distinct(*number, *text, *expected, &apart.child)
            }
            Cursor::Key(..) if !apart.own.is_empty() => self.key_can_be_distinct(*state),
            Cursor::Colon(name) if !apart.own.is_empty() => self.member_can_be_distinct(*name, stack),
            Cursor::ObjectComma if !apart.own.is_empty() => {
                let Some(named) = self.begin_key(stack)? else {
                    return Ok(false);
                };
                self.key_can_be_distinct(named)
            }
            Cursor::ObjectStart | Cursor::ObjectNext | Cursor::ArrayStart | Cursor::ArrayNext
                if !apart.own.is_empty() =>
            {
                let Some(frame) = self.frame(stack) else {
                    return Ok(true);
                };
                let (exhausted, seen) = (self.exhausted_keys(&frame.kind), frame.kind.values().to_vec());
                self.rest_can_be_distinct(frame.formulas[0], &frame.kind, &apart.own, &exhausted, &seen)
            }
            _ => Ok(true),
        }
    }

    /// The part of each value in `own` at the position or key of the container's next item or member, with that value.
    pub(super) fn parts_here(&mut self, frame: &Frame, own: &ComparedValues) -> Vec<(AssertionId, AssertionId)> {
        let mut here = Vec::new();
        for &value in own.iter() {
            let part = match (self.value_parts(value), &frame.kind) {
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

    /// The values that the container at the top of a stack and its next part must not equal. The containers around it
    /// are looked at first.
    pub(crate) fn distinctness(&mut self, stack: StackId) -> Result<Distinctness, AutomatonError> {
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
            let child = self.compared_with_child(&frame, &own)?;
            around = Distinctness { own, child };
            self.distinct_memo.containers.insert(at, around.clone());
        }
        Ok(around)
    }

    /// The values among `values` that a container may still become equal to.
    fn agreeing(&mut self, kind: &Container, values: &ComparedValues) -> ComparedValues {
        if values.is_empty() {
            return values.clone();
        }
        let used = self
            .search
            .algebra
            .key_sets
            .names(kind.used(), TextId::EMPTY, &self.search.algebra.texts);
        let agree = |this: &mut Self, value: &AssertionId| match (this.value_parts(*value), kind) {
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

    /// The parts of a value, given by its assertion of equality.
    pub(super) fn value_parts(&mut self, value: AssertionId) -> ValueParts {
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

    /// The values that the next item or member of a container must not equal, given that the container must not equal
    /// `own`.
    fn compared_with_child(&mut self, frame: &Frame, own: &ComparedValues) -> Result<ComparedValues, AutomatonError> {
        let demand = frame.formulas[0];
        let mut child: Vec<AssertionId> = Vec::new();
        if matches!(frame.kind, Container::Array { .. }) && self.search.must_differ(demand) {
            child.extend_from_slice(frame.kind.values());
        }
        let mut here = self.parts_here(frame, own);
        if here.is_empty() || self.always_distinct(frame)? {
            return Ok(child.into());
        }
        here.sort_unstable();
        for same in here.chunk_by(|a, b| a.0 == b.0) {
            let part = same[0].0;
            let rivals: Vec<AssertionId> = same.iter().map(|(_, value)| *value).collect();
            let (after, kind, seen) = self.after_part(frame, part)?;
            let exhausted = self.exhausted_keys(&kind);
            if !self.rest_can_be_distinct(after, &kind, &rivals, &exhausted, &seen)? {
                child.push(part);
            }
        }
        child.sort_unstable();
        child.dedup();
        Ok(child.into())
    }

    /// Whether there are infinitely many ways to complete the container after every value that its next item or member
    /// may have.
    fn always_distinct(&mut self, frame: &Frame) -> Result<bool, AutomatonError> {
        let demand = frame.formulas[0];
        let (assertions, exhausted) = match &frame.kind {
            Container::Array { .. } => (self.search.algebra.assertions_of_item(&[demand]), Vec::new()),
            Container::Object { name: Some(name), .. } => {
                let exhausted = [self.exhausted_keys(&frame.kind), vec![*name]].concat();
                (
                    self.search
                        .algebra
                        .assertions_of_member(&[demand], MemberKey::Known(*name))?,
                    exhausted,
                )
            }
            Container::Object { .. } => return Ok(true),
        };
        if assertions.len() > COMPARED_VECTORS {
            return Ok(false);
        }
        for vector in self.search.verdict_vectors(&assertions)? {
            let verdict = |assertion| verdict_of(&assertions, &vector, assertion);
            let infinite = match &frame.kind {
                Container::Object { name: Some(name), .. } => {
                    let after = self
                        .search
                        .algebra
                        .after_member(demand, MemberKey::Known(*name), &verdict)?;
                    !self.search.object_can_end(after, &exhausted)?
                        || self.search.is_infinite_object(after, &exhausted)?
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

    /// The residual formula, the container and its values after `part` as the next item or member.
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

    /// Whether a container with residual `demand` can be completed to a value other than each of `rivals`, which agree
    /// with what has been read of it.
    fn rest_can_be_distinct(
        &mut self,
        demand: FormulaId,
        kind: &Container,
        rivals: &[AssertionId],
        exhausted: &[TextId],
        seen: &[AssertionId],
    ) -> Result<bool, AutomatonError> {
        let infinite = match kind {
            Container::Array { .. } => self.search.is_infinite_array(demand)?,
            Container::Object { .. } => self.search.is_infinite_object(demand, exhausted)?,
        };
        if infinite {
            return Ok(true);
        }
        let apart = self.distinct_demand(demand, kind, rivals);
        match kind {
            Container::Array { .. } => self.search.array_can_end(apart, seen),
            Container::Object { .. } => self.search.object_can_end(apart, exhausted),
        }
    }

    /// The demand on a container together with the condition that it differs from each of `rivals`, which agree with
    /// what has been read of it.
    fn distinct_demand(&mut self, demand: FormulaId, kind: &Container, rivals: &[AssertionId]) -> FormulaId {
        let read = kind.values().len();
        let mut parts = vec![demand];
        for &rival in rivals {
            let rest = match self.value_parts(rival) {
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
                        if self.has_seen(kind, *name) {
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

    /// The demand on the container at the top of a stack together with the condition that it differs from the values
    /// that it must not equal.
    pub(crate) fn distinct_container(
        &mut self,
        demand: FormulaId,
        stack: StackId,
    ) -> Result<FormulaId, AutomatonError> {
        let own = self.distinctness(stack)?.own;
        Ok(match self.frame(stack) {
            Some(frame) if !own.is_empty() => self.distinct_demand(demand, &frame.kind, &own),
            _ => demand,
        })
    }

    /// The constraint on the next value in a container together with the condition that it differs from the values that
    /// it must not equal.
    pub(crate) fn distinct_value(
        &mut self,
        constraint: Constraint,
        stack: StackId,
    ) -> Result<Constraint, AutomatonError> {
        let child = self.distinctness(stack)?.child;
        if child.is_empty() {
            return Ok(constraint);
        }
        let others = self.search.algebra.combined(&[], &child)?;
        Ok(self.search.algebra.both(constraint, others)?)
    }

    /// Whether some value meets an expectation and equals none of `others`.
    pub(super) fn value_can_be_distinct(
        &mut self,
        expected: ExpectationId,
        others: &[AssertionId],
    ) -> Result<bool, AutomatonError> {
        if others.is_empty() {
            return Ok(true);
        }
        let what = self.search.expected(expected);
        for vector in self.search.verdict_vectors(&what.assertions)? {
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
                // If there are more strings than others, one of them is none of the others.
                let strings = self.search.algebra.combined(&all, &none)?.strings;
                let many = others.len() as u64;
                is_apart =
                    !self.languages().is_non_enumerable(strings) && self.count_strings(strings, many + 1)? > many;
            }
            none.extend_from_slice(others);
            if is_apart || self.search.satisfiable(&all, &none)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
