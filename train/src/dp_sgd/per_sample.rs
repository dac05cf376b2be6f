//! Gradients of single images, for any network: copies of it, one for each image, are an ensemble.

use crate::ensemble::Ensemble;
use tch::{Kind, Tensor};

/// The gradient of each image, for every parameter [n, size of the parameter].
///
/// `network` is an ensemble of one. Inputs [n, K, F] are K views of each image and targets [n, C] its probabilities; a
/// gradient is the mean over its views (augmentation multiplicity: De et al. 2022, "Unlocking high-accuracy
/// differentially private image classification through scale", section 3.2).
pub(super) fn gradients_of_each(network: &dyn Ensemble, inputs: &Tensor, targets: &Tensor) -> Vec<Tensor> {
    let (images, views) = (inputs.size()[0], inputs.size()[1]);
    let mut copies = network.mapped(&|parameter| {
        let mut size = vec![images];
        size.extend(parameter.size());
        parameter.unsqueeze(0).expand(size, false).flatten(0, 1)
    });
    let targets = targets.unsqueeze(1).expand([images, views, targets.size()[1]], false);
    copies.gradients(inputs, &targets).iter().map(|gradient| gradient.reshape([images, -1])).collect()
}

/// Adds Σ_i g_i min(1, R/‖g_i‖) to `sums`, which has the shapes of the parameters: the gradient of each image, all
/// parameters together, shortened to the norm R.
pub(super) fn add_clipped(
    network: &dyn Ensemble,
    inputs: &Tensor,
    targets: &Tensor,
    clipping_norm: f64,
    sums: &mut [Tensor],
) {
    let gradients = gradients_of_each(network, inputs, targets);
    let norms: Vec<Tensor> = gradients.iter().map(norm_of_rows).collect();
    let norm = norm_of_rows(&Tensor::stack(&norms, 1));
    // A gradient of norm 0 has the factor min(1, inf).
    let factor = (norm.reciprocal() * clipping_norm).clamp_max(1.0).unsqueeze(0);
    for (sum, gradient) in sums.iter_mut().zip(&gradients) {
        *sum += factor.matmul(gradient).view_as(sum);
    }
}

/// ℓ₂ norm of each row.
fn norm_of_rows(rows: &Tensor) -> Tensor {
    rows.linalg_norm(2.0, [1i64].as_slice(), false, Kind::Float)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::Normalization;
    use crate::network::NetworkPlan;
    use crate::seed::{Purpose, stream};
    use tch::Device;

    const IMAGES: i64 = 5;
    const MLP: NetworkPlan = NetworkPlan::Mlp { hidden: 4 };

    /// One network, five images of 12 x 12 pixels in two views, and their targets.
    fn example(network: NetworkPlan) -> (Box<dyn Ensemble>, Tensor, Tensor) {
        let floats = (Kind::Float, Device::Cpu);
        let inputs = Tensor::linspace(-1.0, 500.0, IMAGES * 2 * 144, floats).sin().view([IMAGES, 2, 144]);
        let targets = Tensor::linspace(0.0, 7.0, IMAGES * 3, floats).cos().view([IMAGES, 3]).softmax(-1, Kind::Float);
        (network.build(&mut [stream(2, Purpose::Weights, 0, 0)], [1, 12, 12], 3, Device::Cpu), inputs, targets)
    }

    /// Gradients of images one after the other, by automatic differentiation of the mean loss over their views.
    fn one_by_one(network: &mut dyn Ensemble, inputs: &Tensor, targets: &Tensor) -> Vec<Vec<Tensor>> {
        for parameter in network.parameters() {
            let _ = parameter.requires_grad_(true);
        }
        let gradients = (0..IMAGES)
            .map(|image| {
                let logits = network.logits(&inputs.narrow(0, image, 1));
                let loss = -(logits.log_softmax(-1, Kind::Float) * targets.get(image)).sum(Kind::Float) / 2.0;
                let parameters: Vec<Tensor> = network.parameters().iter().map(Tensor::shallow_clone).collect();
                Tensor::run_backward(&[loss], &parameters, false, false)
            })
            .collect();
        for parameter in network.parameters() {
            let _ = parameter.requires_grad_(false);
        }
        gradients
    }

    fn norm(gradient: &[Tensor]) -> f64 {
        gradient.iter().map(|part| f64::try_from(part.square().sum(Kind::Double)).unwrap()).sum::<f64>().sqrt()
    }

    /// Largest difference, relative to the norm of what was expected.
    fn distance(found: &[Tensor], expected: &[Tensor]) -> f64 {
        let differences: Vec<Tensor> = found.iter().zip(expected).map(|(a, b)| a.reshape(b.size()) - b).collect();
        norm(&differences) / norm(expected)
    }

    #[test]
    fn gradients_are_those_of_images_alone() {
        let wide = NetworkPlan::WideResNet { depth: 10, width: 1, normalization: Normalization::Group };
        for plan in [MLP, NetworkPlan::LeNet5, wide] {
            let (mut network, inputs, targets) = example(plan);
            let expected = one_by_one(&mut *network, &inputs, &targets);
            let found = gradients_of_each(&*network, &inputs, &targets);
            for (image, expected) in expected.iter().enumerate() {
                let found: Vec<Tensor> = found.iter().map(|gradient| gradient.get(image as i64)).collect();
                let error = distance(&found, expected);
                println!("{plan}, image {image}: {error:e}");
                assert!(error < 1e-5);
            }
        }
    }

    #[test]
    fn each_gradient_is_clipped_by_itself() {
        let (mut network, inputs, targets) = example(MLP);
        let alone = one_by_one(&mut *network, &inputs, &targets);
        let norms: Vec<f64> = alone.iter().map(|gradient| norm(gradient)).collect();
        // Some are longer than the norm, some are not.
        let clip = norms.iter().sum::<f64>() / norms.len() as f64;
        assert!(norms.iter().any(|norm| *norm > 1.01 * clip) && norms.iter().any(|norm| *norm < 0.99 * clip));
        let expected: Vec<Tensor> = (0..network.parameters().len())
            .map(|part| {
                let parts = alone.iter().zip(&norms).map(|(gradient, norm)| &gradient[part] * (clip / norm).min(1.0));
                parts.reduce(|sum, part| sum + part).unwrap()
            })
            .collect();
        let zeros = |network: &mut dyn Ensemble| network.parameters().iter().map(Tensor::zeros_like).collect();
        let mut found: Vec<Tensor> = zeros(&mut *network);
        add_clipped(&*network, &inputs, &targets, clip, &mut found);
        assert!(distance(&found, &expected) < 1e-5);
        // One image alone is never longer than the norm; and an image that is learned moves nothing.
        let mut one: Vec<Tensor> = zeros(&mut *network);
        add_clipped(&*network, &inputs.narrow(0, 0, 1), &targets.narrow(0, 0, 1), 0.01, &mut one);
        assert!((norm(&one) / 0.01 - 1.0).abs() < 1e-5);
        let learned = network.logits(&inputs.narrow(0, 0, 1).narrow(1, 0, 1)).softmax(-1, Kind::Float).view([1, 3]);
        let mut none: Vec<Tensor> = zeros(&mut *network);
        add_clipped(&*network, &inputs.narrow(0, 0, 1).narrow(1, 0, 1), &learned, 1.0, &mut none);
        assert!(norm(&none) < 1e-6);
    }
}
