//! Cancellation and its hooks.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use wap_core::{CancelFlag, CancelGuard};

/// Longer than any test here, so that a deadlock fails instead of hanging.
const GUARD: Duration = Duration::from_secs(30);

fn counter() -> (Arc<AtomicU32>, Box<dyn FnOnce() + Send>) {
    let count = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&count);
    (
        count,
        Box::new(move || {
            counted.fetch_add(1, Ordering::SeqCst);
        }),
    )
}

#[test]
fn a_hook_runs_once() {
    let (count, hook) = counter();
    let flag = CancelFlag::new();
    let _guard = flag.on_cancel(hook);
    assert!(!flag.is_cancelled());
    flag.clone().cancel();
    flag.cancel();
    assert!(flag.is_cancelled());
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn hooks_run_in_the_order_of_their_registration() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let flag = CancelFlag::new();
    let guards: Vec<CancelGuard> = (0..4)
        .map(|number| {
            let order = Arc::clone(&order);
            flag.on_cancel(Box::new(move || order.lock().unwrap().push(number)))
        })
        .collect();
    flag.cancel();
    assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3]);
    drop(guards);
}

#[test]
fn a_dropped_guard_removes_its_hook_and_no_other() {
    let ((removed, first), (kept, second)) = (counter(), counter());
    let flag = CancelFlag::new();
    let guard = flag.on_cancel(first);
    let _other = flag.on_cancel(second);
    drop(guard);
    flag.cancel();
    assert_eq!(removed.load(Ordering::SeqCst), 0);
    assert_eq!(kept.load(Ordering::SeqCst), 1);
}

#[test]
fn a_flag_that_is_already_raised_runs_the_hook_at_once() {
    let (count, hook) = counter();
    let flag = CancelFlag::new();
    flag.cancel();
    let guard = flag.on_cancel(hook);
    assert_eq!(count.load(Ordering::SeqCst), 1);
    drop(guard);
    flag.cancel();
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn a_hook_may_drop_its_own_guard_and_poll_the_flag() {
    let (done, wait) = channel();
    thread::spawn(move || {
        let flag = CancelFlag::new();
        let own: Arc<Mutex<Option<CancelGuard>>> = Arc::default();
        let (in_hook, in_test) = (Arc::clone(&own), flag.clone());
        let guard = flag.on_cancel(Box::new(move || {
            drop(in_hook.lock().unwrap().take());
            done.send(in_test.is_cancelled()).unwrap();
        }));
        *own.lock().unwrap() = Some(guard);
        flag.cancel();
    });
    assert_eq!(wait.recv_timeout(GUARD), Ok(true));
}

#[test]
fn a_hook_that_holds_another_guard_can_be_removed() {
    let (done, wait) = channel();
    thread::spawn(move || {
        let flag = CancelFlag::new();
        let inner = flag.on_cancel(Box::new(|| {}));
        drop(flag.on_cancel(Box::new(move || drop(inner))));
        done.send(()).unwrap();
    });
    assert_eq!(wait.recv_timeout(GUARD), Ok(()));
}

#[test]
fn dropping_a_guard_waits_for_its_hook() {
    let flag = CancelFlag::new();
    let (started, wait_started) = channel();
    let finished = Arc::new(AtomicU32::new(0));
    let finish = Arc::clone(&finished);
    let guard = flag.on_cancel(Box::new(move || {
        started.send(()).unwrap();
        thread::sleep(Duration::from_millis(50));
        finish.store(1, Ordering::SeqCst);
    }));
    let canceller = thread::spawn({
        let flag = flag.clone();
        move || flag.cancel()
    });
    wait_started.recv_timeout(GUARD).unwrap();
    drop(guard);
    assert_eq!(finished.load(Ordering::SeqCst), 1, "the hook has ended when its guard is gone");
    canceller.join().unwrap();
}

#[test]
fn a_hook_that_panics_does_not_block_its_guard() {
    let (done, wait) = channel();
    thread::spawn(move || {
        let flag = CancelFlag::new();
        let guard = flag.on_cancel(Box::new(|| panic!("a hook may fail")));
        let canceller = thread::spawn({
            let flag = flag.clone();
            move || flag.cancel()
        });
        assert!(canceller.join().is_err());
        drop(guard);
        done.send(()).unwrap();
    });
    assert_eq!(wait.recv_timeout(GUARD), Ok(()));
}
