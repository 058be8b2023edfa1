//! Both sides: the core in a host that keeps segments in a map, and `SQLite` through prepared statements.

use crate::workloads::{RANGE_ROWS, Statement};
use hedgerow::boundary::Shape;
use hedgerow::cache::{Fetch, SegmentId};
use hedgerow::ingest::Format;
use hedgerow::output::Output;
use hedgerow::tree::{MultiGet, Parts, Range, get};
use hedgerow_support::host::Host;
use hedgerow_support::rows::{list, pairs};
use rusqlite::{Connection, params};
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::ops::Bound;
use std::path::Path;

/// The memory for stored data on both sides, in KiB.
const CACHE_KIB: usize = 64 << 10;

/// A side of the comparison.
pub trait Side {
    /// Executes a statement; returns how many rows it has read.
    fn execute(&mut self, statement: &Statement) -> usize;
}

/// The core, whose commits are appended to a file if there is one.
pub struct Core {
    host: Host,
    file: Option<File>,
    /// The last segment in the file.
    last: SegmentId,
}

impl Core {
    pub fn new(rows: &[(String, String)], folder: Option<&Path>) -> Self {
        let file = folder.map(|folder| File::create(folder.join("core")).expect("a file"));
        let mut core = Self { host: Host::new(Shape::STORED), file, last: 0 };
        core.host.reopen(CACHE_KIB << 10);
        core.write(&[(pairs(rows), Format::Pairs)]);
        core
    }

    fn write(&mut self, blocks: &[(String, Format)]) {
        self.host.commit(blocks).expect("good rows");
        let Some(file) = &mut self.file else { return };
        let mut record = Vec::new();
        for (id, (bytes, table)) in self.host.stored.range(self.last + 1..) {
            record.extend_from_slice(&id.to_le_bytes());
            record.extend_from_slice(table.bytes());
            record.extend_from_slice(bytes);
            self.last = *id;
        }
        record.extend_from_slice(&self.host.root.0);
        file.write_all(&record).expect("space");
    }
}

impl Side for Core {
    fn execute(&mut self, statement: &Statement) -> usize {
        let tree = self.host.tree();
        match statement {
            Statement::Get(key) => {
                let found = self.host.fetch(|cache| {
                    Ok(match get(cache, tree, key.as_bytes())? {
                        Fetch::At(want) => Fetch::At(want),
                        Fetch::Here(entry) => Fetch::Here(entry.map(|entry| entry.value.to_vec())),
                    })
                });
                usize::from(black_box(found.expect("a get")).is_some())
            }
            Statement::Points(keys) => {
                let mut find = MultiGet::new(tree, keys.iter().map(String::as_bytes));
                let (mut out, mut found) = (Output::new(), Vec::new());
                let run =
                    |cache: &_, budget: &mut _| find.step(cache, budget, &mut out, &mut found);
                self.host.run(run).expect("a find");
                black_box(&out);
                found.len()
            }
            Statement::Range(from) => {
                let lower = Bound::Included(from.clone().into_bytes());
                let range = Range { lower, upper: Bound::Unbounded };
                let parts = Parts { keys: true, values: true };
                let (out, result) =
                    self.host.scanned(tree, &range, false, RANGE_ROWS as u64, parts);
                result.expect("a scan");
                black_box(out.members() as usize / 2)
            }
            Statement::Write { puts, deletes } => {
                let mut blocks = Vec::new();
                if !puts.is_empty() {
                    blocks.push((pairs(puts), Format::Pairs));
                }
                if !deletes.is_empty() {
                    blocks.push((list(deletes), Format::Deletes));
                }
                self.write(&blocks);
                0
            }
        }
    }
}

/// `SQLite`, in memory or in a file with a write-ahead log.
pub struct Sqlite(Connection);

impl Sqlite {
    pub fn new(rows: &[(String, String)], folder: Option<&Path>) -> Self {
        let db = match folder {
            Some(folder) => Connection::open(folder.join("sqlite")),
            None => Connection::open_in_memory(),
        };
        let mut side = Self(db.expect("SQLite"));
        let settings = format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -{CACHE_KIB};
             CREATE TABLE rows (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID"
        );
        side.0.execute_batch(&settings).expect("a table");
        side.execute(&Statement::Write { puts: rows.to_vec(), deletes: Vec::new() });
        side
    }
}

impl Side for Sqlite {
    fn execute(&mut self, statement: &Statement) -> usize {
        let mut read = 0;
        let mut take = |row: &rusqlite::Row<'_>| {
            let key = row.get_ref(0)?.as_str()?.len();
            black_box((key, row.get::<_, String>(1)?));
            read += 1;
            Ok(())
        };
        match statement {
            Statement::Get(key) => {
                let sql = "SELECT key, value FROM rows WHERE key = ?";
                let mut select = self.0.prepare_cached(sql).expect("a statement");
                select.query_row([key], &mut take).expect("a row");
            }
            Statement::Points(keys) => {
                let marks = vec!["?"; keys.len()].join(",");
                let sql = format!("SELECT key, value FROM rows WHERE key IN ({marks})");
                let mut select = self.0.prepare_cached(&sql).expect("a statement");
                let rows = select.query_map(rusqlite::params_from_iter(keys), &mut take);
                rows.expect("rows").for_each(|row| row.expect("a row"));
            }
            Statement::Range(from) => {
                let sql = "SELECT key, value FROM rows WHERE key >= ? ORDER BY key LIMIT ?";
                let mut select = self.0.prepare_cached(sql).expect("a statement");
                let rows = select.query_map(params![from, RANGE_ROWS], &mut take);
                rows.expect("rows").for_each(|row| row.expect("a row"));
            }
            Statement::Write { puts, deletes } => {
                let transaction = self.0.transaction().expect("a transaction");
                for (key, value) in puts {
                    let sql = "INSERT INTO rows VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
                    let mut put = transaction.prepare_cached(sql).expect("a statement");
                    put.execute([key, value]).expect("a put");
                }
                for key in deletes {
                    let sql = "DELETE FROM rows WHERE key = ?";
                    let mut delete = transaction.prepare_cached(sql).expect("a statement");
                    delete.execute([key]).expect("a delete");
                }
                transaction.commit().expect("a commit");
            }
        }
        read
    }
}
