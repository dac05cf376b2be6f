//! `leakbound exact`.

use super::exact_accountants::accountants;
use crate::command::args::{Common, ExactOptions};
use crate::command::claims::Quantity;
use crate::command::output::{Output, envelope};
use crate::report::{Claim, DivergenceRow, ExactDocument, HockeyStickRow, Number, OutcomeRow};
use crate::{
    Direction, Epsilon, Error, Figures, Order, OutcomeLaw, Result, ThresholdTest, VoteHistogram, WorstNeighbors,
    confident_argmax_law, epsilon_at_delta, hockey_stick, noisy_argmax_law, renyi_divergence, worst_neighbors_of,
};
use rayon::prelude::*;

pub fn run(common: &Common, options: &ExactOptions) -> Result<bool> {
    let output = Output::open(common, &[])?;
    let document = document(common, options)?;
    output.write(&document)?;
    Ok(document.claims.iter().any(|claim| claim.refuted))
}

fn document(common: &Common, options: &ExactOptions) -> Result<ExactDocument> {
    let orders = &options.orders.0;
    let test = options.threshold.test()?;
    let law = |histogram: &VoteHistogram| output_law(options, test.as_ref(), histogram);
    let (worst, neighbor) = match (&options.neighbor, options.worst_neighbor) {
        (Some(neighbor), _) => (None, neighbor.clone()),
        (None, Some(adjacency)) => {
            let worst = worst_neighbors_of(&options.histogram, adjacency, law, orders, &options.epsilons)?;
            let change = worst.renyi[0][0].change;
            (Some(worst), options.histogram.neighbor(change)?)
        }
        (None, None) => unreachable!("the parser asks for one of the two"),
    };
    if neighbor.classes() != options.histogram.classes() {
        return Err(Error::Length {
            quantity: "histogram of the neighbour",
            found: neighbor.classes(),
            expected: format!("{} classes, as the other histogram", options.histogram.classes()),
        });
    }
    let (p, q) = (law(&options.histogram)?, law(&neighbor)?);
    let claims = claims(options, law, [&p, &q])?;
    let document = ExactDocument {
        envelope: envelope("leakbound.exact/1", common, options, Vec::new(), Vec::new()),
        histogram: options.histogram.to_string(),
        neighbor: Some(neighbor.to_string()),
        neighbors_searched: worst.as_ref().map(|worst| worst.neighbors),
        noise: options.noise.to_string(),
        threshold: test.as_ref().map(words),
        outcomes: outcomes(&p, &q, test.is_some()),
        law_error: Number(p.error().max(q.error())),
        divergences: divergences(&p, &q, orders, worst.as_ref())?,
        hockey_stick: hockey_sticks(&p, &q, &options.epsilons, worst.as_ref())?,
        accountants: accountants(options, test.as_ref(), &neighbor),
        claims,
    };
    consistent(&document)?;
    Ok(document)
}

/// No exact value is above an accountant of its direction.
fn consistent(document: &ExactDocument) -> Result<()> {
    for row in &document.divergences {
        for (direction, exact) in [(Direction::Forward, row.forward), (Direction::Reverse, row.reverse)] {
            let mut figures =
                Figures::of_order(format!("{direction} Rényi divergence of order {}", row.order), row.order);
            figures.at_least("exact", exact.0);
            let same = document.accountants.iter().filter(|upper| upper.order == row.order);
            same.filter(|upper| upper.direction == direction)
                .for_each(|upper| figures.at_most(upper.name, upper.rdp.0));
            figures.check()?;
        }
    }
    Ok(())
}

/// The law of the mechanism: abstention first where there is a test.
fn output_law(options: &ExactOptions, test: Option<&ThresholdTest>, histogram: &VoteHistogram) -> Result<OutcomeLaw> {
    match test {
        Some(test) => confident_argmax_law(histogram, test, options.noise),
        None => noisy_argmax_law(histogram, options.noise),
    }
}

/// The test as one phrase.
fn words(test: &ThresholdTest) -> String {
    format!("threshold {} with gaussian:{} noise, {}", test.threshold(), test.sigma(), test.form())
}

/// Claims are about this pair, or about every pair that was searched: then the largest value of each counts.
fn claims(
    options: &ExactOptions,
    law: impl Fn(&VoteHistogram) -> Result<OutcomeLaw> + Sync,
    [p, q]: [&OutcomeLaw; 2],
) -> Result<Vec<Claim>> {
    let test =
        |q: &OutcomeLaw| options.claims.test(&[(String::new(), q)], 0.0, |q, quantity| exact_value(p, q, quantity));
    let Some(adjacency) = options.worst_neighbor.filter(|_| !options.claims.is_empty()) else { return Ok(test(q)) };
    let larger = |a: Claim, b: Claim| if b.lower.0 > a.lower.0 { b } else { a };
    options
        .histogram
        .neighbors(adjacency)
        .par_iter()
        .map(|&change| Ok(test(&law(&options.histogram.neighbor(change)?)?)))
        .try_reduce_with(|a, b| Ok(a.into_iter().zip(b).map(|(a, b)| larger(a, b)).collect()))
        .unwrap_or_else(|| Ok(Vec::new()))
}

/// The exact value of a claimed quantity, the larger of both directions.
fn exact_value(p: &OutcomeLaw, q: &OutcomeLaw, quantity: Quantity) -> f64 {
    let larger = |value: &dyn Fn(&OutcomeLaw, &OutcomeLaw) -> Result<f64>| {
        // Both laws have the same outcomes, so neither direction can fail.
        value(p, q).unwrap_or(0.0).max(value(q, p).unwrap_or(0.0))
    };
    match quantity {
        Quantity::Rdp(order) => larger(&|p, q| renyi_divergence(p, q, order)),
        Quantity::Epsilon(delta) => larger(&|p, q| epsilon_at_delta(p, q, delta).map(Epsilon::get)),
        Quantity::Mu => crate::gdp_of_laws(p, q).unwrap_or(0.0),
    }
}

fn outcomes(p: &OutcomeLaw, q: &OutcomeLaw, abstains: bool) -> Vec<OutcomeRow> {
    (0..p.outcomes())
        .map(|class| OutcomeRow {
            label: match class.checked_sub(usize::from(abstains)) {
                Some(class) => class.to_string(),
                None => "abstain".into(),
            },
            p: Number(p.p()[class]),
            log_p: Number(p.ln_p()[class]),
            q: Number(q.p()[class]),
            log_q: Number(q.ln_p()[class]),
        })
        .collect()
}

fn divergences(
    p: &OutcomeLaw,
    q: &OutcomeLaw,
    orders: &[Order],
    worst: Option<&WorstNeighbors>,
) -> Result<Vec<DivergenceRow>> {
    let row = |(index, &order): (usize, &Order)| {
        let (forward, reverse, changes) = match worst {
            Some(worst) => {
                let [forward, reverse] = worst.renyi[index];
                (forward.value, reverse.value, [Some(forward.change), Some(reverse.change)])
            }
            None => (renyi_divergence(p, q, order)?, renyi_divergence(q, p, order)?, [None; 2]),
        };
        Ok(DivergenceRow {
            order: order.get(),
            forward: Number(forward),
            reverse: Number(reverse),
            forward_change: changes[0],
            reverse_change: changes[1],
        })
    };
    orders.iter().enumerate().map(row).collect()
}

fn hockey_sticks(
    p: &OutcomeLaw,
    q: &OutcomeLaw,
    epsilons: &[Epsilon],
    worst: Option<&WorstNeighbors>,
) -> Result<Vec<HockeyStickRow>> {
    let row = |(index, &epsilon): (usize, &Epsilon)| {
        let (forward, reverse, changes) = match worst {
            Some(worst) => {
                let [forward, reverse] = worst.hockey_stick[index];
                (forward.value, reverse.value, [Some(forward.change), Some(reverse.change)])
            }
            None => (hockey_stick(p, q, epsilon)?, hockey_stick(q, p, epsilon)?, [None; 2]),
        };
        Ok(HockeyStickRow {
            epsilon: epsilon.get(),
            delta_forward: Number(forward),
            delta_reverse: Number(reverse),
            forward_change: changes[0],
            reverse_change: changes[1],
        })
    };
    epsilons.iter().enumerate().map(row).collect()
}
