//! Places in objects and arrays, and what a value that ends means to the one around it.

use crate::KeyOrder;
use crate::json::Value;

use super::super::assertion::{Assertion, AssertionId};
use super::super::atom::{AtomKind, TextId};
use super::super::decision_diagram::DiagramId;
use super::super::formula::FormulaId;
use super::super::key_sets::KeySetId;
use super::super::least_fixpoint::Assertions;
use super::super::read::Name;
use super::super::satisfiable::{split, verdict_of};
use super::{
    Automaton, AutomatonError, Derived, ExpectedId, Frame, Kind, Left, PlainFrame, StackId, State, Step, Top, Verdicts,
};

impl Automaton {
    /// Whether the values that are read in a container are kept.
    pub(super) fn keeps(&self, stack: StackId) -> bool {
        let frame = self.frames.get(stack.0 as usize);
        frame.is_some_and(|frame| match &frame.kind {
            Kind::Array { values } | Kind::Object { values, .. } => values.is_some(),
        })
    }

    /// The assertion of being equal to a value that is kept.
    pub(super) fn kept(&mut self, stack: StackId, value: impl FnOnce() -> Value) -> Option<AssertionId> {
        self.keeps(stack)
            .then(|| self.assertions.intern(Assertion::Equal(value())))
    }

    /// The value of a container that ends.
    pub(super) fn value_of(&self, kind: &Kind) -> Option<Value> {
        let equal = |assertion: &AssertionId| match self.assertions.get(*assertion) {
            Assertion::Equal(value) => Some(value),
            _ => None,
        };
        match kind {
            Kind::Array { values } => {
                let items: Vec<&Value> = values.as_ref()?.iter().filter_map(equal).collect();
                Some(Value::array(&items))
            }
            Kind::Object { used, values, .. } => {
                let values = values.as_ref()?.iter().filter_map(equal);
                let names = self.key_sets.names(*used, "", &self.texts);
                let names = names.iter().map(|name| self.texts.get(*name));
                Some(Value::object(&names.zip(values).collect::<Vec<_>>()))
            }
        }
    }

    pub(super) fn begin_container(&mut self, expected: ExpectedId, stack: StackId, array: bool) -> Step {
        let what = self.expected(expected);
        let mut formulas = Left::new();
        for &assertion in &what.assertions {
            let constraint = self.constraint(assertion)?;
            formulas.push(if array { constraint.arrays } else { constraint.objects });
        }
        let demand = self.diagrams.formula(what.diagram, &formulas, &mut self.formulas);
        let viable = match array {
            true => self.array_can_end(demand, &[])?,
            false => self.object_can_end(demand, &[])?,
        };
        if !viable {
            return Ok(None);
        }
        for (formula, forced) in formulas.iter_mut().zip(self.forced(&what)) {
            if let Some(verdict) = forced {
                *formula = FormulaId::constant(verdict);
            }
        }
        formulas.insert(0, demand);
        let keeps = self.keeps(stack) || (array && self.asks_unique(&formulas));
        let values = keeps.then(Box::default);
        let kind = match array {
            true => Kind::Array { values },
            false => Kind::Object {
                values,
                used: KeySetId::EMPTY,
                name: None,
                order: self.order_for(&what.assertions),
                passed: 0,
            },
        };
        let mut frame = Frame {
            kind,
            formulas,
            expected,
            below: stack,
            depth: self.frames.get(stack.0 as usize).map_or(0, |frame| frame.depth) + 1,
            plain: Derived(None),
            mixed: Derived(0),
        };
        self.note_plain(&mut frame)?;
        let stack = self.push(frame);
        let top = if array { Top::ArrayStart } else { Top::ObjectStart };
        Ok(Some(State::new(top, stack)))
    }

    /// Notes whether a frame is [plain](PlainFrame).
    fn note_plain(&mut self, frame: &mut Frame) -> Result<(), AutomatonError> {
        let is_free = self.style.key_order == KeyOrder::Any;
        if let Kind::Object { values: None, .. } = frame.kind
            && is_free
            && let Some(asked) = self.plain(frame.formulas[0])
            && asked.is_of_any_size()
        {
            let has_room = self.is_roomy(frame.formulas[0])?;
            let missing = asked.required.iter().filter(|name| !self.has_come(&frame.kind, **name));
            let missing = missing.count() as u32;
            frame.plain = Derived(Some(PlainFrame {
                asked,
                has_room,
                missing,
            }));
        }
        Ok(())
    }

    /// Whether a member of this name has been read.
    pub(super) fn has_come(&self, kind: &Kind, name: TextId) -> bool {
        self.key_sets.has(kind.used(), name, &self.texts)
    }

    /// Whether a container may end where it stands.
    pub(super) fn may_close(&self, frame: &Frame) -> bool {
        match &frame.plain {
            Derived(Some(plain)) => plain.missing == 0,
            Derived(None) => self.at_end(frame.formulas[0]),
        }
    }

    /// The demand on what is still to come of a container.
    pub(super) fn demand_left(&mut self, frame: &Frame) -> FormulaId {
        let demand = frame.formulas[0];
        match &frame.plain {
            Derived(Some(_)) => {
                let (atoms, sets, texts) = (&self.atoms, &self.key_sets, &self.texts);
                let used = frame.kind.used();
                self.formulas.substitute(demand, &mut |atom| match atoms.kind(atom) {
                    AtomKind::Has(name) if sets.has(used, name, texts) => Some(FormulaId::TRUE),
                    _ => None,
                })
            }
            Derived(None) => demand,
        }
    }

    /// The closing bracket of the innermost container.
    pub(super) fn close(&mut self, stack: StackId) -> Step {
        let Some(frame) = self.frame(stack) else {
            return Ok(None);
        };
        if !self.may_close(&frame) {
            return Ok(None);
        }
        let verdicts: Verdicts = frame.formulas[1..]
            .iter()
            .map(|formula| self.at_end(*formula))
            .collect();
        if self.keeps(frame.below) {
            let value = self.value_of(&frame.kind);
            let value = value.map(|value| self.assertions.intern(Assertion::Equal(value)));
            return self.value_done(frame.expected, verdicts, value, frame.below);
        }
        // What the members were makes no other difference.
        self.value_done(frame.expected, verdicts, None, frame.below)
    }

    /// After a value with these verdicts of its assertions.
    pub(super) fn value_done(
        &mut self,
        expected: ExpectedId,
        verdicts: Verdicts,
        value: Option<AssertionId>,
        stack: StackId,
    ) -> Step {
        if value.is_some() {
            return self.find_done(expected, verdicts, value, stack);
        }
        let key = (stack, expected, verdicts);
        if let Some(&known) = self.done.get(&key) {
            return Ok(known);
        }
        let after = self.find_done(expected, key.2.clone(), None, stack)?;
        self.done.insert(key, after);
        Ok(after)
    }

    fn find_done(
        &mut self,
        expected: ExpectedId,
        verdicts: Verdicts,
        value: Option<AssertionId>,
        stack: StackId,
    ) -> Step {
        let Some(frame) = self.frame(stack) else {
            let top = Top::Done;
            return Ok(Some(State::new(top, stack)));
        };
        let mut frame = (*frame).clone();
        let what = self.expected(expected);
        let verdict = |assertion| verdict_of(&what.assertions, &verdicts, assertion);
        let keeps = self.keeps(stack);
        let top = match &mut frame.kind {
            Kind::Array { values } => {
                let repeats = values.iter().flatten().any(|seen| Some(*seen) == value);
                for formula in &mut frame.formulas {
                    *formula = self.after_item(*formula, &verdict, repeats);
                }
                if frame.formulas[0] == FormulaId::FALSE {
                    return Ok(None);
                }
                if let (Some(values), Some(value)) = (values, value) {
                    let mut all = values.to_vec();
                    all.push(value);
                    *values = all.into();
                }
                Top::ArrayNext
            }
            Kind::Object { used, values, name, .. } => {
                let Some(name) = name.take() else {
                    return Ok(None);
                };
                let from = usize::from(frame.plain.0.is_some());
                for formula in &mut frame.formulas[from..] {
                    *formula = match keeps {
                        true => self.after_member(*formula, Name::Known(name), &verdict)?,
                        false => self.after_only_member(*formula, name, &verdict)?,
                    };
                }
                *used = self.key_sets.with(*used, name, &self.texts);
                if let (Some(values), Some(value)) = (values, value) {
                    *values = self.with_value(values, *used, (name, value));
                }
                match &mut frame.plain {
                    Derived(Some(plain)) => {
                        let came = u32::from(plain.asked.requires(name));
                        plain.missing = plain.missing.saturating_sub(came);
                    }
                    Derived(None) => self.note_plain(&mut frame)?,
                }
                Top::ObjectNext
            }
        };
        let stack = self.push(frame);
        Ok(Some(State::new(top, stack)))
    }

    /// The values of the members of an object by the order of their names, which are `used`, one more among them.
    pub(super) fn with_value(
        &self,
        values: &[AssertionId],
        used: KeySetId,
        (name, value): (TextId, AssertionId),
    ) -> Box<[AssertionId]> {
        let text = self.texts.get(name);
        let place = self.key_sets.partition_point(used, &self.texts, |name| name < text);
        let mut all = values.to_vec();
        all.insert(place.min(all.len()), value);
        all.into()
    }

    /// What the next item is read for; none where there cannot be one.
    pub(super) fn item(&mut self, stack: StackId) -> Result<Option<ExpectedId>, AutomatonError> {
        if let Some(&known) = self.items.get(&stack) {
            return Ok(known);
        }
        let item = self.find_item(stack)?;
        self.items.insert(stack, item);
        Ok(item)
    }

    fn find_item(&mut self, stack: StackId) -> Result<Option<ExpectedId>, AutomatonError> {
        let Some(frame) = self.frame(stack) else {
            return Ok(None);
        };
        let seen = frame.kind.values();
        let mut assertions = self.assertions_of_item(&frame.formulas);
        assertions.extend(self.compared(&frame.formulas, seen)?);
        assertions.sort_unstable();
        assertions.dedup();
        let demand = frame.formulas[0];
        // Mostly a repeated item is the end of it.
        let never = if self.must_differ(demand) { seen } else { &[] };
        let diagram = self.decide_unless(&assertions, never, &mut |this, vector| {
            let verdict = |assertion| verdict_of(&assertions, vector, assertion);
            let repeats = assertions
                .iter()
                .any(|assertion| verdict(*assertion) && seen.contains(assertion));
            let after = this.after_item(demand, &verdict, repeats);
            // Of a value with which the rest is compared it is known that it is this one.
            let known = assertions
                .iter()
                .copied()
                .find(|assertion| verdict(*assertion) && this.is_value(*assertion));
            match known {
                Some(known) => this.array_can_end(after, &[seen, &[known]].concat()),
                None => {
                    let (all, none) = split(&assertions, vector);
                    this.array_can_end_after(after, seen, &Assertions::new(&all, &none))
                }
            }
        })?;
        Ok((diagram != DiagramId::NEVER).then(|| self.expect(assertions, diagram)))
    }

    pub(super) fn is_value(&self, assertion: AssertionId) -> bool {
        matches!(self.assertions.get(assertion), Assertion::Equal(_))
    }

    /// The colon after a name.
    pub(super) fn member(&mut self, name: TextId, stack: StackId) -> Step {
        let Some(frame) = self.frame(stack) else {
            return Ok(None);
        };
        let mut frame = (*frame).clone();
        let Kind::Object {
            order,
            passed,
            name: reading,
            ..
        } = &mut frame.kind
        else {
            return Ok(None);
        };
        let (over, now) = self.passed_over(*order, *passed, name);
        (*reading, *passed) = (Some(name), now);
        for formula in &mut frame.formulas {
            *formula = self.without_all(*formula, &over);
        }
        let Some(expected) = self.member_expected(&frame, name)? else {
            return Ok(None);
        };
        let stack = self.push(frame);
        let top = Top::Value(expected);
        Ok(Some(State::new(top, stack)))
    }

    /// What the member of this name, which comes next, is read for; none where there cannot be one.
    pub(super) fn member_expected(
        &mut self,
        frame: &Frame,
        name: TextId,
    ) -> Result<Option<ExpectedId>, AutomatonError> {
        // Where each name is a matter by itself it does not count which others have come.
        let plain = frame.plain.0.as_ref();
        let key = plain.map(|_| (frame.formulas.clone(), name));
        if let Some(&known) = key.as_ref().and_then(|key| self.members.get(key)) {
            return Ok(known);
        }
        let mut gone = Vec::new();
        if plain.is_none() {
            gone = self.gone(&frame.kind);
            if !gone.contains(&name) {
                gone.push(name);
            }
        }
        let (assertions, diagram) = self.decide_member(&frame.formulas, Name::Known(name), &gone)?;
        let expected = (diagram != DiagramId::NEVER).then(|| self.expect(assertions, diagram));
        if let Some(key) = key {
            self.members.insert(key, expected);
        }
        Ok(expected)
    }

    pub(super) fn decide_member(
        &mut self,
        formulas: &[FormulaId],
        name: Name<'_>,
        used: &[TextId],
    ) -> Result<(Vec<AssertionId>, DiagramId), AutomatonError> {
        let assertions = self.assertions_of_member(formulas, name)?;
        let demand = formulas[0];
        if let Some(plain) = self.plain(demand) {
            // The other members depend on this one only in their number.
            let needed = self.assertions_of_member(&[demand], name)?;
            let (can_come, others) = match name {
                Name::Known(name) => {
                    let others = used.iter().copied().filter(|one| *one != name).collect();
                    (self.plain_may_come(&plain, name)?, others)
                }
                Name::In(_) => (plain.has_room_for_more(), used.to_vec()),
            };
            let can_come = can_come && self.object_can_end(demand, &others)?;
            // Mostly all that is open about the value is what it must be.
            if assertions == needed {
                let may = can_come && self.satisfiable(&assertions, &[])?;
                let verdicts = vec![true; assertions.len()];
                let vectors = if may { &[verdicts][..] } else { &[] };
                return Ok((assertions, self.diagrams.among(vectors, needed.len())));
            }
            let diagram = self.decide(&assertions, &mut |_, vector| {
                Ok(can_come
                    && needed
                        .iter()
                        .all(|assertion| verdict_of(&assertions, vector, *assertion)))
            })?;
            return Ok((assertions, diagram));
        }
        let key = match name {
            Name::Known(name) if self.scarce_names(demand)? == self.languages.none() => {
                Some((demand, name, assertions.clone().into_boxed_slice()))
            }
            _ => None,
        };
        if let Some(&known) = key.as_ref().and_then(|key| self.decided.get(key)) {
            return Ok((assertions, known));
        }
        let read = self.read_by_member(demand, name)?;
        let diagram = self.decide(&assertions, &mut |this, vector| {
            let after = this.after_read(demand, &read, &|assertion| verdict_of(&assertions, vector, assertion));
            this.object_can_end(after, used)
        })?;
        if let Some(key) = key {
            self.decided.insert(key, diagram);
        }
        Ok((assertions, diagram))
    }
}
