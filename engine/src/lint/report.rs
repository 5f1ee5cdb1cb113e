//! [`Report`]: the warnings found so far, with facts about the schema that several checks need.

use std::collections::HashMap;

use super::keyword_suggestion::Suggestion;
use super::places::{Place, Places};
use super::warning::{Warning, WarningKind};
use crate::ExactOptions;
use crate::json::{Document, NodeIndex, push_token};

/// Number of warnings that are given at most: who has a thousand needs no more to begin with.
const MAX_WARNINGS: usize = 1_000;

/// Bytes that the warnings may have together: each repeats the names around its place.
const MAX_BYTES: usize = 16 << 20;

/// Number of distinct unknown keywords that are compared with the known ones; each comparison takes microseconds.
const MAX_COMPARED: usize = 10_000;

/// Maximal number of bytes of all patterns that are checked: reading a class of many letters in either case takes microseconds a byte.
const MAX_PATTERN_BYTES: usize = 256 << 10;

/// Names that branches are compared by, together: references can make a short text many branches.
const MAX_NAMES_COMPARED: usize = 1_000_000;

/// The warnings on one schema.
pub(super) struct Report<'d> {
    pub json: &'d Document,
    pub places: &'d Places<'d>,
    pub options: &'d ExactOptions,
    warnings: Vec<Warning>,
    /// Bytes of the warnings.
    bytes: usize,
    /// Number of bytes of patterns that may still be checked.
    pattern_bytes: usize,
    /// Names that branches may still be compared by.
    names: usize,
    suggestions: HashMap<&'d str, Option<Suggestion>>,
}

impl<'d> Report<'d> {
    pub fn new(json: &'d Document, places: &'d Places<'d>, options: &'d ExactOptions) -> Self {
        Self {
            json,
            places,
            options,
            warnings: Vec::new(),
            bytes: 0,
            pattern_bytes: MAX_PATTERN_BYTES,
            names: MAX_NAMES_COMPARED,
            suggestions: HashMap::new(),
        }
    }

    pub fn is_full(&self) -> bool {
        self.warnings.len() >= MAX_WARNINGS || self.bytes > MAX_BYTES
    }

    pub fn into_warnings(self) -> Vec<Warning> {
        self.warnings
    }

    /// Warns of a schema as a whole.
    pub fn warn(&mut self, kind: WarningKind, place: &Place<'_>, message: impl Into<String>) {
        self.warn_at(kind, self.places.pointer(place.number), message.into());
    }

    /// Warns of a keyword of a schema.
    pub fn warn_of(&mut self, kind: WarningKind, place: &Place<'_>, keyword: &str, message: impl Into<String>) {
        let mut pointer = self.places.pointer(place.number);
        push_token(&mut pointer, keyword);
        self.warn_at(kind, pointer, message.into());
    }

    /// Warns of something in the value of a keyword: a member or an item.
    pub fn warn_within(
        &mut self,
        kind: WarningKind,
        place: &Place<'_>,
        keyword: &str,
        token: &str,
        message: impl Into<String>,
    ) {
        let mut pointer = self.places.pointer(place.number);
        push_token(&mut pointer, keyword);
        push_token(&mut pointer, token);
        self.warn_at(kind, pointer, message.into());
    }

    fn warn_at(&mut self, kind: WarningKind, pointer: String, message: String) {
        if !self.is_full() {
            self.bytes += pointer.len() + message.len();
            self.warnings.push(Warning { kind, pointer, message });
        }
    }

    /// Whether a pattern may be checked within the limit on the bytes of patterns.
    pub fn may_read(&mut self, pattern: &str) -> bool {
        let left = self.pattern_bytes.checked_sub(pattern.len());
        self.pattern_bytes = left.unwrap_or(self.pattern_bytes);
        left.is_some()
    }

    /// Whether branches may be compared by so many names: there is a limit on all together.
    pub fn may_compare(&mut self, names: usize) -> bool {
        let left = self.names.checked_sub(names + 1);
        self.names = left.unwrap_or(0);
        left.is_some()
    }

    /// The keyword that an unknown one with the value at `value` was probably meant to be.
    pub fn suggestion(&mut self, name: &'d str, value: NodeIndex) -> Option<&'static str> {
        if self.suggestions.len() >= MAX_COMPARED && !self.suggestions.contains_key(name) {
            return None;
        }
        let known = self.suggestions.entry(name).or_insert_with(|| Suggestion::of(name));
        known.as_ref()?.for_value(self.json, value)
    }
}
