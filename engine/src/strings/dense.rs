//! Languages in which every text has a continuation.

use super::Languages;
use super::emptiness::Emptiness;
use super::limits::LimitReached;
use super::node::{ANY, LanguageId, Node};

/// Nesting of an expression that is looked at.
const DEPTH: usize = 8;

impl Languages {
    /// Whether every text at all is the beginning of some text of `id`, where that shows: `.*abc`, or any text but some.
    /// False also where it does not show.
    pub(crate) fn is_dense(&mut self, id: LanguageId) -> Result<bool, LimitReached> {
        let place = id.0 as usize;
        if let Some(Some(known)) = self.dense.get(place) {
            return Ok(*known);
        }
        let dense = self.shows_dense(id, DEPTH)?;
        if self.dense.len() <= place {
            self.dense.resize(self.arena.len(), None);
        }
        self.dense[place] = Some(dense);
        Ok(dense)
    }

    fn shows_dense(&mut self, id: LanguageId, depth: usize) -> Result<bool, LimitReached> {
        if id == ANY {
            return Ok(true);
        }
        let Some(depth) = depth.checked_sub(1) else {
            return Ok(false);
        };
        Ok(match self.arena.node(id).clone() {
            // Whatever has been read, the first part can be ended, and then the rest be added.
            Node::Concat(first, rest) => {
                self.shows_dense(first, depth)? && matches!(self.judge(rest)?, Emptiness::Inhabited)
            }
            Node::Or(members) => {
                for &member in &members {
                    if self.shows_dense(member, depth)? {
                        return Ok(true);
                    }
                }
                false
            }
            // What is longer than all that is excluded is in, and texts of a dense language can be as long as that.
            Node::And(members) => {
                let mut rest = Vec::new();
                for &member in &members {
                    if !self.excludes_short(member)? {
                        rest.push(member);
                    }
                }
                match rest[..] {
                    [] => true,
                    [one] => self.shows_dense(one, depth)?,
                    _ => false,
                }
            }
            Node::Not(_) => self.excludes_short(id)?,
            _ => false,
        })
    }

    /// Whether `id` is all texts but some of bounded length.
    fn excludes_short(&mut self, id: LanguageId) -> Result<bool, LimitReached> {
        let Node::Not(inner) = *self.arena.node(id) else {
            return Ok(false);
        };
        let lengths = match self.arena.is_structural(inner) {
            true => self.lengths(inner)?,
            false => None,
        };
        Ok(lengths.is_some_and(|lengths| lengths.max().is_none_or(|max| max.is_some())))
    }
}
