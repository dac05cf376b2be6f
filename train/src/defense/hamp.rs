//! HAMP: networks that are less confident, and answers that only keep their order.

use super::method::{Answers, Further, Method, PHASE, Queries, Task};
use crate::answers::{by_network, logits};
use crate::checks::{check_range, reject};
use crate::ensemble::{Ensemble, Loss, logits_of_each};
use crate::groups::Trainer;
use crate::guard::guarded;
use crate::seed::{Purpose, stream};
use crate::training_images::TrainingImages;
use leakbound::error::Result;
use rand::Rng;
use serde::Serialize;
use std::ops::Range;
use tch::{Kind, TchError, Tensor};

/// Soft labels of high entropy and a reward for entropy in training; random answers in the order of the true one when
/// queried.
///
/// A soft label has probability p for its class and (1 - p)/(C - 1) for each other one of C, with p ≥ 1/C so that its
/// entropy is γ ln C. With soft label t and softmax probabilities q, a step descends the mean over a batch of
/// KL(t ‖ q)/C - α H(q), both in nats: the authors' program divides the divergence by C, which their values of α and
/// those of Aerni et al. presuppose.
///
/// A query is answered with the logits of an image of random pixels, uniform on 0 to 255 and new for every query,
/// sorted into the order of the logits of the query. So the predicted class is the true answer's, and so is the order
/// of all classes. The recording's `logits` are these; `training_time_logits` \[model, sample, view, class\] are those
/// of the networks without this defense.
///
/// # References
/// Chen and Pattabiraman (2024), "Overconfidence is a dangerous thing: Mitigating membership inference attacks by
/// enforcing less confident prediction", section IV; Aerni, Zhang and Tramèr (2024), "Evaluations of machine learning
/// privacy defenses are misleading", appendix A.4.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Hamp {
    /// γ in [0, 1): entropy of a soft label as a share of the largest, ln C.
    pub entropy_share: f64,
    /// α, at least 0: the weight of a nat of the answers' entropy.
    pub entropy_weight: f64,
}

impl Hamp {
    /// Those of Aerni et al. (2024), appendix A.4, for an accuracy of 88% on CIFAR-10. The authors of HAMP take 0.95
    /// and 0.001 for CIFAR-10.
    pub const PUBLISHED: Self = Self { entropy_share: 0.999_683_772_233_983_2, entropy_weight: 0.005 };

    /// p and (1 - p)/(C - 1).
    fn soft_label(self, classes: usize) -> [f64; 2] {
        let others = classes as f64 - 1.0;
        let of_all = self.entropy_share * libm::log(classes as f64);
        // The entropy falls from p = 1/C to p = 1: the half with the root, until no number is left between the ends.
        let (mut low, mut high) = (1.0 / classes as f64, 1.0);
        loop {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                return [low, (1.0 - low) / others];
            }
            let entropy = information(middle) + others * information((1.0 - middle) / others);
            *(if entropy >= of_all { &mut low } else { &mut high }) = middle;
        }
    }

    /// Soft labels of one-hot ones [N, C].
    fn soft_labels(self, labels: &Tensor) -> Tensor {
        let classes = labels.size().last().copied().unwrap_or(1) as usize;
        let [own, other] = self.soft_label(classes);
        labels * own + (1.0 - labels) * other
    }

    /// What a step descends but for a constant, summed over the networks: of logits and soft labels [M, B, C].
    fn loss(self, logits: &Tensor, labels: &Tensor) -> Tensor {
        let [_, batch, classes] = [0, 1, 2].map(|axis| logits.size()[axis] as f64);
        let log_probabilities = logits.log_softmax(-1, Kind::Float);
        // The divergence without the entropy of the labels.
        let divergences = -(&log_probabilities * labels).sum(Kind::Float) / classes;
        let entropies = -(log_probabilities.exp() * &log_probabilities).sum(Kind::Float);
        (divergences - entropies * self.entropy_weight) / batch
    }
}

/// -p ln p.
fn information(p: f64) -> f64 {
    if p > 0.0 { -p * libm::log(p) } else { 0.0 }
}

impl Loss for Hamp {
    fn gradients(&self, networks: &mut dyn Ensemble, inputs: &Tensor, targets: &Tensor, _: u64) -> Vec<Tensor> {
        networks.gradients_of(inputs, &|logits| self.loss(logits, targets))
    }
}

impl Method for Hamp {
    fn check(&self, classes: usize) -> Result<()> {
        let &Self { entropy_share, entropy_weight } = self;
        check_range("entropy share of HAMP", entropy_share, (0.0..1.0).contains(&entropy_share), "[0, 1)")?;
        let fits = entropy_weight >= 0.0 && entropy_weight.is_finite();
        check_range("entropy weight of HAMP", entropy_weight, fits, "[0, inf)")?;
        if classes < 2 {
            return reject("defense", format!("{classes} class; soft labels of HAMP are of two or more"));
        }
        Ok(())
    }

    fn further(&self, Queries { attacked, views, .. }: Queries, classes: usize) -> Vec<Further> {
        vec![Further::new("training_time_logits", vec![attacked, views, classes])]
    }

    fn answers(&self, task: &Task<'_>) -> Result<Vec<Answers>> {
        let &Task { trainer, images, tables, asked, queries, .. } = task;
        let soft = guarded("labels", || {
            Ok(TrainingImages { inputs: images.inputs.shallow_clone(), targets: self.soft_labels(&images.targets) })
        })?;
        let trainer = Trainer { loss: self, ..trainer };
        trainer.train_and_ask(PHASE, &soft, tables, asked, &|networks, models, asked| {
            let random = random_answers(networks, models, asked, (queries, trainer.seed))?;
            let answers = logits(networks, asked)?.into_iter().zip(random);
            Ok(answers.map(|(logits, random)| masked(logits, &random, queries, trainer.classes)).collect())
        })
    }
}

/// The answers of one model: its logits with those of the queries before the test images rearranged from random ones,
/// and those to the audited samples as they were, \[sample, view, class\].
fn masked(mut logits: Vec<f32>, random: &[f32], Queries { attacked, views, .. }: Queries, classes: usize) -> Answers {
    let mut before = Vec::with_capacity(attacked * views * classes);
    for sample in 0..attacked {
        for view in 0..views {
            before.extend_from_slice(&logits[(view * attacked + sample) * classes..][..classes]);
        }
    }
    for (answer, random) in logits.chunks_exact_mut(classes).zip(random.chunks_exact(classes)) {
        rearrange(answer, random);
    }
    vec![logits, before]
}

/// Replaces logits by random ones in the same order; of equal ones the first is the largest.
fn rearrange(logits: &mut [f32], random: &[f32]) {
    let mut order: Vec<usize> = (0..logits.len()).collect();
    order.sort_by(|&one, &other| logits[other].total_cmp(&logits[one]));
    let mut random = random.to_vec();
    random.sort_by(|one, other| other.total_cmp(one));
    for (class, logit) in order.into_iter().zip(random) {
        logits[class] = logit;
    }
}

/// Logits of each model for random images, one for each query before the test images, \[view, sample, class\]. Every
/// model and view has its own stream; the neighbors are one more view.
fn random_answers(
    networks: &dyn Ensemble,
    models: Range<usize>,
    asked: &Tensor,
    (queries, seed): (Queries, u64),
) -> std::result::Result<Vec<Vec<f32>>, TchError> {
    let pixels = asked.size()[1];
    let mut answers = vec![Vec::new(); models.len()];
    let attacked = queries.attacked;
    for view in 0..queries.before_tests() / attacked {
        let random = random_pixels(models.clone(), view, attacked * pixels as usize, seed);
        let images = Tensor::from_slice(&random).view([models.len() as i64, attacked as i64, pixels]);
        let images = images.to_device(asked.device()).to_kind(Kind::Float) / 255.0;
        let logits = by_network(&logits_of_each(networks, &images))?;
        answers.iter_mut().zip(logits).for_each(|(answers, logits)| answers.extend(logits));
    }
    Ok(answers)
}

/// Random pixels for each model and one view, from a separate stream.
fn random_pixels(models: Range<usize>, view: usize, count: usize, seed: u64) -> Vec<u8> {
    let mut random = vec![0u8; models.len() * count];
    for (random, model) in random.chunks_exact_mut(count).zip(models) {
        stream(seed, Purpose::RandomQueries, view as u64, model as u64).fill_bytes(random);
    }
    random
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Device;

    /// In doubles to 1e-12, and in the single precision that networks learn from to 1e-6.
    #[test]
    fn soft_labels_have_the_set_entropy() {
        for classes in [2usize, 10, 100] {
            for share in [0.0, 1e-3, 0.5, 0.684, 0.95, 0.99, Hamp::PUBLISHED.entropy_share] {
                let hamp = Hamp { entropy_share: share, entropy_weight: 0.0 };
                hamp.check(classes).unwrap();
                let of_all = share * (classes as f64).ln();
                let [own, other] = hamp.soft_label(classes);
                let entropy = information(own) + (classes - 1) as f64 * information(other);
                assert!((entropy - of_all).abs() < 1e-12 && own > other, "{classes} {share}: {entropy} {of_all}");
                let labels = Tensor::eye(classes as i64, (Kind::Float, Device::Cpu));
                let soft: Vec<f32> = hamp.soft_labels(&labels).flatten(0, -1).try_into().unwrap();
                for (label, soft) in soft.chunks_exact(classes).enumerate() {
                    let entropy: f64 = soft.iter().map(|&p| information(p.into())).sum();
                    let error = (entropy - of_all).abs();
                    assert!(error < 1e-6, "{classes} {share}: {error}");
                    assert!(soft.iter().enumerate().all(|(class, &p)| class == label || p < soft[label]));
                }
            }
        }
        let [own, other] = Hamp::PUBLISHED.soft_label(10);
        println!("p = {own}, others {other}");
    }

    /// ∂/∂z_c of the mean of KL(t ‖ q)/C - α H(q): ((q_c - t_c)/C + α q_c (ln q_c + H))/B.
    #[test]
    fn gradients_are_those_of_divergence_and_entropy() {
        let hamp = Hamp { entropy_share: 0.8, entropy_weight: 0.3 };
        let logits = [[0.3, -0.2, 1.1], [2.0, 0.5, -1.0]];
        let [own, other] = hamp.soft_label(3);
        let leaf = Tensor::from_slice(&logits.as_flattened().iter().map(|&z| z as f32).collect::<Vec<_>>());
        let leaf = leaf.view([1, 2, 3]).set_requires_grad(true);
        let labels = hamp.soft_labels(&Tensor::eye(3, (Kind::Float, Device::Cpu)).narrow(0, 0, 2)).unsqueeze(0);
        let gradient = &Tensor::run_backward(&[&hamp.loss(&leaf, &labels)], &[&leaf], false, false)[0];
        let found: Vec<f32> = gradient.flatten(0, -1).try_into().unwrap();
        for (label, (logits, found)) in logits.iter().zip(found.chunks_exact(3)).enumerate() {
            let all: f64 = logits.iter().map(|z: &f64| z.exp()).sum();
            let q = logits.map(|z| z.exp() / all);
            let entropy: f64 = q.iter().map(|&q| information(q)).sum();
            for class in 0..3 {
                let t = if class == label { own } else { other };
                let expected = ((q[class] - t) / 3.0 + 0.3 * q[class] * (q[class].ln() + entropy)) / 2.0;
                assert!((f64::from(found[class]) - expected).abs() < 1e-7, "{} {expected}", found[class]);
            }
        }
    }

    #[test]
    fn random_answers_get_the_order_of_the_true_one() {
        let mut logits = [0.5, 3.0, -1.0, 0.5];
        rearrange(&mut logits, &[7.0, 9.0, 8.0, 6.0]);
        assert_eq!(logits, [8.0, 9.0, 6.0, 7.0]);
        // Two views of two samples, two classes, and one test image.
        let queries = Queries { fixed: 0, attacked: 2, views: 2, neighbors: 0, image: [1, 1, 1] };
        let logits = vec![1.0, 2.0, 4.0, 3.0, 5.0, 6.0, 8.0, 7.0, 0.5, 0.1];
        let random = [10.0, 20.0, 10.0, 20.0, 20.0, 10.0, 20.0, 10.0];
        let answers = masked(logits, &random, queries, 2);
        assert_eq!(answers[0], [10.0, 20.0, 20.0, 10.0, 10.0, 20.0, 20.0, 10.0, 0.5, 0.1]);
        assert_eq!(answers[1], [1.0, 2.0, 5.0, 6.0, 4.0, 3.0, 8.0, 7.0]);
    }

    /// Random images are new for every query and model, independent of the other models in the group, and uniform.
    #[test]
    fn random_images_are_of_their_query_alone() {
        let (mut seen, mut counts) = (std::collections::BTreeSet::new(), [0u32; 256]);
        for view in 0..18 {
            let random = random_pixels(0..6, view, 40 * 784, 5);
            assert_eq!(random[5 * 40 * 784..], random_pixels(5..6, view, 40 * 784, 5));
            random.iter().for_each(|&pixel| counts[usize::from(pixel)] += 1);
            seen.extend(random.chunks_exact(784).map(<[u8]>::to_vec));
        }
        assert_eq!(seen.len(), 6 * 18 * 40);
        // 3,386,880 pixels: 13,230 of each value with standard deviation 115; six of them for any of 256 values have
        // probability 5e-7.
        println!("{:?} to {:?} pixels of a value", counts.iter().min(), counts.iter().max());
        assert!(counts.iter().all(|count| count.abs_diff(13_230) < 690), "{counts:?}");
    }

    #[test]
    fn parameters_out_of_range_are_rejected() {
        let message = |entropy_share, entropy_weight, classes| {
            Hamp { entropy_share, entropy_weight }.check(classes).unwrap_err().to_string()
        };
        assert_eq!(message(1.0, 0.1, 10), "entropy share of HAMP = 1 is not in [0, 1)");
        assert_eq!(message(f64::NAN, 0.1, 10), "entropy share of HAMP = NaN is not in [0, 1)");
        assert_eq!(message(0.5, -1.0, 10), "entropy weight of HAMP = -1 is not in [0, inf)");
        assert_eq!(message(0.5, 0.1, 1), "defense: 1 class; soft labels of HAMP are of two or more");
    }
}
