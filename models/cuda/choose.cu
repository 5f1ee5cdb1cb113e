// Kernels that choose a token from logits on the device, so that a few bytes come back instead of all logits.
#ifndef EMULATED
#include <math_constants.h>
#define WARP_XOR(value, mask) __shfl_xor_sync(0xffffffffu, value, mask)
#define BLOCK_BARRIER() __syncthreads()
#endif

typedef unsigned int u32;
typedef unsigned long long u64;

constexpr int CHOICE_BLOCK = 256;
// The most blocks of `draw`.
constexpr int MAX_PARTS = 128;
constexpr u32 NONE = 0xffffffffu;

// What is known when a choice has been made.
struct Choice {
    // The token; NONE where none is allowed.
    u32 token;
    // The first token whose logit is infinite or NaN; NONE where there is none.
    u32 not_finite;
};

// What the blocks of a choice share. Between choices `best` and `done` are 0 and `not_finite` is NONE.
struct Shared {
    u64 best;
    u32 not_finite;
    u32 done;
    // The largest logit, for `draw`.
    float largest;
    u32 any;
    double sums[MAX_PARTS];
};

// A number that is the larger the larger `logit` is, never 0, and equal for equal logits.
__device__ inline u32 rank_of(float logit) {
    const u32 bits = __float_as_uint(logit + 0.0f);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
__device__ inline float logit_of(u32 rank) { return __uint_as_float(rank & 0x80000000u ? rank & 0x7fffffffu : ~rank); }

__device__ inline bool is_allowed(const u32 *mask, int token) { return !mask || mask[token / 32] >> token % 32 & 1; }

// The likeliest of the allowed tokens; of equals, that with the lowest id. `masked` tokens have a bit in `mask` (all are allowed
// where it is null), those after them are forbidden.
extern "C" __global__ void likeliest(const float *logits, int count, const u32 *mask, int masked, Shared *shared, Choice *choice) {
    u64 best = 0;
    u32 not_finite = NONE;
    // The mask is read from the host's memory: each word once, and as many at a time as there are threads.
    __shared__ u32 words[CHOICE_BLOCK];
    const int all_words = (count + 31) / 32, span = (all_words + gridDim.x - 1) / gridDim.x;
    const int first = blockIdx.x * span, after = min(first + span, all_words);
    for (int from = first; from < after; from += CHOICE_BLOCK) {
        const int word = from + threadIdx.x;
        BLOCK_BARRIER();
        words[threadIdx.x] = word < after && word * 32 < masked ? (mask ? mask[word] : 0xffffffffu) : 0;
        BLOCK_BARRIER();
        const int end = min(min(from + CHOICE_BLOCK, after) * 32, count);
        for (int token = from * 32 + threadIdx.x; token < end; token += CHOICE_BLOCK) {
            const float logit = logits[token];
            if (!isfinite(logit)) {
                not_finite = min(not_finite, (u32)token);
            } else if (token < masked && words[token / 32 - from] >> token % 32 & 1) {
                const u64 key = (u64)rank_of(logit) << 32 | ~(u32)token;
                best = key > best ? key : best;
            }
        }
    }
    __shared__ u64 bests[CHOICE_BLOCK];
    __shared__ u32 bads[CHOICE_BLOCK];
    bests[threadIdx.x] = best;
    bads[threadIdx.x] = not_finite;
    BLOCK_BARRIER();
    for (int half = CHOICE_BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            const u64 other = bests[threadIdx.x + half];
            if (other > bests[threadIdx.x]) bests[threadIdx.x] = other;
            bads[threadIdx.x] = min(bads[threadIdx.x], bads[threadIdx.x + half]);
        }
        BLOCK_BARRIER();
    }
    if (threadIdx.x != 0) return;
    if (bests[0]) atomicMax(&shared->best, bests[0]);
    if (bads[0] != NONE) atomicMin(&shared->not_finite, bads[0]);
    __threadfence();
    const u32 others = gridDim.x - 1;
    if (atomicInc(&shared->done, others) != others) return;
    const u64 found = atomicExch(&shared->best, 0ull);
    choice->token = found ? ~(u32)found : NONE;
    choice->not_finite = atomicExch(&shared->not_finite, NONE);
    shared->largest = logit_of((u32)(found >> 32));
    shared->any = found != 0;
}

// Adds up CHOICE_BLOCK numbers; every thread gets the sum.
__device__ inline double block_sum(double value) {
    __shared__ double values[CHOICE_BLOCK];
    values[threadIdx.x] = value;
    BLOCK_BARRIER();
    for (int half = CHOICE_BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
        BLOCK_BARRIER();
    }
    const double sum = values[0];
    BLOCK_BARRIER();
    return sum;
}

// How likely `token` is beside the likeliest one; 0 where it is forbidden or less likely than `min_p`.
__device__ inline float weight_of(const float *logits, const u32 *mask, int token, float largest, float inverse_temperature,
                                  float min_p) {
    if (!is_allowed(mask, token)) return 0.0f;
    const float weight = expf(logits[token] * inverse_temperature - largest * inverse_temperature);
    return weight >= min_p ? weight : 0.0f;
}

// Draws a token after `likeliest` has run: the first, in the order of ids, at which the sum of the weights up to it exceeds
// `random` (0 to 1) of the whole.
extern "C" __global__ void draw(const float *logits, int count, const u32 *mask, int masked, float inverse_temperature, float min_p,
                                double random, Shared *shared, Choice *choice) {
    if (!shared->any) return;
    const float largest = shared->largest;
    count = min(count, masked);
    const int part = (count + gridDim.x - 1) / gridDim.x;
    const int each = (part + CHOICE_BLOCK - 1) / CHOICE_BLOCK;
    const int start = blockIdx.x * part, end = min(start + part, count);
    double sum = 0.0;
    for (int token = start + threadIdx.x; token < end; token += CHOICE_BLOCK)
        sum += weight_of(logits, mask, token, largest, inverse_temperature, min_p);
    sum = block_sum(sum);
    __shared__ bool last;
    if (threadIdx.x == 0) {
        shared->sums[blockIdx.x] = sum;
        __threadfence();
        const u32 others = gridDim.x - 1;
        last = atomicInc(&shared->done, others) == others;
    }
    BLOCK_BARRIER();
    if (!last) return;
    __threadfence();
    // The last block finds the part, and within it the token.
    __shared__ int chosen_part;
    __shared__ double rest;
    if (threadIdx.x == 0) {
        const volatile double *sums = shared->sums;
        double total = 0.0;
        for (int i = 0; i < gridDim.x; i++) total += sums[i];
        rest = random * total;
        chosen_part = -1;
        for (int i = 0; i < gridDim.x; i++) {
            if (sums[i] <= 0.0) continue;
            if (chosen_part >= 0 && rest < 0.0) break;
            chosen_part = i;
            rest -= sums[i];
        }
        if (chosen_part >= 0) rest += sums[chosen_part];
    }
    BLOCK_BARRIER();
    // Where no token weighs anything, the likeliest stays chosen.
    if (chosen_part < 0) return;
    const int from = chosen_part * part + threadIdx.x * each, to = min(min(from + each, (chosen_part + 1) * part), count);
    __shared__ double own[CHOICE_BLOCK];
    double mine = 0.0;
    for (int token = from; token < to; token++) mine += weight_of(logits, mask, token, largest, inverse_temperature, min_p);
    own[threadIdx.x] = mine;
    BLOCK_BARRIER();
    if (threadIdx.x != 0) return;
    double left = rest;
    int thread = 0, likely = 0;
    for (; thread < CHOICE_BLOCK; thread++) {
        if (own[thread] <= 0.0) continue;
        likely = thread;
        if (left < own[thread]) break;
        left -= own[thread];
    }
    u32 token = choice->token;
    const int first = chosen_part * part + likely * each, after = min(min(first + each, (chosen_part + 1) * part), count);
    for (int i = first; i < after; i++) {
        const float weight = weight_of(logits, mask, i, largest, inverse_temperature, min_p);
        if (weight <= 0.0f) continue;
        token = i;
        left -= weight;
        if (left < 0.0) break;
    }
    choice->token = token;
}

#ifndef EMULATED
// Reads `count` times 16 bytes, for measuring how fast memory is read. Writes only what never comes up.
extern "C" __global__ void read_all(const uint4 *data, u64 count, u32 *out) {
    u32 seen = 0;
    const u64 stride = (u64)gridDim.x * blockDim.x;
    u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    for (; at + 3 * stride < count; at += 4 * stride) {
        const uint4 a = data[at], b = data[at + stride], c = data[at + 2 * stride], d = data[at + 3 * stride];
        seen |= a.x | a.y | a.z | a.w | b.x | b.y | b.z | b.w | c.x | c.y | c.z | c.w | d.x | d.y | d.z | d.w;
    }
    if (seen == 0x5eed5eedu) *out = seen;
}
#endif
