//! [`Linear`]: a weight matrix with an optional bias, applied by tensor operations or over slices.

use candle_core::{CpuStorage, DType, Device, Error, Result, Storage, Tensor, WithDType};

use crate::network::kernels::{self, Weight};

/// Number of tokens from which a general matrix product is faster than [`kernels::product`].
const MATRIX_PRODUCT_FROM: usize = 16;

/// A linear map, `y = x Wᵀ + b`.
#[derive(Debug, Clone)]
pub(crate) struct Linear {
    /// `[outputs, inputs]`.
    weight: Tensor,
    /// `[outputs]`.
    bias: Option<Tensor>,
}

impl Linear {
    pub(crate) fn new(weight: Tensor, bias: Option<Tensor>) -> Self {
        Self { weight, bias }
    }

    /// `[outputs, inputs]`.
    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn weight(&self) -> &Tensor {
        &self.weight
    }

    /// `[outputs]`.
    #[cfg(any(feature = "cuda", test))]
    pub(crate) fn bias(&self) -> Option<&Tensor> {
        self.bias.as_ref()
    }

    pub(crate) fn outputs(&self) -> usize {
        self.weight.dims()[0]
    }

    fn inputs(&self) -> usize {
        self.weight.dims()[1]
    }

    /// Multiplies tensors: `x` is `[tokens, inputs]` in the weights' number format, the result `[tokens, outputs]`.
    pub(crate) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let y = x.matmul(&self.weight.t()?)?;
        match &self.bias {
            Some(bias) => y.broadcast_add(bias),
            None => Ok(y),
        }
    }

    /// The vectors of `tokens`, rows of this matrix: `[tokens.len(), inputs]` (for embeddings).
    pub(crate) fn rows(&self, tokens: &[u32]) -> Result<Tensor> {
        let tokens = Tensor::new(tokens, self.weight.device())?;
        self.weight.index_select(&tokens, 0)
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
        with_cpu_storage(&self.weight, |storage| {
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
        if tokens >= MATRIX_PRODUCT_FROM {
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
        with_cpu_storage(&self.weight, |storage| {
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
        if self.weight.dtype() == DType::F32 {
            let y = x.matmul(&self.weight.t()?)?;
            return with_cpu_slice(&y, |y: &[f32]| out.extend_from_slice(y));
        }
        out.resize(tokens * self.outputs(), 0.0);
        with_cpu_storage(&self.weight, |storage| match storage {
            CpuStorage::BF16(weights) => self.widened_product(weights, &x, out),
            CpuStorage::F16(weights) => self.widened_product(weights, &x, out),
            _ => Err(unexpected_type()),
        })
    }

    /// A matrix product with narrow weights, which are widened some rows at a time.
    fn widened_product<W: Weight>(&self, weights: &[W], x: &Tensor, out: &mut [f32]) -> Result<()> {
        const ROWS: usize = 512;
        let (columns, outputs) = (self.inputs(), self.outputs());
        for (part, weights) in weights.chunks(ROWS * columns).enumerate() {
            let rows = weights.len() / columns;
            let wide = Tensor::from_vec(kernels::widened(weights), (rows, columns), &Device::Cpu)?;
            let y = x.matmul(&wide.t()?)?;
            with_cpu_slice(&y, |y: &[f32]| {
                for (y, out) in y.chunks_exact(rows).zip(out.chunks_exact_mut(outputs)) {
                    out[part * ROWS..][..rows].copy_from_slice(y);
                }
            })?;
        }
        Ok(())
    }
}

/// Hands the elements of a contiguous CPU tensor that starts its storage to `read`.
fn with_cpu_storage<T>(tensor: &Tensor, read: impl FnOnce(&CpuStorage) -> Result<T>) -> Result<T> {
    let (storage, layout) = tensor.storage_and_layout();
    match &*storage {
        Storage::Cpu(storage) if layout.contiguous_offsets().is_some_and(|(start, _)| start == 0) => read(storage),
        _ => Err(Error::Msg("expected a contiguous tensor on the CPU".to_owned())),
    }
}

/// Hands the elements of a contiguous CPU tensor to `read`.
pub(crate) fn with_cpu_slice<D: WithDType, T>(tensor: &Tensor, read: impl FnOnce(&[D]) -> T) -> Result<T> {
    with_cpu_storage(tensor, |storage| {
        Ok(read(&storage.as_slice::<D>()?[..tensor.elem_count()]))
    })
}

/// The error of a matrix in another format than those that [`Weights`](crate::load::weights::Weights) makes.
fn unexpected_type() -> Error {
    Error::Msg("expected F32, F16 or BF16 weights".to_owned())
}
