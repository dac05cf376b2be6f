//! The findings on PromptPATE of Chadha et al. (2024), sections 5.4 and E.3, against the table. What is proved is a
//! claim; a finding agrees or differs by a band that stands beside it.

use crate::experiment::Report;
use crate::private_prediction::figures::{Row, SHOWN};

const LOWER: usize = 0;
const DISTRIBUTION: usize = 1;
const DEPENDENT: usize = 2;
const INDEPENDENT: usize = 3;
/// Queries that are asked once each.
const QUERIES: f64 = super::QUERIES as f64;

/// A tight audit proves this share of the ε of the distribution.
const TIGHT: f64 = 0.9;
/// Nearly maximal leakage is this share of the worst case of the accountant.
const MAXIMAL: f64 = 0.5;

/// A finding, whether it holds here, and the figures that say so.
type Finding = (&'static str, bool, String);

pub fn judge(report: &mut Report, rows: &[Row]) {
    report.line("");
    let above = |curve: usize| {
        let exceeds = |row: &Row, place: usize| {
            let pair = row.rdp(DISTRIBUTION, place).zip(row.rdp(curve, place));
            pair.is_none_or(|(distribution, upper)| distribution > upper * (1.0 + 1e-9))
        };
        rows.iter().map(|row| (0..SHOWN.len()).filter(|&place| exceeds(row, place)).count()).sum::<usize>()
    };
    report.claim(
        above(DEPENDENT) + above(INDEPENDENT) == 0,
        "every distribution lies below its accountants, data-dependent and data-independent, at both orders",
    );
    let lower = |row: &&Row| (0..SHOWN.len()).any(|place| row.rdp(LOWER, place) > row.rdp(DISTRIBUTION, place));
    let wrong = rows.iter().filter(lower).count();
    // 5 % for each of six rows: more than two are wrong by chance with probability 2e-3.
    report.claim(wrong <= 2, format!("{wrong} of {} lower bounds lie above the distribution", rows.len()));
    report.line("");
    for (paper, holds, figures) in findings(rows) {
        report.line(format!("{}  {paper} ({figures})", if holds { "AGREES " } else { "DIFFERS" }));
    }
    report.line("");
    for row in rows.iter().filter(|row| is_natural(row)) {
        let share = 100.0 * row.largest / (row.mean * QUERIES);
        report.line(format!("{}: one query leaks {share:.0} % of what all {QUERIES} leak", row.adversary));
    }
    report.line(
        "a vote that moves counts where two classes are close. Where nearly all teachers agree a teacher that is changed \
         for good leaks next to nothing, and the votes of its many other answers move to classes that no noise makes \
         the first; the unconfident query is itself the closest of all, and asked too",
    );
}

fn is_natural(row: &Row) -> bool {
    row.adversary.starts_with("pois-natq")
}

fn findings(rows: &[Row]) -> Vec<Finding> {
    let epsilons = |curve: usize, choose: &dyn Fn(&Row) -> bool| -> Vec<f64> {
        rows.iter().filter(|row| choose(row)).map(|row| row.epsilon[curve].unwrap_or(f64::NAN)).collect()
    };
    let chosen = |row: &Row| !is_natural(row);
    let ratios = |of: usize, to: usize, choose: &dyn Fn(&Row) -> bool| -> Vec<f64> {
        epsilons(of, choose).iter().zip(epsilons(to, choose)).map(|(of, to)| of / to).collect()
    };
    let (advq, natq) = (epsilons(DISTRIBUTION, &chosen), epsilons(DISTRIBUTION, &is_natural));
    let prompts =
        epsilons(DISTRIBUTION, &|row| row.adversary.contains("all same") || row.adversary.contains("mapping"));
    let queries = epsilons(DISTRIBUTION, &|row| row.adversary.contains("confident"));
    let audits = [ratios(LOWER, DISTRIBUTION, &chosen), ratios(LOWER, DISTRIBUTION, &is_natural)];
    let worst = ratios(DISTRIBUTION, INDEPENDENT, &chosen);
    let dependent = ratios(DISTRIBUTION, DEPENDENT, &|_| true);
    let theory = [epsilons(DEPENDENT, &chosen), epsilons(DEPENDENT, &is_natural)];
    vec![
        (
            "audits of adversarial queries are tight: they prove at least 0.9 of the distribution's epsilon",
            least(&audits[0]) >= TIGHT,
            format!("shares {}", shown(&audits[0])),
        ),
        (
            "adversarial queries leak nearly maximally: at least half of the data-independent epsilon",
            least(&worst) >= MAXIMAL,
            format!("shares {}", shown(&worst)),
        ),
        (
            "both adversarial queries leak alike, within a factor of 1.25",
            most(&advq) <= 1.25 * least(&advq),
            format!("epsilon {}", shown(&advq)),
        ),
        (
            "natural queries leak less than adversarial ones: the best of four below the lesser of two",
            most(&natq) < least(&advq),
            format!("epsilon {} against {}", shown(&natq), shown(&advq)),
        ),
        (
            "the theory of natural queries is lower too: data-dependent epsilon below that of adversarial ones",
            most(&theory[1]) < least(&theory[0]),
            format!("epsilon {} against {}", shown(&theory[1]), shown(&theory[0])),
        ),
        (
            "audits of natural queries prove less of the distribution's epsilon than those of adversarial ones",
            most(&audits[1]) < least(&audits[0]),
            format!("shares {} against {}", shown(&audits[1]), shown(&audits[0])),
        ),
        (
            "prompts that change a teacher for good (all same, mapping) leak more than one mislabeled query",
            least(&prompts) > most(&queries),
            format!("epsilon {} against {}", shown(&prompts), shown(&queries)),
        ),
        (
            "the distribution lies below the data-dependent theory, for every adversary",
            most(&dependent) < 1.0,
            format!("shares {}", shown(&dependent)),
        ),
    ]
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn shown(values: &[f64]) -> String {
    values.iter().map(|value| format!("{value:.3}")).collect::<Vec<_>>().join(", ")
}
