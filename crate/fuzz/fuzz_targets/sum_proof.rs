//! See `hedgerow_fuzz::sum_proof`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hedgerow_fuzz::sum_proof::run(bytes));
