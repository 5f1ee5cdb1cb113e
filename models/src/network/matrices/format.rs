//! [`MatrixFormat`], and matrices in the formats that a GGUF file has them in.

use std::sync::Arc;

use candle_core::{DType, Device};

use crate::error::ModelError;
use crate::load::matrix_shapes::NamedShape;
use crate::load::weights::Weights;
use crate::network::matrices::linear::{Linear, Matrix};
use crate::network::matrices::quantised::QuantisedMatrix;

/// The format that matrices are kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatrixFormat {
    /// One for all.
    Converted(DType),
    /// That of the file, quantised ones included, on the CPU.
    AsStored,
}

impl MatrixFormat {
    /// The format as candle names it, that of activations where each matrix has its own.
    pub(crate) fn dtype(self) -> DType {
        match self {
            Self::Converted(dtype) => dtype,
            Self::AsStored => DType::F32,
        }
    }

    /// Matrices with as many columns, stacked into one.
    pub(crate) fn stacked(
        self,
        matrices: &[NamedShape],
        weights: &Weights,
        device: &Device,
    ) -> Result<Matrix, ModelError> {
        if let Self::Converted(dtype) = self {
            return Ok(Matrix::Dense(weights.stacked(matrices, dtype, device)?));
        }
        let format = |matrix: &NamedShape| weights.gguf().and_then(|tensors| tensors.format(&matrix.0));
        let alike = matrices.chunk_by(|one, other| format(one) == format(other));
        let parts = alike.map(|matrices| {
            let rows = matrices.iter().map(|matrix| weights.quantised_rows(matrix));
            match rows.collect::<Result<Option<Vec<_>>, _>>()? {
                Some(rows) => {
                    let columns = matrices[0].1.last().copied().unwrap_or(1);
                    Ok(Matrix::Quantised(Arc::new(QuantisedMatrix::new(&rows, columns))))
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
