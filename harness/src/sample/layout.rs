//! The whitespace of a [`Draft`] in a style with one layout, where each place has exactly one.

use maskwright::{Masker, TokenId};

use super::draft::Draft;
use super::settings::SampleError;

/// The bytes of whitespace in JSON.
const WHITESPACE: [u8; 4] = *b" \t\n\r";

impl Draft<'_> {
    /// Returns the tokens of a byte that ends a container or separates its parts, with the whitespace that the layout has before it;
    /// `None` where the byte cannot come next.
    pub(super) fn way_to(&mut self, byte: u8) -> Result<Option<Vec<TokenId>>, SampleError> {
        way_to(&mut *self.masker, byte, self.has_layout)
    }

    /// Returns the whitespace that the layout has here; `None` where there is none, and in styles that leave it to the writer.
    pub(super) fn whitespace_of_layout(&mut self) -> Result<Option<TokenId>, SampleError> {
        if !self.has_layout {
            return Ok(None);
        }
        let allowed = self.allowed(WHITESPACE.map(TokenId::from))?;
        Ok(allowed.first().copied())
    }
}

/// See [`Draft::way_to`]; `masker` stands where the way begins, and stays there.
pub(super) fn way_to(masker: &mut dyn Masker, byte: u8, has_layout: bool) -> Result<Option<Vec<TokenId>>, SampleError> {
    if masker.mask()?.allows(byte.into()) {
        return Ok(Some(vec![byte.into()]));
    }
    if !has_layout {
        return Ok(None);
    }
    // What stands before a comma may begin unlike what stands before a closing bracket; from its second byte on it is forced.
    for first in WHITESPACE {
        let mut ahead = masker.fork()?;
        let mut way = Vec::new();
        let mut next = ahead.mask()?.allows(first.into()).then_some(first);
        while let Some(space) = next {
            ahead.advance(space.into())?;
            way.push(space.into());
            let mask = ahead.mask()?;
            if mask.allows(byte.into()) {
                way.push(byte.into());
                return Ok(Some(way));
            }
            next = WHITESPACE.into_iter().find(|space| mask.allows((*space).into()));
        }
    }
    Ok(None)
}
