//! [`Mixture`]: the weights of a feed-forward part with experts.

use candle_core::Tensor;

use crate::load::config::experts::Experts;
use crate::network::experts::routes::routes;
use crate::network::layers::Gated;
use crate::network::matrices::linear::Linear;

/// The weights of a feed-forward part with experts.
#[derive(Debug, Clone)]
pub(crate) struct Mixture {
    pub(crate) router: Linear,
    /// Bias added to each expert's share when experts are chosen, not to the share itself.
    pub(crate) bias: Option<Vec<f32>>,
    pub(crate) experts: Vec<Gated>,
    /// The shared expert: a feed-forward part that all tokens pass beside the experts that they are sent to.
    pub(crate) shared: Option<Shared>,
    /// Norms and scales of experts that stand beside a dense part and see other vectors than that part.
    pub(crate) beside: Option<Beside>,
}

/// The weights of the shared expert, which all tokens pass.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) gated: Gated,
    /// Matrix from a token's vector to one number, whose sigmoid is the factor of the shared expert: `[1, hidden_size]`.
    pub(crate) gate: Option<Linear>,
}

/// Norms and scales of experts that stand beside a dense part: norms of their own lead from the layer's vectors to the experts
/// and to their router.
#[derive(Debug, Clone)]
pub(crate) struct Beside {
    /// The norm of the router's input.
    pub(crate) router_norm: Tensor,
    /// A factor of each expert's share.
    pub(crate) expert_scales: Vec<f32>,
    /// The norm before the experts.
    pub(crate) before: Tensor,
    /// The norm behind the experts.
    pub(crate) behind: Tensor,
    /// The norm behind the dense part.
    pub(crate) behind_dense: Tensor,
}

impl Mixture {
    /// Returns, for each expert, the tokens that are sent to it and the expert's share of their results, by the router's
    /// `logits`, `[tokens, experts]`.
    pub(crate) fn routes(&self, logits: &[f32], experts: Option<&Experts>) -> Vec<Vec<(usize, f32)>> {
        let scales = self.beside.as_ref().map(|beside| beside.expert_scales.as_slice());
        experts.map_or_else(Vec::new, |experts| {
            routes(logits, [self.bias.as_deref(), scales], experts)
        })
    }
}
