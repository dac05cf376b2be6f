//! Releases in their order until a privacy filter stops them.

use super::meaning::FilterRow;
use super::releases::Costs;
use super::request::AccountStudy;
use crate::accountant::PrivacyFilter;
use crate::bound::outward::{product_up, sum_up};
use crate::divergence::RdpCurve;
use crate::error::Result;
use crate::quantity::{Epsilon, Order};
use crate::record::{ComposedReleases, ReleasePart};
use crate::study::number::Number;

/// A part with its cost at each order.
struct Costed {
    /// Of one time.
    values: Vec<f64>,
    times: u64,
    /// Releases in one time.
    count: u64,
    /// What one time consists of; empty if it passes as a whole or not at all.
    parts: Vec<Costed>,
}

impl Costed {
    fn new(part: &ReleasePart, costs: &Costs) -> Result<Self> {
        let bundle = match part {
            ReleasePart::Release(release) => {
                return Ok(Self {
                    values: costs.of(release).to_vec(),
                    times: release.times,
                    count: 1,
                    parts: Vec::new(),
                });
            }
            ReleasePart::Bundle(bundle) => bundle,
        };
        let parts: Vec<Self> = bundle.parts.iter().map(|part| Self::new(part, costs)).collect::<Result<_>>()?;
        let mut values = vec![0.0; costs.orders().len()];
        for part in &parts {
            let times = part.times as f64;
            values.iter_mut().zip(&part.values).for_each(|(sum, value)| *sum = sum_up(*sum, product_up(times, *value)));
        }
        let Some(runs) = bundle.select else {
            let count = parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.times.saturating_mul(part.count)));
            return Ok(Self { values, times: bundle.times, count, parts });
        };
        let values = runs.best_of(&RdpCurve::new(costs.orders().to_vec(), values)?).values().to_vec();
        Ok(Self { values, times: bundle.times, count: 1, parts: Vec::new() })
    }
}

/// What passed at one order.
#[derive(Debug, Clone, Copy)]
struct Passed {
    spent: f64,
    budget: f64,
    releases: u64,
    stopped: bool,
}

impl Passed {
    /// Lets as much of a part pass as fits, and stops at the first thing that does not.
    fn add(&mut self, part: &Costed, order: usize) {
        if self.stopped {
            return;
        }
        let cost = part.values[order];
        let after =
            |times: u64| if times == 0 { self.spent } else { sum_up(self.spent, product_up(times as f64, cost)) };
        let fits = |times: u64| after(times) <= self.budget || cost == 0.0;
        let (mut low, mut high) = (0, part.times);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if fits(middle) { low = middle } else { high = middle - 1 }
        }
        self.spent = after(low);
        self.releases = self.releases.saturating_add(low.saturating_mul(part.count));
        if low < part.times {
            for part in &part.parts {
                self.add(part, order);
            }
            self.stopped = true;
        }
    }
}

impl AccountStudy {
    /// One row for each budget. A filter has one order, fixed before any output: the one at which most releases of the
    /// file pass, which depends on no output.
    pub(super) fn filtered(&self, composition: &ComposedReleases, costs: &Costs) -> Result<Vec<FilterRow>> {
        if self.budgets.is_empty() {
            return Ok(Vec::new());
        }
        let parts: Vec<Costed> =
            composition.parts.iter().map(|part| Costed::new(part, costs)).collect::<Result<_>>()?;
        self.budgets.iter().map(|&budget| self.filter(&parts, costs.orders(), budget)).collect()
    }

    fn filter(&self, parts: &[Costed], orders: &[Order], epsilon: Epsilon) -> Result<FilterRow> {
        let mut best: Option<FilterRow> = None;
        for (index, &order) in orders.iter().enumerate() {
            let filter = PrivacyFilter::new(epsilon, self.delta, self.conversion, &[order])?;
            let budget = filter.budgets().values()[0];
            let mut passed = Passed { spent: 0.0, budget, releases: 0, stopped: false };
            parts.iter().for_each(|part| passed.add(part, index));
            let spent =
                if passed.spent == 0.0 { 0.0 } else { self.conversion.epsilon(passed.spent, order, self.delta).get() };
            let row = FilterRow {
                budget: epsilon.get(),
                delta: self.delta.get(),
                order: order.get(),
                rdp: Number(budget),
                releases: passed.releases,
                epsilon: Number(spent),
                exhausted: passed.stopped,
            };
            let better = |best: &FilterRow| (row.releases, -spent) > (best.releases, -best.epsilon.0);
            if best.as_ref().is_none_or(better) {
                best = Some(row);
            }
        }
        best.ok_or_else(|| crate::Error::Length { quantity: "orders", found: 0, expected: "at least 1".into() })
    }
}
