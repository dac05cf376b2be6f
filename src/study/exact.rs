//! Exact leakage of a noisy argmax between two vote histograms, or between one and its worst neighbor.

use super::claim::{Claim, Claims, Quantity};
use super::number::Number;
use super::progress::{Meter, Progress};
use super::{Answer, Study};
use crate::accountant::WorstCases;
use crate::bound::{Direction, Directions, Figures};
use crate::distribution::{OutputPair, ThresholdTest};
use crate::divergence::WorstNeighbors;
use crate::error::{Error, Result};
use crate::histogram::{Adjacency, Neighbor, VoteHistogram};
use crate::mechanism::NoisyArgmax;
use crate::quantity::{Epsilon, Order};
use rayon::prelude::*;
use serde::Serialize;

/// Which neighbors of a histogram are looked at.
#[derive(Debug, Clone)]
pub enum Searched {
    /// This one.
    Neighbor(VoteHistogram),
    /// All of them, for the largest value of each divergence.
    All(Adjacency),
}

/// How much does one answer of a noisy argmax leak?
///
/// Divergences and δ come from the output distributions by numerical integration, claims are tested against them, and
/// the theorems that hold in both directions stand beside them.
#[derive(Debug, Clone)]
pub struct ExactStudy {
    /// Noise and threshold test.
    pub mechanism: NoisyArgmax,
    /// The votes of the dataset.
    pub histogram: VoteHistogram,
    /// Its neighbor, or those that are searched.
    pub searched: Searched,
    /// Rényi orders.
    pub orders: Vec<Order>,
    /// Values of ε at which δ is wanted.
    pub epsilons: Vec<Epsilon>,
    /// Claims about every neighbor that is looked at.
    pub claims: Claims,
}

/// One outcome under both histograms.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutcomeRow {
    /// Class, counted from 0, or `abstain`.
    pub label: String,
    /// Its probability under the histogram.
    pub p: Number,
    /// ln p.
    pub log_p: Number,
    /// Its probability under the neighbor.
    pub q: Number,
    /// ln q.
    pub log_q: Number,
}

/// The Rényi divergence of one order in both directions.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DivergenceRow {
    /// α.
    pub order: f64,
    /// D(P‖Q).
    pub forward: Number,
    /// D(Q‖P).
    pub reverse: Number,
    /// In a search: the change that attains the forward value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward_change: Option<Neighbor>,
    /// The same for the reverse value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse_change: Option<Neighbor>,
}

/// δ at one ε in both directions.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HockeyStickRow {
    /// ε.
    pub epsilon: f64,
    /// Smallest δ with P ≤ e^ε Q + δ.
    pub delta_forward: Number,
    /// Smallest δ with Q ≤ e^ε P + δ.
    pub delta_reverse: Number,
    /// In a search: the change that attains the forward value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward_change: Option<Neighbor>,
    /// The same for the reverse value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverse_change: Option<Neighbor>,
}

/// One value of one accountant.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccountantRow {
    /// Its name.
    pub name: &'static str,
    /// α.
    pub order: f64,
    /// The divergence that it bounds.
    pub direction: Direction,
    /// The RDP it promises.
    pub rdp: Number,
}

/// The answer of an [`ExactStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExactAnswer {
    /// The histogram of the dataset.
    pub histogram: String,
    /// The histogram of the neighbor, where one was given.
    pub neighbor: Option<String>,
    /// How many neighbors were searched, in a search.
    pub neighbors_searched: Option<usize>,
    /// The noise.
    pub noise: String,
    /// The threshold test before the argmax, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<String>,
    /// The output distributions; in a search those of the worst change of the first order, forward.
    pub outcomes: Vec<OutcomeRow>,
    /// Estimated largest relative error of a probability.
    pub distribution_error: Number,
    /// Rényi divergences.
    pub divergences: Vec<DivergenceRow>,
    /// Privacy profile.
    pub hockey_stick: Vec<HockeyStickRow>,
    /// Upper bounds.
    pub accountants: Vec<AccountantRow>,
    /// Claims tested.
    pub claims: Vec<Claim>,
}

impl Study for ExactStudy {
    type Answer = ExactAnswer;

    /// # Errors
    /// [`Error::Length`] for histograms of different lengths, those of the mechanism, and [`Error::Contradiction`]
    /// where an exact value is above a theorem.
    fn run(&self, progress: &Progress<'_>) -> Result<ExactAnswer> {
        let (worst, neighbor) = match &self.searched {
            Searched::Neighbor(neighbor) => (None, neighbor.clone()),
            &Searched::All(adjacency) => {
                let worst = self.mechanism.worst_neighbors(&self.histogram, adjacency, &self.orders, &self.epsilons)?;
                let change = worst.renyi[0][0].change;
                (Some(worst), self.histogram.neighbor(change)?)
            }
        };
        if neighbor.classes() != self.histogram.classes() {
            return Err(Error::Length {
                quantity: "histogram of the neighbor",
                found: neighbor.classes(),
                expected: format!("{} classes, as the other histogram", self.histogram.classes()),
            });
        }
        let pair = self.mechanism.output_pair(&self.histogram, &neighbor)?;
        let answer = ExactAnswer {
            histogram: self.histogram.to_string(),
            neighbor: Some(neighbor.to_string()),
            neighbors_searched: worst.as_ref().map(|worst| worst.neighbors),
            noise: self.mechanism.noise.to_string(),
            threshold: self.mechanism.test.as_ref().map(words),
            outcomes: outcomes(&pair, self.mechanism.test.is_some()),
            distribution_error: Number(pair.error()),
            divergences: divergences(&pair, &self.orders, worst.as_ref()),
            hockey_stick: hockey_sticks(&pair, &self.epsilons, worst.as_ref()),
            accountants: self.accountants(&neighbor),
            claims: self.tested(pair, progress)?,
        };
        consistent(&answer)?;
        Ok(answer)
    }
}

impl Answer for ExactAnswer {
    const SCHEMA: &'static str = "leakbound.exact/1";

    fn claims(&self) -> &[Claim] {
        &self.claims
    }
}

impl ExactStudy {
    /// The theorems that hold in both directions, against all neighbors that were searched or against the given one.
    fn accountants(&self, neighbor: &VoteHistogram) -> Vec<AccountantRow> {
        let known = WorstCases::default();
        let theorems = if matches!(self.searched, Searched::All(Adjacency::Moved)) {
            self.mechanism.theorems_for_votes(&self.histogram, &known)
        } else {
            self.mechanism.theorems_for_pair(&self.histogram, neighbor, &known)
        };
        let mut rows = Vec::new();
        for theorem in theorems.iter().filter(|theorem| theorem.statement().directions == Directions::Both) {
            let [forward, reverse] = Direction::BOTH.map(|direction| theorem.values(&self.orders, direction));
            for (place, order) in self.orders.iter().enumerate() {
                for (direction, values) in Direction::BOTH.into_iter().zip([&forward, &reverse]) {
                    let Some(values) = values else { continue };
                    let rdp = Number(values[place]);
                    rows.push(AccountantRow { name: theorem.name(), order: order.get(), direction, rdp });
                }
            }
        }
        rows
    }

    /// Claims are about this pair, or about every pair that was searched: then the largest value of each counts.
    fn tested(&self, pair: OutputPair, progress: &Progress<'_>) -> Result<Vec<Claim>> {
        let test =
            |pair: &OutputPair| self.claims.test(&[(String::new(), pair)], 0.0, |pair, of| exact_value(pair, of));
        let adjacency = match self.searched {
            Searched::All(adjacency) if !self.claims.is_empty() => adjacency,
            _ => return Ok(test(&pair)),
        };
        let larger = |a: Claim, b: Claim| if b.lower.0 > a.lower.0 { b } else { a };
        let [dataset, _] = pair.into_distributions();
        let changes = self.histogram.neighbors(adjacency);
        let meter = Meter::new(progress, changes.len() as u64, "neighbors");
        changes
            .par_iter()
            .map(|&change| {
                let neighbor = self.mechanism.distribution(&self.histogram.neighbor(change)?)?;
                let claims = test(&OutputPair::new(dataset.clone(), neighbor)?);
                meter.add(1)?;
                Ok(claims)
            })
            .try_reduce_with(|a, b| Ok(a.into_iter().zip(b).map(|(a, b)| larger(a, b)).collect()))
            .unwrap_or_else(|| Ok(Vec::new()))
    }
}

/// No exact value is above an accountant of its direction.
fn consistent(answer: &ExactAnswer) -> Result<()> {
    for row in &answer.divergences {
        for (direction, exact) in [(Direction::Forward, row.forward), (Direction::Reverse, row.reverse)] {
            let mut figures =
                Figures::of_order(format!("{direction} Rényi divergence of order {}", row.order), row.order);
            figures.at_least("exact", exact.0);
            let same = answer.accountants.iter().filter(|upper| upper.order == row.order);
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
