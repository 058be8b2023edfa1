//! What exported functions do with segments: those that are stored, and those that were made here.

use super::abi::{Cache, status};
use super::engine::with;
use crate::cache::SegmentId;
use crate::collect::SMALL_BYTES;
use crate::segment::{TABLE_ENTRY_BYTES, Table};
use wasm_bindgen::prelude::wasm_bindgen;

/// Makes room for tables of so many bytes in all.
#[wasm_bindgen]
pub fn reserve_tables(bytes: u32) {
    with(|engine| engine.cache.reserve(bytes as usize / TABLE_ENTRY_BYTES));
}

/// Makes a stored segment known by its table, of which `scratch` holds the first `len` bytes.
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

/// A buffer for the bytes of a stored segment, to be taken by [`load_segment`].
#[wasm_bindgen]
pub fn segment_buffer(len: u32) -> u32 {
    with(|engine| {
        // Not zeroed by hand: fresh pages are zero already.
        engine.incoming = alloc::vec![0; len as usize];
        engine.incoming.as_ptr() as u32
    })
}

/// Takes the bytes in the segment buffer as those of the segment `id`.
#[wasm_bindgen]
pub fn load_segment(id: f64) {
    with(|engine| {
        let bytes = core::mem::take(&mut engine.incoming);
        engine.cache.load(id as SegmentId, bytes);
    });
}

/// The segment `id` is stored: it may leave memory.
#[wasm_bindgen]
pub fn stored_segment(id: f64) {
    with(|engine| engine.cache.stored(id as SegmentId));
}

/// Forgets the segment `id` and its chunks.
#[wasm_bindgen]
pub fn remove_segment(id: f64) {
    with(|engine| engine.cache.remove(id as SegmentId));
}

/// Sets the id that the next segment made here gets; those after it follow.
#[wasm_bindgen]
pub fn set_next_segment(id: f64) {
    with(|engine| engine.next_segment = id as SegmentId);
}

/// Takes the next segment that an ingest or a collection has made: [`status::DONE`] when there is
/// none, else [`status::SEGMENT`]. Reply: `Segment`.
#[wasm_bindgen]
pub fn take_segment(op: u32) -> u32 {
    with(|engine| engine.take_segment(op))
}

/// What is known and kept of segments. Reply: `Cache`.
#[wasm_bindgen]
pub fn cache_stats() {
    with(|engine| {
        let cache = &engine.cache;
        engine.reply.tell(Cache {
            segments: cache.known_segments() as f64,
            chunks: cache.known_chunks() as f64,
            stored_bytes: cache.known_bytes() as f64,
            cached_bytes: cache.held_bytes() as f64,
            small_segments: cache.known_below(SMALL_BYTES) as f64,
        });
    });
}
