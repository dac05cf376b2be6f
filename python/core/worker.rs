//! Threads on which the work is done while a thread of Python waits for it and for Ctrl-C.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long both sides look for what is to come before they sleep: being woken takes about as long as a small call.
const ALERT: Duration = Duration::from_micros(50);

/// The outcome of some work: its result, or the cause of its panic.
pub type Ended<R> = Result<R, Box<dyn Any + Send>>;

type Job = Box<dyn FnOnce() + Send>;

/// Threads that wait for work: starting one for each call takes longer than most calls.
static IDLE: Mutex<Vec<Sender<Job>>> = Mutex::new(Vec::new());

/// What is there now or within a moment. Others may run meanwhile: on one core the answer waits for it.
pub fn soon<T>(receiver: &Receiver<T>) -> Result<T, TryRecvError> {
    let start = Instant::now();
    loop {
        match receiver.try_recv() {
            Err(TryRecvError::Empty) if start.elapsed() < ALERT => thread::yield_now(),
            found => return found,
        }
    }
}

/// Begins some work on a thread of its own.
///
/// # Errors
/// When no thread can be started, or this process is the fork of one whose threads did not come along: waiting for them
/// would have no end.
pub fn begin<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> std::io::Result<Receiver<Ended<R>>> {
    /// The process that has the threads.
    static PROCESS: OnceLock<u32> = OnceLock::new();
    if *PROCESS.get_or_init(std::process::id) != std::process::id() {
        let words = "this process was forked from one that had called leakbound, whose threads did not come along; start \
                     processes with multiprocessing.get_context(\"spawn\")";
        return Err(std::io::Error::other(words));
    }
    let (sender, receiver) = channel();
    let job: Job = Box::new(move || {
        // Nobody may wait any more.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
    });
    let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let unsent = match idle {
        Some(thread) => thread.send(job).err().map(|unsent| unsent.0),
        None => Some(job),
    };
    unsent.map_or(Ok(()), start).map(|()| receiver)
}

fn start(first: Job) -> std::io::Result<()> {
    thread::Builder::new().name("leakbound".into()).spawn(move || {
        let (sender, jobs) = channel::<Job>();
        first();
        loop {
            IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(sender.clone());
            match soon(&jobs).or_else(|_| jobs.recv()) {
                Ok(job) => job(),
                Err(_) => return,
            }
        }
    })?;
    Ok(())
}
