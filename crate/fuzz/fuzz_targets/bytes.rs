//! See `hedgerow_fuzz::bytes`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hedgerow_fuzz::bytes::run(bytes));
