//! Rows that become tables.

use super::*;
use crate::bench::rows::{Figures, RowKey};

fn row(model: &str, framework: &str, declared: Option<f64>, tgt_s: f64) -> BenchRow {
    let figures = Figures {
        tgt_s: Some(tgt_s),
        ..Figures::default()
    };
    BenchRow {
        model: model.to_owned(),
        framework: framework.to_owned(),
        dataset: "d".to_owned(),
        server: false,
        instances: 4,
        planned: 4,
        no_room: 0,
        unusable: 0,
        unanswered: 0,
        theoretical: None,
        declared,
        declared_ci: declared.map(|share| [share - 0.2, share + 0.2]),
        empirical: Some(0.5),
        empirical_ci: Some([0.25, 0.75]),
        compliance: None,
        compliance_ci: None,
        unaided: None,
        valid: 2,
        failures: crate::bench::failures::Failures::default(),
        compared: 2,
        medians: figures,
        median_cis: Figures::default(),
        p95: figures,
        p99: figures,
        own: figures,
    }
}

fn report(rows: Vec<BenchRow>) -> Report {
    Report {
        rows,
        scoring: Scoring::Paper,
        confidence: 0.9,
        speed: vec![],
        warnings: vec![],
        servers: vec![],
        paper: None,
    }
}

/// Returns the cells of the table's lines that start with `first`.
fn cells(markdown: &str, first: &str) -> Vec<Vec<String>> {
    let lines = markdown.lines().filter(|line| line.starts_with(&format!("| {first}")));
    lines
        .map(|line| {
            line.trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect()
        })
        .collect()
}

#[test]
fn the_best_of_a_model_and_dataset_is_bold() {
    let rows = vec![
        row("m", "a", Some(0.5), 2.0),
        row("m", "b", Some(0.25), 1.0),
        row("m", "none", None, 1.000_01),
        row("n", "a", Some(0.75), 0.5),
    ];
    let markdown = report(rows).markdown();
    assert!(markdown.contains("**Coverage (paper scoring, 90 % confidence intervals)**"));
    let lines = cells(&markdown, "m ");
    assert_eq!(
        lines[0][3..],
        ["4", "NA", "**0.50 [0.30, 0.70]**", "0.50 [0.25, 0.75]", "NA", "NA"]
    );
    assert_eq!(lines[1][5], "0.25 [0.05, 0.45]");
    assert_eq!((lines[2][2].as_str(), lines[2][5].as_str()), ("LM only", "NA"));
    let times: Vec<&str> = lines[3..6].iter().map(|line| line[7].as_str()).collect();
    assert_eq!(times, ["2.00", "**1.00**", "**1.00**"]);
    let alone = cells(&markdown, "n ");
    assert_eq!(
        (alone[0][5].as_str(), alone[1][7].as_str()),
        ("0.75 [0.55, 0.95]", "0.500")
    );
}

#[test]
fn one_model_needs_no_column_and_every_format_has_every_row() {
    let report = report(vec![row("m", "a", Some(0.5), 2.0), row("m", "none", None, 1.0)]);
    assert_eq!(
        cells(&report.markdown(), "dataset")[0][..3],
        ["dataset", "framework", "schemas"]
    );
    assert!(!report.terminal(false).contains("**"));
    let csv = report.csv();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let cell = |row: usize, name: &str| {
        let at = header.iter().position(|column| column == name).unwrap();
        records[row][at].to_owned()
    };
    assert_eq!(
        (cell(0, "declared_low"), cell(1, "declared_low")),
        ("0.3".to_owned(), String::new())
    );
    assert_eq!((cell(0, "model"), cell(1, "tgt_s")), ("m".to_owned(), "1".to_owned()));
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert_eq!(json["rows"][0]["declared_ci"], json!([0.3, 0.7]));
    assert_eq!(json["scoring"], "paper");
}

#[test]
fn the_text_says_what_is_missing_and_who_is_fastest() {
    let mut rows = vec![row("m", "a", Some(0.5), 2.0), row("m", "none", None, 1.0)];
    // Of 10 schemas 3 have no room and 2 cannot be used.
    rows[0].unanswered = 3;
    rows.iter_mut().for_each(|row| row.planned = 10);
    rows[0].instances = 2;
    rows.iter_mut().for_each(|row| row.no_room = 3);
    let sentences = speed(&rows, 0.95, |one, _| match one.framework.as_str() {
        "a" => vec![(2.0, 1.0), (4.0, 2.0)],
        _ => vec![(1.0, 2.0), (2.0, 4.0)],
    });
    assert_eq!(
        sentences,
        [
            "a, for each token: 0.50 times (0.50 to 0.50) as fast as LM only over 2 schemas (geometric means, 95 % intervals)."
        ]
    );
    let report = Report {
        speed: sentences,
        ..report(rows)
    };
    let markdown = report.markdown();
    assert_eq!(cells(&markdown, "d ")[0][2], "2 of 5");
    for text in [markdown, report.terminal(true).replace('\n', " ")] {
        for needle in [
            "UNFINISHED: a: 2 of 5 answered",
            "3 of 10 schemas count nowhere",
            "valid answers: a 2 of 2",
            "a, for each token: 0.50",
        ] {
            assert!(text.contains(needle), "{needle}: {text}");
        }
    }
}

#[test]
fn questions_of_a_data_set_that_a_server_answered_nothing_of_are_unanswered() {
    let mut rows = ["d", "e"].map(|dataset| BenchRow {
        dataset: dataset.to_owned(),
        server: true,
        ..row("m", "remote", None, 1.0)
    });
    (rows[1].instances, rows[1].unanswered) = (0, 4);
    let key = RowKey {
        model: "m".to_owned(),
        framework: "remote".to_owned(),
        server: true,
        paper: None,
    };
    assert_eq!(server_rows::server_rows(&[], &[key], &rows)[0].unanswered, 4);
}

#[test]
fn rows_without_a_schema_in_common_are_told_what_to_leave_out() {
    let mut rows = vec![row("m", "a", Some(1.0), 2.0), row("m", "b", Some(0.0), 1.0)];
    let sentence = "No schema is covered by every framework";
    assert!(!report(rows.clone()).markdown().contains(sentence));
    rows.iter_mut().for_each(|row| row.compared = 0);
    rows[1].own = Figures::default();
    let expected = format!("\n{sentence}: leave out b to compare the others.\n");
    assert!(report(rows.clone()).markdown().contains(&expected));
    assert!(!report(rows[..1].to_vec()).markdown().contains(sentence));
    rows[1].own = rows[0].own;
    assert!(report(rows).markdown().contains(&format!("\n{sentence}.\n")));
}
