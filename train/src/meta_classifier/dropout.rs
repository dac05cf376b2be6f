//! Units that are dropped while a network learns.

use crate::layers::BatchPass;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::cell::RefCell;
use tch::Tensor;

/// Drops each number with some probability, and divides those that stay by the probability to stay.
#[derive(Debug, Clone)]
pub(super) struct Dropout {
    probability: f64,
    /// Every pass draws again.
    stream: RefCell<ChaCha8Rng>,
}

impl Dropout {
    pub fn new(probability: f64, stream: ChaCha8Rng) -> Self {
        Self { probability, stream: stream.into() }
    }

    /// Drops some of these numbers if networks learn in this pass; otherwise keeps all of them.
    pub fn in_pass(&self, pass: &BatchPass<'_>, numbers: Tensor) -> Tensor {
        match pass {
            BatchPass::Learning => self.of(&numbers),
            BatchPass::Answering | BatchPass::Measuring(_) => numbers,
        }
    }

    /// What is left of these numbers in a step.
    ///
    /// # References
    /// Srivastava et al. (2014), "Dropout: A simple way to prevent neural networks from overfitting".
    fn of(&self, numbers: &Tensor) -> Tensor {
        if self.probability == 0.0 {
            return numbers.shallow_clone();
        }
        let (stays, mut stream) = ((1.0 - self.probability) as f32, self.stream.borrow_mut());
        let factors: Vec<f32> =
            (0..numbers.numel()).map(|_| if stream.random::<f32>() < stays { 1.0 / stays } else { 0.0 }).collect();
        numbers * Tensor::from_slice(&factors).view(numbers.size().as_slice()).to_device(numbers.device())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, stream};
    use tch::{Device, Kind};

    /// 10,000 numbers stay with probability ¾; five standard deviations, false alarms in 6e-7 of seeds.
    #[test]
    fn a_share_is_dropped_and_the_mean_stays() {
        let dropout = Dropout::new(0.25, stream(2, Purpose::Dropout, 0, 0));
        let ones = Tensor::ones([100, 100], (Kind::Float, Device::Cpu));
        let mean = f64::try_from(dropout.of(&ones).mean(Kind::Double)).unwrap();
        println!("mean {mean}");
        assert!((mean - 1.0).abs() < 5.0 * (0.25f64 / 0.75 / 1e4).sqrt());
        assert_ne!(dropout.of(&ones), dropout.of(&ones));
        assert_eq!(Dropout { probability: 0.0, ..dropout }.of(&ones), ones);
    }
}
