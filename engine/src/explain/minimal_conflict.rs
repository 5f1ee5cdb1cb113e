//! Minimal sets of keywords that exclude something.

use std::collections::HashSet;

use super::messages::{Conflict, KeywordLocation};
use super::removable_keywords::Relaxable;
use crate::automaton::{Automaton, AutomatonError, State};
use crate::schema::{NodeId, SchemaSet};
use crate::strings::Languages;
use crate::{Formats, Style};

/// What keywords exclude.
#[derive(Clone, Copy, Debug)]
pub(super) enum Excluded<'t> {
    /// Every value.
    Values,
    /// That a text which nothing excludes goes on with this byte.
    Byte(&'t [u8], u8),
    /// That a text which nothing excludes ends.
    End(&'t [u8]),
}

/// Work that one search may cost, in what automata work out and a little for each set of keywords tried. About a second:
/// a schema without a value is refused without much delay.
const MAX_WORK: usize = 400_000;
/// Work that one search may cost where a text is read for each set of keywords tried.
const MAX_WORK_ON_TEXT: usize = 4_000_000;
/// Work for each set of keywords tried, whatever it holds.
const WORK_OF_TRIAL: usize = 100;
/// Keywords of the schema that make a set of them as much work as one thing that is worked out.
const KEYWORDS_PER_WORK: usize = 16;

/// What trying a set of keywords shows.
enum Trial {
    /// It excludes what it should; these subschemas were looked at.
    Excludes(HashSet<NodeId>),
    Admits,
    /// A limit was reached.
    Unknown,
}

/// The search for sets of keywords.
pub(super) struct ConflictSearch<'t> {
    relaxable: Relaxable,
    formats: Formats,
    excluded: Excluded<'t>,
    work: usize,
    /// Whether every trial so far had an answer.
    certain: bool,
}

impl<'t> ConflictSearch<'t> {
    /// The search for keywords of `root` and what it applies that exclude something.
    pub(super) fn new(set: &SchemaSet, root: NodeId, formats: Formats, excluded: Excluded<'t>) -> Self {
        Self {
            relaxable: Relaxable::new(set, root),
            formats,
            excluded,
            work: match excluded {
                Excluded::Values => MAX_WORK,
                Excluded::Byte(..) | Excluded::End(_) => MAX_WORK_ON_TEXT,
            },
            certain: true,
        }
    }

    /// Whether it is excluded with no keyword at all.
    pub(super) fn is_excluded_by_none(&mut self) -> bool {
        matches!(self.trial(&[]), Trial::Excludes(_))
    }

    /// A minimal set of keywords that exclude it.
    pub(super) fn conflict(&mut self) -> Conflict {
        match self.excluding() {
            Some(kept) => self.named(&kept),
            None => Conflict::default(),
        }
    }

    /// A minimal set of keywords that exclude it, and a minimal set of keywords without which it is not excluded.
    pub(super) fn conflict_and_remedy(&mut self) -> (Conflict, Conflict) {
        let Some(kept) = self.excluding() else {
            return (Conflict::default(), Conflict::default());
        };
        let conflict = self.named(&kept);
        self.certain = true;
        let remedy = match self.remedy(kept) {
            Some(remedy) => self.named(&remedy),
            None => Conflict::default(),
        };
        (conflict, remedy)
    }

    /// Keywords that exclude it: where every value is excluded rather keywords close to the root, where a byte is rather
    /// keywords far from it.
    fn excluding(&mut self) -> Option<Vec<usize>> {
        let all = self.all();
        // That no two branches of a `oneOf` hold is rarely to blame, and costly to look at.
        let mut first = all.clone();
        first.retain(|candidate| !self.relaxable.is_one_of(*candidate));
        let kept = match self.narrowed(&first) {
            Some(kept) => kept,
            None if first.len() < all.len() => self.narrowed(&all)?,
            None => return None,
        };
        self.certain = true;
        Some(self.shrunk(kept, Self::narrowed))
    }

    /// Keywords without which it is not excluded, of a set that excludes it where that is enough.
    fn remedy(&mut self, excluding: Vec<usize>) -> Option<Vec<usize>> {
        let out = match self.admitting(&excluding) {
            Some(out) => out,
            None => self.all(),
        };
        self.admitting(&out)?;
        Some(self.shrunk(out, Self::admitting))
    }

    fn all(&self) -> Vec<usize> {
        (0..self.relaxable.len()).collect()
    }

    /// The keywords of `kept` that can have made a difference, where `kept` excludes it.
    fn narrowed(&mut self, kept: &[usize]) -> Option<Vec<usize>> {
        let Trial::Excludes(expanded) = self.trial(kept) else {
            return None;
        };
        let used = |candidate: &usize| self.relaxable.is_in(*candidate, &expanded);
        Some(kept.iter().copied().filter(used).collect())
    }

    /// The keywords `out`, where it is not excluded without them.
    fn admitting(&mut self, out: &[usize]) -> Option<Vec<usize>> {
        let mut kept = self.all();
        kept.retain(|candidate| out.binary_search(candidate).is_err());
        matches!(self.trial(&kept), Trial::Admits).then(|| out.to_vec())
    }

    /// A subset of `set` that `holds` and of which nothing can be left out, unless the work runs out.
    ///
    /// Ever shorter runs are left out. What was needed in a larger set is needed in a smaller one.
    fn shrunk(&mut self, mut set: Vec<usize>, holds: fn(&mut Self, &[usize]) -> Option<Vec<usize>>) -> Vec<usize> {
        let mut run = set.len().div_ceil(2);
        while run > 0 {
            // How many have been looked at in this round and stay.
            let mut stay = 0;
            while stay < set.len() {
                if self.work == 0 {
                    self.certain = false;
                    return set;
                }
                let left_out = match self.excluded {
                    Excluded::Values => (set.len() - stay).saturating_sub(run)..set.len() - stay,
                    Excluded::Byte(..) | Excluded::End(_) => stay..set.len().min(stay + run),
                };
                let rest = [&set[..left_out.start], &set[left_out.end..]].concat();
                let Some(fewer) = holds(self, &rest) else {
                    stay += left_out.len();
                    continue;
                };
                let (first, last) = (set[left_out.start], set[left_out.end - 1]);
                let before = fewer.partition_point(|candidate| *candidate < first);
                let after = fewer.len() - fewer.partition_point(|candidate| *candidate < last);
                stay = match self.excluded {
                    Excluded::Values => after,
                    Excluded::Byte(..) | Excluded::End(_) => before,
                };
                set = fewer;
            }
            run = match run {
                1 => 0,
                _ => run.min(set.len()).div_ceil(2),
            };
        }
        set
    }

    fn trial(&mut self, kept: &[usize]) -> Trial {
        self.relaxable.keep(kept);
        let (set, root) = self.relaxable.set();
        let languages = Languages::within(set.limits());
        let mut automaton = Automaton::lazy(languages, set, self.formats, Style::rfc8259());
        let excludes = excludes(&mut automaton, root, self.excluded);
        let expanded: HashSet<NodeId> = automaton.expanded().collect();
        let keywords = self.relaxable.len() / KEYWORDS_PER_WORK;
        self.work = self.work.saturating_sub(WORK_OF_TRIAL + keywords + automaton.effort());
        match excludes {
            Ok(true) => Trial::Excludes(expanded),
            Ok(false) => Trial::Admits,
            Err(_) => {
                self.certain = false;
                Trial::Unknown
            }
        }
    }

    fn named(&self, kept: &[usize]) -> Conflict {
        let locations = kept.iter().flat_map(|candidate| self.relaxable.locations(*candidate));
        let mut keywords: Vec<KeywordLocation> = locations
            .map(|(document, pointer)| KeywordLocation {
                document: document.map(str::to_owned),
                pointer,
            })
            .collect();
        keywords.sort();
        keywords.dedup();
        Conflict {
            keywords,
            minimal: self.certain,
        }
    }
}

/// Whether a schema excludes it.
pub(super) fn excludes(
    automaton: &mut Automaton,
    root: NodeId,
    excluded: Excluded<'_>,
) -> Result<bool, AutomatonError> {
    let (text, is_end) = match excluded {
        Excluded::Values => return Ok(!automaton.has_value(root)?),
        Excluded::Byte(text, byte) => (&[text, &[byte]].concat()[..], false),
        Excluded::End(text) => (text, true),
    };
    Ok(match state_after(automaton, root, text)? {
        Some(at) => is_end && !automaton.is_complete(at)?,
        None => true,
    })
}

/// The state after some bytes; `None` where they are forbidden.
pub(super) fn state_after(
    automaton: &mut Automaton,
    root: NodeId,
    text: &[u8],
) -> Result<Option<State>, AutomatonError> {
    let assertion = automaton.assertion_of(root);
    let mut at = automaton.start(assertion)?;
    for &byte in text {
        let Some(before) = at else {
            break;
        };
        at = automaton.step(before, byte)?;
    }
    Ok(at)
}
