//! The accountants that promise something about one answer of a vote model.

use crate::bound::outward::sum_up;
use crate::{
    Adjacency, Direction, FlipProbability, Noise, NoiseScale, Order, OutcomeLaw, Probability, UpperBound, Validity,
    VoteHistogram, VoteModel, argmax_data_dependent, argmax_data_independent, gaussian_rdp, gnmax_worst_case_curve,
    group_rdp, laplace_mechanism_rdp, log_flip_probability_of_parties, subsampled_gaussian_group_rdp,
};
use std::collections::BTreeMap;
use std::f64::consts::SQRT_2;
use std::sync::{Arc, Mutex, PoisonError};

/// Parties whose votes are convolved: seconds of work for ten classes.
const MOST_PARTIES: usize = 10_000;

/// An accountant with its parameters.
enum Accountant {
    /// One vote moved, with ln q under each dataset.
    DataDependent { noise: Noise, flip: FlipProbability },
    /// One vote moved, whatever the votes.
    DataIndependent { noise: Noise },
    /// GNMax, one vote moved, the supremum over all votes.
    GnmaxWorstCase { sigma: NoiseScale, prepared: Vec<(Order, f64)> },
    /// Gaussian noise, another change of the votes, with its l2 distance.
    Gaussian { sigma: NoiseScale, sensitivity: f64 },
    /// Laplace noise, another change of the votes.
    Laplace { b: NoiseScale, shifts: Vec<f64> },
    /// Gaussian noise on the votes of a subsample, to which one point more adds a vote and displaces another.
    SubsampledGaussian { sigma: NoiseScale, rate: Probability, points: u64 },
    /// Group privacy of an accountant for one changed point.
    Group { points: u64, one: Box<Accountant> },
}

impl Accountant {
    const fn name(&self) -> &'static str {
        match self {
            Self::DataDependent { noise: Noise::Gaussian(_), .. } => "gnmax-data-dependent",
            Self::DataDependent { noise: Noise::Laplace(_), .. } => "lnmax-data-dependent",
            Self::DataIndependent { noise: Noise::Gaussian(_) } => "gnmax-data-independent",
            Self::DataIndependent { noise: Noise::Laplace(_) } => "lnmax-data-independent",
            Self::GnmaxWorstCase { .. } => "gnmax-worst-case",
            Self::Gaussian { .. } => "gaussian",
            Self::Laplace { .. } => "laplace",
            Self::SubsampledGaussian { .. } => "subsampled-gaussian",
            Self::Group { .. } => "mironov-group",
        }
    }

    /// What it promises of the divergence in one direction. All but the data-dependent costs hold for both alike.
    fn rdp(&self, order: Order, direction: Direction) -> f64 {
        match self {
            Self::DataDependent { noise, flip } => argmax_data_dependent(*noise, order, flip.log_q(direction)),
            Self::DataIndependent { noise } => argmax_data_independent(*noise, None, order),
            Self::GnmaxWorstCase { sigma, prepared } => {
                let found = prepared.iter().find(|(prepared, _)| *prepared == order);
                found.map_or_else(|| worst_case(*sigma, &[order])[0], |found| found.1)
            }
            Self::Gaussian { sigma, sensitivity } => gaussian_rdp(order, *sigma, *sensitivity),
            // A count that changes by several votes is a count with less noise.
            Self::Laplace { b, shifts } => {
                shifts.iter().map(|shift| laplace_mechanism_rdp(order, *b, *shift)).fold(0.0, sum_up)
            }
            Self::SubsampledGaussian { sigma, rate, points } => {
                subsampled_gaussian_group_rdp(order, *rate, *sigma, SQRT_2, *points)
            }
            Self::Group { points, one } => group_rdp(order, *points, |order| one.rdp(order, direction)),
        }
    }

    const fn validity(&self) -> Validity {
        match self {
            Self::GnmaxWorstCase { .. } | Self::SubsampledGaussian { .. } => Validity::NumericallyCertified,
            _ => Validity::Exact,
        }
    }

    /// Whether its promise adds up over answers of teachers that are trained once: only what holds for all votes does. A
    /// data-dependent cost of the mixture over trainings is a cost of one answer.
    const fn adds_up(&self) -> bool {
        !matches!(self, Self::DataDependent { .. })
    }
}

/// The scale of the noise in units of several votes; none if it underflows.
fn scaled(scale: NoiseScale, votes: f64) -> Option<NoiseScale> {
    NoiseScale::new(scale.get() / votes).ok()
}

/// Upper bounds of the Rényi divergence of one answer, each in both directions.
pub struct Upper(Vec<Accountant>);

impl Upper {
    /// The accountants of a model; `rate` is the subsampling rate of Private-kNN, and `laws` are the distributions of the
    /// answers under the dataset and its neighbor.
    ///
    /// For random votes q is the probability, under each dataset, that the likeliest class is not printed: the theorem
    /// holds for any mechanism with the RDP of GNMax, training included. For fixed votes q is the union bound of the
    /// literature. Where m teachers are changed, m votes move, by at most m√2 together: GNMax with noise σ/m, and for
    /// Laplace noise, whose RDP is convex in the shift, the worst case of m votes from one class to another.
    pub fn new(model: &VoteModel, noise: Noise, rate: Option<Probability>, laws: [&OutcomeLaw; 2]) -> Self {
        let flip = || {
            // What the distribution may be wrong by is added: q must not be too small.
            let [p, q] = laws.map(|law| (law.complement()[law.mode()] * (1.0 + 2.0 * law.error())).ln().min(0.0));
            FlipProbability::new(p, q)
        };
        let mut accountants = match model {
            VoteModel::PromptPate(model) => {
                return Self(fixed(model.histogram(), model.histogram_neighbor(), noise));
            }
            VoteModel::PrivateKnn(model) => match (noise, rate) {
                (Noise::Gaussian(sigma), Some(rate)) => {
                    vec![Accountant::SubsampledGaussian { sigma, rate, points: model.points() }]
                }
                // Without the subsampling, which only helps.
                _ => moved(noise, model.points(), None),
            },
            VoteModel::Pate(model) => moved(noise, model.changed_teachers(), Some(flip())),
            // All changed points are with one party, which has one vote. Its law is a series; the union bound is a bound.
            VoteModel::Capc(model) => {
                let flip = match noise {
                    Noise::Gaussian(sigma) if model.parties() <= MOST_PARTIES => {
                        let mut marked = model.probabilities().to_vec();
                        marked[0] = model.probabilities_marked().to_vec();
                        let log_q = [model.probabilities(), &marked[..]]
                            .map(|parties| log_flip_probability_of_parties(parties, sigma));
                        Some(FlipProbability::new(log_q[0], log_q[1]))
                    }
                    _ => None,
                };
                moved(noise, 1, flip)
            }
        };
        let (points, one) = match (model, noise, rate) {
            (VoteModel::PrivateKnn(model), Noise::Gaussian(sigma), Some(rate)) => {
                (model.points(), Accountant::SubsampledGaussian { sigma, rate, points: 1 })
            }
            (VoteModel::PrivateKnn(model), ..) => (model.points(), Accountant::DataIndependent { noise }),
            (VoteModel::Pate(model), ..) => (model.changed_teachers(), Accountant::DataIndependent { noise }),
            _ => (1, Accountant::DataIndependent { noise }),
        };
        if points > 1 {
            accountants.push(Accountant::Group { points, one: Box::new(one) });
        }
        Self(accountants)
    }

    /// Computes what takes long at these orders together.
    pub fn prepare(&mut self, orders: &[Order]) {
        for accountant in &mut self.0 {
            if let Accountant::GnmaxWorstCase { sigma, prepared } = accountant {
                *prepared = orders.iter().copied().zip(worst_case(*sigma, orders).iter().copied()).collect();
            }
        }
    }

    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(Accountant::name).collect()
    }

    /// RDP promised under a name; infinite under a name that is not among [`Upper::names`].
    pub fn rdp(&self, name: &str, order: Order, direction: Direction) -> f64 {
        self.find(name).map_or(f64::INFINITY, |accountant| accountant.rdp(order, direction))
    }

    /// Whether what is promised under a name adds up over answers of teachers that are trained once.
    pub fn adds_up(&self, name: &str) -> bool {
        self.find(name).is_none_or(Accountant::adds_up)
    }

    /// Every bound at these orders, accountant by accountant, in both directions.
    pub fn bounds(&self, orders: &[Order]) -> Vec<(Order, Direction, UpperBound)> {
        let bound = |accountant: &Accountant, order, direction| UpperBound {
            value: accountant.rdp(order, direction),
            name: accountant.name(),
            validity: accountant.validity(),
        };
        let of = |accountant| {
            let at = move |&order: &Order| {
                Direction::BOTH.map(|direction| (order, direction, bound(accountant, order, direction)))
            };
            orders.iter().flat_map(at)
        };
        self.0.iter().flat_map(of).collect()
    }

    /// What an accountant guarantees.
    pub fn validity(&self, name: &str) -> Validity {
        self.find(name).map_or(Validity::Exact, Accountant::validity)
    }

    fn find(&self, name: &str) -> Option<&Accountant> {
        self.0.iter().find(|accountant| accountant.name() == name)
    }
}

/// Curves of the worst case that are kept.
const KEPT: usize = 256;

/// The worst case of each order, which takes milliseconds: all queries of a run share what was computed. Orders of one
/// curve share their boxes, so that a curve is kept whole: no value depends on what was asked before.
fn worst_case(sigma: NoiseScale, orders: &[Order]) -> Arc<[f64]> {
    type Known = BTreeMap<(u64, Vec<u64>), Arc<[f64]>>;
    static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (sigma.get().to_bits(), orders.iter().map(|order| order.get().to_bits()).collect());
    if let Some(found) = known().get(&key) {
        return Arc::clone(found);
    }
    // Without the lock: a thread that waits for the others takes up their work, which may be this.
    let found: Arc<[f64]> =
        gnmax_worst_case_curve(orders, sigma, Adjacency::Moved).iter().map(|worst| worst.upper).collect();
    let mut known = known();
    if known.len() >= KEPT {
        known.clear();
    }
    known.insert(key, Arc::clone(&found));
    found
}

/// Random votes of which `points` move.
fn moved(noise: Noise, points: u64, flip: Option<FlipProbability>) -> Vec<Accountant> {
    let Some(noise) = scaled(scale(noise), points as f64).map(|scale| match noise {
        Noise::Gaussian(_) => Noise::Gaussian(scale),
        Noise::Laplace(_) => Noise::Laplace(scale),
    }) else {
        return Vec::new();
    };
    let dependent = flip.map(|flip| Accountant::DataDependent { noise, flip });
    let mut accountants: Vec<Accountant> = dependent.into_iter().collect();
    accountants.push(Accountant::DataIndependent { noise });
    // Several votes may leave different classes, which the supremum over one move says nothing about.
    if let (Noise::Gaussian(sigma), 1) = (noise, points) {
        accountants.push(Accountant::GnmaxWorstCase { sigma, prepared: Vec::new() });
    }
    accountants
}

const fn scale(noise: Noise) -> NoiseScale {
    match noise {
        Noise::Gaussian(scale) | Noise::Laplace(scale) => scale,
    }
}

/// Fixed votes, with the change that was recorded.
fn fixed(votes: &VoteHistogram, other: &VoteHistogram, noise: Noise) -> Vec<Accountant> {
    // Equal votes are a moved vote that did not matter.
    let moved = votes == other || votes.adjacency_to(other) == Some(Adjacency::Moved);
    let shifts = votes.counts().iter().zip(other.counts()).map(|(&a, &b)| a.abs_diff(b) as f64);
    if moved {
        let flip = FlipProbability::of_pair(votes, other, noise);
        let mut accountants = vec![Accountant::DataDependent { noise, flip }, Accountant::DataIndependent { noise }];
        if let Noise::Gaussian(sigma) = noise {
            accountants.push(Accountant::GnmaxWorstCase { sigma, prepared: Vec::new() });
        }
        return accountants;
    }
    match noise {
        Noise::Gaussian(sigma) => {
            vec![Accountant::Gaussian { sigma, sensitivity: shifts.map(|shift| shift * shift).sum::<f64>().sqrt() }]
        }
        Noise::Laplace(b) => {
            vec![Accountant::Laplace { b, shifts: shifts.filter(|shift| *shift > 0.0).collect() }]
        }
    }
}
