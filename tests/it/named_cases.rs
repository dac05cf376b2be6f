//! Mistakes that users of privacy libraries have reported in public, each as the question that shows it.

use crate::desk::Desk;
use crate::json::number;

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
        let epsilon = &document["losses"]["epsilon"];
        let [lower, upper] = ["lower", "upper"].map(|end| number(&epsilon[end]));
        assert!(lower > 10.0 && lower <= upper && upper < 1.002 * lower, "{delta}: {lower} {upper}");
    }
}

/// Randomized response five times: a composition that forgets the count answers with the ε of one.
#[test]
fn repeated_randomized_response_is_counted() {
    let desk = Desk::new();
    // Half of the answers are uniform over four classes: ε = ln 5.
    let release = "[[release]]\nmechanism = 'randomized-response:sigma=0.6213349345596119'\nhistogram = [1, 0, 0, 0]\n";
    desk.file("once.toml", release);
    desk.file("often.toml", format!("{release}times = 5\n"));
    for (file, truth) in [("once.toml", 5f64.ln()), ("often.toml", 5.0 * 5f64.ln())] {
        let document = desk.json(&format!("account {file} --composition pld --delta 0"));
        let epsilon = &document["losses"]["epsilon"];
        let [lower, upper] = ["lower", "upper"].map(|end| number(&epsilon[end]));
        assert!(lower <= truth * (1.0 + 1e-12) && upper >= truth * (1.0 - 1e-12), "{file}: {lower} {upper}");
        assert!(upper < truth * (1.0 + 1e-9) && lower > truth * (1.0 - 1e-9), "{file}: {lower} {upper}");
    }
}
