//! The body [`maskwright_fuzz::targets::small_world`] for `cargo fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(discrepancy) = maskwright_fuzz::targets::small_world(bytes) {
        panic!("{discrepancy}");
    }
});
