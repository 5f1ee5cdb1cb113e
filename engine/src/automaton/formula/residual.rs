//! Derivatives of formulas: the residual formula of an object or array after a member or an item has been read.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Algebra, AssertionId, Atom, AtomKind, FormulaId, Keys, TextId};
use crate::strings::LanguageId;
use smallvec::SmallVec;

/// The key of a member that is read or considered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MemberKey<'a> {
    /// A key that is known.
    Known(TextId),
    /// Any key that no atom mentions by itself, and that is in exactly these of the languages that atoms speak of.
    In(&'a [LanguageId]),
}

/// The change of an atom when a member is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AtomChange {
    /// The atom becomes this formula, whatever the member's value is.
    Now(FormulaId),
    /// The atom is decided by whether the member's value satisfies an assertion.
    Only(AssertionId),
    /// The atom stays if the member's value satisfies an assertion, and becomes false otherwise.
    OneOf(AssertionId),
}

/// The atoms that a member changes, with the changes.
pub(crate) type ReadByMember = SmallVec<[(Atom, AtomChange); 8]>;

/// Number of a formula's atoms from which on those of a key are looked up in a table instead of scanned.
const ATOMS_WORTH_LOOKUP: usize = 16;

/// Number of pairs of a language and a key for which it is remembered whether the key is in the language.
const KEPT_COVERED: usize = 1 << 16;

impl Algebra {
    /// Whether a member's key is among `keys`.
    pub(crate) fn covers(&mut self, keys: Keys, name: MemberKey<'_>) -> Result<bool, AutomatonError> {
        match (keys, name) {
            (Keys::Name(one), MemberKey::Known(name)) => Ok(one == name),
            (Keys::Name(_), MemberKey::In(_)) => Ok(false),
            (Keys::Language(language), MemberKey::In(languages)) => Ok(languages.contains(&language)),
            (Keys::Language(language), MemberKey::Known(name)) => {
                if let Some(Some(list)) = self.key_memo.enumerated.get(&language) {
                    return Ok(list.has(name));
                }
                if let Some(&known) = self.key_memo.covered.get(&(language, name)) {
                    return Ok(known);
                }
                let covered = self.languages.contains(language, self.texts.get(name))?;
                if self.key_memo.covered.len() >= KEPT_COVERED {
                    self.key_memo.covered.clear();
                }
                self.key_memo.covered.insert((language, name), covered);
                Ok(covered)
            }
        }
    }

    /// Whether a key is in a language, if that has been found out; `false` if not.
    pub(crate) fn is_known_to_cover(&self, language: LanguageId, name: TextId) -> bool {
        match self.key_memo.enumerated.get(&language) {
            Some(Some(list)) => list.has(name),
            _ => self.key_memo.covered.get(&(language, name)) == Some(&true),
        }
    }

    /// The assertions that the value of a member must be judged by so that `formulas` can be updated afterwards;
    /// sorted.
    pub(crate) fn assertions_of_member(
        &mut self,
        formulas: &[FormulaId],
        name: MemberKey<'_>,
    ) -> Result<Vec<AssertionId>, AutomatonError> {
        let mut assertions = Vec::new();
        for (place, formula) in formulas.iter().enumerate() {
            if formulas[..place].contains(formula) {
                continue;
            }
            let atoms = self.formulas.atoms(*formula).len();
            if let MemberKey::Known(name) = name
                && atoms > ATOMS_WORTH_LOOKUP
                && let Some(plain) = self.independent_keys(*formula)
            {
                self.assertions_of_key(&plain, name, &mut assertions)?;
                continue;
            }
            for place in 0..atoms {
                if let AtomKind::Members(keys, assertion) = self.atoms.kind(self.formulas.atoms(*formula)[place])
                    && self.covers(keys, name)?
                {
                    assertions.push(assertion);
                }
            }
        }
        assertions.sort_unstable();
        assertions.dedup();
        Ok(assertions)
    }

    /// The assertions that the next item of an array must be judged by so that `formulas` can be updated afterwards;
    /// sorted.
    pub(crate) fn assertions_of_item(&self, formulas: &[FormulaId]) -> Vec<AssertionId> {
        let atoms = formulas.iter().flat_map(|formula| self.formulas.atoms(*formula));
        let kinds = atoms.map(|atom| self.atoms.kind(*atom));
        let mut assertions: Vec<AssertionId> = kinds
            .filter_map(|kind| match kind {
                AtomKind::Items { from: 0, assertion, .. } | AtomKind::Contains(assertion, _) => Some(assertion),
                _ => None,
            })
            .collect();
        assertions.sort_unstable();
        assertions.dedup();
        assertions
    }

    /// The residual of `formula` after a member whose value has these verdicts.
    pub(crate) fn after_member(
        &mut self,
        formula: FormulaId,
        name: MemberKey<'_>,
        verdict: &dyn Fn(AssertionId) -> bool,
    ) -> Result<FormulaId, AutomatonError> {
        let read = self.read_by_member(formula, name)?;
        Ok(self.after_read(formula, &read, verdict))
    }

    /// The atoms of `formula` that a member with this key changes, whatever its value.
    pub(crate) fn read_by_member(
        &mut self,
        formula: FormulaId,
        name: MemberKey<'_>,
    ) -> Result<ReadByMember, AutomatonError> {
        let mut read = ReadByMember::new();
        for place in 0..self.formulas.atoms(formula).len() {
            let atom = self.formulas.atoms(formula)[place];
            match self.atoms.kind(atom) {
                AtomKind::Has(one) if matches!(name, MemberKey::Known(name) if name == one) => {
                    read.push((atom, AtomChange::Now(FormulaId::TRUE)));
                }
                AtomKind::CountAtLeast(count) => {
                    read.push((atom, AtomChange::Now(self.counted(count, AtomKind::CountAtLeast))));
                }
                AtomKind::Members(keys @ Keys::Name(_), assertion) if self.covers(keys, name)? => {
                    read.push((atom, AtomChange::Only(assertion)));
                }
                AtomKind::Members(keys @ Keys::Language(_), assertion) if self.covers(keys, name)? => {
                    read.push((atom, AtomChange::OneOf(assertion)));
                }
                _ => {}
            }
        }
        Ok(read)
    }

    /// The residual of `formula` after a member that makes the changes `read`, and whose value has these verdicts.
    pub(crate) fn after_read(
        &mut self,
        formula: FormulaId,
        read: &[(Atom, AtomChange)],
        verdict: &dyn Fn(AssertionId) -> bool,
    ) -> FormulaId {
        self.after_read_as(formula, read, &|assertion| FormulaId::constant(verdict(assertion)))
    }

    /// The residual of `formula` after a member that makes the changes `read`, where the formula `verdict` says whether
    /// the member's value satisfies an assertion.
    pub(crate) fn after_read_as(
        &mut self,
        formula: FormulaId,
        read: &[(Atom, AtomChange)],
        verdict: &dyn Fn(AssertionId) -> FormulaId,
    ) -> FormulaId {
        let mut changes = SmallVec::<[_; 8]>::new();
        for &(atom, reading) in read {
            match reading {
                AtomChange::Now(now) => changes.push((atom, now)),
                AtomChange::Only(assertion) => changes.push((atom, verdict(assertion))),
                AtomChange::OneOf(assertion) => match verdict(assertion) {
                    FormulaId::TRUE => {}
                    FormulaId::FALSE => changes.push((atom, FormulaId::FALSE)),
                    holds => {
                        let others = self.atom(self.atoms.kind(atom));
                        changes.push((atom, self.formulas.and([others, holds])));
                    }
                },
            }
        }
        self.formulas.replace(formula, &changes)
    }

    /// Whether one of the formulas depends on whether all items differ.
    pub(crate) fn asks_unique(&mut self, formulas: &[FormulaId]) -> bool {
        let unique = self.atoms.intern(AtomKind::Unique);
        let mut formulas = formulas.iter();
        formulas.any(|formula| self.formulas.atoms(*formula).binary_search(&unique).is_ok())
    }

    /// The residual of `formula` once it is known whether all items differ.
    pub(crate) fn with_unique(&mut self, formula: FormulaId, unique: bool) -> FormulaId {
        let atom = self.atoms.intern(AtomKind::Unique);
        self.formulas.substitute(formula, &mut |other| {
            (other == atom).then_some(FormulaId::constant(unique))
        })
    }

    /// The residual of `formula` after an item whose value has these verdicts; `repeats` says whether it equals an
    /// earlier item.
    pub(crate) fn after_item(
        &mut self,
        formula: FormulaId,
        verdict: &dyn Fn(AssertionId) -> bool,
        repeats: bool,
    ) -> FormulaId {
        // Deciding atoms first leaves few atoms to shift in the formula of an `enum`.
        let atoms = &self.atoms;
        let formula = self.formulas.substitute(formula, &mut |atom| match atoms.kind(atom) {
            AtomKind::LengthAtLeast(0 | 1) => Some(FormulaId::TRUE),
            AtomKind::Contains(assertion, 0 | 1) if verdict(assertion) => Some(FormulaId::TRUE),
            AtomKind::Unique if repeats => Some(FormulaId::FALSE),
            AtomKind::Items { from: 0, assertion, .. } if !verdict(assertion) => Some(FormulaId::FALSE),
            AtomKind::Items { to: Some(1), .. } => Some(FormulaId::TRUE),
            _ => None,
        });
        let mut changes = SmallVec::<[_; 8]>::new();
        for place in 0..self.formulas.atoms(formula).len() {
            let atom = self.formulas.atoms(formula)[place];
            let next = match self.atoms.kind(atom) {
                AtomKind::LengthAtLeast(count) => AtomKind::LengthAtLeast(count - 1),
                AtomKind::Contains(assertion, count) if verdict(assertion) => AtomKind::Contains(assertion, count - 1),
                AtomKind::Items { from: 0, to: None, .. } => continue,
                AtomKind::Items { from, to, assertion } => AtomKind::Items {
                    from: from.saturating_sub(1),
                    to: to.map(|to| to - 1),
                    assertion,
                },
                _ => continue,
            };
            changes.push((atom, self.atom(next)));
        }
        self.formulas.replace(formula, &changes)
    }

    /// The condition on an array with the item at an index put before all others that the array as it was meets the formula.
    pub(crate) fn with_item_first(&mut self, formula: FormulaId, place: u64) -> FormulaId {
        let mut changes = SmallVec::<[_; 8]>::new();
        for atom in self.formulas.atoms(formula).to_vec() {
            let AtomKind::Items { from, to, assertion } = self.atoms.kind(atom) else {
                continue;
            };
            let shifted = |index: u64| index + u64::from(index <= place);
            let mut parts = Vec::new();
            if from <= place && to.is_none_or(|to| to > place) {
                parts.push(self.items(0, Some(1), assertion));
            }
            let (from, to) = (shifted(from), to.map(shifted));
            if to.is_none_or(|to| from < to) {
                parts.push(self.items(from, to, assertion));
            }
            changes.push((atom, self.formulas.and(parts)));
        }
        let moved = self.formulas.replace(formula, &changes);
        let has = self.atom(AtomKind::LengthAtLeast(place + 1));
        self.formulas.and([moved, has])
    }

    /// The residual of a formula that does not ask whether items differ after one more item, where the formula `verdict`
    /// says whether the item satisfies an assertion.
    pub(crate) fn after_item_as(
        &mut self,
        formula: FormulaId,
        verdict: &dyn Fn(AssertionId) -> FormulaId,
    ) -> FormulaId {
        let mut changes = SmallVec::<[_; 8]>::new();
        for place in 0..self.formulas.atoms(formula).len() {
            let atom = self.formulas.atoms(formula)[place];
            let next = match self.atoms.kind(atom) {
                AtomKind::LengthAtLeast(count) => self.counted(count, AtomKind::LengthAtLeast),
                AtomKind::Contains(assertion, count) => {
                    let one_less = self.counted(count, |count| AtomKind::Contains(assertion, count));
                    let counts = self.formulas.and([verdict(assertion), one_less]);
                    let still = self.atom(AtomKind::Contains(assertion, count));
                    self.formulas.or([counts, still])
                }
                AtomKind::Items { from, to, assertion } => {
                    let others = match to {
                        Some(1) => FormulaId::TRUE,
                        _ => self.atom(AtomKind::Items {
                            from: from.saturating_sub(1),
                            to: to.map(|to| to - 1),
                            assertion,
                        }),
                    };
                    match from {
                        0 => self.formulas.and([verdict(assertion), others]),
                        _ => others,
                    }
                }
                _ => continue,
            };
            changes.push((atom, next));
        }
        self.formulas.replace(formula, &changes)
    }

    /// The formula that an atom "at least `count`" becomes after one more member.
    fn counted(&mut self, count: u64, kind: impl Fn(u64) -> AtomKind) -> FormulaId {
        match count {
            0 | 1 => FormulaId::TRUE,
            _ => self.atom(kind(count - 1)),
        }
    }

    /// The truth value of a formula if the object or array ends here.
    pub(crate) fn at_end(&self, formula: FormulaId) -> bool {
        self.formulas.at_end(formula)
    }
}
