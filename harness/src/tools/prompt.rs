//! [`prompt_of`]: the prompt of a function-calling request, by the model's chat template or in words.

use maskwright_models::{LoadedModel, ModelError};
use maskwright_serving::tools::{ToolChoice, ToolFormat};
use maskwright_suites::json_text;
use maskwright_suites::prompt::{Message, Role};
use maskwright_suites::tool_calls::ToolRequest;
use serde_json::Value;

use crate::bench::prompts::of_model;

/// The form in which calls are asked for: format, choice among tools, and number of calls.
#[derive(Clone, Debug)]
pub struct Asking {
    /// The format of calls.
    pub format: ToolFormat,
    /// The choice among tools.
    pub choice: ToolChoice,
    /// Whether there may be several calls.
    pub parallel: bool,
}

/// Returns the tokens of the prompt that puts a request to `model`, with the instructions `system` before its own.
///
/// The chat template is given the tools where it takes any. Otherwise instructions list the functions and show how one is called.
///
/// # Errors
///
/// [`ModelError`], where the chat template refuses the messages or the tools.
pub(super) fn prompt_of(
    model: &LoadedModel,
    request: &ToolRequest,
    asking: &Asking,
    system: Option<&str>,
) -> Result<Vec<u32>, ModelError> {
    let in_channels = asking.format == ToolFormat::Harmony;
    let (messages, tools) = match model.takes_tools() {
        true => (of_model(request.messages.clone(), system), request.tools()),
        false => (of_model(in_words(request, asking), system), Value::Null),
    };
    model.encode_prompt(&model.render_prompt_with_tools(&messages, &tools, in_channels)?)
}

/// Returns the messages of a request, with the functions and the format of calls in the instructions.
fn in_words(request: &ToolRequest, asking: &Asking) -> Vec<Message> {
    let mut lines = vec!["You can call these functions:".to_owned()];
    for function in &request.functions {
        let described = serde_json::json!({
            "name": function.name, "description": function.description, "parameters": function.parameters,
        });
        lines.push(json_text::to_string(&described).unwrap_or_default());
    }
    lines.push(format!("A call is written like this:\n{}", example(asking.format)));
    if asking.parallel {
        lines.push("Where several calls are needed, write one behind the other.".to_owned());
    }
    lines.push(match &asking.choice {
        ToolChoice::Auto => "Where no function fits, answer in plain words.".to_owned(),
        ToolChoice::Required => "Call at least one function, and write nothing else.".to_owned(),
        ToolChoice::None => "Answer in plain words, and call no function.".to_owned(),
        ToolChoice::Function(name) => format!("Call the function {name}, and write nothing else."),
    });
    let words = lines.join("\n");
    let mut messages = request.messages.clone();
    match messages.first_mut().filter(|first| first.role == Role::System) {
        Some(first) => first.content = format!("{}\n\n{words}", first.content),
        None => messages.insert(0, Message::new(Role::System, words)),
    }
    messages
}

/// Returns an example for the instructions: a call of a function `find` with a text and a number.
fn example(format: ToolFormat) -> &'static str {
    match format {
        ToolFormat::Json => r#"{"name": "find", "parameters": {"where": "here", "most": 3}}"#,
        ToolFormat::Hermes => {
            "<tool_call>\n{\"name\": \"find\", \"arguments\": {\"where\": \"here\", \"most\": 3}}\n</tool_call>"
        }
        ToolFormat::Mistral => r#"[TOOL_CALLS][{"name": "find", "arguments": {"where": "here", "most": 3}}]"#,
        ToolFormat::DeepSeek => {
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>find\n```json\n{\"where\": \"here\", \"most\": 3}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
        }
        ToolFormat::DeepSeekV31 => {
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find<｜tool▁sep｜>{\"where\": \"here\", \"most\": 3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
        }
        ToolFormat::Harmony => {
            "<|channel|>commentary to=functions.find <|constrain|>json<|message|>{\"where\": \"here\", \"most\": 3}<|call|>"
        }
        ToolFormat::QwenXml => {
            "<tool_call>\n<function=find>\n<parameter=where>\nhere\n</parameter>\n<parameter=most>\n3\n</parameter>\n</function>\n</tool_call>"
        }
        ToolFormat::Glm => {
            "<tool_call>find\n<arg_key>where</arg_key>\n<arg_value>here</arg_value>\n<arg_key>most</arg_key>\n<arg_value>3</arg_value>\n</tool_call>"
        }
        ToolFormat::MiniMax => {
            "<minimax:tool_call>\n<invoke name=\"find\">\n<parameter name=\"where\">here</parameter>\n<parameter name=\"most\">3</parameter>\n</invoke>\n</minimax:tool_call>"
        }
        ToolFormat::DeepSeekV32 => {
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"find\">\n<｜DSML｜parameter name=\"where\" string=\"true\">here</｜DSML｜parameter>\n<｜DSML｜parameter name=\"most\" string=\"false\">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"
        }
        // Formats that are added later are explained by the chat templates that use them.
        _ => "",
    }
}
