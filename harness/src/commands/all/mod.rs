//! `maskwright all`.

mod parts;
mod process;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;

use self::parts::{BenchmarkPart, PARTS, Plan};
use self::process::{PartEnd, run_part};
use super::results::report::write_page;
use crate::error::CommandError;
use crate::pages::report::{ReportOptions, RunReport};
use crate::report::table::Style;
use crate::results::bench::ReadOptions;
use crate::results::run::{Run, directories_of_runs};
use crate::run::{directory, interrupt, progress};

/// Failures that the report holds against their schemas.
const EXPLAINED: usize = 200;
/// Share of the time that is left for the report.
const FOR_REPORT: f64 = 0.05;
/// Name of the report's page in the directory.
const PAGE: &str = "report.html";

/// Arguments of `maskwright all`.
#[derive(Debug, Args)]
pub struct AllArguments {
    /// The model: `builtin`, a directory in Hugging Face layout, a GGUF file, or a hub id
    #[arg(long, default_value = "builtin", value_name = "MODEL")]
    model: String,
    /// Time for everything, such as 90s, 10m or 2h. A part that comes to the end of its share keeps what it has
    #[arg(long, default_value = "10m", value_parser = duration, value_name = "TIME")]
    budget: Duration,
    /// Frameworks, comma-separated; the model alone runs beside them
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "maskwright,llguidance",
        value_name = "NAMES"
    )]
    frameworks: Vec<String>,
    /// Parts to run, comma-separated; all by default
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PARTS")]
    parts: Vec<BenchmarkPart>,
    /// Directory of public data [default: what `maskwright fetch` fetched]. Parts whose data is in neither are left out, which is said
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Device: cpu, cuda or cuda:N
    #[arg(long, default_value = "cpu", value_name = "DEVICE")]
    device: String,
    /// Use only what is in the download cache
    #[arg(long)]
    offline: bool,
    /// Directory of the runs and of the report [default: runs/all-DATE-TIME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the runs in --out: the time is that of this call
    #[arg(long, requires = "out")]
    resume: bool,
}

/// Runs the parts and writes the report.
///
/// # Errors
///
/// [`CommandError::NothingMeasured`], where no part has a record; [`CommandError`], where the report cannot be written.
pub fn run(arguments: &AllArguments) -> Result<(), CommandError> {
    let started = Instant::now();
    let out = arguments.out.clone().unwrap_or_else(|| {
        let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
        PathBuf::from("runs").join(format!("all-{now}"))
    });
    if !arguments.resume && out.exists() {
        let message = format!(
            "{} is there already: go on with --resume, or choose another --out",
            out.display()
        );
        return Err(CommandError::Arguments(message));
    }
    directory::writable(&out).map_err(|source| CommandError::write(&out, source))?;
    std::fs::create_dir_all(&out).map_err(|source| CommandError::write(&out, source))?;
    interrupt::watch();
    let notes = run_parts(arguments, &out, started)?;
    for note in &notes {
        progress::say(note);
    }
    if directories_of_runs(&out).is_empty() {
        return Err(CommandError::NothingMeasured(format!(
            "no part came to a record: {}",
            notes.join(" ")
        )));
    }
    write_report(arguments, &out)
}

/// Runs the parts one after the other, each within its share of the time that is left, and says what did not come to its end.
fn run_parts(arguments: &AllArguments, out: &std::path::Path, started: Instant) -> Result<Vec<String>, CommandError> {
    let wanted: Vec<BenchmarkPart> = match arguments.parts.is_empty() {
        true => PARTS.to_vec(),
        false => PARTS
            .iter()
            .copied()
            .filter(|part| arguments.parts.contains(part))
            .collect(),
    };
    let mut notes = Vec::new();
    let plans = wanted.into_iter().filter_map(|part| {
        let plan = Plan::new(part, arguments.data.as_deref());
        plan.map_err(|missing| notes.push(format!("{}: {missing}", part.name())))
            .ok()
    });
    let plans: Vec<Plan> = plans.collect();
    let all = arguments.budget.mul_f64(1.0 - FOR_REPORT);
    for (number, plan) in plans.iter().enumerate() {
        let left = all.saturating_sub(started.elapsed());
        let weights: f64 = plans[number..].iter().map(|plan| plan.part.weight()).sum();
        let share = left.mul_f64(plan.part.weight() / weights);
        let name = plan.part.name();
        let place = out.join(name);
        let words = match arguments.resume && place.exists() {
            true => plan.part.resumed(&place),
            false => plan.words(arguments, &place, share),
        };
        progress::say(&format!("{name}: up to {} s", share.as_secs()));
        match run_part(&words, share)? {
            PartEnd::Done => {}
            PartEnd::OutOfTime => notes.push(format!(
                "{name}: its share of the time is over; what it measured is kept"
            )),
            PartEnd::Failed(code) => notes.push(format!(
                "{name}: it ended with exit code {code}; its own words are above"
            )),
            PartEnd::Interrupted => {
                let message = format!("interrupted; go on with --resume --out {}", out.display());
                return Err(CommandError::Stopped(message));
            }
        }
    }
    Ok(notes)
}

fn write_report(arguments: &AllArguments, out: &std::path::Path) -> Result<(), CommandError> {
    let options = ReportOptions {
        reading: ReadOptions::default(),
        explained: EXPLAINED,
        data: arguments.data.as_deref(),
    };
    let report = RunReport::new(Run::read_all(&[out.to_owned()])?, options, Style::Terminal)?;
    if let Some(overview) = report.sections.first() {
        crate::print_text(&overview.text(Style::Terminal))?;
    }
    let title = format!("maskwright report: {}", arguments.model);
    write_page(&out.join(PAGE), &report.html(&title, None), true)
}

/// Reads a time such as 90s, 10m or 2h.
fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a time such as 90s, 10m or 2h".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1.0,
        'm' => 60.0,
        'h' => 3600.0,
        _ => return Err(wrong()),
    };
    let number: f64 = text[..text.len() - 1].trim().parse().map_err(|_| wrong())?;
    let all = number * seconds;
    match (10.0..=7.0 * 86_400.0).contains(&all) {
        true => Ok(Duration::from_secs_f64(all)),
        false => Err("must be from 10s to a week".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        for text in ["", "10", "m", "ten m", "1s", "1000h", "-5m", "NaNm", "5€"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
