//! Adds a subschema for each keyword alone, so that an automaton can decide whether a value satisfies that keyword.

use std::collections::HashMap;

use super::removable_keywords::Relaxable;
use crate::schema::{Body, Keywords, NodeId, SchemaSet, Subschema};

/// Subschemas that were added to a schema.
#[derive(Debug, Default)]
pub(super) struct SingleKeywords {
    /// For candidates about numbers and strings: a subschema of the keyword alone.
    pub(super) alone: HashMap<usize, NodeId>,
    /// Strings that match a pattern of `patternProperties`.
    pub(super) patterns: HashMap<String, NodeId>,
    /// For conditions of `if`: a subschema of the values that do not satisfy the condition.
    pub(super) negated: HashMap<NodeId, NodeId>,
}

/// A schema with the subschemas added.
pub(super) fn with_single_keywords(relaxable: &Relaxable) -> (SchemaSet, SingleKeywords) {
    let whole = relaxable.set().0;
    let mut set = SchemaSet::clone(&whole);
    let mut added = SingleKeywords::default();
    for candidate in 0..relaxable.len() {
        let (node, part) = relaxable.candidate(candidate);
        let subschema = whole.node(node);
        if let Body::Keywords(keywords) = &subschema.body
            && let Some(keywords) = part.alone(keywords)
        {
            let (location, body) = (subschema.location, Body::Keywords(Box::new(keywords)));
            added.alone.insert(candidate, set.push(Subschema { location, body }));
        }
    }
    for (_, subschema) in whole.nodes() {
        let Body::Keywords(keywords) = &subschema.body else {
            continue;
        };
        let location = subschema.location;
        let mut push = |keywords: Keywords| {
            let body = Body::Keywords(Box::new(keywords));
            set.push(Subschema { location, body })
        };
        for (pattern, _) in &keywords.pattern_properties {
            added.patterns.entry(pattern.clone()).or_insert_with(|| {
                push(Keywords {
                    pattern: Some(pattern.clone()),
                    ..Keywords::default()
                })
            });
        }
        if let Some((condition, ..)) = keywords.if_then_else {
            added.negated.entry(condition).or_insert_with(|| {
                push(Keywords {
                    not: Some(condition),
                    ..Keywords::default()
                })
            });
        }
    }
    (set, added)
}
