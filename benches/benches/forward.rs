//! Forward passes of the built-in model: one token, eight forced tokens, a prompt.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use maskwright_models::{LoadOptions, ModelSource, load, logits_to_host};

/// Tokens in the cache before the measured pass.
const CONTEXT: usize = 400;

fn forward(criterion: &mut Criterion) {
    let options = LoadOptions {
        threads: Some(1),
        ..Default::default()
    };
    let mut model = load(&ModelSource::Builtin, &options)
        .expect("the built-in model loads")
        .model;
    let tokens: Vec<u32> = (0..CONTEXT as u32).map(|index| 300 + index % 500).collect();
    model.append(&tokens).expect("the context fits");
    let snapshot = model.snapshot();
    let mut host = Vec::new();
    let mut group = criterion.benchmark_group("append after 400 tokens");
    for count in [1, 2, 4, 8, 32, 256] {
        group.bench_function(format!("{count} tokens"), |bencher| {
            bencher.iter_batched(
                || (),
                |()| {
                    model.restore(&snapshot).expect("a snapshot of this sequence");
                    let logits = model.append(&tokens[..count]).expect("the tokens fit");
                    logits_to_host(&logits, &mut host).expect("finite logits");
                    host[0]
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, forward);
criterion_main!(benches);
