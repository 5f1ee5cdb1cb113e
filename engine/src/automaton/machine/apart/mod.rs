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

use super::{Automaton, ExpectedId, Kind, Level, StackId, State, Top, Trouble};
use crate::automaton::atom::{AtomKind, Keys, TextId};
use crate::automaton::formula::FormulaId;
use crate::automaton::goal::{Constraint, Goal, GoalId};
use crate::automaton::read::Name;
use crate::automaton::satisfiable::{outcome_of, split};
use crate::json::Shape;
pub(in crate::automaton) use texts::MostTexts;

/// Outcome vectors of one value that are looked at all together.
const FEW: usize = 16;

/// Values, as goals of being equal to them.
type Values = Arc<[GoalId]>;

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
    Object(Arc<[(TextId, GoalId)]>),
}

impl Automaton {
    /// Whether a place can be gone on from so that every item that has to differ does.
    pub(super) fn is_apart(&mut self, state: &State) -> Result<bool, Trouble> {
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
                let value = self.goals.intern(Goal::Equal(word.value()));
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
                let Some(level) = self.level(stack) else {
                    return Ok(true);
                };
                let (gone, seen) = (self.gone(&level.kind), level.kind.values().to_vec());
                self.rest_apart(level.formulas[0], &level.kind, &apart.own, &gone, &seen)
            }
            _ => Ok(true),
        }
    }

    /// What each value in question has where the next item or member of a container stands.
    fn parts_here(&mut self, level: &Level, own: &Values) -> Vec<(GoalId, GoalId)> {
        let mut here = Vec::new();
        for &value in own.iter() {
            let part = match (self.parts_of(value), &level.kind) {
                (Parts::Array(items), Kind::Array { .. }) => items.get(level.kind.values().len()).copied(),
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
    pub(super) fn apart(&mut self, stack: StackId) -> Result<Apart, Trouble> {
        let mut chain = Vec::new();
        let mut around = Apart {
            own: Arc::default(),
            child: Arc::default(),
        };
        let mut at = stack;
        while let Some(level) = self.level(at) {
            if let Some(known) = self.aparts.get(&at) {
                around = known.clone();
                break;
            }
            let below = level.below;
            chain.push((at, level));
            at = below;
        }
        for (at, level) in chain.into_iter().rev() {
            let own = self.agreeing(&level.kind, &around.child);
            let child = self.child_apart(&level, &own)?;
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
        let used = self.name_sets.names(kind.used(), "", &self.texts);
        let agree = |this: &mut Self, value: &GoalId| match (this.parts_of(*value), kind) {
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
        let agreeing: Vec<GoalId> = values.iter().copied().filter(|value| agree(self, value)).collect();
        match agreeing.len() == values.len() {
            true => values.clone(),
            false => agreeing.into(),
        }
    }

    fn parts_of(&mut self, value: GoalId) -> Parts {
        if let Some(known) = self.parts.get(&value) {
            return known.clone();
        }
        let parts = match self.goals.get(value).clone() {
            Goal::Equal(value) => match value.as_ref().shape() {
                Shape::Array(_) => {
                    let items = value.as_ref().items();
                    Parts::Array(
                        items
                            .map(|item| self.goals.intern(Goal::Equal(item.to_value())))
                            .collect(),
                    )
                }
                Shape::Object(_) => {
                    let members = value.as_ref().members();
                    let members = members.map(|(name, value)| {
                        let value = self.goals.intern(Goal::Equal(value.to_value()));
                        (self.texts.intern(name), value)
                    });
                    let mut members: Vec<(TextId, GoalId)> = members.collect();
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
    fn child_apart(&mut self, level: &Level, own: &Values) -> Result<Values, Trouble> {
        let demand = level.formulas[0];
        let mut child: Vec<GoalId> = Vec::new();
        if matches!(level.kind, Kind::Array { .. }) && self.must_differ(demand) {
            child.extend_from_slice(level.kind.values());
        }
        let mut here = self.parts_here(level, own);
        if here.is_empty() || self.always_apart(level)? {
            return Ok(child.into());
        }
        here.sort_unstable();
        for same in here.chunk_by(|a, b| a.0 == b.0) {
            let part = same[0].0;
            let rivals: Vec<GoalId> = same.iter().map(|(_, value)| *value).collect();
            let (after, kind, seen) = self.after_part(level, part)?;
            let gone = self.gone(&kind);
            if !self.rest_apart(after, &kind, &rivals, &gone, &seen)? {
                child.push(part);
            }
        }
        child.sort_unstable();
        child.dedup();
        Ok(child.into())
    }

    /// Whether there are endless rests after every value that the item or member may have.
    fn always_apart(&mut self, level: &Level) -> Result<bool, Trouble> {
        let demand = level.formulas[0];
        let (goals, gone) = match &level.kind {
            Kind::Array { .. } => (self.goals_of_item(&[demand]), Vec::new()),
            Kind::Object { name: Some(name), .. } => {
                let gone = [self.gone(&level.kind), vec![*name]].concat();
                (self.goals_of_member(&[demand], Name::Known(*name))?, gone)
            }
            Kind::Object { .. } => return Ok(true),
        };
        if goals.len() > FEW {
            return Ok(false);
        }
        for vector in self.vectors(&goals)? {
            let outcome = |goal| outcome_of(&goals, &vector, goal);
            let endless = match &level.kind {
                Kind::Object { name: Some(name), .. } => {
                    let after = self.after_member(demand, Name::Known(*name), &outcome)?;
                    !self.object_can_end(after, &gone)? || self.is_endless_object(after, &gone)?
                }
                _ => {
                    let after = self.after_item(demand, &outcome, false);
                    !self.array_can_end(after, &[])? || self.is_endless_array(after)?
                }
            };
            if !endless {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What is left of a container after the value `part` as its next item or member.
    fn after_part(&mut self, level: &Level, part: GoalId) -> Result<(FormulaId, Kind, Vec<GoalId>), Trouble> {
        let demand = level.formulas[0];
        let goals = match &level.kind {
            Kind::Object { name: Some(name), .. } => self.goals_of_member(&[demand], Name::Known(*name))?,
            _ => self.goals_of_item(&[demand]),
        };
        let mut outcomes = Vec::with_capacity(goals.len());
        for &goal in &goals {
            outcomes.push(self.satisfiable(&[part, goal], &[])?);
        }
        let outcome = |goal| outcome_of(&goals, &outcomes, goal);
        let mut kind = level.kind.clone();
        let mut seen = kind.values().to_vec();
        let after = match &mut kind {
            Kind::Array { values } => {
                let repeats = seen.contains(&part);
                seen.push(part);
                *values = Some(seen.clone().into());
                self.after_item(demand, &outcome, repeats)
            }
            Kind::Object { used, values, name, .. } => {
                let Some(name) = name.take() else {
                    return Ok((demand, kind, seen));
                };
                *used = self.name_sets.with(*used, name, &self.texts);
                let all = self.with_value(&seen, *used, (name, part));
                seen = all.to_vec();
                *values = Some(all);
                self.after_member(demand, Name::Known(name), &outcome)?
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
        rivals: &[GoalId],
        gone: &[TextId],
        seen: &[GoalId],
    ) -> Result<bool, Trouble> {
        let endless = match kind {
            Kind::Array { .. } => self.is_endless_array(demand)?,
            Kind::Object { .. } => self.is_endless_object(demand, gone)?,
        };
        if endless {
            return Ok(true);
        }
        let apart = self.demand_apart(demand, kind, rivals);
        match kind {
            Kind::Array { .. } => self.array_can_end(apart, seen),
            Kind::Object { .. } => self.object_can_end(apart, gone),
        }
    }

    /// `demand`, and that the container turns out different from each of `rivals`, which agree with what was read of it.
    fn demand_apart(&mut self, demand: FormulaId, kind: &Kind, rivals: &[GoalId]) -> FormulaId {
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
    pub(super) fn container_apart(&mut self, demand: FormulaId, stack: StackId) -> Result<FormulaId, Trouble> {
        let own = self.apart(stack)?.own;
        Ok(match self.level(stack) {
            Some(level) if !own.is_empty() => self.demand_apart(demand, &level.kind, &own),
            _ => demand,
        })
    }

    /// What is asked of the next value in a container, and that it differs from those it has to differ from.
    pub(super) fn next_apart(&mut self, constraint: Constraint, stack: StackId) -> Result<Constraint, Trouble> {
        let child = self.apart(stack)?.child;
        if child.is_empty() {
            return Ok(constraint);
        }
        let others = self.combined(&[], &child)?;
        Ok(self.both(constraint, others)?)
    }

    /// Whether there is no end of values that are read for this, so that some differ from any others. A no may also say that
    /// this did not show.
    fn value_is_endless(&mut self, expected: ExpectedId) -> Result<bool, Trouble> {
        if let Some(&known) = self.endless_values.get(&expected) {
            return Ok(known);
        }
        let is_endless = self.find_endless_value(expected)?;
        self.endless_values.insert(expected, is_endless);
        Ok(is_endless)
    }

    fn find_endless_value(&mut self, expected: ExpectedId) -> Result<bool, Trouble> {
        let what = self.expected(expected);
        for vector in self.vectors(&what.goals)? {
            if self.decisions.admits(what.decision, |goal| vector[goal as usize]) {
                let (all, none) = split(&what.goals, &vector);
                if self.is_endless(&all, &none)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn value_apart(&mut self, expected: ExpectedId, others: &[GoalId]) -> Result<bool, Trouble> {
        if others.is_empty() {
            return Ok(true);
        }
        let what = self.expected(expected);
        for vector in self.vectors(&what.goals)? {
            if !self.decisions.admits(what.decision, |goal| vector[goal as usize]) {
                continue;
            }
            let (all, mut none) = split(&what.goals, &vector);
            let mut is_apart = self.is_endless(&all, &none)?;
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
