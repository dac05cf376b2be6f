//! Studies of defenses against membership inference, as a file.

use super::fault::{fault, hinted, quoted};
use super::input_file::InputFile;
use super::study_options::{StudyOption, study_bytes, study_options};
use super::toml_keys::Keys;
use super::toml_text::TomlText;
use crate::error::{Error, InputError, Result};
use crate::membership::{CanaryKind, DefenseAttack, DefenseFamily, LiraVariance};
use crate::order;
use crate::quantity::{FailureProbability, Probability};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use toml::de::DeTable;

/// Which defenses to compare, and how.
///
/// A study is a TOML file with these keys at its top:
///
/// | key | value |
/// |---|---|
/// | `seed` | of training and of the bootstrap (0); the command line may override it |
/// | `fprs` | false-positive rates between 0 and 1 (`[0.001, 0.01]`); the first one is drawn |
/// | `variance` | of LiRA: `"per-sample"` (the usual one) or `"pooled"`, for few models |
/// | `failure-probability` | of all bands at one FPR together (0.05) |
/// | `resamples` | of the victims (1000) |
/// | `[shadow]` | options of `leakbound torch shadow` that all defenses share |
/// | `[[defense]]` | a defense whose shadow models are trained if their recording is missing |
/// | `[[recording]]` | a defense that was recorded elsewhere |
///
/// | key of `[[defense]]` | value |
/// |---|---|
/// | `name` | letters, digits, hyphens, dots and underscores: the recordings are `NAME-original.npz` and `NAME-KIND.npz` |
/// | `attack` | the adapted attack, see [`DefenseAttack`]; if missing, that of the [family](DefenseFamily::attack) |
/// | `canaries` | one or several kinds; the first represents the most vulnerable samples; if missing, that of the [family](DefenseFamily::canaries) |
/// | `tune` | table `{ option = "noise-multiplier", values = [2, 1, 0.5], accuracy = 0.8, models = 2 }`: the option has the first value at which this many models, trained for the purpose, reach that mean test accuracy |
/// | any other | options of `leakbound torch shadow`, above all `defense`, which override those of `[shadow]` |
///
/// | key of `[[recording]]` | value |
/// |---|---|
/// | `name`, `attack` | as above |
/// | `defense` | the family, such as `"dp-sgd"`; another name is a defense about which nothing was published |
/// | `original` | file of the answers on original samples |
/// | `canaries` | tables `{ kind = "mislabeled", file = "private.npz" }`, in the order of `canaries` above |
///
/// Paths are relative to the folder of the file.
#[derive(Debug, Clone)]
pub struct DefenseFile {
    /// The file.
    pub input: InputFile,
    /// The seed.
    pub seed: Option<u64>,
    /// At least one FPR.
    pub fprs: Vec<Probability>,
    /// The variance of LiRA.
    pub variance: LiraVariance,
    /// The nominal probability that some band at an FPR misses.
    pub failure: FailureProbability,
    /// Resamples of the victims.
    pub resamples: usize,
    /// Options of training that all defenses share.
    pub shadow: Vec<StudyOption>,
    /// At least one defense, in the order of the file.
    pub entries: Vec<DefenseEntry>,
}

/// One defense of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct DefenseEntry {
    /// Its name, which no other entry has.
    pub name: String,
    /// Where it begins in the file, counted from 1.
    pub line: usize,
    /// Which defense it is.
    pub family: DefenseFamily,
    /// The attack that is adapted to it.
    pub attack: DefenseAttack,
    /// Where its recordings come from.
    pub source: DefenseSource,
}

/// Where the recordings of a defense come from.
#[derive(Debug, Clone, PartialEq)]
pub enum DefenseSource {
    /// They are trained if missing.
    Trained {
        /// At least one kind; the original samples are not listed, because they are always trained.
        canaries: Vec<CanaryKind>,
        /// Options of this defense.
        options: Vec<StudyOption>,
        /// How one more option is chosen.
        tuning: Option<Tuning>,
    },
    /// They are in files: at least one.
    Recorded(Vec<(CanaryKind, PathBuf)>),
}

/// The rule by which an option is chosen: its first value at which models are accurate enough.
///
/// With values from the most private to the least it is the highest privacy at a set utility: Aerni, Zhang and Tramèr
/// (2024), sections 5.2 and 5.5, appendix A.4.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    /// Its line, counted from 1.
    pub line: usize,
    /// The option, with hyphens.
    pub option: String,
    /// At least one value, in the order in which they are tried.
    pub values: Vec<Value>,
    /// The required mean test accuracy, in (0, 1).
    pub accuracy: f64,
    /// Models that are trained for each value.
    pub models: u64,
}

impl DefenseFile {
    /// The options that a defense is trained with: its own and the shared ones.
    #[must_use]
    pub fn options<'a>(&'a self, own: &'a [StudyOption]) -> Vec<&'a StudyOption> {
        StudyOption::of_both(&self.shadow, own)
    }

    /// What is wrong at a line of the file.
    #[must_use]
    pub fn fault(&self, line: usize, found: impl Into<String>, expected: impl Into<String>) -> InputError {
        fault(&self.input.path, format!("line {line}"), found, expected)
    }
}

/// Reads a study of defenses.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read; otherwise [`Error::Input`], one line that names file, line, what was
/// found and what was expected. Options of training are checked by the training.
pub fn read_defense_study(path: impl AsRef<Path>) -> Result<DefenseFile> {
    let (input, bytes) = study_bytes(path.as_ref())?;
    read(input, path.as_ref(), &bytes)
}

const KIND: &str = "a study of defenses in TOML";
const KEYS: [&str; 8] =
    ["seed", "fprs", "variance", "failure-probability", "resamples", "shadow", "defense", "recording"];
const RECORDING_KEYS: [&str; 5] = ["name", "attack", "defense", "original", "canaries"];
/// Options of each training that the study itself decides.
const DECIDED: [&str; 5] = ["recording", "checkpoint", "resume", "seed", "inclusion"];
/// In addition, kinds of canaries belong to a defense.
const SHARED_DECIDED: [&str; 6] = ["recording", "checkpoint", "resume", "seed", "inclusion", "canaries"];

fn read(input: InputFile, file: &Path, bytes: &[u8]) -> Result<DefenseFile> {
    let text = TomlText::of_bytes(file, bytes, KIND)?;
    let table = DeTable::parse(text.text).map_err(|error| text.not_toml(&error, KIND))?;
    let keys = Keys::of(&text, table.get_ref())?;
    keys.check(&KEYS)?;
    let shadow =
        keys.table("shadow")?.map_or_else(|| Ok(Vec::new()), |shadow| study_options(&shadow, &[], &SHARED_DECIDED))?;
    let mut entries = Vec::new();
    for (line, defense) in keys.list("defense")? {
        entries.push(trained(line, &defense, &shadow)?);
    }
    for (line, recording) in keys.list("recording")? {
        entries.push(recorded(line, &recording, file)?);
    }
    order::sort(&mut entries, |a, b| a.line.cmp(&b.line));
    if entries.is_empty() {
        let error = fault(file, "whole file", "no defense", "at least one table [[defense]] or [[recording]]");
        return Err(error.into());
    }
    for (place, entry) in entries.iter().enumerate() {
        if let Some(first) = entries[..place].iter().find(|first| first.name == entry.name) {
            let found = format!("the name {} a second time, first in line {}", quoted(&entry.name), first.line);
            return Err(fault(file, format!("line {}", entry.line), found, "each name once").into());
        }
    }
    Ok(DefenseFile {
        seed: keys.whole("seed", 0)?,
        fprs: fprs(&keys)?,
        variance: keys.parsed("variance", variance)?.unwrap_or_default(),
        failure: match keys.number("failure-probability")? {
            Some((line, value)) => FailureProbability::new(value).map_err(|error| keys.explain(line, error))?,
            None => FailureProbability::new(0.05)?,
        },
        resamples: keys.whole("resamples", 100)?.map_or(1000, |count| count as usize),
        shadow,
        entries,
        input,
    })
}

fn fprs(keys: &Keys<'_>) -> Result<Vec<Probability>> {
    let Some((line, value)) = keys.value("fprs") else {
        return [0.001, 0.01].into_iter().map(Probability::new).collect();
    };
    let expected = "numbers between 0 and 1, such as [0.001, 0.01]";
    let wrong = |found: String| Error::from(keys.fault(line, "fprs", found, expected));
    let list = value.as_array().filter(|list| !list.is_empty());
    let list = list.ok_or_else(|| wrong(if value.is_array() { "an empty list".into() } else { value.to_string() }))?;
    let fpr = |value: &Value| {
        let inside = value.as_f64().filter(|fpr| *fpr > 0.0 && *fpr < 1.0);
        inside.ok_or_else(|| wrong(value.to_string())).and_then(Probability::new)
    };
    list.iter().map(fpr).collect()
}

fn variance(text: &str) -> Result<LiraVariance> {
    let expected = "per-sample or pooled";
    match [("per-sample", LiraVariance::PerSample), ("pooled", LiraVariance::Pooled)]
        .iter()
        .find(|(name, _)| *name == text)
    {
        Some((_, variance)) => Ok(*variance),
        None => Err(Error::Syntax { quantity: "variance", value: text.into(), expected }),
    }
}

fn trained(line: usize, keys: &Keys<'_>, shadow: &[StudyOption]) -> Result<DefenseEntry> {
    let own = ["name", "attack", "canaries", "tune"];
    let options = study_options(keys, &own, &DECIDED)?;
    let tuning = keys.value("tune").map(|(line, value)| tuning(keys, line, &value, &options)).transpose()?;
    let of_defense = |name: &str| options.iter().chain(shadow).find(|option| option.name == name);
    let family = match of_defense("defense").map(|option| &option.value) {
        Some(Value::String(name)) => DefenseFamily::of_name(name),
        _ => DefenseFamily::None,
    };
    let (place, canaries) = match keys.value("canaries") {
        None => (line, vec![family.canaries()]),
        Some((line, value)) => (line, kinds(keys, line, &value)?),
    };
    if canaries.iter().any(|kind| kind.needs_others()) && of_defense("others").is_none() {
        let found = "out-of-distribution canaries without images of another data set";
        let error = keys.fault(place, "canaries", found, "the option `others`, here or in [shadow]");
        return Err(hinted(error, "others = \"PATH\" names images of the same shape, such as MNIST's").into());
    }
    Ok(DefenseEntry {
        name: keys.name(line)?,
        line,
        family,
        attack: keys.parsed("attack", DefenseAttack::from_str)?.unwrap_or(family.attack()),
        source: DefenseSource::Trained { canaries, options, tuning },
    })
}

fn tuning(keys: &Keys<'_>, line: usize, value: &Value, options: &[StudyOption]) -> Result<Tuning> {
    const EXPECTED: &str =
        "a table { option = \"noise-multiplier\", values = [2, 1, 0.5], accuracy = 0.8, models = 2 }";
    let wrong = |found: String, expected: &str| Error::from(keys.fault(line, "tune", found, expected));
    let table = value.as_object().ok_or_else(|| wrong(value.to_string(), EXPECTED))?;
    let known = ["option", "values", "accuracy", "models"];
    if let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(wrong(format!("the key {}", quoted(key)), EXPECTED));
    }
    let option = table.get("option").and_then(Value::as_str).map(|name| name.replace('_', "-"));
    let option = option.ok_or_else(|| wrong("no option".into(), EXPECTED))?;
    if let Some(twice) = options.iter().find(|other| other.name == option) {
        let found = format!("the option {}, which line {} sets", quoted(&option), twice.line);
        return Err(wrong(found, "an option that is tuned or set, not both"));
    }
    let numbers = |values: &&Vec<Value>| !values.is_empty() && values.iter().all(Value::is_number);
    let values = table.get("values").and_then(Value::as_array).filter(numbers).cloned();
    let accuracy = table.get("accuracy").and_then(Value::as_f64).filter(|accuracy| *accuracy > 0.0 && *accuracy < 1.0);
    let models = table.get("models").map_or(Some(2), Value::as_u64).filter(|models| *models > 0);
    Ok(Tuning {
        line,
        option,
        values: values
            .ok_or_else(|| wrong("no numbers as values".into(), "at least one number, the most private first"))?,
        accuracy: accuracy.ok_or_else(|| wrong("no such accuracy".into(), "an accuracy between 0 and 1"))?,
        models: models.ok_or_else(|| wrong("no models".into(), "models, at least 1"))?,
    })
}

/// Kinds of canaries, one or several.
fn kinds(keys: &Keys<'_>, line: usize, value: &Value) -> Result<Vec<CanaryKind>> {
    let one = [value.clone()];
    let list = value.as_array().map_or(&one[..], Vec::as_slice);
    if list.is_empty() {
        return Err(keys.fault(line, "canaries", "an empty list", "at least one kind").into());
    }
    let mut kinds: Vec<CanaryKind> = Vec::new();
    for value in list {
        let kind = kind(keys, line, value)?;
        if kind == CanaryKind::Original {
            let found = "`original`, which is always trained";
            return Err(keys.fault(line, "canaries", found, "kinds that stand for vulnerable samples").into());
        }
        if kinds.contains(&kind) {
            return Err(keys.fault(line, "canaries", format!("{kind} a second time"), "each kind once").into());
        }
        kinds.push(kind);
    }
    Ok(kinds)
}

fn kind(keys: &Keys<'_>, line: usize, value: &Value) -> Result<CanaryKind> {
    let text = value.as_str().ok_or_else(|| keys.fault(line, "canaries", value.to_string(), "the name of a kind"))?;
    text.parse().map_err(|error| keys.explain(line, error))
}

fn recorded(line: usize, keys: &Keys<'_>, file: &Path) -> Result<DefenseEntry> {
    keys.check(&RECORDING_KEYS)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let path = |line: usize, key: &str, value: &Value| match value.as_str() {
        Some(path) if !path.is_empty() => Ok(folder.join(path)),
        _ => Err(Error::from(keys.fault(line, key, value.to_string(), "the path of a file"))),
    };
    let family = keys.text("defense")?.map_or(DefenseFamily::Other, |(_, name)| DefenseFamily::of_name(&name));
    let mut recordings = Vec::new();
    if let Some((line, value)) = keys.value("original") {
        recordings.push((CanaryKind::Original, path(line, "original", &value)?));
    }
    if let Some((line, value)) = keys.value("canaries") {
        const EXPECTED: &str = "tables { kind = \"mislabeled\", file = \"private.npz\" }";
        let wrong = |found: String| Error::from(keys.fault(line, "canaries", found, EXPECTED));
        for value in value.as_array().ok_or_else(|| wrong(value.to_string()))? {
            let table = value.as_object().filter(|table| table.len() == 2);
            let table = table.and_then(|table| Some((table.get("kind")?, table.get("file")?)));
            let (found, place) = table.ok_or_else(|| wrong(value.to_string()))?;
            let kind = kind(keys, line, found)?;
            if recordings.iter().any(|(other, _)| *other == kind) {
                return Err(keys.fault(line, "canaries", format!("{kind} a second time"), "each kind once").into());
            }
            recordings.push((kind, path(line, "canaries", place)?));
        }
    }
    if recordings.is_empty() {
        let expected = "the key `original`, `canaries`, or both";
        return Err(keys.fault(line, "recording", "no file", expected).into());
    }
    Ok(DefenseEntry {
        name: keys.name(line)?,
        line,
        family,
        attack: keys.parsed("attack", DefenseAttack::from_str)?.unwrap_or(family.attack()),
        source: DefenseSource::Recorded(recordings),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(text: &str) -> Result<DefenseFile> {
        let bytes = text.as_bytes();
        read(InputFile::of_bytes("s.toml", bytes), Path::new("s.toml"), bytes)
    }

    #[test]
    fn a_study_is_read_with_the_choices_of_table_2() {
        let study = study(
            "seed = 7\nfprs = [0.01]\nvariance = 'pooled'\n[shadow]\nmodels = 16\nothers = 'digits.npz'\nside_by_side = 2\n\
             [[defense]]\nname = 'none'\n[[recording]]\nname = 'dp'\ndefense = 'dp-sgd'\n\
             canaries = [{ kind = 'mislabeled', file = 'p.npz' }]\n[[defense]]\nname = 's'\ndefense = 'selena'\n\
             split-models = 5\nmodels = 8\ncanaries = ['duplicated', 'mislabeled']\n[[defense]]\nname = 'c'\n\
             defense = 'simclr'\n[[defense]]\nname = 'h'\ndefense = 'hamp'\n",
        )
        .unwrap();
        assert_eq!((study.seed, study.resamples, study.variance), (Some(7), 1000, LiraVariance::Pooled));
        let names: Vec<&str> = study.entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["none", "dp", "s", "c", "h"]);
        let attacks: Vec<&str> = study.entries.iter().map(|entry| entry.attack.name()).collect();
        assert_eq!(attacks, ["lira", "lira", "lira", "encoder-lira", "label-only"]);
        let DefenseSource::Trained { canaries, options, .. } = &study.entries[2].source else { panic!("trained") };
        assert_eq!(canaries, &[CanaryKind::Duplicated, CanaryKind::Mislabeled]);
        let options = StudyOption::map(&study.options(options));
        assert_eq!(options["models"], 8);
        assert_eq!((&options["side-by-side"], &options["split-models"]), (&2.into(), &5.into()));
        let DefenseSource::Recorded(files) = &study.entries[1].source else { panic!("recorded") };
        assert_eq!(files[0], (CanaryKind::Mislabeled, PathBuf::from("p.npz")));
        let DefenseSource::Trained { canaries, .. } = &study.entries[3].source else { panic!("trained") };
        assert_eq!(canaries, &[CanaryKind::OutOfDistribution]);
    }

    #[test]
    fn an_option_is_tuned_by_accuracy() {
        let read =
            |tune: &str| study(&format!("[[defense]]\nname = 'p'\ndefense = 'dp-sgd'\nviews = 18\ntune = {tune}\n"));
        let tuned = read("{ option = 'noise_multiplier', values = [2, 0.5], accuracy = 0.8 }").unwrap();
        let DefenseSource::Trained { tuning: Some(tuning), options, .. } = &tuned.entries[0].source else {
            panic!("tuned")
        };
        let values: Vec<Value> = vec![2.into(), 0.5.into()];
        let option = "noise-multiplier".into();
        assert_eq!(tuning, &Tuning { line: 5, option, values, accuracy: 0.8, models: 2 });
        assert!(options.iter().all(|option| option.name != "tune"));
        for (tune, expected) in [
            ("3", "a table { option"),
            ("{ values = [1], accuracy = 0.8 }", "no option"),
            ("{ option = 'views', values = [1], accuracy = 0.8 }", "the option `views`, which line 4 sets"),
            ("{ option = 'epsilon', values = [], accuracy = 0.8 }", "at least one number"),
            ("{ option = 'epsilon', values = ['a'], accuracy = 0.8 }", "at least one number"),
            ("{ option = 'epsilon', values = [1], accuracy = 80 }", "an accuracy between 0 and 1"),
            ("{ option = 'epsilon', values = [1], accuracy = 0.8, models = 0 }", "models, at least 1"),
            ("{ option = 'epsilon', value = [1], accuracy = 0.8 }", "the key `value`"),
        ] {
            let line = read(tune).unwrap_err().to_string();
            assert!(line.starts_with("s.toml: line 5, tune: found ") && line.contains(expected), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let entry = "[[defense]]\nname = 'a'\n";
        let line = |text: &str| study(text).unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                line(""),
                line("fprs = []\n[[defense]]\nname = 'a'\n"),
                line(&format!("\nfprs = [0.1, 1]\n{entry}")),
                line(&format!("fprs = 0.1\n{entry}")),
                line(&format!("fpr = [0.1]\n{entry}")),
                line(&format!("variance = 'poled'\n{entry}")),
                line(&format!("resamples = 5\n{entry}")),
                line(&format!("failure-probability = 2\n{entry}")),
                line(&format!("{entry}\n{entry}")),
                line("[[defense]]\nname = 'a/b'\n"),
                line("[[defense]]\ndefense = 'hamp'\n"),
                line(&format!("{entry}canaries = []\n")),
                line(&format!("{entry}canaries = 'mislabled'\n")),
                line(&format!("{entry}canaries = ['original']\n")),
                line(&format!("{entry}canaries = ['blank', 'blank']\n")),
                line(&format!("{entry}canaries = ['out-of-distribution']\n")),
                line(&format!("{entry}attack = 'encoder'\n")),
                line(&format!("{entry}recording = 'a.npz'\n")),
                line("[shadow]\nseed = 1\n[[defense]]\nname = 'a'\n"),
                line("[[recording]]\nname = 'a'\n"),
                line("[[recording]]\nname = 'a'\nfile = 'a.npz'\n"),
                line("[[recording]]\nname = 'a'\ncanaries = ['a.npz']\n"),
                line("defense = 3\n"),
                line("a = [\n"),
            ]
            .join("\n"),
            @r#"
            s.toml: whole file: found no defense, expected at least one table [[defense]] or [[recording]]
            s.toml: line 1, fprs: found an empty list, expected numbers between 0 and 1, such as [0.001, 0.01]
            s.toml: line 2, fprs: found 1, expected numbers between 0 and 1, such as [0.001, 0.01]
            s.toml: line 1, fprs: found 0.1, expected numbers between 0 and 1, such as [0.001, 0.01]
            s.toml: line 1: found the key `fpr`, expected one of `seed`, `fprs`, `variance`, `failure-probability`, `resamples`, `shadow`, `defense`, `recording`; hint: did you mean `fprs`?
            s.toml: line 1, variance: found `poled`, expected per-sample or pooled
            s.toml: line 1, resamples: found 5, expected a whole number of at least 100
            s.toml: line 1, failure probability: found 2, expected a value in (0, 1)
            s.toml: line 4: found the name `a` a second time, first in line 1, expected each name once
            s.toml: line 2, name: found `a/b`, expected a name of at most 60 letters, digits, hyphens, dots and underscores
            s.toml: line 1, name: found no name, expected a name of at most 60 letters, digits, hyphens, dots and underscores
            s.toml: line 3, canaries: found an empty list, expected at least one kind
            s.toml: line 3, canaries: found `mislabled`, expected original, mislabeled, duplicated, always-duplicated, poisoned, out-of-distribution, uniform or blank
            s.toml: line 3, canaries: found `original`, which is always trained, expected kinds that stand for vulnerable samples
            s.toml: line 3, canaries: found blank a second time, expected each kind once
            s.toml: line 3, canaries: found out-of-distribution canaries without images of another data set, expected the option `others`, here or in [shadow]; hint: others = "PATH" names images of the same shape, such as MNIST's
            s.toml: line 3, attack: found `encoder`, expected lira, label-only, encoder-lira, neighbor-lira or neighbor-label-only
            s.toml: line 3: found the option `recording`, expected options that the study leaves open
            s.toml: line 2: found the option `seed`, expected options that the study leaves open
            s.toml: line 1, recording: found no file, expected the key `original`, `canaries`, or both
            s.toml: line 3: found the key `file`, expected one of `name`, `attack`, `defense`, `original`, `canaries`
            s.toml: line 3, canaries: found "a.npz", expected tables { kind = "mislabeled", file = "private.npz" }
            s.toml: line 1, defense: found another value, expected tables [[defense]]
            s.toml: line 1: found unclosed array, expected `]`, expected a study of defenses in TOML
            "#
        );
    }
}
