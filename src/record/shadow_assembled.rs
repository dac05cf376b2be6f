//! Arrays of shadow models put together, and what they must agree in.

use super::budget::Room;
use super::fault::several;
use super::npy_array::NpyArray;
use super::shadow_recording::{LogitFile, ScoreFile, ShadowRecording};
use super::shadow_stack::{Found, Stack};
use super::trace::Trace;
use crate::error::{Error, InputError, Result};
use crate::histogram::MAX_CLASSES;
use ndarray::Array2;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

/// Puts sources together and checks what they say about each other, and then every checksum.
pub(super) fn assembled(all: Vec<Found>, room: &mut Room) -> Result<ShadowRecording> {
    let logits = all.first().is_some_and(|found| found.logits);
    let (files, traces, parts) = (Vec::new(), Vec::new(), Vec::new());
    let mut stack = Stack { files, traces, parts, members: Array2::default((0, 0)), views: 0 };
    let mut labels: Option<(Vec<i128>, NpyArray)> = None;
    let mut truth: Vec<Array2<bool>> = Vec::new();
    let mut sizes: Option<[usize; 3]> = None;
    for found in all {
        if let Some(part) = found.parts.first().filter(|_| found.logits != logits) {
            let kind = |logits| if logits { "logits" } else { "scores" };
            let expected = format!("{} as in the files before it", kind(logits));
            return Err(part.array.at(kind(found.logits), expected).into());
        }
        stack.files.extend(found.files);
        stack.traces.extend(found.traces);
        let models: usize = found.parts.iter().map(|part| part.models).sum();
        for part in found.parts {
            let own = part.checked_sizes(logits)?;
            match sizes {
                Some(sizes) if sizes != own => {
                    let shown = |sizes: [usize; 3]| {
                        let classes = if logits { format!(", {}", several(sizes[2], "class")) } else { String::new() };
                        format!("{}, {}{classes}", several(sizes[0], "sample"), several(sizes[1], "view"))
                    };
                    return Err(part.array.at(shown(own), format!("{} as before it", shown(sizes))).into());
                }
                _ => sizes = Some(own),
            }
            stack.parts.push(part);
        }
        let samples = sizes.map_or(0, |sizes| sizes[0]);
        let keep: usize = found.keep.iter().map(Array2::nrows).sum();
        if let Some(wrong) =
            found.keep.iter().find(|keep| keep.ncols() != samples).or(found.keep.first().filter(|_| keep != models))
        {
            let array = &stack.parts[stack.parts.len() - 1].array;
            let found = format!("shape {:?}", [keep, wrong.ncols()]);
            let expected = format!("shape {:?}, a truth value for each model and sample", [models, samples]);
            return Err(InputError { place: "array `keep`".into(), ..array.at(found, expected) }.into());
        }
        truth.extend(found.keep);
        match (&labels, found.labels) {
            (Some((first, _)), Some((second, array))) => {
                if let Some(index) = (0..first.len().max(second.len())).find(|&i| first.get(i) != second.get(i)) {
                    let shown =
                        |labels: &[i128]| labels.get(index).map_or("no label".into(), |label| format!("`{label}`"));
                    let expected = format!("{} as in the files before it", shown(first));
                    return Err(array.at_index(&[index], shown(&second), expected).into());
                }
            }
            (None, Some(found)) => labels = Some(found),
            _ => {}
        }
    }
    let Some([samples, views, classes]) = sizes else {
        return Err(Error::Length { quantity: "files of shadow models", found: 0, expected: "at least 1".into() });
    };
    stack.views = views;
    stack.members = match truth.len() {
        // Of one recording without a copy: it may be the largest thing in memory.
        1 => truth.swap_remove(0),
        _ => {
            let entries = truth.iter().map(Array2::len).sum::<usize>() as u64;
            let array = &stack.parts[0].array;
            let mut rows: Vec<bool> = room.vector(entries, |found, expected| array.at(found, expected))?;
            rows.extend(truth.iter().flatten());
            Array2::from_shape_vec((rows.len() / samples, samples), rows).unwrap_or_default()
        }
    };
    let labels = labels.map(|(labels, array)| checked_labels(&labels, &array, samples, logits.then_some(classes)));
    let labels = labels.transpose()?;
    if stack.members.nrows() < 2 {
        let array = &stack.parts[0].array;
        return Err(array
            .at("a single model", "at least 2 models: the others are what a victim is compared with")
            .into());
    }
    // Many files side by side: hashing takes longer than reading.
    stack.traces.par_iter().map(Trace::check_sums).collect::<Result<()>>()?;
    if !logits {
        return Ok(ShadowRecording::Scores(ScoreFile::new(stack, labels)));
    }
    match labels {
        Some(labels) => Ok(ShadowRecording::Logits(LogitFile::new(stack, labels, classes))),
        None => Err(stack.parts[0].array.at("logits without labels", "the array `labels` of shape (sample)").into()),
    }
}

fn checked_labels(labels: &[i128], array: &NpyArray, samples: usize, classes: Option<usize>) -> Result<Vec<usize>> {
    if labels.len() != samples {
        return Err(array.at(several(labels.len(), "label"), format!("{samples}, one per sample")).into());
    }
    let most = classes.unwrap_or(MAX_CLASSES);
    labels
        .iter()
        .enumerate()
        .map(|(index, &label)| {
            usize::try_from(label).ok().filter(|&label| label < most).ok_or_else(|| {
                array.at_index(&[index], format!("`{label}`"), format!("a class from 0 to {}", most - 1)).into()
            })
        })
        .collect()
}
