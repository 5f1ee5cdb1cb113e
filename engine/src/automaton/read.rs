//! What is left of a formula after a member or an item has been read.

use smallvec::SmallVec;

use super::atom::{AtomKind, Keys, TextId};
use super::formula::{Atom, FormulaId};
use super::goal::GoalId;
use super::{Automaton, Trouble};
use crate::strings::LanguageId;

/// The name of a member that is read, or that is thought of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name<'a> {
    /// This one.
    Known(TextId),
    /// One that no atom names, in these of the languages that atoms speak of.
    In(&'a [LanguageId]),
}

/// What an atom becomes with a member.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    /// This, whatever the value is.
    Now(FormulaId),
    /// Whether the value satisfies a goal.
    Only(GoalId),
    /// It stays as it is if the value satisfies a goal, and is refuted otherwise.
    OneOf(GoalId),
}

/// Atoms that a member changes.
pub(super) type ReadByMember = SmallVec<[(Atom, Reading); 8]>;

/// Atoms from which on those of a name are looked up.
const MANY: usize = 16;

impl Automaton {
    /// Whether a name is among `keys`.
    pub(super) fn covers(&mut self, keys: Keys, name: Name<'_>) -> Result<bool, Trouble> {
        match (keys, name) {
            (Keys::Name(one), Name::Known(name)) => Ok(one == name),
            (Keys::Name(_), Name::In(_)) => Ok(false),
            (Keys::Language(language), Name::In(languages)) => Ok(languages.contains(&language)),
            (Keys::Language(language), Name::Known(name)) => {
                if let Some(Some(list)) = self.lists.get(&language) {
                    return Ok(list.has(name));
                }
                if let Some(&known) = self.covered.get(&(language, name)) {
                    return Ok(known);
                }
                let covered = self.languages.contains(language, self.texts.get(name))?;
                self.covered.insert((language, name), covered);
                Ok(covered)
            }
        }
    }

    /// The goals that the value of a member must be read with, so that `formulas` can be told of it; sorted.
    pub(super) fn goals_of_member(&mut self, formulas: &[FormulaId], name: Name<'_>) -> Result<Vec<GoalId>, Trouble> {
        let mut goals = Vec::new();
        for (place, formula) in formulas.iter().enumerate() {
            if formulas[..place].contains(formula) {
                continue;
            }
            let atoms = self.formulas.atoms(*formula).len();
            if let Name::Known(name) = name
                && atoms > MANY
                && let Some(plain) = self.plain(*formula)
            {
                self.plain_goals(&plain, name, &mut goals)?;
                continue;
            }
            for place in 0..atoms {
                if let AtomKind::Members(keys, goal) = self.atoms.kind(self.formulas.atoms(*formula)[place])
                    && self.covers(keys, name)?
                {
                    goals.push(goal);
                }
            }
        }
        goals.sort_unstable();
        goals.dedup();
        Ok(goals)
    }

    /// The same for the next item of an array.
    pub(super) fn goals_of_item(&self, formulas: &[FormulaId]) -> Vec<GoalId> {
        let kinds = self.atoms_of(formulas).into_iter().map(|atom| self.atoms.kind(atom));
        let mut goals: Vec<GoalId> = kinds
            .filter_map(|kind| match kind {
                AtomKind::Items { from: 0, goal, .. } | AtomKind::Contains(goal, _) => Some(goal),
                _ => None,
            })
            .collect();
        goals.sort_unstable();
        goals.dedup();
        goals
    }

    fn atoms_of(&self, formulas: &[FormulaId]) -> Vec<Atom> {
        let mut atoms: Vec<Atom> = formulas
            .iter()
            .flat_map(|formula| self.formulas.atoms(*formula).iter().copied())
            .collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// What is left of `formula` after a member whose value has these outcomes.
    pub(super) fn after_member(
        &mut self,
        formula: FormulaId,
        name: Name<'_>,
        outcome: &dyn Fn(GoalId) -> bool,
    ) -> Result<FormulaId, Trouble> {
        let read = self.read_by_member(formula, name)?;
        Ok(self.after_read(formula, &read, outcome))
    }

    /// The atoms of `formula` that a member of this name changes, whatever its value.
    pub(super) fn read_by_member(&mut self, formula: FormulaId, name: Name<'_>) -> Result<ReadByMember, Trouble> {
        let mut read = ReadByMember::new();
        for place in 0..self.formulas.atoms(formula).len() {
            let atom = self.formulas.atoms(formula)[place];
            match self.atoms.kind(atom) {
                AtomKind::Has(one) if matches!(name, Name::Known(name) if name == one) => {
                    read.push((atom, Reading::Now(FormulaId::TRUE)));
                }
                AtomKind::CountAtLeast(count) => {
                    read.push((atom, Reading::Now(self.counted(count, AtomKind::CountAtLeast))));
                }
                AtomKind::Members(keys @ Keys::Name(_), goal) if self.covers(keys, name)? => {
                    read.push((atom, Reading::Only(goal)));
                }
                AtomKind::Members(keys @ Keys::Language(_), goal) if self.covers(keys, name)? => {
                    read.push((atom, Reading::OneOf(goal)));
                }
                _ => {}
            }
        }
        Ok(read)
    }

    /// What is left of `formula` after a member that changes these of its atoms, and whose value has these outcomes.
    pub(super) fn after_read(
        &mut self,
        formula: FormulaId,
        read: &[(Atom, Reading)],
        outcome: &dyn Fn(GoalId) -> bool,
    ) -> FormulaId {
        let mut changes = SmallVec::<[_; 8]>::new();
        for &(atom, reading) in read {
            match reading {
                Reading::Now(now) => changes.push((atom, now)),
                Reading::Only(goal) => changes.push((atom, FormulaId::constant(outcome(goal)))),
                Reading::OneOf(goal) if outcome(goal) => {}
                Reading::OneOf(_) => changes.push((atom, FormulaId::FALSE)),
            }
        }
        self.formulas.replace(formula, &changes)
    }

    /// Whether it matters to one of the formulas that items differ.
    pub(super) fn asks_unique(&mut self, formulas: &[FormulaId]) -> bool {
        let unique = self.atoms.intern(AtomKind::Unique);
        let mut formulas = formulas.iter();
        formulas.any(|formula| self.formulas.atoms(*formula).binary_search(&unique).is_ok())
    }

    /// `formula` where it is known whether all items differ.
    pub(super) fn with_unique(&mut self, formula: FormulaId, unique: bool) -> FormulaId {
        let atom = self.atoms.intern(AtomKind::Unique);
        self.formulas.substitute(formula, &mut |other| {
            (other == atom).then_some(FormulaId::constant(unique))
        })
    }

    /// What is left of `formula` after an item whose value has these outcomes, and which `repeats` one before it.
    pub(super) fn after_item(
        &mut self,
        formula: FormulaId,
        outcome: &dyn Fn(GoalId) -> bool,
        repeats: bool,
    ) -> FormulaId {
        // What is decided first leaves little to move on in an `enum`.
        let atoms = &self.atoms;
        let formula = self.formulas.substitute(formula, &mut |atom| match atoms.kind(atom) {
            AtomKind::LengthAtLeast(0 | 1) => Some(FormulaId::TRUE),
            AtomKind::Contains(goal, 0 | 1) if outcome(goal) => Some(FormulaId::TRUE),
            AtomKind::Unique if repeats => Some(FormulaId::FALSE),
            AtomKind::Items { from: 0, goal, .. } if !outcome(goal) => Some(FormulaId::FALSE),
            AtomKind::Items { to: Some(1), .. } => Some(FormulaId::TRUE),
            _ => None,
        });
        let mut changes = SmallVec::<[_; 8]>::new();
        for place in 0..self.formulas.atoms(formula).len() {
            let atom = self.formulas.atoms(formula)[place];
            let next = match self.atoms.kind(atom) {
                AtomKind::LengthAtLeast(count) => AtomKind::LengthAtLeast(count - 1),
                AtomKind::Contains(goal, count) if outcome(goal) => AtomKind::Contains(goal, count - 1),
                AtomKind::Items { from: 0, to: None, .. } => continue,
                AtomKind::Items { from, to, goal } => AtomKind::Items {
                    from: from.saturating_sub(1),
                    to: to.map(|to| to - 1),
                    goal,
                },
                _ => continue,
            };
            changes.push((atom, self.atom(next)));
        }
        self.formulas.replace(formula, &changes)
    }

    /// What an "at least `count`" becomes after one of them.
    fn counted(&mut self, count: u64, kind: impl Fn(u64) -> AtomKind) -> FormulaId {
        match count {
            0 | 1 => FormulaId::TRUE,
            _ => self.atom(kind(count - 1)),
        }
    }

    /// What a formula comes to where the object or array ends here.
    pub(super) fn at_end(&self, formula: FormulaId) -> bool {
        self.formulas.at_end(formula)
    }
}
