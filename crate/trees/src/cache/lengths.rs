//! The lengths of chunks, in memory or not, from tables.

use super::Cache;
use super::known::Segment;
use crate::error::Error;
use crate::hash::Hash;

impl Cache {
    /// Returns the length of the chunk `hash`, as the table of its newest copy says.
    ///
    /// # Errors
    /// [`Error::MissingChunk`].
    pub fn chunk_len(&self, hash: &Hash) -> Result<usize, Error> {
        let copy = self.catalogue.newest(hash).ok_or(Error::MissingChunk(*hash))?;
        Ok(copy.0.table.chunk_len(copy.1))
    }

    /// Returns the length of the chunk `hash`, and the bytes that storage has of it: 0 if only a remote has it. Of
    /// several copies it takes the one that a collection keeps.
    ///
    /// # Errors
    /// [`Error::MissingChunk`].
    pub fn chunk_sizes(&self, hash: &Hash) -> Result<(usize, usize), Error> {
        let copies = self.catalogue.copies(hash);
        let copy = copies
            .max_by_key(|(segment, chunk)| (!segment.table.is_remote(*chunk), segment.id, *chunk));
        let (Segment { table, .. }, chunk) = copy.ok_or(Error::MissingChunk(*hash))?;
        let stored = if table.is_remote(chunk) { 0 } else { table.range(chunk).len() };
        Ok((table.chunk_len(chunk), stored))
    }
}
