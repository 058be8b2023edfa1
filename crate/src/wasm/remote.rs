//! Exported functions of deltas. Like the functions of `sums/` they are in the later part of the module:
//! their names begin with `remote_`, and the first part does not call them.

use super::abi::{Bytes, Delta, status};
use super::engine::{Engine, Op, with};
use super::global::Global;
use super::reply::Reply;
use super::slots::Slots;
use crate::delta::{ApplyDelta, DeltaError, Made, MakeDelta};
use crate::error::{Error, Field};
use crate::hash::{HASH_BYTES, Hash};
use crate::step::{Budget, Step};
use crate::tree::Tree;
use alloc::boxed::Box;
use wasm_bindgen::prelude::wasm_bindgen;

enum Remote {
    /// A delta that is made, and whether the host has its bytes so far.
    Make(Box<MakeDelta>, bool),
    /// A delta, and the ingest that takes its edits.
    Apply(Box<ApplyDelta>, u32),
}

static REMOTES: Global<Slots<Remote>> = Global::new();

fn add(remote: Remote) -> u32 {
    REMOTES.with(|remotes| remotes.add(remote))
}

/// Calls `run` with the delta that is being applied.
fn applied<T: Default>(delta: u32, run: impl FnOnce(&mut ApplyDelta) -> T) -> T {
    REMOTES.with(|remotes| match remotes.get_mut(delta) {
        Some(Remote::Apply(apply, _)) => run(apply),
        _ => T::default(),
    })
}

/// Sets the reply to the root of a tree; returns the number of its entries.
fn tell_root(reply: &mut Reply, tree: Tree) -> f64 {
    let address = reply.hash(&tree.root);
    reply.tell(Bytes { address, length: HASH_BYTES as f64 });
    tree.count as f64
}

/// Reads the root of the rows of a view. Reply: [`Bytes`]. Returns the number of rows.
#[wasm_bindgen]
pub fn remote_rows(view: u32) -> f64 {
    with(|engine| {
        let tree = engine.tree(view);
        tell_root(&mut engine.reply, tree)
    })
}

/// Reads the root of the rows that a finished ingest has made; its commit need not be stored. Reply:
/// [`Bytes`]. Returns the number of rows.
#[wasm_bindgen]
pub fn remote_made_rows(ingest: u32) -> f64 {
    with(|engine| {
        let made = engine.ingest_op(ingest).map(|op| op.ingest.row_trees().1);
        tell_root(&mut engine.reply, made.unwrap_or_default())
    })
}

/// Starts to make the deltas from the rows of one view to the rows of another. Each ends with the edit by which it
/// has `cut_bytes`, and has at most `max_bytes`.
#[wasm_bindgen]
pub fn remote_make(from: u32, to: u32, cut_bytes: f64, max_bytes: f64) -> u32 {
    let (old, new) = with(|engine| (engine.tree(from), engine.tree(to)));
    let make = MakeDelta::new(old, new, cut_bytes as usize, max_bytes as usize);
    add(Remote::Make(Box::new(make), false))
}

/// Starts to apply a delta to an ingest that takes blocks. Free it before the ingest.
#[wasm_bindgen]
pub fn remote_apply(ingest: u32) -> u32 {
    add(Remote::Apply(Box::default(), ingest))
}

/// Returns the address of a buffer for the next `len` bytes of a delta. Fill it before the next call.
#[wasm_bindgen]
pub fn remote_room(delta: u32, len: u32) -> u32 {
    applied(delta, |apply| apply.decoder().room(len as usize).as_ptr() as u32)
}

/// Ends the bytes of a delta.
#[wasm_bindgen]
pub fn remote_end(delta: u32) {
    applied(delta, |apply| apply.decoder().end());
}

/// Continues a delta, as [`step`](super::step) does. Reply for a delta that is made, also when it yields:
/// [`Bytes`], its next bytes, and [`Delta`]. A delta that is applied is done when it has taken all complete
/// edits. Its reply is [`Delta`], and its ingest has the segments that it has made. [`status::MALFORMED`]
/// means that its bytes are malformed.
#[wasm_bindgen]
pub fn remote_step(delta: u32, budget: u32) -> u32 {
    let mut budget = with(|engine| engine.begin(budget));
    REMOTES.with(|remotes| match remotes.get_mut(delta) {
        Some(Remote::Make(make, handed_out)) => {
            with(|engine| go_on(make, handed_out, engine, &mut budget))
        }
        Some(Remote::Apply(apply, ingest)) => {
            with(|engine| take(apply, *ingest, engine, &mut budget))
        }
        None => status::DONE,
    })
}

fn go_on(
    make: &mut MakeDelta,
    handed_out: &mut bool,
    engine: &mut Engine,
    budget: &mut Budget,
) -> u32 {
    let Engine { cache, reply, .. } = engine;
    let encoder = make.encoder();
    if *handed_out {
        encoder.take();
    }
    let step = make.step(cache, budget);
    *handed_out = !matches!(step, Ok(Step::Need(_)));
    if *handed_out {
        let is_too_long = f64::from(u8::from(step == Ok(Step::Done(Made::TooLong))));
        let has_ended = f64::from(u8::from(make.has_ended()));
        let encoder = make.encoder();
        reply.bytes(encoder.out());
        reply.tell(Delta { edits: encoder.edits().into(), is_too_long, has_ended });
    }
    reply.step(step.map(|step| match step {
        Step::Done(_) => Step::Done(()),
        Step::Need(wanted) => Step::Need(wanted),
        Step::Yield => Step::Yield,
    }))
}

fn take(apply: &mut ApplyDelta, ingest: u32, engine: &mut Engine, budget: &mut Budget) -> u32 {
    let Engine { ops, cache, reply, next_segment, .. } = engine;
    let Some(Op::Ingest(op)) = ops.get_mut(ingest) else { return status::DONE };
    let step = apply.step(&mut op.ingest, cache, budget);
    op.made.add(cache, next_segment, op.ingest.sealed());
    match step {
        Ok(step) => {
            reply.tell(Delta { edits: apply.decoder().edits().into(), ..Delta::default() });
            reply.step(Ok(step))
        }
        Err(DeltaError::Failed(error)) => reply.error(&error),
        // A newer version has written it.
        Err(DeltaError::Malformed(fault))
            if fault.field == Field::Version && fault.got > fault.expected =>
        {
            reply.error(&Error::UnsupportedFormat { version: fault.got as u8 })
        }
        Err(DeltaError::Malformed(fault)) => reply.decode_error(&fault),
    }
}

/// The bytes of an object of a remote, to be hashed.
static OBJECT: Global<alloc::vec::Vec<u8>> = Global::new();

/// Returns the address of a buffer for the `len` bytes of an object. Fill it before the next call.
#[wasm_bindgen]
pub fn remote_object(len: u32) -> u32 {
    OBJECT.with(|object| {
        object.resize(len as usize, 0);
        object.as_ptr() as u32
    })
}

/// Hashes the object, and frees its memory. Reply: [`Bytes`].
#[wasm_bindgen]
pub fn remote_hash() {
    let object = OBJECT.with(core::mem::take);
    with(|engine| {
        let address = engine.reply.hash(&Hash::of(&object));
        engine.reply.tell(Bytes { address, length: HASH_BYTES as f64 });
    });
}

/// Frees a delta. Its ingest stays.
#[wasm_bindgen]
pub fn remote_free(delta: u32) {
    REMOTES.with(|remotes| drop(remotes.take(delta)));
}
