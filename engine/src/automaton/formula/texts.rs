//! [`TextTable`]: texts, each stored once. [`Orders`]: lists of keys in a prescribed order.

use crate::automaton::formula::assertion::AssertionId;
use hashbrown::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// The number of a text in a [`TextTable`]. Equal ids mean equal texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TextId(pub(crate) u32);

impl TextId {
    /// The id as a number; ids are counted from 0.
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// All texts of one compiled schema, each stored once.
#[derive(Debug, Default)]
pub(crate) struct TextTable {
    pub(crate) texts: Vec<Arc<str>>,
    pub(crate) ids: HashMap<Arc<str>, TextId>,
    /// Texts extended by one character, remembered because strings are read character by character.
    pub(crate) longer: HashMap<(TextId, char), TextId>,
    /// A buffer for a text that is put together to be looked up.
    pub(crate) scratch: String,
}

impl TextTable {
    /// The id of a text, which is added if it is new.
    pub(crate) fn intern(&mut self, text: &str) -> TextId {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = TextId(self.texts.len() as u32);
        let text: Arc<str> = text.into();
        self.texts.push(text.clone());
        self.ids.insert(text, id);
        id
    }

    /// The id of a text extended by one character.
    pub(crate) fn longer(&mut self, text: TextId, character: char) -> TextId {
        if let Some(&id) = self.longer.get(&(text, character)) {
            return id;
        }
        let id = self.extended(text, character.encode_utf8(&mut [0; 4]));
        self.longer.insert((text, character), id);
        id
    }

    /// The id of a text extended by another.
    pub(crate) fn extended(&mut self, text: TextId, more: &str) -> TextId {
        let mut whole = std::mem::take(&mut self.scratch);
        whole.clear();
        whole.extend([self.get(text), more]);
        let id = self.intern(&whole);
        self.scratch = whole;
        id
    }

    /// The id of a text extended by another; `None` if the whole is not stored.
    pub(crate) fn find_extended(&mut self, text: TextId, more: &str) -> Option<TextId> {
        let mut whole = std::mem::take(&mut self.scratch);
        whole.clear();
        whole.extend([self.get(text), more]);
        let id = self.ids.get(&whole[..]).copied();
        self.scratch = whole;
        id
    }

    /// The text of an id as a shared pointer, which outlives the borrow of the table.
    pub(crate) fn shared(&self, id: TextId) -> Arc<str> {
        self.texts[id.0 as usize].clone()
    }

    /// Number of texts stored.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The text of an id.
    pub(crate) fn get(&self, id: TextId) -> &str {
        &self.texts[id.0 as usize]
    }
}

/// The number of a list of keys in a prescribed order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OrderId(pub(crate) u32);

/// All orders of keys of one compiled schema, each stored once.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    pub(crate) orders: Vec<Arc<[TextId]>>,
    pub(crate) ids: HashMap<Arc<[TextId]>, OrderId>,
    pub(crate) of: HashMap<Box<[AssertionId]>, OrderId>,
}

impl Orders {
    /// The id of an order of keys, which is added if it is new.
    pub(crate) fn intern(&mut self, names: Vec<TextId>) -> OrderId {
        let names: Arc<[TextId]> = names.into();
        if let Some(&id) = self.ids.get(&names) {
            return id;
        }
        let id = OrderId(self.orders.len() as u32);
        self.orders.push(names.clone());
        self.ids.insert(names, id);
        id
    }
}
