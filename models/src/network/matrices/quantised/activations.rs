//! [`Activations`]: vectors quantised to 8 bits, as ggml does it for products with quantised weights.
//!
//! A block's scale is its largest magnitude over 127. Beside formats with blocks of 32 it is rounded to 16 bits (ggml's Q8_0, or Q8_1
//! with the sum of the block in 16 bits); beside those with blocks of 256 it is not, and the largest element becomes -127 (Q8_K).

use half::f16;
use pulp::Arch;
use rayon::prelude::*;

use crate::load::gguf::{BlockFormat, K_BLOCK, SMALL_BLOCK};

/// Added, this rounds a number under 2^22 to a whole one, to even where two are as near; which is then in the lowest bits.
const ROUND: f32 = 12_582_912.0;
/// Number of elements from which quantising is shared between threads.
const PARALLEL_FROM: usize = 1 << 16;

/// 32 codes, four in each number, the first in the lowest bits.
pub(super) type GroupCodes = [i32; SMALL_BLOCK / 4];

/// Scale and sums of a group of 32 codes, as products need them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    /// Factor from a code to the number that it encodes.
    pub(super) scale: f32,
    /// Sum of the numbers that the codes of a block of 32 encode, in 16 bits.
    pub(super) sum: f32,
    /// Minus the sum of the codes.
    pub(super) negated: i32,
    /// Minus the sum of the codes in each half.
    pub(super) negated_halves: [i32; 2],
}

/// Vectors in 8 bits.
pub(super) struct Activations {
    /// Groups of 32 in a vector.
    pub(super) groups_per_token: usize,
    pub(super) codes: Vec<GroupCodes>,
    pub(super) groups: Vec<Group>,
}

impl Activations {
    /// Quantises `x`, vectors of so many `columns`, for products with weights of `format`.
    pub(super) fn new(x: &[f32], columns: usize, format: BlockFormat) -> Self {
        let groups = x.len() / SMALL_BLOCK;
        let mut quantised = Self {
            groups_per_token: columns / SMALL_BLOCK,
            codes: vec![GroupCodes::default(); groups],
            groups: vec![Group::default(); groups],
        };
        let block = format.block_len();
        let quantise = |((x, codes), groups): ((&[f32], &mut [GroupCodes]), &mut [Group])| {
            Arch::new().dispatch(|| match block {
                K_BLOCK => quantise_large(x, codes, groups),
                _ => quantise_small(x, codes, groups),
            });
        };
        // Whole vectors, so that each part has whole blocks.
        let part = match x.len() < PARALLEL_FROM {
            true => groups.max(1),
            false => quantised.groups_per_token.max(1),
        };
        let parts = x
            .par_chunks(part * SMALL_BLOCK)
            .zip(quantised.codes.par_chunks_mut(part));
        if x.len() < PARALLEL_FROM {
            quantise(((x, &mut quantised.codes), &mut quantised.groups));
        } else {
            parts.zip(quantised.groups.par_chunks_mut(part)).for_each(quantise);
        }
        quantised
    }

    /// Number of vectors.
    pub(super) fn tokens(&self) -> usize {
        self.codes.len() / self.groups_per_token
    }

    /// Returns the numbers that the codes encode.
    #[cfg(test)]
    pub(super) fn numbers(&self) -> Vec<f32> {
        let groups = self.codes.iter().zip(&self.groups);
        let wide = groups.flat_map(|(codes, group)| {
            let codes = codes.iter().flat_map(|codes| codes.to_le_bytes());
            codes.map(|code| f32::from(code as i8) * group.scale)
        });
        wide.collect()
    }
}

/// Blocks of 32.
#[inline(always)]
fn quantise_small(x: &[f32], codes: &mut [GroupCodes], groups: &mut [Group]) {
    let blocks = x.as_chunks::<SMALL_BLOCK>().0.iter().zip(codes.iter_mut().zip(groups));
    for (x, (codes, group)) in blocks {
        let (largest, _) = largest(x);
        let scale = largest / 127.0;
        let factor = if largest > 0.0 { 127.0 / largest } else { 0.0 };
        *group = quantise_group(x, factor, f16::from_f32(scale).to_f32(), codes);
        group.sum = f16::from_f32(scale * -(group.negated as f32)).to_f32();
    }
}

/// Blocks of 256.
#[inline(always)]
fn quantise_large(x: &[f32], codes: &mut [GroupCodes], groups: &mut [Group]) {
    const GROUPS: usize = K_BLOCK / SMALL_BLOCK;
    let blocks = x
        .as_chunks::<K_BLOCK>()
        .0
        .iter()
        .zip(codes.chunks_exact_mut(GROUPS).zip(groups.chunks_exact_mut(GROUPS)));
    for (x, (codes, groups)) in blocks {
        let (magnitude, signed) = largest(x);
        let factor = if magnitude > 0.0 { -127.0 / signed } else { 0.0 };
        let scale = if magnitude > 0.0 { 1.0 / factor } else { 0.0 };
        // What is no number must not be lost.
        let scale = scale + x.iter().map(|x| x * 0.0).sum::<f32>();
        for ((x, codes), group) in x.as_chunks::<SMALL_BLOCK>().0.iter().zip(codes).zip(groups) {
            *group = quantise_group(x, factor, scale, codes);
        }
    }
}

/// The largest magnitude, and the first element that has it.
#[inline(always)]
fn largest(x: &[f32]) -> (f32, f32) {
    const LANES: usize = 16;
    let mut lanes = [0f32; LANES];
    for part in x.chunks_exact(LANES) {
        for (lane, x) in lanes.iter_mut().zip(part) {
            *lane = if x.abs() > *lane { x.abs() } else { *lane };
        }
    }
    let magnitude = lanes.iter().fold(0f32, |a, b| if *b > a { *b } else { a });
    let signed = x.iter().find(|x| x.abs() == magnitude);
    (magnitude, signed.copied().unwrap_or(magnitude))
}

/// Quantises a group to `factor · x`, rounded.
#[inline(always)]
fn quantise_group(x: &[f32; SMALL_BLOCK], factor: f32, scale: f32, codes: &mut GroupCodes) -> Group {
    let mut whole = [0i32; SMALL_BLOCK];
    let mut no_number = 0.0;
    for (whole, x) in whole.iter_mut().zip(x) {
        *whole = ((x * factor + ROUND).to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
        no_number += x * 0.0;
    }
    for (packed, four) in codes.iter_mut().zip(whole.as_chunks::<4>().0) {
        *packed = i32::from_le_bytes(four.map(|code| code as i8 as u8));
    }
    let half = |half: &[i32]| -half.iter().map(|code| i32::from(*code as i8)).sum::<i32>();
    let negated_halves = [half(&whole[..SMALL_BLOCK / 2]), half(&whole[SMALL_BLOCK / 2..])];
    let negated = negated_halves[0] + negated_halves[1];
    // What is no number must not be lost.
    let scale = scale + no_number;
    Group {
        scale,
        sum: 0.0,
        negated,
        negated_halves,
    }
}
