//! [`Format`]: the parts of a structural tag, as read from its JSON.

use std::sync::Arc;

use crate::{CompileError, CompileErrorKind};

use super::super::grammar::GrammarSyntax;
use super::literal::Literal;
use super::parameters::{Form, Parameters};

/// Number of a format.
pub(super) type FormatId = usize;
/// Number of a text whose grammar is not of structural tags.
pub(super) type ContentId = usize;

/// The unit of which free text is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unit {
    /// Text, and special tokens between its characters.
    Text,
    /// Whole tokens, whatever their bytes.
    Tokens,
}

/// A part of a reply.
#[derive(Clone, Debug)]
pub(super) enum Format {
    /// The parameters of a call, each between marks.
    Parameters(Parameters),
    /// A choice of one of some fixed texts.
    Literals(Vec<Literal>),
    /// A JSON document, or a text that an expression matches.
    Content(ContentId),
    /// Free text, without some texts.
    Free { unit: Unit, excludes: Vec<Literal> },
    /// Any one token but these.
    OneToken { excludes: Vec<Literal> },
    /// Parts in order.
    Sequence(Vec<FormatId>),
    /// A choice of one of some parts.
    Or(Vec<FormatId>),
    /// A part between others.
    Tag(Tag),
    /// Tags within free text, which begin with triggers.
    Triggered {
        unit: Unit,
        triggers: Vec<Literal>,
        tags: Tags,
        excludes: Vec<Literal>,
    },
    /// Tags with a separator between them.
    Separated { tags: Tags, separator: Literal },
    /// A part so many times over, or more.
    Repeat {
        content: FormatId,
        least: u32,
        most: Option<u32>,
    },
    /// Free text in which some texts are followed by formats.
    Dispatch {
        unit: Unit,
        rules: Vec<(Literal, FormatId)>,
        excludes: Vec<Literal>,
        /// Whether free text goes on behind a rule's format.
        repeats: bool,
    },
}

/// A part between a beginning and an end.
#[derive(Clone, Debug)]
pub(super) struct Tag {
    pub(super) begin: Literal,
    pub(super) content: FormatId,
    /// The ends, of which one stands behind the content.
    pub(super) ends: Vec<Literal>,
}

/// Some tags, and how many of them there may be.
#[derive(Clone, Debug)]
pub(super) struct Tags {
    /// The tags, each with the JSON Pointer of its beginning.
    pub(super) tags: Vec<(Tag, String)>,
    pub(super) at_least_one: bool,
    pub(super) stop_after_first: bool,
}

/// The source of a content: a schema, an expression or a grammar.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ContentSource {
    /// A JSON document, by the text of its schema.
    Json {
        schema: String,
        any_order: bool,
        /// The schema of a call's arguments, where it refers to that.
        arguments: Option<Arc<str>>,
        /// Texts that no such document has in it. They have no quotation marks and no backslashes.
        never: &'static [&'static str],
    },
    /// A string as it is, by the text of its schema.
    Text {
        schema: String,
        /// The schema of a call's arguments, where it refers to that.
        arguments: Option<Arc<str>>,
        /// Texts that no such string has in it.
        never: &'static [&'static str],
        /// Texts that no such string is.
        excluded: Vec<String>,
    },
    /// A text that a regular expression matches whole.
    Regex(String),
    /// A text of a grammar.
    Grammar(String, GrammarSyntax),
}

impl ContentSource {
    /// Bytes of the text of the source, without that of a call's arguments, which contents share.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Json { schema: text, .. }
            | Self::Text { schema: text, .. }
            | Self::Regex(text)
            | Self::Grammar(text, _) => text.len(),
        }
    }
}

/// A structural tag.
#[derive(Debug)]
pub(super) struct StructuralTag {
    pub(super) formats: Vec<Format>,
    pub(super) root: FormatId,
    pub(super) contents: Vec<FoundContent>,
}

/// A content of a structural tag.
#[derive(Debug)]
pub(super) struct FoundContent {
    pub(super) source: ContentSource,
    /// The JSON Pointer at which the content was found first.
    pub(super) place: String,
    /// Whether the source is as it stands at this place, so that JSON Pointers into the source go on from there.
    pub(super) is_verbatim: bool,
    /// Whether the content must have a text. Others are one of several forms of a parameter, or the value of an optional parameter.
    pub(super) is_needed: bool,
}

impl StructuralTag {
    /// Removes parts that cannot be written: `numbers` has for each content its new number, or none where no text is one of it.
    ///
    /// # Errors
    ///
    /// [`CompileErrorKind::Unsatisfiable`], where a parameter that is required cannot be written.
    pub(super) fn leave_out(&mut self, numbers: &[Option<ContentId>]) -> Result<(), CompileError> {
        let renumber = |form: &mut Form| {
            form.parts.iter_mut().all(|(content, _)| match numbers[*content] {
                Some(number) => {
                    *content = number;
                    true
                }
                None => false,
            })
        };
        for format in &mut self.formats {
            match format {
                Format::Content(content) => *content = numbers[*content].unwrap_or(*content),
                Format::Parameters(Parameters { declared, others }) => {
                    others.retain_mut(renumber);
                    for parameter in declared.iter_mut() {
                        parameter.forms.retain_mut(renumber);
                        if parameter.forms.is_empty() && parameter.is_required {
                            let message = "a call needs this parameter, and no value of it can be written so that parsers read it back: texts with a mark of \
                                           the tag are left out, and strings that parsers take for values of another type that the schema allows";
                            let error = CompileError::new(CompileErrorKind::Unsatisfiable, message);
                            return Err(error.at(parameter.place.clone()));
                        }
                    }
                    declared.retain(|parameter| !parameter.forms.is_empty());
                }
                _ => {}
            }
        }
        Ok(())
    }
}
