//! What exported functions do with sum trees. All of it is in the second part of the module, which
//! the host loads when it first needs it: the names of its exports begin with `sum_`, and nothing
//! in the first part calls any of it.

use super::engine::{Engine, Op, u32_at};
use super::reply::status;
use super::with;
use crate::forest::{Forest, TreeName};
use crate::step::{Budget, Step};
use crate::sum_tree::{
    Definition, Rules, SumBatch, SumDiff, SumLeaves, SumMultiGet, SumProve, SumScan, SumVerify,
    key_of,
};
use crate::sum_update::{Base, Follower, Staged, SumUpdate, Wanted, followers_of, tree_name};
use crate::tree::Tree;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::RefCell;
use wasm_bindgen::prelude::wasm_bindgen;

/// A leaf as it crosses: sum and length of its value, which follow its key, and are followed by it.
const LEAF_BYTES: usize = 12;
/// The length of a value that tells of a deletion, and that of a key that is no text.
const NONE: u32 = u32::MAX;
/// A leaf in an answer: key, sum, start and end of its value, mark.
const FOUND_BYTES: usize = 52;

enum Read {
    Find(SumMultiGet),
    Scan(SumScan),
    Diff(SumDiff),
    Prove(Box<SumProve>, Vec<u8>),
    Verify(Box<SumVerify>),
}

struct SumOp {
    read: Read,
    leaves: SumLeaves,
    found: Vec<u8>,
}

/// What is to be done with the sum trees in the commit of an ingest.
#[derive(Default)]
struct Pending {
    op: u32,
    staged: Vec<Staged>,
    /// It makes what is wanted also when it changes no row.
    extends: bool,
    bring: Option<Box<SumUpdate>>,
    bases: Vec<Base>,
}

#[derive(Default)]
struct Sums {
    rules: Option<Rules>,
    wanted: Vec<Follower>,
    pending: Vec<Pending>,
    ops: Vec<Option<SumOp>>,
}

struct Global(RefCell<Option<Sums>>);

// SAFETY: the module is built without threads, so that no other thread can reach it.
unsafe impl Sync for Global {}

static SUMS: Global = Global(RefCell::new(None));

fn sums<T>(run: impl FnOnce(&mut Sums, &mut Engine) -> T) -> T {
    let mut sums = SUMS.0.borrow_mut();
    let sums = sums.get_or_insert_default();
    with(|engine| run(sums, engine))
}

impl Sums {
    fn rules(&mut self) -> Rules {
        self.rules.get_or_insert_with(Rules::new).clone()
    }

    fn pending(&mut self, op: u32) -> &mut Pending {
        let at = self.pending.iter().position(|pending| pending.op == op);
        let at = at.unwrap_or_else(|| {
            self.pending.push(Pending { op, ..Pending::default() });
            self.pending.len() - 1
        });
        &mut self.pending[at]
    }

    /// What is to be done is done, unless another writer comes first.
    fn end(&mut self, op: u32) {
        let pending = self.pending(op);
        if let Some(bring) = pending.bring.take() {
            (pending.bases, pending.staged) = (*bring).into_retry_state();
        }
    }

    fn add(&mut self, read: Read) -> u32 {
        let at = self.ops.iter().position(Option::is_none).unwrap_or(self.ops.len());
        if at == self.ops.len() {
            self.ops.push(None);
        }
        self.ops[at] = Some(SumOp { read, leaves: SumLeaves::default(), found: Vec::new() });
        at as u32
    }
}

/// The name in the first `len` bytes of `scratch`.
fn name(engine: &Engine, len: u32) -> Option<TreeName> {
    tree_name(core::str::from_utf8(&engine.scratch[..len as usize]).ok()?)
}

fn tree(engine: &Engine, view: u32, len: u32) -> Tree {
    name(engine, len).map_or(Tree::EMPTY, |name| engine.forest(view).tree(&name))
}

/// The key at `at`, and what is after it: its length and the text that it stands for, or [`NONE`] and
/// itself.
fn key_at(bytes: &[u8], at: usize) -> Option<([u8; 32], usize)> {
    let len = u32_at(bytes, at);
    let at = at + 4;
    if len == NONE {
        let mut key = [0; 32];
        key.copy_from_slice(bytes.get(at..at + 32)?);
        return Some((key, at + 32));
    }
    let end = at + len as usize;
    Some((key_of(bytes.get(at..end)?), end))
}

fn keys(bytes: &[u8]) -> Vec<[u8; 32]> {
    let (mut keys, mut at) = (Vec::new(), 0);
    while at + 4 <= bytes.len()
        && let Some((key, end)) = key_at(bytes, at)
    {
        keys.push(key);
        at = end;
    }
    keys
}

/// Adds a sum tree that is to follow rows: `scratch` holds its name and its definition. After
/// `clear` it is the only one. [`status::NO_OP`] when that is no definition.
#[wasm_bindgen]
pub fn sum_want(name_len: u32, len: u32, clear: bool) -> u32 {
    sums(|sums, engine| {
        if clear {
            sums.wanted.clear();
        }
        let definition = &engine.scratch[name_len as usize..len as usize];
        let (Some(name), Some(_)) = (name(engine, name_len), Definition::parse(definition)) else {
            return status::NO_OP;
        };
        sums.wanted.push(Follower { name, definition: definition.into() });
        status::DONE
    })
}

/// Has an ingest make the sum trees that are wanted, whether it changes rows or not.
#[wasm_bindgen]
pub fn sum_extend(op: u32) {
    sums(|sums, engine| {
        if let Some(Op::Ingest(ingest)) = engine.op(op) {
            ingest.ingest.expect_sums();
            sums.pending(op).extends = true;
        }
    });
}

/// Drops the tree whose name is in the first `len` bytes of `scratch` in the commit of an ingest,
/// unread.
#[wasm_bindgen]
pub fn sum_drop(op: u32, len: u32) {
    sums(|_, engine| {
        let name = name(engine, len);
        if let (Some(Op::Ingest(ingest)), Some(name)) = (engine.op(op), name) {
            ingest.ingest.forest().set_sum(&name, Tree::EMPTY, Vec::new());
        }
    });
}

/// Adds edits of the tree whose name `scratch` holds to the commit of an ingest: leaves in the
/// segment buffer, each key, sum:u64, length:u32 (or 2^32 - 1: delete) and value; of a key, the
/// length of its text, which follows, or 2^32 - 1 and its 32 bytes.
#[wasm_bindgen]
pub fn sum_stage(op: u32, name_len: u32) -> u32 {
    sums(|sums, engine| {
        let Some(name) = name(engine, name_len) else { return status::NO_OP };
        let bytes = core::mem::take(&mut engine.incoming);
        let Some(Op::Ingest(ingest)) = engine.op(op) else { return status::NO_OP };
        ingest.ingest.expect_sums();
        let staged = &mut sums.pending(op).staged;
        let at = staged.iter().position(|staged| staged.name == name).unwrap_or(staged.len());
        if at == staged.len() {
            staged.push(Staged { name, batch: SumBatch::new() });
        }
        let batch = &mut staged[at].batch;
        let mut at = 0;
        while at + 4 <= bytes.len()
            && let Some((key, end)) = key_at(&bytes, at)
        {
            let [low, high, len] = [0, 4, 8].map(|offset| u32_at(&bytes, end + offset));
            let sum = u64::from(high) << 32 | u64::from(low);
            at = end + LEAF_BYTES;
            if len == NONE {
                batch.delete(&key);
                continue;
            }
            let Some(value) = bytes.get(at..at + len as usize) else { break };
            if let Err(error) = batch.put(&key, value, sum) {
                return engine.reply.error(&error);
            }
            at += value.len();
        }
        status::DONE
    })
}

/// Begins anew to bring the sum trees of an ingest that awaits them: those that follow rows, and those
/// that are wanted; with `alone` all others that follow rows are dropped. [`status::NO_OP`] when a tree
/// with edits follows rows.
#[wasm_bindgen]
pub fn sum_begin(op: u32, alone: bool) -> u32 {
    sums(|sums, engine| {
        let rules = sums.rules();
        let wanted = core::mem::take(&mut sums.wanted);
        let pending = sums.pending(op);
        if let Some(Op::Ingest(ingest)) = engine.op(op) {
            let ingest = &mut ingest.ingest;
            let forest = ingest.forest();
            let follows = |staged: &Staged| {
                forest.named(&staged.name).is_some_and(|named| !named.sum_definition().is_empty())
            };
            if pending.staged.iter().any(follows) {
                sums.wanted = wanted;
                return status::NO_OP;
            }
            let there = followers_of(forest);
            // Where rows that are stored cannot be summed, all that leaves them alone goes on.
            let (old, new) = ingest.row_trees();
            let makes = pending.extends || old != new;
            let followers: Vec<_> =
                wanted.iter().filter(|one| makes || there.contains(one)).cloned().collect();
            let staged = core::mem::take(&mut pending.staged);
            let wanted = Wanted { followers: &followers, alone };
            let bring = SumUpdate::new(&rules, ingest, staged, wanted, &pending.bases);
            pending.bring = Some(Box::new(bring));
        }
        sums.wanted = wanted;
        status::DONE
    })
}

/// Goes on with that, as [`step`](super::step) does. On a sum error the reply tells of which tree and
/// row: the address of the name, its length, and that of the row's key, which follows it.
#[wasm_bindgen]
pub fn sum_bring(op: u32, budget: u32) -> u32 {
    sums(|sums, engine| {
        let Engine { ops, cache, reply, next_segment, reach, .. } = engine;
        let Some(Some(Op::Ingest(ingest))) = ops.get_mut(op as usize) else {
            return status::DONE;
        };
        let Some(bring) = &mut sums.pending(op).bring else { return status::DONE };
        let step = bring.step(cache, &mut Budget::of(budget as usize), &mut ingest.ingest);
        ingest.made.add(cache, next_segment, ingest.ingest.sealed());
        let status = reply.step(step);
        if status::is_of_sums(status)
            && let Some((name, key)) = bring.stopped_at()
        {
            reply.fault(reach, &name.as_bytes()[1..], key);
        }
        if !matches!(status, status::NEED | status::YIELD) {
            sums.end(op);
        }
        status
    })
}

/// Forgets what was to be done with sum trees in the commit of an ingest.
#[wasm_bindgen]
pub fn sum_forget(op: u32) {
    sums(|sums, _| sums.pending.retain(|pending| pending.op != op));
}

/// Starts a search for the keys that follow the name in `scratch`.
#[wasm_bindgen]
pub fn sum_find(view: u32, name_len: u32, len: u32) -> u32 {
    sums(|sums, engine| {
        let keys = keys(&engine.scratch[name_len as usize..len as usize]);
        let find = SumMultiGet::new(tree(engine, view, name_len), &keys);
        sums.add(Read::Find(find))
    })
}

/// Starts a scan from the key that follows the name in `scratch`, or from the first leaf.
#[wasm_bindgen]
pub fn sum_scan(view: u32, name_len: u32, len: u32) -> u32 {
    sums(|sums, engine| {
        let keys = keys(&engine.scratch[name_len as usize..len as usize]);
        let scan = SumScan::new(tree(engine, view, name_len), keys.first());
        sums.add(Read::Scan(scan))
    })
}

/// Starts a diff of the trees of one name in two views.
#[wasm_bindgen]
pub fn sum_diff(old: u32, new: u32, name_len: u32) -> u32 {
    sums(|sums, engine| {
        let diff = SumDiff::new(tree(engine, old, name_len), tree(engine, new, name_len));
        sums.add(Read::Diff(diff))
    })
}

/// Starts a proof of the keys that follow the name in `scratch`: of one, or of `many`.
#[wasm_bindgen]
pub fn sum_prove(view: u32, name_len: u32, len: u32, many: bool) -> u32 {
    sums(|sums, engine| {
        let keys = keys(&engine.scratch[name_len as usize..len as usize]);
        let (rules, tree) = (sums.rules(), tree(engine, view, name_len));
        let prove = match &keys[..] {
            [key] if !many => SumProve::new(&rules, tree, key),
            keys => SumProve::many(&rules, tree, keys),
        };
        sums.add(Read::Prove(Box::new(prove), Vec::new()))
    })
}

/// Starts a walk that checks all of a tree.
#[wasm_bindgen]
pub fn sum_verify(view: u32, name_len: u32) -> u32 {
    sums(|sums, engine| {
        let Some(name) = name(engine, name_len) else { return status::NO_OP };
        let forest = engine.forest(view);
        let told = forest.named(&name).and_then(|named| named.reach.clone()).unwrap_or_default();
        let verify = SumVerify::new(&sums.rules(), forest.tree(&name), &told);
        sums.add(Read::Verify(Box::new(verify)))
    })
}

/// Reply: address and length of a JSON array of the names of the sum trees of a view.
#[wasm_bindgen]
pub fn sum_names(view: u32) {
    sums(|_, engine| {
        let forest: Forest = engine.forest(view);
        let mut text = Vec::from(b"[");
        for named in forest.sums() {
            if text.len() > 1 {
                text.push(b',');
            }
            crate::json::push_string(&mut text, &named.name.as_bytes()[1..]);
        }
        text.push(b']');
        engine.reach = text;
        let address = f64::from(engine.reach.as_ptr() as u32);
        engine.reply.set(&[address, engine.reach.len() as f64]);
    });
}

/// Goes on with a read. On done and yield the reply holds, of a proof, its address and length; else
/// address and number of leaves (key, sum:u64, start:u32, end:u32, mark:u32) and the address of
/// their values. Of a verification: leaves, pieces, and values out of line that are sound so far.
#[wasm_bindgen]
pub fn sum_step(op: u32, budget: u32) -> u32 {
    sums(|sums, engine| {
        let Engine { cache, reply, .. } = engine;
        let Some(Some(SumOp { read, leaves, found })) = sums.ops.get_mut(op as usize) else {
            return status::DONE;
        };
        let mut budget = Budget::of(budget as usize);
        if !found.is_empty() {
            found.clear();
            leaves.clear();
        }
        let step = match read {
            Read::Find(find) => find.step(cache, &mut budget, leaves),
            Read::Scan(scan) => scan.step(cache, &mut budget, leaves),
            Read::Diff(diff) => diff.step(cache, &mut budget, leaves),
            Read::Prove(prove, proof) => {
                let step = prove.step(cache, &mut budget);
                if step == Ok(Step::Done(())) {
                    *proof = prove.proof().1;
                }
                reply.set(&[f64::from(proof.as_ptr() as u32), proof.len() as f64]);
                return reply.step(step);
            }
            Read::Verify(verify) => {
                let step = verify.step(cache, &mut budget);
                reply.set(&verify.tally().map(|count| count as f64));
                return reply.step(step);
            }
        };
        // A change must not be taken apart between steps.
        let is_diff = matches!(read, Read::Diff(_));
        let is_whole = !is_diff && !leaves.is_reading();
        reply.set(&[0.0, 0.0, 0.0]);
        if step == Ok(Step::Done(())) || (step == Ok(Step::Yield) && is_whole) {
            for leaf in &leaves.leaves {
                found.extend_from_slice(&leaf.key);
                found.extend_from_slice(&leaf.sum.to_le_bytes());
                for word in [leaf.value.0 as u32, leaf.value.1 as u32, leaf.mark] {
                    found.extend_from_slice(&word.to_le_bytes());
                }
            }
            reply.set(&[
                f64::from(found.as_ptr() as u32),
                (found.len() / FOUND_BYTES) as f64,
                f64::from(leaves.bytes.as_ptr() as u32),
            ]);
        }
        reply.step(step)
    })
}

/// Frees a read.
#[wasm_bindgen]
pub fn sum_free(op: u32) {
    sums(|sums, _| {
        if let Some(slot) = sums.ops.get_mut(op as usize) {
            *slot = None;
        }
    });
}
