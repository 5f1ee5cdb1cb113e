//! The set of lengths of a language's texts, from the structure of its expression where possible, else from its automaton.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::strings::analysis::answers::KnownLengths;
use crate::strings::charset::LAST;
use crate::strings::expr::expression::{Expr, LeapMinute};
use crate::strings::language_id::{LanguageId, UNBOUNDED};
use crate::strings::languages::Languages;
use crate::strings::lengths::Lengths;
use crate::strings::limits::LimitReached;

/// Bit operations that working out the lengths of one automaton may cost.
const MAX_WORK: usize = 20_000_000;

impl Languages {
    /// The set of lengths of the texts of `id`, or `None` where it is too irregular or costly.
    pub(crate) fn lengths(&mut self, id: LanguageId) -> Result<Option<Arc<Lengths>>, LimitReached> {
        if let Some(known) = self.lengths.get(&id) {
            return Ok(known.clone());
        }
        if self.arena.is_structural(id) {
            self.measure_structure(id)?;
        } else if !self.arena.has_custom_dfa(id) {
            self.measure_automaton(id)?;
        }
        if let Some(known) = self.lengths.get(&id) {
            return Ok(known.clone());
        }
        self.lengths.insert(id, None);
        Ok(None)
    }

    /// The set of lengths of the texts of `id` where the expression shows it: no automaton is walked.
    pub(crate) fn plain_lengths(&mut self, id: LanguageId) -> Result<KnownLengths, LimitReached> {
        match self.arena.is_structural(id) {
            true => self.lengths(id),
            false => Ok(None),
        }
    }

    /// Children first, on a stack of our own: expressions may be deep.
    fn measure_structure(&mut self, id: LanguageId) -> Result<(), LimitReached> {
        let mut stack = vec![id];
        let mut children = Vec::new();
        while let Some(&id) = stack.last() {
            if self.lengths.contains_key(&id) {
                stack.pop();
                continue;
            }
            children.clear();
            match self.arena.node(id) {
                // A bound is no part that is measured.
                Expr::And(members) => children.extend(self.arena.bounded(members).map(|(inner, ..)| inner)),
                expr => {
                    expr.all_parts(|part| {
                        children.push(part);
                        true
                    });
                }
            }
            let before = stack.len();
            stack.extend(children.iter().filter(|child| !self.lengths.contains_key(*child)));
            if stack.len() == before {
                stack.pop();
                let lengths = match self.arena.node(id) {
                    Expr::CustomDfa(state) => state.lengths()?,
                    _ => self.measure_node(id),
                };
                self.lengths.insert(id, lengths.map(Arc::new));
            }
        }
        Ok(())
    }

    fn measure_node(&self, id: LanguageId) -> Option<Lengths> {
        let known = |id: &LanguageId| self.lengths.get(id)?.as_deref();
        match self.arena.node(id) {
            Expr::Empty => Some(Lengths::interval(0, 0)),
            Expr::Class(_) => Some(Lengths::interval(1, 1)),
            Expr::Concat(first, rest) => known(first)?.plus(known(rest)?),
            Expr::Repeat { inner, min, max } => known(inner)?.times(*min, *max),
            Expr::Or(members) => members
                .iter()
                .try_fold(Lengths::none(), |all, member| all.union(known(member)?)),
            Expr::And(members) => {
                let (inner, min, max) = self.arena.bounded(members)?;
                known(&inner)?.clipped(min, max)
            }
            Expr::Branch { accepts, edges } => {
                let start = if *accepts {
                    Lengths::interval(0, 0)
                } else {
                    Lengths::none()
                };
                let one = Lengths::interval(1, 1);
                let mut targets: Vec<_> = edges.iter().map(|edge| edge.1).collect();
                targets.sort_unstable();
                targets.dedup();
                targets
                    .iter()
                    .try_fold(start, |all, target| all.union(&known(target)?.plus(&one)?))
            }
            Expr::LeapSecond { minute, .. } => {
                // The remainder of `:59:60`; a fraction; an offset. One of them may be `Z`.
                let fixed = match minute {
                    LeapMinute::Ahead => 6,
                    LeapMinute::Begun => 5,
                    LeapMinute::Tens(_) => 4,
                    LeapMinute::Read(_) => 3,
                    LeapMinute::Zone(_) => 0,
                };
                let zulu = self.leap_second_may_be_zulu(id);
                let fraction = |offset: u64| {
                    Lengths::interval(fixed + offset, fixed + offset)
                        .union(&Lengths::interval(fixed + 2 + offset, UNBOUNDED))
                };
                if zulu {
                    fraction(6)?.union(&fraction(1)?)
                } else {
                    fraction(6)
                }
            }
            _ => Some(Lengths::none()),
        }
    }

    fn leap_second_may_be_zulu(&self, id: LanguageId) -> bool {
        matches!(
            self.arena.node(id),
            Expr::LeapSecond {
                hour: 23,
                minute: LeapMinute::Ahead
                    | LeapMinute::Begun
                    | LeapMinute::Tens(5)
                    | LeapMinute::Read(59)
                    | LeapMinute::Zone(59)
            }
        )
    }

    /// Explores the automaton of `id` up to states of known lengths, then finds which states accept after exactly
    /// k characters, for k from 0 until that repeats.
    fn measure_automaton(&mut self, id: LanguageId) -> Result<(), LimitReached> {
        let Some(graph) = self.explore_unmeasured(id)? else {
            return Ok(());
        };
        let Some((start, period, history)) = graph.run() else {
            return Ok(());
        };
        for (place, &state) in graph.states.iter().enumerate() {
            let belongs = |length: u64| history[length as usize][place / 64] >> (place % 64) & 1 == 1;
            let lengths = Lengths::periodic(start, period, belongs).map(Arc::new);
            self.note_emptiness(state, lengths.as_deref().is_some_and(|lengths| lengths.min().is_none()));
            self.lengths.insert(state, lengths);
        }
        Ok(())
    }

    fn explore_unmeasured(&mut self, id: LanguageId) -> Result<Option<Graph>, LimitReached> {
        let mut graph = Graph::default();
        graph.places.insert(id, 0);
        graph.states.push(id);
        let mut at = 0;
        while let Some(&state) = graph.states.get(at) {
            at += 1;
            if graph.states.len() > self.limits.states {
                return Ok(None);
            }
            let rows = self.derivatives.of(&mut self.arena, state)?;
            let mut targets: Vec<_> = rows.iter().map(|row| row.1).collect();
            targets.sort_unstable();
            targets.dedup();
            graph.accepts.push(self.arena.nullable(state));
            graph.begin_row();
            for target in targets {
                if self.known_empty(target) {
                    continue;
                }
                if self.arena.is_structural(target) && !self.lengths.contains_key(&target) {
                    self.measure_structure(target)?;
                }
                match self.lengths.get(&target) {
                    Some(Some(lengths)) => graph.leaves.push((at - 1, lengths.clone())),
                    _ => graph.edge_to(target),
                }
            }
        }
        graph.begin_row();
        Ok(Some(graph))
    }
}

/// States whose lengths are sought, and the states to which they lead.
#[derive(Default)]
struct Graph {
    states: Vec<LanguageId>,
    places: HashMap<LanguageId, usize>,
    accepts: Vec<bool>,
    /// Indices in `edges` at which the edges of each state start.
    rows: Vec<usize>,
    edges: Vec<usize>,
    /// States one character before a language of known lengths.
    leaves: Vec<(usize, Arc<Lengths>)>,
}

type Bits = Box<[u64]>;

impl Graph {
    fn begin_row(&mut self) {
        self.rows.push(self.edges.len());
    }

    fn edge_to(&mut self, target: LanguageId) {
        let fresh = self.states.len();
        let place = *self.places.entry(target).or_insert(fresh);
        if place == fresh {
            self.states.push(target);
        }
        self.edges.push(place);
    }

    /// Returns for each length the set of states that have it, up to where the sets repeat: the first length that repeats, the
    /// period, and the sets.
    fn run(&self) -> Option<(u64, u64, Vec<Bits>)> {
        let (settled, phase) = self.leaves.iter().try_fold((0, 1), |(settled, phase), (_, lengths)| {
            let (from, period) = lengths.tail()?;
            Some((from.max(settled), least_common_multiple(phase, period)?))
        })?;
        let words = self.states.len().div_ceil(64);
        let mut first: Bits = vec![0; words].into();
        for (place, _) in self.accepts.iter().enumerate().filter(|&(_, &accepts)| accepts) {
            first[place / 64] |= 1 << (place % 64);
        }
        let cost = self.edges.len() + self.leaves.len() * 4 + words + 8;
        let rounds = MAX_WORK / cost;
        if settled as usize > rounds {
            return None;
        }
        let mut seen: HashMap<(Bits, u64), u64> = HashMap::new();
        let mut history = vec![first];
        for length in 0..rounds as u64 {
            let now = &history[length as usize];
            if length >= settled
                && let Some(before) = seen.insert((now.clone(), length % phase), length)
            {
                return Some((before, length - before, history));
            }
            let next = self.step(now, length);
            history.push(next);
        }
        None
    }

    /// The states that accept after one character more.
    fn step(&self, now: &[u64], length: u64) -> Bits {
        let mut next: Bits = vec![0; now.len()].into();
        for place in 0..self.states.len() {
            let edges = &self.edges[self.rows[place]..self.rows[place + 1]];
            if edges.iter().any(|&to| now[to / 64] >> (to % 64) & 1 == 1) {
                next[place / 64] |= 1 << (place % 64);
            }
        }
        for (place, lengths) in &self.leaves {
            if lengths.meets(length, length) {
                next[place / 64] |= 1 << (place % 64);
            }
        }
        next
    }
}

fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b).filter(|&multiple| multiple < u64::from(LAST))
}
