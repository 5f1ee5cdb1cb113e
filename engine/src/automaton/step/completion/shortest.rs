//! Short completions of values, objects and arrays.
//!
//! Every state can be completed; this module spells a completion out. A container is completed by a cheapest-first
//! search over its residual formulas, with the shortest value found for each member and item. A choice that is short
//! inside may cost more further out, so the text is short but not always the shortest.

use crate::automaton::decode::DecodeState;
use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{
    AssertionId, AtomKind, Constraint, FormulaId, MemberKey, OrderId, TextId, split, verdict_of,
};
use crate::automaton::step::{Automaton, StringResidual, TextPiece};
use crate::json::{Document, Value, push_escaped};
use crate::numbers::NumberState;
use crate::strings::LanguageId;
use crate::{Escapes, Limits};
use hashbrown::HashSet;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Number of bytes up to which completions are looked for.
pub(crate) const MAX_BYTES: usize = 1 << 16;

/// Number of states of one container or number that are looked at.
const MAX_STEPS: usize = 4096;

/// Nesting depth of values in a completion.
const MAX_NESTING: usize = 64;

/// Length in bytes up to which a scalar is short enough not to look for a shorter container.
const CHEAP_BYTES: usize = 5;

/// A container that has been spelled out in part; the shortest is looked at first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Partial {
    text: Vec<u8>,
    formula: FormulaId,
    /// Number of listed keys that have been decided.
    index: usize,
    /// Whether there is a member or item, so that a comma must come before the next.
    begun: bool,
    /// The keys taken that no atom mentions.
    others: Vec<TextId>,
}

/// The open states of a search, the shortest first.
type Heap = BinaryHeap<Reverse<(usize, Partial)>>;

impl Automaton {
    /// A short text of a value that satisfies a constraint, with the keys of objects in a prescribed order; `None` if
    /// none was found.
    pub(super) fn value_text(
        &mut self,
        constraint: Constraint,
        order: OrderId,
    ) -> Result<Option<TextPiece>, AutomatonError> {
        let place = (constraint, order);
        if let Some(known) = self.completions.values.get(&place) {
            return Ok(known.clone());
        }
        let open = &self.completions.open;
        if open.contains(&place) || open.len() >= MAX_NESTING {
            self.completions.provisional = true;
            return Ok(None);
        }
        let outer = std::mem::take(&mut self.completions.provisional);
        self.completions.open.push(place);
        let text = self.find_value(constraint, order);
        self.completions.open.pop();
        let text = text?;
        if text.is_some() || !self.completions.provisional {
            self.completions.values.insert(place, text.clone());
        }
        self.completions.provisional |= outer;
        Ok(text)
    }

    fn find_value(&mut self, constraint: Constraint, order: OrderId) -> Result<Option<TextPiece>, AutomatonError> {
        let words = [
            (constraint.null, &b"null"[..]),
            (constraint.yes, b"true"),
            (constraint.no, b"false"),
        ];
        let mut texts: Vec<TextPiece> = words
            .iter()
            .filter(|(may, _)| *may)
            .map(|(_, text)| (*text).into())
            .collect();
        if !self.search.algebra.number_texts.sets().is_empty(constraint.numbers) {
            let start = self.search.algebra.number_texts.start(constraint.numbers)?;
            texts.extend(self.number_rest(start));
        }
        if !self.languages_mut().is_empty(constraint.strings)? {
            texts.extend(
                self.word(constraint.strings)?
                    .map(|word| [b"\"", &*word, b"\""].concat().into()),
            );
        }
        if !texts.iter().any(|text| text.len() <= CHEAP_BYTES) {
            texts.extend(
                self.array_rest(constraint.arrays, &[], false)?
                    .map(|rest| [b"[", &*rest].concat().into()),
            );
            let ordered = self.search.algebra.ordered(order, 0);
            let rest = self.object_rest(constraint.objects, &ordered, &[], false, false)?;
            texts.extend(rest.map(|rest| [b"{", &*rest].concat().into()));
        }
        Ok(texts.into_iter().min_by_key(|text| text.len()))
    }

    /// A shortest text that completes a number; `None` if none was found.
    pub(super) fn number_rest(&mut self, from: NumberState) -> Option<TextPiece> {
        if let Some(known) = self.completions.numbers.get(&from) {
            return known.clone();
        }
        let mut known = HashSet::<NumberState>::from([from]);
        let mut left = VecDeque::from([(from, Vec::new())]);
        let mut found = None;
        while let Some((state, text)) = left.pop_front() {
            if self.search.algebra.number_texts.can_end(state) {
                found = Some(text.into());
                break;
            }
            if known.len() > MAX_STEPS {
                break;
            }
            for &byte in b"0123456789.-e+" {
                if let Some(next) = self
                    .search
                    .algebra
                    .number_texts
                    .step(state, byte)
                    .filter(|next| known.insert(*next))
                {
                    left.push_back((next, [&text[..], &[byte]].concat()));
                }
            }
        }
        self.completions.numbers.insert(from, found.clone());
        found
    }

    /// A short text that completes a string, without its closing quote.
    pub(super) fn text_rest(&mut self, content: StringResidual) -> Result<Option<TextPiece>, AutomatonError> {
        let (mut content, mut text) = (content, Vec::new());
        while content.decode != DecodeState::Between {
            // Every possible next byte leads to a complete character.
            let mut next = None;
            for byte in 0..=u8::MAX {
                if let Some(after) = self.content_step(content, byte)? {
                    next = Some((byte, after));
                    break;
                }
            }
            let Some((byte, after)) = next else { return Ok(None) };
            text.push(byte);
            content = after;
        }
        let word = self.word(content.language)?;
        Ok(word.map(|word| [&text[..], &word].concat().into()))
    }

    /// A shortest text of a language, escaped as it stands between quotes.
    fn word(&mut self, language: LanguageId) -> Result<Option<TextPiece>, AutomatonError> {
        if let Some(known) = self.completions.words.get(&language) {
            return Ok(known.clone());
        }
        let lengths = self.languages_mut().lengths(language)?;
        let least = lengths.and_then(|lengths| lengths.min()).unwrap_or(0);
        let words = match least as usize <= MAX_STEPS {
            // If the texts of a language cannot be listed within the limits, none is found.
            true => self.languages_mut().members(language, 1).unwrap_or_default(),
            false => Vec::new(),
        };
        let word = words
            .first()
            .map(|word| escaped(word, self.search.algebra.style.escapes).into());
        self.completions.words.insert(language, word.clone());
        Ok(word)
    }

    /// A short text that completes an array with residual `formula`, including the bracket. `seen` holds its items so
    /// far, if items are compared.
    pub(super) fn array_rest(
        &mut self,
        formula: FormulaId,
        seen: &[AssertionId],
        begun: bool,
    ) -> Result<Option<TextPiece>, AutomatonError> {
        if self.search.algebra.asks_unique(&[formula]) {
            let differing = self.search.algebra.with_unique(formula, true);
            if let Some(rest) = self.differing_rest(differing, seen, begun)? {
                return Ok(Some(rest));
            }
            let repeating = self.search.algebra.with_unique(formula, false);
            return self.repeating_rest(repeating, seen, begun);
        }
        let mut known = HashSet::new();
        let mut heap = Heap::from([Reverse((0, Partial::new(formula, Vec::new(), begun)))]);
        while let Some(Reverse((_, partial))) = heap.pop() {
            let Partial {
                text, formula, begun, ..
            } = partial;
            if self.search.algebra.at_end(formula) {
                return Ok(Some([&text[..], b"]"].concat().into()));
            }
            if !known.insert(formula) || known.len() > MAX_STEPS || text.len() > MAX_BYTES {
                continue;
            }
            let comma: &[u8] = if begun { b"," } else { b"" };
            let assertions = self.search.algebra.assertions_of_item(&[formula]);
            let choices = self.choices(&assertions, &mut |this, verdict| {
                Ok(this.search.algebra.after_item(formula, verdict, false))
            })?;
            for (after, value) in choices {
                let text = [&text[..], comma, &value].concat();
                heap.push(Reverse((text.len(), Partial::new(after, text, true))));
            }
        }
        Ok(None)
    }

    /// A text that completes an array whose items have to differ, made of values that have not been seen.
    fn differing_rest(
        &mut self,
        mut formula: FormulaId,
        seen: &[AssertionId],
        mut begun: bool,
    ) -> Result<Option<TextPiece>, AutomatonError> {
        let mut seen: Vec<AssertionId> = seen.to_vec();
        let mut text = Vec::new();
        for _ in 0..MAX_NESTING {
            if self.search.algebra.at_end(formula) {
                return Ok(Some([&text[..], b"]"].concat().into()));
            }
            let assertions = self.search.algebra.assertions_of_item(&[formula]);
            let mut next = None;
            let mut vectors = self.search.verdict_vectors(&assertions)?;
            vectors.reverse();
            for vector in vectors {
                let after = self.search.algebra.after_item(
                    formula,
                    &|assertion| verdict_of(&assertions, &vector, assertion),
                    false,
                );
                if after == FormulaId::FALSE {
                    continue;
                }
                if let Some((value, assertion)) = self.another_value(&assertions, &vector, &seen)? {
                    next = Some((after, value, assertion));
                    break;
                }
            }
            let Some((after, value, assertion)) = next else {
                return Ok(None);
            };
            if begun {
                text.push(b',');
            }
            text.extend_from_slice(&value);
            seen.push(assertion);
            (formula, begun) = (after, true);
        }
        Ok(None)
    }

    /// A text that completes an array in which one item has to equal another. The item repeats one seen, or two new
    /// items are equal because items with the same requirements are spelled alike.
    fn repeating_rest(
        &mut self,
        formula: FormulaId,
        seen: &[AssertionId],
        begun: bool,
    ) -> Result<Option<TextPiece>, AutomatonError> {
        if formula == FormulaId::FALSE {
            return Ok(None);
        }
        let assertions = self.search.algebra.assertions_of_item(&[formula]);
        let comma: &[u8] = if begun { b"," } else { b"" };
        for &again in seen.iter().take(MAX_NESTING) {
            for vector in self.search.verdict_vectors(&assertions)? {
                let after = self.search.algebra.after_item(
                    formula,
                    &|assertion| verdict_of(&assertions, &vector, assertion),
                    true,
                );
                let (all, none) = split(&assertions, &vector);
                let item = self.search.algebra.combined(&[&all[..], &[again]].concat(), &none)?;
                let order = self.search.algebra.order_for(&[again]);
                if let Some(item) = self.value_text(item, order)?
                    && let Some(rest) = self.array_rest(after, &[], true)?
                {
                    return Ok(Some([comma, &item, &rest].concat().into()));
                }
            }
        }
        let two = self.search.algebra.atom(AtomKind::LengthAtLeast(2));
        let two = self.search.algebra.formulas.and([formula, two]);
        self.array_rest(two, &[], begun)
    }

    /// A short text that completes an object with residual `formula`, including the bracket. The keys `ordered` come
    /// first and in that order; those of `exhausted` cannot come any more. With `must`, at least one member has to
    /// come.
    pub(super) fn object_rest(
        &mut self,
        formula: FormulaId,
        ordered: &[TextId],
        exhausted: &[TextId],
        begun: bool,
        must: bool,
    ) -> Result<Option<TextPiece>, AutomatonError> {
        let mut names = ordered.to_vec();
        for name in self.search.algebra.named_keys(formula) {
            if !names.contains(&name) && !exhausted.contains(&name) {
                names.push(name);
            }
        }
        let mut known = HashSet::new();
        let mut heap = Heap::from([Reverse((0, Partial::new(formula, Vec::new(), begun)))]);
        while let Some(Reverse((_, partial))) = heap.pop() {
            if self.search.algebra.at_end(partial.formula) && !(must && partial.text.is_empty()) {
                return Ok(Some([&partial.text[..], b"}"].concat().into()));
            }
            let place = (
                partial.formula,
                partial.index,
                partial.text.is_empty(),
                partial.others.clone(),
            );
            if !known.insert(place) || known.len() > MAX_STEPS || partial.text.len() > MAX_BYTES {
                continue;
            }
            match names.get(partial.index) {
                Some(&name) => {
                    let must = must && partial.text.is_empty();
                    self.take_or_pass(name, partial, must, &mut heap)?;
                }
                None => self.take_others(&names, exhausted, partial, &mut heap)?,
            }
        }
        Ok(None)
    }

    /// Pushes the states in which a member with this key comes, and the state in which it does not.
    fn take_or_pass(
        &mut self,
        name: TextId,
        partial: Partial,
        must: bool,
        heap: &mut Heap,
    ) -> Result<(), AutomatonError> {
        let formula = partial.formula;
        let passed = self.search.algebra.without_all(formula, &[name]);
        let needed = passed == FormulaId::FALSE;
        // If the formula only restricts members, one that is not required never helps.
        if needed
            || must
            || !self.search.algebra.is_independent_uncounted(formula)
                && self.search.algebra.key_matters(formula, name)?
        {
            let name_of = MemberKey::Known(name);
            let assertions = self.search.algebra.assertions_of_member(&[formula], name_of)?;
            let text = escaped(self.search.algebra.texts.get(name), self.search.algebra.style.escapes);
            for (after, value) in self.choices(&assertions, &mut |this, verdict| {
                this.search.algebra.after_member(formula, name_of, verdict)
            })? {
                partial.push_member(heap, after, &text, &value, None);
            }
        }
        if !needed {
            let (cost, index) = (partial.text.len(), partial.index + 1);
            heap.push(Reverse((
                cost,
                Partial {
                    formula: passed,
                    index,
                    ..partial
                },
            )));
        }
        Ok(())
    }

    /// Pushes the states in which a member comes whose key no atom mentions.
    fn take_others(
        &mut self,
        names: &[TextId],
        exhausted: &[TextId],
        partial: Partial,
        heap: &mut Heap,
    ) -> Result<(), AutomatonError> {
        let exhausted = [exhausted, names, &partial.others].concat();
        for cell in self.search.algebra.key_cells(partial.formula, names, &exhausted)? {
            // Keys that are too hard to find are skipped.
            let Ok(Some(name)) = self.search.algebra.key_beside(&cell.names, &exhausted) else {
                continue;
            };
            let name_of = MemberKey::Known(name);
            let assertions = self.search.algebra.assertions_of_member(&[partial.formula], name_of)?;
            let text = escaped(self.search.algebra.texts.get(name), self.search.algebra.style.escapes);
            let choices = self.choices(&assertions, &mut |this, verdict| {
                this.search.algebra.after_member(partial.formula, name_of, verdict)
            })?;
            for (after, value) in choices {
                // A member that leaves the formula unchanged does not help, except as the first member where one has to
                // come.
                if after != partial.formula || partial.text.is_empty() {
                    partial.push_member(heap, after, &text, &value, Some(name));
                }
            }
        }
        Ok(())
    }

    /// The text of a value that has these verdicts and equals none of the values `seen`, with its equality assertion.
    fn another_value(
        &mut self,
        assertions: &[AssertionId],
        vector: &[bool],
        seen: &[AssertionId],
    ) -> Result<Option<(TextPiece, AssertionId)>, AutomatonError> {
        let (all, none) = split(assertions, vector);
        let constraint = self.search.algebra.combined(&all, &[&none[..], seen].concat())?;
        let order = self.search.algebra.order_for(assertions);
        let Some(text) = self.value_text(constraint, order)? else {
            return Ok(None);
        };
        let spelled = std::str::from_utf8(&text).ok();
        let document = spelled.and_then(|text| Document::parse(text, &Limits::default()).ok());
        let value = document.and_then(|document| Value::new(&document, 0).ok());
        Ok(value.map(|value| (text, self.search.algebra.equal_to(value.as_ref()))))
    }

    /// The residual formula and a text of a value for each verdict vector that a value can have.
    fn choices(
        &mut self,
        assertions: &[AssertionId],
        after: After<'_>,
    ) -> Result<Vec<(FormulaId, TextPiece)>, AutomatonError> {
        let mut choices = Vec::new();
        for vector in self.search.verdict_vectors(assertions)? {
            let after = after(self, &|assertion| verdict_of(assertions, &vector, assertion))?;
            if after == FormulaId::FALSE {
                continue;
            }
            let (all, none) = split(assertions, &vector);
            let constraint = self.search.algebra.combined(&all, &none)?;
            let order = self.search.algebra.order_for(assertions);
            choices.extend(self.value_text(constraint, order)?.map(|text| (after, text)));
        }
        Ok(choices)
    }
}

/// Computes the residual formula after a value with some verdicts.
type After<'a> = &'a mut dyn FnMut(&mut Automaton, &dyn Fn(AssertionId) -> bool) -> Result<FormulaId, AutomatonError>;

impl Partial {
    fn new(formula: FormulaId, text: Vec<u8>, begun: bool) -> Self {
        Self {
            text,
            formula,
            index: 0,
            begun,
            others: Vec::new(),
        }
    }

    /// Pushes this state with one more member, whose key is given as it stands between quotes.
    fn push_member(&self, heap: &mut Heap, formula: FormulaId, name: &[u8], value: &[u8], other: Option<TextId>) {
        let comma: &[u8] = if self.begun { b",\"" } else { b"\"" };
        let text = [&self.text[..], comma, name, b"\":", value].concat();
        let next = Self {
            formula,
            index: self.index + usize::from(other.is_none()),
            begun: true,
            others: self.others.iter().copied().chain(other).collect(),
            text,
        };
        heap.push(Reverse((next.text.len(), next)));
    }
}

/// A text as it stands between quotes, with only the escapes that are needed.
fn escaped(text: &str, escapes: Escapes) -> Vec<u8> {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match escapes.hides(character) {
            true => escaped.push_str(&format!("\\u{:04x}", u32::from(character))),
            false => push_escaped(&mut escaped, character),
        }
    }
    escaped.into_bytes()
}
