//! `leakbound membership students`: what students show about the images of their teachers.

use super::conclude::{Asked, conclude};
use crate::args::{Common, StudentMembershipOptions};
use crate::output::Output;
use leakbound::Result;
use leakbound::record::read_students;
use leakbound::study::{StudentMembershipStudy, Verdict};

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
