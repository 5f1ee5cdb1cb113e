// Writes an answer of a schema, with a model that likes all tokens the same. From the root of the repository:
//
//   scripts/install-capi.sh "$HOME/maskwright"
//   cc capi/examples/answer.c -I "$HOME/maskwright/include" "$HOME/maskwright/lib/libmaskwright_c.a" -lpthread -ldl -lm -lgcc_s -o answer

#include <maskwright.h>

#include <stdio.h>
#include <stdlib.h>

enum { END = 256, TOKENS = 257, MAX_TOKENS = 200 };

static const char SCHEMA[] =
    "{\"type\": \"object\", \"required\": [\"id\", \"colour\"], \"additionalProperties\": false, \"properties\": {"
    "\"id\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 999}, \"colour\": {\"enum\": [\"red\", \"green\", \"blue\"]}}}";

// A real vocabulary is the model's. Here each byte is a token, and one more ends an answer.
static MwTokenizer *new_tokenizer(void) {
    static uint32_t lens[TOKENS];
    static uint8_t bytes[TOKENS];
    for (int token = 0; token < END; token++) {
        lens[token] = 1;
        bytes[token] = (uint8_t)token;
    }
    MwTokenizerInit init;
    mw_tokenizer_init_set_defaults(&init, sizeof init);
    init.vocab_size = TOKENS;
    init.tok_eos = END;
    init.token_lens = lens;
    init.token_bytes = bytes;
    char error[256];
    MwTokenizer *tokenizer = mw_new_tokenizer(&init, error, sizeof error);
    if (tokenizer == NULL) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    return tokenizer;
}

// One of the allowed tokens: where your sampler goes.
static uint32_t sample(const uint32_t *mask) {
    uint32_t chosen = END, seen = 0;
    for (uint32_t token = 0; token < TOKENS; token++) {
        if (mask[token / 32] >> (token % 32) & 1 && rand() % ++seen == 0) {
            chosen = token;
        }
    }
    return chosen;
}

int main(void) {
    MwTokenizer *tokenizer = new_tokenizer();
    MwMatcherInit init;
    mw_matcher_init_set_defaults(&init, sizeof init, tokenizer);
    init.max_tokens = MAX_TOKENS;
    MwMatcher *matcher = mw_new_matcher(&init, "json_schema", SCHEMA);
    while (mw_matcher_get_error(matcher) == NULL && !mw_matcher_is_stopped(matcher)) {
        if (mw_matcher_compute_mask(matcher) == 0) {
            uint32_t token = sample(mw_matcher_get_mask(matcher));
            if (mw_matcher_consume_token(matcher, token) == 0 && token != END) {
                putchar((int)token);
            }
        }
    }
    putchar('\n');
    const char *error = mw_matcher_get_error(matcher);
    if (error != NULL) {
        fprintf(stderr, "%s\n", error);
    }
    int code = error == NULL ? 0 : 1;
    mw_free_matcher(matcher);
    mw_free_tokenizer(tokenizer);
    return code;
}
