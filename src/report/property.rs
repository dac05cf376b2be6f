//! Presentation of the answer of `leakbound property distance`.

use super::document::Render;
use super::records::{Records, fields};
use super::section::{Form, Section, Table};
use crate::study::{PropertyAnswer, significant};

impl Render for PropertyAnswer {
    /// What was inferred, below what was studied.
    fn title(&self, title: &str) -> String {
        format!(
            "{title}\nProperty value {}, nearer than the next by {} nats; as clear a margin without a property has \
             probability {} ({} permutations of the members)",
            self.inferred,
            significant(self.margin.0, 4),
            significant(self.p_value, 3),
            self.permutations
        )
    }

    fn sections(&self, _: Form) -> Vec<Section> {
        let table = Table::of(&self.distances)
            .exact("property value", |row| row.value)
            .number("mean KL(student ‖ member)", 6, |row| row.distance.0)
            .words("", |row| if row.inferred { "inferred" } else { "" });
        vec![Section::new("Distances").heading("").table(table)]
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.distances).columns(fields!(row => value, distance, inferred)).into()
    }
}
