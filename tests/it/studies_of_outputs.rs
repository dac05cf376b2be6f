//! Studies of outputs, drawn, recorded or coming in, from the library: the numbers and caveats of the command, progress,
//! and an early end.

use crate::desk::Desk;
use crate::studies::{assert_printed, assert_same, order, watched};
use leakbound::audit::{FailurePer, OutputWorld, StreamCounts, StreamOutput};
use leakbound::bound::{Claimed, Direction};
use leakbound::membership::{LiraPlan, LiraVariance, MembershipPlan, MembershipScore, MemoryScores, Victims};
use leakbound::quantity::{Delta, Epsilon, FailureProbability};
use leakbound::record::{
    MemoryBudget, PartialSimulation, ShadowRecording, read_scenario, read_shadow_models, read_simulated,
};
use leakbound::simulate::{Shard, Simulation};
use leakbound::study::{
    Answer, Attack, BenchStudy, BenchWork, Checkpoints, ComparisonStudy, Measures, MembershipStudy, MergeStudy,
    RecordedAnswers, Sampling, SaveMoment, SimulateStudy, Step, StreamAnswer, StreamStudy, Study, SweepStudy, Varied,
    Verdict, unwatched,
};
use leakbound::{Error, Result};
use ndarray::{Array2, Array3};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

const SCENARIO: &str = "noise = 'gaussian:4'\ncomposition = 'independent'\n\n[[query]]\nmodel = 'pate'\nk = 10\n\
    p = [0.15, 0.6, 0.25]\np_marked = [0.5, 0.1, 0.4]\n\n[[query]]\nmodel = 'prompt-pate'\nhistogram = [3, 1]\n\
    histogram_neighbor = [2, 2]\n";

fn simulation(scenario: &Path, samples: u64) -> SimulateStudy<'static> {
    SimulateStudy {
        scenario: read_scenario(scenario).unwrap(),
        simulation: Simulation::new(samples).unwrap().seed(9),
        shard: Shard::WHOLE,
        sampling: Sampling::MonteCarlo,
        distributions: true,
        checkpoints: None,
    }
}

#[test]
fn a_simulation_and_a_merge_are_the_commands() {
    let desk = Desk::new();
    let scenario = desk.file("s.toml", SCENARIO);
    let command = format!("simulate {} --samples 5e5 --seed 9", scenario.display());
    for sampling in [Sampling::MonteCarlo, Sampling::ExactDistribution] {
        let answer = SimulateStudy { sampling, ..simulation(&scenario, 500_000) }.run(&unwatched).unwrap();
        let name = serde_json::to_value(sampling).unwrap();
        let words = format!("{command} --sampling {}", name.as_str().unwrap());
        assert_printed(&answer, &words);
        assert_eq!((answer.seed(), &desk.json(&words)["seed"]), (Some(9), &9.into()));
    }
    let files = [1, 2].map(|number| {
        desk.stdout(&format!("{command} --shard {number}/2 --format json --output {number}.json"));
        desk.path(&format!("{number}.json"))
    });
    let parts: Vec<_> = files.iter().map(|file| read_simulated(file).unwrap()).collect();
    let [first_file, second_file] = files.each_ref().map(|file| file.display());
    let merged = MergeStudy { parts: parts.clone(), partial: false }.run(&unwatched).unwrap();
    assert_printed(&merged, &format!("merge {first_file} {second_file}"));
    let first = MergeStudy { parts: parts[..1].to_vec(), partial: true };
    let answer = first.run(&unwatched).unwrap();
    assert_eq!(answer.warnings()[0].code, "partial");
    assert_printed(&answer, &format!("merge {first_file} --partial"));
    assert!(matches!(MergeStudy { partial: false, ..first }.run(&unwatched), Err(Error::Input(_))));
}

/// Checkpoints in memory.
#[derive(Default)]
struct Memory {
    saved: Mutex<Option<PartialSimulation>>,
    moments: Mutex<Vec<SaveMoment>>,
}

impl Checkpoints for Memory {
    fn resume(&self, simulation: PartialSimulation) -> Result<PartialSimulation> {
        Ok(self.saved.lock().unwrap().clone().unwrap_or(simulation))
    }

    fn is_due(&self) -> bool {
        self.saved.lock().unwrap().is_none()
    }

    fn save(&self, simulation: &PartialSimulation, moment: SaveMoment) -> Result<()> {
        *self.saved.lock().unwrap() = Some(simulation.clone());
        self.moments.lock().unwrap().push(moment);
        Ok(())
    }
}

#[test]
fn a_simulation_is_saved_before_it_ends() {
    let desk = Desk::new();
    let scenario = desk.file("s.toml", SCENARIO);
    let whole = simulation(&scenario, 2_000_000).run(&unwatched).unwrap();
    let memory = Memory::default();
    let study = || SimulateStudy { checkpoints: Some(&memory), ..simulation(&scenario, 2_000_000) };
    let quarter =
        |step: Step| if 4 * step.done > step.all { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    assert!(matches!(study().run(&quarter), Err(Error::Interrupted)));
    let saved = memory.saved.lock().unwrap().as_ref().unwrap().samples();
    assert!((2_000_001..=4_000_000).contains(&saved), "{saved}");
    // It goes on where it was saved, with the counts of one that was never interrupted.
    let least = Mutex::new(u64::MAX);
    let resumed = study().run(&|step| {
        let mut least = least.lock().unwrap();
        *least = step.done.min(*least);
        ControlFlow::Continue(())
    });
    assert_eq!(least.into_inner().unwrap(), saved);
    assert_eq!(serde_json::to_value(resumed.unwrap()).unwrap(), serde_json::to_value(whole).unwrap());
    // A complete one is only read.
    study().run(&unwatched).unwrap();
    assert_eq!(*memory.moments.lock().unwrap(), [SaveMoment::Due, SaveMoment::Interrupted, SaveMoment::Complete]);
    // What is drawn at once has no parts.
    let at_once = SimulateStudy { sampling: Sampling::ExactDistribution, ..study() };
    assert!(matches!(at_once.run(&unwatched), Err(Error::Rejected { .. })));
}

#[test]
fn a_bench_measures_what_the_command_does() {
    let study = BenchStudy { works: vec![BenchWork::Fixed], threads: 2, time: Duration::from_millis(5) };
    let mut answer = serde_json::to_value(study.run(&unwatched).unwrap()).unwrap();
    let mut printed = Desk::root().json("bench --work fixed --threads 2 --seconds 0.005");
    // All but the speed.
    for document in [&mut answer, &mut printed] {
        for row in document["rows"].as_array_mut().unwrap() {
            for measured in ["samples", "seconds", "rate"] {
                assert!(row.as_object_mut().unwrap().remove(measured).unwrap().as_f64().unwrap() > 0.0);
            }
        }
    }
    assert_same(&answer, &printed);
    assert!(matches!(study.run(&|_| ControlFlow::Break(())), Err(Error::Interrupted)));
}

#[test]
fn a_sweep_ends_early_and_says_what_it_cannot_measure() {
    let time = Duration::from_millis(1);
    let study = SweepStudy { works: vec![BenchWork::Fixed], varied: vec![Varied::Threads], threads: 2, time };
    let answer = study.run(&unwatched).unwrap();
    assert_eq!(answer.rows.iter().map(|row| row.point.threads).collect::<Vec<_>>(), [1, 2]);
    assert!(matches!(study.run(&|_| ControlFlow::Break(())), Err(Error::Interrupted)));
    let pairs = SweepStudy { works: vec![BenchWork::ExactDistributionPair], ..study };
    assert!(matches!(pairs.run(&unwatched), Err(Error::Rejected { .. })));
}

const SHADOW: &str = "validation/data/fashion_lira_original.npz";

fn shadow() -> ShadowRecording {
    read_shadow_models(&[Desk::root().path(SHADOW)], MemoryBudget::default()).unwrap()
}

/// Twelve models and twenty samples; members have higher scores.
fn memory_scores() -> MemoryScores {
    let members = Array2::from_shape_fn((12, 20), |(m, s)| (m * 5 + s * 3 + m * s) % 7 < 4);
    let noise = |m: usize, s: usize| ((m * 13 + s * 29 + m * m * s) % 17) as f64 / 17.0;
    let scores = Array3::from_shape_fn((12, 20, 1), |(m, s, _)| f64::from(u8::from(members[[m, s]])) + noise(m, s));
    MemoryScores::double(scores, members).unwrap()
}

/// The defaults of the command with fewer resamples.
fn measures() -> Measures {
    Measures { plan: MembershipPlan { resamples: Some(100), ..MembershipPlan::default() }, ..Measures::default() }
}

#[test]
fn a_membership_study_is_the_command() {
    let recording = shadow();
    let attack = Attack::lira(LiraPlan::default(), None);
    let study = MembershipStudy { answers: (&recording).into(), attack, measures: measures() };
    let (answer, seen) = watched(&study);
    assert_printed(&answer, &format!("membership lira {SHADOW} --resamples 100"));
    assert_eq!(answer.verdict(), Verdict::Passed);
    // Every pass over the samples is a phase.
    assert!(seen.iter().all(|step| 0 < step.done && step.done <= step.all && step.unit == "samples"));
    assert!(seen.iter().any(|step| step.done == step.all));
    assert!(matches!(study.run(&|_| ControlFlow::Break(())), Err(Error::Interrupted)));
    // A score is made of logits only.
    let attack = Attack::threshold(Some(MembershipScore::Loss));
    let scores = memory_scores();
    let study = MembershipStudy { answers: RecordedAnswers::scores(&scores, None), attack, ..study };
    assert!(matches!(study.run(&unwatched), Err(Error::Rejected { .. })));
}

#[test]
fn a_comparison_study_is_the_command() {
    let recording = shadow();
    let lira = |variance| Attack::lira(LiraPlan { variance, ..LiraPlan::default() }, None);
    let attacks = [
        ("lira-pooled", lira(LiraVariance::Pooled)),
        ("attacker", Attack::trained(0)),
        ("threshold", Attack::threshold(None)),
        ("lira", lira(LiraVariance::PerSample)),
    ];
    let study = ComparisonStudy {
        answers: (&recording).into(),
        attacks: attacks.map(|(name, attack)| (name.to_owned(), attack)).to_vec(),
        victims: Victims::LeaveOneOut,
        failure_per: FailurePer::Answer,
        measures: measures(),
    };
    let answer = study.run(&unwatched).unwrap();
    let words = format!("membership compare {SHADOW} --resamples 100 --attacks lira-pooled,attacker,threshold,lira");
    assert_printed(&answer, &words);
    assert!(matches!(study.run(&|_| ControlFlow::Break(())), Err(Error::Interrupted)));
    // Of scores an attack on all confidences is left out, and where all are, the error is the first one's.
    let scores = memory_scores();
    let study = ComparisonStudy { answers: RecordedAnswers::scores(&scores, None), ..study };
    let answer = study.run(&unwatched).unwrap();
    let codes: Vec<&str> = answer.warnings().iter().map(|warning| warning.code).collect();
    assert!(answer.roc.len() == 3 && codes.contains(&"attack-left-out"), "{codes:?}");
    let only = |attacks| ComparisonStudy { attacks, ..study.clone() }.run(&unwatched);
    assert!(matches!(only(study.attacks[1..2].to_vec()), Err(Error::Rejected { operation: "trained attacker", .. })));
    assert!(matches!(only(Vec::new()), Err(Error::Length { .. })));
    let others = LiraPlan { victims: Victims::HeldOut(vec![1]), ..LiraPlan::default() };
    assert!(matches!(
        only(vec![("other".into(), Attack::lira(others, None))]),
        Err(Error::Rejected { operation: "comparison of attacks", .. })
    ));
}

fn stream() -> StreamStudy {
    StreamStudy {
        orders: vec![order(3.0)],
        directions: Direction::BOTH.to_vec(),
        failure_probability: FailureProbability::new(0.05).unwrap(),
        claim_epsilon: Some((Epsilon::new(3.0).unwrap(), Delta::new(1e-5).unwrap())),
        claim_rdp: vec![(order(2.0), Claimed::new(0.5).unwrap())],
        horizon: None,
        bins: None,
        pilot_outputs: None,
        seed: 4,
    }
}

/// Outputs of both worlds with more of the dataset: numbers up to 9, which differ between the worlds.
fn outputs() -> impl Iterator<Item = (OutputWorld, usize)> {
    let dataset = |i: usize| (OutputWorld::Dataset, (i * 7) % 10 * (i % 3) / 2);
    (0..900).flat_map(move |i| {
        let neighbor = (i % 2 == 0).then_some((OutputWorld::Neighbor, (i * 7) % 10));
        std::iter::once(dataset(i)).chain(neighbor)
    })
}

/// Counts these outputs until a claim is refuted.
fn follow(study: &StreamStudy) -> (StreamCounts, StreamAnswer) {
    let mut counts = study.start().unwrap();
    let (mut names, mut next_look, mut stopped_at_line) = (Vec::new(), 1, None);
    // The header is line 1.
    for (line, (world, output)) in (2..).zip(outputs()) {
        let outcome = names.iter().position(|known| *known == output).unwrap_or_else(|| {
            names.push(output);
            names.len() - 1
        });
        let binned = study.bins.is_some();
        let output = if binned { StreamOutput::Value(output as f64) } else { StreamOutput::Outcome(outcome) };
        counts.push(world, output).unwrap();
        if study.look(&counts, &mut next_look) {
            stopped_at_line = Some(line);
            break;
        }
    }
    let answer = study.finish(&counts, names.len(), stopped_at_line);
    (counts, answer)
}

#[test]
fn a_stream_study_is_the_command() {
    let binned = StreamStudy { bins: Some("quantile:4".parse().unwrap()), pilot_outputs: Some(40), ..stream() };
    let desk = Desk::new();
    let name = |world| if world == OutputWorld::Dataset { "s" } else { "s_prime" };
    let rows: String = outputs().map(|(world, output)| format!("{},{output}\n", name(world))).collect();
    let file = desk.file("outputs.csv", format!("world,output\n{rows}"));
    let words = format!("audit stream {} --orders 3 --claim-epsilon 3 --claim-rdp 2:0.5 --seed 4", file.display());
    let cases = [(stream(), "", Verdict::Refuted), (binned, "--bins quantile:4 --pilot-outputs 40", Verdict::Passed)];
    for (study, options, verdict) in cases {
        let answer = follow(&study).1;
        assert_eq!((answer.stopped_at_line.is_some(), answer.verdict()), (verdict == Verdict::Refuted, verdict));
        assert_printed(&answer, &format!("{words} {options}"));
    }
}

#[test]
fn a_stream_without_claims_has_all_outputs() {
    let unclaimed = StreamStudy { claim_epsilon: None, claim_rdp: Vec::new(), ..stream() };
    let (mut counts, answer) = follow(&unclaimed);
    assert_eq!((answer.outputs, answer.outputs_neighbor, answer.stopped_at_line), (900, 450, None));
    assert_eq!((answer.warnings()[0].code, answer.verdict()), ("unpaired", Verdict::Passed));
    let numbers = StreamStudy { bins: Some("quantile:4".parse().unwrap()), ..unclaimed };
    let mut first = numbers.start().unwrap();
    assert_eq!(numbers.finish(&first, 0, None).warnings()[0].code, "pilot-lasts");
    // Numbers are counted in bins, and other outcomes without.
    assert!(first.push(OutputWorld::Dataset, StreamOutput::Outcome(0)).is_err());
    assert!(first.push(OutputWorld::Dataset, StreamOutput::Value(f64::NAN)).is_err());
    assert!(counts.push(OutputWorld::Dataset, StreamOutput::Value(0.5)).is_err());
    assert_eq!((first.outputs, counts.outputs), ([0, 0], [900, 450]));
}
