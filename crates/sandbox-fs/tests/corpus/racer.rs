//! Threads that change the workspace while it is used.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use rustix::fs::{CWD, RenameFlags};
use serde_json::Value;

use super::Sandbox;
use super::case::expand;

pub(super) struct Racer {
    stop: Arc<AtomicBool>,
    count: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Racer {
    pub(super) fn start(sandbox: &Sandbox, step: &[Value]) -> Racer {
        let text = |index: usize| expand(step[index].as_str().unwrap(), sandbox);
        let path = |index: usize| sandbox.workspace().join(text(index));
        let mut racer = Racer { stop: Arc::default(), count: Arc::default(), threads: Vec::new() };
        match step[0].as_str().unwrap() {
            "exchange" => racer.run(exchange(path(1), path(2))),
            "rename_out" => racer.run(there_and_back(path(1), PathBuf::from(text(2)))),
            "rename_storm" => {
                let folder = PathBuf::from(text(1));
                fs::create_dir(&folder).unwrap();
                for number in 0..step[2].as_u64().expect("a number of files") {
                    let file = folder.join(format!("{number}"));
                    fs::write(&file, "").unwrap();
                    racer.run(there_and_back(file.clone(), file.with_extension("moved")));
                }
            }
            "append" => racer.run(append(path(1))),
            "truncate" => racer.run(truncate(path(1))),
            other => panic!("the racer '{other}' is not understood"),
        }
        racer
    }

    /// Repeats `turn` until it is stopped; a turn returns whether it changed anything.
    fn run(&mut self, mut turn: impl FnMut() -> bool + Send + 'static) {
        let (stop, count) = (Arc::clone(&self.stop), Arc::clone(&self.count));
        self.threads.push(std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                count.fetch_add(u64::from(turn()), Ordering::Relaxed);
            }
        }));
        // The first operation must not run before the race has started.
        while self.count.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
    }

    /// Stops the threads after their current turns, each of which restores what it changed, and returns the number of turns.
    pub(super) fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().unwrap();
        }
        self.count.load(Ordering::Relaxed)
    }
}

fn exchange(one: PathBuf, other: PathBuf) -> impl FnMut() -> bool {
    // Two exchanges a turn, so that both entries end under their own names.
    move || (0..2).all(|_| rustix::fs::renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).is_ok())
}

fn there_and_back(here: PathBuf, there: PathBuf) -> impl FnMut() -> bool {
    move || fs::rename(&here, &there).is_ok() && fs::rename(&there, &here).is_ok()
}

fn append(file: PathBuf) -> impl FnMut() -> bool {
    move || {
        let Ok(mut file) = fs::OpenOptions::new().append(true).open(&file) else { return false };
        file.write_all(b"z\n").unwrap();
        drop(file);
        // Gives the operation a chance to find the file unchanged between reading and replacing it.
        std::thread::sleep(std::time::Duration::from_micros(200));
        true
    }
}

fn truncate(file: PathBuf) -> impl FnMut() -> bool {
    let content = fs::read(&file).unwrap();
    move || {
        let writer = fs::OpenOptions::new().write(true).open(&file).unwrap();
        writer.set_len(0).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&writer, &content, 0).unwrap();
        true
    }
}
