//! Masks of this project's engine and of llguidance, named by the state of the document. glrmask's are measured by the
//! same code in `harness/worker-glrmask`.

use std::io::Write as _;

use criterion::Criterion;
use maskwright_benches::{masks, on_large_stack, vocabulary};
use maskwright_frameworks::BUILT_IN_FRAMEWORKS;
use maskwright_worker::{Purpose, Setup};

/// outlines-core takes seconds for a schema with this vocabulary.
const MEASURED: [&str; 3] = ["maskwright", IN_STYLE, "llguidance"];

/// Measured over lists of tools only: in the other states documents are spelt as judges take them.
const IN_STYLE: &str = "maskwright-generation";

fn main() {
    on_large_stack(|| {
        let mut criterion = Criterion::default().configure_from_args();
        let vocabulary = vocabulary();
        let setup = Setup {
            vocabulary: vocabulary.clone(),
            documents: Default::default(),
            assert_formats: true,
            purpose: Purpose::Judge,
            style: Default::default(),
            grammar: Default::default(),
        };
        for framework in BUILT_IN_FRAMEWORKS
            .iter()
            .filter(|framework| MEASURED.contains(&framework.name))
        {
            let compiler = (framework.prepare)(&setup).expect("the framework takes this vocabulary");
            if framework.name != IN_STYLE {
                let left_out = masks::measure(&mut criterion, framework.name, compiler.as_ref(), &vocabulary);
                let _ = std::io::stderr().write_all(left_out.as_bytes());
            }
            masks::measure_tools(&mut criterion, framework.name, compiler.as_ref());
        }
        criterion.final_summary();
    });
}
