//! The answers of an [`Explainer`](super::Explainer), and how they read.

use std::fmt;

/// Most keywords that a conflict's message lists.
const MAX_LISTED: usize = 8;
/// Most bytes of keywords that a conflict's message lists, unless it is one keyword.
const MAX_LISTED_BYTES: usize = 600;

/// A keyword, or a subschema that is `false`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeywordLocation {
    /// URI of the document; none for the schema itself.
    pub document: Option<String>,
    /// JSON Pointer in that document.
    pub pointer: String,
}

/// Keywords that have an effect together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflict {
    /// The keywords, sorted. Empty where finding them was more work than is allowed.
    pub keywords: Vec<KeywordLocation>,
    /// Whether it is known that no keyword can be left out. Otherwise finding out was more work than is allowed.
    pub minimal: bool,
}

/// A subschema that no value satisfies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsatisfiablePart {
    /// The subschema.
    pub subschema: KeywordLocation,
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
    pub pointer: String,
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
        /// Keywords without which it is allowed. These differ from `conflict` where one of several would do, as in the
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

/// What may stand at a position of a document.
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

impl Conflict {
    /// The keywords, the first of them where there are many.
    fn list(&self) -> String {
        let mut listed = Vec::new();
        let mut bytes = 0;
        for keyword in self.keywords.iter().take(MAX_LISTED) {
            let keyword = format!("`{keyword}`");
            bytes += keyword.len();
            if bytes > MAX_LISTED_BYTES && !listed.is_empty() {
                break;
            }
            listed.push(keyword);
        }
        match self.keywords.len() - listed.len() {
            0 => {}
            1 => listed.push("another".to_owned()),
            others => listed.push(format!("{others} others")),
        }
        joined(&listed, "and")
    }
}

fn joined(parts: &[String], last: &str) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

impl fmt::Display for KeywordLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.document {
            Some(document) => write!(f, "{document}#{}", self.pointer),
            None if self.pointer.is_empty() => f.write_str("#"),
            None => f.write_str(&self.pointer),
        }
    }
}

/// A sentence such as "`/minimum` and `/maximum` exclude each other".
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
        match &*self.pointer {
            "" => f.write_str(" at the root")?,
            pointer => write!(f, " at `{pointer}`")?,
        }
        write!(f, ": {}", self.cause)?;
        if self.expected.is_empty() {
            return Ok(());
        }
        let expected: Vec<String> = self.expected.iter().map(ToString::to_string).collect();
        write!(f, "; expected {}", joined(&expected, "or"))
    }
}
