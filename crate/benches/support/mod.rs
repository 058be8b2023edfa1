//! What the benches share: rows, and a store that keeps all segments in its cache.
#![allow(dead_code, reason = "every bench uses its own part")]

use hedgerow::batch::{Batch, Edit};
use hedgerow::boundary::Shape;
use hedgerow::cache::Cache;
use hedgerow::output::Output;
use hedgerow::segment::Packer;
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{Builder, Diff, Merge, Parts, Range, Replace, Scan, Tree};
use hedgerow::value::Kind;

/// The key and the JSON text of a row: about 147 bytes of JSON.
pub fn row(index: usize) -> (String, String) {
    let key = format!("issue/{index:08}");
    let value = format!(
        "{{\"id\":\"{key}\",\"title\":\"The quick brown fox jumps over issue {index}\",\
         \"status\":\"open\",\"owner\":\"user{}\",\"modified\":{}}}",
        index % 97,
        1_700_000_000_000_u64 + index as u64
    );
    (key, value)
}

/// Rows `0, 10, 20, ...`, so that there is room between any two.
pub fn rows(count: usize) -> Vec<(String, String)> {
    (0..count).map(|index| row(10 * index)).collect()
}

/// A tree and the cache that holds its chunks.
pub struct Store {
    pub cache: Cache,
    pub tree: Tree,
}

/// Builds a tree of sorted rows.
pub fn build(rows: &[(String, String)]) -> (Tree, Packer) {
    let mut builder = Builder::new(Shape::STORED);
    for (key, value) in rows {
        builder.push(key.as_bytes(), Kind::Json, value.as_bytes());
    }
    let tree = builder.finish().tree;
    builder.packer().seal();
    (tree, builder.into_packer())
}

impl Store {
    pub fn new(rows: &[(String, String)]) -> Self {
        let (tree, mut packer) = build(rows);
        let mut store = Self { cache: Cache::new(usize::MAX), tree };
        store.keep(&mut packer, 1);
        store
    }

    /// Keeps the chunks that an operation made.
    pub fn keep(&mut self, packer: &mut Packer, first: u64) {
        packer.seal();
        for (id, sealed) in (first..).zip(packer.take_sealed()) {
            self.cache.add_fresh(id, sealed);
        }
    }

    /// Merges a sorted batch; the chunks made are dropped with the merge.
    pub fn merge(&self, batch: &Batch) -> Merge {
        let mut merge = Merge::new(self.tree, batch, Shape::STORED);
        let step = merge.step(&self.cache, batch, &mut Budget::of(usize::MAX));
        assert!(matches!(step, Ok(Step::Done(_))), "all is in memory");
        merge.packer().seal();
        merge
    }

    /// As [`Store::merge`], and returns the new tree.
    pub fn merged(&self, batch: &Batch) -> (Tree, Merge) {
        let mut merge = Merge::new(self.tree, batch, Shape::STORED);
        match merge.step(&self.cache, batch, &mut Budget::of(usize::MAX)) {
            Ok(Step::Done(tree)) => (tree, merge),
            other => panic!("all is in memory: {other:?}"),
        }
    }

    /// Applies one edit by the fast path; whether it applied.
    pub fn replace(&self, batch: &Batch) -> bool {
        let mut replace = Replace::new(self.tree, Shape::STORED);
        let step = replace.step(&self.cache, batch);
        replace.packer().seal();
        matches!(step, Ok(Step::Done(Some(_))))
    }

    /// Counts the changes from `old`.
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

/// Where the edits of a batch fall.
#[derive(Clone, Copy, Debug)]
pub enum Spread {
    /// Every n-th row.
    Even,
    /// Neighbours in the middle.
    Clustered,
    /// After the last.
    Append,
}

/// `count` changed or new rows for a store of `rows` rows, as a sorted batch.
pub fn edits(rows: usize, count: usize, spread: Spread) -> Batch {
    let mut batch = Batch::new();
    for edit in 0..count {
        let index = match spread {
            Spread::Even => 10 * (edit * rows / count),
            Spread::Clustered => 10 * (rows / 2 + edit),
            Spread::Append => 10 * (rows + edit),
        };
        let (key, value) = row(index);
        let value = value.replace("open", "shut");
        batch.push(key.as_bytes(), Edit::Put(Kind::Json, value.as_bytes()));
    }
    batch.close_run();
    assert!(batch.sort(&mut Budget::of(usize::MAX)));
    batch
}

/// One edit as a batch.
pub fn one(index: usize, value: Option<&str>) -> Batch {
    let mut batch = Batch::new();
    let edit = value.map_or(Edit::Delete, |value| Edit::Put(Kind::Json, value.as_bytes()));
    batch.push(row(index).0.as_bytes(), edit);
    batch.close_run();
    batch
}
