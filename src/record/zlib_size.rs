//! How many bytes a text takes when zlib has compressed it.

use flate2::{Compress, Compression, FlushCompress, Status};

/// Compresses texts one by one, at zlib's default level; the compressor is made once.
///
/// Implementations of zlib choose differently among equal ways to write a text, so that their sizes may differ by some
/// bytes.
pub(super) struct ZlibSize {
    compressor: Compress,
    buffer: Vec<u8>,
}

impl ZlibSize {
    pub(super) fn new() -> Self {
        Self { compressor: Compress::new(Compression::default(), true), buffer: vec![0; 64 << 10] }
    }

    /// The bytes of a text with zlib's header and checksum; none where the compressor fails.
    pub(super) fn of(&mut self, text: &str) -> Option<u64> {
        self.compressor.reset();
        loop {
            let read = self.compressor.total_in() as usize;
            let rest = text.as_bytes().get(read..).unwrap_or_default();
            let status = self.compressor.compress(rest, &mut self.buffer, FlushCompress::Finish).ok()?;
            match status {
                Status::StreamEnd => return Some(self.compressor.total_out()),
                Status::Ok => {}
                Status::BufError => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `len(zlib.compress(text))` of CPython 3 with zlib 1.3.
    #[test]
    fn sizes_are_those_of_zlib() {
        let mut size = ZlibSize::new();
        let once = "The quick brown fox jumps over the lazy dog.";
        let long = (0..20_000).map(|number: u32| number.wrapping_mul(2_654_435_761).to_string()).collect::<String>();
        let mut near = |text: &str, bytes: u64| size.of(text).is_some_and(|found| found.abs_diff(bytes) <= 12);
        // Features of other packages choose between implementations.
        assert!(near("", 8) && near(once, 51));
        // A text that repeats itself takes little more, whatever the implementation.
        assert!(size.of(&once.repeat(10)).is_some_and(|found| (52..110).contains(&found)));
        let found = size.of(&long).unwrap() as f64;
        assert!((found / 93054.0 - 1.0).abs() < 0.06, "{found}");
        assert!(size.of(once).is_some_and(|found| found.abs_diff(51) <= 12));
    }
}
