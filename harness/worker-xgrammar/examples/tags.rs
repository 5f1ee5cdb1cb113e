//! Structural tags of 1, 10, 100 and 500 tools with XGrammar, by the code of `cargo run -p maskwright-benches --example tags`.

#![expect(clippy::unwrap_used, reason = "a measurement may end where something fails")]

#[path = "../src/bitmask.rs"]
mod bitmask;
#[path = "../src/compiler.rs"]
#[expect(dead_code, reason = "the worker describes itself by more than it is measured with")]
mod compiler;
#[path = "../../src/vocabularies/encodings.rs"]
#[expect(dead_code, reason = "the program knows other encodings, and gives out tokenizers")]
mod encodings;
#[path = "../src/forced.rs"]
mod forced;
#[path = "../src/jump_forward.rs"]
mod jump_forward;
#[path = "../../../benches/src/tags.rs"]
mod tags;
#[path = "../src/tokens.rs"]
mod tokens;

use std::io::Write as _;
use std::sync::Arc;

use maskwright_worker::Grammar;

use crate::compiler::{Mode, XgrammarCompiler};
use crate::tags::{CallFormat, TAGS_HEADER, measure_tags};

fn main() {
    let [o200k_base, ..] = encodings::ENCODINGS;
    let vocabulary = Arc::new(o200k_base.vocabulary().unwrap());
    let compiler = XgrammarCompiler::new(vocabulary.clone(), Mode::Strict, Grammar::StructuralTag).unwrap();
    let format = CallFormat::of_style("json").unwrap();
    let mut output = std::io::stdout();
    write!(output, "{TAGS_HEADER}").unwrap();
    for count in [1, 10, 100, 500] {
        match measure_tags(&compiler, &vocabulary, format, count) {
            Ok(line) => write!(output, "{line}").unwrap(),
            Err(error) => writeln!(output, "{count:5}  refused: {error}").unwrap(),
        }
        output.flush().unwrap();
    }
}
