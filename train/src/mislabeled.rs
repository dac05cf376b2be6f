//! Wrong labels for canaries.

use rand::{Rng, RngExt};

/// A class other than each label, uniformly and by itself; there are at least two classes.
pub(super) fn wrong_labels(labels: &[u8], classes: usize, stream: &mut impl Rng) -> Vec<u8> {
    let wrong = |&label: &u8| {
        let other = stream.random_range(1..classes);
        ((usize::from(label) + other) % classes) as u8
    };
    labels.iter().map(wrong).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, stream};

    /// 9,000 labels: each of nine wrong classes 1,000 times, within five standard errors (false alarms: 6e-6).
    #[test]
    fn wrong_labels_are_uniform() {
        let wrong = wrong_labels(&[7; 9000], 10, &mut stream(1, Purpose::Canaries, 0, 0));
        for class in 0..10 {
            let count = wrong.iter().filter(|&&label| label == class).count() as f64;
            println!("{class}: {count}");
            let expected = if class == 7 { 0.0 } else { 1000.0 };
            assert!((count - expected).abs() <= 5.0 * (expected * 8.0 / 9.0f64).sqrt());
        }
    }
}
