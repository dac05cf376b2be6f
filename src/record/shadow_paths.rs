//! Where recorded answers of shadow models lie: archives, folders, the folders of `mi_lira_2021`, patterns.

use super::archive::directory;
use super::fault::{fault, hinted, listed, quoted, several, shortened, unreadable};
use super::input_file::{PathKind, kind, open};
use super::npy_array::NpyArray;
use super::shadow_file::ShadowArrays;
use super::shadow_stack::{Found, Part};
use crate::error::{Error, Result};
use ndarray::Array2;
use std::fs;
use std::io::{BufReader, Cursor};
use std::path::{Path, PathBuf};
use zip::CompressionMethod;

/// The most that a compressed array may unpack to in memory; one that is not compressed has no limit.
const MAX_UNPACKED: u64 = 32 << 30;

/// What a byte of a compressed array can unpack to at most.
const DEFLATE_RATIO: u64 = 1032;

/// Something that holds shadow models.
pub(super) enum Source {
    Archive(PathBuf),
    /// A folder with `logits.npy` and the like.
    Folder(PathBuf),
    /// A folder with folders `experiment_I_of_N`, in the order of I.
    Experiments(PathBuf, Vec<PathBuf>),
    Csv(PathBuf),
}

/// What the paths mean, patterns expanded.
pub(super) fn sources(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in paths {
        let pattern = path.to_str().filter(|text| text.contains(['*', '?', '[']) && !path.exists());
        let Some(pattern) = pattern else {
            sources.push(source(path)?);
            continue;
        };
        let names = glob::glob(pattern).map_err(|error| {
            fault(path, "whole file", format!("a pattern that cannot be read ({error})"), "a file, folder or pattern")
        })?;
        let before = sources.len();
        for name in names {
            sources.push(source(&name.map_err(|error| unreadable(path, error.into()))?)?);
        }
        if sources.len() == before {
            return Err(fault(path, "whole file", "a pattern that no file fits", "a pattern of at least 1 file").into());
        }
    }
    Ok(sources)
}

fn source(path: &Path) -> Result<Source> {
    let expected = "shadow models: .npz, .csv, or a folder of arrays";
    match kind(path)? {
        PathKind::File => {}
        PathKind::Folder => {
            let experiments = experiments(path)?;
            return Ok(match experiments.is_empty() {
                true => Source::Folder(path.into()),
                false => Source::Experiments(path.into(), experiments),
            });
        }
        PathKind::Other => {
            let error = fault(path, "whole file", "a pipe or device", expected);
            return Err(hinted(error, "recordings are read at several places; save it as a file first").into());
        }
    }
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Ok(Source::Csv(path.into())),
        Some("npy") => {
            let error = fault(path, "whole file", "a single array (.npy)", expected);
            Err(hinted(error, "name its folder, or the arrays with --logits, --labels and --keep").into())
        }
        _ => Ok(Source::Archive(path.into())),
    }
}

/// The folders `experiment_I_of_N` in the order of I.
fn experiments(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found: Vec<(u64, PathBuf)> = Vec::new();
    for path in entries(folder)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_prefix("experiment_").and_then(|rest| rest.split_once("_of_"));
        if let Some(number) = number.and_then(|(number, _)| number.parse().ok()).filter(|_| path.is_dir()) {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// What is in a folder, sorted by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let io = |source| unreadable(folder, source);
    let mut paths = fs::read_dir(folder)
        .map_err(io)?
        .map(|entry| entry.map(|entry| entry.path()).map_err(io))
        .collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// The arrays of one source.
pub(super) fn arrays(source: Source) -> Result<Found> {
    match source {
        Source::Archive(path) => archive(&path),
        Source::Folder(folder) => {
            let file = |name: &str| Some(folder.join(name)).filter(|path| path.exists());
            let (logits, scores) = (file("logits.npy"), file("scores.npy"));
            let is_logits = logits.is_some();
            let (Some(answers), Some(keep)) = (logits.or(scores), file("keep.npy")) else {
                let names: Vec<String> = entries(&folder)?
                    .iter()
                    .filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
                    .collect();
                let expected = "`keep.npy` and `logits.npy` or `scores.npy`, or folders `experiment_I_of_N`";
                return Err(fault(&folder, "whole folder", format!("files {}", listed(&names)), expected).into());
            };
            files(&ShadowArrays { answers, logits: is_logits, keep, labels: file("labels.npy") })
        }
        Source::Experiments(folder, experiments) => of_experiments(&folder, &experiments),
        Source::Csv(path) => super::shadow_csv::read(&path),
    }
}

/// Arrays in files of their own.
pub(super) fn files(arrays: &ShadowArrays) -> Result<Found> {
    let answers = NpyArray::open(&arrays.answers)?;
    let keep = truth(&NpyArray::open(&arrays.keep)?, false)?;
    let labels = arrays.labels.as_ref().map(|path| labels(NpyArray::open(path)?)).transpose()?;
    let mut files = vec![arrays.answers.clone(), arrays.keep.clone()];
    files.extend(arrays.labels.clone());
    Ok(Found { files, logits: arrays.logits, parts: vec![stacked(answers)], keep: vec![keep], labels })
}

fn stacked(array: NpyArray) -> Part {
    let models = array.shape().first().copied().unwrap_or(0);
    Part { array, stacked: true, models }
}

fn of_experiments(folder: &Path, experiments: &[PathBuf]) -> Result<Found> {
    let labels_file = Some(folder.join("y_train.npy")).filter(|path| path.exists());
    let mut found = Found { files: Vec::new(), logits: false, parts: Vec::new(), keep: Vec::new(), labels: None };
    for (index, experiment) in experiments.iter().enumerate() {
        let last = |name: &str| -> Result<Option<PathBuf>> {
            let inner = experiment.join(name);
            if !inner.is_dir() {
                return Ok(None);
            }
            let mut arrays = entries(&inner)?;
            arrays.retain(|path| path.extension().is_some_and(|extension| extension == "npy"));
            // Epochs are numbers with leading zeros; without them the longer name is the larger number.
            arrays.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
            Ok(arrays.pop())
        };
        // Scores can be made from logits, not the other way round.
        let (logits, scores) = (last("logits")?.filter(|_| labels_file.is_some()), last("scores")?);
        if index == 0 {
            found.logits = logits.is_some();
        }
        let Some(path) = (if found.logits { logits } else { scores }) else {
            let name = if found.logits { "logits" } else { "scores" };
            let expected = format!("a folder `{name}` with an array (.npy)");
            let error = fault(experiment, "whole folder", format!("no {name}"), expected);
            let hint = "logits need the labels y_train.npy beside the folders experiment_I_of_N";
            return Err(if labels_file.is_none() { hinted(error, hint) } else { error }.into());
        };
        let keep = experiment.join("keep.npy");
        found.keep.push(truth(&NpyArray::open(&keep)?, true)?);
        found.parts.push(Part { array: NpyArray::open(&path)?, stacked: false, models: 1 });
        found.files.extend([path, keep]);
    }
    if let Some(path) = labels_file {
        found.labels = Some(labels(NpyArray::open(&path)?)?);
        found.files.push(path);
    }
    Ok(found)
}

/// Truth \[model, sample\], of `bool` or of whole numbers 0 and 1; of one model where `single`.
fn truth(array: &NpyArray, single: bool) -> Result<Array2<bool>> {
    let shape = match (&array.shape()[..], single) {
        (&[samples], true) => (1, samples),
        (&[models, samples], false) => (models, samples),
        (shape, _) => {
            let expected = if single { "one axis (sample)" } else { "axes (model, sample)" };
            return Err(array.at(format!("shape {shape:?}"), expected).into());
        }
    };
    let mut truth = Vec::with_capacity(shape.0 * shape.1);
    array.whole_numbers(|position, value| {
        if value != 0 && value != 1 {
            let error = array.at_position(position, format!("`{value}`"), "0 or 1");
            return Err(hinted(error, "1 where the model was trained on the sample").into());
        }
        truth.push(value == 1);
        Ok(())
    })?;
    let truth = Array2::from_shape_vec(shape, truth).map_err(|_| array.at("another shape", "one value per entry"))?;
    Ok(truth)
}

fn labels(array: NpyArray) -> Result<(Vec<i128>, NpyArray)> {
    let shape = array.shape();
    if shape.len() != 1 {
        return Err(array.at(format!("shape {shape:?}"), "one axis (sample)").into());
    }
    let mut labels = Vec::new();
    array.whole_numbers(|_, label| {
        labels.push(label);
        Ok(())
    })?;
    Ok((labels, array))
}

fn archive(path: &Path) -> Result<Found> {
    let file = open(path)?;
    of_archive(path, Box::new(BufReader::new(file)), true)
}

/// An archive that is in memory.
pub(super) fn archive_in_memory(path: &Path, bytes: Vec<u8>) -> Result<Found> {
    of_archive(path, Box::new(Cursor::new(bytes)), false)
}

fn of_archive(path: &Path, source: Box<dyn super::archive::Source>, on_disk: bool) -> Result<Found> {
    let (mut archive, names) = directory(path, source)?;
    let mut array = |name: &str| -> Result<Option<NpyArray>> {
        let Some(index) = names.iter().position(|other| other == name) else { return Ok(None) };
        let damaged = |reason: String| {
            let found = format!("data that cannot be unpacked ({})", shortened(&reason, 100));
            let expected = "an array as numpy.savez or savez_compressed writes it";
            hinted(fault(path, format!("array {}", quoted(name)), found, expected), "the file may be damaged")
        };
        let entry = archive.by_index(index).map_err(|error| damaged(error.to_string()))?;
        let (packed, unpacked) = (entry.compressed_size(), entry.size());
        // An entry in front of the end of the file: data that are cut off were noticed with the directory.
        if on_disk && entry.compression() == CompressionMethod::Stored {
            let file = open(path)?;
            let length = file.length().map_err(|source| unreadable(path, source))?;
            let start = entry.data_start();
            if start.checked_add(unpacked).is_none_or(|end| end > length) {
                return Err(damaged("it ends beyond the end of the file".into()).into());
            }
            return NpyArray::stored(path, Some(name), file, start, unpacked).map(Some);
        }
        let most = packed.saturating_mul(DEFLATE_RATIO);
        if unpacked.min(most) > MAX_UNPACKED {
            let error = fault(path, format!("array {}", quoted(name)), "more than 32 GiB, compressed", "less");
            return Err(hinted(error, "numpy.save or savez write it so that it is read in pieces").into());
        }
        NpyArray::unpacked(path, name, entry, most).map(Some)
    };
    let (logits, is_logits) = match array("logits")? {
        Some(logits) => (Some(logits), true),
        None => (array("scores")?, false),
    };
    let missing =
        |expected: &str| -> Error { fault(path, "whole file", format!("arrays {}", listed(&names)), expected).into() };
    let answers = logits.ok_or_else(|| missing("the array `logits` or `scores`"))?;
    let keep = array("keep")?.ok_or_else(|| missing("the array `keep` of shape (model, sample)"))?;
    let labels_array = array("labels")?;
    if is_logits && labels_array.is_none() {
        return Err(missing("the array `labels` of shape (sample)"));
    }
    let keep = truth(&keep, false)?;
    let part = stacked(answers);
    if keep.nrows() != part.models {
        let found = format!("shape {:?}", keep.shape());
        let expected = format!("{}, one per model", several(part.models, "row"));
        return Err(fault(path, "array `keep`", found, expected).into());
    }
    let labels = labels_array.map(labels).transpose()?;
    Ok(Found { files: vec![path.into()], logits: is_logits, parts: vec![part], keep: vec![keep], labels })
}
