//! Takes rows in blocks and makes a new commit of them.
//!
//! If the tree is empty, rows stream straight into the build as long as their keys ascend, so that
//! memory stays bounded. From the first key that does not ascend, and always if the tree has entries,
//! rows are gathered in a [`Batch`]. It is merged when it takes [`SPILL_BYTES`] or the input ends. Then
//! the indexes are updated ([`IndexMaintainer`]), and a commit chunk names all trees.

mod commit;
mod edits;
mod rows;
mod stages;
mod state;

use crate::batch::Batch;
use crate::boundary::Shape;
use crate::cache::Cache;
use crate::error::Error;
use crate::forest::{Forest, ROWS};
use crate::hash::Hash;
use crate::index::{Definition, IndexMaintainer};
use crate::rows::{Block, Bytes, Reader};
use crate::secret::Secret;
use crate::segment::Sealed;
use crate::step::{Budget, Step};
use crate::tree::{Builder, Range, Rebase, Touched, Tree};
use alloc::boxed::Box;
use alloc::vec::Vec;
use state::{After, State};

pub use crate::rows::{ByteValue, Format};

/// Gathered rows are merged into the tree when they take more memory than this.
pub const SPILL_BYTES: usize = 48 << 20;

/// Takes rows in blocks and makes a new commit of them. For each block, feed its [`Reader`] and call
/// [`Ingest::step`] until it is done. After the last, call [`Ingest::finish`] and step until it is done
/// again. After each step, add the segments of [`Ingest::sealed`] to the cache.
///
/// ```
/// use hedgerow::boundary::Shape;
/// use hedgerow::ingest::{Format, Ingest};
/// use hedgerow_support::host::Host;
///
/// let mut host = Host::new(Shape::STORED);
/// let mut ingest = Ingest::new(host.forest.clone(), Vec::new(), host.shape);
/// let patch = r#"[
///     {"op": "put", "key": "ann", "value": {"age": 41}},
///     {"op": "update", "key": "ann", "merge": {"city": "Bonn"}}
/// ]"#;
/// ingest.feed(patch.into(), patch.len(), Vec::new(), Format::Patch);
/// // `drive` steps the ingest until it is done, and stores its segments.
/// host.drive(&mut ingest)?;
/// host.finish(&mut ingest)?;
/// assert_eq!(host.get("ann").as_deref(), Some(r#"{"age":41,"city":"Bonn"}"#));
/// # Ok::<(), hedgerow::error::Error>(())
/// ```
#[derive(Debug)]
pub struct Ingest {
    shape: Shape,
    forest: Forest,
    /// The tree of rows that the change began with, or was rebased onto.
    base: Tree,
    /// The tree that the change made, if it began with an empty tree and was then rebased.
    from_empty: Option<Tree>,
    touched: Touched,
    indexes: IndexMaintainer,
    /// The next rebase merges another branch.
    merging: bool,
    /// The error that every step returns.
    fault: Option<Error>,
    /// [`SPILL_BYTES`], or less in tests.
    spill_bytes: usize,
    tree: Tree,
    state: State,
    /// The work after the current merge.
    after: After,
    reader: Reader,
    key: Vec<u8>,
    last_key: Option<Vec<u8>>,
    rows: u64,
    finishing: bool,
    has_sums: bool,
    /// A range to be deleted before the next block.
    drop: Option<Range>,
    commit: Option<Hash>,
    sealed: Vec<Sealed>,
    chunks: u64,
    chunk_bytes: u64,
    fast: u64,
}

impl Ingest {
    /// Begins an ingest of blocks on top of `forest`. `prefix` is put before every key.
    #[must_use]
    pub fn new(forest: Forest, prefix: Vec<u8>, shape: Shape) -> Self {
        let reader = Reader::Block(Box::new(Block::new(prefix)));
        Self::indexed(forest, reader, shape, &[], Secret::PUBLIC)
    }

    /// Begins an ingest of a stream of bytes on top of `forest`.
    ///
    /// ```
    /// use hedgerow::boundary::Shape;
    /// use hedgerow::ingest::Ingest;
    /// use hedgerow::rows::{Bytes, Columns};
    /// use hedgerow_support::host::Host;
    ///
    /// let mut host = Host::new(Shape::STORED);
    /// let bytes = Bytes::new(Columns::Two, None, Vec::new());
    /// let mut ingest = Ingest::of_bytes(host.forest.clone(), bytes, host.shape);
    /// for part in [&b"[\"ann\", 41]\n[\"bo"[..], b"b\", 35]"] {
    ///     ingest.bytes().unwrap().room(part.len()).copy_from_slice(part);
    ///     host.drive(&mut ingest)?;
    /// }
    /// ingest.bytes().unwrap().end();
    /// host.drive(&mut ingest)?;
    /// host.finish(&mut ingest)?;
    /// assert_eq!(host.get("bob").as_deref(), Some("35"));
    /// # Ok::<(), hedgerow::error::Error>(())
    /// ```
    #[must_use]
    pub fn of_bytes(forest: Forest, bytes: Bytes, shape: Shape) -> Self {
        let reader = Reader::Bytes(Box::new(bytes));
        Self::indexed(forest, reader, shape, &[], Secret::PUBLIC)
    }

    /// Begins an ingest of the rows of `reader` on top of `forest`. It maintains the indexes of
    /// `forest`, or the `wanted` ones if that has no rows. The `secret` salts hashes of keys, so that
    /// keys cannot be chosen to collide.
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
        let (indexes, fault) = match IndexMaintainer::new(&forest, wanted, secret) {
            Ok(indexes) => (indexes, None),
            Err(error) => (IndexMaintainer::default(), Some(error)),
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
            from_empty: None,
            touched: Touched::new(secret),
            indexes,
            merging: false,
            fault,
            spill_bytes: SPILL_BYTES,
            tree,
            state,
            after: After::Rows,
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

    /// Sets the bytes above which gathered rows are merged, instead of [`SPILL_BYTES`].
    pub const fn spill_at(&mut self, bytes: usize) {
        self.spill_bytes = bytes;
    }

    /// Takes back the buffer of the last block, to reuse it for the next.
    pub fn take_buffer(&mut self) -> Vec<u8> {
        match &mut self.reader {
            Reader::Block(block) => block.take_buffer(),
            Reader::Bytes(_) => Vec::new(),
        }
    }

    /// Feeds the next block, see [`Block::feed`].
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

    /// Returns the stream of bytes, if this is an ingest of one.
    pub const fn bytes(&mut self) -> Option<&mut Bytes> {
        match &mut self.reader {
            Reader::Block(_) => None,
            Reader::Bytes(bytes) => Some(bytes),
        }
    }

    /// Deletes all rows of `range`, instead of taking a block. Costs the nodes at its two ends.
    pub fn drop_range(&mut self, range: Range) {
        self.touched.add_range(range.clone());
        self.drop = Some(range);
    }

    /// Rebases the change, whose commit was made, onto the commit `theirs` that another writer has made:
    /// the next steps make a commit of both. This change wins on the keys that it has touched, except for
    /// `keep_theirs`, which stay as they are in `theirs`. Costs the changes of the other writer.
    ///
    /// ```
    /// use hedgerow::boundary::Shape;
    /// use hedgerow::ingest::Format;
    /// use hedgerow_support::host::Host;
    ///
    /// let mut host = Host::new(Shape::STORED);
    /// let mut ours = host.ingest();
    /// host.feed(&mut ours, r#"["ann",41]"#, &Format::Pairs)?;
    /// ours.finish();
    /// host.drive(&mut ours)?;
    /// // Another writer commits first.
    /// host.commit(&[(r#"["ann",40,"bob",35]"#.to_owned(), Format::Pairs)])?;
    ///
    /// ours.rebase(host.forest.clone(), Vec::new());
    /// host.finish(&mut ours)?;
    /// assert_eq!((host.get("ann").unwrap(), host.get("bob").unwrap()), ("41".into(), "35".into()));
    /// # Ok::<(), hedgerow::error::Error>(())
    /// ```
    pub fn rebase(&mut self, theirs: Forest, keep_theirs: Vec<Vec<u8>>) {
        self.commit = None;
        if self.base.is_empty() && self.from_empty.is_none() {
            self.from_empty = Some(self.tree);
        }
        self.touched.close();
        let merging = core::mem::take(&mut self.merging);
        if !merging && let Err(error) = self.indexes.rebase(&theirs) {
            self.fault = Some(error);
        }
        let onto = theirs.tree(ROWS);
        let rebase = Box::new(Rebase::new(self.base, onto, self.from_empty, keep_theirs));
        self.base = onto;
        if !merging {
            self.has_sums |= theirs.has_followers();
            self.forest = theirs;
        }
        self.state = State::Rebase(Batch::new(), rebase);
    }

    /// Makes the next [`Ingest::rebase`] a three-way merge: it applies the changes from `forest` to the
    /// other commit. `forest` is an ancestor of that commit and of the one that this change began with.
    /// Only rows and indexes are merged: all other trees stay as they were when this change began.
    ///
    /// ```
    /// use hedgerow::boundary::Shape;
    /// use hedgerow::ingest::Format;
    /// use hedgerow_support::host::Host;
    ///
    /// let mut host = Host::new(Shape::STORED);
    /// let put = |host: &mut Host, rows: &str| host.commit(&[(rows.to_owned(), Format::Pairs)]);
    /// put(&mut host, r#"["ann",41,"bob",35]"#)?;
    /// let ancestor = host.forest.clone();
    /// put(&mut host, r#"["bob",36]"#)?;
    /// let theirs = core::mem::replace(&mut host.forest, ancestor.clone());
    /// put(&mut host, r#"["ann",42]"#)?;
    ///
    /// let mut merge = host.ingest();
    /// merge.finish();
    /// host.drive(&mut merge)?;
    /// merge.set_merge_base(&ancestor);
    /// merge.rebase(theirs, Vec::new());
    /// host.finish(&mut merge)?;
    /// assert_eq!((host.get("ann").unwrap(), host.get("bob").unwrap()), ("42".into(), "36".into()));
    /// # Ok::<(), hedgerow::error::Error>(())
    /// ```
    pub fn set_merge_base(&mut self, forest: &Forest) {
        let from_empty = if self.base.is_empty() { self.tree } else { Tree::EMPTY };
        self.from_empty.get_or_insert(from_empty);
        self.base = forest.tree(ROWS);
        self.merging = true;
    }

    /// Ends the input: the next steps make the commit.
    pub const fn finish(&mut self) {
        self.finishing = true;
    }

    /// Continues with the block, or with the commit after [`Ingest::finish`].
    ///
    /// # Errors
    /// [`Error::Row`] for a bad row; as [`Cache::node`] while merging. Discard the ingest then.
    pub fn step(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<()>, Error> {
        if let Some(fault) = &self.fault {
            return Err(*fault);
        }
        let step = self.work(cache, budget)?;
        if step == Step::Yield {
            if let State::Gather(batch) | State::Rebase(batch, _) = &mut self.state {
                budget.spend(batch.close_long_run());
            }
            budget.spend(self.indexes.close_long_runs());
        }
        Ok(step)
    }
}
