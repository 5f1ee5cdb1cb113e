//! The encodings that are part of the program. The library of `benches/`, which cannot depend on this
//! package, includes this file.

use std::sync::Arc;

use maskwright::{TokenId, Tokenize, Vocabulary, VocabularyError};
use tiktoken_rs::{CoreBPE, Rank};

/// An encoding that is part of the program.
pub struct Encoding {
    /// Name of the encoding in tiktoken.
    pub name: &'static str,
    load: fn() -> Result<CoreBPE, String>,
    /// Ids of ordinary tokens are below this.
    ordinary: Rank,
    /// The special tokens, the one that ends a text first.
    special: &'static [(Rank, &'static str)],
}

/// tiktoken's encodings, as <https://github.com/openai/tiktoken> defines them.
pub const ENCODINGS: [Encoding; 2] = [
    Encoding {
        name: "o200k_base",
        load: || tiktoken_rs::o200k_base().map_err(|error| error.to_string()),
        ordinary: 199_998,
        special: &[(199_999, "<|endoftext|>"), (200_018, "<|endofprompt|>")],
    },
    Encoding {
        name: "cl100k_base",
        load: || tiktoken_rs::cl100k_base().map_err(|error| error.to_string()),
        ordinary: 100_256,
        special: &[
            (100_257, "<|endoftext|>"),
            (100_258, "<|fim_prefix|>"),
            (100_259, "<|fim_middle|>"),
            (100_260, "<|fim_suffix|>"),
            (100_276, "<|endofprompt|>"),
        ],
    },
];

impl Encoding {
    /// Returns the tokens of the encoding, with its tokenizer.
    ///
    /// # Errors
    ///
    /// A message, where the encoding's data are damaged.
    pub fn vocabulary(&self) -> Result<Vocabulary, String> {
        self.read((self.load)()?).map_err(|error| error.to_string())
    }

    /// Returns the tokenizer of the encoding.
    ///
    /// # Errors
    ///
    /// As [`Encoding::vocabulary`].
    pub fn tokenizer(&self) -> Result<Arc<dyn Tokenize>, String> {
        Ok(Arc::new(Tiktoken((self.load)()?)))
    }

    fn read(&self, bpe: CoreBPE) -> Result<Vocabulary, VocabularyError> {
        let mut builder = Vocabulary::builder();
        for id in 0..self.ordinary {
            // An id without a token stays unused.
            if let Ok(bytes) = bpe.decode_bytes(&[id]) {
                builder = builder.text(id, bytes)?;
            }
        }
        for (id, name) in self.special {
            builder = builder.special(*id, *name)?;
        }
        let end = self.special.first().map(|(id, _)| *id);
        builder.eos(end).tokenizer(Arc::new(Tiktoken(bpe))).build()
    }
}

/// A tiktoken encoding. Text that is not UTF-8 is encoded in pieces, the bytes at fault as tokens of their own.
struct Tiktoken(CoreBPE);

impl Tokenize for Tiktoken {
    fn tokenize(&self, text: &[u8]) -> Vec<TokenId> {
        let mut tokens = Vec::new();
        for chunk in text.utf8_chunks() {
            tokens.extend(self.0.encode_ordinary(chunk.valid()));
            for &byte in chunk.invalid() {
                tokens.extend(self.byte_token(byte));
            }
        }
        tokens
    }
}

impl Tiktoken {
    /// The token of a single byte: byte-level encodings have one for each, among the first 256.
    fn byte_token(&self, byte: u8) -> Option<TokenId> {
        (0..256).find(|&id| self.0.decode_bytes(&[id]).is_ok_and(|bytes| bytes == [byte]))
    }
}
