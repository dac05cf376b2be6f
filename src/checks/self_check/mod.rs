//! Do the bounds hold on data of the user's sizes? Simulated audits of known distributions.

mod check;
mod scores;

pub use check::{BoundTightness, CheckCase, CheckRuns, CheckSizes, CheckVerdict, CheckedQuantity, MethodCheck};
pub use scores::self_check_scores;

use crate::audit::QueryAudit;
use crate::bound::{Direction, LowerBound};
use crate::counts::PairedCounts;
use crate::distribution::OutputPair;
use crate::error::{Error, Result};
use crate::parallel;
use crate::simulate::{Simulation, sample_distributions};

/// Audits that are kept in memory together; results are added up in the order of the audits, whatever the threads.
const BATCH: u64 = 512;
/// A bound within this share of the truth is not above it: both are rounded.
const ROUNDING: f64 = 1e-12;

/// Simulates audits of one case and counts, for every method that the audit returns, how often a bound was above the
/// truth.
///
/// The distributions of both worlds come from `counts` ([`CheckCase`]); each audit is given fresh counts of `sizes`
/// drawn from them, and a pilot if there is one, and returns its bounds. A method is identified by its name and its
/// validity. The audit must not depend on anything else that is random, so that the result is the same for any number
/// of threads. `done` is called after each audit; its error ends the work.
///
/// # Errors
/// [`Error::Domain`] without audits or outputs; whatever the audit returns.
///
/// # Example
/// ```
/// use leakbound::prelude::*;
/// use leakbound::self_check::{CheckCase, CheckRuns, CheckSizes, CheckVerdict, self_check};
///
/// let counts = PairedCounts::new(vec!["a".into(), "b".into()], vec![600, 400], vec![500, 500])?;
/// let plan = AuditPlan {
///     orders: vec![Order::new(2.0)?],
///     delta: Delta::new(0.0)?,
///     failure: FailureProbability::new(0.05)?,
///     methods: vec![Method::TwoCutCorner],
///     directions: vec![Direction::Forward],
///     seed: 0,
///     resamples: 10_000,
/// };
/// let sizes = CheckSizes { counts: [1_000, 1_000], pilot: None };
/// let audit = |counts: &PairedCounts, _: Option<&PairedCounts>| {
///     audit_counts(counts, &Guide::fixed_list(counts.outcomes()), &plan)
/// };
/// let checks = self_check(&counts, CheckCase::Null, sizes, CheckRuns { repetitions: 200, seed: 0 }, audit, || Ok(()))?;
/// assert!(checks[0].wrong_share() < 0.05 && checks[0].verdict() == CheckVerdict::Kept);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn self_check(
    counts: &PairedCounts,
    case: CheckCase,
    sizes: CheckSizes,
    runs: CheckRuns,
    audit: impl Fn(&PairedCounts, Option<&PairedCounts>) -> Result<QueryAudit> + Sync,
    done: impl Fn() -> Result<()> + Sync,
) -> Result<Vec<MethodCheck>> {
    Error::check_domain(runs.repetitions > 0, "number of repetitions", 0.0, "[1, 2^53]")?;
    let pair = case.pair(counts)?;
    let mut tally = Tally { case, pair: &pair, repetitions: runs.repetitions, checks: Vec::new() };
    let one = |repetition: u64| -> Result<QueryAudit> {
        // Four different queries: the two cases and their pilots.
        let query = 4 * repetition + 2 * u64::from(case == CheckCase::Known);
        let drawn = draw(counts, &pair, sizes.counts, runs.seed, query)?;
        let pilot = sizes.pilot.map(|sizes| draw(counts, &pair, sizes, runs.seed, query + 1)).transpose()?;
        let found = audit(&drawn, pilot.as_ref())?;
        done()?;
        Ok(found)
    };
    let mut first = 0;
    while first < runs.repetitions {
        let last = runs.repetitions.min(first + BATCH);
        let audits = parallel::try_map(first..last, one)?;
        for (repetition, audit) in (first..last).zip(&audits) {
            tally.add(repetition, audit)?;
        }
        first = last;
    }
    for check in &mut tally.checks {
        for row in &mut check.tightness {
            row.mean_bound /= runs.repetitions as f64;
        }
    }
    Ok(tally.checks)
}

/// Counts of both worlds, with separate sizes.
fn draw(counts: &PairedCounts, pair: &OutputPair, sizes: [u64; 2], seed: u64, query: u64) -> Result<PairedCounts> {
    let world = |samples: u64| {
        sample_distributions(pair.dataset(), pair.neighbor(), Simulation::new(samples)?.seed(seed).query(query))
    };
    let dataset = world(sizes[0])?;
    let neighbor = if sizes[0] == sizes[1] { dataset.clone() } else { world(sizes[1])? };
    PairedCounts::new(counts.labels().to_vec(), dataset.counts().to_vec(), neighbor.counts_neighbor().to_vec())
}

/// What has been seen so far.
struct Tally<'a> {
    case: CheckCase,
    pair: &'a OutputPair,
    repetitions: u64,
    checks: Vec<MethodCheck>,
}

impl Tally<'_> {
    fn add(&mut self, repetition: u64, audit: &QueryAudit) -> Result<()> {
        let rdp = audit.rdp.iter().map(|row| (CheckedQuantity::Rdp(row.order), row.direction, row.bound));
        let epsilon = audit.epsilon.iter().map(|row| (CheckedQuantity::Epsilon(row.delta), row.direction, row.bound));
        let mut wrong = vec![false; self.checks.len()];
        for (quantity, direction, bound) in rdp.chain(epsilon) {
            let check = self.check_of(&bound);
            wrong.resize(self.checks.len(), false);
            let row = self.row_of(check, quantity, direction)?;
            // NaN counts as wrong.
            let holds = bound.value <= row.truth * (1.0 + ROUNDING);
            row.mean_bound += bound.value;
            row.wrong += u64::from(!holds);
            wrong[check] |= !holds;
        }
        for (check, wrong) in self.checks.iter_mut().zip(wrong) {
            check.wrong += u64::from(wrong);
            check.wrong_in.extend(wrong.then_some(repetition));
        }
        Ok(())
    }

    fn check_of(&mut self, bound: &LowerBound) -> usize {
        let known =
            self.checks.iter().position(|check| check.method == bound.method && check.validity == bound.validity);
        known.unwrap_or_else(|| {
            self.checks.push(MethodCheck {
                case: self.case,
                method: bound.method,
                validity: bound.validity,
                failure_probability: bound.failure_probability.get(),
                repetitions: self.repetitions,
                wrong: 0,
                wrong_in: Vec::new(),
                tightness: Vec::new(),
            });
            self.checks.len() - 1
        })
    }

    fn row_of(&mut self, check: usize, quantity: CheckedQuantity, direction: Direction) -> Result<&mut BoundTightness> {
        let rows = &mut self.checks[check].tightness;
        let known = rows.iter().position(|row| row.quantity == quantity && row.direction == direction);
        let at = match known {
            Some(at) => at,
            None => {
                let truth = truth(self.pair, quantity, direction);
                rows.push(BoundTightness { quantity, direction, truth, mean_bound: 0.0, wrong: 0 });
                rows.len() - 1
            }
        };
        Ok(&mut rows[at])
    }
}

/// The true value of a quantity.
fn truth(pair: &OutputPair, quantity: CheckedQuantity, direction: Direction) -> f64 {
    match quantity {
        CheckedQuantity::Rdp(order) => pair.renyi(direction, order),
        CheckedQuantity::Epsilon(delta) => pair.epsilon(direction, delta).get(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{EpsilonBound, RdpBound};
    use crate::bound::Validity;
    use crate::quantity::FailureProbability;
    use crate::quantity::{Delta, Order};
    use std::sync::atomic::{AtomicU64, Ordering};

    fn counts() -> PairedCounts {
        PairedCounts::new(vec!["a".into(), "b".into(), "c".into()], vec![50, 30, 0], vec![20, 60, 10]).unwrap()
    }

    fn bound(value: f64, validity: Validity) -> LowerBound {
        LowerBound::new(value, FailureProbability::new(0.05).unwrap(), "test", validity)
    }

    /// An auditor with fixed answers: right, except in the audits that the first count selects.
    fn liar(
        validity: Validity,
        wrong_below: u64,
    ) -> impl Fn(&PairedCounts, Option<&PairedCounts>) -> Result<QueryAudit> {
        move |counts, _| {
            let value = if counts.counts()[0] % 100 < wrong_below { 1e9 } else { 0.0 };
            let order = Order::new(2.0).unwrap();
            Ok(QueryAudit {
                rdp: vec![RdpBound { direction: Direction::Forward, order, bound: bound(value, validity) }],
                epsilon: vec![EpsilonBound {
                    direction: Direction::Reverse,
                    delta: Delta::new(0.1).unwrap(),
                    bound: bound(0.0, validity),
                }],
                skipped: Vec::new(),
            })
        }
    }

    const SIZES: CheckSizes = CheckSizes { counts: [100_000, 50_000], pilot: Some([10, 20]) };
    const RUNS: CheckRuns = CheckRuns { repetitions: 1_500, seed: 5 };

    /// About 12 of 100 residues lie; 5% and three standard errors of 1,500 audits are 6.7%.
    #[test]
    fn a_liar_is_told_from_a_heuristic_and_from_an_honest_method() {
        for case in CheckCase::ALL {
            let verdict = |validity, wrong_below| {
                let checks = self_check(&counts(), case, SIZES, RUNS, liar(validity, wrong_below), || Ok(())).unwrap();
                assert_eq!((checks.len(), checks[0].tightness.len()), (1, 2));
                assert_eq!(checks[0].wrong_in.len() as u64, checks[0].wrong);
                assert!((checks[0].wrong_share() - wrong_below as f64 / 100.0).abs() < 0.03);
                checks[0].verdict()
            };
            assert_eq!(verdict(Validity::FiniteSample, 12), CheckVerdict::Broken);
            assert_eq!(verdict(Validity::Bayesian, 12), CheckVerdict::AboveNominal);
            assert_eq!(verdict(Validity::FiniteSample, 2), CheckVerdict::Kept);
        }
    }

    /// An audit is wrong if any of its finite-sample bounds is, however many of them are.
    #[test]
    fn bounds_together_are_wrong_where_any_of_them_is() {
        let check = |validity, wrong_in: &[u64]| MethodCheck {
            case: CheckCase::Null,
            method: "test",
            validity,
            failure_probability: 0.01,
            repetitions: 10,
            wrong: wrong_in.len() as u64,
            wrong_in: wrong_in.to_vec(),
            tightness: Vec::new(),
        };
        let (guaranteed, whole) = (Validity::FiniteSample, FailureProbability::new(0.05).unwrap());
        let checks = [
            check(guaranteed, &[1, 4]),
            check(Validity::Heuristic, &[0, 2]),
            check(guaranteed, &[4, 7]),
            check(guaranteed, &[]),
        ];
        let together = MethodCheck::together(&checks, whole).unwrap();
        assert_eq!((together.wrong_in.as_slice(), together.failure_probability), ([1, 4, 7].as_slice(), 0.05));
        assert_eq!((together.wrong, together.repetitions, together.verdict()), (3, 10, CheckVerdict::Broken));
        assert_eq!(MethodCheck::together(&checks[1..2], whole), None);
    }

    /// Sizes, labels and the pilot reach the audit; the same seed gives the same result, and each audit its own counts.
    #[test]
    fn every_audit_sees_fresh_counts_of_the_right_sizes() {
        let calls = AtomicU64::new(0);
        let audit = |drawn: &PairedCounts, pilot: Option<&PairedCounts>| {
            let pilot = pilot.unwrap();
            assert_eq!((drawn.trials(), drawn.trials_neighbor()), (100_000, 50_000));
            assert_eq!((pilot.trials(), pilot.trials_neighbor()), (10, 20));
            assert_eq!(drawn.labels(), counts().labels());
            calls.fetch_add(1, Ordering::Relaxed);
            liar(Validity::FiniteSample, 12)(drawn, None)
        };
        let run = |seed| {
            let runs = CheckRuns { repetitions: 600, seed };
            self_check(&counts(), CheckCase::Known, SIZES, runs, audit, || Ok(())).unwrap()
        };
        let first = run(1);
        assert_eq!(first, run(1));
        assert_ne!(first[0].wrong, run(2)[0].wrong);
        assert_eq!(calls.load(Ordering::Relaxed), 1_800);
        let runs = CheckRuns { repetitions: 0, seed: 0 };
        assert!(self_check(&counts(), CheckCase::Null, SIZES, runs, audit, || Ok(())).is_err());
    }

    #[test]
    fn truths_are_those_of_the_smoothed_frequencies() {
        let known = CheckCase::Known.pair(&counts()).unwrap();
        let (p, q) = (known.dataset(), known.neighbor());
        assert!((p.p()[2] - 0.5 / 81.5).abs() < 1e-16 && (q.p()[0] - 20.5 / 91.5).abs() < 1e-16);
        let null = CheckCase::Null.pair(&counts()).unwrap();
        assert_eq!(null.dataset(), null.neighbor());
        let order = CheckedQuantity::Rdp(Order::new(3.0).unwrap());
        assert_eq!(truth(&null, order, Direction::Forward), 0.0);
        let epsilon = CheckedQuantity::Epsilon(Delta::new(0.0).unwrap());
        let ratio = (p.p()[0] / q.p()[0]).ln();
        assert!((truth(&known, epsilon, Direction::Forward) - ratio).abs() < 1e-14);
    }
}
