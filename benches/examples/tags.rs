//! Structural tags of 1, 10, 100 and 500 tools: compilation, first mask, and masks of replies, of this project's engine and of llguidance.
//!
//! `cargo run --release -p maskwright-benches --example tags -- [--framework maskwright|llguidance] [--tools N,…] [--style json|qwen_xml]` prints a line for each
//! number of tools. Masks are those of o200k_base; a tag was compiled before, so that the vocabulary is sorted.

use std::process::ExitCode;

use maskwright_benches::{CallFormat, TAGS_HEADER, measure_tags};
use maskwright_frameworks::BUILT_IN_FRAMEWORKS;
use maskwright_worker::{Grammar, Purpose, Setup};

/// Tools of one tag.
const TOOLS: [usize; 4] = [1, 10, 100, 500];

fn main() -> ExitCode {
    let (mut counts, mut style, mut name) = (TOOLS.to_vec(), "json".to_owned(), "maskwright".to_owned());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        let numbers: Result<Vec<usize>, _> = value.split(',').map(str::parse).collect();
        match (&argument[..], numbers) {
            ("--tools", Ok(numbers)) => counts = numbers,
            ("--style", _) => style = value,
            ("--framework", _) => name = value,
            _ => {
                return failed(&format!(
                    "{argument} {value} is not understood: --framework NAME --tools N,… --style json|qwen_xml"
                ));
            }
        }
    }
    let Some(format) = CallFormat::of_style(&style) else {
        return failed(&format!("no style is called {style}: json or qwen_xml"));
    };
    let mut known = BUILT_IN_FRAMEWORKS.iter().filter(|framework| framework.structural_tags);
    let Some(framework) = known.find(|framework| framework.name == name) else {
        return failed(&format!(
            "no framework with structural tags is called {name}: maskwright or llguidance"
        ));
    };
    let vocabulary = maskwright_benches::vocabulary();
    maskwright_benches::on_large_stack(|| {
        let setup = Setup {
            vocabulary: vocabulary.clone(),
            documents: Default::default(),
            assert_formats: true,
            purpose: Purpose::Generate,
            style: Default::default(),
            grammar: Grammar::StructuralTag,
        };
        let compiler = (framework.prepare)(&setup).expect("the vocabulary is taken");
        // The vocabulary is sorted.
        let _ = measure_tags(&*compiler, &vocabulary, format, 1);
        report(&format!("{} {}\n{TAGS_HEADER}", framework.name, framework.version));
        for count in counts {
            match measure_tags(&*compiler, &vocabulary, format, count) {
                Ok(line) => report(&line),
                Err(error) => report(&format!("{count:5}  refused: {error}\n")),
            }
        }
    });
    ExitCode::SUCCESS
}

fn report(line: &str) {
    use std::io::Write as _;
    // Nobody may be listening.
    let _ = std::io::stdout().write_all(line.as_bytes());
}

fn failed(message: &str) -> ExitCode {
    report(&format!("{message}\n"));
    ExitCode::FAILURE
}
