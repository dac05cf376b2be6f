use super::*;
use crate::TrainingCheckpoint;
use crate::augment::Augmentation;
use crate::fixmatch::{FixMatchPlan, Unlabeled};
use crate::network::NetworkPlan;
use crate::sample::{on_sample, on_threads, rejection, train_on_sample, until};
use leakbound::Error;
use leakbound::distribution::{ThresholdForm, ThresholdTest};
use leakbound::label_dp::LabelCanaries;
use leakbound::quantity::{Delta, NoiseScale};
use std::path::Path;

fn plan() -> PateFmPlan {
    let training = FixMatchPlan {
        steps: 60,
        batch: 16,
        unlabeled: Some(Unlabeled { ratio: 2, confidence: 0.8, weight: 1.0 }),
        rate: 0.05,
        momentum: 0.9,
        weight_decay: 0.0,
        average: 0.9,
        augmentation: Some(Augmentation { flip: true, shift: 1 }),
        side_by_side: None,
    };
    let scale = |sigma| NoiseScale::new(sigma).unwrap();
    PateFmPlan {
        teachers: 6,
        network: NetworkPlan::Mlp { hidden: 16 },
        teacher_training: training.clone(),
        student_training: FixMatchPlan { steps: 80, ..training },
        voting: VotingPlan {
            test: ThresholdTest::new(4.0, scale(1.0), ThresholdForm::PerClass).unwrap(),
            sigma: scale(0.5),
            goal: LabelGoal::Total(100),
            queries: 300,
            delta: Delta::new(1e-5).unwrap(),
        },
        canaries: 90,
        runs: 2,
        seed: 1,
    }
}

/// Trains until more than this many networks are done, with or without an existing checkpoint.
fn train_until(plan: &PateFmPlan, checkpoint: Option<(&Path, bool)>, networks: u64) -> Result<PateFmModels> {
    let open = |(path, resume)| TrainingCheckpoint::open(path, resume, "pate-fm", "cpu", &[], &plan.votes());
    let checkpoint = checkpoint.map(open).transpose()?;
    on_sample(&until(networks.saturating_add(1)), checkpoint.as_ref(), |context| train_pate_fm(context, plan))
}

fn train(plan: &PateFmPlan) -> Result<PateFmModels> {
    train_on_sample(train_pate_fm, plan)
}

#[test]
fn a_student_learns_from_noisy_votes() {
    let models = train(&plan()).unwrap();
    assert_eq!(models.runs.len(), 2);
    for run in &models.runs {
        println!(
            "teachers {:.3}, plurality {}, labels {:?}, student {}, supervised {}",
            run.teacher_accuracy, run.ensemble_accuracy, run.labeling, run.test_accuracy, run.supervised_accuracy
        );
        // Ten classes: a network that learned nothing has 10%. Processors differ in the last digits: room for them.
        assert!(run.teacher_accuracy.iter().all(|&accuracy| accuracy > 0.3));
        assert!(run.ensemble_accuracy > 0.5 && run.test_accuracy > 0.4 && run.supervised_accuracy > 0.4);
        assert_eq!((run.labeling.labels, run.complete, run.votes.dim()), (100, true, (300, 6)));
        assert!(run.labeling.accuracy().unwrap() > 0.5);
        assert!(run.labeling.epsilon < plan().voting.claimed_epsilon());
        // Each query once, and a label for each answered one.
        let mut queries = run.query_index.to_vec();
        queries.sort_unstable();
        queries.dedup();
        assert_eq!(queries.len(), 300);
        assert_eq!(run.given_label.iter().filter(|&&label| label >= 0).count(), 100);
        assert!(run.used.iter().zip(&run.given_label).all(|(&used, &label)| used == (label >= 0)));
        let classes = |labels: &Array1<i64>| labels.iter().map(|&label| label as usize).collect();
        let logits = run.logits.mapv(f64::from);
        assert!(LabelCanaries::from_logits(&logits, classes(&run.labels_true), classes(&run.labels_trained)).is_ok());
    }
    let [first, second] = [&models.runs[0], &models.runs[1]];
    assert!(first.canary_index != second.canary_index && first.query_index != second.query_index);
    assert!(first.label_seed != second.label_seed && first.votes != second.votes);
    // A run does not depend on how many there are.
    let alone = train(&PateFmPlan { runs: 1, ..plan() }).unwrap();
    assert_eq!(alone.runs[0].query_index, first.query_index);
    assert_eq!((&alone.runs[0].canary_index, alone.runs[0].label_seed), (&first.canary_index, first.label_seed));
}

/// Interrupted after the first group of teachers, and gone on with; then with other noise and the same teachers.
#[test]
fn a_resumed_training_is_the_same() {
    let plan = PateFmPlan { runs: 1, ..plan() };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.checkpoint");
    let whole = on_threads(2, || train(&plan)).unwrap();
    // Among the teachers, and after the student.
    for (resume, networks) in [(false, 3), (true, 6)] {
        let error = train_until(&plan, Some((&path, resume)), networks).unwrap_err();
        assert!(matches!(error, Error::Interrupted), "{error}");
    }
    assert!(train_until(&plan, Some((&path, true)), u64::MAX).unwrap() == whole);
    // Now all networks are there, and none is trained again.
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes.iter().filter(|&&byte| byte == b'\n').count(), 2 + 4);
    assert!(train_until(&plan, Some((&path, true)), u64::MAX).unwrap() == whole);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let other = PateFmPlan {
        voting: VotingPlan { goal: LabelGoal::PerClass { labels: 5, answers: None }, ..plan.voting },
        ..plan.clone()
    };
    let again = train_until(&other, Some((&path, true)), u64::MAX).unwrap();
    assert!(again == train(&other).unwrap());
    assert_eq!(again.runs[0].votes, whole.runs[0].votes);
    let used = |class: i32| {
        let given = again.runs[0].given_label.iter().zip(&again.runs[0].used);
        given.filter(|&(&label, &used)| label == class && used).count()
    };
    assert!((0..10).all(|class| used(class) <= 5) && (0..10).any(|class| used(class) == 5));
    let strange = PateFmPlan { teachers: 5, ..plan };
    let error = train_until(&strange, Some((&path, true)), u64::MAX).unwrap_err().to_string();
    assert!(error.contains("plan: found"), "{error}");
}

#[test]
fn what_cannot_be_trained_is_rejected() {
    let message = |change: &dyn Fn(&mut PateFmPlan)| rejection(PateFmPlan { runs: 1, ..plan() }, change, train);
    assert_eq!(message(&|plan| plan.teachers = 0), "teachers = 0 is not in [1, inf)");
    assert_eq!(message(&|plan| plan.canaries = 0), "canaries = 0 is not in [1, inf)");
    assert_eq!(message(&|plan| plan.runs = 0), "runs = 0 is not in [1, inf)");
    assert_eq!(message(&|plan| plan.teachers = 2001), "PATE-FM: 2001 teachers of 2000 training images");
    assert_eq!(message(&|plan| plan.voting.queries = 2001), "PATE-FM: 2001 queries of 2000 training images");
    assert_eq!(message(&|plan| plan.canaries = 2001), "PATE-FM: 2001 canaries of 2000 training images");
    assert_eq!(
        message(&|plan| plan.voting.goal = LabelGoal::PerClass { labels: 31, answers: None }),
        "PATE-FM: 310 labels, but 300 answers at most; allow more answers and queries"
    );
    let scale = |sigma| NoiseScale::new(sigma).unwrap();
    assert_eq!(
        message(&|plan| plan.voting.test = ThresholdTest::new(1e6, scale(1.0), ThresholdForm::Max).unwrap()),
        "PATE-FM: run 0 gave no label in 300 queries; lower the threshold or make more queries"
    );
    assert_eq!(
        message(&|plan| plan.student_training.rate = 1e30),
        "training: parameters are no longer finite; lower the learning rate"
    );
}

#[test]
fn every_label_belongs_to_one_teacher() {
    let parts = parts(103, 10, (5, 1));
    let mut all = parts.concat();
    all.sort_unstable();
    assert_eq!(all, (0..103).collect::<Vec<u32>>());
    assert!(parts.iter().all(|part| part.len() == 10 || part.len() == 11));
}

#[test]
fn fewer_queries_are_the_first_of_more() {
    let (few, all) = (queries(50, 20, (5, 0)), queries(50, 50, (5, 0)));
    assert_eq!(few, all[..20]);
    assert_ne!(all, queries(50, 50, (5, 1)));
}

/// What teachers answer until the student has its labels.
mod labels {
    use super::super::*;
    use leakbound::accountant::{confident_gnmax_data_independent, threshold_data_independent};
    use leakbound::distribution::{ThresholdForm, ThresholdTest};
    use leakbound::quantity::{Delta, NoiseScale, Order};

    fn plan(goal: LabelGoal, form: ThresholdForm) -> VotingPlan {
        let scale = |sigma| NoiseScale::new(sigma).unwrap();
        VotingPlan {
            test: ThresholdTest::new(60.0, scale(40.0), form).unwrap(),
            sigma: scale(12.0),
            goal,
            queries: 200,
            delta: Delta::new(1e-5).unwrap(),
        }
    }

    /// Of 100 teachers; every third query is of a class that is asked about seldom.
    fn queries() -> Vec<(VoteHistogram, usize)> {
        let counts = |query: usize| if query.is_multiple_of(3) { vec![10, 85, 5] } else { vec![90, 6, 4] };
        (0..300)
            .map(|query| (VoteHistogram::new(counts(query)).unwrap(), usize::from(query.is_multiple_of(3))))
            .collect()
    }

    #[test]
    fn queries_end_with_the_last_label() {
        for form in [ThresholdForm::Max, ThresholdForm::PerClass] {
            let given = give_labels(&queries(), 3, &plan(LabelGoal::Total(30), form), 7).unwrap();
            assert_eq!((given.labeling.labels, given.complete), (30, true));
            assert!(given.answers.last().unwrap().is_some() && given.used.iter().filter(|used| **used).count() == 30);
            assert_eq!(given.labeling.queries as usize, given.answers.len());
            assert!(given.answers.len() > 30 && given.answers.len() < 200, "{}", given.answers.len());
            // A larger goal begins with the same answers.
            let more = give_labels(&queries(), 3, &plan(LabelGoal::Total(60), form), 7).unwrap();
            assert_eq!(more.answers[..given.answers.len()], given.answers);
            // What was charged for these votes is below what the claim is for any.
            let claimed = plan(LabelGoal::Total(30), form).claimed_epsilon();
            println!("{form}: {} queries, {} of {claimed}", given.answers.len(), given.labeling.epsilon);
            assert!(given.labeling.epsilon < claimed);
        }
    }

    #[test]
    fn labels_of_each_class_are_paid_for_and_not_all_used() {
        let goal = |answers| LabelGoal::PerClass { labels: 20, answers };
        // The third class is never the plurality, and hardly ever an answer.
        let given = give_labels(&queries(), 3, &plan(goal(None), ThresholdForm::Max), 7).unwrap();
        assert!(!given.complete && given.answers.len() == 200);
        for class in 0..2 {
            let of_class = |used: bool| {
                let both = given.answers.iter().zip(&given.used);
                both.filter(|(answer, is)| **answer == Some(class) && (!used || **is)).count()
            };
            println!("class {class}: {} answers", of_class(false));
            assert!(of_class(true) == 20 && of_class(false) > 20);
        }
        let bounded = give_labels(&queries(), 3, &plan(goal(Some(50)), ThresholdForm::Max), 7).unwrap();
        assert_eq!(bounded.labeling.labels, 50);
        assert_eq!(bounded.answers[..], given.answers[..bounded.answers.len()]);
    }

    /// N tests and A answers, at the order that is best.
    #[test]
    fn the_claim_is_that_of_all_queries_and_answers() {
        let plan = plan(LabelGoal::Total(30), ThresholdForm::PerClass);
        let scale = |sigma| NoiseScale::new(sigma).unwrap();
        let least = order_grid().into_iter().map(|order: Order| {
            let answered = confident_gnmax_data_independent(order, scale(40.0), scale(12.0));
            let rdp = 30.0 * answered + 170.0 * threshold_data_independent(order, scale(40.0));
            Conversion::Improved.epsilon(rdp, order, plan.delta).get()
        });
        let least = least.fold(f64::INFINITY, f64::min);
        assert!((plan.claimed_epsilon().get() / least - 1.0).abs() < 1e-12);
        let per_class = VotingPlan { goal: LabelGoal::PerClass { labels: 3, answers: None }, ..plan };
        assert_eq!((per_class.answers(), plan.answers()), (200, 30));
        assert!(per_class.claimed_epsilon() > plan.claimed_epsilon());
    }
}
