//! Places of recorded answers of shadow models: archives, folders, the folders of `mi_lira_2021`, patterns.

use super::array_directory::ArrayDirectory;
use super::budget::Room;
use super::fault::{fault, hinted, listed, several, unreadable};
use super::input_file::{InputReader, PathKind, kind, open, pipe};
use super::npy_array::NpyArray;
use super::shadow_recording::ShadowArrays;
use super::shadow_stack::{Found, Kind, Part, UNLABELED};
use super::trace::Trace;
use crate::error::{Error, Result};
use ndarray::Array2;
use std::fs;
use std::path::{Path, PathBuf};

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
        PathKind::Other => return Err(pipe(path, expected)),
    }
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Ok(Source::Csv(path.into())),
        Some("npy") => {
            let error = fault(path, "whole file", "a single array (.npy)", expected);
            Err(hinted(error, "name its folder, or each array: `logits`, `labels` and `keep`").into())
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
pub(super) fn arrays(source: Source, room: &mut Room) -> Result<Found> {
    match source {
        Source::Archive(path) => archive(&path, &open(&path)?, room),
        Source::Folder(folder) => {
            let file = |name: &str| Some(folder.join(format!("{name}.npy"))).filter(|path| path.exists());
            let of_kind = |kind: Kind| file(kind.name()).map(|path| (kind, path));
            let answers = of_kind(Kind::Logits).or_else(|| of_kind(Kind::Scores));
            let beside = [Kind::Embeddings, Kind::NeighborLogits].into_iter().filter_map(of_kind);
            let answers: Vec<_> = answers.into_iter().chain(beside).collect();
            let (false, Some(keep)) = (answers.is_empty(), file("keep")) else {
                let names: Vec<String> = entries(&folder)?
                    .iter()
                    .filter_map(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
                    .collect();
                let expected =
                    "`keep.npy` and `logits.npy`, `scores.npy` or `embeddings.npy`, or folders `experiment_I_of_N`";
                return Err(fault(&folder, "whole folder", format!("files {}", listed(&names)), expected).into());
            };
            files(&answers, &keep, file("labels").as_deref(), room)
        }
        Source::Experiments(folder, experiments) => of_experiments(&folder, &experiments, room),
        Source::Csv(path) => super::shadow_csv::read(&path, room),
    }
}

/// Arrays in separate files.
pub(super) fn separate(arrays: &ShadowArrays, room: &mut Room) -> Result<Found> {
    let kind = if arrays.logits { Kind::Logits } else { Kind::Scores };
    files(&[(kind, arrays.answers.clone())], &arrays.keep, arrays.labels.as_deref(), room)
}

/// Answers, the main ones first, with truth and labels.
fn files(answers: &[(Kind, PathBuf)], keep: &Path, labels_file: Option<&Path>, room: &mut Room) -> Result<Found> {
    let (mut files, mut traces, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for (kind, path) in answers {
        let (array, answers) = NpyArray::open(path)?;
        let part = stacked(array);
        part.checked_sizes(*kind)?;
        parts.push((*kind, part));
        files.push(path.clone());
        traces.push(Trace::open(path, answers, Vec::new()));
    }
    check_neighbors(&parts)?;
    let sizes = parts.first().map(|(kind, part)| Ok((part.models, part.checked_sizes(*kind)?[0])));
    let (models, samples) = sizes.unwrap_or(Ok::<_, Error>((0, 0)))?;
    // Files that were read whole are hashed immediately and closed: many files must not stay open.
    let (array, file) = NpyArray::open(keep)?;
    let truth = truth(&array, &[models, samples], room)?;
    files.push(keep.into());
    traces.push(Trace::Read(file.identity(keep)?));
    let mut found = None;
    if let Some(path) = labels_file {
        let (array, file) = NpyArray::open(path)?;
        found = Some(labels(array, samples, room)?);
        files.push(path.into());
        traces.push(Trace::Read(file.identity(path)?));
    }
    Ok(Found::new(files, traces, parts, vec![truth], found))
}

/// Logits at neighbors are read like the main logits, with the same classes and labels.
fn check_neighbors(parts: &[(Kind, Part)]) -> Result<()> {
    let beside = parts.first().is_some_and(|(kind, _)| *kind == Kind::Logits);
    match parts.iter().find(|(kind, _)| *kind == Kind::NeighborLogits) {
        Some((_, part)) if !beside => {
            let found = "logits at the neighbors of samples without the samples' own";
            Err(part.array.at(found, "the array `logits` as well").into())
        }
        _ => Ok(()),
    }
}

fn stacked(array: NpyArray) -> Part {
    let models = array.shape().first().copied().unwrap_or(0);
    Part { array, stacked: true, models }
}

fn of_experiments(folder: &Path, experiments: &[PathBuf], room: &mut Room) -> Result<Found> {
    let labels_file = Some(folder.join("y_train.npy")).filter(|path| path.exists());
    let (files, traces) = (Vec::new(), Vec::new());
    let mut found = Found::new(files, traces, Vec::new(), Vec::new(), None);
    let mut samples = 0;
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
        // Scores can be made from logits, but not vice versa.
        let (logits, scores) = (last("logits")?.filter(|_| labels_file.is_some()), last("scores")?);
        if index == 0 {
            found.kind = if logits.is_some() { Kind::Logits } else { Kind::Scores };
        }
        let Some(path) = (if found.kind == Kind::Logits { logits } else { scores }) else {
            let name = found.kind.name();
            let expected = format!("a folder `{name}` with an array (.npy)");
            let error = fault(experiment, "whole folder", format!("no {name}"), expected);
            let hint = "logits need the labels y_train.npy next to the folders experiment_I_of_N";
            return Err(if labels_file.is_none() { hinted(error, hint) } else { error }.into());
        };
        let (array, answers) = NpyArray::open(&path)?;
        let part = Part { array, stacked: false, models: 1 };
        samples = part.checked_sizes(found.kind)?[0];
        let keep = experiment.join("keep.npy");
        let (array, file) = NpyArray::open(&keep)?;
        found.keep.push(truth(&array, &[samples], room)?);
        found.traces.extend([Trace::open(&path, answers, Vec::new()), Trace::Read(file.identity(&keep)?)]);
        found.parts.push(part);
        found.files.extend([path, keep]);
    }
    if let Some(path) = labels_file {
        let (array, file) = NpyArray::open(&path)?;
        found.labels = Some(labels(array, samples, room)?);
        found.traces.push(Trace::Read(file.identity(&path)?));
        found.files.push(path);
    }
    Ok(found)
}

/// Truth \[model, sample\], or \[sample\] of one model, of `bool` or of whole numbers 0 and 1. The shape is compared
/// with that of the answers before anything is read.
fn truth(array: &NpyArray, wanted: &[usize], room: &mut Room) -> Result<Array2<bool>> {
    let shape = array.shape();
    if shape.len() != wanted.len() {
        let expected = if wanted.len() == 1 { "one axis (sample)" } else { "axes (model, sample)" };
        return Err(array.at(format!("shape {shape:?}"), expected).into());
    }
    if shape != wanted {
        let expected = format!("shape {wanted:?}, a truth value for each model and sample");
        return Err(array.at(format!("shape {shape:?}"), expected).into());
    }
    let truth = array.whole_numbers(room, |value| match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(("0 or 1".into(), Some("1 where the model was trained on the sample"))),
    })?;
    let rows = if let [models, _] = wanted { *models } else { 1 };
    let columns = wanted.last().copied().unwrap_or_default();
    // In the order in which most code walks through it.
    let truth = if truth.is_standard_layout() { truth } else { truth.as_standard_layout().into_owned() };
    truth.into_shape_with_order((rows, columns)).map_err(|_| array.at("another shape", "one value per entry").into())
}

/// Labels, one per sample.
fn labels(array: NpyArray, samples: usize, room: &mut Room) -> Result<(Vec<i128>, NpyArray)> {
    let shape = array.shape();
    if shape.len() != 1 {
        return Err(array.at(format!("shape {shape:?}"), "one axis (sample)").into());
    }
    if shape[0] != samples {
        return Err(array.at(several(shape[0], "label"), format!("{samples}, one per sample")).into());
    }
    let labels = array.whole_numbers(room, Ok)?.into_raw_vec_and_offset().0;
    Ok((labels, array))
}

/// An archive. Uncompressed arrays stay in the file, and their checksums are kept.
pub(super) fn archive(path: &Path, reader: &InputReader, room: &mut Room) -> Result<Found> {
    let mut arrays = ArrayDirectory::open(path, reader)?;
    let mut parts = Vec::new();
    for kind in [Kind::Logits, Kind::Scores, Kind::Embeddings, Kind::NeighborLogits] {
        // Scores can be made from logits.
        if kind != Kind::Scores || parts.is_empty() {
            parts.extend(arrays.array(kind.name(), room)?.map(|array| (kind, stacked(array))));
        }
    }
    let Some((kind, part)) = parts.first() else {
        return Err(arrays.missing("the array `logits`, `scores` or `embeddings`").into());
    };
    check_neighbors(&parts)?;
    let keep = arrays.array("keep", room)?;
    let keep = keep.ok_or_else(|| arrays.missing("the array `keep` of shape (model, sample)"))?;
    let labels_array = arrays.array("labels", room)?;
    if *kind == Kind::Logits && labels_array.is_none() {
        return Err(hinted(arrays.missing("the array `labels` of shape (sample)"), UNLABELED).into());
    }
    let samples = part.checked_sizes(*kind)?[0];
    // Before anything is made of them.
    let trace = arrays.checked()?;
    let keep = truth(&keep, &[part.models, samples], room)?;
    let labels = labels_array.map(|array| labels(array, samples, room)).transpose()?;
    Ok(Found::new(vec![path.into()], vec![trace], parts, vec![keep], labels))
}
