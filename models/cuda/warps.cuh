// What all kernels of a forward pass have in common: sizes, reads of weights, number formats, sums over a warp.
//
// WEIGHT is the number format of vectors and of matrices that are not quantised: f32, bf16 or f16.
#pragma once
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
// Bytes of a read ahead into the cache.
constexpr int LINE = 128;
// The blocks of a kernel that read ahead, its last ones.
constexpr int LATE_BLOCKS = 512;
// The most tokens of a pass.
constexpr int MAX_TOKENS = 8;

struct alignas(16) Words {
    u32 at[4];
};

// 16 bytes of weights, which are read once and need not stay in the cache.
__device__ inline Words read_once(const void *from) {
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

// The tokens of a pass.
struct Tokens {
    u32 at[MAX_TOKENS];
};

// Keeps for the kernels that follow the position of a pass's first token and, of the token of this block, the cosine and the sine
// of every pair's angle.
__device__ inline void begin_pass(int position, int *first_position, const float *frequencies, float *angles, int pairs) {
    const int token = blockIdx.x;
    if (token == 0 && threadIdx.x == 0) *first_position = position;
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        float *angle = angles + 2 * (token * pairs + i);
        sincosf((position + token) * frequencies[i], angle + 1, angle);
    }
}

// Vectors that quantised matrices are multiplied with are interleaved: of each GROUP elements, which have one scale and are read by one
// thread, the first four stand side by side with the first four of the chunk's other groups, then the second four, and so on. So the
// reads of a warp's threads lie side by side. A chunk is what a warp reads at once, less at the end of a vector.
constexpr int GROUP = 32;
constexpr int CHUNK = WARP * GROUP;

// The place of element `at` of an interleaved vector of `width` elements, a multiple of GROUP.
__device__ inline int interleaved(int at, int width) {
    const int chunk = at / CHUNK * CHUNK, groups = min(CHUNK, width - chunk) / GROUP, within = at - chunk;
    return chunk + within % GROUP / 4 * groups * 4 + within / GROUP * 4 + within % 4;
}
