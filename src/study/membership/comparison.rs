//! Several attacks on the same recorded answers, side by side.

use super::answer::{MembershipAnswer, VictimModels};
use super::attack::Attack;
use super::measures::Measures;
use super::recorded::{LooksAt, RecordedAnswers};
use super::warnings::undecided;
use crate::audit::FailurePer;
use crate::error::{Error, ErrorKind, Result};
use crate::membership::{AttackScores, Guesses, MembershipPlan, Victims};
use crate::study::progress::{Meter, Progress};
use crate::study::{Answer, Study, Warning};
use ndarray::Axis;

/// Which of several attacks infers membership best?
///
/// The best of several is chosen after the fact: its rates are optimistic, and limits hold for it if all attacks share
/// the failure probability. An attack that cannot use the answers is left out with a warning.
#[derive(Clone)]
pub struct ComparisonStudy<'a> {
    /// The recorded answers, which are read block by block and more than once.
    pub answers: RecordedAnswers<'a>,
    /// The attacks under different names, the most important first. Attacks with settings for the victims have those of
    /// the study.
    pub attacks: Vec<(String, Attack)>,
    /// The models that are attacked.
    pub victims: Victims,
    /// Whether all attacks share the failure probability of the limits.
    pub failure_per: FailurePer,
    /// What is measured of the guesses of each attack.
    pub measures: Measures,
}

impl<'a> ComparisonStudy<'a> {
    /// Every model is attacked in turn, all attacks share the failure probability, and measures are the usual ones.
    #[must_use]
    pub fn new(answers: RecordedAnswers<'a>, attacks: Vec<(String, Attack)>) -> Self {
        Self {
            answers,
            attacks,
            victims: Victims::default(),
            failure_per: FailurePer::Answer,
            measures: Measures::default(),
        }
    }
}

impl Study for ComparisonStudy<'_> {
    type Answer = MembershipAnswer;

    /// # Errors
    /// [`Error::Length`] without attacks, [`Error::Rejected`] for an attack on other victims; the error of the first
    /// attack if none can use the answers; those of [`membership_metrics`](crate::membership::membership_metrics), and
    /// errors in reading the answers.
    fn run(&self, progress: &Progress<'_>) -> Result<MembershipAnswer> {
        let answers = self.answers;
        let (models, samples) = answers.members().dim();
        let victims = self.list_of_victims(models)?;
        let measures = self.measures();
        let meter = Meter::new(progress, self.attacks.len() as u64, "attacks");
        // Attacks are counted; they can end between samples.
        let watch = |_| meter.add(0);
        let right = answers.right(&victims, &watch)?;
        let (mut found, mut warnings, mut first_error) = (Vec::new(), Vec::new(), None);
        for (name, attack) in &self.attacks {
            match attack.check_fed(answers).and_then(|()| attack.run(answers, &watch)) {
                Ok(guesses) => {
                    let guesses = of_victims(guesses, &victims)?;
                    warnings.extend(undecided(&guesses, Some(name)));
                    warnings.extend(attack.warning(answers));
                    found.push((name.clone(), measures.metrics(&guesses, answers.labels(), right.as_ref())?));
                }
                Err(error) if is_of_the_attack(&error) => {
                    warnings.push(left_out(name, &error));
                    first_error.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
            meter.add(1)?;
        }
        if let Some(error) = first_error.filter(|_| found.is_empty()) {
            return Err(error);
        }
        // Those of the samples, if any attack looks at them.
        let looks_at =
            self.attacks.iter().map(|(_, attack)| attack.looks_at()).filter(|&looks_at| answers.has(looks_at));
        let looks_at = looks_at.min().unwrap_or(LooksAt::Sample);
        let words = if found.len() == 1 { "1 attack".into() } else { format!("{} attacks", found.len()) };
        let models = VictimModels { victims: victims.len(), models, samples, views: answers.views(looks_at) };
        Ok(MembershipAnswer::new(MembershipAnswer::SCHEMA, words, models, warnings, &found))
    }
}

impl ComparisonStudy<'_> {
    fn list_of_victims(&self, models: usize) -> Result<Vec<usize>> {
        Error::check_length(!self.attacks.is_empty(), "attacks", 0, "at least 1")?;
        let others = |attack: &Attack| attack.victims().is_some_and(|victims| *victims != self.victims);
        if let Some((name, _)) = self.attacks.iter().find(|(_, attack)| others(attack)) {
            let reason = format_args!("{name} attacks other models than the study");
            return Err(Error::rejected("comparison of attacks", reason));
        }
        match &self.victims {
            // Whether the other models are enough is for each attack to decide: a threshold needs none.
            Victims::LeaveOneOut => Ok((0..models).collect()),
            victims @ Victims::HeldOut(_) => victims.list(models),
        }
    }

    /// Attacks that are left out in the end also have their share of the failure probability, so the shares do not
    /// depend on the scores.
    fn measures(&self) -> Measures {
        let attacks = match self.failure_per {
            FailurePer::Answer => self.attacks.len(),
            FailurePer::Query => 1,
        };
        Measures { plan: MembershipPlan { attacks, ..self.measures.plan.clone() }, ..self.measures.clone() }
    }
}

/// Answers that cannot be read end the study; those that one attack cannot use do not.
fn is_of_the_attack(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Rejected | ErrorKind::Domain | ErrorKind::Length | ErrorKind::NoConvergence => true,
        ErrorKind::Syntax | ErrorKind::Unavailable | ErrorKind::Contradiction => false,
        ErrorKind::Interrupted | ErrorKind::Input | ErrorKind::Io => false,
    }
}

fn left_out(name: &str, error: &Error) -> Warning {
    Warning {
        code: "attack-left-out",
        message: format!("{name} is left out: {}", error.reason()),
        hint: "record logits of more models, or name the attacks that you want".into(),
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
