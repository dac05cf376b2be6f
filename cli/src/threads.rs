//! The threads that compute, and how work continues if the system starts fewer than requested.

use super::args::values::MOST_THREADS as MOST;
use leakbound::error::{Error, Result};
use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};
use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The variable that sets the number of threads if `--threads` does not.
const VARIABLE: &str = "RAYON_NUM_THREADS";

/// Fewer threads than requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fewer {
    /// How many work.
    pub started: usize,
    /// How many were requested.
    pub wanted: usize,
    /// Why there are not more.
    pub reason: String,
}

impl Fewer {
    /// What the user should know, as one line.
    pub(super) fn sentence(&self) -> String {
        let Self { started, wanted, reason } = self;
        format!(
            "working on {started} of {wanted} threads: {reason}; results are unaffected, but the run will be slower"
        )
    }
}

/// The outcome of starting the threads of the process. rayon keeps them for the whole process, so this is
/// kept as long.
static STARTED: Mutex<Option<Option<Fewer>>> = Mutex::new(None);

/// Starts the threads on which everything is computed, once in a process: as many as were requested, or else one for
/// each core; fewer if the system does not start that many.
///
/// # Errors
/// [`Error::Unavailable`] when not even one can be started and nobody works without.
pub(super) fn start(asked: Option<usize>, alone: Alone) -> Result<Option<Fewer>> {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(fewer) = &*started {
        return Ok(fewer.clone());
    }
    let fewer = start_all(asked, alone)?;
    *started = Some(fewer.clone());
    Ok(fewer)
}

fn start_all(asked: Option<usize>, alone: Alone) -> Result<Option<Fewer>> {
    let (wanted, capped) = wanted(asked, std::env::var(VARIABLE).ok().as_deref());
    let (most, tight) = affordable(wanted);
    let (seats, rejected) = seats(most, start_one);
    let builder = ThreadPoolBuilder::new();
    // It can only fail where the threads of the process are there already, and then they are used.
    let _ = match (seats.len(), alone) {
        (0, Alone::Rejects) => return Err(none(&rejected)),
        (0, Alone::Works) => builder.num_threads(1).use_current_thread().build_global(),
        (started, _) => builder.num_threads(started).spawn_handler(|thread| seat(&seats, thread)).build_global(),
    };
    let started = seats.len().max(1);
    let fewer = |error: io::Error| Fewer { started, wanted, reason: format!("the system starts no more ({error})") };
    Ok(rejected.map(fewer).or(tight).or(capped))
}

/// Threads of their own for one piece of work.
///
/// # Errors
/// [`Error::Unavailable`] when not even one can be started.
pub(super) fn pool(wanted: usize) -> Result<(ThreadPool, Option<Fewer>)> {
    let (most, tight) = affordable(wanted);
    let (seats, rejected) = seats(most.max(1), start_one);
    if seats.is_empty() {
        return Err(none(&rejected));
    }
    let started = seats.len();
    let builder = ThreadPoolBuilder::new().num_threads(started).spawn_handler(|thread| seat(&seats, thread));
    let pool = builder.build().map_err(|error| none(&Some(io::Error::other(error))))?;
    let fewer = |error| Fewer { started, wanted, reason: format!("the system starts no more ({error})") };
    Ok((pool, rejected.map(fewer).or(tight)))
}

/// What a thread takes of the address space: its stack.
const STACK: u64 = 3 << 20;
/// And a heap of its own; the allocator makes this many for each core.
const HEAP: u64 = 64 << 20;
const HEAPS: u64 = 8;
/// What is left for the work.
const WORK: u64 = 96 << 20;

/// As many threads as the address space has room for where it is limited (`ulimit -v`): a thread starts as long as there
/// is any, and the first allocation that finds none ends the process.
fn affordable(wanted: usize) -> (usize, Option<Fewer>) {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let Some(room) = room(&read("/proc/self/limits"), &read("/proc/self/status")) else { return (wanted, None) };
    let takes = |threads: u64| threads * STACK + threads.min(HEAPS * cores as u64) * HEAP + WORK;
    let most = (0..=wanted).rev().find(|&threads| takes(threads as u64) <= room).unwrap_or(0);
    let reason = format!("the address space has {} MiB left under its limit (ulimit -v)", room >> 20);
    (most, (most < wanted).then(|| Fewer { started: most.max(1), wanted, reason }))
}

/// Bytes that are left of an address space that is limited, as Linux reports it.
fn room(limits: &str, status: &str) -> Option<u64> {
    let after = |text: &str, label: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(label))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let (most, taken) = (after(limits, "Max address space")?, after(status, "VmSize:")?);
    Some(most.saturating_sub(taken << 10))
}

/// Who works where no thread can be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alone {
    /// The thread that calls, which must be the only one that ever does.
    Works,
    /// Nobody.
    Rejects,
}

fn none(rejected: &Option<io::Error>) -> Error {
    let reason = rejected.as_ref().map_or_else(|| "no thread was started".to_owned(), ToString::to_string);
    Error::Unavailable { operation: "threads", reason: format!("not even one can be started: {reason}") }
}

/// How many threads are wanted, and whether that is fewer than somebody requested.
fn wanted(asked: Option<usize>, variable: Option<&str>) -> (usize, Option<Fewer>) {
    let of_variable = || variable?.trim().parse::<usize>().ok().filter(|&count| count > 0);
    let cores = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let wanted = asked.or_else(of_variable).unwrap_or_else(cores);
    let capped = || Fewer { started: MOST, wanted, reason: format!("there are never more than {MOST}") };
    (wanted.min(MOST), (wanted > MOST).then(capped))
}

/// A thread that was started and waits for its work.
type Seat = SyncSender<ThreadBuilder>;

/// Starts a thread that does the work that comes, or ends when nobody can send it any more; returns once it runs,
/// because a thread takes memory until then.
fn start_one(index: usize) -> io::Result<Seat> {
    let (sender, receiver) = sync_channel::<ThreadBuilder>(1);
    let (runs, is_running) = sync_channel::<()>(1);
    thread::Builder::new().name(format!("worker {index}")).spawn(move || {
        // The thread that started it waits.
        let _ = runs.send(());
        if let Ok(work) = receiver.recv() {
            work.run();
        }
    })?;
    is_running.recv().map_err(|_| io::ErrorKind::OutOfMemory)?;
    Ok(sender)
}

/// Memory that nobody touches and that is given back once the threads run, so that threads never take the last of it
/// under a limit of the address space.
const RESERVE: usize = 32 << 20;

fn seat(seats: &[Seat], thread: ThreadBuilder) -> io::Result<()> {
    let Some(seat) = seats.get(thread.index()) else { return Err(io::ErrorKind::WouldBlock.into()) };
    seat.send(thread).map_err(|_| io::ErrorKind::BrokenPipe.into())
}

/// As many threads as wanted; or, where one does not start, half of those that did, so that something is left for what
/// else the process and its neighbors start.
///
/// The threads are there before the pool is: a pool that fails half way cannot be built again, and one that fails in
/// the middle of the work is a panic. Without memory for it there is no thread but the one that calls.
fn seats<T>(wanted: usize, mut start: impl FnMut(usize) -> io::Result<T>) -> (Vec<T>, Option<io::Error>) {
    let mut seats = Vec::new();
    let mut reserve = Vec::<u8>::new();
    if let Err(error) = reserve.try_reserve_exact(RESERVE) {
        return (Vec::new(), Some(io::Error::new(io::ErrorKind::OutOfMemory, error)));
    }
    std::hint::black_box(&mut reserve);
    for index in 0..wanted {
        match start(index) {
            Ok(seat) => seats.push(seat),
            Err(error) => {
                seats.truncate(seats.len().div_ceil(2));
                return (seats, Some(error));
            }
        }
    }
    (seats, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    /// Starts this many threads and no more.
    fn starting(most: usize) -> impl FnMut(usize) -> io::Result<Seat> {
        move |index| if index < most { start_one(index) } else { Err(io::ErrorKind::WouldBlock.into()) }
    }

    #[test]
    fn half_of_the_threads_that_start_are_kept() {
        for (wanted, most, kept) in
            [(8, 8, 8), (8, 7, 4), (8, 4, 2), (8, 3, 2), (8, 2, 1), (8, 1, 1), (8, 0, 0), (1, 0, 0)]
        {
            let (seats, rejected) = seats(wanted, starting(most));
            assert_eq!((seats.len(), rejected.is_some()), (kept, most < wanted), "{wanted} {most}");
            if kept == 0 {
                continue;
            }
            let builder = ThreadPoolBuilder::new().num_threads(kept).spawn_handler(|thread| seat(&seats, thread));
            let pool = builder.build().unwrap();
            assert_eq!(pool.current_num_threads(), kept);
            assert_eq!(pool.install(|| (0..1000u64).into_par_iter().sum::<u64>()), 499_500);
        }
    }

    /// Where no thread starts, the one that calls does all of it.
    #[test]
    fn one_thread_is_enough() {
        let all = thread::spawn(|| {
            let builder = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
            let _pool = builder.build().unwrap();
            let (first, second) = rayon::join(|| 1, || (0..1000u64).into_par_iter().sum::<u64>());
            first + second
        });
        assert_eq!(all.join().unwrap(), 499_501);
        let error = none(&Some(io::ErrorKind::WouldBlock.into())).to_string();
        assert!(error.starts_with("threads: not even one can be started: "), "{error}");
    }

    #[test]
    fn the_variable_has_the_limit_of_the_option() {
        assert_eq!(wanted(Some(3), Some("100000")), (3, None));
        assert_eq!(wanted(None, Some("5")), (5, None));
        let (capped, fewer) = wanted(None, Some("100000"));
        assert_eq!(capped, MOST);
        assert_eq!(
            fewer.unwrap().sentence(),
            "working on 4096 of 100000 threads: there are never more than 4096; results are unaffected, but the run \
             will be slower"
        );
        let (cores, _) = wanted(None, None);
        for ignored in ["0", "", "many", "-1"] {
            assert_eq!(wanted(None, Some(ignored)), (cores, None));
        }
    }

    #[test]
    fn the_address_space_may_be_limited() {
        let limits = |most: &str| format!("Limit  Soft Limit\nMax address space         {most}   unlimited   bytes\n");
        let status = "Name:\tx\nVmSize:\t   20000 kB\n";
        assert_eq!(room(&limits("307200000"), status), Some(307_200_000 - 20_480_000));
        assert_eq!(room(&limits("1"), status), Some(0));
        assert_eq!((room(&limits("unlimited"), status), room("", status), room(&limits("1"), "")), (None, None, None));
        // Nobody limits the tests.
        assert_eq!(affordable(200), (200, None));
    }

    #[test]
    fn a_pool_of_its_own() {
        let (pool, fewer) = pool(3).unwrap();
        assert_eq!((pool.current_num_threads(), fewer), (3, None));
    }
}
