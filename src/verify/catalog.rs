//! The accountants of this crate under the names of the command: the theorems of its mechanisms.

use super::accountant::Accountant;
use super::broken;
use super::conversion;
use super::request::{Mechanism, MechanismKind};
use super::sensitivity::SensitivityAccountant;
use super::theorem::TheoremAccountant;
use crate::accountant::{Statement, WorstCases};
use crate::divergence::Conversion;
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::law::ThresholdForm;
use crate::quantity::{NoiseScale, Probability};

/// Names of accountants that convert by Mironov (2017), Proposition 3; all others do by Balle et al. (2020), Theorem 21.
const CLASSIC: [(&str, &str); 2] = [("gaussian-classic", "gaussian"), ("gnmax-classic", "gnmax-data-independent")];

/// Accountants that are no theorem about a mechanism.
const OTHERS: [&str; 3] = [conversion::NAME, conversion::CLASSIC_NAME, SensitivityAccountant::NAME];

/// One mechanism of a kind, with votes, to see which theorems there are.
fn example(kind: MechanismKind) -> Result<(Mechanism, VoteHistogram)> {
    let (sigma, rate) = (NoiseScale::new(2.0)?, Probability::new(0.5)?);
    let (mechanism, votes) = match kind {
        MechanismKind::Gnmax => (Mechanism::Gnmax { sigma }, vec![3, 1]),
        MechanismKind::Lnmax => (Mechanism::Lnmax { sigma }, vec![3, 1]),
        MechanismKind::Gaussian => (Mechanism::Gaussian { sigma }, vec![0]),
        MechanismKind::Laplace => (Mechanism::Laplace { sigma }, vec![0]),
        MechanismKind::SubsampledGaussian => (Mechanism::SubsampledGaussian { sigma, rate }, vec![0]),
        MechanismKind::ConfidentGnmax => {
            let (threshold, threshold_form) = (2.0, ThresholdForm::Max);
            (Mechanism::ConfidentGnmax { sigma, threshold, threshold_sigma: sigma, threshold_form }, vec![3, 1])
        }
        MechanismKind::RandomizedResponse => (Mechanism::RandomizedResponse { sigma }, vec![1, 0]),
        MechanismKind::Gnss => {
            (Mechanism::Gnss { sigma, beta: 0.1, step: 0.0, width: sigma, neighbor_width: sigma }, vec![0])
        }
        MechanismKind::Conversion => (Mechanism::Conversion { rdp: 1.0, rdp_order: crate::Order::new(2.0)? }, vec![0]),
        MechanismKind::SmoothSensitivity => (Mechanism::SmoothSensitivity { sigma, beta: 0.1 }, vec![3, 1]),
    };
    Ok((mechanism, VoteHistogram::new(votes)?))
}

/// All theorems, with the mechanisms that they bound.
fn theorems() -> Result<Vec<(&'static Statement, Vec<MechanismKind>)>> {
    let known = WorstCases::default();
    let mut all: Vec<(&'static Statement, Vec<MechanismKind>)> = Vec::new();
    for kind in MechanismKind::RELEASES {
        let (mechanism, votes) = example(kind)?;
        for theorem in mechanism.theorems(&votes, &known) {
            match all.iter_mut().find(|(statement, _)| *statement == theorem.statement()) {
                Some((_, kinds)) => kinds.push(kind),
                None => all.push((theorem.statement(), vec![kind])),
            }
        }
    }
    Ok(all)
}

/// The theorem of a name, with a conversion.
fn of_theorem(name: &str) -> Result<Option<TheoremAccountant>> {
    let classic = CLASSIC.iter().find(|(classic, _)| *classic == name);
    let (theorem, conversion) = classic.map_or((name, Conversion::Improved), |(_, name)| (*name, Conversion::Classic));
    let found = theorems()?.into_iter().find(|(statement, _)| statement.name == theorem);
    Ok(found.map(|(statement, kinds)| TheoremAccountant::new(name, statement, kinds, conversion)))
}

/// The names of all built-in accountants, the wrong ones as `broken:NAME`.
#[must_use]
pub fn accountant_names() -> Vec<String> {
    let right = theorems().unwrap_or_default().into_iter().map(|(statement, _)| statement.name);
    let right = right.chain(CLASSIC.map(|(name, _)| name)).chain(OTHERS).map(str::to_owned);
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
    if let Some(accountant) = of_theorem(name)? {
        return Ok(Box::new(accountant));
    }
    match name {
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

#[cfg(test)]
mod tests {
    use super::super::run::{Plan, verify};
    use super::*;

    /// What is right is not refuted; where theorems are tight, cases come close.
    #[test]
    fn the_accountants_of_this_crate_are_not_refuted() {
        for name in accountant_names().iter().filter(|name| !name.starts_with("broken:")) {
            let cases = if name.ends_with("worst-case") { 2 } else { 25 };
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
        assert!(refused("other").contains("there are gnmax-data-dependent, "));
    }
}
