//! Values that satisfy goals, written out: to tell whether there are enough of them to differ.

use std::collections::{HashSet, VecDeque};

use super::atom::TextId;
use super::formula::FormulaId;
use super::goal::GoalId;
use super::read::Name;
use super::satisfiable::outcome_of;
use super::{Automaton, Trouble};
use crate::json::Value;
use crate::numbers;
use crate::strings;

/// Nesting of values that are written out.
const MAX_DEPTH: usize = 12;
/// Beginnings of arrays and objects that are looked at for one answer.
const MAX_WORK: usize = 4096;

/// Values, written out as far as was asked.
#[derive(Clone, Debug)]
pub(super) enum Values {
    /// These are all.
    All(Vec<Value>),
    /// There are at least as many as were asked for.
    Enough,
}

/// What is wanted of the values.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    all: &'a [GoalId],
    none: &'a [GoalId],
    most: usize,
    depth: usize,
}

impl Automaton {
    /// The values that satisfy all goals of `all` and none of `none`, where they are fewer than `most`.
    pub(super) fn values_up_to(&mut self, all: &[GoalId], none: &[GoalId], most: usize) -> Result<Values, Trouble> {
        let wanted = Wanted {
            all,
            none,
            most,
            depth: 0,
        };
        let values = self.some_values(wanted)?;
        Ok(match values.len() < most {
            true => Values::All(values),
            false => Values::Enough,
        })
    }

    /// Up to `most` values; all where they are fewer.
    fn some_values(&mut self, wanted: Wanted<'_>) -> Result<Vec<Value>, Trouble> {
        let Wanted { all, none, most, depth } = wanted;
        if most == 0 || !self.satisfiable(all, none)? {
            return Ok(Vec::new());
        }
        if depth >= MAX_DEPTH {
            return Err(Trouble::Limit("nesting of values that have to differ"));
        }
        let value = self.combined(all, none)?;
        let (numbers, strings) = (value.numbers, value.strings);
        let mut values = Vec::new();
        values.extend(value.null.then(Value::null));
        values.extend(value.yes.then(|| Value::boolean(true)));
        values.extend(value.no.then(|| Value::boolean(false)));
        let count = self.number_texts.sets().cardinality(numbers, most as u64);
        let endless = !matches!(count, numbers::Cardinality::Exactly(_));
        if endless
            || !matches!(
                self.languages.cardinality(strings, most as u64)?,
                strings::Cardinality::Finite(_)
            )
        {
            // There are enough of them, and which does not matter.
            let next = (0..most as i64).map(|number| Value::number(number.into()));
            return Ok(next.collect());
        }
        let members = self.number_texts.sets_mut().members(numbers, most)?;
        values.extend(members.into_iter().map(Value::number));
        let members = self.languages.members(strings, most)?;
        values.extend(members.iter().map(|text| Value::string(text)));
        self.some_arrays(value.arrays, wanted, &mut values)?;
        self.some_objects(value.objects, wanted, &mut values)?;
        values.truncate(most);
        Ok(values)
    }

    fn some_arrays(&mut self, formula: FormulaId, wanted: Wanted<'_>, values: &mut Vec<Value>) -> Result<(), Trouble> {
        if values.len() >= wanted.most || formula == FormulaId::FALSE {
            return Ok(());
        }
        let mut left = VecDeque::from([(formula, Vec::<Value>::new())]);
        let mut work = 0;
        while let Some((formula, items)) = left.pop_front() {
            if self.at_end(formula) {
                values.push(Value::array(&items.iter().collect::<Vec<_>>()));
                if values.len() >= wanted.most {
                    return Ok(());
                }
            }
            let goals = self.goals_of_item(&[formula]);
            for vector in self.vectors(&goals)? {
                for item in self.children(&goals, &vector, wanted)? {
                    let repeats = items.contains(&item);
                    let after = self.after_item(formula, &|goal| outcome_of(&goals, &vector, goal), repeats);
                    if after == FormulaId::FALSE {
                        continue;
                    }
                    let mut items = items.clone();
                    items.push(item);
                    left.push_back((after, items));
                }
            }
            work += 1;
            if work > MAX_WORK {
                return Err(Trouble::Limit("arrays that have to differ"));
            }
        }
        Ok(())
    }

    fn some_objects(&mut self, formula: FormulaId, wanted: Wanted<'_>, values: &mut Vec<Value>) -> Result<(), Trouble> {
        if values.len() >= wanted.most || formula == FormulaId::FALSE {
            return Ok(());
        }
        let mut names = self.names(formula);
        for cell in self.cells(formula, &names.clone(), &[])? {
            for text in self.languages.members(cell.names, wanted.most)? {
                names.push(self.texts.intern(&text));
            }
        }
        let mut left = VecDeque::from([(formula, 0, Vec::<(TextId, Value)>::new())]);
        let mut work = 0;
        while let Some((formula, index, members)) = left.pop_front() {
            if self.at_end(formula) {
                let texts = members.iter().map(|(name, value)| (self.texts.get(*name), value));
                values.push(Value::object(&texts.collect::<Vec<_>>()));
                if values.len() >= wanted.most {
                    return Ok(());
                }
            }
            for (at, &name) in names.iter().enumerate().skip(index) {
                let name_of = Name::Known(name);
                let goals = self.goals_of_member(&[formula], name_of)?;
                for vector in self.vectors(&goals)? {
                    let outcome = |goal| outcome_of(&goals, &vector, goal);
                    let after = self.after_member(formula, name_of, &outcome)?;
                    if !self.object_can_end(after, &[])? {
                        continue;
                    }
                    for value in self.children(&goals, &vector, wanted)? {
                        let mut members = members.clone();
                        members.push((name, value));
                        left.push_back((after, at + 1, members));
                    }
                }
            }
            work += 1;
            if work > MAX_WORK {
                return Err(Trouble::Limit("objects that have to differ"));
            }
        }
        Ok(())
    }

    /// Values of an item or member with these outcomes.
    fn children(&mut self, goals: &[GoalId], vector: &[bool], wanted: Wanted<'_>) -> Result<Vec<Value>, Trouble> {
        let (all, none) = split(goals, vector);
        self.some_values(Wanted {
            all: &all,
            none: &none,
            depth: wanted.depth + 1,
            ..wanted
        })
    }
}

/// The goals of a vector that are satisfied, and those that are not.
pub(super) fn split(goals: &[GoalId], vector: &[bool]) -> (Vec<GoalId>, Vec<GoalId>) {
    let pick = |wanted: bool| {
        let pairs = goals.iter().zip(vector).filter(move |(_, outcome)| **outcome == wanted);
        pairs.map(|(goal, _)| *goal).collect()
    };
    (pick(true), pick(false))
}

/// Whether one value can be chosen from each set so that all differ.
pub(super) fn can_all_differ(sets: &[Vec<GoalId>]) -> bool {
    let mut chosen: std::collections::HashMap<GoalId, usize> = std::collections::HashMap::new();
    (0..sets.len()).all(|set| place(set, sets, &mut chosen, &mut HashSet::new()))
}

/// Finds a value for one set, moving others where that helps (an augmenting path).
fn place(
    set: usize,
    sets: &[Vec<GoalId>],
    chosen: &mut std::collections::HashMap<GoalId, usize>,
    tried: &mut HashSet<GoalId>,
) -> bool {
    for &value in &sets[set] {
        if !tried.insert(value) {
            continue;
        }
        let free = match chosen.get(&value).copied() {
            None => true,
            Some(holder) => place(holder, sets, chosen, tried),
        };
        if free {
            chosen.insert(value, set);
            return true;
        }
    }
    false
}
