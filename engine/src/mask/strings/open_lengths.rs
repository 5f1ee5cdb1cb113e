//! [`OpenLengths`]: up to which length every text is a viable prefix of a language, or belongs to it.

use hashbrown::HashMap;

use crate::automaton::{Automaton, AutomatonError};
use crate::strings::{LanguageId, Languages};

/// The numbers of characters of any kind that languages take, as far as they have been asked for.
#[derive(Debug, Default)]
pub(crate) struct OpenLengths {
    /// Characters after any of which some text can still come.
    viable: HashMap<LanguageId, u64>,
    /// Characters up to which every text belongs to the language, and one more.
    accepted: HashMap<LanguageId, u64>,
}

impl OpenLengths {
    /// Forgets the languages that there are no more.
    pub(crate) fn forget(&mut self, languages: &Languages) {
        self.viable.retain(|language, _| languages.has(*language));
        self.accepted.retain(|language, _| languages.has(*language));
    }

    /// Whether any text of `length` characters is the beginning of one of `language`.
    pub(crate) fn is_viable(
        &mut self,
        automaton: &mut Automaton,
        language: LanguageId,
        length: u64,
    ) -> Result<bool, AutomatonError> {
        if let Some(&known) = self.viable.get(&language) {
            return Ok(length <= known);
        }
        let viable = match automaton.languages_mut().is_prefix_universal(language)? {
            true => u64::MAX,
            false => automaton.only_bounded(language)?.map_or(0, |(_, max)| max),
        };
        self.viable.insert(language, viable);
        Ok(length <= viable)
    }

    /// Whether all texts of up to `length` characters belong to `language`.
    pub(crate) fn is_accepted(
        &mut self,
        automaton: &mut Automaton,
        language: LanguageId,
        length: u64,
    ) -> Result<bool, AutomatonError> {
        if let Some(&known) = self.accepted.get(&language) {
            return Ok(length < known);
        }
        let accepted = match automaton.only_bounded(language)? {
            Some((0, max)) => max.saturating_add(1),
            _ => 0,
        };
        self.accepted.insert(language, accepted);
        Ok(length < accepted)
    }
}
