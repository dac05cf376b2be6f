//! The release f(D) + SS(D) N(0, σ²) of one pair of datasets: two normal laws of different widths, cut into bins.
//!
//! What the pair may be is what smooth sensitivity allows: widths w = SS(D), w' = SS(D') with |ln w'/w| ≤ β, and a step
//! |f(D) - f(D')| of at most the smaller, because either bounds the change of f from its dataset to a neighbor (Nissim,
//! Raskhodnikova and Smith 2007, Definition 2.2). Every such pair occurs for some f.
//!
//! In units of σ w the laws are N(0, 1) and N(m, r²) with r = w'/w. p^α q^{1-α} is a normal density again, of precision
//! α + (1-α)/r², with its peak where it says; the divergence is finite only where that is positive (Gil, Alajaji and Linder
//! 2013). Bins lie where these densities do, and reach far out where there is none. Cutting is post-processing: what is
//! computed is at most the truth.

use super::printed_count::{BINS, normal_bins};
use super::request::Mechanism;
use crate::error::{Error, Result};
use crate::law::OutcomeLaw;
use crate::quantity::{NoiseScale, Order};

/// Standard deviations on each side of a peak.
const REACH: f64 = 9.0;
/// A peak farther out is none.
const FARTHEST: f64 = 1e6;
/// Where there is no peak, each edge is farther out than the last by this, up to the last.
const GROWTH: f64 = 1.06;
const LAST: f64 = 1e4;
/// Edges that are closer than this, in units of the first law, hold nothing between them.
const CLOSE: f64 = 0.02;
/// What rounding may take from a width at the edge of what is allowed.
const ROUNDING: f64 = 1e-12;

/// Refuses a step or widths that no function and no dataset have.
pub(super) fn check(beta: f64, step: f64, width: NoiseScale, neighbor_width: NoiseScale) -> Result<()> {
    let refuse = |reason: String| Err(Error::Refused { operation: "case", reason });
    let (width, neighbor_width) = (width.get(), neighbor_width.get());
    if !(0.0..f64::INFINITY).contains(&beta) {
        return refuse(format!("beta = {beta} is not in [0, inf)"));
    }
    if !((neighbor_width / width).ln().abs() <= beta + ROUNDING) {
        return refuse(format!("widths {width} and {neighbor_width} differ by a factor of more than e^{beta}"));
    }
    let most = width.min(neighbor_width);
    if !(step >= 0.0 && step <= most * (1.0 + ROUNDING)) {
        return refuse(format!("step = {step} is not in [0, {most}], the smaller width"));
    }
    Ok(())
}

/// The laws of both outputs in bins that resolve D_α at `order` in both directions.
pub(super) fn laws(mechanism: &Mechanism, order: Option<Order>, bins: usize) -> Result<[OutcomeLaw; 2]> {
    let Mechanism::Gnss { sigma, beta, step, width, neighbor_width } = *mechanism else {
        return Err(Error::Refused { operation: "case", reason: "no GNSS release".into() });
    };
    check(beta, step, width, neighbor_width)?;
    // What rounding put beyond the edge is taken back.
    let ratio = (neighbor_width.get() / width.get()).clamp(libm::exp(-beta), libm::exp(beta));
    let mean = (step / width.get()).min(ratio).min(1.0) / sigma.get();
    let edges = edges(mean, ratio, order.map_or(1.0, Order::get), bins)?;
    let seen: Vec<f64> = edges.iter().map(|edge| (edge - mean) / ratio).collect();
    Ok([OutcomeLaw::from_integrals(&normal_bins(&edges, 0.0))?, OutcomeLaw::from_integrals(&normal_bins(&seen, 0.0))?])
}

/// Edges around the peaks of both laws and of p^α q^{1-α} in both directions.
fn edges(mean: f64, ratio: f64, a: f64, bins: usize) -> Result<Vec<f64>> {
    let precision = ratio.powi(-2);
    let mut all = vec![0.0, mean];
    // (precision, precision times peak)
    let peaks = [
        (1.0, 0.0),
        (precision, precision * mean),
        (a + (1.0 - a) * precision, (1.0 - a) * precision * mean),
        (1.0 - a + a * precision, a * precision * mean),
    ];
    for (precision, weighted) in peaks {
        let (peak, width) = (weighted / precision, precision.sqrt().recip());
        if precision > 0.0 && peak.abs() + REACH * width < FARTHEST {
            let step = 2.0 * REACH / bins as f64;
            all.extend((0..=bins).map(|i| peak + width * (step * i as f64 - REACH)));
        } else {
            let far = std::iter::successors(Some(REACH), |edge| Some(edge * GROWTH)).take_while(|edge| *edge < LAST);
            // Fewer where the others are fewer.
            let far: Vec<f64> = far.step_by(BINS.div_ceil(bins.max(1))).collect();
            all.extend(far.iter().flat_map(|edge| [mean - edge, mean + edge]));
        }
    }
    if let Some(&value) = all.iter().find(|edge| !(edge.abs() < 1e8)) {
        return Err(Error::Domain { quantity: "place of a bin", value, domain: "(-1e8, 1e8)" });
    }
    all.sort_by(f64::total_cmp);
    let mut last = f64::NEG_INFINITY;
    all.retain(|&edge| {
        let keep = edge - last > CLOSE;
        if keep {
            last = edge;
        }
        keep
    });
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::super::catalog::accountant_of_name;
    use super::super::request::Case;
    use super::super::run::{Plan, Problem, Verdict, verify};
    use super::*;
    use crate::accountant::gnss_rdp;
    use crate::divergence::{hockey_stick, renyi_divergence};
    use crate::quantity::Epsilon;

    fn pair(sigma: f64, beta: f64, side: f64, share: f64) -> Mechanism {
        let scale = |value: f64| NoiseScale::new(value).unwrap();
        let ratio = libm::exp(side * beta);
        let step = 3.0 * share * ratio.min(1.0);
        Mechanism::Gnss { sigma: scale(sigma), beta, step, width: scale(3.0), neighbor_width: scale(3.0 * ratio) }
    }

    /// D_α(N(0, 1) ‖ N(m, r²)) by Gil, Alajaji and Linder (2013), Table 2.
    fn closed_form(a: f64, m: f64, r: f64) -> f64 {
        let mixed = (1.0 - a) + a * r * r;
        if mixed <= 0.0 {
            return f64::INFINITY;
        }
        0.5 * a * m * m / mixed + (0.5 * mixed.ln() - a * r.ln()) / (1.0 - a)
    }

    #[test]
    fn binned_divergences_are_just_below_those_of_normal_laws() {
        let mut least: f64 = 1.0;
        for (sigma, beta) in [(5.0, 0.02), (1.0, 0.3), (0.2, 0.05), (300.0, 1e-3), (40.0, 0.0)] {
            for (side, share) in [(-1.0, 1.0), (1.0, 1.0), (0.5, 0.0), (0.0, 1.0)] {
                let mechanism = pair(sigma, beta, side, share);
                let (r, m) = (libm::exp(side * beta), share * libm::exp(side * beta).min(1.0) / sigma);
                for a in [1.001, 1.5, 2.0, 8.0, 20.0, 300.0] {
                    let order = Order::new(a).unwrap();
                    let [p, q] = laws(&mechanism, Some(order), BINS).unwrap();
                    for (p, q, truth) in [(&p, &q, closed_form(a, m, r)), (&q, &p, closed_form(a, m / r, 1.0 / r))] {
                        let found = renyi_divergence(p, q, order).unwrap();
                        assert!(found <= truth * (1.0 + 1e-9) + 1e-15, "{mechanism:?} {a}: {found} {truth}");
                        let bound = gnss_rdp(order, beta, NoiseScale::new(sigma).unwrap());
                        assert!(found <= bound * (1.0 + 1e-9) + 1e-15, "{mechanism:?} {a}: {found} {bound}");
                        if truth == f64::INFINITY {
                            assert!(found > 1e3, "{mechanism:?} {a}: {found}");
                        } else if truth > 1e-12 {
                            least = least.min(found / truth);
                            assert!(found >= 0.9 * truth, "{mechanism:?} {a}: {found} {truth}");
                        }
                    }
                }
            }
        }
        println!("{least}");
    }

    /// ∫ max(0, p - e^ε q) by the midpoint rule.
    #[test]
    fn binned_profiles_are_just_below_those_of_normal_laws() {
        for (sigma, beta, side, epsilon) in [(1.0, 0.3, -1.0, 0.5), (5.0, 0.02, 1.0, 0.1), (2.0, 0.5, 1.0, 0.0)] {
            let (r, m) = (libm::exp(side * beta), libm::exp(side * beta).min(1.0) / sigma);
            let [p, q] = laws(&pair(sigma, beta, side, 1.0), None, BINS).unwrap();
            let density = |x: f64, s: f64| libm::exp(-0.5 * x * x / s / s) / s / (2.0 * std::f64::consts::PI).sqrt();
            let excess = |x: f64| (density(x, 1.0) - libm::exp(epsilon) * density(x - m, r)).max(0.0);
            let truth: f64 = (-100_000..100_000).map(|i| 1e-4 * excess(1e-4 * (f64::from(i) + 0.5))).sum();
            let found = hockey_stick(&p, &q, Epsilon::new(epsilon).unwrap()).unwrap();
            assert!(found <= truth * (1.0 + 1e-6) && found >= 0.98 * truth, "{sigma} {beta}: {found} {truth}");
        }
    }

    #[test]
    fn pairs_that_smooth_sensitivity_excludes_are_no_case() {
        let read = |step: &str, width: &str| {
            let text = format!(
                r#"{{"mechanism":"gnss","sigma":5,"beta":0.02,"step":{step},"width":1,"neighbor_width":{width},"histogram":[0],"order":20}}"#
            );
            Case::from_json(&text).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(read("0.98", "0.9802"), Ok(()));
        assert_eq!(read("1", "1"), Ok(()));
        assert!(read("1.1", "1").unwrap_err().contains("step = 1.1 is not in [0, 1], the smaller width"));
        assert!(read("-1", "1").is_err());
        assert!(read("0.5", "0.9").unwrap_err().contains("differ by a factor of more than e^0.02"));
        assert!(read("0.5", "0").is_err());
    }

    /// The pair at which the formula of the literature fails, and the one that holds does not.
    #[test]
    fn the_published_formula_is_refuted_where_it_is_too_small() {
        let text = r#"{"mechanism":"gnss","sigma":5,"beta":0.02,"step":0.98,"width":1,"neighbor_width":0.981,"histogram":[0],"order":20}"#;
        let plan = Plan { case: Some(Case::from_json(text).unwrap()), ..Plan::default() };
        let right = verify(&*accountant_of_name("gnss").unwrap(), &plan, &|_| ());
        assert!(!right.refuted(), "{right:?}");
        let wrong = verify(&*accountant_of_name("broken:gnss-as-published").unwrap(), &plan, &|_| ());
        let finding = wrong.of("rdp-covers-exact").unwrap();
        let Verdict::Refuted(found) = &finding.verdict else { panic!("{finding:?}") };
        let Problem::Violation(violation) = &found.problem else { panic!("{found:?}") };
        assert!((violation.claim - 0.896_054_880_207_439_5).abs() < 1e-12 && violation.limit > 1.0, "{violation:?}");
    }
}
