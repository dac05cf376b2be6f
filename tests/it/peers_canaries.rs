//! Values that other tools print about canaries and attacks, each under its own convention:
//! validation/reference/peers/canaries.json names the sources.

use crate::json::{quantity, reference, rows};
use leakbound::audit::{
    CanaryScores, ThresholdSelection, audit_scores, epsilon_of_error_rates, exposure, membership_advantage,
    one_run_epsilon, one_run_mu, one_run_p_value,
};
use leakbound::divergence::{gdp_epsilon, renyi_divergence};
use leakbound::interval::BinomialCounts;
use leakbound::label_dp::antipodes_interval;
use leakbound::prelude::*;
use leakbound::roc::RocPoint;
use leakbound_validation::peers::{
    bailey_lower, gdp_over_hull, inverse_sinh_lower, one_run_over_hull, variational_error_as_published,
};
use ndarray::Array2;
use serde_json::Value;

/// A number; infinity is written as a text.
fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .or_else(|| (value == "inf").then_some(f64::INFINITY))
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn numbers(value: &Value) -> Vec<f64> {
    rows(value).iter().map(number).collect()
}

fn counts(successes: u64, trials: u64) -> BinomialCounts {
    BinomialCounts::new(successes, trials).unwrap()
}

/// Φ⁻¹((i + ½)/n), members shifted.
fn normal_grid(inputs: &Value) -> CanaryScores {
    let side = |name: &str, shift: f64| -> Vec<f64> {
        let n = inputs[name].as_u64().unwrap();
        (0..n).map(|i| leakbound::special::ndtri((i as f64 + 0.5) / n as f64) + shift).collect()
    };
    CanaryScores::new(side("n_in", number(&inputs["shift"])), side("n_out", 0.0)).unwrap()
}

/// Guesses of one training run.
fn compare_one_run(kind: &str, entry: &Value) -> Option<Vec<(f64, f64)>> {
    let (id, inputs, expected) = (entry["id"].as_str().unwrap(), &entry["inputs"], &entry["expected"]);
    let count = |name: &str| inputs[name].as_u64().unwrap();
    Some(match kind {
        "jax-onerun" => {
            let bound =
                one_run_over_hull(&normal_grid(inputs), quantity(&inputs["delta"]), quantity(&inputs["significance"]));
            vec![(bound.unwrap().value, number(expected))]
        }
        "jax-gdp" => {
            let bound =
                gdp_over_hull(&normal_grid(inputs), quantity(&inputs["delta"]), quantity(&inputs["significance"]));
            vec![(bound.unwrap().value, number(expected))]
        }
        "onerun-p" => {
            let epsilon = quantity(&inputs["eps"]);
            let p = one_run_p_value(counts(count("v"), count("r")), count("m"), epsilon, quantity(&inputs["delta"]));
            vec![(p.unwrap().get(), number(expected))]
        }
        "onerun-eps" => {
            let guesses = counts(count("v"), count("r"));
            let bound =
                one_run_epsilon(guesses, count("m"), quantity(&inputs["delta"]), quantity(&inputs["p"])).unwrap();
            vec![(bound.value, number(&expected["ml_privacy_meter"])), (bound.value, number(&expected["jax_privacy"]))]
        }
        "onerun-fdp" => {
            let guesses = counts(count("n_correct"), count("n_guess"));
            let mu = one_run_mu(guesses, count("m"), quantity(&inputs["significance"])).unwrap().value;
            vec![(gdp_epsilon(mu, quantity(&inputs["delta"])).unwrap().get(), number(expected))]
        }
        "pg-fdp" => {
            let guesses = counts(count("c"), count("c_cap"));
            let mu = one_run_mu(guesses, count("m"), quantity(&inputs["threshold"])).unwrap().value;
            let bound = gdp_epsilon(mu, quantity(&inputs["delta"])).unwrap().get();
            // That tool tries noises of 0.001 + 0.01 i upwards and reports the first that is not allowed: the bound is
            // between its value and the one of the next smaller noise.
            let noise = (0..1000).map(|i| 0.001 + 0.01 * f64::from(i)).find(|noise| noise * mu >= 1.0 - 1e-9);
            let epsilon = |noise: f64| gdp_epsilon(1.0 / noise, quantity(&inputs["delta"])).unwrap().get();
            let grid = noise.unwrap();
            println!("{id}: {bound} between {} and {}, there {expected}", epsilon(grid), epsilon(grid - 0.01));
            assert!(epsilon(grid) <= bound + 1e-9 && bound <= epsilon(grid - 0.01));
            vec![(bound, number(expected))]
        }
        _ => return None,
    })
}

/// Scores of canaries.
fn compare_scores(kind: &str, entry: &Value) -> Option<Vec<(f64, f64)>> {
    let (inputs, expected) = (&entry["inputs"], &entry["expected"]);
    Some(match kind {
        "jax-hull" => {
            let scores = CanaryScores::new(numbers(&inputs["in_scores"]), numbers(&inputs["out_scores"])).unwrap();
            // That tool counts canaries below each threshold, from the lowest up.
            let hull: Vec<RocPoint> = scores.roc().hull().into_iter().rev().collect();
            let all = [scores.members().len() as u64, scores.others().len() as u64];
            let column = |name: &str, value: &dyn Fn(&RocPoint) -> f64| -> Vec<(f64, f64)> {
                let expected = numbers(&expected[name]);
                assert_eq!(hull.len(), expected.len());
                hull.iter().map(value).zip(expected).filter(|(_, expected)| expected.is_finite()).collect()
            };
            [
                column("thresholds", &|point| point.cut()),
                column("tn", &|point| (all[1] - point.false_positives) as f64),
                column("fn", &|point| (all[0] - point.true_positives) as f64),
            ]
            .concat()
        }
        "audit2020-1" => {
            let scores = CanaryScores::new(vec![1.0; 500], vec![0.0; 500]).unwrap();
            let (threshold, zero) = (number(&inputs["threshold"]), Delta::new(0.0).unwrap());
            let selection = ThresholdSelection::Explicit(threshold);
            let evidence = audit_scores(&scores, selection, zero, quantity(&inputs["alpha"]), 0).unwrap();
            let rectangle = evidence.points()[0].1;
            let [low, high] = [rectangle.inside()[0].value, rectangle.inside_neighbor()[1].value];
            vec![
                (evidence.epsilon(zero, Direction::Forward).value, number(&expected["eps"])),
                (0.5 * (low + 1.0 - high), number(&expected["acc"])),
            ]
        }
        "antipodes-mem" => {
            let data: Value = reference("peers/antipodes_confidences.json");
            let others: Vec<Vec<f64>> = rows(&data["others"]).iter().map(numbers).collect();
            let others = Array2::from_shape_fn((others.len(), others[0].len()), |(row, column)| others[row][column]);
            let interval = antipodes_interval(&numbers(&data["trained"]), others.view()).unwrap();
            assert_eq!(interval.upper, number(&expected[1]));
            vec![(interval.lower, number(&expected[0]))]
        }
        "exposure" => {
            let reference = numbers(&inputs["reference"]);
            let of = |repetitions: &str| -> Vec<(f64, f64)> {
                let perplexities = numbers(&inputs["perplexities"][repetitions]);
                let exposures = perplexities.into_iter().map(|perplexity| exposure(perplexity, &reference).unwrap());
                exposures.zip(numbers(&expected[repetitions])).collect()
            };
            [of("1"), of("2")].concat()
        }
        _ => return None,
    })
}

/// Rates, distributions and noise.
fn compare_rates(kind: &str, entry: &Value) -> Option<Vec<(f64, f64)>> {
    let (id, inputs, expected) = (entry["id"].as_str().unwrap(), &entry["inputs"], &entry["expected"]);
    let count = |name: &str| inputs[name].as_u64().unwrap();
    Some(match kind {
        "ms-region" => {
            let rate = |name: &str| quantity(&inputs[name]);
            let epsilon = epsilon_of_error_rates(rate("fnr"), rate("fpr"), quantity(&inputs["delta"]));
            vec![(epsilon.get(), number(expected))]
        }
        "ms-adv" => {
            let epsilon = quantity(&inputs["eps"]);
            vec![(membership_advantage(epsilon, quantity(&inputs["delta"])), number(expected))]
        }
        "tf-ratio" | "tf-bailey" => {
            let side = |name: &str, rest: &str, all: &str| {
                let successes = count(name);
                counts(successes, inputs[all].as_u64().unwrap_or_else(|| successes + count(rest)))
            };
            let (p, q) = (side("tp", "fn", "pos"), side("fp", "tn", "neg"));
            let limit = if id.contains("INV_SINH") { inverse_sinh_lower } else { bailey_lower };
            vec![(limit(p, q, quantity(&inputs["alpha"])).exp(), number(expected))]
        }
        "dpaud-renyi" => {
            let order = quantity(&inputs["alpha"]);
            let bound = number(&inputs["model_output_coordinate_bound"]);
            let failure = quantity(&inputs["failure_probability"]);
            let error = variational_error_as_published(count("num_samples"), failure, bound, order).unwrap();
            vec![(error, number(expected))]
        }
        "gauss-sigma" => {
            // The noise at which ε is what was requested.
            let epsilon = gdp_epsilon(1.0 / number(expected), quantity(&inputs["delta"])).unwrap();
            vec![(epsilon.get(), number(&inputs["eps"]))]
        }
        "pf-2911" => {
            let order = quantity(&inputs["alpha"]);
            let distribution = |name: &str| OutcomeDistribution::from_probabilities(&numbers(&expected[name])).unwrap();
            let (p, q) = (distribution("p"), distribution("q"));
            vec![
                (renyi_divergence(&p, &q, order).unwrap(), number(&expected["D2_pq"])),
                (renyi_divergence(&q, &p, order).unwrap(), number(&expected["D2_qp"])),
            ]
        }
        _ => return None,
    })
}

/// All checked pairs (got, expected) of one entry.
fn compare(entry: &Value) -> Vec<(f64, f64)> {
    let kind = entry["id"].as_str().unwrap().split('-').take(2).collect::<Vec<_>>().join("-");
    compare_one_run(&kind, entry)
        .or_else(|| compare_scores(&kind, entry))
        .or_else(|| compare_rates(&kind, entry))
        .unwrap_or_else(|| panic!("no check for {kind}"))
}

#[test]
fn other_tools_agree_under_their_conventions() {
    let mut checked = 0;
    for entry in reference::<Vec<Value>>("peers/canaries.json") {
        let tolerance = number(&entry["tolerance"]);
        for (got, expected) in compare(&entry) {
            let close = (got - expected).abs() <= tolerance * expected.abs().max(tolerance);
            assert!(close, "{}: {got:e} instead of {expected:e}", entry["id"]);
            checked += 1;
        }
    }
    println!("{checked} values of other tools");
    assert!(checked >= 44);
}
