//! The census: nodes and bytes of each level, unpacked and as they are stored, without reads of leaves.

use hedgerow::boundary::Shape;
use hedgerow::cache::Cache;
use hedgerow::collect::{Collect, Thoroughness};
use hedgerow::hash::Hash;
use hedgerow::index::Definition;
use hedgerow::limits::PIECE_BYTES;
use hedgerow::segment::Sealed;
use hedgerow_support::census::{counted, stored_bytes, walked};
use hedgerow_support::collections::{self, FULL, collect};
use hedgerow_support::host::Host;
use hedgerow_support::pace::Pace;
use hedgerow_support::rows::{issue, noise};

const SMALL: Shape = Shape::with_target(256);

/// The first bytes of pieces of values, and of lists of these.
const VALUES: [u8; 2] = [0xe0, 0xe1];

/// Runs a survey; returns the live bytes, which `stats()` shows.
fn live(host: &mut Host) -> u64 {
    let mut survey = Collect::new(&host.cache, Thoroughness { survey: true, ..FULL });
    survey.add_commit(host.root);
    let exchange = host.run(|cache, budget| survey.step(cache, budget)).expect("a survey");
    assert!(exchange.is_none(), "a survey changes nothing");
    survey.totals().live
}

/// Finds the stored bytes of a chunk in the newest segment that has it.
fn stored(host: &Host, hash: &Hash) -> u64 {
    let found = host.stored.values().rev().find_map(|(_, table)| {
        let at = (0..table.len()).find(|at| table.hash(*at) == *hash)?;
        Some(table.range(at).len() as u64)
    });
    found.expect("a stored chunk")
}

/// Counts the bytes of all stored parts of values.
fn values(host: &Host) -> u64 {
    let mut sum = 0;
    for (bytes, table) in host.stored.values() {
        for at in 0..table.len() {
            let is_value = VALUES.contains(&table.chunk(bytes, at)[0]);
            sum += if is_value { table.range(at).len() as u64 } else { 0 };
        }
    }
    sum
}

#[test]
fn it_has_the_sizes_of_all_nodes_whatever_is_in_memory() {
    let mut host = Host::of(Shape::STORED, &(0..5000).map(issue).collect());
    let tree = host.tree();
    let expected = walked(&host, tree);
    let (leaves, inner) = expected.split_last().expect("levels");
    assert!(leaves[0] > 100 && !inner.is_empty());
    assert!(leaves[2] < leaves[1] / 2, "leaves of such rows are packed: {leaves:?}");
    assert!(inner.iter().all(|level| level[1] == level[2]), "internal nodes are not: {inner:?}");
    assert_eq!(counted(&mut host, tree), expected);
    for choices in [&[][..], &[0, 0xe8, 3, 1, 2, 7, 0xff, 0xe1, 5], &[0xe0, 4, 2]] {
        host.reopen(0);
        host.pace = Some(Pace::new(choices));
        assert_eq!(counted(&mut host, tree), expected, "{choices:?}");
    }
}

#[test]
fn levels_of_all_trees_and_values_and_the_commit_are_what_is_live() {
    let mut host = Host::new(SMALL);
    host.indexes = vec![Definition::parse(r#"["","/owner"]"#).expect("a definition")];
    for round in 0..3 {
        let rows = (0..400).map(|at| (issue(at).0, issue(at * 31 + round).1));
        host.put(&rows.collect::<Vec<_>>());
    }
    host.put(&[("long".to_owned(), noise(1, 3 * PIECE_BYTES))]);
    let index = host.forest.indexes().next().expect("an index").tree;
    for is_collected in [false, true] {
        if is_collected {
            collect(&mut host, FULL, &[]);
            host.reopen(64 << 20);
        } else {
            assert!(collections::stored_bytes(&host) > live(&mut host), "some of it is dead");
        }
        let trees = [host.tree(), index];
        let trees: u64 = trees.map(|tree| stored_bytes(&counted(&mut host, tree))).iter().sum();
        assert!(values(&host) > 3 * PIECE_BYTES as u64);
        assert_eq!(live(&mut host), trees + values(&host) + stored(&host, &host.root));
    }
}

#[test]
fn of_copies_that_take_more_and_less_it_counts_the_one_that_a_collection_keeps() {
    let packed = Host::of(Shape::STORED, &(0..3000).map(issue).collect());
    let tree = packed.tree();
    let as_stored = || -> Vec<Sealed> {
        let segments = packed.stored.values();
        segments
            .map(|(bytes, table)| Sealed { bytes: bytes.clone(), table: table.clone() })
            .collect()
    };
    let unpacked = || -> Vec<Sealed> {
        packed.chunks().map(|(_, hash, chunk)| Sealed::of_one(&hash, &chunk)).collect()
    };
    for (first, last, is_packed) in
        [(as_stored(), unpacked(), false), (unpacked(), as_stored(), true)]
    {
        let mut host = Host::new(Shape::STORED);
        (host.root, host.forest) = (packed.root, packed.forest.clone());
        host.store(first);
        host.store(last);
        let expected = walked(&host, tree);
        assert_eq!(expected.iter().any(|level| level[2] < level[1]), is_packed);
        // Tables may enter in any order: when a large store is opened, tables of the newest segments enter first.
        for is_reversed in [false, true] {
            if is_reversed {
                host.cache = Cache::new(64 << 20);
                for (id, (_, table)) in host.stored.iter().rev() {
                    host.cache.add_table(*id, table.clone());
                }
            }
            let levels = counted(&mut host, tree);
            assert_eq!(levels, expected);
            let commit = stored(&host, &host.root);
            assert_eq!(live(&mut host), stored_bytes(&levels) + commit);
        }
    }
}
