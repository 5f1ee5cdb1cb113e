//! Values that satisfy goals, written out: to tell whether there are enough of them to differ.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::atom::{AtomKind, TextId};
use super::formula::FormulaId;
use super::goal::{Goal, GoalId};
use super::questions::Goals;
use super::read::Name;
use super::satisfiable::{outcome_of, split};
use super::{Automaton, Trouble};
use crate::json::Value;
use crate::limits::Exceeded;
use crate::numbers;
use crate::strings;

/// Nesting of values that are written out, which nests natively.
const MAX_DEPTH: usize = 12;

/// The values of a goal, as far as they were asked for.
#[derive(Clone, Debug)]
pub(super) enum Values {
    /// These are all, as goals of being equal to them; sorted.
    All(Arc<[GoalId]>),
    /// There are at least so many.
    AtLeast(usize),
}

/// Items of an array up to which it is made sure that each finds a value beside the others.
const MOST_OTHERS: usize = 16;

/// What is wanted of the values.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    all: &'a [GoalId],
    none: &'a [GoalId],
    most: usize,
    depth: usize,
}

impl Automaton {
    /// The values that satisfy all of the goals `all` and none of `none`; none where there are at least `most`.
    pub(super) fn values_up_to(&mut self, goals: &Goals, most: usize) -> Result<Option<Arc<[GoalId]>>, Trouble> {
        match self.domains.get(goals) {
            Some(Values::All(values)) => return Ok((values.len() < most).then(|| values.clone())),
            Some(Values::AtLeast(count)) if *count >= most => return Ok(None),
            _ => {}
        }
        if self.is_endless(&goals.all, &goals.none)? {
            self.domains.insert(goals.clone(), Values::AtLeast(usize::MAX));
            return Ok(None);
        }
        // Whoever asks will ask for a few more next.
        let (asked, most) = (most, most.next_power_of_two());
        let wanted = Wanted {
            all: &goals.all,
            none: &goals.none,
            most,
            depth: 0,
        };
        // Writing values out may ask for others again: all of it is bounded together.
        let outer = self.beginnings;
        let values = self.some_values(wanted);
        if outer == 0 {
            self.beginnings = 0;
        }
        let values = values?;
        let values = match values.len() < most {
            true => {
                let values = values.into_iter().map(|value| self.goals.intern(Goal::Equal(value)));
                let mut values: Vec<GoalId> = values.collect();
                values.sort_unstable();
                Values::All(values.into())
            }
            false => Values::AtLeast(most),
        };
        self.domains.insert(goals.clone(), values);
        self.values_up_to(goals, asked)
    }

    /// Up to `most` values; all where they are fewer.
    fn some_values(&mut self, wanted: Wanted<'_>) -> Result<Vec<Value>, Trouble> {
        let Wanted { all, none, most, depth } = wanted;
        if most == 0 || !self.satisfiable(all, none)? {
            return Ok(Vec::new());
        }
        if depth >= MAX_DEPTH {
            let (limit, what) = (
                "search_states",
                "levels of values that have to differ and are written out",
            );
            let allowed = MAX_DEPTH;
            return Err(Exceeded { limit, what, allowed }.into());
        }
        let value = self.combined(all, none)?;
        let (numbers, strings) = (value.numbers, value.strings);
        let mut values = Vec::new();
        values.extend(value.null.then(Value::null));
        values.extend(value.yes.then(|| Value::boolean(true)));
        values.extend(value.no.then(|| Value::boolean(false)));
        let count = self.number_texts.sets_mut().cardinality(numbers, most as u64)?;
        let many = !matches!(count, numbers::Cardinality::Exactly(_));
        if many
            || self.is_endless(all, none)?
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
        // Of items that have to differ one with as many values more as there are others has enough, whichever those take.
        let others = match self.asks_unique(&[formula]) {
            true => self
                .most_items(formula)
                .filter(|most| *most <= MOST_OTHERS)
                .unwrap_or(0),
            false => 0,
        };
        let of_item = Wanted {
            most: wanted.most.saturating_add(others),
            ..wanted
        };
        // The longest beginning and the shortest in turns: either may be the one that gets nowhere.
        let mut left = VecDeque::from([(formula, Vec::<Value>::new())]);
        let mut longest = false;
        while let Some((formula, items)) = match longest {
            true => left.pop_back(),
            false => left.pop_front(),
        } {
            longest = !longest;
            if self.at_end(formula) {
                values.push(Value::array(&items.iter().collect::<Vec<_>>()));
                if values.len() >= wanted.most {
                    return Ok(());
                }
            }
            let goals = self.goals_of_item(&[formula]);
            for vector in self.vectors(&goals)? {
                for item in self.children(&goals, &vector, of_item)? {
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
            self.beginnings += 1;
            self.check_states(self.beginnings, "beginnings of arrays that have to differ")?;
        }
        Ok(())
    }

    /// Items that an array has at most; none where it has no end.
    fn most_items(&self, formula: FormulaId) -> Option<usize> {
        let most = |part: &FormulaId| match self.formulas.literal(*part) {
            Some((atom, false)) => match self.atoms.kind(atom) {
                AtomKind::LengthAtLeast(over) => usize::try_from(over.saturating_sub(1)).ok(),
                _ => None,
            },
            _ => None,
        };
        self.formulas.conjuncts(&formula).iter().filter_map(most).min()
    }

    fn some_objects(&mut self, formula: FormulaId, wanted: Wanted<'_>, values: &mut Vec<Value>) -> Result<(), Trouble> {
        if values.len() >= wanted.most || formula == FormulaId::FALSE {
            return Ok(());
        }
        let mut names = self.names(formula);
        for cell in self.cells(formula, &names.clone(), &[])? {
            names.extend(self.some_names(&cell.names, wanted.most)?);
        }
        let mut left = vec![(formula, 0, Vec::<(TextId, Value)>::new())];
        while let Some((formula, index, members)) = left.pop() {
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
                        left.push((after, at + 1, members));
                    }
                }
            }
            self.beginnings += 1;
            self.check_states(self.beginnings, "beginnings of objects that have to differ")?;
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

/// Whether so many values can be chosen from each set that all differ.
pub(super) fn can_all_differ(sets: &[(Vec<GoalId>, usize)]) -> bool {
    let mut chosen: HashMap<GoalId, usize> = HashMap::new();
    let mut each = (0..sets.len()).flat_map(|set| std::iter::repeat_n(set, sets[set].1));
    each.all(|set| choose(set, sets, &mut chosen))
}

/// Finds a value for one more place of a set, by moving others where that helps: a shortest augmenting path.
fn choose(set: usize, sets: &[(Vec<GoalId>, usize)], chosen: &mut HashMap<GoalId, usize>) -> bool {
    // Each value that has been tried, with the one whose holder could take it instead.
    let mut instead_of: HashMap<GoalId, Option<GoalId>> = HashMap::new();
    let mut asking = vec![(set, None)];
    let mut asked: HashSet<usize> = HashSet::new();
    let mut next = 0;
    while let Some(&(set, moves)) = asking.get(next) {
        next += 1;
        if !asked.insert(set) {
            continue;
        }
        for &value in &sets[set].0 {
            if instead_of.contains_key(&value) {
                continue;
            }
            instead_of.insert(value, moves);
            if let Some(&holder) = chosen.get(&value) {
                asking.push((holder, Some(value)));
                continue;
            }
            let (mut free, mut mover) = (value, moves);
            while let Some(moved) = mover {
                if let Some(holder) = chosen.remove(&moved) {
                    chosen.insert(free, holder);
                }
                free = moved;
                mover = instead_of.get(&moved).copied().flatten();
            }
            chosen.insert(free, asking[0].0);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};

    use super::*;

    /// Against trying every choice.
    #[test]
    fn values_that_differ_are_found_if_there_are_any() {
        fn by_trying(places: &[&[GoalId]], taken: &mut Vec<GoalId>) -> bool {
            let Some((first, rest)) = places.split_first() else {
                return true;
            };
            first.iter().any(|value| {
                let free = !taken.contains(value);
                taken.push(*value);
                let found = free && by_trying(rest, taken);
                taken.pop();
                found
            })
        }
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(4);
        let mut possible = 0;
        for _ in 0..2000 {
            let sets: Vec<(Vec<GoalId>, usize)> = (0..random.random_range(1..5))
                .map(|_| {
                    let values = (0..6).filter(|_| random.random_bool(0.4)).map(GoalId).collect();
                    (values, random.random_range(1..3))
                })
                .collect();
            let places = sets
                .iter()
                .flat_map(|(set, count)| std::iter::repeat_n(&set[..], *count));
            let expected = by_trying(&places.collect::<Vec<_>>(), &mut Vec::new());
            assert_eq!(can_all_differ(&sets), expected, "{sets:?}");
            possible += usize::from(expected);
        }
        assert!((200..1800).contains(&possible), "{possible}");
    }
}
