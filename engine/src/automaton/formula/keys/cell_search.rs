//! [`CellSearch`]: the search for the cells into which languages sort the keys of an object.
//!
//! `n` independent patterns sort keys into 2^n cells. So callers that need not see all cells ask for one after the other, for a list only
//! where it is short, or for the cells that others do not stand for.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{Algebra, CellKeys, FormulaId, KeyCell, Keys, MemberKey, TextId};
use crate::strings::{LanguageId, Padding};

/// Number of cells that are listed however few languages there are.
const FEW_CELLS: usize = 16;

/// Number of cells that are listed for each language. Languages of which hardly any two have keys in common sort keys into no more.
const FEW_CELLS_OF_EACH: usize = 4;

/// Languages up to which the keys of their cells are counted instead of looking for a proof that they are infinitely many.
const LANGUAGES_COUNTED: usize = 4;

/// A search for the cells into which languages sort keys, one after the other.
#[derive(Debug, Default)]
pub(crate) struct CellSearch {
    /// Cells that were found by looking keys up in lists.
    listed: std::vec::IntoIter<KeyCell>,
    languages: Vec<LanguageId>,
    /// Whether it is known that no cell can run out of keys.
    is_infinite: bool,
    /// Number of languages, the first ones, that tell cells apart in any case where only [least cells](Algebra::least_cells) are looked
    /// for. `None` where all cells are looked for.
    told_by: Option<usize>,
    /// The languages of each cell found that cannot run out, where only least cells are looked for.
    least: Vec<Vec<LanguageId>>,
    /// The keys that are left out, sorted by their ids.
    taken: Vec<TextId>,
    /// Unions of cells: the languages that contain their keys, the keys, and the number of languages that were looked at.
    open: Vec<(Vec<LanguageId>, LanguageId, usize)>,
    /// Number of cells that were found, those without a key that is left among them.
    found: usize,
}

impl Algebra {
    /// The keys that are neither in `names` nor in `used`, sorted into cells by the languages that atoms of `formula` speak of. `None` where there
    /// are many more cells than languages: each independent pattern doubles their number.
    pub(crate) fn few_key_cells(
        &mut self,
        formula: FormulaId,
        names: &[TextId],
        used: &[TextId],
    ) -> Result<Option<Vec<KeyCell>>, AutomatonError> {
        let mut search = self.cell_search(formula, names, used)?;
        let most = FEW_CELLS + FEW_CELLS_OF_EACH * search.languages.len();
        let mut cells: Vec<KeyCell> = std::mem::take(&mut search.listed).collect();
        let mut classes = Vec::new();
        while let Some(class) = self.next_class(&mut search)? {
            if classes.len() == most {
                return Ok(None);
            }
            classes.push(class);
        }
        for (within, names) in classes {
            cells.extend(self.cell_without(within, names, &search)?);
        }
        Ok(Some(cells))
    }

    /// The keys that are neither in `names` nor in `used`, sorted into cells by the languages that atoms of `formula` speak of, however many
    /// cells there are.
    pub(crate) fn key_cells(
        &mut self,
        formula: FormulaId,
        names: &[TextId],
        used: &[TextId],
    ) -> Result<Vec<KeyCell>, AutomatonError> {
        let mut search = self.cell_search(formula, names, used)?;
        self.remaining_cells(&mut search)
    }

    /// All cells that a search has not found yet.
    fn remaining_cells(&mut self, search: &mut CellSearch) -> Result<Vec<KeyCell>, AutomatonError> {
        let mut cells = Vec::new();
        while let Some(cell) = self.next_cell(search)? {
            cells.push(cell);
        }
        Ok(cells)
    }

    /// Cells of keys that are neither in `names` nor in `used`, sorted by `told_by` and other languages. A cell is left out if another
    /// is in the same languages of `told_by`, is in no other language that the first is not in, and cannot run out.
    ///
    /// That is enough for a search in which the other languages only put conditions on their members: a member with a key in fewer of
    /// them meets fewer conditions.
    pub(crate) fn least_cells(
        &mut self,
        told_by: Vec<LanguageId>,
        mut others: Vec<LanguageId>,
        names: &[TextId],
        used: &[TextId],
    ) -> Result<Vec<KeyCell>, AutomatonError> {
        others.retain(|language| !told_by.contains(language));
        let first = told_by.len();
        let languages = [told_by, others].concat();
        let mut sorted = languages.clone();
        sorted.sort_unstable();
        if let Some(cells) = self.key_cells_by_lists(&sorted, names, used)? {
            return Ok(cells);
        }
        let mut search = self.undecided_cells(languages, names, used)?;
        search.told_by = Some(first);
        let mut cells = self.remaining_cells(&mut search)?;
        // Keys in many languages come first, so that what holds of the most subschemas is tried first.
        cells.reverse();
        Ok(cells)
    }

    /// Whether it is known that none of the cells into which some languages sort keys can run out. Of few languages it is not asked,
    /// because counting the keys of their cells is cheaper.
    pub(crate) fn are_cells_infinite(&mut self, languages: &[LanguageId]) -> Result<bool, AutomatonError> {
        if languages.len() <= LANGUAGES_COUNTED {
            return Ok(false);
        }
        let mut padding = Padding::ALL;
        for &language in languages {
            let own = match self.key_memo.padding.get(&language) {
                Some(known) => *known,
                None => {
                    let own = self.languages.padding(language);
                    self.key_memo.padding.insert(language, own);
                    own
                }
            };
            padding = padding.of_both(own);
            if !padding.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the cell of a key among those into which some languages sort keys can run out, and whether the key is in one of them.
    pub(crate) fn cell_of_key(
        &mut self,
        languages: &[LanguageId],
        name: TextId,
    ) -> Result<(bool, bool), AutomatonError> {
        let (mut parts, mut is_within) = (Vec::with_capacity(languages.len()), false);
        for &language in languages {
            let covers = self.covers(Keys::Language(language), MemberKey::Known(name))?;
            is_within |= covers;
            parts.push(if covers {
                language
            } else {
                self.languages.not(language)?
            });
        }
        let cell = self.languages.and(&parts)?;
        Ok((self.count_remaining(cell, &[])?.is_some(), is_within))
    }

    /// A search that finds the cells of [`key_cells`](Self::key_cells) one by one, for callers that need not see all of them.
    pub(crate) fn cell_search(
        &mut self,
        formula: FormulaId,
        names: &[TextId],
        used: &[TextId],
    ) -> Result<CellSearch, AutomatonError> {
        let languages = self.languages_of(formula);
        match self.key_cells_by_lists(&languages, names, used)? {
            Some(cells) => Ok(CellSearch {
                listed: cells.into_iter(),
                ..CellSearch::default()
            }),
            None => self.undecided_cells(languages, names, used),
        }
    }

    /// A search that has looked at nothing yet.
    fn undecided_cells(
        &mut self,
        languages: Vec<LanguageId>,
        names: &[TextId],
        used: &[TextId],
    ) -> Result<CellSearch, AutomatonError> {
        let mut taken = [names, used].concat();
        taken.sort_unstable();
        taken.dedup();
        Ok(CellSearch {
            is_infinite: self.are_cells_infinite(&languages)?,
            languages,
            taken,
            open: vec![(Vec::new(), self.languages.any(), 0)],
            ..CellSearch::default()
        })
    }

    /// Finds the next cell, where patterns sort the keys one of those in few languages first; `None` where there is no other.
    pub(crate) fn next_cell(&mut self, search: &mut CellSearch) -> Result<Option<KeyCell>, AutomatonError> {
        if let Some(cell) = search.listed.next() {
            return Ok(Some(cell));
        }
        while let Some((within, names)) = self.next_class(search)? {
            let Some(cell) = self.cell_without(within, names, search)? else {
                continue;
            };
            if search.told_by.is_some() && cell.left.is_none() {
                search.least.push(cell.within.clone());
            }
            return Ok(Some(cell));
        }
        Ok(None)
    }

    /// Finds the languages of the next cell, and the language of the keys that are in exactly these. All of these keys may be among those
    /// that the search leaves out.
    fn next_class(&mut self, search: &mut CellSearch) -> Result<Option<(Vec<LanguageId>, LanguageId)>, AutomatonError> {
        while let Some((within, names, decided)) = search.open.pop() {
            if self.has_less(search, &within, names, decided)? {
                // Cells that are left out count as well: there may be as many of them.
                search.found += 1;
                self.check_classes(search.found)?;
                continue;
            }
            let Some(&language) = search.languages.get(decided) else {
                search.found += 1;
                self.check_classes(search.found)?;
                return Ok(Some((within, names)));
            };
            let outside = self.languages.not(language)?;
            let outer = self.languages.and(&[names, outside])?;
            let inner = self.languages.and(&[names, language])?;
            let also_within = [&within[..], &[language]].concat();
            for (within, names) in [(also_within, inner), (within, outer)] {
                if !self.languages.is_empty(names)? {
                    search.open.push((within, names, decided + 1));
                }
            }
        }
        Ok(None)
    }

    /// Whether a search for least cells has found one that stands for all cells whose keys are among `names`: those in the languages `within`,
    /// and perhaps in others behind the first `decided` ones.
    fn has_less(
        &mut self,
        search: &CellSearch,
        within: &[LanguageId],
        names: LanguageId,
        decided: usize,
    ) -> Result<bool, AutomatonError> {
        let Some(told_by) = search.told_by.filter(|told_by| decided >= *told_by) else {
            return Ok(false);
        };
        let (told_by, open) = (&search.languages[..told_by], &search.languages[decided..]);
        'least: for less in &search.least {
            if told_by
                .iter()
                .any(|language| within.contains(language) && !less.contains(language))
            {
                continue;
            }
            for language in less.iter().filter(|language| !within.contains(language)) {
                // All of the keys may be in a language that is decided about later.
                if !open.contains(language) {
                    continue 'least;
                }
                let outside = self.languages.not(*language)?;
                let outside = self.languages.and(&[names, outside])?;
                if !self.languages.is_empty(outside)? {
                    continue 'least;
                }
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// The cell of the keys of a language that are not left out of a search; `None` if there are none.
    fn cell_without(
        &mut self,
        mut within: Vec<LanguageId>,
        all: LanguageId,
        search: &CellSearch,
    ) -> Result<Option<KeyCell>, AutomatonError> {
        within.sort_unstable();
        let mut taken_of = Vec::new();
        for &name in &search.taken {
            if self.covers(Keys::Language(all), MemberKey::Known(name))? {
                taken_of.push(name);
            }
        }
        let left = match search.is_infinite {
            true => None,
            false => self.count_remaining(all, &taken_of)?,
        };
        if left == Some(0) {
            return Ok(None);
        }
        let names = CellKeys::Language(self.without_keys(all, &taken_of)?);
        Ok(Some(KeyCell { within, names, left }))
    }
}
