//! Students on the sample of Fashion-MNIST.

use super::*;
use crate::sample::{on_sample, rejection, train_on_sample, unwatched};
use crate::{NetworkPlan, Optimizer, Schedule, TrainingCheckpoint, TrainingPlan};
use leakbound::accountant::{ChargedAnswer, PrivacyBudget, VoteCost, label_until_spent};
use leakbound::distribution::{Noise, ThresholdForm, ThresholdTest};
use leakbound::divergence::{Conversion, RdpCurve, order_grid};
use leakbound::membership::{MembershipScore, ScoredLogits, threshold_attack};
use leakbound::quantity::{Delta, Epsilon, NoiseScale, Order};
use leakbound::record::{ArrayWriter, ShadowRecording, shadow_models_from_bytes, votes_from_bytes};
use leakbound::simulate::{Stream, StreamId, World, draw_confident_answer};

fn budgets(budgets: &[f64]) -> Vec<PrivacyBudget> {
    let budget = |&budget: &f64| {
        let delta = Delta::new(1e-5).unwrap();
        PrivacyBudget::new(Epsilon::new(budget).unwrap(), delta, Conversion::Improved, order_grid()).unwrap()
    };
    budgets.iter().map(budget).collect()
}

/// 10 teachers are few: the budgets are large where the noise leaves the labels right.
fn plan() -> StudentPlan {
    let scale = |sigma| NoiseScale::new(sigma).unwrap();
    StudentPlan {
        teachers: 10,
        images: None,
        network: NetworkPlan::Mlp { hidden: 16 },
        training: TrainingPlan::new(10, 32, Optimizer::ADAM, Schedule::Constant { rate: 2e-3 }),
        labeling: LabelingPlan {
            test: ThresholdTest::new(6.0, scale(3.0), ThresholdForm::Max).unwrap(),
            sigma: scale(1.5),
            budgets: budgets(&[30.0, 60.0]),
            costs: LabelCosts::DataDependent,
        },
        public: 0.8,
        private: 300,
        student_network: NetworkPlan::Mlp { hidden: 16 },
        student_training: TrainingPlan::new(
            50,
            16,
            Optimizer::ADAM,
            Schedule::Exponential { rate: 2e-3, factor: 0.95, parts: 50 },
        ),
        baselines: 0,
        runs: 2,
        seed: 1,
    }
}

fn train(plan: &StudentPlan) -> Result<Students> {
    train_on_sample(train_student, plan)
}

fn train_with(checkpoint: &TrainingCheckpoint, plan: &StudentPlan) -> Result<Students> {
    on_sample(&unwatched, Some(checkpoint), |context| train_student(context, plan))
}

/// A resumed run trains nothing again and finds its results; other students have the same teachers and learn afresh.
#[test]
fn everything_is_resumed_and_other_students_are_not_mistaken_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("students.checkpoint");
    let open = |resume| TrainingCheckpoint::open(&path, resume, "student", "CPU", &[], &"teachers").unwrap();
    let plan = StudentPlan { runs: 1, baselines: 2, ..plan() };
    let whole = train_with(&open(false), &plan).unwrap();
    let checkpoint = open(true);
    assert_eq!(checkpoint.networks(), plan.networks());
    let before = std::fs::read(&path).unwrap();
    assert_eq!(train_with(&checkpoint, &plan).unwrap(), whole);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let mut training = plan.student_training.clone();
    training.epochs = 2;
    let others = [
        StudentPlan { student_network: NetworkPlan::Mlp { hidden: 8 }, ..plan.clone() },
        StudentPlan { student_training: training, ..plan.clone() },
        StudentPlan { private: 200, ..plan.clone() },
        StudentPlan { baselines: 1, ..plan },
    ];
    for other in others {
        assert_eq!(train_with(&checkpoint, &other).unwrap(), train(&other).unwrap());
    }
}

#[test]
fn students_learn_from_labels_within_their_budgets() {
    let plan = plan();
    let students = train(&plan).unwrap();
    for (run, found) in students.runs.iter().enumerate() {
        println!("{run}: {found:?}");
        for (student, (labeling, budget)) in found.labelings.iter().zip(&plan.labeling.budgets).enumerate() {
            assert!(labeling.epsilon <= budget.epsilon() && labeling.labels > 0);
            let accuracy = found.student_accuracies[student];
            // Ten classes: a student that learned nothing has 10%. Processors differ in the last digits: room for them.
            assert!(accuracy > 0.25, "{accuracy}");
            let kept = students.keep.row(2 * run + student).iter().filter(|&&kept| kept).count();
            assert_eq!(kept as u64, labeling.labels);
        }
        assert!(found.labelings[0].queries < found.labelings[1].queries);
        // Only queries within the budget have labels, and those of the smaller budget are among them.
        let given = students.given_label.row(run);
        let rows = [0, 1].map(|student| students.keep.row(2 * run + student));
        assert!(given.iter().zip(rows[1]).all(|(&label, &kept)| (label >= 0) == kept));
        assert!(rows[0].iter().zip(rows[1]).all(|(small, large)| !small || *large));
        let early: Vec<usize> = students.query_order.row(run).iter().map(|&query| query as usize).collect();
        let early = &early[..found.labelings[0].queries as usize];
        assert!((0..rows[0].len()).all(|query| rows[0][query] == (rows[1][query] && early.contains(&query))));
    }
    let mut images: Vec<u32> = students.pate_images.index_axis(Axis(0), 1).iter().copied().collect();
    images.sort_unstable();
    assert_eq!(images, (0..2000).collect::<Vec<u32>>());
    assert_eq!(students.baselines, None);
    // Another budget or an additional baseline changes no student.
    let mut alone = StudentPlan { baselines: 2, ..plan.clone() };
    alone.labeling.budgets = budgets(&[30.0]);
    let alone = train(&alone).unwrap();
    assert_eq!(alone.logits.index_axis(Axis(0), 1), students.logits.index_axis(Axis(0), 2));
    // Baselines know the private images, and each is another network.
    let baselines = alone.baselines.unwrap();
    let known = accuracies(&baselines.private_logits, &alone.private_label);
    println!("baselines: {known:?} of private images, {:?} of others", baselines.accuracies);
    assert_eq!((baselines.private_logits.dim(), baselines.accuracies.len()), ((2, 300, 10), 2));
    assert!(known.iter().zip(&baselines.accuracies).all(|(private, other)| private - other > 0.05));
    assert_ne!(known[0], known[1]);
    assert_eq!(alone.runs[0].student_accuracies.len(), 1);
}

/// What other commands read from the recording is what was trained.
#[test]
fn the_recording_tells_the_whole_story() {
    let plan = StudentPlan { runs: 1, ..plan() };
    let students = train(&plan).unwrap();
    let mut writer = ArrayWriter::new("students.npz");
    writer.add("pate_votes", &students.pate_votes).unwrap();
    writer.add("query_label", &students.query_label).unwrap();
    writer.add("logits", &students.logits).unwrap();
    writer.add("labels", &students.query_label.mapv(i64::from)).unwrap();
    writer.add("keep", &students.keep).unwrap();
    let bytes = writer.finish().unwrap();

    // The library's own loop, on the recorded votes and with the recorded seed.
    let votes = votes_from_bytes("students.npz", bytes.clone()).unwrap().histograms(0).unwrap();
    let labeling = &plan.labeling;
    let mut budget = labeling.budgets[1].clone();
    let answers = students.query_order.row(0).into_iter().enumerate().map(|(place, &query)| {
        let query = &votes.queries[query as usize];
        let id = StreamId { seed: students.label_seed[0], query: place as u64, world: World::Dataset, block: 0 };
        let noise = Noise::Gaussian(labeling.sigma);
        let class = draw_confident_answer(&query.histogram, Some(&labeling.test), noise, &mut Stream::new(id));
        let charge = |order: Order| {
            VoteCost::of_moved_vote(noise, Some(&labeling.test), &query.histogram)
                .in_both_directions(order)
                .realized(class.is_some())
        };
        ChargedAnswer { class, cost: RdpCurve::from_fn(labeling.orders(), charge), label: query.label }
    });
    assert_eq!(label_until_spent(answers, &mut budget).unwrap(), students.runs[0].labelings[1]);

    // The points that a student was trained on are restored better than by chance.
    let ShadowRecording::Logits(logits) = shadow_models_from_bytes("students.npz", bytes).unwrap() else {
        panic!("logits are recorded");
    };
    let guesses = threshold_attack(&ScoredLogits::new(&logits, MembershipScore::Loss)).unwrap();
    let labels = students.runs[0].labelings[0].labels;
    let row = guesses.scores();
    let mut points: Vec<usize> = (0..guesses.samples()).collect();
    points.sort_by(|&a, &b| row[[0, b]].total_cmp(&row[[0, a]]));
    let restored = points[..labels as usize].iter().filter(|&&point| students.keep[[0, point]]).count();
    let chance = labels as f64 / students.query_label.len() as f64;
    println!("{restored} of {labels} restored, share of labeled points {chance}");
    assert!(restored as f64 > chance * labels as f64);
}

#[test]
fn what_cannot_be_trained_is_rejected() {
    let rejected = |change: &dyn Fn(&mut StudentPlan)| rejection(plan(), change, train);
    let messages = [
        rejected(&|plan| plan.teachers = 0),
        rejected(&|plan| plan.images = Some(201)),
        rejected(&|plan| plan.runs = 0),
        rejected(&|plan| plan.labeling.budgets.clear()),
        rejected(&|plan| plan.labeling.budgets = budgets(&[1.0, 0.0])),
        rejected(&|plan| plan.public = f64::NAN),
        rejected(&|plan| plan.private = 2001),
        rejected(&|plan| plan.student_training.batch = 0),
        rejected(&|plan| plan.baselines = 300_000),
        rejected(&|plan| {
            let order = vec![Order::new(2.0).unwrap()];
            let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-5).unwrap());
            let other = PrivacyBudget::new(epsilon, delta, Conversion::Classic, order).unwrap();
            plan.labeling.budgets.push(other);
        }),
        rejected(&|plan| plan.labeling.budgets = budgets(&[0.01])),
    ];
    insta::assert_snapshot!(messages.join("\n"), @r"
    teachers = 0 is not in [1, inf)
    teachers: 10 teachers with 201 images each need more than the 2000 there are
    runs = 0 is not in [1, inf)
    budgets = 0 is not in [1, inf)
    budget = 0 is not in (0, inf]
    share of public images = NaN is not in (0, 1)
    students: 2001 private images of 2000 training images
    images in a step = 0 is not in [1, inf)
    baselines: 300000 simultaneous networks of 2000 images need more than 4 GiB for tables
    students: budgets on different orders
    students: run 0 gave no label within a budget of 0.01 (0 queries); raise the budget or lower the threshold
    ");
}

#[test]
fn every_class_is_split_alike_and_no_image_is_on_both_sides() {
    let labels: Vec<u8> = (0..100).map(|image| if image < 70 { 0 } else { 2 }).collect();
    let [public, held_out] = public_and_held_out(&labels, 3, 0.8, 1).unwrap();
    let of_class_0 = |images: &[u32]| images.iter().filter(|&&image| image < 70).count();
    assert_eq!((public.len(), of_class_0(&public), of_class_0(&held_out)), (80, 56, 14));
    let mut all = [public, held_out].concat();
    all.sort_unstable();
    assert_eq!(all, (0..100).collect::<Vec<u32>>());
    let error = public_and_held_out(&labels, 3, 0.999, 1).unwrap_err().to_string();
    assert_eq!(error, "students: 100 public images and 0 to measure with, of 100");
}
