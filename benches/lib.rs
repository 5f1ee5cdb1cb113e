//! Nothing: the benchmarks are in `benches/`, one file per part, run by `cargo bench -p maskwright-benches`.
