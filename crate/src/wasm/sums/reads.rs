//! Exported functions that read sum trees: leaves, proofs, verifications and names.

use super::state::{Read, SumOp, Sums, keys, name, sums, tree};
use crate::error::Error;
use crate::step::{Budget, Step};
use crate::sum_tree::{SumDiff, SumLeaves, SumMultiGet, SumProve, SumScan, SumVerify};
use crate::wasm::abi::{self, SumTally, found_leaf, status};
use crate::wasm::engine::Engine;
use crate::wasm::reply::address;
use alloc::boxed::Box;
use alloc::vec::Vec;
use wasm_bindgen::prelude::wasm_bindgen;

impl Sums {
    fn add(&mut self, read: Read) -> u32 {
        self.ops.add(SumOp { read, leaves: SumLeaves::default(), found: Vec::new() })
    }
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

/// Starts a proof of the keys that follow the name in `scratch`. With one key and not `many` it is a
/// proof of that key, else a proof of many keys.
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

/// Starts a verification of a tree.
#[wasm_bindgen]
pub fn sum_verify(view: u32, name_len: u32) -> u32 {
    sums(|sums, engine| {
        let Some(name) = name(engine, name_len) else { return status::NO_OP };
        let forest = engine.forest(view);
        let reach = forest.named(&name).and_then(|named| named.reach.clone()).unwrap_or_default();
        let verify = SumVerify::new(&sums.rules(), forest.tree(&name), &reach);
        sums.add(Read::Verify(Box::new(verify)))
    })
}

/// Lists the names of the sum trees of a view. Reply: `Bytes`, a JSON array.
#[wasm_bindgen]
pub fn sum_names(view: u32) {
    sums(|_, engine| {
        let forest = engine.forest(view);
        let mut text = Vec::from(b"[");
        for named in forest.sums() {
            if text.len() > 1 {
                text.push(b',');
            }
            crate::json::push_string(&mut text, &named.name.as_bytes()[1..]);
        }
        text.push(b']');
        engine.reach = text;
        engine.reply.bytes(&engine.reach);
    });
}

impl SumOp {
    /// Gathers leaves for the next reply.
    fn gather(&mut self, engine: &mut Engine, budget: &mut Budget) -> Result<Step<()>, Error> {
        let (cache, leaves) = (&mut engine.cache, &mut self.leaves);
        if !self.found.is_empty() {
            self.found.clear();
            leaves.clear();
        }
        match &mut self.read {
            Read::Find(find) => find.step(cache, budget, leaves),
            Read::Scan(scan) => scan.step(cache, budget, leaves),
            Read::Diff(diff) => diff.step(cache, budget, leaves),
            Read::Prove(..) | Read::Verify(_) => Ok(Step::Done(())),
        }
    }

    /// Writes the leaves for the host, and sets the reply.
    fn hand_out(&mut self, engine: &mut Engine) {
        for leaf in &self.leaves.leaves {
            let mut bytes = [0; found_leaf::BYTES];
            let mut write = |at: usize, part: &[u8]| {
                bytes[at..at + part.len()].copy_from_slice(part);
            };
            write(found_leaf::KEY, &leaf.key);
            write(found_leaf::SUM, &leaf.sum.to_le_bytes());
            write(found_leaf::START, &(leaf.value.0 as u32).to_le_bytes());
            write(found_leaf::END, &(leaf.value.1 as u32).to_le_bytes());
            write(found_leaf::MARK, &leaf.mark.to_le_bytes());
            self.found.extend_from_slice(&bytes);
        }
        engine.reply.tell(abi::SumLeaves {
            address: address(self.found.as_ptr()),
            count: (self.found.len() / found_leaf::BYTES) as f64,
            values: address(self.leaves.bytes.as_ptr()),
        });
    }
}

/// Continues a read. The reply when it is done or yields: for a proof
/// [`Bytes`](crate::wasm::abi::Bytes), complete once it is done; for a verification [`SumTally`], so far;
/// else [`SumLeaves`](crate::wasm::abi::SumLeaves), the leaves since the last reply.
#[wasm_bindgen]
pub fn sum_step(op: u32, budget: u32) -> u32 {
    sums(|sums, engine| {
        let Some(sum_op) = sums.ops.get_mut(op) else { return status::DONE };
        let mut budget = engine.begin(budget);
        let Engine { cache, reply, .. } = engine;
        match &mut sum_op.read {
            Read::Prove(prove, proof) => {
                let step = prove.step(cache, &mut budget);
                if step == Ok(Step::Done(())) {
                    *proof = prove.proof().1;
                }
                reply.bytes(proof);
                return reply.step(step);
            }
            Read::Verify(verify) => {
                let step = verify.step(cache, &mut budget);
                let [leaves, pieces, values] = verify.tally().map(|count| count as f64);
                reply.tell(SumTally { leaves, pieces, values });
                return reply.step(step);
            }
            Read::Find(_) | Read::Scan(_) | Read::Diff(_) => {}
        }
        let step = sum_op.gather(engine, &mut budget);
        // The two leaves of a change must be in one reply.
        let is_diff = matches!(sum_op.read, Read::Diff(_));
        let is_whole = !is_diff && !sum_op.leaves.is_reading();
        engine.reply.tell(abi::SumLeaves::default());
        if step == Ok(Step::Done(())) || (step == Ok(Step::Yield) && is_whole) {
            sum_op.hand_out(engine);
        }
        engine.reply.step(step)
    })
}

/// Frees a read.
#[wasm_bindgen]
pub fn sum_free(op: u32) {
    sums(|sums, _| drop(sums.ops.take(op)));
}
