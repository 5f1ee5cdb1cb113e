//! [`Decisions`]: which outcomes of a value its surroundings can live with.
//!
//! A value is read with several *goals*: subschemas of which the enclosing levels want to know whether it is valid. A
//! decision is a binary decision diagram over the goals' outcomes, in the order of the goals.

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::formula::{FormulaId, Formulas};

/// A set of outcome vectors. Equal ids are equal sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DecisionId(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    goal: u32,
    valid: DecisionId,
    invalid: DecisionId,
}

/// The decisions of one compilation.
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    nodes: Vec<Node>,
    ids: HashMap<Node, DecisionId>,
}

impl DecisionId {
    /// No outcome will do.
    pub(crate) const NEVER: Self = Self(0);
    /// Every outcome will do.
    pub(crate) const ALWAYS: Self = Self(1);
}

impl Decisions {
    /// Decides by the outcome of `goal`; the two cases must not depend on it or on goals before it.
    pub(crate) fn branch(&mut self, goal: u32, valid: DecisionId, invalid: DecisionId) -> DecisionId {
        if valid == invalid {
            return valid;
        }
        let node = Node { goal, valid, invalid };
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let id = DecisionId(self.nodes.len() as u32 + 2);
        self.nodes.push(node);
        self.ids.insert(node, id);
        id
    }

    fn node(&self, id: DecisionId) -> Option<Node> {
        let index = id.0.checked_sub(2)?;
        self.nodes.get(index as usize).copied()
    }

    /// The goal that a decision asks about first, and what is left in either case; none where it is made.
    pub(crate) fn split(&self, id: DecisionId) -> Option<(u32, DecisionId, DecisionId)> {
        self.node(id).map(|node| (node.goal, node.valid, node.invalid))
    }

    /// Whether the outcomes will do; `outcome` is asked goal by goal.
    pub(crate) fn admits(&self, id: DecisionId, mut outcome: impl FnMut(u32) -> bool) -> bool {
        let mut at = id;
        while let Some(node) = self.node(at) {
            at = if outcome(node.goal) { node.valid } else { node.invalid };
        }
        at == DecisionId::ALWAYS
    }

    /// Whether a decision about one goal is that it must be valid.
    pub(crate) fn asks_for_one(&self, id: DecisionId) -> bool {
        let (valid, invalid) = (DecisionId::ALWAYS, DecisionId::NEVER);
        self.node(id)
            == Some(Node {
                goal: 0,
                valid,
                invalid,
            })
    }

    /// The outcome that `goal` must have, where there is only one that will do.
    pub(crate) fn forced(&self, id: DecisionId, goal: u32) -> Option<bool> {
        let mut at = id;
        while let Some(node) = self.node(at) {
            let only = match (node.valid == DecisionId::NEVER, node.invalid == DecisionId::NEVER) {
                (false, true) => Some(true),
                (true, false) => Some(false),
                _ => None,
            };
            match only {
                Some(outcome) if node.goal == goal => return Some(outcome),
                Some(true) => at = node.valid,
                Some(false) => at = node.invalid,
                None => return None,
            }
        }
        None
    }

    /// The decision that admits these outcome vectors over so many goals and no others. They must be sorted, with `true`
    /// before `false`, and differ.
    pub(crate) fn among(&mut self, vectors: &[Vec<bool>], goals: usize) -> DecisionId {
        let common = |a: &[bool], b: &[bool]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
        // Each vector begins as the decision about nothing, with where it differs from the one before.
        let mut rows: Vec<(&[bool], usize, DecisionId)> = Vec::with_capacity(vectors.len());
        for vector in vectors {
            let differs = rows.last().map_or(0, |(last, ..)| common(last, vector));
            rows.push((vector, differs, DecisionId::ALWAYS));
        }
        for goal in (0..goals).rev() {
            let mut joined: Vec<(&[bool], usize, DecisionId)> = Vec::with_capacity(rows.len());
            let mut next = rows.into_iter().peekable();
            while let Some((vector, differs, decision)) = next.next() {
                let other = next.next_if(|(_, differs, _)| *differs == goal && vector[goal]);
                let (valid, invalid) = match (vector[goal], other) {
                    (true, other) => (decision, other.map_or(DecisionId::NEVER, |other| other.2)),
                    (false, _) => (DecisionId::NEVER, decision),
                };
                joined.push((vector, differs, self.branch(goal as u32, valid, invalid)));
            }
            rows = joined;
        }
        rows.first().map_or(DecisionId::NEVER, |row| row.2)
    }

    /// A decision and all that it leads to, each after those that it leads to itself.
    pub(crate) fn cases(&self, id: DecisionId) -> Vec<DecisionId> {
        let mut order = vec![id];
        let mut found: HashSet<DecisionId> = HashSet::from([id]);
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            if let Some(node) = self.node(at) {
                order.extend([node.valid, node.invalid].into_iter().filter(|id| found.insert(*id)));
            }
        }
        // The cases of a decision are older than the decision.
        order.sort_unstable();
        order
    }

    /// The formula that says the same of the goals' formulas.
    pub(crate) fn formula(&self, id: DecisionId, goals: &[FormulaId], formulas: &mut Formulas) -> FormulaId {
        // Mostly all goals must be valid.
        let (mut at, mut all) = (id, SmallVec::<[FormulaId; 4]>::new());
        while let Some(node) = self.node(at).filter(|node| node.invalid == DecisionId::NEVER) {
            all.push(goals[node.goal as usize]);
            at = node.valid;
        }
        if at == DecisionId::ALWAYS {
            return formulas.and(all);
        }
        let order = self.cases(id);
        let mut done = HashMap::with_capacity(order.len());
        for at in order {
            let formula = match self.node(at) {
                None => FormulaId::constant(at == DecisionId::ALWAYS),
                Some(node) => {
                    let condition = goals[node.goal as usize];
                    let not = formulas.not(condition);
                    let yes = formulas.and([condition, done[&node.valid]]);
                    let no = formulas.and([not, done[&node.invalid]]);
                    formulas.or([yes, no])
                }
            };
            done.insert(at, formula);
        }
        done[&id]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_looked_up_goal_by_goal() {
        let mut decisions = Decisions::default();
        let second = decisions.branch(1, DecisionId::ALWAYS, DecisionId::NEVER);
        let both = decisions.branch(0, second, DecisionId::NEVER);
        let either = decisions.branch(0, DecisionId::ALWAYS, second);
        assert!(decisions.admits(both, |_| true) && !decisions.admits(both, |goal| goal == 1));
        assert!(decisions.admits(either, |goal| goal == 1) && !decisions.admits(either, |_| false));
        assert_eq!(
            (decisions.forced(both, 0), decisions.forced(both, 1)),
            (Some(true), Some(true))
        );
        assert_eq!((decisions.forced(either, 0), decisions.forced(either, 1)), (None, None));
        assert_eq!(decisions.branch(0, second, second), second);
    }
}
