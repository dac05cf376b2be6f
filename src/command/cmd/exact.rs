//! `leakbound exact`.

use crate::command::args::{Common, ExactOptions};
use crate::command::claims::Quantity;
use crate::command::output::{Output, envelope};
use crate::report::{AccountantRow, Claim, DivergenceRow, ExactDocument, HockeyStickRow, Number, OutcomeRow};
use crate::{
    Adjacency, Direction, Directions, Epsilon, Error, Figures, NoisyArgmax, Order, OutputPair, Result, ThresholdTest,
    VoteHistogram, WorstCases, WorstNeighbors,
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
    let mechanism = NoisyArgmax { noise: options.noise, test: options.threshold.test()? };
    let (worst, neighbor) = match (&options.neighbor, options.worst_neighbor) {
        (Some(neighbor), _) => (None, neighbor.clone()),
        (None, Some(adjacency)) => {
            let worst = mechanism.worst_neighbors(&options.histogram, adjacency, orders, &options.epsilons)?;
            let change = worst.renyi[0][0].change;
            (Some(worst), options.histogram.neighbor(change)?)
        }
        (None, None) => unreachable!("the parser asks for one of the two"),
    };
    if neighbor.classes() != options.histogram.classes() {
        return Err(Error::Length {
            quantity: "histogram of the neighbor",
            found: neighbor.classes(),
            expected: format!("{} classes, as the other histogram", options.histogram.classes()),
        });
    }
    let pair = mechanism.output_pair(&options.histogram, &neighbor)?;
    let document = ExactDocument {
        envelope: envelope("leakbound.exact/1", common, options, Vec::new(), Vec::new()),
        histogram: options.histogram.to_string(),
        neighbor: Some(neighbor.to_string()),
        neighbors_searched: worst.as_ref().map(|worst| worst.neighbors),
        noise: options.noise.to_string(),
        threshold: mechanism.test.as_ref().map(words),
        outcomes: outcomes(&pair, mechanism.test.is_some()),
        law_error: Number(pair.error()),
        divergences: divergences(&pair, orders, worst.as_ref()),
        hockey_stick: hockey_sticks(&pair, &options.epsilons, worst.as_ref()),
        accountants: accountants(options, &mechanism, &neighbor),
        claims: claims(options, &mechanism, pair)?,
    };
    consistent(&document)?;
    Ok(document)
}

/// The theorems that hold in both directions, against all neighbors that were searched or against the given one.
fn accountants(options: &ExactOptions, mechanism: &NoisyArgmax, neighbor: &VoteHistogram) -> Vec<AccountantRow> {
    let known = WorstCases::default();
    let theorems = if options.worst_neighbor == Some(Adjacency::Moved) {
        mechanism.theorems_for_votes(&options.histogram, &known)
    } else {
        mechanism.theorems_for_pair(&options.histogram, neighbor, &known)
    };
    let mut rows = Vec::new();
    for theorem in theorems.iter().filter(|theorem| theorem.statement().directions == Directions::Both) {
        let [forward, reverse] = Direction::BOTH.map(|direction| theorem.values(&options.orders.0, direction));
        for (place, order) in options.orders.0.iter().enumerate() {
            for (direction, values) in Direction::BOTH.into_iter().zip([&forward, &reverse]) {
                let Some(values) = values else { continue };
                let rdp = Number(values[place]);
                rows.push(AccountantRow { name: theorem.name(), order: order.get(), direction, rdp });
            }
        }
    }
    rows
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

/// The test as one phrase.
fn words(test: &ThresholdTest) -> String {
    format!("threshold {} with gaussian:{} noise, {}", test.threshold(), test.sigma(), test.form())
}

/// Claims are about this pair, or about every pair that was searched: then the largest value of each counts.
fn claims(options: &ExactOptions, mechanism: &NoisyArgmax, pair: OutputPair) -> Result<Vec<Claim>> {
    let test = |pair: &OutputPair| {
        options.claims.test(&[(String::new(), pair)], 0.0, |pair, quantity| exact_value(pair, quantity))
    };
    let Some(adjacency) = options.worst_neighbor.filter(|_| !options.claims.is_empty()) else { return Ok(test(&pair)) };
    let larger = |a: Claim, b: Claim| if b.lower.0 > a.lower.0 { b } else { a };
    let [dataset, _] = pair.into_distributions();
    options
        .histogram
        .neighbors(adjacency)
        .par_iter()
        .map(|&change| {
            let neighbor = mechanism.distribution(&options.histogram.neighbor(change)?)?;
            Ok(test(&OutputPair::new(dataset.clone(), neighbor)?))
        })
        .try_reduce_with(|a, b| Ok(a.into_iter().zip(b).map(|(a, b)| larger(a, b)).collect()))
        .unwrap_or_else(|| Ok(Vec::new()))
}

/// The exact value of a claimed quantity, the larger of both directions.
fn exact_value(pair: &OutputPair, quantity: Quantity) -> f64 {
    match quantity {
        Quantity::Rdp(order) => pair.largest_renyi(order),
        Quantity::Epsilon(delta) => {
            Direction::BOTH.into_iter().map(|direction| pair.epsilon(direction, delta).get()).fold(0.0, f64::max)
        }
        Quantity::Mu => pair.mu(),
    }
}

fn outcomes(pair: &OutputPair, abstains: bool) -> Vec<OutcomeRow> {
    let (p, q) = (pair.dataset(), pair.neighbor());
    (0..pair.outcomes())
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

fn divergences(pair: &OutputPair, orders: &[Order], worst: Option<&WorstNeighbors>) -> Vec<DivergenceRow> {
    let row = |(index, &order): (usize, &Order)| {
        let found = worst.map(|worst| worst.renyi[index]);
        let value = |direction| match found {
            Some(suprema) => suprema[direction as usize].value,
            None => pair.renyi(direction, order),
        };
        let change = |direction: Direction| found.map(|suprema| suprema[direction as usize].change);
        DivergenceRow {
            order: order.get(),
            forward: Number(value(Direction::Forward)),
            reverse: Number(value(Direction::Reverse)),
            forward_change: change(Direction::Forward),
            reverse_change: change(Direction::Reverse),
        }
    };
    orders.iter().enumerate().map(row).collect()
}

fn hockey_sticks(pair: &OutputPair, epsilons: &[Epsilon], worst: Option<&WorstNeighbors>) -> Vec<HockeyStickRow> {
    let row = |(index, &epsilon): (usize, &Epsilon)| {
        let found = worst.map(|worst| worst.hockey_stick[index]);
        let value = |direction| match found {
            Some(suprema) => suprema[direction as usize].value,
            None => pair.delta(direction, epsilon),
        };
        let change = |direction: Direction| found.map(|suprema| suprema[direction as usize].change);
        HockeyStickRow {
            epsilon: epsilon.get(),
            delta_forward: Number(value(Direction::Forward)),
            delta_reverse: Number(value(Direction::Reverse)),
            forward_change: change(Direction::Forward),
            reverse_change: change(Direction::Reverse),
        }
    };
    epsilons.iter().enumerate().map(row).collect()
}
