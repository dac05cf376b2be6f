//! The accountants that promise something about one answer of a vote model.

use leakbound::{
    Adjacency, Noise, NoiseScale, Order, OutcomeLaw, UpperBound, Validity, VoteModel, gaussian_rdp,
    gnmax_data_dependent, gnmax_data_independent, laplace_rdp, lnmax_data_independent, log_flip_probability,
};

/// Upper bounds of D(S‖S') of one answer.
pub enum Upper {
    /// GNMax, one vote moved, with ln q for the data-dependent cost.
    Gnmax { sigma: NoiseScale, log_q: f64 },
    /// Gaussian noise, another change of the votes, with its l2 distance.
    Gaussian { sigma: NoiseScale, sensitivity: f64 },
    /// Laplace noise, one vote moved.
    Lnmax { b: NoiseScale },
    /// Laplace noise, another change of the votes.
    Laplace { b: NoiseScale, shifts: Vec<f64> },
}

impl Upper {
    /// For random votes q is the exact probability that the likeliest class is not printed: the theorem holds for any
    /// mechanism with the RDP of GNMax, training included. For fixed votes q is the union bound of the literature.
    pub fn new(model: &VoteModel, noise: Noise, law: &OutcomeLaw) -> Self {
        let fixed = match model {
            VoteModel::PromptPate(model) => Some((model.histogram(), model.histogram_neighbor())),
            _ => None,
        };
        // Equal votes are a moved vote that did not matter.
        let moved =
            fixed.is_none_or(|(votes, other)| votes == other || votes.adjacency_to(other) == Some(Adjacency::Moved));
        let shifts = || -> Vec<f64> {
            let differences = |(votes, other): (&leakbound::VoteHistogram, &leakbound::VoteHistogram)| {
                votes.counts().iter().zip(other.counts()).map(|(&a, &b)| a.abs_diff(b) as f64).collect()
            };
            fixed.map(differences).unwrap_or_default()
        };
        match noise {
            Noise::Gaussian(sigma) if moved => {
                let log_q = fixed
                    .map_or_else(|| law.complement()[law.mode()].ln(), |(votes, _)| log_flip_probability(votes, sigma));
                Self::Gnmax { sigma, log_q }
            }
            Noise::Gaussian(sigma) => {
                let sensitivity = shifts().iter().map(|shift| shift * shift).sum::<f64>().sqrt();
                Self::Gaussian { sigma, sensitivity }
            }
            Noise::Laplace(b) if moved => Self::Lnmax { b },
            Noise::Laplace(b) => {
                Self::Laplace { b, shifts: shifts().into_iter().filter(|shift| *shift > 0.0).collect() }
            }
        }
    }

    pub fn names(&self) -> Vec<&'static str> {
        match self {
            Self::Gnmax { .. } => vec!["gnmax-data-dependent", "gnmax-data-independent"],
            Self::Gaussian { .. } => vec!["gaussian"],
            Self::Lnmax { .. } => vec!["lnmax-data-independent"],
            Self::Laplace { .. } => vec!["laplace"],
        }
    }

    /// RDP promised under a name; infinite under a name that is not among [`Upper::names`].
    pub fn rdp(&self, name: &str, order: Order) -> f64 {
        match self {
            Self::Gnmax { sigma, log_q } if name == "gnmax-data-dependent" => {
                gnmax_data_dependent(order, *sigma, *log_q)
            }
            Self::Gnmax { sigma, .. } if name == "gnmax-data-independent" => gnmax_data_independent(order, *sigma),
            Self::Gaussian { sigma, sensitivity } if name == "gaussian" => gaussian_rdp(order, *sigma, *sensitivity),
            Self::Lnmax { b } if name == "lnmax-data-independent" => lnmax_data_independent(order, *b),
            // A count that changes by several votes is a count with less noise.
            Self::Laplace { b, shifts } if name == "laplace" => shifts
                .iter()
                .map(|shift| NoiseScale::new(b.get() / shift).map_or(f64::INFINITY, |b| laplace_rdp(order, b)))
                .sum(),
            _ => f64::INFINITY,
        }
    }

    /// The bound under a name, a theorem without sampling.
    pub fn bound(&self, name: &'static str, order: Order) -> UpperBound {
        UpperBound { value: self.rdp(name, order), name, validity: Validity::Exact }
    }
}
