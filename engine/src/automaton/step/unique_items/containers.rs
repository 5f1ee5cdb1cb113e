//! Items that must differ from earlier items, compared as late as possible.
//!
//! An item is read as if any value were allowed, together with its rivals, the values that it must not equal. Only rivals that agree with the
//! part of the item that has been read still matter, and after a few bytes there are usually none. While there are some, a state
//! is kept only if the item can still become a different value.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{
    Assertion, AssertionId, AtomKind, ByNumber, Constraint, FormulaId, ItemsId, Keys, MemberKey, SetId, TextId,
    ValueSet, verdict_of,
};
use crate::automaton::search::ExpectationId;
use crate::automaton::step::{
    Automaton, Container, Cursor, Derivation, Distinctness, Frame, Part, StackId, State, keep,
};
use crate::numbers::NumberCount;
use hashbrown::HashSet;

/// Maximal number of assertions on a value for which all combinations of verdicts are tried.
const COMPARED_ASSERTIONS: usize = 6;

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
            Cursor::Value(expected) => self.value_can_be_distinct(*expected, apart.child),
            Cursor::Literal(word, _, _) => {
                let value = self.search.algebra.assertions.intern(Assertion::Equal(word.value()));
                Ok(!self.search.algebra.has_value(apart.child, value))
            }
            Cursor::String(decode, language, _, Some(text), _) => {
                self.string_can_be_distinct(*decode, *language, *text, stack)
            }
            Cursor::Number(number, Some(text), expected) => {
                self.number_can_be_distinct(*number, *text, *expected, apart.child.others)
            }
            Cursor::Key(..) if apart.own != SetId::EMPTY => self.key_can_be_distinct(*state),
            Cursor::Colon(name) if apart.own != SetId::EMPTY => self.member_can_be_distinct(*name, stack),
            Cursor::ObjectComma if apart.own != SetId::EMPTY => {
                let Some(named) = self.begin_key(stack)? else {
                    return Ok(false);
                };
                self.key_can_be_distinct(named)
            }
            Cursor::ObjectStart | Cursor::ObjectNext | Cursor::ArrayStart | Cursor::ArrayNext
                if apart.own != SetId::EMPTY =>
            {
                let Some(frame) = self.frame(stack) else {
                    return Ok(true);
                };
                let exhausted = self.exhausted_keys(&frame.kind);
                self.rest_can_be_distinct(frame.formulas[0], &frame.kind, apart.own, &exhausted)
            }
            _ => Ok(true),
        }
    }

    /// The values that the container at the top of a stack and its next part must not equal. The containers around it
    /// are looked at first.
    pub(crate) fn distinctness(&mut self, stack: StackId) -> Result<Distinctness, AutomatonError> {
        let mut chain = Vec::new();
        let mut around = Distinctness::default();
        let mut at = stack;
        while let Some(frame) = self.frame(at) {
            if let Some(known) = self.distinct_memo.containers.get(&at) {
                around = *known;
                break;
            }
            let below = frame.below;
            chain.push((at, frame));
            at = below;
        }
        for (at, frame) in chain.into_iter().rev() {
            let own = self.derived(&frame, Derivation::Agreeing, around.child.others)?.others;
            let own_last = self.derived(&frame, Derivation::Agreeing, around.last.others)?.others;
            let (mut child, mut last) = (ValueSet::default(), ValueSet::default());
            if frame.kind.items() != ItemsId::EMPTY {
                last = self.search.algebra.values.set(frame.kind.items());
                if self.search.must_differ(frame.formulas[0]) {
                    child = last;
                }
            }
            if own != SetId::EMPTY && self.next_part(&frame.kind).is_some() && !self.always_distinct(&frame)? {
                let barred = self.derived(&frame, Derivation::Barred(frame.formulas[0]), own)?;
                child = self.search.algebra.with_values(child, barred);
            }
            if own_last != SetId::EMPTY {
                let parts = self.derived(&frame, Derivation::Parts, own_last)?;
                last = self.search.algebra.with_values(last, parts);
            }
            around = Distinctness { own, child, last };
            keep(&mut self.distinct_memo.containers, at, around);
        }
        Ok(around)
    }

    /// Whether a container, in which `here` is the next part, could then only become equal to one of the values `rivals`.
    pub(super) fn is_barred(
        &mut self,
        frame: &Frame,
        (part, here): (Part, AssertionId),
        rivals: SetId<AssertionId>,
    ) -> Result<bool, AutomatonError> {
        let mut same = SetId::EMPTY;
        let holders = self.distinct_memo.holders.get(&(part, here)).cloned();
        for value in holders.unwrap_or_default() {
            let sets = &mut self.search.algebra.values.others;
            if sets.has(rivals, value, &ByNumber) {
                same = sets.with(same, value, &ByNumber);
            }
        }
        let (after, kind) = self.after_part(frame, here)?;
        let exhausted = self.exhausted_keys(&kind);
        Ok(!self.rest_can_be_distinct(after, &kind, same, &exhausted)?)
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
        if assertions.len() > COMPARED_ASSERTIONS {
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
                    !self.search.array_can_end(after, ItemsId::EMPTY)? || self.search.is_infinite_array(after)?
                }
            };
            if !infinite {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The residual formula and the container after `part` as the next item or member.
    fn after_part(&mut self, frame: &Frame, part: AssertionId) -> Result<(FormulaId, Container), AutomatonError> {
        let demand = frame.formulas[0];
        let algebra = &mut self.search.algebra;
        let assertions = match &frame.kind {
            Container::Object { name: Some(name), .. } => {
                algebra.assertions_of_member(&[demand], MemberKey::Known(*name))?
            }
            _ => algebra.assertions_of_item(&[demand]),
        };
        let verdicts = self.search.verdicts_of(part, &assertions)?;
        let verdict = |assertion| verdict_of(&assertions, &verdicts, assertion);
        let algebra = &mut self.search.algebra;
        let mut kind = frame.kind;
        let after = match &mut kind {
            Container::Array { values, .. } => {
                let items = values.unwrap_or_default();
                let repeats = algebra.has_item(items, part);
                *values = Some(algebra.with_item(items, part));
                algebra.after_item(demand, &verdict, repeats)
            }
            Container::Object { used, values, name, .. } => {
                let Some(name) = name.take() else {
                    return Ok((demand, kind));
                };
                *used = algebra.key_sets.with(*used, name, &algebra.texts);
                let members = values.unwrap_or_default();
                *values = Some(algebra.values.with_member(members, (name, part), &algebra.texts));
                algebra.after_member(demand, MemberKey::Known(name), &verdict)?
            }
        };
        Ok((after, kind))
    }

    /// Whether a container with residual `demand` can be completed to a value other than each of `rivals`, which agree with the
    /// part of it that has been read.
    fn rest_can_be_distinct(
        &mut self,
        demand: FormulaId,
        kind: &Container,
        rivals: SetId<AssertionId>,
        exhausted: &[TextId],
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
            Container::Array { .. } => self.search.array_can_end(apart, kind.items()),
            Container::Object { .. } => self.search.object_can_end(apart, exhausted),
        }
    }

    /// The demand on a container together with the condition that it differs from each of `rivals`, which agree with the part of
    /// it that has been read.
    fn distinct_demand(&mut self, demand: FormulaId, kind: &Container, rivals: SetId<AssertionId>) -> FormulaId {
        let values = &self.search.algebra.values;
        let read = match kind {
            Container::Array { .. } => values.length(kind.items()),
            Container::Object { values: members, .. } => values.count_members(members.unwrap_or_default()),
        };
        // Keys that did not come in their turn and cannot come later: an earlier object that has one of them is no rival any more.
        let pending = match kind {
            Container::Object { name, .. } => *name,
            Container::Array { .. } => None,
        };
        let skipped = self.passed_keys(kind).iter().copied();
        let skipped = skipped.filter(|name| Some(*name) != pending && !self.has_seen(kind, *name));
        let skipped: HashSet<TextId> = skipped.collect();
        let mut parts = vec![demand];
        for rival in values.others.all(rivals) {
            let rest = match self.search.algebra.assertions.get(rival).clone() {
                Assertion::Array(items) => {
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
                Assertion::Object(members) if members.iter().any(|(name, _)| skipped.contains(name)) => {
                    FormulaId::FALSE
                }
                Assertion::Object(members) => {
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
                _ => FormulaId::FALSE,
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
            Some(frame) if own != SetId::EMPTY => self.distinct_demand(demand, &frame.kind, own),
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
        let others = self.search.algebra.all_values(child);
        let others = self.search.algebra.combined(&[], &others)?;
        Ok(self.search.algebra.both(constraint, others)?)
    }

    /// Whether some value meets an expectation and is none of `others`.
    pub(super) fn value_can_be_distinct(
        &mut self,
        expected: ExpectationId,
        others: ValueSet,
    ) -> Result<bool, AutomatonError> {
        if others.is_empty() || self.search.value_is_infinite(expected)? {
            return Ok(true);
        }
        let value = self.search.constraint_of(expected)?;
        let many = self.search.algebra.count_values(others) as u64;
        // If there are more strings or numbers than others, one of them is none of the others.
        let numbers = self.search.algebra.number_texts.sets_mut();
        if !matches!(numbers.cardinality(value.numbers, many)?, NumberCount::Exactly(count) if count <= many)
            || !self.languages().is_non_enumerable(value.strings) && self.count_strings(value.strings, many + 1)? > many
        {
            return Ok(true);
        }
        let others = self.search.algebra.all_values(others);
        let others = self.search.algebra.combined(&[], &others)?;
        let value = self.search.algebra.both(value, others)?;
        self.search.has_value(&value)
    }
}
