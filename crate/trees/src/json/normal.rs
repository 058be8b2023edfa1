//! Normal form of JSON text: the text of `JSON.stringify(JSON.parse(text))` (ECMA-262, 25.5).
//!
//! It has no space between tokens, and the shortest escapes in strings. Numbers are as
//! `Number.prototype.toString` prints them. Of members with equal names, the last value is at the
//! place of the first. Names that are array indices come first, in ascending order.
//!
//! [`Scanner::scan`] checks the grammar and finds the normal form in one pass. Text in normal
//! form, as `JSON.stringify` prints it, is only read. From the first difference on, equal parts are
//! copied in runs, and others are rewritten. Members in another order are recorded, and moved at the
//! end.

use crate::json::name::is_name;
use crate::json::number::{push_number, skip_number};
use crate::json::number_form::{Form, form};
use crate::json::order::{Moves, Name, Open, empty};
use crate::json::string::{normalize_string, scan_string};
use crate::json::token::{JsonFault, deeper, expect, skip_space, skip_word};
use alloc::vec::Vec;
use core::ops::Range;

/// The cost of printing a number.
const NUMBER_COST: usize = 48;

/// The result of a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// The offset after the value.
    pub end: usize,
    /// The value is in normal form; if not, [`Scanner::normalized`] has it.
    pub normal: bool,
    /// No byte of the value is above 127. May be false even so.
    pub ascii: bool,
    /// Where the value of the wanted member is, with its quotes if it is a string.
    pub found: Option<Range<usize>>,
}

/// Scans values; reuses its memory for each.
#[derive(Debug, Default)]
pub struct Scanner {
    opened: Vec<Open>,
    names: Vec<Name>,
    output: Vec<u8>,
    moves: Moves,
    /// See [`Scanner::take_cost`].
    cost: usize,
}

impl Scanner {
    /// Scans the value that starts at `at`. If it is an object, finds its member `sought`, the last of
    /// equal names. Costs one pass over the value, and another over its output if members move.
    ///
    /// # Errors
    /// The first fault.
    #[inline(never)]
    pub fn scan(
        &mut self,
        text: &[u8],
        at: usize,
        sought: Option<&[u8]>,
    ) -> Result<Scanned, JsonFault> {
        self.clear();
        let sought = sought.map(|name| (name, Name::head(name, 0, name.len())));
        let mut scan = Scan { text, sought, copied: at, wide: false, pending: None, memory: self };
        let (end, found) = scan.value(at)?;
        let (copied, wide) = (scan.copied, scan.wide);
        if !self.moves.is_empty() {
            self.output.extend_from_slice(&text[copied..end]);
            self.output = self.moves.apply(&self.output);
        } else if copied > at {
            self.output.extend_from_slice(&text[copied..end]);
        }
        let normal = copied == at && self.moves.is_empty();
        self.cost += self.output.len() * (1 + usize::from(!self.moves.is_empty()));
        Ok(Scanned { end, normal, ascii: !wide, found })
    }

    /// Takes the cost of scans since the last call, in bytes of work, besides a pass over their
    /// texts: the cost of rewriting and reordering.
    pub const fn take_cost(&mut self) -> usize {
        core::mem::replace(&mut self.cost, 0)
    }

    /// Returns the normal form of the last scanned value, if the value was not in normal form.
    pub fn normalized(&self) -> &[u8] {
        &self.output
    }

    /// Counts the bytes of memory that it takes.
    #[cfg(test)]
    pub(crate) const fn held_bytes(&self) -> usize {
        self.names.capacity() * size_of::<Name>() + self.output.capacity() + self.moves.held_bytes()
    }

    fn clear(&mut self) {
        self.opened.clear();
        empty(&mut self.names);
        empty(&mut self.output);
        self.moves.clear();
    }
}

struct Scan<'a> {
    text: &'a [u8],
    /// The wanted name, and its head.
    sought: Option<(&'a [u8], u64)>,
    /// The text up to here was copied or rewritten to the output.
    copied: usize,
    wide: bool,
    /// Where the value of the wanted name starts.
    pending: Option<usize>,
    memory: &'a mut Scanner,
}

impl Scan<'_> {
    /// Scans the value at `at`. Returns the offset after it, and where the wanted value is.
    fn value(&mut self, at: usize) -> Result<(usize, Option<Range<usize>>), JsonFault> {
        let text = self.text;
        let mut found = None;
        let mut at = at;
        // The innermost container. The stack has the containers around it, and one default for the outermost level.
        let mut open = Open::default();
        loop {
            if open.is_object {
                at = self.name(&mut open, at)?;
            }
            match text.get(at) {
                Some(b'"') => at = self.string(at)?,
                Some(b'{') => {
                    let inside = self.space(at + 1);
                    if text.get(inside) == Some(&b'}') {
                        at = inside + 1;
                    } else {
                        self.open(open, at)?;
                        open = Open::object(self.memory.names.len());
                        at = inside;
                        continue;
                    }
                }
                Some(b'[') => {
                    let inside = self.space(at + 1);
                    if text.get(inside) == Some(&b']') {
                        at = inside + 1;
                    } else {
                        self.open(open, at)?;
                        open = Open::default();
                        at = inside;
                        continue;
                    }
                }
                Some(b'-' | b'0'..=b'9') => at = self.number(at)?,
                Some(b't') => at = skip_word(text, at, b"true")?,
                Some(b'f') => at = skip_word(text, at, b"false")?,
                Some(b'n') => at = skip_word(text, at, b"null")?,
                _ => return Err(JsonFault::Syntax(at)),
            }
            loop {
                let depth = self.memory.opened.len();
                if depth == 0 {
                    return Ok((at, found));
                }
                if depth == 1
                    && let Some(start) = self.pending.take()
                {
                    found = Some(start..at);
                }
                at = self.space(at);
                match text.get(at) {
                    Some(b',') => {
                        at = self.space(at + 1);
                        break;
                    }
                    Some(b'}') if open.is_object => self.close(open, at),
                    Some(b']') if !open.is_object => {}
                    _ => return Err(JsonFault::Syntax(at)),
                }
                at += 1;
                open = self.memory.opened.pop().unwrap_or_default();
            }
        }
    }

    #[inline]
    fn open(&mut self, around: Open, at: usize) -> Result<(), JsonFault> {
        deeper(self.memory.opened.len(), at)?;
        self.memory.opened.push(around);
        Ok(())
    }

    /// Copies the text up to `at`, and skips the text up to `next`.
    fn copy(&mut self, at: usize, next: usize) {
        self.memory.output.extend_from_slice(&self.text[self.copied..at]);
        self.copied = next;
    }

    /// Returns the position in the output of the text at `at`.
    fn place(&self, at: usize) -> usize {
        self.memory.output.len() + (at - self.copied)
    }

    #[inline]
    fn space(&mut self, at: usize) -> usize {
        match self.text.get(at) {
            Some(b' ' | b'\n' | b'\r' | b'\t') => {
                let end = skip_space(self.text, at + 1);
                self.copy(at, end);
                end
            }
            _ => at,
        }
    }

    #[inline]
    fn string(&mut self, at: usize) -> Result<usize, JsonFault> {
        let string = scan_string(self.text, at)?;
        self.wide |= string.wide;
        if !string.normal {
            self.copy(at, string.end);
            normalize_string(&self.text[at..string.end], &mut self.memory.output);
        }
        Ok(string.end)
    }

    #[inline]
    fn number(&mut self, at: usize) -> Result<usize, JsonFault> {
        let scan = skip_number(self.text, at)?;
        match form(self.text, scan) {
            Form::Same => {}
            Form::Cut(end) => self.copy(end, scan.end),
            Form::Other => {
                self.memory.cost += NUMBER_COST;
                let mut printed = Vec::with_capacity(32);
                if !push_number(self.text, scan, &mut printed) {
                    return Err(JsonFault::TooLarge(at));
                }
                if printed != self.text[at..scan.end] {
                    self.copy(at, scan.end);
                    self.memory.output.extend_from_slice(&printed);
                }
            }
        }
        Ok(scan.end)
    }

    /// Reads a name and its colon. Returns the offset of the value.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called from one place, where `open` is in registers")]
    fn name(&mut self, open: &mut Open, at: usize) -> Result<usize, JsonFault> {
        let start = self.place(at);
        let string = scan_string(self.text, at)?;
        let end = string.end;
        self.wide |= string.wide;
        let mut name = Name { head: 0, at: at + 1, len: end - at - 2, written: false, start };
        if string.normal {
            name.head = Name::head(self.text, name.at, name.len);
        } else {
            self.copy(at, end);
            normalize_string(&self.text[at..end], &mut self.memory.output);
            let len = self.memory.output.len() - start - 2;
            let head = Name::head(&self.memory.output, start + 1, len);
            name = Name { head, at: start + 1, len, written: true, start };
        }
        open.add(&self.memory.names[open.first..], &name, self.text, &self.memory.output);
        self.memory.names.push(name);
        let colon = self.space(end);
        let value = expect(self.text, colon, b':')?;
        let value = self.space(value);
        if let Some((sought, head)) = self.sought
            && self.memory.opened.len() == 1
            && (string.escaped || head == name.head)
            && is_name(&self.text[at..end], string.escaped, sought)
        {
            self.pending = Some(value);
        }
        Ok(value)
    }

    /// Ends the innermost object, whose bracket is at `at`.
    #[inline]
    fn close(&mut self, open: Open, at: usize) {
        if open.may_move(self.memory.names.len()) {
            self.arrange(open, at);
        }
        self.memory.names.truncate(open.first);
    }

    /// Reorders the members of the innermost object if needed.
    #[cold]
    fn arrange(&mut self, open: Open, at: usize) {
        let end = self.place(at);
        let Scanner { names, output, moves, cost, .. } = &mut *self.memory;
        *cost += moves.arrange(&names[open.first..], self.text, output, end, open.in_order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    /// Returns the normal form, and whether the scan said that `text` has it.
    fn normal(text: &str) -> (String, bool) {
        let mut scanner = Scanner::default();
        let scanned = scanner.scan(text.as_bytes(), 0, None).unwrap();
        assert_eq!(scanned.end, text.len(), "{text}");
        assert!(text.is_ascii() || !scanned.ascii, "{text}");
        if scanned.normal {
            return (text.into(), true);
        }
        let out = String::from_utf8(scanner.normalized().to_vec()).unwrap();
        assert!(scanner.scan(out.as_bytes(), 0, None).unwrap().normal, "{out}");
        (out, false)
    }

    #[test]
    fn text_in_normal_form_stays() {
        for text in [
            "{}",
            "[]",
            "[[],{},\"\",0,-1,1.5,1e+21,1e-7,true,false,null]",
            r#"{"id":"a","n":-12.25,"list":[1,{"x":"\n\"\\"}],"o":{"o":{}}}"#,
            r#"{"0":1,"7":2,"4294967294":3,"b":4,"4294967295":5,"01":6,"-1":7}"#,
            r#"{"__proto__":1,"constructor":2,"":3}"#,
            r#""\u0000\u001f\b\t\n\f\ré😀""#,
        ] {
            assert_eq!(normal(text), (text.into(), true), "{text}");
        }
    }

    #[test]
    fn other_text_is_rewritten_in_normal_form() {
        for (text, expected) in [
            ("[1 , 2]", "[1,2]"),
            ("{ \"a\" : [ ] }", "{\"a\":[]}"),
            ("{\"a\":{ }}", "{\"a\":{}}"),
            (r#""\u0041\/\u00E9\ud83d\ude00\u001F\u000a""#, "\"A/é😀\\u001f\\n\""),
            (r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#),
            (r#"{"a":1,"b":2,"\u0061":3,"a":4}"#, r#"{"a":4,"b":2}"#),
            (r#"{"b":1,"10":2,"9":3,"a":4}"#, r#"{"9":3,"10":2,"b":1,"a":4}"#),
            (r#"{"1":1,"0":2}"#, r#"{"0":2,"1":1}"#),
            (r#"{"0":1,"0":2}"#, r#"{"0":2}"#),
            (
                r#"{"b":{"b":1,"a":[{"x":1,"x":{"2":1,"1":2}}],"b":3},"0":{"b":1,"a":2,"b":3}}"#,
                r#"{"0":{"b":3,"a":2},"b":{"b":3,"a":[{"x":{"1":2,"2":1}}]}}"#,
            ),
            (
                r#"{"a":{"1":1,"0":1},"b":{"1":1,"0":1},"a":{"3":1,"2":1}}"#,
                r#"{"a":{"2":1,"3":1},"b":{"0":1,"1":1}}"#,
            ),
            (r#"{"":1,"":2}"#, r#"{"":2}"#),
            (
                r#"{"\u0031":1,"\u0030":{"\u0061\n":2},"\/":[ 0 ]}"#,
                r#"{"0":{"a\n":2},"1":1,"/":[0]}"#,
            ),
            (r#"{"o":{"x":1,"x":[2, 3]}}"#, r#"{"o":{"x":[2,3]}}"#),
            ("[1.0,-0,1E3,10e-1,0.10,1e-400,-1e-400]", "[1,0,1000,1,0.1,0,0]"),
        ] {
            assert_eq!(normal(text), (expected.into(), false), "{text}");
        }
    }

    #[test]
    fn repeated_names_are_found_among_many() {
        let members: Vec<String> = (0..100).map(|n| alloc::format!("\"m{n}\":{n}")).collect();
        let distinct = alloc::format!("{{{}}}", members.join(","));
        assert_eq!(normal(&distinct), (distinct.clone(), true));
        let repeated = alloc::format!("{{{},\"m3\":0}}", members.join(","));
        let expected = distinct.replace("\"m3\":3,", "\"m3\":0,");
        assert_eq!(normal(&repeated), (expected, false));
    }

    #[test]
    fn a_member_is_found_in_the_outermost_object_only() {
        let mut scanner = Scanner::default();
        for (text, expected) in [
            (r#"{"id":"a"}"#, Some("\"a\"")),
            (r#"{"x":{"id":1},"id":{"id":2},"y":[3]}"#, Some("{\"id\":2}")),
            (r#"{"id":1,"id":2}"#, Some("2")),
            (r#"{"\u0069d":7 }"#, Some("7")),
            (r#"{"x":{"id":1}}"#, None),
            (r#"["id"]"#, None),
            ("1", None),
        ] {
            let scanned = scanner.scan(text.as_bytes(), 0, Some(b"id")).unwrap();
            assert_eq!(scanned.found.map(|range| &text[range]), expected, "{text}");
        }
    }

    #[test]
    fn malformed_text_is_refused_as_by_skip_value() {
        for text in ["", "{", "{\"a\"", "{\"a\":", "[1,", "[1 2]", "{\"a\":1,}", "tru", "1.", "\"a"]
        {
            assert_eq!(
                Scanner::default().scan(text.as_bytes(), 0, None).map(|scanned| scanned.end),
                crate::json::skip_value(text.as_bytes(), 0),
                "{text}"
            );
        }
    }
}
