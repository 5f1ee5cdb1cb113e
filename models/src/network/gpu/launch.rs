//! Launches on an NVIDIA GPU.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use candle_core::cuda_backend::cudarc::driver::{
    CudaContext, CudaFunction, CudaGraph, CudaModule, CudaStream, DevicePtr, result, sys,
};
use candle_core::cuda_backend::cudarc::nvrtc::Ptx;
use candle_core::{CudaDevice, CudaStorage, DType, Error, Result};
use half::{bf16, f16};

use crate::load::gguf::BlockFormat;

/// The PTX of the kernels, from `build.rs`.
const CHOOSE: &str = include_str!(concat!(env!("OUT_DIR"), "/choose.ptx"));
const SHORT_PASS_F32: &str = include_str!(concat!(env!("OUT_DIR"), "/short_pass_f32.ptx"));
const SHORT_PASS_BF16: &str = include_str!(concat!(env!("OUT_DIR"), "/short_pass_bf16.ptx"));
const SHORT_PASS_F16: &str = include_str!(concat!(env!("OUT_DIR"), "/short_pass_f16.ptx"));

/// The PTX of the kernels for matrices in the quantised format `format`; `None` where it is none.
fn quantised(format: BlockFormat) -> Option<&'static str> {
    macro_rules! ptx {
        ($name:literal) => {
            Some(include_str!(concat!(
                env!("OUT_DIR"),
                "/quantised_",
                $name,
                ".ptx"
            )))
        };
    }
    match format {
        BlockFormat::F32 | BlockFormat::F16 | BlockFormat::Bf16 => None,
        BlockFormat::Q4_0 => ptx!("q4_0"),
        BlockFormat::Q4_1 => ptx!("q4_1"),
        BlockFormat::Q5_0 => ptx!("q5_0"),
        BlockFormat::Q5_1 => ptx!("q5_1"),
        BlockFormat::Q8_0 => ptx!("q8_0"),
        BlockFormat::Q4K => ptx!("q4_k"),
        BlockFormat::Q5K => ptx!("q5_k"),
        BlockFormat::Q6K => ptx!("q6_k"),
    }
}

/// Modules of kernels, loaded into a GPU.
#[derive(Clone, Debug)]
pub(crate) struct CudaKernels {
    stream: Arc<CudaStream>,
    modules: Vec<Arc<CudaModule>>,
    /// The modules for quantised formats that have been loaded, which all copies of these kernels share.
    of_formats: Arc<Mutex<BTreeMap<BlockFormat, Arc<CudaModule>>>>,
}

/// A kernel of a loaded module.
pub(crate) type CudaFunctionOf = CudaFunction;

impl CudaKernels {
    /// Loads the kernels for weights kept as `dtype`; the driver compiles them, the first time.
    pub(crate) fn load(device: &CudaDevice, dtype: DType) -> Result<Self> {
        let stream = device.cuda_stream();
        let short_pass = match dtype {
            DType::F32 => SHORT_PASS_F32,
            DType::BF16 => SHORT_PASS_BF16,
            _ => SHORT_PASS_F16,
        };
        let load = |text: &str| stream.context().load_module(Ptx::from_src(text)).map_err(Error::wrap);
        let modules = vec![load(short_pass)?, load(CHOOSE)?];
        Ok(Self {
            stream,
            modules,
            of_formats: Arc::default(),
        })
    }

    /// The kernels for matrices in the quantised `format`, on the same stream; loaded the first time.
    pub(crate) fn of_format(&self, format: BlockFormat) -> Result<Self> {
        let text = quantised(format).ok_or_else(|| Error::Msg(format!("no kernels for {}", format.name())))?;
        let mut loaded = self.of_formats.lock().unwrap_or_else(PoisonError::into_inner);
        let module = match loaded.get(&format) {
            Some(module) => Arc::clone(module),
            None => {
                let module = self.stream.context().load_module(Ptx::from_src(text));
                let module = module.map_err(Error::wrap)?;
                loaded.insert(format, Arc::clone(&module));
                module
            }
        };
        Ok(Self {
            stream: Arc::clone(&self.stream),
            modules: vec![module],
            of_formats: Arc::clone(&self.of_formats),
        })
    }

    /// The kernel called `name` of the first module that has one.
    pub(crate) fn find(&self, name: &str) -> Result<CudaFunction> {
        let mut found = Err(Error::Msg(format!("no kernel {name}")));
        for module in &self.modules {
            found = found.or_else(|_| module.load_function(name).map_err(Error::wrap));
        }
        found
    }

    pub(crate) fn enter(&self) -> Result<()> {
        self.stream.context().bind_to_thread().map_err(Error::wrap)
    }

    pub(crate) fn launch(
        &self,
        function: &CudaFunction,
        [x, y, z]: [u32; 3],
        block: u32,
        arguments: &mut [*mut c_void],
    ) -> Result<()> {
        // SAFETY: `Kernels::launch` makes the arguments from values that live until this returns; the driver copies them. What
        // they point to is its callers' care: tensors of a model that outlive its passes, all on the one stream.
        #[allow(unsafe_code)]
        let launched = unsafe {
            let function = function.cu_function();
            result::launch_kernel(
                function,
                (x, y, z),
                (block, 1, 1),
                0,
                self.stream.cu_stream(),
                arguments,
            )
        };
        launched.map_err(Error::wrap)
    }

    /// Records launches as a graph.
    pub(crate) fn record(&self, launches: impl FnOnce() -> Result<()>) -> Result<Option<Graph>> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        self.stream.begin_capture(mode).map_err(Error::wrap)?;
        let launched = launches();
        let graph = self.stream.end_capture(sys::CUgraphInstantiate_flags(0));
        launched?;
        let graph = graph.map_err(Error::wrap)?;
        if let Some(graph) = &graph {
            graph.upload().map_err(Error::wrap)?;
        }
        Ok(graph.map(Graph))
    }

    pub(crate) fn wait(&self) -> Result<()> {
        self.stream.synchronize().map_err(Error::wrap)
    }

    pub(crate) fn is_busy(&self) -> bool {
        // SAFETY: the stream is alive; a query changes nothing.
        #[allow(unsafe_code)]
        let state = unsafe { sys::cuStreamQuery(self.stream.cu_stream()) };
        state == sys::CUresult::CUDA_ERROR_NOT_READY
    }

    pub(crate) fn multiprocessors(&self) -> usize {
        let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        let count = self.stream.context().attribute(attribute).unwrap_or(1);
        usize::try_from(count).unwrap_or(1).max(1)
    }

    pub(crate) fn pinned(&self, len: usize) -> Result<PinnedWords> {
        let context = Arc::clone(self.stream.context());
        context.bind_to_thread().map_err(Error::wrap)?;
        // SAFETY: the memory is as large as is asked for, and freed by `PinnedWords` alone. Words are written before it is used.
        #[allow(unsafe_code)]
        let start = unsafe {
            let start = result::malloc_host(len * size_of::<u32>(), sys::CU_MEMHOSTALLOC_DEVICEMAP);
            let start = start.map_err(Error::wrap)?.cast::<u32>();
            start.write_bytes(0, len);
            start
        };
        Ok(PinnedWords { start, len, context })
    }
}

/// Launches recorded for the driver to make at once.
pub(crate) struct Graph(CudaGraph);

// SAFETY: a graph must not be used by two threads at a time; it is owned by a model, which one thread uses at a time.
#[allow(unsafe_code)]
unsafe impl Send for Graph {}

impl Graph {
    pub(crate) fn launch(&self) -> Result<()> {
        self.0.launch().map_err(Error::wrap)
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Graph")
    }
}

/// Memory of the host that a GPU reads and writes, too.
#[derive(Debug)]
pub(crate) struct PinnedWords {
    start: *mut u32,
    len: usize,
    context: Arc<CudaContext>,
}

// SAFETY: the memory belongs to this value alone.
#[allow(unsafe_code)]
unsafe impl Send for PinnedWords {}

impl PinnedWords {
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u32] {
        // SAFETY: `start` is of `len` initialised words, and no launched kernel uses them while the caller does: it has waited.
        #[allow(unsafe_code)]
        unsafe {
            std::slice::from_raw_parts_mut(self.start, self.len)
        }
    }
}

impl Drop for PinnedWords {
    fn drop(&mut self) {
        // A kernel may still write here where a pass was not waited for.
        let _ = self.context.bind_to_thread().and_then(|()| self.context.synchronize());
        // SAFETY: allocated by `CudaKernels::pinned`, freed once.
        #[allow(unsafe_code)]
        let _ = unsafe { result::free_host(self.start.cast()) };
    }
}

/// The address of a tensor's storage on the GPU.
pub(crate) fn address(storage: &CudaStorage) -> Result<u64> {
    fn of<T>(slice: &impl DevicePtr<T>) -> u64 {
        slice.device_ptr(slice.stream()).0
    }
    match candle_core::backend::BackendStorage::dtype(storage) {
        DType::F32 => Ok(of(storage.as_cuda_slice::<f32>()?)),
        DType::BF16 => Ok(of(storage.as_cuda_slice::<bf16>()?)),
        DType::F16 => Ok(of(storage.as_cuda_slice::<f16>()?)),
        DType::U32 => Ok(of(storage.as_cuda_slice::<u32>()?)),
        _ => Err(Error::Msg("expected floats or 32-bit words".to_owned())),
    }
}

/// Bytes that are read to measure how fast a GPU's memory is, many times its caches.
const READ_BYTES: usize = 8 << 30;

/// Measures the rate at which a GPU reads its memory, in bytes per second: the fastest of `readings`.
pub(crate) fn read_bandwidth(device: &CudaDevice, readings: usize) -> Result<f64> {
    let stream = device.cuda_stream();
    let (free, _) = stream.context().mem_get_info().map_err(Error::wrap)?;
    let words = READ_BYTES.min(free / 2) / size_of::<u32>();
    let data = stream.alloc_zeros::<u32>(words).map_err(Error::wrap)?;
    let module = stream
        .context()
        .load_module(Ptx::from_src(CHOOSE))
        .map_err(Error::wrap)?;
    let kernels = CudaKernels {
        stream: Arc::clone(&stream),
        modules: vec![module],
        of_formats: Arc::default(),
    };
    let read = kernels.find("read_all")?;
    let mut pinned = kernels.pinned(1)?;
    let mut fastest = Duration::MAX;
    for _ in 0..=readings {
        let (from, count) = (data.device_ptr(&stream).0, (words / 4) as u64);
        let to = pinned.as_mut_slice().as_mut_ptr() as u64;
        let mut arguments = [&raw const from, &raw const count, &raw const to].map(|value| value.cast_mut().cast());
        kernels.wait()?;
        let start = Instant::now();
        kernels.launch(
            &read,
            [16 * kernels.multiprocessors() as u32, 1, 1],
            256,
            &mut arguments,
        )?;
        kernels.wait()?;
        fastest = fastest.min(start.elapsed());
    }
    Ok((words * size_of::<u32>()) as f64 / fastest.as_secs_f64())
}
