//! [`SchemaCompiler`]: compiles schemas and keeps them; [`CompiledSchema`]: makes matchers.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use maskwright::{
    CompileError, Compiler as _, ExactCompiler, ExactOptions, GrammarSyntax, Masker, ReplyCompiler, Vocabulary,
};

use crate::cache::Cache;
use crate::matcher::{LimitReached, Matcher, MatcherError, MatcherOptions};

/// Share, of what the limits on all answers together leave a schema once it is compiled, that answers may use before the schema is compiled anew. The
/// other three quarters are for the answers that are still being written.
const MOST_USED_BY_ANSWERS: f64 = 0.25;

/// Compiles schemas for one vocabulary and keeps the compiled ones. Threads share it.
///
/// A compiled schema grows with the answers that are written and gives no memory back, so that all later answers would fail once it has
/// come to [`Limits::memory_bytes`](maskwright::Limits::memory_bytes). A schema whose answers have [come near](CompiledSchema::is_limit_reached)
/// such a limit is therefore compiled anew when it is asked for next.
pub struct SchemaCompiler {
    vocabulary: Arc<Vocabulary>,
    options: ExactOptions,
    exact: ExactCompiler,
    replies: ReplyCompiler,
    cache: Cache<Arc<CompiledSchema>>,
}

impl fmt::Debug for SchemaCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchemaCompiler")
            .field("vocabulary", &self.vocabulary)
            .field("cache", &self.cache.size())
            .finish_non_exhaustive()
    }
}

impl SchemaCompiler {
    /// A compiler that keeps compiled schemas of up to `cache_bytes` bytes together, the last one always. Sorting the vocabulary
    /// takes a fraction of a second.
    pub fn new(vocabulary: Arc<Vocabulary>, options: ExactOptions, cache_bytes: usize) -> Self {
        Self {
            exact: ExactCompiler::new(vocabulary.clone(), options.clone()),
            replies: ReplyCompiler::new(vocabulary.clone(), options.clone()),
            vocabulary,
            options,
            cache: Cache::new(cache_bytes),
        }
    }

    /// Compiles the text of a JSON Schema, or gives the one that was kept. Several threads that ask for one new schema at once may
    /// each compile it; they are given the same.
    ///
    /// # Errors
    ///
    /// [`CompileError`], with the place and the keyword. Errors are not kept.
    pub fn json_schema(&self, schema: &str) -> Result<Arc<CompiledSchema>, CompileError> {
        self.kept("schema", schema, || self.exact.compile(schema))
    }

    /// Compiles a regular expression that a whole answer matches, as [`ReplyCompiler::compile_regex`] does, or returns the cached schema. The
    /// dialect is the options' [`PatternSyntax`](maskwright::PatternSyntax).
    ///
    /// # Errors
    ///
    /// [`CompileError`], with the expression.
    pub fn regex(&self, pattern: &str) -> Result<Arc<CompiledSchema>, CompileError> {
        self.kept("regex", pattern, || self.replies.compile_regex(pattern))
    }

    /// Compiles a list of fixed texts, one of which is the answer, or returns the cached schema.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where there is no text.
    pub fn choice(&self, choices: &[String]) -> Result<Arc<CompiledSchema>, CompileError> {
        // Each text with its length, so that no two lists read alike.
        let key: String = choices
            .iter()
            .map(|choice| format!("{} {choice}", choice.len()))
            .collect();
        self.kept("choice", &key, || {
            self.replies.compile_choice(choices.iter().map(String::as_str))
        })
    }

    /// Compiles a grammar, as [`ReplyCompiler::compile_grammar`] does, or returns the cached schema. The notation is
    /// [guessed](GrammarSyntax::of) from the text, where none is given.
    ///
    /// # Errors
    ///
    /// [`CompileError`], with line and column where the grammar cannot be read.
    pub fn grammar(&self, grammar: &str, syntax: Option<GrammarSyntax>) -> Result<Arc<CompiledSchema>, CompileError> {
        let syntax = syntax.unwrap_or_else(|| GrammarSyntax::of(grammar));
        self.kept(&format!("grammar {syntax:?}"), grammar, || {
            self.replies.compile_grammar(grammar, syntax)
        })
    }

    /// Compiles the JSON of a structural tag, as [`ReplyCompiler::compile_structural_tag`] does, or returns the cached schema.
    ///
    /// # Errors
    ///
    /// [`CompileError`], with the place in the structural tag.
    pub fn structural_tag(&self, tag: &str) -> Result<Arc<CompiledSchema>, CompileError> {
        self.kept("structural tag", tag, || self.replies.compile_structural_tag(tag))
    }

    /// Returns the cached schema for a text of a kind, or else compiles the text and caches the result.
    fn kept(
        &self,
        kind: &str,
        text: &str,
        compile: impl FnOnce() -> Result<Box<dyn Masker>, CompileError>,
    ) -> Result<Arc<CompiledSchema>, CompileError> {
        let key = format!("{kind} {text}");
        if let Some(kept) = self.cache.get(&key, |kept| kept.memory_bytes()) {
            if !kept.is_limit_reached() {
                return Ok(kept);
            }
            self.cache.discard(&key, |other| Arc::ptr_eq(other, &kept));
        }
        let start = compile()?;
        let compiled = CompiledSchema {
            vocabulary: self.vocabulary.clone(),
            used_from_start: start.used_of_limits(),
            start: Mutex::new(start),
            limit_reached: LimitReached::default(),
        };
        let bytes = compiled.memory_bytes();
        Ok(self.cache.keep(&key, Arc::new(compiled), bytes))
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The options of reading schemas, and of the documents under them.
    pub fn options(&self) -> &ExactOptions {
        &self.options
    }

    /// Number of compiled schemas that are kept, and the bytes that they took when they were asked for last.
    pub fn cache_size(&self) -> (usize, usize) {
        self.cache.size()
    }

    /// Lets all compiled schemas go. Matchers keep theirs.
    pub fn clear_cache(&self) {
        self.cache.clear();
    }
}

/// A compiled schema. Its matchers share the masks that have been worked out.
pub struct CompiledSchema {
    vocabulary: Arc<Vocabulary>,
    /// A masker that stays at the start.
    start: Mutex<Box<dyn Masker>>,
    /// The share of its limits that the schema had used before any answer.
    used_from_start: f64,
    limit_reached: LimitReached,
}

impl fmt::Debug for CompiledSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledSchema").finish_non_exhaustive()
    }
}

impl CompiledSchema {
    /// A matcher at the start of an answer.
    ///
    /// # Errors
    ///
    /// [`MatcherError`], where a stop token is outside of the vocabulary, or `max_tokens` are too few for any answer.
    pub fn matcher(&self, options: &MatcherOptions) -> Result<Matcher, MatcherError> {
        let start = self.start.lock().unwrap_or_else(PoisonError::into_inner).fork()?;
        Matcher::new(self.vocabulary.clone(), start, options, self.limit_reached.clone())
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Whether a matcher has met the error of a limit, or answers have used a quarter of what the limits on all answers together leave them, so
    /// that the schema has to be compiled again for answers to come. Those that are being written share the other three quarters.
    pub fn is_limit_reached(&self) -> bool {
        let used = || {
            let start = self.start.lock().unwrap_or_else(PoisonError::into_inner);
            start.used_of_limits()
        };
        self.limit_reached.get() || used() - self.used_from_start > MOST_USED_BY_ANSWERS * (1.0 - self.used_from_start)
    }

    /// Returns the bytes that the schema takes with the masks and states worked out for it, roughly. They grow with the answers
    /// that are written.
    pub fn memory_bytes(&self) -> usize {
        let start = self.start.lock().unwrap_or_else(PoisonError::into_inner);
        start.memory_bytes().unwrap_or_default()
    }
}
