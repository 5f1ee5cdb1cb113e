//! Finds the subschemas with a value that has all declared members, at any depth, as a least fixpoint. A style that asks for all members
//! must not ask for a value that would have to contain itself.

use crate::automaton::formula::Algebra;
use crate::schema::{Body, Keywords, NodeId, SchemaSet, TypeSet};

/// Number of rounds in which more and more subschemas are found to have such a value. One that takes more rounds, because
/// its values are nested that deeply, is taken for one without.
const MAX_ROUNDS: usize = 64;

impl Algebra {
    /// Whether some value of a subschema visibly has all members that are declared, at any depth.
    pub(super) fn can_have_all_members(&mut self, node: NodeId) -> bool {
        if self.orders.complete.is_empty() {
            self.orders.complete = find_complete(&self.schema);
        }
        self.orders.complete[node.0 as usize]
    }
}

/// Computes for each subschema whether some value visibly has all members that are declared: the least fixpoint.
fn find_complete(schema: &SchemaSet) -> Vec<bool> {
    let mut complete = vec![false; schema.len()];
    for _ in 0..MAX_ROUNDS {
        let mut has_changed = false;
        for (node, subschema) in schema.nodes() {
            let place = node.0 as usize;
            if !complete[place] {
                complete[place] = match &subschema.body {
                    Body::Anything => true,
                    Body::Nothing => false,
                    Body::Keywords(keywords) => is_complete(keywords, &|node| complete[node.0 as usize]),
                };
                has_changed |= complete[place];
            }
        }
        if !has_changed {
            break;
        }
    }
    complete
}

/// Whether some value of a subschema visibly has all members that are declared, given which other subschemas have one.
fn is_complete(keywords: &Keywords, known: &dyn Fn(NodeId) -> bool) -> bool {
    let any = |nodes: &Vec<NodeId>| nodes.iter().any(|node| known(*node));
    let applied = keywords.all_of.iter().chain(&keywords.refs);
    let applied = applied.chain(
        keywords
            .if_then_else
            .iter()
            .flat_map(|(_, then, otherwise)| [then, otherwise].into_iter().flatten()),
    );
    if !applied.copied().all(known) || !keywords.any_of.iter().chain(&keywords.one_of).all(any) {
        return false;
    }
    let has_type = |one: TypeSet| match keywords.types {
        Some(types) => types.contains(one),
        None => keywords.properties.is_empty() || one == TypeSet::OBJECT,
    };
    let scalars = [
        TypeSet::NULL,
        TypeSet::BOOLEAN,
        TypeSet::INTEGER,
        TypeSet::NUMBER,
        TypeSet::INTEGER_LITERAL,
        TypeSet::STRING,
    ];
    let items = || {
        let items = keywords.prefix_items.iter().chain(&keywords.items);
        let is_empty = keywords.min_items.is_none() && keywords.contains.is_none_or(|contains| contains.min == 0);
        is_empty
            || items
                .chain(keywords.contains.iter().map(|contains| &contains.node))
                .copied()
                .all(known)
    };
    keywords.values.is_some()
        || scalars.into_iter().any(has_type)
        || has_type(TypeSet::ARRAY) && items()
        || has_type(TypeSet::OBJECT) && keywords.properties.iter().all(|(_, node)| known(*node))
}
