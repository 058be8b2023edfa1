//! Random rows, definitions and changes.

use hedgerow_support::sum_commits::{Change, Def, Edit, Row};
use hedgerow_support::sums::Held;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn key() -> impl Strategy<Value = String> {
    "[a-c]/[0-9]{1,2}"
}

fn text(range: std::ops::Range<u64>) -> impl Strategy<Value = String> {
    range.prop_map(|number| number.to_string())
}

fn id() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        40 => (0_u32..1_000_000).prop_map(|id| Some(format!("\"id{id}\""))),
        10 => text(0..1_000_000).prop_map(Some),
        // Some of these are equal.
        1 => text(0..10).prop_map(Some),
        2 => Just(None),
        1 => Just(Some("null".into())),
        1 => Just(Some("true".into())),
    ]
}

fn sum() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        200 => text(0..1000).prop_map(Some),
        200 => text(0..1000).prop_map(|text| Some(format!("\"{text}\""))),
        20 => Just(None),
        20 => Just(Some("null".into())),
        2 => Just(Some("\"7000000000000000000\"".into())),
        1 => prop::sample::select(vec!["-1", "1.5", "true", "\"\"", "[]", "\"18446744073709551616\""])
            .prop_map(|bad| Some(bad.into())),
    ]
}

fn value() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        10 => text(0..4).prop_map(Some),
        4 => (0_usize..3).prop_map(|kind| Some(format!("\"{}\"", "x".repeat(250 + 40 * kind)))),
        1 => (0_usize..3).prop_map(|kind| Some(format!("\"{}\"", "y".repeat(4000 + 40_000 * kind)))),
        2 => Just(None),
        1 => Just(Some("null".into())),
    ]
}

fn row() -> impl Strategy<Value = Row> {
    let object = (id(), sum(), value()).prop_map(|(id, sum, value)| {
        let members = [("id", id), ("sum", sum), ("v", value)];
        Row::Object(members.into_iter().filter_map(|(name, text)| Some((name, text?))).collect())
    });
    prop_oneof![
        20 => object,
        1 => text(0..100).prop_map(Row::Text),
        1 => Just(Row::Text("null".into())),
        1 => prop::collection::vec(any::<u8>(), 0..9).prop_map(Row::Bytes),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        8 => prop::collection::vec((key(), row()), 0..30).prop_map(Edit::Put),
        3 => prop::collection::vec(key(), 0..30).prop_map(Edit::Delete),
        2 => "[a-c]/[0-9]{0,1}".prop_map(Edit::DeletePrefix),
        1 => Just(Edit::Clear),
    ]
}

fn def() -> impl Strategy<Value = Def> {
    let prefix = prop::sample::select(vec!["", "a/", "b/1", "none"]);
    let sum = prop_oneof![8 => Just(Some("sum")), 1 => Just(Some("id"))];
    let value = prop::sample::select(vec![None, Some("v"), Some("id")]);
    let key = prop::sample::select(vec![None, Some("id")]);
    (key, sum, value, prefix).prop_map(|(key, sum, value, prefix)| {
        // Ids are not sums; the tests of errors cover that.
        let key = if sum == Some("id") { None } else { key };
        Def { key, sum, value, prefix }
    })
}

fn leaf() -> impl Strategy<Value = ([u8; 32], Held)> {
    let value = prop_oneof![Just(vec![]), Just(vec![1; 20]), Just(vec![2; 300])];
    let sum = prop_oneof![20 => 0_u64..4, 1 => Just(u64::MAX / 3)];
    // Keys that share many bits with others.
    let key = (0_u8..4, 0_usize..256).prop_map(|(byte, bit)| {
        let mut key = [byte; 32];
        key[bit / 8] ^= 1 << (bit % 8);
        key
    });
    (key, (value, sum))
}

fn change() -> impl Strategy<Value = Change> {
    let name = |kind: &'static str| (0_u8..2).prop_map(move |name| format!("{kind}{name}"));
    let staged = prop::collection::vec((name("hand"), prop::collection::vec(leaf(), 0..20)), 0..3);
    let wanted = prop::collection::btree_map(name("rows"), def(), 0..3);
    (
        prop::collection::vec(edit(), 0..4),
        staged.prop_map(|staged| {
            // One batch of each name.
            let staged: BTreeMap<_, _> = staged.into_iter().collect();
            staged.into_iter().collect()
        }),
        prop::option::weighted(0.4, wanted),
        any::<bool>(),
    )
        .prop_map(|(edits, staged, wanted, alone)| {
            let alone = alone && wanted.is_some();
            Change { edits, staged, wanted: wanted.unwrap_or_default(), alone }
        })
}

#[derive(Clone, Debug)]
pub enum Op {
    Commit { change: Change, updates: Vec<(prop::sample::Index, u64)>, spill: usize },
    Race { ours: Change, theirs: Vec<Change>, spill: usize },
    Reopen { cache_bytes: usize },
}

pub fn op() -> impl Strategy<Value = Op> {
    let spill = || prop_oneof![Just(0_usize), Just(1000), Just(usize::MAX)];
    let updates = prop::collection::vec((any::<prop::sample::Index>(), 0_u64..100), 0..4);
    prop_oneof![
        4 => (change(), updates, spill())
            .prop_map(|(change, updates, spill)| Op::Commit { change, updates, spill }),
        2 => (change(), prop::collection::vec(change(), 1..3), spill())
            .prop_map(|(ours, theirs, spill)| Op::Race { ours, theirs, spill }),
        1 => prop::sample::select(vec![0, 1 << 20])
            .prop_map(|cache_bytes| Op::Reopen { cache_bytes }),
    ]
}
