//! A function of Python as a black box.

use crate::ending::Ending;
use crate::outputs::{output, outputs};
use leakbound::black_box::{Dataset, Output};
use leakbound_cli::BlackBoxCall;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;

/// The longest dataset that an error shows, in characters.
const SHOWN: usize = 200;

/// A function, and what begins a request: from the dataset as JSON and a seed to what gives the dataset, anew for each
/// call, and to the source of randomness.
#[derive(FromPyObject)]
pub struct Function {
    #[pyo3(item(0))]
    function: Py<PyAny>,
    #[pyo3(item(1))]
    begin: Py<PyAny>,
    /// Whether one call gives the outputs of all runs.
    #[pyo3(item(2))]
    vectorized: bool,
}

impl Function {
    /// The black box. An exception ends the work, for which the function's caller gets it, except
    /// `NotImplementedError`, by which a function declines a dataset.
    pub fn black_box(self, ending: Ending) -> BlackBoxCall {
        Box::new(move |dataset, runs, seed| {
            let over = || Err("the work was ended".to_owned());
            if ending.is_noted() {
                return over();
            }
            Python::attach(|py| match self.run(py, dataset, runs, seed, &ending) {
                Ok(Some(found)) => Ok(found),
                Ok(None) => over(),
                Err(error) if error.is_instance_of::<PyNotImplementedError>(py) => Err(declined(py, &error)),
                Err(error) => {
                    explain(py, &error, dataset);
                    ending.fail(error);
                    over()
                }
            })
        })
    }

    /// The outputs; none where the work was ended before they were there.
    fn run(
        &self,
        py: Python<'_>,
        dataset: &Dataset,
        runs: usize,
        seed: u64,
        ending: &Ending,
    ) -> PyResult<Option<Vec<Output>>> {
        let begun = self.begin.bind(py).call1((dataset.to_string(), seed))?;
        let (fresh, random): (Bound<'_, PyAny>, Bound<'_, PyAny>) = begun.extract()?;
        let function = self.function.bind(py);
        if self.vectorized {
            return outputs(&function.call1((fresh.call0()?, runs, random))?, runs).map(Some);
        }
        let mut found = Vec::with_capacity(runs);
        for _ in 0..runs {
            if ending.is_noted() {
                return Ok(None);
            }
            found.push(output(&function.call1((fresh.call0()?, &random))?)?);
        }
        Ok(Some(found))
    }
}

/// Why a function declined a dataset.
fn declined(py: Python<'_>, error: &PyErr) -> String {
    let words = error.value(py).to_string();
    if words.is_empty() { "not implemented".into() } else { words }
}

/// Says in the traceback on which dataset the function failed, from Python 3.11 on.
fn explain(py: Python<'_>, error: &PyErr, dataset: &Dataset) {
    let text = dataset.to_string();
    let shown = match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    };
    let note = format!(
        "leakbound called the function with the dataset {shown}; a function declines a dataset that it does not take by \
         NotImplementedError"
    );
    // What cannot take a note is raised without one.
    let _ = error.value(py).call_method1("add_note", (note,));
}
