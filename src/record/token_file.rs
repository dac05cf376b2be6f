//! Files of recorded next tokens: the places of their arrays, and whether they fit together.

use super::array_directory::ArrayDirectory;
use super::budget::{MemoryBudget, Room};
use super::fault::{fault, hinted, listed, unreadable};
use super::input_file::{PathKind, kind, open, pipe};
use super::npy_array::NpyArray;
use super::safetensors::Safetensors;
use super::token_parquet::{Columns, Kind, Wanted, read_columns};
use super::token_recording::{TokenRecording, TokenUse, TokenValues};
use super::trace::Trace;
use crate::error::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Any length.
const SOME: usize = usize::MAX;

const TOKENS: &str = "tokens";
const CANARY: &str = "canary";
const PLANTED: &str = "planted";
const TRANSCRIPTS: &str = "transcripts";

/// Opens a recording of next tokens: `logits`, `log_probabilities` or `probabilities` \[position, member, token\] in
/// half, single or double precision, and the following, if present. The same for a public model, as `public_logits` and
/// so on \[position, token\]; the same for reserve models that may replace a member, as `spare_logits` and so on
/// \[position, spare, token\]; `tokens` \[position\], the answered tokens, or -1 at every position where none is
/// recorded; for planted sequences `canary` \[position\], the sequence whose token is in `tokens` at the position, or
/// -1 for an answer, and `planted` \[sequence\], the member that was trained on each; and, for repeated answers at the
/// same positions, `transcripts` \[position, ensemble, transcript\], tokens of the whole ensemble and then of each
/// neighbor.
///
/// A table (.parquet) has a row for each position, with columns of these names: lists of models, each a list of tokens,
/// a list of tokens of the public model, and whole numbers or nulls for `tokens` and `canary`; `planted` has, in each
/// row of a sequence, the member that was trained on it, and `transcripts` lists of ensembles, each a list of tokens. A
/// table is unpacked into `memory`.
///
/// Arrays are in one file (.npz, or .safetensors, where numbers may be bfloat16), or in a folder as .npy files of these
/// names; a single file (.npy) holds logits. Uncompressed arrays are read position by position and may be larger than
/// memory; compressed arrays are unpacked into `memory`.
///
/// # Errors
/// [`Error::Io`] when a file cannot be read, [`Error::Input`] with array and index for anything else than such arrays
/// that fit together.
pub fn read_tokens(path: impl AsRef<Path>, memory: MemoryBudget) -> Result<TokenRecording> {
    let path = path.as_ref();
    let mut room = Room::new(memory);
    let expected = "next tokens: .npz, .safetensors, .npy, .parquet, or a folder of arrays";
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
            Some("parquet") => table(path, &mut room)?,
            _ => archive(path, &mut room)?,
        },
    };
    found.recording(&mut room)
}

/// The arrays that were found.
struct Found {
    place: PathBuf,
    arrays: Vec<(&'static str, NpyArray)>,
    /// Other names in the file, for messages.
    names: Vec<String>,
    traces: Vec<Trace>,
}

/// All names of arrays.
fn known() -> impl Iterator<Item = &'static str> {
    TokenValues::ALL.into_iter().flat_map(|values| [values.name(), values.spares(), values.public()]).chain([
        TOKENS,
        CANARY,
        PLANTED,
        TRANSCRIPTS,
    ])
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
    // The data are checked against their checksums before they are used.
    let trace = directory.checked()?;
    Ok(Found { place: path.into(), arrays, names, traces: vec![trace] })
}

/// The columns of a table. A member is in every row of its planted sequence, and once in the recording.
fn table(path: &Path, room: &mut Room) -> Result<Found> {
    let reader = open(path)?;
    let logits = |name, lists| Wanted { name, lists, kind: Kind::Floats };
    let models =
        |values: TokenValues| [logits(values.name(), 2), logits(values.spares(), 2), logits(values.public(), 1)];
    let numbers = [(TOKENS, 0), (CANARY, 0), (PLANTED, 0), (TRANSCRIPTS, 2)];
    let numbers = numbers.map(|(name, lists)| Wanted { name, lists, kind: Kind::WholeNumbers });
    let wanted: Vec<Wanted> = TokenValues::ALL.into_iter().flat_map(models).chain(numbers).collect();
    let Columns { mut arrays, names } = read_columns(path, &reader, &wanted, room)?;
    let column = |name| arrays.iter().find(|(own, _)| *own == name).map(|(_, array)| array);
    if let (Some(canary), Some(planted)) = (column(CANARY), column(PLANTED)) {
        let once = once_each(canary, planted, room)?;
        let once = NpyArray::of_bytes(
            path,
            PLANTED,
            "<i8",
            &[once.len()],
            once.iter().flat_map(|one| one.to_le_bytes()).collect(),
        );
        arrays.retain(|(name, _)| *name != PLANTED);
        arrays.push((PLANTED, once));
    }
    Ok(Found { place: path.into(), arrays, names, traces: vec![Trace::open(path, reader, Vec::new())] })
}

/// \[sequence\]: the member that every row of a sequence names.
fn once_each(canary: &NpyArray, planted: &NpyArray, room: &mut Room) -> Result<Vec<i64>> {
    let rows = canary.shape()[0];
    let sequences = indices(canary, rows, rows, "sequence", room)?;
    let members = indices(planted, rows, usize::MAX, "member", room)?;
    let count = sequences.iter().flatten().max().map_or(0, |last| last + 1);
    let mut found: Vec<Option<usize>> = vec![None; count];
    for (row, (sequence, member)) in sequences.iter().zip(&members).enumerate() {
        match (sequence, member) {
            (Some(sequence), Some(member)) if found[*sequence].is_none_or(|known| known == *member) => {
                found[*sequence] = Some(*member);
            }
            (Some(sequence), Some(member)) => {
                let known = found[*sequence].unwrap_or_default();
                let expected = format!("{known}, as in an earlier row of sequence {sequence}");
                return Err(planted.at_index(&[row], format!("`{member}`"), expected).into());
            }
            (Some(sequence), None) => {
                let expected = format!("the member that was trained on sequence {sequence}");
                return Err(planted.at_index(&[row], "null", expected).into());
            }
            (None, _) => (),
        }
    }
    // One that no row has is missed where the recording is put together.
    Ok(found.into_iter().map(|member| member.map_or(0, |member| member as i64)).collect())
}

impl Found {
    fn take(&mut self, name: &str) -> Option<NpyArray> {
        let index = self.arrays.iter().position(|(known, _)| *known == name)?;
        Some(self.arrays.swap_remove(index).1)
    }

    /// The array of other models, in the form of the members; [`SOME`] means any length above 0.
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
        if let Some(array) = TokenValues::ALL.into_iter().find_map(|other| self.take(other.name())) {
            let expected = format!("one form of the members, here the array `{}`", values.name());
            return Err(array.at("the members in a second form", expected).into());
        }
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
            (Some(array), None) => return Err(array.at("no array `planted` with it", "both").into()),
            (None, Some(array)) => return Err(array.at("no array `canary` with it", "both").into()),
        };
        let uses = uses(found, &sequences, &self.place)?;
        let transcripts = self.take(TRANSCRIPTS).map(|array| transcripts(array, positions)).transpose()?;
        let (size, traces) = ([positions, count, tokens], self.traces);
        self.names.retain(|name| known().all(|known| known != name));
        let unused = self.names;
        Ok(TokenRecording { values, members, spares, public, transcripts, uses, planted, size, unused, traces })
    }
}

/// Checks the shape of repeated answers.
fn transcripts(array: NpyArray, positions: usize) -> Result<NpyArray> {
    let shape = array.shape();
    if shape.len() != 3 || shape[0] != positions || shape[1] < 2 {
        let expected = format!(
            "axes (position, ensemble, transcript): {positions} positions, and the whole ensemble with each neighbor"
        );
        return Err(array.at(format!("shape {shape:?}"), expected).into());
    }
    array.check_whole_positions()?;
    Ok(array)
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
