//! `maskwright quality`.

mod run;

use std::path::PathBuf;

use clap::Args;
use maskwright_suites::dataset::Subsample;
use maskwright_suites::locate::locate;
use maskwright_suites::quality::{Letter, LetterOptions, MAX_SHOTS, MAX_WORDS, QualityTask, QuestionSet};

use super::arguments::directory::DirectoryArguments;
use super::arguments::numbers::{positive, seconds};
use super::arguments::style::StyleArguments;
use super::rows::{RowArguments, RowOptions};
use crate::error::CommandError;

pub use run::run;

/// Arguments of `maskwright quality`.
#[derive(Debug, Args)]
pub struct QualityArguments {
    #[command(flatten)]
    rows: RowArguments,
    /// Tasks, comma-separated
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "last-letter,shuffle,gsm8k",
        value_name = "TASKS"
    )]
    tasks: Vec<QualityTask>,
    /// Directory with the questions of tasks that are not generated [default: what `maskwright fetch` fetched]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Questions per task, at most [default: all; of last-letter, 150]
    #[arg(long, value_parser = positive::<usize>, value_name = "N")]
    limit: Option<usize>,
    /// Seed: of the sample that --limit takes (the first questions without it), of generated questions, and of the sampling of tokens
    #[arg(long)]
    seed: Option<u64>,
    /// Examples in the prompt, up to 8
    #[arg(long, default_value_t = 3, value_parser = shots, value_name = "N")]
    shots: usize,
    /// Names in each question of last-letter
    #[arg(long, default_value_t = 4, value_parser = words, value_name = "N")]
    words: usize,
    /// Letter of each name that last-letter asks for: first, last, or 2 to 4
    #[arg(long, default_value = "last", value_name = "LETTER")]
    letter: Letter,
    /// Ask constrained rows a second time, with the answer of the model alone (`none`, or a server with constrained=false) as a draft
    /// in the prompt
    #[arg(long)]
    draft: bool,
    /// Tokens per answer, at most
    #[arg(long, default_value_t = 512, value_parser = positive::<usize>, value_name = "N")]
    max_tokens: usize,
    /// Seconds that a compilation may take
    #[arg(long, default_value_t = 40.0, value_parser = seconds, value_name = "S")]
    compile_limit: f64,
    /// Seconds that a generation may take
    #[arg(long, default_value_t = 120.0, value_parser = seconds, value_name = "S")]
    generation_limit: f64,
    #[command(flatten)]
    style: StyleArguments,
    /// Sampling temperature; 0 is greedy
    #[arg(long, default_value_t = 0.0, value_name = "T")]
    temperature: f32,
    /// Sample every token, also those that the framework forces
    #[arg(long)]
    no_fast_forward: bool,
    /// Let answers run into the limit on tokens, also where the framework could end them before
    #[arg(long)]
    no_finish_in_time: bool,
    /// Have the model of this machine read every prompt whole, the common prefix of a task's prompts included
    #[arg(long)]
    no_prefix_cache: bool,
    /// Print the JSONSchemaBench paper's accuracies (table 7) beside ours
    #[arg(long)]
    paper: bool,
    #[command(flatten)]
    directory: DirectoryArguments,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

fn shots(text: &str) -> Result<usize, String> {
    bounded(text, 0, MAX_SHOTS)
}

fn words(text: &str) -> Result<usize, String> {
    bounded(text, 1, MAX_WORDS)
}

fn bounded(text: &str, least: usize, most: usize) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("expected a number from {least} to {most}"))
}

impl QualityArguments {
    /// Returns the options for loading models and preparing frameworks.
    fn row_options(&self) -> RowOptions<'_> {
        self.rows
            .options(&self.style, self.compile_limit, self.generation_limit)
    }

    /// Returns the questions of every task, each task once.
    ///
    /// # Errors
    ///
    /// [`CommandError::NotFound`] and [`CommandError::Questions`], where questions are missing or cannot be read, and
    /// [`CommandError::NothingMeasured`], where there are none.
    fn question_sets(&self) -> Result<Vec<QuestionSet>, CommandError> {
        let mut sets: Vec<QuestionSet> = Vec::new();
        for task in &self.tasks {
            if sets.iter().any(|set| set.task == *task) {
                continue;
            }
            let set = match task.source() {
                None => {
                    let letters = LetterOptions {
                        words: self.words,
                        letter: self.letter,
                        seed: self.seed.unwrap_or(0),
                    };
                    QuestionSet::generate(letters, self.limit, self.shots)?
                }
                Some(source) => {
                    let sample = Subsample {
                        limit: self.limit,
                        seed: self.seed,
                    };
                    QuestionSet::read(*task, &locate(source, self.data.as_deref())?, sample, self.shots)?
                }
            };
            if set.questions.is_empty() {
                let message = format!("task {} has no questions", task.name());
                return Err(CommandError::NothingMeasured(message));
            }
            sets.push(set);
        }
        match sets.is_empty() {
            true => Err(CommandError::Arguments("nothing to ask: name --tasks".to_owned())),
            false => Ok(sets),
        }
    }
}
