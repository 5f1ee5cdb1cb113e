//! Choosing a token among those a mask allows, on a vocabulary of 128,256 tokens.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use maskwright::TokenMask;
use maskwright_models::{Sampler, SamplingOptions};

const TOKENS: usize = 128_256;

fn logits() -> Vec<f32> {
    // A multiplicative congruence: spread out, the same every time.
    (0..TOKENS as u32)
        .map(|token| token.wrapping_mul(2_654_435_761) as f32 / u32::MAX as f32)
        .collect()
}

fn every(step: usize) -> TokenMask {
    let mut mask = TokenMask::none(TOKENS);
    for token in (0..TOKENS).step_by(step) {
        mask.allow(token as u32);
    }
    mask
}

fn sampling(criterion: &mut Criterion) {
    let logits = logits();
    let masks = [
        ("100 allowed", every(1_283)),
        ("half allowed", every(2)),
        ("all allowed", every(1)),
    ];
    let nucleus = SamplingOptions {
        temperature: 0.7,
        top_p: 0.9,
        ..Default::default()
    };
    for (kind, options) in [("greedy", SamplingOptions::default()), ("top-p", nucleus)] {
        let mut group = criterion.benchmark_group(kind);
        for (name, mask) in &masks {
            let mut sampler = Sampler::new(options.clone());
            group.bench_function(*name, |bencher| {
                bencher.iter(|| sampler.sample(black_box(&logits), Some(black_box(mask))));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, sampling);
criterion_main!(benches);
