//! [`TextTable`]: texts, each kept once; and [`Orders`]: lists of them.

use crate::automaton::formula::assertion::AssertionId;
use hashbrown::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// A text kept once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TextId(pub(crate) u32);

impl TextId {
    /// One of the numbers from 0 on.
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// The texts of one compilation.
#[derive(Debug, Default)]
pub(crate) struct TextTable {
    pub(crate) texts: Vec<Arc<str>>,
    pub(crate) ids: HashMap<Arc<str>, TextId>,
    /// TextTable with one more character.
    pub(crate) longer: HashMap<(TextId, char), TextId>,
    /// Where a text is put together to be looked for.
    pub(crate) scratch: String,
}

impl TextTable {
    /// The id of a text.
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

    /// The id of a text and one more character.
    pub(crate) fn longer(&mut self, text: TextId, character: char) -> TextId {
        if let Some(&id) = self.longer.get(&(text, character)) {
            return id;
        }
        let id = self.extended(text, character.encode_utf8(&mut [0; 4]));
        self.longer.insert((text, character), id);
        id
    }

    /// The id of a text and another behind it.
    pub(crate) fn extended(&mut self, text: TextId, more: &str) -> TextId {
        let mut whole = std::mem::take(&mut self.scratch);
        whole.clear();
        whole.extend([self.get(text), more]);
        let id = self.intern(&whole);
        self.scratch = whole;
        id
    }

    /// The id of a text and another behind it, if that is one of the texts.
    pub(crate) fn find_extended(&mut self, text: TextId, more: &str) -> Option<TextId> {
        let mut whole = std::mem::take(&mut self.scratch);
        whole.clear();
        whole.extend([self.get(text), more]);
        let id = self.ids.get(&whole[..]).copied();
        self.scratch = whole;
        id
    }

    /// The text of an id, to keep.
    pub(crate) fn shared(&self, id: TextId) -> Arc<str> {
        self.texts[id.0 as usize].clone()
    }

    /// Number of texts.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The text of an id.
    pub(crate) fn get(&self, id: TextId) -> &str {
        &self.texts[id.0 as usize]
    }
}

/// A list of names in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OrderId(pub(crate) u32);

/// The orders of one compilation.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    pub(crate) orders: Vec<Arc<[TextId]>>,
    pub(crate) ids: HashMap<Arc<[TextId]>, OrderId>,
    pub(crate) of: HashMap<Box<[AssertionId]>, OrderId>,
}

impl Orders {
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
