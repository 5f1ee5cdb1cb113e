//! Structural tags of 1, 10, 100 and 500 tools: processor time of compilation, of the first mask, and of the masks of replies.
//!
//! `cargo run --release -p maskwright-benches --bin tags -- [--tools N,…] [--style json|qwen_xml]` prints a line for each number
//! of tools. A reply is free text with calls of up to twenty of the tools in the format of Hermes or, in the other style, of
//! Qwen3-Coder, each with arguments of its own. Masks are those of o200k_base; a tag was compiled before, so that the vocabulary
//! is sorted. Masks of free text are those outside of calls when a second masker writes the reply.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use maskwright::{ExactOptions, Masker, ReplyCompiler, TokenId, Vocabulary};
use maskwright_worker::Stopwatch;
use serde_json::{Value, json};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Tools of one tag.
const TOOLS: [usize; 4] = [1, 10, 100, 500];
/// Tools that a reply calls.
const CALLED: usize = 20;
/// The text between calls.
const PROSE: &str = "The forecast needs two places, so I look both up; a < b holds, and 2<3. Été, naïve, 日本語: <tool> is no call.\n\n\
    - first the one\n- then the other\n";

fn main() -> ExitCode {
    let (mut counts, mut format) = (TOOLS.to_vec(), HERMES);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let list = arguments.next().unwrap_or_default();
        let numbers: Result<Vec<usize>, _> = list.split(',').map(str::parse).collect();
        match (&argument[..], numbers) {
            ("--tools", Ok(numbers)) => counts = numbers,
            ("--style", _) if list == HERMES.style => format = HERMES,
            ("--style", _) if list == QWEN_CODER.style => format = QWEN_CODER,
            _ => {
                report(&format!(
                    "{argument} {list} is not understood: --tools N,… --style json|qwen_xml\n"
                ));
                return ExitCode::FAILURE;
            }
        }
    }
    let vocabulary = maskwright_benches::vocabulary();
    maskwright_benches::on_large_stack(|| {
        let compiler = ReplyCompiler::new(vocabulary.clone(), ExactOptions::default());
        // The vocabulary is sorted.
        let mut warm = compile(&compiler, format, 1);
        warm.mask().expect("a mask");
        report(
            "tools  compile ms  first mask ms  memory MiB | masks in us: p50    p99    max | free text: p50    p99    max\n",
        );
        for count in counts {
            measure(&compiler, &vocabulary, format, count);
        }
    });
    ExitCode::SUCCESS
}

fn report(line: &str) {
    use std::io::Write as _;
    // Nobody may be listening.
    let _ = std::io::stdout().write_all(line.as_bytes());
}

/// A tool's schema, no two alike.
fn schema(number: usize) -> Value {
    json!({
        "type": "object",
        "properties": {
            format!("place_{number}"): {"type": "string", "description": "Where it is", "minLength": 1},
            "unit": {"enum": ["celsius", "fahrenheit", format!("unit_{number}")]},
            "days": {"type": "integer", "minimum": 1, "maximum": 5 + number},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 4},
        },
        "required": [format!("place_{number}"), "days"],
        "additionalProperties": false,
    })
}

/// The format of calls.
#[derive(Clone, Copy)]
struct Format {
    style: &'static str,
    /// The texts of a call before and behind the number of its tool, and behind its arguments.
    marks: [&'static str; 3],
    /// The arguments of a call, by the numbers of tool and call.
    arguments: fn(usize, usize) -> String,
}

const HERMES: Format = Format {
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

const QWEN_CODER: Format = Format {
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

impl Format {
    fn begin(self, number: usize) -> String {
        let [before, behind, _] = self.marks;
        format!("{before}{number}{behind}")
    }
}

fn tag(format: Format, count: usize) -> String {
    let tags = (0..count).map(|number| {
        let content = json!({"type": "json_schema", "style": format.style, "json_schema": schema(number)});
        json!({"type": "tag", "begin": format.begin(number), "content": content, "end": format.marks[2]})
    });
    let tags: Vec<Value> = tags.collect();
    let format = json!({"type": "triggered_tags", "triggers": ["<tool_call>"], "tags": tags});
    json!({"type": "structural_tag", "format": format}).to_string()
}

fn compile(compiler: &ReplyCompiler, format: Format, count: usize) -> Box<dyn Masker> {
    compiler
        .compile_structural_tag(&tag(format, count))
        .expect("a sound tag")
}

/// A reply in parts, each with whether it is free text.
fn reply(format: Format, count: usize) -> Vec<(bool, String)> {
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

fn measure(compiler: &ReplyCompiler, vocabulary: &Arc<Vocabulary>, format: Format, count: usize) {
    let tag = tag(format, count);
    let clock = Stopwatch::start();
    let mut masker = compiler.compile_structural_tag(&tag).expect("a sound tag");
    let compiled = clock.elapsed().cpu_ns;
    let again = masker.fork().expect("a copy");
    let clock = Stopwatch::start();
    masker.mask().expect("a mask");
    let first = clock.elapsed().cpu_ns;
    let reading = Stopwatch::reading().cpu_ns;
    let (mut all, mut free) = (Vec::new(), Vec::new());
    let reply: Vec<(bool, Vec<TokenId>)> = reply(format, count)
        .into_iter()
        .map(|(is_free, text)| (is_free, tokens(vocabulary, &text)))
        .collect();
    for (visit, mut masker) in [masker, again].into_iter().enumerate() {
        for (is_free, tokens) in &reply {
            for &token in tokens {
                let clock = Stopwatch::start();
                let allows = masker.mask().expect("a mask").allows(token);
                let time = clock.elapsed().cpu_ns.saturating_sub(reading);
                assert!(allows, "{:?}", String::from_utf8_lossy(vocabulary.token_bytes(token)));
                match (visit, is_free) {
                    (0, _) => all.push(time),
                    (_, true) => free.push(time),
                    (_, false) => {}
                }
                masker.advance(token).expect("an allowed token");
            }
        }
        if visit == 1 {
            let memory = masker.memory_bytes().unwrap_or_default() as f64 / f64::from(1 << 20);
            let mut line = format!("{count:5}  {:10.1}  {:13.2}  {memory:10.1} |", ms(compiled), ms(first));
            for (times, width) in [(&mut all, 18), (&mut free, 15)] {
                times.sort_unstable();
                let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)] as f64 / 1e3;
                let _ = write!(line, " {:width$.1} {:6.1} {:6.1} |", at(50), at(99), at(100));
            }
            report(&format!("{}\n", line.trim_end_matches(" |")));
        }
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}
