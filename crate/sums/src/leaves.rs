//! Leaves on their way out: a block of them, and where a walk over a tree stands.

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
    /// What it is here for: of a search, the position of its key in the request; of a diff, 0 for
    /// the old leaf and 1 for the new one.
    pub mark: u32,
}

/// A block of leaves.
#[derive(Clone, Debug, Default)]
pub struct SumLeaves {
    /// Their values, one after the other.
    pub bytes: Vec<u8>,
    /// The leaves.
    pub leaves: Vec<SumLeaf>,
    /// The longer value that is being read.
    reading: Option<ValueReader>,
}

impl SumLeaves {
    /// The value of a leaf of this block.
    #[must_use]
    pub fn value(&self, leaf: &SumLeaf) -> &[u8] {
        &self.bytes[leaf.value.0..leaf.value.1]
    }

    /// Forgets all leaves, of which none may be half read.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.leaves.clear();
    }

    /// Whether a long value is half read.
    #[must_use]
    pub const fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    /// Adds a leaf. When its value must be loaded, call this again with the same leaf: nothing is
    /// added before all is there.
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
    /// The link that led here; none to the top.
    link: Option<Record<'static>>,
    /// Where the next record begins; 0 before the first.
    at: usize,
}

/// Goes over the records of a tree in order, into links or past them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cursor {
    root: Hash,
    frames: Vec<Frame>,
    /// Where the record after the one seen last begins.
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

    /// The next record; none after the last one.
    pub(crate) fn peek<'c>(
        &mut self,
        cache: &'c Cache,
    ) -> Result<Fetch<Option<Record<'c>>>, Error> {
        while let Some(frame) = self.frames.last_mut() {
            let Frame { link, at } = frame;
            // What a link says is checked once.
            let chunk = match fetch(cache, self.root, link.as_ref(), *at == 0)? {
                Fetch::At(id) => return Ok(Fetch::At(id)),
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

    /// Goes past the record seen last.
    pub(crate) fn pass(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.at = self.after;
        }
    }

    /// Goes into the record seen last, if it is a link.
    pub(crate) fn enter(&mut self, record: &Record<'_>) {
        self.pass();
        if let Some(link) = record.link() {
            self.frames.push(Frame { link: Some(link), at: 0 });
        }
    }
}
