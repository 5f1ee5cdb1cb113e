//! A schema from which keywords can be taken out one by one, each of which only ever admits more values.
//!
//! A keyword below `not`, `if` or `maxContains`, or of two branches of `oneOf`, excludes values by being there as well as
//! by being absent. So every subschema is told apart by how it is reached: where it is *relaxable*, its keywords can be
//! taken out, and where it is *fixed*, it stays whole, and only the keyword that made it so can be taken out. `oneOf` is
//! both: "at least one holds" of relaxable branches, and "no two hold" of fixed ones.
//!
//! What a keyword declares stays where it is taken out: `additionalProperties` and `unevaluated*` mean the same without it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::json::Content;
use crate::schema::{Body, Keywords, NodeId, SchemaLocation, SchemaSet, Subschema};

/// A keyword that can be taken out.
#[derive(Clone, Debug)]
struct Candidate {
    node: NodeId,
    part: Part,
    /// The subschemas that hold this one, where it is `false`: it is not expanded itself.
    holders: Vec<NodeId>,
}

/// A part of a subschema that excludes values by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// A subschema that is `false`.
    False,
    Type,
    Values,
    Minimum,
    Maximum,
    MultipleOf,
    MinLength,
    MaxLength,
    Pattern,
    Format,
    MinItems,
    MaxItems,
    UniqueItems,
    Contains,
    MaxContains,
    Required,
    MinProperties,
    MaxProperties,
    DependentRequired,
    /// `anyOf` without a branch.
    AnyOf,
    /// "No two branches hold", or no branch.
    OneOf,
    Not,
    /// `if` with its branches; what evaluates as much and asserts nothing.
    If(NodeId),
}

/// A schema whose keywords can be taken out.
pub(super) struct Relaxable {
    set: Arc<SchemaSet>,
    root: NodeId,
    /// Those of one subschema follow one another.
    candidates: Vec<Candidate>,
    /// The subschemas of the candidates, with nothing taken out.
    whole: HashMap<NodeId, Body>,
    /// The candidates that are taken out at the moment.
    out: Vec<bool>,
}

impl Relaxable {
    /// The subschema `root` of a schema, with nothing taken out.
    pub(super) fn new(set: &SchemaSet, root: NodeId) -> Self {
        let mut split = Split::new(set.clone());
        split.walk(root);
        split.finish(root)
    }

    /// The schema as it is now.
    pub(super) fn set(&self) -> (Arc<SchemaSet>, NodeId) {
        (self.set.clone(), self.root)
    }

    /// The number of keywords that can be taken out. Those close to the root come first.
    pub(super) fn len(&self) -> usize {
        self.candidates.len()
    }

    /// Whether a candidate is the part of a `oneOf` that says that no two branches hold.
    pub(super) fn is_one_of(&self, candidate: usize) -> bool {
        self.candidates[candidate].part == Part::OneOf
    }

    /// Whether a candidate can have made a difference where only these subschemas were expanded.
    pub(super) fn is_in(&self, candidate: usize, expanded: &HashSet<NodeId>) -> bool {
        let Candidate { node, part, holders } = &self.candidates[candidate];
        match part {
            Part::False => holders.is_empty() || holders.iter().any(|holder| expanded.contains(holder)),
            _ => expanded.contains(node),
        }
    }

    /// Takes out all but these candidates, given in order.
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
                taken_out.for_each(|(candidate, _)| candidate.part.take_out(&mut body));
                set.set_body(node, body);
            }
        }
        self.out = out;
    }

    /// The places of a candidate, as JSON Pointers into the document of this URI. More than one where keywords are read
    /// as one.
    pub(super) fn places(&self, candidate: usize) -> Vec<(Option<&str>, String)> {
        let Candidate { node, part, .. } = &self.candidates[candidate];
        let location = self.set.node(*node).location;
        let pointer = self.set.pointer(location);
        let uri = self.set.uri(location);
        if *part == Part::False {
            return vec![(uri, pointer)];
        }
        let exclusive = match self.whole.get(node) {
            Some(Body::Keywords(keywords)) => {
                let is_exclusive = |bound: &Option<crate::schema::Bound>| bound.as_ref().is_some_and(|b| b.exclusive);
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

impl Part {
    /// Every part that a subschema may have, but for `if`.
    const ALL: [Self; 21] = [
        Self::Type,
        Self::Values,
        Self::Minimum,
        Self::Maximum,
        Self::MultipleOf,
        Self::MinLength,
        Self::MaxLength,
        Self::Pattern,
        Self::Format,
        Self::MinItems,
        Self::MaxItems,
        Self::UniqueItems,
        Self::Contains,
        Self::MaxContains,
        Self::Required,
        Self::MinProperties,
        Self::MaxProperties,
        Self::DependentRequired,
        Self::AnyOf,
        Self::OneOf,
        Self::Not,
    ];

    fn is_in(self, keywords: &Keywords) -> bool {
        match self {
            Self::False | Self::If(_) => false,
            Self::Type => keywords.types.is_some(),
            Self::Values => keywords.values.is_some(),
            Self::Minimum => keywords.minimum.is_some(),
            Self::Maximum => keywords.maximum.is_some(),
            Self::MultipleOf => keywords.multiple_of.is_some(),
            Self::MinLength => keywords.min_length.is_some(),
            Self::MaxLength => keywords.max_length.is_some(),
            Self::Pattern => keywords.pattern.is_some(),
            Self::Format => keywords.format.is_some(),
            Self::MinItems => keywords.min_items.is_some(),
            Self::MaxItems => keywords.max_items.is_some(),
            Self::UniqueItems => keywords.unique_items,
            Self::Contains => keywords.contains.is_some_and(|contains| contains.min > 0),
            Self::MaxContains => keywords.contains.is_some_and(|contains| contains.max.is_some()),
            Self::Required => !keywords.required.is_empty(),
            Self::MinProperties => keywords.min_properties.is_some(),
            Self::MaxProperties => keywords.max_properties.is_some(),
            Self::DependentRequired => !keywords.dependent_required.is_empty(),
            Self::AnyOf => keywords.any_of.as_ref().is_some_and(Vec::is_empty),
            Self::OneOf => keywords.one_of.is_some(),
            Self::Not => keywords.not.is_some(),
        }
    }

    fn take_out(self, body: &mut Body) {
        let Body::Keywords(keywords) = body else {
            *body = Body::Anything;
            return;
        };
        match self {
            Self::False => {}
            Self::Type => keywords.types = None,
            Self::Values => keywords.values = None,
            Self::Minimum => keywords.minimum = None,
            Self::Maximum => keywords.maximum = None,
            Self::MultipleOf => keywords.multiple_of = None,
            Self::MinLength => keywords.min_length = None,
            Self::MaxLength => keywords.max_length = None,
            Self::Pattern => keywords.pattern = None,
            Self::Format => keywords.format = None,
            Self::MinItems => keywords.min_items = None,
            Self::MaxItems => keywords.max_items = None,
            Self::UniqueItems => keywords.unique_items = false,
            Self::Contains => keywords.contains.iter_mut().for_each(|contains| contains.min = 0),
            Self::MaxContains => keywords.contains.iter_mut().for_each(|contains| contains.max = None),
            Self::Required => keywords.required.clear(),
            Self::MinProperties => keywords.min_properties = None,
            Self::MaxProperties => keywords.max_properties = None,
            Self::DependentRequired => keywords.dependent_required.clear(),
            Self::AnyOf => keywords.any_of = None,
            Self::OneOf => keywords.one_of = None,
            Self::Not => keywords.not = None,
            Self::If(evaluating) => {
                keywords.if_then_else = None;
                keywords.all_of.push(evaluating);
            }
        }
    }

    /// The names of the keywords that say this at a location. `exclusive`: whether the bounds are.
    fn names(self, set: &SchemaSet, location: SchemaLocation, exclusive: (bool, bool)) -> Vec<&'static str> {
        let written = |names: [&'static str; 2]| {
            let is_there = |name: &&'static str| set.member(location, name).is_some();
            names.into_iter().filter(is_there).collect()
        };
        let bound = |plain: &'static str, name: &'static str, exclusive: bool| match set.member(location, name) {
            Some(Content::Bool(true)) => vec![plain, name],
            Some(_) if exclusive => vec![name],
            _ => vec![plain],
        };
        let name = match self {
            Self::False => return Vec::new(),
            Self::Values => return written(["const", "enum"]),
            Self::Minimum => return bound("minimum", "exclusiveMinimum", exclusive.0),
            Self::Maximum => return bound("maximum", "exclusiveMaximum", exclusive.1),
            Self::DependentRequired => return written(["dependencies", "dependentRequired"]),
            Self::Contains => match set.member(location, "minContains") {
                Some(_) => "minContains",
                None => "contains",
            },
            Self::Type => "type",
            Self::MultipleOf => "multipleOf",
            Self::MinLength => "minLength",
            Self::MaxLength => "maxLength",
            Self::Pattern => "pattern",
            Self::Format => "format",
            Self::MinItems => "minItems",
            Self::MaxItems => "maxItems",
            Self::UniqueItems => "uniqueItems",
            Self::MaxContains => "maxContains",
            Self::Required => "required",
            Self::MinProperties => "minProperties",
            Self::MaxProperties => "maxProperties",
            Self::AnyOf => "anyOf",
            Self::OneOf => "oneOf",
            Self::Not => "not",
            Self::If(_) => "if",
        };
        vec![name]
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
struct Split {
    set: SchemaSet,
    /// What the relaxable subschemas say, in the order in which they were found.
    relaxable: Vec<(NodeId, Body)>,
    fixed: HashSet<NodeId>,
    /// The relaxable subschemas that hold one that is `false`.
    holders: HashMap<NodeId, Vec<NodeId>>,
}

impl Split {
    fn new(set: SchemaSet) -> Self {
        Self {
            set,
            relaxable: Vec::new(),
            fixed: HashSet::new(),
            holders: HashMap::new(),
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
        let any_of = |branches: &[NodeId]| Keywords {
            any_of: Some(branches.to_vec()),
            ..Keywords::default()
        };
        let any = self.add(location, any_of(&branches));
        keywords.all_of.push(any);
        if branches.len() > 1 {
            let not = Some(self.add(location, any_of(&branches)));
            let not = Keywords {
                not,
                ..Keywords::default()
            };
            let none = self.add(location, not);
            keywords.one_of = Some([&[none], &branches[..]].concat());
        }
    }

    fn finish(mut self, root: NodeId) -> Relaxable {
        let relaxable = std::mem::take(&mut self.relaxable);
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
        let (mut candidates, mut whole) = (Vec::new(), HashMap::new());
        for (original, mut body) in relaxable {
            let node = id_of(&original);
            let mut parts = Vec::new();
            if let Body::Keywords(keywords) = &mut body {
                visit(keywords, &mut |child, relaxes| {
                    if relaxes {
                        *child = id_of(child);
                    }
                });
                parts.extend(Part::ALL.into_iter().filter(|part| part.is_in(keywords)));
                if let Some(branches) = keywords.if_then_else {
                    parts.push(Part::If(self.evaluating(self.set.node(node).location, branches)));
                }
            }
            if matches!(body, Body::Nothing) {
                parts.push(Part::False);
            }
            let holders = self.holders.get(&original).into_iter().flatten();
            let holders: Vec<NodeId> = holders.map(id_of).collect();
            candidates.extend(parts.iter().map(|&part| Candidate {
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
        }
    }

    /// What asserts nothing, and evaluates at least as much as `if` with these branches.
    fn evaluating(&mut self, location: SchemaLocation, branches: (NodeId, Option<NodeId>, Option<NodeId>)) -> NodeId {
        let (condition, then, otherwise) = branches;
        let anything = self.set.push(Subschema {
            location,
            body: Body::Anything,
        });
        let mut any_of = vec![anything, condition];
        any_of.extend(otherwise);
        if let Some(then) = then {
            let both = Keywords {
                all_of: vec![condition, then],
                ..Keywords::default()
            };
            any_of.push(self.add(location, both));
        }
        let any_of = Some(any_of);
        self.add(
            location,
            Keywords {
                any_of,
                ..Keywords::default()
            },
        )
    }
}
