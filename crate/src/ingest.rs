//! Takes rows in blocks and makes a new commit of them.
//!
//! Into an empty tree, and as long as keys ascend, rows stream straight into the build, so
//! that memory stays bounded however many there are. From the first key on that does not
//! ascend, and always into a tree with entries, rows are gathered in a [`Batch`] and merged
//! when they take [`SPILL_BYTES`] or the input ends. Then the indexes are brought to the new tree
//! ([`Keeper`]), and the commit chunk names all of them.

use crate::batch::{Batch, Edit};
use crate::boundary::Shape;
use crate::cache::Cache;
use crate::error::Error;
use crate::forest::{Forest, ROWS};
use crate::hash::Hash;
use crate::index::{Definition, Keeper};
use crate::key::Key;
use crate::limits::PIECE_BYTES;
use crate::rows::{Block, Bytes, Next, Reader};
use crate::secret::Secret;
use crate::segment::{Packer, Sealed};
use crate::step::{Budget, Step};
use crate::tree::{Builder, Fold, Merge, Range, Rebase, Replace, Touched, Tree};
use alloc::boxed::Box;
use alloc::vec::Vec;

pub use crate::rows::{ByteValue, Format};

/// Bytes that are copied at the cost of one that is read.
const COPIED_BYTES: usize = 8;

/// Gathered rows are merged into the tree when they take more memory than this.
pub const SPILL_BYTES: usize = 48 << 20;

#[derive(Debug)]
enum State {
    Stream(Box<Builder>),
    Gather(Batch),
    Sort(Batch),
    Fold(Box<Fold>),
    Replace(Batch, Box<Replace>),
    Merge(Batch, Box<Merge>),
    Rebase(Batch, Box<Rebase>),
    /// The rows are done; the commit chunk goes behind the last chunks of their indexes.
    Index(Packer),
    /// So are those; sum trees are to be brought to the rows before all trees are named.
    Sums(Packer),
}

/// Takes rows in blocks and makes a new commit of them. Feed its [`Reader`], call [`Ingest::step`]
/// until it is done, and so on;
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
    keeper: Keeper,
    /// The next rebase brings in another branch.
    merging: bool,
    /// Why it can do nothing.
    fault: Option<Error>,
    /// What is left of a fold while a part of it is merged.
    fold: Option<Box<Fold>>,
    /// Instead of [`SPILL_BYTES`].
    spill_bytes: usize,
    tree: Tree,
    state: State,
    reader: Reader,
    key: Vec<u8>,
    last_key: Option<Vec<u8>>,
    rows: u64,
    finishing: bool,
    has_sums: bool,
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
        let reader = Reader::Block(Box::new(Block::new(prefix)));
        Self::indexed(forest, reader, shape, &[], Secret::PUBLIC)
    }

    /// An ingest of a stream of bytes on top of `forest`.
    #[must_use]
    pub fn of_bytes(forest: Forest, bytes: Bytes, shape: Shape) -> Self {
        let reader = Reader::Bytes(Box::new(bytes));
        Self::indexed(forest, reader, shape, &[], Secret::PUBLIC)
    }

    /// An ingest of what `reader` reads on top of `forest`. It keeps the indexes of `forest`; if
    /// that has no rows, those that are `wanted`. Who does not know the `secret` cannot choose keys
    /// that it takes for each other, or that take long.
    #[must_use]
    pub fn indexed(
        forest: Forest,
        reader: Reader,
        shape: Shape,
        wanted: &[Definition],
        secret: Secret,
    ) -> Self {
        let tree = forest.tree(ROWS);
        let has_sums = forest.has_followers();
        let (keeper, fault) = match Keeper::new(&forest, wanted, secret) {
            Ok(keeper) => (keeper, None),
            Err(error) => (Keeper::default(), Some(error)),
        };
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
            touched: Touched::new(secret),
            rebase: None,
            keeper,
            merging: false,
            fault,
            fold: None,
            spill_bytes: SPILL_BYTES,
            tree,
            state,
            reader,
            key: Vec::new(),
            last_key: None,
            rows: 0,
            finishing: false,
            has_sums,
            drop: None,
            commit: None,
            sealed: Vec::new(),
            chunks: 0,
            chunk_bytes: 0,
            fast: 0,
        }
    }

    /// Has it merge what it has gathered when that takes more than so many bytes.
    pub const fn spill_at(&mut self, bytes: usize) {
        self.spill_bytes = bytes;
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
        let merging = core::mem::take(&mut self.merging);
        if !merging && let Err(error) = self.keeper.rebase(&theirs) {
            self.fault = Some(error);
        }
        let onto = theirs.tree(ROWS);
        let rebase = Box::new(Rebase::new(self.base, onto, self.own, kept));
        self.base = onto;
        if !merging {
            self.has_sums |= theirs.has_followers();
            self.forest = theirs;
        }
        self.state = State::Rebase(Batch::new(), rebase);
    }

    /// Has the `wanted` indexes that the store lacks, or has in part, made of about `work` bytes of
    /// rows more, in the commit of this change. Drops all others if `alone`.
    pub fn extend_indexes(&mut self, wanted: &[Definition], alone: bool, work: usize) {
        self.keeper.extend(self.tree, wanted, alone, work);
    }

    /// Has the next [`Ingest::rebase`] bring in what was changed since `forest`, an ancestor of
    /// what this change began with and of the other commit: a merge of three. All trees but that of
    /// rows, and their indexes, stay those that this change began with.
    pub fn since(&mut self, forest: &Forest) {
        let own = if self.base.is_empty() { self.tree } else { Tree::EMPTY };
        self.own.get_or_insert(own);
        self.base = forest.tree(ROWS);
        self.merging = true;
    }

    /// Has it wait for sum trees before it names all trees: see [`Ingest::awaits_sums`].
    pub const fn expect_sums(&mut self) {
        self.has_sums = true;
    }

    /// Whether the rows and their indexes are done, and the sum trees of [`Ingest::forest`] are to be
    /// brought to what [`Ingest::row_trees`] tells; [`Ingest::name`] goes on from there.
    #[must_use]
    pub const fn awaits_sums(&self) -> bool {
        matches!(self.state, State::Sums(_))
    }

    /// The trees that the commit names, as far as they are set.
    pub const fn forest(&mut self) -> &mut Forest {
        &mut self.forest
    }

    /// The tree of rows that the forest belongs to, and the one that takes its place.
    #[must_use]
    pub fn row_trees(&self) -> (Tree, Tree) {
        (self.forest.tree(ROWS), self.tree)
    }

    /// Takes further chunks of the commit while it awaits sums, by `pack`.
    pub fn pack<T>(&mut self, pack: impl FnOnce(&mut Packer) -> T) -> Option<T> {
        let State::Sums(packer) = &mut self.state else { return None };
        let packed = pack(packer);
        self.sealed.extend(packer.take_sealed());
        Some(packed)
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
        if let Some(fault) = &self.fault {
            return Err(*fault);
        }
        let step = self.work(cache, budget)?;
        if step == Step::Yield {
            if let State::Gather(batch) | State::Rebase(batch, _) = &mut self.state {
                budget.spend(batch.close_long_run());
            }
            budget.spend(self.keeper.close_long_runs());
        }
        Ok(step)
    }

    #[inline(never)]
    fn work(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<()>, Error> {
        loop {
            match &mut self.state {
                State::Stream(_) => {
                    if let Some(step) = self.step_stream(cache, budget)? {
                        return Ok(step);
                    }
                }
                State::Sums(_) => return Ok(Step::Done(())),
                State::Index(_) => return self.step_index(cache, budget),
                State::Gather(_) if self.commit.is_some() => return Ok(Step::Done(())),
                State::Gather(batch) => {
                    if batch.held_bytes() > self.spill_bytes {
                        self.start_merge();
                        continue;
                    }
                    if !self.take_rows(budget)? {
                        return Ok(Step::Yield);
                    }
                    let State::Gather(batch) = &mut self.state else { continue };
                    budget.spend(batch.close_run());
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
                    if batch.has_updates() {
                        let fold = Fold::new(batch).on(self.tree);
                        self.state = State::Fold(Box::new(fold));
                    } else {
                        self.merge(batch);
                    }
                }
                State::Fold(fold) => match fold.step(cache, self.spill_bytes, budget)? {
                    Step::Done(()) => self.merge_folded(),
                    waiting => return Ok(waiting),
                },
                State::Rebase(..) => return self.step_rebase(cache, budget),
                State::Replace(batch, replace) => match replace.step(cache, batch)? {
                    Step::Done(Some(tree)) => {
                        let packer = core::mem::take(replace.packer());
                        self.fast += 1;
                        if self.end(tree, packer) {
                            return Ok(Step::Yield);
                        }
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
                        if self.end(tree, packer) {
                            return Ok(Step::Yield);
                        }
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

    /// Streams rows into the build; `None` when that has ended.
    fn step_stream(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
    ) -> Result<Option<Step<()>>, Error> {
        if self.keeper.is_full() {
            let step = self.keeper.spill(self.shape, cache, budget);
            self.collect();
            return step.map(Some);
        }
        if self.drop.is_none() {
            let done = self.take_rows(budget)?;
            self.collect();
            if !done {
                return Ok(Some(Step::Yield));
            }
            if !self.finishing {
                return Ok(Some(Step::Done(())));
            }
        }
        self.end_stream();
        Ok(None)
    }

    /// Brings the indexes to the rows, and then names all trees.
    fn step_index(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<()>, Error> {
        let State::Index(packer) = &mut self.state else { return Ok(Step::Yield) };
        let step = self.keeper.bring(self.tree, self.shape, cache, budget, packer);
        self.collect();
        if step == Ok(Step::Done(())) {
            if !self.has_sums {
                self.name()?;
            } else if let State::Index(packer) = &mut self.state {
                self.state = State::Sums(core::mem::take(packer));
            }
        }
        step
    }

    /// Gathers what another writer has changed, and has it merged when it takes too much memory.
    fn step_rebase(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<()>, Error> {
        let State::Rebase(batch, rebase) = &mut self.state else { return Ok(Step::Yield) };
        let step = rebase.step(cache, &self.touched, batch, budget)?;
        let done = matches!(step, Step::Done(()));
        if !done && batch.held_bytes() <= SPILL_BYTES {
            return Ok(step);
        }
        budget.spend(batch.close_run());
        let batch = core::mem::take(batch);
        if done && batch.is_empty() {
            self.end(self.tree, Packer::new());
            return Ok(Step::Yield);
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

    /// Has what was folded merged, and the rest folded after that.
    fn merge_folded(&mut self) {
        let state = core::mem::replace(&mut self.state, State::Sort(Batch::new()));
        if let State::Fold(mut fold) = state {
            let batch = core::mem::take(&mut fold.out);
            self.fold = (!fold.is_over()).then_some(fold);
            self.merge(batch);
        }
    }

    /// Has a sorted batch without updates merged.
    fn merge(&mut self, batch: Batch) {
        // A long value is written in slices.
        let is_small =
            |edit| !matches!(edit, Edit::Put(value) if value.bytes().len() > PIECE_BYTES);
        self.state = if batch.len() == 1 && is_small(batch.edit(0)) {
            State::Replace(batch, Box::new(Replace::new(self.tree, self.shape)))
        } else {
            let merge = Box::new(Merge::new(self.tree, &batch, self.shape));
            State::Merge(batch, merge)
        };
    }

    /// Begins anew with an empty tree: what was made of the rows so far is of no use.
    fn clear(&mut self) {
        self.touched.add_all();
        self.keeper.clear();
        self.tree = Tree::EMPTY;
        self.last_key = None;
        self.state = State::Stream(Box::new(Builder::new(self.shape)));
    }

    fn end_stream(&mut self) {
        if let State::Stream(builder) = &mut self.state {
            let tree = builder.finish().tree;
            let packer = core::mem::take(builder.packer());
            self.keeper.added(tree);
            self.end(tree, packer);
        }
    }

    /// Ends a build or a merge. Whether its chunks must be in the cache for the next step.
    fn end(&mut self, tree: Tree, mut packer: Packer) -> bool {
        self.tree = tree;
        self.state = State::Gather(Batch::new());
        if let Some(rebase) = self.rebase.take() {
            self.state = State::Rebase(Batch::new(), rebase);
        }
        if let Some(fold) = self.fold.take() {
            self.state = State::Fold(Box::new(fold.on(tree)));
        }
        let goes_on = matches!(self.state, State::Rebase(..) | State::Fold(_));
        let ended = self.finishing && self.reader.is_spent() && !goes_on;
        let read = !ended || self.has_sums || self.keeper.must_read(tree);
        if read {
            packer.seal();
        }
        self.sealed.extend(packer.take_sealed());
        if ended {
            self.state = State::Index(packer);
        } else {
            self.count(&packer);
        }
        read
    }

    /// Names all trees in a commit chunk, packed with what was not sealed: a small change is then
    /// one segment. The host calls it once sum trees are set.
    ///
    /// # Errors
    /// [`Error::CommitTooLarge`].
    pub fn name(&mut self) -> Result<(), Error> {
        let (State::Index(packer) | State::Sums(packer)) = &mut self.state else { return Ok(()) };
        self.forest.set_rows(self.tree);
        self.keeper.set(&mut self.forest);
        self.commit = Some(self.forest.commit(packer)?);
        let mut packer = core::mem::take(packer);
        self.state = State::Gather(Batch::new());
        packer.seal();
        self.sealed.extend(packer.take_sealed());
        self.count(&packer);
        Ok(())
    }

    const fn count(&mut self, packer: &Packer) {
        self.chunks += packer.chunks();
        self.chunk_bytes += packer.bytes();
    }

    fn collect(&mut self) {
        match &mut self.state {
            State::Stream(builder) => self.sealed.extend(builder.packer().take_sealed()),
            State::Merge(_, merge) => self.sealed.extend(merge.packer().take_sealed()),
            State::Replace(_, replace) => self.sealed.extend(replace.packer().take_sealed()),
            State::Index(packer) | State::Sums(packer) => {
                self.sealed.extend(packer.take_sealed());
            }
            State::Gather(_) | State::Sort(_) | State::Fold(_) | State::Rebase(..) => {}
        }
        self.sealed.extend(self.keeper.take_sealed());
    }

    /// Reads rows until there are no more, the budget ends, or the first key comes that makes
    /// the stream a batch. Whether there are no more.
    fn take_rows(&mut self, budget: &mut Budget) -> Result<bool, Error> {
        let taken = self.take_some(budget);
        budget.spend(self.reader.take_cost());
        taken
    }

    fn take_some(&mut self, budget: &mut Budget) -> Result<bool, Error> {
        loop {
            budget.spend(self.reader.take_cost());
            if budget.is_spent() || self.keeper.is_full() {
                return Ok(false);
            }
            self.key.clear();
            let edit = match self.reader.peek(self.rows, &mut self.key)? {
                Next::More => return Ok(true),
                Next::Row(edit) => edit,
                Next::Clear => {
                    self.rows += 1;
                    budget.spend(64);
                    self.reader.advance();
                    self.clear();
                    continue;
                }
            };
            let ascends = || self.last_key.as_ref().is_none_or(|last| *last < self.key);
            match (&mut self.state, edit) {
                // What deletes nothing is no reason to end the stream.
                (State::Stream(_), Edit::Delete) if ascends() => {
                    budget.spend(self.touched.add(&self.key));
                }
                (State::Stream(builder), Edit::Put(value)) if ascends() => {
                    if !builder.push_some(Key::kept(&self.key), value, budget) {
                        return Ok(false);
                    }
                    if !self.keeper.is_empty() {
                        budget.spend(self.keeper.add(&self.key, value.kind(), value.bytes()));
                    }
                    core::mem::swap(self.last_key.get_or_insert_default(), &mut self.key);
                }
                (State::Gather(batch), edit) => {
                    // What an empty tree becomes tells by itself which keys were put.
                    if !self.base.is_empty() || edit == Edit::Delete {
                        budget.spend(self.touched.add(&self.key));
                    }
                    if let Edit::Put(value) = edit {
                        budget.spend(value.bytes().len() / COPIED_BYTES);
                    }
                    batch.push(Key::kept(&self.key), edit);
                }
                _ => {
                    // The row stays next, for the batch.
                    self.end_stream();
                    return Ok(false);
                }
            }
            self.rows += 1;
            budget.spend(64);
            self.reader.advance();
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
        self.chunks + self.keeper.spilled().0
    }

    /// Bytes of those chunks.
    #[must_use]
    pub const fn chunk_bytes(&self) -> u64 {
        self.chunk_bytes + self.keeper.spilled().1
    }
}
