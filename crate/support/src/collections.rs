//! Collections as a host makes them, and stores with something to collect.

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

/// While writers are at work.
pub const USUAL: Thoroughness =
    Thoroughness { survey: false, full: false, rest: false, values_before: 0 };
/// When a user asks for it.
pub const FULL: Thoroughness = Thoroughness { full: true, ..USUAL };

/// Runs a collection to its end; how many segments went.
///
/// # Errors
/// As [`Collect::step`].
pub fn run(host: &mut Host, collect: &mut Collect) -> Result<usize, Error> {
    let mut went = 0;
    while let Some(exchange) = host.run(|cache, budget| collect.step(cache, budget))? {
        host.store(exchange.sealed);
        went += exchange.gone.len();
        for id in exchange.gone {
            host.cache.remove(id);
            host.stored.remove(&id).expect("a stored segment");
        }
    }
    Ok(went)
}

/// Collects all but what the head and `pins` reach, and the segments `kept`; the totals, and how many
/// segments went.
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
    let went = run(host, &mut collect)?;
    Ok((collect.totals(), went))
}

/// As [`try_collect`], of a store that is sound.
pub fn collect(host: &mut Host, thoroughness: Thoroughness, pins: &[Hash]) -> (Totals, usize) {
    try_collect(host, thoroughness, pins, 0..0).expect("a collection")
}

/// Bytes of all stored segments.
#[must_use]
pub fn stored_bytes(host: &Host) -> u64 {
    host.stored.values().map(|(bytes, _)| bytes.len() as u64).sum()
}

/// Bytes of the chunks of a host that was given the same rows at once.
pub fn needed_bytes(host: &mut Host) -> u64 {
    let rows: Rows = host.contents();
    stored_bytes(&Host::of(host.shape, &rows))
}

/// A host whose rows were all written `times`, in pieces that lie across each other.
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

/// Values out of line, and in several pieces.
#[must_use]
pub fn big(seed: usize) -> Values {
    (0..40)
        .map(|index| {
            let len = [5_000, 70_000, 200_000][index % 3];
            (format!("v{index:03}"), (Kind::Bytes, bytes(len, index + seed)))
        })
        .collect()
}
