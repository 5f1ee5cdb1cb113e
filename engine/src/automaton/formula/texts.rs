//! [`TextTable`]: texts, each stored once.
//!
//! A document passes through every prefix of its keys and strings, and each of these prefixes is a text of its own. So a
//! text is stored as a chain of chunks of up to [`CHUNK_BYTES`]: its last chunk, and the text before that chunk. Where a
//! chunk ends depends only on the characters of the text, so equal texts are equal chains and have one id. A text that
//! extends the one stored last shares its bytes, and any other text copies at most one chunk. So reading a text takes
//! memory proportional to its length, and each step takes the same time however long the text has become.
//!
//! Each text also refers to one further up its chain (`Text::jump`), so that the number of steps to any of its chunks is
//! logarithmic. Two texts are compared at the first chunk in which they differ.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::cell::{Cell, OnceCell};
use std::cmp::Ordering;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

/// Number of bytes that a chunk has at most. With longer chunks fewer texts have to be put together when they are asked
/// for as a whole; with shorter ones it is cheaper to extend a text that is not the one stored last.
const CHUNK_BYTES: usize = 256;

/// The number of a text in a [`TextTable`]. Equal ids mean equal texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TextId(pub(crate) u32);

impl TextId {
    /// The empty text.
    pub(crate) const EMPTY: Self = Self(0);

    /// The id as a number; ids are counted from 0.
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// A text: its last chunk, and the text before that chunk.
#[derive(Debug)]
struct Text {
    /// The text without its last chunk; [`TextId::EMPTY`] for a text of one chunk.
    before: TextId,
    /// A text of whole chunks further up the chain, or the text itself if it has one chunk.
    jump: TextId,
    /// Number of chunks before the last one.
    depth: u32,
    /// Number of bytes of the whole text.
    length: usize,
    /// Index in [`TextTable::bytes`] at which the last chunk begins.
    start: usize,
    /// Number of bytes of the last chunk.
    chunk: usize,
    /// The hash of `before` and the last chunk.
    hash: u64,
    /// The whole text of several chunks, put together when it is first asked for.
    whole: OnceCell<Box<str>>,
}

/// All texts of one compiled schema, each stored once.
#[derive(Debug)]
pub(crate) struct TextTable {
    texts: Vec<Text>,
    ids: HashTable<TextId>,
    /// The characters of all chunks.
    bytes: String,
    /// Number of bytes of the texts of several chunks that have been put together.
    whole_bytes: Cell<usize>,
    /// An odd number that all hashes depend on, so that no document can be made whose texts collide.
    secret: u64,
}

/// A text extended by as much as its last chunk, or a new one, has room for.
struct Extension<'a> {
    before: TextId,
    /// The chunk that is extended: where it begins, and its number of bytes.
    chunk: (usize, usize),
    /// The part of the text that the chunk takes; `later` is the part that is left for the next chunk.
    now: &'a str,
    later: &'a str,
    hash: u64,
}

impl Default for TextTable {
    fn default() -> Self {
        let mut table = Self {
            texts: Vec::new(),
            ids: HashTable::new(),
            bytes: String::new(),
            whole_bytes: Cell::new(0),
            secret: DefaultHashBuilder::default().hash_one(CHUNK_BYTES) | 1,
        };
        table.add(&Extension {
            before: TextId::EMPTY,
            chunk: (0, 0),
            now: "",
            later: "",
            hash: 0,
        });
        table
    }
}

impl TextTable {
    /// The id of a text, which is added if it is new.
    pub(crate) fn intern(&mut self, text: &str) -> TextId {
        self.extended(TextId::EMPTY, text)
    }

    /// The id of a text extended by one character.
    pub(crate) fn longer(&mut self, text: TextId, character: char) -> TextId {
        self.extended(text, character.encode_utf8(&mut [0; 4]))
    }

    /// The id of a text extended by another.
    pub(crate) fn extended(&mut self, mut text: TextId, mut more: &str) -> TextId {
        while !more.is_empty() {
            let next = self.extension(text, more);
            text = match self.find(&next) {
                Some(known) => known,
                None => self.add(&next),
            };
            more = next.later;
        }
        text
    }

    /// The id of a text extended by another; `None` if the whole is not stored.
    pub(crate) fn find_extended(&self, mut text: TextId, mut more: &str) -> Option<TextId> {
        while !more.is_empty() {
            let next = self.extension(text, more);
            text = self.find(&next)?;
            more = next.later;
        }
        Some(text)
    }

    /// The first step of extending a text by another, which is not empty.
    fn extension<'a>(&self, text: TextId, more: &'a str) -> Extension<'a> {
        let last = self.text(text);
        let first = more.chars().next().map_or(0, char::len_utf8);
        let has_room = last.chunk + first <= CHUNK_BYTES;
        let (before, chunk, mut hash) = match has_room {
            true => (last.before, (last.start, last.chunk), last.hash),
            // Chunks with different texts before them differ, so their hashes begin with these texts.
            false => (text, (self.bytes.len(), 0), last.hash.rotate_left(32) ^ self.secret),
        };
        let mut end = more.len().min(CHUNK_BYTES - chunk.1);
        while !more.is_char_boundary(end) {
            end -= 1;
        }
        let (now, later) = more.split_at(end);
        for byte in now.bytes() {
            hash = (hash.rotate_left(5) ^ u64::from(byte)).wrapping_mul(self.secret);
        }
        Extension {
            before,
            chunk,
            now,
            later,
            hash,
        }
    }

    /// The text that an extension leads to, if it is stored.
    fn find(&self, next: &Extension<'_>) -> Option<TextId> {
        let is_same = |id: &TextId| {
            let text = self.text(*id);
            text.hash == next.hash
                && text.before == next.before
                && self
                    .chunk(text)
                    .strip_prefix(&self.bytes[next.chunk.0..][..next.chunk.1])
                    == Some(next.now)
        };
        self.ids.find(mixed(next.hash), is_same).copied()
    }

    /// Stores the text that an extension leads to.
    fn add(&mut self, next: &Extension<'_>) -> TextId {
        let id = TextId(self.texts.len() as u32);
        let (start, length) = next.chunk;
        let start = match start + length == self.bytes.len() {
            true => start,
            false => {
                let copy = self.bytes.len();
                self.bytes.extend_from_within(start..start + length);
                copy
            }
        };
        self.bytes.push_str(next.now);
        let chunk = length + next.now.len();
        let (mut depth, mut jump, mut before_bytes) = (0, id, 0);
        if next.before != TextId::EMPTY {
            let before = self.text(next.before);
            (depth, before_bytes) = (before.depth + 1, before.length);
            // The distances of the jumps are those of a skew-binary number.
            let (once, twice) = (self.text(before.jump), self.text(self.text(before.jump).jump));
            jump = match before.depth - once.depth == once.depth - twice.depth {
                true => once.jump,
                false => next.before,
            };
        }
        self.texts.push(Text {
            before: next.before,
            jump,
            depth,
            length: before_bytes + chunk,
            start,
            chunk,
            hash: next.hash,
            whole: OnceCell::new(),
        });
        let texts = &self.texts;
        self.ids
            .insert_unique(mixed(next.hash), id, |id| mixed(texts[id.0 as usize].hash));
        id
    }

    #[inline]
    fn text(&self, id: TextId) -> &Text {
        &self.texts[id.0 as usize]
    }

    #[inline]
    fn chunk(&self, text: &Text) -> &str {
        &self.bytes[text.start..text.start + text.chunk]
    }

    /// The last chunk of a text, without a look at where its characters begin.
    #[inline]
    fn chunk_bytes(&self, text: &Text) -> &[u8] {
        &self.bytes.as_bytes()[text.start..text.start + text.chunk]
    }

    /// The text of an id as a shared pointer, which outlives the borrow of the table.
    pub(crate) fn shared(&self, id: TextId) -> Arc<str> {
        self.get(id).into()
    }

    /// Bytes of memory that the table takes.
    pub(crate) fn memory(&self) -> usize {
        let ids = self.ids.capacity() * (size_of::<TextId>() + 1);
        self.texts.capacity() * size_of::<Text>() + ids + self.bytes.capacity() + self.whole_bytes.get()
    }

    /// Number of bytes of a text.
    pub(crate) fn length(&self, id: TextId) -> usize {
        self.text(id).length
    }

    /// The text of an id. A text of several chunks is put together and kept, so this is not for texts that are still
    /// being read.
    #[inline]
    pub(crate) fn get(&self, id: TextId) -> &str {
        let text = self.text(id);
        match text.depth {
            0 => self.chunk(text),
            _ => text.whole.get_or_init(|| {
                self.whole_bytes.set(self.whole_bytes.get() + text.length);
                self.written(id).into()
            }),
        }
    }

    /// A copy of the text of an id.
    pub(crate) fn written(&self, id: TextId) -> String {
        let mut chunks = Vec::new();
        let mut text = self.text(id);
        loop {
            chunks.push(self.chunk(text));
            if text.depth == 0 {
                break;
            }
            text = self.text(text.before);
        }
        chunks.into_iter().rev().collect()
    }

    /// The text before the last chunk of a text, and that chunk.
    pub(crate) fn last_chunk(&self, id: TextId) -> (TextId, &str) {
        let text = self.text(id);
        (text.before, self.chunk(text))
    }

    /// The text that consists of the first chunks of a text, as many as come before its chunk at `depth` and that one.
    fn up_to(&self, id: TextId, depth: u32) -> TextId {
        let mut at = id;
        while self.text(at).depth > depth {
            let text = self.text(at);
            at = match self.text(text.jump).depth >= depth {
                true => text.jump,
                false => text.before,
            };
        }
        at
    }

    /// Whether a text begins with another.
    #[inline]
    pub(crate) fn begins_with(&self, id: TextId, beginning: TextId) -> bool {
        let (text, begun) = (self.text(id), self.text(beginning));
        if text.depth == 0 {
            return self.chunk_bytes(text).starts_with(self.chunk_bytes(begun)) && begun.depth == 0;
        }
        self.begins_with_chunks(id, beginning)
    }

    /// Whether a text of several chunks begins with another.
    fn begins_with_chunks(&self, id: TextId, beginning: TextId) -> bool {
        let begun = self.text(beginning);
        if self.text(id).length < begun.length {
            return false;
        }
        let text = self.text(self.up_to(id, begun.depth));
        text.before == begun.before && self.chunk(text).starts_with(self.chunk(begun))
    }

    /// The order of two texts by their characters.
    #[inline]
    pub(crate) fn compare(&self, one: TextId, other: TextId) -> Ordering {
        let (first, second) = (self.text(one), self.text(other));
        if first.depth == 0 && second.depth == 0 {
            return self.chunk_bytes(first).cmp(self.chunk_bytes(second));
        }
        self.compare_chunks(one, other)
    }

    /// The order of two texts of which one at least has several chunks.
    fn compare_chunks(&self, one: TextId, other: TextId) -> Ordering {
        if one == other {
            return Ordering::Equal;
        }
        let depth = self.text(one).depth.min(self.text(other).depth);
        let (mut first, mut second) = (self.up_to(one, depth), self.up_to(other, depth));
        while self.text(first).before != self.text(second).before {
            let jumps = (self.text(first).jump, self.text(second).jump);
            (first, second) = match jumps.0 == jumps.1 {
                true => (self.text(first).before, self.text(second).before),
                false => jumps,
            };
        }
        // A chunk may end before a long character where the other goes on with a short one.
        let depth = self.text(first).depth;
        let bytes = |id: TextId, at: TextId| {
            let has_more = self.text(id).depth > depth;
            let next = has_more.then(|| self.chunk(self.text(self.up_to(id, depth + 1))));
            self.chunk(self.text(at))
                .bytes()
                .chain(next.unwrap_or_default().bytes())
        };
        let differ = bytes(one, first).cmp(bytes(other, second));
        match first == second {
            true => self.text(one).length.cmp(&self.text(other).length),
            false => differ,
        }
    }
}

/// A hash whose highest and lowest bits depend on all of its bits.
fn mixed(hash: u64) -> u64 {
    let product = u128::from(hash) * u128::from(0x9E37_79B9_7F4A_7C15_u64);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests;
