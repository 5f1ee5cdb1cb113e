// A model of llama.cpp answers a schema: llama-answer MODEL.gguf SCHEMA.json PROMPT MAX_TOKENS

#include "sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void quiet(enum ggml_log_level level, const char * text, void * user_data) {
    (void) user_data;
    if (level == GGML_LOG_LEVEL_ERROR) {
        fputs(text, stderr);
    }
}

static char * read_file(const char * path) {
    FILE * file = fopen(path, "rb");
    char * text = NULL;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        const long len = ftell(file);
        rewind(file);
        text = len < 0 ? NULL : calloc((size_t) len + 1, 1);
        if (text != NULL && fread(text, 1, (size_t) len, file) != (size_t) len) {
            free(text);
            text = NULL;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return text;
}

static int fail(const char * what, const char * why) {
    fprintf(stderr, "%s: %s\n", what, why);
    return 1;
}

// Samples until a token ends the answer, and prints it.
static int answer(struct llama_context * context, const struct llama_vocab * vocab, struct llama_sampler * chain,
                  const struct llama_sampler * constraint) {
    for (;;) {
        llama_token token = llama_sampler_sample(chain, context, -1);
        if (maskwright_sampler_error(constraint) != NULL) {
            return fail("\nmask", maskwright_sampler_error(constraint));
        }
        if (llama_vocab_is_eog(vocab, token)) {
            putchar('\n');
            return 0;
        }
        char          piece[1024];
        const int32_t len = llama_token_to_piece(vocab, token, piece, sizeof piece, 0, false);
        fwrite(piece, 1, len < 0 ? 0 : (size_t) len, stdout);
        if (llama_decode(context, llama_batch_get_one(&token, 1)) != 0) {
            return fail("\nllama.cpp", "a token cannot be decoded: is the context full?");
        }
    }
}

int main(int argc, char ** argv) {
    if (argc != 5) {
        return fail("usage", "llama-answer MODEL.gguf SCHEMA.json PROMPT MAX_TOKENS");
    }
    size_t max_tokens = strtoul(argv[4], NULL, 10);
    char * schema     = read_file(argv[2]);
    if (schema == NULL) {
        return fail(argv[2], "cannot be read");
    }
    llama_log_set(quiet, NULL);
    llama_backend_init();
    struct llama_model * model = llama_model_load_from_file(argv[1], llama_model_default_params());
    if (model == NULL) {
        return fail(argv[1], "cannot be loaded");
    }
    const struct llama_vocab * vocab    = llama_model_get_vocab(model);
    const int32_t              text_len = (int32_t) strlen(argv[3]);
    // Without room for the tokens, their number comes back, negated.
    const int32_t len  = -llama_tokenize(vocab, argv[3], text_len, NULL, 0, true, true);
    const int32_t left = llama_model_n_ctx_train(model) - len;
    if (len <= 0 || left <= 0) {
        return fail("llama.cpp", "the prompt is empty or too long");
    }
    llama_token * prompt = calloc((size_t) len, sizeof *prompt);
    if (prompt == NULL || llama_tokenize(vocab, argv[3], text_len, prompt, len, true, true) != len) {
        return fail("llama.cpp", "the prompt cannot be split into tokens");
    }
    // The answer ends within what the prompt leaves of the model's context.
    if (max_tokens == 0 || max_tokens > (size_t) left) {
        max_tokens = (size_t) left;
    }
    struct llama_context_params params = llama_context_default_params();
    // The prompt is one batch.
    params.n_batch = (uint32_t) len;
    params.n_ctx   = (uint32_t) len + (uint32_t) max_tokens;

    struct llama_context * context = llama_init_from_model(model, params);
    char                   error[256];
    MwTokenizer *          tokenizer = maskwright_tokenizer_init(vocab, error, sizeof error);
    if (tokenizer == NULL) {
        return fail("tokenizer", error);
    }
    struct llama_sampler * constraint =
        maskwright_sampler_init(tokenizer, "json_schema", schema, max_tokens, error, sizeof error);
    if (constraint == NULL) {
        return fail(argv[2], error);
    }
    struct llama_sampler * chain = llama_sampler_chain_init(llama_sampler_chain_default_params());
    llama_sampler_chain_add(chain, constraint);
    llama_sampler_chain_add(chain, llama_sampler_init_temp(0.8f));
    llama_sampler_chain_add(chain, llama_sampler_init_dist(1));

    int code;
    if (context == NULL || llama_decode(context, llama_batch_get_one(prompt, len)) != 0) {
        code = fail("llama.cpp", "the prompt cannot be decoded: is there too little memory?");
    } else {
        code = answer(context, vocab, chain, constraint);
    }
    llama_sampler_free(chain);
    mw_free_tokenizer(tokenizer);
    llama_free(context);
    llama_model_free(model);
    llama_backend_free();
    free(prompt);
    free(schema);
    return code;
}
