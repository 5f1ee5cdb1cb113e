//! Plain objects: those of which each name is a matter by itself, so that whether they can be completed is seen without
//! a search.

use std::sync::Arc;

use hashbrown::HashSet;
use smallvec::SmallVec;

use crate::automaton::assertion::AssertionId;
use crate::automaton::atom::{AtomKind, Keys, TextId};
use crate::automaton::formula::FormulaId;
use crate::automaton::read::Name;
use crate::automaton::{Automaton, AutomatonError};
use crate::strings::LanguageId;

/// Plain objects that are kept.
const MOST_KEPT: usize = 1 << 14;
/// Alternatives that are looked at one by one.
const MOST_ALTERNATIVES: usize = 16;

/// What a plain object must satisfy. See [`Automaton::plain`].
#[derive(Debug)]
pub(in crate::automaton) struct Plain {
    /// Names that must come, sorted.
    pub(in crate::automaton) required: Vec<TextId>,
    /// Names that must not, sorted.
    refused: Vec<TextId>,
    /// What the values of names must satisfy, sorted.
    assertions: Vec<(TextId, AssertionId)>,
    pub(in crate::automaton) languages: Vec<(LanguageId, AssertionId)>,
    /// Members that there must be at least.
    pub(in crate::automaton) min: u64,
    /// Members that are too many.
    over: u64,
}

impl Default for Plain {
    fn default() -> Self {
        Self {
            required: Vec::new(),
            refused: Vec::new(),
            assertions: Vec::new(),
            languages: Vec::new(),
            min: 0,
            over: u64::MAX,
        }
    }
}

/// The names that a plain object has room for beside those that it names.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::automaton) enum Room {
    None,
    /// Any.
    Any,
    /// Those that are in none of these languages.
    Beside(Vec<LanguageId>),
}

impl Plain {
    /// Whether there is room for a member that none of them is.
    pub(in crate::automaton) fn has_room_for_more(&self) -> bool {
        (self.required.len() as u64).saturating_add(1) < self.over
    }

    /// Whether there may be any number of members.
    pub(in crate::automaton) fn is_unbounded(&self) -> bool {
        self.over == u64::MAX
    }

    /// Whether the number of members does not count.
    pub(in crate::automaton) fn is_of_any_size(&self) -> bool {
        self.min == 0 && self.is_unbounded()
    }

    /// Names of which something is asked, some of them more than once.
    pub(in crate::automaton) fn names(&self) -> impl Iterator<Item = TextId> {
        self.assertions
            .iter()
            .map(|(name, _)| *name)
            .chain(self.required.iter().copied())
    }

    /// Whether a member of this name must come.
    pub(in crate::automaton) fn requires(&self, name: TextId) -> bool {
        self.required.binary_search(&name).is_ok()
    }

    /// What the value of this name must satisfy, by its name.
    fn assertions_of(&self, name: TextId) -> impl Iterator<Item = AssertionId> {
        let from = self.assertions.partition_point(|(one, _)| *one < name);
        let assertions = self.assertions[from..].iter().take_while(move |(one, _)| *one == name);
        assertions.map(|(_, assertion)| *assertion)
    }

    /// Whether there is room for a member of this name beside those that must come.
    fn has_room(&self, name: TextId) -> bool {
        if self.is_unbounded() {
            return true;
        }
        let others = self.required.len() - usize::from(self.requires(name));
        others as u64 + 1 < self.over
    }
}

impl Automaton {
    /// What a formula says that asks only for names that must come, for names that must not, for members that satisfy
    /// assertions, and for numbers of members: in such an object each name is a matter by itself. None of other formulas.
    pub(in crate::automaton) fn plain(&mut self, formula: FormulaId) -> Option<Arc<Plain>> {
        if let Some(known) = self.plains.get(&formula) {
            return known.clone();
        }
        let plain = self.read_plain(formula).map(Arc::new);
        if self.plains.len() >= MOST_KEPT {
            self.plains.clear();
        }
        self.plains.insert(formula, plain.clone());
        plain
    }

    fn read_plain(&self, formula: FormulaId) -> Option<Plain> {
        let (plain, others) = self.split_plain(formula);
        others.is_empty().then_some(plain)
    }

    /// What a formula says of each name by itself, and the other parts of which all must hold.
    fn split_plain(&self, formula: FormulaId) -> (Plain, SmallVec<[FormulaId; 4]>) {
        let (mut plain, mut others) = (Plain::default(), SmallVec::new());
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
    pub(in crate::automaton) fn mostly_plain(&self, formula: FormulaId) -> Option<(Plain, HashSet<TextId>)> {
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
    pub(in crate::automaton) fn plain_alternatives(&mut self, formula: FormulaId) -> Option<Vec<FormulaId>> {
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
    pub(in crate::automaton) fn is_by_name(&self, formula: FormulaId) -> bool {
        self.says_only(formula, |kind, wanted| match kind {
            AtomKind::Has(_) | AtomKind::CountAtLeast(_) => true,
            AtomKind::Members(..) => wanted,
            _ => false,
        })
    }

    /// The same, and nothing of numbers of members.
    pub(in crate::automaton) fn is_plain(&self, formula: FormulaId) -> bool {
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
    pub(in crate::automaton) fn after_only_member(
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
            return self.after_member(formula, Name::Known(name), verdict);
        };
        let mut holds = plain.assertions_of(name).all(verdict);
        for &(names, assertion) in &plain.languages {
            holds = holds && (!self.covers(Keys::Language(names), Name::Known(name))? || verdict(assertion));
        }
        if !holds {
            return Ok(FormulaId::FALSE);
        }
        if !plain.requires(name) {
            return Ok(formula);
        }
        if let Some(&known) = self.after_required.get(&(formula, name)) {
            return Ok(known);
        }
        let after = self.after_member(formula, Name::Known(name), verdict)?;
        self.after_required.insert((formula, name), after);
        Ok(after)
    }

    /// Whether a member of this name can come in a plain object, as far as that depends on its name and value.
    pub(in crate::automaton) fn plain_may_come(&mut self, plain: &Plain, name: TextId) -> Result<bool, AutomatonError> {
        if plain.refused.binary_search(&name).is_ok() || !plain.has_room(name) {
            return Ok(false);
        }
        let mut assertions = SmallVec::<[AssertionId; 4]>::new();
        self.plain_assertions(plain, name, &mut assertions)?;
        self.satisfiable(&assertions, &[])
    }

    /// Adds what the value of a member of this name must satisfy in a plain object.
    pub(in crate::automaton) fn plain_assertions(
        &mut self,
        plain: &Plain,
        name: TextId,
        assertions: &mut impl Extend<AssertionId>,
    ) -> Result<(), AutomatonError> {
        assertions.extend(plain.assertions_of(name));
        for &(names, assertion) in &plain.languages {
            if self.covers(Keys::Language(names), Name::Known(name))? {
                assertions.extend([assertion]);
            }
        }
        Ok(())
    }

    /// The names that a plain object has room for beside those that it names; none where what is asked of them cannot be
    /// met all at once.
    pub(in crate::automaton) fn plain_room(&mut self, plain: &Plain) -> Result<Option<Room>, AutomatonError> {
        // What is asked of a name's value does not depend on the other members.
        let (mut refused, mut assertions) = (Vec::new(), Vec::new());
        for &(language, assertion) in &plain.languages {
            match self.satisfiable(&[assertion], &[])? {
                true => assertions.push(assertion),
                false => refused.push(language),
            }
        }
        // If all of it can be met at once it does not matter in how many of the languages a name is.
        if !self.satisfiable(&assertions, &[])? {
            return Ok(None);
        }
        Ok(Some(match refused.is_empty() {
            _ if !plain.has_room_for_more() => Room::None,
            true => Room::Any,
            false => Room::Beside(refused),
        }))
    }

    /// Whether a plain object, the names `gone` of which cannot come any more, can be completed.
    pub(super) fn plain_can_end(
        &mut self,
        plain: &Plain,
        formula: FormulaId,
        gone: &[TextId],
    ) -> Result<bool, AutomatonError> {
        for &name in &plain.required {
            if !self.plain_may_come(plain, name)? {
                return Ok(false);
            }
        }
        let required = plain.required.len() as u64;
        if required >= plain.over || plain.min >= plain.over {
            return Ok(false);
        }
        let mut wanting = plain.min.saturating_sub(required);
        if wanting == 0 {
            return Ok(true);
        }
        let names = self.names(formula);
        for name in &names {
            if !plain.requires(*name) && self.plain_may_come(plain, *name)? {
                wanting -= 1;
                if wanting == 0 {
                    return Ok(true);
                }
            }
        }
        for cell in self.cells(formula, &names, gone)? {
            let assertions = self.assertions_of_member(&[formula], Name::In(&cell.within))?;
            if self.satisfiable(&assertions, &[])? {
                match cell.left {
                    Some(left) if left < wanting => wanting -= left,
                    _ => return Ok(true),
                }
            }
        }
        Ok(false)
    }
}
