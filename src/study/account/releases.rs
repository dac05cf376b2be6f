//! Releases of any mechanisms together.

use super::curves::{NamedCurve, all_orders, some_orders};
use super::losses::{BY_LOSSES, Losses, MOST_NEIGHBORS, compose};
use super::meaning::{ComposedEpsilonAt, CostMeaning, LossComposition};
use crate::accountant::{Runs, Scope, WorstCases};
use crate::bound::outward::{product_up, sum_up, up};
use crate::bound::{AtMost, Direction, Directions, Validity};
use crate::distribution::Noise;
use crate::divergence::{EnclosedLoss, RdpCurve};
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::mechanism::{AdditiveNoise, Bins, DataKind, LargestLoss, Mechanism};
use crate::parallel;
use crate::quantity::{Delta, NoiseScale, Order};
use crate::record::{ComposedReleases, Release, ReleasePart};
use crate::study::progress::{Meter, Progress};
use std::collections::{BTreeMap, HashMap};

/// Cells of the real outputs of all different releases together, and of one at least and at most.
const CELLS: usize = 4_000_000;
const CELLS_OF_ONE: (usize, usize) = (300, 2_000);
/// δ at which the figure is narrowed if its two ends are further apart than this ratio.
const OTHER_DELTAS: [f64; 3] = [1e-4, 1e-8, 1e-12];
const WIDE: f64 = 1.005;
/// With more different releases only some of the orders are used, which raises ε by less than 1%.
const MOST_WITH_ALL_ORDERS: usize = 500;
/// With more different releases the figure takes too long.
const MOST_WITH_FIGURE: usize = 100;

/// The cost of every different mechanism of a composition at each order: the least of the theorems for any data in both
/// directions, infinite without one.
pub struct Costs {
    orders: Vec<Order>,
    known: HashMap<Key, (Vec<f64>, Validity)>,
}

/// Releases with the same key cost the same.
type Key = (String, Vec<u64>, u64);

fn key(release: &Release) -> Key {
    (release.mechanism.to_string(), release.data.counts().to_vec(), release.distance)
}

impl Costs {
    /// Of all releases of a composition: an integral for each of them at each order, if they are all different.
    pub fn new(composition: &ComposedReleases, requested: &[Order], progress: &Progress<'_>) -> Result<Self> {
        let group = composition.group;
        let mut different: HashMap<Key, &Release> = HashMap::new();
        collect(&composition.parts, &mut different);
        let orders =
            if different.len() > MOST_WITH_ALL_ORDERS { some_orders(requested) } else { all_orders(requested) };
        let known = WorstCases::default();
        let meter = Meter::new(progress, different.len() as u64, "releases");
        let cost = |(key, release): (Key, &Release)| {
            let cost = least_theorem(release, group, &orders, &known);
            meter.add(1).map(|()| (key, cost))
        };
        let known = parallel::try_map(different, cost)?;
        Ok(Self { orders, known: known.into_iter().collect() })
    }

    /// The orders of all costs.
    pub fn orders(&self) -> &[Order] {
        &self.orders
    }

    /// The cost of one run.
    pub fn of(&self, release: &Release) -> &[f64] {
        &self.known[&key(release)].0
    }
}

fn collect<'a>(parts: &'a [ReleasePart], different: &mut HashMap<Key, &'a Release>) {
    for part in parts {
        match part {
            ReleasePart::Release(release) => {
                different.entry(key(release)).or_insert(release);
            }
            ReleasePart::Bundle(bundle) => collect(&bundle.parts, different),
        }
    }
}

/// Rejects releases that have no neighbors in common: for some the cost of an added or removed record is known, for
/// others that of a replaced one, and no two datasets differ in both ways. Sums of both would bound nothing.
pub fn have_common_neighbors(composition: &ComposedReleases) -> Result<()> {
    let mut different = HashMap::new();
    collect(&composition.parts, &mut different);
    let first = |is: &dyn Fn(&dyn Mechanism) -> bool| {
        let found = different.values().filter(|release| is(&*release.mechanism)).copied();
        found.min_by_key(|release| (release.place.len(), &release.place))
    };
    let added = first(&|mechanism| mechanism.is_of_added_records());
    let replaced = first(&|mechanism| mechanism.kind().data == DataKind::OneVoter);
    let (Some(added), Some(replaced)) = (added, replaced) else { return Ok(()) };
    Err(Error::Rejected {
        operation: "composition",
        reason: format!(
            "{}: {} is about a record that is added or removed, {}: {} about one that is replaced, and no two datasets \
             differ in both ways; account for them by themselves, or take subsampled-gaussian-replace for DP-SGD",
            added.place,
            added.mechanism.kind(),
            replaced.place,
            replaced.mechanism.kind()
        ),
    })
}

/// Releases, no two the same, and selections.
pub struct Merged {
    releases: Vec<Release>,
    selections: Vec<Selection>,
    group: u64,
}

/// The best of a number of runs.
struct Selection {
    runs: Runs,
    of: Merged,
    times: u64,
    place: String,
}

impl Merged {
    /// The same releases, each with all of its times.
    pub fn new(parts: &[ReleasePart], group: u64) -> Self {
        let (mut different, mut selections) = (BTreeMap::new(), Vec::new());
        Self::merge(parts, 1, group, (&mut different, &mut selections));
        Self { releases: different.into_values().collect(), selections, group }
    }

    fn merge(
        parts: &[ReleasePart],
        times: u64,
        group: u64,
        (different, selections): (&mut BTreeMap<Key, Release>, &mut Vec<Selection>),
    ) {
        for part in parts {
            match part {
                ReleasePart::Release(release) => {
                    let all = different.entry(key(release)).or_insert_with(|| Release { times: 0, ..release.clone() });
                    all.times = all.times.saturating_add(times.saturating_mul(release.times));
                }
                ReleasePart::Bundle(bundle) => {
                    let times = times.saturating_mul(bundle.times);
                    if let Some(runs) = bundle.select {
                        let (of, place) = (Self::new(&bundle.parts, group), bundle.place.clone());
                        selections.push(Selection { runs, of, times, place });
                    } else {
                        Self::merge(&bundle.parts, times, group, (&mut *different, &mut *selections));
                    }
                }
            }
        }
    }

    /// Number of different releases; all Gaussian ones count as one.
    pub fn different(&self) -> usize {
        self.split().1.len()
    }

    /// The sum over the releases of the least of the theorems for any data at each order, and of what selections cost.
    pub fn curve(&self, costs: &Costs) -> Result<NamedCurve> {
        let (curve, validity) = self.sum(costs)?;
        let (name, meaning, directions) = ("least-theorems", CostMeaning::AnyData, Directions::Both);
        Ok(NamedCurve { name, meaning, directions, validity, curve, largest_loss: self.largest_loss() })
    }

    /// The sum of the largest losses; infinite if one is unknown, as for the best of several runs.
    fn largest_loss(&self) -> AtMost {
        if !self.selections.is_empty() {
            return AtMost::NOTHING;
        }
        let one = |release: &Release| largest_loss(release, self.group).times(release.times as f64).get();
        AtMost::new(self.releases.iter().map(one).fold(0.0, sum_up))
    }

    fn sum(&self, costs: &Costs) -> Result<(RdpCurve, Validity)> {
        let (mut sums, mut validity) = (vec![0.0; costs.orders.len()], Validity::Exact);
        let mut add = |times: u64, values: &[f64], own: Validity| {
            let times = times as f64;
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum = sum_up(*sum, up(times * value, 2.0)));
            if own != Validity::Exact {
                validity = own;
            }
        };
        for release in &self.releases {
            let (values, own) = &costs.known[&key(release)];
            add(release.times, values, *own);
        }
        for selection in &self.selections {
            let (one, own) = selection.of.sum(costs)?;
            add(selection.times, selection.runs.best_of(&one).values(), own);
        }
        Ok((RdpCurve::new(costs.orders.clone(), sums)?, validity))
    }

    /// μ of all Gaussian releases together, if there are several or one is repeated, and the other releases.
    fn split(&self) -> (Option<f64>, Vec<&Release>) {
        let distances = |release: &Release| {
            let one = release.mechanism.gaussian_mu().filter(|_| !is_local(release))?;
            Some(one * distance(release, self.group) as f64)
        };
        let (gaussian, others): (Vec<&Release>, Vec<&Release>) = self
            .releases
            .iter()
            .partition(|release| distances(release).is_some_and(|one| (1e-100..1e12).contains(&one)));
        if gaussian.iter().map(|release| release.times).fold(0, u64::saturating_add) < 2 {
            return (None, self.releases.iter().collect());
        }
        let square = |release: &&Release| distances(release).map_or(0.0, |one| one * one * release.times as f64);
        (Some(gaussian.iter().map(square).sum::<f64>().sqrt()), others)
    }

    /// Composed by privacy losses; `order` is where the neighbor of votes that leaks most is chosen.
    pub fn losses(
        &self,
        order: Order,
        (deltas, delta): (&[Delta], Delta),
        meter: &Meter<'_>,
    ) -> Result<LossComposition> {
        if let Some(Selection { place, runs, .. }) = self.selections.first() {
            let reason = format_args!(
                "{place}: no privacy-loss distribution of the best of several runs ({runs}) is known; composition by Rényi \
                 divergences (`rdp`) has a theorem"
            );
            return Err(Error::rejected(BY_LOSSES, reason));
        }
        let (least, most) = CELLS_OF_ONE;
        let bins = (CELLS / self.different().max(1)).clamp(least, most);
        let (gaussian, others) = self.split();
        let losses = parallel::try_map(&others, |release| {
            let losses = of_release(release, self.group, order, bins).map_err(|error| at_its_place(release, error))?;
            meter.add(1)?;
            Ok(losses)
        })?;
        let votes = self.releases.iter().any(|release| release.mechanism.kind().data.depends_on_data());
        let meaning = if votes { CostMeaning::ExactGivenVotes } else { CostMeaning::AnyData };
        let mut losses: Vec<Losses> = losses.into_iter().flatten().collect();
        losses.extend(gaussian.map(|distance| of_gaussians(distance, bins)).transpose()?);
        let mut composed = compose(&losses, meaning, deltas, delta)?;
        // An enclosure is wide far from its own δ, so the figure has several and takes the best one at each δ.
        for &other in if self.different() > MOST_WITH_FIGURE { &[] } else { &OTHER_DELTAS[..] } {
            let wider = |at: &ComposedEpsilonAt| at.delta <= other && at.upper.0 > WIDE * at.lower.0;
            if composed.profile.iter().any(wider) {
                composed.narrow(&compose(&losses, meaning, deltas, Delta::new(other)?)?);
            }
        }
        Ok(composed)
    }
}

/// Adds to an error which release cannot be composed.
fn at_its_place(release: &Release, error: Error) -> Error {
    Error::rejected(BY_LOSSES, format_args!("{}: {}", release.place, error.reason()))
}

/// How far apart neighbors are: records that a group adds, in units of the count.
const fn distance(release: &Release, group: u64) -> u64 {
    release.distance.saturating_mul(group)
}

/// Each person of a group sends a separate output, so a group counts as one release per person.
fn is_local(release: &Release) -> bool {
    release.mechanism.is_local()
}

/// The largest loss of one run, of all that a group may change.
pub fn largest_loss(release: &Release, group: u64) -> LargestLoss {
    let changes = if is_local(release) { group } else { distance(release, group) };
    match release.mechanism.largest_loss(&release.data) {
        LargestLoss::AtMost(loss) => LargestLoss::AtMost(LargestLoss::AtMost(loss).times(changes as f64)),
        loss @ (LargestLoss::Unbounded | LargestLoss::Unknown) => loss,
    }
}

/// At each order the least of the theorems that hold for any data in both directions; infinite without one.
pub fn least_theorem(release: &Release, group: u64, orders: &[Order], known: &WorstCases) -> (Vec<f64>, Validity) {
    let (mut least, mut validity) = (vec![f64::INFINITY; orders.len()], Validity::Exact);
    let theorems = match distance(release, group) {
        _ if is_local(release) => release.mechanism.theorems_for(&release.data, known),
        1 => release.mechanism.theorems_for(&release.data, known),
        distance => release.mechanism.group_theorems(&release.data, distance, known),
    };
    for theorem in theorems {
        let statement = theorem.statement();
        if statement.scope != Scope::AnyData || statement.directions != Directions::Both {
            continue;
        }
        let Some(values) = theorem.values_of_both(orders) else { continue };
        least.iter_mut().zip(values).for_each(|(least, value)| *least = least.min(value));
        if statement.validity != Validity::Exact {
            validity = statement.validity;
        }
    }
    if is_local(release) {
        least.iter_mut().for_each(|value| *value = product_up(*value, group as f64));
    }
    (least, validity)
}

/// Rounding of the root of a sum of squares, generously.
const OF_SUM: f64 = 1e-10;

/// The losses of N(0, 1) against N(μ, 1): from above of a slightly larger μ, from below of a slightly smaller one.
fn of_gaussians(distance: f64, bins: usize) -> Result<Losses> {
    let noise = |distance: f64| -> Result<AdditiveNoise> {
        Ok(AdditiveNoise { noise: Noise::Gaussian(NoiseScale::new(distance.recip())?) })
    };
    let [above, above_reverse] = noise(distance * (1.0 + OF_SUM))?.group_losses(1, bins)?;
    let [below, below_reverse] = noise(distance * (1.0 - OF_SUM))?.group_losses(1, bins)?;
    let enclosed = |below: EnclosedLoss, above: EnclosedLoss| EnclosedLoss { at_least: below.at_least, ..above };
    Ok(Losses { enclosed: [enclosed(below, above), enclosed(below_reverse, above_reverse)], times: 1 })
}

/// The losses against all neighbors; None if there are no neighbors.
pub fn of_release(release: &Release, group: u64, order: Order, bins: usize) -> Result<Option<Losses>> {
    let Release { mechanism, data, times, .. } = release;
    let distance = distance(release, group);
    if distance > 1 && !is_local(release) {
        return Ok(Some(Losses { enclosed: mechanism.group_losses(distance, bins)?, times: *times }));
    }
    let times = if is_local(release) { times.saturating_mul(group) } else { *times };
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
    Ok(forward.zip(reverse).map(|(forward, reverse)| Losses { enclosed: [forward, reverse], times }))
}

fn neighbors(mechanism: &dyn Mechanism, data: &VoteHistogram) -> Result<Vec<VoteHistogram>> {
    let kind = mechanism.kind().data;
    let changes = kind.neighbors(data, mechanism.treats_classes_alike(), MOST_NEIGHBORS)?;
    changes.into_iter().map(|change| data.neighbor(change)).collect()
}
