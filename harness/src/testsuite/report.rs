//! The tables of a Test Suite run: terminal, Markdown, JSON, and the list of failing cases.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::frameworks::FrameworkSettings;
use crate::report::paper::{self, PaperRow};
use crate::report::part::Part;
use crate::report::table::{Style, Table, table};
use crate::testsuite::conformance::{self, CategoryOutcome, Conformance, LEVELS, Standing, standings};

/// A run over the suite.
pub struct Sheet {
    /// The draft.
    pub draft: String,
    /// The vocabulary.
    pub vocabulary: String,
    /// Versions and options, in the order of `frameworks`.
    pub settings: Vec<FrameworkSettings>,
    /// The outcomes.
    pub frameworks: Vec<Conformance>,
    /// The outcomes of the cases that need no document from elsewhere, where the paper's figures stand beside ours.
    pub paper: Option<Vec<Conformance>>,
}

/// A figure of table 5: its title, and the condition under which a category is counted.
type Count = (&'static str, fn(&CategoryOutcome) -> bool);

/// Table 5 of the paper, crashes added.
const FAILURES: [Count; 4] = [
    ("compile error", |outcome| outcome.compile_error),
    ("over-constrained", |outcome| outcome.over),
    ("under-constrained", |outcome| outcome.under),
    ("crashed", |outcome| outcome.crashed),
];

/// A figure of table 6: its title, and the standings that are counted.
type Highest = (&'static str, fn(Standing) -> bool);

/// The last lines of table 6.
const HIGHEST: [Highest; 2] = [
    ("tied for highest (> 0 %)", |standing| standing != Standing::Behind),
    ("single highest", |standing| standing == Standing::Single),
];

/// Legend printed below the tables.
const LEGEND: &str = "A case passes if every instance is accepted or rejected rightly, token by token and at the end; a \
refused schema passes only a case without valid instances. * highest coverage of the category, tied; ** alone. \
C compile error, O over-constrained, U under-constrained, X crashed or out of limits.";

/// Legend printed below the table that compares our figures with the paper's.
const PAPER_LEGEND: &str = "ours / the paper's (JSONSchemaBench, tables 5 and 6: Llama 3.1's tokenizer, suite of 2024), in per cent of the \
categories, as the suite has others today. Cases that need documents from elsewhere are left out on both sides. Its XGrammar ran with strict mode off, which is our \
xgrammar-standard. It compares four engines, on which its highest counts depend.";

/// All tables for a terminal.
pub fn terminal(sheet: &Sheet) -> String {
    tables(sheet, Style::Terminal)
}

/// All tables in Markdown.
pub fn markdown(sheet: &Sheet) -> String {
    tables(sheet, Style::Markdown)
}

fn tables(sheet: &Sheet, style: Style) -> String {
    let legend = |text: &str| match style {
        Style::Terminal => crate::terminal::wrapped(text),
        Style::Markdown => text.to_owned(),
    };
    let mut text = String::new();
    for FrameworkSettings { name, version, options } in &sheet.settings {
        let _ = writeln!(
            text,
            "{}{}",
            legend(&format!("{name} {version}: {options}")),
            style.paragraph()
        );
    }
    for table in [
        categories(sheet, style),
        failure_types(sheet, style),
        levels(sheet, style),
    ] {
        let _ = write!(text, "{table}\n\n");
    }
    if let Some(offline) = &sheet.paper {
        let _ = write!(text, "{}\n\n{}\n\n", beside_paper(offline, style), legend(PAPER_LEGEND));
    }
    let (draft, vocabulary) = (&sheet.draft, &sheet.vocabulary);
    let _ = writeln!(text, "{}\nDraft {draft}, vocabulary {vocabulary}.", legend(LEGEND));
    let mut sorted: Vec<&Conformance> = sheet.frameworks.iter().collect();
    sorted.sort_by_key(|one| std::cmp::Reverse(one.passed()));
    let counts = sorted
        .iter()
        .map(|one| format!("{} {} of {}", one.framework, one.passed(), one.cases.len()));
    let sentence = format!("Cases passed: {}.", counts.collect::<Vec<_>>().join(", "));
    let _ = writeln!(text, "{}{}", style.paragraph(), legend(&sentence));
    text
}

/// The tables: coverage by category, types of failures, levels of coverage.
pub fn parts(sheet: &Sheet, style: Style) -> Vec<Part> {
    let place = format!("Draft {}, vocabulary {}.", sheet.draft, sheet.vocabulary);
    vec![
        Part::new("Coverage by category", categories(sheet, style), LEGEND).with_notes([place]),
        Part::new("Categories with each type of failure", failure_types(sheet, style), ""),
        Part::new("Categories at each level of coverage", levels(sheet, style), ""),
    ]
}

/// Figure 6: coverage by category.
fn categories(sheet: &Sheet, style: Style) -> Table {
    let names = sheet.frameworks.iter().map(|one| one.framework.as_str());
    let mut table = table(["category", "cases"].into_iter().chain(names), 1, style);
    let most =
        |cases: &dyn Fn(&Conformance) -> usize| sheet.frameworks.iter().map(cases).max().unwrap_or(0).to_string();
    for category in conformance::categories(&sheet.frameworks) {
        let standings = standings(&sheet.frameworks, category);
        let cells = sheet.frameworks.iter().zip(standings).map(|(one, standing)| {
            let outcome = one.of(category);
            outcome.map(|outcome| cell(outcome, standing)).unwrap_or_default()
        });
        let cases = most(&|one| one.of(category).map_or(0, |outcome| outcome.cases));
        table.add_row([category.to_owned(), cases].into_iter().chain(cells));
    }
    let totals = sheet.frameworks.iter().map(|one| one.passed().to_string());
    let row = ["cases passed".to_owned(), most(&|one| one.cases.len())];
    table.add_row(row.into_iter().chain(totals));
    table
}

/// Coverage in per cent, with the flags of failures and the mark of the highest.
fn cell(outcome: &CategoryOutcome, standing: Standing) -> String {
    let mark = match standing {
        Standing::Behind => "",
        Standing::Tied => "*",
        Standing::Single => "**",
    };
    let flags = outcome.flags();
    let space = if flags.is_empty() { "" } else { " " };
    format!("{flags}{space}{:.0} %{mark:<2}", 100.0 * outcome.coverage())
}

/// Table 5: categories with each type of failure.
fn failure_types(sheet: &Sheet, style: Style) -> Table {
    let titles = FAILURES.iter().map(|(title, _)| *title);
    let header = ["framework", "cases passed", "categories"];
    let mut table = table(header.into_iter().chain(titles).chain(["full"]), 1, style);
    for one in &sheet.frameworks {
        let counts = FAILURES.iter().map(|(_, property)| one.count(property).to_string());
        let passed = format!("{} of {}", one.passed(), one.cases.len());
        let row = [one.framework.clone(), passed, one.categories.len().to_string()];
        table.add_row(row.into_iter().chain(counts).chain([one.above(1.0).to_string()]));
    }
    table
}

/// Table 6: categories at each level of coverage.
fn levels(sheet: &Sheet, style: Style) -> Table {
    let names = sheet.frameworks.iter().map(|one| one.framework.as_str());
    let mut table = table(["coverage"].into_iter().chain(names), 1, style);
    for (title, level) in LEVELS {
        let counts = sheet.frameworks.iter().map(|one| one.above(level).to_string());
        table.add_row([title.to_owned()].into_iter().chain(counts));
    }
    let highest: Vec<Vec<usize>> = (0..sheet.frameworks.len())
        .map(|framework| highest_counts(&sheet.frameworks, framework).collect())
        .collect();
    for (number, (title, _)) in HIGHEST.iter().enumerate() {
        let row = highest.iter().map(|counts| counts[number].to_string());
        table.add_row([(*title).to_owned()].into_iter().chain(row));
    }
    table
}

/// Tables 5 and 6 with the paper's figures beside ours, in per cent of the categories of each.
fn beside_paper(frameworks: &[Conformance], style: Style) -> Table {
    let names = ["framework", "paper's row", "categories", "error", "over", "under"];
    let levels = ["> 0 %", "> 25 %", "> 50 %", "> 75 %", "100 %", "tied", "single"];
    let mut table = table(names.into_iter().chain(levels), 2, style);
    for (number, one) in frameworks.iter().enumerate() {
        let counts = PaperRow::of_framework(&one.framework).and_then(paper::suite);
        let Some(counts) = counts else { continue };
        let failures = FAILURES.iter().map(|(_, property)| one.count(property));
        let levels = LEVELS.iter().map(|(_, level)| one.above(*level));
        let ours = failures.take(3).chain(levels).chain(highest_counts(frameworks, number));
        let papers = counts.failures.iter().chain(&counts.levels).chain(&counts.highest);
        let percent = |count: usize, of: usize| format!("{:.0}", 100.0 * count as f64 / of.max(1) as f64);
        let cells = ours.zip(papers).map(|(ours, theirs)| {
            let theirs = percent(*theirs, paper::SUITE_CATEGORIES);
            format!("{} / {theirs}", percent(ours, one.categories.len()))
        });
        let names = [
            one.framework.clone(),
            counts.paper_row.name().to_owned(),
            format!("{} / {}", one.categories.len(), paper::SUITE_CATEGORIES),
        ];
        table.add_row(names.into_iter().chain(cells));
    }
    table
}

/// Categories in which a framework has the highest coverage: tied and alone.
fn highest_counts(frameworks: &[Conformance], framework: usize) -> impl Iterator<Item = usize> {
    let categories = conformance::categories(frameworks);
    HIGHEST.iter().map(move |(_, counts)| {
        let standings = categories.iter().map(|category| standings(frameworks, category));
        standings.filter(|standings| counts(standings[framework])).count()
    })
}

/// One JSON object: `{"frameworks": {NAME: {…}}}`.
pub fn json(sheet: &Sheet) -> String {
    let frameworks = sheet.frameworks.iter().zip(&sheet.settings);
    let frameworks: BTreeMap<&str, Value> = frameworks
        .map(|(one, settings)| {
            let by_category: BTreeMap<&str, Value> = one
                .categories
                .iter()
                .map(|(name, outcome)| {
                    let mut value = json!(outcome);
                    value["coverage"] = json!(outcome.coverage());
                    (name.as_str(), value)
                })
                .collect();
            let failing: Vec<_> = one.cases.iter().filter(|case| !case.failures.is_empty()).collect();
            let value = json!({
                "version": settings.version,
                "options": settings.options,
                "draft": sheet.draft,
                "vocabulary": sheet.vocabulary,
                "cases": one.cases.len(),
                "passed": one.passed(),
                "categories": one.categories.len(),
                "compile_error": one.count(|outcome| outcome.compile_error),
                "over": one.count(|outcome| outcome.over),
                "under": one.count(|outcome| outcome.under),
                "crashed": one.count(|outcome| outcome.crashed),
                "full": one.above(1.0),
                "by_category": by_category,
                "failures": failing,
            });
            (one.framework.as_str(), value)
        })
        .collect();
    json!({ "frameworks": frameworks }).to_string()
}

/// Lists every failing case, one line for each instance judged wrongly.
pub fn failures(sheet: &Sheet) -> String {
    let mut text = String::new();
    for one in &sheet.frameworks {
        for case in &one.cases {
            for failure in &case.failures {
                let _ = write!(text, "{}: {} / {}", one.framework, case.category, case.description);
                if let Some(instance) = &failure.instance {
                    let _ = write!(text, " / {instance}");
                }
                let kind = serde_json::to_value(failure.kind).unwrap_or_default();
                let _ = write!(text, ": {}: {}", kind.as_str().unwrap_or_default(), failure.reason);
                if let Some(stop) = &failure.stopped {
                    let _ = write!(text, " (token {} {:?} after {:?})", stop.token, stop.text, stop.after);
                }
                text.push('\n');
            }
        }
    }
    text
}
