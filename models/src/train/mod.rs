//! Training: gradients of a network's weights, and the optimiser that follows them.
//!
//! 1. [`TrainableModel::load`] reads a model's weights as 32-bit floats; networks that cannot be trained are refused.
//! 2. [`TrainableModel::gradients`] says how a [`TokenLoss`] over [`TokenSequence`]s changes with each weight.
//! 3. [`AdamW::step`] changes the weights; its moments are written beside them, so that a run that was killed goes on as if it had not been.
//! 4. [`TrainableModel::replies`] samples replies with the present weights, many side by side, and [`TrainableModel::write`] writes a
//!    directory in Hugging Face layout.
//!
//! | module | contents |
//! |---|---|
//! | `trainable_model` | the weights by name, read and written |
//! | `layer_pass` | one layer over the rows of a batch, of operations that have a derivative |
//! | `batch_attention` | attention in a batch of sequences, which may begin with the same tokens |
//! | `operations`, `causal_softmax` | norms, softmax and rotations that have a derivative |
//! | `gradients` | the passes forward and back, layer by layer |
//! | `sampled_replies` | replies of the model as it is, written side by side |
//! | `loss` | what is minimised: likelihood of given tokens, or GRPO's clipped objective |
//! | `adamw`, `learning_rate` | the optimiser and its schedule |
//! | `checkpoint` | files and directories that are there whole or not at all |

pub(crate) mod adamw;
mod batch_attention;
mod causal_softmax;
pub(crate) mod checkpoint;
pub(crate) mod gradients;
mod layer_pass;
pub(crate) mod learning_rate;
pub(crate) mod loss;
mod operations;
pub(crate) mod sampled_replies;
#[cfg(test)]
mod tests;
pub(crate) mod trainable_model;
