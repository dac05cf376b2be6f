//! The class with the most votes, by the exponential mechanism or by permute-and-flip.

use super::one_by_one::one_by_one;
use super::pure::{finite, pure_rdp};
use super::{
    Bins, BothLosses, DataKind, LargestLoss, Mechanism, MechanismKind, Parameter, Parameters, draw, rejected, required,
};
use crate::accountant::{Statement, Theorem, WorstCases, exponential_mechanism_rdp};
use crate::distribution::{OutcomeDistribution, exponential_distribution, permute_and_flip_distribution};
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::quantity::{Epsilon, NoiseScale};
use crate::simulate::{Sampler, Stream, World};
use rand::RngExt;
use rand_distr::{Distribution, Gumbel};
use std::sync::Arc;

/// How a class is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectionRule {
    /// With probability proportional to e^{n_c/σ}: the largest count with Gumbel noise.
    Exponential,
    /// Classes in random order, each accepted with probability e^{(n_c - max n)/σ}: the largest count with exponential
    /// noise.
    PermuteAndFlip,
}

/// A class selected by its votes. Neighbors differ by one moved vote, so ε is 2/σ.
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::mechanism::{Bins, Mechanism, Selection, SelectionRule};
/// # use leakbound::quantity::{NoiseScale, Order};
/// let mechanism = Selection { rule: SelectionRule::PermuteAndFlip, sigma: NoiseScale::new(2.0)? };
/// let [votes, neighbor] = [vec![5, 5, 0], vec![6, 4, 0]].map(|votes| VoteHistogram::new(votes).unwrap());
/// let pair = (&mechanism as &dyn Mechanism).output_pair(&votes, &neighbor, Bins::at(None))?;
/// let order = Order::new(8.0)?;
/// for theorem in mechanism.theorems() {
///     let bound = theorem.at(order, Direction::Forward).unwrap().value;
///     assert!(pair.renyi(Direction::Forward, order) <= bound && bound < 1.0);
/// }
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// McSherry and Talwar (2007), "Mechanism design via differential privacy"; McKenna and Sheldon (2020),
/// "Permute-and-flip".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Selection {
    /// The rule.
    pub rule: SelectionRule,
    /// The scale of the noise, 2/ε.
    pub sigma: NoiseScale,
}

/// A class with probability proportional to e^{n/sigma}.
pub const EXPONENTIAL: &MechanismKind = &MechanismKind {
    name: "exponential",
    example: "exponential:sigma=2",
    data: DataKind::Votes,
    parameters: &[Parameter::noise("sigma")],
    releases: Some(
        "a class, with probability proportional to e^(votes/`sigma`): the most votes, each count with Gumbel noise",
    ),
    theorems: &[&BOUNDED_RANGE],
    // Of range ε = 2/σ, so D_α <= α ε²/8 = α/(2σ²).
    noise_hides: true,
    read: |parameters| Ok(Arc::new(Selection { rule: SelectionRule::Exponential, sigma: parameters.scale("sigma")? })),
    draw_data: draw::votes,
    draw: |stream, _| Some(Arc::new(Selection { rule: SelectionRule::Exponential, sigma: draw::scale(stream)? })),
};

/// Classes in random order, each accepted with probability e^{(n - max n)/sigma}.
pub const PERMUTE_AND_FLIP: &MechanismKind = &MechanismKind {
    name: "permute-and-flip",
    example: "permute-and-flip:sigma=2",
    releases: Some(
        "classes in random order, each taken with probability e^((votes - most votes)/`sigma`): the most votes, each \
         count with exponential noise",
    ),
    theorems: &[&PURE],
    // D_α <= α ε²/2 = 2α/σ² (Bun and Steinke 2016, Proposition 3.3).
    noise_hides: true,
    read: |parameters| {
        Ok(Arc::new(Selection { rule: SelectionRule::PermuteAndFlip, sigma: parameters.scale("sigma")? }))
    },
    draw: |stream, _| Some(Arc::new(Selection { rule: SelectionRule::PermuteAndFlip, sigma: draw::scale(stream)? })),
    ..*EXPONENTIAL
};

static BOUNDED_RANGE: Statement = Statement::for_any_data(
    "exponential-bounded-range",
    "a class chosen by the exponential mechanism",
    "Dong, Durfee and Rogers (2020), the largest divergence of a bounded range",
);
static PURE: Statement = Statement::for_any_data(
    "permute-and-flip-pure",
    "a class chosen by permute-and-flip",
    "McKenna and Sheldon (2020), Theorem 1, with Mironov (2017), Proposition 5",
);

impl Selection {
    /// ε of a moved vote: one count grows by 1 and another falls by 1. `None` if it overflows, which gives no
    /// guarantee.
    fn epsilon(self) -> Option<Epsilon> {
        finite(2.0 / self.sigma.get())
    }

    /// The theorem of the rule.
    #[must_use]
    pub fn theorems(&self) -> Vec<Theorem> {
        let Some(epsilon) = self.epsilon() else { return Vec::new() };
        vec![match self.rule {
            SelectionRule::Exponential => {
                Theorem::alike(&BOUNDED_RANGE, move |order| exponential_mechanism_rdp(order, epsilon))
            }
            // No pure DP mechanism leaks more than randomized response (Kairouz, Oh and Viswanath 2015).
            SelectionRule::PermuteAndFlip => Theorem::alike(&PURE, move |order| pure_rdp(order, epsilon)),
        }]
    }
}

impl Mechanism for Selection {
    fn kind(&self) -> &'static MechanismKind {
        match self.rule {
            SelectionRule::Exponential => EXPONENTIAL,
            SelectionRule::PermuteAndFlip => PERMUTE_AND_FLIP,
        }
    }

    fn parameters(&self) -> Parameters {
        Parameters::default().with("sigma", self.sigma.get())
    }

    fn theorems_for(&self, _: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        self.theorems()
    }

    fn treats_classes_alike(&self) -> bool {
        true
    }

    fn largest_loss(&self, _: &VoteHistogram) -> LargestLoss {
        // One count grows by 1 and another falls by 1.
        LargestLoss::over(2.0, self.sigma)
    }

    fn output_distribution(&self, data: &VoteHistogram, _: Bins) -> Result<OutcomeDistribution> {
        match self.rule {
            SelectionRule::Exponential => exponential_distribution(data, self.sigma),
            SelectionRule::PermuteAndFlip => permute_and_flip_distribution(data, self.sigma),
        }
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, _: Bins) -> Result<Box<dyn Sampler>> {
        let reason = format_args!("{} classes, and {} of the neighbor", data.classes(), neighbor.classes());
        required(data.classes() == neighbor.classes(), reason)?;
        let deficits = [data, neighbor].map(|votes| {
            let most = votes.counts().iter().copied().max().unwrap_or(0);
            votes.counts().iter().map(|&count| (most - count) as f64 / self.sigma.get()).collect::<Vec<f64>>()
        });
        Ok(match self.rule {
            SelectionRule::Exponential => {
                // The largest count with Gumbel noise: the definition, independent of the computed distribution.
                let noise = Gumbel::<f64>::new(0.0, 1.0).map_err(|error| rejected(error.to_string()))?;
                one_by_one(data.classes(), move |world, stream| {
                    let noisy = deficits[world.index()].iter().map(|deficit| noise.sample(stream) - deficit);
                    let later = |best: (usize, f64), next: (usize, f64)| if next.1 > best.1 { next } else { best };
                    noisy.enumerate().fold((0, f64::NEG_INFINITY), later).0
                })
            }
            SelectionRule::PermuteAndFlip => {
                let chances =
                    deficits.map(|deficits| deficits.into_iter().map(|deficit| libm::exp(-deficit)).collect());
                Box::new(FlipSampler { chances })
            }
        })
    }

    fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram, _: usize) -> Result<BothLosses> {
        (self as &dyn Mechanism).known_losses(data, neighbor)
    }
}

/// Permute-and-flip as published.
struct FlipSampler {
    chances: [Vec<f64>; 2],
}

impl Sampler for FlipSampler {
    fn outcomes(&self) -> usize {
        self.chances[0].len()
    }

    fn sample_block(&self, world: World, stream: &mut Stream, samples: u64, counts: &mut [u64]) {
        let chances = &self.chances[world.index()];
        let mut order: Vec<usize> = (0..chances.len()).collect();
        for _ in 0..samples {
            // Any order is as good a random start as any other.
            for place in 0..order.len() {
                let other = stream.random_range(place..order.len());
                order.swap(place, other);
                let class = order[place];
                // The class with the most votes is always accepted.
                if stream.random_bool(chances[class]) {
                    counts[class] += 1;
                    break;
                }
            }
        }
    }
}
