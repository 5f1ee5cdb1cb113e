//! [`Marks`]: texts that no document of a content has in it, in a style with all escapes: each is followed through the bytes as they are written.
//!
//! Such a document writes a text with an escape in it. So a state from which a text would be completed is never a dead end, and the mask
//! is that of the schema without the tokens that complete a text. In styles without these escapes, strings with the texts are left out
//! by the automaton of the schema.

use std::sync::OnceLock;

use crate::TokenId;
use crate::mask::index::tokens::Spelled;
use crate::mask::index::trie::ROOT;

use super::super::ambiguity::WithoutTexts;

/// Texts that no document has in it, with the tokens that complete one.
#[derive(Debug)]
pub(in crate::reply::tags) struct Marks {
    automaton: WithoutTexts,
    /// For each state of the automaton the tokens that complete a text, worked out when they are first asked for.
    completing: Box<[OnceLock<Box<[TokenId]>>]>,
}

impl Marks {
    pub(in crate::reply::tags) fn new(texts: &[&str]) -> Self {
        let automaton = WithoutTexts::new(texts);
        let completing = (0..automaton.len()).map(|_| OnceLock::new());
        Self {
            completing: completing.collect(),
            automaton,
        }
    }

    /// The state after a byte; none where it completes a text. State 0 is the one before a document.
    pub(in crate::reply::tags) fn step(&self, read: u16, byte: u8) -> Option<u16> {
        self.automaton.step(read, byte)
    }

    /// The tokens, among those of a trie, that complete a text from a state.
    pub(in crate::reply::tags) fn completing(&self, read: u16, every: &Spelled) -> &[TokenId] {
        self.completing[usize::from(read)].get_or_init(|| {
            let (trie, mut found) = (&every.trie, Vec::new());
            let walked: Result<(), std::convert::Infallible> = trie.descend(ROOT, read, |node, read| {
                let next = self.automaton.step(*read, trie.label(node));
                if next.is_none() {
                    found.extend_from_slice(&every.tokens[trie.run(node, trie.end(node))]);
                }
                Ok(next)
            });
            let Ok(()) = walked;
            found.sort_unstable();
            found.into()
        })
    }

    /// A text that goes on from a state, with an escape in the place of each character that completes a text.
    pub(in crate::reply::tags) fn escaped(&self, mut read: u16, text: Vec<u8>) -> Vec<u8> {
        let mut escaped = Vec::with_capacity(text.len());
        for byte in text {
            match self.automaton.step(read, byte) {
                Some(next) => {
                    escaped.push(byte);
                    read = next;
                }
                // The last character of each text is of ASCII.
                None => {
                    escaped.extend(format!("\\u{byte:04x}").bytes());
                    read = 0;
                }
            }
        }
        escaped
    }
}
