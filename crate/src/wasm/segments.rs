//! Exported functions of segments: stored ones, and new ones made here.

use super::abi::{Cache, status};
use super::engine::with;
use crate::cache::{SegmentId, Want};
use crate::segment::{TABLE_ENTRY_BYTES, Table};
use wasm_bindgen::prelude::wasm_bindgen;

/// Reserves memory for tables of `bytes` bytes in all.
#[wasm_bindgen]
pub fn reserve_tables(bytes: u32) {
    with(|engine| engine.cache.reserve(bytes as usize / TABLE_ENTRY_BYTES));
}

/// Sets whether tables of stored segments are still to come: see [`Cache::await_tables`](crate::cache::Cache).
#[wasm_bindgen]
pub fn await_tables(awaits: bool) {
    with(|engine| engine.cache.await_tables(awaits));
}

/// Adds a stored segment by its table, which is in the first `len` bytes of `scratch`.
#[wasm_bindgen]
pub fn add_table(id: f64, len: u32) -> u32 {
    with(|engine| match Table::decode(engine.scratch[..len as usize].to_vec()) {
        Ok(table) => {
            engine.cache.add_table(id as SegmentId, table);
            status::DONE
        }
        Err(error) => engine.reply.decode_error(&error),
    })
}

/// Returns the address of a buffer for the bytes of a stored segment, for [`load_segment`].
#[wasm_bindgen]
pub fn segment_buffer(len: u32) -> u32 {
    with(|engine| {
        // `vec![0; n]` does not write to fresh pages, which are zero already.
        engine.incoming = alloc::vec![0; len as usize];
        engine.incoming.as_ptr() as u32
    })
}

/// Loads a want of the segment `id` from the segment buffer: `from` and `to` are as in the want.
#[wasm_bindgen]
pub fn load_segment(id: f64, from: u32, to: u32) {
    with(|engine| {
        let bytes = core::mem::take(&mut engine.incoming);
        engine.cache.load(Want::part_of(id as SegmentId, from, to), bytes);
    });
}

/// Sets the cost of a request to storage: see [`Cache::set_request_cost`](crate::cache::Cache).
#[wasm_bindgen]
pub fn set_request_cost(bytes: u32) {
    with(|engine| engine.cache.set_request_cost(bytes as usize));
}

/// Sets how many bytes of stored segments the cache holds: see [`Cache::fit`](crate::cache::Cache). Returns the bytes
/// that it holds then.
#[wasm_bindgen]
pub fn fit_cache(bytes: u32) -> u32 {
    with(|engine| {
        engine.cache.fit(bytes as usize);
        engine.cache.held_bytes() as u32
    })
}

/// Reports that the segment `id` is stored: it may leave memory.
#[wasm_bindgen]
pub fn stored_segment(id: f64) {
    with(|engine| engine.cache.stored(id as SegmentId));
}

/// Removes the segment `id` and its chunks from the cache.
#[wasm_bindgen]
pub fn remove_segment(id: f64) {
    with(|engine| engine.cache.remove(id as SegmentId));
}

/// Sets the id of the next segment that is made here; later ones count up from it.
#[wasm_bindgen]
pub fn set_next_segment(id: f64) {
    with(|engine| engine.next_segment = id as SegmentId);
}

/// Takes the next segment that an ingest or a collection has made: [`status::SEGMENT`], with the reply
/// `Segment`, or [`status::DONE`] if there are no more.
#[wasm_bindgen]
pub fn take_segment(op: u32) -> u32 {
    with(|engine| engine.take_segment(op))
}

/// Measures the cache. Reply: `Cache`.
#[wasm_bindgen]
pub fn cache_stats() {
    with(|engine| {
        let cache = &engine.cache;
        let (hits, misses) = cache.hits_and_misses();
        engine.reply.tell(Cache {
            segments: cache.known_segments() as f64,
            chunks: cache.known_chunks() as f64,
            stored_bytes: cache.known_bytes() as f64,
            cached_bytes: cache.held_bytes() as f64,
            small_segments: cache.small_segments() as f64,
            hits: hits as f64,
            misses: misses as f64,
        });
    });
}
