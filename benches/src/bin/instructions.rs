//! Walks this project's engine through what `instructions.sh` counts the instructions of. Alone it only lists it.

use std::hint::black_box;
use std::io::Write as _;

use maskwright::{Compiler, ExactCompiler, ExactOptions};
use maskwright_benches::{FAMILIES, SCHEMAS_TO_COMPILE, Visit, on_large_stack, states, vocabulary};

/// Sizes of the families, one after another. `instructions.sh` holds the growth from each to the next against n log n, where n
/// is the number of bytes of the schema and the document.
const SIZES: [usize; 3] = [16, 64, 256];

/// Callgrind counts what happens in this function, by its name, and writes the count after each call.
#[inline(never)]
fn instructions_counted(measured: &mut dyn FnMut()) {
    measured();
    // Otherwise the call above were a jump, and nothing seen to happen in here.
    black_box(());
}

fn main() {
    on_large_stack(|| {
        let vocabulary = vocabulary();
        // Every spelling of a document, as in `cargo bench`.
        let compiler = ExactCompiler::new(vocabulary.clone(), ExactOptions::judging());
        let mut out = std::io::stdout().lock();
        let mut count = |what: &str, state: &str, measured: &mut dyn FnMut()| {
            instructions_counted(measured);
            writeln!(out, "{what}/{state}").expect("standard output takes it");
        };
        for state in states() {
            let visit = Visit::new(&state, &vocabulary);
            let mut masker = visit
                .fresh(&compiler, &state.schema)
                .expect("the engine has all states");
            count("first visit", state.name, &mut || visit.step(masker.as_mut()));
            let visited = visit
                .visited(&compiler, &state.schema)
                .expect("the engine has all states");
            let mut masker = visited.arrive();
            count("revisit", state.name, &mut || visit.step(masker.as_mut()));
        }
        for state in states().iter().filter(|state| SCHEMAS_TO_COMPILE.contains(&state.name)) {
            let mut compiled = None;
            count("compile and first mask", state.name, &mut || {
                let mut masker = compiler.compile(&state.schema).expect("the engine has all states");
                masker.mask().expect("a mask");
                compiled = Some(masker);
            });
        }
        let tokenizer = vocabulary.tokenizer().expect("the encoding has a tokenizer");
        for family in FAMILIES {
            for size in SIZES.into_iter().filter(|size| *size <= family.largest) {
                let schema = (family.schema)(size).to_string();
                let document = (family.document)(size).to_string();
                let tokens = tokenizer.tokenize(document.as_bytes());
                let mut replayed = None;
                let what = format!("family {}", family.name);
                count(
                    &what,
                    &format!("{size}/{} bytes/{} tokens", schema.len() + document.len(), tokens.len()),
                    &mut || {
                        let mut masker = compiler.compile(&schema).expect("the engine compiles all families");
                        for token in &tokens {
                            masker.mask().expect("a mask");
                            masker.advance(*token).expect("the document is valid");
                        }
                        replayed = Some(masker);
                    },
                );
            }
        }
    });
}
