//! Hostile deltas: each fault is refused with its field and its offset, however the bytes are cut, and
//! no edit is taken before it was checked.

use hedgerow::batch::Edit;
use hedgerow::delta::{Decoder, DeltaError, Next};
use hedgerow::error::{DecodeError, Field};
use hedgerow::limits::{MAX_DELTA_BYTES, MAX_KEY_BYTES, MAX_VALUE_BYTES};
use hedgerow::value::Kind;
use hedgerow_support::deltas::{Edits, HEADER, apply, edit, encoded, varint};
use hedgerow_support::faults::{Facts, facts};
use hedgerow_support::host::Host;
use hedgerow_support::rows::issue;

use super::SMALL;

/// Reads a delta in parts of `part` bytes; returns its edits as they would be encoded again.
fn read(bytes: &[u8], part: usize) -> Result<Edits, DecodeError> {
    let mut decoder = Decoder::new();
    let mut edits = Edits::new();
    for part in bytes.chunks(part).map(Some).chain([None]) {
        match part {
            Some(part) => decoder.room(part.len()).copy_from_slice(part),
            None => decoder.end(),
        }
        loop {
            match decoder.read()? {
                Next::Edit(key, edit) => {
                    let value = match edit {
                        Edit::Put(value) => Some((value.kind(), value.bytes().to_vec())),
                        _ => None,
                    };
                    assert!(edits.insert(key.to_vec(), value).is_none(), "a key twice");
                }
                Next::More => break,
                Next::End => {
                    assert!(part.is_none());
                    return Ok(edits);
                }
            }
        }
    }
    panic!("neither an end nor a fault")
}

/// Puts parts between a header and an end of `count` edits.
fn delta(parts: &[Vec<u8>], count: usize) -> Vec<u8> {
    [HEADER.to_vec(), parts.concat(), vec![0], varint(count)].concat()
}

fn put(before: &str, key: &str, text: &str) -> Vec<u8> {
    edit(before.as_bytes(), key.as_bytes(), Some(&(Kind::Json, text.as_bytes().to_vec())))
}

fn sample() -> Vec<u8> {
    let json = |text: &str| Some((Kind::Json, text.as_bytes().to_vec()));
    encoded(&Edits::from([
        (b"".to_vec(), json("null")),
        (b"a/1".to_vec(), json("{\"a\":[1,\"\u{e9}\"]}")),
        (b"a/12".to_vec(), None),
        ("a/\u{e9}".as_bytes().to_vec(), Some((Kind::Bytes, vec![0, 255, 7]))),
        (b"b".to_vec(), json("[true,-1.5e-9]")),
        (vec![b'c'; 20], None),
    ]))
}

/// Makes a delta of one edit.
fn one(bytes: &[u8]) -> Vec<u8> {
    delta(&[bytes.to_vec()], 1)
}

/// A name, a delta, and the facts that the error must state.
type Case = (&'static str, Vec<u8>, Facts);

fn values_with_one_fault() -> Vec<Case> {
    vec![
        (
            "a value too large",
            one(&[vec![5, 0, b'a'], varint(MAX_VALUE_BYTES + 1)].concat()),
            (Field::ValueLength, 8, MAX_VALUE_BYTES as u64, MAX_VALUE_BYTES as u64 + 1),
        ),
        (
            "a value of 4 GiB",
            one(&[vec![6, 0, b'a'], varint(u32::MAX as usize)].concat()),
            (Field::ValueLength, 8, MAX_VALUE_BYTES as u64, u32::MAX.into()),
        ),
        ("no JSON", one(&put("", "a", "")), (Field::ValueText, 9, 0, 0)),
        ("half of a value", one(&put("", "a", "[1")), (Field::ValueText, 9, 0, 2)),
        ("two values", one(&put("", "a", "1 2")), (Field::ValueText, 9, 0, 3)),
        ("a space in a value", one(&put("", "a", "[1, 2]")), (Field::ValueText, 9, 0, 6)),
        ("a number of other form", one(&put("", "a", "1.0")), (Field::ValueText, 9, 0, 3)),
        ("a name twice", one(&put("", "a", "{\"a\":1,\"a\":2}")), (Field::ValueText, 9, 0, 13)),
        (
            "JSON that is not UTF-8",
            one(&[5, 0, b'a', 3, b'"', 0xff, b'"']),
            (Field::ValueText, 9, 0, 3),
        ),
        (
            "JSON nested too deep",
            one(&put("", "a", &("[".repeat(600) + &"]".repeat(600)))),
            (Field::ValueText, 10, 0, 1200),
        ),
    ]
}

#[test]
fn a_delta_with_one_fault_is_refused() {
    let good = delta(&[put("", "a", "1"), put("a", "ab", "2"), edit(b"ab", b"b", None)], 3);
    assert_eq!(good.len(), 20);
    assert!(read(&good, 1).is_ok());
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    let long = vec![b'k'; MAX_KEY_BYTES];
    let mut cases: Vec<Case> = vec![
        ("no bytes", vec![], (Field::Length, 0, 5, 0)),
        ("no version", HEADER[..4].to_vec(), (Field::Length, 4, 5, 4)),
        ("another magic", with(3, b'T'), (Field::Kind, 3, b'D'.into(), b'T'.into())),
        ("version 0", with(4, 0), (Field::Version, 4, 1, 0)),
        ("version 2", with(4, 2), (Field::Version, 4, 1, 2)),
        ("no end", good[..18].to_vec(), (Field::Length, 18, 19, 18)),
        ("no count", good[..19].to_vec(), (Field::Length, 19, 20, 19)),
        ("another count", with(19, 4), (Field::Count, 19, 3, 4)),
        ("a byte after the end", [&good[..], b"xyz"].concat(), (Field::Length, 20, 20, 21)),
        ("an end with a key", with(18, 4), (Field::KeyLength, 18, 0, 1)),
        ("a first key that shares", with(6, 1), (Field::KeyLength, 6, 0, 1)),
        ("a key that shares too much", with(11, 2), (Field::KeyLength, 11, 1, 2)),
        (
            "a key that shares too little",
            one(&[put("", "a", "1"), vec![11, 0, b'a', b'b']].concat()),
            (Field::KeyOrder, 12, 1, 2),
        ),
        (
            "an equal key",
            one(&[put("", "a", "1"), vec![3, 1]].concat()),
            (Field::KeyOrder, 12, 1, 1),
        ),
        (
            "a lower key",
            one(&[put("", "b", "1"), vec![7, 0, b'a']].concat()),
            (Field::KeyOrder, 12, 1, 1),
        ),
        ("no key after the empty one", one(&[3, 0, 3, 0]), (Field::KeyOrder, 9, 0, 0)),
        (
            "a prefix of the key before",
            one(&[put("", "ab", "1"), vec![3, 1]].concat()),
            (Field::KeyOrder, 13, 2, 1),
        ),
        (
            "a key of 1025 bytes",
            one(&[varint(4 * (MAX_KEY_BYTES + 1) + 3), vec![0], long.clone(), vec![b'k']].concat()),
            (Field::KeyLength, 5, MAX_KEY_BYTES as u64, 1025),
        ),
        (
            "a key of 1025 bytes, most of them shared",
            one(&[edit(b"", &long, None), varint(7), varint(MAX_KEY_BYTES), vec![b'k']].concat()),
            (Field::KeyLength, 5 + 3 + MAX_KEY_BYTES, 0, 1),
        ),
        ("a key that is not text", one(&[7, 0, 0xff]), (Field::KeyText, 7, 1, 0)),
        ("half a character", one(&[7, 0, 0xc3]), (Field::KeyText, 7, 1, 0)),
        ("a longer number than needed", one(&[0x87, 0, 0, b'a']), (Field::KeyLength, 5, 1, 2)),
        (
            "a number above 32 bits",
            one(&[0xff, 0xff, 0xff, 0xff, 0x1f]),
            (Field::KeyLength, 5, u32::MAX.into(), 0x1_ffff_ffff),
        ),
        ("a number without an end", one(&[0xff; 8]), (Field::KeyLength, 5, 5, 6)),
    ];
    cases.extend(values_with_one_fault());
    for (name, bytes, expected) in &cases {
        for part in [1, 2, 3, 7, usize::MAX] {
            assert_eq!(facts(read(bytes, part)), Some(*expected), "{name}, in parts of {part}");
        }
        let mut host = Host::of(SMALL, &(0..20).map(issue).collect());
        let root = host.root;
        let refused = apply(&mut host, bytes, 3);
        let Err(DeltaError::Malformed(fault)) = refused else { panic!("{name}: {refused:?}") };
        assert_eq!(facts::<()>(Err(fault)), Some(*expected), "{name}");
        assert_eq!(host.root, root);
    }
}

#[test]
fn every_truncation_is_refused() {
    let good = sample();
    assert_eq!(encoded(&read(&good, 3).expect("a good delta")), good);
    for len in 0..good.len() {
        for part in [1, 5, usize::MAX] {
            let fault = read(&good[..len], part).expect_err("an incomplete delta");
            assert_eq!((fault.field, fault.offset, fault.got), (Field::Length, len, len as u64));
            assert!(fault.expected > fault.got);
        }
    }
}

#[test]
fn a_delta_with_a_flipped_bit_is_refused_or_is_another_canonical_one() {
    let good = sample();
    let mut accepted = 0;
    for bit in 0..8 * good.len() {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let whole = read(&bytes, usize::MAX);
        assert_eq!(read(&bytes, 1), whole);
        let Ok(edits) = whole else { continue };
        assert_eq!(encoded(&edits), bytes, "one encoding for one set of edits: bit {bit}");
        accepted += 1;
    }
    // Bits of values and of letters in keys: only the promised root shows these.
    assert!((50..6 * good.len()).contains(&accepted), "{accepted} of {}", 8 * good.len());
}

#[test]
fn a_delta_above_the_limit_is_refused_before_it_is_kept() {
    let mut decoder = Decoder::new();
    decoder.room(5).copy_from_slice(&HEADER);
    assert!(matches!(decoder.read(), Ok(Next::More)));
    let value = 30 << 20;
    let mut fed = 5;
    let mut before = String::new();
    let fault = loop {
        let key = format!("{fed:012}");
        let mut bytes = edit(before.as_bytes(), key.as_bytes(), Some(&(Kind::Bytes, vec![])));
        bytes.pop();
        bytes.extend(varint(value));
        bytes.resize(bytes.len() + value, 1);
        decoder.room(bytes.len()).copy_from_slice(&bytes);
        fed += bytes.len();
        before = key;
        match decoder.read() {
            Ok(Next::Edit(..)) => assert!(fed <= MAX_DELTA_BYTES),
            Ok(other) => panic!("{other:?}"),
            Err(fault) => break fault,
        }
    };
    let expected = (Field::Length, MAX_DELTA_BYTES, MAX_DELTA_BYTES as u64, fed as u64);
    assert_eq!(facts::<()>(Err(fault)), Some(expected));
}
