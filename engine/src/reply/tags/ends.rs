//! [`Ends`]: for each point a short text that ends the reply, by Dijkstra's algorithm over the program.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::automaton::AutomatonError;
use crate::{TokenId, TokenKind, Vocabulary};

use super::contents::Contents;
use super::literal::{TOKEN_BYTES, token_bytes};
use super::program::{Point, PointId, Program};
use super::region::{FreeStep, Region};

/// Length that stands for "the end of the reply is not reached".
const NEVER: u32 = u32::MAX;

/// The shortest path from each point to the end of the reply, in bytes.
#[derive(Debug)]
pub(super) struct Ends {
    /// For each point the next point on the shortest path.
    next: Box<[PointId]>,
    /// For each point the number of bytes of the shortest path, as far as contents are known.
    bytes: Box<[u32]>,
    /// The bytes that end each content from its beginning; none where there are no such bytes.
    contents: Box<[Option<Box<[u8]>>]>,
}

impl Ends {
    pub(super) fn new(program: &Program, contents: &Contents) -> Result<Self, AutomatonError> {
        let texts = contents.iter().map(|content| {
            let text = content.completion(content.start.state)?;
            Ok(text.map(Vec::into_boxed_slice))
        });
        let texts: Box<[Option<Box<[u8]>>]> = texts.collect::<Result<_, AutomatonError>>()?;
        let count = program.points.len();
        // For each point those that lead to it, each with the bytes between.
        let mut before: Vec<Vec<(PointId, u32)>> = vec![Vec::new(); count];
        for (number, point) in (0..).zip(&program.points) {
            let mut leads_to = |next: PointId, bytes: u32| before[next as usize].push((number, bytes));
            match point {
                Point::End => {}
                Point::Fork(points) => points.iter().for_each(|next| leads_to(*next, 0)),
                Point::Branch(edges) => edges.iter().for_each(|(_, next)| leads_to(*next, 1)),
                Point::Content(content, next) => {
                    if let Some(text) = &texts[*content] {
                        leads_to(*next, text.len() as u32);
                    }
                }
                Point::Free(region) => leads_to(region.exit, if region.is_one() { TOKEN_BYTES as u32 } else { 0 }),
            }
        }
        let (mut next, mut bytes) = (vec![0; count], vec![NEVER; count]);
        let ends = (0..)
            .zip(&program.points)
            .filter(|(_, point)| matches!(point, Point::End));
        let mut open: BinaryHeap<Reverse<(u32, PointId, PointId)>> =
            ends.map(|(end, _)| Reverse((0, end, end))).collect();
        while let Some(Reverse((length, point, towards))) = open.pop() {
            if bytes[point as usize] != NEVER {
                continue;
            }
            (bytes[point as usize], next[point as usize]) = (length, towards);
            for &(other, more) in &before[point as usize] {
                if bytes[other as usize] == NEVER {
                    open.push(Reverse((length.saturating_add(more), other, point)));
                }
            }
        }
        Ok(Self {
            next: next.into(),
            bytes: bytes.into(),
            contents: texts,
        })
    }

    /// Number of bytes that end the reply from a point; none where no path is known.
    pub(super) fn length(&self, point: PointId) -> Option<u32> {
        Some(self.bytes[point as usize]).filter(|bytes| *bytes != NEVER)
    }

    /// Appends the text that ends the reply from a point. False where no path is known.
    pub(super) fn write(
        &self,
        program: &Program,
        vocabulary: &Vocabulary,
        mut point: PointId,
        text: &mut Vec<u8>,
    ) -> bool {
        if self.length(point).is_none() {
            return false;
        }
        loop {
            let next = self.next[point as usize];
            match program.point(point) {
                Point::End => return true,
                Point::Fork(_) => {}
                Point::Branch(edges) => {
                    let edge = edges.iter().find(|(_, behind)| *behind == next);
                    text.extend(edge.map(|(byte, _)| *byte));
                }
                Point::Content(content, _) => text.extend(self.contents[*content].iter().flatten()),
                Point::Free(region) if region.is_one() => match any_token(region, vocabulary) {
                    Some(token) => text.extend(token),
                    None => return false,
                },
                Point::Free(_) => {}
            }
            point = next;
        }
    }
}

/// The first token that a region of one token may have.
fn any_token(region: &Region, vocabulary: &Vocabulary) -> Option<[u8; TOKEN_BYTES]> {
    let tokens = (0..vocabulary.len() as TokenId)
        .filter(|token| vocabulary.kind(*token) == TokenKind::Text && !vocabulary.token_bytes(*token).is_empty());
    let mut tokens = tokens
        .filter(|token| !vocabulary.is_eos(*token))
        .map(|token| token_bytes(token, TokenKind::Text));
    tokens.find(|bytes| {
        let mut place = region.begin();
        bytes.iter().any(|byte| match region.step(place, *byte) {
            FreeStep::On(next) => {
                place = next;
                false
            }
            step => step == FreeStep::Left,
        })
    })
}
