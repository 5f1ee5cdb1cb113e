//! IndependentKeys objects: those of which each name is a matter by itself, so that whether they can be completed is seen without
//! a search.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::algebra::Algebra;
use crate::automaton::formula::assertion::AssertionId;
use crate::automaton::formula::atom::{AtomKind, Keys};
use crate::automaton::formula::boolean::FormulaId;
use crate::automaton::formula::keys::independent::IndependentKeys;
use crate::automaton::formula::read::MemberKey;
use crate::automaton::formula::texts::TextId;
use hashbrown::HashSet;
use smallvec::SmallVec;
use std::sync::Arc;

/// IndependentKeys objects that are kept.
const MOST_KEPT: usize = 1 << 14;

/// Alternatives that are looked at one by one.
const MOST_ALTERNATIVES: usize = 16;

impl Algebra {
    /// What a formula says that asks only for names that must come, for names that must not, for members that satisfy
    /// assertions, and for numbers of members: in such an object each name is a matter by itself. None of other formulas.
    pub(crate) fn plain(&mut self, formula: FormulaId) -> Option<Arc<IndependentKeys>> {
        if let Some(known) = self.key_memo.independent.get(&formula) {
            return known.clone();
        }
        let plain = self.read_plain(formula).map(Arc::new);
        if self.key_memo.independent.len() >= MOST_KEPT {
            self.key_memo.independent.clear();
        }
        self.key_memo.independent.insert(formula, plain.clone());
        plain
    }

    fn read_plain(&self, formula: FormulaId) -> Option<IndependentKeys> {
        let (plain, others) = self.split_plain(formula);
        others.is_empty().then_some(plain)
    }

    /// What a formula says of each name by itself, and the other parts of which all must hold.
    fn split_plain(&self, formula: FormulaId) -> (IndependentKeys, SmallVec<[FormulaId; 4]>) {
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

    /// What a formula says of each name by itself where the number of members does not count, and the names that its other
    /// parts name: a member of any other name makes no difference to these, so that it may come if it may beside the rest
    /// of what is said of it. None where the other parts speak of more than names.
    pub(crate) fn mostly_plain(&self, formula: FormulaId) -> Option<(IndependentKeys, HashSet<TextId>)> {
        let (plain, others) = self.split_plain(formula);
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

    /// What says together as much as a formula, by alternatives of which each speaks of each name by itself, and of no
    /// number of members; none where they are many, or one says more.
    pub(crate) fn plain_alternatives(&mut self, formula: FormulaId) -> Option<Vec<FormulaId>> {
        let parts = self.formulas.conjuncts(&formula);
        let is_plain = |part: &FormulaId| self.is_plain(*part);
        let (common, either): (Vec<FormulaId>, Vec<FormulaId>) = parts.iter().partition(|part| is_plain(part));
        let [either] = either[..] else { return None };
        let alternatives = self.formulas.disjuncts(&either).to_vec();
        if alternatives.len() > MOST_ALTERNATIVES || !alternatives.iter().all(is_plain) {
            return None;
        }
        let with_common = |alternative| self.formulas.and([&common[..], &[alternative]].concat());
        Some(alternatives.into_iter().map(with_common).collect())
    }

    /// Whether `formula` says no more than [`plain`](Self::plain) knows.
    pub(crate) fn is_by_name(&self, formula: FormulaId) -> bool {
        self.says_only(formula, |kind, wanted| match kind {
            AtomKind::Has(_) | AtomKind::CountAtLeast(_) => true,
            AtomKind::Members(..) => wanted,
            _ => false,
        })
    }

    /// The same, and nothing of numbers of members.
    pub(crate) fn is_plain(&self, formula: FormulaId) -> bool {
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

    /// What is left of a formula after a member, where no other of that name will come. One that need not come makes no
    /// difference to others in a plain object: what is asked of it is left as it is.
    pub(crate) fn after_only_member(
        &mut self,
        formula: FormulaId,
        name: TextId,
        verdict: &dyn Fn(AssertionId) -> bool,
    ) -> Result<FormulaId, AutomatonError> {
        if formula.decided().is_some() {
            return Ok(formula);
        }
        let plain = self.plain(formula).filter(|plain| plain.is_of_any_size());
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

    /// Adds what the value of a member of this name must satisfy in a plain object.
    pub(crate) fn plain_assertions(
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
