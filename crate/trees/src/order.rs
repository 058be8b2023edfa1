//! A sort with little code, for lists that are sorted rarely.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Compares two items by their positions.
pub type Order<'a> = &'a dyn Fn(usize, usize) -> Ordering;

/// Sorts the positions below `len`; the sort is stable. It is a bottom-up merge sort, which only compares
/// runs that are in order already. It reads memory from front to back, and has a fraction of the code of
/// the standard library's sort.
#[must_use]
pub fn sorted(len: usize, order: Order<'_>) -> Vec<usize> {
    let mut from: Vec<usize> = (0..len).collect();
    let mut into = Vec::with_capacity(len);
    let mut width = 1;
    while width < len {
        let mut left = 0;
        while left < len {
            let middle = len.min(left + width);
            let (mut right, end) = (middle, len.min(middle + width));
            let in_order = right == end || order(from[middle], from[middle - 1]) != Ordering::Less;
            while into.len() < end {
                let takes_left = right == end
                    || (left < middle
                        && (in_order || order(from[right], from[left]) != Ordering::Less));
                let next = if takes_left { &mut left } else { &mut right };
                into.push(from[*next]);
                *next += 1;
            }
            left = end;
        }
        core::mem::swap(&mut from, &mut into);
        into.clear();
        width *= 2;
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    #[test]
    fn it_is_the_stable_sort_of_the_standard_library() {
        let mut state = 1_u64;
        let mut below = |end: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) % end
        };
        for len in (0..200).chain([1000, 4096, 5000]) {
            for end in [1, 2, 10, 1 << 30] {
                let values: Vec<u64> = (0..len).map(|_| below(end)).collect();
                let mut expected: Vec<usize> = (0..len).collect();
                expected.sort_by_key(|at| values[*at]);
                assert_eq!(sorted(len, &|a, b| values[a].cmp(&values[b])), expected, "{values:?}");
            }
        }
    }

    #[test]
    fn a_list_in_order_costs_one_pass() {
        let compared = |value: &dyn Fn(usize) -> usize| {
            let count = Cell::new(0);
            let order = sorted(10_000, &|a, b| {
                count.set(count.get() + 1);
                value(a).cmp(&value(b))
            });
            assert!(order.is_sorted_by_key(|at| value(*at)));
            count.get()
        };
        assert_eq!(compared(&|at| at), 9999);
        assert_eq!(compared(&|_| 7), 9999);
        // In reverse order it makes half of `n log n` comparisons; for other orders at most `n log n` and `n`.
        assert!(compared(&|at| 10_000 - at) <= 8 * 10_000);
        assert!(compared(&|at| at * 7919 % 10_007) <= 15 * 10_000);
    }
}
