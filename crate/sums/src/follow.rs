//! Leaves that follow rows: what a change of rows changes in a sum tree.

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

/// A key, where the value of its row is, and the sum.
type Leaf = ([u8; 32], Bytes<usize>, u64);

/// What the leaves of a sum tree are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definition {
    /// Where the text is that the key stands for; the key of the row where this is the root.
    key: Pointer,
    sum: Pointer,
    /// Where the value is; the whole row where this is the root.
    value: Pointer,
    prefix: Vec<u8>,
}

impl Definition {
    /// Reads a definition: a JSON array of the pointers to key, sum and value, and of the prefix of
    /// the keys of its rows; at most [`MAX_SUM_DEFINITION_BYTES`] long.
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

    /// The leaf of a row: its key, where its value is in `row`, its sum. None of a row that has no
    /// sum or no key, or `null` in its place.
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

/// A whole number, which may stand in a string: JSON numbers are exact up to 2^53 only.
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

/// Goes over the rows that changed, and gathers what becomes of the leaves. Costs the nodes that the
/// two trees do not share.
#[derive(Debug)]
pub struct Follow {
    definition: Definition,
    diff: Diff,
    out: Output,
    batch: SumBatch,
    /// The key of the row that was looked at last.
    key: Vec<u8>,
    is_over: bool,
}

impl Follow {
    /// The changes from `old` to `new`, two trees of rows.
    #[must_use]
    pub fn new(definition: Definition, old: Tree, new: Tree) -> Self {
        let diff = Diff::new(old, new, Range::prefix(&definition.prefix));
        let (out, batch) = (Output::new(), SumBatch::of_rows());
        Self { definition, diff, out, batch, key: Vec::new(), is_over: false }
    }

    /// Goes on until all is gathered, or the batch takes more than `spill_bytes`.
    ///
    /// # Errors
    /// [`Error::SumNotWhole`], [`Error::SumKeyNotText`] and [`Error::SumValueTooLarge`] for the row
    /// that [`Follow::key`] tells; as [`Cache::node`].
    pub fn step(
        &mut self,
        cache: &Cache,
        spill_bytes: usize,
        budget: &mut Budget,
    ) -> Result<Step<()>, Error> {
        while !self.is_over {
            let step = self.diff.step(cache, budget, &mut self.out)?;
            if let Step::Need(_) = step {
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

    /// Takes what was gathered. The tree must not be told of it in parts if any of them deletes.
    pub fn take(&mut self) -> SumBatch {
        core::mem::replace(&mut self.batch, SumBatch::of_rows())
    }

    /// Whether there is no more.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// The key of the row that was looked at last: the one that a failed step was about.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Reads the changes written so far: a flat array, see [`Diff`].
    fn gather(&mut self) -> Result<(), Error> {
        let Self { definition, out, batch, key, .. } = self;
        out.close();
        let Output { text, marks, .. } = &*out;
        let (mut at, mut member) = (1, 0);
        let mut marks = marks.iter().map(|mark| mark.member).peekable();
        // Text of our own making; a byte value is a number in it, and marked.
        let mut next = || {
            let end = skip_value(text, at).unwrap_or(text.len() - 1);
            let part = &text[at..end];
            let is_bytes = marks.next_if_eq(&member).is_some();
            at = end + 1;
            member += 1;
            (part, is_bytes)
        };
        let mut left = out.members();
        while left > 0 {
            let (code, _) = next();
            key.clear();
            let read = unquote(next().0, key);
            debug_assert!(read.is_ok(), "a key of our own making");
            let (has_old, has_new) = (code != b"0", code != b"2");
            let mut side = |is_there: bool| {
                if !is_there {
                    return Ok(None);
                }
                left -= 1;
                let (row, is_bytes) = next();
                if is_bytes {
                    return Ok(None);
                }
                let leaf = definition.leaf(key, row)?;
                Ok(leaf.map(|(key, value, sum)| (key, &row[value], sum)))
            };
            let old = side(has_old)?;
            let new = side(has_new)?;
            left -= 2;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_and_others_are_not() {
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
    fn a_definition_reads_and_nothing_else_does() {
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
    fn a_row_has_a_leaf_where_it_has_a_key_and_a_sum() {
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
