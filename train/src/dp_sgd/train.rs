//! The loop of DP-SGD.

use super::gradient_canaries::GradientCanaries;
use super::per_sample::add_clipped;
use super::plan::{DpSgdBudget, DpSgdPlan, TrainingViews};
use crate::checks::reject;
use crate::ensemble::{Ensemble, check_finite};
use crate::guard::{TrainingProgress, report};
use crate::moving_average::MovingAverage;
use crate::optimizer::OptimizerState;
use crate::seed::{Purpose, stream};
use crate::training_images::{Example, TrainingImages};
use leakbound::error::Result;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use tch::{Kind, Tensor};

/// Numbers that the gradients of the images in work take together, on a CPU (its cache) and on a GPU.
const NUMBERS_AT_ONCE: (usize, usize) = (1 << 21, 1 << 28);
/// Images in work at most.
const IMAGES_AT_ONCE: usize = 1024;

/// Everything random about the training of one network.
pub(crate) struct TrainingStreams {
    /// Which images a step takes.
    pub sample: ChaCha8Rng,
    /// Noise of gradients.
    pub noise: ChaCha8Rng,
    /// Views of images.
    pub views: ChaCha8Rng,
    /// Canaries that are gradients, and their evidence in the noisy gradients.
    pub canaries: Option<GradientCanaries>,
}

impl TrainingStreams {
    /// Those of a network of an instantiation, without canaries.
    pub fn new(seed: u64, instantiation: u64, network: usize) -> Self {
        let random = |purpose| stream(seed, purpose, instantiation, network as u64);
        Self {
            sample: random(Purpose::Sample),
            noise: random(Purpose::GradientNoise),
            views: random(Purpose::Augmentation),
            canaries: None,
        }
    }
}

/// What one network learns privately.
pub(crate) struct PrivateLesson<'a> {
    pub images: &'a TrainingImages,
    pub examples: &'a [Example],
    /// Views of each image over which gradients are averaged; none for the image itself.
    pub views: Option<TrainingViews>,
    /// \[channels, rows, columns\] of an image.
    pub shape: [usize; 3],
    pub plan: &'a DpSgdPlan,
    pub budget: &'a DpSgdBudget,
}

/// Trains an ensemble of one network, and returns it, or the moving average if the plan wants one.
///
/// A step takes each example independently with probability q, adds up their gradients, each clipped to the norm R,
/// adds normal noise of standard deviation σR to each coordinate and divides by the expected number of examples.
/// `progress` is called after each step. The doubles of the noise are fit for an experiment, not for a release that
/// must withstand attacks on floating-point noise.
///
/// # Errors
/// [`Error::Rejected`](leakbound::Error::Rejected) for a network that normalizes batches, and if the parameters become
/// infinite or NaN.
///
/// # References
/// Abadi et al. (2016), "Deep learning with differential privacy", Algorithm 1.
pub(crate) fn train_privately(
    mut network: Box<dyn Ensemble>,
    &PrivateLesson { images, examples, views, shape, plan, budget }: &PrivateLesson<'_>,
    streams: &mut TrainingStreams,
    progress: &TrainingProgress<'_>,
) -> Result<Box<dyn Ensemble>> {
    if !network.statistics().is_empty() {
        return reject("DP-SGD", "statistics of batches have no bounded share of one image; take group normalization");
    }
    let mut state = OptimizerState::new(plan.optimizer, network.parameters());
    let mut average = plan.average.map(|decay| MovingAverage::new(&*network, decay));
    let at_once = images_at_once(network.parameters());
    let deviation = budget.noise_multiplier.get() * plan.clipping_norm;
    let (rate, steps) = (budget.steps.rate.get(), budget.steps.steps);
    for step in 0..steps {
        let sample = poisson_sample(examples, rate, &mut streams.sample);
        let mut sums: Vec<Tensor> = network.parameters().iter().map(Tensor::zeros_like).collect();
        for part in sample.chunks(at_once) {
            let (inputs, targets) = images.rows(part);
            let inputs = match views {
                Some(views) => views.of(&inputs, shape, &mut streams.views),
                None => inputs.unsqueeze(1),
            };
            add_clipped(&*network, &inputs, &targets, plan.clipping_norm, &mut sums);
        }
        // What the images contribute is known to anyone who scores the canaries.
        let known = streams.canaries.as_mut().map(|canaries| canaries.join(&mut sums, plan.clipping_norm));
        for sum in &mut sums {
            *sum += normal_like(sum, deviation, &mut streams.noise);
        }
        if let Some((canaries, known)) = streams.canaries.as_mut().zip(known) {
            canaries.observe(&sums, &known, plan.clipping_norm)?;
        }
        for sum in &mut sums {
            *sum /= plan.batch as f64;
        }
        state.step(network.parameters(), &mut sums, plan.schedule.rate(step, steps));
        if let Some(average) = &mut average {
            average.follow(&mut *network);
        }
        report(progress, 1)?;
    }
    let mut network = average.map_or(network, MovingAverage::into_network);
    check_finite(network.parameters(), "DP-SGD")?;
    Ok(network)
}

/// Each example independently with probability `rate`.
fn poisson_sample(examples: &[Example], rate: f64, stream: &mut impl Rng) -> Vec<Example> {
    examples.iter().copied().filter(|_| stream.random_bool(rate)).collect()
}

/// Normal variables of mean 0.
fn normal_like(tensor: &Tensor, deviation: f64, stream: &mut impl Rng) -> Tensor {
    let draw = |_| {
        let normal: f64 = StandardNormal.sample(stream);
        (deviation * normal) as f32
    };
    let values: Vec<f32> = (0..tensor.numel()).map(draw).collect();
    Tensor::from_slice(&values).view_as(tensor).to_device(tensor.device()).to_kind(Kind::Float)
}

/// Images whose gradients are in work at the same time.
fn images_at_once(parameters: &[Tensor]) -> usize {
    let (cpu, gpu) = NUMBERS_AT_ONCE;
    let on_gpu = parameters.first().is_some_and(|parameter| parameter.device().is_cuda());
    let numbers: usize = parameters.iter().map(Tensor::numel).sum();
    (if on_gpu { gpu } else { cpu } / numbers.max(1)).clamp(1, IMAGES_AT_ONCE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dp_sgd::accounting::DpSgdSteps;
    use crate::dp_sgd::plan::GradientNoise;
    use crate::network::NetworkPlan;
    use crate::optimizer::Schedule;
    use crate::sample::{farthest, unwatched};
    use crate::training_images::one_hot;
    use leakbound::quantity::{Epsilon, Probability};
    use tch::Device;

    fn plan(noise: f64, average: Option<f64>) -> DpSgdPlan {
        DpSgdPlan { clipping_norm: 0.5, average, ..DpSgdPlan::plain(noise, 4, 1, 2.0) }
    }

    fn images() -> TrainingImages {
        let pixels: Vec<u8> = (0..40 * 6).map(|pixel| (pixel * 37 % 256) as u8).collect();
        let labels: Vec<u8> = (0..40).map(|image| image % 3).collect();
        TrainingImages::new(&pixels, &labels, 3, Device::Cpu)
    }

    fn network() -> Box<dyn Ensemble> {
        NetworkPlan::Mlp { hidden: 50 }.build(&mut [stream(1, Purpose::Weights, 0, 0)], [1, 2, 3], 3, Device::Cpu)
    }

    fn train(plan: &DpSgdPlan, rate: f64, steps: u64, examples: usize) -> Result<Box<dyn Ensemble>> {
        let examples: Vec<Example> = (0..examples as u32).map(Example::labeled).collect();
        let GradientNoise::Multiplier(noise_multiplier) = plan.noise else { unreachable!("of this test") };
        let steps = DpSgdSteps { rate: Probability::new(rate).unwrap(), steps };
        let budget = DpSgdBudget { steps, noise_multiplier, epsilon: Epsilon::INFINITE };
        let mut streams = TrainingStreams::new(1, 0, 0);
        let (images, examples, budget) = (&images(), &examples, &budget);
        let lesson = PrivateLesson { images, examples, views: None, shape: [1, 2, 3], plan, budget };
        train_privately(network(), &lesson, &mut streams, &unwatched)
    }

    fn flat(network: &mut dyn Ensemble) -> Tensor {
        Tensor::cat(&network.parameters().iter().map(|part| part.flatten(0, -1)).collect::<Vec<_>>(), 0)
    }

    /// With hardly any noise a step on all images is that of their clipped gradients.
    #[test]
    fn a_step_divides_the_clipped_sum_by_the_expected_batch() {
        let trained = flat(&mut *train(&plan(1e-9, None), 1.0, 1, 40).unwrap());
        let mut start = network();
        let mut sums: Vec<Tensor> = start.parameters().iter().map(Tensor::zeros_like).collect();
        let labels: Vec<u8> = (0..40).map(|image| image % 3).collect();
        let all = images();
        add_clipped(&*start, &all.inputs.unsqueeze(1), &one_hot(&labels, 3, Device::Cpu), 0.5, &mut sums);
        let sum = Tensor::cat(&sums.iter().map(|sum| sum.flatten(0, -1)).collect::<Vec<_>>(), 0);
        let expected = flat(&mut *start) - sum * (2.0 / 4.0);
        let error = farthest(&trained, &expected);
        assert!(error < 1e-5, "{error}");
    }

    /// A step without examples moves each of 503 parameters by rate · σR/B times a normal variable. The sum of their
    /// squares is χ², within five standard deviations but for 1e-5 of the seeds (its right tail is the heavier one).
    #[test]
    fn the_noise_has_its_variance() {
        let moved = flat(&mut *train(&plan(3.0, None), 1.0, 1, 0).unwrap()) - flat(&mut *network());
        let unit = moved.to_kind(Kind::Double) / (2.0 * 3.0 * 0.5 / 4.0);
        let count = unit.numel() as f64;
        let squares = f64::try_from(unit.square().sum(Kind::Double)).unwrap();
        println!("{squares} of {count}");
        assert_eq!(count, 503.0);
        assert!((squares - count).abs() < 5.0 * (2.0 * count).sqrt());
        let mean = f64::try_from(unit.sum(Kind::Double)).unwrap() / count.sqrt();
        assert!(mean.abs() < 5.0, "{mean}");
    }

    /// 400 samples of 1,000 examples at rate 0.03: sizes have mean 30 and variance 29.1, each within five standard
    /// errors (false alarms: 1e-6 each); every example comes up.
    #[test]
    fn samples_are_poisson() {
        let examples: Vec<Example> = (0..1000).map(Example::labeled).collect();
        let mut stream = stream(4, Purpose::Sample, 0, 0);
        let mut met = vec![0; 1000];
        let sizes: Vec<f64> = (0..400)
            .map(|_| {
                let sample = poisson_sample(&examples, 0.03, &mut stream);
                sample.iter().for_each(|example| met[example.image as usize] += 1);
                sample.len() as f64
            })
            .collect();
        let mean = sizes.iter().sum::<f64>() / 400.0;
        let variance = sizes.iter().map(|size| (size - 30.0).powi(2)).sum::<f64>() / 400.0;
        println!("mean {mean}, variance {variance}");
        assert!((mean - 30.0).abs() < 5.0 * (29.1f64 / 400.0).sqrt());
        assert!((variance - 29.1).abs() < 5.0 * 29.1 * (2.0f64 / 400.0).sqrt());
        // An example is missed by 400 samples with probability 5e-6.
        assert!(met.iter().all(|&count| count > 0));
        assert_eq!(poisson_sample(&examples, 1.0, &mut stream), examples);
    }

    #[test]
    fn two_runs_agree_and_divergence_is_an_error() {
        let run = || flat(&mut *train(&plan(1.0, Some(0.9)), 0.2, 5, 40).unwrap());
        assert_eq!(run(), run());
        let mut wild = plan(1.0, None);
        wild.schedule = Schedule::Constant { rate: f64::MAX };
        let message = train(&wild, 0.2, 5, 40).map(|_| ()).unwrap_err().to_string();
        assert_eq!(message, "DP-SGD: parameters are no longer finite; lower the learning rate");
    }
}
