//! [`Kernels`]: launches of the kernels in `cuda/`, on a GPU or, in tests, on their emulation.

use std::ffi::c_void;

use candle_core::{CpuStorage, DType, Device, Error, Result, Storage, Tensor};

use crate::load::gguf::BlockFormat;
#[cfg(test)]
use crate::network::gpu::emulation::Emulation;
#[cfg(feature = "cuda")]
use crate::network::gpu::launch::{CudaFunctionOf, CudaKernels, Graph, PinnedWords};

/// Largest number of tokens of a launch's argument [`Argument::Tokens`], `MAX_TOKENS` of the kernels.
pub(crate) const MAX_TOKENS: usize = 8;
/// The most arguments of a kernel.
const MAX_ARGUMENTS: usize = 17;

/// An argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Argument {
    Pointer(u64),
    Int(i32),
    Float(f32),
    Double(f64),
    Tokens([u32; MAX_TOKENS]),
}

impl Argument {
    /// A size as the kernels have them.
    pub(crate) fn size(size: usize) -> Self {
        Self::Int(i32::try_from(size).unwrap_or(i32::MAX))
    }
}

/// A kernel, found by its name.
#[derive(Debug, Clone)]
pub(crate) enum Kernel {
    #[cfg(feature = "cuda")]
    Cuda(CudaFunctionOf),
    #[cfg(test)]
    Emulated(std::sync::Arc<Emulation>, std::ffi::CString),
}

/// The kernels for one number format of the weights, on one device.
#[derive(Debug, Clone)]
pub(crate) enum Kernels {
    #[cfg(feature = "cuda")]
    Cuda(CudaKernels),
    #[cfg(test)]
    Emulated(std::sync::Arc<Emulation>),
}

/// Launches that were recorded, to be made all at once.
#[derive(Debug)]
pub(crate) struct Recording(#[cfg(feature = "cuda")] Graph);

impl Kernels {
    /// The kernels of `device` for weights kept as `dtype`; `None` where the device is not a GPU.
    pub(crate) fn of(device: &Device, dtype: DType) -> Result<Option<Self>> {
        match device {
            #[cfg(feature = "cuda")]
            Device::Cuda(device) => CudaKernels::load(device, dtype).map(|kernels| Some(Self::Cuda(kernels))),
            _ => {
                let _ = dtype;
                Ok(None)
            }
        }
    }

    /// The kernels of the same device for matrices in the quantised `format`.
    pub(crate) fn of_format(&self, format: BlockFormat) -> Result<Self> {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(kernels) => kernels.of_format(format).map(Self::Cuda),
            #[cfg(test)]
            Self::Emulated(emulation) => Ok(Self::Emulated(emulation.of_format(format))),
        }
    }

    /// The kernel called `name`.
    pub(crate) fn find(&self, name: &str) -> Result<Kernel> {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(kernels) => kernels.find(name).map(Kernel::Cuda),
            #[cfg(test)]
            Self::Emulated(emulation) => {
                let name = std::ffi::CString::new(name).map_err(Error::wrap)?;
                Ok(Kernel::Emulated(std::sync::Arc::clone(emulation), name))
            }
        }
    }

    /// Launches `kernel` with a grid of so many blocks of `block` threads.
    ///
    /// Pointers among the arguments are of memory that stays until the launch is done, and as large as the kernel wants.
    pub(crate) fn launch(&self, kernel: &Kernel, grid: [u32; 3], block: u32, arguments: &[Argument]) -> Result<()> {
        let mut pointers = [std::ptr::null_mut::<c_void>(); MAX_ARGUMENTS];
        for (pointer, argument) in pointers.iter_mut().zip(arguments) {
            *pointer = match argument {
                Argument::Pointer(value) => (&raw const *value).cast_mut().cast(),
                Argument::Int(value) => (&raw const *value).cast_mut().cast(),
                Argument::Float(value) => (&raw const *value).cast_mut().cast(),
                Argument::Double(value) => (&raw const *value).cast_mut().cast(),
                Argument::Tokens(value) => (&raw const *value).cast_mut().cast(),
            };
        }
        match (self, kernel) {
            #[cfg(feature = "cuda")]
            (Self::Cuda(kernels), Kernel::Cuda(function)) => kernels.launch(function, grid, block, &mut pointers),
            #[cfg(test)]
            (Self::Emulated(_), Kernel::Emulated(emulation, name)) => {
                emulation.launch(name, grid, block, &mut pointers)
            }
            #[allow(unreachable_patterns)]
            _ => Err(Error::Msg("a kernel of another device".to_owned())),
        }
    }

    /// Makes this thread one that may launch.
    pub(crate) fn enter(&self) -> Result<()> {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(kernels) => kernels.enter(),
            #[cfg(test)]
            Self::Emulated(_) => Ok(()),
        }
    }

    /// Records the launches that `launches` makes, without making them; `None` where the device cannot.
    pub(crate) fn record(&self, launches: impl FnOnce() -> Result<()>) -> Result<Option<Recording>> {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(kernels) => Ok(kernels.record(launches)?.map(Recording)),
            #[cfg(test)]
            Self::Emulated(_) => {
                drop(launches);
                Ok(None)
            }
        }
    }

    /// Makes the launches of a recording.
    #[cfg(feature = "cuda")]
    pub(crate) fn replay(recording: &Recording) -> Result<()> {
        recording.0.launch()
    }

    /// Does nothing: the emulation has no recordings.
    #[cfg(not(feature = "cuda"))]
    pub(crate) fn replay(_: &Recording) -> Result<()> {
        Ok(())
    }

    /// Waits for all that was launched.
    pub(crate) fn wait(&self) -> Result<()> {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(kernels) => kernels.wait(),
            #[cfg(test)]
            Self::Emulated(emulation) => {
                emulation.wait();
                Ok(())
            }
        }
    }

    /// Whether something that was launched is not done yet.
    pub(crate) fn is_busy(&self) -> bool {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(kernels) => kernels.is_busy(),
            #[cfg(test)]
            Self::Emulated(_) => false,
        }
    }

    /// Number of multiprocessors.
    pub(crate) fn multiprocessors(&self) -> usize {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(kernels) => kernels.multiprocessors(),
            #[cfg(test)]
            Self::Emulated(_) => 6,
        }
    }

    /// Memory of so many words that both the host and the kernels read and write.
    pub(crate) fn host_words(&self, len: usize) -> Result<HostWords> {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda(kernels) => kernels.pinned(len).map(HostWords::Pinned),
            #[cfg(test)]
            Self::Emulated(_) => Ok(HostWords::Plain(vec![0; len])),
        }
    }
}

/// Memory that both the host and the kernels read and write.
#[derive(Debug)]
pub(crate) enum HostWords {
    #[cfg(feature = "cuda")]
    Pinned(PinnedWords),
    #[cfg(test)]
    Plain(Vec<u32>),
}

impl HostWords {
    /// The words. No kernel that was launched may still use them.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u32] {
        match self {
            #[cfg(feature = "cuda")]
            Self::Pinned(words) => words.as_mut_slice(),
            #[cfg(test)]
            Self::Plain(words) => words,
        }
    }

    /// Returns the address at which the kernels find the words.
    pub(crate) fn pointer(&mut self) -> u64 {
        self.as_mut_slice().as_mut_ptr() as u64
    }
}

/// The address of a contiguous tensor's first element, on its device. The tensor must stay where it is used.
pub(crate) fn address(tensor: &Tensor) -> Result<u64> {
    let (storage, layout) = tensor.storage_and_layout();
    let Some((start, _)) = layout.contiguous_offsets() else {
        return Err(Error::Msg("expected a contiguous tensor".to_owned()));
    };
    let base = match &*storage {
        Storage::Cpu(CpuStorage::F32(data)) => data.as_ptr() as u64,
        Storage::Cpu(CpuStorage::BF16(data)) => data.as_ptr() as u64,
        Storage::Cpu(CpuStorage::F16(data)) => data.as_ptr() as u64,
        Storage::Cpu(CpuStorage::U32(data)) => data.as_ptr() as u64,
        #[cfg(feature = "cuda")]
        Storage::Cuda(storage) => crate::network::gpu::launch::address(storage)?,
        _ => return Err(Error::Msg("expected floats or 32-bit words".to_owned())),
    };
    Ok(base + (start * tensor.dtype().size_in_bytes()) as u64)
}
