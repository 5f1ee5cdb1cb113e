//! [`StackedReader`]: reads the matrices of experts that a checkpoint keeps in one tensor.

use candle_core::{DType, Device, Result, Tensor};

use crate::error::ModelError;
use crate::load::shapes::experts::{StackedShape, StackedShapes, StackedTensors};
use crate::load::weights::Weights;
use crate::network::matrices::linear::{Linear, Matrix};
use crate::network::matrices::mxfp4::{Mxfp4, Mxfp4Tables, largest_scale};

/// Reads the matrices of all experts of one layer.
pub(crate) struct StackedReader<'a> {
    pub(crate) weights: &'a Weights,
    /// The format that matrices are kept in which are not in MXFP4.
    pub(crate) dtype: DType,
    /// The format of activations and biases.
    pub(crate) activations: DType,
    pub(crate) device: &'a Device,
}

impl StackedReader<'_> {
    /// Gate and up projection in one matrix, and the projection down, of each expert of a layer.
    pub(crate) fn read(&self, shapes: &StackedShapes) -> std::result::Result<Vec<[Linear; 2]>, ModelError> {
        let tables = Mxfp4Tables::new(self.activations, self.device).map_err(|error| self.failed(&error))?;
        let expert = |expert| {
            Ok([
                self.linear(&shapes.gate_up, expert, &tables)?,
                self.linear(&shapes.down, expert, &tables)?,
            ])
        };
        (0..shapes.count).map(expert).collect()
    }

    /// Returns the matrix of the expert of that number, gates before the rows that they gate.
    fn linear(
        &self,
        shape: &StackedShape,
        expert: usize,
        tables: &Mxfp4Tables,
    ) -> std::result::Result<Linear, ModelError> {
        let failed = |error| self.failed(&error);
        let matrix = match shape.weights() {
            StackedTensors::Rows(whole) => {
                let rows = self.weights.item(&whole, expert, self.dtype)?;
                Matrix::Dense(self.placed(rows, shape.alternates).map_err(failed)?)
            }
            StackedTensors::Transposed(whole) => {
                let transposed = self.weights.item(&whole, expert, self.dtype)?;
                let rows = transposed.t().and_then(|rows| self.placed(rows, shape.alternates));
                Matrix::Dense(rows.map_err(failed)?)
            }
            StackedTensors::Mxfp4 { blocks, scales } => {
                let bytes = |whole| {
                    let bytes = self.weights.item_of_bytes(whole, expert)?;
                    Ok::<_, ModelError>(in_halves(bytes, shape.outputs, shape.alternates))
                };
                let blocks = bytes(&blocks)?;
                let largest = largest_scale(self.activations);
                let found = self.weights.item_of_bytes(&scales, expert)?.iter().max();
                if let Some(found) = found.filter(|found| **found > largest) {
                    return Err(ModelError::Unsupported {
                        file: self.weights.file_of(&scales.0),
                        what: format!("a scale of {found} in tensor `{}`", scales.0),
                        hint: format!(
                            "in {:?} up to {largest}; larger ones give numbers that are not finite",
                            self.activations
                        ),
                    });
                }
                let matrix = Mxfp4::new(shape.outputs, blocks, bytes(&scales)?, tables);
                Matrix::Mxfp4(matrix.map_err(failed)?)
            }
        };
        let Some(bias) = shape.bias() else {
            return Ok(Linear::of(matrix, None));
        };
        let bias = self.weights.item(&bias, expert, self.activations)?;
        let bias = self.placed(bias, shape.alternates).map_err(failed)?;
        Ok(Linear::of(matrix, Some(bias)))
    }

    /// Rows on the device; where rows of two halves alternate, those of the first come first.
    fn placed(&self, rows: Tensor, alternates: bool) -> Result<Tensor> {
        let rows = match alternates {
            true => {
                let mut pairs = rows.dims().to_vec();
                pairs[0] /= 2;
                pairs.insert(1, 2);
                let halves = rows.contiguous()?.reshape(pairs)?.transpose(0, 1)?.contiguous()?;
                halves.reshape(rows.shape())?
            }
            false => rows.contiguous()?,
        };
        rows.to_device(self.device)
    }

    /// The error of a device that could not prepare weights.
    fn failed(&self, error: &candle_core::Error) -> ModelError {
        ModelError::Device {
            device: format!("{:?}", self.device.location()),
            message: format!("preparing weights failed: {error}"),
        }
    }
}

/// A copy of `rows` rows; where rows of two halves alternate, those of the first come first.
fn in_halves(bytes: &[u8], rows: usize, alternates: bool) -> Vec<u8> {
    if !alternates {
        return bytes.to_vec();
    }
    let mut halves = Vec::with_capacity(bytes.len());
    for half in 0..2 {
        let rows = bytes.chunks_exact(bytes.len() / rows).skip(half).step_by(2);
        rows.for_each(|row| halves.extend_from_slice(row));
    }
    halves
}
