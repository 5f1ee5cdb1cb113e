//! The body [`maskwright_fuzz::targets::work`] for `cargo fuzz`.
#![no_main]

use maskwright_fuzz::meter::Meter;

#[global_allocator]
static METER: Meter = Meter;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(discrepancy) = maskwright_fuzz::targets::work(bytes) {
        panic!("{discrepancy}");
    }
});
