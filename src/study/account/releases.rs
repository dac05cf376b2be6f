//! Releases of any mechanisms together.

use super::curves::{NamedCurve, all_orders};
use super::losses::{Losses, MOST_NEIGHBORS, compose};
use super::meaning::{ComposedEpsilonAt, CostMeaning, LossComposition};
use crate::accountant::{Scope, WorstCases};
use crate::bound::outward::{sum_up, up};
use crate::bound::{Direction, Directions, Validity};
use crate::divergence::{EnclosedLoss, RdpCurve};
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::mechanism::{Bins, Mechanism};
use crate::quantity::{Delta, Order};
use crate::record::Release;
use crate::study::progress::Meter;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Cells of the real outputs of all different releases together, and of one at least and at most.
const CELLS: usize = 4_000_000;
const CELLS_OF_ONE: (usize, usize) = (300, 2_000);
/// δ for which the figure is made more narrow, from where its two ends are further apart than this ratio.
const OTHER_DELTAS: [f64; 3] = [1e-4, 1e-8, 1e-12];
const WIDE: f64 = 1.005;
/// With more different releases the figure takes too long.
const MOST_WITH_FIGURE: usize = 100;

/// Releases of which no two are the same.
pub struct Merged(Vec<Release>);

impl Merged {
    /// The same releases, each with all of its times.
    pub fn new(releases: &[Release]) -> Self {
        let mut different: BTreeMap<(String, &[u64]), Release> = BTreeMap::new();
        for release in releases {
            let key = (release.mechanism.to_string(), release.data.counts());
            let times = different.get(&key).map_or(0, |release| release.times);
            different.insert(key, Release { times: times.saturating_add(release.times), ..release.clone() });
        }
        Self(different.into_values().collect())
    }

    /// How many there are.
    pub const fn different(&self) -> usize {
        self.0.len()
    }

    /// The sum over the releases of the least of the theorems for any data at each order.
    pub fn curve(&self, requested: &[Order]) -> Result<NamedCurve> {
        let orders = all_orders(requested);
        let known = WorstCases::default();
        let costs: Vec<(Vec<f64>, Validity)> =
            self.0.par_iter().map(|release| least_theorem(release, &orders, &known)).collect();
        let (mut sums, mut validity) = (vec![0.0; orders.len()], Validity::Exact);
        for (release, (values, own)) in self.0.iter().zip(costs) {
            let times = release.times as f64;
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum = sum_up(*sum, up(times * value, 2.0)));
            if own != Validity::Exact {
                validity = own;
            }
        }
        Ok(NamedCurve {
            name: "least-theorems",
            meaning: CostMeaning::AnyData,
            directions: Directions::Both,
            validity,
            curve: RdpCurve::new(orders, sums)?,
        })
    }

    /// Composed by privacy losses; `order` is where the neighbor of votes that leaks most is chosen.
    pub fn losses(
        &self,
        order: Order,
        (deltas, delta): (&[Delta], Delta),
        meter: &Meter<'_>,
    ) -> Result<LossComposition> {
        let (least, most) = CELLS_OF_ONE;
        let bins = (CELLS / self.different().max(1)).clamp(least, most);
        let losses: Vec<Option<Losses>> = self
            .0
            .par_iter()
            .map(|release| {
                let losses = of_release(release, order, bins)?;
                meter.add(1)?;
                Ok(losses)
            })
            .collect::<Result<_>>()?;
        let votes = self.0.iter().any(|release| release.mechanism.kind().relation.depends_on_data());
        let meaning = if votes { CostMeaning::ExactGivenVotes } else { CostMeaning::AnyData };
        let losses: Vec<Losses> = losses.into_iter().flatten().collect();
        let mut composed = compose(&losses, meaning, deltas, delta)?;
        // Far from the δ that it is made for, an enclosure is wide: the figure has others, of which each δ takes the best.
        for &other in if self.different() > MOST_WITH_FIGURE { &[] } else { &OTHER_DELTAS[..] } {
            let wider = |at: &ComposedEpsilonAt| at.delta <= other && at.upper.0 > WIDE * at.lower.0;
            if composed.profile.iter().any(wider) {
                composed.narrow(&compose(&losses, meaning, deltas, Delta::new(other)?)?);
            }
        }
        Ok(composed)
    }
}

/// At each order the least of the theorems that hold for any data in both directions; infinite without one.
pub fn least_theorem(release: &Release, orders: &[Order], known: &WorstCases) -> (Vec<f64>, Validity) {
    let mut least = (vec![f64::INFINITY; orders.len()], Validity::Exact);
    for theorem in release.mechanism.theorems_for(&release.data, known) {
        let statement = theorem.statement();
        if statement.scope != Scope::AnyData || statement.directions != Directions::Both {
            continue;
        }
        let [Some(forward), Some(reverse)] = Direction::BOTH.map(|direction| theorem.values(orders, direction)) else {
            continue;
        };
        for ((least, forward), reverse) in least.0.iter_mut().zip(forward).zip(reverse) {
            *least = least.min(forward.max(reverse));
        }
        if statement.validity != Validity::Exact {
            least.1 = statement.validity;
        }
    }
    least
}

/// The losses against all neighbors; None where there is none.
pub fn of_release(release: &Release, order: Order, bins: usize) -> Result<Option<Losses>> {
    let Release { mechanism, data, times } = release;
    let neighbors = neighbors(&**mechanism, data)?;
    let mut all = [Vec::new(), Vec::new()];
    let mut worst = [(0, f64::NEG_INFINITY); 2];
    for (index, neighbor) in neighbors.iter().enumerate() {
        let losses = mechanism.enclosed_losses(data, neighbor, bins)?;
        // All neighbors are alike, but for votes.
        if neighbors.len() > 1 {
            let pair = mechanism.output_pair(data, neighbor, Bins::at(Some(order)))?;
            for (worst, direction) in worst.iter_mut().zip(Direction::BOTH) {
                let divergence = pair.renyi(direction, order);
                if divergence > worst.1 {
                    *worst = (index, divergence);
                }
            }
        }
        all.iter_mut().zip(losses).for_each(|(all, loss)| all.push(loss));
    }
    let [forward, reverse] = [0, 1].map(|direction| EnclosedLoss::of_some(&all[direction], worst[direction].0));
    Ok(forward.zip(reverse).map(|(forward, reverse)| Losses {
        dominating: [forward.at_most, reverse.at_most],
        pair: [forward.at_least, reverse.at_least],
        times: *times,
    }))
}

fn neighbors(mechanism: &dyn Mechanism, data: &VoteHistogram) -> Result<Vec<VoteHistogram>> {
    let relation = mechanism.kind().relation;
    let changes = relation.neighbors(data, mechanism.treats_classes_alike(), MOST_NEIGHBORS);
    let changes = changes.map_err(|error| match error {
        Error::Rejected { reason, .. } => Error::Rejected { operation: "--composition pld", reason },
        other => other,
    })?;
    changes.into_iter().map(|change| data.neighbor(change)).collect()
}
