//! Networks of one shape that are no more than their tensors and what is computed of them.

use super::ensemble::{Ensemble, automatic_gradients};
use super::layers::BatchPass;
use tch::Tensor;

/// What networks of one shape compute.
pub(super) trait Architecture: Clone + 'static {
    /// Logits [M, B, C] of inputs [M, B, F]; a network without batch normalization does the same in every pass.
    fn forward(networks: &Networks<Self>, inputs: &Tensor, pass: &mut BatchPass<'_>) -> Tensor;

    /// [`Ensemble::gradients`].
    fn gradients(networks: &mut Networks<Self>, inputs: &Tensor, targets: &Tensor) -> Vec<Tensor> {
        automatic_gradients(networks, inputs, targets)
    }
}

/// M networks with their tensors.
pub(super) struct Networks<A> {
    pub architecture: A,
    /// M.
    pub count: i64,
    /// In the order in which inputs meet them.
    pub parameters: Vec<Tensor>,
    /// Running means and variances, in the same order; none without batch normalization.
    pub statistics: Vec<Tensor>,
}

impl<A: Architecture> Ensemble for Networks<A> {
    fn networks(&self) -> i64 {
        self.count
    }

    fn parameters(&mut self) -> &mut [Tensor] {
        &mut self.parameters
    }

    fn mapped(&self, change: &dyn Fn(&Tensor) -> Tensor) -> Box<dyn Ensemble> {
        let parameters: Vec<Tensor> = self.parameters.iter().map(change).collect();
        // How many networks there are now is what their first parameter tells.
        let rows = |parameters: &[Tensor]| parameters.first().map_or(1, |parameter| parameter.size()[0]);
        Box::new(Self {
            architecture: self.architecture.clone(),
            count: self.count * rows(&parameters) / rows(&self.parameters),
            parameters,
            statistics: self.statistics.iter().map(change).collect(),
        })
    }

    fn statistics(&mut self) -> &mut [Tensor] {
        &mut self.statistics
    }

    fn logits(&self, inputs: &Tensor) -> Tensor {
        A::forward(self, inputs, &mut BatchPass::Answering)
    }

    fn learning_logits(&mut self, inputs: &Tensor) -> Tensor {
        A::forward(self, inputs, &mut BatchPass::Learning)
    }

    fn measure(&self, inputs: &Tensor, distances: &mut Tensor) {
        if !self.statistics.is_empty() {
            let _ = A::forward(self, inputs, &mut BatchPass::Measuring(distances));
        }
    }

    fn gradients(&mut self, inputs: &Tensor, targets: &Tensor) -> Vec<Tensor> {
        A::gradients(self, inputs, targets)
    }
}
