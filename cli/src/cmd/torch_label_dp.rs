//! `leakbound torch label-dp`: answers of models trained on private labels about their canaries.

use super::recipe::Recipe;
use super::recorded_plan::RecordedPlan;
use super::training_run::{About, Recorded};
use crate::args::{Common, LabelDpOptions};
use leakbound::Result;
use leakbound::quantity::{Delta, Epsilon};
use leakbound::record::ArrayWriter;
use leakbound::study::significant;
use leakbound_train::{LabelDpModels, LabelDpPlan, TrainingDevice, train_label_dp};
use ndarray::arr0;

/// Trains the models and writes the recording.
pub fn record(common: &Common, options: &LabelDpOptions, device: TrainingDevice) -> Result<Recorded> {
    let plan = options.plan(common.seed)?;
    let delta = options.guaranteed_delta()?;
    let epsilon = plan.mechanism.epsilon(delta)?;
    let mut recipe = Recipe::open(common, &options.data, device, &[])?;
    let recorded = RecordedPlan::new(&plan, recipe.run.digests(), Vec::new());
    recipe.open_checkpoint("label-dp", &plan)?;
    let networks = plan.networks();
    let what = format!("{networks} networks on private labels");
    let models = recipe.train(&what, (networks, "networks"), |context| train_label_dp(context, &plan))?;
    let privacy = if epsilon == Epsilon::INFINITE {
        "labels that are not private".to_owned()
    } else {
        format!("({}, {delta})-label-differentially private labels", significant(epsilon.get(), 4))
    };
    let about = About {
        title: format!(
            "{} model{} ({}) trained on {privacy}, {} canaries each",
            plan.models,
            if plan.models == 1 { "" } else { "s" },
            plan.network,
            plan.canaries
        ),
        networks,
        facts: facts(&models, &plan, (epsilon, delta)),
        plan: Some(recorded),
        ..About::of("leakbound.torch-label-dp/1", options)
    };
    recipe.record(about, |writer| add(writer, &models, (epsilon, delta)))
}

fn facts(models: &LabelDpModels, plan: &LabelDpPlan, (epsilon, delta): (Epsilon, Delta)) -> Vec<(&'static str, f64)> {
    let facts = [
        ("mean-test-accuracy", models.test_accuracy.mean()),
        ("private-label-accuracy", models.private_label_accuracy.mean()),
        ("epsilon", Some(epsilon.get())),
        ("delta", Some(delta.get())),
        ("noise-scale", plan.mechanism.noise_scale().map(|scale| scale.get())),
        ("epsilon-by-rdp", plan.mechanism.epsilon_by_rdp(delta).map(|epsilon| epsilon.get())),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The arrays that `label-dp memorization` reads, then what else there is to know.
fn add(writer: &mut ArrayWriter, models: &LabelDpModels, (epsilon, delta): (Epsilon, Delta)) -> Result<()> {
    writer.add("logits", &models.logits)?;
    writer.add("labels_true", &models.labels_true)?;
    writer.add("labels_trained", &models.labels_trained)?;
    writer.add("canary_index", &models.canary_index)?;
    writer.add("test_accuracy", &models.test_accuracy)?;
    writer.add("private_label_accuracy", &models.private_label_accuracy)?;
    writer.add("epsilon", &arr0(epsilon.get()))?;
    writer.add("delta", &arr0(delta.get()))
}
