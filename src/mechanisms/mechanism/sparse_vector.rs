//! Which answers are above a threshold: above-threshold and the sparse vector technique.

use super::one_by_one::one_by_one;
use super::pure::pure_theorem;
use super::{
    Bins, BothLosses, DataKind, LargestLoss, Mechanism, MechanismKind, Parameter, Parameters, draw, rejected, required,
};
use crate::accountant::{Statement, Theorem, WorstCases, gaussian_rdp};
use crate::bound::outward::{product_up, quotient_up, sum_up, up};
use crate::distribution::{
    Noise, NoisyThreshold, OutcomeDistribution, ReportedAbove, sparse_vector_distribution, sparse_vector_outcomes,
};
use crate::error::{Result, echo};
use crate::histogram::VoteHistogram;
use crate::named::named;
use crate::quantity::{NoiseScale, Order};
use crate::simulate::{Sampler, Stream};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};
use std::collections::HashMap;
use std::sync::Arc;

/// The noise of the threshold and of the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThresholdNoise {
    /// Laplace noise.
    Laplace,
    /// Gaussian noise.
    Gaussian,
}

named!(ThresholdNoise, "noise of a threshold", [Laplace "laplace", Gaussian "gaussian"]);

impl ThresholdNoise {
    /// The noise with this scale.
    #[must_use]
    pub const fn with_scale(self, scale: NoiseScale) -> Noise {
        match self {
            Self::Laplace => Noise::Laplace(scale),
            Self::Gaussian => Noise::Gaussian(scale),
        }
    }

    fn sample(self, scale: NoiseScale, stream: &mut Stream) -> f64 {
        let noise: f64 = match self {
            Self::Gaussian => StandardNormal.sample(stream),
            Self::Laplace => {
                let size: f64 = Exp1.sample(stream);
                if stream.random_bool(0.5) { size } else { -size }
            }
        };
        noise * scale.get()
    }
}

/// Answers to queries, compared in order with one noisy threshold, each with separate noise: which of them are above.
/// After `cutoff` of them no more are examined. Neighbors differ by at most 1 in every answer, in any directions.
///
/// With a threshold T of noise scale τ (`threshold_sigma`), answers a_0, a_1, ... of noise scale σ, a cutoff c, and
/// n answers, an outcome states for each examined answer whether it was above (A) or below (B):
/// ```text
/// P(A, B) = ∫ f(t) Π_{i∈B} F(t - a_i) Π_{i∈A} S(t - a_i) dt,    S = 1 - F,
/// ```
/// with the density f of the noisy threshold. `above-threshold` has the cutoff 1, and its outcome is the first answer
/// above.
///
/// *One step for all three theorems.* Let a' be a neighbor. In the integral of its outcome substitute t + 1 for t: the
/// answers move by d_i = 1 + a_i - a'_i, which is between 0 and 2, so
/// ```text
/// Q(A, B) = ∫ f(t + 1) Π_{i∈B} F(t - a_i + d_i) Π_{i∈A} S(t - a_i + d_i) dt,    F(t - a_i + d_i) ≥ F(t - a_i).
/// ```
/// The answers below cost nothing, however many there are.
///
/// *Laplace noise is ε-differentially private with ε = 1/τ + 2c/σ.* f(t + 1) ≥ e^{-1/τ} f(t), and
/// S(z + d) ≥ e^{-2/σ} S(z) for d ≤ 2, at most c times. So Q ≥ e^{-ε} P for every outcome, and vice versa because the
/// relation is symmetric. No pure DP mechanism leaks more than binary randomized response (Kairouz, Oh and Viswanath
/// 2015), whose Rényi divergence is the theorem `sparse-vector-pure`.
///
/// *Gaussian noise*, first: the outcome is computed from n noisy answers and a threshold that is independent of the
/// data. Answers that each move by at most 1 move by at most √n together, so D_α ≤ αn/(2σ²), `sparse-vector-answers`.
///
/// *Gaussian noise*, second, for many answers. P and Q are the marginals in (A, B) of two measures of (t, A, B): the
/// integrands above. By data processing D_α(P‖Q) is at most the divergence of these,
/// ```text
/// ln[∫ f(t)^α f(t+1)^{1-α} Σ_{A,B} Π_{i∈B} F_i^α F'_i^{1-α} Π_{i∈A} S_i^α S'_i^{1-α} dt]/(α - 1),
/// ```
/// with a prime for d_i more. F_i^α F'_i^{1-α} ≤ F_i ≤ 1, because F'_i ≥ F_i. And S_i^α S'_i^{1-α} is at most that of
/// both sides of the comparison, S_i^α S'_i^{1-α} + F_i^α F'_i^{1-α}, which by data processing of two Gaussians that
/// are d_i ≤ 2 apart is at most e^{2α(α-1)/σ²}. There are at most c of these factors, and N = Σ_{k≤c} C(n, k)
/// outcomes; the integral over t of the remaining factor is e^{α(α-1)/(2τ²)}:
/// ```text
/// D_α ≤ h(α) = α [1/(2τ²) + 2c/σ²] + ln N/(α - 1).
/// ```
/// Since D_α grows with α, it is also at most h(β) for every β ≥ α, and the minimum is taken: with k the bracket, k + 2
/// √(k ln N) for α up to 1 + √(ln N/k). This is `sparse-vector-shifted-threshold`. Zhu and Wang (2020) have a related
/// but different bound, with the expected number of queries.
///
/// ```
/// # use leakbound::accountant::WorstCases;
/// # use leakbound::bound::Direction;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::mechanism::{Bins, parse};
/// # use leakbound::quantity::Order;
/// let mechanism = parse("above-threshold:noise=laplace,threshold=3,threshold_sigma=2,sigma=4")?;
/// let [answers, neighbor] = [vec![3, 1, 4], vec![4, 2, 3]].map(|answers| VoteHistogram::new(answers).unwrap());
/// let pair = mechanism.output_pair(&answers, &neighbor, Bins::at(None))?;
/// // The first answer is the threshold: it is above with probability 1/2.
/// assert!((pair.dataset().p()[0] - 0.5).abs() < 1e-14);
/// assert_eq!((mechanism.label(&answers, 2), mechanism.label(&answers, 3)), ("2".into(), "none".into()));
/// let order = Order::new(8.0)?;
/// for theorem in mechanism.theorems_for(&answers, &WorstCases::default()) {
///     assert!(pair.renyi(Direction::Forward, order) < theorem.at(order, Direction::Forward).unwrap().value);
/// }
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Dwork and Roth (2014), "The algorithmic foundations of differential privacy", Algorithm 1; Lyu, Su and Li (2017),
/// "Understanding the sparse vector technique for differential privacy", Algorithm 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseVector {
    /// The kind of noise.
    pub noise: ThresholdNoise,
    /// T.
    pub threshold: f64,
    /// τ, the scale of the noise of the threshold.
    pub threshold_sigma: NoiseScale,
    /// σ, the scale of the noise of every answer.
    pub sigma: NoiseScale,
    /// c; `None` for above-threshold, which stops at the first answer above.
    pub cutoff: Option<u32>,
}

/// The first answer above a noisy threshold.
pub const ABOVE_THRESHOLD: &MechanismKind = &MechanismKind {
    name: "above-threshold",
    example: "above-threshold:noise=laplace,threshold=10,threshold_sigma=2,sigma=4",
    data: DataKind::Answers,
    parameters: &[
        Parameter::word("noise"),
        Parameter::votes("threshold"),
        Parameter::noise("threshold_sigma"),
        Parameter::noise("sigma"),
    ],
    releases: Some(
        "the first of the answers to queries that is above the threshold, or that none is; `noise`, which is \
         `laplace` or `gaussian`, has the scale `threshold_sigma` on the threshold, drawn once, and `sigma` on every \
         answer",
    ),
    theorems: &[&PURE, &ANSWERS, &SHIFTED],
    // A pure epsilon of 3/s would need 2.25 times the limit.
    noise_hides: false,
    read: |parameters| Ok(Arc::new(SparseVector::read(parameters, None)?)),
    draw_data: draw::answers,
    draw: |stream, largest| Some(Arc::new(SparseVector::draw(stream, largest)?)),
};

/// Which answers are above a noisy threshold, up to the `cutoff`-th of them.
pub const SPARSE_VECTOR: &MechanismKind = &MechanismKind {
    name: "sparse-vector",
    example: "sparse-vector:noise=laplace,threshold=10,threshold_sigma=2,sigma=4,cutoff=2",
    releases: Some(
        "which answers are above the threshold, with the noise of `above-threshold`; after `cutoff` of them no more \
         are looked at",
    ),
    theorems: &[&PURE, &ANSWERS, &SHIFTED],
    parameters: &[
        Parameter::word("noise"),
        Parameter::votes("threshold"),
        Parameter::noise("threshold_sigma"),
        Parameter::noise("sigma"),
        Parameter::number("cutoff", &[1.0, 2.0, 3.0]),
    ],
    read: |parameters| {
        let cutoff = parameters.whole("cutoff", [1, u64::from(u32::MAX)])?;
        Ok(Arc::new(SparseVector::read(parameters, Some(cutoff as u32))?))
    },
    draw: |stream, largest| {
        let mechanism = SparseVector::draw(stream, largest)?;
        Some(Arc::new(SparseVector { cutoff: Some(stream.random_range(1..=3)), ..mechanism }))
    },
    ..*ABOVE_THRESHOLD
};

static PURE: Statement = Statement::for_any_data(
    "sparse-vector-pure",
    "above threshold with Laplace noise",
    "Lyu, Su and Li (2017), Theorem 2; for a cutoff of 1 Dwork and Roth (2014), Theorem 3.23; with Mironov (2017), \
     Proposition 5",
);
static ANSWERS: Statement = Statement::for_any_data(
    "sparse-vector-answers",
    "above threshold with Gaussian noise, few queries",
    "Mironov (2017), Proposition 7, of all noisy answers, from which the outcome is computed",
);
static SHIFTED: Statement = Statement::for_any_data(
    "sparse-vector-shifted-threshold",
    "above threshold with Gaussian noise, many queries",
    "by a shift of the threshold and the number of outcomes, derived at the mechanism; compare Zhu and Wang (2020)",
);

impl SparseVector {
    fn read(parameters: &Parameters, cutoff: Option<u32>) -> Result<Self> {
        let word = parameters.word("noise")?;
        let noise = ThresholdNoise::ALL.into_iter().find(|noise| noise.name() == word);
        let names = || ThresholdNoise::ALL.map(ThresholdNoise::name).join(" or ");
        let threshold = parameters.number("threshold")?;
        required(threshold.is_finite(), format_args!("threshold = {threshold} is not in (-inf, inf)"))?;
        Ok(Self {
            noise: noise.ok_or_else(|| rejected(format!("noise = `{}` is not {}", echo(word), names())))?,
            threshold,
            threshold_sigma: parameters.scale("threshold_sigma")?,
            sigma: parameters.scale("sigma")?,
            cutoff,
        })
    }

    /// Mostly with the threshold at the largest answer, less noise on the answers than on the threshold, and little of
    /// both: there the divergence is close to its theorem. Otherwise arbitrary.
    fn draw(stream: &mut ChaCha8Rng, largest: u64) -> Option<Self> {
        let noise = *draw::pick(stream, &[ThresholdNoise::Laplace, ThresholdNoise::Laplace, ThresholdNoise::Gaussian]);
        let close = stream.random_bool(0.7);
        let sigma = if close { NoiseScale::new(draw::between(stream, 0.05, 1.0)).ok()? } else { draw::scale(stream)? };
        let threshold_sigma = match stream.random_range(0..4u32) {
            _ if close => NoiseScale::new(draw::between(stream, 2.0, 20.0) * sigma.get()).ok()?,
            0 => sigma,
            1 => NoiseScale::new(0.5 * sigma.get()).ok()?,
            _ => draw::scale(stream)?,
        };
        let off = if close { 0.0 } else { stream.random_range(-3.0..3.0) * sigma.get() };
        let threshold = (largest as f64 + off).round();
        Some(Self { noise, threshold, threshold_sigma, sigma, cutoff: None })
    }

    /// c.
    fn most_above(&self) -> usize {
        self.cutoff.map_or(1, |cutoff| cutoff as usize)
    }

    fn noisy_threshold(&self) -> NoisyThreshold {
        NoisyThreshold {
            threshold: self.threshold,
            noise: self.noise.with_scale(self.threshold_sigma),
            answer_noise: self.noise.with_scale(self.sigma),
        }
    }

    /// The theorems for this many answers.
    #[must_use]
    pub fn theorems(&self, answers: usize) -> Vec<Theorem> {
        let (sigma, cutoff) = (self.sigma, self.most_above().min(answers) as f64);
        match self.noise {
            ThresholdNoise::Laplace => pure_theorem(&PURE, self.pure_epsilon(cutoff)).into_iter().collect(),
            ThresholdNoise::Gaussian => {
                // n is exact, its root is not.
                let together = up((answers as f64).sqrt(), 1.0);
                let (rate, ln_outcomes) = (self.gaussian_rate(cutoff), ln_outcomes(answers, self.most_above()));
                vec![
                    Theorem::alike(&ANSWERS, move |order| gaussian_rdp(order, sigma, together)),
                    Theorem::alike(&SHIFTED, move |order| shifted_threshold_rdp(order, rate, ln_outcomes)),
                ]
            }
        }
    }

    /// 1/τ + 2c/σ, rounded up.
    fn pure_epsilon(&self, cutoff: f64) -> f64 {
        let of_answers = quotient_up(product_up(2.0, cutoff), self.sigma.get());
        sum_up(quotient_up(1.0, self.threshold_sigma.get()), of_answers)
    }

    /// 1/(2τ²) + 2c/σ², rounded up.
    fn gaussian_rate(&self, cutoff: f64) -> f64 {
        let square = |scale: NoiseScale| {
            let inverse = quotient_up(1.0, scale.get());
            product_up(inverse, inverse)
        };
        sum_up(product_up(0.5, square(self.threshold_sigma)), product_up(2.0 * cutoff, square(self.sigma)))
    }
}

/// ln N, rounded up; at most n ln 2.
fn ln_outcomes(answers: usize, cutoff: usize) -> f64 {
    let n = answers as f64;
    let (mut number, mut of_size) = (0.0, 1.0);
    for size in 0..=cutoff.min(answers) {
        number += of_size;
        of_size *= (n - size as f64) / (size as f64 + 1.0);
    }
    let all = up(n * std::f64::consts::LN_2, 4.0);
    // Each size has a rounding error of three units more than the one before.
    up(up(number, 4.0 * (n + 1.0)).ln(), 4.0).min(all)
}

/// The minimum of k β + L/(β - 1) over β ≥ α, rounded up.
fn shifted_threshold_rdp(order: Order, rate: f64, ln_outcomes: f64) -> f64 {
    let beyond = order.get() - 1.0;
    // α at most 1 + √(L/k), without a quotient that may overflow.
    let value = if product_up(beyond * beyond, rate) <= ln_outcomes {
        rate + 2.0 * (rate.sqrt() * ln_outcomes.sqrt())
    } else {
        rate * order.get() + ln_outcomes / beyond
    };
    if value.is_nan() { f64::INFINITY } else { up(value, 8.0) }
}

impl Mechanism for SparseVector {
    fn kind(&self) -> &'static MechanismKind {
        if self.cutoff.is_some() { SPARSE_VECTOR } else { ABOVE_THRESHOLD }
    }

    fn parameters(&self) -> Parameters {
        let parameters = Parameters::default()
            .with_word("noise", self.noise.name())
            .with("threshold", self.threshold)
            .with("threshold_sigma", self.threshold_sigma.get())
            .with("sigma", self.sigma.get());
        match self.cutoff {
            Some(cutoff) => parameters.with("cutoff", f64::from(cutoff)),
            None => parameters,
        }
    }

    fn theorems_for(&self, data: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        self.theorems(data.classes())
    }

    fn label(&self, data: &VoteHistogram, outcome: usize) -> String {
        let outcomes = sparse_vector_outcomes(data.classes(), self.most_above()).unwrap_or_default();
        match outcomes.get(outcome) {
            None => outcome.to_string(),
            Some(outcome) if outcome.above.is_empty() => "none".into(),
            Some(outcome) => outcome.above.iter().map(usize::to_string).collect::<Vec<_>>().join(" "),
        }
    }

    fn largest_loss(&self, data: &VoteHistogram) -> LargestLoss {
        match self.noise {
            ThresholdNoise::Laplace => LargestLoss::of(self.pure_epsilon(self.most_above().min(data.classes()) as f64)),
            ThresholdNoise::Gaussian => LargestLoss::Unbounded,
        }
    }

    fn output_distribution(&self, data: &VoteHistogram, _: Bins) -> Result<OutcomeDistribution> {
        sparse_vector_distribution(data, self.noisy_threshold(), self.most_above())
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, _: Bins) -> Result<Box<dyn Sampler>> {
        let reason = format_args!("{} answers, and {} of the neighbor", data.classes(), neighbor.classes());
        required(data.classes() == neighbor.classes(), reason)?;
        let numbered = sparse_vector_outcomes(data.classes(), self.most_above())?.into_iter().enumerate();
        let outcomes: HashMap<Vec<usize>, usize> =
            numbered.map(|(number, ReportedAbove { above, .. })| (above, number)).collect();
        let answers = [data, neighbor].map(|data| data.counts().iter().map(|&count| count as f64).collect::<Vec<_>>());
        let (Self { noise, threshold, threshold_sigma, sigma, .. }, most) = (*self, self.most_above());
        // The algorithm as published.
        Ok(one_by_one(outcomes.len(), move |world, stream| {
            let noisy_threshold = threshold + noise.sample(threshold_sigma, stream);
            let noisy = answers[world.index()].iter().map(|answer| answer + noise.sample(sigma, stream));
            let above = noisy.enumerate().filter(|(_, noisy)| *noisy >= noisy_threshold);
            outcomes[&above.map(|(position, _)| position).take(most).collect::<Vec<usize>>()]
        }))
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
    use crate::distribution::OutputPair;

    fn data(counts: &[u64]) -> VoteHistogram {
        VoteHistogram::new(counts.to_vec()).unwrap()
    }

    fn pairs(mechanism: &dyn Mechanism, answers: &[u64]) -> Vec<OutputPair> {
        let answers = data(answers);
        let changes = DataKind::Answers.neighbors(&answers, false, 1_000).unwrap();
        let pair =
            |change| mechanism.output_pair(&answers, &answers.neighbor(change).unwrap(), Bins::at(None)).unwrap();
        changes.into_iter().map(pair).collect()
    }

    #[test]
    fn a_cutoff_of_one_is_above_threshold() {
        for noise in ["laplace", "gaussian"] {
            let numbers = format!("noise={noise},threshold=3,threshold_sigma=2,sigma=4");
            let one = parse(&format!("above-threshold:{numbers}")).unwrap();
            let cut = parse(&format!("sparse-vector:{numbers},cutoff=1")).unwrap();
            let answers = data(&[3, 1, 4, 1, 5]);
            let of = |mechanism: &dyn Mechanism| mechanism.output_distribution(&answers, Bins::at(None)).unwrap();
            assert_eq!(of(&*one), of(&*cut));
            let at = |mechanism: &dyn Mechanism| -> Vec<f64> {
                let theorems = mechanism.theorems_for(&answers, &WorstCases::default());
                let order = Order::new(3.0).unwrap();
                theorems.iter().map(|theorem| theorem.at(order, Direction::Forward).unwrap().value).collect()
            };
            assert_eq!(at(&*one), at(&*cut));
            assert_eq!([5, 0].map(|outcome| one.label(&answers, outcome)), ["none", "0"]);
            assert_eq!([5, 0].map(|outcome| cut.label(&answers, outcome)), ["none", "0"]);
        }
    }

    #[test]
    fn an_outcome_is_called_by_the_answers_above() {
        let mechanism = parse("sparse-vector:noise=laplace,threshold=3,threshold_sigma=2,sigma=4,cutoff=2").unwrap();
        let labels: Vec<String> = (0..7).map(|outcome| mechanism.label(&data(&[1, 2, 3]), outcome)).collect();
        assert_eq!(labels, ["0 1", "0 2", "0", "1 2", "1", "2", "none"]);
    }

    /// No ratio of probabilities is above e^ε against any neighbor; with a tie at the threshold and little noise, the
    /// ratio is close to it, so no smaller ε holds.
    #[test]
    fn laplace_noise_is_pure_and_no_smaller_epsilon_holds() {
        let mut closest: f64 = 0.0;
        for (answers, threshold, tau, sigma, cutoff) in [
            (&[3, 1, 4][..], 3.0, 2.0, 4.0, 1),
            (&[5, 5, 5], 5.0, 0.05, 0.05, 1),
            (&[40, 5, 5], 5.0, 0.5, 0.1, 2),
            (&[5, 5, 5, 5], 5.0, 0.2, 0.1, 3),
            (&[0, 9, 2], 3.0, 1.0, 3.0, 3),
        ] {
            let text = format!(
                "sparse-vector:noise=laplace,threshold={threshold},threshold_sigma={tau},sigma={sigma},cutoff={cutoff}"
            );
            let mechanism = parse(&text).unwrap();
            let epsilon = 1.0 / tau + 2.0 * f64::from(cutoff) / sigma;
            let mut largest: f64 = 0.0;
            for pair in pairs(&*mechanism, answers) {
                for (p, q) in pair.dataset().ln_p().iter().zip(pair.neighbor().ln_p()) {
                    largest = largest.max((p - q).abs());
                }
            }
            println!("{text} {answers:?}: {largest} of {epsilon}");
            assert!(largest <= epsilon + 1e-11, "{text}: {largest} {epsilon}");
            closest = closest.max(largest / epsilon);
        }
        assert!(closest > 0.95, "{closest}");
    }

    /// Both theorems of Gaussian noise against every neighbor; the second grows with the order and is the smaller one
    /// for many answers.
    #[test]
    fn gaussian_noise_is_below_its_theorems() {
        for (answers, threshold, tau, sigma, cutoff) in [
            (&[3, 1, 4][..], 3.0, 2.0, 4.0, 1),
            (&[5, 5, 5, 5], 5.0, 1.0, 0.5, 1),
            (&[5, 5, 5, 5], 5.0, 0.1, 0.5, 2),
            (&[0, 9, 2], 3.0, 1.0, 3.0, 3),
        ] {
            let text = format!(
                "sparse-vector:noise=gaussian,threshold={threshold},threshold_sigma={tau},sigma={sigma},cutoff={cutoff}"
            );
            let mechanism = parse(&text).unwrap();
            let theorems = mechanism.theorems_for(&data(answers), &WorstCases::default());
            assert_eq!(theorems.len(), 2);
            for pair in pairs(&*mechanism, answers) {
                for order in [1.01, 2.0, 8.0, 64.0].map(|order| Order::new(order).unwrap()) {
                    for theorem in &theorems {
                        let bound = theorem.at(order, Direction::Forward).unwrap().value;
                        let exact = pair.renyi(Direction::Forward, order);
                        assert!(exact <= bound * (1.0 + 1e-12), "{text} {order} {}: {exact} {bound}", theorem.name());
                    }
                }
            }
        }
        let many = parse("above-threshold:noise=gaussian,threshold=0,threshold_sigma=4,sigma=8").unwrap();
        let theorems = many.theorems_for(&data(&[1; 1_000]), &WorstCases::default());
        let at = |order: f64| {
            let order = Order::new(order).unwrap();
            [0, 1].map(|theorem: usize| theorems[theorem].at(order, Direction::Forward).unwrap().value)
        };
        let rate = 1.0 / 32.0 + 2.0 / 64.0;
        let [all, shifted] = at(40.0);
        assert!((all - 40.0 * 1_000.0 / 128.0).abs() < 1e-9 && shifted < 0.01 * all, "{all} {shifted}");
        assert!((shifted - (40.0 * rate + 1_001f64.ln() / 39.0)).abs() < 1e-9, "{shifted}");
        // Up to order 1 + √(ln N/k), it is the same.
        let least = rate + 2.0 * (rate * 1_001f64.ln()).sqrt();
        assert!([1.001, 2.0, 11.0].iter().all(|&order| (at(order)[1] - least).abs() < 1e-9), "{:?}", at(2.0));
        assert!(at(12.0)[1] > least);
        assert!((ln_outcomes(5, 2) - 16f64.ln()).abs() < 1e-12 && ln_outcomes(5_000, 5_000) < 3_466.0);
    }

    #[test]
    fn what_is_no_mechanism_is_rejected() {
        let rejected = |text: &str| parse(text).map(|_| ()).unwrap_err().to_string();
        let rest = "threshold_sigma=1,sigma=1";
        assert!(
            rejected(&format!("above-threshold:noise=gumbel,threshold=1,{rest}")).contains("is not laplace or gauss")
        );
        assert!(rejected(&format!("above-threshold:noise=laplace,threshold=nan,{rest}")).contains("threshold = NaN"));
        assert!(rejected(&format!("above-threshold:noise=laplace,{rest}")).contains("threshold is missing"));
        for cutoff in ["0", "1.5", "-1", "1e10", "nan"] {
            let text = format!("sparse-vector:noise=laplace,threshold=1,{rest},cutoff={cutoff}");
            let words = if cutoff == "1.5" { "is not a whole number" } else { "is not in [1, 4294967295]" };
            assert!(rejected(&text).contains(words), "{text}");
        }
        let mechanism = parse(&format!("sparse-vector:noise=laplace,threshold=1,{rest},cutoff=20")).unwrap();
        let error = mechanism.output_distribution(&data(&[1; 20]), Bins::at(None)).unwrap_err().to_string();
        assert!(error.contains("1048576 outcomes; at most 1000"), "{error}");
        assert!(mechanism.sampler(&data(&[1]), &data(&[1, 1]), Bins::at(None)).is_err());
    }
}
