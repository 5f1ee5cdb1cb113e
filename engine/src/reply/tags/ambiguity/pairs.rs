//! [`Pairs`]: pairs of positions at which two threads of one reply can be at the same time, as a superset.

use std::collections::BTreeSet;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use crate::CompileError;

use super::super::build::too_large;
use super::super::format::{ContentId, Unit};
use super::super::literal::{BY_ID, TOKEN_BYTES};
use super::super::program::{ByteSet, Point, PointId, Program, Thread};
use super::super::region::Region;
use super::outline::{Alternatives, Outlines, START};

/// Maximal number of pairs of one structural tag: a choice among as many documents as there may be threads has fewer.
const MAX_PAIRS: usize = 1 << 19;
/// Maximal number of steps of all searches for one structural tag: points, bytes of patterns, successors of positions, and pairs of them that
/// are looked at, repetitions included. A million of them take some 15 milliseconds.
const MAX_SEARCH_STEPS: usize = 1 << 26;

/// Flag in the state of free text: the part of the patterns that was read before the threads of a pair parted is unknown.
const PARTED: u32 = 1 << 31;

/// The abstract position of a thread: in a content the state of its outline, in free text the state of its patterns' automaton,
/// with [`PARTED`] since the threads of a pair parted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) point: PointId,
    pub(super) state: u32,
}

/// A position after a byte.
#[derive(Clone, Copy, Debug)]
struct Successor {
    position: Position,
    /// Number of the thread. Positions of one number are alternatives: the thread is at one of them.
    thread: u32,
    /// Whether the thread began with this byte or behind it.
    is_new: bool,
}

type Successors = SmallVec<[Successor; 4]>;

/// A content that, as far as its outline tells, can begin over and over while it is read.
struct Conflict(ContentId);

/// The search for all pairs of positions.
pub(super) struct Pairs<'a> {
    program: &'a Program,
    outlines: &'a Outlines<'a>,
    /// All bytes of text, and the bytes that begin special tokens.
    every: Box<[u8]>,
    /// Representatives of the classes of bytes: those that fixed texts, patterns and outlines of documents distinguish, and one other.
    apart: Box<[u8]>,
    /// The points behind the patterns of each free text, by the last byte of the pattern.
    behind_patterns: HashMap<(PointId, u8), SmallVec<[PointId; 2]>>,
    seen: HashSet<(Position, Position)>,
    open: Vec<(Position, Position)>,
    /// Number of steps, those of earlier searches included.
    steps: &'a mut usize,
}

/// The result of the search: all pairs, or the contents whose outlines are too coarse.
pub(super) enum Found {
    All(HashSet<(Position, Position)>),
    /// The content that can begin over and over while it is read, as far as the outlines tell, and all whose outlines matter to that, itself included.
    Conflict(ContentId, BTreeSet<ContentId>),
}

impl<'a> Pairs<'a> {
    /// A search that adds its steps to those of earlier ones.
    pub(super) fn new(program: &'a Program, outlines: &'a Outlines<'a>, steps: &'a mut usize) -> Self {
        let mut apart = ByteSet::default();
        let mut tell_apart = |bytes: &[u8]| bytes.iter().for_each(|byte| apart.insert(*byte));
        tell_apart(b" \t\n\r0123456789.eE+-\"]}l");
        let mut behind_patterns: HashMap<_, SmallVec<_>> = HashMap::new();
        for (number, point) in (0..).zip(&program.points) {
            match point {
                Point::Branch(edges) => edges.iter().for_each(|(byte, _)| tell_apart(&[*byte])),
                Point::Free(region) => {
                    region.patterns().for_each(&mut tell_apart);
                    for (text, behind) in region.rules() {
                        if let Some(last) = text.last() {
                            behind_patterns.entry((number, *last)).or_default().push(behind);
                        }
                    }
                }
                Point::Content(content, _) => outlines.texts(*content).for_each(|text| tell_apart(text.as_bytes())),
                Point::End | Point::Fork(_) => {}
            }
        }
        let other = (0..BY_ID).find(|byte| !apart.contains(*byte));
        let is_apart = |byte: &u8| *byte != BY_ID && (apart.contains(*byte) || Some(*byte) == other);
        Self {
            program,
            outlines,
            every: (0..=u8::MAX).filter(|byte| *byte != BY_ID).collect(),
            apart: (0..=u8::MAX).filter(is_apart).collect(),
            behind_patterns,
            seen: HashSet::new(),
            open: Vec::new(),
            steps,
        }
    }

    /// Finds all pairs.
    pub(super) fn find(mut self) -> Result<Found, CompileError> {
        let conflict = match self.begin()? {
            None => self.follow()?,
            conflict => conflict,
        };
        Ok(match conflict {
            None => Found::All(self.seen),
            Some(Conflict(content)) => {
                let positions = self.seen.iter().flat_map(|(one, other)| [one, other]);
                let contents = positions.filter_map(|position| self.program.content(position.point));
                Found::Conflict(content, contents.map(|(content, _)| content).chain([content]).collect())
            }
        })
    }

    /// Adds the pairs in which threads part.
    fn begin(&mut self) -> Result<Option<Conflict>, CompileError> {
        let program = self.program;
        for (number, point) in (0..).zip(&program.points) {
            let threads = &program.entry(number).threads;
            self.count_steps(1 + threads.len() * threads.len() / 2)?;
            for (place, one) in threads.iter().enumerate() {
                for other in &threads[place + 1..] {
                    if let Some(conflict) = self.add(position(*one), position(*other))? {
                        return Ok(Some(conflict));
                    }
                }
            }
            let conflict = match point {
                Point::Content(content, next) => {
                    let first = program.entry(*next).first;
                    let stays = self.outlines.bytes_behind_ends(*content);
                    let bytes = stays.unwrap_or(&self.every).iter().copied();
                    let bytes: Vec<u8> = bytes.filter(|byte| first.contains(*byte)).collect();
                    let states = self.outlines.states(*content);
                    let states: Vec<_> = states.filter(|state| self.outlines.may_end(*content, *state)).collect();
                    self.part(number, &states, &bytes)?
                }
                Point::Free(region) => {
                    let first = program.entry(region.exit).first;
                    let bytes: Vec<u8> = self
                        .every
                        .iter()
                        .copied()
                        .filter(|byte| first.contains(*byte))
                        .collect();
                    match self.part(number, &[region.begin().read.as_u32() | PARTED], &bytes)? {
                        None => self.found_at_once(region)?,
                        conflict => conflict,
                    }
                }
                Point::End | Point::Fork(_) | Point::Branch(_) => None,
            };
            if conflict.is_some() {
                return Ok(conflict);
            }
        }
        Ok(None)
    }

    /// Adds the pairs of positions that a thread may have after a byte.
    fn part(&mut self, point: PointId, states: &[u32], bytes: &[u8]) -> Result<Option<Conflict>, CompileError> {
        for &state in states {
            for &byte in bytes {
                let next = self.successors(Position { point, state }, byte)?;
                self.count_steps(next.len() * next.len() / 2)?;
                for (place, one) in next.iter().enumerate() {
                    for other in &next[place + 1..] {
                        if one.thread != other.thread
                            && !self.are_one(one, other)
                            && let Some(conflict) = self.add(one.position, other.position)?
                        {
                            return Ok(Some(conflict));
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// Adds the pairs of points behind two patterns that end at the same byte, because one is a suffix of the other.
    fn found_at_once(&mut self, region: &Region) -> Result<Option<Conflict>, CompileError> {
        let rules: HashMap<&[u8], PointId> = region.rules().collect();
        for (text, point) in region.rules() {
            self.count_steps(text.len())?;
            for from in 1..text.len() {
                let Some(other) = rules.get(&text[from..]) else {
                    continue;
                };
                for one in &self.program.entry(point).threads {
                    for other in &self.program.entry(*other).threads {
                        if one != other
                            && let Some(conflict) = self.add(position(*one), position(*other))?
                        {
                            return Ok(Some(conflict));
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// Follows the pairs byte by byte.
    fn follow(&mut self) -> Result<Option<Conflict>, CompileError> {
        while let Some((one, other)) = self.open.pop() {
            for byte in self.bytes(one, other) {
                let next = self.successors(one, byte)?;
                if next.is_empty() {
                    continue;
                }
                let others = self.successors(other, byte)?;
                self.count_steps(next.len() * others.len())?;
                for behind in others {
                    for before in &next {
                        if !self.are_one(before, &behind)
                            && let Some(conflict) = self.add(before.position, behind.position)?
                        {
                            return Ok(Some(conflict));
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// Bytes that suffice to reach all successors of a pair.
    fn bytes(&self, one: Position, other: Position) -> SmallVec<[u8; 16]> {
        let mut is_single = false;
        let mut fewest: Option<SmallVec<[u8; 16]>> = None;
        for position in [one, other] {
            let own: SmallVec<[u8; 16]> = match self.program.point(position.point) {
                Point::End => return SmallVec::new(),
                Point::Branch(edges) if edges.iter().all(|(byte, _)| *byte != BY_ID) => {
                    edges.iter().map(|(byte, _)| *byte).collect()
                }
                Point::Content(content, behind) => {
                    is_single |= self.outlines.is_single(*content, position.state);
                    let Some(bytes) = self.outlines.bytes_of_whole(*content, position.state) else {
                        continue;
                    };
                    let mut bytes: SmallVec<_> = bytes.collect();
                    if self.outlines.may_end(*content, position.state) {
                        let first = self.program.entry(*behind).first;
                        let further = self.every.iter().filter(|byte| first.contains(**byte));
                        let further: SmallVec<[u8; 16]> = further
                            .copied()
                            .filter(|byte| bytes.binary_search(byte).is_err())
                            .collect();
                        bytes.extend(further);
                    }
                    bytes
                }
                Point::Branch(_) | Point::Fork(_) | Point::Free(_) => continue,
            };
            if fewest.as_ref().is_none_or(|fewest| own.len() < fewest.len()) {
                fewest = Some(own);
            }
        }
        fewest.unwrap_or_else(|| SmallVec::from_slice(if is_single { &self.every } else { &self.apart }))
    }

    /// Whether two threads after a byte are one.
    fn are_one(&self, one: &Successor, other: &Successor) -> bool {
        let is_single = match self.program.point(one.position.point) {
            Point::Content(content, _) => self.outlines.is_single(*content, one.position.state),
            Point::Free(_) => false,
            Point::End | Point::Fork(_) | Point::Branch(_) => true,
        };
        one.position == other.position && (is_single || one.is_new && other.is_new)
    }

    fn add(&mut self, one: Position, other: Position) -> Result<Option<Conflict>, CompileError> {
        if one.point == other.point
            && let Some((content, _)) = self.program.content(one.point)
            && ![one, other]
                .iter()
                .any(|position| self.outlines.is_single(content, position.state))
        {
            return Ok(Some(Conflict(content)));
        }
        let pair = (one.min(other), one.max(other));
        if self.seen.insert(pair) {
            if self.seen.len() > MAX_PAIRS {
                return Err(too_large("ways to read a reply, two by two", MAX_PAIRS));
            }
            self.open.push(pair);
        }
        Ok(None)
    }

    /// Counts steps against [`MAX_SEARCH_STEPS`].
    fn count_steps(&mut self, count: usize) -> Result<(), CompileError> {
        *self.steps += count;
        match *self.steps > MAX_SEARCH_STEPS {
            true => Err(too_large("ways to read a reply, two by two", MAX_SEARCH_STEPS)),
            false => Ok(()),
        }
    }

    /// Returns a superset of the positions that a thread may have after a byte.
    fn successors(&mut self, from: Position, byte: u8) -> Result<Successors, CompileError> {
        let (mut next, mut left): (Successors, SmallVec<[PointId; 4]>) = (SmallVec::new(), SmallVec::new());
        self.one(from, byte, false, &mut next, &mut left)?;
        let mut at = 0;
        while let Some(&point) = left.get(at) {
            at += 1;
            for thread in &self.program.entry(point).threads {
                self.one(position(*thread), byte, true, &mut next, &mut left)?;
            }
        }
        self.count_steps(1 + next.len())?;
        Ok(next)
    }

    fn one(
        &self,
        from: Position,
        byte: u8,
        is_new: bool,
        next: &mut Successors,
        left: &mut SmallVec<[PointId; 4]>,
    ) -> Result<(), CompileError> {
        let thread = next.last().map_or(0, |last| last.thread + 1);
        let mut leave = |exit: PointId| {
            if self.program.entry(exit).first.contains(byte) && !left.contains(&exit) {
                left.push(exit);
            }
        };
        let stay = |state: u32| Successor {
            position: Position { state, ..from },
            thread,
            is_new,
        };
        match self.program.point(from.point) {
            Point::End | Point::Fork(_) => {}
            Point::Branch(edges) => {
                if let Ok(edge) = edges.binary_search_by_key(&byte, |(byte, _)| *byte) {
                    self.enter(edges[edge].1, None, next);
                }
                // The bytes of a token that is meant by its id are read while its encoding is.
                if byte < BY_ID
                    && let Ok(edge) = edges.binary_search_by_key(&BY_ID, |(byte, _)| *byte)
                {
                    next.push(stay(from.state));
                    for behind in self.behind_token(edges[edge].1) {
                        self.enter(behind, Some(thread), next);
                    }
                }
            }
            Point::Free(region) => {
                let reads_ids = region.unit() == Unit::Tokens && byte < BY_ID;
                let parted = from.state & PARTED;
                let after = match reads_ids {
                    true => Some(from.state),
                    false => region.read_on(from.state & !PARTED, byte).map(|read| read | parted),
                };
                next.extend(after.map(stay));
                if region.is_one() {
                    self.enter(region.exit, Some(thread), next);
                } else {
                    leave(region.exit);
                }
                if reads_ids {
                    for (_, behind) in region.rules() {
                        self.enter(behind, Some(thread), next);
                    }
                } else if parted == PARTED || after.is_none() {
                    for behind in self.behind_patterns.get(&(from.point, byte)).into_iter().flatten() {
                        self.enter(*behind, Some(thread), next);
                    }
                }
            }
            Point::Content(content, behind) => {
                let mut states = Alternatives::new();
                self.outlines.step(*content, from.state, byte, &mut states)?;
                next.extend(states.into_iter().map(stay));
                if self.outlines.may_end(*content, from.state) {
                    leave(*behind);
                }
            }
        }
        Ok(())
    }

    /// Adds the threads that begin at a point. Those of one number are the alternatives of one thread.
    fn enter(&self, point: PointId, thread: Option<u32>, next: &mut Successors) {
        for entered in &self.program.entry(point).threads {
            let own = next.last().map_or(0, |last| last.thread + 1);
            next.push(Successor {
                position: position(*entered),
                thread: thread.unwrap_or(own),
                is_new: true,
            });
        }
    }

    /// The points behind tokens that are meant by their ids, from behind their lead byte.
    fn behind_token(&self, from: PointId) -> Vec<PointId> {
        let mut points = vec![from];
        for _ in 1..TOKEN_BYTES {
            let edges = points.iter().filter_map(|point| match self.program.point(*point) {
                Point::Branch(edges) => Some(edges.iter().map(|(_, next)| *next)),
                _ => None,
            });
            points = edges.flatten().collect();
        }
        points
    }
}

/// Returns the position of a thread that has just begun.
fn position(thread: Thread) -> Position {
    let (point, state) = match thread {
        Thread::End => (super::super::build::END, START),
        Thread::Branch(point) => (point, START),
        Thread::Free(point, place) => (point, place.read.as_u32()),
        Thread::Content(point, _) => (point, START),
    };
    Position { point, state }
}
