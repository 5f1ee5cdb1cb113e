//! NVIDIA GPUs, opened so that all work of a model is in one order.

use std::process::Command;

use candle_core::cuda_backend::cudarc::driver::{CudaContext, result, sys};
use candle_core::{CudaDevice, DType, Device, Error};

use crate::load::config::ModelConfig;
use crate::network::device::GpuSummary;
use crate::network::gpu::memory::MemoryNeeds;

/// Fields of a GPU's state that `nvidia-smi` is asked for.
const STATE: [&str; 6] = [
    "driver_version",
    "clocks.sm",
    "clocks.max.sm",
    "clocks.mem",
    "power.limit",
    "persistence_mode",
];

/// Opens GPU `number` with a stream of its own.
///
/// With `Device::new_cuda` each thread has a stream, and nothing orders what one thread launched before what another launches
/// next: what a pass on the main thread writes late into the key-value cache, it writes into the answer that a thread
/// of the pool has begun. On one stream everything is done in the order in which it was launched, by whatever thread.
///
/// Returns an error that says what is missing.
pub(crate) fn open(number: usize) -> Result<Device, String> {
    let device = Device::new_cuda_with_stream(number).map_err(|error| explain(&error))?;
    if let Device::Cuda(cuda) = &device {
        forgo_events(cuda);
        keep_freed_memory(cuda).map_err(|error| format!("its memory pool cannot be set up: {error}"))?;
    }
    Ok(device)
}

/// Switches off the events by which streams are ordered, since there is but one stream: they are over two thousand calls per
/// token of a model of 28 layers.
fn forgo_events(device: &CudaDevice) {
    // SAFETY: What is asked is that no memory be used on one stream while another may still write or free it. A model
    // has one stream, made with the device above. Its tensors are made, used and freed there, the logits that callers are given too: candle
    // runs every operation on the stream of the tensor's device. Nothing in this crate makes a second stream.
    #[allow(unsafe_code)]
    unsafe {
        device.disable_event_tracking();
    }
}

/// Has the driver keep memory that was freed for the next allocation. By default it returns the memory whenever the
/// program waits for the GPU, which is once per token.
fn keep_freed_memory(device: &CudaDevice) -> Result<(), result::DriverError> {
    let stream = device.cuda_stream();
    let context = stream.context();
    let pools = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
    if context.attribute(pools)? == 0 {
        return Ok(());
    }
    let mut threshold = u64::MAX;
    // SAFETY: the device is that of a live context; the attribute's value is a `cuuint64_t`, which the driver reads at once.
    #[allow(unsafe_code)]
    unsafe {
        let pool = result::device::get_default_mem_pool(context.cu_device())?;
        let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        result::mem_pool::set_attribute(pool, attribute, (&raw mut threshold).cast())
    }
}

/// Errs where the model does not fit the free memory, with weights as [`MemoryNeeds::of`] has them.
pub(crate) fn check_memory(
    device: &Device,
    config: &ModelConfig,
    dtype: DType,
    packed: Option<u64>,
) -> Result<(), String> {
    let Device::Cuda(device) = device else {
        return Ok(());
    };
    let (free, _) = device
        .cuda_stream()
        .context()
        .mem_get_info()
        .map_err(|error| format!("its free memory cannot be asked for: {error}"))?;
    MemoryNeeds::of(config, dtype, packed).check(free as u64)
}

/// GPU `number` and its state; `None` where there is none.
pub(crate) fn describe(number: usize) -> Option<GpuSummary> {
    let context = CudaContext::new(number).ok()?;
    let bytes = context.uuid().ok()?.bytes.map(|byte| byte as u8);
    let mut uuid = hex::encode(bytes);
    for dash in [20, 16, 12, 8] {
        uuid.insert(dash, '-');
    }
    let answer = Command::new("nvidia-smi")
        .arg(format!("--id=GPU-{uuid}"))
        .arg(format!("--query-gpu={}", STATE.join(",")))
        .arg("--format=csv,noheader")
        .output();
    let answer = answer.ok().filter(|answer| answer.status.success());
    let text = answer.map_or_else(String::new, |answer| {
        String::from_utf8_lossy(&answer.stdout).into_owned()
    });
    let values = text.trim().split(',').map(|value| value.trim().to_owned());
    Some(GpuSummary {
        name: context.name().ok()?,
        memory_mib: context.total_mem().ok()? as u64 >> 20,
        state: STATE
            .map(str::to_owned)
            .into_iter()
            .zip(values.filter(|value| !value.is_empty()))
            .collect(),
    })
}

/// Returns the driver's message from opening the GPU, with its usual meaning where that is known.
fn explain(error: &Error) -> String {
    // Where backtraces are asked for, candle puts one behind the message.
    let text = error.to_string();
    let said = text.lines().next().unwrap_or_default();
    let meaning = [
        ("CUDA_ERROR_NO_DEVICE", "the driver sees no GPU"),
        (
            "CUDA_ERROR_INVALID_DEVICE",
            "there is no GPU of that number; the first is cuda:0",
        ),
        (
            "CUDA_ERROR_STUB_LIBRARY",
            "the libcuda.so.1 found is a stand-in to link against, not the NVIDIA driver's",
        ),
        (
            "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
            "the NVIDIA driver's library and its kernel module differ",
        ),
        (
            "CUDA_ERROR_INSUFFICIENT_DRIVER",
            "the NVIDIA driver is older than the CUDA version of this build, 13.0",
        ),
    ];
    match meaning.iter().find(|(code, _)| said.contains(code)) {
        Some((_, meaning)) => format!("{meaning} ({said})"),
        None => said.to_owned(),
    }
}
