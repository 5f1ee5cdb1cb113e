//! [`Formulas`]: hash-consed Boolean formulas over atoms.
//!
//! The requirement on a value is one formula, whose atoms are facts that are not known yet: "every item is an integer", "there is
//! a member `a`". As the value is read, atoms are decided or replaced by others; the remainder is the *residual* formula. Equal
//! formulas share one id, so a residual formula is cheap to store in a state and to compare.

use hashbrown::{DefaultHashBuilder, HashSet, HashTable};
use smallvec::{SmallVec, smallvec};
use std::hash::BuildHasher as _;
use std::hash::Hash;

/// The number of a formula. Equal ids mean equal formulas; formulas with different ids may still be equivalent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FormulaId(u32);

/// The number of an atom, whose meaning is defined by [`Atoms`](super::atom::Atoms).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Atom(pub(crate) u32);

/// A formula with its immediate parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FormulaNode {
    False,
    True,
    Atom(Atom),
    Not(FormulaId),
    /// All parts hold. There are at least two, sorted and without repetitions.
    And(Box<[FormulaId]>),
    Or(Box<[FormulaId]>),
    /// Exactly one of the parts holds.
    One(Box<[FormulaId]>),
}

impl FormulaNode {
    /// The immediate parts of the formula.
    pub(crate) fn parts(&self) -> &[FormulaId] {
        match self {
            Self::False | Self::True | Self::Atom(_) => &[],
            Self::Not(inner) => std::slice::from_ref(inner),
            Self::And(parts) | Self::Or(parts) | Self::One(parts) => parts,
        }
    }
}

/// All formulas of one compiled schema. The parts of a formula have lower numbers than the formula itself.
#[derive(Debug)]
pub(crate) struct Formulas {
    nodes: Vec<FormulaNode>,
    /// The atoms of each formula, sorted.
    atoms: Vec<Box<[Atom]>>,
    /// The truth value of each formula if nothing follows any more.
    at_end: Vec<bool>,
    /// Number of parts and atoms stored in all formulas.
    cells: usize,
    ids: HashTable<FormulaId>,
    hasher: DefaultHashBuilder,
    /// One more than the highest atom number.
    atom_count: usize,
    now: Now,
}

/// The replacements of atoms and formulas, indexed by their numbers; all `None` between substitutions.
#[derive(Debug, Default)]
struct Now {
    atoms: Vec<Option<FormulaId>>,
    formulas: Vec<Option<FormulaId>>,
}

/// The parts of a formula, of which there are usually few.
type FormulaParts = SmallVec<[FormulaId; 16]>;

impl Default for Formulas {
    fn default() -> Self {
        let mut formulas = Self {
            nodes: Vec::new(),
            atoms: Vec::new(),
            at_end: Vec::new(),
            cells: 0,
            ids: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            atom_count: 0,
            now: Now::default(),
        };
        formulas.intern(FormulaNode::False, false);
        formulas.intern(FormulaNode::True, true);
        formulas
    }
}

impl FormulaId {
    /// The formula that never holds.
    pub(crate) const FALSE: Self = Self(0);
    /// The formula that always holds.
    pub(crate) const TRUE: Self = Self(1);

    /// The truth value of a decided formula; `None` if it still depends on atoms.
    pub(crate) fn decided(self) -> Option<bool> {
        match self {
            Self::FALSE => Some(false),
            Self::TRUE => Some(true),
            _ => None,
        }
    }

    /// The formula that always has this truth value.
    pub(crate) fn constant(value: bool) -> Self {
        if value { Self::TRUE } else { Self::FALSE }
    }
}

impl Formulas {
    fn intern(&mut self, node: FormulaNode, at_end: bool) -> FormulaId {
        let hash = self.hasher.hash_one(&node);
        if let Some(&id) = self.ids.find(hash, |id| self.nodes[id.0 as usize] == node) {
            return id;
        }
        let atoms = match &node {
            FormulaNode::False | FormulaNode::True => Vec::new(),
            FormulaNode::Atom(atom) => vec![*atom],
            FormulaNode::Not(inner) => self.atoms[inner.0 as usize].to_vec(),
            FormulaNode::And(parts) | FormulaNode::Or(parts) | FormulaNode::One(parts) => {
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
        self.cells += node.parts().len() + atoms.len();
        self.nodes.push(node);
        self.atoms.push(atoms.into());
        self.at_end.push(at_end);
        let (nodes, hasher) = (&self.nodes, &self.hasher);
        let hash_of = |id: &FormulaId| hasher.hash_one(&nodes[id.0 as usize]);
        self.ids.insert_unique(hash, id, hash_of);
        id
    }

    /// A formula with its immediate parts.
    pub(crate) fn node(&self, formula: FormulaId) -> &FormulaNode {
        &self.nodes[formula.0 as usize]
    }

    /// A formula and all formulas it is made of, each after its own parts.
    pub(crate) fn all_parts(&self, formula: FormulaId) -> Vec<FormulaId> {
        let mut order = vec![formula];
        let mut found: HashSet<FormulaId> = HashSet::from([formula]);
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            order.extend(self.node(at).parts().iter().filter(|part| found.insert(**part)));
        }
        order.sort_unstable();
        order
    }

    /// Number of `parts` that hold if nothing follows any more.
    fn hold_at_end(&self, parts: &[FormulaId]) -> usize {
        parts.iter().filter(|part| self.at_end(**part)).count()
    }

    /// The truth value of a formula if nothing follows any more.
    pub(crate) fn at_end(&self, formula: FormulaId) -> bool {
        self.at_end[formula.0 as usize]
    }

    /// An estimate of the memory that the formulas take, in bytes.
    pub(crate) fn size(&self) -> usize {
        120 * self.nodes.len() + 4 * self.cells
    }

    /// The atoms that `formula` depends on, sorted.
    pub(crate) fn atoms(&self, formula: FormulaId) -> &[Atom] {
        &self.atoms[formula.0 as usize]
    }

    /// The parts of a conjunction; a formula that is no conjunction is its own only part.
    pub(crate) fn conjuncts<'a>(&'a self, formula: &'a FormulaId) -> &'a [FormulaId] {
        match &self.nodes[formula.0 as usize] {
            FormulaNode::And(parts) => parts,
            FormulaNode::True => &[],
            _ => std::slice::from_ref(formula),
        }
    }

    /// The parts of a disjunction; a formula that is no disjunction is its own only part.
    pub(crate) fn disjuncts<'a>(&'a self, formula: &'a FormulaId) -> &'a [FormulaId] {
        match &self.nodes[formula.0 as usize] {
            FormulaNode::Or(parts) => parts,
            FormulaNode::False => &[],
            _ => std::slice::from_ref(formula),
        }
    }

    /// The atom of a formula that is an atom (`true`) or a negated atom (`false`); `None` for other formulas.
    pub(crate) fn literal(&self, formula: FormulaId) -> Option<(Atom, bool)> {
        match &self.nodes[formula.0 as usize] {
            FormulaNode::Atom(atom) => Some((*atom, true)),
            FormulaNode::Not(inner) => match &self.nodes[inner.0 as usize] {
                FormulaNode::Atom(atom) => Some((*atom, false)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether one of some atoms occurs in a formula unnegated (`wanted`) or negated.
    pub(crate) fn has_occurrence(&self, formula: FormulaId, wanted: bool, is_meant: &dyn Fn(Atom) -> bool) -> bool {
        let mut open = vec![(formula, true)];
        let mut seen: HashSet<(FormulaId, bool)> = HashSet::from([(formula, true)]);
        while let Some((formula, is_unnegated)) = open.pop() {
            let node = &self.nodes[formula.0 as usize];
            let signs: &[bool] = match node {
                FormulaNode::Atom(atom) if is_unnegated == wanted && is_meant(*atom) => return true,
                FormulaNode::Not(_) => &[!is_unnegated],
                FormulaNode::One(_) => &[true, false],
                _ => &[is_unnegated],
            };
            for &part in node.parts() {
                let parts = signs.iter().map(|sign| (part, *sign));
                open.extend(parts.filter(|part| seen.insert(*part)));
            }
        }
        false
    }

    /// The formula of an atom, whose truth value is `at_end` if nothing follows any more.
    pub(crate) fn atom(&mut self, atom: Atom, at_end: bool) -> FormulaId {
        self.atom_count = self.atom_count.max(atom.0 as usize + 1);
        self.intern(FormulaNode::Atom(atom), at_end)
    }

    /// The negation of a formula.
    pub(crate) fn not(&mut self, formula: FormulaId) -> FormulaId {
        match &self.nodes[formula.0 as usize] {
            FormulaNode::False => FormulaId::TRUE,
            FormulaNode::True => FormulaId::FALSE,
            FormulaNode::Not(inner) => *inner,
            _ => self.intern(FormulaNode::Not(formula), !self.at_end(formula)),
        }
    }

    /// The conjunction of formulas.
    pub(crate) fn and(&mut self, parts: impl IntoIterator<Item = FormulaId>) -> FormulaId {
        self.join(parts, true)
    }

    /// The disjunction of formulas.
    pub(crate) fn or(&mut self, parts: impl IntoIterator<Item = FormulaId>) -> FormulaId {
        self.join(parts, false)
    }

    /// The conjunction (`and`) or disjunction of formulas in normal form: flat, sorted and without repetitions.
    fn join(&mut self, parts: impl IntoIterator<Item = FormulaId>, and: bool) -> FormulaId {
        let (neutral, absorbing) = (FormulaId::constant(and), FormulaId::constant(!and));
        let mut flat = FormulaParts::new();
        for part in parts {
            match &self.nodes[part.0 as usize] {
                FormulaNode::And(inner) if and => flat.extend_from_slice(inner),
                FormulaNode::Or(inner) if !and => flat.extend_from_slice(inner),
                _ => flat.push(part),
            }
        }
        flat.retain(|part| *part != neutral);
        flat.sort_unstable();
        flat.dedup();
        if flat.contains(&absorbing) || self.has_opposites(&flat) {
            return absorbing;
        }
        match flat[..] {
            [] => neutral,
            [one] => one,
            _ => {
                let hold = self.hold_at_end(&flat);
                match and {
                    true => self.intern(FormulaNode::And(flat.as_slice().into()), hold == flat.len()),
                    false => self.intern(FormulaNode::Or(flat.as_slice().into()), hold > 0),
                }
            }
        }
    }

    /// The formula that exactly one of `parts` holds.
    pub(crate) fn one(&mut self, mut parts: Vec<FormulaId>) -> FormulaId {
        parts.sort_unstable();
        // A part that occurs twice must not hold, and if one part is known to hold, no other may.
        let (mut once, mut refuted) = (Vec::new(), Vec::new());
        for same in parts.chunk_by(|a, b| a == b) {
            match same[0] {
                FormulaId::FALSE => {}
                part if same.len() > 1 => refuted.push(part),
                part => once.push(part),
            }
        }
        let one = match once[..] {
            [] => FormulaId::FALSE,
            [one] => one,
            [FormulaId::TRUE, ..] => {
                refuted.extend_from_slice(&once[1..]);
                FormulaId::TRUE
            }
            _ => {
                let hold = self.hold_at_end(&once);
                self.intern(FormulaNode::One(once.into()), hold == 1)
            }
        };
        let refuted: Vec<FormulaId> = refuted.into_iter().map(|part| self.not(part)).collect();
        self.and(refuted.into_iter().chain([one]))
    }

    /// Whether a sorted list contains both a formula and its negation.
    fn has_opposites(&self, parts: &[FormulaId]) -> bool {
        parts.iter().any(|part| match &self.nodes[part.0 as usize] {
            FormulaNode::Not(inner) => parts.binary_search(inner).is_ok(),
            _ => false,
        })
    }

    /// The formula with each atom replaced for which `value` returns a formula.
    pub(crate) fn substitute(
        &mut self,
        formula: FormulaId,
        value: &mut dyn FnMut(Atom) -> Option<FormulaId>,
    ) -> FormulaId {
        let atoms = self.atoms[formula.0 as usize].iter();
        let changed: SmallVec<[_; 8]> = atoms.filter_map(|&atom| Some((atom, value(atom)?))).collect();
        self.replace(formula, &changed)
    }

    /// The formula with the atoms in `changed` replaced, all at once.
    pub(crate) fn replace(&mut self, formula: FormulaId, changed: &[(Atom, FormulaId)]) -> FormulaId {
        if changed.is_empty() {
            return formula;
        }
        let mut now = std::mem::take(&mut self.now);
        now.atoms.resize(self.atom_count, None);
        now.formulas.resize(self.nodes.len(), None);
        for &(atom, replacement) in changed {
            now.atoms[atom.0 as usize] = Some(replacement);
        }
        let (order, refuted) = self.touched(formula, &mut now);
        for &at in &order {
            let replaced = self.replaced(at, &now);
            now.formulas[at.0 as usize] = Some(replaced);
        }
        let replaced = now.formulas[formula.0 as usize].unwrap_or(formula);
        for &(atom, _) in changed {
            now.atoms[atom.0 as usize] = None;
        }
        for at in order.into_iter().chain(refuted) {
            now.formulas[at.0 as usize] = None;
        }
        self.now = now;
        replaced
    }

    /// The formula and those of its parts that contain a replaced atom, each part before the formulas that it is part
    /// of. Parts that are simply false because one of their atoms is are returned separately and not visited: a large
    /// `enum` has many.
    fn touched(&self, formula: FormulaId, now: &mut Now) -> (FormulaParts, FormulaParts) {
        let (mut order, mut refuted): (FormulaParts, FormulaParts) = (smallvec![formula], FormulaParts::new());
        now.formulas[formula.0 as usize] = Some(formula);
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            for &part in self.nodes[at.0 as usize].parts() {
                let found = &mut now.formulas[part.0 as usize];
                if found.is_some() {
                    continue;
                }
                let mut atoms = self.atoms[part.0 as usize].iter();
                if self.is_refuted(part, &now.atoms) {
                    *found = Some(FormulaId::FALSE);
                    refuted.push(part);
                } else if atoms.any(|atom| now.atoms[atom.0 as usize].is_some()) {
                    *found = Some(part);
                    order.push(part);
                }
            }
        }
        order.sort_unstable();
        (order, refuted)
    }

    /// Whether a formula is a conjunction with an atom that is replaced by `false`.
    fn is_refuted(&self, formula: FormulaId, now: &[Option<FormulaId>]) -> bool {
        let refuted = |part: &FormulaId| match &self.nodes[part.0 as usize] {
            FormulaNode::Atom(atom) => now[atom.0 as usize] == Some(FormulaId::FALSE),
            _ => false,
        };
        matches!(&self.nodes[formula.0 as usize], FormulaNode::And(parts) if parts.iter().any(refuted))
    }

    /// A formula with its immediate parts replaced.
    fn replaced(&mut self, formula: FormulaId, now: &Now) -> FormulaId {
        let node = &self.nodes[formula.0 as usize];
        let replace = |part: &FormulaId| now.formulas[part.0 as usize].unwrap_or(*part);
        let collect = |parts: &[FormulaId]| parts.iter().map(replace).collect::<FormulaParts>();
        match node {
            FormulaNode::False | FormulaNode::True => formula,
            FormulaNode::Atom(atom) => now.atoms[atom.0 as usize].unwrap_or(formula),
            FormulaNode::Not(inner) => {
                let inner = replace(inner);
                self.not(inner)
            }
            FormulaNode::And(parts) if parts.iter().any(|part| replace(part) == FormulaId::FALSE) => FormulaId::FALSE,
            FormulaNode::And(parts) => {
                let parts = collect(parts);
                self.and(parts)
            }
            FormulaNode::Or(parts) if parts.iter().any(|part| replace(part) == FormulaId::TRUE) => FormulaId::TRUE,
            FormulaNode::Or(parts) => {
                let parts = collect(parts);
                self.or(parts)
            }
            FormulaNode::One(parts) => {
                let parts = collect(parts);
                self.one(parts.into_vec())
            }
        }
    }
}

#[cfg(test)]
mod tests;
