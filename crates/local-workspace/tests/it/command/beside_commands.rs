//! Calls that run while a command's effects are adopted.

use std::mem::MaybeUninit;
use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex};
use std::thread;

use rustix::fs::inotify;
use sandbox_exec::LayerKind;
use wap_core::*;

use crate::fixture::workspace::*;

/// Tells when the command prints.
struct Printed<'a>(&'a (dyn Fn() + Sync));

impl CommandObserver for Printed<'_> {
    fn started(&mut self, _: &str) {}

    fn output(&mut self, _: OutputStream, _: &[u8]) {
        (self.0)();
    }
}

/// A command that makes 10,000 files, and says at its very end that it has.
const MANY: &str = "for d in $(seq 100); do mkdir d$d; (cd d$d; for f in $(seq 100); do echo $d $f > $f; done); done; echo made";

#[test]
fn edits_and_reads_are_answered_while_a_large_effect_is_taken_over() {
    let fixture = Fixture::new();
    fixture.put("read", "1\n");
    let workspace = fixture.open();
    if workspace.sandbox_report().unwrap().layer != LayerKind::Overlay {
        assert!(std::env::var_os("CI").is_none(), "this test needs layers");
        eprintln!("skipped: there are no layers here");
        return;
    }
    let over = (Mutex::new(false), Condvar::new());
    let (said, made) = channel();
    let answered = thread::scope(|scope| {
        let running = scope.spawn(|| {
            let notify = || said.send(()).unwrap();
            let done =
                workspace.execute_command(&Caller::once().call(), &command(MANY), &mut Printed(&notify));
            *over.0.lock().unwrap() = true;
            done
        });
        made.recv().unwrap();
        let mut answered = 0;
        while !*over.0.lock().unwrap() {
            change(&workspace, write("edited", &format!("{answered}\n"))).unwrap();
            assert_eq!(read(&workspace, "read").unwrap().content, "1\n");
            answered += usize::from(!*over.0.lock().unwrap());
        }
        let done = running.join().unwrap().unwrap();
        assert_eq!((done.exit_code, done.warnings.len()), (0, 0), "{:?}", done.warnings);
        answered
    });
    // Those that were begun before the effects were looked at, and one that waited, would come through in any case.
    assert!(answered > 10, "only {answered} edits came through meanwhile");
    assert_eq!(fixture.all_names().len(), 10_102);
}

#[test]
fn edit_of_a_file_that_a_command_has_changed_stays_while_its_effects_are_taken_over() {
    let fixture = Fixture::new();
    for name in ["many/edited", "edited"] {
        fixture.put(name, "before\n");
    }
    let workspace = fixture.open();
    if workspace.sandbox_report().unwrap().layer != LayerKind::Overlay {
        assert!(std::env::var_os("CI").is_none(), "this test needs layers");
        eprintln!("skipped: there are no layers here");
        return;
    }
    let (said, made) = channel();
    let text =
        "echo the command > edited; rm -r many; mkdir many; cd many; seq 20000 | xargs touch; echo made";
    let done = thread::scope(|scope| {
        let running = scope.spawn(|| {
            let notify = || said.send(()).unwrap();
            workspace.execute_command(&Caller::once().call(), &command(text), &mut Printed(&notify))
        });
        made.recv().unwrap();
        change(&workspace, write("edited", "the edit\n")).unwrap();
        running.join().unwrap().unwrap()
    });
    // Whether it came before the commit, between two pieces of the adoption or after all of it.
    assert_eq!(fixture.text("edited").unwrap(), "the edit\n", "{:?}", done.warnings);
    drop(workspace);
    let (_, recovery) = fixture.open_with(fixture.open_journal(), fixture.config());
    assert!(recovery.conflicts.is_empty() && recovery.failed.is_empty(), "{recovery:?}");
    assert_eq!(fixture.text("edited").unwrap(), "the edit\n");
}

#[test]
fn cancelled_edit_that_waits_for_its_turn_is_answered_at_once() {
    let fixture = Fixture::new();
    fixture.put("a", "1\n");
    let workspace = fixture.open();
    // Another process holds the database: the first edit has the turn and waits for its commit.
    let database = rusqlite::Connection::open(fixture.path().join("state/journal/journal.db")).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waits = Caller::once();
    let opened = inotify::init(inotify::CreateFlags::CLOEXEC).unwrap();
    inotify::add_watch(&opened, fixture.root().join("a"), inotify::WatchFlags::OPEN).unwrap();
    thread::scope(|scope| {
        let first = scope.spawn(|| change(&workspace, write("a", "first\n")));
        // An edit opens its file in its turn only.
        inotify::Reader::new(&opened, &mut [MaybeUninit::uninit(); 512]).next().unwrap();
        let second = scope.spawn(|| workspace.change_files(&waits.call(), &[write("a", "second\n")]));
        waits.cancel.cancel();
        let cancelled = second.join().unwrap().unwrap_err();
        assert_eq!(cancelled.reason(), Reason::Cancelled);
        // Calls that only read wait for no other one.
        assert_eq!(read(&workspace, "a").unwrap().content, "1\n");
        assert!(!first.is_finished());
        database.execute_batch("ROLLBACK").unwrap();
        first.join().unwrap().unwrap();
    });
    assert_eq!(fixture.text("a").unwrap(), "first\n");
}
