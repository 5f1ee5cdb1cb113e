//! Which structural tags could be read in ever more ways.

use hashbrown::HashSet;

use crate::{CompileError, CompileErrorKind};

use super::build::{MAX_STEPS, too_large};
use super::program::{Point, Program};

/// Fails where free text may go on while a content behind it is read: then each byte could begin one more of them.
///
/// A way out of free text is harmless once a text was read that must not occur in the free text, because then that has ended.
pub(super) fn check_free_text(program: &Program) -> Result<(), CompileError> {
    let mut steps = 0;
    for (number, point) in program.points.iter().enumerate() {
        let Point::Free(region) = point else { continue };
        if region.is_one() {
            continue;
        }
        let mut open = vec![(region.exit, region.begin())];
        let mut seen = HashSet::new();
        while let Some((point, at)) = open.pop() {
            if point as usize == number || !seen.insert((point, at)) {
                continue;
            }
            steps += 1;
            if steps > MAX_STEPS {
                return Err(too_large("ways from place to place", MAX_STEPS));
            }
            match program.point(point) {
                Point::End => {}
                Point::Fork(points) => open.extend(points.iter().map(|point| (*point, at))),
                Point::Branch(edges) => {
                    for (byte, next) in edges {
                        open.extend(region.beside(at, *byte).map(|at| (*next, at)));
                    }
                }
                Point::Content(..) => {
                    let message = "free text may go on where the content behind it begins, so that there is no bound on the ways \
                         to read a reply: exclude the text before the content from the free text (`excludes`), or put both in a tag";
                    return Err(CompileError::new(CompileErrorKind::Unsupported, message).at(""));
                }
                Point::Free(other) => {
                    open.push((other.exit, region.begin()));
                    for (pattern, next) in other.rules() {
                        let mut bytes = pattern.iter();
                        let read = bytes.try_fold(region.begin(), |at, byte| region.beside(at, *byte));
                        open.extend(read.map(|at| (next, at)));
                    }
                }
            }
        }
    }
    Ok(())
}
