// What products with matrices of all formats have in common: which rows a warp multiplies, and what becomes of the sums.
//
// y = W x for TOKENS vectors x: [TOKENS, inputs], y: [TOKENS, outputs], a vector of y `stride` elements behind the one before it.
//
// With NORM, x is divided by its root mean square and multiplied by a norm's factors first; the division is made after the product.
// STORE writes y, ADD adds to it, GATED takes rows i and i + outputs of W for one output, silu(first) * second.
// SPLIT is the number of warps that share rows: 1 or WARPS. The kernel's last blocks read the first lines of the next matrix ahead.
#pragma once
#include "warps.cuh"

// What becomes of a product.
enum Output { STORE, ADD, GATED };

// The rows of a matrix that a warp multiplies.
struct RowPair {
    int first, second;
};

// The rows of this warp; for the first of these, `outputs` or more where there are none left.
template <Output OUTPUT, int SPLIT> __device__ inline RowPair rows_of_warp(int outputs) {
    const int group = SPLIT == 1 ? blockIdx.x * WARPS + threadIdx.x / WARP : blockIdx.x;
    const int first = group * (OUTPUT == GATED ? 1 : ROWS);
    // Where the number of rows is odd, the last one is computed twice.
    return {first, OUTPUT == GATED ? first + outputs : (first + 1 < outputs ? first + 1 : first)};
}

// Writes the sums of two rows as outputs of a token, see above. INTERLEAVED says how y is kept where it is multiplied next.
template <bool NORM, Output OUTPUT, bool INTERLEAVED>
__device__ inline void write_output(const float *sums, float squares, const Weight *bias, float eps, float *y, int inputs,
                                    int outputs, RowPair rows) {
    const float factor = NORM ? rsqrtf(squares / inputs + eps) : 1.0f;
    float a = sums[0] * factor, b = sums[1] * factor;
    if (bias) {
        a += widen(bias[rows.first]);
        b += widen(bias[rows.second]);
    }
    constexpr bool MOVED = INTERLEAVED && OUTPUT != STORE;
    const int first = MOVED ? interleaved(rows.first, outputs) : rows.first;
    if (OUTPUT == GATED) {
        y[first] = a / (1.0f + expf(-a)) * b;
        return;
    }
    const int second = MOVED ? interleaved(rows.second, outputs) : rows.second;
    if (OUTPUT == ADD) {
        y[first] += a;
        if (second != first) y[second] += b;
    } else {
        y[first] = a;
        if (second != first) y[second] = b;
    }
}

// Adds up the sums that the threads of a warp, or of warps that share rows, have of two rows, and writes what they come to.
template <int TOKENS, bool NORM, Output OUTPUT, int SPLIT, bool INTERLEAVED>
__device__ inline void finish_product(float (&sums)[TOKENS][ROWS], float (&squares)[TOKENS], const Weight *bias, float eps, float *y,
                                      int inputs, int outputs, int stride, RowPair rows, const char *next, int next_lines) {
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
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
            write_output<NORM, OUTPUT, INTERLEAVED>(sums[token], squares[token], bias, eps, y + (u64)token * stride, inputs, outputs, rows);
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
    write_output<NORM, OUTPUT, INTERLEAVED>(total, total[ROWS], bias, eps, y + (u64)token * stride, inputs, outputs, rows);
}

// The kernel `name`, for a number of vectors, by the function `product`.
#define PRODUCT(product, name, tokens, norm, output, split)                                                                   \
    extern "C" __global__ void __launch_bounds__(BLOCK) name##_##tokens(                                                     \
        const Matrix *weights, const Weight *bias, const Weight *scale, float eps, const float *x, float *y, int inputs,     \
        int outputs, int stride, const char *next, int next_lines) {                                                         \
        product<tokens, norm, output, split>(weights, bias, scale, eps, x, y, inputs, outputs, stride, next, next_lines);    \
    }
#define PRODUCTS_OF(product, tokens)                         \
    PRODUCT(product, qkv, tokens, true, STORE, WARPS)        \
    PRODUCT(product, add_product, tokens, false, ADD, WARPS) \
    PRODUCT(product, gate_up, tokens, true, GATED, 1)
#define PRODUCTS(product)     \
    PRODUCTS_OF(product, 1)   \
    PRODUCTS_OF(product, 2)   \
    PRODUCTS_OF(product, 4)   \
    PRODUCTS_OF(product, 8)   \
    PRODUCT(product, logits, 1, true, STORE, 1)
