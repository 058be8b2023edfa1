//! A chain of branches, which is hashed from its lowest subtree up, and the initial state of SHA-256.

/// The eight words of a hash, or of an intermediate state.
pub(crate) type State = [u32; 8];

/// The initial state.
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

/// A chain of branches above a subtree whose siblings are all empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    /// The path of the subtree.
    pub(crate) path: [u8; 32],
    /// The sum of the subtree, and so of each branch.
    pub(crate) sum: u64,
    /// The depth of the last branch.
    pub(crate) to: u16,
    /// The hash of the subtree; afterwards, of the last branch.
    pub(crate) hash: State,
}

/// Returns whether `path` goes to the right at `depth`.
#[inline]
pub(crate) fn bit(path: &[u8; 32], depth: u16) -> bool {
    path[usize::from(depth / 8)] >> (7 - depth % 8) & 1 == 1
}
