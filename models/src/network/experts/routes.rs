//! [`routes`]: which experts each token is sent to.

use crate::load::config::experts::{ExpertGroups, Experts, Routing};
use crate::network::cpu::kernels;

/// Returns, for each expert, the tokens that are sent to it and the expert's share of their results.
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
        let smallest = match experts.routing {
            Routing::Softmax => {
                kernels::softmax(&mut shares, 1.0);
                0.0
            }
            Routing::Sigmoid { smallest_sum, .. } => {
                shares
                    .iter_mut()
                    .for_each(|share| *share = 1.0 / (1.0 + (-*share).exp()));
                smallest_sum
            }
        };
        let rank = |expert: usize| shares[expert] + bias.map_or(0.0, |bias| bias[expert]);
        let mut chosen: Vec<usize> = match experts.groups {
            Some(groups) => in_best_groups(groups, count, rank),
            None => (0..count).collect(),
        };
        chosen.sort_by(|&a, &b| rank(b).total_cmp(&rank(a)));
        chosen.truncate(experts.per_token);
        let sum: f32 = chosen.iter().map(|&expert| shares[expert]).sum();
        let divisor = if experts.normalised { sum + smallest } else { 1.0 };
        for expert in chosen {
            let scale = scales.map_or(experts.factor, |scales| experts.factor * scales[expert]);
            routes[expert].push((token, scale * shares[expert] / divisor));
        }
    }
    routes
}

/// The experts of the groups that are chosen, of `count` experts with these ranks, in ascending order.
fn in_best_groups(groups: ExpertGroups, count: usize, rank: impl Fn(usize) -> f32) -> Vec<usize> {
    let size = count / groups.count;
    let mut of_group: Vec<f32> = Vec::with_capacity(size);
    let sums = (0..groups.count).map(|group| {
        of_group.clear();
        of_group.extend((group * size..(group + 1) * size).map(&rank));
        of_group.sort_by(|a, b| b.total_cmp(a));
        of_group.iter().take(groups.best).sum::<f32>()
    });
    let sums: Vec<f32> = sums.collect();
    let mut chosen: Vec<usize> = (0..groups.count).collect();
    chosen.sort_by(|&a, &b| sums[b].total_cmp(&sums[a]));
    chosen.truncate(groups.chosen);
    chosen.sort_unstable();
    chosen
        .into_iter()
        .flat_map(|group| group * size..(group + 1) * size)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::config::experts::ExpertStorage;

    /// Six experts in three groups, of which one is chosen, and two experts for each token.
    fn experts(best: usize, routing: Routing) -> Experts {
        Experts {
            count: 6,
            per_token: 2,
            intermediate_size: 1,
            shared_intermediate_size: None,
            normalised: true,
            factor: 2.0,
            routing,
            groups: Some(ExpertGroups {
                count: 3,
                chosen: 1,
                best,
            }),
            storage: ExpertStorage::Separate,
            dense_layers: Vec::new(),
        }
    }

    /// The experts that one token is sent to, in ascending order, with their shares.
    fn sent(logits: &[f32], bias: Option<&[f32]>, experts: &Experts) -> Vec<(usize, f32)> {
        let routes = routes(logits, [bias, None], experts);
        let sent = routes.iter().enumerate().flat_map(|(expert, tokens)| {
            let shares = tokens.iter().map(move |(_, share)| (expert, *share));
            shares.collect::<Vec<_>>()
        });
        sent.collect()
    }

    #[test]
    fn experts_are_of_the_groups_whose_best_have_the_largest_sum() {
        let logits = [2.6, -9.0, 2.0, 2.5, 0.0, 0.0];
        let chosen = |best| {
            let sent = sent(&logits, None, &experts(best, Routing::Softmax));
            sent.into_iter().map(|(expert, _)| expert).collect::<Vec<_>>()
        };
        assert_eq!(chosen(1), [0, 1]);
        assert_eq!(chosen(2), [2, 3]);
    }

    #[test]
    fn biases_choose_and_do_not_share() {
        let routing = Routing::Sigmoid {
            bias: true,
            smallest_sum: 0.0,
        };
        let bias = [0.0, 0.0, 0.0, 0.0, 9.0, 9.0];
        let sent = sent(&[1.0, 1.0, 1.0, 1.0, 0.0, 0.0], Some(&bias), &experts(2, routing));
        assert_eq!(sent, [(4, 1.0), (5, 1.0)]);
    }
}
