//! What exported functions do with sum trees. All of it is in the second part of the module, which
//! the host loads when it first needs it: the names of its exports begin with `sum_`, and nothing
//! in the first part calls any of it. `commit.rs` is about commits, `reads.rs` about reads.

mod commit;
mod reads;

use super::engine::{Engine, u32_at};
use super::global::Global;
use super::slots::Slots;
use super::with;
use crate::forest::TreeName;
use crate::sum_tree::{Rules, key_of};
use crate::sum_update::{Follower, tree_name};
use crate::tree::Tree;
use alloc::vec::Vec;
use commit::Pending;
use reads::SumOp;

/// The length of a value that tells of a deletion, and that of a key that is no text.
const NONE: u32 = u32::MAX;

#[derive(Default)]
struct Sums {
    rules: Option<Rules>,
    wanted: Vec<Follower>,
    pending: Vec<Pending>,
    ops: Slots<SumOp>,
}

static SUMS: Global<Sums> = Global::new();

fn sums<T>(run: impl FnOnce(&mut Sums, &mut Engine) -> T) -> T {
    SUMS.with(|sums| with(|engine| run(sums, engine)))
}

impl Sums {
    fn rules(&mut self) -> Rules {
        self.rules.get_or_insert_with(Rules::new).clone()
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
