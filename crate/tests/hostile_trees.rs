//! Trees whose chunks are well formed and have the right hashes, but that no store makes: children that
//! differ from what their parents say, excessive counts and levels, nodes named repeatedly. Every
//! operation that meets the fault refuses it, and ends.

#[path = "hostile_trees/trees.rs"]
mod trees;

use hedgerow::cache::{Fetch, Want};
use hedgerow::error::{Error, Field};
use hedgerow::hash::Hash;
use hedgerow::limits::MAX_LEVEL;
use hedgerow::output::Output;
use hedgerow::segment::Table;
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{Census, Diff, Parts, Range, Scan, Tree, get};
use hedgerow_support::census::{Level, levels};
use hedgerow_support::faults::{cache, cause, failed};
use hedgerow_support::host::seal;
use hedgerow_support::layout::{inner, leaf, table};
use trees::{bomb, changed, check_nodes, crossed, descend, diffed, in_time, verified};

#[test]
fn a_child_that_contradicts_its_parent_is_refused_on_descent() {
    let child = leaf(&[(0, b"c", b"1"), (0, b"ddd", b"2")]);
    let level_1 = inner(1, &[(b"ddd", 2, Hash::of(&child))]);
    assert_eq!(descend(2, &child, b"ddd", 2), (Field::ChildLevel, 0, 1, 0));
    assert_eq!(descend(1, &level_1, b"ddd", 2), (Field::ChildLevel, 0, 0, 1));
    assert_eq!(descend(40, &child, b"ddd", 2), (Field::ChildLevel, 0, 39, 0));
    assert_eq!(descend(1, &child, b"ddd", 3), (Field::ChildCount, 2, 3, 2));
    assert_eq!(descend(1, &child, b"ddd", 1), (Field::ChildCount, 2, 1, 2));
    assert_eq!(descend(1, &child, b"dddd", 2), (Field::ChildKey, 0, 4, 3));
    assert_eq!(descend(1, &child, b"dd", 2), (Field::ChildKey, 0, 2, 3));
    let below = leaf(&[(0, b"aa", b"1"), (0, b"ddd", b"2")]);
    assert_eq!(descend(1, &below, b"ddd", 2), (Field::KeyOrder, 0, 0, 0));
    let equal = leaf(&[(0, b"b", b"1"), (0, b"ddd", b"2")]);
    assert_eq!(descend(1, &equal, b"ddd", 2), (Field::KeyOrder, 0, 0, 0));
}

/// The first child of a node may not reach back behind the nodes before its parent, though
/// its parent does not say where it starts.
#[test]
fn a_first_child_that_reaches_into_another_subtree_is_refused_by_walks() {
    let leaves =
        [leaf(&[(0, b"a", b"1"), (0, b"d", b"2")]), leaf(&[(0, b"c", b"1"), (0, b"e", b"2")])];
    let inners = [
        inner(1, &[(b"d", 2, Hash::of(&leaves[0]))]),
        inner(1, &[(b"e", 2, Hash::of(&leaves[1]))]),
    ];
    let of = Hash::of;
    let top = inner(2, &[(b"d", 2, of(&inners[0])), (b"e", 4, of(&inners[1]))]);
    let (cache, hashes) = cache(&[&leaves[0], &leaves[1], &inners[0], &inners[1], &top]);
    let tree = Tree { root: hashes[4], count: 4 };
    let (rows, faults) = verified(&cache, tree);
    assert_eq!((rows, faults.len()), (2, 1));
    assert_eq!(cause(faults[0].error), (hashes[1], Some((Field::KeyOrder, 0, 0, 0))));
    let parts = Parts { keys: true, values: false };
    for reverse in [false, true] {
        let mut out = Output::new();
        let mut scan = Scan::new(tree, Range::ALL, reverse, 9, parts);
        let mut budget = Budget::of(usize::MAX);
        let (_, cause) = failed(scan.step(&cache, &mut budget, &mut out));
        assert_eq!(cause.map(|facts| facts.0), Some(Field::KeyOrder));
    }
}

// --- trees that no store makes ---

#[test]
fn a_tree_that_claims_the_highest_count_takes_no_more_entries() {
    // Many last entries end a leaf by their own hash, so that the next leaf is not opened. One edit
    // takes the fast path, two are a merge.
    for last in (0..60).map(|number| format!("b{number}")) {
        let last = last.as_bytes();
        let first = leaf(&[(0, b"a", b"1"), (0, b"ab", b"2"), (0, last, &[b'3'; 100])]);
        let top = inner(1, &[(last, 3, Hash::of(&first)), (b"z", u64::MAX, Hash([1; 32]))]);
        let (cache, hashes) = cache(&[&first, &top]);
        let tree = Tree { root: hashes[1], count: u64::MAX };
        for text in ["[\"ac\",1]", "[\"ac\",1,\"ad\",2]", "[\"ab\",7]"] {
            if let Some(sealed) = changed(&cache, tree, text) {
                check_nodes(&sealed);
            }
        }
    }
}

#[test]
fn a_tree_of_the_highest_level_grows_no_higher() {
    let last = leaf(&[(0, b"y", b"1"), (0, b"z", b"2")]);
    let mut chunks = vec![last];
    for level in 1..MAX_LEVEL {
        let below = Hash::of(&chunks[chunks.len() - 1]);
        chunks.push(inner(level, &[(b"z", 2, below)]));
    }
    let keys: Vec<_> = (0..60).map(|at| format!("k{at:02}")).collect();
    let mut children: Vec<(&[u8], u64, Hash)> =
        keys.iter().zip(1..).map(|(key, count)| (key.as_bytes(), count, Hash([9; 32]))).collect();
    children.push((b"z", 62, Hash::of(&chunks[chunks.len() - 1])));
    chunks.push(inner(MAX_LEVEL, &children));
    let (cache, hashes) = cache(&chunks);
    let tree = Tree { root: hashes[hashes.len() - 1], count: 62 };
    assert!(matches!(get(&cache, tree, b"y"), Ok(Fetch::Here(Some(_)))));
    if let Some(sealed) = changed(&cache, tree, "[\"y\",3,\"zz\",4]") {
        check_nodes(&sealed);
    }
}

#[test]
fn a_census_of_nodes_that_are_named_repeatedly_ends() {
    let mut chunks = vec![leaf(&[(0, b"k59", b"1")])];
    bomb(&mut chunks, 12);
    in_time(move || {
        let (cache, hashes) = cache(&chunks);
        let mut census = Census::new(Tree { root: hashes[12], count: 60 });
        // As many steps as nodes would be enough.
        for _ in 0..1000 {
            match census.step(&cache, &mut Budget::of(4096)) {
                Ok(Step::Yield) => {}
                Ok(step) => panic!("{step:?}"),
                Err(error) => {
                    cause(error);
                    return;
                }
            }
        }
        panic!("nodes are counted again and again");
    });
}

#[test]
fn a_census_by_tables_that_repeat_and_lie_counts_no_copies_and_does_not_overflow() {
    let leaf = Hash([9; 32]);
    let top = inner(1, &[(b"a", 1, leaf), (b"b", 2, leaf)]);
    let len = top.len() as u64;
    let census_of = |tables: &[Vec<u8>]| {
        let (mut cache, hashes) = cache(&[&top]);
        for (id, table) in (2..).zip(tables) {
            cache.add_table(id, Table::decode(table.clone()).expect("a table of that form"));
        }
        let mut census = Census::new(Tree { root: hashes[0], count: 2 });
        census.step(&cache, &mut Budget::of(usize::MAX)).map(|step| (step, levels(&census)))
    };
    let expected = |leaves: Level| -> Result<_, Error> {
        Ok((Step::Done(()), vec![[1, len, len, len, len], leaves]))
    };
    assert_eq!(census_of(&[]), Err(Error::MissingChunk(leaf)));
    // More bytes than 32 bits can count.
    let long = 3_u64 << 30;
    assert_eq!(census_of(&[table(&[long as u32])]), expected([2, 2 * long, 2 * long, long, long]));
    // A packed leaf that claims to be as long as one may be.
    let mut liar = table(&[5]);
    let at = liar.len() - 4;
    liar[at..].copy_from_slice(&65_538_u32.to_le_bytes());
    let lie = expected([2, 2 * 65_538, 10, 65_538, 65_538]);
    assert_eq!(census_of(std::slice::from_ref(&liar)), lie);
    // Many copies of three bytes, behind the liar, and then before it.
    let ends: Vec<u32> = (1..=1000).map(|nth| 3 * nth).collect();
    let mut tables = vec![table(&ends); 30];
    tables.insert(0, liar.clone());
    assert_eq!(census_of(&tables), expected([2, 6, 6, 3, 3]));
    tables.push(liar);
    assert_eq!(census_of(&tables), lie);
}

#[test]
fn reading_ahead_past_nodes_that_are_named_repeatedly_ends() {
    let mut chunks = vec![leaf(&[(0, b"k59", b"1")])];
    bomb(&mut chunks, 12);
    let wanted = leaf(&[(0, b"a", b"1")]);
    let mut below = Hash::of(&wanted);
    for level in 1..=12 {
        chunks.push(inner(level, &[(b"a", 1, below)]));
        below = Hash::of(&chunks[chunks.len() - 1]);
    }
    chunks.push(inner(13, &[(b"a", 1, below), (b"k59", 61, Hash::of(&chunks[12]))]));
    in_time(move || {
        let (mut cache, hashes) = cache(&chunks);
        cache.add_table(2, seal(&[&wanted]).1.remove(0).table);
        let tree = Tree { root: hashes[hashes.len() - 1], count: 61 };
        let parts = Parts { keys: true, values: true };
        let mut scan = Scan::new(tree, Range::ALL, false, 99, parts);
        let step = scan.step(&cache, &mut Budget::of(4096), &mut Output::new());
        assert_eq!(step, Ok(Step::Need(vec![Want::whole_of(2)])));
    });
}

#[test]
fn keys_that_do_not_ascend_across_nodes_are_refused_by_a_diff() {
    let first = leaf(&[(0, b"a", b"1"), (0, b"d", b"2")]);
    let lasts =
        [leaf(&[(0, b"c", b"1"), (0, b"e", b"2")]), leaf(&[(0, b"d", b"1"), (0, b"e", b"2")])];
    for last in lasts {
        let (cache, tree) = crossed(&first, &last);
        for (old, new) in [(tree, Tree::EMPTY), (Tree::EMPTY, tree)] {
            let (hash, cause) = failed(diffed(&cache, old, new));
            assert_eq!((hash, cause), (Hash::of(&last), Some((Field::KeyOrder, 0, 0, 0))));
        }
    }
    let (cache, tree) = crossed(&first, &leaf(&[(0, b"da", b"1"), (0, b"e", b"2")]));
    assert_eq!(diffed(&cache, tree, Tree::EMPTY), Ok(Step::Done(())));
}

/// The empty key is a valid key: no key may come before it, and it may not be repeated.
#[test]
fn a_repeated_empty_key_is_refused_by_walks() {
    let (cache, tree) = crossed(
        &leaf(&[(0, b"", b"1")]),
        &leaf(&[(0, b"", b"1"), (0, b"a", b"2"), (0, b"b", b"3")]),
    );
    let order = Some((Field::KeyOrder, 0, 0, 0));
    assert_eq!(failed(diffed(&cache, tree, Tree::EMPTY)).1, order, "diff");
    for reverse in [false, true] {
        let mut scan = Scan::new(tree, Range::ALL, reverse, 9, Parts { keys: true, values: false });
        let step = scan.step(&cache, &mut Budget::of(usize::MAX), &mut Output::new());
        assert_eq!(failed(step).1, order, "scan, reverse: {reverse}");
    }
    let rows: Vec<_> = ["a", "b"].into_iter().map(|key| format!("\"{key}\",7")).collect();
    let made = changed(&cache, tree, &format!("[{}]", rows.join(",")));
    assert!(made.is_none(), "merge");
    let (rows, faults) = verified(&cache, tree);
    assert_eq!((rows, faults.len()), (1, 1));
    assert_eq!((faults[0].rows, cause(faults[0].error).1), (3, order));
}

#[test]
fn a_verification_of_nodes_that_are_named_repeatedly_ends() {
    let mut chunks = vec![leaf(&[(0, b"k59", b"1")])];
    bomb(&mut chunks, 12);
    in_time(move || {
        let (cache, hashes) = cache(&chunks);
        let (rows, faults) = verified(&cache, Tree { root: hashes[12], count: 60 });
        // No child of the root is as the root says.
        assert_eq!((rows, faults.len()), (0, 60));
    });
}

#[test]
fn a_verification_of_a_tree_that_claims_the_highest_count_ends() {
    let first = leaf(&[(0, b"a", b"1"), (0, b"b", b"2")]);
    let top = inner(1, &[(b"b", 2, Hash::of(&first)), (b"z", 1 << 48, Hash([1; 32]))]);
    let (cache, hashes) = cache(&[&first, &top]);
    let (rows, faults) = verified(&cache, Tree { root: hashes[1], count: 1 << 48 });
    assert_eq!((rows, faults.len()), (2, 1));
    assert_eq!(faults[0].rows, (1 << 48) - 2);
    assert_eq!(faults[0].error, Error::MissingChunk(Hash([1; 32])));
}

/// A few nodes stand for more than can be walked, though each is as its parent says: on every third
/// level is a node whose children all begin with the one below it. Only their parents' parents
/// could refuse that.
#[test]
fn a_diff_of_a_repeated_subtree_ends() {
    const WIDTH: usize = 20;
    const ROUNDS: u8 = 9;
    let name = |round: u8, at: usize| format!("{round}/{at:02}");
    let mut chunks = vec![leaf(&[(0, b"", b"1")])];
    let mut make = |bytes: Vec<u8>| {
        chunks.push(bytes);
        Hash::of(&chunks[chunks.len() - 1])
    };
    let (mut below, mut last, mut count) = (Hash::of(&leaf(&[(0, b"", b"1")])), String::new(), 1);
    for round in 0..ROUNDS {
        let level = 3 * round;
        let mut children = Vec::new();
        for at in 0..WIDTH {
            let key = name(round, at);
            let key = key.as_bytes();
            let mut alone = make(leaf(&[(0, key, b"2")]));
            for level in 1..=level {
                alone = make(inner(level, &[(key, 1, alone)]));
            }
            let both = [(last.as_bytes(), count, below), (key, count + 1, alone)];
            let pair = make(inner(level + 1, &both));
            children.push(make(inner(level + 2, &[(key, count + 1, pair)])));
        }
        let named: Vec<_> = (0..WIDTH).map(|at| name(round, at)).collect();
        let of = |at: usize| (named[at].as_bytes(), (at as u64 + 1) * (count + 1), children[at]);
        below = make(inner(level + 3, &(0..WIDTH).map(of).collect::<Vec<_>>()));
        (last, count) = (named[WIDTH - 1].clone(), WIDTH as u64 * (count + 1));
    }
    let (cache, _) = cache(&chunks);
    let (rows, faults) = verified(&cache, Tree { root: below, count });
    // One way down is sound; each further child of each node begins again.
    assert_eq!((rows, faults.len()), (u64::from(ROUNDS) + 1, usize::from(ROUNDS) * (WIDTH - 1)));
    let order = Some((Field::KeyOrder, 0, 0, 0));
    assert!(faults.iter().all(|fault| cause(fault.error).1 == order));
    assert_eq!(rows + faults.iter().map(|fault| fault.rows).sum::<u64>(), count);
    let mut diff = Diff::new(Tree { root: below, count }, Tree::EMPTY, Range::ALL);
    for _ in 0..1000 {
        match diff.step(&cache, &mut Budget::of(4096), &mut Output::new()) {
            Ok(Step::Yield) => {}
            Ok(step) => panic!("{step:?}"),
            Err(error) => {
                assert_eq!(cause(error).1.map(|facts| facts.0), Some(Field::KeyOrder));
                return;
            }
        }
    }
    panic!("nodes are walked again and again");
}

/// A diff skips a subtree that both trees have without reading it; but they must agree on it.
#[test]
fn a_shared_subtree_on_which_two_trees_disagree_is_refused_by_a_diff() {
    let shared = leaf(&[(0, b"c", b"1"), (0, b"p", b"2")]);
    let rest = leaf(&[(0, b"q", b"3")]);
    let of = |key: &[u8], count| {
        inner(1, &[(key, count, Hash::of(&shared)), (b"q", count + 1, Hash::of(&rest))])
    };
    let (honest, chunks) = (of(b"p", 2), [of(b"d", 2), of(b"p", 3)]);
    let facts = [(Field::ChildKey, 0, 1, 1), (Field::ChildCount, 2, 2, 3)];
    for ((lying, count), expected) in chunks.iter().zip([3, 4]).zip(facts) {
        let (cache, hashes) = cache(&[&shared, &rest, &honest, lying]);
        let lie = Tree { root: hashes[3], count };
        let truth = Tree { root: hashes[2], count: 3 };
        assert_eq!(failed(diffed(&cache, truth, lie)), (hashes[0], Some(expected)));
        assert_eq!(diffed(&cache, truth, truth), Ok(Step::Done(())));
        // The other tree is just the shared node.
        let whole = Tree { root: hashes[0], count: 2 };
        for (old, new) in [(whole, lie), (lie, whole)] {
            let (hash, cause) = failed(diffed(&cache, old, new));
            assert_eq!((hash, cause.map(|facts| facts.0)), (hashes[0], Some(expected.0)));
        }
        assert_eq!(diffed(&cache, whole, truth), Ok(Step::Done(())));
    }
}
