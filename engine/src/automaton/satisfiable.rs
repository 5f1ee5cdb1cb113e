//! Is there a value? Is there a rest?
//!
//! Every byte that the machine allows rests on these answers: whether some value satisfies these goals and not those
//! ([`Automaton::satisfiable`]), and whether an object or array that has been read in part can be completed
//! ([`Automaton::object_can_end`], [`Automaton::array_can_end`]). Values are finite, so a question that comes up again
//! while it is being answered is answered no, and a no that rests on that is not remembered.

use std::collections::HashSet;

use super::atom::{AtomKind, Keys, TextId};
use super::decision::DecisionId;
use super::formula::FormulaId;
use super::goal::GoalId;
use super::read::Name;
use super::{Automaton, Trouble};
use crate::strings::{Cardinality, LanguageId};

/// Questions that may be open at once: nesting of values.
const MAX_OPEN: usize = 192;
/// States of one object or array that are looked at for one answer.
pub(super) const MAX_STATES: usize = 50_000;
/// Classes of names in one object.
const MAX_CELLS: usize = 256;
/// Goals of one value.
const MAX_GOALS: usize = 512;
/// Outcome vectors of one value.
const MAX_VECTORS: usize = 1 << 14;

/// Goals that a value satisfies, and goals that it does not; both sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Question {
    all: Vec<GoalId>,
    none: Vec<GoalId>,
}

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
        if all.iter().any(|goal| none.contains(goal)) {
            return Ok(false);
        }
        let tidy = |goals: &[GoalId], drop: GoalId| {
            let mut goals: Vec<GoalId> = goals.iter().copied().filter(|goal| *goal != drop).collect();
            goals.sort_unstable();
            goals.dedup();
            goals
        };
        let question = Question {
            all: tidy(all, GoalId::ANYTHING),
            none: tidy(none, GoalId::NOTHING),
        };
        if let Some(&answer) = self.answers.get(&question) {
            return Ok(answer);
        }
        if let Some(&depth) = self.open.get(&question) {
            self.rests_on = self.rests_on.min(depth);
            return Ok(false);
        }
        let depth = self.open.len();
        if depth >= MAX_OPEN {
            return Err(Trouble::Limit("nesting of values in the search for one that is valid"));
        }
        self.open.insert(question.clone(), depth);
        let outer = std::mem::replace(&mut self.rests_on, usize::MAX);
        let answer = self.search(&question);
        self.open.remove(&question);
        let rests_on = self.rests_on;
        let final_no = rests_on >= depth;
        let answer = answer?;
        self.rests_on = if answer || final_no { outer } else { outer.min(rests_on) };
        if answer || final_no {
            self.answers.insert(question, answer);
        }
        Ok(answer)
    }

    fn search(&mut self, question: &Question) -> Result<bool, Trouble> {
        let mut parts = Vec::new();
        for &goal in &question.all {
            parts.push((self.constraint(goal)?, true));
        }
        for &goal in &question.none {
            parts.push((self.constraint(goal)?, false));
        }
        if parts.iter().all(|(part, wanted)| part.null == *wanted)
            || parts.iter().all(|(part, wanted)| part.yes == *wanted)
            || parts.iter().all(|(part, wanted)| part.no == *wanted)
        {
            return Ok(true);
        }
        let mut numbers = self.number_texts.sets_mut().all();
        let mut strings = Vec::new();
        let (mut arrays, mut objects) = (Vec::new(), Vec::new());
        for (part, wanted) in parts {
            if wanted {
                numbers = self.number_texts.sets_mut().and(numbers, part.numbers)?;
                strings.push(part.strings);
                arrays.push(part.arrays);
                objects.push(part.objects);
            } else {
                let others = self.number_texts.sets_mut().not(part.numbers);
                numbers = self.number_texts.sets_mut().and(numbers, others)?;
                strings.push(self.languages.not(part.strings)?);
                arrays.push(self.formulas.not(part.arrays));
                objects.push(self.formulas.not(part.objects));
            }
        }
        if !self.number_texts.sets().is_empty(numbers) {
            return Ok(true);
        }
        let strings = self.languages.and(&strings)?;
        if !self.languages.is_empty(strings)? {
            return Ok(true);
        }
        let arrays = self.formulas.and(arrays);
        if self.array_can_end(arrays, &[])? {
            return Ok(true);
        }
        let objects = self.formulas.and(objects);
        self.object_can_end(objects, &[])
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
        if goals.len() > MAX_GOALS {
            return Err(Trouble::Limit(
                "subschemas and earlier items that one value is compared with",
            ));
        }
        let mut outcomes = Vec::with_capacity(goals.len());
        let mut budget = MAX_VECTORS;
        self.decide_from(goals, never, &mut outcomes, &mut budget, leaf)
    }

    /// Recursion goes as deep as there are goals at one place.
    fn decide_from(
        &mut self,
        goals: &[GoalId],
        never: &[GoalId],
        outcomes: &mut Vec<bool>,
        budget: &mut usize,
        leaf: Leaf<'_>,
    ) -> Result<DecisionId, Trouble> {
        let next = goals.get(outcomes.len());
        if next.is_some_and(|next| never.contains(next)) {
            let goal = outcomes.len() as u32;
            outcomes.push(false);
            let invalid = self.decide_from(goals, never, outcomes, budget, leaf)?;
            outcomes.pop();
            return Ok(self.decisions.branch(goal, DecisionId::NEVER, invalid));
        }
        let pick = |wanted: bool| {
            let pairs = goals.iter().zip(outcomes.iter());
            pairs
                .filter(move |(_, outcome)| **outcome == wanted)
                .map(|(goal, _)| *goal)
        };
        let (all, none): (Vec<GoalId>, Vec<GoalId>) = (pick(true).collect(), pick(false).collect());
        if !self.satisfiable(&all, &none)? {
            return Ok(DecisionId::NEVER);
        }
        if next.is_none() {
            *budget = budget
                .checked_sub(1)
                .ok_or(Trouble::Limit("combinations of subschemas that a value may satisfy"))?;
            return Ok(match leaf(self, outcomes)? {
                true => DecisionId::ALWAYS,
                false => DecisionId::NEVER,
            });
        }
        let goal = outcomes.len() as u32;
        outcomes.push(true);
        let valid = self.decide_from(goals, never, outcomes, budget, leaf)?;
        outcomes.pop();
        outcomes.push(false);
        let invalid = self.decide_from(goals, never, outcomes, budget, leaf)?;
        outcomes.pop();
        Ok(self.decisions.branch(goal, valid, invalid))
    }

    /// The outcome vectors over `goals` that some value has.
    pub(super) fn vectors(&mut self, goals: &[GoalId]) -> Result<Vec<Vec<bool>>, Trouble> {
        let mut vectors = Vec::new();
        self.decide(goals, &mut |_, outcomes| {
            vectors.push(outcomes.to_vec());
            Ok(true)
        })?;
        Ok(vectors)
    }

    /// Whether an array of which `formula` is left, after the items `seen` where it matters that items differ, can be
    /// completed.
    pub(super) fn array_can_end(&mut self, formula: FormulaId, seen: &[GoalId]) -> Result<bool, Trouble> {
        if let Some(decided) = formula.decided() {
            return Ok(decided);
        }
        if self.asks_unique(&[formula]) {
            return self.unique_array_can_end(formula, seen, Vec::new());
        }
        if let Some(&answer) = self.arrays.get(&formula) {
            return Ok(answer);
        }
        let outer = std::mem::replace(&mut self.rests_on, usize::MAX);
        let answer = self.search_array(formula);
        let rests_on = self.rests_on;
        let answer = answer?;
        if answer || rests_on == usize::MAX {
            self.arrays.insert(formula, answer);
        }
        self.rests_on = if answer { outer } else { outer.min(rests_on) };
        Ok(answer)
    }

    fn search_array(&mut self, formula: FormulaId) -> Result<bool, Trouble> {
        let mut seen = HashSet::from([formula]);
        let mut left = vec![formula];
        while let Some(formula) = left.pop() {
            if self.at_end(formula) {
                return Ok(true);
            }
            let goals = self.goals_of_item(&[formula]);
            let mut vectors = self.vectors(&goals)?;
            // The first found is the one with most goals satisfied: it is looked at first.
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
        if let Some(&answer) = self.objects.get(&formula) {
            return Ok(answer);
        }
        let outer = std::mem::replace(&mut self.rests_on, usize::MAX);
        let outer_used = std::mem::replace(&mut self.used_matters, false);
        let answer = self.search_object(formula, used);
        let (rests_on, used_matters) = (self.rests_on, self.used_matters);
        self.used_matters = outer_used;
        let answer = answer?;
        if (answer || rests_on == usize::MAX) && !used_matters {
            self.objects.insert(formula, answer);
        }
        self.rests_on = if answer { outer } else { outer.min(rests_on) };
        Ok(answer)
    }

    fn search_object(&mut self, formula: FormulaId, used: &[TextId]) -> Result<bool, Trouble> {
        if self.at_end(formula) {
            return Ok(true);
        }
        if let Some(required) = self.plain(formula) {
            for name in required {
                let goals = self.goals_of_member(&[formula], Name::Known(name))?;
                if !self.satisfiable(&goals, &[])? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        let names = self.names(formula);
        let mut seen = HashSet::from([(formula, 0)]);
        let mut left = vec![(formula, 0)];
        while let Some((formula, index)) = left.pop() {
            if self.at_end(formula) {
                return Ok(true);
            }
            if index == names.len() {
                if self.others_can_end(formula, &names, used)? {
                    return Ok(true);
                }
                continue;
            }
            let name = names[index];
            let mut after = Vec::new();
            if self.could_matter(formula, name)? {
                let goals = self.goals_of_member(&[formula], Name::Known(name))?;
                for vector in self.vectors(&goals)? {
                    let outcome = |goal| outcome_of(&goals, &vector, goal);
                    after.push(self.after_member(formula, Name::Known(name), &outcome)?);
                }
            }
            after.push(self.without(formula, name));
            for formula in after {
                if formula != FormulaId::FALSE && seen.insert((formula, index + 1)) {
                    left.push((formula, index + 1));
                }
            }
            if seen.len() > MAX_STATES {
                return Err(Trouble::Limit("states of an object in the search for its end"));
            }
        }
        Ok(false)
    }

    /// The names that must come, where the formula asks for nothing but that, for names that must not come, and for
    /// members that satisfy goals: such an object can be completed name by name.
    pub(super) fn plain(&self, formula: FormulaId) -> Option<Vec<TextId>> {
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

    /// Whether a member of this name could make a difference to `formula`.
    pub(super) fn could_matter(&mut self, formula: FormulaId, name: TextId) -> Result<bool, Trouble> {
        for atom in self.formulas.atoms(formula).to_vec() {
            let matters = match self.atoms.kind(atom) {
                AtomKind::Has(one) => one == name,
                AtomKind::CountAtLeast(_) => true,
                AtomKind::Members(keys, _) => self.covers(keys, Name::Known(name))?,
                _ => false,
            };
            if matters {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What is left of `formula` where no member of this name comes.
    pub(super) fn without(&mut self, formula: FormulaId, name: TextId) -> FormulaId {
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
        let mut seen = HashSet::from([(formula, taken.clone())]);
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
        self.used_matters = true;
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
