//! The changes from one tree to another, in the order of keys. Costs the nodes that the two trees do not
//! share, see [`lockstep`](super::lockstep).

use crate::cache::Cache;
use crate::error::Error;
use crate::node::Entry;
use crate::output::Output;
use crate::step::{Budget, Step};
use crate::tree::lockstep::Lockstep;
use crate::tree::scan::{Parts, write};
use crate::tree::{Range, Tree, ValueReader};
use crate::value::Kind;

/// The members of a change in an [`Output`]: `0, key, new` if the key was added, `1, key, old, new` if
/// its value changed, `2, key, old` if it was deleted.
const ADD: &[u8] = b"0";
const CHANGE: &[u8] = b"1";
const DEL: &[u8] = b"2";

/// The written part of a change.
#[derive(Clone, Debug)]
enum Stage {
    Start,
    /// The old value is being read.
    Old(Kind, ValueReader),
    /// Everything but the new value is written.
    Between,
    /// The new value is being read.
    New(Kind, ValueReader),
}

/// The changes from one tree to another, in the order of keys.
///
/// ```
/// # mod doc { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/store.rs")); }
/// # use doc::store;
/// use hedgerow_trees::output::Output;
/// use hedgerow_trees::step::{Budget, Step};
/// use hedgerow_trees::tree::{Diff, Range};
///
/// let (cache, [old, new]) = store([&[("ann", "41")], &[("ann", "42"), ("bob", "35")]]);
/// let mut diff = Diff::new(old, new, Range::ALL);
/// let mut out = Output::new();
/// assert_eq!(diff.step(&cache, &mut Budget::of(1 << 20), &mut out), Ok(Step::Done(())));
/// out.close();
/// // 1 is a change, with the old and the new value; 0 is an addition.
/// assert_eq!(out.keys, br#"[1,"ann",null,null,0,"bob",null]"#);
/// assert_eq!(out.text, b"[41,42,35]");
/// ```
#[derive(Clone, Debug)]
pub struct Diff {
    walk: Lockstep,
    stage: Stage,
}

impl Diff {
    /// Begins the changes in `range` that lead from `old` to `new`.
    #[must_use]
    pub fn new(old: Tree, new: Tree, range: Range) -> Self {
        Self { walk: Lockstep::new(old, new, range), stage: Stage::Start }
    }

    /// Adds changes to `out`, as [`Scan::step`](crate::tree::Scan::step) adds entries. Costs the nodes that
    /// the trees do not share.
    ///
    /// # Errors
    /// As [`Cache::node`].
    pub fn step(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        out: &mut Output,
    ) -> Result<Step<()>, Error> {
        let Self { walk, stage } = self;
        walk.step(cache, budget, &mut |old, new, budget| {
            let step = stage.write(cache, budget, old, new, out)?;
            if step == Step::Done(()) {
                *stage = Stage::Start;
            }
            Ok(step)
        })
    }
}

impl Stage {
    /// Writes a change. `old` or `new` is `None` if that tree has no such entry.
    fn write(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        old: Option<&Entry<'_>>,
        new: Option<&Entry<'_>>,
        out: &mut Output,
    ) -> Result<Step<()>, Error> {
        let len = |entry: Option<&Entry<'_>>| entry.map_or(0, |entry| entry.value.len());
        let values = Parts { keys: false, values: true };
        loop {
            *self = match self {
                Self::Start => {
                    let (code, entry) = match (old, new) {
                        (Some(old), Some(_)) => (CHANGE, old),
                        (Some(old), None) => (DEL, old),
                        (None, Some(new)) => (ADD, new),
                        (None, None) => return Ok(Step::Done(())),
                    };
                    out.say(|text| text.extend_from_slice(code));
                    out.key(&entry.key);
                    budget.spend(16 + entry.key.len() + len(old) + len(new));
                    let reading = old.and_then(|old| write(old, values, out));
                    reading.map_or(Self::Between, |(kind, reader)| Self::Old(kind, reader))
                }
                Self::Between => match new.and_then(|new| write(new, values, out)) {
                    Some((kind, reader)) => Self::New(kind, reader),
                    None => return Ok(Step::Done(())),
                },
                Self::Old(kind, reader) | Self::New(kind, reader) => {
                    let kind = *kind;
                    match reader.step(cache, budget, out.part(kind))? {
                        Step::Done(()) => out.end(kind),
                        waiting => return Ok(waiting),
                    }
                    if let Self::New(..) = self {
                        return Ok(Step::Done(()));
                    }
                    Self::Between
                }
            };
        }
    }
}
