//! The accountants that promise something about one pair of histograms.

use crate::command::args::ExactOptions;
use crate::report::{AccountantRow, Number};
use crate::{
    Adjacency, Noise, NoiseScale, Order, ThresholdForm, ThresholdTest, VoteHistogram, WorstCase, confident_gnmax_cost,
    confident_gnmax_data_independent, gaussian_rdp, gnmax_data_dependent, gnmax_data_independent,
    gnmax_worst_case_curve, laplace_rdp, lnmax_data_dependent, lnmax_data_independent, log_flip_probability,
    log_flip_probability_laplace, threshold_data_dependent, threshold_data_independent,
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
    let mut rows = Rows { orders: &options.orders.0, rows: Vec::new() };
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
            rows.add("gnmax-data-dependent", &|order| gnmax_data_dependent(order, sigma, log_q));
            rows.add("gnmax-data-independent", &|order| gnmax_data_independent(order, sigma));
            rows.add_worst_case("gnmax-worst-case", sigma, Adjacency::Moved, &|_| 0.0);
        }
        (Noise::Gaussian(sigma), None) => {
            rows.add("gaussian", &|order| gaussian_rdp(order, sigma, length));
            if let Some(adjacency) = adjacency {
                rows.add_worst_case("gnmax-worst-case", sigma, adjacency, &|_| 0.0);
            }
        }
        (Noise::Gaussian(sigma), Some(test)) if moved => {
            rows.add("confident-gnmax-data-dependent", &|order| {
                confident_gnmax_cost(order, test, sigma, votes).whole()
            });
            rows.add("confident-gnmax-data-independent", &|order| {
                confident_gnmax_data_independent(order, test.sigma(), sigma)
            });
            rows.add_worst_case("confident-gnmax-worst-case", sigma, Adjacency::Moved, &|order| {
                threshold_data_independent(order, test.sigma())
            });
        }
        (Noise::Gaussian(sigma), Some(test)) => {
            rows.add("confident-gaussian", &|order| threshold(order, test) + gaussian_rdp(order, sigma, length));
        }
        (Noise::Laplace(b), None) if moved => {
            let log_q = log_flip_probability_laplace(votes, b);
            rows.add("lnmax-data-dependent", &|order| lnmax_data_dependent(order, b, log_q));
            rows.add("lnmax-data-independent", &|order| lnmax_data_independent(order, b));
        }
        (Noise::Laplace(b), None) => rows.add("laplace", &|order| laplace(order, b)),
        (Noise::Laplace(b), Some(test)) if moved => {
            let (log_q, odds) = (log_flip_probability_laplace(votes, b), test.odds(votes));
            rows.add("confident-lnmax-data-dependent", &|order| {
                threshold_data_dependent(order, test.sigma(), odds.log_q()) + lnmax_data_dependent(order, b, log_q)
            });
            rows.add("confident-lnmax-data-independent", &|order| {
                threshold_data_independent(order, test.sigma()) + lnmax_data_independent(order, b)
            });
        }
        (Noise::Laplace(b), Some(test)) => {
            rows.add("confident-laplace", &|order| threshold(order, test) + laplace(order, b));
        }
    }
    rows.rows
}

/// What each accountant says at each order.
struct Rows<'a> {
    orders: &'a [Order],
    rows: Vec<AccountantRow>,
}

impl Rows<'_> {
    fn add(&mut self, name: &'static str, value: &dyn Fn(Order) -> f64) {
        let row = |&order: &Order| AccountantRow { name, order: order.get(), rdp: Number(value(order)) };
        self.rows.extend(self.orders.iter().map(row));
    }

    /// The worst case, of which all orders are found together, and what is spent besides.
    fn add_worst_case(
        &mut self,
        name: &'static str,
        sigma: NoiseScale,
        adjacency: Adjacency,
        besides: &dyn Fn(Order) -> f64,
    ) {
        let row = |worst: WorstCase| AccountantRow {
            name,
            order: worst.order.get(),
            rdp: Number(besides(worst.order) + worst.upper),
        };
        self.rows.extend(gnmax_worst_case_curve(self.orders, sigma, adjacency).into_iter().map(row));
    }
}
