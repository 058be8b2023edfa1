//! Exported functions of views, and of reads of them.

use super::abi::{read_flag, status};
use super::engine::with;
use super::engine::{Engine, Op, keys};
use crate::forest::Named;
use crate::le::u32_at;
use crate::output::Output;
use crate::tree::{Count, Diff, MultiGet, Parts, Range, Scan};
use alloc::vec::Vec;
use core::ops::Bound;
use wasm_bindgen::prelude::wasm_bindgen;

/// The options of a read of a range of rows or of an index.
pub struct ReadOptions {
    pub range: Range,
    pub parts: Parts,
    pub secondary: bool,
    pub reverse: bool,
    /// The number of an index, from 1; 0 reads rows.
    pub index: usize,
    /// The number of rows to skip at the start of the range.
    pub offset: u64,
    pub limit: u64,
}

impl ReadOptions {
    /// Decodes the flags and bounds that `js/hedgerow/src/base/range.ts` wrote.
    fn decode(flags: u32, range_bytes: &[u8], offset: f64, limit: f64) -> Self {
        Self {
            range: range(flags, range_bytes),
            parts: Parts {
                keys: flags & read_flag::KEYS != 0,
                values: flags & read_flag::VALUES != 0,
            },
            secondary: flags & read_flag::SECONDARY != 0,
            reverse: flags & read_flag::REVERSE != 0,
            index: index(flags),
            offset: offset as u64,
            limit: limit as u64,
        }
    }
}

/// Reads the number of an index in the flags.
fn index(flags: u32) -> usize {
    (flags >> read_flag::INDEX_SHIFT) as usize
}

/// Decodes a range: the length and bytes of the prefix, lower and upper bound, as far as `flags` has them.
fn range(flags: u32, mut rest: &[u8]) -> Range {
    let mut next = || {
        let (part, after) = rest[4..].split_at(u32_at(rest, 0) as usize);
        rest = after;
        part.to_vec()
    };
    let has = |flag: u32| flags & flag != 0;
    let within = if has(read_flag::PREFIX) { Range::prefix(&next()) } else { Range::ALL };
    let mut bound = |included: u32, excluded: u32| match () {
        () if has(excluded) => Bound::Excluded(next()),
        () if has(included) => Bound::Included(next()),
        () => Bound::Unbounded,
    };
    let lower = bound(read_flag::GTE, read_flag::GT);
    let upper = bound(read_flag::LTE, read_flag::LT);
    within.and(Range { lower, upper })
}

impl Engine {
    /// Reads the range in the first `len` bytes of `scratch`.
    pub fn range(&self, flags: u32, len: u32) -> Range {
        range(flags, &self.scratch[..len as usize])
    }

    fn scan(&mut self, view: u32, options: ReadOptions) -> u32 {
        let op = if let Some(definition) = self.definition(options.index) {
            self.index_scan(view, definition, options)
        } else {
            let ReadOptions { range, parts, secondary: _, reverse, index: _, offset, limit } =
                options;
            let scan = Scan::new(self.tree(view), range, reverse, limit, parts).after(offset);
            Op::Scan { scan, out: Output::new() }
        };
        self.ops.add(op)
    }

    fn find(&mut self, view: u32, len: usize) -> u32 {
        match keys(&self.scratch[..len]) {
            Ok(keys) => {
                let find = MultiGet::new(self.tree(view), keys.iter().map(|key| &**key));
                self.ops.add(Op::Find { find, out: Output::new(), found: Vec::new() })
            }
            Err(error) => {
                self.reply.error(&error);
                status::NO_OP
            }
        }
    }

    fn total(&mut self, view: u32, len: usize) {
        let Self { views, scratch, reply, .. } = self;
        let is = |named: &&Named| named.name.as_bytes().get(1..) == Some(&scratch[..len]);
        let named = views.get(view).and_then(|view| view.forest.sums().find(is));
        reply.bytes(named.and_then(|named| named.reach.as_deref()).unwrap_or_default());
    }
}

/// Opens a view of the commit whose hash is in the first 32 bytes of `scratch`, or of the
/// empty store when they are zero. Reply: `View`.
#[wasm_bindgen]
pub fn open_view() -> u32 {
    with(Engine::open_view)
}

/// Closes a view.
#[wasm_bindgen]
pub fn close_view(view: u32) {
    with(|engine| engine.views.free(view));
}

/// Looks up the key in the first `len` bytes of `scratch`. Reply: `Value`. [`status::FAR`] when the value is
/// out of line, and must be read by [`find`].
#[wasm_bindgen]
pub fn get(view: u32, len: u32) -> u32 {
    with(|engine| engine.get(view, len as usize))
}

/// Starts a search for the keys in the first `len` bytes of `scratch`, a JSON array of
/// strings. Returns the operation, or [`status::NO_OP`] if a key is invalid: the reply
/// then says which.
#[wasm_bindgen]
pub fn find(view: u32, len: u32) -> u32 {
    with(|engine| engine.find(view, len as usize))
}

/// Starts a scan of at most `limit` rows or entries of an index, without the first `offset`.
/// `js/hedgerow/src/base/range.ts` writes flags and bounds.
#[wasm_bindgen]
pub fn scan(view: u32, flags: u32, len: u32, offset: f64, limit: f64) -> u32 {
    with(|engine| {
        let range_bytes = &engine.scratch[..len as usize];
        let options = ReadOptions::decode(flags, range_bytes, offset, limit);
        engine.scan(view, options)
    })
}

/// Starts a count of a range, as for [`scan`].
#[wasm_bindgen]
pub fn count(view: u32, flags: u32, len: u32) -> u32 {
    with(|engine| {
        let count = Count::new(engine.tree_of(view, index(flags)), engine.range(flags, len));
        engine.ops.add(Op::Count(count))
    })
}

/// Starts a diff of two views over a range, as for [`scan`]. Members of its output: a code, the
/// key, and the old or the new value or both (see `crate/trees/src/tree/diff.rs`).
#[wasm_bindgen]
pub fn diff(old: u32, new: u32, flags: u32, len: u32) -> u32 {
    with(|engine| {
        let diff = Diff::new(engine.tree(old), engine.tree(new), engine.range(flags, len));
        engine.ops.add(Op::Diff { diff, out: Output::new() })
    })
}

/// Reads the root of the sum tree whose name is in the first `len` bytes of `scratch`. Reply: `Bytes`, the
/// hash and sum of its root, and its definition; empty if the tree does not exist.
#[wasm_bindgen]
pub fn total(view: u32, len: u32) {
    with(|engine| engine.total(view, len as usize));
}
