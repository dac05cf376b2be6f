//! A public model and an ensemble that is trained further from it.

use super::answers::answers;
use super::documents::{Document, Split};
use super::learner::{Lesson, learn};
use super::model::ByteTransformer;
use super::plan::{LogitPrecision, NextTokenPlan};
use super::planted::Planted;
use super::texts::Texts;
use crate::checkpoint::TrainingCheckpoint;
use crate::device::TrainingDevice;
use crate::guard::{TrainingProgress, guarded};
use crate::seed::{Purpose, stream};
use leakbound::error::Result;
use tch::{Device, Tensor};

/// Parts of a batch of the public model on a CPU.
const PARTS: usize = 2;

/// Texts, and where and how closely watched models learn them.
#[derive(Clone, Copy)]
pub struct NextTokenTraining<'a> {
    /// What the members learn.
    pub private: &'a Texts,
    /// What the public model learns; none for a share of the private documents, which then become public.
    pub public: Option<&'a Texts>,
    /// Where.
    pub device: TrainingDevice,
    /// Progress callback, in steps.
    pub progress: &'a TrainingProgress<'a>,
    /// Where finished and interrupted models are kept.
    pub checkpoint: Option<&'a TrainingCheckpoint>,
}

/// A public model, and members trained further from it, with the documents of each.
pub struct LanguageModels {
    pub(super) plan: NextTokenPlan,
    pub(super) split: Split,
    pub(super) planted: Planted,
    /// The public model, then the members.
    models: Vec<ByteTransformer>,
    on: TrainingDevice,
}

impl std::fmt::Debug for LanguageModels {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LanguageModels").field("plan", &self.plan).finish_non_exhaustive()
    }
}

/// Trains the public model on public documents and each member, from there on, on its own private documents with the
/// sequences that are planted with it.
///
/// Members are trained side by side on a CPU, each on one thread: the same seed gives the same models on any number of
/// threads.
///
/// # Errors
/// [`Error::Domain`](leakbound::Error::Domain) and [`Error::Rejected`](leakbound::Error::Rejected) for a plan that
/// cannot be followed and a training that diverges, [`Error::Input`](leakbound::Error::Input) for too few documents,
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails,
/// [`Error::Interrupted`](leakbound::Error::Interrupted) if the callback ends the training; those of the checkpoint.
pub fn train_language_models(training: &NextTokenTraining<'_>, plan: &NextTokenPlan) -> Result<LanguageModels> {
    plan.check()?;
    let &NextTokenTraining { private, public, device: on, progress, checkpoint } = training;
    let split = Split::of(private, public, plan)?;
    let planted = plan.planting.map(|planting| Planted::draw(planting, plan.members, plan.seed)).unwrap_or_default();
    let device = on.tensors();
    let public = guarded("training", || {
        let mut model = ByteTransformer::new(&plan.model, stream(plan.seed, Purpose::Weights, 0, 0), device);
        let parts = if on.is_cuda() { 1 } else { PARTS };
        let documents = &texts(&split.public);
        let (steps, schedule) = (plan.steps, &plan.schedule);
        learn(&mut model, &Lesson { plan, documents, model: 0, steps, schedule, parts, device, checkpoint }, progress)?;
        Ok(model)
    })?;
    let member = |(number, mut model): (usize, ByteTransformer)| {
        let mut documents = texts(&split.members[number]);
        let repeats = plan.planting.map_or(0, |planting| planting.repeats);
        planted.plant(number, &mut documents, repeats, plan.seed);
        let (steps, schedule, documents) = (plan.member_steps, &plan.member_schedule, &documents);
        let model_number = 1 + number;
        let lesson = Lesson { plan, documents, model: model_number, steps, schedule, parts: 1, device, checkpoint };
        learn(&mut model, &lesson, progress)?;
        Ok(model)
    };
    let members = on.each((0..plan.members).map(|number| (number, public.mapped(Tensor::copy))).collect(), member)?;
    let models = [public].into_iter().chain(members).collect();
    Ok(LanguageModels { plan: plan.clone(), split, planted, models, on })
}

fn texts(documents: &[Document]) -> Vec<Vec<u8>> {
    documents.iter().map(|document| document.bytes.clone()).collect()
}

impl LanguageModels {
    /// Documents of the public model, held out, and of all members together.
    #[must_use]
    pub fn documents(&self) -> [usize; 3] {
        let Split { public, held_out, members } = &self.split;
        [public.len(), held_out.len(), members.iter().map(Vec::len).sum()]
    }

    /// What the public model and each member do, in this order; side by side on a CPU.
    pub(super) fn each<T: Send>(
        &self,
        work: impl Fn(&ByteTransformer, Device) -> Result<T> + Send + Sync,
    ) -> Result<Vec<T>> {
        let device = self.on.tensors();
        let models = self.models.iter().map(|model| model.mapped(Tensor::shallow_clone)).collect();
        self.on.each(models, |model| work(&model, device))
    }

    /// Logits behind each context, 256 after 256, of the public model and of each member, as they are recorded.
    pub(super) fn logits(&self, contexts: &[&[u8]], precision: LogitPrecision) -> Result<Vec<Vec<f32>>> {
        self.each(|model, device| {
            let mut logits = answers(model, contexts, device)?;
            logits.iter_mut().for_each(|logit| *logit = precision.round(*logit));
            Ok(logits)
        })
    }
}
