//! Many numbers within a line of a checkpoint.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Numbers that are serialized as their bytes (little-endian) in base64: half as long as their digits, and exact.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Packed(pub Vec<f32>);

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|number| number.to_le_bytes()).collect();
        serializer.serialize_str(&STANDARD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(D::Error::custom)?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(D::Error::custom("bytes that are no numbers of 32 bits"));
        }
        Ok(Self(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_to_the_last_bit() {
        let packed = Packed(vec![0.1, -0.0, 1e-42, f32::MAX]);
        let text = serde_json::to_string(&packed).unwrap();
        assert_eq!(text.len(), 2 + 24);
        let back: Packed = serde_json::from_str(&text).unwrap();
        let bits = |packed: &Packed| packed.0.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(&packed));
        assert!(
            serde_json::from_str::<Packed>("\"AAAA\"").is_err() && serde_json::from_str::<Packed>("\"?\"").is_err()
        );
    }
}
