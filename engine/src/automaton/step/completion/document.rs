//! Completions of whole documents: open values are completed one by one, from the innermost container outwards.

use super::shortest::MAX_BYTES;
use crate::automaton::error::AutomatonError;
use crate::automaton::step::{Automaton, Container, Cursor, State, StringResidual, TextPiece};

impl Automaton {
    /// A short text that ends the document from a state; `None` if none was found.
    pub(crate) fn completion(&mut self, at: State) -> Result<Option<Vec<u8>>, AutomatonError> {
        let mut state = at;
        let mut text = Vec::new();
        while !matches!(state.cursor, Cursor::Done) {
            let Some((piece, next)) = self.rest(&state)? else {
                return Ok(None);
            };
            text.extend_from_slice(&piece);
            state = next;
            if text.len() > MAX_BYTES {
                return Ok(None);
            }
        }
        Ok(Some(text))
    }

    /// A text that completes the innermost value, and the state after it.
    pub(crate) fn rest(&mut self, state: &State) -> Result<Option<(TextPiece, State)>, AutomatonError> {
        match &state.cursor {
            Cursor::Number(number, text, expected) => {
                let start = self.distinct_number(*number, *text, *expected, state.stack)?;
                let Some(piece) = self.number_rest(start) else {
                    return Ok(None);
                };
                let Some(ended) = self.after(state, &piece)? else {
                    return Ok(None);
                };
                let (number, text, expected) = match ended.cursor {
                    Cursor::Number(number, text, expected) => (number, text, expected),
                    _ => (*number, *text, *expected),
                };
                let next = self.number_done(number, text, expected, state.stack)?;
                return Ok(next.map(|next| (piece, next)));
            }
            Cursor::String(decode, ..) => {
                let content = StringResidual {
                    decode: *decode,
                    language: self.distinct_language(*state)?,
                };
                let piece = self.text_rest(content)?;
                return self.read_piece(state, piece.map(|piece| [&*piece, b"\""].concat().into()));
            }
            Cursor::Key(decode, ..) => {
                let content = StringResidual {
                    decode: *decode,
                    language: self.distinct_language(*state)?,
                };
                let piece = self.text_rest(content)?;
                return self.read_piece(state, piece.map(|piece| [&*piece, b"\":"].concat().into()));
            }
            Cursor::Literal(word, read, _) => {
                let piece = &word.text()[usize::from(*read)..];
                return self.read_piece(state, Some(piece.into()));
            }
            Cursor::Colon(_) => return self.read_piece(state, Some((&b":"[..]).into())),
            _ => {}
        }
        if let Some(known) = self.completions.rests.get(state) {
            return Ok(known.clone());
        }
        let piece = match &state.cursor {
            Cursor::Value(expected) => {
                let constraint = self.search.constraint_of(*expected)?;
                let constraint = self.distinct_value(constraint, state.stack)?;
                let order = self
                    .search
                    .algebra
                    .order_for(&self.search.expected(*expected).assertions);
                self.value_text(constraint, order)?
            }
            _ => self.container_rest(state)?,
        };
        let rest = match (&state.cursor, piece) {
            // A number's end is recognised only by the byte after it, so it is ended here explicitly.
            (Cursor::Value(_), Some(piece)) => self.read_value(state, piece)?,
            (_, piece) => self.read_piece(state, piece)?,
        };
        self.completions.rests.insert(*state, rest.clone());
        Ok(rest)
    }

    /// Reads a value's text from a state, and ends it if it is a number.
    fn read_value(&mut self, state: &State, piece: TextPiece) -> Result<Option<(TextPiece, State)>, AutomatonError> {
        let Some(after) = self.after(state, &piece)? else {
            return Ok(None);
        };
        let next = match after.cursor {
            Cursor::Number(number, text, expected) => self.number_done(number, text, expected, after.stack)?,
            _ => Some(after),
        };
        Ok(next.map(|next| (piece, next)))
    }

    /// Reads a piece of text from a state, and returns it with the state after it.
    fn read_piece(
        &mut self,
        state: &State,
        piece: Option<TextPiece>,
    ) -> Result<Option<(TextPiece, State)>, AutomatonError> {
        let Some(piece) = piece else { return Ok(None) };
        let next = self.after(state, &piece)?;
        Ok(next.map(|next| (piece, next)))
    }

    /// The state after some bytes. Neither this state nor those on the way are remembered.
    pub(crate) fn after(&mut self, from: &State, bytes: &[u8]) -> Result<Option<State>, AutomatonError> {
        let mut state = *from;
        for &byte in bytes {
            match self.read(&state, byte)? {
                Some(next) => state = next,
                None => return Ok(None),
            }
        }
        Ok(Some(state))
    }

    /// A text that completes the innermost container, from a state between its parts.
    fn container_rest(&mut self, state: &State) -> Result<Option<TextPiece>, AutomatonError> {
        let Some(frame) = self.frame(state.stack) else {
            return Ok(None);
        };
        let demand = self.demand_left(&frame);
        let demand = self.distinct_container(demand, state.stack)?;
        let begun = matches!(state.cursor, Cursor::ObjectNext | Cursor::ArrayNext);
        match &frame.kind {
            Container::Array { values } => {
                let seen = self.search.algebra.values.all_items(values.unwrap_or_default());
                self.array_rest(demand, &seen, begun)
            }
            Container::Object { order, passed, .. } => {
                let ordered = self.search.algebra.ordered(*order, *passed);
                let exhausted = self.exhausted_keys(&frame.kind);
                let must = matches!(state.cursor, Cursor::ObjectComma);
                self.object_rest(demand, &ordered, &exhausted, begun, must)
            }
        }
    }
}
