//! Calls that run while a command's effects are adopted, and the user's own git during a command.

use std::mem::MaybeUninit;
use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex};
use std::thread;

use rustix::fs::inotify;
use sandbox_exec::LayerKind;
use wap_core::*;

use crate::fixture::meanwhile::Meanwhile;
use crate::fixture::user_shell::shell;
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
    // Calls begun before the effects were read, and one that waited, would succeed in any case.
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

/// Returns the subjects of the commits that the user's git shows.
fn commits(fixture: &Fixture) -> String {
    String::from_utf8(shell(&fixture.root(), "git log --format=%s").stdout).unwrap()
}

#[test]
fn commits_are_kept_although_the_user_looks_at_the_status_meanwhile() {
    let status = "touch -d '1 hour ago' a; git status";
    // What the user does, and whether the command's commit is kept.
    let ways = [(status, true), ("git add c", false), ("git update-index --assume-unchanged a", false)];
    for (way, is_kept) in ways {
        let fixture = Fixture::new();
        let workspace = fixture.open_layered(Layered::Yes);
        fixture.put("c", "c\n");
        run(&workspace, "git init -q -b main . && echo x > a && git add a && git commit -q -m one").unwrap();
        let root = fixture.root();
        let index = || std::fs::read(root.join(".git/index")).unwrap();
        let before = index();
        let mut meanwhile = Meanwhile(Some(|| {
            assert!(shell(&root, way).status.success());
            assert_ne!(index(), before, "{way}: it writes the index");
        }));
        let script = command("echo y > b && git add b && git commit -q -m two && echo go && sleep 3");
        let response = workspace.execute_command(&Caller::once().call(), &script, &mut meanwhile).unwrap();
        assert_eq!(response.exit_code, 0, "{response:?}");
        if is_kept {
            assert_eq!(response.warnings, [""; 0], "{way}");
            assert_eq!(commits(&fixture), "two\none\n", "{way}");
            assert_eq!(shell(&root, "git status --short").stdout, b"?? c\n");
        } else {
            let warned = response.warnings.join("\n");
            assert!(warned.contains("run its git commands again: `.git`"), "{way}: {warned}");
            assert_eq!(commits(&fixture), "one\n", "{way}");
        }
    }
}

#[test]
fn status_counts_in_no_working_tree_and_no_inner_repository() {
    let status = "touch -d '1 hour ago' a; git status";
    // What the user does there, and whether the command's commit is kept.
    for (way, is_kept) in
        [(status, true), ("git add c", false), ("git commit -q --allow-empty -m mine", false)]
    {
        for folder in ["wt", "nested", "sub"] {
            let fixture = Fixture::new();
            let workspace = fixture.open_layered(Layered::Yes);
            let root = fixture.root();
            let begin = "git init -q -b main . && git config user.name x && git config user.email x@localhost && \
                         echo x > a && git add a && git commit -qm one && git worktree add -q wt -b wt && \
                         git clone -q . nested && git -c protocol.file.allow=always submodule --quiet add ./nested sub && \
                         for each in wt nested sub; do echo c > $each/c; done && \
                         git -C nested config user.name x && git -C nested config user.email x@localhost && \
                         git -C sub config user.name x && git -C sub config user.email x@localhost";
            let began = shell(&root, begin);
            assert!(began.status.success(), "{began:?}");
            let way = format!("cd {folder} && {way}");
            let mut meanwhile = Meanwhile(Some(|| assert!(shell(&root, &way).status.success(), "{way}")));
            let script = format!(
                "cd {folder} && echo y > b && git add b && git commit -q -m two && echo go && sleep 3"
            );
            let response =
                workspace.execute_command(&Caller::once().call(), &command(&script), &mut meanwhile).unwrap();
            assert_eq!(response.exit_code, 0, "{response:?}");
            let log = shell(&root.join(folder), "git log -1 --format=%s").stdout;
            assert_eq!(log == b"two\n", is_kept, "{way}: {response:?}");
            let warned = response.warnings.join("\n");
            assert_eq!(warned.contains("run its git commands again"), !is_kept, "{way}: {warned}");
        }
    }
}

#[test]
fn commit_of_the_user_keeps_an_older_index_out() {
    // The user's actions before and during the command, and whether the command's index is kept.
    let ways = [
        ("true", "git commit -qm theirs", false),
        ("git update-index --split-index", "git add d", false),
        ("true", "touch -d '1 hour ago' a; git status", true),
    ];
    for (before, way, is_kept) in ways {
        let fixture = Fixture::new();
        let workspace = fixture.open_layered(Layered::Yes);
        fixture.put("c", "c\n");
        fixture.put("d", "d\n");
        let root = fixture.root();
        let begin = "git init -q -b main . && git config user.name x && git config user.email x@localhost && \
                     echo x > a && git add a && git commit -q -m one && git add c";
        assert!(shell(&root, &format!("{begin} && {before}")).status.success());
        let mut meanwhile = Meanwhile(Some(|| assert!(shell(&root, way).status.success())));
        let script = command("echo y > b && git add b && echo go && sleep 3");
        let response = workspace.execute_command(&Caller::once().call(), &script, &mut meanwhile).unwrap();
        let staged = String::from_utf8(shell(&root, "git ls-files").stdout).unwrap();
        assert_eq!(staged.contains("b\n"), is_kept, "{way}: {staged} {response:?}");
        assert_eq!(response.warnings.is_empty(), is_kept, "{way}: {response:?}");
        assert_eq!(staged.contains("d\n"), way.contains("add d"), "{way}: {staged}");
    }
}

#[test]
fn lock_from_before_a_command_keeps_only_work_that_removes_it() {
    for lock in ["index.lock", "config.lock", "packed-refs.lock", "HEAD.lock"] {
        let fixture = Fixture::new();
        let workspace = fixture.open_layered(Layered::Yes);
        run(&workspace, "git init -q -b main . && echo x > a && git add a && git commit -q -m one").unwrap();
        let path = format!(".git/{lock}");
        assert!(shell(&fixture.root(), &format!("touch {path}")).status.success());
        // What git does without the part that is locked.
        assert_eq!(run(&workspace, "git branch side").unwrap().warnings, [""; 0], "{lock}");
        assert!(fixture.text(".git/refs/heads/side").is_some(), "{lock}");
        let commit = "echo y > b && git add b && git commit -q -m two";
        let response = run(&workspace, &format!("rm {path}; {commit}")).unwrap();
        let warned = response.warnings.join("\n");
        assert_eq!(response.exit_code, 0, "{response:?}");
        assert!(
            warned.contains("ask the user to remove them") && warned.contains(&format!("`{path}`")),
            "{warned}"
        );
        assert_eq!(
            (commits(&fixture).as_str(), fixture.text(&path).as_deref()),
            ("one\n", Some("")),
            "{lock}"
        );
        // Put back as it was, it counts as well.
        let stealthily =
            format!("cp -a {path} l; rm {path}; echo y > b; git config x.y z; git add b; cp -a l {path}");
        let warned = run(&workspace, &stealthily).unwrap().warnings.join("\n");
        assert_eq!(
            warned.contains(&format!("`{path}`")),
            lock == "index.lock" || lock == "config.lock",
            "{warned}"
        );
        // Without the lock, the same is kept.
        std::fs::remove_file(fixture.root().join(&path)).unwrap();
        let response = run(&workspace, commit).unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{response:?}");
        assert_eq!(commits(&fixture), "two\none\n", "{lock}");
    }
}

/// A command, the user's concurrent work, and true if the command's is kept.
const BESIDE: &[(&str, &str, bool)] = &[
    // The user is on the branch that would be moved.
    ("git branch -qf b1 HEAD~1", "git switch -q b1", false),
    ("git branch -qf b1 HEAD~1", "git worktree add -q ../outside/wt b1", false),
    ("git pack-refs --all && git branch -q -D b1", "git switch -q b1", false),
    ("git branch -qf b1 HEAD~1", "git switch -q b2", true),
    ("git branch -qf b1 HEAD~1", "git branch -q mine", true),
    ("git -C wt commit -q --allow-empty -m w", "git commit -q --allow-empty -m mine", true),
    // The user needs the objects that would be removed.
    ("git prune --expire=now", "git branch -q rescue $(cat lost)", false),
    ("git prune --expire=now", "git tag rescue $(cat lost)", false),
    ("git prune --expire=now", "git update-ref refs/heads/deep/er $(cat lost)", false),
    ("git prune --expire=now", "git switch -q --detach $(cat lost)", false),
    ("git prune --expire=now", "git read-tree $(cat lost)", false),
    ("git prune --expire=now", "touch -d '1 hour ago' a; git status", true),
    ("git prune --expire=now", "echo more > a", true),
];

#[test]
fn references_that_the_user_changes_during_a_command_count() {
    for (script, way, is_kept) in BESIDE {
        let fixture = Fixture::new();
        let root = fixture.root();
        let begin = "git init -q -b main . && git config user.name x && git config user.email x@localhost && \
                     echo x > a && git add a && git commit -qm one && git commit -q --allow-empty -m two && git branch b1 && \
                     git branch b2 && git worktree add -q --detach wt && echo y > b && git add b && git commit -qm lost && \
                     git rev-parse HEAD > lost && git reset -q --hard HEAD~ && git reflog expire --all --expire=now && \
                     mkdir -p .git/refs/heads/deep && rm -f .git/ORIG_HEAD";
        assert!(shell(&root, begin).status.success(), "{begin}");
        // What is younger than a tick of the clock counts as changed by the user.
        thread::sleep(std::time::Duration::from_millis(50));
        let workspace = fixture.open_layered(Layered::Yes);
        let mut meanwhile = Meanwhile(Some(|| {
            let output = shell(&root, way);
            assert!(output.status.success(), "{way}: {output:?}");
        }));
        let text = command(&format!("{script} && echo go && sleep 2"));
        let response = workspace.execute_command(&Caller::once().call(), &text, &mut meanwhile).unwrap();
        let warned = response.warnings.join("\n");
        assert_eq!(response.exit_code, 0, "{script}, {way}: {response:?}");
        assert_eq!(
            warned.contains("run its git commands again: `.git`"),
            !is_kept,
            "{script}, {way}: {warned}"
        );
        let fsck = shell(&root, "git fsck && git status && git log --all && git -C wt log");
        assert!(fsck.status.success(), "{script}, {way}: {fsck:?}");
    }
}
