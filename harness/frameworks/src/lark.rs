//! [`lark_of_tag`]: structural tags as grammars in llguidance's Lark, which has no structural tags.
//!
//! Free text before a trigger is a lazy lexeme, as in the grammars that llguidance's own `StructTag` writes; arguments are `%json`. A special
//! token whose name is part of a fixed text is written as that token.

use std::fmt::Write as _;

use ::maskwright::{CompileError, CompileErrorKind, TokenId, TokenKind, Vocabulary};
use serde_json::Value;

/// Lark's expression for any text.
const TEXT: &str = r"/(.|\n)*/";

/// Returns the Lark grammar of the replies that a structural tag allows; `tag` is the tag as JSON.
///
/// # Errors
///
/// [`CompileErrorKind::Malformed`] where the text is no structural tag, and [`CompileErrorKind::Unsupported`], with the name of the format, where
/// the tag has a format that tool calls with JSON arguments do not need.
pub(super) fn lark_of_tag(tag: &str, vocabulary: &Vocabulary) -> Result<String, CompileError> {
    let tag: Value = serde_json::from_str(tag).map_err(|error| malformed(&error.to_string()))?;
    let special = (0..vocabulary.len() as TokenId).filter(|token| vocabulary.kind(*token) == TokenKind::Special);
    let named = special.filter_map(|token| Some((str::from_utf8(vocabulary.token_bytes(token)).ok()?, token)));
    let mut writer = Writer {
        special: named.filter(|(name, _)| !name.is_empty()).collect(),
        rules: String::new(),
        count: 0,
    };
    let start = writer.format(&tag["format"])?;
    Ok(format!("start: {start}\n{}", writer.rules))
}

fn malformed(message: &str) -> CompileError {
    CompileError::new(CompileErrorKind::Malformed, format!("no structural tag: {message}"))
}

fn unsupported(what: &str) -> CompileError {
    let message = format!("{what} is not written as Lark");
    CompileError::new(CompileErrorKind::Unsupported, message)
}

/// A part of a fixed text: plain text or a special token.
enum Piece<'t> {
    Text(&'t str),
    Special(TokenId),
}

/// A grammar in the making.
struct Writer<'v> {
    /// Special tokens with their names.
    special: Vec<(&'v str, TokenId)>,
    /// All rules but the first, one per line.
    rules: String,
    count: usize,
}

impl Writer<'_> {
    /// Adds a rule with these attributes, and returns its name.
    fn rule(&mut self, attributes: &str, expression: &str) -> String {
        self.count += 1;
        let name = format!("rule_{}", self.count);
        // Writing to a string cannot fail.
        let _ = writeln!(self.rules, "{name}{attributes}: {expression}");
        name
    }

    /// Returns the expression for a format.
    fn format(&mut self, format: &Value) -> Result<String, CompileError> {
        match format["type"].as_str() {
            Some("const_string") => Ok(self.literal(text_of(format, "value")?)),
            Some("json_schema") => match (format["style"].as_str(), &format["json_schema"]) {
                (None | Some("json"), schema @ Value::Object(_)) => Ok(format!("%json {schema}")),
                (Some(style), _) if style != "json" => Err(unsupported(&format!("the style {style}"))),
                _ => Err(unsupported("a schema that is no object")),
            },
            Some("any_text") => self.free_text(&texts_of(&format["excludes"])?),
            Some("tag") => {
                let begin = self.literal(text_of(format, "begin")?);
                let rest = self.behind_begin(format)?;
                Ok(format!("{begin} {rest}"))
            }
            Some("sequence") => Ok(self.formats(format)?.join(" ")),
            Some("or") => {
                let any = self.formats(format)?.join(" | ");
                Ok(format!("({any})"))
            }
            Some("star") => {
                let content = self.format(&format["content"])?;
                Ok(format!("({content})*"))
            }
            Some("optional") => {
                let content = self.format(&format["content"])?;
                Ok(format!("({content})?"))
            }
            Some("tags_with_separator") => self.separated(format),
            Some("triggered_tags") => self.triggered(format),
            Some(other) => Err(unsupported(&format!("the format {other}"))),
            None => Err(malformed("a format has no `type`")),
        }
    }

    fn formats(&mut self, format: &Value) -> Result<Vec<String>, CompileError> {
        let elements = format["elements"].as_array();
        let elements = elements.ok_or_else(|| malformed("`elements` is no list"))?;
        elements.iter().map(|element| self.format(element)).collect()
    }

    /// Returns the expression for the content and the end of a tag.
    fn behind_begin(&mut self, tag: &Value) -> Result<String, CompileError> {
        let ends = texts_of(&tag["end"])?;
        if tag["content"]["type"] != "any_text" {
            let content = self.format(&tag["content"])?;
            let ends: Vec<String> = ends.iter().map(|end| self.literal(end)).collect();
            return Ok(format!("{content} ({})", ends.join(" | ")));
        }
        // Free text ends at the first occurrence of the tag's end.
        let ways = ends.iter().map(|end| self.until(end)).collect::<Result<Vec<_>, _>>()?;
        Ok(format!("({})", ways.join(" | ")))
    }

    /// Returns the expression for free text up to the first occurrence of a mark, and the mark: a special token, or a text without special tokens.
    fn until(&mut self, mark: &str) -> Result<String, CompileError> {
        match self.pieces(mark)[..] {
            [Piece::Special(token)] => Ok(format!("{TEXT} <[{token}]>")),
            [Piece::Text(text)] => {
                let quoted = quoted(text);
                Ok(self.rule("[lazy]", &format!("{TEXT} {quoted}")))
            }
            _ => Err(unsupported("a mark of both texts and special tokens")),
        }
    }

    /// Returns the expression for free text without any of the excluded texts. Special tokens never occur in free text.
    fn free_text(&mut self, excluded: &[&str]) -> Result<String, CompileError> {
        let mut without = String::new();
        for mark in excluded {
            match self.pieces(mark)[..] {
                [Piece::Special(_)] => {}
                [Piece::Text(text)] => {
                    let _ = write!(without, " & ~({TEXT} {} {TEXT})", quoted(text));
                }
                _ => return Err(unsupported("free text without a mark of both texts and special tokens")),
            }
        }
        if without.is_empty() {
            return Ok(TEXT.to_owned());
        }
        self.count += 1;
        let name = format!("TEXT_{}", self.count);
        let _ = writeln!(self.rules, "{name}: {TEXT}{without}");
        Ok(name)
    }

    fn separated(&mut self, format: &Value) -> Result<String, CompileError> {
        let tags = self.tags(format)?.into_iter();
        let tags: Vec<String> = tags
            .map(|(begin, rest)| format!("{} {rest}", self.literal(begin)))
            .collect();
        let tag = self.rule("", &tags.join(" | "));
        let separator = self.literal(text_of(format, "separator")?);
        let all = match flag(format, "stop_after_first") {
            true => tag,
            false => format!("{tag} ({separator} {tag})*"),
        };
        Ok(match flag(format, "at_least_one") {
            true => all,
            false => format!("({all})?"),
        })
    }

    fn triggered(&mut self, format: &Value) -> Result<String, CompileError> {
        let triggers = texts_of(&format["triggers"])?;
        let [trigger] = triggers[..] else {
            return Err(unsupported("a number of triggers other than one"));
        };
        let mut behind = Vec::new();
        for (begin, rest) in self.tags(format)? {
            let left = begin.strip_prefix(trigger);
            let left = left.ok_or_else(|| malformed("a tag does not begin with the trigger"))?;
            behind.push(format!("{} {rest}", self.literal(left)));
        }
        let tag = self.rule("", &behind.join(" | "));
        let found = self.until(trigger)?;
        let first = format!("{} {tag}", self.literal(trigger));
        Ok(match (flag(format, "at_least_one"), flag(format, "stop_after_first")) {
            (true, true) => first,
            (true, false) => format!("{first} ({found} {tag})* {TEXT}"),
            (false, true) => format!("({found} {tag} | {TEXT})"),
            (false, false) => format!("({found} {tag})* {TEXT}"),
        })
    }

    /// Returns the beginnings of tags, each with the expression for the rest of the tag.
    fn tags<'f>(&mut self, format: &'f Value) -> Result<Vec<(&'f str, String)>, CompileError> {
        let tags = format["tags"].as_array().filter(|tags| !tags.is_empty());
        let tags = tags.ok_or_else(|| malformed("there are no `tags`"))?;
        tags.iter()
            .map(|tag| Ok((text_of(tag, "begin")?, self.behind_begin(tag)?)))
            .collect()
    }

    /// Returns the expression for a fixed text.
    fn literal(&self, text: &str) -> String {
        let pieces = self.pieces(text).into_iter().map(|piece| match piece {
            Piece::Text(text) => quoted(text),
            Piece::Special(token) => format!("<[{token}]>"),
        });
        let pieces: Vec<String> = pieces.collect();
        match pieces.is_empty() {
            true => quoted(""),
            false => pieces.join(" "),
        }
    }

    /// Splits a fixed text at the special tokens whose names it contains.
    fn pieces<'t>(&self, mut text: &'t str) -> Vec<Piece<'t>> {
        let mut pieces = Vec::new();
        while !text.is_empty() {
            let places = self.special.iter();
            let places = places.filter_map(|(name, token)| Some((text.find(name)?, name.len(), *token)));
            // Among the names at one position, the longest is taken.
            let first = places.min_by_key(|(at, length, _)| (*at, std::cmp::Reverse(*length)));
            let Some((at, length, token)) = first else {
                pieces.push(Piece::Text(text));
                break;
            };
            if at > 0 {
                pieces.push(Piece::Text(&text[..at]));
            }
            pieces.push(Piece::Special(token));
            text = &text[at + length..];
        }
        pieces
    }
}

/// Quotes a text for Lark, whose strings are written as in JSON.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn flag(format: &Value, name: &str) -> bool {
    format[name] == true
}

fn text_of<'f>(format: &'f Value, name: &str) -> Result<&'f str, CompileError> {
    let text = format[name].as_str();
    text.ok_or_else(|| malformed(&format!("`{name}` is no text")))
}

/// Reads a text or a list of texts; an absent value is an empty list.
fn texts_of(value: &Value) -> Result<Vec<&str>, CompileError> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![text]),
        Value::Array(texts) => {
            let texts: Option<Vec<&str>> = texts.iter().map(Value::as_str).collect();
            texts.ok_or_else(|| malformed("a list of texts has something else"))
        }
        _ => Err(malformed("a text or a list of texts is needed")),
    }
}
