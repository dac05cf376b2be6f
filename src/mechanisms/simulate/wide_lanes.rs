//! The generators of `Lanes` in instructions of AVX2.
//!
//! Compilers consider single rotations cheap and do not vectorize the generators, which then take five times as long.

use super::lane_words::{LANES, Words};
use pulp::x86::V3;
use std::arch::x86_64::__m256i;

/// The states of eight generators: \[word of the state\]\[half of the generators\].
#[derive(Clone, Copy)]
struct States([[__m256i; 2]; 4]);

impl States {
    fn of(state: &[Words; 4]) -> Self {
        Self(state.map(|words| {
            let halves: [[u64; LANES / 2]; 2] = pulp::cast(words);
            halves.map(pulp::cast)
        }))
    }

    fn words(self) -> [Words; 4] {
        self.0.map(joined)
    }

    /// The next word of each generator.
    #[inline(always)]
    fn step(&mut self, simd: V3) -> [__m256i; 2] {
        let avx2 = simd.avx2;
        let mut words = self.0[0];
        for (half, word) in words.iter_mut().enumerate() {
            let [a, b, c, d] = [self.0[0][half], self.0[1][half], self.0[2][half], self.0[3][half]];
            let sum = avx2._mm256_add_epi64(a, d);
            let turned = avx2._mm256_or_si256(avx2._mm256_slli_epi64::<23>(sum), avx2._mm256_srli_epi64::<41>(sum));
            *word = avx2._mm256_add_epi64(turned, a);
            let shifted = avx2._mm256_slli_epi64::<17>(b);
            let c = avx2._mm256_xor_si256(c, a);
            let d = avx2._mm256_xor_si256(d, b);
            let b = avx2._mm256_xor_si256(b, c);
            let a = avx2._mm256_xor_si256(a, d);
            let c = avx2._mm256_xor_si256(c, shifted);
            let d = avx2._mm256_or_si256(avx2._mm256_slli_epi64::<45>(d), avx2._mm256_srli_epi64::<19>(d));
            for (both, next) in self.0.iter_mut().zip([a, b, c, d]) {
                both[half] = next;
            }
        }
        words
    }
}

#[inline(always)]
fn joined(halves: [__m256i; 2]) -> Words {
    pulp::cast(halves)
}

/// Fills chunks with words of all generators.
pub(super) struct WideWords<'a> {
    pub(super) simd: V3,
    pub(super) state: &'a [Words; 4],
    pub(super) chunks: &'a mut [Words],
}

impl pulp::NullaryFnOnce for WideWords<'_> {
    type Output = [Words; 4];

    #[inline(always)]
    fn call(self) -> [Words; 4] {
        let mut states = States::of(self.state);
        for chunk in self.chunks {
            *chunk = joined(states.step(self.simd));
        }
        states.words()
    }
}

/// Fills chunks with the low halves of the words of all generators, and then the high ones.
pub(super) struct WideHalves<'a> {
    pub(super) simd: V3,
    pub(super) state: &'a [Words; 4],
    pub(super) chunks: &'a mut [[u32; 2 * LANES]],
}

impl pulp::NullaryFnOnce for WideHalves<'_> {
    type Output = [Words; 4];

    #[inline(always)]
    fn call(self) -> [Words; 4] {
        let avx2 = self.simd.avx2;
        // Low halves before high ones.
        let sorted: __m256i = pulp::cast([0u32, 2, 4, 6, 1, 3, 5, 7]);
        let mut states = States::of(self.state);
        for chunk in self.chunks {
            let [first, last] = states.step(self.simd);
            let first = avx2._mm256_permutevar8x32_epi32(first, sorted);
            let last = avx2._mm256_permutevar8x32_epi32(last, sorted);
            let low = avx2._mm256_permute2x128_si256::<0x20>(first, last);
            let high = avx2._mm256_permute2x128_si256::<0x31>(first, last);
            *chunk = pulp::cast([low, high]);
        }
        states.words()
    }
}
