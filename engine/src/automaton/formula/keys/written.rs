//! The order in which `const` and `enum` have the members of objects, which the assertion of being equal to such an object
//! does not tell.

use crate::automaton::formula::{Algebra, Assertion, AssertionId, TextId};
use crate::json::{Content, Document, NodeIndex, Value};
use crate::schema::NodeId;
use std::sync::Arc;

/// An array or object of which some parts have been read.
struct PartialValue {
    /// The key of the container in the object around it.
    name: TextId,
    is_array: bool,
    left: std::vec::IntoIter<(TextId, NodeIndex)>,
    done: Vec<(TextId, AssertionId)>,
}

/// Number of orders that are kept of one object, which several keywords may write differently.
const WRITTEN_ORDERS: usize = 4;

impl Algebra {
    /// Notes the order of the members of each object in the `const` and `enum` of a subschema.
    pub(in crate::automaton::formula) fn note_written(&mut self, node: NodeId) {
        let schema = self.schema.clone();
        let (json, index) = schema.json(schema.node(node).location);
        for keyword in ["const", "enum"] {
            if let Some(index) = json.member(index, keyword) {
                self.note_written_in(json, index);
            }
        }
    }

    fn note_written_in(&mut self, json: &Document, index: NodeIndex) {
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
                    finished = Some((name, self.equal_to_text(text)));
                    (false, None)
                }
                _ => {
                    let Ok(value) = Value::new(json, index) else { return };
                    finished = Some((name, self.assertions.intern(Assertion::Equal(value))));
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
                        None => return,
                    }
                }
                if let Some(next) = begun.last_mut().and_then(|around| around.left.next()) {
                    break next;
                }
                let Some(whole) = begun.pop() else { return };
                let value = match whole.is_array {
                    true => {
                        let items = whole.done.into_iter().map(|(_, item)| item).collect();
                        self.assertions.intern(Assertion::Array(items))
                    }
                    false => self.written_object(whole.done),
                };
                finished = Some((whole.name, value));
            };
        }
    }

    /// The assertion of being equal to an object, of which the order of the members is noted.
    fn written_object(&mut self, mut members: Vec<(TextId, AssertionId)>) -> AssertionId {
        let names: Arc<[TextId]> = members.iter().map(|(name, _)| *name).collect();
        members.sort_unstable_by(|(one, _), (other, _)| self.texts.compare(*one, *other));
        let value = self.assertions.intern(Assertion::Object(members.into()));
        let orders = self.orders.written.entry(value).or_default();
        if orders.len() < WRITTEN_ORDERS && !orders.contains(&names) {
            self.kept_cells += names.len();
            orders.push(names);
        }
        value
    }
}
