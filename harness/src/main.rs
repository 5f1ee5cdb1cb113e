//! `maskwright`: benchmarks of constrained decoding for JSON Schema.

fn main() -> std::process::ExitCode {
    maskwright_harness::run()
}
