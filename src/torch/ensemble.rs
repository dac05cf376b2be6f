//! Networks of one shape side by side: every parameter has a leading dimension that counts the networks.

use tch::{Kind, Tensor};

/// Networks of one shape, computed together.
///
/// M networks, batches of B images with F pixels each (channel, row, column), C classes.
pub(super) trait Ensemble {
    /// M.
    fn networks(&self) -> i64;

    /// The parameters, each of shape [M, ...] or with the networks folded into the leading dimension.
    fn parameters(&mut self) -> &mut [Tensor];

    /// Networks of the same shape, of which there may be another number: with each parameter as `change` returns it.
    fn mapped(&self, change: &dyn Fn(&Tensor) -> Tensor) -> Box<dyn Ensemble>;

    /// Logits [M, B, C] of inputs [M, B, F]: network m sees batch m.
    fn logits(&self, inputs: &Tensor) -> Tensor;

    /// Gradients of Σ_m mean_b CE(logits, targets) with respect to the parameters, for targets [M, B, C] that are
    /// probabilities. Networks share nothing, so each gets the gradient of its own mean loss.
    ///
    /// By automatic differentiation; a network with a shorter way overrides it.
    fn gradients(&mut self, inputs: &Tensor, targets: &Tensor) -> Vec<Tensor> {
        for parameter in self.parameters().iter_mut() {
            let _ = parameter.requires_grad_(true);
        }
        let batch = targets.size()[1] as f64;
        let losses = -(self.logits(inputs).log_softmax(-1, Kind::Float) * targets).sum(Kind::Float) / batch;
        let gradients = Tensor::run_backward(&[&losses], &self.parameters().iter().collect::<Vec<_>>(), false, false);
        for parameter in self.parameters().iter_mut() {
            let _ = parameter.requires_grad_(false);
        }
        gradients
    }
}
