//! The matrix of limits. A row at a limit, written by any writer, is read by every reader. A row above it is
//! refused with the right error, and the store is unchanged. The sizes of 64 MiB are in `limits_of_size.rs`,
//! sum trees and commits in `limits_of_trees.rs`.

use hedgerow::boundary::Shape;
use hedgerow::error::{Error, RowFault};
use hedgerow::index::Definition;
use hedgerow::limits::{MAX_INLINE_VALUE_BYTES, MAX_JSON_DEPTH, MAX_KEY_BYTES, PIECE_BYTES};
use hedgerow_support::host::Host;
use hedgerow_support::limits::{BASES, Outcome, READERS, Row, WRITERS, write};

const SMALL: Shape = Shape::with_target(128);

/// A row at a limit, and a row above it with the reason to refuse it; without a reason if it is accepted.
struct Limit {
    name: &'static str,
    at: Row,
    above: (Row, Option<RowFault>),
}

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    [&open.repeat(depth), inner, &close.repeat(depth)].concat()
}

/// Makes a row whose own containers are one deep at the payload.
fn deep(open: &str, inner: &str, close: &str, depth: usize) -> Row {
    Row::new("k", &nested(open, inner, close, depth - 1))
}

fn limits() -> Vec<Limit> {
    let key = |key: String| Row::new(&key, "1");
    let (too_long, too_deep) = (Some(RowFault::KeyTooLong), Some(RowFault::TooDeep));
    let depth = MAX_JSON_DEPTH;
    let limit = |name, at, above, fault| Limit { name, at, above: (above, fault) };
    vec![
        limit(
            "key bytes",
            key("k".repeat(MAX_KEY_BYTES)),
            key("k".repeat(MAX_KEY_BYTES + 1)),
            too_long,
        ),
        limit(
            "key bytes of UTF-8",
            key("é".repeat(MAX_KEY_BYTES / 2)),
            key("é".repeat(MAX_KEY_BYTES / 2) + "k"),
            too_long,
        ),
        limit(
            "depth of arrays",
            deep("[", "1", "]", depth),
            deep("[", "1", "]", depth + 1),
            too_deep,
        ),
        limit(
            "depth of objects",
            deep("{\"a\":", "1", "}", depth),
            deep("{\"a\":", "1", "}", depth + 1),
            too_deep,
        ),
        limit(
            "depth around what is empty",
            deep("[", "{}", "]", depth),
            deep("[", "{}", "]", depth + 1),
            too_deep,
        ),
        limit(
            "inline value bytes",
            Row::of_len(MAX_INLINE_VALUE_BYTES),
            Row::of_len(MAX_INLINE_VALUE_BYTES + 1),
            None,
        ),
        limit("piece bytes", Row::of_len(PIECE_BYTES), Row::of_len(PIECE_BYTES + 1), None),
        // An entry of an index takes 4 bytes besides the key of the row and the text.
        limit(
            "entry bytes of an index",
            key("k".repeat(MAX_KEY_BYTES / 2 - 1)),
            key("k".repeat(MAX_KEY_BYTES / 2)),
            None,
        ),
    ]
}

fn definitions() -> [Definition; 2] {
    [r#"["","/id"]"#, r#"["k","/n/id"]"#].map(|text| Definition::parse(text).expect("a definition"))
}

#[test]
fn at_a_limit_all_readers_agree_and_one_above_nothing_is_written() {
    let (mut read, mut refused) = (0, 0);
    for Limit { name, at, above: (above, fault) } in &limits() {
        for base in BASES {
            let mut roots = Vec::new();
            for writer in &WRITERS {
                let context = format!("{name}, {} into {base:?}", writer.name);
                let mut good = |row: &Row| {
                    let (mut host, before) = base.host(SMALL, &definitions(), row);
                    assert_eq!(write(&mut host, writer, row), Ok(()), "{context}");
                    let outcome = Outcome { row, base, before };
                    for (reader, reads) in &READERS {
                        assert!(reads(&mut host, &outcome), "{context}: {reader}");
                        read += 1;
                    }
                    host.root
                };
                let root = good(at);
                let Some(fault) = fault else {
                    roots.push((root, good(above)));
                    continue;
                };
                roots.push((root, root));
                let (mut host, _) = base.host(SMALL, &definitions(), at);
                let before = (host.root, host.forest.clone());
                match write(&mut host, writer, above) {
                    Err(Error::Row { fault: found, .. }) => assert_eq!(found, *fault, "{context}"),
                    other => panic!("{context}: {other:?}"),
                }
                assert_eq!((host.root, &host.forest), (before.0, &before.1), "{context}");
                assert_eq!(write(&mut host, writer, at), Ok(()), "{context}: after a refusal");
                assert_eq!(host.root, root, "{context}: after a refusal");
                refused += 1;
            }
            // The store is the same with every writer.
            assert!(roots.iter().all(|root| *root == roots[0]), "{name} into {base:?}");
        }
    }
    let (all, open) =
        (limits().len(), limits().iter().filter(|limit| limit.above.1.is_none()).count());
    let written = BASES.len() * WRITERS.len();
    assert_eq!(read, (all + open) * written * READERS.len());
    assert_eq!(refused, (all - open) * written);
    println!("{read} reads of what is at a limit, {refused} refusals of what is above");
}

#[test]
fn a_key_above_the_limit_cannot_be_deleted_either() {
    use hedgerow::ingest::Format;
    use hedgerow_support::rows::list;
    let mut host = Host::new(Shape::STORED);
    let key = |len: usize| list(&["k".repeat(len)]);
    let patch = |len: usize| format!(r#"[{{"op":"del","key":"{}"}}]"#, "k".repeat(len));
    for (text, format) in
        [(key(MAX_KEY_BYTES), Format::Deletes), (patch(MAX_KEY_BYTES), Format::Patch)]
    {
        assert!(host.commit(&[(text, format)]).is_ok());
    }
    for (text, format) in
        [(key(MAX_KEY_BYTES + 1), Format::Deletes), (patch(MAX_KEY_BYTES + 1), Format::Patch)]
    {
        let error = host.commit(&[(text, format)]).map(drop).unwrap_err();
        assert!(matches!(error, Error::Row { fault: RowFault::KeyTooLong, .. }), "{error:?}");
    }
}
