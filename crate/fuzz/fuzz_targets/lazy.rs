//! See `hedgerow_fuzz::lazy`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hedgerow_fuzz::lazy::run(bytes));
