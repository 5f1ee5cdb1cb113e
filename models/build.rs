//! With the feature `cuda`, compiles the kernels in `cuda/` to PTX by the toolkit's nvcc: `NVCC`, or that of `CUDA_HOME`, or the
//! one on the path. `CUDA_COMPUTE_CAP` is the oldest GPU to serve, 80 where it is not set.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=cuda");
    for variable in ["NVCC", "CUDA_HOME", "CUDA_COMPUTE_CAP"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    if env::var_os("CARGO_FEATURE_CUDA").is_none() {
        return;
    }
    let nvcc = env::var_os("NVCC").map(PathBuf::from);
    let nvcc = nvcc.or_else(|| Some(PathBuf::from(env::var_os("CUDA_HOME")?).join("bin/nvcc")));
    let nvcc = nvcc.unwrap_or_else(|| PathBuf::from("nvcc"));
    let oldest = env::var("CUDA_COMPUTE_CAP").unwrap_or_else(|_| "80".to_owned());
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let vectors = ["f32", "bf16", "f16"].map(|format| {
        let name = format!("short_pass_{format}.ptx");
        ("short_pass.cu", name, vec![format!("-DWEIGHT={format}")])
    });
    let quantised = ["q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q4_k", "q5_k", "q6_k"].map(|format| {
        let definitions = vec!["-DWEIGHT=f32".to_owned(), format!("-DFORMAT={format}")];
        ("quantised.cu", format!("quantised_{format}.ptx"), definitions)
    });
    let choice = ("choose.cu", "choose.ptx".to_owned(), Vec::new());
    for (source, name, definitions) in vectors.into_iter().chain(quantised).chain([choice]) {
        let mut command = Command::new(&nvcc);
        command
            .args(["-ptx", "-O3", "-std=c++17"])
            .arg(format!("-arch=compute_{oldest}"));
        command.args(definitions);
        command.arg(format!("cuda/{source}")).arg("-o").arg(out.join(name));
        let status = command.status();
        assert!(
            status.as_ref().is_ok_and(|status| status.success()),
            "{} could not compile cuda/{source} ({status:?}); scripts/build-cuda.sh brings a CUDA toolkit of its own",
            nvcc.display()
        );
    }
}
