//! glrmask behind maskwright's traits.

use std::path::PathBuf;
use std::sync::Arc;

use glrmask::{Constraint, ConstraintState, ErrorKind, Expr, Grammar, TokenSet, Vocab};
use maskwright::{
    CompileError, CompileErrorKind, Compiler, MaskError, Masker, TokenId, TokenKind, TokenMask, Vocabulary,
};
use maskwright_worker::TokenHistory;
use yoke::{Yoke, Yokeable};

/// The options glrmask runs with, as its documentation calls them.
pub const OPTIONS: &str = "defaults: MaskStrategy::Auto (ParserDwa, TokenTrie where that is too large), \
                           canonical JSON (GLRMASK_LLGUIDANCE_COMPAT unset: separators \", \" and \": \"), \
                           end tokens as Expr::sequence";

/// Beginnings of environment variables that change how glrmask works, its JSON strings among it.
const TUNING_VARIABLES: [&str; 2] = ["GLRMASK_", "O21137_"];

/// Words in the executable's name by which glrmask takes it for a test.
const TEST_NAMES: [&str; 2] = ["test", "integration"];

/// Reason for which glrmask would not run as its documentation describes.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// A variable that tunes glrmask is set.
    #[error("the environment variable {0} changes how glrmask works: unset it")]
    Tuned(String),
    /// The executable is named like a test, for which glrmask spells JSON strings differently.
    #[error("glrmask takes {} for a test and accepts other JSON spellings in it: rename the executable", .0.display())]
    NamedLikeTest(PathBuf),
}

/// glrmask, made ready for a vocabulary.
pub struct GlrmaskCompiler {
    tokens: Vocab,
    ends: TokenSet,
    vocabulary: Arc<Vocabulary>,
}

impl GlrmaskCompiler {
    /// Makes glrmask ready for `vocabulary`.
    ///
    /// # Errors
    ///
    /// [`PrepareError`], where the process would make glrmask work in another mode.
    pub fn new(vocabulary: Arc<Vocabulary>) -> Result<Self, PrepareError> {
        check_mode()?;
        // Tokens without bytes are to match no text: glrmask knows them by not finding them.
        let is_text = |token: &TokenId| vocabulary.kind(*token) == TokenKind::Text;
        let tokens = (0..vocabulary.len() as TokenId)
            .filter(is_text)
            .map(|token| (token, vocabulary.token_bytes(token).to_vec()))
            .filter(|(_, bytes)| !bytes.is_empty() && !bytes.contains(&0xFF));
        Ok(Self {
            tokens: Vocab::new(tokens.collect()),
            ends: TokenSet::new(vocabulary.eos_tokens().iter().copied()),
            vocabulary,
        })
    }

    /// Compiles `schema` followed by an end of sequence.
    fn constraint(&self, schema: &str) -> glrmask::Result<Constraint> {
        let document = Grammar::from_json_schema(schema)?;
        let parts = [Expr::from(document), Expr::from(&self.ends)];
        Grammar::from_expr(Expr::sequence(parts))?.compile(&self.tokens)
    }
}

/// Whether glrmask would work as documented in this process.
fn check_mode() -> Result<(), PrepareError> {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if TUNING_VARIABLES.iter().any(|tuning| name.starts_with(tuning)) {
            return Err(PrepareError::Tuned(name.into_owned()));
        }
    }
    let executable = std::env::current_exe().unwrap_or_default();
    let name = executable
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    if TEST_NAMES.iter().any(|test| name.contains(test)) {
        return Err(PrepareError::NamedLikeTest(executable));
    }
    Ok(())
}

impl Compiler for GlrmaskCompiler {
    fn compile(&self, schema: &str) -> Result<Box<dyn Masker>, CompileError> {
        let constraint = self.constraint(schema).map_err(|error| compile_error(&error))?;
        Ok(Box::new(GlrmaskMasker::new(
            Arc::new(constraint),
            self.vocabulary.clone(),
        )))
    }
}

fn compile_error(error: &glrmask::Error) -> CompileError {
    match error.kind() {
        ErrorKind::GrammarParse(message) => schema_error(message),
        ErrorKind::ResourceLimit(message) => CompileError::new(CompileErrorKind::LimitExceeded, message),
        ErrorKind::StrategyUnsupported(message) => CompileError::new(CompileErrorKind::Unsupported, message),
        ErrorKind::Compilation(message) => CompileError::new(kind_by_wording(message), message),
        _ => CompileError::new(CompileErrorKind::Internal, error.to_string()),
    }
}

/// An error of the schema importer: `#/json/pointer: message`, or a message alone.
fn schema_error(message: &str) -> CompileError {
    let place = message.strip_prefix('#').and_then(|rest| rest.split_once(": "));
    match place {
        Some((pointer, message)) => CompileError::new(kind_by_wording(message), message).at(pointer),
        None => CompileError::new(kind_by_wording(message), message),
    }
}

/// Sorts messages by their wording: glrmask's kinds do not tell a schema's defects from its own limits.
fn kind_by_wording(message: &str) -> CompileErrorKind {
    let is = |needles: &[&str]| needles.iter().any(|needle| message.contains(needle));
    if is(&["malformed schema", "invalid JSON"]) {
        CompileErrorKind::Malformed
    } else if is(&["limit", "too large", "too many", "budget"]) {
        CompileErrorKind::LimitExceeded
    } else if is(&["unsupported", "supported", "requires", "disjoint", "cannot use"]) {
        CompileErrorKind::Unsupported
    } else if is(&["must be", "malformed", "invalid"]) {
        CompileErrorKind::Malformed
    } else {
        CompileErrorKind::Refused
    }
}

/// A state of a sequence; it borrows its constraint.
#[derive(Clone, Yokeable)]
struct State<'a>(ConstraintState<'a>);

/// A state together with the constraint it borrows.
type Sequence = Yoke<State<'static>, Arc<Constraint>>;

#[derive(Clone)]
struct GlrmaskMasker {
    sequence: Sequence,
    /// The tokens accepted, from which a state is made again: glrmask has no rollback.
    history: TokenHistory,
    mask: TokenMask,
    mask_is_current: bool,
    vocabulary: Arc<Vocabulary>,
}

impl GlrmaskMasker {
    fn new(constraint: Arc<Constraint>, vocabulary: Arc<Vocabulary>) -> Self {
        Self {
            sequence: start(constraint),
            history: TokenHistory::default(),
            mask: TokenMask::none(vocabulary.len()),
            mask_is_current: false,
            vocabulary,
        }
    }

    /// Makes the state again from the history, all of which was accepted before.
    fn replay(&mut self) -> Result<(), MaskError> {
        self.sequence = start(self.sequence.backing_cart().clone());
        for &token in self.history.tokens() {
            if !commit(&mut self.sequence, token) {
                let message = format!("glrmask refuses token {token}, which it had accepted, in a replay");
                return Err(MaskError::Internal(message));
            }
        }
        Ok(())
    }
}

/// A sequence without tokens. glrmask computes its mask at once and keeps it.
fn start(constraint: Arc<Constraint>) -> Sequence {
    Yoke::attach_to_cart(constraint, |constraint| State(constraint.start()))
}

/// Accepts `token`, or refuses it and leaves a state of no further use.
fn commit(sequence: &mut Sequence, token: TokenId) -> bool {
    sequence.with_mut_return(move |state| state.0.commit_token(token))
}

impl Masker for GlrmaskMasker {
    fn mask(&mut self) -> Result<&TokenMask, MaskError> {
        if !self.mask_is_current {
            let state = &self.sequence.get().0;
            self.mask.fill_words(|words| state.fill_mask(words));
            self.mask_is_current = true;
        }
        Ok(&self.mask)
    }

    fn advance(&mut self, token: TokenId) -> Result<(), MaskError> {
        if self.mask_is_current && !self.mask.allows(token) {
            return Err(self.history.refusal(token));
        }
        // Without a mask the token is tried: a copy of the state to try it on would cost more than a mask.
        if !commit(&mut self.sequence, token) {
            self.replay()?;
            return Err(self.history.refusal(token));
        }
        self.history.push(token);
        self.mask_is_current = false;
        Ok(())
    }

    fn is_complete(&mut self) -> Result<bool, MaskError> {
        self.mask()?;
        let ended = self.sequence.get().0.is_accepting();
        let eos = self.vocabulary.eos_tokens().first().copied();
        Ok(ended || eos.is_some_and(|eos| self.mask.allows(eos)))
    }

    fn position(&self) -> usize {
        self.history.position()
    }

    /// Appends nothing, because glrmask spells forced text in the longest tokens, which is not the tokenizer's own tokenisation.
    fn forced_tokens(&mut self, _tokens: &mut Vec<TokenId>) -> Result<(), MaskError> {
        Ok(())
    }

    fn fork(&self) -> Result<Box<dyn Masker>, MaskError> {
        Ok(Box::new(self.clone()))
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), MaskError> {
        if self.history.take_back(tokens)? {
            self.mask_is_current = false;
            self.replay()?;
        }
        Ok(())
    }
}
