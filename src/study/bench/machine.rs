//! The machine whose speed is measured.

use super::super::Warning;
use crate::error::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Cores that the system offers.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Architecture and system.
pub(super) fn name() -> String {
    format!("{} {}", std::env::consts::ARCH, std::env::consts::OS)
}

/// 1, 2, 4, .. and the largest.
pub(super) fn steps(most: usize) -> Vec<usize> {
    let mut steps: Vec<usize> =
        std::iter::successors(Some(1), |threads| Some(2 * threads)).take_while(|&t| t < most).collect();
    steps.push(most);
    steps
}

/// A pool of exactly this many threads.
pub(super) fn pool(threads: usize) -> Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Unavailable { operation: "bench", reason: error.to_string() })
}

/// A warning if this is a debug build, which is slow.
pub(super) fn debug_build() -> Option<Warning> {
    cfg!(debug_assertions).then(|| Warning {
        code: "debug-build",
        message: "this program was built with checks that cost speed".into(),
        hint: "build it in cargo's release profile".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_double_up_to_the_last() {
        assert_eq!(
            [1, 2, 3, 8, 12].map(steps),
            [vec![1], vec![1, 2], vec![1, 2, 3], vec![1, 2, 4, 8], vec![1, 2, 4, 8, 12]]
        );
    }
}
