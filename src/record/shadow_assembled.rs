//! Arrays of shadow models put together, and the properties in which they must agree.

use super::budget::Room;
use super::fault::{hinted, several};
use super::npy_array::NpyArray;
use super::shadow_recording::{EmbeddingFile, LogitFile, ScoreFile, ShadowRecording};
use super::shadow_stack::{Found, Kind, Part, Stack, UNLABELED};
use super::trace::Trace;
use crate::error::{Error, InputError, Result};
use crate::histogram::MAX_CLASSES;
use crate::parallel;
use ndarray::Array2;
use std::path::PathBuf;
use std::sync::Arc;

/// Puts sources together, checks that they agree, and then checks every checksum.
pub(super) fn assembled(all: Vec<Found>, room: &mut Room) -> Result<ShadowRecording> {
    let mut assembly = Assembly::new(all.first().map_or(Kind::Scores, |found| found.kind));
    for found in all {
        assembly.add(found)?;
    }
    assembly.finished(room)
}

/// Arrays of one kind, one below the other, which must agree in all but the models.
struct Layer {
    kind: Kind,
    parts: Vec<Part>,
    /// Samples, views and classes or dimensions.
    sizes: Option<[usize; 3]>,
}

impl Layer {
    const fn new(kind: Kind) -> Self {
        Self { kind, parts: Vec::new(), sizes: None }
    }

    fn models(&self) -> usize {
        self.parts.iter().map(|part| part.models).sum()
    }

    fn samples(&self) -> usize {
        self.sizes.map_or(0, |sizes| sizes[0])
    }

    /// Classes of logits.
    fn classes(&self) -> Option<usize> {
        self.sizes.filter(|_| matches!(self.kind, Kind::Logits | Kind::NeighborLogits)).map(|sizes| sizes[2])
    }

    /// Rejects a layer of other models, samples or classes than the main one.
    fn check_beside(&self, main: &Self) -> Result<()> {
        let Some(last) = self.parts.last() else { return Ok(()) };
        let other_classes = self.classes().is_some_and(|classes| main.classes() != Some(classes));
        if (self.models(), self.samples()) == (main.models(), main.samples()) && !other_classes {
            return Ok(());
        }
        let expected = format!("{} as of `{}`", shared(main, self), main.kind.name());
        Err(hinted(last.array.at(shared(self, main), expected), "every file has the array, or none").into())
    }

    fn add(&mut self, part: Part) -> Result<()> {
        let own = part.checked_sizes(self.kind)?;
        match self.sizes {
            Some(sizes) if sizes != own => {
                let shown = |[samples, views, last]: [usize; 3]| {
                    let last = self.kind.last().map_or_else(String::new, |word| format!(", {}", several(last, word)));
                    format!("{}, {}{last}", several(samples, "sample"), several(views, "view"))
                };
                return Err(part.array.at(shown(own), format!("{} as before it", shown(sizes))).into());
            }
            _ => self.sizes = Some(own),
        }
        self.parts.push(part);
        Ok(())
    }
}

/// What a layer must have in common with the other one.
fn shared(layer: &Layer, other: &Layer) -> String {
    let classes = layer.classes().filter(|_| other.classes().is_some());
    let classes = classes.map_or_else(String::new, |classes| format!(", {}", several(classes, "class")));
    format!("{}, {}{classes}", several(layer.models(), "model"), several(layer.samples(), "sample"))
}

/// The sources put together so far, with which the next one must agree.
struct Assembly {
    files: Vec<PathBuf>,
    traces: Vec<Trace>,
    main: Layer,
    embeddings: Layer,
    neighbors: Layer,
    truth: Vec<Array2<bool>>,
    labels: Option<(Vec<i128>, NpyArray)>,
}

impl Assembly {
    fn new(kind: Kind) -> Self {
        let (files, traces, truth) = (Vec::new(), Vec::new(), Vec::new());
        let [main, embeddings, neighbors] = [kind, Kind::Embeddings, Kind::NeighborLogits].map(Layer::new);
        Self { files, traces, main, embeddings, neighbors, truth, labels: None }
    }

    fn add(&mut self, found: Found) -> Result<()> {
        if let Some(part) = found.parts.first().filter(|_| found.kind != self.main.kind) {
            let expected = format!("{} as in the files before it", self.main.kind.name());
            return Err(part.array.at(found.kind.name(), expected).into());
        }
        self.files.extend(found.files);
        self.traces.extend(found.traces);
        let models: usize = found.parts.iter().map(|part| part.models).sum();
        for part in found.parts {
            self.main.add(part)?;
        }
        self.add_truth(found.keep, models)?;
        self.add_beside(found.beside)?;
        found.labels.map_or(Ok(()), |labels| self.add_labels(labels))
    }

    /// Adds arrays in addition to the main ones; either all sources have them, or none.
    fn add_beside(&mut self, parts: Vec<(Kind, Part)>) -> Result<()> {
        for (kind, part) in parts {
            let layer = if kind == Kind::Embeddings { &mut self.embeddings } else { &mut self.neighbors };
            layer.add(part)?;
        }
        self.embeddings.check_beside(&self.main)?;
        self.neighbors.check_beside(&self.main)
    }

    /// Adds which of these models were trained on which samples.
    fn add_truth(&mut self, keep: Vec<Array2<bool>>, models: usize) -> Result<()> {
        let samples = self.main.samples();
        let rows: usize = keep.iter().map(Array2::nrows).sum();
        let wrong = keep.iter().find(|keep| keep.ncols() != samples).or(keep.first().filter(|_| rows != models));
        if let Some(wrong) = wrong {
            let array = &self.main.parts[self.main.parts.len() - 1].array;
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
        let Self { files, traces, main, embeddings, neighbors, mut truth, labels } = self;
        let Some([samples, _, last]) = main.sizes else {
            return Err(Error::length("files of shadow models", 0, "at least 1"));
        };
        let array = &main.parts[0].array;
        let members = match truth.len() {
            // Of one recording without a copy: it may be the largest thing in memory.
            1 => truth.swap_remove(0),
            _ => {
                let entries = truth.iter().map(Array2::len).sum::<usize>() as u64;
                let mut rows: Vec<bool> = room.vector(entries, |found, expected| array.at(found, expected))?;
                rows.extend(truth.iter().flatten());
                Array2::from_shape_vec((rows.len() / samples, samples), rows).unwrap_or_default()
            }
        };
        let classes = Some(last).filter(|_| main.kind == Kind::Logits);
        let labels = labels.map(|(labels, array)| checked_labels(&labels, &array, samples, classes)).transpose()?;
        if members.nrows() < 2 {
            let expected = "at least 2 models: the others are what a victim is compared with";
            let hint = "of one model, audit the scores: that of each sample, and whether it was trained on it";
            return Err(hinted(array.at("a single model", expected), hint).into());
        }
        // Many files side by side: hashing takes longer than reading.
        parallel::try_map(&traces, Trace::check_sums)?;
        let members = Arc::new(members);
        let beside = embeddings.sizes.map(|sizes| {
            EmbeddingFile::new(Stack::beside(embeddings.parts, Arc::clone(&members), sizes[1]), None, sizes[2])
        });
        let neighbors = neighbors.sizes.zip(labels.as_ref()).map(|([_, views, classes], labels)| {
            LogitFile::new(Stack::beside(neighbors.parts, Arc::clone(&members), views), labels.clone(), classes)
        });
        let unlabeled = array.at("logits without labels", "the array `labels` of shape (sample)");
        let unlabeled = hinted(unlabeled, UNLABELED);
        let views = main.sizes.map_or(1, |sizes| sizes[1]);
        let stack = Stack { files, traces, ..Stack::beside(main.parts, members, views) };
        Ok(match (main.kind, labels) {
            (Kind::Logits | Kind::NeighborLogits, Some(labels)) => {
                ShadowRecording::Logits(LogitFile::new(stack, labels, last).with(beside, neighbors))
            }
            (Kind::Logits | Kind::NeighborLogits, None) => return Err(unlabeled.into()),
            (Kind::Scores, labels) => ShadowRecording::Scores(ScoreFile::new(stack, labels, beside)),
            (Kind::Embeddings, labels) => ShadowRecording::Embeddings(EmbeddingFile::new(stack, labels, last)),
        })
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
