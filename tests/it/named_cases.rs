//! Mistakes that users of privacy libraries have reported in public, each as the question that shows it; and ε far above
//! ln of the largest double, 709.78, as people meet it when they try a budget that is much too large.
//!
//! The truths of these budgets are closed forms: binomial sums for two losses, 1/b + 2 ln(1 - δ) for Laplace noise of scale
//! b, and the profile of Gaussian noise in 40 digits.

use crate::desk::Desk;
use crate::json::{losses, number, rows};
use ndarray::Array3;

/// The sum of two discrete Laplace variables has the variance of one of scale √2 σ, and is as private as one of scale σ:
/// a test that expects the larger scale is refuted by the tails, and one that expects the smaller scale is not.
#[test]
fn a_sum_of_two_discrete_laplace_variables_is_as_private_as_one_of_them() {
    let exact = "exact --mechanism discrete-laplace-sum:sigma=2,terms=2 --delta 0 --claim-epsilon";
    let refuted = Desk::root().run(&format!("{exact} 0.3536")).printed(3);
    assert!(refuted.contains("REFUTED (at least 0.49"), "{refuted}");
    assert!(Desk::root().stdout(&format!("{exact} 0.5")).contains("not refuted"));
}

/// Noisy max with Gumbel noise of scale 1/(2ε), taken for ε-private: a vote that moves changes two counts, and the
/// mechanism spends 4ε.
#[test]
fn noisy_max_spends_four_times_its_claim() {
    let exact = "exact --mechanism exponential:sigma=0.5 --histogram 20,0 --worst-neighbor moved --delta 0";
    let refuted = Desk::root().run(&format!("{exact} --claim-epsilon 1")).printed(3);
    assert!(refuted.contains("REFUTED (at least 3.99999)"), "{refuted}");
    assert!(Desk::root().stdout(&format!("{exact} --claim-epsilon 4")).contains("not refuted"));
}

/// DP-SGD where discretized losses break: at a δ below their rounding. The enclosure stays as narrow as elsewhere.
#[test]
fn losses_of_dp_sgd_are_enclosed_at_every_delta() {
    for delta in ["1e-5", "1e-12", "1e-15"] {
        let document =
            Desk::root().json(&format!("account validation/data/dp_sgd.toml --composition pld --delta {delta}"));
        let [lower, upper] = losses(&document);
        assert!(lower > 10.0 && lower <= upper && upper < 1.002 * lower, "{delta}: {lower} {upper}");
    }
}

/// Randomized response five times: a composition that forgets the count answers with the ε of one.
#[test]
fn repeated_randomized_response_is_counted() {
    // Half of the answers are uniform over four classes: ε = ln 5.
    let release = "mechanism = 'randomized-response:sigma=0.6213349345596119'\nhistogram = [1, 0, 0, 0]\n";
    for (times, truth) in [(1, 5f64.ln()), (5, 5.0 * 5f64.ln())] {
        let [lower, upper] = composed(&format!("{release}times = {times}"), "--delta 0");
        assert!(lower <= truth * (1.0 + 1e-12) && upper >= truth * (1.0 - 1e-12), "{times}: {lower} {upper}");
        assert!(upper < truth * (1.0 + 1e-9) && lower > truth * (1.0 - 1e-9), "{times}: {lower} {upper}");
    }
}

/// Both ends of ε of composed releases.
fn composed(release: &str, options: &str) -> [f64; 2] {
    let desk = Desk::new();
    desk.file("releases.toml", format!("[[release]]\n{release}\n"));
    losses(&desk.json(&format!("account releases.toml --composition pld {options}")))
}

#[test]
fn composed_losses_hold_the_truth_beyond_the_largest_exponential() {
    for (release, truth) in [
        ("mechanism = \"randomized-response:sigma=0.1\"\nhistogram = [1, 0]\ntimes = 100", 1000.0 - 1e-5),
        ("mechanism = \"laplace:sigma=0.001\"", 1000.0 - 2e-5),
        ("mechanism = \"gaussian:sigma=0.02\"", 1462.285),
        ("mechanism = \"gaussian:sigma=1\"\ntimes = 1200", 746.797),
        ("mechanism = \"categorical:p=0.9/0.1,q=0.1/0.9\"\ntimes = 400", 803.740),
    ] {
        let [lower, upper] = composed(release, "--delta 1e-5");
        let slightly = 1e-6 * truth;
        assert!(lower <= truth + slightly && truth <= upper + slightly, "{release}: {lower} {truth} {upper}");
        assert!(upper - lower <= 2e-3 * upper, "{release}: {lower} {upper}");
    }
    let [lower, upper] = composed("mechanism = \"gaussian:sigma=0.001\"", "--delta 1e-5");
    assert!(lower <= 504_264.4 && 504_264.3 <= upper && upper - lower <= 2e-3 * upper, "{lower} {upper}");
}

/// At δ = 0 ε is the largest log-ratio, also where probabilities underflow.
#[test]
fn nothing_may_fail_where_probabilities_underflow() {
    for (release, truth) in [
        ("mechanism = \"laplace:sigma=0.001\"\ntimes = 3", 3000.0),
        ("mechanism = \"randomized-response:sigma=0.001\"\nhistogram = [1, 0]", 1000.0),
        ("mechanism = \"exponential:sigma=1\"\nhistogram = [800, 0]", 2.0),
    ] {
        let [lower, upper] = composed(release, "--delta 0");
        assert!(lower <= truth * (1.0 + 1e-12) && truth <= upper * (1.0 + 1e-12), "{release}: {lower} {upper}");
        assert!(upper - lower <= 1e-9 * upper, "{release}: {lower} {upper}");
    }
    // A vote that can move in several ways: their pairs are joined.
    for (mechanism, histogram, truth) in [
        ("exponential:sigma=1", "[800, 1]", 2.0),
        ("permute-and-flip:sigma=0.3", "[400, 5]", 2.0 / 0.3),
        ("gnmax:sigma=40", "[2500, 100]", 1.5008),
    ] {
        let release = format!("mechanism = \"{mechanism}\"\nhistogram = {histogram}");
        let [lower, upper] = composed(&release, "--delta 0");
        assert!(lower <= truth * (1.0 + 1e-3) && truth <= upper * (1.0 + 1e-3), "{release}: {lower} {upper}");
        assert!(lower <= upper && upper <= truth * 1.002, "{release}: {lower} {upper}");
    }
}

#[test]
fn calibrated_noise_meets_goals_beyond_the_largest_exponential() {
    for (question, scale, width) in [
        ("subsampled-gaussian:sigma=?,rate=1 --times 100 --epsilon 1000", 0.245_818, 1e-3),
        ("subsampled-gaussian:sigma=?,rate=0.1 --times 100 --epsilon 1000", 0.109, 1e-2),
        ("laplace:sigma=? --epsilon 800", 1.0 / 800.0, 1e-3),
    ] {
        let document = Desk::root().json(&format!("calibrate --delta 1e-5 --mechanism {question}"));
        let [found, too_little] = ["scale", "too_little"].map(|key| number(&document[key]));
        assert!((found / scale - 1.0).abs() < width && too_little <= found, "{question}: {too_little} {found}");
    }
}

/// Two members that are sure of opposite tokens: with one of them removed, tokens of probability 1/2 have 1e-6 or 1 - 1e-6.
/// Of 200 positions with the losses ln(1/2e-6) and ln(1/2(1 - 1e-6)) the binomial sum gives 1656.72.
#[test]
fn tokens_that_are_sure_cost_what_they_cost() {
    let desk = Desk::new();
    let sure = [(1.0f64 - 1e-6).ln(), 1e-6f64.ln()];
    let logits = Array3::from_shape_fn((200, 2, 2), |(_, member, token)| sure[(member + token) % 2]);
    desk.arrays("tokens.npz", &[("logits", &logits)]);
    let words = "audit tokens tokens.npz --contexts fixed --mechanism interpolated-tokens:share=1 --delta 1e-5";
    let document = desk.json(words);
    for row in rows(&document["losses"]) {
        let upper = number(&row["epsilon_at_most"]);
        assert!((1656.71..1656.72 * 1.003).contains(&upper), "{row}");
    }
}
