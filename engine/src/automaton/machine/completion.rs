//! Completions of whole documents: what is open, from the innermost container outwards.

use super::{Automaton, AutomatonError, Constraint, Content, ExpectedId, Kind, State, Top, Word};
use crate::automaton::complete::{MAX_BYTES, Piece};
use crate::automaton::formula::FormulaId;

impl Automaton {
    /// A short text that ends the document from a place; none where none was found.
    pub(crate) fn completion(&mut self, at: State) -> Result<Option<Vec<u8>>, AutomatonError> {
        let mut state = at;
        let mut text = Vec::new();
        while !matches!(state.top, Top::Done) {
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

    /// The rest of what stands at the top, and the place after it.
    fn rest(&mut self, state: &State) -> Result<Option<(Piece, State)>, AutomatonError> {
        match &state.top {
            Top::Number(number, text, expected) => {
                let start = self.number_rest_apart(*number, *text, *expected, state.stack)?;
                let Some(piece) = self.number_rest(start) else {
                    return Ok(None);
                };
                let Some(ended) = self.after(state, &piece)? else {
                    return Ok(None);
                };
                let (number, text, expected) = match ended.top {
                    Top::Number(number, text, expected) => (number, text, expected),
                    _ => (*number, *text, *expected),
                };
                let next = self.number_done(number, text, expected, state.stack)?;
                return Ok(next.map(|next| (piece, next)));
            }
            Top::String(decode, ..) => {
                let content = Content {
                    decode: *decode,
                    language: self.language_apart(*state)?,
                };
                let piece = self.text_rest(content)?;
                return self.read_piece(state, piece.map(|piece| [&*piece, b"\""].concat().into()));
            }
            Top::Key(decode, ..) => {
                let content = Content {
                    decode: *decode,
                    language: self.language_apart(*state)?,
                };
                let piece = self.text_rest(content)?;
                return self.read_piece(state, piece.map(|piece| [&*piece, b"\":"].concat().into()));
            }
            Top::Literal(word, read, _) => {
                let piece = &word.text()[usize::from(*read)..];
                return self.read_piece(state, Some(piece.into()));
            }
            Top::Colon(_) => return self.read_piece(state, Some((&b":"[..]).into())),
            _ => {}
        }
        if let Some(known) = self.completions.rests.get(state) {
            return Ok(known.clone());
        }
        let piece = match &state.top {
            Top::Value(expected) => {
                let constraint = self.constraint_of(*expected)?;
                let constraint = self.next_apart(constraint, state.stack)?;
                let order = self.order_for(&self.expected(*expected).assertions);
                self.value_text(constraint, order)?
            }
            _ => self.container_rest(state)?,
        };
        let rest = match (&state.top, piece) {
            // Where a number ends is known to who reads on.
            (Top::Value(_), Some(piece)) => self.read_value(state, piece)?,
            (_, piece) => self.read_piece(state, piece)?,
        };
        self.completions.rests.insert(*state, rest.clone());
        Ok(rest)
    }

    fn read_value(&mut self, state: &State, piece: Piece) -> Result<Option<(Piece, State)>, AutomatonError> {
        let Some(after) = self.after(state, &piece)? else {
            return Ok(None);
        };
        let next = match after.top {
            Top::Number(number, text, expected) => self.number_done(number, text, expected, after.stack)?,
            _ => Some(after),
        };
        Ok(next.map(|next| (piece, next)))
    }

    fn read_piece(&mut self, state: &State, piece: Option<Piece>) -> Result<Option<(Piece, State)>, AutomatonError> {
        let Some(piece) = piece else { return Ok(None) };
        let next = self.after(state, &piece)?;
        Ok(next.map(|next| (piece, next)))
    }

    /// The place after some bytes. It is not kept, nor are those on the way.
    fn after(&mut self, from: &State, bytes: &[u8]) -> Result<Option<State>, AutomatonError> {
        let mut state = *from;
        for &byte in bytes {
            match self.read(&state, byte)? {
                Some(next) => state = next,
                None => return Ok(None),
            }
        }
        Ok(Some(state))
    }

    /// The rest of the innermost container, from a place between its parts.
    fn container_rest(&mut self, state: &State) -> Result<Option<Piece>, AutomatonError> {
        let Some(frame) = self.frame(state.stack) else {
            return Ok(None);
        };
        let demand = self.demand_left(&frame);
        let demand = self.container_apart(demand, state.stack)?;
        let begun = matches!(state.top, Top::ObjectNext | Top::ArrayNext);
        match &frame.kind {
            Kind::Array { values } => {
                let seen = values.as_deref().unwrap_or_default();
                self.array_rest(demand, seen, begun)
            }
            Kind::Object { order, passed, .. } => {
                let ordered = self.ordered(*order, *passed);
                let gone = self.gone(&frame.kind);
                let must = matches!(state.top, Top::ObjectComma);
                self.object_rest(demand, &ordered, &gone, begun, must)
            }
        }
    }

    /// What the surroundings ask of a value.
    fn constraint_of(&mut self, expected: ExpectedId) -> Result<Constraint, AutomatonError> {
        let what = self.expected(expected);
        let mut parts = Vec::with_capacity(what.assertions.len());
        for &assertion in &what.assertions {
            parts.push(self.constraint(assertion)?);
        }
        let admits = |word: Word| {
            let verdict = |assertion: u32| word.verdict(&parts[assertion as usize]);
            self.diagrams.admits(what.diagram, verdict)
        };
        let (null, yes, no) = (admits(Word::Null), admits(Word::True), admits(Word::False));
        let arrays: Vec<FormulaId> = parts.iter().map(|part| part.arrays).collect();
        let objects: Vec<FormulaId> = parts.iter().map(|part| part.objects).collect();
        Ok(Constraint {
            null,
            yes,
            no,
            numbers: self.numbers_expected(&what)?,
            strings: self.strings_expected(&what)?,
            arrays: self.diagrams.formula(what.diagram, &arrays, &mut self.formulas),
            objects: self.diagrams.formula(what.diagram, &objects, &mut self.formulas),
        })
    }
}
