//! Audits of one training run: planned before it, and concluded after it.

mod audit;
mod claim;
mod plan;
mod reach;

pub use audit::{CanaryAttackRow, CanaryAttackScores, CanaryAuditAnswer, CanaryAuditStudy};
pub use plan::{CanaryPlanAnswer, CanaryPlanStudy, PlannedGuesses};
pub use reach::{ForecastRange, ForecastRanges};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{GuessSelection, MembersScore, OneRunGuesses};
    use crate::divergence::gdp_epsilon;
    use crate::mechanism::parse;
    use crate::quantity::{Delta, Epsilon, FailureProbability};
    use crate::record::{CanaryPlan, TrainingClaim};
    use crate::study::{Answer, Study, unwatched};

    fn study(claim: Option<TrainingClaim>, guesses: PlannedGuesses) -> CanaryPlanStudy {
        CanaryPlanStudy {
            canaries: 1_000,
            seed: 3,
            guesses,
            members_score: MembersScore::High,
            attacks: 1,
            delta: Delta::new(1e-5).unwrap(),
            failure_probability: FailureProbability::new(0.05).unwrap(),
            claim,
            repetitions: 40,
        }
    }

    fn mechanism(text: &str, times: u64) -> Option<TrainingClaim> {
        Some(TrainingClaim::Mechanism { mechanism: parse(text).unwrap(), times })
    }

    /// Without sampling DP-SGD is one Gaussian mechanism, whichever way it is written.
    #[test]
    fn the_same_claim_has_the_same_forecast() {
        let answers = [
            Some(TrainingClaim::Mu(2.0)),
            mechanism("gaussian:sigma=1", 4),
            mechanism("subsampled-gaussian:sigma=1,rate=1", 4),
        ]
        .map(|claim| {
            let guesses = GuessSelection::Declared(OneRunGuesses { members: 125, others: 125 });
            study(claim, PlannedGuesses::Selection(guesses)).run(&unwatched).unwrap()
        });
        for answer in &answers {
            let forecast = answer.forecast.unwrap().epsilon;
            println!("{} {forecast:?} {:?}", answer.claimed_epsilon.unwrap().0, answer.plan.guesses);
            let expected = gdp_epsilon(2.0, Delta::new(1e-5).unwrap()).unwrap().get();
            let claimed = answer.claimed_epsilon.unwrap().0;
            assert!(claimed >= expected && claimed < 1.002 * expected);
            // Forecasts of 40 audits each, with other draws.
            assert!((forecast.median.0 / answers[0].forecast.unwrap().epsilon.median.0 - 1.0).abs() < 0.15);
            assert!(forecast.high.0 < claimed);
        }
    }

    #[test]
    fn sampled_steps_are_a_claim() {
        let claim = mechanism("subsampled-gaussian:sigma=0.8,rate=0.01", 1_000);
        let answer = study(claim, PlannedGuesses::BestForecast).run(&unwatched).unwrap();
        let claimed = answer.claimed_epsilon.unwrap().0;
        // As in the documentation of `ComposedDirection::of_enclosed`.
        assert!((3.139..3.147).contains(&claimed), "{claimed}");
        let forecast = answer.forecast.unwrap().epsilon;
        println!("{forecast:?}");
        assert!(forecast.median.0 > 0.1 && forecast.high.0 < claimed);
    }

    #[test]
    fn claims_out_of_reach_and_impossible_ones() {
        let high = Some(TrainingClaim::Epsilon(Epsilon::new(8.0).unwrap()));
        let answer = study(high, PlannedGuesses::Selection(GuessSelection::PaidFor)).run(&unwatched).unwrap();
        assert_eq!(answer.warnings[0].code, "claim-out-of-reach");
        let without = study(None, PlannedGuesses::Selection(GuessSelection::Split)).run(&unwatched).unwrap();
        assert!(without.forecast.is_none() && without.claimed_epsilon.is_none() && without.warnings.is_empty());
        assert_eq!(without.members + without.plan.coins.matches('0').count() as u64, 1_000);
        let messages = [
            study(None, PlannedGuesses::BestForecast),
            study(mechanism("gnmax:sigma=2", 1), PlannedGuesses::BestForecast),
        ]
        .map(|study| study.run(&unwatched).unwrap_err().to_string());
        insta::assert_snapshot!(messages.join("\n"), @r"
        plan of a one-run audit: the best numbers of guesses are those of a claim, and none is given
        claim of a training: gnmax is not about a record that is added or removed, as canaries are; subsampled-gaussian is
        ");
    }

    /// A training that shows each canary with a margin refutes a small claim; one that shows none is reported as weakly
    /// attacked.
    #[test]
    fn scores_of_a_plan_are_concluded() {
        let claim = Some(TrainingClaim::Epsilon(Epsilon::new(1.0).unwrap()));
        let planned = study(claim, PlannedGuesses::BestForecast).run(&unwatched).unwrap().plan;
        let document = serde_json::json!({ "schema": CanaryPlanAnswer::SCHEMA, "plan": planned }).to_string();
        let plan = crate::record::canary_plan_from_text("plan.json", &document).unwrap();
        let coins = plan.audit.coins();
        let conclude = |scores: Vec<f64>| {
            let attacks = vec![CanaryAttackScores { name: "a".into(), scores }];
            CanaryAuditStudy { plan: plan.clone(), attacks, repetitions: 40 }.run(&unwatched).unwrap()
        };
        let shown = conclude(coins.iter().map(|&coin| f64::from(u8::from(coin))).collect());
        assert!(shown.claims()[0].refuted && shown.warnings.is_empty());
        assert_eq!(shown.plan_sha256, planned.sha256);
        let hidden = conclude(vec![0.0; 1_000]);
        assert!(!hidden.claims()[0].refuted);
        assert_eq!(hidden.warnings[0].code, "weak-attack");
    }

    /// Of three planned attacks the best one counts, with a third of the failure probability; a fourth is rejected.
    #[test]
    fn the_best_of_planned_attacks_is_a_bound() {
        let claim = Some(TrainingClaim::Epsilon(Epsilon::new(1.0).unwrap()));
        let study = |attacks, failure| CanaryPlanStudy {
            attacks,
            failure_probability: FailureProbability::new(failure).unwrap(),
            ..study(claim.clone(), PlannedGuesses::Nested)
        };
        let plan = |study: CanaryPlanStudy| {
            let planned = study.run(&unwatched).unwrap();
            let document = serde_json::json!({ "schema": CanaryPlanAnswer::SCHEMA, "plan": planned.plan }).to_string();
            (crate::record::canary_plan_from_text("plan.json", &document).unwrap(), planned)
        };
        let ((three, planned), (third, alone)) = (plan(study(3, 0.05)), plan(study(1, 0.05 / 3.0)));
        assert_eq!((planned.most_shown.0, planned.forecast), (alone.most_shown.0, alone.forecast));
        let shown: Vec<f64> = three.audit.coins().iter().map(|&coin| f64::from(u8::from(coin))).collect();
        let half = shown.iter().enumerate().map(|(i, &score)| if i % 4 == 0 { 1.0 - score } else { score }).collect();
        let audit = |plan: &CanaryPlan, sets: &[&Vec<f64>]| {
            let attacks = sets
                .iter()
                .enumerate()
                .map(|(i, &scores)| CanaryAttackScores { name: format!("set {i}"), scores: scores.clone() });
            CanaryAuditStudy { plan: plan.clone(), attacks: attacks.collect(), repetitions: 40 }.run(&unwatched)
        };
        let answer = audit(&three, &[&half, &shown, &vec![0.0; 1_000]]).unwrap();
        let single = audit(&third, &[&shown]).unwrap();
        assert_eq!(answer.audit.epsilon[0].lower, single.audit.epsilon[0].lower);
        assert_eq!(answer.attacks[1].epsilon, answer.audit.epsilon[0].lower);
        assert!(answer.attacks[0].epsilon.0 > answer.attacks[2].epsilon.0 && answer.attacks[2].epsilon.0 == 0.0);
        assert_eq!((answer.claims()[0].refuted, answer.claims()[0].failure_probability), (true, 0.05));
        assert_eq!(answer.audit.epsilon[0].failure_probability, 0.05);
        // The order of the attacks does not matter.
        let turned = audit(&three, &[&vec![0.0; 1_000], &shown, &half]).unwrap();
        assert_eq!(turned.audit.epsilon[0].lower, answer.audit.epsilon[0].lower);
        assert_eq!(turned.audit.one_run.unwrap().right, answer.audit.one_run.unwrap().right);
        for sets in [&[][..], &[&shown; 4]] {
            let message = audit(&three, sets).unwrap_err().to_string();
            assert!(message.contains("expected 1 to 3, as planned"), "{message}");
        }
    }
}
