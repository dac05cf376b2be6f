//! `leakbound mechanisms`: what the registry knows.

use crate::args::{Common, Format};
use crate::output::print;
use leakbound::Result;
use leakbound::audit::methods;
use leakbound::mechanism::RELEASES;
use serde_json::json;

pub fn run(common: &Common) -> Result<bool> {
    let text = match common.format {
        Format::Json => {
            let mechanisms: Vec<_> = RELEASES
                .iter()
                .map(|kind| {
                    let parameters = kind
                        .parameters
                        .iter()
                        .map(|parameter| json!({"name": parameter.name, "required": !parameter.optional}));
                    json!({
                        "name": kind.name,
                        "parameters": parameters.collect::<Vec<_>>(),
                        "data": kind.relation.data_in_words().0,
                        "neighbors": kind.relation.in_words(),
                        "example": kind.example,
                    })
                })
                .collect();
            format!(
                "{:#}\n",
                json!({"schema": "leakbound.mechanisms/1", "mechanisms": mechanisms, "methods": methods()})
            )
        }
        Format::Text | Format::Csv => {
            let rows = RELEASES.iter().map(|kind| {
                format!("{:<23} {:<35} {}\n", kind.relation.data_in_words().0, kind.relation.in_words(), kind.example)
            });
            format!("{:<23} {:<35} {}\n", "data", "neighbors", "example") + &rows.collect::<String>()
        }
    };
    print(common, &[Format::Text, Format::Json], text.as_bytes()).map(|()| false)
}
