//! A collection as an operation.

use super::abi::Collected;
use super::made::Made;
use super::reply::Reply;
use crate::cache::{Cache, SegmentId};
use crate::collect::Collect;
use crate::error::Error;
use crate::step::{Budget, Step};
use alloc::vec::Vec;

/// A collection, and the segments that the host must store and delete for it.
pub struct CollectOp {
    pub collect: Collect,
    pub gone: Vec<SegmentId>,
    pub gone_words: Vec<f64>,
    pub made: Made,
}

impl CollectOp {
    pub fn step(
        &mut self,
        cache: &mut Cache,
        reply: &mut Reply,
        next_segment: &mut SegmentId,
        budget: &mut Budget,
    ) -> Result<Step<()>, Error> {
        let exchange = match self.collect.step(cache, budget)? {
            Step::Done(exchange) => exchange,
            Step::Need(wanted) => return Ok(Step::Need(wanted)),
            Step::Yield => return Ok(Step::Yield),
        };
        let (gone, sealed) = exchange.map(|next| (next.gone, next.sealed)).unwrap_or_default();
        // Segments of an exchange that the host skipped are dropped.
        core::mem::take(&mut self.made).ids.iter().for_each(|id| cache.remove(*id));
        self.made.add(cache, next_segment, sealed);
        let ids = if gone.is_empty() { self.collect.surveyed() } else { &gone };
        self.gone_words = ids.iter().map(|id| *id as f64).collect();
        self.gone = gone;
        let totals = self.collect.totals();
        reply.numbers(&self.gone_words);
        reply.tell(Collected {
            stored_bytes: totals.stored as f64,
            live_bytes: totals.live as f64,
            value_bytes: totals.values as f64,
            is_exact: f64::from(u8::from(totals.exact)),
        });
        Ok(Step::Done(()))
    }
}
