//! See `hedgerow_fuzz::steps`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hedgerow_fuzz::steps::run(bytes));
