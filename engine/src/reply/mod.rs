//! [`ReplyCompiler`]: token masks of whole replies: data in JSON, in YAML or as text, with the text around the data.
//!
//! `text.rs` has replies that are one string (regular expressions, lists of texts), `yaml.rs` YAML, `tags/` structural tags (tool
//! calls, reasoning, special tokens), and `grammar/` grammars in EBNF and Lark.

mod grammar;
mod masks;
mod subset;
mod tags;
#[cfg(test)]
mod tests;
mod text;
mod threads;
mod write;
mod yaml;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use hashbrown::HashMap;

use crate::mask::ExactOptions;
use crate::mask::cache::bounded::lock;
use crate::mask::compiled_schema::CompiledSchema;
use crate::mask::compiler::EXPRESSIONS;
use crate::mask::index::tokens::TokenIndex;
use crate::mask::masker::StateMasker;
use crate::mask::shared_tokens::SharedTokens;
use crate::mask::tuning::Tuning;
use crate::mask::warm_up::warm_up_vocabulary;
use crate::strings::Languages;
use crate::{CompileError, CompileErrorKind, Escapes, Masker, NumberStyle, Style, Vocabulary, Whitespace};
pub use grammar::GrammarSyntax;
use masks::{ClosingTokens, Reply};
use tags::{SharedContents, TagTokens};
use text::UnlikeTokens;

/// The format in which the data of a reply is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataFormat {
    /// One JSON document, in the style of the options.
    Json,
    /// One YAML document in block style, two spaces a level. Strings stand in double quotes, and names as they are. A list is
    /// empty as `[]`, except where it is the whole document, and no object is empty: such values cannot be written, although the schema may
    /// allow them. The value is the result of PyYAML's `safe_load`. Of the style of the options, all counts but whitespace,
    /// escapes and numbers.
    ///
    /// Schemas are those of closed objects whose names need no quotes: with `properties` and `additionalProperties: false`, `type` or
    /// `enum` at every place, and no keyword beyond those of types, bounds, lengths, `pattern`, `format` and annotations.
    Yaml,
    /// One string as it is, without quotes and escapes: a value of the schema that is a string. Other values that the schema allows cannot
    /// be written. Of the style of the options, the preferences among strings and the bound on their characters count.
    Text,
}

/// The text before and after the data of a reply.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// Text at the beginning of the reply. Before data in YAML, it must be empty or end with a line break.
    pub before: String,
    /// Text at the end of the reply.
    pub after: String,
}

impl Envelope {
    /// Returns an envelope without text: nothing but the data.
    pub fn bare() -> Self {
        let (before, after) = (String::new(), String::new());
        Self { before, after }
    }

    /// A fenced code block of Markdown, with the language it names; of none, where that is empty.
    pub fn fenced(language: &str) -> Self {
        Self {
            before: format!("```{language}\n"),
            after: "\n```".to_owned(),
        }
    }
}

/// The form of a reply: the format of its data, and the text around the data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReplyForm {
    /// The format in which the data is written.
    pub data: DataFormat,
    /// The envelopes, 1 to 64 of them, one of which stands around the data.
    pub envelopes: Vec<Envelope>,
}

impl ReplyForm {
    /// Returns the form of one string as it is, with nothing around it.
    fn bare_text() -> Self {
        Self {
            data: DataFormat::Text,
            envelopes: vec![Envelope::bare()],
        }
    }
}

/// Compiles descriptions of whole replies into masks that allow a token if and only if some reply that meets the description goes on
/// with it.
///
/// A description is a schema with a [`ReplyForm`], a regular expression, a list of texts, a grammar or a structural tag.
pub struct ReplyCompiler {
    vocabulary: Arc<Vocabulary>,
    /// Whether the tokens spell ASCII alone.
    is_ascii: bool,
    /// The options but for `root`.
    options: ExactOptions,
    /// The option `root`: the schema that is meant in the text given to [`compile`](Self::compile), and in no other.
    root: String,
    /// The tokens as each format reads them, sorted when it is first asked for.
    json: OnceLock<Arc<SharedTokens>>,
    /// The languages of strings that all documents in JSON begin with, and the results about them.
    languages: OnceLock<Languages>,
    yaml: OnceLock<Arc<SharedTokens>>,
    text: OnceLock<Arc<SharedTokens>>,
    /// The tokens that are not the same in text as in JSON.
    unlike: OnceLock<Arc<UnlikeTokens>>,
    /// The index of the vocabulary that structural tags need.
    tags: OnceLock<Arc<TagTokens>>,
    /// The contents of the structural tags that are in use.
    contents: SharedContents,
    /// The tokens of text as strings of JSON have them.
    escaped: OnceLock<Arc<SharedTokens>>,
    /// The tokens that may lead from the data into the text after it, by that text.
    tails: Mutex<HashMap<String, Arc<ClosingTokens>>>,
}

impl fmt::Debug for ReplyCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyCompiler")
            .field("vocabulary", &self.vocabulary)
            .field("options", &self.options)
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl ReplyCompiler {
    /// A compiler for a vocabulary. With tokens that spell ASCII alone, replies in JSON escape all other characters, as those of
    /// [`ExactCompiler::new`](crate::ExactCompiler::new) do, and replies in YAML and as text have none that would have to stand as they are.
    /// The option `root` is about the schemas of [`compile`](Self::compile) alone.
    pub fn new(vocabulary: Arc<Vocabulary>, options: ExactOptions) -> Self {
        let mut options = options.for_vocabulary(&vocabulary);
        Self {
            is_ascii: vocabulary.is_ascii(),
            root: std::mem::take(&mut options.schema.root),
            options,
            vocabulary,
            json: OnceLock::new(),
            languages: OnceLock::new(),
            yaml: OnceLock::new(),
            text: OnceLock::new(),
            unlike: OnceLock::new(),
            tags: OnceLock::new(),
            contents: SharedContents::default(),
            escaped: OnceLock::new(),
            tails: Mutex::default(),
        }
    }

    /// Compiles `schema`, the text of a JSON Schema, into a masker at the start of a reply of a form. The first reply in each format
    /// takes a fraction of a second more, in which the tokens are sorted.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where [`ExactCompiler`](crate::ExactCompiler) would refuse the schema; [`CompileErrorKind::Unsupported`] where
    /// [`DataFormat::Yaml`] is not written for schemas of this kind, or where the form has no envelope or more than 64, or one whose text before
    /// data in YAML has no line break at its end, or whose texts no tokens of the vocabulary spell;
    /// [`CompileErrorKind::Unsatisfiable`] where [`DataFormat::Text`] is asked for and no string is valid.
    pub fn compile(&self, schema: &str, form: &ReplyForm) -> Result<Box<dyn Masker>, CompileError> {
        let mut options = match form.data {
            DataFormat::Json | DataFormat::Yaml => self.options.clone(),
            DataFormat::Text => self.text_options(),
        };
        options.schema.root.clone_from(&self.root);
        let (schema, kept) = match form.data {
            DataFormat::Json => (Cow::Borrowed(schema), &self.json),
            DataFormat::Yaml => {
                options.style = Style {
                    whitespace: Whitespace::Compact,
                    escapes: Escapes::Printable,
                    numbers: NumberStyle::Plain,
                    strings: options.style.strings,
                    key_order: options.style.key_order,
                    closed: options.style.closed,
                    all_required: options.style.all_required,
                    bounds: options.style.bounds,
                };
                let schema = subset::of_yaml(schema, &options.schema, self.is_ascii)?;
                (Cow::Owned(schema), &self.yaml)
            }
            DataFormat::Text => (Cow::Borrowed(schema), &self.text),
        };
        if form.envelopes.is_empty() || form.envelopes.len() > MAX_ENVELOPES {
            let message = format!(
                "a reply has one to {MAX_ENVELOPES} envelopes, not {}",
                form.envelopes.len()
            );
            return Err(CompileError::new(CompileErrorKind::Unsupported, message));
        }
        let is_spelled = |text: &str| self.vocabulary.spell(text.as_bytes()).is_some();
        let has_tokens = |envelope: &Envelope| is_spelled(&envelope.before) && is_spelled(&envelope.after);
        if !form.envelopes.iter().all(has_tokens) {
            let message = "the vocabulary has no tokens that spell the text around the data";
            return Err(CompileError::new(CompileErrorKind::Unsupported, message));
        }
        let opens_line = |envelope: &Envelope| envelope.before.is_empty() || envelope.before.ends_with('\n');
        if form.data == DataFormat::Yaml && !form.envelopes.iter().all(opens_line) {
            let message = "the text before data in YAML is empty or ends with a line break";
            return Err(CompileError::new(CompileErrorKind::Unsupported, message));
        }
        let limits = &options.schema.limits;
        let languages = match form.data {
            DataFormat::Json => self.languages().over(limits, EXPRESSIONS),
            DataFormat::Yaml | DataFormat::Text => Languages::within(limits),
        };
        self.masker(&schema, form, &options, (languages, kept))
    }

    /// A masker at the start of a reply of a form, in which strings are of some languages and others.
    fn masker(
        &self,
        schema: &str,
        form: &ReplyForm,
        options: &ExactOptions,
        (languages, kept): (Languages, &OnceLock<Arc<SharedTokens>>),
    ) -> Result<Box<dyn Masker>, CompileError> {
        let (mut automaton, mut start) = options.automaton(schema, languages)?;
        let mut unlike = None;
        if form.data == DataFormat::Text {
            start = text::begin(&mut automaton, start, self.is_ascii)?.ok_or_else(|| {
                let message = "no string that tokens can spell is valid under this schema, and a reply in text is one";
                automaton
                    .schema()
                    .error_at_root(CompileErrorKind::Unsatisfiable, message)
            })?;
            unlike = Some(self.unlike_tokens());
        }
        let shared = CompiledSchema::new(self.vocabulary.clone(), self.sorted(kept, options.style), automaton);
        let tails = form.envelopes.iter().map(|envelope| self.tails(&envelope.after));
        let reply = Reply::new(shared, form.clone(), tails.collect(), unlike, start);
        let start = reply.start();
        Ok(Box::new(StateMasker::new(reply, start)))
    }

    /// Compiles a regular expression into a masker of the texts that it matches whole. The dialect is that of the keyword `pattern` under the
    /// options: ECMA-262, Rust or Python, as [`PatternSyntax`](crate::PatternSyntax) says. Of the options' style, the preferences among
    /// strings and the bound on their characters count, as for [`DataFormat::Text`].
    ///
    /// # Errors
    ///
    /// [`CompileErrorKind::Malformed`] and [`CompileErrorKind::Unsupported`] with the expression and the byte at fault, or as
    /// [`compile`](Self::compile).
    pub fn compile_regex(&self, pattern: &str) -> Result<Box<dyn Masker>, CompileError> {
        let compiled = self.compile_text(&text::schema_of_pattern(pattern, &self.options)?);
        compiled.map_err(|error| text::error_of_pattern(error, pattern))
    }

    /// Compiles texts into a masker of replies that are one of them. Texts that no tokens spell are left out.
    ///
    /// # Errors
    ///
    /// [`CompileErrorKind::Unsatisfiable`], where there is none, or as [`compile`](Self::compile).
    pub fn compile_choice<'a>(
        &self,
        choices: impl IntoIterator<Item = &'a str>,
    ) -> Result<Box<dyn Masker>, CompileError> {
        let mut choices = choices.into_iter().peekable();
        let is_empty = choices.peek().is_none();
        let mut spelled = choices
            .filter(|choice| self.vocabulary.spell(choice.as_bytes()).is_some())
            .peekable();
        if spelled.peek().is_none() {
            let message = match is_empty {
                true => "no choices are given: give at least one text",
                false => "no tokens spell any of the choices",
            };
            return Err(CompileError::new(CompileErrorKind::Unsatisfiable, message));
        }
        self.compile_text(&text::schema_of_choice(spelled))
    }

    /// Compiles a context-free grammar into a masker of its texts, as UTF-8. The options' style has no effect.
    ///
    /// Rules may be nested in themselves where each byte of a reply determines the rule that it belongs to, as in grammars of
    /// JSON, expressions or programs. Left recursion (`sum: sum "+" term | term`) and alternatives with a common beginning are allowed.
    /// Grammars are refused whose replies would need an unbounded number of parses at once, such as that of palindromes.
    ///
    /// # Errors
    ///
    /// [`CompileErrorKind::Malformed`], with line and column, where the text is no grammar, names a rule that it does not define,
    /// or has no root rule; [`CompileErrorKind::Unsupported`] for syntax that [`GrammarSyntax`] names as not read, and, with the
    /// rule and its conflicting parts, where a byte does not determine the rule that it belongs to; [`CompileErrorKind::Unsatisfiable`]
    /// where the grammar has no text; [`CompileErrorKind::LimitExceeded`] where it is too large.
    pub fn compile_grammar(&self, grammar: &str, syntax: GrammarSyntax) -> Result<Box<dyn Masker>, CompileError> {
        grammar::compile(self, grammar, syntax)
    }

    /// Compiles a structural tag into a masker of the replies that it describes: the JSON of XGrammar's `StructuralTag` as servers write it for
    /// tools and reasoning, with `format` or, in its older form, `structures` and `triggers`.
    ///
    /// A schema, expression or grammar that a tag has in common with another one of this compiler that is still in use is not compiled again,
    /// and its masks are shared. Both report its memory, threads that use either wait while a new mask of it is worked out for the
    /// other, and a limit that is reached in it is reached in both.
    ///
    /// JSON documents in a structural tag are in the options' style, and their masks are exact. Beside the formats that XGrammar documents,
    /// `{"type": "choice", "choices": [TEXT, …]}` is one of some texts. Fixed texts name special tokens: `<|call|>` in one is the token of that
    /// name, where the vocabulary has it. Free text within a tag never contains the tag's end. Look-around, anchors and word boundaries in a
    /// `regex` see the content alone, as if no text stood before or behind it.
    ///
    /// Content in the styles `qwen_xml`, `minimax_xml`, `glm_xml`, `deepseek_xml` and `deepseek_v4_1_xml` is the parameters of a
    /// call: those of `properties`, `required` and `additionalProperties`, in their order, with values of their schemas. Strings
    /// stand as they are, other values as JSON, and both without the marks at which parsers take a value to end. In JSON a mark is
    /// written with an escape where the style has all of them ([`Escapes::Any`]); in other styles, values with strings or keys that
    /// have a mark are left out.
    ///
    /// Where a schema allows strings and other types, servers' parsers try the other types first, those that `type`, `enum`, `const`, `anyOf`,
    /// `oneOf` and `allOf` name. A string that they would take for another value is left out: `5` beside integers, and beside arrays
    /// or objects all that is JSON and all between brackets or braces. In DeepSeek's styles, which say whether a value is a string, no string is left out.
    ///
    /// # Errors
    ///
    /// [`CompileErrorKind::Malformed`] where the text is no structural tag or names a token that the vocabulary lacks;
    /// [`CompileErrorKind::Unsupported`] for the format `grammar` where a rule of it is nested in itself, styles of content that
    /// are not named here, other keywords on the object of arguments in a style that is not `json`, limits on the tokens or
    /// characters of a part, members that are not known, fixed texts that the vocabulary cannot spell, and documents that can
    /// begin at one byte after another while the part before them, such as free text, goes on; [`CompileErrorKind::LimitExceeded`]
    /// where the tag is too large, or a text in it has too many states to tell whether it can begin so; [`CompileErrorKind::Unsatisfiable`] and the other kinds where a schema or expression in it cannot
    /// be compiled. Each error has a JSON Pointer into the structural tag.
    pub fn compile_structural_tag(&self, tag: &str) -> Result<Box<dyn Masker>, CompileError> {
        tags::compile(self, tag)
    }

    /// The options with which text is read as strings of JSON.
    fn text_options(&self) -> ExactOptions {
        let mut options = self.options.clone();
        options.style.whitespace = Whitespace::Compact;
        options.style.escapes = Escapes::Needed;
        options
    }

    /// The vocabulary's tokens as a format reads them.
    fn sorted(&self, kept: &OnceLock<Arc<SharedTokens>>, style: Style) -> Arc<SharedTokens> {
        let sort = || Arc::new(SharedTokens::new(&self.vocabulary, style, Tuning::default()));
        kept.get_or_init(sort).clone()
    }

    fn json_tokens(&self) -> Arc<SharedTokens> {
        self.sorted(&self.json, self.options.style)
    }

    /// Returns the languages that documents in JSON begin with. The parts that all documents share are worked out when the
    /// languages are first asked for.
    fn languages(&self) -> &Languages {
        let look = || warm_up_vocabulary(&self.vocabulary, &self.json_tokens(), &self.options).share();
        self.languages.get_or_init(look)
    }

    /// Returns the tokens of text, each as it stands in a string of JSON.
    fn escaped_tokens(&self) -> Arc<SharedTokens> {
        let sort = || {
            let (style, tuning) = (self.text_options().style, Tuning::default());
            let index = TokenIndex::spelled(&self.vocabulary, style, tuning, &text::escaped_all);
            Arc::new(SharedTokens::of(index))
        };
        self.escaped.get_or_init(sort).clone()
    }

    fn unlike_tokens(&self) -> Arc<UnlikeTokens> {
        let all = || Arc::new(UnlikeTokens::new(&self.vocabulary));
        self.unlike.get_or_init(all).clone()
    }

    fn tag_tokens(&self) -> Arc<TagTokens> {
        let sort = || Arc::new(TagTokens::new(&self.vocabulary, &self.json_tokens().index));
        self.tags.get_or_init(sort).clone()
    }

    /// Compiles a schema into a masker of replies that are one of its strings, as it is.
    fn compile_text(&self, schema: &str) -> Result<Box<dyn Masker>, CompileError> {
        let options = self.text_options();
        let languages = Languages::within(&options.schema.limits);
        self.masker(schema, &ReplyForm::bare_text(), &options, (languages, &self.text))
    }

    fn tails(&self, after: &str) -> Arc<ClosingTokens> {
        let mut known = lock(&self.tails);
        if let Some(known) = known.get(after) {
            return known.clone();
        }
        let tails = Arc::new(ClosingTokens::new(&self.vocabulary, after));
        if known.len() >= MAX_ENVELOPES {
            known.clear();
        }
        known.insert(after.to_owned(), tails.clone());
        tails
    }
}

/// Envelopes of one form.
const MAX_ENVELOPES: usize = 64;
