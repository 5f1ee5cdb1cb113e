//! `compare-devices`: holds a model on another device, such as a GPU, against the same model on the CPU, and times it there.

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use clap::Args;
use maskwright_models::{
    Choice, LanguageModel, LoadOptions, ModelDevice, ModelError, WeightFormat, load, logits_to_host, self_check,
};

/// Holds a model on another device against the same model on the CPU, and times it there.
///
/// Both continue the same prompts greedily, some longer than what goes through the layers at once. The logits must agree
/// at every place of the CPU's answer, and the tokens wherever the CPU's two best are further apart than that. It is an error where
/// something differs.
#[derive(Debug, Args)]
pub(crate) struct CompareDevices {
    /// The model: a directory, a hub id, or `builtin`
    #[arg(default_value = "builtin")]
    model: String,
    /// The device to hold against the CPU: cpu, cuda or cuda:N
    #[arg(long, default_value = "cuda")]
    device: ModelDevice,
    /// Number format of the weights on that device: auto, f32, bf16 or f16
    #[arg(long, default_value = "f32")]
    dtype: WeightFormat,
    /// Tokens of each answer
    #[arg(long, default_value_t = 32)]
    count: usize,
    /// Lengths of the prompts, in tokens
    #[arg(long, value_delimiter = ',', default_value = "1,12,300,600")]
    prompts: Vec<usize>,
    /// Answers begun right behind a pass that nobody waits for
    #[arg(long, default_value_t = 20)]
    repeats: usize,
    /// Difference of logits allowed, as a part of their spread [default: 0.001 for f32, else 0.1]
    #[arg(long)]
    tolerance: Option<f32>,
    /// Threads of the forward pass on the CPU
    #[arg(long)]
    threads: Option<usize>,
}

impl CompareDevices {
    /// Runs the command.
    pub(crate) fn run(&self) -> Result<(), Box<dyn Error>> {
        match compare(self)? {
            true => Ok(()),
            false => Err(format!(
                "{} on {} does not compute what it computes on the CPU",
                self.model, self.device
            )
            .into()),
        }
    }
}

/// Prints the comparison; returns false if something differs.
fn compare(arguments: &CompareDevices) -> Result<bool, Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let options = LoadOptions {
        threads: arguments.threads,
        ..LoadOptions::default()
    };
    let source = arguments.model.parse()?;
    let mut reference = load(&source, &options)?;
    let start = Instant::now();
    let mut other = load(
        &source,
        &LoadOptions {
            device: arguments.device,
            dtype: arguments.dtype,
            ..options
        },
    )?;
    let load_seconds = start.elapsed().as_secs_f64();
    let summary = other.summary().clone();
    writeln!(
        out,
        "{}: {:.3} billion weights as {} on {}, {} bytes of them read for a token; loaded in {load_seconds:.2} s",
        summary.name,
        summary.parameters as f64 / 1e9,
        summary.dtype,
        summary.device,
        summary.bytes_per_token,
    )?;
    let (reference, other) = (&mut *reference.model, &mut *other.model);
    let exact = summary.dtype == "f32";
    let tolerance = arguments.tolerance.unwrap_or(if exact { 1e-3 } else { 0.1 });

    let mut passed = true;
    for &length in &arguments.prompts {
        let prompt = prompt(other, length.max(1));
        let expected = answer(reference, &prompt, arguments.count)?;
        let fed = follow(other, &prompt, &expected.tokens)?;
        let compared = Comparison::of(&expected.logits, &fed);
        let own = answer(other, &prompt, arguments.count)?;
        let good = compared.difference <= tolerance && compared.widest_miss <= tolerance && own.choices == own.tokens;
        passed &= good;
        let same = expected.tokens.iter().zip(&own.tokens).take_while(|(a, b)| a == b);
        writeln!(
            out,
            "prompt of {length}: logits differ by {:.1e} of their spread at most; {} of {} places have another best token, {:.1e} apart \
             at most; left to itself it agrees for {} tokens; prompt {:.2} ms (CPU {:.2}), token {:.3} ms (CPU {:.3}): {}",
            compared.difference,
            compared.misses,
            expected.tokens.len(),
            compared.widest_miss,
            same.count(),
            own.prompt_ms,
            expected.prompt_ms,
            own.token_ms,
            expected.token_ms,
            verdict(good),
        )?;
    }

    let in_runs = Comparison::of(&runs(reference)?, &runs(other)?);
    let good = in_runs.difference <= tolerance;
    passed &= good;
    writeln!(
        out,
        "appended in runs of 1 to {LONGEST_RUN} tokens, some taken back: logits differ by {:.1e} of their spread at most: {}",
        in_runs.difference,
        verdict(good),
    )?;

    let long = prompt(other, 300);
    let check = self_check(other, &long, if exact { 1e-4 } else { 0.05 })?;
    passed &= check.passed;
    writeln!(
        out,
        "at once against one by one: {:.1e}, after a rollback: {:.1e}, of a spread of {:.1}: {}",
        check.append_difference,
        check.restore_difference,
        check.spread,
        verdict(check.passed),
    )?;

    let equal = unwaited(other, arguments)?;
    passed &= equal == arguments.repeats;
    writeln!(
        out,
        "answers begun on another thread behind a pass that nobody waits for: {equal} of {} as without one: {}",
        arguments.repeats,
        verdict(equal == arguments.repeats),
    )?;
    Ok(passed)
}

fn verdict(good: bool) -> &'static str {
    if good { "ok" } else { "DIFFERS" }
}

/// Tokens that are the same each time, from all over the vocabulary.
fn prompt(model: &dyn LanguageModel, length: usize) -> Vec<u32> {
    let size = model.vocab_size() as u64;
    (1..=length as u64)
        .map(|index| (index * index * 7919 % size) as u32)
        .collect()
}

struct Answer {
    tokens: Vec<u32>,
    /// The tokens that the model itself chose, where its logits are.
    choices: Vec<u32>,
    /// The logits from which each token was chosen.
    logits: Vec<Vec<f32>>,
    prompt_ms: f64,
    /// The middle one of the passes over one token, with the choice of the next.
    token_ms: f64,
}

/// Continues `prompt` greedily.
fn answer(model: &mut dyn LanguageModel, prompt: &[u32], count: usize) -> Result<Answer, ModelError> {
    model.reset();
    let (mut tokens, mut choices, mut all, mut times) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut pending = prompt.to_vec();
    for _ in 0..count {
        let mut logits = Vec::new();
        let start = Instant::now();
        let computed = model.append(&pending)?;
        let choice = model.choose(&computed, None, Choice::Likeliest)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        choices.extend(choice);
        logits_to_host(&computed, &mut logits)?;
        let token = best(&logits);
        tokens.push(token);
        all.push(logits);
        pending = vec![token];
    }
    let prompt_ms = times.first().copied().unwrap_or_default();
    let mut steps = times.split_off(1.min(times.len()));
    steps.sort_by(f64::total_cmp);
    Ok(Answer {
        tokens,
        choices,
        logits: all,
        prompt_ms,
        token_ms: steps.get(steps.len() / 2).copied().unwrap_or_default(),
    })
}

/// The logits after `prompt` and after each but the last of `tokens`.
fn follow(model: &mut dyn LanguageModel, prompt: &[u32], tokens: &[u32]) -> Result<Vec<Vec<f32>>, ModelError> {
    model.reset();
    let mut all = Vec::new();
    let mut pending = prompt.to_vec();
    for &token in tokens {
        let mut logits = Vec::new();
        logits_to_host(&model.append(&pending)?, &mut logits)?;
        all.push(logits);
        pending = vec![token];
    }
    Ok(all)
}

/// Most tokens of a run.
const LONGEST_RUN: usize = 20;

/// The logits after runs of 1, 2 … tokens, each appended at once behind a run that is taken back.
fn runs(model: &mut dyn LanguageModel) -> Result<Vec<Vec<f32>>, ModelError> {
    model.reset();
    let tokens = prompt(model, LONGEST_RUN);
    let mut all = Vec::new();
    for length in 1..=LONGEST_RUN {
        let before = model.snapshot();
        model.append(&tokens[LONGEST_RUN - length..])?;
        model.restore(&before)?;
        let mut logits = Vec::new();
        logits_to_host(&model.append(&tokens[..length])?, &mut logits)?;
        all.push(logits);
    }
    Ok(all)
}

/// The likeliest token; of equals, the first.
fn best(logits: &[f32]) -> u32 {
    let likeliest = logits
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
    likeliest.map_or(0, |(token, _)| token as u32)
}

/// Difference of two sequences of logits, in parts of the first one's spread.
#[derive(Default)]
struct Comparison {
    difference: f32,
    /// Places where the best token is another.
    misses: usize,
    /// The largest distance, by the first one's logits, of the two best tokens at such a place.
    widest_miss: f32,
}

impl Comparison {
    fn of(expected: &[Vec<f32>], found: &[Vec<f32>]) -> Self {
        let mut result = Self::default();
        for (expected, found) in expected.iter().zip(found) {
            let (ours, theirs) = (best(expected) as usize, best(found) as usize);
            let smallest = expected.iter().copied().fold(f32::INFINITY, f32::min);
            let spread = (expected[ours] - smallest).max(f32::MIN_POSITIVE);
            for (a, b) in expected.iter().zip(found) {
                result.difference = result.difference.max((a - b).abs() / spread);
            }
            if ours != theirs {
                result.misses += 1;
                result.widest_miss = result.widest_miss.max((expected[ours] - expected[theirs]) / spread);
            }
        }
        result
    }
}

/// Counts the answers equal to the expected one, each after another thread has launched a pass over a long prompt and has not
/// waited for it.
fn unwaited(model: &mut dyn LanguageModel, arguments: &CompareDevices) -> Result<usize, ModelError> {
    let (short, long) = (prompt(model, 12), prompt(model, 500.min(model.max_positions())));
    let expected = answer(model, &short, 8)?;
    let mut equal = 0;
    for _ in 0..arguments.repeats {
        model.reset();
        model.append(&long)?;
        let found = std::thread::scope(|scope| scope.spawn(|| answer(&mut *model, &short, 8)).join());
        equal += usize::from(matches!(found, Ok(Ok(found)) if found.logits == expected.logits));
    }
    Ok(equal)
}
