//! Products with panels on processors with AVX-512 VNNI, whose instructions multiply four codes and add the products at once.

use std::arch::x86_64::{
    __m128i, __m256i, __m512, __m512i, _mm_loadu_si128, _mm256_loadu_si256, _mm512_add_epi32, _mm512_and_si512,
    _mm512_cvtepi8_epi32, _mm512_cvtepi32_ps, _mm512_cvtepu8_epi32, _mm512_cvtph_ps, _mm512_dpbusd_epi32,
    _mm512_fmadd_ps, _mm512_loadu_si512, _mm512_mul_ps, _mm512_mullo_epi32, _mm512_or_si512, _mm512_set1_epi8,
    _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps, _mm512_setzero_si512, _mm512_slli_epi16, _mm512_slli_epi32,
    _mm512_srli_epi16, _mm512_storeu_ps, _mm512_sub_epi32,
};

use crate::load::gguf::BlockFormat;
use crate::network::matrices::quantised::activations::Activations;
use crate::network::matrices::quantised::panels::{Layout, PANEL_ROWS, STEP, STEPS};

/// Whether the processor has the instructions of these kernels.
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512vnni")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512f")
}

/// Multiplies a panel of `format` with all vectors of `x`: `out` is `[tokens, PANEL_ROWS]`. False, and nothing done, where the
/// processor has no such instructions.
pub(super) fn multiply(format: BlockFormat, panel: &[u8], x: &Activations, out: &mut [f32]) -> bool {
    let available = is_available();
    if available {
        // SAFETY: the processor has the instructions that the function is compiled for.
        #[allow(unsafe_code)]
        unsafe {
            multiply_all(format, panel, x, out);
        }
    }
    available
}

/// [`multiply`], with the format known to the compiler.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn multiply_all(format: BlockFormat, panel: &[u8], x: &Activations, out: &mut [f32]) {
    use BlockFormat::{Bf16, F16, F32, Q4_0, Q4_1, Q4K, Q5_0, Q5_1, Q5K, Q6K, Q8_0};
    match format {
        Q4_0 => multiply_format::<{ Q4_0 as u8 }>(panel, x, out),
        Q4_1 => multiply_format::<{ Q4_1 as u8 }>(panel, x, out),
        Q5_0 => multiply_format::<{ Q5_0 as u8 }>(panel, x, out),
        Q5_1 => multiply_format::<{ Q5_1 as u8 }>(panel, x, out),
        Q4K => multiply_format::<{ Q4K as u8 }>(panel, x, out),
        Q5K => multiply_format::<{ Q5K as u8 }>(panel, x, out),
        Q6K => multiply_format::<{ Q6K as u8 }>(panel, x, out),
        Q8_0 => multiply_format::<{ Q8_0 as u8 }>(panel, x, out),
        // There are no panels of these.
        F32 | F16 | Bf16 => {}
    }
}

/// The layout of the format of that number in [`BlockFormat`].
const fn layout(format: u8) -> Layout {
    Layout::of(BlockFormat::ALL[format as usize])
}

/// [`multiply`] for the format of that number, some vectors at a time, so that codes are unpacked once for them.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn multiply_format<const FORMAT: u8>(panel: &[u8], x: &Activations, out: &mut [f32]) {
    let tokens = x.tokens();
    let mut token = 0;
    while token < tokens {
        let out = &mut out[token * PANEL_ROWS..];
        token += match tokens - token {
            8.. => multiply_some::<FORMAT, 8>(panel, x, token, out),
            4.. => multiply_some::<FORMAT, 4>(panel, x, token, out),
            2.. => multiply_some::<FORMAT, 2>(panel, x, token, out),
            _ => multiply_some::<FORMAT, 1>(panel, x, token, out),
        };
    }
}

/// Multiplies a panel with `TOKENS` vectors, from number `first` on; returns `TOKENS`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn multiply_some<const FORMAT: u8, const TOKENS: usize>(
    panel: &[u8],
    x: &Activations,
    first: usize,
    out: &mut [f32],
) -> usize {
    let layout = const { layout(FORMAT) };
    let mut sums = [_mm512_setzero_ps(); TOKENS];
    for (at, record) in panel.chunks_exact(layout.record).enumerate() {
        let group_of = |token: usize| (first + token) * x.groups_per_token + at * layout.groups;
        // Sums of a block of 256 codes up to 63, factors and activations up to 127 fit 32 bits.
        let mut products = [_mm512_setzero_si512(); TOKENS];
        let mut products_of_least = [_mm512_setzero_si512(); TOKENS];
        for within in 0..layout.groups {
            let group = &record[layout.header + within * layout.group..][..layout.group];
            let [first, second] = factors::<FORMAT>(group);
            let codes = codes::<FORMAT>(&group[layout.scale_bytes..]);
            for token in 0..TOKENS {
                let at = group_of(token) + within;
                let (x_codes, x_group) = (&x.codes[at], &x.groups[at]);
                if layout.small_scales == 0 {
                    products[token] = dot::<FORMAT, 0, STEPS>(&codes, x_codes, x_group.negated);
                } else if layout.scales == 1 {
                    let sum = dot::<FORMAT, 0, STEPS>(&codes, x_codes, x_group.negated);
                    products[token] = _mm512_add_epi32(products[token], _mm512_mullo_epi32(sum, first));
                    let of_least = _mm512_mullo_epi32(_mm512_set1_epi32(x_group.negated), second);
                    products_of_least[token] = _mm512_sub_epi32(products_of_least[token], of_least);
                } else {
                    let of_halves = [
                        dot::<FORMAT, 0, { STEPS / 2 }>(&codes, x_codes, x_group.negated_halves[0]),
                        dot::<FORMAT, { STEPS / 2 }, STEPS>(&codes, x_codes, x_group.negated_halves[1]),
                    ];
                    let both = _mm512_add_epi32(
                        _mm512_mullo_epi32(of_halves[0], first),
                        _mm512_mullo_epi32(of_halves[1], second),
                    );
                    products[token] = _mm512_add_epi32(products[token], both);
                }
            }
        }
        let scale = halves(record, 0);
        let least = match layout.has_least {
            true => halves(record, 2 * PANEL_ROWS),
            false => _mm512_setzero_ps(),
        };
        for token in 0..TOKENS {
            let x_group = &x.groups[group_of(token)];
            let x_scale = _mm512_set1_ps(x_group.scale);
            let product = _mm512_cvtepi32_ps(products[token]);
            sums[token] = _mm512_fmadd_ps(product, _mm512_mul_ps(scale, x_scale), sums[token]);
            if layout.has_least && layout.small_scales == 0 {
                sums[token] = _mm512_fmadd_ps(least, _mm512_set1_ps(x_group.sum), sums[token]);
            } else if layout.has_least {
                let product = _mm512_cvtepi32_ps(products_of_least[token]);
                sums[token] = _mm512_fmadd_ps(product, _mm512_mul_ps(least, x_scale), sums[token]);
            }
        }
    }
    for (sum, out) in sums.into_iter().zip(out.as_chunks_mut::<PANEL_ROWS>().0) {
        // SAFETY: the array has the sixteen numbers that are written.
        #[allow(unsafe_code)]
        unsafe {
            _mm512_storeu_ps(out.as_mut_ptr(), sum);
        }
    }
    TOKENS
}

/// The sums of products of the steps `FROM .. TO`, `negated` being minus the sum of the vector's codes there.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn dot<const FORMAT: u8, const FROM: usize, const TO: usize>(
    codes: &[__m512i; STEPS],
    x: &[i32; STEPS],
    negated: i32,
) -> __m512i {
    let zero = _mm512_set1_epi32(negated);
    let mut sum = match const { layout(FORMAT).zero_shift } {
        3 => _mm512_slli_epi32::<3>(zero),
        4 => _mm512_slli_epi32::<4>(zero),
        5 => _mm512_slli_epi32::<5>(zero),
        7 => _mm512_slli_epi32::<7>(zero),
        _ => _mm512_setzero_si512(),
    };
    for step in FROM..TO {
        sum = _mm512_dpbusd_epi32(sum, codes[step], _mm512_set1_epi32(x[step]));
    }
    sum
}

/// The factors of a group's scales, of the first and the second half, or of its scale and its least number.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn factors<const FORMAT: u8>(group: &[u8]) -> [__m512i; 2] {
    let layout = const { layout(FORMAT) };
    match (layout.small_scales, layout.scales) {
        (0, _) => [_mm512_setzero_si512(); 2],
        (_, 1) => [0, PANEL_ROWS].map(|at| _mm512_cvtepu8_epi32(bytes16(group, at))),
        _ => [0, PANEL_ROWS].map(|at| _mm512_cvtepi8_epi32(bytes16(group, at))),
    }
}

/// The codes of a group, one in a byte, a register for each step.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn codes<const FORMAT: u8>(bytes: &[u8]) -> [__m512i; STEPS] {
    let mut codes = [_mm512_setzero_si512(); STEPS];
    let bits = const { layout(FORMAT).bits };
    if bits == 8 {
        for (step, codes) in codes.iter_mut().enumerate() {
            *codes = bytes64(bytes, step * STEP);
        }
        return codes;
    }
    let nibble = _mm512_set1_epi8(15);
    for pair in 0..STEPS / 2 {
        let both = bytes64(bytes, pair * STEP);
        codes[2 * pair] = _mm512_and_si512(both, nibble);
        codes[2 * pair + 1] = _mm512_and_si512(_mm512_srli_epi16::<4>(both), nibble);
    }
    let high = STEPS / 2 * STEP;
    if bits == 5 {
        let (all, fifth) = (bytes64(bytes, high), _mm512_set1_epi8(16));
        let moved = [
            _mm512_slli_epi16::<4>(all),
            _mm512_slli_epi16::<3>(all),
            _mm512_slli_epi16::<2>(all),
            _mm512_slli_epi16::<1>(all),
            all,
            _mm512_srli_epi16::<1>(all),
            _mm512_srli_epi16::<2>(all),
            _mm512_srli_epi16::<3>(all),
        ];
        for step in 0..STEPS {
            codes[step] = _mm512_or_si512(codes[step], _mm512_and_si512(moved[step], fifth));
        }
    } else if bits == 6 {
        let upper = _mm512_set1_epi8(48);
        for part in 0..2 {
            let all = bytes64(bytes, high + part * STEP);
            let moved = [
                _mm512_slli_epi16::<4>(all),
                _mm512_slli_epi16::<2>(all),
                all,
                _mm512_srli_epi16::<2>(all),
            ];
            for (within, moved) in moved.into_iter().enumerate() {
                let step = STEPS / 2 * part + within;
                codes[step] = _mm512_or_si512(codes[step], _mm512_and_si512(moved, upper));
            }
        }
    }
    codes
}

/// The 64 bytes at `at`.
#[inline]
#[target_feature(enable = "avx512f")]
fn bytes64(bytes: &[u8], at: usize) -> __m512i {
    let bytes = &bytes[at..][..64];
    // SAFETY: the slice has the bytes that are read.
    #[allow(unsafe_code)]
    unsafe {
        _mm512_loadu_si512(bytes.as_ptr().cast::<__m512i>())
    }
}

/// The 16 bytes at `at`.
#[inline]
#[target_feature(enable = "avx512f")]
fn bytes16(bytes: &[u8], at: usize) -> __m128i {
    let bytes = &bytes[at..][..16];
    // SAFETY: the slice has the bytes that are read.
    #[allow(unsafe_code)]
    unsafe {
        _mm_loadu_si128(bytes.as_ptr().cast::<__m128i>())
    }
}

/// The sixteen 16-bit floats at `at`, widened.
#[inline]
#[target_feature(enable = "avx512f")]
fn halves(bytes: &[u8], at: usize) -> __m512 {
    let bytes = &bytes[at..][..2 * PANEL_ROWS];
    // SAFETY: the slice has the bytes that are read.
    #[allow(unsafe_code)]
    let halves = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast::<__m256i>()) };
    _mm512_cvtph_ps(halves)
}
