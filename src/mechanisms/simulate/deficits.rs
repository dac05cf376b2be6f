//! Votes in units of the noise, exactly and as they are compared.

use crate::vectorized::{Arch, in_vectors};
#[cfg(target_arch = "x86_64")]
use pulp::x86::V3;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m256;

/// Number of samples compared together: enough that the loop over them remains a loop until it is vectorized. If it
/// were unrolled earlier, as a loop of 16 is, vectorization would depend on the settings of link-time optimization.
pub(super) const ROW: usize = 64;

/// Number of samples in a bit mask.
pub(super) const MASKED: usize = u32::BITS as usize;

/// Number of values in an AVX2 vector.
#[cfg(target_arch = "x86_64")]
pub(super) const WIDE: usize = 8;

/// Deficits beyond this do not matter: two noises of scale 1 differ by less than 2 · 97 ln 2.
const MOST: f32 = 160.0;

/// Votes per class as they are compared: how far each class is behind the largest, or behind a number common to all
/// classes, in units of the noise.
pub(super) trait Deficits {
    /// Number of classes.
    fn classes(&self) -> usize;
    /// A function for the deficits of a class in the samples of a row of the batch, by lane: never NaN, within 3 ·
    /// 2^-24 of themselves; -160 for all beyond.
    fn approximate(&self, class: usize, row: usize) -> impl Fn(usize) -> f32;
    /// The sum with the noise in eight samples, which are a row of vectors.
    #[cfg(target_arch = "x86_64")]
    fn sum_wide(&self, simd: V3, class: usize, row: usize, noise: __m256) -> __m256;
    /// The deficit of a class in a sample.
    fn exact(&self, class: usize, sample: usize) -> f64;
}

/// The same votes in every sample.
pub(super) struct Fixed<'a> {
    exact: &'a [f64],
    near: Vec<f32>,
}

impl<'a> Fixed<'a> {
    /// (H_c - max H)/s per class.
    pub(super) fn new(deficits: &'a [f64]) -> Self {
        Self { exact: deficits, near: deficits.iter().map(|&deficit| at_least(deficit as f32, -MOST)).collect() }
    }
}

impl Deficits for Fixed<'_> {
    fn classes(&self) -> usize {
        self.exact.len()
    }
    #[inline(always)]
    fn approximate(&self, class: usize, _: usize) -> impl Fn(usize) -> f32 {
        let deficit = self.near[class];
        move |_| deficit
    }
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn sum_wide(&self, simd: V3, class: usize, _: usize, noise: __m256) -> __m256 {
        simd.avx._mm256_add_ps(simd.avx._mm256_set1_ps(self.near[class]), noise)
    }
    fn exact(&self, class: usize, _: usize) -> f64 {
        self.exact[class]
    }
}

/// Separate votes in every sample, H_c of sample s at `batch` c + s, below 2^31.
pub(super) struct Random<'a> {
    pub(super) votes: &'a [u32],
    pub(super) most: &'a [u32],
    pub(super) inverse_scale: f64,
}

impl<'a> Random<'a> {
    /// The votes, with scratch space for the largest of every sample.
    pub(super) fn new(votes: &'a [u32], most: &'a mut [u32], inverse_scale: f64) -> Self {
        in_vectors!(Arch::new(), {
            most.fill(0);
            for class in votes.chunks_exact(most.len()) {
                for (most, votes) in most.iter_mut().zip(class) {
                    *most = (*most).max(*votes);
                }
            }
        });
        Self { votes, most, inverse_scale }
    }
}

impl Deficits for Random<'_> {
    fn classes(&self) -> usize {
        self.votes.len() / self.most.len()
    }
    #[inline(always)]
    fn approximate(&self, class: usize, row: usize) -> impl Fn(usize) -> f32 {
        // A finite factor, so that 0 votes behind are 0.
        let factor = -(self.inverse_scale.min(f64::from(f32::MAX)) as f32);
        let most = &self.most.as_chunks::<ROW>().0[row];
        let votes = &self.votes.as_chunks::<ROW>().0[self.most.len() / ROW * class + row];
        #[inline(always)]
        move |lane| at_least((most[lane] - votes[lane]) as i32 as f32 * factor, -MOST)
    }
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn sum_wide(&self, simd: V3, class: usize, row: usize, noise: __m256) -> __m256 {
        let factor = -(self.inverse_scale.min(f64::from(f32::MAX)) as f32);
        let most = self.most.as_chunks::<WIDE>().0[row];
        let votes = self.votes.as_chunks::<WIDE>().0[self.most.len() / WIDE * class + row];
        let behind = simd.avx2._mm256_sub_epi32(pulp::cast(most), pulp::cast(votes));
        let deficit = simd.avx._mm256_mul_ps(simd.avx._mm256_cvtepi32_ps(behind), simd.avx._mm256_set1_ps(factor));
        simd.avx._mm256_add_ps(simd.avx._mm256_max_ps(deficit, simd.avx._mm256_set1_ps(-MOST)), noise)
    }
    fn exact(&self, class: usize, sample: usize) -> f64 {
        -f64::from(self.most[sample] - self.votes[self.most.len() * class + sample]) * self.inverse_scale
    }
}

/// Separate votes in every sample, few in units of the noise, so that no largest is needed: H_c of sample s at `batch`
/// c + s.
pub(super) struct Few<'a> {
    votes: &'a [u32],
    batch: usize,
    inverse_scale: f64,
}

impl<'a> Few<'a> {
    /// The largest number of votes, in units of the noise: their rounding in single precision is that of a deficit.
    const MOST: f64 = 128.0;

    /// Whether up to this many votes are few, H ≤ 128 s.
    pub(super) fn are(most: u64, inverse_scale: f64) -> bool {
        most as f64 * inverse_scale <= Self::MOST
    }

    /// The votes of a batch.
    pub(super) const fn new(votes: &'a [u32], batch: usize, inverse_scale: f64) -> Self {
        Self { votes, batch, inverse_scale }
    }
}

impl Deficits for Few<'_> {
    fn classes(&self) -> usize {
        self.votes.len() / self.batch
    }
    #[inline(always)]
    fn approximate(&self, class: usize, row: usize) -> impl Fn(usize) -> f32 {
        let factor = self.inverse_scale as f32;
        let votes = &self.votes.as_chunks::<ROW>().0[self.batch / ROW * class + row];
        #[inline(always)]
        move |lane| votes[lane] as i32 as f32 * factor
    }
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn sum_wide(&self, simd: V3, class: usize, row: usize, noise: __m256) -> __m256 {
        let votes = self.votes.as_chunks::<WIDE>().0[self.batch / WIDE * class + row];
        let factor = simd.avx._mm256_set1_ps(self.inverse_scale as f32);
        simd.fma._mm256_fmadd_ps(simd.avx._mm256_cvtepi32_ps(pulp::cast(votes)), factor, noise)
    }
    fn exact(&self, class: usize, sample: usize) -> f64 {
        f64::from(self.votes[self.batch * class + sample]) * self.inverse_scale
    }
}

#[inline(always)]
pub(super) fn at_least(value: f32, least: f32) -> f32 {
    if value > least { value } else { least }
}
