//! [`Formulas`]: hash-consed Boolean formulas over atoms.
//!
//! What a value must satisfy is one formula, whose atoms are the things that are not known yet: "every item is an
//! integer", "there is a member `a`". As the value is read, atoms are decided and substituted, and what is left is the
//! *residual* formula.

use std::collections::HashMap;

/// A formula. Equal ids are equal formulas; different ids may still be equivalent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FormulaId(u32);

/// An atom, numbered by whoever owns the meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Atom(pub(crate) u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Node {
    False,
    True,
    Atom(Atom),
    Not(FormulaId),
    /// Sorted, without repetitions, at least two parts.
    And(Box<[FormulaId]>),
    Or(Box<[FormulaId]>),
}

/// The formulas of one compilation.
#[derive(Debug)]
pub(crate) struct Formulas {
    nodes: Vec<Node>,
    /// The atoms of each formula, sorted.
    atoms: Vec<Box<[Atom]>>,
    ids: HashMap<Node, FormulaId>,
    size: usize,
}

impl Default for Formulas {
    fn default() -> Self {
        let mut formulas = Self {
            nodes: Vec::new(),
            atoms: Vec::new(),
            ids: HashMap::new(),
            size: 0,
        };
        formulas.intern(Node::False);
        formulas.intern(Node::True);
        formulas
    }
}

impl FormulaId {
    /// Holds never.
    pub(crate) const FALSE: Self = Self(0);
    /// Holds always.
    pub(crate) const TRUE: Self = Self(1);

    /// The value of a formula that is decided.
    pub(crate) fn decided(self) -> Option<bool> {
        match self {
            Self::FALSE => Some(false),
            Self::TRUE => Some(true),
            _ => None,
        }
    }

    /// The formula that always has this value.
    pub(crate) fn constant(value: bool) -> Self {
        if value { Self::TRUE } else { Self::FALSE }
    }
}

impl Formulas {
    fn intern(&mut self, node: Node) -> FormulaId {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let atoms = match &node {
            Node::False | Node::True => Vec::new(),
            Node::Atom(atom) => vec![*atom],
            Node::Not(inner) => self.atoms[inner.0 as usize].to_vec(),
            Node::And(parts) | Node::Or(parts) => {
                let mut all: Vec<Atom> = parts
                    .iter()
                    .flat_map(|part| self.atoms[part.0 as usize].iter().copied())
                    .collect();
                all.sort_unstable();
                all.dedup();
                all
            }
        };
        let id = FormulaId(self.nodes.len() as u32);
        self.size += 1 + atoms.len();
        self.nodes.push(node.clone());
        self.atoms.push(atoms.into());
        self.ids.insert(node, id);
        id
    }

    /// Size of all formulas, in atoms and connectives.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The atoms that `formula` depends on, sorted.
    pub(crate) fn atoms(&self, formula: FormulaId) -> &[Atom] {
        &self.atoms[formula.0 as usize]
    }

    /// The parts of which all must hold.
    pub(crate) fn conjuncts<'a>(&'a self, formula: &'a FormulaId) -> &'a [FormulaId] {
        match &self.nodes[formula.0 as usize] {
            Node::And(parts) => parts,
            Node::True => &[],
            _ => std::slice::from_ref(formula),
        }
    }

    /// The atom of a formula that is one, or the negation of one, and whether it is the atom itself.
    pub(crate) fn literal(&self, formula: FormulaId) -> Option<(Atom, bool)> {
        match &self.nodes[formula.0 as usize] {
            Node::Atom(atom) => Some((*atom, true)),
            Node::Not(inner) => match &self.nodes[inner.0 as usize] {
                Node::Atom(atom) => Some((*atom, false)),
                _ => None,
            },
            _ => None,
        }
    }

    /// An atom.
    pub(crate) fn atom(&mut self, atom: Atom) -> FormulaId {
        self.intern(Node::Atom(atom))
    }

    /// Not.
    pub(crate) fn not(&mut self, formula: FormulaId) -> FormulaId {
        match &self.nodes[formula.0 as usize] {
            Node::False => FormulaId::TRUE,
            Node::True => FormulaId::FALSE,
            Node::Not(inner) => *inner,
            _ => self.intern(Node::Not(formula)),
        }
    }

    /// All of them.
    pub(crate) fn and(&mut self, parts: impl IntoIterator<Item = FormulaId>) -> FormulaId {
        self.join(parts, true)
    }

    /// At least one of them.
    pub(crate) fn or(&mut self, parts: impl IntoIterator<Item = FormulaId>) -> FormulaId {
        self.join(parts, false)
    }

    fn join(&mut self, parts: impl IntoIterator<Item = FormulaId>, and: bool) -> FormulaId {
        let (neutral, absorbing) = (FormulaId::constant(and), FormulaId::constant(!and));
        let mut flat = Vec::new();
        for part in parts {
            match &self.nodes[part.0 as usize] {
                Node::And(inner) if and => flat.extend_from_slice(inner),
                Node::Or(inner) if !and => flat.extend_from_slice(inner),
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        flat.retain(|part| *part != neutral);
        if flat.contains(&absorbing) || self.has_opposites(&flat) {
            return absorbing;
        }
        match flat[..] {
            [] => neutral,
            [one] => one,
            _ if and => self.intern(Node::And(flat.into())),
            _ => self.intern(Node::Or(flat.into())),
        }
    }

    /// Whether a formula and its negation are both in the sorted list.
    fn has_opposites(&self, parts: &[FormulaId]) -> bool {
        parts.iter().any(|part| match &self.nodes[part.0 as usize] {
            Node::Not(inner) => parts.binary_search(inner).is_ok(),
            _ => false,
        })
    }

    /// `formula` with every atom replaced that `value` knows.
    pub(crate) fn substitute(
        &mut self,
        formula: FormulaId,
        value: &mut dyn FnMut(Atom) -> Option<FormulaId>,
    ) -> FormulaId {
        let mut known: HashMap<Atom, FormulaId> = HashMap::new();
        for atom in self.atoms(formula) {
            if let Some(replacement) = value(*atom) {
                known.insert(*atom, replacement);
            }
        }
        if known.is_empty() {
            return formula;
        }
        let mut done = HashMap::new();
        self.rebuild(formula, &known, &mut done)
    }

    /// Recursion follows the formula's nesting, which limits on the schema's own nesting bound.
    fn rebuild(
        &mut self,
        formula: FormulaId,
        known: &HashMap<Atom, FormulaId>,
        done: &mut HashMap<FormulaId, FormulaId>,
    ) -> FormulaId {
        let touched = self.atoms(formula).iter().any(|atom| known.contains_key(atom));
        if !touched {
            return formula;
        }
        if let Some(&replaced) = done.get(&formula) {
            return replaced;
        }
        let replaced = match self.nodes[formula.0 as usize].clone() {
            Node::False | Node::True => formula,
            Node::Atom(atom) => known.get(&atom).copied().unwrap_or(formula),
            Node::Not(inner) => {
                let inner = self.rebuild(inner, known, done);
                self.not(inner)
            }
            Node::And(parts) => {
                let parts: Vec<FormulaId> = parts.iter().map(|part| self.rebuild(*part, known, done)).collect();
                self.and(parts)
            }
            Node::Or(parts) => {
                let parts: Vec<FormulaId> = parts.iter().map(|part| self.rebuild(*part, known, done)).collect();
                self.or(parts)
            }
        };
        done.insert(formula, replaced);
        replaced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_have_one_form() {
        let mut formulas = Formulas::default();
        let [a, b, c] = [0, 1, 2].map(|atom| formulas.atom(Atom(atom)));
        let ab = formulas.and([a, b]);
        let nested = formulas.and([ab, c, a]);
        let flat = formulas.and([c, b, a]);
        assert_eq!(nested, flat);
        let not_a = formulas.not(a);
        assert_eq!(formulas.and([a, not_a]), FormulaId::FALSE);
        assert_eq!(formulas.or([a, not_a]), FormulaId::TRUE);
        assert_eq!(formulas.not(not_a), a);
        assert_eq!(formulas.and([]), FormulaId::TRUE);
        assert_eq!(formulas.atoms(flat), [Atom(0), Atom(1), Atom(2)]);
    }
}
