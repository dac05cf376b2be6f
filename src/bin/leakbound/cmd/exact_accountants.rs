//! The accountants that promise something about one pair of histograms.

use crate::args::ExactOptions;
use leakbound::report::{AccountantRow, Number};
use leakbound::{
    Adjacency, Noise, NoiseScale, Order, ThresholdForm, ThresholdTest, VoteHistogram, confident_gnmax_cost,
    confident_gnmax_data_independent, gaussian_rdp, gnmax_data_dependent, gnmax_data_independent, gnmax_worst_case,
    laplace_rdp, lnmax_data_dependent, lnmax_data_independent, log_flip_probability, log_flip_probability_laplace,
    threshold_data_dependent, threshold_data_independent,
};

pub fn accountants(
    options: &ExactOptions,
    test: Option<&ThresholdTest>,
    neighbor: &VoteHistogram,
) -> Vec<AccountantRow> {
    let votes = &options.histogram;
    let adjacency = options.worst_neighbor.or_else(|| votes.adjacency_to(neighbor));
    let moved = adjacency == Some(Adjacency::Moved);
    let pairs = votes.counts().iter().zip(neighbor.counts());
    let shifts: Vec<f64> = pairs.map(|(&a, &b)| a.abs_diff(b) as f64).filter(|shift| *shift > 0.0).collect();
    let mut rows = Vec::new();
    let mut add = |name: &'static str, value: &dyn Fn(Order) -> f64| {
        rows.extend(options.orders.0.iter().map(|&order| AccountantRow {
            name,
            order: order.get(),
            rdp: Number(value(order)),
        }));
    };
    let length = shifts.iter().map(|shift| shift * shift).sum::<f64>().sqrt();
    // A count that changes by more than a vote is a count with less noise.
    let laplace = |order: Order, b: NoiseScale| -> f64 {
        let scaled = |shift: &f64| NoiseScale::new(b.get() / shift).map_or(f64::INFINITY, |b| laplace_rdp(order, b));
        shifts.iter().map(scaled).sum()
    };
    // The largest count moves by no more than the count that moves most; with noise per class the whole vector does.
    let threshold = |order: Order, test: &ThresholdTest| {
        let sensitivity = match test.form() {
            ThresholdForm::Max => shifts.iter().copied().fold(0.0, f64::max),
            ThresholdForm::PerClass => length,
        };
        gaussian_rdp(order, test.sigma(), sensitivity)
    };
    match (options.noise, test) {
        (Noise::Gaussian(sigma), None) if moved => {
            let log_q = log_flip_probability(votes, sigma);
            add("gnmax-data-dependent", &|order| gnmax_data_dependent(order, sigma, log_q));
            add("gnmax-data-independent", &|order| gnmax_data_independent(order, sigma));
            add("gnmax-worst-case", &|order| gnmax_worst_case(order, sigma, Adjacency::Moved).upper);
        }
        (Noise::Gaussian(sigma), None) => {
            add("gaussian", &|order| gaussian_rdp(order, sigma, length));
            if let Some(adjacency) = adjacency {
                add("gnmax-worst-case", &|order| gnmax_worst_case(order, sigma, adjacency).upper);
            }
        }
        (Noise::Gaussian(sigma), Some(test)) if moved => {
            add("confident-gnmax-data-dependent", &|order| confident_gnmax_cost(order, test, sigma, votes).whole());
            add("confident-gnmax-data-independent", &|order| {
                confident_gnmax_data_independent(order, test.sigma(), sigma)
            });
            add("confident-gnmax-worst-case", &|order| {
                threshold_data_independent(order, test.sigma()) + gnmax_worst_case(order, sigma, Adjacency::Moved).upper
            });
        }
        (Noise::Gaussian(sigma), Some(test)) => {
            add("confident-gaussian", &|order| threshold(order, test) + gaussian_rdp(order, sigma, length));
        }
        (Noise::Laplace(b), None) if moved => {
            let log_q = log_flip_probability_laplace(votes, b);
            add("lnmax-data-dependent", &|order| lnmax_data_dependent(order, b, log_q));
            add("lnmax-data-independent", &|order| lnmax_data_independent(order, b));
        }
        (Noise::Laplace(b), None) => add("laplace", &|order| laplace(order, b)),
        (Noise::Laplace(b), Some(test)) if moved => {
            let (log_q, odds) = (log_flip_probability_laplace(votes, b), test.odds(votes));
            add("confident-lnmax-data-dependent", &|order| {
                threshold_data_dependent(order, test.sigma(), odds.log_q()) + lnmax_data_dependent(order, b, log_q)
            });
            add("confident-lnmax-data-independent", &|order| {
                threshold_data_independent(order, test.sigma()) + lnmax_data_independent(order, b)
            });
        }
        (Noise::Laplace(b), Some(test)) => {
            add("confident-laplace", &|order| threshold(order, test) + laplace(order, b));
        }
    }
    rows
}
