//! Steps along gradients, for the parameters of many networks together: every rule here works element by element.

use super::adam::Adam;
use serde::Serialize;
use tch::Tensor;

/// The rule of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Optimizer {
    /// Kingma and Ba (2015), algorithm 1.
    Adam {
        /// Decay β₁ of the mean of gradients.
        beta1: f64,
        /// Decay β₂ of the mean of squared gradients.
        beta2: f64,
        /// ε, added to the root of the second mean.
        epsilon: f64,
    },
    /// v ← momentum · v + g + weight_decay · θ, θ ← θ - rate · v (with Nesterov's: rate · (g + momentum · v)).
    Sgd {
        /// Share of the last step that is kept.
        momentum: f64,
        /// Factor of the parameters that is added to their gradient.
        weight_decay: f64,
        /// Whether the gradient is seen after the step that momentum will take.
        nesterov: bool,
    },
}

impl Optimizer {
    /// Adam with the constants of its paper.
    pub const ADAM: Self = Self::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
    /// Of the undefended networks of Aerni et al. (2024), appendix A.
    pub const WIDE_RESIDUAL: Self = Self::Sgd { momentum: 0.9, weight_decay: 5e-4, nesterov: false };
}

/// The learning rate over a training of T steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Schedule {
    /// The same at every step.
    Constant {
        /// The learning rate.
        rate: f64,
    },
    /// rate · (1 + cos(π t/T))/2 at step t of T.
    Cosine {
        /// The learning rate of the first step.
        rate: f64,
    },
    /// rate · cos(part · π t/T) at step t of T: with `part` = 7/16 the schedule of FixMatch (Sohn et al. 2020, section
    /// 2.4), which ends at a fifth of the rate.
    PartialCosine {
        /// The learning rate of the first step.
        rate: f64,
        /// Share of half a period that the training covers, in [0, 1/2].
        part: f64,
    },
    /// Multiplied by `factor` when each of these shares of the training is done.
    Steps {
        /// The learning rate of the first step.
        rate: f64,
        /// The factor of the learning rate.
        factor: f64,
        /// Shares of the training in [0, 1].
        shares: Vec<f64>,
    },
    /// rate · factorᵏ in part k = 0, 1, ... of equal parts of the training, such as its epochs.
    Exponential {
        /// The learning rate of the first part.
        rate: f64,
        /// The factor of the learning rate from part to part.
        factor: f64,
        /// Number of parts.
        parts: usize,
    },
    /// Another schedule, which is reached linearly over the first share of the training.
    WarmUp {
        /// Share of the training in [0, 1].
        share: f64,
        /// The schedule.
        then: Box<Self>,
    },
}

impl Schedule {
    /// The schedule of the undefended networks of Aerni et al. (2024), "Evaluations of machine learning privacy
    /// defenses are misleading", appendix A, which has 200 epochs with momentum: 0.1 after a linear start of one epoch,
    /// a fifth of that after 30, 60 and 80% of them.
    #[must_use]
    pub fn wide_residual(epochs: usize) -> Self {
        let then = Self::Steps { rate: 0.1, factor: 0.2, shares: vec![0.3, 0.6, 0.8] };
        Self::WarmUp { share: 1.0 / epochs.max(1) as f64, then: Box::new(then) }
    }

    /// The learning rate of step `step` of `steps`, counted from 0.
    #[must_use]
    pub fn rate(&self, step: u64, steps: u64) -> f64 {
        let done = step as f64 / steps.max(1) as f64;
        match self {
            Self::Constant { rate } => *rate,
            Self::Cosine { rate } => rate * 0.5 * (1.0 + (std::f64::consts::PI * done).cos()),
            Self::PartialCosine { rate, part } => rate * (part * std::f64::consts::PI * done).cos(),
            Self::Steps { rate, factor, shares } => {
                rate * factor.powi(shares.iter().filter(|&&share| done >= share).count() as i32)
            }
            Self::Exponential { rate, factor, parts } => rate * factor.powf((done * *parts as f64).floor()),
            Self::WarmUp { share, then } => {
                // The first step is not at rate 0, and the last of them at the whole rate.
                let warm = (step + 1) as f64 / (share * steps as f64).max(1.0);
                then.rate(step, steps) * warm.min(1.0)
            }
        }
    }
}

/// What a rule remembers between steps.
pub(super) enum OptimizerState {
    Adam(Adam),
    Sgd {
        momentum: f64,
        weight_decay: f64,
        nesterov: bool,
        /// v of each parameter; none without momentum.
        velocities: Vec<Tensor>,
    },
}

impl OptimizerState {
    /// Before the first step.
    pub fn new(rule: Optimizer, parameters: &[Tensor]) -> Self {
        match rule {
            Optimizer::Adam { beta1, beta2, epsilon } => Self::Adam(Adam::new([beta1, beta2, epsilon], parameters)),
            Optimizer::Sgd { momentum, weight_decay, nesterov } => {
                let remembered = if momentum == 0.0 { &[] } else { parameters };
                let velocities = remembered.iter().map(Tensor::zeros_like).collect();
                Self::Sgd { momentum, weight_decay, nesterov, velocities }
            }
        }
    }

    /// One step along the gradients, which are used up.
    pub fn step(&mut self, parameters: &mut [Tensor], gradients: &mut [Tensor], rate: f64) {
        let (momentum, weight_decay, nesterov, velocities) = match self {
            Self::Adam(adam) => return adam.step(parameters, gradients, rate),
            Self::Sgd { momentum, weight_decay, nesterov, velocities } => {
                (*momentum, *weight_decay, *nesterov, velocities)
            }
        };
        for (index, (parameter, gradient)) in parameters.iter_mut().zip(gradients).enumerate() {
            if weight_decay != 0.0 {
                let _ = gradient.g_add_(&(&*parameter * weight_decay));
            }
            let Some(velocity) = velocities.get_mut(index) else {
                *parameter -= &*gradient * rate;
                continue;
            };
            let _ = velocity.g_mul_scalar_(momentum).g_add_(gradient);
            let step = if nesterov { &*gradient + &*velocity * momentum } else { velocity.shallow_clone() };
            *parameter -= step * rate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three steps on one parameter, against the rules written out for a number.
    fn stepped(rule: Optimizer) -> f32 {
        let mut parameters = [Tensor::from_slice(&[0.5f32])];
        let mut state = OptimizerState::new(rule, &parameters);
        for gradient in [0.3f32, -0.1, 0.7] {
            state.step(&mut parameters, &mut [Tensor::from_slice(&[gradient])], 0.01);
        }
        f32::try_from(&parameters[0]).unwrap()
    }

    #[test]
    fn momentum_is_its_rule() {
        for nesterov in [false, true] {
            let (mut theta, mut velocity) = (0.5f64, 0.0);
            for g in [0.3, -0.1, 0.7] {
                let g = g + 0.1 * theta;
                velocity = 0.9 * velocity + g;
                theta -= 0.01 * if nesterov { g + 0.9 * velocity } else { velocity };
            }
            let found = f64::from(stepped(Optimizer::Sgd { momentum: 0.9, weight_decay: 0.1, nesterov }));
            assert!((found - theta).abs() < 1e-6, "{found} {theta}");
        }
    }

    #[test]
    fn schedules_have_their_ends() {
        assert!((Schedule::Cosine { rate: 0.1 }.rate(0, 10) - 0.1).abs() < 1e-15);
        assert!(Schedule::Cosine { rate: 0.1 }.rate(10, 10).abs() < 1e-15);
        // cos(7π k/(16 K)) at k = 0, K/2 and K.
        let partial = Schedule::PartialCosine { rate: 2.0, part: 7.0 / 16.0 };
        for (step, rate) in [(0, 2.0), (5, 1.546_020_906_725_474), (10, 0.390_180_644_032_256_6)] {
            assert!((partial.rate(step, 10) - rate).abs() < 1e-15, "{step}");
        }
        let steps = Schedule::Steps { rate: 1.0, factor: 0.1, shares: vec![0.5, 0.75] };
        assert!(
            [(0, 1.0), (5, 0.1), (8, 0.01)].iter().all(|&(step, rate)| (steps.rate(step, 10) - rate).abs() < 1e-15)
        );
        // Three epochs of four steps.
        let exponential = Schedule::Exponential { rate: 1e-3, factor: 0.95, parts: 3 };
        for (step, epoch) in [(0, 0), (3, 0), (4, 1), (7, 1), (8, 2), (11, 2)] {
            assert!((exponential.rate(step, 12) - 1e-3 * 0.95f64.powi(epoch)).abs() < 1e-15, "{step}");
        }
        // 200 epochs of ten steps.
        for (step, rate) in [(0, 0.01), (4, 0.05), (9, 0.1), (10, 0.1), (599, 0.1), (600, 0.02), (1600, 0.0008)] {
            assert!((Schedule::wide_residual(200).rate(step, 2000) - rate).abs() < 1e-15, "{step}");
        }
    }
}
