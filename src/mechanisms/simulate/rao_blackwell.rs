//! Monte Carlo of the distribution itself: votes of unchanged voters are drawn, everything else is integrated out.

use super::simulation::Simulation;
use super::stream::{Stream, World};
use crate::bound::Direction;
use crate::distribution::{ArgmaxTable, Change, ClassGroups, Noise, OutcomeDistribution, OutputPair, Workspace};
use crate::error::{Error, Result};
use crate::model::VoteModel;
use crate::order;
use crate::parallel;
use crate::quantity::Order;
use crate::variate::Multinomial;
use rand::RngExt;

/// The first block of the streams of these draws: a simulation has at most 2^37 blocks and never reaches it.
const FIRST_BLOCK: u64 = 1 << 62;
/// Draws are divided into this many batches, whose spread gives the standard errors to 3%.
const BATCHES: u64 = 512;
/// The smallest number of draws with meaningful standard errors, and the largest that makes sense in doubles.
const DRAWS: std::ops::RangeInclusive<u64> = 1_000..=1 << 40;

/// Estimates of the distributions of a noisy argmax in both worlds from the same draws, with standard errors.
///
/// They are means of exact conditional distributions, not counts: see [`rao_blackwell`]. Standard errors come from the
/// spread of [`Self::batches`] batches and hold in the limit of many draws.
#[derive(Debug, Clone, PartialEq)]
pub struct RaoBlackwell {
    draws: u64,
    pair: OutputPair,
    /// The share of the draws in each batch, and its mean distributions minus the overall ones.
    batches: Vec<(f64, [Vec<f64>; 2])>,
}

/// A number that was estimated from random draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// Estimates the distributions of argmax(H + Z) and argmax(H' + Z) by drawing the part that both worlds share and
/// averaging exactly over the rest (Rao and Blackwell): the noise, and the vote of the one changed voter.
///
/// For PATE and CaPC a draw is the histogram H_{-1} of the k-1 unchanged voters, which gives
/// ```text
/// p_c: Σ_y P_y p_c(H_{-1} + e_y),    q_c: Σ_y P'_y p_c(H_{-1} + e_y),
/// ```
/// with the distributions P and P' of the changed voter's vote and the distribution p(h) of the argmax for fixed votes
/// h. For Private-kNN a draw is the histogram H of the k labels, with p(H) and, under the neighbor, (1-ν) p(H) + ν Σ_y
/// P^k_y p(H + e_{y'} - e_y). Since both worlds share the draw, the differences q_c - p_c have far smaller errors than
/// p_c: 20,000 draws of PATE with k = 250, C = 10 and σ = 40 give the signal to 3 parts in 10^4, which would take about
/// 10^10 counted outputs.
///
/// [`Simulation::samples`] is the number of draws, 1,000 or more; the estimates depend only on the model, the noise and
/// `simulation`, for any number of threads, and share no random stream with [`simulate`](crate::simulate::simulate).
/// One draw takes about 10 µs for C = 10.
///
/// # Errors
/// [`Error::Rejected`] for PromptPATE, which has nothing to draw, for more than one changed voter or point, for Laplace
/// noise and σ outside [0.1, 10^4]; [`Error::Domain`] for fewer than 1,000 draws or more than 2^40.
///
/// # Example
/// ```
/// use leakbound::model::{PateModel, VoteModel};
/// use leakbound::prelude::*;
/// use leakbound::simulate::{World, rao_blackwell};
///
/// let model = VoteModel::from(PateModel::new(10, &[0.1492, 0.5883, 0.2625], &[0.5036, 0.1086, 0.3878])?);
/// let estimates = rao_blackwell(&model, "gaussian:4".parse()?, Simulation::new(20_000)?)?;
/// let p = estimates.probability(World::Dataset, 0);
/// assert!((p.value - 0.159_521).abs() < 5.0 * p.standard_error && p.standard_error < 6e-4);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Casella and Robert (1996), "Rao-Blackwellisation of sampling schemes".
pub fn rao_blackwell(model: &VoteModel, noise: Noise, simulation: Simulation) -> Result<RaoBlackwell> {
    let draws = simulation.samples();
    Error::check_domain(DRAWS.contains(&draws), "number of draws", draws as f64, "[1000, 2^40]")?;
    let groups = groups(model);
    let shared = SharedVotes::new(model, &groups)?;
    let table = ArgmaxTable::new(noise, groups.entries(), groups.multiplicity()[groups.entries() - 1])?;
    let size = draws.div_ceil(BATCHES);
    let sums: Vec<(f64, [Vec<f64>; 2])> = parallel::map(0..draws.div_ceil(size), |batch| {
        let number = size.min(draws - batch * size);
        let mut stream = simulation.stream(World::Dataset, FIRST_BLOCK + batch);
        let means = shared.mean_distributions(&table, groups.entries(), number, &mut stream);
        (number as f64 / draws as f64, means.map(|mean| groups.expanded(&mean)))
    });
    // In the order of the batches, however the threads ran.
    let mean = |world: usize| -> Vec<f64> {
        let mean = |class: usize| sums.iter().map(|(share, means)| share * means[world][class]).sum::<f64>();
        // The shares of the batches sum to 1 up to rounding.
        (0..model.classes()).map(|class| mean(class).min(1.0)).collect()
    };
    let means = [mean(0), mean(1)];
    let less = |batch: [Vec<f64>; 2]| {
        let mut worlds = batch.into_iter().zip(&means);
        std::array::from_fn(|_| {
            worlds.next().map_or_else(Vec::new, |(batch, mean)| batch.iter().zip(mean).map(|(a, b)| a - b).collect())
        })
    };
    let pair = OutputPair::new(
        OutcomeDistribution::from_probabilities(&means[0])?,
        OutcomeDistribution::from_probabilities(&means[1])?,
    )?;
    let batches = sums.into_iter().map(|(share, batch)| (share, less(batch))).collect();
    Ok(RaoBlackwell { draws, pair, batches })
}

impl RaoBlackwell {
    /// Number of draws.
    #[must_use]
    pub const fn draws(&self) -> u64 {
        self.draws
    }

    /// Number of batches.
    #[must_use]
    pub const fn batches(&self) -> usize {
        self.batches.len()
    }

    /// The estimated distribution of a world. Its [`OutcomeDistribution::error`] does not include the standard errors.
    #[must_use]
    pub const fn distribution(&self, world: World) -> &OutcomeDistribution {
        match world {
            World::Dataset => self.pair.dataset(),
            World::Neighbor => self.pair.neighbor(),
        }
    }

    /// The probability of class c (`class`) in a world.
    ///
    /// # Panics
    /// If there is no such class.
    #[must_use]
    pub fn probability(&self, world: World, class: usize) -> Estimate {
        let standard_error = self.standard_error(|worlds| worlds[world.index()][class]);
        Estimate { value: self.distribution(world).p()[class], standard_error }
    }

    /// q_c - p_c, the neighbor's minus the dataset's probability of class c (`class`), from paired draws.
    ///
    /// # Panics
    /// If there is no such class.
    #[must_use]
    pub fn difference(&self, class: usize) -> Estimate {
        let value = self.pair.neighbor().p()[class] - self.pair.dataset().p()[class];
        Estimate { value, standard_error: self.standard_error(|[p, q]| q[class] - p[class]) }
    }

    /// D_α in a direction, with its standard error by the delta method; forward, for the dataset's distribution P and
    /// the neighbor's distribution Q,
    /// ```text
    /// ∂D_α(P‖Q)/∂p_c = α/(α-1) (p_c/q_c)^{α-1}/F,    ∂D_α(P‖Q)/∂q_c = -(p_c/q_c)^α/F,    F = Σ_c p_c^α q_c^{1-α}.
    /// ```
    /// The estimate has a bias on the order of its squared standard error.
    #[must_use]
    pub fn renyi(&self, direction: Direction, order: Order) -> Estimate {
        let [p, q] = self.pair.in_direction(direction);
        let [first, second] = direction.ordered([0, 1]);
        let (a, value) = (order.get(), self.pair.renyi(direction, order));
        let ln_f = (a - 1.0) * value;
        let gradient: Vec<[f64; 2]> = (0..p.outcomes())
            .map(|class| {
                let ln_ratio = p.ln_p()[class] - q.ln_p()[class];
                if !ln_ratio.is_finite() {
                    return [0.0, 0.0];
                }
                // A part common to all classes is omitted: deviations of a distribution sum to 0.
                let exponents = [(a - 1.0) * ln_ratio - ln_f, a * ln_ratio - ln_f];
                [a / (a - 1.0) * libm::expm1(exponents[0]), -libm::expm1(exponents[1])]
            })
            .collect();
        let standard_error = self.standard_error(|worlds| {
            let terms = gradient.iter().enumerate();
            terms.map(|(class, [of_p, of_q])| of_p * worlds[first][class] + of_q * worlds[second][class]).sum()
        });
        Estimate { value, standard_error }
    }

    /// The standard error of a linear function of both distributions: batches are independent.
    fn standard_error(&self, value: impl Fn(&[Vec<f64>; 2]) -> f64) -> f64 {
        let squares: f64 = self.batches.iter().map(|(share, batch)| (share * value(batch)).powi(2)).sum();
        let batches = self.batches.len() as f64;
        (squares * batches / (batches - 1.0)).sqrt()
    }
}

/// Groups by all vote probabilities of a model.
fn groups(model: &VoteModel) -> ClassGroups {
    let classes = model.classes();
    match model {
        VoteModel::Pate(pate) => ClassGroups::new(classes, [pate.probabilities(), pate.probabilities_marked()]),
        VoteModel::Capc(capc) => {
            let rows = capc.probabilities().iter().map(Vec::as_slice);
            ClassGroups::new(classes, rows.chain([capc.probabilities_marked()]))
        }
        VoteModel::PrivateKnn(knn) => {
            let mut label = vec![0.0; classes];
            label[knn.label()] = 1.0;
            ClassGroups::new(classes, [knn.probabilities(), knn.probabilities_last(), &label])
        }
        // Its votes are fixed, and nothing is drawn.
        VoteModel::PromptPate(_) => ClassGroups::new(classes, []),
    }
}

/// The part that both worlds share, and the part that is averaged over.
enum SharedVotes {
    /// H_{-1} ~ Mult(k-1, P), and the distributions P, P' of the last vote.
    Multinomial { voters: u64, votes: Multinomial, last: [Vec<f64>; 2] },
    /// H_{-1} of the parties from the second on, and the distributions of the vote of the first.
    Parties { decided: Vec<i64>, undecided: Vec<Vec<(f64, usize)>>, last: [Vec<f64>; 2] },
    /// H ~ Mult(k, P); with probability ν the label y' displaces one from P^k.
    Neighbors { neighbors: u64, votes: Multinomial, displaced: Vec<f64>, inclusion: f64, label: usize },
}

impl SharedVotes {
    fn new(model: &VoteModel, groups: &ClassGroups) -> Result<Self> {
        let rejected = |reason: &str| Error::Rejected { operation: "Rao-Blackwell estimate", reason: reason.into() };
        match model {
            VoteModel::Pate(pate) if pate.changed_teachers() == 1 => Ok(Self::Multinomial {
                voters: pate.teachers() - 1,
                votes: Multinomial::new(&groups.shortened(pate.probabilities())),
                last: [pate.probabilities(), pate.probabilities_marked()].map(|p| groups.shortened(p)),
            }),
            VoteModel::Capc(capc) => {
                let mut decided = vec![0; groups.entries()];
                let mut undecided = Vec::new();
                for party in &capc.probabilities()[1..] {
                    let party = groups.shortened(party);
                    match party.iter().position(|&p| p == 1.0) {
                        Some(class) => decided[class] += 1,
                        None => undecided.push(cumulative(&party)),
                    }
                }
                let last = [&capc.probabilities()[0][..], capc.probabilities_marked()].map(|p| groups.shortened(p));
                Ok(Self::Parties { decided, undecided, last })
            }
            VoteModel::PrivateKnn(knn) if knn.points() == 1 => Ok(Self::Neighbors {
                neighbors: knn.neighbors(),
                votes: Multinomial::new(&groups.shortened(knn.probabilities())),
                displaced: groups.shortened(knn.probabilities_last()),
                inclusion: knn.inclusion(),
                label: groups.places()[knn.label()],
            }),
            VoteModel::PromptPate(_) => Err(rejected("votes that are not random have an exact distribution")),
            VoteModel::Pate(_) | VoteModel::PrivateKnn(_) => Err(rejected("it is for one changed voter or point")),
        }
    }

    /// Draws shared votes into one entry per class.
    fn draw(&self, stream: &mut Stream, histogram: &mut [i64]) {
        let multinomial = |voters, votes: &Multinomial, stream: &mut Stream, histogram: &mut [i64]| {
            histogram.fill(0);
            votes.add(voters, stream, |class, count| histogram[class] = count as i64);
        };
        match self {
            Self::Multinomial { voters, votes, .. } => multinomial(*voters, votes, stream, histogram),
            Self::Neighbors { neighbors, votes, .. } => multinomial(*neighbors, votes, stream, histogram),
            Self::Parties { decided, undecided, .. } => {
                histogram.copy_from_slice(decided);
                for party in undecided {
                    let u: f64 = stream.random();
                    // The last one is below the end except for rounding.
                    let choice = party.iter().position(|&(end, _)| u < end).unwrap_or(party.len() - 1);
                    histogram[party[choice].1] += 1;
                }
            }
        }
    }

    /// Mean distributions of both worlds over some draws.
    fn mean_distributions(
        &self,
        table: &ArgmaxTable,
        classes: usize,
        draws: u64,
        stream: &mut Stream,
    ) -> [Vec<f64>; 2] {
        let mut work = Workspace::default();
        let mut histogram = vec![0; classes];
        let mut distributions = [vec![0.0; classes], vec![0.0; classes]];
        let mut sums = distributions.clone();
        for _ in 0..draws {
            self.draw(stream, &mut histogram);
            match self {
                Self::Multinomial { last, .. } | Self::Parties { last, .. } => {
                    let weights = [&last[0][..], &last[1][..]];
                    table.changed_distributions(&histogram, Change::More, weights, &mut work, &mut distributions);
                }
                Self::Neighbors { displaced, inclusion, label, .. } => {
                    let [distribution, neighbor] = &mut distributions;
                    table.distribution(&histogram, &mut work, distribution);
                    histogram[*label] += 1;
                    let weights = [&displaced[..]];
                    table.changed_distributions(
                        &histogram,
                        Change::Less,
                        weights,
                        &mut work,
                        std::array::from_mut(neighbor),
                    );
                    for (neighbor, distribution) in neighbor.iter_mut().zip(distribution) {
                        *neighbor = (1.0 - inclusion) * *distribution + inclusion * *neighbor;
                    }
                }
            }
            for (sums, distribution) in sums.iter_mut().zip(&distributions) {
                sums.iter_mut().zip(distribution).for_each(|(sum, p)| *sum += p);
            }
        }
        sums.iter_mut().flatten().for_each(|sum| *sum /= draws as f64);
        sums
    }
}

/// The choices of a party with the ends of their parts of [0, 1), likely ones first.
fn cumulative(party: &[f64]) -> Vec<(f64, usize)> {
    let mut choices: Vec<usize> = (0..party.len()).filter(|&class| party[class] > 0.0).collect();
    order::sort(&mut choices, |&a, &b| party[b].total_cmp(&party[a]).then(a.cmp(&b)));
    let ends = choices.iter().scan(0.0, |end, &class| {
        *end += party[class];
        Some(*end)
    });
    ends.zip(choices.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CapcModel, PateModel, PrivateKnnModel, PromptPateModel};

    const P: [f64; 10] = [0.25, 0.2, 0.15, 0.1, 0.08, 0.07, 0.06, 0.04, 0.03, 0.02];
    const MARKED: [f64; 10] = [0.05, 0.1, 0.15, 0.1, 0.08, 0.07, 0.06, 0.04, 0.03, 0.32];

    fn estimates(model: &VoteModel, noise: &str, draws: u64) -> RaoBlackwell {
        rao_blackwell(model, noise.parse().unwrap(), Simulation::new(draws).unwrap().seed(17)).unwrap()
    }

    /// Each of the checks (3 a class and 4) fails with probability 1e-6 beyond 4.9 standard errors, 1e-5 with the error
    /// of the standard error itself.
    fn agrees(model: &VoteModel, noise: &str, draws: u64) -> RaoBlackwell {
        let found = estimates(model, noise, draws);
        let pair = model.output_pair(noise.parse().unwrap()).unwrap();
        let distributions = [pair.dataset(), pair.neighbor()];
        let mut worst = 0.0f64;
        let mut check = |estimate: Estimate, expected: f64| {
            let off = (estimate.value - expected) / estimate.standard_error;
            worst = worst.max(off.abs());
            assert!(off.abs() < 4.9, "{noise}: {estimate:?} is not {expected}");
        };
        for class in 0..model.classes() {
            for world in World::ALL {
                check(found.probability(world, class), distributions[world.index()].p()[class]);
            }
            check(found.difference(class), distributions[1].p()[class] - distributions[0].p()[class]);
        }
        for order in [2.0, 8.0].map(|order| Order::new(order).unwrap()) {
            for direction in Direction::BOTH {
                check(found.renyi(direction, order), pair.renyi(direction, order));
            }
        }
        println!("{noise}: at most {worst:.2} standard errors off");
        found
    }

    #[test]
    fn pate_agrees_with_its_exact_distributions() {
        let model = PateModel::new(250, &P, &MARKED).unwrap().into();
        let found = agrees(&model, "gaussian:40", 4_000);
        let reverse = found.renyi(Direction::Reverse, Order::new(2.0).unwrap());
        println!("{reverse:?}");
        assert!(reverse.standard_error < 2e-3 * reverse.value);
        agrees(&PateModel::new(20, &[0.5, 0.3, 0.2], &[0.1, 0.1, 0.8]).unwrap().into(), "gaussian:1", 4_000);
        agrees(&PateModel::new(3, &[0.5, 0.5], &[0.0, 1.0]).unwrap().into(), "gaussian:0.3", 2_000);
    }

    /// With one certain class, its share over all batches rounds to more than 1.
    #[test]
    fn a_certain_class_is_no_more_than_certain() {
        let model = CapcModel::new(&vec![vec![1.0, 0.0]; 5], &[1.0, 0.0]).unwrap().into();
        for draws in [1_000, 4_000, 10_000, 20_000] {
            let found =
                rao_blackwell(&model, "gaussian:0.3".parse().unwrap(), Simulation::new(draws).unwrap()).unwrap();
            assert!(found.probability(World::Dataset, 0).value > 0.999, "{draws}");
        }
    }

    #[test]
    fn capc_agrees_with_its_exact_distributions() {
        // Half of the parties always vote the same.
        let party = |i: usize| -> Vec<f64> {
            let mut votes = [0.0; 6];
            votes[i % 3] += if i.is_multiple_of(2) { 12.0 } else { 7.0 };
            votes[(i * i + 1) % 6] += if i.is_multiple_of(2) { 0.0 } else { (i % 6) as f64 };
            votes[5] += if i.is_multiple_of(2) { 0.0 } else { 5.0 - (i % 6) as f64 };
            votes.iter().map(|votes| votes / 12.0).collect()
        };
        let parties: Vec<Vec<f64>> = (0..250).map(party).collect();
        let model = CapcModel::new(&parties, &[0.0, 0.0, 0.0, 0.5, 0.25, 0.25]).unwrap().into();
        agrees(&model, "gaussian:40", 4_000);
        agrees(&model, "gaussian:25", 4_000);
    }

    /// Private-kNN compared with the enumeration of its histograms.
    #[test]
    fn private_knn_agrees_with_an_enumeration() {
        let (k, p, last, inclusion) = (3u64, [0.5, 0.3, 0.2], [0.2, 0.2, 0.6], 0.3);
        let model = PrivateKnnModel::new(k, &p, &last, inclusion, 1).unwrap().into();
        let noise: Noise = "gaussian:1.3".parse().unwrap();
        let argmax = |counts: [i64; 3]| {
            // One more for every class: counts of -1 are possible.
            let counts = counts.map(|count| (count + 1) as u64).to_vec();
            crate::distribution::noisy_argmax_distribution(
                &crate::histogram::VoteHistogram::new(counts).unwrap(),
                noise,
            )
            .unwrap()
        };
        let mut expected = [[0.0; 3]; 2];
        for votes in 0..27usize {
            let classes = [votes % 3, votes / 3 % 3, votes / 9];
            let weight: f64 = classes.iter().map(|&class| p[class]).product();
            let mut counts = [0i64; 3];
            classes.iter().for_each(|&class| counts[class] += 1);
            let distribution = argmax(counts);
            for (world, share) in [1.0, 1.0 - inclusion].into_iter().enumerate() {
                expected[world].iter_mut().zip(distribution.p()).for_each(|(sum, p)| *sum += weight * share * p);
            }
            for (displaced, chance) in last.iter().enumerate() {
                let mut counts = counts;
                counts[1] += 1;
                counts[displaced] -= 1;
                let distribution = argmax(counts);
                (0..3).for_each(|c| expected[1][c] += weight * inclusion * chance * distribution.p()[c]);
            }
        }
        let found = estimates(&model, "gaussian:1.3", 20_000);
        for (world, expected) in World::ALL.into_iter().zip(expected) {
            for (class, expected) in expected.into_iter().enumerate() {
                let estimate = found.probability(world, class);
                assert!((estimate.value - expected).abs() < 4.9 * estimate.standard_error, "{estimate:?} {expected}");
            }
        }
    }

    #[test]
    fn estimates_are_the_same_on_any_number_of_threads() {
        let model = PateModel::new(250, &P, &MARKED).unwrap().into();
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| estimates(&model, "gaussian:40", 1_001))
        };
        let one = on(1);
        assert_eq!(one, on(3));
        assert_eq!((one.draws(), one.batches()), (1_001, 501));
        let other = rao_blackwell(&model, "gaussian:40".parse().unwrap(), Simulation::new(1_001).unwrap()).unwrap();
        assert_ne!(one.distribution(World::Dataset), other.distribution(World::Dataset));
    }

    #[test]
    fn what_cannot_be_estimated_is_rejected() {
        let message = |model: &VoteModel, noise: &str, draws| {
            let simulation = Simulation::new(draws).unwrap();
            rao_blackwell(model, noise.parse().unwrap(), simulation).unwrap_err().to_string()
        };
        let even = [0.5, 0.5];
        let pate = PateModel::new(10, &even, &even).unwrap();
        let histogram = crate::histogram::VoteHistogram::new(vec![3, 1]).unwrap();
        insta::assert_snapshot!(
            [
                message(&pate.clone().into(), "gaussian:1", 999),
                message(&pate.clone().into(), "laplace:1", 1_000),
                message(&pate.with_changed_teachers(2).unwrap().into(), "gaussian:1", 1_000),
                message(&PromptPateModel::new(histogram.clone(), histogram).unwrap().into(), "gaussian:1", 1_000),
            ]
            .join("\n"),
            @"
            number of draws = 999 is not in [1000, 2^40]
            table of noisy argmaxes: it is made for Gaussian noise of 0.1 to 1e4 votes, not for laplace:1
            Rao-Blackwell estimate: it is for one changed voter or point
            Rao-Blackwell estimate: votes that are not random have an exact distribution
            "
        );
    }
}
