//! Hands the edits of a delta to an ingest.

use super::{Decoder, Next};
use crate::cache::Cache;
use crate::error::{DecodeError, Error};
use crate::ingest::Ingest;
use crate::step::{Budget, Step};
use core::fmt;

/// The reason for which a delta was not applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaError {
    /// Its bytes are malformed.
    Malformed(DecodeError),
    /// The ingest has failed.
    Failed(Error),
}

impl fmt::Display for DeltaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => write!(f, "malformed delta: {error}"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for DeltaError {}

/// Hands the edits of a delta to an ingest. Feed [`ApplyDelta::decoder`], and step until it is done; after
/// the last part call [`Decoder::end`], and step until it is done again. Several deltas can be applied to
/// one ingest, one after the other: the later one wins key by key. Then finish the ingest, step it, and
/// compare the root of its rows with the promised one ([`Ingest::row_trees`]) before its commit is stored.
///
/// ```
/// use hedgerow::boundary::Shape;
/// use hedgerow::delta::{ApplyDelta, Encoder};
/// use hedgerow::key::Key;
/// use hedgerow::step::{Budget, Step};
/// use hedgerow_support::host::Host;
///
/// let mut encoder = Encoder::new();
/// encoder.delete(Key::trusted(b"bob"));
/// encoder.end();
///
/// let mut host = Host::new(Shape::STORED);
/// host.put(&[("ann".into(), "41".into()), ("bob".into(), "35".into())]);
/// let (mut ingest, mut apply) = (host.ingest(), ApplyDelta::new());
/// apply.decoder().room(encoder.len()).copy_from_slice(encoder.out());
/// apply.decoder().end();
/// let step = apply.step(&mut ingest, &host.cache, &mut Budget::of(1 << 20))?;
/// assert_eq!(step, Step::Done(()));
/// host.finish(&mut ingest)?;
/// assert_eq!((host.get("ann").as_deref(), host.get("bob")), (Some("41"), None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct ApplyDelta {
    decoder: Decoder,
}

impl ApplyDelta {
    /// Begins to apply a delta.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the decoder of its bytes.
    pub const fn decoder(&mut self) -> &mut Decoder {
        &mut self.decoder
    }

    /// Takes the edits that are complete. After each step, add the segments of [`Ingest::sealed`] to the
    /// cache, as after a step of the ingest.
    ///
    /// # Errors
    /// [`DeltaError`]: discard the ingest then.
    pub fn step(
        &mut self,
        ingest: &mut Ingest,
        cache: &Cache,
        budget: &mut Budget,
    ) -> Result<Step<()>, DeltaError> {
        if !ingest.takes_edits() {
            return match ingest.step(cache, budget).map_err(DeltaError::Failed)? {
                // Its chunks must be in the cache for its next step.
                Step::Done(()) => Ok(Step::Yield),
                waiting => Ok(waiting),
            };
        }
        let taken = self.take(ingest, budget).map_err(DeltaError::Malformed);
        budget.spend(self.decoder.take_cost());
        taken
    }

    fn take(&mut self, ingest: &mut Ingest, budget: &mut Budget) -> Result<Step<()>, DecodeError> {
        loop {
            budget.spend(self.decoder.take_cost());
            if budget.is_spent() || !ingest.takes_edits() {
                ingest.close_edits(budget);
                return Ok(Step::Yield);
            }
            match self.decoder.read()? {
                Next::Edit(key, edit) => ingest.edit(key, edit, budget),
                Next::More | Next::End => {
                    ingest.close_edits(budget);
                    return Ok(Step::Done(()));
                }
            }
        }
    }
}
