//! Words of generators that run side by side.

/// Number of generators that run side by side: their states form one vector.
pub(super) const LANES: usize = 8;

/// The same word of every generator.
pub(super) type Words = [u64; LANES];
