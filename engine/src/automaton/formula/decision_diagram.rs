//! [`DecisionDiagrams`]: which verdicts of a value its surroundings can live with.
//!
//! A value is read with several *assertions*: subschemas of which the enclosing frames want to know whether it is
//! valid. A diagram is a binary decision diagram over the assertions' verdicts, in the order of the assertions.

use crate::automaton::formula::boolean::{FormulaId, Formulas};
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;
use std::hash::Hash;

/// A set of verdict vectors. Equal ids are equal sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DiagramId(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct DiagramNode {
    assertion: u32,
    valid: DiagramId,
    invalid: DiagramId,
}

/// The diagrams of one compilation.
#[derive(Debug, Default)]
pub(crate) struct DecisionDiagrams {
    nodes: Vec<DiagramNode>,
    ids: HashMap<DiagramNode, DiagramId>,
}

impl DiagramId {
    /// No verdict will do.
    pub(crate) const NEVER: Self = Self(0);
    /// Every verdict will do.
    pub(crate) const ALWAYS: Self = Self(1);
}

impl DecisionDiagrams {
    /// Decides by the verdict of `assertion`; the two cases must not depend on it or on assertions before it.
    pub(crate) fn branch(&mut self, assertion: u32, valid: DiagramId, invalid: DiagramId) -> DiagramId {
        if valid == invalid {
            return valid;
        }
        let node = DiagramNode {
            assertion,
            valid,
            invalid,
        };
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let id = DiagramId(self.nodes.len() as u32 + 2);
        self.nodes.push(node);
        self.ids.insert(node, id);
        id
    }

    fn node(&self, id: DiagramId) -> Option<DiagramNode> {
        let index = id.0.checked_sub(2)?;
        self.nodes.get(index as usize).copied()
    }

    /// The assertion that a diagram asks about first, and what is left in either case; none where it is made.
    pub(crate) fn split(&self, id: DiagramId) -> Option<(u32, DiagramId, DiagramId)> {
        self.node(id).map(|node| (node.assertion, node.valid, node.invalid))
    }

    /// Whether the verdicts will do; `verdict` is asked assertion by assertion.
    pub(crate) fn admits(&self, id: DiagramId, mut verdict: impl FnMut(u32) -> bool) -> bool {
        let mut at = id;
        while let Some(node) = self.node(at) {
            at = if verdict(node.assertion) {
                node.valid
            } else {
                node.invalid
            };
        }
        at == DiagramId::ALWAYS
    }

    /// Whether a diagram about one assertion is that it must be valid.
    pub(crate) fn asks_for_one(&self, id: DiagramId) -> bool {
        let (valid, invalid) = (DiagramId::ALWAYS, DiagramId::NEVER);
        self.node(id)
            == Some(DiagramNode {
                assertion: 0,
                valid,
                invalid,
            })
    }

    /// The verdict that `assertion` must have, where there is only one that will do.
    pub(crate) fn forced(&self, id: DiagramId, assertion: u32) -> Option<bool> {
        let mut at = id;
        while let Some(node) = self.node(at) {
            let only = match (node.valid == DiagramId::NEVER, node.invalid == DiagramId::NEVER) {
                (false, true) => Some(true),
                (true, false) => Some(false),
                _ => None,
            };
            match only {
                Some(verdict) if node.assertion == assertion => return Some(verdict),
                Some(true) => at = node.valid,
                Some(false) => at = node.invalid,
                None => return None,
            }
        }
        None
    }

    /// The diagram that admits these verdict vectors over so many assertions and no others. They must be sorted, with
    /// `true` before `false`, and differ.
    pub(crate) fn among(&mut self, vectors: &[Vec<bool>], assertions: usize) -> DiagramId {
        let common = |a: &[bool], b: &[bool]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
        // Each vector begins as the diagram about nothing, with where it differs from the one before.
        let mut rows: Vec<(&[bool], usize, DiagramId)> = Vec::with_capacity(vectors.len());
        for vector in vectors {
            let differs = rows.last().map_or(0, |(last, ..)| common(last, vector));
            rows.push((vector, differs, DiagramId::ALWAYS));
        }
        for assertion in (0..assertions).rev() {
            let mut joined: Vec<(&[bool], usize, DiagramId)> = Vec::with_capacity(rows.len());
            let mut next = rows.into_iter().peekable();
            while let Some((vector, differs, diagram)) = next.next() {
                let other = next.next_if(|(_, differs, _)| *differs == assertion && vector[assertion]);
                let (valid, invalid) = match (vector[assertion], other) {
                    (true, other) => (diagram, other.map_or(DiagramId::NEVER, |other| other.2)),
                    (false, _) => (DiagramId::NEVER, diagram),
                };
                joined.push((vector, differs, self.branch(assertion as u32, valid, invalid)));
            }
            rows = joined;
        }
        rows.first().map_or(DiagramId::NEVER, |row| row.2)
    }

    /// A diagram and all that it leads to, each after those that it leads to itself.
    pub(crate) fn cases(&self, id: DiagramId) -> Vec<DiagramId> {
        let mut order = vec![id];
        let mut found: HashSet<DiagramId> = HashSet::from([id]);
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            if let Some(node) = self.node(at) {
                order.extend([node.valid, node.invalid].into_iter().filter(|id| found.insert(*id)));
            }
        }
        // The cases of a diagram are older than the diagram.
        order.sort_unstable();
        order
    }

    /// The formula that says the same of the assertions' formulas.
    pub(crate) fn formula(&self, id: DiagramId, assertions: &[FormulaId], formulas: &mut Formulas) -> FormulaId {
        // Mostly all assertions must be valid.
        let (mut at, mut all) = (id, SmallVec::<[FormulaId; 4]>::new());
        while let Some(node) = self.node(at).filter(|node| node.invalid == DiagramId::NEVER) {
            all.push(assertions[node.assertion as usize]);
            at = node.valid;
        }
        if at == DiagramId::ALWAYS {
            return formulas.and(all);
        }
        let order = self.cases(id);
        let mut done = HashMap::with_capacity(order.len());
        for at in order {
            let formula = match self.node(at) {
                None => FormulaId::constant(at == DiagramId::ALWAYS),
                Some(node) => {
                    let condition = assertions[node.assertion as usize];
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
mod tests;
