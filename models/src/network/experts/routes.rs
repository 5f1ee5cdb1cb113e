//! [`routes`]: which experts each token is sent to.

use crate::load::config::experts::{Experts, Routing};
use crate::network::cpu::kernels;

/// Number added to a sum of sigmoids that shares are divided by.
const SMALLEST_SUM: f32 = 1e-6;

/// For each expert, the tokens that are sent to it and its share of their results.
///
/// `logits` are the router's, `[tokens, experts]`; of each expert, the number in `bias` counts when experts are chosen, and the
/// one in `scales` is a factor of its share.
pub(crate) fn routes(logits: &[f32], [bias, scales]: [Option<&[f32]>; 2], experts: &Experts) -> Vec<Vec<(usize, f32)>> {
    let count = experts.count;
    let mut routes = vec![Vec::new(); count];
    let mut shares = Vec::new();
    for (token, logits) in logits.chunks_exact(count).enumerate() {
        shares.clear();
        shares.extend_from_slice(logits);
        let (factor, smallest) = match experts.routing {
            Routing::Softmax => {
                kernels::softmax(&mut shares, 1.0);
                (1.0, 0.0)
            }
            Routing::Sigmoid { factor, .. } => {
                shares
                    .iter_mut()
                    .for_each(|share| *share = 1.0 / (1.0 + (-*share).exp()));
                (factor, SMALLEST_SUM)
            }
        };
        let rank = |expert: usize| shares[expert] + bias.map_or(0.0, |bias| bias[expert]);
        let mut chosen: Vec<usize> = (0..count).collect();
        chosen.sort_by(|&a, &b| rank(b).total_cmp(&rank(a)));
        chosen.truncate(experts.per_token);
        let sum: f32 = chosen.iter().map(|&expert| shares[expert]).sum();
        let divisor = if experts.normalised { sum + smallest } else { 1.0 };
        for expert in chosen {
            let scale = scales.map_or(factor, |scales| factor * scales[expert]);
            routes[expert].push((token, scale * shares[expert] / divisor));
        }
    }
    routes
}
