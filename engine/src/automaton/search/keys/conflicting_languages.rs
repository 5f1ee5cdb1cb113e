//! The keys that may come next where patterns sort keys into too many cells to look at: those that are in no conflicting languages at once.
//!
//! `n` independent patterns sort keys into 2^n cells. But where a formula only puts conditions on the members with keys in a language, never
//! asks that there be one, and has keys enough for the members that it counts, a key in fewer languages may come wherever a key in more
//! languages may. So the least sets of languages that cannot go together tell which keys may come. Where the languages ask for values of
//! different types, these sets are pairs.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Algebra, AssertionId, AtomKind, CellKeys, FormulaId, KeyCell, Keys, TextId};
use crate::automaton::search::Search;
use crate::strings::LanguageId;
use std::collections::BTreeMap;

/// Number of languages whose conflicts are looked for: sets of them are the bits of a number.
const MAX_LANGUAGES: usize = u128::BITS as usize;

/// A set of languages, by their places.
type LanguageSet = u128;

/// The sets of one language each that make up a set.
fn singles(set: LanguageSet) -> impl Iterator<Item = LanguageSet> {
    let all = (0..LanguageSet::BITS).map(|place| 1 << place);
    all.filter(move |one| set & one != 0)
}

/// The languages that a formula speaks of, and which of them are known to go together.
struct Conflicts {
    languages: Vec<LanguageId>,
    /// For each language the assertions that the formula makes of all members with keys in it, whatever else holds.
    asked: Vec<Vec<AssertionId>>,
    /// Sets that cannot go together, of which no language can be left out.
    least: Vec<LanguageSet>,
    /// Sets that go together, to which no language can be added.
    most: Vec<LanguageSet>,
}

impl Search {
    /// The language of the keys that may come next, `exhausted` and mentioned ones aside; `None` where this is not told by conflicts.
    pub(super) fn keys_without_conflict(
        &mut self,
        formula: FormulaId,
        exhausted: &[TextId],
    ) -> Result<Option<LanguageId>, AutomatonError> {
        let languages = self.algebra.languages_of(formula);
        if languages.len() > MAX_LANGUAGES || !self.may_be_in_fewer(formula, &languages)? {
            return Ok(None);
        }
        let mut conflicts = Conflicts {
            asked: languages
                .iter()
                .map(|language| self.asked_of(formula, *language))
                .collect(),
            languages,
            least: Vec::new(),
            most: Vec::new(),
        };
        self.find_conflicts(formula, exhausted, &mut conflicts)?;
        let refused = self.keys_in_conflicts(&conflicts)?;
        Ok(Some(self.algebra.languages.not(refused)?))
    }

    /// Whether a key in fewer of the languages that a formula speaks of may come wherever a key in more of them may: the formula asks for no
    /// member with a key in a language, and where it asks for a number of members, keys do not run out.
    fn may_be_in_fewer(&mut self, formula: FormulaId, languages: &[LanguageId]) -> Result<bool, AutomatonError> {
        let Algebra { formulas, atoms, .. } = &self.algebra;
        let is_of_language = |atom| matches!(atoms.kind(atom), AtomKind::Members(Keys::Language(_), _));
        let is_count = |atom| matches!(atoms.kind(atom), AtomKind::CountAtLeast(_));
        if formulas.has_occurrence(formula, false, &is_of_language) {
            return Ok(false);
        }
        if !formulas.has_occurrence(formula, true, &is_count) || self.algebra.are_cells_infinite(languages)? {
            return Ok(true);
        }
        let within = self.algebra.languages.or(languages)?;
        let others = self.algebra.languages.not(within)?;
        Ok(self.algebra.count_remaining(others, &[])?.is_none())
    }

    /// The language of the keys that are in all languages of a conflict.
    fn keys_in_conflicts(&mut self, conflicts: &Conflicts) -> Result<LanguageId, AutomatonError> {
        let languages = &mut self.algebra.languages;
        let mut refused = Vec::new();
        let mut beside = vec![0; conflicts.languages.len()];
        for &set in &conflicts.least {
            if set.count_ones() != 2 {
                refused.push(languages.and(&conflicts.within(set))?);
                continue;
            }
            let (one, other) = (set.trailing_zeros(), LanguageSet::BITS - 1 - set.leading_zeros());
            beside[one as usize] |= 1 << other;
            beside[other as usize] |= 1 << one;
        }
        // A language and its conflicts with those before it in an order are one part of the expression, and languages with the same such
        // conflicts are in one part. Where each conflict is one of types, there are as many parts as types.
        let mut order: Vec<usize> = (0..beside.len()).filter(|place| beside[*place] != 0).collect();
        order.sort_by_key(|place| beside[*place]);
        let mut by_earlier: BTreeMap<LanguageSet, LanguageSet> = BTreeMap::new();
        let mut earlier = 0;
        for place in order {
            *by_earlier.entry(beside[place] & earlier).or_default() |= 1 << place;
            earlier |= 1 << place;
        }
        for (ones, others) in by_earlier {
            let ones = languages.or(&conflicts.within(ones))?;
            let others = languages.or(&conflicts.within(others))?;
            refused.push(languages.and(&[ones, others])?);
        }
        Ok(languages.or(&refused)?)
    }

    /// The assertions that are conjuncts of a formula about all members with keys in a language.
    fn asked_of(&self, formula: FormulaId, language: LanguageId) -> Vec<AssertionId> {
        let parts = self.algebra.formulas.conjuncts(&formula).iter();
        let asked = parts.filter_map(|part| match self.algebra.formulas.literal(*part)? {
            (atom, true) => match self.algebra.atoms.kind(atom) {
                AtomKind::Members(Keys::Language(of), assertion) if of == language => Some(assertion),
                _ => None,
            },
            _ => None,
        });
        asked.collect()
    }

    /// Finds all least sets of languages that cannot go together.
    fn find_conflicts(
        &mut self,
        formula: FormulaId,
        exhausted: &[TextId],
        conflicts: &mut Conflicts,
    ) -> Result<(), AutomatonError> {
        let all = LanguageSet::MAX.checked_shr(LanguageSet::BITS - conflicts.languages.len() as u32);
        let all = all.unwrap_or_default();
        // Most conflicts are of pairs that cannot be satisfied by one value, for which no object has to be completed.
        let mut possible = all;
        for one in singles(all) {
            if !self.satisfiable(&conflicts.asked(one), &[])? {
                possible &= !one;
                conflicts.least.push(one);
            }
        }
        for one in singles(possible) {
            for other in singles(possible).filter(|other| *other > one) {
                if !self.satisfiable(&conflicts.asked(one | other), &[])? {
                    conflicts.least.push(one | other);
                }
            }
        }
        let mut steps = 0;
        loop {
            let unknown = conflicts.unknown(all, &mut steps, self.algebra.limits.search_states);
            self.check_states(steps, "sets of patterns for the keys of one object")?;
            let Some(mut set) = unknown else { break };
            if self.may_go_together(formula, exhausted, conflicts, set)? {
                for one in singles(all & !set) {
                    let more = set | one;
                    if !conflicts.has_conflict(more) && self.may_go_together(formula, exhausted, conflicts, more)? {
                        set = more;
                    }
                }
                conflicts.most.push(set);
            } else {
                for one in singles(set) {
                    if !self.may_go_together(formula, exhausted, conflicts, set & !one)? {
                        set &= !one;
                    }
                }
                conflicts.least.push(set);
            }
        }
        Ok(())
    }

    /// Whether a member may come next whose key is in exactly these languages, if there is such a key.
    fn may_go_together(
        &mut self,
        formula: FormulaId,
        exhausted: &[TextId],
        conflicts: &Conflicts,
        set: LanguageSet,
    ) -> Result<bool, AutomatonError> {
        if !self.satisfiable(&conflicts.asked(set), &[])? {
            return Ok(false);
        }
        let cell = KeyCell {
            within: conflicts.within(set),
            names: CellKeys::These(Vec::new()),
            left: None,
        };
        self.cell_may_follow(formula, &cell, exhausted)
    }
}

impl Conflicts {
    /// The languages of a set.
    fn within(&self, set: LanguageSet) -> Vec<LanguageId> {
        let languages = self.languages.iter().enumerate();
        let within = languages.filter(|(place, _)| set >> place & 1 == 1);
        within.map(|(_, language)| *language).collect()
    }

    /// The assertions that are made of all members with keys in all languages of a set.
    fn asked(&self, set: LanguageSet) -> Vec<AssertionId> {
        let asked = self.asked.iter().enumerate().filter(|(place, _)| set >> place & 1 == 1);
        let mut asked: Vec<AssertionId> = asked.flat_map(|(_, asked)| asked.iter().copied()).collect();
        asked.sort_unstable();
        asked.dedup();
        asked
    }

    /// Whether languages of a set are known not to go together.
    fn has_conflict(&self, set: LanguageSet) -> bool {
        self.least.iter().any(|least| set & least == *least)
    }

    /// A set of which it is not known whether it goes together: it has no known conflict, and is part of no set that is known to go together.
    /// Steps are counted; after more than `most` of them the search ends without a set.
    fn unknown(&self, all: LanguageSet, steps: &mut usize, most: usize) -> Option<LanguageSet> {
        // For each set that goes together a language outside of it is taken. Languages that were taken before in its place are not taken behind
        // it, so that no set is looked at twice.
        let mut open = vec![(0, 0, 0)];
        while let Some((set, passed, refused)) = open.pop() {
            *steps += 1;
            if *steps > most {
                return None;
            }
            if self.has_conflict(set) {
                continue;
            }
            let Some(place) = (passed..self.most.len()).find(|place| set & !self.most[*place] == 0) else {
                return Some(set);
            };
            let mut refused: LanguageSet = refused;
            for one in singles(all & !self.most[place] & !refused) {
                open.push((set | one, place + 1, refused));
                refused |= one;
            }
        }
        None
    }
}
