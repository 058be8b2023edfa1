//! Proofs of the rows in a range, for a verifier that knows only the store's root.
//!
//! ```text
//! proof    0xf0 | version | n x ( length:u32 | chunk )
//! ```
//!
//! A proof is the record of a read: the chunks that a walk over the range asks for, in the order in
//! which it first asks. These are the commit, the nodes on the path, the leaves, and the chunks of
//! values out of line of the entries in the range. A key is proved by the range that holds only it.
//! An absent key is proved by the leaf where it would be, or by an internal node whose children
//! cannot hold it.
//!
//! Both sides run the same walk, over a cache that begins empty. When the walk misses a chunk, the
//! prover copies it from the store, and the verifier takes the next one of the proof, which must have
//! the hash that was asked for. So the root and the range determine each byte of the proof: no chunk
//! can be left out, added, repeated or moved. The checks of the cache and the cursor (form, level,
//! count, last key, order of keys) apply here as well.

use crate::cache::{Cache, Fetch, Want};
use crate::chunk::{ChunkKind, VERSION};
use crate::error::Error;
use crate::forest::{Forest, ROWS};
use crate::hash::Hash;
use crate::json::Scanner;
use crate::limits::MAX_PROOF_BYTES;
use crate::node::Entry;
use crate::output::Output;
use crate::segment::Sealed;
use crate::step::{Budget, Step};
use crate::tree::{Cursor, Range, Tree, ValueReader};
use crate::value::Value;
use alloc::vec::Vec;

/// The first byte of a proof.
const PROOF: u8 = 0xf0;

/// The most segments that a prover asks for at once.
const AHEAD: usize = 8;

enum Walked {
    Done,
    Yield,
    /// The walk needs this chunk next.
    Wants(Hash),
}

/// The walk that a proof records.
struct Walk {
    root: Hash,
    range: Range,
    /// The chunks given so far.
    given: Cache,
    chunks: u64,
    /// `None` until the commit is given.
    cursor: Option<Cursor>,
    /// The value out of line of the entry at the cursor, as far as it has been read.
    reading: Option<(ValueReader, Vec<u8>)>,
    /// Bytes of the entries found. They can exceed the proof, as values may share chunks.
    found: usize,
    scanner: Scanner,
}

impl Walk {
    fn new(root: Hash, range: Range) -> Self {
        let given = Cache::new(usize::MAX);
        let scanner = Scanner::default();
        Self { root, range, given, chunks: 0, cursor: None, reading: None, found: 0, scanner }
    }

    /// Adds bytes that claim to be the chunk that the walk needs. The cache checks their hash when the walk
    /// asks again.
    fn accept_chunk(&mut self, hash: &Hash, chunk: &[u8], budget: &mut Budget) {
        let Sealed { bytes, table } = Sealed::of_one(hash, chunk);
        self.given.add_table(self.chunks, table);
        self.given.load(Want::whole_of(self.chunks), bytes);
        self.chunks += 1;
        budget.spend(chunk.len());
    }

    /// Continues the walk, and adds the entries that it passes to `out`, if given.
    fn step(&mut self, budget: &mut Budget, out: Option<&mut Output>) -> Result<Walked, Error> {
        match self.walk(budget, out) {
            Err(Error::MissingChunk(hash)) => Ok(Walked::Wants(hash)),
            walked => walked,
        }
    }

    fn walk(&mut self, budget: &mut Budget, mut out: Option<&mut Output>) -> Result<Walked, Error> {
        let Self { given, cursor, reading, .. } = self;
        let cursor = match cursor {
            Some(cursor) => cursor,
            None => cursor.insert(Cursor::new(rows(given, &self.root)?, self.range.clone(), false)),
        };
        loop {
            if budget.is_spent() {
                return Ok(Walked::Yield);
            }
            // All given chunks are in memory.
            let Fetch::Here(Some(run)) = cursor.run(given)? else { return Ok(Walked::Done) };
            let entry = run.leaf.entry(run.from);
            let value = match entry.value_ref() {
                None => entry.value,
                Some(address) => {
                    let begin = || (ValueReader::new(address), Vec::new());
                    let (reader, value) = reading.get_or_insert_with(begin);
                    if reader.step(given, budget, value)? != Step::Done(()) {
                        return Ok(Walked::Yield);
                    }
                    value
                }
            };
            let len = entry.key.len() + value.len();
            self.found += len;
            if self.found > MAX_PROOF_BYTES {
                return Err(Error::ProofTooLarge);
            }
            // Reading a value out of line was charged by the reader.
            budget.spend(entry.key.len() + entry.value.len() + 32);
            if let Some(out) = &mut out {
                budget.spend(value.len());
                emit_entry(&entry, value, &mut self.scanner, out)?;
            }
            *reading = None;
            cursor.advance(1);
        }
    }
}

/// Returns the tree of rows under the commit `root`.
fn rows(cache: &Cache, root: &Hash) -> Result<Tree, Error> {
    if *root == Hash::ZERO {
        return Ok(Tree::EMPTY);
    }
    let fetched = cache.chunk(root, ChunkKind::Commit)?;
    let Fetch::Here(bytes) = fetched else { return Err(Error::MissingChunk(*root)) };
    let forest = Forest::decode(bytes);
    let cause = |cause| Error::CorruptChunk { hash: *root, cause: Some(cause) };
    Ok(forest.map_err(cause)?.tree(ROWS))
}

/// Adds a proved entry and its whole value.
fn emit_entry(
    entry: &Entry<'_>,
    value: &[u8],
    scanner: &mut Scanner,
    out: &mut Output,
) -> Result<(), Error> {
    let kind = entry.tag.kind;
    // A value that is not JSON could look like further entries in the text of the output.
    Value::parse(kind, value, scanner).map_err(|_| Error::InvalidProof)?;
    out.key(&entry.key);
    out.value(kind, |text| text.extend_from_slice(value));
    Ok(())
}

/// Makes a proof.
///
/// ```
/// use hedgerow::boundary::Shape;
/// use hedgerow::proof::Prove;
/// use hedgerow::tree::Range;
/// use hedgerow_support::host::Host;
/// use hedgerow_support::rows::issue;
///
/// let mut host = Host::of(Shape::STORED, &(0..1000).map(issue).collect());
/// let mut prove = Prove::new(host.root, Range::prefix(b"issue/00000007"));
/// host.run(|cache, budget| prove.step(cache, budget))?;
/// // The proof has one path: the commit, the top and a leaf of 4 KiB.
/// assert!(prove.proof().len() < 10_000);
/// # Ok::<(), hedgerow::error::Error>(())
/// ```
pub struct Prove {
    walk: Walk,
    proof: Vec<u8>,
}

impl Prove {
    /// Begins a proof of exactly the rows that a scan of `range` finds under the commit `root`.
    #[must_use]
    pub fn new(root: Hash, range: Range) -> Self {
        Self { walk: Walk::new(root, range), proof: Vec::from([PROOF, VERSION]) }
    }

    /// Returns the proof, once it is done.
    #[must_use]
    pub fn proof(&self) -> &[u8] {
        &self.proof
    }

    /// Continues. Costs a lookup and two copies of each chunk of the proof, which stay in memory until
    /// the end.
    ///
    /// # Errors
    /// As [`Cache::node`], and [`Error::ProofTooLarge`].
    pub fn step(&mut self, cache: &Cache, budget: &mut Budget) -> Result<Step<()>, Error> {
        let Self { walk, proof } = self;
        loop {
            let hash = match walk.step(budget, None)? {
                Walked::Done => return Ok(Step::Done(())),
                Walked::Yield => return Ok(Step::Yield),
                Walked::Wants(hash) => hash,
            };
            match cache.any(&hash)? {
                Fetch::At(want) => {
                    let most = AHEAD.min(cache.window());
                    let ahead = walk.cursor.as_ref().map(|at| at.ahead(cache, Some(want), most));
                    return Ok(Step::Need(ahead.unwrap_or_else(|| Vec::from([want]))));
                }
                Fetch::Here(bytes) => {
                    if proof.len() + 4 + bytes.len() > MAX_PROOF_BYTES {
                        return Err(Error::ProofTooLarge);
                    }
                    proof.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
                    proof.extend_from_slice(bytes);
                    walk.accept_chunk(&hash, bytes, budget);
                }
            }
        }
    }
}

/// Verifies a proof from an untrusted source.
///
/// ```
/// use hedgerow::boundary::Shape;
/// use hedgerow::output::Output;
/// use hedgerow::proof::VerifyProof;
/// use hedgerow::step::{Budget, Step};
/// use hedgerow::tree::Range;
/// use hedgerow_support::host::Host;
/// use hedgerow_support::proofs::prove;
/// use hedgerow_support::rows::issue;
///
/// let mut host = Host::of(Shape::STORED, &(0..1000).map(issue).collect());
/// let range = Range::prefix(b"issue/00000007");
/// let proof = prove(&mut host, &range)?;
///
/// let mut verify = VerifyProof::new(host.root, range, proof);
/// let mut out = Output::new();
/// assert_eq!(verify.step(&mut Budget::of(1 << 20), &mut out)?, Step::Done(()));
/// assert_eq!(out.members(), 2, "a key and a value");
/// # Ok::<(), hedgerow::error::Error>(())
/// ```
pub struct VerifyProof {
    walk: Walk,
    proof: Vec<u8>,
    at: usize,
}

impl VerifyProof {
    /// Begins to verify that `proof` proves the rows of the commit `root` in `range`.
    #[must_use]
    pub fn new(root: Hash, range: Range, proof: Vec<u8>) -> Self {
        Self { walk: Walk::new(root, range), proof, at: 0 }
    }

    /// Continues, and adds the keys and values to `out`, whole entries in the order of their keys. They
    /// are proved only when it is done: until then, any step may refuse the proof. Holds two copies of
    /// the proof and the largest value.
    ///
    /// # Errors
    /// [`Error::UnsupportedFormat`]; [`Error::InvalidProof`] for any other fault.
    pub fn step(&mut self, budget: &mut Budget, out: &mut Output) -> Result<Step<()>, Error> {
        self.advance(budget, out).map_err(|error| match error {
            Error::UnsupportedFormat { .. } => error,
            _ => Error::InvalidProof,
        })
    }

    fn advance(&mut self, budget: &mut Budget, out: &mut Output) -> Result<Step<()>, Error> {
        if self.at == 0 {
            match self.proof[..] {
                [PROOF, VERSION, ..] => self.at = 2,
                [PROOF, version, ..] if version > VERSION => {
                    return Err(Error::UnsupportedFormat { version });
                }
                _ => return Err(Error::InvalidProof),
            }
        }
        loop {
            let hash = match self.walk.step(budget, Some(&mut *out))? {
                Walked::Done if self.at == self.proof.len() => return Ok(Step::Done(())),
                Walked::Done => return Err(Error::InvalidProof),
                Walked::Yield => return Ok(Step::Yield),
                Walked::Wants(hash) => hash,
            };
            let rest = &self.proof[self.at..];
            let Some((len, rest)) = rest.split_first_chunk() else {
                return Err(Error::InvalidProof);
            };
            let len = u32::from_le_bytes(*len) as usize;
            let chunk = rest.get(..len).ok_or(Error::InvalidProof)?;
            self.walk.accept_chunk(&hash, chunk, budget);
            self.at += 4 + len;
        }
    }
}
