//! Growth of the engine's times: the first mask's with the schema, those between masks with the document.
//!
//! `cargo run --release -p maskwright-benches --example growth [-- DIR]`: DIR is what `maskwright masks --data` takes; its
//! largest schemas are then compiled, too. Processor times; reading the clock, about a third of a microsecond, is in those
//! between masks.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use maskwright::{Compiler, ExactCompiler, ExactOptions, Formats, Masker, Vocabulary};
use maskwright_benches::{on_large_stack, vocabulary};
use maskwright_suites::dataset::Subsample;
use maskwright_suites::mask_bench::MaskBench;
use maskwright_worker::Stopwatch;

/// Compilations of which the median counts.
const REPETITIONS: usize = 3;
/// Tokens at the end of a document over which times are averaged.
const LAST: usize = 1_000;
/// The number of schemas of a directory that are measured, the largest first.
const LARGEST_SCHEMAS: usize = 5;

type Schema = fn(usize) -> String;
type Documents = (Schema, Schema);

/// Schemas that grow.
const SCHEMAS: [(&str, [usize; 5], Schema); 5] = [
    ("properties", [500, 2_000, 8_000, 32_000, 90_000], properties),
    ("required properties", [500, 2_000, 8_000, 32_000, 64_000], required),
    ("definitions", [1_000, 2_000, 4_000, 8_000, 16_000], definitions),
    ("enum", [500, 2_000, 8_000, 32_000, 128_000], listed),
    ("anyOf of objects", [80, 160, 320, 640, 1_280], alternatives),
];

/// Schemas with documents of a size.
const DOCUMENTS: [(&str, [usize; 5], Documents); 8] = [
    (
        "items of a list",
        [10, 100, 1_000, 2_000, 4_000],
        (|_| LIST.to_owned(), list),
    ),
    (
        "distinct items",
        [10, 40, 160, 640, 1_280],
        (|_| DISTINCT.to_owned(), distinct),
    ),
    (
        "characters of a string",
        [100, 1_000, 10_000, 50_000, 100_000],
        (|_| STRING.to_owned(), string),
    ),
    (
        "the same, maxLength",
        [100, 1_000, 10_000, 50_000, 100_000],
        (bounded, string),
    ),
    (
        "nesting, recursive",
        [10, 100, 1_000, 2_000, 4_000],
        (|_| TREE.to_owned(), nested),
    ),
    (
        "members, none declared",
        [10, 100, 1_000, 2_000, 4_000],
        (|_| "{}".to_owned(), members),
    ),
    (
        "members, all declared",
        [10, 100, 1_000, 2_000, 4_000],
        (properties, members),
    ),
    (
        "members, all required",
        [10, 100, 1_000, 2_000, 4_000],
        (required, members),
    ),
];

const LIST: &str = r#"{"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"},
    "name": {"type": "string"}}, "required": ["id"], "additionalProperties": false}}"#;
const DISTINCT: &str = r#"{"type": "array", "items": {"type": "string"}, "uniqueItems": true}"#;
const STRING: &str = r#"{"type": "string"}"#;
const TREE: &str = r##"{"type": "object", "properties": {"in": {"$ref": "#"}}, "additionalProperties": false}"##;

/// Texts of parts, separated by commas.
fn joined(count: usize, part: impl Fn(&mut String, usize)) -> String {
    let mut text = String::new();
    for index in 0..count {
        if index > 0 {
            text.push_str(", ");
        }
        part(&mut text, index);
    }
    text
}

/// Writing to a string cannot fail.
macro_rules! part {
    ($($argument:tt)*) => {
        |text: &mut String, index: usize| { let _ = write!(text, $($argument)*, index = index); }
    };
}

fn properties(count: usize) -> String {
    let properties = joined(count, part!(r#""name{index}": {{"type": "string"}}"#));
    format!(r#"{{"type": "object", "properties": {{{properties}}}, "additionalProperties": false}}"#)
}

fn required(count: usize) -> String {
    let properties = joined(count, part!(r#""name{index}": {{"type": "string"}}"#));
    let names = joined(count, part!(r#""name{index}""#));
    format!(
        r#"{{"type": "object", "properties": {{{properties}}}, "required": [{names}], "additionalProperties": false}}"#
    )
}

fn definitions(count: usize) -> String {
    let properties = joined(count, part!(r##""name{index}": {{"$ref": "#/$defs/type{index}"}}"##));
    let types = joined(
        count,
        part!(
            r#""type{index}": {{"type": "object", "properties": {{"id": {{"type": "integer", "minimum": {index}}}, "unit": {{"enum": ["a", "b", "c{index}"]}}}}, "required": ["id"]}}"#
        ),
    );
    format!(r#"{{"type": "object", "properties": {{{properties}}}, "$defs": {{{types}}}}}"#)
}

fn listed(count: usize) -> String {
    format!(r#"{{"enum": [{}]}}"#, joined(count, part!(r#""value {index}""#)))
}

fn alternatives(count: usize) -> String {
    let objects = joined(
        count,
        part!(
            r#"{{"type": "object", "properties": {{"kind": {{"const": "kind {index}"}}, "value": {{"type": "string"}}}}, "required": ["kind"], "additionalProperties": false}}"#
        ),
    );
    format!(r#"{{"anyOf": [{objects}]}}"#)
}

fn bounded(count: usize) -> String {
    format!(r#"{{"type": "string", "maxLength": {}}}"#, 2 * count)
}

fn list(count: usize) -> String {
    format!(
        "[{}]",
        joined(count, part!(r#"{{"id": {index}, "name": "somebody {index}"}}"#))
    )
}

fn distinct(count: usize) -> String {
    format!("[{}]", joined(count, part!(r#""somebody {index}""#)))
}

fn string(count: usize) -> String {
    let words: String = "The quick brown fox jumps over the lazy dog. "
        .chars()
        .cycle()
        .take(count)
        .collect();
    format!("\"{words}\"")
}

fn nested(count: usize) -> String {
    [r#"{"in": "#.repeat(count), "{}".to_owned(), "}".repeat(count)].concat()
}

fn members(count: usize) -> String {
    format!("{{{}}}", joined(count, part!(r#""name{index}": "value {index}""#)))
}

fn main() -> ExitCode {
    let mut result = Ok(());
    on_large_stack(|| {
        let vocabulary = vocabulary();
        let options = ExactOptions::judging().formats(Formats::Asserted);
        let compiler = ExactCompiler::new(vocabulary.clone(), options);
        result = print(&compiler, &vocabulary, std::env::args().nth(1));
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn print(compiler: &ExactCompiler, vocabulary: &Vocabulary, directory: Option<String>) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    // The first schema of all finds nothing warm.
    first_mask(compiler, LIST)?;
    writeln!(
        out,
        "| schema | size | KB | to the first mask (ms) | us per KB |\n|---|--:|--:|--:|--:|"
    )?;
    for (name, sizes, schema) in SCHEMAS {
        for size in sizes {
            let schema = schema(size);
            compilation(&mut out, compiler, name, &size.to_string(), &schema)?;
        }
    }
    if let Some(directory) = directory {
        let bench = MaskBench::open(directory.as_ref())?;
        for (name, schema) in largest(&bench)? {
            compilation(&mut out, compiler, &name, "", &schema)?;
        }
    }
    writeln!(
        out,
        "\n| document | size | tokens | mean of all (us) | of the last thousand: mean | median | largest | again: mean |"
    )?;
    writeln!(out, "|---|--:|--:|--:|--:|--:|--:|--:|")?;
    for (name, sizes, (schema, document)) in DOCUMENTS {
        for size in sizes {
            let (schema, document) = (schema(size), document(size));
            match replays(compiler, vocabulary, &schema, &document) {
                Ok(line) => writeln!(out, "| {name} | {size} | {line} |")?,
                Err(error) => {
                    writeln!(out, "| {name} | {size} | {error} |")?;
                    break;
                }
            }
        }
    }
    Ok(())
}

/// The largest schemas of a directory, the smallest of them first.
fn largest(bench: &MaskBench) -> Result<Vec<(String, String)>, Failure> {
    let all = Subsample {
        limit: None,
        seed: None,
    };
    let mut largest: Vec<(String, String)> = Vec::new();
    for name in bench.sample(all) {
        largest.push((name.to_owned(), bench.read(name)?.schema_text));
        largest.sort_by_key(|(_, schema)| schema.len());
        if largest.len() > LARGEST_SCHEMAS {
            largest.remove(0);
        }
    }
    Ok(largest)
}

fn compilation(
    out: &mut impl io::Write,
    compiler: &ExactCompiler,
    name: &str,
    size: &str,
    schema: &str,
) -> Result<(), Failure> {
    let time = match first_mask(compiler, schema) {
        Ok(time) => time,
        Err(error) => {
            return Ok(writeln!(
                out,
                "| {name} | {size} | {} | {error} | |",
                schema.len() >> 10
            )?);
        }
    };
    let kilobytes = schema.len() as f64 / 1024.0;
    let per_kilobyte = micros(time) / kilobytes;
    let millis = micros(time) / 1e3;
    writeln!(
        out,
        "| {name} | {size} | {kilobytes:.0} | {millis:.1} | {per_kilobyte:.1} |"
    )?;
    Ok(out.flush()?)
}

/// The median time of compilation and first mask.
fn first_mask(compiler: &ExactCompiler, schema: &str) -> Result<Duration, Failure> {
    let mut times = Vec::new();
    for _ in 0..REPETITIONS {
        let start = Stopwatch::start();
        let mut masker = compiler.compile(schema)?;
        masker.mask()?;
        times.push(time_since(&start));
    }
    times.sort_unstable();
    Ok(times[REPETITIONS / 2])
}

/// A document by a new masker, and again by a copy made before.
fn replays(compiler: &ExactCompiler, vocabulary: &Vocabulary, schema: &str, document: &str) -> Result<String, Failure> {
    let tokenizer = vocabulary.tokenizer().ok_or("the vocabulary has a tokenizer")?;
    let tokens = tokenizer.tokenize(document.as_bytes());
    let mut masker = compiler.compile(schema)?;
    let mut copy = masker.fork()?;
    let first = replay(masker.as_mut(), &tokens)?;
    let again = replay(copy.as_mut(), &tokens)?;
    let mut last = first[first.len().saturating_sub(LAST)..].to_vec();
    last.sort_unstable();
    let largest = last.last().copied().unwrap_or_default();
    Ok(format!(
        "{} | {:.1} | {:.1} | {:.1} | {:.0} | {:.1}",
        tokens.len(),
        mean(&first),
        mean(&last),
        micros(last[last.len() / 2]),
        micros(largest),
        mean(&again),
    ))
}

/// The time of each mask, with its token accepted.
fn replay(masker: &mut dyn Masker, tokens: &[u32]) -> Result<Vec<Duration>, Failure> {
    let mut times = Vec::with_capacity(tokens.len());
    for &token in tokens {
        let start = Stopwatch::start();
        masker.mask()?;
        masker.advance(token)?;
        times.push(time_since(&start));
    }
    masker.assert_done()?;
    Ok(times)
}

fn time_since(start: &Stopwatch) -> Duration {
    Duration::from_nanos(start.elapsed().cpu_ns)
}

fn mean(times: &[Duration]) -> f64 {
    micros(times.iter().sum()) / times.len() as f64
}

fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
