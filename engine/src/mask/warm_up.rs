//! Warm-up: computes masks before they are asked for, of formats and unconstrained values when a vocabulary is loaded, of a schema's
//! first states when the schema is compiled.
//!
//! Masks within formats and at the beginning of unconstrained values are the same in all schemas and cached for all of them, so example
//! texts of the usual formats are read once per vocabulary.
//!
//! The first mask at a state takes longer than those after it, and the slow parts are mostly the same in all documents: which
//! tokens begin a value of each kind that the schema speaks of, and which may come first in its strings, numbers and names. A
//! compiler has time for that, a decode loop has not. So the kinds of values nearest to the root are visited in breadth-first order within a bound
//! on work, and then states further into their strings. Where alternatives are told apart by a constant, as tools are by their
//! names, the members behind each constant are visited as well.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashSet;

use crate::automaton::{Automaton, AutomatonError, DecodeState, RemainingKeyText, State, StateClass};
use crate::strings::{LanguageId, Languages};
use crate::{CompileError, Formats, Vocabulary};

use super::compiled_schema::{CompiledSchema, MaskBuilder};
use super::options::ExactOptions;
use super::shared_tokens::SharedTokens;

/// Maximal number of kinds of values that are visited.
const MAX_VALUES: usize = 256;
/// Maximal number of names of one object that are visited.
const MAX_KEYS: usize = 256;
/// Maximal number of constants by which alternatives are told apart that are visited.
const MAX_WORDS: usize = 32;
/// Maximal number of states that are visited within strings of one kind.
const MAX_STATES: usize = 16;
/// Memory in bytes up to which states are visited, as a measure of the work done. An eighth of the memory that the
/// schema itself has taken, if that is more.
const BYTES: usize = 32 << 10;
/// Memory in bytes beyond [`BYTES`], up to which further states within strings are visited.
const STRING_BYTES: usize = 36 << 10;
/// Memory in bytes that the visit of one state may take. Where the schema itself has taken more, all visits are long.
const SINGLE_BYTES: usize = 1 << 20;

/// Work after which no more states are visited, in units of about a microsecond (see [`Automaton::effort`]).
const EFFORT: usize = 1_000;

/// Formats, each with example texts that pass through its distinct states.
const TEXTS: [(&str, &[&str]); 12] = [
    ("date-time", &["1987-06-05T04:32:10.9Z", "1987-06-05T04:32:10+09:00"]),
    ("date", &["1987-06-05"]),
    ("time", &["04:32:10.9Z", "04:32:10+09:00"]),
    ("duration", &["P1Y2M3DT4H5M6S", "P7W"]),
    ("email", &["first.last@mail-1.domain.org"]),
    ("hostname", &["mail-1.domain.org"]),
    ("ipv4", &["198.51.100.7"]),
    ("ipv6", &["2001:db8::8:800:200c:417a"]),
    (
        "uri",
        &[
            "https://host-1.domain.org:8080/path/to%20/page.html?key=value#part",
            "urn:name:part",
        ],
    ),
    (
        "uri-reference",
        &[
            "https://host-1.domain.org:8080/path/to%20/page.html?key=value#part",
            "path/page#part",
        ],
    ),
    ("uuid", &["f81d4fae-7dec-11d0-a765-00a0c91e6bf6"]),
    ("json-pointer", &["/name/0/~1part"]),
];

/// Values of which nothing but their type is asked, as members of an object, in the words of all drafts.
const VALUES: &str = r#"{"properties": {"any": {}, "array": {"type": "array"}, "object": {"type": "object"}}}"#;

/// Works out the tokens of values and of texts of formats, as they are the same in all schemas. Returns the languages that came
/// up.
pub(crate) fn warm_up_vocabulary(
    vocabulary: &Arc<Vocabulary>,
    tokens: &Arc<SharedTokens>,
    options: &ExactOptions,
) -> Languages {
    // The root that the options name is in a user's schema.
    let options = &options.clone().root("");
    let look = || {
        let languages = Languages::within(&options.schema.limits);
        let (automaton, start) = options.automaton(VALUES, languages)?;
        let shared = CompiledSchema::new(vocabulary.clone(), tokens.clone(), automaton);
        shared.builder().warm_up(start, &shared)?;
        let mut languages = shared.into_languages();
        let formats = TEXTS.iter().filter(|_| options.formats != Formats::Annotation);
        for (format, texts) in formats {
            let schema = format!(r#"{{"type":"string","format":"{format}"}}"#);
            let (automaton, start) = options.automaton(&schema, languages)?;
            let shared = CompiledSchema::new(vocabulary.clone(), tokens.clone(), automaton);
            shared.builder().warm_up_format(start, texts, &shared);
            languages = shared.into_languages();
        }
        Ok::<_, CompileError>(languages)
    };
    // Within limits so low that one of these is refused no languages are for all.
    look().unwrap_or_else(|_| Languages::within(&options.schema.limits))
}

/// A state from which the warm-up goes on.
enum Open {
    /// A state before a value, with the state behind its name, if the value is a member.
    Value(Option<State>, State),
    /// A state before the name of a member.
    Names(State),
}

/// The memory and the work within which states are visited.
#[derive(Clone, Copy)]
struct Allowed {
    memory: usize,
    effort: usize,
}

impl Allowed {
    fn is_used_up(self, automaton: &Automaton) -> bool {
        automaton.memory() > self.memory || automaton.effort() > self.effort
    }
}

impl MaskBuilder {
    /// Computes the masks along texts of a format.
    fn warm_up_format(&mut self, start: State, texts: &[&str], shared: &CompiledSchema) {
        for text in texts {
            // A text that fails here is read again where it is needed.
            let _ = self.warm_up_text(start, text, shared);
            // The minute and the offset of a leap second depend on the hour.
            let (before, behind) = text.split_once("04:").unwrap_or_default();
            for hour in (0..24).filter(|_| !behind.is_empty()) {
                let _ = self.warm_up_text(start, &format!("{before}{hour:02}:"), shared);
            }
        }
    }

    /// Computes the masks at each state within a string, and behind it.
    fn warm_up_text(&mut self, start: State, text: &str, shared: &CompiledSchema) -> Result<(), AutomatonError> {
        let mut at = self.automaton.step(start, b'"')?;
        for byte in text.bytes().chain([b'"']) {
            let Some(place) = at else { return Ok(()) };
            self.tokens(place, shared)?;
            at = self.automaton.step(place, byte)?;
        }
        Ok(())
    }

    /// Computes the masks at the beginnings of values, nearest to the root first, from the state before a document on.
    ///
    /// # Errors
    ///
    /// [`AutomatonError::Limit`] and [`AutomatonError::Reached`], if a search reaches its limit: a document would reach it as well.
    pub(crate) fn warm_up(&mut self, start: State, shared: &CompiledSchema) -> Result<(), AutomatonError> {
        let memory = self.automaton.memory();
        if memory > SINGLE_BYTES {
            return Ok(());
        }
        let allowed = self.automaton.allow_memory(usize::MAX);
        self.automaton.allow_memory(allowed.min(memory + SINGLE_BYTES));
        let allowed_here = Allowed {
            memory: memory + BYTES.max(memory / 8),
            effort: self.automaton.effort() + EFFORT,
        };
        let looked = self.warm_up_values(start, allowed_here, shared);
        self.automaton.allow_memory(allowed);
        match looked {
            // The memory that a look may take is less than what a document may.
            Err(AutomatonError::Limit(exceeded)) if exceeded.limit != "memory_bytes" => Err(exceeded.into()),
            Err(reached @ AutomatonError::Reached(_)) => Err(reached),
            // A text that fails otherwise is read again where it is needed.
            _ => Ok(()),
        }
    }

    /// Values of one kind are visited once, so that the traversal of recursive schemas ends.
    fn warm_up_values(
        &mut self,
        start: State,
        allowed: Allowed,
        shared: &CompiledSchema,
    ) -> Result<(), AutomatonError> {
        let mut open = VecDeque::from([Open::Value(None, start)]);
        let (mut values, mut texts, mut passed) = (0, Vec::new(), HashSet::new());
        while let Some(next) = open.pop_front() {
            if values == MAX_VALUES || allowed.is_used_up(&self.automaton) {
                break;
            }
            let (name, at) = match next {
                Open::Value(name, at) => (name, at),
                // Many words may lead to one state.
                Open::Names(at) if !passed.insert(at) => continue,
                Open::Names(at) => {
                    values += 1;
                    self.warm_up_names(at, allowed, shared, &mut open)?;
                    continue;
                }
            };
            if let Some(name) = name
                && !self.automaton.judges_keys_singly(name)
            {
                self.pass_words(at, allowed, &mut open)?;
            }
            if !self.walk(shared).warm_up_value(name, at)? {
                continue;
            }
            values += 1;
            if let Some(text) = self.automaton.step(at, b'"')? {
                self.tokens(text, shared)?;
                if let StateClass::String(DecodeState::Between, language) = self.automaton.state_class(text)? {
                    texts.push(language);
                }
            }
            if let StateClass::Between(Some(digits)) = self.automaton.state_class(at)? {
                self.walk(shared).numbers().tokens(at, digits)?;
            }
            if let Some(number) = self.automaton.step(at, b'1')? {
                self.tokens(number, shared)?;
            }
            if let Some(object) = self.automaton.step(at, b'{')? {
                self.warm_up_names(object, allowed, shared, &mut open)?;
            }
            if let Some(array) = self.automaton.step(at, b'[')? {
                let item = self.automaton.first_item(array)?;
                open.extend(item.map(|item| Open::Value(None, item)));
            }
        }
        let memory = allowed.memory + STRING_BYTES;
        self.warm_up_texts(texts, Allowed { memory, ..allowed }, shared)
    }

    /// Looks further into strings: at the states behind their first characters, a few of each.
    fn warm_up_texts(
        &mut self,
        languages: Vec<LanguageId>,
        allowed: Allowed,
        shared: &CompiledSchema,
    ) -> Result<(), AutomatonError> {
        let longest = shared.tokens.index.inside.longest;
        let mut known: HashSet<LanguageId> = languages.iter().copied().collect();
        for language in languages {
            let mut open = VecDeque::from([language]);
            for _ in 0..MAX_STATES {
                let Some(at) = open.pop_front() else { break };
                if allowed.is_used_up(&self.automaton) {
                    return Ok(());
                }
                let mut strings = self.strings(shared);
                let is_listed = strings.automaton.languages().word_edges(at).is_some();
                if is_listed || strings.automaton.languages().is_non_enumerable(at) {
                    continue;
                }
                if strings.cache.lengths.is_viable(strings.automaton, at, longest)? {
                    continue;
                }
                strings.inside(at)?;
                let transitions = self.automaton.languages_mut().transitions(at)?;
                let targets = transitions.iter().map(|(_, target)| *target);
                open.extend(targets.filter(|target| known.insert(*target)));
            }
        }
        Ok(())
    }

    /// Goes on behind each of the words that a member's value may be: alternatives are told apart by such a member, and which come
    /// behind it depends on the word.
    fn pass_words(&mut self, value: State, allowed: Allowed, open: &mut VecDeque<Open>) -> Result<(), AutomatonError> {
        let Some(text) = self.automaton.step(value, b'"')? else {
            return Ok(());
        };
        let StateClass::String(DecodeState::Between, language) = self.automaton.state_class(text)? else {
            return Ok(());
        };
        let words = self.automaton.languages().words(language, MAX_WORDS);
        for word in words.unwrap_or_default() {
            if allowed.is_used_up(&self.automaton) {
                break;
            }
            // A word with characters that are escaped is not found like this.
            let behind = self.automaton.read_bytes(text, word.as_bytes())?;
            let behind = behind.map(|behind| self.automaton.read_bytes(behind, b"\","));
            open.extend(behind.transpose()?.flatten().map(Open::Names));
        }
        Ok(())
    }

    /// Looks at the name that comes next in an object, and goes on with the values of those that are listed.
    fn warm_up_names(
        &mut self,
        object: State,
        allowed: Allowed,
        shared: &CompiledSchema,
        open: &mut VecDeque<Open>,
    ) -> Result<(), AutomatonError> {
        let Some(at) = self.automaton.step(object, b'"')? else {
            return Ok(());
        };
        self.tokens(at, shared)?;
        let names = match self.automaton.remaining_key_text(at)? {
            RemainingKeyText::These(names, _) => names.into_vec(),
            RemainingKeyText::Left(left) => self.automaton.remaining_keys(left).collect(),
            _ => match self.automaton.partial_key(at)? {
                Some(begun) => self.automaton.only_listed_differ(&begun).unwrap_or_default().to_vec(),
                None => Vec::new(),
            },
        };
        // Later members may depend on earlier ones unless keys are judged singly: then only the key that the schema mentions
        // first is warmed up. Texts that were interned earlier have smaller numbers.
        let names = match self.automaton.judges_keys_singly(at) {
            true => names,
            false => names.into_iter().min().into_iter().collect(),
        };
        for name in names.into_iter().take(MAX_KEYS) {
            if allowed.is_used_up(&self.automaton) {
                break;
            }
            let name = self.automaton.after_key(at, name);
            let value = self.automaton.value_of_key(name)?;
            open.extend(value.map(|value| Open::Value(Some(name), value)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The schema of values that are warmed up compiles under every draft as the default.
    #[test]
    fn values_are_schemas_of_every_draft() {
        use crate::Draft::{Draft4, Draft6, Draft7, Draft201909, Draft202012};
        for draft in [Draft4, Draft6, Draft7, Draft201909, Draft202012] {
            let mut options = ExactOptions::judging();
            options.schema.default_draft = draft;
            let languages = Languages::within(&options.schema.limits);
            assert!(options.automaton(VALUES, languages).is_ok(), "{draft:?}");
        }
    }

    #[test]
    fn a_root_is_not_looked_for_in_what_is_warmed_up() {
        let options = ExactOptions::default().root("#/$defs/a");
        let vocabulary = crate::mask::tests::vocabulary(&["ab"]);
        let tokens = SharedTokens::new(&vocabulary, options.style, crate::mask::tuning::Tuning::default());
        let (fresh, tokens) = (tokens.cache_bytes(), Arc::new(tokens));
        warm_up_vocabulary(&vocabulary, &tokens, &options);
        assert!(tokens.cache_bytes() > fresh);
    }

    /// Texts that their format refuses would be read to no avail.
    #[test]
    fn texts_are_of_their_formats() {
        let options = ExactOptions {
            formats: Formats::Asserted,
            ..ExactOptions::judging()
        };
        for (format, texts) in TEXTS {
            let schema = format!(r#"{{"format":"{format}"}}"#);
            let (mut automaton, start) = options
                .automaton(&schema, Languages::within(&options.schema.limits))
                .unwrap();
            for text in texts {
                let end = automaton.read_bytes(start, format!("\"{text}\"").as_bytes()).unwrap();
                assert!(end.is_some_and(|end| automaton.is_complete(end).unwrap()), "{text}");
            }
            let number = automaton.read_bytes(start, b"\"1 2 3\"").unwrap();
            assert!(number.is_none(), "{format} is not asserted");
        }
    }
}
