//! Runs collections in a host, and makes stores that have something to collect.

use crate::host::Host;
use crate::rows::{Rows, issue};
use crate::values::{Values, bytes};
use hedgerow::boundary::Shape;
use hedgerow::cache::SegmentId;
use hedgerow::collect::{Collect, Thoroughness, Totals};
use hedgerow::error::Error;
use hedgerow::hash::Hash;
use hedgerow::value::Kind;
use std::ops;

/// A collection while there are writers.
pub const USUAL: Thoroughness =
    Thoroughness { survey: false, full: false, rest: false, values_before: 0 };
/// A collection that a user asked for.
pub const FULL: Thoroughness = Thoroughness { full: true, ..USUAL };

/// Runs a collection to its end; returns how many segments were deleted.
///
/// # Errors
/// As [`Collect::step`].
pub fn run(host: &mut Host, collect: &mut Collect) -> Result<usize, Error> {
    let mut deleted = 0;
    while let Some(exchange) = host.run(|cache, budget| collect.step(cache, budget))? {
        host.store(exchange.sealed);
        deleted += exchange.gone.len();
        for id in exchange.gone {
            host.cache.remove(id);
            host.stored.remove(&id).expect("a stored segment");
        }
    }
    Ok(deleted)
}

/// Collects all chunks that the head and `pins` do not reach, except in the segments `kept`. Returns the
/// totals, and how many segments were deleted.
///
/// # Errors
/// As [`Collect::step`].
pub fn try_collect(
    host: &mut Host,
    thoroughness: Thoroughness,
    pins: &[Hash],
    kept: ops::Range<SegmentId>,
) -> Result<(Totals, usize), Error> {
    let mut collect = Collect::new(&host.cache, thoroughness);
    collect.add_commit(host.root);
    for pin in pins {
        collect.add_commit(*pin);
    }
    collect.keep(kept.start, kept.end);
    let deleted = run(host, &mut collect)?;
    Ok((collect.totals(), deleted))
}

/// Calls [`try_collect`] on a sound store.
pub fn collect(host: &mut Host, thoroughness: Thoroughness, pins: &[Hash]) -> (Totals, usize) {
    try_collect(host, thoroughness, pins, 0..0).expect("a collection")
}

/// Counts the bytes of all stored segments.
#[must_use]
pub fn stored_bytes(host: &Host) -> u64 {
    host.stored.values().map(|(bytes, _)| bytes.len() as u64).sum()
}

/// Counts the bytes that a host with the same rows, written at once, stores.
pub fn needed_bytes(host: &mut Host) -> u64 {
    let rows: Rows = host.contents();
    stored_bytes(&Host::of(host.shape, &rows))
}

/// Makes a host whose rows were all written `times` times, in parts of every seventh row.
#[must_use]
pub fn rewritten(rows: usize, times: usize) -> Host {
    let mut host = Host::new(Shape::STORED);
    for round in 0..times {
        for part in 0..7 {
            let changed: Vec<_> = (part..rows)
                .step_by(7)
                .map(|index| (issue(index).0, issue(index * 31 + round).1))
                .collect();
            host.put(&changed);
        }
    }
    host
}

/// Makes values out of line, some of them in several pieces.
#[must_use]
pub fn big(seed: usize) -> Values {
    (0..40)
        .map(|index| {
            let len = [5_000, 70_000, 200_000][index % 3];
            (format!("v{index:03}"), (Kind::Bytes, bytes(len, index + seed)))
        })
        .collect()
}
