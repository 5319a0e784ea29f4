//! Somebody saves at the very moment of an adoption.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::ground::{Ground, look, save};

/// Adopts while another thread saves over and over, and returns what was saved last.
fn race(removes: bool, round: u32) -> (Ground, Option<String>, bool) {
    let ground = Ground::with_files(&["a"]);
    let (layer, upper) = ground.layer();
    if removes {
        upper.remove("a")
    } else {
        upper.write("a", "ours\n")
    }
    let changes = look(&layer);
    let over = AtomicBool::new(false);
    let path = ground.workspace().join("a");
    let (last, adopted) = std::thread::scope(|scope| {
        let saver = scope.spawn(|| {
            let mut last = None;
            // Beginning at another moment each time, so that every moment has its turn.
            std::thread::sleep(std::time::Duration::from_micros(u64::from(round % 40) * 5));
            for number in 0..200 {
                if over.load(Ordering::Relaxed) && number > 0 {
                    break;
                }
                let text = format!("theirs {round}.{number}\n");
                save(&path, &text);
                last = Some(text);
            }
            last
        });
        let adopted = layer.adopt(&changes.as_slice()[0]).is_ok();
        over.store(true, Ordering::Relaxed);
        (saver.join().unwrap(), adopted)
    });
    (ground, last, adopted)
}

#[test]
fn the_last_save_is_never_lost() {
    let mut adopted_rounds = 0;
    for round in 0..300 {
        let (ground, last, adopted) = race(round % 2 == 0, round);
        adopted_rounds += u32::from(adopted);
        // Whatever was saved came after what the command did, and what was saved last counts.
        let now = fs::read_to_string(ground.workspace().join("a")).unwrap();
        assert_eq!(Some(now), last, "round {round}");
    }
    assert!((1..300).contains(&adopted_rounds), "no race at all: {adopted_rounds}");
}
