//! Takes rows in blocks and makes a new commit of them.
//!
//! Into an empty tree, and as long as keys ascend, rows stream straight into the build, so
//! that memory stays bounded however many there are. From the first key on that does not
//! ascend, and always into a tree with entries, rows are gathered in a [`Batch`] and merged
//! when they take [`SPILL_BYTES`] or the input ends.

use crate::batch::{Batch, Edit};
use crate::boundary::Shape;
use crate::cache::Cache;
use crate::error::Error;
use crate::forest::{Forest, ROWS};
use crate::hash::Hash;
use crate::rows::{Block, Bytes, Next, Reader};
use crate::segment::{Packer, Sealed};
use crate::step::{Budget, Step};
use crate::tree::{Builder, Merge, Range, Rebase, Replace, Touched, Tree};
use alloc::boxed::Box;
use alloc::vec::Vec;

pub use crate::rows::{ByteValue, Format};

/// Gathered rows are merged into the tree when they take more memory than this.
pub const SPILL_BYTES: usize = 48 << 20;

#[derive(Debug)]
enum State {
    Stream(Box<Builder>),
    Gather(Batch),
    Sort(Batch),
    Replace(Batch, Box<Replace>),
    Merge(Batch, Box<Merge>),
    Rebase(Batch, Box<Rebase>),
}

/// See the module's text. Feed its [`Reader`], call [`Ingest::step`] until it is done, and so on;
/// after the last, call [`Ingest::finish`] and step until done again. After each step take
/// [`Ingest::sealed`] into the cache before the next.
#[derive(Debug)]
pub struct Ingest {
    shape: Shape,
    forest: Forest,
    /// The tree of rows that the change began with, or was brought onto.
    base: Tree,
    /// What the change made of an empty tree; once it was brought onto another.
    own: Option<Tree>,
    touched: Touched,
    rebase: Option<Box<Rebase>>,
    tree: Tree,
    state: State,
    reader: Reader,
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
    /// An ingest of blocks on top of `forest`. `prefix` is put before every key.
    #[must_use]
    pub fn new(forest: Forest, prefix: Vec<u8>, shape: Shape) -> Self {
        Self::from(forest, Reader::Block(Block::new(prefix)), shape)
    }

    /// An ingest of a stream of bytes on top of `forest`.
    #[must_use]
    pub fn of_bytes(forest: Forest, bytes: Bytes, shape: Shape) -> Self {
        Self::from(forest, Reader::Bytes(Box::new(bytes)), shape)
    }

    fn from(forest: Forest, reader: Reader, shape: Shape) -> Self {
        let tree = forest.tree(ROWS);
        let state = if tree.is_empty() {
            State::Stream(Box::new(Builder::new(shape)))
        } else {
            State::Gather(Batch::new())
        };
        Self {
            shape,
            forest,
            base: tree,
            own: None,
            touched: Touched::default(),
            rebase: None,
            tree,
            state,
            reader,
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
        match &mut self.reader {
            Reader::Block(block) => block.take_buffer(),
            Reader::Bytes(_) => Vec::new(),
        }
    }

    /// Gives the next block, see [`Block::feed`].
    pub fn feed(
        &mut self,
        bytes: Vec<u8>,
        text_len: usize,
        values: Vec<ByteValue>,
        format: Format,
    ) {
        if let Reader::Block(block) = &mut self.reader {
            block.feed(bytes, text_len, values, format);
        }
    }

    /// The stream of bytes, if it is one that is ingested.
    pub const fn bytes(&mut self) -> Option<&mut Bytes> {
        match &mut self.reader {
            Reader::Block(_) => None,
            Reader::Bytes(bytes) => Some(bytes),
        }
    }

    /// Deletes all rows of `range`, instead of a block. Costs what is at its two ends.
    pub fn drop_range(&mut self, range: Range) {
        self.touched.add_range(range.clone());
        self.drop = Some(range);
    }

    /// Brings the change, whose commit was made, onto the commit `theirs` that another writer
    /// made meanwhile: the next steps make a commit of both. What this change has touched
    /// stays as this change left it, but for the keys `kept`, which stay as they are in `theirs`.
    /// Costs what the other writer changed.
    pub fn rebase(&mut self, theirs: Forest, kept: Vec<Vec<u8>>) {
        self.commit = None;
        if self.base.is_empty() && self.own.is_none() {
            self.own = Some(self.tree);
        }
        self.touched.close();
        let onto = theirs.tree(ROWS);
        let rebase = Box::new(Rebase::new(self.base, onto, self.own, kept));
        self.base = onto;
        self.forest = theirs;
        self.state = State::Rebase(Batch::new(), rebase);
    }

    /// Has the next [`Ingest::rebase`] bring in what was changed since `forest`, an ancestor of
    /// what this change began with and of the other commit: a merge of three.
    pub fn since(&mut self, forest: &Forest) {
        let own = if self.base.is_empty() { self.tree } else { Tree::EMPTY };
        self.own.get_or_insert(own);
        self.base = forest.tree(ROWS);
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
                State::Rebase(..) => return self.step_rebase(cache, budget),
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

    /// Gathers what another writer has changed, and has it merged when it takes too much memory.
    fn step_rebase(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<()>, Error> {
        let State::Rebase(batch, rebase) = &mut self.state else { return Ok(Step::Yield) };
        let step = rebase.step(cache, &self.touched, batch, budget)?;
        let done = matches!(step, Step::Done(()));
        if !done && batch.held_bytes() <= SPILL_BYTES {
            return Ok(step);
        }
        batch.close_run();
        let batch = core::mem::take(batch);
        if done && batch.is_empty() {
            return Ok(self.end(self.tree, Packer::new()));
        }
        if let State::Rebase(_, rebase) = core::mem::replace(&mut self.state, State::Sort(batch))
            && !done
        {
            self.rebase = Some(rebase);
        }
        Ok(Step::Yield)
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
        if let Some(rebase) = self.rebase.take() {
            self.state = State::Rebase(Batch::new(), rebase);
        }
        let rebasing = matches!(self.state, State::Rebase(..));
        let ended = self.finishing && self.reader.is_spent() && !rebasing;
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
            State::Gather(_) | State::Sort(_) | State::Rebase(..) => {}
        }
    }

    /// Reads rows until there are no more, the budget ends, or the first key comes that makes
    /// the stream a batch. Whether there are no more.
    fn take_rows(&mut self, budget: &mut Budget) -> Result<bool, Error> {
        loop {
            if budget.is_spent() {
                return Ok(false);
            }
            self.key.clear();
            let Next::Row(edit) = self.reader.peek(self.rows, &mut self.key)? else {
                return Ok(true);
            };
            match (&mut self.state, edit) {
                (State::Stream(builder), Edit::Put(kind, value))
                    if self.last_key.as_ref().is_none_or(|last| *last < self.key) =>
                {
                    builder.push(&self.key, kind, value);
                    core::mem::swap(self.last_key.get_or_insert_default(), &mut self.key);
                }
                (State::Gather(batch), edit) => {
                    // What an empty tree becomes tells by itself which keys were put.
                    if !self.base.is_empty() || edit == Edit::Delete {
                        self.touched.add(&self.key);
                    }
                    batch.push(&self.key, edit);
                }
                _ => {
                    // The row stays next, for the batch.
                    self.end_stream();
                    return Ok(false);
                }
            }
            self.rows += 1;
            budget.spend(self.reader.advance() + 64);
        }
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
