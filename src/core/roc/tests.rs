use super::*;
use proptest::prelude::*;

fn roc(members: &[f64], non_members: &[f64]) -> Roc {
    Roc::new(members, non_members).unwrap()
}

fn share(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

/// The points as (threshold, true positives, false positives), by counting for each distinct score.
fn counted(members: &[f64], non_members: &[f64]) -> Vec<RocPoint> {
    let mut scores: Vec<f64> = members.iter().chain(non_members).copied().collect();
    scores.sort_by(|a, b| b.partial_cmp(a).unwrap());
    scores.dedup();
    let above = |class: &[f64], threshold: f64| class.iter().filter(|score| **score >= threshold).count() as u64;
    let origin = RocPoint { threshold: None, true_positives: 0, false_positives: 0 };
    let points = scores.into_iter().map(|threshold| RocPoint {
        threshold: Some(threshold),
        true_positives: above(members, threshold),
        false_positives: above(non_members, threshold),
    });
    [origin].into_iter().chain(points).collect()
}

fn scores() -> impl Strategy<Value = Vec<f64>> {
    let score = prop_oneof![-3..3i32, Just(i32::MAX), Just(i32::MIN)];
    let value = score.prop_map(|score| match score {
        i32::MAX => f64::INFINITY,
        i32::MIN => f64::NEG_INFINITY,
        score => f64::from(score) / 2.0,
    });
    prop::collection::vec(value, 1..20)
}

proptest! {
    #[test]
    fn everything_is_what_counting_gives(members in scores(), non_members in scores(), target in 0.0..1.0f64) {
        let roc = roc(&members, &non_members);
        let points = counted(&members, &non_members);
        prop_assert_eq!(roc.points().collect::<Vec<_>>(), points.clone());
        let pairs = members.iter().flat_map(|m| non_members.iter().map(move |n| if m > n { 2 } else { i32::from(m == n) }));
        let doubled: i32 = pairs.sum();
        let auc = f64::from(doubled) / (2 * members.len() * non_members.len()) as f64;
        prop_assert!((roc.auc() - auc).abs() < 1e-15);
        let mut allowed = points.iter().filter(|point| roc.fpr(**point) <= target);
        prop_assert_eq!(Some(roc.at_fpr(share(target))), allowed.next_back().copied());
        let best = roc.best_threshold();
        let largest = points.iter().map(|point| roc.tpr(*point) - roc.fpr(*point)).fold(0.0, f64::max);
        prop_assert!((best.advantage - largest).abs() < 1e-15);
        // The hull lies above every point and consists of points.
        let hull = roc.hull();
        prop_assert!(hull.iter().all(|corner| points.contains(corner)));
        let slopes = hull.windows(2).map(|pair| {
            (roc.tpr(pair[1]) - roc.tpr(pair[0])) / (roc.fpr(pair[1]) - roc.fpr(pair[0]))
        });
        prop_assert!(slopes.collect::<Vec<_>>().windows(2).all(|pair| pair[0] > pair[1]));
        for point in points {
            for pair in hull.windows(2) {
                let [from, to] = [pair[0], pair[1]];
                if (from.false_positives..=to.false_positives).contains(&point.false_positives) && to.false_positives > from.false_positives {
                    let along = (roc.fpr(point) - roc.fpr(from)) / (roc.fpr(to) - roc.fpr(from));
                    let height = roc.tpr(from) + along * (roc.tpr(to) - roc.tpr(from));
                    prop_assert!(roc.tpr(point) <= height + 1e-12);
                }
            }
        }
    }
}

/// The output of other tools: scikit-learn's `roc_auc_score`, and the hull with ties expected by a test of jax_privacy.
#[test]
fn values_of_other_tools() {
    assert!((roc(&[0.0, 4.0, 6.0, 7.0], &[1.0, 2.0, 3.0, 5.0]).auc() - 0.6875).abs() < 1e-12);
    let mut corners = roc(&[0.0, 1.0, 1.0, 2.0], &[0.0, 0.0, 1.0, 1.0]).hull();
    corners.reverse();
    let rows: Vec<(Option<f64>, u64, u64)> =
        corners.iter().map(|point| (point.threshold, 4 - point.false_positives, 4 - point.true_positives)).collect();
    assert_eq!(rows, [(Some(0.0), 0, 0), (Some(1.0), 2, 1), (Some(2.0), 4, 3), (None, 4, 4)]);
}

#[test]
fn targets_count_as_they_are_written() {
    // 0.3 is below three tenths as a double; three of ten still count as 0.3.
    let scores: Vec<f64> = (0..10).map(f64::from).collect();
    let roc = roc(&[100.0], &scores);
    for (target, most) in [(0.0, 0), (0.1, 1), (0.3, 3), (0.7, 7), (0.299_999, 2), (1.0, 10), (5e-324, 0)] {
        assert_eq!(roc.at_fpr(share(target)).false_positives, most, "{target}");
    }
}

#[test]
fn hostile_scores() {
    assert!(Roc::new(&[], &[1.0]).is_err() && Roc::new(&[1.0], &[]).is_err());
    assert!(Roc::new(&[f64::NAN], &[1.0]).is_err() && Roc::new(&[1.0], &[f64::NAN]).is_err());
    let equal = roc(&[-0.0; 5], &[0.0; 7]);
    assert_eq!((equal.len(), equal.auc(), equal.best_threshold().advantage), (2, 0.5, 0.0));
    assert_eq!(equal.at_fpr(share(0.5)).threshold, None);
    assert_eq!(equal.at_fpr(share(1.0)).true_positives, 5);
    let ends = roc(&[f64::INFINITY], &[f64::NEG_INFINITY]);
    assert_eq!((ends.auc(), ends.best_threshold().balanced_accuracy), (1.0, 1.0));
    assert_eq!(roc(&[f64::NEG_INFINITY], &[f64::INFINITY]).auc(), 0.0);
    assert_eq!(ends.point(3), None);
}

#[test]
fn large_inputs_are_the_same_on_the_threads() {
    // A multiplicative walk with many ties.
    let scores = |from: u64, count: u64| -> Vec<f64> {
        (from..from + count).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) as f64).collect()
    };
    let (members, non_members) = (scores(0, 40_000), scores(40_000, 30_000));
    let roc = roc(&members, &non_members);
    assert_eq!(roc.points().collect::<Vec<_>>(), counted(&members, &non_members));
}
