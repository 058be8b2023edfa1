//! Tests with bytes that were made to take much time or memory.

use super::{Bytes, Columns, Framing, Next, Reader};
use crate::batch::Edit;
use crate::error::{Error, RowFault};
use crate::json::Pointer;
use crate::limits::{MAX_JSON_DEPTH, MAX_ROW_TEXT_BYTES};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use std::time::Duration;
#[cfg(not(target_arch = "wasm32"))]
use std::time::Instant;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::Instant;

const MIB: usize = 1 << 20;

/// A limit for tests of linear time, which takes seconds, and minutes on a busy machine: quadratic time would take hours.
const LONG: Duration = Duration::from_secs(600);

/// The number of rows, the last value, and the fault that ended the read.
type Read = (u64, Vec<u8>, Option<(u64, RowFault)>);

fn reader(framing: Option<Framing>) -> Reader {
    let pointer = Pointer::parse("/id").expect("a pointer");
    Reader::Bytes(Box::new(Bytes::new(Columns::Keyed(pointer), framing, Vec::new())))
}

fn stream(reader: &mut Reader) -> &mut Bytes {
    let Reader::Bytes(bytes) = reader else { unreachable!() };
    bytes
}

/// Reads all complete rows; returns the fault that ended the read, if any.
fn drain(reader: &mut Reader, rows: &mut u64, last: &mut Vec<u8>) -> Option<(u64, RowFault)> {
    loop {
        match reader.peek(*rows, &mut Vec::new()) {
            Ok(Next::More) => return None,
            Ok(Next::Row(Edit::Put(value))) => *last = value.bytes().to_vec(),
            Err(Error::Row { offset, fault, .. }) => return Some((offset, fault)),
            other => panic!("{other:?}"),
        }
        *rows += 1;
        reader.advance();
    }
}

fn read(text: &[u8], part: usize, framing: Option<Framing>) -> Read {
    let start = Instant::now();
    let mut reader = reader(framing);
    let (mut rows, mut last) = (0, Vec::new());
    for part in text.chunks(part) {
        stream(&mut reader).room(part.len()).copy_from_slice(part);
        if let Some(fault) = drain(&mut reader, &mut rows, &mut last) {
            return (rows, last, Some(fault));
        }
        assert!(start.elapsed() < LONG, "in parts of {}", part.len());
    }
    stream(&mut reader).end();
    let fault = drain(&mut reader, &mut rows, &mut last);
    (rows, last, fault)
}

#[test]
fn long_tokens_in_tiny_parts_take_linear_time() {
    let space = " ".repeat(MIB);
    let (lines, array) = (Some(Framing::Lines), Some(Framing::Array));
    let long = |text: &str| format!("{{\"id\":\"{text}\",\"id\":\"a\"}}");
    let row = long(&"x".repeat(MIB));
    for (text, framing, rows) in [
        (format!("{space}{}", long("x")), None, 1),
        (format!("[{space}]"), None, 0),
        (format!("[{space}"), array, 0),
        (format!("[{space}{}{space},{space}{0}{space}]{space}", long("x")), None, 2),
        (format!("{space}{}{space}\n{space}", long("x")), lines, 1),
        (space.replace(' ', "\n"), lines, 0),
        (row.clone(), lines, 1),
        (format!("[{row},{row}]"), array, 2),
        (format!("[{}]", long(&"\\u0041".repeat(MIB / 6))), array, 1),
        (format!("[{}]", "1".repeat(MIB)), array, 0),
        (format!("[{}", "x".repeat(MIB)), array, 0),
    ] {
        for part in [1, 4000] {
            assert_eq!(read(text.as_bytes(), part, framing).0, rows, "{:.20}", &text[MIB / 2..]);
        }
    }
}

#[test]
fn parts_without_bytes_cost_nothing() {
    let mut reader = reader(Some(Framing::Array));
    let text = format!("[{{\"id\":\"a\",\"x\":\"{}", "x".repeat(MIB));
    let (mut rows, mut last) = (0, Vec::new());
    stream(&mut reader).room(text.len()).copy_from_slice(text.as_bytes());
    let start = Instant::now();
    for _ in 0..MIB {
        stream(&mut reader).room(0);
        assert_eq!(drain(&mut reader, &mut rows, &mut last), None);
    }
    assert!(start.elapsed() < LONG);
}

#[test]
fn members_that_move_at_every_level_are_copied_once() {
    let depth = MAX_JSON_DEPTH - 1;
    let inner = format!("\"{}\"", "x".repeat(8 * MIB));
    let mut text = String::from("{\"id\":\"a\",\"v\":");
    text.push_str(&"{\"b\":0,\"1\":1,\"b\":".repeat(depth));
    text.push_str(&inner);
    text.push_str(&"}".repeat(depth + 1));
    let mut expected = String::from("{\"id\":\"a\",\"v\":");
    expected.push_str(&"{\"1\":1,\"b\":".repeat(depth));
    expected.push_str(&inner);
    expected.push_str(&"}".repeat(depth + 1));
    let (rows, value, fault) = read(text.as_bytes(), MIB, None);
    assert_eq!((rows, fault), (1, None));
    assert!(value == expected.as_bytes());
}

#[test]
fn objects_of_a_million_members() {
    let members = |count: usize, name: fn(usize) -> String| {
        let members: Vec<_> = (0..count).map(|at| format!("\"{}\":{at}", name(at))).collect();
        format!("{{\"id\":\"a\",{}}}", members.join(","))
    };
    let start = Instant::now();
    let distinct = members(1_000_000, |at| format!("n{at}"));
    assert!(read(distinct.as_bytes(), MIB, None).1 == distinct.as_bytes());
    let repeated = members(1_000_000, |_| "n".into());
    assert_eq!(read(repeated.as_bytes(), MIB, None).1, b"{\"id\":\"a\",\"n\":999999}");
    let backwards = members(1_000_000, |at| format!("{}", 1_000_000 - at));
    assert!(read(backwards.as_bytes(), MIB, None).1.starts_with(b"{\"1\":999999,\"2\":999998,"));
    let alike = members(10_000, |at| format!("{}{at}", "same".repeat(250)));
    assert!(read(alike.as_bytes(), MIB, None).1 == alike.as_bytes());
    assert!(start.elapsed() < LONG);
}

#[test]
fn a_row_that_is_too_long_is_refused_by_its_length_only() {
    let row = |length: usize| {
        let (head, tail) = ("{\"id\":\"a\",\"x\":\"", "\"}");
        format!("{head}{}{tail}", " ".repeat(length - head.len() - tail.len()))
    };
    for (length, fault) in [
        // The value is too large, but the text is not.
        (MAX_ROW_TEXT_BYTES, Some((1, RowFault::ValueTooLarge))),
        (MAX_ROW_TEXT_BYTES + 1, Some((1, RowFault::ValueTooLarge))),
    ] {
        let row = row(length);
        for (text, framing) in
            [(format!(" {row}\n"), Framing::Lines), (format!("[{row} ]"), Framing::Array)]
        {
            for part in [text.len(), MIB + 1] {
                let got = read(text.as_bytes(), part, Some(framing));
                assert_eq!((got.0, got.2), (0, fault), "{length} bytes, {part} at a time");
            }
        }
    }
    // White space around rows does not count, and a fault before the limit is reported first.
    let space = " ".repeat(MAX_ROW_TEXT_BYTES + 1);
    let bad = format!("[{{\"id\":\"a\",\"x\" {}", "x".repeat(MAX_ROW_TEXT_BYTES));
    for part in [usize::MAX, MIB + 1] {
        let text = format!("{space}{{\"id\":\"a\"}}\n{space}\n{space}{{\"id\":\"b\"}}");
        let got = read(text.as_bytes(), part, None);
        assert_eq!((got.0, got.2), (2, None));
        let got = read(bad.as_bytes(), part, None);
        assert_eq!(got.2, Some((15, RowFault::Syntax)));
        let got = read(format!("[{}]", "1".repeat(MAX_ROW_TEXT_BYTES + 1)).as_bytes(), part, None);
        assert_eq!(got.2, Some((0, RowFault::ValueTooLarge)), "a line");
    }
}

#[test]
fn memory_of_a_large_row_is_freed() {
    let row = |bytes: usize| format!("{{ \"id\":\"a\", \"x\":\"{}\"}}\n", "x".repeat(bytes));
    let mut reader = reader(Some(Framing::Lines));
    let (mut rows, mut last) = (0, Vec::new());
    for (text, most) in [(row(32 * MIB), 100 * MIB), (row(10), 6 * MIB), (row(10), 6 * MIB)] {
        for part in text.as_bytes().chunks(MIB) {
            stream(&mut reader).room(part.len()).copy_from_slice(part);
            assert_eq!(drain(&mut reader, &mut rows, &mut last), None);
        }
        let held = stream(&mut reader).held_bytes();
        assert!(held <= most, "{held}");
    }
    assert_eq!(rows, 3);
}
