//! Scores of canaries: one CSV, or one numpy array for each side.

use super::array_file::ArrayFile;
use super::budget::{MemoryBudget, Room};
use super::canary_plan::CanaryPlan;
use super::fault::{fault, hinted, quoted, shortened, unreadable};
use super::input_file::{Digested, InputFile, hexadecimal, open};
use super::lines::{Header, Lines};
use super::npy_header::{HeaderProblem, NpyHeader};
use super::text::{Text, sniff};
use crate::audit::CanaryScores;
use crate::error::{InputError, Result};
use ndarray::Array1;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

/// Bytes decoded in one piece.
const PIECE: usize = 64 << 10;

const SCORE: &str = "a number or inf";

/// Reads scores of canaries, high scores meaning members: the arrays `scores` \[score\] and `member` \[score\] of a
/// recording if the name ends in `.npz`, otherwise a CSV file with the columns `score` and `member` (1 or true for a
/// canary that was trained on, 0 or false otherwise). The scores may take `memory`.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read, [`Error::Input`](crate::Error::Input) with line and
/// column, or array and index, for anything but such scores of canaries of both kinds.
pub fn read_scores(path: impl AsRef<Path>, memory: MemoryBudget) -> Result<(CanaryScores, InputFile)> {
    let path = path.as_ref();
    if ends_in(path, "npz") {
        let mut arrays = ArrayFile::open(path)?.within(memory);
        let scores = scores_of_recording(&mut arrays)?;
        return Ok((scores, arrays.input().clone()));
    }
    let mut source = Digested::new(open(path)?);
    let Text::Csv(mut reader) = sniff(path, &mut source, "scores of canaries")? else {
        let error = fault(path, "whole file", "JSON", "scores of canaries as CSV");
        return Err(hinted(error, "write a table with the columns score,member").into());
    };
    let scores = scores_from_csv(path, &mut reader, &mut Room::new(memory))?;
    drop(reader);
    Ok((scores, source.finish_unchanged(path)?))
}

/// Whether a file is of a kind, by its name.
fn ends_in(path: &Path, kind: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(kind))
}

/// The scores that trainings recorded.
fn scores_of_recording(arrays: &mut ArrayFile) -> Result<CanaryScores> {
    let scores: Array1<f64> = arrays.numbers("scores")?;
    let members: Array1<bool> = arrays.array("member")?;
    if members.len() != scores.len() {
        let expected = format!("{}, one for each score", scores.len());
        return Err(arrays.at("member", format!("length {}", members.len()), expected).into());
    }
    arrays.check_each("scores", &scores, f64::is_nan, SCORE)?;
    let mut sides = [Vec::new(), Vec::new()];
    for (&score, &member) in scores.iter().zip(&members) {
        sides[usize::from(!member)].push(score);
    }
    for (side, name) in sides.iter().zip(["members", "non-members"]) {
        if side.is_empty() {
            return Err(arrays.at("member", format!("no {name}"), "canaries of both kinds").into());
        }
    }
    let [members, others] = sides;
    CanaryScores::new(members, others)
}

fn scores_from_csv(file: &Path, reader: impl BufRead, room: &mut Room) -> Result<CanaryScores> {
    let mut lines = Lines::new(file, reader);
    let header: Header<'_> = lines.header("the columns `score` and `member`")?;
    let columns = [Some(header.require("score")?), Some(header.require("member")?)];
    let mut sides = [Vec::new(), Vec::new()];
    lines.each_row(&header, columns, |line, [score, member]| {
        let value = line.read("score", &score, SCORE, number)?;
        let side = match member.trim() {
            "1" | "true" | "True" => 0,
            "0" | "false" | "False" => 1,
            other => return Err(line.at("member").fault(quoted(other), "1 or true, 0 or false").into()),
        };
        room.push(&mut sides[side], value, |found, expected| fault(file, "whole file", found, expected))
    })?;
    for (side, name) in sides.iter().zip(["members (member = 1)", "non-members (member = 0)"]) {
        if side.is_empty() {
            return Err(fault(file, "whole file", format!("no {name}"), "canaries of both kinds").into());
        }
    }
    let [members, others] = sides;
    CanaryScores::new(members, others)
}

/// A score; for anything else no hint is known.
fn number(text: &str) -> std::result::Result<f64, Option<&'static str>> {
    text.trim().parse().ok().filter(|score: &f64| !score.is_nan()).ok_or(None)
}

/// Reads scores of members and of non-members from one numpy array (.npy) each, of dtype `f32` or `f64` and one axis.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when a file cannot be read, [`Error::Input`](crate::Error::Input) for anything but
/// such an array, with the index of a score that is NaN.
pub fn read_score_arrays(
    members: impl AsRef<Path>,
    others: impl AsRef<Path>,
    memory: MemoryBudget,
) -> Result<(CanaryScores, [InputFile; 2])> {
    let mut room = Room::new(memory);
    let (first, first_input) = array(members.as_ref(), &mut room)?;
    let (second, second_input) = array(others.as_ref(), &mut room)?;
    Ok((CanaryScores::new(first, second)?, [first_input, second_input]))
}

/// Reads one score for each canary of a plan, in the order of its coins: a numpy array of one axis if the name ends in
/// `.npy`, the recording of a training for a plan (the arrays `scores` \[canary\] and `plan_sha256` \[32\]) if it ends
/// in `.npz`, otherwise CSV with the columns `canary` (counted from 0) and `score`, in any order of rows.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read, [`Error::Input`](crate::Error::Input) for anything but
/// such a file, for an unknown canary, for one that has no score or two, and for the recording of another plan.
pub fn read_planned_scores(
    path: impl AsRef<Path>,
    plan: &CanaryPlan,
    memory: MemoryBudget,
) -> Result<(Vec<f64>, InputFile)> {
    let path = path.as_ref();
    let canaries = plan.audit.canaries();
    let mut room = Room::new(memory);
    if ends_in(path, "npz") {
        let mut arrays = ArrayFile::open(path)?.within(memory);
        let scores = recorded(&mut arrays, plan)?;
        return Ok((scores, arrays.input().clone()));
    }
    if ends_in(path, "npy") {
        let (scores, input) = array(path, &mut room)?;
        if scores.len() as u64 != canaries {
            let found = format!("shape [{}]", scores.len());
            let error = fault(path, "array", found, format!("{canaries} scores, one for each canary of the plan"));
            return Err(hinted(error, "also for canaries that were left out, in the order of the coins").into());
        }
        return Ok((scores, input));
    }
    let mut source = Digested::new(open(path)?);
    let Text::Csv(mut reader) = sniff(path, &mut source, "scores of planned canaries")? else {
        let error = fault(path, "whole file", "JSON", "scores of planned canaries as CSV or .npy");
        return Err(hinted(error, "write a table with the columns canary,score").into());
    };
    let scores = planned_from_csv(path, &mut reader, canaries, &mut room)?;
    drop(reader);
    Ok((scores, source.finish_unchanged(path)?))
}

/// The scores that a training for this plan recorded.
fn recorded(arrays: &mut ArrayFile, plan: &CanaryPlan) -> Result<Vec<f64>> {
    let canaries = plan.audit.canaries();
    let digest: Array1<u8> = arrays.array("plan_sha256")?;
    let (found, expected) = (hexadecimal(digest.as_slice().unwrap_or_default()), plan.recorded().sha256);
    if found != expected {
        let error = arrays.at("plan_sha256", quoted(&found), format!("{}, the plan's", quoted(&expected)));
        return Err(hinted(error, "a plan is for one run: name the plan that the run was trained for").into());
    }
    let scores: Array1<f64> = arrays.numbers("scores")?;
    if scores.len() as u64 != canaries {
        let expected = format!("{canaries} scores, one for each canary of the plan");
        return Err(arrays.at("scores", format!("{} scores", scores.len()), expected).into());
    }
    arrays.check_each("scores", &scores, f64::is_nan, SCORE)?;
    Ok(scores.to_vec())
}

fn planned_from_csv(file: &Path, reader: impl BufRead, canaries: u64, room: &mut Room) -> Result<Vec<f64>> {
    let mut lines = Lines::new(file, reader);
    let header: Header<'_> = lines.header("the columns `canary` and `score`")?;
    let columns = [Some(header.require("canary")?), Some(header.require("score")?)];
    let at = |found: String, expected: String| fault(file, "whole file", found, expected);
    let mut scores: Vec<f64> = room.vector(canaries, at)?;
    // A score that is NaN is rejected: the mark of a canary without one.
    scores.resize(canaries as usize, f64::NAN);
    let mut rows = 0u64;
    lines.each_row(&header, columns, |line, [canary, score]| {
        let index = canary.trim().parse().ok().filter(|&index: &u64| index < canaries);
        let Some(index) = index else {
            let expected = format!("a canary of the plan, from 0 to {}", canaries - 1);
            return Err(line.at("canary").fault(quoted(&canary), expected).into());
        };
        let value = line.read("score", &score, SCORE, number)?;
        let place = &mut scores[index as usize];
        if !place.is_nan() {
            return Err(line.at("canary").fault(format!("canary {index} again"), "each canary once").into());
        }
        *place = value;
        rows += 1;
        Ok(())
    })?;
    if let Some(missing) = scores.iter().position(|score| score.is_nan()) {
        let others = match canaries - rows {
            1 => String::new(),
            missing => format!(" and of {} more", missing - 1),
        };
        let error = at(format!("no score of canary {missing}{others}"), format!("scores of all {canaries} canaries"));
        return Err(hinted(error, "also of canaries that were left out").into());
    }
    Ok(scores)
}

fn array(path: &Path, room: &mut Room) -> Result<(Vec<f64>, InputFile)> {
    let whole = |found: &str| fault(path, "whole file", found, "a numpy array (.npy) of scores");
    let mut source = Digested::new(open(path)?);
    let mut bytes = Vec::new();
    // A header is shorter than this; the data are read once their type is known.
    (&mut source).take(1 << 16).read_to_end(&mut bytes).map_err(|source| unreadable(path, source))?;
    if bytes.is_empty() {
        return Err(whole("an empty file").into());
    }
    if bytes.starts_with(b"PK\x03\x04") {
        let error = whole("a zip archive");
        return Err(hinted(error, "save each side with numpy.save, not numpy.savez").into());
    }
    let header = match NpyHeader::read(&bytes[..]) {
        Ok(header) => header,
        Err(HeaderProblem::Malformed(found)) => {
            let error = whole(&shortened(&found, 100));
            return Err(hinted(error, "write it with numpy.save").into());
        }
        Err(HeaderProblem::Io(error)) => return Err(unreadable(path, error)),
    };
    let at = |found: String, expected: String| -> InputError { fault(path, "array", found, expected) };
    if header.shape.len() != 1 {
        let error = at(format!("shape {:?}", header.shape), "1 axis".into());
        return Err(hinted(error, "one score for each canary: .ravel() in numpy").into());
    }
    let scores = header.shape[0];
    if scores == 0 {
        return Err(at(format!("shape {:?}", header.shape), "at least 1 score".into()).into());
    }
    let dtype = header.dtype().to_owned();
    if !matches!(&*dtype, "f32" | "f64") {
        let error = at(format!("dtype {}", quoted(&dtype)), "dtype `f32` or `f64`".into());
        return Err(hinted(error, "numpy converts with .astype(numpy.float64)").into());
    }
    let width = header.element_bytes().unwrap_or(8);
    let expected = format!("{} bytes of data for shape {:?}", scores.saturating_mul(width), header.shape);
    let less = || hinted(at("less data".into(), expected.clone()), "the file may be cut off");
    // A file has a known length; for a pipe, memory is taken as the scores come.
    let length = source.get_ref().length();
    if !source.get_ref().is_pipe() && length < header.bytes.saturating_add(scores.saturating_mul(width)) {
        return Err(less().into());
    }
    let mut values = room.vector(if length > 0 { scores } else { 0 }, at)?;
    let little = !header.descriptor.starts_with('>');
    let data = bytes.get(header.bytes as usize..).unwrap_or_default();
    let mut data = BufReader::with_capacity(PIECE, data.chain(&mut source));
    while (values.len() as u64) < scores {
        let mut element = [0; 8];
        let element = &mut element[..width as usize];
        match data.read_exact(element) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err(less().into()),
            Err(error) => return Err(unreadable(path, error)),
        }
        let score = match (&*element, little) {
            (&[a, b, c, d], true) => f64::from(f32::from_le_bytes([a, b, c, d])),
            (&[a, b, c, d], false) => f64::from(f32::from_be_bytes([a, b, c, d])),
            (&[a, b, c, d, e, f, g, h], true) => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
            (&[a, b, c, d, e, f, g, h], false) => f64::from_be_bytes([a, b, c, d, e, f, g, h]),
            _ => f64::NAN,
        };
        room.push(&mut values, score, at)?;
    }
    if !data.fill_buf().map_err(|source| unreadable(path, source))?.is_empty() {
        return Err(at("more data".into(), expected).into());
    }
    drop(data);
    if let Some(index) = values.iter().position(|score| score.is_nan()) {
        return Err(fault(path, format!("array, index [{index}]"), "`NaN`", SCORE).into());
    }
    Ok((values, source.finish_unchanged(path)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array1;
    use ndarray_npy::WriteNpyExt;

    fn csv(text: &str) -> String {
        let read = scores_from_csv(Path::new("s.csv"), text.as_bytes(), &mut Room::new(MemoryBudget::of_machine()));
        read.map_or_else(|error| error.to_string(), |scores| format!("{:?} {:?}", scores.members(), scores.others()))
    }

    #[test]
    fn tables_of_scores() {
        insta::assert_snapshot!(
            [
                csv("score,member\n1,1\n-inf,0\n2.5,true\n"),
                csv("member,score,extra\nFalse,1e3,x\nTrue,-0,y\n"),
                csv("score,member\n"),
                csv("score,member\n1,1\n"),
                csv("score,member\nnan,1\n"),
                csv("score,member\n1,yes\n"),
                csv("score;member\n1;1\n"),
                csv("score,in\n1,1\n"),
                csv("score,member\n1\n"),
            ]
            .join("\n"),
            @r"
            [2.5, 1.0] [-inf]
            [0.0] [1000.0]
            s.csv: line 1: found a header without rows, expected at least 1 row
            s.csv: whole file: found no non-members (member = 0), expected canaries of both kinds
            s.csv: line 2, column score: found `nan`, expected a number or inf
            s.csv: line 2, column member: found `yes`, expected 1 or true, 0 or false
            s.csv: line 1: found columns `score;member`, expected the column `score`; hint: separate the columns by commas
            s.csv: line 1: found columns `score`, `in`, expected the column `member`
            s.csv: line 2: found 1 field, expected 2 as in the header
            "
        );
    }

    #[test]
    fn tables_of_planned_scores() {
        let read = |text: &str| {
            let room = &mut Room::new(MemoryBudget::of_machine());
            let read = planned_from_csv(Path::new("s.csv"), text.as_bytes(), 3, room);
            read.map_or_else(|error| error.to_string(), |scores| format!("{scores:?}"))
        };
        insta::assert_snapshot!(
            [
                read("score,canary\n1,2\n-inf,0\n2.5,1\n"),
                read("canary,score\n0,1\n3,1\n"),
                read("canary,score\n0,1\n-1,1\n"),
                read("canary,score\n0,1\n0,2\n"),
                read("canary,score\n0,nan\n"),
                read("canary,score\n1,1\n"),
                read("canary,score\n1,1\n0,1\n"),
                read("canary,score\n"),
                read("canary,member\n1,1\n"),
            ]
            .join("\n"),
            @r"
            [-inf, 2.5, 1.0]
            s.csv: line 3, column canary: found `3`, expected a canary of the plan, from 0 to 2
            s.csv: line 3, column canary: found `-1`, expected a canary of the plan, from 0 to 2
            s.csv: line 3, column canary: found canary 0 again, expected each canary once
            s.csv: line 2, column score: found `nan`, expected a number or inf
            s.csv: whole file: found no score of canary 0 and of 1 more, expected scores of all 3 canaries; hint: also of canaries that were left out
            s.csv: whole file: found no score of canary 2, expected scores of all 3 canaries; hint: also of canaries that were left out
            s.csv: line 1: found a header without rows, expected at least 1 row
            s.csv: line 1: found columns `canary`, `member`, expected the column `score`
            "
        );
    }

    #[test]
    fn arrays_of_scores() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let write = |name: &str, bytes: &[u8]| std::fs::write(place(name), bytes).unwrap();
        let mut bytes = Vec::new();
        Array1::from(vec![1.0f32, -2.0]).write_npy(&mut bytes).unwrap();
        write("f32", &bytes);
        write("cut", &bytes[..bytes.len() - 1]);
        write("more", &[&bytes[..], b"x"].concat());
        write("empty", b"");
        write("zip", b"PK\x03\x04");
        write("text", b"score,member\n");
        let mut bytes = Vec::new();
        Array1::from(vec![1.0f64, f64::NAN]).write_npy(&mut bytes).unwrap();
        write("nan", &bytes);
        // The same numbers with the other byte order.
        let mut big = Vec::new();
        Array1::from(vec![3.0f64]).write_npy(&mut big).unwrap();
        let at = big.windows(3).position(|window| window == b"<f8").unwrap();
        big[at] = b'>';
        let start = big.len() - 8;
        big[start..].reverse();
        write("big", &big);
        let mut bytes = Vec::new();
        Array1::from(vec![1i64]).write_npy(&mut bytes).unwrap();
        write("whole", &bytes);
        let mut bytes = Vec::new();
        ndarray::Array2::<f64>::zeros((1, 2)).write_npy(&mut bytes).unwrap();
        write("two", &bytes);
        let (scores, inputs) = read_score_arrays(place("f32"), place("big"), MemoryBudget::of_machine()).unwrap();
        assert_eq!((scores.members(), scores.others()), (&[1.0, -2.0][..], &[3.0][..]));
        assert_eq!(inputs[0], InputFile::of_file(place("f32")).unwrap());
        let message = |name: &str| {
            let error =
                read_score_arrays(place("f32"), place(name), MemoryBudget::of_machine()).unwrap_err().to_string();
            error.replace(&folder.path().display().to_string(), "")
        };
        let names = ["cut", "more", "empty", "zip", "text", "nan", "whole", "two", "absent"];
        insta::assert_snapshot!(names.map(message).join("\n"), @r"
        /cut: array: found less data, expected 8 bytes of data for shape [2]; hint: the file may be cut off
        /more: array: found more data, expected 8 bytes of data for shape [2]
        /empty: whole file: found an empty file, expected a numpy array (.npy) of scores
        /zip: whole file: found a zip archive, expected a numpy array (.npy) of scores; hint: save each side with numpy.save, not numpy.savez
        /text: whole file: found data without the mark of a numpy array, expected a numpy array (.npy) of scores; hint: write it with numpy.save
        /nan: array, index [1]: found `NaN`, expected a number or inf
        /whole: array: found dtype `i64`, expected dtype `f32` or `f64`; hint: numpy converts with .astype(numpy.float64)
        /two: array: found shape [1, 2], expected 1 axis; hint: one score for each canary: .ravel() in numpy
        /absent: cannot read: No such file or directory (os error 2)
        ");
    }
}
