//! Values that other tools print, each under its own convention: validation/reference/peers/peers.json names the sources,
//! and validation/reference/peers/canaries.json those about canaries and attacks.

use crate::json::{quantity, reference, rows};
use leakbound::accountant::{
    GnmaxSensitivity, confident_gnmax_cost, exponential_mechanism_rdp, gnmax_data_dependent, laplace_rdp,
    lnmax_data_dependent, log_flip_probability_laplace, randomized_response_rdp, subsampled_gaussian_rdp,
    threshold_data_dependent,
};
use leakbound::audit::{
    CanaryScores, Rectangle, ThresholdSelection, audit_scores, epsilon_of_error_rates, exposure,
    joint_beta_region_epsilon, membership_advantage, one_run_epsilon, one_run_mu, one_run_p_value,
};
use leakbound::distribution::{ThresholdForm, ThresholdTest, noisy_argmax_distribution};
use leakbound::divergence::{bernoulli_renyi, gaussian_sigma, gdp_epsilon, renyi_divergence};
use leakbound::interval::{BinomialCounts, adjusted_log_lower, clopper_pearson_lower, clopper_pearson_upper};
use leakbound::label_dp::antipodes_interval;
use leakbound::prelude::*;
use leakbound::roc::RocPoint;
use leakbound::verify::broken::gnss_rdp_as_published;
use leakbound_validation::peers::{
    bailey_lower, gdp_over_hull, inverse_sinh_lower, one_run_over_hull, variational_error_as_published,
};
use ndarray::Array2;
use serde_json::Value;

fn orders(value: &Value) -> Vec<Order> {
    numbers(value).into_iter().map(|order| Order::new(order).unwrap()).collect()
}

/// Successes among the successes and the others.
fn counts(successes: u64, others: u64) -> BinomialCounts {
    of_all(successes, successes + others)
}

/// ε from a confusion matrix in both directions, half of the failure probability for each of two tails.
fn epsilon([tp, fn_, fp, tn]: [u64; 4], delta: f64, failure: f64) -> [f64; 2] {
    let (failure, delta) = (FailureProbability::new(failure).unwrap(), Delta::new(delta).unwrap());
    let rectangle = Rectangle::two_tails(counts(tp, fn_), counts(fp, tn), failure).unwrap();
    Direction::BOTH.map(|direction| rectangle.epsilon(delta, direction).value)
}

fn histogram(counts: &Value) -> VoteHistogram {
    VoteHistogram::new(numbers(counts).iter().map(|n| *n as u64).collect()).unwrap()
}

/// ε and its order after each of some queries to Confident-GNMax.
fn confident_gnmax_budget(inputs: &Value, expected: &Value) -> Vec<(f64, f64)> {
    let sigma = quantity(&inputs["params"]["sigma1"]);
    let test = ThresholdTest::new(number(&inputs["params"]["t"]), sigma, ThresholdForm::Max).unwrap();
    let scale = quantity(&inputs["noise_scale"]);
    let (low, high) = (100f64.log10(), 500f64.log10());
    let orders: Vec<Order> = (0..198)
        .map(|i| 2.0 + 0.5 * f64::from(i))
        .chain((0..99).map(|i| 1.01 + 0.01 * f64::from(i)))
        .chain((0..100).map(|i| 10f64.powf(low + (high - low) * f64::from(i) / 99.0)))
        .map(|a| Order::new(a).unwrap())
        .collect();
    let delta = quantity(&inputs["delta"]);
    let mut total = RdpCurve::from_fn(&orders, |_| 0.0);
    let mut pairs = Vec::new();
    for (index, votes) in inputs["votes"].as_array().unwrap().iter().enumerate() {
        let cost = |order| confident_gnmax_cost(order, &test, scale, &histogram(votes));
        // That tool adds up expected costs.
        total = total.composed(&RdpCurve::from_fn(&orders, |order| cost(order).expected())).unwrap();
        let (epsilon, order) = total.epsilon(delta);
        pairs.push((epsilon.get(), number(&expected["eps"][index])));
        pairs.push((order.get(), number(&expected["order_opt"][index])));
    }
    pairs
}

/// The pairs of accountants of PATE and its relatives.
fn compare_accountant(id: &str, inputs: &Value, expected: &Value) -> Option<Vec<(f64, f64)>> {
    let scale = |name: &str| quantity(&inputs[name]);
    // Order 1 of that tool is the limit.
    let order = |name: &str| Order::new(number(&inputs[name]).max(1.0 + 1e-13)).unwrap();
    let one_noise = |threshold: f64, sigma| ThresholdTest::new(threshold, sigma, ThresholdForm::Max).unwrap();
    let rdp_at_orders = |rdp: &dyn Fn(Order) -> f64, expected: &Value| {
        orders(&inputs["orders"]).into_iter().map(rdp).zip(numbers(expected)).collect::<Vec<_>>()
    };
    Some(if id.starts_with("autodp-rr") {
        let truth = quantity(&inputs["p"]);
        vec![(randomized_response_rdp(order("alpha"), truth), number(expected))]
    } else if id.starts_with("rdp-psg") {
        let rate = quantity(&inputs["q"]);
        let value = subsampled_gaussian_rdp(order("alpha"), rate, scale("sigma"), 1.0);
        if number(&inputs["alpha"]).fract() != 0.0 {
            // At this fractional order that tool prints 0.8 % more than the integral is.
            assert!(value < number(expected) && value > 0.99 * number(expected), "{id}: {value}");
            return Some(Vec::new());
        }
        vec![(value, number(expected))]
    } else if id == "rdp-dpsgd" {
        let (rate, sigma) = (quantity(&inputs["q"]), scale("sigma"));
        let orders: Vec<Order> = (2..=64).map(|a| Order::new(f64::from(a)).unwrap()).collect();
        let curve = RdpCurve::from_fn(&orders, |order| subsampled_gaussian_rdp(order, rate, sigma, 1.0));
        let delta = quantity(&inputs["delta"]);
        vec![(curve.repeated(number(&inputs["T"])).epsilon(delta).0.get(), number(expected))]
    } else if id.starts_with("autodp-screen") {
        let test = one_noise(number(&inputs["thresh"]), scale("sigma"));
        let [p, q] = ["max_count", "max_count_neigh"].map(|name| {
            let odds = test.odds(&VoteHistogram::new(vec![inputs[name].as_u64().unwrap()]).unwrap());
            (odds.ln_pass.exp(), odds.ln_fail.exp())
        });
        // That tool takes the larger of both directions.
        let both = [bernoulli_renyi(p, q, order("alpha")), bernoulli_renyi(q, p, order("alpha"))];
        vec![(both[0].max(both[1]), number(expected))]
    } else if id.starts_with("pate-thr") {
        let odds = one_noise(number(&inputs["t"]), scale("sigma")).odds(&histogram(&inputs["votes"]));
        let rdp = |order| threshold_data_dependent(order, scale("sigma"), odds.log_q());
        let mut pairs = rdp_at_orders(&rdp, &expected["rdp"]);
        pairs.push((odds.ln_pass, number(&expected["log_pr_answered"])));
        pairs
    } else if id.starts_with("pate-lap") {
        let log_q = log_flip_probability_laplace(&histogram(&inputs["votes"]), scale("lmbd"));
        let mut pairs = rdp_at_orders(&|order| lnmax_data_dependent(order, scale("lmbd"), log_q), &expected["rdp"]);
        pairs.push((log_q, number(&expected["logq"])));
        pairs
    } else if id == "pate-ls-2" {
        let votes = histogram(&inputs["votes"]);
        let sensitivity = GnmaxSensitivity::new(order("order"), scale("sigma"), votes.classes()).unwrap();
        let local = sensitivity.local(&votes).unwrap();
        let first = number(&expected["first_nonzero"]);
        // What is below 1e-7 that tool's test takes as zero.
        assert!(local[..first as usize].iter().all(|value| *value < number(&expected["v298"])));
        vec![
            (local[298], number(&expected["v298"])),
            (local[299], number(&expected["v299"])),
            (local[300], number(&expected["v300"])),
            (local[local.len() - 1], number(&expected["last"])),
        ]
    } else if id == "pate-logq0" {
        vec![(GnmaxSensitivity::new(order("order"), scale("sigma"), 2).unwrap().log_q0(), number(expected))]
    } else if id == "pate-gnss" {
        vec![(gnss_rdp_as_published(order("order"), number(&inputs["beta"]), scale("sigma")), number(expected))]
    } else if id == "antipodes-gnmax_conf" {
        confident_gnmax_budget(inputs, expected)
    } else {
        return None;
    })
}

/// Probabilities and divergences of a noisy argmax.
fn compare_exact(inputs: &Value, expected: &Value) -> Vec<(f64, f64)> {
    let (name, scale) = if inputs["b"].is_null() { ("gaussian", "sigma") } else { ("laplace", "b") };
    let noise: Noise = format!("{name}:{}", inputs[scale]).parse().unwrap();
    let distribution = |counts: &Value| {
        let counts = counts.as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).collect();
        noisy_argmax_distribution(&VoteHistogram::new(counts).unwrap(), noise).unwrap()
    };
    let (p, q) = (distribution(&inputs["c"]), distribution(&inputs["c2"]));
    let mut pairs: Vec<(f64, f64)> = p.p().iter().copied().zip(numbers(&expected["p"])).collect();
    pairs.extend(q.p().iter().copied().zip(numbers(&expected["q"])));
    for (order, (forward, reverse)) in orders(&expected["orders"])
        .into_iter()
        .zip(numbers(&expected["D_pq"]).into_iter().zip(numbers(&expected["D_qp"])))
    {
        pairs.push((renyi_divergence(&p, &q, order).unwrap(), forward));
        pairs.push((renyi_divergence(&q, &p, order).unwrap(), reverse));
    }
    pairs
}

/// All checked pairs (got, expected) of one entry.
fn compare(entry: &Value) -> Vec<(f64, f64)> {
    let (id, inputs, expected) = (entry["id"].as_str().unwrap(), &entry["inputs"], &entry["expected"]);
    let count = |name: &str| inputs[name].as_u64().unwrap();
    if id.starts_with("ms-beta") {
        let (delta, failure) = (number(&inputs["delta"]), number(&inputs["alpha"]));
        let (mut tp, mut fn_, mut fp, mut tn) = (count("TP"), count("FN"), count("FP"), count("TN"));
        if tp * (fp + tn) < fp * (tp + fn_) {
            // That tool also tries the negated attack; here the direction is declared, so the answers are exchanged.
            (tp, fn_, fp, tn) = (fn_, tp, tn, fp);
        }
        let [forward, reverse] = epsilon([tp, fn_, fp, tn], delta, failure);
        vec![(forward.max(reverse), number(&expected["one_sided_lo"]))]
    } else if id.starts_with("jax-cp") {
        // Normal grids of 1,000 scores, one of them shifted by 1: 841 and 500 scores lie above 0, 500 and 159 above 1.
        let (tp, fp) = if number(&inputs["threshold"]) == 0.0 { (841, 500) } else { (500, 159) };
        // That tool looks at positive answers only.
        let [forward, _] = epsilon([tp, 1000 - tp, fp, 1000 - fp], 0.0, number(&inputs["significance"]));
        vec![(forward, number(expected))]
    } else if id.starts_with("cp-") {
        let counts = BinomialCounts::new(count("k"), count("n")).unwrap();
        let failure = quantity(&inputs["alpha"]);
        vec![
            (clopper_pearson_lower(counts, failure).unwrap().value, number(&expected["lcb"])),
            (clopper_pearson_upper(counts, failure).unwrap().value, number(&expected["ucb"])),
        ]
    } else if id.starts_with("ms-jointbeta") {
        // An interval at confidence 1 - alpha; its root is found to 1e-2 only.
        let p = counts(count("TP"), count("FN"));
        let q = counts(count("FP"), count("TN"));
        let delta = quantity(&inputs["delta"]);
        let tail = FailureProbability::new(number(&inputs["alpha"]) / 2.0).unwrap();
        // The upper end is the limit at 1 - alpha/2.
        let upper = FailureProbability::new(1.0 - tail.get()).unwrap();
        let limit = |failure| joint_beta_region_epsilon(p, q, delta, failure).unwrap().value;
        vec![(limit(tail), number(&expected[0])), (limit(upper), number(&expected[1]))]
    } else if id.starts_with("tf-ratio-ADJUSTED_LOG") {
        let p = counts(count("tp"), count("fn"));
        let q = counts(count("fp"), count("tn"));
        let failure = quantity(&inputs["alpha"]);
        vec![(adjusted_log_lower(p, q, Delta::new(0.0).unwrap(), failure).exp(), number(expected))]
    } else if id.starts_with("gdp2eps") || id.starts_with("gauss-eps") {
        let mu = inputs["mu"].as_f64().unwrap_or_else(|| 1.0 / number(&inputs["sigma"]));
        let delta = quantity(&inputs["delta"]);
        vec![(gdp_epsilon(mu, delta).unwrap().get(), number(expected))]
    } else if id == "gauss-sigma" {
        let (epsilon, delta) = (Epsilon::new(number(&inputs["eps"])), Delta::new(number(&inputs["delta"])));
        vec![(gaussian_sigma(epsilon.unwrap(), delta.unwrap()).unwrap().get(), number(expected))]
    } else if id == "rdp-expmech" {
        // Its inputs are not recorded; the value is the limit of order 1 at ε = 1, ε/(e^ε - 1) - 1 - ln(ε/(e^ε - 1)).
        let (order, epsilon) = (Order::new(1.0 + 1e-9).unwrap(), Epsilon::new(1.0).unwrap());
        vec![(exponential_mechanism_rdp(order, epsilon), number(expected))]
    } else if id.starts_with("rdp-laplace") || id.starts_with("autodp-lap") {
        let b = inputs["b"].as_f64().unwrap_or_else(|| 1.0 / number(&inputs["eps"]));
        let order = quantity(&inputs["alpha"]);
        vec![(laplace_rdp(order, NoiseScale::new(b).unwrap()), number(expected))]
    } else if id.starts_with("rdp2eps") || id == "pate-epsdelta" {
        let curve = RdpCurve::new(orders(&inputs["orders"]), numbers(&inputs["rdp"])).unwrap();
        let delta = quantity(&inputs["delta"]);
        let ((epsilon, order), expected) = if id == "pate-epsdelta" {
            (curve.classic_epsilon(delta), (&expected[0], &expected[1]))
        } else {
            (curve.epsilon(delta), (&expected["eps"], &expected["order"]))
        };
        vec![(epsilon.get(), number(expected.0)), (order.get(), number(expected.1))]
    } else if id.starts_with("pate-rdp") {
        let (sigma, log_q) = (quantity(&inputs["sigma"]), number(&inputs["logq"]));
        let rdp = orders(&inputs["orders"]).into_iter().map(|order| gnmax_data_dependent(order, sigma, log_q));
        rdp.zip(numbers(expected)).collect()
    } else if let Some(pairs) = compare_accountant(id, inputs, expected) {
        pairs
    } else {
        assert!(id.starts_with("exact-"), "no check for {id}");
        compare_exact(inputs, expected)
    }
}

/// Holds every entry of a table against the library, and returns how many values were compared.
fn agree(table: &str, compare: impl Fn(&Value) -> Vec<(f64, f64)>, close: impl Fn(f64, f64, f64) -> bool) -> usize {
    let mut checked = 0;
    for entry in reference::<Vec<Value>>(table) {
        for (got, expected) in compare(&entry) {
            assert!(
                close(got, expected, number(&entry["tolerance"])),
                "{}: {got:e} instead of {expected:e}",
                entry["id"]
            );
            checked += 1;
        }
    }
    println!("{checked} values of other tools");
    checked
}

#[test]
fn other_tools_agree_under_their_conventions() {
    let close = |got: f64, expected: f64, tolerance: f64| {
        // A bound that is the exponential of a logarithm is rounded up with the size of the logarithm.
        let rounded_up = 64.0 * f64::EPSILON * expected.abs().ln().abs() * expected.abs();
        let error = got - expected;
        error.abs() <= tolerance * expected.abs() || (error > 0.0 && error <= rounded_up)
    };
    assert!(agree("peers/peers.json", compare, close) > 110);
}

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

fn of_all(successes: u64, trials: u64) -> BinomialCounts {
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
            let p = one_run_p_value(of_all(count("v"), count("r")), count("m"), epsilon, quantity(&inputs["delta"]));
            vec![(p.unwrap().get(), number(expected))]
        }
        "onerun-eps" => {
            let guesses = of_all(count("v"), count("r"));
            let bound =
                one_run_epsilon(guesses, count("m"), quantity(&inputs["delta"]), quantity(&inputs["p"])).unwrap();
            vec![(bound.value, number(&expected["ml_privacy_meter"])), (bound.value, number(&expected["jax_privacy"]))]
        }
        "onerun-fdp" => {
            let guesses = of_all(count("n_correct"), count("n_guess"));
            let mu = one_run_mu(guesses, count("m"), quantity(&inputs["significance"])).unwrap().value;
            vec![(gdp_epsilon(mu, quantity(&inputs["delta"])).unwrap().get(), number(expected))]
        }
        "pg-fdp" => {
            let guesses = of_all(count("c"), count("c_cap"));
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
                of_all(successes, inputs[all].as_u64().unwrap_or_else(|| successes + count(rest)))
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

/// All checked pairs (got, expected) of one entry about canaries and attacks.
fn compare_canaries(entry: &Value) -> Vec<(f64, f64)> {
    let kind = entry["id"].as_str().unwrap().split('-').take(2).collect::<Vec<_>>().join("-");
    compare_one_run(&kind, entry)
        .or_else(|| compare_scores(&kind, entry))
        .or_else(|| compare_rates(&kind, entry))
        .unwrap_or_else(|| panic!("no check for {kind}"))
}

#[test]
fn other_tools_agree_about_canaries() {
    let close =
        |got: f64, expected: f64, tolerance: f64| (got - expected).abs() <= tolerance * expected.abs().max(tolerance);
    assert!(agree("peers/canaries.json", compare_canaries, close) >= 44);
}
