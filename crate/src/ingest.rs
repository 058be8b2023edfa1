//! Takes rows in blocks and makes a new commit of them.
//!
//! Into an empty tree, and as long as keys ascend, rows stream straight into the build, so
//! that memory stays bounded however many there are. From the first key on that does not
//! ascend, and always into a tree with entries, rows are gathered in a [`Batch`] and merged
//! when they take [`SPILL_BYTES`] or the input ends.

use crate::batch::{Batch, Edit};
use crate::boundary::Shape;
use crate::cache::Cache;
use crate::error::{Error, RowFault};
use crate::forest::{Forest, ROWS};
use crate::hash::Hash;
use crate::json::{JsonFault, Pointer, skip_space, skip_value, unquote};
use crate::limits::{MAX_KEY_BYTES, MAX_VALUE_BYTES};
use crate::segment::{Packer, Sealed};
use crate::step::{Budget, Step};
use crate::tree::{Builder, Merge, Range, Replace, Tree};
use crate::value::Kind;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Gathered rows are merged into the tree when they take more memory than this.
pub const SPILL_BYTES: usize = 48 << 20;

/// How the rows of a block are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// `[key, value, key, value, ...]`.
    Pairs,
    /// `[row, row, ...]`, the key of each at a pointer.
    Rows(Pointer),
    /// `[key, key, ...]`: rows to be deleted.
    Deletes,
}

/// A byte value of a block of pairs, where the text holds a place for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteValue {
    /// The row, counted from the first of the block.
    pub row: u32,
    /// Where the bytes start in the block.
    pub start: u32,
    /// Their length.
    pub len: u32,
}

#[derive(Debug, Default)]
struct Block {
    bytes: Vec<u8>,
    /// Where the text ends and byte values start.
    text_len: usize,
    values: Vec<ByteValue>,
    next_value: usize,
    row: u32,
    at: usize,
    /// The closing bracket was read.
    closed: bool,
}

#[derive(Debug)]
enum State {
    Stream(Box<Builder>),
    Gather(Batch),
    Sort(Batch),
    Replace(Batch, Box<Replace>),
    Merge(Batch, Box<Merge>),
}

/// See the module's text. Feed a block, call [`Ingest::step`] until it is done, and so on;
/// after the last, call [`Ingest::finish`] and step until done again. After each step take
/// [`Ingest::sealed`] into the cache before the next.
#[derive(Debug)]
pub struct Ingest {
    shape: Shape,
    forest: Forest,
    tree: Tree,
    state: State,
    format: Format,
    prefix: Vec<u8>,
    block: Block,
    key: Vec<u8>,
    last_key: Option<Vec<u8>>,
    rows: u64,
    finishing: bool,
    /// Ranges to be emptied before the next block.
    drop: Option<Range>,
    commit: Option<Hash>,
    sealed: Vec<Sealed>,
    chunks: u64,
    chunk_bytes: u64,
    fast: u64,
}

impl Ingest {
    /// An ingest on top of `forest`. `prefix` is put before every key.
    #[must_use]
    pub fn new(forest: Forest, prefix: Vec<u8>, shape: Shape) -> Self {
        let tree = forest.tree(ROWS);
        let state = if tree.is_empty() {
            State::Stream(Box::new(Builder::new(shape)))
        } else {
            State::Gather(Batch::new())
        };
        Self {
            shape,
            forest,
            tree,
            state,
            format: Format::Pairs,
            prefix,
            block: Block::default(),
            key: Vec::new(),
            last_key: None,
            rows: 0,
            finishing: false,
            drop: None,
            commit: None,
            sealed: Vec::new(),
            chunks: 0,
            chunk_bytes: 0,
            fast: 0,
        }
    }

    /// Takes back the buffer of the last block, to be filled with the next.
    pub fn take_buffer(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.block.bytes)
    }

    /// Gives the next block: `text_len` bytes of JSON, an array, then the byte values that
    /// `values` names in the order of their rows.
    pub fn feed(
        &mut self,
        bytes: Vec<u8>,
        text_len: usize,
        values: Vec<ByteValue>,
        format: Format,
    ) {
        let text_len = text_len.min(bytes.len());
        self.block = Block { bytes, text_len, values, ..Block::default() };
        self.format = format;
    }

    /// Deletes all rows of `range`, instead of a block. Costs what is at its two ends.
    pub fn drop_range(&mut self, range: Range) {
        self.block = Block { bytes: core::mem::take(&mut self.block.bytes), ..Block::default() };
        self.drop = Some(range);
    }

    /// There are no more rows: the next steps make the commit.
    pub const fn finish(&mut self) {
        self.finishing = true;
    }

    /// Goes on with the block, or with the commit after [`Ingest::finish`].
    ///
    /// # Errors
    /// [`Error::Row`] for a bad row; as [`Cache::node`] while merging. The ingest is then of
    /// no more use.
    pub fn step(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<()>, Error> {
        loop {
            match &mut self.state {
                State::Stream(_) if self.drop.is_some() => self.end_stream(),
                State::Stream(_) => {
                    let done = self.take_rows(budget)?;
                    self.collect();
                    if !done {
                        return Ok(Step::Yield);
                    }
                    if self.finishing {
                        self.end_stream();
                    }
                    return Ok(Step::Done(()));
                }
                State::Gather(_) if self.commit.is_some() => return Ok(Step::Done(())),
                State::Gather(batch) => {
                    if batch.held_bytes() > SPILL_BYTES {
                        self.start_merge();
                        continue;
                    }
                    if !self.take_rows(budget)? {
                        return Ok(Step::Yield);
                    }
                    let State::Gather(batch) = &mut self.state else { continue };
                    batch.close_run();
                    if batch.is_empty()
                        && let Some(range) = self.drop.take()
                    {
                        let merge = Box::new(Merge::dropping(self.tree, range, self.shape));
                        self.state = State::Merge(Batch::new(), merge);
                        return Ok(Step::Yield);
                    }
                    if self.drop.is_some() {
                        self.start_merge();
                        continue;
                    }
                    if !self.finishing {
                        return Ok(Step::Done(()));
                    }
                    if batch.is_empty() {
                        self.end(self.tree, Packer::new());
                    } else {
                        self.start_merge();
                    }
                }
                State::Sort(batch) => {
                    if !batch.sort(budget) {
                        return Ok(Step::Yield);
                    }
                    let batch = core::mem::take(batch);
                    self.state = if batch.len() == 1 {
                        State::Replace(batch, Box::new(Replace::new(self.tree, self.shape)))
                    } else {
                        let merge = Box::new(Merge::new(self.tree, &batch, self.shape));
                        State::Merge(batch, merge)
                    };
                }
                State::Replace(batch, replace) => match replace.step(cache, batch)? {
                    Step::Done(Some(tree)) => {
                        let packer = core::mem::take(replace.packer());
                        self.fast += 1;
                        return Ok(self.end(tree, packer));
                    }
                    Step::Done(None) => {
                        let batch = core::mem::take(batch);
                        let merge = Box::new(Merge::new(self.tree, &batch, self.shape));
                        self.state = State::Merge(batch, merge);
                    }
                    Step::Need(ids) => return Ok(Step::Need(ids)),
                    Step::Yield => return Ok(Step::Yield),
                },
                State::Merge(batch, merge) => match merge.step(cache, batch, budget)? {
                    Step::Done(tree) => {
                        let packer = core::mem::take(merge.packer());
                        return Ok(self.end(tree, packer));
                    }
                    Step::Need(ids) => {
                        self.collect();
                        return Ok(Step::Need(ids));
                    }
                    Step::Yield => {
                        self.collect();
                        return Ok(Step::Yield);
                    }
                },
            }
        }
    }

    fn start_merge(&mut self) {
        if let State::Gather(batch) = &mut self.state {
            batch.close_run();
            self.state = State::Sort(core::mem::take(batch));
        }
    }

    fn end_stream(&mut self) {
        if let State::Stream(builder) = &mut self.state {
            let tree = builder.finish().tree;
            let packer = core::mem::take(builder.packer());
            self.end(tree, packer);
        }
    }

    /// Ends a build or a merge, and after the last one names the tree in a commit chunk,
    /// packed with the rest: a small change is then one segment.
    fn end(&mut self, tree: Tree, mut packer: Packer) -> Step<()> {
        self.tree = tree;
        self.state = State::Gather(Batch::new());
        let ended = self.finishing && self.block.at >= self.block.text_len;
        if ended {
            self.forest.set(ROWS, tree);
            self.commit = Some(self.forest.commit(&mut packer));
        }
        packer.seal();
        self.sealed.extend(packer.take_sealed());
        self.chunks += packer.chunks();
        self.chunk_bytes += packer.bytes();
        if ended { Step::Done(()) } else { Step::Yield }
    }

    fn collect(&mut self) {
        match &mut self.state {
            State::Stream(builder) => self.sealed.extend(builder.packer().take_sealed()),
            State::Merge(_, merge) => self.sealed.extend(merge.packer().take_sealed()),
            State::Replace(_, replace) => self.sealed.extend(replace.packer().take_sealed()),
            State::Gather(_) | State::Sort(_) => {}
        }
    }

    /// Reads rows of the block until its end, the end of the budget, or the first key that
    /// makes the stream a batch. Whether the block is at its end.
    fn take_rows(&mut self, budget: &mut Budget) -> Result<bool, Error> {
        while self.block.at < self.block.text_len {
            if budget.is_spent() {
                return Ok(false);
            }
            let before = self.block.at;
            let streaming = matches!(self.state, State::Stream(_));
            if !self.take_row()? {
                break;
            }
            budget.spend(self.block.at - before + 64);
            if streaming && !matches!(self.state, State::Stream(_)) {
                return Ok(false);
            }
        }
        if self.block.text_len > 0 && !self.block.closed {
            let (row, offset) = (self.rows, self.block.text_len);
            return Err(Error::Row { row, offset, fault: RowFault::Syntax });
        }
        Ok(true)
    }

    /// Reads the next row of the block; `false` at its end.
    fn take_row(&mut self) -> Result<bool, Error> {
        let Self { block, key, .. } = self;
        let row = self.rows;
        let text = &block.bytes[..block.text_len];
        let bad = |offset, fault| Error::Row { row, offset, fault };
        let syntax = |fault| match fault {
            JsonFault::Syntax(offset) => bad(offset, RowFault::Syntax),
            JsonFault::TooDeep(offset) => bad(offset, RowFault::TooDeep),
        };
        // The bracket or the comma before the row.
        let mut at = skip_space(text, block.at);
        let opening = block.row == 0 && block.at == 0;
        let closing = match text.get(at) {
            Some(b'[') if opening => {
                at = skip_space(text, at + 1);
                text.get(at) == Some(&b']')
            }
            Some(b',') if !opening => {
                at = skip_space(text, at + 1);
                false
            }
            Some(b']') if !opening => true,
            _ => return Err(bad(at, RowFault::Syntax)),
        };
        if closing {
            let end = skip_space(text, at + 1);
            if end < text.len() {
                return Err(bad(end, RowFault::Syntax));
            }
            (block.at, block.closed) = (text.len(), true);
            return Ok(false);
        }
        let (key_text, mut value, end) = match &self.format {
            Format::Deletes => {
                let end = skip_value(text, at).map_err(syntax)?;
                (at..end, None, end)
            }
            Format::Pairs => {
                let end = skip_value(text, at).map_err(syntax)?;
                let comma = skip_space(text, end);
                if text.get(comma) != Some(&b',') {
                    return Err(bad(comma, RowFault::Syntax));
                }
                let from = skip_space(text, comma + 1);
                let to = skip_value(text, from).map_err(syntax)?;
                (at..end, Some(from..to), to)
            }
            Format::Rows(pointer) => {
                let (found, end) = pointer.locate(text, at).map_err(syntax)?;
                let found = found.ok_or_else(|| bad(at, RowFault::KeyMissing))?;
                (found, Some(at..end), end)
            }
        };
        if let Err(error) = core::str::from_utf8(&text[at..end]) {
            return Err(bad(at + error.valid_up_to(), RowFault::Syntax));
        }
        if text.get(key_text.start) != Some(&b'"') {
            return Err(bad(key_text.start, RowFault::KeyNotString));
        }
        key.clear();
        key.extend_from_slice(&self.prefix);
        unquote(&text[key_text.clone()], key)
            .map_err(|_| bad(key_text.start, RowFault::KeyLoneSurrogate))?;
        if key.len() > MAX_KEY_BYTES {
            return Err(bad(key_text.start, RowFault::KeyTooLong));
        }
        let byte_value = block.values.get(block.next_value).filter(|value| value.row == block.row);
        let kind = if byte_value.is_some() { Kind::Bytes } else { Kind::Json };
        if let Some(bytes) = byte_value {
            let start = bytes.start as usize;
            value = Some(start..start + bytes.len as usize);
        }
        let edit = match value {
            None => Edit::Delete,
            Some(range) => {
                let value = block.bytes.get(range).ok_or_else(|| bad(at, RowFault::Syntax))?;
                if value.len() > MAX_VALUE_BYTES {
                    return Err(bad(at, RowFault::ValueTooLarge));
                }
                Edit::Put(kind, value)
            }
        };
        if let State::Stream(_) = &self.state {
            let ascends = self.last_key.as_ref().is_none_or(|last| last < key);
            if !ascends || edit == Edit::Delete {
                // This row is read again, into the batch.
                self.end_stream();
                return Ok(true);
            }
        }
        match (&mut self.state, edit) {
            (State::Stream(builder), Edit::Put(kind, value)) => {
                builder.push(key, kind, value);
                core::mem::swap(self.last_key.get_or_insert_default(), key);
            }
            (State::Gather(batch), edit) => batch.push(key, edit),
            _ => {}
        }
        block.at = end;
        block.next_value += usize::from(kind == Kind::Bytes);
        block.row += 1;
        self.rows += 1;
        Ok(true)
    }

    /// Takes the segments that are finished.
    pub fn sealed(&mut self) -> Vec<Sealed> {
        core::mem::take(&mut self.sealed)
    }

    /// The commit chunk and the forest, after the last step.
    #[must_use]
    pub fn committed(&self) -> Option<(Hash, &Forest)> {
        self.commit.map(|hash| (hash, &self.forest))
    }

    /// Rows read so far.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// How many edits took the fast path ([`Replace`]).
    #[must_use]
    pub const fn fast(&self) -> u64 {
        self.fast
    }

    /// Chunks made, known after the last step.
    #[must_use]
    pub const fn chunks(&self) -> u64 {
        self.chunks
    }

    /// Bytes of those chunks.
    #[must_use]
    pub const fn chunk_bytes(&self) -> u64 {
        self.chunk_bytes
    }
}
