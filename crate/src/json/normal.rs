//! Normal form of JSON text: what `JSON.stringify(JSON.parse(text))` gives (ECMA-262, 25.5).
//!
//! No space between tokens; strings with the shortest escapes; numbers as
//! `Number.prototype.toString` prints them; of members with equal names the last value at
//! the place of the first; names that are array indices first, in ascending order.
//!
//! [`Scanner::scan`] checks the grammar and tells whether a value is in normal form already,
//! as text printed by `JSON.stringify` is. Only what is not is rewritten, by [`normalize`].

use crate::json::number::{is_normal_number, push_number};
use crate::json::scan::{JsonFault, Nesting, expect, skip_number, skip_space, skip_word};
use crate::json::string::{normalize_string, scan_string, unquote};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;

/// Names of an object up to this many are compared each with each.
const FEW_NAMES: usize = 16;

/// What a scan has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// The offset after the value.
    pub end: usize,
    /// The value is in normal form.
    pub normal: bool,
    /// The value of the member that was sought, with its quotes if it is a string.
    pub found: Option<Range<usize>>,
}

#[derive(Clone, Copy, Debug)]
struct Name {
    at: usize,
    len: usize,
    /// The first bytes of the name: most names differ here.
    head: u64,
}

/// The object around a place, as far as its names were read.
#[derive(Clone, Copy, Debug)]
struct Names {
    first: usize,
    /// The smallest array index that may still come; none when a name that is no index has.
    next_index: Option<u64>,
}

/// Scans values; keeps its memory from one to the next.
#[derive(Debug, Default)]
pub struct Scanner {
    names: Vec<Name>,
    objects: Vec<Names>,
}

impl Scanner {
    /// Scans the value that starts at `at`, and finds the member `sought` of it if it is an
    /// object: the last of equal names. Costs one pass over the value.
    ///
    /// # Errors
    /// The first fault.
    pub fn scan(
        &mut self,
        text: &[u8],
        at: usize,
        sought: Option<&[u8]>,
    ) -> Result<Scanned, JsonFault> {
        self.names.clear();
        self.objects.clear();
        let mut scan = Scan { text, sought, normal: true, pending: None, found: None };
        let mut nesting = Nesting::new();
        let mut at = at;
        loop {
            match text.get(at) {
                Some(b'"') => at = scan.string(at)?,
                Some(b'{') => {
                    let inside = scan.space(at + 1);
                    if text.get(inside) == Some(&b'}') {
                        at = inside + 1;
                    } else {
                        nesting.push(true, at)?;
                        self.objects.push(Names { first: self.names.len(), next_index: Some(0) });
                        at = self.name(&mut scan, inside, nesting.depth())?;
                        continue;
                    }
                }
                Some(b'[') => {
                    let inside = scan.space(at + 1);
                    if text.get(inside) == Some(&b']') {
                        at = inside + 1;
                    } else {
                        nesting.push(false, at)?;
                        at = inside;
                        continue;
                    }
                }
                Some(b'-' | b'0'..=b'9') => at = scan.number(at)?,
                Some(b't') => at = skip_word(text, at, b"true")?,
                Some(b'f') => at = skip_word(text, at, b"false")?,
                Some(b'n') => at = skip_word(text, at, b"null")?,
                _ => return Err(JsonFault::Syntax(at)),
            }
            loop {
                if nesting.depth() == 0 {
                    return Ok(Scanned { end: at, normal: scan.normal, found: scan.found });
                }
                if nesting.depth() == 1
                    && let Some(start) = scan.pending.take()
                {
                    scan.found = Some(start..at);
                }
                at = scan.space(at);
                let object = nesting.in_object();
                match text.get(at) {
                    Some(b',') => {
                        at = scan.space(at + 1);
                        if object {
                            at = self.name(&mut scan, at, nesting.depth())?;
                        }
                        break;
                    }
                    Some(b'}') if object => {
                        nesting.pop();
                        self.close(&mut scan);
                    }
                    Some(b']') if !object => nesting.pop(),
                    _ => return Err(JsonFault::Syntax(at)),
                }
                at += 1;
            }
        }
    }

    /// Reads a name and its colon; the offset of the value.
    #[inline]
    fn name(&mut self, scan: &mut Scan<'_>, at: usize, depth: usize) -> Result<usize, JsonFault> {
        let end = scan.string(at)?;
        let name = &scan.text[at + 1..end - 1];
        let colon = scan.space(end);
        let value = scan.space(expect(scan.text, colon, b':')?);
        let open = self.objects.last_mut();
        if scan.normal
            && let Some(open) = open
        {
            match (array_index(name), open.next_index) {
                (Some(index), Some(next)) if index >= next => open.next_index = Some(index + 1),
                (Some(_), _) => scan.normal = false,
                (None, _) => open.next_index = None,
            }
            let head = head(name);
            let before = &self.names[open.first..];
            if before.len() < FEW_NAMES {
                let is_equal = |other: &Name| {
                    other.head == head
                        && other.len == name.len()
                        && &scan.text[other.at..other.at + other.len] == name
                };
                scan.normal &= !before.iter().any(is_equal);
            }
            self.names.push(Name { at: at + 1, len: name.len(), head });
        }
        if depth == 1
            && let Some(sought) = scan.sought
            && is_name(&scan.text[at..end], sought)
        {
            scan.pending = Some(value);
        }
        Ok(value)
    }

    /// Ends the innermost object.
    fn close(&mut self, scan: &mut Scan<'_>) {
        let Some(Names { first, .. }) = self.objects.pop() else { return };
        let names = &self.names[first..];
        if scan.normal && names.len() > FEW_NAMES {
            let text = |at: usize| &scan.text[names[at].at..names[at].at + names[at].len];
            scan.normal = is_distinct(names.len(), &|a, b| text(a).cmp(text(b)));
        }
        self.names.truncate(first);
    }
}

struct Scan<'a> {
    text: &'a [u8],
    sought: Option<&'a [u8]>,
    normal: bool,
    /// Where the value starts that belongs to the name that was sought.
    pending: Option<usize>,
    found: Option<Range<usize>>,
}

impl Scan<'_> {
    #[inline]
    fn space(&mut self, at: usize) -> usize {
        match self.text.get(at) {
            Some(b' ' | b'\n' | b'\r' | b'\t') => {
                self.normal = false;
                skip_space(self.text, at)
            }
            _ => at,
        }
    }

    #[inline]
    fn string(&mut self, at: usize) -> Result<usize, JsonFault> {
        let (end, normal) = scan_string(self.text, at)?;
        self.normal &= normal;
        Ok(end)
    }

    #[inline]
    fn number(&mut self, at: usize) -> Result<usize, JsonFault> {
        let end = skip_number(self.text, at)?;
        self.normal = self.normal && is_normal_number(&self.text[at..end]);
        Ok(end)
    }
}

fn head(name: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let len = name.len().min(8);
    bytes[..len].copy_from_slice(&name[..len]);
    u64::from_le_bytes(bytes)
}

/// Whether a quoted name stands for `sought`.
pub(super) fn is_name(quoted: &[u8], sought: &[u8]) -> bool {
    if quoted.contains(&b'\\') {
        let mut name = Vec::new();
        unquote(quoted, &mut name).is_ok() && name == sought
    } else {
        &quoted[1..quoted.len() - 1] == sought
    }
}

/// The array index that a name is: objects list those first. (ECMA-262, 6.1.7 and 10.1.11.1)
fn array_index(name: &[u8]) -> Option<u64> {
    let (&first, _) = name.split_first()?;
    if !first.is_ascii_digit() || name.len() > 10 || (first == b'0' && name.len() > 1) {
        return None;
    }
    let mut index = 0_u64;
    for digit in name {
        index = index * 10 + u64::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
    }
    (index < u64::from(u32::MAX)).then_some(index)
}

#[derive(Clone, Copy, Debug)]
struct Member {
    /// Where it starts in the output, with its name.
    start: usize,
    name_end: usize,
    end: usize,
    index: Option<u64>,
}

/// Appends the normal form of `text`, a well-formed value as [`Scanner::scan`] has found it,
/// with nothing around it. Costs two passes; nesting is bounded by the scan.
pub fn normalize(text: &[u8], out: &mut Vec<u8>) {
    let mut writer = Writer { text, members: Vec::new(), scratch: Vec::new() };
    writer.value(0, out);
}

struct Writer<'a> {
    text: &'a [u8],
    members: Vec<Member>,
    scratch: Vec<u8>,
}

impl Writer<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or_default()
    }

    /// Writes the value at `at`; the offset after it.
    fn value(&mut self, at: usize, out: &mut Vec<u8>) -> usize {
        let at = skip_space(self.text, at);
        match self.byte(at) {
            b'{' => self.object(at, out),
            b'[' => self.array(at, out),
            b'"' => normalize_string(self.text, at, out),
            b'-' | b'0'..=b'9' => {
                let end = skip_number(self.text, at).unwrap_or(self.text.len());
                push_number(&self.text[at..end], out);
                end
            }
            first => {
                let end = at + if first == b'f' { 5 } else { 4 };
                out.extend_from_slice(self.text.get(at..end).unwrap_or_default());
                end
            }
        }
    }

    fn array(&mut self, at: usize, out: &mut Vec<u8>) -> usize {
        out.push(b'[');
        let mut at = skip_space(self.text, at + 1);
        while self.byte(at) != b']' && at < self.text.len() {
            at = skip_space(self.text, self.value(at, out));
            if self.byte(at) == b',' {
                out.push(b',');
                at += 1;
            }
        }
        out.push(b']');
        at + 1
    }

    fn object(&mut self, at: usize, out: &mut Vec<u8>) -> usize {
        out.push(b'{');
        let (opened, first) = (out.len(), self.members.len());
        let mut at = skip_space(self.text, at + 1);
        while self.byte(at) != b'}' && at < self.text.len() {
            let start = out.len();
            at = skip_space(self.text, normalize_string(self.text, at, out));
            let name_end = out.len();
            out.push(b':');
            // `at` is at the colon.
            at = skip_space(self.text, self.value(at + 1, out));
            let index = array_index(&out[start + 1..name_end - 1]);
            self.members.push(Member { start, name_end, end: out.len(), index });
            if self.byte(at) == b',' {
                at = skip_space(self.text, at + 1);
            }
            out.push(b',');
        }
        self.arrange(first, opened, out);
        out.push(b'}');
        at + 1
    }

    /// Brings the members from `first` on, written from `opened` on with a comma after each,
    /// into their order, and drops the last comma.
    fn arrange(&mut self, first: usize, opened: usize, out: &mut Vec<u8>) {
        let members = &self.members[first..];
        if is_arranged(members, out) {
            if !members.is_empty() {
                out.pop();
            }
            self.members.truncate(first);
            return;
        }
        let name = |at: usize| &out[members[at].start..members[at].name_end];
        let by_name = sorted(members.len(), &|a, b| name(a).cmp(name(b)).then(a.cmp(&b)));
        // The place of each member that is kept: that of the first of its name.
        let mut kept: Vec<(usize, usize)> = Vec::with_capacity(by_name.len());
        for at in by_name {
            match kept.last_mut() {
                Some((_, last)) if name(*last) == name(at) => *last = at,
                _ => kept.push((at, at)),
            }
        }
        let rank = |at: usize| (members[kept[at].1].index.unwrap_or(u64::MAX), kept[at].0);
        let order = sorted(kept.len(), &|a, b| rank(a).cmp(&rank(b)));
        self.scratch.clear();
        for (count, at) in order.into_iter().enumerate() {
            if count > 0 {
                self.scratch.push(b',');
            }
            let member = members[kept[at].1];
            self.scratch.extend_from_slice(&out[member.start..member.end]);
        }
        out.truncate(opened);
        out.extend_from_slice(&self.scratch);
        self.members.truncate(first);
    }
}

/// Whether members stand in their order, without repetition. Most do, and are not moved.
fn is_arranged(members: &[Member], out: &[u8]) -> bool {
    let name = |member: &Member| &out[member.start..member.name_end];
    let indices = members.iter().take_while(|member| member.index.is_some()).count();
    let (front, rest) = members.split_at(indices);
    if rest.iter().any(|member| member.index.is_some())
        || !front.windows(2).all(|pair| pair[0].index < pair[1].index)
    {
        return false;
    }
    if rest.len() <= FEW_NAMES {
        let is_new = |at: usize| rest[..at].iter().all(|other| name(other) != name(&rest[at]));
        return (1..rest.len()).all(is_new);
    }
    is_distinct(rest.len(), &|a, b| name(&rest[a]).cmp(name(&rest[b])))
}

/// What orders two things by their positions. Not generic: a sort is 4 KB of code, and none
/// of these is on a hot path.
type Order<'a> = &'a dyn Fn(usize, usize) -> Ordering;

fn sorted(len: usize, order: Order<'_>) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..len).collect();
    positions.sort_unstable_by(|a, b| order(*a, *b));
    positions
}

fn is_distinct(len: usize, order: Order<'_>) -> bool {
    sorted(len, order).windows(2).all(|pair| order(pair[0], pair[1]) != Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    /// The normal form, and whether the scan said that `text` has it.
    fn normal(text: &str) -> (String, bool) {
        let scanned = Scanner::default().scan(text.as_bytes(), 0, None).unwrap();
        assert_eq!(scanned.end, text.len(), "{text}");
        let mut out = Vec::new();
        normalize(text.as_bytes(), &mut out);
        (String::from_utf8(out).unwrap(), scanned.normal)
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
    fn other_text_is_brought_to_it() {
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
            (r#"{"o":{"x":1,"x":[2, 3]}}"#, r#"{"o":{"x":[2,3]}}"#),
            ("[1.0,-0,1E3,10e-1,0.10,1e400,-1e400]", "[1,0,1000,1,0.1,null,null]"),
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
    fn a_member_is_found_where_it_counts() {
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
