//! [`MwMatcherInit`]: the options of which a matcher is made, for C.

use std::ffi::c_char;
use std::sync::Arc;

use maskwright::GrammarSyntax;
use maskwright_serving::{CompiledSchema, Matcher, MatcherOptions};

use crate::border::{Error, read_items, read_options, read_text, write_options};
use crate::tokenizer::{MwToken, MwTokenizer};

/// Schema of any object, for `json_object`.
const ANY_OBJECT: &str = r#"{"type": "object"}"#;

/// The options that a matcher is made of. Set them with `mw_matcher_init_set_defaults` first. All memory stays the caller's, and may go
/// after `mw_new_matcher`.
#[repr(C)]
pub struct MwMatcherInit {
    /// Size of this struct in bytes, as the program's header has it.
    pub struct_size: usize,
    /// The tokenizer.
    pub tokenizer: *const MwTokenizer,
    /// Number of tokens that the answer may have, that which ends it among them; 0 for no limit. The masks then keep an end within
    /// reach, so that the answer is not cut off.
    pub max_tokens: usize,
    /// The tokens that end this answer, `stop_tokens_count` of them; null for those of the tokenizer.
    pub stop_tokens: *const MwToken,
    /// Number of tokens at `stop_tokens`.
    pub stop_tokens_count: usize,
}

impl Default for MwMatcherInit {
    fn default() -> Self {
        Self {
            struct_size: size_of::<Self>(),
            tokenizer: std::ptr::null(),
            max_tokens: 0,
            stop_tokens: std::ptr::null(),
            stop_tokens_count: 0,
        }
    }
}

/// Sets the options of a matcher to their defaults, with this tokenizer. `struct_size` is `sizeof(MwMatcherInit)`: a program whose header is
/// older than the library has fewer members, and no more are written or read. Null is left alone.
///
/// # Safety
///
/// `init` is null, or the address of `struct_size` bytes that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mw_matcher_init_set_defaults(
    init: *mut MwMatcherInit,
    struct_size: usize,
    tokenizer: *const MwTokenizer,
) {
    let defaults = MwMatcherInit {
        struct_size,
        tokenizer,
        ..MwMatcherInit::default()
    };
    // SAFETY: as the caller says.
    unsafe { write_options(init, struct_size, defaults) };
}

/// Makes a matcher of options, and of data of a kind.
///
/// # Safety
///
/// `init`, `kind` and `data` are what [`mw_new_matcher`](crate::matcher::mw_new_matcher) takes.
pub(crate) unsafe fn new_matcher(
    init: *const MwMatcherInit,
    kind: *const c_char,
    data: *const c_char,
) -> Result<Matcher, Error> {
    // SAFETY: as the caller says.
    let (tokenizer, options, kind) = unsafe {
        let init = read_options(init, "MwMatcherInit", "mw_matcher_init_set_defaults")?;
        let stop_tokens = read_items(init.stop_tokens, init.stop_tokens_count, "stop_tokens")?;
        let options = MatcherOptions {
            stop_tokens: (!init.stop_tokens.is_null()).then(|| stop_tokens.to_vec()),
            max_tokens: (init.max_tokens > 0).then_some(init.max_tokens),
        };
        let tokenizer = init.tokenizer.as_ref().ok_or(Error::Null("tokenizer"))?;
        (tokenizer, options, read_text(kind, "kind")?)
    };
    // SAFETY: as the caller says.
    let data = || unsafe { read_text(data, "data") };
    Ok(compile(tokenizer, kind, data)?.matcher(&options)?)
}

fn compile<'a>(
    tokenizer: &MwTokenizer,
    kind: &str,
    data: impl FnOnce() -> Result<&'a str, Error>,
) -> Result<Arc<CompiledSchema>, Error> {
    let compiler = &tokenizer.compiler;
    Ok(match kind {
        "json_schema" | "json" => compiler.json_schema(data()?)?,
        "regex" => compiler.regex(data()?)?,
        "choice" => {
            let choices: Vec<String> = serde_json::from_str(data()?).map_err(Error::Choices)?;
            compiler.choice(&choices)?
        }
        "grammar" => compiler.grammar(data()?, None)?,
        "ebnf" | "gbnf" => compiler.grammar(data()?, Some(GrammarSyntax::Ebnf))?,
        "lark" => compiler.grammar(data()?, Some(GrammarSyntax::Lark))?,
        "json_object" => compiler.json_schema(ANY_OBJECT)?,
        other => return Err(Error::UnknownKind(other.to_owned())),
    })
}
