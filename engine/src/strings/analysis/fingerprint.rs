//! Fingerprints: hashes of the structure of expressions, by which languages are identified across schemas.
//!
//! Formats and common patterns recur in schema after schema. A result can be cached for all schemas if its
//! key does not depend on the ids of one schema. Expressions of equal structure have equal fingerprints; others collide
//! with a probability of 2^-128 per pair, which nobody can raise, because the keys are random and private to the process.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::OnceLock;

use smallvec::SmallVec;

use crate::strings::analysis::answers::Fingerprint;
use crate::strings::expr::expression::Expr;
use crate::strings::language_id::LanguageId;
use crate::strings::languages::Languages;

/// Maximal number of expressions visited for one fingerprint: large ones hardly recur.
const LARGEST_EXPRESSION: usize = 300;

impl Languages {
    /// The fingerprint of a language, where it has one: expressions that contain themselves and large ones have none.
    pub(crate) fn fingerprint(&mut self, language: LanguageId) -> Option<Fingerprint> {
        if let Some(known) = self.fingerprints.get(&language) {
            return *known;
        }
        let found = self.find_fingerprint(language);
        self.fingerprints.insert(language, found);
        found
    }

    /// Works a fingerprint out. Expressions may be as deep as a schema's author likes: parts first, on a stack of our own.
    fn find_fingerprint(&mut self, language: LanguageId) -> Option<Fingerprint> {
        let mut open = vec![language];
        let mut left = LARGEST_EXPRESSION;
        let mut parts = Vec::new();
        while let Some(&id) = open.last() {
            if self.fingerprints.contains_key(&id) {
                open.pop();
                continue;
            }
            left = left.checked_sub(1)?;
            let node = self.arena.node(id);
            parts.clear();
            if matches!(node, Expr::Loop(_)) {
                return None;
            }
            node.all_parts(|part| {
                parts.push(part);
                true
            });
            if parts.len() > left {
                return None;
            }
            let before = open.len();
            open.extend(parts.iter().filter(|part| !self.fingerprints.contains_key(*part)));
            if open.len() > before {
                continue;
            }
            let mut known = Vec::with_capacity(parts.len());
            for part in &parts {
                known.push((*self.fingerprints.get(part)?)?);
            }
            if matches!(node, Expr::Or(_) | Expr::And(_)) {
                // Their order is that in which they were made.
                known.sort_unstable();
            }
            let fingerprint = fingerprint_of(node, &known);
            self.fingerprints.insert(id, Some(fingerprint));
        }
        *self.fingerprints.get(&language)?
    }
}

/// The fingerprint of an expression with parts that have these.
fn fingerprint_of(node: &Expr, parts: &[Fingerprint]) -> Fingerprint {
    static KEYS: OnceLock<[RandomState; 2]> = OnceLock::new();
    let keys = KEYS.get_or_init(|| [RandomState::new(), RandomState::new()]);
    let mut bytes = HashedBytes::default();
    std::mem::discriminant(node).hash(&mut bytes);
    match node {
        Expr::Class(ranges) => ranges.hash(&mut bytes),
        Expr::Branch { accepts, edges } => {
            accepts.hash(&mut bytes);
            edges.len().hash(&mut bytes);
            edges.iter().for_each(|(range, _)| range.hash(&mut bytes));
        }
        Expr::Repeat { min, max, .. } => (min, max).hash(&mut bytes),
        Expr::Past(condition) => condition.hash(&mut bytes),
        Expr::LeapSecond { hour, minute } => (hour, minute).hash(&mut bytes),
        Expr::CustomDfa(state) => state.hash(&mut bytes),
        _ => {}
    }
    parts.hash(&mut bytes);
    let [high, low] = keys.each_ref().map(|key| {
        let mut hasher = key.build_hasher();
        hasher.write(&bytes.0);
        hasher.finish()
    });
    u128::from(high) << 64 | u128::from(low)
}

/// The bytes to hash, in a row: to hash them at once is quicker than piece by piece.
#[derive(Default)]
struct HashedBytes(SmallVec<[u8; 256]>);

impl Hasher for HashedBytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Not asked for.
    fn finish(&self) -> u64 {
        0
    }
}
