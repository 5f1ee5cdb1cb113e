//! [`SharedContents`]: the contents of the tags that are in use, which later tags share.
//!
//! Requests to one server mostly offer the tools of the request before, one more or one fewer. A tag then costs what is new in it: a content
//! that it has in common with another tag is not compiled again, and its masks are known as far as replies have come to them.

use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, Weak};

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::CompileError;
use crate::mask::cache::bounded::lock;

use super::contents::Content;
use super::format::ContentSource;

/// Contents that are kept before those of tags that are gone are first looked for.
const LEAST_SWEPT: usize = 64;

/// The contents of one compiler's tags, by their sources. A tag owns its contents together with others, and counts the whole memory of
/// each as its own; the compiler keeps none alive.
#[derive(Debug, Default)]
pub(in crate::reply) struct SharedContents {
    hasher: DefaultHashBuilder,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Contents with the hashes of their sources.
    contents: HashTable<(u64, Weak<Content>)>,
    /// The number of contents at which those of tags that are gone are looked for.
    sweep_at: usize,
}

impl SharedContents {
    /// Returns the content of a source: that of another tag, or else the one that `compile` makes. A content that has grown much in the
    /// replies so far is left to the tags that have it.
    ///
    /// # Errors
    ///
    /// The error that `compile` returns.
    pub(super) fn get(
        &self,
        source: &ContentSource,
        compile: impl FnOnce() -> Result<Content, CompileError>,
    ) -> Result<Arc<Content>, CompileError> {
        let hash = self.hasher.hash_one(source);
        let known = {
            let known = lock(&self.known);
            let mut found = None;
            let is_it = |(known, content): &(u64, Weak<Content>)| {
                if *known == hash {
                    found = content.upgrade().filter(|content| content.source == *source);
                }
                found.is_some()
            };
            known.contents.find(hash, is_it);
            found
        };
        // Asked without the lock, for another thread may be working with the content.
        if let Some(known) = known.filter(|content| content.may_be_shared()) {
            return Ok(known);
        }
        let content = Arc::new(compile()?);
        lock(&self.known).insert(hash, &content);
        Ok(content)
    }
}

impl Known {
    /// Adds a content in the place of any other of its source.
    fn insert(&mut self, hash: u64, content: &Arc<Content>) {
        if self.contents.len() >= self.sweep_at.max(LEAST_SWEPT) {
            self.contents.retain(|(_, content)| content.strong_count() > 0);
            self.sweep_at = 2 * self.contents.len();
        }
        let entry = (hash, Arc::downgrade(content));
        let is_it = |(known, other): &(u64, Weak<Content>)| {
            *known == hash && other.upgrade().is_some_and(|other| other.source == content.source)
        };
        match self.contents.find_mut(hash, is_it) {
            Some(known) => *known = entry,
            None => drop(self.contents.insert_unique(hash, entry, |(hash, _)| *hash)),
        }
    }
}
