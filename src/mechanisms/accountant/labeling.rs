//! A labeling campaign: queries are answered until a budget is spent.

use super::budget::PrivacyBudget;
use crate::divergence::RdpCurve;
use crate::error::Result;
use crate::quantity::{Epsilon, Order};

/// The result of one query: its answer and the cost of that answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ChargedAnswer {
    /// The class, or `None` if the mechanism abstained.
    pub class: Option<usize>,
    /// The realized cost: of the test alone if it failed.
    pub cost: RdpCurve,
    /// The true class, if known.
    pub label: Option<usize>,
}

/// The outcome of a labeling campaign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Labeling {
    /// Queries asked, that is, charged to the budget.
    pub queries: u64,
    /// Queries answered with a class.
    pub labels: u64,
    /// Answers with a known true class.
    pub checked: u64,
    /// Answers that match their true class.
    pub correct: u64,
    /// ε of the spent part at the δ of the budget.
    pub epsilon: Epsilon,
    /// The order that gives it.
    pub order: Order,
    /// Whether a query was rejected because its cost would have exceeded the budget; otherwise the queries ran out.
    pub exhausted: bool,
}

impl Labeling {
    /// The share of queries that were answered; `None` before the first.
    #[must_use]
    pub fn success_rate(&self) -> Option<f64> {
        (self.queries > 0).then(|| self.labels as f64 / self.queries as f64)
    }

    /// The share of correct answers among those with a known true class.
    #[must_use]
    pub fn accuracy(&self) -> Option<f64> {
        (self.checked > 0).then(|| self.correct as f64 / self.checked as f64)
    }
}

/// Charges answers to a budget, in their order, until one would exceed it: that answer is not released.
///
/// If the costs are data-dependent, the stopping point depends on more of the votes than the released answers, as does
/// the reported ε: neither is private by itself.
///
/// # Errors
/// [`Error::Rejected`](crate::Error::Rejected) if a cost is on other orders than the budget.
///
/// ```
/// # use leakbound::accountant::{ChargedAnswer, PrivacyBudget, label_until_spent};
/// # use leakbound::divergence::{Conversion, order_grid};
/// # use leakbound::prelude::*;
/// let orders = order_grid();
/// let cost = RdpCurve::from_fn(&orders, |order| 0.01 * order.get());
/// let mut budget = PrivacyBudget::new(Epsilon::new(1.0)?, Delta::new(1e-5)?, Conversion::Classic, orders)?;
/// let answers = (0..100).map(|i| ChargedAnswer { class: (i % 2 == 0).then_some(3), cost: cost.clone(), label: Some(3) });
/// let labeling = label_until_spent(answers, &mut budget)?;
/// // 2 √(0.01 n ln 10⁵) + 0.01 n ≤ 1.
/// assert_eq!((labeling.queries, labeling.labels, labeling.exhausted), (2, 1, true));
/// assert_eq!(labeling.accuracy(), Some(1.0));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE"; Ihrig (2021), section 2.4.3.
pub fn label_until_spent(
    answers: impl IntoIterator<Item = ChargedAnswer>,
    budget: &mut PrivacyBudget,
) -> Result<Labeling> {
    let (mut queries, mut labels, mut checked, mut correct, mut exhausted) = (0, 0, 0, 0, false);
    for answer in answers {
        if !budget.spend(&answer.cost)? {
            exhausted = true;
            break;
        }
        queries += 1;
        let Some(class) = answer.class else { continue };
        labels += 1;
        if let Some(label) = answer.label {
            checked += 1;
            correct += u64::from(label == class);
        }
    }
    let (epsilon, order) = budget.spent();
    Ok(Labeling { queries, labels, checked, correct, epsilon, order, exhausted })
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::divergence::{Conversion, order_grid};
    use crate::quantity::Delta;

    /// Every query is charged; withheld answers and unknown labels are not counted as labels or as checked.
    #[test]
    fn what_was_answered_is_counted() {
        let orders = order_grid();
        let cost = RdpCurve::from_fn(&orders, |order| 1e-9 * order.get());
        let mut budget =
            PrivacyBudget::new(Epsilon::new(1.0).unwrap(), Delta::new(1e-5).unwrap(), Conversion::Improved, orders)
                .unwrap();
        let answer = |class, label| ChargedAnswer { class, cost: cost.clone(), label };
        let answers =
            [answer(Some(1), Some(1)), answer(None, Some(1)), answer(Some(2), Some(1)), answer(Some(0), None)];
        let labeling = label_until_spent(answers, &mut budget).unwrap();
        assert_eq!((labeling.queries, labeling.labels, labeling.exhausted), (4, 3, false));
        assert_eq!(labeling.accuracy(), Some(0.5));
        assert_eq!(labeling.success_rate(), Some(0.75));
    }

    #[test]
    fn without_known_labels_there_is_no_accuracy() {
        let orders = order_grid();
        let mut budget =
            PrivacyBudget::new(Epsilon::new(1.0).unwrap(), Delta::new(1e-5).unwrap(), Conversion::Improved, orders)
                .unwrap();
        let labeling = label_until_spent([], &mut budget).unwrap();
        assert_eq!((labeling.queries, labeling.accuracy(), labeling.success_rate()), (0, None, None));
    }
}
