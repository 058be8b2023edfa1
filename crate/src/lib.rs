//! The core of Hedgerow: an ordered key/value map in content-addressed trees.
//!
//! This crate does no I/O, has no clock and needs no standard library. A host feeds it
//! rows and stored segments as bytes, and persists the segments that it makes. The host
//! uses these, in the order in which a store needs them:
//!
//! - [`Cache`](cache::Cache): where chunks are stored, and which are in memory.
//! - [`Forest`](forest::Forest): reads the commit chunk, which names the trees.
//! - [`tree::get`], [`tree::MultiGet`], [`tree::Scan`], [`tree::Count`]: reads.
//! - [`Ingest`](ingest::Ingest): takes rows and makes the segments of a new commit.
//! - [`Collect`](collect::Collect): frees the space of chunks that no commit reaches.
//! - [`MakeDelta`](delta::MakeDelta), [`ApplyDelta`](delta::ApplyDelta): the edits between two commits, as bytes.
//! - [`Leaves`](lazy::Leaves), [`NewNodes`](lazy::NewNodes): trees that are partly at a remote.
//! - [`Prove`](proof::Prove), [`VerifyProof`](proof::VerifyProof): proofs of rows.
//! - [`SumMerge`](sum_tree::SumMerge), [`SumProve`](sum_tree::SumProve): sum trees, and proofs
//!   of their leaves and totals.
//!
//! Operations that may wait or take long follow the [`Step`](step::Step) protocol.
//! `docs/format.md` describes the formats, `docs/architecture.md` the modules.
//!
//! # A host
//!
//! This host keeps segments in a map. Another host would write them to storage in `store`, and read
//! them in `load`.
//!
//! ```
//! use hedgerow::boundary::Shape;
//! use hedgerow::cache::{Cache, Fetch, SegmentId, Source, Want};
//! use hedgerow::collect::{Collect, Thoroughness};
//! use hedgerow::forest::{Forest, ROWS};
//! use hedgerow::ingest::{Format, Ingest};
//! use hedgerow::step::{Budget, Step};
//! use hedgerow::tree::{Parts, Range, Scan, get};
//! use hedgerow::{error::Error, hash::Hash, output::Output, segment::Sealed};
//! use std::collections::HashMap;
//!
//! #[derive(Default)]
//! struct Host {
//!     cache: Cache,
//!     storage: HashMap<SegmentId, Sealed>,
//!     last: SegmentId,
//! }
//!
//! impl Host {
//!     fn store(&mut self, made: Vec<Sealed>) {
//!         for segment in made {
//!             self.last += 1;
//!             self.cache.add_table(self.last, segment.table.clone());
//!             self.storage.insert(self.last, segment);
//!         }
//!     }
//!
//!     fn load(&mut self, want: Want) {
//!         let bytes = match want.source() {
//!             Source::Segment(id) => self.storage[&id].bytes.clone(),
//!             Source::Chunk { segment, from, to } => {
//!                 self.storage[&segment].bytes[from as usize..to as usize].to_vec()
//!             }
//!             other => panic!("this host has all tables and no remote: {other:?}"),
//!         };
//!         self.cache.load(want, bytes);
//!     }
//!
//!     /// Steps an operation to its end.
//!     fn run<T>(
//!         &mut self,
//!         mut step: impl FnMut(&Cache, &mut Budget, &mut Vec<Sealed>) -> Result<Step<T>, Error>,
//!     ) -> Result<T, Error> {
//!         loop {
//!             let mut made = Vec::new();
//!             let result = step(&self.cache, &mut Budget::of(1000), &mut made)?;
//!             self.store(made);
//!             match result {
//!                 Step::Done(result) => return Ok(result),
//!                 Step::Need(wanted) => wanted.into_iter().for_each(|want| self.load(want)),
//!                 Step::Yield => {} // a page would paint here
//!             }
//!         }
//!     }
//!
//!     fn step_ingest(&mut self, ingest: &mut Ingest) -> Result<(), Error> {
//!         self.run(|cache, budget, made| {
//!             let step = ingest.step(cache, budget);
//!             made.extend(ingest.sealed());
//!             step
//!         })
//!     }
//!
//!     /// Puts rows into the trees of a commit; returns the new commit and its trees.
//!     fn put(&mut self, forest: Forest, rows: &str) -> Result<(Hash, Forest), Error> {
//!         let mut ingest = Ingest::new(forest, Vec::new(), Shape::STORED);
//!         ingest.feed(rows.into(), rows.len(), Vec::new(), Format::Pairs);
//!         self.step_ingest(&mut ingest)?;
//!         ingest.finish();
//!         self.step_ingest(&mut ingest)?;
//!         Ok(ingest.committed().map(|(root, forest)| (root, forest.clone())).unwrap())
//!     }
//! }
//!
//! let mut host = Host::default();
//! let (_, forest) = host.put(Forest::new(), r#"["ann",{"age":41},"bob",{"age":35}]"#)?;
//! let (root, forest) = host.put(forest, r#"["ann",{"age":42}]"#)?;
//! let rows = forest.tree(ROWS);
//! let age = host.run(|cache, _, _| {
//!     Ok(match get(cache, rows, b"bob")? {
//!         Fetch::Here(entry) => Step::Done(entry.map(|entry| entry.value.to_vec())),
//!         Fetch::At(want) => Step::Need(vec![want]),
//!     })
//! })?;
//! assert_eq!(age.as_deref(), Some(&br#"{"age":35}"#[..]));
//!
//! let parts = Parts { keys: true, values: true };
//! let mut scan = Scan::new(rows, Range::prefix(b"a"), false, u64::MAX, parts);
//! let mut out = Output::new();
//! host.run(|cache, budget, _| scan.step(cache, budget, &mut out))?;
//! out.close();
//! assert_eq!((&out.keys[..], &out.text[..]), (&br#"["ann",null]"#[..], &br#"[{"age":42}]"#[..]));
//!
//! // A collection deletes the segment that has only chunks of the first commit.
//! let mut collect = Collect::new(&host.cache, Thoroughness::default());
//! collect.add_commit(root);
//! while let Some(exchange) = host.run(|cache, budget, _| collect.step(cache, budget))? {
//!     host.store(exchange.sealed);
//!     for id in exchange.gone {
//!         host.cache.remove(id);
//!         host.storage.remove(&id);
//!     }
//! }
//! assert_eq!(host.storage.len(), 1);
//! # Ok::<(), Error>(())
//! ```

#![no_std]

extern crate alloc;
// Only for its allocator and panic handler, which a cdylib needs.
#[cfg(feature = "std")]
extern crate std;
#[cfg(all(test, target_arch = "wasm32"))]
#[macro_use]
extern crate hedgerow_wasm_test as wasm_bindgen_test;

pub mod collect;
pub mod delta;
pub mod forest;
pub mod index;
pub mod ingest;
pub mod lazy;
pub mod proof;
pub mod sum_update;

pub use hedgerow_sums as sum_tree;
pub use hedgerow_trees::{
    batch, boundary, cache, chunk, chunk_check, error, hash, json, key, le, limits, node, order,
    output, rows, secret, segment, step, sum_piece, tree, value,
};

#[cfg(target_arch = "wasm32")]
mod wasm;
