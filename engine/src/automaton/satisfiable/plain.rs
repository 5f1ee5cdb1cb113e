//! Plain objects: those of which each name is a matter by itself, so that whether they can be completed is seen without
//! a search.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::automaton::atom::{AtomKind, Keys, TextId};
use crate::automaton::formula::FormulaId;
use crate::automaton::goal::GoalId;
use crate::automaton::read::Name;
use crate::automaton::{Automaton, Trouble};
use crate::strings::LanguageId;

/// Plain objects that are kept.
const MOST_KEPT: usize = 1 << 14;

/// What a plain object must satisfy. See [`Automaton::plain`].
#[derive(Debug)]
pub(in crate::automaton) struct Plain {
    /// Names that must come.
    pub(in crate::automaton) required: Vec<TextId>,
    refused: HashSet<TextId>,
    goals: HashMap<TextId, Vec<GoalId>>,
    pub(in crate::automaton) languages: Vec<(LanguageId, GoalId)>,
    /// Members that there must be at least.
    pub(in crate::automaton) min: u64,
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
    pub(in crate::automaton) fn has_room_for_more(&self) -> bool {
        (self.required.len() as u64).saturating_add(1) < self.over
    }

    /// Whether there may be any number of members.
    pub(in crate::automaton) fn is_unbounded(&self) -> bool {
        self.over == u64::MAX
    }

    /// Whether there is room for a member of this name beside those that must come.
    fn has_room(&self, name: TextId) -> bool {
        let others = self.required.iter().filter(|required| **required != name).count() as u64;
        others + 1 < self.over
    }
}

impl Automaton {
    /// What a formula says that asks only for names that must come, for names that must not, for members that satisfy
    /// goals, and for numbers of members: in such an object each name is a matter by itself. None of other formulas.
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

    /// Whether a member of this name can come in a plain object, as far as that depends on its name and value.
    pub(in crate::automaton) fn plain_may_come(&mut self, plain: &Plain, name: TextId) -> Result<bool, Trouble> {
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
    pub(super) fn plain_can_end(
        &mut self,
        plain: &Plain,
        formula: FormulaId,
        gone: &[TextId],
    ) -> Result<bool, Trouble> {
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
}
