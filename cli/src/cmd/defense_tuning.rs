//! Options of defenses that a study chooses by the accuracy of a few models.

use super::planned_recording::Planned;
use crate::args::Common;
use leakbound::membership::CanaryKind;
use leakbound::record::{ArrayFile, DefenseSource, MemoryBudget, StudyOption, Tuning};
use leakbound::study::{Warning, significant};
use leakbound::{Error, Result};
use ndarray::Array1;
use serde_json::Value;
use std::path::Path;

/// Trains recordings that are missing.
type Complete<'a> = dyn Fn(&[Planned<'_>]) -> Result<()> + 'a;

/// The recordings with the tuned options of their defenses, and what was chosen. The models that were trained for the
/// choice have recordings of their own, so that a resumed study does not train them again.
///
/// # Errors
/// [`Error::Rejected`] if no value is accurate enough; those of the training.
pub fn tuned<'a>(
    common: &Common,
    folder: &Path,
    planned: Vec<Planned<'a>>,
    complete: &Complete<'_>,
) -> Result<(Vec<Planned<'a>>, Vec<Warning>)> {
    let (mut all, mut chosen): (Vec<Planned<'a>>, Vec<(&str, StudyOption)>) = (Vec::new(), Vec::new());
    let mut warnings = Vec::new();
    for mut planned in planned {
        let DefenseSource::Trained { tuning: Some(tuning), .. } = &planned.entry.source else {
            all.push(planned);
            continue;
        };
        let name = planned.entry.name.as_str();
        let option = match chosen.iter().find(|(other, _)| *other == name) {
            Some((_, option)) => option.clone(),
            None => {
                let (option, warning) = choose(common.memory(), folder, &planned, tuning, complete)?;
                chosen.push((name, option.clone()));
                warnings.push(warning);
                option
            }
        };
        planned.options.push(option);
        all.push(planned);
    }
    Ok((all, warnings))
}

/// The first value at which the models are accurate enough.
fn choose(
    memory: MemoryBudget,
    folder: &Path,
    planned: &Planned<'_>,
    tuning: &Tuning,
    complete: &Complete<'_>,
) -> Result<(StudyOption, Warning)> {
    let Planned { entry, options, .. } = planned;
    let set = |name: &str, value: &Value| StudyOption { name: name.into(), value: value.clone(), line: tuning.line };
    let mut best: Option<(f64, &Value)> = None;
    for value in &tuning.values {
        let option = set(&tuning.option, value);
        // Also in place of the number that the options have.
        let own = options.iter().filter(|own| own.name != "models").cloned();
        let trial = Planned {
            entry,
            canaries: CanaryKind::Original,
            options: own.chain([set("models", &tuning.models.into()), option.clone()]).collect(),
            path: folder.join(format!("{}-{}-{}.npz", entry.name, tuning.option, value)),
        };
        complete(std::slice::from_ref(&trial))?;
        let accuracy = accuracy(&trial.path, memory)?;
        if accuracy >= tuning.accuracy {
            return Ok((option, notice(&entry.name, tuning, value, accuracy)));
        }
        if best.is_none_or(|(most, _)| accuracy > most) {
            best = Some((accuracy, value));
        }
    }
    let most = best.map_or_else(String::new, |(accuracy, value)| {
        format!("; the most is {} at {}", significant(accuracy, 4), value)
    });
    let reason = format!(
        "no value of {} gives `{}` a mean test accuracy of {} or more{most}",
        tuning.option,
        entry.name,
        significant(tuning.accuracy, 4)
    );
    Err(Error::Rejected { operation: "tuning", reason })
}

/// Mean test accuracy of a recording's models.
fn accuracy(file: &Path, memory: MemoryBudget) -> Result<f64> {
    let accuracy: Array1<f32> = ArrayFile::open(file)?.within(memory).array("test_accuracy")?;
    Ok(accuracy.iter().map(|&accuracy| f64::from(accuracy)).sum::<f64>() / accuracy.len() as f64)
}

fn notice(name: &str, tuning: &Tuning, value: &Value, accuracy: f64) -> Warning {
    let values: Vec<String> = tuning.values.iter().map(Value::to_string).collect();
    Warning {
        code: "tuned-option",
        message: format!(
            "{name} has {} {}, the first of {} at which {} models have a mean test accuracy of at least {} ({})",
            tuning.option,
            value,
            values.join(", "),
            tuning.models,
            significant(tuning.accuracy, 4),
            significant(accuracy, 4)
        ),
        hint: "values between those that were tried may be more private at the same accuracy".into(),
    }
}
