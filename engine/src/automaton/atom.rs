//! [`AtomKind`]: what is not known of an object or array before it is read.

use std::sync::Arc;

use hashbrown::HashMap;

use super::assertion::AssertionId;
use super::formula::Atom;
use crate::strings::LanguageId;

/// A property of the members or items *still to come*, so that reading one turns atoms into other atoms and a position
/// never needs to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AtomKind {
    /// There will be a member of this name.
    Has(TextId),
    /// Every member with such a name satisfies the assertion.
    Members(Keys, AssertionId),
    /// There will be at least so many members (1 or more).
    CountAtLeast(u64),
    /// Every item satisfies the assertion from the first number on and before the second, counted from the next item.
    Items {
        /// Number of items before the range.
        from: u64,
        /// End of the range; none for all that follow.
        to: Option<u64>,
        /// The assertion.
        assertion: AssertionId,
    },
    /// There will be at least so many items (1 or more).
    LengthAtLeast(u64),
    /// At least so many items (1 or more) satisfy the assertion.
    Contains(AssertionId, u64),
    /// No two items, of those read and those to come, are equal.
    Unique,
}

impl AtomKind {
    /// What it comes to where nothing follows any more.
    pub(crate) fn at_end(&self) -> bool {
        matches!(self, Self::Members(..) | Self::Items { .. } | Self::Unique)
    }
}

/// Names of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Keys {
    /// One name.
    Name(TextId),
    /// All names in a language.
    Language(LanguageId),
}

/// A text kept once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TextId(u32);

impl TextId {
    /// One of the numbers from 0 on.
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// The texts of one compilation.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    texts: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, TextId>,
    /// Texts with one more character.
    longer: HashMap<(TextId, char), TextId>,
    /// Where a text is put together to be looked for.
    scratch: String,
}

impl Texts {
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

/// The atoms of one compilation.
#[derive(Debug, Default)]
pub(crate) struct Atoms {
    kinds: Vec<AtomKind>,
    ids: HashMap<AtomKind, Atom>,
}

impl Atoms {
    /// The atom of that kind.
    pub(crate) fn intern(&mut self, kind: AtomKind) -> Atom {
        *self.ids.entry(kind).or_insert_with(|| {
            self.kinds.push(kind);
            Atom(self.kinds.len() as u32 - 1)
        })
    }

    /// What an atom says.
    pub(crate) fn kind(&self, atom: Atom) -> AtomKind {
        self.kinds[atom.0 as usize]
    }
}
