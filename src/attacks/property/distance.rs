//! Which ensemble a student resembles most.

use crate::error::{Error, Result};
use ndarray::{ArrayView2, ArrayView4, Axis};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Probabilities below this count as this much in a divergence, as in common implementations of it: a member that gives
/// a class no probability would otherwise be infinitely far away.
const FLOOR: f64 = 1e-7;

/// How far a probability vector may be from summing to 1.
const SUM_SLACK: f64 = 1e-3;

/// The inferred value of a property.
#[derive(Debug, Clone, PartialEq)]
pub struct PropertyDecision {
    /// Mean divergence from the student for each property value, in nats.
    pub distances: Vec<f64>,
    /// The value with the smallest distance, counted from 0; the first among ties.
    pub value: usize,
    /// The distance of the second nearest value minus that of the nearest.
    pub margin: f64,
    /// Permutation p-value of the margin.
    pub p_value: f64,
}

/// Infers which property value a student's training data had: the value whose ensemble members are nearest to the
/// student on average.
///
/// Shapes: `student` \[point, class\], `ensembles` \[value, member, point, class\], both probabilities, at least 2
/// values; the points are those that the student was trained on (public points labeled by PATE), as far as known. The
/// distance of a value is the mean over members and points of KL(student ‖ member) = Σ_c s_c ln(s_c/t_c), with
/// probabilities raised to at least 1e-7.
///
/// The p-value tests whether the property has anything to do with the distances: under the hypothesis that the members
/// of all values are exchangeable, given the student, the margin between the nearest value and the next, in units of
/// the spread of members inside their values, is as likely as with members assigned to values at random. It is (1 +
/// number of `permutations` with a ratio at least as large)/(1 + `permutations`): exact for any number of them, the
/// choice of the nearest value included. (The margin alone would not do: values far from the student make it large in
/// every assignment.) With few members it cannot be small; with one member per value it is 1. It does not show how well
/// the ensembles imitate the teachers.
///
/// # Errors
/// [`Error::Length`] for shapes that do not fit or are empty, [`Error::Domain`] for a probability outside \[0, 1\], NaN
/// included, or a vector whose sum is not 1.
///
/// # Example
/// ```
/// # use leakbound::property::property_distance;
/// # use ndarray::{array, Array4};
/// let student = array![[0.9, 0.1], [0.8, 0.2]];
/// let ensembles = Array4::from_shape_fn((2, 5, 2, 2), |(value, _, _, class)| {
///     if (value == 0) == (class == 0) { 0.85 } else { 0.15 }
/// });
/// let decision = property_distance(student.view(), ensembles.view(), 999, 0)?;
/// assert!(decision.value == 0 && decision.margin > 1.0 && decision.p_value < 0.05);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Ihrig (2021), thesis, section 4.4.1: the text, whose Algorithm 1 prints the comparison in reverse, and the extension
/// to several values. The p-value is ours; the thesis has none.
pub fn property_distance(
    student: ArrayView2<'_, f64>,
    ensembles: ArrayView4<'_, f64>,
    permutations: usize,
    seed: u64,
) -> Result<PropertyDecision> {
    check(student, ensembles)?;
    let (values, members, points, _) = ensembles.dim();
    // Distances [value][member].
    let mut distances = Vec::with_capacity(values * members);
    for ensemble in ensembles.axis_iter(Axis(0)) {
        for member in ensemble.axis_iter(Axis(0)) {
            let sum: f64 = student.iter().zip(member).map(|(&s, &t)| term(s, t)).sum();
            distances.push(sum / points as f64);
        }
    }
    // Smaller spreads count as 0.
    let least_spread = 1e-9 * distances.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let observed = means(&distances, members);
    let (value, margin) = nearest(&observed);
    let ratio = |distances: &[f64]| {
        let means = means(distances, members);
        nearest(&means).1 / spread(distances, &means).max(least_spread)
    };
    let observed_ratio = ratio(&distances);
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    let mut shuffled = distances;
    let mut as_large = 0usize;
    for _ in 0..permutations {
        shuffled.shuffle(&mut stream);
        // Sums in another order differ in their last digits: a tie counts as as large.
        as_large += usize::from(ratio(&shuffled) >= observed_ratio * (1.0 - 1e-9));
    }
    let p_value = (1 + as_large) as f64 / (1 + permutations) as f64;
    Ok(PropertyDecision { distances: observed, value, margin, p_value })
}

/// The mean of each value.
fn means(distances: &[f64], members: usize) -> Vec<f64> {
    distances.chunks_exact(members).map(|members| members.iter().sum::<f64>() / members.len() as f64).collect()
}

/// The standard deviation of members around the mean of their value.
fn spread(distances: &[f64], means: &[f64]) -> f64 {
    let members = distances.len() / means.len();
    let squares = distances
        .chunks_exact(members)
        .zip(means)
        .flat_map(|(members, mean)| members.iter().map(move |distance| (distance - mean) * (distance - mean)));
    (squares.sum::<f64>() / distances.len() as f64).sqrt()
}

fn term(s: f64, t: f64) -> f64 {
    let (s, t) = (s.max(FLOOR), t.max(FLOOR));
    s * (s / t).ln()
}

/// The index of the smallest distance and how much larger the second smallest is.
fn nearest(distances: &[f64]) -> (usize, f64) {
    let (mut value, mut first, mut second) = (0, f64::INFINITY, f64::INFINITY);
    for (index, &distance) in distances.iter().enumerate() {
        if distance < first {
            (value, second, first) = (index, first, distance);
        } else {
            second = second.min(distance);
        }
    }
    (value, second - first)
}

fn check(student: ArrayView2<'_, f64>, ensembles: ArrayView4<'_, f64>) -> Result<()> {
    let (values, members, points, classes) = ensembles.dim();
    let length = |quantity, found, expected: String| Err(Error::length(quantity, found, expected));
    if values < 2 {
        return length("property values", values, "at least 2".into());
    }
    for (quantity, found) in [("members of an ensemble", members), ("public points", points), ("classes", classes)] {
        if found == 0 {
            return length(quantity, 0, "at least 1".into());
        }
    }
    if student.nrows() != points {
        return length("points of the student", student.nrows(), format!("{points}, as of the ensembles"));
    }
    if student.ncols() != classes {
        return length("classes of the student", student.ncols(), format!("{classes}, as of the ensembles"));
    }
    let (all, legal) = (student.iter().chain(&ensembles), |value: f64| (0.0..=1.0).contains(&value));
    Error::check_domain_of_all(all, legal, "probability of a class", "[0, 1]")?;
    let sums = student.sum_axis(Axis(1)).into_iter().chain(ensembles.sum_axis(Axis(3)));
    let is_one = |sum: f64| (sum - 1.0).abs() <= SUM_SLACK;
    Error::check_domain_of_all(sums, is_one, "sum of the probabilities of a point", "{1}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, Array4};
    use rand::RngExt;

    /// Probabilities of two classes with P(class 0) near `p`.
    fn near(p: f64, stream: &mut ChaCha8Rng) -> f64 {
        (p + 0.1 * (stream.random::<f64>() - 0.5)).clamp(0.0, 1.0)
    }

    fn ensembles(centers: &[f64], members: usize, points: usize, stream: &mut ChaCha8Rng) -> Array4<f64> {
        let mut array = Array4::zeros((centers.len(), members, points, 2));
        for value in 0..centers.len() {
            for member in 0..members {
                // A member differs from its ensemble at all points together.
                let center = near(centers[value], stream);
                for point in 0..points {
                    let p = near(center, stream);
                    array[[value, member, point, 0]] = p;
                    array[[value, member, point, 1]] = 1.0 - p;
                }
            }
        }
        array
    }

    fn student(p: f64, points: usize) -> Array2<f64> {
        Array2::from_shape_fn((points, 2), |(_, class)| if class == 0 { p } else { 1.0 - p })
    }

    #[test]
    fn distances_are_divergences_and_the_nearest_of_many_values_wins() {
        let mut stream = ChaCha8Rng::seed_from_u64(1);
        let centers = [0.2, 0.4, 0.6, 0.8];
        let array = ensembles(&centers, 6, 30, &mut stream);
        for (index, center) in centers.into_iter().enumerate() {
            let decision = property_distance(student(center, 30).view(), array.view(), 499, 2).unwrap();
            assert_eq!(decision.value, index);
            assert!(decision.margin > 0.0 && decision.p_value < 0.01, "{decision:?}");
        }
        let direct = 0.3 * f64::ln(0.3 / 0.5) + 0.7 * f64::ln(0.7 / 0.5);
        let flat = Array4::from_elem((2, 1, 1, 2), 0.5);
        let decision = property_distance(student(0.3, 1).view(), flat.view(), 10, 0).unwrap();
        assert!((decision.distances[0] - direct).abs() < 1e-15);
        assert_eq!((decision.value, decision.margin, decision.p_value), (0, 0.0, 1.0));
    }

    /// Without a property the p-value is at most 0.1 in at most 10% of the audits, and five standard errors
    /// (false-alarm rate below 1e-6).
    #[test]
    fn the_p_value_is_valid() {
        const AUDITS: u32 = 500;
        let mut stream = ChaCha8Rng::seed_from_u64(6);
        let small = (0..AUDITS)
            .filter(|&audit| {
                let array = ensembles(&[0.5, 0.5, 0.5], 4, 3, &mut stream);
                let decision = property_distance(student(0.5, 3).view(), array.view(), 99, u64::from(audit)).unwrap();
                decision.p_value <= 0.1
            })
            .count();
        println!("{small} of {AUDITS}");
        assert!((small as f64) < f64::from(AUDITS) * 0.1 + 5.0 * (f64::from(AUDITS) * 0.09).sqrt());
    }

    #[test]
    fn odd_shapes_and_probabilities_are_rejected() {
        let good = Array4::from_elem((2, 1, 1, 2), 0.5);
        let run = |student: &Array2<f64>, ensembles: &Array4<f64>| {
            property_distance(student.view(), ensembles.view(), 9, 0).map_err(|error| error.to_string())
        };
        assert!(run(&student(0.5, 2), &good).unwrap_err().contains("points of the student has length 2"));
        assert!(run(&Array2::from_elem((1, 3), 1.0 / 3.0), &good).is_err());
        assert!(run(&student(0.5, 1), &Array4::from_elem((1, 1, 1, 2), 0.5)).is_err());
        assert!(run(&Array2::from_elem((1, 2), 0.6), &good).unwrap_err().contains("sum"));
        assert!(run(&Array2::from_elem((1, 2), f64::NAN), &good).is_err());
        assert!(
            run(&student(1.0, 1), &Array4::from_shape_fn((2, 1, 1, 2), |(.., class)| class as f64)).unwrap().margin
                == 0.0
        );
    }
}
