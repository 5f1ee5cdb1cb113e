//! [`messages`]: the prompt of a question, in the form of the paper's figure 7.

use super::answers::AnswerForm;
use super::demonstrations::Demonstration;
use super::questions::QuestionSet;
use super::tasks::QualityTask;
use crate::json_text;
use crate::prompt::{Message, Role};

/// Format of answers, in every system message.
const FORMAT: &str =
    r#"Always respond with JSON in the format: {"reasoning": <reasoning about the answer>, "answer": <final answer>}."#;

/// The system message of a task. That of GSM8K is the paper's (figure 7); the others say the same of their tasks.
fn system(task: QualityTask) -> String {
    let (before, after) = match task.form() {
        AnswerForm::Number => (
            "You are an expert in solving grade school math tasks. You will be presented with a grade-school math word problem and be asked to solve it. \
             Before answering, you should reason about the problem (using the \"reasoning\" field in the JSON response format described below).",
            "The \"reasoning\" field contains your logical explanation, and the \"answer\" field contains the final numeric result.",
        ),
        AnswerForm::Choice(_) => (
            "You are an expert in following a sequence of events. You will be told how some people exchange things, and be asked what one of them has at the end. \
             Before answering, you should reason about the events (using the \"reasoning\" field in the JSON response format described below).",
            "The \"reasoning\" field contains your logical explanation, and the \"answer\" field contains the letter of the right option in parentheses, such as \"(A)\".",
        ),
        AnswerForm::Letters => (
            "You are an expert in working with the letters of words. You will be presented with some words and be asked to put together one letter of each. \
             Before answering, you should reason about the words one by one (using the \"reasoning\" field in the JSON response format described below).",
            "The \"reasoning\" field contains your logical explanation, and the \"answer\" field contains the letters in lower case, with nothing between them.",
        ),
    };
    format!("{before} {FORMAT} {after}")
}

/// The user message that asks `question`.
fn request(question: &str) -> String {
    format!("## Input: \"{question}\"\n## Output:")
}

/// The answer of an example, as an assistant gives it.
fn response(example: &Demonstration) -> String {
    // A text: this cannot fail.
    let reasoning = json_text::to_string(&example.reasoning).unwrap_or_default();
    format!(r#"{{"reasoning": {reasoning}, "answer": {}}}"#, example.answer)
}

/// The user message that asks `question` after an answer without constraints.
fn request_after_draft(question: &str, draft: &str) -> String {
    format!(
        "## Input: \"{question}\"\n## Draft, which may be wrong in form; give its answer in the JSON format:\n{}\n## Output:",
        draft.trim()
    )
}

/// The messages that ask `question`, one of `set`: the system message, the examples, and the question.
#[must_use]
pub fn messages(set: &QuestionSet, question: &str) -> Vec<Message> {
    with_request(set, request(question))
}

/// The messages that ask `question` when there is a draft of its answer, which was written without constraints and stands behind the
/// question.
#[must_use]
pub fn messages_with_draft(set: &QuestionSet, question: &str, draft: &str) -> Vec<Message> {
    with_request(set, request_after_draft(question, draft))
}

fn with_request(set: &QuestionSet, asked: String) -> Vec<Message> {
    let mut messages = vec![Message::new(Role::System, system(set.task))];
    for example in &set.demonstrations {
        messages.push(Message::new(Role::User, request(&example.question)));
        messages.push(Message::new(Role::Assistant, response(example)));
    }
    messages.push(Message::new(Role::User, asked));
    messages
}
