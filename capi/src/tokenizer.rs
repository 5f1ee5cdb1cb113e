//! [`MwTokenizer`]: a model's vocabulary for C, and the schemas compiled for it.

use std::ffi::{c_char, c_void};
use std::sync::{Arc, OnceLock};

use maskwright::{ExactOptions, Formats, PatternSyntax, Style, TokenId, Tokenize, Vocabulary, VocabularyBuilder};
use maskwright_serving::SchemaCompiler;
use maskwright_worker::StyleChanges;

use crate::border::{Error, discard, guarded, read_items, read_options, read_text, write_options, write_text};

/// Number of a token.
pub type MwToken = u32;

/// Stands for no token.
pub const MW_NO_TOKEN: MwToken = u32::MAX;

/// Memory for compiled schemas, in bytes, unless another is asked for.
const CACHE_BYTES: usize = 1 << 30;

/// Byte with which the text of a special token begins, as llguidance has it. No UTF-8 text contains it.
const SPECIAL_MARK: u8 = 0xFF;

/// Tokenizes `bytes_len` bytes as they stand in the middle of a text: no token is added around them, and no special token is recognised
/// in them. Writes up to `output_tokens_len` tokens to `output_tokens`, and returns how many tokens there are; where that is more, it is
/// called again with more room. It may be called on any thread, also on several at once, and must not throw. The library holds a lock
/// meanwhile: it must not call the library, nor wait for a lock under which the library is called.
pub type MwTokenizeFn = Option<
    unsafe extern "C" fn(
        user_data: *const c_void,
        bytes: *const u8,
        bytes_len: usize,
        output_tokens: *mut MwToken,
        output_tokens_len: usize,
    ) -> usize,
>;

/// The options that a tokenizer is made of. Set them with `mw_tokenizer_init_set_defaults` first. All memory stays the caller's, and may go
/// after `mw_new_tokenizer`; `tokenize_user_data` has to stay until the last tokenizer, clone and matcher is freed.
#[repr(C)]
pub struct MwTokenizerInit {
    /// Size of this struct in bytes, as the program's header has it.
    pub struct_size: usize,
    /// Number of token ids, which is that of the model's logits. With `tokenizer_json` it may be 0: as many as the file has.
    pub vocab_size: u32,
    /// The token that ends an answer; for chats, that which ends a turn.
    pub tok_eos: MwToken,
    /// More tokens that end an answer, `tok_eos_extra_count` of them; may be null.
    pub tok_eos_extra: *const MwToken,
    /// Number of tokens at `tok_eos_extra`.
    pub tok_eos_extra_count: u32,
    /// For each of the `vocab_size` tokens the number of its bytes; 0 for ids that stand for nothing.
    pub token_lens: *const u32,
    /// The bytes of all tokens, one after the other. Those of special tokens begin with the byte 0xFF, behind which comes their name.
    pub token_bytes: *const u8,
    /// Instead of `token_lens` and `token_bytes`: the text of a `tokenizer.json` of Hugging Face, or null.
    pub tokenizer_json: *const c_char,
    /// The model's tokenizer, for forced tokens; without it there are none.
    pub tokenize_fn: MwTokenizeFn,
    /// First argument of `tokenize_fn`.
    pub tokenize_user_data: *const c_void,
    /// Whether `tokenize_fn` takes UTF-8 only: other bytes are then spelled by the tokens of one byte.
    pub tokenize_assumes_string: bool,
    /// Whether `format` is asserted in schemas; otherwise it is an annotation.
    pub assert_formats: bool,
    /// The style of documents: null or "generation" for the style in which a model should write, "rfc8259" for every spelling of
    /// a valid document, or a JSON object of changes, such as {"max_items": 20, "key_order": "any"}: the members of `style` in
    /// docs/worker-protocol.md.
    pub style: *const c_char,
    /// Bytes of compiled schemas that are kept; the last one always is.
    pub cache_bytes: usize,
    /// The dialect of the regular expressions in schemas: null or "common" for that of ECMA-262 with syntax that other dialects agree
    /// on, "ecma" for ECMA-262 alone, "rust" for the crate `regex`, "python" for Python's module `re`.
    pub patterns: *const c_char,
}

impl Default for MwTokenizerInit {
    fn default() -> Self {
        Self {
            struct_size: size_of::<Self>(),
            vocab_size: 0,
            tok_eos: MW_NO_TOKEN,
            tok_eos_extra: std::ptr::null(),
            tok_eos_extra_count: 0,
            token_lens: std::ptr::null(),
            token_bytes: std::ptr::null(),
            tokenizer_json: std::ptr::null(),
            tokenize_fn: None,
            tokenize_user_data: std::ptr::null(),
            tokenize_assumes_string: false,
            assert_formats: false,
            style: std::ptr::null(),
            cache_bytes: CACHE_BYTES,
            patterns: std::ptr::null(),
        }
    }
}

/// A model's vocabulary, and what is compiled for it. Any number of threads may use one at once.
#[derive(Clone, Debug)]
pub struct MwTokenizer {
    pub(crate) compiler: Arc<SchemaCompiler>,
}

/// Version of the library, such as "maskwright@0.1.0". The text stays for as long as the library is loaded.
#[unsafe(no_mangle)]
pub extern "C" fn mw_get_version() -> *const c_char {
    const VERSION: &str = concat!("maskwright@", env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Sets the options of a tokenizer to their defaults. `struct_size` is `sizeof(MwTokenizerInit)`: a program whose header is older than the
/// library has fewer members, and no more are written or read. Null is left alone.
///
/// # Safety
///
/// `init` is null, or the address of `struct_size` bytes that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mw_tokenizer_init_set_defaults(init: *mut MwTokenizerInit, struct_size: usize) {
    let defaults = MwTokenizerInit {
        struct_size,
        ..MwTokenizerInit::default()
    };
    // SAFETY: as the caller says.
    unsafe { write_options(init, struct_size, defaults) };
}

/// Makes a tokenizer, which takes a fraction of a second for a large vocabulary. Free it with `mw_free_tokenizer`. On failure the result
/// is null, and the reason is written to `error`, of `error_len` bytes, with a zero byte behind it; `error` may be null.
///
/// # Safety
///
/// `init` is null or points to options whose pointers are as their members say; `error` is null or has `error_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mw_new_tokenizer(
    init: *const MwTokenizerInit,
    error: *mut c_char,
    error_len: usize,
) -> *mut MwTokenizer {
    // SAFETY: as the caller says.
    let made = guarded(|| unsafe { new_tokenizer(init) });
    match made {
        Ok(tokenizer) => Box::into_raw(Box::new(tokenizer)),
        Err(failed) => {
            // SAFETY: as the caller says.
            unsafe { write_text(&failed.to_string(), error, error_len) };
            std::ptr::null_mut()
        }
    }
}

/// Another handle of a tokenizer, to be freed on its own. Null for null.
///
/// # Safety
///
/// `tokenizer` is null, or one that was made and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mw_clone_tokenizer(tokenizer: *const MwTokenizer) -> *mut MwTokenizer {
    // SAFETY: as the caller says.
    match unsafe { tokenizer.as_ref() } {
        Some(tokenizer) => Box::into_raw(Box::new(tokenizer.clone())),
        None => std::ptr::null_mut(),
    }
}

/// Frees a handle of a tokenizer. Clones and matchers keep what they need. Null is left alone.
///
/// # Safety
///
/// `tokenizer` is null, or one that was made, was not freed, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mw_free_tokenizer(tokenizer: *mut MwTokenizer) {
    if !tokenizer.is_null() {
        // SAFETY: it came from `Box::into_raw`, and is freed once.
        discard(unsafe { Box::from_raw(tokenizer) });
    }
}

/// # Safety
///
/// `init` is what [`mw_new_tokenizer`] takes.
unsafe fn new_tokenizer(init: *const MwTokenizerInit) -> Result<MwTokenizer, Error> {
    // SAFETY: as the caller says, of the options and of what they point to.
    let (init, builder, eos, style, patterns) = unsafe {
        let init = read_options(init, "MwTokenizerInit", "mw_tokenizer_init_set_defaults")?;
        let builder = match init.tokenizer_json.is_null() {
            true => listed_tokens(&init)?,
            false => Vocabulary::from_tokenizer_json(read_text(init.tokenizer_json, "tokenizer_json")?.as_bytes())?,
        };
        let more = read_items(init.tok_eos_extra, init.tok_eos_extra_count as usize, "tok_eos_extra")?;
        let eos: Vec<MwToken> = [init.tok_eos].iter().chain(more).copied().collect();
        let style = match init.style.is_null() {
            true => "generation",
            false => read_text(init.style, "style")?,
        };
        let patterns = match init.patterns.is_null() {
            true => "common",
            false => read_text(init.patterns, "patterns")?,
        };
        (init, builder, eos, style, patterns)
    };
    let mut builder = builder.eos(eos.into_iter().filter(|token| *token != MW_NO_TOKEN));
    if init.vocab_size > 0 {
        builder = builder.size(init.vocab_size as usize);
    }
    let tokenizer = init.tokenize_fn.map(|call| Arc::new(CTokenizer::new(call, &init)));
    if let Some(tokenizer) = &tokenizer {
        builder = builder.tokenizer(tokenizer.clone());
    }
    let vocabulary = builder.build()?;
    if let Some(tokenizer) = &tokenizer {
        tokenizer.learn(&vocabulary);
    }
    let compiler = SchemaCompiler::new(Arc::new(vocabulary), options(style, patterns, &init)?, init.cache_bytes);
    Ok(MwTokenizer {
        compiler: Arc::new(compiler),
    })
}

/// The tokens of `token_lens` and `token_bytes`.
///
/// # Safety
///
/// The options are as [`MwTokenizerInit`] says.
unsafe fn listed_tokens(init: &MwTokenizerInit) -> Result<VocabularyBuilder, Error> {
    if init.token_lens.is_null() || init.vocab_size == 0 {
        return Err(Error::NoTokens);
    }
    // SAFETY: as the caller says.
    let lens = unsafe { read_items(init.token_lens, init.vocab_size as usize, "token_lens")? };
    let total: u64 = lens.iter().copied().map(u64::from).sum();
    let total = usize::try_from(total).map_err(|_| Error::TooLarge("token_bytes"))?;
    if total > Vocabulary::MAX_TOTAL_BYTES {
        return Err(Error::TooLarge("token_bytes"));
    }
    // SAFETY: as the caller says.
    let mut bytes = unsafe { read_items(init.token_bytes, total, "token_bytes")? };
    let mut builder = Vocabulary::builder();
    for (id, len) in (0..).zip(lens) {
        let token;
        (token, bytes) = bytes.split_at(*len as usize);
        builder = match token {
            [] => builder,
            [SPECIAL_MARK, name @ ..] => builder.special(id, String::from_utf8_lossy(name))?,
            _ => builder.text(id, token)?,
        };
    }
    Ok(builder)
}

fn options(style: &str, patterns: &str, init: &MwTokenizerInit) -> Result<ExactOptions, Error> {
    let formats = match init.assert_formats {
        true => Formats::Asserted,
        false => Formats::Annotation,
    };
    let patterns = PatternSyntax::from_name(patterns).ok_or_else(|| Error::UnknownPatterns(patterns.to_owned()))?;
    let options = ExactOptions::default().formats(formats).patterns(patterns);
    match style {
        "generation" => Ok(options),
        "rfc8259" => Ok(options.style(Style::rfc8259())),
        changes if changes.trim_start().starts_with('{') => {
            let changes: StyleChanges =
                serde_json::from_str(changes).map_err(|error| Error::Style(error.to_string()))?;
            Ok(changes.applied(options))
        }
        other => Err(Error::Style(format!("{other:?} is none of them"))),
    }
}

/// A tokenizer behind a function of the caller's.
struct CTokenizer {
    call: unsafe extern "C" fn(*const c_void, *const u8, usize, *mut MwToken, usize) -> usize,
    user_data: *const c_void,
    assumes_string: bool,
    learned: OnceLock<Learned>,
}

/// Properties of a tokenizer that are known once the vocabulary is built.
struct Learned {
    tokens: usize,
    /// The token of each byte on its own, where there is one.
    byte_tokens: [Option<TokenId>; 256],
}

// SAFETY: what is done with `user_data` is left to the function, which the documentation asks to bear calls on any thread.
unsafe impl Send for CTokenizer {}
// SAFETY: the documentation asks the function to bear several calls at once.
unsafe impl Sync for CTokenizer {}

impl CTokenizer {
    fn new(
        call: unsafe extern "C" fn(*const c_void, *const u8, usize, *mut MwToken, usize) -> usize,
        init: &MwTokenizerInit,
    ) -> Self {
        Self {
            call,
            user_data: init.tokenize_user_data,
            assumes_string: init.tokenize_assumes_string,
            learned: OnceLock::new(),
        }
    }

    fn learn(&self, vocabulary: &Vocabulary) {
        self.learned.get_or_init(|| {
            let mut byte_tokens = [None; 256];
            for (byte, token) in (0..=u8::MAX).zip(&mut byte_tokens) {
                *token = vocabulary.token_of(&[byte]);
            }
            let tokens = vocabulary.len();
            Learned { tokens, byte_tokens }
        });
    }

    /// Appends the tokens of `text`. False where the function gives more tokens than the room that it asked for holds, or unknown ones.
    fn append(&self, text: &[u8], known: usize, tokens: &mut Vec<TokenId>) -> bool {
        if text.is_empty() {
            return true;
        }
        let start = tokens.len();
        let mut room = text.len() + 1;
        // A token spells a byte at least, but for those that a tokenizer puts in between.
        for _ in 0..2 {
            tokens.resize(start + room, 0);
            let output = &mut tokens[start..];
            // SAFETY: `text` and `output` have the lengths given; the function keeps to its documentation, as its owner promised.
            let count = unsafe {
                (self.call)(
                    self.user_data,
                    text.as_ptr(),
                    text.len(),
                    output.as_mut_ptr(),
                    output.len(),
                )
            };
            if count <= room {
                tokens.truncate(start + count);
                return tokens[start..].iter().all(|token| (*token as usize) < known);
            }
            if count > text.len().saturating_mul(MAX_TOKENS_PER_BYTE) {
                return false;
            }
            room = count;
        }
        false
    }
}

/// A function that asks for more room than this for each byte is taken to be at fault.
const MAX_TOKENS_PER_BYTE: usize = 16;

impl Tokenize for CTokenizer {
    /// Empty where the function fails: nothing is forced then.
    fn tokenize(&self, text: &[u8]) -> Vec<TokenId> {
        let mut tokens = Vec::new();
        let Some(learned) = self.learned.get() else {
            return tokens;
        };
        if !self.assumes_string {
            return match self.append(text, learned.tokens, &mut tokens) {
                true => tokens,
                false => Vec::new(),
            };
        }
        for chunk in text.utf8_chunks() {
            if !self.append(chunk.valid().as_bytes(), learned.tokens, &mut tokens) {
                return Vec::new();
            }
            for &byte in chunk.invalid() {
                match learned.byte_tokens[usize::from(byte)] {
                    Some(token) => tokens.push(token),
                    None => return Vec::new(),
                }
            }
        }
        tokens
    }
}
