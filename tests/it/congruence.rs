//! Outputs to audit that are the same in every run.

/// A linear congruence of 64 bits (Knuth's MMIX), whose high bits are good enough to make outputs of.
pub struct Congruence(pub u64);

impl Congruence {
    /// The next state, whose low bits repeat soon.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }

    /// A number of [0, 1) with 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1u64 << 53) as f64
    }
}
