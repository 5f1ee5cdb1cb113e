//! [`ExactCompiler`]: this project's own compiler.

mod alike;
mod chain;
mod content;
mod contents;
mod forced;
mod kept;
mod names;
mod rest;
mod runs;
#[cfg(test)]
mod tests;
mod token_set;
mod tokens;
mod trie;
mod values;
mod walk;
mod work;

use std::fmt;
use std::sync::Arc;

use crate::automaton::{Automaton, Formats, State};
use crate::schema::{SchemaOptions, SchemaSet};
use crate::{CompileError, CompileErrorKind, Compiler, MaskError, Masker, Style, TokenId, TokenMask, Vocabulary};
use token_set::{Easel, TokenSet};
use tokens::Tokens;
use work::{Shared, mask_error};

/// How schemas are read.
#[derive(Clone, Debug, Default)]
pub struct ExactOptions {
    /// Dialect, documents for references, limits on loading.
    pub schema: SchemaOptions,
    /// Whether `format` asserts.
    pub formats: Formats,
    /// Which texts of a value are written.
    pub style: Style,
}

/// Compiles schemas into masks that allow a token if and only if some valid document goes on with it.
///
/// Documents are JSON in a [`Style`], without a name that comes twice in an object. What the compiler cannot treat exactly it refuses, with the place and the keyword.
pub struct ExactCompiler {
    vocabulary: Arc<Vocabulary>,
    tokens: Arc<Tokens>,
    options: ExactOptions,
}

impl fmt::Debug for ExactCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExactCompiler")
            .field("vocabulary", &self.vocabulary)
            .field("options", &self.options)
            .finish()
    }
}

impl ExactCompiler {
    /// A compiler for a vocabulary. Sorts its tokens, which takes a fraction of a second.
    pub fn new(vocabulary: Arc<Vocabulary>, options: ExactOptions) -> Self {
        Self {
            tokens: Arc::new(Tokens::new(&vocabulary, options.style)),
            vocabulary,
            options,
        }
    }
}

impl Compiler for ExactCompiler {
    fn compile(&self, schema: &str) -> Result<Box<dyn Masker>, CompileError> {
        let set = SchemaSet::load(schema, &self.options.schema)?;
        let (mut automaton, root) = Automaton::new(set, self.options.formats, self.options.style)?;
        let Some(start) = automaton.start(root)? else {
            let conflict = crate::explain::unsatisfiable(automaton.schema(), self.options.formats);
            let message = format!("no JSON value is valid under this schema: {conflict}");
            return Err(CompileError::new(CompileErrorKind::Unsatisfiable, message).at(""));
        };
        let shared = Shared::new(self.vocabulary.clone(), self.tokens.clone(), automaton);
        Ok(Box::new(ExactMasker {
            shared: Arc::new(shared),
            places: vec![start],
            tokens: Vec::new(),
            ended: false,
            easel: Easel::default(),
        }))
    }
}

/// A place in a document under a compiled schema.
struct ExactMasker {
    shared: Arc<Shared>,
    /// The place before each token accepted, and the present one.
    places: Vec<State>,
    /// The tokens accepted, without an end of sequence.
    tokens: Vec<TokenId>,
    /// Whether an end of sequence was accepted.
    ended: bool,
    easel: Easel,
}

impl ExactMasker {
    fn place(&self) -> State {
        // There is always the first.
        self.places[self.places.len() - 1]
    }

    fn refused(&self, token: TokenId) -> MaskError {
        MaskError::TokenRefused {
            token,
            position: self.position(),
        }
    }
}

impl Masker for ExactMasker {
    fn mask(&mut self) -> Result<&TokenMask, MaskError> {
        let tokens = match self.ended {
            true => Arc::new(TokenSet::none()),
            false => self.shared.work().mask(self.place(), &self.shared)?,
        };
        Ok(self
            .easel
            .draw(&tokens, self.shared.sets(), self.shared.vocabulary.len()))
    }

    fn advance(&mut self, token: TokenId) -> Result<(), MaskError> {
        if self.ended {
            return Err(self.refused(token));
        }
        if self.shared.vocabulary.is_eos(token) {
            if !self.is_complete()? {
                return Err(self.refused(token));
            }
            self.ended = true;
        } else {
            let bytes = match self.shared.vocabulary.kind(token) {
                crate::TokenKind::Text => self.shared.vocabulary.token_bytes(token),
                _ => &[],
            };
            let next = match bytes {
                [] => None,
                bytes => self.shared.work().after(self.place(), bytes)?,
            };
            match next {
                Some(next) => {
                    self.places.push(next);
                    self.tokens.push(token);
                }
                None => return Err(self.refused(token)),
            }
        }
        Ok(())
    }

    fn is_complete(&mut self) -> Result<bool, MaskError> {
        let place = self.place();
        Ok(self.ended || self.shared.work().automaton.is_complete(place).map_err(mask_error)?)
    }

    fn position(&self) -> usize {
        self.places.len() - 1 + usize::from(self.ended)
    }

    fn forced_tokens(&mut self, tokens: &mut Vec<TokenId>) -> Result<(), MaskError> {
        if !self.ended {
            let vocabulary = &self.shared.vocabulary;
            let automaton = &mut self.shared.work().automaton;
            tokens.extend(forced::forced_tokens(
                vocabulary,
                &self.shared.tokens,
                automaton,
                self.place(),
                &self.tokens,
            )?);
        }
        Ok(())
    }

    fn completion(&mut self, tokens: &mut Vec<TokenId>) -> Result<bool, MaskError> {
        if self.ended {
            return Ok(true);
        }
        let rest = self
            .shared
            .work()
            .automaton
            .completion(self.place())
            .map_err(mask_error)?;
        let spelled = rest.and_then(|rest| self.shared.vocabulary.spell(&rest));
        tokens.extend(spelled.iter().flatten());
        Ok(spelled.is_some())
    }

    fn fork(&self) -> Result<Box<dyn Masker>, MaskError> {
        Ok(Box::new(Self {
            shared: self.shared.clone(),
            places: self.places.clone(),
            tokens: self.tokens.clone(),
            ended: self.ended,
            easel: Easel::default(),
        }))
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), MaskError> {
        let available = self.position();
        if tokens > available {
            return Err(MaskError::RollbackTooFar {
                asked: tokens,
                available,
            });
        }
        if tokens > 0 {
            let places = tokens - usize::from(self.ended);
            self.ended = false;
            self.places.truncate(self.places.len() - places);
            self.tokens.truncate(self.tokens.len() - places);
        }
        Ok(())
    }
}
