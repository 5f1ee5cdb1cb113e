//! `maskwright train`.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use maskwright_models::{
    AdamWOptions, HubSettings, LoadOptions, LoadedModel, ModelDevice, ModelError, ModelSource, TrainableModel,
    WeightFormat, load,
};
use maskwright_suites::ifstruct::{GenerateError, Level, Sample, SampleGenerator, Split, name_pieces};

use super::arguments::models::PROMPT_DATE;
use super::arguments::numbers::{above_zero, not_negative, positive, threads};
use crate::error::CommandError;
use crate::ifstruct::settings::samples_hash;
use crate::report::table::Style;
use crate::run::directory::{self, RunDirectory};
use crate::run::manifest::{Manifest, Settings as _, available_cpus};
use crate::run::{interrupt, progress};
use crate::train::checkpoints::Checkpoints;
use crate::train::course::{Course, RESULT, planned};
use crate::train::curves;
use crate::train::record::{TrainKey, TrainRecord};
use crate::train::replies::{Judged, Replier};
use crate::train::report::TrainReport;
use crate::train::samples::{Room, SplitSamples, check_apart, end_of_turn};
use crate::train::settings::TrainSettings;

/// Arguments of `maskwright train`.
#[derive(Debug, Args)]
pub struct TrainArguments {
    /// The model to start from: `builtin`, a directory in Hugging Face layout, a GGUF file, or a hub id such as Qwen/Qwen3-0.6B
    #[arg(long, default_value = "builtin", value_name = "MODEL")]
    model: String,
    /// Use only files in the download cache
    #[arg(long)]
    offline: bool,
    /// Device: cpu, cuda or cuda:N
    #[arg(long, default_value = "cpu", value_parser = device)]
    device: ModelDevice,
    /// Threads [default: all processors]
    #[arg(long, value_parser = threads, value_name = "N")]
    threads: Option<usize>,
    /// Directory of records, checkpoints, tables and the trained model
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Continue the training in --out from its last checkpoint. Options that are not given again are those that it was started with
    #[arg(long)]
    resume: bool,
    /// Seed of the samples, of their order, and of the tokens drawn
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Samples of the train split; those that do not fit are left out
    #[arg(long, default_value_t = 2000, value_parser = positive::<usize>, value_name = "N")]
    samples: usize,
    /// Samples of the test split; those that do not fit are left out
    #[arg(long, default_value_t = 200, value_parser = positive::<usize>, value_name = "N")]
    test_samples: usize,
    /// Tokens of a prompt, at most
    #[arg(long, default_value_t = 2048, value_parser = positive::<usize>, value_name = "N")]
    max_prompt_tokens: usize,
    /// Tokens of a reply, at most, its end included
    #[arg(long, default_value_t = 1024, value_parser = positive::<usize>, value_name = "N")]
    max_tokens: usize,
    /// Judge also what the public validator leaves out
    #[arg(long)]
    strict: bool,
    /// Supervised steps, on references of the train split; 0: none
    #[arg(long, default_value_t = 200, value_name = "N")]
    supervised_steps: usize,
    /// References of a supervised step
    #[arg(long, default_value_t = 16, value_parser = positive::<usize>, value_name = "N")]
    batch: usize,
    /// Take references that are easy to learn: short, always the same, with plain words and lower bounds. Otherwise their strings are such as break naive writers
    #[arg(long)]
    plain_references: bool,
    /// Give the entities and fields of the train split made-up names of the model's tokens, which a model cannot know by heart: it learns to read them
    #[arg(long)]
    made_up_names: bool,
    /// Largest learning rate of supervised steps; it rises over a tenth of them and falls to nothing
    #[arg(long, default_value_t = 3e-4, value_parser = above_zero, value_name = "RATE")]
    learning_rate: f64,
    /// Steps of GRPO, rewarded by the judge; 0: none
    #[arg(long, default_value_t = 100, value_name = "N")]
    grpo_steps: usize,
    /// Requests of a step of GRPO
    #[arg(long, default_value_t = 8, value_parser = positive::<usize>, value_name = "N")]
    prompts: usize,
    /// Replies to each request, which are compared with each other
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(2..=1024), value_name = "N")]
    group: u16,
    /// Updates of the weights by the same replies
    #[arg(long, default_value_t = 1, value_parser = positive::<usize>, value_name = "N")]
    updates: usize,
    /// Largest learning rate of GRPO; it rises over a tenth of the steps and falls to nothing
    #[arg(long, default_value_t = 2e-5, value_parser = above_zero, value_name = "RATE")]
    grpo_learning_rate: f64,
    /// Temperature of the replies of GRPO; evaluations are greedy
    #[arg(long, default_value_t = 1.0, value_parser = above_zero, value_name = "T")]
    temperature: f64,
    /// Clip range: distance from 1 up to which the ratio of new to old probability counts
    #[arg(long, default_value_t = 0.2, value_parser = above_zero, value_name = "SHARE")]
    clip: f64,
    /// Weight of the divergence from where GRPO started; 0 saves the memory of these weights
    #[arg(long, default_value_t = 0.02, value_parser = not_negative, value_name = "WEIGHT")]
    kl: f64,
    /// Let replies that fail, but can be read, earn up to a quarter of the reward, the less the more failures they have
    #[arg(long)]
    partial_reward: bool,
    /// Weight decay: share of the matrices, times the learning rate, that a step subtracts
    #[arg(long, default_value_t = 0.01, value_parser = not_negative, value_name = "SHARE")]
    weight_decay: f64,
    /// Largest norm of the gradient; larger ones are scaled down to it
    #[arg(long, default_value_t = 1.0, value_parser = above_zero, value_name = "NORM")]
    longest_gradient: f64,
    /// Tokens that go through the layers at once, which bounds the memory; a longer sequence goes alone
    #[arg(long, default_value_t = 4096, value_parser = positive::<usize>, value_name = "N")]
    micro_batch_tokens: usize,
    /// Steps between two checkpoints
    #[arg(long, default_value_t = 10, value_parser = positive::<usize>, value_name = "N")]
    checkpoint_every: usize,
    /// Steps between two evaluations on the test split, beside those at the start and end of each phase; 0: none
    #[arg(long, default_value_t = 0, value_name = "N")]
    evaluate_every: usize,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

fn device(text: &str) -> Result<ModelDevice, ModelError> {
    text.parse()
}

/// Trains a model, and prints the numbers of replies to the test split that pass before, during and after the training.
///
/// # Errors
///
/// [`CommandError`]; records and the last checkpoint stay in the run's directory.
pub fn run(arguments: &TrainArguments) -> Result<(), CommandError> {
    if arguments.supervised_steps + arguments.grpo_steps == 0 {
        let message = "nothing is trained by 0 steps: give --supervised-steps or --grpo-steps";
        return Err(CommandError::Arguments(message.to_owned()));
    }
    if arguments.resume {
        directory::check_command(&arguments.out, TrainSettings::COMMAND)?;
    }
    directory::check_place(&arguments.out, arguments.resume)?;
    let source: ModelSource = arguments.model.parse()?;
    let model = arguments.load(&source)?;
    // Networks that cannot be trained are refused before samples are generated; a resumed run has passed this check already.
    let start = (!arguments.resume).then(|| arguments.trainable(&source)).transpose()?;
    let end = end_of_turn(&model)?;
    let room = Room {
        prompt: arguments.max_prompt_tokens,
        reply: arguments.max_tokens,
        context: model.summary().max_positions,
        plain_references: arguments.plain_references,
    };
    let refused = |error: GenerateError| CommandError::Arguments(error.to_string());
    let samples = |split| SampleGenerator::new(arguments.seed, split).map_err(refused);
    let mut of_train = samples(Split::Train)?;
    if arguments.made_up_names {
        let vocabulary = model.vocabulary();
        let tokens = (0..vocabulary.len()).map(|token| vocabulary.token_bytes(token as u32));
        of_train = of_train.made_up_names(name_pieces(tokens));
    }
    let train = SplitSamples::generate(of_train, arguments.samples, &model, room, end)?;
    let test = SplitSamples::generate(samples(Split::Test)?, arguments.test_samples, &model, room, end)?;
    check_apart(&train, &test)?;
    let settings = arguments.settings(&model, [&train, &test]);
    let mut manifest = Manifest::new(settings.clone());
    let planned: HashSet<TrainKey> = planned(&settings).into_iter().collect();
    manifest.planned = Some(planned.len());
    interrupt::watch();
    let mut directory: RunDirectory<TrainRecord> = match arguments.resume {
        true => RunDirectory::resume(&arguments.out, &manifest, planned)?,
        false => RunDirectory::create(&arguments.out, &manifest, planned)?,
    };
    let pool = model.model.thread_pool();
    let (tokenizer, vocabulary) = (Arc::clone(model.tokenizer()), model.vocabulary());
    // The memory of the weights is for those that are trained.
    drop(model);
    let start = std::sync::Mutex::new(start);
    let begin = || match start.lock().ok().and_then(|mut start| start.take()) {
        Some(start) => Ok(start),
        None => arguments.trainable(&source),
    };
    let reward =
        |sample: &Sample, reply: &str| Judged::of_ifstruct(sample, reply, settings.level, settings.partial_reward);
    let mut course = Course {
        settings: &settings,
        checkpoint_every: arguments.checkpoint_every,
        train: &train,
        test: &test,
        replier: Replier {
            tokenizer,
            vocabulary,
            room,
            end,
            cancel: &interrupt::INTERRUPTED,
        },
        reward: &reward,
        checkpoints: Checkpoints::new(directory.path(), arguments.device),
        directory: &mut directory,
    };
    match pool {
        Some(pool) => pool.install(|| course.run(&begin))?,
        None => course.run(&begin)?,
    }
    finish(arguments, &directory, &train, &test)
}

/// Writes tables and curves beside the records, and prints the tables.
fn finish(
    arguments: &TrainArguments,
    directory: &RunDirectory<TrainRecord>,
    train: &SplitSamples,
    test: &SplitSamples,
) -> Result<(), CommandError> {
    let report = TrainReport::new(directory.records(), train, test);
    let json = format!("{:#}\n", report.json());
    let tables = |style| format!("{}\n{}", report.evaluations(style), report.progress(style));
    let markdown = format!(
        "{}\n{}\n{}",
        directory.heading(),
        report.room(),
        tables(Style::Markdown)
    );
    directory.write("report.json", &json)?;
    directory.write("report.md", &markdown)?;
    directory.write("curves.svg", &curves::svg(&report))?;
    match arguments.json {
        true => crate::print(&json)?,
        false => crate::print_text(&format!("{}\n{}", report.room(), tables(Style::Terminal)))?,
    }
    let model = directory.path().join(RESULT);
    progress::say(&format!(
        "the trained model is in {}: `--model {0}` takes it",
        model.display()
    ));
    Ok(())
}

impl TrainArguments {
    fn hub(&self) -> HubSettings {
        let mut hub = HubSettings::from_environment();
        hub.offline |= self.offline;
        hub
    }

    fn threads(&self) -> usize {
        self.threads.unwrap_or_else(available_cpus).max(1)
    }

    /// Loads the model with tokenizer, template and decode loop.
    fn load(&self, source: &ModelSource) -> Result<LoadedModel, CommandError> {
        let bar = progress::download_bar(&self.model);
        let options = LoadOptions {
            device: self.device,
            dtype: WeightFormat::F32,
            threads: Some(self.threads()),
            clock: Some(PROMPT_DATE),
            hub: self.hub(),
            progress: Some(bar.clone()),
            ..LoadOptions::default()
        };
        let model = load(source, &options);
        bar.finish_and_clear();
        Ok(model.inspect(progress::say_notices)?)
    }

    /// Loads the model's weights for training.
    fn trainable(&self, source: &ModelSource) -> Result<TrainableModel, CommandError> {
        Ok(TrainableModel::load(source, self.device, &self.hub(), None)?)
    }

    fn settings(&self, model: &LoadedModel, splits: [&SplitSamples; 2]) -> TrainSettings {
        TrainSettings {
            models: vec![serde_json::to_value(model.summary()).unwrap_or_default()],
            seed: self.seed,
            samples: self.samples,
            test_samples: self.test_samples,
            sha256: samples_hash(splits.iter().flat_map(|split| &split.fitting).map(|one| &one.sample)),
            max_prompt_tokens: self.max_prompt_tokens,
            max_tokens: self.max_tokens,
            level: match self.strict {
                true => Level::Strict,
                false => Level::Public,
            },
            supervised_steps: self.supervised_steps,
            batch: self.batch,
            plain_references: self.plain_references,
            made_up_names: self.made_up_names,
            learning_rate: self.learning_rate,
            grpo_steps: self.grpo_steps,
            prompts: self.prompts,
            group: self.group.into(),
            updates: self.updates,
            grpo_learning_rate: self.grpo_learning_rate,
            temperature: self.temperature,
            clip: self.clip,
            kl: self.kl,
            partial_reward: self.partial_reward,
            optimiser: AdamWOptions {
                weight_decay: self.weight_decay,
                longest_gradient: self.longest_gradient,
                ..AdamWOptions::default()
            },
            micro_batch_tokens: self.micro_batch_tokens,
            evaluate_every: self.evaluate_every,
            threads: self.threads(),
        }
    }
}
