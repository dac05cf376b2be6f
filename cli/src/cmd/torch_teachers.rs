//! `leakbound torch teachers`: votes of teachers, with and without a point.

use super::recipe::Recipe;
use super::training_run::{About, Recorded};
use crate::args::{Common, TeachersOptions};
use leakbound::Result;
use leakbound::record::ArrayWriter;
use leakbound_train::{TeacherVotes, TrainingDevice, train_teachers};
use ndarray::arr0;

pub fn record(common: &Common, options: &TeachersOptions, device: TrainingDevice) -> Result<Recorded> {
    let mut recipe = Recipe::open(common, &options.data, device, &[])?;
    let plan = options.plan(common.seed);
    recipe.open_checkpoint("teachers", &plan)?;
    let networks = plan.networks();
    let votes = recipe.train_networks(networks, |context| train_teachers(context, &plan))?;
    let about = About {
        title: format!(
            "{} teachers ({}), {} instantiations, {} queries",
            plan.teachers, plan.network, plan.instantiations, plan.queries
        ),
        networks,
        facts: vec![
            ("mean-test-accuracy", votes.mean_test_accuracy()),
            ("mean-accuracy", votes.pate_accuracy()),
            ("mean-accuracy-fixed-partition", votes.capc_accuracy()),
        ],
        ..About::of("leakbound.torch-teachers/1", options)
    };
    recipe.record(about, |writer| add(writer, &votes))
}

/// The arrays that `audit votes` reads, then what else there is to know.
fn add(writer: &mut ArrayWriter, votes: &TeacherVotes) -> Result<()> {
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
    writer.add("capc_images", &votes.capc_images)
}
