//! Replays MaskBench through our engine in this process, for those who make it faster: what is slow, and where.
//!
//! `cargo run --release -p maskwright-benches --example replay -- DIR [--limit N] [--seed S] [--slowest N]
//! [--generation] [--cold] [--least FILE]`: DIR is what `maskwright masks --data` takes. With `--cold` the processor's caches are filled
//! with other things before each schema, as they are where frameworks take turns, or requests. Prints percentiles of the
//! elapsed time of a first mask after compilation, and of a mask with the token accepted after it, and the slowest with
//! the end of the document before them. A profiler can be put on it: nothing else runs. FILE keeps the least that each mask has
//! taken so far in runs of the same schemas and documents, and what is printed is by these: what is left of a tail after
//! several runs is work, and not what else the machine does. `maskwright masks` is what compares frameworks.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use maskwright::{Compiler, ExactCompiler, ExactOptions, Formats, Style, Vocabulary};
use maskwright_suites::dataset::Subsample;
use maskwright_suites::mask_bench::MaskBench;

/// The one of the harness, so that times are like those of `maskwright masks`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Characters of a document that are shown before a slow mask.
const SHOWN: usize = 60;

/// Words of 8 bytes that are written before each schema with `--cold`: more than a core's own caches hold.
const OTHER_THINGS: usize = 12 << 20;

struct Arguments {
    directory: String,
    sample: Subsample,
    slowest: usize,
    style: Style,
    cold: bool,
    least: Option<PathBuf>,
}

fn arguments() -> Option<Arguments> {
    let mut words = std::env::args().skip(1);
    let mut read = Arguments {
        directory: words.next()?,
        sample: Subsample {
            limit: None,
            seed: None,
        },
        slowest: 20,
        style: Style::rfc8259(),
        cold: false,
        least: None,
    };
    while let Some(word) = words.next() {
        match &word[..] {
            "--limit" => read.sample.limit = Some(words.next()?.parse().ok()?),
            "--seed" => read.sample.seed = Some(words.next()?.parse().ok()?),
            "--slowest" => read.slowest = words.next()?.parse().ok()?,
            "--generation" => read.style = Style::generation(),
            "--cold" => read.cold = true,
            "--least" => read.least = Some(words.next()?.into()),
            _ => return None,
        }
    }
    Some(read)
}

/// A mask, and the token after it accepted.
struct Step {
    time: Duration,
    file: String,
    before: String,
}

#[derive(Default)]
struct Times {
    first: Vec<Duration>,
    between: Vec<Duration>,
    slow: Vec<Step>,
    /// Number of the slow steps that are shown.
    slowest: usize,
    /// Time that at least `slowest` steps are known to have taken.
    known_slow: Duration,
    /// The least that masks took in runs before, in the same order.
    least: Vec<Duration>,
    refused: Vec<String>,
}

impl Times {
    fn note(&mut self, step: Step) {
        self.slow.push(step);
        if self.slow.len() > 2 * self.slowest {
            self.keep_slowest();
            self.known_slow = self.slow.last().map_or(Duration::MAX, |last| last.time);
        }
    }

    fn keep_slowest(&mut self) {
        self.slow.sort_by_key(|step| std::cmp::Reverse(step.time));
        self.slow.truncate(self.slowest);
    }
}

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        report("usage: replay DIR [--limit N] [--seed S] [--slowest N] [--generation] [--cold] [--least FILE]");
        return ExitCode::FAILURE;
    };
    match replay(&arguments) {
        Ok(times) => print(times),
        Err(error) => {
            report(&error);
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn replay(arguments: &Arguments) -> Result<Times, String> {
    let bench = MaskBench::open(arguments.directory.as_ref()).map_err(|error| error.to_string())?;
    let vocabulary = maskwright_benches::vocabulary();
    let options = ExactOptions::default()
        .formats(Formats::Asserted)
        .style(arguments.style);
    let compiler = ExactCompiler::new(vocabulary.clone(), options);
    let mut times = Times {
        slowest: arguments.slowest,
        least: arguments.least.as_deref().map_or(Ok(Vec::new()), read_least)?,
        ..Times::default()
    };
    let mut others = vec![0_u64; if arguments.cold { OTHER_THINGS } else { 0 }];
    for name in bench.sample(arguments.sample) {
        let file = bench.read(name).map_err(|error| error.to_string())?;
        others.iter_mut().for_each(|word| *word = word.wrapping_add(1));
        std::hint::black_box(&others);
        let texts = file.instances.iter().map(|instance| &instance.text[..]);
        if let Err(error) = one(&compiler, &vocabulary, name, &file.schema_text, texts, &mut times) {
            times.refused.push(format!("{name}: {error}"));
        }
    }
    times.keep_slowest();
    if let Some(file) = &arguments.least {
        write_least(file, &times)?;
    }
    Ok(times)
}

/// Times that a run before has left: nanoseconds, a line each. None where there is no such file yet.
fn read_least(file: &Path) -> Result<Vec<Duration>, String> {
    let text = match std::fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.map_err(|error| format!("{}: {error}", file.display()))?,
    };
    let times = text.lines().map(|line| line.parse().map(Duration::from_nanos));
    times
        .collect::<Result<_, _>>()
        .map_err(|error| format!("{}: {error}: not times of masks", file.display()))
}

fn write_least(file: &Path, times: &Times) -> Result<(), String> {
    if !times.least.is_empty() && times.least.len() != times.between.len() {
        return Err(format!("{}: times of other masks than these", file.display()));
    }
    let text: String = times
        .between
        .iter()
        .map(|time| format!("{}\n", time.as_nanos()))
        .collect();
    std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

fn one<'a>(
    compiler: &ExactCompiler,
    vocabulary: &Vocabulary,
    name: &str,
    schema: &str,
    texts: impl Iterator<Item = &'a str>,
    times: &mut Times,
) -> Result<(), maskwright::CompileError> {
    let start = Instant::now();
    let mut masker = compiler.compile(schema)?;
    let _ = masker.mask();
    times.first.push(start.elapsed());
    for text in texts {
        let Ok(mut masker) = masker.fork() else { continue };
        let tokens = vocabulary
            .tokenizer()
            .map(|tokenizer| tokenizer.tokenize(text.as_bytes()));
        let mut read = 0;
        for token in tokens.unwrap_or_default() {
            let start = Instant::now();
            let allowed = masker.mask().is_ok_and(|mask| mask.allows(token)) && masker.advance(token).is_ok();
            let before = times.least.get(times.between.len()).copied();
            let time = start.elapsed().min(before.unwrap_or(Duration::MAX));
            times.between.push(time);
            if time > times.known_slow {
                let before = String::from_utf8_lossy(&text.as_bytes()[..read]);
                let before = before.chars().rev().take(SHOWN).collect::<String>();
                times.note(Step {
                    time,
                    file: name.to_owned(),
                    before: before.chars().rev().collect(),
                });
            }
            if !allowed {
                break;
            }
            read += vocabulary.token_bytes(token).len();
        }
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "what the program is for")]
fn print(mut times: Times) {
    println!("{} schemas, {} refused", times.first.len(), times.refused.len());
    for refused in &times.refused {
        println!("{refused}");
    }
    for (name, times) in [("first mask", &mut times.first), ("mask and token", &mut times.between)] {
        times.sort_unstable();
        let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
        let total: Duration = times.iter().sum();
        print!(
            "{name}: {} in {total:.1?}, mean {:.2} us",
            times.len(),
            micros(total) / times.len() as f64
        );
        for (label, part) in [
            ("p25", 0.25),
            ("p50", 0.5),
            ("p75", 0.75),
            ("p90", 0.9),
            ("p95", 0.95),
            ("p99", 0.99),
            ("p99.9", 0.999),
            ("max", 1.0),
        ] {
            let place = ((times.len() as f64 * part) as usize).min(times.len().saturating_sub(1));
            if let Some(time) = times.get(place) {
                print!(", {label} {:.2}", micros(*time));
            }
        }
        println!();
    }
    for step in &times.slow {
        println!("{:>10.1?} {} {:?}", step.time, step.file, step.before);
    }
}

#[expect(clippy::print_stderr, reason = "errors of the program")]
fn report(error: &str) {
    eprintln!("{error}");
}
