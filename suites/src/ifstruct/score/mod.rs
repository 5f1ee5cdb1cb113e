//! Scoring: does a reply have the structure its request asked for?
//!
//! [`Scorer::new`] takes a [`Sample`], [`Scorer::score`] judges replies. At [`Level::Public`] the decisions are those of the
//! [public validator](https://github.com/Liquid4All/ifstruct), quirks included, so that scores can be compared:
//!
//! - Reasoning is stripped. The first fenced block is the data, else the whole reply; a fence is one at the start of a line.
//! - JSON is what Python's `json` module reads, one document and nothing behind it. YAML is what PyYAML's `SafeLoader`
//!   reads, except that dates stay strings; JSON and flow mappings do not meet a request for YAML.
//! - The list must be bare or wrapped as asked, of as many items as asked, and nothing beside the block where that is banned.
//! - A walk over the data checks fields, types (a boolean is no number, a float no integer), enums, bounds and lengths.
//!
//! Two fields that only rows of this project have are judged too: [`Sample::forbid_code_block`] and
//! [`Sample::code_block_language`]. [`Level::Strict`] adds what the public validator leaves out; see [`Level`].
//!
//! # Where decisions differ
//!
//! - Nesting: Python gives up at about 990 levels of JSON and 490 of YAML, depending on its version and what called it; here
//!   it is [`MAX_JSON_DEPTH`] and [`MAX_YAML_DEPTH`].
//! - Python expands aliases without limit; here a document stands for at most [`MAX_VALUES`] values. Octal and hexadecimal
//!   integers may have no more than [`MAX_DIGITS`] digits, as decimal ones.
//! - Rare YAML: directives by a name other than `YAML` and `TAG` or with a version other than 1.1 and 1.2, merged mappings with
//!   a tag of their own, and keys of more than 1,024 bytes in fewer characters are refused here; a folded scalar whose first
//!   line begins with a tab has other line breaks.
//! - A tag that the public validator fails on with an error of Python is a failure of the reply here.
//!
//! # Untrusted input
//!
//! Replies may be anything: time and memory are bounded by a constant times their length, up to [`MAX_REPLY_BYTES`], and no reply panics.
//! With the strict level, patterns of a row's schema run on the reply within limits.

mod datum;
mod failure;
mod json;
mod reply;
mod schema;
mod strict;
mod walk;
mod yaml;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use self::datum::{Content, Datum};
use self::failure::{Failures, Unreadable, preview};
use self::reply::{Block, Reply, strip};
use self::schema::Schema;
use self::strict::Strict;
use self::walk::DatumWalk;
use super::sample::{Count, OutputFormat, Sample};

pub use self::failure::{Failure, FailureKind};
pub use self::schema::SchemaError;

/// Largest reply that is read, in bytes.
pub const MAX_REPLY_BYTES: usize = 64 << 20;

/// Largest nesting depth of arrays and objects in JSON.
pub const MAX_JSON_DEPTH: usize = 990;

/// Largest nesting depth of collections in YAML.
pub const MAX_YAML_DEPTH: usize = 490;

/// Largest number of values that a YAML document may stand for, aliases and merge keys followed; 256 bytes of text count as another.
pub const MAX_VALUES: u64 = 1_000_000;

/// Largest number of digits of an integer: the default limit of Python's `int`.
pub const MAX_DIGITS: usize = 4_300;

/// Largest number of failures that a [`Score`] lists.
pub const MAX_FAILURES: usize = 1_000;

/// Strictness of the judgement on a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The rules of the public validator.
    #[default]
    Public,
    /// The public rules, and more: no key is given twice, no unquoted scalar of YAML is read as something else than its text
    /// suggests, and all other keywords of the schema hold: `pattern`, `format`, `minLength`, `uniqueItems`, `dependentRequired`,
    /// `if` and the rest of JSON Schema.
    Strict,
}

/// The verdict on a reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// Whether nothing speaks against the reply.
    pub passed: bool,
    /// Whether the reply has a fenced block that is closed.
    pub fenced: bool,
    /// The failures of the reply, at most [`MAX_FAILURES`].
    pub failures: Vec<Failure>,
    /// Number of further failures.
    pub omitted: usize,
    /// Number of items of the list, if the reply has one; not in JSON.
    #[serde(skip)]
    pub items: Option<u64>,
}

impl Score {
    /// 1 for a reply that passes, else 0.
    #[must_use]
    pub fn value(&self) -> f64 {
        f64::from(u8::from(self.passed))
    }
}

/// Judges replies to one request.
pub struct Scorer<'s> {
    sample: &'s Sample,
    schema: Schema,
    strict: Option<Strict>,
}

impl<'s> Scorer<'s> {
    /// Compiles the schema of a row.
    ///
    /// # Errors
    ///
    /// A schema with a keyword that is not of its form.
    pub fn new(sample: &'s Sample, level: Level) -> Result<Self, SchemaError> {
        Ok(Self {
            sample,
            schema: Schema::new(&sample.json_schema)?,
            strict: match level {
                Level::Public => None,
                Level::Strict => Some(Strict::new(&sample.json_schema)?),
            },
        })
    }

    /// Judges a reply.
    #[must_use]
    pub fn score(&self, reply: &str) -> Score {
        let mut failures = Failures::default();
        let (mut fenced, mut items) = (false, None);
        if reply.len() > MAX_REPLY_BYTES {
            failures.add(FailureKind::TooLarge, "", || {
                format!("{} bytes, over the limit of {MAX_REPLY_BYTES}", reply.len())
            });
        } else {
            let reply = Reply::new(reply);
            fenced = matches!(reply.block, Block::Closed { .. });
            items = self.judge(&reply, &mut failures);
        }
        Score {
            passed: failures.is_empty(),
            fenced,
            failures: failures.listed,
            omitted: failures.omitted,
            items,
        }
    }

    /// Adds the failures of a reply, and returns the number of items of its list, if it has one.
    fn judge(&self, reply: &Reply, failures: &mut Failures) -> Option<u64> {
        self.fence(reply, failures);
        let datum = match self.read(reply) {
            Ok(datum) => datum,
            Err(error) => {
                failures.add(error.kind, "", || error.message);
                return None;
            }
        };
        if self.sample.require_no_commentary
            && let Some(beside) = reply.commentary()
        {
            failures.add(FailureKind::Commentary, "", || {
                format!("text beside the code block: {:?}", preview(&beside))
            });
        }
        let list = self.unwrapped(&datum, failures);
        DatumWalk::new(failures).value(&list, &self.schema);
        self.count(&list, failures);
        if let Some(strict) = &self.strict {
            strict.judge(&datum, &list, &self.schema, failures);
        }
        match &list.content {
            Content::List(items) => Some(items.len() as u64),
            _ => None,
        }
    }

    fn fence(&self, reply: &Reply, failures: &mut Failures) {
        let sample = self.sample;
        if sample.require_code_block && !matches!(reply.block, Block::Closed { .. }) {
            failures.add(FailureKind::MissingCodeBlock, "", || {
                "a code block is required".to_owned()
            });
        }
        let Some(language) = reply.language() else { return };
        if sample.forbid_code_block {
            failures.add(FailureKind::ForbiddenCodeBlock, "", || {
                "code blocks are forbidden".to_owned()
            });
        }
        if let Some(wanted) = &sample.code_block_language
            && wanted.to_lowercase() != language
        {
            failures.add(FailureKind::WrongFenceLanguage, "", || {
                format!("the fence must name `{wanted}`, not `{}`", preview(&language))
            });
        }
    }

    /// The data of a reply.
    fn read(&self, reply: &Reply) -> Result<Rc<Datum>, Unreadable> {
        let info = reply.info().unwrap_or_default();
        let names = |names: &[&str]| names.iter().any(|name| info.starts_with(name));
        let other = |message| Err(Unreadable::new(FailureKind::WrongFormat, message));
        match (&reply.block, self.sample.output_format) {
            (Block::Unclosed { .. }, _) => Err(Unreadable::new(
                FailureKind::UnclosedCodeBlock,
                "the code block is not closed",
            )),
            (Block::Closed { .. }, OutputFormat::Json) if names(&["yaml", "yml"]) => {
                other("a YAML code block where JSON was asked for")
            }
            (Block::Closed { .. }, OutputFormat::Yaml) if names(&["json"]) => {
                other("a JSON code block where YAML was asked for")
            }
            (Block::Closed { content, .. }, OutputFormat::Json) => json::read(content),
            (Block::Closed { content, .. }, OutputFormat::Yaml) => yaml::read(strip(content)),
            (Block::None, OutputFormat::Json) if !reply.text.starts_with(['[', '{']) => {
                Err(Unreadable::new(FailureKind::NoData, "there is no JSON in the reply"))
            }
            (Block::None, OutputFormat::Json) => json::read(&reply.text),
            (Block::None, OutputFormat::Yaml) => yaml::read(&reply.text),
        }
    }

    /// The list itself, where an object with nothing else holds it; and whether it should.
    fn unwrapped(&self, datum: &Rc<Datum>, failures: &mut Failures) -> Rc<Datum> {
        let sample = self.sample;
        let wanted = sample.top_level_key.as_deref();
        let only = match &datum.content {
            Content::List(_) if sample.require_wrapper_key => {
                failures.add(FailureKind::MissingWrapper, "", || {
                    format!(
                        "a bare list, expected an object with the key {:?}",
                        wanted.unwrap_or_default()
                    )
                });
                None
            }
            Content::Mapping(mapping) if mapping.entries.len() == 1 => mapping.entries.first(),
            _ => None,
        };
        let Some((key, list)) = only.filter(|(_, value)| matches!(value.content, Content::List(_))) else {
            return Rc::clone(datum);
        };
        let is_wanted = wanted.is_none_or(|wanted| matches!(&key.content, Content::Text(key) if key == wanted));
        let found = || preview(&key.key_text());
        if !sample.require_wrapper_key {
            failures.add(FailureKind::UnexpectedWrapper, "", || {
                format!("expected a bare list, got an object with the key {:?}", found())
            });
        } else if !is_wanted {
            failures.add(FailureKind::WrongWrapperKey, "", || {
                format!("expected the key {:?}, got {:?}", wanted.unwrap_or_default(), found())
            });
        }
        Rc::clone(list)
    }

    fn count(&self, list: &Datum, failures: &mut Failures) {
        let (Content::List(items), Some(count)) = (&list.content, self.sample.top_level_count) else {
            return;
        };
        let (least, most) = match count {
            Count::Exactly(count) => (count, count),
            Count::Between(least, most) => (least, most),
        };
        let found = items.len() as u64;
        if found < least || found > most {
            failures.add(FailureKind::ItemCount, "", || match count {
                Count::Exactly(count) => format!("{found} items, expected {count}"),
                Count::Between(least, most) => format!("{found} items, expected {least} to {most}"),
            });
        }
    }
}
