//! Merges subschemas that say the same, so that whatever is found out about one of them is known of all.
//!
//! Schemas repeat themselves: each branch of a `oneOf` refers to the same definitions, and hundreds of members are
//! `{"type": "string"}`. As one subschema they are expanded once, and alternatives that ask the same of a member cannot be told apart by it.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::json::{Shape, Value};

use super::keywords::NodeId;
use super::schema_set::{Body, SchemaSet};

/// Number of references that are followed from one to the next. Where there are more, they may form a cycle.
const MAX_REFERENCES: usize = 64;

impl SchemaSet {
    /// Merges equal subschemas, and replaces subschemas of members and items that are nothing but a reference by its target. Of equal ones the
    /// first is left; nothing refers to the others any more, and their content is dropped ([`Body::Anything`]). Returns the subschemas that
    /// are left and are more than a reference.
    pub fn merge_equal(&mut self) -> Vec<NodeId> {
        let all = || (0..self.nodes.len() as u32).map(NodeId);
        let targets: Vec<NodeId> = all().map(|node| self.target(node)).collect();
        // For each subschema the last one that is equal, and for each of these the first.
        let mut last: Vec<NodeId> = all().collect();
        let mut first: Vec<NodeId> = all().collect();
        let hasher = DefaultHashBuilder::default();
        let mut different: HashTable<NodeId> = HashTable::new();
        // Subschemas mostly come after those that apply them, so their parts have been merged before they are compared. Where that is
        // not so, equal subschemas stay apart, which does no harm.
        for node in all().collect::<Vec<_>>().into_iter().rev() {
            if let Body::Keywords(keywords) = &mut self.nodes[node.0 as usize].body {
                keywords.replace_subschemas(
                    |part| last[targets[part.0 as usize].0 as usize],
                    |same_value| last[same_value.0 as usize],
                );
            }
            if !self.is_told_by_keywords(node) {
                continue;
            }
            let body = |node: &NodeId| &self.nodes[node.0 as usize].body;
            let hash = hasher.hash_one(body(&node));
            match different.find(hash, |other| body(other) == body(&node)) {
                Some(&other) => {
                    last[node.0 as usize] = other;
                    first[other.0 as usize] = node;
                }
                None => _ = different.insert_unique(hash, node, |other| hasher.hash_one(body(other))),
            }
        }
        let first_of = |node: NodeId| first[last[node.0 as usize].0 as usize];
        let mut left = Vec::with_capacity(different.len());
        for node in (0..self.nodes.len() as u32).map(NodeId) {
            let body = &mut self.nodes[node.0 as usize].body;
            if first_of(node) != node {
                *body = Body::Anything;
                continue;
            }
            if let Body::Keywords(keywords) = body {
                keywords.replace_subschemas(|part| first_of(targets[part.0 as usize]), first_of);
            }
            if targets[node.0 as usize] == node {
                left.push(node);
            }
        }
        self.root = first_of(self.root);
        left
    }

    /// The subschema that a chain of references leads to, if a subschema is nothing but a reference; else itself.
    fn target(&self, node: NodeId) -> NodeId {
        let mut at = node;
        for _ in 0..MAX_REFERENCES {
            match &self.node(at).body {
                Body::Keywords(keywords) if keywords.is_reference() => at = keywords.refs[0],
                _ => return at,
            }
            if at == node {
                break;
            }
        }
        node
    }

    /// Whether a subschema says nothing but what its [`Keywords`](super::keywords::Keywords) say, so that one with equal keywords is the same in
    /// every style. The order of the keywords that declare keys is not among them, nor that of the members of listed objects, nor how
    /// listed numbers are written. A reference that leads to itself is an error, which is told where the reference stands.
    pub fn is_told_by_keywords(&self, node: NodeId) -> bool {
        let subschema = self.node(node);
        let Body::Keywords(keywords) = &subschema.body else {
            return true;
        };
        let is_container = |value: &Value| matches!(value.as_ref().shape(), Shape::Array(_) | Shape::Object(_));
        let is_written_otherwise = keywords.values.iter().flatten().any(is_container)
            || keywords.values.is_some() && self.writes_zero_fractions(subschema.location);
        let leads_to_itself = keywords.is_reference() && self.target(node) == node;
        keywords.declaring() <= 1 && !is_written_otherwise && !leads_to_itself
    }
}
