//! [`ToolFormat`]: the formats in which families of models call tools.

use serde_json::{Value, json};

use super::Tool;

/// The format in which a family of models writes calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolFormat {
    /// `{"name": NAME, "parameters": ARGUMENTS}`: Llama 3.1 to 3.3, and Gemma 3 as Google's documents ask it.
    Json,
    /// `<tool_call>`, a line with `{"name": NAME, "arguments": ARGUMENTS}`, `</tool_call>`: Hermes, Qwen 2.5 and Qwen 3.
    Hermes,
    /// `[TOOL_CALLS]` and a list of `{"name": NAME, "arguments": ARGUMENTS}`: Mistral with tokenizers up to version 7.
    Mistral,
    /// Calls between special tokens, with arguments in a code block: DeepSeek V3 and R1.
    DeepSeek,
    /// Calls between special tokens, with bare arguments: DeepSeek V3.1.
    DeepSeekV31,
    /// Messages in channels: gpt-oss.
    Harmony,
    /// `<tool_call>`, `<function=NAME>` and `<parameter=…>` with values between marks: Qwen3-Coder, Qwen 3.5 and 3.6.
    QwenXml,
    /// `<tool_call>NAME` with `<arg_key>` and `<arg_value>`: GLM from 4.5 on.
    Glm,
    /// `<minimax:tool_call>`, `<invoke name="NAME">` and `<parameter name="…">`: MiniMax from M2 on.
    MiniMax,
    /// `<｜DSML｜invoke name="NAME">` and parameters that say whether they are strings: DeepSeek V3.2.
    DeepSeekV32,
}

/// The number of calls in a reply.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calls {
    /// Whether there is at least one, and no text before it.
    pub(super) required: bool,
    /// Whether there may be more than one.
    pub(super) several: bool,
}

impl Calls {
    /// At least one call: the list within a section with calls is not empty.
    fn at_least_one(self) -> Self {
        Self { required: true, ..self }
    }
}

impl ToolFormat {
    /// All formats, by the names that [`from_name`](Self::from_name) knows.
    pub const NAMES: [(&'static str, Self); 15] = [
        ("llama3", Self::Json),
        ("gemma3", Self::Json),
        ("hermes", Self::Hermes),
        ("qwen2.5", Self::Hermes),
        ("qwen3", Self::Hermes),
        ("mistral", Self::Mistral),
        ("deepseek", Self::DeepSeek),
        ("deepseek-v3.1", Self::DeepSeekV31),
        ("deepseek-v3.2", Self::DeepSeekV32),
        ("harmony", Self::Harmony),
        ("qwen3-coder", Self::QwenXml),
        ("qwen3.5", Self::QwenXml),
        ("glm-4.5", Self::Glm),
        ("glm-4.7", Self::Glm),
        ("minimax-m2", Self::MiniMax),
    ];

    /// The format of a name in [`NAMES`](Self::NAMES).
    pub fn from_name(name: &str) -> Option<Self> {
        let known = Self::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, format)| *format)
    }

    /// The format that a chat template writes calls in, by the marks in it; none where there are none that are known.
    pub fn of_chat_template(template: &str) -> Option<Self> {
        let has = |mark: &str| template.contains(mark);
        match () {
            () if has("<|channel|>") && has("commentary") => Some(Self::Harmony),
            () if has("<function=") && has("<parameter=") => Some(Self::QwenXml),
            () if has("<arg_key>") && has("<arg_value>") => Some(Self::Glm),
            () if has("<minimax:tool_call>") => Some(Self::MiniMax),
            () if has("｜DSML｜") && has("function_calls") => Some(Self::DeepSeekV32),
            // Other formats have XML between these marks.
            () if has("<tool_call>") && has("\"arguments\"") && !has("<function=") => Some(Self::Hermes),
            () if has("[TOOL_CALLS]") && !has("[ARGS]") => Some(Self::Mistral),
            () if has("<｜tool▁calls▁begin｜>") && has("```json") => Some(Self::DeepSeek),
            () if has("<｜tool▁calls▁begin｜>") => Some(Self::DeepSeekV31),
            () if has("\"parameters\": ") && has("<|start_header_id|>") => Some(Self::Json),
            () => None,
        }
    }

    /// The text or mark with which calls begin.
    fn mark(self) -> &'static str {
        match self {
            Self::Json => "{\"name\": ",
            Self::Hermes => "<tool_call>",
            Self::Mistral => "[TOOL_CALLS]",
            Self::DeepSeek | Self::DeepSeekV31 => "<｜tool▁calls▁begin｜>",
            Self::Harmony => "<|channel|>commentary to=functions.",
            Self::QwenXml => "<tool_call>\n<function=",
            Self::Glm => "<tool_call>",
            Self::MiniMax => "<minimax:tool_call>",
            Self::DeepSeekV32 => "<｜DSML｜function_calls>",
        }
    }

    /// The format of replies without calls: free text in which no call begins.
    pub(super) fn text_alone(self) -> Value {
        let mark = match self {
            // In whatever channel, and before or behind its name.
            Self::Harmony => "to=functions.",
            _ => self.mark(),
        };
        json!({"type": "any_text", "excludes": [mark]})
    }

    /// The format of replies with calls.
    pub(super) fn replies(self, tools: &[Tool<'_>], calls: Calls) -> Value {
        match self {
            Self::Json => {
                let tags = each(tools, |name| format!("{{\"name\": \"{name}\", \"parameters\": "), "}");
                match calls.required {
                    true => separated(tags, "", calls),
                    false => triggered(self.mark(), tags, calls),
                }
            }
            Self::Hermes => {
                let begin = |name: &str| format!("<tool_call>\n{{\"name\": \"{name}\", \"arguments\": ");
                // Calls stand on lines of their own.
                let tags = each(tools, begin, "}\n</tool_call>");
                on_lines(self.mark(), tags, calls)
            }
            Self::Mistral => {
                let tags = each(tools, |name| format!("{{\"name\": \"{name}\", \"arguments\": "), "}");
                section(self.mark(), ("[", "]"), (tags, ", "), calls)
            }
            Self::DeepSeek => {
                let begin = |name: &str| format!("<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n");
                let tags = each(tools, begin, "\n```<｜tool▁call▁end｜>");
                section(self.mark(), ("", "<｜tool▁calls▁end｜>"), (tags, "\n"), calls)
            }
            Self::DeepSeekV31 => {
                let begin = |name: &str| format!("<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>");
                let tags = each(tools, begin, "<｜tool▁call▁end｜>");
                section(self.mark(), ("", "<｜tool▁calls▁end｜>"), (tags, ""), calls)
            }
            Self::Harmony => harmony(tools, calls),
            Self::QwenXml => {
                let begin = |name: &str| format!("{}{name}>\n", self.mark());
                // Parameters have a line break behind the last one.
                let tags = each_styled(tools, "qwen_xml", begin, "</function>\n</tool_call>");
                on_lines(self.mark(), tags, calls)
            }
            Self::Glm => {
                let tags = each_styled(tools, "glm_xml", |name| format!("<tool_call>{name}"), "</tool_call>");
                on_lines(self.mark(), tags, calls)
            }
            Self::MiniMax => {
                let begin = |name: &str| format!("<invoke name=\"{name}\">\n");
                let tags = each_styled(tools, "minimax_xml", begin, "</invoke>\n");
                section(self.mark(), ("\n", "</minimax:tool_call>"), (tags, ""), calls)
            }
            Self::DeepSeekV32 => {
                let begin = |name: &str| format!("<｜DSML｜invoke name=\"{name}\">\n");
                let tags = each_styled(tools, "deepseek_xml", begin, "</｜DSML｜invoke>\n");
                section(self.mark(), ("\n", "</｜DSML｜function_calls>"), (tags, ""), calls)
            }
        }
    }
}

/// A tag for each tool, with its arguments in JSON.
fn each(tools: &[Tool<'_>], begin: impl Fn(&str) -> String, end: &str) -> Vec<Value> {
    let content = |tool: &Tool<'_>| json!({"type": "json_schema", "json_schema": tool.parameters});
    tags(tools, content, begin, end)
}

/// A tag for each tool, with its arguments as parameters in a style.
fn each_styled(tools: &[Tool<'_>], style: &str, begin: impl Fn(&str) -> String, end: &str) -> Vec<Value> {
    let content = |tool: &Tool<'_>| json!({"type": "json_schema", "style": style, "json_schema": tool.given});
    tags(tools, content, begin, end)
}

fn tags(
    tools: &[Tool<'_>],
    content: impl Fn(&Tool<'_>) -> Value,
    begin: impl Fn(&str) -> String,
    end: &str,
) -> Vec<Value> {
    let tag = |tool: &Tool<'_>| json!({"type": "tag", "begin": begin(tool.name), "content": content(tool), "end": end});
    tools.iter().map(tag).collect()
}

/// Calls within free text, or nothing but calls on lines of their own where one is required.
fn on_lines(trigger: &str, tags: Vec<Value>, calls: Calls) -> Value {
    match calls.required {
        true => separated(tags, "\n", calls),
        false => triggered(trigger, tags, calls),
    }
}

fn triggered(trigger: &str, tags: Vec<Value>, calls: Calls) -> Value {
    json!({"type": "triggered_tags", "triggers": [trigger], "tags": tags, "at_least_one": calls.required, "stop_after_first": !calls.several})
}

fn separated(tags: Vec<Value>, separator: &str, calls: Calls) -> Value {
    json!({"type": "tags_with_separator", "tags": tags, "separator": separator, "at_least_one": calls.required, "stop_after_first": !calls.several})
}

/// Makes one section with all calls, after free text unless calls are required.
fn section(mark: &str, (open, close): (&str, &str), (tags, separator): (Vec<Value>, &str), calls: Calls) -> Value {
    let calls_in_it = separated(tags, separator, calls.at_least_one());
    let tag = json!({"type": "tag", "begin": format!("{mark}{open}"), "content": calls_in_it, "end": close});
    triggered(
        mark,
        vec![tag],
        Calls {
            several: false,
            ..calls
        },
    )
}

/// Messages of the analysis channel, calls, and unless calls are required a final message.
fn harmony(tools: &[Tool<'_>], calls: Calls) -> Value {
    const BETWEEN: &str = "<|start|>assistant";
    // What a message may not have in it, so that no call stands there without its tool's schema.
    const MARKS: [&str; 5] = ["<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|call|>"];
    let message = |channel: &str, ends: &[&str]| json!({"type": "tag", "begin": format!("<|channel|>{channel}<|message|>"), "content": {"type": "any_text", "excludes": MARKS}, "end": ends});
    let call = |name: &str| format!("<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>");
    let call_tags = each(tools, call, "<|call|>");
    let analysis = json!({"type": "sequence", "elements": [message("analysis", &["<|end|>"]), {"type": "const_string", "value": BETWEEN}]});
    let one_of_calls = separated(call_tags, BETWEEN, calls.at_least_one());
    let mut last = vec![one_of_calls];
    if !calls.required {
        // The sequence's end closes a final message.
        let excludes = [&["<|end|>"], &MARKS[..]].concat();
        last.push(json!({"type": "sequence", "elements": [
            {"type": "const_string", "value": "<|channel|>final<|message|>"}, {"type": "any_text", "excludes": excludes}]}));
    }
    json!({"type": "sequence", "elements": [{"type": "star", "content": analysis}, {"type": "or", "elements": last}]})
}
