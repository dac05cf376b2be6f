//! What a recording of shadow models says of its training: the array `plan`, JSON in UTF-8.

use leakbound::record::{ArrayFile, MemoryBudget};
use leakbound::{Error, InputError, Result};
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

impl RecordedPlan {
    /// The array of a recording.
    #[cfg(feature = "torch")]
    pub fn array(&self) -> Result<Array1<u8>> {
        let text = serde_json::to_vec(self);
        text.map(Array1::from).map_err(|error| Error::Rejected { operation: "plan", reason: error.to_string() })
    }

    /// The plan of a recording that `leakbound torch shadow` wrote.
    pub fn of_file(file: &Path, memory: MemoryBudget) -> Result<Self> {
        const EXPECTED: &str = "the plan that `leakbound torch shadow` trained by";
        let mut arrays = ArrayFile::open(file)?.within(memory);
        if !arrays.has("plan") {
            let hint = "a recording of another program has its own table [[recording]]";
            return Err(fault(file, "array `plan`", "none".into(), EXPECTED.into(), hint));
        }
        let bytes: Array1<u8> = arrays.array("plan")?;
        serde_json::from_slice(&bytes.to_vec()).map_err(|error| {
            fault(file, "array `plan`", error.to_string(), EXPECTED.into(), "remove the recording to train it anew")
        })
    }

    /// Rejects a recording of another plan than `wanted`; of an object that is wanted the keys it has must agree.
    pub fn check(&self, file: &Path, wanted: &Value) -> Result<()> {
        let Some((place, found, expected)) = difference("plan", &self.plan, wanted) else { return Ok(()) };
        let hint = "take another folder with --recordings, or remove the recording to train it anew";
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
