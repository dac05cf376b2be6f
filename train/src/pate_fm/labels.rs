//! Queries, until the student has the labels that it wants.

use super::plan::VotingPlan;
use crate::student::{LabelCosts, LabelingPlan};
use leakbound::accountant::{Labeling, PrivacyBudget, label_until_spent};
use leakbound::divergence::{Conversion, order_grid};
use leakbound::error::Result;
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::Epsilon;

/// What the teachers of a run answered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GivenLabels {
    /// The class, or none, of each query that was made.
    pub answers: Vec<Option<u8>>,
    /// Whether the student learns the answer to each of them.
    pub used: Vec<bool>,
    /// How many answers are right, and their data-dependent ε.
    pub labeling: Labeling,
    /// Whether the student has all the labels that it wanted.
    pub complete: bool,
}

/// Makes queries in their order, each with its true class, for C classes. Query number i has the noise of its own that
/// [`student`](crate::student) gives it.
pub(super) fn give_labels(
    queries: &[(VoteHistogram, usize)],
    classes: usize,
    plan: &VotingPlan,
    seed: u64,
) -> Result<GivenLabels> {
    let mut all = PrivacyBudget::new(Epsilon::INFINITE, plan.delta, Conversion::Improved, order_grid())?;
    let labeling = LabelingPlan {
        test: plan.test,
        sigma: plan.sigma,
        budgets: vec![all.clone()],
        costs: LabelCosts::DataDependent,
    };
    let (mut given, mut made, mut used) = (vec![0; classes], Vec::new(), Vec::new());
    for (index, query) in queries.iter().enumerate().take(plan.queries) {
        if plan.goal.is_reached(&given) || given.iter().sum::<usize>() >= plan.answers() {
            break;
        }
        let answer = labeling.answer(query, index, seed);
        used.push(answer.class.is_some_and(|class| plan.goal.uses(given[class])));
        answer.class.into_iter().for_each(|class| given[class] += 1);
        made.push(answer);
    }
    let answers = made.iter().map(|answer| answer.class.map(|class| class as u8)).collect();
    Ok(GivenLabels {
        answers,
        used,
        labeling: label_until_spent(made, &mut all)?,
        complete: plan.goal.is_reached(&given),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pate_fm::LabelGoal;
    use leakbound::accountant::{confident_gnmax_data_independent, threshold_data_independent};
    use leakbound::distribution::{ThresholdForm, ThresholdTest};
    use leakbound::quantity::{Delta, NoiseScale, Order};

    fn plan(goal: LabelGoal, form: ThresholdForm) -> VotingPlan {
        let scale = |sigma| NoiseScale::new(sigma).unwrap();
        VotingPlan {
            test: ThresholdTest::new(60.0, scale(40.0), form).unwrap(),
            sigma: scale(12.0),
            goal,
            queries: 200,
            delta: Delta::new(1e-5).unwrap(),
        }
    }

    /// Of 100 teachers; every third query is of a class that is asked about seldom.
    fn queries() -> Vec<(VoteHistogram, usize)> {
        let counts = |query: usize| if query.is_multiple_of(3) { vec![10, 85, 5] } else { vec![90, 6, 4] };
        (0..300)
            .map(|query| (VoteHistogram::new(counts(query)).unwrap(), usize::from(query.is_multiple_of(3))))
            .collect()
    }

    #[test]
    fn queries_end_with_the_last_label() {
        for form in [ThresholdForm::Max, ThresholdForm::PerClass] {
            let given = give_labels(&queries(), 3, &plan(LabelGoal::Total(30), form), 7).unwrap();
            assert_eq!((given.labeling.labels, given.complete), (30, true));
            assert!(given.answers.last().unwrap().is_some() && given.used.iter().filter(|used| **used).count() == 30);
            assert_eq!(given.labeling.queries as usize, given.answers.len());
            assert!(given.answers.len() > 30 && given.answers.len() < 200, "{}", given.answers.len());
            // A larger goal begins with the same answers.
            let more = give_labels(&queries(), 3, &plan(LabelGoal::Total(60), form), 7).unwrap();
            assert_eq!(more.answers[..given.answers.len()], given.answers);
            // What was charged for these votes is below what the claim is for any.
            let claimed = plan(LabelGoal::Total(30), form).claimed_epsilon();
            println!("{form}: {} queries, {} of {claimed}", given.answers.len(), given.labeling.epsilon);
            assert!(given.labeling.epsilon < claimed);
        }
    }

    #[test]
    fn labels_of_each_class_are_paid_for_and_not_all_used() {
        let goal = |answers| LabelGoal::PerClass { labels: 20, answers };
        // The third class is never the plurality, and hardly ever an answer.
        let given = give_labels(&queries(), 3, &plan(goal(None), ThresholdForm::Max), 7).unwrap();
        assert!(!given.complete && given.answers.len() == 200);
        for class in 0..2 {
            let of_class = |used: bool| {
                let both = given.answers.iter().zip(&given.used);
                both.filter(|(answer, is)| **answer == Some(class) && (!used || **is)).count()
            };
            println!("class {class}: {} answers", of_class(false));
            assert!(of_class(true) == 20 && of_class(false) > 20);
        }
        let bounded = give_labels(&queries(), 3, &plan(goal(Some(50)), ThresholdForm::Max), 7).unwrap();
        assert_eq!(bounded.labeling.labels, 50);
        assert_eq!(bounded.answers[..], given.answers[..bounded.answers.len()]);
    }

    /// N tests and A answers, at the order that is best.
    #[test]
    fn the_claim_is_that_of_all_queries_and_answers() {
        let plan = plan(LabelGoal::Total(30), ThresholdForm::PerClass);
        let scale = |sigma| NoiseScale::new(sigma).unwrap();
        let least = order_grid().into_iter().map(|order: Order| {
            let answered = confident_gnmax_data_independent(order, scale(40.0), scale(12.0));
            let rdp = 30.0 * answered + 170.0 * threshold_data_independent(order, scale(40.0));
            Conversion::Improved.epsilon(rdp, order, plan.delta).get()
        });
        let least = least.fold(f64::INFINITY, f64::min);
        assert!((plan.claimed_epsilon().get() / least - 1.0).abs() < 1e-12);
        let per_class = VotingPlan { goal: LabelGoal::PerClass { labels: 3, answers: None }, ..plan };
        assert_eq!((per_class.answers(), plan.answers()), (200, 30));
        assert!(per_class.claimed_epsilon() > plan.claimed_epsilon());
    }
}
