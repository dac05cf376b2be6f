//! Canaries that are gradients: directions in the space of the parameters.

use super::plan::DpSgdBudget;
use crate::checks::{reject, unavailable};
use crate::seed::{Purpose, stream};
use leakbound::error::Result;
use leakbound::mechanism::SubsampledGaussian;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use tch::{Device, Kind, Tensor};

/// Gradients that join the training of one network or not, each by its own coin, and the score of each.
///
/// Canary i is a unit vector v_i in the space of the parameters; these are orthogonal, so no canary disturbs another.
/// With its coin up it joins each step with probability q, the sampling rate, as a clipped gradient R v_i. Let x be the
/// noisy sum of a step along v_i, less the part of the images, in units of R: normal noise of deviation σ, and 1 more
/// if the canary joined. The score is the log likelihood ratio of all steps, Σ ln(1 - q + q e^{(x - 1/2)/σ²}): the
/// knowledge of an adversary who knows the images and all models of the training. No attack on the subsampled Gaussian
/// mechanism shows more.
#[derive(Debug)]
pub(crate) struct GradientCanaries {
    /// [canary, place]: the parameters of each canary, which no other has.
    places: Tensor,
    /// [canary, place]: its values there.
    weights: Tensor,
    /// Canaries whose coin is up.
    members: Vec<i64>,
    mechanism: SubsampledGaussian,
    sample: ChaCha8Rng,
    /// \[canary\]: high scores mean members.
    pub scores: Vec<f64>,
}

impl GradientCanaries {
    /// Canaries with these coins in `parameters` parameters, each with an equal share of them (`spread`), with random
    /// signs, or with one.
    ///
    /// # Errors
    /// [`Error::Rejected`](leakbound::Error::Rejected) for more canaries than parameters.
    pub fn new(
        coins: &[bool],
        (parameters, device): (usize, Device),
        spread: bool,
        budget: &DpSgdBudget,
        seed: u64,
    ) -> Result<Self> {
        let canaries = coins.len();
        if canaries > parameters {
            let reason =
                format!("{canaries} canaries need at least as many parameters, but the network has {parameters}");
            return reject("gradients of canaries", reason);
        }
        let width = if spread { parameters / canaries.max(1) } else { 1 };
        let mut draws = stream(seed, Purpose::Canaries, 1, 0);
        let mut places: Vec<i64> = (0..parameters as i64).collect();
        places.shuffle(&mut draws);
        places.truncate(canaries * width);
        let size = (width as f64).sqrt().recip();
        let weights: Vec<f64> = places.iter().map(|_| if draws.random::<bool>() { size } else { -size }).collect();
        let shaped = |values: Tensor| values.view([canaries as i64, width as i64]).to_device(device);
        let members = coins.iter().enumerate().filter(|(_, coin)| **coin).map(|(canary, _)| canary as i64);
        Ok(Self {
            places: shaped(Tensor::from_slice(&places)),
            weights: shaped(Tensor::from_slice(&weights)),
            members: members.collect(),
            mechanism: SubsampledGaussian { sigma: budget.noise_multiplier, rate: budget.steps.rate },
            sample: stream(seed, Purpose::CanarySample, 0, 0),
            scores: vec![0.0; canaries],
        })
    }

    /// Adds the canaries of the next step, of norm R each, to the sum of clipped gradients. Returns what the sum was
    /// along each canary before, [canary].
    pub fn join(&mut self, sums: &mut [Tensor], clipping_norm: f64) -> Tensor {
        let before = self.along(sums);
        let rate = self.mechanism.rate.get();
        let joining: Vec<i64> = self.members.iter().copied().filter(|_| self.sample.random_bool(rate)).collect();
        let rows = Tensor::from_slice(&joining).to_device(self.places.device());
        let [places, weights] = [&self.places, &self.weights].map(|table| table.index_select(0, &rows).flatten(0, -1));
        let mut start = 0;
        for sum in sums {
            let end = start + sum.numel() as i64;
            let here = places.ge(start).logical_and(&places.lt(end));
            let (at, values) = (places.masked_select(&here) - start, weights.masked_select(&here) * clipping_norm);
            let _ = sum.view(-1).index_add_(0, &at, &values.to_kind(Kind::Float));
            start = end;
        }
        before
    }

    /// Adds the evidence in the noisy sum of a step to the scores; `before` as [`join`](Self::join) returned it.
    ///
    /// # Errors
    /// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch cannot read the numbers.
    pub fn observe(&mut self, sums: &[Tensor], before: &Tensor, clipping_norm: f64) -> Result<()> {
        let along = (self.along(sums) - before) / clipping_norm;
        let along = Vec::<f64>::try_from(along).map_err(unavailable("gradients of canaries"))?;
        for (score, x) in self.scores.iter_mut().zip(along) {
            *score += self.mechanism.log_likelihood_ratio(x);
        }
        Ok(())
    }

    /// The inner product of a gradient with each canary, [canary].
    fn along(&self, parts: &[Tensor]) -> Tensor {
        let flat = Tensor::cat(&parts.iter().map(|part| part.flatten(0, -1)).collect::<Vec<_>>(), 0);
        let values = flat.index_select(0, &self.places.flatten(0, -1)).view_as(&self.places).to_kind(Kind::Double);
        (values * &self.weights).sum_dim_intlist([1i64].as_slice(), false, Kind::Double)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dp_sgd::accounting::DpSgdSteps;
    use leakbound::quantity::{Epsilon, NoiseScale, Probability};

    fn budget(rate: f64, sigma: f64) -> DpSgdBudget {
        DpSgdBudget {
            steps: DpSgdSteps { rate: Probability::new(rate).unwrap(), steps: 1 },
            noise_multiplier: NoiseScale::new(sigma).unwrap(),
            epsilon: Epsilon::INFINITE,
        }
    }

    fn parts() -> Vec<Tensor> {
        [[7, 3].as_slice(), &[5], &[1, 2, 2]].map(|size| Tensor::zeros(size, (Kind::Float, Device::Cpu))).into()
    }

    fn numbers(tensor: &Tensor) -> Vec<f64> {
        Vec::try_from(tensor.to_kind(Kind::Double).flatten(0, -1)).unwrap()
    }

    /// All of rate 1 join with norm R, along their own directions and no other.
    #[test]
    fn canaries_are_orthogonal_and_join_by_their_coins() {
        for (spread, canaries) in [(false, 30), (true, 7)] {
            let coins: Vec<bool> = (0..canaries).map(|canary| canary % 3 != 1).collect();
            let mut found = GradientCanaries::new(&coins, (30, Device::Cpu), spread, &budget(1.0, 1.0), 3).unwrap();
            let mut sums = parts();
            let before = found.join(&mut sums, 0.5);
            assert!(numbers(&before).iter().all(|&value| value == 0.0));
            let along = numbers(&found.along(&sums));
            let expected: Vec<f64> = coins.iter().map(|&coin| if coin { 0.5 } else { 0.0 }).collect();
            assert!(along.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6), "{along:?}");
            let squares: f64 = sums.iter().flat_map(numbers).map(|value| value * value).sum();
            let members = coins.iter().filter(|&&coin| coin).count();
            assert!((squares - 0.25 * members as f64).abs() < 1e-5);
        }
    }

    /// The images' part does not matter, and a score is the log likelihood ratio.
    #[test]
    fn scores_are_of_what_is_beyond_the_images() {
        let score = |images: f64| {
            let mut found = GradientCanaries::new(&[true; 30], (30, Device::Cpu), false, &budget(0.5, 2.0), 1).unwrap();
            let mut sums: Vec<Tensor> = parts().iter().map(|part| part + images).collect();
            let before = found.join(&mut sums, 4.0);
            let joined: Vec<f64> = numbers(&(found.along(&sums) - &before)).iter().map(|x| (x / 4.0).round()).collect();
            found.observe(&sums, &before, 4.0).unwrap();
            (joined, found.scores)
        };
        let (joined, scores) = score(0.0);
        assert!(joined.contains(&0.0) && joined.contains(&1.0));
        for (x, score) in joined.iter().zip(&scores) {
            assert!((score - (0.5 + 0.5 * ((x - 0.5) / 4.0).exp()).ln()).abs() < 1e-12);
        }
        let (again, others) = score(9.0);
        assert!(joined == again && scores.iter().zip(&others).all(|(a, b)| (a - b).abs() < 1e-6));
    }

    #[test]
    fn there_is_a_parameter_for_each() {
        let message = GradientCanaries::new(&[true; 31], (30, Device::Cpu), false, &budget(1.0, 1.0), 3).unwrap_err();
        let expected = "gradients of canaries: 31 canaries need at least as many parameters, but the network has 30";
        assert_eq!(message.to_string(), expected);
    }
}
