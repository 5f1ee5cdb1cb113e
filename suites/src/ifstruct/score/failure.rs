//! Failures of a reply.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One failure of a reply: a rule that it breaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Kind of the failure.
    pub kind: FailureKind,
    /// Path in the data, such as `[2].ingredients[0].quantity`; empty for the root, and for failures of the whole reply.
    pub path: String,
    /// The problem at that path.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

/// The ways in which a reply fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// A code block is required and there is none, or it is not closed.
    MissingCodeBlock,
    /// The request forbids code blocks.
    ForbiddenCodeBlock,
    /// The fence names another language than the request does, or none.
    WrongFenceLanguage,
    /// A fence is opened and never closed.
    UnclosedCodeBlock,
    /// The reply has no data.
    NoData,
    /// The data is in the other format.
    WrongFormat,
    /// The data breaks the rules of its format.
    Syntax,
    /// Text follows the JSON document.
    TrailingContent,
    /// An integer has more digits than Python converts.
    NumberTooLong,
    /// Arrays and objects lie inside one another too deeply.
    TooDeep,
    /// The reply is too large, or stands for too many values through its aliases.
    TooLarge,
    /// Text stands beside the code block where it is banned.
    Commentary,
    /// The list is bare where a wrapper is required.
    MissingWrapper,
    /// The list is wrapped where it must be bare.
    UnexpectedWrapper,
    /// The list is wrapped under another key than required.
    WrongWrapperKey,
    /// A required field is missing.
    MissingField,
    /// A field was not asked for.
    ExtraField,
    /// A value is of the wrong type.
    WrongType,
    /// A value is none of those allowed.
    NotInEnum,
    /// A number is below or above its bounds.
    OutOfBounds,
    /// A list within the data is too short or too long.
    ArrayLength,
    /// The number of items is not the one asked for.
    ItemCount,
    /// Strict: a key occurs more than once in its object.
    DuplicateKey,
    /// Strict: an unquoted scalar of YAML is read as something else than its text suggests.
    Coercion,
    /// Strict: a string does not match its pattern.
    Pattern,
    /// Strict: a string is not of its format.
    Format,
    /// Strict: a string is too short or too long.
    StringLength,
    /// Strict: items of a list are equal.
    NotUnique,
    /// Strict: a dependency between fields does not hold.
    Condition,
    /// Strict: another keyword of the schema does not hold.
    Keyword,
    /// Strict: a keyword could not be decided, or the data is nothing that keywords apply to.
    Undecided,
}

impl FailureKind {
    /// A few words for tables.
    pub fn describe(self) -> &'static str {
        match self {
            Self::MissingCodeBlock => "no code block",
            Self::ForbiddenCodeBlock => "code block forbidden",
            Self::WrongFenceLanguage => "other language on the fence",
            Self::UnclosedCodeBlock => "code block not closed",
            Self::NoData => "no data found",
            Self::WrongFormat => "other format",
            Self::Syntax => "syntax error",
            Self::TrailingContent => "text behind the JSON document",
            Self::NumberTooLong => "number with too many digits",
            Self::TooDeep => "nested too deeply",
            Self::TooLarge => "too large",
            Self::Commentary => "commentary",
            Self::MissingWrapper => "bare list instead of wrapper key",
            Self::UnexpectedWrapper => "wrapper key instead of bare list",
            Self::WrongWrapperKey => "other wrapper key",
            Self::MissingField => "required field missing",
            Self::ExtraField => "field not asked for",
            Self::WrongType => "wrong type",
            Self::NotInEnum => "value not allowed",
            Self::OutOfBounds => "number out of bounds",
            Self::ArrayLength => "nested list too short or too long",
            Self::ItemCount => "wrong number of items",
            Self::DuplicateKey => "key given twice",
            Self::Coercion => "unquoted YAML scalar read as another type",
            Self::Pattern => "pattern not matched",
            Self::Format => "not of the format",
            Self::StringLength => "string too short or too long",
            Self::NotUnique => "items not unique",
            Self::Condition => "dependency between fields",
            Self::Keyword => "other keyword",
            Self::Undecided => "undecided",
        }
    }
}

/// The failures of a reply as they are found, up to a number.
#[derive(Debug, Default)]
pub(super) struct Failures {
    pub listed: Vec<Failure>,
    pub omitted: usize,
}

impl Failures {
    pub fn add(&mut self, kind: FailureKind, path: &str, message: impl FnOnce() -> String) {
        if self.listed.len() >= super::MAX_FAILURES {
            self.omitted += 1;
            return;
        }
        self.listed.push(Failure {
            kind,
            path: path.to_owned(),
            message: message(),
        });
    }

    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }
}

/// Error of reading the data of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub kind: FailureKind,
    pub message: String,
}

impl Unreadable {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// An integer that Python's `int` refuses.
    pub fn number_too_long() -> Self {
        let message = format!("an integer has more than {} digits", super::MAX_DIGITS);
        Self::new(FailureKind::NumberTooLong, message)
    }
}

/// The start of `text`, with an ellipsis where there is more.
pub(super) fn preview(text: &str) -> String {
    const LENGTH: usize = 100;
    match text.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
