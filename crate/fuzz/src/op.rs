//! The operations of a sequence, and how they are read from the bytes of an input.

use crate::input::Input;
use hedgerow::tree::{Parts, Range};
use hedgerow::value::Kind;
use hedgerow_support::output::Value;
use std::ops::Bound;

/// An operation on a store. To add a kind: read it in [`Op::read`], do it in `World::apply`.
#[derive(Clone, Debug)]
pub enum Op {
    Put {
        rows: Vec<(String, Value)>,
        block: usize,
    },
    Delete(Vec<String>),
    DeleteRange(Range),
    /// Several blocks in one commit.
    Mixed {
        rows: Vec<(String, Value)>,
        range: Range,
        keys: Vec<String>,
    },
    /// As a new process would; if `late`, the tables of some segments come when a read needs them.
    Reopen {
        cache_bytes: usize,
        late: bool,
    },
    /// The leaves below an internal node move to a remote.
    MoveAway(usize),
    /// A collection that keeps the states since this one.
    Collect {
        full: bool,
        since: usize,
    },
    Get(String),
    Find(Vec<String>),
    Scan {
        range: Range,
        reverse: bool,
        limit: u64,
        parts: Parts,
    },
    ScanIndex {
        nth: usize,
        range: Range,
        reverse: bool,
        limit: u64,
        parts: Parts,
    },
    Count(Range),
    Census,
    /// Between the current state and the state after this many changes.
    Diff {
        since: usize,
        range: Range,
    },
}

impl Op {
    /// Reads the next operation.
    pub fn read(input: &mut Input<'_>) -> Self {
        match input.below(16) {
            0..=3 => {
                let few = input.below(4);
                Self::Put { rows: list(input, few, row), block: 1 + few }
            }
            4 | 5 => {
                let many = input.below(64);
                Self::Put { rows: list(input, many, row), block: 1 + input.below(40) }
            }
            6 | 7 => {
                let few = 1 + input.below(4);
                Self::Delete(list(input, few, key))
            }
            8 => {
                let many = input.below(64);
                Self::Delete(list(input, many, key))
            }
            9 => Self::DeleteRange(range(input)),
            10 => {
                let (many, few) = (input.below(40), input.below(10));
                let (rows, range) = (list(input, many, row), range(input));
                Self::Mixed { rows, range, keys: list(input, few, key) }
            }
            11 => match input.below(8) {
                how @ 0..=5 => Self::Reopen {
                    cache_bytes: input.one_of(&[0, 1000, 1 << 20, 4 << 20]),
                    late: how > 3,
                },
                6 => Self::MoveAway(input.byte().into()),
                _ => {
                    let how = input.byte();
                    Self::Collect { full: how & 1 == 0, since: usize::from(how >> 1) }
                }
            },
            12 => Self::Get(key(input)),
            13 => {
                let many = input.below(60);
                Self::Find(list(input, many, key))
            }
            14 => {
                let how = input.byte();
                let (range, reverse) = (range(input), how & 1 != 0);
                let limit = if how & 2 != 0 { u64::MAX } else { input.byte().into() };
                let parts = Parts { keys: how & 4 == 0, values: how & 8 == 0 };
                if how & 16 == 0 {
                    Self::Scan { range, reverse, limit, parts }
                } else {
                    let nth = usize::from(how >> 5);
                    Self::ScanIndex { nth, range, reverse, limit, parts }
                }
            }
            _ => match input.byte() & 3 {
                0 | 2 => Self::Count(range(input)),
                1 => Self::Census,
                _ => Self::Diff { since: input.byte().into(), range: range(input) },
            },
        }
    }
}

fn list<T>(input: &mut Input<'_>, len: usize, read: fn(&mut Input<'_>) -> T) -> Vec<T> {
    (0..len).map(|_| read(input)).collect()
}

/// Makes a key of any length from two bytes of the input.
fn key(input: &mut Input<'_>) -> String {
    let [kind, number] = [input.byte(), input.byte()];
    match kind % 8 {
        0 => format!("{number:03}"),
        1 => format!("row/{:05}", usize::from(kind) * 256 + usize::from(number)),
        2 => "ab".repeat(number.into()),
        3 => format!("{}{number}", "x".repeat(1020)),
        4 => char::from_u32(u32::from(number) * 0x110 + 0x1).unwrap_or('\u{e000}').to_string(),
        5 => format!("é{}\u{0}\"\\", number % 16),
        6 => format!("{:02x}{}", number, "/tail".repeat(usize::from(kind) / 8)),
        _ => String::new(),
    }
}

fn value(input: &mut Input<'_>) -> Value {
    let (how, fill) = (input.byte(), input.byte());
    let len = match how % 16 {
        0..=5 => usize::from(how),
        6 | 7 => 3 * usize::from(how),
        8 => 4095,
        9 => 4096,
        10 => 4097,
        11 => 16 * usize::from(how),
        12 if how == 12 => (64 << 10) + usize::from(fill) - 128,
        12 if how == 28 => (128 << 10) + usize::from(fill) - 128,
        _ => 0,
    };
    if how & 0x10 != 0 {
        return (Kind::Bytes, vec![fill; len]);
    }
    let text = match len {
        0 => fill.to_string(),
        1 => "null".to_owned(),
        // Rows that indexes list.
        2..=80 if fill >= 0x80 => {
            let words = ["red fox", "red", "blue fox", ""][len % 4];
            format!(r#"{{"list":[{},{}],"n":{},"words":"{words}"}}"#, fill % 3, len % 5, fill % 16)
        }
        _ => format!("\"{}\"", char::from(b'a' + fill % 26).to_string().repeat(len - 2)),
    };
    (Kind::Json, text.into_bytes())
}

fn row(input: &mut Input<'_>) -> (String, Value) {
    (key(input), value(input))
}

fn range(input: &mut Input<'_>) -> Range {
    let how = input.byte();
    if how >= 0xf0 {
        let mut prefix = key(input).into_bytes();
        prefix.truncate(3);
        return Range::prefix(&prefix);
    }
    let mut bound = |how: u8| match how & 3 {
        0 => Bound::Unbounded,
        1 => Bound::Excluded(key(input).into_bytes()),
        _ => Bound::Included(key(input).into_bytes()),
    };
    Range { lower: bound(how), upper: bound(how >> 2) }
}
