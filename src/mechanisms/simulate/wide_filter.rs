//! The filter of `Argmax` in instructions of AVX2, with coarse noise.

use super::coarse::{Coarse, EXPONENT, HALF, LEAST, OCTAVES};
use super::deficits::{Deficits, MASKED, WIDE};
use super::noise::SIGN;
use pulp::x86::V3;
use std::arch::x86_64::{__m256, __m256i};

/// Number of vectors processed together, so that none waits for the other: those of one mask.
const AT_ONCE: usize = MASKED / WIDE;

/// The values that are compared.
pub(super) struct WideFilter<'a, D> {
    pub(super) simd: V3,
    pub(super) coarse: &'a Coarse,
    /// If the two largest sums differ by at most this, the winner remains open.
    pub(super) close: f32,
    pub(super) deficits: &'a D,
    pub(super) cells: &'a [u32],
    pub(super) winners: &'a mut [u32],
    /// The bits of samples whose winner remains open.
    pub(super) open: &'a mut [u32],
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
        let most_close = avx._mm256_set1_ps(self.close);
        let cells = self.cells.as_chunks::<WIDE>().0;
        let winners = self.winners.as_chunks_mut::<WIDE>().0;
        let rows = winners.len();
        let winners = winners.as_chunks_mut::<AT_ONCE>().0;
        for (group, (winners, open)) in winners.iter_mut().zip(self.open).enumerate() {
            let row = group * AT_ONCE;
            let mut best = [avx._mm256_set1_ps(f32::NEG_INFINITY); AT_ONCE];
            let mut second = best;
            let mut winner = [avx._mm256_setzero_si256(); AT_ONCE];
            let mut least = [all; AT_ONCE];
            for class in 0..self.deficits.classes() {
                let number: __m256 = pulp::cast([class as u32; WIDE]);
                let cells = &cells[rows * class + row..][..AT_ONCE];
                for place in 0..AT_ONCE {
                    let cell: __m256i = pulp::cast(cells[place]);
                    let t = avx2._mm256_and_si256(cell, all);
                    least[place] = avx2._mm256_min_epu32(least[place], t);
                    let float = avx._mm256_cvtepi32_ps(t);
                    // The lowest three bits of the exponent select in half of a table, the fourth one the half.
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
                    let sum = self.deficits.sum_wide(self.simd, class, row + place, noise);
                    let larger = avx._mm256_cmp_ps::<{ std::arch::x86_64::_CMP_GT_OQ }>(sum, best[place]);
                    second[place] = avx._mm256_max_ps(second[place], avx._mm256_min_ps(sum, best[place]));
                    winner[place] = pulp::cast(avx._mm256_blendv_ps(pulp::cast(winner[place]), number, larger));
                    best[place] = avx._mm256_max_ps(best[place], sum);
                }
            }
            *open = 0;
            for place in 0..AT_ONCE {
                winners[place] = pulp::cast(winner[place]);
                let gap = avx._mm256_sub_ps(best[place], second[place]);
                let close = avx._mm256_cmp_ps::<{ std::arch::x86_64::_CMP_NGT_UQ }>(gap, most_close);
                let unknown = avx2._mm256_cmpgt_epi32(least_known, least[place]);
                let left = avx._mm256_movemask_ps(avx._mm256_or_ps(close, pulp::cast(unknown)));
                *open |= (left as u32) << (WIDE * place);
            }
        }
    }
}
