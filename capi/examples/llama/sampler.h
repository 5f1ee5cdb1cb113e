// A sampler of llama.cpp that lets a model write valid answers only.
#pragma once

#include <llama.h>
#include <maskwright.h>

// The tokens of a model of llama.cpp, which has to stay until the tokenizer and all samplers over it are freed. Null on failure, with the
// reason in `error`.
MwTokenizer * maskwright_tokenizer_init(const struct llama_vocab * vocab, char * error, size_t error_len);

// A sampler to be added to a chain, before those that choose. `kind` and `data` are those of mw_new_matcher. `max_tokens` is the number of
// tokens within which the answer ends, 0 for no limit. Null on failure, with the reason in `error`. The tokenizer stays the caller's.
struct llama_sampler * maskwright_sampler_init(const MwTokenizer * tokenizer, const char * kind, const char * data,
                                               size_t max_tokens, char * error, size_t error_len);

// Why the sampler no longer follows its schema, or null. It then allows no token at all.
const char * maskwright_sampler_error(const struct llama_sampler * sampler);
