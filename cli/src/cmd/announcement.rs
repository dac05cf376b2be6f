//! A simulation that takes long announces it.

use crate::args::Common;
use crate::output::Watch;
use leakbound::study::Step;
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// After this time the whole duration can be foretold.
const SETTLED: Duration = Duration::from_secs(2);
/// A simulation that takes longer is announced.
const LONG: Duration = Duration::from_secs(600);

/// The progress of a simulation, with a note on stderr where it takes long.
pub struct Announcement<'a> {
    watch: &'a Watch,
    /// The first step, and when it came.
    first: OnceLock<(Instant, u64)>,
    announced: AtomicBool,
    /// Whether what is done is saved on Ctrl-C.
    saves: bool,
}

impl<'a> Announcement<'a> {
    pub fn new(common: &Common, watch: &'a Watch, saves: bool) -> Self {
        let announced = AtomicBool::new(common.quiet || common.session.is_hosted());
        Self { watch, first: OnceLock::new(), announced, saves }
    }

    pub fn step(&self, step: Step) -> ControlFlow<()> {
        let told = self.watch.step(step);
        let &(start, before) = self.first.get_or_init(|| (Instant::now(), step.done));
        let settled = !self.announced.load(Ordering::Relaxed) && start.elapsed() > SETTLED;
        if settled && !self.announced.swap(true, Ordering::Relaxed) {
            let rate = (step.done - before) as f64 / start.elapsed().as_secs_f64();
            self.announce(rate, (step.all - step.done) as f64 / rate);
        }
        told
    }

    /// States how many seconds are left if they are many, at this number of outputs per second.
    fn announce(&self, rate: f64, seconds: f64) {
        if seconds < LONG.as_secs_f64() {
            return;
        }
        let time = match seconds {
            minutes if minutes < 7200.0 => format!("{:.0} minutes", minutes / 60.0),
            hours if hours < 172_800.0 => format!("{:.0} hours", hours / 3600.0),
            days => format!("{:.0} days", days / 86_400.0),
        };
        let advice = match self.saves {
            true => "Ctrl-C saves what is done",
            false => "with --checkpoint FILE what is done could be saved",
        };
        self.watch.suspend(|| {
            // Nothing is left to report a closed stderr to.
            let _ = writeln!(
                std::io::stderr(),
                "note: about {time} to go at {:.1} million outputs a second; {advice}",
                rate / 1e6
            );
        });
    }
}
