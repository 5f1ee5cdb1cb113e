//! [`ExhaustedKeyTokens`]: the tokens that begin only names that have been seen, in a language of names; updated incrementally.
//!
//! The names allowed in an object with `patternProperties` and listed names are a language, which stays the same while
//! the object is read, so its tokens are found once. Only few tokens have all their names seen in one object, such as those that begin a
//! listed name and no other. So for each token that a seen name begins with, the names that are left are counted.
//! The words of a list of which items have to differ (`uniqueItems`) are treated alike: they stand for names then.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError, KeySetId, SeenKeys, TextId};
use crate::mask::index::contents::Contents;
use crate::mask::index::trie::ROOT;
use crate::strings::LanguageId;

/// Maximal number of tokens for which counts are kept, and of names counted: some megabytes.
const MAX_KEPT: usize = 1 << 18;
/// Initial bound up to which remaining names are counted.
const MIN_COUNTED: u64 = 1 << 12;
/// Stands for more names than are counted.
const UNCOUNTED: u64 = u64::MAX;

/// The tokens that begin only names that have been seen.
#[derive(Debug, Default)]
pub(crate) struct ExhaustedKeyTokens {
    /// The counts by the contents of the tokens, the language of the texts that may follow, and the text of the name that has
    /// been read.
    of: HashMap<(u32, LanguageId, TextId), Counts>,
    kept: usize,
}

/// Counts, for tokens, of the names of a language that are left.
#[derive(Debug, Default)]
struct Counts {
    /// The names that have been seen, as far as they are counted.
    seen: KeySetId,
    /// Number of names that are left of those that each token begins, or [`UNCOUNTED`]; only tokens that begin a name that has
    /// been seen are listed.
    left: HashMap<TokenId, u64>,
    /// Bound on the names that are counted: more than have been seen.
    up_to: u64,
    /// The tokens that have no name left, sorted.
    exhausted: Arc<[TokenId]>,
}

impl ExhaustedKeyTokens {
    /// Bytes that the counts take, roughly: a token with its count.
    pub(crate) fn bytes(&self) -> usize {
        32 * self.kept
    }
}

impl ExhaustedKeyTokens {
    /// Returns the tokens, sorted, that begin only seen names of a language.
    pub(crate) fn find(
        &mut self,
        automaton: &mut Automaton,
        language: LanguageId,
        names: &SeenKeys,
        contents: &Contents,
    ) -> Result<Arc<[TokenId]>, AutomatonError> {
        let (text, seen) = names.begun_and_come();
        let many = automaton.count_seen(names) as u64;
        if many == 0 {
            return Ok(Arc::default());
        }
        if self.kept > MAX_KEPT {
            *self = Self::default();
        }
        let key = (contents.number, language, text);
        let (mut counts, before) = match self.of.remove(&key) {
            Some(counts) => {
                let before = 1 + counts.left.len();
                (counts, before)
            }
            None => (Counts::default(), 0),
        };
        if many >= counts.up_to {
            counts = Counts {
                up_to: MIN_COUNTED.max((many + 1).next_power_of_two()),
                ..Counts::default()
            };
        }
        // Counts that fail half-way are begun anew.
        counts.go_to(automaton, (language, text), seen, contents)?;
        self.kept += (1 + counts.left.len()).saturating_sub(before);
        let exhausted = counts.exhausted.clone();
        self.of.insert(key, counts);
        Ok(exhausted)
    }
}

impl Counts {
    /// Brings the counts up to date with the names that have been seen.
    fn go_to(
        &mut self,
        automaton: &mut Automaton,
        (language, begun): (LanguageId, TextId),
        seen: KeySetId,
        contents: &Contents,
    ) -> Result<(), AutomatonError> {
        if self.seen == seen {
            return Ok(());
        }
        let (mut exhausted, mut back) = (Vec::new(), Vec::new());
        for (name, is_seen) in automaton.key_differences(self.seen, seen, begun) {
            let text = automaton.shared_key_text(name);
            let rest = &text[automaton.key_length(begun)..];
            if !automaton.languages_mut().contains(language, rest)? {
                continue;
            }
            let (mut node, mut after) = (ROOT, language);
            let mut characters = rest.chars();
            loop {
                let next = characters.next();
                for place in contents.ending_at(node, next.map(u32::from)) {
                    let token = contents.tokens[place];
                    let left = match self.left.get_mut(&token) {
                        Some(left) => left,
                        None => {
                            let whole = [(0, u32::from(char::MAX))];
                            let possible = contents.partial(place).map_or(&whole[..], |begun| &begun.possible);
                            let ends = contents.partial(place).is_none() && automaton.languages().accepts_empty(after);
                            let count = automaton.count_behind(after, possible, self.up_to)? + u64::from(ends);
                            let left = if count > self.up_to { UNCOUNTED } else { count };
                            self.left.entry(token).or_insert(left)
                        }
                    };
                    match (*left, is_seen) {
                        (UNCOUNTED, _) => {}
                        (_, true) => {
                            *left = left.saturating_sub(1);
                            if *left == 0 {
                                exhausted.push(token);
                            }
                        }
                        (_, false) => {
                            if *left == 0 {
                                back.push(token);
                            }
                            *left += 1;
                        }
                    }
                }
                let Some(next) = next else { break };
                match (
                    contents.inside.child(node, next.into()),
                    automaton.content_after(after, next)?,
                ) {
                    (Some(child), Some(language)) => (node, after) = (child, language),
                    _ => break,
                }
            }
        }
        self.seen = seen;
        if !exhausted.is_empty() || !back.is_empty() {
            let mut all: Vec<TokenId> = self.exhausted.iter().copied().chain(exhausted).collect();
            // A token that went may be back, and one that came back may be exhausted again.
            all.retain(|token| self.left.get(token) == Some(&0));
            all.sort_unstable();
            all.dedup();
            self.exhausted = all.into();
        }
        Ok(())
    }
}
