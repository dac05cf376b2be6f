//! The labelling loop: recorded votes are answered with fresh noise until a budget is spent.

use super::account_curves::{Mechanism, all_orders};
use crate::args::AccountOptions;
use leakbound::record::RecordedQuery;
use leakbound::report::{BudgetRow, Number};
use leakbound::{
    Answer, Conversion, Epsilon, Noise, Order, PrivacyBudget, RdpCurve, Result, Stream, StreamId, World,
    confident_gnmax_cost, draw_confident_answer, gnmax_data_dependent, label_until_spent, lnmax_data_dependent,
    log_flip_probability, log_flip_probability_laplace, threshold_data_dependent,
};

/// One run for each budget. Query i has the random stream i of the seed, whatever the budget.
pub fn budgets(
    mechanism: Mechanism,
    queries: &[RecordedQuery],
    options: &AccountOptions,
    seed: u64,
) -> Result<Vec<BudgetRow>> {
    let Some(budgets) = &options.budget else { return Ok(Vec::new()) };
    let orders = all_orders(&options.orders.0);
    budgets.0.iter().map(|&budget| spend(mechanism, queries, options, &orders, budget, seed)).collect()
}

fn spend(
    mechanism: Mechanism,
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
        Answer { class, cost: cost(mechanism, query, orders, class.is_some()), label: query.label }
    });
    let labelling = label_until_spent(answers, &mut budget)?;
    Ok(BudgetRow {
        budget: epsilon.get(),
        delta: options.delta.get(),
        epsilon: Number(labelling.epsilon.get()),
        order: labelling.order.get(),
        queries: labelling.queries,
        labels: labelling.labels,
        success_rate: labelling.success_rate(),
        label_accuracy: labelling.accuracy(),
        exhausted: labelling.exhausted,
    })
}

/// What happened, data-dependent: the test always, the argmax where it answered.
fn cost(mechanism: Mechanism, query: &RecordedQuery, orders: &[Order], answered: bool) -> RdpCurve {
    let votes = &query.histogram;
    match (mechanism.noise, mechanism.test) {
        (Noise::Gaussian(sigma), Some(test)) => {
            RdpCurve::from_fn(orders, |order| confident_gnmax_cost(order, &test, sigma, votes).realized(answered))
        }
        (Noise::Gaussian(sigma), None) => {
            let log_q = log_flip_probability(votes, sigma);
            RdpCurve::from_fn(orders, |order| gnmax_data_dependent(order, sigma, log_q))
        }
        (Noise::Laplace(b), test) => {
            let log_q = log_flip_probability_laplace(votes, b);
            let odds = test.map(|test| (test.sigma(), test.odds(votes).log_q()));
            RdpCurve::from_fn(orders, |order| {
                let threshold = odds.map_or(0.0, |(sigma, log_q)| threshold_data_dependent(order, sigma, log_q));
                threshold + if answered { lnmax_data_dependent(order, b, log_q) } else { 0.0 }
            })
        }
    }
}

/// The name of a conversion with its source.
pub const fn conversion_words(conversion: Conversion) -> &'static str {
    match conversion {
        Conversion::Improved => "Balle et al. 2020, Theorem 21",
        Conversion::Classic => "Mironov 2017, Proposition 3",
    }
}
