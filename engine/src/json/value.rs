//! JSON values independent of their spelling, as `const`, `enum` and `uniqueItems` compare them.

use crate::decimal::{Decimal, DecimalError};

use super::{Content, Document, NodeIndex};

/// A JSON value in canonical form: equal values are equal structures, so `Eq` and `Hash` are JSON Schema's equality.
///
/// Numbers are [`Decimal`]s and the members of objects are sorted by name. The value is flat, in pre-order: neither
/// comparing nor dropping one recurses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Value {
    nodes: Box<[Flat]>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Flat {
    Null,
    Bool(bool),
    Number(Decimal),
    /// A string, or the name of a member, which stands before its value.
    String(Box<str>),
    Array {
        items: u32,
        /// Number of nodes in the subtree, this one included.
        size: u32,
    },
    Object {
        members: u32,
        size: u32,
    },
}

impl Flat {
    fn size(&self) -> usize {
        match self {
            Self::Array { size, .. } | Self::Object { size, .. } => *size as usize,
            _ => 1,
        }
    }
}

/// A [`Value`], or one inside another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ValueRef<'a> {
    /// Exactly the nodes of the subtree.
    nodes: &'a [Flat],
}

/// The type and content of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape<'a> {
    Null,
    Bool(bool),
    Number(&'a Decimal),
    String(&'a str),
    /// Number of items; see [`ValueRef::items`].
    Array(usize),
    /// Number of members; see [`ValueRef::members`].
    Object(usize),
}

/// Work that is left while a value is built.
enum Task<'a> {
    Value(NodeIndex),
    Member(&'a str, NodeIndex),
    /// Write down the size of the container that starts here.
    Close(usize),
}

impl Value {
    /// Bytes of memory that the value takes.
    pub(crate) fn memory(&self) -> usize {
        let texts = self.nodes.iter().map(|node| match node {
            Flat::String(text) => text.len(),
            _ => 0,
        });
        size_of_val(&*self.nodes) + texts.sum::<usize>()
    }

    /// The value at `index` of `document`.
    ///
    /// # Errors
    ///
    /// The first number in it whose exponent is too large to be kept.
    pub fn new(document: &Document, index: NodeIndex) -> Result<Self, NodeIndex> {
        let mut nodes = Vec::new();
        let mut tasks = vec![Task::Value(index)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Close(start) => close(&mut nodes, start),
                Task::Member(name, value) => {
                    nodes.push(Flat::String(name.into()));
                    push(document, value, &mut nodes, &mut tasks)?;
                }
                Task::Value(value) => push(document, value, &mut nodes, &mut tasks)?,
            }
        }
        Ok(Self { nodes: nodes.into() })
    }

    /// The string `text`.
    pub fn string(text: &str) -> Self {
        Self {
            nodes: Box::new([Flat::String(text.into())]),
        }
    }

    pub fn null() -> Self {
        Self::scalar(Flat::Null)
    }

    pub fn boolean(value: bool) -> Self {
        Self::scalar(Flat::Bool(value))
    }

    pub fn number(value: Decimal) -> Self {
        Self::scalar(Flat::Number(value))
    }

    fn scalar(node: Flat) -> Self {
        Self {
            nodes: Box::new([node]),
        }
    }

    /// All numbers in the value.
    pub fn numbers(&self) -> impl Iterator<Item = &Decimal> {
        self.nodes.iter().filter_map(|node| match node {
            Flat::Number(number) => Some(number),
            _ => None,
        })
    }

    pub fn as_ref(&self) -> ValueRef<'_> {
        ValueRef { nodes: &self.nodes }
    }
}

fn push<'a>(
    document: &'a Document,
    index: NodeIndex,
    nodes: &mut Vec<Flat>,
    tasks: &mut Vec<Task<'a>>,
) -> Result<(), NodeIndex> {
    let start = nodes.len();
    nodes.push(match document.content(index) {
        Content::Null => Flat::Null,
        Content::Bool(value) => Flat::Bool(value),
        Content::String(text) => Flat::String(text.into()),
        Content::Number(text) => match Decimal::parse(text.as_bytes()) {
            Ok(number) => Flat::Number(number),
            Err(DecimalError::Syntax(_) | DecimalError::Limit(_)) => return Err(index),
        },
        Content::Array(items) => {
            tasks.push(Task::Close(start));
            let first = tasks.len();
            tasks.extend(document.items(index).map(Task::Value));
            tasks[first..].reverse();
            Flat::Array { items, size: 0 }
        }
        Content::Object(members) => {
            tasks.push(Task::Close(start));
            let mut sorted: Vec<(&str, NodeIndex)> = document.members(index).collect();
            sorted.sort_unstable();
            tasks.extend(sorted.into_iter().rev().map(|(name, value)| Task::Member(name, value)));
            Flat::Object { members, size: 0 }
        }
    });
    Ok(())
}

fn close(nodes: &mut [Flat], start: usize) {
    let total = (nodes.len() - start) as u32;
    if let Some(Flat::Array { size, .. } | Flat::Object { size, .. }) = nodes.get_mut(start) {
        *size = total;
    }
}

impl<'a> ValueRef<'a> {
    /// The value on its own.
    pub fn to_value(self) -> Value {
        Value {
            nodes: self.nodes.into(),
        }
    }

    /// The address of the value's nodes, by which values that are equal are told apart.
    #[cfg(test)]
    pub fn address(self) -> *const u8 {
        self.nodes.as_ptr().cast()
    }

    pub fn shape(self) -> Shape<'a> {
        match &self.nodes[0] {
            Flat::Null => Shape::Null,
            Flat::Bool(value) => Shape::Bool(*value),
            Flat::Number(number) => Shape::Number(number),
            Flat::String(text) => Shape::String(text),
            Flat::Array { items, .. } => Shape::Array(*items as usize),
            Flat::Object { members, .. } => Shape::Object(*members as usize),
        }
    }

    /// The items of an array, in order; nothing for other values.
    pub fn items(self) -> impl Iterator<Item = ValueRef<'a>> + Clone {
        let count = match self.nodes[0] {
            Flat::Array { items, .. } => items,
            _ => 0,
        };
        let mut rest = &self.nodes[1..];
        (0..count).map(move |_| {
            let (nodes, after) = rest.split_at(rest[0].size());
            rest = after;
            ValueRef { nodes }
        })
    }

    /// The members of an object, sorted by name; nothing for other values.
    pub fn members(self) -> impl Iterator<Item = (&'a str, ValueRef<'a>)> + Clone {
        let count = match self.nodes[0] {
            Flat::Object { members, .. } => members,
            _ => 0,
        };
        let mut rest = &self.nodes[1..];
        (0..count).map(move |_| {
            let name = match &rest[0] {
                Flat::String(name) => &**name,
                _ => "",
            };
            let (nodes, after) = rest[1..].split_at(rest[1].size());
            rest = after;
            (name, ValueRef { nodes })
        })
    }
}
