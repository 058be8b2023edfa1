//! Sequences of operations against a model: after each of them the store holds what a
//! `BTreeMap` holds, and its root is that of a store that was given the same rows at once.

use crate::host::{Host, Pace};
use crate::input::Input;
use hedgerow::boundary::Shape;
use hedgerow::cache::Fetch;
use hedgerow::forest::{Forest, ROWS};
use hedgerow::ingest::{ByteValue, Format, Ingest};
use hedgerow::json::push_string;
use hedgerow::output::{Mark, Output};
use hedgerow::tree::{Census, Count, Find, Parts, Range, Scan, Tree, get};
use hedgerow::value::Kind;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Bound;

/// A value: what its bytes are, and they.
pub type Value = (Kind, Vec<u8>);

type Model = BTreeMap<String, Value>;

const MAX_OPS: usize = 16;

/// See the module's text.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    World::new(&mut input, None).run(&mut input);
}

/// Something done to a store. To add a kind: read it in [`Op::read`], do it in
/// [`World::apply`].
#[derive(Clone, Debug)]
enum Op {
    Put {
        rows: Vec<(String, Value)>,
        block: usize,
    },
    Delete(Vec<String>),
    DeleteRange(Range),
    /// Several blocks in one commit.
    Mixed {
        rows: Vec<(String, Value)>,
        range: Range,
        keys: Vec<String>,
    },
    Reopen(usize),
    Get(String),
    Find(Vec<String>),
    Scan {
        range: Range,
        reverse: bool,
        limit: u64,
        parts: Parts,
    },
    Count(Range),
    Census,
}

impl Op {
    fn read(input: &mut Input<'_>) -> Self {
        match input.below(16) {
            0..=3 => {
                let few = input.below(4);
                Self::Put { rows: list(input, few, row), block: 1 + few }
            }
            4 | 5 => {
                let many = input.below(64);
                Self::Put { rows: list(input, many, row), block: 1 + input.below(40) }
            }
            6 | 7 => {
                let few = 1 + input.below(4);
                Self::Delete(list(input, few, key))
            }
            8 => {
                let many = input.below(64);
                Self::Delete(list(input, many, key))
            }
            9 => Self::DeleteRange(range(input)),
            10 => {
                let (many, few) = (input.below(40), input.below(10));
                let (rows, range) = (list(input, many, row), range(input));
                Self::Mixed { rows, range, keys: list(input, few, key) }
            }
            11 => Self::Reopen(input.one_of(&[0, 1000, 1 << 20, 4 << 20])),
            12 => Self::Get(key(input)),
            13 => {
                let many = input.below(60);
                Self::Find(list(input, many, key))
            }
            14 => {
                let how = input.byte();
                Self::Scan {
                    range: range(input),
                    reverse: how & 1 != 0,
                    limit: if how & 2 != 0 { u64::MAX } else { input.byte().into() },
                    parts: Parts { keys: how & 4 == 0, values: how & 8 == 0 },
                }
            }
            _ => {
                if input.byte() & 1 == 0 {
                    Self::Count(range(input))
                } else {
                    Self::Census
                }
            }
        }
    }
}

fn list<T>(input: &mut Input<'_>, len: usize, read: fn(&mut Input<'_>) -> T) -> Vec<T> {
    (0..len).map(|_| read(input)).collect()
}

/// Keys of every length and from few to many: two bytes of the input give one.
fn key(input: &mut Input<'_>) -> String {
    let [kind, number] = [input.byte(), input.byte()];
    match kind % 8 {
        0 => format!("{number:03}"),
        1 => format!("row/{:05}", usize::from(kind) * 256 + usize::from(number)),
        2 => "ab".repeat(number.into()),
        3 => format!("{}{number}", "x".repeat(1020)),
        4 => char::from_u32(u32::from(number) * 0x110 + 0x1).unwrap_or('\u{e000}').to_string(),
        5 => format!("é{}\u{0}\"\\", number % 16),
        6 => format!("{:02x}{}", number, "/tail".repeat(usize::from(kind) / 8)),
        _ => String::new(),
    }
}

fn value(input: &mut Input<'_>) -> Value {
    let (how, fill) = (input.byte(), input.byte());
    let len = match how % 16 {
        0..=5 => usize::from(how),
        6 | 7 => 3 * usize::from(how),
        8 => 4095,
        9 => 4096,
        10 => 4097,
        11 => 16 * usize::from(how),
        12 if how == 12 => (64 << 10) + usize::from(fill) - 128,
        12 if how == 28 => (128 << 10) + usize::from(fill) - 128,
        _ => 0,
    };
    if how & 0x10 != 0 {
        return (Kind::Bytes, vec![fill; len]);
    }
    let text = match len {
        0 => fill.to_string(),
        1 => "null".to_owned(),
        _ => format!("\"{}\"", char::from(b'a' + fill % 26).to_string().repeat(len - 2)),
    };
    (Kind::Json, text.into_bytes())
}

fn row(input: &mut Input<'_>) -> (String, Value) {
    (key(input), value(input))
}

fn range(input: &mut Input<'_>) -> Range {
    let how = input.byte();
    if how >= 0xf0 {
        let mut prefix = key(input).into_bytes();
        prefix.truncate(3);
        return Range::prefix(&prefix);
    }
    let mut bound = |how: u8| match how & 3 {
        0 => Bound::Unbounded,
        1 => Bound::Excluded(key(input).into_bytes()),
        _ => Bound::Included(key(input).into_bytes()),
    };
    Range { lower: bound(how), upper: bound(how >> 2) }
}

fn holds(range: &Range, key: &str) -> bool {
    !range.is_after(key.as_bytes()) && !range.is_before(key.as_bytes())
}

fn quoted(text: &mut Vec<u8>, key: &str) {
    text.push(if text.is_empty() { b'[' } else { b',' });
    push_string(text, key.as_bytes());
}

fn closed(mut text: Vec<u8>) -> Vec<u8> {
    text.extend_from_slice(if text.is_empty() { b"[]" } else { b"]" });
    text
}

/// A block of pairs, as a host feeds it.
fn pairs(rows: &[(String, Value)]) -> (Vec<u8>, usize, Vec<ByteValue>) {
    let (mut text, mut bytes, mut values) = (vec![], vec![], vec![]);
    for (row, (key, (kind, value))) in rows.iter().enumerate() {
        quoted(&mut text, key);
        text.push(b',');
        match kind {
            Kind::Json => text.extend_from_slice(value),
            Kind::Bytes => {
                text.push(b'0');
                let (start, len) = (bytes.len() as u32, value.len() as u32);
                values.push(ByteValue { row: row as u32, start, len });
                bytes.extend_from_slice(value);
            }
        }
    }
    let text = closed(text);
    for value in &mut values {
        value.start += text.len() as u32;
    }
    let text_len = text.len();
    ([text, bytes].concat(), text_len, values)
}

fn feed_rows(ingest: &mut Ingest, rows: &[(String, Value)]) {
    let (bytes, text_len, values) = pairs(rows);
    ingest.feed(bytes, text_len, values, Format::Pairs);
}

fn feed_deletes(ingest: &mut Ingest, keys: &[String]) {
    let mut text = Vec::new();
    for key in keys {
        quoted(&mut text, key);
    }
    let text = closed(text);
    let len = text.len();
    ingest.feed(text, len, Vec::new(), Format::Deletes);
}

/// What a read should hand out.
#[derive(Debug, Default, PartialEq, Eq)]
struct Expected {
    text: Vec<u8>,
    bytes: Vec<u8>,
    marks: Vec<Mark>,
    members: u32,
}

impl Expected {
    fn separate(&mut self) {
        self.text.push(if self.members == 0 { b'[' } else { b',' });
        self.members += 1;
    }

    fn key(&mut self, key: &str) {
        self.separate();
        push_string(&mut self.text, key.as_bytes());
    }

    fn value(&mut self, (kind, value): &Value) {
        self.separate();
        if *kind == Kind::Json {
            self.text.extend_from_slice(value);
            return;
        }
        self.text.push(b'0');
        let (start, len) = (self.bytes.len() as u32, value.len() as u32);
        self.marks.push(Mark { member: self.members - 1, start, len });
        self.bytes.extend_from_slice(value);
    }

    fn check(mut self, mut out: Output, context: &dyn Debug) {
        out.close();
        self.text = closed(self.text);
        assert!(self.text == out.text, "text of {context:?}");
        assert!(self.bytes == out.bytes, "bytes of {context:?}");
        assert_eq!(self.marks, out.marks, "marks of {context:?}");
        assert_eq!(self.members, out.members());
    }
}

/// A store and its model.
pub struct World {
    host: Host,
    model: Model,
}

impl World {
    /// An empty store, whose shape `input` chooses.
    pub fn new(input: &mut Input<'_>, pace: Option<Pace>) -> Self {
        let target = input.one_of(&[64, 96, 128, 256, 1024, 4096]);
        let mut host = Host::new(Shape::with_target(target));
        host.pace = pace;
        Self { host, model: Model::new() }
    }

    /// Does all that `input` says, and checks the store after each change.
    pub fn run(&mut self, input: &mut Input<'_>) {
        for _ in 0..MAX_OPS {
            if input.is_empty() {
                break;
            }
            let op = Op::read(input);
            if self.apply(&op) {
                self.check(&op);
            }
        }
    }

    fn tree(&self) -> Tree {
        self.host.forest.tree(ROWS)
    }

    fn ingest(&self) -> Ingest {
        Ingest::new(self.host.forest.clone(), Vec::new(), self.host.shape)
    }

    /// Does `op`; returns whether it changes the store.
    fn apply(&mut self, op: &Op) -> bool {
        match op {
            Op::Put { rows, block } => {
                let mut ingest = self.ingest();
                for rows in rows.chunks(*block) {
                    feed_rows(&mut ingest, rows);
                    self.host.ingest(&mut ingest).expect("good rows");
                }
                self.host.finish(ingest).expect("a commit");
                self.model.extend(rows.iter().cloned());
            }
            Op::Delete(keys) => {
                let mut ingest = self.ingest();
                feed_deletes(&mut ingest, keys);
                self.host.ingest(&mut ingest).expect("good keys");
                self.host.finish(ingest).expect("a commit");
                self.model.retain(|key, _| !keys.contains(key));
            }
            Op::DeleteRange(range) => {
                let mut ingest = self.ingest();
                ingest.drop_range(range.clone());
                self.host.ingest(&mut ingest).expect("a deletion");
                self.host.finish(ingest).expect("a commit");
                self.model.retain(|key, _| !holds(range, key));
            }
            Op::Mixed { rows, range, keys } => {
                let mut ingest = self.ingest();
                feed_rows(&mut ingest, rows);
                self.host.ingest(&mut ingest).expect("good rows");
                ingest.drop_range(range.clone());
                self.host.ingest(&mut ingest).expect("a deletion");
                feed_rows(&mut ingest, &rows[..rows.len() / 2]);
                self.host.ingest(&mut ingest).expect("good rows");
                feed_deletes(&mut ingest, keys);
                self.host.ingest(&mut ingest).expect("good keys");
                self.host.finish(ingest).expect("a commit");
                self.model.extend(rows.iter().cloned());
                self.model.retain(|key, _| !holds(range, key));
                self.model.extend(rows[..rows.len() / 2].iter().cloned());
                self.model.retain(|key, _| !keys.contains(key));
            }
            Op::Reopen(cache_bytes) => {
                self.host.reopen(*cache_bytes);
                return false;
            }
            read => {
                self.read(read);
                return false;
            }
        }
        true
    }

    fn read(&mut self, op: &Op) {
        let tree = self.tree();
        let (mut out, mut expected) = (Output::new(), Expected::default());
        match op {
            Op::Get(key) => {
                let found = self
                    .host
                    .fetch(|cache| {
                        Ok(match get(cache, tree, key.as_bytes())? {
                            Fetch::At(id) => Fetch::At(id),
                            Fetch::Here(entry) => Fetch::Here(entry.map(|entry| {
                                assert_eq!(entry.key, key.as_bytes());
                                (entry.tag.kind, entry.far().is_none(), entry.value.to_vec())
                            })),
                        })
                    })
                    .expect("a get");
                let model = self.model.get(key);
                assert_eq!(found.is_some(), model.is_some());
                if let (Some((kind, true, value)), Some(model)) = (found, model) {
                    assert_eq!((kind, value), *model);
                }
            }
            Op::Find(keys) => {
                let mut find = Find::new(tree, keys.iter().map(String::as_bytes));
                let mut found = Vec::new();
                let step = self.host.read(|c, budget| find.step(c, budget, &mut out, &mut found));
                step.expect("a find");
                let mut sorted: Vec<_> = keys.iter().zip(0_u32..).collect();
                sorted.sort();
                sorted.retain(|(key, _)| self.model.contains_key(*key));
                assert!(sorted.iter().map(|(_, position)| position).eq(&found));
                for (key, _) in sorted {
                    expected.value(&self.model[key]);
                }
                expected.check(out, op);
            }
            Op::Scan { range, reverse, limit, parts } => {
                let mut scan = Scan::new(tree, range.clone(), *reverse, *limit, *parts);
                self.host.read(|c, budget| scan.step(c, budget, &mut out)).expect("a scan");
                let mut rows: Vec<_> =
                    self.model.iter().filter(|(key, _)| holds(range, key)).collect();
                if *reverse {
                    rows.reverse();
                }
                rows.truncate(usize::try_from(*limit).unwrap_or(usize::MAX));
                for (key, value) in rows {
                    if parts.keys {
                        expected.key(key);
                    }
                    if parts.values {
                        expected.value(value);
                    }
                }
                expected.check(out, op);
            }
            Op::Count(range) => {
                let count = Count::new(tree, range.clone());
                let count = self.host.read(|cache, _| count.step(cache)).expect("a count");
                let rows = self.model.keys().filter(|key| holds(range, key)).count();
                assert_eq!(count, rows as u64, "{range:?}");
            }
            _ => {
                let mut census = Census::new(tree);
                self.host.read(|cache, budget| census.step(cache, budget)).expect("a census");
            }
        }
    }

    /// Compares the store with its model, and its root with that of a fresh build.
    fn check(&mut self, op: &Op) {
        let all = Parts { keys: true, values: true };
        let scan = Op::Scan { range: Range::ALL, reverse: false, limit: u64::MAX, parts: all };
        self.read(&scan);
        let tree = self.tree();
        assert_eq!(tree.count, self.model.len() as u64, "the count after {op:?}");
        let rows: Vec<_> = self.model.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        let mut fresh = Host::new(self.host.shape);
        let mut ingest = Ingest::new(Forest::new(), Vec::new(), fresh.shape);
        feed_rows(&mut ingest, &rows);
        fresh.ingest(&mut ingest).expect("good rows");
        fresh.finish(ingest).expect("a commit");
        assert_eq!(fresh.forest.tree(ROWS).root, tree.root, "the tree after {op:?}");
        assert_eq!(fresh.root, self.host.root, "the commit after {op:?}");
    }
}
