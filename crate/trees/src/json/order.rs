//! The order of members in normal form (ECMA-262, 10.1.11.1): array indices come before all other names,
//! and the last value of equal names is at the place of the first.

use crate::json::name::array_index;
use crate::json::token::word_at;
use crate::order::sorted;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ops::Range;

/// Equal names among this many first names of an object are found as they are read; among more, by sorting.
const FEW_NAMES: usize = 64;

/// The cost of comparing two names, besides their bytes.
const NAME_COST: usize = 6;

/// Memory that is kept from one value to the next, in bytes.
const KEPT_BYTES: usize = 1 << 20;

/// Empties a list, and frees its memory if that is large.
pub(super) fn empty<T>(list: &mut Vec<T>) {
    list.clear();
    if list.capacity() * size_of::<T>() > KEPT_BYTES {
        *list = Vec::new();
    }
}

/// The name of a member, without its quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    /// Its first bytes: most names differ here.
    pub(super) head: u64,
    /// Where it is in the text, or in the output if it was written there.
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) written: bool,
    /// Where its member starts in the output.
    pub(super) start: usize,
}

impl Name {
    /// Returns the first eight bytes of a name, zeros after its end.
    #[inline]
    pub(super) fn head(text: &[u8], at: usize, len: usize) -> u64 {
        if len == 0 {
            return 0;
        }
        let word = word_at(text, at).unwrap_or_else(|| {
            text[at..].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
        });
        word & (u64::MAX >> (64 - 8 * len.min(8)))
    }

    pub(super) fn bytes<'t>(&self, text: &'t [u8], output: &'t [u8]) -> &'t [u8] {
        let text = if self.written { output } else { text };
        &text[self.at..self.at + self.len]
    }
}

/// The container around a place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Open {
    pub(super) is_object: bool,
    /// The names so far are in order, without repeats.
    pub(super) in_order: bool,
    /// The index of its first name.
    pub(super) first: usize,
    /// The smallest array index that may still come; the maximum after a name that is not an index.
    next_index: u64,
    /// A bit for each name, by its hash.
    seen: u64,
}

impl Open {
    /// Makes an object whose first name will be the one at `first`.
    #[inline]
    pub(super) const fn object(first: usize) -> Self {
        Self { is_object: true, in_order: true, first, next_index: 0, seen: 0 }
    }

    /// Adds a name after the names `before` of this object.
    #[inline]
    pub(super) fn add(&mut self, before: &[Name], name: &Name, text: &[u8], output: &[u8]) {
        let bytes = name.bytes(text, output);
        match array_index(bytes) {
            Some(index) => {
                self.in_order &= index >= self.next_index;
                self.next_index = self.next_index.max(index + 1);
            }
            None => self.next_index = u64::MAX,
        }
        let bit = 1 << ((name.head ^ name.len as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58);
        if self.seen & bit != 0 {
            let is_equal = |other: &Name| {
                other.head == name.head
                    && other.len == name.len
                    && other.bytes(text, output) == bytes
            };
            if before.len() < FEW_NAMES && before.iter().any(is_equal) {
                self.in_order = false;
            }
        }
        self.seen |= bit;
    }

    /// Returns whether its members may have to move, given `names` names in all open containers. With
    /// many names they may, because equal ones were not looked for.
    #[inline]
    pub(super) const fn may_move(&self, names: usize) -> bool {
        !self.in_order || names - self.first > FEW_NAMES
    }
}

/// One object whose members change their places.
#[derive(Clone, Debug)]
struct Move {
    /// Where the members are in the output.
    from: usize,
    to: usize,
    /// The members in their new order, as a range of [`Moves::members`].
    members: Range<usize>,
}

/// All objects of a value whose members change their places.
#[derive(Debug, Default)]
pub(super) struct Moves {
    moves: Vec<Move>,
    /// For all moves: where the members are in the output, in their new order.
    members: Vec<Range<usize>>,
}

impl Moves {
    pub(super) const fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    pub(super) fn clear(&mut self) {
        empty(&mut self.moves);
        empty(&mut self.members);
    }

    /// Counts the bytes of memory that it takes.
    #[cfg(test)]
    pub(super) const fn held_bytes(&self) -> usize {
        self.moves.capacity() * size_of::<Move>()
            + self.members.capacity() * size_of::<Range<usize>>()
    }

    /// Records the new order of the members of an object that ends at `end` of the output. Records no move if
    /// they were `in_order`, as far as is known, and no name is repeated. Returns the cost.
    pub(super) fn arrange(
        &mut self,
        names: &[Name],
        text: &[u8],
        output: &[u8],
        end: usize,
        in_order: bool,
    ) -> usize {
        let mean_len = names.iter().map(|name| name.len).sum::<usize>() / names.len();
        let compared = Cell::new(0);
        let bytes = |at: usize| names[at].bytes(text, output);
        // Array indices come first, by number; other names are sorted to find repeated ones.
        let indices: Vec<_> =
            (0..names.len()).map(|at| array_index(bytes(at)).unwrap_or(u64::MAX)).collect();
        let by_name = sorted(names.len(), &|a, b| {
            compared.set(compared.get() + NAME_COST + mean_len / 8);
            indices[a].cmp(&indices[b]).then_with(|| bytes(a).cmp(bytes(b)))
        });
        // The last member of each name, at the place of the first.
        let mut lasts = alloc::vec![usize::MAX; names.len()];
        let mut first = by_name[0];
        let mut different = 1;
        for at in &by_name {
            if bytes(*at) != bytes(first) {
                first = *at;
                different += 1;
            }
            lasts[first] = *at;
        }
        if in_order && different == names.len() {
            return compared.get();
        }
        let start = self.members.len();
        let is_index = |at: &usize| indices[*at] != u64::MAX;
        // Other names stay in the order of their first occurrence.
        let others = (0..names.len()).filter(|at| !is_index(at));
        for first in by_name.iter().copied().take_while(is_index).chain(others) {
            let last = lasts[first];
            if let Some(name) = names.get(last) {
                // A comma follows each but the last.
                let end = names.get(last + 1).map_or(end, |next| next.start - 1);
                self.members.push(name.start..end);
            }
        }
        let (from, members) = (names[0].start, start..self.members.len());
        self.moves.push(Move { from, to: end, members });
        compared.get()
    }

    /// Returns the output with all members in their places, each byte copied once.
    #[cold]
    pub(super) fn apply(&self, output: &[u8]) -> Vec<u8> {
        let Self { moves, members } = self;
        let by_place = sorted(moves.len(), &|a, b| moves[a].from.cmp(&moves[b].from));
        let mut out = Vec::with_capacity(output.len());
        // The rest of the current run, and the members that come after it.
        let mut run = (0..output.len(), 0..0);
        let mut around = Vec::new();
        loop {
            let (rest, next) = &mut run;
            // A member may start where the members of its object do.
            let inner = by_place.partition_point(|at| moves[*at].from <= rest.start);
            let inner = by_place.get(inner).map(|at| &moves[*at]);
            if let Some(inner) = inner.filter(|inner| inner.from < rest.end) {
                out.extend_from_slice(&output[rest.start..inner.from]);
                rest.start = inner.to;
                // An object that moves its members is not empty.
                let first = members[inner.members.start].clone();
                around.push(run);
                run = (first, inner.members.start + 1..inner.members.end);
                continue;
            }
            out.extend_from_slice(&output[rest.clone()]);
            if let Some(member) = next.next() {
                out.push(b',');
                *rest = members[member].clone();
            } else if let Some(outer) = around.pop() {
                run = outer;
            } else {
                return out;
            }
        }
    }
}
