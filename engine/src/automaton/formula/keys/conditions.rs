//! What a formula asks of each key by itself: recognises independent-key objects.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Algebra, AssertionId, AtomKind, FormulaId, IndependentKeys, Keys, MemberKey, TextId};
use hashbrown::HashSet;
use smallvec::SmallVec;
use std::sync::Arc;

/// Independent-key formulas that are kept.
const KEPT_FORMULAS: usize = 1 << 14;

/// Alternatives that are looked at one by one.
const COMPARED_ALTERNATIVES: usize = 16;

impl Algebra {
    /// What a formula says that asks only for keys that must come, for keys that must not, for members that satisfy
    /// assertions, and for numbers of members: in such an object each key is a matter by itself. None of other
    /// formulas.
    pub(crate) fn independent_keys(&mut self, formula: FormulaId) -> Option<Arc<IndependentKeys>> {
        if let Some(known) = self.key_memo.independent.get(&formula) {
            return known.clone();
        }
        let plain = self.find_independent_keys(formula).map(Arc::new);
        if self.key_memo.independent.len() >= KEPT_FORMULAS {
            self.key_memo.independent.clear();
        }
        self.key_memo.independent.insert(formula, plain.clone());
        plain
    }

    fn find_independent_keys(&self, formula: FormulaId) -> Option<IndependentKeys> {
        let (plain, others) = self.split_by_key(formula);
        others.is_empty().then_some(plain)
    }

    /// What a formula says of each key by itself, and the other parts of which all must hold.
    fn split_by_key(&self, formula: FormulaId) -> (IndependentKeys, SmallVec<[FormulaId; 4]>) {
        let (mut plain, mut others) = (IndependentKeys::default(), SmallVec::new());
        for &part in self.formulas.conjuncts(&formula) {
            let literal = self.formulas.literal(part);
            match literal.map(|(atom, wanted)| (self.atoms.kind(atom), wanted)) {
                Some((AtomKind::Has(name), true)) => plain.required.push(name),
                Some((AtomKind::Has(name), false)) => plain.refused.push(name),
                Some((AtomKind::Members(Keys::Name(name), assertion), true)) => {
                    plain.assertions.push((name, assertion))
                }
                Some((AtomKind::Members(Keys::Language(names), assertion), true)) => {
                    plain.languages.push((names, assertion))
                }
                Some((AtomKind::CountAtLeast(count), true)) => plain.min = plain.min.max(count),
                Some((AtomKind::CountAtLeast(count), false)) => plain.over = plain.over.min(count),
                _ => others.push(part),
            }
        }
        plain.required.sort_unstable();
        plain.refused.sort_unstable();
        plain.assertions.sort_unstable();
        (plain, others)
    }

    /// What a formula says of each key by itself where the number of members does not count, and the keys that its
    /// other parts key: a member of any other key makes no difference to these, so that it may come if it may beside
    /// the rest of what is said of it. None where the other parts speak of more than keys.
    pub(crate) fn mostly_independent(&self, formula: FormulaId) -> Option<(IndependentKeys, HashSet<TextId>)> {
        let (plain, others) = self.split_by_key(formula);
        let mut named = HashSet::new();
        for part in others {
            for &atom in self.formulas.atoms(part) {
                match self.atoms.kind(atom) {
                    AtomKind::Has(name) | AtomKind::Members(Keys::Name(name), _) => named.insert(name),
                    _ => return None,
                };
            }
        }
        plain.is_of_any_size().then_some((plain, named))
    }

    /// What says together as much as a formula, by alternatives of which each speaks of each key by itself, and of no
    /// number of members; none where they are many, or one says more.
    pub(crate) fn independent_alternatives(&mut self, formula: FormulaId) -> Option<Vec<FormulaId>> {
        let parts = self.formulas.conjuncts(&formula);
        let is_plain = |part: &FormulaId| self.is_independent_uncounted(*part);
        let (common, either): (Vec<FormulaId>, Vec<FormulaId>) = parts.iter().partition(|part| is_plain(part));
        let [either] = either[..] else { return None };
        let alternatives = self.formulas.disjuncts(&either).to_vec();
        if alternatives.len() > COMPARED_ALTERNATIVES || !alternatives.iter().all(is_plain) {
            return None;
        }
        let with_common = |alternative| self.formulas.and([&common[..], &[alternative]].concat());
        Some(alternatives.into_iter().map(with_common).collect())
    }

    /// Whether `formula` says no more than [`independent_keys`](Self::independent_keys) knows.
    pub(crate) fn is_independent(&self, formula: FormulaId) -> bool {
        self.says_only(formula, |kind, wanted| match kind {
            AtomKind::Has(_) | AtomKind::CountAtLeast(_) => true,
            AtomKind::Members(..) => wanted,
            _ => false,
        })
    }

    /// Whether a formula is [independent](Self::is_independent) and says nothing of numbers of members.
    pub(crate) fn is_independent_uncounted(&self, formula: FormulaId) -> bool {
        self.says_only(formula, |kind, wanted| match kind {
            AtomKind::Has(_) => true,
            AtomKind::Members(..) => wanted,
            _ => false,
        })
    }

    /// Whether a formula is a conjunction of such atoms and negated atoms.
    fn says_only(&self, formula: FormulaId, admits: fn(AtomKind, bool) -> bool) -> bool {
        let mut parts = self.formulas.conjuncts(&formula).iter();
        parts.all(|part| {
            let literal = self.formulas.literal(*part);
            literal.is_some_and(|(atom, wanted)| admits(self.atoms.kind(atom), wanted))
        })
    }

    /// What is left of a formula after a member, where no other of that key will come. One that need not come makes no
    /// difference to others in an independent-key object: what is asked of it is left as it is.
    pub(crate) fn after_only_member(
        &mut self,
        formula: FormulaId,
        name: TextId,
        verdict: &dyn Fn(AssertionId) -> bool,
    ) -> Result<FormulaId, AutomatonError> {
        if formula.decided().is_some() {
            return Ok(formula);
        }
        let plain = self.independent_keys(formula).filter(|plain| plain.is_of_any_size());
        let Some(plain) = plain.filter(|plain| plain.refused.binary_search(&name).is_err()) else {
            return self.after_member(formula, MemberKey::Known(name), verdict);
        };
        let mut holds = plain.assertions_of(name).all(verdict);
        for &(names, assertion) in &plain.languages {
            holds = holds && (!self.covers(Keys::Language(names), MemberKey::Known(name))? || verdict(assertion));
        }
        if !holds {
            return Ok(FormulaId::FALSE);
        }
        if !plain.requires(name) {
            return Ok(formula);
        }
        if let Some(&known) = self.key_memo.after_required.get(&(formula, name)) {
            return Ok(known);
        }
        let after = self.after_member(formula, MemberKey::Known(name), verdict)?;
        self.key_memo.after_required.insert((formula, name), after);
        Ok(after)
    }

    /// Adds what the value of a member of this key must satisfy in an independent-key object.
    pub(crate) fn assertions_of_key(
        &mut self,
        plain: &IndependentKeys,
        name: TextId,
        assertions: &mut impl Extend<AssertionId>,
    ) -> Result<(), AutomatonError> {
        assertions.extend(plain.assertions_of(name));
        for &(names, assertion) in &plain.languages {
            if self.covers(Keys::Language(names), MemberKey::Known(name))? {
                assertions.extend([assertion]);
            }
        }
        Ok(())
    }
}
