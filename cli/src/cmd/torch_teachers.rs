//! `leakbound torch teachers`: votes of teachers, with and without a point.

use super::recipe::Recipe;
use super::training_run::About;
use crate::args::{Common, TeachersOptions};
use leakbound::Result;
use leakbound::record::ArrayWriter;
use leakbound::report::TrainingFact;
use leakbound::study::Number;
use leakbound_train::{TeacherVotes, TrainingDevice, train_teachers};
use ndarray::arr0;

pub fn run(common: &Common, options: &TeachersOptions, device: TrainingDevice) -> Result<()> {
    let recipe = Recipe::open(common, &options.data, device, &options.checkpoint.files())?;
    let plan = options.plan(common.seed);
    let checkpoint = recipe.checkpoint(&options.checkpoint, "teachers", &plan)?;
    let networks = plan.networks();
    let votes = recipe.train(&format!("{networks} networks"), (networks, "networks"), |progress| {
        train_teachers(&recipe.context(progress, checkpoint.as_ref()), &plan)
    })?;
    let fact = |name, value| TrainingFact { name, value: Number(value) };
    let about = About {
        schema: "leakbound.torch-teachers/1",
        options,
        title: format!(
            "{} teachers ({}), {} instantiations, {} queries",
            plan.teachers, plan.network, plan.instantiations, plan.queries
        ),
        networks,
        facts: vec![
            fact("mean-test-accuracy", votes.mean_test_accuracy()),
            fact("mean-accuracy", votes.pate_accuracy()),
            fact("mean-accuracy-fixed-partition", votes.capc_accuracy()),
        ],
        warnings: Vec::new(),
        figures: Vec::new(),
    };
    let (output, document) = recipe.record(about, |writer| add(writer, &votes, common.seed))?;
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
