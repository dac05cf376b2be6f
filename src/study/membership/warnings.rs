//! What a reader of membership metrics must know.

use crate::membership::{Guesses, Level, MembershipMetrics};
use crate::study::Warning;
use crate::study::number::{percent, significant};

/// Below this in-sample accuracy canaries are not fitted.
const FITTED: f64 = 0.9;
/// A p-value below this shows that samples are not independent.
const SMALL: f64 = 0.01;

/// Warnings of all attacks. A warning that several attacks share appears once, with the numbers of the first; the rows
/// of the document have the numbers of the others.
pub(super) fn of_all(attacks: &[(String, MembershipMetrics)]) -> Vec<Warning> {
    let mut groups: Vec<(Warning, Vec<&str>)> = Vec::new();
    for (attack, metrics) in attacks {
        let attack = attack.as_str();
        for warning in warnings(metrics) {
            // One attack may warn of one thing at several FPRs.
            let said =
                |(known, _): &(Warning, Vec<&str>)| known.code == warning.code && known.message == warning.message;
            let alike = |(known, names): &(Warning, Vec<&str>)| known.code == warning.code && !names.contains(&attack);
            match groups.iter().position(said).or_else(|| groups.iter().position(alike)) {
                Some(place) => groups[place].1.push(attack),
                None => groups.push((warning, vec![attack])),
            }
        }
    }
    let named = |(warning, names): (Warning, Vec<&str>)| {
        let others = match &names[1..] {
            [] => String::new(),
            others => format!("; likewise {}", others.join(", ")),
        };
        Warning { message: format!("{}: {}{others}", names[0], warning.message), ..warning }
    };
    groups.into_iter().map(named).collect()
}

/// Warns of guesses without evidence, and states their number.
pub(super) fn undecided(guesses: &Guesses, attack: Option<&str>) -> Option<Warning> {
    (guesses.undecided > 0).then(|| Warning {
        code: "undecided-guesses",
        message: format!(
            "{}{} of {} guesses have no evidence and the neutral score: too few other models with the sample, or too few \
             without",
            attack.map_or_else(String::new, |attack| format!("{attack}: ")),
            guesses.undecided,
            guesses.scores.scores().len()
        ),
        hint: "record more models, each trained on a random half of the samples".into(),
    })
}

fn warnings(metrics: &MembershipMetrics) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |code, message, hint: &str| warnings.push(Warning { code, message, hint: hint.into() });
    samples(metrics, &mut warn);
    guesses(metrics, &mut warn);
    warnings
}

/// Takes the code of a warning, its message and its hint.
type Warn<'a> = dyn FnMut(&'static str, String, &str) + 'a;

/// Whether the samples and their victims are fit to measure with.
fn samples(metrics: &MembershipMetrics, warn: &mut Warn<'_>) {
    if let Some(found) = metrics.dilution {
        warn(
            "diluted",
            format!(
                "sample {}: TPR at least {} at FPR at most {} (population: at most {})",
                found.sample,
                percent(found.tpr_lower),
                percent(found.fpr_upper),
                percent(found.population_tpr_upper)
            ),
            "the population's TPR shows how many samples are exposed, not how much any one is: read the most \
             vulnerable sample",
        );
    }
    if metrics.victims == 1 {
        warn(
            "single-victim",
            "one victim: no band over victims, no metrics of single samples".into(),
            "record more victims; those of one model hold for this model only",
        );
    }
    if let Some(test) = metrics.independence.filter(|test| test.p_value < SMALL) {
        warn(
            "dependent-samples",
            format!(
                "scores of different samples move together over the victims (rms correlation {}, {} expected, p-value {})",
                significant(test.rms_correlation, 3),
                significant(test.rms_expected, 3),
                significant(test.p_value, 2)
            ),
            "limits that count guesses as independent are too narrow: read the band over victims, or choose canaries that \
             do not influence each other",
        );
    }
    if let Some(accuracy) = metrics.accuracy.filter(|accuracy| accuracy.members_interval.upper < FITTED) {
        warn(
            "canaries-not-fitted",
            format!(
                "victims are right about {} of their own samples at most",
                percent(accuracy.members_interval.upper)
            ),
            "samples that are not memorized understate the exposure of the most vulnerable one: choose other canaries",
        );
    }
}

/// Whether the guesses mean what a reader takes them to mean.
fn guesses(metrics: &MembershipMetrics, warn: &mut Warn<'_>) {
    if let Some(auc) = metrics.bootstrap.as_ref().map(|bands| bands.auc).filter(|auc| auc.upper < 0.5) {
        warn(
            "below-chance",
            format!("members have lower scores than others, AUC at most {} over victims", significant(auc.upper, 3)),
            "reverse the attack, or find out why: without labels it takes mislabeled members for others, and \
             label-only leaves its victims out of their own side, so that they look like the other side where answers \
             reveal nothing: weigh the sides equally (`balanced`)",
        );
    }
    if metrics.samples.without_both > 0 {
        warn(
            "constant-membership",
            format!(
                "{} samples are inside, or outside, for every victim and have no sample-level metrics",
                metrics.samples.without_both
            ),
            "vary the membership of every sample from victim to victim",
        );
    }
    let population = metrics.levels.iter().find(|level| level.level == Level::Population);
    if let Some(level) = population {
        let few =
            level.at.iter().filter(|at| at.target.get() > 0.0 && at.target.get() * (level.non_members as f64) < 1.0);
        for at in few {
            warn(
                "few-non-members",
                format!(
                    "{} guesses about non-members cannot tell an FPR of {} from {}",
                    level.non_members,
                    percent(at.target.get()),
                    percent(at.fpr_upper)
                ),
                "the rule allows no false positive at all; record more guesses or ask for a larger FPR",
            );
        }
    }
}
