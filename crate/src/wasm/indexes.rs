//! Exported functions of indexes. The host names an index by its number, from 1, in the list that it
//! passed to [`set_indexes`].

use super::abi::{IndexReach, index_state, status};
use super::engine::with;
use super::engine::{Engine, Op, keys};
use super::reads::ReadOptions;
use super::reply::address;
use crate::boundary::Shape;
use crate::forest::{INDEX, Named, PARTIAL_INDEX, ROWS};
use crate::index::{Definition, IndexScan, Wanted};
use crate::ingest::Ingest;
use crate::output::Output;
use crate::rows::Reader;
use crate::tree::Tree;
use wasm_bindgen::prelude::wasm_bindgen;

impl Engine {
    /// Sets the definitions from a JSON array of their texts.
    fn set_indexes(&mut self, len: usize) -> u32 {
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

    pub fn new_ingest(&self, view: u32, reader: Reader) -> Ingest {
        let secret = self.cache.secret();
        Ingest::indexed(self.forest(view), reader, Shape::STORED, &self.indexes, secret)
    }

    /// Returns the definition with this number.
    pub fn definition(&self, number: usize) -> Option<&Definition> {
        self.indexes.get(number.checked_sub(1)?)
    }

    /// Returns the tree of an index, or the tree of rows for 0.
    pub fn tree_of(&self, view: u32, number: usize) -> Tree {
        match self.definition(number) {
            Some(definition) => self.forest(view).tree(&definition.name(INDEX)),
            None => self.tree(view),
        }
    }

    /// Returns the nth index of the view, from 1, in the order of names.
    pub fn nth_index(&self, view: u32, nth: u32) -> Option<Named> {
        self.forest(view).indexes().nth((nth as usize).checked_sub(1)?).cloned()
    }

    /// Returns the tree of the nth index, from 1, or the tree of rows for 0.
    pub fn nth_tree(&self, view: u32, nth: u32) -> Tree {
        self.nth_index(view, nth).map_or_else(|| self.tree(view), |named| named.tree)
    }

    pub fn index_scan(&self, view: u32, definition: &Definition, options: ReadOptions) -> Op {
        let ReadOptions { range, parts, secondary, reverse, offset, limit, index } = options;
        let wanted = Wanted { parts, secondary, reverse, limit };
        let (index, rows) = (self.tree_of(view, index), self.tree(view));
        let scan = IndexScan::new(index, definition.columns(), rows, range, wanted);
        Op::IndexScan { scan: scan.after(offset), out: Output::new() }
    }

    /// Returns the state of an index in a view; if it is partial, sets [`Engine::reach`] to the last key that it
    /// covers.
    fn index_state(&mut self, view: u32, number: usize) -> u32 {
        let forest = self.forest(view);
        let Some(text) = self.definition(number).map(Definition::text) else {
            return index_state::NONE;
        };
        let named = |first: u8| {
            let is = |named: &&Named| named.name.rest(first) == Some(text);
            forest.indexes().find(is)
        };
        if forest.tree(ROWS).is_empty() || named(INDEX).is_some() {
            return index_state::COMPLETE;
        }
        let reach = named(PARTIAL_INDEX).and_then(|named| named.reach.clone());
        let Some(reach) = reach else { return index_state::NONE };
        self.reach = reach;
        index_state::PARTIAL
    }

    fn extend_indexes(&mut self, op: u32, alone: bool, work: usize) {
        let wanted = core::mem::take(&mut self.indexes);
        if let Some(op) = self.ingest_op(op) {
            op.ingest.extend_indexes(&wanted, alone, work);
        }
        self.indexes = wanted;
    }
}

/// Sets the indexes that the host wants: `scratch` holds a JSON array of their definitions.
/// [`status::NO_OP`] if one of them is invalid.
#[wasm_bindgen]
pub fn set_indexes(len: u32) -> u32 {
    with(|engine| engine.set_indexes(len as usize))
}

/// Reads how much of an index a view has. Reply: `IndexReach`; its state is an [`index_state`].
#[wasm_bindgen]
pub fn index_state(view: u32, number: u32) {
    with(|engine| {
        let state = f64::from(engine.index_state(view, number as usize));
        let (key, key_length) = (address(engine.reach.as_ptr()), engine.reach.len() as f64);
        engine.reply.tell(IndexReach { state, key, key_length });
    });
}

/// Counts the indexes of a view, partial ones too.
#[wasm_bindgen]
pub fn index_count(view: u32) -> u32 {
    with(|engine| engine.forest(view).indexes().count() as u32)
}

/// Makes an ingest extend the wanted indexes that are not complete, by about `work` bytes of rows; with
/// `alone` all others are dropped.
#[wasm_bindgen]
pub fn extend_indexes(op: u32, alone: bool, work: u32) {
    with(|engine| engine.extend_indexes(op, alone, work as usize));
}
