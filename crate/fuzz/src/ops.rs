//! Sequences of operations against a model. After each operation the store holds the rows of a
//! `BTreeMap`, has the root of a store made at once from these rows, and diffs from earlier states
//! are the true differences.

use crate::input::Input;
use hedgerow::boundary::Shape;
use hedgerow::cache::Fetch;
use hedgerow::ingest::{Format, Ingest};
use hedgerow::output::Output;
use hedgerow::tree::{MultiGet, Parts, Range, Tree, get};
use hedgerow::value::Kind;
use hedgerow_support::census::{counted, walked};
use hedgerow_support::host::Host;
use hedgerow_support::output::{Expected, Value, changes_between};
use hedgerow_support::pace::Pace;
use hedgerow_support::rows;
use hedgerow_support::values::Values;
use std::ops::Bound;

const MAX_OPS: usize = 16;

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    World::new(&mut input, None).run(&mut input);
}

/// An operation on a store. To add a kind: read it in [`Op::read`], do it in [`World::apply`].
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
    /// Between the current state and the state after this many changes.
    Diff {
        since: usize,
        range: Range,
    },
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
            _ => match input.byte() & 3 {
                0 | 2 => Self::Count(range(input)),
                1 => Self::Census,
                _ => Self::Diff { since: input.byte().into(), range: range(input) },
            },
        }
    }
}

fn list<T>(input: &mut Input<'_>, len: usize, read: fn(&mut Input<'_>) -> T) -> Vec<T> {
    (0..len).map(|_| read(input)).collect()
}

/// Makes a key of any length from two bytes of the input.
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
    !range.key_is_before(key.as_bytes()) && !range.key_is_after(key.as_bytes())
}

/// A store and its model.
pub struct World {
    host: Host,
    model: Values,
    /// The tree and the rows at first and after each change.
    states: Vec<(Tree, Values)>,
}

impl World {
    /// Makes an empty store, whose shape `input` chooses.
    pub fn new(input: &mut Input<'_>, pace: Option<Pace>) -> Self {
        let target = input.one_of(&[64, 96, 128, 256, 1024, 4096]);
        let mut host = Host::new(Shape::with_target(target));
        host.pace = pace;
        let states = vec![(Tree::EMPTY, Values::new())];
        Self { host, model: Values::new(), states }
    }

    /// Does the operations of `input`, and checks the store after each change.
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

    fn feed(&mut self, ingest: &mut Ingest, rows: &[(String, Value)]) {
        let rows = rows.iter().map(|(key, value)| (key, value));
        self.host.feed_values(ingest, rows).expect("good rows");
    }

    /// Does `op`; returns whether it changes the store.
    fn apply(&mut self, op: &Op) -> bool {
        match op {
            Op::Put { rows, block } => {
                let mut ingest = self.host.ingest();
                for rows in rows.chunks(*block) {
                    self.feed(&mut ingest, rows);
                }
                self.host.finish(&mut ingest).expect("a commit");
                self.model.extend(rows.iter().cloned());
            }
            Op::Delete(keys) => {
                self.host.delete(keys);
                self.model.retain(|key, _| !keys.contains(key));
            }
            Op::DeleteRange(range) => {
                self.host.delete_range(range);
                self.model.retain(|key, _| !holds(range, key));
            }
            Op::Mixed { rows, range, keys } => {
                let mut ingest = self.host.ingest();
                self.feed(&mut ingest, rows);
                ingest.drop_range(range.clone());
                self.host.drive(&mut ingest).expect("a deletion");
                self.feed(&mut ingest, &rows[..rows.len() / 2]);
                let keys_text = rows::list(keys);
                self.host.feed(&mut ingest, &keys_text, &Format::Deletes).expect("good keys");
                self.host.finish(&mut ingest).expect("a commit");
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
        let tree = self.host.tree();
        match op {
            Op::Get(key) => {
                let found = self
                    .host
                    .fetch(|cache| {
                        Ok(match get(cache, tree, key.as_bytes())? {
                            Fetch::At(want) => Fetch::At(want),
                            Fetch::Here(entry) => Fetch::Here(entry.map(|entry| {
                                assert_eq!(entry.key.bytes(), key.as_bytes());
                                (entry.tag.kind, entry.value_ref().is_none(), entry.value.to_vec())
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
                let mut find = MultiGet::new(tree, keys.iter().map(String::as_bytes));
                let (mut out, mut found) = (Output::new(), Vec::new());
                let step = self.host.run(|c, budget| find.step(c, budget, &mut out, &mut found));
                step.expect("a find");
                out.close();
                let mut sorted: Vec<_> = keys.iter().zip(0_u32..).collect();
                sorted.sort();
                sorted.retain(|(key, _)| self.model.contains_key(*key));
                assert!(sorted.iter().map(|(_, position)| position).eq(&found));
                let mut expected = Expected::default();
                for (key, _) in sorted {
                    expected.value(&self.model[key]);
                }
                expected.check(&out, op);
            }
            Op::Scan { range, reverse, limit, parts } => {
                let (out, result) = self.host.scanned(tree, range, *reverse, *limit, *parts);
                result.expect("a scan");
                let mut rows: Vec<_> =
                    self.model.iter().filter(|(key, _)| holds(range, key)).collect();
                if *reverse {
                    rows.reverse();
                }
                rows.truncate(usize::try_from(*limit).unwrap_or(usize::MAX));
                Expected::entries(rows.into_iter(), *parts).check(&out, op);
            }
            Op::Count(range) => {
                let rows = self.model.keys().filter(|key| holds(range, key)).count();
                assert_eq!(self.host.count(range), rows as u64, "{range:?}");
            }
            Op::Diff { since, range } => {
                let state = self.states[since % self.states.len()].clone();
                self.check_diff(state, range, op);
            }
            _ => {
                let expected = walked(&self.host, tree);
                assert_eq!(counted(&mut self.host, tree), expected);
            }
        }
    }

    /// Compares a diff from an earlier state, and one back to it, with the true difference.
    fn check_diff(&mut self, (before, rows): (Tree, Values), range: &Range, op: &Op) {
        let in_range = |(key, _): &(&String, &Value)| holds(range, key);
        for back in [false, true] {
            let (mut old, mut new) = ((before, &rows), (self.host.tree(), &self.model));
            if back {
                std::mem::swap(&mut old, &mut new);
            }
            let mut expected = Expected::default();
            let [a, b] = [old.1, new.1].map(|rows| rows.iter().filter(in_range));
            for change in changes_between(a, b) {
                expected.change(&change);
            }
            let out = self.host.differ(old.0, new.0, range).expect("a diff");
            expected.check(&out, &("a diff", back, op));
        }
    }

    /// Compares the store with its model, and its root with the root of a fresh build.
    fn check(&mut self, op: &Op) {
        let all = Parts { keys: true, values: true };
        let scan = Op::Scan { range: Range::ALL, reverse: false, limit: u64::MAX, parts: all };
        self.read(&scan);
        let tree = self.host.tree();
        assert_eq!(tree.count, self.model.len() as u64, "the count after {op:?}");
        let mut fresh = Host::new(self.host.shape);
        fresh.put_values(&self.model);
        assert_eq!(fresh.tree().root, tree.root, "the tree after {op:?}");
        assert_eq!(fresh.root, self.host.root, "the commit after {op:?}");
        let before = self.states[self.states.len() - 1].clone();
        self.check_diff(before, &Range::ALL, op);
        self.states.push((tree, self.model.clone()));
    }
}
