//! `leakbound membership compare`: several attacks on one recording, side by side.

use super::membership_attack::Attack;
use super::membership_work::{Work, undecided};
use crate::audit::FailurePer;
use crate::command::args::{Common, CompareOptions, ComparedName};
use crate::command::output::progress;
use crate::membership::{AttackScores, Guesses, MembershipMetrics};
use crate::record::ShadowRecording;
use crate::study::Warning;
use crate::{Error, Result};
use clap::ValueEnum;
use ndarray::Axis;

pub fn run(common: &Common, options: &CompareOptions) -> Result<bool> {
    let victims = &options.victims.victims.0;
    let (work, recording) = Work::new(common, options, &options.study, victims)?;
    let wanted = wanted(&options.attacks);
    // Those that are left out in the end have their share too: what is shown does not depend on the scores.
    let sharing = match options.failure_per {
        FailurePer::Answer => wanted.len(),
        FailurePer::Query => 1,
    };
    let bar = progress(common, wanted.len() as u64, "attacks");
    // Attacks are what is counted; between samples they can end.
    let watch = |_| bar.inc(0);
    let correct = work.correct(&recording, &watch)?;
    let (mut found, mut warnings, mut refusals) = (Vec::new(), Vec::new(), Vec::new());
    for name in wanted {
        let attack = Attack::named(name, victims, common.seed);
        let guesses = fed(name, &recording).and_then(|()| attack.run(&recording, &watch));
        let guesses = match guesses {
            Ok(guesses) => of_victims(guesses, &work.victims)?,
            Err(error) if is_of_the_attack(&error) => {
                warnings.push(left_out(name, &error));
                refusals.push(error);
                bar.inc(1);
                continue;
            }
            Err(error) => return Err(error),
        };
        warnings.extend(undecided(&guesses, Some(word(name).as_str())));
        warnings.extend(attack.few_models(recording.members().nrows()));
        found.push((word(name), work.metrics(&guesses, correct.as_ref(), sharing)?));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let inputs = recording.inputs()?;
    drop(recording);
    if found.is_empty() {
        // Nothing can be shown: the first reason says why.
        return match refusals.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(false),
        };
    }
    let attacks: Vec<(&str, &MembershipMetrics)> =
        found.iter().map(|(name, metrics)| (name.as_str(), metrics)).collect();
    let title = if attacks.len() == 1 { "1 attack".into() } else { format!("{} attacks", attacks.len()) };
    work.write("leakbound.membership-compare/1", &title, &attacks, inputs, warnings)?;
    Ok(false)
}

/// Each once, in the order of the user; all of them where none is named.
fn wanted(named: &[ComparedName]) -> Vec<ComparedName> {
    let mut wanted: Vec<ComparedName> = Vec::new();
    for &name in if named.is_empty() { ComparedName::value_variants() } else { named } {
        if !wanted.contains(&name) {
            wanted.push(name);
        }
    }
    wanted
}

/// The name on the command line and in the rows.
fn word(name: ComparedName) -> String {
    name.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Recorded scores could be fed to the regression; what it made of them would not be the attack of this name.
fn fed(name: ComparedName, recording: &ShadowRecording) -> Result<()> {
    let (ShadowRecording::Scores(_), Some((operation, wants))) = (recording, wants(name)) else { return Ok(()) };
    Err(Error::Refused { operation, reason: format!("it looks at {wants}, and scores are recorded") })
}

/// What an attack looks at, where that is more than a score.
const fn wants(name: ComparedName) -> Option<(&'static str, &'static str)> {
    match name {
        ComparedName::LabelOnly => Some(("label-only attack", "right and wrong answers")),
        ComparedName::TopConfidence => Some(("threshold of the largest confidence", "all confidences")),
        ComparedName::Entropy => Some(("threshold of the entropy", "all confidences")),
        ComparedName::Attacker => Some(("trained attacker", "all confidences")),
        _ => None,
    }
}

/// A recording that cannot be read ends the command; one that an attack cannot use does not.
fn is_of_the_attack(error: &Error) -> bool {
    matches!(error, Error::Refused { .. } | Error::Domain { .. } | Error::Length { .. } | Error::NoConvergence { .. })
}

fn left_out(name: ComparedName, error: &Error) -> Warning {
    let reason = match error {
        Error::Refused { reason, .. } => reason.clone(),
        error => error.to_string(),
    };
    Warning {
        code: "attack-left-out",
        message: format!("{} is left out: {reason}", word(name)),
        hint: "record logits of more models, or name the attacks that are wanted with --attacks".into(),
    }
}

/// The rows of the victims, from an attack that has every model as a victim.
fn of_victims(guesses: Guesses, victims: &[usize]) -> Result<Guesses> {
    if guesses.scores.victims() == victims.len() {
        return Ok(guesses);
    }
    let rows = guesses.scores.scores().select(Axis(0), victims);
    let scores = AttackScores::new(rows, guesses.scores.members().select(Axis(0), victims))?;
    Ok(Guesses { scores, undecided: guesses.undecided })
}
