//! [`ChatTemplate`]: messages to prompt text, as Hugging Face transformers renders its Jinja templates.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use maskwright_json_text::Style;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State};
use serde_json::Value as Json;

use crate::error::ModelError;
use crate::load::disk::read_file;
use crate::load::file_names::{TEMPLATE_JINJA, TEMPLATE_JSON, TEMPLATE_TOOL_USE, TOKENIZER_CONFIG};
use crate::load::files::ModelFiles;
use crate::load::json_fields::JsonFields;
use crate::load::tokenizer_config::TokenizerConfig;
use crate::prompt::python_text::{python_str, to_json_value};
use crate::prompt::watched::{Bounds, watched};

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Message {
    /// The speaker: `system`, `user` or `assistant`.
    pub role: String,
    /// The text.
    pub content: String,
}

impl Message {
    /// A message of `role`.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            role: role.into(),
            content: content.into(),
        }
    }

    /// Instructions to the model.
    pub fn system(content: impl Into<String>) -> Self {
        Self::new("system", content)
    }

    /// A question or task.
    pub fn user(content: impl Into<String>) -> Self {
        Self::new("user", content)
    }

    /// An answer of the model, as in few-shot examples.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new("assistant", content)
    }
}

/// Steps a template may take: hundreds of times what a long conversation needs, and over within seconds. A step nests a value by one level
/// at most, and the stack on which values are dropped holds as many levels.
const MAX_TEMPLATE_STEPS: u64 = 1_000_000;

/// Largest indentation that `tojson` gives, in spaces a level; templates are untrusted, and levels multiply it.
const WIDEST_INDENT: usize = 64;

/// Longest template that is read, in bytes.
const MAX_TEMPLATE_BYTES: usize = 1 << 20;

/// Longest prompt that a template may write, in bytes: tokenising one takes a hundred times its size in memory.
const MAX_PROMPT_BYTES: usize = 8 << 20;

/// Bounds of memory and time for writing a prompt. A limit on steps does not bound them: a text that is doubled in each step
/// takes all memory after 40, and one of megabytes that is copied in each takes hours.
const BOUNDS: Bounds = Bounds {
    memory_mib: 512,
    time: Duration::from_secs(20),
};

/// The variables by which templates are told whether the model is to think before it answers: Qwen3, SmolLM3 and GLM have the
/// first, Granite and DeepSeek the second.
const THINKING_SWITCHES: [&str; 2] = ["enable_thinking", "thinking"];

/// The variable that sets how much gpt-oss thinks; it has no value for not thinking at all.
const REASONING_EFFORT: &str = "reasoning_effort";

/// The value of [`REASONING_EFFORT`] for the least thinking.
const LEAST_EFFORT: &str = "low";

/// The variable by which templates are given tools.
pub(crate) const TOOLS: &str = "tools";

/// The beginning of an error that a template raises itself.
const REFUSES: &str = "the template refuses";

/// The name of the template within its environment.
const NAME: &str = "chat_template";

/// The name of the template for prompts with tools, in files with several templates and within its environment.
const TOOL_USE: &str = "tool_use";

/// A chat template, parsed, with the one for prompts with tools where that is another.
pub struct ChatTemplate {
    environment: Arc<Environment<'static>>,
    /// The name of the template's file in error messages.
    file: String,
    /// The template as it was read.
    text: String,
    /// The template for prompts with tools as it was read, where there is one of its own.
    tool_text: Option<String>,
    special_tokens: Vec<(String, String)>,
}

impl std::fmt::Debug for ChatTemplate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatTemplate")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl ChatTemplate {
    /// The template in chat_template.jinja, chat_template.json or tokenizer_config.json, the first there is. One for tools may be in a file
    /// of its own, where `transformers` writes it, or beside the other one.
    ///
    /// `clock` is the time that `strftime_now` sees; `None` for the local time.
    pub(crate) fn read(
        files: &ModelFiles,
        config: &TokenizerConfig,
        clock: Option<jiff::civil::DateTime>,
    ) -> Result<Option<Self>, ModelError> {
        let (file, written) = Self::written(files, config)?;
        let Some(text) = default_template(&written) else {
            return Ok(None);
        };
        let tool_text = tool_template(files, &written);
        let special_tokens = config.special_tokens.clone();
        Self::parse_all(files.label(file), &text, tool_text.as_deref(), special_tokens, clock).map(Some)
    }

    /// The texts of the templates that [`read`](Self::read) parses: that for prompts without tools, and that with tools where there is another.
    pub(crate) fn texts(
        files: &ModelFiles,
        config: &TokenizerConfig,
    ) -> Result<Option<(String, Option<String>)>, ModelError> {
        let (_, written) = Self::written(files, config)?;
        let tool_text = tool_template(files, &written).map(Cow::into_owned);
        Ok(default_template(&written).map(|text| (text, tool_text)))
    }

    /// Returns the name of the first file that the model has for a chat template, and the value of `chat_template` in it: one template as a text,
    /// several with names as a list or an object, or `null`.
    fn written(files: &ModelFiles, config: &TokenizerConfig) -> Result<(&'static str, Json), ModelError> {
        if let Some(bytes) = files.get(TEMPLATE_JINJA) {
            return Ok((TEMPLATE_JINJA, String::from_utf8_lossy(bytes).into()));
        }
        if let Some(bytes) = files.get(TEMPLATE_JSON) {
            let mut fields = JsonFields::parse(&files.label(TEMPLATE_JSON), bytes)?.into_map();
            return Ok((TEMPLATE_JSON, fields.remove("chat_template").unwrap_or_default()));
        }
        Ok((TOKENIZER_CONFIG, config.chat_template.clone().unwrap_or_default()))
    }

    /// Parses `text`, from the file of that name. `special_tokens` are variables of the template, such as `bos_token`; `clock` is
    /// the time that `strftime_now` sees, `None` for the local time.
    ///
    /// # Errors
    ///
    /// [`ModelError::ChatTemplate`], with the place where it does not parse.
    pub fn parse(
        file: String,
        text: &str,
        special_tokens: Vec<(String, String)>,
        clock: Option<jiff::civil::DateTime>,
    ) -> Result<Self, ModelError> {
        Self::parse_all(file, text, None, special_tokens, clock)
    }

    /// Parses `text`, and `tool_text` for prompts with tools, as [`parse`](Self::parse) does.
    fn parse_all(
        file: String,
        text: &str,
        tool_text: Option<&str>,
        special_tokens: Vec<(String, String)>,
        clock: Option<jiff::civil::DateTime>,
    ) -> Result<Self, ModelError> {
        let failed = |message: String| ModelError::ChatTemplate {
            file: file.clone(),
            message,
        };
        let texts = [(NAME, Some(text)), (TOOL_USE, tool_text)];
        let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text?)));
        let longest = texts.clone().map(|(_, text)| text.len()).max().unwrap_or(0);
        if longest > MAX_TEMPLATE_BYTES {
            let message = format!("{longest} bytes, over the limit of {MAX_TEMPLATE_BYTES}");
            return Err(failed(message));
        }
        let parsed = environment(clock).and_then(|mut environment| {
            for (name, text) in texts {
                environment.add_template_owned(name, generation_tags_as_conditions(text))?;
            }
            Ok(environment)
        });
        let environment = parsed.map_err(|error| failed(describe(&error)))?;
        Ok(Self {
            environment: Arc::new(environment),
            file,
            text: text.to_owned(),
            tool_text: tool_text.map(str::to_owned),
            special_tokens,
        })
    }

    /// The template in the file at `path`.
    pub(crate) fn read_file(
        path: &Path,
        config: &TokenizerConfig,
        clock: Option<jiff::civil::DateTime>,
    ) -> Result<Self, ModelError> {
        let bytes = read_file(path, MAX_TEMPLATE_BYTES as u64)?;
        let file = path.display().to_string();
        let text = String::from_utf8(bytes).map_err(|_| ModelError::ChatTemplate {
            file: file.clone(),
            message: "not UTF-8: expected a Jinja template, such as a model's chat_template.jinja".to_owned(),
        })?;
        Self::parse(file, &text, config.special_tokens.clone(), clock)
    }

    /// The template as it was read.
    pub(crate) fn source(&self) -> &str {
        &self.text
    }

    /// The template for prompts with tools as it was read.
    pub(crate) fn source_for_tools(&self) -> &str {
        self.tool_text.as_ref().unwrap_or(&self.text)
    }

    /// The name of the template within its environment for prompts with tools, or without.
    fn template_name(&self, has_tools: bool) -> &'static str {
        match self.tool_text {
            Some(_) if has_tools => TOOL_USE,
            _ => NAME,
        }
    }

    /// Whether the template for prompts with tools looks at the tools that it is given.
    pub(crate) fn takes_tools(&self) -> bool {
        variables_read(self.source_for_tools()).contains(TOOLS)
    }

    /// The template's variables that say whether the model is to think before it answers, with their values; an error where it
    /// has none.
    pub(crate) fn thinking_variables(&self, is_on: bool) -> Result<BTreeMap<String, Json>, ModelError> {
        let used = variables_read(&self.text);
        let mut variables = BTreeMap::new();
        for name in THINKING_SWITCHES.into_iter().filter(|name| used.contains(*name)) {
            variables.insert(name.to_owned(), Json::Bool(is_on));
        }
        let has_effort = used.contains(REASONING_EFFORT);
        if has_effort && !is_on {
            variables.insert(REASONING_EFFORT.to_owned(), LEAST_EFFORT.into());
        }
        if variables.is_empty() && !has_effort {
            return Err(self.failed(format!(
                "has no switch for thinking ({}, {REASONING_EFFORT}): leave --thinking out",
                THINKING_SWITCHES.join(", ")
            )));
        }
        Ok(variables)
    }

    /// The prompt for `messages`, ending where the model's answer begins. `variables` are the template's own; one called `messages`
    /// stands for messages with more than a role and a text, such as calls of tools. Where one called `tools` is given, the template
    /// called `tool_use` writes the prompt if the model has one, as in transformers.
    ///
    /// # Errors
    ///
    /// [`ModelError::ChatTemplate`], where it fails, refuses the messages, or takes too much time or memory.
    pub fn render(&self, messages: &[Message], variables: &BTreeMap<String, Json>) -> Result<String, ModelError> {
        let message = |message: &Message| Value::from_pairs([("role", &message.role), ("content", &message.content)]);
        let mut context: BTreeMap<String, Value> = BTreeMap::from([
            ("messages".to_owned(), messages.iter().map(message).collect()),
            (TOOLS.to_owned(), Value::from(())),
            ("documents".to_owned(), Value::from(())),
            ("add_generation_prompt".to_owned(), Value::from(true)),
        ]);
        let special = self.special_tokens.iter();
        context.extend(special.map(|(name, text)| (name.clone(), Value::from(text))));
        context.extend(
            variables
                .iter()
                .map(|(name, value)| (name.clone(), template_value(value))),
        );
        let environment = self.environment.clone();
        let name = self.template_name(variables.get(TOOLS).is_some_and(|tools| !tools.is_null()));
        let (rendered, prompt) = watched(BOUNDS, move || {
            let mut prompt = BoundedPrompt::default();
            let rendered = environment.get_template(name).and_then(|template| {
                let context = Value::from_pairs(context);
                template.render_captured_to(context, &mut prompt).map(|_| ())
            });
            // An error may hold what the template made, and is described where that is.
            (rendered.map_err(|error| describe(&error)), prompt)
        })
        .map_err(|given_up| self.failed(given_up.to_string()))?;
        if prompt.is_too_long {
            let message = format!("writes a prompt of more than {} MiB", MAX_PROMPT_BYTES >> 20);
            return Err(self.failed(message));
        }
        rendered.map_err(|message| self.failed(message))?;
        // Templates write texts only.
        Ok(String::from_utf8_lossy(&prompt.bytes).into_owned())
    }

    /// The prompt for `messages`, as [`render`](Self::render) writes it. Where the template refuses them and takes them with the text of the system
    /// message before that of the first message of the user, as Gemma 2's does, it is the prompt for these.
    ///
    /// # Errors
    ///
    /// [`ModelError::ChatTemplate`], as [`render`](Self::render) has it for `messages` as they are.
    pub(crate) fn render_or_fold(
        &self,
        messages: &[Message],
        variables: &BTreeMap<String, Json>,
    ) -> Result<String, ModelError> {
        self.render(messages, variables).or_else(|error| {
            let is_refusal = matches!(&error, ModelError::ChatTemplate { message, .. } if message.contains(REFUSES));
            let folded = is_refusal.then(|| with_system_in_user(messages)).flatten();
            let prompt = folded.and_then(|folded| self.render(&folded, variables).ok());
            prompt.ok_or(error)
        })
    }

    /// Whether the template refuses system messages, so that their text is put into the first message of the user.
    pub(crate) fn folds_system_messages(&self) -> bool {
        let (messages, variables) = ([Message::system("Be brief."), Message::user("Hello")], BTreeMap::new());
        self.render(&messages, &variables).is_err() && self.render_or_fold(&messages, &variables).is_ok()
    }

    /// The error of this template.
    fn failed(&self, message: String) -> ModelError {
        ModelError::ChatTemplate {
            file: self.file.clone(),
            message,
        }
    }
}

/// Returns `messages` with the text of a system message, with which they begin, before that of the first message of the user; `None` where one of
/// these messages is not there.
fn with_system_in_user(messages: &[Message]) -> Option<Vec<Message>> {
    let (system, others) = messages.split_first().filter(|(first, _)| first.role == "system")?;
    let mut others = others.to_vec();
    let user = others.iter_mut().find(|message| message.role == "user")?;
    user.content = format!("{}\n\n{}", system.content, user.content);
    Some(others)
}

/// The text that a template has written, up to [`MAX_PROMPT_BYTES`].
#[derive(Default)]
struct BoundedPrompt {
    bytes: Vec<u8>,
    is_too_long: bool,
}

impl io::Write for BoundedPrompt {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.is_too_long |= self.bytes.len() + text.len() > MAX_PROMPT_BYTES;
        if self.is_too_long {
            return Err(io::Error::other("the prompt is too long"));
        }
        self.bytes.extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An error with its causes, which hold the reason given to `raise_exception`.
fn describe(error: &Error) -> String {
    if error.kind() == ErrorKind::OutOfFuel {
        return format!("takes more than {MAX_TEMPLATE_STEPS} steps");
    }
    let mut message = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        message = format!("{message}: {error}");
        source = error.source();
    }
    message
}

/// The environment that transformers gives templates.
fn environment(clock: Option<jiff::civil::DateTime>) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_fuel(Some(MAX_TEMPLATE_STEPS));
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.set_formatter(|out, _, value| {
        let written = match value.as_str() {
            Some(text) => out.write_str(text),
            None => out.write_str(&python_str(value)),
        };
        written.map_err(|_| Error::new(ErrorKind::WriteFailure, "the prompt could not be written"))
    });
    environment.add_test("iterable", |value: Value| is_iterable(&value));
    environment.add_test("sequence", |value: Value| is_sequence(&value));
    environment.add_filter("tojson", to_json);
    environment.add_filter(PLAIN_INDENT, minijinja::filters::indent);
    environment.add_filter("indent", indent);
    environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, format!("{REFUSES}: {message}")))
    });
    environment.add_function("strftime_now", move |format: String| {
        let now = clock.unwrap_or_else(|| jiff::Zoned::now().datetime());
        jiff::fmt::strtime::format(&format, now)
            .map_err(|error| Error::new(ErrorKind::InvalidOperation, format!("strftime_now: {error}")))
    });
    Ok(environment)
}

/// Whether Python can walk through a value. minijinja walks through `none`, too.
fn is_iterable(value: &Value) -> bool {
    !matches!(value.kind(), ValueKind::None | ValueKind::Bool | ValueKind::Number)
}

/// Whether a value has a length and items, as Jinja's test `sequence` asks: Python's texts and maps have.
fn is_sequence(value: &Value) -> bool {
    matches!(
        value.kind(),
        ValueKind::Undefined | ValueKind::String | ValueKind::Seq | ValueKind::Map
    )
}

/// Name of minijinja's own filter `indent`, which makes as many spaces as its argument says.
const PLAIN_INDENT: &str = "indent of any width";

/// Widest indentation that `indent` gives, in spaces.
const WIDEST_MARGIN: usize = 1 << 16;

/// The filter `indent`, with a width that cannot ask for more memory than there is.
fn indent(state: &mut State<'_, '_>, arguments: Rest<Value>, named: Kwargs) -> Result<Value, Error> {
    let width = match arguments.get(1) {
        Some(width) => width.as_usize(),
        None => named.get("width")?,
    };
    if width.is_some_and(|width| width > WIDEST_MARGIN) {
        let message = format!("indent: a width over {WIDEST_MARGIN}");
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    let mut arguments = arguments.0;
    if named.args().next().is_some() {
        arguments.push(named.into());
    }
    state.apply_filter(PLAIN_INDENT, &arguments)
}

/// The filter `tojson`, with the arguments transformers gives it.
fn to_json(value: Value, kwargs: Kwargs) -> Result<String, Error> {
    let indent: Option<usize> = kwargs.get("indent")?;
    let separators: Option<Vec<String>> = kwargs.get("separators")?;
    let sort_keys: Option<bool> = kwargs.get("sort_keys")?;
    let ensure_ascii: Option<bool> = kwargs.get("ensure_ascii")?;
    kwargs.assert_all_used()?;
    let (item_separator, key_separator) = match separators.as_deref() {
        Some([item, key]) => (item.as_str(), key.as_str()),
        Some(_) => return Err(Error::new(ErrorKind::InvalidOperation, "tojson: separators are a pair")),
        None if indent.is_some() => (",", ": "),
        None => (", ", ": "),
    };
    let style = Style {
        indent: indent.map(|indent| indent.min(WIDEST_INDENT)),
        item_separator,
        key_separator,
        ensure_ascii: ensure_ascii == Some(true),
        python_numbers: true,
    };
    let json = to_json_value(&value, sort_keys == Some(true))?;
    let written = style.write(&json);
    written.map_err(|error| Error::new(ErrorKind::InvalidOperation, format!("tojson: {error}")))
}

/// `chat_template` as a text, or the one called `default` of several.
fn default_template(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Array(named) => {
            let default = named
                .iter()
                .find(|template| template["name"] == "default")
                .or(named.first());
            default?.get("template")?.as_str().map(str::to_owned)
        }
        Json::Object(named) => {
            let default = named.get("default").or_else(|| named.values().next());
            default?.as_str().map(str::to_owned)
        }
        _ => None,
    }
}

/// The template for prompts with tools, where there is one of its own.
fn tool_template<'a>(files: &'a ModelFiles, written: &'a Json) -> Option<Cow<'a, str>> {
    match files.get(TEMPLATE_TOOL_USE) {
        Some(bytes) => Some(String::from_utf8_lossy(bytes)),
        None => named_template(written, TOOL_USE).map(Into::into),
    }
}

/// The text called `name` where `chat_template` is several with names.
fn named_template<'a>(value: &'a Json, name: &str) -> Option<&'a str> {
    let template = match value {
        Json::Array(named) => named.iter().find(|template| template["name"] == name)?.get("template"),
        Json::Object(named) => named.get(name),
        _ => None,
    };
    template?.as_str()
}

/// Returns the variables that a template takes from its caller: those that it reads before it sets them. A text that does not parse has none.
///
/// minijinja takes a name as set before it looks at the value that it is set to, and so misses `{% set x = x | default(true) %}`. Each value is put
/// under another name first, where it is read as in the template.
fn variables_read(text: &str) -> HashSet<String> {
    let text = generation_tags_as_conditions(text);
    let values_first = rewrite_tags(&text, |tag, inner| {
        let (target, value) = inner.strip_prefix("set")?.split_once('=')?;
        let is_target = target.starts_with(char::is_whitespace) && !target.contains('|');
        is_target.then(|| format!("{{% set value_of_set = {value} %}}{tag}"))
    });
    let environment = environment(None).ok();
    let variables = environment.and_then(|environment| {
        let template = [&values_first, &text].map(|text| environment.template_from_str(text));
        let template = template.into_iter().find_map(Result::ok);
        template.map(|template| template.undeclared_variables(false))
    });
    variables.unwrap_or_default()
}

/// Turns transformers' own `{% generation %}` blocks, which only mark what the assistant said, into blocks that are always
/// rendered.
fn generation_tags_as_conditions(text: &str) -> String {
    rewrite_tags(text, |tag, inner| match inner {
        "generation" => Some(tag.replacen(inner, "if true", 1)),
        "endgeneration" => Some(tag.replacen(inner, "endif", 1)),
        _ => None,
    })
}

/// Puts what `rewritten` returns in place of each tag. It is given the tag with its `{%` and `%}`, and the text between them.
fn rewrite_tags(text: &str, rewritten: impl Fn(&str, &str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{%") {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let Some(end) = rest[2..].find("%}") else {
            break;
        };
        let (tag, after) = rest.split_at(end + 4);
        let inner = tag[2..tag.len() - 2].trim_matches(['-', '+']).trim();
        match rewritten(tag, inner) {
            Some(rewritten) => out.push_str(&rewritten),
            None => out.push_str(tag),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A JSON value as a template sees it. It is not made through serde, where numbers of arbitrary precision are maps.
fn template_value(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(value) => Value::from(*value),
        Json::Number(number) => match (number.as_i64(), number.as_i128(), number.as_f64()) {
            (Some(integer), ..) => Value::from(integer),
            (None, Some(integer), _) => Value::from(integer),
            (None, None, Some(float)) => Value::from(float),
            (None, None, None) => Value::from(number.to_string()),
        },
        Json::String(text) => Value::from(text),
        Json::Array(items) => items.iter().map(template_value).collect(),
        Json::Object(map) => Value::from_pairs(map.iter().map(|(name, value)| (name.as_str(), template_value(value)))),
    }
}
