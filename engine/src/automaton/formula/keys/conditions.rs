//! Recognises formulas that judge each key by itself: those of independent-key objects.
//!
//! Most schemas of objects only require keys, refuse keys, and constrain the values of keys. Then neither the order of the
//! members nor their combination matters: the formula stays the same while the object is read, and only the set of keys seen
//! changes. Results for one order of members hold for all.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Algebra, AssertionId, AtomKind, FormulaId, IndependentKeys, Keys, MemberKey, TextId};
use std::sync::Arc;

/// Number of formulas whose [`IndependentKeys`] are remembered.
const KEPT_FORMULAS: usize = 1 << 14;

impl Algebra {
    /// The conditions of a formula that judges each key by itself: required keys, refused keys, assertions on members,
    /// and bounds on the number of members. `None` if the formula says anything else.
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
        let mut plain = IndependentKeys::default();
        for &part in self.formulas.conjuncts(&formula) {
            let (atom, wanted) = self.formulas.literal(part)?;
            match (self.atoms.kind(atom), wanted) {
                (AtomKind::Has(name), true) => plain.required.push(name),
                (AtomKind::Has(name), false) => plain.refused.push(name),
                (AtomKind::Members(Keys::Name(name), assertion), true) => plain.assertions.push((name, assertion)),
                (AtomKind::Members(Keys::Language(names), assertion), true) => plain.languages.push((names, assertion)),
                (AtomKind::CountAtLeast(count), true) => plain.min = plain.min.max(count),
                (AtomKind::CountAtLeast(count), false) => plain.over = plain.over.min(count),
                _ => return None,
            }
        }
        plain.required.sort_unstable();
        plain.refused.sort_unstable();
        plain.assertions.sort_unstable();
        Some(plain)
    }

    /// Alternatives that are together equivalent to a formula, each of which judges each key by itself: the formula, if it
    /// does so as a whole. `None` if one of them says more than that.
    pub(crate) fn independent_alternatives(&mut self, formula: FormulaId) -> Option<Vec<FormulaId>> {
        if self.independent_keys(formula).is_some() {
            return Some(vec![formula]);
        }
        let is_plain = |part: &FormulaId| {
            let mut literals = self
                .formulas
                .conjuncts(part)
                .iter()
                .map(|one| self.formulas.literal(*one));
            literals.all(|one| match one.map(|(atom, wanted)| (self.atoms.kind(atom), wanted)) {
                Some((AtomKind::Has(_) | AtomKind::CountAtLeast(_), _)) => true,
                Some((AtomKind::Members(..), wanted)) => wanted,
                _ => false,
            })
        };
        let parts = self.formulas.conjuncts(&formula);
        let (common, either): (Vec<FormulaId>, Vec<FormulaId>) = parts.iter().partition(|part| is_plain(part));
        let [either] = either[..] else { return None };
        let alternatives = self.formulas.disjuncts(&either).to_vec();
        if !alternatives.iter().all(is_plain) {
            return None;
        }
        let with_common = |alternative| self.formulas.and([&common[..], &[alternative]].concat());
        Some(alternatives.into_iter().map(with_common).collect())
    }

    /// The residual of a formula after a member, if no other member with its key can come. In an independent-key object
    /// a member that is not required leaves the formula unchanged.
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

    /// Adds the assertions on the value of this key in an independent-key object to `assertions`.
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
