//! How far classes are behind, exactly and as they are compared.

use crate::vectorized::{Arch, vectorized};

/// Samples compared together: so many that the loop over them stays a loop until it is made one of vectors. Were it
/// unrolled before, as one of 16 is, it would depend on the settings of link-time optimization whether vectors come of
/// it.
pub(super) const ROW: usize = 64;

/// Numbers of a vector of AVX2.
#[cfg(target_arch = "x86_64")]
pub(super) const WIDE: usize = 8;

/// No deficit matters beyond this: two noises of scale 1 differ by less than 2 · 97 ln 2.
const MOST: f32 = 160.0;

/// Votes per class as they are compared: how far each class is behind, in units of the noise.
pub(super) trait Deficits {
    /// Number of classes.
    fn classes(&self) -> usize;
    /// What makes the deficits of a class in the samples of a row of the batch, by lane: never NaN, within 3 · 2^-24 of
    /// themselves; -160 for all beyond.
    fn approximate(&self, class: usize, row: usize) -> impl Fn(usize) -> f32;
    /// The same of eight samples, which are a row of vectors.
    #[cfg(target_arch = "x86_64")]
    fn approximate_wide(&self, simd: pulp::x86::V3, class: usize, row: usize) -> std::arch::x86_64::__m256;
    /// The deficit of a class in a sample.
    fn exact(&self, class: usize, sample: usize) -> f64;
}

/// The same votes in every sample: (H_c - max H)/s per class.
pub(super) struct Fixed<'a>(pub(super) &'a [f64]);

impl Deficits for Fixed<'_> {
    fn classes(&self) -> usize {
        self.0.len()
    }
    #[inline(always)]
    fn approximate(&self, class: usize, _: usize) -> impl Fn(usize) -> f32 {
        let deficit = at_least(self.0[class] as f32, -MOST);
        move |_| deficit
    }
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn approximate_wide(&self, simd: pulp::x86::V3, class: usize, _: usize) -> std::arch::x86_64::__m256 {
        simd.avx._mm256_set1_ps(at_least(self.0[class] as f32, -MOST))
    }
    fn exact(&self, class: usize, _: usize) -> f64 {
        self.0[class]
    }
}

/// Votes of their own in every sample, H_c of sample s at `batch` c + s, below 2^31.
pub(super) struct Random<'a> {
    pub(super) votes: &'a [u32],
    pub(super) most: &'a [u32],
    pub(super) inverse_scale: f64,
}

impl<'a> Random<'a> {
    /// The votes, with room for the largest of every sample.
    pub(super) fn new(votes: &'a [u32], most: &'a mut [u32], inverse_scale: f64) -> Self {
        vectorized(
            Arch::new(),
            #[inline(always)]
            || {
                most.fill(0);
                for class in votes.chunks_exact(most.len()) {
                    for (most, votes) in most.iter_mut().zip(class) {
                        *most = (*most).max(*votes);
                    }
                }
            },
        );
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
    fn approximate_wide(&self, simd: pulp::x86::V3, class: usize, row: usize) -> std::arch::x86_64::__m256 {
        let factor = -(self.inverse_scale.min(f64::from(f32::MAX)) as f32);
        let most = self.most.as_chunks::<WIDE>().0[row];
        let votes = self.votes.as_chunks::<WIDE>().0[self.most.len() / WIDE * class + row];
        let behind = simd.avx2._mm256_sub_epi32(pulp::cast(most), pulp::cast(votes));
        let deficit = simd.avx._mm256_mul_ps(simd.avx._mm256_cvtepi32_ps(behind), simd.avx._mm256_set1_ps(factor));
        simd.avx._mm256_max_ps(deficit, simd.avx._mm256_set1_ps(-MOST))
    }
    fn exact(&self, class: usize, sample: usize) -> f64 {
        -f64::from(self.most[sample] - self.votes[self.most.len() * class + sample]) * self.inverse_scale
    }
}

#[inline(always)]
pub(super) fn at_least(value: f32, least: f32) -> f32 {
    if value > least { value } else { least }
}
