//! Is there a value? Is there a rest?
//!
//! Every byte that the machine allows rests on these answers: whether some value satisfies these goals and not those
//! ([`Automaton::satisfiable`]), and whether an object or array that has been read in part can be completed
//! ([`Automaton::object_can_end`], [`Automaton::array_can_end`]). Values are finite, so a question that comes up again
//! while it is being answered is answered no, and a no that rests on that is not remembered.

use hashbrown::HashSet;

use super::atom::{AtomKind, Keys, TextId};
use super::decision::DecisionId;
use super::formula::{Atom, FormulaId};
use super::goal::{Constraint, GoalId};
use super::questions::Question;
use super::read::Name;
use super::{Automaton, Trouble};
use crate::strings::{Cardinality, LanguageId};

/// States of one object or array that are looked at for one answer.
pub(super) const MAX_STATES: usize = 50_000;
/// Classes of names in one object.
const MAX_CELLS: usize = 256;
/// Goals of one value.
const MAX_GOALS: usize = 1 << 14;
/// Outcome vectors of one value.
const MAX_VECTORS: usize = 1 << 14;

/// Names that no atom names, alike to all atoms.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    /// The languages of atoms that they are in.
    pub(super) within: Vec<LanguageId>,
    /// The names.
    pub(super) names: LanguageId,
    /// How many there are that have not been used; none where they never run out.
    pub(super) left: Option<u64>,
}

/// Says whether outcomes will do.
type Leaf<'a> = &'a mut dyn FnMut(&mut Automaton, &[bool]) -> Result<bool, Trouble>;

impl Automaton {
    /// Whether there is a value that satisfies all goals of `all` and none of `none`.
    pub(super) fn satisfiable(&mut self, all: &[GoalId], none: &[GoalId]) -> Result<bool, Trouble> {
        if all.contains(&GoalId::NOTHING) || none.contains(&GoalId::ANYTHING) {
            return Ok(false);
        }
        let tidy = |goals: &[GoalId], drop: GoalId| {
            let mut goals: Vec<GoalId> = goals.iter().copied().filter(|goal| *goal != drop).collect();
            goals.sort_unstable();
            goals.dedup();
            goals
        };
        let (all, none) = (tidy(all, GoalId::ANYTHING), tidy(none, GoalId::NOTHING));
        if all.iter().any(|goal| none.binary_search(goal).is_ok()) {
            return Ok(false);
        }
        self.ask(Question::Value(all.into(), none.into()))
    }

    /// Works out the answer to a question.
    pub(super) fn answer(&mut self, question: &Question) -> Result<bool, Trouble> {
        match question {
            Question::Value(all, none) => self.search_value(all, none),
            Question::Array(formula) if self.asks_unique(&[*formula]) => self.unique_array_can_end(*formula, &[]),
            Question::Array(formula) => self.search_array(*formula),
            Question::Object(formula, used) => self.search_object(*formula, used),
        }
    }

    fn search_value(&mut self, all: &[GoalId], none: &[GoalId]) -> Result<bool, Trouble> {
        let value = self.combined(all, none)?;
        if value.null || value.yes || value.no {
            return Ok(true);
        }
        Ok(!self.number_texts.sets().is_empty(value.numbers)
            || !self.languages.is_empty(value.strings)?
            || self.array_can_end(value.arrays, &[])?
            || self.object_can_end(value.objects, &[])?)
    }

    /// What it means to satisfy all goals of `all` and none of `none`.
    pub(super) fn combined(&mut self, all: &[GoalId], none: &[GoalId]) -> Result<Constraint, Trouble> {
        let mut both = self.everything();
        let (mut strings, mut arrays, mut objects) = (Vec::new(), Vec::new(), Vec::new());
        let wanted = all.iter().map(|goal| (*goal, true));
        for (goal, wanted) in wanted.chain(none.iter().map(|goal| (*goal, false))) {
            let mut part = self.constraint(goal)?;
            if !wanted {
                part = self.complement(part)?;
            }
            both.null &= part.null;
            both.yes &= part.yes;
            both.no &= part.no;
            both.numbers = self.number_texts.sets_mut().and(both.numbers, part.numbers)?;
            strings.push(part.strings);
            arrays.push(part.arrays);
            objects.push(part.objects);
        }
        both.strings = self.languages.and(&strings)?;
        both.arrays = self.formulas.and(arrays);
        both.objects = self.formulas.and(objects);
        Ok(both)
    }

    /// Builds a decision over `goals` from `leaf`, which says whether an outcome vector will do. Vectors that no value
    /// has are never asked for, and count as ones that will not do.
    pub(super) fn decide(&mut self, goals: &[GoalId], leaf: Leaf<'_>) -> Result<DecisionId, Trouble> {
        self.decide_unless(goals, &[], leaf)
    }

    /// As [`decide`](Self::decide), where no value that satisfies a goal of `never` will do: those are not looked at
    /// further, so that many of them cost no more than their number.
    pub(super) fn decide_unless(
        &mut self,
        goals: &[GoalId],
        never: &[GoalId],
        leaf: Leaf<'_>,
    ) -> Result<DecisionId, Trouble> {
        let mut vectors = self.vectors_unless(goals, never)?;
        let mut kept = Vec::with_capacity(vectors.len());
        for vector in vectors.drain(..) {
            if leaf(self, &vector)? {
                kept.push(vector);
            }
        }
        Ok(self.decisions.among(&kept, goals.len()))
    }

    /// The outcome vectors over `goals` that some value has, sorted with `true` before `false`.
    pub(super) fn vectors(&mut self, goals: &[GoalId]) -> Result<Vec<Vec<bool>>, Trouble> {
        self.vectors_unless(goals, &[])
    }

    /// The same without those of values that satisfy a goal of `never`.
    fn vectors_unless(&mut self, goals: &[GoalId], never: &[GoalId]) -> Result<Vec<Vec<bool>>, Trouble> {
        if goals.len() > MAX_GOALS {
            return Err(Trouble::Limit(
                "subschemas and earlier items that one value is compared with",
            ));
        }
        let mut vectors = Vec::new();
        let (mut all, mut none): (Vec<GoalId>, Vec<GoalId>) = (Vec::new(), Vec::new());
        // The goals that `all` and `none` are about come first, and each but those of `never` is tried both ways.
        let mut outcomes: Vec<bool> = Vec::with_capacity(goals.len());
        loop {
            if self.satisfiable(&all, &none)? {
                if let Some(goal) = goals.get(outcomes.len()) {
                    let try_it = !never.contains(goal);
                    outcomes.push(try_it);
                    if try_it { &mut all } else { &mut none }.push(*goal);
                    continue;
                }
                vectors.push(outcomes.clone());
                if vectors.len() > MAX_VECTORS {
                    return Err(Trouble::Limit("combinations of subschemas that a value may satisfy"));
                }
            }
            loop {
                match outcomes.pop() {
                    None => return Ok(vectors),
                    Some(false) => none.truncate(none.len() - 1),
                    Some(true) => {
                        all.truncate(all.len() - 1);
                        none.push(goals[outcomes.len()]);
                        outcomes.push(false);
                        break;
                    }
                }
            }
        }
    }

    /// Whether an array of which `formula` is left, after the items `seen` where it matters that items differ, can be
    /// completed.
    pub(super) fn array_can_end(&mut self, formula: FormulaId, seen: &[GoalId]) -> Result<bool, Trouble> {
        match formula.decided() {
            Some(decided) => Ok(decided),
            None if !seen.is_empty() && self.asks_unique(&[formula]) => self.unique_array_can_end(formula, seen),
            None => self.ask(Question::Array(formula)),
        }
    }

    fn search_array(&mut self, formula: FormulaId) -> Result<bool, Trouble> {
        let mut seen: HashSet<FormulaId> = HashSet::from([formula]);
        let mut left = vec![formula];
        while let Some(formula) = left.pop() {
            if self.at_end(formula) {
                return Ok(true);
            }
            let goals = self.goals_of_item(&[formula]);
            let mut vectors = self.vectors(&goals)?;
            // The one with most goals satisfied is looked at first.
            vectors.reverse();
            for vector in vectors {
                let after = self.after_item(formula, &|goal| outcome_of(&goals, &vector, goal), false);
                if after != FormulaId::FALSE && seen.insert(after) {
                    left.push(after);
                }
            }
            if seen.len() > MAX_STATES {
                return Err(Trouble::Limit("states of an array in the search for its end"));
            }
        }
        Ok(false)
    }

    /// Whether an object of which `formula` is left, and in which the names `used` must not come again, can be
    /// completed.
    pub(super) fn object_can_end(&mut self, formula: FormulaId, used: &[TextId]) -> Result<bool, Trouble> {
        if let Some(decided) = formula.decided() {
            return Ok(decided);
        }
        let mut counted = Vec::new();
        if !used.is_empty() {
            let scarce = self.scarce_names(formula)?;
            for &name in used {
                if self.covers(Keys::Language(scarce), Name::Known(name))? {
                    counted.push(name);
                }
            }
            counted.sort_unstable();
        }
        self.ask(Question::Object(formula, counted.into()))
    }

    /// The names without an atom of their own that can run out.
    fn scarce_names(&mut self, formula: FormulaId) -> Result<LanguageId, Trouble> {
        if let Some(&known) = self.scarce.get(&formula) {
            return Ok(known);
        }
        let mut scarce = Vec::new();
        if !self.is_plain(formula) {
            let names = self.names(formula);
            let cells = self.cells(formula, &names, &[])?;
            scarce.extend(cells.iter().filter(|cell| cell.left.is_some()).map(|cell| cell.names));
        }
        let scarce = self.languages.or(&scarce)?;
        self.scarce.insert(formula, scarce);
        Ok(scarce)
    }

    fn search_object(&mut self, formula: FormulaId, used: &[TextId]) -> Result<bool, Trouble> {
        let all_names = self.names(formula);
        let is_scarce = !self.at_end(formula) && self.scarce_names(formula)? != self.languages.none();
        // What is left, and the names that were decided on the way to it.
        let mut left = vec![(formula, Vec::<TextId>::new())];
        let mut seen: HashSet<(FormulaId, Vec<TextId>)> = HashSet::from([left[0].clone()]);
        while let Some((formula, decided)) = left.pop() {
            if self.at_end(formula) {
                return Ok(true);
            }
            if let Some(required) = self.plain(formula) {
                if self.can_all_come(formula, &required)? {
                    return Ok(true);
                }
                continue;
            }
            let Some(name) = self.next_name(formula) else {
                let names = if is_scarce { &decided } else { &all_names };
                if self.others_can_end(formula, names, used)? {
                    return Ok(true);
                }
                continue;
            };
            let mut after = vec![self.without(formula, name)];
            let goals = self.goals_of_member(&[formula], Name::Known(name))?;
            for vector in self.vectors(&goals)? {
                let outcome = |goal| outcome_of(&goals, &vector, goal);
                after.push(self.after_member(formula, Name::Known(name), &outcome)?);
            }
            after.retain(|formula| *formula != FormulaId::FALSE);
            // What is nearest to an end is looked at first.
            after.sort_by_key(|formula| std::cmp::Reverse(self.missing(formula)));
            let mut decided = decided;
            if is_scarce {
                decided.push(name);
            }
            for formula in after {
                if seen.insert((formula, decided.clone())) {
                    left.push((formula, decided.clone()));
                }
            }
            if seen.len() > MAX_STATES {
                return Err(Trouble::Limit("states of an object in the search for its end"));
            }
        }
        Ok(false)
    }

    /// The number of conjuncts that do not hold yet.
    fn missing(&self, formula: &FormulaId) -> usize {
        let parts = self.formulas.conjuncts(formula).iter();
        parts.filter(|part| !self.formulas.at_end(**part)).count()
    }

    /// A name to decide next: one on which something depends that does not hold yet, if there is such a name.
    fn next_name(&self, formula: FormulaId) -> Option<TextId> {
        let name_of = |atom: &Atom| match self.atoms.kind(*atom) {
            AtomKind::Has(name) | AtomKind::Members(Keys::Name(name), _) => Some(name),
            _ => None,
        };
        let missing = self.formulas.conjuncts(&formula).iter();
        let missing = missing.filter(|part| !self.formulas.at_end(**part));
        let mut atoms = missing.flat_map(|part| self.formulas.atoms(*part));
        let first = atoms.find_map(name_of);
        first.or_else(|| self.formulas.atoms(formula).iter().find_map(name_of))
    }

    /// Whether each of these names can come.
    fn can_all_come(&mut self, formula: FormulaId, required: &[TextId]) -> Result<bool, Trouble> {
        for &name in required {
            let goals = self.goals_of_member(&[formula], Name::Known(name))?;
            if !self.satisfiable(&goals, &[])? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether `formula` says no more than [`plain`](Self::plain) knows.
    fn is_plain(&self, formula: FormulaId) -> bool {
        self.plain(formula).is_some()
    }

    /// The names that must come, where the formula asks for nothing but that, for names that must not come, and for
    /// members that satisfy goals: such an object can be completed name by name.
    fn plain(&self, formula: FormulaId) -> Option<Vec<TextId>> {
        let mut required = Vec::new();
        for part in self.formulas.conjuncts(&formula) {
            let (atom, wanted) = self.formulas.literal(*part)?;
            match (self.atoms.kind(atom), wanted) {
                (AtomKind::Has(name), true) => required.push(name),
                (AtomKind::Has(_), false) | (AtomKind::Members(..), true) => {}
                _ => return None,
            }
        }
        Some(required)
    }

    /// The names that atoms of `formula` name, sorted. None of them has been used: what is read leaves no such atom.
    pub(super) fn names(&self, formula: FormulaId) -> Vec<TextId> {
        let atoms = self.formulas.atoms(formula).iter();
        let mut names: Vec<TextId> = atoms
            .filter_map(|atom| match self.atoms.kind(*atom) {
                AtomKind::Has(name) | AtomKind::Members(Keys::Name(name), _) => Some(name),
                _ => None,
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// What is left of `formula` where no member of this name comes.
    fn without(&mut self, formula: FormulaId, name: TextId) -> FormulaId {
        let atoms = &self.atoms;
        self.formulas.substitute(formula, &mut |atom| match atoms.kind(atom) {
            AtomKind::Has(one) if one == name => Some(FormulaId::FALSE),
            AtomKind::Members(Keys::Name(one), _) if one == name => Some(FormulaId::TRUE),
            _ => None,
        })
    }

    /// Whether members that no atom names can complete the object.
    fn others_can_end(&mut self, formula: FormulaId, names: &[TextId], used: &[TextId]) -> Result<bool, Trouble> {
        let cells = self.cells(formula, names, used)?;
        let taken = vec![0_u64; cells.len()];
        let mut seen: HashSet<(FormulaId, Vec<u64>)> = HashSet::from([(formula, taken.clone())]);
        let mut left = vec![(formula, taken)];
        while let Some((formula, taken)) = left.pop() {
            if self.at_end(formula) {
                return Ok(true);
            }
            for (index, cell) in cells.iter().enumerate() {
                if cell.left.is_some_and(|left| taken[index] >= left) {
                    continue;
                }
                let mut taken = taken.clone();
                // Names that never run out need not be counted.
                taken[index] += u64::from(cell.left.is_some());
                let name = Name::In(&cell.within);
                let goals = self.goals_of_member(&[formula], name)?;
                for vector in self.vectors(&goals)? {
                    let outcome = |goal| outcome_of(&goals, &vector, goal);
                    let after = self.after_member(formula, name, &outcome)?;
                    if after != FormulaId::FALSE && seen.insert((after, taken.clone())) {
                        left.push((after, taken.clone()));
                    }
                }
            }
            if seen.len() > MAX_STATES {
                return Err(Trouble::Limit("states of an object in the search for its end"));
            }
        }
        Ok(false)
    }

    /// The names outside `names`, sorted into cells by the languages that atoms of `formula` speak of.
    pub(super) fn cells(
        &mut self,
        formula: FormulaId,
        names: &[TextId],
        used: &[TextId],
    ) -> Result<Vec<Cell>, Trouble> {
        let texts: Vec<&str> = names.iter().map(|name| self.texts.get(*name)).collect();
        let named = self.languages.one_of(&texts)?;
        let mut cells = vec![(Vec::new(), self.languages.not(named)?)];
        for language in self.languages_of(formula) {
            let outside = self.languages.not(language)?;
            let mut split = Vec::new();
            for (within, names) in cells {
                let inner = self.languages.and(&[names, language])?;
                if !self.languages.is_empty(inner)? {
                    let mut within: Vec<LanguageId> = within.clone();
                    within.push(language);
                    split.push((within, inner));
                }
                let outer = self.languages.and(&[names, outside])?;
                if !self.languages.is_empty(outer)? {
                    split.push((within, outer));
                }
            }
            cells = split;
            if cells.len() > MAX_CELLS {
                return Err(Trouble::Limit("classes of names in one object"));
            }
        }
        let mut sorted = Vec::new();
        for (within, names) in cells {
            let left = self.left(names, used)?;
            sorted.push(Cell { within, names, left });
        }
        Ok(sorted)
    }

    fn languages_of(&self, formula: FormulaId) -> Vec<LanguageId> {
        let atoms = self.formulas.atoms(formula).iter();
        let mut languages: Vec<LanguageId> = atoms
            .filter_map(|atom| match self.atoms.kind(*atom) {
                AtomKind::Members(Keys::Language(language), _) => Some(language),
                _ => None,
            })
            .collect();
        languages.sort_unstable();
        languages.dedup();
        languages
    }

    /// How many names of a language have not been used; none where that is more than any search looks at.
    fn left(&mut self, names: LanguageId, used: &[TextId]) -> Result<Option<u64>, Trouble> {
        let enough = MAX_STATES as u64 + used.len() as u64;
        let Cardinality::Finite(count) = self.languages.cardinality(names, enough)? else {
            return Ok(None);
        };
        let mut left = count;
        for &name in used {
            left -= u64::from(self.covers(Keys::Language(names), Name::Known(name))?);
        }
        Ok(Some(left))
    }
}

/// The outcome of `goal` in a vector over `goals`. Goals that are not among them were not asked for.
pub(super) fn outcome_of(goals: &[GoalId], vector: &[bool], goal: GoalId) -> bool {
    goals.binary_search(&goal).is_ok_and(|at| vector[at])
}
