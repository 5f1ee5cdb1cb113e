// Kernels of a forward pass over few tokens, and of the choice of a token from its logits.
//
// Such a pass reads every weight once and does little else: its time is that of reading them. So there are five launches a
// layer, each of which keeps as many reads of weights under way as it can, and nothing but weights, keys and values is
// kept in 16 bits: activations and sums are 32-bit floats, as on the CPU.
//
// Compiled once for each number format of the weights: WEIGHT is f32, bf16 or f16. `emulation.cpp` runs the same text on a CPU.
#include "products.cuh"

// Reads of each row that a warp has under way, where it multiplies with one vector and where with more.
// With one vector a warp needs few registers, and many warps hide more than long reads do.
constexpr int AHEAD_ALONE = 1;
constexpr int AHEAD_TOGETHER = 4;
// The most parts that the keys are divided into.
constexpr int MAX_KEY_PARTS = 64;
// Fewest keys that a block of the attention is given.
constexpr int MIN_KEYS = 32;

// Begins a pass with the vectors of its tokens.
extern "C" __global__ void embed(const Weight *table, Tokens tokens, int position, int *first_position, float *x, int width,
                                 const float *frequencies, float *angles, int pairs) {
    begin_pass(position, first_position, frequencies, angles, pairs);
    const Weight *row = table + (u64)tokens.at[blockIdx.x] * width;
    for (int i = threadIdx.x; i < width; i += blockDim.x) x[(u64)blockIdx.x * width + i] = widen(row[i]);
}

// The product of `products.cuh` with a matrix of WEIGHT.
template <int TOKENS, bool NORM, Output OUTPUT, int SPLIT>
__device__ inline void product(const Weight *weights, const Weight *bias, const Weight *norm, float eps, const float *x, float *y,
                               int inputs, int outputs, int stride, const char *next, int next_lines) {
    constexpr int AHEAD = TOKENS == 1 ? AHEAD_ALONE : AHEAD_TOGETHER;
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const RowPair pair = rows_of_warp<OUTPUT, SPLIT>(outputs);
    if (SPLIT == 1 && pair.first >= outputs) return;
    const Weight *rows[ROWS] = {weights + (u64)pair.first * inputs, weights + (u64)pair.second * inputs};

    float sums[TOKENS][ROWS] = {};
    float squares[TOKENS] = {};
    constexpr int STEP = WARP * PACK, STRIDE = SPLIT * STEP;
    for (int base = (SPLIT == 1 ? 0 : warp * STEP) + lane * PACK; base < inputs; base += AHEAD * STRIDE) {
        Words words[AHEAD][ROWS];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const int at = base + i * STRIDE;
#pragma unroll
            for (int row = 0; row < ROWS; row++)
                if (at < inputs) words[i][row] = read_once(rows[row] + at);
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const int at = base + i * STRIDE;
            if (at >= inputs) break;
            float w[ROWS][PACK], scale[PACK];
#pragma unroll
            for (int row = 0; row < ROWS; row++) unpack(words[i][row], w[row]);
            if (NORM) unpack(*reinterpret_cast<const Words *>(norm + at), scale);
#pragma unroll
            for (int token = 0; token < TOKENS; token++) {
                float part[PACK];
                read_floats(x + (u64)token * inputs + at, part);
#pragma unroll
                for (int j = 0; j < PACK; j++) {
                    if (NORM) {
                        squares[token] += part[j] * part[j];
                        part[j] *= scale[j];
                    }
#pragma unroll
                    for (int row = 0; row < ROWS; row++) sums[token][row] += w[row][j] * part[j];
                }
            }
        }
    }
    finish_product<TOKENS, NORM, OUTPUT, SPLIT, false>(sums, squares, bias, eps, y, inputs, outputs, stride, pair, next, next_lines);
}

typedef Weight Matrix;
PRODUCTS(product)

// Multiplies a head's query or key by its norm, where there is one, and turns it by its position's angles (of pairs half a
// head apart). A warp does it, into `out`.
__device__ inline void prepare_head(const float *from, const Weight *norm, float eps, const float *angles, int dim, float factor,
                                    bool rounded, float *out) {
    const int lane = threadIdx.x % WARP;
    float root = 1.0f;
    if (norm) {
        float square = 0.0f;
        for (int i = lane; i < dim; i += WARP) square += from[i] * from[i];
        root = rsqrtf(warp_sum(square) / dim + eps);
    }
    for (int i = lane; i < dim / 2; i += WARP) {
        float a = from[i], b = from[i + dim / 2];
        if (norm) {
            a *= root * widen(norm[i]);
            b *= root * widen(norm[i + dim / 2]);
        }
        const float cosine = angles[2 * i], sine = angles[2 * i + 1];
        const float low = (a * cosine - b * sine) * factor, high = (b * cosine + a * sine) * factor;
        out[i] = rounded ? widen(narrow(low)) : low;
        out[i + dim / 2] = rounded ? widen(narrow(high)) : high;
    }
}

// What a softmax over some of the keys comes to: the largest score, the sum of exponentials, the weighted sum of values.
// `scale_of` is how much a part with that largest score counts beside one with another.
__device__ inline float scale_of(float part, float largest) { return part == -INFINITE ? 0.0f : expf(part - largest); }

__device__ inline void add_scaled(float *sum, const float *four, float scale) {
#pragma unroll
    for (int i = 0; i < 4; i++) sum[i] += four[i] * scale;
}

// Attention of the new tokens over the cache and themselves, and the new keys and values into the cache.
//
// A head's vector is LANES packs of 16 bytes; HEADS is at least the number of query heads that share a key head. The grid is
// (parts of the keys, key heads, new tokens); `parts` has room for [new tokens, heads, parts, dim + 2] floats. The block that
// is last to finish for a key head and token joins the parts; `counters`, one for each of these, are 0 before and after.
// `is_interleaved` says how `out` is kept, for the product that follows.
template <int LANES, int HEADS>
__device__ inline void attention(const float *qkv, const Weight *query_norm, const Weight *key_norm, float eps,
                                 const float *angles, Weight *keys, Weight *values, const int *first_position, float *parts,
                                 u32 *counters, float *out, int heads, int kv_heads, int capacity, bool is_interleaved,
                                 const char *next, int next_lines) {
    constexpr int DIM = LANES * PACK;
    constexpr int PER_WARP = WARP / LANES;
    constexpr int SLOTS = WARPS * PER_WARP;
    // Keys that each slot reads at once.
    constexpr int UNROLL = 2;
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int slot = threadIdx.x / LANES, element = threadIdx.x % LANES * PACK;
    const int kv_head = blockIdx.y, token = blockIdx.z, tokens = gridDim.z;
    const int group = heads / kv_heads;
    const int width = (heads + 2 * kv_heads) * DIM;
    const int position = *first_position;
    const int length = position + token + 1;
    const int share = max((length + (int)gridDim.x - 1) / (int)gridDim.x, MIN_KEYS);
    const int active = (length + share - 1) / share;
    if ((int)blockIdx.x >= active) {
        // Blocks without keys read ahead.
        const int idle = gridDim.x - active, row = blockIdx.y + gridDim.y * blockIdx.z;
        for (int line = (row * idle + blockIdx.x - active) * BLOCK + threadIdx.x; line < next_lines;
             line += idle * gridDim.y * gridDim.z * BLOCK)
            read_ahead(next + (u64)line * LINE);
        return;
    }
    const int start = blockIdx.x * share, end = min(start + share, length);

    // The queries, and the new tokens' keys and values; when all have been read, the sums of the warps.
    constexpr int READ = HEADS + 2 * MAX_TOKENS, SUMS = WARPS * HEADS;
    alignas(16) __shared__ float vectors[READ > SUMS ? READ : SUMS][DIM];
    float(*queries)[DIM] = vectors, (*fresh_keys)[DIM] = vectors + HEADS, (*fresh_values)[DIM] = fresh_keys + MAX_TOKENS;
    __shared__ float best[WARPS][HEADS], weight[WARPS][HEADS];
    __shared__ bool last;

    // What the cache has of the first keys is read while the queries are prepared.
    Weight *head_keys = keys + (u64)kv_head * capacity * DIM, *head_values = values + (u64)kv_head * capacity * DIM;
    Words key_words[UNROLL], value_words[UNROLL];
    const auto read_cache = [&](int base) {
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            const int at = base + i * SLOTS + slot;
            if (at < min(end, position)) {
                key_words[i] = *reinterpret_cast<const Words *>(head_keys + (u64)at * DIM + element);
                value_words[i] = *reinterpret_cast<const Words *>(head_values + (u64)at * DIM + element);
            }
        }
    };
    read_cache(start);

    // The block of a pass's last token that has its key also stores all new ones.
    const bool stores = token == tokens - 1 && blockIdx.x == active - 1;
    const int fresh_from = stores ? 0 : max(start - position, 0), fresh_to = end - position;
    const float root = rsqrtf((float)DIM);
    for (int i = warp; i < group; i += WARPS)
        prepare_head(qkv + (u64)token * width + (kv_head * group + i) * DIM, query_norm, eps, angles + token * DIM, DIM, root, false,
                     queries[i]);
    // Every other warp does keys, and the rest values.
    for (int i = fresh_from + warp / 2; i < fresh_to; i += WARPS / 2) {
        const float *row = qkv + (u64)i * width;
        if (warp % 2 == 0)
            prepare_head(row + (heads + kv_head) * DIM, key_norm, eps, angles + i * DIM, DIM, 1.0f, true, fresh_keys[i]);
        else
            for (int j = lane; j < DIM; j += WARP) fresh_values[i][j] = widen(narrow(row[(heads + kv_heads + kv_head) * DIM + j]));
    }
    BLOCK_BARRIER();
    if (stores) {
        for (int i = threadIdx.x; i < tokens * DIM; i += BLOCK) {
            head_keys[(u64)position * DIM + i] = narrow(fresh_keys[i / DIM][i % DIM]);
            head_values[(u64)position * DIM + i] = narrow(fresh_values[i / DIM][i % DIM]);
        }
    }

    float query[HEADS][PACK], sum[HEADS][PACK] = {}, largest[HEADS], total[HEADS] = {};
#pragma unroll
    for (int i = 0; i < HEADS; i++) {
        largest[i] = -INFINITE;
        // Queries beyond the group's are never written out.
        read_floats(&queries[i < group ? i : 0][element], query[i]);
    }
    for (int base = start; base < end; base += SLOTS * UNROLL) {
        if (base != start) read_cache(base);
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            const int at = base + i * SLOTS + slot;
            float key[PACK] = {}, value[PACK] = {};
            if (at < min(end, position)) {
                unpack(key_words[i], key);
                unpack(value_words[i], value);
            } else if (at < end) {
                read_floats(&fresh_keys[at - position][element], key);
                read_floats(&fresh_values[at - position][element], value);
            }
#pragma unroll
            for (int j = 0; j < HEADS; j++) {
                float score = 0.0f;
#pragma unroll
                for (int k = 0; k < PACK; k++) score += query[j][k] * key[k];
#pragma unroll
                for (int mask = LANES / 2; mask > 0; mask /= 2) score += WARP_XOR(score, mask);
                if (at >= end) continue;
                const float larger = fmaxf(largest[j], score);
                const float before = scale_of(largest[j], larger), now = expf(score - larger);
                largest[j] = larger;
                total[j] = total[j] * before + now;
#pragma unroll
                for (int k = 0; k < PACK; k++) sum[j][k] = sum[j][k] * before + now * value[k];
            }
        }
    }
    // The slots of a warp are joined by shuffles, then the warps through shared memory.
    BLOCK_BARRIER();
#pragma unroll
    for (int j = 0; j < HEADS; j++) {
        float all = largest[j];
#pragma unroll
        for (int mask = LANES; mask < WARP; mask *= 2) all = fmaxf(all, WARP_XOR(all, mask));
        const float scale = scale_of(largest[j], all);
        total[j] *= scale;
#pragma unroll
        for (int mask = LANES; mask < WARP; mask *= 2) total[j] += WARP_XOR(total[j], mask);
#pragma unroll
        for (int k = 0; k < PACK; k++) {
            float joined = sum[j][k] * scale;
#pragma unroll
            for (int mask = LANES; mask < WARP; mask *= 2) joined += WARP_XOR(joined, mask);
            if (lane < LANES) vectors[warp * HEADS + j][element + k] = joined;
        }
        if (lane == 0) {
            best[warp][j] = all;
            weight[warp][j] = total[j];
        }
    }
    BLOCK_BARRIER();
    // Four elements to a thread, so that all are done at once.
    const u64 row = (u64)token * heads + kv_head * group;
    const auto place = [&](int head, int at) {
        const int to = (kv_head * group + head) * DIM + at;
        return (u64)token * heads * DIM + (is_interleaved ? interleaved(to, heads * DIM) : to);
    };
    float *stats = parts + (u64)gridDim.z * heads * gridDim.x * DIM;
    for (int i = threadIdx.x; i < group * DIM / 4; i += BLOCK) {
        const int head = i * 4 / DIM, at = i * 4 % DIM;
        float all = -INFINITE, total = 0.0f, value[4] = {};
#pragma unroll
        for (int j = 0; j < WARPS; j++) all = fmaxf(all, best[j][head]);
#pragma unroll
        for (int j = 0; j < WARPS; j++) {
            const float scale = scale_of(best[j][head], all);
            total += weight[j][head] * scale;
            add_scaled(value, &vectors[j * HEADS + head][at], scale);
        }
        if (active == 1) {
            const float share = 1.0f / total;
            *reinterpret_cast<float4 *>(out + place(head, at)) = {value[0] * share, value[1] * share, value[2] * share,
                                                                           value[3] * share};
        } else {
            const u64 part = (row + head) * gridDim.x + blockIdx.x;
            *reinterpret_cast<float4 *>(parts + part * DIM + at) = {value[0], value[1], value[2], value[3]};
            if (at == 0) {
                stats[2 * part] = all;
                stats[2 * part + 1] = total;
            }
        }
    }
    if (active == 1) return;
    __threadfence();
    BLOCK_BARRIER();
    // The counter returns to 0 with the last of the blocks.
    if (threadIdx.x == 0)
        last = atomicInc(&counters[token * kv_heads + kv_head], (u32)(active - 1)) == (u32)(active - 1);
    BLOCK_BARRIER();
    if (!last) return;
    __threadfence();
    // How much each part counts; then the sums, whose reads do not wait for each other.
    __shared__ float shares[HEADS][MAX_KEY_PARTS];
    for (int head = warp; head < group; head += WARPS) {
        const float *stat = stats + 2 * (row + head) * gridDim.x;
        float part_best[MAX_KEY_PARTS / WARP], part_total[MAX_KEY_PARTS / WARP], all = -INFINITE, sum = 0.0f;
#pragma unroll
        for (int i = 0; i < MAX_KEY_PARTS / WARP; i++) {
            const int j = lane + i * WARP;
            part_best[i] = j < active ? __ldcg(stat + 2 * j) : -INFINITE;
            part_total[i] = j < active ? __ldcg(stat + 2 * j + 1) : 0.0f;
            all = fmaxf(all, part_best[i]);
        }
#pragma unroll
        for (int mask = WARP / 2; mask > 0; mask /= 2) all = fmaxf(all, WARP_XOR(all, mask));
#pragma unroll
        for (int i = 0; i < MAX_KEY_PARTS / WARP; i++) {
            part_best[i] = scale_of(part_best[i], all);
            sum += part_total[i] * part_best[i];
        }
        sum = warp_sum(sum);
#pragma unroll
        for (int i = 0; i < MAX_KEY_PARTS / WARP; i++) shares[head][lane + i * WARP] = part_best[i] / sum;
    }
    BLOCK_BARRIER();
    for (int i = threadIdx.x; i < group * DIM / 4; i += BLOCK) {
        const int head = i * 4 / DIM, at = i * 4 % DIM;
        const float *part = parts + (row + head) * gridDim.x * DIM + at;
        float value[4] = {};
#pragma unroll 8
        for (int j = 0; j < active; j++) {
            const float4 four = __ldcg(reinterpret_cast<const float4 *>(part + j * DIM));
            const float of_part[4] = {four.x, four.y, four.z, four.w};
            add_scaled(value, of_part, shares[head][j]);
        }
        *reinterpret_cast<float4 *>(out + place(head, at)) = {value[0], value[1], value[2], value[3]};
    }
}

#define ATTENTION(lanes, group)                                                                                                   \
    extern "C" __global__ void __launch_bounds__(BLOCK) attention_##lanes##_##group(                                              \
        const float *qkv, const Weight *query_norm, const Weight *key_norm, float eps, const float *angles, Weight *keys,    \
        Weight *values, const int *first_position, float *parts, u32 *counters, float *out, int heads, int kv_heads,              \
        int capacity, int is_interleaved, const char *next, int next_lines) {                                                     \
        attention<lanes, group>(qkv, query_norm, key_norm, eps, angles, keys, values, first_position, parts, counters, out,  \
                                heads, kv_heads, capacity, is_interleaved, next, next_lines);                                     \
    }
#define ATTENTIONS(lanes) ATTENTION(lanes, 1) ATTENTION(lanes, 4) ATTENTION(lanes, 8)
ATTENTIONS(4)
ATTENTIONS(8)
ATTENTIONS(16)
ATTENTIONS(32)
