//! Exact leakage of a mechanism between two datasets, or between one and its worst neighbor.

mod answer;
mod compared;

pub use answer::{
    AccountantRow, DivergenceRow, ExactAnswer, HockeyStickRow, OutcomeRow, ProfileEpsilonRow, TestPowerRow,
};

use super::Study;
use super::bounds::usual_orders;
use super::claim::{Claim, Claims};
use super::number::{Number, short};
use super::progress::{Meter, Progress};
use crate::accountant::{Theorem, WorstCases};
use crate::bound::outward::up;
use crate::bound::{AtLeast, AtMost, Direction, Directions, Exact};
use crate::distribution::{OutputPair, ThresholdTest};
use crate::divergence::{CertifiedProfile, searched};
use crate::error::{Error, Result};
use crate::histogram::{Changes, Neighbor, VoteChange, VoteHistogram};
use crate::mechanism::{Mechanism, NoisyArgmax, Value as ParameterValue};
use crate::parallel;
use crate::quantity::{Delta, Epsilon, Order, Probability};
use answer::Ends;
use compared::{Compared, Outputs, Wanted, suprema};
use std::sync::Arc;

/// Which neighbors of a histogram are looked at.
#[derive(Debug, Clone)]
pub enum Searched {
    /// This neighbor.
    Neighbor(VoteHistogram),
    /// All of them, for the largest value of each quantity.
    All(Changes),
}

/// How much does one answer of a mechanism leak?
///
/// Divergences, δ, ε and the trade-off curve come from the output distributions by numerical integration. Claims are
/// tested against them, and the theorems that hold in both directions are shown next to them.
///
/// Outputs that are real numbers are cut into bins. This is post-processing, so the values are below those of the
/// numbers, and a refuted claim is also wrong for the numbers.
///
/// ```
/// # use leakbound::histogram::{Changes, VoteChange, VoteHistogram};
/// # use leakbound::mechanism::parse;
/// # use leakbound::study::{ExactStudy, Searched, Study, unwatched};
/// let votes = VoteHistogram::new(vec![3, 1, 4, 1, 5])?;
/// let neighbors = Searched::All(Changes::OneVote(VoteChange::Moved));
/// let answer = ExactStudy::new(parse("exponential:sigma=2")?, votes, neighbors).run(&unwatched)?;
/// // Classes with as many votes are alike.
/// assert_eq!(answer.neighbors_searched, Some(13));
/// assert!(answer.divergences[0].forward.0 < answer.accountants[0].rdp.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ExactStudy {
    /// What is released.
    pub mechanism: Arc<dyn Mechanism>,
    /// The data, of the kind that the mechanism takes: votes per class, or 0 or 1 record.
    pub histogram: VoteHistogram,
    /// Its neighbor, or those that are searched.
    pub searched: Searched,
    /// Rényi orders.
    pub orders: Vec<Order>,
    /// Values of ε at which δ is wanted.
    pub epsilons: Vec<Epsilon>,
    /// Values of δ at which ε is wanted.
    pub deltas: Vec<Delta>,
    /// Claims about every neighbor that is looked at.
    pub claims: Claims,
}

impl ExactStudy {
    /// The Rényi divergences of the usual orders, without values of ε and δ and without claims.
    #[must_use]
    pub fn new(mechanism: Arc<dyn Mechanism>, histogram: VoteHistogram, searched: Searched) -> Self {
        Self {
            mechanism,
            histogram,
            searched,
            orders: usual_orders(),
            epsilons: Vec::new(),
            deltas: Vec::new(),
            claims: Claims::default(),
        }
    }
}

/// False-positive rates of the trade-off table.
const RATES: [f64; 3] = [0.001, 0.01, 0.1];

/// A quantity in both directions; in a search with the changes that attain it.
struct Value {
    values: [Exact; 2],
    changes: [Option<Neighbor>; 2],
}

/// What a search found.
struct Found {
    neighbors: usize,
    values: Vec<Value>,
    claims: Vec<Claim>,
    /// That of the first quantity, forward.
    worst: VoteHistogram,
}

impl Study for ExactStudy {
    type Answer = ExactAnswer;

    /// # Errors
    /// [`Error::Length`](crate::Error::Length) for histograms of different lengths, those of the mechanism, and
    /// [`Error::Contradiction`](crate::Error::Contradiction) if an exact value is above a theorem.
    fn run(&self, progress: &Progress<'_>) -> Result<ExactAnswer> {
        let rates = RATES.into_iter().map(Probability::new).collect::<Result<Vec<_>>>()?;
        let wanted: Vec<Wanted> = (self.orders.iter().copied().map(Wanted::Renyi))
            .chain(self.epsilons.iter().copied().map(Wanted::Delta))
            .chain(self.deltas.iter().copied().map(Wanted::Epsilon))
            .chain(rates.iter().copied().map(Wanted::TruePositiveRate))
            .collect();
        let claimed = self.claims.rdp.iter().map(|(order, _)| *order);
        let outputs = Outputs::new(&*self.mechanism, &self.histogram, self.orders.iter().copied().chain(claimed))?;
        let found = match &self.searched {
            Searched::Neighbor(_) => None,
            &Searched::All(changes) => Some(self.search(&outputs, changes, &wanted, progress)?),
        };
        let neighbor = match (&self.searched, &found) {
            (_, Some(found)) => found.worst.clone(),
            (Searched::Neighbor(neighbor), None) => neighbor.clone(),
            (Searched::All(_), None) => self.histogram.clone(),
        };
        let compared = outputs.against(&neighbor)?;
        let neighbors_searched = found.as_ref().map(|found| found.neighbors);
        let (values, claims) = match found {
            Some(found) => (found.values, found.claims),
            None => (of_pair(&compared, &wanted), self.tested(&compared)),
        };
        let answer = self.answer(&neighbor, &compared, &wanted, values, outputs.are_cut())?;
        let answer = ExactAnswer { neighbors_searched, claims, ..answer };
        answer.consistent()?;
        Ok(answer)
    }
}

answer!(ExactAnswer, "leakbound.exact/1", claims);

impl ExactStudy {
    /// The mechanism as a noisy argmax, which has theorems for pairs.
    fn argmax(&self) -> Option<&NoisyArgmax> {
        self.mechanism.downcast()
    }

    /// All changes; if the mechanism treats classes alike, one for all that only swap classes.
    fn changes(&self, changes: Changes) -> Result<Vec<Neighbor>> {
        let alike = self.mechanism.treats_classes_alike();
        searched(self.histogram.number_of(changes, alike))?;
        Ok(self.histogram.changes(changes, alike).collect())
    }

    /// The largest values over all neighbors. Claims are about every neighbor, so the largest value counts.
    fn search(
        &self,
        outputs: &Outputs<'_>,
        changes: Changes,
        wanted: &[Wanted],
        progress: &Progress<'_>,
    ) -> Result<Found> {
        let changes = self.changes(changes)?;
        let meter = Meter::new(progress, changes.len() as u64, "neighbors");
        let each = parallel::try_map(&changes, |&change| {
            let compared = outputs.against(&self.histogram.neighbor(change)?)?;
            meter.add(1)?;
            Ok((compared.values(wanted), self.tested(&compared)))
        })?;
        let (values, claims): (Vec<_>, Vec<_>) = each.into_iter().unzip();
        let larger = |a: Claim, b: Claim| if AtLeast::new(b.lower.0) > AtLeast::new(a.lower.0) { b } else { a };
        let claims = claims
            .into_iter()
            .reduce(|a, b| a.into_iter().zip(b).map(|(a, b)| larger(a, b)).collect())
            .unwrap_or_default();
        let suprema = suprema(&changes, &values);
        let worst = self.histogram.neighbor(suprema.first().map_or(changes[0], |both| both[0].1))?;
        let values = suprema
            .iter()
            .map(|both| Value { values: both.map(|(value, _)| value), changes: both.map(|(_, change)| Some(change)) });
        Ok(Found { neighbors: changes.len(), values: values.collect(), claims, worst })
    }

    /// Claims against one neighbor.
    fn tested(&self, compared: &Compared<'_>) -> Vec<Claim> {
        self.claims.test(&[(String::new(), compared)], 0.0, |compared, quantity| compared.claimed(quantity))
    }

    /// The theorems that hold against the neighbors that were looked at. None if the theorems of the mechanism are
    /// about other neighbors.
    fn theorems(&self, neighbor: &VoteHistogram) -> Vec<Theorem> {
        let (known, kind) = (WorstCases::default(), self.mechanism.kind().data);
        let related = match &self.searched {
            Searched::Neighbor(neighbor) => kind.holds(&self.histogram, neighbor),
            Searched::All(changes) => kind.covers(*changes),
        };
        let is_pair = match &self.searched {
            Searched::Neighbor(_) | Searched::All(Changes::OneVote(VoteChange::Added | VoteChange::Removed)) => true,
            Searched::All(Changes::OneVote(VoteChange::Moved) | Changes::EveryCount) => false,
        };
        match self.argmax().filter(|_| is_pair) {
            Some(argmax) => argmax.theorems_for_pair(&self.histogram, neighbor, &known),
            None if related => self.mechanism.theorems_for(&self.histogram, &known),
            None => Vec::new(),
        }
    }

    /// The theorems that hold in both directions.
    fn accountants(&self, neighbor: &VoteHistogram) -> Vec<AccountantRow> {
        let theorems = self.theorems(neighbor);
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

    /// Upper bounds for numbers that were cut into bins, whose values are lower ends: the theorems, and the closed form
    /// of Gaussian noise.
    fn beyond_bins(&self, wanted: Wanted, direction: Direction, accountants: &[AccountantRow]) -> Result<AtMost> {
        let gaussian = self.mechanism.gaussian_mu().map(|mu| CertifiedProfile::gaussian(up(mu, 4.0))).transpose()?;
        let closed = match (wanted, gaussian) {
            (Wanted::Renyi(order), _) => {
                let rows = accountants.iter().filter(|row| row.order == order.get() && row.direction == direction);
                return Ok(rows.map(|row| AtMost::new(row.rdp.0)).min().unwrap_or(AtMost::NOTHING));
            }
            (_, None) => return Ok(AtMost::NOTHING),
            (Wanted::Delta(epsilon), Some(profile)) => profile.delta(direction, epsilon)?.upper,
            (Wanted::Epsilon(delta), Some(profile)) => profile.epsilon(delta.get()),
            (Wanted::TruePositiveRate(rate), Some(profile)) => profile.true_positive_rate(direction, rate)?,
        };
        Ok(AtMost::new(closed))
    }

    /// Both ends of a value. With bins, the value itself is a lower end for the released number.
    fn ends(&self, wanted: Wanted, value: Value, binned: bool, accountants: &[AccountantRow]) -> Result<Ends> {
        let [forward, reverse] = Direction::BOTH.map(|direction| {
            let exact = value.values[direction as usize];
            let upper = if binned { self.beyond_bins(wanted, direction, accountants)? } else { exact.at_most() };
            Ok::<_, Error>((exact, upper))
        });
        let both = [forward?, reverse?];
        let at_least = both.map(|(exact, _)| Number(exact.at_least().get()));
        Ok(Ends {
            values: if binned { at_least } else { both.map(|(exact, _)| Number(exact.value)) },
            at_least,
            at_most: both.map(|(_, upper)| Number(upper.get())),
            changes: value.changes,
        })
    }

    /// The answer with these values, which are in the order in which they were wanted.
    fn answer(
        &self,
        neighbor: &VoteHistogram,
        compared: &Compared<'_>,
        wanted: &[Wanted],
        values: Vec<Value>,
        binned: bool,
    ) -> Result<ExactAnswer> {
        let accountants = self.accountants(neighbor);
        let (mut divergences, mut hockey_stick, mut epsilons, mut test_power) = (vec![], vec![], vec![], vec![]);
        for (&wanted, value) in wanted.iter().zip(values) {
            let ends = self.ends(wanted, value, binned, &accountants)?;
            match wanted {
                Wanted::Renyi(order) => divergences.push(DivergenceRow::new(order.get(), ends)),
                Wanted::Delta(epsilon) => hockey_stick.push(HockeyStickRow::new(epsilon.get(), ends)),
                Wanted::Epsilon(delta) => epsilons.push(ProfileEpsilonRow::new(delta.get(), ends)),
                Wanted::TruePositiveRate(rate) => test_power.push(TestPowerRow::new(rate.get(), ends)),
            }
        }
        let test = self.argmax().and_then(|argmax| argmax.test);
        let label = |outcome| self.mechanism.label(&self.histogram, outcome);
        Ok(ExactAnswer {
            mechanism: text(&*self.mechanism),
            histogram: self.histogram.to_string(),
            neighbor: Some(neighbor.to_string()),
            neighbors_searched: None,
            noise: self.argmax().map(|argmax| argmax.noise.to_string()),
            threshold: test.as_ref().map(words),
            binned,
            outcomes: outcomes(compared.pair(), label),
            distribution_error: Number(compared.error()),
            divergences,
            hockey_stick,
            epsilon: epsilons,
            test_power,
            accountants,
            claims: Vec::new(),
        })
    }
}

/// The quantities of one neighbor.
fn of_pair(compared: &Compared<'_>, wanted: &[Wanted]) -> Vec<Value> {
    let values = compared.values(wanted).into_iter();
    values.map(|values| Value { values, changes: [None; 2] }).collect()
}

/// The text form of a mechanism, with numbers as short as they read back.
fn text(mechanism: &dyn Mechanism) -> String {
    let parameters = mechanism.parameters();
    let parameters = parameters.iter().map(|(name, value)| match value {
        ParameterValue::Number(number) => format!("{name}={}", short(*number)),
        ParameterValue::Word(_) | ParameterValue::List(_) => format!("{name}={value}"),
    });
    let parameters = parameters.collect::<Vec<_>>().join(",");
    let between = if parameters.is_empty() { "" } else { ":" };
    format!("{}{between}{parameters}", mechanism.kind())
}

/// The test as one phrase.
fn words(test: &ThresholdTest) -> String {
    format!("threshold {} with gaussian:{} noise, {}", test.threshold(), test.sigma(), test.form())
}

fn outcomes(pair: &OutputPair, label: impl Fn(usize) -> String) -> Vec<OutcomeRow> {
    let (p, q) = (pair.dataset(), pair.neighbor());
    (0..pair.outcomes())
        .map(|class| OutcomeRow {
            label: label(class),
            p: Number(p.p()[class]),
            log_p: Number(p.ln_p()[class]),
            q: Number(q.p()[class]),
            log_q: Number(q.ln_p()[class]),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::OutcomeDistribution;
    use crate::mechanism::{Bins, EXPONENTIAL, MechanismKind, Parameters};
    use crate::simulate::Sampler;
    use crate::study::unwatched;

    /// A mechanism in which the votes of later classes count more.
    #[derive(Debug)]
    struct Tilted;

    impl Mechanism for Tilted {
        fn kind(&self) -> &'static MechanismKind {
            EXPONENTIAL
        }

        fn parameters(&self) -> Parameters {
            Parameters::default()
        }

        fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
            Vec::new()
        }

        fn output_distribution(&self, data: &VoteHistogram, _: Bins) -> Result<OutcomeDistribution> {
            let weights: Vec<f64> =
                (1..).zip(data.counts()).map(|(c, &n)| (0.1 * f64::from(c) * n as f64).exp()).collect();
            let sum: f64 = weights.iter().sum();
            OutcomeDistribution::from_probabilities(&weights.iter().map(|weight| weight / sum).collect::<Vec<_>>())
        }

        fn sampler(&self, _: &VoteHistogram, _: &VoteHistogram, _: Bins) -> Result<Box<dyn Sampler>> {
            unreachable!("nothing is drawn")
        }
    }

    /// The worst change takes the vote from the second of two classes with equal counts.
    #[test]
    fn classes_are_alike_only_where_the_mechanism_says_so() {
        let (order, histogram) = (Order::new(2.0).unwrap(), VoteHistogram::new(vec![3, 3, 0]).unwrap());
        let study = ExactStudy {
            mechanism: Arc::new(Tilted),
            histogram: histogram.clone(),
            searched: Searched::All(VoteChange::Moved.into()),
            orders: vec![order],
            epsilons: Vec::new(),
            deltas: Vec::new(),
            claims: Claims::default(),
        };
        let answer = study.run(&unwatched).unwrap();
        assert_eq!((answer.neighbors_searched, answer.mechanism.as_str()), (Some(4), "exponential"));
        let divergence = |change| {
            let distribution = |data: &VoteHistogram| Tilted.output_distribution(data, Bins::at(None)).unwrap();
            let pair = OutputPair::new(distribution(&histogram), distribution(&histogram.neighbor(change).unwrap()));
            pair.unwrap().renyi(Direction::Forward, order)
        };
        let largest = histogram.all_neighbors(VoteChange::Moved).map(divergence).fold(0.0, f64::max);
        let alike = histogram.neighbors(VoteChange::Moved).into_iter().map(divergence).fold(0.0, f64::max);
        assert_eq!(answer.divergences[0].forward.0.to_bits(), largest.to_bits());
        assert!(largest > 1.001 * alike, "{largest} {alike}");
    }
}
