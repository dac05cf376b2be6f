//! Answers of trained networks as numbers.

use leakbound::error::{Error, Result};
use tch::{Kind, TchError, Tensor};

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

    #[test]
    fn accuracy_is_over_all_networks() {
        let logits = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 0.0, 5.0, 4.0, 9.0, 1.0]).view([2, 2, 2]);
        assert_eq!(accuracy(&logits, &[1, 0]).unwrap(), 0.75);
        assert_eq!(numbers(&logits.transpose(0, 1)).unwrap(), [1.0, 2.0, 5.0, 4.0, 3.0, 0.0, 9.0, 1.0]);
    }
}
