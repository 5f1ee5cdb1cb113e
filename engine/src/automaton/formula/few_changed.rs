//! [`FewChanged`]: a formula partially evaluated under a default truth value of each atom, for many evaluations that differ in few atoms.
//!
//! An assertion with few values, such as the constant that tells an alternative from the others, is false of almost all
//! values, and most keys that a schema lists do not come. So the residual formulas for one value or key after the
//! other differ in few parts, and only these are replaced.

use crate::automaton::formula::boolean::{Atom, FormulaId, FormulaNode, Formulas};
use hashbrown::HashMap;

/// Number of atoms from which on a part is taken apart itself.
const ATOMS_WORTH_TAKING_APART: usize = 8;

/// Number of levels of parts that are taken apart.
const MAX_LEVELS: usize = 4;

/// The connective of a formula, by which its truth value follows from those of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    And,
    Or,
    One,
}

/// An atom with its truth value; `None` if it is left as it is.
pub(crate) type ChangedAtom = (Atom, Option<bool>);

/// A formula in which atoms have the truth values of a function unless they are said to be changed.
#[derive(Debug)]
pub(crate) enum FewChanged {
    /// A formula that is replaced as a whole, with the truth values of its atoms.
    Whole(FormulaId, HashMap<Atom, bool>),
    /// A formula that is replaced part by part.
    Parts(Parts),
}

#[derive(Debug)]
pub(crate) struct Parts {
    join: Join,
    is_negated: bool,
    parts: Vec<FewChanged>,
    /// The parts as they are where no atom is changed, without those that then make no difference.
    otherwise: Vec<(usize, FormulaId)>,
    /// The indices of the parts that an atom with a truth value occurs in.
    places: HashMap<Atom, Vec<usize>>,
}

impl FewChanged {
    /// A formula in which no atom has a truth value.
    pub(crate) fn unchanged(formula: FormulaId) -> Self {
        Self::Whole(formula, HashMap::new())
    }

    /// Takes a formula apart whose atoms have the truth values that `value` says; `None` if it leaves an atom as it is.
    pub(crate) fn new(formulas: &mut Formulas, formula: FormulaId, value: &dyn Fn(Atom) -> Option<bool>) -> Self {
        Self::within(formulas, formula, value, MAX_LEVELS)
    }

    fn within(
        formulas: &mut Formulas,
        formula: FormulaId,
        value: &dyn Fn(Atom) -> Option<bool>,
        levels: usize,
    ) -> Self {
        let atoms = formulas.atoms(formula).iter();
        let atoms: HashMap<Atom, bool> = atoms.filter_map(|atom| Some((*atom, value(*atom)?))).collect();
        let (node, is_negated) = match formulas.node(formula) {
            FormulaNode::Not(inner) => (formulas.node(*inner), true),
            node => (node, false),
        };
        let (join, parts) = match node {
            _ if levels == 0 || atoms.len() < ATOMS_WORTH_TAKING_APART => {
                return Self::Whole(formula, atoms);
            }
            FormulaNode::And(parts) => (Join::And, parts.to_vec()),
            FormulaNode::Or(parts) => (Join::Or, parts.to_vec()),
            FormulaNode::One(parts) => (Join::One, parts.to_vec()),
            _ => return Self::Whole(formula, atoms),
        };
        let neutral = FormulaId::constant(join == Join::And);
        let (mut otherwise, mut places) = (Vec::new(), HashMap::<Atom, Vec<usize>>::new());
        let mut apart = Vec::with_capacity(parts.len());
        for (place, part) in parts.into_iter().enumerate() {
            for &atom in formulas.atoms(part).iter().filter(|atom| atoms.contains_key(*atom)) {
                places.entry(atom).or_default().push(place);
            }
            let part = Self::within(formulas, part, value, levels - 1);
            let alone = part.with(formulas, &[]);
            if alone != neutral {
                otherwise.push((place, alone));
            }
            apart.push(part);
        }
        Self::Parts(Parts {
            join,
            is_negated,
            parts: apart,
            otherwise,
            places,
        })
    }

    /// The formula with some atoms changed and all others as they were said to be.
    pub(crate) fn with(&self, formulas: &mut Formulas, changed: &[ChangedAtom]) -> FormulaId {
        match self {
            Self::Whole(formula, atoms) if atoms.is_empty() => *formula,
            Self::Whole(formula, atoms) => formulas.substitute(*formula, &mut |atom| {
                let value = *atoms.get(&atom)?;
                let changed = changed.iter().find(|(other, _)| *other == atom);
                changed
                    .map_or(Some(value), |(_, value)| *value)
                    .map(FormulaId::constant)
            }),
            Self::Parts(parts) => parts.with(formulas, changed),
        }
    }
}

impl Parts {
    fn with(&self, formulas: &mut Formulas, changed: &[ChangedAtom]) -> FormulaId {
        let places = changed.iter().filter_map(|(atom, _)| self.places.get(atom)).flatten();
        let mut places: Vec<usize> = places.copied().collect();
        places.sort_unstable();
        places.dedup();
        let others = self
            .otherwise
            .iter()
            .filter(|(place, _)| places.binary_search(place).is_err());
        let mut parts: Vec<FormulaId> = others.map(|(_, part)| *part).collect();
        for place in places {
            parts.push(self.parts[place].with(formulas, changed));
        }
        let joined = match self.join {
            Join::And => formulas.and(parts),
            Join::Or => formulas.or(parts),
            Join::One => formulas.one(parts),
        };
        match self.is_negated {
            true => formulas.not(joined),
            false => joined,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replacing formulas part by part gives the result of replacing them as a whole, for formulas of each kind with negations
    /// and shared atoms.
    #[test]
    fn parts_are_replaced_as_the_whole_is() {
        let mut formulas = Formulas::default();
        let atoms: Vec<FormulaId> = (0..24).map(|at| formulas.atom(Atom(at), false)).collect();
        let mut pairs = Vec::new();
        for at in 0..12 {
            let not = formulas.not(atoms[(at + 5) % 24]);
            pairs.push(formulas.and([atoms[at], atoms[12 + at]]));
            pairs.push(formulas.or([not, atoms[(7 * at + 3) % 24]]));
        }
        let any = formulas.or(pairs[..12].iter().copied());
        let one = formulas.one(pairs[12..].to_vec());
        let none = formulas.not(any);
        let inner = formulas.and([none, pairs[3], one]);
        let both = formulas.and([any, one, pairs[1]]);
        let outer = formulas.or([inner, both]);
        let value = |atom: Atom| (atom.0 % 3 != 2).then_some(atom.0.is_multiple_of(5));
        for formula in [any, one, none, inner, both, outer] {
            let apart = FewChanged::new(&mut formulas, formula, &value);
            for first in 0..24 {
                let changed = [(Atom(first), Some(first % 5 != 0)), (Atom((first + 7) % 24), None)];
                for changed in [&changed[..], &changed[..1], &changed[1..], &[]] {
                    let value = &mut |atom: Atom| {
                        let otherwise = value(atom)?;
                        let changed = changed.iter().find(|(other, _)| *other == atom);
                        changed
                            .map_or(Some(otherwise), |(_, value)| *value)
                            .map(FormulaId::constant)
                    };
                    let whole = formulas.substitute(formula, value);
                    assert_eq!(apart.with(&mut formulas, changed), whole, "{formula:?} {changed:?}");
                }
            }
        }
    }
}
