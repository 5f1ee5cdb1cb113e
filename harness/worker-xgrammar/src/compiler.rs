//! XGrammar behind maskwright's traits.

use std::sync::Arc;

use maskwright::{
    CompileError, CompileErrorKind, Compiler, MaskError, Masker, TokenId, TokenKind, TokenMask, Vocabulary,
};
use maskwright_worker::{Grammar, TokenHistory};
use xgrammar::{CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo, XGrammarErr};

use crate::bitmask::{failed, fill};
use crate::forced::forced_tokens;
use crate::tokens::tokenizer_info;

/// Limit on XGrammar's cache of rules and grammars, which by default has none. With the cache off, the rules that every schema
/// shares (strings, numbers) are worked out anew for each: ten times the time of compilation of a server that has run for a while.
const CACHE_BYTES: usize = 1 << 30;

/// The two ways XGrammar reads a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// XGrammar's default: members and items that the schema does not name are forbidden.
    Strict,
    /// The reading of JSON Schema: members and items that the schema does not name are allowed unless it forbids them.
    Standard,
}

impl Mode {
    /// The framework's name in this mode.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "xgrammar",
            Self::Standard => "xgrammar-standard",
        }
    }

    /// The options XGrammar runs with, as its documentation calls them.
    pub fn options(self) -> &'static str {
        match self {
            Self::Strict => {
                "any_whitespace, strict_mode, cache_enabled (defaults); max_threads 1, cache_limit_bytes 1 GiB"
            }
            Self::Standard => {
                "any_whitespace, cache_enabled (defaults), strict_mode off; max_threads 1, cache_limit_bytes 1 GiB"
            }
        }
    }
}

/// XGrammar, made ready for a vocabulary.
pub struct XgrammarCompiler {
    compiler: GrammarCompiler,
    mode: Mode,
    /// The kind of text that is compiled.
    source: Grammar,
    vocabulary: Arc<Vocabulary>,
}

impl XgrammarCompiler {
    /// Makes XGrammar ready for `vocabulary`, to compile texts of the kind `source`. Structural tags say of each schema how strictly it is read,
    /// whatever the mode.
    ///
    /// # Errors
    ///
    /// XGrammar's error, where it refuses the vocabulary.
    pub fn new(vocabulary: Arc<Vocabulary>, mode: Mode, source: Grammar) -> Result<Self, XGrammarErr> {
        let tokens: TokenizerInfo = tokenizer_info(&vocabulary)?;
        Ok(Self {
            compiler: GrammarCompiler::with(&tokens, Some(1), Some(true), Some(CACHE_BYTES)),
            mode,
            source,
            vocabulary,
        })
    }

    fn grammar(&self, text: &str) -> Result<CompiledGrammar, XGrammarErr> {
        let strict = self.mode == Mode::Strict;
        match self.source {
            Grammar::JsonSchema => self
                .compiler
                .compile_json_schema(text, None, None, None, Some(strict), None, None),
            Grammar::StructuralTag => self.compiler.compile_structural_tag(text),
        }
    }
}

impl Compiler for XgrammarCompiler {
    fn compile(&self, schema: &str) -> Result<Box<dyn Masker>, CompileError> {
        let grammar = self.grammar(schema).map_err(|error| compile_error(&error))?;
        Ok(Box::new(XgrammarMasker {
            // The package's own default, unlike XGrammar's, ends a document as soon as it may end.
            matcher: GrammarMatcher::with(&grammar, None, Some(false), None),
            history: TokenHistory::default(),
            mask: TokenMask::none(self.vocabulary.len()),
            mask_is_current: false,
            vocabulary: self.vocabulary.clone(),
        }))
    }
}

/// Sorts messages into kinds of errors by their wording: XGrammar does not report the kinds that it has inside.
fn compile_error(error: &XGrammarErr) -> CompileError {
    let message = error.to_string();
    let is = |needles: &[&str]| needles.iter().any(|needle| message.contains(needle));
    let kind = if matches!(error, XGrammarErr::InvalidJson(_)) || is(&["Failed to parse JSON", "failed to parse JSON"])
    {
        CompileErrorKind::Malformed
    } else if is(&["ecursion depth", "exceed", "overflow", "too large", "too many", "limit"]) {
        CompileErrorKind::LimitExceeded
    } else if is(&[
        "cannot accept any value",
        "Invalid range",
        "greater than",
        "less than",
        "contains no",
        "contains false",
    ]) {
        CompileErrorKind::Unsatisfiable
    } else if is(&["not supported", "nsupported"]) {
        CompileErrorKind::Unsupported
    } else if is(&["must be", "should be", "Value must"]) {
        CompileErrorKind::Malformed
    } else {
        CompileErrorKind::Refused
    };
    CompileError::new(kind, message)
}

/// Masker of a document in progress.
struct XgrammarMasker {
    matcher: GrammarMatcher,
    history: TokenHistory,
    mask: TokenMask,
    mask_is_current: bool,
    vocabulary: Arc<Vocabulary>,
}

impl XgrammarMasker {
    /// Whether XGrammar could take `token` in any state; others it refuses with a warning to standard error.
    fn is_known(&self, token: TokenId) -> bool {
        match self.vocabulary.kind(token) {
            TokenKind::Text => !self.vocabulary.token_bytes(token).is_empty(),
            TokenKind::Special => self.vocabulary.is_eos(token),
            TokenKind::Unused => false,
        }
    }

    /// Returns the token that XGrammar knows among those with the same bytes as `token`.
    fn known_twin(&self, token: TokenId) -> TokenId {
        let duplicates = self.vocabulary.duplicates();
        let found = duplicates.binary_search_by_key(&token, |&(_, second)| second);
        found.map_or(token, |at| duplicates[at].0)
    }
}

impl Masker for XgrammarMasker {
    fn mask(&mut self) -> Result<&TokenMask, MaskError> {
        if !self.mask_is_current {
            if self.matcher.is_terminated() {
                self.mask.clear();
            } else {
                fill(&mut self.matcher, &mut self.mask)?;
                for &(first, second) in self.vocabulary.duplicates() {
                    if self.mask.allows(first) {
                        self.mask.allow(second);
                    }
                }
            }
            self.mask_is_current = true;
        }
        Ok(&self.mask)
    }

    fn advance(&mut self, token: TokenId) -> Result<(), MaskError> {
        let forbidden = self.mask_is_current && !self.mask.allows(token);
        if forbidden
            || self.matcher.is_terminated()
            || !self.is_known(token)
            || !self.matcher.accept_token(self.known_twin(token).cast_signed(), None)
        {
            return Err(self.history.refusal(token));
        }
        self.history.push(token);
        self.mask_is_current = false;
        Ok(())
    }

    fn is_complete(&mut self) -> Result<bool, MaskError> {
        Ok(self.matcher.is_terminated() || self.matcher.is_completed())
    }

    fn position(&self) -> usize {
        self.history.position()
    }

    fn forced_tokens(&mut self, tokens: &mut Vec<TokenId>) -> Result<(), MaskError> {
        if !self.matcher.is_terminated() {
            tokens.extend(forced_tokens(
                &mut self.matcher,
                &self.vocabulary,
                self.history.tokens(),
            )?);
        }
        Ok(())
    }

    fn fork(&self) -> Result<Box<dyn Masker>, MaskError> {
        Ok(Box::new(Self {
            matcher: self.matcher.fork(),
            history: self.history.clone(),
            mask: self.mask.clone(),
            mask_is_current: self.mask_is_current,
            vocabulary: self.vocabulary.clone(),
        }))
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), MaskError> {
        if self.history.take_back(tokens)? {
            // More tokens than that are in no history.
            let steps = i32::try_from(tokens).unwrap_or(i32::MAX);
            self.matcher.rollback(Some(steps)).map_err(failed)?;
            self.mask_is_current = false;
        }
        Ok(())
    }
}
