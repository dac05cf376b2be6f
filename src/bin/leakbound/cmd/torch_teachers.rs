//! `leakbound torch teachers`: votes of teachers, with and without a point.

use super::torch::{open_checkpoint, say};
use crate::args::{Common, TeachersOptions};
use crate::output::{Output, envelope, progress};
use leakbound::Result;
use leakbound::record::{ArrayWriter, AtomicFile, ImagePart, read_images};
use leakbound::report::{Number, RecordingDocument, TrainingFact, Warning};
use leakbound::torch::{TeacherVotes, TrainingDevice, train_teachers};
use ndarray::arr0;
use std::path::Path;
use std::time::Instant;

pub fn run(common: &Common, options: &TeachersOptions, device: TrainingDevice) -> Result<()> {
    let mut taken: Vec<&Path> = vec![&options.data, &options.recording];
    taken.extend(options.checkpoint.checkpoint.as_deref());
    let output = Output::open(common, &taken)?;
    let recording = AtomicFile::create(&options.recording)?;
    let (train, mut inputs) = read_images(&options.data, ImagePart::Train)?;
    let (test, more) = read_images(&options.data, ImagePart::Test)?;
    inputs.extend(more);
    inputs.dedup();
    let plan = options.plan(common.seed);
    let checkpoint = open_checkpoint(common, &options.checkpoint, "teachers", device, &inputs, &plan)?;
    say(common, &format!("Training {} networks on {device}", plan.networks()));
    let start = Instant::now();
    let bar = progress(common, plan.networks(), "networks");
    let progress = |networks| bar.inc(networks);
    let votes = train_teachers(&train, &test, &plan, device, &progress, checkpoint.as_ref())?;
    bar.finish_and_clear();
    say(common, &format!("{:.1} s", start.elapsed().as_secs_f64()));
    let mut writer = ArrayWriter::new(&options.recording);
    add(&mut writer, &votes, common.seed)?;
    let arrays = writer.written().to_vec();
    recording.commit(&writer.finish()?)?;
    let fact = |name, value| TrainingFact { name, value: Number(value) };
    let document = RecordingDocument {
        envelope: envelope("leakbound.torch-teachers/1", common, options, inputs, warnings(device)),
        title: format!(
            "{} teachers ({}), {} instantiations, {} queries",
            plan.teachers, plan.network, plan.instantiations, plan.queries
        ),
        device: device.to_string(),
        recording: options.recording.display().to_string(),
        arrays,
        networks: plan.networks(),
        facts: vec![
            fact("mean-test-accuracy", votes.mean_test_accuracy()),
            fact("mean-accuracy", votes.pate_accuracy()),
            fact("mean-accuracy-fixed-partition", votes.capc_accuracy()),
        ],
    };
    output.write(&document)
}

/// The arrays that `audit votes` reads, then what else there is to know.
fn add(writer: &mut ArrayWriter, votes: &TeacherVotes, seed: u64) -> Result<()> {
    writer.add("pate_votes", &votes.pate_votes)?;
    writer.add("capc_votes", &votes.capc_votes)?;
    writer.add("query_index", &votes.query_index)?;
    writer.add("query_label", &votes.query_label)?;
    writer.add("second_label", &votes.second_label)?;
    if !votes.adv_query.is_empty() && votes.pate_nat_advq.ncols() > 0 {
        writer.add("adv_query", &votes.adv_query)?;
        writer.add("pate_nat_advq", &votes.pate_nat_advq)?;
        writer.add("pate_pois_advq", &votes.pate_pois_advq)?;
        writer.add("capc_nat_advq", &votes.capc_nat_advq)?;
        writer.add("capc_pois_advq", &votes.capc_pois_advq)?;
    }
    writer.add("pate_pois_natq", &votes.pate_pois_natq)?;
    writer.add("poison_query", &arr0(votes.poison_query))?;
    writer.add("test_accuracy", &votes.test_accuracy)?;
    writer.add("pate_images", &votes.pate_images)?;
    writer.add("capc_images", &votes.capc_images)?;
    writer.add("seed", &arr0(seed))
}

/// Where the same seed may give other votes.
fn warnings(device: TrainingDevice) -> Vec<Warning> {
    if !device.is_cuda() {
        return Vec::new();
    }
    vec![Warning {
        code: "not-bitwise-reproducible",
        message:
            "a GPU adds up in an order of its own: the same seed gives the same partitions and initial weights, but \
                  votes may differ"
                .into(),
        hint: "train with --device cpu where two runs must give the same file".into(),
    }]
}
