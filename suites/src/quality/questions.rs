//! [`QuestionSet`]: the questions of a task, generated or read from public files.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::answers::AnswerForm;
use super::choices;
use super::demonstrations::{Demonstration, demonstrations};
use super::last_letter::{self, Letter, LetterOptions};
use super::numerals::Numeral;
use super::tasks::QualityTask;
use crate::dataset::Subsample;
use crate::text_file::{self, FileError, Place};

/// Generated questions where no limit is given: as many as the public file has for tests.
const GENERATED: usize = 150;
/// Most generated questions.
const MAX_GENERATED: usize = 1_000_000;

/// A question with its right answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Name of the question in the task.
    pub id: String,
    /// Text of the question.
    pub text: String,
    /// The right answer: letters, a choice such as `(B)`, or a number.
    pub answer: String,
}

/// The questions of a task that are asked, and the examples that come before each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionSet {
    /// The task.
    pub task: QualityTask,
    /// The questions.
    pub questions: Vec<Question>,
    /// The examples.
    pub demonstrations: Vec<Demonstration>,
    /// Options from which the questions were generated; `None` where they were not.
    pub letters: Option<LetterOptions>,
}

/// Error of reading the questions of a task.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// A file cannot be read, or is not built as it should be.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line is not a question.
    #[error("{}:{line}: {problem}; is this a file of the task?", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The problem with the line.
        problem: String,
    },
    /// More different questions are asked for than there are.
    #[error(
        "there are {available} different questions of {words} names that are no examples, and {asked} are asked for: ask for more names (--words) or fewer questions (--limit)"
    )]
    Exhausted {
        /// Names of a question.
        words: usize,
        /// Different questions that there are.
        available: usize,
        /// Questions asked for.
        asked: usize,
    },
    /// An answer is none that the task has.
    #[error("{}: the answer {answer:?} of question {question} is not of the task's form", path.display())]
    Answer {
        /// The file.
        path: PathBuf,
        /// The question's number, from 1.
        question: usize,
        /// The answer.
        answer: String,
    },
}

impl Default for LetterOptions {
    /// The last letters of four names, as in the paper.
    fn default() -> Self {
        Self {
            words: 4,
            letter: Letter::Last,
            seed: 0,
        }
    }
}

impl QuestionSet {
    /// Generates questions of [`QualityTask::LastLetter`], all different and none of them an example.
    ///
    /// # Errors
    ///
    /// [`QuestionError::Exhausted`], where there are not so many.
    pub fn generate(options: LetterOptions, limit: Option<usize>, shots: usize) -> Result<Self, QuestionError> {
        let asked = limit.unwrap_or(GENERATED).min(MAX_GENERATED);
        let available = last_letter::available(options);
        if asked > available {
            return Err(QuestionError::Exhausted {
                words: options.words,
                available,
                asked,
            });
        }
        Ok(Self {
            task: QualityTask::LastLetter,
            questions: last_letter::generated(options, asked),
            demonstrations: demonstrations(QualityTask::LastLetter, options, shots),
            letters: Some(options),
        })
    }

    /// Whether the questions are those of the JSONSchemaBench paper, so that figures can be compared with the paper's: of
    /// generated questions, the last letters of four names.
    #[must_use]
    pub fn is_as_in_paper(&self) -> bool {
        self.letters
            .is_none_or(|letters| (letters.words, letters.letter) == (4, Letter::Last))
    }

    /// Reads the questions of `task` from the directory of its [source](QualityTask::source), and takes `sample` of them.
    ///
    /// # Errors
    ///
    /// [`QuestionError`], with file and place.
    pub fn read(task: QualityTask, directory: &Path, sample: Subsample, shots: usize) -> Result<Self, QuestionError> {
        let all = match task {
            QualityTask::LastLetter | QualityTask::LastLetterPublic => public_letters(&directory.join("test.json"))?,
            QualityTask::ShuffleThree => shuffled_objects(directory, "three", task)?,
            QualityTask::Shuffle => shuffled_objects(directory, "five", task)?,
            QualityTask::ShuffleSeven => shuffled_objects(directory, "seven", task)?,
            QualityTask::Gsm8k => mathematics(&directory.join("test.jsonl"))?,
        };
        let chosen = sample.positions(all.len());
        Ok(Self {
            task,
            questions: chosen.into_iter().map(|at| all[at].clone()).collect(),
            demonstrations: demonstrations(task, LetterOptions::default(), shots),
            letters: None,
        })
    }

    /// A task's examples alone.
    #[must_use]
    pub fn without_questions(task: QualityTask, shots: usize) -> Self {
        Self {
            task,
            questions: Vec::new(),
            demonstrations: demonstrations(task, LetterOptions::default(), shots),
            letters: None,
        }
    }

    /// SHA-256 of everything that is asked and expected: sets with the same hash ask the same.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        add(&self.task.schema());
        for question in &self.questions {
            add(&question.id);
            add(&question.answer);
            for message in super::messages(self, &question.text) {
                add(&message.content);
            }
        }
        hex::encode(hash.finalize())
    }
}

/// A question of GSM8K, or of the public file of Last Letter.
#[derive(Deserialize)]
struct Row {
    question: String,
    answer: String,
}

/// GSM8K: a question a line; the answer stands behind `####`, with commas between thousands.
fn mathematics(path: &Path) -> Result<Vec<Question>, QuestionError> {
    let text = text_file::read_text(path)?;
    let numbered = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = numbered.map(|(at, line)| {
        let wrong = |problem: String| QuestionError::Line {
            path: path.to_owned(),
            line: at + 1,
            problem,
        };
        let row: Row = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        let (_, answer) = row
            .answer
            .rsplit_once("####")
            .ok_or_else(|| wrong("expected `####` before the answer's number".to_owned()))?;
        let answer = answer.trim().replace(',', "");
        match Numeral::read(&answer) {
            Some(_) => Ok(Question {
                id: format!("test-{:04}", at + 1),
                text: row.question,
                answer,
            }),
            None => Err(wrong(format!("expected a number behind `####`, not {answer:?}"))),
        }
    });
    read.collect()
}

/// BIG-Bench Hard's tracking of so many shuffled objects.
fn shuffled_objects(directory: &Path, number: &str, task: QualityTask) -> Result<Vec<Question>, QuestionError> {
    let path = directory.join(format!("tracking_shuffled_objects_{number}_objects.json"));
    let document = text_file::read_json(&path)?;
    let place = Place::root(&path);
    let examples = place.member(&document, "examples", "a list of examples", Value::as_array)?;
    let count = match task.form() {
        AnswerForm::Choice(count) => count,
        AnswerForm::Letters | AnswerForm::Number => 0,
    };
    let read = examples.iter().enumerate().map(|(at, example)| {
        let place = place.at("examples").at(at);
        let text = place.member(example, "input", "a question", Value::as_str)?;
        let answer = place.member(example, "target", "a choice", Value::as_str)?;
        match choices::letter(answer, count) {
            Some(_) => Ok(Question {
                id: format!("{number}-{:03}", at + 1),
                text: text.to_owned(),
                answer: answer.to_owned(),
            }),
            None => Err(unfit(&path, at, answer)),
        }
    });
    read.collect()
}

/// The public file of Last Letter: a list of questions with their answers.
fn public_letters(path: &Path) -> Result<Vec<Question>, QuestionError> {
    let document = text_file::read_json(path)?;
    let place = Place::root(path);
    let rows = document
        .as_array()
        .ok_or_else(|| place.malformed("a list of questions"))?;
    let read = rows.iter().enumerate().map(|(at, row)| {
        let place = place.at(at);
        let text = place.member(row, "question", "a question", Value::as_str)?;
        let answer = place.member(row, "answer", "letters", Value::as_str)?;
        if answer.is_empty() || !answer.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return Err(unfit(path, at, answer));
        }
        Ok(Question {
            id: format!("test-{:03}", at + 1),
            text: text.to_owned(),
            // Names that are written in capitals have capitals at their ends; answers are in lower case.
            answer: answer.to_ascii_lowercase(),
        })
    });
    read.collect()
}

fn unfit(path: &Path, at: usize, answer: &str) -> QuestionError {
    QuestionError::Answer {
        path: path.to_owned(),
        question: at + 1,
        answer: answer.to_owned(),
    }
}
