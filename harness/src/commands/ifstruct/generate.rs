//! `maskwright ifstruct generate`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use maskwright_models::SamplingOptions;
use maskwright_suites::ifstruct::{GenerateError, SAMPLES_PER_SEED, Sample, SampleGenerator, Split, Statistics};
use serde_json::json;

use super::super::arguments::numbers::positive;
use super::super::arguments::servers::client;
use super::super::output_file::OutputFile;
use super::difficulty::DifficultyArguments;
use crate::error::CommandError;
use crate::ifstruct::rewrite::{RewriteCounts, Rewriter};
use crate::ifstruct::settings::sample_line;
use crate::report::table::{Style, table};
use crate::run::{interrupt, progress};
use crate::server::{ServerSettings, check};

/// Arguments of `maskwright ifstruct generate`.
#[derive(Debug, Args)]
pub struct GenerateArguments {
    /// Split of the entities to draw from: no schema is in both splits
    #[arg(long, value_enum)]
    split: Split,
    /// Number of samples
    #[arg(short = 'n', long, default_value_t = 2_000, value_parser = positive::<u64>, value_name = "N")]
    count: u64,
    /// Seed: the same seed gives the same samples on every platform, for any number of samples
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    seed: u64,
    /// Samples of that seed to pass over first
    #[arg(long, default_value_t = 0, value_name = "K")]
    skip: u64,
    #[command(flatten)]
    difficulty: DifficultyArguments,
    /// Have a chat server put the requests that are prose in somebody's voice into other words, NAME=URL,model=MODEL and the further settings of
    /// `bench --server`. A rewriting in which a reader does not find the requirements of the sample is rejected; after three the generator's own
    /// words stay
    #[arg(long, value_name = "NAME=URL,model=MODEL,…")]
    rewriter: Option<ServerSettings>,
    /// Requests in flight at the rewriter
    #[arg(long, default_value_t = 1, requires = "rewriter", value_parser = clap::value_parser!(u16).range(1..=1024), value_name = "N")]
    concurrency: u16,
    /// Sampling temperature of the rewriter
    #[arg(long, default_value_t = 0.8, requires = "rewriter", value_name = "T")]
    temperature: f32,
    /// File to write the samples to instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write over a file that is there already
    #[arg(long, requires = "out")]
    force: bool,
    /// Print the counts of the generated samples: on standard output with --out, else on standard error
    #[arg(long)]
    stats: bool,
    /// The counts as one JSON object; implies --stats
    #[arg(long)]
    json: bool,
}

/// Number of samples written at once.
const CHUNK: usize = 256;
/// Longest time that a rewriting may take.
const REWRITING: Duration = Duration::from_secs(120);

impl GenerateArguments {
    /// Returns the server that rewrites, once it has answered a first question; `None` where no server was named.
    fn rewriter(&self) -> Result<Option<Rewriter>, CommandError> {
        let Some(settings) = &self.rewriter else {
            return Ok(None);
        };
        let sampling = SamplingOptions {
            temperature: self.temperature,
            seed: self.seed,
            ..SamplingOptions::default()
        };
        sampling.validate()?;
        if let Some(option) = settings.dialect.missing_option(&sampling) {
            let message = format!(
                "server {}: requests of dialect {} have no {option}",
                settings.name, settings.dialect
            );
            return Err(CommandError::Arguments(message));
        }
        let settings = ServerSettings {
            constrained: false,
            ..settings.clone()
        };
        let client = client(&settings)?;
        interrupt::watch();
        check(&client, Some(64), &sampling, REWRITING)?;
        Ok(Some(Rewriter {
            client,
            concurrency: self.concurrency.into(),
            sampling,
            limit: REWRITING,
        }))
    }
}

/// Generates samples and counts them.
///
/// # Errors
///
/// [`CommandError::Arguments`] for a seed or a number of samples that is too large, [`CommandError::Exists`] or
/// [`CommandError::Write`] where the file cannot be written.
pub fn run(arguments: &GenerateArguments) -> Result<(), CommandError> {
    let refused = |error: GenerateError| CommandError::Arguments(error.to_string());
    let generator = SampleGenerator::new(arguments.seed, arguments.split).map_err(refused)?;
    let generator = generator.difficulty(arguments.difficulty.difficulty());
    let end = arguments.skip.checked_add(arguments.count);
    if end.is_none_or(|end| end > SAMPLES_PER_SEED) {
        let message = format!("a seed has {SAMPLES_PER_SEED} samples: take fewer, or others from another --seed");
        return Err(CommandError::Arguments(message));
    }
    let mut file = match &arguments.out {
        None => None,
        Some(path) => Some(OutputFile::create(path, arguments.force)?),
    };
    let mut statistics = Statistics::default();
    let rewriter = arguments.rewriter()?;
    let mut rewritten = RewriteCounts::default();
    // Both are at most `SAMPLES_PER_SEED`.
    let (skip, count) = (arguments.skip as usize, arguments.count as usize);
    let bar = progress::bar(arguments.count, "samples");
    let mut samples = generator.skip(skip).take(count);
    let stopped = loop {
        let mut chunk: Vec<Sample> = samples.by_ref().take(CHUNK).collect();
        if chunk.is_empty() {
            break None;
        }
        let mut stopped = None;
        if let Some(rewriter) = &rewriter {
            let (done, ended) = rewriter.rewrite(&mut chunk, &mut rewritten);
            // Rewritten samples are kept, as they were paid for.
            chunk.truncate(done);
            stopped = ended.err();
        }
        let lines: String = chunk.iter().map(sample_line).collect();
        match &mut file {
            None => crate::print(&lines)?,
            Some(file) => file.write(&lines)?,
        }
        chunk.iter().for_each(|sample| statistics.add(sample));
        bar.inc(chunk.len() as u64);
        if stopped.is_some() {
            break stopped;
        }
    };
    if let Some(file) = file {
        file.finish()?;
    }
    bar.finish_and_clear();
    if let Some(error) = stopped {
        let written = statistics.samples;
        let next = arguments.skip + written;
        progress::say(&format!(
            "{written} samples are written; --skip {next} -n {} goes on behind them, into another --out",
            arguments.count - written
        ));
        return Err(error);
    }
    if let Some(rewriter) = &rewriter {
        let RewriteCounts {
            rewritten,
            rejected,
            kept,
        } = rewritten;
        progress::say(&format!(
            "{} has put {rewritten} requests into other words; {rejected} rewritings had lost or added a requirement, {kept} requests keep theirs",
            rewriter.client.settings().model
        ));
    }
    statistics.finish();
    match (arguments.stats || arguments.json, arguments.out.is_some()) {
        (false, false) => Ok(()),
        (false, true) => crate::print(&format!(
            "{} samples, {} different schemas\n",
            statistics.samples, statistics.distinct_schemas
        )),
        (true, true) => crate::print(&report(&statistics, arguments.json)),
        (true, false) => {
            progress::show(report(&statistics, arguments.json).trim_end());
            Ok(())
        }
    }
}

fn report(statistics: &Statistics, json: bool) -> String {
    if json {
        return format!("{}\n", json!(statistics));
    }
    let mut text = format!(
        "{} samples, {} different schemas\n\n",
        statistics.samples, statistics.distinct_schemas
    );
    let mut sizes = table(["", "min", "median", "mean", "max"], 1, Style::Terminal);
    for (what, size) in &statistics.sizes {
        sizes.add_row([
            what.replace('_', " "),
            size.min.to_string(),
            size.median.to_string(),
            format!("{:.1}", size.mean),
            size.max.to_string(),
        ]);
    }
    text.push_str(&format!("{sizes}\n\n"));
    for (what, counts) in &statistics.shares {
        let mut counted = table([what, "samples", "share"], 1, Style::Terminal);
        for (which, count) in counts {
            let share = 100.0 * *count as f64 / statistics.samples.max(1) as f64;
            counted.add_row([which.clone(), count.to_string(), format!("{share:.1} %")]);
        }
        text.push_str(&format!("{counted}\n\n"));
    }
    text
}
