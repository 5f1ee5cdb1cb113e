//! `maskwright check` as a user runs it.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "a": {"type": "integer"},
    "b": {"type": "string", "format": "date"},
    "never": {
      "type": "string",
      "const": 1
    }
  },
  "required": ["a"]
}"#;

/// The program on these files of `directory`, with `input` as standard input.
fn check(directory: &Path, arguments: &[&str], input: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_maskwright"))
        .arg("check")
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let written = program.stdin.take().unwrap().write_all(input.as_bytes());
    // A program that has ended already does not read it.
    let failed = written.err().filter(|error| error.kind() != ErrorKind::BrokenPipe);
    assert!(failed.is_none(), "{failed:?}");
    program.wait_with_output().unwrap()
}

/// The exit code and standard output.
fn outcome(output: &Output) -> (i32, String) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("panicked"), "{errors}");
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    (output.status.code().expect("ended by itself"), text)
}

fn directory() -> TempDir {
    let directory = TempDir::new().unwrap();
    let files = [
        ("schema.json", SCHEMA),
        (
            "fine.json",
            r#"{"type": "array", "items": {"type": "string", "format": "date"}}"#,
        ),
        ("good.json", "[\"2026-01-31\"]\n"),
        ("bad.json", "{\n  \"a\": 1.25e1\n}"),
    ];
    for (name, text) in files {
        fs::write(directory.path().join(name), text).unwrap();
    }
    directory
}

#[test]
fn defects_of_the_text_and_of_the_draft_have_their_places() {
    let directory = directory();
    let schema = "{\n  \"properties\": {\n    \"a\": {\"type\": \"integer\"},\n    \"a\": {}\n  }\n}";
    let (code, text) = outcome(&check(directory.path(), &["-"], schema));
    assert_eq!(code, 1, "{text}");
    assert!(
        text.starts_with("refused: malformed schema at /properties/a: line 4, column 5: the name"),
        "{text}"
    );
    // The engine can use a schema that its draft forbids, and the judge of answers cannot.
    let schema = r#"{"required": ["a", "a"]}"#;
    let (code, text) = outcome(&check(directory.path(), &["-"], schema));
    assert_eq!(code, 0, "{text}");
    let said = "by the rules of the draft: the document is not a schema of its draft at `/required`";
    assert!(text.contains(said) && !text.contains("no problems found"), "{text}");
    // What is read otherwise than the judge reads it is not held against it.
    let of_draft_4 = r#"{"minimum": 1, "exclusiveMinimum": true}"#;
    let (code, text) = outcome(&check(directory.path(), &["-", "--draft", "4"], of_draft_4));
    assert!(code == 0 && text.contains("no problems found"), "{text}");
    let (_, json) = outcome(&check(directory.path(), &["-", "--json"], schema));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert!(
        json["not_a_schema"]
            .as_str()
            .is_some_and(|problem| problem.contains("/required")),
        "{json}"
    );
}

#[test]
fn what_is_fine_ends_with_0() {
    let directory = directory();
    let output = check(directory.path(), &["fine.json", "--instance", "good.json"], "");
    assert_eq!(
        outcome(&output),
        (0, "draft 2020-12, 2 subschemas\ngood.json: valid\nno problems found: no keyword is refused, and every part has a value\n".to_owned())
    );
}

#[test]
fn parts_without_a_value_and_forbidden_bytes_are_shown() {
    let directory = directory();
    let output = check(directory.path(), &["schema.json", "--instance", "bad.json"], "");
    let (code, text) = outcome(&output);
    assert_eq!(code, 1);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "draft 2020-12, 4 subschemas");
    assert_eq!(
        lines[1],
        "no value: line 6: `/properties/never`: `/properties/never/const` and `/properties/never/type` exclude each other"
    );
    assert!(
        lines[2].starts_with("warning: line 8: /properties/never/const: "),
        "{text}"
    );
    assert_eq!(
        lines[3],
        "bad.json: forbidden at byte 15 (line 2, column 14), `\\n` at `/a`: forbidden by `/properties/a/type` (\"integer\"); \
         expected a digit"
    );
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 without a value, 1 forbidden"));
}

#[test]
fn what_is_refused_is_shown_with_its_line() {
    let directory = directory();
    let schema = "{\"properties\": {\n  \"a\": {\n    \"pattern\": \"(\"}}}";
    let (code, text) = outcome(&check(directory.path(), &["-", "--instance", "good.json"], schema));
    assert_eq!(code, 1);
    assert!(
        text.contains("refused: line 3: malformed schema at /properties/a (keyword `pattern`)"),
        "{text}"
    );
    let (code, text) = outcome(&check(directory.path(), &["-"], "{"));
    assert!(code == 1 && text.starts_with("refused: "), "{code} {text}");
}

#[test]
fn schemas_without_a_value_formats_and_styles() {
    let directory = directory();
    let (code, text) = outcome(&check(directory.path(), &["-"], r#"{"type": "null", "enum": [1]}"#));
    assert_eq!(code, 1);
    assert!(
        text.contains("no value: `/enum` and `/type` exclude each other"),
        "{text}"
    );
    for (arguments, code) in [
        (&["fine.json", "--instance", "-"][..], 1),
        (&["fine.json", "--instance", "-", "--annotate-formats"], 0),
    ] {
        assert_eq!(outcome(&check(directory.path(), arguments, r#"["today"]"#)).0, code);
    }
    for (style, code) in [("rfc8259", 0), ("generation", 1)] {
        let arguments = ["fine.json", "--instance", "-", "--style", style];
        let output = outcome(&check(directory.path(), &arguments, "[   \"2026-01-31\"]"));
        assert_eq!(output.0, code, "{}", output.1);
    }
    for (options, code) in [
        (&["--indent", "2"][..], 0),
        (&["--indent", "tab"], 1),
        (&["--line-break", "crlf", "--indent", "2"], 1),
        (&["--max-items", "0"], 1),
    ] {
        let arguments = [&["fine.json", "--instance", "-", "--style", "generation"], options].concat();
        let output = outcome(&check(directory.path(), &arguments, "[\n  \"2026-01-31\"\n]"));
        assert_eq!(output.0, code, "{options:?}: {}", output.1);
    }
}

#[test]
fn what_the_style_leaves_out_is_told() {
    let directory = directory();
    let (code, text) = outcome(&check(directory.path(), &["fine.json", "--style", "generation"], ""));
    assert_eq!(code, 0);
    assert!(
        text.contains("left out by the style: arrays of more than 4096 items: at the root\n"),
        "{text}"
    );
    let arguments = ["fine.json", "--style", "generation", "--max-items", "none"];
    assert!(!outcome(&check(directory.path(), &arguments, "")).1.contains("left out"));
    assert!(
        !outcome(&check(directory.path(), &["fine.json"], ""))
            .1
            .contains("left out")
    );
    let arguments = [
        "-",
        "--style",
        "compact",
        "--closed",
        "--max-depth",
        "none",
        "--max-name",
        "none",
        "--max-members",
        "none",
        "--json",
    ];
    let schema =
        r#"{"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "null"}}}}}"#;
    let report: Value = serde_json::from_str(&outcome(&check(directory.path(), &arguments, schema)).1).unwrap();
    assert_eq!(report["left_out_is_complete"], true);
    assert_eq!(report["left_out"][0]["code"], "closed");
    assert_eq!(
        report["left_out"][0]["places"],
        serde_json::json!(["#", "/properties/a"])
    );
    assert_eq!(report["left_out"].as_array().unwrap().len(), 1);
}

#[test]
fn times_without_an_offset_are_an_option() {
    let directory = directory();
    let schema = r#"{"type": "string", "format": "date-time"}"#;
    std::fs::write(directory.path().join("time.json"), schema).unwrap();
    for (options, time, code) in [
        (&[][..], "\"2026-01-31T12:00:00\"", 1),
        (&["--local-times"], "\"2026-01-31T12:00:00\"", 0),
        (&["--local-times"], "\"2026-01-31T12:00:00+01:00\"", 0),
        (&["--local-times"], "\"2026-01-31 12:00:00\"", 1),
        (
            &["--local-times", "--style", "generation"],
            "\"2026-01-31T12:00:00.5\"",
            0,
        ),
        (
            &["--local-times", "--style", "generation"],
            "\"2026-01-31t12:00:00\"",
            1,
        ),
    ] {
        let arguments = [&["time.json", "--instance", "-"], options].concat();
        let output = outcome(&check(directory.path(), &arguments, time));
        assert_eq!(output.0, code, "{options:?} {time}: {}", output.1);
    }
}

#[test]
fn a_report_can_be_json() {
    let directory = directory();
    let arguments = ["schema.json", "--json", "--instance", "bad.json", "--instance", "-"];
    let (code, text) = outcome(&check(directory.path(), &arguments, r#"{"a": 1}"#));
    assert_eq!(code, 1);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["draft"], "2020-12");
    assert_eq!(report["subschemas"], 4);
    assert_eq!(report["refused"].as_array().unwrap().len(), 0);
    assert!(report["conflict"].is_null());
    let part = &report["unsatisfiable_parts"][0];
    assert_eq!(
        (&part["subschema"], &part["line"]),
        (&"/properties/never".into(), &6.into())
    );
    assert_eq!(part["conflict"]["minimal"], true);
    let [bad, good] = [0, 1].map(|index| &report["instances"][index]);
    assert_eq!((&bad["valid"], &good["valid"]), (&false.into(), &true.into()));
    let forbidden = &bad["forbidden"];
    assert_eq!(forbidden["byte"], 15);
    assert_eq!((&forbidden["line"], &forbidden["column"]), (&2.into(), &14.into()));
    assert_eq!(forbidden["place"], "/a");
    assert_eq!(forbidden["cause"], "keywords");
    assert_eq!(forbidden["conflict"]["keywords"][0], "/properties/a/type");
    assert_eq!(forbidden["remedy"]["keywords"][0], "/properties/a/type");
}

#[test]
fn what_cannot_be_read_is_an_error_of_its_own() {
    let directory = directory();
    assert_eq!(outcome(&check(directory.path(), &["missing.json"], "")).0, 3);
    assert_eq!(
        outcome(&check(
            directory.path(),
            &["fine.json", "--instance", "missing.json"],
            ""
        ))
        .0,
        3
    );
    assert_eq!(outcome(&check(directory.path(), &["-", "--instance", "-"], "{}")).0, 2);
}

#[test]
fn warnings_are_told_and_may_be_denied() {
    let directory = directory();
    let path = directory.path();
    let schema = "{\"type\": \"array\",\n\"items\": {\"type\": \"integer\",\n\"mininum\": 1}}";
    fs::write(path.join("misspelt.json"), schema).unwrap();
    let (code, text) = outcome(&check(path, &["misspelt.json"], ""));
    let warning = "warning: line 3: /items/mininum: no draft has the keyword `mininum`, so that it asserts nothing: did you mean `minimum`? (misspelt-keyword)";
    assert!(
        code == 0 && text.contains(warning) && !text.contains("no problems"),
        "{text}"
    );
    assert_eq!(outcome(&check(path, &["misspelt.json", "--deny", "warnings"], "")).0, 6);
    assert_eq!(
        outcome(&check(path, &["fine.json", "--deny", "warnings", "--peers"], "")).0,
        0
    );
    let (_, text) = outcome(&check(path, &["misspelt.json", "--json"], ""));
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["warnings"][0]["code"], "misspelt-keyword");
    assert_eq!(report["warnings"][0]["line"], 3);
}

#[test]
fn a_schema_may_be_a_part_of_an_open_api_document() {
    let directory = directory();
    let path = directory.path();
    let document = r##"{"openapi": "3.0.3", "components": {"schemas": {"A": {"type": "array", "items": {"$ref": "#/components/schemas/B"}},
        "B": {"type": "string", "pattern": "(?i)^a", "nullable": true}}}}"##;
    fs::write(path.join("api.json"), document).unwrap();
    fs::write(path.join("parts.json"), "[null, \"ABC\"]").unwrap();
    let arguments = [
        "api.json",
        "--root",
        "#/components/schemas/A",
        "--instance",
        "parts.json",
    ];
    let (code, text) = outcome(&check(path, &arguments, ""));
    assert!(
        code == 0 && text.starts_with("draft openapi-3.0, 3 subschemas\n") && text.contains("valid"),
        "{text}"
    );
    assert!(
        text.contains("/components/schemas/B/pattern") && text.contains("(pattern-dialect)"),
        "{text}"
    );
    let (code, text) = outcome(&check(path, &[&arguments[..], &["--patterns", "ecma"]].concat(), ""));
    assert!(
        code == 1 && text.contains("`(?i)^a`") && text.contains("flag `(?i)`"),
        "{text}"
    );
}

#[test]
fn patterns_are_read_as_other_languages_read_them() {
    let directory = directory();
    let path = directory.path();
    // A line end behind a match of `$` is Python's alone, and a named group of its kind not ECMA-262's.
    fs::write(path.join("python.json"), r#"{"pattern": "^(?P<letter>a)$"}"#).unwrap();
    fs::write(path.join("text.json"), r#""a\n""#).unwrap();
    for (patterns, is_valid) in [("python", true), ("rust", false), ("common", false)] {
        let arguments = ["python.json", "--instance", "text.json", "--patterns", patterns];
        let (code, text) = outcome(&check(path, &arguments, ""));
        assert_eq!(code, i32::from(!is_valid), "{patterns}: {text}");
    }
}

#[test]
fn a_text_that_is_no_json_is_told_with_file_line_and_column() {
    let folder = directory();
    fs::write(folder.path().join("broken.json"), "{\n  \"a\": {}\n  \"b\": 1\n}").unwrap();
    let (code, text) = outcome(&check(folder.path(), &["broken.json"], ""));
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "refused: broken.json: not JSON: line 3, column 3: expected `,` or `}`, found `\"b\"`";
    assert_eq!((code, &*line), (1, expected));
    let (_, text) = outcome(&check(folder.path(), &["broken.json", "--json"], ""));
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["refused"][0]["line"], 3);
}

#[test]
fn a_document_that_no_schema_refers_to_is_noted() {
    let folder = directory();
    fs::write(folder.path().join("refers.json"), r#"{"$ref": "fine.json"}"#).unwrap();
    let note = "bad.json: no schema refers to it; to check a document, use --instance\n";
    let arguments = ["refers.json", "--documents", "fine.json", "--documents", "bad.json"];
    let (code, text) = outcome(&check(folder.path(), &arguments, ""));
    assert!(
        code == 0 && text.contains(note) && !text.contains("fine.json: no schema"),
        "{text}"
    );
    let (_, text) = outcome(&check(folder.path(), &["schema.json", "--documents", "."], ""));
    assert!(
        !text.contains("no schema refers"),
        "directories hold more than one schema needs: {text}"
    );
}
