//! Distinguishes CSV, JSON and anything else by the first bytes and the file's extension.

use super::fault::{fault, hinted, line_of, no_utf8, unreadable};
use crate::error::Result;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

/// The largest JSON text read: it is held in memory whole. CSV has no such limit.
pub(super) const MAX_JSON_BYTES: u64 = 256 << 20;

const BUFFER: usize = 64 << 10;
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// The starts of files that people provide by mistake, and what to do with each.
const FOREIGN: [(&[u8], &str, &str); 7] = [
    (b"PK\x03\x04", "a zip archive", "recorded votes (.npz) are read by the commands that take votes"),
    (b"\x93NUMPY", "a numpy array", "save the votes with numpy.savez, or the counts as CSV"),
    (b"PAR1", "a Parquet file", "export the columns as CSV"),
    (b"\x1f\x8b", "gzip-compressed data", "decompress the file first"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed data", "decompress the file first"),
    (b"\xff\xfe", "UTF-16 text", "save the file as UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "save the file as UTF-8"),
];

/// A text ready to be read, its byte-order mark removed.
pub(super) enum Text<R> {
    Csv(BufReader<R>),
    Json(String),
}

/// Looks at the start of `reader`. `expected` names the content in messages, such as `recorded counts`.
pub(super) fn sniff<R: Read>(file: &Path, reader: R, expected: &str) -> Result<Text<R>> {
    begin(file, reader, &format!("{expected} as CSV or JSON"))
}

/// A text that must be JSON. `expected` names the content in messages, `hint` states where it comes from.
pub(super) fn read_whole_json<R: Read>(file: &Path, reader: R, expected: &str, hint: &str) -> Result<String> {
    match begin(file, reader, expected)? {
        Text::Json(text) => Ok(text),
        Text::Csv(_) => Err(hinted(fault(file, "whole file", "text that is not JSON", expected), hint).into()),
    }
}

fn begin<R: Read>(file: &Path, reader: R, wanted: &str) -> Result<Text<R>> {
    let mut reader = BufReader::with_capacity(BUFFER, reader);
    let start = loop {
        match reader.fill_buf() {
            Ok(start) => break start,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(source) => return Err(unreadable(file, source)),
        }
    };
    if start.is_empty() {
        return Err(fault(file, "whole file", "an empty file", wanted).into());
    }
    for (magic, found, hint) in FOREIGN {
        if start.starts_with(magic) {
            return Err(hinted(fault(file, "whole file", found, wanted), hint).into());
        }
    }
    if let Some(position) = start.iter().position(|&byte| byte == 0) {
        let error = fault(file, format!("byte {position}"), "a zero byte", wanted);
        return Err(hinted(error, "this is binary data, not text").into());
    }
    let mark = if start.starts_with(UTF8_MARK) { UTF8_MARK.len() } else { 0 };
    let first = start[mark..].iter().find(|byte| !byte.is_ascii_whitespace());
    let json = matches!(first, Some(b'{' | b'[')) || file.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    reader.consume(mark);
    if json { read_json(file, reader).map(Text::Json) } else { Ok(Text::Csv(reader)) }
}

fn read_json<R: Read>(file: &Path, reader: R) -> Result<String> {
    let mut bytes = Vec::new();
    reader.take(MAX_JSON_BYTES + 1).read_to_end(&mut bytes).map_err(|source| unreadable(file, source))?;
    if bytes.len() as u64 > MAX_JSON_BYTES {
        let error =
            fault(file, "whole file", "more than 256 MiB of JSON", format!("at most {} MiB", MAX_JSON_BYTES >> 20));
        return Err(hinted(error, "write large recordings as CSV, which is read line by line").into());
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = line_of(error.as_bytes(), error.utf8_error().valid_up_to());
        no_utf8(file, line, error.as_bytes(), error.utf8_error()).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str, bytes: &[u8]) -> String {
        match sniff(Path::new(name), bytes, "counts") {
            Ok(Text::Csv(mut rest)) => {
                let mut text = String::new();
                rest.read_to_string(&mut text).unwrap();
                format!("csv {text}")
            }
            Ok(Text::Json(text)) => format!("json {text}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn content_decides_then_the_extension() {
        assert_eq!(kind("a.csv", b"\xef\xbb\xbfa,b"), "csv a,b");
        assert_eq!(kind("a.csv", b"\xef\xbb\xbf\n [1]"), "json \n [1]");
        assert_eq!(kind("a.JSON", b"nonsense"), "json nonsense");
        assert_eq!(
            kind("a.csv", b"PAR1...."),
            "a.csv: whole file: found a Parquet file, expected counts as CSV or JSON; hint: export the columns as CSV"
        );
        assert_eq!(
            kind("a.csv", b"ab\0"),
            "a.csv: byte 2: found a zero byte, expected counts as CSV or JSON; hint: this is binary data, not text"
        );
    }

    #[test]
    fn json_beyond_the_limit_is_rejected_without_reading_it_all() {
        let endless = b"[".chain(std::io::repeat(b' '));
        let Err(error) = sniff(Path::new("a.json"), endless, "counts") else { panic!("accepted") };
        assert_eq!(
            error.to_string(),
            "a.json: whole file: found more than 256 MiB of JSON, expected at most 256 MiB; \
             hint: write large recordings as CSV, which is read line by line"
        );
    }
}
