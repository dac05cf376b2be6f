//! The labeling loop: recorded votes are answered with fresh noise until a budget is spent.

use super::curves::all_orders;
use super::meaning::BudgetRow;
use super::request::AccountStudy;
use crate::accountant::{ChargedAnswer, PrivacyBudget, VoteCost, label_until_spent};
use crate::divergence::{Conversion, RdpCurve};
use crate::error::Result;
use crate::mechanism::NoisyArgmax;
use crate::quantity::{Epsilon, Order};
use crate::record::RecordedQuery;
use crate::simulate::{Stream, StreamId, World, draw_confident_answer};
use crate::study::number::Number;

impl AccountStudy {
    /// One run for each budget. Query i has the random stream i of the seed, whatever the budget.
    pub(super) fn labeled(&self, mechanism: NoisyArgmax, queries: &[RecordedQuery]) -> Result<Vec<BudgetRow>> {
        let orders = all_orders(&self.orders);
        self.budgets.iter().map(|&budget| self.spend(mechanism, queries, &orders, budget)).collect()
    }

    fn spend(
        &self,
        mechanism: NoisyArgmax,
        queries: &[RecordedQuery],
        orders: &[Order],
        epsilon: Epsilon,
    ) -> Result<BudgetRow> {
        let mut budget = PrivacyBudget::new(epsilon, self.delta, self.conversion, orders.to_vec())?;
        let answers = queries.iter().enumerate().map(|(index, query)| {
            let mut stream =
                Stream::new(StreamId { seed: self.seed, query: index as u64, world: World::Dataset, block: 0 });
            let class = draw_confident_answer(&query.histogram, mechanism.test.as_ref(), mechanism.noise, &mut stream);
            // What happened, data-dependent: the test always, the argmax where it answered.
            let cost = VoteCost::of_moved_vote(mechanism.noise, mechanism.test.as_ref(), &query.histogram);
            let cost = RdpCurve::from_fn(orders, |order| cost.in_both_directions(order).realized(class.is_some()));
            ChargedAnswer { class, cost, label: query.label }
        });
        let labeling = label_until_spent(answers, &mut budget)?;
        Ok(BudgetRow {
            budget: epsilon.get(),
            delta: self.delta.get(),
            epsilon: Number(labeling.epsilon.get()),
            order: labeling.order.get(),
            queries: labeling.queries,
            labels: labeling.labels,
            success_rate: labeling.success_rate(),
            label_accuracy: labeling.accuracy(),
            exhausted: labeling.exhausted,
        })
    }
}

/// The name of a conversion with its source.
pub const fn conversion_words(conversion: Conversion) -> &'static str {
    match conversion {
        Conversion::Improved => "Balle et al. 2020, Theorem 21",
        Conversion::Classic => "Mironov 2017, Proposition 3",
    }
}
