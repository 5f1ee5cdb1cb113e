//! Transitions into and out of objects and arrays, and the effect of the end of a value on the container around it.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{
    Assertion, AssertionId, AtomKind, FormulaId, ItemsId, KeySetId, Keys, MemberKey, MembersId, TextId, verdict_of,
};
use crate::automaton::search::{ExpectationId, Verdicts};
use crate::automaton::step::style::bounds::UNCOUNTED;
use crate::automaton::step::{
    Automaton, Container, Cursor, Derived, Frame, IndependentFrame, Left, OpenId, StackId, State, StepResult, keep,
};
use crate::json::Value;
use crate::strings::LanguageId;
use hashbrown::HashSet;
use std::sync::Arc;

impl Automaton {
    /// Whether the values read in a container are kept, because they are compared with others.
    pub(super) fn keeps_values(&self, stack: StackId) -> bool {
        let frame = self.frames.all.get(stack.0 as usize);
        frame.is_some_and(|frame| frame.kind.keeps_values())
    }

    /// The assertion of being equal to a value, if values are kept at this stack.
    pub(super) fn kept_value(&mut self, stack: StackId, value: impl FnOnce() -> Value) -> Option<AssertionId> {
        self.keeps_values(stack)
            .then(|| self.search.algebra.assertions.intern(Assertion::Equal(value())))
    }

    /// The assertion of being equal to a container that ends, if its values are kept.
    fn value_of(&mut self, kind: &Container) -> Option<AssertionId> {
        let algebra = &mut self.search.algebra;
        let value = match *kind {
            Container::Array { values, .. } => Assertion::Array(algebra.values.all_items(values?).into()),
            Container::Object { values, .. } => Assertion::Object(algebra.values.all_members(values?).into()),
        };
        Some(algebra.assertions.intern(value))
    }

    /// The state after the opening bracket of an array or object; `None` if no such container meets the expectation.
    pub(super) fn begin_container(&mut self, expected: ExpectationId, stack: StackId, array: bool) -> StepResult {
        let what = self.search.expected(expected);
        let mut formulas = Left::new();
        for &assertion in &what.assertions {
            let constraint = self.search.algebra.constraint(assertion)?;
            formulas.push(if array { constraint.arrays } else { constraint.objects });
        }
        let demand = self
            .search
            .algebra
            .diagrams
            .formula(what.diagram, &formulas, &mut self.search.algebra.formulas);
        let demand = self.search.algebra.written_container(demand, array);
        let viable = match array {
            true => self.search.array_can_end(demand, ItemsId::EMPTY)?,
            false => self.search.object_can_end(demand, &[])?,
        };
        if !viable {
            return Ok(None);
        }
        for (formula, forced) in formulas.iter_mut().zip(self.search.forced(&what)) {
            if let Some(verdict) = forced {
                *formula = FormulaId::constant(verdict);
            }
        }
        let (mut order, mut narrowed) = (None, demand);
        if !array {
            let (begun, demand) = self.begin_in_style(expected, stack, demand)?;
            (order, narrowed) = (Some(begun), demand);
        }
        formulas.insert(0, self.with_bounded_depth(narrowed, &formulas, array, stack));
        let keeps = self.keeps_values(stack) || (array && self.search.algebra.asks_unique(&formulas));
        let kind = match order {
            None => Container::Array {
                values: keeps.then_some(ItemsId::EMPTY),
                left: self.items_from_start(demand),
            },
            Some(order) => Container::Object {
                values: keeps.then_some(MembersId::EMPTY),
                used: KeySetId::EMPTY,
                name: None,
                order,
                passed: 0,
            },
        };
        let mut frame = Frame {
            kind,
            formulas,
            expected,
            below: stack,
            depth: self.frames.all.get(stack.0 as usize).map_or(0, |frame| frame.depth) + 1,
            plain: Derived(None),
            mixed: Derived(0),
        };
        self.note_independent(&mut frame)?;
        let stack = self.push(frame);
        let cursor = if array { Cursor::ArrayStart } else { Cursor::ObjectStart };
        Ok(Some(State::new(cursor, stack)))
    }

    /// Sets the frame's `plain` field if it is an [independent-key object](IndependentFrame).
    pub(super) fn note_independent(&mut self, frame: &mut Frame) -> Result<(), AutomatonError> {
        let demand = frame.formulas[0];
        let Container::Object {
            values: None,
            used,
            order,
            passed,
            ..
        } = &mut frame.kind
        else {
            return Ok(());
        };
        if !self.search.algebra.orders.rivals(*order).is_empty() {
            return Ok(());
        }
        let asked = self.search.algebra.independent_keys(demand);
        let Some(asked) = asked.filter(|asked| asked.is_of_any_size()) else {
            return Ok(());
        };
        let (done, ahead) = self.search.algebra.orders.orders[order.0 as usize].split_at(*passed as usize);
        let (sets, texts) = (&mut self.search.algebra.key_sets, &self.search.algebra.texts);
        if !done.is_empty() {
            let done: HashSet<TextId> = done.iter().copied().collect();
            let others = sets.names(*used, TextId::EMPTY, texts).into_iter();
            let others = others.filter(|name| !done.contains(name)).collect::<Vec<_>>();
            let none = KeySetId::EMPTY;
            *used = others.into_iter().fold(none, |used, name| sets.with(used, name, texts));
        }
        let seen = done.iter().filter(|name| asked.requires(**name)).count();
        let seen = seen
            + asked
                .required
                .iter()
                .filter(|name| sets.has(*used, **name, texts))
                .count();
        let missing = asked.required.len().saturating_sub(seen) as u32;
        let awaited = ahead.iter().filter(|name| asked.requires(**name)).count() as u32;
        let has_room = self.search.is_roomy(demand)?;
        frame.plain = Derived(Some(IndependentFrame {
            asked,
            has_room,
            missing,
            awaited,
        }));
        Ok(())
    }

    /// Whether a member with this key has been read, if the object remembers the key by itself.
    pub(super) fn has_seen(&self, kind: &Container, name: TextId) -> bool {
        self.search
            .algebra
            .key_sets
            .has(kind.used(), name, &self.search.algebra.texts)
    }

    /// The keys of an object's prescribed order that have been read or skipped.
    pub(super) fn passed_keys(&self, kind: &Container) -> &[TextId] {
        match kind {
            Container::Array { .. } => &[],
            Container::Object { order, passed, .. } => {
                &self.search.algebra.orders.orders[order.0 as usize][..*passed as usize]
            }
        }
    }

    /// Whether a container may end at this point.
    pub(super) fn may_close(&self, frame: &Frame) -> bool {
        match &frame.plain {
            Derived(Some(plain)) => plain.missing == 0,
            Derived(None) => self.search.algebra.at_end(frame.formulas[0]),
        }
    }

    /// The residual formula of the demand on a container.
    pub(super) fn demand_left(&mut self, frame: &Frame) -> FormulaId {
        let demand = frame.formulas[0];
        let Derived(Some(plain)) = &frame.plain else {
            return demand;
        };
        let done: HashSet<TextId> = self.passed_keys(&frame.kind).iter().copied().collect();
        let (atoms, sets, texts) = (
            &self.search.algebra.atoms,
            &self.search.algebra.key_sets,
            &self.search.algebra.texts,
        );
        let used = frame.kind.used();
        let formulas = &mut self.search.algebra.formulas;
        formulas.substitute(demand, &mut |atom| match atoms.kind(atom) {
            AtomKind::Has(name) if sets.has(used, name, texts) => Some(FormulaId::TRUE),
            // Of the order, keys that are required have been read, and keys that are refused have been skipped.
            AtomKind::Has(name) if done.contains(&name) => Some(FormulaId::constant(plain.asked.requires(name))),
            AtomKind::Members(Keys::Name(name), _) if done.contains(&name) => Some(FormulaId::TRUE),
            _ => None,
        })
    }

    /// The state after the closing bracket of the innermost container.
    pub(crate) fn close(&mut self, stack: StackId) -> StepResult {
        let Some(frame) = self.frame(stack) else {
            return Ok(None);
        };
        if !self.may_close(&frame) {
            return Ok(None);
        }
        let verdicts: Verdicts = frame.formulas[1..]
            .iter()
            .map(|formula| self.search.algebra.at_end(*formula))
            .collect();
        if self.keeps_values(frame.below) {
            let value = self.value_of(&frame.kind);
            return self.value_done(frame.expected, verdicts, value, frame.below);
        }
        // Apart from the verdicts, the members make no difference to what follows.
        self.value_done(frame.expected, verdicts, None, frame.below)
    }

    /// The state after a value with these verdicts of its assertions. `value` is its equality assertion where values
    /// are kept.
    pub(super) fn value_done(
        &mut self,
        expected: ExpectationId,
        verdicts: Verdicts,
        value: Option<AssertionId>,
        stack: StackId,
    ) -> StepResult {
        if value.is_some() {
            return self.find_done(expected, verdicts, value, stack);
        }
        let key = (stack, expected, verdicts);
        if let Some(&known) = self.step_memo.after_values.get(&key) {
            return Ok(known);
        }
        let after = self.find_done(expected, key.2.clone(), None, stack)?;
        keep(&mut self.step_memo.after_values, key, after);
        Ok(after)
    }

    fn find_done(
        &mut self,
        expected: ExpectationId,
        verdicts: Verdicts,
        value: Option<AssertionId>,
        stack: StackId,
    ) -> StepResult {
        let Some(frame) = self.frame(stack) else {
            let cursor = Cursor::Done;
            return Ok(Some(State::new(cursor, stack)));
        };
        let mut frame = (*frame).clone();
        let what = self.search.expected(expected);
        let verdict = |assertion| verdict_of(&what.assertions, &verdicts, assertion);
        let keeps = self.keeps_values(stack);
        let cursor = match &mut frame.kind {
            Container::Array { values, left } => {
                let kept = values.zip(value);
                let repeats = kept.is_some_and(|(items, value)| self.search.algebra.has_item(items, value));
                for formula in &mut frame.formulas {
                    *formula = self.search.algebra.after_item(*formula, &verdict, repeats);
                }
                if frame.formulas[0] == FormulaId::FALSE {
                    return Ok(None);
                }
                if let Some((items, value)) = kept {
                    self.note_parts(value);
                    *values = Some(self.search.algebra.with_item(items, value));
                }
                if *left != UNCOUNTED {
                    *left = left.saturating_sub(1);
                }
                Cursor::ArrayNext
            }
            Container::Object {
                used,
                values,
                name,
                order,
                passed,
            } => {
                let Some(name) = name.take() else {
                    return Ok(None);
                };
                let rivals = self.search.algebra.orders.rivals(*order).clone();
                let from = usize::from(frame.plain.0.is_some() || !rivals.is_empty());
                if !rivals.is_empty() {
                    let rivals = self.search.algebra.rivals_after_member(&rivals, name, &verdict)?;
                    let algebra = &mut self.search.algebra;
                    let mut seen = algebra.key_sets.names(*used, TextId::EMPTY, &algebra.texts);
                    seen.push(name);
                    (*order, *passed, frame.formulas[0]) = algebra.settled(rivals, &seen);
                }
                for formula in &mut frame.formulas[from..] {
                    *formula = match keeps {
                        true => self
                            .search
                            .algebra
                            .after_member(*formula, MemberKey::Known(name), &verdict)?,
                        false => self.search.algebra.after_only_member(*formula, name, &verdict)?,
                    };
                }
                // A key of the order that an independent-key object has read cannot come again, and is not remembered.
                let is_ordered = frame.plain.0.is_some()
                    && passed
                        .checked_sub(1)
                        .is_some_and(|last| self.search.algebra.orders.orders[order.0 as usize][last as usize] == name);
                if !is_ordered {
                    *used = self
                        .search
                        .algebra
                        .key_sets
                        .with(*used, name, &self.search.algebra.texts);
                }
                if let Some((members, value)) = values.zip(value) {
                    let algebra = &mut self.search.algebra;
                    *values = Some(algebra.values.with_member(members, (name, value), &algebra.texts));
                }
                match &mut frame.plain {
                    Derived(Some(plain)) => {
                        let came = u32::from(plain.asked.requires(name));
                        plain.missing = plain.missing.saturating_sub(came);
                        plain.awaited = plain.awaited.saturating_sub(came * u32::from(is_ordered));
                    }
                    Derived(None) => self.note_independent(&mut frame)?,
                }
                Cursor::ObjectNext
            }
        };
        let stack = self.push(frame);
        Ok(Some(State::new(cursor, stack)))
    }

    /// The expectation of the next item of an array; `None` if there cannot be one.
    pub(super) fn item(&mut self, stack: StackId) -> Result<Option<ExpectationId>, AutomatonError> {
        if let Some(&known) = self.step_memo.items.get(&stack) {
            return Ok(known);
        }
        let item = match self.frame(stack) {
            Some(frame) if self.is_array_full(stack, &frame)? => None,
            Some(frame) => self.search.item_expected(&frame.formulas, frame.kind.items())?,
            None => None,
        };
        keep(&mut self.step_memo.items, stack, item);
        Ok(item)
    }

    /// The state after the colon behind a key.
    pub(super) fn member(&mut self, name: TextId, stack: StackId) -> StepResult {
        let member = self.member_frame(name, stack)?;
        Ok(member.map(|(frame, expected)| State::new(Cursor::Value(expected), self.push(frame))))
    }

    /// The object at the top of a stack while the member with this key is read, and what is expected of its value; `None` if the member cannot
    /// come next.
    pub(super) fn member_frame(
        &mut self,
        name: TextId,
        stack: StackId,
    ) -> Result<Option<(Frame, ExpectationId)>, AutomatonError> {
        let Some(frame) = self.frame(stack) else {
            return Ok(None);
        };
        let mut frame = (*frame).clone();
        let Container::Object {
            used,
            order,
            passed,
            name: reading,
            ..
        } = &mut frame.kind
        else {
            return Ok(None);
        };
        let rivals = self.search.algebra.orders.rivals(*order).clone();
        if !rivals.is_empty() {
            // The keys that are skipped depend on the order that the document keeps.
            let rivals = self.search.algebra.rivals_at_key(&rivals, name);
            *reading = Some(name);
            let algebra = &mut self.search.algebra;
            let mut seen = algebra.key_sets.names(*used, TextId::EMPTY, &algebra.texts);
            seen.push(name);
            (*order, *passed, frame.formulas[0]) = algebra.settled(rivals, &seen);
            let expected = self.member_expected(&frame, name)?;
            return Ok(expected.map(|expected| (frame, expected)));
        }
        let (over, now) = self.search.algebra.passed_over(*order, *passed, name);
        (*reading, *passed) = (Some(name), now);
        // Of an independent-key object the keys that are skipped are not required, and say no more than the progress.
        let from = usize::from(frame.plain.0.is_some());
        for formula in &mut frame.formulas[from..] {
            *formula = self.search.algebra.without_all(*formula, &over);
        }
        let expected = self.member_expected(&frame, name)?;
        Ok(expected.map(|expected| (frame, expected)))
    }

    /// The expectation of the member with this key, if it comes next; `None` if there cannot be one.
    pub(super) fn member_expected(
        &mut self,
        frame: &Frame,
        name: TextId,
    ) -> Result<Option<ExpectationId>, AutomatonError> {
        // In an independent-key object, the expectation of a member does not depend on the keys seen, so it is memoised by formulas and key.
        let plain = frame.plain.0.as_ref();
        let is_decided = |formula: &FormulaId| formula.decided().is_some();
        let key = plain.map(|_| (frame.formulas.clone(), name));
        if let Some(&known) = key.as_ref().and_then(|key| self.step_memo.members.get(key)) {
            return Ok(known);
        }
        if let (Some(plain), Some(key)) = (plain, &key)
            && frame.formulas[1..].iter().all(is_decided)
        {
            let expected = self.search.expect_of_independent(&plain.asked, name)?;
            self.step_memo.members.insert(key.clone(), expected);
            return Ok(expected);
        }
        let mut exhausted = Vec::new();
        if plain.is_none() {
            exhausted = self.exhausted_keys(&frame.kind);
            if !exhausted.contains(&name) {
                exhausted.push(name);
            }
        }
        let mut formulas = frame.formulas.clone();
        if let Container::Object { order, .. } = &frame.kind {
            // The value tells which orders a document may still keep.
            let rivals = self.search.algebra.orders.rivals(*order).iter();
            formulas.extend(rivals.map(|rival| rival.demand));
        }
        let (assertions, diagram) = self
            .search
            .decide_member(&formulas, MemberKey::Known(name), &exhausted)?;
        let expected = self.search.expect_possible(assertions, diagram)?;
        if let Some(key) = key {
            self.step_memo.members.insert(key, expected);
        }
        Ok(expected)
    }

    /// The id of a list of languages, which is added if it is new.
    pub(super) fn open_languages(&mut self, languages: Vec<LanguageId>) -> OpenId {
        if languages.is_empty() {
            return OpenId::NONE;
        }
        let languages: Arc<[LanguageId]> = languages.into();
        if let Some(&id) = self.open_languages.ids.get(&languages) {
            return id;
        }
        let id = OpenId(self.open_languages.all.len() as u32);
        self.open_languages.all.push(languages.clone());
        self.open_languages.ids.insert(languages, id);
        id
    }

    /// The languages of a list.
    pub(crate) fn open(&self, id: OpenId) -> Arc<[LanguageId]> {
        self.open_languages.all.get(id.0 as usize).cloned().unwrap_or_default()
    }

    /// The stack with this frame on top of the frames below it.
    pub(crate) fn push(&mut self, mut frame: Frame) -> StackId {
        frame.mix();
        if let Some(&id) = self.frames.ids.get(&frame) {
            return id;
        }
        let id = StackId(self.frames.all.len() as u32);
        self.search.algebra.kept_cells += frame.formulas.len();
        let frame = Arc::new(frame);
        self.frames.all.push(frame.clone());
        self.frames.ids.insert(frame, id);
        id
    }

    /// The frame at the top of a stack; `None` for the empty stack.
    pub(super) fn frame(&self, id: StackId) -> Option<Arc<Frame>> {
        self.frames.all.get(id.0 as usize).cloned()
    }

    /// The keys that cannot come in an object any more: those read, and those skipped in the order of keys.
    pub(super) fn exhausted_keys(&self, kind: &Container) -> Vec<TextId> {
        let Container::Object {
            used, order, passed, ..
        } = kind
        else {
            return Vec::new();
        };
        let mut exhausted = self
            .search
            .algebra
            .key_sets
            .names(*used, TextId::EMPTY, &self.search.algebra.texts);
        for &name in &self.search.algebra.orders.orders[order.0 as usize][..*passed as usize] {
            if !self.has_seen(kind, name) {
                exhausted.push(name);
            }
        }
        exhausted
    }
}
