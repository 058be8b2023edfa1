//! The segments that an operation has made for the host.

use crate::cache::{Cache, SegmentId};
use crate::segment::Sealed;
use alloc::vec::Vec;

/// The segments that an operation has made, and how many of them the host has taken.
#[derive(Default)]
pub struct Made {
    pub ids: Vec<SegmentId>,
    pub taken: usize,
}

impl Made {
    pub fn add(&mut self, cache: &mut Cache, next_segment: &mut SegmentId, sealed: Vec<Sealed>) {
        for sealed in sealed {
            cache.add_fresh(*next_segment, sealed);
            self.ids.push(*next_segment);
            *next_segment += 1;
        }
    }
}
