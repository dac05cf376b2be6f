//! `leakbound self-check audit scores`.

use super::audit_scores::read;
use super::self_check::{outcome, warnings};
use crate::command::args::{Common, SelfCheckScoresOptions};
use crate::command::output::{Output, envelope, progress};
use crate::report::{CheckRow, ScoreCheckDocument};
use crate::{CheckCase, CheckRuns, Result, self_check_scores};
use std::path::Path;

pub fn run(common: &Common, options: &SelfCheckScoresOptions) -> Result<bool> {
    let source = &options.source;
    let paths: Vec<&Path> =
        [&source.file, &source.members, &source.non_members].into_iter().flatten().map(|path| &**path).collect();
    let output = Output::open(common, &paths)?;
    let (scores, inputs) = read(source, common.memory())?;
    let sizes = [scores.members().len(), scores.others().len()];
    let bar = progress(common, 2 * options.repetitions, "audits");
    let runs = CheckRuns { repetitions: options.repetitions, seed: common.seed };
    let mut checks = Vec::new();
    for case in CheckCase::ALL {
        let found = self_check_scores(sizes, case, options.delta, options.failure_probability, runs, || bar.inc(1))?;
        checks.extend(found.iter().map(|check| CheckRow::new("", check)));
    }
    bar.finish_and_clear();
    let document = ScoreCheckDocument {
        envelope: envelope("leakbound.self-check-scores/1", common, options, inputs, warnings(&checks)),
        title: format!(
            "Self-check with {} members and {} non-members: {} simulated audits of equal and of known laws, seed {}",
            sizes[0], sizes[1], options.repetitions, common.seed
        ),
        members: sizes[0] as u64,
        non_members: sizes[1] as u64,
        checks,
    };
    output.write(&document)?;
    outcome(&document.checks).map(|()| false)
}
