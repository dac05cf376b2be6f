//! Labels for public images: Confident-GNMax, until the largest budget is spent.

use leakbound::accountant::{
    ChargedAnswer, Labeling, PrivacyBudget, VoteCost, gnmax_data_independent, label_until_spent,
    threshold_data_independent,
};
use leakbound::distribution::{Noise, ThresholdTest};
use leakbound::divergence::RdpCurve;
use leakbound::error::Result;
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::{NoiseScale, Order};
use leakbound::simulate::{Stream, StreamId, World, draw_confident_answer};
use serde::Serialize;

/// What an answer is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelCosts {
    /// For these votes, in both directions: the total, and where it stops, reveal something about the votes.
    DataDependent,
    /// For any votes: with one order, a guarantee (Feldman and Zrnic 2021).
    DataIndependent,
}

/// Confident-GNMax and its budgets.
///
/// The charge is for what happened: always for the test, and for GNMax if it answered.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelingPlan {
    /// The test on the largest count: threshold T, noise σ₁.
    pub test: ThresholdTest,
    /// σ₂, noise of the argmax on every count.
    pub sigma: NoiseScale,
    /// Budgets on the same orders, each with its own student.
    pub budgets: Vec<PrivacyBudget>,
    /// What an answer is charged.
    pub costs: LabelCosts,
}

impl LabelingPlan {
    /// The orders of all costs.
    pub fn orders(&self) -> &[Order] {
        self.budgets.first().map_or(&[], |budget| budget.curve().orders())
    }

    /// Asks a query with noise from its own stream, number `index` of the seed.
    pub(crate) fn answer(&self, (histogram, label): &(VoteHistogram, usize), index: usize, seed: u64) -> ChargedAnswer {
        let mut stream = Stream::new(StreamId { seed, query: index as u64, world: World::Dataset, block: 0 });
        let class = draw_confident_answer(histogram, Some(&self.test), Noise::Gaussian(self.sigma), &mut stream);
        ChargedAnswer { class, cost: self.cost(histogram, class.is_some()), label: Some(*label) }
    }

    /// The RDP of what happened to a query.
    fn cost(&self, histogram: &VoteHistogram, answered: bool) -> RdpCurve {
        let dependent = VoteCost::of_moved_vote(Noise::Gaussian(self.sigma), Some(&self.test), histogram);
        RdpCurve::from_fn(self.orders(), |order| match self.costs {
            LabelCosts::DataDependent => dependent.in_both_directions(order).realized(answered),
            LabelCosts::DataIndependent => {
                let test = threshold_data_independent(order, self.test.sigma());
                if answered { test + gnmax_data_independent(order, self.sigma) } else { test }
            }
        })
    }
}

/// The answers of a run, and how far each budget goes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Campaign {
    /// The class, or none, of each query in the order asked, as far as any budget goes.
    pub answers: Vec<Option<usize>>,
    /// One for each budget.
    pub labelings: Vec<Labeling>,
}

/// Asks queries in their order, each with its label. All budgets see the same answers, and each sees the first of them
/// until it is spent.
pub(super) fn campaign(queries: &[(VoteHistogram, usize)], plan: &LabelingPlan, seed: u64) -> Result<Campaign> {
    let mut drawn: Vec<ChargedAnswer> = Vec::new();
    let mut labelings: Vec<Labeling> = Vec::new();
    for budget in &plan.budgets {
        let answers = queries.iter().enumerate().map(|(index, query)| {
            if index == drawn.len() {
                drawn.push(plan.answer(query, index, seed));
            }
            drawn[index].clone()
        });
        labelings.push(label_until_spent(answers, &mut budget.clone())?);
    }
    // An answer that every budget turned away is not released.
    let released = labelings.iter().map(|labeling| labeling.queries).max().unwrap_or(0);
    let answers = drawn.iter().take(released as usize).map(|answer| answer.class).collect();
    Ok(Campaign { answers, labelings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakbound::distribution::ThresholdForm;
    use leakbound::divergence::{Conversion, order_grid};
    use leakbound::quantity::{Delta, Epsilon};

    fn scale(sigma: f64) -> NoiseScale {
        NoiseScale::new(sigma).unwrap()
    }

    fn budgets(budgets: &[f64], conversion: Conversion) -> Vec<PrivacyBudget> {
        let budget = |&budget: &f64| {
            PrivacyBudget::new(Epsilon::new(budget).unwrap(), Delta::new(1e-5).unwrap(), conversion, order_grid())
        };
        budgets.iter().map(|epsilon| budget(epsilon).unwrap()).collect()
    }

    fn plan(wanted: &[f64]) -> LabelingPlan {
        LabelingPlan {
            test: ThresholdTest::new(60.0, scale(40.0), ThresholdForm::Max).unwrap(),
            sigma: scale(12.0),
            budgets: budgets(wanted, Conversion::Improved),
            costs: LabelCosts::DataDependent,
        }
    }

    /// Of 100 teachers, agreeing more or less.
    fn queries(count: u64) -> Vec<(VoteHistogram, usize)> {
        let counts = |query: u64| vec![100 - 7 * (query % 8), 5 * (query % 8), 2 * (query % 8)];
        (0..count).map(|query| (VoteHistogram::new(counts(query)).unwrap(), 0)).collect()
    }

    #[test]
    fn a_smaller_budget_sees_the_first_answers_of_a_larger_one() {
        let queries = queries(300);
        let both = campaign(&queries, &plan(&[1.0, 3.0]), 7).unwrap();
        let [small, large] = [both.labelings[0], both.labelings[1]];
        assert!(small.queries > 5 && small.queries < large.queries && large.queries < 300, "{small:?} {large:?}");
        assert!(small.exhausted && large.exhausted);
        assert_eq!(both.answers.len() as u64, large.queries);
        let alone = campaign(&queries, &plan(&[1.0]), 7).unwrap();
        assert_eq!(alone.labelings, [small]);
        assert_eq!(alone.answers, both.answers[..small.queries as usize]);
    }

    /// Each charge against the whole accountant, and every prefix against the budget.
    #[test]
    fn what_is_spent_is_what_the_accountant_says_and_never_more_than_the_budget() {
        let queries = queries(300);
        for (costs, conversion) in
            [(LabelCosts::DataDependent, Conversion::Classic), (LabelCosts::DataIndependent, Conversion::Improved)]
        {
            let plan = LabelingPlan { costs, budgets: budgets(&[2.0, 0.8, 5.0], conversion), ..plan(&[]) };
            let run = campaign(&queries, &plan, 3).unwrap();
            let charge = |index: usize, order| {
                let (histogram, answered) = (&queries[index].0, run.answers[index].is_some());
                match costs {
                    LabelCosts::DataDependent => {
                        VoteCost::of_moved_vote(Noise::Gaussian(plan.sigma), Some(&plan.test), histogram)
                            .in_both_directions(order)
                            .realized(answered)
                    }
                    LabelCosts::DataIndependent => {
                        order.get() / (2.0 * 40.0 * 40.0) + if answered { order.get() / (12.0 * 12.0) } else { 0.0 }
                    }
                }
            };
            for (labeling, budget) in run.labelings.iter().zip(&plan.budgets) {
                let asked = labeling.queries as usize;
                let least = plan.orders().iter().map(|&order| {
                    let rdp: f64 = (0..asked).map(|index| charge(index, order)).sum();
                    conversion.epsilon(rdp, order, budget.delta()).get()
                });
                let least = least.fold(f64::INFINITY, f64::min);
                assert!((labeling.epsilon.get() - least).abs() < 1e-9, "{} {least}", labeling.epsilon.get());
                assert!(labeling.epsilon <= budget.epsilon() && asked > 0);
                assert_eq!(labeling.labels, run.answers[..asked].iter().flatten().count() as u64);
            }
        }
    }

    #[test]
    fn queries_may_run_out() {
        let run = campaign(&queries(20), &plan(&[f64::INFINITY, 0.5]), 1).unwrap();
        assert_eq!((run.answers.len(), run.labelings[0].queries, run.labelings[0].exhausted), (20, 20, false));
        assert!(run.labelings[1].exhausted);
    }
}
