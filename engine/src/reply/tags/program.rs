//! [`Program`]: a structural tag as the graph of a nondeterministic automaton, whose nodes are *points*: a point reads bytes or forks.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::TokenId;
use crate::automaton::State;

use super::format::ContentId;
use super::region::{Place, Region};

/// Bytes that may come, each with the point behind it, sorted.
pub(super) type Edges = SmallVec<[(u8, PointId); 1]>;

/// Index of a point in the program.
pub(super) type PointId = u32;

/// A node of a structural tag's program, with its successors.
#[derive(Debug)]
pub(super) enum Point {
    /// The end of the reply.
    End,
    /// A choice among several points, which reads nothing.
    Fork(Vec<PointId>),
    /// One of some bytes, sorted, each with the point behind it.
    Branch(Edges),
    /// A content, with the point behind it.
    Content(ContentId, PointId),
    /// A run of free text.
    Free(Box<Region>),
}

/// The position of one parse of the reply so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Thread {
    /// The reply has ended.
    End,
    /// Before one of the bytes of a branch.
    Branch(PointId),
    /// In free text.
    Free(PointId, Place),
    /// In a content, which is in a state.
    Content(PointId, ContentState),
}

/// A state of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ContentState {
    /// The state of the content's automaton.
    pub(super) state: State,
    /// The state of the content's [`Marks`](super::marks::Marks); 0 where it has none.
    pub(super) read: u16,
}

/// The threads of a reply, mostly one or two.
pub(super) type Threads = SmallVec<[Thread; 4]>;

/// The result of entering a point: its epsilon closure.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// The threads that begin at the point.
    pub(super) threads: SmallVec<[Thread; 1]>,
    /// The bytes with which these threads may go on; all bytes for contents and free text.
    pub(super) first: ByteSet,
    /// Whether the reply may end at the point.
    pub(super) may_end: bool,
}

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    /// All bytes.
    pub(super) const ALL: Self = Self([u64::MAX; 4]);

    pub(super) fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] |= 1 << (byte % 64);
    }

    pub(super) fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
    }
}

/// A content before its first byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContentStart {
    pub(super) state: ContentState,
    /// Whether the content may be empty.
    pub(super) may_be_empty: bool,
}

/// A compiled structural tag.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) points: Vec<Point>,
    pub(super) entries: Vec<Entry>,
    pub(super) root: PointId,
    /// Tokens that the tag names, sorted, each with the bytes that stand for it.
    pub(super) named: Arc<[(TokenId, Box<[u8]>)]>,
    /// Whether the tag refers to tokens of text by their ids.
    pub(super) reads_ids: bool,
    /// Bytes that the points keep beside the list of them.
    pub(super) point_bytes: usize,
}

impl Program {
    pub(super) fn point(&self, point: PointId) -> &Point {
        &self.points[point as usize]
    }

    pub(super) fn entry(&self, point: PointId) -> &Entry {
        &self.entries[point as usize]
    }

    /// Returns the region of a point of free text.
    pub(super) fn region(&self, point: PointId) -> Option<&Region> {
        match self.point(point) {
            Point::Free(region) => Some(region),
            _ => None,
        }
    }

    /// The common prefix of all texts that may follow a point, up to a bounded length.
    pub(super) fn fixed_text(&self, mut point: PointId) -> SmallVec<[u8; 16]> {
        let mut text = SmallVec::new();
        while let [Thread::Branch(branch)] = self.entry(point).threads[..]
            && !self.entry(point).may_end
            && let Point::Branch(edges) = self.point(branch)
            && let [(byte, next)] = edges[..]
            && text.len() < text.inline_size()
        {
            text.push(byte);
            point = next;
        }
        text
    }

    /// Returns the content of a point that has one, and the point behind it.
    pub(super) fn content(&self, point: PointId) -> Option<(ContentId, PointId)> {
        match self.point(point) {
            Point::Content(content, next) => Some((*content, *next)),
            _ => None,
        }
    }
}
