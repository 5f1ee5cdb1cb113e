//! The keys that a formula mentions by themselves, and all other keys sorted into cells.
//!
//! A search need not try each key: keys that no atom tells apart have the same effect. Where the languages of the atoms
//! are short lists or complements of such, cells are found by looking keys up in the lists; only patterns need Boolean
//! operations on languages.

use crate::automaton::error::{AutomatonError, check_limit};
use crate::automaton::formula::{
    Algebra, AtomKind, CellKeys, ENUMERATED_KEYS, EnumeratedKeys, FormulaId, KeyCell, Keys, TextId,
};
use crate::strings::{Cardinality, LanguageId};
use hashbrown::HashSet;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Number of keys up to which listing or scanning them costs next to nothing.
const KEYS_LISTED_AT_ONCE: usize = 8;

/// Number of languages whose first keys are remembered.
const KEPT_KEY_LISTS: usize = 16;

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

    /// The cells where each language is a short list of keys or the complement of one: keys on no list form one cell,
    /// and listed keys are looked at one by one. `None` if some language is neither.
    pub(super) fn key_cells_by_lists(
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
            let within = within.map(|(language, _)| *language).collect();
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
        let within = within.map(|(language, _)| *language).collect();
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

    /// The keys of one language that are not in another, where this shows from the lists of keys of both, and is a list.
    pub(crate) fn listed_keys_outside(&self, language: LanguageId, other: LanguageId) -> Option<Vec<TextId>> {
        let listed = |language| self.key_memo.enumerated.get(&language)?.as_ref();
        let (keys, others) = (listed(language)?, listed(other)?);
        let candidates = match (keys.excludes, others.excludes) {
            (false, _) => &keys.names,
            (true, true) => &others.names,
            (true, false) => return None,
        };
        let outside = candidates.iter().copied();
        Some(outside.filter(|name| keys.has(*name) && !others.has(*name)).collect())
    }

    /// Whether all keys of one language are in another; `false` also where that takes too long to find out.
    pub(crate) fn is_language_within(&mut self, language: LanguageId, other: LanguageId) -> bool {
        if language == other {
            return true;
        }
        if let Some(outside) = self.listed_keys_outside(language, other) {
            return outside.is_empty();
        }
        if let Some(&known) = self.key_memo.within.get(&(language, other)) {
            return known;
        }
        let languages = &mut self.languages;
        let mut is_within = || {
            let outside = languages.not(other)?;
            let keys = languages.and(&[language, outside])?;
            languages.is_empty(keys)
        };
        let is_within = is_within().unwrap_or(false);
        self.key_memo.within.insert((language, other), is_within);
        is_within
    }

    /// The keys of a language, or those outside of it, if either are fewer than [`ENUMERATED_KEYS`] and can be listed
    /// within the limits; `None` otherwise.
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
                // A list that takes too many states is none.
                if let Cardinality::Finite(_) = self.languages.cardinality(language, ENUMERATED_KEYS as u64)?
                    && let Ok(texts) = self.languages.members(language, ENUMERATED_KEYS)
                {
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
        let enough = self.limits.search_states.saturating_add(taken.len()) as u64;
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
