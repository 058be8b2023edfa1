//! The boundary to JavaScript: handles, numbers and bytes, never objects.
//!
//! One instance of the module serves one store. Bytes go in through buffers that the host
//! asks for and fills ([`scratch`], [`segment_buffer`], [`ingest_buffer`]); they come out as
//! addresses in the reply, an array of [`abi::size::REPLY_WORDS`] doubles at a fixed address, valid until
//! the next call. Every function that can fail returns an [`abi::status`]; on an error the reply has the
//! details. The host crosses once for a slice of work, never for a row. `abi.rs` has all numbers that both
//! sides use, and the position of each word of a reply.

#![allow(unsafe_code, reason = "a module has one engine, reached from exported functions")]
#![allow(clippy::cast_precision_loss, reason = "numbers that cross stay below 2^53")]
#![allow(clippy::cast_sign_loss, reason = "numbers that cross are not negative")]

mod abi;
mod checks;
mod collect;
mod collect_op;
mod engine;
mod faults;
mod global;
mod indexes;
mod ingest;
mod ingest_op;
mod lazy;
mod made;
mod reads;
mod remote;
mod reply;
mod segments;
mod slots;
mod sums;
mod words;

use crate::secret::Secret;
use engine::{Engine, start_engine, with};
use wasm_bindgen::prelude::wasm_bindgen;

/// Starts the engine with a budget for stored segments in memory, in bytes, and with 128 random bits that
/// key the hash tables of untrusted data. Returns the address of the reply.
#[wasm_bindgen]
pub fn start(cache_bytes: u32, a: u32, b: u32, c: u32, d: u32) -> u32 {
    let word = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    start_engine(Engine::new(cache_bytes as usize, Secret::new(word(a, b), word(c, d))));
    with(|engine| engine.reply.address())
}

/// Returns the address of a buffer of `len` bytes for the arguments of the next call.
#[wasm_bindgen]
pub fn scratch(len: u32) -> u32 {
    with(|engine| {
        engine.scratch.resize(len as usize, 0);
        engine.scratch.as_ptr() as u32
    })
}

/// Continues an operation for about `budget` bytes of work. With [`abi::status::NEED`] the reply is
/// [`abi::Numbers`]; when it is done or yields, it depends on the operation:
///
/// | operation | reply when it is done | when it yields |
/// |---|---|---|
/// | find | [`abi::Output`], with positions | no reply |
/// | scan, scan of an index, diff | [`abi::Output`], the last members | the next members, if any |
/// | count | [`abi::Count`] | no reply |
/// | ingest | [`abi::Ingested`], with the commit once it is finished | the same, so far |
/// | collection | [`abi::Numbers`], then [`abi::Collected`] | no reply |
///
/// `checks.rs`, `lazy.rs`, `remote.rs` and `sums/` have steps of their own.
#[wasm_bindgen]
pub fn step(op: u32, budget: u32) -> u32 {
    with(|engine| engine.step(op, budget))
}

/// Finds the segments that a scan will need next: [`abi::status::NEED`] with their ids in the reply
/// as in [`step`], or [`abi::status::DONE`]. Overwrites the reply of the last step.
#[wasm_bindgen]
pub fn ahead(op: u32) -> u32 {
    with(|engine| engine.ahead(op))
}

/// Frees an operation. Unless `committed`, the segments that it made are removed from the cache.
#[wasm_bindgen]
pub fn free(op: u32, committed: bool) {
    with(|engine| engine.free(op, committed));
}
