//! [`Chain`]: languages that any characters of a class lead along.

use hashbrown::HashMap;

use crate::automaton::{Automaton, Trouble};
use crate::strings::{LanguageId, Transitions};

use super::runs::Class;

/// What may follow each number of characters of a class, whichever they are.
pub(super) struct Chain {
    pub(super) class: Class,
    /// From no character on. After the last it stays the same, or nothing follows.
    after: Vec<LanguageId>,
    is_endless: bool,
}

impl Chain {
    /// The chain of the class of characters that most lead the same way; none where they do not for long.
    pub(super) fn new(
        automaton: &mut Automaton,
        language: LanguageId,
        longest: usize,
    ) -> Result<Option<Self>, Trouble> {
        let transitions = automaton.content_transitions(language)?;
        let Some(most) = most_common(&transitions, 0) else {
            return Ok(None);
        };
        let ranges = transitions.iter().filter(|(_, target)| *target == most);
        let mut class: Vec<(u32, u32)> = Vec::new();
        for (range, _) in ranges {
            class.push((range.first().into(), range.last().into()));
        }
        let mut after = vec![language];
        let mut next = Some(most);
        while let Some(language) = next {
            if after.last() == Some(&language) {
                break;
            }
            if after.len() > longest {
                next = None;
                break;
            }
            after.push(language);
            next = match Self::same_after(automaton, language, &class)? {
                Same::Yes(next) => Some(next),
                Same::Nothing => None,
                Same::No => return Ok(None),
            };
        }
        Ok(Some(Self {
            class: class.into(),
            after,
            is_endless: next.is_some(),
        }))
    }

    /// What follows each character of a class, if that is the same.
    fn same_after(automaton: &mut Automaton, language: LanguageId, class: &[(u32, u32)]) -> Result<Same, Trouble> {
        let transitions = automaton.content_transitions(language)?;
        let mut same = None;
        let mut covered = 0;
        for &(range, target) in transitions.iter() {
            let (low, high) = (u32::from(range.first()), u32::from(range.last()));
            let from = class.partition_point(|(_, last)| *last < low);
            let shared = class[from..].iter().take_while(|(first, _)| *first <= high);
            let shared: u32 = shared
                .map(|(first, last)| (*last).min(high) - (*first).max(low) + 1)
                .sum();
            covered += shared;
            if shared > 0 && *same.get_or_insert(target) != target {
                return Ok(Same::No);
            }
        }
        let whole: u32 = class.iter().map(|(first, last)| last - first + 1).sum();
        Ok(match same {
            None => Same::Nothing,
            Some(target) if covered == whole => Same::Yes(target),
            Some(_) => Same::No,
        })
    }

    /// What follows so many characters; none where no more of the class come.
    pub(super) fn after(&self, length: usize) -> Option<LanguageId> {
        match self.after.get(length) {
            Some(language) => Some(*language),
            None if self.is_endless => self.after.last().copied(),
            None => None,
        }
    }

    pub(super) fn is_endless(&self) -> bool {
        self.is_endless
    }
}

/// What follows the characters of a class.
enum Same {
    Yes(LanguageId),
    Nothing,
    No,
}

/// Where most characters lead, if it is more than so many of them.
pub(super) fn most_common(transitions: &Transitions, least: u32) -> Option<LanguageId> {
    let mut counts: HashMap<LanguageId, u32> = HashMap::new();
    for (range, target) in transitions.iter() {
        *counts.entry(*target).or_default() += u32::from(range.last()) - u32::from(range.first()) + 1;
    }
    let most = counts.into_iter().max_by_key(|(target, count)| (*count, *target));
    most.filter(|(_, count)| *count > least).map(|(target, _)| target)
}
