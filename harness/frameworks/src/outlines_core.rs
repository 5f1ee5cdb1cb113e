//! [outlines-core](https://crates.io/crates/outlines-core), the engine of Outlines, in process.
//!
//! A schema becomes a regular expression, the expression an automaton over bytes, and the automaton a table that
//! holds, for every state, every token with the state it leads to. Masks are read off the table, so all the work
//! is in compiling: a schema that allows any JSON value takes tens of seconds and gigabytes with a large vocabulary.

use std::borrow::Cow;
use std::error::Error as _;
use std::sync::Arc;

use ::maskwright::{
    CompileError, CompileErrorKind, Compiler, MaskError, Masker, TokenId, TokenKind, TokenMask, Vocabulary,
};
use outlines_core::Error as OutlinesError;
use outlines_core::index::Index;
use outlines_core::json_schema::regex_from_str;
use outlines_core::primitives::StateId;
use outlines_core::vocabulary::Vocabulary as OutlinesVocabulary;

use super::{BuiltInFramework, Documented, Keyword, Restriction};

/// Longest error message kept: outlines-core quotes whole schemas.
const MESSAGE_CHARACTERS: usize = 400;

pub(super) const FRAMEWORK: BuiltInFramework = BuiltInFramework {
    name: "outlines-core",
    description: "Outlines' engine: JSON Schema as a regular expression, token table by automaton state",
    version: env!("MASKWRIGHT_OUTLINES_CORE_VERSION"),
    options: "defaults: whitespace_pattern `[ ]?`, max_recursion_depth 3",
    accepts_documents: false,
    // Compiling can take minutes and all of the memory.
    in_process: false,
    completes: false,
    structural_tags: false,
    documented: &DOCUMENTED,
    spelling: None,
    prepare: |setup| Ok(Box::new(OutlinesCompiler::new(setup.vocabulary.clone())?)),
};

/// The list "Supported constraints" of the documentation, without the ones that are not JSON Schema's (`minDigits` and
/// the like), and its section "References"; the formats are the variants of `FormatType`, to which it refers. Not looked
/// at: that references are followed three levels deep.
static DOCUMENTED: Documented = Documented {
    source: Cow::Borrowed("https://docs.rs/outlines-core/0.2.14/outlines_core/json_schema/index.html"),
    keywords: Cow::Borrowed(KEYWORDS),
    formats: Cow::Borrowed(FORMATS),
    ignores_unknown_formats: false,
};

const KEYWORDS: &[Keyword] = &[
    Keyword::any("additionalProperties"),
    Keyword::any("allOf"),
    Keyword::any("anyOf"),
    Keyword::any("const"),
    Keyword::any("enum"),
    Keyword::any("items"),
    Keyword::any("maxItems"),
    Keyword::any("maxLength"),
    Keyword::any("maxProperties"),
    Keyword::any("minItems"),
    Keyword::any("minLength"),
    Keyword::any("minProperties"),
    Keyword::any("oneOf"),
    Keyword::any("pattern"),
    Keyword::any("prefixItems"),
    Keyword::any("properties"),
    Keyword::any("required"),
    Keyword::any("type"),
    Keyword::only("$ref", Restriction::Local),
];

const FORMATS: &[Cow<'static, str>] = &[
    Cow::Borrowed("date"),
    Cow::Borrowed("date-time"),
    Cow::Borrowed("email"),
    Cow::Borrowed("time"),
    Cow::Borrowed("uri"),
    Cow::Borrowed("uuid"),
];

struct OutlinesCompiler {
    tokens: OutlinesVocabulary,
    vocabulary: Arc<Vocabulary>,
}

impl OutlinesCompiler {
    fn new(vocabulary: Arc<Vocabulary>) -> Result<Self, String> {
        let tokens = tokens(&vocabulary).map_err(|error| error.to_string())?;
        Ok(Self { tokens, vocabulary })
    }
}

/// The text tokens as outlines-core wants them. It knows a single end-of-sequence token; the masker adds the others.
fn tokens(vocabulary: &Vocabulary) -> Result<OutlinesVocabulary, OutlinesError> {
    let mut tokens = OutlinesVocabulary::new(vocabulary.eos_tokens().first().copied().unwrap_or(TokenId::MAX));
    for token in 0..vocabulary.len() as TokenId {
        let bytes = vocabulary.token_bytes(token);
        // An empty token would be allowed everywhere and lead nowhere.
        if vocabulary.kind(token) == TokenKind::Text && !bytes.is_empty() {
            tokens.try_insert(bytes, token)?;
        }
    }
    Ok(tokens)
}

impl Compiler for OutlinesCompiler {
    fn compile(&self, schema: &str) -> Result<Box<dyn Masker>, CompileError> {
        let index = regex_from_str(schema, None, None)
            .and_then(|regex| Index::new(&regex, &self.tokens))
            .map_err(|error| compile_error(&error))?;
        Ok(Box::new(OutlinesMasker {
            state: index.initial_state(),
            index: Arc::new(index),
            past: Vec::new(),
            ended: false,
            mask: TokenMask::none(self.vocabulary.len()),
            mask_is_current: false,
            vocabulary: self.vocabulary.clone(),
        }))
    }
}

fn compile_error(error: &OutlinesError) -> CompileError {
    let (kind, keyword) = sort(error);
    let mut message = match error {
        // Its own message repeats the whole regular expression.
        OutlinesError::IncompatibleVocabulary { missing_tokens, .. } => {
            format!("no token continues a state of the regular expression; missing are {missing_tokens:?}")
        }
        _ => error.to_string(),
    };
    if let OutlinesError::IndexDfaError(error) = error {
        // The automaton's error says only that it is one; the reason is among its sources.
        let mut source = error.source();
        while let Some(error) = source {
            message = format!("{message}: {error}");
            source = error.source();
        }
    }
    let error = CompileError::new(kind, message.chars().take(MESSAGE_CHARACTERS).collect::<String>());
    match keyword {
        Some(keyword) => error.on_keyword(keyword),
        None => error,
    }
}

/// The kind of an error, and the keyword that it is about where there is one.
fn sort(error: &OutlinesError) -> (CompileErrorKind, Option<&'static str>) {
    use CompileErrorKind::{Internal, LimitExceeded, Malformed, Refused, Unsatisfiable, Unsupported};
    match error {
        OutlinesError::SerdeJsonError(_) => (Malformed, None),
        OutlinesError::UnsupportedJsonSchema(_) => (Unsupported, None),
        OutlinesError::UnsupportedType(_) => (Unsupported, Some("type")),
        OutlinesError::UnsupportedEnumDataType(_) => (Unsupported, Some("enum")),
        OutlinesError::UnsupportedConstDataType(_) => (Unsupported, Some("const")),
        OutlinesError::StringTypeUnsupportedFormat(_) => (Unsupported, Some("format")),
        OutlinesError::ExternalReferencesNotSupported(_)
        | OutlinesError::InvalidReferenceFormat(_)
        | OutlinesError::InvalidRefecencePath(_) => (Unsupported, Some("$ref")),
        OutlinesError::RefRecursionLimitReached(_) => (LimitExceeded, Some("$ref")),
        OutlinesError::PropertiesNotFound => (Malformed, Some("properties")),
        OutlinesError::AllOfMustBeAnArray => (Malformed, Some("allOf")),
        OutlinesError::AnyOfMustBeAnArray => (Malformed, Some("anyOf")),
        OutlinesError::OneOfMustBeAnArray => (Malformed, Some("oneOf")),
        OutlinesError::PrefixItemsMustBeAnArray => (Malformed, Some("prefixItems")),
        OutlinesError::EnumMustBeAnArray => (Malformed, Some("enum")),
        OutlinesError::ConstKeyNotFound => (Malformed, Some("const")),
        OutlinesError::RefMustBeAString => (Malformed, Some("$ref")),
        OutlinesError::TypeMustBeAStringOrArray => (Malformed, Some("type")),
        OutlinesError::MaxBoundError => (Unsatisfiable, Some("maxLength")),
        OutlinesError::IndexDfaError(error) if error.is_size_limit_exceeded() => (LimitExceeded, None),
        // Syntax that the regex crate does not have (lookaround, backreferences), or none at all.
        OutlinesError::IndexDfaError(_) | OutlinesError::DfaHasNoStartState => (Unsupported, Some("pattern")),
        OutlinesError::IncompatibleVocabulary { missing_tokens, .. } if missing_tokens.is_empty() => {
            (Unsatisfiable, None)
        }
        OutlinesError::IncompatibleVocabulary { .. } => (Refused, None),
        // The rest is about tokenizers from the Hugging Face hub, which are not used here.
        _ => (Internal, None),
    }
}

struct OutlinesMasker {
    index: Arc<Index>,
    state: StateId,
    /// The states that the accepted tokens led from.
    past: Vec<StateId>,
    /// Whether the last token accepted was an end of sequence, for which the index has no state.
    ended: bool,
    mask: TokenMask,
    mask_is_current: bool,
    vocabulary: Arc<Vocabulary>,
}

impl OutlinesMasker {
    fn fill_mask(&mut self) {
        self.mask.clear();
        if self.ended {
            return;
        }
        for &token in self.index.allowed_tokens_iter(&self.state).into_iter().flatten() {
            self.mask.allow(token);
        }
        if self.index.is_final_state(&self.state) {
            for &eos in self.vocabulary.eos_tokens() {
                self.mask.allow(eos);
            }
        }
    }

    /// The state after `token`; an end of sequence stays where it is.
    fn next_state(&self, token: TokenId) -> Option<StateId> {
        if self.ended {
            None
        } else if self.vocabulary.is_eos(token) {
            self.index.is_final_state(&self.state).then_some(self.state)
        } else {
            self.index.next_state(&self.state, &token)
        }
    }
}

impl Masker for OutlinesMasker {
    fn mask(&mut self) -> Result<&TokenMask, MaskError> {
        if !self.mask_is_current {
            self.fill_mask();
            self.mask_is_current = true;
        }
        Ok(&self.mask)
    }

    fn advance(&mut self, token: TokenId) -> Result<(), MaskError> {
        let Some(next) = self.next_state(token) else {
            return Err(MaskError::TokenRefused {
                token,
                position: self.position(),
            });
        };
        self.past.push(self.state);
        self.state = next;
        self.ended = self.vocabulary.is_eos(token);
        self.mask_is_current = false;
        Ok(())
    }

    fn is_complete(&mut self) -> Result<bool, MaskError> {
        Ok(self.ended || self.index.is_final_state(&self.state))
    }

    fn position(&self) -> usize {
        self.past.len()
    }

    /// Appends nothing, because outlines-core does not look for forced tokens.
    fn forced_tokens(&mut self, _tokens: &mut Vec<TokenId>) -> Result<(), MaskError> {
        Ok(())
    }

    fn fork(&self) -> Result<Box<dyn Masker>, MaskError> {
        Ok(Box::new(Self {
            index: self.index.clone(),
            past: self.past.clone(),
            mask: self.mask.clone(),
            vocabulary: self.vocabulary.clone(),
            ..*self
        }))
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), MaskError> {
        let available = self.position();
        let Some(position) = available.checked_sub(tokens) else {
            return Err(MaskError::RollbackTooFar {
                asked: tokens,
                available,
            });
        };
        if let Some(&state) = self.past.get(position) {
            self.state = state;
            self.past.truncate(position);
            self.ended = false;
            self.mask_is_current = false;
        }
        Ok(())
    }
}
