//! The kernels run on the CPU by `cuda/emulation.cpp`, for tests.

use std::collections::HashMap;
use std::ffi::{CStr, CString, OsString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use candle_core::{DType, Error, Result};

use crate::load::gguf::BlockFormat;

type Launch = unsafe extern "C" fn(*const c_char, *const u32, u32, *mut *mut c_void) -> c_int;

/// The `launch` of a library, once that is built, which runs one kernel at a time.
type Library = OnceLock<Mutex<Launch>>;

/// The emulated kernels for one number format, and how often they were launched and waited for, those of
/// [`Emulation::of_format`] included.
#[derive(Debug)]
pub(crate) struct Emulation {
    library: Arc<Library>,
    /// Launches, then waits.
    counts: Arc<[AtomicUsize; 2]>,
}

// The system's own way to load a library: for tests alone, no crate is worth it.
#[allow(unsafe_code)]
unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}
const RTLD_NOW: c_int = 2;

impl Emulation {
    /// Whether there is a C++ compiler to build the emulation with; says so where a test is skipped for want of one.
    pub(crate) fn is_available() -> bool {
        let found = Command::new(compiler()).arg("--version").output().is_ok();
        if !found {
            eprintln!(
                "skipped: the kernels' emulation needs a C++ compiler: {:?} is not there",
                compiler()
            );
        }
        found
    }

    /// The emulation for weights kept as `dtype`.
    pub(crate) fn new(dtype: DType) -> Arc<Self> {
        Self::open(&[("WEIGHT", dtype.as_str())], Arc::default())
    }

    /// The emulation of the kernels for matrices in the quantised `format`.
    pub(crate) fn of_format(&self, format: BlockFormat) -> Arc<Self> {
        let definitions = [("WEIGHT", "f32"), ("FORMAT", format.name())];
        Self::open(&definitions, Arc::clone(&self.counts))
    }

    /// The library with these definitions, built once by the C++ compiler that `CXX` names or `c++`. Tests build and run different
    /// libraries at the same time.
    fn open(definitions: &[(&str, &str)], counts: Arc<[AtomicUsize; 2]>) -> Arc<Self> {
        static BUILT: Mutex<Option<HashMap<String, Arc<Library>>>> = Mutex::new(None);
        let definitions = definitions.iter().map(|(name, value)| format!("-D{name}={value}"));
        let definitions: Vec<String> = definitions.collect();
        let mut built = BUILT.lock().unwrap();
        let library = Arc::clone(built.get_or_insert_default().entry(definitions.concat()).or_default());
        drop(built);
        library.get_or_init(|| Mutex::new(load(&build(&definitions))));
        Arc::new(Self { library, counts })
    }

    /// Numbers of launches and waits so far.
    pub(crate) fn counts(&self) -> [usize; 2] {
        [0, 1].map(|index| self.counts[index].load(Ordering::Relaxed))
    }

    /// Waits for nothing, since launches run to their end, and counts.
    pub(crate) fn wait(&self) {
        self.counts[1].fetch_add(1, Ordering::Relaxed);
    }

    /// Runs a kernel to its end.
    pub(crate) fn launch(&self, name: &CStr, grid: [u32; 3], block: u32, arguments: &mut [*mut c_void]) -> Result<()> {
        self.counts[0].fetch_add(1, Ordering::Relaxed);
        // A library has its state in statics.
        let run = self.library.get().unwrap().lock().unwrap();
        // SAFETY: the arguments are pointers to values of the kernel's parameters, which the tests hold against other passes.
        #[allow(unsafe_code)]
        let status = unsafe { run(name.as_ptr(), grid.as_ptr(), block, arguments.as_mut_ptr()) };
        match status {
            0 => Ok(()),
            _ => Err(Error::Msg(format!("no kernel {name:?}"))),
        }
    }
}

/// The function of a library that launches its kernels.
fn load(library: &Path) -> Launch {
    let file = CString::new(library.to_str().unwrap()).unwrap();
    // SAFETY: the library is this crate's own; it has one function, of that type.
    #[allow(unsafe_code)]
    unsafe {
        let handle = dlopen(file.as_ptr(), RTLD_NOW);
        assert!(!handle.is_null(), "{library:?} cannot be loaded");
        let launch = dlsym(handle, c"launch".as_ptr());
        assert!(!launch.is_null(), "{library:?} has no function launch");
        std::mem::transmute::<*mut c_void, Launch>(launch)
    }
}

/// The C++ compiler that `CXX` names, or `c++`.
fn compiler() -> OsString {
    std::env::var_os("CXX").unwrap_or_else(|| "c++".into())
}

/// Compiles the emulation with these definitions, arguments of the compiler.
fn build(definitions: &[String]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda/emulation.cpp");
    // Kept while the process runs, and left to the system's cleaning of its temporary files.
    let library = tempfile::Builder::new()
        .prefix("maskwright-kernels-")
        .tempdir()
        .unwrap()
        .keep();
    let library = library.join("kernels.so");
    let compiler = compiler();
    let status = Command::new(&compiler)
        .args([
            "-std=c++17",
            "-O2",
            // Statics of templates would be one for all libraries otherwise.
            "-fvisibility=hidden",
            "-U_FORTIFY_SOURCE",
            "-Wno-unknown-pragmas",
            "-shared",
            "-fPIC",
        ])
        .args(definitions)
        .arg(source)
        .arg("-o")
        .arg(&library)
        .status();
    assert!(
        status.as_ref().is_ok_and(|status| status.success()),
        "{compiler:?} cannot build the kernels' emulation: {status:?}"
    );
    library
}
