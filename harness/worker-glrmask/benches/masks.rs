//! glrmask's masks, in the states and by the code of `cargo bench -p maskwright-benches --bench masks`.

// As in the worker.
#![recursion_limit = "256"]

#[path = "../src/compiler.rs"]
#[expect(dead_code, reason = "the worker describes itself by more than it is measured with")]
mod compiler;

use std::io::Write as _;

use criterion::Criterion;
use maskwright_benches::{masks, on_large_stack, vocabulary};

use crate::compiler::GlrmaskCompiler;

fn main() {
    on_large_stack(|| {
        let mut criterion = Criterion::default().configure_from_args();
        let vocabulary = vocabulary();
        let compiler = GlrmaskCompiler::new(vocabulary.clone()).expect("glrmask in the mode of its documentation");
        let left_out = masks::measure(&mut criterion, "glrmask", &compiler, &vocabulary);
        let _ = std::io::stderr().write_all(left_out.as_bytes());
        masks::measure_tools(&mut criterion, "glrmask", &compiler);
        criterion.final_summary();
    });
}
