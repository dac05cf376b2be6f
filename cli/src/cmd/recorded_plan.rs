//! What a recording of shadow models holds about its training: the array `plan`, JSON in UTF-8.

use leakbound::record::{ArrayFile, MemoryBudget};
use leakbound::study::Warning;
use leakbound::{Error, InputError, Result, json};
use ndarray::Array1;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// The plan that shadow models were trained by, and with which images.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecordedPlan {
    /// SHA-256 of the files with the training and test images.
    pub images: Vec<String>,
    /// The same of the other data set that canaries are from.
    pub others: Vec<String>,
    /// The plan.
    pub plan: Value,
}

/// Of a plan, what models are queried on and whether they were trained on the like.
#[derive(Debug, Deserialize)]
struct Queried {
    views: QueriedViews,
    training: QueriedTraining,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
enum QueriedViews {
    Itself,
    Eighteen {},
}

#[derive(Debug, Deserialize)]
struct QueriedTraining {
    augmentation: Option<Value>,
}

impl RecordedPlan {
    /// What models are trained by, with images of these SHA-256.
    #[cfg(feature = "torch")]
    pub fn new(plan: &impl Serialize, images: Vec<String>, others: Vec<String>) -> Self {
        Self { images, others, plan: plan_value(plan) }
    }

    /// Whether models are queried on flipped and shifted views that their training did not meet: an attack that averages
    /// over them finds less than it could.
    pub fn has_untrained_views(&self) -> bool {
        let queried = Queried::deserialize(&self.plan);
        queried.is_ok_and(|Queried { views, training }| match views {
            QueriedViews::Itself => false,
            QueriedViews::Eighteen {} => training.augmentation.is_none(),
        })
    }

    /// The array of a recording.
    #[cfg(feature = "torch")]
    pub fn array(&self) -> Result<Array1<u8>> {
        let text = serde_json::to_vec(self);
        text.map(Array1::from).map_err(|error| Error::rejected("plan", error))
    }

    /// The plan of a recording that `leakbound torch shadow` wrote.
    pub fn of_file(file: &Path, memory: MemoryBudget) -> Result<Self> {
        const EXPECTED: &str = "the plan that `leakbound torch` trained by";
        let mut arrays = ArrayFile::open(file)?.within(memory);
        if !arrays.has("plan") {
            let hint = "a recording of another program has its own table [[recording]]";
            return Err(fault(file, "array `plan`", "none".into(), EXPECTED.into(), hint));
        }
        let bytes: Array1<u8> = arrays.array("plan")?;
        json::from_slice(&bytes.to_vec()).map_err(|error| {
            fault(file, "array `plan`", error.to_string(), EXPECTED.into(), "remove the recording to train it again")
        })
    }

    /// Rejects a recording of another plan than `wanted`; of an object that is wanted the keys it has must agree.
    pub fn check(&self, file: &Path, wanted: &Value) -> Result<()> {
        let Some((place, found, expected)) = difference("plan", &self.plan, wanted) else { return Ok(()) };
        let hint = "take another folder with --recordings, or remove the recording to train it again";
        Err(fault(file, &place, found.to_string(), format!("{expected}, as the study wants it"), hint))
    }

    /// Rejects a recording of other images than another one.
    pub fn check_images(&self, file: &Path, (first, other): (&Path, &Self)) -> Result<()> {
        if self.images == other.images {
            return Ok(());
        }
        let found = format!("images with SHA-256 {}", self.images.join(", "));
        let expected = format!("those of {}", first.display());
        Err(fault(file, "plan", found, expected, "the images have changed: take another folder with --recordings"))
    }
}

/// A plan as a recording has it.
#[cfg(feature = "torch")]
pub fn plan_value(plan: &impl Serialize) -> Value {
    serde_json::to_value(plan).unwrap_or_default()
}

/// A recording that a study needs: its place, and the plan that it is to be of.
pub struct PlannedFile<'a> {
    pub path: &'a Path,
    pub plan: Value,
}

/// Makes the recordings that are missing, one after the other; `make` gets their places in the list. Those that are
/// there come first, and all must be of their plans and of the same images.
pub fn complete_recordings(
    memory: MemoryBudget,
    files: &[PlannedFile<'_>],
    make: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<()> {
    let mut first: Option<(&Path, RecordedPlan)> = None;
    let (there, missing): (Vec<usize>, Vec<usize>) = (0..files.len()).partition(|&file| files[file].path.exists());
    for file in there.into_iter().chain(missing) {
        let PlannedFile { path, plan } = &files[file];
        if !path.exists() {
            make(file)?;
        }
        let recorded = RecordedPlan::of_file(path, memory)?;
        recorded.check(path, plan)?;
        match &first {
            Some((other, images)) => recorded.check_images(path, (other, images))?,
            None => first = Some((path, recorded)),
        }
    }
    Ok(())
}

/// What a reader must know of models that [have untrained views](RecordedPlan::has_untrained_views).
pub fn untrained_views(who: &str) -> Warning {
    Warning {
        code: "untrained-views",
        message: format!("{who}: trained without flips and shifts, but queried on 18 flipped and shifted views"),
        hint:
            "an attack over views that training did not meet is weaker, and understates the leakage: query the image \
               itself (views 1), or train with flips and shifts"
                .into(),
    }
}

/// The first value that differs: its place, what it is and what it is to be.
fn difference<'a>(place: &str, found: &'a Value, wanted: &'a Value) -> Option<(String, &'a Value, &'a Value)> {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => wanted.iter().find_map(|(key, wanted)| {
            difference(&format!("{place}.{key}"), found.get(key).unwrap_or(&Value::Null), wanted)
        }),
        _ => (found != wanted).then(|| (place.to_owned(), found, wanted)),
    }
}

fn fault(file: &Path, place: &str, found: String, expected: String, hint: &str) -> Error {
    InputError { file: file.to_path_buf(), place: place.into(), found, expected, hint: Some(hint.into()) }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn views_are_held_against_training() {
        let untrained = |views: Value, augmentation: Value| {
            let plan =
                json!({ "models": 4, "views": views, "training": { "epochs": 3, "augmentation": augmentation } });
            RecordedPlan { images: Vec::new(), others: Vec::new(), plan }.has_untrained_views()
        };
        let (itself, eighteen) = (json!({ "name": "itself" }), json!({ "name": "eighteen", "shift": 2 }));
        let moved = json!({ "flip": true, "shift": 2 });
        assert!(untrained(eighteen.clone(), Value::Null));
        assert!(!untrained(eighteen, moved.clone()));
        assert!(!untrained(itself.clone(), Value::Null) && !untrained(itself, moved));
        assert!(!untrained(Value::Null, Value::Null));
    }
}
