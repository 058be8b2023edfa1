//! Trees: ordered maps of entries in content-addressed nodes.

mod builder;
mod canonical;
mod census;
mod cursor;
mod diff;
mod lockstep;
mod merge;
mod multi_get;
mod plan;
mod point_edit;
mod range;
mod rank;
mod rebase;
mod resolve_updates;
mod scan;
mod segments_ahead;
mod splice;
mod touched;
mod value;
mod value_check;
mod verify;

pub use builder::{Builder, Finished};
pub use census::{Census, LEVEL_WORDS};
pub use cursor::{Cursor, Run};
pub use diff::Diff;
pub use lockstep::{Lockstep, OnChange};
pub use merge::Merge;
pub use multi_get::{MultiGet, get, leaf_hash_of};
pub use point_edit::PointEdit;
pub use range::Range;
pub use rank::Count;
pub use rebase::Rebase;
pub use resolve_updates::ResolveUpdates;
pub use scan::write;
pub use scan::{Parts, Scan};
pub use touched::Touched;
pub use value::{ValueReader, ValueWriter, put_value};
pub use verify::{Fault, Part, Tally, Verify};

use crate::cache::{Cache, Fetch};
use crate::error::{DecodeError, Error, Field};
use crate::hash::Hash;
use crate::node::Node;

/// A tree: the address of its top node, and the number of its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Tree {
    /// The top node; [`Hash::ZERO`] for a tree without entries.
    pub root: Hash,
    /// Number of entries.
    pub count: u64,
}

impl Tree {
    /// The tree without entries.
    pub const EMPTY: Self = Self { root: Hash::ZERO, count: 0 };

    /// Returns whether it has no entries.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Returns the top node of `tree`, which must not be empty; checked against the count of the tree.
pub(crate) fn top(cache: &Cache, tree: Tree) -> Result<Fetch<Node<'_>>, Error> {
    let fetched = cache.node(&tree.root)?;
    if let Fetch::Here(node) = &fetched
        && node.total() != tree.count
    {
        let cause = DecodeError::new(Field::ChildCount, 2, tree.count, node.total());
        return Err(Error::CorruptChunk { hash: tree.root, cause: Some(cause) });
    }
    Ok(fetched)
}
