//! See `hedgerow_fuzz::rehashed`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hedgerow_fuzz::rehashed::run(bytes));
