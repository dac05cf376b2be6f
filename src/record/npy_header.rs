//! The header of a numpy array, read before anything is allocated for its data.
//!
//! A header that passes has one flat dictionary, a plain dtype and a bounded size.

use std::io::{self, Read};

/// Numpy itself rejects headers longer than this (`max_header_size`).
const MAX_HEADER_BYTES: usize = 10_000;

/// What is expected of data that can be unpacked.
pub(super) const AS_WRITTEN: &str = "an array as numpy.savez or savez_compressed writes it";

const MAGIC: &[u8] = b"\x93NUMPY";

/// Types in the words of Rust and in numpy's notation, with the bytes of an element; `bf2` is ours.
pub(super) const DTYPES: [(&str, &str, u64); 13] = [
    ("f16", "f2", 2),
    ("bf16", "bf2", 2),
    ("f32", "f4", 4),
    ("f64", "f8", 8),
    ("bool", "b1", 1),
    ("u8", "u1", 1),
    ("u16", "u2", 2),
    ("u32", "u4", 4),
    ("u64", "u8", 8),
    ("i8", "i1", 1),
    ("i16", "i2", 2),
    ("i32", "i4", 4),
    ("i64", "i8", 8),
];

/// What an array declares about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NpyHeader {
    /// The dtype in numpy's notation, such as `|u1` or `<i8`.
    pub(super) descriptor: String,
    /// Lengths of the axes; none for a scalar.
    pub(super) shape: Vec<u64>,
    /// Whether the first axis runs fastest in the data, not the last.
    pub(super) fortran: bool,
    /// Length of the header in the file; the data follow.
    pub(super) bytes: u64,
}

/// Why a header is rejected.
#[derive(Debug)]
pub(super) enum HeaderProblem {
    /// The archive or the system failed underneath.
    Io(io::Error),
    /// What was found instead of the header of an array.
    Malformed(String),
}

impl From<io::Error> for HeaderProblem {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Malformed("the end of the data".into()),
            _ => Self::Io(error),
        }
    }
}

impl NpyHeader {
    /// Reads a header and leaves `reader` at the first byte of the data.
    pub(super) fn read(mut reader: impl Read) -> Result<Self, HeaderProblem> {
        let mut bytes = vec![0; MAGIC.len() + 2];
        reader.read_exact(&mut bytes)?;
        if !bytes.starts_with(MAGIC) {
            return Err(HeaderProblem::Malformed("data without the mark of a numpy array".into()));
        }
        let width = match bytes[MAGIC.len()] {
            1 => 2,
            2 | 3 => 4,
            other => return Err(HeaderProblem::Malformed(format!("version {other} of the numpy format"))),
        };
        let mut length = [0; 4];
        reader.read_exact(&mut length[..width])?;
        bytes.extend_from_slice(&length[..width]);
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_HEADER_BYTES {
            return Err(HeaderProblem::Malformed(format!("a header of {length} bytes")));
        }
        let start = bytes.len();
        bytes.resize(start + length, 0);
        reader.read_exact(&mut bytes[start..])?;
        let text = std::str::from_utf8(&bytes[start..])
            .map_err(|_| HeaderProblem::Malformed("a header that is not text".into()))?;
        let (descriptor, fortran, shape) = dictionary(text).map_err(HeaderProblem::Malformed)?;
        Ok(Self { descriptor, shape, fortran, bytes: bytes.len() as u64 })
    }

    /// The dtype by its name in Rust; if it has none, in numpy's notation.
    pub(super) fn dtype(&self) -> &str {
        dtype(&self.descriptor).map_or(&self.descriptor, |(name, _)| name)
    }

    /// Bytes of one element of a known dtype.
    pub(super) fn element_bytes(&self) -> Option<u64> {
        dtype(&self.descriptor).map(|(_, bytes)| bytes)
    }

    /// Bytes of one element of an integer dtype.
    pub(super) fn integer_bytes(&self) -> Option<usize> {
        let (name, bytes) = dtype(&self.descriptor)?;
        (name.starts_with(['u', 'i'])).then_some(bytes as usize)
    }

    /// The whole number in the bytes of an element of an integer dtype; for `bool` 0 or 1.
    pub(super) fn integers(&self) -> impl Fn(&[u8]) -> i128 + use<> {
        let (signed, little) = (self.dtype().starts_with('i'), !self.descriptor.starts_with('>'));
        move |bytes| {
            let shift = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
            let value = if little { bytes.iter().rev().fold(0, shift) } else { bytes.iter().fold(0, shift) };
            let unused = 64 - 8 * bytes.len() as u32;
            if signed { i128::from(((value << unused) as i64) >> unused) } else { i128::from(value) }
        }
    }

    /// The index of the element at a position of the data.
    pub(super) fn index(&self, mut position: u64) -> Vec<u64> {
        let mut next = |&length: &u64| {
            let index = position % length;
            position /= length;
            index
        };
        if self.fortran {
            return self.shape.iter().map(next).collect();
        }
        let mut index: Vec<u64> = self.shape.iter().rev().map(&mut next).collect();
        index.reverse();
        index
    }

    /// The data that it declares, of elements with this many bytes, in words.
    pub(super) fn data(&self, width: u64) -> String {
        let bytes = self.elements().unwrap_or(u64::MAX).saturating_mul(width);
        format!("{bytes} bytes of data for shape {:?}", self.shape)
    }

    /// Number of elements, `None` if it does not fit into 64 bits.
    pub(super) fn elements(&self) -> Option<u64> {
        self.shape.iter().try_fold(1u64, |product, &length| product.checked_mul(length))
    }
}

/// A header as numpy writes it: there is room for the length to grow, and the data start at a multiple of 64 bytes.
pub(super) fn written(descriptor: &str, fortran: bool, shape: &[usize]) -> Vec<u8> {
    const ALIGNMENT: usize = 64;
    const LONGEST_LENGTH: usize = 21;
    let lengths: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let tuple = match &lengths[..] {
        [one] => format!("({one},)"),
        several => format!("({})", several.join(", ")),
    };
    let order = if fortran { "True" } else { "False" };
    let mut text = format!("{{'descr': '{descriptor}', 'fortran_order': {order}, 'shape': {tuple}, }}");
    let grows = if fortran { lengths.last() } else { lengths.first() };
    let spare = grows.map_or(0, |length| LONGEST_LENGTH.saturating_sub(length.len()));
    text.extend(std::iter::repeat_n(' ', spare));
    let before = MAGIC.len() + 4 + text.len() + 1;
    text.extend(std::iter::repeat_n(' ', ALIGNMENT - before % ALIGNMENT));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    // Axes are few: the text is shorter than a header of version 1 may be.
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.into_bytes());
    bytes
}

/// The descriptor of a dtype whose elements have their least significant byte first, and the bytes of an element.
///
/// # Panics
/// For a dtype that is not one of [`DTYPES`].
pub(super) fn little_endian(dtype: &str) -> (String, u64) {
    let &(_, kind, bytes) = DTYPES.iter().find(|(name, ..)| *name == dtype).expect("a known dtype");
    (format!("{}{kind}", if bytes == 1 { '|' } else { '<' }), bytes)
}

fn dtype(descriptor: &str) -> Option<(&'static str, u64)> {
    let (order, kind) = descriptor.split_at_checked(1)?;
    let &(name, _, bytes) = DTYPES.iter().find(|(_, known, _)| *known == kind)?;
    let orders: &[&str] = if bytes == 1 { &["|"] } else { &["<", ">"] };
    orders.contains(&order).then_some((name, bytes))
}

/// Parses `{'descr': '|u1', 'fortran_order': False, 'shape': (12, 1000, 250), }` with its keys in any order.
fn dictionary(text: &str) -> Result<(String, bool, Vec<u64>), String> {
    let mut rest = text;
    take(&mut rest, "{")?;
    let (mut descriptor, mut order, mut shape) = (None, None, None);
    while !rest.trim_start().starts_with('}') {
        let key = literal(&mut rest)?;
        take(&mut rest, ":")?;
        let known = match key {
            "descr" if rest.trim_start().starts_with(['[', '(']) => return Err("a structured dtype".into()),
            "descr" => descriptor.replace(literal(&mut rest)?.to_owned()).is_none(),
            "fortran_order" => {
                let fortran = take(&mut rest, "True").is_ok();
                if !fortran {
                    take(&mut rest, "False")?;
                }
                order.replace(fortran).is_none()
            }
            "shape" => shape.replace(tuple(&mut rest)?).is_none(),
            _ => false,
        };
        if !known {
            return Err(format!("an unexpected or second key '{key}' in its header"));
        }
        if take(&mut rest, ",").is_err() {
            break;
        }
    }
    take(&mut rest, "}")?;
    if !rest.trim().is_empty() {
        return Err("text after its header".into());
    }
    match (descriptor, order, shape) {
        (Some(descriptor), Some(fortran), Some(shape)) => Ok((descriptor, fortran, shape)),
        _ => Err("a header without descr, fortran_order or shape".into()),
    }
}

fn take(rest: &mut &str, token: &str) -> Result<(), String> {
    match rest.trim_start().strip_prefix(token) {
        Some(after) => {
            *rest = after;
            Ok(())
        }
        None => Err(format!("a header without the expected {token}")),
    }
}

fn literal<'a>(rest: &mut &'a str) -> Result<&'a str, String> {
    let trimmed = rest.trim_start();
    let quote = trimmed.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
    let parts = quote.and_then(|quote| trimmed[1..].split_once(quote));
    let (text, after) = parts.ok_or("a header without an expected text")?;
    if text.contains('\\') {
        return Err("an escaped text in its header".into());
    }
    *rest = after;
    Ok(text)
}

fn tuple(rest: &mut &str) -> Result<Vec<u64>, String> {
    take(rest, "(")?;
    let (inside, after) = rest.split_once(')').ok_or("a shape without its end")?;
    *rest = after;
    let inside = inside.trim();
    if inside.is_empty() {
        return Ok(Vec::new());
    }
    let numbers = inside.strip_suffix(',').unwrap_or(inside).split(',');
    let axes: Vec<u64> = numbers
        .map(|number| {
            let number = number.trim();
            let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            number.parse().ok().filter(|_| digits).ok_or_else(|| format!("the axis length '{number}' in its header"))
        })
        .collect::<Result<_, _>>()?;
    if axes.len() > 32 {
        return Err(format!("{} axes", axes.len()));
    }
    Ok(axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Result<NpyHeader, String> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
        NpyHeader::read(&bytes[..]).map_err(|problem| match problem {
            HeaderProblem::Malformed(found) => found,
            HeaderProblem::Io(error) => error.to_string(),
        })
    }

    #[test]
    fn headers_of_numpy_are_read() {
        let read = header("{'descr': '<i4', 'fortran_order': False, 'shape': (60,), }          \n").unwrap();
        assert_eq!((read.dtype(), &read.shape[..], read.descriptor.as_str()), ("i32", &[60][..], "<i4"));
        let read = header("{\"shape\":(2,3),\"descr\":\"|u1\",\"fortran_order\":True}").unwrap();
        assert_eq!((read.dtype(), read.elements(), read.element_bytes()), ("u8", Some(6), Some(1)));
        assert!(read.fortran);
        assert_eq!(header("{'descr': '>f8', 'fortran_order': False, 'shape': ()}").unwrap().elements(), Some(1));
        let huge = header("{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551615, 2)}").unwrap();
        assert_eq!(huge.elements(), None);
    }

    #[test]
    fn anything_else_is_rejected() {
        for text in [
            "",
            "{}",
            "[[[[",
            "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<i4', 'fortran_order': 0, 'shape': (1,)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (1.5,)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': ((1,))}",
            "{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<i4', 'fortran_order': False, 'shape': (1,)} x",
        ] {
            assert!(header(text).is_err(), "{text}");
        }
        assert_eq!(header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}").unwrap().dtype(), "|O");
        assert!(NpyHeader::read(&b"\x93NUMPY\x02\x00\xff\xff\xff\xff"[..]).is_err());
    }
}
