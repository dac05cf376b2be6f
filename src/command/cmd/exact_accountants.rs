//! The accountants that promise something about one pair of histograms.

use crate::bound::outward::sum_up;
use crate::command::args::ExactOptions;
use crate::report::{AccountantRow, Number};
use crate::{
    Adjacency, Direction, Noise, NoiseScale, Order, ThresholdForm, ThresholdTest, VoteCost, VoteHistogram,
    argmax_data_independent, gaussian_rdp, gnmax_worst_case_curve, laplace_mechanism_rdp, threshold_data_independent,
};

/// Upper bounds of both directions.
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
    let laplace = |order: Order, b: NoiseScale| -> f64 {
        shifts.iter().map(|shift| laplace_mechanism_rdp(order, b, *shift)).fold(0.0, sum_up)
    };
    // The largest count moves by no more than the count that moves most; with noise per class the whole vector does.
    let threshold = |order: Order, test: &ThresholdTest| {
        let sensitivity = match test.form() {
            ThresholdForm::Max => shifts.iter().copied().fold(0.0, f64::max),
            ThresholdForm::PerClass => length,
        };
        gaussian_rdp(order, test.sigma(), sensitivity)
    };
    if moved {
        // Against the worst of all neighbors, or against the one that was given.
        let cost = match options.worst_neighbor {
            Some(_) => VoteCost::of_moved_vote(options.noise, test, votes),
            None => VoteCost::of_pair(options.noise, test, votes, neighbor),
        };
        let [dependent, independent] = match (options.noise, test) {
            (Noise::Gaussian(_), None) => ["gnmax-data-dependent", "gnmax-data-independent"],
            (Noise::Laplace(_), None) => ["lnmax-data-dependent", "lnmax-data-independent"],
            (Noise::Gaussian(_), Some(_)) => ["confident-gnmax-data-dependent", "confident-gnmax-data-independent"],
            (Noise::Laplace(_), Some(_)) => ["confident-lnmax-data-dependent", "confident-lnmax-data-independent"],
        };
        rows.add(dependent, &|order, direction| cost.at(order, direction).whole());
        rows.add(independent, &|order, _| argmax_data_independent(options.noise, test, order));
    }
    match (options.noise, test) {
        (Noise::Gaussian(sigma), None) if moved => {
            rows.add_worst_case("gnmax-worst-case", sigma, Adjacency::Moved, &|_| 0.0);
        }
        (Noise::Gaussian(sigma), Some(test)) if moved => {
            rows.add_worst_case("confident-gnmax-worst-case", sigma, Adjacency::Moved, &|order| {
                threshold_data_independent(order, test.sigma())
            });
        }
        (Noise::Laplace(_), _) if moved => {}
        (Noise::Gaussian(sigma), None) => {
            rows.add("gaussian", &|order, _| gaussian_rdp(order, sigma, length));
            if let Some(adjacency) = adjacency {
                rows.add_worst_case("gnmax-worst-case", sigma, adjacency, &|_| 0.0);
            }
        }
        (Noise::Gaussian(sigma), Some(test)) => {
            rows.add("confident-gaussian", &|order, _| {
                sum_up(threshold(order, test), gaussian_rdp(order, sigma, length))
            });
        }
        (Noise::Laplace(b), None) => rows.add("laplace", &|order, _| laplace(order, b)),
        (Noise::Laplace(b), Some(test)) => {
            rows.add("confident-laplace", &|order, _| sum_up(threshold(order, test), laplace(order, b)));
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
    fn add(&mut self, name: &'static str, value: &dyn Fn(Order, Direction) -> f64) {
        let row = |order: Order, direction| AccountantRow {
            name,
            order: order.get(),
            direction,
            rdp: Number(value(order, direction)),
        };
        let both = |&order: &Order| Direction::BOTH.map(|direction| row(order, direction));
        self.rows.extend(self.orders.iter().flat_map(both));
    }

    /// The worst case, of which all orders are found together, and what is spent besides.
    fn add_worst_case(
        &mut self,
        name: &'static str,
        sigma: NoiseScale,
        adjacency: Adjacency,
        besides: &dyn Fn(Order) -> f64,
    ) {
        let worst = gnmax_worst_case_curve(self.orders, sigma, adjacency);
        self.add(name, &|order, _| {
            let found = worst.iter().find(|worst| worst.order == order);
            found.map_or(f64::INFINITY, |worst| sum_up(besides(order), worst.upper))
        });
    }
}
