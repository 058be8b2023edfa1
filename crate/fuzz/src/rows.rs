//! Arbitrary bytes as blocks of rows: each is refused with the place and the reason, or
//! makes a store that reads back whole after all memory is lost.

use crate::input::Input;
use hedgerow::boundary::Shape;
use hedgerow::error::Error;
use hedgerow::ingest::{ByteValue, Format};
use hedgerow::json::Pointer;
use hedgerow::tree::{Parts, Range};
use hedgerow_support::host::Host;

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut host = Host::new(Shape::with_target(64));
    let mut ingest = host.ingest();
    let how = input.byte();
    let mut blocks = vec![input.rest()];
    if how & 4 != 0 {
        // Where the input says so, the next block starts.
        blocks = blocks[0].split(|byte| *byte == 0xff).collect();
    }
    let mut rows = 0;
    for block in blocks {
        let format = match how % 4 {
            0 | 1 => Format::Pairs,
            2 => Format::Rows(Pointer::parse("/id").expect("a pointer")),
            _ => Format::Deletes,
        };
        // Sometimes byte values, at any places.
        let (mut values, mut text_len) = (Vec::new(), block.len());
        if how & 8 != 0 {
            let mut tail = Input::new(block);
            let mut places = Input::new(tail.split_tail(6));
            let mut value =
                |row| ByteValue { row, start: places.word().into(), len: places.byte().into() };
            values = vec![value(0), value(1)];
            text_len -= block.len().min(6);
        }
        ingest.feed(block.to_vec(), text_len, values, format);
        match host.drive(&mut ingest) {
            Ok(()) => assert!(ingest.rows() >= rows),
            Err(Error::Row { row, offset, .. }) => {
                assert!(row >= rows && row == ingest.rows() && offset <= block.len() as u64);
                return;
            }
            Err(other) => panic!("not the fault of a row: {other}"),
        }
        rows = ingest.rows();
    }
    host.finish(&mut ingest).expect("a commit");
    host.reopen(0);
    let tree = host.tree();
    assert!(tree.count <= rows);
    let parts = Parts { keys: true, values: true };
    let (out, result) = host.scanned(tree, &Range::ALL, false, u64::MAX, parts);
    result.expect("what was just stored");
    assert_eq!(u64::from(out.members()), 2 * tree.count);
    core::str::from_utf8(&out.text).expect("one block of text");
}
