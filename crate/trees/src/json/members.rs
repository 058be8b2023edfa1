//! Walks over the members of an object or the elements of an array, and the first part of a shallow
//! merge of objects.

use crate::json::name::is_name;
use crate::json::string::{StringScan, scan_string};
use crate::json::token::{JsonFault, expect, skip_space};
use crate::json::walk::skip_value;
use alloc::vec::Vec;
use core::ops::Range;

/// Walks over a container. The caller reads each member, and sets `at` to its end.
#[derive(Debug)]
pub struct Members<'t> {
    text: &'t [u8],
    close: u8,
    begun: bool,
    /// The end of the last member; at the end of the walk, the end of the container.
    pub at: usize,
}

impl<'t> Members<'t> {
    /// Begins to walk over the object or array that starts at `at` with the bracket `open`; returns
    /// `None` if that bracket is missing.
    #[must_use]
    pub fn of(text: &'t [u8], at: usize, open: u8) -> Option<Self> {
        // In ASCII, the closing bracket is the opening one plus two.
        let members = Self { text, close: open + 2, begun: false, at: at + 1 };
        (text.get(at) == Some(&open)).then_some(members)
    }

    /// Returns where the next member starts; `None` after the last.
    ///
    /// # Errors
    /// A missing comma or bracket.
    #[inline(never)]
    pub fn start(&mut self) -> Result<Option<usize>, JsonFault> {
        let mut at = skip_space(self.text, self.at);
        match self.text.get(at) {
            Some(byte) if *byte == self.close => {
                self.at = at + 1;
                return Ok(None);
            }
            Some(b',') if self.begun => at = skip_space(self.text, at + 1),
            Some(_) if !self.begun => {}
            _ => return Err(JsonFault::Syntax(at)),
        }
        self.begun = true;
        Ok(Some(at))
    }

    /// Reads the name at `at` and its colon. Returns which of `names` it is, if any, and where the value
    /// starts.
    ///
    /// # Errors
    /// The first fault.
    #[inline(never)]
    pub fn name(&self, at: usize, names: &[&[u8]]) -> Result<(Option<usize>, usize), JsonFault> {
        let StringScan { end, escaped, .. } = scan_string(self.text, at)?;
        let value = expect(self.text, skip_space(self.text, end), b':')?;
        let found = names.iter().position(|name| is_name(&self.text[at..end], escaped, name));
        Ok((found, skip_space(self.text, value)))
    }

    /// Skips the next element of an array; `None` after the last.
    ///
    /// # Errors
    /// The first fault.
    #[inline(never)]
    pub fn element(&mut self) -> Result<Option<Range<usize>>, JsonFault> {
        let Some(start) = self.start()? else { return Ok(None) };
        self.at = skip_value(self.text, start)?;
        Ok(Some(start..self.at))
    }
}

/// Appends the members of the object in normal form that `text` starts with to an object that
/// is still open; returns where the object in `text` ends.
///
/// # Errors
/// If `text` does not start with an object.
#[inline(never)]
pub fn append_members(text: &[u8], out: &mut Vec<u8>) -> Result<usize, JsonFault> {
    if text.first() != Some(&b'{') {
        return Err(JsonFault::Syntax(0));
    }
    let end = skip_value(text, 0)?;
    if end > 2 {
        if out.len() > 1 {
            out.push(b',');
        }
        out.extend_from_slice(&text[1..end - 1]);
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(text: &str) -> Result<Vec<&str>, JsonFault> {
        let mut members = Members::of(text.as_bytes(), 0, b'[').unwrap();
        let mut found = Vec::new();
        while let Some(range) = members.element()? {
            found.push(&text[range]);
        }
        assert_eq!(members.at, text.len());
        Ok(found)
    }

    #[test]
    fn elements_come_one_by_one() {
        assert_eq!(elements("[]"), Ok(Vec::new()));
        assert_eq!(elements("[ ]"), Ok(Vec::new()));
        assert_eq!(elements(r#"[ 1 , [2,3],"]" ]"#), Ok(Vec::from(["1", "[2,3]", r#""]""#])));
        for (text, at) in [("[", 1), ("[1", 2), ("[1 2]", 3), ("[,]", 1), ("[1,]", 3), ("[1}", 2)] {
            assert_eq!(elements(text), Err(JsonFault::Syntax(at)), "{text}");
        }
        assert!(Members::of(b"{}", 0, b'[').is_none());
    }
}
