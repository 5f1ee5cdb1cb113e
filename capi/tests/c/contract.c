// What maskwright.h promises. tests/programs.rs compiles and runs it; it prints each promise that does not hold.

#include "maskwright.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            failures++;                                                         \
        }                                                                       \
    } while (0)

// The vocabulary: each byte below 0x80, a longer token, a special one, an id that stands for nothing, and two that end an answer.
enum { LONGER = 128, SPECIAL, UNUSED, END, OTHER_END, TOKENS };

#define MASK_WORDS ((TOKENS + 31) / 32)

static const char LONGER_TEXT[] = "true";

typedef struct {
    uint32_t lens[TOKENS];
    uint8_t bytes[256];
} Tokens;

static void add(Tokens *tokens, size_t *len, uint32_t id, const void *bytes, uint32_t bytes_len) {
    memcpy(tokens->bytes + *len, bytes, bytes_len);
    tokens->lens[id] = bytes_len;
    *len += bytes_len;
}

static MwTokenizerInit tokenizer_options(Tokens *tokens) {
    size_t len = 0;
    memset(tokens, 0, sizeof *tokens);
    for (uint32_t id = 0; id < LONGER; id++) {
        uint8_t byte = (uint8_t)id;
        add(tokens, &len, id, &byte, 1);
    }
    add(tokens, &len, LONGER, LONGER_TEXT, 4);
    add(tokens, &len, SPECIAL, "\xff<tool>", 7);
    add(tokens, &len, END, "\xff<end>", 6);
    MwTokenizerInit init;
    mw_tokenizer_init_set_defaults(&init, sizeof init);
    init.vocab_size = TOKENS;
    init.tok_eos = END;
    init.token_lens = tokens->lens;
    init.token_bytes = tokens->bytes;
    return init;
}

// Greedy: "true" is one token. Counts its calls where `user_data` says.
static size_t tokenize(const void *user_data, const uint8_t *bytes, size_t len, uint32_t *output, size_t output_len) {
    if (user_data != NULL) {
        ++*(int *)user_data;
    }
    size_t count = 0;
    for (size_t at = 0; at < len; count++) {
        bool is_longer = len - at >= 4 && memcmp(bytes + at, LONGER_TEXT, 4) == 0;
        if (count < output_len) {
            output[count] = is_longer ? LONGER : bytes[at];
        }
        at += is_longer ? 4 : 1;
    }
    return count;
}

static MwTokenizer *new_tokenizer(void) {
    Tokens tokens;
    MwTokenizerInit init = tokenizer_options(&tokens);
    init.tokenize_fn = tokenize;
    char error[200] = "";
    MwTokenizer *tokenizer = mw_new_tokenizer(&init, error, sizeof error);
    CHECK(tokenizer != NULL && error[0] == '\0');
    return tokenizer;
}

static MwMatcher *new_matcher(const MwTokenizer *tokenizer, const char *kind, const char *data) {
    MwMatcherInit init;
    mw_matcher_init_set_defaults(&init, sizeof init, tokenizer);
    return mw_new_matcher(&init, kind, data);
}

static bool has_error(const MwMatcher *matcher, const char *part) {
    const char *error = mw_matcher_get_error(matcher);
    bool found = error != NULL && strstr(error, part) != NULL;
    if (!found) {
        fprintf(stderr, "the error is: %s\n", error == NULL ? "none" : error);
    }
    return found;
}

static bool allows(const uint32_t *mask, uint32_t token) {
    return (mask[token / 32] >> (token % 32) & 1) != 0;
}

// Whether the mask is these bytes and then these tokens, which end with TOKENS.
static bool next_is(MwMatcher *matcher, const char *bytes, const uint32_t *tokens) {
    if (mw_matcher_compute_mask(matcher) != 0) {
        return false;
    }
    const uint32_t *mask = mw_matcher_get_mask(matcher);
    uint32_t expected[MASK_WORDS] = {0};
    for (; *bytes != '\0'; bytes++) {
        expected[(uint8_t)*bytes / 32] |= UINT32_C(1) << ((uint8_t)*bytes % 32);
    }
    for (; *tokens != TOKENS; tokens++) {
        expected[*tokens / 32] |= UINT32_C(1) << (*tokens % 32);
    }
    return mw_matcher_get_mask_byte_size(matcher) == sizeof expected && memcmp(mask, expected, sizeof expected) == 0;
}

static const uint32_t NONE[] = {TOKENS};
static const uint32_t ENDS[] = {END, TOKENS};
static const uint32_t OTHER_ENDS[] = {OTHER_END, TOKENS};
static const uint32_t LONGER_TOO[] = {LONGER, TOKENS};

static int consume(MwMatcher *matcher, const char *text) {
    uint32_t tokens[64];
    size_t len = strlen(text);
    for (size_t at = 0; at < len; at++) {
        tokens[at] = (uint8_t)text[at];
    }
    return mw_matcher_consume_tokens(matcher, tokens, len);
}

static void check_tokenizers(void) {
    CHECK(strncmp(mw_get_version(), "maskwright@", 11) == 0);
    char error[200];
    CHECK(mw_new_tokenizer(NULL, error, sizeof error) == NULL && strstr(error, "null") != NULL);
    CHECK(mw_new_tokenizer(NULL, NULL, 0) == NULL);
    MwTokenizerInit init;
    memset(&init, 0, sizeof init);
    CHECK(mw_new_tokenizer(&init, error, sizeof error) == NULL && strstr(error, "set_defaults") != NULL);
    mw_tokenizer_init_set_defaults(&init, sizeof init);
    CHECK(mw_new_tokenizer(&init, error, sizeof error) == NULL && strstr(error, "token_lens") != NULL);
    char short_error[5] = "zzzz";
    CHECK(mw_new_tokenizer(&init, short_error, sizeof short_error) == NULL && strcmp(short_error, "a to") == 0);

    Tokens tokens;
    init = tokenizer_options(&tokens);
    init.tok_eos = TOKENS;
    CHECK(mw_new_tokenizer(&init, error, sizeof error) == NULL && strstr(error, "vocabulary") != NULL);
    init = tokenizer_options(&tokens);
    init.token_bytes = NULL;
    CHECK(mw_new_tokenizer(&init, error, sizeof error) == NULL && strstr(error, "token_bytes is null") != NULL);
    init = tokenizer_options(&tokens);
    init.style = "baroque";
    CHECK(mw_new_tokenizer(&init, error, sizeof error) == NULL && strstr(error, "baroque") != NULL);
    init.style = "{\"max_items\": \"many\"}";
    CHECK(mw_new_tokenizer(&init, error, sizeof error) == NULL && strstr(error, "style") != NULL);
    init = tokenizer_options(&tokens);
    init.patterns = "perl";
    CHECK(mw_new_tokenizer(&init, error, sizeof error) == NULL && strstr(error, "perl") != NULL);
    init = tokenizer_options(&tokens);
    init.tokenizer_json = "{\"model\": 1}";
    CHECK(mw_new_tokenizer(&init, error, sizeof error) == NULL && error[0] != '\0');
}

static void check_patterns(void) {
    const char *const dialects[] = {NULL, "common", "ecma", "rust", "python"};
    for (size_t dialect = 0; dialect < 5; dialect++) {
        Tokens tokens;
        MwTokenizerInit init = tokenizer_options(&tokens);
        init.patterns = dialects[dialect];
        MwTokenizer *tokenizer = mw_new_tokenizer(&init, NULL, 0);
        // A line end behind a match of `$` is Python's alone.
        MwMatcher *matcher = new_matcher(tokenizer, "json", "{\"pattern\": \"^a$\", \"type\": \"string\"}");
        CHECK(consume(matcher, "\"a\\n\"") == (dialect == 4 ? 0 : -1));
        mw_free_matcher(matcher);
        mw_free_tokenizer(tokenizer);
    }
}

static void check_styles(void) {
    const char *const styles[] = {NULL, "rfc8259", "{\"key_order\": \"any\"}"};
    for (size_t style = 0; style < 3; style++) {
        Tokens tokens;
        MwTokenizerInit init = tokenizer_options(&tokens);
        init.style = styles[style];
        MwTokenizer *tokenizer = mw_new_tokenizer(&init, NULL, 0);
        MwMatcher *matcher = new_matcher(tokenizer, "json", "{\"properties\": {\"a\": true, \"b\": true}, \"type\": \"object\", \"required\": [\"a\", \"b\"]}");
        // Only what a model should write keeps to the schema's order of keys.
        CHECK(consume(matcher, "{\"b\"") == (style == 0 ? -1 : 0));
        // Only every spelling of JSON has whitespace of any length.
        CHECK(mw_matcher_reset(matcher) == 0 && consume(matcher, "{\t\t\t\t \r\r\r   \n\n\n\n ") == (style == 1 ? 0 : -1));
        mw_free_matcher(matcher);
        mw_free_tokenizer(tokenizer);
    }
}

static void check_steps(const MwTokenizer *tokenizer) {
    MwMatcher *matcher = new_matcher(tokenizer, "json_schema", "{\"enum\": [true, \"ab\", \"ac\"]}");
    CHECK(mw_matcher_get_error(matcher) == NULL && !mw_matcher_is_error(matcher));
    CHECK(mw_matcher_get_mask(matcher) == NULL);
    CHECK(next_is(matcher, "t\"", LONGER_TOO));
    CHECK(consume(matcher, "\"a") == 0);
    CHECK(mw_matcher_get_mask(matcher) == NULL);
    CHECK(next_is(matcher, "bc", NONE));

    CHECK(mw_matcher_consume_token(matcher, 'z') == -1 && has_error(matcher, "token 122"));
    CHECK(consume(matcher, "b\"z") == -1 && has_error(matcher, "number 2"));
    CHECK(mw_matcher_consume_token(matcher, UINT32_MAX) == -1);
    CHECK(mw_matcher_consume_token(matcher, SPECIAL) == -1 && mw_matcher_consume_token(matcher, UNUSED) == -1);
    CHECK(!mw_matcher_is_error(matcher));
    CHECK(next_is(matcher, "bc", NONE) && mw_matcher_get_error(matcher) == NULL);

    const uint32_t draft[] = {'b', '"', END, 'z'};
    CHECK(mw_matcher_validate_tokens(matcher, draft, 4) == 3);
    CHECK(mw_matcher_validate_tokens(matcher, NULL, 0) == 0);
    CHECK(mw_matcher_validate_tokens(matcher, NULL, 1) == -1 && has_error(matcher, "tokens is null"));
    CHECK(next_is(matcher, "bc", NONE));

    CHECK(!mw_matcher_is_accepting(matcher) && consume(matcher, "c\"") == 0 && mw_matcher_is_accepting(matcher));
    CHECK(!mw_matcher_is_stopped(matcher) && next_is(matcher, "", ENDS));
    CHECK(mw_matcher_consume_token(matcher, END) == 0 && mw_matcher_is_stopped(matcher));
    CHECK(next_is(matcher, "", ENDS) && mw_matcher_is_accepting(matcher));

    CHECK(mw_matcher_rollback(matcher, 6) == -1 && mw_matcher_is_stopped(matcher) && !mw_matcher_is_error(matcher));
    CHECK(mw_matcher_rollback(matcher, 3) == 0 && !mw_matcher_is_stopped(matcher) && next_is(matcher, "bc", NONE));
    CHECK(mw_matcher_reset(matcher) == 0 && next_is(matcher, "t\"", LONGER_TOO));
    mw_free_matcher(matcher);
}

static void check_kinds(const MwTokenizer *tokenizer) {
    MwMatcher *matcher = new_matcher(tokenizer, "regex", "[xy]z?");
    CHECK(next_is(matcher, "xy", NONE) && consume(matcher, "xz") == 0 && mw_matcher_is_accepting(matcher));
    mw_free_matcher(matcher);
    matcher = new_matcher(tokenizer, "choice", "[\"yes\", \"you\", \"true\"]");
    CHECK(next_is(matcher, "yt", LONGER_TOO) && consume(matcher, "y") == 0 && next_is(matcher, "eo", NONE));
    mw_free_matcher(matcher);
    const char *const grammars[][2] = {
        {"grammar", "root ::= \"(\" root \")\" | \"a\""},
        {"ebnf", "root ::= \"(\" root \")\" | \"a\""},
        {"lark", "start: \"(\" start \")\" | /a/"},
    };
    for (size_t at = 0; at < sizeof grammars / sizeof grammars[0]; at++) {
        matcher = new_matcher(tokenizer, grammars[at][0], grammars[at][1]);
        CHECK(next_is(matcher, "(a", NONE) && consume(matcher, "((a") == 0 && next_is(matcher, ")", NONE));
        CHECK(consume(matcher, "))") == 0 && mw_matcher_is_accepting(matcher));
        mw_free_matcher(matcher);
    }
    matcher = new_matcher(tokenizer, "json_object", NULL);
    CHECK(consume(matcher, "{\"a\": [1]}") == 0 && mw_matcher_is_accepting(matcher));
    mw_free_matcher(matcher);

    const char *const failing[][3] = {
        {"json", "{\"type\": \"object\"", ""},
        {"json", "{\"items\": {\"type\": \"strin\"}}", "/items (keyword `type`)"},
        {"json", "{\"type\": \"string\", \"maxLength\": -1}", "maxLength"},
        {"json", "\xff", "not UTF-8 behind byte 0"},
        {"json", NULL, "data is null"},
        {NULL, "{}", "kind is null"},
        {"regex", "(", ""},
        {"choice", "[1]", "array of strings"},
        {"choice", "[]", ""},
        {"ebnf", "start: \"a\"", "line 1, column 1"},
        {"llguidance", "{}", "json_schema"},
    };
    for (size_t at = 0; at < sizeof failing / sizeof failing[0]; at++) {
        matcher = new_matcher(tokenizer, failing[at][0], failing[at][1]);
        CHECK(mw_matcher_is_error(matcher) && has_error(matcher, failing[at][2]));
        CHECK(mw_matcher_compute_mask(matcher) == -1 && mw_matcher_get_mask(matcher) == NULL);
        CHECK(mw_matcher_consume_token(matcher, 'a') == -1 && mw_matcher_reset(matcher) == -1);
        CHECK(mw_matcher_is_stopped(matcher) && !mw_matcher_is_accepting(matcher));
        CHECK(mw_matcher_get_mask_byte_size(matcher) == 0 && has_error(matcher, failing[at][2]));
        MwMatcher *clone = mw_clone_matcher(matcher);
        mw_free_matcher(matcher);
        CHECK(mw_matcher_is_error(clone) && has_error(clone, failing[at][2]));
        mw_free_matcher(clone);
    }
}

static void check_memory_for_masks(const MwTokenizer *tokenizer) {
    MwMatcher *matcher = new_matcher(tokenizer, "choice", "[\"true\"]");
    size_t size = mw_matcher_get_mask_byte_size(matcher);
    uint32_t row[MASK_WORDS + 2];
    CHECK(size == MASK_WORDS * sizeof row[0]);
    memset(row, 0x55, sizeof row);
    CHECK(mw_matcher_compute_mask_into(matcher, row, size - 4) == -1 && has_error(matcher, "16 bytes"));
    CHECK(mw_matcher_compute_mask_into(matcher, row, size + 2) == -1 && row[0] == 0x55555555);
    CHECK(mw_matcher_compute_mask_into(matcher, NULL, size) == -1 && has_error(matcher, "mask_dest is null"));
    CHECK(mw_matcher_compute_mask_into(matcher, (uint32_t *)(void *)((char *)row + 2), size) == -1 && has_error(matcher, "aligned"));
    CHECK(mw_matcher_compute_mask_into(matcher, row, size + 4) == 0 && mw_matcher_get_error(matcher) == NULL);
    CHECK(allows(row, LONGER) && allows(row, 't') && !allows(row, 'r') && !allows(row, END));
    CHECK(row[MASK_WORDS] == 0 && row[MASK_WORDS + 1] == 0x55555555);
    CHECK(mw_matcher_compute_mask(matcher) == 0 && memcmp(mw_matcher_get_mask(matcher), row, size) == 0);
    mw_free_matcher(matcher);
}

// Gives one token that the vocabulary does not have.
static size_t tokenize_wrongly(const void *user_data, const uint8_t *bytes, size_t len, uint32_t *output, size_t output_len) {
    (void)user_data, (void)bytes, (void)len;
    if (output_len > 0) {
        output[0] = 1000000;
    }
    return 1;
}

// Never has enough room.
static size_t tokenize_endlessly(const void *user_data, const uint8_t *bytes, size_t len, uint32_t *output, size_t output_len) {
    (void)user_data, (void)bytes, (void)len, (void)output;
    return output_len + 1;
}

static void check_forced_tokens(void) {
    const MwTokenizeFn functions[] = {tokenize, NULL, tokenize_wrongly, tokenize_endlessly};
    for (size_t number = 0; number < 4; number++) {
        Tokens tokens;
        int calls = 0;
        MwTokenizerInit init = tokenizer_options(&tokens);
        init.tokenize_fn = functions[number];
        init.tokenize_user_data = &calls;
        init.tokenize_assumes_string = true;
        MwTokenizer *tokenizer = mw_new_tokenizer(&init, NULL, 0);
        MwMatcher *matcher = new_matcher(tokenizer, "choice", "[\"a true b\", \"a true c\"]");
        uint32_t forced[8] = {0};
        int count = mw_matcher_compute_ff_tokens(matcher, forced, 8);
        CHECK(count == (number == 0 ? 4 : 0));
        if (number == 0) {
            CHECK(forced[0] == 'a' && forced[1] == ' ' && forced[2] == LONGER && forced[3] == ' ' && calls > 0);
            CHECK(mw_matcher_compute_ff_tokens(matcher, forced, 2) == 2);
            CHECK(mw_matcher_compute_ff_tokens(matcher, NULL, 0) == 0);
        }
        CHECK(mw_matcher_compute_ff_tokens(matcher, NULL, 8) == -1 && has_error(matcher, "output is null"));
        CHECK(next_is(matcher, "a", NONE));
        mw_free_matcher(matcher);
        mw_free_tokenizer(tokenizer);
    }
}

static void check_ends(const MwTokenizer *tokenizer) {
    MwMatcherInit init;
    mw_matcher_init_set_defaults(&init, sizeof init, tokenizer);
    const uint32_t stop = OTHER_END, outside = TOKENS;
    init.stop_tokens = &stop;
    init.stop_tokens_count = 1;
    MwMatcher *matcher = mw_new_matcher(&init, "choice", "[\"a\"]");
    CHECK(consume(matcher, "a") == 0 && next_is(matcher, "", OTHER_ENDS));
    CHECK(mw_matcher_consume_token(matcher, END) == -1 && mw_matcher_consume_token(matcher, OTHER_END) == 0);
    CHECK(mw_matcher_is_stopped(matcher));
    mw_free_matcher(matcher);
    init.stop_tokens = &outside;
    matcher = mw_new_matcher(&init, "choice", "[\"a\"]");
    CHECK(has_error(matcher, "outside"));
    mw_free_matcher(matcher);

    // Whoever takes the highest token that is allowed would write for ever without a limit.
    mw_matcher_init_set_defaults(&init, sizeof init, tokenizer);
    init.max_tokens = 12;
    matcher = mw_new_matcher(&init, "json", "{\"type\": \"array\", \"minItems\": 1, \"items\": {\"type\": \"string\"}}");
    int written = 0;
    while (!mw_matcher_is_stopped(matcher) && written <= 12 && mw_matcher_compute_mask(matcher) == 0) {
        const uint32_t *mask = mw_matcher_get_mask(matcher);
        uint32_t token = END;
        while (token > 0 && !allows(mask, token)) {
            token--;
        }
        CHECK(mw_matcher_consume_token(matcher, token) == 0);
        written++;
    }
    CHECK(mw_matcher_is_stopped(matcher) && written <= 12);
    mw_free_matcher(matcher);
    init.max_tokens = 4;
    matcher = mw_new_matcher(&init, "json", "{\"type\": \"array\", \"minItems\": 3}");
    CHECK(has_error(matcher, "max_tokens"));
    mw_free_matcher(matcher);
}

static void check_clones(void) {
    MwTokenizer *tokenizer = new_tokenizer();
    MwTokenizer *other = mw_clone_tokenizer(tokenizer);
    mw_free_tokenizer(tokenizer);
    MwMatcher *matcher = new_matcher(other, "choice", "[\"ab\", \"cd\"]");
    mw_free_tokenizer(other);
    CHECK(consume(matcher, "a") == 0);
    MwMatcher *clone = mw_clone_matcher(matcher);
    CHECK(consume(clone, "b") == 0 && next_is(clone, "", ENDS) && next_is(matcher, "b", NONE));
    mw_free_matcher(matcher);
    CHECK(mw_matcher_rollback(clone, 2) == 0 && next_is(clone, "ac", NONE));
    mw_free_matcher(clone);
}

static void check_nulls(void) {
    MwMatcherInit init;
    mw_tokenizer_init_set_defaults(NULL, 0);
    mw_matcher_init_set_defaults(NULL, 0, NULL);
    mw_free_tokenizer(NULL);
    mw_free_matcher(NULL);
    CHECK(mw_clone_tokenizer(NULL) == NULL && mw_clone_matcher(NULL) == NULL);
    CHECK(mw_matcher_compute_mask(NULL) == -1 && mw_matcher_compute_mask_into(NULL, NULL, 0) == -1);
    CHECK(mw_matcher_consume_token(NULL, 0) == -1 && mw_matcher_consume_tokens(NULL, NULL, 0) == -1);
    CHECK(mw_matcher_validate_tokens(NULL, NULL, 0) == -1 && mw_matcher_compute_ff_tokens(NULL, NULL, 0) == -1);
    CHECK(mw_matcher_rollback(NULL, 0) == -1 && mw_matcher_reset(NULL) == -1);
    CHECK(mw_matcher_get_mask(NULL) == NULL && mw_matcher_get_mask_byte_size(NULL) == 0);
    CHECK(mw_matcher_is_error(NULL) && mw_matcher_is_stopped(NULL) && !mw_matcher_is_accepting(NULL));
    CHECK(has_error(NULL, "null"));
    MwMatcher *matcher = mw_new_matcher(NULL, "json", "{}");
    CHECK(has_error(matcher, "MwMatcherInit is null"));
    mw_free_matcher(matcher);
    mw_matcher_init_set_defaults(&init, sizeof init, NULL);
    matcher = mw_new_matcher(&init, "json", "{}");
    CHECK(has_error(matcher, "tokenizer is null"));
    mw_free_matcher(matcher);
    init.struct_size = 1000;
    matcher = mw_new_matcher(&init, "json", "{}");
    CHECK(has_error(matcher, "struct_size"));
    mw_free_matcher(matcher);
}

#include "threads.h"

int main(void) {
    MwTokenizer *tokenizer = new_tokenizer();
    check_tokenizers();
    check_styles();
    check_patterns();
    check_steps(tokenizer);
    check_kinds(tokenizer);
    check_memory_for_masks(tokenizer);
    check_forced_tokens();
    check_ends(tokenizer);
    check_clones();
    check_nulls();
    check_batches(tokenizer);
    check_threads(tokenizer);
    mw_free_tokenizer(tokenizer);
    return failures == 0 ? 0 : 1;
}
