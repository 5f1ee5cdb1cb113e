//! Strongly connected components: groups of rules that are mutually recursive.

use super::rules::{Grammar, RuleId};

/// Returns the strongly connected components of the rules that are reachable from the root; a component comes behind those that it names.
pub(super) fn components(grammar: &Grammar) -> Vec<Vec<RuleId>> {
    of_graph(grammar.rules.len(), [grammar.root], |rule| {
        grammar.named_by(rule).collect()
    })
}

/// Returns the strongly connected components of the nodes that are reachable from `from`, in reverse topological order, by Tarjan's algorithm.
pub(super) fn of_graph(
    count: usize,
    from: impl IntoIterator<Item = usize>,
    leads_to: impl Fn(usize) -> Vec<usize>,
) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let (mut found, mut order, mut lowest, mut is_open) =
        (Vec::new(), vec![NEW; count], vec![NEW; count], vec![false; count]);
    let (mut path, mut met) = (Vec::new(), 0);
    for root in from {
        if order[root] != NEW {
            continue;
        }
        let mut calls: Vec<(usize, std::vec::IntoIter<usize>)> = Vec::new();
        let mut enter = Some(root);
        while enter.is_some() || !calls.is_empty() {
            if let Some(node) = enter.take() {
                (order[node], lowest[node], is_open[node]) = (met, met, true);
                met += 1;
                path.push(node);
                calls.push((node, leads_to(node).into_iter()));
            }
            let Some((node, next)) = calls.last_mut() else { break };
            let node = *node;
            match next.next() {
                Some(next) if order[next] == NEW => enter = Some(next),
                Some(next) if is_open[next] => lowest[node] = lowest[node].min(order[next]),
                Some(_) => {}
                None => {
                    calls.pop();
                    if let Some((above, _)) = calls.last() {
                        lowest[*above] = lowest[*above].min(lowest[node]);
                    }
                    if lowest[node] == order[node] {
                        let start = path.iter().rposition(|other| *other == node).unwrap_or_default();
                        let group = path.split_off(start);
                        group.iter().for_each(|node| is_open[*node] = false);
                        found.push(group);
                    }
                }
            }
        }
    }
    found
}
