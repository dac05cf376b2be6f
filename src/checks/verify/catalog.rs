//! The accountants of this crate under the names of the command: the theorems of its mechanisms.

use super::accountant::Accountant;
use super::broken;
use super::conversion;
use super::sensitivity::SensitivityAccountant;
use super::theorem::TheoremAccountant;
use super::token_ensemble::ENSEMBLES;
use crate::accountant::Statement;
use crate::divergence::Conversion;
use crate::error::{Error, Result};
use crate::mechanism::{MechanismKind, RELEASES};

/// Names of accountants that convert by Mironov (2017), Proposition 3; all others do by Balle et al. (2020), Theorem
/// 21.
const CLASSIC: [(&str, &str); 2] = [("gaussian-classic", "gaussian"), ("gnmax-classic", "gnmax-data-independent")];

/// Accountants that are not theorems about a mechanism.
const OTHERS: [&str; 3] = [conversion::NAME, conversion::CLASSIC_NAME, SensitivityAccountant::NAME];

/// One accountant for each theorem of a mechanism; the mechanism need not be in the registry.
#[must_use]
pub fn accountants_of(kind: &'static MechanismKind) -> Vec<Box<dyn Accountant>> {
    let accountant = |&statement: &&'static Statement| -> Box<dyn Accountant> {
        Box::new(TheoremAccountant::new(statement.name, statement, vec![kind], Conversion::Improved))
    };
    kind.theorems.iter().map(accountant).collect()
}

/// The theorems of all mechanisms, each with those that it bounds.
fn all_theorems() -> Vec<(&'static Statement, Vec<&'static MechanismKind>)> {
    let mut all: Vec<(&'static Statement, Vec<&'static MechanismKind>)> = Vec::new();
    for &kind in RELEASES.iter().chain(ENSEMBLES) {
        for &statement in kind.theorems {
            match all.iter_mut().find(|(known, _)| *known == statement) {
                Some((_, kinds)) => kinds.push(kind),
                None => all.push((statement, vec![kind])),
            }
        }
    }
    all
}

/// The theorem of a name, with a conversion.
fn of_theorem(name: &str) -> Option<TheoremAccountant> {
    let classic = CLASSIC.iter().find(|(classic, _)| *classic == name);
    let (theorem, conversion) = classic.map_or((name, Conversion::Improved), |(_, name)| (*name, Conversion::Classic));
    let (statement, kinds) = all_theorems().into_iter().find(|(statement, _)| statement.name == theorem)?;
    Some(TheoremAccountant::new(name, statement, kinds, conversion))
}

/// The names of all built-in accountants, the wrong ones as `broken:NAME`.
#[must_use]
pub fn accountant_names() -> Vec<String> {
    let right = all_theorems().into_iter().map(|(statement, _)| statement.name);
    let right = right.chain(CLASSIC.map(|(name, _)| name)).chain(OTHERS).map(str::to_owned);
    right.chain(broken::CONTROLS.iter().map(|control| format!("broken:{}", control.name))).collect()
}

/// The accountant of a name.
///
/// # Errors
/// [`Error::Rejected`] for a name that there is not, with the nearest one.
///
/// # Example
/// ```
/// use leakbound::program::never_stop;
/// use leakbound::verify::{Plan, accountant_of_name, verify};
///
/// let plan = Plan { cases: 200, ..Plan::default() };
/// assert!(!verify(&*accountant_of_name("gnmax-data-dependent")?, &plan, &never_stop).refuted());
/// assert!(verify(&*accountant_of_name("broken:gnmax-half")?, &plan, &never_stop).invalid());
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn accountant_of_name(name: &str) -> Result<Box<dyn Accountant>> {
    if let Some(accountant) = of_theorem(name) {
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
    let near = nearest.filter(|known| strsim::damerau_levenshtein(known, name) <= 2);
    let reason = match near {
        Some(known) => format!("unknown accountant `{name}`; did you mean `{known}`?"),
        None => format!("unknown accountant `{name}`; known: {}", names.join(", ")),
    };
    Err(Error::Rejected { operation: "accountant", reason })
}

#[cfg(test)]
mod tests {
    use super::super::request::Case;
    use super::super::run::{Plan, Problem, PropertyVerdict, verify};
    use super::*;
    use crate::program::never_stop;

    /// Correct accountants are not refuted; if theorems are tight, cases come close.
    #[test]
    fn the_accountants_of_this_crate_are_not_refuted() {
        for name in accountant_names().iter().filter(|name| !name.starts_with("broken:")) {
            let cases = if name.ends_with("worst-case") { 2 } else { 25 };
            let plan = Plan { cases, seed: 5, ..Plan::default() };
            let outcome = verify(&*accountant_of_name(name).unwrap(), &plan, &never_stop);
            for finding in &outcome.findings {
                println!(
                    "{} {}: {} cases, share {:?} in {:?}",
                    outcome.accountant, finding.property.name, finding.cases, finding.largest_share, finding.elapsed
                );
                assert!(
                    matches!(finding.verdict, PropertyVerdict::NotRefuted | PropertyVerdict::NotTested),
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
        let rejected = |name: &str| accountant_of_name(name).map(|_| ()).unwrap_err().to_string();
        assert_eq!(rejected("gausian"), "accountant: unknown accountant `gausian`; did you mean `gaussian`?");
        assert!(rejected("other").contains("known: gnmax-data-dependent, "));
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
        let right = verify(&*accountant_of_name("gnss").unwrap(), &plan, &never_stop);
        assert!(!right.refuted(), "{right:?}");
        let wrong = verify(&*accountant_of_name("broken:gnss-as-published").unwrap(), &plan, &never_stop);
        let finding = wrong.of("rdp-covers-exact").unwrap();
        let PropertyVerdict::Refuted(found) = &finding.verdict else { panic!("{finding:?}") };
        let Problem::Violation(violation) = &found.problem else { panic!("{found:?}") };
        assert!((violation.claim - 0.896_054_880_207_439_5).abs() < 1e-12 && violation.limit > 1.0, "{violation:?}");
    }
}
