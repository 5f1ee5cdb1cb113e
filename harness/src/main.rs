//! `maskwright`: benchmarks of constrained decoding for JSON Schema.

/// Compilers come and go in a run, and the C library's allocator gives their memory back each time. Every program in Rust that
/// serves frameworks has this one, so that none is measured with another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    maskwright_harness::run()
}
