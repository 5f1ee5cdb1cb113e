//! Schemas and documents made to cost more than they should: each is answered, or refused with an error that names a limit.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::super::{Automaton, Formats};
use crate::schema::{SchemaOptions, SchemaSet};
use crate::{CompileErrorKind, Style};

/// The stack of the threads that work: a quarter of what threads usually get.
const STACK: usize = 512 << 10;
/// What one schema may take, on a slow and busy machine.
const TIME: Duration = Duration::from_secs(60);

/// What became of a schema.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// It was compiled, and each of the documents accepted or not.
    Answered(Vec<bool>),
    /// No value satisfies it.
    Unsatisfiable,
    /// It was refused.
    Refused(CompileErrorKind),
    /// It was compiled, and a document came to a limit.
    Stopped,
}

fn outcome(schema: &str, documents: &[&str]) -> Outcome {
    let set = match SchemaSet::load(schema, &SchemaOptions::default()) {
        Ok(set) => set,
        Err(error) => return Outcome::Refused(error.kind()),
    };
    let (mut automaton, root) = match Automaton::new(set, Formats::Asserted, Style::rfc8259()) {
        Ok(made) => made,
        Err(error) => return Outcome::Refused(error.kind()),
    };
    let start = match automaton.start(root) {
        Ok(Some(start)) => start,
        Ok(None) => return Outcome::Unsatisfiable,
        Err(_) => return Outcome::Refused(CompileErrorKind::LimitExceeded),
    };
    let mut accepted = Vec::new();
    for document in documents {
        let mut at = Some(start);
        for byte in document.bytes() {
            let Some(from) = at else { break };
            match automaton.step(from, byte) {
                Ok(next) => at = next,
                Err(_) => return Outcome::Stopped,
            }
        }
        accepted.push(at.is_some_and(|at| automaton.is_complete(at).unwrap()));
    }
    Outcome::Answered(accepted)
}

/// What becomes of a schema on a small stack, and within [`TIME`].
fn work(schema: &str, documents: &[&str]) -> Outcome {
    let start = Instant::now();
    let outcome = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let handle = thread.spawn_scoped(scope, || outcome(schema, documents)).unwrap();
        handle.join().unwrap()
    });
    let (took, shown) = (start.elapsed(), &schema[..schema.len().min(200)]);
    if std::env::var_os("MASKWRIGHT_TIMES").is_some() {
        eprintln!("{took:?} {outcome:?} {shown}");
    }
    assert!(took < TIME, "{took:?} for {shown}");
    outcome
}

fn answered(schema: &str, documents: &[(&str, bool)]) {
    let texts: Vec<&str> = documents.iter().map(|(text, _)| *text).collect();
    let expected = documents.iter().map(|(_, valid)| *valid).collect();
    assert_eq!(
        work(schema, &texts),
        Outcome::Answered(expected),
        "{}",
        &schema[..schema.len().min(400)]
    );
}

fn refused(schema: &str) {
    assert_eq!(work(schema, &[]), Outcome::Refused(CompileErrorKind::LimitExceeded));
}

/// `count` pieces of text, made from their number, between commas.
fn list(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect::<Vec<_>>().join(",")
}

/// `inner` inside of so many times `before` and `after`.
fn nested(depth: usize, before: &str, inner: &str, after: &str) -> String {
    format!("{}{inner}{}", before.repeat(depth), after.repeat(depth))
}

#[test]
fn nesting_costs_no_stack() {
    let required = r#"{"type": "object", "required": ["a"], "properties": {"a": "#;
    let valid = nested(450, r#"{"a":"#, "1", "}");
    answered(
        &nested(450, required, r#"{"type": "integer"}"#, "}}"),
        &[(&valid, true), (r#"{"a":1"#, false)],
    );
    answered(
        &nested(450, r#"{"items": "#, "false", "}"),
        &[(&nested(450, "[", "", "]"), true)],
    );
    answered(
        &nested(400, r#"{"not": "#, r#"{"type": "integer"}"#, "}"),
        &[("1", true), ("null", false)],
    );
    answered(
        &nested(300, r#"{"anyOf": ["#, r#"{"type": "integer"}"#, "]}"),
        &[("1", true), ("null", false)],
    );
    answered(
        &nested(450, r#"{"if": "#, r#"{"type": "integer"}"#, "}"),
        &[("1", true), ("null", true)],
    );
    refused(&nested(20_000, r#"{"not": "#, "true", "}"));
    refused(&nested(20_000, r#"{"items": "#, "true", "}"));
    // As deep as text may not nest, references can.
    let mut chain = String::new();
    for at in 0..20_000 {
        write!(
            chain,
            r##""{at}": {{"type": "object", "required": ["a"], "properties": {{"a": {{"$ref": "#/$defs/{}"}}}}}},"##,
            at + 1
        )
        .unwrap();
    }
    let schema = format!(r##"{{"$defs": {{{chain} "20000": {{"type": "integer"}}}}, "$ref": "#/$defs/0"}}"##);
    answered(&schema, &[(r#"{"a":{"a":1"#, false), (r#"{"a":1"#, false)]);
    let chain = list(20_000, |at| {
        format!(r##""{at}": {{"allOf": [{{"$ref": "#/$defs/{}"}}]}}"##, at + 1)
    });
    let schema = format!(r##"{{"$defs": {{{chain}, "20000": {{"type": "integer"}}}}, "$ref": "#/$defs/0"}}"##);
    answered(&schema, &[("1", true), ("{}", false)]);
}
