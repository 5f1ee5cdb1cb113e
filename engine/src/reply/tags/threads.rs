//! [`Stepper`]: simulation of a program's nondeterministic automaton: the set of threads after each byte.
//!
//! The exit of a content or of free text may be taken wherever that may end. An exit becomes a thread only when a byte is read behind it,
//! so free text is one thread, whatever follows it.

use smallvec::SmallVec;

use crate::automaton::AutomatonError;

use super::build::MAX_THREADS;
use super::contents::Contents;
use super::literal::is_lead;
use super::program::{Point, PointId, Program, Thread, Threads};
use super::region::FreeStep;

/// Steps the threads of replies under one structural tag.
#[derive(Clone, Copy)]
pub(super) struct Stepper<'a> {
    pub(super) program: &'a Program,
    pub(super) contents: &'a Contents,
    /// Whether the bytes are those of an end of sequence, which is no free text.
    pub(super) is_end: bool,
}

/// The origin of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// From the thread of this number, within whose content the new thread goes on.
    Within(usize),
    /// From the beginning of a content before the byte.
    Before,
    /// From anywhere else. A content begins behind the byte.
    Behind,
}

/// Callback that takes a thread and its origin.
type Take<'n> = dyn FnMut(Origin, Thread) -> Result<(), AutomatonError> + 'n;

impl Stepper<'_> {
    /// The threads after a byte.
    pub(super) fn step(&self, threads: &[Thread], byte: u8) -> Result<Threads, AutomatonError> {
        let mut next = Threads::new();
        self.step_from(threads, byte, &mut |_, thread| push(&mut next, thread))?;
        Ok(next)
    }

    /// The threads after some bytes.
    pub(super) fn step_all(&self, threads: &[Thread], bytes: &[u8]) -> Result<Threads, AutomatonError> {
        let mut threads = Threads::from_slice(threads);
        for &byte in bytes {
            threads = self.step(&threads, byte)?;
            if threads.is_empty() {
                break;
            }
        }
        Ok(threads)
    }

    /// Hands out the threads after a byte, each with its origin. A thread may be handed out twice.
    pub(super) fn step_from(&self, threads: &[Thread], byte: u8, next: &mut Take<'_>) -> Result<(), AutomatonError> {
        let mut left: SmallVec<[PointId; 4]> = SmallVec::new();
        for (number, thread) in threads.iter().enumerate() {
            if let Some(exit) = self.one(Origin::Within(number), *thread, byte, next)? {
                push_new(&mut left, exit);
            }
        }
        let mut at = 0;
        while let Some(&point) = left.get(at) {
            at += 1;
            for thread in &self.program.entry(point).threads {
                if let Some(exit) = self.one(Origin::Before, *thread, byte, next)? {
                    push_new(&mut left, exit);
                }
            }
        }
        Ok(())
    }

    /// Hands out the successors of one thread after a byte, and returns the exit that the byte may take instead.
    fn one(
        &self,
        origin: Origin,
        thread: Thread,
        byte: u8,
        next: &mut Take<'_>,
    ) -> Result<Option<PointId>, AutomatonError> {
        match thread {
            Thread::End => Ok(None),
            Thread::Branch(point) => {
                if let Point::Branch(edges) = self.program.point(point)
                    && let Ok(edge) = edges.binary_search_by_key(&byte, |(byte, _)| *byte)
                {
                    self.enter(edges[edge].1, next)?;
                }
                Ok(None)
            }
            Thread::Free(point, place) => {
                let Some(region) = self.program.region(point).filter(|_| !self.is_end) else {
                    return self.exit(thread, byte);
                };
                match region.step(place, byte) {
                    FreeStep::On(place) => next(Origin::Behind, Thread::Free(point, place))?,
                    FreeStep::Left => self.enter(region.exit, next)?,
                    FreeStep::Found(read) => {
                        for point in region.found(read) {
                            self.enter(point, next)?;
                        }
                    }
                    FreeStep::Refused => {}
                }
                self.exit(thread, byte)
            }
            Thread::Content(point, state) => {
                if !is_lead(byte)
                    && let Some((content, _)) = self.program.content(point)
                    && let Some(state) = self.contents.step(content, state, byte)?
                {
                    next(origin, Thread::Content(point, state))?;
                }
                self.exit(thread, byte)
            }
        }
    }

    fn enter(&self, point: PointId, next: &mut Take<'_>) -> Result<(), AutomatonError> {
        for thread in &self.program.entry(point).threads {
            next(Origin::Behind, *thread)?;
        }
        Ok(())
    }

    /// Returns the point behind the content or free text of a thread, if the thread may exit there and a byte may follow.
    fn exit(&self, thread: Thread, byte: u8) -> Result<Option<PointId>, AutomatonError> {
        let Some(exit) = self.behind(thread) else {
            return Ok(None);
        };
        let is_way = self.program.entry(exit).first.contains(byte) && self.may_leave(thread)?;
        Ok(is_way.then_some(exit))
    }

    /// Returns the point behind the content or free text of a thread.
    fn behind(&self, thread: Thread) -> Option<PointId> {
        match thread {
            Thread::End | Thread::Branch(_) => None,
            Thread::Free(point, _) => self.program.region(point).map(|region| region.exit),
            Thread::Content(point, _) => self.program.content(point).map(|(_, next)| next),
        }
    }

    /// Whether the content or free text of a thread may end.
    fn may_leave(&self, thread: Thread) -> Result<bool, AutomatonError> {
        match thread {
            Thread::End | Thread::Branch(_) => Ok(false),
            Thread::Free(point, place) => Ok(self.program.region(point).is_some_and(|region| region.may_leave(place))),
            Thread::Content(point, state) => match self.program.content(point) {
                Some((content, _)) => self.contents.ends(content, state),
                None => Ok(false),
            },
        }
    }

    /// Whether the reply may end.
    pub(super) fn is_complete(&self, threads: &[Thread]) -> Result<bool, AutomatonError> {
        for thread in threads {
            let ends = match self.behind(*thread) {
                None => *thread == Thread::End,
                Some(exit) => self.program.entry(exit).may_end && self.may_leave(*thread)?,
            };
            if ends {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the threads behind the contents and free texts of some threads, where these may end.
    pub(super) fn behind_all(&self, threads: &[Thread]) -> Result<Threads, AutomatonError> {
        let (mut found, mut seen): (Threads, SmallVec<[PointId; 4]>) = (Threads::new(), SmallVec::new());
        let mut open: Threads = Threads::from_slice(threads);
        while let Some(thread) = open.pop() {
            let Some(exit) = self.behind(thread) else { continue };
            if !seen.contains(&exit) && self.may_leave(thread)? {
                seen.push(exit);
                for thread in &self.program.entry(exit).threads {
                    if !threads.contains(thread) {
                        push(&mut found, *thread)?;
                    }
                    open.push(*thread);
                }
            }
        }
        Ok(found)
    }
}

/// Adds a thread, unless it is in the set.
///
/// # Errors
///
/// [`AutomatonError::Reached`], where there are too many threads.
pub(super) fn push(threads: &mut Threads, thread: Thread) -> Result<(), AutomatonError> {
    if threads.contains(&thread) {
        return Ok(());
    }
    if threads.len() >= MAX_THREADS {
        let message = format!("a reply under this structural tag can be read in more than {MAX_THREADS} ways at once");
        return Err(AutomatonError::Reached(message));
    }
    threads.push(thread);
    Ok(())
}

fn push_new(points: &mut SmallVec<[PointId; 4]>, point: PointId) {
    if !points.contains(&point) {
        points.push(point);
    }
}
