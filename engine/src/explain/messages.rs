//! The results of an [`Explainer`](super::Explainer), and their messages.

use std::fmt;

use super::keyword_part::REFERENCES;
use crate::json::push_string;

/// Most keywords that a conflict's message lists.
const MAX_LISTED: usize = 8;
/// Most bytes of keywords that a conflict's message lists, unless it is one keyword.
const MAX_LISTED_BYTES: usize = 600;
/// Most keywords of branches that are listed, beside those of the branch that fits best; where there are more, the other
/// branches are counted.
const MAX_LISTED_OF_BRANCHES: usize = 2;

/// A keyword, or a subschema that is `false`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeywordLocation {
    /// URI of the document; none for the schema itself.
    pub document: Option<String>,
    /// JSON Pointer in that document.
    pub pointer: String,
}

/// A set of keywords that together exclude every value, or that together forbid a byte or the end of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflict {
    /// The keywords, sorted. Empty where finding them was more work than is allowed.
    pub keywords: Vec<KeywordLocation>,
    /// Whether the set is known to be minimal: no keyword can be left out. Otherwise the proof would exceed the allowed work.
    pub minimal: bool,
    /// Notes on some of the keywords, in a few words: their demand, or the thing that they miss.
    pub notes: Vec<(KeywordLocation, String)>,
}

/// Branches of an `anyOf` or `oneOf` beside the one that fits a document best.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherBranches {
    /// The `anyOf` or `oneOf`.
    pub keyword: KeywordLocation,
    /// The number of other branches.
    pub count: usize,
}

/// A subschema that no value satisfies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsatisfiablePart {
    /// The subschema.
    pub subschema: KeywordLocation,
    /// Keywords that together leave the subschema no value.
    pub conflict: Conflict,
}

/// The first forbidden position of a document, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    /// Number of bytes before the forbidden position.
    pub offset: usize,
    /// Line of the forbidden position, from 1.
    pub line: usize,
    /// Character within the line, from 1.
    pub column: usize,
    /// The forbidden byte; `None` where the document ends too early.
    pub byte: Option<u8>,
    /// The character that the forbidden byte is a part of; `None` where the document ends too early, or is not UTF-8 there.
    pub character: Option<char>,
    /// JSON Pointer of the value that the byte belongs to: for a name, a comma or a bracket the object or array around it.
    pub pointer: String,
    /// The reason for which the byte is forbidden.
    pub cause: Cause,
    /// Continuations that could stand there instead, as far as they can be said in a few words.
    pub expected: Vec<Expected>,
}

/// The reason for which a byte is forbidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Keywords of the schema.
    Keywords {
        /// Keywords that forbid the byte by themselves: the reason.
        conflict: Conflict,
        /// Keywords without which the byte is allowed. These differ from `conflict` where one of several would do, as in the
        /// branches of an `anyOf`, and where several keywords forbid it independently.
        remedy: Conflict,
        /// The keywords of `conflict` that are to be read first: where every branch of an `anyOf` or `oneOf` is
        /// excluded, those of the branch that fits best. That is the branch whose `const` and `enum` agree with the
        /// document, or else the one that the document follows longest.
        leading: Vec<KeywordLocation>,
        /// The branches that `leading` leaves out, outermost first.
        other_branches: Vec<OtherBranches>,
    },
    /// The text is not JSON.
    Syntax,
    /// The name of a member that the object has already.
    RepeatedName(String),
    /// The schema allows the byte; the style does not.
    Style,
}

/// A continuation that is allowed at a position of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A value of the kind that the text names, such as `a number`.
    Value(&'static str),
    /// The string value with these characters.
    Text(String),
    /// A member with this name.
    Name(String),
    /// A member whose name is one of too many to list.
    AnyName,
    /// One of several digits.
    Digit,
    /// This byte.
    Byte(u8),
    /// The end of the document.
    End,
}

impl KeywordLocation {
    /// Whether this is a keyword that leads to another subschema.
    fn is_reference(&self) -> bool {
        self.pointer
            .rsplit_once('/')
            .is_some_and(|(_, keyword)| REFERENCES.contains(&keyword))
    }
}

impl Conflict {
    /// Some keywords, the first of them where there are many, without references that lead to others.
    fn listed<'k>(&self, keywords: impl Iterator<Item = &'k KeywordLocation> + Clone) -> String {
        let named = self.first(keywords.clone().filter(|keyword| !keyword.is_reference()));
        match named.is_empty() {
            true => self.first(keywords),
            false => named,
        }
    }

    /// The references on the way to some keywords, as the end of a sentence.
    fn by_way_of<'k>(&self, keywords: impl Iterator<Item = &'k KeywordLocation> + Clone) -> String {
        let references = self.first(keywords.clone().filter(|keyword| keyword.is_reference()));
        let has_others = keywords.clone().any(|keyword| !keyword.is_reference());
        match references.is_empty() || !has_others {
            true => String::new(),
            false => format!(", by way of {references}"),
        }
    }

    /// All of some keywords, or the first of them where there are many.
    fn first<'k>(&self, keywords: impl Iterator<Item = &'k KeywordLocation> + Clone) -> String {
        let mut listed = Vec::new();
        let mut bytes = 0;
        for location in keywords.clone().take(MAX_LISTED) {
            let note = self.notes.iter().find(|(of, _)| of == location);
            let keyword = match note {
                Some((_, note)) => format!("`{location}` ({note})"),
                None => format!("`{location}`"),
            };
            bytes += keyword.len();
            if bytes > MAX_LISTED_BYTES && !listed.is_empty() {
                break;
            }
            listed.push(keyword);
        }
        match keywords.count() - listed.len() {
            0 => {}
            1 => listed.push("another".to_owned()),
            others => listed.push(format!("{others} others")),
        }
        joined(&listed, "and")
    }

    fn list(&self) -> String {
        self.listed(self.keywords.iter())
    }

    /// The number of keywords, without references that lead to others.
    fn number_of_keywords(&self) -> usize {
        let named = self.keywords.iter().filter(|keyword| !keyword.is_reference()).count();
        if named == 0 { self.keywords.len() } else { named }
    }
}

fn joined(parts: &[String], last: &str) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

/// A string as JSON.
pub(super) fn quoted(characters: &str) -> String {
    let mut text = String::new();
    push_string(&mut text, characters);
    text
}

/// A character as it stands in JSON, with an escape where it would not be seen.
fn shown(character: char) -> String {
    match character {
        '"' | '\\' => character.to_string(),
        '\u{7f}'..='\u{9f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{feff}' => {
            format!("\\u{:04x}", u32::from(character))
        }
        _ => {
            let mut text = String::new();
            crate::json::push_escaped(&mut text, character);
            text
        }
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
        let list = self.list();
        match self.number_of_keywords() {
            0 => return f.write_str("which keywords exclude each other was more work to find than is allowed"),
            1 => write!(f, "{list} excludes every value"),
            2 => write!(f, "{list} exclude each other"),
            _ => write!(f, "{list} together exclude every value"),
        }?;
        f.write_str(&self.by_way_of(self.keywords.iter()))?;
        match self.minimal {
            true => Ok(()),
            false => f.write_str(NOT_MINIMAL),
        }
    }
}

/// The remark on a set of which some keywords may be left out.
const NOT_MINIMAL: &str = " (fewer may be enough: trying that was more work than is allowed)";

impl fmt::Display for UnsatisfiablePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.subschema, self.conflict)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keywords {
                conflict,
                remedy,
                leading,
                other_branches,
            } => {
                if conflict.keywords.is_empty() {
                    return f
                        .write_str("forbidden by the schema; by which keywords was more work to find than is allowed");
                }
                write!(f, "forbidden by {}", conflict.listed(leading.iter()))?;
                let is_other = |keyword: &&KeywordLocation| !leading.contains(keyword) && !keyword.is_reference();
                let others: Vec<&KeywordLocation> = conflict.keywords.iter().filter(is_other).collect();
                match (&**other_branches, others.len()) {
                    (_, 0) => {}
                    ([], _) | (_, ..=MAX_LISTED_OF_BRANCHES) => {
                        write!(f, " and {}", conflict.listed(others.into_iter()))?;
                    }
                    _ => {
                        for OtherBranches { keyword, count } in other_branches {
                            let plural = if *count == 1 { "" } else { "es" };
                            write!(f, " and {count} other branch{plural} of `{keyword}`")?;
                        }
                    }
                }
                f.write_str(&conflict.by_way_of(leading.iter()))?;
                if !conflict.minimal {
                    f.write_str(NOT_MINIMAL)?;
                }
                match !remedy.minimal
                    || remedy.keywords == conflict.keywords
                    || remedy.keywords.iter().all(|keyword| leading.contains(keyword))
                {
                    true => Ok(()),
                    false => write!(f, ", allowed without {}", remedy.list()),
                }
            }
            Self::Syntax => f.write_str("not JSON"),
            Self::RepeatedName(name) => write!(f, "the name {} comes twice in this object", quoted(name)),
            Self::Style => f.write_str("forbidden by the style"),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(kind) => f.write_str(kind),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Name(name) => write!(f, "the name {}", quoted(name)),
            Self::AnyName => f.write_str("a name"),
            Self::Digit => f.write_str("a digit"),
            Self::Byte(byte @ ..0x80) => write!(f, "`{}`", shown(char::from(*byte))),
            Self::Byte(_) => f.write_str("a character beyond ASCII"),
            Self::End => f.write_str("the end"),
        }
    }
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {} (line {}, column {}), ", self.offset, self.line, self.column)?;
        match (self.character, self.byte) {
            (Some(character), _) => write!(f, "`{}`", shown(character))?,
            (None, Some(byte)) => write!(f, "the byte 0x{byte:02X}")?,
            (None, None) => f.write_str("the end")?,
        }
        match &*self.pointer {
            "" => f.write_str(" at the root")?,
            pointer => write!(f, " at `{pointer}`")?,
        }
        write!(f, ": {}", self.cause)?;
        if self.expected.is_empty() {
            return Ok(());
        }
        let mut expected: Vec<String> = Vec::new();
        for one in self.expected.iter().map(ToString::to_string) {
            if !expected.contains(&one) {
                expected.push(one);
            }
        }
        write!(f, "; expected {}", joined(&expected, "or"))
    }
}
