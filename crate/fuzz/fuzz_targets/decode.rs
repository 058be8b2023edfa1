//! See `hedgerow_fuzz::decode`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hedgerow_fuzz::decode::run(bytes));
