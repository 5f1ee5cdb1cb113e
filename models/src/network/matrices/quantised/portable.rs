//! Products with panels on any processor.

use pulp::Arch;

use crate::load::gguf::BlockFormat;
use crate::network::matrices::quantised::activations::Activations;
use crate::network::matrices::quantised::panels::{Layout, PANEL_ROWS, STEP, STEPS};

/// Vectors that a group's codes are multiplied with once they are unpacked.
const TOKENS_AT_ONCE: usize = 16;

/// Multiplies a panel of `format` with all vectors of `x`: `out` is `[tokens, PANEL_ROWS]`.
pub(super) fn multiply(format: BlockFormat, panel: &[u8], x: &Activations, out: &mut [f32]) {
    let layout = Layout::of(format);
    for (part, out) in out.chunks_mut(TOKENS_AT_ONCE * PANEL_ROWS).enumerate() {
        Arch::new().dispatch(|| multiply_some(&layout, panel, x, part * TOKENS_AT_ONCE, out));
    }
}

/// [`multiply`] for the vectors from number `first` on, as many as `out` has rows for.
#[inline(always)]
fn multiply_some(layout: &Layout, panel: &[u8], x: &Activations, first: usize, out: &mut [f32]) {
    out.fill(0.0);
    let mut products = [[0i32; PANEL_ROWS]; TOKENS_AT_ONCE];
    let mut products_of_least = [[0i32; PANEL_ROWS]; TOKENS_AT_ONCE];
    for (at, record) in panel.chunks_exact(layout.record).enumerate() {
        products.fill([0; PANEL_ROWS]);
        products_of_least.fill([0; PANEL_ROWS]);
        let tokens = out.len() / PANEL_ROWS;
        let group_of = |token: usize| (first + token) * x.groups_per_token + at * layout.groups;
        for within in 0..layout.groups {
            let bytes = layout.group_of(record, within);
            let mut codes = [[0u8; STEP]; STEPS];
            unpack(layout, &bytes[layout.scale_bytes..], &mut codes);
            let (mut scales, mut least) = ([[0i32; PANEL_ROWS]; 2], [0i32; PANEL_ROWS]);
            for row in 0..PANEL_ROWS {
                let factors = layout.factors(bytes, row);
                (scales[0][row], scales[1][row]) = (factors.scales[0], factors.scales[1]);
                least[row] = factors.least;
            }
            for token in 0..tokens {
                let (x_codes, group) = (&x.codes[group_of(token) + within], &x.groups[group_of(token) + within]);
                for (half, scales) in scales.iter().enumerate().take(layout.scales) {
                    let negated = match layout.scales {
                        1 => group.negated,
                        _ => group.negated_halves[half],
                    };
                    let steps = STEPS / layout.scales;
                    let zero = if layout.zero_shift > 0 {
                        negated << layout.zero_shift
                    } else {
                        0
                    };
                    let mut sums = [zero; PANEL_ROWS];
                    for step in half * steps..(half + 1) * steps {
                        let x = x_codes[step].to_le_bytes().map(|code| i32::from(code as i8));
                        for (sum, codes) in sums.iter_mut().zip(codes[step].as_chunks::<4>().0) {
                            *sum += i32::from(codes[0]) * x[0]
                                + i32::from(codes[1]) * x[1]
                                + i32::from(codes[2]) * x[2]
                                + i32::from(codes[3]) * x[3];
                        }
                    }
                    for row in 0..PANEL_ROWS {
                        products[token][row] += sums[row] * scales[row];
                    }
                }
                for row in 0..PANEL_ROWS {
                    products_of_least[token][row] -= group.negated * least[row];
                }
            }
        }
        let (mut scales, mut least) = ([0f32; PANEL_ROWS], [0f32; PANEL_ROWS]);
        for row in 0..PANEL_ROWS {
            (scales[row], least[row]) = layout.block_scales(record, row);
        }
        for (token, out) in out.as_chunks_mut::<PANEL_ROWS>().0.iter_mut().enumerate() {
            let group = &x.groups[group_of(token)];
            for row in 0..PANEL_ROWS {
                out[row] += products[token][row] as f32 * (scales[row] * group.scale);
                if layout.has_least {
                    out[row] += match layout.small_scales {
                        0 => least[row] * group.sum,
                        _ => products_of_least[token][row] as f32 * (least[row] * group.scale),
                    };
                }
            }
        }
    }
}

/// Writes the codes of a group, one in a byte, into `codes`.
#[inline(always)]
fn unpack(layout: &Layout, bytes: &[u8], codes: &mut [[u8; STEP]; STEPS]) {
    for (step, codes) in codes.iter_mut().enumerate() {
        if layout.bits == 8 {
            codes.copy_from_slice(&bytes[step * STEP..][..STEP]);
            continue;
        }
        let shift = 4 * (step % 2);
        for (code, byte) in codes.iter_mut().zip(&bytes[step / 2 * STEP..][..STEP]) {
            *code = byte >> shift & 15;
        }
        if layout.bits == 5 {
            let high = &bytes[STEPS / 2 * STEP..];
            for (code, byte) in codes.iter_mut().zip(high) {
                *code |= (byte >> step & 1) << 4;
            }
        } else if layout.bits == 6 {
            let high = &bytes[STEPS / 2 * STEP..][step / 4 * STEP..][..STEP];
            for (code, byte) in codes.iter_mut().zip(high) {
                *code |= (byte >> (2 * (step % 4)) & 3) << 4;
            }
        }
    }
}
