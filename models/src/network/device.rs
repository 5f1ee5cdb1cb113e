//! [`ModelDevice`]: where a model is computed.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use candle_core::{DType, Device};
use rayon::prelude::*;

use crate::error::ModelError;
use crate::load::config::ModelConfig;

/// Bytes that are read to measure how fast the CPU's memory is.
const CPU_BYTES: usize = 512 << 20;
/// Times that memory is read; the fastest counts.
const READINGS: usize = 5;

/// A GPU and its state, by which the record of a run identifies it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct GpuSummary {
    /// The product's name.
    pub name: String,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// State of the GPU as `nvidia-smi` reports it when the model is loaded: driver, clocks (MHz) and power limit (W); empty
    /// where there is no such program.
    pub state: std::collections::BTreeMap<String, String>,
}

/// Device that computes a model.
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
            Self::Cuda(number) => super::gpu::device::open(number).map_err(|message| self.failed(message)),
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

    /// Errs where the model does not fit a GPU's free memory, before anything is loaded: with weights kept as `dtype`, or as they are
    /// in a GGUF file of `packed` bytes.
    #[cfg(feature = "cuda")]
    pub(crate) fn check_memory(
        self,
        device: &Device,
        config: &ModelConfig,
        dtype: DType,
        packed: Option<u64>,
    ) -> Result<(), ModelError> {
        super::gpu::device::check_memory(device, config, dtype, packed).map_err(|message| self.failed(message))
    }

    /// The CPU's memory is not checked.
    #[cfg(not(feature = "cuda"))]
    pub(crate) fn check_memory(self, _: &Device, _: &ModelConfig, _: DType, _: Option<u64>) -> Result<(), ModelError> {
        Ok(())
    }

    /// The GPU, where this is one that is there.
    pub(crate) fn describe(self) -> Option<GpuSummary> {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(number) => super::gpu::device::describe(number),
            _ => None,
        }
    }

    /// Measures the rate at which memory is read, in bytes per second: the limit of a model that reads every weight for each
    /// token.
    ///
    /// # Errors
    ///
    /// [`ModelError::Device`], where there is no such device, or too little memory to measure.
    pub fn read_bandwidth(self) -> Result<f64, ModelError> {
        match self.open()? {
            #[cfg(feature = "cuda")]
            Device::Cuda(device) => {
                super::gpu::launch::read_bandwidth(&device, READINGS).map_err(|error| self.failed(error.to_string()))
            }
            _ => {
                let data: Vec<u64> = (0..(CPU_BYTES / size_of::<u64>()) as u64).collect();
                let mut fastest = Duration::MAX;
                for _ in 0..READINGS {
                    let start = Instant::now();
                    let seen = data
                        .par_chunks(1 << 16)
                        .map(|part| part.iter().fold(0, |a, b| a | b))
                        .reduce(|| 0, |a, b| a | b);
                    std::hint::black_box(seen);
                    fastest = fastest.min(start.elapsed());
                }
                Ok(CPU_BYTES as f64 / fastest.as_secs_f64())
            }
        }
    }

    /// The error of this device.
    #[cfg(feature = "cuda")]
    fn failed(self, message: String) -> ModelError {
        ModelError::Device {
            device: self.to_string(),
            message,
        }
    }
}
