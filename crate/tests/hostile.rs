//! Keys mined against the boundary function. Limits hold, contents and roots are right, and an edit costs
//! no more than the hostile run that it is in.
//!
//! Each run of mined keys is between ordinary rows. The results are printed as rows of Markdown
//! (`cargo test --test all hostile:: -- --nocapture --test-threads 1`).

#![allow(clippy::cast_precision_loss, reason = "figures for people to read")]

#[path = "hostile/mining.rs"]
mod mining;

use hedgerow::batch::{Batch, Edit};
use hedgerow::cache::Fetch;
use hedgerow::hash::Hash;
use hedgerow::ingest::Format;
use hedgerow::limits::{MAX_INLINE_VALUE_BYTES, MAX_KEY_BYTES, MAX_LEVEL};
use hedgerow::node::{MAX_LEAF_BYTES, Node};
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{Builder, Merge, Tree};
use hedgerow_support::host::Host;
use hedgerow_support::rows::{Rows, issue, list, pairs};
use hedgerow_support::store::{a_key, a_text};
use mining::{LEAF_ENTRY_BYTES, MIN_CHILDREN, SHAPE, dodges, ends_alone, mined, text};
use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

const NODE_HEADER_BYTES: usize = 4;
const CHILD_BYTES: usize = 42;

/// The measures of a tree, after each of its chunks was read and checked.
#[derive(Debug, Default)]
struct Census {
    level: u8,
    leaves: usize,
    nodes: usize,
    largest: usize,
    most_entries: usize,
}

/// Reads every chunk of the tree again, so that its hash and form are checked. Checks each node against
/// the limits, the boundary function and `model`.
fn census(host: &mut Host, model: &Rows) -> Census {
    host.reopen(256 << 20);
    let tree = host.tree();
    assert_eq!(tree.count, model.len() as u64);
    let mut census = Census::default();
    let mut rows = model.iter();
    visit(host, None, &tree.root, true, &mut census, &mut rows);
    assert!(rows.next().is_none(), "rows are missing");
    assert!(census.level <= MAX_LEVEL);
    let bound = tree.count.ilog2() + 1;
    assert!(u32::from(census.level) <= bound, "{} levels over {}", census.level, tree.count);
    census
}

/// Reads a node, and loads it first if needed.
fn fetch<T>(host: &mut Host, hash: &Hash, look: impl FnOnce(Node<'_>) -> T) -> T {
    if let Some(want) = host.cache.missing(hash).expect("a known chunk") {
        host.load_part(want);
    }
    match host.cache.node(hash).expect("a well-formed chunk") {
        Fetch::Here(node) => look(node),
        Fetch::At(_) => panic!("a chunk that was just loaded"),
    }
}

fn visit<'m>(
    host: &mut Host,
    parent: Option<(&Hash, usize)>,
    hash: &Hash,
    rightmost: bool,
    census: &mut Census,
    rows: &mut impl Iterator<Item = (&'m String, &'m String)>,
) {
    if let Some((parent, index)) = parent {
        fetch(host, hash, |_| ());
        let Ok(Fetch::Here(Node::Inner(parent))) = host.cache.node(parent) else {
            panic!("a leaf")
        };
        host.cache.child(&parent, index).expect("what the parent says");
    }
    let len = host.cache.chunk_len(hash).unwrap();
    assert!(len <= MAX_LEAF_BYTES);
    let most_last = (LEAF_ENTRY_BYTES + MAX_INLINE_VALUE_BYTES).max(CHILD_BYTES) + MAX_KEY_BYTES;
    let entries_len = len - NODE_HEADER_BYTES;
    assert!(entries_len < SHAPE.full as usize + most_last, "a node of {len} bytes");
    census.nodes += 1;
    census.largest = census.largest.max(len);
    let children = fetch(host, hash, |node| {
        census.level = census.level.max(node.level());
        let entries: Vec<(&[u8], usize)> = match node {
            Node::Leaf(leaf) => (0..leaf.len())
                .map(|at| leaf.entry(at))
                .map(|entry| {
                    let (key, value) = rows.next().expect("no more rows than the model has");
                    let key_bytes = entry.key.bytes();
                    assert_eq!((key_bytes, entry.value), (key.as_bytes(), value.as_bytes()));
                    (key_bytes, LEAF_ENTRY_BYTES + entry.key.len() + entry.value.len())
                })
                .collect(),
            Node::Inner(inner) => (0..inner.len())
                .map(|at| (inner.key(at), CHILD_BYTES + inner.key(at).len()))
                .collect(),
        };
        assert!(rightmost || node.level() == 0 || entries.len() >= MIN_CHILDREN);
        census.most_entries = census.most_entries.max(entries.len());
        check_boundary(node.level(), &entries, rightmost);
        match node {
            Node::Leaf(_) => {
                census.leaves += 1;
                Vec::new()
            }
            Node::Inner(inner) => (0..inner.len()).map(|at| inner.hash(at)).collect(),
        }
    });
    for (index, child) in children.iter().enumerate() {
        let last = rightmost && index + 1 == children.len();
        visit(host, Some((hash, index)), child, last, census, rows);
    }
}

/// Checks that a node ends where the boundary function ends it.
fn check_boundary(level: u8, entries: &[(&[u8], usize)], rightmost: bool) {
    let mut from = 0;
    for (at, (key, size)) in entries.iter().enumerate() {
        let to = from + size;
        let ends = SHAPE.ends(level, key, from, to, at + 1);
        let last = at + 1 == entries.len();
        assert!(if last { ends || rightmost } else { !ends }, "level {level}, entry {at}");
        from = to;
    }
}

/// Builds the tree of `rows` afresh; returns it and the bytes of its chunks.
fn fresh(rows: &Rows) -> (Tree, u64) {
    let mut builder = Builder::new(SHAPE);
    for (key, value) in rows {
        builder.push(a_key(key), a_text(value));
    }
    (builder.finish().tree, builder.packer().bytes())
}

/// Chunks and bytes that edits wrote.
#[derive(Clone, Copy)]
struct Cost {
    chunks: u64,
    bytes: u64,
}

fn commit(host: &mut Host, text: String, format: Format) -> Cost {
    let ingest = host.commit(&[(text, format)]).expect("good rows");
    Cost { chunks: ingest.chunks(), bytes: ingest.chunk_bytes() }
}

/// Stores the run between ordinary rows, in three orders of arrival; then edits the run, one
/// row at a time and many at once.
fn ordeal(name: &str, run: &[(String, String)]) -> Census {
    let run_bytes = fresh(&run.iter().cloned().collect()).1;
    let around = (0..4000).map(|row| {
        let (key, value) = issue(row);
        if row % 2 == 0 { (key, value) } else { (format!("z/{key}"), value) }
    });
    let mut model: Rows = around.chain(run.iter().cloned()).collect();
    let (expected, _) = fresh(&model);

    let mut rows: Vec<_> = model.clone().into_iter().collect();
    let mut host = Host::new(SHAPE);
    host.put_blocks(&rows, 5000);
    assert_eq!(host.tree(), expected, "ascending");
    rows.reverse();
    let mut other = Host::new(SHAPE);
    other.put_blocks(&rows, 5000);
    assert_eq!(other.tree(), expected, "descending");
    rows.shuffle(&mut ChaCha8Rng::seed_from_u64(3));
    other = Host::new(SHAPE);
    other.put_blocks(&rows, 5000);
    assert_eq!(other.tree(), expected, "shuffled");
    let census_before = census(&mut host, &model);

    let middle = &run[run.len() / 2].0;
    let near_start = &run[run.len() / 50].0;
    let within = |key: &str| format!("{}~", &key[..key.len() - 1]);
    let edits = [
        ("insert near the start", within(near_start), Some("2")),
        ("insert in the middle", within(middle), Some("2")),
        ("grow in the middle", middle.clone(), Some("\"a longer value than there was before\"")),
        ("delete in the middle", run[run.len() / 2 + 1].0.clone(), None),
        ("delete the first", run[0].0.clone(), None),
        ("delete an insert", within(near_start), None),
    ];
    let mut worst = (Cost { chunks: 0, bytes: 0 }, "");
    for (what, key, value) in edits {
        let cost = if let Some(value) = value {
            model.insert(key.clone(), value.to_owned());
            commit(&mut host, pairs(&[(key, value.to_owned())]), Format::Pairs)
        } else {
            assert!(model.remove(&key).is_some());
            commit(&mut host, list(&[key]), Format::Deletes)
        };
        if cost.bytes > worst.0.bytes {
            worst = (cost, what);
        }
        assert_eq!(host.tree(), fresh(&model).0, "{name}: {what}");
        let bound = run_bytes + run_bytes / 8 + (256 << 10);
        assert!(cost.bytes <= bound, "{name}: {what} wrote {} bytes", cost.bytes);
    }
    let (Cost { chunks, bytes }, what) = worst;
    let Census { level, leaves, nodes, largest, most_entries } = census_before;
    println!(
        "| {name} | {} | {:.0} | {leaves} / {nodes} / {level} | {largest} / {most_entries} \
         | {what}: {chunks} chunks, {:.1} KiB |",
        run.len(),
        run_bytes as f64 / 1024.0,
        bytes as f64 / 1024.0,
    );
    // Every hundredth row is replaced by another.
    let gone: Vec<String> = run.iter().skip(5).step_by(100).map(|row| row.0.clone()).collect();
    let new: Vec<_> = gone.iter().map(|key| (within(key), "3".to_owned())).collect();
    for key in &gone {
        assert!(model.remove(key).is_some());
    }
    commit(&mut host, list(&gone), Format::Deletes);
    assert_eq!(host.tree(), fresh(&model).0, "{name}: many deletes");
    model.extend(new.iter().cloned());
    commit(&mut host, pairs(&new), Format::Pairs);
    assert_eq!(host.tree(), fresh(&model).0, "{name}: many inserts");
    census(&mut host, &model);
    census_before
}

// --- the runs ---

#[test]
fn a_run_of_boundaries_makes_leaves_of_one_row() {
    let value = text(84);
    let run = mined(5000, 12, 4, &value, |_, key| ends_alone(key, &value));
    let census = ordeal("tiny leaves, rows of 100 B", &run);
    assert!(census.leaves >= 5000, "{census:?}");
    // The key of a smaller row takes longer to mine: of the smallest, 74,000 attempts.
    let run = mined(100, 12, 4, "1", |_, key| ends_alone(key, "1"));
    ordeal("tiny leaves, rows of 17 B", &run);
}

#[test]
fn a_run_whose_leaves_never_end_their_parents_makes_wide_nodes() {
    let value = text(84);
    let fits = |key: &[u8]| dodges(1, key, CHILD_BYTES + 12) && ends_alone(key, &value);
    let run = mined(5000, 12, 4, &value, |_, key| fits(key));
    let census = ordeal("tiny leaves, wide parents", &run);
    assert!(census.largest > SHAPE.full as usize, "{census:?}");
}

#[test]
fn a_run_without_boundaries_ends_nodes_when_they_are_full() {
    let run = mined(100_000, 10, 2, "1", |_, key| dodges(0, key, LEAF_ENTRY_BYTES + 11));
    let census = ordeal("boundary-free", &run);
    assert!(census.most_entries > 1000, "{census:?}");
}

#[test]
fn the_largest_entry_in_a_nearly_full_leaf_makes_the_largest_leaf() {
    // 315 entries of 52 bytes are 4 bytes less than full.
    let mut run = mined(60 * 316, 12, 2, &text(36), |_, key| dodges(0, key, 52));
    for (key, value) in run.iter_mut().skip(315).step_by(316) {
        key.push_str(&"-".repeat(MAX_KEY_BYTES - 12));
        *value = text(MAX_INLINE_VALUE_BYTES);
    }
    let census = ordeal("giant leaves", &run);
    let most = SHAPE.full as usize + MAX_KEY_BYTES + MAX_INLINE_VALUE_BYTES;
    assert_eq!(census.largest, most - 4 + LEAF_ENTRY_BYTES + NODE_HEADER_BYTES);
}

#[test]
fn a_tower_is_no_higher_than_the_logarithm_of_its_rows() {
    // The row at position i, from 1, ends a node on as many levels as i has factors of two: every node that it ends has
    // two entries, and on the next level it does not end a node even as the third.
    let row = LEAF_ENTRY_BYTES + 1021;
    let ends = |level, key: &[u8], nth: usize| {
        let entry = if level == 0 { row } else { CHILD_BYTES + key.len() };
        SHAPE.ends(level, key, (nth - 1) * entry, nth * entry, nth)
    };
    let run = mined(512, 1020, 8, "1", |index, key| {
        let levels = ((index + 1).trailing_zeros() as u8).min(8);
        (0..levels).all(|level| ends(level, key, 2)) && !ends(levels, key, 3)
    });
    let census = ordeal("tower", &run);
    assert!(census.level >= 8, "a tower was mined: {census:?}");
}

#[test]
fn a_run_of_boundaries_on_four_levels_pairs_nodes_off() {
    let child = CHILD_BYTES + 1020;
    let ends_pair = |level, key: &[u8]| SHAPE.ends(level, key, child, 2 * child, 2);
    let run = mined(500, 1020, 6, "1", |_, key| {
        ends_alone(key, "1") && (1..4).all(|level| ends_pair(level, key))
    });
    let census = ordeal("pairs on three levels", &run);
    assert!(census.level >= 5, "{census:?}");
}

#[test]
fn entries_of_the_largest_size_stay_within_a_chunk() {
    let value = text(MAX_INLINE_VALUE_BYTES);
    let run: Vec<_> = (0..400)
        .map(|row| (format!("m/{row:06}{}", "-".repeat(MAX_KEY_BYTES - 8)), value.clone()))
        .collect();
    let sevens = run.iter().enumerate().map(|(at, (key, value))| {
        (key.clone(), if at % 7 == 0 { value.clone() } else { "1".to_owned() })
    });
    ordeal("largest entries", &run);
    ordeal("largest keys, some largest values", &sevens.collect::<Vec<_>>());
}

#[test]
fn keys_with_a_common_prefix_of_900_bytes_are_ordinary_keys() {
    let prefix = format!("m/{}", "p".repeat(898));
    let run: Vec<_> =
        (0..20_000).map(|row| (format!("{prefix}{row:06}"), "1".to_owned())).collect();
    ordeal("equal prefix of 900 B", &run);
}

#[test]
fn an_insert_does_not_move_boundaries_of_rows_as_large_as_the_target() {
    let row = |row: usize| (format!("m/{row:06}"), text(MAX_INLINE_VALUE_BYTES));
    let rows: Vec<_> = (0..1000).map(|at| row(2 * at)).collect();
    ordeal("values of 4,096 B", &rows);
    let mut host = Host::new(SHAPE);
    host.put_blocks(&rows, 100);
    let mut model: Rows = rows.into_iter().collect();
    // The last twenty are appended.
    let costs: Vec<u64> = (0..220)
        .map(|at| {
            let new = row(10 * at + 1);
            model.insert(new.0.clone(), new.1.clone());
            commit(&mut host, pairs(&[new]), Format::Pairs).chunks
        })
        .collect();
    assert_eq!(host.tree(), fresh(&model).0);
    // A commit, internal nodes of two levels, two or three leaves.
    let (most, sum) = (costs.iter().max().unwrap(), costs.iter().sum::<u64>());
    println!("\nvalues of 4,096 B, 220 inserts: {sum} chunks, at most {most} in one");
    assert!(*most <= 10 && sum <= 7 * 220, "{sum} chunks, at most {most} in one");
}

#[test]
fn an_edit_that_rewrites_a_whole_run_does_so_in_slices() {
    const SLICE: usize = 64 << 10;
    let run = mined(40_000, 10, 2, "1", |_, key| dodges(0, key, LEAF_ENTRY_BYTES + 11));
    let mut host = Host::new(SHAPE);
    host.put_blocks(&run, 5000);
    let mut batch = Batch::new();
    batch.push(a_key(&run[0].0), Edit::Delete);
    batch.close_run();
    let mut merge = Merge::new(host.tree(), &batch, SHAPE);
    let (mut steps, mut most, mut before) = (0, 0, 0);
    loop {
        let step = merge.step(&host.cache, &batch, &mut Budget::of(SLICE)).expect("a step");
        let bytes = merge.packer().bytes();
        most = most.max(bytes - before);
        before = bytes;
        steps += 1;
        match step {
            Step::Done(_) => break,
            Step::Need(wanted) => host.answer(&wanted),
            Step::Yield => {}
        }
    }
    println!("\none delete: {before} bytes in {steps} steps, at most {most} in one");
    assert!(steps > 5, "the run is rewritten in {steps} steps");
    // Besides the slice: the end of the tree, at most one node of each level.
    assert!(most <= (SLICE + (64 << 10)) as u64, "{most} bytes in one step");
}
