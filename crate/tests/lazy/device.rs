//! A remote with all rows, and a device that has the chunks that it has read.

use hedgerow::batch::Batch;
use hedgerow::boundary::Shape;
use hedgerow::cache::{Cache, Fetch, Source, Want};
use hedgerow::collect::{Collect, Thoroughness};
use hedgerow::delta::Encoder;
use hedgerow::error::Error;
use hedgerow::forest::Forest;
use hedgerow::hash::Hash;
use hedgerow::lazy::{Leaves, NewNodes, NodeAt, Taken, land_nodes};
use hedgerow::node::Node;
use hedgerow::output::Output;
use hedgerow::segment::{Packer, Sealed, Table};
use hedgerow::step::{Budget, Step};
use hedgerow::tree::{Diff, Merge, MultiGet, Parts, Range, Scan, Tree, get};
use hedgerow::value::Kind;
use hedgerow_support::store::{a_key, build};
use std::collections::BTreeMap;
use std::ops::RangeBounds;

/// A leaf of the remote's tree.
pub struct FoundLeaf {
    pub hash: Hash,
    pub last_key: Vec<u8>,
    pub count: u64,
    pub bytes: Vec<u8>,
}

/// A remote with all rows.
pub struct Remote {
    pub rows: BTreeMap<String, String>,
    pub tree: Tree,
    chunks: BTreeMap<[u8; 32], Vec<u8>>,
    /// The record of each internal node.
    nodes: BTreeMap<[u8; 32], (u8, Vec<u8>)>,
}

impl Remote {
    pub fn new(rows: BTreeMap<String, String>) -> Self {
        let sorted: Vec<_> = rows.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        let (tree, mut packer) = build(&sorted);
        packer.seal();
        let mut cache = Cache::new(usize::MAX);
        let mut chunks = BTreeMap::new();
        for (id, sealed) in (1..).zip(packer.take_sealed()) {
            for at in 0..sealed.table.len() {
                let bytes = sealed.table.chunk(&sealed.bytes, at).into_owned();
                chunks.insert(sealed.table.hash(at).0, bytes);
            }
            cache.add_fresh(id, sealed);
        }
        let mut nodes = BTreeMap::new();
        let mut walk = NewNodes::new(Tree::EMPTY, tree);
        let mut bytes = Vec::new();
        while walk.step(&cache, &mut Budget::of(usize::MAX)).expect("all is here") != Step::Done(())
        {
        }
        bytes.extend(walk.take());
        let mut at = 0;
        while at < bytes.len() {
            let len = usize::from(u16::from_le_bytes([bytes[at + 1], bytes[at + 2]]));
            let node = &bytes[at + 3..at + 3 + len];
            let end = at + 3 + len + 2 * usize::from(u16::from_le_bytes([node[2], node[3]]));
            nodes.insert(Hash::of(node).0, (bytes[at], bytes[at + 1..end].to_vec()));
            at = end;
        }
        Self { rows, tree, chunks, nodes }
    }

    /// Makes a cache with all chunks in memory.
    pub fn cache(&self) -> Cache {
        let mut cache = Cache::new(usize::MAX);
        for (id, (hash, bytes)) in (1..).zip(&self.chunks) {
            cache.add_fresh(id, Sealed::of_one(&Hash(*hash), bytes));
        }
        cache
    }

    /// Joins the records of all nodes of a level and above.
    pub fn records(&self, least: u8) -> Vec<u8> {
        let wanted = self.nodes.values().filter(|(level, _)| *level >= least);
        wanted.flat_map(|(_, record)| record.clone()).collect()
    }

    /// Counts all nodes.
    pub fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    /// Finds the nth leaf.
    pub fn leaf(&self, nth: usize) -> FoundLeaf {
        let mut leaves: Vec<_> = self
            .chunks
            .iter()
            .filter(|(_, bytes)| bytes[0] == 0)
            .map(|(hash, bytes)| {
                let node = Node::decode(bytes).expect("a leaf");
                FoundLeaf {
                    hash: Hash(*hash),
                    last_key: node.last_key().to_vec(),
                    count: node.total(),
                    bytes: bytes.clone(),
                }
            })
            .collect();
        leaves.sort_by(|a, b| a.last_key.cmp(&b.last_key));
        leaves.remove(nth)
    }

    /// Encodes the puts of a range of rows as a delta, all with another value if it is given.
    pub fn delta(&self, range: impl RangeBounds<String>, value: Option<&str>) -> Vec<u8> {
        let mut encoder = Encoder::new();
        for (key, own) in self.rows.range(range) {
            let value = value.unwrap_or(own);
            encoder.put(a_key(key), Kind::Json, value.len());
            encoder.out().extend_from_slice(value.as_bytes());
        }
        encoder.end();
        encoder.out().clone()
    }
}

/// A device that has the chunks that it has read.
pub struct Device<'r> {
    remote: &'r Remote,
    pub cache: Cache,
    pub tree: Tree,
    commit: Hash,
    stored: BTreeMap<u64, (Vec<u8>, Table)>,
    next: u64,
    /// The chunks fetched, and the times that some were asked for at once.
    pub fetched: usize,
    pub rounds: usize,
}

impl<'r> Device<'r> {
    /// Makes a device that has the nodes above level 1.
    pub fn new(remote: &'r Remote) -> Self {
        let mut device = Self {
            remote,
            cache: Cache::new(64 << 20),
            tree: remote.tree,
            commit: Hash::ZERO,
            stored: BTreeMap::new(),
            next: 1,
            fetched: 0,
            rounds: 0,
        };
        let top = land_nodes(&device.cache, &remote.records(2), Taken::Below(remote.tree.root))
            .expect("records");
        device.store(top);
        device
    }

    fn store(&mut self, sealed: Vec<Sealed>) {
        for segment in sealed {
            self.stored.insert(self.next, (segment.bytes.clone(), segment.table.clone()));
            self.cache.add_fresh(self.next, segment);
            self.cache.stored(self.next);
            self.next += 1;
        }
    }

    /// Loads wants: from here, or from the remote.
    fn answer(&mut self, wanted: &[Want]) {
        assert!(!wanted.is_empty(), "an empty need");
        self.rounds += usize::from(wanted.iter().any(|want| want.is_remote()));
        for want in wanted {
            let (segment, from) = match want.source() {
                Source::Segment(id) => {
                    self.cache.load(*want, self.stored[&id].0.clone());
                    continue;
                }
                Source::Chunk { segment, from, to } => {
                    let bytes = &self.stored[&segment].0[from as usize..to as usize];
                    self.cache.load(*want, bytes.to_vec());
                    continue;
                }
                Source::Remote { segment, from, .. } => (segment, from),
                other => panic!("{other:?}: all tables are here"),
            };
            let table = &self.stored[&segment].1;
            let at = table.chunk_at(from as usize).expect("a chunk");
            assert!(table.is_remote(at));
            let hash = table.hash(at);
            assert_eq!(
                table.chunk_len(at),
                self.remote.chunks[&hash.0].len(),
                "its length is told"
            );
            self.fetched += 1;
            self.fetch(hash);
        }
    }

    fn fetch(&mut self, hash: Hash) {
        if let Some((_, record)) = self.remote.nodes.get(&hash.0) {
            let made = land_nodes(&self.cache, record, Taken::Known).expect("a record");
            self.store(made);
            return;
        }
        // As in the host, the parent, which is here, gives the last key and the number of rows.
        let (last_key, count) = self.told(&hash);
        let mut leaves = Leaves::new();
        let text = String::from_utf8(last_key.clone()).expect("a key");
        // Some more rows than the leaf has.
        let up_to = self.remote.rows.range(..=text.clone()).rev().take(count as usize + 9);
        let first = up_to.last().expect("a row").0.clone();
        leaves.add(&self.remote.delta(first..=text, None)).expect("a delta");
        leaves.sort();
        assert!(leaves.make(&NodeAt { hash, last_key: &last_key, count }));
        let made = leaves.take();
        self.store(made);
    }

    fn told(&self, hash: &Hash) -> (Vec<u8>, u64) {
        for (bytes, table) in self.stored.values() {
            for at in (0..table.len()).filter(|at| !table.is_remote(*at)) {
                let chunk = table.chunk(bytes, at);
                let Ok(Node::Inner(inner)) = Node::decode(&chunk) else {
                    continue;
                };
                if let Some(child) =
                    (0..inner.len()).map(|at| inner.child(at)).find(|child| child.hash == *hash)
                {
                    return (child.key.bytes().to_vec(), child.count);
                }
            }
        }
        panic!("no parent is here");
    }

    /// Steps an operation to its end.
    pub fn run<T>(
        &mut self,
        mut step: impl FnMut(&Cache, &mut Budget) -> Result<Step<T>, Error>,
    ) -> Result<T, Error> {
        for _ in 0..100_000 {
            match step(&self.cache, &mut Budget::of(1 << 20))? {
                Step::Done(done) => return Ok(done),
                Step::Need(wanted) => self.answer(&wanted),
                Step::Yield => {}
            }
        }
        panic!("no end");
    }

    pub fn get(&mut self, key: &str) -> Option<String> {
        loop {
            let want = match get(&self.cache, self.tree, key.as_bytes()).expect("it is sound") {
                Fetch::Here(entry) => {
                    return entry
                        .map(|entry| String::from_utf8(entry.value.to_vec()).expect("text"));
                }
                Fetch::At(want) => want,
            };
            self.answer(&[want]);
        }
    }

    pub fn get_many(&mut self, keys: &[String]) -> usize {
        let mut search = MultiGet::new(self.tree, keys.iter().map(String::as_bytes));
        let (mut out, mut found) = (Output::new(), Vec::new());
        self.run(|cache, budget| search.step(cache, budget, &mut out, &mut found)).expect("sound");
        found.len()
    }

    /// Reads the keys of a range.
    pub fn scan(&mut self, range: Range, reverse: bool) -> String {
        let parts = Parts { keys: true, values: false };
        let mut scan = Scan::new(self.tree, range, reverse, u64::MAX, parts);
        let mut out = Output::new();
        self.run(|cache, budget| scan.step(cache, budget, &mut out)).expect("it is sound");
        out.close();
        String::from_utf8(out.keys.clone()).expect("text").trim_matches(['[', ']']).to_owned()
    }

    pub fn merge(&mut self, batch: &Batch) -> Tree {
        let mut merge = Merge::new(self.tree, batch, Shape::STORED);
        let tree = self.run(|cache, budget| merge.step(cache, batch, budget)).expect("it is sound");
        merge.packer().seal();
        let made = merge.packer().take_sealed();
        self.store(made);
        tree
    }

    /// Counts the members of a diff.
    pub fn diff(&mut self, old: Tree, new: Tree) -> u32 {
        let mut diff = Diff::new(old, new, Range::ALL);
        let mut out = Output::new();
        self.run(|cache, budget| diff.step(cache, budget, &mut out)).expect("it is sound");
        out.members()
    }

    /// Collects the chunks that the tree does not reach.
    pub fn collect(&mut self, thoroughness: Thoroughness) {
        let mut forest = Forest::new();
        forest.set_rows(self.tree);
        let mut packer = Packer::new();
        self.commit = forest.commit(&mut packer).expect("it is small");
        packer.seal();
        self.store(packer.take_sealed());
        let mut collect = Collect::new(&self.cache, thoroughness);
        collect.add_commit(self.commit);
        loop {
            let exchange = self.run(|cache, budget| collect.step(cache, budget)).expect("sound");
            let Some(exchange) = exchange else { return };
            self.store(exchange.sealed);
            for id in exchange.gone {
                self.cache.remove(id);
                self.stored.remove(&id);
            }
        }
    }

    pub fn chunks_here(&self) -> usize {
        let mut hashes: Vec<_> = self
            .stored
            .values()
            .flat_map(|(_, table)| {
                (0..table.len()).filter(|at| !table.is_remote(*at)).map(|at| table.hash(at).0)
            })
            .collect();
        hashes.sort_unstable();
        hashes.dedup();
        // Without commits, which come and go.
        hashes.iter().filter(|hash| self.remote.chunks.contains_key(*hash)).count()
    }

    pub fn stored_bytes(&self) -> usize {
        self.stored.values().map(|(bytes, _)| bytes.len()).sum()
    }
}
