//! [`Residual`]: the residual language of a string, as a language or as the state of a custom DFA.

use std::sync::Arc;

use crate::automaton::{Automaton, AutomatonError};
use crate::strings::{CustomDfaStates, LanguageId, Lengths};

/// The residual of a string: the texts that may follow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Residual {
    /// A language, by its id.
    Language(LanguageId),
    /// States of custom DFAs, which are not interned, because there may be as many as texts.
    CustomDfa(CustomDfaStates),
}

impl Residual {
    /// The residual before the first character of a text of `language`.
    pub(crate) fn new(automaton: &mut Automaton, language: LanguageId) -> Result<Self, AutomatonError> {
        Ok(match automaton.languages_mut().custom_dfa_states(language)? {
            Some(machine) => Self::CustomDfa(machine),
            None => Self::Language(language),
        })
    }

    /// Returns the residual after a character; none where no text follows.
    pub(crate) fn after(&self, automaton: &mut Automaton, character: char) -> Result<Option<Self>, AutomatonError> {
        Ok(match self {
            Self::Language(language) => automaton.content_after(*language, character)?.map(Self::Language),
            Self::CustomDfa(machine) => machine
                .after(automaton.languages_mut(), character)?
                .map(Self::CustomDfa),
        })
    }

    /// The numbers of characters that may follow, where these are easily seen.
    pub(crate) fn lengths(&self, automaton: &mut Automaton) -> Result<Option<Arc<Lengths>>, AutomatonError> {
        Ok(match self {
            Self::Language(language) => automaton.languages_mut().plain_lengths(*language)?,
            Self::CustomDfa(machine) => machine.lengths()?.map(Arc::new),
        })
    }

    /// Whether the text may end here.
    pub(crate) fn accepts(&self, automaton: &Automaton) -> bool {
        match self {
            Self::Language(language) => automaton.languages().accepts_empty(*language),
            Self::CustomDfa(machine) => machine.accepts(automaton.languages()),
        }
    }

    /// Whether a text goes on with a character of one of `ranges`, whose ends are included.
    pub(crate) fn may_begin(&self, automaton: &mut Automaton, ranges: &[(u32, u32)]) -> Result<bool, AutomatonError> {
        match self {
            Self::Language(language) => Ok(automaton.languages_mut().may_begin(*language, ranges)?),
            Self::CustomDfa(machine) => Ok(machine.may_begin(automaton.languages_mut(), ranges)?),
        }
    }
}
