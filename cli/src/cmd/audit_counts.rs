//! `leakbound audit counts`.

use super::binned;
use super::conclude::{Asked, conclude};
use super::output_sets::{choose_sets, few_repeats, unasked_pilot};
use crate::args::values::{count, listed, named};
use crate::args::{BoundOptions, Common, CountsOptions, FurtherOptions};
use crate::output::Output;
use clap::Args;
use leakbound::Result;
use leakbound::audit::{BinRule, SetSource};
use leakbound::error::one_line;
use leakbound::model::Composition;
use leakbound::record::read_counts;
use leakbound::study::{ConfusionStudy, CountsStudy, Verdict, Warning, short};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Audit recorded output counts, or raw outputs, of two worlds
#[derive(Debug, Args, Serialize)]
#[command(after_help = "Files: CSV or JSON with columns outcome,count,count_neighbor[,query], or raw outputs \
                        with columns world,output (world: s or s_prime).\n\nExample:\n  leakbound audit counts \
                        counts.csv --orders 2,10 --delta 1e-5 --pilot-fraction 0.1")]
pub struct AuditCountsOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub audit: CountsOptions,
    /// Bins for numeric outputs: quantile:K (K equal shares of the pilot) or edges:A,B,...
    #[arg(long, value_name = "RULE", conflicts_with = "distribution", value_parser = named::<BinRule>, allow_hyphen_values = true)]
    pub bins: Option<BinRule>,
    #[command(flatten)]
    #[serde(flatten)]
    pub further: FurtherOptions,
    /// How the queries compose: independent means independent outputs under both datasets
    #[arg(long, value_name = "MODE", default_value = "per-query", help_heading = "Advanced")]
    #[arg(value_parser = listed(named::<Composition>, Composition::ALL.map(Composition::name)))]
    pub composition: Composition,
}

pub fn run(common: &Common, all: &AuditCountsOptions) -> Result<Verdict> {
    let options = &all.audit;
    let chosen_from = options.pilot.iter().chain(&options.distribution);
    let inputs: Vec<&Path> = std::iter::once(&options.file).chain(chosen_from).map(PathBuf::as_path).collect();
    let output = Output::open(common, &inputs)?;
    let (mut inputs, mut warnings) = (Vec::new(), Vec::new());
    let (file, queries) = match &all.bins {
        Some(rule) => binned::queries(common, options, rule, &mut inputs, &mut warnings)?,
        None => {
            let file = read_counts(&options.file)?;
            inputs.push(file.input.clone());
            let queries = choose_sets(common, options, &file, &mut inputs)?;
            warnings.extend(few_repeats(&file).filter(|_| options.distribution.is_none() && options.pilot.is_none()));
            (file, queries)
        }
    };
    if queries.iter().any(|query| query.guide.sets.source == SetSource::FixedList && query.guide.sets.sets.len() > 1) {
        let most = queries.iter().map(|query| query.guide.sets.sets.len()).max().unwrap_or(0);
        warnings.push(Warning {
            code: "fixed-list",
            message: format!("without a pilot or a distribution, each of the {most} outcomes is its own output set"),
            hint: "a pilot fraction of 0.1, a recorded pilot or the distribution gives sharper bounds".into(),
        });
    }
    let chosen = options.pilot.is_some() || options.distribution.is_some() || options.pilot_fraction.is_some();
    if let Some(fraction) = unasked_pilot(options, &file).filter(|_| !chosen) {
        warnings.push(Warning {
            code: "pilot-set-aside",
            message: format!("{} of the outputs were set aside as a pilot, and not bounded", short(fraction)),
            hint: "choose yourself: a pilot fraction, a recorded pilot, the distribution or the methods".into(),
        });
    }
    let title = format!(
        "Audit of {} ({} quer{}); forward is D(P‖Q) with P the column count",
        one_line(&options.file.to_string_lossy()),
        queries.len(),
        if queries.len() == 1 { "y" } else { "ies" }
    );
    let study = CountsStudy {
        queries,
        bounds: options.bound.bounds(),
        epsilons: all.further.epsilons.clone(),
        trade_off: all.further.trade_off,
        composition: all.composition,
        // CSV has the bounds alone.
        forecasts: !output.has_bounds_alone(),
        seed: common.seed,
    };
    conclude(common, output, &study, Asked { options: all, inputs, title, warnings })
}

/// Audit the confusion matrix of a membership attack
#[derive(Debug, Args, Serialize)]
#[command(after_help = "Example:\n  leakbound audit confusion --tp 90 --fn 10 --fp 5 --tn 95 --delta 1e-5")]
pub struct ConfusionOptions {
    /// Members called members
    #[arg(long = "tp", value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub true_positives: u64,
    /// Members called non-members
    #[arg(long = "fn", value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub false_negatives: u64,
    /// Non-members called members
    #[arg(long = "fp", value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub false_positives: u64,
    /// Non-members called non-members
    #[arg(long = "tn", value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub true_negatives: u64,
    #[command(flatten)]
    #[serde(flatten)]
    pub bound: BoundOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub further: FurtherOptions,
}

pub fn confusion(common: &Common, options: &ConfusionOptions) -> Result<Verdict> {
    let output = Output::open(common, &[])?;
    let study = ConfusionStudy {
        true_positives: options.true_positives,
        false_negatives: options.false_negatives,
        false_positives: options.false_positives,
        true_negatives: options.true_negatives,
        bounds: options.bound.bounds(),
        epsilons: options.further.epsilons.clone(),
        trade_off: options.further.trade_off,
        forecasts: !output.has_bounds_alone(),
        seed: common.seed,
    };
    let title = format!(
        "Confusion matrix of an attack: TP {}, FN {}, FP {}, TN {}; forward is members against non-members",
        options.true_positives, options.false_negatives, options.false_positives, options.true_negatives
    );
    conclude(common, output, &study, Asked { options, inputs: Vec::new(), title, warnings: Vec::new() })
}
