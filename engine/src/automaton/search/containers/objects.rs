//! Completion of objects: the tableau over the [theory](super::object_facts) of the members to come.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::few_changed::{ChangedAtom, FewChanged};
use crate::automaton::formula::{Algebra, AssertionId, Atom, AtomKind, DiagramId, FormulaId, Keys, MemberKey, TextId};
use crate::automaton::search::containers::object_facts::{ObjectFacts, ObjectModel, Surroundings};
use crate::automaton::search::containers::tableau::Tableau;
use crate::automaton::search::{Query, Requirement, Search};
use crate::strings::LanguageId;
use hashbrown::HashSet;
use std::collections::BTreeMap;

/// Number of assertions on a value from which on values that tell alternatives apart are tried before a search.
const VERDICTS_WORTH_DISCRIMINATING: usize = 8;

/// Number of such values that are tried.
const MAX_DISCRIMINATING_VALUES: usize = 1 << 12;

impl Search {
    /// Whether an object with residual `formula` can be completed if the keys `used` cannot come again.
    pub(crate) fn object_can_end(&mut self, formula: FormulaId, used: &[TextId]) -> Result<bool, AutomatonError> {
        if let Some(decided) = formula.decided() {
            return Ok(decided);
        }
        if self.algebra.at_end(formula) {
            return Ok(true);
        }
        let mut counted = Vec::new();
        if !used.is_empty() {
            let scarce = self.scarce_names(formula)?;
            let languages = match scarce {
                Some(_) => Vec::new(),
                None => self.algebra.languages_of(formula),
            };
            for &name in used {
                let is_scarce = match scarce {
                    Some(scarce) => self.algebra.covers(Keys::Language(scarce), MemberKey::Known(name))?,
                    None => {
                        let (runs_out, is_within) = self.algebra.cell_of_key(&languages, name)?;
                        runs_out && (is_within || self.is_counted(formula))
                    }
                };
                if is_scarce {
                    counted.push(name);
                }
            }
            counted.sort_unstable();
        }
        self.ask(Query::Object(formula, counted.into()))
    }

    /// Works out whether an object can be completed.
    pub(in crate::automaton::search) fn search_object(
        &mut self,
        formula: FormulaId,
        used: &[TextId],
    ) -> Result<bool, AutomatonError> {
        if self.algebra.at_end(formula) {
            return Ok(true);
        }
        match self.algebra.independent_keys(formula) {
            Some(plain) => self.independent_can_end(&plain, formula, used),
            None => {
                let around = Surroundings {
                    used,
                    ..Surroundings::default()
                };
                Ok(self.object_model(&[(formula, true)], around)?.is_some())
            }
        }
    }

    /// Facts about the members of an object for which the formulas have the truth values beside them, with a model of
    /// the facts; `None` if there are none.
    pub(in crate::automaton::search) fn object_model<'a>(
        &mut self,
        formulas: &[(FormulaId, bool)],
        around: Surroundings<'a>,
    ) -> Result<Option<(ObjectFacts<'a>, ObjectModel)>, AutomatonError> {
        let wishes = around
            .wishes
            .iter()
            .map(|name| self.algebra.atoms.intern(AtomKind::Has(*name)));
        let wishes = wishes.collect();
        let facts = ObjectFacts::new(around, FormulaId::TRUE);
        Tableau::new(facts, formulas, wishes, &self.algebra).search(self)
    }

    /// Members that complete an object for which all formulas hold if the keys `used` cannot come again; `None` if there
    /// are none, or more than `most`.
    pub(crate) fn members_to_object_end(
        &mut self,
        formulas: &[FormulaId],
        used: &[TextId],
        most: usize,
    ) -> Result<Option<Vec<(TextId, Requirement)>>, AutomatonError> {
        let goals: Vec<(FormulaId, bool)> = formulas.iter().map(|formula| (*formula, true)).collect();
        let around = Surroundings {
            used,
            ..Surroundings::default()
        };
        let Some((_, model)) = self
            .object_model(&goals, around)?
            .filter(|(_, model)| model.count <= most as u64)
        else {
            return Ok(None);
        };
        let mut members: Vec<(TextId, Requirement)> = model.members.into_iter().collect();
        for other in model.others {
            let own = members.iter().map(|(name, _)| *name);
            let gone: HashSet<TextId> = used.iter().copied().chain(own).collect();
            let wanted = usize::try_from(other.count).unwrap_or(usize::MAX);
            let names = self.algebra.keys_beside(&other.names, &gone, wanted)?.into_iter();
            members.extend(names.map(|name| (name, other.value.clone())));
        }
        Ok((members.len() as u64 == model.count).then_some(members))
    }

    /// The diagram of the verdicts of the assertions `read` for which an object with residual `formula`, which speaks of
    /// them, can be completed if the keys `used` cannot come again.
    pub(in crate::automaton::search) fn verdicts_to_object_end(
        &mut self,
        formula: FormulaId,
        read: &[AssertionId],
        used: &[TextId],
    ) -> Result<DiagramId, AutomatonError> {
        let around = Surroundings {
            used,
            read,
            ..Surroundings::default()
        };
        let mut first = self.under_object(formula, &mut ObjectModel::default())?;
        if read.len() >= VERDICTS_WORTH_DISCRIMINATING {
            let mut ways = self.ways_by_discriminator(formula, used)?;
            ways.push(first);
            first = self.algebra.formulas.or(ways);
        }
        let next = |this: &mut Self, formulas: &[(FormulaId, bool)]| {
            let facts = ObjectFacts::new(around, formula);
            let tableau = Tableau::new(facts, formulas, HashSet::new(), &this.algebra);
            match tableau.search(this)? {
                Some((_, mut model)) => this.under_object(formula, &mut model).map(Some),
                None => Ok(None),
            }
        };
        self.admitted_verdicts(formula, read, first, next, |this, after| {
            this.object_can_end(after, used)
        })
    }

    /// The formulas over verdicts that `formula` becomes if one more member comes, whose value is one of the few that the
    /// assertions on it tell apart, such as the constants of alternatives.
    fn ways_by_discriminator(&mut self, formula: FormulaId, used: &[TextId]) -> Result<Vec<FormulaId>, AutomatonError> {
        let mut by_name: BTreeMap<TextId, Vec<(Atom, AssertionId)>> = BTreeMap::new();
        for &atom in self.algebra.formulas.atoms(formula) {
            if let AtomKind::Members(Keys::Name(name), assertion) = self.algebra.atoms.kind(atom) {
                by_name.entry(name).or_default().push((atom, assertion));
            }
        }
        by_name.retain(|name, atoms| atoms.len() >= VERDICTS_WORTH_DISCRIMINATING && !used.contains(name));
        let mut ways = Vec::new();
        for (name, atoms) in by_name {
            let mut by_value: BTreeMap<AssertionId, Vec<ChangedAtom>> = BTreeMap::new();
            let mut told: HashSet<Atom> = HashSet::new();
            for (atom, assertion) in atoms {
                let values = self.finite_values(assertion)?;
                if let Some(values) = values.filter(|values| values.len() <= MAX_DISCRIMINATING_VALUES) {
                    told.insert(atom);
                    for &value in &*values {
                        by_value.entry(value).or_default().push((atom, Some(true)));
                    }
                }
            }
            let Algebra {
                formulas, atoms: kinds, ..
            } = &mut self.algebra;
            let value = |atom: Atom| match kinds.kind(atom) {
                AtomKind::Has(other) => Some(other == name),
                AtomKind::CountAtLeast(count) => Some(count <= 1),
                AtomKind::Members(Keys::Name(other), _) if other != name => Some(true),
                _ => told.contains(&atom).then_some(false),
            };
            let apart = FewChanged::new(formulas, formula, &value);
            // Values that satisfy the same assertions, such as the numbers of a range, make the same way.
            let mut made: HashSet<&[ChangedAtom]> = HashSet::new();
            for (value, changed) in by_value.iter().take(MAX_DISCRIMINATING_VALUES) {
                // The style may have no text for the value.
                if made.contains(&changed[..]) || !self.satisfiable(&[*value], &[])? {
                    continue;
                }
                made.insert(changed);
                let algebra = &mut self.algebra;
                let way = apart.with(&mut algebra.formulas, changed);
                let mut atoms = algebra.formulas.atoms(way).iter();
                let is_decided = atoms.all(|atom| matches!(algebra.atoms.kind(*atom), AtomKind::Verdict(_)));
                if is_decided && way != FormulaId::FALSE {
                    ways.push(way);
                }
            }
        }
        Ok(ways)
    }

    /// Whether `formula` speaks of the number of members.
    fn is_counted(&self, formula: FormulaId) -> bool {
        let mut atoms = self.algebra.formulas.atoms(formula).iter();
        atoms.any(|atom| matches!(self.algebra.atoms.kind(*atom), AtomKind::CountAtLeast(_)))
    }

    /// Whether it is known that no cells of `formula` can run out for which it matters which of their keys have been seen.
    pub(in crate::automaton::search) fn has_no_scarce_names(
        &mut self,
        formula: FormulaId,
    ) -> Result<bool, AutomatonError> {
        Ok(self.scarce_names(formula)? == Some(self.algebra.languages.none()))
    }

    /// The keys of cells that can run out, if it matters to `formula` which of them have been seen; `None` where there are too many cells to be
    /// looked at.
    fn scarce_names(&mut self, formula: FormulaId) -> Result<Option<LanguageId>, AutomatonError> {
        if let Some(&known) = self.object_memo.scarce.get(&formula) {
            return Ok(known);
        }
        let mut cells = Some(Vec::new());
        let independent = self.algebra.independent_keys(formula);
        if !independent.is_some_and(|plain| plain.is_of_any_size()) {
            let languages = self.algebra.languages_of(formula);
            if !self.algebra.are_cells_infinite(&languages)? {
                cells = self.algebra.few_key_cells(formula, &[], &[])?;
            }
        }
        let is_counted = self.is_counted(formula);
        let scarce = match cells {
            None => None,
            Some(cells) => {
                let mut scarce = Vec::new();
                for cell in cells {
                    if cell.left.is_some() && (is_counted || !cell.within.is_empty()) {
                        scarce.push(self.algebra.keys_as_language(&cell.names)?);
                    }
                }
                Some(self.algebra.languages.or(&scarce)?)
            }
        };
        self.object_memo.scarce.insert(formula, scarce);
        Ok(scarce)
    }

    /// The formula over verdicts that `formula` becomes if the members of the model come and no others. Facts about their values
    /// that the model leaves open are fixed on the way.
    pub(in crate::automaton::search) fn under_object(
        &mut self,
        formula: FormulaId,
        model: &mut ObjectModel,
    ) -> Result<FormulaId, AutomatonError> {
        let mut left = formula;
        for is_open in [true, false] {
            let mut changes = Vec::new();
            for atom in self.algebra.formulas.atoms(left).to_vec() {
                let value = match self.algebra.atoms.kind(atom) {
                    AtomKind::Has(name) => Some(model.has(name)),
                    AtomKind::CountAtLeast(count) => Some(model.count >= count),
                    AtomKind::Members(keys, assertion) => self.all_satisfy(model, keys, assertion, is_open)?,
                    _ => None,
                };
                changes.extend(value.map(|value| (atom, FormulaId::constant(value))));
            }
            left = self.algebra.formulas.replace(left, &changes);
        }
        Ok(left)
    }

    /// Whether all members of the model with these keys satisfy an assertion; `None` if the model leaves this open and
    /// may leave it open.
    fn all_satisfy(
        &mut self,
        model: &mut ObjectModel,
        keys: Keys,
        assertion: AssertionId,
        may_be_open: bool,
    ) -> Result<Option<bool>, AutomatonError> {
        let mut values: Vec<&mut Requirement> = Vec::new();
        match keys {
            Keys::Name(name) => values.extend(model.members.get_mut(&name)),
            Keys::Language(language) => {
                for (name, value) in &mut model.members {
                    if self.algebra.covers(keys, MemberKey::Known(*name))? {
                        values.push(value);
                    }
                }
                let others = model.others.iter_mut().filter(|other| other.within.contains(&language));
                values.extend(others.map(|other| &mut other.value));
            }
        }
        self.values_satisfy(values, assertion, may_be_open)
    }

    /// Whether values that meet these requirements satisfy an assertion; `None` if the requirements leave this open and
    /// may leave it open. Otherwise the assertion is added to the requirements wherever it is possible.
    pub(in crate::automaton::search) fn values_satisfy(
        &mut self,
        values: Vec<&mut Requirement>,
        assertion: AssertionId,
        may_be_open: bool,
    ) -> Result<Option<bool>, AutomatonError> {
        if values.iter().any(|value| value.none.contains(&assertion)) {
            return Ok(Some(false));
        }
        for value in values {
            if assertion == AssertionId::ANYTHING || value.all.contains(&assertion) {
                continue;
            }
            self.find_few_values(assertion)?;
            match self.implied_by_values(value.all.iter().copied(), assertion) {
                Some(true) => continue,
                Some(false) => return Ok(Some(false)),
                None => {}
            }
            if may_be_open {
                return Ok(None);
            }
            let more = Requirement::new(&[&value.all[..], &[assertion]].concat(), &value.none);
            if !self.satisfiable(&more.all, &more.none)? {
                return Ok(Some(false));
            }
            *value = more;
        }
        Ok(Some(true))
    }
}
