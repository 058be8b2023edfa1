//! Sorting in little code, for what is sorted seldom.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// What orders two things by their positions.
pub type Order<'a> = &'a dyn Fn(usize, usize) -> Ordering;

/// The positions below `len`, in order; what is equal stays as it was. Stretches that ascend or
/// descend are found first, and then merged two by two: what is in order already, in either
/// direction, costs one pass, and memory is read from front to back. A fraction of the code of the
/// standard library's sort.
#[must_use]
pub fn sorted(len: usize, order: Order<'_>) -> Vec<usize> {
    let mut from: Vec<usize> = (0..len).collect();
    let (mut ends, mut at) = (Vec::new(), 0);
    while at < len {
        let start = at;
        let mut descends = None;
        at += 1;
        while at < len {
            let is_less = order(at, at - 1) == Ordering::Less;
            if *descends.get_or_insert(is_less) != is_less {
                break;
            }
            at += 1;
        }
        if descends == Some(true) {
            from[start..at].reverse();
        }
        ends.push(at);
    }
    let mut into = Vec::with_capacity(if ends.len() > 1 { len } else { 0 });
    while ends.len() > 1 {
        let mut left = 0;
        for pair in ends.chunks(2) {
            let (middle, end) = (pair[0], pair[pair.len() - 1]);
            let mut right = middle;
            while left < middle && right < end {
                let is_less = order(from[right], from[left]) == Ordering::Less;
                let next = if is_less { &mut right } else { &mut left };
                into.push(from[*next]);
                *next += 1;
            }
            into.extend_from_slice(&from[left..middle]);
            into.extend_from_slice(&from[right..end]);
            left = end;
        }
        core::mem::swap(&mut from, &mut into);
        into.clear();
        ends = ends.chunks(2).map(|pair| pair[pair.len() - 1]).collect();
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
    fn what_is_in_order_in_either_direction_costs_one_pass() {
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
        assert_eq!(compared(&|at| 10_000 - at), 9999);
        assert_eq!(compared(&|_| 7), 9999);
        // And anything else no more than its logarithm.
        assert!(compared(&|at| at * 7919 % 10_007) <= 14 * 10_000);
    }
}
