//! Places in objects and arrays, and what a value that ends means to the one around it.

use crate::KeyOrder;
use crate::json::Value;

use super::super::atom::{AtomKind, TextId};
use super::super::decision::DecisionId;
use super::super::formula::FormulaId;
use super::super::goal::{Goal, GoalId};
use super::super::name_sets::NameSetId;
use super::super::questions::Goals;
use super::super::read::Name;
use super::super::satisfiable::{outcome_of, split};
use super::{
    Automaton, Derived, ExpectedId, Kind, Left, Level, Outcomes, PlainLevel, StackId, State, Step, Top, Trouble,
};

impl Automaton {
    /// Whether the values that are read in a container are kept.
    pub(super) fn keeps(&self, stack: StackId) -> bool {
        let level = self.levels.get(stack.0 as usize);
        level.is_some_and(|level| match &level.kind {
            Kind::Array { values } | Kind::Object { values, .. } => values.is_some(),
        })
    }

    /// The goal of being equal to a value that is kept.
    pub(super) fn kept(&mut self, stack: StackId, value: impl FnOnce() -> Value) -> Option<GoalId> {
        self.keeps(stack).then(|| self.goals.intern(Goal::Equal(value())))
    }

    /// The value of a container that ends.
    pub(super) fn value_of(&self, kind: &Kind) -> Option<Value> {
        let equal = |goal: &GoalId| match self.goals.get(*goal) {
            Goal::Equal(value) => Some(value),
            _ => None,
        };
        match kind {
            Kind::Array { values } => {
                let items: Vec<&Value> = values.as_ref()?.iter().filter_map(equal).collect();
                Some(Value::array(&items))
            }
            Kind::Object { used, values, .. } => {
                let values = values.as_ref()?.iter().filter_map(equal);
                let names = self.name_sets.names(*used, "", &self.texts);
                let names = names.iter().map(|name| self.texts.get(*name));
                Some(Value::object(&names.zip(values).collect::<Vec<_>>()))
            }
        }
    }

    pub(super) fn begin_container(&mut self, expected: ExpectedId, stack: StackId, array: bool) -> Step {
        let what = self.expected(expected);
        let mut formulas = Left::new();
        for &goal in &what.goals {
            let constraint = self.constraint(goal)?;
            formulas.push(if array { constraint.arrays } else { constraint.objects });
        }
        let demand = self.decisions.formula(what.decision, &formulas, &mut self.formulas);
        let viable = match array {
            true => self.array_can_end(demand, &[])?,
            false => self.object_can_end(demand, &[])?,
        };
        if !viable {
            return Ok(None);
        }
        for (formula, forced) in formulas.iter_mut().zip(self.forced(&what)) {
            if let Some(outcome) = forced {
                *formula = FormulaId::constant(outcome);
            }
        }
        formulas.insert(0, demand);
        let keeps = self.keeps(stack) || (array && self.asks_unique(&formulas));
        let values = keeps.then(Box::default);
        let kind = match array {
            true => Kind::Array { values },
            false => Kind::Object {
                values,
                used: NameSetId::EMPTY,
                name: None,
                order: self.order_for(&what.goals),
                passed: 0,
            },
        };
        let mut level = Level {
            kind,
            formulas,
            expected,
            below: stack,
            depth: self.levels.get(stack.0 as usize).map_or(0, |level| level.depth) + 1,
            plain: Derived(None),
            mixed: Derived(0),
        };
        self.note_plain(&mut level)?;
        let stack = self.push(level);
        let top = if array { Top::ArrayStart } else { Top::ObjectStart };
        Ok(Some(State::new(top, stack)))
    }

    /// Notes whether a level is [plain](PlainLevel).
    fn note_plain(&mut self, level: &mut Level) -> Result<(), Trouble> {
        let is_free = self.style.key_order == KeyOrder::Any;
        if let Kind::Object { values: None, .. } = level.kind
            && is_free
            && let Some(asked) = self.plain(level.formulas[0])
            && asked.is_of_any_size()
        {
            let has_room = self.is_roomy(level.formulas[0])?;
            let missing = asked.required.iter().filter(|name| !self.has_come(&level.kind, **name));
            let missing = missing.count() as u32;
            level.plain = Derived(Some(PlainLevel {
                asked,
                has_room,
                missing,
            }));
        }
        Ok(())
    }

    /// Whether a member of this name has been read.
    pub(super) fn has_come(&self, kind: &Kind, name: TextId) -> bool {
        self.name_sets.has(kind.used(), name, &self.texts)
    }

    /// Whether a container may end where it stands.
    pub(super) fn may_close(&self, level: &Level) -> bool {
        match &level.plain {
            Derived(Some(plain)) => plain.missing == 0,
            Derived(None) => self.at_end(level.formulas[0]),
        }
    }

    /// The demand on what is still to come of a container.
    pub(super) fn demand_left(&mut self, level: &Level) -> FormulaId {
        let demand = level.formulas[0];
        match &level.plain {
            Derived(Some(_)) => {
                let (atoms, sets, texts) = (&self.atoms, &self.name_sets, &self.texts);
                let used = level.kind.used();
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
        let Some(level) = self.level(stack) else {
            return Ok(None);
        };
        if !self.may_close(&level) {
            return Ok(None);
        }
        let outcomes: Outcomes = level.formulas[1..]
            .iter()
            .map(|formula| self.at_end(*formula))
            .collect();
        if self.keeps(level.below) {
            let value = self.value_of(&level.kind);
            let value = value.map(|value| self.goals.intern(Goal::Equal(value)));
            return self.value_done(level.expected, outcomes, value, level.below);
        }
        // What the members were makes no other difference.
        self.value_done(level.expected, outcomes, None, level.below)
    }

    /// After a value with these outcomes of its goals.
    pub(super) fn value_done(
        &mut self,
        expected: ExpectedId,
        outcomes: Outcomes,
        value: Option<GoalId>,
        stack: StackId,
    ) -> Step {
        if value.is_some() {
            return self.find_done(expected, outcomes, value, stack);
        }
        let key = (stack, expected, outcomes);
        if let Some(&known) = self.done.get(&key) {
            return Ok(known);
        }
        let after = self.find_done(expected, key.2.clone(), None, stack)?;
        self.done.insert(key, after);
        Ok(after)
    }

    fn find_done(&mut self, expected: ExpectedId, outcomes: Outcomes, value: Option<GoalId>, stack: StackId) -> Step {
        let Some(level) = self.level(stack) else {
            let top = Top::Done;
            return Ok(Some(State::new(top, stack)));
        };
        let mut level = (*level).clone();
        let what = self.expected(expected);
        let outcome = |goal| outcome_of(&what.goals, &outcomes, goal);
        let keeps = self.keeps(stack);
        let top = match &mut level.kind {
            Kind::Array { values } => {
                let repeats = values.iter().flatten().any(|seen| Some(*seen) == value);
                for formula in &mut level.formulas {
                    *formula = self.after_item(*formula, &outcome, repeats);
                }
                if level.formulas[0] == FormulaId::FALSE {
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
                let from = usize::from(level.plain.0.is_some());
                for formula in &mut level.formulas[from..] {
                    *formula = match keeps {
                        true => self.after_member(*formula, Name::Known(name), &outcome)?,
                        false => self.after_only_member(*formula, name, &outcome)?,
                    };
                }
                *used = self.name_sets.with(*used, name, &self.texts);
                if let (Some(values), Some(value)) = (values, value) {
                    *values = self.with_value(values, *used, (name, value));
                }
                match &mut level.plain {
                    Derived(Some(plain)) => {
                        let came = u32::from(plain.asked.requires(name));
                        plain.missing = plain.missing.saturating_sub(came);
                    }
                    Derived(None) => self.note_plain(&mut level)?,
                }
                Top::ObjectNext
            }
        };
        let stack = self.push(level);
        Ok(Some(State::new(top, stack)))
    }

    /// The values of the members of an object by the order of their names, which are `used`, one more among them.
    pub(super) fn with_value(
        &self,
        values: &[GoalId],
        used: NameSetId,
        (name, value): (TextId, GoalId),
    ) -> Box<[GoalId]> {
        let text = self.texts.get(name);
        let place = self.name_sets.partition_point(used, &self.texts, |name| name < text);
        let mut all = values.to_vec();
        all.insert(place.min(all.len()), value);
        all.into()
    }

    /// What the next item is read for; none where there cannot be one.
    pub(super) fn item(&mut self, stack: StackId) -> Result<Option<ExpectedId>, Trouble> {
        if let Some(&known) = self.items.get(&stack) {
            return Ok(known);
        }
        let item = self.find_item(stack)?;
        self.items.insert(stack, item);
        Ok(item)
    }

    fn find_item(&mut self, stack: StackId) -> Result<Option<ExpectedId>, Trouble> {
        let Some(level) = self.level(stack) else {
            return Ok(None);
        };
        let seen = level.kind.values();
        let mut goals = self.goals_of_item(&level.formulas);
        goals.extend(self.compared(&level.formulas, seen)?);
        goals.sort_unstable();
        goals.dedup();
        let demand = level.formulas[0];
        // Mostly a repeated item is the end of it.
        let never = if self.must_differ(demand) { seen } else { &[] };
        let decision = self.decide_unless(&goals, never, &mut |this, vector| {
            let outcome = |goal| outcome_of(&goals, vector, goal);
            let repeats = goals.iter().any(|goal| outcome(*goal) && seen.contains(goal));
            let after = this.after_item(demand, &outcome, repeats);
            // Of a value with which the rest is compared it is known that it is this one.
            let known = goals
                .iter()
                .copied()
                .find(|goal| outcome(*goal) && this.is_value(*goal));
            match known {
                Some(known) => this.array_can_end(after, &[seen, &[known]].concat()),
                None => {
                    let (all, none) = split(&goals, vector);
                    this.array_can_end_after(after, seen, &Goals::new(&all, &none))
                }
            }
        })?;
        Ok((decision != DecisionId::NEVER).then(|| self.expect(goals, decision)))
    }

    pub(super) fn is_value(&self, goal: GoalId) -> bool {
        matches!(self.goals.get(goal), Goal::Equal(_))
    }

    /// The colon after a name.
    pub(super) fn member(&mut self, name: TextId, stack: StackId) -> Step {
        let Some(level) = self.level(stack) else {
            return Ok(None);
        };
        let mut level = (*level).clone();
        let Kind::Object {
            order,
            passed,
            name: reading,
            ..
        } = &mut level.kind
        else {
            return Ok(None);
        };
        let (over, now) = self.passed_over(*order, *passed, name);
        (*reading, *passed) = (Some(name), now);
        for formula in &mut level.formulas {
            *formula = self.without_all(*formula, &over);
        }
        let Some(expected) = self.member_expected(&level, name)? else {
            return Ok(None);
        };
        let stack = self.push(level);
        let top = Top::Value(expected);
        Ok(Some(State::new(top, stack)))
    }

    /// What the member of this name, which comes next, is read for; none where there cannot be one.
    pub(super) fn member_expected(&mut self, level: &Level, name: TextId) -> Result<Option<ExpectedId>, Trouble> {
        // Where each name is a matter by itself it does not count which others have come.
        let plain = level.plain.0.as_ref();
        let key = plain.map(|_| (level.formulas.clone(), name));
        if let Some(&known) = key.as_ref().and_then(|key| self.members.get(key)) {
            return Ok(known);
        }
        let mut gone = Vec::new();
        if plain.is_none() {
            gone = self.gone(&level.kind);
            if !gone.contains(&name) {
                gone.push(name);
            }
        }
        let (goals, decision) = self.decide_member(&level.formulas, Name::Known(name), &gone)?;
        let expected = (decision != DecisionId::NEVER).then(|| self.expect(goals, decision));
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
    ) -> Result<(Vec<GoalId>, DecisionId), Trouble> {
        let goals = self.goals_of_member(formulas, name)?;
        let demand = formulas[0];
        if let Some(plain) = self.plain(demand) {
            // The other members depend on this one only in their number.
            let needed = self.goals_of_member(&[demand], name)?;
            let (can_come, others) = match name {
                Name::Known(name) => {
                    let others = used.iter().copied().filter(|one| *one != name).collect();
                    (self.plain_may_come(&plain, name)?, others)
                }
                Name::In(_) => (plain.has_room_for_more(), used.to_vec()),
            };
            let can_come = can_come && self.object_can_end(demand, &others)?;
            // Mostly all that is open about the value is what it must be.
            if goals == needed {
                let may = can_come && self.satisfiable(&goals, &[])?;
                let outcomes = vec![true; goals.len()];
                let vectors = if may { &[outcomes][..] } else { &[] };
                return Ok((goals, self.decisions.among(vectors, needed.len())));
            }
            let decision = self.decide(&goals, &mut |_, vector| {
                Ok(can_come && needed.iter().all(|goal| outcome_of(&goals, vector, *goal)))
            })?;
            return Ok((goals, decision));
        }
        let key = match name {
            Name::Known(name) if self.scarce_names(demand)? == self.languages.none() => {
                Some((demand, name, goals.clone().into_boxed_slice()))
            }
            _ => None,
        };
        if let Some(&known) = key.as_ref().and_then(|key| self.decided.get(key)) {
            return Ok((goals, known));
        }
        let read = self.read_by_member(demand, name)?;
        let decision = self.decide(&goals, &mut |this, vector| {
            let after = this.after_read(demand, &read, &|goal| outcome_of(&goals, vector, goal));
            this.object_can_end(after, used)
        })?;
        if let Some(key) = key {
            self.decided.insert(key, decision);
        }
        Ok((goals, decision))
    }
}
