//! [`Chain`]: a sequence of languages in which each character of a class leads from one language to the next.

use hashbrown::HashMap;

use crate::automaton::{Automaton, AutomatonError};
use crate::strings::{LanguageId, Transitions};

use crate::mask::index::posting_lists::{gaps, shared};

/// The residual languages behind each number of characters of a class, the same for all texts over the class.
pub(crate) struct Chain {
    pub(crate) class: Vec<(u32, u32)>,
    /// The languages by the number of characters read, from none on.
    after: Vec<LanguageId>,
    end: End,
}

/// The continuation after the last language of a chain, behind more characters of the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The last language of the chain comes again.
    Same,
    Nothing,
    /// Something else.
    More,
}

impl Chain {
    /// The chain, no longer than `longest`, of the class of characters that have the most common derivative; none where they soon
    /// differ.
    pub(crate) fn new(
        automaton: &mut Automaton,
        language: LanguageId,
        longest: usize,
    ) -> Result<Option<Self>, AutomatonError> {
        let transitions = automaton.languages_mut().transitions(language)?;
        let Some(most) = most_common(&transitions) else {
            return Ok(None);
        };
        let ranges = transitions.iter().filter(|(_, target)| *target == most);
        let mut class: Vec<(u32, u32)> = Vec::new();
        for (range, _) in ranges {
            class.push((range.first().into(), range.last().into()));
        }
        let mut after = vec![language];
        let mut next = most;
        let end = loop {
            if after.last() == Some(&next) {
                break End::Same;
            }
            if after.len() == longest {
                break End::More;
            }
            after.push(next);
            next = match Self::same_after(automaton, next, &class)? {
                Same::Yes(next) => next,
                Same::Nothing => break End::Nothing,
                Same::No => return Ok(None),
            };
        };
        Ok(Some(Self { class, after, end }))
    }

    /// The number of characters of its class.
    pub(crate) fn characters(&self) -> u32 {
        self.class.iter().map(|(first, last)| last - first + 1).sum()
    }

    /// Returns the language that follows each character of a class, if it is the same for all.
    fn same_after(
        automaton: &mut Automaton,
        language: LanguageId,
        class: &[(u32, u32)],
    ) -> Result<Same, AutomatonError> {
        let transitions = automaton.languages_mut().transitions(language)?;
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

    /// The languages of the chain, by the number of characters before them.
    pub(crate) fn languages(&self) -> impl Iterator<Item = LanguageId> {
        self.after.iter().copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.after.len()
    }

    /// The characters that are not of a part of the class, and with which texts go on somewhere.
    pub(crate) fn leaving(
        &self,
        automaton: &mut Automaton,
        class: &[(u32, u32)],
    ) -> Result<Vec<(u32, u32)>, AutomatonError> {
        let mut possible: Vec<(u32, u32)> = Vec::new();
        for &language in &self.after {
            let transitions = automaton.languages_mut().transitions(language)?;
            possible.extend(
                transitions
                    .iter()
                    .map(|(range, _)| (range.first().into(), range.last().into())),
            );
        }
        possible.sort_unstable();
        let mut leaving: Vec<(u32, u32)> = Vec::new();
        let outside = gaps(class);
        for (first, last) in possible {
            // Characters that have come before are not looked at again.
            let first = leaving.last().map_or(first, |(_, end)| first.max(end + 1));
            if first > last {
                continue;
            }
            leaving.extend(shared(&[(first, last)], &outside));
        }
        Ok(leaving)
    }

    pub(crate) fn end(&self) -> End {
        self.end
    }
}

/// The language that follows the characters of a class.
enum Same {
    Yes(LanguageId),
    Nothing,
    No,
}

/// Returns the target of most characters.
fn most_common(transitions: &Transitions) -> Option<LanguageId> {
    let mut counts: HashMap<LanguageId, u32> = HashMap::new();
    for (range, target) in transitions.iter() {
        *counts.entry(*target).or_default() += u32::from(range.last()) - u32::from(range.first()) + 1;
    }
    let most = counts.into_iter().max_by_key(|(target, count)| (*count, *target));
    most.map(|(target, _)| target)
}
