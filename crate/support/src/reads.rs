//! The reads of a host, each run to its end.

use crate::host::Host;
use crate::output::{Change, changes, entries, members};
use crate::rows::Rows;
use hedgerow::cache::Fetch;
use hedgerow::error::Error;
use hedgerow::output::Output;
use hedgerow::tree::{Count, Diff, MultiGet, Parts, Range, Scan, Tree, get};

impl Host {
    /// Scans `tree`; returns the output up to the end or the error.
    pub fn scanned(
        &mut self,
        tree: Tree,
        range: &Range,
        reverse: bool,
        limit: u64,
        parts: Parts,
    ) -> (Output, Result<(), Error>) {
        let mut scan = Scan::new(tree, range.clone(), reverse, limit, parts);
        let mut out = Output::new();
        let result = self.run(|cache, budget| scan.step(cache, budget, &mut out));
        out.close();
        (out, result)
    }

    /// Scans at most `limit` rows of a range, without the first `offset`.
    pub fn scan_after(
        &mut self,
        range: &Range,
        reverse: bool,
        offset: u64,
        limit: u64,
    ) -> Vec<(String, String)> {
        let parts = Parts { keys: true, values: true };
        let mut scan = Scan::new(self.tree(), range.clone(), reverse, limit, parts).after(offset);
        let mut out = Output::new();
        self.run(|cache, budget| scan.step(cache, budget, &mut out)).expect("a scan");
        out.close();
        entries(&out)
    }

    /// Scans a range; returns its rows in order.
    pub fn scan(&mut self, range: &Range, reverse: bool, limit: u64) -> Vec<(String, String)> {
        let parts = Parts { keys: true, values: true };
        let (out, result) = self.scanned(self.tree(), range, reverse, limit, parts);
        result.expect("a scan");
        entries(&out)
    }

    /// Reads all rows.
    pub fn contents(&mut self) -> Rows {
        self.scan(&Range::ALL, false, u64::MAX).into_iter().collect()
    }

    /// Reads the value of a key, which must be inline in its leaf.
    ///
    /// # Errors
    /// As [`get`].
    pub fn look_up(&mut self, tree: Tree, key: &str) -> Result<Option<Vec<u8>>, Error> {
        self.fetch(|cache| {
            Ok(match get(cache, tree, key.as_bytes())? {
                Fetch::At(want) => Fetch::At(want),
                Fetch::Here(entry) => Fetch::Here(entry.map(|entry| {
                    assert_eq!(entry.key.bytes(), key.as_bytes());
                    assert!(!entry.tag.is_ref, "an inline value");
                    entry.value.to_vec()
                })),
            })
        })
    }

    /// Reads the value of a key.
    pub fn get(&mut self, key: &str) -> Option<String> {
        let value = self.look_up(self.tree(), key).expect("a get")?;
        Some(String::from_utf8(value).expect("JSON text"))
    }

    /// Reads the values of keys, in one descent.
    pub fn get_many(&mut self, keys: &[String]) -> Vec<Option<String>> {
        let mut find = MultiGet::new(self.tree(), keys.iter().map(String::as_bytes));
        let (mut out, mut found) = (Output::new(), Vec::new());
        self.run(|cache, budget| find.step(cache, budget, &mut out, &mut found)).expect("a find");
        out.close();
        let values = members(&out);
        assert_eq!(values.len(), found.len());
        let mut result = vec![None; keys.len()];
        for (value, position) in values.into_iter().zip(found) {
            result[position as usize] = Some(value);
        }
        result
    }

    /// Diffs two trees; returns the output.
    ///
    /// # Errors
    /// As [`Diff::step`].
    pub fn differ(&mut self, old: Tree, new: Tree, range: &Range) -> Result<Output, Error> {
        let mut diff = Diff::new(old, new, range.clone());
        let mut out = Output::new();
        self.run(|cache, budget| diff.step(cache, budget, &mut out))?;
        out.close();
        Ok(out)
    }

    /// Diffs `old` and the tree of rows.
    pub fn diff(&mut self, old: Tree, range: &Range) -> Vec<Change> {
        changes(&self.differ(old, self.tree(), range).expect("a diff"))
    }

    /// Counts the rows in a range.
    pub fn count(&mut self, range: &Range) -> u64 {
        let count = Count::new(self.tree(), range.clone());
        self.run(|cache, _| count.step(cache)).expect("a count")
    }
}
