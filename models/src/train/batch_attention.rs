//! [`BatchAttention`]: the attention of sequences side by side. What all of them begin with, as the replies to one prompt do, is computed once.

use candle_core::{Device, Result, Tensor};

use super::layer_pass::{Projections, Span};
use crate::network::rope::Rope;

/// Sequences that go through the layers together. The rows are the tokens that all of them begin with, then the others of each sequence,
/// padded behind the end of shorter ones, where none of their tokens looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchShape {
    /// Number of tokens that all sequences begin with, which are computed once.
    pub(super) shared: usize,
    /// Number of sequences.
    pub(super) sequences: usize,
    /// Number of tokens behind the shared ones in each, at least one.
    pub(super) tokens: usize,
}

/// The attention of a batch of some shape.
pub(super) struct BatchAttention {
    /// The tokens that all sequences begin with, where there are some, then what comes behind them in each.
    spans: Vec<Span>,
}

impl BatchAttention {
    /// The attention of batches of that shape.
    pub(super) fn new(rope: &Rope, shape: BatchShape, device: &Device) -> Result<Self> {
        let mut spans = Vec::with_capacity(2);
        if shape.shared > 0 {
            spans.push(Span::new(rope, 1, 0, shape.shared, device)?);
        }
        spans.push(Span::new(rope, shape.sequences, shape.shared, shape.tokens, device)?);
        Ok(Self { spans })
    }

    /// Computes the attention of a layer's rows to those that they see, `[rows, heads · head_dim]`.
    pub(super) fn attend(&self, projections: &Projections<'_>) -> Result<Tensor> {
        let mut shared: Option<[Tensor; 2]> = None;
        let (mut found, mut start) = (Vec::with_capacity(2), 0);
        for span in &self.spans {
            let [query, key, value] = projections.of_span(start, span)?;
            found.push(projections.attended(&query, [&key, &value], shared.as_ref())?);
            shared = Some([key, value]);
            start += span.rows();
        }
        Tensor::cat(&found, 0)
    }
}
