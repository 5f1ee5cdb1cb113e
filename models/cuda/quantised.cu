// Kernels of a forward pass over few tokens for matrices of small whole numbers with scales, as GGUF files have them.
//
// Weights are multiplied as the numbers that they stand for: activations stay 32-bit floats. A row of a matrix has, for all of its
// groups of 32 codes, first their lower four bits (or all eight), then what they have beyond four bits, then factors of scales, then
// scales. `network/gpu/packed.rs` writes rows so.
//
// Compiled once for each format: FORMAT is one of those below. Vectors, such as norms, are 32-bit floats: WEIGHT is f32.
#include "products.cuh"

#define q4_0 1
#define q4_1 2
#define q5_0 3
#define q5_1 4
#define q8_0 5
#define q4_k 6
#define q5_k 7
#define q6_k 8

// Bits of a code.
constexpr int BITS = FORMAT == q8_0 ? 8 : FORMAT == q6_k ? 6 : FORMAT == q5_0 || FORMAT == q5_1 || FORMAT == q5_k ? 5 : 4;
// The code that stands for zero.
constexpr int ZERO = FORMAT == q8_0 ? 128 : FORMAT == q6_k ? 32 : FORMAT == q5_0 ? 16 : FORMAT == q4_0 ? 8 : 0;
// Whether groups have a number that is added to all of theirs.
constexpr bool HAS_LEAST = FORMAT == q4_1 || FORMAT == q5_1 || FORMAT == q4_k || FORMAT == q5_k;
// Whether scales stand for blocks of eight groups, each of which has two factors of one byte: of the scale and of the least number,
// or of the scale for its first and its second half.
constexpr bool HAS_FACTORS = FORMAT == q4_k || FORMAT == q5_k || FORMAT == q6_k;
constexpr int SCALES = FORMAT == q6_k ? 2 : 1;

// Bytes that a group has of each of a row's parts, and bytes of a scale, of which a block of the formats with factors has one.
constexpr int LOW_BYTES = BITS == 8 ? 32 : 16;
constexpr int HIGH_BYTES = BITS == 8 ? 0 : (BITS - 4) * GROUP / 8;
constexpr int FACTOR_BYTES = HAS_FACTORS ? 2 : 0;
constexpr int SCALE_BYTES = HAS_LEAST || HAS_FACTORS ? 4 : 2;
constexpr int GROUPS_PER_SCALE = HAS_FACTORS ? 8 : 1;
// Rows begin at multiples of so many bytes.
constexpr int ROW_ALIGNMENT = 16;

__device__ inline u64 row_bytes(int columns) {
    const int groups = columns / GROUP;
    const int bytes = groups * (LOW_BYTES + HIGH_BYTES + FACTOR_BYTES) + groups / GROUPS_PER_SCALE * SCALE_BYTES;
    return (bytes + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
}

__device__ inline float half_at(const char *from) { return __half2float(*reinterpret_cast<const __half *>(from)); }

// 32 codes of a row and what they stand for: (code - ZERO) * scale + least.
struct Group {
    Words low[LOW_BYTES / 16];
    u32 high[HIGH_BYTES > 4 ? HIGH_BYTES / 4 : 1];
    float scales[SCALES], least;
};

// Group number `lane` of a row's chunk, which has so many groups.
__device__ inline Group read_group(const char *row, int columns, int chunk, int lane, int groups) {
    const int all = columns / GROUP, number = chunk * WARP + lane;
    Group group;
#pragma unroll
    for (int i = 0; i < LOW_BYTES / 16; i++) group.low[i] = read_once(row + chunk * WARP * LOW_BYTES + (i * groups + lane) * 16);
    row += all * LOW_BYTES;
#pragma unroll
    for (int i = 0; i < HIGH_BYTES / 4; i++) group.high[i] = reinterpret_cast<const u32 *>(row + number * HIGH_BYTES)[i];
    row += all * HIGH_BYTES;
    const char *scale = row + all * FACTOR_BYTES + number / GROUPS_PER_SCALE * SCALE_BYTES;
    group.scales[0] = half_at(scale);
    group.least = HAS_LEAST ? half_at(scale + 2) : 0.0f;
    if (HAS_FACTORS) {
        const signed char *factors = reinterpret_cast<const signed char *>(row + number * 2);
        if (SCALES == 2) {
            group.scales[SCALES - 1] = group.scales[0] * factors[1];
            group.scales[0] *= factors[0];
        } else {
            // These are not negative, and less than 64.
            group.scales[0] *= factors[0];
            group.least *= factors[1];
        }
    }
    return group;
}

// Four codes of a group, one in each byte, from number 4 * `quad` on.
__device__ inline u32 codes_of(const Group &group, int quad) {
    if (BITS == 8) return group.low[quad / 4 * (LOW_BYTES / 32)].at[quad % 4];
    const u32 low = group.low[0].at[quad / 2 % 4] >> (4 * (quad % 2)) & 0x0f0f0f0fu;
    if (BITS == 5) return low | (group.high[0] >> quad & 0x01010101u) << 4;
    if (BITS == 6) return low | (group.high[quad / 4 * (HIGH_BYTES / 8)] >> (2 * (quad % 4)) & 0x03030303u) << 4;
    return low;
}

// Code number `i` of four, less ZERO. A code becomes the lowest bits of a float of 2^23 and more, of which the last bit counts one.
__device__ inline float number_of(u32 codes, int i) {
    return __uint_as_float(__byte_perm(codes, 0x4b000000u, 0x7540 | i)) - (float)((1 << 23) + ZERO);
}

// Begins a pass with the vectors of its tokens, interleaved.
extern "C" __global__ void embed(const char *table, Tokens tokens, int position, int *first_position, float *x, int width,
                                 const float *frequencies, float *angles, int pairs) {
    begin_pass(position, first_position, frequencies, angles, pairs);
    const char *row = table + tokens.at[blockIdx.x] * row_bytes(width);
    x += (u64)blockIdx.x * width;
    for (int number = threadIdx.x; number < width / GROUP; number += blockDim.x) {
        const int chunk = number / WARP, lane = number % WARP, groups = min(WARP, width / GROUP - chunk * WARP);
        const Group group = read_group(row, width, chunk, lane, groups);
        for (int i = 0; i < GROUP; i++)
            x[chunk * CHUNK + (i / 4 * groups + lane) * 4 + i % 4] =
                number_of(codes_of(group, i / 4), i % 4) * group.scales[i * SCALES / GROUP] + group.least;
    }
}

// Writes rows of a matrix as numbers, `[blocks, columns]`: those of the numbers in `rows`, or where there are none, from `first` on.
template <class Number, class Narrow>
__device__ inline void widen_rows(const char *matrix, const u32 *rows, int first, Number *out, int columns, Narrow narrow) {
    const char *row = matrix + (rows ? rows[blockIdx.x] : first + blockIdx.x) * row_bytes(columns);
    out += (u64)blockIdx.x * columns;
    for (int number = threadIdx.x; number < columns / GROUP; number += blockDim.x) {
        const int chunk = number / WARP, groups = min(WARP, columns / GROUP - chunk * WARP);
        const Group group = read_group(row, columns, chunk, number % WARP, groups);
        for (int i = 0; i < GROUP; i++)
            out[number * GROUP + i] =
                narrow(number_of(codes_of(group, i / 4), i % 4) * group.scales[i * SCALES / GROUP] + group.least);
    }
}
extern "C" __global__ void widen_f32(const char *matrix, const u32 *rows, int first, float *out, int columns) {
    widen_rows(matrix, rows, first, out, columns, [](float number) { return number; });
}
extern "C" __global__ void widen_bf16(const char *matrix, const u32 *rows, int first, __nv_bfloat16 *out, int columns) {
    widen_rows(matrix, rows, first, out, columns, [](float number) { return __float2bfloat16(number); });
}
extern "C" __global__ void widen_f16(const char *matrix, const u32 *rows, int first, __half *out, int columns) {
    widen_rows(matrix, rows, first, out, columns, [](float number) { return __float2half(number); });
}

// The product of `products.cuh`; x, `norm`, and y where it is multiplied next are interleaved.
template <int TOKENS, bool NORM, Output OUTPUT, int SPLIT>
__device__ inline void product(const char *weights, const float *bias, const float *norm, float eps, const float *x, float *y,
                               int inputs, int outputs, int stride, const char *next, int next_lines) {
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const RowPair pair = rows_of_warp<OUTPUT, SPLIT>(outputs);
    if (SPLIT == 1 && pair.first >= outputs) return;
    const char *rows[ROWS] = {weights + pair.first * row_bytes(inputs), weights + pair.second * row_bytes(inputs)};

    float sums[TOKENS][ROWS] = {};
    float squares[TOKENS] = {};
    for (int chunk = SPLIT == 1 ? 0 : warp; chunk * CHUNK < inputs; chunk += SPLIT) {
        const int groups = min(WARP, inputs / GROUP - chunk * WARP);
        if (lane >= groups) break;
        Group group[ROWS];
#pragma unroll
        for (int row = 0; row < ROWS; row++) group[row] = read_group(rows[row], inputs, chunk, lane, groups);
        // Sums of codes times activations, and of activations.
        float part[TOKENS][ROWS] = {}, all[TOKENS] = {};
#pragma unroll
        for (int quad = 0; quad < GROUP / 4; quad++) {
            const int at = chunk * CHUNK + (quad * groups + lane) * 4;
            float w[ROWS][4], scale[4], four[4];
#pragma unroll
            for (int row = 0; row < ROWS; row++) {
                const u32 codes = codes_of(group[row], quad);
#pragma unroll
                for (int i = 0; i < 4; i++) w[row][i] = number_of(codes, i);
            }
            if (NORM) read_floats(norm + at, scale);
#pragma unroll
            for (int token = 0; token < TOKENS; token++) {
                read_floats(x + (u64)token * inputs + at, four);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    if (NORM) {
                        squares[token] += four[i] * four[i];
                        four[i] *= scale[i];
                    }
                    if (HAS_LEAST) all[token] += four[i];
#pragma unroll
                    for (int row = 0; row < ROWS; row++) part[token][row] += w[row][i] * four[i];
                }
            }
            // Where a half has a scale of its own, its sum is done.
            if ((quad + 1) % (GROUP / 4 / SCALES) != 0) continue;
#pragma unroll
            for (int token = 0; token < TOKENS; token++) {
#pragma unroll
                for (int row = 0; row < ROWS; row++) {
                    sums[token][row] += part[token][row] * group[row].scales[quad * SCALES / (GROUP / 4)];
                    part[token][row] = 0.0f;
                }
            }
        }
        if (!HAS_LEAST) continue;
#pragma unroll
        for (int token = 0; token < TOKENS; token++) {
#pragma unroll
            for (int row = 0; row < ROWS; row++) sums[token][row] += all[token] * group[row].least;
        }
    }
    finish_product<TOKENS, NORM, OUTPUT, SPLIT, true>(sums, squares, bias, eps, y, inputs, outputs, stride, pair, next, next_lines);
}

typedef char Matrix;
PRODUCTS(product)
