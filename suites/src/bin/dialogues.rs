//! Writes training dialogues of the default model, or held-out prompts, as JSON Lines.
//!
//! Each line has `messages` (system, user and assistant turns; the last turn is the answer), `schema` (the schema of
//! the last request) and `shots` (how many demonstrations come first).

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
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
    /// How many dialogues.
    #[arg(long)]
    count: usize,
    /// Seed; the same seed gives the same bytes.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Which schemas to draw from.
    #[arg(long, value_enum, default_value_t = DialoguePart::Train)]
    split: DialoguePart,
    /// Which demonstrations come before the request.
    #[arg(long, value_enum, default_value_t = Shots::Mixed)]
    shots: Shots,
    /// Where to write; standard output if absent.
    #[arg(long)]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum DialoguePart {
    /// Schemas for training.
    Train,
    /// Schemas that are never trained on.
    #[value(name = "heldout")]
    HeldOut,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shots {
    /// None, one or two, drawn at random or the two of the benchmark, and several instructions.
    Mixed,
    /// None.
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

/// Instructions besides the benchmark's, so that the model does not depend on its wording.
const INSTRUCTIONS: &[&str] = &[
    "Answer with JSON that matches the schema.",
    "Write a JSON instance of the schema.",
    "You answer in JSON.",
    "You are a helpful assistant that answers in JSON.",
];

/// Texts of a schema and its instance.
fn texts(example: &Example) -> serde_json::Result<(String, String)> {
    Ok((
        json_text::to_string(&example.schema)?,
        json_text::to_string(&example.instance)?,
    ))
}

fn write(arguments: &Arguments, out: &mut dyn Write) -> io::Result<()> {
    let split = match arguments.split {
        DialoguePart::Train => SchemaSplit::Train,
        DialoguePart::HeldOut => SchemaSplit::HeldOut,
    };
    let mut examples = SchemaGenerator::new(arguments.seed, split);
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed ^ 0x6469_616c);
    let mut next = || examples.next().ok_or_else(|| io::Error::other("the generator ended"));
    for _ in 0..arguments.count {
        let example = next()?;
        let (schema, answer) = texts(&example)?;
        let (random, fixed) = match arguments.shots {
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
        let shots: Vec<prompt::Shot<'_>> = if fixed {
            prompt::DEFAULT_SHOTS.to_vec()
        } else {
            demonstrations
                .iter()
                .map(|(schema, answer)| (schema.as_str(), answer.as_str()))
                .collect()
        };
        let varied = matches!(arguments.shots, Shots::Mixed) && rng.random_bool(0.12);
        let system = if varied {
            INSTRUCTIONS.choose(&mut rng).unwrap_or(&prompt::SYSTEM)
        } else {
            prompt::SYSTEM
        };
        let mut messages = prompt::messages_with_system(system, &schema, &shots);
        messages.push(prompt::Message::new(prompt::Role::Assistant, answer));
        serde_json::to_writer(
            &mut *out,
            &Dialogue {
                messages,
                schema: &example.schema,
                shots: shots.len(),
            },
        )?;
        out.write_all(b"\n")?;
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
