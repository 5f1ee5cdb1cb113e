//! [`llamacpp_section`]: how answers from GGUF files and their speed compare with llama.cpp's, for docs/models.md.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;

/// Results recorded by `scripts/compare-llamacpp/quantised.sh --record`.
const RECORD: &str = include_str!("llamacpp_comparison.json");

#[derive(Deserialize)]
struct Record {
    answers: Option<Measured<Answers>>,
    speed: Option<Measured<Speed>>,
}

/// Results of a measurement, with its date, hardware, software and command.
#[derive(Deserialize)]
struct Measured<T> {
    date: String,
    processor: String,
    threads: usize,
    llama_cpp_python: String,
    command: String,
    found: T,
}

impl<T> Measured<T> {
    /// Returns the date, hardware, software and command of the measurement.
    fn setting(&self) -> String {
        let threads = match self.threads {
            1 => "1 thread".to_owned(),
            count => format!("{count} threads"),
        };
        format!(
            "{}, {threads} of: {}; llama.cpp as in llama-cpp-python {}; `{}`",
            self.date, self.processor, self.llama_cpp_python, self.command
        )
    }
}

#[derive(Deserialize)]
struct Answers {
    tokens: usize,
    close: f64,
    formats: BTreeMap<String, Continuations>,
}

/// Continuations of one format, counted.
#[derive(Deserialize)]
struct Continuations {
    equal: usize,
    close: usize,
    different: usize,
    largest_gap: f64,
    logits: f64,
    llamacpp_equal: usize,
    llamacpp_logits: f64,
}

#[derive(Deserialize)]
struct Speed {
    rounds: usize,
    formats: BTreeMap<String, BTreeMap<String, Ratio>>,
}

/// Tokens per second as a part of llama.cpp's, and those of both.
#[derive(Deserialize)]
struct Ratio {
    ratio: f64,
    from: f64,
    to: f64,
    tokens_per_second: [f64; 2],
}

/// The comparison as Markdown; empty where nothing has been recorded.
pub(super) fn llamacpp_section() -> String {
    let mut text = String::new();
    let Ok(record) = serde_json::from_str::<Record>(RECORD) else {
        return text;
    };
    // Writing to a string cannot fail.
    if let Some(measured) = &record.answers {
        let Answers { tokens, close, formats } = &measured.found;
        let _ = write!(
            text,
            "
Greedy continuations of {tokens} tokens, of the built-in model and of small random checkpoints of all families that are read from GGUF, compared with those of llama.cpp with keys and values in 32 bits. Where one is not
equal, it is *close* if llama.cpp itself prefers its own token at the first difference by less than {} % of the spread of its logits, the largest less the smallest. Both programs round activations to 8 bits from sums
that differ in their last bits, which may give neighbouring codes; beside F16 and BF16, llama.cpp rounds activations to 16 bits, and this project does not. The last two columns are llama.cpp's own, with keys and values in 16 bits, its default.
({})

| format | equal | close | different | largest preference where tokens differ | logits after prompts differ by at most | llama.cpp by default: equal | logits differ by at most |
|---|---|---|---|---|---|---|---|
",
            close * 100.0,
            measured.setting(),
        );
        for (name, found) in formats {
            let all = found.equal + found.close + found.different;
            let _ = writeln!(
                text,
                "| {} | {} of {all} | {} | {} | {:.2} % | {:.2} % | {} | {:.2} % |",
                name.to_ascii_uppercase(),
                found.equal,
                found.close,
                found.different,
                found.largest_gap * 100.0,
                found.logits * 100.0,
                found.llamacpp_equal,
                found.llamacpp_logits * 100.0,
            );
        }
    }
    if let Some(measured) = &record.speed {
        let clock = match measured.threads {
            1 => "time of the processor",
            _ => "time by the clock",
        };
        let _ = write!(
            text,
            "
Speed with random weights in the shape of Llama 3.2 1B, after a prompt of 512 tokens, as a part of llama.cpp's in the same round, by {clock}: medians of {} rounds, in which both take turns.
({})

| format | part | ratio | from | to | tokens per second | llama.cpp's |
|---|---|---|---|---|---|---|
",
            measured.found.rounds,
            measured.setting(),
        );
        for (name, parts) in &measured.found.formats {
            for (part, found) in parts {
                let [ours, theirs] = found.tokens_per_second;
                let _ = writeln!(
                    text,
                    "| {} | {part} | {:.2} | {:.2} | {:.2} | {ours:.1} | {theirs:.1} |",
                    name.to_ascii_uppercase(),
                    found.ratio,
                    found.from,
                    found.to,
                );
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_is_read() {
        serde_json::from_str::<Record>(RECORD).unwrap();
    }
}
