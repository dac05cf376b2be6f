//! The weights of networks as one vector for each.

use crate::checks::reject;
use crate::ensemble::Ensemble;
use crate::network::NetworkPlan;
use leakbound::error::Result;
use leakbound::property::LayerWeights;
use tch::Tensor;

/// The layers of a network, read from its parameters: a kernel, then whatever vectors belong to it.
///
/// # Errors
/// [`Error::Rejected`](leakbound::Error::Rejected) for a network whose layers do not lie one behind the other.
pub(super) fn layers(plan: NetworkPlan, networks: &mut dyn Ensemble) -> Result<Vec<LayerWeights>> {
    if let NetworkPlan::WideResNet { .. } = plan {
        let reason = format!("{plan} has layers that are added up; take an mlp, a cnn or LeNet-5");
        return reject("meta-classifier", reason);
    }
    let count = networks.networks();
    let mut layers: Vec<LayerWeights> = Vec::new();
    // A dense kernel and its bias both have three axes.
    let mut bias_is_next = false;
    for parameter in networks.parameters().iter() {
        let below = layers.last().map(|layer| layer.outputs);
        match *parameter.size() {
            [outputs, inputs, rows, columns] => {
                let outputs = (outputs / count) as usize;
                layers.push(LayerWeights {
                    places: (rows * columns) as usize,
                    inputs: inputs as usize,
                    outputs,
                    vectors: 0,
                });
            }
            [_, inputs, outputs] if !bias_is_next => {
                let units = below.unwrap_or(inputs as usize);
                let places = inputs as usize / units.max(1);
                layers.push(LayerWeights { places, inputs: units, outputs: outputs as usize, vectors: 0 });
                bias_is_next = true;
            }
            _ => {
                layers.iter_mut().next_back().into_iter().for_each(|layer| layer.vectors += 1);
                bias_is_next = false;
            }
        }
    }
    Ok(layers)
}

/// The weights [M, P] of networks with these layers, in the order that [`LayerWeights`] describes.
pub(super) fn flattened(layers: &[LayerWeights], networks: &mut dyn Ensemble) -> Tensor {
    let count = networks.networks();
    let mut parameters = networks.parameters().iter();
    let mut parts = Vec::new();
    for layer in layers {
        let [places, inputs, outputs] = [layer.places, layer.inputs, layer.outputs].map(|length| length as i64);
        // Filters lie before their places, in kernels and in what a dense layer sees of a convolution.
        parts.extend(parameters.next().map(|kernel| match kernel.dim() {
            4 => kernel.view([count, outputs, inputs, places]).permute([0, 3, 2, 1]).reshape([count, -1]),
            _ => kernel.view([count, inputs, places, outputs]).permute([0, 2, 1, 3]).reshape([count, -1]),
        }));
        parts.extend((&mut parameters).take(layer.vectors).map(|vector| vector.view([count, -1])));
    }
    Tensor::cat(&parts, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::Normalization;
    use crate::seed::{Purpose, streams};
    use tch::Device;

    fn build(plan: NetworkPlan) -> Box<dyn Ensemble> {
        plan.build(&mut streams(1, Purpose::Weights, 0, 0..2), [1, 28, 28], 10, Device::Cpu)
    }

    #[test]
    fn layers_are_those_that_are_printed() {
        let of = |plan: NetworkPlan| {
            let layers = layers(plan, &mut *build(plan)).unwrap();
            LayerWeights::check(&layers).unwrap();
            let rows = layers.iter().map(|layer| [layer.places, layer.inputs, layer.outputs, layer.vectors]);
            rows.collect::<Vec<_>>()
        };
        assert_eq!(of(NetworkPlan::Mlp { hidden: 1 }), [[1, 784, 1, 1], [1, 1, 10, 1]]);
        // "Attacking PATE", table 5.1.
        let cnn = [[25, 1, 8, 3], [25, 8, 8, 3], [49, 8, 128, 1], [1, 128, 10, 1]];
        assert_eq!(of(NetworkPlan::Cnn { filters: 8 }), cnn);
        let lenet = [[25, 1, 6, 1], [25, 6, 16, 1], [25, 16, 120, 1], [1, 120, 84, 1], [1, 84, 10, 1]];
        assert_eq!(of(NetworkPlan::LeNet5), lenet);
        let wide = NetworkPlan::WideResNet { depth: 10, width: 1, normalization: Normalization::Batch };
        let error = layers(wide, &mut *build(wide)).unwrap_err().to_string();
        assert_eq!(error, "meta-classifier: WRN-10-1 has layers that are added up; take an mlp, a cnn or LeNet-5");
    }

    /// Of the second network: a weight of the second convolution, and one of the dense layer behind it.
    #[test]
    fn weights_lie_where_keras_puts_them() {
        let plan = NetworkPlan::Cnn { filters: 3 };
        let mut networks = build(plan);
        let layers = layers(plan, &mut *networks).unwrap();
        let all = flattened(&layers, &mut *networks);
        let starts: Vec<usize> = layers
            .iter()
            .scan(0, |start, layer| {
                *start += layer.parameters();
                Some(*start - layer.parameters())
            })
            .collect();
        assert_eq!(all.size(), [2, layers.iter().map(|layer| layer.parameters()).sum::<usize>() as i64]);
        let at = |index: usize| all.double_value(&[1, index as i64]);
        // Row 4, column 2 of the kernel, from filter 1 to filter 2.
        let convolution = networks.parameters()[4].double_value(&[3 + 2, 1, 4, 2]);
        assert_eq!(at(starts[1] + ((4 * 5 + 2) * 3 + 1) * 3 + 2), convolution);
        // Row 6, column 5 of the image of filter 1, to unit 77.
        let dense = networks.parameters()[8].double_value(&[1, 49 + 6 * 7 + 5, 77]);
        assert_eq!(at(starts[2] + ((6 * 7 + 5) * 3 + 1) * 128 + 77), dense);
        // Scales, which are 1, lie behind kernel and bias.
        assert_eq!(at(starts[1] + 25 * 9 + 3), 1.0);
    }
}
