//! [`MixtureShapes`]: the names and shapes of a layer's router, experts and shared expert, the experts each with tensors of its
//! own or all in one tensor.

use crate::load::config::ModelConfig;
use crate::load::config::experts::{BLOCK, ExpertStorage, Experts};
use crate::load::shapes::matrices::{GatedShapes, MatrixShape, NamedShape};
use crate::load::weights::Weights;

/// The tensors of a feed-forward part with experts.
pub(crate) struct MixtureShapes {
    pub(crate) router: MatrixShape,
    /// Bias added to each expert's share when experts are chosen, not to the share itself: `[experts]`.
    pub(crate) bias: Option<NamedShape>,
    pub(crate) experts: ExpertShapes,
    /// The shared expert: a feed-forward part that all tokens pass beside the experts that they are sent to.
    pub(crate) shared: Option<SharedShapes>,
    /// Norms and scales of experts that stand beside a dense part and see other vectors than that part.
    pub(crate) beside: Option<BesideShapes>,
}

/// The tensors of the shared expert, which all tokens pass.
pub(crate) struct SharedShapes {
    pub(crate) gated: GatedShapes,
    /// Matrix from a token's vector to one number, the gate of the shared expert.
    pub(crate) gate: Option<MatrixShape>,
}

/// The tensors of experts that stand beside a dense part and see other vectors than that.
pub(crate) struct BesideShapes {
    /// The factors of the router's input, `[hidden_size]`.
    pub(crate) router_scale: NamedShape,
    /// A factor of each expert's share, `[experts]`.
    pub(crate) expert_scales: NamedShape,
    /// The norm before the experts.
    pub(crate) before: NamedShape,
    /// The norm behind the experts.
    pub(crate) behind: NamedShape,
    /// The norm behind the dense part.
    pub(crate) behind_dense: NamedShape,
}

impl BesideShapes {
    /// The norms before and behind the experts, and behind the dense part.
    pub(crate) fn norms(&self) -> [&NamedShape; 3] {
        [&self.before, &self.behind, &self.behind_dense]
    }
}

impl MixtureShapes {
    /// All matrices that are tensors of their own.
    pub(crate) fn matrices(&self) -> impl Iterator<Item = &MatrixShape> {
        let shared = self.shared.iter();
        let shared = shared.flat_map(|shared| shared.gated.matrices().chain(&shared.gate));
        let experts = self.experts.separate().iter().flat_map(GatedShapes::matrices);
        std::iter::once(&self.router).chain(shared).chain(experts)
    }
}

/// The tensors of a layer's experts.
pub(crate) enum ExpertShapes {
    /// Tensors of each expert.
    Separate(Vec<GatedShapes>),
    /// Tensors that hold all experts.
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
    /// The name, without `_blocks`, `_scales` and `_bias`.
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
            ExpertStorage::Rows => {
                StackedTensors::Rows((self.name.clone(), vec![self.experts, self.outputs, self.inputs]))
            }
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

impl ModelConfig {
    /// Returns this configuration with the experts' storage as `weights` has it, in one tensor or each in its own: config.json
    /// does not say.
    pub(crate) fn with_experts_as_in(mut self, weights: &Weights) -> Self {
        let first = (0..self.layers).find(|layer| self.experts_of(*layer).is_some());
        let has_stacked = |layer: usize| {
            let name = format!("model.layers.{layer}.mlp.experts.gate_up_proj");
            weights.dtype(&name).is_some()
        };
        let is_stacked = first.is_some_and(has_stacked);
        let separate = |experts: &&mut Experts| is_stacked && experts.storage == ExpertStorage::Separate;
        if let Some(experts) = self.experts.as_mut().filter(separate) {
            experts.storage = ExpertStorage::Rows;
        }
        self
    }
}

impl ExpertShapes {
    /// Returns the tensors of all `experts` together, for vectors of `hidden_size` elements: the one of gate and up projections
    /// and the one of down projections, by these names.
    pub(crate) fn stacked([gate_up, down]: [String; 2], experts: &Experts, hidden_size: usize) -> Self {
        let wide = experts.intermediate_size;
        let shape = |name: String, outputs: usize, inputs: usize, alternates: bool| StackedShape {
            name,
            experts: experts.count,
            outputs,
            inputs,
            storage: experts.storage,
            alternates,
        };
        let alternates = experts.storage != ExpertStorage::Rows;
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
