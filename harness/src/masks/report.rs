//! The tables of a run of `maskwright masks`: terminal, Markdown, CSV, JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::documents::with_hint;
use crate::frameworks::FrameworkSettings;
use crate::masks::rows::{MaskRow, TimeQuantiles, Times};
use crate::report::part::Part;
use crate::report::statistics::Ratio;
use crate::report::table::{Style, Table, figure, table};

/// Legend of the tables.
const LEGEND: &str = "TBM: mask and advance per token; TTFM: compilation and first mask; us of processor time of the \
framework's process, all threads, unless they say elapsed; TBM without what reading the clocks \
takes at the least. own: schemas that the framework \
compiles and replays to the end; shared: those that every framework does. tokens: those that TBM is over; forced: of the tokens accepted, the share \
that forced_tokens had told; not rewritten: schemas of which a valid document has no text in the framework's style.";

/// Number of reasons for refusals that are listed for each framework.
const REASONS: usize = 3;

/// A figure of a row's times, with the number of schemas behind it.
type Pick = fn(&Times) -> (&TimeQuantiles, usize);

/// The times of the tables: title, the figure of a row's times, and the number of schemas behind it.
const TIMES: [(&str, Pick); 4] = [
    ("TBM (us, CPU)", |times| (&times.tbm_us, times.with_tokens)),
    ("TTFM (us, CPU)", |times| (&times.ttfm_us, times.measured)),
    ("TBM (us, elapsed)", |times| (&times.tbm_wall_us, times.with_tokens)),
    ("TTFM (us, elapsed)", |times| (&times.ttfm_wall_us, times.measured)),
];

/// Output medium of the tables, and the columns that they have.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Output medium of the tables.
    pub style: Style,
    /// Whether the tables have every percentile, and both processor and elapsed time.
    pub percentiles: bool,
}

/// Returns the tables, for a terminal or in Markdown: versions and options of the frameworks first, the results last. `speed` has the sentences on
/// how much faster one framework is than others.
pub fn text(rows: &[MaskRow], frameworks: &[FrameworkSettings], speed: &[String], content: Layout) -> String {
    let style = content.style;
    let legend = |text: &str| match style {
        Style::Terminal => crate::terminal::wrapped(&crate::terminal::one_line(text)),
        Style::Markdown => crate::terminal::one_line(text),
    };
    let mut text = String::new();
    for FrameworkSettings { name, version, options } in frameworks {
        let _ = writeln!(
            text,
            "{}{}",
            legend(&format!("{name} {version}: {options}")),
            style.paragraph()
        );
    }
    for row in rows {
        let reasons = &row.compile_error_reasons;
        for (reason, count) in reasons.iter().take(REASONS) {
            let reason = format!("{} refused {count}: {}", row.framework, with_hint(reason.clone()));
            let _ = writeln!(text, "{}{}", legend(&reason), style.paragraph());
        }
        for (reason, count) in row.crash_reasons.iter().take(REASONS) {
            let reason = format!("{} crashed or broke the protocol on {count}: {reason}", row.framework);
            let _ = writeln!(text, "{}{}", legend(&reason), style.paragraph());
        }
        let left: usize = reasons.iter().skip(REASONS).map(|(_, count)| count).sum();
        if left > 0 {
            let name = &row.framework;
            let _ = writeln!(
                text,
                "{name} refused {left} for other reasons: report.json has them all.{}",
                style.paragraph()
            );
        }
    }
    let times = TIMES.iter().take(if content.percentiles { TIMES.len() } else { 2 });
    for (title, pick) in times {
        let _ = write!(text, "{}\n\n", spreads(rows, title, *pick, content));
    }
    let _ = write!(text, "{}\n\n", outcomes(rows, style));
    let _ = writeln!(text, "{}", legend(LEGEND));
    for sentence in results(rows).iter().chain(speed) {
        let _ = writeln!(text, "{}{}", style.paragraph(), legend(sentence));
    }
    text
}

/// Returns the tables: the outcomes, then the times with every percentile. `speed` has the sentences on how much faster one framework is than others.
pub fn parts(rows: &[MaskRow], speed: &[String], style: Style) -> Vec<Part> {
    let layout = Layout {
        style,
        percentiles: true,
    };
    let right = Part::new("Schemas of MaskBench", outcomes(rows, style), "").with_notes(results(rows));
    let times = TIMES.iter().enumerate().map(|(number, (title, pick))| {
        let legend = if number == 0 { LEGEND } else { "" };
        let part = Part::new(*title, spreads(rows, "framework", *pick, layout), legend);
        part.with_notes(speed.iter().filter(|_| number == 0).cloned())
    });
    std::iter::once(right).chain(times).collect()
}

/// Returns a sentence for each framework with the numbers of schemas that came out right and wrong, and one on the files that are left out.
fn results(rows: &[MaskRow]) -> Vec<String> {
    let sentence = |row: &MaskRow| {
        let counts = [
            (row.validation_errors, "on {} a valid document was rejected"),
            (
                row.not_rewritten,
                "on {} a valid document has no text in its style, or none was found",
            ),
            (row.invalidation_errors, "on {} an invalid document was accepted"),
            (row.compile_errors, "{} refused"),
            (row.timeouts, "{} over the time limit"),
            (row.crashes, "on {} it crashed or broke the protocol"),
            (row.out_of_memory, "{} over the memory limit"),
        ];
        let others = counts.iter().filter(|(count, _)| *count > 0);
        let others: String = others
            .map(|(count, what)| format!("; {}", what.replace("{}", &count.to_string())))
            .collect();
        format!(
            "{}: {} of {} schemas right{others}.",
            row.framework, row.passing, row.schemas
        )
    };
    let left_out = rows.iter().map(|row| row.unusable).max().filter(|count| *count > 0);
    let left_out = left_out.map(|count| {
        let files = if count == 1 { "file counts" } else { "files count" };
        format!("{count} {files} nowhere: the schema or the documents cannot be used, for the reasons in records.jsonl (`unusable`).")
    });
    rows.iter().map(sentence).chain(left_out).collect()
}

/// Returns a sentence on how much faster the framework with the fastest masks is than the others; none without others or times. `pairs` gives, for
/// two frameworks, their mean times between masks in pairs, one for each schema that all of them share.
pub fn speed(rows: &[MaskRow], pairs: impl Fn(&str, &str) -> Vec<(f64, f64)>) -> Vec<String> {
    let mean = |row: &&MaskRow| row.shared.tbm_us.mean;
    let measured = rows.iter().filter(|row| mean(row).is_some());
    let fastest =
        measured.min_by(|one, other| mean(one).partial_cmp(&mean(other)).unwrap_or(std::cmp::Ordering::Equal));
    let Some(fastest) = fastest.filter(|_| rows.len() > 1) else {
        return Vec::new();
    };
    let others = rows.iter().filter(|row| row.framework != fastest.framework);
    let compared: Vec<String> = others
        .filter_map(|other| {
            let ratio = Ratio::of(pairs(&other.framework, &fastest.framework))?;
            let (times, name) = (ratio.describe(), &other.framework);
            Some(format!("{times} as fast as {name} over {}", ratio.schemas()))
        })
        .collect();
    if compared.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "{}: a mask is {} (geometric means of mean times, 95 % intervals).",
        fastest.framework,
        compared.join(", ")
    )]
}

fn outcomes(rows: &[MaskRow], style: Style) -> Table {
    let header = [
        "framework",
        "schemas",
        "passing",
        "compile errors",
        "valid rejected",
        "not rewritten",
        "invalid accepted",
        "timeouts",
        "crashes",
        "out of memory",
        "tokens",
        "forced",
        "a schema's memory p50 / p99 / max (KiB)",
        "peak memory (MiB)",
    ];
    let mut table = table(header, 1, style);
    for row in rows {
        let forced = row.forced_share.map(|share| format!("{:.1} %", 100.0 * share));
        let memory = row.schema_kib.as_ref();
        let memory = memory.map(|memory| format!("{:.0} / {:.0} / {:.0}", memory.p50, memory.p99, memory.max));
        table.add_row([
            row.framework.clone(),
            row.schemas.to_string(),
            row.passing.to_string(),
            row.compile_errors.to_string(),
            row.validation_errors.to_string(),
            row.not_rewritten.to_string(),
            row.invalidation_errors.to_string(),
            row.timeouts.to_string(),
            row.crashes.to_string(),
            row.out_of_memory.to_string(),
            row.own.tokens.to_string(),
            forced.unwrap_or_else(|| "NA".to_owned()),
            memory.unwrap_or_else(|| "NA".to_owned()),
            row.peak_rss_mib.to_string(),
        ]);
    }
    table
}

/// The percentiles that are shown unless more are asked for.
const SHOWN: [&str; 5] = ["mean", "p50", "p90", "p99", "max"];

fn spreads(rows: &[MaskRow], title: &str, pick: Pick, content: Layout) -> Table {
    let is_shown = |name: &str| content.percentiles || SHOWN.contains(&name);
    let names = quantiles(&TimeQuantiles::default()).map(|(name, _)| name);
    let names = names.into_iter().filter(|name| is_shown(name));
    let mut table = table([title, "set", "schemas"].into_iter().chain(names), 2, content.style);
    // Of one framework the two sets are the same.
    let sets = if rows.len() > 1 { 2 } else { 1 };
    for row in rows {
        for (set, times) in [("own", &row.own), ("shared", &row.shared)].into_iter().take(sets) {
            let (quantiles_of, schemas) = pick(times);
            let cells = quantiles(quantiles_of).into_iter().filter(|(name, _)| is_shown(name));
            let cells = cells.map(|(_, value)| figure(value));
            let first = [row.framework.clone(), set.to_owned(), schemas.to_string()];
            table.add_row(first.into_iter().chain(cells));
        }
    }
    table
}

fn quantiles(spread: &TimeQuantiles) -> [(&'static str, Option<f64>); 9] {
    [
        ("mean", spread.mean),
        ("p25", spread.p25),
        ("p50", spread.p50),
        ("p75", spread.p75),
        ("p90", spread.p90),
        ("p95", spread.p95),
        ("p99", spread.p99),
        ("p99.9", spread.p999),
        ("max", spread.max),
    ]
}

/// The figures as CSV, unrounded: one line for each framework, set and kind of time.
pub fn csv(rows: &[MaskRow]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = quantiles(&TimeQuantiles::default()).map(|(name, _)| name);
    // Lines are of equal length and written to memory: this cannot fail.
    let _ = writer.write_record(
        ["framework", "time", "set", "schemas", "tokens"]
            .into_iter()
            .chain(names),
    );
    for row in rows {
        for (title, pick) in TIMES {
            for (set, times) in [("own", &row.own), ("shared", &row.shared)] {
                let (quantiles_of, schemas) = pick(times);
                let first = [
                    row.framework.clone(),
                    title.to_owned(),
                    set.to_owned(),
                    schemas.to_string(),
                    times.tokens.to_string(),
                ];
                let cells = quantiles(quantiles_of).map(|(_, value)| value.map(|value| value.to_string()));
                let _ = writer.write_record(first.into_iter().chain(cells.map(Option::unwrap_or_default)));
            }
        }
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// One JSON object: `{"frameworks": {NAME: {…}}}`.
pub fn json(rows: &[MaskRow], frameworks: &[FrameworkSettings]) -> String {
    let rows: BTreeMap<&str, Value> = rows
        .iter()
        .map(|row| {
            let mut value = json!(row);
            if let Some(settings) = frameworks.iter().find(|settings| settings.name == row.framework) {
                value["version"] = json!(settings.version);
                value["options"] = json!(settings.options);
            }
            (row.framework.as_str(), value)
        })
        .collect();
    json!({ "frameworks": rows }).to_string()
}
