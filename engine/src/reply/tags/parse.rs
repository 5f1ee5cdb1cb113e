//! Parses the JSON of a structural tag: the format with `format`, and the older one with `structures` and `triggers`.

use hashbrown::HashMap;

use crate::json::{Content, Document, NodeIndex};
use crate::{CompileError, CompileErrorKind, Limits, Vocabulary};

use super::super::grammar::GrammarSyntax;
use super::format::{ContentId, ContentSource, Format, FormatId, FoundContent, StructuralTag, Tag, Tags, Unit};
use super::literal::Literal;
use super::members::Members;
use super::parameters;
use super::tokens::TagTokens;

/// Number of formats of one structural tag.
const MAX_FORMATS: usize = 1 << 16;
/// Number of different schemas, expressions and grammars of one structural tag, each of which is compiled by itself: 500 tools with 20
/// parameters each, in three forms, have 30,000.
const MAX_CONTENTS: usize = 1 << 15;

/// The formats that are read, for messages.
const FORMATS: &str = "const_string, json_schema, regex, grammar, choice, any_text, sequence, or, optional, plus, star, repeat, tag, triggered_tags, \
    tags_with_separator, dispatch, token, exclude_token, any_tokens, token_triggered_tags and token_dispatch";

/// The styles of content, for messages.
const STYLES: &str = "json, qwen_xml, minimax_xml, glm_xml, deepseek_xml and deepseek_v4_1_xml";

/// Reads a structural tag.
///
/// # Errors
///
/// [`CompileErrorKind::Malformed`], [`CompileErrorKind::Unsupported`] or [`CompileErrorKind::LimitExceeded`], with the place.
pub(super) fn parse(
    text: &str,
    vocabulary: &Vocabulary,
    tokens: &TagTokens,
    (limits, is_closed): (&Limits, bool),
) -> Result<StructuralTag, CompileError> {
    let document = Document::parse(text, limits)?;
    let mut parser = Parser {
        members: Members {
            document: &document,
            vocabulary,
            names: &tokens.names,
            bytes: &tokens.bytes,
        },
        limits,
        is_closed,
        formats: Vec::new(),
        contents: Vec::new(),
        known: HashMap::new(),
        referred_bytes: 0,
        open: Vec::new(),
    };
    let root = parser.root()?;
    while let Some((node, format)) = parser.open.pop() {
        parser.formats[format] = parser.format(node)?;
    }
    Ok(StructuralTag {
        formats: parser.formats,
        root,
        contents: parser.contents,
    })
}

pub(super) struct Parser<'a> {
    pub(super) members: Members<'a>,
    pub(super) limits: &'a Limits,
    /// Whether objects that do not say so have no further members.
    pub(super) is_closed: bool,
    formats: Vec<Format>,
    contents: Vec<FoundContent>,
    known: HashMap<ContentSource, ContentId>,
    /// Bytes of the schemas of arguments that contents refer to, counted with each form of a parameter that does.
    pub(super) referred_bytes: usize,
    /// Formats that are still to be read.
    open: Vec<(NodeIndex, FormatId)>,
}

impl<'a> Parser<'a> {
    /// A format that is read later.
    fn later(&mut self, node: NodeIndex) -> Result<FormatId, CompileError> {
        if self.formats.len() >= MAX_FORMATS {
            let message = format!("more than {MAX_FORMATS} formats in one structural tag");
            return Err(self.members.error(CompileErrorKind::LimitExceeded, node, message));
        }
        let id = self.formats.len();
        self.formats.push(Format::Sequence(Vec::new()));
        self.open.push((node, id));
        Ok(id)
    }

    fn all_later(&mut self, nodes: Vec<NodeIndex>) -> Result<Vec<FormatId>, CompileError> {
        nodes.into_iter().map(|node| self.later(node)).collect()
    }

    /// The number of a content.
    ///
    /// # Errors
    ///
    /// [`CompileErrorKind::LimitExceeded`], where there are too many.
    pub(super) fn content(&mut self, found: FoundContent) -> Result<ContentId, CompileError> {
        if let Some(known) = self.known.get(&found.source) {
            self.contents[*known].is_needed |= found.is_needed;
            return Ok(*known);
        }
        if self.contents.len() >= MAX_CONTENTS {
            let message = format!(
                "more than {MAX_CONTENTS} schemas, expressions and grammars in one structural tag: give fewer tools"
            );
            return Err(CompileError::new(CompileErrorKind::LimitExceeded, message).at(found.place));
        }
        let id = self.contents.len();
        self.known.insert(found.source.clone(), id);
        self.contents.push(found);
        Ok(id)
    }

    /// The format that is a content, whose source stands at a node.
    fn content_at(&mut self, node: NodeIndex, source: ContentSource) -> Result<Format, CompileError> {
        let content = self.content(FoundContent {
            source,
            place: self.members.document.pointer(node),
            is_verbatim: true,
            is_needed: true,
        })?;
        Ok(Format::Content(content))
    }

    fn root(&mut self) -> Result<FormatId, CompileError> {
        let object = |name| self.members.document.member(0, name);
        if let Some(kind) = object("type")
            && self.members.string(kind)? != "structural_tag"
        {
            return Err(self
                .members
                .malformed(kind, "the type of a structural tag is `structural_tag`"));
        }
        if object("structures").is_none() {
            self.members.only(0, &["type", "format"])?;
            let format = self.members.needed(0, "format")?;
            return self.later(format);
        }
        self.members
            .only(0, &["type", "structures", "triggers", "at_least_one"])?;
        let mut tags = Vec::new();
        for node in self.members.some_items(self.members.needed(0, "structures")?)? {
            self.members.only(node, &["begin", "schema", "end"])?;
            let begin = self.members.needed(node, "begin")?;
            let content = match self.members.document.member(node, "schema") {
                Some(schema) if self.members.document.content(schema) != Content::Null => self.schema(schema, false)?,
                // SGLang, whose notation this is, takes a schema that is missing or null as one that allows every value.
                _ => self.json(node, "true".to_owned(), false)?,
            };
            let content = self.format_of(content);
            let ends = vec![self.members.text(self.members.needed(node, "end")?)?];
            let tag = Tag {
                begin: self.members.text(begin)?,
                content,
                ends,
            };
            tags.push((tag, self.members.document.pointer(begin)));
        }
        let triggers = self.members.some_items(self.members.needed(0, "triggers")?)?;
        let triggers = triggers.into_iter().map(|trigger| self.members.some_text(trigger));
        let format = Format::Triggered {
            unit: Unit::Text,
            triggers: triggers.collect::<Result<_, _>>()?,
            tags: Tags {
                tags,
                at_least_one: self.members.flag(0, "at_least_one", false)?,
                stop_after_first: false,
            },
            excludes: Vec::new(),
        };
        Ok(self.format_of(format))
    }

    fn format_of(&mut self, format: Format) -> FormatId {
        self.formats.push(format);
        self.formats.len() - 1
    }

    /// The text of a schema.
    pub(super) fn schema_text(&self, schema: NodeIndex) -> Result<String, CompileError> {
        match self.members.document.content(schema) {
            // A schema may be given as its text.
            Content::String(text) => Ok(text.to_owned()),
            Content::Object(_) | Content::Bool(_) => {
                Ok(self.members.document.compact(schema, usize::MAX).unwrap_or_default())
            }
            other => {
                let message = format!("a schema is needed here, not {}", other.describe());
                Err(self.members.malformed(schema, message))
            }
        }
    }

    fn schema(&mut self, schema: NodeIndex, any_order: bool) -> Result<Format, CompileError> {
        let text = self.schema_text(schema)?;
        self.json(schema, text, any_order)
    }

    /// A JSON document by the text of its schema, which stands at a node.
    fn json(&mut self, node: NodeIndex, schema: String, any_order: bool) -> Result<Format, CompileError> {
        let source = ContentSource::Json {
            schema,
            any_order,
            arguments: None,
            never: &[],
        };
        self.content_at(node, source)
    }

    fn format(&mut self, node: NodeIndex) -> Result<Format, CompileError> {
        if !self.members.document.is_object(node) {
            let found = self.members.document.content(node).describe();
            return Err(self
                .members
                .malformed(node, format!("a format is an object, not {found}")));
        }
        let kind = self.members.needed(node, "type")?;
        match self.members.string(kind)? {
            "const_string" => {
                self.members.only(node, &["type", "value"])?;
                Ok(Format::Literals(vec![
                    self.members.text(self.members.needed(node, "value")?)?,
                ]))
            }
            "choice" => {
                self.members.only(node, &["type", "choices"])?;
                let choices = self.members.some_items(self.members.needed(node, "choices")?)?;
                let choices = choices.into_iter().map(|choice| self.members.text(choice));
                Ok(Format::Literals(choices.collect::<Result<_, _>>()?))
            }
            "json_schema" => self.json_schema(node),
            "regex" => {
                self.members.only(node, &["type", "pattern"])?;
                let pattern = self.members.needed(node, "pattern")?;
                let source = ContentSource::Regex(self.members.string(pattern)?.to_owned());
                self.content_at(pattern, source)
            }
            "any_text" => {
                self.members
                    .only(node, &["type", "excludes", "max_tokens", "max_chars"])?;
                self.members.no_limit(node, "max_tokens")?;
                self.members.no_limit(node, "max_chars")?;
                let excludes = self.members.texts(node, "excludes")?;
                Ok(Format::Free {
                    unit: Unit::Text,
                    excludes,
                })
            }
            "any_tokens" => {
                self.members.only(node, &["type", "exclude_tokens", "max_tokens"])?;
                self.members.no_limit(node, "max_tokens")?;
                let excludes = self.members.tokens(node, "exclude_tokens")?;
                Ok(Format::Free {
                    unit: Unit::Tokens,
                    excludes,
                })
            }
            "exclude_token" => {
                self.members.only(node, &["type", "exclude_tokens"])?;
                let excludes = self.members.tokens(node, "exclude_tokens")?;
                Ok(Format::OneToken { excludes })
            }
            "token" => Ok(Format::Literals(vec![self.token_format(node)?])),
            "sequence" => {
                self.members.only(node, &["type", "elements"])?;
                let elements = self.members.some_items(self.members.needed(node, "elements")?)?;
                Ok(Format::Sequence(self.all_later(elements)?))
            }
            "or" => {
                self.members.only(node, &["type", "elements"])?;
                let elements = self.members.some_items(self.members.needed(node, "elements")?)?;
                Ok(Format::Or(self.all_later(elements)?))
            }
            "optional" => self.repeated(node, 0, Some(1)),
            "plus" => self.repeated(node, 1, None),
            "star" => self.repeated(node, 0, None),
            "repeat" => self.repeat(node),
            "tag" => Ok(Format::Tag(self.tag(node)?.0)),
            "triggered_tags" => self.triggered(node, Unit::Text),
            "token_triggered_tags" => self.triggered(node, Unit::Tokens),
            "tags_with_separator" => {
                self.members
                    .only(node, &["type", "tags", "separator", "at_least_one", "stop_after_first"])?;
                let separator = self.members.text(self.members.needed(node, "separator")?)?;
                let tags = self.tags(node)?;
                Ok(Format::Separated { tags, separator })
            }
            "dispatch" => self.dispatch(node, Unit::Text),
            "token_dispatch" => self.dispatch(node, Unit::Tokens),
            "grammar" => {
                self.members.only(node, &["type", "grammar", "syntax"])?;
                let grammar = self.members.needed(node, "grammar")?;
                let text = self.members.string(grammar)?.to_owned();
                let syntax = match self.members.document.member(node, "syntax") {
                    None => GrammarSyntax::Ebnf,
                    Some(name) => match self.members.string(name)? {
                        "ebnf" => GrammarSyntax::Ebnf,
                        "lark" => GrammarSyntax::Lark,
                        _ => {
                            return Err(self
                                .members
                                .unsupported(name, "a grammar's `syntax` is `ebnf` or `lark`"));
                        }
                    },
                };
                self.content_at(grammar, ContentSource::Grammar(text, syntax))
            }
            "qwen_xml_parameter" => {
                self.members.only(node, &["type", "json_schema"])?;
                self.styled(node, kind, "qwen_xml")
            }
            other => {
                let message = format!("`{other}` is no format of structural tags: these are {FORMATS}");
                Err(self.members.malformed(kind, message))
            }
        }
    }

    /// The parameters of a call in a style that is not JSON.
    fn styled(&mut self, node: NodeIndex, at: NodeIndex, style: &str) -> Result<Format, CompileError> {
        let Some(style) = parameters::of_name(style) else {
            let message = format!("content in the style `{style}` is not treated: these are {STYLES}");
            return Err(self.members.unsupported(at, message));
        };
        let schema = self.members.needed(node, "json_schema")?;
        Ok(Format::Parameters(self.parameters(schema, style)?))
    }

    fn json_schema(&mut self, node: NodeIndex) -> Result<Format, CompileError> {
        let members = [
            "type",
            "json_schema",
            "style",
            "any_order",
            "max_whitespace_cnt",
            "excludes",
        ];
        self.members.only(node, &members)?;
        self.members.no_limit(node, "max_whitespace_cnt")?;
        if let Some(excludes) = self.members.document.member(node, "excludes")
            && !self.members.items(excludes)?.is_empty()
        {
            let message = "`excludes` of a JSON Schema are not treated: leave them out, or use `pattern` in the schema";
            return Err(self.members.unsupported(excludes, message));
        }
        let any_order = self.members.flag(node, "any_order", false)?;
        if let Some(style) = self.members.document.member(node, "style")
            && self.members.string(style)? != "json"
        {
            if any_order && let Some(any_order) = self.members.document.member(node, "any_order") {
                let message = "`any_order` is treated in the style `json` alone: leave it out";
                return Err(self.members.unsupported(any_order, message));
            }
            return self.styled(node, style, self.members.string(style)?);
        }
        let schema = self.members.needed(node, "json_schema")?;
        self.schema(schema, any_order)
    }

    fn token_format(&self, node: NodeIndex) -> Result<Literal, CompileError> {
        self.members.only(node, &["type", "token"])?;
        self.members.token(self.members.needed(node, "token")?)
    }

    fn repeated(&mut self, node: NodeIndex, least: u32, most: Option<u32>) -> Result<Format, CompileError> {
        self.members.only(node, &["type", "content"])?;
        let content = self.members.needed(node, "content")?;
        let content = self.later(content)?;
        Ok(Format::Repeat { content, least, most })
    }

    fn repeat(&mut self, node: NodeIndex) -> Result<Format, CompileError> {
        self.members.only(node, &["type", "min", "max", "content"])?;
        let number = |name| -> Result<(NodeIndex, i64), CompileError> {
            let node = self.members.needed(node, name)?;
            let number = match self.members.document.content(node) {
                Content::Number(digits) => digits.parse().ok(),
                _ => None,
            };
            let number = number.ok_or_else(|| self.members.malformed(node, "a whole number is needed here"))?;
            Ok((node, number))
        };
        let ((at_least, least), (at_most, most)) = (number("min")?, number("max")?);
        let count = |node, number: i64| {
            let number = u32::try_from(number);
            number.map_err(|_| {
                self.members
                    .malformed(node, "the number of repetitions is from 0 to 4,294,967,295")
            })
        };
        let least = count(at_least, least)?;
        let most = match most {
            -1 => None,
            most => Some(count(at_most, most)?),
        };
        if most.is_some_and(|most| most < least) {
            return Err(self.members.malformed(at_most, "`max` is less than `min`"));
        }
        let content = self.members.needed(node, "content")?;
        let content = self.later(content)?;
        Ok(Format::Repeat { content, least, most })
    }

    /// A tag, and where its beginning stands.
    fn tag(&mut self, node: NodeIndex) -> Result<(Tag, NodeIndex), CompileError> {
        self.members.only(node, &["type", "begin", "content", "end"])?;
        if let Some(kind) = self.members.document.member(node, "type")
            && self.members.string(kind)? != "tag"
        {
            return Err(self.members.malformed(kind, "a `tag` is needed here"));
        }
        let at = self.members.needed(node, "begin")?;
        let begin = match self.members.document.is_object(at) {
            true => self.token_format(at)?,
            false => self.members.text(at)?,
        };
        let end = self.members.needed(node, "end")?;
        let ends = match self.members.document.content(end) {
            Content::Object(_) => vec![self.token_format(end)?],
            Content::Array(_) => {
                let ends = self
                    .members
                    .some_items(end)?
                    .into_iter()
                    .map(|end| self.members.text(end));
                ends.collect::<Result<_, _>>()?
            }
            _ => vec![self.members.text(end)?],
        };
        let content = self.members.needed(node, "content")?;
        let content = self.later(content)?;
        Ok((Tag { begin, content, ends }, at))
    }

    fn tags(&mut self, node: NodeIndex) -> Result<Tags, CompileError> {
        let mut tags = Vec::new();
        for node in self.members.some_items(self.members.needed(node, "tags")?)? {
            let (tag, begin) = self.tag(node)?;
            tags.push((tag, self.members.document.pointer(begin)));
        }
        Ok(Tags {
            tags,
            at_least_one: self.members.flag(node, "at_least_one", false)?,
            stop_after_first: self.members.flag(node, "stop_after_first", false)?,
        })
    }

    fn triggered(&mut self, node: NodeIndex, unit: Unit) -> Result<Format, CompileError> {
        let (triggers, excludes) = match unit {
            Unit::Text => ("triggers", "excludes"),
            Unit::Tokens => ("trigger_tokens", "exclude_tokens"),
        };
        self.members.only(
            node,
            &["type", triggers, excludes, "tags", "at_least_one", "stop_after_first"],
        )?;
        let triggers = self.members.some_items(self.members.needed(node, triggers)?)?;
        let triggers = triggers.into_iter().map(|trigger| match unit {
            Unit::Text => self.members.some_text(trigger),
            Unit::Tokens => self.members.token(trigger),
        });
        let triggers = triggers.collect::<Result<_, _>>()?;
        let excludes = match unit {
            Unit::Text => self.members.texts(node, excludes)?,
            Unit::Tokens => self.members.tokens(node, excludes)?,
        };
        let tags = self.tags(node)?;
        Ok(Format::Triggered {
            unit,
            triggers,
            tags,
            excludes,
        })
    }

    fn dispatch(&mut self, node: NodeIndex, unit: Unit) -> Result<Format, CompileError> {
        let excludes = match unit {
            Unit::Text => "excludes",
            Unit::Tokens => "exclude_tokens",
        };
        self.members.only(node, &["type", "rules", "loop", excludes])?;
        let mut rules = Vec::new();
        for rule in self.members.some_items(self.members.needed(node, "rules")?)? {
            let &[pattern, format] = &self.members.items(rule)?[..] else {
                return Err(self
                    .members
                    .malformed(rule, "a rule is an array of a pattern and a format"));
            };
            let pattern = match unit {
                Unit::Text => self.members.some_text(pattern)?,
                Unit::Tokens => self.members.token(pattern)?,
            };
            rules.push((pattern, self.later(format)?));
        }
        let excludes = match unit {
            Unit::Text => self.members.texts(node, excludes)?,
            Unit::Tokens => self.members.tokens(node, excludes)?,
        };
        let repeats = self.members.flag(node, "loop", true)?;
        Ok(Format::Dispatch {
            unit,
            rules,
            excludes,
            repeats,
        })
    }
}
