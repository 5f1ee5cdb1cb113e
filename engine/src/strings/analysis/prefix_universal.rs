//! Languages in which every text has a continuation.

use crate::strings::analysis::answers::Emptiness;
use crate::strings::expr::expression::Expr;
use crate::strings::language_id::{ANY, LanguageId, UNBOUNDED};
use crate::strings::languages::Languages;
use crate::strings::limits::LimitReached;

/// Nesting of an expression that is looked at.
const DEPTH: usize = 8;

/// The characters of ASCII, as bits.
const ALL_ASCII: u128 = u128::MAX;

impl Languages {
    /// Whether every text at all is the beginning of some text of `id`, where that shows: `.*abc`, or any text but some.
    /// False also where it does not show.
    pub(crate) fn is_prefix_universal(&mut self, id: LanguageId) -> Result<bool, LimitReached> {
        if let Some(known) = self.prefix_universal.get(id) {
            return Ok(*known);
        }
        let prefix_universal = self.shows_prefix_universal(id, DEPTH)?;
        self.prefix_universal.put(id, prefix_universal, self.arena.len());
        Ok(prefix_universal)
    }

    fn shows_prefix_universal(&mut self, id: LanguageId, depth: usize) -> Result<bool, LimitReached> {
        if id == ANY {
            return Ok(true);
        }
        let Some(depth) = depth.checked_sub(1) else {
            return Ok(false);
        };
        Ok(match self.arena.node(id).clone() {
            // Whatever has been read, the first part can be ended, and then the rest be added.
            Expr::Concat(first, rest) => {
                self.shows_prefix_universal(first, depth)? && matches!(self.judge(rest)?, Emptiness::Inhabited)
            }
            Expr::Or(members) => {
                for &member in &members {
                    if self.shows_prefix_universal(member, depth)? {
                        return Ok(true);
                    }
                }
                false
            }
            // What is longer than some that are excluded, and has a character that others have not, is in, and texts of a
            // dense language can be as long as that and have any character.
            Expr::And(members) => {
                let (mut rest, mut unused) = (Vec::new(), ALL_ASCII);
                for &member in &members {
                    // Texts can go on for as long as they have to be.
                    if let Some((_, UNBOUNDED)) = self.arena.as_length(member) {
                        continue;
                    }
                    match self.unused_if_excluded(member)? {
                        Some(ascii) => unused &= ascii,
                        None => rest.push(member),
                    }
                }
                match rest[..] {
                    _ if unused == 0 => false,
                    [] => true,
                    [one] => self.shows_prefix_universal(one, depth)?,
                    _ => false,
                }
            }
            Expr::Not(_) => self.unused_if_excluded(id)?.is_some_and(|unused| unused != 0),
            _ => false,
        })
    }

    /// Where `id` is all texts but some: characters of ASCII, as bits, each of which is in none of these, once a text is
    /// longer than all of bounded length; none of other languages.
    fn unused_if_excluded(&mut self, id: LanguageId) -> Result<Option<u128>, LimitReached> {
        if self.excludes_short(id)? {
            return Ok(Some(ALL_ASCII));
        }
        Ok(match self.arena.node(id) {
            Expr::Not(inner) => Some(self.arena.used(*inner).ascii_besides()),
            _ => None,
        })
    }

    /// Whether `id` is all texts but some of bounded length.
    fn excludes_short(&mut self, id: LanguageId) -> Result<bool, LimitReached> {
        let Expr::Not(inner) = *self.arena.node(id) else {
            return Ok(false);
        };
        let lengths = match self.arena.is_structural(inner) {
            _ if self.arena.is_finite(inner) => return Ok(true),
            true => self.lengths(inner)?,
            false => None,
        };
        Ok(lengths.is_some_and(|lengths| lengths.max().is_none_or(|max| max.is_some())))
    }
}
