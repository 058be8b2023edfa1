//! How a commit of rows comes by its sum trees: which are wanted, edits by hand, and what follows rows.

use super::state::{NONE, Pending, Sums, key_at, name, sums};
use crate::le::u32_at;
use crate::step::Budget;
use crate::sum_tree::{Definition, SumBatch};
use crate::sum_update::{Follower, Staged, SumUpdate, Wanted, followers_of};
use crate::tree::Tree;
use crate::wasm::abi::status;
use crate::wasm::engine::{Engine, Op};
use crate::wasm::reply::is_of_sums;
use alloc::boxed::Box;
use alloc::vec::Vec;
use wasm_bindgen::prelude::wasm_bindgen;

/// A leaf as it crosses: sum and length of its value, which follow its key, and are followed by it.
const LEAF_BYTES: usize = 12;

impl Sums {
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
        if let Some(ingest) = engine.ingest_op(op) {
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
        if let (Some(ingest), Some(name)) = (engine.ingest_op(op), name) {
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
        let Some(ingest) = engine.ingest_op(op) else { return status::NO_OP };
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
        if let Some(ingest) = engine.ingest_op(op) {
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

/// Goes on with that, as [`step`](crate::wasm::step) does. On a sum error of a tree the reply is a `SumFault`.
#[wasm_bindgen]
pub fn sum_bring(op: u32, budget: u32) -> u32 {
    sums(|sums, engine| {
        let Engine { ops, cache, reply, next_segment, reach, .. } = engine;
        let Some(Op::Ingest(ingest)) = ops.get_mut(op) else { return status::DONE };
        let Some(bring) = &mut sums.pending(op).bring else { return status::DONE };
        let step = bring.step(cache, &mut Budget::of(budget as usize), &mut ingest.ingest);
        ingest.made.add(cache, next_segment, ingest.ingest.sealed());
        let status = reply.step(step);
        if is_of_sums(status)
            && let Some((name, key)) = bring.stopped_at()
        {
            reply.sum_fault(reach, &name.as_bytes()[1..], key);
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
