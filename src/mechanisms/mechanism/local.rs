//! One voter who answers by a protocol of local differential privacy.

use super::local_rule::{LocalRule, MOST_CLASSES};
use super::local_sampler::ProtocolSampler;
use super::one_by_one::one_by_one;
use super::pure::finite;
use super::randomized_response::only_vote;
use super::{
    Bins, BothLosses, DataKind, LargestLoss, Mechanism, MechanismKind, Parameter, Parameters, draw, rejected, required,
};
use crate::accountant::{
    Statement, Theorem, WorstCases, local_hashing_rdp, optimized_unary_rdp, subset_selection_rdp, symmetric_unary_rdp,
};
use crate::distribution::OutcomeDistribution;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::quadrature::LogIntegral;
use crate::quantity::{Epsilon, NoiseScale};
use crate::simulate::Sampler;
use crate::special::softplus;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::f64::consts::LN_2;
use std::sync::Arc;

/// Whole numbers up to this are exact doubles.
const MOST: f64 = 9_007_199_254_740_992.0;

/// A protocol of local differential privacy. The data are the vote of one voter; neighbors differ in that vote.
///
/// An output is a vector with one bit per class that is equivalent to the report: the bits of the encoding, the classes
/// with the reported hash, or the classes in the subset. Distributions and samplers take up to 12 classes, theorems any
/// number.
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::mechanism::{Bins, LocalProtocol, LocalRule, Mechanism};
/// # use leakbound::quantity::{Epsilon, Order};
/// let epsilon = Epsilon::new(1.0)?;
/// let order = Order::new(2.0)?;
/// let [vote, other] = [vec![1, 0, 0, 0], vec![0, 1, 0, 0]].map(|votes| VoteHistogram::new(votes).unwrap());
/// for rule in [LocalRule::OptimizedUnary, LocalRule::optimized_hashing(epsilon)?, LocalRule::optimized_subsets(epsilon, 4)] {
///     let mechanism = LocalProtocol::new(rule, epsilon)?;
///     let pair = (&mechanism as &dyn Mechanism).output_pair(&vote, &other, Bins::at(None))?;
///     let exact = pair.renyi(Direction::Forward, order);
///     let bound = mechanism.theorem(4).unwrap().at(order, Direction::Forward).unwrap().value;
///     assert!(exact <= bound && bound < exact * (1.0 + 1e-12));
/// }
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Wang, Blocki, Li and Jha (2017), "Locally differentially private protocols for frequency estimation"; Ye and Barg
/// (2018), "Optimal schemes for discrete distribution estimation under locally differential privacy".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalProtocol {
    rule: LocalRule,
    /// 1/ε.
    scale: NoiseScale,
}

/// Every bit of the one-hot vector of the vote, kept or flipped with odds e^{1/(2 sigma)}.
pub const SYMMETRIC_UNARY: &MechanismKind = &MechanismKind {
    name: "symmetric-unary",
    example: "symmetric-unary:sigma=1",
    data: DataKind::OneVoter,
    // 1/ε, as for randomized response.
    parameters: &[Parameter::noise("sigma")],
    releases: Some(
        "one bit for every class, 1 for that of the one vote, each kept with probability e^(1/(2 `sigma`))/(e^(1/(2 \
         `sigma`)) + 1)",
    ),
    theorems: &[&SYMMETRIC],
    // D_α <= α ε²/2 for every pure ε.
    noise_hides: true,
    read: |parameters| LocalProtocol::read(LocalRule::SymmetricUnary, parameters),
    draw_data,
    draw: |stream, _| LocalProtocol::drawn(LocalRule::SymmetricUnary, stream),
};

/// The bit of the vote at random, every other bit of the one-hot vector flipped with odds e^{-1/sigma}.
pub const OPTIMIZED_UNARY: &MechanismKind = &MechanismKind {
    name: "optimized-unary",
    example: "optimized-unary:sigma=1",
    releases: Some(
        "one bit for every class, 1 with probability 1/2 for that of the one vote, with 1/(e^(1/`sigma`) + 1) for \
         every other",
    ),
    theorems: &[&OPTIMIZED],
    read: |parameters| LocalProtocol::read(LocalRule::OptimizedUnary, parameters),
    draw: |stream, _| LocalProtocol::drawn(LocalRule::OptimizedUnary, stream),
    ..*SYMMETRIC_UNARY
};

/// A random function, and the hash of the vote, e^{1/sigma} times as likely as each other hash.
pub const LOCAL_HASHING: &MechanismKind = &MechanismKind {
    name: "local-hashing",
    example: "local-hashing:sigma=1,hashes=4",
    releases: Some(
        "a random function from classes to `hashes` values, and its value for the one vote by randomized response",
    ),
    theorems: &[&HASHING],
    parameters: &[Parameter::noise("sigma"), Parameter::number("hashes", &[2.0, 3.0])],
    read: |parameters| {
        let hashes = parameters.in_domain("hashes", |number| whole(number, 2, "[2, 2^53]"))?;
        LocalProtocol::read(LocalRule::LocalHashing { hashes }, parameters)
    },
    draw: |stream, _| {
        let hashes = *draw::pick(stream, &[2, 2, 3, 4, 10, 1000]);
        LocalProtocol::drawn(LocalRule::LocalHashing { hashes }, stream)
    },
    ..*SYMMETRIC_UNARY
};

/// A set of classes, e^{1/sigma} times as likely if it contains the vote.
pub const SUBSET_SELECTION: &MechanismKind = &MechanismKind {
    name: "subset-selection",
    example: "subset-selection:sigma=1,size=2",
    releases: Some("`size` classes, e^(1/`sigma`) times as likely when the one vote is among them"),
    theorems: &[&SUBSETS],
    parameters: &[Parameter::noise("sigma"), Parameter::number("size", &[1.0, 2.0])],
    read: |parameters| {
        let size = parameters.in_domain("size", |number| whole(number, 1, "[1, 2^53]"))?;
        LocalProtocol::read(LocalRule::SubsetSelection { size }, parameters)
    },
    draw: |stream, _| {
        // At most the smallest number of classes.
        let size = *draw::pick(stream, &[1, 1, 2]);
        LocalProtocol::drawn(LocalRule::SubsetSelection { size }, stream)
    },
    ..*SYMMETRIC_UNARY
};

/// The vote of one voter among few classes.
fn draw_data(stream: &mut ChaCha8Rng, few: bool) -> Vec<u64> {
    let classes = if few { stream.random_range(2..=4) } else { *draw::pick(stream, &[2, 2, 3, 4, 6]) };
    let mut counts = vec![0; classes];
    counts[stream.random_range(0..classes)] = 1;
    counts
}

/// A whole number from `least` on.
fn whole(number: f64, least: u64, domain: &'static str) -> Result<u64> {
    let legal = number >= least as f64 && number <= MOST && number.fract() == 0.0;
    Error::check_domain(legal, "whole number", number, domain)?;
    Ok(number as u64)
}

static SYMMETRIC: Statement = Statement::for_any_data(
    "symmetric-unary",
    "one answer, by symmetric unary encoding",
    "Erlingsson, Pihur and Korolova (2014), the protocol, with the divergence of the two bits that differ",
);
static OPTIMIZED: Statement = Statement::for_any_data(
    "optimized-unary",
    "one answer, by optimized unary encoding",
    "Wang, Blocki, Li and Jha (2017), the protocol, with the divergence of the two bits that differ",
);
static HASHING: Statement = Statement::for_any_data(
    "local-hashing",
    "one answer, by local hashing",
    "Wang, Blocki, Li and Jha (2017), the protocol, with the divergence of the two hashes that differ",
);
static SUBSETS: Statement = Statement::for_any_data(
    "subset-selection",
    "one answer, by subset selection",
    "Ye and Barg (2018), the protocol, with the divergence of the sets that hold one of two classes",
);

impl LocalProtocol {
    /// With this ε.
    ///
    /// # Errors
    /// [`Error::Domain`] for an infinite ε and for 0; [`Error::Rejected`] for fewer than 2 hashes and for empty subsets.
    pub fn new(rule: LocalRule, epsilon: Epsilon) -> Result<Self> {
        let protocol = Self { rule, scale: NoiseScale::new(epsilon.get().recip())? };
        (protocol.kind().read)(&protocol.parameters())?;
        Ok(protocol)
    }

    fn read(rule: LocalRule, parameters: &Parameters) -> Result<Arc<dyn Mechanism>> {
        Ok(Arc::new(Self { rule, scale: parameters.scale("sigma")? }))
    }

    fn drawn(rule: LocalRule, stream: &mut ChaCha8Rng) -> Option<Arc<dyn Mechanism>> {
        Some(Arc::new(Self { rule, scale: draw::scale(stream)? }))
    }

    /// The rule.
    #[must_use]
    pub const fn rule(&self) -> LocalRule {
        self.rule
    }

    /// ε; infinite if the scale is so small that 1/ε overflows.
    fn epsilon(self) -> f64 {
        self.scale.get().recip()
    }

    /// The theorem of the rule, for this many classes; `None` if there is no such mechanism, or if ε is infinite, which
    /// gives no guarantee.
    #[must_use]
    pub fn theorem(&self, classes: usize) -> Option<Theorem> {
        let epsilon = finite(self.epsilon())?;
        let classes = classes as u64;
        if classes < 2 {
            return None;
        }
        match self.rule {
            LocalRule::SymmetricUnary => {
                Some(Theorem::alike(&SYMMETRIC, move |order| symmetric_unary_rdp(order, epsilon)))
            }
            LocalRule::OptimizedUnary => {
                Some(Theorem::alike(&OPTIMIZED, move |order| optimized_unary_rdp(order, epsilon)))
            }
            LocalRule::LocalHashing { hashes } => Some(Theorem::alike(&HASHING, move |order| {
                local_hashing_rdp(order, epsilon, hashes).unwrap_or(f64::INFINITY)
            })),
            LocalRule::SubsetSelection { size } => (size <= classes).then(|| {
                Theorem::alike(&SUBSETS, move |order| {
                    subset_selection_rdp(order, epsilon, classes, size).unwrap_or(f64::INFINITY)
                })
            }),
        }
    }

    /// The vote, if outcomes can be listed.
    fn vote(self, data: &VoteHistogram) -> Result<usize> {
        let (vote, classes) = (only_vote(data)?, data.classes());
        let reason = format_args!(
            "the outcomes of {} are listed for at most {MOST_CLASSES} classes, not for {classes}",
            self.kind()
        );
        required(classes <= MOST_CLASSES, reason)?;
        if let LocalRule::SubsetSelection { size } = self.rule
            && size > classes as u64
        {
            return Err(rejected(format!("a subset of {size} classes, of {classes}")));
        }
        required(self.epsilon() < f64::INFINITY, "an infinite epsilon always reports the vote")?;
        Ok(vote)
    }

    /// Whether a vector of bits, one per class, is an outcome.
    fn is_outcome(self, bits: usize) -> bool {
        match self.rule {
            LocalRule::SubsetSelection { size } => u64::from(bits.count_ones()) == size,
            _ => true,
        }
    }

    /// ln of the probabilities of the vectors without the bit of the vote, by their number of bits from 0 to k, and the
    /// sizes of the terms. With the bit of the vote instead of another one, ε is added in every protocol.
    fn without_vote(self, classes: usize) -> Vec<[f64; 2]> {
        let e = self.epsilon();
        let independent = |ln_missed: f64, ln_one: f64, ln_zero: f64| {
            let row = |bits: usize| {
                let terms = [ln_missed, bits as f64 * ln_one, (classes as f64 - 1.0 - bits as f64) * ln_zero];
                [terms.iter().sum(), terms.iter().map(|term| term.abs()).sum()]
            };
            (0..=classes).map(row).collect()
        };
        match self.rule {
            LocalRule::SymmetricUnary => independent(-softplus(0.5 * e), -softplus(0.5 * e), -softplus(-0.5 * e)),
            LocalRule::OptimizedUnary => independent(-LN_2, -softplus(e), -softplus(-e)),
            LocalRule::LocalHashing { hashes } => {
                let g = hashes as f64;
                independent(-softplus(e - (g - 1.0).ln()), -g.ln(), libm::log1p(-g.recip()))
            }
            LocalRule::SubsetSelection { size } => {
                // 1/(C(k-1, w) + C(k-1, w-1) e^ε), which is e^-ε for the set of all classes.
                let (inside, outside) = (size as f64, classes as f64 - size as f64);
                let sets = choose(classes as u64 - 1, size) as f64;
                let terms = if sets == 0.0 { [0.0, e] } else { [sets.ln(), softplus(e + (inside / outside).ln())] };
                vec![[-(terms[0] + terms[1]), terms[0] + terms[1]]; classes + 1]
            }
        }
    }
}

/// The binomial coefficient for few classes.
fn choose(of: u64, chosen: u64) -> u64 {
    (0..chosen).fold(1, |product, i| product * of.saturating_sub(i) / (i + 1))
}

impl Mechanism for LocalProtocol {
    fn kind(&self) -> &'static MechanismKind {
        match self.rule {
            LocalRule::SymmetricUnary => SYMMETRIC_UNARY,
            LocalRule::OptimizedUnary => OPTIMIZED_UNARY,
            LocalRule::LocalHashing { .. } => LOCAL_HASHING,
            LocalRule::SubsetSelection { .. } => SUBSET_SELECTION,
        }
    }

    fn parameters(&self) -> Parameters {
        let parameters = Parameters::default().with("sigma", self.scale.get());
        match self.rule {
            LocalRule::SymmetricUnary | LocalRule::OptimizedUnary => parameters,
            LocalRule::LocalHashing { hashes } => parameters.with("hashes", hashes as f64),
            LocalRule::SubsetSelection { size } => parameters.with("size", size as f64),
        }
    }

    fn theorems_for(&self, data: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        self.theorem(data.classes()).into_iter().collect()
    }

    fn largest_loss(&self, _: &VoteHistogram) -> LargestLoss {
        LargestLoss::over(1.0, self.scale)
    }

    fn output_distribution(&self, data: &VoteHistogram, _: Bins) -> Result<OutcomeDistribution> {
        let (vote, classes, e) = (self.vote(data)?, data.classes(), self.epsilon());
        let rows = self.without_vote(classes);
        // One group for every number of bits, without and with the bit of the vote among them.
        let mut integrals = Vec::with_capacity(2 * rows.len());
        let mut multiplicity = Vec::with_capacity(2 * rows.len());
        for (bits, &[ln_missed, size]) in rows.iter().enumerate() {
            for (ln_value, others) in [(ln_missed, Some(bits)), (ln_missed + e, bits.checked_sub(1))] {
                // Whether vectors are outcomes depends on their number of bits.
                let others = others.filter(|_| self.is_outcome((1 << bits) - 1));
                let vectors = others.map_or(0, |others| choose(classes as u64 - 1, others as u64));
                multiplicity.push(vectors as f64);
                let ln_value = if vectors == 0 { f64::NEG_INFINITY } else { ln_value };
                integrals.push(LogIntegral { ln_value, error: 4.0 * f64::EPSILON * (1.0 + size + e) });
            }
        }
        let group = |bits: usize| 2 * bits.count_ones() as usize + (bits >> vote & 1);
        let of_outcome: Vec<usize> = (0..1 << classes).filter(|&bits| self.is_outcome(bits)).map(group).collect();
        OutcomeDistribution::from_groups(&of_outcome, &multiplicity, &integrals)
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, _: Bins) -> Result<Box<dyn Sampler>> {
        let (classes, votes) = (data.classes(), [self.vote(data)?, self.vote(neighbor)?]);
        let reason = format_args!("{classes} classes, and {} of the neighbor", neighbor.classes());
        required(classes == neighbor.classes(), reason)?;
        let mut outcomes = 0;
        let of_bits = (0..1 << classes).map(|bits| {
            let outcome = outcomes;
            outcomes += usize::from(self.is_outcome(bits));
            outcome
        });
        let of_bits = of_bits.collect();
        let protocol = ProtocolSampler { rule: self.rule, epsilon: self.epsilon(), classes, votes, of_bits };
        Ok(one_by_one(outcomes, move |world, stream| protocol.draw(world, stream)))
    }

    fn is_local(&self) -> bool {
        true
    }

    fn treats_classes_alike(&self) -> bool {
        true
    }

    fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram, _: usize) -> Result<BothLosses> {
        (self as &dyn Mechanism).known_losses(data, neighbor)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use crate::bound::Direction;
    use crate::quantity::Order;

    fn vote(classes: usize, class: usize) -> VoteHistogram {
        let mut counts = vec![0; classes];
        counts[class] = 1;
        VoteHistogram::new(counts).unwrap()
    }

    fn p(text: &str, classes: usize) -> Vec<f64> {
        parse(text).unwrap().output_distribution(&vote(classes, 0), Bins::at(None)).unwrap().p().to_vec()
    }

    /// Written out for a vote for the first of two or three classes, with e^ε = 2 (e^{ε/2} = 2 for the symmetric
    /// encoding).
    #[test]
    fn small_distributions_are_those_written_out() {
        let near = |found: Vec<f64>, expected: &[f64]| {
            let close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14);
            assert!(found.len() == expected.len() && close, "{found:?} {expected:?}");
        };
        let sigma = 2f64.ln().recip();
        near(p(&format!("symmetric-unary:sigma={}", 0.5 * sigma), 2), &[2.0, 4.0, 1.0, 2.0].map(|x: f64| x / 9.0));
        near(p(&format!("optimized-unary:sigma={sigma}"), 2), &[2.0, 2.0, 1.0, 1.0].map(|x: f64| x / 6.0));
        // With three hashes, the vote has the reported one with probability 2/4, another class with 1/3.
        near(p(&format!("local-hashing:sigma={sigma},hashes=3"), 2), &[2.0, 2.0, 1.0, 1.0].map(|x: f64| x / 6.0));
        // {0, 1}, {0, 2}, {1, 2}.
        near(p(&format!("subset-selection:sigma={sigma},size=2"), 3), &[0.4, 0.4, 0.2]);
        near(p("subset-selection:sigma=1,size=2", 2), &[1.0]);
    }

    /// The exact divergence equals that of the theorem, and the largest ratio of probabilities is e^ε.
    #[test]
    fn the_divergence_of_every_pair_is_the_theorem() {
        for name in ["symmetric-unary", "optimized-unary", "local-hashing", "subset-selection"] {
            for (sigma, number) in [(0.07, 3), (0.5, 2), (2.0, 4), (30.0, 2)] {
                let text = match parse(&format!("{name}:sigma={sigma}")) {
                    Ok(mechanism) => mechanism.to_string(),
                    Err(error) if error.to_string().contains("hashes") => {
                        format!("{name}:sigma={sigma},hashes={number}")
                    }
                    Err(_) => format!("{name}:sigma={sigma},size={number}"),
                };
                let mechanism = parse(&text).unwrap();
                let protocol = mechanism.downcast::<LocalProtocol>().unwrap();
                let pair = mechanism.output_pair(&vote(5, 3), &vote(5, 1), Bins::at(None)).unwrap();
                for a in [1.01, 2.0, 30.0, 1000.0] {
                    let order = Order::new(a).unwrap();
                    for direction in Direction::BOTH {
                        let bound = protocol.theorem(5).unwrap().at(order, direction).unwrap().value;
                        let exact = pair.renyi(direction, order);
                        assert!((exact / bound - 1.0).abs() < 1e-10, "{text} {a} {direction}: {exact} {bound}");
                    }
                }
                let [p, q] = pair.in_direction(Direction::Forward);
                let ratios = p.ln_p().iter().zip(q.ln_p()).map(|(p, q)| p - q);
                let largest = ratios.fold(0.0, f64::max);
                assert!((largest * sigma - 1.0).abs() < 1e-12, "{text}: {largest}");
            }
        }
    }

    #[test]
    fn what_no_protocol_takes_is_rejected_in_one_line() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert!(error("local-hashing:sigma=1").contains("hashes is missing"));
        assert!(error("local-hashing:sigma=1,hashes=1").contains("hashes: whole number = 1 is not in [2, 2^53]"));
        assert!(error("local-hashing:sigma=1,hashes=2.5").contains("hashes: "));
        assert!(error("subset-selection:sigma=1,size=0").contains("size: whole number = 0 is not in [1, 2^53]"));
        assert!(LocalProtocol::new(LocalRule::SubsetSelection { size: 0 }, Epsilon::new(1.0).unwrap()).is_err());
        assert!(LocalProtocol::new(LocalRule::OptimizedUnary, Epsilon::new(0.0).unwrap()).is_err());
        assert!(LocalRule::optimized_hashing(Epsilon::new(40.0).unwrap()).is_err());
        let fails = |text: &str, data: &VoteHistogram| {
            let mechanism = parse(text).unwrap();
            mechanism.sampler(data, data, Bins::at(None)).err().unwrap();
            mechanism.output_distribution(data, Bins::at(None)).unwrap_err().to_string()
        };
        assert!(fails("symmetric-unary:sigma=1", &vote(13, 0)).contains("at most 12 classes, not for 13"));
        assert!(fails("symmetric-unary:sigma=1e-310", &vote(2, 0)).contains("infinite epsilon"));
        assert!(fails("subset-selection:sigma=1,size=3", &vote(2, 0)).contains("a subset of 3 classes, of 2"));
        let votes = VoteHistogram::new(vec![2, 1]).unwrap();
        assert!(fails("optimized-unary:sigma=1", &votes).contains("the vote of one voter"));
        // Beyond the range of doubles, an error is returned, not something that is not a distribution.
        for text in ["symmetric-unary:sigma=1e-300", "optimized-unary:sigma=1e-4", "local-hashing:sigma=1e-3,hashes=2"]
        {
            if let Ok(distribution) = parse(text).unwrap().output_distribution(&vote(3, 0), Bins::at(None)) {
                assert!((distribution.p().iter().sum::<f64>() - 1.0).abs() < 1e-9, "{text}");
            }
        }
    }
}
