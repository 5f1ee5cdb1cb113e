//! [`Compiler`] and [`Masker`]: the traits that every constrained-decoding framework implements.

use std::collections::BTreeMap;

use crate::{CompileError, MaskError, TokenId, TokenMask};

/// Turns JSON Schemas into [`Masker`]s for one vocabulary.
///
/// There is one for each framework and vocabulary, which threads share. The interface is that of listing 1 in the paper on
/// JSONSchemaBench, with the mask itself added.
pub trait Compiler: Send + Sync {
    /// Compiles `schema`, the text of a JSON Schema, into a masker at the start of a document.
    ///
    /// The text is handed over as it stands: key order, duplicate names and the digits of numbers are the
    /// framework's to see.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where the framework refuses the schema or fails on it. Never a panic.
    fn compile(&self, schema: &str) -> Result<Box<dyn Masker>, CompileError>;

    /// Compiles a schema that may refer to `documents`, JSON texts by URI, besides those that the compiler was made with. A
    /// compiler that resolves no references to other documents refuses them as [`compile`](Compiler::compile) does.
    ///
    /// # Errors
    ///
    /// [`CompileError`], where the framework refuses the schema or fails on it. Never a panic.
    fn compile_with_documents(
        &self,
        schema: &str,
        documents: &BTreeMap<String, String>,
    ) -> Result<Box<dyn Masker>, CompileError> {
        let _ = documents;
        self.compile(schema)
    }
}

/// Says, token by token, how a document may go on.
///
/// After the tokens accepted so far, a token is allowed if it is in [`mask`](Masker::mask). End-of-sequence
/// tokens are part of the mask: they are allowed where the document may end. An exact framework never hands
/// out an empty mask before the end; callers must treat one as the framework's failure.
pub trait Masker: Send {
    /// Gives the tokens that are allowed next, of which there are none after an end of sequence. A second call without an
    /// [`advance`](Masker::advance) between costs little more than a look-up.
    ///
    /// # Errors
    ///
    /// [`MaskError::LimitExceeded`] or [`MaskError::Internal`], where the framework cannot tell.
    fn mask(&mut self) -> Result<&TokenMask, MaskError>;

    /// Gives the tokens that are allowed next where at most `tokens` more may be written, the end of sequence among them: those of
    /// [`mask`](Masker::mask) after which the framework knows a way to end the document in time, and the first token of one such way.
    /// A decode loop that asks for every token like this, with a limit that falls by one each time, ends with a valid document.
    ///
    /// Where no end is known within `tokens`, and in frameworks that know of no ends, the mask is that of `mask`. That mask may
    /// also be given while at least 1,024 tokens are to spare beyond the end known, or 64 where more than 256 tokens are allowed: a
    /// single token that makes more others than that necessary is then not held back. With fewer to spare, the work for a mask is bounded: tokens
    /// within text that may be any, or in keys of one class, are judged together; ends are looked for in at most 512 other states, for some 50 ms, and in
    /// a 2,048th of what is left of the memory of the compiled schema; tokens that lead to further states are left out.
    ///
    /// # Errors
    ///
    /// [`MaskError::LimitExceeded`] or [`MaskError::Internal`], where the framework cannot tell.
    fn mask_within(&mut self, tokens: usize) -> Result<&TokenMask, MaskError> {
        let _ = tokens;
        self.mask()
    }

    /// Writes the tokens of [`mask`](Masker::mask) into `words`, or with a limit those of [`mask_within`](Masker::mask_within), in the
    /// layout of [`TokenMask`]. For rows of a batch this is faster than a mask that is copied, and the masker keeps no mask of its own.
    ///
    /// # Errors
    ///
    /// [`MaskError::LimitExceeded`] or [`MaskError::Internal`], where the framework cannot tell; `words` then has no meaning.
    ///
    /// # Panics
    ///
    /// May panic where `words` does not have one word for each 32 tokens of the vocabulary, rounded up.
    fn write_mask(&mut self, limit: Option<usize>, words: &mut [u32]) -> Result<(), MaskError> {
        let mask = match limit {
            Some(tokens) => self.mask_within(tokens)?,
            None => self.mask()?,
        };
        words.copy_from_slice(mask.words());
        Ok(())
    }

    /// Whether the special token `token` can be a part of the reply, because a structural tag names it. Where an end-of-sequence token
    /// is named, accepting it need not end the reply.
    fn names(&self, token: TokenId) -> bool {
        let _ = token;
        false
    }

    /// Accepts `token`.
    ///
    /// # Errors
    ///
    /// [`MaskError::TokenRefused`], where the token is not allowed; the state is then unchanged. [`MaskError::LimitExceeded`] or
    /// [`MaskError::Internal`], where the framework cannot tell.
    fn advance(&mut self, token: TokenId) -> Result<(), MaskError>;

    /// Says whether the document may end here: an end-of-sequence token is allowed, or was accepted.
    ///
    /// # Errors
    ///
    /// [`MaskError::LimitExceeded`] or [`MaskError::Internal`], where the framework cannot tell.
    fn is_complete(&mut self) -> Result<bool, MaskError>;

    /// Counts the tokens accepted so far, without those rolled back.
    fn position(&self) -> usize;

    /// Appends to `tokens` the tokens that must come next whatever is sampled, in the tokenizer's own
    /// tokenisation; nothing where there is a choice, or where the framework cannot tell. The masker does not
    /// advance: the caller accepts the tokens one by one.
    ///
    /// # Errors
    ///
    /// [`MaskError::LimitExceeded`] or [`MaskError::Internal`], where the framework cannot tell.
    fn forced_tokens(&mut self, tokens: &mut Vec<TokenId>) -> Result<(), MaskError>;

    /// Appends to `text` the bytes that must come next whatever is sampled, at most as many as the framework looks ahead (1,024 in
    /// this crate); nothing where there is a choice, or where the framework cannot tell. No tokenizer is needed. The bytes may end
    /// within a character of UTF-8.
    ///
    /// # Errors
    ///
    /// [`MaskError::LimitExceeded`] or [`MaskError::Internal`], where the framework cannot tell.
    fn forced_text(&mut self, text: &mut Vec<u8>) -> Result<(), MaskError> {
        let _ = text;
        Ok(())
    }

    /// Appends to `tokens` tokens that end the document from here, without the end of sequence: a short way, though not
    /// always the shortest. False, and nothing appended, where the framework cannot tell.
    ///
    /// A caller that never accepts a token after which the completion exceeds its remaining tokens is sure to end in time.
    ///
    /// # Errors
    ///
    /// [`MaskError::LimitExceeded`] or [`MaskError::Internal`], where the framework cannot tell.
    fn completion(&mut self, tokens: &mut Vec<TokenId>) -> Result<bool, MaskError> {
        let _ = tokens;
        Ok(false)
    }

    /// Counts the tokens that [`completion`](Masker::completion) would append; `None` where the framework cannot tell. A
    /// framework may know that without writing them.
    ///
    /// # Errors
    ///
    /// [`MaskError::LimitExceeded`] or [`MaskError::Internal`], where the framework cannot tell.
    fn completion_length(&mut self) -> Result<Option<usize>, MaskError> {
        let mut tokens = Vec::new();
        Ok(self.completion(&mut tokens)?.then_some(tokens.len()))
    }

    /// Counts the bytes of the text of the [`completion`](Masker::completion) from here; `None` where the framework cannot tell
    /// without writing it.
    ///
    /// # Errors
    ///
    /// [`MaskError::LimitExceeded`] or [`MaskError::Internal`], where the framework cannot tell.
    fn completion_bytes(&mut self) -> Result<Option<usize>, MaskError> {
        Ok(None)
    }

    /// Announces that `token` may be accepted next: a framework may use the time until then, on a thread that is not needed
    /// elsewhere, to compute results that [`advance`](Masker::advance) and [`forced_tokens`](Masker::forced_tokens) will need. The results of
    /// these methods do not depend on this call, for allowed tokens and others. The default implementation does nothing.
    fn speculate(&mut self, token: TokenId) {
        let _ = token;
    }

    /// Estimates the memory of the compiled schema in bytes, with cached results for its masks; all its maskers share this memory.
    /// Memory that all schemas of the vocabulary share is not counted. `None` where the framework does not tell.
    fn memory_bytes(&self) -> Option<usize> {
        None
    }

    /// Returns the share, from 0 to 1, that has been used of those limits of a compiled schema that are about all its documents together: the
    /// memory of its tables, and the cells of its languages. The share grows with the documents that are written and does not fall; where it
    /// comes to 1, masks are refused with [`MaskError::LimitExceeded`]. A service compiles the schema anew before that. It is 0 in frameworks
    /// without such limits.
    fn used_of_limits(&self) -> f64 {
        0.0
    }

    /// Copies the masker: both then go on independently, from the same state.
    ///
    /// # Errors
    ///
    /// [`MaskError::Internal`], where the framework cannot copy its state.
    fn fork(&self) -> Result<Box<dyn Masker>, MaskError>;

    /// Takes back the last `tokens` accepted tokens.
    ///
    /// # Errors
    ///
    /// [`MaskError::RollbackTooFar`], where fewer were accepted or kept; the state is then unchanged.
    fn rollback(&mut self, tokens: usize) -> Result<(), MaskError>;

    /// Fails unless the document may end here (`assert_done` in the paper).
    ///
    /// # Errors
    ///
    /// [`MaskError::NotComplete`], or as [`mask`](Masker::mask).
    fn assert_done(&mut self) -> Result<(), MaskError> {
        if self.is_complete()? {
            Ok(())
        } else {
            Err(MaskError::NotComplete {
                position: self.position(),
            })
        }
    }
}
