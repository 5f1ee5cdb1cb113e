//! JSON texts as flat arenas: exact numbers, member order and places kept, duplicate names refused.
//!
//! A parsed `serde_json::Value` would lose the digits of large numbers, hide duplicate names, and recurse on the
//! native stack over the nesting of untrusted input. Here a text becomes a [`Document`]: its values in the order of the
//! text, each knowing how many nodes its subtree takes, so that every walk is a loop.

mod error;
mod parse;
mod strings;
#[cfg(test)]
mod tests;
mod value;

use std::borrow::Cow;
use std::collections::HashMap;

pub(crate) use error::{ParseError, ParseErrorKind, line_and_column};
pub(crate) use strings::{push_escaped, unquoted};
#[allow(unused_imports, reason = "the constraint compiler walks values")]
pub(crate) use value::{Shape, Value, ValueRef};

/// Index of a value (or a member's name) in a [`Document`]; 0 is the root.
pub(crate) type NodeIndex = u32;

/// Objects and arrays with more members or items than this have an index for finding one.
const INDEXED_FROM: u32 = 8;

/// A JSON text, parsed.
#[derive(Debug)]
pub(crate) struct Document {
    text: Box<str>,
    /// The characters of all strings that are spelled with escapes.
    decoded: String,
    /// Values in the order of the text. An object's members are its name (a string) and its value in turn.
    nodes: Vec<Node>,
    /// Names of the members of each large object, sorted.
    sorted_names: HashMap<NodeIndex, Box<[NodeIndex]>>,
    /// Items of each large array.
    item_lists: HashMap<NodeIndex, Box<[NodeIndex]>>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: NodeKind,
    /// Strings: span in the text or in `decoded`. Numbers: span in the text. Containers: `start` is the place of
    /// the opening bracket in the text and `end` the number of items or members.
    start: u32,
    end: u32,
    /// Number of nodes in this subtree, itself included.
    size: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeKind {
    Null,
    False,
    True,
    Number,
    String,
    EscapedString,
    Array,
    Object,
}

/// The content of a value; containers are walked with [`Document::items`] and [`Document::members`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content<'a> {
    Null,
    Bool(bool),
    /// The number as spelled.
    Number(&'a str),
    /// The decoded characters.
    String(&'a str),
    /// Number of items.
    Array(u32),
    /// Number of members.
    Object(u32),
}

impl Content<'_> {
    /// The kind of value, in words for messages.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

impl Document {
    /// Bytes of memory that the document takes.
    pub(crate) fn memory(&self) -> usize {
        let lists = self.sorted_names.values().chain(self.item_lists.values());
        let lists = lists.map(|list| size_of::<(NodeIndex, Box<[NodeIndex]>)>() + size_of_val(&**list));
        self.text.len() + self.decoded.capacity() + self.nodes.capacity() * size_of::<Node>() + lists.sum::<usize>()
    }

    /// Number of nodes; indices are below it.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn content(&self, index: NodeIndex) -> Content<'_> {
        let node = self.nodes[index as usize];
        match node.kind {
            NodeKind::Null => Content::Null,
            NodeKind::False => Content::Bool(false),
            NodeKind::True => Content::Bool(true),
            NodeKind::Number => Content::Number(&self.text[node.start as usize..node.end as usize]),
            NodeKind::String | NodeKind::EscapedString => Content::String(self.characters(node)),
            NodeKind::Array => Content::Array(node.end),
            NodeKind::Object => Content::Object(node.end),
        }
    }

    /// Bytes of the text at which the value at `index` begins and ends, for numbers; for arrays and objects, where the
    /// opening bracket stands, twice.
    pub fn span(&self, index: NodeIndex) -> std::ops::Range<usize> {
        let node = self.nodes[index as usize];
        match node.kind {
            NodeKind::Number => node.start as usize..node.end as usize,
            _ => node.start as usize..node.start as usize,
        }
    }

    /// The string at `index`, if it is one.
    pub fn string(&self, index: NodeIndex) -> Option<&str> {
        match self.content(index) {
            Content::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn is_object(&self, index: NodeIndex) -> bool {
        self.nodes[index as usize].kind == NodeKind::Object
    }

    /// The items of an array, in order; nothing for other values.
    pub fn items(&self, index: NodeIndex) -> impl Iterator<Item = NodeIndex> + Clone + '_ {
        let node = self.nodes[index as usize];
        let count = if node.kind == NodeKind::Array { node.end } else { 0 };
        let mut next = index + 1;
        (0..count).map(move |_| {
            let item = next;
            next += self.nodes[item as usize].size;
            item
        })
    }

    /// Names and values of an object's members, in order; nothing for other values.
    pub fn members(&self, index: NodeIndex) -> impl Iterator<Item = (&str, NodeIndex)> + Clone + '_ {
        let node = self.nodes[index as usize];
        let count = if node.kind == NodeKind::Object { node.end } else { 0 };
        let mut next = index + 1;
        (0..count).map(move |_| {
            let (name, value) = (next, next + 1);
            next = value + self.nodes[value as usize].size;
            (self.characters(self.nodes[name as usize]), value)
        })
    }

    /// The value of the member `name` of the object at `index`.
    pub fn member(&self, index: NodeIndex, name: &str) -> Option<NodeIndex> {
        if let Some(names) = self.sorted_names.get(&index) {
            let position = names
                .binary_search_by(|&candidate| self.name(candidate).cmp(name))
                .ok()?;
            return Some(names[position] + 1);
        }
        self.members(index)
            .find(|&(candidate, _)| candidate == name)
            .map(|(_, value)| value)
    }

    /// The item `position` of the array at `index`.
    pub fn item(&self, index: NodeIndex, position: usize) -> Option<NodeIndex> {
        match self.item_lists.get(&index) {
            Some(items) => items.get(position).copied(),
            None => self.items(index).nth(position),
        }
    }

    /// JSON Pointer to the value at `index`. It walks down from the root, past the members before each value: meant for error messages.
    pub fn pointer(&self, index: NodeIndex) -> String {
        let mut pointer = String::new();
        let mut at = 0;
        while at != index {
            let holds = |child: NodeIndex| index >= child && index - child < self.nodes[child as usize].size;
            let item = match self.item_lists.get(&at) {
                Some(items) => {
                    let position = items.partition_point(|item| *item <= index).saturating_sub(1);
                    Some((position, items[position]))
                }
                None => self.items(at).enumerate().find(|&(_, item)| holds(item)),
            };
            if let Some((position, item)) = item {
                pointer.push_str(&format!("/{position}"));
                at = item;
            } else if let Some((name, value)) = self.members(at).find(|&(_, value)| holds(value)) {
                push_token(&mut pointer, name);
                at = value;
            } else {
                // A member's name: its object is the nearest value that holds it.
                break;
            }
        }
        pointer
    }

    /// The value at `index` as JSON on one line, if that takes `most` bytes at most.
    pub fn compact(&self, index: NodeIndex, most: usize) -> Option<String> {
        enum Task<'d> {
            Value(NodeIndex),
            Text(&'d str),
            String(&'d str),
        }
        let mut text = String::new();
        let mut tasks = vec![Task::Value(index)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Text(more) => text.push_str(more),
                Task::String(characters) => push_string(&mut text, characters),
                Task::Value(index) => match self.content(index) {
                    Content::Null => text.push_str("null"),
                    Content::Bool(value) => text.push_str(if value { "true" } else { "false" }),
                    Content::Number(number) => text.push_str(number),
                    Content::String(characters) => push_string(&mut text, characters),
                    Content::Array(count) | Content::Object(count) if count as usize > most => return None,
                    Content::Array(_) => {
                        let from = tasks.len();
                        tasks.push(Task::Text("["));
                        for (position, item) in self.items(index).enumerate() {
                            tasks.extend((position > 0).then_some(Task::Text(", ")));
                            tasks.push(Task::Value(item));
                        }
                        tasks.push(Task::Text("]"));
                        tasks[from..].reverse();
                    }
                    Content::Object(_) => {
                        let from = tasks.len();
                        tasks.push(Task::Text("{"));
                        for (position, (name, value)) in self.members(index).enumerate() {
                            tasks.extend((position > 0).then_some(Task::Text(", ")));
                            tasks.extend([Task::String(name), Task::Text(": "), Task::Value(value)]);
                        }
                        tasks.push(Task::Text("}"));
                        tasks[from..].reverse();
                    }
                },
            }
            if text.len() > most {
                return None;
            }
        }
        Some(text)
    }

    fn characters(&self, node: Node) -> &str {
        let source = if node.kind == NodeKind::EscapedString {
            &self.decoded
        } else {
            &*self.text
        };
        &source[node.start as usize..node.end as usize]
    }

    fn name(&self, index: NodeIndex) -> &str {
        self.characters(self.nodes[index as usize])
    }
}

/// Appends a string in its quotes, with escapes where RFC 8259 demands them.
pub(crate) fn push_string(text: &mut String, characters: &str) {
    text.push('"');
    characters.chars().for_each(|character| push_escaped(text, character));
    text.push('"');
}

/// The name that a part of a JSON Pointer stands for: `~1` is `/`, and `~0` is `~`.
pub(crate) fn unescaped_token(token: &str) -> Cow<'_, str> {
    match token.contains('~') {
        true => Cow::Owned(token.replace("~1", "/").replace("~0", "~")),
        false => Cow::Borrowed(token),
    }
}

/// Appends `/name` to a JSON Pointer, with `~` and `/` escaped.
pub(crate) fn push_token(pointer: &mut String, name: &str) {
    pointer.push('/');
    for character in name.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}
