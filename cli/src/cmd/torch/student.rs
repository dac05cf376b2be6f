//! `leakbound torch student`: students of labels that were bought with privacy budgets.

use super::data::DataOptions;
use super::network::{NETWORKS, Network, NetworkOptions};
use super::numbers::{any_count, count, factor, rate, share};
use super::recipe::Recipe;
use super::training::TrainingOptions;
use super::training_run::{About, add_fields};
use crate::args::Common;
use crate::args::values::{Choice, Names, Orders, Parsed, choice, delta, listed, named, number, orders, threshold};
use clap::Args;
use leakbound::accountant::PrivacyBudget;
use leakbound::distribution::{Noise, ThresholdForm, ThresholdTest};
use leakbound::divergence::{Conversion, order_grid};
use leakbound::quantity::{Delta, Epsilon, NoiseScale};
use leakbound::record::ArrayWriter;
use leakbound::report::{StudentDocument, StudentRow};
use leakbound::study::{Number, Warning, short, significant};
use leakbound::{Error, Result};
use leakbound_train::{
    LabelCosts, LabelingPlan, Optimizer, Schedule, StudentPlan, Students, TrainingDevice, TrainingPlan, train_student,
};
use ndarray::Array1;
use serde::{Serialize, Serializer};

/// Train PATE students on labels within privacy budgets, and record all answers
#[derive(Debug, Clone, Args, Serialize)]
#[command(after_help = "Examples:\n  leakbound torch student --data fashion-mnist --recording students.npz \
                        --budgets 1,2,3,5 --runs 3 --baselines 1\n  leakbound membership students \
                        students.npz\n  leakbound account students.npz --noise gaussian:40 --threshold 200 --threshold-noise \
                        gaussian:150\n\nThe training images are private. The test images are split: --public of \
                        each class may get labels, the others measure.")]
pub struct StudentOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Teachers
    #[arg(long, value_name = "K", default_value = "250", value_parser = count, allow_hyphen_values = true)]
    pub teachers: usize,
    /// Training images per teacher [default: an equal share of all]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub images: Option<usize>,
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub training: TrainingOptions,
    /// Fraction of the test images of each class that is public; the rest measures accuracy
    #[arg(long, value_name = "P", default_value = "0.8", value_parser = share, allow_hyphen_values = true, help_heading = "Advanced")]
    pub public: f64,
    /// Privacy budgets: for each E, label queries until epsilon would exceed E and train a student; inf labels all
    #[arg(long, value_name = "E,...", value_delimiter = ',', value_parser = budget, default_value = "1,2,3,5", allow_hyphen_values = true)]
    #[serde(serialize_with = "serialize_budgets")]
    pub budgets: Vec<Epsilon>,
    /// Delta of the budgets
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-5", allow_hyphen_values = true, help_heading = "Advanced")]
    pub delta: Delta,
    /// Answer only if the noisy largest count reaches T votes
    #[arg(long, value_name = "T", value_parser = threshold, default_value = "200", allow_hyphen_values = true)]
    pub threshold: f64,
    /// Noise of the threshold test: gaussian:sigma=S
    #[arg(long, value_name = "NOISE", default_value = "gaussian:150", allow_hyphen_values = true)]
    #[arg(help_heading = "Advanced")]
    pub threshold_noise: Noise,
    /// Where that noise is added: max (one draw on the largest count) or per-class (a draw on each count)
    #[arg(long, value_name = "FORM", default_value = "max", help_heading = "Advanced")]
    #[arg(hide_possible_values = true, value_parser = listed(named::<ThresholdForm>, ThresholdForm::ALL.map(ThresholdForm::name)))]
    pub threshold_form: ThresholdForm,
    /// Noise on every count of an answer: gaussian:sigma=S
    #[arg(long, value_name = "NOISE", default_value = "gaussian:40", allow_hyphen_values = true)]
    pub noise: Noise,
    /// What an answer is charged: for these votes, or for any votes
    #[arg(long, value_parser = choice(COSTS), default_value = "data-dependent", help_heading = "Advanced")]
    pub costs: Choice<LabelCosts>,
    /// Rényi orders of which the best is taken, such as 16 or 2..64 [default: a dense grid from 1.05 to 1e5]
    #[arg(long, value_parser = orders, allow_hyphen_values = true, help_heading = "Advanced")]
    pub orders: Option<Orders>,
    /// Conversion of composed RDP to epsilon
    #[arg(long, value_name = "NAME", default_value = "improved", help_heading = "Advanced")]
    #[arg(value_parser = listed(named::<Conversion>, Conversion::ALL.map(Conversion::name)))]
    pub conversion: Conversion,
    /// The network of each student [default: that of the teachers]
    #[arg(long, value_name = "NETWORK", value_parser = choice(NETWORKS), help_heading = "Advanced")]
    pub student_network: Option<Choice<Network>>,
    /// Hidden units of a student that is an mlp [default: those of the teachers]
    #[arg(long, value_name = "H", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub student_hidden: Option<usize>,
    /// Filters of each convolution of a student that is a cnn [default: those of the teachers]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub student_filters: Option<usize>,
    /// Epochs over the labeled images
    #[arg(long, value_name = "N", default_value = "50", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub student_epochs: usize,
    /// Batch size of the student
    #[arg(long, value_name = "N", default_value = "128", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub student_batch: usize,
    /// Learning rate of Adam for students
    #[arg(long, value_name = "R", default_value = "0.001", value_parser = rate, allow_hyphen_values = true, help_heading = "Advanced")]
    pub student_learning_rate: f64,
    /// What that rate is multiplied by after each pass
    #[arg(long, value_name = "F", default_value = "0.95", value_parser = factor, allow_hyphen_values = true, help_heading = "Advanced")]
    pub student_decay: f64,
    /// Randomly drawn training images that students are queried on [default: 2000, or all if there are fewer]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub private: Option<usize>,
    /// Networks without privacy to compare with: trained like students, but on all private images with their true labels
    #[arg(long, value_name = "N", default_value = "0", value_parser = any_count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub baselines: usize,
    /// Independent runs, with new partitions, weights, query orders and noise
    #[arg(long, value_name = "N", default_value = "1", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub runs: usize,
}

/// What an answer is charged.
const COSTS: Names<LabelCosts> = &[
    ("data-dependent", "For the votes that were cast: as the literature reports", LabelCosts::DataDependent),
    ("data-independent", "For any votes: a guarantee where one order is given", LabelCosts::DataIndependent),
];

impl StudentOptions {
    /// The library's plan, with this many training images.
    pub fn plan(&self, seed: u64, training_images: usize) -> Result<StudentPlan> {
        let test =
            ThresholdTest::new(self.threshold, scale("--threshold-noise", self.threshold_noise)?, self.threshold_form)?;
        let network = self.network.plan();
        let orders = self.orders.as_ref().map_or_else(order_grid, |orders| orders.0.clone());
        let budget = |&epsilon| PrivacyBudget::new(epsilon, self.delta, self.conversion, orders.clone());
        Ok(StudentPlan {
            teachers: self.teachers,
            images: self.images,
            network,
            training: self.training.plan(30),
            labeling: LabelingPlan {
                test,
                sigma: scale("--noise", self.noise)?,
                budgets: self.budgets.iter().map(budget).collect::<Result<_>>()?,
                costs: self.costs.value,
            },
            public: self.public,
            private: self.private.unwrap_or(training_images.min(2000)),
            student_network: (self.student_network.unwrap_or(self.network.network).value)(
                self.student_hidden.unwrap_or(self.network.hidden),
                self.student_filters.unwrap_or(self.network.filters),
            ),
            student_training: TrainingPlan::new(
                self.student_epochs,
                self.student_batch,
                Optimizer::ADAM,
                Schedule::Exponential {
                    rate: self.student_learning_rate,
                    factor: self.student_decay,
                    parts: self.student_epochs,
                },
            ),
            baselines: self.baselines,
            runs: self.runs,
            seed,
        })
    }
}

/// The accountant is that of Gaussian noise.
pub fn scale(operation: &'static str, noise: Noise) -> Result<NoiseScale> {
    match noise {
        Noise::Gaussian(sigma) => Ok(sigma),
        Noise::Laplace(_) => {
            Err(Error::Rejected { operation, reason: format!("Confident-GNMax has Gaussian noise, not {noise}") })
        }
    }
}

/// JSON has no infinity.
fn serialize_budgets<S: Serializer>(budgets: &[Epsilon], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_seq(budgets.iter().map(|budget| Number(budget.get())))
}

fn budget(text: &str) -> Parsed<Epsilon> {
    Epsilon::new(number(text)?).map_err(|_| format!("budget = {text} is not in (0, inf]"))
}

pub fn run(common: &Common, options: &StudentOptions, device: TrainingDevice) -> Result<()> {
    let mut recipe = Recipe::open(common, &options.data, device, &[])?;
    let plan = options.plan(common.seed, recipe.train.len())?;
    // All that the votes of teachers depend on: with a checkpoint, other budgets and students need no other teachers.
    let teachers = (plan.teachers, plan.images, plan.network, &plan.training, plan.public, plan.runs, plan.seed);
    recipe.open_checkpoint("student", &teachers)?;
    let networks = plan.networks();
    let students = recipe.train_networks(networks, |context| train_student(context, &plan))?;
    let rows = rows(&students, &plan);
    let teacher_accuracy =
        students.runs.iter().map(|run| run.teacher_accuracy).sum::<f64>() / students.runs.len() as f64;
    let mut facts = vec![("mean-teacher-accuracy", teacher_accuracy)];
    facts.extend(students.baselines.as_ref().map(|baselines| {
        let mean = baselines.accuracies.iter().sum::<f64>() / baselines.accuracies.len() as f64;
        ("mean-baseline-accuracy", mean)
    }));
    let about = About {
        title: format!(
            "{} student{} ({}) of {} teachers ({}), {} public images",
            rows.len(),
            if rows.len() == 1 { "" } else { "s" },
            plan.student_network,
            plan.teachers,
            plan.network,
            students.query_index.len()
        ),
        networks,
        facts,
        warnings: warnings(&plan, &rows),
        ..About::of("leakbound.torch-student/1", options)
    };
    let (output, recording) = recipe.record(about, |writer| add(writer, &students, &plan))?;
    output.write(&StudentDocument { recording, students: rows })
}

fn rows(students: &Students, plan: &StudentPlan) -> Vec<StudentRow> {
    let budgets = &plan.labeling.budgets;
    let mut rows = Vec::new();
    for (run, found) in students.runs.iter().enumerate() {
        for ((labeling, budget), &student_accuracy) in
            found.labelings.iter().zip(budgets).zip(&found.student_accuracies)
        {
            rows.push(StudentRow {
                run,
                budget: Number(budget.epsilon().get()),
                delta: budget.delta().get(),
                epsilon: Number(labeling.epsilon.get()),
                order: labeling.order.get(),
                queries: labeling.queries,
                labels: labeling.labels,
                // No student was trained without a label.
                success_rate: labeling.success_rate().unwrap_or(0.0),
                label_accuracy: labeling.accuracy().unwrap_or(0.0),
                student_accuracy,
                exhausted: labeling.exhausted,
            });
        }
    }
    rows
}

/// What `audit votes` and `account` read, what `membership` reads, then what else there is to know.
fn add(writer: &mut ArrayWriter, students: &Students, plan: &StudentPlan) -> Result<()> {
    add_fields!(writer, students; pate_votes, query_index, query_label, logits);
    writer.add("labels", &students.query_label.mapv(i64::from))?;
    writer.add("keep", &students.keep)?;
    let budgets = &plan.labeling.budgets;
    let of_students = |value: &dyn Fn(usize, usize) -> f64| -> Array1<f64> {
        (0..plan.runs).flat_map(|run| (0..budgets.len()).map(move |budget| value(run, budget))).collect()
    };
    writer.add("budget", &of_students(&|_, budget| budgets[budget].epsilon().get()))?;
    writer.add("epsilon", &of_students(&|run, budget| students.runs[run].labelings[budget].epsilon.get()))?;
    writer.add("student_accuracy", &of_students(&|run, budget| students.runs[run].student_accuracies[budget]))?;
    writer.add("delta", &of_students(&|_, budget| budgets[budget].delta().get()))?;
    add_fields!(writer, students;
        query_order, given_label, label_seed, pate_images, test_index, test_label, test_logits, private_index,
        private_label, private_logits);
    if let Some(baselines) = &students.baselines {
        writer.add("baseline_private_logits", &baselines.private_logits)?;
        writer.add("baseline_test_logits", &baselines.test_logits)?;
        writer.add("baseline_accuracy", &Array1::from(baselines.accuracies.clone()))?;
    }
    Ok(())
}

/// What the ε of the rows is not.
fn warnings(plan: &StudentPlan, rows: &[StudentRow]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if plan.labeling.costs == LabelCosts::DataDependent {
        warnings.push(Warning {
            code: "data-dependent-costs",
            message: "epsilon, and where labeling stops, depend on the votes and are not private themselves".into(),
            hint: "--costs data-independent with one of --orders gives a guarantee".into(),
        });
    } else if plan.labeling.orders().len() > 1 {
        warnings.push(Warning {
            code: "order-chosen-afterwards",
            message: format!(
                "epsilon is the best of {} orders, chosen after it was seen which queries were answered",
                plan.labeling.orders().len()
            ),
            hint: "give one order, such as --orders 16, for a guarantee".into(),
        });
    }
    if plan.runs > 1 {
        warnings.push(Warning {
            code: "runs-add-up",
            message: format!("epsilon is that of one run, and {} runs queried on the same private images", plan.runs),
            hint: "several runs are for measuring; release students of one".into(),
        });
    }
    if let Some(row) = rows.iter().find(|row| !row.exhausted && row.budget.0.is_finite()) {
        warnings.push(Warning {
            code: "budget-left",
            message: format!(
                "the {} queries of run {} ran out before the budget of {}: {} was spent",
                row.queries,
                row.run,
                short(row.budget.0),
                significant(row.epsilon.0, 4)
            ),
            hint: "make more images public".into(),
        });
    }
    warnings
}
