//! The limits that an ε bound from one output set may use.

/// Whether it was known, before the counts were seen, that the dataset prints an outcome of O more often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tails {
    /// P(O) ≥ Q(O) was declared: from an exact distribution, a pilot, or the meaning of an attack's positive answer.
    /// The forward bound uses only A = O, the reverse bound only its complement.
    Two,
    /// Nothing is known: both bounds use A = O and its complement, and pay for both.
    Four,
}
