//! FIRST sets over bytes: the bytes with which the texts of each nested rule can begin.

use crate::CompileError;
use crate::strings::{CharRange, LanguageId, Languages};

use super::super::regular::limit;
use super::skeleton::{BodyId, Edge, Skeleton};

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    /// The lead bytes of the characters in some ranges, in UTF-8.
    pub(super) fn of(rows: &[(CharRange, LanguageId)]) -> Self {
        let mut set = Self::default();
        let lead = |c: char| c.encode_utf8(&mut [0; 4]).as_bytes()[0];
        for (range, _) in rows {
            for byte in lead(range.first())..=lead(range.last()) {
                set.0[usize::from(byte / 64)] |= 1 << (byte % 64);
            }
        }
        set
    }

    /// Adds the bytes of another set; returns whether one of them is new.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        let before = *self;
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
        *self != before
    }

    /// All bytes.
    pub(super) fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=u8::MAX).filter(|byte| self.0[usize::from(byte / 64)] >> (byte % 64) & 1 == 1)
    }

    /// The first byte that is in both sets.
    pub(super) fn common(&self, other: &Self) -> Option<u8> {
        let mut both = *self;
        both.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= other);
        both.iter().next()
    }
}

/// The FIRST set of each nested rule: the bytes with which its texts begin.
#[derive(Debug)]
pub(super) struct FirstBytes(Vec<ByteSet>);

impl FirstBytes {
    /// Computes the FIRST sets as a least fixpoint over the calls at the beginnings of rules.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where a limit is reached.
    pub(super) fn new(skeleton: &Skeleton, languages: &mut Languages) -> Result<Self, CompileError> {
        let mut first = vec![ByteSet::default(); skeleton.bodies.len()];
        let mut calls: Vec<Vec<BodyId>> = Vec::with_capacity(first.len());
        for (first, body) in first.iter_mut().zip(&skeleton.bodies) {
            let mut called = Vec::new();
            for point in skeleton.at_once(body.start) {
                for edge in &skeleton.points[point as usize] {
                    match edge {
                        Edge::Language(language, _) => {
                            first.join(&ByteSet::of(&languages.transitions(*language).map_err(limit)?));
                        }
                        Edge::Call(body, _) => called.push(*body),
                        Edge::Empty(_) => {}
                    }
                }
            }
            calls.push(called);
        }
        loop {
            let mut has_changed = false;
            for (body, called) in calls.iter().enumerate() {
                for other in called {
                    let other = first[*other];
                    has_changed |= first[body].join(&other);
                }
            }
            if !has_changed {
                return Ok(Self(first));
            }
        }
    }

    /// The FIRST set of one rule.
    pub(super) fn of(&self, body: BodyId) -> &ByteSet {
        &self.0[body]
    }
}

/// The characters with code points from `from` up to, but not including, `to`.
pub(super) fn characters(from: u32, to: u32) -> Option<(char, char)> {
    let from = char::from_u32(from).unwrap_or('\u{e000}');
    let to = char::from_u32(to - 1).unwrap_or('\u{d7ff}');
    (from <= to).then_some((from, to))
}
