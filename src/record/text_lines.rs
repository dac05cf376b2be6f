//! Sequences of tokens as lines of JSON.

use super::budget::Room;
use super::fault::{fault, hinted, no_utf8, quoted};
use super::json::{Name, parse_line};
use super::lines::next_line;
use super::text_line::{OTHERS, TextLine, Tokens, changed_source};
use super::zlib_size::ZlibSize;
use crate::error::{InputError, Result};
use crate::membership::{Documents, MemoryText, Ragged, TextPart};
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

/// The longest line: a hundred thousand tokens with all that may be recorded of them.
const MAX_LINE_BYTES: usize = 64 << 20;

/// The word for a sequence in a file, for messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    name: &'static str,
    /// The word for something that it has under a name.
    key: &'static str,
    /// The words for something missing.
    absent: &'static str,
    all: &'static str,
}

impl Unit {
    pub(super) const LINE: Self =
        Self { name: "line", key: "key", absent: "no such key", all: "one JSON object for each sequence, a line each" };
    pub(super) const ROW: Self = Self { name: "row", key: "value", absent: "no value", all: "a row for each sequence" };
}

/// What was read so far.
pub(super) struct Gathered<'a> {
    file: &'a Path,
    unit: Unit,
    parts: [Option<Ragged>; TextPart::ALL.len()],
    members: Vec<bool>,
    documents: Option<Vec<String>>,
    /// Which keys the first line has of those of reference models and of sizes.
    sources: [Option<usize>; 2],
    zlib: ZlibSize,
}

/// Sequences of lines.
pub(super) struct Lines {
    pub(super) text: MemoryText,
    /// Whether the sizes of texts were made here, of the texts.
    pub(super) compressed: bool,
    /// Names that are present but not used; for lines, those of the first.
    pub(super) unused: Vec<String>,
}

/// The names that are not used, except `others`.
pub(super) fn unused(names: impl IntoIterator<Item = String>, others: &[&str]) -> Vec<String> {
    let known = |name: &str| TextPart::ALL.iter().any(|part| part.name() == name);
    names
        .into_iter()
        .filter(|name| !known(name) && !OTHERS.contains(&name.as_str()) && !others.contains(&name.as_str()))
        .collect()
}

/// Reads one object a line, blank lines left out.
pub(super) fn read_lines(file: &Path, mut reader: impl BufRead, room: &mut Room) -> Result<Lines> {
    let mut gathered = Gathered::new(file, Unit::LINE);
    let (mut bytes, mut number, mut found) = (Vec::new(), 0, Vec::new());
    let limit = (MAX_LINE_BYTES, "a line of more than 64 MiB", "one sequence a line");
    while next_line(file, &mut reader, &mut bytes, number as u64 + 1, limit)? {
        number += 1;
        let text = std::str::from_utf8(&bytes).map_err(|error| no_utf8(file, number, &bytes, error))?;
        let text = text.trim_start_matches('\u{feff}').trim();
        if !text.is_empty() {
            if gathered.members.is_empty() {
                let keys: BTreeMap<String, IgnoredAny> = parse_line(file, text, number - 1)?;
                found = unused(keys.into_keys(), &[]);
            }
            let line: TextLine = parse_line(file, text, number - 1)?;
            gathered.add(line, number, room)?;
        }
    }
    gathered.finish(found)
}

impl<'a> Gathered<'a> {
    /// Nothing yet, of a file in which a sequence is a `unit`.
    pub(super) fn new(file: &'a Path, unit: Unit) -> Self {
        let (members, parts) = (Vec::new(), [const { None }; TextPart::ALL.len()]);
        Self { file, unit, parts, members, documents: None, sources: [None; 2], zlib: ZlibSize::new() }
    }

    fn at(&self, number: usize, key: &str, found: impl Into<String>, expected: impl Into<String>) -> InputError {
        fault(self.file, format!("{} {number}, {key}", self.unit.name), found, expected)
    }

    /// Adds a sequence, which must have what the first one has.
    pub(super) fn add(&mut self, line: TextLine, number: usize, room: &mut Room) -> Result<()> {
        let tokens = line.log_probabilities.0.len();
        if tokens == 0 {
            return Err(self.at(number, "log_probabilities", "no token", "at least 1").into());
        }
        self.check_sources(number, line.sources())?;
        let reference = match (line.reference_loss, line.reference_log_probabilities) {
            (Some(loss), _) => Some(vec![loss]),
            (None, Some(Tokens(own))) => {
                let key = "reference_log_probabilities";
                self.check(number, (key, TextPart::LogProbabilities), &own, Some(tokens))?;
                Some(vec![-own.iter().sum::<f64>() / tokens as f64])
            }
            (None, None) => None,
        };
        let bytes = match (line.zlib_bytes, line.text) {
            (Some(bytes), _) => Some(bytes),
            (None, Some(text)) => {
                let bytes = self.zlib.of(&text);
                let failed = || self.at(number, "text", "a text that zlib does not compress", "another one");
                Some(bytes.ok_or_else(failed)? as f64)
            }
            (None, None) => None,
        };
        let parts = [
            (TextPart::LogProbabilities, Some(line.log_probabilities.0)),
            (TextPart::Means, line.log_probability_mean),
            (TextPart::Deviations, line.log_probability_deviation),
            (TextPart::Entropies, line.entropy),
            (TextPart::ReferenceLoss, reference),
            (TextPart::ZlibBytes, bytes.map(|bytes| vec![bytes])),
            (TextPart::NeighborLosses, line.neighbor_losses),
            (TextPart::CandidateLosses, line.candidate_losses),
        ];
        for (part, values) in parts {
            self.add_part(number, part, (values, tokens), room)?;
        }
        self.add_document(number, line.document, room)?;
        self.members.push(line.member.0);
        Ok(())
    }

    /// A loss of all tokens and one that a program defines, or sizes by two compressors, are not comparable.
    fn check_sources(&mut self, number: usize, sources: [Option<usize>; 2]) -> Result<()> {
        if self.members.is_empty() {
            self.sources = sources;
        }
        match changed_source(self.sources, sources) {
            None => Ok(()),
            Some((key, true)) => Err(self.changed(number, key, &self.lacked()).into()),
            Some((key, false)) => Err(self.changed(number, key, self.unit.absent).into()),
        }
    }

    fn add_part(
        &mut self,
        number: usize,
        part: TextPart,
        (values, tokens): (Option<Vec<f64>>, usize),
        room: &mut Room,
    ) -> Result<()> {
        let first = self.members.is_empty();
        let rows = &self.parts[part as usize];
        let values = match (values, rows) {
            (Some(values), _) if first => values,
            (Some(values), Some(_)) => values,
            (None, None) => return Ok(()),
            (Some(_), None) => return Err(self.changed(number, part.name(), &self.lacked()).into()),
            (None, Some(_)) => return Err(self.changed(number, part.name(), self.unit.absent).into()),
        };
        let wanted = match part {
            _ if part.is_of_tokens() => Some(tokens),
            // Exposures among more candidates reach further.
            TextPart::CandidateLosses => rows.as_ref().map(|rows| rows.row(0).len()),
            _ => None,
        };
        self.check(number, (part.name(), part), &values, wanted)?;
        // A vector that grows holds up to twice as much as it needs.
        let at =
            |found: String, expected: String| fault(self.file, format!("{} {number}", self.unit.name), found, expected);
        room.take(values.len() as u64, 2 * size_of::<f64>() as u64, at)?;
        self.parts[part as usize].get_or_insert_default().push(values);
        Ok(())
    }

    fn lacked(&self) -> String {
        format!("a {} that the first {} lacks", self.unit.key, self.unit.name)
    }

    fn changed(&self, number: usize, key: &str, found: &str) -> InputError {
        let error = self.at(number, key, found, format!("the same {}s in every {}", self.unit.key, self.unit.name));
        hinted(error, "a score is measured on all sequences or on none")
    }

    fn check(&self, number: usize, (key, part): (&str, TextPart), values: &[f64], wanted: Option<usize>) -> Result<()> {
        if values.is_empty() || wanted.is_some_and(|wanted| values.len() != wanted) {
            let expected = match wanted {
                None => "at least 1".into(),
                Some(wanted) if part.is_of_tokens() => format!("{wanted}, one for each token"),
                Some(wanted) => format!("{wanted}, as in the first {}", self.unit.name),
            };
            return Err(self.at(number, key, format!("length {}", values.len()), expected).into());
        }
        let Some(place) = values.iter().position(|&value| !part.holds(value)) else { return Ok(()) };
        let key = if part.is_one() { key.to_owned() } else { format!("{key}, index [{place}]") };
        let error = self.at(number, &key, format!("`{}`", values[place]), part.expected());
        Err(hinted(error, part.hint()).into())
    }

    fn add_document(&mut self, number: usize, document: Option<Name>, room: &mut Room) -> Result<()> {
        match (document, &mut self.documents) {
            (Some(Name(name)), documents) if self.members.is_empty() || documents.is_some() => {
                let (file, unit) = (self.file, self.unit.name);
                let at = |found: String, expected: String| fault(file, format!("{unit} {number}"), found, expected);
                // The name is kept in a list as well as in a table.
                room.take(1, 2 * name.len() as u64 + 96, at)?;
                documents.get_or_insert_default().push(name);
                Ok(())
            }
            (None, None) => Ok(()),
            (Some(_), _) => Err(self.changed(number, "document", &self.lacked()).into()),
            (None, Some(_)) => Err(self.changed(number, "document", self.unit.absent).into()),
        }
    }

    /// All sequences, if there are some of both kinds.
    pub(super) fn finish(self, unused: Vec<String>) -> Result<Lines> {
        let compressed = self.sources[1] == Some(1);
        Ok(Lines { text: self.text()?, compressed, unused })
    }

    fn text(self) -> Result<MemoryText> {
        let Self { file, parts, members, documents, unit, .. } = self;
        let whole = |found: String, expected: &str| fault(file, "whole file", found, expected);
        if members.is_empty() {
            return Err(whole("no sequence".into(), unit.all).into());
        }
        for (wanted, name) in [(true, "members"), (false, "non-members")] {
            if !members.contains(&wanted) {
                return Err(whole(format!("no {name}"), "sequences of both kinds").into());
            }
        }
        let mut parts = TextPart::ALL.into_iter().zip(parts);
        let own = parts.next().and_then(|(_, rows)| rows).unwrap_or_default();
        let mut text = MemoryText::new(own, members.clone())?;
        for (part, rows) in parts {
            if let Some(rows) = rows {
                text = text.with(part, rows)?;
            }
        }
        let Some(names) = documents else { return Ok(text) };
        let documents = Documents::new(names)?;
        if let Some(sequence) = documents.divided(&members) {
            let name = quoted(documents.name(documents.of(sequence)));
            let error = whole(format!("document {name} with members and non-members"), "documents of one kind each");
            return Err(hinted(error, "the model was trained on all of a document or on nothing of it").into());
        }
        text.in_documents(documents)
    }
}

#[cfg(test)]
mod tests {
    use super::super::budget::MemoryBudget;
    use super::*;
    use crate::membership::TextSequences;

    fn read(text: &str) -> Result<MemoryText> {
        let mut room = Room::new(MemoryBudget::of_bytes(1 << 20));
        read_lines(Path::new("t.jsonl"), text.as_bytes(), &mut room).map(|lines| lines.text)
    }

    #[test]
    fn lines_become_sequences() {
        let text = read(concat!(
            "\u{feff}{\"log_probabilities\": [-1, -0.5], \"member\": 1, \"document\": \"a\", \"text\": \"\", ",
            "\"entropy\": [0, 1.5], \"reference_log_probabilities\": [-2, -3], \"id\": 7}\n\n",
            "{\"log_probabilities\": [-2], \"member\": false, \"document\": 3, \"text\": \"\", ",
            "\"entropy\": [2], \"reference_log_probabilities\": [-1.25]}",
        ));
        let text = text.unwrap();
        let values = |part| text.read(part, 0..2).unwrap().values().to_vec();
        assert_eq!(values(TextPart::LogProbabilities), [-1.0, -0.5, -2.0]);
        assert_eq!(values(TextPart::Means), [0.0, -1.5, -2.0]);
        assert_eq!((values(TextPart::ReferenceLoss), values(TextPart::ZlibBytes)), (vec![2.5, 1.25], vec![8.0, 8.0]));
        assert_eq!((text.members(), text.documents().map(|all| all.name(1))), (&[true, false][..], Some("3")));
    }

    #[test]
    fn every_fault_has_its_line() {
        let first = "{\"log_probabilities\": [-1, -2], \"member\": true}\n";
        let found = |second: &str| match read(&format!("{first}{second}")) {
            Ok(_) => panic!("{second} was read"),
            Err(error) => error.to_string(),
        };
        insta::assert_snapshot!(
            [
                found(""),
                found("{}"),
                found("[1]"),
                found("{\"log_probabilities\": [-1, NaN], \"member\": 0}"),
                found("{\"log_probabilities\": [-1, 0.5], \"member\": 0}"),
                found("{\"log_probabilities\": [], \"member\": 0}"),
                found("{\"log_probabilities\": [-1], \"member\": 2}"),
                found("{\"log_probabilities\": [-1], \"member\": 0, \"entropy\": [1]}"),
                found("{\"log_probabilities\": [-1], \"member\": 0, \"document\": 1}"),
                found("{\"log_probabilities\": [-1, 1e999], \"member\": 0}"),
                found(&format!("{{\"log_probabilities\": [{}-1], \"member\": 0}}", "-1,".repeat(100_000))),
                read("").unwrap_err().to_string(),
                read("\n{\"log_probabilities\": [-1, -2], \"entropy\": [1], \"member\": 0}").unwrap_err().to_string(),
                read("{\"log_probabilities\": [-1], \"document\": 4, \"member\": 0}\n{\"log_probabilities\": [-1], \"document\": 4, \"member\": 1}").unwrap_err().to_string(),
                read("{\"log_probabilities\": [-1], \"candidate_losses\": [1, 2], \"member\": 0}\n{\"log_probabilities\": [-1], \"candidate_losses\": [1], \"member\": 1}").unwrap_err().to_string(),
            ]
            .join("\n"),
            @r#"
            t.jsonl: whole file: found no non-members, expected sequences of both kinds
            t.jsonl: line 2, character 2: found an object without it, expected the field `log_probabilities`
            t.jsonl: line 2, character 2: found integer `1`, expected a list of numbers, `token_logprobs` or each `logprob` of what serving APIs return
            t.jsonl: line 2, character 28: found `NaN], "member": 0}`, expected JSON (expected value)
            t.jsonl: line 2, log_probabilities, index [1]: found `0.5`, expected a log-probability, from -1e30 to 0; hint: record natural logarithms of probabilities, not losses; leave a first token out that has none
            t.jsonl: line 2, log_probabilities: found no token, expected at least 1
            t.jsonl: line 2, character 39: found integer `2`, expected true or false
            t.jsonl: line 2, entropy: found a key that the first line lacks, expected the same keys in every line; hint: a score is measured on all sequences or on none
            t.jsonl: line 2, document: found a key that the first line lacks, expected the same keys in every line; hint: a score is measured on all sequences or on none
            t.jsonl: line 2, character 32: found `9], "member": 0}`, expected JSON (number out of range)
            t.jsonl: line 2: found data that take 1.5 MiB of memory, expected at most 1.0 MiB; hint: split the recording, or allow more (`max-memory`) where the machine has it
            t.jsonl: whole file: found no sequence, expected one JSON object for each sequence, a line each
            t.jsonl: line 2, entropy: found length 1, expected 2, one for each token
            t.jsonl: whole file: found document `4` with members and non-members, expected documents of one kind each; hint: the model was trained on all of a document or on nothing of it
            t.jsonl: line 2, candidate_losses: found length 1, expected 2, as in the first line
            "#
        );
    }
}
