//! Coverage: in how many simulated audits is any bound of a method above the truth?

use crate::audit_cases::{AuditCase, FAILURE, FIGURE_6, FIVE, TEN, TIE, plan};
use crate::experiment::{Report, stream};
use crate::multinomial;
use leakbound::Result;
use leakbound::audit::{AuditPlan, Bounded, Guide, Method, SetSource, audit_counts, split_pilot};
use leakbound::bound::{Direction, Validity};
use leakbound::distribution::OutcomeDistribution;
use leakbound::divergence::{hockey_stick, renyi_divergence};
use leakbound::quantity::{Delta, Epsilon, Order};
use rayon::prelude::*;

/// The orders of every audit.
pub const ORDERS: [f64; 4] = [1.5, 2.0, 10.0, 64.0];
/// The δ of the ε bounds.
pub const DELTAS: [f64; 2] = [0.0, 1e-3];
const PILOT_FRACTION: f64 = 0.1;
/// Simulated audits per case.
const AUDITS: u64 = 20_000;
/// Resamples of the bootstrap: enough for its 5 % points, and no more, since there are many audits.
const RESAMPLES: usize = 200;
const SEED: u64 = 20_240_917;

/// A pair of histograms and a sample size.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// The votes of both worlds and the noise.
    pub votes: AuditCase,
    /// Outputs in each world.
    pub samples: u64,
}

impl Case {
    /// The name in tables.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}, n {:.0e}", self.votes.name, self.samples)
    }
}

const NULL_TWO: AuditCase = AuditCase { name: "P = Q, C = 2", neighbor: TIE.votes, ..TIE };
const NULL_FIVE: AuditCase = AuditCase { name: "P = Q, C = 5", neighbor: FIGURE_6.votes, ..FIGURE_6 };
const NULL_TEN: AuditCase = AuditCase { name: "P = Q, C = 10", neighbor: TEN.votes, ..TEN };
/// The third class comes up in one of a hundred thousand outputs.
const RARE: AuditCase = AuditCase { name: "rare class", votes: &[30, 28, 15], neighbor: &[29, 28, 16], sigma: 3.0 };

/// The cases of the experiment: no leakage, figure 6, two of low signal, and a rare class.
pub const CASES: [Case; 15] = [
    Case { votes: NULL_TWO, samples: 1_000 },
    Case { votes: NULL_FIVE, samples: 1_000 },
    Case { votes: NULL_FIVE, samples: 100_000 },
    Case { votes: NULL_FIVE, samples: 10_000_000 },
    Case { votes: NULL_TEN, samples: 10_000 },
    Case { votes: FIGURE_6, samples: 1_000 },
    Case { votes: FIGURE_6, samples: 100_000 },
    Case { votes: FIGURE_6, samples: 10_000_000 },
    Case { votes: FIVE, samples: 1_000 },
    Case { votes: FIVE, samples: 100_000 },
    Case { votes: FIVE, samples: 10_000_000 },
    Case { votes: TEN, samples: 100_000 },
    Case { votes: TEN, samples: 10_000_000 },
    Case { votes: RARE, samples: 10_000 },
    Case { votes: RARE, samples: 1_000_000 },
];

/// How the output sets of an audit are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sets {
    /// Each outcome alone, undirected.
    FixedList,
    /// From the exact distribution, directed.
    ExactDistribution,
    /// From a tenth of the outputs, directed.
    Pilot,
}

impl Sets {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::FixedList, Self::ExactDistribution, Self::Pilot];
}

/// A row of the table: a method with its guide; ε bounds at each δ apart.
#[derive(Debug, Clone)]
pub struct Row {
    /// Where the guide comes from.
    pub sets: Sets,
    /// The method.
    pub method: Method,
    /// δ of ε bounds.
    pub delta: Option<f64>,
    /// Audits in which any bound exceeded the truth.
    pub wrong: u64,
    /// Mean over audits of bound/truth at order 2 (or of ε), forward; None where the truth is 0.
    pub mean_share: Option<f64>,
}

/// What is true of a case.
struct Truth {
    p: OutcomeDistribution,
    q: OutcomeDistribution,
    orders: Vec<Order>,
    /// `[direction][order]`.
    rdp: [Vec<f64>; 2],
    /// `[delta][direction]`.
    epsilon: [[f64; 2]; 2],
}

impl Truth {
    fn of(case: &Case) -> Result<Self> {
        let [p, q] = case.votes.distributions()?;
        let orders: Vec<Order> = ORDERS.iter().map(|&a| Order::new(a)).collect::<Result<_>>()?;
        let divergences = |p: &OutcomeDistribution, q: &OutcomeDistribution| -> Result<Vec<f64>> {
            orders.iter().map(|&order| renyi_divergence(p, q, order)).collect()
        };
        let rdp = [divergences(&p, &q)?, divergences(&q, &p)?];
        let mut epsilon = [[0.0; 2]; 2];
        for (row, delta) in epsilon.iter_mut().zip(DELTAS) {
            *row = [exact_epsilon(&p, &q, delta)?, exact_epsilon(&q, &p, delta)?];
        }
        Ok(Self { p, q, orders, rdp, epsilon })
    }
}

/// The smallest ε ≥ 0 with δ(ε) ≤ δ, by bisection on the hockey-stick divergence, rounded up; at δ = 0 the largest
/// log-ratio.
fn exact_epsilon(p: &OutcomeDistribution, q: &OutcomeDistribution, delta: f64) -> Result<f64> {
    let ratios = p.ln_p().iter().zip(q.ln_p()).map(|(ln_p, ln_q)| ln_p - ln_q);
    let (mut low, mut high) = (0.0, ratios.fold(0.0, f64::max));
    if delta == 0.0 {
        return Ok(high);
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if hockey_stick(p, q, Epsilon::new(middle)?)? > delta { low = middle } else { high = middle }
    }
    Ok(high)
}

/// What one audit found, row by row.
struct Found {
    sets: Sets,
    method: Method,
    delta: Option<f64>,
    wrong: bool,
    share: f64,
}

/// One audit with every method that applies.
fn audit(case: &Case, truth: &Truth, methods: &[Method], seed: u64) -> Result<Vec<Found>> {
    let counts = multinomial::paired(&truth.p, &truth.q, case.samples, &mut stream(SEED, seed));
    let mut rows = Vec::new();
    for sets in Sets::ALL {
        let pilot = if sets == Sets::Pilot { Some(split_pilot(&counts, PILOT_FRACTION, seed)?) } else { None };
        let (guide, bounded) = match &pilot {
            Some((pilot, rest)) => (Guide::from_pilot(pilot, &truth.orders, &Direction::BOTH)?, rest),
            None if sets == Sets::ExactDistribution => (
                Guide::from_distributions(
                    &truth.p,
                    &truth.q,
                    &truth.orders,
                    &Direction::BOTH,
                    SetSource::ExactDistribution,
                )?,
                &counts,
            ),
            None => (Guide::fixed_list(counts.outcomes()), &counts),
        };
        for (index, delta) in DELTAS.into_iter().enumerate() {
            // Rényi bounds know no δ: once is enough.
            let wanted = |method: &Method| index == 0 || method.bounds() == Bounded::Epsilon;
            let plan = plan(truth.orders.clone(), methods.iter().copied().filter(wanted).collect())?;
            let plan = AuditPlan { delta: Delta::new(delta)?, seed, resamples: RESAMPLES, ..plan };
            let result = audit_counts(bounded, &guide, &plan)?;
            for &method in &plan.methods {
                if result.skipped.iter().any(|skipped| skipped.method == method) {
                    continue;
                }
                let mut row = Found { sets, method, delta: None, wrong: false, share: f64::NAN };
                if method.bounds() == Bounded::Renyi {
                    for (direction, truths) in Direction::BOTH.into_iter().zip(&truth.rdp) {
                        for (&order, &exact) in truth.orders.iter().zip(truths) {
                            let bound =
                                result.rdp_bound(method, direction, order).map_or(f64::NAN, |bound| bound.value);
                            row.wrong |= !(bound <= exact);
                        }
                    }
                    let at_two = result.rdp_bound(method, Direction::Forward, truth.orders[1]);
                    row.share = at_two.map_or(f64::NAN, |bound| bound.value) / truth.rdp[0][1];
                } else {
                    row.delta = Some(delta);
                    for found in result.epsilon.iter().filter(|row| row.bound.method == method.name()) {
                        let reverse = usize::from(found.direction == Direction::Reverse);
                        row.wrong |= !(found.bound.value <= truth.epsilon[index][reverse]);
                        if reverse == 0 {
                            row.share = found.bound.value / truth.epsilon[index][0];
                        }
                    }
                }
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

/// Simulates audits of a case. Audit i depends on i only, so the result does not depend on the number of threads.
///
/// # Errors
/// As [`audit_counts`].
pub fn simulate(case: &Case, methods: &[Method], audits: u64) -> Result<Vec<Row>> {
    let truth = Truth::of(case)?;
    let results: Vec<Vec<Found>> =
        (0..audits).into_par_iter().map(|seed| audit(case, &truth, methods, seed)).collect::<Result<_>>()?;
    let Some(first) = results.first() else { return Ok(Vec::new()) };
    let row = |(index, found): (usize, &Found)| {
        let wrong = results.iter().filter(|audit| audit[index].wrong).count() as u64;
        let mean = results.iter().map(|audit| audit[index].share).sum::<f64>() / audits as f64;
        let &Found { sets, method, delta, .. } = found;
        Row { sets, method, delta, wrong, mean_share: mean.is_finite().then_some(mean) }
    };
    Ok(first.iter().enumerate().map(row).collect())
}

/// The most wrong audits that a method whose failure probability is 5 % may have: three standard errors above.
#[must_use]
pub fn allowed(audits: u64) -> f64 {
    let n = audits as f64;
    n * FAILURE + 3.0 * (n * FAILURE * (1.0 - FAILURE)).sqrt()
}

/// Runs all cases with all methods.
pub fn report() -> Report {
    report_of(&Method::ALL)
}

/// Runs all cases with the e-process alone, which takes most of the time of all.
pub fn report_of_e_process() -> Report {
    report_of(&[Method::EProcess])
}

fn report_of(methods: &[Method]) -> Report {
    let mut report = Report::new(format!(
        "{AUDITS} simulated audits per case, seed {SEED}: share in which ANY bound (orders {ORDERS:?}, both \
         directions) exceeds the truth, against {FAILURE} + 3 standard errors for methods labeled finite-sample; mean \
         of bound/truth at order 2 or of epsilon, forward. Guides: each outcome alone, the exact distribution, a pilot of a tenth; \
         {RESAMPLES} bootstrap resamples. A method that failed with exactly 5 % would fail a row with probability 0.0013"
    ));
    for case in &CASES {
        eprintln!("{}", case.name());
        let rows = report.found(case.name(), simulate(case, methods, AUDITS));
        rows.iter().flatten().for_each(|row| judge(&mut report, case, row));
    }
    report
}

/// A claim for what is labeled finite-sample, a figure for the others.
fn judge(report: &mut Report, case: &Case, row: &Row) {
    let share = row.mean_share.map_or("  truth 0".to_owned(), |share| format!("{share:>9.4}"));
    let method = row.delta.map_or_else(|| row.method.to_string(), |delta| format!("{}, delta {delta}", row.method));
    let valid = row.method.validity() == Validity::FiniteSample;
    let note = if valid { String::new() } else { format!("  ({})", row.method.validity()) };
    let line = format!(
        "{:<22} {:<10} {method:<30} wrong {:.4}  bound/truth {share}{note}",
        case.name(),
        format!("{:?}", row.sets),
        row.wrong as f64 / AUDITS as f64
    );
    report.judged(valid.then(|| row.wrong as f64 <= allowed(AUDITS)), line);
}
