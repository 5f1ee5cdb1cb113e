// Kernels of a forward pass over few tokens, and of the choice of a token from its logits.
//
// Such a pass reads every weight once and does little else: its time is that of reading them. So there are five launches a
// layer, each of which keeps as many reads of weights under way as it can, and nothing but weights, keys and values is
// kept in 16 bits: activations and sums are 32-bit floats, as on the CPU.
//
// Compiled once for each number format of the weights: WEIGHT is f32, bf16 or f16. `emulation.h` runs the same text on a CPU.
#ifndef EMULATED
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>
#define WARP_XOR(value, mask) __shfl_xor_sync(0xffffffffu, value, mask)
#define BLOCK_BARRIER() __syncthreads()
#define INFINITE CUDART_INF_F
#endif

#define bf16 1
#define f16 2
#define f32 3

#if WEIGHT == f32
typedef float Weight;
#elif WEIGHT == bf16
typedef __nv_bfloat16 Weight;
#else
typedef __half Weight;
#endif

typedef unsigned int u32;
typedef unsigned long long u64;

// Threads of a warp and of a block.
constexpr int WARP = 32;
constexpr int BLOCK = 128;
constexpr int WARPS = BLOCK / WARP;
// Weights in one read of 16 bytes.
constexpr int PACK = 16 / sizeof(Weight);
// Rows of a matrix that a warp multiplies at once.
constexpr int ROWS = 2;
// Reads of each row that a warp has under way, where it multiplies with one vector and where with more.
// With one vector a warp needs few registers, and many warps hide more than long reads do.
constexpr int AHEAD_ALONE = 1;
constexpr int AHEAD_TOGETHER = 4;
// Bytes of a read ahead into the cache.
constexpr int LINE = 128;
// The blocks of a kernel that read ahead, its last ones.
constexpr int LATE_BLOCKS = 512;
// The most parts that the keys are divided into.
constexpr int MAX_KEY_PARTS = 64;
// The most tokens of a pass.
constexpr int MAX_TOKENS = 8;
// Fewest keys that a block of the attention is given.
constexpr int MIN_KEYS = 32;

struct alignas(16) Words {
    u32 at[4];
};

// 16 bytes of weights, which are read once and need not stay in the cache.
__device__ inline Words read_once(const Weight *from) {
#ifdef EMULATED
    return *reinterpret_cast<const Words *>(from);
#else
    Words words;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words.at[0]), "=r"(words.at[1]), "=r"(words.at[2]), "=r"(words.at[3])
                 : "l"(from));
    return words;
#endif
}

// Has the cache read a line that the next kernel begins with. Between two kernels the memory would stand still.
__device__ inline void read_ahead(const char *line) {
#ifndef EMULATED
    asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
#endif
}

__device__ inline float widen(float value) { return value; }
#if WEIGHT == bf16
__device__ inline float widen(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ inline Weight narrow(float value) { return __float2bfloat16(value); }
#elif WEIGHT == f16
__device__ inline float widen(__half value) { return __half2float(value); }
__device__ inline Weight narrow(float value) { return __float2half(value); }
#else
__device__ inline Weight narrow(float value) { return value; }
#endif

// The weights in `words` as floats.
__device__ inline void unpack(const Words &words, float *out) {
#if WEIGHT == f32
    for (int i = 0; i < 4; i++) out[i] = __uint_as_float(words.at[i]);
#elif WEIGHT == bf16
    // A bfloat16 is the upper half of a float.
#pragma unroll
    for (int i = 0; i < 4; i++) {
        out[2 * i] = __uint_as_float(words.at[i] << 16);
        out[2 * i + 1] = __uint_as_float(words.at[i] & 0xffff0000u);
    }
#else
    const __half *halves = reinterpret_cast<const __half *>(words.at);
#pragma unroll
    for (int i = 0; i < 8; i++) out[i] = __half2float(halves[i]);
#endif
}

// PACK floats from `from`.
__device__ inline void read_floats(const float *from, float *out) {
#pragma unroll
    for (int i = 0; i < PACK; i += 4) {
        const float4 four = *reinterpret_cast<const float4 *>(from + i);
        out[i] = four.x;
        out[i + 1] = four.y;
        out[i + 2] = four.z;
        out[i + 3] = four.w;
    }
}

__device__ inline float warp_sum(float value) {
#ifdef WARP_SUM
    return WARP_SUM(value);
#endif
#pragma unroll
    for (int mask = WARP / 2; mask > 0; mask /= 2) value += WARP_XOR(value, mask);
    return value;
}

// Begins a pass: the vectors of the tokens, and for the kernels that follow the position of the first one, and of each token the
// cosine and the sine of every pair's angle.
struct Tokens {
    u32 at[MAX_TOKENS];
};
extern "C" __global__ void embed(const Weight *table, Tokens tokens, int position, int *first_position, float *x, int width,
                                 const float *frequencies, float *angles, int pairs) {
    const int token = blockIdx.x;
    if (token == 0 && threadIdx.x == 0) *first_position = position;
    const Weight *row = table + (u64)tokens.at[token] * width;
    for (int i = threadIdx.x; i < width; i += blockDim.x) x[(u64)token * width + i] = widen(row[i]);
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        float *angle = angles + 2 * (token * pairs + i);
        sincosf((position + token) * frequencies[i], angle + 1, angle);
    }
}

// What becomes of a product.
enum Output { STORE, ADD, GATED };

// Writes the sums of two rows as outputs `first` and `second` of a token, see `product`.
template <bool NORM, Output OUTPUT>
__device__ inline void write_output(const float *sums, float squares, const Weight *bias, float eps, float *y, int inputs,
                                    int first, int second) {
    const float factor = NORM ? rsqrtf(squares / inputs + eps) : 1.0f;
    float a = sums[0] * factor, b = sums[1] * factor;
    if (bias) {
        a += widen(bias[first]);
        b += widen(bias[second]);
    }
    if (OUTPUT == GATED) {
        y[first] = a / (1.0f + expf(-a)) * b;
    } else if (OUTPUT == ADD) {
        y[first] += a;
        if (second != first) y[second] += b;
    } else {
        y[first] = a;
        if (second != first) y[second] = b;
    }
}

// y = W x for TOKENS vectors x: [TOKENS, inputs], y: [TOKENS, outputs].
//
// With NORM, x is divided by its root mean square and multiplied by `norm` first; the division is made after the product. STORE
// writes y, ADD adds to it, GATED takes rows i and i + outputs of W for one output, silu(first) * second.
// SPLIT is the number of warps that share rows: 1 or WARPS. The kernel's last blocks read the first lines of `next` ahead.
template <int TOKENS, bool NORM, Output OUTPUT, int SPLIT>
__device__ inline void product(const Weight *weights, const Weight *bias, const Weight *norm, float eps, const float *x, float *y,
                               int inputs, int outputs, const char *next, int next_lines) {
    constexpr int AHEAD = TOKENS == 1 ? AHEAD_ALONE : AHEAD_TOGETHER;
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int group = SPLIT == 1 ? blockIdx.x * WARPS + warp : blockIdx.x;
    const int step = OUTPUT == GATED ? 1 : ROWS;
    const int first = group * step;
    if (SPLIT == 1 && first >= outputs) return;
    // Where the number of rows is odd, the last one is computed twice.
    const int second = OUTPUT == GATED ? first + outputs : (first + 1 < outputs ? first + 1 : first);
    const Weight *rows[ROWS] = {weights + (u64)first * inputs, weights + (u64)second * inputs};

    float sums[TOKENS][ROWS] = {};
    float squares[TOKENS] = {};
    constexpr int CHUNK = WARP * PACK;
    const int stride = SPLIT * CHUNK;
    for (int base = (SPLIT == 1 ? 0 : warp * CHUNK) + lane * PACK; base < inputs; base += AHEAD * stride) {
        Words words[AHEAD][ROWS];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const int at = base + i * stride;
#pragma unroll
            for (int row = 0; row < ROWS; row++)
                if (at < inputs) words[i][row] = read_once(rows[row] + at);
        }
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            const int at = base + i * stride;
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
    const int late_blocks = min((int)gridDim.x, LATE_BLOCKS), late = (int)blockIdx.x - ((int)gridDim.x - late_blocks);
    if (late >= 0)
        for (int line = late * BLOCK + threadIdx.x; line < next_lines; line += late_blocks * BLOCK) read_ahead(next + (u64)line * LINE);
#pragma unroll
    for (int token = 0; token < TOKENS; token++) {
#pragma unroll
        for (int row = 0; row < ROWS; row++) sums[token][row] = warp_sum(sums[token][row]);
        if (NORM) squares[token] = warp_sum(squares[token]);
    }
    if (SPLIT == 1) {
        if (lane != 0) return;
#pragma unroll
        for (int token = 0; token < TOKENS; token++)
            write_output<NORM, OUTPUT>(sums[token], squares[token], bias, eps, y + (u64)token * outputs, inputs, first, second);
        return;
    }
    __shared__ float parts[WARPS][TOKENS][ROWS + 1];
    if (lane == 0) {
#pragma unroll
        for (int token = 0; token < TOKENS; token++) {
#pragma unroll
            for (int row = 0; row < ROWS; row++) parts[warp][token][row] = sums[token][row];
            parts[warp][token][ROWS] = squares[token];
        }
    }
    BLOCK_BARRIER();
    const int token = threadIdx.x;
    if (token >= TOKENS) return;
    float total[ROWS + 1] = {};
    for (int part = 0; part < WARPS; part++)
        for (int i = 0; i <= ROWS; i++) total[i] += parts[part][token][i];
    write_output<NORM, OUTPUT>(total, total[ROWS], bias, eps, y + (u64)token * outputs, inputs, first, second);
}

#define PRODUCT(name, tokens, norm, output, split)                                                                            \
    extern "C" __global__ void __launch_bounds__(BLOCK) name##_##tokens(                                                     \
        const Weight *weights, const Weight *bias, const Weight *scale, float eps, const float *x, float *y, int inputs,     \
        int outputs, const char *next, int next_lines) {                                                                     \
        product<tokens, norm, output, split>(weights, bias, scale, eps, x, y, inputs, outputs, next, next_lines);            \
    }
#define PRODUCTS(tokens)                          \
    PRODUCT(qkv, tokens, true, STORE, WARPS)      \
    PRODUCT(add_product, tokens, false, ADD, WARPS) \
    PRODUCT(gate_up, tokens, true, GATED, 1)
PRODUCTS(1)
PRODUCTS(2)
PRODUCTS(4)
PRODUCTS(8)
PRODUCT(logits, 1, true, STORE, 1)

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
// A head's vector is LANES packs of 16 bytes; GROUP is at least the number of query heads that share a key head. The grid is
// (parts of the keys, key heads, new tokens); `parts` has room for [new tokens, heads, parts, dim + 2] floats. The block that
// is last to finish for a key head and token joins the parts; `counters`, one for each of these, are 0 before and after.
template <int LANES, int GROUP>
__device__ inline void attention(const float *qkv, const Weight *query_norm, const Weight *key_norm, float eps,
                                 const float *angles, Weight *keys, Weight *values, const int *first_position, float *parts,
                                 u32 *counters, float *out, int heads, int kv_heads, int capacity, const char *next,
                                 int next_lines) {
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
    constexpr int READ = GROUP + 2 * MAX_TOKENS, SUMS = WARPS * GROUP;
    alignas(16) __shared__ float vectors[READ > SUMS ? READ : SUMS][DIM];
    float(*queries)[DIM] = vectors, (*fresh_keys)[DIM] = vectors + GROUP, (*fresh_values)[DIM] = fresh_keys + MAX_TOKENS;
    __shared__ float best[WARPS][GROUP], weight[WARPS][GROUP];
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

    float query[GROUP][PACK], sum[GROUP][PACK] = {}, largest[GROUP], total[GROUP] = {};
#pragma unroll
    for (int i = 0; i < GROUP; i++) {
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
            for (int j = 0; j < GROUP; j++) {
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
    for (int j = 0; j < GROUP; j++) {
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
            if (lane < LANES) vectors[warp * GROUP + j][element + k] = joined;
        }
        if (lane == 0) {
            best[warp][j] = all;
            weight[warp][j] = total[j];
        }
    }
    BLOCK_BARRIER();
    // Four elements to a thread, so that all are done at once.
    const u64 row = (u64)token * heads + kv_head * group;
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
            add_scaled(value, &vectors[j * GROUP + head][at], scale);
        }
        if (active == 1) {
            const float share = 1.0f / total;
            *reinterpret_cast<float4 *>(out + (row + head) * DIM + at) = {value[0] * share, value[1] * share, value[2] * share,
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
    __shared__ float shares[GROUP][MAX_KEY_PARTS];
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
        *reinterpret_cast<float4 *>(out + (row + head) * DIM + at) = {value[0], value[1], value[2], value[3]};
    }
}

#define ATTENTION(lanes, group)                                                                                                   \
    extern "C" __global__ void __launch_bounds__(BLOCK) attention_##lanes##_##group(                                              \
        const float *qkv, const Weight *query_norm, const Weight *key_norm, float eps, const float *angles, Weight *keys,    \
        Weight *values, const int *first_position, float *parts, u32 *counters, float *out, int heads, int kv_heads,              \
        int capacity, const char *next, int next_lines) {                                                                         \
        attention<lanes, group>(qkv, query_norm, key_norm, eps, angles, keys, values, first_position, parts, counters, out,  \
                                heads, kv_heads, capacity, next, next_lines);                                                     \
    }
#define ATTENTIONS(lanes) ATTENTION(lanes, 1) ATTENTION(lanes, 4) ATTENTION(lanes, 8)
ATTENTIONS(4)
ATTENTIONS(8)
ATTENTIONS(16)
ATTENTIONS(32)
