//! [`ValuePlaces`]: the values that a schema speaks of, each with the subschemas that apply to it.
//!
//! A value is the root, a member or an item. All subschemas that surely apply to it are taken together, so that a member which a base
//! declares as a string and an extension as a constant is one value and no longer one of two. Where a branch of `anyOf`, `oneOf` or
//! `if` applies, the members and items are those of each branch in turn, together with the keywords outside of the branches.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::automaton::ValueFacts;
use crate::schema::{Body, Keywords, NodeId, SchemaSet};

/// Maximal number of combinations of branches for one value; where there are more, the remaining branches are taken one by one.
const MAX_CHOICES: usize = 64;

/// Maximal number of combinations visited for one value, those with one branch of many unions included.
const MAX_WAYS: usize = 512;

/// Members of one value of which the subschemas of several others are collected.
const MAX_MEMBERS: usize = 10_000;

/// A value of which a schema speaks.
pub(super) struct ValuePlace {
    /// The subschema by which it is found first.
    pub first: NodeId,
    /// All subschemas that surely apply to it.
    pub nodes: Vec<NodeId>,
    /// The subschemas that may apply to the value, once for each way to choose branches of unions; at least one way applies.
    pub ways: Vec<ValueFacts>,
}

/// The values of a schema, in the order of a walk from the root.
pub(super) struct ValuePlaces<'s> {
    set: &'s SchemaSet,
    seen: HashSet<Vec<NodeId>>,
    left: VecDeque<Vec<NodeId>>,
    /// Whether every value so far has been visited with all branches and members.
    pub is_complete: bool,
    /// Number of declared members looked at, those of each choice of branches counted.
    pub looks: usize,
}

impl<'s> ValuePlaces<'s> {
    pub fn new(set: &'s SchemaSet) -> Self {
        let root = vec![set.root()];
        Self {
            set,
            seen: HashSet::from([root.clone()]),
            left: VecDeque::from([root]),
            is_complete: true,
            looks: 0,
        }
    }

    /// The next value.
    pub fn next(&mut self) -> Option<ValuePlace> {
        let nodes = self.left.pop_front()?;
        let first = *nodes.first()?;
        let choices = self.choices(&nodes);
        choices.iter().for_each(|choice| self.add_children(choice));
        let ways = choices.iter().map(|choice| {
            let mut facts = ValueFacts {
                nodes: choice.clone(),
                free_items_from: Some(0),
                ..ValueFacts::default()
            };
            for keywords in choice.iter().filter_map(|node| keywords_of(self.set, *node)) {
                facts.add(keywords);
            }
            facts
        });
        let mut ways: Vec<ValueFacts> = ways.collect();
        if let [only] = &mut ways[..] {
            only.nodes.clone_from(&nodes);
        }
        Some(ValuePlace { first, nodes, ways })
    }

    /// The sets of subschemas that may apply to a value together: all that surely apply, and one branch of each union.
    fn choices(&mut self, nodes: &[NodeId]) -> Vec<Vec<NodeId>> {
        let set = self.set;
        let (mut done, mut open) = (Vec::new(), vec![Choice::of(set, nodes)]);
        while let Some(mut choice) = open.pop() {
            let Some(union) = choice.unions.pop() else {
                done.push(choice.applied);
                continue;
            };
            let with = |branch: &[NodeId]| {
                let mut with = choice.clone();
                branch.iter().for_each(|node| with.add(set, *node));
                with
            };
            if done.len() + open.len() + union.len() <= MAX_CHOICES {
                // The branch that is written first comes first.
                open.extend(union.iter().rev().map(|branch| with(branch)));
                continue;
            }
            let left = choice.unions.iter().flatten();
            for branch in union.iter().chain(left) {
                if done.len() >= MAX_WAYS {
                    self.is_complete = false;
                    break;
                }
                done.push(with(branch).applied);
            }
        }
        done
    }

    /// Adds the members and items of a value to which some subschemas apply.
    fn add_children(&mut self, applied: &[NodeId]) {
        let set = self.set;
        let keywords: Vec<&Keywords> = applied.iter().filter_map(|node| keywords_of(set, *node)).collect();
        let declared = keywords.iter().map(|one| {
            let properties = one.properties.iter();
            properties.map(|(name, node)| (name.as_str(), *node)).collect()
        });
        let declared: Vec<HashMap<&str, NodeId>> = declared.collect();
        self.is_complete &= declared.iter().all(|declared| declared.len() <= MAX_MEMBERS);
        self.looks += declared.iter().map(HashMap::len).sum::<usize>();
        let mut named = HashSet::new();
        let names = keywords
            .iter()
            .flat_map(|one| &one.properties)
            .map(|(name, _)| name.as_str());
        for name in names.filter(|name| named.insert(*name)).take(MAX_MEMBERS) {
            let member = keywords.iter().zip(&declared).filter_map(|(one, declared)| {
                let otherwise = one.additional_properties.filter(|_| one.pattern_properties.is_empty());
                declared.get(name).copied().or(otherwise)
            });
            self.add(member.collect());
        }
        for one in &keywords {
            let others = one.pattern_properties.iter().map(|(_, node)| *node);
            let others = others
                .chain(one.additional_properties)
                .chain(one.unevaluated_properties);
            let others = others.chain(one.unevaluated_items);
            others.for_each(|node| self.add(vec![node]));
        }
        let listed = keywords.iter().map(|one| one.prefix_items.len()).max().unwrap_or(0);
        for at in 0..=listed.min(MAX_MEMBERS) {
            let item = keywords
                .iter()
                .filter_map(|one| one.prefix_items.get(at).copied().or(one.items));
            self.add(item.collect());
        }
    }

    fn add(&mut self, mut nodes: Vec<NodeId>) {
        let mut own = HashSet::new();
        nodes.retain(|node| own.insert(*node));
        if !nodes.is_empty() && self.seen.insert(nodes.clone()) {
            self.left.push_back(nodes);
        }
    }
}

/// Subschemas that apply to a value together.
#[derive(Clone, Default)]
struct Choice {
    applied: Vec<NodeId>,
    seen: HashSet<NodeId>,
    /// Unions of these subschemas of which no branch has been chosen yet.
    unions: Vec<Vec<Vec<NodeId>>>,
}

impl Choice {
    fn of(set: &SchemaSet, nodes: &[NodeId]) -> Self {
        let mut choice = Self::default();
        nodes.iter().for_each(|node| choice.add(set, *node));
        choice
    }

    /// Adds a subschema, and those that apply where it does.
    fn add(&mut self, set: &SchemaSet, node: NodeId) {
        let mut left = vec![node];
        while let Some(node) = left.pop() {
            if !self.seen.insert(node) {
                continue;
            }
            self.applied.push(node);
            if let Some(keywords) = keywords_of(set, node) {
                left.extend(keywords.all_of.iter().chain(&keywords.refs));
                self.unions.extend(unions_of(keywords));
            }
        }
    }
}

impl ValueFacts {
    fn add(&mut self, keywords: &Keywords) {
        self.names
            .extend(keywords.properties.iter().map(|(name, _)| name.clone()));
        self.patterns
            .extend(keywords.pattern_properties.iter().map(|(pattern, _)| pattern.clone()));
        // A value that `const` or `enum` lists is not free.
        let is_listed = keywords.values.is_some();
        self.speaks_of_others |=
            is_listed || keywords.additional_properties.is_some() || keywords.unevaluated_properties.is_some();
        self.speaks_of_other_names |= is_listed || keywords.speak_of_other_keys();
        let speaks_of_items = is_listed || keywords.items.is_some() || keywords.unevaluated_items.is_some();
        let listed = keywords.prefix_items.len() as u64;
        self.free_items_from = match speaks_of_items {
            true => None,
            false => self.free_items_from.map(|from| from.max(listed)),
        };
    }
}

fn keywords_of(set: &SchemaSet, node: NodeId) -> Option<&Keywords> {
    match &set.node(node).body {
        Body::Keywords(keywords) => Some(keywords),
        Body::Anything | Body::Nothing => None,
    }
}

/// The unions of a subschema: for each the branches of which a value satisfies one, as the subschemas that apply then.
fn unions_of(keywords: &Keywords) -> Vec<Vec<Vec<NodeId>>> {
    let branches = keywords.any_of.iter().chain(&keywords.one_of);
    let mut unions: Vec<Vec<Vec<NodeId>>> = branches
        .map(|branches| branches.iter().map(|branch| vec![*branch]).collect())
        .collect();
    if let Some((condition, then, otherwise)) = keywords.if_then_else {
        let holds = [Some(condition), then].into_iter().flatten().collect();
        unions.push(vec![holds, otherwise.into_iter().collect()]);
    }
    let dependent = keywords.dependent_schemas.iter();
    unions.extend(dependent.map(|(_, schema)| vec![vec![*schema], Vec::new()]));
    unions
}
