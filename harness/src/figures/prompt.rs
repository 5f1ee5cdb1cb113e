//! Figure 7: the prompt of a task.

use maskwright_suites::prompt::Role;
use maskwright_suites::quality::{QuestionSet, messages};

use super::canvas::{Anchor, Canvas, lines};

/// Characters of a line.
const WIDTH: usize = 110;
/// Height of a line, in pixels.
const LINE: f64 = 17.0;
const MARGIN: f64 = 18.0;

/// The prompt of the first question of a task, message by message.
pub fn svg(set: &QuestionSet) -> String {
    let question = set
        .questions
        .first()
        .map_or("[question]", |question| question.text.as_str());
    let messages = messages(set, question);
    let mut text: Vec<(Option<Role>, String)> = Vec::new();
    let mut last = None;
    for message in &messages {
        let heading = (last != Some(message.role)).then_some(message.role);
        last = Some(message.role);
        for (number, line) in lines(&message.content, WIDTH).into_iter().enumerate() {
            text.push((heading.filter(|_| number == 0), line));
        }
        text.push((None, String::new()));
    }
    let headings = text.iter().filter(|(heading, _)| heading.is_some()).count();
    let height = 2.0 * MARGIN + 30.0 + LINE * (text.len() + headings) as f64;
    let mut canvas = Canvas::new(2.0 * MARGIN + WIDTH as f64 * 7.3, height);
    canvas.title(MARGIN, MARGIN + 14.0, &format!("Prompt of {}", set.task.name()));
    let mut y = MARGIN + 44.0;
    for (heading, line) in text {
        if let Some(role) = heading {
            let name = match role {
                Role::System => "System message",
                Role::User => "User",
                Role::Assistant => "Assistant",
            };
            canvas.bold(MARGIN, y, Anchor::Start, name);
            y += LINE;
        }
        canvas.code(MARGIN + 8.0, y, &line);
        y += LINE;
    }
    canvas.finish()
}
