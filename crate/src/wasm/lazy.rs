//! Exported functions of trees that are partly at a remote, in the later part of the module, like `remote.rs`.

use super::abi::{Bytes, Segment, status};
use super::engine::{Engine, with};
use super::global::Global;
use super::made::Made;
use super::reply::address;
use super::slots::Slots;
use crate::cache::SegmentId;
use crate::forest::Forest;
use crate::hash::{HASH_BYTES, Hash};
use crate::lazy::{Leaves, NewNodes, NodeAt, Taken, land_nodes};
use crate::segment::{Packer, Sealed};
use crate::step::Step;
use crate::tree::Tree;
use alloc::boxed::Box;
use alloc::vec::Vec;
use wasm_bindgen::prelude::wasm_bindgen;

enum Lazy {
    /// The walk, and the nodes found since the last reply.
    Nodes(Box<NewNodes>, Vec<u8>),
    Leaves(Box<Leaves>),
}

static LAZY: Global<Slots<Lazy>> = Global::new();
/// The segments that were made and not taken yet.
static MADE: Global<Made> = Global::new();
/// The bytes for the next call.
static GIVEN: Global<Vec<u8>> = Global::new();

fn add(lazy: Lazy) -> u32 {
    LAZY.with(|all| all.add(lazy))
}

/// Adds segments to the cache, for [`remote_lazy_take`].
fn keep(engine: &mut Engine, sealed: Vec<Sealed>) {
    let Engine { cache, next_segment, .. } = engine;
    MADE.with(|made| made.add(cache, next_segment, sealed));
}

/// Returns the address of a buffer of `len` bytes for one of the next calls. Fill it before that call.
#[wasm_bindgen]
pub fn remote_lazy_room(len: u32) -> u32 {
    GIVEN.with(|given| {
        *given = alloc::vec![0; len as usize];
        given.as_ptr() as u32
    })
}

/// Starts to find the internal nodes that are in the rows of one view and not in the rows of another.
#[wasm_bindgen]
pub fn remote_nodes(from: u32, to: u32) -> u32 {
    let (old, new) = with(|engine| (engine.tree(from), engine.tree(to)));
    add(Lazy::Nodes(Box::new(NewNodes::new(old, new)), Vec::new()))
}

/// Continues to find nodes, as [`step`](super::step) does. Reply, also when it yields: [`Bytes`], for each node its
/// level:u8 and its record.
#[wasm_bindgen]
pub fn remote_nodes_step(op: u32, budget: u32) -> u32 {
    let mut budget = with(|engine| engine.begin(budget));
    LAZY.with(|all| {
        let Some(Lazy::Nodes(nodes, out)) = all.get_mut(op) else { return status::DONE };
        with(|engine| {
            let Engine { cache, reply, .. } = engine;
            let step = nodes.step(cache, &mut budget);
            if !matches!(step, Ok(Step::Need(_))) {
                *out = nodes.take();
                reply.bytes(out);
            }
            reply.step(step)
        })
    })
}

/// Makes segments of records of nodes. The buffer has a hash, then the records. Takes known nodes if the hash is zeros,
/// or else the top with that hash and the nodes below it; with `again` all nodes. Makes no segment and returns
/// [`status::MALFORMED`] at a fault.
#[wasm_bindgen]
pub fn remote_land_nodes(again: bool) -> u32 {
    let given = GIVEN.with(core::mem::take);
    let Some(records) = given.get(HASH_BYTES..) else { return status::DONE };
    let taken = match Hash::read(&given) {
        _ if again => Taken::Again,
        Hash::ZERO => Taken::Known,
        top => Taken::Below(top),
    };
    with(|engine| match land_nodes(&engine.cache, records, taken) {
        Ok(sealed) => {
            keep(engine, sealed);
            status::DONE
        }
        Err(error) => engine.reply.decode_error(&error),
    })
}

/// Starts to make leaves of rows.
#[wasm_bindgen]
pub fn remote_leaves() -> u32 {
    add(Lazy::Leaves(Box::default()))
}

fn leaves<T>(op: u32, run: impl FnOnce(&mut Leaves) -> T) -> Option<T> {
    LAZY.with(|all| match all.get_mut(op) {
        Some(Lazy::Leaves(leaves)) => Some(run(leaves)),
        _ => None,
    })
}

/// Adds the delta in the buffer; returns [`status::MALFORMED`] at a fault.
#[wasm_bindgen]
pub fn remote_leaves_add(op: u32) -> u32 {
    let delta = GIVEN.with(core::mem::take);
    match leaves(op, |leaves| leaves.add(&delta)) {
        Some(Err(error)) => with(|engine| engine.reply.decode_error(&error)),
        _ => status::DONE,
    }
}

/// Sorts the edits, once all deltas are added.
#[wasm_bindgen]
pub fn remote_leaves_sort(op: u32) {
    leaves(op, Leaves::sort);
}

/// Makes a node of `count` entries. The buffer has its hash, then its last key. Returns 1, or 0 if rows do not make it.
#[wasm_bindgen]
pub fn remote_leaves_make(op: u32, count: f64) -> u32 {
    let given = GIVEN.with(core::mem::take);
    let Some(last_key) = given.get(HASH_BYTES..) else { return 0 };
    let node = NodeAt { hash: Hash::read(&given), last_key, count: count as u64 };
    leaves(op, |leaves| leaves.make(&node)).unwrap_or_default().into()
}

/// Makes the value of a key. The buffer has the hash of a part of it, then the key. Returns 1, or 0 if there is no such
/// part.
#[wasm_bindgen]
pub fn remote_leaves_value(op: u32) -> u32 {
    let given = GIVEN.with(core::mem::take);
    let Some(key) = given.get(HASH_BYTES..) else { return 0 };
    leaves(op, |leaves| leaves.make_value(key, &Hash::read(&given))).unwrap_or_default().into()
}

/// Ends the making of leaves, or a walk: adds the new segments to the cache.
#[wasm_bindgen]
pub fn remote_lazy_free(op: u32) {
    if let Some(Lazy::Leaves(mut leaves)) = LAZY.with(|all| all.take(op)) {
        with(|engine| keep(engine, leaves.take()));
    }
}

/// Makes the commit of the tree of rows whose top has the hash in the buffer. Reply: [`Bytes`], its hash.
#[wasm_bindgen]
pub fn remote_lazy_commit(count: f64) {
    let given = GIVEN.with(core::mem::take);
    let root = Hash::read(&given);
    let mut forest = Forest::new();
    forest.set_rows(Tree { root, count: count as u64 });
    let mut packer = Packer::new();
    // A commit of one tree is never too large.
    let made = forest.commit(&mut packer).unwrap_or(Hash::ZERO);
    packer.seal();
    with(|engine| {
        keep(engine, packer.take_sealed());
        let address = engine.reply.hash(&made);
        engine.reply.tell(Bytes { address, length: HASH_BYTES as f64 });
    });
}

/// Takes the next segment that was made: [`status::SEGMENT`], with the reply [`Segment`], or [`status::DONE`].
#[wasm_bindgen]
pub fn remote_lazy_take() -> u32 {
    MADE.with(|made| {
        let Some(id) = made.ids.get(made.taken).copied() else {
            *made = Made::default();
            return status::DONE;
        };
        made.taken += 1;
        with(|engine| tell(engine, id))
    })
}

fn tell(engine: &mut Engine, id: SegmentId) -> u32 {
    let Engine { cache, reply, .. } = engine;
    let Some((bytes, table)) = cache.segment_bytes(id) else { return status::DONE };
    reply.tell(Segment {
        id: id as f64,
        address: address(bytes.as_ptr()),
        length: bytes.len() as f64,
        table: address(table.bytes().as_ptr()),
        table_length: table.bytes().len() as f64,
    });
    status::SEGMENT
}
