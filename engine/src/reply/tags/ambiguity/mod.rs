//! Bounds the ambiguity of structural tags when they are compiled: a tag is refused if some reply could have more than [`MAX_THREADS`] threads.
//!
//! The check follows pairs of threads through the product of the program with itself ([`pairs`]). A pair begins where two threads part: at a
//! choice, or where a content or free text may end and may go on. The pairs found are a superset of those that replies reach.
//! Fixed texts and free text have few states. A content may have arbitrarily many, so it must not begin again at the same point
//! while it is read. Contents are first abstracted to an outline ([`outline`]): a raw string may be any text, a document has ended or not.
//! Where that abstraction is too coarse, contents of few states are followed exactly: texts by ranges of characters, documents byte by byte.

mod outline;
mod pairs;
mod without;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::{HashMap, HashSet};

use crate::{CompileError, CompileErrorKind};

use super::build::{MAX_THREADS, too_large};
use super::contents::Contents;
use super::format::ContentId;
use super::program::{Point, PointId, Program};
use outline::Outlines;
use pairs::{Found, Pairs, Position};
pub(super) use without::WithoutTexts;

/// Fails unless the number of threads is bounded by [`MAX_THREADS`] for all replies. `places` has the JSON Pointer of each content.
///
/// # Errors
///
/// [`CompileErrorKind::Unsupported`] where a document can begin again while it is read, [`CompileErrorKind::LimitExceeded`] where there is a
/// bound, but not that one, or where a text has too many states to be followed.
pub(super) fn check_threads(program: &Program, contents: &Contents, places: &[String]) -> Result<(), CompileError> {
    let mut outlines = Outlines::new(contents);
    // The search starts over when contents have finer outlines.
    let mut steps = 0;
    let pairs = loop {
        match Pairs::new(program, &outlines, &mut steps).find()? {
            Found::All(pairs) => break pairs,
            Found::Conflict(content, contents) => {
                // Texts are explored in far fewer steps than documents.
                let (texts, documents): (Vec<_>, Vec<_>) =
                    contents.iter().partition(|content| outlines.is_text(**content));
                if !look_at(&mut outlines, &texts)? && !look_at(&mut outlines, &documents)? {
                    return Err(match texts.iter().find(|text| !outlines.is_whole(**text)) {
                        Some(text) => too_many_states().at(places[*text].clone()),
                        None => begins_again().at(places[content].clone()),
                    });
                }
            }
        }
    };
    check_count(program, &pairs)
}

/// Follows contents exactly where they have few states. Returns whether it is so of one that was not followed yet.
fn look_at(outlines: &mut Outlines<'_>, contents: &[ContentId]) -> Result<bool, CompileError> {
    let mut is_known_better = false;
    for content in contents {
        is_known_better |= outlines.look_at(*content)?;
    }
    Ok(is_known_better)
}

fn too_many_states() -> CompileError {
    let message = "whether this text can begin again while it is read cannot be told, for its expression or grammar has too many states: ask for shorter \
         texts, or for fewer classes of characters";
    CompileError::new(CompileErrorKind::LimitExceeded, message)
}

fn begins_again() -> CompileError {
    let message = "a content can begin at one byte after another while what is before it, such as free text or an expression, \
         goes on, so that no bound is known on the ways to read a reply: exclude the text before the content from free text \
         (`excludes`), put both in a tag, or have a text between them that what is before the content cannot have";
    CompileError::new(CompileErrorKind::Unsupported, message)
}

/// Fails where the pairs admit more than [`MAX_THREADS`] threads at once.
fn check_count(program: &Program, pairs: &HashSet<(Position, Position)>) -> Result<(), CompileError> {
    let points = program.points.len();
    // The points at which two threads may be at the same time, in both orders; for each position the number of positions of its point
    // at which threads may be at the same time, itself included.
    let mut pairs_of_points = Vec::with_capacity(2 * pairs.len());
    let mut states: HashMap<Position, usize> = HashMap::new();
    for &(one, other) in pairs {
        pairs_of_points.extend([(one.point, other.point), (other.point, one.point)]);
        if one.point == other.point {
            *states.entry(one).or_insert(1) += 1;
            *states.entry(other).or_insert(1) += 1;
        }
    }
    pairs_of_points.sort_unstable();
    pairs_of_points.dedup();
    let mut beside: Vec<&[(PointId, PointId)]> = vec![&[]; points];
    for others in pairs_of_points.chunk_by(|one, next| one.0 == next.0) {
        beside[others[0].0 as usize] = others;
    }
    let mut most = vec![1; points];
    for (position, count) in states {
        let count = match program.point(position.point) {
            // Of two positions in free text one has read less of the patterns.
            Point::Free(region) => 1 + region.patterns().map(<[u8]>::len).max().unwrap_or_default(),
            _ => count,
        };
        let most = &mut most[position.point as usize];
        *most = count.max(*most);
    }
    // Of points that are all beside each other the first that is taken out has all others beside it.
    let mut sums: Vec<Option<usize>> = vec![None; points];
    let mut open = Vec::new();
    for others in beside.iter().filter(|others| !others.is_empty()) {
        let point = others[0].0;
        let others = others.iter().filter(|(_, other)| *other != point);
        let sum = most[point as usize] + others.map(|(_, other)| most[*other as usize]).sum::<usize>();
        sums[point as usize] = Some(sum);
        open.push((sum, point));
    }
    if open.iter().all(|(sum, _)| *sum <= MAX_THREADS) {
        return Ok(());
    }
    let mut open: BinaryHeap<_> = open.into_iter().map(Reverse).collect();
    while let Some(Reverse((sum, point))) = open.pop() {
        if sums[point as usize] != Some(sum) {
            continue;
        }
        if sum > MAX_THREADS {
            return Err(too_large("ways to read a reply at once", MAX_THREADS));
        }
        sums[point as usize] = None;
        for &(_, other) in beside[point as usize] {
            if let Some(sum) = &mut sums[other as usize] {
                *sum -= most[point as usize];
                open.push(Reverse((*sum, other)));
            }
        }
    }
    Ok(())
}
