//! Recorded next tokens of an ensemble of language models, read position by position.

use super::array_directory::ArrayDirectory;
use super::budget::{MemoryBudget, Room};
use super::fault::{fault, hinted, listed, unreadable};
use super::input_file::{InputFile, PathKind, kind, open, pipe};
use super::npy_array::NpyArray;
use super::safetensors::Safetensors;
use super::trace::Trace;
use crate::error::{Error, Result};
use ndarray::{Array1, Array2, ArrayD, Ix1, Ix2};
use std::fs;
use std::path::{Path, PathBuf};

/// Sums of recorded probabilities may be off by this: half precision keeps three digits of a logarithm.
const SLACK: f64 = 0.05;

/// In which form next tokens are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenValues {
    /// Logits, which count up to a constant.
    Logits,
    /// Logarithms of probabilities.
    LogProbabilities,
    /// Probabilities.
    Probabilities,
}

impl TokenValues {
    const ALL: [Self; 3] = [Self::Logits, Self::LogProbabilities, Self::Probabilities];

    /// The name of the array of the members.
    const fn name(self) -> &'static str {
        match self {
            Self::Logits => "logits",
            Self::LogProbabilities => "log_probabilities",
            Self::Probabilities => "probabilities",
        }
    }

    /// The name of the array of models set aside.
    const fn spares(self) -> &'static str {
        match self {
            Self::Logits => "spare_logits",
            Self::LogProbabilities => "spare_log_probabilities",
            Self::Probabilities => "spare_probabilities",
        }
    }

    /// The name of the array of the public model.
    const fn public(self) -> &'static str {
        match self {
            Self::Logits => "public_logits",
            Self::LogProbabilities => "public_log_probabilities",
            Self::Probabilities => "public_probabilities",
        }
    }
}

/// Any length.
const SOME: usize = usize::MAX;

const TOKENS: &str = "tokens";
const CANARY: &str = "canary";
const PLANTED: &str = "planted";

/// What a position is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenUse {
    /// The ensemble answered, with this token if it was recorded.
    Answer(Option<usize>),
    /// The models were asked for a token of a planted sequence, and nothing was answered.
    Planted {
        /// The sequence.
        sequence: usize,
        /// Its token.
        token: usize,
    },
}

/// What an ensemble said at one position.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedPosition {
    /// Logits \[member, token\].
    pub members: Array2<f64>,
    /// Logits \[spare, token\] of the models set aside.
    pub spares: Option<Array2<f64>>,
    /// Logits \[token\] of the public model.
    pub public: Option<Array1<f64>>,
}

/// Next tokens of an ensemble and of a public model, which stay in their file.
pub struct TokenRecording {
    values: TokenValues,
    members: NpyArray,
    spares: Option<NpyArray>,
    public: Option<NpyArray>,
    uses: Vec<TokenUse>,
    /// \[sequence\]: the member that was trained on it.
    planted: Vec<usize>,
    size: [usize; 3],
    traces: Vec<Trace>,
}

impl std::fmt::Debug for TokenRecording {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut all = formatter.debug_struct("TokenRecording");
        all.field("values", &self.values).field("size", &self.size).finish_non_exhaustive()
    }
}

/// Opens a recording of next tokens: `logits`, `log_probabilities` or `probabilities` \[position, member, token\] in
/// half, single or double precision, and where they are there the same of a public model, as `public_logits` and so on
/// \[position, token\]; the same of models that were set aside, to stand in for a member, as `spare_logits` and so on
/// \[position, spare, token\]; `tokens` \[position\], what was answered, or -1 at every position where that is not recorded;
/// and planted sequences: `canary` \[position\], the sequence of which the position has a token in `tokens`, or -1 for
/// an answer, and `planted` \[sequence\], the member that was trained on each.
///
/// Arrays lie in a file (.npz, or .safetensors, where numbers may be bfloat16), or as .npy files of these names in a
/// folder; a single file (.npy) holds logits. What is not compressed is read position by position and may be larger than
/// memory; compressed arrays are unpacked into `memory`.
///
/// # Errors
/// [`Error::Io`] when a file cannot be read, [`Error::Input`] with array and index for anything else than such arrays
/// that fit together.
pub fn read_tokens(path: impl AsRef<Path>, memory: MemoryBudget) -> Result<TokenRecording> {
    let path = path.as_ref();
    let mut room = Room::new(memory);
    let expected = "next tokens: .npz, .safetensors, .npy, or a folder of arrays";
    let found = match kind(path)? {
        PathKind::Folder => folder(path)?,
        PathKind::Other => return Err(pipe(path, expected)),
        PathKind::File => match path.extension().and_then(|extension| extension.to_str()) {
            Some("npy") => {
                let (array, reader) = NpyArray::open(path)?;
                let traces = vec![Trace::open(path, reader, Vec::new())];
                Found {
                    place: path.into(),
                    arrays: vec![(TokenValues::Logits.name(), array)],
                    names: Vec::new(),
                    traces,
                }
            }
            Some("safetensors") => safetensors(path)?,
            _ => archive(path, &mut room)?,
        },
    };
    found.recording(&mut room)
}

/// The arrays that were found.
struct Found {
    place: PathBuf,
    arrays: Vec<(&'static str, NpyArray)>,
    /// What else is there, for messages.
    names: Vec<String>,
    traces: Vec<Trace>,
}

/// All names of arrays.
fn known() -> impl Iterator<Item = &'static str> {
    TokenValues::ALL
        .into_iter()
        .flat_map(|values| [values.name(), values.spares(), values.public()])
        .chain([TOKENS, CANARY, PLANTED])
}

fn folder(folder: &Path) -> Result<Found> {
    let io = |source| unreadable(folder, source);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        names.push(entry.map_err(io)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let (mut arrays, mut traces) = (Vec::new(), Vec::new());
    for name in known() {
        let path = folder.join(format!("{name}.npy"));
        if path.exists() {
            let (array, reader) = NpyArray::open(&path)?;
            arrays.push((name, array));
            traces.push(Trace::open(&path, reader, Vec::new()));
        }
    }
    Ok(Found { place: folder.into(), arrays, names, traces })
}

fn safetensors(path: &Path) -> Result<Found> {
    let reader = open(path)?;
    let file = Safetensors::open(path, &reader)?;
    let mut arrays = Vec::new();
    for name in known() {
        arrays.extend(file.array(name)?.map(|array| (name, array)));
    }
    let names = file.names();
    Ok(Found { place: path.into(), arrays, names, traces: vec![Trace::open(path, reader, Vec::new())] })
}

fn archive(path: &Path, room: &mut Room) -> Result<Found> {
    let reader = open(path)?;
    let mut directory = ArrayDirectory::open(path, &reader)?;
    let mut arrays = Vec::new();
    for name in known() {
        arrays.extend(directory.array(name, room)?.map(|array| (name, array)));
    }
    let names = directory.names().to_vec();
    // Checksums are held against the data before anything is made of these.
    let trace = directory.checked()?;
    Ok(Found { place: path.into(), arrays, names, traces: vec![trace] })
}

impl Found {
    fn take(&mut self, name: &str) -> Option<NpyArray> {
        let index = self.arrays.iter().position(|(known, _)| *known == name)?;
        Some(self.arrays.swap_remove(index).1)
    }

    /// The array of other models, in the form of the members; [`SOME`] stands for any length above 0.
    fn beside(
        &mut self,
        values: TokenValues,
        name: fn(TokenValues) -> &'static str,
        expected: &[usize],
    ) -> Result<Option<NpyArray>> {
        let other = TokenValues::ALL.into_iter().filter(|other| *other != values).map(name);
        if let Some(array) = other.filter_map(|name| self.take(name)).next() {
            let found = "models in another form than the members";
            return Err(array.at(found, format!("the array `{}`", name(values))).into());
        }
        let Some(array) = self.take(name(values)) else { return Ok(None) };
        let shape = array.shape();
        let fits = |(&found, &expected): (&usize, &usize)| if expected == SOME { found > 0 } else { found == expected };
        if shape.len() != expected.len() || !shape.iter().zip(expected).all(fits) {
            let words: Vec<String> =
                expected.iter().map(|&one| if one == SOME { "some".into() } else { one.to_string() }).collect();
            let expected = format!("shape [{}], as of the members", words.join(", "));
            return Err(array.at(format!("shape {shape:?}"), expected).into());
        }
        values.check(&array)?;
        Ok(Some(array))
    }

    fn recording(mut self, room: &mut Room) -> Result<TokenRecording> {
        let values = TokenValues::ALL.into_iter().find(|values| self.arrays.iter().any(|(n, _)| *n == values.name()));
        let Some(values) = values else {
            let expected =
                "an array `logits`, `log_probabilities` or `probabilities` of shape (position, member, token)";
            let found =
                if self.names.is_empty() { "no array".into() } else { format!("arrays {}", listed(&self.names)) };
            return Err(fault(&self.place, "whole file", found, expected).into());
        };
        let Some(members) = self.take(values.name()) else { unreachable!("found above") };
        let shape = members.shape();
        let &[positions, count, tokens] = &shape[..] else {
            return Err(members.at(format!("shape {shape:?}"), "axes (position, member, token)").into());
        };
        if tokens < 2 {
            return Err(members.at(format!("shape {shape:?}"), "at least 2 tokens").into());
        }
        values.check(&members)?;
        let public = self.beside(values, TokenValues::public, &[positions, tokens])?;
        let spares = self.beside(values, TokenValues::spares, &[positions, SOME, tokens])?;
        let found =
            self.take(TOKENS).map(|array| Ok::<_, Error>((indices(&array, positions, tokens, "token", room)?, array)));
        let found = found.transpose()?;
        let (sequences, planted) = match (self.take(CANARY), self.take(PLANTED)) {
            (None, None) => (vec![None; positions], Vec::new()),
            (Some(at), Some(member)) => sequences(&at, &member, [positions, count], room)?,
            (Some(array), None) => return Err(array.at("no array `planted` beside it", "both").into()),
            (None, Some(array)) => return Err(array.at("no array `canary` beside it", "both").into()),
        };
        let uses = uses(found, &sequences, &self.place)?;
        let traces = self.traces;
        Ok(TokenRecording { values, members, spares, public, uses, planted, size: [positions, count, tokens], traces })
    }
}

/// What each position is for.
fn uses(
    tokens: Option<(Vec<Option<usize>>, NpyArray)>,
    sequences: &[Option<usize>],
    place: &Path,
) -> Result<Vec<TokenUse>> {
    let Some((tokens, array)) = tokens else {
        if sequences.iter().any(Option::is_some) {
            let error = fault(place, "whole file", "planted sequences without their tokens", "the array `tokens`");
            return Err(
                hinted(error, "its entries are the tokens of the sequence, which the models were asked about").into()
            );
        }
        return Ok(vec![TokenUse::Answer(None); sequences.len()]);
    };
    let answers = || (0..tokens.len()).filter(|position| sequences[*position].is_none());
    let (known, unknown) = (
        answers().find(|position| tokens[*position].is_some()),
        answers().find(|position| tokens[*position].is_none()),
    );
    if let (Some(known), Some(unknown)) = (known, unknown) {
        let expected = format!("a token, as at position {known}, or -1 for all answers");
        return Err(array.at_index(&[unknown], "`-1`", expected).into());
    }
    let of = |position: usize| match (sequences[position], tokens[position]) {
        (None, token) => Ok(TokenUse::Answer(token)),
        (Some(sequence), Some(token)) => Ok(TokenUse::Planted { sequence, token }),
        (Some(sequence), None) => {
            Err(array.at_index(&[position], "`-1`", format!("the token of the planted sequence {sequence}")).into())
        }
    };
    (0..tokens.len()).map(of).collect()
}

/// Whole numbers \[position\] below a limit, or -1.
fn indices(array: &NpyArray, length: usize, limit: usize, what: &str, room: &mut Room) -> Result<Vec<Option<usize>>> {
    if array.shape() != [length] {
        let expected = format!("shape [{length}], a {what} for each position");
        return Err(array.at(format!("shape {:?}", array.shape()), expected).into());
    }
    let numbers = array.whole_numbers(room, |value| match usize::try_from(value) {
        Ok(index) if index < limit => Ok(Some(index)),
        Err(_) if value == -1 => Ok(None),
        _ => Err((format!("a {what} from 0 to {}, or -1", limit - 1), None)),
    })?;
    Ok(numbers.into_iter().collect())
}

/// The sequence of each position, and the member of each sequence.
fn sequences(
    at: &NpyArray,
    member: &NpyArray,
    [positions, members]: [usize; 2],
    room: &mut Room,
) -> Result<(Vec<Option<usize>>, Vec<usize>)> {
    if member.shape().len() != 1 {
        return Err(member.at(format!("shape {:?}", member.shape()), "one axis (sequence)").into());
    }
    let planted: Vec<usize> = member
        .whole_numbers(room, |value| match usize::try_from(value) {
            Ok(index) if index < members => Ok(index),
            _ => Err((format!("a member from 0 to {}", members - 1), None)),
        })?
        .into_iter()
        .collect();
    let found = indices(at, positions, planted.len(), "sequence", room)?;
    let mut present = vec![false; planted.len()];
    found.iter().flatten().for_each(|&sequence| present[sequence] = true);
    if let Some(missing) = present.iter().position(|present| !present) {
        return Err(at.at(format!("no position of sequence {missing}"), "a position of each planted sequence").into());
    }
    Ok((found, planted))
}

impl TokenRecording {
    /// Number of positions.
    #[must_use]
    pub const fn positions(&self) -> usize {
        self.size[0]
    }

    /// Number of members.
    #[must_use]
    pub const fn members(&self) -> usize {
        self.size[1]
    }

    /// Number of models set aside.
    #[must_use]
    pub fn spares(&self) -> usize {
        self.spares.as_ref().map_or(0, |array| array.shape()[1])
    }

    /// Number of tokens of the vocabulary.
    #[must_use]
    pub const fn tokens(&self) -> usize {
        self.size[2]
    }

    /// Whether a public model was recorded.
    #[must_use]
    pub const fn has_public(&self) -> bool {
        self.public.is_some()
    }

    /// \[position\]: what it is for.
    #[must_use]
    pub fn uses(&self) -> &[TokenUse] {
        &self.uses
    }

    /// Positions at which the ensemble answered.
    #[must_use]
    pub fn answers(&self) -> usize {
        self.uses.iter().filter(|used| matches!(used, TokenUse::Answer(_))).count()
    }

    /// Whether it is recorded what the ensemble answered.
    #[must_use]
    pub fn has_answers(&self) -> bool {
        self.uses.iter().any(|used| matches!(used, TokenUse::Answer(Some(_))))
    }

    /// \[sequence\]: the member that was trained on a planted sequence.
    #[must_use]
    pub fn planted(&self) -> &[usize] {
        &self.planted
    }

    /// Reads one position. Threads may read different ones at once.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be read, [`Error::Input`] with array and index for a number that is no logit,
    /// for a model that gives no token, and for probabilities that do not sum to 1.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn position(&self, index: usize) -> Result<RecordedPosition> {
        assert!(index < self.positions(), "position {index} of {}", self.positions());
        let members = self.models(&self.members, index)?;
        let spares = self.spares.as_ref().map(|array| self.models(array, index)).transpose()?;
        let public = match &self.public {
            None => None,
            Some(array) => {
                let shaped = |error: ndarray::ShapeError| array.at(error.to_string(), "axes (position, token)");
                let mut row: Array1<f64> =
                    first(array.doubles(0, index..index + 1)?).into_dimensionality::<Ix1>().map_err(shaped)?;
                let values = row.as_slice_mut().unwrap_or_default();
                self.values.to_logits(values).map_err(|fault| fault.at(array, &[index]))?;
                Some(row)
            }
        };
        Ok(RecordedPosition { members, spares, public })
    }

    /// Logits \[model, token\] at a position.
    fn models(&self, array: &NpyArray, index: usize) -> Result<Array2<f64>> {
        let shaped = |error: ndarray::ShapeError| array.at(error.to_string(), "axes (position, model, token)");
        let read = array.doubles(0, index..index + 1)?;
        let mut models: Array2<f64> = first(read).into_dimensionality::<Ix2>().map_err(shaped)?;
        for (model, mut row) in models.outer_iter_mut().enumerate() {
            let row = row.as_slice_mut().unwrap_or_default();
            self.values.to_logits(row).map_err(|fault| fault.at(array, &[index, model]))?;
        }
        Ok(models)
    }

    /// The files that were read, which must be the same until now.
    ///
    /// # Errors
    /// [`Error::Input`] for a file that changed, [`Error::Io`] when it cannot be read.
    pub fn inputs(&self) -> Result<Vec<InputFile>> {
        self.traces.iter().map(Trace::input).collect()
    }
}

/// The one entry of the first axis.
fn first(array: ArrayD<f64>) -> ArrayD<f64> {
    array.index_axis_move(ndarray::Axis(0), 0)
}

/// What is wrong with the numbers of a model.
enum RowFault {
    /// A number at a place.
    Number { place: usize, value: f64, expected: &'static str },
    /// All of them.
    Row { found: String, expected: &'static str },
}

impl RowFault {
    fn at(self, array: &NpyArray, index: &[usize]) -> Error {
        match self {
            Self::Number { place, value, expected } => {
                array.at_index(&[index, &[place]].concat(), format!("`{value}`"), expected).into()
            }
            Self::Row { found, expected } => array.at_index(index, found, expected).into(),
        }
    }
}

impl TokenValues {
    /// Rejects an array that cannot be read position by position, and probabilities of half precision, which are 0 where
    /// a model still gives a token.
    fn check(self, array: &NpyArray) -> Result<()> {
        array.check_positions()?;
        if self == Self::Probabilities && array.is_half() {
            let error = array.at("probabilities of half precision", "dtype `f32` or `f64`: small ones would be 0");
            return Err(hinted(error, "record logits or log_probabilities, which half precision keeps").into());
        }
        Ok(())
    }

    /// Makes logits of what was recorded of one model.
    fn to_logits(self, row: &mut [f64]) -> std::result::Result<(), RowFault> {
        // One pass without branches; the place is looked for where there is something wrong.
        let found = match self {
            Self::Logits => first_wrong(row, |value| !(value < f64::INFINITY), "a number below infinity"),
            Self::LogProbabilities => first_wrong(row, |value| !(value < 0.1), "the logarithm of a probability"),
            Self::Probabilities => first_wrong(row, |value| !(0.0..1.1).contains(&value), "a probability"),
        };
        if let Some(fault) = found {
            return Err(fault);
        }
        match self {
            Self::Logits => {
                if !row.iter().fold(false, |any, value| any | (*value > f64::NEG_INFINITY)) {
                    let expected = "a finite logit: a model gives some token";
                    return Err(RowFault::Row { found: "-inf for every token".into(), expected });
                }
                return Ok(());
            }
            Self::LogProbabilities => check_sum(row.iter().map(|value| value.exp()).sum())?,
            Self::Probabilities => {
                check_sum(row.iter().sum())?;
                row.iter_mut().for_each(|value| *value = value.ln());
            }
        }
        Ok(())
    }
}

/// The first number that is wrong.
fn first_wrong(row: &[f64], wrong: impl Fn(f64) -> bool, expected: &'static str) -> Option<RowFault> {
    if !row.iter().fold(false, |any, value| any | wrong(*value)) {
        return None;
    }
    let place = row.iter().position(|value| wrong(*value))?;
    Some(RowFault::Number { place, value: row[place], expected })
}

fn check_sum(sum: f64) -> std::result::Result<(), RowFault> {
    if (sum - 1.0).abs() > SLACK {
        return Err(RowFault::Row { found: format!("probabilities that sum to {sum:.4}"), expected: "a sum of 1" });
    }
    Ok(())
}
