//! `leakbound torch student`: students of labels that were bought with privacy budgets.

use super::recipe::Recipe;
use super::training_run::About;
use crate::args::{Common, StudentOptions};
use leakbound::Result;
use leakbound::record::ArrayWriter;
use leakbound::report::{StudentDocument, StudentRow};
use leakbound::study::{Number, Warning, short, significant};
use leakbound_train::{LabelCosts, StudentPlan, Students, TrainingDevice, train_student};
use ndarray::Array1;

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
    writer.add("pate_votes", &students.pate_votes)?;
    writer.add("query_index", &students.query_index)?;
    writer.add("query_label", &students.query_label)?;
    writer.add("logits", &students.logits)?;
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
    writer.add("query_order", &students.query_order)?;
    writer.add("given_label", &students.given_label)?;
    writer.add("label_seed", &students.label_seed)?;
    writer.add("pate_images", &students.pate_images)?;
    writer.add("test_index", &students.test_index)?;
    writer.add("test_label", &students.test_label)?;
    writer.add("test_logits", &students.test_logits)?;
    writer.add("private_index", &students.private_index)?;
    writer.add("private_label", &students.private_label)?;
    writer.add("private_logits", &students.private_logits)?;
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
