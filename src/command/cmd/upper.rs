//! The accountants that promise something about one answer of a vote model.

use crate::{
    Adjacency, Noise, NoiseScale, Order, OutcomeLaw, Probability, UpperBound, Validity, VoteHistogram, VoteModel,
    gaussian_rdp, gnmax_data_dependent, gnmax_data_independent, gnmax_worst_case_curve, group_rdp, laplace_rdp,
    lnmax_data_dependent, lnmax_data_independent, log_flip_probability, log_flip_probability_laplace,
    log_flip_probability_of_parties, subsampled_gaussian_group_rdp,
};
use std::collections::BTreeMap;
use std::f64::consts::SQRT_2;
use std::sync::{Arc, Mutex, PoisonError};

/// Parties whose votes are convolved: seconds of work for ten classes.
const MOST_PARTIES: usize = 10_000;

/// An accountant with its parameters.
enum Accountant {
    /// GNMax, one vote moved, with ln q.
    GnmaxDataDependent { sigma: NoiseScale, log_q: f64 },
    /// GNMax, one vote moved.
    GnmaxDataIndependent { sigma: NoiseScale },
    /// GNMax, one vote moved, the supremum over all votes.
    GnmaxWorstCase { sigma: NoiseScale, prepared: Vec<(Order, f64)> },
    /// Gaussian noise, another change of the votes, with its l2 distance.
    Gaussian { sigma: NoiseScale, sensitivity: f64 },
    /// Laplace noise, one vote moved, with ln q.
    LnmaxDataDependent { b: NoiseScale, log_q: f64 },
    /// Laplace noise, one vote moved.
    Lnmax { b: NoiseScale },
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
            Self::GnmaxDataDependent { .. } => "gnmax-data-dependent",
            Self::GnmaxDataIndependent { .. } => "gnmax-data-independent",
            Self::GnmaxWorstCase { .. } => "gnmax-worst-case",
            Self::Gaussian { .. } => "gaussian",
            Self::LnmaxDataDependent { .. } => "lnmax-data-dependent",
            Self::Lnmax { .. } => "lnmax-data-independent",
            Self::Laplace { .. } => "laplace",
            Self::SubsampledGaussian { .. } => "subsampled-gaussian",
            Self::Group { .. } => "mironov-group",
        }
    }

    fn rdp(&self, order: Order) -> f64 {
        match self {
            Self::GnmaxDataDependent { sigma, log_q } => gnmax_data_dependent(order, *sigma, *log_q),
            Self::GnmaxDataIndependent { sigma } => gnmax_data_independent(order, *sigma),
            Self::GnmaxWorstCase { sigma, prepared } => {
                let found = prepared.iter().find(|(prepared, _)| *prepared == order);
                found.map_or_else(|| worst_case(*sigma, &[order])[0], |found| found.1)
            }
            Self::Gaussian { sigma, sensitivity } => gaussian_rdp(order, *sigma, *sensitivity),
            Self::LnmaxDataDependent { b, log_q } => lnmax_data_dependent(order, *b, *log_q),
            Self::Lnmax { b } => lnmax_data_independent(order, *b),
            // A count that changes by several votes is a count with less noise.
            Self::Laplace { b, shifts } => {
                shifts.iter().map(|shift| scaled(*b, *shift).map_or(f64::INFINITY, |b| laplace_rdp(order, b))).sum()
            }
            Self::SubsampledGaussian { sigma, rate, points } => {
                subsampled_gaussian_group_rdp(order, *rate, *sigma, SQRT_2, *points)
            }
            Self::Group { points, one } => group_rdp(order, *points, |order| one.rdp(order)),
        }
    }
}

/// The scale of the noise in units of several votes; none if it underflows.
fn scaled(scale: NoiseScale, votes: f64) -> Option<NoiseScale> {
    NoiseScale::new(scale.get() / votes).ok()
}

/// Upper bounds of D(S‖S') of one answer.
pub struct Upper(Vec<Accountant>);

impl Upper {
    /// The accountants of a model; `rate` is the subsampling rate of Private-kNN, and `law` that of the answers under
    /// the dataset.
    ///
    /// For random votes q is the probability, by the law, that the likeliest class is not printed: the theorem holds
    /// for any mechanism with the RDP of GNMax, training included. For fixed votes q is the union bound of the
    /// literature. Where m teachers are changed, m votes move, by at most m√2 together: GNMax with noise σ/m, and for
    /// Laplace noise, whose RDP is convex in the shift, the worst case of m votes from one class to another.
    pub fn new(model: &VoteModel, noise: Noise, rate: Option<Probability>, law: &OutcomeLaw) -> Self {
        let log_q = || law.complement()[law.mode()].ln();
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
            VoteModel::Pate(model) => moved(noise, model.changed_teachers(), Some(log_q())),
            // All changed points are with one party, which has one vote. Its law is a series; the union bound is a bound.
            VoteModel::Capc(model) => {
                let log_q = match noise {
                    Noise::Gaussian(sigma) if model.parties() <= MOST_PARTIES => {
                        Some(log_flip_probability_of_parties(model.probabilities(), sigma))
                    }
                    _ => None,
                };
                moved(noise, 1, log_q)
            }
        };
        let (points, one) = match (model, noise, rate) {
            (VoteModel::PrivateKnn(model), Noise::Gaussian(sigma), Some(rate)) => {
                (model.points(), Accountant::SubsampledGaussian { sigma, rate, points: 1 })
            }
            (VoteModel::PrivateKnn(model), ..) => (model.points(), independent(noise)),
            (VoteModel::Pate(model), ..) => (model.changed_teachers(), independent(noise)),
            _ => (1, independent(noise)),
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
    pub fn rdp(&self, name: &str, order: Order) -> f64 {
        let accountant = self.0.iter().find(|accountant| accountant.name() == name);
        accountant.map_or(f64::INFINITY, |accountant| accountant.rdp(order))
    }

    /// The bound under a name.
    pub fn bound(&self, name: &'static str, order: Order) -> UpperBound {
        let numerical = matches!(name, "subsampled-gaussian" | "gnmax-worst-case");
        let validity = if numerical { Validity::NumericallyCertified } else { Validity::Exact };
        UpperBound { value: self.rdp(name, order), name, validity }
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

/// What holds whatever the votes, when one vote moves.
const fn independent(noise: Noise) -> Accountant {
    match noise {
        Noise::Gaussian(sigma) => Accountant::GnmaxDataIndependent { sigma },
        Noise::Laplace(b) => Accountant::Lnmax { b },
    }
}

/// Random votes of which `points` move.
fn moved(noise: Noise, points: u64, log_q: Option<f64>) -> Vec<Accountant> {
    let Some(noise) = scaled(scale(noise), points as f64).map(|scale| match noise {
        Noise::Gaussian(_) => Noise::Gaussian(scale),
        Noise::Laplace(_) => Noise::Laplace(scale),
    }) else {
        return Vec::new();
    };
    let mut accountants = match (noise, log_q) {
        (Noise::Gaussian(sigma), Some(log_q)) => {
            vec![Accountant::GnmaxDataDependent { sigma, log_q }, independent(noise)]
        }
        (Noise::Laplace(b), Some(log_q)) => vec![Accountant::LnmaxDataDependent { b, log_q }, independent(noise)],
        _ => vec![independent(noise)],
    };
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
    match noise {
        Noise::Gaussian(sigma) if moved => vec![
            Accountant::GnmaxDataDependent { sigma, log_q: log_flip_probability(votes, sigma) },
            Accountant::GnmaxDataIndependent { sigma },
            Accountant::GnmaxWorstCase { sigma, prepared: Vec::new() },
        ],
        Noise::Gaussian(sigma) => {
            vec![Accountant::Gaussian { sigma, sensitivity: shifts.map(|shift| shift * shift).sum::<f64>().sqrt() }]
        }
        Noise::Laplace(b) if moved => vec![
            Accountant::LnmaxDataDependent { b, log_q: log_flip_probability_laplace(votes, b) },
            Accountant::Lnmax { b },
        ],
        Noise::Laplace(b) => {
            vec![Accountant::Laplace { b, shifts: shifts.filter(|shift| *shift > 0.0).collect() }]
        }
    }
}
