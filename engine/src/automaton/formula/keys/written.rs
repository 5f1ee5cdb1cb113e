//! The order in which `const` and `enum` have the members of objects.
//!
//! The assertion of being equal to an object does not tell an order, because equal values are one value. The order in which such an
//! object is written first belongs to that assertion; a subschema that writes an equal object otherwise, or an array or object
//! with such an object in it, has an assertion of its own ([`Assertion::WrittenObject`]).

use crate::automaton::formula::{Algebra, Assertion, AssertionId, TextId};
use crate::json::{Content, Document, NodeIndex, Value, ValueRef};
use crate::schema::NodeId;

/// An array or object of which some parts have been read.
struct PartialValue {
    /// The key of the container in the object around it.
    name: TextId,
    is_array: bool,
    left: std::vec::IntoIter<(TextId, NodeIndex)>,
    done: Vec<(TextId, Written)>,
}

/// A value of a `const` or `enum`.
#[derive(Clone, Copy)]
struct Written {
    /// The assertion of being equal to it.
    value: AssertionId,
    /// The assertion that says how it is written as well, or the same.
    as_written: AssertionId,
}

/// Number of ways in which one subschema may write one value.
const MAX_WAYS: usize = 64;

impl Written {
    fn alike(value: AssertionId) -> Self {
        Self {
            value,
            as_written: value,
        }
    }
}

impl Algebra {
    /// Notes the order of the members of each object in the `const` and `enum` of a subschema.
    pub(in crate::automaton::formula) fn note_written(&mut self, node: NodeId) {
        let schema = self.schema.clone();
        let (json, index) = schema.json(schema.node(node).location);
        if let Some(index) = json.member(index, "const") {
            self.note_written_value(node, json, index);
        }
        let listed = json.member(index, "enum").map(|listed| json.items(listed));
        for index in listed.into_iter().flatten() {
            self.note_written_value(node, json, index);
        }
    }

    fn note_written_value(&mut self, node: NodeId, json: &Document, index: NodeIndex) {
        if !matches!(json.content(index), Content::Array(_) | Content::Object(_)) {
            return;
        }
        let Some(Written { value, as_written }) = self.written_value(json, index) else {
            return;
        };
        let ways = self.orders.listed_as.entry((node, value)).or_default();
        if ways.len() < MAX_WAYS && !ways.contains(&as_written) {
            self.kept_cells += 4;
            ways.push(as_written);
        }
    }

    /// The assertions of being equal to a value of a subschema's `const` or `enum`, one for each way in which the subschema writes it.
    pub(in crate::automaton::formula) fn as_written(&mut self, node: NodeId, value: ValueRef<'_>) -> Vec<AssertionId> {
        let value = self.equal_to(value);
        let ways = self.orders.listed_as.get(&(node, value));
        ways.cloned().unwrap_or_else(|| vec![value])
    }

    /// The assertions of being equal to a value of the schema; `None` if it has a number that is too long.
    fn written_value(&mut self, json: &Document, index: NodeIndex) -> Option<Written> {
        let mut begun: Vec<PartialValue> = Vec::new();
        let mut at = (TextId::EMPTY, index);
        loop {
            let (name, index) = at;
            let mut finished = None;
            let (is_array, left) = match json.content(index) {
                Content::Array(_) => {
                    let items = json.items(index).map(|item| (TextId::EMPTY, item));
                    (true, Some(items.collect::<Vec<_>>()))
                }
                Content::Object(_) => {
                    let members = json
                        .members(index)
                        .map(|(name, value)| (self.texts.intern(name), value));
                    (false, Some(members.collect()))
                }
                Content::String(text) => {
                    let text = self.texts.intern(text);
                    finished = Some((name, Written::alike(self.equal_to_text(text))));
                    (false, None)
                }
                _ => {
                    let value = Value::new(json, index).ok()?;
                    finished = Some((name, Written::alike(self.assertions.intern(Assertion::Equal(value)))));
                    (false, None)
                }
            };
            if let Some(left) = left {
                let done = Vec::with_capacity(left.len());
                let left = left.into_iter();
                begun.push(PartialValue {
                    name,
                    is_array,
                    left,
                    done,
                });
            }
            at = loop {
                if let Some(done) = finished.take() {
                    match begun.last_mut() {
                        Some(around) => around.done.push(done),
                        None => return Some(done.1),
                    }
                }
                if let Some(next) = begun.last_mut().and_then(|around| around.left.next()) {
                    break next;
                }
                let whole = begun.pop()?;
                let value = match whole.is_array {
                    true => self.written_array(&whole.done),
                    false => self.written_object(whole.done),
                };
                finished = Some((whole.name, value));
            };
        }
    }

    fn written_array(&mut self, items: &[(TextId, Written)]) -> Written {
        let is_plain = items.iter().all(|(_, item)| item.value == item.as_written);
        let value = items.iter().map(|(_, item)| item.value).collect();
        let value = self.assertions.intern(Assertion::Array(value));
        if is_plain {
            return Written::alike(value);
        }
        let as_written = items.iter().map(|(_, item)| item.as_written).collect();
        Written {
            value,
            as_written: self.assertions.intern(Assertion::WrittenArray(as_written)),
        }
    }

    fn written_object(&mut self, members: Vec<(TextId, Written)>) -> Written {
        let is_plain = members.iter().all(|(_, member)| member.value == member.as_written);
        let mut sorted: Vec<(TextId, AssertionId)> =
            members.iter().map(|(name, member)| (*name, member.value)).collect();
        sorted.sort_unstable_by(|(one, _), (other, _)| self.texts.compare(*one, *other));
        let value = self.assertions.intern(Assertion::Object(sorted.into()));
        let names = members.iter().map(|(name, _)| *name);
        if is_plain {
            let first = self.orders.written.entry(value).or_insert_with(|| {
                self.kept_cells += members.len();
                names.clone().collect()
            });
            if first.iter().copied().eq(names) {
                return Written::alike(value);
            }
        }
        let as_written = members
            .iter()
            .map(|(name, member)| (*name, member.as_written))
            .collect();
        Written {
            value,
            as_written: self.assertions.intern(Assertion::WrittenObject(as_written)),
        }
    }
}
