//! Inputs of a mebibyte of rows, ordinary ones and the worst of each kind, and the cost of ingesting them.
//!
//! Work is counted in the units of [`Budget`]. An independent count of instructions checks by hand that
//! these units match the work done: `crate/examples/cost.rs`.

mod kinds;

use hedgerow::boundary::Shape;
use hedgerow::cache::Cache;
use hedgerow::forest::Forest;
use hedgerow::index::Definition;
use hedgerow::ingest::{Format, Ingest};
use hedgerow::json::Pointer;
use hedgerow::rows::{Block, Bytes, Columns, Framing, Reader};
use hedgerow::secret::Secret;
use hedgerow::step::{Budget, Step};

const MIB: usize = 1 << 20;

/// Bytes that are fed at a time.
const PART_BYTES: usize = 256 << 10;

/// The way to feed an input.
#[derive(Clone, Debug)]
pub enum Feed {
    /// As a stream of bytes: rows with their key at `/id`.
    Bytes(Framing),
    /// As a stream of operations of a patch.
    Patch(Framing),
    /// As one block of the wrapper.
    Block(Format),
}

/// An input of about a mebibyte.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: &'static str,
    /// The ordinary input that it is compared with; `None` for an ordinary one.
    pub against: Option<&'static str>,
    /// How it is fed.
    pub feed: Feed,
    /// Its text.
    pub text: Vec<u8>,
    /// The indexes of the store.
    pub indexes: Vec<Definition>,
    /// Bytes of its longest row, or of the row that its updates make: what one step may process.
    pub longest: usize,
}

/// The cost of an input.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Units of work in all.
    pub units: usize,
    /// The most by which a step exceeded its budget.
    pub beyond: usize,
    /// The number of steps.
    pub steps: usize,
    /// The number of rows; `None` if the input was refused.
    pub rows: Option<u64>,
}

/// The budget of a step.
pub const SLICE: usize = 64 << 10;

impl Input {
    /// Ingests it into an empty store, and makes the commit.
    #[inline(never)]
    pub fn run(&self) -> Cost {
        let (mut cache, mut next) = (Cache::new(usize::MAX), 1);
        let secret = Secret::new(3, 5);
        let reader = match &self.feed {
            Feed::Block(_) => Reader::Block(Box::new(Block::new(Vec::new()))),
            Feed::Bytes(framing) => {
                let columns = Columns::Keyed(Pointer::parse("/id").expect("a pointer"));
                Reader::Bytes(Box::new(Bytes::new(columns, Some(*framing), Vec::new())))
            }
            Feed::Patch(framing) => {
                Reader::Bytes(Box::new(Bytes::new(Columns::Patch, Some(*framing), Vec::new())))
            }
        };
        let mut ingest =
            Ingest::indexed(Forest::new(), reader, Shape::STORED, &self.indexes, secret);
        let mut cost = Cost::default();
        let mut drive = |ingest: &mut Ingest| loop {
            let mut budget = Budget::of(SLICE);
            let step = ingest.step(&cache, &mut budget);
            cost.units += budget.spent();
            cost.beyond = cost.beyond.max(budget.spent().saturating_sub(SLICE));
            cost.steps += 1;
            for sealed in ingest.sealed() {
                cache.add_fresh(next, sealed);
                cache.stored(next);
                next += 1;
            }
            match step {
                Ok(Step::Done(())) => return true,
                Ok(Step::Yield) => {}
                Ok(Step::Need(wanted)) => panic!("{wanted:?} are in memory"),
                Err(_) => return false,
            }
        };
        let mut taken = true;
        if let Feed::Block(format) = &self.feed {
            ingest.feed(self.text.clone(), self.text.len(), Vec::new(), format.clone());
        } else {
            for part in self.text.chunks(PART_BYTES) {
                ingest.bytes().expect("bytes").room(part.len()).copy_from_slice(part);
                taken = taken && drive(&mut ingest);
            }
            ingest.bytes().expect("bytes").end();
        }
        taken = taken && drive(&mut ingest);
        ingest.finish();
        taken = taken && drive(&mut ingest);
        cost.rows = taken.then(|| ingest.rows());
        cost
    }
}

/// Lists all inputs: ordinary ones, and the worst of each kind.
pub fn inputs() -> Vec<Input> {
    let mut inputs = Vec::new();
    kinds::ordinary(&mut inputs);
    kinds::texts(&mut inputs);
    kinds::numbers(&mut inputs);
    kinds::shapes(&mut inputs);
    kinds::keys(&mut inputs);
    kinds::patches(&mut inputs);
    kinds::arrays(&mut inputs);
    inputs
}
