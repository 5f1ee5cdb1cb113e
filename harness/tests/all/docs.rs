//! The documents: generated parts are what the recorded results say, and links lead somewhere.
//!
//! `MASKWRIGHT_UPDATE_DOCS=1 cargo test -p maskwright-harness docs` writes the generated parts anew, after
//! `scripts/record-results.sh` has recorded new results.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The percentiles of the chart and the tables: the member of the recorded results, and how it is written.
const PERCENTILES: [(&str, &str); 5] = [
    ("p50", "p50"),
    ("p90", "p90"),
    ("p99", "p99"),
    ("p999", "p99.9"),
    ("max", "longest"),
];

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn results(name: &str) -> Value {
    serde_json::from_str(&read(&format!("docs/results/{name}.json"))).unwrap()
}

/// The frameworks of some results in the order in which the command named them.
fn frameworks(results: &Value) -> Vec<(&str, &Value)> {
    let names = results["settings"]["frameworks"].as_array().unwrap();
    let names = names.iter().map(|framework| framework["name"].as_str().unwrap());
    names.map(|name| (name, &results["frameworks"][name])).collect()
}

/// A number with three significant digits, or whole with separators of thousands.
fn figure(value: &Value) -> String {
    let value = value.as_f64().unwrap();
    if value < 100.0 {
        let decimals = if value < 10.0 { 2 } else { 1 };
        return format!("{value:.decimals$}");
    }
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// The line that says where results come from.
fn source(results: &Value) -> String {
    let hardware = &results["hardware"];
    format!(
        "`{}` on {} × {}, {}; maskwright {} at commit {}; {}; {}.",
        text(&results["command"]),
        hardware["cpus"],
        text(&hardware["cpu"]),
        text(&hardware["os"]),
        text(&results["program"]["version"]),
        text(&results["program"]["commit"]),
        text(&results["compiler"]),
        &text(&results["started"])[..10],
    )
}

fn overview() -> String {
    let (masks, suite) = (results("masks"), results("testsuite"));
    let mut table = String::from(
        "| framework | Test Suite cases passed | MaskBench schemas right | valid rejected / invalid accepted | first mask, median (us) | mask, mean (us) | mask, p99 (us) |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for (name, masks) in frameworks(&masks) {
        let suite = &suite["frameworks"][name];
        let passed = match suite["passed"].as_u64() {
            Some(passed) => format!("{passed} of {}", suite["cases"]),
            None => "not run".to_owned(),
        };
        writeln!(
            table,
            "| {name} {} | {passed} | {} of {} | {} / {} | {} | {} | {} |",
            text(&masks["version"]),
            masks["passing"],
            masks["schemas"],
            masks["validation_errors"],
            masks["invalidation_errors"],
            figure(&masks["ttfm_us"]["p50"]),
            figure(&masks["tbm_us"]["mean"]),
            figure(&masks["tbm_us"]["p99"]),
        )
        .unwrap();
    }
    table
}

fn masks_table() -> String {
    let masks = results("masks");
    let mut table = String::from("| framework | schemas | passing | refused | timeouts | peak memory (MiB) |");
    for time in ["TTFM", "TBM"] {
        for (_, name) in PERCENTILES {
            write!(table, " {time} {name} |").unwrap();
        }
    }
    table.push_str(" TBM mean |\n|---|--:|--:|--:|--:|--:|");
    table.push_str(&"--:|".repeat(2 * PERCENTILES.len() + 1));
    table.push('\n');
    for (name, row) in frameworks(&masks) {
        write!(
            table,
            "| {name} {} | {} | {} | {} | {} | {} |",
            text(&row["version"]),
            row["schemas"],
            row["passing"],
            row["compile_errors"],
            row["timeouts"],
            row["peak_rss_mib"],
        )
        .unwrap();
        for time in ["ttfm_us", "tbm_us"] {
            for (member, _) in PERCENTILES {
                write!(table, " {} |", figure(&row[time][member])).unwrap();
            }
        }
        writeln!(table, " {} |", figure(&row["tbm_us"]["mean"])).unwrap();
    }
    format!("{table}\n{}\n", source(&masks))
}

/// Each framework's times against those of the others, over the schemas that all frameworks take.
fn ratios_table() -> String {
    let masks = results("masks");
    let mut table = String::from("| maskwright against | time | mean |");
    for (_, name) in PERCENTILES {
        write!(table, " {name} |").unwrap();
    }
    table.push_str("\n|---|---|--:|");
    table.push_str(&"--:|".repeat(PERCENTILES.len()));
    table.push('\n');
    let ours = &masks["frameworks"]["maskwright"];
    for (name, theirs) in frameworks(&masks) {
        if name.starts_with("maskwright") {
            continue;
        }
        for (member, time) in [("tbm_us", "between masks"), ("ttfm_us", "to first mask")] {
            let ratio = |of: &str| {
                let [ours, theirs] = [ours, theirs].map(|row| row["shared"][member][of].as_f64().unwrap());
                ours / theirs
            };
            write!(table, "| {name} | {time} | {:.2} |", ratio("mean")).unwrap();
            for (of, _) in PERCENTILES {
                write!(table, " {:.2} |", ratio(of)).unwrap();
            }
            table.push('\n');
        }
    }
    table
}

fn suite_table() -> String {
    let suite = results("testsuite");
    let mut table = String::from(
        "| framework | cases passed | categories with a compile error | over-constrained | under-constrained | fully covered |\n|---|--:|--:|--:|--:|--:|\n",
    );
    for (name, row) in frameworks(&suite) {
        writeln!(
            table,
            "| {name} {} | {} of {} | {} of {} | {} | {} | {} |",
            text(&row["version"]),
            row["passed"],
            row["cases"],
            row["compile_error"],
            row["categories"],
            row["over"],
            row["under"],
            row["full"],
        )
        .unwrap();
    }
    format!("{table}\n{}\n", source(&suite))
}

fn bench_table() -> String {
    let bench = results("bench");
    format!("{}\n\n{}\n", text(&bench["markdown"]).trim(), source(&bench))
}

/// A report of `scripts/gpu-report.sh` or `scripts/bench-families.sh`, which name hardware and date themselves.
fn report_of_script(name: &str) -> String {
    format!("{}\n", text(&results(name)["markdown"]).trim())
}

/// The chart of README: the time of a mask by percentile on a logarithmic axis, one line for each framework.
fn chart() -> String {
    const WIDTH: f64 = 760.0;
    const HEIGHT: f64 = 400.0;
    const LEFT: f64 = 70.0;
    const RIGHT: f64 = 190.0;
    const TOP: f64 = 50.0;
    const BOTTOM: f64 = 50.0;
    // Colours that are told apart also by those who do not see all of them (Okabe and Ito, 2008).
    const COLOURS: [&str; 6] = ["#0072b2", "#56b4e9", "#d55e00", "#009e73", "#cc79a7", "#e69f00"];
    let masks = results("masks");
    let rows = frameworks(&masks);
    let times: Vec<Vec<f64>> = rows
        .iter()
        .map(|(_, row)| {
            PERCENTILES
                .map(|(member, _)| row["tbm_us"][member].as_f64().unwrap())
                .to_vec()
        })
        .collect();
    let all = || times.iter().flatten().copied();
    let low = all().fold(f64::INFINITY, f64::min).log10().floor();
    let high = all().fold(0.0, f64::max).log10().ceil();
    let x = |index: usize| LEFT + index as f64 / (PERCENTILES.len() - 1) as f64 * (WIDTH - LEFT - RIGHT);
    let y = |us: f64| TOP + (high - us.log10()) / (high - low) * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\" role=\"img\">\n<title>Time of one token mask by percentile, for each framework</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"24\" font-size=\"16\" font-weight=\"bold\">Time of one token mask: lower is better</text>\n"
    );
    for power in low as i32..=high as i32 {
        let us = 10_f64.powi(power);
        let label = match power {
            3.. => format!("{} ms", 10_f64.powi(power - 3)),
            _ => format!("{us} us"),
        };
        writeln!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{0:.1}\" x2=\"{1:.1}\" y2=\"{0:.1}\" stroke=\"#ddd\"/>\n<text x=\"{2}\" y=\"{3:.1}\" text-anchor=\"end\" fill=\"#555\">{label}</text>",
            y(us),
            WIDTH - RIGHT,
            LEFT - 8.0,
            y(us) + 4.0,
        )
        .unwrap();
    }
    for (index, (_, name)) in PERCENTILES.iter().enumerate() {
        writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555\">{name}</text>",
            x(index),
            HEIGHT - BOTTOM + 22.0,
        )
        .unwrap();
    }
    // The names stand at the ends of the lines, in their order and without touching.
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let last = PERCENTILES.len() - 1;
    order.sort_by(|a, b| y(times[*a][last]).total_cmp(&y(times[*b][last])));
    let mut label = f64::NEG_INFINITY;
    for place in order {
        let colour = COLOURS[place % COLOURS.len()];
        let points: Vec<String> = times[place]
            .iter()
            .enumerate()
            .map(|(index, us)| format!("{:.1},{:.1}", x(index), y(*us)))
            .collect();
        writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\"/>",
            points.join(" ")
        )
        .unwrap();
        for point in &points {
            let (x, y) = point.split_once(',').unwrap();
            writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"3.5\" fill=\"{colour}\"/>").unwrap();
        }
        label = (y(times[place][last]) + 4.0).max(label + 17.0);
        writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{label:.1}\" fill=\"{colour}\" font-weight=\"bold\">{}</text>",
            x(last) + 12.0,
            rows[place].0,
        )
        .unwrap();
    }
    svg.push_str("</svg>\n");
    svg
}

/// A document with its generated blocks as the recorded results have them.
fn filled(document: &str) -> String {
    let mut text = read(document);
    let blocks = [
        ("overview", overview()),
        ("masks", masks_table()),
        ("ratios", ratios_table()),
        ("testsuite", suite_table()),
        ("bench", bench_table()),
        ("families", report_of_script("families")),
        ("gpu", report_of_script("gpu")),
    ];
    for (name, block) in blocks {
        let (begin, end) = (
            format!("<!-- generated: {name} -->\n"),
            "<!-- end of generated part -->",
        );
        let Some(start) = text.find(&begin).map(|at| at + begin.len()) else {
            continue;
        };
        let length = text[start..]
            .find(end)
            .unwrap_or_else(|| panic!("{document}: {name} has no end"));
        text.replace_range(start..start + length, &block);
    }
    text
}

#[test]
fn generated_parts_are_what_the_recorded_results_say() {
    let generated = [
        ("README.md", filled("README.md")),
        ("docs/results.md", filled("docs/results.md")),
        ("docs/masks.svg", chart()),
    ];
    for (path, expected) in generated {
        if std::env::var_os("MASKWRIGHT_UPDATE_DOCS").is_some() {
            fs::write(root().join(path), &expected).unwrap();
        }
        assert!(
            fs::read_to_string(root().join(path)).is_ok_and(|found| found == expected),
            "{path} is not what docs/results/ says: run MASKWRIGHT_UPDATE_DOCS=1 cargo test -p maskwright-harness docs"
        );
    }
}

/// The documents that people read, by their paths from the root.
fn documents() -> Vec<String> {
    let mut found: Vec<String> = ["engine/README.md", "benches/README.md", "models/builtin/README.md"]
        .map(str::to_owned)
        .to_vec();
    for folder in ["", "docs/"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") {
                found.push(format!("{folder}{name}"));
            }
        }
    }
    found
}

#[test]
fn links_lead_to_files() {
    let mut checked = 0;
    for document in documents() {
        let text = read(&document);
        let folder = root().join(&document);
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = target.split('#').next().unwrap();
            if path.is_empty() || path.contains("://") || path.contains(' ') {
                continue;
            }
            let found = folder.parent().unwrap().join(path);
            assert!(found.exists(), "{document} links to {path}, which is not there");
            checked += 1;
        }
    }
    assert!(checked > 10, "only {checked} links were found");
}

/// CONTRIBUTING and ARCHITECTURE name files and folders, from the root, from a crate's sources, or from a folder named in the
/// same row. What they name is there.
#[test]
fn paths_in_documents_lead_somewhere() {
    let rooms = ["", "engine/src/", "models/src/", "harness/src/", "suites/src/"];
    let mut checked = 0;
    for document in ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/decisions.md"] {
        let text = read(document);
        for line in text.lines() {
            let mut folders: Vec<String> = rooms.map(str::to_owned).to_vec();
            for name in line.split('`').skip(1).step_by(2) {
                let is_path = name.ends_with(".rs") || name.ends_with('/') || name.contains("/src/");
                if !is_path || name.contains([' ', '*', '$']) || name.starts_with('.') {
                    continue;
                }
                let found = folders.iter().map(|folder| format!("{folder}{name}"));
                let found = found.into_iter().find(|path| root().join(path).exists());
                let found = found.unwrap_or_else(|| panic!("{document} names {name}, which is not there:\n{line}"));
                if let Some((folder, _)) = found.trim_end_matches('/').rsplit_once('/') {
                    folders.push(format!("{folder}/"));
                }
                folders.push(format!("{}/", found.trim_end_matches('/')));
                checked += 1;
            }
        }
    }
    assert!(checked > 50, "only {checked} paths were found");
}
