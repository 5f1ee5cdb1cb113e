#include "sampler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Longest token that is read, in bytes. Longer ones are never allowed.
enum { MAX_TOKEN_BYTES = 1024 };

static size_t tokenize(const void * user_data, const uint8_t * bytes, size_t len, MwToken * output, size_t output_len) {
    const int32_t count = llama_tokenize((const struct llama_vocab *) user_data, (const char *) bytes, (int32_t) len,
                                         (llama_token *) output, (int32_t) output_len, false, false);
    return count < 0 ? (size_t) -(int64_t) count : (size_t) count;
}

MwTokenizer * maskwright_tokenizer_init(const struct llama_vocab * vocab, char * error, size_t error_len) {
    const uint32_t size = (uint32_t) llama_vocab_n_tokens(vocab);
    uint32_t *     lens = calloc(size, sizeof *lens);
    MwToken *      ends = calloc(size, sizeof *ends);
    size_t         room = (size_t) size * 16 + MAX_TOKEN_BYTES;
    uint8_t *      bytes = malloc(room);
    MwTokenizer *  tokenizer = NULL;
    size_t         used = 0;
    uint32_t       ends_count = 0;
    if (lens == NULL || ends == NULL || bytes == NULL) {
        snprintf(error, error_len, "there is no memory for %u tokens", size);
        goto end;
    }
    for (uint32_t token = 0; token < size; token++) {
        if (room - used < MAX_TOKEN_BYTES + 1) {
            uint8_t * more = realloc(bytes, room *= 2);
            if (more == NULL) {
                snprintf(error, error_len, "there is no memory for %u tokens", size);
                goto end;
            }
            bytes = more;
        }
        if (llama_vocab_is_eog(vocab, (llama_token) token)) {
            ends[ends_count++] = token;
        }
        const enum llama_token_attr unreal = LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN | LLAMA_TOKEN_ATTR_UNUSED;
        const bool is_special = (llama_vocab_get_attr(vocab, (llama_token) token) & unreal) != 0;
        char *     text = (char *) bytes + used + (is_special ? 1 : 0);
        const int32_t len = llama_token_to_piece(vocab, (llama_token) token, text, MAX_TOKEN_BYTES, 0, is_special);
        if (len > 0) {
            if (is_special) {
                bytes[used] = 0xFF;
            }
            lens[token] = (uint32_t) len + (is_special ? 1 : 0);
            used += lens[token];
        }
    }
    MwTokenizerInit init;
    mw_tokenizer_init_set_defaults(&init, sizeof init);
    init.vocab_size = size;
    init.tok_eos_extra = ends;
    init.tok_eos_extra_count = ends_count;
    init.token_lens = lens;
    init.token_bytes = bytes;
    init.tokenize_fn = tokenize;
    init.tokenize_user_data = vocab;
    init.tokenize_assumes_string = true;
    tokenizer = mw_new_tokenizer(&init, error, error_len);
end:
    free(lens);
    free(ends);
    free(bytes);
    return tokenizer;
}

struct context {
    MwMatcher * matcher;
    char        error[256];
};

static struct llama_sampler_i interface;

static const char * name(const struct llama_sampler * sampler) {
    (void) sampler;
    return "maskwright";
}

static void keep_error(struct context * context) {
    const char * error = mw_matcher_get_error(context->matcher);
    snprintf(context->error, sizeof context->error, "%s", error != NULL ? error : "unknown");
}

static void accept(struct llama_sampler * sampler, llama_token token) {
    struct context * context = sampler->ctx;
    if (context->error[0] == '\0' && mw_matcher_consume_token(context->matcher, (MwToken) token) != 0) {
        keep_error(context);
    }
}

static void apply(struct llama_sampler * sampler, llama_token_data_array * candidates) {
    struct context * context = sampler->ctx;
    const uint32_t * mask    = mw_matcher_get_mask(context->matcher);
    if (mask == NULL && context->error[0] == '\0') {
        if (mw_matcher_compute_mask(context->matcher) != 0) {
            keep_error(context);
        }
        mask = mw_matcher_get_mask(context->matcher);
    }
    for (size_t i = 0; i < candidates->size; i++) {
        const uint32_t token = (uint32_t) candidates->data[i].id;
        if (mask == NULL || context->error[0] != '\0' || (mask[token / 32] >> (token % 32) & 1) == 0) {
            candidates->data[i].logit = -INFINITY;
        }
    }
    candidates->sorted = false;
}

static void reset(struct llama_sampler * sampler) {
    struct context * context = sampler->ctx;
    context->error[0]        = '\0';
    if (mw_matcher_reset(context->matcher) != 0) {
        keep_error(context);
    }
}

static struct llama_sampler * clone(const struct llama_sampler * sampler) {
    const struct context * context = sampler->ctx;
    struct context *       copy    = malloc(sizeof *copy);
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy, context, sizeof *copy);
    copy->matcher = mw_clone_matcher(context->matcher);
    return llama_sampler_init(&interface, copy);
}

static void free_context(struct llama_sampler * sampler) {
    struct context * context = sampler->ctx;
    mw_free_matcher(context->matcher);
    free(context);
}

static struct llama_sampler_i interface = {
    .name   = name,
    .accept = accept,
    .apply  = apply,
    .reset  = reset,
    .clone  = clone,
    .free   = free_context,
};

struct llama_sampler * maskwright_sampler_init(const MwTokenizer * tokenizer, const char * kind, const char * data,
                                               size_t max_tokens, char * error, size_t error_len) {
    MwMatcherInit init;
    mw_matcher_init_set_defaults(&init, sizeof init, tokenizer);
    init.max_tokens          = max_tokens;
    MwMatcher *      matcher = mw_new_matcher(&init, kind, data);
    struct context * context = calloc(1, sizeof *context);
    if (mw_matcher_get_error(matcher) != NULL || context == NULL) {
        const char * failed = mw_matcher_get_error(matcher);
        snprintf(error, error_len, "%s", failed != NULL ? failed : "there is no memory for a sampler");
        mw_free_matcher(matcher);
        free(context);
        return NULL;
    }
    context->matcher = matcher;
    return llama_sampler_init(&interface, context);
}

const char * maskwright_sampler_error(const struct llama_sampler * sampler) {
    const struct context * context = sampler->ctx;
    return context->error[0] == '\0' ? NULL : context->error;
}
