//! The statements of sysbench's scripts as reads and writes of keys and values.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The rows of a store.
pub const ROWS: usize = 10_000;
/// The rows of a range.
pub const RANGE_ROWS: usize = 100;

const POINTS: usize = 10;

/// A statement, which both sides execute.
#[derive(Clone, Debug)]
pub enum Statement {
    /// One row.
    Get(String),
    /// Several rows at once.
    Points(Vec<String>),
    /// The rows from a key on.
    Range(String),
    /// Puts, and then deletes, in one transaction.
    Write { puts: Vec<(String, String)>, deletes: Vec<String> },
}

/// A group of workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Reads,
    Batches,
    Autocommit,
}

/// A workload: its name, its group, and the function that makes the statements of a round.
pub type Workload = (&'static str, Group, fn(&mut Source) -> Vec<Statement>);

pub const WORKLOADS: [Workload; 8] = [
    ("10,000 gets", Group::Reads, |from| from.times(10_000, Source::get)),
    ("1,000 times 10 rows", Group::Reads, |from| from.times(1000, Source::points)),
    ("500 ranges of 100 rows", Group::Reads, |from| from.times(500, Source::range)),
    ("1,000 updates at once", Group::Batches, |from| vec![from.update(1000)]),
    ("20 times 50 updates", Group::Batches, |from| from.times(20, |from| from.update(50))),
    ("500 rows deleted, then put", Group::Batches, |from| from.replace(500).into()),
    ("300 updates", Group::Autocommit, |from| from.times(300, |from| from.update(1))),
    ("150 rows deleted, then put", Group::Autocommit, |from| {
        from.times(150, |from| from.replace(1)).concat()
    }),
];

/// Makes rows and statements, always the same.
pub struct Source(ChaCha8Rng);

impl Source {
    pub fn new() -> Self {
        Self(ChaCha8Rng::seed_from_u64(42))
    }

    fn text(&mut self, len: usize) -> String {
        (0..len).map(|_| char::from(self.0.random_range(b'a'..=b'z'))).collect()
    }

    /// Makes a value for a key.
    fn row(&mut self, at: usize) -> (String, String) {
        let (k, c, pad) = (self.0.random_range(0..ROWS), self.text(120), self.text(60));
        (key_of(at), format!(r#"{{"c":"{c}","k":{k},"pad":"{pad}"}}"#))
    }

    /// Makes all rows of a store.
    pub fn all(&mut self) -> Vec<(String, String)> {
        (0..ROWS).map(|at| self.row(at)).collect()
    }

    fn at(&mut self) -> usize {
        self.0.random_range(0..ROWS)
    }

    fn times<T>(&mut self, count: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..count).map(|_| make(self)).collect()
    }

    fn get(&mut self) -> Statement {
        Statement::Get(key_of(self.at()))
    }

    fn points(&mut self) -> Statement {
        let mut keys = self.times(POINTS, |from| key_of(from.at()));
        keys.sort();
        keys.dedup();
        Statement::Points(keys)
    }

    fn range(&mut self) -> Statement {
        Statement::Range(key_of(self.0.random_range(0..ROWS - RANGE_ROWS)))
    }

    fn rows(&mut self, count: usize) -> Vec<(String, String)> {
        self.times(count, |from| {
            let at = from.at();
            from.row(at)
        })
    }

    fn update(&mut self, count: usize) -> Statement {
        Statement::Write { puts: self.rows(count), deletes: Vec::new() }
    }

    /// Deletes rows, and puts them again in a second transaction.
    fn replace(&mut self, count: usize) -> [Statement; 2] {
        let puts = self.rows(count);
        let deletes = puts.iter().map(|(key, _)| key.clone()).collect();
        [
            Statement::Write { puts: Vec::new(), deletes },
            Statement::Write { puts, deletes: Vec::new() },
        ]
    }
}

fn key_of(at: usize) -> String {
    format!("sbtest/{at:08}")
}
