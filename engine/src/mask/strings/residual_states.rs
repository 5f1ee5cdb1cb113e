//! [`ResidualStates`]: residual languages as numbered states, so that a walk over many tokens computes each derivative once.

use hashbrown::HashMap;

use crate::automaton::{Automaton, AutomatonError};
use crate::strings::{LanguageId, Transitions};

use super::open_lengths::OpenLengths;
use super::residual::Residual;

/// The number of the state in which nothing may follow.
pub(crate) const DEAD: u32 = 0;
/// The number of the state in which every text of the walk may follow.
pub(crate) const FREE: u32 = 1;
/// The number of a target that has not been computed.
const UNKNOWN: u32 = 2;
/// The number of the first state that is kept.
const FIRST: u32 = 3;

/// Number of ASCII characters, whose targets are stored.
const ASCII: u32 = 0x80;
/// The place of the targets of a state that has none yet.
const NO_ROW: u32 = u32::MAX;

/// The states that texts lead to from where a walk begins.
#[derive(Debug, Default)]
pub(crate) struct ResidualStates {
    numbers: HashMap<Residual, u32>,
    states: Vec<KnownResidual>,
    /// The targets of the characters of ASCII, row after row: of each state that a character of ASCII was read in.
    next: Vec<u32>,
}

#[derive(Debug)]
struct KnownResidual {
    residual: Residual,
    /// The place of its first target in [`ResidualStates::next`], or [`NO_ROW`]: most states of a walk are ends of tokens, in which nothing is read.
    row: u32,
    /// The targets of all characters, for an enumerable language, once they have been computed.
    transitions: Option<Transitions>,
    is_read_singly: bool,
    /// The range of characters looked up last, all of which lead to one state, and that state.
    recent: Option<(u32, u32, u32)>,
}

/// Maximal number of states that are kept for other walks: some 600 KB.
const MAX_KEPT: usize = 1_024;

/// Recognises residual languages in which every text that a walk can meet may follow.
pub(crate) struct FreeLanguages<'a> {
    /// Numbers of characters of any kind that languages take.
    pub(crate) lengths: &'a mut OpenLengths,
    /// Characters that the texts of the walk have at most.
    pub(crate) longest: u64,
}

/// Whether every text of a walk may follow in this residual language; not used in a walk that visits every text.
fn is_free(
    automaton: &mut Automaton,
    free: Option<&mut FreeLanguages<'_>>,
    language: LanguageId,
) -> Result<bool, AutomatonError> {
    match free {
        Some(FreeLanguages { lengths, longest }) => lengths.is_viable(automaton, language, *longest),
        None => Ok(false),
    }
}

impl ResidualStates {
    /// Whether there are too many states to keep them for other walks.
    pub(crate) fn are_many(&self) -> bool {
        self.states.len() > MAX_KEPT
    }

    /// Bytes that the states take, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.states.len() * (size_of::<KnownResidual>() + 2 * size_of::<(Residual, u32)>())
            + size_of_val(&self.next[..])
    }

    /// The number of a state.
    pub(crate) fn number(
        &mut self,
        automaton: &mut Automaton,
        free: Option<&mut FreeLanguages<'_>>,
        residual: Residual,
    ) -> Result<u32, AutomatonError> {
        if let Some(&known) = self.numbers.get(&residual) {
            return Ok(known);
        }
        let (is_free, is_read_singly) = match residual {
            Residual::Language(language) => (
                is_free(automaton, free, language)?,
                automaton.languages().is_non_enumerable(language),
            ),
            Residual::CustomDfa(_) => (false, true),
        };
        let number = match is_free {
            true => FREE,
            false => {
                self.states.push(KnownResidual {
                    residual: residual.clone(),
                    row: NO_ROW,
                    transitions: None,
                    is_read_singly,
                    recent: None,
                });
                FIRST + self.states.len() as u32 - 1
            }
        };
        self.numbers.insert(residual, number);
        Ok(number)
    }

    /// Returns the residual of a state that is kept.
    pub(crate) fn residual(&self, state: u32) -> &Residual {
        &self.states[(state - FIRST) as usize].residual
    }

    /// Returns the target of a character from a state that is kept.
    pub(crate) fn after(
        &mut self,
        automaton: &mut Automaton,
        free: Option<&mut FreeLanguages<'_>>,
        state: u32,
        label: u32,
    ) -> Result<u32, AutomatonError> {
        if label < ASCII {
            let row = self.states[(state - FIRST) as usize].row;
            if row != NO_ROW && self.next[(row + label) as usize] != UNKNOWN {
                return Ok(self.next[(row + label) as usize]);
            }
        }
        Ok(self.run_after(automaton, free, state, label)?.0)
    }

    /// Returns the target of a character from a state that is kept, and the last character up to which all lead there.
    pub(crate) fn run_after(
        &mut self,
        automaton: &mut Automaton,
        free: Option<&mut FreeLanguages<'_>>,
        state: u32,
        label: u32,
    ) -> Result<(u32, u32), AutomatonError> {
        let place = (state - FIRST) as usize;
        if let Some((first, last, next)) = self.states[place].recent
            && (first..=last).contains(&label)
        {
            return Ok((next, last));
        }
        if self.states[place].is_read_singly {
            let residual = &self.states[place].residual;
            let after = match char::from_u32(label) {
                Some(character) => residual.after(automaton, character)?,
                None => None,
            };
            let next = match after {
                Some(after) => self.number(automaton, free, after)?,
                None => DEAD,
            };
            self.keep(place, label, label, next);
            return Ok((next, label));
        }
        let transitions = match &self.states[place].transitions {
            Some(known) => known,
            None => {
                let Residual::Language(language) = self.states[place].residual else {
                    return Ok((DEAD, label));
                };
                if let Some(last) = automaton
                    .languages()
                    .coarse_first_characters(language)
                    .none_up_to(label)
                {
                    self.keep(place, label, last, DEAD);
                    return Ok((DEAD, last));
                }
                let found = automaton.languages_mut().transitions(language)?;
                self.states[place].transitions.insert(found)
            }
        };
        let row = transitions.partition_point(|(range, _)| u32::from(range.last()) < label);
        let (first, last, target) = match transitions.get(row) {
            None => (label, u32::from(char::MAX), None),
            Some((range, target)) => match (u32::from(range.first()), u32::from(range.last())) {
                (first, _) if label < first => (label, first - 1, None),
                (first, last) => (first, last, Some(*target)),
            },
        };
        let next = match target {
            Some(target) => self.number(automaton, free, Residual::Language(target))?,
            None => DEAD,
        };
        self.keep(place, first, last, next);
        Ok((next, last))
    }

    fn keep(&mut self, place: usize, first: u32, last: u32, next: u32) {
        let state = &mut self.states[place];
        state.recent = Some((first, last, next));
        if first < ASCII {
            if state.row == NO_ROW {
                state.row = self.next.len() as u32;
                self.next.resize(self.next.len() + ASCII as usize, UNKNOWN);
            }
            let row = state.row as usize;
            self.next[row + first as usize..=row + last.min(ASCII - 1) as usize].fill(next);
        }
    }
}
