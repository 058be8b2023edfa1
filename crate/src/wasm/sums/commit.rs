//! Exported functions that update the sum trees of a commit: wanted trees, edits by hand, and the update.

use super::state::{NONE, Pending, Sums, key_at, name, sums};
use crate::le::u32_at;
use crate::sum_tree::{Definition, SumBatch};
use crate::sum_update::{Follower, Staged, SumUpdate, Wanted, followers_of};
use crate::tree::Tree;
use crate::wasm::abi::status;
use crate::wasm::engine::{Engine, Op};
use crate::wasm::reply::is_of_sums;
use alloc::boxed::Box;
use alloc::vec::Vec;
use wasm_bindgen::prelude::wasm_bindgen;

/// The bytes between the key and the value of an edit: sum and length of the value.
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

    /// Ends the update, and keeps its result for another try after a lost race.
    fn end(&mut self, op: u32) {
        let pending = self.pending(op);
        if let Some(bring) = pending.bring.take() {
            (pending.bases, pending.staged) = (*bring).into_retry_state();
        }
    }
}

/// Adds a wanted sum tree that follows rows: `scratch` holds its name and its definition. `clear` first
/// removes earlier ones. [`status::NO_OP`] if the name or the definition is invalid.
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

/// Makes an ingest build the wanted sum trees even if it changes no rows.
#[wasm_bindgen]
pub fn sum_extend(op: u32) {
    sums(|sums, engine| {
        if let Some(ingest) = engine.ingest_op(op) {
            ingest.ingest.expect_sums();
            sums.pending(op).extends = true;
        }
    });
}

/// Drops a tree in the commit of an ingest, without reading it. Its name is in the first `len` bytes of
/// `scratch`.
#[wasm_bindgen]
pub fn sum_drop(op: u32, len: u32) {
    sums(|_, engine| {
        let name = name(engine, len);
        if let (Some(ingest), Some(name)) = (engine.ingest_op(op), name) {
            ingest.ingest.forest().set_sum(&name, Tree::EMPTY, Vec::new());
        }
    });
}

/// Adds edits of the tree whose name `scratch` holds to the commit of an ingest. They are in the segment
/// buffer: each is key, sum:u64, length:u32 (or 2^32 - 1 to delete) and value. A key is the length of its
/// text as u32, and the text, or 2^32 - 1 and 32 bytes.
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

/// Starts to update the sum trees of an ingest that awaits them: trees with edits, trees that follow rows,
/// and wanted ones; `alone` drops all other followers. [`status::NO_OP`] if a tree with edits follows rows.
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
            let existing = followers_of(forest);
            // Missing trees are made only with a change of rows, or on request. So if stored rows cannot be
            // summed, commits that do not change rows still succeed.
            let (old, new) = ingest.row_trees();
            let makes = pending.extends || old != new;
            let followers: Vec<_> =
                wanted.iter().filter(|one| makes || existing.contains(one)).cloned().collect();
            let staged = core::mem::take(&mut pending.staged);
            let wanted = Wanted { followers: &followers, alone };
            let bring = SumUpdate::new(&rules, ingest, staged, wanted, &pending.bases);
            pending.bring = Some(Box::new(bring));
        }
        sums.wanted = wanted;
        status::DONE
    })
}

/// Continues the update, as [`step`](crate::wasm::step) does. After an error of a sum tree the reply is `SumFault`.
#[wasm_bindgen]
pub fn sum_bring(op: u32, budget: u32) -> u32 {
    sums(|sums, engine| {
        let mut budget = engine.begin(budget);
        let Engine { ops, cache, reply, next_segment, reach, .. } = engine;
        let Some(Op::Ingest(ingest)) = ops.get_mut(op) else { return status::DONE };
        let Some(bring) = &mut sums.pending(op).bring else { return status::DONE };
        let step = bring.step(cache, &mut budget, &mut ingest.ingest);
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

/// Forgets the edits and updates of sum trees of an ingest.
#[wasm_bindgen]
pub fn sum_forget(op: u32) {
    sums(|sums, _| sums.pending.retain(|pending| pending.op != op));
}
