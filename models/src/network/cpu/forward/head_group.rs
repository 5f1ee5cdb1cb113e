//! Attention of a group of query heads that share one key head, over slices.

use super::soft_cap;
use crate::network::cpu::kernels;

/// Settings by which attention scores become shares.
#[derive(Clone, Copy)]
pub(super) struct Scoring<'a> {
    /// Factor of the scores.
    pub(super) scale: f32,
    /// Soft cap of the scores.
    pub(super) cap: Option<f32>,
    /// Attention sinks: for each query head of a group a score that takes a share of the softmax and adds no value, or minus
    /// infinity.
    pub(super) sinks: &'a [f32],
}

/// The tokens that a token sees: itself and those before it, as many as its window has.
#[derive(Clone, Copy)]
pub(super) struct Sight {
    /// The place of the first token among the keys.
    pub(super) position: usize,
    /// Number of tokens that are seen at most.
    pub(super) window: usize,
}

/// Attention of the query heads that share one key head.
///
/// `keys` and `values` are `[len, dim]`, `queries` and `out` `[tokens, group, dim]`; the first token of `queries`
/// stands at `sight.position`, the last at `len - 1`.
pub(super) fn attend_group(
    keys: &[f32],
    values: &[f32],
    queries: &[f32],
    (dim, group): (usize, usize),
    scoring: Scoring<'_>,
    sight: Sight,
    out: &mut [f32],
) {
    let (len, count) = (keys.len() / dim, queries.len() / dim);
    let mut scores = vec![0.0; len * count];
    let mut weigh = |query: usize, from: usize, shares: &mut [f32]| {
        let sink = scoring.sinks[query % group];
        match scoring.cap {
            Some(cap) => {
                soft_cap(shares, scoring.scale, cap);
                kernels::softmax_beside(shares, 1.0, sink);
            }
            None => kernels::softmax_beside(shares, scoring.scale, sink),
        }
        kernels::weighted_sum(shares, &values[from * dim..], &mut out[query * dim..][..dim]);
    };
    let seen = |query: usize| {
        let end = sight.position + query / group + 1;
        end.saturating_sub(sight.window)..end
    };
    if count < 4 {
        // [len, count]: the loops are fastest with many rows.
        kernels::product_on_this_thread(keys, queries, dim, count, &mut scores);
        let mut shares = Vec::with_capacity(len);
        for query in 0..count {
            shares.clear();
            let seen = seen(query);
            let column = scores.iter().skip(query).step_by(count);
            shares.extend(column.take(seen.end).skip(seen.start));
            weigh(query, seen.start, &mut shares);
        }
    } else {
        // [count, len].
        kernels::product_on_this_thread(queries, keys, dim, len, &mut scores);
        for (query, scores) in scores.chunks_exact_mut(len).enumerate() {
            let seen = seen(query);
            weigh(query, seen.start, &mut scores[seen]);
        }
    }
}
