//! Studies of mechanisms of label privacy, as a file.

use super::fault::{fault, hinted, quoted};
use super::input_file::InputFile;
use super::study_options::{StudyOption, study_bytes, study_options};
use super::toml_keys::Keys;
use super::toml_text::TomlText;
use crate::error::{Error, InputError, Result};
use crate::label_dp::LabelFamily;
use crate::order;
use crate::quantity::FailureProbability;
use serde_json::Value;
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// Which mechanisms of label privacy to compare, and at which ε.
///
/// A study is a TOML file with these keys at its top:
///
/// | key | value |
/// |---|---|
/// | `seed` | of training and of the splits of canaries (0); the command line may override it |
/// | `failure-probability` | of all bounds together, and of each band of accuracies (0.05) |
/// | `[label-dp]` | options of `leakbound torch label-dp` that all its mechanisms share |
/// | `[pate-fm]` | options of `leakbound torch pate-fm` that all its students share |
/// | `[[mechanism]]` | a mechanism whose models are trained if their recording is missing |
/// | `[[recording]]` | a mechanism that was recorded elsewhere |
///
/// | key of `[[mechanism]]` | value |
/// |---|---|
/// | `name` | letters, digits, hyphens, dots and underscores: the recording is `NAME.npz` |
/// | `mechanism` | `"pate-fm"`, or a mechanism of `leakbound torch label-dp` |
/// | `vary` | table of one option with a list of values, such as `{ epsilon = [1, 2, 4, 8] }`: a recording `NAME-VALUE.npz` for each value |
/// | any other | options of `leakbound torch label-dp`, or of `torch pate-fm`, which override the shared ones |
///
/// | key of `[[recording]]` | value |
/// |---|---|
/// | `name` | as above |
/// | `mechanism` | as above; another name is a mechanism about which nothing was published |
/// | `file` | the recording, as `leakbound label-dp compare` reads it |
///
/// Paths are relative to the folder of the file.
#[derive(Debug, Clone)]
pub struct LabelStudyFile {
    /// The file.
    pub input: InputFile,
    /// The seed.
    pub seed: Option<u64>,
    /// Of all bounds together, and of each band.
    pub failure: FailureProbability,
    /// At least one, in the order of the file.
    pub entries: Vec<LabelEntry>,
}

/// One mechanism with one set of options.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelEntry {
    /// Its name, which no other entry has.
    pub name: String,
    /// Where it begins in the file, counted from 1.
    pub line: usize,
    /// The mechanism.
    pub family: LabelFamily,
    /// Where its recording comes from.
    pub source: LabelSource,
}

/// Where the recording of a mechanism comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum LabelSource {
    /// It is trained with these options, its own and the shared ones, if it is missing.
    Trained(Vec<StudyOption>),
    /// It is in this file.
    Recorded(PathBuf),
}

impl LabelStudyFile {
    /// What is wrong at a line of the file.
    #[must_use]
    pub fn fault(&self, line: usize, found: impl Into<String>, expected: impl Into<String>) -> InputError {
        fault(&self.input.path, format!("line {line}"), found, expected)
    }
}

/// Reads a study of mechanisms of label privacy.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read; otherwise [`Error::Input`], one line that names file, line, what was
/// found and what was expected. Options of training are checked by the training.
pub fn read_label_study(path: impl AsRef<Path>) -> Result<LabelStudyFile> {
    let (input, bytes) = study_bytes(path.as_ref())?;
    read(input, path.as_ref(), &bytes)
}

const KIND: &str = "a study of label privacy in TOML";
const KEYS: [&str; 6] = ["seed", "failure-probability", "label-dp", "pate-fm", "mechanism", "recording"];
const ENTRY_KEYS: [&str; 3] = ["name", "mechanism", "vary"];
const RECORDING_KEYS: [&str; 3] = ["name", "mechanism", "file"];
/// Options of each training that the study itself decides.
const DECIDED: [&str; 5] = ["recording", "checkpoint", "resume", "seed", "mechanism"];

fn read(input: InputFile, file: &Path, bytes: &[u8]) -> Result<LabelStudyFile> {
    let text = TomlText::of_bytes(file, bytes, KIND)?;
    let table = DeTable::parse(text.text).map_err(|error| text.not_toml(&error, KIND))?;
    let keys = Keys::of(&text, table.get_ref())?;
    keys.check(&KEYS)?;
    let shared = |name: &str| match keys.table(name)? {
        Some(options) => study_options(&options, &[], &DECIDED),
        None => Ok(Vec::new()),
    };
    let shared = [shared("label-dp")?, shared("pate-fm")?];
    let mut entries = Vec::new();
    for (line, mechanism) in keys.list("mechanism")? {
        entries.extend(trained(line, &mechanism, &shared)?);
    }
    for (line, recording) in keys.list("recording")? {
        entries.push(recorded(line, &recording, file)?);
    }
    order::sort(&mut entries, |a, b| a.line.cmp(&b.line));
    if entries.is_empty() {
        let expected = "at least one table [[mechanism]] or [[recording]]";
        return Err(fault(file, "whole file", "no mechanism", expected).into());
    }
    for (place, entry) in entries.iter().enumerate() {
        if let Some(first) = entries[..place].iter().find(|first| first.name == entry.name) {
            let found = format!("the name {} a second time, first in line {}", quoted(&entry.name), first.line);
            return Err(fault(file, format!("line {}", entry.line), found, "each name once").into());
        }
    }
    Ok(LabelStudyFile {
        seed: keys.whole("seed", 0)?,
        failure: match keys.number("failure-probability")? {
            Some((line, value)) => FailureProbability::new(value).map_err(|error| keys.explain(line, error))?,
            None => FailureProbability::new(0.05)?,
        },
        entries,
        input,
    })
}

/// The mechanism of an entry.
fn family(line: usize, keys: &Keys<'_>) -> Result<(usize, LabelFamily)> {
    match keys.text("mechanism")? {
        Some((line, name)) => Ok((line, LabelFamily::of_name(&name))),
        None => Err(keys.fault(line, "mechanism", "no mechanism", listed()).into()),
    }
}

fn listed() -> String {
    format!("one of {}", LabelFamily::KNOWN.map(LabelFamily::name).join(", "))
}

/// An entry for each value that varies.
fn trained(line: usize, keys: &Keys<'_>, [label_dp, pate_fm]: &[Vec<StudyOption>; 2]) -> Result<Vec<LabelEntry>> {
    let own = study_options(keys, &ENTRY_KEYS, &DECIDED)?;
    let name = keys.name(line)?;
    let (place, family) = family(line, keys)?;
    let shared = match family {
        LabelFamily::Other => {
            let found = keys.text("mechanism")?.map_or_else(String::new, |(_, name)| quoted(&name));
            let error = keys.fault(place, "mechanism", found, listed());
            return Err(hinted(error, "recordings of another mechanism have their own table [[recording]]").into());
        }
        LabelFamily::PateFm => pate_fm,
        LabelFamily::NotPrivate
        | LabelFamily::Alibi
        | LabelFamily::Agibi
        | LabelFamily::RandomizedResponse
        | LabelFamily::Lp2st => label_dp,
    };
    let options: Vec<StudyOption> = StudyOption::of_both(shared, &own).into_iter().cloned().collect();
    let entry = |name, options| LabelEntry { name, line, family, source: LabelSource::Trained(options) };
    let Some((place, value)) = keys.value("vary") else { return Ok(vec![entry(name, options)]) };
    let (option, values) = varied(keys, place, &value)?;
    if let Some(twice) = own.iter().find(|other| other.name == option) {
        let found = format!("the option {}, which line {} sets", quoted(&option), twice.line);
        return Err(keys.fault(place, "vary", found, "an option that varies or is set, not both").into());
    }
    let one = |value: &Value| {
        let options = options.iter().filter(|other| other.name != option).cloned();
        let this = StudyOption { name: option.clone(), value: value.clone(), line: place };
        entry(format!("{name}-{}", plain(value)), options.chain([this]).collect())
    };
    Ok(values.iter().map(one).collect())
}

/// The option that varies, and its values.
fn varied(keys: &Keys<'_>, line: usize, value: &Value) -> Result<(String, Vec<Value>)> {
    let wrong = |found: String| {
        let expected = "a table of one option with a list of values, such as { epsilon = [1, 2, 4, 8] }";
        Error::from(keys.fault(line, "vary", found, expected))
    };
    let mut options = value.as_object().ok_or_else(|| wrong(value.to_string()))?.iter();
    let (Some((name, list)), None) = (options.next(), options.next()) else {
        return Err(wrong(value.to_string()));
    };
    let name = name.replace('_', "-");
    if DECIDED.contains(&name.as_str()) {
        let found = format!("the option {}", quoted(&name));
        return Err(keys.fault(line, "vary", found, "an option that the study leaves open").into());
    }
    let several =
        |values: &&Vec<Value>| !values.is_empty() && values.iter().all(|value| value.is_number() || value.is_string());
    let values = list.as_array().filter(several).ok_or_else(|| wrong(value.to_string()))?;
    Ok((name, values.clone()))
}

/// A value as part of the name of a file.
fn plain(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.chars().map(|letter| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' }).collect()
}

fn recorded(line: usize, keys: &Keys<'_>, file: &Path) -> Result<LabelEntry> {
    keys.check(&RECORDING_KEYS)?;
    let name = keys.name(line)?;
    let (_, family) = family(line, keys)?;
    match keys.text("file")? {
        Some((_, path)) if !path.is_empty() => {
            let path = file.parent().unwrap_or(Path::new("")).join(path);
            Ok(LabelEntry { name, line, family, source: LabelSource::Recorded(path) })
        }
        _ => Err(keys.fault(line, "file", "no file", "the path of a recording").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(text: &str) -> Result<LabelStudyFile> {
        let bytes = text.as_bytes();
        read(InputFile::of_bytes("s.toml", bytes), Path::new("s.toml"), bytes)
    }

    #[test]
    fn a_mechanism_has_a_recording_for_each_value() {
        let study = study(
            "seed = 7\nfailure_probability = 0.1\n[label-dp]\nepochs = 8\nepsilon = 3\n[pate-fm]\nteachers = 20\n\
             [[mechanism]]\nname = 'alibi'\nmechanism = 'alibi'\nvary = { epsilon = [1, 2.5] }\nepochs = 9\n\
             [[recording]]\nname = 'theirs'\nmechanism = 'mine'\nfile = 'a.npz'\n\
             [[mechanism]]\nname = 'pate'\nmechanism = 'pate-fm'\nvary = { noise = ['gaussian:20'] }\n",
        )
        .unwrap();
        assert_eq!((study.seed, study.failure.get()), (Some(7), 0.1));
        let names: Vec<_> = study.entries.iter().map(|entry| (entry.name.as_str(), entry.family)).collect();
        assert_eq!(
            names,
            [
                ("alibi-1", LabelFamily::Alibi),
                ("alibi-2.5", LabelFamily::Alibi),
                ("theirs", LabelFamily::Other),
                ("pate-gaussian-20", LabelFamily::PateFm)
            ]
        );
        let options = |entry: &LabelEntry| match &entry.source {
            LabelSource::Trained(options) => Value::from(StudyOption::map(&options.iter().collect::<Vec<_>>())),
            LabelSource::Recorded(file) => Value::from(file.display().to_string()),
        };
        let found: Vec<Value> = study.entries.iter().map(options).collect();
        assert_eq!(found[0], serde_json::json!({ "epsilon": 1, "epochs": 9 }));
        assert_eq!(found[1], serde_json::json!({ "epsilon": 2.5, "epochs": 9 }));
        assert_eq!(found[2], "a.npz");
        assert_eq!(found[3], serde_json::json!({ "teachers": 20, "noise": "gaussian:20" }));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let entry = "[[mechanism]]\nname = 'a'\nmechanism = 'alibi'\n";
        let line = |text: &str| study(text).unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                line(""),
                line("mechanisms = 3\n"),
                line(&format!("failure-probability = 2\n{entry}")),
                line(&format!("{entry}{entry}")),
                line("[[mechanism]]\nname = 'a'\n"),
                line("[[mechanism]]\nmechanism = 'alibi'\n"),
                line("[[mechanism]]\nname = 'a'\nmechanism = 'alib'\n"),
                line(&format!("{entry}vary = 3\n")),
                line(&format!("{entry}vary = {{ epsilon = [] }}\n")),
                line(&format!("{entry}vary = {{ epsilon = [1], epochs = [2] }}\n")),
                line(&format!("{entry}vary = {{ seed = [1] }}\n")),
                line(&format!("{entry}epsilon = 1\nvary = {{ epsilon = [1] }}\n")),
                line(&format!("{entry}recording = 'a.npz'\n")),
                line("[label-dp]\nseed = 1\n"),
                line("[[recording]]\nname = 'a'\nmechanism = 'alibi'\n"),
                line("[[recording]]\nname = 'a'\nmechanism = 'alibi'\nepochs = 3\n"),
                line("a = [\n"),
            ]
            .join("\n"),
            @r#"
            s.toml: whole file: found no mechanism, expected at least one table [[mechanism]] or [[recording]]
            s.toml: line 1: found the key `mechanisms`, expected one of `seed`, `failure-probability`, `label-dp`, `pate-fm`, `mechanism`, `recording`; hint: did you mean `mechanism`?
            s.toml: line 1, failure probability: found 2, expected a value in (0, 1)
            s.toml: line 4: found the name `a` a second time, first in line 1, expected each name once
            s.toml: line 1, mechanism: found no mechanism, expected one of not-private, alibi, agibi, randomized-response, lp-2st, pate-fm
            s.toml: line 1, name: found no name, expected a name of at most 60 letters, digits, hyphens, dots and underscores
            s.toml: line 3, mechanism: found `alib`, expected one of not-private, alibi, agibi, randomized-response, lp-2st, pate-fm; hint: recordings of another mechanism have their own table [[recording]]
            s.toml: line 4, vary: found 3, expected a table of one option with a list of values, such as { epsilon = [1, 2, 4, 8] }
            s.toml: line 4, vary: found {"epsilon":[]}, expected a table of one option with a list of values, such as { epsilon = [1, 2, 4, 8] }
            s.toml: line 4, vary: found {"epochs":[2],"epsilon":[1]}, expected a table of one option with a list of values, such as { epsilon = [1, 2, 4, 8] }
            s.toml: line 4, vary: found the option `seed`, expected an option that the study leaves open
            s.toml: line 5, vary: found the option `epsilon`, which line 4 sets, expected an option that varies or is set, not both
            s.toml: line 4: found the option `recording`, expected options that the study leaves open
            s.toml: line 2: found the option `seed`, expected options that the study leaves open
            s.toml: line 1, file: found no file, expected the path of a recording
            s.toml: line 4: found the key `epochs`, expected one of `name`, `mechanism`, `file`
            s.toml: line 1: found unclosed array, expected `]`, expected a study of label privacy in TOML
            "#
        );
    }
}
