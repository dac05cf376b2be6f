//! Randomized response that knows a prior.

use crate::error::{Error, Result};
use crate::order;
use crate::quantity::Epsilon;
use rand::{Rng, RngExt};

/// Randomized response among the classes that are likely under a prior: RRWithPrior.
///
/// Let Y be the k classes with the largest prior probabilities. The answer to a label y in Y is y with probability
/// e^ε/(e^ε + k - 1) and each other class of Y with probability 1/(e^ε + k - 1); the answer to any other label is
/// uniform over Y. Among all k, the k used is the one whose answer is most often the label if labels follow the prior:
/// ```text
/// k = argmax_k  e^ε/(e^ε + k - 1) · Σ_{y in Y_k} prior(y),
/// ```
/// the smallest one among ties. With k = C, the number of classes, it is plain randomized response.
///
/// It is ε-differentially private for the label, whatever the prior: an answer in Y has one of the probabilities
/// e^ε/(e^ε + k - 1), 1/k and 1/(e^ε + k - 1), which are in this order; the first is at most e^ε times the last. The
/// prior must not depend on this label. Doubles of finite precision: fit for experiments, not for releases.
///
/// # Example
/// ```
/// # use leakbound::label_dp::PriorResponse;
/// # use leakbound::quantity::Epsilon;
/// let response = PriorResponse::new(&[0.05, 0.5, 0.45], Epsilon::new(3f64.ln())?)?;
/// // k = 1: 0.5. k = 2: 3/4 · 0.95 = 0.71. k = 3: 3/5.
/// assert_eq!(response.answers(), [1, 2]);
/// assert_eq!(response.distribution(2)?, [0.0, 0.25, 0.75]);
/// assert_eq!(response.distribution(0)?, [0.0, 0.5, 0.5]);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Ghazi, Golowich, Kumar, Manurangsi and Zhang (2021), "Deep learning with label differential privacy", Algorithms 1
/// and 2 and Theorems 1 and 3; Warner (1965) for plain randomized response.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorResponse {
    /// Y, the most likely class first.
    answers: Vec<usize>,
    classes: usize,
    /// e^-ε.
    odds: f64,
}

impl PriorResponse {
    /// The response for a prior: one weight per class, which need not sum to 1. Among equal weights the first classes
    /// are taken.
    ///
    /// # Errors
    /// [`Error::Length`] without a class; [`Error::Domain`] for a weight that is negative or not finite, or if all are 0.
    pub fn new(prior: &[f64], epsilon: Epsilon) -> Result<Self> {
        Error::check_length(!prior.is_empty(), "prior", 0, "at least 1 class")?;
        Error::check_domain_of_all(prior, |weight| (0.0..f64::INFINITY).contains(&weight), "prior weight", "[0, inf)")?;
        Error::check_domain(!prior.iter().all(|&weight| weight == 0.0), "sum of the prior", 0.0, "(0, inf)")?;
        let odds = libm::exp(-epsilon.get());
        let mut answers = order::positions(prior.len(), |a, b| prior[b].total_cmp(&prior[a]));
        let (mut inside, mut best) = (0.0, (f64::NEG_INFINITY, 0));
        for (others, &class) in answers.iter().enumerate() {
            inside += prior[class];
            let right = inside * truth(others + 1, odds);
            if right > best.0 {
                best = (right, others + 1);
            }
        }
        answers.truncate(best.1);
        Ok(Self { answers, classes: prior.len(), odds })
    }

    /// Plain randomized response among all classes.
    ///
    /// # Errors
    /// [`Error::Length`] without a class.
    pub fn uniform(classes: usize, epsilon: Epsilon) -> Result<Self> {
        Error::check_length(classes > 0, "classes", 0, "at least 1")?;
        Ok(Self { answers: (0..classes).collect(), classes, odds: libm::exp(-epsilon.get()) })
    }

    /// Y: the classes that may be answered, the most likely first.
    #[must_use]
    pub fn answers(&self) -> &[usize] {
        &self.answers
    }

    /// The probability of each class as the answer to a label.
    ///
    /// # Errors
    /// [`Error::Domain`] for a label that is not a class.
    pub fn distribution(&self, label: usize) -> Result<Vec<f64>> {
        self.check(label)?;
        let likely = self.answers.len();
        let (of_label, of_others) = if self.answers.contains(&label) {
            let truth = truth(likely, self.odds);
            (truth, truth * self.odds)
        } else {
            let share = 1.0 / likely as f64;
            (share, share)
        };
        let mut distribution = vec![0.0; self.classes];
        for &class in &self.answers {
            distribution[class] = if class == label { of_label } else { of_others };
        }
        Ok(distribution)
    }

    /// An answer to a label.
    ///
    /// # Errors
    /// [`Error::Domain`] for a label that is not a class.
    pub fn draw(&self, label: usize, stream: &mut impl Rng) -> Result<usize> {
        self.check(label)?;
        let likely = self.answers.len();
        let Some(place) = self.answers.iter().position(|&class| class == label) else {
            return Ok(self.answers[stream.random_range(0..likely)]);
        };
        if likely == 1 || stream.random::<f64>() < truth(likely, self.odds) {
            return Ok(label);
        }
        let other = stream.random_range(0..likely - 1);
        Ok(self.answers[if other < place { other } else { other + 1 }])
    }

    fn check(&self, label: usize) -> Result<()> {
        Error::check_domain(label < self.classes, "label", label as f64, "the classes")
    }
}

/// e^ε/(e^ε + k - 1) from e^-ε, which does not overflow.
fn truth(likely: usize, odds: f64) -> f64 {
    1.0 / (1.0 + (likely - 1) as f64 * odds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const EPSILONS: [f64; 8] = [0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 30.0];

    /// All priors of 4 classes on a grid of tenths.
    fn priors() -> Vec<[f64; 4]> {
        let tenths = || 0..=10usize;
        let all = tenths().flat_map(|a| tenths().flat_map(move |b| tenths().map(move |c| [a, b, c])));
        let inside = all.filter(|abc| abc.iter().sum::<usize>() <= 10);
        inside.map(|[a, b, c]| [a, b, c, 10 - a - b - c].map(|share| share as f64 / 10.0)).collect()
    }

    /// The ratio of the probabilities of an answer given two labels is at most e^ε, and e^ε for some prior.
    #[test]
    fn no_answer_tells_more_than_epsilon() {
        for epsilon in EPSILONS {
            let mut largest: f64 = 0.0;
            for prior in priors() {
                let response = PriorResponse::new(&prior, Epsilon::new(epsilon).unwrap()).unwrap();
                let distributions: Vec<_> = (0..4).map(|label| response.distribution(label).unwrap()).collect();
                for (first, second) in distributions.iter().flat_map(|p| distributions.iter().map(move |q| (p, q))) {
                    assert!((first.iter().sum::<f64>() - 1.0).abs() < 1e-15);
                    for (p, q) in first.iter().zip(second) {
                        assert_eq!(*p > 0.0, *q > 0.0, "{prior:?}");
                        if *p > 0.0 {
                            largest = largest.max(p / q);
                        }
                    }
                }
            }
            println!("ε {epsilon}: largest ln ratio {}", largest.ln());
            assert!((largest / epsilon.exp() - 1.0).abs() < 1e-15 * epsilon.max(1.0), "{epsilon}: {largest}");
        }
    }

    /// Compared with all k, none of which is right more often, and with its own distribution.
    #[test]
    fn no_other_number_of_answers_is_right_more_often() {
        for (prior, epsilon) in priors().iter().flat_map(|prior| EPSILONS.map(move |epsilon| (prior, epsilon))) {
            let response = PriorResponse::new(prior, Epsilon::new(epsilon).unwrap()).unwrap();
            let right: f64 = (0..4).map(|label| prior[label] * response.distribution(label).unwrap()[label]).sum();
            let mut sorted = *prior;
            order::falling(&mut sorted);
            for k in 1..=4 {
                let other = sorted[..k].iter().sum::<f64>() * epsilon.exp() / (epsilon.exp() + k as f64 - 1.0);
                assert!(other <= right + 1e-15, "{prior:?}, ε {epsilon}, k {k}: {other} {right}");
            }
        }
    }

    #[test]
    fn a_flat_prior_is_plain_randomized_response() {
        let epsilon = Epsilon::new(1.5).unwrap();
        let plain = PriorResponse::uniform(5, epsilon).unwrap();
        assert_eq!(PriorResponse::new(&[0.2; 5], epsilon).unwrap(), plain);
        let (truth, distribution) = (1.5f64.exp(), plain.distribution(3).unwrap());
        assert!((distribution[3] - truth / (truth + 4.0)).abs() < 1e-15);
        assert!((distribution[0] - 1.0 / (truth + 4.0)).abs() < 1e-15);
        // Nothing but the most likely class is left to answer at ε = 0.
        assert_eq!(PriorResponse::new(&[0.1, 0.5, 0.4], Epsilon::ZERO).unwrap().answers(), [1]);
    }

    /// 40,000 draws for each of two labels: every class within five standard errors (false alarms: 6 in 10^6).
    #[test]
    fn draws_have_the_distribution() {
        const DRAWS: usize = 40_000;
        let response = PriorResponse::new(&[0.3, 0.02, 0.4, 0.28], Epsilon::new(1.0).unwrap()).unwrap();
        assert_eq!(response.answers(), [2, 0, 3]);
        let mut stream = ChaCha8Rng::seed_from_u64(11);
        for label in [1, 0] {
            let mut counts = [0u32; 4];
            for _ in 0..DRAWS {
                counts[response.draw(label, &mut stream).unwrap()] += 1;
            }
            let expected = response.distribution(label).unwrap();
            println!("{label}: {counts:?}, {expected:?}");
            for (count, p) in counts.into_iter().zip(expected) {
                let error = f64::from(count) - DRAWS as f64 * p;
                assert!(error.abs() <= 5.0 * (DRAWS as f64 * p * (1.0 - p)).sqrt());
            }
        }
    }

    #[test]
    fn extremes() {
        let infinite = PriorResponse::uniform(3, Epsilon::INFINITE).unwrap();
        assert_eq!(infinite.distribution(1).unwrap(), [0.0, 1.0, 0.0]);
        let one = Epsilon::new(1.0).unwrap();
        assert_eq!(PriorResponse::uniform(1, one).unwrap().distribution(0).unwrap(), [1.0]);
        let message = |prior: &[f64]| PriorResponse::new(prior, one).unwrap_err().to_string();
        assert_eq!(message(&[]), "prior has length 0; expected at least 1 class");
        assert_eq!(message(&[1.0, f64::NAN]), "prior weight = NaN is not in [0, inf)");
        assert_eq!(message(&[0.0, 0.0]), "sum of the prior = 0 is not in (0, inf)");
        assert!(PriorResponse::uniform(0, one).is_err());
        assert!(infinite.distribution(3).is_err() && infinite.draw(3, &mut ChaCha8Rng::seed_from_u64(0)).is_err());
    }
}
