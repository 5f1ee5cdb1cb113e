// The part of contract.c on batches and threads.

enum { BATCH = 100 };

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int calls;
} Signal;

static void done(const void *user_data) {
    Signal *signal = (Signal *)user_data;
    pthread_mutex_lock(&signal->lock);
    signal->calls++;
    pthread_cond_signal(&signal->changed);
    pthread_mutex_unlock(&signal->lock);
}

static void wait_for(Signal *signal, int calls) {
    pthread_mutex_lock(&signal->lock);
    while (signal->calls < calls) {
        pthread_cond_wait(&signal->changed, &signal->lock);
    }
    pthread_mutex_unlock(&signal->lock);
}

static void check_batches(const MwTokenizer *tokenizer) {
    MwMatcherStep steps[BATCH];
    static uint32_t rows[BATCH][MASK_WORDS], expected[BATCH][MASK_WORDS];
    for (int number = 0; number < BATCH; number++) {
        MwMatcher *matcher = new_matcher(tokenizer, "regex", "[a-z]{10}|[0-9]{10}");
        for (int taken = 0; taken < number % 11; taken++) {
            CHECK(mw_matcher_consume_token(matcher, number % 2 == 0 ? 'q' : '7') == 0);
        }
        CHECK(mw_matcher_compute_mask_into(matcher, expected[number], sizeof expected[number]) == 0);
        steps[number] = (MwMatcherStep){matcher, rows[number], sizeof rows[number]};
    }
    memset(rows, 0x55, sizeof rows);
    CHECK(mw_par_compute_mask(steps, BATCH, NULL, NULL) == 0 && memcmp(rows, expected, sizeof rows) == 0);

    Signal signal = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    memset(rows, 0x55, sizeof rows);
    CHECK(mw_par_compute_mask(steps, BATCH, &signal, done) == 0);
    wait_for(&signal, 1);
    CHECK(memcmp(rows, expected, sizeof rows) == 0);
    CHECK(mw_par_compute_mask(NULL, 0, &signal, done) == 0 && mw_par_compute_mask(NULL, 5, &signal, done) == 0);
    wait_for(&signal, 3);
    CHECK(mw_par_compute_mask(NULL, 0, NULL, NULL) == 0 && mw_par_compute_mask(NULL, 5, NULL, NULL) == -1);

    // What is wrong with one step is that step's alone.
    MwMatcherStep wrong[6] = {steps[0], steps[1], steps[2], steps[3], steps[1], steps[5]};
    wrong[0].mask_byte_len = 4;
    wrong[2].mask_dest = rows[3] + 1;
    wrong[2].mask_byte_len = sizeof rows[3];
    memset(rows, 0x55, sizeof rows);
    CHECK(mw_par_compute_mask(wrong, 6, NULL, NULL) == -1);
    CHECK(has_error(steps[0].matcher, "4 bytes") && has_error(steps[1].matcher, "several steps"));
    CHECK(has_error(steps[2].matcher, "another step") && has_error(steps[3].matcher, "another step"));
    CHECK(mw_matcher_get_error(steps[5].matcher) == NULL && memcmp(rows[5], expected[5], sizeof rows[5]) == 0);
    wrong[0].matcher = NULL;
    CHECK(mw_par_compute_mask(wrong, 1, NULL, NULL) == -1);
    CHECK(mw_par_compute_mask(steps, BATCH, NULL, NULL) == 0 && memcmp(rows, expected, sizeof rows) == 0);

    for (int number = 0; number < BATCH; number++) {
        mw_free_matcher(steps[number].matcher);
    }
}

static void *walk(void *tokenizer) {
    for (int round = 0; round < 8; round++) {
        char schema[64];
        snprintf(schema, sizeof schema, "{\"const\": \"number %d\"}", round);
        MwMatcher *matcher = new_matcher(tokenizer, "json", schema);
        while (!mw_matcher_is_stopped(matcher)) {
            if (mw_matcher_compute_mask(matcher) != 0) {
                mw_free_matcher(matcher);
                return "no mask";
            }
            const uint32_t *mask = mw_matcher_get_mask(matcher);
            uint32_t token = 0;
            while (token < TOKENS && !allows(mask, token)) {
                token++;
            }
            if (mw_matcher_consume_token(matcher, token) != 0) {
                mw_free_matcher(matcher);
                return "no token";
            }
        }
        mw_free_matcher(matcher);
    }
    return NULL;
}

static void check_threads(MwTokenizer *tokenizer) {
    pthread_t threads[4];
    for (int number = 0; number < 4; number++) {
        CHECK(pthread_create(&threads[number], NULL, walk, tokenizer) == 0);
    }
    for (int number = 0; number < 4; number++) {
        void *failed = NULL;
        CHECK(pthread_join(threads[number], &failed) == 0 && failed == NULL);
    }
}
