//! An ingest as an operation.

use super::abi::{Ingested, block_format};
use super::made::Made;
use super::reply::Reply;
use crate::cache::{Cache, SegmentId};
use crate::error::Error;
use crate::ingest::{ByteValue, Format, Ingest};
use crate::json::Pointer;
use crate::le::u32_at;
use crate::step::{Budget, Step};
use alloc::vec::Vec;

/// Most bytes of chunks that an ingest leaves unpacked, besides earlier ones: no other reader needs the chunks
/// that it replaces, and a megabyte of fresh memory takes a millisecond.
const MOST_UNPACKED: usize = 1 << 20;

/// An ingest, and the segments that the host must take from it.
pub struct IngestOp {
    pub ingest: Ingest,
    pub made: Made,
    pub buffer: Vec<u8>,
    /// Points to the key of a row in a block.
    pub pointer: Pointer,
    /// Bytes of chunks that were unpacked when it began.
    pub unpacked_before: usize,
}

impl IngestOp {
    pub fn feed(&mut self, text_len: usize, len: usize, values: usize, format: u32) {
        let mut buffer = core::mem::take(&mut self.buffer);
        let table = len - 12 * values;
        let values = (0..values)
            .map(|index| table + 12 * index)
            .map(|at| ByteValue {
                row: u32_at(&buffer, at),
                start: u32_at(&buffer, at + 4),
                len: u32_at(&buffer, at + 8),
            })
            .collect();
        buffer.truncate(table);
        let format = match format {
            block_format::PAIRS => Format::Pairs,
            block_format::ROWS => Format::Rows(self.pointer.clone()),
            block_format::DELETES => Format::Deletes,
            _ => Format::Patch,
        };
        self.ingest.feed(buffer, text_len, values, format);
    }

    pub fn step(
        &mut self,
        cache: &mut Cache,
        reply: &mut Reply,
        next_segment: &mut SegmentId,
        budget: &mut Budget,
    ) -> Result<Step<()>, Error> {
        // An ingest also yields before its budget is spent, so that its chunks enter the cache. The host must not see
        // that: it measures the time of a whole budget, and would make the next ones too large.
        let step = loop {
            let mut part = Budget::of(budget.left());
            let step = self.ingest.step(cache, &mut part);
            budget.spend(part.spent().max(1));
            self.made.add(cache, next_segment, self.ingest.sealed());
            cache.unpack_at_most(self.unpacked_before + MOST_UNPACKED);
            if step != Ok(Step::Yield) || budget.is_spent() {
                break step;
            }
        };
        let commit = self.ingest.committed().map_or(0.0, |(hash, _)| reply.hash(&hash));
        reply.tell(Ingested {
            rows: self.ingest.rows() as f64,
            chunks: self.ingest.chunks() as f64,
            chunk_bytes: self.ingest.chunk_bytes() as f64,
            commit,
        });
        step
    }
}
