//! The size of a text in bytes after compression by zlib.

use flate2::{Compress, Compression, FlushCompress, Status};

/// Compresses texts one by one, at zlib's default level; the compressor is made once.
///
/// Implementations of zlib choose differently among equal ways to write a text, so their sizes may differ by some
/// bytes.
pub(super) struct ZlibSize {
    compressor: Compress,
    buffer: Vec<u8>,
}

impl ZlibSize {
    pub(super) fn new() -> Self {
        Self { compressor: Compress::new(Compression::default(), true), buffer: vec![0; 64 << 10] }
    }

    /// The bytes of a text with zlib's header and checksum; none if the compressor fails.
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

    /// The sizes of zlib-rs, whatever features other packages ask flate2 for. CPython with zlib 1.2.13 has 8, 51, 56 and
    /// 93,054.
    #[test]
    fn sizes_are_those_of_one_implementation() {
        let mut size = ZlibSize::new();
        let once = "The quick brown fox jumps over the lazy dog.";
        let long = (0..20_000).map(|number: u32| number.wrapping_mul(2_654_435_761).to_string()).collect::<String>();
        let mut sizes = |text: &str| size.of(text);
        assert_eq!(["", once, &once.repeat(10), &long, once].map(&mut sizes), [8, 52, 59, 92_596, 52].map(Some));
    }
}
