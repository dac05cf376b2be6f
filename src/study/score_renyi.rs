//! Rényi divergences of the scores of an attack.

use super::score_bounds::ScoreBoundRow;
use crate::audit::{AuditPlan, CanaryScores, Guide, Method, OutputBins, RdpBound, RealOutputs, audit_counts};
use crate::bound::Direction;
use crate::error::{Error, Result};
use crate::quantity::{Delta, FailureProbability, Order};

/// The share of the scores that chooses the bins.
const PILOT: f64 = 1.0 / 3.0;
/// Bins: with more, the limits of each are wider than what the finer cut shows.
const BINS: usize = 16;
/// How the bins were chosen.
const SELECTION: &str = "split";
/// The limit of all bins together, and that of one tangent.
const METHODS: [Method; 2] = [Method::KCutRegion, Method::KCutVariational];

/// Lower bounds of D_α of the scores of members from those of others, and in reverse, at each order. The probability
/// that any is wrong is at most `failure`.
///
/// Scores are post-processing of the models, so their divergences are at most those of the training. A random third of
/// the scores chooses 16 bins of equal size and the tangents; the bounds are of the rest, from the k-cut region and
/// from one tangent, with half of the failure probability each.
///
/// # Errors
/// [`Error::Rejected`] if a third leaves no score on one side.
pub(super) fn renyi_rows(
    scores: &CanaryScores,
    orders: &[Order],
    failure: FailureProbability,
    seed: u64,
) -> Result<Vec<ScoreBoundRow>> {
    if orders.is_empty() {
        return Ok(Vec::new());
    }
    let mut outputs = RealOutputs::default();
    for (side, counts) in [(scores.members(), [1, 0]), (scores.others(), [0, 1])] {
        side.iter().try_for_each(|&score| outputs.add(score, counts))?;
    }
    let (pilot, rest) = outputs.split(PILOT, seed).map_err(|_| too_few(scores))?;
    let bins = OutputBins::quantiles(&pilot, BINS)?;
    let guide = Guide::from_pilot(&pilot.binned(&bins)?, orders, &Direction::BOTH)?;
    let plan = AuditPlan {
        orders: orders.to_vec(),
        delta: Delta::new(0.0)?,
        failure: failure.split(METHODS.len()),
        methods: METHODS.to_vec(),
        directions: Direction::BOTH.to_vec(),
        seed,
        resamples: 1,
    };
    let audit = audit_counts(&rest.binned(&bins)?, &guide, &plan)?;
    let row = |found: &RdpBound| ScoreBoundRow {
        direction: Some(found.direction),
        order: Some(found.order.get()),
        ..ScoreBoundRow::of(&found.bound, SELECTION)
    };
    Ok(audit.rdp.iter().map(row).collect())
}

fn too_few(scores: &CanaryScores) -> Error {
    let reason = format!(
        "a random third of the scores chooses the bins, the rest give the bounds, and {} of members and {} of others are \
         too few for both; expected hundreds of each",
        scores.members().len(),
        scores.others().len()
    );
    Error::Rejected { operation: "Rényi bounds of scores", reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Validity;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    fn normal(count: usize, mean: f64, stream: &mut impl Rng) -> Vec<f64> {
        (0..count)
            .map(|_| {
                let z: f64 = StandardNormal.sample(stream);
                z + mean
            })
            .collect()
    }

    fn rows(scores: &CanaryScores, seed: u64) -> Vec<ScoreBoundRow> {
        let orders = [2.0, 8.0].map(|order| Order::new(order).unwrap());
        renyi_rows(scores, &orders, FailureProbability::new(0.05).unwrap(), seed).unwrap()
    }

    /// Normal scores at distance μ have D_α = α μ²/2: 0.25 and 1 at μ = 0.5.
    #[test]
    fn bounds_are_below_the_divergence_of_normal_scores() {
        let stream = &mut ChaCha8Rng::seed_from_u64(3);
        let scores = CanaryScores::new(normal(40_000, 0.5, stream), normal(40_000, 0.0, stream)).unwrap();
        let found = rows(&scores, 1);
        // Two methods, two directions, two orders.
        assert_eq!(found.len(), 8);
        for row in &found {
            let exact = row.order.unwrap() * 0.125;
            println!("{} {:?} {:?}: {} of {exact}", row.method, row.direction, row.order, row.lower.0);
            assert!(row.lower.0 < exact && row.validity == Validity::FiniteSample);
            assert!(row.order != Some(2.0) || row.lower.0 > 0.7 * exact);
        }
        assert_eq!(found, rows(&scores, 1));
    }

    /// Scores without information: of 200 audits at most 22 may claim a divergence (a failure probability of 0.05 and
    /// 4.1 standard errors, false alarm 2e-4).
    #[test]
    fn equal_scores_claim_nothing() {
        let stream = &mut ChaCha8Rng::seed_from_u64(4);
        let claims = (0..200).filter(|&seed| {
            let scores = CanaryScores::new(normal(300, 0.0, stream), normal(300, 0.0, stream)).unwrap();
            rows(&scores, seed).iter().any(|row| row.lower.0 > 0.0)
        });
        let claims = claims.count();
        println!("{claims} of 200");
        assert!(claims <= 22);
    }

    #[test]
    fn few_and_equal_scores_are_no_panic() {
        let two = CanaryScores::new(vec![1.0; 3], vec![1.0; 3]);
        let few = two.and_then(|scores| renyi_rows(&scores, &[], FailureProbability::new(0.05)?, 0)).unwrap();
        assert!(few.is_empty());
        let same = CanaryScores::new(vec![f64::INFINITY; 50], vec![f64::INFINITY; 50]).unwrap();
        assert!(rows(&same, 0).iter().all(|row| row.lower.0 == 0.0));
        let one = CanaryScores::new(vec![1.0], vec![1.0]).unwrap();
        let error = renyi_rows(&one, &[Order::new(2.0).unwrap()], FailureProbability::new(0.05).unwrap(), 0);
        assert!(error.unwrap_err().to_string().contains("1 of members and 1 of others are too few for both"));
    }
}
