//! Where the words of a reply stand.

/// The words of a reply, as `abi.rs` declares them.
pub trait Words {
    type Words: AsRef<[f64]>;
    /// Where the first of them stands.
    const AT: usize;
    /// Where what comes after them stands.
    const END: usize;
    fn words(self) -> Self::Words;
}
