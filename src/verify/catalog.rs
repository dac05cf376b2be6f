//! The accountants of this crate under the names of the command.

use super::accountant::{Accountant, Scope};
use super::broken;
use super::conversion;
use super::curve::CurveAccountant;
use super::request::{Mechanism, MechanismKind};
use super::sensitivity::SensitivityAccountant;
use super::worst_case::WorstCaseAccountant;
use crate::accountant::{
    VoteCost, confident_gnmax_data_independent, gaussian_rdp, gnmax_data_independent, gnss_rdp,
    k_ary_randomized_response_rdp, laplace_rdp, lnmax_data_independent, private_knn_rdp, randomized_response_rdp,
    subsampled_gaussian_rdp,
};
use crate::bound::Direction;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::law::{Noise, ThresholdTest};
use crate::quantity::{Epsilon, NoiseScale, Order, Probability};

/// The accountants of this crate; `*-classic` convert by Mironov (2017), Proposition 3, the others by Balle et al. (2020),
/// Theorem 21. `*-forward` bound one direction only. Another one,
/// `gnmax-worst-case`, answers for a whole curve at once.
const CATALOG: [CurveAccountant; 18] = {
    use MechanismKind::{
        ConfidentGnmax, Gaussian, Gnmax, Gnss, Laplace, Lnmax, RandomizedResponse, SubsampledGaussian,
    };
    use Scope::{DataDependent, DataDependentForward, DataIndependent};
    [
        CurveAccountant::new("gnmax-data-independent", &[Gnmax], DataIndependent, gnmax),
        CurveAccountant::new("gnmax-data-dependent", &[Gnmax], DataDependent, of_votes),
        CurveAccountant::new("gnmax-data-dependent-forward", &[Gnmax], DataDependentForward, of_votes_forward),
        CurveAccountant::new("lnmax-data-independent", &[Lnmax], DataIndependent, lnmax),
        CurveAccountant::new("lnmax-data-dependent", &[Lnmax], DataDependent, of_votes),
        CurveAccountant::new("lnmax-data-dependent-forward", &[Lnmax], DataDependentForward, of_votes_forward),
        CurveAccountant::new("confident-gnmax-data-independent", &[ConfidentGnmax], DataIndependent, confident),
        CurveAccountant::new("confident-gnmax-data-dependent", &[ConfidentGnmax], DataDependent, of_votes),
        CurveAccountant::new(
            "confident-gnmax-data-dependent-forward",
            &[ConfidentGnmax],
            DataDependentForward,
            of_votes_forward,
        ),
        CurveAccountant::new("gaussian", &[Gaussian], DataIndependent, gaussian),
        CurveAccountant::new("gaussian-classic", &[Gaussian], DataIndependent, gaussian).with_classic_conversion(),
        CurveAccountant::new("gnmax-classic", &[Gnmax], DataIndependent, gnmax).with_classic_conversion(),
        CurveAccountant::new("laplace", &[Laplace], DataIndependent, laplace),
        CurveAccountant::new("subsampled-gaussian", &[SubsampledGaussian], DataIndependent, subsampled),
        CurveAccountant::new("private-knn", &[SubsampledGaussian], DataIndependent, private_knn),
        CurveAccountant::new("randomized-response", &[RandomizedResponse], DataIndependent, binary_response),
        CurveAccountant::new("k-ary-randomized-response", &[RandomizedResponse], DataIndependent, response),
        CurveAccountant::new("gnss", &[Gnss], DataIndependent, gnss),
    ]
};

/// Accountants that are no curve.
const OTHERS: [&str; 4] =
    [WorstCaseAccountant::NAME, conversion::NAME, conversion::CLASSIC_NAME, SensitivityAccountant::NAME];

/// The names of all accountants that can be tested without a program of one's own, the wrong ones as `broken:NAME`.
#[must_use]
pub fn accountant_names() -> Vec<String> {
    let right = CATALOG.iter().map(|accountant| accountant.name.to_owned());
    let right = right.chain(OTHERS.map(str::to_owned));
    right.chain(broken::CONTROLS.iter().map(|control| format!("broken:{}", control.name))).collect()
}

/// The accountant of a name.
///
/// # Errors
/// [`Error::Refused`] for a name that there is not, with the nearest one.
///
/// # Example
/// ```
/// use leakbound::verify::{Plan, accountant_of_name, verify};
///
/// let plan = Plan { cases: 200, ..Plan::default() };
/// assert!(!verify(&*accountant_of_name("gnmax-data-dependent")?, &plan, &|_| ()).refuted());
/// assert!(verify(&*accountant_of_name("broken:gnmax-half")?, &plan, &|_| ()).invalid());
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn accountant_of_name(name: &str) -> Result<Box<dyn Accountant>> {
    if let Some(accountant) = CATALOG.iter().find(|accountant| accountant.name == name) {
        return Ok(Box::new(*accountant));
    }
    match name {
        WorstCaseAccountant::NAME => return Ok(Box::new(WorstCaseAccountant)),
        conversion::NAME => return Ok(Box::new(conversion::IMPROVED)),
        conversion::CLASSIC_NAME => return Ok(Box::new(conversion::CLASSIC)),
        SensitivityAccountant::NAME => return Ok(Box::new(SensitivityAccountant::default())),
        _ => {}
    }
    if let Some(accountant) = name.strip_prefix("broken:").and_then(broken::accountant) {
        return Ok(accountant);
    }
    let names = accountant_names();
    let nearest = names.iter().min_by_key(|known| strsim::damerau_levenshtein(known, name));
    let near = nearest.filter(|known| strsim::damerau_levenshtein(known, name) <= 3);
    let reason = match near {
        Some(known) => format!("`{name}` is none; did you mean {known}?"),
        None => format!("`{name}` is none; there are {}", names.join(", ")),
    };
    Err(Error::Refused { operation: "accountant", reason })
}

pub(super) fn gnmax(mechanism: &Mechanism, _: &VoteHistogram, order: Order) -> Option<f64> {
    match *mechanism {
        Mechanism::Gnmax { sigma } => Some(gnmax_data_independent(order, sigma)),
        _ => None,
    }
}

/// The larger of both directions, for any neighbor one moved vote away.
fn of_votes(mechanism: &Mechanism, votes: &VoteHistogram, order: Order) -> Option<f64> {
    Some(vote_cost(mechanism, votes)?.in_both_directions(order).whole())
}

fn of_votes_forward(mechanism: &Mechanism, votes: &VoteHistogram, order: Order) -> Option<f64> {
    Some(vote_cost(mechanism, votes)?.at(order, Direction::Forward).whole())
}

/// The data-dependent cost of a noisy argmax, answered or not where a test comes first.
fn vote_cost(mechanism: &Mechanism, votes: &VoteHistogram) -> Option<VoteCost> {
    match *mechanism {
        Mechanism::Gnmax { sigma } => Some(VoteCost::of_moved_vote(Noise::Gaussian(sigma), None, votes)),
        Mechanism::Lnmax { sigma } => Some(VoteCost::of_moved_vote(Noise::Laplace(sigma), None, votes)),
        Mechanism::ConfidentGnmax { sigma, threshold, threshold_sigma, threshold_form } => {
            let test = ThresholdTest::new(threshold, threshold_sigma, threshold_form).ok()?;
            Some(VoteCost::of_moved_vote(Noise::Gaussian(sigma), Some(&test), votes))
        }
        _ => None,
    }
}

fn lnmax(mechanism: &Mechanism, _: &VoteHistogram, order: Order) -> Option<f64> {
    match *mechanism {
        Mechanism::Lnmax { sigma } => Some(lnmax_data_independent(order, sigma)),
        _ => None,
    }
}

/// The same for both forms of the test.
fn confident(mechanism: &Mechanism, _: &VoteHistogram, order: Order) -> Option<f64> {
    match *mechanism {
        Mechanism::ConfidentGnmax { sigma, threshold_sigma, .. } => {
            Some(confident_gnmax_data_independent(order, threshold_sigma, sigma))
        }
        _ => None,
    }
}

pub(super) fn gaussian(mechanism: &Mechanism, _: &VoteHistogram, order: Order) -> Option<f64> {
    match *mechanism {
        Mechanism::Gaussian { sigma } => Some(gaussian_rdp(order, sigma, 1.0)),
        _ => None,
    }
}

fn laplace(mechanism: &Mechanism, _: &VoteHistogram, order: Order) -> Option<f64> {
    match *mechanism {
        Mechanism::Laplace { sigma } => Some(laplace_rdp(order, sigma)),
        _ => None,
    }
}

fn subsampled(mechanism: &Mechanism, _: &VoteHistogram, order: Order) -> Option<f64> {
    match *mechanism {
        Mechanism::SubsampledGaussian { sigma, rate } => Some(subsampled_gaussian_rdp(order, rate, sigma, 1.0)),
        _ => None,
    }
}

/// The votes of Private-kNN move by √2: with √2 times the noise they are one count that moves by 1.
fn private_knn(mechanism: &Mechanism, _: &VoteHistogram, order: Order) -> Option<f64> {
    match *mechanism {
        Mechanism::SubsampledGaussian { sigma, rate } => {
            let wider = NoiseScale::new(sigma.get() * std::f64::consts::SQRT_2).ok()?;
            Some(private_knn_rdp(order, rate, wider))
        }
        _ => None,
    }
}

fn response(mechanism: &Mechanism, histogram: &VoteHistogram, order: Order) -> Option<f64> {
    match *mechanism {
        Mechanism::RandomizedResponse { sigma } => {
            let epsilon = Epsilon::new(sigma.get().recip()).ok()?;
            k_ary_randomized_response_rdp(order, epsilon, histogram.classes() as u64).ok()
        }
        _ => None,
    }
}

fn gnss(mechanism: &Mechanism, _: &VoteHistogram, order: Order) -> Option<f64> {
    match *mechanism {
        Mechanism::Gnss { sigma, beta, .. } => Some(gnss_rdp(order, beta, sigma)),
        _ => None,
    }
}

/// Of two answers, by the probability of the truth. It is 1 in doubles from ε = 37 on, where the bound is infinite.
fn binary_response(mechanism: &Mechanism, histogram: &VoteHistogram, order: Order) -> Option<f64> {
    match *mechanism {
        Mechanism::RandomizedResponse { sigma } if histogram.classes() == 2 => {
            // The rare answer: its digits are those of ε.
            let rare = libm::exp(-sigma.get().recip());
            Some(randomized_response_rdp(order, Probability::new(rare / (1.0 + rare)).ok()?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::{Plan, verify};
    use super::*;

    /// What is right is not refuted; where theorems are tight, cases come close.
    #[test]
    fn the_accountants_of_this_crate_are_not_refuted() {
        for name in accountant_names().iter().filter(|name| !name.starts_with("broken:")) {
            let cases = if name == WorstCaseAccountant::NAME { 2 } else { 25 };
            let plan = Plan { cases, seed: 5, ..Plan::default() };
            let outcome = verify(&*accountant_of_name(name).unwrap(), &plan, &|_| ());
            for finding in &outcome.findings {
                println!(
                    "{} {}: {} cases, share {:?} in {:?}",
                    outcome.accountant, finding.property.name, finding.cases, finding.largest_share, finding.elapsed
                );
                assert!(
                    matches!(
                        finding.verdict,
                        super::super::run::Verdict::NotRefuted | super::super::run::Verdict::NotTested
                    ),
                    "{finding:?}"
                );
                assert!(finding.largest_share.is_none_or(|share| share <= 1.0 + 1e-6), "{finding:?}");
            }
            assert!(!outcome.refuted());
        }
    }

    #[test]
    fn names_lead_to_accountants_and_misspelled_ones_to_the_nearest() {
        for name in accountant_names() {
            assert!(accountant_of_name(&name).is_ok_and(|found| name.ends_with(&found.name())), "{name}");
        }
        let refused = |name: &str| accountant_of_name(name).map(|_| ()).unwrap_err().to_string();
        assert_eq!(refused("gausian"), "accountant: `gausian` is none; did you mean gaussian?");
        assert!(refused("other").contains("there are gnmax-data-independent, "));
    }
}
