//! Secondary indexes: further trees of a store, derived from its rows only.
//!
//! An entry of an index is `secondary key | primary key`, with an empty value: no value is copied. The
//! secondary key is encoded so that its bytes have the order of values (`encode.rs`). The entries of a
//! row depend on the [`Definition`] alone, so that equal rows have equal indexes, with equal roots. The
//! name of an index's tree *is* its definition, so that every writer can maintain all indexes of a
//! store, even if it was opened without them.

mod check;
mod compose;
mod definition;
mod encode;
mod entries;
mod gather;
mod maintainer;
mod pending;
mod scan;
mod words;

pub use check::CheckIndex;
pub use definition::Definition;
pub use encode::{secondary_end, write_secondary};
pub use entries::{Entries, Members};
pub use maintainer::IndexMaintainer;
pub use scan::{IndexScan, Wanted};
pub use words::push_word;
