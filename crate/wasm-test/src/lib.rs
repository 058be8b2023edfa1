//! `#[test]` in WebAssembly, where no harness runs the standard `#[test]`. A crate or a program of tests imports it at
//! its root by `#[macro_use] extern crate hedgerow_wasm_test as wasm_bindgen_test`: the macro writes this name.
#![cfg(target_arch = "wasm32")]

pub use wasm_bindgen_test::{__rt, Instant, wasm_bindgen_test as test};
