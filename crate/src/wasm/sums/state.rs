//! The state of sum trees in the later part of the module, and the readers of names and keys.

use crate::forest::TreeName;
use crate::le::u32_at;
use crate::sum_tree::{
    Rules, SumDiff, SumLeaves, SumMultiGet, SumProve, SumScan, SumVerify, key_of,
};
use crate::sum_update::{Base, Follower, Staged, SumUpdate, tree_name};
use crate::tree::Tree;
use crate::wasm::engine::{Engine, with};
use crate::wasm::global::Global;
use crate::wasm::slots::Slots;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The pending edits and updates of sum trees in the commit of an ingest.
#[derive(Default)]
pub struct Pending {
    pub op: u32,
    pub staged: Vec<Staged>,
    /// Wanted trees are made even if no row changes.
    pub extends: bool,
    pub bring: Option<Box<SumUpdate>>,
    pub bases: Vec<Base>,
}

/// A read of a sum tree.
pub enum Read {
    Find(SumMultiGet),
    Scan(SumScan),
    Diff(SumDiff),
    Prove(Box<SumProve>, Vec<u8>),
    Verify(Box<SumVerify>),
}

/// A read in progress, and the leaves that it has found.
pub struct SumOp {
    pub read: Read,
    pub leaves: SumLeaves,
    pub found: Vec<u8>,
}

/// As the length of a value: delete. As the length of a key: 32 bytes follow, instead of text.
pub const NONE: u32 = u32::MAX;

#[derive(Default)]
pub struct Sums {
    pub rules: Option<Rules>,
    pub wanted: Vec<Follower>,
    pub pending: Vec<Pending>,
    pub ops: Slots<SumOp>,
}

static SUMS: Global<Sums> = Global::new();

pub fn sums<T>(run: impl FnOnce(&mut Sums, &mut Engine) -> T) -> T {
    SUMS.with(|sums| with(|engine| run(sums, engine)))
}

impl Sums {
    pub fn rules(&mut self) -> Rules {
        self.rules.get_or_insert_with(Rules::new).clone()
    }
}

/// Reads the name in the first `len` bytes of `scratch`.
pub fn name(engine: &Engine, len: u32) -> Option<TreeName> {
    tree_name(core::str::from_utf8(&engine.scratch[..len as usize]).ok()?)
}

pub fn tree(engine: &Engine, view: u32, len: u32) -> Tree {
    name(engine, len).map_or(Tree::EMPTY, |name| engine.forest(view).tree(&name))
}

/// Reads the key at `at`: the length of a text, and the text, or [`NONE`] and 32 bytes. Returns the key,
/// and the position after it.
pub fn key_at(bytes: &[u8], at: usize) -> Option<([u8; 32], usize)> {
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

pub fn keys(bytes: &[u8]) -> Vec<[u8; 32]> {
    let (mut keys, mut at) = (Vec::new(), 0);
    while at + 4 <= bytes.len()
        && let Some((key, end)) = key_at(bytes, at)
    {
        keys.push(key);
        at = end;
    }
    keys
}
