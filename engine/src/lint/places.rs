//! [`Places`]: all schemas within a text, found without following references to other documents.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use super::resources::Resources;
use crate::json::{Content, Document, NodeIndex, push_token, unescaped_token};
use crate::schema::{Dialect, Draft, Holds, Keyword, SchemaOptions, begins_resource, decoded_fragment, split_fragment};

/// A schema in the text: an object.
#[derive(Clone, Copy)]
pub(super) struct Place<'d> {
    pub number: usize,
    pub index: NodeIndex,
    pub dialect: Dialect,
    /// Whether unknown keywords may be those of a meta-schema that is not known here.
    pub has_own_keywords: bool,
    pub json: &'d Document,
}

impl<'d> Place<'d> {
    /// The value of a keyword, whatever the draft.
    pub fn value(&self, name: &str) -> Option<NodeIndex> {
        self.json.member(self.index, name)
    }

    /// The members in the order of the text.
    pub fn members(&self) -> impl Iterator<Item = (&'d str, NodeIndex)> + use<'d> {
        self.json.members(self.index)
    }

    /// The keyword that a name is in the dialect of this place.
    pub fn keyword(&self, name: &str) -> Option<Keyword> {
        Keyword::lookup(name, self.dialect)
    }

    /// Whether the dialect has the keyword `name` and the schema says something by it.
    pub fn has(&self, name: &str) -> bool {
        self.keyword(name).is_some() && self.value(name).is_some()
    }

    /// Whether the dialect has the keyword `name` and it does more than hold definitions or identify the schema.
    pub fn asserts(&self, name: &str) -> bool {
        let is_container = |keyword: Keyword| {
            matches!(
                keyword,
                Keyword::Definitions
                    | Keyword::Id
                    | Keyword::Schema
                    | Keyword::Anchor
                    | Keyword::DynamicAnchor
                    | Keyword::RecursiveAnchor
            )
        };
        self.keyword(name).is_some_and(|keyword| !is_container(keyword))
    }

    /// Whether a `$ref` hides all that stands beside it.
    pub fn is_hidden(&self) -> bool {
        self.dialect.draft.ref_hides_siblings() && self.value("$ref").is_some_and(|at| self.json.string(at).is_some())
    }

    /// Whether this is the schema itself, rather than a part of it.
    pub fn is_root(&self) -> bool {
        self.number == 0
    }
}

/// A schema, and how the walk came to it.
#[derive(Clone, Copy)]
struct Step<'d> {
    index: NodeIndex,
    dialect: Dialect,
    has_own_keywords: bool,
    /// The schema around it; none for the root and for schemas that only a reference leads to.
    parent: Option<usize>,
    /// The resource that it belongs to.
    resource: NodeIndex,
    /// The reference that led to the schema, where there is no schema around it.
    reference: Option<Reference<'d>>,
    keyword: &'d str,
    within: Within<'d>,
}

/// A JSON Pointer within a resource.
#[derive(Clone, Copy)]
struct Reference<'d> {
    resource: NodeIndex,
    pointer: &'d str,
    /// Whether the pointer is the fragment of a URI, in which characters may be percent-encoded.
    is_fragment: bool,
}

impl Step<'_> {
    /// Takes the dialect that the schema names by `$schema`, if it names one.
    fn take_dialect(&mut self, options: &SchemaOptions, json: &Document) {
        let named = json.member(self.index, "$schema").and_then(|at| json.string(at));
        match named.map(Draft::from_meta_schema) {
            Some(Some(draft)) => self.dialect = dialect(draft, options),
            Some(None) => self.has_own_keywords = true,
            None => {}
        }
    }
}

/// The dialect of a draft under the options.
fn dialect(draft: Draft, options: &SchemaOptions) -> Dialect {
    Dialect {
        legacy_dependencies: options.legacy_dependencies,
        ..Dialect::of_draft(draft)
    }
}

impl<'d> Reference<'d> {
    fn decoded(self) -> Cow<'d, str> {
        match self.is_fragment {
            true => decoded_fragment(self.pointer),
            false => Cow::Borrowed(self.pointer),
        }
    }
}

#[derive(Clone, Copy)]
enum Within<'d> {
    Value,
    Member(&'d str),
    Item(usize),
}

/// Every schema in a text, the root first, each once.
pub(super) struct Places<'d> {
    json: &'d Document,
    steps: Vec<Step<'d>>,
    /// Values that references lead to, and the values around these in the same resource.
    referenced: HashSet<NodeIndex>,
    resources: Resources,
    /// The numbers of the schemas that begin a resource.
    beginnings: HashMap<NodeIndex, usize>,
}

impl<'d> Places<'d> {
    /// The schemas of a text, from a root on, which is given by its JSON Pointer.
    pub fn of(json: &'d Document, options: &SchemaOptions, root: &'d str) -> Self {
        // The resources are known after one walk, and the targets of references by their URIs after another.
        let first = Self::within(json, options, root, Resources::default());
        match first.resources.are_named() {
            true => Self::within(json, options, root, first.resources),
            false => first,
        }
    }

    fn within(json: &'d Document, options: &SchemaOptions, root: &'d str, resources: Resources) -> Self {
        let mut places = Self {
            json,
            steps: Vec::new(),
            referenced: HashSet::new(),
            resources,
            beginnings: HashMap::new(),
        };
        let named = Draft::dialect_of_document(json).map(|(_, named)| Draft::from_meta_schema(named));
        let of_document = || Draft::of_document(json).unwrap_or(options.default_draft);
        let reference = Reference {
            resource: 0,
            pointer: root,
            is_fragment: false,
        };
        let mut document = Step {
            index: 0,
            dialect: dialect(named.flatten().unwrap_or_else(of_document), options),
            has_own_keywords: json.member(0, "$vocabulary").is_some() || named == Some(None),
            parent: None,
            resource: 0,
            reference: Some(reference),
            keyword: "",
            within: Within::Value,
        };
        document.take_dialect(options, json);
        places.resources.enter(json, 0, 0, document.dialect);
        let root = match root {
            "" => Some(0),
            _ => places.follow(reference),
        };
        let mut seen = HashSet::new();
        // What a reference leads to comes last: it is read in the dialect of its own resource.
        let (mut open, mut referenced) = (Vec::new(), VecDeque::new());
        open.extend(root.map(|index| Step { index, ..document }));
        while let Some(mut step) = open.pop().or_else(|| referenced.pop_front()) {
            if let Some(reference) = step.reference
                && let Some(&beginning) = places.beginnings.get(&reference.resource)
            {
                let beginning = places.steps[beginning];
                (step.dialect, step.has_own_keywords) = (beginning.dialect, beginning.has_own_keywords);
            }
            if !json.is_object(step.index) || !seen.insert(step.index) {
                continue;
            }
            // As the schema is read: `$schema` counts at the root of a resource only.
            let outer = step.dialect;
            if step.index == 0 || begins_resource(json, step.index, outer) {
                step.take_dialect(options, json);
            }
            step.resource = places.resources.enter(json, step.index, step.resource, outer);
            if step.resource == step.index {
                places.beginnings.insert(step.index, places.steps.len());
            }
            places.steps.push(step);
            let first = open.len();
            places.collect(places.steps.len() - 1, &mut open, &mut referenced);
            open[first..].reverse();
        }
        places
    }

    /// The schemas directly in the one of a number, and those that its references lead to.
    fn collect(&mut self, number: usize, open: &mut Vec<Step<'d>>, referenced: &mut VecDeque<Step<'d>>) {
        let (json, place, own) = (self.json, self.get(number), self.steps[number].resource);
        let child = |keyword, index, within| Step {
            index,
            parent: Some(number),
            resource: own,
            reference: None,
            keyword,
            within,
            dialect: place.dialect,
            has_own_keywords: place.has_own_keywords,
        };
        for (name, value) in place.members() {
            let Some(keyword) = place.keyword(name) else { continue };
            if matches!(keyword, Keyword::Ref | Keyword::DynamicRef)
                && let Some(reference) = json.string(value)
                && let Some((resource, pointer)) = self.resources.target(reference, own)
            {
                let reference = Reference {
                    resource,
                    pointer,
                    is_fragment: true,
                };
                // A schema that begins a resource has a place of its own.
                let Some(target) = self.follow(reference).filter(|target| *target != resource) else {
                    continue;
                };
                referenced.push_back(Step {
                    index: target,
                    parent: None,
                    resource,
                    reference: Some(reference),
                    keyword: "",
                    within: Within::Value,
                    dialect: place.dialect,
                    has_own_keywords: place.has_own_keywords,
                });
            }
            if place.is_hidden() && keyword != Keyword::Definitions {
                continue;
            }
            match keyword.holds(place.dialect.draft) {
                Holds::Nothing => {}
                Holds::One => open.push(child(name, value, Within::Value)),
                Holds::OneOrArray if json.is_object(value) => open.push(child(name, value, Within::Value)),
                Holds::Array | Holds::OneOrArray => {
                    let items = json.items(value).enumerate();
                    open.extend(items.map(|(position, item)| child(name, item, Within::Item(position))));
                }
                Holds::Map => {
                    let members = json.members(value);
                    open.extend(members.map(|(member, schema)| child(name, schema, Within::Member(member))));
                }
            }
        }
    }

    /// The value that a JSON Pointer within a resource leads to; none of anchors and of other documents.
    fn follow(&mut self, reference: Reference<'_>) -> Option<NodeIndex> {
        let path = path_from(self.json, reference.resource, &reference.decoded())?;
        self.referenced.extend(&path);
        path.last().copied()
    }

    /// The number of the schema in the document's own resource that has an anchor.
    fn anchored(&self, name: &str) -> Option<usize> {
        (0..self.len()).find(|&number| {
            let place = self.get(number);
            let text = |keyword: &str| place.value(keyword).and_then(|at| self.json.string(at));
            let is_anchor = |keyword: &&str| place.has(keyword) && text(keyword) == Some(name);
            let has_name = match place.dialect.draft.ref_hides_siblings() {
                true => text(place.dialect.draft.id_keyword())
                    .is_some_and(|id| decoded_fragment(split_fragment(id).1) == name),
                false => ["$anchor", "$dynamicAnchor"].iter().any(is_anchor),
            };
            self.steps[number].resource == 0 && has_name
        })
    }

    pub fn len(&self) -> usize {
        self.steps.len()
    }

    pub fn get(&self, number: usize) -> Place<'d> {
        let step = &self.steps[number];
        Place {
            number,
            index: step.index,
            dialect: step.dialect,
            has_own_keywords: step.has_own_keywords,
            json: self.json,
        }
    }

    /// The value that a reference in the schema of a number leads to; none of anchors, of other resources and of other documents.
    pub fn target(&self, number: usize, reference: &str) -> Option<NodeIndex> {
        let own = self.steps[number].resource;
        let target = self.resources.target(reference, own);
        let (_, pointer) = target.filter(|(resource, _)| *resource == own)?;
        let path = path_from(self.json, own, &decoded_fragment(pointer))?;
        path.last().copied()
    }

    /// Whether a reference leads to a value or into it.
    pub fn is_referenced(&self, index: NodeIndex) -> bool {
        self.referenced.contains(&index)
    }

    /// JSON Pointer to the schema of a number.
    pub fn pointer(&self, number: usize) -> String {
        let (mut ways, mut at) = (Vec::new(), number);
        // A reference leads into its resource, whose beginning has a place of its own.
        loop {
            let step = self.steps[at];
            match (step.parent, step.reference) {
                (Some(parent), _) => {
                    ways.push(Way::Keyword(step));
                    at = parent;
                }
                (None, Some(reference)) => {
                    ways.push(Way::Pointer(reference));
                    match self.beginnings.get(&reference.resource) {
                        Some(beginning) if reference.resource != 0 && *beginning != at => at = *beginning,
                        _ => break,
                    }
                }
                (None, None) => break,
            }
        }
        let mut pointer = String::new();
        for way in ways.into_iter().rev() {
            match way {
                Way::Pointer(reference) => pointer.push_str(&reference.decoded()),
                Way::Keyword(step) => {
                    push_token(&mut pointer, step.keyword);
                    match step.within {
                        Within::Value => {}
                        Within::Member(name) => push_token(&mut pointer, name),
                        Within::Item(position) => push_token(&mut pointer, &position.to_string()),
                    }
                }
            }
        }
        pointer
    }
}

/// A part of the way from the root to a schema.
enum Way<'d> {
    Keyword(Step<'d>),
    Pointer(Reference<'d>),
}

/// JSON Pointer to the root that the options name by a pointer or an anchor; none of an anchor that no schema has.
pub(super) fn root(json: &Document, options: &SchemaOptions) -> Option<String> {
    let name = match options.root.strip_prefix('#') {
        Some(fragment) => decoded_fragment(fragment),
        None => Cow::Borrowed(&*options.root),
    };
    if name.is_empty() || name.starts_with('/') {
        return Some(name.into_owned());
    }
    let whole = Places::of(json, options, "");
    whole.anchored(&name).map(|number| whole.pointer(number))
}

/// The values that a JSON Pointer passes from a value on, this first and its target last; none if it leads nowhere.
fn path_from(json: &Document, from: NodeIndex, pointer: &str) -> Option<Vec<NodeIndex>> {
    let mut path = vec![from];
    let tokens = match pointer {
        "" => None,
        _ => Some(pointer.strip_prefix('/')?.split('/')),
    };
    for token in tokens.into_iter().flatten() {
        let name = unescaped_token(token);
        let at = *path.last()?;
        let next = match json.content(at) {
            Content::Object(_) => json.member(at, &name),
            Content::Array(_) => name.parse().ok().and_then(|position| json.item(at, position)),
            _ => None,
        };
        path.push(next?);
    }
    Some(path)
}
