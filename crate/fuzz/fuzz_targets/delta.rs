//! See `hedgerow_fuzz::delta`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hedgerow_fuzz::delta::run(bytes));
