//! [`RemainingKeyTokens`]: the tokens that begin one of many listed names that have not been seen, updated incrementally.
//!
//! In an object with thousands of names, the mask before each name is that before the last one without the tokens that begin the
//! last name and no other. So for each token the remaining names that it begins are counted; counts go down for names that have
//! been seen since, and up for names that another object has not seen.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use crate::TokenId;
use crate::automaton::{Automaton, KeyListId, KeySetId, RemainingKeys, TextId};
use crate::mask::index::contents::Contents;
use crate::mask::index::trie::ROOT;

/// Tokens up to which counts are kept, and names that they close: some megabytes.
const MAX_KEPT: usize = 1 << 18;

/// The tokens that begin names of long lists.
#[derive(Debug, Default)]
pub(crate) struct RemainingKeyTokens {
    /// The tokens by their contents, the list, and the text of the name that has been read.
    of: HashMap<(u32, KeyListId, TextId), Beginnings>,
    kept: usize,
}

/// The tokens that the remaining names of a list begin with.
#[derive(Debug)]
struct Beginnings {
    /// The names that have been seen, as far as they are counted.
    seen: KeySetId,
    tokens: Vec<TokenId>,
    /// For each token the number of remaining names that it begins, and its place in the list; also for tokens that have left the
    /// list.
    counts: HashMap<TokenId, (u32, u32)>,
    /// Names, which may have been seen, that a token adds and closes, and the places of those tokens.
    closed: ClosedKeys,
}

/// Names, and places of tokens that close them.
pub(crate) type ClosedKeys = Arc<[(TextId, Range<usize>)]>;

impl RemainingKeyTokens {
    /// Bytes that the counts take, roughly: a token with its count and place, or a name with the places of tokens that close it.
    pub(crate) fn bytes(&self) -> usize {
        32 * self.kept
    }
}

impl RemainingKeyTokens {
    /// The tokens that the remaining names of a list begin with, and the names that tokens close.
    pub(crate) fn find(
        &mut self,
        automaton: &mut Automaton,
        remaining: RemainingKeys,
        contents: &Contents,
    ) -> (&[TokenId], ClosedKeys) {
        if self.kept > MAX_KEPT {
            *self = Self::default();
        }
        let beginnings = match self.of.entry((contents.number, remaining.list, remaining.text)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let beginnings = Beginnings::new(automaton, remaining, contents);
                self.kept += beginnings.counts.len() + beginnings.closed.len();
                place.insert(beginnings)
            }
        };
        beginnings.go_to(automaton, remaining, contents);
        (&beginnings.tokens, beginnings.closed.clone())
    }
}

impl Beginnings {
    /// Counts the names of a whole list.
    fn new(automaton: &mut Automaton, remaining: RemainingKeys, contents: &Contents) -> Self {
        let mut beginnings = Self {
            seen: KeySetId::EMPTY,
            tokens: Vec::new(),
            counts: HashMap::new(),
            closed: closed(automaton, remaining, contents),
        };
        let names = automaton.listed_with(remaining.list, remaining.text);
        let read = automaton.key_length(remaining.text);
        // Names that begin alike stand together.
        let mut open = vec![(ROOT, names, read)];
        while let Some((node, mut names, read)) = open.pop() {
            while let Some(first) = names.first() {
                let next = automaton.key_text(*first)[read..].chars().next();
                let is_alike = |name: &TextId| automaton.key_text(*name)[read..].chars().next() == next;
                let (alike, others) = names.split_at(names.partition_point(is_alike));
                names = others;
                for place in contents.ending_at(node, next.map(u32::from)) {
                    beginnings.add(contents.tokens[place], alike.len() as u32);
                }
                if let Some(next) = next
                    && let Some(child) = contents.inside.child(node, next.into())
                {
                    open.push((child, alike, read + next.len_utf8()));
                }
            }
        }
        beginnings
    }

    /// Brings the counts up to date with the names that have been seen.
    fn go_to(&mut self, automaton: &mut Automaton, remaining: RemainingKeys, contents: &Contents) {
        let begun = automaton.key_length(remaining.text);
        let mut found = Vec::new();
        for (name, is_seen) in automaton.key_differences(self.seen, remaining.seen, remaining.text) {
            contents.beginnings(&automaton.key_text(name)[begun..], &mut found);
            for token in found.drain(..) {
                match is_seen {
                    true => self.take(token),
                    false => self.add(token, 1),
                }
            }
        }
        self.seen = remaining.seen;
    }

    /// Counts a token for so many names more.
    fn add(&mut self, token: TokenId, names: u32) {
        let (count, place) = self.counts.entry(token).or_default();
        if *count == 0 {
            *place = self.tokens.len() as u32;
            self.tokens.push(token);
        }
        *count += names;
    }

    /// Counts a token for one name less.
    fn take(&mut self, token: TokenId) {
        let Some((count @ 1.., place)) = self.counts.get_mut(&token) else {
            return;
        };
        *count -= 1;
        if *count > 0 {
            return;
        }
        let place = *place;
        self.tokens.swap_remove(place as usize);
        if let Some(moved) = self.tokens.get(place as usize)
            && let Some((_, at)) = self.counts.get_mut(moved)
        {
            *at = place;
        }
    }
}

/// The names of a list that a token closes.
fn closed(automaton: &mut Automaton, remaining: RemainingKeys, contents: &Contents) -> ClosedKeys {
    let names = automaton.listed_with(remaining.list, remaining.text);
    let read = automaton.key_length(remaining.text);
    let names: Vec<TextId> = match names.len() > contents.closed.len() {
        true => {
            let texts = contents.closed.iter();
            texts.filter_map(|text| automaton.listed_key(remaining, text)).collect()
        }
        false => names.to_vec(),
    };
    let closings = |name: TextId| (name, contents.closings_after(&automaton.key_text(name)[read..]));
    let closed = names.into_iter().map(closings);
    closed.filter(|(_, closings)| !closings.is_empty()).collect()
}
