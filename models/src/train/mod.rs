//! Training: gradients of a network's weights, and the optimiser that follows them.
//!
//! 1. [`TrainableModel::load`] reads a model's weights as 32-bit floats; networks that cannot be trained are refused.
//! 2. [`TrainableModel::gradients`] says how a [`TokenLoss`] over [`TokenSequence`]s changes with each weight.
//! 3. [`AdamW::step`] changes the weights; its moments are written beside them, so that a run that was killed goes on as if it had not been.
//! 4. [`TrainableModel::transformers`] makes networks with the present weights, for the decode loop, and [`TrainableModel::write`] writes a
//!    directory in Hugging Face layout.
//!
//! | module | contents |
//! |---|---|
//! | `trainable_model` | the weights by name, read and written |
//! | `layer_pass` | one layer over a batch, of operations that have a derivative |
//! | `operations`, `causal_softmax` | norms, softmax and rotations that have a derivative |
//! | `gradients` | the passes forward and back, layer by layer |
//! | `loss` | what is minimised: likelihood of given tokens, or GRPO's clipped objective |
//! | `adamw`, `learning_rate` | the optimiser and its schedule |
//! | `checkpoint` | files and directories that are there whole or not at all |

pub(crate) mod adamw;
mod causal_softmax;
pub(crate) mod checkpoint;
pub(crate) mod gradients;
mod layer_pass;
pub(crate) mod learning_rate;
pub(crate) mod loss;
mod operations;
#[cfg(test)]
mod tests;
pub(crate) mod trainable_model;
