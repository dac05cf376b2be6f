//! An accountant that is asked nothing more once the time is over.

use super::accountant::{Accountant, AccountantAnswer, ClaimScope};
use super::request::Request;
use crate::mechanism::MechanismKind;
use crate::program::Stop;
use std::sync::atomic::{AtomicBool, Ordering};

/// An accountant that is asked nothing more once the time is over, not even within a case.
pub(super) struct Punctual<'a> {
    inner: &'a dyn Accountant,
    stop: &'a Stop<'a>,
    late: AtomicBool,
}

impl<'a> Punctual<'a> {
    pub(super) const fn new(inner: &'a dyn Accountant, stop: &'a Stop<'a>) -> Self {
        Self { inner, stop, late: AtomicBool::new(false) }
    }

    /// Whether a question was not answered because the time was over.
    pub(super) fn was_late(&self) -> bool {
        self.late.load(Ordering::Relaxed)
    }

    fn late(&self) -> AccountantAnswer {
        self.late.store(true, Ordering::Relaxed);
        AccountantAnswer::Declined("the time is over".into())
    }
}

impl Accountant for Punctual<'_> {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn answer(&self, request: &Request) -> AccountantAnswer {
        if self.stop.is_over() {
            return self.late();
        }
        match self.inner.answer_before(request, self.stop) {
            // Its answer would be unknown.
            AccountantAnswer::Declined(_) if self.stop.is_over() => self.late(),
            answer => answer,
        }
    }

    fn mechanisms(&self) -> Vec<&'static MechanismKind> {
        self.inner.mechanisms()
    }

    fn scope(&self) -> ClaimScope {
        self.inner.scope()
    }

    fn precision(&self) -> f64 {
        self.inner.precision()
    }

    fn sequential(&self) -> bool {
        self.inner.sequential()
    }
}
