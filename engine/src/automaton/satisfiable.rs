//! Is there a value? Is there a rest?
//!
//! Every byte that the machine allows rests on these answers: whether some value satisfies these goals and not those
//! ([`Automaton::satisfiable`]), and whether an object or array that has been read in part can be completed
//! ([`Automaton::object_can_end`], [`Automaton::array_can_end`]). Values are finite, so a question that comes up again
//! while it is being answered is answered no, and a no that rests on that is not remembered.

use hashbrown::{HashMap, HashSet};

use super::atom::{AtomKind, Keys, TextId};
use super::decision::DecisionId;
use super::formula::{Atom, FormulaId};
use super::goal::{Constraint, GoalId};
use super::questions::{Goals, Question};
use super::read::Name;
use super::{Automaton, Trouble};
use crate::limits::Exceeded;
use crate::strings::{Cardinality, LanguageId};

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

/// What a plain object must satisfy. See [`Automaton::plain`].
#[derive(Debug)]
pub(super) struct Plain {
    /// Names that must come.
    pub(super) required: Vec<TextId>,
    refused: HashSet<TextId>,
    goals: HashMap<TextId, Vec<GoalId>>,
    pub(super) languages: Vec<(LanguageId, GoalId)>,
    /// Members that there must be at least.
    pub(super) min: u64,
    /// Members that are too many.
    over: u64,
}

impl Default for Plain {
    fn default() -> Self {
        Self {
            required: Vec::new(),
            refused: HashSet::new(),
            goals: HashMap::new(),
            languages: Vec::new(),
            min: 0,
            over: u64::MAX,
        }
    }
}

impl Plain {
    /// Whether there is room for a member that none of them is.
    pub(super) fn has_room_for_more(&self) -> bool {
        (self.required.len() as u64).saturating_add(1) < self.over
    }

    /// Whether there is room for a member of this name beside those that must come.
    fn has_room(&self, name: TextId) -> bool {
        let others = self.required.iter().filter(|required| **required != name).count() as u64;
        others + 1 < self.over
    }
}

/// A way to complete an object, or the beginning of one.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// Names that come.
    pub(super) taken: Vec<TextId>,
    /// Names that do not come.
    pub(super) passed: Vec<TextId>,
    /// What is left: in the end something plain, or something that holds, or else `false`.
    pub(super) rest: FormulaId,
}

impl Default for Way {
    fn default() -> Self {
        Self {
            taken: Vec::new(),
            passed: Vec::new(),
            rest: FormulaId::TRUE,
        }
    }
}

impl Way {
    fn taking(&self, name: TextId, rest: FormulaId) -> Self {
        let mut way = Self { rest, ..self.clone() };
        way.taken.push(name);
        way
    }

    fn passing(&self, name: TextId, rest: FormulaId) -> Self {
        let mut way = Self { rest, ..self.clone() };
        way.passed.push(name);
        way
    }
}

/// Says whether outcomes will do.
type Leaf<'a> = &'a mut dyn FnMut(&mut Automaton, &[bool]) -> Result<bool, Trouble>;

impl Automaton {
    /// Whether there is a value that satisfies all goals of `all` and none of `none`.
    pub(super) fn satisfiable(&mut self, all: &[GoalId], none: &[GoalId]) -> Result<bool, Trouble> {
        if all.contains(&GoalId::NOTHING) || none.contains(&GoalId::ANYTHING) {
            return Ok(false);
        }
        let goals = Goals::new(all, none);
        if goals.all.iter().any(|goal| goals.none.binary_search(goal).is_ok()) {
            return Ok(false);
        }
        self.ask(Question::Value(goals))
    }

    /// Works out the answer to a question.
    pub(super) fn answer(&mut self, question: &Question) -> Result<bool, Trouble> {
        match question {
            Question::Value(goals) => self.search_value(&goals.all, &goals.none),
            Question::Array(formula) if self.asks_unique(&[*formula]) => self.unique_array_can_end(*formula, &[], None),
            Question::Array(formula) => self.search_array(*formula),
            Question::Object(formula, used) => Ok(self.object_end(*formula, used)?.is_some()),
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
        let allowed = self.limits.goals;
        if goals.len() > allowed {
            let (limit, what) = ("goals", "subschemas and earlier items that one value is compared with");
            return Err(Exceeded { limit, what, allowed }.into());
        }
        let Some(sorted) = self.sort_few(goals)? else {
            return self.vectors_beside(goals, never, &[]);
        };
        // A value that satisfies a goal of few values is one of them, and every other satisfies none of these goals.
        let (few, others) = (sorted.few.iter(), sorted.others.iter());
        let few: Vec<GoalId> = few.map(|place| goals[*place]).collect();
        let rest: Vec<GoalId> = others.map(|place| goals[*place]).collect();
        let mut vectors: Vec<Vec<bool>> = sorted.known.into_iter().map(|(_, outcomes)| outcomes).collect();
        vectors.retain(|outcomes| {
            !goals
                .iter()
                .zip(outcomes)
                .any(|(goal, outcome)| *outcome && never.contains(goal))
        });
        for outcomes in self.vectors_beside(&rest, never, &few)? {
            let mut vector = vec![false; goals.len()];
            for (place, outcome) in sorted.others.iter().zip(outcomes) {
                vector[*place] = outcome;
            }
            vectors.push(vector);
        }
        vectors.sort_unstable_by(|a, b| b.cmp(a));
        vectors.dedup();
        self.check_outcomes(vectors.len())?;
        Ok(vectors)
    }

    /// The outcome vectors over `goals` of values that satisfy no goal of `never` and none of `beside`.
    fn vectors_beside(
        &mut self,
        goals: &[GoalId],
        never: &[GoalId],
        beside: &[GoalId],
    ) -> Result<Vec<Vec<bool>>, Trouble> {
        let mut vectors = Vec::new();
        let (mut all, mut none): (Vec<GoalId>, Vec<GoalId>) = (Vec::new(), beside.to_vec());
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
                self.check_outcomes(vectors.len())?;
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
            None if !seen.is_empty() && self.asks_unique(&[formula]) => self.unique_array_can_end(formula, seen, None),
            None if self.asks_unique(&[formula]) => self.ask(Question::Array(formula)),
            None => {
                let formula = self.shortened_array(formula);
                self.ask(Question::Array(formula))
            }
        }
    }

    fn check_outcomes(&self, count: usize) -> Result<(), Trouble> {
        let allowed = self.limits.outcomes;
        let (limit, what) = ("outcomes", "combinations of subschemas that a value may satisfy");
        match count > allowed {
            true => Err(Exceeded { limit, what, allowed }.into()),
            false => Ok(()),
        }
    }

    /// Whether so many states may be looked at.
    pub(super) fn check_states(&self, count: usize, what: &'static str) -> Result<(), Trouble> {
        let (limit, allowed) = ("search_states", self.limits.search_states);
        match count > allowed {
            true => Err(Exceeded { limit, what, allowed }.into()),
            false => Ok(()),
        }
    }

    /// Whether there may be so many classes of names.
    pub(super) fn check_classes(&self, count: usize) -> Result<(), Trouble> {
        let allowed = self.limits.name_classes;
        let (limit, what) = ("name_classes", "classes of names in one object");
        match count > allowed {
            true => Err(Exceeded { limit, what, allowed }.into()),
            false => Ok(()),
        }
    }

    /// An array formula with shorter stretches between the places that it speaks of, where that makes no difference to
    /// whether the array can be completed. An item changes what is left to find, or it changes nothing and can be left
    /// out or come again; so it takes no more items between two places than there are things to find, and one.
    pub(super) fn shortened_array(&mut self, formula: FormulaId) -> FormulaId {
        let (mut places, mut to_find) = (Vec::new(), 1_u64);
        for &atom in self.formulas.atoms(formula) {
            match self.atoms.kind(atom) {
                AtomKind::LengthAtLeast(count) => places.push(count),
                AtomKind::Items { from, to, .. } => places.extend([from].into_iter().chain(to)),
                AtomKind::Contains(_, count) => to_find = to_find.saturating_add(count),
                _ => {}
            }
        }
        let Some(new) = shortened(places, to_find) else {
            return formula;
        };
        let mut changes = Vec::new();
        for atom in self.formulas.atoms(formula).to_vec() {
            let change = match self.atoms.kind(atom) {
                AtomKind::LengthAtLeast(count) => AtomKind::LengthAtLeast(new[&count]),
                AtomKind::Items { from, to, goal } => AtomKind::Items {
                    from: new[&from],
                    to: to.map(|to| new[&to]),
                    goal,
                },
                other => other,
            };
            changes.push((atom, self.atom(change)));
        }
        self.changed(formula, &changes)
    }

    /// The same for an object to which only members come that no atom names, so many of them of kinds that run out.
    fn shortened_object(&mut self, formula: FormulaId, scarce: u64) -> FormulaId {
        let (mut counts, mut to_find) = (Vec::new(), scarce.saturating_add(1));
        for &atom in self.formulas.atoms(formula) {
            match self.atoms.kind(atom) {
                AtomKind::CountAtLeast(count) => counts.push(count),
                _ => to_find = to_find.saturating_add(1),
            }
        }
        let Some(new) = shortened(counts, to_find) else {
            return formula;
        };
        let mut changes = Vec::new();
        for atom in self.formulas.atoms(formula).to_vec() {
            if let AtomKind::CountAtLeast(count) = self.atoms.kind(atom) {
                changes.push((atom, self.atom(AtomKind::CountAtLeast(new[&count]))));
            }
        }
        self.changed(formula, &changes)
    }

    /// The same after one more item, which satisfies `last` and differs from those seen.
    pub(super) fn array_can_end_after(
        &mut self,
        formula: FormulaId,
        seen: &[GoalId],
        last: &Goals,
    ) -> Result<bool, Trouble> {
        match formula.decided() {
            Some(decided) => Ok(decided),
            None if self.asks_unique(&[formula]) => self.unique_array_can_end(formula, seen, Some(last)),
            None => self.array_can_end(formula, &[]),
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
            self.check_states(seen.len(), "states of an array in the search for its end")?;
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

    /// The names of kinds that can run out, where it matters to `formula` which names have come.
    pub(super) fn scarce_names(&mut self, formula: FormulaId) -> Result<LanguageId, Trouble> {
        if let Some(&known) = self.scarce.get(&formula) {
            return Ok(known);
        }
        let mut scarce = Vec::new();
        if !self.is_plain(formula) {
            let mut atoms = self.formulas.atoms(formula).iter();
            let is_counted = atoms.any(|atom| matches!(self.atoms.kind(*atom), AtomKind::CountAtLeast(_)));
            for cell in self.cells(formula, &[], &[])? {
                if cell.left.is_some() && (is_counted || !cell.within.is_empty()) {
                    scarce.push(cell.names);
                }
            }
        }
        let scarce = self.languages.or(&scarce)?;
        self.scarce.insert(formula, scarce);
        Ok(scarce)
    }

    /// A way in which an object can be completed.
    pub(super) fn object_end(&mut self, formula: FormulaId, used: &[TextId]) -> Result<Option<Way>, Trouble> {
        let all_names = self.names(formula);
        let scarce = match self.at_end(formula) {
            true => self.languages.none(),
            false => self.scarce_names(formula)?,
        };
        let is_scarce = scarce != self.languages.none();
        let mut left = vec![Way {
            rest: formula,
            ..Way::default()
        }];
        let mut seen: HashSet<(FormulaId, Vec<TextId>)> = HashSet::new();
        while let Some(way) = left.pop() {
            let formula = way.rest;
            let decided = [&way.taken[..], &way.passed].concat();
            if self.has_end(formula, &[used, &decided].concat())? {
                return Ok(Some(way));
            }
            if self.is_by_name(formula) {
                continue;
            }
            let Some(name) = self.next_name(formula) else {
                let names = if is_scarce { &decided } else { &all_names };
                if self.others_can_end(formula, names, used)? {
                    return Ok(Some(Way {
                        rest: FormulaId::FALSE,
                        ..way
                    }));
                }
                continue;
            };
            let mut after = vec![way.passing(name, self.without(formula, name))];
            let goals = self.goals_of_member(&[formula], Name::Known(name))?;
            for vector in self.vectors(&goals)? {
                let outcome = |goal| outcome_of(&goals, &vector, goal);
                let rest = self.after_member(formula, Name::Known(name), &outcome)?;
                let way = way.taking(name, rest);
                let decided = [&way.taken[..], &way.passed].concat();
                if self.has_end(rest, &[used, &decided].concat())? {
                    return Ok(Some(way));
                }
                after.push(way);
            }
            after.retain(|way| way.rest != FormulaId::FALSE);
            // What is nearest to an end is looked at first.
            after.sort_by_key(|way| std::cmp::Reverse(self.missing(&way.rest)));
            for way in after {
                // Which of the names that can run out are gone is a part of the state.
                let mut decided = Vec::new();
                for &name in way.taken.iter().chain(&way.passed).filter(|_| is_scarce) {
                    if self.covers(Keys::Language(scarce), Name::Known(name))? {
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

    /// A way to complete an object in which as many of `names` come as fit beside those before them.
    pub(super) fn widest_way(
        &mut self,
        formula: FormulaId,
        names: &[TextId],
        gone: &[TextId],
    ) -> Result<Option<Way>, Trouble> {
        let mut way = Way {
            rest: formula,
            ..Way::default()
        };
        for &name in names {
            let goals = self.goals_of_member(&[way.rest], Name::Known(name))?;
            let rest = self.after_member(way.rest, Name::Known(name), &|_| true)?;
            if rest != FormulaId::FALSE && self.satisfiable(&goals, &[])? {
                way = way.taking(name, rest);
            }
        }
        let gone = [gone, &way.taken].concat();
        Ok(self.object_can_end(way.rest, &gone)?.then_some(way))
    }

    /// Whether it is easily seen that an object can be completed.
    fn has_end(&mut self, formula: FormulaId, gone: &[TextId]) -> Result<bool, Trouble> {
        if self.at_end(formula) {
            return Ok(true);
        }
        match self.plain(formula) {
            Some(plain) => self.plain_can_end(&plain, formula, gone),
            None => Ok(false),
        }
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

    /// What a formula says that asks only for names that must come, for names that must not, for members that satisfy
    /// goals, and for numbers of members: in such an object each name is a matter by itself. None of other formulas.
    pub(super) fn plain(&self, formula: FormulaId) -> Option<Plain> {
        let mut plain = Plain::default();
        for part in self.formulas.conjuncts(&formula) {
            let (atom, wanted) = self.formulas.literal(*part)?;
            match (self.atoms.kind(atom), wanted) {
                (AtomKind::Has(name), true) => plain.required.push(name),
                (AtomKind::Has(name), false) => {
                    plain.refused.insert(name);
                }
                (AtomKind::Members(Keys::Name(name), goal), true) => plain.goals.entry(name).or_default().push(goal),
                (AtomKind::Members(Keys::Language(names), goal), true) => plain.languages.push((names, goal)),
                (AtomKind::CountAtLeast(count), true) => plain.min = plain.min.max(count),
                (AtomKind::CountAtLeast(count), false) => plain.over = plain.over.min(count),
                _ => return None,
            }
        }
        Some(plain)
    }

    /// Whether `formula` says no more than [`plain`](Self::plain) knows.
    pub(super) fn is_by_name(&self, formula: FormulaId) -> bool {
        self.says_only(formula, |kind, wanted| match kind {
            AtomKind::Has(_) | AtomKind::CountAtLeast(_) => true,
            AtomKind::Members(..) => wanted,
            _ => false,
        })
    }

    /// The same, and nothing of numbers of members.
    pub(super) fn is_plain(&self, formula: FormulaId) -> bool {
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

    /// Whether a member of this name can come in a plain object, as far as that depends on its name and value.
    pub(super) fn plain_may_come(&mut self, plain: &Plain, name: TextId) -> Result<bool, Trouble> {
        if plain.refused.contains(&name) || !plain.has_room(name) {
            return Ok(false);
        }
        let mut goals = plain.goals.get(&name).cloned().unwrap_or_default();
        for &(names, goal) in &plain.languages {
            if self.covers(Keys::Language(names), Name::Known(name))? {
                goals.push(goal);
            }
        }
        self.satisfiable(&goals, &[])
    }

    /// Whether a plain object, the names `gone` of which cannot come any more, can be completed.
    fn plain_can_end(&mut self, plain: &Plain, formula: FormulaId, gone: &[TextId]) -> Result<bool, Trouble> {
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
            if !plain.required.contains(name) && self.plain_may_come(plain, *name)? {
                wanting -= 1;
                if wanting == 0 {
                    return Ok(true);
                }
            }
        }
        for cell in self.cells(formula, &names, gone)? {
            let goals = self.goals_of_member(&[formula], Name::In(&cell.within))?;
            if self.satisfiable(&goals, &[])? {
                match cell.left {
                    Some(left) if left < wanting => wanting -= left,
                    _ => return Ok(true),
                }
            }
        }
        Ok(false)
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
        let scarce = cells.iter().filter_map(|cell| cell.left);
        let formula = self.shortened_object(formula, scarce.fold(0, u64::saturating_add));
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
            self.check_states(seen.len(), "states of an object in the search for its end")?;
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
        let mut cells = vec![(Vec::new(), self.languages.any())];
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
            self.check_classes(cells.len())?;
        }
        let mut sorted = Vec::new();
        for (within, all) in cells {
            let mut named = Vec::new();
            for &name in names {
                if self.covers(Keys::Language(all), Name::Known(name))? {
                    named.push(name);
                }
            }
            let Some(left) = self.left(all, &named, used)? else {
                sorted.push(Cell {
                    within,
                    names: self.without_names(all, &named)?,
                    left: None,
                });
                continue;
            };
            if left > 0 {
                let names = self.without_names(all, &named)?;
                sorted.push(Cell {
                    within,
                    names,
                    left: Some(left),
                });
            }
        }
        Ok(sorted)
    }

    pub(super) fn without_names(&mut self, language: LanguageId, names: &[TextId]) -> Result<LanguageId, Trouble> {
        if names.is_empty() {
            return Ok(language);
        }
        let texts: Vec<&str> = names.iter().map(|name| self.texts.get(*name)).collect();
        let named = self.languages.one_of(&texts)?;
        let others = self.languages.not(named)?;
        Ok(self.languages.and(&[language, others])?)
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

    /// How many names of a language are neither among those of it that are `named`, nor used; none where that is more than
    /// any search looks at.
    fn left(&mut self, names: LanguageId, named: &[TextId], used: &[TextId]) -> Result<Option<u64>, Trouble> {
        let enough = (self.limits.search_states + named.len() + used.len()) as u64;
        let Cardinality::Finite(count) = self.languages.cardinality(names, enough)? else {
            return Ok(None);
        };
        let mut left = count - named.len() as u64;
        let used: HashSet<TextId> = used.iter().copied().collect();
        for name in &used {
            if !named.contains(name) && self.covers(Keys::Language(names), Name::Known(*name))? {
                left -= 1;
            }
        }
        Ok(Some(left))
    }
}

/// The outcome of `goal` in a vector over `goals`. Goals that are not among them were not asked for.
pub(super) fn outcome_of(goals: &[GoalId], vector: &[bool], goal: GoalId) -> bool {
    goals.binary_search(&goal).is_ok_and(|at| vector[at])
}

/// The goals of a vector that are satisfied, and those that are not.
pub(super) fn split(goals: &[GoalId], vector: &[bool]) -> (Vec<GoalId>, Vec<GoalId>) {
    let pick = |wanted: bool| {
        let pairs = goals.iter().zip(vector).filter(move |(_, outcome)| **outcome == wanted);
        pairs.map(|(goal, _)| *goal).collect()
    };
    (pick(true), pick(false))
}

/// New numbers for places, in the same order and with at most `most` between neighbours; none where they are few anyway.
fn shortened(mut places: Vec<u64>, most: u64) -> Option<HashMap<u64, u64>> {
    /// Stretches up to which counting is quicker than shortening.
    const SHORT: u64 = 64;
    places.sort_unstable();
    places.dedup();
    let most = most.max(SHORT);
    if places.last().is_none_or(|last| *last <= most) {
        return None;
    }
    let (mut before, mut new_before) = (0, 0);
    let mut new = HashMap::new();
    for place in places {
        new_before += (place - before).min(most);
        before = place;
        new.insert(place, new_before);
    }
    Some(new)
}
