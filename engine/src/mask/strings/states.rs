//! [`States`]: where the characters of texts lead, numbered, so that a walk over many texts asks each thing once.

use hashbrown::HashMap;

use crate::automaton::{Automaton, AutomatonError};
use crate::strings::Transitions;

use crate::mask::strings::residual::Residual;

/// Nothing may follow.
pub(crate) const DEAD: u32 = 0;
/// All texts there are below may come.
pub(crate) const FREE: u32 = 1;
/// It has not been asked.
const UNKNOWN: u32 = 2;
/// The first of those that are kept.
const FIRST: u32 = 3;

/// Characters of ASCII, for which it is kept where they lead.
const ASCII: u32 = 0x80;

/// The states that texts lead to from where a walk begins.
#[derive(Debug, Default)]
pub(crate) struct States {
    numbers: HashMap<Residual, u32>,
    states: Vec<State>,
    /// Where characters of ASCII lead, state after state.
    next: Vec<u32>,
}

#[derive(Debug)]
struct State {
    rest: Residual,
    /// Where characters lead, of a language that is not read singly, once that was asked.
    transitions: Option<Transitions>,
    is_read_singly: bool,
    /// The characters that were asked for last, of which all lead to one state, and that.
    recent: Option<(u32, u32, u32)>,
}

/// States from which on their room is not kept for other walks.
const MANY: usize = 64;
/// States from which on they are not kept themselves.
const MOST: usize = 1_024;

/// Asks whether all texts below a place may come.
pub(crate) trait AskFree {
    /// Whether they may where this language follows.
    fn is_free(
        &mut self,
        automaton: &mut Automaton,
        language: crate::strings::LanguageId,
    ) -> Result<bool, AutomatonError>;
}

impl States {
    /// None, with the room that there was for these.
    pub(crate) fn cleared(mut self) -> Self {
        if self.states.len() > MANY {
            return Self::default();
        }
        self.numbers.clear();
        self.states.clear();
        self.next.clear();
        self
    }

    /// Whether they are too many to be kept for other walks.
    pub(crate) fn are_many(&self) -> bool {
        self.states.len() > MOST
    }

    /// Bytes that they take, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.states.len() * (size_of::<State>() + 4 * ASCII as usize + 2 * size_of::<(Residual, u32)>())
    }

    /// The number of a state.
    pub(crate) fn number<F: AskFree + ?Sized>(
        &mut self,
        automaton: &mut Automaton,
        ask: &mut F,
        rest: Residual,
    ) -> Result<u32, AutomatonError> {
        if let Some(&known) = self.numbers.get(&rest) {
            return Ok(known);
        }
        let (is_free, is_read_singly) = match rest {
            Residual::Language(language) => (ask.is_free(automaton, language)?, automaton.is_read_singly(language)),
            Residual::Machine(_) => (false, true),
        };
        let number = match is_free {
            true => FREE,
            false => {
                self.next.resize(self.next.len() + ASCII as usize, UNKNOWN);
                self.states.push(State {
                    rest: rest.clone(),
                    transitions: None,
                    is_read_singly,
                    recent: None,
                });
                FIRST + self.states.len() as u32 - 1
            }
        };
        self.numbers.insert(rest, number);
        Ok(number)
    }

    /// What may follow in a state that is kept.
    pub(crate) fn rest(&self, state: u32) -> &Residual {
        &self.states[(state - FIRST) as usize].rest
    }

    /// Where a character leads from a state that is kept.
    pub(crate) fn after<F: AskFree + ?Sized>(
        &mut self,
        automaton: &mut Automaton,
        ask: &mut F,
        state: u32,
        label: u32,
    ) -> Result<u32, AutomatonError> {
        if label < ASCII {
            let known = self.next[((state - FIRST) * ASCII + label) as usize];
            if known != UNKNOWN {
                return Ok(known);
            }
        }
        Ok(self.run_after(automaton, ask, state, label)?.0)
    }

    /// The same, and the last character up to which all lead there.
    pub(crate) fn run_after<F: AskFree + ?Sized>(
        &mut self,
        automaton: &mut Automaton,
        ask: &mut F,
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
            let rest = &self.states[place].rest;
            let after = match char::from_u32(label) {
                Some(character) => rest.after(automaton, character)?,
                None => None,
            };
            let next = match after {
                Some(after) => self.number(automaton, ask, after)?,
                None => DEAD,
            };
            let (first, last) = match &self.states[place].rest {
                Residual::Machine(machine) if label >= ASCII && machine.is_narrow() => (ASCII, u32::from(char::MAX)),
                _ => (label, label),
            };
            self.keep(place, first, last, next);
            return Ok((next, last));
        }
        let transitions = match &self.states[place].transitions {
            Some(known) => known,
            None => {
                let Residual::Language(language) = self.states[place].rest else {
                    return Ok((DEAD, label));
                };
                if let Some(last) = automaton.content_firsts(language).none_up_to(label) {
                    self.keep(place, label, last, DEAD);
                    return Ok((DEAD, last));
                }
                let found = automaton.content_transitions(language)?;
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
            Some(target) => self.number(automaton, ask, Residual::Language(target))?,
            None => DEAD,
        };
        self.keep(place, first, last, next);
        Ok((next, last))
    }

    fn keep(&mut self, place: usize, first: u32, last: u32, next: u32) {
        self.states[place].recent = Some((first, last, next));
        if first < ASCII {
            let row = place * ASCII as usize;
            self.next[row + first as usize..=row + last.min(ASCII - 1) as usize].fill(next);
        }
    }
}
