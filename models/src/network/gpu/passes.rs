//! [`GpuPasses`]: forward passes over few tokens and choices of tokens on a GPU, by kernels of our own.

use candle_core::{DType, Device};

use crate::error::ModelError;
use crate::load::config::ModelConfig;
use crate::network::gpu::choice::Chooser;
use crate::network::gpu::kernels::Kernels;
use crate::network::gpu::short_pass::ShortPass;
use crate::network::layers::Network;
use crate::network::matrices::format::MatrixFormat;
use crate::network::rope::Rope;

/// A network's passes over few tokens and choices of tokens, by kernels.
#[derive(Debug)]
pub(crate) struct GpuPasses {
    pub(crate) kernels: Kernels,
    /// `None` where the kernels do not fit the model's shape.
    pub(crate) short: Option<ShortPass>,
    pub(crate) chooser: Chooser,
    /// Whether each kernel has been launched once.
    pub(crate) warm: bool,
}

impl GpuPasses {
    /// The passes of a network with matrices in `format` on `device`, of the model called `name`; `None` where that is no GPU.
    pub(crate) fn of(
        name: &str,
        network: (&Network, &ModelConfig, &Rope),
        format: &MatrixFormat,
        device: &Device,
    ) -> Result<Option<Self>, ModelError> {
        let dtype = format.dtype();
        let kernels = match format {
            MatrixFormat::Packed(kernels, _) => Some(kernels.clone()),
            MatrixFormat::Converted(_) | MatrixFormat::AsStored => {
                Kernels::of(device, dtype).map_err(|error| ModelError::compute(name, "loading kernels", &error))?
            }
        };
        let passes = kernels.map(|kernels| Self::new(kernels, name, network, (device, dtype)));
        passes.transpose()
    }

    /// The passes of a network by `kernels`, with keys and values in a format on a device.
    pub(crate) fn new(
        kernels: Kernels,
        name: &str,
        (network, config, rope): (&Network, &ModelConfig, &Rope),
        place: (&Device, DType),
    ) -> Result<Self, ModelError> {
        let failed = |error| ModelError::compute(name, "preparing passes over few tokens", &error);
        Ok(Self {
            short: ShortPass::new(&kernels, network, config, rope, place).map_err(failed)?,
            chooser: Chooser::new(&kernels, config.vocab_size, place.0).map_err(failed)?,
            kernels,
            warm: false,
        })
    }
}
