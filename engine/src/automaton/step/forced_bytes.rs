//! Forced bytes: bytes with which every continuation of a document begins at a state.

use crate::Escapes;
use crate::automaton::decode::DecodeState;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::TextId;
use crate::automaton::step::{Automaton, Cursor, RemainingKeyText, State, keep};
use crate::strings::LanguageId;

/// The bytes of JSON outside strings, each once, including the quote that begins a string.
const OUTSIDE_STRINGS: &[u8] = b" \t\n\r{}[],:\"-+.0123456789Etruefalsn";

/// The common beginning of some texts.
enum Beginning {
    /// The texts are empty.
    End,
    /// All texts begin with this character.
    Character(char),
    /// The texts differ in their first character, or there are none.
    Several,
}

impl Automaton {
    /// The one byte that can come next, with the state after it. `None` if there are several, if the document may end
    /// here, or if finding out takes long, as with different characters that begin with the same byte.
    pub(crate) fn forced_byte(&mut self, at: State) -> Result<Option<(u8, State)>, AutomatonError> {
        if let Some(&known) = self.step_memo.forced.get(&at) {
            return Ok(known);
        }
        let forced = self.find_forced(at)?;
        keep(&mut self.step_memo.forced, at, forced);
        Ok(forced)
    }

    fn find_forced(&mut self, at: State) -> Result<Option<(u8, State)>, AutomatonError> {
        let only = match at.cursor {
            Cursor::String(DecodeState::Between, language, ..) => Some(self.beginning(language)?),
            Cursor::Key(DecodeState::Between, ..) => Some(self.beginning_of_key(at)?),
            _ => None,
        };
        let bytes: Vec<u8> = match (only, at.cursor) {
            // A single text may be left that differs from those before.
            (Some(Beginning::Several), _) if self.avoids(at)? => (0..=u8::MAX).collect(),
            (Some(only), _) => self.first_byte(only).into_iter().collect(),
            (None, Cursor::String(..) | Cursor::Key(..)) => (0..=u8::MAX).collect(),
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

    /// Whether some texts of the language must not come between two characters of a string or key, because values have
    /// to differ.
    fn avoids(&mut self, at: State) -> Result<bool, AutomatonError> {
        Ok(!self.any_content(at)? || self.texts_to_avoid(at)?.is_some())
    }

    /// The common beginning of all texts of a language.
    fn beginning(&mut self, language: LanguageId) -> Result<Beginning, AutomatonError> {
        let may_end = self.languages().accepts_empty(language);
        Ok(match (&self.languages_mut().beginnings(language, 2)?[..], may_end) {
            ([], true) => Beginning::End,
            ([only], false) => Beginning::Character(*only),
            _ => Beginning::Several,
        })
    }

    /// The common beginning of all remaining texts of the key that a state is in.
    fn beginning_of_key(&mut self, at: State) -> Result<Beginning, AutomatonError> {
        let (first, last, read) = match self.remaining_key_text(at)? {
            RemainingKeyText::These(names, read) => {
                let sorted = |name: &&TextId| self.search.algebra.texts.get(**name);
                (
                    names.iter().min_by_key(sorted).copied(),
                    names.iter().max_by_key(sorted).copied(),
                    read,
                )
            }
            RemainingKeyText::Left(left) => {
                let (first, last) = self.first_and_last_remaining(left);
                (first, last, self.search.algebra.texts.length(left.text))
            }
            RemainingKeyText::AllBut(..) => return Ok(Beginning::Several),
            RemainingKeyText::Language(..) => {
                let language = self.remaining_key_language(at)?;
                return self.beginning(language);
            }
        };
        // Texts between the first and the last begin as both do.
        let next = |name: Option<TextId>| self.search.algebra.texts.get(name?)[read..].chars().next();
        Ok(match (next(first), next(last)) {
            _ if first.is_none() => Beginning::Several,
            (None, None) => Beginning::End,
            (Some(first), Some(last)) if first == last => Beginning::Character(first),
            _ => Beginning::Several,
        })
    }

    /// The only byte with which a beginning can be written between two characters of a string; `None` if there are
    /// several.
    fn first_byte(&self, beginning: Beginning) -> Option<u8> {
        let only = match beginning {
            Beginning::End => return Some(b'"'),
            Beginning::Character(only) => only,
            Beginning::Several => return None,
        };
        if self.search.algebra.style.escapes == Escapes::Any {
            // Any character may be escaped, and some must be.
            return matches!(only, '"' | '\\' | '\0'..='\x1f').then_some(b'\\');
        }
        let mut bytes = [0; 4];
        match only {
            '"' | '\\' | '\0'..='\x1f' => Some(b'\\'),
            hidden if self.search.algebra.style.escapes.hides(hidden) => Some(b'\\'),
            _ => only.encode_utf8(&mut bytes).bytes().next(),
        }
    }
}
