//! What students of teachers show about the membership of the teachers' images.

mod answer;
mod quarters;
mod summary;

pub use answer::{
    AttackedStudentRow, AucRow, BudgetMembershipRow, ClassAucRow, StudentFinding, StudentFindingRow,
    StudentMembershipAnswer,
};

use super::bounds::usual_failure;
use super::number::Number;
use super::progress::{Meter, Progress};
use super::{Study, Warning};
use crate::bound::{Interval, Validity};
use crate::error::Result;
use crate::membership::{
    AttackScores, MembershipScore, MemoryLogits, MemoryScores, Victims, auc_limits, mean_auc, mean_auc_limits,
    risk_score, tpr_at_fpr, trained_attacker,
};
use crate::quantity::{FailureProbability, Probability};
use crate::record::RecordedStudents;
use crate::roc::Roc;
use ndarray::{Array1, Array3, Array4, ArrayView2, Axis};
use quarters::{PARTS, Quarters};
use summary::{budgets, findings};

/// A risk score this near to ½ shows nothing.
const NEAR: f64 = 0.05;
/// Points of the distribution of risk scores.
const QUANTILES: usize = 100;

/// Do students answer differently on the private images of their teachers than on images that no model was trained on?
///
/// Every student is attacked separately: with a threshold on the loss, whose area under the ROC needs no choice of a
/// threshold; with a trained attacker; and with the privacy-risk score. The samples are dealt into four random
/// quarters. The attacker learns on two of them and is measured on the others, and vice versa; a risk score is read
/// from the other three. Several runs show how much students differ from run to run.
///
/// # What the limits guarantee
/// The limits are about the areas of two distributions for the recorded students, and hold for every number of images
/// if, given a student, the losses of private images are independent draws from one distribution and those of test
/// images from another. This is an assumption, because its teachers have seen the private images. With M models each
/// area has the share f/(2M) of the failure probability, and all AUC limits hold simultaneously. Nothing is assumed
/// about how students depend on each other: they share teachers and images, and a budget's limits are the means of
/// those of its students.
///
/// The threshold has [`auc_limits`]. The trained attacker is two networks, each measured on two quarters that it has not
/// seen: given the network their areas are independent, and [`mean_auc_limits`] bounds their mean. The two networks depend
/// on each other's quarters, so each has half of the failure probability, and the ends of both are averaged.
///
/// # References
/// Those of [`auc_limits`] and [`mean_auc_limits`] for the limits;
/// Ihrig (2021), thesis, sections 5.2 and 6.2; Song and Mittal (2021), "Systematic evaluation of privacy risks of machine
/// learning models", section 4.1.
#[derive(Debug, Clone)]
pub struct StudentMembershipStudy {
    /// The answers.
    pub students: RecordedStudents,
    /// False-positive rate at which members are counted.
    pub fpr: Probability,
    /// Bins of the risk score.
    pub bins: usize,
    /// Failure probability of all AUC limits together, and of all TPR limits together.
    pub failure_probability: FailureProbability,
    /// The seed of quarters and of the trained attacker.
    pub seed: u64,
}

impl StudentMembershipStudy {
    /// Members counted at an FPR of 1%, 15 bins, and a failure probability of 0.05.
    #[must_use]
    pub fn new(students: RecordedStudents) -> Self {
        let fpr = Probability::new(0.01).expect("a probability");
        Self { students, fpr, bins: 15, failure_probability: usual_failure(), seed: 0 }
    }
}

impl Study for StudentMembershipStudy {
    type Answer = StudentMembershipAnswer;

    /// # Errors
    /// [`Error::Domain`](crate::Error::Domain) for a number of bins outside {2, ..., 10000},
    /// [`Error::Length`](crate::Error::Length) for fewer than eight images of a kind,
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    fn run(&self, progress: &Progress<'_>) -> Result<StudentMembershipAnswer> {
        let recorded = &self.students;
        let of_student = |index: usize| {
            let index =
                (recorded.private_logits.index_axis(Axis(0), index), recorded.test_logits.index_axis(Axis(0), index));
            [index.0, index.1]
        };
        let mut models: Vec<_> =
            (0..recorded.budget.len()).map(|index| (Some(recorded.budget[index]), of_student(index))).collect();
        if let Some([private, test]) = &recorded.baseline {
            let pairs = private.axis_iter(Axis(0)).zip(test.axis_iter(Axis(0)));
            models.extend(pairs.map(|(private, test)| (None, [private, test])));
        }
        let meter = Meter::new(progress, models.len() as u64, "models");
        let share = self.failure_probability.split(models.len());
        let mut students = Vec::new();
        for (budget, logits) in models {
            students.push(self.attack(budget, logits, share)?);
            meter.add(1)?;
        }
        Ok(StudentMembershipAnswer {
            members: recorded.private_label.len(),
            non_members: recorded.test_label.len(),
            fpr: self.fpr.get(),
            failure_probability: Number(self.failure_probability.get()),
            validity: Validity::FiniteSample,
            findings: findings(&students),
            budgets: budgets(&students),
            warnings: warnings(recorded),
            students,
        })
    }
}

impl StudentMembershipStudy {
    /// All attacks on one model.
    fn attack(
        &self,
        budget: Option<f64>,
        logits: [ArrayView2<'_, f32>; 2],
        share: FailureProbability,
    ) -> Result<AttackedStudentRow> {
        let labels = [&self.students.private_label, &self.students.test_label];
        let losses = scores(MembershipScore::Loss, logits, labels)?;
        let each = share.split(2);
        let roc = Roc::new(&losses[0], &losses[1])?;
        let at = tpr_at_fpr(&roc, self.fpr, share)?;
        let quarters = Quarters::new([labels[0].len(), labels[1].len()], self.seed)?;
        let attacker = self.trained(&quarters, logits, each)?;
        let entropies = scores(MembershipScore::ModifiedEntropy, logits, labels)?;
        let mut risks = self.risks(&quarters, &entropies)?;
        risks.sort_unstable_by(f64::total_cmp);
        let near = risks.iter().filter(|risk| (**risk - 0.5).abs() <= NEAR).count();
        Ok(AttackedStudentRow {
            budget: budget.map(Number),
            threshold: row(roc.auc(), &[auc_limits(&roc, each)]),
            above: at.above.map(Number),
            tpr: at.tpr_estimate(),
            tpr_lower: at.tpr.lower,
            tpr_upper: at.tpr.upper,
            attacker,
            risk_near_half: near as f64 / risks.len() as f64,
            risk_largest: risks[risks.len() - 1],
            risk_quantiles: (0..=QUANTILES).map(|k| risks[(risks.len() - 1) * k / QUANTILES]).collect(),
            classes: classes(&losses, labels, self.students.test_logits.dim().2),
        })
    }

    /// The trained attacker, of each two quarters on the others.
    fn trained(
        &self,
        quarters: &Quarters,
        logits: [ArrayView2<'_, f32>; 2],
        failure: FailureProbability,
    ) -> Result<AucRow> {
        let samples = quarters.samples();
        let of = Array4::from_shape_fn((PARTS, samples, 1, logits[0].ncols()), |(part, sample, _, class)| {
            let (kind, image) = quarters.image(part, sample);
            f64::from(logits[kind][[image, class]])
        });
        // The attacker does not look at labels.
        let source = MemoryLogits::new(of, Array1::zeros(samples), quarters.members())?;
        let found = trained_attacker(&source, self.seed)?;
        let areas = (0..PARTS).map(|part| of_part(&found, part)).collect::<Result<Vec<Roc>>>()?;
        // One network for the quarters of even number, and one for the others.
        let of_network = |first: usize| {
            let areas: Vec<Roc> = areas.iter().skip(first).step_by(2).cloned().collect();
            mean_auc_limits(&areas, failure.split(2))
        };
        Ok(row(mean_auc(&areas), &[of_network(0)?, of_network(1)?]))
    }

    /// Risk scores of the members, of each quarter by the counts of the others.
    fn risks(&self, quarters: &Quarters, entropies: &[Vec<f64>; 2]) -> Result<Vec<f64>> {
        let of = Array3::from_shape_fn((PARTS, quarters.samples(), 1), |(part, sample, _)| {
            let (kind, image) = quarters.image(part, sample);
            entropies[kind][image]
        });
        let source = MemoryScores::double(of, quarters.members())?;
        let found = risk_score(&source, None, self.bins, &Victims::LeaveOneOut)?.scores;
        let pairs = found.scores().into_iter().zip(found.members());
        Ok(pairs.filter(|&(_, &member)| member).map(|(&risk, _)| risk).collect())
    }
}

/// An area with the means of the ends of intervals.
fn row(auc: f64, intervals: &[Interval]) -> AucRow {
    let mean = |end: &dyn Fn(&Interval) -> f64| intervals.iter().map(end).sum::<f64>() / intervals.len() as f64;
    AucRow { auc, lower: mean(&|interval| interval.lower), upper: mean(&|interval| interval.upper) }
}

fn of_part(found: &AttackScores, part: usize) -> Result<Roc> {
    let (scores, members) = (found.scores(), found.members());
    let of = |member: bool| -> Vec<f64> {
        let pairs = scores.row(part).into_iter().zip(members.row(part));
        pairs.filter(|&(_, &truth)| truth == member).map(|(&score, _)| score).collect()
    };
    Roc::new(&of(true), &of(false))
}

/// Scores of members and of others, high meaning member.
fn scores(score: MembershipScore, logits: [ArrayView2<'_, f32>; 2], labels: [&Vec<usize>; 2]) -> Result<[Vec<f64>; 2]> {
    let of = |kind: usize| -> Result<Vec<f64>> {
        let rows = logits[kind].axis_iter(Axis(0)).zip(labels[kind]);
        rows.map(|(row, &label)| score.of(&row.iter().map(|&z| f64::from(z)).collect::<Vec<_>>(), label)).collect()
    };
    Ok([of(0)?, of(1)?])
}

fn classes(losses: &[Vec<f64>; 2], labels: [&Vec<usize>; 2], classes: usize) -> Vec<ClassAucRow> {
    let of = |kind: usize, class: usize| -> Vec<f64> {
        let rows = losses[kind].iter().zip(labels[kind]);
        rows.filter(|(_, label)| **label == class).map(|(&loss, _)| loss).collect()
    };
    // One image makes no curve.
    let several = |scores: Vec<f64>| Some(scores).filter(|scores| scores.len() > 1);
    let auc = |class| Some(Roc::new(&several(of(0, class))?, &several(of(1, class))?).ok()?.auc());
    (0..classes).map(|class| ClassAucRow { class, auc: auc(class) }).collect()
}

fn warnings(recorded: &RecordedStudents) -> Vec<Warning> {
    let mut warnings = vec![Warning {
        code: "given-the-models",
        message:
            "limits are for these models and assume that images are independent draws, given a model; other students \
                  may leak more or less"
                .into(),
        hint: "record several runs to see how much students differ".into(),
    }];
    if recorded.baseline.is_none() {
        warnings.push(Warning {
            code: "no-baseline",
            message: "there is no model without privacy to compare the students with".into(),
            hint: "train one, or add its logits on the same images as baseline_private_logits and baseline_test_logits"
                .into(),
        });
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Decision, unwatched};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::StandardNormal;

    /// Number of images: enough that limits can tell an area from ½, and two areas apart, to 0.05.
    const PRIVATE: usize = 12_000;
    const TEST: usize = 11_200;

    /// Logits \[model, image, class\] of four classes: standard normal, plus, at the label, a margin by model.
    fn logits(margins: &[f64], images: usize, seed: u64) -> Array3<f32> {
        let mut stream = ChaCha8Rng::seed_from_u64(seed);
        Array3::from_shape_fn((margins.len(), images, 4), |(model, image, class)| {
            let noise: f64 = stream.sample(StandardNormal);
            (noise + if class == image % 4 { margins[model] } else { 0.0 }) as f32
        })
    }

    fn study(private: &[f64], budget: Vec<f64>) -> StudentMembershipStudy {
        let labels = |images: usize| (0..images).map(|image| image % 4).collect();
        StudentMembershipStudy {
            students: RecordedStudents {
                private_logits: logits(private, PRIVATE, 1),
                private_label: labels(PRIVATE),
                test_logits: logits(&vec![1.0; private.len()], TEST, 2),
                test_label: labels(TEST),
                budget: budget.into(),
                baseline: Some([logits(&[3.0], PRIVATE, 3), logits(&[1.0], TEST, 4)]),
            },
            fpr: Probability::new(0.01).unwrap(),
            bins: 15,
            failure_probability: FailureProbability::new(0.05).unwrap(),
            seed: 0,
        }
    }

    fn decisions(answer: &StudentMembershipAnswer) -> Vec<Decision> {
        answer.findings.iter().map(|row| row.decision).collect()
    }

    #[test]
    fn students_that_show_nothing_are_near_guessing_and_leaks_are_found() {
        let silent = study(&[1.0, 1.0, 1.0], vec![5.0, 1.0, 1.0]).run(&unwatched).unwrap();
        println!("{:?} {:?}", silent.budgets, silent.findings);
        assert_eq!(decisions(&silent), [Decision::Agrees, Decision::Agrees]);
        let shape: Vec<_> = silent.budgets.iter().map(|row| (row.budget, row.students)).collect();
        assert_eq!(shape, [(Some(Number(1.0)), 2), (Some(Number(5.0)), 1), (None, 1)]);
        let without = &silent.students[3];
        assert!(without.threshold.lower > 0.7 && without.attacker.lower > 0.7 && without.risk_largest > 0.75);
        assert!(silent.students.iter().take(3).all(|row| row.risk_near_half > 0.5 && row.classes.len() == 4));
        assert!(without.risk_near_half < 0.4);
        let rising = study(&[1.0, 2.0], vec![1.0, 10.0]).run(&unwatched).unwrap();
        assert_eq!(decisions(&rising), [Decision::Differs, Decision::Differs]);
        assert_eq!(rising.students, study(&[1.0, 2.0], vec![1.0, 10.0]).run(&unwatched).unwrap().students);
        // A budget without end is a budget, and the largest.
        let endless = study(&[2.0, 1.0], vec![f64::INFINITY, 1.0]).run(&unwatched).unwrap();
        assert_eq!(endless.budgets[1].budget, Some(Number(f64::INFINITY)));
        assert_eq!(decisions(&endless), [Decision::Differs, Decision::Differs]);
    }

    #[test]
    fn one_budget_has_no_rise_and_too_few_images_are_rejected() {
        let mut one = study(&[1.0], vec![2.0]);
        one.students.baseline = None;
        let answer = one.run(&unwatched).unwrap();
        assert_eq!((answer.findings.len(), answer.warnings.len()), (1, 2));
        one.bins = 1;
        assert!(one.run(&unwatched).is_err());
        let Err(error) = Quarters::new([8, 7], 0) else { panic!("seven images have no quarters") };
        assert_eq!(error.to_string(), "images of a kind has length 7; expected at least 8");
    }
}
