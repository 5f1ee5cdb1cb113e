//! Classes of keys: an object has the same future after each key of a class.
//!
//! Keys that no keyword lists and that match the same patterns have the same effect. So masks after a key are computed
//! once for each class, not for each of the countless keys.

use crate::automaton::error::AutomatonError;
use crate::automaton::formula::{AtomKind, Keys, TextId};
use crate::automaton::step::{Automaton, Cursor, Frame, KeyClasses, RemainingKeyText, StackId, State};
use crate::strings::LanguageId;
use std::hash::Hash;
use std::sync::Arc;

/// The beginning of a key, with the languages that tell the object's keys apart.
#[derive(Debug)]
pub(crate) struct PartialKey {
    object: StackId,
    classes: Arc<KeyClasses>,
    text: TextId,
    /// The residual of each language that tells keys apart, after the text read.
    after: Vec<LanguageId>,
}

/// A class of keys of one object. Keys of equal classes have the same future.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KeyClass {
    object: StackId,
    /// Whether the object may end after a member with such a key.
    may_close: bool,
    /// The languages that contain the keys, as bits.
    languages: u64,
}

/// A partly written key, as far as the rest of its object depends on it: two keys for which it is the same go on alike.
#[derive(Debug)]
pub(crate) struct KeyRests {
    /// The languages that the remaining text of the key is judged by.
    pub(crate) languages: Vec<LanguageId>,
    /// The remaining texts of the keys that are judged one by one, sorted.
    pub(crate) told_apart: Vec<String>,
}

/// Number of languages up to which keys are divided into classes.
const CLASS_LANGUAGES: usize = 64;

impl PartialKey {
    /// The stack whose innermost container is the object.
    pub(crate) fn object(&self) -> StackId {
        self.object
    }

    /// Whether only lists tell the keys apart, so that all keys on no list are alike.
    pub(crate) fn are_alike(&self) -> bool {
        self.classes.languages.is_empty()
    }
}

impl Automaton {
    /// Returns the part of the key that a state is in, with the languages that tell the object's keys apart; `None` for states
    /// outside of keys.
    pub(crate) fn partial_key(&mut self, at: State) -> Result<Option<PartialKey>, AutomatonError> {
        let Cursor::Key(_, text, _) = at.cursor else {
            return Ok(None);
        };
        let Some(classes) = self.key_classes(at.stack)? else {
            return Ok(None);
        };
        let mut after = Vec::with_capacity(classes.languages.len());
        for &language in &*classes.languages {
            after.push(self.after_text(language, text)?);
        }
        Ok(Some(PartialKey {
            object: at.stack,
            classes,
            text,
            after,
        }))
    }

    /// Returns the residual of a language after a text. The residual after the text's whole chunks is remembered.
    fn after_text(&mut self, language: LanguageId, text: TextId) -> Result<LanguageId, AutomatonError> {
        let mut chunks = Vec::new();
        let (mut at, mut after) = (text, language);
        while at != TextId::EMPTY {
            let (before, _) = self.search.algebra.texts.last_chunk(at);
            if at != text
                && let Some(&known) = self.object_keys.after_chunks.get(&(language, at))
            {
                after = known;
                break;
            }
            chunks.push(at);
            at = before;
        }
        for chunk in chunks.into_iter().rev() {
            let characters = self.search.algebra.texts.last_chunk(chunk).1.to_owned();
            for character in characters.chars() {
                after = self.languages_mut().derivative(after, character)?;
            }
            if chunk != text {
                self.object_keys.after_chunks.insert((language, chunk), after);
            }
        }
        Ok(after)
    }

    /// The listed keys that begin with the text read, if all other keys that do are of one class; `None` otherwise.
    pub(crate) fn only_listed_differ<'a>(&self, name: &'a PartialKey) -> Option<&'a [TextId]> {
        name.are_alike()
            .then(|| self.search.algebra.beginning_with(&name.classes.listed, name.text))
    }

    /// The texts that make a listed key behind the text read, if all other keys that begin with that text are of one class; `None` where
    /// that is not known.
    pub(crate) fn listed_rests(&self, name: &PartialKey) -> Option<Vec<&str>> {
        let algebra = &self.search.algebra;
        let any = algebra.languages.any();
        if name.after.iter().any(|language| *language != any) {
            return None;
        }
        let read = algebra.texts.length(name.text);
        let listed = algebra.beginning_with(&name.classes.listed, name.text);
        Some(listed.iter().map(|key| &algebra.texts.get(*key)[read..]).collect())
    }

    /// Returns what the future of the object depends on, from a state within a key: what may follow in the key, and what comes behind it, is the same
    /// behind two texts that lead each of the languages to the same residual and do not begin any of the texts told apart. `None` where more
    /// counts.
    pub(crate) fn key_rests(&mut self, at: State) -> Result<Option<KeyRests>, AutomatonError> {
        if self.keeps_values(at.stack) {
            return Ok(None);
        }
        let remaining = self.remaining_key_text(at)?;
        let Some(name) = self.partial_key(at)? else {
            return Ok(None);
        };
        let mut languages = name.after;
        let seen = match &remaining {
            RemainingKeyText::AllBut(seen, _) => seen,
            RemainingKeyText::Language(language, seen, _) => {
                languages.push(*language);
                seen
            }
            _ => return Ok(None),
        };
        let algebra = &self.search.algebra;
        let read = algebra.texts.length(name.text);
        let seen = self.seen_among(seen);
        let listed = algebra.beginning_with(&name.classes.listed, name.text);
        let told_apart = seen
            .iter()
            .chain(listed)
            .map(|key| algebra.texts.get(*key)[read..].to_owned());
        let mut told_apart: Vec<String> = told_apart.collect();
        told_apart.sort_unstable();
        Ok(Some(KeyRests { languages, told_apart }))
    }

    /// The listed key that consists of the text read and `more`; `None` if there is none.
    pub(crate) fn listed_behind(&mut self, name: &PartialKey, more: &str) -> Option<TextId> {
        let whole = self.search.algebra.texts.find_extended(name.text, more)?;
        (self.search.algebra.beginning_with(&name.classes.listed, whole).first() == Some(&whole)).then_some(whole)
    }

    /// The class of a key that ends with `rest`, given the state `behind` it; `None` if the key is listed. The object
    /// has the same future after each key of a class, except that a key cannot come twice.
    pub(crate) fn class_of(
        &mut self,
        name: &PartialKey,
        (behind, rest): (State, &str),
    ) -> Result<Option<KeyClass>, AutomatonError> {
        let Cursor::Colon(whole) = behind.cursor else {
            return Ok(None);
        };
        let is_listed = self.search.algebra.beginning_with(&name.classes.listed, whole).first() == Some(&whole);
        if name.after.len() > CLASS_LANGUAGES || is_listed {
            return Ok(None);
        }
        let mut languages = 0;
        for (bit, &language) in name.after.iter().enumerate() {
            languages |= u64::from(self.languages_mut().contains(language, rest)?) << bit;
        }
        // Apart from this, it does not matter to the object which keys have been seen.
        let may_close = match self.frame(name.object) {
            Some(frame) => self.may_close(&frame),
            None => false,
        };
        let object = self.bare_stack(name.object)?.unwrap_or(name.object);
        Ok(Some(KeyClass {
            object,
            may_close,
            languages,
        }))
    }

    /// The state after the closing quote of a key.
    pub(crate) fn after_key(&self, at: State, name: TextId) -> State {
        State::new(Cursor::Colon(name), at.stack)
    }

    /// The state after the closing quote of the key that a state is in, if the key ends with `rest`.
    pub(crate) fn after_longer_key(&mut self, at: State, rest: &str) -> State {
        let cursor = match at.cursor {
            Cursor::Key(_, text, _) => Cursor::Colon(self.search.algebra.texts.extended(text, rest)),
            cursor => cursor,
        };
        State::new(cursor, at.stack)
    }

    /// The facts that tell the keys of the object at the top of a stack apart; `None` for the empty stack.
    pub(crate) fn key_classes(&mut self, stack: StackId) -> Result<Option<Arc<KeyClasses>>, AutomatonError> {
        let Some(frame) = self.frame(stack) else {
            return Ok(None);
        };
        let classes = match self.object_keys.classes.get(&frame.expected) {
            Some(known) => known.clone(),
            None => {
                let classes = Arc::new(self.find_key_classes(&frame)?);
                self.object_keys.classes.insert(frame.expected, classes.clone());
                classes
            }
        };
        let more = self.compared_keys(stack, TextId::EMPTY)?;
        if more.is_empty() {
            return Ok(Some(classes));
        }
        // From one mask to the next these keys are usually the same.
        if let Some((expected, names, known)) = &self.object_keys.last_classes
            && *expected == frame.expected
            && *names == more
        {
            return Ok(Some(known.clone()));
        }
        let mut listed = [&classes.listed[..], &more].concat();
        self.search.algebra.sort_keys(&mut listed);
        let with_more = Arc::new(KeyClasses {
            listed: listed.into(),
            languages: classes.languages.clone(),
        });
        self.object_keys.last_classes = Some((frame.expected, more, with_more.clone()));
        Ok(Some(with_more))
    }

    /// The facts that tell the keys of an object apart, without the keys of values that the object has to differ from.
    fn find_key_classes(&mut self, frame: &Frame) -> Result<KeyClasses, AutomatonError> {
        // The lists and languages that tell keys apart at the beginning of an object tell them apart until its end.
        let mut listed = Vec::new();
        let mut languages = Vec::from_iter(self.search.algebra.left_out_keys());
        for &assertion in &self.search.expected(frame.expected).assertions {
            let formula = self.search.algebra.constraint(assertion)?.objects;
            for atom in self.search.algebra.formulas.atoms(formula) {
                match self.search.algebra.atoms.kind(*atom) {
                    AtomKind::Has(name) | AtomKind::Members(Keys::Name(name), _) => listed.push(name),
                    AtomKind::Members(Keys::Language(language), _) => languages.push(language),
                    _ => {}
                }
            }
        }
        let order = self.search.planned_order(frame.expected)?;
        listed.extend(self.search.algebra.orders.all_keys(order));
        self.search.algebra.sort_keys(&mut listed);
        languages.sort_unstable();
        languages.dedup();
        let (listed, languages) = (listed.into(), languages.into());
        Ok(KeyClasses { listed, languages })
    }
}
