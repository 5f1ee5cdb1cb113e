//! A program that depends on maskwright reads its own JSON as before: with serde_json's features `arbitrary_precision` and
//! `preserve_order`, which a dependency can switch on for the whole program, none of these would hold.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Number {
    Integer(i64),
    Float(f64),
}

#[derive(Debug, PartialEq, Deserialize)]
struct Row {
    name: String,
    #[serde(flatten)]
    columns: BTreeMap<String, f64>,
}

#[test]
fn untagged_numbers_are_read() {
    let numbers: Vec<Number> = serde_json::from_str("[1, 2.5]").unwrap();
    assert_eq!(numbers, [Number::Integer(1), Number::Float(2.5)]);
}

#[test]
fn flattened_maps_of_numbers_are_read() {
    let row: Row = serde_json::from_str(r#"{"name": "a", "width": 1.5, "height": 2}"#).unwrap();
    let columns = [("height".to_owned(), 2.0), ("width".to_owned(), 1.5)];
    assert_eq!(row, Row { name: "a".to_owned(), columns: columns.into() });
}

#[test]
fn numbers_and_names_are_kept_as_serde_json_keeps_them() {
    let value: Value = serde_json::from_str(r#"{"b": 1.50, "a": 1}"#).unwrap();
    assert_eq!(value.to_string(), r#"{"a":1,"b":1.5}"#);
}
