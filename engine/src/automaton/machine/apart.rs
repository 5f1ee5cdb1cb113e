//! Items that have to differ from those before them, looked at as late as can be.
//!
//! An item is read as if any value would do, beside the values that it must not turn out equal to. Of those only the
//! ones that agree with what was read of it still matter: mostly none after a few bytes. While some do, a place stands
//! where something else than them can still come.

use std::sync::Arc;

use hashbrown::HashSet;

use super::{Automaton, ExpectedId, Kind, Level, OpenId, StackId, State, Top, Trouble};
use crate::automaton::atom::{AtomKind, Keys, TextId};
use crate::automaton::decode::Decode;
use crate::automaton::formula::FormulaId;
use crate::automaton::goal::{Constraint, Goal, GoalId};
use crate::automaton::read::Name;
use crate::automaton::satisfiable::{outcome_of, split};
use crate::decimal::Decimal;
use crate::json::{Shape, Value};
use crate::numbers::NumberState;
use crate::strings::{Cardinality, LanguageId};

/// Outcome vectors of one value that are looked at all together.
const FEW: usize = 16;
/// Names that are tried one by one for one after which an object can differ.
const NAMES: usize = 64;
/// Bytes that a number is made longer by in the hope for one that differs.
const LONGER: usize = 12;

/// States of a language that are looked at to see that it stays endless.
const FEW_STATES: usize = 64;
/// Strings from which on a language is judged without looking at each.
const MANY: u64 = 1_000;
/// A text for one that is none of some others, as often as it takes.
const OTHER: &str = "\u{10FFFF}";
/// Lengths of it that are tried.
const OTHER_LENGTHS: usize = 8;

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
            Top::String(decode, language, _, Some(text), _) => {
                self.string_apart(*decode, *language, *text, &apart.child)
            }
            Top::Number(number, Some(text), expected) => self.number_apart(*number, *text, *expected, &apart.child),
            Top::Key(decode, text, _) if !apart.own.is_empty() => {
                let language = self.name_language(*state)?;
                self.key_apart_within(*decode, *text, language, stack)
            }
            Top::Colon(name) if !apart.own.is_empty() => self.member_apart(*name, stack),
            Top::ObjectComma if !apart.own.is_empty() => {
                let Some(named) = self.key(stack)? else {
                    return Ok(false);
                };
                let (language, empty) = (self.name_language(named)?, self.texts.intern(""));
                self.key_apart(empty, language, stack)
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

    /// Whether a string or name that is being read may go on in any way that its language admits, but for
    /// [a few texts](Self::rests_to_avoid).
    pub(super) fn any_content(&mut self, at: State) -> Result<bool, Trouble> {
        if !self.keeps(at.stack) {
            return Ok(true);
        }
        let apart = self.apart(at.stack)?;
        match at.top {
            Top::String(decode, language, ..) => {
                if apart.child.is_empty() || self.stays_endless(language)? {
                    return Ok(true);
                }
                // Where there are few strings, there are few ways on that have to be looked at.
                Ok(decode == Decode::Between && self.count_strings(language, MANY)? == MANY)
            }
            Top::Key(_, _, names) => Ok(apart.own.is_empty() || self.is_all_but(names, at.stack)?),
            _ => Ok(false),
        }
    }

    /// Whether there are endless texts of a language after every beginning of one; false where that takes long to see.
    fn stays_endless(&mut self, language: LanguageId) -> Result<bool, Trouble> {
        if language == self.languages.any() {
            return Ok(true);
        }
        if let Some(&known) = self.stay_endless.get(&language) {
            return Ok(known);
        }
        let mut seen: HashSet<LanguageId> = HashSet::from([language]);
        let mut open = vec![language];
        let mut stays = true;
        while let Some(language) = open.pop() {
            stays = seen.len() <= FEW_STATES
                && !self.languages.has_machines(language)
                && self.languages.cardinality(language, 0)? == Cardinality::Infinite;
            if !stays {
                break;
            }
            for &(_, target) in self.languages.transitions(language)?.iter() {
                if seen.insert(target) {
                    open.push(target);
                }
            }
        }
        self.stay_endless.insert(language, stays);
        Ok(stays)
    }

    /// The place after the string that a place is in, where it is the same for all strings but those that end with the
    /// texts given. What follows the end of the container may depend on the string all the same, where that is
    /// [compared](Self::is_compared).
    pub(crate) fn after_most_texts(&mut self, at: State) -> Result<Option<(State, Vec<String>)>, Trouble> {
        let Top::String(_, language, OpenId::NONE, Some(text), expected) = at.top else {
            return Ok(None);
        };
        let forced: Option<Vec<bool>> = self.forced(&self.expected(expected)).into_iter().collect();
        let (Some(outcomes), Some(level)) = (forced, self.level(at.stack)) else {
            return Ok(None);
        };
        let own = self.apart(at.stack)?.own;
        let mut others: Vec<GoalId> = match level.kind {
            Kind::Array { .. } => level.kind.values().to_vec(),
            Kind::Object { .. } => Vec::new(),
        };
        others.extend(self.parts_here(&level, &own).into_iter().map(|(part, _)| part));
        let rests = self.rests_of(text, &others);
        let Some(value) = self.other_text(expected, language, &others)? else {
            return Ok(None);
        };
        let after = self.value_done(expected, outcomes, Some(value), at.stack)?;
        let after = self.if_apart(after)?;
        Ok(after.map(|after| (after, rests)))
    }

    /// A string that is none of `others` and that speaks for all such, wherever a place is in one; none where that is not
    /// easily found.
    fn other_text(
        &mut self,
        expected: ExpectedId,
        language: LanguageId,
        others: &[GoalId],
    ) -> Result<Option<GoalId>, Trouble> {
        let all = self.strings_of(expected)?;
        // Where there is no end of strings it does not matter which one it is.
        let is_endless = self.stays_endless(language)?;
        for length in 1..=others.len() + OTHER_LENGTHS {
            let other = OTHER.repeat(length);
            let value = self.goals.intern(Goal::Equal(Value::string(&other)));
            if !others.contains(&value) && (is_endless || self.languages.contains(all, &other)?) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// What follows the string that a place is in, in those that it must not become, where there are so few strings that
    /// one may be the only one left.
    pub(crate) fn rests_to_avoid(&mut self, at: State) -> Result<Vec<String>, Trouble> {
        let Top::String(_, language, _, Some(text), _) = at.top else {
            return Ok(Vec::new());
        };
        let child = self.apart(at.stack)?.child;
        match child.is_empty() || self.stays_endless(language)? {
            true => Ok(Vec::new()),
            false => Ok(self.rests_of(text, &child)),
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

    /// The names of the members of the values that the container at the top of a stack must not equal.
    pub(super) fn names_apart(&mut self, stack: StackId) -> Result<Vec<TextId>, Trouble> {
        let mut names = Vec::new();
        if self.keeps(stack) {
            for &value in self.apart(stack)?.own.iter() {
                if let Parts::Object(members) = self.parts_of(value) {
                    names.extend(members.iter().map(|(name, _)| *name));
                }
            }
        }
        Ok(names)
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
        let agree = |this: &mut Self, value: &GoalId| match (this.parts_of(*value), kind) {
            (Parts::Array(items), Kind::Array { values: Some(read) }) => items.starts_with(read),
            (Parts::Object(members), Kind::Object { used, values, .. }) => {
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
                let place = used.binary_search(&name).unwrap_or_else(|place| place);
                let mut names = used.to_vec();
                names.insert(place, name);
                seen.insert(place.min(seen.len()), part);
                (*used, *values) = (names.into(), Some(seen.clone().into()));
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
                    for (name, value) in members.iter().filter(|(name, _)| !kind.has(*name)) {
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

    /// The rest of a string or name, as far as it makes a difference to those it has to differ from.
    pub(super) fn language_apart(&mut self, at: State) -> Result<LanguageId, Trouble> {
        let State { top, stack, .. } = at;
        let apart = self.apart(stack)?;
        match top {
            Top::String(_, language, _, Some(text), _) => {
                let rests = self.rests_of(text, &apart.child);
                let rests: Vec<&str> = rests.iter().map(String::as_str).collect();
                let rests = self.languages.one_of(&rests)?;
                let others = self.languages.not(rests)?;
                Ok(self.languages.and(&[language, others])?)
            }
            Top::String(_, language, ..) => Ok(language),
            Top::Key(_, text, _) if !apart.own.is_empty() => {
                let language = self.name_language(at)?;
                for rest in self.languages.members(language, NAMES)? {
                    let name = format!("{}{rest}", self.texts.get(text));
                    let name = self.texts.intern(&name);
                    if self.member_apart(name, stack)? {
                        return Ok(self.languages.one_of(&[&rest])?);
                    }
                }
                Ok(language)
            }
            Top::Key(..) => self.name_language(at),
            _ => Ok(self.languages.none()),
        }
    }

    /// A number that is being read, as one that differs from those it has to differ from.
    pub(super) fn number_rest_apart(
        &mut self,
        number: NumberState,
        text: Option<TextId>,
        expected: ExpectedId,
        stack: StackId,
    ) -> Result<NumberState, Trouble> {
        let child = self.apart(stack)?.child;
        let (Some(text), false) = (text, child.is_empty()) else {
            return Ok(number);
        };
        let others = self.numbers_of(&child);
        Ok(self.number_beside(text, expected, others)?.unwrap_or(number))
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
            let endless = self.is_endless(&all, &none)?;
            none.extend_from_slice(others);
            if endless || self.satisfiable(&all, &none)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether more strings can come of the characters `text` and what may follow them than there are among `others`.
    fn string_apart(
        &mut self,
        decode: Decode,
        language: LanguageId,
        text: TextId,
        others: &[GoalId],
    ) -> Result<bool, Trouble> {
        let rests = self.rests_of(text, others);
        if rests.is_empty() {
            return Ok(true);
        }
        // In the middle of a character only some can come next.
        let possible = (decode != Decode::default()).then(|| decode.possible(self.style.escapes));
        let can_come = |rest: &String| match &possible {
            None => true,
            Some(ranges) => rest.chars().next().is_some_and(|next| {
                let next = u32::from(next);
                ranges.iter().any(|(first, last)| (*first..=*last).contains(&next))
            }),
        };
        let mut taken = 0;
        for rest in rests.iter().filter(|rest| can_come(rest)) {
            taken += u64::from(self.languages.contains(language, rest)?);
        }
        let count = match &possible {
            None => self.count_strings(language, taken + 1)?,
            Some(ranges) => {
                let mut count: u64 = 0;
                for &(range, target) in self.languages.transitions(language)?.iter() {
                    let (low, high) = (u32::from(range.first()), u32::from(range.last()));
                    let shared = ranges.iter().map(|(first, last)| {
                        let (first, last) = ((*first).max(low), (*last).min(high));
                        u64::from((last + 1).saturating_sub(first))
                    });
                    let shared: u64 = shared.sum();
                    if shared > 0 {
                        count = count.saturating_add(shared.saturating_mul(self.count_strings(target, taken + 1)?));
                    }
                }
                count
            }
        };
        Ok(count > taken)
    }

    /// What follows `text` in those of `others` that are strings and begin with it.
    fn rests_of(&self, text: TextId, others: &[GoalId]) -> Vec<String> {
        let read = self.texts.get(text);
        let rest_of = |goal: &GoalId| match self.goals.get(*goal) {
            Goal::Equal(value) => match value.as_ref().shape() {
                Shape::String(other) => other.strip_prefix(read).map(str::to_owned),
                _ => None,
            },
            _ => None,
        };
        others.iter().filter_map(rest_of).collect()
    }

    /// Those of `others` that are numbers.
    fn numbers_of(&self, others: &[GoalId]) -> Vec<Decimal> {
        let number_of = |goal: &GoalId| match self.goals.get(*goal) {
            Goal::Equal(value) => match value.as_ref().shape() {
                Shape::Number(number) => Some(number.clone()),
                _ => None,
            },
            _ => None,
        };
        others.iter().filter_map(number_of).collect()
    }

    /// Number of texts of a language, up to `most`.
    fn count_strings(&mut self, language: LanguageId, most: u64) -> Result<u64, Trouble> {
        Ok(match self.languages.cardinality(language, most)? {
            Cardinality::Finite(count) => count,
            Cardinality::AtLeast(_) | Cardinality::Infinite => most,
        })
    }

    /// Whether another number than those of `others` can come of the number `text` that is being read.
    fn number_apart(
        &mut self,
        number: NumberState,
        text: TextId,
        expected: ExpectedId,
        others: &[GoalId],
    ) -> Result<bool, Trouble> {
        let others = self.numbers_of(others);
        if others.is_empty() || self.longer_number(number, text, &others) {
            return Ok(true);
        }
        Ok(self.number_beside(text, expected, others)?.is_some())
    }

    /// The number `text` that is being read, as one that is none of `others`; none where it can only be one of them.
    fn number_beside(
        &mut self,
        text: TextId,
        expected: ExpectedId,
        others: Vec<Decimal>,
    ) -> Result<Option<NumberState>, Trouble> {
        let what = self.expected(expected);
        let viable = self.numbers_expected(&what)?;
        let numbers = self.number_texts.sets_mut();
        let others = numbers.one_of(others)?;
        let others = numbers.not(others);
        let viable = numbers.and(viable, others)?;
        if numbers.is_empty(viable) {
            return Ok(None);
        }
        let mut state = Some(self.number_texts.start(viable)?);
        for byte in self.texts.get(text).bytes() {
            state = state.and_then(|state| self.number_texts.step(state, byte));
        }
        Ok(state)
    }

    /// Whether one of a few ways to go on from a number leads to another than `others`.
    fn longer_number(&mut self, start: NumberState, text: TextId, others: &[Decimal]) -> bool {
        for first in [3, 7, 1] {
            let (mut state, mut longer) = (start, self.texts.get(text).to_owned());
            for at in 0..3 * LONGER {
                if at >= LONGER && self.number_texts.can_end(state) {
                    break;
                }
                let digits = (0..10).map(|digit| b'0' + ((first + 7 * at + digit) % 10) as u8);
                let mut bytes = digits.chain(*b".e-");
                let Some((byte, next)) =
                    bytes.find_map(|byte| self.number_texts.step(state, byte).map(|next| (byte, next)))
                else {
                    break;
                };
                longer.push(char::from(byte));
                state = next;
            }
            let value = Decimal::parse(longer.as_bytes()).ok();
            if self.number_texts.can_end(state) && value.is_some_and(|value| !others.contains(&value)) {
                return true;
            }
        }
        false
    }

    /// As [`key_apart`](Self::key_apart), where a character of the name may have been read in part.
    fn key_apart_within(
        &mut self,
        decode: Decode,
        text: TextId,
        language: LanguageId,
        stack: StackId,
    ) -> Result<bool, Trouble> {
        if decode == Decode::default() {
            return self.key_apart(text, language, stack);
        }
        let possible = decode.possible(self.style.escapes);
        for &(range, target) in self.languages.transitions(language)?.iter() {
            let (low, high) = (u32::from(range.first()), u32::from(range.last()));
            let shared = possible
                .iter()
                .flat_map(|(first, last)| (*first).max(low)..=(*last).min(high));
            // Characters of one range lead to the same names but for themselves.
            let shared: Vec<char> = shared.filter_map(char::from_u32).take(NAMES).collect();
            for character in shared {
                let longer = self.texts.longer(text, character);
                if self.key_apart(longer, target, stack)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether there is a name that goes on from `text` in `language` and after which the object can differ.
    fn key_apart(&mut self, text: TextId, language: LanguageId, stack: StackId) -> Result<bool, Trouble> {
        let (mut looked, mut most) = (0, 8);
        loop {
            if self.languages.cardinality(language, most as u64)? == Cardinality::Infinite {
                return Ok(true);
            }
            let rests = self.languages.members(language, most)?;
            for rest in &rests[looked.min(rests.len())..] {
                let name = format!("{}{rest}", self.texts.get(text));
                let name = self.texts.intern(&name);
                if self.member_apart(name, stack)? {
                    return Ok(true);
                }
            }
            if rests.len() < most {
                return Ok(false);
            }
            (looked, most) = (most, 8 * most);
        }
    }

    pub(super) fn member_apart(&mut self, name: TextId, stack: StackId) -> Result<bool, Trouble> {
        let Some(after) = self.member(name, stack)? else {
            return Ok(false);
        };
        let Top::Value(expected) = after.top else {
            return Ok(false);
        };
        let apart = self.apart(after.stack)?;
        self.value_apart(expected, &apart.child)
    }
}
