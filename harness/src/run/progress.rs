//! Progress and messages on standard error, beside the results: a bar on a terminal, a line now and then elsewhere.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use maskwright_models::LoadedModel;

use crate::terminal;

/// Interval between two lines on a run's progress where standard error is no terminal.
const SILENCE: Duration = Duration::from_secs(30);

/// Whether only errors are printed.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Prints only errors from now on.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether only errors are printed.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// The progress of a run over a number of steps.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    /// Time of the last line, where standard error is no terminal.
    lines: Option<Mutex<Instant>>,
}

/// A bar over `total` steps with rate and time left. Where standard error is not a terminal, a line now and then.
pub fn bar(total: u64, what: &str) -> Bar {
    let is_terminal = std::io::stderr().is_terminal();
    let bar = match is_quiet() {
        true => ProgressBar::hidden(),
        false => ProgressBar::new(total),
    };
    let style = ProgressStyle::with_template("{msg:40!} {wide_bar} {pos}/{len} {per_sec} {eta} left");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.set_length(total);
    bar.set_message(terminal::one_line(what));
    Bar {
        bar,
        lines: (!is_terminal && !is_quiet()).then(|| Mutex::new(Instant::now())),
    }
}

impl Bar {
    /// Shows the step that is being worked on.
    pub fn set_message(&self, what: impl AsRef<str>) {
        self.bar.set_message(terminal::one_line(what.as_ref()));
    }

    /// Counts steps that are done.
    pub fn inc(&self, steps: u64) {
        self.bar.inc(steps);
        let Some(lines) = &self.lines else { return };
        let mut said = lines.lock().unwrap_or_else(PoisonError::into_inner);
        if said.elapsed() >= SILENCE {
            *said = Instant::now();
            say(&self.line());
        }
    }

    fn line(&self) -> String {
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
        let (elapsed, left) = (self.bar.elapsed().as_secs(), self.bar.eta().as_secs());
        let time = |seconds: u64| format!("{}:{:02}", seconds / 60, seconds % 60);
        let percent = 100 * done / all.max(1);
        let message = self.bar.message();
        format!(
            "{done} of {all} ({percent} %) after {} minutes, {} left: {message}",
            time(elapsed),
            time(left)
        )
    }

    /// Ends the bar where all is done.
    pub fn finish_and_clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Leaves the bar as it is where the run ends early.
    pub fn abandon(&self) {
        self.bar.abandon();
    }
}

/// A bar over the bytes of a download, whose number comes later.
pub fn download_bar(model: &str) -> ProgressBar {
    let bar = match is_quiet() {
        true => ProgressBar::hidden(),
        false => ProgressBar::new(0),
    };
    let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta} left");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.set_message(terminal::one_line(model));
    bar
}

/// Prints a message to standard error, terminal or not, unless only errors are printed.
pub fn say(text: &str) {
    if !is_quiet() {
        complain(text);
    }
}

/// Prints notices about a model that is loaded, each once in the process, however often the model is loaded.
pub fn say_notices(model: &LoadedModel) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    for notice in model.notices() {
        if SAID
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(notice.clone())
        {
            say(&notice);
        }
    }
}

/// Prints a text to standard error, also where only errors are printed. Lines after the first are indented, so that texts of others in them cannot be
/// taken for lines of ours.
pub fn complain(text: &str) {
    write_lines(&terminal::harmless(text).replace('\n', "\n  "));
}

/// Prints a text of several lines to standard error, unless only errors are printed.
pub fn show(text: &str) {
    if !is_quiet() {
        write_lines(&terminal::harmless(text));
    }
}

/// Writes to standard error. Where its reader is gone, or its disk is full, the run continues without messages.
fn write_lines(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_a_run_is() {
        let bar = bar(10, "somewhere\u{7}");
        bar.inc(3);
        let line = bar.line();
        assert!(line.starts_with("3 of 10 (30 %) after 0:00 minutes, "), "{line}");
        assert!(line.ends_with(" left: somewhere\\u{7}"), "{line}");
    }

    #[test]
    fn something_is_said_every_half_minute_where_there_is_no_terminal() {
        let said_last = |bar: &Bar| bar.lines.as_ref().map(|lines| *lines.lock().unwrap());
        let mut bar = bar(10, "somewhere");
        for (silence, says) in [(SILENCE / 2, false), (SILENCE, true)] {
            let before = Instant::now().checked_sub(silence).unwrap();
            bar.lines = Some(Mutex::new(before));
            bar.inc(1);
            assert_eq!(said_last(&bar) > Some(before), says);
        }
        assert_eq!(SILENCE, Duration::from_secs(30));
    }
}
