//! Bytes that must come next.

use super::{Automaton, State, Top, Trouble};
use crate::Escapes;
use crate::automaton::decode::Decode;
use crate::strings::LanguageId;

/// The bytes that JSON has outside strings, and the quotes that begin these.
const OUTSIDE_STRINGS: &[u8] = b" \t\n\r{}[],:\"-+.0123456789eEtruefalsn";

impl Automaton {
    /// The one byte that can come next, and where it leads; none where there are several, or where the document may end.
    pub(crate) fn forced_byte(&mut self, at: State) -> Result<Option<(u8, State)>, Trouble> {
        if let Some(&known) = self.forced.get(&at) {
            return Ok(known);
        }
        let forced = self.find_forced(at)?;
        self.forced.insert(at, forced);
        Ok(forced)
    }

    fn find_forced(&mut self, at: State) -> Result<Option<(u8, State)>, Trouble> {
        let in_text = match at.top {
            Top::String(Decode::Between, language, ..) => Some(language),
            Top::Key(Decode::Between, ..) => Some(self.name_language(at)?),
            _ => None,
        };
        let bytes: Vec<u8> = match (in_text, at.top) {
            (Some(language), _) => self.forced_in_text(language)?.into_iter().collect(),
            (None, Top::String(..) | Top::Key(..)) => (0..=u8::MAX).collect(),
            (None, _) => OUTSIDE_STRINGS.to_vec(),
        };
        if self.is_complete(at)? {
            return Ok(None);
        }
        let mut found = None;
        for byte in bytes {
            if let Some(next) = self.step(at, byte)? {
                if found.is_some() {
                    return Ok(None);
                }
                found = Some((byte, next));
            }
        }
        Ok(found)
    }

    /// The first byte of all that may follow between two characters of a string, where there is only one.
    fn forced_in_text(&mut self, language: LanguageId) -> Result<Option<u8>, Trouble> {
        let may_end = self.languages.accepts_empty(language);
        let only = match (&self.languages.beginnings(language, 2)?[..], may_end) {
            ([], true) => return Ok(Some(b'"')),
            ([only], false) => *only,
            _ => return Ok(None),
        };
        if self.style.escapes == Escapes::Any {
            // Any character can be escaped, and some must be.
            return Ok(matches!(only, '"' | '\\' | '\0'..='\x1f').then_some(b'\\'));
        }
        let mut bytes = [0; 4];
        Ok(match only {
            '"' | '\\' | '\0'..='\x1f' => Some(b'\\'),
            hidden if self.style.escapes.hides(hidden) => Some(b'\\'),
            _ => only.encode_utf8(&mut bytes).bytes().next(),
        })
    }
}
