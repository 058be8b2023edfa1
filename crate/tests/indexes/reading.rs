//! Reads the contents of an index, by its entries and by scans.

use super::model::{DEFINITIONS, definition};
use hedgerow::forest::Forest;
use hedgerow::index::{IndexScan, Wanted, secondary_end, write_secondary};
use hedgerow::output::Output;
use hedgerow::tree::{Parts, Range, Scan, Tree};
use hedgerow_support::host::Host;
use hedgerow_support::output::members;

pub fn index_tree(forest: &Forest, which: usize) -> Tree {
    forest.tree(&format!("i{}", DEFINITIONS[which]))
}

/// Reads the keys of an index: secondary keys as JSON, and primary keys.
pub fn entries(host: &mut Host, tree: Tree, columns: usize) -> Vec<(String, String)> {
    let parts = Parts { keys: true, values: true };
    let mut scan = Scan::new(tree, Range::ALL, false, u64::MAX, parts);
    let mut found = Vec::new();
    let mut out = Output::new();
    host.run(|cache, budget| scan.step(cache, budget, &mut out)).unwrap();
    out.close();
    assert!(out.bytes.is_empty(), "an entry has a value");
    for member in members(&out).chunks(2) {
        let key: String = serde_json::from_str(&member[0]).unwrap();
        let key = key.as_bytes();
        let end = secondary_end(key, columns).unwrap();
        let mut secondary = Vec::new();
        write_secondary(&key[..end], columns, &mut secondary);
        let primary = String::from_utf8(key[end..].to_vec()).unwrap();
        found.push((String::from_utf8(secondary).unwrap(), primary));
    }
    found
}

/// Scans the rows in the order of an index, with their secondary keys.
pub fn scanned(host: &mut Host, which: usize) -> Vec<(String, String, String)> {
    let (index, rows) = (index_tree(&host.forest, which), host.tree());
    let mut both = [false, true].map(|reverse| {
        let parts = Parts { keys: true, values: true };
        let wanted = Wanted { parts, secondary: true, reverse, limit: u64::MAX };
        let columns = definition(which).columns();
        let mut scan = IndexScan::new(index, columns, rows, Range::ALL, wanted);
        let mut out = Output::new();
        let step = host.run(|cache, budget| scan.step(cache, budget, &mut out));
        step.unwrap();
        out.close();
        let members = members(&out);
        members
            .chunks(3)
            .map(|row| {
                let key: String = serde_json::from_str(&row[0]).unwrap();
                // In an output with values, null marks a value, and `[]` stands for null.
                let secondary = if row[2] == "[]" { "null" } else { &row[2] };
                (key, row[1].clone(), secondary.to_owned())
            })
            .collect::<Vec<_>>()
    });
    both[1].reverse();
    assert_eq!(both[0], both[1]);
    both[0].clone()
}
