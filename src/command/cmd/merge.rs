//! `leakbound merge`.

use super::simulate::document;
use crate::command::args::{Common, MergeOptions};
use crate::command::output::Output;
use crate::record::{merge_simulated, read_simulated};
use crate::study::{Warning, short};
use crate::{Error, InputError, Result};
use std::path::Path;

pub fn run(common: &Common, options: &MergeOptions) -> Result<bool> {
    let inputs: Vec<&Path> = options.files.iter().map(|path| &**path).collect();
    let output = Output::open(common, &inputs)?;
    let files = options.files.iter().map(read_simulated).collect::<Result<Vec<_>>>()?;
    let merged = merge_simulated(&files)?;
    let Some(first) = merged.queries.first() else { return Ok(false) };
    let (missing, blocks) = (first.part.missing(), first.part.blocks().clone());
    let mut warnings = Vec::new();
    if !missing.is_empty() {
        let in_all = first.part.simulation().blocks();
        if !options.partial {
            return Err(Error::from(InputError {
                file: options.files[0].clone(),
                place: "blocks of all files together".into(),
                found: format!("no block {missing} of {in_all}"),
                expected: "every block of the simulation".into(),
                hint: Some("name the missing shards too; --partial adds up what is there".into()),
            }));
        }
        warnings.push(Warning {
            code: "partial",
            message: format!("blocks {missing} of {in_all} are missing"),
            hint: "the counts are those of fewer samples, and as good as any".into(),
        });
    }
    let inputs = files.into_iter().map(|file| file.input).collect();
    let mut document = document(common, options, inputs, &merged, blocks, warnings);
    document.envelope.seed = merged.plan.seed;
    document.title = format!(
        "{} of {} outputs per query and world, seed {}",
        if options.files.len() == 1 { "1 part".to_owned() } else { format!("{} parts", options.files.len()) },
        short(merged.plan.samples as f64),
        merged.plan.seed
    );
    output.write(&document)?;
    Ok(false)
}
