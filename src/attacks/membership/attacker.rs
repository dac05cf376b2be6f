//! The trained attacker: a small network that tells members from others by the sorted confidences of an answer.

use super::AttackScores;
use super::shadow_scores::ShadowLogits;
use crate::error::{Error, Result};
use crate::order;
use ndarray::{Array2, Axis};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Confidences that are used, the largest first; with many classes the rest carries little information.
const MOST_INPUTS: usize = 10;

/// Units of the hidden layer.
const HIDDEN: usize = 32;

/// Answers that one network is trained on; if there are more, this many are drawn.
const MOST_ANSWERS: usize = 100_000;

/// Passes over them, and answers of one step.
const PASSES: usize = 20;
const BATCH: usize = 64;

/// Adam (Kingma and Ba 2015) with its published constants and ten times its step.
const STEP: f64 = 1e-2;
const MOMENTS: [f64; 2] = [0.9, 0.999];

/// The trained attacker on recorded logits.
///
/// The models are split into two halves, those of even and those of odd number. For each half a network (10 inputs at
/// most, 32 hidden rectified units, one logistic output) is trained on the answers of the other half to tell training
/// samples from others; its output on a victim's answer is the score. **High means member.** Its inputs are the
/// confidences p, largest first, each as ln(p + 1e-6), averaged over the views and standardized: the attacker knows
/// neither the label nor the sample. Every model is a victim of a network that has seen none of its answers.
///
/// The result is a function of the recording and the seed alone.
///
/// Shapes: logits \[model, sample, view, class\]; the result is \[model, sample\].
///
/// # Errors
/// [`Error::Rejected`] if a half has answers of only one kind; errors in reading the source.
///
/// # References
/// Shokri, Stronati, Song and Shmatikov (2017); Salem et al. (2019), adversary 1 (sorted confidences); Ihrig (2021),
/// section 5.2.
pub fn trained_attacker(source: &impl ShadowLogits, seed: u64) -> Result<AttackScores> {
    let members = source.members();
    let (models, samples) = members.dim();
    let inputs = source.classes().min(MOST_INPUTS);
    let features = features(source, inputs)?;
    let row = |model: usize, sample: usize| &features[(model * samples + sample) * inputs..][..inputs];
    let mut scores = Array2::zeros((models, samples));
    for half in 0..2 {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_mul(2).wrapping_add(half as u64));
        let mut answers: Vec<(usize, usize)> =
            members.indexed_iter().map(|(index, _)| index).filter(|(model, _)| model % 2 != half).collect();
        let kinds = [false, true].map(|kind| answers.iter().any(|&index| members[index] == kind));
        let reason = "half of the models, those of odd or of even number, have answers of one kind only";
        Error::check_possible(kinds == [true, true], "trained attacker", reason)?;
        shuffle(&mut answers, &mut generator, MOST_ANSWERS);
        answers.truncate(MOST_ANSWERS);
        let scale = Scale::new(answers.iter().map(|&(model, sample)| row(model, sample)), inputs);
        let mut network = Network::new(inputs, &mut generator);
        let mut input = vec![0.0; inputs];
        for _ in 0..PASSES {
            let all = answers.len();
            shuffle(&mut answers, &mut generator, all);
            for batch in answers.chunks(BATCH) {
                for &(model, sample) in batch {
                    scale.apply(row(model, sample), &mut input);
                    network.learn(&input, members[[model, sample]]);
                }
                network.step(batch.len());
            }
        }
        for ((_, sample), (model, score)) in scores
            .indexed_iter_mut()
            .filter(|((model, _), _)| model % 2 == half)
            .map(|((model, sample), score)| ((model, sample), (model, score)))
        {
            scale.apply(row(model, sample), &mut input);
            *score = network.margin(&input);
        }
    }
    AttackScores::new(scores, members.to_owned())
}

/// Logarithms of the largest confidences of every answer, averaged over the views; sample by sample within a model.
fn features(source: &impl ShadowLogits, inputs: usize) -> Result<Vec<f64>> {
    let (models, samples) = source.members().dim();
    let mut features = vec![0.0; models * samples * inputs];
    for sample in 0..samples {
        let logits = source.logits(sample..sample + 1)?;
        for model in 0..models {
            let into = &mut features[(model * samples + sample) * inputs..][..inputs];
            for view in logits.index_axis(Axis(0), model).index_axis(Axis(0), 0).rows() {
                let mut sorted: Vec<f64> = view.to_vec();
                order::falling(&mut sorted);
                let total: f64 = sorted.iter().map(|z| (z - sorted[0]).exp()).sum();
                for (into, z) in into.iter_mut().zip(&sorted) {
                    *into += ((z - sorted[0]).exp() / total + 1e-6).ln() / source.views() as f64;
                }
            }
        }
    }
    Ok(features)
}

/// Fisher and Yates, until the first `wanted` are drawn.
fn shuffle<T>(items: &mut [T], generator: &mut Xoshiro256PlusPlus, wanted: usize) {
    for index in 0..wanted.min(items.len()) {
        let other = generator.random_range(index..items.len());
        items.swap(index, other);
    }
}

/// Means and standard deviations of the inputs.
struct Scale {
    mean: Vec<f64>,
    deviation: Vec<f64>,
}

impl Scale {
    fn new<'a>(rows: impl Iterator<Item = &'a [f64]> + Clone, inputs: usize) -> Self {
        let (mut mean, mut deviation, mut count) = (vec![0.0; inputs], vec![0.0; inputs], 0.0);
        for row in rows.clone() {
            mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += x);
            count += 1.0;
        }
        mean.iter_mut().for_each(|mean| *mean /= count);
        for row in rows {
            deviation.iter_mut().zip(row).zip(&mean).for_each(|((d, x), mean)| *d += (x - mean) * (x - mean));
        }
        // An input that never changes stays at 0.
        deviation.iter_mut().for_each(|d| *d = (*d / count).sqrt().max(1e-12));
        Self { mean, deviation }
    }

    fn apply(&self, row: &[f64], into: &mut [f64]) {
        for (((into, x), mean), deviation) in into.iter_mut().zip(row).zip(&self.mean).zip(&self.deviation) {
            // No victim is so far out that the network leaves the range of doubles.
            *into = ((x - mean) / deviation).clamp(-1e3, 1e3);
        }
    }
}

/// One hidden layer: weights and biases of its units, then weights and bias of the output.
struct Network {
    inputs: usize,
    weights: Vec<f64>,
    gradient: Vec<f64>,
    moments: [Vec<f64>; 2],
    steps: i32,
}

impl Network {
    fn new(inputs: usize, generator: &mut Xoshiro256PlusPlus) -> Self {
        let size = HIDDEN * (inputs + 2) + 1;
        // He et al. (2015): variance 2/inputs; biases start at 0.
        let first = (2.0 / inputs as f64).sqrt();
        let second = (2.0 / HIDDEN as f64).sqrt();
        let mut weights = vec![0.0; size];
        for unit in 0..HIDDEN {
            for weight in &mut weights[unit * (inputs + 1)..][..inputs] {
                *weight = first * generator.sample::<f64, _>(StandardNormal);
            }
        }
        for weight in &mut weights[HIDDEN * (inputs + 1)..size - 1] {
            *weight = second * generator.sample::<f64, _>(StandardNormal);
        }
        Self { inputs, weights, gradient: vec![0.0; size], moments: [vec![0.0; size], vec![0.0; size]], steps: 0 }
    }

    fn hidden(&self, input: &[f64]) -> [f64; HIDDEN] {
        std::array::from_fn(|unit| {
            let weights = &self.weights[unit * (self.inputs + 1)..][..=self.inputs];
            let sum: f64 = weights.iter().zip(input).map(|(w, x)| w * x).sum();
            (sum + weights[self.inputs]).max(0.0)
        })
    }

    /// The log odds that the answer is one on a training sample.
    fn margin(&self, input: &[f64]) -> f64 {
        let output = &self.weights[HIDDEN * (self.inputs + 1)..];
        self.hidden(input).iter().zip(output).map(|(h, w)| h * w).sum::<f64>() + output[HIDDEN]
    }

    /// Adds the gradient of the log loss of one answer.
    fn learn(&mut self, input: &[f64], member: bool) {
        let hidden = self.hidden(input);
        let error = 1.0 / (1.0 + (-self.margin(input)).exp()) - f64::from(u8::from(member));
        let base = HIDDEN * (self.inputs + 1);
        for (unit, &value) in hidden.iter().enumerate() {
            self.gradient[base + unit] += error * value;
            if value > 0.0 {
                let pull = error * self.weights[base + unit];
                let row = &mut self.gradient[unit * (self.inputs + 1)..][..=self.inputs];
                row.iter_mut().zip(input).for_each(|(g, x)| *g += pull * x);
                row[self.inputs] += pull;
            }
        }
        self.gradient[base + HIDDEN] += error;
    }

    /// One step of Adam with the mean gradient of a batch.
    fn step(&mut self, batch: usize) {
        self.steps += 1;
        let correct = MOMENTS.map(|decay| 1.0 - decay.powi(self.steps));
        let [first, second] = &mut self.moments;
        for (((weight, gradient), m), v) in
            self.weights.iter_mut().zip(&mut self.gradient).zip(first.iter_mut()).zip(second.iter_mut())
        {
            let g = std::mem::take(gradient) / batch as f64;
            *m = MOMENTS[0] * *m + (1.0 - MOMENTS[0]) * g;
            *v = MOMENTS[1] * *v + (1.0 - MOMENTS[1]) * g * g;
            *weight -= STEP * (*m / correct[0]) / ((*v / correct[1]).sqrt() + 1e-8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::MemoryLogits;
    use ndarray::{Array1, Array4};

    fn recorded(seed: u64, shift: f64) -> MemoryLogits {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        let members = Array2::from_shape_simple_fn((8, 150), || generator.random::<f64>() < 0.5);
        let logits = Array4::from_shape_fn((8, 150, 1, 4), |(m, s, _, c)| {
            let noise: f64 = generator.sample(StandardNormal);
            noise + if c == s % 4 { 2.0 + shift * f64::from(u8::from(members[[m, s]])) } else { 0.0 }
        });
        MemoryLogits::new(logits, Array1::from_shape_fn(150, |s| s % 4), members).unwrap()
    }

    /// The probability that a member scores above a non-member.
    fn area(scores: &AttackScores) -> f64 {
        let of = |member: bool| -> Vec<f64> {
            let pairs = scores.scores().into_iter().zip(scores.members());
            pairs.filter(|&(_, &truth)| truth == member).map(|(&score, _)| score).collect()
        };
        let (inside, outside) = (of(true), of(false));
        let above: f64 = inside
            .iter()
            .map(|x| outside.iter().map(|y| if x > y { 1.0 } else { 0.5 * f64::from(u8::from(x == y)) }).sum::<f64>())
            .sum();
        above / (inside.len() * outside.len()) as f64
    }

    #[test]
    fn confident_members_are_found_and_equal_ones_are_not() {
        let found = trained_attacker(&recorded(1, 3.0), 0).unwrap();
        // 600 members and others: an area of 0.5 has a standard deviation of 0.017. Members of margin 5 against 2 in
        // noise of 1.4 would have 0.93 for an attacker that knew the label.
        let area_found = area(&found);
        println!("area {area_found}");
        assert!(area_found > 0.8);
        let nothing = area(&trained_attacker(&recorded(2, 0.0), 0).unwrap());
        println!("area without a difference {nothing}");
        // Five standard deviations: false alarms in 6e-7 of seeds.
        assert!((nothing - 0.5).abs() < 0.085);
        assert_eq!(trained_attacker(&recorded(1, 3.0), 0).unwrap(), found);
        assert_ne!(trained_attacker(&recorded(1, 3.0), 1).unwrap(), found);
    }

    #[test]
    fn gradients_are_those_of_the_loss() {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(4);
        let mut network = Network::new(3, &mut generator);
        let input = [0.3, -1.2, 0.7];
        network.learn(&input, true);
        let loss = |network: &Network| (-network.margin(&input)).exp().ln_1p();
        for index in 0..network.weights.len() {
            let before = network.weights[index];
            network.weights[index] = before + 1e-6;
            let above = loss(&network);
            network.weights[index] = before - 1e-6;
            let slope = (above - loss(&network)) / 2e-6;
            network.weights[index] = before;
            assert!((slope - network.gradient[index]).abs() < 1e-7, "{index}");
        }
    }

    #[test]
    fn one_kind_is_rejected_and_extremes_are_finite() {
        let members = Array2::from_elem((4, 3), true);
        let logits = MemoryLogits::new(Array4::zeros((4, 3, 1, 2)), Array1::zeros(3), members).unwrap();
        assert!(trained_attacker(&logits, 0).is_err());
        let members = Array2::from_shape_fn((4, 3), |(m, s)| (m / 2 + s) % 2 == 0);
        let logits =
            Array4::from_shape_fn((4, 3, 1, 2), |(m, s, _, c)| if (m + s + c) % 2 == 0 { 1e300 } else { -1e300 });
        let logits = MemoryLogits::new(logits, Array1::zeros(3), members).unwrap();
        assert!(trained_attacker(&logits, 0).unwrap().scores().iter().all(|score| score.is_finite()));
    }
}
