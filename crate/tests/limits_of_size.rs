//! The matrix of limits for the largest values: 64 MiB. Every writer writes one into an empty store, and
//! refuses one that is a byte larger. Every reader reads the value of one writer. All combinations, with
//! other stores and with indexes, would take minutes.

use hedgerow::boundary::Shape;
use hedgerow::error::{Error, RowFault};
use hedgerow::hash::Hash;
use hedgerow::limits::{MAX_ROW_TEXT_BYTES, MAX_VALUE_BYTES};
use hedgerow::rows::{Columns, Framing};
use hedgerow::tree::{Parts, Range};
use hedgerow::value::Kind;
use hedgerow_support::host::Host;
use hedgerow_support::limits::{Base, Outcome, READERS, Row, WRITERS, feed_stream, write};
use hedgerow_support::property::sampled;
use hedgerow_support::values::{Values, bytes};

fn is_too_large(error: &Error) -> bool {
    matches!(error, Error::Row { fault: RowFault::ValueTooLarge, .. })
}

#[test]
fn the_largest_value_is_written_by_every_writer_and_a_larger_one_by_none() {
    let (at, above) = (Row::of_len(MAX_VALUE_BYTES), Row::of_len(MAX_VALUE_BYTES + 1));
    let mut root = None;
    for writer in sampled(&WRITERS, 8) {
        let mut host = Host::new(Shape::STORED);
        let error = write(&mut host, writer, &above).expect_err(writer.name);
        assert!(is_too_large(&error), "{}: {error:?}", writer.name);
        assert_eq!(host.root, Hash::ZERO);
        assert_eq!(write(&mut host, writer, &at), Ok(()), "{}", writer.name);
        let before = *root.get_or_insert(host.root);
        assert_eq!(host.root, before, "{}", writer.name);
    }
}

#[test]
fn the_largest_value_is_read_by_every_reader() {
    let at = Row::of_len(MAX_VALUE_BYTES);
    for (reader, reads) in sampled(&READERS, 8) {
        let (mut host, before) = Base::Empty.host(Shape::STORED, &[], &at);
        assert_eq!(write(&mut host, &WRITERS[0], &at), Ok(()));
        let outcome = Outcome { row: &at, base: Base::Empty, before };
        assert!(reads(&mut host, &outcome), "{reader}");
    }
}

#[test]
fn the_largest_bytes_are_written_and_larger_ones_are_not() {
    let values = |len: usize| Values::from([("k".to_owned(), (Kind::Bytes, bytes(len, 1)))]);
    let mut host = Host::new(Shape::STORED);
    let above = values(MAX_VALUE_BYTES + 1);
    let mut ingest = host.ingest();
    let error = host.feed_values(&mut ingest, &above).expect_err("too many bytes");
    assert!(is_too_large(&error), "{error:?}");
    let at = values(MAX_VALUE_BYTES);
    host.put_values(&at);
    let parts = Parts { keys: false, values: true };
    let scanned = host.scanned(host.tree(), &Range::ALL, false, 1, parts).0;
    assert!(scanned.bytes == at["k"].1);
}

#[test]
fn the_longest_text_of_a_row_is_read_and_a_longer_one_is_not() {
    let framings = [Framing::Lines, Framing::Array];
    let lengths = [(MAX_ROW_TEXT_BYTES, true), (MAX_ROW_TEXT_BYTES + 1, false)];
    let pairs = framings.iter().flat_map(|framing| lengths.map(|length| (*framing, length)));
    for (framing, (len, fits)) in sampled(pairs, 3) {
        let text = format!("[\"k\",{}1]", " ".repeat(len - 7));
        assert_eq!(text.len(), len);
        let mut host = Host::new(Shape::STORED);
        let fed = feed_stream(&mut host, Columns::Two, framing, &text);
        match fed {
            Ok(()) => assert!(fits, "{framing:?}"),
            Err(error) => assert!(!fits && is_too_large(&error), "{framing:?}: {error:?}"),
        }
        assert_eq!(host.get("k").is_some(), fits);
    }
}
