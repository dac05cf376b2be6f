//! What trained networks answer about many images.

use super::ensemble::Ensemble;
use crate::error::{Error, Result};
use tch::{Kind, TchError, Tensor};

/// Images asked about at the same time.
const IMAGES_AT_ONCE: i64 = 1000;

/// Logits [M, N, C] of images [N, F], all asked of every network.
pub(super) fn logits(networks: &dyn Ensemble, images: &Tensor) -> Tensor {
    let (count, pixels) = (images.size()[0], images.size()[1]);
    let parts: Vec<Tensor> = (0..count)
        .step_by(IMAGES_AT_ONCE as usize)
        .map(|start| {
            let part = images.narrow(0, start, IMAGES_AT_ONCE.min(count - start));
            networks.logits(&part.expand([networks.networks(), part.size()[0], pixels], false))
        })
        .collect();
    Tensor::cat(&parts, 1)
}

/// Share of images whose largest logit, of [..., N, C], is that of the label; one share over all networks.
pub(super) fn accuracy(logits: &Tensor, labels: &[u8]) -> Result<f64> {
    let labels: Vec<i64> = labels.iter().map(|&label| label.into()).collect();
    let right = logits.argmax(-1, false).eq_tensor(&Tensor::from_slice(&labels).to_device(logits.device()));
    f64::try_from(right.to_kind(Kind::Double).mean(Kind::Double)).map_err(|error| unreadable(&error))
}

/// Numbers of a tensor in the order of its axes.
pub(super) fn numbers(tensor: &Tensor) -> Result<Vec<f32>> {
    Vec::try_from(tensor.to_kind(Kind::Float).flatten(0, -1).contiguous()).map_err(|error| unreadable(&error))
}

fn unreadable(error: &TchError) -> Error {
    Error::Unavailable { operation: "answers", reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torch::network::NetworkPlan;
    use crate::torch::seed::{Purpose, stream};
    use tch::Device;

    #[test]
    fn answers_come_in_parts() {
        let mut streams = [0, 1].map(|network| stream(1, Purpose::Weights, 0, network));
        let networks = NetworkPlan::Mlp { hidden: 3 }.build(&mut streams, [1, 1, 2], 3, Device::Cpu);
        let images = Tensor::linspace(0.0, 9.0, 2 * 2001, (Kind::Float, Device::Cpu)).sin().view([2001, 2]);
        let found = logits(&*networks, &images);
        assert_eq!(found.size(), [2, 2001, 3]);
        let whole = networks.logits(&images.expand([2, 2001, 2], false));
        assert!(f64::try_from((&found - whole).abs().max()).unwrap() < 1e-6);
        let votes = Vec::<i64>::try_from(found.get(1).argmax(-1, false)).unwrap();
        let labels: Vec<u8> = votes.iter().map(|&vote| vote as u8).collect();
        assert_eq!(accuracy(&found.get(1), &labels).unwrap(), 1.0);
        assert_eq!(numbers(&found).unwrap().len(), 2 * 2001 * 3);
    }
}
