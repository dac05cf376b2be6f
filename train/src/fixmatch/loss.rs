//! What FixMatch descends.

use super::plan::Unlabeled;
use tch::{Kind, Tensor};

/// What networks say about weakly augmented images without labels.
pub(super) struct PseudoLabels {
    /// The likeliest class, [M, μB, 1].
    classes: Tensor,
    /// 1 where its probability is at least τ and 0 elsewhere, [M, μB].
    mask: Tensor,
}

impl PseudoLabels {
    /// From logits [M, μB, C].
    pub fn of(logits: &Tensor, confidence: f64) -> Self {
        let (largest, classes) = logits.softmax(-1, Kind::Float).max_dim(-1, true);
        Self { classes, mask: largest.squeeze_dim(-1).ge(confidence).to_kind(Kind::Float) }
    }
}

/// Σ_m [mean_b CE(labeled) + λ/(μB) Σ_b 1(max q_b ≥ τ) CE(strong, argmax q_b)], a sum over the networks, for the logits
/// [M, B + μB, C] of labeled images, then of strongly augmented ones; targets [M, B, C] are probabilities. The pseudo-
/// labels have no gradient.
///
/// # References
/// Sohn et al. (2020), (3) and (4).
pub(super) fn loss(logits: &Tensor, targets: &Tensor, pseudo: &PseudoLabels, unlabeled: Unlabeled) -> Tensor {
    let (labeled, strong) = (targets.size()[1], pseudo.mask.size()[1]);
    let logs = logits.log_softmax(-1, Kind::Float);
    let supervised = (logs.narrow(1, 0, labeled) * targets).sum(Kind::Float) / labeled as f64;
    let at_pseudo_labels = logs.narrow(1, labeled, strong).gather(-1, &pseudo.classes, false).squeeze_dim(-1);
    let unsupervised = (at_pseudo_labels * &pseudo.mask).sum(Kind::Float) / strong as f64;
    -(supervised + unsupervised * unlabeled.weight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Device;

    const NETWORKS: usize = 2;
    const LABELED: usize = 3;
    const RATIO: usize = 2;
    const CLASSES: usize = 4;
    const PLAN: Unlabeled = Unlabeled { ratio: RATIO, confidence: 0.6, weight: 0.7 };

    fn waves(count: usize, phase: f64) -> Tensor {
        let numbers = Tensor::linspace(phase, phase + 40.0, count as i64, (Kind::Float, Device::Cpu));
        numbers.sin() * 2.0
    }

    fn softmax(logits: &[f64]) -> Vec<f64> {
        let sum: f64 = logits.iter().map(|logit| logit.exp()).sum();
        logits.iter().map(|logit| logit.exp() / sum).collect()
    }

    fn numbers(tensor: &Tensor) -> Vec<f64> {
        tensor.to_kind(Kind::Double).flatten(0, -1).try_into().unwrap()
    }

    /// The loss, its mask, and its gradient at the logits, against loops over images and classes.
    #[test]
    fn the_loss_and_its_gradient_are_those_of_a_loop() {
        let strong = RATIO * LABELED;
        let (all, classes) = (LABELED + strong, CLASSES as i64);
        let weak = waves(NETWORKS * strong * CLASSES, 0.3).view([NETWORKS as i64, -1, classes]);
        let logits = waves(NETWORKS * all * CLASSES, 5.0).view([NETWORKS as i64, -1, classes]).set_requires_grad(true);
        let targets = waves(NETWORKS * LABELED * CLASSES, 9.0).view([NETWORKS as i64, -1, classes]);
        let targets = targets.softmax(-1, Kind::Float);
        let pseudo = PseudoLabels::of(&weak, PLAN.confidence);
        let found = loss(&logits, &targets, &pseudo, PLAN);
        let gradient = numbers(&Tensor::run_backward(&[&found], &[&logits], false, false)[0]);

        let (weak, values, wanted) = (numbers(&weak), numbers(&logits.detach()), numbers(&targets));
        let mask = numbers(&pseudo.mask);
        let mut expected = 0.0;
        for network in 0..NETWORKS {
            for image in 0..all {
                let at = (network * all + image) * CLASSES;
                let probabilities = softmax(&values[at..at + CLASSES]);
                // What the image is to be, and how much it weighs.
                let (target, weight) = if image < LABELED {
                    let at = (network * LABELED + image) * CLASSES;
                    (wanted[at..at + CLASSES].to_vec(), 1.0 / LABELED as f64)
                } else {
                    let place = network * strong + image - LABELED;
                    let answer = softmax(&weak[place * CLASSES..(place + 1) * CLASSES]);
                    let class =
                        (1..CLASSES).fold(0, |best, class| if answer[class] > answer[best] { class } else { best });
                    let sure = answer[class] >= PLAN.confidence;
                    assert_eq!(mask[place], f64::from(u8::from(sure)));
                    let target = (0..CLASSES).map(|other| f64::from(u8::from(other == class))).collect();
                    (target, if sure { PLAN.weight / strong as f64 } else { 0.0 })
                };
                for (class, (p, t)) in probabilities.iter().zip(&target).enumerate() {
                    expected -= weight * t * p.ln();
                    assert!((gradient[at + class] - weight * (p - t)).abs() < 1e-6, "{network} {image} {class}");
                }
            }
        }
        let sure: f64 = mask.iter().sum();
        println!("{sure} of {} pseudo-labels", mask.len());
        assert!(sure > 2.0 && sure < 10.0);
        let found = f64::try_from(found).unwrap();
        assert!((found - expected).abs() < 1e-6 * expected, "{found} {expected}");
    }
}
