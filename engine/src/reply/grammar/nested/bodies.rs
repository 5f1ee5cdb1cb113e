//! [`Bodies`]: one deterministic automaton for each nested rule, whose transitions read a character or call a nested rule.
//!
//! The automata are made from the [`Skeleton`] by a subset construction. A state is a set of *items*, the positions at which the part of the rule
//! read so far may stand. One byte of lookahead must tell whether the rule goes on with a character of its own, calls one rule, or has ended.
//! Where that does not hold, one of two rewritings is applied:
//!
//! - A called rule that shares a first byte with something else in the state is inlined: its items carry the return point of the call.
//!   In a state in which all items carry one return point, the call is made after all.
//! - A rule that can go on with a byte that may also follow it ends *early*, in the first state in which it may end. The remaining items
//!   are continued in the states behind its calls. Such a rule has several *exits*, one for each set of remaining items.
//!
//! Neither rewriting need terminate. A grammar for which they reach a limit is refused.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use crate::strings::{LanguageId, Languages};
use crate::{CompileError, CompileErrorKind};

use super::super::regular::limit;
use super::conflicts::{conflicts_behind, told_byte};
use super::first::{ByteSet, FirstBytes, characters};
use super::items::{Head, Item, Items, Returns};
use super::skeleton::{BodyId, Edge, PointId, REPLY, Skeleton};

/// Number of a state.
pub(super) type StateId = u32;
/// Number of a call in a state.
pub(super) type CallId = u32;

/// States of all rules, at most.
const MAX_STATES: usize = 1 << 14;
/// Steps of the search for states, at most: a few seconds. An item that is made or looked up takes one, and one more for each call around it.
const MAX_STEPS: usize = 1 << 24;
/// Maximal number of calls that are inlined into one another.
const MAX_DEPTH: usize = 12;

/// A state of a rule's automaton.
#[derive(Debug)]
pub(super) struct BodyState {
    pub(super) body: BodyId,
    /// Whether the rule may end here by its only exit, and may go on as well.
    pub(super) may_end: bool,
    /// The exit by which the rule must end here.
    pub(super) exit: Option<usize>,
    /// Transitions by characters, as ranges, each with its target.
    pub(super) rows: Vec<((char, char), StateId)>,
    /// The lead bytes of the characters in `rows`.
    pub(super) own: ByteSet,
    pub(super) calls: SmallVec<[CallId; 2]>,
    /// The call that is made here without reading a byte, of a rule that was inlined before.
    pub(super) enters: Option<CallId>,
}

/// A call of a nested rule from a state.
#[derive(Debug)]
pub(super) struct BodyCall {
    /// The state that calls.
    pub(super) from: StateId,
    pub(super) body: BodyId,
    /// The state in which the rule is entered.
    pub(super) start: StateId,
    /// The return points of the items that call, each with those of the inlined calls around it.
    sites: Vec<(Returns, PointId)>,
    /// The state behind the call for each exit of the called rule.
    pub(super) returns: Vec<StateId>,
}

/// The automata of nested rules.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    pub(super) states: Vec<BodyState>,
    pub(super) calls: Vec<BodyCall>,
    /// The state at which each rule starts.
    pub(super) starts: Vec<StateId>,
    /// For each rule and each of its exits the remaining items.
    pub(super) exits: Vec<Vec<BTreeSet<Item>>>,
}

/// The subset construction that makes [`Bodies`].
pub(super) struct BodyBuilder<'a> {
    skeleton: &'a Skeleton,
    languages: &'a mut Languages,
    first: &'a FirstBytes,
    /// For each point whether nothing can be read between it and the end of its rule.
    is_at_end: Vec<bool>,
    /// Rules that end early, each with the reason.
    early: HashMap<BodyId, String>,
    /// Message about the conflict for which rules were inlined last.
    conflict: Option<String>,
    bodies: Bodies,
    numbers: HashMap<(BodyId, Items, bool), StateId>,
    /// States whose transitions have not been made yet.
    open: Vec<(StateId, Items)>,
    /// Calls that lack the state behind them for some exit of the called rule.
    unreturned: Vec<usize>,
    /// Steps of the search so far.
    steps: usize,
}

impl<'a> BodyBuilder<'a> {
    /// A builder without states.
    pub(super) fn new(skeleton: &'a Skeleton, languages: &'a mut Languages, first: &'a FirstBytes) -> Self {
        let mut is_at_end = vec![false; skeleton.points.len()];
        for body in &skeleton.bodies {
            let mut seen: HashSet<PointId> = [body.start].into();
            let mut open = vec![body.start];
            while let Some(point) = open.pop() {
                is_at_end[point as usize] = skeleton.is_at_end(point, body.end);
                let next = skeleton.points[point as usize].iter().map(|edge| edge.to());
                open.extend(next.filter(|next| seen.insert(*next)));
            }
        }
        Self {
            skeleton,
            languages,
            first,
            is_at_end,
            early: HashMap::new(),
            conflict: None,
            bodies: Bodies::default(),
            numbers: HashMap::new(),
            open: Vec::new(),
            unreturned: Vec::new(),
            steps: 0,
        }
    }

    /// Makes all states, such that one byte of lookahead determines each step.
    ///
    /// # Errors
    ///
    /// [`CompileErrorKind::Unsupported`], where none were found.
    pub(super) fn find(mut self) -> Result<Bodies, CompileError> {
        loop {
            self.states()?;
            let conflicts = conflicts_behind(&self.bodies, self.skeleton, self.first);
            if conflicts.is_empty() {
                return Ok(self.bodies);
            }
            self.early.extend(conflicts);
        }
    }

    /// Makes all states for the current set of rules that end early.
    fn states(&mut self) -> Result<(), CompileError> {
        let count = self.skeleton.bodies.len();
        let exits = (0..count).map(|body| match self.early.contains_key(&body) {
            true => Vec::new(),
            // A rule that does not end early has one exit without remaining items.
            false => vec![BTreeSet::new()],
        });
        self.bodies = Bodies {
            exits: exits.collect(),
            ..Bodies::default()
        };
        self.conflict = None;
        self.numbers.clear();
        self.open.clear();
        self.unreturned.clear();
        for body in 0..count {
            let mut items = Items::default();
            self.enter(&mut items, Returns::new(), self.skeleton.bodies[body].start)?;
            // The empty text of a rule is an empty edge beside its calls.
            items.may_end = body == REPLY && items.may_end;
            let start = self.state(body, items, true)?;
            self.bodies.starts.push(start);
        }
        loop {
            if let Some(call) = self.unreturned.pop() {
                self.add_returns(call)?;
            } else if let Some((state, items)) = self.open.pop() {
                self.follow(state, &items)?;
            } else {
                return Ok(());
            }
        }
    }

    /// Adds the items of a point's epsilon closure, inlined returns included.
    fn enter(&mut self, items: &mut Items, returns: Returns, point: PointId) -> Result<(), CompileError> {
        let mut seen: HashSet<(Returns, PointId)> = HashSet::new();
        let mut open = vec![(returns, point)];
        while let Some((returns, point)) = open.pop() {
            if !seen.insert((returns.clone(), point)) {
                continue;
            }
            let edges = &self.skeleton.points[point as usize];
            self.steps += (1 + edges.len()) * (1 + returns.len());
            for edge in edges {
                let head = match *edge {
                    Edge::Empty(to) => {
                        open.push((returns.clone(), to));
                        continue;
                    }
                    Edge::Language(language, to) => Head::In(language, to),
                    Edge::Call(body, to) => Head::Call(body, to),
                };
                let returns = returns.clone();
                items.items.insert(Item { returns, head });
            }
            if self.skeleton.is_end(point) {
                let mut around = returns;
                match around.pop() {
                    Some((_, behind)) => open.push((around, behind)),
                    None => items.may_end = true,
                }
            }
        }
        self.check_steps()
    }

    fn check_steps(&self) -> Result<(), CompileError> {
        match self.steps > MAX_STEPS {
            true => Err(self.refused()),
            false => Ok(()),
        }
    }

    /// Returns the inlined calls around the items of `body` where it is inlined below `returns` and returns to `to`.
    fn within(&self, returns: &Returns, (body, to): (BodyId, PointId)) -> Result<Returns, CompileError> {
        let mut within = returns.clone();
        // A tail call needs no return point of its own.
        if !self.is_at_end[to as usize] {
            within.push((body, to));
        }
        match within.len() > MAX_DEPTH {
            true => Err(self.refused()),
            false => Ok(within),
        }
    }

    /// The error of a grammar for which the construction found no automata.
    fn refused(&self) -> CompileError {
        let early = self.early.values().min();
        let why = self
            .conflict
            .as_ref()
            .or(early)
            .map_or("there are too many states", |why| why);
        let message = format!(
            "{why}, and no bound is known on what has to be remembered to tell them apart: let them begin differently"
        );
        CompileError::new(CompileErrorKind::Unsupported, message).on_keyword("grammar")
    }

    /// The bytes that the languages of some items can read next.
    fn own(&mut self, items: &Items) -> Result<ByteSet, CompileError> {
        let mut own = ByteSet::default();
        for item in &items.items {
            if let Head::In(language, _) = item.head {
                let rows = self.languages.transitions(language).map_err(limit)?;
                own.join(&ByteSet::of(&rows));
                self.steps += rows.len();
            }
        }
        self.check_steps()?;
        Ok(own)
    }

    /// Inlines the called rules of a state that share a first byte with another item; returns the bytes that the state's own texts read.
    fn write_in(&mut self, body: BodyId, items: &mut Items) -> Result<ByteSet, CompileError> {
        loop {
            self.steps += items.size();
            let own = self.own(items)?;
            let called: BTreeSet<BodyId> = items.items.iter().filter_map(Item::called).collect();
            let mut alike: BTreeSet<BodyId> = BTreeSet::new();
            self.steps += called.len() * called.len();
            for &one in &called {
                let name = |body: BodyId| &self.skeleton.bodies[body].name;
                let first = self.first.of(one);
                if let Some(byte) = first.common(&own) {
                    let message = format!(
                        "{} `{}` and a text of its own may both begin with {}",
                        self.skeleton.bodies[body].told(),
                        name(one),
                        told_byte(byte)
                    );
                    self.conflict = Some(message);
                    alike.insert(one);
                }
                for &other in called.range(..one) {
                    if let Some(byte) = first.common(self.first.of(other)) {
                        let (one_name, other_name) = (name(other), name(one));
                        let message = format!(
                            "{} `{one_name}` and `{other_name}` may both begin with {}",
                            self.skeleton.bodies[body].told(),
                            told_byte(byte)
                        );
                        self.conflict = Some(message);
                        alike.extend([one, other]);
                    }
                }
            }
            if alike.is_empty() {
                return Ok(own);
            }
            let (written, kept) = std::mem::take(&mut items.items)
                .into_iter()
                .partition(|item| item.called().is_some_and(|called| alike.contains(&called)));
            items.items = kept;
            let written: BTreeSet<Item> = written;
            for item in written {
                if let Head::Call(called, to) = item.head {
                    let returns = self.within(&item.returns, (called, to))?;
                    self.enter(items, returns, self.skeleton.bodies[called].start)?;
                }
            }
        }
    }

    /// Returns the state of a set of items of a rule, and makes the state if it is new.
    fn state(&mut self, body: BodyId, mut items: Items, is_start: bool) -> Result<StateId, CompileError> {
        let ends_early = items.may_end && self.early.contains_key(&body);
        let entered = items.common();
        let own = match ends_early || entered.is_some() {
            true => ByteSet::default(),
            false => self.write_in(body, &mut items)?,
        };
        items.may_end &= !is_start || body == REPLY;
        self.steps += items.size();
        let key = (body, items, is_start);
        if let Some(known) = self.numbers.get(&key) {
            return Ok(*known);
        }
        let (_, items, _) = key.clone();
        let number = self.bodies.states.len() as StateId;
        if number as usize >= MAX_STATES {
            return Err(self.refused());
        }
        self.numbers.insert(key, number);
        let exit = match ends_early {
            true => Some(self.exit(body, &items.items)?),
            // The rule must end here.
            false if items.may_end && items.items.is_empty() && body != REPLY => Some(0),
            false => None,
        };
        self.bodies.states.push(BodyState {
            body,
            may_end: items.may_end && exit.is_none(),
            exit,
            rows: Vec::new(),
            own,
            calls: SmallVec::new(),
            enters: None,
        });
        if let Some((called, to)) = entered {
            // The recursion is at most as deep as calls are inlined.
            let start = self.state(called, items.without_outermost(), false)?;
            let call = self.call((number, start), called, vec![(Returns::new(), to)]);
            self.bodies.states[number as usize].enters = Some(call);
        } else if exit.is_none() {
            self.open.push((number, items));
        }
        Ok(number)
    }

    /// Adds a call from state `from` that enters the rule `body` in state `start`.
    fn call(&mut self, (from, start): (StateId, StateId), body: BodyId, sites: Vec<(Returns, PointId)>) -> CallId {
        let number = self.bodies.calls.len();
        self.bodies.calls.push(BodyCall {
            from,
            body,
            start,
            sites,
            returns: Vec::new(),
        });
        self.unreturned.push(number);
        number as CallId
    }

    /// Returns the exit of a rule with the remaining items `rest`. A new exit schedules the states behind the rule's calls.
    fn exit(&mut self, body: BodyId, rest: &BTreeSet<Item>) -> Result<usize, CompileError> {
        let exits = &mut self.bodies.exits[body];
        self.steps += exits.len();
        if let Some(known) = exits.iter().position(|other| other == rest) {
            return Ok(known);
        }
        exits.push(rest.clone());
        let calls = (0..).zip(&self.bodies.calls);
        self.unreturned
            .extend(calls.filter(|(_, call)| call.body == body).map(|(number, _)| number));
        Ok(self.bodies.exits[body].len() - 1)
    }

    /// Adds the states behind a call for all exits of the called rule.
    fn add_returns(&mut self, number: usize) -> Result<(), CompileError> {
        let BodyCall { from, body, .. } = self.bodies.calls[number];
        let around = self.bodies.states[from as usize].body;
        while let Some(rest) = self.bodies.exits[body]
            .get(self.bodies.calls[number].returns.len())
            .cloned()
        {
            let mut items = Items::default();
            for (returns, to) in self.bodies.calls[number].sites.clone() {
                let within = self.within(&returns, (body, to))?;
                for item in &rest {
                    let (mut returns, head) = (within.clone(), item.head);
                    returns.extend(item.returns.iter().copied());
                    if returns.len() > MAX_DEPTH {
                        return Err(self.refused());
                    }
                    self.steps += 1 + returns.len();
                    items.items.insert(Item { returns, head });
                }
                self.enter(&mut items, returns, to)?;
            }
            let state = self.state(around, items, false)?;
            self.bodies.calls[number].returns.push(state);
        }
        Ok(())
    }

    /// Adds the transitions and calls of a state.
    fn follow(&mut self, state: StateId, items: &Items) -> Result<(), CompileError> {
        let body = self.bodies.states[state as usize].body;
        let mut sites: Vec<(BodyId, Vec<(Returns, PointId)>)> = Vec::new();
        let (mut within, mut events) = (Vec::new(), Vec::new());
        for item in &items.items {
            match item.head {
                Head::Call(called, to) => {
                    let site = (item.returns.clone(), to);
                    match sites.iter_mut().find(|(known, _)| *known == called) {
                        Some((_, known)) => known.push(site),
                        None => sites.push((called, vec![site])),
                    }
                }
                Head::In(language, to) => {
                    for (range, rest) in self.languages.transitions(language).map_err(limit)?.iter() {
                        events.push((u32::from(range.first()), within.len(), Some(*rest)));
                        events.push((u32::from(range.last()) + 1, within.len(), None));
                    }
                    within.push((item.returns.clone(), to));
                }
            }
        }
        // An end sorts before a beginning of the same language at the same place.
        events.sort_unstable();
        let mut active: BTreeMap<usize, LanguageId> = BTreeMap::new();
        let mut known: HashMap<Vec<(usize, LanguageId)>, StateId> = HashMap::new();
        let mut rows = Vec::new();
        let mut at = 0;
        while let Some(&(place, ..)) = events.get(at) {
            while let Some((_, number, rest)) = events.get(at).filter(|event| event.0 == place) {
                match rest {
                    Some(rest) => active.insert(*number, *rest),
                    None => active.remove(number),
                };
                at += 1;
            }
            let Some((next, ..)) = events.get(at) else { break };
            let Some(range) = characters(place, *next).filter(|_| !active.is_empty()) else {
                continue;
            };
            let key: Vec<_> = active.iter().map(|(number, rest)| (*number, *rest)).collect();
            let target = match known.get(&key) {
                Some(target) => *target,
                None => {
                    let mut items = Items::default();
                    for (number, language) in &key {
                        let (returns, to) = within[*number].clone();
                        if !self.languages.transitions(*language).map_err(limit)?.is_empty() {
                            let (returns, head) = (returns.clone(), Head::In(*language, to));
                            items.items.insert(Item { returns, head });
                        }
                        if self.languages.accepts_empty(*language) {
                            self.enter(&mut items, returns, to)?;
                        }
                    }
                    let target = self.state(body, items, false)?;
                    known.insert(key, target);
                    target
                }
            };
            rows.push((range, target));
        }
        self.bodies.states[state as usize].rows = rows;
        for (called, sites) in sites {
            let start = self.bodies.starts[called];
            let call = self.call((state, start), called, sites);
            self.bodies.states[state as usize].calls.push(call);
        }
        Ok(())
    }
}
