//! [`ReadValues`]: the values read so far in containers whose values are compared (`uniqueItems`).
//!
//! An array of n items passes through n lists, each with one item more than the one before. A list is stored as the list
//! before its last item, that item, and a [`ValueSet`] of all items, which shares all but a path with that of the list
//! before. So one more item takes memory and time logarithmic in the number of items, and so does asking whether a value
//! is among them, or which strings among them begin with a text.

use crate::automaton::formula::algebra::Algebra;
use crate::automaton::formula::assertion::{Assertion, AssertionId};
use crate::automaton::formula::keys::sets::{ByNumber, KeySetId, PersistentSets, SetId};
use crate::automaton::formula::texts::{TextId, TextTable};
use crate::json::{Shape, ValueRef};
use hashbrown::HashMap;

/// The number of a list of the items of an array, given by the assertions of being equal to them. Equal ids mean equal
/// lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ItemsId(u32);

impl ItemsId {
    /// The empty list.
    pub(crate) const EMPTY: Self = Self(0);
}

/// The number of a set of the members of an object, each given by its key and the assertion of being equal to its value.
pub(crate) type MembersId = SetId<(TextId, AssertionId)>;

/// A set of values, given by the assertions of being equal to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ValueSet {
    /// The strings in the set.
    pub(crate) texts: KeySetId,
    /// The values that are not strings.
    pub(crate) others: SetId<AssertionId>,
}

impl ValueSet {
    /// Whether the set has no values.
    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }
}

/// A list of items that is not empty.
#[derive(Clone, Copy, Debug)]
struct Items {
    before: ItemsId,
    last: AssertionId,
    length: usize,
    all: ValueSet,
}

/// The values read so far in all containers whose values are compared, each list and set stored once.
#[derive(Debug, Default)]
pub(crate) struct ReadValues {
    lists: Vec<Items>,
    ids: HashMap<(ItemsId, AssertionId), ItemsId>,
    pub(crate) others: PersistentSets<AssertionId>,
    members: PersistentSets<(TextId, AssertionId)>,
}

impl ReadValues {
    /// Bytes of memory that lists and sets take.
    pub(crate) fn memory(&self) -> usize {
        let ids = self.ids.capacity() * (size_of::<((ItemsId, AssertionId), ItemsId)>() + 1);
        self.lists.capacity() * size_of::<Items>() + ids + self.others.memory() + self.members.memory()
    }

    fn items(&self, list: ItemsId) -> Option<&Items> {
        self.lists.get((list.0 as usize).checked_sub(1)?)
    }

    /// Number of items of a list.
    pub(crate) fn length(&self, list: ItemsId) -> usize {
        self.items(list).map_or(0, |items| items.length)
    }

    /// The items of a list as a set.
    pub(crate) fn set(&self, list: ItemsId) -> ValueSet {
        self.items(list).map_or_else(ValueSet::default, |items| items.all)
    }

    /// The items of a list, in their order.
    pub(crate) fn all_items(&self, list: ItemsId) -> Vec<AssertionId> {
        let mut all = Vec::with_capacity(self.length(list));
        let mut at = list;
        while let Some(items) = self.items(at) {
            all.push(items.last);
            at = items.before;
        }
        all.reverse();
        all
    }

    /// The members of an object with one more.
    pub(crate) fn with_member(
        &mut self,
        members: MembersId,
        member: (TextId, AssertionId),
        names: &TextTable,
    ) -> MembersId {
        self.members.with(members, member, names)
    }

    /// Number of members of an object.
    pub(crate) fn count_members(&self, members: MembersId) -> usize {
        self.members.len(members)
    }

    /// The members of an object, sorted by the characters of their keys.
    pub(crate) fn all_members(&self, members: MembersId) -> Vec<(TextId, AssertionId)> {
        self.members.all(members)
    }
}

/// An array or object whose parts are being made assertions of.
struct OpenValue<'a> {
    /// The key of the container in the one around it.
    name: TextId,
    is_array: bool,
    left: std::vec::IntoIter<(&'a str, ValueRef<'a>)>,
    done: Vec<(TextId, AssertionId)>,
}

impl Algebra {
    /// The text of a value, given by its assertion of equality, if the value is a string.
    pub(crate) fn text_of(&self, value: AssertionId) -> Option<TextId> {
        match self.assertions.get(value) {
            Assertion::Text(text) => Some(*text),
            _ => None,
        }
    }

    /// The assertion of being equal to a string.
    pub(crate) fn equal_to_text(&mut self, text: TextId) -> AssertionId {
        self.assertions.intern(Assertion::Text(text))
    }

    /// The assertion of being equal to a value.
    pub(crate) fn equal_to(&mut self, value: ValueRef<'_>) -> AssertionId {
        let mut open: Vec<OpenValue<'_>> = Vec::new();
        let mut at = (TextId::EMPTY, value);
        loop {
            let (name, value) = at;
            let mut finished = None;
            match value.shape() {
                Shape::Array(_) => open.push(OpenValue {
                    name,
                    is_array: true,
                    left: value.items().map(|item| ("", item)).collect::<Vec<_>>().into_iter(),
                    done: Vec::new(),
                }),
                Shape::Object(_) => open.push(OpenValue {
                    name,
                    is_array: false,
                    left: value.members().collect::<Vec<_>>().into_iter(),
                    done: Vec::new(),
                }),
                Shape::String(text) => {
                    let text = self.texts.intern(text);
                    finished = Some((name, self.equal_to_text(text)));
                }
                _ => finished = Some((name, self.assertions.intern(Assertion::Equal(value.to_value())))),
            }
            at = loop {
                if let Some(done) = finished.take() {
                    match open.last_mut() {
                        Some(around) => around.done.push(done),
                        None => return done.1,
                    }
                }
                if let Some(around) = open.last_mut()
                    && let Some((name, value)) = around.left.next()
                {
                    break (self.texts.intern(name), value);
                }
                let Some(whole) = open.pop() else {
                    return AssertionId::ANYTHING;
                };
                let assertion = match whole.is_array {
                    true => Assertion::Array(whole.done.into_iter().map(|(_, item)| item).collect()),
                    false => Assertion::Object(whole.done.into()),
                };
                finished = Some((whole.name, self.assertions.intern(assertion)));
            };
        }
    }

    /// The list of items with one more.
    pub(crate) fn with_item(&mut self, list: ItemsId, item: AssertionId) -> ItemsId {
        if let Some(&known) = self.values.ids.get(&(list, item)) {
            return known;
        }
        let all = self.with_value(self.values.set(list), item);
        self.values.lists.push(Items {
            before: list,
            last: item,
            length: self.values.length(list) + 1,
            all,
        });
        let id = ItemsId(self.values.lists.len() as u32);
        self.values.ids.insert((list, item), id);
        id
    }

    /// Whether an item is in a list.
    pub(crate) fn has_item(&mut self, list: ItemsId, item: AssertionId) -> bool {
        self.has_value(self.values.set(list), item)
    }

    /// The set with one more value.
    pub(crate) fn with_value(&mut self, set: ValueSet, value: AssertionId) -> ValueSet {
        let ValueSet { mut texts, mut others } = set;
        match self.text_of(value) {
            Some(text) => texts = self.key_sets.with(texts, text, &self.texts),
            None => others = self.values.others.with(others, value, &ByNumber),
        }
        ValueSet { texts, others }
    }

    /// The set with the values of another, which is the smaller one.
    pub(crate) fn with_values(&mut self, set: ValueSet, more: ValueSet) -> ValueSet {
        if set.is_empty() {
            return more;
        }
        let ValueSet { mut texts, mut others } = set;
        for text in self.key_sets.all(more.texts) {
            texts = self.key_sets.with(texts, text, &self.texts);
        }
        for other in self.values.others.all(more.others) {
            others = self.values.others.with(others, other, &ByNumber);
        }
        ValueSet { texts, others }
    }

    /// Whether a value is in a set.
    pub(crate) fn has_value(&mut self, set: ValueSet, value: AssertionId) -> bool {
        match self.text_of(value) {
            Some(text) => self.key_sets.has(set.texts, text, &self.texts),
            None => self.values.others.has(set.others, value, &ByNumber),
        }
    }

    /// Number of values in a set.
    pub(crate) fn count_values(&self, set: ValueSet) -> usize {
        self.key_sets.len(set.texts) + self.values.others.len(set.others)
    }

    /// The values in a set, sorted.
    pub(crate) fn all_values(&mut self, set: ValueSet) -> Vec<AssertionId> {
        let mut all = self.values.others.all(set.others);
        for text in self.key_sets.all(set.texts) {
            all.push(self.equal_to_text(text));
        }
        all.sort_unstable();
        all
    }
}
