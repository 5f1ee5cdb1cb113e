//! Completions of whole documents: the chain of pieces from a state to the document's end.

use super::objects::ObjectRest;
use super::texts::escaped;
use super::{MAX_BYTES, TextPiece};
use crate::automaton::decode::DecodeState;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::Constraint;
use crate::automaton::search::ExpectationId;
use crate::automaton::step::{
    Automaton, Container, Cursor, Derived, Frame, OpenId, RemainingKeyText, State, is_of_number,
};

/// Pieces of text that end the innermost value of a state, or a part of the value, with the state after them.
pub(crate) type Ending = (Vec<TextPiece>, State);

impl Automaton {
    /// A short text that ends the document from a state; `None` if the document cannot be ended within a bounded number
    /// of bytes.
    pub(crate) fn completion(&mut self, at: State) -> Result<Option<Vec<u8>>, AutomatonError> {
        let mut text = Vec::new();
        let mut next = Some(at);
        while let Some(at) = next {
            let Some((pieces, after)) = self.completion_step(&at)? else {
                return Ok(None);
            };
            for piece in pieces {
                text.extend_from_slice(&piece);
            }
            if text.len() > MAX_BYTES {
                return Ok(None);
            }
            next = Some(after).filter(|after| !self.is_done(after));
        }
        Ok(Some(self.laid_out(&at, text)).filter(|text| text.len() <= MAX_BYTES))
    }

    /// Whether the whole document has been read.
    pub(crate) fn is_done(&self, state: &State) -> bool {
        matches!(state.cursor, Cursor::Done)
    }

    /// The next pieces of the completion from a state; `None` if there is no short one.
    pub(crate) fn completion_step(&mut self, state: &State) -> Result<Option<Ending>, AutomatonError> {
        if self.is_done(state) {
            return Ok(Some((Vec::new(), *state)));
        }
        self.completions.make_room();
        self.completions.fruitless = 0;
        if self.is_before_more(state) {
            return self.before_more(state);
        }
        match &state.cursor {
            Cursor::Number(number, text, expected) => {
                if let Some(text) = *text
                    && let Some(rest) = self.distinct_rest(*number, text, state.stack)?
                {
                    return self.read_value(state, rest.into_bytes().into());
                }
                let start = self.distinct_number(*number, *text, *expected, state.stack)?;
                let Some(piece) = self.number_rest(start) else {
                    return Ok(None);
                };
                return self.read_value(state, piece);
            }
            Cursor::String(decode, ..) | Cursor::Key(decode, ..) if *decode != DecodeState::Between => {
                return self.character_rest(state);
            }
            Cursor::Key(..) if !self.keeps_values(state.stack) => {
                if let Some(pieces) = self.listed_key_rest(state)? {
                    let next = self.after(state, &pieces[0])?;
                    return Ok(next.map(|next| (pieces, next)));
                }
            }
            _ => {}
        }
        match &state.cursor {
            Cursor::String(..) | Cursor::Key(..) => {
                let language = self.distinct_language(*state)?;
                let Some(word) = self.word(language)? else {
                    return Ok(None);
                };
                let mut pieces = vec![word];
                if matches!(state.cursor, Cursor::Key(..)) {
                    pieces.push(b":"[..].into());
                }
                let next = match state.cursor {
                    // Nothing of the string matters but that it ends.
                    Cursor::String(_, _, OpenId::NONE, None, expected) => {
                        let nothing = self.languages_mut().literal("")?;
                        let end = Cursor::String(DecodeState::Between, nothing, OpenId::NONE, None, expected);
                        self.after(&State::new(end, state.stack), b"\"")?
                    }
                    _ => self.after(
                        state,
                        &pieces.iter().flat_map(|piece| piece.to_vec()).collect::<Vec<u8>>(),
                    )?,
                };
                return Ok(next.map(|next| (pieces, next)));
            }
            Cursor::Literal(word, read, _) => {
                let piece = word.text()[usize::from(*read)..].into();
                return self.read_value(state, piece);
            }
            Cursor::Colon(_) => return self.read_value(state, b":"[..].into()),
            _ => {}
        }
        if let Some((piece, next)) = self.completions.next.get(state) {
            return Ok(Some((vec![piece.clone()], *next)));
        }
        if let Cursor::Value(expected) = state.cursor {
            let mut constraint = self.search.constraint_of(expected)?;
            if self.search.algebra.style.closed && !self.keeps_values(state.stack) {
                let meant = self.search.types_meant(expected)?;
                constraint = self.search.algebra.of_meant_types(constraint, meant);
            }
            let others = self.distinctness(state.stack)?.child;
            if !others.is_empty()
                && let Some(piece) = self.distinct_scalar(constraint, others)?
            {
                return self.read_value(state, piece);
            }
            let constraint = self.distinct_value(constraint, state.stack)?;
            let order = self.search.planned_order(expected)?;
            return match self.value_text(constraint, order)? {
                Some(piece) => self.read_value_or_begin(state, piece),
                None => Ok(None),
            };
        }
        self.container_rest(state)
    }

    /// The next pieces of the completion from a state behind whitespace that only another item or member follows.
    fn before_more(&mut self, state: &State) -> Result<Option<Ending>, AutomatonError> {
        let first = match state.cursor {
            Cursor::ArrayStart => {
                let item = self.item(state.stack)?;
                return match item {
                    Some(item) => self.completion_step(&State::new(Cursor::Value(item), state.stack)),
                    None => Ok(None),
                };
            }
            Cursor::ObjectStart => &b"\""[..],
            _ => b",",
        };
        let next = self.after(state, first)?;
        Ok(next.map(|next| (vec![first.into()], next)))
    }

    /// Bytes that end the character of a string or key that has been read in part: any after which the string can still end, and an
    /// object differ from those that it must not equal.
    fn character_rest(&mut self, state: &State) -> Result<Option<Ending>, AutomatonError> {
        let (mut at, mut bytes) = (*state, Vec::new());
        let is_begun = |cursor| matches!(cursor, Cursor::String(decode, ..) | Cursor::Key(decode, ..) if decode != DecodeState::Between);
        while is_begun(at.cursor) {
            let mut next = None;
            for byte in 0..=u8::MAX {
                next = self.step(at, byte)?.map(|after| (byte, after));
                if next.is_some() {
                    break;
                }
            }
            let Some((byte, after)) = next else { return Ok(None) };
            bytes.push(byte);
            at = after;
        }
        Ok(Some((vec![bytes.into()], at)))
    }

    /// Reads a piece of text from a state, and ends the value that it ends with if that is a number: a number's end is
    /// recognised only by the byte after it.
    fn read_value(&mut self, state: &State, piece: TextPiece) -> Result<Option<Ending>, AutomatonError> {
        let Some(after) = self.after(state, &piece)? else {
            return self.read_until_full(state, &piece);
        };
        let next = match after.cursor {
            Cursor::Number(number, text, expected) => self.number_done(number, text, expected, after.stack)?,
            _ => Some(after),
        };
        Ok(next.map(|next| (vec![piece], next)))
    }

    /// Reads a piece of text as [`read_value`](Self::read_value) does, or, where that is refused half-way, what comes before the last value in it
    /// that begins. The text of a value is spelled before it is known which verdicts the value gets, and these may ask for another order of keys.
    fn read_value_or_begin(&mut self, state: &State, piece: TextPiece) -> Result<Option<Ending>, AutomatonError> {
        if let Some(read) = self.read_value(state, piece.clone())? {
            return Ok(Some(read));
        }
        let (mut at, mut begun) = (*state, None);
        for (place, byte) in (1..).zip(piece.iter()) {
            let Some(next) = self.after(&at, &[*byte])? else { break };
            at = next;
            if matches!(at.cursor, Cursor::Value(_)) {
                begun = Some((vec![piece[..place].into()], at));
            }
        }
        Ok(begun)
    }

    /// Reads an item or member of a container from a state. Where it is refused, a value that satisfies `constraint` is spelled in the order of keys
    /// that is planned for all values admitted there.
    fn read_part(
        &mut self,
        state: &State,
        piece: TextPiece,
        constraint: Option<Constraint>,
    ) -> Result<Option<Ending>, AutomatonError> {
        if let Some(read) = self.read_value(state, piece.clone())? {
            return Ok(Some(read));
        }
        if let Some(constraint) = constraint
            && let Some((prefix, expected)) = self.value_in_part(state, &piece)?
        {
            let order = self.search.planned_order(expected)?;
            if let Some(value) = self.value_text(constraint, order)? {
                return self.read_value(state, [prefix, &value].concat().into());
            }
        }
        Ok(None)
    }

    /// The text of an item or member before its value, and the expectation of the value.
    fn value_in_part<'a>(
        &mut self,
        state: &State,
        part: &'a [u8],
    ) -> Result<Option<(&'a [u8], ExpectationId)>, AutomatonError> {
        if matches!(state.cursor, Cursor::ArrayStart) {
            return Ok(self.item(state.stack)?.map(|expected| (&part[..0], expected)));
        }
        let mut at = *state;
        for (place, byte) in (1..).zip(part) {
            let Some(next) = self.after(&at, &[*byte])? else { break };
            if let Cursor::Value(expected) = next.cursor {
                return Ok(Some((&part[..place], expected)));
            }
            at = next;
        }
        Ok(None)
    }

    /// Reads a piece of text up to where the style wants a container in it to end, and ends that.
    fn read_until_full(&mut self, state: &State, piece: &[u8]) -> Result<Option<Ending>, AutomatonError> {
        let mut at = *state;
        for (place, byte) in piece.iter().enumerate() {
            if let Some(next) = self.after(&at, &[*byte])? {
                at = next;
                continue;
            }
            if let Cursor::Number(number, text, expected) = at.cursor {
                match self.number_done(number, text, expected, at.stack)? {
                    Some(done) => at = done,
                    None => return Ok(None),
                }
            }
            let bracket = self.bracket(at).filter(|_| *byte == b',');
            let Some(bracket) = bracket else { return Ok(None) };
            let ended = self.after(&at, &[bracket])?;
            let ended = self.if_distinct(ended)?;
            return Ok(ended.map(|next| (vec![[&piece[..place], &[bracket]].concat().into()], next)));
        }
        Ok(None)
    }

    /// The state after some bytes of a completion, which leave out fixed whitespace. Neither this state nor those on the
    /// way are remembered.
    pub(crate) fn after(&mut self, from: &State, mut bytes: &[u8]) -> Result<Option<State>, AutomatonError> {
        let (mut state, is_laid_out) = (*from, self.is_laid_out());
        while let Some((&byte, rest)) = bytes.split_first() {
            if is_laid_out {
                if let Cursor::Number(number, text, expected) = state.cursor
                    && !is_of_number(byte)
                {
                    let Some(done) = self.number_done(number, text, expected, state.stack)? else {
                        return Ok(None);
                    };
                    state = done;
                }
                state = self.behind_gap(state, byte);
            }
            let several = match state.cursor {
                Cursor::Key(..) => self.read_in_key(state, bytes)?,
                Cursor::String(..) => self.read_in_string(state, bytes)?,
                _ => None,
            };
            let (next, left) = match several {
                Some((next, count)) => (next, &bytes[count..]),
                None => (self.read(&state, byte)?, rest),
            };
            let Some(next) = next else { return Ok(None) };
            (state, bytes) = (next, left);
        }
        Ok(Some(state))
    }

    /// The pieces that complete the innermost container, or the first of them, from a state between its parts.
    fn container_rest(&mut self, state: &State) -> Result<Option<Ending>, AutomatonError> {
        let Some(frame) = self.frame(state.stack) else {
            return Ok(None);
        };
        let begun = matches!(state.cursor, Cursor::ObjectNext | Cursor::ArrayNext);
        let must = matches!(state.cursor, Cursor::ObjectComma);
        if let Some(next) = self.next_required(state, &frame, begun)? {
            return Ok(Some(next));
        }
        if let Some(pieces) = self.independent_frame_rest(&frame, begun, must)? {
            // The members that come make no difference to what follows.
            let verdicts = frame.formulas[1..]
                .iter()
                .map(|formula| formula.decided() == Some(true));
            let after = self.value_done(frame.expected, verdicts.collect(), None, frame.below)?;
            return Ok(after.map(|after| (pieces, after)));
        }
        let demand = self.demand_left(&frame);
        let demand = self.distinct_container(demand, state.stack)?;
        let rest = match &frame.kind {
            Container::Array { values, .. } => {
                let seen = self.search.algebra.values.all_items(values.unwrap_or_default());
                self.array_rest(demand, &seen, begun)?
            }
            Container::Object { order, passed, .. } => {
                let ordered = self.search.algebra.ordered(*order, *passed);
                let exhausted = self.exhausted_keys(&frame.kind);
                let open = ObjectRest {
                    demand,
                    ordered: &ordered,
                    exhausted: &exhausted,
                    begun,
                    must,
                };
                self.rest_in_some_order(open, *order)?
            }
        };
        let Some(rest) = rest else { return Ok(None) };
        // An item that is only begun may become another value than the list needs. The state of a list that keeps its items is another then, so
        // that this could go on without end.
        let may_begin = !matches!(frame.kind, Container::Array { values: Some(_), .. });
        let (mut at, mut first) = (*state, None);
        for (place, piece) in rest.pieces.into_iter().enumerate() {
            let read = match first {
                None => match self.read_part(&at, piece.clone(), rest.first.filter(|_| place == 0))? {
                    None if may_begin => self.read_value_or_begin(&at, piece)?,
                    read => read,
                },
                Some(_) => self.read_value(&at, piece)?,
            };
            let Some((read, next)) = read else { break };
            if next == at {
                // An item that changes nothing is left out: the completion would come back to this state.
                continue;
            }
            let is_begun = matches!(next.cursor, Cursor::Value(_));
            for piece in read {
                first.get_or_insert_with(|| (piece.clone(), next));
                self.completions.count(piece.len());
                self.completions.next.insert(at, (piece, next));
            }
            at = next;
            if at.stack == frame.below || is_begun {
                // The style has ended the container before its last piece, or what follows is spelled from here on.
                break;
            }
        }
        Ok(first.map(|(piece, next)| (vec![piece], next)))
    }

    /// The next required member of an [independent-key object](super::super::frame::IndependentFrame) in the prescribed
    /// order. All that follows depends on no more than how far the order has come, so that it is spelled out once.
    fn next_required(&mut self, state: &State, frame: &Frame, begun: bool) -> Result<Option<Ending>, AutomatonError> {
        let (Derived(Some(plain)), &Container::Object { order, passed, .. }) = (&frame.plain, &frame.kind) else {
            return Ok(None);
        };
        if plain.awaited == 0 {
            return Ok(None);
        }
        let ahead = &self.search.algebra.orders.orders[order.0 as usize][passed as usize..];
        let Some(&name) = ahead.iter().find(|name| plain.asked.requires(**name)) else {
            return Ok(None);
        };
        let Some(piece) = self.member_piece(&plain.asked, frame.formulas[0], name, begun)? else {
            return Ok(None);
        };
        let ending = self.read_value_or_begin(state, piece)?;
        if let Some((pieces, next)) = &ending
            && let [piece] = &pieces[..]
        {
            self.completions.count(0);
            self.completions.next.insert(*state, (piece.clone(), *next));
        }
        Ok(ending)
    }

    /// Pieces that complete a key of a list, or any key but those of a list, with the quote and the colon; `None` where it
    /// takes more to tell which keys may come.
    fn listed_key_rest(&mut self, state: &State) -> Result<Option<Vec<TextPiece>>, AutomatonError> {
        /// Number of keys that are compared for the shortest.
        const COMPARED_KEYS: usize = 64;
        let escapes = self.search.algebra.style.escapes;
        let rest = match self.remaining_key_text(*state)? {
            RemainingKeyText::These(names, read) => {
                let rests = names
                    .iter()
                    .take(COMPARED_KEYS)
                    .map(|name| &self.key_text(*name)[read..]);
                rests.min_by_key(|rest| rest.len()).map(|rest| escaped(rest, escapes))
            }
            RemainingKeyText::Left(left) => {
                let read = self.key_text(left.text).len();
                let mut names = self.remaining_keys(left);
                names.next().map(|name| escaped(&self.key_text(name)[read..], escapes))
            }
            RemainingKeyText::AllBut(names, _) => {
                let mut rests = (0..=COMPARED_KEYS).map(|letters| "a".repeat(letters));
                let rest = rests.find(|rest| self.seen_key(&names, rest).is_none());
                rest.map(String::into_bytes)
            }
            RemainingKeyText::Language(..) => None,
        };
        Ok(rest.map(|rest| vec![[&rest[..], b"\":"].concat().into()]))
    }

    /// The pieces that complete an [independent-key object](super::super::frame::IndependentFrame) of which only the demand
    /// is still undecided; `None` for other containers.
    fn independent_frame_rest(
        &mut self,
        frame: &Frame,
        begun: bool,
        must: bool,
    ) -> Result<Option<Vec<TextPiece>>, AutomatonError> {
        let (Derived(Some(plain)), &Container::Object { order, passed, .. }) = (&frame.plain, &frame.kind) else {
            return Ok(None);
        };
        if must
            || self.keeps_values(frame.below)
            || frame.formulas[1..].iter().any(|formula| formula.decided().is_none())
        {
            return Ok(None);
        }
        let mut names = Vec::new();
        if plain.missing > 0 {
            let ahead = self.search.algebra.ordered(order, passed);
            names.extend(ahead.iter().copied().filter(|name| plain.asked.requires(*name)));
            if names.len() < plain.missing as usize {
                let passed = self.passed_keys(&frame.kind);
                let others = plain.asked.required.iter().copied();
                let others = others.filter(|name| !passed.contains(name) && !ahead.contains(name));
                let others = others.filter(|name| !self.has_seen(&frame.kind, *name));
                names.extend(others.collect::<Vec<_>>());
            }
        }
        let mut pieces = Vec::with_capacity(names.len() + 1);
        for name in names {
            let begun = begun || !pieces.is_empty();
            match self.member_piece(&plain.asked, frame.formulas[0], name, begun)? {
                Some(piece) => pieces.push(piece),
                None => return Ok(None),
            }
        }
        pieces.push(b"}"[..].into());
        Ok(Some(pieces))
    }
}
