//! Reads of chunks: they select a copy and check it.
//!
//! A chunk from storage is checked against its hash and decoded by its kind ([`chunk_check`](crate::chunk_check))
//! when it is first read. It then counts as checked while it stays in memory.
//!
//! If a chunk is stored more than once, an undamaged copy is used. A copy that was found damaged is
//! skipped from then on, until it is read again.

use super::known::Segment;
use super::{Cache, Fetch, Want};
use crate::chunk::{ChunkKind, VERSION};
use crate::chunk_check;
use crate::error::{DecodeError, Error, Field};
use crate::hash::Hash;
use crate::limits::{MAX_LEVEL, SEGMENT_BYTES};
use crate::node::{Inner, Node};
use core::cell::Cell;

/// The search for a copy in memory ends after this many copies that are not in memory.
const MOST_LOOKED_AT: usize = 16;

/// A cache that holds fewer segments than this reads internal nodes one by one, too.
const ROOM_FOR_INNER: usize = 32 * SEGMENT_BYTES;

impl Cache {
    /// Selects a copy: one in memory that is not damaged, else one that must be loaded. A copy at a remote comes after
    /// stored ones, and a copy that was found damaged last. With `checks`, a copy in memory is checked for damage first.
    #[inline(never)]
    pub(super) fn select(&self, hash: &Hash, checks: bool) -> Result<Fetch<&[u8]>, Error> {
        let (mut is_known, mut is_damaged, mut looked_at) = (false, false, 0);
        let (mut stored, mut remote, mut damaged) = (None, None, None);
        for (segment, chunk) in self.catalogue.copies(hash) {
            is_known = true;
            match segment.is_held(chunk) {
                None if segment.table.is_remote(chunk) => {
                    remote.get_or_insert((segment, chunk));
                }
                None if segment.marks.is_damaged(chunk) => {
                    damaged.get_or_insert((segment, chunk));
                }
                None => {
                    stored.get_or_insert((segment, chunk));
                    looked_at += 1;
                    if looked_at == MOST_LOOKED_AT {
                        break;
                    }
                }
                Some(_) if segment.marks.is_damaged(chunk) => is_damaged = true,
                Some(_) if checks => match self.check(segment, chunk, hash)? {
                    Some(bytes) => return Ok(Fetch::Here(bytes)),
                    None => is_damaged = true,
                },
                Some(used) => {
                    used.set(self.residents.tick());
                    return Ok(Fetch::Here(&[]));
                }
            }
        }
        // A table that is still to come may have an undamaged copy.
        if stored.is_none() && self.awaits_tables {
            return Ok(Fetch::At(Want::table_of(hash)));
        }
        // Of damaged copies, one in memory is enough.
        match stored.or(remote).or(damaged.filter(|_| !is_damaged)) {
            Some((segment, chunk)) => {
                if checks {
                    self.misses.set(self.misses.get() + 1);
                }
                Ok(Fetch::At(Want::chunk_of(segment, chunk, self.is_run(segment))))
            }
            None if is_known => Err(Error::CorruptChunk { hash: *hash, cause: None }),
            None => Err(Error::MissingChunk(*hash)),
        }
    }

    /// Returns whether all of a segment is read for a chunk of it.
    fn is_run(&self, segment: &Segment) -> bool {
        let len = segment.table.segment_len();
        let budget = self.residents.budget();
        // A short segment is one record.
        len < self.least_for_parts
            // A reader of one internal node soon reads others.
            || (segment.table.only_inner() && budget >= ROOM_FOR_INNER)
            // Its parts have cost as much as the whole, most of the store fits, and no unit has to leave.
            || (segment.parts.len() * self.request_cost >= len
                && self.known_bytes() <= (budget + budget / 4) as u64
                && self.residents.has_room(len))
    }

    /// Returns a checked copy in memory, or `None` if it is damaged. It is an error if the hash is right
    /// and the form is wrong: then all copies are malformed.
    #[inline]
    fn check<'b>(
        &self,
        segment: &'b Segment,
        chunk: usize,
        hash: &Hash,
    ) -> Result<Option<&'b [u8]>, Error> {
        let Some((bytes, used)) = segment.held(chunk, self.residents.unpacked()) else {
            return Ok(None);
        };
        if segment.marks.is_checked(chunk) {
            self.hit(used);
            return Ok(Some(bytes));
        }
        self.residents.unpacked().add_work(bytes.len());
        if Hash::of(bytes) != *hash {
            segment.marks.set_damaged(chunk, segment.table.len());
            return Ok(None);
        }
        if let [_, version, ..] = bytes
            && *version > VERSION
        {
            return Err(Error::UnsupportedFormat { version: *version });
        }
        chunk_check::check(bytes)
            .map_err(|cause| Error::CorruptChunk { hash: *hash, cause: Some(cause) })?;
        segment.marks.set_checked(chunk);
        self.hit(used);
        Ok(Some(bytes))
    }

    #[inline]
    fn hit(&self, used: &Cell<u64>) {
        used.set(self.residents.tick());
        self.hits.set(self.hits.get() + 1);
    }

    /// Returns the chunk `hash`, of any kind, checked.
    ///
    /// # Errors
    /// As [`Cache::node`].
    #[inline(never)]
    pub fn any(&self, hash: &Hash) -> Result<Fetch<&[u8]>, Error> {
        // The usual case. `select` would take the same copy.
        if let Some((segment, chunk)) = self.catalogue.newest(hash)
            && segment.marks.is_checked(chunk)
            && let Some((bytes, used)) = segment.held(chunk, self.residents.unpacked())
        {
            self.hit(used);
            return Ok(Fetch::Here(bytes));
        }
        self.select(hash, true)
    }

    /// Returns the chunk `hash`, checked, which must be of this kind. The caller checks the rest,
    /// such as the length of a list.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn chunk(&self, hash: &Hash, kind: ChunkKind) -> Result<Fetch<&[u8]>, Error> {
        let fetched = self.any(hash)?;
        match fetched {
            Fetch::Here(bytes) if bytes[0] != kind.header()[0] => {
                Err(wrong_kind(hash, bytes[0], kind))
            }
            _ => Ok(fetched),
        }
    }

    /// Returns the node `hash`, checked.
    ///
    /// # Errors
    /// [`Error::MissingChunk`], [`Error::CorruptChunk`], [`Error::UnsupportedFormat`].
    pub fn node(&self, hash: &Hash) -> Result<Fetch<Node<'_>>, Error> {
        Ok(match self.any(hash)? {
            Fetch::Here(bytes) if bytes[0] > MAX_LEVEL => {
                return Err(wrong_kind(hash, bytes[0], ChunkKind::Node(0)));
            }
            Fetch::Here(bytes) => Fetch::Here(Node::view(bytes)),
            Fetch::At(want) => Fetch::At(want),
        })
    }

    /// Returns the node that `parent` names at `index`, checked against `parent`.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn child(&self, parent: &Inner<'_>, index: usize) -> Result<Fetch<Node<'_>>, Error> {
        let hash = parent.hash(index);
        let fetched = self.node(&hash)?;
        if let Fetch::Here(node) = &fetched {
            node.check_parent(parent, index)
                .map_err(|cause| Error::CorruptChunk { hash, cause: Some(cause) })?;
        }
        Ok(fetched)
    }
}

/// Returns the error for a sound chunk of an unexpected kind.
#[cold]
#[inline(never)]
fn wrong_kind(hash: &Hash, got: u8, kind: ChunkKind) -> Error {
    let expected = kind.header()[0].into();
    let cause = Some(DecodeError::new(Field::Kind, 0, expected, got.into()));
    Error::CorruptChunk { hash: *hash, cause }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::{Packer, Sealed, Stream};
    use alloc::vec;
    use alloc::vec::Vec;

    const LEAF: &[u8] = &[0, 1, 1, 0, 4, 0, 1, 0, b'a', b'1'];

    /// Returns a segment of these chunks.
    fn sealed(chunks: &[&[u8]]) -> Sealed {
        let mut packer = Packer::new();
        for chunk in chunks {
            packer.put(Stream::Leaf, |out| out.extend_from_slice(chunk));
        }
        packer.seal();
        packer.take_sealed().remove(0)
    }

    fn is_here(cache: &Cache, hash: &Hash) -> bool {
        matches!(cache.node(hash), Ok(Fetch::Here(_)))
    }

    #[test]
    fn damage_is_forgotten_when_its_segment_is_removed_or_read_again() {
        let hash = Hash::of(LEAF);
        let bad = [LEAF, &[0]].concat()[1..].to_vec();
        let mut cache = Cache::new(0);
        for id in [1, 2] {
            cache.add_table(id, sealed(&[LEAF]).table);
        }
        // The newest copy is tried first, and the other one if the newest is damaged.
        assert_eq!(cache.missing(&hash), Ok(Some(Want::whole_of(2))));
        cache.load(Want::whole_of(2), bad.clone());
        assert_eq!(cache.missing(&hash), Ok(None), "nobody has looked at it");
        assert!(matches!(cache.node(&hash), Ok(Fetch::At(Want { segment: 1, .. }))));
        assert_eq!(cache.missing(&hash), Ok(Some(Want::whole_of(1))));
        cache.load(Want::whole_of(1), bad.clone());
        let corrupt = Error::CorruptChunk { hash, cause: None };
        assert_eq!(cache.node(&hash).map(drop), Err(corrupt));
        assert_eq!(cache.missing(&hash), Err(corrupt));
        // Once it is read again, it may be undamaged.
        cache.remove(2);
        cache.add_table(2, sealed(&[LEAF]).table);
        assert_eq!(cache.missing(&hash), Ok(Some(Want::whole_of(2))));
        cache.load(Want::whole_of(2), LEAF.to_vec());
        assert!(is_here(&cache, &hash));
        cache.remove(2);
        cache.remove(1);
        assert_eq!(cache.missing(&hash), Err(Error::MissingChunk(hash)));
    }

    #[test]
    fn a_damaged_copy_that_left_memory_is_read_only_when_there_is_no_other() {
        let hash = Hash::of(LEAF);
        let mut cache = Cache::new(1);
        for id in 0..3 {
            cache.add_table(id, sealed(&[LEAF]).table);
        }
        let others = |cache: &mut Cache| {
            for id in 100..200 {
                let chunk: Vec<u8> = [LEAF, &[id as u8]].concat();
                cache.add_table(id, sealed(&[&chunk]).table);
                cache.load(Want::whole_of(id), chunk);
                cache.remove(id - 50);
            }
        };
        for (loaded, next) in [(2, 1), (1, 0)] {
            cache.load(Want::whole_of(loaded), vec![0; LEAF.len()]);
            assert!(matches!(cache.node(&hash), Ok(Fetch::At(want)) if want.segment == next));
            others(&mut cache);
            assert!(cache.wants(loaded), "it was driven out");
            assert_eq!(cache.missing(&hash), Ok(Some(Want::whole_of(next))));
        }
        cache.load(Want::whole_of(0), vec![0; LEAF.len()]);
        assert!(cache.node(&hash).is_err());
        others(&mut cache);
        // All copies are damaged and out of memory: one is tried again.
        let again = cache.missing(&hash).unwrap().unwrap();
        cache.load(again, LEAF.to_vec());
        assert!(is_here(&cache, &hash));
    }

    #[test]
    fn a_chunk_of_no_table_is_missing_once_all_tables_have_come() {
        let hash = Hash::of(LEAF);
        let mut cache = Cache::new(1 << 20);
        cache.await_tables(true);
        let wanted = cache.missing(&hash).unwrap().unwrap();
        assert!(wanted.is_table() && wanted.from.to_le_bytes() == hash.0[..4]);
        assert_eq!(cache.node(&hash).map(|_| ()), Ok(()));
        assert_eq!(cache.hits_and_misses(), (0, 0));
        cache.add_table(1, sealed(&[LEAF]).table);
        assert_eq!(cache.missing(&hash), Ok(Some(Want::whole_of(1))));
        // A damaged copy: another one may be in a table that is still to come.
        cache.load(Want::whole_of(1), vec![0; LEAF.len()]);
        assert!(matches!(cache.node(&hash), Ok(Fetch::At(want)) if want == wanted));
        cache.add_table(2, sealed(&[LEAF]).table);
        assert_eq!(cache.missing(&hash), Ok(Some(Want::whole_of(2))));
        cache.remove(2);
        cache.await_tables(false);
        assert!(matches!(cache.missing(&hash), Err(Error::CorruptChunk { .. })));
        cache.remove(1);
        assert_eq!(cache.missing(&hash), Err(Error::MissingChunk(hash)));
    }

    #[test]
    fn a_chunk_in_memory_is_found_behind_some_that_are_not() {
        let hash = Hash::of(LEAF);
        let mut cache = Cache::new(1 << 20);
        for id in 0..MOST_LOOKED_AT as u64 {
            cache.add_table(id, sealed(&[LEAF]).table);
        }
        cache.load(Want::whole_of(0), LEAF.to_vec());
        assert!(is_here(&cache, &hash));
        // With one more copy, the search ends before it.
        cache.add_table(99, sealed(&[LEAF]).table);
        assert_eq!(cache.missing(&hash), Ok(Some(Want::whole_of(99))));
    }

    #[test]
    fn work_is_counted_when_a_chunk_is_read_for_the_first_time() {
        let mut cache = Cache::new(1 << 20);
        cache.add_table(1, sealed(&[LEAF]).table);
        cache.load(Want::whole_of(1), LEAF.to_vec());
        let hash = Hash::of(LEAF);
        for expected in [LEAF.len(), 0] {
            assert!(is_here(&cache, &hash));
            assert_eq!(cache.take_work(), expected);
        }
        assert_eq!(
            (cache.known_segments(), cache.known_chunks(), cache.held_bytes()),
            (1, 1, LEAF.len())
        );
    }

    /// Makes a cache with the table of a segment of one other chunk that names `LEAF` at a remote, under number 1.
    fn naming_leaf() -> (Cache, Hash, Sealed) {
        let (hash, other) = (Hash::of(LEAF), [0xee; 40]);
        let nodes = [(Hash::of(&other), &other[..])];
        let sealed = Sealed::of_nodes(&nodes, &[(hash, LEAF.len() as u16)]).unwrap();
        let mut cache = Cache::new(1 << 20);
        cache.add_table(1, sealed.table.clone());
        (cache, hash, sealed)
    }

    #[test]
    fn a_copy_at_a_remote_is_tried_before_damaged_ones_whatever_is_in_memory() {
        let (mut cache, hash, _) = naming_leaf();
        for id in [2, 3] {
            cache.add_table(id, sealed(&[LEAF]).table);
        }
        let asked = |cache: &Cache| match cache.node(&hash) {
            Ok(Fetch::At(want)) => want,
            other => panic!("{other:?}"),
        };
        let bad = || vec![0; LEAF.len()];
        for id in [3, 2] {
            assert_eq!(asked(&cache), Want::whole_of(id));
            cache.load(Want::whole_of(id), bad());
        }
        assert!(asked(&cache).is_remote());
        // The damaged copies leave memory, but not the knowledge that they are damaged; then one of them is read again.
        cache.fit(0);
        for id in 10..80 {
            cache.add_table(id, sealed(&[&[0xee, id as u8]]).table);
            cache.load(Want::whole_of(id), vec![0xee, id as u8]);
        }
        assert!(cache.wants(2) && cache.wants(3));
        cache.load(Want::whole_of(3), bad());
        assert!(asked(&cache).is_remote());
        cache.load(asked(&cache), LEAF.to_vec());
        assert!(is_here(&cache, &hash));
    }

    #[test]
    fn a_chunk_of_a_remote_stays_and_stays_checked_while_the_rest_of_its_segment_comes_and_leaves()
    {
        let (mut cache, hash, named) = naming_leaf();
        let want = cache.missing(&hash).unwrap().unwrap();
        cache.load(want, LEAF.to_vec());
        assert!(is_here(&cache, &hash));
        assert_eq!(cache.take_work(), LEAF.len());
        cache.load(Want::whole_of(1), named.bytes);
        assert!(is_here(&cache, &hash));
        cache.fit(0);
        for id in 10..80 {
            cache.add_table(id, sealed(&[&[0xee, id as u8]]).table);
            cache.load(Want::whole_of(id), vec![0xee, id as u8]);
            assert!(is_here(&cache, &hash));
        }
        assert!(cache.wants(1), "the rest of its segment was driven out");
        assert_eq!(cache.take_work(), 0, "it was hashed once");
    }
}
