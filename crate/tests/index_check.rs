//! The check that an index has exactly the entries of its rows. It accepts every index that a store
//! maintains and no other tree, with any segments in memory and steps of any size.

use crate::cases::cases;
use hedgerow::boundary::Shape;
use hedgerow::forest::{INDEX, Named, TreeName};
use hedgerow::hash::Hash;
use hedgerow::index::{CheckIndex, Definition};
use hedgerow::key::Key;
use hedgerow::tree::{Builder, Tree};
use hedgerow::value::{Kind, Value};
use hedgerow_support::host::Host;
use hedgerow_support::pace::Pace;
use hedgerow_support::rows::Rows;
use proptest::prelude::*;
use std::collections::BTreeMap;

const SMALL: Shape = Shape::with_target(128);
const DEFINITIONS: [&str; 6] = [
    r#"["","/a"]"#,
    r#"["b","/b/c"]"#,
    r#"["","/b/c","/a"]"#,
    r#"["","/a","?"]"#,
    r#"["b","/b/c","?","<\u0004\u0001@\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000"]"#,
    r#"["","/b/c","w/a","?"]"#,
];

fn definitions() -> [Definition; 6] {
    DEFINITIONS.map(|text| Definition::parse(text).expect("a definition"))
}

fn is_same(host: &mut Host, index: &Named, rows: Tree) -> bool {
    let mut check = CheckIndex::new(index, rows, [7; 32]).expect("an index");
    host.run(|cache, budget| check.step(cache, budget)).expect("sound trees")
}

/// Lists all indexes of a host.
fn indexes(host: &Host) -> Vec<Named> {
    host.forest.indexes().cloned().collect()
}

/// Makes an index of these entries, whose values are `value`.
fn index_of(host: &mut Host, entries: &[&[u8]], value: &[u8]) -> Named {
    let mut builder = Builder::new(SMALL);
    for entry in entries {
        let key = Key::parse(entry).expect("a key");
        builder.push(key, Value::trusted(Kind::Bytes, value));
    }
    let tree = builder.finish().tree;
    builder.packer().seal();
    host.store(builder.packer().take_sealed());
    Named { name: TreeName::of(INDEX, DEFINITIONS[0]).expect("a name"), tree, reach: None }
}

fn member() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        (0_i32..5).prop_map(|number| number.to_string()),
        "[a-c ]{0,3}".prop_map(|text| format!("\"{text}\"")),
        prop::collection::vec(0_i32..3, 0..4).prop_map(|all| format!("{all:?}")),
    ]
}

fn row() -> impl Strategy<Value = String> {
    let more = prop_oneof![8 => 0_usize..9, 1 => Just(5000_usize), 1 => Just(70_000_usize)];
    (member(), member(), more).prop_map(|(a, c, more)| {
        format!(r#"{{"a":{a},"b":{{"c":{c}}},"more":"{}"}}"#, "x".repeat(more))
    })
}

fn rows() -> impl Strategy<Value = BTreeMap<String, String>> {
    prop::collection::btree_map("[a-c]{0,2}[0-9]{0,2}", row(), 1..60)
}

proptest! {
    #![proptest_config(cases(120))]

    #[test]
    fn an_index_is_what_its_rows_make_until_either_changes(
        before in rows(),
        edits in rows(),
        slice in prop_oneof![Just(1_usize), Just(1000), Just(usize::MAX)],
        pace in prop::option::weighted(0.3, prop::collection::vec(any::<u8>(), 1..30)),
    ) {
        let before: Rows = before;
        let mut host = Host::indexed(SMALL, &definitions(), &before);
        let (old, old_rows) = (indexes(&host), host.tree());
        let edits: Vec<_> = edits.into_iter().collect();
        host.put(&edits);
        let (new, new_rows) = (indexes(&host), host.tree());
        host.reopen(64 << 20);
        (host.slice, host.pace) = (slice, pace.map(|choices| Pace::new(&choices)));
        for (old, new) in old.iter().zip(&new) {
            prop_assert!(is_same(&mut host, old, old_rows));
            prop_assert!(is_same(&mut host, new, new_rows));
            let is_other = old.tree != new.tree;
            prop_assert_eq!(is_same(&mut host, old, new_rows), !is_other);
            prop_assert_eq!(is_same(&mut host, new, old_rows), !is_other);
        }
    }

    #[test]
    fn an_index_in_the_making_is_what_the_rows_make_that_it_reaches(
        rows in rows(),
        work in 1_usize..3000,
    ) {
        let mut host = Host::of(SMALL, &rows);
        for _ in 0..3 {
            let mut ingest = host.ingest();
            ingest.extend_indexes(&definitions(), true, work);
            host.finish(&mut ingest).expect("a commit");
            let rows = host.tree();
            for index in indexes(&host) {
                prop_assert!(is_same(&mut host, &index, rows), "{}", index.name);
            }
        }
    }
}

#[test]
fn an_extra_or_missing_entry_or_one_with_a_value_is_found() {
    let rows: Rows =
        (0..9).map(|at| (format!("k{at}"), r#"{"a":["x",true,"x"]}"#.into())).collect();
    let mut host = Host::of(SMALL, &rows);
    let mut entries: Vec<Vec<u8>> = (0..9).map(|at| format!("\x03k{at}").into_bytes()).collect();
    entries.extend((0..9).map(|at| format!("\x05x\0k{at}").into_bytes()));
    let of_rows = host.tree();
    let check = |host: &mut Host, entries: &[Vec<u8>], value: &[u8]| {
        let entries: Vec<_> = entries.iter().map(Vec::as_slice).collect();
        let index = index_of(host, &entries, value);
        is_same(host, &index, of_rows)
    };
    assert!(check(&mut host, &entries, b""));
    assert!(!check(&mut host, &entries, b"1"));
    assert!(!check(&mut host, &[], b""));
    for at in 0..entries.len() {
        let mut less = entries.clone();
        less.remove(at);
        assert!(!check(&mut host, &less, b""), "without {at}");
        let mut other = entries.clone();
        other[at].push(b'!');
        assert!(!check(&mut host, &other, b""), "with another {at}");
        let mut more = entries.clone();
        more.insert(at + 1, [&entries[at][..], b"!"].concat());
        assert!(!check(&mut host, &more, b""), "with more after {at}");
    }
}

#[test]
fn a_tree_that_is_not_an_index_is_not_checked() {
    let named = |name: &str| Named {
        name: TreeName::parse(name).expect("a name"),
        tree: Tree { root: Hash::of(b"any"), count: 1 },
        reach: None,
    };
    for name in ["r", "i", r#"i["","a"]"#, r#"s["","/a"]"#] {
        assert!(CheckIndex::new(&named(name), Tree::EMPTY, [0; 32]).is_none(), "{name}");
    }
    assert!(CheckIndex::new(&named(r#"i["","/a"]"#), Tree::EMPTY, [0; 32]).is_some());
}
