//! Nothing of a command or background process survives: `kill -9` of the daemon, the spawner and the client at any moment, and a
//! look at every process of the machine.
//!
//! `SURVIVOR_ROUNDS` says how many rounds; `cargo xtask soak exec` sets it and shows the table.

mod processes;
mod round;
mod table;

use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use self::round::{Scene, VICTIMS, WORK, Work};
use self::table::Table;

/// The rounds of an ordinary run of the tests, which take each way to outlive a command and each victim.
const USUAL_ROUNDS: usize = VICTIMS.len() * WORK.len();

/// The rounds at one time.
const WORKERS: usize = 4;

#[test]
fn the_search_finds_a_process_that_outlives_its_parent() {
    let marker = round::marker();
    let script = "setsid sleep 600 </dev/null >/dev/null 2>&1 &";
    let ended = Command::new("sh").args(["-c", script]).env("SURVIVOR", &marker).status().unwrap();
    assert!(ended.success());
    processes::until_at_work("the control", &marker);
    for process in processes::with_marker(&marker) {
        let number = process.file_name().unwrap().to_str().unwrap().parse().unwrap();
        // The shell may end meanwhile.
        let _ = kill(Pid::from_raw(number), Signal::SIGKILL);
    }
    processes::until_none("the control", || processes::with_marker(&marker));
}

#[test]
fn a_kill_of_any_process_at_any_moment_leaves_no_survivor() {
    let rounds = std::env::var("SURVIVOR_ROUNDS").ok().and_then(|text| text.parse().ok());
    let rounds: usize = rounds.unwrap_or(USUAL_ROUNDS);
    let next = AtomicUsize::new(0);
    let table = Mutex::new(Table::default());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS.min(rounds) {
            scope.spawn(|| {
                // Each starts on what the killed processes of the last round have left of its state.
                let scenes = [Scene::confined(), Scene::unconfined()];
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= rounds {
                        break;
                    }
                    // Every victim of one kind of work, then the next kind.
                    let work: Work = WORK[number / VICTIMS.len() % WORK.len()];
                    let victim = VICTIMS[number % VICTIMS.len()];
                    let turn = number / VICTIMS.len() / WORK.len();
                    let finding = scenes[usize::from(turn % 4 == 3)].round(work, victim, turn);
                    table.lock().unwrap().add(work, victim, finding);
                }
                scenes.iter().for_each(Scene::assert_clean);
            });
        }
    });
    let table = table.into_inner().unwrap();
    if std::env::var_os("SURVIVOR_ROUNDS").is_some() {
        table.show();
    }
    assert_eq!(table.rounds(), rounds);
    assert!(table.kills_at_work() * 4 >= rounds, "few kills met a command at work");
}
