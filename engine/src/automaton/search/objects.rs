//! Completion of objects: a search that decides the keys mentioned by the formula one after the other, and then counts
//! members from the cells of all other keys. [Independent-key objects](super::independent_keys) need no search.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Atom, AtomKind, FormulaId, Keys, MemberKey, TextId, verdict_of};
use crate::automaton::search::{Query, Search, shortened};
use crate::strings::LanguageId;
use hashbrown::HashSet;

/// A way to complete an object, or the beginning of one.
#[derive(Clone, Debug)]
pub(crate) struct ObjectEnding {
    /// The keys that come.
    pub(crate) taken: Vec<TextId>,
    /// The keys that do not come.
    pub(crate) passed: Vec<TextId>,
    /// The residual formula. At the end it either holds or is that of an independent-key object; it is `false` if
    /// members that no atom mentions complete the object.
    pub(crate) rest: FormulaId,
}

impl Default for ObjectEnding {
    fn default() -> Self {
        Self {
            taken: Vec::new(),
            passed: Vec::new(),
            rest: FormulaId::TRUE,
        }
    }
}

impl ObjectEnding {
    /// The way with one more key that comes.
    fn taking(&self, name: TextId, rest: FormulaId) -> Self {
        let mut way = Self { rest, ..self.clone() };
        way.taken.push(name);
        way
    }

    /// The way with one more key that does not come.
    fn passing(&self, name: TextId, rest: FormulaId) -> Self {
        let mut way = Self { rest, ..self.clone() };
        way.passed.push(name);
        way
    }
}

impl Search {
    /// Whether an object with residual `formula` can be completed if the keys `used` cannot come again.
    pub(crate) fn object_can_end(&mut self, formula: FormulaId, used: &[TextId]) -> Result<bool, AutomatonError> {
        if let Some(decided) = formula.decided() {
            return Ok(decided);
        }
        let mut counted = Vec::new();
        if !used.is_empty() {
            let scarce = self.scarce_names(formula)?;
            for &name in used {
                if self.algebra.covers(Keys::Language(scarce), MemberKey::Known(name))? {
                    counted.push(name);
                }
            }
            counted.sort_unstable();
        }
        self.ask(Query::Object(formula, counted.into()))
    }

    /// The keys of cells that can run out, if it matters to `formula` which of them have been seen.
    pub(super) fn scarce_names(&mut self, formula: FormulaId) -> Result<LanguageId, AutomatonError> {
        if let Some(&known) = self.object_memo.scarce.get(&formula) {
            return Ok(known);
        }
        let mut scarce = Vec::new();
        if !self.algebra.is_independent_uncounted(formula) {
            let mut atoms = self.algebra.formulas.atoms(formula).iter();
            let is_counted = atoms.any(|atom| matches!(self.algebra.atoms.kind(*atom), AtomKind::CountAtLeast(_)));
            for cell in self.algebra.key_cells(formula, &[], &[])? {
                if cell.left.is_some() && (is_counted || !cell.within.is_empty()) {
                    scarce.push(self.algebra.keys_as_language(&cell.names)?);
                }
            }
        }
        let scarce = self.algebra.languages.or(&scarce)?;
        self.object_memo.scarce.insert(formula, scarce);
        Ok(scarce)
    }

    /// A way to complete an object; `None` if there is none.
    pub(super) fn object_end(
        &mut self,
        formula: FormulaId,
        used: &[TextId],
    ) -> Result<Option<ObjectEnding>, AutomatonError> {
        if self.has_end(formula, used)? {
            let rest = formula;
            return Ok(Some(ObjectEnding {
                rest,
                ..ObjectEnding::default()
            }));
        }
        let all_names = self.algebra.named_keys(formula);
        let scarce = match self.algebra.at_end(formula) {
            true => self.algebra.languages.none(),
            false => self.scarce_names(formula)?,
        };
        let is_scarce = scarce != self.algebra.languages.none();
        let mut left = vec![ObjectEnding {
            rest: formula,
            ..ObjectEnding::default()
        }];
        let mut seen: HashSet<(FormulaId, Vec<TextId>)> = HashSet::new();
        while let Some(way) = left.pop() {
            let formula = way.rest;
            let decided = [&way.taken[..], &way.passed].concat();
            let exhausted = [used, &decided].concat();
            if self.has_end(formula, &exhausted)? {
                return Ok(Some(way));
            }
            // One of several alternatives that judge each key by itself has to be completed, as in an `enum` of
            // objects.
            let parts = self.algebra.formulas.disjuncts(&formula).to_vec();
            if parts.iter().all(|part| self.algebra.is_independent(*part)) {
                for part in parts {
                    if part != formula && self.has_end(part, &exhausted)? {
                        return Ok(Some(ObjectEnding { rest: part, ..way }));
                    }
                }
                continue;
            }
            let Some(name) = self.next_named_key(formula) else {
                let names = if is_scarce { &decided } else { &all_names };
                if self.others_can_end(formula, names, used)? {
                    return Ok(Some(ObjectEnding {
                        rest: FormulaId::FALSE,
                        ..way
                    }));
                }
                continue;
            };
            let mut after = vec![way.passing(name, self.without(formula, name))];
            let assertions = self.algebra.assertions_of_member(&[formula], MemberKey::Known(name))?;
            let read = self.algebra.read_by_member(formula, MemberKey::Known(name))?;
            for vector in self.verdict_vectors(&assertions)? {
                let verdict = |assertion| verdict_of(&assertions, &vector, assertion);
                let rest = self.algebra.after_read(formula, &read, &verdict);
                let way = way.taking(name, rest);
                let decided = [&way.taken[..], &way.passed].concat();
                if self.has_end(rest, &[used, &decided].concat())? {
                    return Ok(Some(way));
                }
                after.push(way);
            }
            after.retain(|way| way.rest != FormulaId::FALSE);
            // The state nearest to an end is looked at first.
            after.sort_by_key(|way| std::cmp::Reverse(self.missing(&way.rest)));
            for way in after {
                // The exhausted keys among those that can run out are part of the state.
                let mut decided = Vec::new();
                for &name in way.taken.iter().chain(&way.passed).filter(|_| is_scarce) {
                    if self.algebra.covers(Keys::Language(scarce), MemberKey::Known(name))? {
                        decided.push(name);
                    }
                }
                decided.sort_unstable();
                if seen.insert((way.rest, decided)) {
                    left.push(way);
                }
            }
            self.check_states(seen.len(), "states of an object in the search for its end")?;
        }
        Ok(None)
    }

    /// A way to complete an object that contains as many of `names` as fit beside those before them.
    pub(super) fn widest_way(
        &mut self,
        formula: FormulaId,
        names: &[TextId],
        exhausted: &[TextId],
    ) -> Result<Option<ObjectEnding>, AutomatonError> {
        let mut way = ObjectEnding {
            rest: formula,
            ..ObjectEnding::default()
        };
        for &name in names {
            let assertions = self.algebra.assertions_of_member(&[way.rest], MemberKey::Known(name))?;
            let rest = self.algebra.after_member(way.rest, MemberKey::Known(name), &|_| true)?;
            if rest != FormulaId::FALSE && self.satisfiable(&assertions, &[])? {
                way = way.taking(name, rest);
            }
        }
        let exhausted = [exhausted, &way.taken].concat();
        Ok(self.object_can_end(way.rest, &exhausted)?.then_some(way))
    }

    /// Whether it shows without a search that an object can be completed.
    fn has_end(&mut self, formula: FormulaId, exhausted: &[TextId]) -> Result<bool, AutomatonError> {
        if self.algebra.at_end(formula) {
            return Ok(true);
        }
        match self.algebra.independent_keys(formula) {
            Some(plain) => self.independent_can_end(&plain, formula, exhausted),
            None => Ok(false),
        }
    }

    /// Number of conjuncts that do not hold at this point.
    pub(crate) fn missing(&self, formula: &FormulaId) -> usize {
        let parts = self.algebra.formulas.conjuncts(formula).iter();
        parts.filter(|part| !self.algebra.formulas.at_end(**part)).count()
    }

    /// A key to decide next, preferably one on which a conjunct depends that does not hold yet; `None` if the formula
    /// mentions no key.
    fn next_named_key(&self, formula: FormulaId) -> Option<TextId> {
        let name_of = |atom: &Atom| match self.algebra.atoms.kind(*atom) {
            AtomKind::Has(name) | AtomKind::Members(Keys::Name(name), _) => Some(name),
            _ => None,
        };
        let missing = self.algebra.formulas.conjuncts(&formula).iter();
        let missing = missing.filter(|part| !self.algebra.formulas.at_end(**part));
        let mut atoms = missing.flat_map(|part| self.algebra.formulas.atoms(*part));
        let first = atoms.find_map(name_of);
        first.or_else(|| self.algebra.formulas.atoms(formula).iter().find_map(name_of))
    }

    /// The residual of `formula` if no member with this key comes.
    fn without(&mut self, formula: FormulaId, name: TextId) -> FormulaId {
        let atoms = &self.algebra.atoms;
        self.algebra
            .formulas
            .substitute(formula, &mut |atom| match atoms.kind(atom) {
                AtomKind::Has(one) if one == name => Some(FormulaId::FALSE),
                AtomKind::Members(Keys::Name(one), _) if one == name => Some(FormulaId::TRUE),
                _ => None,
            })
    }

    /// Whether members with keys that no atom mentions can complete the object.
    fn others_can_end(
        &mut self,
        formula: FormulaId,
        names: &[TextId],
        used: &[TextId],
    ) -> Result<bool, AutomatonError> {
        let cells = self.algebra.key_cells(formula, names, used)?;
        let scarce = cells.iter().filter_map(|cell| cell.left);
        let formula = self.shortened_object(formula, scarce.fold(0, u64::saturating_add));
        let taken = vec![0_u64; cells.len()];
        let mut seen: HashSet<(FormulaId, Vec<u64>)> = HashSet::from([(formula, taken.clone())]);
        let mut left = vec![(formula, taken)];
        while let Some((formula, taken)) = left.pop() {
            if self.algebra.at_end(formula) {
                return Ok(true);
            }
            for (index, cell) in cells.iter().enumerate() {
                if cell.left.is_some_and(|left| taken[index] >= left) {
                    continue;
                }
                let mut taken = taken.clone();
                // Keys of a cell that cannot run out need not be counted.
                taken[index] += u64::from(cell.left.is_some());
                let name = MemberKey::In(&cell.within);
                let assertions = self.algebra.assertions_of_member(&[formula], name)?;
                let read = self.algebra.read_by_member(formula, name)?;
                for vector in self.verdict_vectors(&assertions)? {
                    let verdict = |assertion| verdict_of(&assertions, &vector, assertion);
                    let after = self.algebra.after_read(formula, &read, &verdict);
                    if after != FormulaId::FALSE && seen.insert((after, taken.clone())) {
                        left.push((after, taken.clone()));
                    }
                }
            }
            self.check_states(seen.len(), "states of an object in the search for its end")?;
        }
        Ok(false)
    }

    /// The formula with smaller counts, shortened as by [`shortened_array`](Self::shortened_array), for the case that
    /// only members come whose keys no atom mentions. `scarce` is the number of keys in cells that can run out.
    fn shortened_object(&mut self, formula: FormulaId, scarce: u64) -> FormulaId {
        let (mut counts, mut to_find) = (Vec::new(), scarce.saturating_add(1));
        for &atom in self.algebra.formulas.atoms(formula) {
            match self.algebra.atoms.kind(atom) {
                AtomKind::CountAtLeast(count) => counts.push(count),
                _ => to_find = to_find.saturating_add(1),
            }
        }
        let Some(new) = shortened(counts, to_find) else {
            return formula;
        };
        let mut changes = Vec::new();
        for atom in self.algebra.formulas.atoms(formula).to_vec() {
            if let AtomKind::CountAtLeast(count) = self.algebra.atoms.kind(atom) {
                changes.push((atom, self.algebra.atom(AtomKind::CountAtLeast(new[&count]))));
            }
        }
        self.algebra.formulas.replace(formula, &changes)
    }
}
