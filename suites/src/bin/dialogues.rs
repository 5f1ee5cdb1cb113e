//! Writes training dialogues of the default model, or held-out prompts, as JSON Lines.
//!
//! Each line has `messages` (the turns, of which the last is the answer). With a schema as request it has `schema` (that of
//! the last request) and `shots` (number of demonstrations before it); with a request of IFStruct, `sample`, by which the answer is scored.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use maskwright_suites::ifstruct::{self, Sample, SampleGenerator, Split, reference};
use maskwright_suites::synthetic::{Example, SchemaGenerator, SchemaSplit};
use maskwright_suites::{json_text, prompt};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use serde_json::Value;

/// Write dialogues (instruction, schema, instance) from the synthetic generator, one JSON object per line.
#[derive(Parser)]
struct Arguments {
    /// Number of dialogues.
    #[arg(long)]
    count: usize,
    /// Seed; the same seed gives the same bytes.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Split to draw schemas from.
    #[arg(long, value_enum, default_value_t = DialoguePart::Train)]
    split: DialoguePart,
    /// Demonstrations before the request.
    #[arg(long, value_enum, default_value_t = Shots::Mixed)]
    shots: Shots,
    /// Percentage of dialogues that are requests of IFStruct.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=100))]
    ifstruct: u32,
    /// Give the fields of IFStruct's requests made-up names, and numbers other lower bounds.
    #[arg(long)]
    made_up_names: bool,
    /// `tokenizer.json` whose tokens of lower-case letters most words of made-up names are made of.
    #[arg(long, requires = "made_up_names")]
    name_pieces: Option<PathBuf>,
    /// File to write; standard output if absent.
    #[arg(long)]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum DialoguePart {
    /// Schemas and requests for training.
    Train,
    /// Schemas and requests that are never trained on.
    #[value(name = "heldout")]
    HeldOut,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shots {
    /// No demonstration, one or two, drawn at random, or the two of the benchmark; several instructions.
    Mixed,
    /// No demonstrations.
    None,
    /// The two demonstrations of the benchmark.
    Default,
}

#[derive(Serialize)]
struct Dialogue<'a> {
    messages: Vec<prompt::Message>,
    schema: &'a Value,
    shots: usize,
}

#[derive(Serialize)]
struct IfstructDialogue<'a> {
    messages: [prompt::Message; 2],
    sample: &'a Sample,
}

/// Instructions besides the benchmark's, so that the model does not depend on its wording.
const INSTRUCTIONS: &[&str] = &[
    "Answer with JSON that matches the schema.",
    "Write a JSON instance of the schema.",
    "You answer in JSON.",
    "You are a helpful assistant that answers in JSON.",
];

/// Returns the texts of a schema and its instance.
fn texts(example: &Example) -> serde_json::Result<(String, String)> {
    Ok((
        json_text::to_string(&example.schema)?,
        json_text::to_string(&example.instance)?,
    ))
}

/// Writes a request of IFStruct with a reply that satisfies it.
fn write_ifstruct(sample: &Sample, out: &mut dyn Write) -> io::Result<()> {
    let reply = reference::plain_reply(sample).map_err(io::Error::other)?;
    let messages = [
        prompt::Message::new(prompt::Role::User, sample.prompt.clone()),
        prompt::Message::new(prompt::Role::Assistant, reply),
    ];
    serde_json::to_writer(&mut *out, &IfstructDialogue { messages, sample })?;
    out.write_all(b"\n")
}

/// Writes a request for an instance of a schema, with demonstrations before it, and the instance.
fn write_schema(
    shots: Shots,
    examples: &mut dyn Iterator<Item = Example>,
    rng: &mut ChaCha8Rng,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut next = || examples.next().ok_or_else(|| io::Error::other("the generator ended"));
    let example = next()?;
    let (schema, answer) = texts(&example)?;
    let (random, fixed) = match shots {
        Shots::None => (0, false),
        Shots::Default => (0, true),
        Shots::Mixed => match rng.random_range(0..100) {
            0..38 => (0, false),
            38..72 => (0, true),
            72..88 => (1, false),
            _ => (2, false),
        },
    };
    let mut demonstrations = Vec::with_capacity(random);
    for _ in 0..random {
        demonstrations.push(texts(&next()?)?);
    }
    let demonstrations: Vec<prompt::Shot<'_>> = if fixed {
        prompt::DEFAULT_SHOTS.to_vec()
    } else {
        demonstrations
            .iter()
            .map(|(schema, answer)| (schema.as_str(), answer.as_str()))
            .collect()
    };
    let varied = matches!(shots, Shots::Mixed) && rng.random_bool(0.12);
    let system = if varied {
        INSTRUCTIONS.choose(rng).unwrap_or(&prompt::SYSTEM)
    } else {
        prompt::SYSTEM
    };
    let mut messages = prompt::messages_with_system(system, &schema, &demonstrations);
    messages.push(prompt::Message::new(prompt::Role::Assistant, answer));
    let dialogue = Dialogue {
        messages,
        schema: &example.schema,
        shots: demonstrations.len(),
    };
    serde_json::to_writer(&mut *out, &dialogue)?;
    out.write_all(b"\n")
}

/// The [`ifstruct::name_pieces`] of the `tokenizer.json` at `path`.
fn name_pieces(path: &Path) -> io::Result<Vec<String>> {
    let invalid =
        |problem: String| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {problem}", path.display()));
    let tokenizer: Value = serde_json::from_slice(&std::fs::read(path)?).map_err(|error| invalid(error.to_string()))?;
    let vocabulary = tokenizer.pointer("/model/vocab").and_then(Value::as_object);
    let vocabulary = vocabulary.ok_or_else(|| {
        invalid("model.vocab is no object: a tokenizer.json of byte-level BPE is expected".to_owned())
    })?;
    // `Ġ` is a blank in the vocabulary of byte-level BPE.
    let tokens: Vec<String> = vocabulary.keys().map(|token| token.replace('Ġ', " ")).collect();
    Ok(ifstruct::name_pieces(tokens.iter().map(String::as_bytes)))
}

fn write(arguments: &Arguments, out: &mut dyn Write) -> io::Result<()> {
    let (schemas, requests) = match arguments.split {
        DialoguePart::Train => (SchemaSplit::Train, Split::Train),
        DialoguePart::HeldOut => (SchemaSplit::HeldOut, Split::Test),
    };
    let mut examples = SchemaGenerator::new(arguments.seed, schemas);
    let mut samples = SampleGenerator::new(arguments.seed, requests).map_err(io::Error::other)?;
    if arguments.made_up_names {
        let pieces = arguments.name_pieces.as_deref().map(name_pieces);
        samples = samples.made_up_names(pieces.transpose()?.unwrap_or_default());
    }
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed ^ 0x6469_616c);
    for _ in 0..arguments.count {
        // Drawn only where IFStruct has a share, so that the dialogues of schemas alone stay the same as without this option.
        let is_ifstruct = arguments.ifstruct > 0 && rng.random_ratio(arguments.ifstruct, 100);
        if is_ifstruct {
            let sample = samples.next().ok_or_else(|| io::Error::other("the generator ended"))?;
            write_ifstruct(&sample, out)?;
        } else {
            write_schema(arguments.shots, &mut examples, &mut rng, out)?;
        }
    }
    out.flush()
}

fn run(arguments: &Arguments) -> io::Result<()> {
    match &arguments.out {
        Some(path) => write(arguments, &mut BufWriter::new(File::create(path)?)),
        None => write(arguments, &mut BufWriter::new(io::stdout().lock())),
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // A reader that stops early, such as `head`, is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: cannot write the dialogues: {error}");
            ExitCode::FAILURE
        }
    }
}
