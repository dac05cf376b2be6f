//! Scores of shadow models as a table with one row for each model, sample and view.

use super::budget::Room;
use super::fault::{fault, hinted, quoted};
use super::input_file::{Digested, open};
use super::lines::Lines;
use super::npy_array::NpyArray;
use super::shadow_stack::{Found, Kind, Part};
use super::trace::Trace;
use crate::error::Result;
use ndarray::Array2;
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

const COLUMNS: &str = "the columns `model`, `sample`, `score`, `member`, and optionally `view`";

/// Names in the order in which they come.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, u32>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The name with a number, for messages.
    fn name(&self, number: usize) -> String {
        let found = self.numbers.iter().find(|&(_, &other)| other as usize == number);
        quoted(found.map_or("", |(name, _)| name))
    }
}

pub(super) fn read(path: &Path, room: &mut Room) -> Result<Found> {
    let mut source = Digested::new(open(path)?);
    let mut found = table(path, BufReader::new(&mut source), room)?;
    found.traces = vec![Trace::Read(source.finish_unchanged(path)?)];
    Ok(found)
}

fn table(path: &Path, reader: impl BufRead, room: &mut Room) -> Result<Found> {
    let table = Table::read(path, reader, room)?;
    let shape = table.shape();
    let scores = table.scores(path, room)?;
    let keep = Array2::from_shape_fn((shape[0], shape[1]), |(m, s)| {
        table.truths.get(&[m as u32, s as u32]).copied().unwrap_or_default()
    });
    room.take(scores.len() as u64, 16, |found, expected| fault(path, "whole file", found, expected))?;
    let array = NpyArray::of_doubles(path, "score", &shape, &scores);
    let part = Part { array, stacked: true, models: shape[0] };
    Ok(Found::new(vec![path.into()], Vec::new(), vec![(Kind::Scores, part)], vec![keep], None))
}

/// The rows of a file, with numbers for names.
#[derive(Default)]
struct Table {
    /// Of models, samples and views.
    names: [Names; 3],
    rows: Vec<([u32; 3], f64)>,
    /// Whether a model was trained on a sample.
    truths: HashMap<[u32; 2], bool>,
}

impl Table {
    fn read(path: &Path, reader: impl BufRead, room: &mut Room) -> Result<Self> {
        let at = |found, expected| fault(path, "whole file", found, expected);
        let mut lines = Lines::new(path, reader);
        let header = lines.header(COLUMNS)?;
        let columns = [
            Some(header.require("model")?),
            Some(header.require("sample")?),
            header.find("view")?,
            Some(header.require("score")?),
            Some(header.require("member")?),
        ];
        let Self { mut names, mut rows, mut truths } = Self::default();
        lines.each_row(&header, columns, |line, [model, sample, view, score, member]| {
            let key = [names[0].number(&model), names[1].number(&sample), names[2].number(&view)];
            let score = match score.parse::<f64>() {
                Ok(score) if score.is_finite() => score,
                _ => return Err(line.at("score").fault(quoted(&score), "a finite number").into()),
            };
            let member = match &*member {
                "1" | "true" | "True" => true,
                "0" | "false" | "False" => false,
                other => {
                    let error = line.at("member").fault(quoted(other), "0 or 1");
                    return Err(hinted(error, "1 where the model was trained on the sample").into());
                }
            };
            // Names and truths are in maps: twice their size, with room to grow.
            room.take(1, 48 + (model.len() + sample.len() + view.len()) as u64, at)?;
            if *truths.entry([key[0], key[1]]).or_insert(member) != member {
                let expected = "the same truth in every view of a sample under a model";
                return Err(line.at("member").fault(format!("`{}`", u8::from(member)), expected).into());
            }
            room.push(&mut rows, (key, score), at)
        })?;
        Ok(Self { names, rows, truths })
    }

    /// Models, samples and views.
    fn shape(&self) -> [usize; 3] {
        self.names.each_ref().map(|names| names.numbers.len())
    }

    /// The score of each model, sample and view; each must have one row.
    fn scores(&self, path: &Path, room: &mut Room) -> Result<Vec<f64>> {
        let at = |found, expected| fault(path, "whole file", found, expected);
        let shape = self.shape();
        let size = shape[0].saturating_mul(shape[1]).saturating_mul(shape[2]);
        // A table with holes may name more triples than memory holds: one of them is missing or twice then.
        let mut seen: HashMap<[u32; 3], ()> = HashMap::new();
        let complete = size == self.rows.len();
        let mut scores: Vec<f64> = room.vector(if complete { size as u64 } else { 0 }, at)?;
        scores.resize(if complete { size } else { 0 }, f64::NAN);
        for &(key, score) in &self.rows {
            let [model, sample, view] = key.map(|number| number as usize);
            let twice = if complete {
                let slot = &mut scores[(model * shape[1] + sample) * shape[2] + view];
                let twice = !slot.is_nan();
                *slot = score;
                twice
            } else {
                seen.insert(key, ()).is_some()
            };
            if twice {
                let found = format!("{} a second time", triple(&self.names, [model, sample, view]));
                return Err(fault(path, "whole file", found, "each of them once").into());
            }
        }
        if !complete {
            let missing = (0..shape[0])
                .flat_map(|m| (0..shape[1]).flat_map(move |s| (0..shape[2]).map(move |v| [m, s, v])))
                .find(|key| !seen.contains_key(&key.map(|number| number as u32)));
            let found = format!("no {}", missing.map_or("more rows".into(), |key| triple(&self.names, key)));
            return Err(fault(path, "whole file", found, "a row for every model, sample and view").into());
        }
        Ok(scores)
    }
}

fn triple(names: &[Names; 3], [model, sample, view]: [usize; 3]) -> String {
    let [models, samples, views] = names;
    let view = if views.numbers.len() > 1 { format!(", view {}", views.name(view)) } else { String::new() };
    format!("model {}, sample {}{view}", models.name(model), samples.name(sample))
}
