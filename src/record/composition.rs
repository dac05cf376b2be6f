//! Compositions: releases of mechanisms, and how often each was made.

use super::fault::fault;
use super::input_file::InputFile;
use crate::accountant::Runs;
use crate::counts::MAX_COUNT;
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::mechanism::Mechanism;
use std::path::Path;
use std::sync::Arc;

/// Releases of one file, in their order.
#[derive(Debug, Clone)]
pub struct ReleaseList {
    /// The file.
    pub input: InputFile,
    /// What was released.
    pub releases: ComposedReleases,
}

/// Everything that was released about the same people.
#[derive(Debug, Clone)]
pub struct ComposedReleases {
    /// At least one release.
    pub parts: Vec<ReleasePart>,
    /// How many records one person has at most.
    pub group: u64,
}

/// A release, or several together.
#[derive(Debug, Clone)]
pub enum ReleasePart {
    /// One mechanism.
    Release(Release),
    /// Several parts as one.
    Bundle(ReleaseBundle),
}

/// A mechanism that was run a number of times with fresh randomness.
#[derive(Debug, Clone)]
pub struct Release {
    /// The mechanism.
    pub mechanism: Arc<dyn Mechanism>,
    /// Its data; for one record the count 0, whose neighbor is 1.
    pub data: VoteHistogram,
    /// How many times, at least 1.
    pub times: u64,
    /// How far one record moves the count; 1 for votes.
    pub distance: u64,
    /// Its place in the file, such as `line 2`.
    pub place: String,
}

/// Parts that were made one after the other, and repeated as a whole.
#[derive(Debug, Clone)]
pub struct ReleaseBundle {
    /// At least one.
    pub parts: Vec<ReleasePart>,
    /// How many times, at least 1.
    pub times: u64,
    /// The number of runs of the parts, if only the best run is published.
    pub select: Option<Runs>,
    /// Its place in the file.
    pub place: String,
}

impl ComposedReleases {
    /// The number of releases; a selection counts as one.
    #[must_use]
    pub fn count(&self) -> u64 {
        count(&self.parts)
    }
}

impl ReleasePart {
    /// The number of its releases; a selection counts as one.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Self::Release(release) => release.times,
            Self::Bundle(bundle) => {
                bundle.times.saturating_mul(bundle.select.map_or_else(|| count(&bundle.parts), |_| 1))
            }
        }
    }

    /// The same, repeated this many times as often.
    pub(super) const fn repeated(mut self, times: u64) -> Self {
        let own = match &mut self {
            Self::Release(release) => &mut release.times,
            Self::Bundle(bundle) => &mut bundle.times,
        };
        *own = own.saturating_mul(times);
        self
    }
}

fn count(parts: &[ReleasePart]) -> u64 {
    parts.iter().fold(0, |sum, part| sum.saturating_add(part.count()))
}

/// No mechanism is run more often than can be counted.
pub(super) fn countable(file: &Path, parts: &[ReleasePart], times: u64) -> Result<()> {
    for part in parts {
        let (own, place) = match part {
            ReleasePart::Release(release) => (release.times, &release.place),
            ReleasePart::Bundle(bundle) => (bundle.times, &bundle.place),
        };
        let all = own.saturating_mul(times);
        if all > MAX_COUNT {
            return Err(fault(file, &**place, "more than 2^53 releases", "at most 2^53 of one mechanism").into());
        }
        if let ReleasePart::Bundle(bundle) = part {
            countable(file, &bundle.parts, all)?;
        }
    }
    Ok(())
}
