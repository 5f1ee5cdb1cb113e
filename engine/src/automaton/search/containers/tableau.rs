//! [`Tableau`]: an analytic tableau with backjumping, which looks for facts that make Boolean formulas over atoms hold.
//!
//! The search decomposes the formulas: all parts of a conjunction must hold, and the parts of a disjunction are
//! tried one after the other. Atoms reached in this way become *facts* of a [`Theory`], which knows their meaning for
//! an object or an array, and whether they are consistent. When nothing is left to decompose, the theory builds a
//! *model* from the facts: a rough description of members or items that exist. Atoms that no fact mentions may have any
//! value, so most of a formula is never looked at; the cost lies in contradictions.
//!
//! Every fact carries its *reasons*, the choices that it depends on. When facts contradict each other, the search returns to
//! the last choice among their reasons and skips those in between, on which the contradiction does not depend. So independent
//! parts of a formula do not multiply. Where contradictions are many all the same, the search begins again, once, and chooses in
//! another order. The number of contradictions is limited.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::algebra::Algebra;
use crate::automaton::formula::{Atom, AtomKind, FormulaId, FormulaNode, Keys};
use crate::automaton::search::Search;
use hashbrown::{HashMap, HashSet};
use std::rc::Rc;

/// Number of contradictions up to which a choice is made for the goal that was put off last. Then all choices are taken back, and
/// those that decide most are made first.
const CONTRADICTIONS_IN_GIVEN_ORDER: usize = 64;

/// Number of goals that are compared for the next choice.
const GOALS_COMPARED: usize = 256;

/// The choices that a fact or a contradiction depends on, sorted. A choice is identified by its depth.
pub(in crate::automaton::search) type Reasons = Rc<[u32]>;

/// The reasons of facts together.
pub(in crate::automaton::search) fn united<'a>(reasons: impl IntoIterator<Item = &'a Reasons>) -> Reasons {
    let mut all: Vec<u32> = reasons.into_iter().flat_map(|one| one.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}

/// The meaning of atoms for one kind of container, and the facts that have been assumed.
pub(in crate::automaton::search) trait Theory {
    /// A description of a completion.
    type Model;

    /// Assumes an atom or its negation. If that contradicts other facts, their reasons are returned.
    fn assume(
        &mut self,
        search: &mut Search,
        atom: AtomKind,
        holds: bool,
        reasons: &Reasons,
    ) -> Result<Option<Reasons>, AutomatonError>;

    /// Whether an atom holds, if the facts decide it.
    fn value(&self, search: &Search, atom: AtomKind) -> Option<bool>;

    /// Prepares for a search that meets many contradictions, by the formulas of its goals: from now on contradictions may be looked
    /// for that take longer to find.
    fn look_closer(&mut self, _search: &mut Search, _formulas: &[FormulaId]) {}

    /// Number of changes made so far.
    fn changes(&self) -> usize;

    /// Takes back all changes but the first `changes`.
    fn undo(&mut self, changes: usize);

    /// A model of the facts, or the reasons of facts that have none.
    fn model(&mut self, search: &mut Search) -> Result<Result<Self::Model, Reasons>, AutomatonError>;
}

/// Something that has to hold.
#[derive(Clone, Copy, Debug)]
enum Goal {
    /// The formula has this truth value.
    Is(FormulaId, bool),
    /// At least one of the formula's parts from this index on holds.
    AnyFrom(FormulaId, usize),
    /// None of the formula's parts holds but the one at this index.
    NoneBut(FormulaId, usize),
}

/// A linked list of goals that are still to be reached: the index of the first goal, beside which stands the index of the next.
type Goals = Option<usize>;

/// A choice between alternatives, each of which would make a goal hold.
struct ChoicePoint {
    goal: Goal,
    /// The indices of the parts, in the order in which they are tried.
    order: Vec<usize>,
    /// Number of alternatives tried.
    tried: usize,
    /// The reasons of the goal, and those of the contradictions found so far.
    reasons: Vec<Reasons>,
    before: Before,
}

/// The state in which a choice was made.
#[derive(Clone, Copy)]
struct Before {
    later: Goals,
    goals: usize,
    changes: usize,
    atoms: usize,
    formulas: usize,
    watched: usize,
}

/// The state of a search.
pub(in crate::automaton::search) struct Tableau<T> {
    theory: T,
    /// Atoms whose negation is assumed only where nothing else is possible, until the first contradiction.
    wishes: HashSet<Atom>,
    /// All goals since the first choice, each with its reasons and the list that it was put before.
    goals: Vec<(Goal, Reasons, Goals)>,
    /// Goals to decompose before any other choice is made.
    now: Goals,
    /// Goals that need a choice.
    later: Goals,
    /// The goals that need a choice between parts of which some are an atom or its negation, by that atom.
    waiting: HashMap<Atom, Vec<usize>>,
    /// The atoms to whose lists a goal was added, in that order.
    watched: Vec<Atom>,
    /// Whether some formula speaks of verdicts.
    has_verdicts: bool,
    choices: Vec<ChoicePoint>,
    /// Number of contradictions found.
    contradictions: usize,
    /// The atoms assumed, with their truth values and reasons, and the order in which they were assumed.
    assumed: HashMap<Atom, (bool, Reasons)>,
    order: Vec<Atom>,
    /// The other formulas that were taken up as goals, likewise.
    taken_up: HashMap<FormulaId, (bool, Reasons)>,
    formulas: Vec<FormulaId>,
}

impl<T: Theory> Tableau<T> {
    /// The search for facts under which each formula has the truth value beside it, and under which as many as possible
    /// of the atoms `wishes` hold or may hold as well.
    pub(in crate::automaton::search) fn new(
        theory: T,
        formulas: &[(FormulaId, bool)],
        wishes: HashSet<Atom>,
        algebra: &Algebra,
    ) -> Self {
        let mut tableau = Self {
            theory,
            wishes,
            goals: Vec::new(),
            has_verdicts: formulas.iter().any(|(formula, _)| algebra.speaks_of_verdicts(*formula)),
            now: None,
            later: None,
            waiting: HashMap::new(),
            watched: Vec::new(),
            choices: Vec::new(),
            contradictions: 0,
            assumed: HashMap::new(),
            order: Vec::new(),
            taken_up: HashMap::new(),
            formulas: Vec::new(),
        };
        for &(formula, holds) in formulas.iter().rev() {
            tableau.push(Goal::Is(formula, holds), &Reasons::default());
        }
        tableau
    }

    fn push(&mut self, first: Goal, reasons: &Reasons) {
        self.goals.push((first, reasons.clone(), self.now));
        self.now = Some(self.goals.len() - 1);
    }

    /// Facts under which all goals hold, with a model of them; `None` if there are none.
    pub(in crate::automaton::search) fn search(
        self,
        search: &mut Search,
    ) -> Result<Option<(T, T::Model)>, AutomatonError> {
        search.counted(|search| self.run(search))
    }

    fn run(mut self, search: &mut Search) -> Result<Option<(T, T::Model)>, AutomatonError> {
        let mut is_first = true;
        loop {
            if self.now.is_none() && std::mem::take(&mut is_first) {
                self.propagate(search);
            }
            let conflict = match self.now {
                Some(at) => {
                    let (goal, reasons, rest) = self.goals[at].clone();
                    self.now = rest;
                    search.goals += 1;
                    self.decompose(search, goal, &reasons)?
                }
                None => match self.next_choice(search) {
                    Some((goal, reasons)) => self.choose(search, goal, &reasons),
                    None => match self.theory.model(search)? {
                        Ok(model) => return Ok(Some((self.theory, model))),
                        Err(reasons) => Some(reasons),
                    },
                },
            };
            if let Some(reasons) = conflict {
                self.wishes.clear();
                search.count_step("contradictions in the search for the end of a container")?;
                self.contradictions += 1;
                if self.contradictions == CONTRADICTIONS_IN_GIVEN_ORDER && !reasons.is_empty() {
                    self.restart(search);
                } else if !self.backtrack(search, reasons) {
                    return Ok(None);
                }
            }
        }
    }

    /// Breaks a goal down into atoms, which are assumed, and goals that need a choice. Returns the reasons of a
    /// contradiction.
    fn decompose(
        &mut self,
        search: &mut Search,
        goal: Goal,
        reasons: &Reasons,
    ) -> Result<Option<Reasons>, AutomatonError> {
        let (formula, holds) = match goal {
            Goal::Is(formula, holds) => (formula, holds),
            Goal::AnyFrom(..) => {
                self.postpone(search, goal, reasons);
                return Ok(None);
            }
            Goal::NoneBut(formula, place) => {
                let parts = search.algebra.formulas.node(formula).parts();
                let others = || parts[..place].iter().chain(&parts[place + 1..]);
                others()
                    .rev()
                    .for_each(|part| self.push(Goal::Is(*part, false), reasons));
                // A part that is known to hold is a contradiction, which is found sooner than by the parts one after the other.
                if let Some(part) = others().find(|part| self.known(search, **part) == Some(true)) {
                    self.push(Goal::Is(*part, false), reasons);
                }
                return Ok(None);
            }
        };
        let node = search.algebra.formulas.node(formula);
        if matches!(node, FormulaNode::And(_) | FormulaNode::Or(_) | FormulaNode::One(_)) {
            match self.taken_up.get(&formula) {
                Some((known, _)) if *known == holds => return Ok(None),
                Some((_, others)) => return Ok(Some(united([reasons, others]))),
                None => {}
            }
            self.taken_up.insert(formula, (holds, reasons.clone()));
            self.formulas.push(formula);
        }
        match node {
            FormulaNode::False | FormulaNode::True => {
                Ok((formula != FormulaId::constant(holds)).then(|| reasons.clone()))
            }
            FormulaNode::Not(inner) => {
                self.push(Goal::Is(*inner, !holds), reasons);
                Ok(None)
            }
            FormulaNode::And(parts) if holds => {
                parts
                    .iter()
                    .rev()
                    .for_each(|part| self.push(Goal::Is(*part, true), reasons));
                Ok(None)
            }
            FormulaNode::Or(parts) if !holds => {
                parts
                    .iter()
                    .rev()
                    .for_each(|part| self.push(Goal::Is(*part, false), reasons));
                Ok(None)
            }
            FormulaNode::Atom(atom) => {
                let atom = *atom;
                match self.assumed.get(&atom) {
                    Some((known, _)) if *known == holds => return Ok(None),
                    Some((_, others)) => return Ok(Some(united([reasons, others]))),
                    None => {}
                }
                self.assumed.insert(atom, (holds, reasons.clone()));
                self.order.push(atom);
                self.take_up(search, atom);
                let kind = search.algebra.atoms.kind(atom);
                self.theory.assume(search, kind, holds, reasons)
            }
            _ => {
                self.postpone(search, goal, reasons);
                Ok(None)
            }
        }
    }

    fn postpone(&mut self, search: &Search, first: Goal, reasons: &Reasons) {
        self.put_later(first, reasons);
        let Goal::Is(formula, _) = first else { return };
        let formulas = &search.algebra.formulas;
        if let FormulaNode::And(parts) | FormulaNode::Or(parts) = formulas.node(formula) {
            for (atom, _) in parts.iter().filter_map(|part| formulas.literal(*part)) {
                self.waiting.entry(atom).or_default().push(self.goals.len() - 1);
                self.watched.push(atom);
            }
        }
    }

    fn put_later(&mut self, first: Goal, reasons: &Reasons) {
        self.goals.push((first, reasons.clone(), self.later));
        self.later = Some(self.goals.len() - 1);
    }

    /// Takes up next the goals with this atom for which only one part is left that can hold. Otherwise the parts of others
    /// would be chosen first, and the choices taken back one by one.
    fn take_up(&mut self, search: &Search, atom: Atom) {
        for place in 0..self.waiting.get(&atom).map_or(0, Vec::len) {
            let (goal, reasons, _) = self.goals[self.waiting[&atom][place]].clone();
            if self.only_part(search, goal).is_some() {
                self.put_later(goal, &reasons);
            }
        }
    }

    /// The only part of a conjunction that may not hold, or of a disjunction that may hold, where one has to.
    fn only_part(&self, search: &Search, goal: Goal) -> Option<FormulaId> {
        let Goal::Is(formula, holds) = goal else { return None };
        let node = search.algebra.formulas.node(formula);
        if !matches!(node, FormulaNode::And(_) | FormulaNode::Or(_)) {
            return None;
        }
        let parts = node.parts().iter();
        let mut possible = parts.filter(|part| self.known(search, **part) != Some(!holds));
        match (possible.next(), possible.next()) {
            (Some(only), None) => Some(*only),
            _ => None,
        }
    }

    /// Takes up the disjunctions of which all parts but one are known not to hold, as long as no choice has been made.
    fn propagate(&mut self, search: &Search) {
        let mut kept = Vec::new();
        while let Some(at) = self.later {
            let (goal, reasons, rest) = self.goals[at].clone();
            self.later = rest;
            match (goal, self.only_part(search, goal)) {
                (Goal::Is(_, holds), Some(only)) => self.push(Goal::Is(only, holds), &reasons),
                _ => kept.push((goal, reasons)),
            }
        }
        for (goal, reasons) in kept.into_iter().rev() {
            self.put_later(goal, &reasons);
        }
    }

    /// The goal to make a choice for: the last one put off. When such choices have often been wrong, it is the one of least
    /// [rank](Self::choice_rank), of those put off last.
    fn next_choice(&mut self, search: &Search) -> Option<(Goal, Reasons)> {
        if self.contradictions < CONTRADICTIONS_IN_GIVEN_ORDER {
            let (goal, reasons, rest) = self.goals[self.later?].clone();
            self.later = rest;
            return Some((goal, reasons));
        }
        let (mut open, mut best) = (Vec::new(), None);
        let (mut next, mut looked_at) = (self.later, 0);
        // Goals that hold already need no choice. Where these stand before the goal that is chosen, they are not looked at again.
        while let Some(at) = next.filter(|_| looked_at < GOALS_COMPARED || open.is_empty()) {
            let goal = self.goals[at].0;
            next = self.goals[at].2;
            looked_at += 1;
            let Some(rank) = self.choice_rank(search, goal) else {
                continue;
            };
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, open.len()));
            }
            open.push(at);
            if !rank.0 {
                break;
            }
        }
        let Some((_, place)) = best else {
            self.later = None;
            return None;
        };
        let (goal, reasons, rest) = self.goals[open[place]].clone();
        self.later = rest;
        for at in open[..place].iter().rev() {
            let (goal, reasons, _) = self.goals[*at].clone();
            self.put_later(goal, &reasons);
        }
        Some((goal, reasons))
    }

    /// The rank of a choice between the alternatives of a goal; choices of least rank are made first. Those come first of which at most
    /// one alternative is not known to fail, then those with an alternative that is a conjunction, as it decides most, then
    /// those with the fewest alternatives. `None` if the goal is known to be reached because an alternative holds.
    fn choice_rank(&self, search: &Search, goal: Goal) -> Option<(bool, bool, usize)> {
        let formulas = &search.algebra.formulas;
        let (formula, from) = match goal {
            Goal::Is(formula, _) | Goal::NoneBut(formula, _) => (formula, 0),
            Goal::AnyFrom(formula, from) => (formula, from),
        };
        let node = formulas.node(formula);
        let parts = &node.parts()[from..];
        let (holds, is_one) = match (goal, node) {
            // No part holds, or two do.
            (Goal::Is(_, false), FormulaNode::One(_)) => return Some((true, true, parts.len() + 1)),
            (Goal::Is(_, true), FormulaNode::One(_)) => (true, true),
            (Goal::Is(_, false), FormulaNode::And(_)) => (false, false),
            _ => (true, false),
        };
        let (mut open, mut are_all_single) = (0, true);
        for part in parts {
            match self.known(search, *part) {
                Some(known) if known != holds => {}
                Some(_) if !is_one => return None,
                _ => {
                    open += 1;
                    are_all_single &= match formulas.node(*part) {
                        FormulaNode::And(_) => !holds,
                        FormulaNode::Or(_) => holds,
                        _ => true,
                    };
                }
            }
        }
        Some((open > 1, are_all_single, open))
    }

    /// Takes back all choices, to make them in another order.
    fn restart(&mut self, search: &mut Search) {
        self.choices.truncate(1);
        if let Some(first) = self.choices.pop() {
            self.return_to(first.before);
            self.put_later(first.goal, &first.reasons[0]);
        }
        let formulas = self.goals.iter().filter_map(|(goal, ..)| match goal {
            Goal::Is(formula, _) => Some(*formula),
            Goal::AnyFrom(..) | Goal::NoneBut(..) => None,
        });
        let formulas: Vec<FormulaId> = formulas.collect();
        self.theory.look_closer(search, &formulas);
    }

    /// Opens a choice between the alternatives of a goal, unless one of them holds already. Returns the reasons of the
    /// goal if there are no alternatives.
    fn choose(&mut self, search: &Search, goal: Goal, reasons: &Reasons) -> Option<Reasons> {
        let algebra = &search.algebra;
        let (formula, from) = match goal {
            Goal::Is(formula, _) | Goal::NoneBut(formula, _) => (formula, 0),
            Goal::AnyFrom(formula, from) => (formula, from),
        };
        let node = algebra.formulas.node(formula);
        let parts = node.parts();
        // The demand of one alternative on its part.
        let holds = !matches!((goal, node), (Goal::Is(_, false), FormulaNode::And(_)));
        let is_any = !matches!((goal, node), (Goal::Is(..), FormulaNode::One(_)));
        if is_any
            && parts[from..]
                .iter()
                .any(|part| self.known(search, *part) == Some(holds))
        {
            return None;
        }
        let mut order: Vec<usize> = (from..parts.len()).collect();
        if matches!((goal, node), (Goal::Is(_, false), FormulaNode::One(_))) {
            // No part holds, or one and another one behind it do.
            order.insert(0, parts.len());
        } else {
            // Verdicts are left open as long as possible, and what needs no more members or items is preferred. Members of
            // which only the language of the key is known come last.
            order.sort_by_cached_key(|place| {
                let part = parts[*place];
                let known = self.known(search, part).map(|value| value == holds);
                let literal = algebra.formulas.literal(part);
                let is_against = literal.is_some_and(|(atom, is)| is != holds && self.wishes.contains(&atom));
                let is_open = self.has_verdicts && algebra.speaks_of_verdicts(part);
                let doubt = [Some(true), None, Some(false)].iter().position(|one| *one == known);
                let is_vague = literal.is_some_and(|(atom, is)| {
                    is != holds && matches!(algebra.atoms.kind(atom), AtomKind::Members(Keys::Language(_), _))
                });
                (
                    doubt,
                    is_against,
                    is_open,
                    algebra.formulas.at_end(part) != holds,
                    is_vague,
                )
            });
            // The one part that holds is known: either it is this, or this does not hold after all.
            if !is_any && self.known(search, parts[order[0]]) == Some(true) {
                order = vec![order[0], parts.len()];
            }
        }
        if order.is_empty() {
            return Some(reasons.clone());
        }
        self.choices.push(ChoicePoint {
            goal,
            order,
            tried: 0,
            reasons: vec![reasons.clone()],
            before: Before {
                later: self.later,
                goals: self.goals.len(),
                changes: self.theory.changes(),
                atoms: self.order.len(),
                formulas: self.formulas.len(),
                watched: self.watched.len(),
            },
        });
        self.next_alternative(search);
        None
    }

    /// Takes up the next alternative of the last choice.
    fn next_alternative(&mut self, search: &Search) {
        let depth = self.choices.len() as u32 - 1;
        let Some(choice) = self.choices.last_mut() else { return };
        let place = choice.order[choice.tried];
        choice.tried += 1;
        let goal = choice.goal;
        let own = united([&choice.reasons[0], &Reasons::from([depth])]);
        let (formula, holds) = match goal {
            Goal::Is(formula, holds) => (formula, holds),
            Goal::AnyFrom(formula, _) | Goal::NoneBut(formula, _) => (formula, true),
        };
        let first = choice.order[0];
        let node = search.algebra.formulas.node(formula);
        let parts = node.parts();
        match (goal, node) {
            (Goal::Is(..), FormulaNode::One(_)) if holds && place == parts.len() => {
                self.put_later(goal, &own);
                self.push(Goal::Is(parts[first], false), &own);
            }
            (Goal::Is(..), FormulaNode::One(_)) if holds => {
                self.push(Goal::NoneBut(formula, place), &own);
                self.push(Goal::Is(parts[place], true), &own);
            }
            (Goal::Is(..), FormulaNode::One(_)) if place == parts.len() => {
                parts
                    .iter()
                    .rev()
                    .for_each(|part| self.push(Goal::Is(*part, false), &own));
            }
            (Goal::Is(..), FormulaNode::One(_)) => {
                self.push(Goal::AnyFrom(formula, place + 1), &own);
                self.push(Goal::Is(parts[place], true), &own);
            }
            _ => self.push(Goal::Is(parts[place], holds), &own),
        }
    }

    /// Backjumps to the last choice that a contradiction depends on and that has alternatives left; `false` if there is none.
    fn backtrack(&mut self, search: &Search, mut reasons: Reasons) -> bool {
        while let Some(&last) = reasons.last() {
            self.choices.truncate(last as usize + 1);
            let Some(choice) = self.choices.last_mut() else {
                return false;
            };
            let others: Vec<u32> = reasons[..reasons.len() - 1].to_vec();
            choice.reasons.push(others.into());
            if choice.tried == choice.order.len() {
                reasons = united(&choice.reasons);
                continue;
            }
            let before = choice.before;
            self.return_to(before);
            self.next_alternative(search);
            return true;
        }
        false
    }

    /// Takes back everything since a choice was made.
    fn return_to(&mut self, before: Before) {
        self.theory.undo(before.changes);
        for atom in self.order.drain(before.atoms..) {
            self.assumed.remove(&atom);
        }
        for formula in self.formulas.drain(before.formulas..) {
            self.taken_up.remove(&formula);
        }
        for atom in self.watched.drain(before.watched..).rev() {
            if let Some(goals) = self.waiting.get_mut(&atom) {
                goals.pop();
            }
        }
        self.goals.truncate(before.goals);
        (self.now, self.later) = (None, before.later);
    }

    /// The truth value of a formula, if it shows from the facts without looking deep into the formula.
    fn known(&self, search: &Search, formula: FormulaId) -> Option<bool> {
        let algebra = &search.algebra;
        let literal = |formula: FormulaId| {
            let (atom, holds) = algebra.formulas.literal(formula)?;
            let value = match self.assumed.get(&atom) {
                Some((value, _)) => Some(*value),
                None => self.theory.value(search, algebra.atoms.kind(atom)),
            };
            value.map(|value| value == holds)
        };
        let (formula, is) = match algebra.formulas.node(formula) {
            FormulaNode::Not(inner) => (*inner, false),
            _ => (formula, true),
        };
        // A goal that was taken up has its truth value wherever the search ends, whatever shows from the facts so far.
        if let Some((holds, _)) = self.taken_up.get(&formula) {
            return Some(*holds == is);
        }
        // A conjunction that does not hold, or a disjunction that holds, is known by one of its parts.
        let node = algebra.formulas.node(formula);
        let all = match node {
            FormulaNode::And(_) => true,
            FormulaNode::Or(_) => false,
            _ => return literal(formula).map(|value| value == is),
        };
        let mut known = Some(all);
        for part in node.parts() {
            match literal(*part) {
                Some(value) if value == all => {}
                Some(value) => return Some(value == is),
                None => known = None,
            }
        }
        known.map(|value| value == is)
    }
}
