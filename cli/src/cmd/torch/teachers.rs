//! `leakbound torch teachers`: votes of teachers, with and without a point.

use super::data::DataOptions;
use super::network::NetworkOptions;
use super::numbers::{any_count, count};
use super::recipe::Recipe;
use super::training::TrainingOptions;
use super::training_run::{About, Recorded, add_fields};
use crate::args::Common;
use clap::Args;
use leakbound::Result;
use leakbound::record::ArrayWriter;
use leakbound_train::{TeacherPlan, TeacherVotes, TrainingDevice, train_teachers};
use ndarray::arr0;
use serde::Serialize;

/// Train PATE teachers and CaPC parties, with and without an added point, and record their votes
#[derive(Debug, Clone, Args, Serialize)]
#[command(after_help = "Example:\n  leakbound torch teachers --data fashion-mnist --recording votes.npz \
                        --instantiations 4\n  leakbound audit votes votes.npz --model pate --noise gaussian:40\n  leakbound \
                        torch teachers --data fashion-mnist --recording cnn.npz --network cnn --teachers 25 \
                        --images 240 --epochs 20 --checkpoint cnn.checkpoint")]
pub struct TeachersOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Teachers of an ensemble
    #[arg(long, value_name = "K", default_value = "250", value_parser = count, allow_hyphen_values = true)]
    pub teachers: usize,
    /// Training images per teacher [default: an equal share of all]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub images: Option<usize>,
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    /// Ensembles of each kind (N_g): random partitions of the images, and one partition trained repeatedly
    #[arg(long, value_name = "N", default_value = "12", value_parser = count, allow_hyphen_values = true)]
    pub instantiations: usize,
    /// Queries, drawn from the test images
    #[arg(long, value_name = "N", default_value = "1000", value_parser = count, allow_hyphen_values = true)]
    pub queries: usize,
    /// Queries chosen by adversaries: half with the smallest vote margin, half at random
    #[arg(long, value_name = "N", default_value = "60", value_parser = any_count, allow_hyphen_values = true)]
    pub adversarial: usize,
    /// Retrainings of one teacher for each query
    #[arg(long, value_name = "N", default_value = "50", value_parser = any_count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub retrainings: usize,
    #[command(flatten)]
    #[serde(flatten)]
    pub training: TrainingOptions,
}

impl TeachersOptions {
    pub fn plan(&self, seed: u64) -> TeacherPlan {
        TeacherPlan {
            teachers: self.teachers,
            images: self.images,
            network: self.network.plan(),
            instantiations: self.instantiations,
            queries: self.queries,
            adversarial: self.adversarial,
            retrainings: self.retrainings,
            training: self.training.plan(30),
            seed,
        }
    }
}

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
    add_fields!(writer, votes; pate_votes, capc_votes, query_index, query_label, second_label);
    if !votes.adv_query.is_empty() && votes.pate_nat_advq.ncols() > 0 {
        add_fields!(writer, votes; adv_query, pate_nat_advq, pate_pois_advq, capc_nat_advq, capc_pois_advq);
    }
    writer.add("pate_pois_natq", &votes.pate_pois_natq)?;
    writer.add("poison_query", &arr0(votes.poison_query))?;
    add_fields!(writer, votes; test_accuracy, pate_images, capc_images);
    Ok(())
}
