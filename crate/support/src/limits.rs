//! Every way to write a row, and every way to read it. Tests of limits combine them.

use crate::host::Host;
use crate::output::{changes, entries};
use crate::proofs::{check_proved, only, prove, verify};
use crate::rows::{Rows, quote, spaced};
use crate::values::Values;
use hedgerow::boundary::Shape;
use hedgerow::error::Error;
use hedgerow::forest::{Forest, INDEX};
use hedgerow::index::{CheckIndex, Definition, IndexScan, Wanted};
use hedgerow::ingest::{Format, Ingest};
use hedgerow::json::Pointer;
use hedgerow::output::Output;
use hedgerow::rows::{Bytes, Columns, Framing, Reader};
use hedgerow::segment::Table;
use hedgerow::tree::{Parts, Range, Tree, Verify};
use hedgerow::value::Kind;
use std::cell::RefCell;

const BOTH: Parts = Parts { keys: true, values: true };

/// A row whose value is in normal form and contains its key twice, at `/id` and at `/n/id`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The key.
    pub key: String,
    /// The text at `/p`.
    pub payload: String,
    /// The value.
    pub value: String,
}

impl Row {
    /// Makes a row with this payload.
    pub fn new(key: &str, payload: &str) -> Self {
        let id = quote(key);
        let value = format!(r#"{{"id":{id},"n":{{"id":{id}}},"p":{payload}}}"#);
        Self { key: key.to_owned(), payload: payload.to_owned(), value }
    }

    /// Makes a row whose value is a text of `len` bytes.
    pub fn of_len(len: usize) -> Self {
        let short = Self::new("k", "\"\"").value.len();
        let row = Self::new("k", &format!("\"{}\"", "x".repeat(len - short)));
        assert_eq!(row.value.len(), len);
        row
    }

    /// Returns the same row before it is updated.
    fn before(&self) -> Self {
        Self::new(&self.key, "0")
    }
}

/// The contents of a store before a row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// No rows: they stream into a new tree.
    Empty,
    /// Other rows: rows are merged.
    Others,
    /// Other rows and the same key with another value, which is replaced.
    Same,
}

/// All bases.
pub const BASES: [Base; 3] = [Base::Empty, Base::Others, Base::Same];

const OTHERS: usize = 40;

impl Base {
    /// Makes a store with indexes, before `row` is written; returns it and its tree of rows.
    pub fn host(self, shape: Shape, indexes: &[Definition], row: &Row) -> (Host, Tree) {
        let mut host = Host::indexed(shape, indexes, &Rows::new());
        host.put(&self.rows(&row.before()));
        let tree = host.tree();
        (host, tree)
    }

    /// Returns the rows of this base, with `row` if it has the same key.
    fn rows(self, row: &Row) -> Vec<(String, String)> {
        let other = |at: usize| Row::new(&format!("{}{at:03}", ["a", "z"][at % 2]), "[1]");
        let mut rows: Vec<_> = (0..OTHERS).map(other).collect();
        match self {
            Self::Empty => rows.clear(),
            Self::Others => {}
            Self::Same => rows.push(row.clone()),
        }
        rows.into_iter().map(|row| (row.key, row.value)).collect()
    }
}

/// A way to write rows.
pub struct Writer {
    /// Its name.
    pub name: &'static str,
    how: How,
}

enum How {
    Block(fn() -> Format, fn(&Row) -> String),
    Stream(fn() -> Columns, Framing, fn(&Row) -> String),
}

fn pointer(text: &str) -> Pointer {
    Pointer::parse(text).expect("a pointer")
}

fn pair(row: &Row) -> String {
    format!("{},{}", quote(&row.key), row.value)
}

fn array_pair(row: &Row) -> String {
    format!("[{}]", pair(row))
}

fn value(row: &Row) -> String {
    row.value.clone()
}

fn put(row: &Row) -> String {
    format!(r#"{{"op":"put","key":{},"value":{}}}"#, quote(&row.key), row.value)
}

/// Prints a put of the row without its payload, and then an update with it.
fn update(row: &Row) -> String {
    let (key, payload) = (quote(&row.key), &row.payload);
    format!(r#"{},{{"op":"update","key":{key},"merge":{{"p":{payload}}}}}"#, put(&row.before()))
}

fn spaced_value(row: &Row) -> String {
    spaced(&row.value)
}

/// All writers.
pub const WRITERS: [Writer; 14] = [
    Writer { name: "pairs", how: How::Block(|| Format::Pairs, pair) },
    Writer { name: "objects", how: How::Block(|| Format::Rows(pointer("/id")), value) },
    Writer {
        name: "objects, key below",
        how: How::Block(|| Format::Rows(pointer("/n/id")), value),
    },
    Writer { name: "patch, put", how: How::Block(|| Format::Patch, put) },
    Writer { name: "patch, update", how: How::Block(|| Format::Patch, update) },
    Writer {
        name: "lines of pairs",
        how: How::Stream(|| Columns::Two, Framing::Lines, array_pair),
    },
    Writer {
        name: "array of pairs",
        how: How::Stream(|| Columns::Two, Framing::Array, array_pair),
    },
    Writer {
        name: "lines of objects",
        how: How::Stream(|| Columns::Keyed(pointer("/id")), Framing::Lines, value),
    },
    Writer {
        name: "lines of objects, key below",
        how: How::Stream(|| Columns::Keyed(pointer("/n/id")), Framing::Lines, value),
    },
    Writer {
        name: "array of objects, key below",
        how: How::Stream(|| Columns::Keyed(pointer("/n/id")), Framing::Array, value),
    },
    Writer {
        name: "lines with spaces, key below",
        how: How::Stream(|| Columns::Keyed(pointer("/n/id")), Framing::Lines, spaced_value),
    },
    Writer {
        name: "array with spaces",
        how: How::Stream(|| Columns::Keyed(pointer("/id")), Framing::Array, spaced_value),
    },
    Writer {
        name: "patch in an array, put",
        how: How::Stream(|| Columns::Patch, Framing::Array, put),
    },
    Writer {
        name: "patch in an array, update",
        how: How::Stream(|| Columns::Patch, Framing::Array, update),
    },
];

/// Commits a row.
///
/// # Errors
/// The errors of [`Ingest::step`]; the host is then unchanged.
pub fn write(host: &mut Host, writer: &Writer, row: &Row) -> Result<(), Error> {
    match &writer.how {
        How::Block(format, text) => {
            host.commit(&[(format!("[{}]", text(row)), format())]).map(drop)
        }
        How::Stream(columns, framing, text) => feed_stream(host, columns(), *framing, &text(row)),
    }
}

/// Commits one row of a stream of bytes.
///
/// # Errors
/// The errors of [`Ingest::step`].
pub fn feed_stream(
    host: &mut Host,
    columns: Columns,
    framing: Framing,
    row: &str,
) -> Result<(), Error> {
    let text = match framing {
        Framing::Lines => format!("{row}\n"),
        Framing::Array => format!("[{row}]"),
    };
    let bytes = Bytes::new(columns, Some(framing), Vec::new());
    let reader = Reader::Bytes(Box::new(bytes));
    let secret = host.cache.secret();
    let mut ingest =
        Ingest::indexed(host.forest.clone(), reader, host.shape, &host.indexes, secret);
    // In parts, most of which end inside of the row.
    for part in text.as_bytes().chunks(1000.max(text.len() / 5)) {
        ingest.bytes().expect("a stream").room(part.len()).copy_from_slice(part);
        host.drive(&mut ingest)?;
    }
    ingest.bytes().expect("a stream").end();
    host.drive(&mut ingest)?;
    host.finish(&mut ingest)
}

/// The row that was written, and the store before.
pub struct Outcome<'r> {
    /// The row.
    pub row: &'r Row,
    /// The contents of the store before.
    pub base: Base,
    /// The tree of rows before.
    pub before: Tree,
}

impl Outcome<'_> {
    /// Returns all rows of the store after the write, sorted.
    fn expected(&self) -> Vec<(String, String)> {
        let mut rows = self.base.rows(self.row);
        if self.base != Base::Same {
            rows.push((self.row.key.clone(), self.row.value.clone()));
        }
        rows.sort();
        rows
    }
}

/// A reader; returns whether it reads what was written.
pub type Reads = fn(&mut Host, &Outcome<'_>) -> bool;

/// All readers.
pub const READERS: [(&str, Reads); 12] = [
    ("get", |host, Outcome { row, .. }| {
        let missing = format!("{}!", row.key);
        let keys = [row.key.clone(), missing];
        host.get_many(&keys) == [Some(row.value.clone()), None]
    }),
    ("scan", |host, outcome| host.scan(&Range::ALL, false, u64::MAX) == outcome.expected()),
    ("scan of one key", |host, Outcome { row, .. }| {
        host.scan(&only(&row.key), false, 1) == [(row.key.clone(), row.value.clone())]
    }),
    ("reverse scan", |host, outcome| {
        let mut rows = host.scan(&Range::ALL, true, u64::MAX);
        rows.reverse();
        rows == outcome.expected()
    }),
    ("count", |host, outcome| {
        host.count(&Range::ALL) == outcome.expected().len() as u64
            && host.count(&only(&outcome.row.key)) == 1
    }),
    ("diff", |host, Outcome { row, base, before }| {
        let diff = host.differ(*before, host.tree(), &Range::ALL).expect("a diff");
        let old = (*base == Base::Same).then(|| row.before().value);
        changes(&diff) == [(row.key.clone(), old, Some(row.value.clone()))]
    }),
    ("verify", |host, outcome| {
        let tree = host.tree();
        verified(host, tree) == Some(outcome.expected().len() as u64)
    }),
    ("proof", |host, Outcome { row, .. }| {
        let range = only(&row.key);
        let proof = prove(host, &range).expect("a proof");
        let out = verify(host.root, &range, &proof, usize::MAX).expect("a sound proof");
        let values =
            Values::from([(row.key.clone(), (Kind::Json, row.value.clone().into_bytes()))]);
        check_proved(&values, &range, &out, &"a proof");
        true
    }),
    ("export and import", |host, outcome| {
        let mut other = Host::new(host.shape);
        for (id, (bytes, table)) in &host.stored {
            // The check of a segment in an import.
            let table = Table::decode(table.bytes().to_vec()).expect("a table");
            other.stored.insert(*id, (bytes.clone(), table));
        }
        other.reopen(64 << 20);
        let (_, _, commit) =
            host.chunks().find(|(_, hash, _)| *hash == host.root).expect("a commit");
        (other.root, other.forest) = (host.root, Forest::decode(&commit).expect("a commit"));
        other.forest == host.forest
            && other.scan(&Range::ALL, false, u64::MAX) == outcome.expected()
    }),
    ("with nothing in memory", |host, outcome| {
        host.reopen(0);
        host.scan(&Range::ALL, false, u64::MAX) == outcome.expected()
    }),
    ("index scan", |host, outcome| {
        let definitions = host.indexes.clone();
        definitions.iter().all(|definition| {
            let wanted = Wanted { parts: BOTH, secondary: false, reverse: false, limit: u64::MAX };
            let index = host.forest.tree(&definition.name(INDEX));
            let columns = definition.columns();
            let mut scan = IndexScan::new(index, columns, host.tree(), Range::ALL, wanted);
            let mut out = Output::new();
            host.run(|cache, budget| scan.step(cache, budget, &mut out)).expect("a scan");
            out.close();
            let is_in = |(key, _): &(String, String)| {
                definition.takes(key.as_bytes()) && 2 * key.len() + 2 <= 1024
            };
            // The columns are the keys, so rows are in the order of keys.
            entries(&out) == outcome.expected().into_iter().filter(is_in).collect::<Vec<_>>()
        })
    }),
    ("verify of indexes", |host, _| {
        let rows = host.tree();
        let indexes: Vec<_> = host.forest.indexes().cloned().collect();
        indexes.iter().all(|index| {
            let mut check = CheckIndex::new(index, rows, [1; 32]).expect("an index");
            verified(host, index.tree) == Some(index.tree.count)
                && host.run(|cache, budget| check.step(cache, budget)) == Ok(true)
        })
    }),
];

/// Counts the rows of a tree; `None` if it has a fault.
fn verified(host: &mut Host, tree: Tree) -> Option<u64> {
    let walk = RefCell::new(Verify::new(tree, host.shape));
    let step = host.run(|cache, budget| Ok(walk.borrow_mut().step(cache, budget)));
    assert!(step.is_ok(), "a walk never fails");
    let mut walk = walk.into_inner();
    walk.take_faults().is_empty().then(|| walk.tally().rows)
}
