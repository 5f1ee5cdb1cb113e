//! Formulas of values that the schema leaves unconstrained, with the style's bound on their depth; and whether a schema bounds
//! the size of a container itself.

use crate::automaton::formula::{Algebra, Assertion, AtomKind, Constraint, FormulaId, Keys};

impl Algebra {
    /// The formula of an array or object on which the schema says nothing, within `level` others.
    pub(crate) fn free_container(&mut self, level: u8, array: bool) -> FormulaId {
        let Some(depth) = self.style.bounds.free_depth else {
            return FormulaId::TRUE;
        };
        if level >= depth {
            let some = self.atom(match array {
                true => AtomKind::LengthAtLeast(1),
                false => AtomKind::CountAtLeast(1),
            });
            return self.formulas.not(some);
        }
        let inner = self.assertions.intern(Assertion::Free(level + 1));
        match array {
            true => self.items(0, None, inner),
            false => {
                let any = self.languages.any();
                self.members(Keys::Language(any), inner)
            }
        }
    }

    /// The constraint of a value within so many containers on which the schema says nothing.
    pub(super) fn free_value(&mut self, level: u8) -> Constraint {
        let arrays = self.free_container(level, true);
        let objects = self.free_container(level, false);
        let at = usize::from(level);
        if self.free_formulas.len() <= at {
            self.free_formulas.resize(at + 1, (FormulaId::FALSE, FormulaId::FALSE));
        }
        self.free_formulas[at] = (arrays, objects);
        let all = self.everything();
        Constraint { arrays, objects, ..all }
    }

    /// The number of free containers around a value whose arrays and objects have these formulas; `None` for values on
    /// which the schema says something, and outside of free containers.
    pub(crate) fn free_level(&self, arrays: FormulaId, objects: FormulaId) -> Option<u8> {
        if arrays.decided().is_some() {
            return None;
        }
        let level = self
            .free_formulas
            .iter()
            .position(|known| *known == (arrays, objects))?;
        u8::try_from(level).ok()
    }

    /// Whether a formula says how many items an array may have at most.
    pub(crate) fn has_most_items(&mut self, formula: FormulaId) -> bool {
        self.is_false_if(formula, |kind| matches!(kind, AtomKind::LengthAtLeast(_)))
    }

    /// Whether a formula says how many members an object may have at most.
    pub(crate) fn has_most_members(&mut self, formula: FormulaId) -> bool {
        self.is_false_if(formula, |kind| matches!(kind, AtomKind::CountAtLeast(_)))
    }

    /// Whether a formula cannot be true where all atoms of some kinds are.
    fn is_false_if(&mut self, formula: FormulaId, are_true: impl Fn(AtomKind) -> bool) -> bool {
        let atoms = &self.atoms;
        let left = self.formulas.substitute(formula, &mut |atom| {
            are_true(atoms.kind(atom)).then_some(FormulaId::TRUE)
        });
        left == FormulaId::FALSE
    }
}
