//! Networks of one shape side by side: every parameter has a leading dimension that counts the networks. What a step of
//! their training descends.

use super::checks::reject;
use super::layers::BatchPass;
use leakbound::error::Result;
use tch::{Kind, Tensor};

/// The most pairs of a network and an image that are queried together, on a CPU and on a GPU: a bound on memory.
const PAIRS: (i64, i64) = (1 << 10, 1 << 14);

/// Networks of one shape, computed together.
///
/// M networks, batches of B images with F pixels each (channel, row, column), C classes.
pub(super) trait Ensemble {
    /// M.
    fn networks(&self) -> i64;

    /// The parameters, each of shape [M, ...] or with the networks folded into the leading dimension.
    fn parameters(&mut self) -> &mut [Tensor];

    /// Networks of the same shape, possibly in another number: with each parameter and each running statistic as
    /// `change` returns it.
    fn mapped(&self, change: &dyn Fn(&Tensor) -> Tensor) -> Box<dyn Ensemble>;

    /// Logits [M, B, C] of inputs [M, B, F]: network m sees batch m. Nothing is learned.
    fn logits(&self, inputs: &Tensor) -> Tensor;

    /// Logits as they are while the networks learn: those of [`logits`](Self::logits), except where batches are
    /// normalized by their own statistics, which then enter the running ones.
    fn learning_logits(&mut self, inputs: &Tensor) -> Tensor {
        self.logits(inputs)
    }

    /// Adds to `distances` [M] how far the statistics of inputs [M, B, F] are from the running ones; see
    /// [`statistics_distances`]. A network without batch normalization adds nothing.
    fn measure(&self, _inputs: &Tensor, _distances: &mut Tensor) {}

    /// What is learned without a gradient, in the layout of parameters: running statistics.
    fn statistics(&mut self) -> &mut [Tensor] {
        &mut []
    }

    /// Gradients of Σ_m mean_b CE(logits, targets) with respect to the parameters, for targets [M, B, C] that are
    /// probabilities. Networks share nothing, so each gets the gradient of its own mean loss.
    ///
    /// By automatic differentiation; a network with a shorter way overrides it.
    fn gradients(&mut self, inputs: &Tensor, targets: &Tensor) -> Vec<Tensor> {
        automatic_gradients(self, inputs, targets)
    }

    /// Gradients of `loss` with respect to the parameters: a function of the logits [M, B, C] that is a sum over the
    /// networks, so each gets the gradient of its own summand. By automatic differentiation.
    fn gradients_of(&mut self, inputs: &Tensor, loss: &dyn Fn(&Tensor) -> Tensor) -> Vec<Tensor> {
        for parameter in self.parameters().iter_mut() {
            let _ = parameter.requires_grad_(true);
        }
        let loss = loss(&self.learning_logits(inputs));
        let gradients = Tensor::run_backward(&[&loss], &self.parameters().iter().collect::<Vec<_>>(), false, false);
        for parameter in self.parameters().iter_mut() {
            let _ = parameter.requires_grad_(false);
        }
        gradients
    }
}

/// [`Ensemble::gradients`] by automatic differentiation.
pub(super) fn automatic_gradients<E: Ensemble + ?Sized>(
    networks: &mut E,
    inputs: &Tensor,
    targets: &Tensor,
) -> Vec<Tensor> {
    let batch = targets.size()[1] as f64;
    networks.gradients_of(inputs, &|logits| -(logits.log_softmax(-1, Kind::Float) * targets).sum(Kind::Float) / batch)
}

/// Logits [M, N, C] of every network for the same images [N, F], some images at a time.
pub(super) fn logits_of_all(networks: &dyn Ensemble, images: &Tensor) -> Tensor {
    logits_of_each(networks, &images.unsqueeze(0).expand([networks.networks(), -1, -1], false))
}

/// Logits [M, N, C] of network m for its own images m of [M, N, F], some images at a time.
pub(super) fn logits_of_each(networks: &dyn Ensemble, images: &Tensor) -> Tensor {
    let pairs = if images.device().is_cuda() { PAIRS.1 } else { PAIRS.0 };
    let parts: Vec<Tensor> =
        images.split((pairs / networks.networks()).max(1), 1).iter().map(|part| networks.logits(part)).collect();
    Tensor::cat(&parts, 1)
}

/// For each network [M], how far the statistics of inputs [M, B, F] are from the running statistics of all its layers of
/// batch normalization: Σ ‖mean - running mean‖₂ + ‖variance - running variance‖₂. 0 for a network without them.
///
/// # References
/// Yin et al. (2020), "Dreaming to distill: Data-free knowledge transfer via DeepInversion", (4).
pub(super) fn statistics_distances(networks: &dyn Ensemble, inputs: &Tensor) -> Tensor {
    let mut distances = Tensor::zeros([networks.networks()], (Kind::Float, inputs.device()));
    networks.measure(inputs, &mut distances);
    distances
}

/// Rejects parameters of a training that has diverged.
///
/// # Errors
/// [`Error::Rejected`](leakbound::Error::Rejected) for a parameter that is not finite.
pub(super) fn check_finite(parameters: &[Tensor], operation: &'static str) -> Result<()> {
    let finite = |parameter: &Tensor| f64::try_from(parameter.isfinite().all()).unwrap_or(0.0) == 1.0;
    if parameters.iter().all(finite) {
        return Ok(());
    }
    reject(operation, "parameters are no longer finite; lower the learning rate")
}

/// A loss of networks that are trained side by side.
pub(super) trait Loss: Sync {
    /// Gradients at a batch with respect to the parameters: inputs [M, B, F], targets [M, B, C] that are probabilities,
    /// in the pass `epoch` over the images, counted from 0. Each network gets the gradient of its own loss.
    fn gradients(&self, networks: &mut dyn Ensemble, inputs: &Tensor, targets: &Tensor, epoch: u64) -> Vec<Tensor>;
}

/// The mean cross-entropy of a batch, in nats.
pub(super) struct CrossEntropy;

impl Loss for CrossEntropy {
    fn gradients(&self, networks: &mut dyn Ensemble, inputs: &Tensor, targets: &Tensor, _: u64) -> Vec<Tensor> {
        networks.gradients(inputs, targets)
    }
}

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
