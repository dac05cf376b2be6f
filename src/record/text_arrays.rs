//! Sequences of tokens in an archive of arrays, which are read in pieces.

use super::array_directory::ArrayDirectory;
use super::budget::Room;
use super::fault::{hinted, quoted, several};
use super::input_file::InputReader;
use super::npy_array::NpyArray;
use super::text_lines::unused;
use super::trace::Trace;
use crate::error::{Error, Result};
use crate::membership::{Documents, Ragged, TextPart, TextSequences};
use std::ops::Range;
use std::path::Path;

/// The name of the array from which losses of the reference model are made.
const REFERENCE: &str = "reference_log_probabilities";

/// How the numbers of a part are stored.
enum Stored {
    /// As they are requested.
    Numbers(NpyArray),
    /// A log-probability of each token under the reference model, from which the loss is made.
    Tokens(NpyArray),
    /// One for each sequence, read already.
    Read(Vec<f64>),
}

/// An archive of sequences.
pub(super) struct TextArrays {
    pub(super) trace: Trace,
    /// Where each sequence starts, and the end of the last.
    offsets: Vec<usize>,
    parts: [Option<Stored>; TextPart::ALL.len()],
    members: Vec<bool>,
    documents: Option<Documents>,
    /// Names of arrays that are present but not used.
    pub(super) unused: Vec<String>,
}

impl TextArrays {
    pub(super) fn open(path: &Path, reader: &InputReader, room: &mut Room) -> Result<Self> {
        let mut arrays = ArrayDirectory::open(path, reader)?;
        let tokens = arrays.array(TextPart::LogProbabilities.name(), room)?;
        let tokens = tokens.ok_or_else(|| arrays.missing("the array `log_probabilities` [token]"))?;
        let offsets = arrays.array("offsets", room)?;
        let offsets = offsets.ok_or_else(|| arrays.missing("the array `offsets` [sequence + 1]"))?;
        let member = arrays.array("member", room)?;
        let member = member.ok_or_else(|| arrays.missing("the array `member` [sequence]"))?;
        let document = arrays.array("document", room)?;
        let mut others = Vec::new();
        for part in TextPart::ALL.into_iter().filter(|part| *part != TextPart::LogProbabilities) {
            others.extend(arrays.array(part.name(), room)?.map(|array| (part, array)));
        }
        let reference = arrays.array(REFERENCE, room)?;
        let unused = unused(arrays.names().to_vec(), &["offsets"]);
        // Before anything is made of them.
        let trace = arrays.checked()?;
        let offsets = offsets_of(&offsets, &tokens, room)?;
        let sequences = offsets.len() - 1;
        let mut parts = [const { None }; TextPart::ALL.len()];
        for (part, array) in others {
            let rows = if part.is_of_tokens() { offsets[sequences] } else { sequences };
            parts[part as usize] = Some(stored(part, array, rows, room)?);
        }
        if let Some(array) = reference.filter(|_| parts[TextPart::ReferenceLoss as usize].is_none()) {
            check_shape(&array, offsets[sequences], 1)?;
            array.check_floats()?;
            parts[TextPart::ReferenceLoss as usize] = Some(Stored::Tokens(array));
        }
        parts[TextPart::LogProbabilities as usize] = Some(Stored::Numbers(tokens));
        let members = members(&member, sequences, room)?;
        let documents = document.map(|array| documents(&array, &members, room)).transpose()?;
        Ok(Self { trace, offsets, parts, members, documents, unused })
    }

    /// A part with the sign of its numbers: means are negative entropies.
    fn part(&self, part: TextPart) -> Option<(TextPart, &Stored, f64)> {
        let of = |part: TextPart, sign: f64| self.parts[part as usize].as_ref().map(|stored| (part, stored, sign));
        of(part, 1.0).or_else(|| of(part.negative()?, -1.0))
    }

    /// Rows of an array that has a number for each token.
    fn tokens(&self, array: &NpyArray, part: TextPart, sequences: Range<usize>) -> Result<Ragged> {
        let start = self.tokens_before(sequences.start);
        let values = numbers(array, part, start..self.tokens_before(sequences.end))?;
        Ragged::new(values, sequences.map(|sequence| self.tokens_before(sequence + 1) - start).collect())
    }
}

impl TextSequences for TextArrays {
    fn members(&self) -> &[bool] {
        &self.members
    }

    fn documents(&self) -> Option<&Documents> {
        self.documents.as_ref()
    }

    fn tokens_before(&self, sequence: usize) -> usize {
        self.offsets.get(sequence).or(self.offsets.last()).copied().unwrap_or(0)
    }

    fn has(&self, part: TextPart) -> bool {
        self.part(part).is_some()
    }

    fn length(&self, part: TextPart, sequence: usize) -> usize {
        match self.part(part) {
            None => 0,
            Some((own, ..)) if own.is_of_tokens() => self.tokens_before(sequence + 1) - self.tokens_before(sequence),
            Some((_, Stored::Numbers(array), _)) => array.shape().get(1).copied().unwrap_or(1),
            Some(_) => 1,
        }
    }

    fn read(&self, part: TextPart, sequences: Range<usize>) -> Result<Ragged> {
        let Some((own, stored, sign)) = self.part(part) else {
            let reason = format!("there is no array {}", quoted(part.name()));
            return Err(Error::Rejected { operation: "part of sequences", reason });
        };
        match stored {
            Stored::Read(values) => Ok(Ragged::of_length(values[sequences].to_vec(), 1)),
            Stored::Tokens(array) => {
                let rows = self.tokens(array, TextPart::LogProbabilities, sequences)?;
                let loss = |row: &[f64]| -row.iter().sum::<f64>() / row.len() as f64;
                Ok(Ragged::of_length((0..rows.rows()).map(|row| loss(rows.row(row))).collect(), 1))
            }
            Stored::Numbers(array) if own.is_of_tokens() => {
                let rows = self.tokens(array, own, sequences)?;
                if sign > 0.0 {
                    return Ok(rows);
                }
                let mut turned = Ragged::default();
                (0..rows.rows()).for_each(|row| turned.push(rows.row(row).iter().map(|value| sign * value)));
                Ok(turned)
            }
            Stored::Numbers(array) => {
                let columns = array.shape().get(1).copied().unwrap_or(1);
                let values = numbers(array, own, sequences)?;
                Ok(Ragged::of_length(values, columns))
            }
        }
    }
}

/// Numbers of a range of the first axis, each checked to be possible for the part.
fn numbers(array: &NpyArray, part: TextPart, range: Range<usize>) -> Result<Vec<f64>> {
    let values = array.doubles(0, range.clone())?;
    let values = if values.is_standard_layout() { values } else { values.as_standard_layout().into_owned() };
    let values = values.into_raw_vec_and_offset().0;
    let Some(place) = values.iter().position(|&value| !part.holds(value)) else { return Ok(values) };
    let columns = array.shape().get(1).copied();
    let index = match columns {
        None => vec![range.start + place],
        Some(columns) => vec![range.start + place / columns, place % columns],
    };
    let error = array.at_index(&index, format!("`{}`", values[place]), part.expected());
    Err(hinted(error, part.hint()).into())
}

fn check_shape(array: &NpyArray, rows: usize, axes: usize) -> Result<()> {
    let shape = array.shape();
    if shape.len() == axes && shape[0] == rows {
        return Ok(());
    }
    let expected = if axes == 1 { format!("shape [{rows}]") } else { format!("shape [{rows}, any number]") };
    Err(array.at(format!("shape {shape:?}"), expected).into())
}

fn stored(part: TextPart, array: NpyArray, rows: usize, room: &mut Room) -> Result<Stored> {
    let axes = if part.is_of_tokens() || part.is_one() { 1 } else { 2 };
    check_shape(&array, rows, axes)?;
    if part != TextPart::ZlibBytes {
        array.check_floats()?;
        return Ok(Stored::Numbers(array));
    }
    let bytes = array.whole_numbers(room, |value| {
        let number = value as f64;
        if part.holds(number) { Ok(number) } else { Err((part.expected().into(), Some(part.hint()))) }
    })?;
    Ok(Stored::Read(bytes.into_raw_vec_and_offset().0))
}

/// Where sequences start, and the end of the last: rising from 0 to the number of tokens.
fn offsets_of(array: &NpyArray, tokens: &NpyArray, room: &mut Room) -> Result<Vec<usize>> {
    tokens.check_floats()?;
    if tokens.shape().len() != 1 {
        let error = tokens.at(format!("shape {:?}", tokens.shape()), "1 axis (token)");
        return Err(hinted(error, "put the tokens of all sequences one after the other, without padding").into());
    }
    let shape = array.shape();
    if shape.len() != 1 || shape[0] < 2 {
        return Err(array
            .at(format!("shape {shape:?}"), "1 axis with one number more than there are sequences")
            .into());
    }
    let hint = "offsets start with 0 and end with the number of tokens: numpy.cumsum([0, *lengths])";
    let mut before: Option<i128> = None;
    let offsets = array.whole_numbers(room, |value| {
        let expected = match before {
            None if value != 0 => Some("0, the start of the first sequence".to_owned()),
            Some(before) if value <= before => {
                Some(format!("more than {before}: offsets rise, since every sequence has tokens"))
            }
            _ => None,
        };
        before = Some(value);
        match expected {
            None => usize::try_from(value).map_err(|_| ("a number of tokens".into(), None)),
            Some(expected) => Err((expected, Some(hint))),
        }
    })?;
    let offsets = offsets.into_raw_vec_and_offset().0;
    let (last, all) = (offsets[offsets.len() - 1], tokens.shape()[0]);
    if last != all {
        let error = array.at_index(&[offsets.len() - 1], format!("`{last}`"), format!("{all}, the number of tokens"));
        return Err(hinted(error, hint).into());
    }
    Ok(offsets)
}

fn members(array: &NpyArray, sequences: usize, room: &mut Room) -> Result<Vec<bool>> {
    check_shape(array, sequences, 1)?;
    let members = array.whole_numbers(room, |value| match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(("0 or 1".into(), Some("1 where the model was trained on the sequence"))),
    })?;
    let members = members.into_raw_vec_and_offset().0;
    for (wanted, name) in [(true, "members"), (false, "non-members")] {
        if !members.contains(&wanted) {
            return Err(array.at(format!("no {name}"), "sequences of both kinds").into());
        }
    }
    Ok(members)
}

fn documents(array: &NpyArray, members: &[bool], room: &mut Room) -> Result<Documents> {
    check_shape(array, members.len(), 1)?;
    // Numbers of u64 and of i64 both.
    let names: Vec<i128> = array.whole_numbers(room, Ok)?.into_raw_vec_and_offset().0;
    // Names are kept as texts, in a table as well as in a list.
    room.take(names.len() as u64, 96, |found, expected| array.at(found, expected))?;
    let documents = Documents::new(names.iter().map(ToString::to_string))?;
    if let Some(sequence) = documents.divided(members) {
        let found = format!("document {} with members and non-members", documents.name(documents.of(sequence)));
        let error = array.at_index(&[sequence], found, "documents of one kind each");
        return Err(hinted(error, "the model was trained on all of a document or on nothing of it").into());
    }
    Ok(documents)
}

impl std::fmt::Debug for TextArrays {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "TextArrays({})", several(self.members.len(), "sequence"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::budget::MemoryBudget;
    use super::super::test_arrays::{AnyArray, Named, archive, npz};
    use super::*;
    use ndarray::{Array1, Array2, array};

    /// Three tokens with the offsets of their sequences, and what else there is.
    fn of(offsets: &Array1<i64>, compressed: bool, more: &Named<'_>) -> Result<TextArrays> {
        let values = array![-1.0f32, -2.0, -4.0];
        let arrays = [&[("offsets", offsets as &dyn AnyArray), ("log_probabilities", &values)][..], more].concat();
        let reader = InputReader::of_bytes(archive(&arrays, compressed));
        TextArrays::open(Path::new("t.npz"), &reader, &mut Room::new(MemoryBudget::of_bytes(1 << 20)))
    }

    /// The same for two sequences, one of them a member.
    fn with(compressed: bool, more: &Named<'_>) -> Result<TextArrays> {
        let member = array![true, false];
        of(&array![0, 2, 3], compressed, &[&[("member", &member as &dyn AnyArray)][..], more].concat())
    }

    #[test]
    fn parts_are_read_in_any_piece() {
        for compressed in [false, true] {
            let more: &Named<'_> = &[
                ("entropy", &array![0.5, 1.0, 2.0]),
                ("reference_log_probabilities", &array![-1.0, -4.0, -3.0]),
                ("zlib_bytes", &array![11u16, 12]),
                ("neighbor_losses", &array![[1.0f32, 2.0], [3.0, 4.0]]),
                ("document", &array![-7i64, 8]),
            ];
            let arrays = with(compressed, more).unwrap();
            let values = |part, range| arrays.read(part, range).unwrap().values().to_vec();
            assert_eq!(values(TextPart::LogProbabilities, 0..2), [-1.0, -2.0, -4.0]);
            assert_eq!(values(TextPart::LogProbabilities, 1..2), [-4.0]);
            assert_eq!(values(TextPart::Means, 0..1), [-0.5, -1.0]);
            assert_eq!(values(TextPart::ReferenceLoss, 0..2), [2.5, 3.0]);
            assert_eq!(values(TextPart::ZlibBytes, 1..2), [12.0]);
            assert_eq!(arrays.read(TextPart::NeighborLosses, 0..2).unwrap().row(1), [3.0, 4.0]);
            assert_eq!((arrays.documents.as_ref().unwrap().name(0), arrays.has(TextPart::Deviations)), ("-7", false));
        }
    }

    #[test]
    fn large_numbers_of_documents_keep_their_sign() {
        let losses = array![[1.0f32, 2.0, 3.0], [3.0, 4.0, 5.0]];
        let arrays = with(false, &[("document", &array![u64::MAX, 7]), ("candidate_losses", &losses)]).unwrap();
        assert_eq!(arrays.documents.as_ref().unwrap().name(0), "18446744073709551615");
        let lengths = [TextPart::LogProbabilities, TextPart::CandidateLosses, TextPart::ZlibBytes];
        assert_eq!(lengths.map(|part| arrays.length(part, 0)), [2, 3, 0]);
    }

    #[test]
    fn every_fault_has_its_array() {
        let opened = |found: Result<TextArrays>| match found {
            Ok(_) => panic!("it was read"),
            Err(error) => error.to_string(),
        };
        let member = array![true, false];
        let at = |offsets: Array1<i64>| opened(of(&offsets, false, &[("member", &member)]));
        let alone = |more: &Named<'_>| opened(of(&array![0, 2, 3], false, more));
        let beside = |name, array: &dyn AnyArray| opened(with(false, &[(name, array)]));
        let read = |part: TextPart, name, array: &dyn AnyArray| {
            with(false, &[(name, array)]).unwrap().read(part, 1..2).unwrap_err().to_string()
        };
        let losses = Array2::from_shape_fn((2, 3), |(row, column)| 1.5 - (row * column) as f64);
        insta::assert_snapshot!(
            [
                alone(&[]),
                at(array![0, 2, 2]),
                at(array![1, 2, 3]),
                at(array![0, -2, 3]),
                at(array![0, 1, 2]),
                at(array![0]),
                at(array![0, 1, 2, 3]),
                alone(&[("member", &array![2u8, 0])]),
                alone(&[("member", &array![1u8, 1])]),
                beside("entropy", &array![0.5, 1.0]),
                beside("entropy", &array![1i64, 1, 1]),
                beside("reference_loss", &array![1.0, 1.0, 1.0]),
                beside("zlib_bytes", &array![10u8, 0]),
                beside("neighbor_losses", &array![1.0, 2.0]),
                beside("document", &array![5i32, 5]),
                read(TextPart::Entropies, "entropy", &array![0.5, 1.0, f64::NAN]),
                read(TextPart::Deviations, "log_probability_deviation", &array![1.0f32, 1.0, 0.0]),
                read(TextPart::CandidateLosses, "candidate_losses", &losses),
            ]
            .join("\n"),
            @r#"
            t.npz: whole file: found arrays `offsets`, `log_probabilities`, expected the array `member` [sequence]
            t.npz: array `offsets`, index [2]: found `2`, expected more than 2: offsets rise, since every sequence has tokens; hint: offsets start with 0 and end with the number of tokens: numpy.cumsum([0, *lengths])
            t.npz: array `offsets`, index [0]: found `1`, expected 0, the start of the first sequence; hint: offsets start with 0 and end with the number of tokens: numpy.cumsum([0, *lengths])
            t.npz: array `offsets`, index [1]: found `-2`, expected more than 0: offsets rise, since every sequence has tokens; hint: offsets start with 0 and end with the number of tokens: numpy.cumsum([0, *lengths])
            t.npz: array `offsets`, index [2]: found `2`, expected 3, the number of tokens; hint: offsets start with 0 and end with the number of tokens: numpy.cumsum([0, *lengths])
            t.npz: array `offsets`: found shape [1], expected 1 axis with one number more than there are sequences
            t.npz: array `member`: found shape [2], expected shape [3]
            t.npz: array `member`, index [0]: found `2`, expected 0 or 1; hint: 1 where the model was trained on the sequence
            t.npz: array `member`: found no non-members, expected sequences of both kinds
            t.npz: array `entropy`: found shape [2], expected shape [3]
            t.npz: array `entropy`: found dtype `i64`, expected dtype `f16`, `f32` or `f64`; hint: numpy converts with .astype(numpy.float32)
            t.npz: array `reference_loss`: found shape [3], expected shape [2]
            t.npz: array `zlib_bytes`, index [1]: found `0`, expected a number of bytes, at least 1; hint: record the length of the compressed text
            t.npz: array `neighbor_losses`: found shape [2], expected shape [2, any number]
            t.npz: array `document`, index [1]: found document 5 with members and non-members, expected documents of one kind each; hint: the model was trained on all of a document or on nothing of it
            t.npz: array `entropy`, index [2]: found `NaN`, expected an entropy, from 0 to 1e30; hint: record minus the sum of p ln p over the vocabulary
            t.npz: array `log_probability_deviation`, index [2]: found `0`, expected a standard deviation, from 1e-30 to 1e30; hint: clip the variance below, at 1e-6 for example, before the root is taken
            t.npz: array `candidate_losses`, index [1, 2]: found `-0.5`, expected a loss, from 0 to 1e30; hint: record mean negative log-probabilities of a token
            "#
        );
    }

    #[test]
    fn what_does_not_fit_in_memory_is_rejected() {
        let reader = InputReader::of_bytes(npz(&[
            ("offsets", &Array1::from_iter(0..=1000i64)),
            ("log_probabilities", &Array1::from_elem(1000, -1.0)),
            ("member", &Array1::from_shape_fn(1000, |place| place % 2 == 0)),
        ]));
        let open = |bytes| {
            let mut room = Room::new(MemoryBudget::of_bytes(bytes));
            TextArrays::open(Path::new("t.npz"), &reader, &mut room).map(drop)
        };
        assert!(open(1 << 14).is_ok());
        assert!(open(1 << 12).unwrap_err().to_string().contains("`max-memory`"));
    }
}
