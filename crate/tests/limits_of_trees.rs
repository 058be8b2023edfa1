//! The matrix of limits for commits and sum trees: the number of trees of a commit, their names and
//! definitions, and the leaves of sum trees, edited by hand or following rows. At a limit everything is
//! read, proved and verified; above it the right error is returned, and the store is unchanged.

use hedgerow::boundary::Shape;
use hedgerow::error::Error;
use hedgerow::forest::{Forest, INDEX, Named, PARTIAL_INDEX, SUM_ROOT_BYTES, TreeName};
use hedgerow::index::{CheckIndex, Definition};
use hedgerow::limits::{
    MAX_COLUMNS, MAX_SUM_DEFINITION_BYTES, MAX_SUM_VALUE_BYTES, MAX_TREE_NAME_BYTES, MAX_TREES,
};
use hedgerow::segment::Table;
use hedgerow::sum_tree::{self, Root, Rules, SumBatch, SumVerify, key_of};
use hedgerow::sum_update::tree_name;
use hedgerow_support::host::Host;
use hedgerow_support::rows::Rows;
use hedgerow_support::sum_commits::{Change, Def, Edit, KeyLeaf, Row, commit, verify_all};
use hedgerow_support::sums::Sums;

const WHOLE: Def = Def { key: None, sum: Some("sum"), value: None, prefix: "" };

/// Makes a row whose value is a text of `len` bytes, with a sum of 1.
fn row(len: usize) -> Row {
    let empty = Row::Object([("p", "\"\"".to_owned()), ("sum", "1".to_owned())].into());
    let short = empty.value().1.len();
    let payload = format!("\"{}\"", "x".repeat(len.saturating_sub(short)));
    Row::Object([("p", payload), ("sum", "1".to_owned())].into())
}

fn put(rows: impl IntoIterator<Item = (String, Row)>) -> Change {
    Change { edits: vec![Edit::Put(rows.into_iter().collect())], ..Change::default() }
}

fn hand(names: impl IntoIterator<Item = String>, leaf: &KeyLeaf) -> Change {
    let staged = names.into_iter().map(|name| (name, vec![leaf.clone()])).collect();
    Change { staged, ..put([("k".to_owned(), row(0))]) }
}

/// Reads all trees that a commit names, with an empty cache.
fn check(host: &mut Host, leaves: u64) {
    for (bytes, table) in host.stored.values() {
        let read = Table::decode(table.bytes().to_vec()).expect("a table that an import takes");
        assert_eq!(read.range(read.len() - 1).end, bytes.len());
    }
    let (_, _, stored) = host.chunks().find(|(_, hash, _)| *hash == host.root).expect("a commit");
    assert_eq!(Forest::decode(&stored).as_ref(), Ok(&host.forest));
    host.reopen(0);
    assert_eq!(verify_all(host), Ok(leaves));
}

/// Checks that a change is refused and the store is unchanged, and stays sound after another change.
fn refuse(host: &mut Host, change: &Change, expected: Error) {
    let before = (host.root, host.forest.clone());
    assert_eq!(commit(host, change, usize::MAX), Err(expected));
    assert_eq!((host.root, &host.forest), (before.0, &before.1));
    let leaves = verify_all(host).expect("sound trees");
    commit(host, &Change::default(), usize::MAX).expect("a commit");
    assert_eq!(verify_all(host), Ok(leaves));
}

/// Checks that every reader of a sum tree reads one of its leaves.
fn read(host: Host, name: &str, (key, leaf): &KeyLeaf) {
    let named = host.forest.named(&tree_name(name).expect("a name")).expect("a tree").clone();
    let reach = named.reach.expect("a root");
    let mut hash = [0; 32];
    hash.copy_from_slice(&reach[..32]);
    let sum = u64::from_le_bytes(reach[32..SUM_ROOT_BYTES].try_into().expect("a sum"));
    let rules = Rules::new();
    let root = Root { hash, sum };
    let mut sums = Sums { host, tree: named.tree, root, rules };
    sums.host.reopen(0);
    assert_eq!(sums.get(key), Ok(Some(leaf.1)));
    assert!(sums.find(&[*key]).expect("a find") == [Some(leaf.clone())]);
    assert!(sums.scan(None).expect("a scan").contains(&(*key, leaf.clone())));
    let changes = sums.diff(hedgerow::tree::Tree::EMPTY).expect("a diff");
    assert!(changes[key] == (None, Some(leaf.clone())));
    let mut verify = SumVerify::new(&sums.rules, sums.tree, &reach);
    assert!(sums.host.run(|cache, budget| verify.step(cache, budget)).is_ok());
    let claim = Some((&leaf.0[..], leaf.1));
    let proof = sums.prove(&[*key], false).expect("a proof");
    assert_eq!(sum_tree::verify(&sums.rules, &sums.root, key, claim, &proof), Ok(()));
}

#[test]
fn as_many_trees_as_a_commit_may_name_can_be_read_and_one_more_is_refused() {
    let leaf = (key_of(b"leaf"), (b"v".to_vec(), 1));
    let names = |count: usize| (1..count).map(|at| format!("t{at:04}"));
    // Edited by hand, next to the rows.
    let mut host = Host::new(Shape::STORED);
    refuse(&mut host, &hand(names(MAX_TREES + 1), &leaf), Error::CommitTooLarge);
    commit(&mut host, &hand(names(MAX_TREES), &leaf), usize::MAX).expect("as many as may be");
    assert_eq!(host.forest.trees().count(), MAX_TREES);
    check(&mut host, MAX_TREES as u64 - 1);
    refuse(&mut host, &hand(["more".to_owned()], &leaf), Error::CommitTooLarge);
    read(host, "t0001", &leaf);
    // Following the rows.
    let following = |count: usize| Change {
        wanted: names(count).map(|name| (name, WHOLE)).collect(),
        ..put([("k".to_owned(), row(0))])
    };
    let mut host = Host::new(Shape::STORED);
    refuse(&mut host, &following(MAX_TREES + 1), Error::CommitTooLarge);
    commit(&mut host, &following(MAX_TREES), usize::MAX).expect("as many as may be");
    check(&mut host, MAX_TREES as u64 - 1);
    // Indexes.
    let indexes = |count: usize| -> Vec<Definition> {
        let text = |at: usize| format!(r#"["","/{at}"]"#);
        (1..count).map(|at| Definition::parse(&text(at)).expect("a definition")).collect()
    };
    let rows: Rows = [("k".to_owned(), r#"{"7":1}"#.to_owned())].into();
    let mut host = Host::indexed(Shape::STORED, &indexes(MAX_TREES), &rows);
    assert_eq!(host.forest.trees().count(), MAX_TREES);
    check(&mut host, 0);
    let tree = host.tree();
    for index in host.forest.indexes().cloned().collect::<Vec<_>>() {
        let mut check = CheckIndex::new(&index, tree, [0; 32]).expect("an index");
        assert_eq!(host.run(|cache, budget| check.step(cache, budget)), Ok(true));
    }
    let mut ingest = host.ingest();
    ingest.extend_indexes(&indexes(MAX_TREES + 1), false, usize::MAX);
    let before = host.root;
    assert_eq!(host.finish(&mut ingest), Err(Error::CommitTooLarge));
    assert_eq!(host.root, before);
}

#[test]
fn the_longest_names_and_definitions_can_be_read_and_longer_ones_are_refused() {
    let longest = "n".repeat(MAX_TREE_NAME_BYTES - 1);
    assert_eq!(tree_name(&(longest.clone() + "n")), None);
    let leaf = (key_of(b"leaf"), (b"v".to_vec(), 1));
    let mut host = Host::new(Shape::STORED);
    commit(&mut host, &hand([longest.clone()], &leaf), usize::MAX).expect("a commit");
    check(&mut host, 1);
    read(host, &longest, &leaf);

    // Of a sum tree: a prefix gives it this length.
    let text = |len: usize| format!(r#"["","/sum","","{}"]"#, "k".repeat(len - 17)).into_bytes();
    assert_eq!(text(MAX_SUM_DEFINITION_BYTES).len(), MAX_SUM_DEFINITION_BYTES);
    assert!(sum_tree::Definition::parse(&text(MAX_SUM_DEFINITION_BYTES)).is_some());
    assert!(sum_tree::Definition::parse(&text(MAX_SUM_DEFINITION_BYTES + 1)).is_none());
    let prefix = "k".repeat(MAX_SUM_DEFINITION_BYTES - 17).leak();
    let def = Def { prefix, ..WHOLE };
    let mut host = Host::new(Shape::STORED);
    let change =
        Change { wanted: [(longest.clone(), def)].into(), ..put([(prefix.to_owned(), row(40))]) };
    commit(&mut host, &change, usize::MAX).expect("a commit");
    check(&mut host, 1);
    read(host, &longest, &(key_of(prefix.as_bytes()), (row(40).value().1, 1)));

    // Of an index, whose name is its definition: complete and partial.
    let text = |len: usize| format!(r#"["","/{}"]"#, "p".repeat(len - 8));
    let definition = Definition::parse(&text(MAX_TREE_NAME_BYTES - 1)).expect("a definition");
    assert_eq!(Definition::parse(&text(MAX_TREE_NAME_BYTES)), None);
    let rows: Rows = (0..99)
        .map(|at| (format!("k{at}"), format!(r#"{{"{}":{at}}}"#, "p".repeat(246))))
        .collect();
    let mut host = Host::of(Shape::with_target(128), &rows);
    for (work, kind, entries) in [(1, PARTIAL_INDEX, 1), (usize::MAX, INDEX, 99)] {
        let mut ingest = host.ingest();
        ingest.extend_indexes(std::slice::from_ref(&definition), true, work);
        host.finish(&mut ingest).expect("a commit");
        check(&mut host, 0);
        let name = TreeName::of(kind, definition.text()).expect("a name");
        let index: Named = host.forest.named(&name).expect("an index").clone();
        assert!(index.tree.count >= entries);
        let mut check = CheckIndex::new(&index, host.tree(), [0; 32]).expect("an index");
        assert_eq!(host.run(|cache, budget| check.step(cache, budget)), Ok(true));
    }
}

#[test]
fn an_index_has_at_most_the_highest_number_of_columns() {
    let text = |columns: usize| format!(r#"[""{}]"#, r#","/a""#.repeat(columns));
    assert_eq!(Definition::parse(&text(MAX_COLUMNS + 1)), None);
    let definition = Definition::parse(&text(MAX_COLUMNS)).expect("a definition");
    let rows: Rows = (0..9).map(|at| (format!("k{at}"), format!(r#"{{"a":{at}}}"#))).collect();
    let mut host = Host::indexed(Shape::STORED, std::slice::from_ref(&definition), &rows);
    assert_eq!(host.forest.tree(&definition.name(INDEX)).count, 9);
    check(&mut host, 0);
}

#[test]
fn the_largest_value_of_a_sum_tree_is_read_and_proved_and_a_larger_one_is_refused() {
    let (at, above) = (MAX_SUM_VALUE_BYTES, MAX_SUM_VALUE_BYTES + 1);
    // Edited by hand.
    let leaf = (key_of(b"leaf"), (vec![7; at], 1));
    let mut batch = SumBatch::new();
    assert_eq!(batch.put(&leaf.0, &vec![7; above], 1), Err(Error::SumValueTooLarge));
    let mut host = Host::new(Shape::STORED);
    commit(&mut host, &hand(["hand".to_owned()], &leaf), usize::MAX).expect("a commit");
    check(&mut host, 1);
    read(host, "hand", &leaf);
    // Following the rows: put together with them, and by a change of a smaller row.
    let following = |len: usize| Change {
        wanted: [("rows".to_owned(), WHOLE)].into(),
        ..put([("k".to_owned(), row(len))])
    };
    for first in [None, Some(following(100))] {
        let mut host = Host::new(Shape::STORED);
        if let Some(first) = &first {
            commit(&mut host, first, usize::MAX).expect("a commit");
        }
        refuse(&mut host, &following(above), Error::SumValueTooLarge);
        commit(&mut host, &following(at), usize::MAX).expect("a commit");
        check(&mut host, 1);
        let leaf = (key_of(b"k"), (row(at).value().1, 1));
        refuse(&mut host, &put([("k".to_owned(), row(above))]), Error::SumValueTooLarge);
        read(host, "rows", &leaf);
    }
    // A row that no tree follows may be larger.
    let mut host = Host::new(Shape::STORED);
    commit(&mut host, &put([("k".to_owned(), row(above))]), usize::MAX).expect("a commit");
}

#[test]
fn the_key_of_a_sum_is_text_of_any_length_and_never_a_part_of_it() {
    const BY_ID: Def = Def { key: Some("id"), sum: Some("sum"), value: Some("p"), prefix: "" };
    let by_id = |id: &str| Change {
        wanted: [("rows".to_owned(), BY_ID)].into(),
        ..put([(
            "k".to_owned(),
            Row::Object([("id", id.to_owned()), ("p", "1".into()), ("sum", "1".into())].into()),
        )])
    };
    let mut host = Host::new(Shape::STORED);
    for id in [r#""\ud800""#, r#""alice\udc00""#, r#""\udc00bob""#, r#""a\ud83db""#] {
        refuse(&mut host, &by_id(id), Error::SumKeyNotText);
    }
    let long = "é".repeat(100_000);
    for (id, key) in [(r#""😀""#.to_owned(), "😀"), (format!("\"{long}\""), &*long)] {
        let mut host = Host::new(Shape::STORED);
        commit(&mut host, &by_id(&id), usize::MAX).expect("a commit");
        check(&mut host, 1);
        read(host, "rows", &(key_of(key.as_bytes()), (b"1".to_vec(), 1)));
    }
}
