//! A store that keeps all segments in its cache, and batches for it, for benches.

use crate::rows::issue;
use hedgerow::batch::{Batch, Edit};
use hedgerow::boundary::Shape;
use hedgerow::cache::Cache;
use hedgerow::key::Key;
use hedgerow::output::Output;
use hedgerow::segment::Packer;
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{Builder, Diff, Merge, Parts, PointEdit, Range, Scan, Tree};
use hedgerow::value::{Kind, Value};

/// Returns a text as a key.
pub fn a_key(text: &str) -> Key<'_> {
    Key::parse(text.as_bytes()).expect("a key")
}

/// Returns JSON text in normal form as a value.
pub fn a_text(text: &str) -> Value<'_> {
    Value::trusted(Kind::Json, text.as_bytes())
}

/// Makes rows `0, 10, 20, ...`, so that others fit between them.
pub fn rows(count: usize) -> Vec<(String, String)> {
    (0..count).map(|index| issue(10 * index)).collect()
}

/// A tree and the cache that holds its chunks.
pub struct Store {
    /// The cache.
    pub cache: Cache,
    /// The tree.
    pub tree: Tree,
}

/// Builds a tree of sorted rows.
pub fn build(rows: &[(String, String)]) -> (Tree, Packer) {
    let mut builder = Builder::new(Shape::STORED);
    for (key, value) in rows {
        builder.push(a_key(key), a_text(value));
    }
    let tree = builder.finish().tree;
    builder.packer().seal();
    (tree, builder.into_packer())
}

impl Store {
    /// Makes a store of sorted rows.
    pub fn new(rows: &[(String, String)]) -> Self {
        let (tree, mut packer) = build(rows);
        let mut store = Self { cache: Cache::new(usize::MAX), tree };
        store.keep(&mut packer, 1);
        store
    }

    /// Adds the chunks that an operation made to the cache.
    pub fn keep(&mut self, packer: &mut Packer, first: u64) {
        packer.seal();
        for (id, sealed) in (first..).zip(packer.take_sealed()) {
            self.cache.add_fresh(id, sealed);
        }
    }

    /// Merges a sorted batch; the new chunks are dropped with the merge.
    pub fn merge(&self, batch: &Batch) -> Merge {
        let mut merge = Merge::new(self.tree, batch, Shape::STORED);
        let step = merge.step(&self.cache, batch, &mut Budget::of(usize::MAX));
        assert!(matches!(step, Ok(Step::Done(_))), "all is in memory");
        merge.packer().seal();
        merge
    }

    /// Calls [`Store::merge`]; returns the new tree, too.
    pub fn merged(&self, batch: &Batch) -> (Tree, Merge) {
        let mut merge = Merge::new(self.tree, batch, Shape::STORED);
        match merge.step(&self.cache, batch, &mut Budget::of(usize::MAX)) {
            Ok(Step::Done(tree)) => (tree, merge),
            other => panic!("all is in memory: {other:?}"),
        }
    }

    /// Applies one edit by the fast path; returns whether that applied.
    pub fn replace(&self, batch: &Batch) -> bool {
        let mut replace = PointEdit::new(self.tree, Shape::STORED);
        let step = replace.step(&self.cache, batch);
        replace.packer().seal();
        matches!(step, Ok(Step::Done(Some(_))))
    }

    /// Counts the members of a diff from `old`.
    pub fn diff(&self, old: Tree) -> u32 {
        let mut diff = Diff::new(old, self.tree, Range::ALL);
        let mut out = Output::new();
        let step = diff.step(&self.cache, &mut Budget::of(usize::MAX), &mut out);
        assert!(matches!(step, Ok(Step::Done(()))), "all is in memory");
        out.members()
    }

    /// Scans all entries to JSON text; returns its length.
    pub fn scan(&self) -> usize {
        let parts = Parts { keys: true, values: true };
        let mut scan = Scan::new(self.tree, Range::ALL, false, u64::MAX, parts);
        let mut out = Output::new();
        let step = scan.step(&self.cache, &mut Budget::of(usize::MAX), &mut out);
        assert!(matches!(step, Ok(Step::Done(()))), "all is in memory");
        out.len()
    }
}

/// The places of the keys of a batch.
#[derive(Clone, Copy, Debug)]
pub enum Spread {
    /// Every n-th row.
    Even,
    /// Neighbours in the middle.
    Clustered,
    /// After the last.
    Append,
}

/// Makes a sorted batch of `count` changed or new rows for a store of `rows` rows.
pub fn edits(rows: usize, count: usize, spread: Spread) -> Batch {
    let mut batch = Batch::new();
    for edit in 0..count {
        let index = match spread {
            Spread::Even => 10 * (edit * rows / count),
            Spread::Clustered => 10 * (rows / 2 + edit),
            Spread::Append => 10 * (rows + edit),
        };
        let (key, value) = issue(index);
        let value = value.replace("open", "shut");
        batch.push(a_key(&key), Edit::Put(a_text(&value)));
    }
    batch.close_run();
    assert!(batch.sort(&mut Budget::of(usize::MAX)));
    batch
}

/// Makes a batch of one edit.
pub fn one(index: usize, value: Option<&str>) -> Batch {
    let mut batch = Batch::new();
    let edit = value.map_or(Edit::Delete, |value| Edit::Put(a_text(value)));
    batch.push(a_key(&issue(index).0), edit);
    batch.close_run();
    batch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_takes_its_edits() {
        let mut store = Store::new(&rows(1000));
        let empty = store.scan();
        assert!(empty > 147 * 1000);
        for (spread, added) in [(Spread::Even, 0), (Spread::Clustered, 0), (Spread::Append, 20)] {
            let old = store.tree;
            let (tree, mut merge) = store.merged(&edits(1000, 20, spread));
            assert_eq!(tree.count, 1000 + added);
            let mut changed = Store { tree, ..store };
            changed.keep(merge.packer(), 10);
            // A change has one member more than an addition.
            assert_eq!(changed.diff(old), if added == 0 { 80 } else { 60 });
            store = Store { tree: old, ..changed };
            for id in 10..20 {
                store.cache.remove(id);
            }
        }
        let same = issue(5000).1.replace("open", "shut");
        assert!(store.replace(&one(5000, Some(&same))));
        assert_eq!(store.scan(), empty, "an edit leaves the tree as it was");
    }
}
