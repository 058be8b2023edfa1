//! Packs chunks into segments, and makes their tables.

use super::packed::Compressor;
use super::table::{MAGIC, Stream, TABLE_ENTRY_BYTES, TABLE_HEADER_BYTES, Table};
use crate::chunk::VERSION;
use crate::hash::Hash;
use crate::le::u32_at;
use crate::limits::SEGMENT_BYTES;
use alloc::vec::Vec;

/// A finished segment that is not stored yet.
#[derive(Debug)]
pub struct Sealed {
    /// The chunks.
    pub bytes: Vec<u8>,
    /// Where the chunks are.
    pub table: Table,
}

impl Sealed {
    /// Makes a segment of internal nodes, all under their hashes, which also names chunks at a remote: their
    /// hashes and lengths. Returns `None` without nodes, if there are too many, or a length is 0.
    #[must_use]
    pub fn of_nodes(nodes: &[(Hash, &[u8])], remote: &[(Hash, u16)]) -> Option<Self> {
        let here = u16::try_from(nodes.len()).ok().filter(|here| *here > 0)?;
        let mut open = Open::default();
        for (hash, node) in nodes {
            open.bytes.extend_from_slice(node);
            open.end(hash, open.bytes.len() as u32, node.len() as u32);
        }
        let mut end = open.bytes.len() as u32;
        for (hash, len) in remote {
            end += u32::from(*len);
            open.end(hash, end, u32::from(*len));
        }
        let sealed = open.seal_all(1 << Stream::Inner as u8);
        let mut table = sealed.table.into_bytes();
        if !remote.is_empty() {
            table[6..8].copy_from_slice(&here.to_le_bytes());
        }
        Some(Self { bytes: sealed.bytes, table: Table::decode(table).ok()? })
    }

    /// Makes a segment of one chunk with this hash, which is not checked.
    pub fn of_one(hash: &Hash, chunk: &[u8]) -> Self {
        let mut open = Open { bytes: chunk.to_vec(), ..Open::default() };
        open.end(hash, chunk.len() as u32, chunk.len() as u32);
        open.seal_all(0)
    }
}

#[derive(Debug, Default)]
struct Open {
    bytes: Vec<u8>,
    hashes: Vec<u8>,
    ends: Vec<u8>,
    lens: Vec<u8>,
}

impl Open {
    /// Records a chunk of `len` bytes that ends at `end` in the segment.
    fn end(&mut self, hash: &Hash, end: u32, len: u32) {
        self.hashes.extend_from_slice(&hash.0);
        self.ends.extend_from_slice(&end.to_le_bytes());
        self.lens.extend_from_slice(&len.to_le_bytes());
    }

    fn seal(&mut self, streams: u8) -> Option<Sealed> {
        (!self.ends.is_empty()).then(|| self.seal_all(streams))
    }

    fn seal_all(&mut self, streams: u8) -> Sealed {
        let count = self.ends.len() / 4;
        let mut table = Vec::with_capacity(TABLE_HEADER_BYTES + count * TABLE_ENTRY_BYTES);
        table.extend_from_slice(&MAGIC);
        table.extend_from_slice(&[VERSION, streams, 0, 0]);
        table.extend_from_slice(&(count as u32).to_le_bytes());
        table.extend_from_slice(&self.hashes);
        table.extend_from_slice(&self.ends);
        table.extend_from_slice(&self.lens);
        self.hashes.clear();
        self.ends.clear();
        self.lens.clear();
        let mut bytes = core::mem::take(&mut self.bytes);
        bytes.shrink_to_fit();
        Sealed { bytes, table: Table::of_all_here(table, count) }
    }
}

/// Packs new chunks into segments.
///
/// ```
/// use hedgerow_trees::segment::{Packer, Stream};
///
/// let mut packer = Packer::new();
/// let hash = packer.put(Stream::Value, |chunk| chunk.extend_from_slice(b"bytes of a chunk"));
/// packer.seal();
/// let segment = packer.take_sealed().remove(0);
/// assert_eq!(segment.table.hash(0), hash);
/// assert_eq!(&*segment.table.chunk(&segment.bytes, 0), b"bytes of a chunk");
/// ```
#[derive(Debug, Default)]
pub struct Packer {
    streams: [Open; 3],
    /// The leaf or value that is being made.
    chunk: Vec<u8>,
    compressor: Compressor,
    sealed: Vec<Sealed>,
    chunks: u64,
    bytes: u64,
}

impl Packer {
    /// Makes an empty packer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the chunk that `write` appends to the buffer, and returns its hash.
    pub fn put(&mut self, stream: Stream, write: impl FnOnce(&mut Vec<u8>)) -> Hash {
        let open = &mut self.streams[stream as usize];
        let start = open.bytes.len();
        if start == 0 {
            // One allocation for a full segment; a small commit stays small.
            open.bytes.reserve(if self.chunks > 64 {
                SEGMENT_BYTES + SEGMENT_BYTES / 4
            } else {
                0
            });
        }
        let (hash, len) = if stream == Stream::Inner {
            // Hashes, most of it.
            write(&mut open.bytes);
            (Hash::of(&open.bytes[start..]), open.bytes.len() - start)
        } else {
            self.chunk.clear();
            write(&mut self.chunk);
            self.compressor.pack(&self.chunk, &mut open.bytes);
            (Hash::of(&self.chunk), self.chunk.len())
        };
        self.put_end(stream, start, &hash, len);
        hash
    }

    /// Adds a chunk of `len` bytes with a known hash, as another segment stores it: packed, or as it is.
    pub fn put_known(&mut self, stream: Stream, hash: Hash, stored: &[u8], len: usize) {
        let open = &mut self.streams[stream as usize];
        let start = open.bytes.len();
        open.bytes.extend_from_slice(stored);
        self.put_end(stream, start, &hash, len);
    }

    /// Records the chunk of `len` bytes that is stored from `start` to the end of the stream.
    fn put_end(&mut self, stream: Stream, start: usize, hash: &Hash, len: usize) {
        let open = &mut self.streams[stream as usize];
        open.end(hash, open.bytes.len() as u32, len as u32);
        self.chunks += 1;
        self.bytes += (open.bytes.len() - start) as u64;
        if open.bytes.len() >= SEGMENT_BYTES {
            self.sealed.extend(open.seal(1 << stream as u8));
        }
    }

    /// Seals the open chunks: all streams in one segment if they fit, so that a small commit is one
    /// record.
    pub fn seal(&mut self) {
        let total: usize = self.streams.iter().map(|open| open.bytes.len()).sum();
        let used = self.streams.iter().enumerate().filter(|(_, open)| !open.ends.is_empty());
        let streams = used.map(|(stream, _)| 1 << stream).sum();
        if total <= SEGMENT_BYTES {
            let [first, rest @ ..] = &mut self.streams;
            first.bytes.reserve_exact(total - first.bytes.len());
            for open in rest {
                let base = first.bytes.len() as u32;
                first.bytes.append(&mut open.bytes);
                first.hashes.append(&mut open.hashes);
                first.lens.append(&mut open.lens);
                for end in open.ends.chunks_exact(4) {
                    first.ends.extend_from_slice(&(base + u32_at(end, 0)).to_le_bytes());
                }
                open.ends.clear();
            }
            self.sealed.extend(first.seal(streams));
        }
        self.seal_apart();
    }

    /// Seals the open chunks, each stream in a segment of its own.
    pub fn seal_apart(&mut self) {
        for (stream, open) in self.streams.iter_mut().enumerate() {
            self.sealed.extend(open.seal(1 << stream));
        }
    }

    /// Takes the segments that are finished.
    pub fn take_sealed(&mut self) -> Vec<Sealed> {
        core::mem::take(&mut self.sealed)
    }

    /// Returns the number of chunks packed so far.
    #[must_use]
    pub const fn chunks(&self) -> u64 {
        self.chunks
    }

    /// Returns the bytes of segments so far.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Field;

    fn packed(chunks: &[&[u8]]) -> Vec<Sealed> {
        let mut packer = Packer::new();
        for chunk in chunks {
            packer.put(Stream::Leaf, |out| out.extend_from_slice(chunk));
        }
        packer.seal();
        packer.take_sealed()
    }

    #[test]
    fn a_table_finds_every_chunk() {
        let sealed = packed(&[b"one", b"three", b"seven"]);
        assert_eq!(sealed.len(), 1);
        let table = Table::decode(sealed[0].table.bytes().to_vec()).unwrap();
        assert_eq!(table.len(), 3);
        assert_eq!(&sealed[0].bytes[table.range(1)], b"three");
        assert_eq!(table.hash(2), Hash::of(b"seven"));
        assert_eq!(table.segment_len(), 13);
        let at: Vec<_> = (0..15).filter_map(|start| table.chunk_at(start)).collect();
        assert_eq!((at, table.chunk_at(3)), (alloc::vec![0, 1, 2], Some(1)));
    }

    #[test]
    fn streams_share_a_segment_when_it_is_small() {
        let mut packer = Packer::new();
        packer.put(Stream::Inner, |out| out.extend_from_slice(b"inner"));
        packer.put(Stream::Leaf, |out| out.extend_from_slice(b"leaf"));
        packer.put(Stream::Value, |out| out.extend_from_slice(b"value"));
        packer.seal();
        let sealed = packer.take_sealed();
        assert_eq!(sealed.len(), 1);
        let chunks: Vec<_> = (0..3).map(|at| &sealed[0].bytes[sealed[0].table.range(at)]).collect();
        assert_eq!(chunks, [&b"leaf"[..], b"inner", b"value"]);
    }

    #[test]
    fn a_full_segment_is_sealed_at_once_and_streams_stay_apart() {
        let mut packer = Packer::new();
        packer.put(Stream::Inner, |out| out.extend_from_slice(b"inner"));
        for byte in 0..3 {
            packer.put(Stream::Leaf, |out| out.resize(out.len() + SEGMENT_BYTES / 2, byte));
        }
        assert_eq!(packer.take_sealed().len(), 1);
        packer.put(Stream::Leaf, |out| out.resize(out.len() + SEGMENT_BYTES / 2 - 1, 9));
        packer.seal();
        assert_eq!(packer.take_sealed().len(), 2);
    }

    #[test]
    fn nothing_packed_seals_nothing() {
        assert!(packed(&[]).is_empty());
    }

    #[test]
    fn a_malformed_table_is_refused() {
        let good = packed(&[b"one", b"three"])[0].table.bytes().to_vec();
        let field = |bytes: Vec<u8>| Table::decode(bytes).map(|_| ()).map_err(|error| error.field);
        let changed = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            field(bytes)
        };
        assert_eq!(field(good.clone()), Ok(()));
        assert_eq!(field(good[..11].to_vec()), Err(Field::Length));
        assert_eq!(field(good[..good.len() - 1].to_vec()), Err(Field::Length));
        assert_eq!(changed(0, b'X'), Err(Field::Kind));
        assert_eq!(changed(4, 9), Err(Field::Version));
        assert_eq!(changed(8, 0), Err(Field::Count));
        assert_eq!(changed(8, 3), Err(Field::Length));
        assert_eq!(changed(11, 255), Err(Field::Count));
        assert_eq!(changed(good.len() - 12, 3), Err(Field::Offset));
        assert_eq!(changed(good.len() - 4, 4), Err(Field::Length));
    }
}
