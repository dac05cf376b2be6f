//! Work on all threads of the caller's pool; results come in the order of the items, however the threads ran.
//!
//! One function distributes all jobs through a pointer, so a use compiles its closure and two lists, no scheduler.

use crate::error;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Applies a function to each item.
pub fn map<T: Send, R: Send>(items: impl IntoIterator<Item = T>, of: impl Fn(T) -> R + Sync) -> Vec<R> {
    let places = |item| Mutex::new((Some(item), None));
    let places: Vec<Mutex<(Option<T>, Option<R>)>> = items.into_iter().map(places).collect();
    run(places.len(), &|place| {
        let item = locked(&places[place]).0.take();
        let found = item.map(&of);
        locked(&places[place]).1 = found;
    });
    let found = |place: Mutex<(_, Option<R>)>| place.into_inner().unwrap_or_else(PoisonError::into_inner).1;
    places.into_iter().filter_map(found).collect()
}

/// Applies a function to each item; fails with the error of the first failing item, in their order.
pub fn try_map<T: Send, R: Send>(
    items: impl IntoIterator<Item = T>,
    of: impl Fn(T) -> error::Result<R> + Sync,
) -> error::Result<Vec<R>> {
    until_error(items, of)
}

/// As [`try_map`], for errors of any type.
pub fn until_error<T: Send, R: Send, E: Send>(
    items: impl IntoIterator<Item = T>,
    of: impl Fn(T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    // Items after one that failed are skipped; earlier items may still fail first.
    let failed = AtomicUsize::new(usize::MAX);
    let found = map(items.into_iter().enumerate(), |(place, item)| {
        let known = failed.load(Ordering::Relaxed);
        let found = (place < known).then(|| of(item));
        if matches!(found, Some(Err(_))) {
            failed.fetch_min(place, Ordering::Relaxed);
        }
        found
    });
    found.into_iter().flatten().collect()
}

fn run(jobs: usize, job: &(dyn Fn(usize) + Sync)) {
    (0..jobs).into_par_iter().for_each(job);
}

/// A panic in a job reaches the caller, so no place is read after one.
fn locked<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order() {
        let squares: Vec<usize> = (0..10_000).map(|x| x * x).collect();
        assert_eq!(map(0..10_000, |x| x * x), squares);
        assert_eq!(until_error(0..10_000, |x| Ok::<_, ()>(x * x)), Ok(squares));
        assert!(map([0; 0], |x| x).is_empty());
        // Parts of a slice are handed over, and written to.
        let mut numbers = [1, 2, 3];
        let sums = map(numbers.chunks_mut(2), |part: &mut [i32]| {
            part[0] = 7;
            part.iter().sum::<i32>()
        });
        assert_eq!((sums, numbers), (vec![9, 7], [7, 2, 7]));
    }

    #[test]
    fn the_first_error_is_that_of_the_first_item() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = pool.install(|| until_error(0..5_000, |x| if x % 1_000 == 777 { Err(x) } else { Ok(x) }));
            assert_eq!(found, Err(777));
        }
    }

    #[test]
    #[should_panic = "job 3"]
    fn a_panic_of_a_job_is_one_of_the_caller() {
        map(0..5, |x| assert!(x != 3, "job {x}"));
    }
}
