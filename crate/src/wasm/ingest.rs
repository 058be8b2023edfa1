//! Exported functions of ingests: they start, feed, finish and rebase one.

use super::abi::{framing, status, streamed_row_kind};
use super::engine::{Engine, Op, keys, with};
use super::ingest_op::IngestOp;
use super::made::Made;
use crate::json::Pointer;
use crate::rows::{Block, Bytes, Columns, Framing, Reader};
use alloc::boxed::Box;
use alloc::vec::Vec;
use wasm_bindgen::prelude::wasm_bindgen;

/// Parses a JSON pointer.
fn pointer(text: &[u8]) -> Option<Pointer> {
    core::str::from_utf8(text).ok().and_then(Pointer::parse)
}

impl Engine {
    /// Returns the ingest with this handle.
    pub fn ingest_op(&mut self, op: u32) -> Option<&mut IngestOp> {
        match self.ops.get_mut(op) {
            Some(Op::Ingest(ingest)) => Some(ingest),
            _ => None,
        }
    }

    fn add_ingest(&mut self, view: u32, reader: Reader, pointer: Pointer) -> u32 {
        let ingest = self.new_ingest(view, reader);
        let (buffer, made) = (Vec::new(), Made::default());
        let unpacked_before = self.cache.unpacked_bytes();
        let op = IngestOp { ingest, made, buffer, pointer, unpacked_before };
        self.ops.add(Op::Ingest(Box::new(op)))
    }

    fn ingest_blocks(&mut self, view: u32, prefix_len: usize, pointer_len: usize) -> u32 {
        let (prefix, rest) = self.scratch.split_at(prefix_len);
        let Some(pointer) = pointer(&rest[..pointer_len]) else { return status::NO_OP };
        let reader = Reader::Block(Box::new(Block::new(prefix.to_vec())));
        self.add_ingest(view, reader, pointer)
    }

    fn ingest_stream(
        &mut self,
        view: u32,
        prefix_len: usize,
        pointer_len: i32,
        framing: u32,
    ) -> u32 {
        let (prefix, rest) = self.scratch.split_at(prefix_len);
        let columns = match pointer_len {
            streamed_row_kind::PAIR => Columns::Two,
            ..=streamed_row_kind::PATCH => Columns::Patch,
            len => match pointer(&rest[..len as usize]) {
                Some(pointer) => Columns::Keyed(pointer),
                None => return status::NO_OP,
            },
        };
        let framing = match framing {
            framing::UNKNOWN => None,
            framing::LINES => Some(Framing::Lines),
            _ => Some(Framing::Array),
        };
        let bytes = Bytes::new(columns, framing, prefix.to_vec());
        self.add_ingest(view, Reader::Bytes(Box::new(bytes)), Pointer::default())
    }

    fn rebase_ingest(&mut self, op: u32, view: u32, len: usize) -> u32 {
        let theirs = self.forest(view);
        match keys(&self.scratch[..len]) {
            Ok(kept) => {
                if let Some(op) = self.ingest_op(op) {
                    op.ingest.rebase(theirs, kept);
                }
                status::DONE
            }
            Err(error) => self.reply.error(&error),
        }
    }
}

/// Starts an ingest on top of a view. `scratch` holds the prefix of all keys and then the
/// JSON pointer to the key of a row. [`status::NO_OP`] if the pointer is invalid.
#[wasm_bindgen]
pub fn ingest(view: u32, prefix_len: u32, pointer_len: u32) -> u32 {
    with(|engine| engine.ingest_blocks(view, prefix_len as usize, pointer_len as usize))
}

/// Starts an ingest of a stream of bytes on top of a view. `scratch` is as for [`ingest`];
/// `pointer_len` may be a [`streamed_row_kind`] instead; `framing` is a [`framing`]. [`status::NO_OP`] if the
/// pointer is invalid.
#[wasm_bindgen]
pub fn ingest_bytes(view: u32, prefix_len: u32, pointer_len: i32, framing: u32) -> u32 {
    with(|engine| engine.ingest_stream(view, prefix_len as usize, pointer_len, framing))
}

/// Returns the address of a buffer for the next `len` bytes of the stream. Fill it before the next call.
#[wasm_bindgen]
pub fn ingest_room(op: u32, len: u32) -> u32 {
    with(|engine| {
        let bytes = engine.ingest_op(op).and_then(|op| op.ingest.bytes());
        let Some(bytes) = bytes else { return 0 };
        bytes.room(len as usize).as_ptr() as u32
    })
}

/// Ends the stream of bytes of an ingest.
#[wasm_bindgen]
pub fn ingest_end(op: u32) {
    with(|engine| {
        if let Some(bytes) = engine.ingest_op(op).and_then(|op| op.ingest.bytes()) {
            bytes.end();
        }
    });
}

/// Returns the address of a buffer for the next block of an ingest.
#[wasm_bindgen]
pub fn ingest_buffer(op: u32, len: u32) -> u32 {
    with(|engine| {
        let Some(op) = engine.ingest_op(op) else { return 0 };
        let mut buffer = op.ingest.take_buffer();
        buffer.resize(len as usize, 0);
        op.buffer = buffer;
        op.buffer.as_ptr() as u32
    })
}

/// Feeds the block in the ingest's buffer: `text_len` bytes of JSON, byte values up to
/// `len - 12 * values`, and for each byte value its row, start and length as 32-bit numbers.
/// `format` is a [`block_format`].
#[wasm_bindgen]
pub fn ingest_feed(op: u32, text_len: u32, len: u32, values: u32, format: u32) {
    with(|engine| {
        if let Some(op) = engine.ingest_op(op) {
            op.feed(text_len as usize, len as usize, values as usize, format);
        }
    });
}

/// Makes an ingest delete all rows of a range, as for [`scan`](super::reads::scan), instead of taking a block.
#[wasm_bindgen]
pub fn ingest_drop(op: u32, flags: u32, len: u32) {
    with(|engine| {
        let range = engine.range(flags, len);
        if let Some(op) = engine.ingest_op(op) {
            op.ingest.drop_range(range);
        }
    });
}

/// Returns whether an ingest that has all rows waits for its sum trees: see `sums/`.
#[wasm_bindgen]
pub fn awaits_sums(op: u32) -> bool {
    with(|engine| engine.ingest_op(op).is_some_and(|op| op.ingest.awaits_sums()))
}

/// Makes an ingest wait for sum trees.
#[wasm_bindgen]
pub fn expect_sums(op: u32) {
    with(|engine| {
        if let Some(op) = engine.ingest_op(op) {
            op.ingest.expect_sums();
        }
    });
}

/// Ends the rows of an ingest.
#[wasm_bindgen]
pub fn ingest_finish(op: u32) {
    with(|engine| {
        if let Some(op) = engine.ingest_op(op) {
            op.ingest.finish();
        }
    });
}

/// Rebases an ingest whose commit was made onto the commit of a view. `scratch` holds a JSON array of
/// the keys that stay as they are in that commit. Step the ingest until it is done again.
#[wasm_bindgen]
pub fn ingest_rebase(op: u32, view: u32, len: u32) -> u32 {
    with(|engine| engine.rebase_ingest(op, view, len as usize))
}

/// Makes the next [`ingest_rebase`] a three-way merge, with the commit of a view as the merge base.
#[wasm_bindgen]
pub fn ingest_since(op: u32, view: u32) {
    with(|engine| {
        let forest = engine.forest(view);
        if let Some(op) = engine.ingest_op(op) {
            op.ingest.set_merge_base(&forest);
        }
    });
}
