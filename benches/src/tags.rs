//! [`measure_tags`]: processor time of structural tags of many tools: compilation, first mask, and the masks of replies.
//!
//! A reply is free text with calls of up to twenty of the tools in the format of Hermes or, in the other style, of Qwen3-Coder, each with
//! arguments of its own. Masks of free text are those outside of calls when a second masker writes the reply.

use std::fmt::Write as _;

use maskwright::{CompileError, Compiler, Masker, TokenId, Vocabulary};
use maskwright_worker::Stopwatch;
use serde_json::{Value, json};

/// Largest number of tools that a reply calls.
const CALLED: usize = 20;
/// The free text between calls.
const PROSE: &str = "The forecast needs two places, so I look both up; a < b holds, and 2<3. Été, naïve, 日本語: <tool> is no call.\n\n\
    - first the one\n- then the other\n";

/// Header of the lines that [`measure_tags`] returns.
pub const TAGS_HEADER: &str = "tools  compile ms  one tool new ms  first mask ms  memory MiB | masks in us: p50    p99    max | free text: p50    p99    max\n";

/// Returns a tool's schema, different for each number.
fn schema(number: usize) -> Value {
    json!({
        "type": "object",
        "properties": {
            format!("place_{number}"): {"type": "string", "description": "Where it is"},
            "unit": {"enum": ["celsius", "fahrenheit", format!("unit_{number}")]},
            "days": {"type": "integer", "minimum": 1, "maximum": 5 + number},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 4},
        },
        "required": [format!("place_{number}"), "days"],
        "additionalProperties": false,
    })
}

/// A format of calls: style of the arguments, marks and sample arguments.
#[derive(Clone, Copy, Debug)]
pub struct CallFormat {
    style: &'static str,
    /// Texts before and after the number of the tool, and after the arguments.
    marks: [&'static str; 3],
    /// Returns the arguments of a call, given the numbers of tool and call.
    arguments: fn(usize, usize) -> String,
}

const HERMES: CallFormat = CallFormat {
    style: "json",
    marks: [
        "<tool_call>\n{\"name\": \"get_weather_",
        "\", \"arguments\": ",
        "}\n</tool_call>",
    ],
    arguments: |number, call| {
        let days = call % 5 + 1;
        format!(
            "{{\"place_{number}\": \"Zürich \\\"{call}\\\"\", \"unit\": \"celsius\", \"days\": {days}, \"tags\": [\"a\", \"b{call}\"]}}"
        )
    },
};

const QWEN_CODER: CallFormat = CallFormat {
    style: "qwen_xml",
    marks: [
        "<tool_call>\n<function=get_weather_",
        ">\n",
        "\n</function>\n</tool_call>",
    ],
    arguments: |number, call| {
        let one = |name: &str, value: &str| format!("<parameter={name}>\n{value}\n</parameter>");
        [
            one(&format!("place_{number}"), &format!("Zürich \"{call}\"")),
            one("unit", "celsius"),
            one("days", &format!("{}", call % 5 + 1)),
            one("tags", &format!("[\"a\", \"b{call}\"]")),
        ]
        .join("\n")
    },
};

impl CallFormat {
    /// Returns the format with arguments in a style, `json` or `qwen_xml`.
    pub fn of_style(style: &str) -> Option<Self> {
        [HERMES, QWEN_CODER].into_iter().find(|format| format.style == style)
    }

    fn begin(self, number: usize) -> String {
        let [before, behind, _] = self.marks;
        format!("{before}{number}{behind}")
    }
}

/// Returns the tag of `count` tools, of which `first` is the number of the first.
fn tag(format: CallFormat, first: usize, count: usize) -> String {
    let tags = (first..first + count).map(|number| {
        let content = json!({"type": "json_schema", "style": format.style, "json_schema": schema(number)});
        json!({"type": "tag", "begin": format.begin(number), "content": content, "end": format.marks[2]})
    });
    let tags: Vec<Value> = tags.collect();
    let format = json!({"type": "triggered_tags", "triggers": ["<tool_call>"], "tags": tags});
    json!({"type": "structural_tag", "format": format}).to_string()
}

/// Returns the parts of a reply, each with whether it is free text.
fn reply(format: CallFormat, count: usize) -> Vec<(bool, String)> {
    let called = CALLED.min(count);
    let mut parts = Vec::new();
    for call in 0..called {
        let number = call * count / called;
        let (begin, arguments) = (format.begin(number), (format.arguments)(number, call));
        parts.push((true, PROSE.to_owned()));
        parts.push((false, format!("{begin}{arguments}{}", format.marks[2])));
    }
    parts.push((true, PROSE.to_owned()));
    parts
}

fn tokens(vocabulary: &Vocabulary, text: &str) -> Vec<TokenId> {
    let tokenizer = vocabulary.tokenizer();
    match tokenizer {
        Some(tokenizer) => tokenizer.tokenize(text.as_bytes()),
        None => vocabulary.spell(text.as_bytes()).expect("every byte has a token"),
    }
}

/// Measures one tag of `count` tools, and returns a line of figures. While it is in use, a second one is compiled that has all its tools but one,
/// and one that is new.
///
/// # Errors
///
/// The compiler's error, where it refuses the tag.
///
/// # Panics
///
/// If a mask fails, or does not allow the reply.
pub fn measure_tags(
    compiler: &dyn Compiler,
    vocabulary: &Vocabulary,
    format: CallFormat,
    count: usize,
) -> Result<String, CompileError> {
    let (tag, one_new) = (tag(format, 0, count), tag(format, 1, count));
    let clock = Stopwatch::start();
    let mut masker = compiler.compile(&tag)?;
    let compiled = clock.elapsed().cpu_ns;
    let clock = Stopwatch::start();
    let next = compiler.compile(&one_new)?;
    let compiled_next = clock.elapsed().cpu_ns;
    drop(next);
    let again = masker.fork().expect("a copy");
    let clock = Stopwatch::start();
    masker.mask().expect("a mask");
    let first = clock.elapsed().cpu_ns;
    let reply: Vec<(bool, Vec<TokenId>)> = reply(format, count)
        .into_iter()
        .map(|(is_free, text)| (is_free, tokens(vocabulary, &text)))
        .collect();
    let (mut all, _) = times(masker, vocabulary, &reply);
    let (_, (mut free, memory)) = times(again, vocabulary, &reply);
    let memory = memory.map_or_else(
        || "-".to_owned(),
        |bytes| format!("{:.1}", bytes as f64 / f64::from(1 << 20)),
    );
    let mut line = format!(
        "{count:5}  {:10.1}  {:15.1}  {:13.2}  {memory:>10} |",
        ms(compiled),
        ms(compiled_next),
        ms(first)
    );
    for (times, width) in [(&mut all, 18), (&mut free, 15)] {
        times.sort_unstable();
        let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)] as f64 / 1e3;
        let _ = write!(line, " {:width$.1} {:6.1} {:6.1} |", at(50), at(99), at(100));
    }
    Ok(format!("{}\n", line.trim_end_matches(" |")))
}

/// Returns the times of the masks of a reply, in nanoseconds, those of free text, and the bytes of memory that the masker reports
/// after the reply, where it reports any.
fn times(
    mut masker: Box<dyn Masker>,
    vocabulary: &Vocabulary,
    reply: &[(bool, Vec<TokenId>)],
) -> (Vec<u64>, (Vec<u64>, Option<usize>)) {
    let reading = Stopwatch::reading().cpu_ns;
    let (mut all, mut free) = (Vec::new(), Vec::new());
    for (is_free, tokens) in reply {
        for &token in tokens {
            let clock = Stopwatch::start();
            let allows = masker.mask().expect("a mask").allows(token);
            let time = clock.elapsed().cpu_ns.saturating_sub(reading);
            assert!(allows, "{:?}", String::from_utf8_lossy(vocabulary.token_bytes(token)));
            all.push(time);
            if *is_free {
                free.push(time);
            }
            masker.advance(token).expect("an allowed token");
        }
    }
    (all, (free, masker.memory_bytes()))
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}
