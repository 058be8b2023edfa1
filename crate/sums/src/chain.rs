//! A chain of branches, which is hashed from its lowest subtree up, and the state that SHA-256 starts from.

/// The eight words of a hash, or of a state on the way to it.
pub(crate) type State = [u32; 8];

/// The state before the first block.
pub(crate) const START: State = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// A chain of branches from a subtree up, in which all else is empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    /// The path of the subtree.
    pub(crate) path: [u8; 32],
    /// Its sum, and so that of each branch.
    pub(crate) sum: u64,
    /// The depth that the chain ends at.
    pub(crate) to: u16,
    /// The hash of the subtree; afterwards, that of the last branch.
    pub(crate) hash: State,
}

/// Whether `path` goes to the right at `depth`.
#[inline]
pub(crate) fn bit(path: &[u8; 32], depth: u16) -> bool {
    path[usize::from(depth / 8)] >> (7 - depth % 8) & 1 == 1
}
