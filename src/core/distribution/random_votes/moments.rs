//! Masses of products with their mean degrees, in one pass.

/// ln of the value at z = 1 of the series that contains an output as a coefficient, and the mean degree there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mass {
    pub(super) ln_mass: f64,
    pub(super) mean: f64,
}

/// A mass and its first moment: in products, masses multiply and means add.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) mass: f64,
    pub(super) first: f64,
}

impl Moment {
    pub(super) const ZERO: Self = Self { mass: 0.0, first: 0.0 };
    pub(super) const ONE: Self = Self { mass: 1.0, first: 0.0 };

    pub(super) fn mass(self, ln_scale: f64) -> Mass {
        Mass { ln_mass: ln_scale + self.mass.ln(), mean: self.first / self.mass }
    }
}

/// 1 as a series with this many powers.
pub(super) fn one(powers: usize) -> Vec<Moment> {
    let mut series = vec![Moment::ZERO; powers];
    series[0] = Moment::ONE;
    series
}

/// The product of two series of the same length.
pub(super) fn product(left: &[Moment], right: &[Moment], product: &mut [Moment]) {
    product.fill(Moment::ZERO);
    for (a, left) in left.iter().enumerate().filter(|(_, left)| left.mass > 0.0) {
        for (target, right) in product[a..].iter_mut().zip(right) {
            target.mass += left.mass * right.mass;
            target.first += left.mass * right.first + left.first * right.mass;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mass_has_its_scale_and_its_mean() {
        let found = Moment { mass: 2.0, first: 6.0 }.mass(1.5);
        assert!((found.ln_mass - (1.5 + std::f64::consts::LN_2)).abs() < 1e-15);
        assert_eq!(found.mean, 3.0);
    }
}
