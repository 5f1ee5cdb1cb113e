//! Reads the requirements of a prompt from its words alone: fields, types, limits, the number of items, and the rules of the
//! reply.
//!
//! The reader knows nothing of the generator. It finds every requirement of a generated prompt again, in every style and voice,
//! so that a prompt that somebody rewrote can be held against its sample: a requirement that the prompt does not state any more,
//! no reader can know.

mod blocks;
mod lexer;
mod prose;
mod recovered;
mod requirements;

use serde_json::Value;

use super::{Count, OutputFormat, Presentation, Sample};
use recovered::sorted;
pub use recovered::{Fence, Recovered};

/// Bytes of a prompt that is read: one that is longer says nothing. The time of reading grows with their square.
pub const MAX_PROMPT_BYTES: usize = 32 << 10;

/// Reads the requirements from a prompt that shows its structure in `style`; none, where it is over [`MAX_PROMPT_BYTES`].
#[must_use]
pub fn recover(prompt: &str, style: Presentation) -> Recovered {
    let mut recovered = Recovered::default();
    if prompt.len() > MAX_PROMPT_BYTES {
        return recovered;
    }
    let rest = blocks::read(prompt, style, &mut recovered).replace("draft 2020-12", "");
    let mut reader = prose::Reader::default();
    for sentence in requirements::sentences(&rest) {
        if requirements::read(&sentence, &mut recovered) {
            continue;
        }
        let names = lexer::lex(&sentence)
            .iter()
            .any(|token| matches!(token, lexer::Token::Name(_)));
        if !names {
            requirements::count(&sentence, &mut recovered);
        }
        let says_all = lexer::regex!(
            r"(?i)\b(?:all|every|everything|nothing|nothing's|none|required\?|missing|those named here)\b"
        );
        if style == Presentation::Prose && (names || !says_all.is_match(&sentence)) {
            reader.read(&sentence);
        }
    }
    if style == Presentation::Prose {
        recovered.schema = recovered::schema(&reader.into_fields());
    }
    recovered.schema = sorted(&recovered.schema);
    recovered
}

/// Returns the requirements that a prompt of `sample` has to state.
#[must_use]
pub fn expected(sample: &Sample) -> Recovered {
    Recovered {
        schema: sorted(&Value::Object(sample.json_schema.clone())),
        count: sample.top_level_count.map(|count| match count {
            Count::Exactly(exact) => (exact, exact),
            Count::Between(low, high) => (low, high),
        }),
        wrapper: sample.top_level_key.clone(),
        unwrapped: !sample.require_wrapper_key,
        format: Some(
            match sample.output_format {
                OutputFormat::Json => "json",
                OutputFormat::Yaml => "yaml",
            }
            .to_owned(),
        ),
        fence: match (
            &sample.code_block_language,
            sample.require_code_block,
            sample.forbid_code_block,
        ) {
            (Some(language), true, false) => Fence::Named(language.clone()),
            (None, true, false) => Fence::Any,
            (None, false, true) => Fence::Forbidden,
            (None, false, false) => Fence::Free,
            // No request asks for a fence and forbids it, or names the language of none.
            _ => Fence::Free,
        },
        no_commentary: sample.require_no_commentary,
        no_extras: true,
        unclear: Vec::new(),
    }
}

/// Lists the differences between the requirements found and those meant, in a line or two each; empty where they are equal.
#[must_use]
pub fn differences(found: &Recovered, meant: &Recovered) -> String {
    let mut text = String::new();
    let mut compare = |what: &str, found: String, meant: String| {
        if found != meant {
            text.push_str(&format!(
                "{what}: read {found}\n{:width$}  meant {meant}\n",
                "",
                width = what.len()
            ));
        }
    };
    let properties = |recovered: &Recovered| recovered.schema["items"]["properties"].clone();
    let (left, right) = (properties(found), properties(meant));
    let names = |value: &Value| {
        value
            .as_object()
            .map(|members| members.keys().cloned().collect::<Vec<String>>())
            .unwrap_or_default()
    };
    // The order of names within a field is no requirement.
    for name in names(&right).into_iter().filter(|name| left[name] != right[name]) {
        compare(&name, left[&name].to_string(), right[&name].to_string());
    }
    compare(
        "names",
        format!("{:?}", {
            let mut n = names(&left);
            n.sort();
            n
        }),
        format!("{:?}", {
            let mut n = names(&right);
            n.sort();
            n
        }),
    );
    compare(
        "required",
        found.schema["items"]["required"].to_string(),
        meant.schema["items"]["required"].to_string(),
    );
    compare("count", format!("{:?}", found.count), format!("{:?}", meant.count));
    compare(
        "wrapper",
        format!("{:?} {}", found.wrapper, found.unwrapped),
        format!("{:?} {}", meant.wrapper, meant.unwrapped),
    );
    compare("format", format!("{:?}", found.format), format!("{:?}", meant.format));
    compare("fence", format!("{:?}", found.fence), format!("{:?}", meant.fence));
    compare(
        "commentary",
        found.no_commentary.to_string(),
        meant.no_commentary.to_string(),
    );
    compare("extras", found.no_extras.to_string(), meant.no_extras.to_string());
    compare(
        "unclear",
        format!("{:?}", found.unclear),
        format!("{:?}", meant.unclear),
    );
    text
}

/// The sentences of a prompt.
#[must_use]
pub fn sentences(prompt: &str) -> Vec<String> {
    requirements::sentences(prompt)
}
