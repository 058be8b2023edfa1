//! The state of one store in linear memory: its segments, its views and its operations.

use super::abi::{Count as CountReply, Segment, Value, View as ViewReply, status, value_kind};
use super::collect_op::CollectOp;
use super::global::Global;
use super::ingest_op::IngestOp;
use super::reply::{Reply, address};
use super::slots::Slots;
use crate::cache::{Cache, Fetch, SegmentId};
use crate::chunk::ChunkKind;
use crate::error::{Error, RowFault};
use crate::forest::{Forest, ROWS};
use crate::hash::{HASH_BYTES, Hash};
use crate::index::{Definition, IndexScan};
use crate::json::{skip_space, skip_value};
use crate::output::Output;
use crate::rows::read_key;
use crate::secret::Secret;
use crate::step::{Budget, Step};
use crate::tree::{Count, Diff, MultiGet, Scan, Tree, get};
use crate::value::Kind;
use alloc::boxed::Box;
use alloc::vec::Vec;

pub enum Op {
    Find { find: MultiGet, out: Output, found: Vec<u32> },
    Scan { scan: Scan, out: Output },
    IndexScan { scan: IndexScan, out: Output },
    Diff { diff: Diff, out: Output },
    Count(Count),
    Ingest(Box<IngestOp>),
    Collect(Box<CollectOp>),
}

/// An open commit, and its tree of rows, which every `get` needs.
pub struct View {
    pub forest: Forest,
    rows: Tree,
}

#[derive(Default)]
pub struct Engine {
    pub cache: Cache,
    pub scratch: Vec<u8>,
    pub incoming: Vec<u8>,
    pub reply: Reply,
    pub views: Slots<View>,
    pub next_segment: SegmentId,
    /// The definitions that the host asked for.
    pub indexes: Vec<Definition>,
    /// The bytes that the last reply points to: a key, a name and a key, or names.
    pub reach: Vec<u8>,
    pub ops: Slots<Op>,
}

static ENGINE: Global<Engine> = Global::new();

/// Runs `run` on the engine.
pub fn with<T>(run: impl FnOnce(&mut Engine) -> T) -> T {
    ENGINE.with(run)
}

/// Replaces the engine.
pub fn start_engine(engine: Engine) {
    ENGINE.set(engine);
}

impl Engine {
    pub fn new(cache_bytes: usize, secret: Secret) -> Self {
        Self { cache: Cache::keyed(cache_bytes, secret), ..Self::default() }
    }

    pub fn tree(&self, view: u32) -> Tree {
        self.views.get(view).map_or(Tree::EMPTY, |view| view.rows)
    }

    pub fn forest(&self, view: u32) -> Forest {
        self.views.get(view).map(|view| view.forest.clone()).unwrap_or_default()
    }

    pub fn open_view(&mut self) -> u32 {
        let hash = Hash::read(&self.scratch[..HASH_BYTES]);
        let forest = if hash == Hash::ZERO {
            Forest::new()
        } else {
            let malformed = |cause| Error::CorruptChunk { hash, cause: Some(cause) };
            let decoded = match self.cache.chunk(&hash, ChunkKind::Commit) {
                Ok(Fetch::Here(bytes)) => Forest::decode(bytes).map_err(malformed),
                // Next to a commit are the nodes that the first reads need.
                Ok(Fetch::At(want)) => return self.reply.need(&[want.whole()]),
                Err(error) => Err(error),
            };
            match decoded {
                Ok(forest) => forest,
                Err(error) => return self.reply.error(&error),
            }
        };
        let rows = forest.tree(ROWS);
        let count = rows.count as f64;
        let view = f64::from(self.views.add(View { forest, rows }));
        self.reply.tell(ViewReply { handle: view, rows: count });
        status::DONE
    }

    pub fn get(&mut self, view: u32, len: usize) -> u32 {
        self.cache.settle();
        let tree = self.tree(view);
        match get(&self.cache, tree, &self.scratch[..len]) {
            Ok(Fetch::Here(None)) => {
                self.reply.tell(Value { kind: value_kind::ABSENT.into(), ..Value::default() });
            }
            Ok(Fetch::Here(Some(entry))) if entry.tag.is_ref => return status::FAR,
            Ok(Fetch::Here(Some(entry))) => {
                let is_json = entry.tag.kind == Kind::Json;
                self.reply.tell(Value {
                    kind: if is_json { value_kind::JSON } else { value_kind::BYTES }.into(),
                    address: address(entry.value.as_ptr()),
                    length: entry.value.len() as f64,
                });
            }
            Ok(Fetch::At(want)) => return self.reply.need(&[want]),
            Err(error) => return self.reply.error(&error),
        }
        status::DONE
    }

    pub fn take_segment(&mut self, op: u32) -> u32 {
        let Self { ops, cache, reply, .. } = self;
        let made = match ops.get_mut(op) {
            Some(Op::Ingest(ingest)) => &mut ingest.made,
            Some(Op::Collect(collect)) => &mut collect.made,
            _ => return status::DONE,
        };
        let Some(id) = made.ids.get(made.taken) else { return status::DONE };
        made.taken += 1;
        let Some((bytes, table)) = cache.segment_bytes(*id) else { return status::DONE };
        reply.tell(Segment {
            id: *id as f64,
            address: address(bytes.as_ptr()),
            length: bytes.len() as f64,
            table: address(table.bytes().as_ptr()),
            table_length: table.bytes().len() as f64,
        });
        status::SEGMENT
    }

    /// Begins a step: see [`Cache::begin`]. Returns the budget of the step.
    pub fn begin(&mut self, budget: u32) -> Budget {
        self.cache.begin();
        Budget::of(budget as usize)
    }

    pub fn step(&mut self, op: u32, budget: u32) -> u32 {
        let mut budget = self.begin(budget);
        let Self { ops, cache, reply, next_segment, .. } = self;
        let Some(op) = ops.get_mut(op) else { return status::DONE };
        let result = match op {
            Op::Count(count) => count.step(cache).map(|step| match step {
                Step::Done(count) => {
                    reply.tell(CountReply { rows: count as f64 });
                    Step::Done(())
                }
                Step::Need(wanted) => Step::Need(wanted),
                Step::Yield => Step::Yield,
            }),
            Op::Find { find, out, found } => {
                let step = apart(|| find.step(cache, &mut budget, out, found));
                if let Ok(Step::Done(())) = step {
                    out.close();
                    reply.output(out, found);
                }
                step
            }
            Op::Scan { scan, out } => {
                out.reopen();
                let step = apart(|| scan.step(cache, &mut budget, out));
                hand_out(reply, out, step)
            }
            Op::IndexScan { scan, out } => {
                out.reopen();
                let step = apart(|| scan.step(cache, &mut budget, out));
                hand_out(reply, out, step)
            }
            Op::Diff { diff, out } => {
                out.reopen();
                let step = apart(|| diff.step(cache, &mut budget, out));
                hand_out(reply, out, step)
            }
            Op::Ingest(ingest) => apart(|| ingest.step(cache, reply, next_segment, &mut budget)),
            Op::Collect(collect) => apart(|| collect.step(cache, reply, next_segment, &mut budget)),
        };
        reply.step(result)
    }

    pub fn ahead(&mut self, op: u32) -> u32 {
        let ids = match self.ops.get(op) {
            Some(Op::Scan { scan, .. }) => scan.ahead(&self.cache),
            _ => Vec::new(),
        };
        if ids.is_empty() { status::DONE } else { self.reply.need(&ids) }
    }

    pub fn free(&mut self, op: u32, committed: bool) {
        let made = match self.ops.take(op) {
            Some(Op::Ingest(ingest)) if !committed => ingest.made,
            Some(Op::Collect(collect)) if !committed => collect.made,
            _ => return,
        };
        made.ids.iter().for_each(|id| self.cache.remove(*id));
    }
}

/// Runs `work` as a function of its own. Browsers compile a whole function at its first call, and the first `get` of a
/// page must not wait for the code of loads. A flag of wasm-opt names this function.
#[inline(never)]
fn apart<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Puts the output into the reply, unless segments are needed; an empty output if it ends within a value.
pub fn hand_out(
    reply: &mut Reply,
    out: &mut Output,
    step: Result<Step<()>, Error>,
) -> Result<Step<()>, Error> {
    match step {
        Ok(Step::Yield) if out.is_partial() => reply.no_output(),
        Ok(Step::Done(()) | Step::Yield) => {
            out.close();
            reply.output(out, &[]);
        }
        _ => {}
    }
    step
}

/// Reads the keys in a JSON array of strings.
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
