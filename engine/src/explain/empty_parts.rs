//! Keywords for which a subschema has no value, found by a walk through the subschemas without values.
//!
//! A subschema has no value if one that it applies to every value has none, if every branch of its `anyOf` has none, or if it
//! requires a member or an item that has none. A subschema that requires itself is found too, because values are finite. Otherwise
//! keywords exclude each other, and [`ConflictSearch`] finds them in that subschema.

use std::collections::HashSet;
use std::sync::Arc;

use super::keyword_part::KeywordPart;
use super::minimal_conflict::{ConflictSearch, Excluded};
use crate::automaton::{Automaton, AutomatonError};
use crate::schema::{Body, Keywords, NodeId, SchemaSet, TypeSet};
use crate::strings::Languages;
use crate::{Formats, Style};

/// Subschemas that are followed from one to the next: the walk recurses on the native stack.
const MAX_DEPTH: usize = 200;

/// A walk through the subschemas that have no value.
pub(super) struct EmptyParts<'w, 't> {
    search: &'w mut ConflictSearch<'t>,
    set: Arc<SchemaSet>,
    automaton: Automaton,
    /// Subschemas whose keywords are in the set, or are about to be.
    seen: HashSet<NodeId>,
}

/// A subschema of which another one requires a value, and the keywords of the other by which it does.
struct Demanded {
    node: NodeId,
    by: Vec<usize>,
}

impl<'w, 't> EmptyParts<'w, 't> {
    /// A walk through a schema that is being searched.
    pub(super) fn new(search: &'w mut ConflictSearch<'t>, formats: Formats) -> Self {
        let set = search.relaxable().set().0;
        let languages = Languages::within(set.limits());
        Self {
            automaton: Automaton::lazy(languages, set.clone(), formats, Style::rfc8259()),
            set,
            search,
            seen: HashSet::new(),
        }
    }

    /// Keywords that leave `root` no value; none where they are not found with the work that is left.
    pub(super) fn blame(&mut self, root: NodeId) -> Option<Vec<usize>> {
        let mut keywords = Vec::new();
        let is_found = self.add(root, 0, &mut keywords).ok()?;
        keywords.sort_unstable();
        keywords.dedup();
        is_found.then_some(keywords)
    }

    /// Adds the keywords for which `node` has no value; returns whether they were found.
    fn add(&mut self, node: NodeId, depth: usize, found: &mut Vec<usize>) -> Result<bool, AutomatonError> {
        // A subschema that comes up again demands itself, or its keywords are there already.
        if !self.seen.insert(node) {
            return Ok(true);
        }
        if depth > MAX_DEPTH || !self.search.spend(1) {
            return Ok(false);
        }
        let set = self.set.clone();
        let keywords = match &set.node(node).body {
            Body::Anything => return Ok(false),
            Body::Nothing => {
                found.extend(self.search.relaxable().parts_of(node).map(|(candidate, _)| candidate));
                return Ok(true);
            }
            Body::Keywords(keywords) => keywords,
        };
        for demanded in self.demanded(node, keywords) {
            if self.has_no_value(demanded.node)? {
                found.extend(demanded.by);
                return self.add(demanded.node, depth + 1, found);
            }
        }
        if let Some(branches) = keywords.any_of.as_deref().filter(|branches| !branches.is_empty()) {
            let mut are_empty = true;
            for &branch in branches {
                are_empty = are_empty && self.has_no_value(branch)?;
            }
            if are_empty {
                for &branch in branches {
                    if !self.add(branch, depth + 1, found)? {
                        return Ok(false);
                    }
                }
                return Ok(true);
            }
        }
        let together = self.search.within(node, Excluded::Values);
        let is_found = together.is_some();
        found.extend(together.into_iter().flatten());
        Ok(is_found)
    }

    /// Returns the subschemas that `node` demands of every value, each with the keywords that demand it.
    fn demanded(&self, node: NodeId, keywords: &Keywords) -> Vec<Demanded> {
        let relaxable = self.search.relaxable();
        let part = |wanted: KeywordPart| {
            let mut parts = relaxable.parts_of(node);
            parts.find(|(_, part)| *part == wanted).map(|(candidate, _)| candidate)
        };
        let mut demanded: Vec<Demanded> = Vec::new();
        demanded.extend(keywords.all_of.iter().map(|&node| Demanded { node, by: Vec::new() }));
        demanded.extend(relaxable.parts_of(node).filter_map(|(candidate, part)| match part {
            KeywordPart::Ref { index, .. } => Some(Demanded {
                node: keywords.refs[index],
                by: vec![candidate],
            }),
            _ => None,
        }));
        let of_type = |types: TypeSet, wanted: KeywordPart| {
            let is_only = keywords.types == Some(types);
            is_only.then(|| {
                [part(KeywordPart::Type), part(wanted)]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
            })
        };
        if let Some(by) = of_type(TypeSet::OBJECT, KeywordPart::Required) {
            for name in &keywords.required {
                let declared = keywords.properties.iter().find(|(declared, _)| declared == name);
                let node = match declared {
                    Some((_, node)) => Some(*node),
                    None if keywords.pattern_properties.is_empty() => keywords.additional_properties,
                    None => None,
                };
                let by = by.clone();
                demanded.extend(node.map(|node| Demanded { node, by }));
            }
        }
        if let Some(by) = of_type(TypeSet::ARRAY, KeywordPart::MinItems) {
            let least = usize::try_from(keywords.min_items.unwrap_or(0)).unwrap_or(usize::MAX);
            let nodes = keywords.prefix_items.iter().chain(&keywords.items).take(least);
            demanded.extend(nodes.map(|&node| Demanded { node, by: by.clone() }));
        }
        demanded
    }

    fn has_no_value(&mut self, node: NodeId) -> Result<bool, AutomatonError> {
        let before = self.automaton.effort();
        let has_value = self.automaton.has_value(node)?;
        let effort = self.automaton.effort() - before;
        match self.search.spend(effort + 1) {
            true => Ok(!has_value),
            false => Err(AutomatonError::Pending),
        }
    }
}
