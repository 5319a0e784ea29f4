//! Another program saves in the middle of an adoption.

use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::fixture::{Fixture, look, save};

/// The time of the other program's first save.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Saves {
    /// Before the adoption begins, so that it must be refused.
    Before,
    /// This long after both have started. The result depends on the scheduler.
    During(Duration),
    /// After the adoption, so that it must have succeeded.
    After,
}

/// Synchronises the two threads, so that the first and the last kind of round do not depend on the scheduler.
struct Gates {
    both_are_ready: Barrier,
    is_saved: Barrier,
    is_adopted: AtomicBool,
}

/// Adopts while another thread saves over and over. Returns the last save, whether the change was adopted,
/// and the time that took.
fn race(fixture: &Fixture, removes: bool, saves: Saves) -> (String, bool, Duration) {
    let (layer, upper) = fixture.layer();
    if removes {
        upper.remove("a")
    } else {
        upper.write("a", "ours\n")
    }
    let changes = look(&layer);
    let gates = Gates {
        both_are_ready: Barrier::new(2),
        is_saved: Barrier::new(2),
        is_adopted: AtomicBool::new(false),
    };
    let path = fixture.workspace().join("a");
    std::thread::scope(|scope| {
        let saver = scope.spawn(|| save_over_and_over(&path, saves, &gates));
        gates.both_are_ready.wait();
        if saves == Saves::Before {
            gates.is_saved.wait();
        }
        let began = Instant::now();
        let adopted = layer.adopt(&changes.as_slice()[0]).is_ok();
        let took = began.elapsed();
        gates.is_adopted.store(true, Ordering::Release);
        (saver.join().unwrap(), adopted, took)
    })
}

/// Saves until the adoption is over, at least once, and returns the last save.
fn save_over_and_over(path: &Path, saves: Saves, gates: &Gates) -> String {
    gates.both_are_ready.wait();
    match saves {
        Saves::Before => {}
        Saves::During(wait) => {
            let began = Instant::now();
            // A sleep is too coarse: the whole adoption may take less than the shortest one.
            while began.elapsed() < wait {
                std::hint::spin_loop();
            }
        }
        Saves::After => {
            while !gates.is_adopted.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
        }
    }
    let mut number = 0;
    loop {
        let text = format!("theirs {number}\n");
        save(path, &text);
        if saves == Saves::Before && number == 0 {
            gates.is_saved.wait();
        }
        if gates.is_adopted.load(Ordering::Acquire) || number == 200 {
            return text;
        }
        number += 1;
    }
}

#[test]
fn the_last_save_is_never_lost() {
    let mut usual = Duration::ZERO;
    let mut ended = [0, 0];
    for round in 0..300_u32 {
        let saves = match round % 10 {
            0 => Saves::After,
            1 => Saves::Before,
            // Beginning at another moment each time, so that every moment of an adoption has its turn.
            _ => Saves::During(usual * (round % 40) / 30),
        };
        let fixture = Fixture::with_files(&["a"]);
        let (last, adopted, took) = race(&fixture, round / 2 % 2 == 0, saves);
        match saves {
            Saves::Before => assert!(!adopted, "round {round}: adopted over a concurrent save"),
            Saves::During(_) => ended[usize::from(adopted)] += 1,
            Saves::After => {
                assert!(adopted, "round {round}: refused without a concurrent save");
                usual = took;
            }
        }
        // Every save follows the command's write, so the last one must win.
        let now = fs::read_to_string(fixture.workspace().join("a")).unwrap();
        assert_eq!(now, last, "round {round}, {saves:?}");
    }
    println!("{} of the free rounds were refused, {} were adopted", ended[0], ended[1]);
}
