//! Tables of a host that come late, and chunks that are at a remote.

use crate::host::Host;
use hedgerow::cache::SegmentId;
use hedgerow::hash::Hash;
use hedgerow::node::Node;
use hedgerow::segment::{Packer, Sealed, Stream, Table};
use std::collections::{BTreeMap, BTreeSet};

impl Host {
    /// Makes the tables of some segments come late, when a read needs them. Call it right after [`Host::reopen`].
    pub fn forget_tables(&mut self, is_late: impl Fn(SegmentId) -> bool) {
        let ids: Vec<_> = self.stored.keys().copied().filter(|id| is_late(*id)).collect();
        for id in &ids {
            self.cache.remove(*id);
        }
        self.cache.await_tables(!ids.is_empty());
        self.late.extend(ids);
    }

    /// Brings the late tables that list a chunk whose hash starts like this, or all if no late table does.
    pub fn bring_tables(&mut self, hash_start: Option<u32>) {
        let lists = |table: &Table, start: u32| {
            (0..table.len()).any(|at| table.hash(at).0[..4] == start.to_le_bytes())
        };
        let is_wanted =
            |id: &SegmentId| hash_start.is_none_or(|start| lists(&self.stored[id].1, start));
        let mut ids: Vec<_> = self.late.iter().copied().filter(is_wanted).collect();
        if ids.is_empty() {
            ids = self.late.iter().copied().collect();
        }
        for id in ids {
            self.cache.add_table(id, self.stored[&id].1.clone());
            self.late.remove(&id);
        }
        self.cache.await_tables(!self.late.is_empty());
    }

    /// Returns whether chunks are at the remote.
    #[must_use]
    pub fn has_remote(&self) -> bool {
        !self.remote.is_empty()
    }

    /// Returns the chunk of a table that is at the remote.
    pub(crate) fn remote_chunk(&self, segment: SegmentId, from: u32) -> (Hash, Vec<u8>) {
        let table = &self.stored[&segment].1;
        let at = table.chunk_at(from as usize).expect("a chunk");
        assert!(table.is_remote(at), "a chunk that is here");
        let hash = table.hash(at);
        let bytes = self.remote[&hash.0].clone();
        assert_eq!(table.chunk_len(at), bytes.len(), "the length in the table");
        (hash, bytes)
    }

    /// Moves the leaves below a stored internal node, the `nth` of all of them, to the remote: a segment of the node names
    /// them from then on. Leaves with values out of line stay: a real remote brings a leaf with its values.
    pub fn move_leaves_away(&mut self, nth: usize) {
        let all: BTreeMap<_, _> = self.here().collect();
        let leaves_of = |bytes: &[u8]| match Node::decode(bytes) {
            Ok(Node::Inner(node)) if node.level() == 1 => (0..node.len())
                .map(|at| node.hash(at))
                .filter_map(|hash| Some((hash, all.get(&hash.0)?)))
                .filter(|(_, leaf)| is_whole_leaf(leaf))
                .collect(),
            _ => Vec::new(),
        };
        let parents = all.iter().map(|(hash, bytes)| (Hash(*hash), bytes, leaves_of(bytes)));
        let parents: Vec<_> = parents.filter(|(.., leaves)| !leaves.is_empty()).collect();
        let Some((hash, bytes, leaves)) = parents.get(nth % parents.len().max(1)) else { return };
        let len = |leaf: &[u8]| u16::try_from(leaf.len()).expect("the length of a node");
        let names: Vec<_> = leaves.iter().map(|(hash, leaf)| (*hash, len(leaf))).collect();
        let sealed = Sealed::of_nodes(&[(*hash, bytes)], &names).expect("a segment");
        self.store_apart(vec![sealed]);
        self.drop_chunks(&leaves.iter().map(|(hash, _)| hash.0).collect());
        self.remote.extend(leaves.iter().map(|(hash, leaf)| (hash.0, (*leaf).clone())));
    }

    /// Lists the stored chunks that are here.
    fn here(&self) -> impl Iterator<Item = ([u8; 32], Vec<u8>)> {
        self.stored.values().flat_map(|(bytes, table)| {
            (0..table.len())
                .filter(|at| !table.is_remote(*at))
                .map(|at| (table.hash(at).0, table.chunk(bytes, at).into_owned()))
        })
    }

    /// Stores the other chunks of segments again, without these. Segments that name chunks at the remote stay.
    fn drop_chunks(&mut self, unwanted: &BTreeSet<[u8; 32]>) {
        let is_unwanted = |table: &Table, at: usize| unwanted.contains(&table.hash(at).0);
        let ids: Vec<_> = self
            .stored
            .iter()
            .filter(|(_, (_, table))| !table.has_remote())
            .filter(|(_, (_, table))| (0..table.len()).any(|at| is_unwanted(table, at)))
            .map(|(id, _)| *id)
            .collect();
        for id in ids {
            let (bytes, table) = self.stored.remove(&id).expect("a stored segment");
            self.cache.remove(id);
            self.late.remove(&id);
            let mut packer = Packer::new();
            for at in (0..table.len()).filter(|at| !is_unwanted(&table, *at)) {
                let stored = &bytes[table.range(at)];
                packer.put_known(Stream::Leaf, table.hash(at), stored, table.chunk_len(at));
            }
            packer.seal();
            self.store_apart(packer.take_sealed());
        }
        self.cache.await_tables(!self.late.is_empty());
    }
}

/// Returns whether a chunk is a leaf that has all of its values.
fn is_whole_leaf(chunk: &[u8]) -> bool {
    let Ok(Node::Leaf(leaf)) = Node::decode(chunk) else { return false };
    (0..leaf.len()).all(|at| leaf.entry(at).value_ref().is_none())
}
