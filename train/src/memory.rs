//! The memory that networks need, counted before it is allocated: a system that promises more than it has kills the
//! program when the memory is used.

use leakbound::record::free_memory;
use std::panic::resume_unwind;
use tch::Device;

/// Bytes of a parameter in training, on a CPU: its value, its gradient and two moments of Adam.
const BYTES: u64 = 16;

/// Parameters that fit into the memory of this machine.
pub(super) struct Budget {
    /// None if unknown: on a GPU, where libtorch itself reports a lack of memory.
    parameters: Option<u64>,
    spent: u64,
}

impl Budget {
    /// A thread's share of the memory that is free now: all of it if no other thread trains.
    pub fn of(device: Device) -> Self {
        let threads = rayon::current_thread_index().map_or(1, |_| rayon::current_num_threads().max(1) as u64);
        let parameters = (device == Device::Cpu).then(|| free_memory().unwrap_or(0) / BYTES / threads);
        Self { parameters: parameters.filter(|&parameters| parameters > 0), spent: 0 }
    }

    /// Counts more parameters of some networks.
    ///
    /// # Panics
    /// If they do not fit: an error wherever libtorch is called, see [`guarded`](super::guard::guarded).
    pub fn spend(&mut self, networks: usize, more: usize) {
        self.spent = self.spent.saturating_add(more as u64);
        if self.parameters.is_some_and(|parameters| parameters < self.spent) {
            let gib = |parameters: u64| (parameters as f64) * (BYTES as f64) / f64::from(1 << 30);
            let (needed, free) = (gib(self.spent), gib(self.parameters.unwrap_or_default()));
            let what =
                format!("at least {needed:.1} GiB in training, and a thread's share of what is free is {free:.1} GiB");
            out_of_memory(networks, &what);
        }
    }
}

/// Ends work under [`guarded`](super::guard::guarded), which calls it a lack of memory.
pub(super) fn out_of_memory(networks: usize, what: &str) -> ! {
    let (networks, hint) = match networks {
        1 => ("a network takes".into(), "train a smaller one, or on fewer threads"),
        _ => (format!("{networks} networks take"), "train fewer networks side by side"),
    };
    // No panic: nothing failed, and no hook is told.
    resume_unwind(Box::new(format!("not enough memory: {networks} {what}; {hint}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::guarded;

    #[test]
    fn networks_that_do_not_fit_are_rejected_in_one_line() {
        let mut budget = Budget { parameters: Some(1 << 27), spent: 0 };
        budget.spend(3, 1 << 27);
        let error = guarded("training", || -> leakbound::Result<()> {
            budget.spend(3, 1 << 26);
            Ok(())
        });
        assert_eq!(
            error.unwrap_err().to_string(),
            "training: not enough memory: 3 networks take at least 3.0 GiB in training, and a thread's share of what \
             is free is 2.0 GiB; train fewer networks side by side"
        );
        assert!(free_memory() > Some(1 << 20));
    }
}
