//! Progress on standard error: a bar on a terminal, nothing elsewhere.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over `total` steps with rate and time left. Draws nothing where standard error is not a terminal.
pub fn bar(total: u64, what: &str) -> ProgressBar {
    let bar = ProgressBar::new(total);
    let style = ProgressStyle::with_template("{msg:40!} {wide_bar} {pos}/{len} {per_sec} {eta} left");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}

/// A bar over the bytes of a download, whose number comes later.
pub fn download_bar(model: &str) -> ProgressBar {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta} left");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.set_message(model.to_owned());
    bar
}

/// Says something on standard error, terminal or not.
#[expect(clippy::print_stderr, reason = "the one place that talks to the user beside results")]
pub fn say(text: &str) {
    eprintln!("{text}");
}
