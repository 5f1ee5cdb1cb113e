//! [`Mxfp4`]: matrices of 4-bit floats, which stay so in memory and are widened where they are multiplied.
//!
//! The format is MXFP4 of the Open Compute Project's Microscaling Formats specification 1.0: numbers of one bit of sign, two of
//! exponent and one of fraction (E2M1), and for each [`BLOCK`] of a row one power of two (E8M0) that they are multiplied with.

use std::sync::LazyLock;

use candle_core::{DType, Device, Result, Tensor};
use rayon::prelude::*;

use crate::load::config::experts::BLOCK;
use crate::network::cpu::kernels;
use crate::network::cpu::slices::with_cpu_slice;

/// Rows that are widened at a time, so that they stay in the nearest caches until they have been multiplied.
const ROWS: usize = 8;
/// Multiplications from which a product is shared between threads: below, waking threads takes longer.
const PARALLEL_FROM: usize = 1 << 17;

/// The two numbers that each byte encodes, the one in the low bits first.
static PAIRS: LazyLock<[[f32; 2]; 256]> = LazyLock::new(|| {
    const MAGNITUDES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    let number = |bits: usize| {
        if bits < 8 {
            MAGNITUDES[bits]
        } else {
            -MAGNITUDES[bits - 8]
        }
    };
    std::array::from_fn(|byte| [number(byte & 15), number(byte >> 4)])
});

/// The power of two that a scale encodes: `2^(scale - 127)`, and not a number for 255.
fn power(scale: u8) -> f32 {
    match scale {
        0 => f32::from_bits(1 << 22),
        255 => f32::NAN,
        _ => f32::from_bits(u32::from(scale) << 23),
    }
}

/// The largest scale with which all numbers are finite in the format `dtype`: the largest of them is six times its power of two.
pub(crate) fn largest_scale(dtype: DType) -> u8 {
    match dtype {
        DType::F16 => 140,
        _ => 252,
    }
}

/// A matrix of MXFP4 numbers.
#[derive(Debug, Clone)]
pub(crate) struct Mxfp4 {
    /// Two numbers to a byte: `[rows, columns / 2]`.
    blocks: Tensor,
    /// `[rows, columns / BLOCK]`.
    scales: Tensor,
    tables: Mxfp4Tables,
}

/// Tables from bytes to the numbers that they encode, for tensor operations: 32-bit floats where the device's arithmetic is in
/// F16, which cannot hold every power of two whose products with MXFP4 numbers it can hold, else the format of that arithmetic.
#[derive(Debug, Clone)]
pub(crate) struct Mxfp4Tables {
    /// `[256, 2]`.
    pairs: Tensor,
    /// `[256, 1]`.
    powers: Tensor,
    /// The format of the device's arithmetic.
    dtype: DType,
}

impl Mxfp4Tables {
    /// The tables for products in the format `dtype` on `device`.
    pub(crate) fn new(dtype: DType, device: &Device) -> Result<Self> {
        let kept = if dtype == DType::F16 { DType::F32 } else { dtype };
        let table = |numbers: Vec<f32>, columns| Tensor::from_vec(numbers, (256, columns), device)?.to_dtype(kept);
        Ok(Self {
            pairs: table(PAIRS.concat(), 2)?,
            powers: table((0..=255).map(power).collect(), 1)?,
            dtype,
        })
    }
}

impl Mxfp4 {
    /// The matrix of `rows` rows with the bytes `blocks`, `[rows, columns / 2]`, and `scales`, `[rows, columns / BLOCK]`, on the
    /// device of `tables`.
    pub(crate) fn new(rows: usize, blocks: Vec<u8>, scales: Vec<u8>, tables: &Mxfp4Tables) -> Result<Self> {
        let (width, count, device) = (blocks.len() / rows, scales.len() / rows, tables.pairs.device());
        Ok(Self {
            blocks: Tensor::from_vec(blocks, (rows, width), device)?,
            scales: Tensor::from_vec(scales, (rows, count), device)?,
            tables: tables.clone(),
        })
    }

    pub(crate) fn outputs(&self) -> usize {
        self.blocks.dims()[0]
    }

    pub(crate) fn inputs(&self) -> usize {
        2 * self.blocks.dims()[1]
    }

    /// All numbers by tensor operations, `[rows, columns]`.
    pub(crate) fn widened(&self) -> Result<Tensor> {
        let Mxfp4Tables { pairs, powers, dtype } = &self.tables;
        // Of 8 bits, candle takes an index of 255 for one that is not there.
        let looked_up = |table: &Tensor, bytes: &Tensor| {
            let indices = bytes.flatten_all()?.to_dtype(DType::U32)?;
            table.index_select(&indices, 0)
        };
        let blocks = self.scales.elem_count();
        let numbers = looked_up(pairs, &self.blocks)?.reshape((blocks, BLOCK))?;
        let powers = looked_up(powers, &self.scales)?;
        let numbers = numbers.broadcast_mul(&powers)?.to_dtype(*dtype)?;
        numbers.reshape((self.outputs(), self.inputs()))
    }

    /// The product with `x`, `[tokens, columns]`, on the CPU: `[rows, tokens]`.
    pub(crate) fn product(&self, x: &[f32], tokens: usize, out: &mut [f32]) -> Result<()> {
        let columns = self.inputs();
        let threads = rayon::current_num_threads();
        self.with_bytes(|blocks, scales| {
            let product = |blocks: &[u8], scales: &[u8], out: &mut [f32]| {
                let mut wide = vec![0.0; ROWS * columns];
                let rows = blocks
                    .chunks(ROWS * columns / 2)
                    .zip(scales.chunks(ROWS * columns / BLOCK));
                for ((blocks, scales), out) in rows.zip(out.chunks_mut(ROWS * tokens)) {
                    let wide = &mut wide[..2 * blocks.len()];
                    widen(blocks, scales, wide);
                    kernels::product_on_this_thread(wide, x, columns, tokens, out);
                }
            };
            let rows = out.len() / tokens;
            if threads == 1 || rows * columns * tokens < PARALLEL_FROM {
                return product(blocks, scales, out);
            }
            let part = rows.div_ceil(2 * threads).next_multiple_of(ROWS);
            let parts = blocks
                .par_chunks(part * columns / 2)
                .zip(scales.par_chunks(part * columns / BLOCK));
            parts
                .zip(out.par_chunks_mut(part * tokens))
                .for_each(|((blocks, scales), out)| product(blocks, scales, out));
        })
    }

    /// `count` rows from number `from` on, on the CPU.
    pub(crate) fn rows(&self, from: usize, count: usize) -> Result<Vec<f32>> {
        let columns = self.inputs();
        let mut wide = vec![0.0; count * columns];
        self.with_bytes(|blocks, scales| {
            let blocks = &blocks[from * columns / 2..][..count * columns / 2];
            let scales = &scales[from * columns / BLOCK..][..count * columns / BLOCK];
            let parts = blocks.par_chunks(columns / 2).zip(scales.par_chunks(columns / BLOCK));
            parts
                .zip(wide.par_chunks_mut(columns))
                .for_each(|((blocks, scales), wide)| widen(blocks, scales, wide));
        })?;
        Ok(wide)
    }

    /// Hands the bytes of blocks and scales, which are on the CPU, to `read`.
    fn with_bytes<T>(&self, read: impl FnOnce(&[u8], &[u8]) -> T) -> Result<T> {
        with_cpu_slice(&self.blocks, |blocks: &[u8]| {
            with_cpu_slice(&self.scales, |scales: &[u8]| read(blocks, scales))
        })?
    }
}

/// Writes the numbers of whole blocks.
fn widen(blocks: &[u8], scales: &[u8], wide: &mut [f32]) {
    let pairs: &[[f32; 2]; 256] = &PAIRS;
    let blocks = blocks.as_chunks::<{ BLOCK / 2 }>().0.iter().zip(scales);
    for ((block, scale), wide) in blocks.zip(wide.as_chunks_mut::<BLOCK>().0) {
        let scale = power(*scale);
        for (wide, byte) in wide.as_chunks_mut::<2>().0.iter_mut().zip(block) {
            let [low, high] = pairs[usize::from(*byte)];
            *wide = [low * scale, high * scale];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables() -> Mxfp4Tables {
        Mxfp4Tables::new(DType::F32, &Device::Cpu).unwrap()
    }

    /// The number as the specification defines it.
    fn defined(bits: u8, scale: u8) -> f64 {
        let (exponent, fraction) = (bits >> 1 & 3, f64::from(bits & 1));
        let magnitude = match exponent {
            0 => fraction / 2.0,
            _ => (1.0 + fraction / 2.0) * 2f64.powi(i32::from(exponent) - 1),
        };
        let sign = if bits & 8 == 0 { 1.0 } else { -1.0 };
        sign * magnitude * 2f64.powi(i32::from(scale) - 127)
    }

    #[test]
    fn every_byte_is_read_as_the_specification_has_it() {
        // Each byte once, in rows of two blocks, and scales from the smallest to a large one.
        let blocks: Vec<u8> = (0..=255).collect();
        let scales: Vec<u8> = vec![0, 1, 2, 64, 100, 120, 126, 127, 128, 129, 130, 140, 150, 180, 220, 240];
        let matrix = Mxfp4::new(8, blocks.clone(), scales.clone(), &tables()).unwrap();
        let expected: Vec<f32> = blocks
            .iter()
            .flat_map(|byte| [byte & 15, byte >> 4])
            .enumerate()
            .map(|(index, bits)| defined(bits, scales[index / BLOCK]) as f32)
            .collect();
        assert_eq!(matrix.rows(0, 8).unwrap(), expected);
        assert_eq!(matrix.rows(3, 2).unwrap(), expected[3 * 64..5 * 64]);
        let tensor = matrix.widened().unwrap();
        assert_eq!(tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap(), expected);
    }

    #[test]
    fn numbers_are_those_of_the_specification_in_all_formats() {
        for (dtype, smallest) in [(DType::F32, 0), (DType::BF16, 0), (DType::F16, 104)] {
            let largest = largest_scale(dtype);
            let scales: Vec<u8> = (smallest..=largest).collect();
            let blocks: Vec<u8> = scales.iter().flat_map(|_| [0x10, 0x32, 0x54, 0x76].repeat(4)).collect();
            let tables = Mxfp4Tables::new(dtype, &Device::Cpu).unwrap();
            let matrix = Mxfp4::new(scales.len(), blocks, scales.clone(), &tables).unwrap();
            let found = matrix.widened().unwrap().to_dtype(DType::F32).unwrap();
            for (scale, row) in scales.into_iter().zip(found.to_vec2::<f32>().unwrap()) {
                for (bits, found) in (0..8).cycle().zip(row) {
                    assert_eq!(
                        f64::from(found),
                        defined(bits, scale),
                        "{dtype:?}, {bits} with scale {scale}"
                    );
                }
            }
            let past = Mxfp4::new(1, vec![0x77; 16], vec![largest + 1], &tables).unwrap();
            let past = past
                .widened()
                .unwrap()
                .to_dtype(DType::F32)
                .unwrap()
                .to_vec2::<f32>()
                .unwrap();
            assert!(past[0][0].is_infinite(), "{dtype:?}: {past:?}");
        }
    }

    #[test]
    fn products_are_those_of_the_widened_matrix() {
        for (rows, columns, tokens) in [(1, 32, 1), (20, 96, 3), (700, 256, 2)] {
            let byte = |index: usize| (index * 7919 % 251) as u8;
            let blocks: Vec<u8> = (0..rows * columns / 2).map(byte).collect();
            let scales: Vec<u8> = (0..rows * columns / BLOCK)
                .map(|index| 120 + byte(index) % 12)
                .collect();
            let matrix = Mxfp4::new(rows, blocks, scales, &tables()).unwrap();
            let x: Vec<f32> = (0..tokens * columns).map(|index| (index as f32).sin()).collect();
            let (mut got, mut expected) = (vec![0.0; rows * tokens], vec![0.0; rows * tokens]);
            matrix.product(&x, tokens, &mut got).unwrap();
            kernels::product(&matrix.rows(0, rows).unwrap(), &x, columns, tokens, &mut expected);
            for (got, expected) in got.iter().zip(&expected) {
                assert!(
                    (got - expected).abs() <= 1e-4 * (1.0 + expected.abs()),
                    "{got}, expected {expected}"
                );
            }
        }
    }
}
