//! [`tensors`]: the tensors of a random checkpoint, and the distributions of their elements.

use std::iter;

use crate::load::config::ModelConfig;
use crate::load::shapes::experts::{StackedShape, StackedTensors};
use crate::load::shapes::matrices::NamedShape;
use crate::load::shapes::tensors::LayerShapes;

/// A tensor of random elements.
pub(crate) struct RandomTensor {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) elements: RandomElements,
}

/// Distribution of the elements of a [`RandomTensor`].
#[derive(Clone, Copy)]
pub(crate) enum RandomElements {
    /// Floats, uniform from `center - scale` to `center + scale`.
    Floats { center: f32, scale: f32 },
    /// Bytes, uniform from `low` to `high`.
    Bytes { low: u8, high: u8 },
}

impl RandomTensor {
    /// Number of elements.
    pub(crate) fn count(&self) -> usize {
        self.shape.iter().product()
    }
}

/// All tensors of a model: matrices and biases in the order of the layers, then norms.
pub(crate) fn tensors(config: &ModelConfig) -> Vec<RandomTensor> {
    let mut tensors = Vec::new();
    let mut push = |(name, shape): NamedShape, center: f32, scale: f32| {
        let elements = RandomElements::Floats { center, scale };
        tensors.push(RandomTensor { name, shape, elements });
    };
    let layers: Vec<LayerShapes> = (0..config.layers).map(|layer| config.layer(layer)).collect();
    let (embeddings, output) = (config.embeddings(), config.untied_output());
    let matrices = iter::once(&embeddings)
        .chain(layers.iter().flat_map(LayerShapes::matrices))
        .chain(&output);
    for matrix in matrices {
        // Products keep the size of their input, so that every layer counts.
        push(matrix.weight(), 0.0, (3.0 / matrix.inputs as f32).sqrt());
        if let Some(bias) = matrix.bias() {
            push(bias, 0.0, 0.5);
        }
    }
    for (taps, bias) in layers.iter().filter_map(LayerShapes::convolution) {
        push(taps.clone(), 0.0, (3.0 / taps.1[2] as f32).sqrt());
        if let Some(bias) = bias {
            push(bias.clone(), 0.0, 0.5);
        }
    }
    for bias in layers.iter().filter_map(LayerShapes::expert_bias) {
        push(bias.clone(), 0.0, 0.5);
    }
    for factors in layers.iter().flat_map(LayerShapes::expert_factors) {
        push(factors.clone(), 1.0, 0.5);
    }
    for sinks in layers.iter().filter_map(LayerShapes::sinks) {
        push(sinks.clone(), 0.0, 2.0);
    }
    let center = if config.family.norm_weights_are_offsets() {
        0.0
    } else {
        1.0
    };
    for (of_heads, norm) in layers.iter().filter_map(LayerShapes::recurrence) {
        for (index, numbers) in of_heads.iter().enumerate() {
            let center = if index == 0 { -1.0 } else { 0.0 };
            push(numbers.clone(), center, 1.0);
        }
        push(norm.clone(), 1.0, 0.25);
    }
    if let Some(shapes) = config.layer_embeddings() {
        for matrix in [&shapes.table, &shapes.projection] {
            push(matrix.weight(), 0.0, (3.0 / matrix.inputs as f32).sqrt());
        }
        push(shapes.norm, 1.0, 0.25);
    }
    for factor in layers.iter().filter_map(|layer| layer.factor.as_ref()) {
        push(factor.clone(), 0.75, 0.25);
    }
    let norms = layers.iter().flat_map(LayerShapes::norms);
    for norm in norms.chain([config.final_norm()]) {
        push(norm, center, 0.25);
    }
    for stacked in layers.iter().filter_map(LayerShapes::stacked_experts) {
        tensors.extend(stacked.matrices().into_iter().flat_map(stacked_tensors));
    }
    tensors
}

/// The tensors that hold a matrix of all experts.
fn stacked_tensors(matrix: &StackedShape) -> Vec<RandomTensor> {
    /// Root of the mean square of all 4-bit floats.
    const MXFP4_SIZE: f32 = 2.93;
    let tensor = |(name, shape): NamedShape, elements| RandomTensor { name, shape, elements };
    let scale = (3.0 / matrix.inputs as f32).sqrt();
    let mut tensors = match matrix.weights() {
        StackedTensors::Transposed(whole) | StackedTensors::Rows(whole) => {
            vec![tensor(whole, RandomElements::Floats { center: 0.0, scale })]
        }
        StackedTensors::Mxfp4 { blocks, scales } => {
            let exponent = -(MXFP4_SIZE * (matrix.inputs as f32).sqrt()).log2().round();
            let middle = (127.0 + exponent) as u8;
            vec![
                tensor(blocks, RandomElements::Bytes { low: 0, high: u8::MAX }),
                tensor(
                    scales,
                    RandomElements::Bytes {
                        low: middle - 1,
                        high: middle + 1,
                    },
                ),
            ]
        }
    };
    let bias = RandomElements::Floats {
        center: 0.0,
        scale: 0.5,
    };
    tensors.extend(matrix.bias().map(|shape| tensor(shape, bias)));
    tensors
}
