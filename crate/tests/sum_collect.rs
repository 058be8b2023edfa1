//! Collection of a store with sum trees: chunks that commits reach stay and verify, all others are
//! deleted.

use crate::cases::cases;
use hedgerow::boundary::Shape;
use hedgerow::chunk::ChunkKind;
use hedgerow::collect::{Thoroughness, Totals};
use hedgerow::forest::Forest;
use hedgerow::hash::Hash;
use hedgerow::sum_piece::{self, Records};
use hedgerow::sum_tree::{Name, names};
use hedgerow::value::ValueRef;
use hedgerow_support::collections::{self, FULL, USUAL};
use hedgerow_support::host::Host;
use hedgerow_support::pace::Pace;
use hedgerow_support::sum_commits::{Change, Def, Edit, Model, Row, commit};
use hedgerow_support::sums::{Leaves, Sums};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn collect(host: &mut Host, thoroughness: Thoroughness, pins: &[Hash]) -> Totals {
    collections::collect(host, thoroughness, pins).0
}

/// Lists all stored chunks, each once, and the bytes that they take where they are stored.
fn chunks(host: &Host) -> BTreeMap<Hash, usize> {
    let tables = host.stored.values().map(|(_, table)| table);
    tables
        .flat_map(|table| (0..table.len()).map(|at| (table.hash(at), table.range(at).len())))
        .collect()
}

fn needed(model: &Model) -> BTreeMap<Hash, usize> {
    let mut fresh = Host::new(SHAPE);
    commit(&mut fresh, &model.change(), usize::MAX).expect("a state that may be");
    chunks(&fresh)
}

const SHAPE: Shape = Shape::with_target(512);
const DEF: Def = Def { key: Some("id"), sum: Some("sum"), value: Some("v"), prefix: "r/" };

fn row(at: u64, sum: u64, len: usize) -> (String, Row) {
    let value = format!("\"{}{sum}\"", "v".repeat(len));
    let members = [("id", at.to_string()), ("sum", sum.to_string()), ("v", value)];
    (format!("r/{at:04}"), Row::Object(members.into()))
}

/// Draws lengths of values in a record, out of line, and in several pieces.
fn len() -> impl Strategy<Value = usize> {
    prop_oneof![6 => 0_usize..200, 2 => 255_usize..3000, 1 => Just(70_000)]
}

fn change() -> impl Strategy<Value = Change> {
    let put = prop::collection::vec((0_u64..150, 0_u64..50, len()), 0..40).prop_map(|rows| {
        Edit::Put(rows.into_iter().map(|(at, sum, len)| row(at, sum, len)).collect())
    });
    let delete = prop::collection::vec(0_u64..150, 0..40)
        .prop_map(|keys| Edit::Delete(keys.into_iter().map(|at| format!("r/{at:04}")).collect()));
    let edit = prop_oneof![3 => put, 1 => delete, 1 => Just(Edit::Clear)];
    let leaf = (0_u8..60, 0_u64..9, len())
        .prop_map(|(key, sum, len)| ([key.wrapping_mul(37); 32], (vec![key; len], sum)));
    let staged = prop::collection::vec(leaf, 0..30).prop_map(|leaves| ("hand".to_owned(), leaves));
    (prop::collection::vec(edit, 0..3), prop::option::of(staged), any::<bool>()).prop_map(
        |(edits, staged, follows)| Change {
            edits,
            staged: staged.into_iter().collect(),
            wanted: follows.then(|| ("rows".to_owned(), DEF)).into_iter().collect(),
            alone: follows,
        },
    )
}

#[derive(Clone, Debug)]
enum Op {
    Commit(Change),
    /// The next commit is made onto an older one.
    Branch(prop::sample::Index),
    Collect {
        full: bool,
        pinned: Vec<prop::sample::Index>,
        pace: Vec<u8>,
    },
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => change().prop_map(Op::Commit),
        1 => any::<prop::sample::Index>().prop_map(Op::Branch),
        2 => (any::<bool>(), prop::collection::vec(any::<prop::sample::Index>(), 0..3), any::<Vec<u8>>())
            .prop_map(|(full, pinned, pace)| Op::Collect { full, pinned, pace }),
    ]
}

type State = (Hash, Forest, Model);

fn move_to(host: &mut Host, (root, forest, model): &State) -> Model {
    (host.root, host.forest) = (*root, forest.clone());
    model.clone()
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn what_commits_reach_stays_and_nothing_leaks(ops in prop::collection::vec(op(), 1..9)) {
        let mut host = Host::new(SHAPE);
        let mut model = Model::default();
        let mut states: Vec<State> = vec![(host.root, host.forest.clone(), model.clone())];
        for op in ops {
            match op {
                Op::Commit(change) => {
                    model.apply(&change);
                    commit(&mut host, &change, usize::MAX).expect("sums that fit");
                    states.push((host.root, host.forest.clone(), model.clone()));
                }
                Op::Branch(index) => model = move_to(&mut host, index.get(&states)),
                Op::Collect { full, pinned, pace } => {
                    let mut held: Vec<_> =
                        pinned.iter().map(|index| index.get(&states).clone()).collect();
                    let pins: Vec<_> = held.iter().map(|(root, ..)| *root).collect();
                    host.pace = (!pace.is_empty()).then(|| Pace::new(&pace));
                    let totals = collect(&mut host, if full { FULL } else { USUAL }, &pins);
                    host.pace = None;
                    held.push((host.root, host.forest.clone(), model.clone()));
                    states = held;
                    let mut all = BTreeMap::new();
                    for (_, _, model) in &states {
                        all.extend(needed(model));
                    }
                    let live = all.values().sum::<usize>() as u64;
                    // Otherwise it is not known which values are live.
                    prop_assert!(totals.live == live || !totals.exact);
                    let stored = chunks(&host);
                    prop_assert!(all.keys().all(|hash| stored.contains_key(hash)));
                    if full {
                        let bytes = stored.values().sum::<usize>() as u64;
                        prop_assert!(bytes <= live + live / 15, "{bytes} of {live}");
                    }
                    host.reopen(64 << 20);
                    for state in states.clone() {
                        move_to(&mut host, &state).check(&mut host);
                    }
                }
            }
        }
        // Everything is deleted and collected.
        let hand: Vec<_> = model.hand.values().flat_map(BTreeMap::keys).copied().collect();
        let gone = hand.into_iter().map(|key| (key, (vec![], 0))).collect();
        let staged = vec![("hand".to_owned(), gone)];
        let edits = vec![Edit::Clear];
        let change = Change { edits, staged, alone: true, ..Change::default() };
        commit(&mut host, &change, 0).expect("nothing");
        prop_assert_eq!(host.root, Hash::ZERO);
        collect(&mut host, FULL, &[]);
        prop_assert_eq!(chunks(&host), BTreeMap::new());
        // A later change is stored as in a fresh store.
        let (mut fresh, change) = (Host::new(SHAPE), model.change());
        commit(&mut host, &change, usize::MAX).expect("sums that fit");
        commit(&mut fresh, &change, usize::MAX).expect("sums that fit");
        prop_assert_eq!(chunks(&host), chunks(&fresh));
    }

    #[test]
    fn what_passes_the_check_is_records_to_its_end_and_nothing_else_panics(
        kind in prop_oneof![Just(0xd0_u8), Just(0xd1), any::<u8>()],
        version in prop_oneof![9 => Just(1_u8), 1 => any::<u8>()],
        records in prop::collection::vec(
            (prop_oneof![
                Just(0x4000_u16), 0x8000_u16..0x8100, 0_u16..257, any::<u16>(), 0x3fff_u16..0x4002,
                0x80fe_u16..0x8102, 250_u16..260,
            ], any::<u8>(), prop_oneof![9 => Just(0_usize), 1 => 0_usize..80]),
            0..9,
        ),
        start in prop_oneof![Just(40_usize), Just(0), 0_usize..90],
    ) {
        let mut chunk = vec![kind, version];
        chunk.resize(2 + start, 3);
        for (head, byte, cut) in records {
            chunk.resize(chunk.len() + 72, byte);
            chunk.extend_from_slice(&head.to_le_bytes());
            let rest = match head { 0x4000 => 68, 0x8000.. => 42, len => usize::from(len).min(300) };
            chunk.resize(chunk.len() + rest, byte ^ 0x55);
            chunk.truncate(chunk.len() - cut);
        }
        named_by(&chunk);
    }

    #[test]
    fn arbitrary_bytes_are_read_as_far_as_they_are_records(chunk in any::<Vec<u8>>()) {
        named_by(&chunk);
    }
}

/// Lists the chunks that a piece names.
fn named_by(chunk: &[u8]) -> Vec<(Hash, Option<ValueRef>)> {
    let mut named = Vec::new();
    names(chunk, |name| {
        named.push(match name {
            Name::Piece(hash) => (hash, None),
            Name::Value(far) => (far.hash, Some(far)),
        });
    });
    let mut records = Records::of(chunk);
    let mut count = 0;
    while records.next().is_some() {
        count += 1;
    }
    assert!(count >= named.len());
    let is_piece = matches!(ChunkKind::decode(chunk), Ok(ChunkKind::SumPiece | ChunkKind::SumTop));
    if is_piece && sum_piece::check(chunk).is_ok() {
        assert_eq!((records.at, count > 0), (chunk.len(), true), "{chunk:02x?}");
    }
    named
}

#[test]
fn real_pieces_name_all_pieces_and_values() {
    let leaves: Leaves = (0..2000_u32)
        .map(|at| {
            let mut key = [0; 32];
            key[..4].copy_from_slice(&at.wrapping_mul(2_654_435_761).to_be_bytes());
            (key, (vec![at as u8; [5, 40, 300, 70_000][(at % 401) as usize % 4]], 1))
        })
        .collect();
    let sums = Sums::of(Host::new(Shape::STORED), &leaves);
    let is_piece = |kind| matches!(kind, Ok(ChunkKind::SumPiece | ChunkKind::SumTop));
    let (mut named, mut pieces) = (BTreeSet::from([sums.tree.root]), BTreeSet::new());
    let mut values = 0;
    for (_, hash, chunk) in sums.host.chunks() {
        if is_piece(ChunkKind::decode(&chunk)) {
            pieces.insert(hash);
            for (hash, far) in named_by(&chunk) {
                values += u32::from(far.is_some());
                if far.is_none() {
                    named.insert(hash);
                }
            }
        }
        for end in 0..chunk.len().min(1000) {
            named_by(&chunk[..end]);
        }
    }
    assert_eq!(named, pieces);
    assert!(pieces.len() > 50 && values > 500, "{} pieces, {values} values", pieces.len());
}
