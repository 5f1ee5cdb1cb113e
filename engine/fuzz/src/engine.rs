//! Set-up of the engine through its public interface: vocabularies, styles, compilers, and acceptance of documents token by token.

use std::sync::{Arc, LazyLock};

use maskwright::{
    CompileError, Compiler, ExactCompiler, ExactOptions, Formats, KeyOrder, MaskError, Masker, NumberStyle, Style,
    TokenId, TokenKind, Tokenize, Vocabulary, VocabularyBuilder, WritingBounds,
};

use crate::Choices;
use crate::document::{NAMES, STRINGS};

/// Tokens that begin or end in the middle of things, beside those of single bytes.
const PIECES: &[&str] = &[
    "\":", "\": ", "\",", "\", \"", "{\"", "{\"a\":", "\"}", "\"]", "}}", "]]", "],", "},", "[[", "[]", "{}", "[{",
    ", ", ": ", "\n  ", "\r\n", "\\u00", "\\u0061", "\\ud8", "\\\"", "00", "10", "0.", ".5", "1,", "1e", "e1", "e+",
    "-1", "-0", "0,", "0]", "1}", "1.5,", "true", "false", "null", "tru", "e,", "l}", "lse", "ab", "aa", "abc", "ba\"",
    "a\":1", "😀\"",
];

/// A vocabulary of all bytes, of pieces of JSON and names of the small world, and some odd tokens.
pub fn vocabulary() -> Arc<Vocabulary> {
    static VOCABULARY: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
        let mut texts: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        texts.extend(PIECES.iter().map(|piece| piece.as_bytes().to_vec()));
        texts.extend(
            NAMES
                .iter()
                .chain(&STRINGS)
                .map(|name| format!("\"{name}\"").into_bytes()),
        );
        texts.push("é".as_bytes().to_vec());
        texts.extend(["😀".as_bytes()[..2].to_vec(), "😀".as_bytes()[1..].to_vec()]);
        texts.extend([b"a".to_vec(), b"\"}".to_vec(), b" ".to_vec(), Vec::new()]);
        Arc::new(vocabulary_of(texts))
    });
    VOCABULARY.clone()
}

/// A vocabulary of text tokens, then a special token that looks like text, an id without a token, and two ends of sequence.
pub fn vocabulary_of(texts: Vec<Vec<u8>>) -> Vocabulary {
    let count = texts.len() as TokenId;
    let add = |builder: VocabularyBuilder, (id, text)| builder.text(id, text);
    let builder = Vocabulary::builder().tokenizer(Arc::new(LongestToken(texts.clone())));
    (0..)
        .zip(texts)
        .try_fold(builder, add)
        .and_then(|builder| builder.special(count, "1"))
        .and_then(|builder| builder.eos([count + 2, count + 3]).size(count as usize + 5).build())
        .unwrap_or_else(|error| unreachable!("the tokens make a vocabulary: {error}"))
}

/// The longest token first: how a tokenizer may cut.
struct LongestToken(Vec<Vec<u8>>);

impl Tokenize for LongestToken {
    fn tokenize(&self, text: &[u8]) -> Vec<TokenId> {
        let mut rest = text;
        let mut tokens = Vec::new();
        while !rest.is_empty() {
            let fits = (0..).zip(&self.0).filter(|(_, token)| rest.starts_with(token));
            let Some((id, token)) = fits.max_by_key(|(id, token)| (token.len(), u32::MAX - id)) else {
                break;
            };
            tokens.push(id);
            rest = &rest[token.len()..];
        }
        tokens
    }
}

/// A compiler over a vocabulary. To it as to the judge `dependencies` mean something in every draft.
pub fn compiler(vocabulary: Arc<Vocabulary>, formats: Formats, style: Style) -> ExactCompiler {
    let options = ExactOptions::default()
        .formats(formats)
        .style(style)
        .legacy_dependencies(true);
    ExactCompiler::new(vocabulary, options)
}

/// The styles that schemas are compiled for: all of JSON; the style for models; that of serde_json, with numbers of any length; the style for
/// models with all declared members and no others; and the style for models within bounds that documents reach.
pub const STYLES: [Style; 5] = [
    Style::rfc8259(),
    Style::generation(),
    Style {
        key_order: KeyOrder::Any,
        numbers: NumberStyle::Rfc8259,
        ..Style::generation()
    },
    Style {
        closed: true,
        all_required: true,
        ..Style::generation()
    },
    Style {
        bounds: WritingBounds {
            free_depth: Some(1),
            string_characters: Some(2),
            name_characters: Some(64),
            array_items: Some(2),
            object_members: Some(2),
        },
        ..Style::generation()
    },
];

/// A masker over [`vocabulary`] at the start of a document in one of [`STYLES`], formats being annotations.
///
/// # Errors
///
/// The compiler's.
pub fn compile(schema: &str, style: usize) -> Result<Box<dyn Masker>, CompileError> {
    static COMPILERS: LazyLock<[ExactCompiler; STYLES.len()]> =
        LazyLock::new(|| STYLES.map(|style| compiler(vocabulary(), Formats::Annotation, style)));
    COMPILERS[style].compile(schema)
}

/// Whether a document is accepted that is cut into random tokens of `vocabulary`. Masks are looked at now and then.
///
/// # Errors
///
/// Limits that were reached, and a mask that says other than [`Masker::advance`].
pub fn accepts(
    masker: &dyn Masker,
    vocabulary: &Vocabulary,
    text: &[u8],
    choices: &mut Choices<'_>,
) -> Result<bool, MaskError> {
    let mut masker = masker.fork()?;
    let mut rest = text;
    while !rest.is_empty() {
        let token = token(vocabulary, rest, choices);
        let masked = match choices.below(8) {
            0 => {
                let mut words = vec![u32::MAX; vocabulary.len().div_ceil(32)];
                masker.write_mask(None, &mut words)?;
                let mask = masker.mask()?;
                if words != mask.words() {
                    return Err(MaskError::Internal(format!(
                        "two masks before {:?}",
                        String::from_utf8_lossy(rest)
                    )));
                }
                Some(mask.allows(token))
            }
            _ => None,
        };
        let taken = match masker.advance(token) {
            Ok(()) => true,
            Err(MaskError::TokenRefused { .. }) => false,
            Err(error) => return Err(error),
        };
        if masked.is_some_and(|masked| masked != taken) {
            return Err(MaskError::Internal(format!(
                "mask and advance differ before {:?}",
                String::from_utf8_lossy(rest)
            )));
        }
        if !taken {
            return Ok(false);
        }
        rest = &rest[vocabulary.token_bytes(token).len()..];
    }
    let complete = masker.is_complete()?;
    let end = vocabulary.eos_tokens()[0];
    if masker.mask()?.allows(end) != complete || masker.advance(end).is_ok() != complete {
        return Err(MaskError::Internal("the end is allowed and is not".to_owned()));
    }
    Ok(complete)
}

/// A token that `text` begins with.
fn token(vocabulary: &Vocabulary, text: &[u8], choices: &mut Choices<'_>) -> TokenId {
    let longest = text.len().min(8);
    let found: Vec<TokenId> = (1..=longest)
        .filter_map(|length| vocabulary.token_of(&text[..length]))
        .collect();
    let token = found[choices.below(found.len())];
    let mut same: Vec<TokenId> = vec![token];
    same.extend(
        vocabulary
            .duplicates()
            .iter()
            .filter(|pair| pair.0 == token)
            .map(|pair| pair.1),
    );
    same[choices.below(same.len())]
}

/// Whether the engine, asked byte by byte by `bytes` (a masker over a vocabulary whose tokens 0 to 255 are the single
/// bytes), lets `token` of another vocabulary follow.
///
/// # Errors
///
/// Limits that were reached.
pub fn allowed_by_bytes(bytes: &dyn Masker, vocabulary: &Vocabulary, token: TokenId) -> Result<bool, MaskError> {
    if vocabulary.is_eos(token) {
        return bytes.fork()?.is_complete();
    }
    let text = vocabulary.token_bytes(token);
    if vocabulary.kind(token) != TokenKind::Text || text.is_empty() {
        return Ok(false);
    }
    let mut masker = bytes.fork()?;
    for &byte in text {
        match masker.advance(TokenId::from(byte)) {
            Ok(()) => {}
            Err(MaskError::TokenRefused { .. }) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
