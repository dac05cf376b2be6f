//! How many runs it takes to find the pair of neighbors that refutes a claim.

use super::request::MechanismStudy;
use crate::black_box::Aim;
use crate::study::Warning;
use crate::study::number::{Number, significant};
use serde::Serialize;

/// Of the runs of each world: the share of the search before and after the second look at all pairs, and the share of
/// that look, even if the search is the test.
pub(super) const SEARCH: f64 = 0.3;
pub(super) const SEARCH_AND_LOOKS: f64 = 0.65;
pub(super) const LOOKS: f64 = 0.25;

/// The least probability of the event that is forecast, and how it grows until runs can show the event.
const RARE: f64 = 0.01;
const STEP: f64 = 1.1;
/// How often each pair must have had its chance to show the event: half of the outputs show what the others suggest.
const CHANCES: f64 = 6.0;
/// More runs are never forecast.
const MOST: f64 = 1e12;
/// The test of the pair has this many times the runs that it needs if frequencies are probabilities.
const MARGIN: f64 = 2.0;

/// The runs needed to name the pair of neighbors that refutes a claim, if one of all pairs does so by an event that has
/// a small probability under one dataset and none under its neighbor.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Naming {
    /// Number of pairs that are searched.
    pub pairs: usize,
    /// The probability of the event: twice the claimed δ or 0.01, or the least that the allowed runs can show of a pair
    /// that is known, whichever is largest.
    pub event_probability: Number,
    /// Runs of each dataset that this takes, the test included.
    pub runs_needed: u64,
    /// Runs of each dataset that were allowed.
    pub runs_allowed: u64,
}

impl MechanismStudy<'_> {
    pub(super) fn naming(&self, aims: &[Aim]) -> Naming {
        let tested = if self.stop_early { 1.0 } else { 1.0 - SEARCH_AND_LOOKS };
        let test = |probability: f64| {
            let runs = aims.iter().map(|aim| aim.runs_to_refute(0.0, [probability, 0.0], [1.0; 2], MOST));
            MARGIN * runs.fold(MOST, f64::min) / tested
        };
        let delta = |aim: &Aim| match *aim {
            Aim::Epsilon(delta, _) => delta.get(),
            Aim::Rdp(..) | Aim::Mu(_) => 0.0,
        };
        let mut probability = aims.iter().map(delta).map(|delta| 2.0 * delta).fold(RARE, f64::max).min(1.0);
        // What would not even be shown of a pair that is known needs no name.
        while probability < 1.0 && test(probability) > self.runs as f64 {
            probability = (STEP * probability).min(1.0);
        }
        let looks = self.pairs.len() as f64 * CHANCES / probability / LOOKS;
        Naming {
            pairs: self.pairs.len(),
            event_probability: Number(probability),
            runs_needed: looks.max(test(probability)).ceil() as u64,
            runs_allowed: self.runs,
        }
    }
}

impl Naming {
    /// The need in words.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { pairs, event_probability, runs_needed, runs_allowed } = self;
        let needed = significant(*runs_needed as f64, 2);
        let event = significant(event_probability.0, 3);
        format!(
            "naming the guilty pair among {pairs} takes about {needed} runs of each dataset where it leaks by an event of \
             probability {event}; {runs_allowed} were allowed"
        )
    }

    pub(super) fn warning(&self) -> Option<Warning> {
        (self.runs_needed > self.runs_allowed).then(|| Warning {
            code: "pairs-hard-to-name",
            message: self.words(),
            hint: "give it more runs, or only the pair that you suspect (`pairs`): a rare leak of one pair may have been missed"
                .into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::black_box::{Dataset, FunctionBlackBox, Output, neighbor_pairs};
    use crate::quantity::{Delta, Epsilon, FailureProbability, Order};
    use crate::relation::Relation;
    use crate::study::{Bounds, MechanismAnswer, Study, unwatched};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn bounds(epsilon: f64, delta: f64) -> Bounds {
        let delta = Delta::new(delta).unwrap();
        let mut bounds = Bounds::new(vec![Order::new(2.0).unwrap()], delta, FailureProbability::new(0.05).unwrap());
        bounds.claims.epsilon = Some((Epsilon::new(epsilon).unwrap(), delta));
        bounds
    }

    /// Audits, one for each seed, of a program that draws its answers with `one`.
    fn audits(
        one: impl Fn(&Dataset, &mut ChaCha8Rng) -> Output + Sync,
        (dataset, delta): (&str, f64),
        stop_early: bool,
        seeds: std::ops::Range<u64>,
    ) -> Vec<MechanismAnswer> {
        let source = FunctionBlackBox::new("rare", |dataset: &Dataset, runs, seed| {
            let mut stream = ChaCha8Rng::seed_from_u64(seed);
            Ok((0..runs).map(|_| one(dataset, &mut stream)).collect())
        });
        let pairs = neighbor_pairs(Relation::AddRemove, &dataset.parse().unwrap(), None).unwrap();
        let audit = |seed| {
            let study = MechanismStudy::new(&source, pairs.clone(), bounds(1.0, delta), 100_000);
            MechanismStudy { stop_early, seed, ..study }.run(&unwatched).unwrap()
        };
        seeds.map(audit).collect()
    }

    /// Noise with P(z) in proportion to e^{-|z|}.
    fn discrete_laplace(stream: &mut ChaCha8Rng) -> i64 {
        let mut geometric = || (-(1.0 - stream.random_range(0.0f64..1.0)).ln()).floor() as i64;
        geometric() - geometric()
    }

    /// A count that is kept secret below 5: P(an answer) is 0.01339 for one record and 0 for none.
    #[test]
    fn a_pair_that_leaks_by_a_rare_event_is_found() {
        let count = |dataset: &Dataset, stream: &mut ChaCha8Rng| {
            let records = dataset.records().len() as i64;
            let noisy = records + discrete_laplace(stream);
            if records > 0 && noisy >= 5 { Output::Number(noisy as f64) } else { Output::Null }
        };
        // Something else than the noise, which only one record alone has.
        let special = |dataset: &Dataset, stream: &mut ChaCha8Rng| {
            let records = dataset.records().len() as i64;
            if records == 1 && stream.random_bool(0.02) {
                return Output::Text("rare".into());
            }
            Output::Number((records + discrete_laplace(stream)) as f64)
        };
        for stop_early in [false, true] {
            let found = audits(count, ("[\"a\"]", 0.00493), stop_early, 0..3);
            let refuted = found.iter().filter(|answer| answer.claims[0].refuted).count();
            assert_eq!(refuted, 3, "{stop_early}");
            let found = audits(special, ("[\"a\"]", 0.01), stop_early, 0..3);
            let refuted = found.iter().filter(|answer| answer.claims[0].refuted).count();
            assert_eq!(refuted, 3, "{stop_early}");
        }
    }
}
