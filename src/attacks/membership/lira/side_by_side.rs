//! Scores of several samples side by side, from rows of a sample each.

use crate::vectorized::Arch;
#[cfg(target_arch = "x86_64")]
use {crate::vectorized::avx2, pulp::x86::V3, std::arch::x86_64::__m128};

/// Samples side by side: one vector of the widest machines in single precision.
pub(super) const LANES: usize = 16;

pub(super) type Lanes<F> = [F; LANES];

/// Views of each sample that are read together.
const READ: usize = 6;
/// Rows and columns that are exchanged in registers.
#[cfg(target_arch = "x86_64")]
const SQUARE: usize = 4;

/// Copies the views of samples into lanes, few contiguous ones of every sample at a time.
pub(super) fn side_by_side<F: Copy>(rows: &[F], views: usize, samples: &[usize; LANES], into: &mut [Lanes<F>]) {
    let mut into = into.chunks_exact_mut(READ);
    let mut start = 0;
    for into in &mut into {
        for lane in 0..LANES {
            let row = &rows[samples[lane] * views + start..][..READ];
            for view in 0..READ {
                into[view][lane] = row[view];
            }
        }
        start += READ;
    }
    for (view, into) in into.into_remainder().iter_mut().enumerate() {
        for (into, sample) in into.iter_mut().zip(samples) {
            *into = rows[sample * views + start + view];
        }
    }
}

/// The same for single precision, with four samples and four views in registers if there are enough.
pub(super) fn singles_side_by_side(
    arch: Arch,
    rows: &[f32],
    views: usize,
    samples: &[usize; LANES],
    into: &mut [Lanes<f32>],
) {
    #[cfg(target_arch = "x86_64")]
    if views >= SQUARE
        && let Some(simd) = avx2(arch)
    {
        return simd.vectorize(Squares { simd, rows, views, samples, into });
    }
    let _ = arch;
    side_by_side(rows, views, samples, into);
}

#[cfg(target_arch = "x86_64")]
struct Squares<'a> {
    simd: V3,
    rows: &'a [f32],
    views: usize,
    samples: &'a [usize; LANES],
    into: &'a mut [Lanes<f32>],
}

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for Squares<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let V3 { sse, .. } = self.simd;
        let mut start = 0;
        while start < self.views {
            // The last square may have views in common with the one before.
            let from = start.min(self.views - SQUARE);
            let into = &mut self.into[from..from + SQUARE];
            for first in (0..LANES).step_by(SQUARE) {
                let mut square: [__m128; SQUARE] = [sse._mm_setzero_ps(); SQUARE];
                for (row, sample) in square.iter_mut().zip(&self.samples[first..first + SQUARE]) {
                    let views = self.rows[sample * self.views + from..].first_chunk::<SQUARE>();
                    *row = pulp::cast(*views.unwrap_or(&[0.0; SQUARE]));
                }
                let [a, b, c, d] = square;
                let (ab, cd) = (sse._mm_unpacklo_ps(a, b), sse._mm_unpacklo_ps(c, d));
                let (more_ab, more_cd) = (sse._mm_unpackhi_ps(a, b), sse._mm_unpackhi_ps(c, d));
                let columns = [
                    sse._mm_movelh_ps(ab, cd),
                    sse._mm_movehl_ps(cd, ab),
                    sse._mm_movelh_ps(more_ab, more_cd),
                    sse._mm_movehl_ps(more_cd, more_ab),
                ];
                for (into, column) in into.iter_mut().zip(columns) {
                    let column: [f32; SQUARE] = pulp::cast(column);
                    into[first..first + SQUARE].copy_from_slice(&column);
                }
            }
            start += SQUARE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_score_comes_to_its_lane() {
        for views in 1..=19 {
            for samples in [1usize, 5, 16] {
                let rows: Vec<f32> = (0..samples * views).map(|i| i as f32).collect();
                let order: [usize; LANES] = std::array::from_fn(|lane| lane % samples);
                let mut plain = vec![[-1.0; LANES]; views];
                side_by_side(&rows, views, &order, &mut plain);
                let mut quick = vec![[-1.0; LANES]; views];
                singles_side_by_side(Arch::new(), &rows, views, &order, &mut quick);
                for (view, (plain, quick)) in plain.iter().zip(&quick).enumerate() {
                    for lane in 0..LANES {
                        assert_eq!(plain[lane], (order[lane] * views + view) as f32, "{views} {samples}");
                        assert_eq!(plain[lane], quick[lane], "{views} {samples}");
                    }
                }
            }
        }
    }
}
