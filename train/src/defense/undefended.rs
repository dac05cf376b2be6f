//! No defense.

use super::method::{Answers, Method, PHASE, Task, logits};
use leakbound::error::Result;

/// Mean cross-entropy on the labels.
pub(crate) struct Undefended;

impl Method for Undefended {
    fn answers(&self, task: &Task<'_>) -> Result<Vec<Answers>> {
        let Task { trainer, images, tables, asked, .. } = task;
        trainer.train_and_ask(PHASE, images, tables, asked, &|networks, _, asked| {
            Ok(logits(networks, asked)?.into_iter().map(|logits| vec![logits]).collect())
        })
    }
}
