//! The names that a formula speaks of, and all others, sorted into cells.

use hashbrown::HashSet;

use crate::automaton::atom::{AtomKind, Keys, TextId};
use crate::automaton::formula::FormulaId;
use crate::automaton::read::Name;
use crate::automaton::{Automaton, Trouble};
use crate::limits::Exceeded;
use crate::strings::{Cardinality, LanguageId};

/// Names that no atom names, alike to all atoms.
#[derive(Clone, Debug)]
pub(in crate::automaton) struct Cell {
    /// The languages of atoms that they are in.
    pub(in crate::automaton) within: Vec<LanguageId>,
    /// The names.
    pub(in crate::automaton) names: LanguageId,
    /// How many there are that have not been used; none where they never run out.
    pub(in crate::automaton) left: Option<u64>,
}

impl Automaton {
    /// The names that atoms of `formula` name, sorted. None of them has been used: what is read leaves no such atom.
    pub(in crate::automaton) fn names(&self, formula: FormulaId) -> Vec<TextId> {
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
    pub(in crate::automaton) fn could_matter(&mut self, formula: FormulaId, name: TextId) -> Result<bool, Trouble> {
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

    /// The names outside `names`, sorted into cells by the languages that atoms of `formula` speak of.
    pub(in crate::automaton) fn cells(
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

    pub(in crate::automaton) fn without_names(
        &mut self,
        language: LanguageId,
        names: &[TextId],
    ) -> Result<LanguageId, Trouble> {
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

    /// Whether there may be so many classes of names.
    pub(in crate::automaton) fn check_classes(&self, count: usize) -> Result<(), Trouble> {
        let allowed = self.limits.name_classes;
        let (limit, what) = ("name_classes", "classes of names in one object");
        match count > allowed {
            true => Err(Exceeded { limit, what, allowed }.into()),
            false => Ok(()),
        }
    }
}
