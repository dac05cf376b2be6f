//! The page of `leakbound simulate` and `leakbound merge`.

use super::Page;
use crate::report::Envelope;
use crate::report::simulate::MOST_QUERIES;
use crate::study::SimulateAnswer;

impl SimulateAnswer {
    pub(in crate::report) fn as_page(&self, envelope: &Envelope, title: &str) -> Page {
        let mut page = Page::new(envelope, title);
        page.lead.push(format!(
            "Scenario {}…, seed {}, blocks {} of {}",
            self.plan.scenario_sha256.get(..12).unwrap_or_default(),
            self.plan.seed,
            self.blocks,
            self.blocks_in_all
        ));
        if self.queries.len() > 1 {
            page.lead.extend(self.summary().map(|line| line.trim_end().to_owned()));
        }
        for (index, query) in self.queries.iter().enumerate().take(MOST_QUERIES) {
            let title =
                query.query.as_ref().map_or_else(|| "Outputs".into(), |name| format!("Outputs of query {name}"));
            let notes: Vec<String> = self.query_notes(index).iter().map(|note| note.trim().to_owned()).collect();
            page.table(title, self.query_table(index), notes.join("; "));
        }
        if self.queries.len() > MOST_QUERIES {
            page.meaning.push(format!(
                "The first {MOST_QUERIES} of {} queries are shown; --format json has all of them.",
                self.queries.len()
            ));
        }
        page.meaning.push(
            "These are counts of simulated outputs, not bounds; leakbound audit counts makes bounds of them. A p-value near 0 \
             says that the counts do not fit the computed law."
                .into(),
        );
        page
    }
}
