//! [llguidance](https://crates.io/crates/llguidance), the engine of Guidance.

use std::borrow::Cow;
use std::sync::Arc;

use ::maskwright::{CompileError, CompileErrorKind, Compiler, MaskError, Masker, TokenId, TokenMask, Vocabulary};
use llguidance::api::TopLevelGrammar;
use llguidance::earley::SlicedBiasComputer;
use llguidance::{Matcher, ParserFactory};
use maskwright_worker::{Grammar, Setup};
use toktrie::{InferenceCapabilities, TokEnv};

use super::lark::lark_of_tag;
use super::token_trie::TrieVocabulary;
use super::{BuiltInFramework, Documented, Keyword, Restriction};

pub(super) const FRAMEWORK: BuiltInFramework = BuiltInFramework {
    name: "llguidance",
    description: "Guidance's engine: Earley parser over lexer derivatives, fast-forwarded tokens",
    version: env!("MASKWRIGHT_LLGUIDANCE_VERSION"),
    options: "defaults: whitespace_flexible, lenient off, coerce_one_of off, JSON slices",
    // Its option for that, `retriever`, takes a type that the crate does not export.
    accepts_documents: false,
    in_process: true,
    completes: false,
    structural_tags: true,
    documented: &DOCUMENTED,
    spelling: None,
    prepare: |setup| Ok(Box::new(LlguidanceCompiler::new(setup)?)),
};

/// The list "Supported JSON schema features" of the documentation, which has no `additionalItems`: that one is from the
/// keywords that the package's source lists as implemented. `oneOf` is "converted to anyOf only when provably
/// equivalent". Not looked at: that patterns of `patternProperties` have to be disjoint, and the "special handling" of
/// `minProperties` and `maxProperties` of 0 and 1.
static DOCUMENTED: Documented = Documented {
    source: Cow::Borrowed("https://github.com/guidance-ai/llguidance/blob/main/docs/json_schema.md"),
    keywords: Cow::Borrowed(KEYWORDS),
    formats: Cow::Borrowed(FORMATS),
    ignores_unknown_formats: false,
};

const KEYWORDS: &[Keyword] = &[
    Keyword::any("additionalItems"),
    Keyword::any("additionalProperties"),
    Keyword::any("allOf"),
    Keyword::any("anyOf"),
    Keyword::any("const"),
    Keyword::any("enum"),
    Keyword::any("exclusiveMaximum"),
    Keyword::any("exclusiveMinimum"),
    Keyword::any("items"),
    Keyword::any("maxItems"),
    Keyword::any("maxLength"),
    Keyword::any("maximum"),
    Keyword::any("minItems"),
    Keyword::any("minLength"),
    Keyword::any("minimum"),
    Keyword::any("multipleOf"),
    Keyword::any("patternProperties"),
    Keyword::any("prefixItems"),
    Keyword::any("properties"),
    Keyword::any("required"),
    Keyword::any("type"),
    Keyword::only("$ref", Restriction::Local),
    Keyword::only("maxProperties", Restriction::AllRequired),
    Keyword::only("minProperties", Restriction::AllRequired),
    Keyword::only("oneOf", Restriction::Disjoint),
    Keyword::only("pattern", Restriction::NoLookaround),
];

const FORMATS: &[Cow<'static, str>] = &[
    Cow::Borrowed("date"),
    Cow::Borrowed("date-time"),
    Cow::Borrowed("duration"),
    Cow::Borrowed("email"),
    Cow::Borrowed("hostname"),
    Cow::Borrowed("ipv4"),
    Cow::Borrowed("ipv6"),
    Cow::Borrowed("time"),
    Cow::Borrowed("uri"),
    Cow::Borrowed("uuid"),
];

struct LlguidanceCompiler {
    factory: ParserFactory,
    vocabulary: Arc<Vocabulary>,
    grammar: Grammar,
}

impl LlguidanceCompiler {
    fn new(setup: &Setup) -> Result<Self, String> {
        let vocabulary = setup.vocabulary.clone();
        let capabilities = InferenceCapabilities {
            ff_tokens: vocabulary.tokenizer().is_some(),
            ..Default::default()
        };
        let environment: TokEnv = Arc::new(TrieVocabulary::new(vocabulary.clone())?);
        let mut factory = ParserFactory::new(&environment, capabilities, &SlicedBiasComputer::json_slices())
            .map_err(|error| error.to_string())?;
        factory.quiet();
        Ok(Self {
            factory,
            vocabulary,
            grammar: setup.grammar,
        })
    }

    /// Returns the grammar that llguidance compiles for the text of a schema or a structural tag.
    fn grammar(&self, text: &str) -> Result<TopLevelGrammar, CompileError> {
        match self.grammar {
            Grammar::JsonSchema => serde_json::from_str(text)
                .map(TopLevelGrammar::from_json_schema)
                .map_err(|error| CompileError::new(CompileErrorKind::Malformed, error.to_string())),
            Grammar::StructuralTag => lark_of_tag(text, &self.vocabulary).map(TopLevelGrammar::from_lark),
        }
    }
}

impl Compiler for LlguidanceCompiler {
    fn compile(&self, schema: &str) -> Result<Box<dyn Masker>, CompileError> {
        let matcher = Matcher::new(self.factory.create_parser(self.grammar(schema)?));
        match matcher.get_error() {
            Some(message) => Err(compile_error(message)),
            None => Ok(Box::new(LlguidanceMasker {
                matcher,
                mask: TokenMask::none(self.vocabulary.len()),
                mask_is_current: false,
                vocabulary: self.vocabulary.clone(),
                position: 0,
                ended: false,
            })),
        }
    }
}

/// Sorts llguidance's messages into kinds by their wording; it has no error codes.
fn compile_error(message: String) -> CompileError {
    let is = |needles: &[&str]| needles.iter().any(|needle| message.contains(needle));
    let kind = if is(&["Unsatisfiable schema"]) {
        CompileErrorKind::Unsatisfiable
    } else if is(&["Unimplemented", "not supported", "unsupported", "Unknown format"]) {
        CompileErrorKind::Unsupported
    } else if is(&["too big", "too large", "too many", "limit", "fuel"]) {
        CompileErrorKind::LimitExceeded
    } else if is(&["panic"]) {
        CompileErrorKind::Internal
    } else {
        CompileErrorKind::Refused
    };
    CompileError::new(kind, message)
}

struct LlguidanceMasker {
    matcher: Matcher,
    mask: TokenMask,
    mask_is_current: bool,
    vocabulary: Arc<Vocabulary>,
    position: usize,
    /// Whether the last token accepted was an end of sequence that was not passed to the matcher, which had stopped by itself.
    ended: bool,
}

impl LlguidanceMasker {
    /// Returns whether a token is allowed. This is checked before the token is passed to the matcher, which a refused token makes unusable.
    fn accepts(&mut self, token: TokenId) -> Result<bool, MaskError> {
        if self.mask_is_current {
            return Ok(self.mask.allows(token));
        }
        if self.matcher.is_stopped() {
            return Ok(self.vocabulary.is_eos(token));
        }
        if self.vocabulary.is_eos(token) {
            return self.matcher.is_accepting().map_err(internal);
        }
        self.matcher
            .validate_tokens(&[token])
            .map(|accepted| accepted == 1)
            .map_err(internal)
    }

    fn check(&self) -> Result<(), MaskError> {
        match self.matcher.get_error() {
            Some(message) => Err(MaskError::Internal(message)),
            None => Ok(()),
        }
    }
}

impl Masker for LlguidanceMasker {
    fn mask(&mut self) -> Result<&TokenMask, MaskError> {
        if !self.mask_is_current {
            if self.ended {
                self.mask.clear();
            } else {
                let allowed = self.matcher.compute_mask_or_eos().map_err(internal)?;
                self.mask.copy_from_words(allowed.as_slice());
            }
            self.mask_is_current = true;
        }
        Ok(&self.mask)
    }

    fn advance(&mut self, token: TokenId) -> Result<(), MaskError> {
        if self.ended || !self.accepts(token)? {
            return Err(MaskError::TokenRefused {
                token,
                position: self.position,
            });
        }
        if self.vocabulary.is_eos(token) {
            self.ended = true;
        } else {
            self.matcher.consume_token(token).map_err(internal)?;
        }
        self.mask_is_current = false;
        self.position += 1;
        Ok(())
    }

    fn is_complete(&mut self) -> Result<bool, MaskError> {
        self.check()?;
        Ok(self.ended || self.matcher.is_stopped() || self.matcher.is_accepting().map_err(internal)?)
    }

    fn position(&self) -> usize {
        self.position
    }

    fn forced_tokens(&mut self, tokens: &mut Vec<TokenId>) -> Result<(), MaskError> {
        if self.ended {
            return Ok(());
        }
        if self.matcher.is_stopped() {
            self.check()?;
            tokens.extend(self.vocabulary.eos_tokens().first());
            return Ok(());
        }
        if self.vocabulary.tokenizer().is_some() {
            tokens.extend(self.matcher.compute_ff_tokens());
            self.check()?;
        }
        Ok(())
    }

    fn fork(&self) -> Result<Box<dyn Masker>, MaskError> {
        self.check()?;
        Ok(Box::new(Self {
            matcher: self.matcher.deep_clone(),
            mask: self.mask.clone(),
            vocabulary: self.vocabulary.clone(),
            ..*self
        }))
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), MaskError> {
        if tokens > self.position {
            return Err(MaskError::RollbackTooFar {
                asked: tokens,
                available: self.position,
            });
        }
        if tokens == 0 {
            return Ok(());
        }
        self.matcher
            .rollback(tokens - usize::from(self.ended))
            .map_err(internal)?;
        self.ended = false;
        self.mask_is_current = false;
        self.position -= tokens;
        Ok(())
    }
}

fn internal(error: impl std::fmt::Display) -> MaskError {
    MaskError::Internal(error.to_string())
}
