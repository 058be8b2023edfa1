//! See `hedgerow_fuzz::patch`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hedgerow_fuzz::patch::run(bytes));
