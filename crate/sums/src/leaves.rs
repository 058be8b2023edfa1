//! Blocks of leaves that reads return, and a cursor over the records of a tree.

use crate::piece::{Form, Record, Records, fetch, ref_and_hash};
use crate::rules::{leaf, path};
use alloc::vec::Vec;
use hedgerow_trees::cache::{Cache, Fetch};
use hedgerow_trees::error::{DecodeError, Error, Field};
use hedgerow_trees::hash::Hash;
use hedgerow_trees::step::{Budget, Step};
use hedgerow_trees::tree::{Tree, ValueReader};

/// A leaf in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumLeaf {
    /// Its key.
    pub key: [u8; 32],
    /// Its sum.
    pub sum: u64,
    /// Where its value starts and ends in the bytes of the block.
    pub value: (usize, usize),
    /// For a search, the position of its key in the request. For a diff, 0 for the old leaf and 1 for
    /// the new one.
    pub mark: u32,
}

/// A block of leaves.
#[derive(Clone, Debug, Default)]
pub struct SumLeaves {
    /// Their values, concatenated.
    pub bytes: Vec<u8>,
    /// The leaves.
    pub leaves: Vec<SumLeaf>,
    /// Reads the current longer value.
    reading: Option<ValueReader>,
}

impl SumLeaves {
    /// Returns the value of a leaf of this block.
    #[must_use]
    pub fn value(&self, leaf: &SumLeaf) -> &[u8] {
        &self.bytes[leaf.value.0..leaf.value.1]
    }

    /// Removes all leaves. No value may be half read.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.leaves.clear();
    }

    /// Returns whether a long value is half read.
    #[must_use]
    pub const fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    /// Adds a leaf. Until it is done, call it again with the same leaf: the leaf is added once its value
    /// is complete.
    pub(crate) fn add(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        record: &Record<'_>,
        mark: u32,
    ) -> Result<Step<()>, Error> {
        let start = self.leaves.last().map_or(0, |leaf| leaf.value.1);
        match record.form {
            Form::Inline(value) => {
                self.bytes.extend_from_slice(value);
                budget.spend(value.len());
            }
            Form::Ref(rest) => {
                let (address, hash) = ref_and_hash(rest);
                let reader = self.reading.get_or_insert_with(|| ValueReader::new(address));
                match reader.step(cache, budget, &mut self.bytes)? {
                    Step::Done(()) => self.reading = None,
                    waiting => return Ok(waiting),
                }
                if leaf(&self.bytes[start..], record.sum) != hash {
                    let cause = Some(DecodeError::new(Field::SumHash, 0, 0, 0));
                    return Err(Error::CorruptChunk { hash: address.hash, cause });
                }
            }
            Form::Link(_) => return Ok(Step::Done(())),
        }
        let Record { sum, .. } = *record;
        let value = (start, self.bytes.len());
        self.leaves.push(SumLeaf { key: path(&record.path), sum, value, mark });
        Ok(Step::Done(()))
    }
}

#[derive(Clone, Debug)]
struct Frame {
    /// The link that led here; `None` for the top.
    link: Option<Record<'static>>,
    /// The offset of the next record; 0 before the first.
    at: usize,
}

/// Walks the records of a tree in order, and enters or skips links.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cursor {
    root: Hash,
    frames: Vec<Frame>,
    /// The offset of the record after the last one returned.
    after: usize,
}

impl Cursor {
    pub(crate) fn new(tree: Tree) -> Self {
        let mut frames = Vec::new();
        if !tree.is_empty() {
            frames.push(Frame { link: None, at: 0 });
        }
        Self { root: tree.root, frames, after: 0 }
    }

    /// Returns the next record; `None` after the last.
    pub(crate) fn peek<'c>(
        &mut self,
        cache: &'c Cache,
    ) -> Result<Fetch<Option<Record<'c>>>, Error> {
        while let Some(frame) = self.frames.last_mut() {
            let Frame { link, at } = frame;
            // A piece is checked against its link once.
            let chunk = match fetch(cache, self.root, link.as_ref(), *at == 0)? {
                Fetch::At(want) => return Ok(Fetch::At(want)),
                Fetch::Here(chunk) => chunk,
            };
            let mut records = Records::of(chunk);
            records.at = records.at.max(*at);
            *at = records.at;
            if let Some(record) = records.next() {
                self.after = records.at;
                return Ok(Fetch::Here(Some(record)));
            }
            self.frames.pop();
        }
        Ok(Fetch::Here(None))
    }

    /// Skips the record returned last.
    pub(crate) fn pass(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at = self.after;
        }
    }

    /// Enters the record returned last if it is a link; otherwise skips it.
    pub(crate) fn enter(&mut self, record: &Record<'_>) {
        self.pass();
        if let Some(link) = record.link() {
            self.frames.push(Frame { link: Some(link), at: 0 });
        }
    }
}
