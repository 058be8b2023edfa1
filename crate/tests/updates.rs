//! Many updates of one key: their cost is in proportion to their bytes, and they are refused only if the
//! resulting value is too large.

use crate::cases::cases;
use hedgerow::boundary::Shape;
use hedgerow::error::{Error, RowFault};
use hedgerow::ingest::Format;
use hedgerow::limits::MAX_VALUE_BYTES;
use hedgerow::output::Output;
use hedgerow::tree::MultiGet;
use hedgerow_support::host::Host;
use hedgerow_support::output::members;
use proptest::prelude::*;

const MIB: usize = 1 << 20;

/// Reads the value of the key `k`, inline or out of line.
fn value(host: &mut Host) -> Option<String> {
    let mut find = MultiGet::new(host.tree(), [&b"k"[..]]);
    let (mut out, mut found) = (Output::new(), Vec::new());
    host.run(|cache, budget| find.step(cache, budget, &mut out, &mut found)).expect("a find");
    out.close();
    members(&out).pop()
}

fn patch(host: &mut Host, ops: &[String]) -> Result<(), Error> {
    let blocks: Vec<_> =
        ops.chunks(10_000).map(|ops| (format!("[{}]", ops.join(",")), Format::Patch)).collect();
    host.commit(&blocks).map(drop)
}

fn update(merge: &str, constrain: Option<&str>) -> String {
    let names = constrain.map_or(String::new(), |names| format!(",\"constrain\":{names}"));
    updating(merge, &names)
}

fn updating(merge: &str, more: &str) -> String {
    format!("{{\"op\":\"update\",\"key\":\"k\",\"merge\":{merge}{more}}}")
}

#[test]
fn the_limit_applies_to_the_updated_value_and_not_to_the_updates() {
    let mut host = Host::new(Shape::STORED);
    let large = |letter: &str| format!("{{\"a\":\"{}\"}}", letter.repeat(33 * MIB));
    let ops: Vec<_> = ["x", "y", "z"].map(|letter| update(&large(letter), None)).into();
    patch(&mut host, &ops).expect("33 MiB in the end");
    assert_eq!(value(&mut host).map(|value| value == large("z")), Some(true));
    // Two members of 33 MiB are too large, wherever they come from.
    let other = update(&large("b").replacen('a', "b", 1), None);
    let fault = Error::Row { row: 0, offset: 0, fault: RowFault::ValueTooLarge };
    let before = host.root;
    assert_eq!(patch(&mut host, &[other]), Err(fault));
    assert_eq!(host.root, before);
    const { assert!(2 * 33 * MIB > MAX_VALUE_BYTES) };
}

#[test]
fn the_steps_of_many_updates_of_one_key_are_in_proportion_to_their_bytes() {
    for (name, op) in [
        (
            "the same member",
            Box::new(|at: usize| update(&format!("{{\"n\":{at}}}"), None))
                as Box<dyn Fn(usize) -> String>,
        ),
        ("new members", Box::new(|at| update(&format!("{{\"n{at}\":0}}"), None))),
        ("one member kept", Box::new(|at| update(&format!("{{\"n{at}\":0}}"), Some("[\"n0\"]")))),
    ] {
        let mut host = Host::new(Shape::STORED);
        // This takes too many steps if the cost of an update includes its object.
        host.slice = 16 << 10;
        let ops: Vec<_> = (0..120_000).map(op).collect();
        patch(&mut host, &ops).expect("objects");
        let len = value(&mut host).expect("a value").len();
        let expected = if name == "new members" { 120_000 * 10..120_000 * 13 } else { 5..20 };
        assert!(expected.contains(&len), "{name}: {len} bytes");
    }
}

#[test]
fn updates_that_constrain_a_large_object_do_not_each_read_it() {
    let mut host = Host::new(Shape::STORED);
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(4 * MIB));
    patch(&mut host, &[update(&large, None)]).expect("an object");
    host.slice = 16 << 10;
    // This takes too many steps if each update reads the object. Each adds a member, and removes the previous one.
    let ops: Vec<_> = (0..110_000)
        .map(|at| update(&format!("{{\"n{}\":1}}", at % 3), Some("[\"a\",\"n0\"]")))
        .collect();
    patch(&mut host, &ops).expect("objects");
    let expected = format!("{},\"n0\":1}}", &large[..large.len() - 1]);
    assert!(value(&mut host).as_deref() == Some(&expected));
}

#[test]
fn updates_that_remove_members_of_a_large_object_do_not_each_read_it() {
    let mut host = Host::new(Shape::STORED);
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(4 * MIB));
    patch(&mut host, &[update(&large, None)]).expect("an object");
    host.slice = 16 << 10;
    // As above: each adds two members and removes an earlier one.
    let ops: Vec<_> = (0..110_000)
        .map(|at| {
            let merge = format!("{{\"m\":0,\"n{}\":1}}", at % 3);
            updating(&merge, &format!(",\"unset\":[\"m\",\"n{}\"]", (at + 1) % 3))
        })
        .collect();
    patch(&mut host, &ops).expect("objects");
    let expected = format!("{},\"n0\":1,\"n1\":1}}", &large[..large.len() - 1]);
    assert!(value(&mut host).as_deref() == Some(&expected));
}

#[derive(Clone, Debug)]
enum Op {
    /// With names to keep, or to remove.
    Update(Vec<(u8, usize)>, Option<(Vec<u8>, bool)>),
    Put(Vec<(u8, usize)>),
    Delete,
}

/// Names are letters and one array index; values are long enough for some to be settled before others.
fn member() -> impl Strategy<Value = (u8, usize)> {
    (0_u8..8, prop_oneof![Just(1_usize), Just(40), Just(900), Just(3000)])
}

fn op() -> impl Strategy<Value = Op> {
    let merge = || prop::collection::vec(member(), 0..4);
    let names = prop::option::of((prop::collection::vec(0_u8..8, 0..6), any::<bool>()));
    prop_oneof![
        12 => (merge(), names).prop_map(|(merge, names)| Op::Update(merge, names)),
        1 => merge().prop_map(Op::Put),
        1 => Just(Op::Delete),
    ]
}

fn name(number: u8) -> &'static str {
    ["a", "b", "c", "d", "e", "f", "7", "3"][usize::from(number)]
}

/// An object as in JavaScript: array indices first, then names in the order in which they were added.
#[derive(Clone, Debug, Default)]
struct Object(Vec<(u8, String)>);

impl Object {
    fn set(&mut self, number: u8, value: String) {
        match self.0.iter_mut().find(|(other, _)| *other == number) {
            Some((_, old)) => *old = value,
            None => self.0.push((number, value)),
        }
    }

    fn text(&self) -> String {
        let mut members = self.0.clone();
        members.sort_by_key(|(number, _)| name(*number).parse::<u32>().unwrap_or(u32::MAX));
        let members: Vec<_> = members
            .iter()
            .map(|(number, value)| format!("\"{}\":{value}", name(*number)))
            .collect();
        format!("{{{}}}", members.join(","))
    }
}

/// Merges members in the order of a JavaScript object that has them.
fn merged(members: &[(u8, usize)], salt: usize) -> Object {
    let mut object = Object::default();
    for (at, (number, len)) in members.iter().enumerate() {
        object.set(*number, format!("\"{salt}/{at}/{}\"", "v".repeat(*len)));
    }
    object
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn updates_of_one_key_are_made_one_after_the_other(
        ops in prop::collection::vec(op(), 1..40),
        commits in 1_usize..4,
    ) {
        let mut host = Host::new(Shape::STORED);
        let mut model: Option<Object> = None;
        for (part, ops) in ops.chunks(ops.len().div_ceil(commits)).enumerate() {
            let mut texts = Vec::new();
            for (at, op) in ops.iter().enumerate() {
                let salt = 100 * part + at;
                match op {
                    Op::Delete => {
                        model = None;
                        texts.push("{\"op\":\"del\",\"key\":\"k\"}".to_owned());
                    }
                    Op::Put(members) => {
                        let object = merged(members, salt);
                        texts.push(format!("{{\"op\":\"put\",\"key\":\"k\",\"value\":{}}}", object.text()));
                        model = Some(object);
                    }
                    Op::Update(members, names) => {
                        let merge = merged(members, salt);
                        let listed = names.as_ref().map_or(String::new(), |(names, keeps)| {
                            let names: Vec<_> = names.iter().map(|n| format!("\"{}\"", name(*n))).collect();
                            let word = if *keeps { "constrain" } else { "unset" };
                            format!(",\"{word}\":[{}]", names.join(","))
                        });
                        texts.push(updating(&merge.text(), &listed));
                        let object = model.get_or_insert_default();
                        let in_order: Vec<u8> = {
                            let text = merge.text();
                            let mut order: Vec<_> = merge.0.iter().map(|(n, _)| *n).collect();
                            order.sort_by_key(|n| text.find(&format!("\"{}\":\"", name(*n))));
                            order
                        };
                        for number in in_order {
                            let value = merge.0.iter().find(|(n, _)| *n == number).expect("it").1.clone();
                            object.set(number, value);
                        }
                        // An empty list keeps everything, and so does a missing one.
                        if let Some((names, keeps)) = names.as_ref().filter(|(names, _)| !names.is_empty()) {
                            object.0.retain(|(number, _)| names.contains(number) == *keeps);
                        }
                    }
                }
            }
            patch(&mut host, &texts).expect("a good patch");
            let expected = model.as_ref().map(Object::text);
            prop_assert_eq!(value(&mut host), expected);
        }
    }
}
