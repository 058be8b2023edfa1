//! Sorting in little code, for what is sorted seldom.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// What orders two things by their positions.
pub type Order<'a> = &'a dyn Fn(usize, usize) -> Ordering;

/// The positions below `len`, in order. By a heap of them: that is a tenth of the code of the
/// standard library's sort, and few things are ever sorted by it.
#[must_use]
pub fn sorted(len: usize, order: Order<'_>) -> Vec<usize> {
    let mut heap: Vec<usize> = (0..len).collect();
    let (mut start, mut end) = (len / 2, len);
    while end > 1 {
        if start > 0 {
            start -= 1;
        } else {
            end -= 1;
            heap.swap(0, end);
        }
        let mut root = start;
        while let Some(&left) = heap[..end].get(2 * root + 1) {
            let mut child = 2 * root + 1;
            if let Some(&right) = heap[..end].get(child + 1)
                && order(left, right) == Ordering::Less
            {
                child += 1;
            }
            if order(heap[root], heap[child]) != Ordering::Less {
                break;
            }
            heap.swap(root, child);
            root = child;
        }
    }
    heap
}
