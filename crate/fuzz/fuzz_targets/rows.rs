//! See `hedgerow_fuzz::rows`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hedgerow_fuzz::rows::run(bytes));
