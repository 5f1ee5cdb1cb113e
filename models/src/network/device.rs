//! [`ModelDevice`]: where a model is computed.

use std::fmt;
use std::str::FromStr;

use candle_core::Device;

use crate::error::ModelError;

/// Where a model is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelDevice {
    /// The CPU.
    #[default]
    Cpu,
    /// The NVIDIA GPU of that number; needs the cargo feature `cuda`.
    Cuda(usize),
}

impl FromStr for ModelDevice {
    type Err = ModelError;

    /// Reads `cpu`, `cuda` or `cuda:N`.
    fn from_str(text: &str) -> Result<Self, ModelError> {
        let number = match text {
            "cpu" => return Ok(Self::Cpu),
            "cuda" => Some(0),
            _ => text.strip_prefix("cuda:").and_then(|number| number.parse().ok()),
        };
        number.map(Self::Cuda).ok_or_else(|| ModelError::Device {
            device: text.to_owned(),
            message: "expected cpu, cuda or cuda:N".to_owned(),
        })
    }
}

impl fmt::Display for ModelDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

impl ModelDevice {
    /// The device, ready for tensors.
    pub(crate) fn open(self) -> Result<Device, ModelError> {
        match self {
            Self::Cpu => Ok(Device::Cpu),
            #[cfg(feature = "cuda")]
            Self::Cuda(number) => super::cuda::open(number).map_err(|message| ModelError::Device {
                device: self.to_string(),
                message,
            }),
            #[cfg(not(feature = "cuda"))]
            Self::Cuda(_) => Err(ModelError::Device {
                device: self.to_string(),
                message:
                    "this build has no GPU support; scripts/build-cuda.sh in a clone of https://github.com/maskwright/maskwright makes one that has, also on a \
                          machine without a GPU or the CUDA toolkit"
                        .to_owned(),
            }),
        }
    }
}
