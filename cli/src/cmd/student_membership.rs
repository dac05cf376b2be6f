//! `leakbound membership students`: what students show about the images of their teachers.

use super::conclude::{Asked, conclude};
use crate::args::Common;
use crate::args::values::{failure_probability, probability, whole};
use crate::output::Output;
use clap::Args;
use leakbound::Result;
use leakbound::quantity::{FailureProbability, Probability};
use leakbound::record::read_students;
use leakbound::study::{StudentMembershipStudy, Verdict};
use serde::Serialize;
use std::path::PathBuf;

#[derive(Debug, Args, Serialize)]
pub struct StudentMembershipOptions {
    /// Answers of the students
    pub file: PathBuf,
    /// False-positive rate at which to count the private images that are found
    #[arg(long, value_name = "F", value_parser = probability, default_value = "0.01", allow_hyphen_values = true)]
    pub fpr: Probability,
    /// Bins of the privacy-risk score
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1, 10_000, "10000"), default_value = "15", allow_hyphen_values = true)]
    pub bins: usize,
    /// Failure probability of all AUC intervals together, and of all TPR intervals together
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true, help_heading = "Bounds")]
    pub failure_probability: FailureProbability,
}

pub fn run(common: &Common, options: &StudentMembershipOptions) -> Result<Verdict> {
    let output = Output::open(common, &[&options.file])?;
    let (students, input) = read_students(&options.file, common.memory())?;
    let count = students.budget.len();
    let title = format!("Membership of the private images of {count} student{}", if count == 1 { "" } else { "s" });
    let study = StudentMembershipStudy {
        students,
        fpr: options.fpr,
        bins: options.bins,
        failure_probability: options.failure_probability,
        seed: common.seed,
    };
    conclude(common, output, &study, Asked { options, inputs: vec![input], title, warnings: Vec::new() })
}
