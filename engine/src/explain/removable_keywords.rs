//! [`Relaxable`]: a schema from which keywords can be removed one by one, each of which only ever admits more values.
//!
//! A keyword below `not`, `if` or `maxContains`, or of two branches of `oneOf`, excludes values both by its presence and by
//! its absence. So subschemas are distinguished by how they are reached: from a *relaxable* one keywords can be
//! removed; a *fixed* one stays whole, and only the keyword that made it fixed can be removed. `oneOf` is
//! split: "at least one holds" of relaxable branches, and "no two hold" of fixed ones.
//!
//! A reference can be removed as well: its target then asserts nothing there. So a set of keywords includes the references that
//! it needs.
//!
//! The declarations of a keyword stay when it is removed: `additionalProperties` and `unevaluated*` keep their meaning.

use std::collections::{HashMap, HashSet, VecDeque};
use std::mem::take;
use std::ops::Range;
use std::sync::Arc;

use super::keyword_part::KeywordPart;
use crate::schema::{Body, Bound, Keywords, NodeId, SchemaLocation, SchemaSet, Subschema};

/// A removable keyword.
#[derive(Clone, Debug)]
struct RemovableKeyword {
    node: NodeId,
    part: KeywordPart,
    /// The subschemas that hold this one, where it is `false`: it is not expanded itself.
    holders: Vec<NodeId>,
}

/// A schema with removable keywords (*candidates*).
pub(super) struct Relaxable {
    set: Arc<SchemaSet>,
    root: NodeId,
    /// Candidates of one subschema follow one another.
    candidates: Vec<RemovableKeyword>,
    /// The subschemas of the candidates, with nothing taken out.
    whole: HashMap<NodeId, Body>,
    /// The candidates of each subschema.
    ranges: HashMap<NodeId, Range<usize>>,
    /// The candidates that are taken out at the moment.
    out: Vec<bool>,
}

impl Relaxable {
    /// The subschema `root` of a schema, with nothing taken out.
    pub(super) fn new(set: SchemaSet, root: NodeId) -> Self {
        let mut split = RelaxableBuilder::new(set);
        split.walk(root);
        split.finish(root)
    }

    /// The schema without the removed candidates.
    pub(super) fn set(&self) -> (Arc<SchemaSet>, NodeId) {
        (self.set.clone(), self.root)
    }

    /// The number of keywords that can be taken out. Keywords close to the root come first.
    pub(super) fn len(&self) -> usize {
        self.candidates.len()
    }

    /// The candidates of one subschema, with the parts that they are.
    pub(super) fn parts_of(&self, node: NodeId) -> impl Iterator<Item = (usize, KeywordPart)> + '_ {
        let range = self.ranges.get(&node).cloned().unwrap_or_default();
        range.map(|candidate| (candidate, self.candidates[candidate].part))
    }

    /// The subschema that a candidate is of, and which part of it.
    pub(super) fn candidate(&self, candidate: usize) -> (NodeId, KeywordPart) {
        let RemovableKeyword { node, part, .. } = &self.candidates[candidate];
        (*node, *part)
    }

    /// Whether a candidate is a reference.
    pub(super) fn is_reference(&self, candidate: usize) -> bool {
        matches!(self.candidates[candidate].part, KeywordPart::Ref { .. })
    }

    /// Whether a candidate is the part of a `oneOf` that says that no two branches hold.
    pub(super) fn is_one_of(&self, candidate: usize) -> bool {
        self.candidates[candidate].part == KeywordPart::OneOf
    }

    /// Whether a candidate can have made a difference where only these subschemas were expanded.
    pub(super) fn is_in(&self, candidate: usize, expanded: &HashSet<NodeId>) -> bool {
        let RemovableKeyword { node, part, holders } = &self.candidates[candidate];
        match part {
            KeywordPart::False => holders.is_empty() || holders.iter().any(|holder| expanded.contains(holder)),
            _ => expanded.contains(node),
        }
    }

    /// Removes all candidates except these, which are given in order.
    pub(super) fn keep(&mut self, kept: &[usize]) {
        let mut out = vec![true; self.candidates.len()];
        for &candidate in kept {
            out[candidate] = false;
        }
        let set = Arc::make_mut(&mut self.set);
        let mut first = 0;
        for of_one in self.candidates.chunk_by(|a, b| a.node == b.node) {
            let range = first..first + of_one.len();
            first = range.end;
            let node = of_one[0].node;
            if out[range.clone()] != self.out[range.clone()]
                && let Some(whole) = self.whole.get(&node)
            {
                let mut body = whole.clone();
                let taken_out = of_one.iter().zip(&out[range]).filter(|(_, out)| **out);
                for (candidate, _) in taken_out {
                    match &mut body {
                        Body::Keywords(keywords) => {
                            candidate.part.take_out(keywords);
                        }
                        _ => body = Body::Anything,
                    }
                }
                set.set_body(node, body);
            }
        }
        self.out = out;
    }

    /// Reduces an `anyOf` to one branch; returns the former body of its subschema.
    pub(super) fn narrow(&mut self, node: NodeId, branch: NodeId) -> Option<Body> {
        let before = self.set.node(node).body.clone();
        let Body::Keywords(mut keywords) = before.clone() else {
            return None;
        };
        keywords.any_of = Some(vec![branch]);
        Arc::make_mut(&mut self.set).set_body(node, Body::Keywords(keywords));
        Some(before)
    }

    /// Restores the body that a subschema had before.
    pub(super) fn restore(&mut self, node: NodeId, before: Body) {
        Arc::make_mut(&mut self.set).set_body(node, before);
    }

    /// Whether no subschema that still says something is reached in two ways, with all but these candidates taken out; not
    /// where more than `most` subschemas would have to be looked at.
    pub(super) fn is_tree(&mut self, kept: &[usize], most: usize) -> bool {
        self.keep(kept);
        let mut seen = HashSet::from([self.root]);
        let mut left = vec![self.root];
        let mut is_tree = true;
        while let Some(node) = left.pop() {
            if let Body::Keywords(keywords) = &self.set.node(node).body {
                visit(&mut keywords.clone(), &mut |child, _| {
                    if matches!(self.set.node(*child).body, Body::Anything) {
                    } else if seen.insert(*child) {
                        left.push(*child);
                    } else {
                        is_tree = false;
                    }
                });
            }
            if !is_tree || seen.len() > most {
                return false;
            }
        }
        true
    }

    /// The whole of a subschema that has candidates.
    pub(super) fn whole(&self, node: NodeId) -> Option<&Keywords> {
        match self.whole.get(&node) {
            Some(Body::Keywords(keywords)) => Some(keywords),
            _ => None,
        }
    }

    /// The locations of a candidate, as JSON Pointers into the document of this URI. More than one where keywords are read
    /// as one.
    pub(super) fn locations(&self, candidate: usize) -> Vec<(Option<&str>, String)> {
        let RemovableKeyword { node, part, .. } = &self.candidates[candidate];
        let location = self.set.node(*node).location;
        let pointer = self.set.pointer(location);
        let uri = self.set.uri(location);
        if *part == KeywordPart::False {
            return vec![(uri, pointer)];
        }
        let exclusive = match self.whole.get(node) {
            Some(Body::Keywords(keywords)) => {
                let is_exclusive = |bound: &Option<Bound>| bound.as_ref().is_some_and(|b| b.exclusive);
                (is_exclusive(&keywords.minimum), is_exclusive(&keywords.maximum))
            }
            _ => (false, false),
        };
        let names = part.names(&self.set, location, exclusive);
        names
            .into_iter()
            .map(|name| (uri, format!("{pointer}/{name}")))
            .collect()
    }
}

/// Shows `each` the subschemas of a subschema, and whether relaxing them relaxes it.
fn visit(keywords: &mut Keywords, each: &mut dyn FnMut(&mut NodeId, bool)) {
    let lists = keywords.all_of.iter_mut().chain(&mut keywords.refs);
    let lists = lists.chain(keywords.any_of.iter_mut().flatten());
    lists
        .chain(&mut keywords.prefix_items)
        .for_each(|node| each(node, true));
    let named = keywords.properties.iter_mut().chain(&mut keywords.pattern_properties);
    let named = named.chain(&mut keywords.dependent_schemas);
    named.for_each(|(_, node)| each(node, true));
    let single = [
        &mut keywords.items,
        &mut keywords.additional_properties,
        &mut keywords.property_names,
        &mut keywords.unevaluated_items,
        &mut keywords.unevaluated_properties,
    ];
    single.into_iter().flatten().for_each(|node| each(node, true));
    keywords.one_of.iter_mut().flatten().for_each(|node| each(node, false));
    keywords.not.iter_mut().for_each(|node| each(node, false));
    if let Some(contains) = &mut keywords.contains {
        each(&mut contains.node, contains.max.is_none());
    }
    if let Some((condition, then, otherwise)) = &mut keywords.if_then_else {
        each(condition, false);
        then.iter_mut().chain(otherwise).for_each(|node| each(node, true));
    }
}

/// A schema while its relaxable subschemas are told from the fixed ones.
struct RelaxableBuilder {
    set: SchemaSet,
    /// The bodies of the relaxable subschemas, in the order in which they were found.
    relaxable: Vec<(NodeId, Body)>,
    fixed: HashSet<NodeId>,
    /// The relaxable subschemas that hold one that is `false`.
    holders: HashMap<NodeId, Vec<NodeId>>,
    /// A subschema under which every value is valid.
    anything: Option<NodeId>,
}

impl RelaxableBuilder {
    fn new(set: SchemaSet) -> Self {
        Self {
            set,
            relaxable: Vec::new(),
            fixed: HashSet::new(),
            holders: HashMap::new(),
            anything: None,
        }
    }

    fn add(&mut self, location: SchemaLocation, keywords: Keywords) -> NodeId {
        let body = Body::Keywords(Box::new(keywords));
        self.set.push(Subschema { location, body })
    }

    /// Finds every subschema that is reached from `root`.
    fn walk(&mut self, root: NodeId) {
        let mut found = HashSet::new();
        let mut left = VecDeque::from([(root, true)]);
        while let Some((node, relaxable)) = left.pop_front() {
            let is_new = match relaxable {
                true => found.insert(node),
                false => self.fixed.insert(node),
            };
            if !is_new {
                continue;
            }
            let mut body = self.set.node(node).body.clone();
            if let Body::Keywords(keywords) = &mut body {
                if relaxable {
                    self.split_one_of(self.set.node(node).location, keywords);
                }
                visit(keywords, &mut |child, relaxes| {
                    left.push_back((*child, relaxable && relaxes));
                    if relaxable && matches!(self.set.node(*child).body, Body::Nothing) {
                        self.holders.entry(*child).or_default().push(node);
                    }
                });
            }
            if relaxable {
                self.relaxable.push((node, body));
            }
        }
    }

    /// Says `oneOf` as "at least one holds", in a subschema of its own, and "no two hold": exactly one holds of the
    /// branches and "none of them holds".
    fn split_one_of(&mut self, location: SchemaLocation, keywords: &mut Keywords) {
        let Some(branches) = keywords.one_of.take_if(|branches| !branches.is_empty()) else {
            return;
        };
        let any = self.add(location, any_of(branches.clone()));
        keywords.all_of.push(any);
        if branches.len() > 1 {
            let not = Keywords {
                not: Some(self.add(location, any_of(branches.clone()))),
                ..Keywords::default()
            };
            let none = self.add(location, not);
            keywords.one_of = Some([&[none], &branches[..]].concat());
        }
    }

    fn finish(mut self, root: NodeId) -> Relaxable {
        let relaxable = take(&mut self.relaxable);
        let mut ids = HashMap::new();
        for (node, body) in &relaxable {
            let id = match self.fixed.contains(node) {
                true => {
                    let (location, body) = (self.set.node(*node).location, body.clone());
                    self.set.push(Subschema { location, body })
                }
                false => *node,
            };
            ids.insert(*node, id);
        }
        let id_of = |node: &NodeId| ids.get(node).copied().unwrap_or(*node);
        let (mut candidates, mut whole, mut ranges) = (Vec::new(), HashMap::new(), HashMap::new());
        let evaluates = relaxable.iter().any(|(_, body)| has_unevaluated(body));
        for (original, mut body) in relaxable {
            let node = id_of(&original);
            let mut parts = Vec::new();
            if let Body::Keywords(keywords) = &mut body {
                visit(keywords, &mut |child, relaxes| {
                    if relaxes {
                        *child = id_of(child);
                    }
                });
                parts.extend(KeywordPart::of(keywords));
                if let Some(branches) = keywords.if_then_else {
                    parts.push(KeywordPart::If(self.evaluating(self.set.node(node).location, branches)));
                }
                for (index, target) in keywords.refs.iter().enumerate() {
                    let instead = self.instead_of(self.set.node(node).location, *target, evaluates);
                    parts.push(KeywordPart::Ref { index, instead });
                }
            }
            if matches!(body, Body::Nothing) {
                parts.push(KeywordPart::False);
            }
            let holders = self.holders.get(&original).into_iter().flatten();
            let holders: Vec<NodeId> = holders.map(id_of).collect();
            ranges.insert(node, candidates.len()..candidates.len() + parts.len());
            candidates.extend(parts.iter().map(|&part| RemovableKeyword {
                node,
                part,
                holders: holders.clone(),
            }));
            if !parts.is_empty() {
                whole.insert(node, body.clone());
            }
            self.set.set_body(node, body);
        }
        Relaxable {
            set: Arc::new(self.set),
            root: id_of(&root),
            out: vec![false; candidates.len()],
            candidates,
            whole,
            ranges,
        }
    }

    /// Returns a subschema that asserts nothing, to stand for a reference; where `evaluates` is set, it evaluates at least as
    /// much as the reference's target.
    fn instead_of(&mut self, location: SchemaLocation, target: NodeId, evaluates: bool) -> NodeId {
        let anything = match self.anything {
            Some(anything) => anything,
            None => {
                let body = Body::Anything;
                *self.anything.insert(self.set.push(Subschema { location, body }))
            }
        };
        match evaluates {
            true => self.add(location, any_of(vec![anything, target])),
            false => anything,
        }
    }

    /// Adds a subschema that asserts nothing, and evaluates at least as much as `if` with these branches.
    fn evaluating(&mut self, location: SchemaLocation, branches: (NodeId, Option<NodeId>, Option<NodeId>)) -> NodeId {
        let (condition, then, otherwise) = branches;
        let anything = self.set.push(Subschema {
            location,
            body: Body::Anything,
        });
        let mut branches = vec![anything, condition];
        branches.extend(otherwise);
        if let Some(then) = then {
            let both = Keywords {
                all_of: vec![condition, then],
                ..Keywords::default()
            };
            branches.push(self.add(location, both));
        }
        self.add(location, any_of(branches))
    }
}

/// Whether a subschema depends on the members or items that others evaluated.
fn has_unevaluated(body: &Body) -> bool {
    match body {
        Body::Keywords(keywords) => keywords.unevaluated_items.or(keywords.unevaluated_properties).is_some(),
        Body::Anything | Body::Nothing => false,
    }
}

/// A subschema that says only that at least one branch holds.
fn any_of(branches: Vec<NodeId>) -> Keywords {
    Keywords {
        any_of: Some(branches),
        ..Keywords::default()
    }
}
