//! [`ConflictSearch`]: minimal sets of keywords that exclude all values or a continuation, found by removing keywords and asking the automaton.

use std::collections::HashSet;

use super::removable_keywords::Relaxable;
use crate::automaton::{Automaton, AutomatonError, State, WrittenState};
use crate::schema::{NodeId, SchemaSet};
use crate::strings::Languages;
use crate::{Formats, Style};

/// The values or continuations that keywords exclude.
#[derive(Clone, Copy, Debug)]
pub(super) enum Excluded<'t> {
    /// Every value.
    Values,
    /// The continuation of a text, which nothing excludes, by this byte.
    Byte(&'t [u8], u8),
    /// The end of a text, which nothing excludes.
    End(&'t [u8]),
}

/// Work that one explanation may cost, in units of about a microsecond: results of automata, subschemas visited, and a constant
/// for each set of keywords tried. A tenth of a second at most, so that a service reports refused schemas and documents
/// without delay.
pub(super) const MAX_WORK: usize = 100_000;
/// Constant work for each set of keywords tried.
const WORK_OF_TRIAL: usize = 20;
/// Number of keywords of the schema that add one unit to the work of trying a set.
const KEYWORDS_PER_WORK: usize = 16;
/// Maximal number of keywords of a set from which each keyword is tried to be removed.
const MAX_TRIED: usize = 24;
/// Maximal number of subschemas visited to find out whether one is reached by two paths.
const MAX_IN_TREE: usize = 50_000;
/// Maximal number of states that an automaton visits, for one set of keywords, to find out whether an object or array can
/// be completed.
const MAX_SEARCH_STATES: usize = 5_000;

/// The outcome of trying a set of keywords.
enum Trial {
    /// The keywords exclude the values or the continuation; the subschemas that were expanded.
    Excludes(HashSet<NodeId>),
    Admits,
    /// A limit was reached.
    Unknown,
}

/// The search for minimal sets of keywords that exclude something.
pub(super) struct ConflictSearch<'t> {
    relaxable: Relaxable,
    /// The subschema that excludes the values or the continuation.
    root: NodeId,
    formats: Formats,
    excluded: Excluded<'t>,
    /// Work that may be done.
    allowed: usize,
    /// Work that was done.
    spent: usize,
    /// Whether every trial so far had an answer.
    certain: bool,
    /// Subschemas whose `anyOf` has only one branch while sets are tried, and the branch.
    unions: Vec<(NodeId, NodeId)>,
}

impl<'t> ConflictSearch<'t> {
    /// Starts a search for keywords of `root`, and of the subschemas that it applies, that exclude something, with so much work.
    pub(super) fn new(set: &SchemaSet, root: NodeId, formats: Formats, excluded: Excluded<'t>, work: usize) -> Self {
        let mut set = set.clone();
        let mut limits = set.limits().clone();
        limits.search_states = limits.search_states.min(MAX_SEARCH_STATES);
        set.set_limits(limits);
        let relaxable = Relaxable::new(set, root);
        Self {
            root: relaxable.set().1,
            allowed: work,
            spent: relaxable.len() / KEYWORDS_PER_WORK,
            relaxable,
            formats,
            excluded,
            certain: true,
            unions: Vec::new(),
        }
    }

    /// The schema with removable keywords.
    pub(super) fn relaxable(&self) -> &Relaxable {
        &self.relaxable
    }

    /// Returns the subschema that excludes the values or the continuation.
    pub(super) fn root(&self) -> NodeId {
        self.root
    }

    /// The work that is left.
    pub(super) fn work(&self) -> usize {
        self.allowed.saturating_sub(self.spent)
    }

    /// The work that was done; the last piece of it may have been more than was left.
    pub(super) fn spent(&self) -> usize {
        self.spent
    }

    /// Takes so much work from the remaining allowance; returns whether there was as much.
    pub(super) fn spend(&mut self, work: usize) -> bool {
        let is_there = self.work() >= work;
        self.spent = self.spent.saturating_add(work);
        is_there
    }

    /// Whether the keywords that one walk found are surely minimal, decided without trying sets.
    ///
    /// Where each branch has one keyword that excludes it, and no subschema that still asserts something is reached by two paths,
    /// a branch without its keyword, or without a reference on the path to it, admits everything, and so does the schema.
    pub(super) fn is_minimal_union(&mut self, keywords: &[usize]) -> bool {
        let most = self.work().min(MAX_IN_TREE);
        most > 0 && self.relaxable.is_tree(keywords, most)
    }

    /// Returns a set of keywords that exclude the values or the continuation, and whether it is minimal: a subset of `found` if
    /// `found` excludes them, else of all keywords. `is_minimal` tells that `found` is known to be minimal.
    pub(super) fn conflict(&mut self, found: Option<Vec<usize>>, is_minimal: bool) -> Option<(Vec<usize>, bool)> {
        self.certain = true;
        match found {
            Some(found) if self.work() == 0 || is_minimal && found.len() > MAX_TRIED => Some((found, is_minimal)),
            Some(found) => match self.narrowed(&found) {
                Some(kept) => Some((self.shrunk(kept, Self::narrowed), self.certain)),
                None if !self.certain => Some((found, false)),
                None => self.excluding().map(|kept| (kept, self.certain)),
            },
            None => self.excluding().map(|kept| (kept, self.certain)),
        }
    }

    /// Returns keywords without which the values or the continuation are not excluded, at first `leading` and then of
    /// `excluding`. None where none are found with the work that is left.
    ///
    /// Each of `unions` is an `anyOf` and one of its branches. If that branch suffices, the others are not visited.
    pub(super) fn remedy(
        &mut self,
        leading: &[usize],
        unions: &[(NodeId, NodeId)],
        excluding: &[usize],
    ) -> Option<Vec<usize>> {
        self.certain = true;
        self.unions = unions.to_vec();
        let of_branches = self.admitting(leading);
        if let Some(out) = &of_branches {
            let remedy = self.shrunk(out.clone(), Self::admitting);
            // These branches may need more keywords than others.
            if remedy.len() == 1 {
                self.unions.clear();
                return self.certain.then_some(remedy);
            }
        }
        self.unions.clear();
        let out = match self.admitting(leading) {
            Some(out) => out,
            None if self.work() == 0 || excluding.len() > MAX_TRIED => return None,
            None => match self.admitting(excluding) {
                Some(out) => out,
                None => self.admitting(&self.all())?,
            },
        };
        let remedy = self.shrunk(out, Self::admitting);
        self.certain.then_some(remedy)
    }

    /// Keywords that exclude something else in a subschema.
    pub(super) fn within(&mut self, node: NodeId, excluded: Excluded<'t>) -> Option<Vec<usize>> {
        let (root, whole) = (self.root, self.excluded);
        (self.root, self.excluded) = (node, excluded);
        let found = self.excluding();
        (self.root, self.excluded) = (root, whole);
        found
    }

    /// Returns keywords that exclude the values or the continuation: preferably keywords close to the root where every value is
    /// excluded, and far from the root where a byte is.
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

    /// Returns the keywords `out`, where nothing is excluded without them.
    fn admitting(&mut self, out: &[usize]) -> Option<Vec<usize>> {
        let mut kept = self.all();
        kept.retain(|candidate| out.binary_search(candidate).is_err());
        matches!(self.trial(&kept), Trial::Admits).then(|| out.to_vec())
    }

    /// Returns a minimal subset of `set` for which `holds` succeeds, or a larger one if the work runs out.
    ///
    /// Ever shorter runs of keywords are removed. A keyword that was needed in a larger set is needed in a smaller one.
    fn shrunk(&mut self, mut set: Vec<usize>, holds: fn(&mut Self, &[usize]) -> Option<Vec<usize>>) -> Vec<usize> {
        let mut run = set.len().div_ceil(2);
        while run > 0 {
            // Number of keywords that have been looked at in this round and stay.
            let mut stay = 0;
            while stay < set.len() {
                if self.work() == 0 {
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
        if self.work() == 0 {
            self.certain = false;
            return Trial::Unknown;
        }
        self.relaxable.keep(kept);
        let unions = self.unions.clone();
        let narrowed = unions
            .iter()
            .map(|&(node, branch)| (node, self.relaxable.narrow(node, branch)));
        let narrowed: Vec<_> = narrowed.collect();
        let (set, root) = (self.relaxable.set().0, self.root);
        let languages = Languages::within(set.limits());
        let mut automaton = Automaton::lazy(languages, set, self.formats, Style::rfc8259());
        let excludes = excludes(&mut automaton, root, self.excluded);
        let expanded: HashSet<NodeId> = automaton.expanded().collect();
        let effort = automaton.effort();
        drop(automaton);
        for (node, before) in narrowed {
            if let Some(before) = before {
                self.relaxable.restore(node, before);
            }
        }
        let keywords = self.relaxable.len() / KEYWORDS_PER_WORK;
        self.spend(WORK_OF_TRIAL + keywords + effort);
        match excludes {
            Ok(true) => Trial::Excludes(expanded),
            Ok(false) => Trial::Admits,
            Err(_) => {
                self.certain = false;
                Trial::Unknown
            }
        }
    }
}

/// Whether a schema excludes the values or the continuation.
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
    let Some(start) = automaton.start(assertion)? else {
        return Ok(None);
    };
    let mut at = WrittenState::start(start, &automaton.bounds(), 1);
    for &byte in text {
        if !automaton.read_bounded(&mut at, byte)? {
            return Ok(None);
        }
    }
    Ok(Some(at.state))
}
