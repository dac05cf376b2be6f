//! The filter of `Argmax` in instructions of AVX2, with coarse noise.

use super::coarse::{Coarse, EXPONENT, HALF, LEAST, OCTAVES};
use super::deficits::{Deficits, WIDE};
use super::noise::SIGN;
use pulp::x86::V3;
use std::arch::x86_64::{__m256, __m256i};

/// Vectors that are worked on at once, so that none waits for the other.
const AT_ONCE: usize = 4;

/// What is compared.
pub(super) struct WideFilter<'a, D> {
    pub(super) simd: V3,
    pub(super) coarse: &'a Coarse,
    /// Gaps of the two largest sums up to this are left open.
    pub(super) open: f32,
    pub(super) deficits: &'a D,
    pub(super) cells: &'a [u32],
    pub(super) winners: &'a mut [u32],
    /// Not 0 where a winner is left open.
    pub(super) unsure: &'a mut [u32],
}

impl<D: Deficits> pulp::NullaryFnOnce for WideFilter<'_, D> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let V3 { avx, avx2, fma, .. } = self.simd;
        let halves = |table: &[f32; OCTAVES]| {
            [0, WIDE].map(|start| -> __m256 {
                let values: [f32; WIDE] = std::array::from_fn(|lane| table[start + lane]);
                pulp::cast(values)
            })
        };
        let (constants, rises) = (halves(&self.coarse.constants), halves(&self.coarse.rises));
        let all: __m256i = pulp::cast([!SIGN; WIDE]);
        let sign: __m256i = pulp::cast([SIGN; WIDE]);
        let least_known: __m256i = pulp::cast([LEAST; WIDE]);
        let open = avx._mm256_set1_ps(self.open);
        let cells = self.cells.as_chunks::<WIDE>().0;
        let winners = self.winners.as_chunks_mut::<WIDE>().0;
        let unsure = self.unsure.as_chunks_mut::<WIDE>().0;
        let rows = winners.len();
        for row in (0..rows).step_by(AT_ONCE) {
            let mut best = [avx._mm256_set1_ps(f32::NEG_INFINITY); AT_ONCE];
            let mut second = best;
            let mut winner = [avx._mm256_setzero_si256(); AT_ONCE];
            let mut least = [all; AT_ONCE];
            for class in 0..self.deficits.classes() {
                let number: __m256 = pulp::cast([class as u32; WIDE]);
                for place in 0..AT_ONCE {
                    let cell: __m256i = pulp::cast(cells[rows * class + row + place]);
                    let t = avx2._mm256_and_si256(cell, all);
                    least[place] = avx2._mm256_min_epu32(least[place], t);
                    let float = avx._mm256_cvtepi32_ps(t);
                    // The lowest three bits of the exponent choose in a half of a table, the fourth one the half.
                    let exponent = avx2._mm256_srli_epi32::<{ EXPONENT as i32 }>(pulp::cast(float));
                    let which: __m256 =
                        pulp::cast(avx2._mm256_slli_epi32::<{ 28 - EXPONENT as i32 }>(pulp::cast(float)));
                    let looked_up = |[low, high]: [__m256; 2]| {
                        let low = avx2._mm256_permutevar8x32_ps(low, exponent);
                        avx._mm256_blendv_ps(low, avx2._mm256_permutevar8x32_ps(high, exponent), which)
                    };
                    let slope = looked_up(rises);
                    let curvature: __m256 = pulp::cast(avx2._mm256_slli_epi32::<{ HALF as i32 }>(pulp::cast(slope)));
                    let line = fma._mm256_fmadd_ps(curvature, float, slope);
                    let size = fma._mm256_fmadd_ps(line, float, looked_up(constants));
                    let noise = avx._mm256_xor_ps(size, pulp::cast(avx2._mm256_and_si256(cell, sign)));
                    let sum = avx._mm256_add_ps(self.deficits.approximate_wide(self.simd, class, row + place), noise);
                    let larger = avx._mm256_cmp_ps::<{ std::arch::x86_64::_CMP_GT_OQ }>(sum, best[place]);
                    second[place] = avx._mm256_max_ps(second[place], avx._mm256_min_ps(sum, best[place]));
                    winner[place] = pulp::cast(avx._mm256_blendv_ps(pulp::cast(winner[place]), number, larger));
                    best[place] = avx._mm256_max_ps(best[place], sum);
                }
            }
            for place in 0..AT_ONCE {
                winners[row + place] = pulp::cast(winner[place]);
                let gap = avx._mm256_sub_ps(best[place], second[place]);
                let close: __m256i = pulp::cast(avx._mm256_cmp_ps::<{ std::arch::x86_64::_CMP_NGT_UQ }>(gap, open));
                let unknown = avx2._mm256_cmpgt_epi32(least_known, least[place]);
                unsure[row + place] = pulp::cast(avx2._mm256_or_si256(close, unknown));
            }
        }
    }
}
