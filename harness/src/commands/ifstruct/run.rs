//! `maskwright ifstruct run`.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use maskwright::{ExactOptions, Formats, ReplyCompiler};
use maskwright_models::{Constraint, DecodeOptions, FinishReason, LoadedModel, ModelError, SamplingOptions, generate};
use maskwright_suites::ifstruct::{GenerateError, Sample, SampleGenerator, Samples, Scorer, Split};
use maskwright_suites::prompt::{Message, Role};

use super::super::arguments::directory::DirectoryArguments;
use super::super::arguments::models::{ModelArguments, PROMPT_DATE};
use super::super::arguments::numbers::{positive, seconds};
use super::super::arguments::servers::ServerArguments;
use super::Judgement;
use crate::bench::prompts::{encode, first_passes, with_system};
use crate::bench::record::{GenerationRecord, ServerRecord};
use crate::bench::server_rows::total_cost;
use crate::error::CommandError;
use crate::ifstruct::record::{Mode, ReplyKey, ReplyRecord};
use crate::ifstruct::settings::{RunSettings, SAMPLES_FILE, sample_line, samples_hash};
use crate::ifstruct::{form, report};
use crate::pages::sections::ifstruct::leaderboard_page;
use crate::report::table::Style as TableStyle;
use crate::run::directory::{Recorded as _, RunDirectory};
use crate::run::machine_load::LoadWatch;
use crate::run::manifest::{Manifest, Settings as _};
use crate::run::{interrupt, progress};
use crate::server::{Answer, Client, Ended, Next, Patience, Question, Unanswered, ask_all, check};
use crate::terminal::wrapped;

/// Number of samples generated where no samples are given.
const SAMPLES: usize = 100;
/// Largest number of tokens of a reply that warms a model up.
const WARM_UP_TOKENS: usize = 16;
/// Name of the framework in errors of the decode loop.
const FRAMEWORK: &str = "maskwright";

/// Help of `--samples`, which names replies' samples in the other commands.
const SAMPLES_HELP: &str = "Samples to ask for: JSON Lines, or the hub's parquet file [default: those that `maskwright fetch ifstruct` has fetched, \
or else generated ones]";

/// Arguments of `maskwright ifstruct run`.
#[derive(Debug, Args)]
#[command(mut_arg("samples", |samples| samples.help(SAMPLES_HELP)))]
pub struct RunArguments {
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    servers: ServerArguments,
    #[command(flatten)]
    judgement: Judgement,
    /// Generate the samples of this split rather than read them
    #[arg(long, conflicts_with = "samples", value_name = "SPLIT")]
    split: Option<Split>,
    /// Samples, at most: the first ones [default: 100 that are generated, or all that are read]
    #[arg(short = 'n', long = "limit", value_parser = positive::<usize>, value_name = "N")]
    limit: Option<usize>,
    /// Seed of generated samples and of the sampling of tokens
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Modes in which models of this machine reply, comma-separated: alone, or constrained by this engine to replies that pass. Servers reply alone
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "unconstrained,constrained",
        value_name = "MODES"
    )]
    modes: Vec<Mode>,
    /// Tokens per reply, at most
    #[arg(long, default_value_t = 2048, value_parser = positive::<usize>, value_name = "N")]
    max_tokens: usize,
    /// Seconds that a reply may take
    #[arg(long, default_value_t = 120.0, value_parser = seconds, value_name = "S")]
    generation_limit: f64,
    /// Sampling temperature; 0 is greedy
    #[arg(long, default_value_t = 0.0, value_name = "T")]
    temperature: f32,
    #[command(flatten)]
    directory: DirectoryArguments,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// Asks models for data in the words of the samples, and prints the numbers of replies that meet the request.
///
/// # Errors
///
/// [`CommandError`]; records so far stay in the run's directory.
pub fn run(arguments: &RunArguments) -> Result<(), CommandError> {
    arguments.directory.check(RunSettings::COMMAND)?;
    arguments.model.check(!arguments.local_models().is_empty())?;
    let sampling = SamplingOptions {
        temperature: arguments.temperature,
        seed: arguments.seed,
        ..SamplingOptions::default()
    };
    sampling.validate()?;
    let samples = arguments.samples()?;
    let modes = arguments.modes();
    let clients = arguments.servers.without_schemas().clients(&[], &sampling)?;
    let local = arguments.local_models();
    let servers: Vec<String> = clients.iter().map(|client| server_name(client)).collect();
    let division = arguments.directory.division(local.iter().chain(&servers).cloned());
    let has = |model: &str, sample: &Sample| division.has(model, &sample.seed.to_string());
    let has_samples = |model: &str| samples.all().iter().any(|sample| has(model, sample));
    let mut described = Vec::new();
    for name in local.iter().filter(|name| has_samples(name)) {
        described.push(serde_json::to_value(arguments.model.load(name)?.summary()).unwrap_or_default());
    }
    let mut manifest = Manifest::new(RunSettings {
        models: described,
        servers: arguments.servers.summaries(),
        modes: modes.clone(),
        samples: samples.all().len(),
        sha256: samples_hash(samples.all()),
        level: arguments.judgement.level(),
        sampling: sampling.clone(),
        max_tokens: arguments.max_tokens,
        generation_limit_s: arguments.generation_limit,
        prompt: arguments.model.prompt.settings()?,
        prompt_date: PROMPT_DATE.date().to_string(),
        threads: arguments.model.threads(),
    });
    interrupt::watch();
    let of_models = local
        .iter()
        .flat_map(|model| modes.iter().map(move |mode| (model, *mode)));
    let asked = of_models.chain(servers.iter().map(|server| (server, Mode::Unconstrained)));
    let planned = asked.flat_map(|(model, mode)| {
        let own = samples.all().iter().filter(move |sample| has(model, sample));
        own.map(move |sample| ReplyKey {
            model: model.clone(),
            mode,
            seed: sample.seed,
        })
    });
    let planned: HashSet<ReplyKey> = planned.collect();
    let limit = Duration::from_secs_f64(arguments.generation_limit);
    let check_settings = |client: &Arc<Client>| check(client, Some(arguments.max_tokens), &sampling, limit);
    // Errors of the servers' settings should not appear after hours, nor leave a run behind in which nothing was asked.
    let is_continued = arguments.directory.is_continued();
    if !is_continued {
        for client in &clients {
            let name = server_name(client);
            if planned.iter().any(|key| key.model == name) {
                check_settings(client)?;
            }
        }
    }
    let mut directory: RunDirectory<ReplyRecord> = arguments.directory.open(&mut manifest, planned)?;
    // A run that was killed before it wrote the samples has no such file.
    if !directory.path().join(SAMPLES_FILE).exists() {
        let lines = samples.all().iter().map(sample_line);
        directory.write(SAMPLES_FILE, &lines.collect::<String>())?;
    }
    let mut run = ReplyRun {
        arguments,
        samples: &samples,
        sampling: sampling.clone(),
        directory: &mut directory,
    };
    if is_continued {
        for client in &clients {
            if !run.pending(client).is_empty() && run.too_dear(client).is_none() {
                check_settings(client)?;
            }
        }
    }
    let load = (!local.is_empty()).then(LoadWatch::start);
    let ended = local.iter().try_for_each(|name| run.model(name));
    let warning = load.and_then(LoadWatch::finish);
    let warnings = run.directory.keep_warnings(warning.as_slice())?;
    ended?;
    let mut reasons = Vec::new();
    for client in &clients {
        reasons.extend(run.server(client)?);
    }
    if !directory.ends_part(&warnings)? {
        finish(&directory, &samples, arguments.json, &warnings)?;
    }
    CommandError::unless_finished(reasons, &directory)
}

/// Purpose of a reply: warm-up or measurement.
#[derive(Clone, Copy)]
enum Purpose {
    /// The reply warms the model up: it is short, and not recorded.
    WarmUp,
    /// The reply is recorded.
    Measure,
}

/// A run in progress: its samples, sampling options and directory.
struct ReplyRun<'a> {
    arguments: &'a RunArguments,
    samples: &'a Samples,
    sampling: SamplingOptions,
    directory: &'a mut RunDirectory<ReplyRecord>,
}

impl<'a> ReplyRun<'a> {
    /// Asks a model of this machine, sample by sample, all modes in turn.
    fn model(&mut self, name: &str) -> Result<(), CommandError> {
        let key = |mode, sample: &Sample| ReplyKey {
            model: name.to_owned(),
            mode,
            seed: sample.seed,
        };
        let modes = &self.arguments.modes();
        let is_pending = |mode, sample| self.directory.lacks(&key(mode, sample));
        let mut all = self
            .samples
            .all()
            .iter()
            .flat_map(|sample| modes.iter().map(move |mode| (*mode, sample)));
        if !all.any(|(mode, sample)| is_pending(mode, sample)) {
            return Ok(());
        }
        let mut model = self.arguments.model.load(name)?;
        let options = ExactOptions::default().formats(Formats::Asserted);
        let compiler = ReplyCompiler::new(model.vocabulary().clone(), options);
        let bar = progress::bar((self.samples.all().len() * modes.len()) as u64, name);
        if let Some(first) = self.samples.all().first() {
            let prompt = self.prompt(&model, first)?;
            first_passes(&mut model, &prompt)?;
            // Warm-up replies, which count in no figure, after which the first compilation is over.
            for mode in modes {
                self.reply(key(*mode, first), first, &mut model, &compiler, Purpose::WarmUp)?;
            }
        }
        for (number, sample) in self.samples.all().iter().enumerate() {
            for turn in 0..modes.len() {
                // Each mode is the first one equally often, so that none always finds the caches warm.
                let mode = modes[(number + turn) % modes.len()];
                bar.inc(1);
                let key = key(mode, sample);
                if !self.directory.lacks(&key) {
                    continue;
                }
                let record = match interrupt::requested() {
                    true => None,
                    false => self.reply(key, sample, &mut model, &compiler, Purpose::Measure)?,
                };
                let Some(record) = record else {
                    bar.abandon();
                    return Err(self.interrupted());
                };
                self.directory.add(record)?;
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Has the model reply to one sample. Returns `None` where the user interrupted.
    fn reply(
        &self,
        key: ReplyKey,
        sample: &Sample,
        model: &mut LoadedModel,
        compiler: &ReplyCompiler,
        purpose: Purpose,
    ) -> Result<Option<ReplyRecord>, CommandError> {
        let mut record = ReplyRecord::empty(key);
        let constraint = match record.key.mode {
            Mode::Unconstrained => None,
            Mode::Constrained => match compiler.compile(&form::schema(sample).to_string(), &form::form(sample)) {
                Ok(masker) => Some(Constraint {
                    framework: FRAMEWORK.to_owned(),
                    masker,
                }),
                Err(error) => {
                    record.refused = Some(error.to_string());
                    return Ok(Some(record));
                }
            },
        };
        let prompt = self.prompt(model, sample)?;
        let (max_tokens, reasoning) = match purpose {
            Purpose::WarmUp => (self.arguments.max_tokens.min(WARM_UP_TOKENS), None),
            Purpose::Measure => (self.arguments.max_tokens, model.reasoning().cloned()),
        };
        let decode = DecodeOptions {
            sampling: self.sampling.clone(),
            eos_tokens: model.eos_ids().to_vec(),
            max_tokens,
            time_limit: Some(Duration::from_secs_f64(self.arguments.generation_limit)),
            fast_forward: true,
            finish_in_time: true,
            overlap: true,
            mask_effects: false,
            reasoning,
        };
        let cancel = &interrupt::INTERRUPTED;
        let generation = generate(model.model.as_mut(), &prompt, constraint, &decode, cancel);
        if matches!(generation.finish, Ok(FinishReason::Cancelled)) {
            return Ok(None);
        }
        let bytes = model.vocabulary().text_bytes(&generation.token_ids());
        let text = String::from_utf8_lossy(&bytes).into_owned();
        self.judge(sample, &text, &mut record);
        record.generation = Some(GenerationRecord::new(prompt.len(), &generation, text));
        Ok(Some(record))
    }

    /// Returns the tokens of the prompt of a sample.
    fn prompt(&self, model: &LoadedModel, sample: &Sample) -> Result<Vec<u32>, ModelError> {
        encode(model, messages(sample), self.arguments.model.prompt.system())
    }

    fn judge(&self, sample: &Sample, reply: &str, record: &mut ReplyRecord) {
        match Scorer::new(sample, self.arguments.judgement.level()) {
            Ok(scorer) => record.score = Some(scorer.score(reply)),
            Err(error) => record.refused = Some(error.to_string()),
        }
    }

    /// The samples that a server has not answered yet.
    fn pending(&self, client: &Client) -> Vec<&'a Sample> {
        let name = server_name(client);
        let samples = self.samples.all().iter();
        samples
            .filter(|sample| self.directory.lacks(&server_key(&name, sample)))
            .collect()
    }

    /// Asks a server. Returns the reasons for which samples are left unanswered, if any are.
    fn server(&mut self, client: &Arc<Client>) -> Result<Vec<String>, CommandError> {
        let name = server_name(client);
        let pending = self.pending(client);
        let too_dear = self.too_dear(client);
        if pending.is_empty() || too_dear.is_some() {
            return Ok(Patience::default().reasons(&name, pending.len(), too_dear));
        }
        let limit = Duration::from_secs_f64(self.arguments.generation_limit);
        let question = |sample: &&Sample| Question {
            messages: with_system(self.arguments.model.prompt.system(), messages(sample)),
            schema: None,
            max_tokens: Some(self.arguments.max_tokens),
            sampling: self.sampling.clone(),
            limit,
        };
        let questions = pending.iter().map(question).collect();
        let concurrency = self.arguments.servers.concurrency.into();
        let bar = progress::bar(pending.len() as u64, &name);
        let mut patience = Patience::default();
        let stopped = interrupt::requested;
        let ended = ask_all(client, questions, concurrency, stopped, |number, result| {
            bar.inc(1);
            let next = patience.add(&result);
            let sample = pending[number];
            let record = self.answered(server_key(&name, sample), sample, client, result);
            self.directory.add(record)?;
            Ok::<_, CommandError>(match self.too_dear(client) {
                Some(_) => Next::Stop,
                None => next,
            })
        })?;
        bar.finish_and_clear();
        if ended == Ended::Interrupted {
            return Err(self.interrupted());
        }
        Ok(patience.reasons(&name, pending.len(), self.too_dear(client)))
    }

    /// Returns the limit on cost and the cost so far, where the server's answers have a price and the limit is reached.
    fn too_dear(&self, client: &Client) -> Option<(f64, f64)> {
        client.settings().prices.as_ref()?;
        let limit = self.arguments.servers.max_cost?;
        let cost = total_cost(self.directory.records().iter().map(|record| record.server.as_ref()));
        (cost >= limit).then_some((limit, cost))
    }

    fn answered(
        &self,
        key: ReplyKey,
        sample: &Sample,
        client: &Client,
        result: Result<Answer, Unanswered>,
    ) -> ReplyRecord {
        let mut record = ReplyRecord::empty(key);
        match result {
            Err(unanswered) => record.server = Some(ServerRecord::unanswered(&unanswered)),
            Ok(answer) => {
                record.server = Some(ServerRecord::of_answer(&answer, client.settings().prices.as_ref()));
                // Failures on record quote the reply, so the cleaned text is judged.
                let text = client.clean(&answer.text);
                self.judge(sample, &text, &mut record);
                record.generation = GenerationRecord::of_answer(&answer, text);
            }
        }
        record
    }

    fn interrupted(&self) -> CommandError {
        CommandError::interrupted(self.directory)
    }
}

impl RunArguments {
    /// Returns the modes that were named, each once.
    fn modes(&self) -> Vec<Mode> {
        let mut modes: Vec<Mode> = Vec::new();
        for mode in &self.modes {
            if !modes.contains(mode) {
                modes.push(*mode);
            }
        }
        modes
    }

    /// Returns the models of this machine that are asked: with servers, which have their own models, only those that were named.
    fn local_models(&self) -> Vec<String> {
        match self.servers.servers.is_empty() || self.model.is_given() {
            true => self.model.names(),
            false => Vec::new(),
        }
    }

    /// Returns the samples of the run. Those whose schema the judge refuses are reported and left out.
    ///
    /// # Errors
    ///
    /// An error where a file cannot be read, or where there are no samples at all.
    fn samples(&self) -> Result<Samples, CommandError> {
        let read = match self.split {
            Some(_) => None,
            None => self.judgement.samples()?,
        };
        let can_be_judged = |sample: &&Sample| match Scorer::new(sample, self.judgement.level()) {
            Ok(_) => true,
            Err(error) => {
                progress::say(&format!("left out: seed {}: {error}", sample.seed));
                false
            }
        };
        let samples: Vec<Sample> = match read {
            Some(read) => read
                .all()
                .iter()
                .filter(can_be_judged)
                .take(self.limit.unwrap_or(usize::MAX))
                .cloned()
                .collect(),
            None => {
                let refused = |error: GenerateError| CommandError::Arguments(error.to_string());
                let generator = SampleGenerator::new(self.seed, self.split.unwrap_or(Split::Test)).map_err(refused)?;
                generator.take(self.limit.unwrap_or(SAMPLES)).collect()
            }
        };
        match samples.is_empty() {
            true => Err(CommandError::NothingMeasured(
                "there are no samples to ask for".to_owned(),
            )),
            false => Ok(Samples::of(samples)),
        }
    }
}

/// Returns the prompt of a sample: its own words as one message of the user.
fn messages(sample: &Sample) -> Vec<Message> {
    vec![Message {
        role: Role::User,
        content: sample.prompt.clone(),
    }]
}

fn server_name(client: &Client) -> String {
    let settings = client.settings();
    format!("{} ({})", settings.model, settings.name)
}

/// Returns the key of a server's reply, given the server's name in records.
fn server_key(name: &str, sample: &Sample) -> ReplyKey {
    ReplyKey {
        model: name.to_owned(),
        mode: Mode::Unconstrained,
        seed: sample.seed,
    }
}

/// Writes the tables beside the records, and prints them.
fn finish(
    directory: &RunDirectory<ReplyRecord>,
    samples: &Samples,
    json_only: bool,
    warnings: &[String],
) -> Result<(), CommandError> {
    let records = directory.records().iter().filter(|record| record.is_final());
    let replies: Vec<(&ReplyRecord, &Sample)> = records
        .filter_map(|record| Some((record, samples.with_seed(record.key.seed)?)))
        .collect();
    let rows = report::rows(&replies);
    let json = format!("{}\n", report::json(&rows));
    let mut unfinished = report::unfinished(&rows, samples.all().len());
    unfinished.extend(warnings.iter().map(|warning| format!("\n{warning}\n")));
    let markdown = directory.heading() + &report::markdown(&rows, samples.all().len(), warnings);
    let written = directory
        .write("report.json", &json)
        .and_then(|()| directory.write("report.md", &markdown))
        .and_then(|()| directory.write("report.html", &leaderboard_page(&rows)));
    match json_only {
        true => crate::print(&json)?,
        false => {
            crate::print_text(&report::details(&rows))?;
            crate::print_text(&report::leaderboard(&rows, TableStyle::Terminal))?;
            let lines = unfinished.lines().map(|line| wrapped(line) + "\n");
            crate::print_text(&lines.collect::<String>())?;
        }
    }
    written?;
    if !json_only {
        directory.say_where();
    }
    Ok(())
}
