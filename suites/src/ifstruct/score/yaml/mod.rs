//! YAML 1.1 as PyYAML's `SafeLoader` reads it, except that dates stay strings.
//!
//! Events come from a port of libyaml; nodes, tags and values are made here. Nothing recurses: a collection is built when it
//! ends, and an alias can only stand for a node that has ended.

mod pyyaml_differences;
mod scalars;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use libyaml_safer::{Encoding, Event, EventData, MappingStyle, Parser, ScalarStyle, SequenceStyle};
use regex::Regex;

pub(super) use scalars::is_timestamp;

use super::datum::{BYTES_PER_VALUE, Content, Datum, Mapping};
use super::failure::{FailureKind, Unreadable};
use super::{MAX_JSON_DEPTH, MAX_VALUES};
use pyyaml_differences::YamlSource;
use scalars::Tag;

/// Reads the one document in `text`; null where it is empty.
///
/// # Errors
///
/// A text that PyYAML refuses; JSON and flow mappings ([`FailureKind::WrongFormat`]); aliases that stand for themselves, for
/// more than [`MAX_VALUES`] values, or for more than [`MAX_JSON_DEPTH`] levels.
pub(super) fn read(text: &str) -> Result<Rc<Datum>, Unreadable> {
    // The parser asserts what it takes for granted.
    let read = catch_unwind(AssertUnwindSafe(|| {
        let source = YamlSource::new(text);
        source.check()?;
        YamlReader::new(&source).document()
    }));
    read.unwrap_or_else(|_| Err(refused("the parser gave up")))
}

/// A node of the document; number in [`YamlReader::nodes`].
type Id = usize;

struct Node {
    tag: Tag,
    kind: NodeKind,
    value: Option<Rc<Datum>>,
}

enum NodeKind {
    /// The text, and whether it was resolved without quotes or tag.
    Scalar(String, bool),
    Sequence(Vec<Id>),
    /// Keys and values, with those of merge keys from the mapping's end on.
    Mapping(Vec<(Id, Id)>),
}

struct YamlReader<'s> {
    source: &'s YamlSource,
    nodes: Vec<Node>,
    anchors: HashMap<String, Id>,
    /// Collections that have not ended, with the key that waits for its value.
    open: Vec<(Id, Option<Id>)>,
    root: Option<Id>,
    is_json_like: bool,
    /// Sizes of the keys of all mappings, those that merge keys bring included: every mapping has copies of its keys' texts.
    keys_size: u64,
}

impl<'s> YamlReader<'s> {
    fn new(source: &'s YamlSource) -> Self {
        Self {
            source,
            nodes: Vec::new(),
            anchors: HashMap::new(),
            open: Vec::new(),
            root: None,
            is_json_like: false,
            keys_size: 0,
        }
    }

    fn document(mut self) -> Result<Rc<Datum>, Unreadable> {
        let mut bytes = self.source.text.as_bytes();
        let mut parser = Parser::new();
        parser.set_encoding(Encoding::Utf8);
        parser.set_input(&mut bytes);
        let mut documents = 0;
        loop {
            let event = parser.parse().map_err(|error| syntax(&error))?;
            match event.data {
                EventData::StreamEnd => break,
                EventData::DocumentStart { .. } => {
                    documents += 1;
                    if documents > 1 {
                        return Err(refused("there is more than one document"));
                    }
                }
                _ => self.add(event)?,
            }
        }
        let Some(root) = self.root else {
            return Ok(Datum::new(Content::Null));
        };
        let value = self.value(root)?;
        if self.is_json_like {
            let message = "JSON or flow mappings where YAML in block style was asked for";
            return Err(Unreadable::new(FailureKind::WrongFormat, message));
        }
        Ok(value)
    }

    fn add(&mut self, event: Event) -> Result<(), Unreadable> {
        let (anchor, tag, kind, flow) = match event.data {
            EventData::Alias { anchor } => {
                let Some(&id) = self.anchors.get(&anchor) else {
                    return Err(refused(&format!("the alias `*{anchor}` has no anchor")));
                };
                if self.open.iter().any(|&(open, _)| open == id) {
                    return Err(refused(&format!("`*{anchor}` stands for what it is in")));
                }
                return self.place(id);
            }
            EventData::Scalar {
                anchor,
                tag,
                value,
                plain_implicit,
                style,
                ..
            } => {
                let text = self.source.restore(value, style, event.end_mark);
                let named = tag.as_deref().filter(|tag| *tag != "!");
                let empty = text.is_empty() && style == ScalarStyle::Plain;
                let (tag, plain) = match named {
                    Some(tag) => (Tag::named(tag), false),
                    None if plain_implicit || empty => (Tag::of_plain(&text), style == ScalarStyle::Plain),
                    None => (Tag::Str, false),
                };
                return self.scalar(anchor, tag, text, plain);
            }
            EventData::SequenceStart { anchor, tag, style, .. } => {
                // A flow sequence is JSON at the root only; flow mappings are everywhere.
                let json = style == SequenceStyle::Flow && self.root.is_none() && self.open.is_empty();
                (
                    anchor,
                    tag.map_or(Tag::Seq, named_or(Tag::Seq)),
                    NodeKind::Sequence(Vec::new()),
                    json,
                )
            }
            EventData::MappingStart { anchor, tag, style, .. } => {
                let json = style == MappingStyle::Flow;
                (
                    anchor,
                    tag.map_or(Tag::Map, named_or(Tag::Map)),
                    NodeKind::Mapping(Vec::new()),
                    json,
                )
            }
            EventData::SequenceEnd | EventData::MappingEnd => {
                let Some((id, _)) = self.open.pop() else {
                    return Err(refused("a collection ends that did not begin"));
                };
                self.end(id)?;
                return self.place(id);
            }
            _ => return Ok(()),
        };
        self.is_json_like |= flow;
        let id = self.node(anchor, tag, kind)?;
        self.open.push((id, None));
        Ok(())
    }

    fn scalar(&mut self, anchor: Option<String>, tag: Tag, text: String, plain: bool) -> Result<(), Unreadable> {
        let id = self.node(anchor, tag, NodeKind::Scalar(text, plain))?;
        self.place(id)
    }

    fn node(&mut self, anchor: Option<String>, tag: Tag, kind: NodeKind) -> Result<Id, Unreadable> {
        let id = self.nodes.len();
        if let Some(anchor) = anchor {
            let again = format!("the anchor `&{anchor}` is given twice");
            if self.anchors.insert(anchor, id).is_some() {
                return Err(refused(&again));
            }
        }
        let value = None;
        self.nodes.push(Node { tag, kind, value });
        Ok(id)
    }

    /// Puts a whole node into the collection that is open.
    fn place(&mut self, id: Id) -> Result<(), Unreadable> {
        let Some((parent, key)) = self.open.last_mut() else {
            self.root = Some(id);
            return Ok(());
        };
        match &mut self.nodes[*parent].kind {
            NodeKind::Sequence(items) => items.push(id),
            NodeKind::Mapping(members) => match key.take() {
                Some(key) => members.push((key, id)),
                None => *key = Some(id),
            },
            NodeKind::Scalar(..) => return Err(refused("a scalar holds no other node")),
        }
        Ok(())
    }

    /// Makes the value of a collection that has ended. Its limits are checked here, before another value holds it: dropping a value recurses
    /// with its depth.
    fn end(&mut self, id: Id) -> Result<(), Unreadable> {
        let node = &self.nodes[id];
        let content = match (node.tag, &node.kind) {
            (Tag::Seq, NodeKind::Sequence(items)) => {
                let items = items.clone();
                Content::List(items.iter().map(|&item| self.value(item)).collect::<Result<_, _>>()?)
            }
            (Tag::Omap | Tag::Pairs, NodeKind::Sequence(items)) => {
                let items = items.clone();
                Content::List(items.iter().map(|&item| self.pair(item)).collect::<Result<_, _>>()?)
            }
            (Tag::Map | Tag::Set, NodeKind::Mapping(_)) => {
                let mapping = self.mapping(id)?;
                match self.nodes[id].tag {
                    Tag::Set => Content::Foreign("a set"),
                    _ => Content::Mapping(mapping),
                }
            }
            // `=` in a mapping can stand for the mapping where a scalar is wanted.
            (tag, NodeKind::Mapping(members)) => {
                let stands = |&&(key, _): &&(Id, Id)| self.nodes[key].tag == Tag::Value;
                match members.iter().find(stands).map(|&(_, value)| &self.nodes[value].kind) {
                    Some(NodeKind::Scalar(text, _)) => scalars::construct(tag, text)?,
                    _ => return Err(refused("a mapping does not fit its tag")),
                }
            }
            _ => return Err(refused("a collection does not fit its tag")),
        };
        let value = Datum::new(content);
        if value.size > MAX_VALUES {
            return Err(too_large());
        }
        if value.depth > MAX_JSON_DEPTH {
            return Err(too_deep());
        }
        self.nodes[id].value = Some(value);
        Ok(())
    }

    /// An item of an ordered map, which is one that no schema describes.
    fn pair(&mut self, id: Id) -> Result<Rc<Datum>, Unreadable> {
        match &self.nodes[id].kind {
            NodeKind::Mapping(members) if members.len() == 1 => Ok(Datum::new(Content::Foreign("a pair"))),
            _ => Err(refused("an item of an ordered map is not a mapping of one member")),
        }
    }

    fn mapping(&mut self, id: Id) -> Result<Mapping, Unreadable> {
        let NodeKind::Mapping(own) = &self.nodes[id].kind else {
            return Err(refused("a mapping does not fit its tag"));
        };
        let mut merged = Vec::new();
        let mut explicit = Vec::with_capacity(own.len());
        for &(key, value) in own {
            match self.nodes[key].tag {
                Tag::Merge => self.merge(value, &mut merged)?,
                _ => explicit.push((key, value)),
            }
            if self.keys_size + merged.len() as u64 > MAX_VALUES {
                return Err(too_large());
            }
        }
        let mut mapping = Mapping::default();
        let mut written = HashSet::new();
        let brought = merged.len();
        let all: Vec<(Id, Id)> = merged.into_iter().chain(explicit).collect();
        for (number, &(key, value)) in all.iter().enumerate() {
            if self.nodes[key].tag == Tag::Value {
                self.nodes[key].tag = Tag::Str;
            }
            let key = self.value(key)?;
            if matches!(
                key.content,
                Content::List(_) | Content::Mapping(_) | Content::Foreign("a set")
            ) {
                return Err(refused("a collection cannot be the key of a mapping"));
            }
            self.keys_size += key.size;
            if self.keys_size > MAX_VALUES {
                return Err(too_large());
            }
            let value = self.value(value)?;
            let position = mapping.insert(Rc::clone(&key), value);
            if number >= brought && !written.insert(position) {
                mapping.note_repeated(&key);
            }
        }
        self.nodes[id].kind = NodeKind::Mapping(all);
        Ok(mapping)
    }

    /// Adds to `merged` the members that a merge key with the value `id` brings; of mappings in a list the earlier ones win.
    fn merge(&self, id: Id, merged: &mut Vec<(Id, Id)>) -> Result<(), Unreadable> {
        let misfit = || refused("a merge key takes a mapping or a list of mappings");
        match &self.nodes[id].kind {
            NodeKind::Mapping(members) => merged.extend(members),
            NodeKind::Sequence(items) => {
                for &item in items.iter().rev() {
                    let NodeKind::Mapping(members) = &self.nodes[item].kind else {
                        return Err(misfit());
                    };
                    merged.extend(members);
                    if merged.len() > MAX_VALUES as usize {
                        return Err(too_large());
                    }
                }
            }
            NodeKind::Scalar(..) => return Err(misfit()),
        }
        Ok(())
    }

    /// The value of a node that has ended.
    fn value(&mut self, id: Id) -> Result<Rc<Datum>, Unreadable> {
        let node = &mut self.nodes[id];
        if let Some(value) = &node.value {
            return Ok(Rc::clone(value));
        }
        let NodeKind::Scalar(text, plain) = &node.kind else {
            return Err(refused("a collection has not ended"));
        };
        let content = scalars::construct(node.tag, text)?;
        let value = Datum::with_plain(content, plain.then(|| text.as_str().into()));
        node.value = Some(Rc::clone(&value));
        Ok(value)
    }
}

/// Returns a function from a tag's name to the tag, which gives `default` for `!`.
fn named_or(default: Tag) -> impl Fn(String) -> Tag {
    move |tag| match tag.as_str() {
        "!" => default,
        tag => Tag::named(tag),
    }
}

fn refused(message: &str) -> Unreadable {
    Unreadable::new(FailureKind::Syntax, format!("YAML: {message}"))
}

fn too_large() -> Unreadable {
    let message = format!(
        "YAML: with its aliases the document has more than {MAX_VALUES} values, {BYTES_PER_VALUE} bytes of text counted as one"
    );
    Unreadable::new(FailureKind::TooLarge, message)
}

fn too_deep() -> Unreadable {
    let message = format!("YAML: with its aliases more than {MAX_JSON_DEPTH} levels deep");
    Unreadable::new(FailureKind::TooDeep, message)
}

fn syntax(error: &libyaml_safer::Error) -> Unreadable {
    let place = error
        .problem_mark()
        .map(|mark| format!(", line {}, column {}", mark.line + 1, mark.column + 1));
    let message = format!("YAML{}: {}", place.unwrap_or_default(), error.problem());
    Unreadable::new(FailureKind::Syntax, message)
}

#[expect(clippy::expect_used, reason = "the patterns are constants")]
fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}
