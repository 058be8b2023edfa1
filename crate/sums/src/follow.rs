//! Leaves that follow rows: the edits of a sum tree that follow from a change of rows.

use crate::batch::SumBatch;
use crate::rules::key_of;
use alloc::vec::Vec;
use core::ops::Range as Bytes;
use hedgerow_trees::cache::Cache;
use hedgerow_trees::error::Error;
use hedgerow_trees::json::{Pointer, skip_value, unquote};
use hedgerow_trees::limits::MAX_SUM_DEFINITION_BYTES;
use hedgerow_trees::output::Output;
use hedgerow_trees::step::{Budget, Step};
use hedgerow_trees::tree::{Diff, Range, Tree};

/// The key, the range of the value in its row, and the sum.
type Leaf = ([u8; 32], Bytes<usize>, u64);

/// Defines the leaves of a sum tree that follows rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definition {
    /// Points to the text whose hash is the key; the empty pointer stands for the key of the row.
    key: Pointer,
    sum: Pointer,
    /// Points to the value; the empty pointer points to the whole row.
    value: Pointer,
    prefix: Vec<u8>,
}

impl Definition {
    /// Parses a definition: a JSON array of the pointers to key, sum and value, and of the prefix of the
    /// keys of its rows. `None` if it is malformed or longer than [`MAX_SUM_DEFINITION_BYTES`].
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        if text.len() > MAX_SUM_DEFINITION_BYTES {
            return None;
        }
        let mut parts: [Vec<u8>; 4] = Default::default();
        let mut at = 1;
        for part in &mut parts {
            if text.get(at) != Some(&b'"') {
                return None;
            }
            let end = skip_value(text, at).ok()?;
            unquote(&text[at..end], part).ok()?;
            at = end + 1;
        }
        let [key, sum, value, prefix] = parts;
        let pointer = |text: &[u8]| Pointer::parse(core::str::from_utf8(text).ok()?);
        let is_whole = at == text.len() && text.ends_with(b"]");
        is_whole.then_some(Self {
            key: pointer(&key)?,
            sum: pointer(&sum)?,
            value: pointer(&value)?,
            prefix,
        })
    }

    /// Returns the leaf of a row; `None` if the row has no sum, value or key, or has `null` there.
    fn leaf(&self, key: &[u8], row: &[u8]) -> Result<Option<Leaf>, Error> {
        let at = |pointer: &Pointer| pointer.find(row).filter(|at| &row[at.clone()] != b"null");
        let (Some(sum), Some(value)) = (at(&self.sum), at(&self.value)) else { return Ok(None) };
        let key = if self.key == Pointer::default() {
            key_of(key)
        } else {
            let Some(at) = at(&self.key) else { return Ok(None) };
            let mut text = Vec::new();
            match row[at.start] {
                b'"' => unquote(&row[at], &mut text).map_err(|_| Error::SumKeyNotText)?,
                b'-' | b'0'..=b'9' => text.extend_from_slice(&row[at]),
                _ => return Ok(None),
            }
            key_of(&text)
        };
        let sum = whole(&row[sum]).ok_or(Error::SumNotWhole)?;
        Ok(Some((key, value, sum)))
    }
}

/// Reads a whole number, which may be in a string, as JSON numbers are exact only up to 2^53.
fn whole(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text);
    if digits.is_empty() {
        return None;
    }
    let mut number = 0_u64;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(digit.into())?;
    }
    Some(number)
}

/// Walks the rows that changed, and gathers the edits of the leaves. Costs the nodes that the two trees
/// do not share.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../trees/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_sums::{Definition, Follow};
/// use hedgerow_trees::step::{Budget, Step};
///
/// let (cache, [old, new]) = store([&[("ann", r#"{"age":41}"#)], &[("ann", r#"{"age":42}"#)]]);
/// let definition = Definition::parse(br#"["","/age","",""]"#).expect("a definition");
/// let mut follow = Follow::new(definition, old, new);
/// let step = follow.step(&cache, 1 << 20, &mut Budget::of(1 << 20));
/// // The key of the leaf is the key of its row: one edit replaces it.
/// assert_eq!((step, follow.take().len()), (Ok(Step::Done(())), 1));
/// ```
#[derive(Debug)]
pub struct Follow {
    definition: Definition,
    diff: Diff,
    out: Output,
    batch: SumBatch,
    /// The key of the last row that was read.
    key: Vec<u8>,
    is_over: bool,
}

impl Follow {
    /// Begins the changes from `old` to `new`, two trees of rows.
    #[must_use]
    pub fn new(definition: Definition, old: Tree, new: Tree) -> Self {
        let diff = Diff::new(old, new, Range::prefix(&definition.prefix));
        let (out, batch) = (Output::new(), SumBatch::of_rows());
        Self { definition, diff, out, batch, key: Vec::new(), is_over: false }
    }

    /// Continues until all edits are gathered, or the batch takes more than `spill_bytes`.
    ///
    /// # Errors
    /// [`Error::SumNotWhole`], [`Error::SumKeyNotText`] and [`Error::SumValueTooLarge`] for the row of
    /// [`Follow::key`]; as [`Cache::node`].
    pub fn step(
        &mut self,
        cache: &Cache,
        spill_bytes: usize,
        budget: &mut Budget,
    ) -> Result<Step<()>, Error> {
        while !self.is_over {
            let step = self.diff.step(cache, budget, &mut self.out)?;
            if matches!(step, Step::Need(_)) || self.out.is_partial() {
                return Ok(step);
            }
            budget.spend(2 * self.out.len());
            self.gather()?;
            self.is_over = step == Step::Done(());
            if self.batch.held_bytes() > spill_bytes {
                break;
            }
            if !self.is_over {
                return Ok(step);
            }
        }
        Ok(Step::Done(()))
    }

    /// Takes the gathered edits. If there are deletions, all edits must be in one batch.
    pub fn take(&mut self) -> SumBatch {
        core::mem::replace(&mut self.batch, SumBatch::of_rows())
    }

    /// Returns whether all edits were gathered.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the key of the last row that was read. After a failed step, it is the row that failed.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Reads the changes that the [`Diff`] has written so far.
    fn gather(&mut self) -> Result<(), Error> {
        let Self { definition, out, batch, key, .. } = self;
        out.close();
        let Output { keys, text, marks, .. } = &*out;
        let mut marks = marks.iter().map(|mark| mark.value).peekable();
        let (mut keys, mut values) = (Parts { text: keys, at: 1 }, Parts { text, at: 1 });
        let mut value = 0;
        while let Some(code) = keys.next() {
            key.clear();
            let read = unquote(keys.next().unwrap_or_default(), key);
            debug_assert!(read.is_ok(), "a key of our own making");
            let mut side = |exists: bool| {
                if !exists {
                    return Ok(None);
                }
                // Skip the placeholder of the value.
                keys.next();
                let row = values.next().unwrap_or_default();
                // A byte value is 0 in the text, and has a mark.
                let is_bytes = marks.next_if_eq(&value).is_some();
                value += 1;
                if is_bytes {
                    return Ok(None);
                }
                let leaf = definition.leaf(key, row)?;
                Ok(leaf.map(|(key, value, sum)| (key, &row[value], sum)))
            };
            let old = side(code != b"0")?;
            let new = side(code != b"2")?;
            match (old, new) {
                (Some(old), Some(new)) if old.0 == new.0 => {
                    if old != new {
                        batch.put(&new.0, new.1, new.2)?;
                    }
                }
                (old, new) => {
                    if let Some((key, ..)) = old {
                        batch.delete(&key);
                    }
                    if let Some((key, value, sum)) = new {
                        batch.add(&key, value, sum)?;
                    }
                }
            }
        }
        out.clear();
        Ok(())
    }
}

/// Iterates over the members of a JSON array; ends at the first fault.
struct Parts<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Iterator for Parts<'t> {
    type Item = &'t [u8];

    fn next(&mut self) -> Option<&'t [u8]> {
        let end = skip_value(self.text, self.at).ok()?;
        let part = &self.text[self.at..end];
        self.at = end + 1;
        Some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_are_read() {
        for (text, number) in [
            ("0", Some(0)),
            ("17", Some(17)),
            ("\"18446744073709551615\"", Some(u64::MAX)),
            ("\"18446744073709551616\"", None),
            ("1.5", None),
            ("-1", None),
            ("1e3", None),
            ("\"\"", None),
            ("\"1", None),
            ("true", None),
            ("{}", None),
        ] {
            assert_eq!(whole(text.as_bytes()), number, "{text}");
        }
    }

    #[test]
    fn only_valid_definitions_are_read() {
        assert!(Definition::parse(br#"["","/a","",""]"#).is_some());
        assert!(Definition::parse(br#"["/id","/a/0","/v","acct/"]"#).is_some());
        for bad in ["", "[]", r#"["","/a",""]"#, r#"["","/a","","",""]"#, r#"["","a","",""]"#] {
            assert!(Definition::parse(bad.as_bytes()).is_none(), "{bad}");
        }
        let long = |len: usize| alloc::format!(r#"["","/{}","",""]"#, "a".repeat(len - 14));
        let longest = long(MAX_SUM_DEFINITION_BYTES);
        assert_eq!(longest.len(), MAX_SUM_DEFINITION_BYTES);
        assert!(Definition::parse(longest.as_bytes()).is_some());
        assert!(Definition::parse(long(MAX_SUM_DEFINITION_BYTES + 1).as_bytes()).is_none());
    }

    #[test]
    fn a_row_with_a_key_and_a_sum_has_a_leaf() {
        let of = |definition: &str, row: &str| {
            let definition = Definition::parse(definition.as_bytes()).unwrap();
            definition.leaf(b"row", row.as_bytes())
        };
        let all = r#"["","/n","",""]"#;
        let row = r#"{"id":"x","n":5}"#;
        assert_eq!(of(all, row), Ok(Some((key_of(b"row"), 0..row.len(), 5))));
        let part = r#"["/id","/n","/id",""]"#;
        assert_eq!(of(part, row), Ok(Some((key_of(b"x"), 6..9, 5))));
        assert_eq!(of(part, r#"{"id":7,"n":"5"}"#), Ok(Some((key_of(b"7"), 6..7, 5))));
        for none in [r#"{"id":"x"}"#, r#"{"id":"x","n":null}"#, r#"{"n":5}"#, "5", "null"] {
            assert_eq!(of(part, none), Ok(None), "{none}");
        }
        for bad in [r#"{"id":"x","n":-5}"#, r#"{"id":"x","n":true}"#] {
            assert_eq!(of(part, bad), Err(Error::SumNotWhole), "{bad}");
        }
        let lone = r#"{"id":"x\ud800","n":5}"#;
        assert_eq!(of(part, lone), Err(Error::SumKeyNotText));
        assert!(matches!(of(all, lone), Ok(Some(_))));
    }
}
