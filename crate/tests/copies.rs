//! Damage with a second, sound copy: every operation ends as in a sound store.
//!
//! Each chunk of a store is kept twice, in its segment and in one of its own. Then either all copies of
//! the first kind are damaged, or all of the second, or a random one of each chunk. Every operation of
//! a store runs, with segments that enter and leave memory in any order.

use crate::cases::cases;
use hedgerow::cache::{Fetch, Want};
use hedgerow::collect::{Collect, Thoroughness};
use hedgerow::forest::Forest;
use hedgerow::hash::Hash;
use hedgerow::index::{Definition, IndexScan, Wanted};
use hedgerow::ingest::Format;
use hedgerow::output::Output;
use hedgerow::segment::{Packer, Sealed, Stream};
use hedgerow::sum_tree::{Rules, SumVerify};
use hedgerow::sum_update::tree_name;
use hedgerow::tree::{Parts, Range, Tree, Verify};
use hedgerow_support::census::counted;
use hedgerow_support::host::Host;
use hedgerow_support::pace::Pace;
use hedgerow_support::proofs;
use hedgerow_support::rows::{issue, pairs};
use hedgerow_support::sum_commits::{Change, Def, Edit, Row, commit, verify_all};
use hedgerow_support::sums::{Leaves, Sums, batch};
use proptest::prelude::*;
use std::ops::Bound;

const SHAPE: hedgerow::boundary::Shape = hedgerow::boundary::Shape::with_target(256);
const DEF: Def = Def { key: Some("id"), sum: Some("sum"), value: None, prefix: "r/" };
const BOTH: Parts = Parts { keys: true, values: true };
const FULL: Thoroughness =
    Thoroughness { survey: false, full: true, rest: false, values_before: 0 };

fn row(at: usize, sum: usize, len: usize) -> (String, Row) {
    let text = format!("\"{}\"", "v".repeat(len));
    let members = [("id", at.to_string()), ("sum", sum.to_string()), ("v", text)];
    (format!("r/{at:04}"), Row::Object(members.into()))
}

/// Returns the length of a value: some are out of line, one in several pieces.
fn len(at: usize) -> usize {
    match at {
        7 => 150_000,
        31 | 77 => 5000,
        _ => at % 40,
    }
}

fn definition() -> Definition {
    Definition::parse(r#"["r/","/sum"]"#).expect("a definition")
}

/// A key, and a value with its sum.
type Leaf = ([u8; 32], (Vec<u8>, u64));

/// Makes leaves of a sum tree that is edited by hand; some values are out of line.
fn leaves(from: u8) -> Vec<Leaf> {
    let value = |at: u8| vec![at; if at % 20 == 3 { 300 } else { usize::from(at % 30) }];
    (from..from + 90).map(|at| ([at.wrapping_mul(37); 32], (value(at), u64::from(at)))).collect()
}

/// A store with an index, a sum tree that follows rows and one that is edited by hand, and its two commits.
struct Store {
    host: Host,
    states: [(Hash, Forest); 2],
}

fn store() -> Store {
    let mut host = Host::new(SHAPE);
    host.indexes = vec![definition()];
    let first = Change {
        edits: vec![Edit::Put((0..200).map(|at| row(at, at % 50, len(at))).collect())],
        staged: vec![("hand".to_owned(), leaves(0))],
        wanted: [("rows".to_owned(), DEF)].into(),
        alone: true,
    };
    commit(&mut host, &first, usize::MAX).expect("sums that fit");
    let old = (host.root, host.forest.clone());
    let second = Change {
        edits: vec![
            Edit::Put((150..260).map(|at| row(at, at % 9, len(at) + 1)).collect()),
            Edit::Delete((20..40).map(|at| format!("r/{at:04}")).collect()),
        ],
        staged: vec![("hand".to_owned(), leaves(60))],
        wanted: std::collections::BTreeMap::new(),
        alone: false,
    };
    commit(&mut host, &second, usize::MAX).expect("sums that fit");
    let new = (host.root, host.forest.clone());
    Store { host, states: [old, new] }
}

/// Stores each chunk twice: in its segment, and in one of its own. `damaged` says for each chunk, by its
/// number, whether the first copy is the damaged one; `None` damages neither.
fn doubled(store: &Store, damaged: Option<&dyn Fn(usize) -> bool>) -> Store {
    let mut host = Host::new(SHAPE);
    host.indexes = vec![definition()];
    (host.root, host.forest) = (store.host.root, store.host.forest.clone());
    let first: Vec<_> = store.host.stored.values().cloned().collect();
    for (bytes, table) in &first {
        host.store(vec![Sealed { bytes: bytes.clone(), table: table.clone() }]);
    }
    let last = *host.stored.keys().next_back().expect("a segment");
    for (bytes, table) in &first {
        for at in 0..table.len() {
            let mut packer = Packer::new();
            let stored = &bytes[table.range(at)];
            packer.put_known(Stream::Leaf, table.hash(at), stored, table.chunk_len(at));
            packer.seal();
            host.store(packer.take_sealed());
        }
    }
    if let Some(is_first) = damaged {
        let mut number = 0;
        let ids: Vec<_> = host.stored.keys().copied().collect();
        let (segments, copies) = ids.split_at(ids.partition_point(|id| *id <= last));
        let mut copies = copies.iter();
        for id in segments {
            for at in 0..host.stored[id].1.len() {
                let copy = copies.next().expect("a copy of each chunk");
                let (segment, at) = if is_first(number) { (id, at) } else { (copy, 0) };
                let (bytes, table) = host.stored.get_mut(segment).expect("a segment");
                let place = table.range(at);
                bytes[place.start + number % place.len()] ^= 1 << (number % 8);
                number += 1;
            }
        }
    }
    host.reopen(64 << 20);
    Store { host, states: store.states.clone() }
}

impl Store {
    /// Returns to the newest commit, with an empty cache.
    fn reset(&mut self) -> &mut Host {
        let (root, forest) = self.states[1].clone();
        let host = &mut self.host;
        (host.root, host.forest) = (root, forest);
        host.reopen(64 << 20);
        host
    }

    fn reads(&mut self) -> Vec<String> {
        let old = self.states[0].1.tree("r");
        let host = self.reset();
        let tree = host.tree();
        let mut results = Vec::new();
        for reverse in [false, true] {
            let (out, result) = host.scanned(tree, &Range::ALL, reverse, u64::MAX, BOTH);
            results.push(format!(
                "{result:?} {}",
                Hash::of(&[&out.keys[..], &out.text, &out.bytes].concat())
            ));
        }
        let keys: Vec<_> = (0..260).map(|at| format!("r/{at:04}")).collect();
        results.push(format!(
            "{:?}",
            host.get_many(&keys).iter().map(Option::is_some).collect::<Vec<_>>()
        ));
        for key in
            keys.iter().step_by(3).filter(|key| !["r/0007", "r/0031", "r/0077"].contains(&&***key))
        {
            results.push(format!("{:?}", host.look_up(tree, key)));
        }
        let range = Range {
            lower: Bound::Included(b"r/0050".to_vec()),
            upper: Bound::Excluded(b"r/0200".to_vec()),
        };
        results.push(format!("{} {}", host.count(&Range::ALL), host.count(&range)));
        for (from, to) in [(old, tree), (tree, old), (Tree::EMPTY, tree)] {
            let out = host.differ(from, to, &Range::ALL).expect("a diff");
            results.push(format!("{}", Hash::of(&[&out.keys[..], &out.text, &out.bytes].concat())));
        }
        results.push(format!("{:?}", counted(host, tree)));
        let mut verify = Verify::new(tree, host.shape);
        host.run(|cache, budget| Ok(verify.step(cache, budget))).expect("a verification");
        results.push(format!("{:?} {:?}", verify.tally(), verify.take_faults()));
        for range in [Range::ALL, range, proofs::only("r/0007"), proofs::only("nothing")] {
            let proof = proofs::prove(host, &range).expect("a proof");
            proofs::verify(host.root, &range, &proof, usize::MAX).expect("it verifies");
            results.push(format!("{}", Hash::of(&proof)));
        }
        let name = definition().name(hedgerow::forest::INDEX);
        let wanted = Wanted { parts: BOTH, secondary: true, reverse: false, limit: u64::MAX };
        let index = host.forest.tree(&name);
        let mut scan = IndexScan::new(index, 1, tree, Range::ALL, wanted);
        let mut out = Output::new();
        host.run(|cache, budget| scan.step(cache, budget, &mut out)).expect("a scan of the index");
        results.push(format!("{}", Hash::of(&[&out.keys[..], &out.text, &out.bytes].concat())));
        results
    }

    fn sum_reads(&mut self) -> Vec<String> {
        let old = self.states[0].1.tree(&tree_name("hand").expect("a name"));
        let host = self.reset();
        let named =
            host.forest.named(&tree_name("hand").expect("a name")).expect("a sum tree").clone();
        let mut results = vec![format!("{:?}", verify_all(host))];
        let mut verify =
            SumVerify::new(&Rules::new(), named.tree, &named.reach.unwrap_or_default());
        host.run(|cache, budget| verify.step(cache, budget)).expect("it verifies");
        results.push(format!("{:?}", verify.tally()));
        let mut sums = Sums::new(std::mem::replace(host, Host::new(SHAPE)));
        sums.tree = named.tree;
        let keys: Vec<_> = leaves(40).into_iter().map(|(key, _)| key).collect();
        results.push(format!("{:?}", sums.contents()));
        results.push(format!("{:?}", sums.find(&keys)));
        results.push(format!("{:?}", keys.iter().map(|key| sums.get(key)).collect::<Vec<_>>()));
        results.push(format!("{:?}", sums.diff(old)));
        // The host does not know the root of this tree; a proof has it.
        let told_root = sums.merge(batch(&Leaves::new())).map(|()| sums.root);
        results.push(format!("{told_root:?}"));
        results.push(format!("{:?}", sums.prove(&keys, true)));
        results.push(format!("{:?}", sums.prove(&keys[..1], false)));
        let edits: Leaves = leaves(100).into_iter().collect();
        results.push(format!("{:?} {:?}", sums.merge(batch(&edits)), sums.root));
        self.host = sums.host;
        results
    }

    fn changes(&mut self) -> Vec<String> {
        let mut results = Vec::new();
        let old = self.states[0].clone();
        let put = |host: &mut Host, text: &str, format: Format| {
            let mut change = Change::default();
            change.staged.push(("hand".to_owned(), leaves(10)));
            let mut ingest = host.ingest();
            host.feed(&mut ingest, text, &format).and_then(|()| host.finish(&mut ingest))
        };
        // One edit, many, updates, a range; each also updates the index.
        let one = pairs(&[issue(0), ("r/0099".to_owned(), "{\"sum\":1}".to_owned())][1..]);
        let many: Vec<_> =
            (0..250).step_by(2).map(|at| (format!("r/{at:04}"), at.to_string())).collect();
        let update =
            |at: usize| format!(r#"{{"op":"update","key":"r/{at:04}","merge":{{"sum":3}}}}"#);
        let updates: Vec<_> = [7, 31, 77].into_iter().chain(150..200).map(update).collect();
        for (text, format) in [
            (one, Format::Pairs),
            (pairs(&many), Format::Pairs),
            (format!("[{}]", updates.join(",")), Format::Patch),
        ] {
            let host = self.reset();
            // Sum trees that follow rows get a commit of their own below.
            let followers: Vec<_> = host.forest.sums().map(|named| named.name.clone()).collect();
            for name in &followers {
                host.forest.set_sum(name, Tree::EMPTY, Vec::new());
            }
            results.push(format!("{:?} {}", put(host, &text, format), host.root));
        }
        let host = self.reset();
        let followers: Vec<_> = host.forest.sums().map(|named| named.name.clone()).collect();
        for name in &followers {
            host.forest.set_sum(name, Tree::EMPTY, Vec::new());
        }
        host.delete_range(&Range {
            lower: Bound::Excluded(b"r/0030".to_vec()),
            upper: Bound::Unbounded,
        });
        results.push(format!("{}", host.root));
        // Sum trees follow.
        let host = self.reset();
        let change = Change {
            edits: vec![Edit::Put((100..180).map(|at| row(at, at, 3)).collect())],
            staged: vec![("hand".to_owned(), leaves(30))],
            wanted: std::collections::BTreeMap::new(),
            alone: false,
        };
        results.push(format!("{:?} {}", commit(host, &change, usize::MAX), host.root));
        // Rebased onto the commit of another writer, and merged with it.
        let host = self.reset();
        let theirs = host.forest.clone();
        for is_merge in [false, true] {
            (host.root, host.forest) = old.clone();
            let mut ingest = host.ingest();
            ingest.expect_sums();
            host.feed(&mut ingest, &pairs(&many), &Format::Pairs).expect("rows");
            ingest.finish();
            host.drive(&mut ingest).expect("rows");
            ingest.name().expect("a commit");
            if is_merge {
                ingest.set_merge_base(&old.1);
            }
            ingest.rebase(theirs.clone(), vec![b"r/0007".to_vec(), b"none".to_vec()]);
            host.drive(&mut ingest).expect("a rebase");
            ingest.name().expect("a commit");
            host.store(ingest.sealed());
            results.push(format!("{:?}", ingest.committed().map(|(root, _)| root)));
        }
        results
    }

    /// Collects, and reads again: reads are the same before and after.
    fn collects(&mut self) -> Vec<String> {
        let pin = self.states[0].0;
        let host = self.reset();
        for thoroughness in [Thoroughness { full: false, ..FULL }, FULL] {
            let mut collect = Collect::new(&host.cache, thoroughness);
            collect.add_commit(host.root);
            collect.add_commit(pin);
            loop {
                let exchange = host.run(|cache, budget| collect.step(cache, budget));
                let Some(exchange) = exchange.expect("a collection") else { break };
                host.store(exchange.sealed);
                for id in exchange.gone {
                    host.cache.remove(id);
                    host.stored.remove(&id).expect("a stored segment");
                }
            }
        }
        self.reads()
    }

    fn everything(&mut self) -> Vec<String> {
        let mut results = self.reads();
        results.extend(self.sum_reads());
        results.extend(self.changes());
        results.extend(self.collects());
        results
    }
}

fn same(damaged: &mut Store, expected: &[String]) {
    for (at, (got, expected)) in damaged.everything().iter().zip(expected).enumerate() {
        assert_eq!(got, expected, "number {at}");
    }
}

#[test]
fn damage_with_a_sound_second_copy_changes_nothing() {
    let store = store();
    let expected = doubled(&store, None).everything();
    let faults: [&dyn Fn(usize) -> bool; 4] =
        [&|_| true, &|_| false, &|at| at % 2 == 0, &|at| at * 7 % 5 < 2];
    for is_first in faults {
        same(&mut doubled(&store, Some(is_first)), &expected);
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn whichever_copy_is_damaged_and_however_it_is_stepped(
        choices in prop::collection::vec(any::<bool>(), 1..200),
        pace in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let store = store();
        let expected = doubled(&store, None).everything();
        let is_first = |at: usize| choices[at * 31 % choices.len()];
        let mut damaged = doubled(&store, Some(&is_first));
        damaged.host.pace = Some(Pace::new(&pace));
        same(&mut damaged, &expected);
    }

    #[test]
    fn what_is_missing_is_what_a_read_asks_for(
        loads in prop::collection::vec((0_usize..3, any::<bool>()), 0..12),
    ) {
        // One chunk in three segments, each of which is whole or damaged, and comes and goes.
        let chunk = hedgerow_support::layout::leaf(&[(0, b"a", b"1")]);
        let hash = Hash::of(&chunk);
        let mut host = Host::new(SHAPE);
        for _ in 0..3 {
            host.store_chunk(&chunk);
        }
        let ids: Vec<_> = host.stored.keys().copied().collect();
        let mut bad = chunk.clone();
        bad[5] ^= 1;
        for (at, is_whole) in loads {
            let id = ids[at];
            host.evict(id);
            let bytes = if is_whole { chunk.clone() } else { bad.clone() };
            host.cache.load(Want::whole_of(id), bytes);
            let read = match host.cache.node(&hash) {
                Ok(Fetch::Here(_)) => Ok(None),
                Ok(Fetch::At(want)) => Ok(Some(want)),
                Err(error) => Err(error),
            };
            let missing = host.cache.missing(&hash);
            prop_assert_eq!(missing, read);
            if let Ok(Some(want)) = read {
                prop_assert!(host.cache.lacks(want));
            }
        }
    }
}
