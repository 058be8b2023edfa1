//! What exported functions do with indexes. The host speaks of them by number: the n-th, from 1, of
//! those that it was opened with.

use super::engine::{Engine, Op, keys};
use super::reply::status;
use crate::boundary::Shape;
use crate::forest::{Forest, INDEX, Named, PARTIAL_INDEX, ROWS};
use crate::index::{Definition, IndexScan, Wanted};
use crate::ingest::Ingest;
use crate::output::Output;
use crate::rows::Reader;
use crate::tree::{Parts, Range, Tree};

/// Where the number of an index is in the flags of a range.
const INDEX_SHIFT: u32 = 9;
/// The flag that asks for secondary keys.
const SECONDARY: u32 = 256;

impl Engine {
    /// Takes the definitions in a JSON array of their texts.
    pub fn set_indexes(&mut self, len: usize) -> u32 {
        let Ok(texts) = keys(&self.scratch[..len]) else { return status::NO_OP };
        self.indexes.clear();
        for text in &texts {
            let Some(definition) = core::str::from_utf8(text).ok().and_then(Definition::parse)
            else {
                return status::NO_OP;
            };
            self.indexes.push(definition);
        }
        status::DONE
    }

    pub fn forest(&self, view: u32) -> Forest {
        self.views.get(view as usize).cloned().flatten().unwrap_or_default()
    }

    pub fn new_ingest(&self, view: u32, reader: Reader) -> Ingest {
        let secret = self.cache.secret();
        Ingest::indexed(self.forest(view), reader, Shape::STORED, &self.indexes, secret)
    }

    fn definition(&self, flags: u32) -> Option<&Definition> {
        self.indexes.get(((flags >> INDEX_SHIFT) as usize).checked_sub(1)?)
    }

    /// The tree that flags speak of: of an index, or of rows.
    pub fn tree_of(&self, view: u32, flags: u32) -> Tree {
        match self.definition(flags) {
            Some(definition) => self.forest(view).tree(&definition.name(INDEX)),
            None => self.tree(view),
        }
    }

    /// The nth index from 1.
    pub fn nth_index(&self, view: u32, nth: u32) -> Option<Named> {
        self.forest(view).indexes().nth((nth as usize).checked_sub(1)?).cloned()
    }

    /// The tree of rows, or the nth index from 1.
    pub fn nth_tree(&self, view: u32, nth: u32) -> Tree {
        self.nth_index(view, nth).map_or_else(|| self.tree(view), |named| named.tree)
    }

    pub fn index_scan(
        &self,
        view: u32,
        flags: u32,
        range: Range,
        offset: u64,
        limit: u64,
    ) -> Option<Op> {
        let columns = self.definition(flags)?.columns();
        let parts = Parts { keys: flags & 2 != 0, values: flags & 4 != 0 };
        let (reverse, secondary) = (flags & 1 != 0, flags & SECONDARY != 0);
        let wanted = Wanted { parts, secondary, reverse, limit };
        let scan =
            IndexScan::new(self.tree_of(view, flags), columns, self.tree(view), range, wanted);
        Some(Op::IndexScan { scan: scan.after(offset), out: Output::new() })
    }

    /// Reply: 0 where the index is not there, 1 in the making, 2 complete; then, in the making, the
    /// address and length of the key that it reaches.
    pub fn index_state(&mut self, view: u32, number: u32) {
        let forest = self.forest(view);
        let Some(text) = self.definition(number << INDEX_SHIFT).map(Definition::text) else {
            return self.reply.set(&[0.0]);
        };
        let named = |first: u8| {
            let is = |named: &&Named| named.name.rest(first) == Some(text);
            forest.indexes().find(is)
        };
        if forest.tree(ROWS).is_empty() || named(INDEX).is_some() {
            return self.reply.set(&[2.0]);
        }
        let reach = named(PARTIAL_INDEX).and_then(|named| named.reach.clone());
        let Some(reach) = reach else { return self.reply.set(&[0.0]) };
        self.reach = reach;
        let address = f64::from(self.reach.as_ptr() as u32);
        self.reply.set(&[1.0, address, self.reach.len() as f64]);
    }

    pub fn extend_indexes(&mut self, op: u32, alone: bool, work: usize) {
        let wanted = core::mem::take(&mut self.indexes);
        if let Some(Op::Ingest(ingest)) = self.op(op) {
            ingest.ingest.extend_indexes(&wanted, alone, work);
        }
        self.indexes = wanted;
    }
}
