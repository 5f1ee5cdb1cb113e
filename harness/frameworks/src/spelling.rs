//! The text of a value in the style in which models write. There the members' order is the schema's as the engine
//! understands it, so that the engine is asked for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::maskwright::{Compiler, ExactCompiler, ExactOptions, Masker, Style, TokenId, Vocabulary};
use maskwright_suites::json_text;
use serde_json::{Map, Value, json};

use super::Judging;

/// URI under which the schema of `only_value` refers to the schema of the instance.
const SPELT: &str = "maskwright:spelt";
/// Number of attempts to write a member before the search is given up; ten times as many where it looks ahead.
const ATTEMPTS: usize = 10_000;
/// Bytes of a schema together with an instance up to which the engine is asked for the only value equal to the instance.
const ONLY_VALUE_BYTES: usize = 1 << 20;
/// Memory, in bytes, that the engine may take to find the only value equal to an instance.
const ONLY_VALUE_MEMORY: usize = 1 << 30;
/// Digits up to which a number is written out.
const WRITTEN_DIGITS: i64 = 400;

/// The text of an instance that is valid under a schema: the instance with its members in an order that the engine takes, or,
/// where none is found that way, the only value that is equal to it as well. Both take a bounded amount of work. None where the
/// style leaves the instance out, as it does very long numbers, or once the user has asked to stop.
pub(super) fn spelling(
    judging: &Judging<'_>,
    schema: &str,
    instance: &str,
    interrupted: &AtomicBool,
) -> Option<String> {
    let laid_out = judging.writing_options();
    // The instance is looked for without a layout, escapes and other forms of numbers; they are a matter of its text alone.
    let usual = Style::generation();
    let options = laid_out.clone().style(Style {
        whitespace: usual.whitespace,
        escapes: usual.escapes,
        ..laid_out.style
    });
    let only = in_usual_layout(&options, schema, instance, interrupted)?;
    match laid_out.style == options.style {
        true => Some(only),
        false => in_layout(laid_out, &only),
    }
}

/// The text of a value in a layout and with the escapes of a style; none where it has no text there.
fn in_layout(options: ExactOptions, text: &str) -> Option<String> {
    let vocabulary = bytes()?;
    let schema = format!(r#"{{"const": {text}}}"#);
    let mut masker = ExactCompiler::new(vocabulary.clone(), options).compile(&schema).ok()?;
    let mut tokens = Vec::new();
    let is_told = masker.completion(&mut tokens).ok()?;
    String::from_utf8(vocabulary.text_bytes(&tokens))
        .ok()
        .filter(|_| is_told)
}

/// The text of an instance on one line.
fn in_usual_layout(options: &ExactOptions, schema: &str, instance: &str, interrupted: &AtomicBool) -> Option<String> {
    let is_short = schema.len() + instance.len() <= ONLY_VALUE_BYTES;
    let instance = serde_json::from_str(instance).ok()?;
    let vocabulary = bytes()?;
    let spelt = in_order(&vocabulary, options.clone(), schema, &instance, interrupted);
    if let Some(spelt) = spelt {
        return json_text::to_string(&spelt).ok();
    }
    let only = || only_value(&vocabulary, options.clone(), schema, &instance);
    let only = json_text::to_string(&is_short.then(only).flatten()?).ok()?;
    // The schema of this value alone has its numbers, and so allows as many digits as they have.
    let mut masker = ExactCompiler::new(vocabulary, options.clone()).compile(schema).ok()?;
    let is_taken = only.bytes().all(|byte| masker.advance(TokenId::from(byte)).is_ok());
    (is_taken && masker.is_complete().ok()?).then_some(only)
}

/// The only value that is valid under a schema and equal to an instance.
fn only_value(
    vocabulary: &Arc<Vocabulary>,
    mut options: ExactOptions,
    schema: &str,
    instance: &Value,
) -> Option<Value> {
    options.schema.limits.memory_bytes = options.schema.limits.memory_bytes.min(ONLY_VALUE_MEMORY);
    options.schema.documents.insert(SPELT.to_owned(), schema.to_owned());
    let both = json!({"allOf": [{"$ref": SPELT}, equal_to(instance)]});
    let mut masker = ExactCompiler::new(vocabulary.clone(), options)
        .compile(&both.to_string())
        .ok()?;
    let mut tokens = Vec::new();
    let told = masker.completion(&mut tokens).ok()?;
    let spelt = serde_json::from_slice(&vocabulary.text_bytes(&tokens)).ok();
    spelt.filter(|_| told)
}

/// A number written out, without an exponent and without zeros at the end of its fraction; none where that is too long.
fn written_out(number: &str) -> Option<String> {
    let (sign, magnitude) = number
        .strip_prefix('-')
        .map_or(("", number), |magnitude| ("-", magnitude));
    let (mantissa, exponent) = magnitude.split_once(['e', 'E']).unwrap_or((magnitude, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let point = whole.len() as i64 + exponent.parse::<i64>().ok()?;
    let digits = format!("{whole}{fraction}");
    let point_from_end = digits.len() as i64 - point;
    if point.abs() > WRITTEN_DIGITS || point_from_end.abs() > WRITTEN_DIGITS {
        return None;
    }
    let before = "0".repeat(usize::try_from(1 - point).unwrap_or(0));
    let behind = "0".repeat(usize::try_from(-point_from_end).unwrap_or(0));
    let digits = format!("{before}{digits}{behind}");
    let (whole, fraction) = digits.split_at(usize::try_from(point.max(1)).ok()?);
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(match (fraction, whole) {
        ("", "0") => "0".to_owned(),
        ("", whole) => format!("{sign}{whole}"),
        (fraction, whole) => format!("{sign}{whole}.{fraction}"),
    })
}

/// A schema of this value only, which was read and is therefore not nested deep. It lists no names where they would have a
/// say in the order, but under `not`.
fn equal_to(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let differ = members
                .iter()
                .map(|(name, value)| json!({"properties": {name: {"not": equal_to(value)}}}));
            let differ: Vec<Value> = differ.collect();
            // No member lacks, and none has another value.
            let equal = match differ.is_empty() {
                true => json!(true),
                false => json!({"not": {"anyOf": differ}}),
            };
            json!({"type": "object", "maxProperties": members.len(), "allOf": [equal]})
        }
        Value::Array(items) if !items.is_empty() => {
            let equal: Vec<Value> = items.iter().map(equal_to).collect();
            json!({"type": "array", "minItems": items.len(), "prefixItems": equal, "items": false})
        }
        without_names => json!({"const": without_names}),
    }
}

/// An instance with its members in an order that the engine takes. Mostly the first that is tried is one; where it is none,
/// members that keep others from coming are not tried further.
fn in_order(
    vocabulary: &Arc<Vocabulary>,
    options: ExactOptions,
    schema: &str,
    instance: &Value,
    interrupted: &AtomicBool,
) -> Option<Value> {
    let compiler = ExactCompiler::new(vocabulary.clone(), options);
    [false, true].into_iter().find_map(|looks_ahead| {
        let mut writer = Writer {
            masker: compiler.compile(schema).ok()?,
            schema,
            attempts: if looks_ahead { 10 * ATTEMPTS } else { ATTEMPTS },
            looks_ahead,
            interrupted,
        };
        let written = writer.write(instance)?;
        let is_whole = writer.masker.is_complete().ok()?;
        is_whole.then_some(written)
    })
}

/// Writes a value as far as the engine takes it.
struct Writer<'a> {
    masker: Box<dyn Masker>,
    schema: &'a str,
    attempts: usize,
    /// Whether a member is kept only where every remaining member that could be written before it can be written after it too.
    looks_ahead: bool,
    /// Set once the user has asked to stop.
    interrupted: &'a AtomicBool,
}

/// A member that was written: its index, the masker's position before it, and its value as written.
struct Written {
    member: usize,
    from: usize,
    value: Value,
}

impl Writer<'_> {
    /// Writes text and returns whether the engine takes all of it.
    fn text(&mut self, text: &str) -> bool {
        text.bytes()
            .all(|byte| self.masker.advance(TokenId::from(byte)).is_ok())
    }

    /// Rolls the masker back to a position.
    fn back_to(&mut self, place: usize) -> Option<()> {
        self.masker.rollback(self.masker.position() - place).ok()
    }

    /// Writes a value, which was read and is therefore not nested deep; returns it with its members in the order written. Where that fails, part of
    /// the value may have been written.
    fn write(&mut self, value: &Value) -> Option<Value> {
        match value {
            Value::Object(members) => self.object(members),
            Value::Array(items) => {
                let mut written = Vec::with_capacity(items.len());
                let mut before = "[";
                for item in items {
                    self.text(before).then_some(())?;
                    written.push(self.write(item)?);
                    before = ",";
                }
                let end = if items.is_empty() { "[]" } else { "]" };
                self.text(end).then_some(Value::Array(written))
            }
            Value::Number(number) => {
                let from = self.masker.position();
                let plain = written_out(&number.to_string())?;
                if self.text(&plain) {
                    return serde_json::from_str(&plain).ok();
                }
                // Some numbers keep a fraction of zeros.
                self.back_to(from)?;
                let with_fraction = format!("{plain}.0");
                let is_taken = self.text(&with_fraction);
                is_taken.then(|| serde_json::from_str(&with_fraction).ok()).flatten()
            }
            scalar => self.text(&scalar.to_string()).then(|| scalar.clone()),
        }
    }

    /// Writes an object, its members in the order in which the schema names them, and in other orders where the engine does not take that one.
    fn object(&mut self, members: &Map<String, Value>) -> Option<Value> {
        let mut members: Vec<(&String, &Value)> = members.iter().collect();
        members.sort_by_cached_key(|(name, _)| self.place_in_schema(name).unwrap_or(usize::MAX));
        let mut written: Vec<Written> = Vec::new();
        // The member that is tried next.
        let mut next = 0;
        self.text("{").then_some(())?;
        loop {
            if written.len() == members.len() && self.text("}") {
                let written = written
                    .into_iter()
                    .map(|one| (members[one.member].0.clone(), one.value));
                return Some(Value::Object(written.collect()));
            }
            let is_left = |member: &usize| written.iter().all(|one| one.member != *member);
            match (next..members.len()).find(is_left) {
                Some(member) => {
                    self.attempts = self
                        .attempts
                        .checked_sub(1)
                        .filter(|_| !self.interrupted.load(Ordering::Relaxed))?;
                    let from = self.masker.position();
                    let others = (0..members.len()).filter(|other| *other != member && is_left(other));
                    let others = others.map(|other| members[other].0);
                    let others = self.may_come(others.filter(|_| self.looks_ahead).collect(), written.is_empty())?;
                    let (name, value) = members[member];
                    let value = self
                        .text(&key(name, written.is_empty()))
                        .then(|| self.write(value))
                        .flatten();
                    // What may come before a member and not behind it has to come before it.
                    let value =
                        value.filter(|_| self.may_come(others.clone(), false).is_some_and(|left| left == others));
                    match value {
                        Some(value) => {
                            written.push(Written { member, from, value });
                            next = 0;
                        }
                        None => {
                            self.back_to(from)?;
                            next = member + 1;
                        }
                    }
                }
                None => {
                    let last = written.pop()?;
                    self.back_to(last.from)?;
                    next = last.member + 1;
                }
            }
        }
    }

    /// Returns those of `names` that may come next; `None` where the attempts are used up.
    fn may_come<'n>(&mut self, names: Vec<&'n String>, is_first: bool) -> Option<Vec<&'n String>> {
        let mut may = Vec::new();
        for name in names {
            self.attempts = self.attempts.checked_sub(1)?;
            let from = self.masker.position();
            may.extend(self.text(&key(name, is_first)).then_some(name));
            self.back_to(from)?;
        }
        Some(may)
    }

    /// Returns the byte offset at which the schema's text first has a member of this name.
    fn place_in_schema(&self, name: &str) -> Option<usize> {
        let quoted = json!(name).to_string();
        let places = self.schema.match_indices(&quoted);
        let is_name = |place: usize| self.schema[place + quoted.len()..].trim_start().starts_with(':');
        places.map(|(place, _)| place).find(|place| is_name(*place))
    }
}

/// The text of a member before its value.
fn key(name: &str, is_first: bool) -> String {
    format!("{}{}:", if is_first { "" } else { "," }, json!(name))
}

/// A token for each byte, and one for the end.
fn bytes() -> Option<Arc<Vocabulary>> {
    const END: TokenId = 256;
    let mut builder = Vocabulary::builder().eos([END]).size(END as usize + 1);
    for byte in u8::MIN..=u8::MAX {
        builder = builder.text(TokenId::from(byte), [byte]).ok()?;
    }
    Some(Arc::new(builder.build().ok()?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use maskwright_worker::StyleChanges;

    use super::*;

    /// The text without an interruption.
    fn spelling(judging: &Judging<'_>, schema: &str, instance: &str) -> Option<String> {
        super::spelling(judging, schema, instance, &AtomicBool::new(false))
    }

    fn spelt(schema: &str, instance: &str) -> Option<String> {
        let documents = BTreeMap::from([("urn:remote".to_owned(), r#"{"required": ["z", "y"]}"#.to_owned())]);
        let judging = Judging {
            documents: &documents,
            assert_formats: true,
            style: &StyleChanges::default(),
        };
        spelling(&judging, schema, instance)
    }

    #[test]
    fn instances_are_spelt_in_the_layout_that_is_asked_for() {
        let style: StyleChanges =
            serde_json::from_str(r#"{"layout": {"indent": 2}, "escapes": "ascii", "closed": true}"#).unwrap();
        let judging = Judging {
            documents: &BTreeMap::new(),
            assert_formats: true,
            style: &style,
        };
        let schema = r#"{"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "array"}}}"#;
        let spelt = spelling(&judging, schema, r#"{"a": [1, {}], "b": "é"}"#);
        let text = "{\n  \"b\": \"\\u00e9\",\n  \"a\": [\n    1,\n    {}\n  ]\n}";
        assert_eq!(spelt.as_deref(), Some(text));
        assert_eq!(spelling(&judging, schema, r#"{"c": 1}"#), None);
    }

    #[test]
    fn instances_are_spelt_in_the_order_of_the_schema() {
        let schema = r##"{
            "properties": {"b": {"$ref": "#/$defs/inner"}, "a": true},
            "required": ["c"],
            "allOf": [{"$ref": "urn:remote"}],
            "$defs": {"inner": {"items": {"properties": {"2": {"type": "integer"}, "1": true}}}}
        }"##;
        let instance = r#"{"y": [], "free": 1e2, "a": "\u0061\/", "z": {}, "c": null, "b": [{"1": 0.50, "2": 3.0}]}"#;
        let expected = r#"{"b": [{"2": 3, "1": 0.5}], "a": "a/", "c": null, "z": {}, "y": [], "free": 100}"#;
        assert_eq!(spelt(schema, instance).as_deref(), Some(expected));
    }

    #[test]
    fn schemas_keep_their_draft_and_names() {
        let schema = r##"{
            "$schema": "http://json-schema.org/draft-04/schema#", "id": "http://example.org/own",
            "definitions": {"s": {"type": "string", "format": "date"}},
            "properties": {"b": {"$ref": "#/definitions/s"}, "a": {"maximum": 1, "exclusiveMaximum": true}}
        }"##;
        let expected = r#"{"b": "2026-11-22", "a": 0}"#;
        assert_eq!(
            spelt(schema, r#"{"a": 0, "b": "2026-11-22"}"#).as_deref(),
            Some(expected)
        );
        assert_eq!(spelt(schema, r#"{"a": 1, "b": "2026-11-22"}"#), None);
        assert_eq!(spelt(schema, r#"{"a": 0, "b": "22 November"}"#), None);
    }

    #[test]
    fn numbers_are_written_out() {
        for (number, written) in [
            ("1e2", "100"),
            ("3.0", "3"),
            ("0.50", "0.5"),
            ("-1.25e1", "-12.5"),
            ("5e-3", "0.005"),
            ("-0.0", "0"),
            ("120e-1", "12"),
            ("0.001e3", "1"),
        ] {
            assert_eq!(written_out(number).as_deref(), Some(written), "{number}");
        }
        assert_eq!(written_out("1e4000"), None);
    }

    #[test]
    fn what_is_not_valid_or_no_schema_has_no_spelling() {
        assert_eq!(spelt(r#"{"type": "string"}"#, "7"), None);
        assert_eq!(spelt("{", "7"), None);
        assert_eq!(spelt("{}", r#"{"id": 234567890123456789}"#), None, "too many digits");
    }

    /// Both searches find the same text.
    #[test]
    fn members_come_in_the_order_of_the_schema() {
        let schema = r#"{"required": ["last"], "properties": {"list": {"items": {"properties": {"b": true, "a": true}}}, "x": {"enum": [1, null]},
            "open": {}, "last": {"type": "string"}}, "anyOf": [{"properties": {"more": true}}, {"properties": {"open": {"type": "array"}}}]}"#;
        let instance = json!({"$schema": "y", "more": 3, "last": "x", "open": {}, "x": null, "list": [{"a": 1, "c": 0.5, "b": []}, {}, 2]});
        let expected = r#"{"list":[{"b":[],"a":1,"c":0.5},{},2],"x":null,"open":{},"last":"x","more":3,"$schema":"y"}"#;
        let (options, interrupted) = (ExactOptions::default(), AtomicBool::new(false));
        let vocabulary = bytes().unwrap();
        let written = in_order(&vocabulary, options.clone(), schema, &instance, &interrupted).unwrap();
        assert_eq!(written.to_string(), expected);
        let only = only_value(&vocabulary, options.clone(), schema, &instance).unwrap();
        assert_eq!(only.to_string(), expected);
        let invalid = json!({"x": 2, "last": ""});
        assert_eq!(
            in_order(&vocabulary, options.clone(), schema, &invalid, &interrupted),
            None
        );
        let stopped = AtomicBool::new(true);
        assert_eq!(
            in_order(&vocabulary, options.clone(), schema, &instance, &stopped),
            None
        );
        // Where the schema names them elsewhere first, they are tried in that order to no avail.
        let schema = r##"{"$defs": {"other": {"properties": {"c": true, "b": true, "a": true}}}, "properties": {"a": true, "b": true, "c": {"$ref": "#/$defs/other"}}}"##;
        let instance = json!({"c": {"a": 1, "b": 2}, "b": [], "a": null});
        let written = in_order(&vocabulary, options, schema, &instance, &interrupted).unwrap();
        assert_eq!(written.to_string(), r#"{"a":null,"b":[],"c":{"b":2,"a":1}}"#);
    }
}
