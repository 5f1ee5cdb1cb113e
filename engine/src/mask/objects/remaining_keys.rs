//! [`RemainingKeyTokens`]: the tokens that begin one of many names, kept up to date with the names that come.
//!
//! Before each name of an object of thousands the same tokens may come as before the last one, but for those that began that
//! one and no other. So it is counted how many of the names left each token begins, and counted down for names that have
//! come since, or up for those that have not come in another object.

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use crate::TokenId;
use crate::automaton::{Automaton, AutomatonError, KeyListId, KeySetId, RemainingKeys, State, TextId};

use crate::mask::index::contents::Contents;
use crate::mask::index::trie::ROOT;
use crate::mask::objects::keys::{beginnings, begun};
use crate::mask::structure::Walk;

/// Tokens that are counted, and names that they close.
const MOST_KEPT: usize = 1 << 18;

/// The tokens that begin names of long lists.
#[derive(Debug, Default)]
pub(crate) struct RemainingKeyTokens {
    /// By the contents that the tokens are of, the list, and what has been read of the name.
    of: HashMap<(u32, KeyListId, TextId), Beginnings>,
    kept: usize,
}

/// The tokens that the names of a list begin with which have not come.
#[derive(Debug)]
struct Beginnings {
    /// The names that have come.
    come: KeySetId,
    tokens: Vec<TokenId>,
    /// Of each of them, and of those left out since, how many names left it begins, and its place in the list.
    counts: HashMap<TokenId, (u32, u32)>,
    /// Names, which may have come, all of which a token adds and closes, and the places of those.
    closed: Closed,
}

/// Names, and places of tokens that close them.
type Closed = Arc<[(TextId, Range<usize>)]>;

impl RemainingKeyTokens {
    /// Bytes that they take, roughly: a token with its count and place, or a name with the places of tokens that close it.
    pub(crate) fn bytes(&self) -> usize {
        32 * self.kept
    }
}

impl Walk<'_> {
    /// The tokens that the names of a list begin with which have not come.
    pub(crate) fn names_left(
        &mut self,
        at: State,
        left: RemainingKeys,
        contents: &Contents,
        found: &mut Vec<TokenId>,
    ) -> Result<(), AutomatonError> {
        let known = &mut self.known.names.left;
        if known.kept > MOST_KEPT {
            *known = RemainingKeyTokens::default();
        }
        let beginnings = match known.of.entry((contents.number, left.list, left.text)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let beginnings = Beginnings::new(self.automaton, left, contents);
                known.kept += beginnings.counts.len() + beginnings.closed.len();
                place.insert(beginnings)
            }
        };
        beginnings.go_to(self.automaton, left, contents);
        found.extend_from_slice(&beginnings.tokens);
        for (name, closings) in beginnings.closed.clone().iter() {
            if !self.automaton.has_name(left.come, *name) {
                self.close_listed(at, *name, &contents.closings[closings.clone()], found)?;
            }
        }
        Ok(())
    }
}

impl Beginnings {
    /// Those of all names of a list.
    fn new(automaton: &mut Automaton, left: RemainingKeys, contents: &Contents) -> Self {
        let mut beginnings = Self {
            come: KeySetId::EMPTY,
            tokens: Vec::new(),
            counts: HashMap::new(),
            closed: closed(automaton, left, contents),
        };
        let names = automaton.listed_with(left.list, left.text);
        let read = automaton.name_text(left.text).len();
        let mut found = Vec::new();
        // Names that begin alike stand together.
        let mut open = vec![(ROOT, names, read)];
        while let Some((node, mut names, read)) = open.pop() {
            while let Some(first) = names.first() {
                let next = automaton.name_text(*first)[read..].chars().next();
                let is_alike = |name: &TextId| automaton.name_text(*name)[read..].chars().next() == next;
                let (alike, others) = names.split_at(names.partition_point(is_alike));
                names = others;
                begun(node, next.map(u32::from), contents, &mut found);
                for token in found.drain(..) {
                    beginnings.add(token, alike.len() as u32);
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

    /// Brings them up to date with the names that have come.
    fn go_to(&mut self, automaton: &mut Automaton, left: RemainingKeys, contents: &Contents) {
        let begun = automaton.name_text(left.text).len();
        let mut found = Vec::new();
        for (name, has_come) in automaton.names_that_differ(self.come, left.come) {
            let text = automaton.name_text(name);
            if !text.starts_with(automaton.name_text(left.text)) {
                continue;
            }
            beginnings(&text[begun..], contents, &mut found);
            for token in found.drain(..) {
                match has_come {
                    true => self.take(token),
                    false => self.add(token, 1),
                }
            }
        }
        self.come = left.come;
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
fn closed(automaton: &mut Automaton, left: RemainingKeys, contents: &Contents) -> Closed {
    let names = automaton.listed_with(left.list, left.text);
    let read = automaton.name_text(left.text).len();
    let names: Vec<TextId> = match names.len() > contents.closed.len() {
        true => {
            let texts = contents.closed.iter();
            texts.filter_map(|text| automaton.name_listed(left, text)).collect()
        }
        false => names.to_vec(),
    };
    let closings = |name: TextId| (name, contents.closings_after(&automaton.name_text(name)[read..]));
    let closed = names.into_iter().map(closings);
    closed.filter(|(_, closings)| !closings.is_empty()).collect()
}
