//! [`WithoutTexts`]: the Aho-Corasick automaton of texts that contain none of some given texts; [`ExcludedTexts`]: beside it, the texts that a text
//! is not as a whole.

use hashbrown::HashMap;
use smallvec::SmallVec;

/// A deterministic automaton over bytes for the texts that contain none of some given texts. A state is the longest prefix of a given text that
/// the text read so far ends with.
#[derive(Debug)]
pub(in crate::reply::tags) struct WithoutTexts {
    /// For each state and byte the next state; none where one of the texts ends.
    next: Box<[[Option<u16>; 256]]>,
}

impl WithoutTexts {
    /// Builds the automaton; state 0 is the empty prefix.
    pub(in crate::reply::tags) fn new(texts: &[&str]) -> Self {
        let beginnings = |text: &&str| {
            let bytes = text.as_bytes().to_vec();
            (0..bytes.len()).map(move |length| bytes[..length].to_vec())
        };
        let mut states: Vec<Vec<u8>> = texts.iter().flat_map(beginnings).chain([Vec::new()]).collect();
        states.sort_unstable();
        states.dedup();
        let numbers: HashMap<&[u8], u16> = states.iter().map(|read| &read[..]).zip(0..).collect();
        let next = states.iter().map(|read| {
            let mut read = read.clone();
            let mut row = [None; 256];
            for byte in 0..=u8::MAX {
                read.push(byte);
                if !texts.iter().any(|text| read.ends_with(text.as_bytes())) {
                    // The empty beginning is one of them.
                    let mut ends = (0..=read.len()).map(|from| &read[from..]);
                    row[usize::from(byte)] = ends.find_map(|end| numbers.get(end).copied());
                }
                read.pop();
            }
            row
        });
        Self { next: next.collect() }
    }

    /// Number of states.
    pub(in crate::reply::tags) fn len(&self) -> usize {
        self.next.len()
    }

    /// The state after a byte; none where one of the texts ends with it.
    pub(in crate::reply::tags) fn step(&self, state: u16, byte: u8) -> Option<u16> {
        self.next[usize::from(state)][usize::from(byte)]
    }
}

/// A tree of texts that a text is not as a whole. A state is a text that one of them begins with.
#[derive(Debug)]
pub(super) struct ExcludedTexts(Box<[Begun]>);

/// A text that one of some texts begins with.
#[derive(Debug, Default)]
struct Begun {
    next: SmallVec<[(u8, u32); 1]>,
    /// Whether it is one of the texts.
    is_one: bool,
    /// The state of [`WithoutTexts`] behind it.
    read: u16,
}

impl ExcludedTexts {
    /// The empty text.
    pub(super) const START: u32 = 0;

    /// Builds the tree; texts that `without` does not have are left out from there.
    pub(super) fn new(texts: &[String], without: &WithoutTexts) -> Self {
        let mut begun = vec![Begun::default()];
        for text in texts {
            let mut at = 0;
            let is_there = text.bytes().all(|byte| {
                let known = begun[at].next.iter().find(|(known, _)| *known == byte);
                let next = known.map(|(_, next)| *next as usize);
                let next = next.or_else(|| {
                    let read = without.step(begun[at].read, byte)?;
                    let new = begun.len();
                    begun[at].next.push((byte, new as u32));
                    begun.push(Begun {
                        read,
                        ..Begun::default()
                    });
                    Some(new)
                });
                at = next.unwrap_or(at);
                next.is_some()
            });
            begun[at].is_one |= is_there;
        }
        Self(begun.into())
    }

    /// Number of states.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the text of a state is one of the texts.
    pub(super) fn is_one(&self, state: u32) -> bool {
        self.0[state as usize].is_one
    }

    /// The state of [`WithoutTexts`] behind the text of a state.
    pub(super) fn read(&self, state: u32) -> u16 {
        self.0[state as usize].read
    }

    /// The state after a byte; none where no text begins so.
    pub(super) fn step(&self, state: u32, byte: u8) -> Option<u32> {
        let next = &self.0[state as usize].next;
        next.iter().find(|(known, _)| *known == byte).map(|(_, next)| *next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_wherever_they_end() {
        let texts = ["</a>", "aab", "b<"];
        let without = WithoutTexts::new(&texts);
        for text in ["</a", "<</a>", "aaab", "aaaa", "bb<", "</</a>", "b b", ""] {
            let mut state = Some(0);
            for (at, byte) in text.bytes().enumerate() {
                state = state.and_then(|state| without.step(state, byte));
                let found = texts.iter().any(|wanted| text[..=at].contains(wanted));
                assert_eq!(state.is_none(), found, "{text} {at}");
            }
        }
    }
}
