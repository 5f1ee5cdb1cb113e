//! [`Residual`]: what may follow in a string; [`Freedom`]: which of that may be anything.

use hashbrown::HashMap;

use crate::automaton::{Automaton, AutomatonError};
use crate::strings::{LanguageId, Machine};

use crate::mask::strings::few_tokens::Walked;
use crate::mask::strings::over_approximation::Near;
use crate::mask::strings::states::States;

/// What may follow in a string.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Residual {
    Language(LanguageId),
    /// A machine's states, which are as many as texts, are not kept.
    Machine(Machine),
}

impl Residual {
    pub(crate) fn new(automaton: &mut Automaton, language: LanguageId) -> Result<Self, AutomatonError> {
        Ok(match automaton.machine(language)? {
            Some(machine) => Self::Machine(machine),
            None => Self::Language(language),
        })
    }

    /// What may follow a character; none where nothing does.
    pub(crate) fn after(&self, automaton: &mut Automaton, character: char) -> Result<Option<Self>, AutomatonError> {
        Ok(match self {
            Self::Language(language) => automaton.content_after(*language, character)?.map(Self::Language),
            Self::Machine(machine) => machine.after(character)?.map(Self::Machine),
        })
    }

    /// Whether the text may end here.
    pub(crate) fn accepts(&self, automaton: &Automaton) -> bool {
        match self {
            Self::Language(language) => automaton.accepts_empty(*language),
            Self::Machine(machine) => machine.accepts(),
        }
    }

    /// Whether a text goes on with a character of one of `ranges`, whose ends are included.
    pub(crate) fn may_begin(&self, automaton: &mut Automaton, ranges: &[(u32, u32)]) -> Result<bool, AutomatonError> {
        match self {
            Self::Language(language) => automaton.content_may_begin(*language, ranges),
            Self::Machine(machine) => Ok(machine.may_begin(ranges)?),
        }
    }
}

/// What languages leave open, as far as it has been asked.
#[derive(Debug, Default)]
pub(crate) struct Freedom {
    /// Characters after any of which some text can still come.
    viable: HashMap<LanguageId, u64>,
    /// Characters up to which every text belongs to the language.
    accepted: HashMap<LanguageId, u64>,
    /// Room for the states of a walk.
    states: States,
    /// Those of walks over all tokens that stay inside, which serve those to come.
    insides: States,
    /// Those of walks over few.
    walked: Walked,
    /// The tokens of languages that others are near to.
    nears: HashMap<LanguageId, Near>,
}

/// Languages that others are near to of which tokens are kept, 25 KB each in a vocabulary of 200,000 tokens.
const MOST_NEARS: usize = 16;

impl Freedom {
    /// No states, with room for some.
    pub(crate) fn states(&mut self) -> States {
        std::mem::take(&mut self.states)
    }

    /// Takes the room back.
    pub(crate) fn put_back(&mut self, states: States) {
        self.states = states.cleared();
    }

    /// The states of walks over all tokens that stay inside.
    pub(crate) fn insides(&mut self) -> States {
        std::mem::take(&mut self.insides)
    }

    /// Takes them back.
    pub(crate) fn put_back_insides(&mut self, states: States) {
        self.insides = match states.are_many() {
            true => States::default(),
            false => states,
        };
    }

    /// The states of walks over few tokens.
    pub(crate) fn walked(&mut self) -> Walked {
        std::mem::take(&mut self.walked)
    }

    /// Takes them back.
    pub(crate) fn put_back_walked(&mut self, walked: Walked) {
        self.walked = walked.or_cleared();
    }

    /// Bytes that the states take, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.insides.bytes() + self.walked.bytes()
    }

    /// The tokens of a language that others are near to, if it has no fingerprint to keep them by.
    pub(crate) fn near(&self, near: LanguageId) -> Option<Near> {
        self.nears.get(&near).cloned()
    }

    /// Keeps them.
    pub(crate) fn keep_near(&mut self, near: LanguageId, tokens: &Near) {
        if self.nears.len() == MOST_NEARS {
            self.nears.clear();
        }
        self.nears.insert(near, tokens.clone());
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
        let viable = match automaton.is_dense(language)? {
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
