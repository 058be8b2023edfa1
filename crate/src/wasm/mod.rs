//! The boundary to JavaScript: handles, numbers and bytes, never objects.
//!
//! One instance of the module serves one store. Bytes go in through buffers that the host
//! asks for and fills ([`scratch`], [`segment_buffer`], [`ingest_buffer`]); they come out as
//! addresses in the reply, an array of [`reply::REPLY_WORDS`] doubles at a fixed address, valid until
//! the next call. Every function that can fail returns a status; on one of [`status`]'s errors
//! the reply tells the details. The host crosses once for a slice of work, never for a row.

#![allow(unsafe_code, reason = "a module has one engine, reached from exported functions")]
#![allow(clippy::cast_precision_loss, reason = "numbers that cross stay below 2^53")]
#![allow(clippy::cast_sign_loss, reason = "numbers that cross are not negative")]

mod checks;
mod engine;
mod faults;
mod indexes;
mod reply;
mod sums;

use crate::cache::SegmentId;
use crate::collect::SMALL_BYTES;
use crate::secret::Secret;
use crate::segment::{TABLE_ENTRY_BYTES, Table};
use core::cell::RefCell;
use engine::{Engine, Op};
use reply::status;
use wasm_bindgen::prelude::wasm_bindgen;

struct Global(RefCell<Option<Engine>>);

// SAFETY: the module is built without threads, so that no other thread can reach it.
unsafe impl Sync for Global {}

static ENGINE: Global = Global(RefCell::new(None));

fn with<T>(run: impl FnOnce(&mut Engine) -> T) -> T {
    run(ENGINE.0.borrow_mut().get_or_insert_default())
}

/// Starts the engine with a budget for stored segments in memory, and with 128 random bits, for tables
/// of what others have chosen; returns the address of the reply.
#[wasm_bindgen]
pub fn start(cache_bytes: u32, a: u32, b: u32, c: u32, d: u32) -> u32 {
    let word = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let mut engine = ENGINE.0.borrow_mut();
    *engine = Some(Engine::new(cache_bytes as usize, Secret::new(word(a, b), word(c, d))));
    engine.get_or_insert_default().reply.address()
}

/// A buffer of `len` bytes, the address of which is returned, for the next call's argument.
#[wasm_bindgen]
pub fn scratch(len: u32) -> u32 {
    with(|engine| {
        engine.scratch.resize(len as usize, 0);
        engine.scratch.as_ptr() as u32
    })
}

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

/// Opens a view of the commit whose hash is in the first 32 bytes of `scratch`, or of the
/// empty store when they are zero. Reply: the view, its number of rows.
#[wasm_bindgen]
pub fn open_view() -> u32 {
    with(Engine::open_view)
}

/// Closes a view.
#[wasm_bindgen]
pub fn close_view(view: u32) {
    with(|engine| engine.views[view as usize] = None);
}

/// Looks up the key in the first `len` bytes of `scratch`. Reply: 0 (absent), 1 (JSON) or
/// 2 (bytes); the address and length of the value. [`status::FAR`] when the value is out of
/// line, and must be read by [`find`].
#[wasm_bindgen]
pub fn get(view: u32, len: u32) -> u32 {
    with(|engine| engine.get(view, len as usize))
}

/// Starts a search for the keys in the first `len` bytes of `scratch`, a JSON array of
/// strings. Returns the operation, or [`status::NO_OP`] when one of them is no key: the
/// reply then tells which.
#[wasm_bindgen]
pub fn find(view: u32, len: u32) -> u32 {
    with(|engine| engine.find(view, len as usize))
}

/// Names the indexes that the host wants: `scratch` holds a JSON array of their definitions.
/// [`status::NO_OP`] when one of them is none.
#[wasm_bindgen]
pub fn set_indexes(len: u32) -> u32 {
    with(|engine| engine.set_indexes(len as usize))
}

/// Reply: whether a view has the index of that number: 0 no, 1 in part, 2 wholly. In part: also the
/// address and length of the last key of a row that it is made of.
#[wasm_bindgen]
pub fn index_state(view: u32, number: u32) {
    with(|engine| engine.index_state(view, number));
}

/// The number of indexes of a view, those in the making too.
#[wasm_bindgen]
pub fn index_count(view: u32) -> u32 {
    with(|engine| engine.forest(view).indexes().count() as u32)
}

/// Has an ingest make about `work` bytes of rows part of the indexes that the host wants and
/// that are not complete; with `alone` others are dropped.
#[wasm_bindgen]
pub fn extend_indexes(op: u32, alone: bool, work: u32) {
    with(|engine| engine.extend_indexes(op, alone, work as usize));
}

/// Starts a scan of at most `limit` rows, from row `offset` of the range on. `flags` and the bounds in `scratch` are as `js/src/base/range.ts` writes them; of an
/// index if they tell its number.
#[wasm_bindgen]
pub fn scan(view: u32, flags: u32, len: u32, offset: f64, limit: f64) -> u32 {
    with(|engine| engine.scan(view, flags, len as usize, offset as u64, limit as u64))
}

/// Starts a count of a range, given as to [`scan`].
#[wasm_bindgen]
pub fn count(view: u32, flags: u32, len: u32) -> u32 {
    with(|engine| engine.count(view, flags, len as usize))
}

/// Starts an ingest on top of a view. `scratch` holds the prefix of all keys and then the
/// JSON pointer to the key of a row. [`status::NO_OP`] when that is no pointer.
#[wasm_bindgen]
pub fn ingest(view: u32, prefix_len: u32, pointer_len: u32) -> u32 {
    with(|engine| engine.ingest(view, prefix_len as usize, pointer_len as usize))
}

/// Starts an ingest of a stream of bytes on top of a view. `scratch` is as to [`ingest`];
/// `pointer_len` is -1 for rows `[key, value]`, -2 for operations of a patch. `framing`: 0 to be found out, 1 lines,
/// 2 an array. [`status::NO_OP`] when the pointer is none.
#[wasm_bindgen]
pub fn ingest_bytes(view: u32, prefix_len: u32, pointer_len: i32, framing: u32) -> u32 {
    with(|engine| engine.ingest_bytes(view, prefix_len as usize, pointer_len, framing))
}

/// Room for the next `len` bytes of the stream, to be filled before the next call.
#[wasm_bindgen]
pub fn ingest_room(op: u32, len: u32) -> u32 {
    with(|engine| {
        let Some(Op::Ingest(ingest)) = engine.op(op) else { return 0 };
        let Some(bytes) = ingest.ingest.bytes() else { return 0 };
        bytes.room(len as usize).as_ptr() as u32
    })
}

/// Tells an ingest that its stream of bytes is at its end.
#[wasm_bindgen]
pub fn ingest_end(op: u32) {
    with(|engine| {
        if let Some(Op::Ingest(ingest)) = engine.op(op)
            && let Some(bytes) = ingest.ingest.bytes()
        {
            bytes.end();
        }
    });
}

/// A buffer for the next block of an ingest.
#[wasm_bindgen]
pub fn ingest_buffer(op: u32, len: u32) -> u32 {
    with(|engine| {
        let Some(Op::Ingest(ingest)) = engine.op(op) else { return 0 };
        let mut buffer = ingest.ingest.take_buffer();
        buffer.resize(len as usize, 0);
        ingest.buffer = buffer;
        ingest.buffer.as_ptr() as u32
    })
}

/// Feeds the block in the ingest's buffer: `text_len` bytes of JSON, byte values up to
/// `len - 12 * values`, and for each byte value its row, start and length as 32-bit numbers.
/// `format`: 0 pairs, 1 rows, 2 keys to delete, 3 operations of a patch.
#[wasm_bindgen]
pub fn ingest_feed(op: u32, text_len: u32, len: u32, values: u32, format: u32) {
    with(|engine| {
        if let Some(Op::Ingest(ingest)) = engine.op(op) {
            ingest.feed(text_len as usize, len as usize, values as usize, format);
        }
    });
}

/// Has an ingest delete all rows of a range, given as to [`scan`], instead of a block.
#[wasm_bindgen]
pub fn ingest_drop(op: u32, flags: u32, len: u32) {
    with(|engine| engine.ingest_drop(op, flags, len as usize));
}

/// Starts a diff of two views over a range, given as to [`scan`]. Members of its output: a
/// code, the key, and the old or the new value or both (see `crate/src/tree/diff.rs`).
#[wasm_bindgen]
pub fn diff(old: u32, new: u32, flags: u32, len: u32) -> u32 {
    with(|engine| engine.diff(old, new, flags, len as usize))
}

/// Whether an ingest that has all rows waits for its sum trees: see `sums.rs`.
#[wasm_bindgen]
pub fn awaits_sums(op: u32) -> bool {
    with(|engine| match engine.op(op) {
        Some(Op::Ingest(ingest)) => ingest.ingest.awaits_sums(),
        _ => false,
    })
}

/// Has an ingest wait for sum trees.
#[wasm_bindgen]
pub fn expect_sums(op: u32) {
    with(|engine| {
        if let Some(Op::Ingest(ingest)) = engine.op(op) {
            ingest.ingest.expect_sums();
        }
    });
}

/// What the commit of a view tells of the sum tree whose name is in the first `len` bytes of
/// `scratch`. Reply: address and length: hash and sum of its root, and its definition; 0 and 0 when
/// there is none.
#[wasm_bindgen]
pub fn total(view: u32, len: u32) {
    with(|engine| engine.total(view, len as usize));
}

/// Tells an ingest that it has all rows.
#[wasm_bindgen]
pub fn ingest_finish(op: u32) {
    with(|engine| {
        if let Some(Op::Ingest(ingest)) = engine.op(op) {
            ingest.ingest.finish();
        }
    });
}

/// Brings an ingest whose commit was made onto the commit of a view. `scratch` holds a JSON array
/// of the keys that stay as they are in that. Step it until it is done again.
#[wasm_bindgen]
pub fn ingest_rebase(op: u32, view: u32, len: u32) -> u32 {
    with(|engine| engine.ingest_rebase(op, view, len as usize))
}

/// Has the next [`ingest_rebase`] bring in what was changed since the commit of a view.
#[wasm_bindgen]
pub fn ingest_since(op: u32, view: u32) {
    with(|engine| engine.ingest_since(op, view));
}

/// Takes the next segment that an ingest or a collection has made: [`status::DONE`] when there is
/// none, else [`status::SEGMENT`]. Reply: id; address and length of the segment; of its table.
#[wasm_bindgen]
pub fn take_segment(op: u32) -> u32 {
    with(|engine| engine.take_segment(op))
}

/// Starts a collection of the segments that are stored now. `flags`: 1 only a survey, 2 full, 4 at
/// rest, 8 sparing of room; `values_before`: bytes of values that were live when that was last known.
#[wasm_bindgen]
pub fn collect(flags: u32, values_before: f64) -> u32 {
    with(|engine| engine.collect(flags, values_before))
}

/// Has a collection take all for live that the commit reaches whose hash is in the first 32
/// bytes of `scratch`; all that is left of it, if it may be gone.
#[wasm_bindgen]
pub fn collect_commit(op: u32, may_be_gone: bool) {
    with(|engine| engine.collect_commit(op, may_be_gone));
}

/// Has a collection keep the segments `from..to`.
#[wasm_bindgen]
pub fn collect_keep(op: u32, from: f64, to: f64) {
    with(|engine| engine.collect_keep(op, from as SegmentId, to as SegmentId));
}

/// The segments that a collection asked for are stored, and those that it named are deleted.
#[wasm_bindgen]
pub fn collect_exchanged(op: u32) {
    with(|engine| engine.collect_exchanged(op));
}

/// Goes on with an operation for about `budget` bytes of work. On [`status::NEED`] the reply
/// holds the address and number of segment ids (doubles). On done and yield: for a find, a
/// scan or a diff, address and length of text, address of bytes, address and number of marks (three
/// 32-bit numbers each), number of members, address and number of positions found; for a
/// count, the count; for an ingest, rows, and when it is finished chunks, their bytes, the
/// address of the commit's hash; for a collection, address and number of the ids of segments
/// (doubles) that may go once its new ones are stored, none at its end (for a survey: of those that
/// hold anything live), and bytes of chunks stored, live and of live values, and whether the last two are exact.
#[wasm_bindgen]
pub fn step(op: u32, budget: u32) -> u32 {
    with(|engine| engine.step(op, budget as usize))
}

/// What a scan will want next: [`status::NEED`] with segment ids in the reply as in [`step`], or
/// [`status::DONE`]. Overwrites the reply of the last step.
#[wasm_bindgen]
pub fn ahead(op: u32) -> u32 {
    with(|engine| engine.ahead(op))
}

/// Frees an operation. Segments of an ingest that is not committed are forgotten.
#[wasm_bindgen]
pub fn free(op: u32, committed: bool) {
    with(|engine| engine.free(op, committed));
}

/// Reply: segments, chunks and bytes known, bytes in memory, and how many segments are small.
#[wasm_bindgen]
pub fn cache_stats() {
    with(|engine| {
        let cache = &engine.cache;
        let words = [
            cache.known_segments() as f64,
            cache.known_chunks() as f64,
            cache.known_bytes() as f64,
            cache.held_bytes() as f64,
            cache.known_below(SMALL_BYTES) as f64,
        ];
        engine.reply.set(&words);
    });
}
