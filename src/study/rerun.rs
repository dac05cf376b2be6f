//! Whether repeating the work of a document gives the same values.

use super::{Verdict, Warning};
use serde::Serialize;
use serde_json::Value;

/// One value that differs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// Its place in the documents, such as `bounds[3].rdp_lower`.
    pub place: String,
    /// The recorded value; null if missing.
    pub recorded: Value,
    /// The repeated value; null if missing.
    pub repeated: Value,
}

/// The answer of `leakbound rerun`: a recorded document compared with the same work done again.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RerunAnswer {
    /// The work as a command line.
    pub command_line: String,
    /// Whether all values are equal, to the last digit.
    pub identical: bool,
    /// Values compared: numbers, texts and truth values.
    pub compared: usize,
    /// Values that differ.
    pub differences: Vec<Difference>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

impl RerunAnswer {
    /// Compares two documents. The version of the program is left out, and so are the options in `left_out`, which set
    /// where results go and how many threads work.
    ///
    /// ```
    /// # use leakbound::study::RerunAnswer;
    /// # use serde_json::json;
    /// let (before, after) = (json!({"epsilon": [0.5, 1.0]}), json!({"epsilon": [0.5, 1.25]}));
    /// let answer = RerunAnswer::compare("leakbound exact".into(), &before, &after, &[]);
    /// assert_eq!((answer.identical, answer.compared), (false, 2));
    /// assert_eq!(answer.differences[0].place, "epsilon[1]");
    /// ```
    #[must_use]
    pub fn compare(command_line: String, recorded: &Value, repeated: &Value, left_out: &[String]) -> Self {
        let compared_part = |document: &Value| {
            let mut part = document.clone();
            if let Some(members) = part.as_object_mut() {
                members.remove("version");
                if let Some(options) = members.get_mut("options").and_then(Value::as_object_mut) {
                    options.retain(|name, _| !left_out.contains(name));
                }
            }
            part
        };
        let (mut compared, mut differences) = (0, Vec::new());
        compare(String::new(), &compared_part(recorded), &compared_part(repeated), &mut compared, &mut differences);
        let version = |document: &Value| document["version"].as_str().unwrap_or_default().to_owned();
        let (before, now) = (version(recorded), version(repeated));
        let other_version = (before != now).then(|| Warning {
            code: "other-version",
            message: format!("the document is of version {before}, the repetition of version {now}"),
            hint: "the changelog lists the numbers that changed".into(),
        });
        Self {
            command_line,
            identical: differences.is_empty(),
            compared,
            differences,
            warnings: other_version.into_iter().collect(),
        }
    }
}

fn compare(place: String, recorded: &Value, repeated: &Value, compared: &mut usize, found: &mut Vec<Difference>) {
    match (recorded, repeated) {
        (Value::Object(before), Value::Object(now)) => {
            let added = now.keys().filter(|name| !before.contains_key(*name));
            for name in before.keys().chain(added) {
                let inner = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                let value = |members: &serde_json::Map<String, Value>| members.get(name).cloned().unwrap_or_default();
                compare(inner, &value(before), &value(now), compared, found);
            }
        }
        (Value::Array(before), Value::Array(now)) => {
            let item = |items: &[Value], index: usize| items.get(index).cloned().unwrap_or_default();
            for index in 0..before.len().max(now.len()) {
                compare(format!("{place}[{index}]"), &item(before, index), &item(now, index), compared, found);
            }
        }
        _ => {
            *compared += 1;
            if recorded != repeated {
                found.push(Difference { place, recorded: recorded.clone(), repeated: repeated.clone() });
            }
        }
    }
}

// A document that is not repeated is refuted.
answer!(
    RerunAnswer, "leakbound.rerun/1",
    |self| warnings: self.warnings, verdict: if self.identical { Verdict::Passed } else { Verdict::Refuted }
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Answer;
    use serde_json::json;

    #[test]
    fn places_name_what_differs() {
        let recorded =
            json!({"version": "0.1", "options": {"threads": 1, "noise": "a"}, "rows": [{"x": 1.0}], "gone": 1});
        let repeated = json!({"version": "0.2", "options": {"threads": 2, "noise": "b"}, "rows": [{"x": 1.0}, 2]});
        let answer = RerunAnswer::compare(String::new(), &recorded, &repeated, &["threads".to_owned()]);
        let places: Vec<&str> = answer.differences.iter().map(|difference| difference.place.as_str()).collect();
        assert_eq!(places, ["gone", "options.noise", "rows[1]"]);
        assert_eq!((answer.compared, answer.warnings[0].code), (4, "other-version"));
        assert_eq!(answer.verdict(), Verdict::Refuted);
        let same = RerunAnswer::compare(String::new(), &recorded, &recorded, &[]);
        assert!(same.identical && same.warnings.is_empty() && same.verdict() == Verdict::Passed);
    }
}
