//! See `hedgerow_fuzz::ops`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hedgerow_fuzz::ops::run(bytes));
