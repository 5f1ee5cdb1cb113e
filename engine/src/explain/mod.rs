//! Why: which keywords leave no value, and which forbid a byte of a document.
//!
//! An [`Explainer`] answers for one schema
//!
//! - what in it cannot be treated ([`refused`](Explainer::refused)),
//! - why no value satisfies it ([`conflict`](Explainer::conflict)),
//! - which parts of it no value satisfies ([`unsatisfiable_parts`](Explainer::unsatisfiable_parts)),
//! - where a document leaves it, and why ([`forbidden`](Explainer::forbidden)).
//!
//! The answer to "why" is a [`Conflict`]: a set of keywords that still has that effect with all other keywords taken out of
//! the schema, and of which none can be left out. That is minimality by inclusion: there may be other such sets, smaller
//! ones too, and one of them is given. Taking a keyword out only ever admits more: what it declares for
//! `additionalProperties` and `unevaluated*` stays declared, and in place of keywords below `not`, `if` or a `contains` with
//! `maxContains` it is that keyword which is named.
//!
//! ```
//! use maskwright::ExactOptions;
//! use maskwright::explain::Explainer;
//!
//! let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#;
//! let mut explainer = Explainer::new(schema, &ExactOptions::judging())?;
//! let forbidden = explainer.forbidden(br#"{"a": "x"}"#)?.expect("a string is no integer");
//! assert_eq!(
//!     forbidden.to_string(),
//!     "byte 6 (line 1, column 7), `\"` at `/a`: forbidden by `/properties/a/type`; expected a number"
//! );
//! # Ok::<(), maskwright::CompileError>(())
//! ```

mod conflict;
mod expect;
mod json_position;
mod relax;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::automaton::{Automaton, AutomatonError};
use crate::schema::{Body, Keywords, NodeId, SchemaSet};
use crate::strings::Languages;
use crate::{CompileError, Draft, ExactOptions, Formats, Style};

use conflict::{Excluded, Search};
use json_position::Position;
pub use json_position::line_of;

/// Places that a conflict's message lists.
const LISTED: usize = 8;
/// Bytes of a conflict's places that its message lists, unless it is one place.
const LISTED_BYTES: usize = 600;
/// Parts of one schema whose conflicts are looked for.
const EXPLAINED: usize = 100;

/// Explains what one schema admits and what not.
#[derive(Debug)]
pub struct Explainer {
    set: Arc<SchemaSet>,
    formats: Formats,
    /// Any text of JSON.
    any: Automaton,
    /// Texts in a style, where it is not any.
    styled: Option<Automaton>,
}

/// A keyword, or a subschema that is `false`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SchemaPlace {
    /// URI of the document; none for the schema itself.
    pub document: Option<String>,
    /// JSON Pointer in that document.
    pub pointer: String,
}

/// Keywords that have an effect together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflict {
    /// The keywords, sorted. Empty where finding them was more work than is allowed.
    pub keywords: Vec<SchemaPlace>,
    /// Whether it is known that none of them can be left out. Otherwise finding out was more work than is allowed.
    pub minimal: bool,
}

/// A subschema that no value satisfies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsatisfiablePart {
    /// The subschema.
    pub subschema: SchemaPlace,
    /// Why.
    pub conflict: Conflict,
}

/// Where a document is forbidden first, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    /// Number of bytes before.
    pub offset: usize,
    /// Line, from 1.
    pub line: usize,
    /// Character of the line, from 1.
    pub column: usize,
    /// The byte; none where the document ends too early.
    pub byte: Option<u8>,
    /// JSON Pointer of the value that the byte belongs to: for a name, a comma or a bracket the object or array around it.
    pub place: String,
    /// Why.
    pub cause: Cause,
    /// What could stand there instead, as far as it can be said in a few words.
    pub expected: Vec<Expected>,
}

/// Why a byte is forbidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Keywords of the schema.
    Keywords {
        /// Keywords that forbid it by themselves: why it is forbidden.
        conflict: Conflict,
        /// Keywords without which it is allowed. They differ from `conflict` where one of several would do, as in the
        /// branches of an `anyOf`, and where several keywords forbid it independently.
        remedy: Conflict,
    },
    /// It is not JSON.
    Syntax,
    /// The object has a member of this name already.
    RepeatedName(String),
    /// The schema allows it; the style does not.
    Style,
}

/// What may stand at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A value of a kind.
    Value(&'static str),
    /// A string.
    Text(String),
    /// A member of a name.
    Name(String),
    /// A member of any of many names.
    AnyName,
    /// One of several digits.
    Digit,
    /// A byte.
    Byte(u8),
    /// The end of the document.
    End,
}

impl Explainer {
    /// Reads a schema.
    ///
    /// # Errors
    ///
    /// [`CompileError`] where the text is no schema. What the exact compiler cannot treat is for
    /// [`refused`](Self::refused) to say.
    pub fn new(schema: &str, options: &ExactOptions) -> Result<Self, CompileError> {
        let set = Arc::new(SchemaSet::load(schema, &options.schema)?);
        let automaton = |style| {
            let languages = Languages::within(set.limits());
            Automaton::lazy(languages, set.clone(), options.formats, style)
        };
        Ok(Self {
            any: automaton(Style::rfc8259()),
            styled: (options.style != Style::rfc8259()).then(|| automaton(options.style)),
            formats: options.formats,
            set,
        })
    }

    /// The draft by which the schema is read.
    pub fn draft(&self) -> Draft {
        self.set.draft()
    }

    /// Number of subschemas that can be reached, with references followed.
    pub fn subschemas(&self) -> usize {
        self.set.len()
    }

    /// Everything that the exact compiler refuses.
    pub fn refused(&mut self) -> Vec<CompileError> {
        let mut refused = Vec::new();
        for (node, _) in self.set.clone().nodes() {
            if let Err(error) = self.any.expand_node(node)
                && !refused.contains(&error)
            {
                refused.push(error);
            }
        }
        refused
    }

    /// Why no value is valid; none where one is.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where something cannot be treated or a limit is reached.
    pub fn conflict(&mut self) -> Result<Option<Conflict>, CompileError> {
        let root = self.set.root();
        let has_value = self.any.has_value(root)?;
        Ok((!has_value).then(|| conflict_of(&self.set, root, self.formats)))
    }

    /// The subschemas that no value satisfies, but for those that are `false`, in the order of their places.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where something cannot be treated or a limit is reached.
    pub fn unsatisfiable_parts(&mut self) -> Result<Vec<UnsatisfiablePart>, CompileError> {
        let set = self.set.clone();
        let mut parts = BTreeMap::new();
        for (node, subschema) in set.nodes() {
            let is_false = match &subschema.body {
                Body::Anything => continue,
                Body::Nothing => true,
                Body::Keywords(keywords) => is_not_anything(&set, keywords),
            };
            if node == set.root() || is_false || self.any.has_value(node)? {
                continue;
            }
            let place = SchemaPlace {
                document: set.uri(subschema.location).map(str::to_owned),
                pointer: set.pointer(subschema.location),
            };
            parts.entry(place).or_insert(node);
        }
        let explained = parts
            .into_iter()
            .enumerate()
            .map(|(index, (subschema, node))| UnsatisfiablePart {
                subschema,
                conflict: match index < EXPLAINED {
                    true => conflict_of(&set, node, self.formats),
                    false => Conflict::default(),
                },
            });
        Ok(explained.collect())
    }

    /// Where a document leaves the schema; none where it is valid, and in the style of the options.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where something cannot be treated or a limit is reached.
    pub fn forbidden(&mut self, text: &[u8]) -> Result<Option<Forbidden>, CompileError> {
        let root = self.set.root();
        let automaton = self.styled.as_mut().unwrap_or(&mut self.any);
        let Some(offset) = first_forbidden(automaton, root, text)? else {
            return Ok(None);
        };
        let (before, byte) = (&text[..offset], text.get(offset).copied());
        let excluded = match byte {
            Some(byte) => Excluded::Byte(before, byte),
            None => Excluded::End(before),
        };
        let position = Position::after(before);
        let by_style = self.styled.is_some() && !conflict::excludes(&mut self.any, root, excluded)?;
        let cause = if by_style {
            Cause::Style
        } else {
            let mut search = Search::new(&self.set, root, self.formats, excluded);
            match search.is_excluded_by_none() {
                true => match position.repeated_name(before, byte) {
                    Some(name) => Cause::RepeatedName(name),
                    None => Cause::Syntax,
                },
                false => {
                    let (conflict, remedy) = search.conflict_and_remedy();
                    Cause::Keywords { conflict, remedy }
                }
            }
        };
        let (line, column) = json_position::line_and_column(text, offset);
        let automaton = self.styled.as_mut().unwrap_or(&mut self.any);
        let (mut around, mut expected) = (false, Vec::new());
        if let Some(at) = after(automaton, root, before)? {
            // A number does not say where it ends: where it may, what follows belongs to the object or array.
            around = byte == Some(b']') && position.phase == json_position::Phase::Value
                || position.phase == json_position::Phase::Number
                    && byte.is_some()
                    && automaton.step(at, b' ')?.is_some();
            expected = expect::expected(automaton, at, &position, before)?;
        }
        Ok(Some(Forbidden {
            offset,
            line,
            column,
            byte,
            place: position.pointer(around),
            cause,
            expected,
        }))
    }
}

/// Why no value satisfies the root of a schema that has none.
pub(crate) fn unsatisfiable(set: &SchemaSet, formats: Formats) -> Conflict {
    conflict_of(set, set.root(), formats)
}

fn conflict_of(set: &SchemaSet, node: NodeId, formats: Formats) -> Conflict {
    Search::new(set, node, formats, Excluded::Values).conflict()
}

/// Whether this is `{"not": {}}`, as draft 4 spells `false`.
fn is_not_anything(set: &SchemaSet, keywords: &Keywords) -> bool {
    let not = keywords.not.filter(|not| matches!(set.node(*not).body, Body::Anything));
    let only_not = || Keywords {
        not,
        ..Keywords::default()
    };
    not.is_some() && *keywords == only_not()
}

/// The place after some bytes; none where they are forbidden.
fn after(
    automaton: &mut Automaton,
    root: NodeId,
    text: &[u8],
) -> Result<Option<crate::automaton::State>, AutomatonError> {
    let assertion = automaton.assertion_of(root);
    let mut at = automaton.start(assertion)?;
    for &byte in text {
        let Some(before) = at else {
            return Ok(None);
        };
        at = automaton.step(before, byte)?;
    }
    Ok(at)
}

/// The number of bytes before the first that is forbidden; none where the document is valid.
fn first_forbidden(automaton: &mut Automaton, root: NodeId, text: &[u8]) -> Result<Option<usize>, AutomatonError> {
    let assertion = automaton.assertion_of(root);
    let Some(mut at) = automaton.start(assertion)? else {
        return Ok(Some(0));
    };
    for (offset, &byte) in text.iter().enumerate() {
        match automaton.step(at, byte)? {
            Some(next) => at = next,
            None => return Ok(Some(offset)),
        }
    }
    Ok((!automaton.is_complete(at)?).then_some(text.len()))
}

impl Conflict {
    /// The places, the first of them where there are many.
    fn list(&self) -> String {
        let mut places = Vec::new();
        let mut bytes = 0;
        for place in self.keywords.iter().take(LISTED) {
            let place = format!("`{place}`");
            bytes += place.len();
            if bytes > LISTED_BYTES && !places.is_empty() {
                break;
            }
            places.push(place);
        }
        match self.keywords.len() - places.len() {
            0 => {}
            1 => places.push("another".to_owned()),
            others => places.push(format!("{others} others")),
        }
        joined(&places, "and")
    }
}

fn joined(parts: &[String], last: &str) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

impl fmt::Display for SchemaPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.document {
            Some(document) => write!(f, "{document}#{}", self.pointer),
            None if self.pointer.is_empty() => f.write_str("#"),
            None => f.write_str(&self.pointer),
        }
    }
}

/// As in "`/minimum` and `/maximum` exclude each other".
impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.keywords.len() {
            0 => f.write_str("which keywords exclude each other was more work to find than is allowed"),
            _ if !self.minimal => write!(f, "among {} some exclude each other", self.list()),
            1 => write!(f, "{} excludes every value", self.list()),
            2 => write!(f, "{} exclude each other", self.list()),
            _ => write!(f, "{} together exclude every value", self.list()),
        }
    }
}

impl fmt::Display for UnsatisfiablePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.subschema, self.conflict)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keywords { conflict, remedy } => {
                let keywords = conflict.list();
                match conflict.keywords.len() {
                    0 => f.write_str("forbidden by the schema")?,
                    _ if !conflict.minimal => write!(f, "forbidden by some of {keywords}")?,
                    _ => write!(f, "forbidden by {keywords}")?,
                }
                match remedy.keywords == conflict.keywords || !remedy.minimal {
                    true => Ok(()),
                    false => write!(f, ", allowed without {}", remedy.list()),
                }
            }
            Self::Syntax => f.write_str("not JSON"),
            Self::RepeatedName(name) => write!(f, "the object has the name {name:?} already"),
            Self::Style => f.write_str("forbidden by the style"),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(kind) => f.write_str(kind),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Name(name) => write!(f, "the name {name:?}"),
            Self::AnyName => f.write_str("a name"),
            Self::Digit => f.write_str("a digit"),
            Self::Byte(byte) => write!(f, "`{}`", byte.escape_ascii()),
            Self::End => f.write_str("the end"),
        }
    }
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {} (line {}, column {}), ", self.offset, self.line, self.column)?;
        match self.byte {
            Some(byte @ b' '..=b'~') => write!(f, "`{}`", char::from(byte))?,
            Some(byte) => write!(f, "`{}`", byte.escape_ascii())?,
            None => f.write_str("the end")?,
        }
        match &*self.place {
            "" => f.write_str(" at the root")?,
            place => write!(f, " at `{place}`")?,
        }
        write!(f, ": {}", self.cause)?;
        if self.expected.is_empty() {
            return Ok(());
        }
        let expected: Vec<String> = self.expected.iter().map(ToString::to_string).collect();
        write!(f, "; expected {}", joined(&expected, "or"))
    }
}
