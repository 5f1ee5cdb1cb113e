//! Numbers and bytes of a model's weights, of all and of those that a forward pass over one token reads.

use candle_core::DType;

use crate::load::config::ModelConfig;
use crate::load::config::experts::BLOCK;
use crate::load::shapes::matrices::{MatrixShape, elements};
use crate::load::shapes::tensors::LayerShapes;

/// Numbers of weights.
#[derive(Clone, Copy, Debug, Default)]
struct WeightCounts {
    /// Number of weights kept in the model's format.
    own: u64,
    /// Number of weights in MXFP4.
    packed: u64,
    /// Number of weights in `own` that a pass over one token does not read.
    own_unread: u64,
    /// Number of weights in `packed` that a pass over one token does not read.
    packed_unread: u64,
}

impl WeightCounts {
    /// The sums of both.
    fn and(self, other: Self) -> Self {
        Self {
            own: self.own + other.own,
            packed: self.packed + other.packed,
            own_unread: self.own_unread + other.own_unread,
            packed_unread: self.packed_unread + other.packed_unread,
        }
    }
}

/// Bytes of so many weights, some of them in MXFP4.
fn bytes(own: u64, packed: u64, dtype: DType) -> u64 {
    let block = BLOCK as u64;
    own * dtype.size_in_bytes() as u64 + packed / block * (block / 2 + 1)
}

impl LayerShapes {
    /// Number of weights; a pass over one token does not read those of `experts_unread` experts.
    fn weights(&self, experts_unread: usize) -> WeightCounts {
        let convolution = self
            .convolution()
            .map_or(0, |(taps, bias)| elements(taps) + bias.map_or(0, elements));
        let matrices: u64 = self.matrices().into_iter().map(MatrixShape::elements).sum();
        let norms: u64 = self.norms().iter().map(elements).sum();
        let beside = self.expert_bias().into_iter().chain(self.sinks()).chain(&self.factor);
        let beside = beside.chain(self.expert_factors());
        let recurrence = self.recurrence();
        let beside = beside.chain(
            recurrence
                .iter()
                .flat_map(|(of_heads, norm)| of_heads.iter().chain([*norm])),
        );
        let mut counts = WeightCounts {
            own: convolution + matrices + norms + beside.map(elements).sum::<u64>(),
            ..WeightCounts::default()
        };
        if let Some(experts) = self.mixture().map(|mixture| &mixture.experts) {
            let (own, packed) = experts.of_one();
            let (count, unread) = (experts.count() as u64, experts_unread as u64);
            if experts.separate().is_empty() {
                counts.own += count * own;
            }
            counts.packed = count * packed;
            (counts.own_unread, counts.packed_unread) = (unread * own, unread * packed);
        }
        counts
    }
}

impl ModelConfig {
    /// Number of weights, tied embeddings counted once.
    pub fn parameters(&self) -> u64 {
        let counts = self.weights();
        counts.own + counts.packed
    }

    /// Bytes of all weights, where matrices that are not in MXFP4 are kept as `dtype`.
    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn weight_bytes(&self, dtype: DType) -> u64 {
        let counts = self.weights();
        bytes(counts.own, counts.packed, dtype)
    }

    /// Bytes of the weights that a forward pass over one token reads: all but those of experts that it is not sent to, and
    /// embeddings that are not the output matrix, too.
    pub(crate) fn weight_bytes_per_token(&self, dtype: DType) -> u64 {
        let counts = self.weights();
        let unread = match self.tied_embeddings {
            true => 0,
            false => elements(&self.embeddings().weight()),
        };
        let packed = counts.packed - counts.packed_unread;
        bytes(counts.own - counts.own_unread - unread, packed, dtype)
    }

    /// Numbers of weights of the whole model.
    fn weights(&self) -> WeightCounts {
        let output = self.untied_output().as_ref().map_or(0, MatrixShape::elements);
        let mut around = WeightCounts {
            own: self.embeddings().elements() + output + elements(&self.final_norm()),
            ..WeightCounts::default()
        };
        if let Some(embeddings) = self.layer_embeddings() {
            around.own_unread = embeddings.table.elements();
            around.own += around.own_unread + embeddings.projection.elements() + elements(&embeddings.norm);
        }
        let unread = self
            .experts
            .as_ref()
            .map_or(0, |experts| experts.count - experts.per_token);
        // Layers of one kind are alike.
        let kind = |layer: usize| {
            let parts = (
                self.has_attention(layer),
                self.has_keys(layer),
                self.is_recurrent(layer),
                self.experts_of(layer).is_some(),
            );
            (parts, self.heads_of(layer), self.width_of(layer))
        };
        let mut known = std::collections::HashMap::new();
        (0..self.layers).fold(around, |all, layer| {
            let of_layer = known
                .entry(kind(layer))
                .or_insert_with(|| self.layer(layer).weights(unread));
            all.and(*of_layer)
        })
    }
}
