//! [`Linear`]: a weight matrix with an optional bias, applied by tensor operations or over slices.

use std::ops::Range;
use std::sync::Arc;

use candle_core::{CpuStorage, DType, Device, Error, Result, Tensor};

use crate::network::cpu::kernels::{self, Weight};
use crate::network::cpu::slices::{with_cpu_slice, with_cpu_storage};
#[cfg(any(feature = "cuda", test))]
use crate::network::gpu::packed::PackedMatrix;
use crate::network::matrices::mxfp4::Mxfp4;
use crate::network::matrices::quantised::QuantisedMatrix;

/// Number of tokens from which a general matrix product is faster than [`kernels::product`].
const MATRIX_PRODUCT_FROM: usize = 16;

/// A linear map, `y = x Wᵀ + b`.
#[derive(Debug, Clone)]
pub(crate) struct Linear {
    /// `[outputs, inputs]`.
    matrix: Matrix,
    /// `[outputs]`.
    bias: Option<Tensor>,
}

/// The matrix of a [`Linear`], in the format that it is kept in.
#[derive(Debug, Clone)]
pub(crate) enum Matrix {
    /// Floats of 32 or 16 bits.
    Dense(Tensor),
    /// Floats of 4 bits, with scales.
    Mxfp4(Mxfp4),
    /// Small whole numbers with scales, on the CPU.
    Quantised(Arc<QuantisedMatrix>),
    /// Small whole numbers with scales, on a GPU.
    #[cfg(any(feature = "cuda", test))]
    Packed(Arc<PackedMatrix>),
    /// Parts of different formats, one behind the other, with as many columns in each.
    Mixed(Vec<Linear>),
}

impl Matrix {
    fn outputs(&self) -> usize {
        match self {
            Self::Dense(tensor) => tensor.dims()[0],
            Self::Mxfp4(matrix) => matrix.outputs(),
            Self::Quantised(matrix) => matrix.rows(),
            #[cfg(any(feature = "cuda", test))]
            Self::Packed(matrix) => matrix.rows(),
            Self::Mixed(parts) => parts.iter().map(Linear::outputs).sum(),
        }
    }

    fn inputs(&self) -> usize {
        match self {
            Self::Dense(tensor) => tensor.dims()[1],
            Self::Mxfp4(matrix) => matrix.inputs(),
            Self::Quantised(matrix) => matrix.columns(),
            #[cfg(any(feature = "cuda", test))]
            Self::Packed(matrix) => matrix.columns(),
            Self::Mixed(parts) => parts.first().map_or(0, Linear::inputs),
        }
    }

    /// The product of `x`, `[tokens, inputs]` in the format of the device's arithmetic, by tensor operations: `[tokens, outputs]`.
    fn multiply(&self, x: &Tensor) -> Result<Tensor> {
        match self {
            Self::Dense(tensor) => x.matmul(&tensor.t()?),
            Self::Mxfp4(matrix) => x.matmul(&matrix.widened()?.t()?),
            Self::Quantised(_) => Err(unexpected_type()),
            #[cfg(any(feature = "cuda", test))]
            Self::Packed(matrix) => matrix.multiply(x),
            Self::Mixed(parts) => {
                let parts = parts.iter().map(|part| part.forward(x));
                Tensor::cat(&parts.collect::<Result<Vec<_>>>()?, 1)
            }
        }
    }
}

impl Linear {
    pub(crate) fn new(weight: Tensor, bias: Option<Tensor>) -> Self {
        Self::of(Matrix::Dense(weight), bias)
    }

    pub(crate) fn of(matrix: Matrix, bias: Option<Tensor>) -> Self {
        Self { matrix, bias }
    }

    /// The matrix where it is kept as a tensor, `[outputs, inputs]`; an error where it is not.
    pub(crate) fn weight(&self) -> Result<&Tensor> {
        match &self.matrix {
            Matrix::Dense(tensor) => Ok(tensor),
            _ => Err(unexpected_type()),
        }
    }

    /// The matrix where it is kept quantised on a GPU.
    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn packed(&self) -> Option<&PackedMatrix> {
        match &self.matrix {
            Matrix::Packed(matrix) => Some(matrix),
            _ => None,
        }
    }

    /// The parts of different formats, one where there is one format.
    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn parts(&self) -> &[Self] {
        match &self.matrix {
            Matrix::Mixed(parts) => parts,
            _ => std::slice::from_ref(self),
        }
    }

    /// `[outputs]`.
    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn bias(&self) -> Option<&Tensor> {
        self.bias.as_ref()
    }

    pub(crate) fn outputs(&self) -> usize {
        self.matrix.outputs()
    }

    fn inputs(&self) -> usize {
        self.matrix.inputs()
    }

    /// Multiplies tensors: `x` is `[tokens, inputs]` in the weights' number format, the result `[tokens, outputs]`.
    pub(crate) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let y = self.matrix.multiply(x)?;
        match &self.bias {
            Some(bias) => y.broadcast_add(bias),
            None => Ok(y),
        }
    }

    /// The vectors of `tokens`, rows of this matrix: `[tokens.len(), inputs]` (for embeddings).
    pub(crate) fn rows(&self, tokens: &[u32]) -> Result<Tensor> {
        #[cfg(any(feature = "cuda", test))]
        if let Matrix::Packed(table) = &self.matrix {
            return table.some_rows(tokens);
        }
        let table = self.weight()?;
        table.index_select(&Tensor::new(tokens, table.device())?, 0)
    }

    /// Copies the vectors of `tokens`, rows of this matrix, into `out` on the CPU: `[tokens.len(), inputs]`.
    pub(crate) fn copy_rows(&self, tokens: &[u32], out: &mut Vec<f32>) -> Result<()> {
        out.clear();
        let width = self.inputs();
        fn copy<W: Weight>(table: &[W], width: usize, tokens: &[u32], out: &mut Vec<f32>) {
            for &token in tokens {
                let row = &table[token as usize * width..][..width];
                out.extend(row.iter().map(|weight| weight.widen()));
            }
        }
        if let Matrix::Quantised(table) = &self.matrix {
            tokens
                .iter()
                .for_each(|token| table.extend_with_row(*token as usize, out));
            return Ok(());
        }
        with_cpu_storage(self.weight()?, |storage| {
            match storage {
                CpuStorage::F32(table) => copy(table, width, tokens, out),
                CpuStorage::BF16(table) => copy(table, width, tokens, out),
                CpuStorage::F16(table) => copy(table, width, tokens, out),
                _ => return Err(unexpected_type()),
            }
            Ok(())
        })
    }

    /// Multiplies slices on the CPU: `x` is `[tokens, inputs]`, and `out` becomes `[tokens, outputs]`.
    pub(crate) fn apply(&self, x: &[f32], tokens: usize, out: &mut Vec<f32>) -> Result<()> {
        if let Matrix::Quantised(matrix) = &self.matrix {
            out.resize(tokens * matrix.rows(), 0.0);
            matrix.apply(x, tokens, out);
        } else if let Matrix::Mixed(parts) = &self.matrix {
            apply_parts(parts, x, tokens, out)?;
        } else if tokens >= MATRIX_PRODUCT_FROM {
            self.apply_matrix_product(x, tokens, out)?;
        } else if tokens == 1 {
            out.resize(self.outputs(), 0.0);
            self.product(x, 1, out)?;
        } else {
            let mut transposed = vec![0.0; self.outputs() * tokens];
            self.product(x, tokens, &mut transposed)?;
            out.clear();
            for token in 0..tokens {
                out.extend(transposed.iter().skip(token).step_by(tokens));
            }
        }
        if let Some(bias) = &self.bias {
            with_cpu_slice(bias, |bias| {
                for row in out.chunks_exact_mut(bias.len()) {
                    for (y, bias) in row.iter_mut().zip(bias) {
                        *y += bias;
                    }
                }
            })?;
        }
        Ok(())
    }

    /// The product without the bias by [`kernels::product`], `[outputs, tokens]`.
    fn product(&self, x: &[f32], tokens: usize, out: &mut [f32]) -> Result<()> {
        let columns = self.inputs();
        let weight = match &self.matrix {
            Matrix::Dense(weight) => weight,
            Matrix::Mxfp4(matrix) => return matrix.product(x, tokens, out),
            _ => return Err(unexpected_type()),
        };
        with_cpu_storage(weight, |storage| {
            match storage {
                CpuStorage::F32(weights) => kernels::product(weights, x, columns, tokens, out),
                CpuStorage::BF16(weights) => kernels::product(weights, x, columns, tokens, out),
                CpuStorage::F16(weights) => kernels::product(weights, x, columns, tokens, out),
                _ => return Err(unexpected_type()),
            }
            Ok(())
        })
    }

    /// The product without the bias by a general matrix product, `[tokens, outputs]`.
    fn apply_matrix_product(&self, x: &[f32], tokens: usize, out: &mut Vec<f32>) -> Result<()> {
        let x = Tensor::from_slice(x, (tokens, self.inputs()), &Device::Cpu)?;
        out.clear();
        let weight = match &self.matrix {
            Matrix::Dense(weight) => weight,
            Matrix::Mxfp4(matrix) => {
                out.resize(tokens * self.outputs(), 0.0);
                return self.product_by_parts(&x, out, |rows| matrix.rows(rows.start, rows.len()));
            }
            _ => return Err(unexpected_type()),
        };
        if weight.dtype() == DType::F32 {
            let y = x.matmul(&weight.t()?)?;
            return with_cpu_slice(&y, |y: &[f32]| out.extend_from_slice(y));
        }
        out.resize(tokens * self.outputs(), 0.0);
        with_cpu_storage(weight, |storage| match storage {
            CpuStorage::BF16(weights) => self.widened_product(weights, &x, out),
            CpuStorage::F16(weights) => self.widened_product(weights, &x, out),
            _ => Err(unexpected_type()),
        })
    }

    /// A matrix product with narrow weights.
    fn widened_product<W: Weight>(&self, weights: &[W], x: &Tensor, out: &mut [f32]) -> Result<()> {
        let columns = self.inputs();
        let widened = |rows: Range<usize>| Ok(kernels::widened(&weights[rows.start * columns..rows.end * columns]));
        self.product_by_parts(x, out, widened)
    }

    /// A matrix product with weights that are widened some rows at a time.
    fn product_by_parts(
        &self,
        x: &Tensor,
        out: &mut [f32],
        widened: impl Fn(Range<usize>) -> Result<Vec<f32>>,
    ) -> Result<()> {
        const ROWS: usize = 512;
        let (columns, outputs) = (self.inputs(), self.outputs());
        for from in (0..outputs).step_by(ROWS) {
            let rows = ROWS.min(outputs - from);
            let wide = Tensor::from_vec(widened(from..from + rows)?, (rows, columns), &Device::Cpu)?;
            let y = x.matmul(&wide.t()?)?;
            with_cpu_slice(&y, |y: &[f32]| {
                for (y, out) in y.chunks_exact(rows).zip(out.chunks_exact_mut(outputs)) {
                    out[from..][..rows].copy_from_slice(y);
                }
            })?;
        }
        Ok(())
    }
}

/// Multiplies `x` by matrices that stand one behind the other: `out` becomes `[tokens, outputs]`, of all together.
fn apply_parts(parts: &[Linear], x: &[f32], tokens: usize, out: &mut Vec<f32>) -> Result<()> {
    let outputs: usize = parts.iter().map(Linear::outputs).sum();
    out.resize(tokens * outputs, 0.0);
    let (mut first, mut of_part) = (0, Vec::new());
    for part in parts {
        part.apply(x, tokens, &mut of_part)?;
        let rows = part.outputs();
        for (row, out) in of_part.chunks_exact(rows).zip(out.chunks_exact_mut(outputs)) {
            out[first..][..rows].copy_from_slice(row);
        }
        first += rows;
    }
    Ok(())
}

/// The error of a matrix in another format than those that [`Weights`](crate::load::weights::Weights) makes.
fn unexpected_type() -> Error {
    Error::Msg("expected F32, F16 or BF16 weights".to_owned())
}
