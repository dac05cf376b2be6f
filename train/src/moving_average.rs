//! The moving average of a network's parameters.

use super::ensemble::Ensemble;
use tch::Tensor;

/// Networks whose parameters follow those of others: a ← d_t a + (1 - d_t) θ_t with d_t = min(d, (1+t)/(10+t)) at step t,
/// counted from 0, so that the start is forgotten soon. Running statistics of batches follow in the same way.
///
/// It is a function of the parameters of each step: where these are private, it costs nothing.
///
/// # References
/// De et al. (2022), "Unlocking high-accuracy differentially private image classification through scale", section 3.3;
/// Sohn et al. (2020), "FixMatch: Simplifying semi-supervised learning with consistency and confidence", section 2.4;
/// with the warm-up of TensorFlow's moving averages.
pub(super) struct MovingAverage {
    decay: f64,
    steps: u64,
    network: Box<dyn Ensemble>,
}

impl MovingAverage {
    /// Before the first step.
    pub fn new(network: &dyn Ensemble, decay: f64) -> Self {
        Self { decay, steps: 0, network: network.mapped(&Tensor::copy) }
    }

    /// Takes in the networks after a step.
    pub fn follow(&mut self, networks: &mut dyn Ensemble) {
        let step = self.steps as f64;
        let decay = self.decay.min((1.0 + step) / (10.0 + step));
        self.steps += 1;
        follow(self.network.parameters(), networks.parameters(), decay);
        follow(self.network.statistics(), networks.statistics(), decay);
    }

    /// The networks with the averages.
    pub fn into_network(self) -> Box<dyn Ensemble> {
        self.network
    }
}

/// a ← d a + (1 - d) θ.
pub(super) fn follow(averages: &mut [Tensor], now: &[Tensor], decay: f64) {
    for (average, now) in averages.iter_mut().zip(now) {
        let _ = average.lerp_(now, 1.0 - decay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkPlan;
    use crate::seed::{Purpose, stream};
    use tch::Device;

    #[test]
    fn averages_follow_their_rule() {
        let streams = &mut [stream(2, Purpose::Weights, 0, 0)];
        let mut network = NetworkPlan::Cnn { filters: 2 }.build(streams, [1, 4, 4], 2, Device::Cpu);
        // A weight, and the running mean of a filter.
        let first = |network: &mut dyn Ensemble| {
            let number = |tensor: &Tensor| f64::try_from(tensor.flatten(0, -1).get(0)).unwrap();
            [number(&network.parameters()[0]), number(&network.statistics()[0])]
        };
        let mut expected = first(&mut *network);
        let mut average = MovingAverage::new(&*network, 0.3);
        for step in 0..6 {
            network.parameters()[0] += 1.0;
            network.statistics()[0] += 0.5;
            average.follow(&mut *network);
            let step = f64::from(step);
            let decay = 0.3f64.min((1.0 + step) / (10.0 + step));
            for (expected, now) in expected.iter_mut().zip(first(&mut *network)) {
                *expected = decay * *expected + (1.0 - decay) * now;
            }
        }
        let found = first(&mut *average.into_network());
        assert!(
            found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-5),
            "{found:?} {expected:?}"
        );
    }
}
