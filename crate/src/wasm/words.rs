//! The positions of the words of a reply.

/// The words of a reply, as `abi.rs` declares them.
pub trait Words {
    type Words: AsRef<[f64]>;
    /// The position of the first of them.
    const AT: usize;
    /// The position after the last of them.
    const END: usize;
    fn words(self) -> Self::Words;
}
