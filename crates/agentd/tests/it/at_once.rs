//! Cases that mostly wait.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How many cases are tried at the same time.
const MOST: usize = 4;

/// Tries every case, some beside each other. The first one that fails fails the test.
pub(crate) fn at_once<T: Sync>(cases: &[T], each: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..MOST.min(cases.len()) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    each(case);
                }
            });
        }
    });
}
