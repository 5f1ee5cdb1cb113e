//! A judge of documents: which are valid under a schema, and which keywords forbid the others.
//!
//! ```console
//! $ cargo run --release -p maskwright --example judge
//! $ cargo run --release -p maskwright --example judge -- schema.json document.json other-document.json
//! ```
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use maskwright::ExactOptions;
use maskwright::explain::Explainer;

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "from": {"type": "string", "format": "date"},
        "nights": {"type": "integer", "minimum": 1},
        "guests": {"type": "array", "items": {"type": "string"}, "uniqueItems": true}
    },
    "required": ["from", "nights"],
    "additionalProperties": false
}"#;

const DOCUMENTS: [&str; 4] = [
    r#"{"nights": 2, "from": "2026-02-28"}"#,
    r#"{"from": "2026-02-28", "nights": 0}"#,
    r#"{"from": "2026-02-28", "nights": 2, "guests": ["Ada", "Ada"]}"#,
    r#"{"from": "2026-02-28"}"#,
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let schema = match arguments.next() {
        Some(file) => std::fs::read_to_string(file)?,
        None => SCHEMA.to_owned(),
    };
    let mut documents: Vec<(String, Vec<u8>)> = Vec::new();
    for file in arguments {
        let text = std::fs::read(&file)?;
        documents.push((file, text));
    }
    if documents.is_empty() {
        documents = DOCUMENTS.map(|text| (text.to_owned(), text.into())).to_vec();
    }

    // Judging admits all of JSON: members in any order, any whitespace, any spelling of strings and numbers.
    let mut explainer = Explainer::new(&schema, &ExactOptions::judging())?;
    if let Some(conflict) = explainer.conflict()? {
        println!("no document is valid: {conflict}");
    }
    for (name, text) in documents {
        match explainer.forbidden(&text)? {
            None => println!("valid: {name}"),
            Some(forbidden) => println!("not valid: {name}\n    {forbidden}"),
        }
    }
    Ok(())
}
