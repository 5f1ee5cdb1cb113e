//! Steps of replies that surround data with fixed text: the text is compared byte by byte, the data is read by its automaton.
//!
//! Reading is nondeterministic (a line break may continue the data or end it), so a state is a list of [`Thread`]s, each of which can be
//! completed.

use smallvec::SmallVec;

use crate::automaton::{Automaton, AutomatonError, State};

use super::yaml::{Collections, JsonPiece, Yaml};
use super::{DataFormat, Envelope, ReplyForm, text};

/// The position of one parse of the reply so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Thread {
    /// Number of the envelope.
    pub(super) envelope: u16,
    pub(super) at: At,
}

/// A position in a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum At {
    /// Before the data, after so many bytes.
    Before(u32),
    /// In JSON.
    Json(State),
    /// In YAML.
    Yaml(Yaml),
    /// In a string that stands as it is.
    Text(State),
    /// After the data and so many bytes more.
    After(u32),
}

/// Steps the threads of replies of one form.
#[derive(Debug)]
pub(super) struct ThreadReader<'a> {
    pub(super) form: &'a ReplyForm,
    /// The state before the data.
    pub(super) start: State,
    pub(super) automaton: &'a mut Automaton,
    pub(super) collections: &'a mut Collections,
}

/// The threads before a reply.
pub(super) fn begin(form: &ReplyForm, start: State) -> Vec<Thread> {
    let envelopes = (0..).zip(&form.envelopes);
    let threads = envelopes.map(|(number, envelope)| Thread {
        envelope: number,
        at: match envelope.before.is_empty() {
            true => data(form.data, start),
            false => At::Before(0),
        },
    });
    threads.collect()
}

/// The position before the data. For a text, the opening quote in JSON has been read.
pub(super) fn data(format: DataFormat, start: State) -> At {
    match format {
        DataFormat::Json => At::Json(start),
        DataFormat::Yaml => At::Yaml(Yaml::root(start)),
        DataFormat::Text => At::Text(start),
    }
}

/// The JSON that has been read where the data begins.
pub(super) fn opening(format: DataFormat) -> JsonPiece {
    match format {
        DataFormat::Json | DataFormat::Yaml => JsonPiece::default(),
        DataFormat::Text => JsonPiece::of([b'"']),
    }
}

impl<'a> ThreadReader<'a> {
    pub(super) fn envelope(&self, thread: &Thread) -> &'a Envelope {
        &self.form.envelopes[usize::from(thread.envelope)]
    }

    /// Adds the threads after one more byte to `next`.
    pub(super) fn step(
        &mut self,
        threads: &[Thread],
        byte: u8,
        next: &mut SmallVec<[Thread; 2]>,
    ) -> Result<(), AutomatonError> {
        self.step_from(threads, byte, &mut |_, thread, _| next.push(thread))
    }

    /// Hands out the threads after one more byte, each with the index of its predecessor and the JSON between them.
    pub(super) fn step_from(
        &mut self,
        threads: &[Thread],
        byte: u8,
        next: &mut dyn FnMut(usize, Thread, JsonPiece),
    ) -> Result<(), AutomatonError> {
        for (from, thread) in threads.iter().enumerate() {
            let envelope = self.envelope(thread);
            let number = thread.envelope;
            match thread.at {
                At::Before(read) => {
                    if envelope.before.as_bytes().get(read as usize) == Some(&byte) {
                        let (at, piece) = match read as usize + 1 == envelope.before.len() {
                            true => (data(self.form.data, self.start), opening(self.form.data)),
                            false => (At::Before(read + 1), JsonPiece::default()),
                        };
                        next(from, Thread { envelope: number, at }, piece);
                    }
                    continue;
                }
                At::After(read) => {
                    if envelope.after.as_bytes().get(read as usize) == Some(&byte) {
                        let at = At::After(read + 1);
                        next(from, Thread { envelope: number, at }, JsonPiece::default());
                    }
                    continue;
                }
                At::Json(state) => {
                    if let Some(at) = self.automaton.step(state, byte)?.map(At::Json) {
                        next(from, Thread { envelope: number, at }, JsonPiece::of([byte]));
                    }
                }
                At::Text(state) => {
                    if let Some(at) = text::step(self.automaton, state, byte)?.map(At::Text) {
                        let piece = JsonPiece::of_slice(&text::escaped(byte));
                        next(from, Thread { envelope: number, at }, piece);
                    }
                }
                At::Yaml(yaml) => {
                    let (automaton, collections) = (&mut *self.automaton, &mut *self.collections);
                    collections.step(automaton, yaml, byte, &mut |yaml, piece| {
                        let at = At::Yaml(yaml);
                        next(from, Thread { envelope: number, at }, piece);
                    })?;
                }
            }
            if envelope.after.as_bytes().first() == Some(&byte) && self.ends(thread)? {
                let at = At::After(1);
                next(from, Thread { envelope: number, at }, JsonPiece::default());
            }
        }
        Ok(())
    }

    /// Whether the data of a thread may end where it stands.
    pub(super) fn ends(&mut self, thread: &Thread) -> Result<bool, AutomatonError> {
        match thread.at {
            At::Before(_) | At::After(_) => Ok(false),
            At::Json(state) => self.automaton.is_complete(state),
            At::Yaml(yaml) => self.collections.ends(self.automaton, yaml),
            At::Text(state) => text::ends(self.automaton, state),
        }
    }

    /// Whether the reply may end here.
    pub(super) fn is_complete(&mut self, threads: &[Thread]) -> Result<bool, AutomatonError> {
        for thread in threads {
            let envelope = self.envelope(thread);
            let complete = match thread.at {
                At::Before(_) => false,
                At::After(read) => read as usize == envelope.after.len(),
                At::Json(_) | At::Yaml(_) | At::Text(_) => envelope.after.is_empty() && self.ends(thread)?,
            };
            if complete {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
