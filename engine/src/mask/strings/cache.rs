//! Caches of the tokens that may come within strings, with bounds on the memory that they take.

use std::sync::Mutex;

use hashbrown::HashMap;

use crate::automaton::DecodeState;
use crate::mask::cache::bounded::{BoundedCache, lock};
use crate::mask::cache::token_set::TokenSet;
use crate::mask::index::base_sets::Words;
use crate::strings::{Fingerprint, LanguageId, Languages};

use super::few_tokens::FewTokensCache;
use super::open_lengths::OpenLengths;
use super::over_approximation::ApproximateTokens;
use super::residual_states::ResidualStates;
use super::walk::class_sets::ClassSets;

/// Memory for the sets of strings that the schemas of a vocabulary share. A process that serves one schema after the other fills
/// this memory within some thousands of schemas, and must not grow further then.
const SHARED_BYTES: usize = 6 << 20;
/// Memory for the tokens of over-approximations that those schemas share.
const APPROXIMATION_BYTES: usize = 2 << 20;
/// Memory for the sets of tokens within a character of a free string.
const PARTIAL_BYTES: usize = 2 << 20;
/// Memory for the sets of strings that one schema keeps.
const OWN_BYTES: usize = 8 << 20;

/// The caches of strings for all schemas of a vocabulary.
#[derive(Debug)]
pub(crate) struct SharedStringCache {
    /// The tokens that stay inside, by the partial character and the language.
    pub(super) sets: Mutex<BoundedCache<(DecodeState, Fingerprint), TokenSet>>,
    pub(super) approximations: Mutex<BoundedCache<Fingerprint, ApproximateTokens>>,
    /// The tokens that stay inside of an unconstrained string behind a partial code point.
    pub(super) partial: Mutex<BoundedCache<DecodeState, Words>>,
    pub(super) classes: ClassSets,
}

impl Default for SharedStringCache {
    fn default() -> Self {
        Self {
            sets: Mutex::new(BoundedCache::new(SHARED_BYTES)),
            approximations: Mutex::new(BoundedCache::new(APPROXIMATION_BYTES)),
            partial: Mutex::new(BoundedCache::new(PARTIAL_BYTES)),
            classes: ClassSets::default(),
        }
    }
}

impl SharedStringCache {
    /// Bytes that are taken, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let caches = lock(&self.sets).bytes() + lock(&self.approximations).bytes() + lock(&self.partial).bytes();
        caches + self.classes.bytes()
    }
}

/// The caches of strings for one schema.
#[derive(Debug)]
pub(crate) struct StringCache {
    pub(crate) lengths: OpenLengths,
    /// The states of walks over all tokens, which serve those to come.
    pub(super) walked: ResidualStates,
    pub(super) few: FewTokensCache,
    /// The tokens of over-approximations that have no fingerprint to keep them by.
    pub(super) approximations: HashMap<LanguageId, ApproximateTokens>,
    /// The tokens that stay inside.
    pub(super) sets: BoundedCache<(DecodeState, LanguageId), TokenSet>,
}

impl Default for StringCache {
    fn default() -> Self {
        Self {
            lengths: OpenLengths::default(),
            walked: ResidualStates::default(),
            few: FewTokensCache::default(),
            approximations: HashMap::new(),
            sets: BoundedCache::new(OWN_BYTES),
        }
    }
}

impl StringCache {
    /// Forgets what is known of languages that were dropped.
    pub(super) fn forget(&mut self, languages: &Languages) {
        self.lengths.forget(languages);
        self.walked = ResidualStates::default();
        self.few = FewTokensCache::default();
    }

    /// Returns the bytes that the caches take, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.walked.bytes() + self.few.bytes() + self.sets.bytes()
    }
}
