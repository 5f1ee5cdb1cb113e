//! YAML in block style, read by the automaton of JSON documents.
//!
//! Each token of YAML's syntax is translated to a piece of compact JSON: `- ` to the bracket or comma before an item, a line with less
//! indentation to the brackets that close what is between. So the automaton decides whether some document goes on, and only the
//! indentation of lines is kept beside its state.

use hashbrown::HashMap;

use crate::automaton::{Automaton, AutomatonError, State};

/// Spaces by which a collection is indented within another.
const INDENT: u32 = 2;

/// A state in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Yaml {
    /// The state in the JSON text of the same document.
    pub(super) json: State,
    pub(super) top: Top,
    /// The innermost list or mapping.
    pub(super) collection: CollectionId,
}

/// The syntactic position of a state within the innermost list or mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Top {
    /// Before the whole document.
    Root,
    /// Before an item, after the dash and its space.
    Item,
    /// After the dash of an item.
    Dash,
    /// Before a line's first character other than a space, so many spaces before it.
    Line(u32),
    /// In a name.
    Name,
    /// After the colon of a name.
    Colon,
    /// Before a value on the line of its name.
    Member,
    /// In a value that is no container.
    Scalar,
    /// After the bracket of an empty list.
    Empty,
    /// After a value on its line.
    End,
}

/// Handle of a [`Collection`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CollectionId(u32);

impl CollectionId {
    /// The id of no collection: none is around the whole document.
    pub(super) const NONE: Self = Self(u32::MAX);
}

/// A list or mapping that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Collection {
    pub(super) is_mapping: bool,
    /// Spaces before each line of the list or mapping.
    pub(super) indent: u32,
    /// The list or mapping around this one.
    pub(super) around: CollectionId,
}

impl Collection {
    /// Returns the closing bracket in JSON.
    fn closing(self) -> u8 {
        if self.is_mapping { b'}' } else { b']' }
    }
}

/// The JSON that a byte of YAML stands for: closing brackets, and the bytes behind them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JsonPiece {
    pub(super) closed: u32,
    bytes: [u8; 6],
    length: u8,
}

impl JsonPiece {
    pub(super) fn of<const N: usize>(read: [u8; N]) -> Self {
        Self::of_slice(&read)
    }

    /// At most six bytes.
    pub(super) fn of_slice(read: &[u8]) -> Self {
        let mut bytes = [0; 6];
        bytes[..read.len()].copy_from_slice(read);
        Self {
            closed: 0,
            bytes,
            length: read.len() as u8,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// The callback for a state, with the JSON between the state and the one before.
type Next<'n> = dyn FnMut(Yaml, JsonPiece) + 'n;

/// The collections of the states so far.
#[derive(Debug, Default)]
pub(super) struct Collections {
    collections: Vec<Collection>,
    ids: HashMap<Collection, CollectionId>,
}

impl Yaml {
    /// Returns the state before the whole document.
    pub(super) fn root(json: State) -> Self {
        let (top, collection) = (Top::Root, CollectionId::NONE);
        Self { json, top, collection }
    }

    /// Whether an item or member is still to be begun.
    pub(super) fn is_before_part(self) -> bool {
        matches!(self.top, Top::Item | Top::Dash | Top::Line(_))
    }
}

/// Whether a name may begin with a byte, or go on with it.
pub(super) fn is_of_name(byte: u8, is_first: bool) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !is_first && (byte.is_ascii_digit() || matches!(byte, b'-' | b'.'))
}

/// The first bytes of values in JSON, and of a member; those that take several lines in YAML come last.
pub(super) const FIRST: &[u8] = b"\"-0123456789tfn[{";

/// The first bytes of values that take one line in YAML, other than the empty list.
pub(super) const FIRST_OF_SCALARS: &[u8] = FIRST.split_at(FIRST.len() - 2).0;

impl Collections {
    pub(super) fn get(&self, id: CollectionId) -> Option<Collection> {
        self.collections.get(id.0 as usize).copied()
    }

    fn push(&mut self, collection: Collection) -> CollectionId {
        *self.ids.entry(collection).or_insert_with(|| {
            self.collections.push(collection);
            CollectionId(self.collections.len() as u32 - 1)
        })
    }

    /// Hands out the states after one more byte, each of which some document goes on from.
    pub(super) fn step(
        &mut self,
        automaton: &mut Automaton,
        at: Yaml,
        byte: u8,
        next: &mut Next<'_>,
    ) -> Result<(), AutomatonError> {
        let Yaml { json, top, collection } = at;
        let innermost = self.get(collection);
        let indent = innermost.map_or(0, |collection| collection.indent);
        match (top, byte) {
            (Top::Root, _) => self.begin(automaton, at, 0, byte, next),
            (Top::Item, _) => self.begin(automaton, at, indent + INDENT, byte, next),
            (Top::Member, _) => Self::scalar(automaton, at, byte, next),
            (Top::Dash, b' ') => {
                let top = Top::Item;
                next(Yaml { top, ..at }, JsonPiece::default());
                Ok(())
            }
            (Top::Line(0), _) if innermost.is_some_and(|collection| collection.is_mapping) => {
                if is_of_name(byte, true)
                    && let Some(json) = read(automaton, json, &[b'"', byte])?
                {
                    let top = Top::Name;
                    next(Yaml { json, top, collection }, JsonPiece::of([b'"', byte]));
                }
                Ok(())
            }
            (Top::Line(0), b'-') => {
                let top = Top::Dash;
                next(Yaml { top, ..at }, JsonPiece::default());
                Ok(())
            }
            (Top::Line(left @ 1..), b' ') => {
                let top = Top::Line(left - 1);
                next(Yaml { top, ..at }, JsonPiece::default());
                Ok(())
            }
            (Top::Name, b':') => {
                if let Some(json) = read(automaton, json, b"\":")? {
                    let top = Top::Colon;
                    next(Yaml { json, top, collection }, JsonPiece::of([b'"', b':']));
                }
                Ok(())
            }
            (Top::Name, _) if is_of_name(byte, false) => {
                if let Some(json) = automaton.step(json, byte)? {
                    next(Yaml { json, top, collection }, JsonPiece::of([byte]));
                }
                Ok(())
            }
            (Top::Colon, b' ') => {
                if begins_on_its_line(automaton, json)? {
                    let top = Top::Member;
                    next(Yaml { top, ..at }, JsonPiece::default());
                }
                Ok(())
            }
            (Top::Colon, b'\n') => {
                for is_mapping in [false, true] {
                    if let Some(at) = self.open(automaton, at, is_mapping, indent + INDENT)? {
                        next(at, JsonPiece::of([opening(is_mapping)]));
                    }
                }
                Ok(())
            }
            (Top::Empty, b']') => {
                if let Some(json) = automaton.step(json, byte)? {
                    let top = Top::End;
                    next(Yaml { json, top, collection }, JsonPiece::of([byte]));
                }
                Ok(())
            }
            (Top::Scalar, _) if byte != b'\n' => {
                if let Some(json) = automaton.step(json, byte)? {
                    let top = match automaton.is_in_scalar(json) {
                        true => Top::Scalar,
                        false => Top::End,
                    };
                    // A comma or bracket that ends a number is JSON's.
                    if !matches!(byte, b',' | b']' | b'}') || automaton.is_in_text(at.json) {
                        next(Yaml { json, top, collection }, JsonPiece::of([byte]));
                    }
                }
                Ok(())
            }
            (Top::Scalar, b'\n') if automaton.is_in_text(json) => Ok(()),
            (Top::Scalar | Top::End, b'\n') => self.lines(automaton, at, next),
            _ => Ok(()),
        }
    }

    /// The lines that may follow a value: those of the list or mapping it is in, and of those around it.
    fn lines(&mut self, automaton: &mut Automaton, at: Yaml, next: &mut Next<'_>) -> Result<(), AutomatonError> {
        let (mut json, mut id) = (at.json, at.collection);
        let mut closed = 0;
        while let Some(collection) = self.get(id) {
            if let Some(json) = automaton.step(json, b',')? {
                let line = Yaml {
                    json,
                    top: Top::Line(collection.indent),
                    collection: id,
                };
                let comma = JsonPiece::of([b',']);
                next(line, JsonPiece { closed, ..comma });
            }
            match automaton.step(json, collection.closing())? {
                Some(next) => (json, id) = (next, collection.around),
                None => break,
            }
            closed += 1;
        }
        Ok(())
    }

    /// Whether the document may end.
    pub(super) fn ends(&mut self, automaton: &mut Automaton, at: Yaml) -> Result<bool, AutomatonError> {
        if !matches!(at.top, Top::Scalar | Top::End) || automaton.is_in_text(at.json) {
            return Ok(false);
        }
        let (mut json, mut id) = (at.json, at.collection);
        while let Some(collection) = self.get(id) {
            match automaton.step(json, collection.closing())? {
                Some(closed) => (json, id) = (closed, collection.around),
                None => return Ok(false),
            }
        }
        automaton.is_complete(json)
    }

    /// The first byte of a value where a list or mapping may begin on the same line, its lines indented by `column`.
    fn begin(
        &mut self,
        automaton: &mut Automaton,
        at: Yaml,
        column: u32,
        byte: u8,
        next: &mut Next<'_>,
    ) -> Result<(), AutomatonError> {
        if byte == b'-' {
            if let Some(list) = self.open(automaton, at, false, column)? {
                let top = Top::Dash;
                next(Yaml { top, ..list }, JsonPiece::of([b'[']));
            }
        } else if is_of_name(byte, true)
            && let Some(mapping) = self.open(automaton, at, true, column)?
            && let Some(json) = read(automaton, mapping.json, &[b'"', byte])?
        {
            let top = Top::Name;
            next(Yaml { json, top, ..mapping }, JsonPiece::of([b'{', b'"', byte]));
        }
        // A document that is a list is not empty: in brackets it would be no block.
        match (at.top, byte) {
            (Top::Root, b'[') => Ok(()),
            _ => Self::scalar(automaton, at, byte, next),
        }
    }

    /// The first byte of a value that has no lines of its own.
    fn scalar(automaton: &mut Automaton, at: Yaml, byte: u8, next: &mut Next<'_>) -> Result<(), AutomatonError> {
        // A list that was begun here has an item, although `]` could stand in JSON.
        if matches!(byte, b'{' | b']') {
            return Ok(());
        }
        let Some(json) = automaton.step(at.json, byte)? else {
            return Ok(());
        };
        let top = match byte {
            b'[' if automaton.step(json, b']')?.is_none() => return Ok(()),
            b'[' => Top::Empty,
            _ => Top::Scalar,
        };
        next(Yaml { json, top, ..at }, JsonPiece::of([byte]));
        Ok(())
    }

    /// Returns the state before the first line of a list or mapping that is not empty; none where there is none.
    fn open(
        &mut self,
        automaton: &mut Automaton,
        at: Yaml,
        is_mapping: bool,
        indent: u32,
    ) -> Result<Option<Yaml>, AutomatonError> {
        let Some(json) = automaton.step(at.json, opening(is_mapping))? else {
            return Ok(None);
        };
        let has_extension = match is_mapping {
            true => automaton.step(json, b'"')?.is_some(),
            false => begins_any(automaton, json, FIRST)?,
        };
        if !has_extension {
            return Ok(None);
        }
        let around = at.collection;
        let collection = self.push(Collection {
            is_mapping,
            indent,
            around,
        });
        let top = Top::Line(indent);
        Ok(Some(Yaml { json, top, collection }))
    }
}

/// Returns the bracket that opens a list or mapping in JSON.
fn opening(is_mapping: bool) -> u8 {
    if is_mapping { b'{' } else { b'[' }
}

/// Whether a value may come that stands on the line of its name.
fn begins_on_its_line(automaton: &mut Automaton, json: State) -> Result<bool, AutomatonError> {
    Ok(begins_any(automaton, json, FIRST_OF_SCALARS)? || read(automaton, json, b"[]")?.is_some())
}

fn begins_any(automaton: &mut Automaton, json: State, bytes: &[u8]) -> Result<bool, AutomatonError> {
    for &byte in bytes {
        if automaton.step(json, byte)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The state after some bytes.
fn read(automaton: &mut Automaton, from: State, bytes: &[u8]) -> Result<Option<State>, AutomatonError> {
    let mut at = from;
    for &byte in bytes {
        match automaton.step(at, byte)? {
            Some(next) => at = next,
            None => return Ok(None),
        }
    }
    Ok(Some(at))
}
