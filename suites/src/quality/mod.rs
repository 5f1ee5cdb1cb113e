//! Tasks with known answers, which measure what structured output does to the quality of answers (section 6 of the
//! JSONSchemaBench paper).
//!
//! A [`QualityTask`] has [questions](QuestionSet) and the [schema](QualityTask::schema) of its answers: objects with `reasoning` and
//! `answer`, in this order. [`messages`] makes the prompt, [`judge`] says whether an answer is right.

mod answers;
mod choices;
mod demonstrations;
mod last_letter;
mod numerals;
mod prompts;
mod questions;
mod tasks;
#[cfg(test)]
mod tests;

pub use answers::{AnswerForm, Judgement, Reading, TextEnd, judge};
pub use demonstrations::{Demonstration, MAX_SHOTS};
pub use last_letter::{Letter, LetterOptions, MAX_WORDS};
pub use prompts::{messages, messages_with_draft};
pub use questions::{Question, QuestionError, QuestionSet};
pub use tasks::QualityTask;
