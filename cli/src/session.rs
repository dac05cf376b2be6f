//! For whom a command works: the terminal, or a program that wants its document.

use super::interruption::Interruption;
use super::threads::Fewer;
use leakbound::black_box::{Dataset, Ran};
use leakbound::report::Document;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A progress callback: work done, total, and unit.
pub type Progress = Box<dyn Fn(u64, u64, &'static str) + Send + Sync>;

/// An accountant: from the line of a request to the line of its answer, or what it failed with.
pub type Ask = Box<dyn Fn(&str) -> Result<String, String> + Send + Sync>;

/// A black box: from a dataset, a number of runs and a seed to as many outputs, or to why it does not take the dataset.
pub type BlackBoxCall = Box<dyn Fn(&Dataset, usize, u64) -> Ran + Send + Sync>;

/// Text and page of a document, which are laid out when they are needed: that takes longer than small work.
#[derive(Clone)]
pub struct Forms {
    text: Layout,
    page: Layout,
}

type Layout = Arc<dyn Fn() -> String + Send + Sync>;

impl Forms {
    fn new<D: Document + Clone + Send + Sync + 'static>(document: &D) -> Self {
        let of_text = Arc::new(document.clone());
        let of_page = Arc::clone(&of_text);
        Self { text: Arc::new(move || of_text.text()), page: Arc::new(move || of_page.page().html()) }
    }

    /// The text, as `--format text` prints it to a file.
    #[must_use]
    pub fn text(&self) -> String {
        (self.text)()
    }

    /// The page of `--report`.
    #[must_use]
    pub fn page(&self) -> String {
        (self.page)()
    }
}

impl fmt::Debug for Forms {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Forms")
    }
}

/// Nothing for the terminal.
#[derive(Clone, Default)]
pub(super) struct Session {
    host: Option<Arc<Host>>,
    /// The interruption from the terminal.
    terminal: Interruption,
}

impl fmt::Debug for Session {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.is_hosted() { "program" } else { "terminal" })
    }
}

/// The program that called.
pub(super) struct Host {
    pub(super) progress: Option<Progress>,
    pub(super) interruption: Interruption,
    pub(super) accountant: Mutex<Option<Ask>>,
    pub(super) black_box: Mutex<Option<BlackBoxCall>>,
    /// Whether the system starts fewer threads than requested.
    pub(super) fewer: Mutex<Option<Fewer>>,
    pub(super) found: Mutex<Option<Found>>,
}

/// A document in the forms of an [`Answer`].
pub(super) struct Found {
    pub(super) json: String,
    pub(super) forms: Forms,
}

impl Host {
    pub(super) fn note(&self, fewer: Option<Fewer>) {
        *self.fewer.lock().unwrap_or_else(PoisonError::into_inner) = fewer;
    }
}

impl Session {
    /// For a program.
    pub(super) fn of(host: Arc<Host>) -> Self {
        Self { host: Some(host), ..Self::default() }
    }

    /// Whether a program waits for the document.
    pub(super) const fn is_hosted(&self) -> bool {
        self.host.is_some()
    }

    /// The wish to end the work: the program's, or that of the terminal.
    pub(super) fn noted(&self) -> &Interruption {
        self.interruption().unwrap_or(&self.terminal)
    }

    /// The program's wish to end the work.
    pub(super) fn interruption(&self) -> Option<&Interruption> {
        self.host.as_ref().map(|host| &host.interruption)
    }

    /// The interruption from the terminal.
    pub(super) const fn terminal(&self) -> &Interruption {
        &self.terminal
    }

    /// What a program is told of its threads in the document, and a terminal on stderr.
    pub(super) fn fewer_threads(&self) -> Option<Fewer> {
        self.host.as_ref()?.fewer.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The program's accountant, once.
    pub(super) fn accountant(&self) -> Option<Ask> {
        self.host.as_ref()?.accountant.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The program's black box, once.
    pub(super) fn black_box(&self) -> Option<BlackBoxCall> {
        self.host.as_ref()?.black_box.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Tells the program how far the work is.
    pub(super) fn tell(&self, done: u64, all: u64, unit: &'static str) {
        if let Some(tell) = self.host.as_ref().and_then(|host| host.progress.as_ref()) {
            tell(done, all, unit);
        }
    }

    /// Hands the document over.
    pub(super) fn hand_over<D: Document + Clone + Send + Sync + 'static>(&self, document: &D) {
        if let Some(host) = &self.host {
            let found = Found { json: document.json(), forms: Forms::new(document) };
            *host.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        }
    }
}
