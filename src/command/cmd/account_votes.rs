//! The labeling loop: recorded votes are answered with fresh noise until a budget is spent.

use super::account_curves::all_orders;
use crate::command::args::AccountOptions;
use crate::record::RecordedQuery;
use crate::report::{BudgetRow, Number};
use crate::{
    Answer, Conversion, Epsilon, NoisyArgmax, Order, PrivacyBudget, RdpCurve, Result, Stream, StreamId, VoteCost,
    World, draw_confident_answer, label_until_spent,
};

/// One run for each budget. Query i has the random stream i of the seed, whatever the budget.
pub fn budgets(
    mechanism: NoisyArgmax,
    queries: &[RecordedQuery],
    options: &AccountOptions,
    seed: u64,
) -> Result<Vec<BudgetRow>> {
    let Some(budgets) = &options.budget else { return Ok(Vec::new()) };
    let orders = all_orders(&options.orders.0);
    budgets.0.iter().map(|&budget| spend(mechanism, queries, options, &orders, budget, seed)).collect()
}

fn spend(
    mechanism: NoisyArgmax,
    queries: &[RecordedQuery],
    options: &AccountOptions,
    orders: &[Order],
    epsilon: Epsilon,
    seed: u64,
) -> Result<BudgetRow> {
    let mut budget = PrivacyBudget::new(epsilon, options.delta, options.conversion, orders.to_vec())?;
    let answers = queries.iter().enumerate().map(|(index, query)| {
        let mut stream = Stream::new(StreamId { seed, query: index as u64, world: World::Dataset, block: 0 });
        let class = draw_confident_answer(&query.histogram, mechanism.test.as_ref(), mechanism.noise, &mut stream);
        // What happened, data-dependent: the test always, the argmax where it answered.
        let cost = VoteCost::of_moved_vote(mechanism.noise, mechanism.test.as_ref(), &query.histogram);
        let cost = RdpCurve::from_fn(orders, |order| cost.in_both_directions(order).realized(class.is_some()));
        Answer { class, cost, label: query.label }
    });
    let labeling = label_until_spent(answers, &mut budget)?;
    Ok(BudgetRow {
        budget: epsilon.get(),
        delta: options.delta.get(),
        epsilon: Number(labeling.epsilon.get()),
        order: labeling.order.get(),
        queries: labeling.queries,
        labels: labeling.labels,
        success_rate: labeling.success_rate(),
        label_accuracy: labeling.accuracy(),
        exhausted: labeling.exhausted,
    })
}

/// The name of a conversion with its source.
pub const fn conversion_words(conversion: Conversion) -> &'static str {
    match conversion {
        Conversion::Improved => "Balle et al. 2020, Theorem 21",
        Conversion::Classic => "Mironov 2017, Proposition 3",
    }
}
