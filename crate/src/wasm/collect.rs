//! Exported functions of collections.

use super::abi::collect_flag;
use super::collect_op::CollectOp;
use super::engine::{Engine, Op, with};
use super::made::Made;
use crate::cache::{Cache, SegmentId};
use crate::collect::{Collect, Thoroughness};
use crate::hash::{HASH_BYTES, Hash};
use alloc::boxed::Box;
use alloc::vec::Vec;
use wasm_bindgen::prelude::wasm_bindgen;

fn with_collect(op: u32, run: impl FnOnce(&mut CollectOp, &mut Cache)) {
    with(|Engine { ops, cache, .. }| {
        if let Some(Op::Collect(op)) = ops.get_mut(op) {
            run(op, cache);
        }
    });
}

/// Starts a collection of the segments that are stored now. `flags` are [`collect_flag`]s; `values_before`
/// is the bytes of live values, as a collection last counted them.
#[wasm_bindgen]
pub fn collect(flags: u32, values_before: f64) -> u32 {
    let thoroughness = Thoroughness {
        survey: flags & collect_flag::SURVEY != 0,
        full: flags & collect_flag::FULL != 0,
        rest: flags & collect_flag::REST != 0,
        values_before: values_before as u64,
    };
    with(|engine| {
        let mut collect = Collect::new(&engine.cache, thoroughness);
        if flags & collect_flag::SPARING != 0 {
            collect.spare_room();
        }
        let (gone, gone_words, made) = (Vec::new(), Vec::new(), Made::default());
        engine.ops.add(Op::Collect(Box::new(CollectOp { collect, gone, gone_words, made })))
    })
}

/// Adds a live commit to a collection: its hash is in the first 32 bytes of `scratch`. With
/// `may_be_gone`, chunks of it may be missing.
#[wasm_bindgen]
pub fn collect_commit(op: u32, may_be_gone: bool) {
    let commit = with(|engine| Hash::read(&engine.scratch[..HASH_BYTES]));
    with_collect(op, |op, _| {
        if may_be_gone {
            op.collect.add_pinned(commit);
        } else {
            op.collect.add_commit(commit);
        }
    });
}

/// Makes a collection keep the segments `from..to`.
#[wasm_bindgen]
pub fn collect_keep(op: u32, from: f64, to: f64) {
    with_collect(op, |op, _| op.collect.keep(from as SegmentId, to as SegmentId));
}

/// Reports that the new segments of a collection are stored, and that the old ones are deleted.
#[wasm_bindgen]
pub fn collect_exchanged(op: u32) {
    with_collect(op, |op, cache| {
        core::mem::take(&mut op.made).ids.iter().for_each(|id| cache.stored(*id));
        for id in core::mem::take(&mut op.gone) {
            cache.remove(id);
        }
    });
}
