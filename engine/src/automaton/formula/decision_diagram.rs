//! [`DecisionDiagrams`]: the verdicts of a value that the containers around it admit.
//!
//! A value is judged by several *assertions*: subschemas of which an enclosing container needs to know whether the
//! value is valid under them. A diagram is a binary decision diagram over the verdicts of these assertions, in their
//! order. It is computed when the value begins, so each frame of the stack is judged by itself while the value is read.
//!
//! A diagram is usually made from a formula over verdicts. It remembers the formula: the requirement on a container is that
//! formula with the conditions of the assertions in place of their verdicts, which stays as short as it was.

use crate::automaton::error::{AutomatonError, check_limit};
use crate::automaton::formula::boolean::{Atom, FormulaId, FormulaNode, Formulas};
use crate::automaton::memory::{list_bytes, table_bytes};
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;
use std::hash::Hash;

/// A set of verdict vectors, as a decision diagram. Equal ids mean equal sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DiagramId(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct DiagramNode {
    assertion: u32,
    valid: DiagramId,
    invalid: DiagramId,
}

/// A formula over verdicts, with the atoms of these by their assertions.
type Source = (FormulaId, Box<[(Atom, u32)]>);

/// All decision diagrams of one compiled schema, each node stored once.
#[derive(Debug, Default)]
pub(crate) struct DecisionDiagrams {
    nodes: Vec<DiagramNode>,
    ids: HashMap<DiagramNode, DiagramId>,
    /// The formula over verdicts that a diagram was first made from.
    sources: HashMap<DiagramId, Source>,
}

/// A condition, and the diagrams that hold if it does and if it does not.
type IfThenElse = (DiagramId, DiagramId, DiagramId);

impl DiagramId {
    /// The diagram that admits no verdicts.
    pub(crate) const NEVER: Self = Self(0);
    /// The diagram that admits all verdicts.
    pub(crate) const ALWAYS: Self = Self(1);
}

impl DecisionDiagrams {
    /// Bytes of memory that the diagrams take.
    pub(crate) fn memory(&self) -> usize {
        let verdicts = self.sources.values().map(|(_, verdicts)| size_of_val(&**verdicts));
        list_bytes(&self.nodes) + table_bytes(&self.ids) + table_bytes(&self.sources) + verdicts.sum::<usize>()
    }

    /// The diagram that continues with `valid` or `invalid`, by the verdict of `assertion`. Neither may depend on this
    /// assertion or on one before it.
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

    /// The diagram that admits the verdicts for which a formula over verdicts holds. `verdicts` has the formula's atoms
    /// with the assertions that they speak of; `most` is the limit on the nodes that this may take.
    ///
    /// # Errors
    ///
    /// [`AutomatonError::Limit`], if it takes more.
    pub(crate) fn of(
        &mut self,
        formula: FormulaId,
        verdicts: &[(Atom, u32)],
        formulas: &Formulas,
        most: (&'static str, usize),
    ) -> Result<DiagramId, AutomatonError> {
        let mut done: HashMap<FormulaId, DiagramId> = HashMap::new();
        let mut known: HashMap<IfThenElse, DiagramId> = HashMap::new();
        for at in formulas.all_parts(formula) {
            let mut parts: SmallVec<[DiagramId; 16]> =
                formulas.node(at).parts().iter().map(|part| done[part]).collect();
            // Diagrams that test late assertions are joined first, so that few nodes are made in between.
            parts.sort_unstable_by_key(|part| std::cmp::Reverse(self.node(*part).map(|node| node.assertion)));
            let (yes, no) = (DiagramId::ALWAYS, DiagramId::NEVER);
            let mut choose = |a, b, c| {
                let chosen = self.choose((a, b, c), &mut known);
                check_limit(known.len(), most, "combinations of subschemas that a value may satisfy").map(|()| chosen)
            };
            let diagram = match formulas.node(at) {
                FormulaNode::False => no,
                FormulaNode::True => yes,
                FormulaNode::Atom(atom) => match verdicts.binary_search_by_key(atom, |(atom, _)| *atom) {
                    Ok(place) => self.branch(verdicts[place].1, yes, no),
                    Err(_) => no,
                },
                FormulaNode::Not(_) => choose(parts[0], no, yes)?,
                FormulaNode::And(_) => parts.iter().try_fold(yes, |all, part| choose(*part, all, no))?,
                FormulaNode::Or(_) => parts.iter().try_fold(no, |any, part| choose(*part, yes, any))?,
                FormulaNode::One(_) => {
                    let (mut none, mut one) = (yes, no);
                    for &part in &parts {
                        (one, none) = (choose(part, none, one)?, choose(part, no, none)?);
                    }
                    one
                }
            };
            done.insert(at, diagram);
        }
        let diagram = done[&formula];
        // Other assertions may be fewer, so the formula must not speak of verdicts that make no difference.
        let cases = self.cases(diagram);
        let mut told: Vec<u32> = cases
            .iter()
            .filter_map(|case| Some(self.node(*case)?.assertion))
            .collect();
        told.sort_unstable();
        told.dedup();
        if !told.is_empty() && told.len() == verdicts.len() {
            let source = || (formula, verdicts.into());
            self.sources.entry(diagram).or_insert_with(source);
        }
        Ok(diagram)
    }

    /// The diagram that is the second of the choice's where the first admits, and the third elsewhere. `known` has the
    /// results of this and earlier calls.
    fn choose(&mut self, choice: IfThenElse, known: &mut HashMap<IfThenElse, DiagramId>) -> DiagramId {
        let mut open = vec![choice];
        let easy = |(condition, yes, no): IfThenElse| match condition {
            DiagramId::ALWAYS => Some(yes),
            DiagramId::NEVER => Some(no),
            _ if yes == no => Some(yes),
            _ => (yes == DiagramId::ALWAYS && no == DiagramId::NEVER).then_some(condition),
        };
        while let Some(&at) = open.last() {
            let parts = [at.0, at.1, at.2];
            let first = parts
                .iter()
                .filter_map(|part| self.node(*part))
                .map(|node| node.assertion);
            let Some(first) = first.min().filter(|_| easy(at).is_none() && !known.contains_key(&at)) else {
                open.pop();
                continue;
            };
            let under = |verdict: bool| {
                let [condition, yes, no] = parts.map(|part| match self.node(part) {
                    Some(node) if node.assertion == first => [node.invalid, node.valid][usize::from(verdict)],
                    _ => part,
                });
                (condition, yes, no)
            };
            let (valid, invalid) = (under(true), under(false));
            let result = |choice: IfThenElse| easy(choice).or_else(|| known.get(&choice).copied());
            match (result(valid), result(invalid)) {
                (Some(valid), Some(invalid)) => {
                    let joined = self.branch(first, valid, invalid);
                    known.insert(at, joined);
                    open.pop();
                }
                (known_valid, known_invalid) => {
                    open.extend(known_valid.is_none().then_some(valid));
                    open.extend(known_invalid.is_none().then_some(invalid));
                }
            }
        }
        easy(choice).unwrap_or_else(|| known[&choice])
    }

    fn node(&self, id: DiagramId) -> Option<DiagramNode> {
        let index = id.0.checked_sub(2)?;
        self.nodes.get(index as usize).copied()
    }

    /// The assertion that a diagram tests first, and the diagrams left if it is satisfied and if it is not; `None` for
    /// the two constant diagrams.
    pub(crate) fn split(&self, id: DiagramId) -> Option<(u32, DiagramId, DiagramId)> {
        self.node(id).map(|node| (node.assertion, node.valid, node.invalid))
    }

    /// Whether a diagram admits a value's verdicts. `verdict` is called for the assertions on one path.
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

    /// Whether a diagram admits the verdicts of each of these values; a value is given by the assertions that it satisfies, sorted. The
    /// path on which nothing is satisfied is walked once for all values, since most of them leave it late.
    pub(crate) fn admits_each<'a>(&self, id: DiagramId, values: impl Iterator<Item = &'a [u32]>) -> Vec<bool> {
        let mut path = Vec::new();
        let mut end = id;
        while let Some(node) = self.node(end) {
            path.push((node.assertion, node.valid));
            end = node.invalid;
        }
        let admits = |satisfied: &[u32]| {
            let mut tested = satisfied
                .iter()
                .filter_map(|assertion| path.binary_search_by_key(assertion, |(tested, _)| *tested).ok());
            match tested.next() {
                Some(place) => self.admits(path[place].1, |assertion| satisfied.binary_search(&assertion).is_ok()),
                None => end == DiagramId::ALWAYS,
            }
        };
        values.map(admits).collect()
    }

    /// The verdict that `assertion` must have in every admitted vector; `None` if both occur or this does not show on a
    /// single path.
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

    /// The diagram that admits the verdicts under which all of these assertions, which are sorted, are satisfied.
    pub(crate) fn all_of(&mut self, assertions: &[u32]) -> DiagramId {
        let mut all = DiagramId::ALWAYS;
        for &assertion in assertions.iter().rev() {
            all = self.branch(assertion, all, DiagramId::NEVER);
        }
        all
    }

    /// The diagram that admits exactly the verdict vectors over `assertions` assertions of which only the assertions of one
    /// of the lists are satisfied. The lists are sorted and distinct.
    pub(crate) fn among_satisfied(&mut self, satisfied: &[Vec<u32>], assertions: u32) -> DiagramId {
        if satisfied.iter().any(|list| list.len() > 1) {
            let vector = |list: &Vec<u32>| (0..assertions).map(|at| list.binary_search(&at).is_ok()).collect();
            let mut vectors: Vec<Vec<bool>> = satisfied.iter().map(vector).collect();
            vectors.sort_unstable_by(|a, b| b.cmp(a));
            return self.among(&vectors, assertions as usize);
        }
        let mut alone = satisfied
            .iter()
            .filter_map(|list| list.first().copied())
            .rev()
            .peekable();
        let (mut diagram, mut no_others) = (DiagramId::NEVER, DiagramId::ALWAYS);
        if satisfied.iter().any(Vec::is_empty) {
            diagram = DiagramId::ALWAYS;
        }
        for assertion in (0..assertions).rev() {
            let valid = alone.next_if_eq(&assertion).map_or(DiagramId::NEVER, |_| no_others);
            diagram = self.branch(assertion, valid, diagram);
            no_others = self.branch(assertion, DiagramId::NEVER, no_others);
        }
        diagram
    }

    /// The diagram that admits exactly these verdict vectors over `assertions` assertions. The vectors must be distinct
    /// and sorted with `true` before `false`.
    pub(crate) fn among(&mut self, vectors: &[Vec<bool>], assertions: usize) -> DiagramId {
        let common = |a: &[bool], b: &[bool]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
        // Each vector begins with the constant diagram, and with the first index at which it differs from the vector
        // before.
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

    /// A diagram and all diagrams reachable from it, each after those that it refers to.
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
        // A diagram is created after those that it refers to, so their ids are smaller.
        order.sort_unstable();
        order
    }

    /// The formula that is true wherever the diagram admits the truth values of the assertions' formulas.
    pub(crate) fn formula(&self, id: DiagramId, assertions: &[FormulaId], formulas: &mut Formulas) -> FormulaId {
        if let Some((source, verdicts)) = self.sources.get(&id) {
            let conditions: Vec<(Atom, FormulaId)> = verdicts
                .iter()
                .map(|(atom, assertion)| (*atom, assertions[*assertion as usize]))
                .collect();
            return formulas.replace(*source, &conditions);
        }
        // In most diagrams all assertions must be satisfied.
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
