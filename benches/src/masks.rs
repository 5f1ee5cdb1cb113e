//! [`measure`]: all that is measured of a framework's masks.

use std::fmt::Write as _;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, measurement::WallTime};
use maskwright::{Compiler, Vocabulary};

use crate::{SCHEMAS_TO_COMPILE, State, Visit, states, tools};

/// Tokens that are taken back.
const TAKEN_BACK: usize = 4;

/// Numbers of tools in one schema.
const TOOLS: [usize; 4] = [10, 50, 100, 500];

/// The state in which tokens are taken back.
const TAKEN_BACK_IN: &str = "closing several levels";

/// Measures a framework in every state. Returns which states it cannot be measured in and why, a line each.
///
/// - `first visit`: the mask of a state and a token accepted, by a masker newly compiled, of which no mask was asked;
/// - `revisit`: the same by a copy of a masker that has been there;
/// - `compile and first mask`: of some of the schemas;
/// - `fork and rollback`: a copy is made, and takes back four tokens.
pub fn measure(criterion: &mut Criterion, framework: &str, compiler: &dyn Compiler, vocabulary: &Vocabulary) -> String {
    let mut left_out = String::new();
    let mut usable = Vec::new();
    for state in states() {
        let visit = Visit::new(&state, vocabulary);
        match visit.visited(compiler, &state.schema) {
            Ok(_) => usable.push((state, visit)),
            Err(reason) => {
                let _ = writeln!(left_out, "{framework} is not measured at {}: {reason}", state.name);
            }
        }
    }
    first_visits(criterion, framework, compiler, &usable);
    revisits(criterion, framework, compiler, &usable);
    compilations(criterion, framework, compiler, &usable);
    forks(criterion, framework, compiler, &usable);
    left_out
}

/// Measures how long a framework takes to compile lists of calls of so many tools, told apart by their names, and for the
/// first mask.
pub fn measure_tools(criterion: &mut Criterion, framework: &str, compiler: &dyn Compiler) {
    let mut group = group(criterion, "tools: compile and first mask");
    for count in TOOLS {
        let schema = tools(count).to_string();
        compile(
            &mut group,
            BenchmarkId::new(count.to_string(), framework),
            compiler,
            &schema,
        );
    }
    group.finish();
}

fn compile(group: &mut BenchmarkGroup<'_, WallTime>, id: BenchmarkId, compiler: &dyn Compiler, schema: &str) {
    group.bench_function(id, |bencher| {
        bencher.iter_with_large_drop(|| {
            let mut masker = compiler.compile(schema).expect("a schema that every framework takes");
            masker.mask().expect("a mask");
            masker
        });
    });
}

fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group
        .sampling_mode(SamplingMode::Flat)
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    group
}

fn first_visits(criterion: &mut Criterion, framework: &str, compiler: &dyn Compiler, states: &[(State, Visit)]) {
    let mut group = group(criterion, "first visit");
    for (state, visit) in states {
        group.bench_function(BenchmarkId::new(state.name, framework), |bencher| {
            bencher.iter_batched(
                || visit.fresh(compiler, &state.schema).expect("it did before"),
                |mut masker| {
                    visit.step(masker.as_mut());
                    masker
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

fn revisits(criterion: &mut Criterion, framework: &str, compiler: &dyn Compiler, states: &[(State, Visit)]) {
    let mut group = group(criterion, "revisit");
    for (state, visit) in states {
        let visited = visit.visited(compiler, &state.schema).expect("it did before");
        group.bench_function(BenchmarkId::new(state.name, framework), |bencher| {
            bencher.iter_batched(
                || visited.arrive(),
                |mut masker| {
                    visit.step(masker.as_mut());
                    masker
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

fn compilations(criterion: &mut Criterion, framework: &str, compiler: &dyn Compiler, states: &[(State, Visit)]) {
    let mut group = group(criterion, "compile and first mask");
    let chosen = states
        .iter()
        .filter(|(state, _)| SCHEMAS_TO_COMPILE.contains(&state.name));
    for (state, _) in chosen {
        compile(
            &mut group,
            BenchmarkId::new(state.name, framework),
            compiler,
            &state.schema,
        );
    }
    group.finish();
}

fn forks(criterion: &mut Criterion, framework: &str, compiler: &dyn Compiler, states: &[(State, Visit)]) {
    let mut group = group(criterion, "fork and rollback");
    for (state, visit) in states.iter().filter(|(state, _)| state.name == TAKEN_BACK_IN) {
        let masker = visit.fresh(compiler, &state.schema).expect("it did before");
        group.bench_function(BenchmarkId::new(state.name, framework), |bencher| {
            bencher.iter_with_large_drop(|| {
                let mut copy = masker.fork().expect("a masker can be copied");
                copy.rollback(TAKEN_BACK).expect("as many tokens were accepted");
                copy
            });
        });
    }
    group.finish();
}
