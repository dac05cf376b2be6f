//! Figures 2 and 6 of Chadha et al. (2024), drawn again with every method.

use crate::audit_cases::{AuditCase, FAILURE, FIGURE_6, FIVE, plan};
use crate::experiment::Report;
use leakbound::Result;
use leakbound::accountant::{gnmax_data_dependent, gnmax_data_independent, log_flip_probability};
use leakbound::audit::{AuditPlan, Bounded, Guide, Method, SetSource, audit_counts};
use leakbound::bound::{Direction, Validity};
use leakbound::divergence::renyi_divergence;
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::{NoiseScale, Order};
use leakbound::report::{Axis, Curves, Series, SeriesKind};
use leakbound::simulate::{Simulation, sample_distributions};

const ORDERS: [f64; 20] =
    [1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0, 24.0, 32.0, 40.0, 48.0, 56.0, 64.0];
/// Outputs per world of figure 2, and of figure 6.
const SAMPLES: [u64; 2] = [100_000_000, 100_000];
const SEED: u64 = 6;

/// Draws both figures and says what they show.
pub fn report() -> Report {
    let mut report = Report::new(format!(
        "Noisy argmax on synthetic histograms, one audit each, seed {SEED}, failure probability {FAILURE} over all \
         {} orders, forward, exact distributions as guide (bootstrap and e-process too). Figure 2: {:?}, sigma {}, {:.0e} outputs \
         per world (the paper names no histogram); figure 6: {:?} against {:?}, sigma {}, {:.0e} outputs per world",
        ORDERS.len(),
        FIVE.votes,
        FIVE.sigma,
        SAMPLES[0] as f64,
        FIGURE_6.votes,
        FIGURE_6.neighbor,
        FIGURE_6.sigma,
        SAMPLES[1] as f64,
    ));
    let two = [Method::TwoCutPaper, Method::TwoCutCorner, Method::KCutRegion];
    let all: Vec<Method> = Method::ALL.into_iter().filter(|method| method.bounds() == Bounded::Renyi).collect();
    for (number, case, samples, methods) in [(2, FIVE, SAMPLES[0], &two[..]), (6, FIGURE_6, SAMPLES[1], &all)] {
        let drawn = figure(&mut report, number, &case, samples, methods);
        report.found(format!("figure {number}"), drawn);
    }
    report
}

fn figure(report: &mut Report, number: u32, case: &AuditCase, samples: u64, methods: &[Method]) -> Result<()> {
    let [p, q] = case.distributions()?;
    let orders = ORDERS.iter().map(|&a| Order::new(a)).collect::<Result<Vec<_>>>()?;
    let plan = plan(orders.clone(), methods.to_vec())?;
    let plan = AuditPlan { directions: vec![Direction::Forward], seed: SEED, resamples: 10_000, ..plan };
    let guide = Guide::from_distributions(&p, &q, &orders, &plan.directions, SetSource::ExactDistribution)?;
    let counts = sample_distributions(&p, &q, Simulation::new(samples)?.seed(SEED))?;
    let audit = audit_counts(&counts, &guide, &plan)?;
    let exact = orders.iter().map(|&order| renyi_divergence(&p, &q, order)).collect::<Result<Vec<_>>>()?;
    let points = |values: &[f64]| ORDERS.iter().zip(values).map(|(&a, &value)| [a, value]).collect::<Vec<_>>();
    let mut series = vec![Series::new("exact", SeriesKind::Exact, points(&exact))];
    report.line(format!("figure {number}, share of the exact divergence at orders 1.5, 2, 10, 64"));
    for &method in methods {
        let values: Vec<f64> = orders
            .iter()
            .map(|&order| audit.rdp_bound(method, Direction::Forward, order).map_or(f64::NAN, |bound| bound.value))
            .collect();
        let valid = method.validity() == Validity::FiniteSample;
        let shares = [1, 3, 10, 19].map(|place| values[place] / exact[place]);
        let words = shares.map(|share| format!("{share:>8.4}")).concat();
        let line = format!("{:<20}{words}  ({})", method.name(), method.validity());
        report.judged(valid.then(|| values.iter().zip(&exact).all(|(bound, exact)| bound <= exact)), line);
        let kind = if valid { SeriesKind::Lower } else { SeriesKind::Heuristic };
        series.push(Series::new(method.name(), kind, points(&values)));
    }
    if number == 2 {
        // In figure 6 they would leave no room between the methods.
        series.extend(accountants(case, &orders)?);
    }
    let curves = Curves {
        title: format!("Figure {number} of Chadha et al. (2024), redone: votes {:?}, sigma {}", case.votes, case.sigma),
        description: format!(
            "Lower bounds of the Rényi divergence of noisy argmax between {:?} and {:?} with sigma {} from {samples} \
             outputs of each world, and the exact divergence, against the order.",
            case.votes, case.neighbor, case.sigma
        ),
        x: Axis::log("order α"),
        y: Axis::log("Rényi divergence in nats"),
        series,
    };
    report.figure(format!("figure-{number}"), curves.draw().svg());
    report.line("");
    Ok(())
}

fn accountants(case: &AuditCase, orders: &[Order]) -> Result<[Series; 2]> {
    let (votes, sigma) = (VoteHistogram::new(case.votes.to_vec())?, NoiseScale::new(case.sigma)?);
    let log_q = log_flip_probability(&votes, sigma);
    let points = |value: &dyn Fn(Order) -> f64| orders.iter().map(|&order| [order.get(), value(order)]).collect();
    Ok([
        Series::new(
            "gnmax-data-dependent",
            SeriesKind::Upper,
            points(&|order| gnmax_data_dependent(order, sigma, log_q)),
        ),
        Series::new("gnmax-data-independent", SeriesKind::Upper, points(&|order| gnmax_data_independent(order, sigma))),
    ])
}
