//! Products with quantised weights, which stay quantised in memory.
//!
//! 1. [`panels`]: sixteen rows of a matrix stand together, so that one vector register has four codes of each.
//! 2. [`activations`]: the vectors that a matrix is multiplied with are quantised to 8 bits, as ggml does it.
//! 3. The products of codes are summed in whole numbers, and each block's sum is scaled: by [`vnni`] on processors with AVX-512
//!    VNNI, by [`portable`] on others.
//!
//! Numbers are rounded at the same places as in ggml, so that answers are those of llama.cpp but for the order in which blocks
//! are added.

mod activations;
mod panels;
mod portable;
#[cfg(target_arch = "x86_64")]
mod vnni;

use rayon::prelude::*;

use crate::load::gguf::tensors::Rows;
use crate::network::matrices::quantised::activations::Activations;
use crate::network::matrices::quantised::panels::{PANEL_ROWS, Panels};

/// Multiplications from which a product is shared between threads: below, waking threads takes longer.
const PARALLEL_FROM: usize = 1 << 19;

/// A matrix of quantised weights, `[rows, columns]`.
#[derive(Debug)]
pub(crate) struct QuantisedMatrix {
    panels: Panels,
}

impl QuantisedMatrix {
    /// A matrix of the rows of `parts`, one part behind the other; all have the same format and as many `columns`.
    pub(crate) fn new(parts: &[Rows<'_>], columns: usize) -> Self {
        Self {
            panels: Panels::new(parts, columns),
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.panels.rows
    }

    pub(crate) fn columns(&self) -> usize {
        self.panels.columns
    }

    /// Appends the numbers of a row.
    pub(crate) fn extend_with_row(&self, row: usize, out: &mut Vec<f32>) {
        self.panels.extend_with_row(row, out);
    }

    /// Multiplies `x`, `[tokens, columns]`, by the transposed matrix: `out` becomes `[tokens, rows]`.
    pub(crate) fn apply(&self, x: &[f32], tokens: usize, out: &mut [f32]) {
        let panels = &self.panels;
        let x = Activations::new(x, panels.columns, panels.format);
        let block = PANEL_ROWS * tokens;
        // For each panel `[tokens, PANEL_ROWS]`.
        let mut blocks = vec![0.0; panels.count() * block];
        let threads = rayon::current_num_threads();
        if threads == 1 || panels.rows * panels.columns * tokens < PARALLEL_FROM {
            multiply(panels, 0, &x, &mut blocks);
        } else {
            let panels_per_part = panels.count().div_ceil(threads * 4).max(1);
            let parts = blocks.par_chunks_mut(panels_per_part * block).enumerate();
            parts.for_each(|(part, blocks)| multiply(panels, part * panels_per_part, &x, blocks));
        }
        for (panel, block) in blocks.chunks_exact(block).enumerate() {
            let first = panel * PANEL_ROWS;
            let rows = PANEL_ROWS.min(panels.rows - first);
            for (token, numbers) in block.chunks_exact(PANEL_ROWS).enumerate() {
                out[token * panels.rows + first..][..rows].copy_from_slice(&numbers[..rows]);
            }
        }
    }
}

/// Multiplies the panels from number `first` on with all vectors of `x`; `blocks` has `[tokens, PANEL_ROWS]` for each of them.
fn multiply(panels: &Panels, first: usize, x: &Activations, blocks: &mut [f32]) {
    for (panel, block) in blocks.chunks_exact_mut(PANEL_ROWS * x.tokens()).enumerate() {
        let panel = panels.panel(first + panel);
        #[cfg(target_arch = "x86_64")]
        if vnni::multiply(panels.format, panel, x, block) {
            continue;
        }
        portable::multiply(panels.format, panel, x, block);
    }
}

#[cfg(test)]
mod tests {
    use candle_core::quantized::{GgmlDType, QTensor};
    use candle_core::{Device, Tensor};

    use super::*;
    use crate::load::gguf::{BlockFormat, QUANTISED};

    /// Returns a matrix of random numbers, quantised, and the numbers that its quantised weights encode according to candle.
    fn matrix(rows: usize, columns: usize, format: BlockFormat, theirs: GgmlDType) -> (QuantisedMatrix, Vec<f32>) {
        let numbers = Tensor::randn(0f32, 1.0, (rows, columns), &Device::Cpu).unwrap();
        let quantised = QTensor::quantize(&numbers, theirs).unwrap();
        let bytes = quantised.data().unwrap();
        let exact = quantised.dequantize(&Device::Cpu).unwrap().flatten_all().unwrap();
        let rows = Rows::in_order(format, rows, &bytes);
        (QuantisedMatrix::new(&[rows], columns), exact.to_vec1().unwrap())
    }

    fn numbers(count: usize) -> Vec<f32> {
        let numbers = Tensor::randn(0f32, 1.0, count, &Device::Cpu).unwrap();
        numbers.to_vec1().unwrap()
    }

    #[test]
    fn packed_rows_stand_for_the_numbers_that_candle_reads() {
        for (format, theirs) in QUANTISED {
            let (matrix, exact) = matrix(37, 512, format, theirs);
            let mut found = Vec::new();
            (0..37).for_each(|row| matrix.extend_with_row(row, &mut found));
            assert_eq!(found, exact, "{format:?}");
        }
    }

    type Kernel = fn(BlockFormat, &[u8], &Activations, &mut [f32]);

    /// The kernels that this processor can run; says which it cannot.
    fn kernels() -> Vec<(&'static str, Kernel)> {
        let mut kernels: Vec<(&str, Kernel)> = vec![("portable", portable::multiply)];
        #[cfg(target_arch = "x86_64")]
        if vnni::is_available() {
            kernels.push(("vnni", |format, panel, x, out| {
                assert!(vnni::multiply(format, panel, x, out));
            }));
        }
        if kernels.len() == 1 {
            println!("skipped: the kernels for AVX-512 VNNI, which this processor does not have");
        }
        kernels
    }

    /// The definition: the sum of products of the numbers that codes and scales encode, of weights and of activations.
    #[test]
    fn products_equal_the_sums_they_are_defined_by() {
        for (format, theirs) in QUANTISED {
            for (rows, tokens) in [(16, 1), (37, 2), (5, 7), (96, 33)] {
                let columns = 512;
                let (matrix, exact) = matrix(rows, columns, format, theirs);
                let x = Activations::new(&numbers(tokens * columns), columns, format);
                let (panels, wide) = (&matrix.panels, x.numbers());
                let block = PANEL_ROWS * tokens;
                // Sums of activations, beside least numbers of small blocks, are rounded to 16 bits, of which 11 are digits.
                let tolerance = match format {
                    BlockFormat::Q4_1 | BlockFormat::Q5_1 => f64::from(2f32.powi(-11)),
                    _ => 1e-5,
                };
                for (kernel, multiply) in kernels() {
                    let mut blocks = vec![f32::NAN; panels.count() * block];
                    for (panel, block) in blocks.chunks_exact_mut(block).enumerate() {
                        multiply(format, panels.panel(panel), &x, block);
                    }
                    for (row, token) in (0..rows).flat_map(|row| (0..tokens).map(move |token| (row, token))) {
                        let weights = &exact[row * columns..][..columns];
                        let terms = weights.iter().zip(&wide[token * columns..][..columns]);
                        let terms: Vec<f64> = terms.map(|(a, b)| f64::from(*a) * f64::from(*b)).collect();
                        let (sum, size) = (
                            terms.iter().sum::<f64>(),
                            terms.iter().map(|term| term.abs()).sum::<f64>(),
                        );
                        let found = blocks[row / PANEL_ROWS * block + token * PANEL_ROWS + row % PANEL_ROWS];
                        assert!(
                            (f64::from(found) - sum).abs() < tolerance * size,
                            "{kernel}, {format:?} {rows}x{tokens}: {found}, not {sum}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn quantised_products_are_close_to_products_of_the_numbers() {
        for (format, theirs) in QUANTISED {
            let (rows, columns, tokens) = (40, 1024, 3);
            let (matrix, exact) = matrix(rows, columns, format, theirs);
            let x = numbers(tokens * columns);
            let mut out = vec![0.0; tokens * rows];
            matrix.apply(&x, tokens, &mut out);
            for token in 0..tokens {
                for row in 0..rows {
                    let terms = exact[row * columns..][..columns]
                        .iter()
                        .zip(&x[token * columns..][..columns]);
                    let sum: f32 = terms.map(|(a, b)| a * b).sum();
                    // Each activation is off by at most 1/254 of the largest in its block, at random.
                    let found = out[token * rows + row];
                    assert!((found - sum).abs() < 1.5, "{format:?}: {found}, not {sum}");
                }
            }
        }
    }

    #[test]
    fn activations_that_are_no_numbers_are_not_hidden() {
        for (format, theirs) in QUANTISED {
            let (matrix, _) = matrix(16, 256, format, theirs);
            for bad in [f32::NAN, f32::INFINITY] {
                let mut x = numbers(256);
                x[100] = bad;
                let mut out = vec![0.0; 16];
                matrix.apply(&x, 1, &mut out);
                assert!(out.iter().all(|y| !y.is_finite()), "{format:?} {bad}: {out:?}");
            }
        }
    }
}
