//! [`MatrixFormat`], and matrices in the formats that a GGUF file has them in.

use std::sync::Arc;

use candle_core::{DType, Device};

use crate::error::ModelError;
use crate::load::config::ModelConfig;
use crate::load::gguf::tensors::Rows;
use crate::load::shapes::matrices::NamedShape;
use crate::load::weights::Weights;
#[cfg(any(feature = "cuda", test))]
use crate::network::gpu::{kernels::Kernels, packed::PackedMatrix, short_pass::has_kernels, weights::can_stay_packed};
use crate::network::matrices::linear::{Linear, Matrix};
use crate::network::matrices::quantised::QuantisedMatrix;

/// The format that matrices are kept in.
#[derive(Clone, Debug)]
pub(crate) enum MatrixFormat {
    /// One format for all matrices.
    Converted(DType),
    /// The formats of the file, quantised ones included, on the CPU.
    AsStored,
    /// Quantised as in the file, on a device with these kernels, whose arithmetic is in the given format.
    #[cfg(any(feature = "cuda", test))]
    Packed(Kernels, DType),
}

impl MatrixFormat {
    /// The format in which matrices stay as the GGUF file `weights` has them, where it is one: on the CPU, or on a GPU whose kernels can
    /// multiply with them. `dtype` is the format of a GPU's arithmetic.
    pub(crate) fn of_file(
        config: &ModelConfig,
        weights: &Weights,
        dtype: DType,
        device: &Device,
    ) -> candle_core::Result<Option<Self>> {
        if weights.gguf().is_none() || device.is_cpu() {
            return Ok(weights.gguf().map(|_| Self::AsStored));
        }
        let _ = (config, dtype);
        #[cfg(any(feature = "cuda", test))]
        if has_kernels(config, dtype) && can_stay_packed(config, weights) {
            return Ok(Kernels::of(device, dtype)?.map(|kernels| Self::Packed(kernels, dtype)));
        }
        Ok(None)
    }

    /// The format as candle names it, that of activations where each matrix has its own.
    pub(crate) fn dtype(&self) -> DType {
        match self {
            Self::Converted(dtype) => *dtype,
            Self::AsStored => DType::F32,
            #[cfg(any(feature = "cuda", test))]
            Self::Packed(_, dtype) => *dtype,
        }
    }

    /// Rows of one quantised format with so many columns, as one matrix on `device`.
    fn quantised(&self, rows: &[Rows<'_>], columns: usize, device: &Device) -> Result<Matrix, ModelError> {
        #[cfg(any(feature = "cuda", test))]
        if let Self::Packed(kernels, dtype) = self {
            let packed = PackedMatrix::new(rows, columns, kernels, (device, *dtype));
            let packed = packed.map_err(|error| ModelError::Device {
                device: format!("{:?}", device.location()),
                message: format!("copying weights failed: {error}"),
            })?;
            return Ok(Matrix::Packed(Arc::new(packed)));
        }
        let _ = device;
        Ok(Matrix::Quantised(Arc::new(QuantisedMatrix::new(rows, columns))))
    }

    /// Matrices with as many columns, stacked into one.
    pub(crate) fn stacked(
        &self,
        matrices: &[NamedShape],
        weights: &Weights,
        device: &Device,
    ) -> Result<Matrix, ModelError> {
        if let Self::Converted(dtype) = self {
            return Ok(Matrix::Dense(weights.stacked(matrices, *dtype, device)?));
        }
        let format = |matrix: &NamedShape| weights.gguf().and_then(|tensors| tensors.format(&matrix.0));
        let alike = matrices.chunk_by(|one, other| format(one) == format(other));
        let parts = alike.map(|matrices| {
            let rows = matrices.iter().map(|matrix| weights.quantised_rows(matrix));
            match rows.collect::<Result<Option<Vec<_>>, _>>()? {
                Some(rows) => {
                    let columns = matrices[0].1.last().copied().unwrap_or(1);
                    self.quantised(&rows, columns, device)
                }
                None => {
                    let dtype = weights.dtype(&matrices[0].0).unwrap_or(DType::F32);
                    Ok(Matrix::Dense(weights.stacked(matrices, dtype, device)?))
                }
            }
        });
        let mut parts = parts.collect::<Result<Vec<Matrix>, ModelError>>()?;
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        Ok(Matrix::Mixed(
            parts.into_iter().map(|part| Linear::of(part, None)).collect(),
        ))
    }
}
