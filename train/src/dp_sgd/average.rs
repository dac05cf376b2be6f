//! The moving average of a network's parameters.

use crate::ensemble::Ensemble;
use tch::Tensor;

/// A network whose parameters follow those of another one: a ← d_t a + (1 - d_t) θ_t with d_t = min(d, (1+t)/(10+t)) at
/// step t, counted from 0, so that the start is forgotten soon.
///
/// It is a function of parameters that are private already, and costs nothing.
///
/// # References
/// De et al. (2022), "Unlocking high-accuracy differentially private image classification through scale", section 3.3,
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

    /// Takes in the parameters after a step.
    pub fn follow(&mut self, parameters: &[Tensor]) {
        let step = self.steps as f64;
        let decay = self.decay.min((1.0 + step) / (10.0 + step));
        self.steps += 1;
        for (average, parameter) in self.network.parameters().iter_mut().zip(parameters) {
            let _ = average.lerp_(parameter, 1.0 - decay);
        }
    }

    /// The network with the averages.
    pub fn into_network(self) -> Box<dyn Ensemble> {
        self.network
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
        let mut network = NetworkPlan::Mlp { hidden: 2 }.build(streams, [1, 1, 2], 2, Device::Cpu);
        let first = |network: &mut dyn Ensemble| f64::try_from(network.parameters()[0].flatten(0, -1).get(0)).unwrap();
        let mut expected = first(&mut *network);
        let mut average = MovingAverage::new(&*network, 0.3);
        for step in 0..6 {
            network.parameters()[0] += 1.0;
            average.follow(network.parameters());
            let step = f64::from(step);
            let decay = 0.3f64.min((1.0 + step) / (10.0 + step));
            expected = decay * expected + (1.0 - decay) * first(&mut *network);
        }
        let found = first(&mut *average.into_network());
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
}
