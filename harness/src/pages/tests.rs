//! Tests of pages: texts that others wrote stay text, and tables are kept.

use serde_json::Value;

use super::block::{Block, Chart, Section};
use super::data::FailureData;
use super::html::{Pictures, escape, json_in_element, table};
use super::page::Page;
use crate::report::part::Part;
use crate::report::table::{CellText, Style};
use crate::results::failures::Failure;

const HOSTILE: &str = "</script><script>alert(1)</script>\u{202e}<img src=x onerror='a'>\"&\u{0}";

#[test]
fn texts_of_others_stay_text() {
    let escaped = escape(HOSTILE);
    assert!(
        !escaped.contains(['<', '>', '"', '\'', '\u{202e}', '\u{0}']),
        "{escaped}"
    );
    assert!(escaped.contains("\\u{202e}") && escaped.contains("&amp;"));
    let json = serde_json::to_string(HOSTILE).unwrap();
    let embedded = json_in_element(&json);
    assert!(!embedded.contains(['<', '>', '&']), "{embedded}");
    assert_eq!(serde_json::from_str::<String>(&embedded).unwrap(), HOSTILE);
}

#[test]
fn a_page_of_hostile_records_has_no_element_of_theirs() {
    let failure = Failure {
        run_of: "bench",
        kind: "invalid answer",
        model: HOSTILE.to_owned(),
        framework: HOSTILE.to_owned(),
        dataset: HOSTILE.to_owned(),
        name: HOSTILE.to_owned(),
        reason: HOSTILE.to_owned(),
        schema: Some(HOSTILE.to_owned()),
        text: Some(HOSTILE.to_owned()),
        byte: Some(3),
        ..Failure::default()
    };
    let mut content = crate::report::table::table([HOSTILE, "figure"], 1, Style::Markdown);
    content.add_row([HOSTILE.to_owned(), "1".to_owned()]);
    let mut section = Section::new("x", "X");
    section.add(Block::Heading(HOSTILE.to_owned()));
    section.add(Block::Text(HOSTILE.to_owned()));
    section.add(Block::List(vec![HOSTILE.to_owned()]));
    section.add(Block::Table(Part::new(HOSTILE, content, HOSTILE)));
    let html = Page {
        title: HOSTILE,
        lead: String::new(),
        contents: vec![("x", HOSTILE)],
        body: Pictures::default().sections(&[section]),
        failures: Some(FailureData::new(&[failure])),
    }
    .html();
    assert_eq!(html.matches("<script").count(), 3, "two of data, and ours");
    assert!(!html.contains("<img") && !html.contains('\u{202e}') && !html.contains('\u{0}'));
}

#[test]
fn shares_shade_a_heat_map_and_the_best_are_marked() {
    let mut content = crate::report::table::table(["category", "a", "b"], 1, Style::Markdown);
    content.add_row([
        CellText::from("items".to_owned()),
        "OU 87 %*".to_owned().into(),
        CellText::best("1".to_owned()),
    ]);
    let html = table("title", &content, true);
    assert!(
        html.contains("<td class=\"s9\">OU 87 %*</td>") && html.contains("<td class=\"best\">1</td>"),
        "{html}"
    );
    assert!(
        html.contains("<th scope=\"col\" class=\"name\">category</th><th scope=\"col\">a</th>"),
        "{html}"
    );
    assert!(!table("title", &content, false).contains("s9"));
}

#[test]
fn pictures_of_a_page_have_names_and_fills_of_their_own() {
    let chart = || Chart {
        title: "a \"chart\"".to_owned(),
        svg: "<svg width=\"1\"><pattern id=\"fill0\"/><rect fill=\"url(#fill0)\"/></svg>\n".to_owned(),
    };
    let mut section = Section::new("x", "X");
    section.add(Block::Charts(vec![chart(), chart()]));
    let html = Pictures::default().sections(&[section]);
    for number in ["p1", "p2"] {
        assert!(html.contains(&format!("id=\"{number}-fill0\"")) && html.contains(&format!("url(#{number}-fill0)")));
    }
    assert!(html.contains("role=\"img\" aria-label=\"a &quot;chart&quot;\""));
}

#[test]
fn failures_share_their_texts_and_the_byte_parts_a_text() {
    let failure = |framework: &str| Failure {
        run_of: "bench",
        kind: "invalid answer",
        framework: framework.to_owned(),
        schema: Some("{\"a\": 1}".to_owned()),
        text: Some("{\"ä\u{7}\": x}".to_owned()),
        // The second byte of the character.
        byte: Some(3),
        ..Failure::default()
    };
    let data = FailureData::new(&[failure("one"), failure("two")]);
    let list: Value = serde_json::from_str(&data.list()).unwrap();
    let columns = list["columns"].as_array().unwrap().len();
    let row = list["rows"][1].as_array().unwrap();
    assert_eq!(row.len(), columns + 1);
    let text = |number: &Value| list["strings"][number.as_i64().unwrap() as usize].clone();
    assert_eq!((text(&row[0]), text(&row[3])), ("bench".into(), "two".into()));
    let details: Value = serde_json::from_str(&data.details()).unwrap();
    assert_eq!(
        details["texts"].as_array().unwrap().len(),
        3,
        "schema, before, after, once each"
    );
    let first = &details["details"][0];
    let text = |place: usize| details["texts"][first[place].as_i64().unwrap() as usize].clone();
    assert_eq!((text(1), text(2)), ("{\"".into(), "ä\\u{7}\": x}".into()));
    assert_eq!((&first[3], &first[4]), (&(-1).into(), &3.into()));
}

#[test]
fn long_texts_are_cut_around_the_byte() {
    let long = format!("{}X{}", "a".repeat(20_000), "b".repeat(20_000));
    let failure = Failure {
        text: Some(long),
        byte: Some(20_000),
        ..Failure::default()
    };
    let data = FailureData::new(&[failure]).details();
    assert!(data.len() < 20_000, "{}", data.len());
    assert!(data.contains("\"X") && data.contains("bytes before") && data.contains("bytes more"));
}
