//! Epsilon closures: the threads that begin when a point of a program is entered.

use hashbrown::HashSet;
use smallvec::SmallVec;

use crate::CompileError;

use super::build::{MAX_STEPS, MAX_THREADS, too_large};
use super::program::{ByteSet, ContentStart, Entry, Point, PointId, Thread};

/// Returns for each point the threads that begin there, behind forks, and whether the reply may end there, behind empty contents as well.
///
/// # Errors
///
/// [`CompileErrorKind::LimitExceeded`](crate::CompileErrorKind::LimitExceeded), where too many threads begin at one point.
pub(super) fn entries(points: &[Point], starts: &[ContentStart]) -> Result<Vec<Entry>, CompileError> {
    let mut entries = vec![Entry::default(); points.len()];
    let mut steps = 0;
    for from in 0..points.len() {
        let (mut threads, mut first, mut may_end) = (Vec::new(), ByteSet::default(), false);
        if let Point::Branch(edges) = &points[from] {
            edges.iter().for_each(|(byte, _)| first.insert(*byte));
            entries[from] = Entry {
                threads: SmallVec::from_buf([Thread::Branch(from as PointId)]),
                first,
                may_end,
            };
            continue;
        }
        // Points to enter, and whether each is reached without passing an empty content or free text.
        let mut open = vec![(from as PointId, true)];
        let mut seen = HashSet::new();
        while let Some((point, is_entered)) = open.pop() {
            if !seen.insert((point, is_entered)) {
                continue;
            }
            steps += 1;
            if steps > MAX_STEPS {
                return Err(too_large("ways from place to place", MAX_STEPS));
            }
            match &points[point as usize] {
                Point::End => {
                    may_end = true;
                    if is_entered {
                        threads.push(Thread::End);
                    }
                }
                Point::Fork(points) => open.extend(points.iter().rev().map(|point| (*point, is_entered))),
                Point::Branch(edges) if is_entered => {
                    threads.push(Thread::Branch(point));
                    edges.iter().for_each(|(byte, _)| first.insert(*byte));
                }
                Point::Branch(_) => {}
                Point::Content(content, next) => {
                    let start = starts[*content];
                    if is_entered {
                        threads.push(Thread::Content(point, start.state));
                        first = ByteSet::ALL;
                    }
                    if start.may_be_empty {
                        open.push((*next, false));
                    }
                }
                Point::Free(region) => {
                    if is_entered {
                        threads.push(Thread::Free(point, region.begin()));
                        first = ByteSet::ALL;
                    }
                    if !region.is_one() {
                        open.push((region.exit, false));
                    }
                }
            }
        }
        if threads.len() > MAX_THREADS {
            return Err(too_large("ways to go on from one place", MAX_THREADS));
        }
        entries[from] = Entry {
            threads: threads.into(),
            first,
            may_end,
        };
    }
    Ok(entries)
}
