// Runs the kernels on a CPU, thread by thread, so that tests can hold them against the other forward passes without a GPU.
//
// A block's threads are contexts of their own that take turns. They wait for each other at barriers, as on a GPU; an exchange within
// a warp is two of them. Built by the tests with WEIGHT defined as for the kernels:
//
//     c++ -std=c++17 -O2 -fvisibility=hidden -shared -fPIC -DWEIGHT=bf16 emulation.cpp
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <csetjmp>
#include <memory>
#include <string>
#include <ucontext.h>
#include <utility>
#include <vector>

#define EMULATED
#define __device__
#define __global__
#define __shared__ static
#define __launch_bounds__(...)
#define INFINITE INFINITY
#define __threadfence()
#define __ldcg(from) (*(from))
using std::isfinite;
using std::max;
using std::min;

struct Index {
    int x, y, z;
};
static Index threadIdx, blockIdx, blockDim, gridDim;

struct float4 {
    float x, y, z, w;
};
static float __uint_as_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
static uint32_t __float_as_uint(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}
// Four bytes, chosen by the lower three bits of each hexadecimal digit, of those of two numbers.
static uint32_t __byte_perm(uint32_t low, uint32_t high, uint32_t selector) {
    const uint64_t both = (uint64_t)high << 32 | low;
    uint32_t chosen = 0;
    for (int i = 0; i < 4; i++) chosen |= (uint32_t)(both >> (8 * (selector >> (4 * i) & 7)) & 255) << (8 * i);
    return chosen;
}
struct __nv_bfloat16 {
    uint16_t bits;
};
struct __half {
    _Float16 value;
};
static inline float __bfloat162float(__nv_bfloat16 value) { return __uint_as_float((uint32_t)value.bits << 16); }
static inline __nv_bfloat16 __float2bfloat16(float value) {
    const uint32_t bits = __float_as_uint(value);
    return {(uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
static inline float __half2float(__half value) { return value.value; }
static inline __half __float2half(float value) { return {(_Float16)value}; }
static inline float rsqrtf(float value) { return 1.0f / sqrtf(value); }
template <class T> static T atomicMax(T *at, T value) { return std::exchange(*at, max(*at, value)); }
template <class T> static T atomicMin(T *at, T value) { return std::exchange(*at, min(*at, value)); }
template <class T> static T atomicExch(T *at, T value) { return std::exchange(*at, value); }
static uint32_t atomicInc(uint32_t *at, uint32_t limit) { return std::exchange(*at, *at >= limit ? 0 : *at + 1); }

// A point that all its members reach before any goes on. Members that have ended are not waited for.
struct Barrier {
    int members = 0, arrived = 0, round = 0;
    void pass_if_complete() {
        if (arrived == members) {
            arrived = 0;
            round++;
        }
    }
};

// Bytes of a stack.
constexpr int STACK = 256 << 10;

// A context is entered once, and serves all blocks; from then on jumps, which are cheaper, lead out of it and back.
struct Thread {
    ucontext_t context;
    jmp_buf resume;
    std::unique_ptr<char[]> stack{new char[STACK]};
    bool begun = false, ended = false;
    unsigned exchanges = 0;
};
static std::vector<Thread> threads;
static std::vector<Barrier> barriers; // that of the block, then those of the warps
static std::vector<float> exchanged[2];
// The sum of a warp's values, with the round of the warp's barrier behind which it holds.
struct Sum {
    int round;
    float value;
};
static std::vector<Sum> sums[2];
static jmp_buf scheduler;
static int running;

static void wait_at(Barrier &barrier) {
    const int round = barrier.round;
    barrier.arrived++;
    barrier.pass_if_complete();
    while (barrier.round == round)
        if (!_setjmp(threads[running].resume)) _longjmp(scheduler, 1);
}
static Barrier &warp_barrier() { return barriers[1 + running / 32]; }

#define BLOCK_BARRIER() wait_at(barriers[0])

// Gives `value` to the other threads of the warp; returns where those of all threads of the block are. There are two such places
// that take turns: who writes the next value does not disturb who still reads this one.
static const float *exchange(float value) {
    std::vector<float> &values = exchanged[threads[running].exchanges++ % 2];
    values[running] = value;
    wait_at(warp_barrier());
    return values.data();
}
static float WARP_XOR(float value, int mask) { return exchange(value)[running ^ mask]; }
#define WARP_SUM emulated_sum
// The first thread of a warp to go on adds up for all.
static float emulated_sum(float value) {
    const float *values = exchange(value) + running / 32 * 32;
    Sum &sum = sums[threads[running].exchanges % 2][running / 32];
    if (sum.round != warp_barrier().round) {
        sum = {warp_barrier().round, 0.0f};
        for (int i = 0; i < 32; i++) sum.value += values[i];
    }
    return sum.value;
}

#ifdef FORMAT
#include "quantised.cu"
#else
#include "choose.cu"
#include "short_pass.cu"
#endif

static void (*kernel)(void **);
static void **kernel_arguments;

// Runs a thread of each block, one after another.
static void run_thread() {
    for (;;) {
        kernel(kernel_arguments);
        threads[running].ended = true;
        for (Barrier *barrier : {&barriers[0], &warp_barrier()}) {
            barrier->members--;
            if (barrier->members > 0) barrier->pass_if_complete();
        }
        if (!_setjmp(threads[running].resume)) _longjmp(scheduler, 1);
    }
}

// Runs the thread `running` up to its next barrier or its end.
static void run_on() {
    Thread &thread = threads[running];
    if (_setjmp(scheduler)) return;
    if (thread.begun) _longjmp(thread.resume, 1);
    thread.begun = true;
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.get();
    thread.context.uc_stack.ss_size = STACK - running % 64 * 320;
    thread.context.uc_link = nullptr;
    makecontext(&thread.context, run_thread, 0);
    setcontext(&thread.context);
}

static void run_block(int size) {
    barriers.assign(1 + (size + 31) / 32, Barrier());
    for (auto &of_warps : sums) of_warps.assign((size + 31) / 32, Sum{0, 0.0f});
    barriers[0].members = size;
    for (int i = 0; i < size; i++) {
        Thread &thread = threads[i];
        barriers[1 + i / 32].members++;
        thread.ended = false;
        thread.exchanges = 0;
    }
    for (bool some = true; some;) {
        some = false;
        for (running = 0; running < size; running++) {
            if (threads[running].ended) continue;
            some = true;
            threadIdx = {running, 0, 0};
            run_on();
        }
    }
}

// A kernel's parameters, taken from an array of pointers to them as a launch has it.
template <class... A, size_t... I> static void call(void (*function)(A...), void **arguments, std::index_sequence<I...>) {
    function(*static_cast<std::remove_const_t<A> *>(arguments[I])...);
}
template <auto F> struct Caller;
template <class... A, void (*F)(A...)> struct Caller<F> {
    static void run(void **arguments) { call(F, arguments, std::index_sequence_for<A...>()); }
};

#define KERNEL(name) {#name, Caller<name>::run},
#define OF_TOKENS(name) KERNEL(name##_1) KERNEL(name##_2) KERNEL(name##_4) KERNEL(name##_8)
#define OF_GROUPS(lanes) KERNEL(attention_##lanes##_1) KERNEL(attention_##lanes##_4) KERNEL(attention_##lanes##_8)
static const struct {
    const char *name;
    void (*run)(void **);
} kernels[] = {KERNEL(embed) OF_TOKENS(qkv) OF_TOKENS(add_product) OF_TOKENS(gate_up) KERNEL(logits_1)
#ifdef FORMAT
                   KERNEL(widen_f32) KERNEL(widen_bf16) KERNEL(widen_f16)
#else
                   KERNEL(likeliest) KERNEL(draw) OF_GROUPS(4) OF_GROUPS(8) OF_GROUPS(16) OF_GROUPS(32)
#endif
};

// Runs a kernel to its end; 1 where there is none of that name. One call at a time.
extern "C" __attribute__((visibility("default"))) int launch(const char *name, const uint32_t *grid, uint32_t block, void **arguments) {
    kernel = nullptr;
    for (const auto &entry : kernels)
        if (std::string(name) == entry.name) kernel = entry.run;
    if (!kernel) return 1;
    kernel_arguments = arguments;
    if (threads.size() < block) threads = std::vector<Thread>(block);
    for (auto &values : exchanged) values.resize(block);
    blockDim = {(int)block, 1, 1};
    gridDim = {(int)grid[0], (int)grid[1], (int)grid[2]};
    for (blockIdx.z = 0; blockIdx.z < gridDim.z; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++) run_block(block);
    return 0;
}
