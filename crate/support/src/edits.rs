//! The writes of a host, each run to its end.

use crate::host::Host;
use crate::output::Value;
use crate::rows::{list, pairs};
use crate::values::block;
use hedgerow::error::Error;
use hedgerow::ingest::{Format, Ingest};
use hedgerow::rows::{Block, Reader};
use hedgerow::tree::Range;

impl Host {
    /// Begins an ingest on top of the last commit.
    pub fn ingest(&self) -> Ingest {
        let reader = Reader::Block(Box::new(Block::new(Vec::new())));
        let secret = self.cache.secret();
        Ingest::indexed(self.forest.clone(), reader, self.shape, &self.indexes, secret)
    }

    /// Continues an ingest until it waits for the next block, or has made its commit.
    ///
    /// # Errors
    /// The errors of [`Ingest::step`].
    pub fn drive(&mut self, ingest: &mut Ingest) -> Result<(), Error> {
        self.steps(|cache, budget| {
            let result = ingest.step(cache, budget);
            (result, ingest.sealed())
        })
    }

    /// Feeds an ingest a block of rows with values of any kind.
    ///
    /// # Errors
    /// The errors of [`Ingest::step`].
    pub fn feed_values<'v>(
        &mut self,
        ingest: &mut Ingest,
        rows: impl IntoIterator<Item = (&'v String, &'v Value)>,
    ) -> Result<(), Error> {
        let (bytes, text_len, places) = block(rows);
        ingest.feed(bytes, text_len, places, Format::Pairs);
        self.drive(ingest)
    }

    /// Commits rows with values of any kind.
    pub fn put_values<'v>(&mut self, rows: impl IntoIterator<Item = (&'v String, &'v Value)>) {
        let mut ingest = self.ingest();
        self.feed_values(&mut ingest, rows).expect("good rows");
        self.finish(&mut ingest).expect("a commit");
    }

    /// Feeds an ingest a block of JSON text.
    ///
    /// # Errors
    /// The errors of [`Ingest::step`].
    pub fn feed(&mut self, ingest: &mut Ingest, text: &str, format: &Format) -> Result<(), Error> {
        ingest.feed(text.as_bytes().to_vec(), text.len(), Vec::new(), format.clone());
        self.drive(ingest)
    }

    /// Makes the commit of an ingest, and moves to it.
    ///
    /// # Errors
    /// The errors of [`Ingest::step`].
    pub fn finish(&mut self, ingest: &mut Ingest) -> Result<(), Error> {
        ingest.finish();
        self.drive(ingest)?;
        let (root, forest) = ingest.committed().expect("a commit after the last step");
        (self.root, self.forest) = (root, forest.clone());
        Ok(())
    }

    /// Commits blocks of JSON text; returns the ingest, which has its statistics.
    ///
    /// # Errors
    /// The errors of [`Ingest::step`].
    pub fn commit(&mut self, blocks: &[(String, Format)]) -> Result<Ingest, Error> {
        let mut ingest = self.ingest();
        for (text, format) in blocks {
            self.feed(&mut ingest, text, format)?;
        }
        self.finish(&mut ingest)?;
        Ok(ingest)
    }

    /// Puts rows, in blocks of a hundred.
    pub fn put(&mut self, rows: &[(String, String)]) {
        self.put_blocks(rows, 100);
    }

    /// Puts rows, in blocks of `block`.
    pub fn put_blocks(&mut self, rows: &[(String, String)], block: usize) {
        let blocks: Vec<_> = rows.chunks(block).map(|rows| (pairs(rows), Format::Pairs)).collect();
        self.commit(&blocks).expect("good rows");
    }

    /// Deletes keys.
    pub fn delete(&mut self, keys: &[String]) {
        self.commit(&[(list(keys), Format::Deletes)]).expect("good keys");
    }

    /// Deletes a range.
    pub fn delete_range(&mut self, range: &Range) {
        let mut ingest = self.ingest();
        ingest.drop_range(range.clone());
        self.drive(&mut ingest).expect("a range");
        self.finish(&mut ingest).expect("a commit");
    }
}
