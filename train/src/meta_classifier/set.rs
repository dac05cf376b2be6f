//! A meta-classifier that does not see the order of the hidden units of a network.

use super::dropout::Dropout;
use super::plan::SetPlan;
use crate::ensemble::{Architecture, Networks};
use crate::initial::Initial;
use crate::layers::{BatchPass, dense};
use leakbound::property::LayerWeights;
use rand_chacha::ChaCha8Rng;
use tch::{Device, Kind, Tensor};

/// Parameters of a layer's units: weights and biases of two dense layers.
const OF_LAYER: usize = 4;

/// A network of [`SetPlan`]. Parameters are of each layer those of its units; then those of the layer behind the averages
/// and of the last one.
#[derive(Clone)]
pub(super) struct Set {
    plan: SetPlan,
    /// The layers of the networks that it looks at.
    layers: Vec<LayerWeights>,
    dropout: Dropout,
}

impl Set {
    /// One for networks of these layers.
    pub fn network(
        plan: SetPlan,
        (layers, values): (&[LayerWeights], usize),
        stream: ChaCha8Rng,
        dropout: Dropout,
        device: Device,
    ) -> Networks<Self> {
        let mut streams = [stream];
        let mut initial = Initial::new(&mut streams, device);
        for (index, layer) in layers.iter().enumerate() {
            // A unit below is its representation, and 1 for the sum of the weights.
            let below = if index == 0 { layer.inputs } else { plan.representation + 1 };
            initial.dense(layer.places * below + layer.vectors, plan.units);
            initial.dense(plan.units, plan.representation);
        }
        let classes = layers.last().map_or(0, |layer| layer.outputs);
        initial.dense((layers.len().saturating_sub(1) + classes) * plan.representation, plan.units);
        initial.dense(plan.units, values);
        initial.finish(Self { plan, layers: layers.to_vec(), dropout }, Vec::new())
    }
}

impl Architecture for Set {
    fn forward(networks: &Networks<Self>, inputs: &Tensor, pass: &mut BatchPass<'_>) -> Tensor {
        let Self { plan, layers, dropout } = &networks.architecture;
        let batch = inputs.size()[1];
        let weights = inputs.squeeze_dim(0);
        let (of_layers, behind) = networks.parameters.split_at(OF_LAYER * layers.len());
        let (mut start, mut below, mut averages) = (0, None, Vec::new());
        for (index, (layer, phi)) in layers.iter().zip(of_layers.chunks_exact(OF_LAYER)).enumerate() {
            let of_layer = weights.narrow(1, start, layer.parameters() as i64);
            start += layer.parameters() as i64;
            let features = features(&of_layer, *layer, below.as_ref());
            let folded = features.reshape([1, -1, features.size()[2]]);
            let units = dense(&dense(&folded, &phi[0], &phi[1]).relu(), &phi[2], &phi[3]).relu();
            let units = units.view([batch, layer.outputs as i64, plan.representation as i64]);
            if index + 1 == layers.len() {
                averages.push(units.flatten(1, -1));
            } else {
                averages.push(units.mean_dim([1i64].as_slice(), false, Kind::Float));
                let ones = Tensor::ones([batch, layer.outputs as i64, 1], (Kind::Float, units.device()));
                below = Some(Tensor::cat(&[units, ones], 2));
            }
        }
        let averages = Tensor::cat(&averages, 1).unsqueeze(0);
        let units = dropout.in_pass(pass, dense(&averages, &behind[0], &behind[1]).relu());
        dense(&units, &behind[2], &behind[3])
    }
}

/// What belongs to each unit of a layer, [B, outputs, features], of its weights [B, parameters] and the representations
/// of the units below [B, inputs, R].
fn features(weights: &Tensor, layer: LayerWeights, below: Option<&Tensor>) -> Tensor {
    let batch = weights.size()[0];
    let [places, inputs, outputs] = [layer.places, layer.inputs, layer.outputs].map(|length| length as i64);
    let kernel = weights.narrow(1, 0, layer.kernel() as i64).view([batch, places, inputs, outputs]);
    let kernel = match below {
        None => kernel.view([batch, places * inputs, outputs]).transpose(1, 2),
        Some(below) => {
            let of_places = kernel.permute([0, 3, 1, 2]).reshape([batch, outputs * places, inputs]);
            // Weights have mean 0 and variance 1, so that a sum of them grows with the root of their number.
            (of_places.bmm(below) / (inputs as f64).sqrt()).reshape([batch, outputs, -1])
        }
    };
    let vectors = layer.vectors as i64;
    if vectors == 0 {
        return kernel;
    }
    let numbers = weights.narrow(1, layer.kernel() as i64, vectors * outputs).view([batch, vectors, outputs]);
    Tensor::cat(&[kernel, numbers.transpose(1, 2)], 2)
}
