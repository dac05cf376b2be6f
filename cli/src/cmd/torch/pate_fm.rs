//! `leakbound torch pate-fm`: answers of a student of noisy votes about its canaries.

use super::data::DataOptions;
use super::fixmatch::FixMatchOptions;
use super::network::NetworkOptions;
use super::numbers::count;
use super::recipe::Recipe;
use super::student::scale;
use super::training_run::{About, Recorded};
use crate::args::Common;
use crate::args::values::{delta, listed, named, threshold};
use crate::cmd::recorded_plan::RecordedPlan;
use clap::Args;
use leakbound::Result;
use leakbound::distribution::{Noise, ThresholdForm, ThresholdTest};
use leakbound::error::Error;
use leakbound::quantity::{Delta, Epsilon};
use leakbound::record::ArrayWriter;
use leakbound::study::{Warning, significant};
use leakbound_train::{LabelGoal, PateFmModels, PateFmPlan, PateFmRun, TrainingDevice, VotingPlan, train_pate_fm};
use ndarray::{Array, ArrayD, Axis, Dimension, arr0};
use serde::Serialize;

/// Train a PATE student by FixMatch on training images that teachers label (PATE-FM), and record its answers on
/// canaries with wrong labels
#[derive(Debug, Clone, Args, Serialize)]
#[command(
    after_help = "Images are public here, and labels are private. Epsilon is claimed for --queries and --labels, \
                  declared beforehand, whatever the votes are.\n\nExample:\n  leakbound torch pate-fm --data \
                  fashion-mnist --recording canaries.npz --network cnn --filters 16 --flip --shift 2\n  leakbound \
                  label-dp memorization canaries.npz"
)]
pub struct PateFmOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Teachers; each has an equal part of the labels
    #[arg(long, value_name = "T", default_value = "100", value_parser = count, allow_hyphen_values = true)]
    pub teachers: usize,
    /// Answer only if the noisy largest count reaches T votes
    #[arg(long, value_name = "T", value_parser = threshold, default_value = "50", allow_hyphen_values = true, help_heading = "Advanced")]
    pub threshold: f64,
    /// Noise of the threshold test: gaussian:sigma=S
    #[arg(long, value_name = "NOISE", default_value = "gaussian:40", allow_hyphen_values = true)]
    #[arg(help_heading = "Advanced")]
    pub threshold_noise: Noise,
    /// Where that noise is added: per-class (a draw on each count, as published) or max (one draw on the largest count)
    #[arg(long, value_name = "FORM", default_value = "per-class", help_heading = "Advanced")]
    #[arg(hide_possible_values = true, value_parser = listed(named::<ThresholdForm>, ThresholdForm::ALL.map(ThresholdForm::name)))]
    pub threshold_form: ThresholdForm,
    /// Noise on every count of an answer: gaussian:sigma=S
    #[arg(long, value_name = "NOISE", default_value = "gaussian:20", allow_hyphen_values = true)]
    pub noise: Noise,
    /// Labels of the student: queries end at this number
    #[arg(long, value_name = "K", default_value = "250", value_parser = count, allow_hyphen_values = true)]
    pub labels: usize,
    /// Labels of each class instead: queries end when every class has this number; answers beyond cost as much and are not
    /// used
    #[arg(long, value_name = "K", value_parser = count, conflicts_with = "labels", allow_hyphen_values = true, help_heading = "Advanced")]
    pub labels_per_class: Option<usize>,
    /// Answers at most with --labels-per-class, for which epsilon is claimed [default: --queries]
    #[arg(long, value_name = "A", value_parser = count, requires = "labels_per_class", allow_hyphen_values = true, help_heading = "Advanced")]
    pub answers: Option<usize>,
    /// Queries at most, for which epsilon is claimed, whether or not they are made: training images in random order
    #[arg(long, value_name = "N", default_value = "1000", value_parser = count, allow_hyphen_values = true)]
    pub queries: usize,
    /// Delta of epsilon
    #[arg(long, value_name = "D", default_value = "1e-5", value_parser = delta, allow_hyphen_values = true, help_heading = "Advanced")]
    pub delta: Delta,
    /// Canaries: training images with a wrong label, drawn at random
    #[arg(long, value_name = "N", default_value = "1000", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub canaries: usize,
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub training: FixMatchOptions,
    /// Independent runs, with new canaries, partitions, weights, queries and noise
    #[arg(long, value_name = "N", default_value = "1", value_parser = count, allow_hyphen_values = true)]
    pub runs: usize,
}

impl PateFmOptions {
    pub fn plan(&self, seed: u64) -> Result<PateFmPlan> {
        let sigma = scale("--threshold-noise", self.threshold_noise)?;
        let [teacher_training, student_training] = self.training.plans();
        Ok(PateFmPlan {
            teachers: self.teachers,
            network: self.network.plan(),
            teacher_training,
            student_training,
            voting: VotingPlan {
                test: ThresholdTest::new(self.threshold, sigma, self.threshold_form)?,
                sigma: scale("--noise", self.noise)?,
                goal: match self.labels_per_class {
                    Some(labels) => LabelGoal::PerClass { labels, answers: self.answers },
                    None => LabelGoal::Total(self.labels),
                },
                queries: self.queries,
                delta: self.delta,
            },
            canaries: self.canaries,
            runs: self.runs,
            seed,
        })
    }
}

/// Trains teachers and students and writes the recording.
pub fn record(common: &Common, options: &PateFmOptions, device: TrainingDevice) -> Result<Recorded> {
    let plan = options.plan(common.seed)?;
    let claim = plan.voting.claimed_epsilon();
    let mut recipe = Recipe::open(common, &options.data, device, &[])?;
    let recorded = RecordedPlan::new(&plan, recipe.run.digests(), Vec::new());
    recipe.open_checkpoint("pate-fm", &plan.votes())?;
    let networks = plan.networks();
    let models = recipe.train_networks(networks, |context| train_pate_fm(context, &plan))?;
    let about = About {
        title: format!(
            "{} ({}) of {} teachers, ({}, {})-label-differentially private, {} canaries",
            if plan.runs == 1 { "A student".into() } else { format!("{} students", plan.runs) },
            plan.network,
            plan.teachers,
            significant(claim.get(), 4),
            plan.voting.delta,
            plan.canaries
        ),
        networks,
        facts: facts(&models, &plan, claim),
        warnings: warnings(&models, &plan),
        plan: Some(recorded),
        ..About::of("leakbound.torch-pate-fm/1", options)
    };
    recipe.record(about, |writer| add(writer, &models, (&plan, claim)))
}

/// Means over the runs, but for what they have in common.
fn facts(models: &PateFmModels, plan: &PateFmPlan, claim: Epsilon) -> Vec<(&'static str, f64)> {
    let mean =
        |value: &dyn Fn(&PateFmRun) -> f64| models.runs.iter().map(value).sum::<f64>() / models.runs.len() as f64;
    vec![
        ("accuracy", mean(&|run| run.test_accuracy)),
        ("supervised-accuracy", mean(&|run| run.supervised_accuracy)),
        ("ensemble-accuracy", mean(&|run| run.ensemble_accuracy)),
        ("mean-teacher-accuracy", mean(&|run| run.teacher_accuracy.mean().unwrap_or(0.0))),
        ("label-accuracy", mean(&|run| run.labeling.accuracy().unwrap_or(0.0))),
        ("queries", mean(&|run| run.labeling.queries as f64)),
        ("labels", mean(&|run| run.labeling.labels as f64)),
        ("epsilon", claim.get()),
        ("delta", plan.voting.delta.get()),
        ("data-dependent-epsilon", mean(&|run| run.labeling.epsilon.get())),
    ]
}

/// The arrays that `label-dp memorization` reads, then what else there is to know.
fn add(writer: &mut ArrayWriter, models: &PateFmModels, (plan, claim): (&PateFmPlan, Epsilon)) -> Result<()> {
    let runs = &models.runs;
    writer.add("logits", &of_runs(runs, |run| run.logits.clone())?)?;
    writer.add("labels_true", &of_runs(runs, |run| run.labels_true.clone())?)?;
    writer.add("labels_trained", &of_runs(runs, |run| run.labels_trained.clone())?)?;
    writer.add("canary_index", &of_runs(runs, |run| run.canary_index.clone())?)?;
    writer.add("test_accuracy", &of_runs(runs, |run| arr0(run.test_accuracy))?)?;
    writer.add("epsilon", &arr0(claim.get()))?;
    writer.add("delta", &arr0(plan.voting.delta.get()))?;
    writer.add("supervised_accuracy", &of_runs(runs, |run| arr0(run.supervised_accuracy))?)?;
    writer.add("ensemble_accuracy", &of_runs(runs, |run| arr0(run.ensemble_accuracy))?)?;
    writer.add("teacher_accuracy", &of_runs(runs, |run| run.teacher_accuracy.clone())?)?;
    writer.add("label_accuracy", &of_runs(runs, |run| arr0(run.labeling.accuracy().unwrap_or(0.0)))?)?;
    writer.add("data_dependent_epsilon", &of_runs(runs, |run| arr0(run.labeling.epsilon.get()))?)?;
    writer.add("votes", &of_runs(runs, |run| run.votes.clone())?)?;
    writer.add("query_index", &of_runs(runs, |run| run.query_index.clone())?)?;
    writer.add("given_label", &of_runs(runs, |run| run.given_label.clone())?)?;
    writer.add("label_used", &of_runs(runs, |run| run.used.clone())?)?;
    writer.add("label_seed", &of_runs(runs, |run| arr0(run.label_seed))?)
}

/// The array of the one run, or those of all with a leading axis that counts the runs.
fn of_runs<T: Clone, D: Dimension>(runs: &[PateFmRun], array: impl Fn(&PateFmRun) -> Array<T, D>) -> Result<ArrayD<T>> {
    let mut arrays: Vec<ArrayD<T>> = runs.iter().map(|run| array(run).into_dyn()).collect();
    if arrays.len() == 1 {
        return Ok(arrays.remove(0));
    }
    let views: Vec<_> = arrays.iter().map(|array| array.view()).collect();
    ndarray::stack(Axis(0), &views)
        .map_err(|error| Error::Unavailable { operation: "answers", reason: error.to_string() })
}

/// What the figures are not.
fn warnings(models: &PateFmModels, plan: &PateFmPlan) -> Vec<Warning> {
    let mut warnings = vec![Warning {
        code: "data-dependent-epsilon",
        message:
            "data-dependent epsilon is for the queries that were made and the votes that were cast: it depends on \
                  private labels, and guarantees nothing when it is published"
                .into(),
        hint: format!(
            "epsilon always holds: {} queries and {} answers at most, whatever the votes",
            plan.voting.queries,
            plan.voting.answers()
        ),
    }];
    if plan.runs > 1 {
        warnings.push(Warning {
            code: "runs-add-up",
            message: format!("epsilon is that of one run, and {} runs queried on the same labels", plan.runs),
            hint: "several runs are for measuring; release the student of one".into(),
        });
    }
    let short = models.runs.iter().enumerate().find(|(_, run)| !run.complete);
    if let Some((run, found)) = short {
        let (queries, labels) = (found.labeling.queries, found.used.iter().filter(|used| **used).count());
        warnings.push(Warning {
            code: "labels-missing",
            message: format!("run {run} has {labels} labels of {queries} queries, fewer than its student wanted"),
            hint: "make more --queries or lower --threshold".into(),
        });
    }
    warnings
}
