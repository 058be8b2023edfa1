//! Arbitrary bytes as a stream of rows, cut at arbitrary places. The result does not depend on the
//! cuts. Accepted values are in normal form, and equal to an independent reading. Memory stays
//! within a small multiple of the input.

use crate::allocation::peak_of;
use crate::input::Input;
use crate::json::{Refusal, Value, parse};
use hedgerow::batch::Edit;
use hedgerow::error::{Error, RowFault};
use hedgerow::json::{Pointer, Scanner};
use hedgerow::limits::MAX_KEY_BYTES;
use hedgerow::rows::{Bytes, Columns, Framing, Next, Reader};

/// A member of five bytes costs a name of some words, and lists grow by doubling.
const MEMORY_FACTOR: usize = 48;

/// Bytes that any input takes.
const MEMORY_BASE: usize = 16 << 10;

/// The pointers to the key of a row; `None` for rows of two columns.
const POINTERS: [Option<&str>; 5] = [None, Some("/id"), Some(""), Some("/a/0"), Some("/a/b")];

type Row = (Vec<u8>, Vec<u8>);

/// The rows read; and the row, the offset and the kind of the fault that ended the read.
#[derive(Debug, PartialEq)]
struct Read {
    rows: Vec<Row>,
    fault: Option<(u64, u64, RowFault)>,
}

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let pointer = input.one_of(&POINTERS);
    let framing = input.one_of(&[None, Some(Framing::Lines), Some(Framing::Array)]);
    let cuts = input.byte() % 8;
    let mut cuts = Input::new(input.split_tail(cuts.into()));
    let text = input.rest();
    let (whole, peak) = peak_of(|| read([text], pointer, framing));
    let rows: usize = whole.rows.iter().map(|(key, value)| 96 + key.len() + value.len()).sum();
    let most = MEMORY_FACTOR * text.len() + 2 * rows + MEMORY_BASE;
    assert!(peak <= most, "{peak} bytes for {} of text", text.len());
    if cuts.is_empty() {
        // All parts have one byte.
        assert_eq!(read(text.chunks(1), pointer, framing), whole);
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while !cuts.is_empty() {
        let (part, after) = rest.split_at(usize::from(cuts.byte()).min(rest.len()));
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    assert_eq!(read(parts, pointer, framing), whole);
    for (_, value) in &whole.rows {
        check_normal(value);
    }
    compare(text, pointer, framing, &whole);
}

fn read<'a>(
    parts: impl IntoIterator<Item = &'a [u8]>,
    pointer: Option<&str>,
    framing: Option<Framing>,
) -> Read {
    let columns = pointer.map_or(Columns::Two, |pointer| {
        Columns::Keyed(Pointer::parse(pointer).expect("a pointer"))
    });
    let mut reader = Reader::Bytes(Box::new(Bytes::new(columns, framing, Vec::new())));
    let mut rows = Vec::new();
    let mut parts = parts.into_iter();
    loop {
        let part = parts.next();
        let Reader::Bytes(bytes) = &mut reader else { unreachable!() };
        match part {
            Some(part) => bytes.room(part.len()).copy_from_slice(part),
            None => bytes.end(),
        }
        loop {
            let mut key = Vec::new();
            match reader.peek(rows.len() as u64, &mut key) {
                Ok(Next::More) => break,
                Ok(Next::Row(Edit::Put(value))) => rows.push((key, value.bytes().to_vec())),
                Ok(other) => panic!("no value: {other:?}"),
                Err(Error::Row { row, offset, fault }) => {
                    return Read { rows, fault: Some((row, offset, fault)) };
                }
                Err(other) => panic!("not the fault of a row: {other}"),
            }
            reader.advance();
        }
        if part.is_none() {
            assert!(reader.is_spent());
            return Read { rows, fault: None };
        }
    }
}

/// Checks that an accepted value is in normal form, and that reading it again does not change it.
fn check_normal(value: &[u8]) {
    let mut scanner = Scanner::default();
    let scanned = scanner.scan(value, 0, None).expect("a value");
    assert_eq!(scanned.end, value.len());
    assert!(value.is_ascii() || !scanned.ascii);
    // A scan does not look into halves of surrogate pairs.
    let has_half = value.windows(3).any(|bytes| bytes == b"\\ud");
    assert!(scanned.normal || has_half, "{}", value.escape_ascii());
    assert!(scanned.normal || scanner.normalized() == value, "{}", value.escape_ascii());
}

/// Compares with an independent reading, where that exists.
fn compare(text: &[u8], pointer: Option<&str>, framing: Option<Framing>, whole: &Read) {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let is_space = |byte: &u8| b" \t\r\n".contains(byte);
    let mut tokens = text.iter().filter(|byte| !is_space(byte));
    let is_array =
        matches!((tokens.next(), tokens.next()), (Some(b'['), None | Some(b'{' | b'[' | b']')));
    let is_empty = text.iter().all(is_space);
    let told = framing.unwrap_or(if is_array { Framing::Array } else { Framing::Lines });
    // An empty text has no rows in either framing.
    let framing = if is_empty { Framing::Lines } else { told };
    let values: Vec<Result<Value, Refusal>> = match framing {
        Framing::Lines => text
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.iter().all(is_space))
            .map(parse)
            .collect(),
        Framing::Array => match parse(text) {
            Ok(Value::Array(values)) => values.into_iter().map(Ok).collect(),
            Ok(_) | Err(Refusal::Malformed) => {
                assert!(whole.fault.is_some(), "what is no array is refused");
                return;
            }
            Err(Refusal::Beyond) => return,
        },
    };
    let path: Option<Vec<&str>> = pointer.map(|pointer| pointer.split('/').skip(1).collect());
    for (at, value) in values.iter().enumerate() {
        let row = match value {
            Ok(value) => row_of(value, path.as_deref()),
            Err(Refusal::Malformed) => None,
            Err(Refusal::Beyond) => return,
        };
        assert_eq!(whole.rows.get(at), row.as_ref(), "row {at}");
        if row.is_none() {
            assert!(whole.fault.is_some_and(|(row, ..)| row == at as u64));
            return;
        }
    }
    assert_eq!((whole.rows.len(), whole.fault), (values.len(), None));
}

fn row_of(value: &Value, path: Option<&[&str]>) -> Option<Row> {
    let (key, value) = match (path, value) {
        (Some(path), _) => (value.at(path)?, value),
        (None, Value::Array(pair)) => match &pair[..] {
            [key, value] => (key, value),
            _ => return None,
        },
        (None, _) => return None,
    };
    let Value::Text(key) = key else { return None };
    let mut text = String::new();
    value.print(&mut text);
    (key.len() <= MAX_KEY_BYTES).then(|| (key.clone().into_bytes(), text.into_bytes()))
}
