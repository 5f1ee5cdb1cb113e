// maskwright: JSON Schema in, token masks out. This file is generated; capi/README.md shows its use.
//
// Ownership: what a function named mw_new_* or mw_clone_* returns is the caller's, and goes with the mw_free_* of its type. Texts and
// masks that other functions return stay the matcher's. Whatever is handed over stays the caller's and is copied, but for
// tokenize_user_data.
//
// Threads: any number of threads may use one tokenizer at once; one thread at a time may use a matcher, though not always the same.
//
// Errors: null pointers, wrong lengths, texts that are not UTF-8 and tokens that are not allowed are errors and no crashes. No Rust
// panic and no C++ exception crosses this border. Pointers that are not null have to be what they are said to be.

#if defined(__GNUC__) || defined(__clang__)
#define MW_MUST_USE __attribute__((warn_unused_result))
#else
#define MW_MUST_USE
#endif

#ifndef MASKWRIGHT_H
#define MASKWRIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Stands in one answer. One thread at a time may use one; different matchers may be used at once, clones of one another too.
//
// A mask has a bit for each token: token t is allowed if bit t % 32 of word t / 32 is set, words being uint32_t.
typedef struct MwMatcher MwMatcher;

// A model's vocabulary, and what is compiled for it. Any number of threads may use one at once.
typedef struct MwTokenizer MwTokenizer;

// Number of a token.
typedef uint32_t MwToken;

// Tokenizes `bytes_len` bytes as they stand in the middle of a text: no token is added around them, and no special token is recognised
// in them. Writes up to `output_tokens_len` tokens to `output_tokens`, and returns how many tokens there are; where that is more, it is
// called again with more room. It may be called on any thread, also on several at once, and must not throw. The library holds a lock
// meanwhile: it must not call the library, nor wait for a lock under which the library is called.
typedef size_t (*MwTokenizeFn)(const void *user_data,
                               const uint8_t *bytes,
                               size_t bytes_len,
                               MwToken *output_tokens,
                               size_t output_tokens_len);

// The options that a tokenizer is made of. Set them with `mw_tokenizer_init_set_defaults` first. All memory stays the caller's, and may go
// after `mw_new_tokenizer`; `tokenize_user_data` has to stay until the last tokenizer, clone and matcher is freed.
typedef struct MwTokenizerInit {
    // Size of this struct in bytes, as the program's header has it.
    size_t struct_size;
    // Number of token ids, which is that of the model's logits. With `tokenizer_json` it may be 0: as many as the file has.
    uint32_t vocab_size;
    // The token that ends an answer; for chats, that which ends a turn.
    MwToken tok_eos;
    // More tokens that end an answer, `tok_eos_extra_count` of them; may be null.
    const MwToken *tok_eos_extra;
    // Number of tokens at `tok_eos_extra`.
    uint32_t tok_eos_extra_count;
    // For each of the `vocab_size` tokens the number of its bytes; 0 for ids that stand for nothing.
    const uint32_t *token_lens;
    // The bytes of all tokens, one after the other. Those of special tokens begin with the byte 0xFF, behind which comes their name.
    const uint8_t *token_bytes;
    // Instead of `token_lens` and `token_bytes`: the text of a `tokenizer.json` of Hugging Face, or null.
    const char *tokenizer_json;
    // The model's tokenizer, for forced tokens; without it there are none.
    MwTokenizeFn tokenize_fn;
    // First argument of `tokenize_fn`.
    const void *tokenize_user_data;
    // Whether `tokenize_fn` takes UTF-8 only: other bytes are then spelled by the tokens of one byte.
    bool tokenize_assumes_string;
    // Whether `format` is asserted in schemas; otherwise it is an annotation.
    bool assert_formats;
    // The style of documents: null or "generation" for the style in which a model should write, "rfc8259" for every spelling of
    // a valid document, or a JSON object of changes, such as {"max_items": 20, "key_order": "any"}: the members of `style` in
    // docs/worker-protocol.md.
    const char *style;
    // Bytes of compiled schemas that are kept; the last one always is.
    size_t cache_bytes;
    // The dialect of the regular expressions in schemas: null or "common" for that of ECMA-262 with syntax that other dialects agree
    // on, "ecma" for ECMA-262 alone, "rust" for the crate `regex`, "python" for Python's module `re`.
    const char *patterns;
} MwTokenizerInit;

// The options that a matcher is made of. Set them with `mw_matcher_init_set_defaults` first. All memory stays the caller's, and may go
// after `mw_new_matcher`.
typedef struct MwMatcherInit {
    // Size of this struct in bytes, as the program's header has it.
    size_t struct_size;
    // The tokenizer.
    const struct MwTokenizer *tokenizer;
    // Number of tokens that the answer may have, that which ends it among them; 0 for no limit. The masks then keep an end within
    // reach, so that the answer is not cut off.
    size_t max_tokens;
    // The tokens that end this answer, `stop_tokens_count` of them; null for those of the tokenizer.
    const MwToken *stop_tokens;
    // Number of tokens at `stop_tokens`.
    size_t stop_tokens_count;
} MwMatcherInit;

// A matcher, and where its mask is to be written.
typedef struct MwMatcherStep {
    // The matcher, which stands in no other step of the call.
    struct MwMatcher *matcher;
    // Memory for the mask, which lies over that of no other step.
    uint32_t *mask_dest;
    // Number of bytes there: a multiple of 4, and `mw_matcher_get_mask_byte_size` at least.
    size_t mask_byte_len;
} MwMatcherStep;

// The function that is called once, when all masks are computed: on any thread, and maybe before the call that named it returns. It must
// not throw, nor wait for another batch.
typedef void (*MwCallback)(const void *user_data);

// Stands for no token.
#define MW_NO_TOKEN UINT32_MAX

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Version of the library, such as "maskwright@0.1.0". The text stays for as long as the library is loaded.
const char *mw_get_version(void);

// Sets the options of a tokenizer to their defaults. `struct_size` is `sizeof(MwTokenizerInit)`: a program whose header is older than the
// library has fewer members, and no more are written or read. Null is left alone.
void mw_tokenizer_init_set_defaults(struct MwTokenizerInit *init,
                                    size_t struct_size);

// Makes a tokenizer, which takes a fraction of a second for a large vocabulary. Free it with `mw_free_tokenizer`. On failure the result
// is null, and the reason is written to `error`, of `error_len` bytes, with a zero byte behind it; `error` may be null.
struct MwTokenizer *mw_new_tokenizer(const struct MwTokenizerInit *init,
                                     char *error,
                                     size_t error_len);

// Another handle of a tokenizer, to be freed on its own. Null for null.
struct MwTokenizer *mw_clone_tokenizer(const struct MwTokenizer *tokenizer);

// Frees a handle of a tokenizer. Clones and matchers keep what they need. Null is left alone.
void mw_free_tokenizer(struct MwTokenizer *tokenizer);

// Sets the options of a matcher to their defaults, with this tokenizer. `struct_size` is `sizeof(MwMatcherInit)`: a program whose header is
// older than the library has fewer members, and no more are written or read. Null is left alone.
void mw_matcher_init_set_defaults(struct MwMatcherInit *init,
                                  size_t struct_size,
                                  const struct MwTokenizer *tokenizer);

// Makes a matcher at the start of an answer. The result is never null: look at `mw_matcher_get_error`, and free it with
// `mw_free_matcher` in any case. The tokenizer keeps what was compiled, so that the next matcher of the same data is made at once.
//
// `kind` says what `data` is:
//
// - "json_schema" or "json": the text of a JSON Schema
// - "regex": a regular expression that the whole answer matches
// - "choice": a JSON array of strings, of which the answer is one as it is
// - "grammar": a grammar, in the notation that it is probably in; "ebnf" or "gbnf": in that of GBNF; "lark": in that of Lark
// - "json_object": nothing; the answer is any JSON object, and `data` may be null
struct MwMatcher *mw_new_matcher(const struct MwMatcherInit *init,
                                 const char *kind,
                                 const char *data);

// A copy at the same place, which goes its own way and is to be freed on its own. Null for null.
struct MwMatcher *mw_clone_matcher(const struct MwMatcher *matcher);

// Frees a matcher. Null is left alone.
void mw_free_matcher(struct MwMatcher *matcher);

// The error of the last call on the matcher, or null where that succeeded. A matcher that could not be made keeps its error, and every
// call on it fails. The text stays until the next call on the matcher. Functions that only look (`get_error`, `is_error`, `is_stopped`,
// `get_mask`, `get_mask_byte_size`, `clone`) count as no calls here.
const char *mw_matcher_get_error(const struct MwMatcher *matcher);

// Whether the matcher is of no use: it could not be made, or the library failed. Other errors, such as a token that is not allowed, leave
// it where it was.
bool mw_matcher_is_error(const struct MwMatcher *matcher);

// Computes the mask of the next token, which `mw_matcher_get_mask` then gives. Behind the end of the answer the tokens that end it are
// allowed, as samplers need some token, and `mw_matcher_consume_token` refuses them. Returns 0, or -1 on failure.
MW_MUST_USE
int32_t mw_matcher_compute_mask(struct MwMatcher *matcher);

// The mask that was computed last, of `mw_matcher_get_mask_byte_size` bytes; null where another call on the matcher came behind that. It
// stays until the next call on the matcher.
const uint32_t *mw_matcher_get_mask(const struct MwMatcher *matcher);

// Bytes of a mask: 4 for each 32 tokens that begin. 0 for a matcher that is of no use.
size_t mw_matcher_get_mask_byte_size(const struct MwMatcher *matcher);

// Computes the mask of the next token into memory of the caller's, of `mask_byte_len` bytes: a multiple of 4, and
// `mw_matcher_get_mask_byte_size` at least. Words behind the mask become zero. Returns 0; or -1 on failure, where nothing is allowed
// in what was written.
MW_MUST_USE
int32_t mw_matcher_compute_mask_into(struct MwMatcher *matcher,
                                     uint32_t *mask_dest,
                                     size_t mask_byte_len);

// Takes a token into the answer. Returns 0; or -1 where it is not allowed, and then the matcher stays where it was.
MW_MUST_USE int32_t mw_matcher_consume_token(struct MwMatcher *matcher, MwToken token);

// Takes `tokens_len` tokens into the answer. Returns 0; or -1 where one of them is not allowed, and then the matcher stays where it was.
MW_MUST_USE
int32_t mw_matcher_consume_tokens(struct MwMatcher *matcher,
                                  const MwToken *tokens,
                                  size_t tokens_len);

// Counts how many of `tokens_len` tokens can be taken one after the other. The matcher stays where it is. -1 on failure.
MW_MUST_USE
int32_t mw_matcher_validate_tokens(struct MwMatcher *matcher,
                                   const MwToken *tokens,
                                   size_t tokens_len);

// Takes back the last `tokens` tokens, one that ends the answer among them. Returns 0; or -1 where there are fewer, and then the
// matcher stays where it was.
MW_MUST_USE
int32_t mw_matcher_rollback(struct MwMatcher *matcher,
                            size_t tokens);

// Goes back to the start of the answer. Returns 0, or -1 on failure.
MW_MUST_USE int32_t mw_matcher_reset(struct MwMatcher *matcher);

// Whether the answer may end here, or has ended; false on failure.
bool mw_matcher_is_accepting(struct MwMatcher *matcher);

// Whether nothing can come any more: a token was taken that ends the answer, or the matcher is of no use.
bool mw_matcher_is_stopped(const struct MwMatcher *matcher);

// Writes up to `output_len` of the forced tokens: those that must come next whatever is sampled, as the tokenizer writes them. The
// matcher stays where it is. Returns how many were written, which is 0 for a tokenizer without `tokenize_fn`; -1 on failure.
MW_MUST_USE
int32_t mw_matcher_compute_ff_tokens(struct MwMatcher *matcher,
                                     MwToken *output,
                                     size_t output_len);

// Computes the masks of `steps_len` matchers side by side, as `mw_matcher_compute_mask_into` does for each. Where `done` is null, it
// returns when all are computed: 0, or -1 where one failed, of which `mw_matcher_get_error` tells. Otherwise it returns 0, and `done`
// is called with `user_data` when all are computed; until then, nothing may use the matchers and masks. The steps themselves are
// copied. What fails does not keep the others from their masks, and `done` is called in any case.
int32_t mw_par_compute_mask(const struct MwMatcherStep *steps,
                            size_t steps_len,
                            const void *user_data,
                            MwCallback done);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MASKWRIGHT_H */
