//! Sequences of operations against a model. After each operation the store holds the rows of a
//! `BTreeMap`, has the root of a store made at once from these rows, and diffs from earlier states
//! are the true differences. Some tables come late, some chunks are at a remote, and garbage is collected.

use crate::input::Input;
use crate::op::Op;
use hedgerow::boundary::Shape;
use hedgerow::cache::Fetch;
use hedgerow::forest::INDEX;
use hedgerow::hash::Hash;
use hedgerow::index::{Definition, IndexScan, Wanted};
use hedgerow::ingest::{Format, Ingest};
use hedgerow::output::Output;
use hedgerow::tree::{MultiGet, Parts, Range, Tree, get};
use hedgerow_support::census::{counted, walked};
use hedgerow_support::collections::{self, FULL, USUAL};
use hedgerow_support::host::Host;
use hedgerow_support::output::{Expected, Value, changes_between};
use hedgerow_support::pace::Pace;
use hedgerow_support::rows;
use hedgerow_support::values::Values;

const MAX_OPS: usize = 16;

/// The indexes that a store may have, with the numbers of their columns.
const INDEXES: [(&str, usize); 4] = [
    (r#"["","/n"]"#, 1),
    (r#"["row/","/words","/n"]"#, 2),
    (r#"["","w/words"]"#, 1),
    (r#"["","/list","?"]"#, 1),
];

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    World::new(&mut input, None).run(&mut input);
}

fn holds(range: &Range, key: &str) -> bool {
    !range.key_is_before(key.as_bytes()) && !range.key_is_after(key.as_bytes())
}

/// A store and its model.
pub struct World {
    host: Host,
    model: Values,
    /// The commit, the tree and the rows at first and after each change.
    states: Vec<(Hash, Tree, Values)>,
    /// The number of columns of each index.
    columns: Vec<usize>,
}

impl World {
    /// Makes an empty store, whose shape `input` chooses.
    pub fn new(input: &mut Input<'_>, pace: Option<Pace>) -> Self {
        let target = input.one_of(&[64, 96, 128, 256, 1024, 4096]);
        let mut host = Host::new(Shape::with_target(target));
        host.pace = pace;
        let which = input.byte();
        let is_chosen = |at: &usize| which & 0x10 != 0 && which & (1 << at) != 0;
        let chosen: Vec<_> = (0..INDEXES.len()).filter(is_chosen).map(|at| INDEXES[at]).collect();
        host.indexes =
            chosen.iter().map(|(text, _)| Definition::parse(text).expect("a definition")).collect();
        let columns = chosen.into_iter().map(|(_, columns)| columns).collect();
        let states = vec![(host.root, Tree::EMPTY, Values::new())];
        Self { host, model: Values::new(), states, columns }
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
            Op::Reopen { cache_bytes, late } => {
                self.host.reopen(*cache_bytes);
                if *late {
                    self.host.forget_tables(|id| id % 3 != 0);
                }
                return false;
            }
            Op::MoveAway(nth) => self.host.move_leaves_away(*nth),
            Op::Collect { full, since } => self.collect(*full, *since),
            read => {
                self.read(read);
                return false;
            }
        }
        true
    }

    /// Collects the chunks that only the states before one of them reach.
    fn collect(&mut self, full: bool, since: usize) {
        if self.host.root == Hash::ZERO {
            return;
        }
        self.host.bring_tables(None);
        self.states.drain(..since % self.states.len());
        let pins: Vec<_> = self.states.iter().map(|(root, ..)| *root).collect();
        let pins: Vec<_> = pins.into_iter().filter(|root| *root != Hash::ZERO).collect();
        collections::collect(&mut self.host, if full { FULL } else { USUAL }, &pins);
    }

    /// Makes a store of the same rows at once.
    fn fresh(&self) -> Host {
        let mut fresh = Host::new(self.host.shape);
        fresh.indexes.clone_from(&self.host.indexes);
        fresh.put_values(&self.model);
        fresh
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
            Op::ScanIndex { nth, range, reverse, limit, parts } => {
                if self.columns.is_empty() || self.host.root == Hash::ZERO {
                    return;
                }
                let nth = nth % self.columns.len();
                let columns = self.columns[nth];
                let wanted =
                    Wanted { parts: *parts, secondary: true, reverse: *reverse, limit: *limit };
                let scanned = |host: &mut Host| {
                    let index = host.forest.tree(&host.indexes[nth].name(INDEX));
                    let mut scan =
                        IndexScan::new(index, columns, host.tree(), range.clone(), wanted);
                    let mut out = Output::new();
                    host.run(|cache, budget| scan.step(cache, budget, &mut out)).expect("a scan");
                    out.close();
                    (index.root, out)
                };
                let (expected, found) = (scanned(&mut self.fresh()), scanned(&mut self.host));
                assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{op:?}");
            }
            Op::Count(range) => {
                let rows = self.model.keys().filter(|key| holds(range, key)).count();
                assert_eq!(self.host.count(range), rows as u64, "{range:?}");
            }
            Op::Diff { since, range } => {
                let state = self.states[since % self.states.len()].clone();
                self.check_diff(state, range, op);
            }
            // It counts the nodes that are here.
            _ if self.host.has_remote() => {}
            _ => {
                self.host.bring_tables(None);
                let expected = walked(&self.host, tree);
                assert_eq!(counted(&mut self.host, tree), expected);
            }
        }
    }

    /// Compares a diff from an earlier state, and one back to it, with the true difference.
    fn check_diff(&mut self, (_, before, rows): (Hash, Tree, Values), range: &Range, op: &Op) {
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
        let fresh = self.fresh();
        assert_eq!(fresh.tree().root, tree.root, "the tree after {op:?}");
        assert_eq!(fresh.root, self.host.root, "the commit after {op:?}");
        let before = self.states[self.states.len() - 1].clone();
        self.check_diff(before, &Range::ALL, op);
        self.states.push((self.host.root, tree, self.model.clone()));
    }
}
