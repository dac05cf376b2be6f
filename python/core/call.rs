//! The command in this process.

use crate::ending::Ending;
use crate::errors::{Error, raised};
use crate::files::in_memory;
use crate::function::Function;
use crate::worker::{Ended, begin, soon};
use leakbound_cli::{Answer, Ask, Forms, Interruption, Progress, Rejection, Request};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long Ctrl-C may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long work that is to end is waited for; what reports no progress goes on to its end unseen.
const GRACE: Duration = Duration::from_millis(500);
/// The callback is called no more often than this.
const PACE: Duration = Duration::from_millis(50);

/// Text and page of a result, laid out when they are needed.
#[pyclass(frozen, module = "leakbound._core")]
pub struct Layout(Forms);

#[pymethods]
impl Layout {
    fn text(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.text())
    }

    fn page(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.page())
    }
}

/// What a call found: the JSON, whether a claim was refuted, and the other forms.
type Document = (String, bool, Layout);

fn found(answer: Answer) -> Document {
    (answer.json, answer.refuted, Layout(answer.forms))
}

/// The commands of the library, with the options that they have read.
#[pyclass(frozen, module = "leakbound._core")]
#[derive(Default)]
pub struct Commands(Arc<leakbound_cli::Commands>);

#[pymethods]
impl Commands {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Runs a command with its options in JSON: its document, whether a claim was refuted, and the other forms.
    #[pyo3(signature = (command, options, files, progress=None))]
    fn call(
        &self,
        py: Python<'_>,
        command: String,
        options: String,
        files: &Bound<'_, PyDict>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Document> {
        let request = Request { command, options, files: in_memory(files)?, ..Request::default() };
        self.run(py, request, progress, &Ending::default()).map(found)
    }

    /// Runs `leakbound audit mechanism` on a function.
    #[pyo3(signature = (options, files, function, progress=None))]
    fn audit_mechanism(
        &self,
        py: Python<'_>,
        options: String,
        files: &Bound<'_, PyDict>,
        function: Function,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Document> {
        let ending = Ending::default();
        let black_box = Some(function.black_box(ending.clone()));
        let command = "audit mechanism".into();
        let request = Request { command, options, files: in_memory(files)?, black_box, ..Request::default() };
        self.run(py, request, progress, &ending).map(found)
    }

    /// Runs `leakbound verify` against a function from the line of a request to the line of its answer.
    #[pyo3(signature = (options, accountant, progress=None))]
    fn verify(
        &self,
        py: Python<'_>,
        options: String,
        accountant: Py<PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Document> {
        let ask: Ask = Box::new(move |line| {
            Python::attach(|py| {
                let answered = accountant.call1(py, (line,)).and_then(|answer| answer.extract::<String>(py));
                answered.map_err(|error| told(py, &error))
            })
        });
        let request = Request { command: "verify".into(), options, accountant: Some(ask), ..Request::default() };
        self.run(py, request, progress, &Ending::default()).map(found)
    }
}

impl Commands {
    /// Runs a request on another thread, without the lock, and waits for it and for signals.
    fn run(
        &self,
        py: Python<'_>,
        mut request: Request,
        progress: Option<Py<PyAny>>,
        ending: &Ending,
    ) -> PyResult<Answer> {
        let files = request.files.clone();
        request.interruption = ending.interruption().clone();
        request.progress = progress.map(|callback| told_to(callback, ending.clone()));
        let commands = Arc::clone(&self.0);
        let receiver =
            begin(move || commands.answer(request)).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        let found = wait(py, receiver, ending.interruption())?;
        // The error of a function that was called is why the work was interrupted.
        if let Some(error) = ending.failure() {
            return Err(error);
        }
        match found {
            Ok(found) => found.map_err(|rejection| raised(rejection, &files)),
            Err(cause) => {
                let words = cause.downcast_ref::<String>().map(String::as_str);
                let words = words.or(cause.downcast_ref::<&str>().copied()).unwrap_or("no words");
                Err(PyRuntimeError::new_err(format!("a fault of leakbound, please report it: {words}")))
            }
        }
    }
}

/// The accountants that `verify` knows by name.
#[pyfunction]
pub fn accountants() -> Vec<String> {
    leakbound::verify::accountant_names().iter().map(ToString::to_string).collect()
}

/// An exception with its traceback.
fn told(py: Python<'_>, error: &PyErr) -> String {
    let traceback = error.traceback(py).and_then(|traceback| traceback.format().ok()).unwrap_or_default();
    format!("{error}; {traceback}")
}

type Found = Ended<Result<Answer, Rejection>>;

fn wait(py: Python<'_>, mut receiver: Receiver<Found>, interruption: &Interruption) -> PyResult<Found> {
    let gone = || Error::new_err("the work ended without an answer");
    let turn =
        |patience: Duration, receiver: Receiver<Found>| py.detach(move || (receiver.recv_timeout(patience), receiver));
    let found;
    (found, receiver) = py.detach(move || (soon(&receiver), receiver));
    if let Ok(found) = found {
        return Ok(found);
    }
    loop {
        let found;
        (found, receiver) = turn(PATIENCE, receiver);
        match found {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Disconnected) => return Err(gone()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(signal) = py.check_signals() {
            interruption.note();
            let _ = turn(GRACE, receiver);
            return Err(signal);
        }
    }
}

/// Hands progress on to a callback, seldom; an error of the callback ends the work.
fn told_to(callback: Py<PyAny>, ending: Ending) -> Progress {
    let last = Mutex::new(None::<Instant>);
    Box::new(move |done, all, unit| {
        {
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if done < all && last.is_some_and(|last| last.elapsed() < PACE) {
                return;
            }
            *last = Some(Instant::now());
        }
        if let Err(error) = Python::attach(|py| callback.call1(py, (done, all, unit)).map(drop)) {
            ending.fail(error);
        }
    })
}
