//! The text of a YAML document, made fit for a parser of libyaml's line, and checked for errors that PyYAML alone reports.
//!
//! The parser is a port of libyaml, PyYAML's twin in C. The two differ in a few places, which the public benchmark's
//! verdicts depend on, since it reads with PyYAML's own parser:
//!
//! | text | PyYAML | libyaml |
//! |---|---|---|
//! | a tab between tokens, or in a plain scalar | error | whitespace |
//! | a tab where the indentation of a block scalar ends first | content | error |
//! | `"\ud83d"` | a lone surrogate | error |
//! | `?` within a plain scalar in a flow collection | error | content |
//! | `|#` and `>#` | error | comment |
//! | U+FEFF at the start of a line | content | ignored |
//!
//! A directive by another name than `YAML` and `TAG` is an error here and a warning at most there. Texts are without whitespace around them.
//!
//! [`YamlSource::new`] rewrites what libyaml would refuse or ignore, [`YamlSource::check`] refuses what libyaml would take, and
//! [`YamlSource::restore`] undoes the rewriting in values.

use std::borrow::Cow;
use std::sync::LazyLock;

use libyaml_safer::{Encoding, Mark, ScalarStyle, Scanner, Token, TokenData};
use regex::{Captures, Regex};

use super::super::MAX_YAML_DEPTH;
use super::super::failure::{FailureKind, Unreadable};
use super::regex;

/// Line breaks of YAML 1.1.
const BREAKS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// A document as the parser gets it.
pub(super) struct YamlSource {
    pub text: String,
    /// Placeholder for tabs that are content of a block scalar; `None` where there are none.
    tab: Option<char>,
    /// Placeholder for byte order marks that are content; `None` where there are none.
    byte_order_mark: Option<char>,
    /// Placeholder put between a tag and a comma; `None` where it is not needed.
    gap: Option<char>,
    /// Whether escapes of lone surrogates were replaced.
    surrogates: bool,
}

/// The header of a block scalar, lines without content, and the indentation of the first line that has some, up to a tab.
static TAB_IN_BLOCK: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?m)((?:^|[ ])[|>][0-9+-]{0,2}[ ]*(?:[ ]#[^\n\r\u{85}\u{2028}\u{2029}]*)?(?:\r\n|[\n\r\u{85}\u{2028}\u{2029}])(?:[ ]*(?:\r\n|[\n\r\u{85}\u{2028}\u{2029}]))*[ ]*)\t",
    )
});

/// A possible tag with a comma right behind it. A real tag there is an error, over which the parser panics unless there is
/// something between the two.
static TAG_AND_COMMA: LazyLock<Regex> = LazyLock::new(|| regex(r"(!(?:<[^<>\s]*>|[^\s,\[\]{}<>]*)),"));

/// An escape of a code unit that is a surrogate, with all backslashes before it.
static SURROGATE: LazyLock<Regex> = LazyLock::new(|| regex(r"(\\+)(u|U0000)([dD])([89a-fA-F][0-9a-fA-F]{2})"));

/// The replacement of a surrogate's escape, to be undone where it is no escape.
static REPLACED: LazyLock<Regex> = LazyLock::new(|| regex(r"(\\(?:u|U0000))([eE])([89a-fA-F][0-9a-fA-F]{2})"));

/// The header of a block scalar as PyYAML has it.
static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^[|>](?:[+-][1-9]?|[1-9][+-]?)?(?: *(?: #[^\n\r\u{85}\u{2028}\u{2029}]*)?)(?:[\n\r\u{85}\u{2028}\u{2029}]|$)",
    )
});

impl YamlSource {
    /// Rewrites `text` for the parser.
    pub fn new(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut source = Self {
            text: text.to_owned(),
            tab: None,
            byte_order_mark: None,
            gap: None,
            surrogates: false,
        };
        // The parser takes a block scalar to end with a line.
        source.text.push('\n');
        let mut free = ('\u{f8f0}'..='\u{f8ff}').filter(|c| !text.contains(*c));
        if text.contains('\u{feff}') {
            source.byte_order_mark = free.next();
            if let Some(mark) = source.byte_order_mark {
                source.text = source.text.replace('\u{feff}', mark.encode_utf8(&mut [0; 4]));
            }
        }
        if text.contains('\t')
            && let Some(tab) = free.next()
            && let Cow::Owned(replaced) =
                TAB_IN_BLOCK.replace_all(&source.text, |found: &Captures<'_>| format!("{}{tab}", &found[1]))
        {
            source.tab = Some(tab);
            source.text = replaced;
        }
        if let Some(gap) = free.next()
            && let Cow::Owned(replaced) =
                TAG_AND_COMMA.replace_all(&source.text, |found: &Captures<'_>| format!("{}{gap},", &found[1]))
        {
            source.gap = Some(gap);
            source.text = replaced;
        }
        let next = |digit: &str| if digit == "d" { 'e' } else { 'E' };
        let replaced = SURROGATE.replace_all(&source.text, |found: &Captures<'_>| match found[1].len() % 2 {
            1 => format!("{}{}{}{}", &found[1], &found[2], next(&found[3]), &found[4]),
            _ => found[0].to_owned(),
        });
        if let Cow::Owned(replaced) = replaced {
            source.surrogates = true;
            source.text = replaced;
        }
        source
    }

    /// The value of a scalar as it was before the rewriting. `end` is where the scalar ends.
    pub fn restore(&self, mut value: String, style: ScalarStyle, end: Mark) -> String {
        let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        if is_block && end.index as usize == self.text.len() && value.ends_with('\n') {
            value.pop();
        }
        let replaced = [(self.tab, "\t"), (self.byte_order_mark, "\u{feff}"), (self.gap, "")];
        for (placeholder, original) in replaced {
            if let Some(placeholder) = placeholder
                && value.contains(placeholder)
            {
                value = value.replace(placeholder, original);
            }
        }
        if self.surrogates && style != ScalarStyle::DoubleQuoted {
            let before = |found: &Captures<'_>| {
                let digit = if &found[2] == "e" { 'd' } else { 'D' };
                format!("{}{digit}{}", &found[1], &found[3])
            };
            if let Cow::Owned(restored) = REPLACED.replace_all(&value, before) {
                value = restored;
            }
        }
        value
    }

    /// Refuses texts that PyYAML's scanner refuses and libyaml's does not, and collections nested too deeply.
    ///
    /// # Errors
    ///
    /// [`FailureKind::Syntax`], also for texts that libyaml's scanner refuses, or [`FailureKind::TooDeep`].
    pub fn check(&self) -> Result<(), Unreadable> {
        let mut bytes = self.text.as_bytes();
        let mut scanner = Scanner::new();
        scanner.set_encoding(Encoding::Utf8);
        scanner.set_input(&mut bytes);
        let (mut end, mut flow, mut block) = (0, 0usize, 0usize);
        loop {
            let token = Scanner::scan(&mut scanner).map_err(|error| super::syntax(&error))?;
            let start = token.start_mark.index as usize;
            if start > end && self.has_stray_tab(end, start) {
                return Err(refused(token.start_mark, "a tab where only spaces may stand"));
            }
            end = end.max(token.end_mark.index as usize);
            match &token.data {
                TokenData::FlowSequenceStart | TokenData::FlowMappingStart => flow += 1,
                TokenData::FlowSequenceEnd | TokenData::FlowMappingEnd => flow = flow.saturating_sub(1),
                TokenData::BlockSequenceStart | TokenData::BlockMappingStart => block += 1,
                TokenData::BlockEnd => block = block.saturating_sub(1),
                TokenData::StreamEnd => return Ok(()),
                TokenData::Scalar { style, .. } => self.check_scalar(&token, *style, flow > 0)?,
                _ => {}
            }
            if flow + block > MAX_YAML_DEPTH {
                let message = format!("collections nested more than {MAX_YAML_DEPTH} levels deep");
                return Err(Unreadable::new(FailureKind::TooDeep, message));
            }
        }
    }

    fn check_scalar(&self, token: &Token, style: ScalarStyle, in_flow: bool) -> Result<(), Unreadable> {
        let text = self.slice(token.start_mark.index as usize, token.end_mark.index as usize);
        let refused = |message| Err(refused(token.start_mark, message));
        match style {
            ScalarStyle::Plain if text.contains('\t') || self.tab.is_some_and(|tab| text.contains(tab)) => {
                refused("a tab in a plain scalar")
            }
            ScalarStyle::Plain if in_flow && text.contains('?') => refused("`?` in a plain scalar within brackets"),
            ScalarStyle::Literal | ScalarStyle::Folded if !HEADER.is_match(text) => {
                refused("the header of a block scalar has no space before what follows")
            }
            _ => Ok(()),
        }
    }

    /// Whether between two tokens there is a tab outside of comments.
    fn has_stray_tab(&self, start: usize, end: usize) -> bool {
        let gap = self.slice(start, end);
        gap.contains('\t')
            && gap
                .split(BREAKS)
                .any(|line| line.find('\t').is_some_and(|tab| !line[..tab].contains('#')))
    }

    fn slice(&self, start: usize, end: usize) -> &str {
        self.text.get(start..end).unwrap_or_default()
    }
}

fn refused(mark: Mark, message: &str) -> Unreadable {
    let (line, column) = (mark.line + 1, mark.column + 1);
    Unreadable::new(
        FailureKind::Syntax,
        format!("YAML, line {line}, column {column}: {message}"),
    )
}
