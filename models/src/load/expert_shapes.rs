//! [`ExpertShapes`]: the names and shapes of a layer's experts, each with tensors of its own or all in one tensor.

use crate::load::config::experts::{BLOCK, ExpertStorage, Experts};
use crate::load::matrix_shapes::{GatedShapes, MatrixShape, NamedShape};

/// The tensors of a layer's experts.
pub(crate) enum ExpertShapes {
    /// Those of each expert.
    Separate(Vec<GatedShapes>),
    /// Those that hold all experts.
    Stacked(StackedShapes),
}

/// The tensors that hold the matrices of all experts.
pub(crate) struct StackedShapes {
    /// Gate and up projection in one matrix for each expert.
    pub(crate) gate_up: StackedShape,
    pub(crate) down: StackedShape,
    /// Number of experts.
    pub(crate) count: usize,
}

/// Matrices of all experts, most with a bias each, in one tensor or in one of blocks and one of scales.
pub(crate) struct StackedShape {
    /// The name, without `.weight`, `_blocks`, `_scales` and `_bias`.
    name: String,
    experts: usize,
    pub(crate) outputs: usize,
    pub(crate) inputs: usize,
    storage: ExpertStorage,
    /// Whether outputs of two projections alternate.
    pub(crate) alternates: bool,
}

/// The tensors that hold the weights of a [`StackedShape`].
pub(crate) enum StackedTensors {
    /// `[experts, inputs, outputs]`.
    Transposed(NamedShape),
    /// `[experts, outputs, inputs]`.
    Rows(NamedShape),
    Mxfp4 {
        /// Two weights to a byte: `[experts, outputs, inputs / 32, 16]`.
        blocks: NamedShape,
        /// `[experts, outputs, inputs / 32]`.
        scales: NamedShape,
    },
}

impl StackedShape {
    /// The tensors that hold the weights.
    pub(crate) fn weights(&self) -> StackedTensors {
        match self.storage {
            ExpertStorage::Mxfp4 => {
                let blocks = vec![self.experts, self.outputs, self.inputs / BLOCK];
                StackedTensors::Mxfp4 {
                    blocks: (format!("{}_blocks", self.name), [&*blocks, &[BLOCK / 2]].concat()),
                    scales: (format!("{}_scales", self.name), blocks),
                }
            }
            ExpertStorage::Rows => StackedTensors::Rows((
                format!("{}.weight", self.name),
                vec![self.experts, self.outputs, self.inputs],
            )),
            ExpertStorage::Transposed | ExpertStorage::Separate => {
                StackedTensors::Transposed((self.name.clone(), vec![self.experts, self.inputs, self.outputs]))
            }
        }
    }

    /// The biases, `[experts, outputs]`, where there are any.
    pub(crate) fn bias(&self) -> Option<NamedShape> {
        let bias = || (format!("{}_bias", self.name), vec![self.experts, self.outputs]);
        (self.storage != ExpertStorage::Rows).then(bias)
    }
}

impl StackedShapes {
    /// The matrices of both parts of an expert.
    pub(crate) fn matrices(&self) -> [&StackedShape; 2] {
        [&self.gate_up, &self.down]
    }
}

impl ExpertShapes {
    /// Tensors of all `experts` together, whose names begin with `within`, for vectors of `hidden_size` elements.
    pub(crate) fn stacked(within: &str, experts: &Experts, hidden_size: usize) -> Self {
        let wide = experts.intermediate_size;
        let shape = |name: &str, outputs: usize, inputs: usize, alternates: bool| StackedShape {
            name: format!("{within}.{name}"),
            experts: experts.count,
            outputs,
            inputs,
            storage: experts.storage,
            alternates,
        };
        let (gate_up, down, alternates) = match experts.storage {
            ExpertStorage::Rows => ("input_linear", "output_linear", false),
            _ => ("experts.gate_up_proj", "experts.down_proj", true),
        };
        Self::Stacked(StackedShapes {
            gate_up: shape(gate_up, 2 * wide, hidden_size, alternates),
            down: shape(down, hidden_size, wide, false),
            count: experts.count,
        })
    }

    /// Number of weights of one expert: those kept in the model's format, and those in MXFP4.
    pub(crate) fn of_one(&self) -> (u64, u64) {
        match self {
            Self::Separate(experts) => {
                let one = experts.iter().take(1).flat_map(GatedShapes::matrices);
                (one.map(MatrixShape::elements).sum(), 0)
            }
            Self::Stacked(stacked) => stacked.matrices().into_iter().fold((0, 0), |(own, packed), matrix| {
                let weights = (matrix.outputs * matrix.inputs) as u64;
                let bias = matrix.bias().map_or(0, |_| matrix.outputs as u64);
                match matrix.weights() {
                    StackedTensors::Transposed(_) | StackedTensors::Rows(_) => (own + weights + bias, packed),
                    StackedTensors::Mxfp4 { .. } => (own + bias, packed + weights),
                }
            }),
        }
    }

    /// Number of experts.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Separate(experts) => experts.len(),
            Self::Stacked(stacked) => stacked.count,
        }
    }

    /// The matrices of experts that have tensors of their own.
    pub(crate) fn separate(&self) -> &[GatedShapes] {
        match self {
            Self::Separate(experts) => experts,
            Self::Stacked(_) => &[],
        }
    }
}
