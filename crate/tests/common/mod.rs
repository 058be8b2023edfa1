//! A host for tests: keeps stored segments in a map and drives operations step by step.
#![allow(dead_code, reason = "every test binary uses its own part")]

use hedgerow::boundary::Shape;
use hedgerow::cache::{Cache, Fetch, SegmentId};
use hedgerow::error::Error;
use hedgerow::forest::{Forest, ROWS};
use hedgerow::hash::Hash;
use hedgerow::ingest::{Format, Ingest};
use hedgerow::json::push_string;
use hedgerow::output::Output;
use hedgerow::segment::{Sealed, Table};
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{Count, Diff, Find, Parts, Range, Scan, Tree, get};
use std::collections::BTreeMap;

pub type Change = (String, Option<String>, Option<String>);
pub type Rows = BTreeMap<String, String>;

pub struct Host {
    pub cache: Cache,
    pub stored: BTreeMap<SegmentId, (Vec<u8>, Vec<u8>)>,
    pub forest: Forest,
    pub root: Hash,
    pub shape: Shape,
    /// Bytes of work in a step.
    pub slice: usize,
    /// Segments that operations asked for.
    pub asked: Vec<SegmentId>,
    next: SegmentId,
}

impl Host {
    pub fn new(shape: Shape) -> Self {
        Self {
            cache: Cache::new(64 << 20),
            stored: BTreeMap::new(),
            forest: Forest::new(),
            root: Hash::ZERO,
            shape,
            slice: usize::MAX,
            asked: Vec::new(),
            next: 1,
        }
    }

    pub fn tree(&self) -> Tree {
        self.forest.tree(ROWS)
    }

    /// Forgets everything in memory, as a new process would.
    pub fn reopen(&mut self, cache_bytes: usize) {
        self.cache = Cache::new(cache_bytes);
        for (id, (_, table)) in &self.stored {
            self.cache.add_table(*id, Table::decode(table.clone()).expect("a stored table"));
        }
        self.asked.clear();
    }

    pub fn load(&mut self, ids: &[SegmentId]) {
        assert!(!ids.is_empty(), "an empty need");
        for id in ids {
            self.asked.push(*id);
            self.cache.load(*id, self.stored[id].0.clone());
        }
    }

    pub fn store(&mut self, sealed: Vec<Sealed>) {
        for segment in sealed {
            let bytes = (segment.bytes.clone(), segment.table.bytes().to_vec());
            self.stored.insert(self.next, bytes);
            self.cache.add_fresh(self.next, segment);
            self.cache.stored(self.next);
            self.next += 1;
        }
    }

    pub fn run<T>(
        &mut self,
        mut step: impl FnMut(&Cache, &mut Budget) -> Result<Step<T>, Error>,
    ) -> Result<T, Error> {
        loop {
            match step(&self.cache, &mut Budget::of(self.slice))? {
                Step::Done(done) => return Ok(done),
                Step::Need(ids) => self.load(&ids),
                Step::Yield => assert!(self.slice < usize::MAX, "a yield without need"),
            }
        }
    }

    pub fn drive(&mut self, ingest: &mut Ingest) -> Result<(), Error> {
        loop {
            let step = ingest.step(&self.cache, &mut Budget::of(self.slice))?;
            self.store(ingest.sealed());
            match step {
                Step::Done(()) => return Ok(()),
                Step::Need(ids) => self.load(&ids),
                Step::Yield => {}
            }
        }
    }

    /// Feeds blocks of JSON text and commits.
    pub fn ingest(&mut self, blocks: &[(String, Format)]) -> Result<(), Error> {
        let mut ingest = Ingest::new(self.forest.clone(), Vec::new(), self.shape);
        for (text, format) in blocks {
            ingest.feed(text.clone().into_bytes(), text.len(), Vec::new(), format.clone());
            self.drive(&mut ingest)?;
        }
        self.commit(ingest);
        Ok(())
    }

    pub fn put(&mut self, rows: &[(String, String)]) {
        self.put_blocks(rows, 100);
    }

    pub fn put_blocks(&mut self, rows: &[(String, String)], block: usize) {
        let blocks: Vec<_> = rows.chunks(block).map(|rows| (pairs(rows), Format::Pairs)).collect();
        self.ingest(&blocks).expect("good rows");
    }

    pub fn delete(&mut self, keys: &[String]) {
        self.ingest(&[(list(keys), Format::Deletes)]).expect("good keys");
    }

    pub fn delete_range(&mut self, range: &Range) {
        let mut ingest = Ingest::new(self.forest.clone(), Vec::new(), self.shape);
        ingest.drop_range(range.clone());
        self.drive(&mut ingest).expect("a range");
        self.commit(ingest);
    }

    pub fn commit(&mut self, mut ingest: Ingest) {
        ingest.finish();
        self.drive(&mut ingest).expect("a commit");
        let (root, forest) = ingest.committed().expect("a commit");
        (self.root, self.forest) = (root, forest.clone());
    }

    pub fn scan(&mut self, range: &Range, reverse: bool, limit: u64) -> Vec<(String, String)> {
        let parts = Parts { keys: true, values: true };
        let mut scan = Scan::new(self.tree(), range.clone(), reverse, limit, parts);
        let mut out = Output::new();
        self.run(|cache, budget| scan.step(cache, budget, &mut out)).expect("a scan");
        out.close();
        split(&out)
    }

    pub fn contents(&mut self) -> Rows {
        self.scan(&Range::ALL, false, u64::MAX).into_iter().collect()
    }

    pub fn get(&mut self, key: &str) -> Option<String> {
        let tree = self.tree();
        loop {
            let id = match get(&self.cache, tree, key.as_bytes()).expect("a get") {
                Fetch::Here(entry) => {
                    let entry = entry?;
                    assert!(!entry.tag.far, "an inline value");
                    return Some(String::from_utf8(entry.value.to_vec()).unwrap());
                }
                Fetch::At(id) => id,
            };
            self.load(&[id]);
        }
    }

    pub fn get_many(&mut self, keys: &[String]) -> Vec<Option<String>> {
        let mut find = Find::new(self.tree(), keys.iter().map(String::as_bytes));
        let (mut out, mut found) = (Output::new(), Vec::new());
        self.run(|cache, budget| find.step(cache, budget, &mut out, &mut found)).expect("a find");
        out.close();
        let values: Vec<serde::Value> = serde::parse(&out);
        assert_eq!(values.len(), found.len());
        let mut result = vec![None; keys.len()];
        for (value, position) in values.into_iter().zip(found) {
            result[position as usize] = Some(value.0);
        }
        result
    }

    /// The changes from `old` to the tree of rows: key, old and new value.
    pub fn diff(&mut self, old: Tree, range: &Range) -> Vec<Change> {
        let mut diff = Diff::new(old, self.tree(), range.clone());
        let mut out = Output::new();
        self.run(|cache, budget| diff.step(cache, budget, &mut out)).expect("a diff");
        out.close();
        let mut members = serde::parse(&out).into_iter().map(|value| value.0);
        let mut changes = Vec::new();
        while let Some(code) = members.next() {
            let mut next = || members.next().expect("a member");
            let key = unquote(&next());
            changes.push(match &*code {
                "0" => (key, None, Some(next())),
                "1" => (key, Some(next()), Some(next())),
                "2" => (key, Some(next()), None),
                other => panic!("change {other}"),
            });
        }
        changes
    }

    pub fn count(&mut self, range: &Range) -> u64 {
        let count = Count::new(self.tree(), range.clone());
        self.run(|cache, _| count.step(cache)).expect("a count")
    }
}

/// Splits the members of an output, which are framed by the core's own scanner (it has unit
/// tests of its own).
pub mod serde {
    use hedgerow::json::skip_value;
    use hedgerow::output::Output;

    pub struct Value(pub String);

    pub fn parse(out: &Output) -> Vec<Value> {
        let text = &out.text;
        let mut values = Vec::new();
        let mut at = 1;
        while text[at] != b']' {
            let end = skip_value(text, at).expect("output is JSON");
            values.push(Value(String::from_utf8(text[at..end].to_vec()).unwrap()));
            at = if text[end] == b',' { end + 1 } else { end };
        }
        assert_eq!(at + 1, text.len());
        values
    }
}

fn split(out: &Output) -> Vec<(String, String)> {
    let members = serde::parse(out);
    members.chunks(2).map(|pair| (unquote(&pair[0].0), pair[1].0.clone())).collect()
}

fn unquote(quoted: &str) -> String {
    let mut key = Vec::new();
    hedgerow::json::unquote(quoted.as_bytes(), &mut key).unwrap();
    String::from_utf8(key).unwrap()
}

fn quote(text: &str) -> String {
    let mut out = Vec::new();
    push_string(&mut out, text.as_bytes());
    String::from_utf8(out).unwrap()
}

pub fn pairs(rows: &[(String, String)]) -> String {
    let members: Vec<_> =
        rows.iter().map(|(key, value)| format!("{},{value}", quote(key))).collect();
    format!("[{}]", members.join(","))
}

pub fn list(keys: &[String]) -> String {
    let members: Vec<_> = keys.iter().map(|key| quote(key)).collect();
    format!("[{}]", members.join(","))
}

/// Issue-like rows: about 147 bytes of JSON each.
pub fn issue(index: usize) -> (String, String) {
    let id = format!("issue/{index:08}");
    let value = format!(
        "{{\"id\":\"{id}\",\"title\":\"The quick brown fox jumps over issue {index}\",\
         \"status\":\"open\",\"owner\":\"user{}\",\"modified\":{}}}",
        index % 97,
        1_700_000_000_000_u64 + index as u64
    );
    (id, value)
}
