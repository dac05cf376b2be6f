//! Next tokens of an ensemble of language models, read position by position.

use super::fault::hinted;
use super::input_file::InputFile;
use super::npy_array::NpyArray;
use super::trace::Trace;
use crate::error::{Error, Result};
use crate::vectorized::largest_of;
use ndarray::{Array1, Array2, ArrayD, Ix1, Ix2};

/// Sums of recorded probabilities may be off by this: half precision keeps three digits of a logarithm.
const SLACK: f64 = 0.05;

/// The form in which next tokens are recorded.
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
    pub(super) const ALL: [Self; 3] = [Self::Logits, Self::LogProbabilities, Self::Probabilities];

    /// The name of the array of the members.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Logits => "logits",
            Self::LogProbabilities => "log_probabilities",
            Self::Probabilities => "probabilities",
        }
    }

    /// The name of the array of models set aside.
    pub(super) const fn spares(self) -> &'static str {
        match self {
            Self::Logits => "spare_logits",
            Self::LogProbabilities => "spare_log_probabilities",
            Self::Probabilities => "spare_probabilities",
        }
    }

    /// The name of the array of the public model.
    pub(super) const fn public(self) -> &'static str {
        match self {
            Self::Logits => "public_logits",
            Self::LogProbabilities => "public_log_probabilities",
            Self::Probabilities => "public_probabilities",
        }
    }
}

/// The purpose of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenUse {
    /// The ensemble answered, with this token if it was recorded.
    Answer(Option<usize>),
    /// The models were asked for a token of a planted sequence; this is not an answer.
    Planted {
        /// The sequence.
        sequence: usize,
        /// Its token.
        token: usize,
    },
}

/// What an ensemble answered at one position.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedPosition {
    /// Logits \[member, token\].
    pub members: Array2<f64>,
    /// Logits \[spare, token\] of the models set aside.
    pub spares: Option<Array2<f64>>,
    /// Logits \[token\] of the public model.
    pub public: Option<Array1<f64>>,
    /// Tokens \[ensemble, transcript\] that the whole ensemble gave here, and then each neighbor.
    pub transcripts: Option<Array2<usize>>,
}

/// Next tokens of an ensemble and of a public model, which stay in their file.
pub struct TokenRecording {
    pub(super) values: TokenValues,
    pub(super) members: NpyArray,
    pub(super) spares: Option<NpyArray>,
    pub(super) public: Option<NpyArray>,
    pub(super) transcripts: Option<NpyArray>,
    pub(super) uses: Vec<TokenUse>,
    /// \[sequence\]: the member that was trained on it.
    pub(super) planted: Vec<usize>,
    pub(super) size: [usize; 3],
    pub(super) unused: Vec<String>,
    pub(super) traces: Vec<Trace>,
}

impl std::fmt::Debug for TokenRecording {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut all = formatter.debug_struct("TokenRecording");
        all.field("values", &self.values).field("size", &self.size).finish_non_exhaustive()
    }
}

impl TokenRecording {
    /// The names of arrays and columns that are present but unused.
    #[must_use]
    pub fn unused(&self) -> &[String] {
        &self.unused
    }

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

    /// How many ensembles answered at all positions repeatedly, the whole one first, and how often each did.
    #[must_use]
    pub fn transcripts(&self) -> Option<[usize; 2]> {
        self.transcripts.as_ref().map(|array| array.shape()).map(|shape| [shape[1], shape[2]])
    }

    /// \[position\]: its purpose.
    #[must_use]
    pub fn uses(&self) -> &[TokenUse] {
        &self.uses
    }

    /// Positions at which the ensemble answered.
    #[must_use]
    pub fn answers(&self) -> usize {
        self.uses.iter().filter(|used| matches!(used, TokenUse::Answer(_))).count()
    }

    /// Whether the answers of the ensemble are recorded.
    #[must_use]
    pub fn has_answers(&self) -> bool {
        self.uses.iter().any(|used| matches!(used, TokenUse::Answer(Some(_))))
    }

    /// \[sequence\]: the member that was trained on a planted sequence.
    #[must_use]
    pub fn planted(&self) -> &[usize] {
        &self.planted
    }

    /// Reads one position. Threads may read different ones concurrently.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be read, [`Error::Input`] with array and index for a number that is not a
    /// logit, for a model that gives no token, for probabilities that do not sum to 1, and for a number that is not a
    /// token.
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
        let answered = matches!(self.uses[index], TokenUse::Answer(_));
        let transcripts = self.transcripts.as_ref().filter(|_| answered);
        let transcripts = transcripts.map(|array| self.answers_again(array, index)).transpose()?;
        Ok(RecordedPosition { members, spares, public, transcripts })
    }

    /// Tokens \[ensemble, transcript\] at a position.
    fn answers_again(&self, array: &NpyArray, index: usize) -> Result<Array2<usize>> {
        let tokens = self.tokens();
        let found = array.whole_numbers_of(index, |value| match usize::try_from(value) {
            Ok(token) if token < tokens => Ok(token),
            _ => Err((format!("a token from 0 to {}", tokens - 1), None)),
        })?;
        let shape = array.shape();
        let shaped = |error: ndarray::ShapeError| array.at(error.to_string(), "axes (position, ensemble, transcript)");
        Ok(Array2::from_shape_vec((shape[1], shape[2]), found).map_err(shaped)?)
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

    /// Hashes the files up to a position, for [`inputs`](Self::inputs). Ahead of the work on positions and in parallel
    /// with it, this costs less than afterwards: the system reads in order, and then has the data cached.
    ///
    /// # Errors
    /// [`Error::Io`] when a file cannot be read.
    pub fn follow(&self, position: usize) -> Result<()> {
        self.traces.iter().try_for_each(|trace| trace.follow(position, self.positions()))
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
    /// Rejects an array that cannot be read position by position, and probabilities of half precision, which are 0
    /// although a model may still give a token.
    pub(super) fn check(self, array: &NpyArray) -> Result<()> {
        array.check_positions()?;
        if self == Self::Probabilities && array.is_half() {
            let error = array.at("probabilities of half precision", "dtype `f32` or `f64`: small ones would be 0");
            return Err(hinted(error, "record logits or log_probabilities, which half precision keeps").into());
        }
        Ok(())
    }

    /// Makes logits of what was recorded of one model.
    fn to_logits(self, row: &mut [f64]) -> std::result::Result<(), RowFault> {
        if self == Self::Logits && largest_of(row).is_finite() {
            return Ok(());
        }
        // One pass without branches; the place is searched for only if something is wrong.
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
                let expected = "a finite logit: a model gives some token";
                return Err(RowFault::Row { found: "-inf for every token".into(), expected });
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
