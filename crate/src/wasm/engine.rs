//! The state of one store in linear memory, and what exported functions do with it.

use super::reply::{Reply, status};
use crate::cache::{Cache, Fetch, SegmentId};
use crate::chunk::ChunkKind;
use crate::collect::{Collect, Thoroughness};
use crate::error::{Error, RowFault};
use crate::forest::{Forest, Named, ROWS};
use crate::hash::{HASH_BYTES, Hash};
use crate::index::{Definition, IndexScan};
use crate::ingest::{ByteValue, Format, Ingest};
use crate::json::{Pointer, skip_space, skip_value};
use crate::output::Output;
use crate::rows::{Block, Bytes, Columns, Framing, Reader, read_key};
use crate::secret::Secret;
use crate::segment::Sealed;
use crate::step::{Budget, Step};
use crate::tree::{Count, Diff, Find, Parts, Range, Scan, Tree, get};
use crate::value::Kind;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Bound;

/// An ingest and what the host is to fetch from it.
pub struct IngestOp {
    pub ingest: Ingest,
    pub buffer: Vec<u8>,
    pointer: Pointer,
    pub made: Made,
}

/// A collection and what the host is to exchange for it.
pub struct CollectOp {
    collect: Collect,
    gone: Vec<SegmentId>,
    gone_words: Vec<f64>,
    made: Made,
}

/// Segments that an operation has made, and how many of them the host has taken.
#[derive(Default)]
pub struct Made {
    ids: Vec<SegmentId>,
    taken: usize,
}

impl Made {
    pub fn add(&mut self, cache: &mut Cache, next_segment: &mut SegmentId, sealed: Vec<Sealed>) {
        for sealed in sealed {
            cache.add_fresh(*next_segment, sealed);
            self.ids.push(*next_segment);
            *next_segment += 1;
        }
    }
}

pub enum Op {
    Find { find: Find, out: Output, found: Vec<u32> },
    Scan { scan: Scan, out: Output },
    IndexScan { scan: IndexScan, out: Output },
    Diff { diff: Diff, out: Output },
    Count(Count),
    Ingest(Box<IngestOp>),
    Collect(Box<CollectOp>),
}

#[derive(Default)]
pub struct Engine {
    pub cache: Cache,
    pub scratch: Vec<u8>,
    pub incoming: Vec<u8>,
    pub reply: Reply,
    pub views: Vec<Option<Forest>>,
    /// The tree of rows of each view, which every `get` asks for.
    rows: Vec<Tree>,
    pub next_segment: SegmentId,
    /// Those that the host has asked for.
    pub indexes: Vec<Definition>,
    /// The key that the last reply points to.
    pub reach: Vec<u8>,
    pub ops: Vec<Option<Op>>,
}

/// Where in a reply the text of the keys is told: behind all else that a verification tells.
const KEYS_AT: usize = 12;

pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
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
            0 => Format::Pairs,
            1 => Format::Rows(self.pointer.clone()),
            2 => Format::Deletes,
            _ => Format::Patch,
        };
        self.ingest.feed(buffer, text_len, values, format);
    }
}

impl CollectOp {
    fn step(
        &mut self,
        cache: &mut Cache,
        reply: &mut Reply,
        next_segment: &mut SegmentId,
        budget: &mut Budget,
    ) -> Result<Step<()>, Error> {
        let exchange = match self.collect.step(cache, budget)? {
            Step::Done(exchange) => exchange,
            Step::Need(ids) => return Ok(Step::Need(ids)),
            Step::Yield => return Ok(Step::Yield),
        };
        let (gone, sealed) = exchange.map(|next| (next.gone, next.sealed)).unwrap_or_default();
        // What was not exchanged stays as it was.
        core::mem::take(&mut self.made).ids.iter().for_each(|id| cache.remove(*id));
        self.made.add(cache, next_segment, sealed);
        let ids = if gone.is_empty() { self.collect.surveyed() } else { &gone };
        self.gone_words = ids.iter().map(|id| *id as f64).collect();
        self.gone = gone;
        let totals = self.collect.totals();
        reply.set(&[
            f64::from(self.gone_words.as_ptr() as u32),
            self.gone_words.len() as f64,
            totals.stored as f64,
            totals.live as f64,
            totals.values as f64,
            f64::from(u8::from(totals.exact)),
        ]);
        Ok(Step::Done(()))
    }
}

impl Engine {
    pub fn new(cache_bytes: usize, secret: Secret) -> Self {
        Self { cache: Cache::keyed(cache_bytes, secret), ..Self::default() }
    }

    pub fn op(&mut self, op: u32) -> Option<&mut Op> {
        self.ops.get_mut(op as usize)?.as_mut()
    }

    fn add_op(&mut self, op: Op) -> u32 {
        let at = self.ops.iter().position(Option::is_none).unwrap_or(self.ops.len());
        if at == self.ops.len() {
            self.ops.push(None);
        }
        self.ops[at] = Some(op);
        at as u32
    }

    pub fn tree(&self, view: u32) -> Tree {
        self.rows.get(view as usize).copied().unwrap_or_default()
    }

    pub fn open_view(&mut self) -> u32 {
        let hash = Hash::read(&self.scratch[..HASH_BYTES]);
        let forest = if hash == Hash::ZERO {
            Forest::new()
        } else {
            let malformed = |cause| Error::CorruptChunk { hash, cause: Some(cause) };
            let decoded = match self.cache.chunk(&hash, ChunkKind::Commit) {
                Ok(Fetch::Here(bytes)) => Forest::decode(bytes).map_err(malformed),
                Ok(Fetch::At(id)) => return self.reply.need(&[id]),
                Err(error) => Err(error),
            };
            match decoded {
                Ok(forest) => forest,
                Err(error) => return self.reply.error(&error),
            }
        };
        let rows = forest.tree(ROWS);
        let at = self.views.iter().position(Option::is_none).unwrap_or(self.views.len());
        if at == self.views.len() {
            self.views.push(None);
            self.rows.push(rows);
        }
        self.rows[at] = rows;
        self.views[at] = Some(forest);
        self.reply.set(&[at as f64, rows.count as f64]);
        status::DONE
    }

    pub fn get(&mut self, view: u32, len: usize) -> u32 {
        let tree = self.tree(view);
        match get(&self.cache, tree, &self.scratch[..len]) {
            Ok(Fetch::Here(None)) => self.reply.set(&[0.0]),
            Ok(Fetch::Here(Some(entry))) if entry.tag.far => return status::FAR,
            Ok(Fetch::Here(Some(entry))) => {
                let kind = if entry.tag.kind == Kind::Json { 1.0 } else { 2.0 };
                let address = f64::from(entry.value.as_ptr() as u32);
                self.reply.set(&[kind, address, entry.value.len() as f64]);
            }
            Ok(Fetch::At(id)) => return self.reply.need(&[id]),
            Err(error) => return self.reply.error(&error),
        }
        status::DONE
    }

    pub fn find(&mut self, view: u32, len: usize) -> u32 {
        match keys(&self.scratch[..len]) {
            Ok(keys) => {
                let find = Find::new(self.tree(view), keys.iter().map(|key| &**key));
                self.add_op(Op::Find { find, out: Output::new(), found: Vec::new() })
            }
            Err(error) => {
                self.reply.error(&error);
                status::NO_OP
            }
        }
    }

    /// The range that the host wrote: for each of prefix, lower and upper bound that `flags`
    /// names, its length and its bytes.
    pub fn range(&self, flags: u32, len: usize) -> Range {
        let mut rest = &self.scratch[..len];
        let mut next = || {
            let (part, after) = rest[4..].split_at(u32_at(rest, 0) as usize);
            rest = after;
            part.to_vec()
        };
        let mut range = if flags & 8 == 0 { Range::ALL } else { Range::prefix(&next()) };
        let mut bound = |kind: u32| match kind & 3 {
            0 => Bound::Unbounded,
            1 => Bound::Included(next()),
            _ => Bound::Excluded(next()),
        };
        let lower = bound(flags >> 4);
        let upper = bound(flags >> 6);
        range = range.and(Range { lower, upper });
        range
    }

    pub fn scan(&mut self, view: u32, flags: u32, len: usize, offset: u64, limit: u64) -> u32 {
        let range = self.range(flags, len);
        if let Some(op) = self.index_scan(view, flags, range.clone(), offset, limit) {
            return self.add_op(op);
        }
        let parts = Parts { keys: flags & 2 != 0, values: flags & 4 != 0 };
        let scan = Scan::new(self.tree(view), range, flags & 1 != 0, limit, parts).after(offset);
        self.add_op(Op::Scan { scan, out: Output::new() })
    }

    pub fn count(&mut self, view: u32, flags: u32, len: usize) -> u32 {
        let count = Count::new(self.tree_of(view, flags), self.range(flags, len));
        self.add_op(Op::Count(count))
    }

    pub fn diff(&mut self, old: u32, new: u32, flags: u32, len: usize) -> u32 {
        let diff = Diff::new(self.tree(old), self.tree(new), self.range(flags, len));
        self.add_op(Op::Diff { diff, out: Output::new() })
    }

    pub fn ingest_drop(&mut self, op: u32, flags: u32, len: usize) {
        let range = self.range(flags, len);
        if let Some(Op::Ingest(ingest)) = self.op(op) {
            ingest.ingest.drop_range(range);
        }
    }

    pub fn ingest(&mut self, view: u32, prefix_len: usize, pointer_len: usize) -> u32 {
        let (prefix, rest) = self.scratch.split_at(prefix_len);
        let pointer = core::str::from_utf8(&rest[..pointer_len]).ok().and_then(Pointer::parse);
        let Some(pointer) = pointer else { return status::NO_OP };
        let ingest = self.new_ingest(view, Reader::Block(Box::new(Block::new(prefix.to_vec()))));
        let (buffer, made) = (Vec::new(), Made::default());
        self.add_op(Op::Ingest(Box::new(IngestOp { ingest, buffer, pointer, made })))
    }

    pub fn ingest_bytes(
        &mut self,
        view: u32,
        prefix_len: usize,
        pointer_len: i32,
        framing: u32,
    ) -> u32 {
        let (prefix, rest) = self.scratch.split_at(prefix_len);
        let columns = match pointer_len {
            -1 => Columns::Two,
            ..-1 => Columns::Patch,
            len => {
                let pointer =
                    core::str::from_utf8(&rest[..len as usize]).ok().and_then(Pointer::parse);
                let Some(pointer) = pointer else { return status::NO_OP };
                Columns::Keyed(pointer)
            }
        };
        let framing = match framing {
            0 => None,
            1 => Some(Framing::Lines),
            _ => Some(Framing::Array),
        };
        let bytes = Bytes::new(columns, framing, prefix.to_vec());
        let ingest = self.new_ingest(view, Reader::Bytes(Box::new(bytes)));
        let (buffer, made) = (Vec::new(), Made::default());
        let pointer = Pointer::default();
        self.add_op(Op::Ingest(Box::new(IngestOp { ingest, buffer, pointer, made })))
    }

    pub fn ingest_rebase(&mut self, op: u32, view: u32, len: usize) -> u32 {
        let theirs = self.forest(view);
        match keys(&self.scratch[..len]) {
            Ok(kept) => {
                if let Some(Op::Ingest(ingest)) = self.op(op) {
                    ingest.ingest.rebase(theirs, kept);
                }
                status::DONE
            }
            Err(error) => self.reply.error(&error),
        }
    }

    pub fn ingest_since(&mut self, op: u32, view: u32) {
        let forest = self.views.get(view as usize).cloned().flatten().unwrap_or_default();
        if let Some(Op::Ingest(ingest)) = self.op(op) {
            ingest.ingest.since(&forest);
        }
    }

    pub fn total(&mut self, view: u32, len: usize) {
        let forest = self.views.get(view as usize).and_then(Option::as_ref);
        let is = |named: &&Named| named.name.as_bytes().get(1..) == Some(&self.scratch[..len]);
        let named = forest.and_then(|forest| forest.sums().find(is));
        let told = named.and_then(|named| named.reach.as_deref()).unwrap_or_default();
        self.reply.set(&[f64::from(told.as_ptr() as u32), told.len() as f64]);
    }

    pub fn take_segment(&mut self, op: u32) -> u32 {
        let Self { ops, cache, reply, .. } = self;
        let made = match ops.get_mut(op as usize) {
            Some(Some(Op::Ingest(ingest))) => &mut ingest.made,
            Some(Some(Op::Collect(collect))) => &mut collect.made,
            _ => return status::DONE,
        };
        let Some(id) = made.ids.get(made.taken) else { return status::DONE };
        made.taken += 1;
        let Some((bytes, table)) = cache.segment_bytes(*id) else { return status::DONE };
        reply.set(&[
            *id as f64,
            f64::from(bytes.as_ptr() as u32),
            bytes.len() as f64,
            f64::from(table.bytes().as_ptr() as u32),
            table.bytes().len() as f64,
        ]);
        status::SEGMENT
    }

    pub fn step(&mut self, op: u32, budget: usize) -> u32 {
        let Self { ops, cache, reply, next_segment, .. } = self;
        let mut budget = Budget::of(budget);
        let Some(Some(op)) = ops.get_mut(op as usize) else { return status::DONE };
        let result = match op {
            Op::Count(count) => count.step(cache).map(|step| match step {
                Step::Done(count) => {
                    reply.set(&[count as f64]);
                    Step::Done(())
                }
                Step::Need(ids) => Step::Need(ids),
                Step::Yield => Step::Yield,
            }),
            Op::Find { find, out, found } => {
                let step = find.step(cache, &mut budget, out, found);
                if let Ok(Step::Done(())) = step {
                    out.close();
                    set_output(reply, out, found);
                }
                step
            }
            Op::Scan { scan, out } => {
                out.reopen();
                let step = scan.step(cache, &mut budget, out);
                hand_out(reply, out, step)
            }
            Op::IndexScan { scan, out } => {
                out.reopen();
                let step = scan.step(cache, &mut budget, out);
                hand_out(reply, out, step)
            }
            Op::Diff { diff, out } => {
                out.reopen();
                let step = diff.step(cache, &mut budget, out);
                hand_out(reply, out, step)
            }
            Op::Ingest(ingest) => {
                let step = ingest.ingest.step(cache, &mut budget);
                ingest.made.add(cache, next_segment, ingest.ingest.sealed());
                let counts =
                    [ingest.ingest.rows(), ingest.ingest.chunks(), ingest.ingest.chunk_bytes()];
                reply.set(&counts.map(|count| count as f64));
                if let Some((hash, _)) = ingest.ingest.committed() {
                    let [rows, chunks, bytes] = counts.map(|count| count as f64);
                    let address = reply.hash(&hash);
                    reply.set(&[rows, chunks, bytes, address]);
                }
                step
            }
            Op::Collect(collect) => collect.step(cache, reply, next_segment, &mut budget),
        };
        reply.step(result)
    }

    pub fn ahead(&mut self, op: u32) -> u32 {
        let ids = match self.ops.get(op as usize) {
            Some(Some(Op::Scan { scan, .. })) => scan.ahead(&self.cache),
            _ => Vec::new(),
        };
        if ids.is_empty() { status::DONE } else { self.reply.need(&ids) }
    }

    pub fn free(&mut self, op: u32, committed: bool) {
        let Some(slot) = self.ops.get_mut(op as usize) else { return };
        let made = match slot.take() {
            Some(Op::Ingest(ingest)) if !committed => ingest.made,
            Some(Op::Collect(collect)) if !committed => collect.made,
            _ => return,
        };
        made.ids.iter().for_each(|id| self.cache.remove(*id));
    }

    pub fn collect(&mut self, flags: u32, values_before: f64) -> u32 {
        let thoroughness = Thoroughness {
            survey: flags & 1 != 0,
            full: flags & 2 != 0,
            rest: flags & 4 != 0,
            values_before: values_before as u64,
        };
        let mut collect = Collect::new(&self.cache, thoroughness);
        if flags & 8 != 0 {
            collect.spare_room();
        }
        let (gone, gone_words, made) = (Vec::new(), Vec::new(), Made::default());
        self.add_op(Op::Collect(Box::new(CollectOp { collect, gone, gone_words, made })))
    }

    pub fn collect_commit(&mut self, op: u32, may_be_gone: bool) {
        let commit = Hash::read(&self.scratch[..HASH_BYTES]);
        match self.op(op) {
            Some(Op::Collect(collect)) if may_be_gone => collect.collect.add_pinned(commit),
            Some(Op::Collect(collect)) => collect.collect.add_commit(commit),
            _ => {}
        }
    }

    pub fn collect_keep(&mut self, op: u32, from: SegmentId, to: SegmentId) {
        if let Some(Op::Collect(collect)) = self.op(op) {
            collect.collect.keep(from, to);
        }
    }

    pub fn collect_exchanged(&mut self, op: u32) {
        let Self { ops, cache, .. } = self;
        let Some(Some(Op::Collect(collect))) = ops.get_mut(op as usize) else { return };
        core::mem::take(&mut collect.made).ids.iter().for_each(|id| cache.stored(*id));
        for id in core::mem::take(&mut collect.gone) {
            cache.remove(id);
        }
    }
}

/// What is handed out where there is nothing yet.
static NOTHING: &[u8] = b"[]";

/// Hands the output out unless it is to be continued; nothing where it ends in the middle of a value.
pub fn hand_out(
    reply: &mut Reply,
    out: &mut Output,
    step: Result<Step<()>, Error>,
) -> Result<Step<()>, Error> {
    match step {
        Ok(Step::Yield) if out.is_partial() => {
            let text = f64::from(NOTHING.as_ptr() as u32);
            reply.set(&[0.0; 16]);
            reply.set(&[text, NOTHING.len() as f64]);
        }
        Ok(Step::Done(()) | Step::Yield) => {
            out.close();
            set_output(reply, out, &[]);
        }
        _ => {}
    }
    step
}

pub fn set_output(reply: &mut Reply, out: &Output, found: &[u32]) {
    let address = |pointer: *const u8| f64::from(pointer as u32);
    reply.set(&[
        address(out.text.as_ptr()),
        out.text.len() as f64,
        address(out.bytes.as_ptr()),
        address(out.marks.as_ptr().cast()),
        out.marks.len() as f64,
        f64::from(out.values()),
        address(found.as_ptr().cast()),
        found.len() as f64,
    ]);
    reply.add(KEYS_AT, &[address(out.keys.as_ptr()), out.keys.len() as f64]);
}

/// The keys in a JSON array of strings.
pub fn keys(text: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let mut at = skip_space(text, 1);
    while text.get(at).is_some_and(|byte| *byte != b']') {
        let bad = |fault| Error::Row { row: keys.len() as u64, offset: at as u64, fault };
        let end = skip_value(text, at).map_err(|_| bad(RowFault::Syntax))?;
        let mut key = Vec::with_capacity(end - at);
        read_key(&text[at..end], &[], &mut key).map_err(bad)?;
        keys.push(key);
        at = if text.get(end) == Some(&b',') { end + 1 } else { end };
    }
    Ok(keys)
}
