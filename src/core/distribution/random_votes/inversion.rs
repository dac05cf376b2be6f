//! Coefficients of products of polynomials from their values on the unit circle.
//!
//! For g(z) = Σ_n c_n z^n and θ_j = π(2j+1)/M, (2/M) Re Σ_{j<M/2} g(e^{iθ_j}) e^{-iθ_j d} = Σ_l (-1)^l c_{d+lM}: the
//! coefficient of z^d if no coefficient a multiple of M degrees away matters. With c_n ≥ 0 the rounding error is that
//! of the sum of the absolute values, which is about c_d itself if the mass of g is centered on d.

use super::lanes::{Complex, LANES};

/// Powers in the table; longer polynomials are summed in pieces.
const POWERS: usize = 64;

/// The points e^{iθ_j} and their powers, in blocks of eight.
#[derive(Debug)]
pub(super) struct Circle {
    /// e^{iπt/M} for t = 0..2M.
    roots: Vec<(f64, f64)>,
    blocks: Vec<Block>,
}

/// e^{iθ_j d} for eight j and d = 0..POWERS.
#[derive(Debug)]
pub(super) struct Block {
    first: usize,
    powers: Vec<Complex>,
    /// The power POWERS.
    step: Complex,
}

impl Circle {
    /// A circle of at least this period M.
    pub(super) fn new(period: f64) -> Self {
        let blocks = (period / (2 * LANES) as f64).ceil().max(1.0) as usize;
        let half = blocks * LANES; // M/2
        let quarter = |t: usize| libm::sincos(std::f64::consts::PI * t as f64 / (2 * half) as f64);
        let roots: Vec<(f64, f64)> = (0..4 * half)
            .map(|t| {
                let (sin, cos) = quarter(t % half);
                [(cos, sin), (-sin, cos), (-cos, -sin), (sin, -cos)][t / half]
            })
            .collect();
        let mut circle = Self { roots, blocks: Vec::new() };
        circle.blocks = (0..blocks)
            .map(|block| {
                let first = block * LANES;
                let power = |d: usize| circle.rotation(first, d as i64);
                Block { first, powers: (0..POWERS).map(power).collect(), step: power(POWERS) }
            })
            .collect();
        circle
    }

    /// M.
    pub(super) fn period(&self) -> f64 {
        (self.roots.len() / 2) as f64
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// e^{iθ_j d} for the eight j from `first` on.
    #[inline(always)]
    pub(super) fn rotation(&self, first: usize, d: i64) -> Complex {
        let turns = self.roots.len();
        let d = d.rem_euclid(turns as i64) as usize;
        // (2j + 1) d for successive j, without a division for each.
        let (mut at, step) = ((2 * first + 1) * d % turns, 2 * d % turns);
        let mut powers = Complex::ZERO;
        for lane in 0..LANES {
            (powers.re[lane], powers.im[lane]) = self.roots[at];
            at += step;
            at -= if at < turns { 0 } else { turns };
        }
        powers
    }
}

impl Block {
    pub(super) fn first(&self) -> usize {
        self.first
    }

    /// Σ_n coefficients[n] e^{iθ_j n}.
    #[inline(always)]
    pub(super) fn transform(&self, coefficients: &[f64]) -> Complex {
        let mut sum = Complex::ZERO;
        let mut end = coefficients.len();
        while end > 0 {
            let start = (end - 1) / POWERS * POWERS;
            let part = self.part(&coefficients[start..end]);
            sum = part.plus_product(sum, self.step);
            end = start;
        }
        sum
    }

    /// The same for at most POWERS coefficients, in four sums that do not wait for each other.
    #[inline(always)]
    fn part(&self, coefficients: &[f64]) -> Complex {
        const SUMS: usize = 4;
        let mut sums = [Complex::ZERO; SUMS];
        let (values, rest) = coefficients.as_chunks::<SUMS>();
        let (powers, _) = self.powers.as_chunks::<SUMS>();
        for (values, powers) in values.iter().zip(powers) {
            for index in 0..SUMS {
                sums[index] = sums[index].plus_scaled(values[index], powers[index]);
            }
        }
        let first = values.len() * SUMS;
        for (&value, power) in rest.iter().zip(&self.powers[first..]) {
            sums[0] = sums[0].plus_scaled(value, *power);
        }
        let [a, b, c, d] = sums;
        a.plus_scaled(1.0, b).plus_scaled(1.0, c.plus_scaled(1.0, d))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_come_back() {
        let coefficients: Vec<f64> = (0..150).map(|n| 1.0 / f64::from(n + 1)).collect();
        let circle = Circle::new(200.0);
        for degree in [0i64, 1, 77, 149, 150, 199] {
            let mut sum = 0.0;
            for block in circle.blocks() {
                let value = block.transform(&coefficients).times(circle.rotation(block.first(), -degree));
                sum += value.re.iter().sum::<f64>();
            }
            let expected = coefficients.get(degree as usize).copied().unwrap_or(0.0);
            let found = 2.0 * sum / circle.period();
            assert!((found - expected).abs() < 2e-16 * 10.0, "{degree}: {found} {expected}");
        }
    }
}
