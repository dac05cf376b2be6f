//! Table 2 of Chadha et al. (2024), with measured coverage in place of check marks.

use crate::audit_cases::{FAILURE, FIGURE_6, FIVE, plan};
use crate::coverage::allowed;
use crate::experiment::{Report, stream};
use crate::multinomial;
use leakbound::Result;
use leakbound::audit::{AuditPlan, Bounded, Guide, Method, SetSource, audit_counts};
use leakbound::bound::{Direction, Validity};
use leakbound::distribution::OutcomeDistribution;
use leakbound::divergence::renyi_divergence;
use leakbound::quantity::Order;
use rayon::prelude::*;

const ORDERS: [f64; 4] = [1.5, 2.0, 10.0, 64.0];
const AUDITS: u64 = 4000;
const RESAMPLES: usize = 400;
const SEED: u64 = 2;

/// Data of one column: both distributions and the outputs per world.
struct Setting {
    name: &'static str,
    distributions: [OutcomeDistribution; 2],
    samples: u64,
}

/// In how many audits a method was wrong: at order 2 alone, and at any of the orders.
#[derive(Clone, Copy, Default)]
struct Wrong {
    one: u64,
    any: u64,
}

/// Prints the table.
pub fn report() -> Report {
    let setting = format!(
        "Share of {AUDITS} simulated audits in which a bound at failure probability {FAILURE} is above the truth: at \
         order 2 alone, and at any of the orders {ORDERS:?}, forward, the distributions of the figure as guide; {RESAMPLES} \
         bootstrap resamples. `zero`: P = Q of figure 6, 1e4 outputs per world; `low`: {:?}, sigma {}, 1e5; `high`: figure \
         6, 1e4. An attack can be read off a 2-cut, which is a set of outputs. Methods labeled finite-sample must stay \
         below {FAILURE} + 3 standard errors",
        FIVE.votes, FIVE.sigma
    );
    Report::filled(setting, table)
}

fn table(report: &mut Report) -> Result<()> {
    let (six, five) = (FIGURE_6.distributions()?, FIVE.distributions()?);
    let settings = [
        Setting { name: "zero", distributions: [six[0].clone(), six[0].clone()], samples: 10_000 },
        Setting { name: "low", distributions: five, samples: 100_000 },
        Setting { name: "high", distributions: six.clone(), samples: 10_000 },
    ];
    let methods: Vec<Method> = Method::ALL.into_iter().filter(|method| method.bounds() == Bounded::Renyi).collect();
    // Equal distributions give no direction: the audit of `zero` looks where figure 6 leaks.
    let guides = [&six, &settings[1].distributions, &six];
    let mut columns = Vec::new();
    for (setting, guide) in settings.iter().zip(guides) {
        columns.push(wrong(setting, guide, &methods)?);
    }
    let names = settings.map(|setting| format!("{:>16}", setting.name)).concat();
    report.line(format!("      {:<20}{:<15}{:<8}{names}   (order 2/any order)", "method", "label", "attack"));
    for (place, method) in methods.iter().enumerate() {
        let share = |wrong: u64| wrong as f64 / AUDITS as f64;
        let cells = columns.iter().map(|column| {
            let Wrong { one, any } = column[place];
            format!("{:>16}", format!("{:.3}/{:.3}", share(one), share(any)))
        });
        let attack = if method.name().contains("two-cut") { "yes" } else { "no" };
        let cells = cells.collect::<String>();
        let line = format!("{:<20}{:<15}{attack:<8}{cells}", method.name(), method.validity().name());
        let rarely = || columns.iter().all(|column| column[place].any as f64 <= allowed(AUDITS));
        report.judged((method.validity() == Validity::FiniteSample).then(rarely), line);
    }
    Ok(())
}

fn wrong(setting: &Setting, [p0, q0]: &[OutcomeDistribution; 2], methods: &[Method]) -> Result<Vec<Wrong>> {
    let [p, q] = &setting.distributions;
    let orders = ORDERS.iter().map(|&a| Order::new(a)).collect::<Result<Vec<_>>>()?;
    let truth = orders.iter().map(|&order| renyi_divergence(p, q, order)).collect::<Result<Vec<_>>>()?;
    let guide = Guide::from_distributions(p0, q0, &orders, &[Direction::Forward], SetSource::ExactDistribution)?;
    let one = |seed: u64| -> Result<Vec<Wrong>> {
        let plan = plan(orders.clone(), methods.to_vec())?;
        let plan = AuditPlan { directions: vec![Direction::Forward], seed, resamples: RESAMPLES, ..plan };
        let counts = multinomial::paired(p, q, setting.samples, &mut stream(SEED, seed));
        let audit = audit_counts(&counts, &guide, &plan)?;
        Ok(methods
            .iter()
            .map(|&method| {
                let above = |place: usize| {
                    let bound = audit.rdp_bound(method, Direction::Forward, orders[place]);
                    !bound.is_some_and(|bound| bound.value <= truth[place])
                };
                Wrong { one: above(1).into(), any: (0..orders.len()).any(above).into() }
            })
            .collect())
    };
    let audits = (0..AUDITS).into_par_iter().map(one).collect::<Result<Vec<_>>>()?;
    let mut sums = vec![Wrong::default(); methods.len()];
    for audit in audits {
        for (sum, found) in sums.iter_mut().zip(audit) {
            *sum = Wrong { one: sum.one + found.one, any: sum.any + found.any };
        }
    }
    Ok(sums)
}
