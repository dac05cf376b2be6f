//! The keys of momentum contrast: a queue of them, and parameters that follow those of another network.

use super::loss::unit;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use tch::{Device, Tensor};

/// The last Q keys of each of M networks.
pub(super) struct KeyQueue {
    /// [M, Q, D], unit vectors in no order.
    pub keys: Tensor,
    /// The place of the oldest ones.
    oldest: i64,
}

impl KeyQueue {
    /// Unit vectors of random directions, for which there are keys later: one stream for each network.
    pub fn random<R: Rng>(streams: &mut [R], length: usize, dimension: usize, device: Device) -> Self {
        let networks = streams.len() as i64;
        let numbers = streams
            .iter_mut()
            .flat_map(|stream| (0..length * dimension).map(|_| stream.sample::<f32, _>(StandardNormal)))
            .collect::<Vec<f32>>();
        let vectors = Tensor::from_slice(&numbers).view([networks, length as i64, dimension as i64]).to_device(device);
        Self { keys: unit(&vectors), oldest: 0 }
    }

    /// Puts keys [M, B, D], at most Q of a network, in the place of the oldest.
    pub fn push(&mut self, keys: &Tensor) {
        let (length, batch) = (self.keys.size()[1], keys.size()[1]);
        let places: Vec<i64> = (0..batch).map(|key| (self.oldest + key) % length).collect();
        let _ = self.keys.index_copy_(1, &Tensor::from_slice(&places).to_device(keys.device()), keys);
        self.oldest = (self.oldest + batch) % length;
    }
}

/// θ_k ← m θ_k + (1 - m) θ_q for the parameters θ_k of the encoder of keys: He et al. (2020), (2).
pub(super) fn follow(keys: &mut [Tensor], queries: &[Tensor], momentum: f64) {
    for (key, query) in keys.iter_mut().zip(queries) {
        let _ = key.lerp_(query, 1.0 - momentum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, streams};
    use tch::Kind;

    fn queue(networks: usize, length: usize) -> KeyQueue {
        KeyQueue::random(&mut streams(7, Purpose::Projection, 0, 0..networks), length, 3, Device::Cpu)
    }

    /// The first number of each key of a network.
    fn first_numbers(queue: &KeyQueue, network: i64) -> Vec<f32> {
        queue.keys.select(0, network).select(1, 0).contiguous().try_into().unwrap()
    }

    #[test]
    fn a_queue_starts_with_directions_of_each_network_alone() {
        let (together, alone) = (queue(2, 50), queue(1, 50));
        assert_eq!(first_numbers(&together, 0), first_numbers(&alone, 0));
        assert_ne!(first_numbers(&together, 0), first_numbers(&together, 1));
        let norms = together.keys.square().sum_dim_intlist([-1i64].as_slice(), false, Kind::Float);
        assert!(f64::try_from((norms - 1.0).abs().max()).unwrap() < 1e-6);
    }

    /// Batches of three into five places: the oldest leave first, over the end of the tensor too.
    #[test]
    fn the_first_key_in_is_the_first_out() {
        let mut queue = queue(2, 5);
        let mut expected: Vec<Vec<f32>> = (0..2).map(|network| first_numbers(&queue, network)).collect();
        for step in 0..7 {
            let number = |network: i64, key: i64| (100 * network + 10 * step + key) as f32;
            let keys: Vec<f32> =
                (0..2).flat_map(|network| (0..3).flat_map(move |key| [number(network, key); 3])).collect();
            queue.push(&Tensor::from_slice(&keys).view([2, 3, 3]));
            for (network, expected) in (0..2).zip(&mut expected) {
                expected.drain(..3);
                expected.extend((0..3).map(|key| number(network, key)));
                let (mut found, mut in_order) = (first_numbers(&queue, network), expected.clone());
                // From the oldest on, those of the tensor are those of a list.
                found.rotate_left(queue.oldest as usize);
                assert_eq!(found, in_order, "{step}");
                in_order.sort_by(f32::total_cmp);
                found.sort_by(f32::total_cmp);
                assert_eq!(found, in_order);
            }
        }
        // As many as there are places.
        queue.push(&(Tensor::ones([2, 5, 3], (Kind::Float, Device::Cpu)) * 0.5));
        assert_eq!(first_numbers(&queue, 1), [0.5; 5]);
    }

    #[test]
    fn parameters_follow_as_in_a_loop() {
        let values = |phase: f64| Tensor::linspace(-1.0, 2.0, 12, (Kind::Float, Device::Cpu)).sin() + phase;
        for momentum in [0.0, 0.9, 0.999] {
            let mut keys = [values(0.1).view([3, 4]), values(-2.0)];
            let mut expected: Vec<f64> = keys.iter().flat_map(numbers).collect();
            for step in 0..50 {
                let queries = [values(f64::from(step)).view([3, 4]), values(-f64::from(step))];
                follow(&mut keys, &queries, momentum);
                for (key, query) in expected.iter_mut().zip(queries.iter().flat_map(numbers)) {
                    *key = momentum * *key + (1.0 - momentum) * query;
                }
            }
            for (found, expected) in keys.iter().flat_map(numbers).zip(expected) {
                assert!(
                    (found - expected).abs() < 1e-6 * expected.abs().max(1.0) * 5.0,
                    "{momentum}: {found} {expected}"
                );
            }
        }
    }

    fn numbers(tensor: &Tensor) -> Vec<f64> {
        tensor.to_kind(Kind::Double).flatten(0, -1).try_into().unwrap()
    }
}
