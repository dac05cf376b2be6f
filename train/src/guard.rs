//! Failures of libtorch, such as a lack of memory, as errors: the operators of `tch` panic. And the progress of training,
//! with its early end.

use leakbound::error::{Error, Result};
use std::any::Any;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread will be reported as an error, and must not be printed as well.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs work with tensors; if libtorch fails, the error states it in one line. Each thread needs its own guard.
///
/// # Errors
/// Those of the work; [`Error::Unavailable`] for a failure of libtorch.
pub fn guarded<T>(operation: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                before(panic);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    // What the work has built is dropped with it.
    let outcome = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    outcome.unwrap_or_else(|panic| Err(Error::Unavailable { operation, reason: reason(&*panic) }))
}

/// The first line of libtorch's message, without the trace of its calls.
fn reason(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("libtorch failed");
    let text = text.split_once("Torch(\"").map_or(text, |(_, message)| message);
    let line = text.lines().next().unwrap_or(text);
    let line = line.split_once("\\n").map_or(line, |(line, _)| line);
    if line.starts_with("not enough memory: ") {
        return line.to_owned();
    }
    if ["out of memory", "not enough memory", "can't allocate"].iter().any(|mark| line.contains(mark)) {
        return format!("not enough memory ({line}); train fewer networks side by side");
    }
    line.to_owned()
}

/// A progress callback: networks, or steps, that are done since the last call. [`ControlFlow::Break`] ends the training
/// with [`Error::Interrupted`]; a checkpoint keeps what is complete.
pub type TrainingProgress<'a> = dyn Fn(u64) -> ControlFlow<()> + Sync + 'a;

/// Reports `done` more.
pub(super) fn report(progress: &TrainingProgress<'_>, done: u64) -> Result<()> {
    if progress(done).is_break() { Err(Error::Interrupted) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::{Kind, Tensor};

    #[test]
    fn a_failure_of_libtorch_is_one_line() {
        let shapes = guarded("training", || Ok(Tensor::from(1.0).matmul(&Tensor::from(2.0)))).unwrap_err().to_string();
        assert!(shapes.starts_with("training: ") && !shapes.contains('\n') && !shapes.contains("\\n"), "{shapes}");
        let size = [1 << 40, 1 << 10];
        let cpu = (Kind::Float, tch::Device::Cpu);
        let memory = guarded("training", || Ok(Tensor::zeros(size, cpu))).unwrap_err().to_string();
        assert!(memory.starts_with("training: not enough memory (") && !memory.contains('\n'), "{memory}");
        assert_eq!(guarded("training", || Ok(1)).unwrap(), 1);
    }
}
