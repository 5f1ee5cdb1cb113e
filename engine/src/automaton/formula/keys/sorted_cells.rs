//! The keys that a formula mentions by themselves, and all other keys sorted into cells.
//!
//! A search need not try each key: keys that no atom tells apart have the same effect. Where the languages of the atoms
//! are short lists or complements of such, cells are found by looking keys up in the lists; only patterns need Boolean
//! operations on languages.

use crate::automaton::error::{AutomatonError, check_limit};
use crate::automaton::formula::{
    Algebra, AtomKind, CellKeys, ENUMERATED_KEYS, EnumeratedKeys, FormulaId, KeyCell, Keys, MemberKey, TextId,
};
use crate::strings::{Cardinality, LanguageId, Padding};
use hashbrown::HashSet;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Number of keys up to which listing or scanning them costs next to nothing.
const KEYS_LISTED_AT_ONCE: usize = 8;

/// Number of languages whose first keys are remembered.
const KEPT_KEY_LISTS: usize = 16;

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
    /// Of a search for [least cells](Algebra::least_cells): the first so many languages tell cells apart in any case. `None` where all
    /// cells are looked for.
    told_by: Option<usize>,
    /// Of a search for least cells: the languages of the cells found that cannot run out.
    least: Vec<Vec<LanguageId>>,
    /// The keys that are left out, sorted by their ids.
    taken: Vec<TextId>,
    /// Unions of cells: the languages that contain their keys, the keys, and the number of languages that were looked at.
    open: Vec<(Vec<LanguageId>, LanguageId, usize)>,
    /// Number of cells that were found, those without a key that is left among them.
    found: usize,
}

impl Algebra {
    /// The keys that atoms of `formula` mention by themselves, sorted by their ids. A key that has been used can still
    /// be mentioned only in the formula of an independent-key object.
    pub(crate) fn named_keys(&self, formula: FormulaId) -> Vec<TextId> {
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
        let mut cells: Vec<KeyCell> = std::mem::take(&mut search.listed).collect();
        while let Some(cell) = self.next_cell(&mut search)? {
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
        if let Some(cells) = self.key_cells_by_lists(&languages, names, used)? {
            return Ok(cells);
        }
        let mut search = self.undecided_cells(languages, names, used)?;
        search.told_by = Some(first);
        let mut cells = Vec::new();
        while let Some(cell) = self.next_cell(&mut search)? {
            cells.push(cell);
        }
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

    /// The cells where each language is a short list of keys or the complement of one: keys on no list form one cell,
    /// and listed keys are looked at one by one. `None` if some language is neither.
    fn key_cells_by_lists(
        &mut self,
        languages: &[LanguageId],
        names: &[TextId],
        used: &[TextId],
    ) -> Result<Option<Vec<KeyCell>>, AutomatonError> {
        let mut lists = Vec::with_capacity(languages.len());
        for &language in languages {
            match self.enumerated_keys(language)? {
                Some(list) => lists.push(list),
                None => return Ok(None),
            }
        }
        let listed: BTreeSet<TextId> = lists.iter().flat_map(|list| list.names.iter().copied()).collect();
        let taken: HashSet<TextId> = names.iter().chain(used).copied().collect();
        // The keys on some list, grouped by the languages that contain them.
        let mut sorted: BTreeMap<Vec<LanguageId>, Vec<TextId>> = BTreeMap::new();
        for &name in listed.iter().filter(|name| !taken.contains(*name)) {
            let within = languages.iter().zip(&lists).filter(|(_, list)| list.has(name));
            let mut within: Vec<LanguageId> = within.map(|(language, _)| *language).collect();
            within.sort_unstable();
            sorted.entry(within).or_default().push(name);
            self.check_classes(sorted.len())?;
        }
        let mut cells = Vec::with_capacity(sorted.len() + 1);
        for (within, group) in sorted {
            cells.push(KeyCell {
                within,
                left: Some(group.len() as u64),
                names: CellKeys::These(group),
            });
        }
        let within = languages.iter().zip(&lists).filter(|(_, list)| list.excludes);
        let mut within: Vec<LanguageId> = within.map(|(language, _)| *language).collect();
        within.sort_unstable();
        let named = listed.iter().chain(names).copied().collect();
        cells.push(KeyCell {
            within,
            names: CellKeys::AllBut(named),
            left: None,
        });
        Ok(Some(cells))
    }

    /// The language of a set of keys.
    pub(crate) fn keys_as_language(&mut self, names: &CellKeys) -> Result<LanguageId, AutomatonError> {
        Ok(match names {
            CellKeys::These(names) => {
                let texts: Vec<&str> = names.iter().map(|name| self.texts.get(*name)).collect();
                self.languages.one_of(&texts)?
            }
            CellKeys::AllBut(names) => self.without_keys(self.languages.any(), names)?,
            CellKeys::Language(language) => *language,
        })
    }

    /// The first `most` keys of a set, or all if there are fewer.
    pub(crate) fn some_keys(&mut self, names: &CellKeys, most: usize) -> Result<Vec<TextId>, AutomatonError> {
        if let CellKeys::These(names) = names {
            return Ok(names.iter().copied().take(most).collect());
        }
        let language = self.keys_as_language(names)?;
        if let Some((asked, known)) = self.key_memo.first_keys.get(&language)
            && (most <= *asked || known.len() < *asked)
        {
            return Ok(known.iter().copied().take(most).collect());
        }
        // A caller that asks for one more key each time should not cause a new listing each time.
        let more = match most {
            0..KEYS_LISTED_AT_ONCE => most,
            _ => most.next_power_of_two(),
        };
        let (asked, texts) = match self.languages.members(language, more) {
            Err(_) if more > most => (most, self.languages.members(language, most)?),
            texts => (more, texts?),
        };
        let names: Arc<[TextId]> = texts.iter().map(|text| self.texts.intern(text)).collect();
        if asked >= KEYS_LISTED_AT_ONCE {
            if self.key_memo.first_keys.len() == KEPT_KEY_LISTS {
                self.key_memo.first_keys.clear();
            }
            self.key_memo.first_keys.insert(language, (asked, names.clone()));
        }
        Ok(names.iter().copied().take(most).collect())
    }

    /// Returns up to `most` keys of a set that are not among `others`.
    pub(crate) fn keys_beside(
        &mut self,
        names: &CellKeys,
        others: &HashSet<TextId>,
        most: usize,
    ) -> Result<Vec<TextId>, AutomatonError> {
        if let CellKeys::AllBut(excluded) = names {
            let excluded: HashSet<TextId> = excluded.iter().copied().collect();
            let mut found = Vec::new();
            for text in short_texts() {
                if found.len() == most {
                    break;
                }
                let known = self.texts.find_extended(TextId::EMPTY, &text);
                if !known.is_some_and(|known| excluded.contains(&known) || others.contains(&known)) {
                    found.push(self.texts.intern(&text));
                }
            }
            return Ok(found);
        }
        let mut keys = self.some_keys(names, others.len().saturating_add(most))?;
        keys.retain(|name| !others.contains(name));
        keys.truncate(most);
        Ok(keys)
    }

    /// A key of a set that is not among `others`; `None` if there is none.
    pub(crate) fn key_beside(&mut self, names: &CellKeys, others: &[TextId]) -> Result<Option<TextId>, AutomatonError> {
        let others = others.iter().copied().collect();
        Ok(self.keys_beside(names, &others, 1)?.pop())
    }

    /// Notes that a language has all keys but these.
    pub(crate) fn note_enumerated_keys(&mut self, language: LanguageId, names: &[&str]) {
        if names.len() <= ENUMERATED_KEYS {
            let mut names: Vec<TextId> = names.iter().map(|name| self.texts.intern(name)).collect();
            names.sort_unstable();
            names.dedup();
            let (names, excludes) = (names.into(), true);
            self.key_memo
                .enumerated
                .insert(language, Some(Arc::new(EnumeratedKeys { names, excludes })));
        }
    }

    /// The keys of a language, or those outside of it, if either are at most [`ENUMERATED_KEYS`]; `None` otherwise.
    pub(crate) fn enumerated_keys(
        &mut self,
        language: LanguageId,
    ) -> Result<Option<Arc<EnumeratedKeys>>, AutomatonError> {
        if let Some(known) = self.key_memo.enumerated.get(&language) {
            return Ok(known.clone());
        }
        let mut list = None;
        if !self.languages.is_non_enumerable(language) {
            let others = self.languages.not(language)?;
            if let Some(Some(known)) = self.key_memo.enumerated.get(&others) {
                let (names, excludes) = (known.names.clone(), !known.excludes);
                let list = Arc::new(EnumeratedKeys { names, excludes });
                self.key_memo.enumerated.insert(language, Some(list.clone()));
                return Ok(Some(list));
            }
            for (language, excludes) in [(others, true), (language, false)] {
                if let Cardinality::Finite(count) = self.languages.cardinality(language, ENUMERATED_KEYS as u64)?
                    && count <= ENUMERATED_KEYS as u64
                {
                    let texts = self.languages.members(language, ENUMERATED_KEYS)?;
                    let mut names: Vec<TextId> = texts.iter().map(|text| self.texts.intern(text)).collect();
                    names.sort_unstable();
                    let names = names.into();
                    list = Some(Arc::new(EnumeratedKeys { names, excludes }));
                    break;
                }
            }
        }
        self.key_memo.enumerated.insert(language, list.clone());
        Ok(list)
    }

    /// The language without some keys.
    pub(crate) fn without_keys(
        &mut self,
        language: LanguageId,
        names: &[TextId],
    ) -> Result<LanguageId, AutomatonError> {
        self.combined_keys(language, names, false)
    }

    /// The language with some more keys.
    pub(crate) fn with_keys(&mut self, language: LanguageId, names: &[TextId]) -> Result<LanguageId, AutomatonError> {
        self.combined_keys(language, names, true)
    }

    /// The language with some keys added (`with`) or removed.
    fn combined_keys(
        &mut self,
        language: LanguageId,
        names: &[TextId],
        with: bool,
    ) -> Result<LanguageId, AutomatonError> {
        if names.is_empty() {
            return Ok(language);
        }
        let mut names = names.to_vec();
        names.sort_unstable();
        let key = (language, with, names.into_boxed_slice());
        if let Some(&known) = self.key_memo.combined.get(&key) {
            return Ok(known);
        }
        let texts: Vec<&str> = key.2.iter().map(|name| self.texts.get(*name)).collect();
        let named = self.languages.one_of(&texts)?;
        let combined = match with {
            true => self.languages.or(&[language, named])?,
            false => {
                let others = self.languages.not(named)?;
                self.languages.and(&[language, others])?
            }
        };
        self.kept_cells += key.2.len();
        self.key_memo.combined.insert(key, combined);
        Ok(combined)
    }

    /// The languages that atoms of `formula` speak of, sorted.
    pub(crate) fn languages_of(&self, formula: FormulaId) -> Vec<LanguageId> {
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

    /// Number of keys of a language besides the `taken` ones, all of which must be in it; `None` if there are more than
    /// any search looks at.
    pub(crate) fn count_remaining(
        &mut self,
        names: LanguageId,
        taken: &[TextId],
    ) -> Result<Option<u64>, AutomatonError> {
        let enough = (self.limits.search_states + taken.len()) as u64;
        Ok(match self.languages.cardinality(names, enough)? {
            Cardinality::Finite(count) => Some(count - taken.len() as u64),
            Cardinality::AtLeast(_) | Cardinality::Infinite => None,
        })
    }

    /// Checks the number of classes of keys against the limit for one object.
    pub(crate) fn check_classes(&self, count: usize) -> Result<(), AutomatonError> {
        let limit = ("name_classes", self.limits.name_classes);
        check_limit(count, limit, "classes of names in one object")
    }
}

/// All texts of small letters, shorter ones first.
fn short_texts() -> impl Iterator<Item = String> {
    (0_u64..).map(|number| {
        let (mut text, mut left) = (Vec::new(), number);
        while left > 0 {
            left -= 1;
            text.push(char::from(b'a' + (left % 26) as u8));
            left /= 26;
        }
        text.iter().rev().collect()
    })
}
