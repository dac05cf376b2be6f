//! Arrays of shadow models put together, and what they must agree in.

use super::budget::Room;
use super::fault::several;
use super::npy_array::NpyArray;
use super::shadow_recording::{LogitFile, ScoreFile, ShadowRecording};
use super::shadow_stack::{Found, Part, Stack};
use super::trace::Trace;
use crate::error::{Error, InputError, Result};
use crate::histogram::MAX_CLASSES;
use ndarray::Array2;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

/// Puts sources together and checks what they say about each other, and then every checksum.
pub(super) fn assembled(all: Vec<Found>, room: &mut Room) -> Result<ShadowRecording> {
    let mut assembly = Assembly::new(all.first().is_some_and(|found| found.logits));
    for found in all {
        assembly.add(found)?;
    }
    assembly.finished(room)
}

/// The sources put together so far, with which the next one must agree.
struct Assembly {
    logits: bool,
    stack: Stack,
    /// Samples, views and classes.
    sizes: Option<[usize; 3]>,
    truth: Vec<Array2<bool>>,
    labels: Option<(Vec<i128>, NpyArray)>,
}

impl Assembly {
    fn new(logits: bool) -> Self {
        let (files, traces, parts) = (Vec::new(), Vec::new(), Vec::new());
        let stack = Stack { files, traces, parts, members: Array2::default((0, 0)), views: 0 };
        Self { logits, stack, sizes: None, truth: Vec::new(), labels: None }
    }

    fn add(&mut self, found: Found) -> Result<()> {
        if let Some(part) = found.parts.first().filter(|_| found.logits != self.logits) {
            let kind = |logits| if logits { "logits" } else { "scores" };
            let expected = format!("{} as in the files before it", kind(self.logits));
            return Err(part.array.at(kind(found.logits), expected).into());
        }
        self.stack.files.extend(found.files);
        self.stack.traces.extend(found.traces);
        let models: usize = found.parts.iter().map(|part| part.models).sum();
        for part in found.parts {
            self.add_part(part)?;
        }
        self.add_truth(found.keep, models)?;
        found.labels.map_or(Ok(()), |labels| self.add_labels(labels))
    }

    fn add_part(&mut self, part: Part) -> Result<()> {
        let own = part.checked_sizes(self.logits)?;
        match self.sizes {
            Some(sizes) if sizes != own => {
                let shown = |sizes: [usize; 3]| {
                    let classes = if self.logits { format!(", {}", several(sizes[2], "class")) } else { String::new() };
                    format!("{}, {}{classes}", several(sizes[0], "sample"), several(sizes[1], "view"))
                };
                return Err(part.array.at(shown(own), format!("{} as before it", shown(sizes))).into());
            }
            _ => self.sizes = Some(own),
        }
        self.stack.parts.push(part);
        Ok(())
    }

    /// Adds which of so many models were trained on which samples.
    fn add_truth(&mut self, keep: Vec<Array2<bool>>, models: usize) -> Result<()> {
        let samples = self.sizes.map_or(0, |sizes| sizes[0]);
        let rows: usize = keep.iter().map(Array2::nrows).sum();
        let wrong = keep.iter().find(|keep| keep.ncols() != samples).or(keep.first().filter(|_| rows != models));
        if let Some(wrong) = wrong {
            let array = &self.stack.parts[self.stack.parts.len() - 1].array;
            let found = format!("shape {:?}", [rows, wrong.ncols()]);
            let expected = format!("shape {:?}, a truth value for each model and sample", [models, samples]);
            return Err(InputError { place: "array `keep`".into(), ..array.at(found, expected) }.into());
        }
        self.truth.extend(keep);
        Ok(())
    }

    fn add_labels(&mut self, (second, array): (Vec<i128>, NpyArray)) -> Result<()> {
        let Some((first, _)) = &self.labels else {
            self.labels = Some((second, array));
            return Ok(());
        };
        if let Some(index) = (0..first.len().max(second.len())).find(|&i| first.get(i) != second.get(i)) {
            let shown = |labels: &[i128]| labels.get(index).map_or("no label".into(), |label| format!("`{label}`"));
            let expected = format!("{} as in the files before it", shown(first));
            return Err(array.at_index(&[index], shown(&second), expected).into());
        }
        Ok(())
    }

    fn finished(self, room: &mut Room) -> Result<ShadowRecording> {
        let Self { logits, mut stack, sizes, mut truth, labels } = self;
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
            let expected = "at least 2 models: the others are what a victim is compared with";
            return Err(stack.parts[0].array.at("a single model", expected).into());
        }
        // Many files side by side: hashing takes longer than reading.
        stack.traces.par_iter().map(Trace::check_sums).collect::<Result<()>>()?;
        if !logits {
            return Ok(ShadowRecording::Scores(ScoreFile::new(stack, labels)));
        }
        match labels {
            Some(labels) => Ok(ShadowRecording::Logits(LogitFile::new(stack, labels, classes))),
            None => {
                let expected = "the array `labels` of shape (sample)";
                Err(stack.parts[0].array.at("logits without labels", expected).into())
            }
        }
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
